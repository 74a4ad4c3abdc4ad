"""compute coord/geometry against PLUMED: values, derivatives and virials, and metadynamics of two dihedrals,
also with those of alanine dipeptide."""

import itertools
import unittest

import numpy as np

import coordtest
import dumptest
import geometrytest
import plumedtest
import test_bias_forces
from geometrytest import nearest
from test_bias_hills import Folder, hill_lines
from test_geometry_runs import crossings, run_of

VALUES, DERIVATIVES = 1e-10, 1e-8
IDS = {"ga": [4, 9, 21], "gb": [2, 17, 30, 12]}
# Item, and PLUMED's action on atoms and centers with the value.
ITEMS = {"distance 1 2": ("DISTANCE ATOMS=1,2", ""), "distance ga 3": ("DISTANCE ATOMS=ga,3", ""),
         "component x 4 ga": ("DISTANCE ATOMS=4,ga COMPONENTS", ".x"), "component y gb ga": ("DISTANCE ATOMS=gb,ga COMPONENTS", ".y"),
         "component z 6 5": ("DISTANCE ATOMS=6,5 COMPONENTS", ".z"), "angle 1 7 8": ("ANGLE ATOMS=1,7,8", ""),
         "angle ga 2 gb": ("ANGLE ATOMS=ga,2,gb", ""), "dihedral 9 10 11 13": ("TORSION ATOMS=9,10,11,13", ""),
         "dihedral 13 11 10 9": ("TORSION ATOMS=13,11,10,9", ""), "dihedral 14 ga 15 gb": ("TORSION ATOMS=14,ga,15,gb", "")}



def center(action, name, ids):
    return f"{name}: {action} ATOMS={','.join(map(str, ids))}\n"


class Items(unittest.TestCase):
    def test_values_and_derivatives(self):
        for name, box in test_bias_forces.BOXES.items():
            system = test_bias_forces.System(self, box)
            x = system.x()
            # PLUMED joins members in the order of their list. Members near the first one have the same images.
            groups = {}
            for group, ids in IDS.items():
                near = sorted(range(len(x)), key=lambda k: np.linalg.norm(nearest(box, x[k] - x[ids[0]])))[:len(ids)]
                coordtest.define_group(system.lmp, group, near)
                groups[group] = [min(near), *(k for k in near if k != min(near))]
            system.commands(f"compute t all coord/geometry {' '.join(ITEMS)} unwrap nearest", "run 0")
            values = np.ctypeslib.as_array(system.lmp.extract_compute("t", 0, 1), (len(ITEMS),)).copy()
            array = system.lmp.extract_compute("t", 0, 2)
            gradients = coordtest.atoms_of(system.lmp, "t")
            centers = "".join(center("CENTER", group, [k + 1 for k in members]) for group, members in groups.items())
            for k, (item, (action, value)) in enumerate(ITEMS.items()):
                s, derivatives, virial = plumedtest.derivatives_by_driver(f"{centers}c: {action}\n", "c" + value, x, box)
                mine = np.array([array[k][1 + c] for c in range(6)])
                # PLUMED has x_a dS/dx_b in row a. Only that of a component is not symmetric.
                theirs = np.array([virial[b, a] for a, b in coordtest.COMPONENTS])
                errors = (abs(values[k] - s) / max(1, abs(s)), coordtest.error_of(gradients[:, 3 * k:3 * k + 3], derivatives),
                          coordtest.error_of(mine, theirs))
                print("%s, %s: S %.1e, dS/dx %.1e, W %.1e" % (name, item, *errors))
                self.assertLess(errors[0], coordtest.rounded(VALUES), item)
                self.assertLess(max(errors[1:]), coordtest.rounded(DERIVATIVES), item)

    def test_centers_of_mass(self):
        """PLUMED gets the masses of LAMMPS."""
        for name in "orthogonal", "half":
            system = geometrytest.System(self, geometrytest.BOXES[name])
            actions = {"distance ga gb": "DISTANCE ATOMS=ga,gb", "angle ga 3 gb": "ANGLE ATOMS=ga,3,gb",
                       "dihedral alone ga 2 gb": "TORSION ATOMS=7,ga,2,gb"}
            given = plumedtest.Input("UNITS NATURAL\n" + "".join(center("COM", group, geometrytest.GROUPS[group]) for group in ("ga", "gb")) +
                                     "".join(f"v{k}: {action}\n" for k, action in enumerate(actions.values())) +
                                     "PRINT ARG=v0,v1,v2 FILE=colvar FMT=%.17g\n")
            system.commands(f"compute t all coord/geometry {' '.join(actions)}", f"fix p all coord/plumed {given.words}", "run 0")
            values = system.values()
            system.lmp.close()
            columns = given.columns("colvar")
            self.assertLess(coordtest.error_of(values, np.array([columns[f"v{k}"][0] for k in range(3)])), coordtest.rounded(VALUES))


class Runs(unittest.TestCase):
    ITEMS = "phi: TORSION ATOMS=1,2,3,4\npsi: TORSION ATOMS=2,3,4,5\n"

    def compare(self, ours, plumed, steps):
        """Run both, compare S of two dihedrals, and return the differences of V."""
        given = plumedtest.Input(f"UNITS NATURAL\n{self.ITEMS}{plumed}\n")
        expected = run_of(Folder(), f"fix b all coord/plumed {given.words}", f"run {steps}", "f_b")
        work = Folder()
        found = run_of(work, f"fix b all coord/bias c_t[1] c_t[3] {ours}", f"run {steps}", "f_b")
        self.assertGreater(crossings(found[1]) + crossings(found[2]), 2)
        self.assertGreater(np.ptp(expected[3]), 0.1)
        error = np.abs(found - expected)[1:3].max()
        print(f"{ours.split()[0]}: S differs by {error:.1e}")
        self.assertLess(error, coordtest.rounded(1e-8))
        return found[3] - expected[3], work, given

    def test_restraint(self):
        of_v, _, _ = self.compare("harmonic k 2 2 s0 3.1 -3", "RESTRAINT ARG=phi,psi AT=3.1,-3 KAPPA=2,2", 2000)
        self.assertLess(np.abs(of_v).max(), coordtest.rounded(1e-8))

    def test_metadynamics(self):
        """The run and the hills of METAD. V of PLUMED gets a hill one step later, at whose center S is."""
        of_v, work, given = self.compare("metad sigma 0.35 0.35 height 0.1 pace 20 file H", "METAD ARG=phi,psi SIGMA=0.35,0.35 HEIGHT=0.1 PACE=20 FILE=HILLS", 1500)
        of_v[20::20] -= 0.1
        self.assertLess(np.abs(of_v).max(), coordtest.rounded(1e-7))
        numbers = lambda lines: np.array([[float(word) for word in line.split()] for line in lines])
        ours, theirs = numbers(hill_lines(work.read("H"))), numbers(hill_lines(given.read("HILLS").encode()))
        self.assertEqual(len(ours), 75)
        # columns S, sigma, height
        np.testing.assert_allclose(ours[:, 1:6], theirs[:, 1:6], rtol=0, atol=coordtest.rounded(1e-7))

    def test_grid(self):
        """V and its derivatives on a periodic grid, all over both periods, are those of METAD with our hills: at the points of
        the grid, and between them up to PLUMED's interpolation, which has no mixed derivatives."""
        metad = "fix b all coord/bias c_t[1] c_t[3] metad sigma 0.35 0.35 height 0.1 file H grid -pi pi -pi pi bins 60 60 pace "
        work = Folder()
        run_of(work, metad + "20 write_grid 3000 G", "run 3000", "f_b")
        _, phi, psi, *ours = run_of(work, metad + "100000 append yes", "velocity all create 6 4711 mom yes rot yes\nrun 1500", "f_b f_b[2] f_b[6]")
        self.assertGreater(min(crossings(phi), crossings(psi)), 0)
        points = np.loadtxt(work.at("G")).T
        self.assertEqual(points.shape, (5, 3600))
        for what, s, expected, of_v, of_slopes in (("points", points[:2], points[2:], 1e-12, 1e-11), ("between", (phi, psi), ours, 1e-3, 3e-2)):
            given = plumedtest.driver("t_1: CUSTOM ARG=phi FUNC=x PERIODIC=-pi,pi\nt_3: CUSTOM ARG=psi FUNC=x PERIODIC=-pi,pi\n"
                                      f"metad: METAD ARG=t_1,t_3 SIGMA=0.35,0.35 HEIGHT=0.1 PACE=100000 FILE={work.at('H')} RESTART=YES "
                                      "GRID_MIN=-pi,-pi GRID_MAX=pi,pi GRID_BIN=60,60\nPRINT ARG=metad.bias FILE=bias FMT=%.17g\n"
                                      "DUMPFORCES ARG=t_1,t_3 FILE=forces FMT=%.17g\n", dict(zip(("phi", "psi"), s)))
            v, *slopes = expected
            forces = given.columns("forces")
            errors = [np.abs(given.columns("bias")["metad.bias"] - v).max(),
                      max(np.abs(forces[name] + slope).max() for name, slope in zip(("t_1", "t_3"), slopes))]
            print("%s: V up to %.2f differs by %.1e, dV/dS by %.1e" % (what, v.max(), *errors))
            self.assertGreater(v.max(), 1)
            self.assertLess(errors[0], of_v * v.max())
            self.assertLess(errors[1], of_slopes * np.abs(slopes).max())


@unittest.skipIf(coordtest.lacks_package("MOLECULE"), "no package MOLECULE")
class Alanine(unittest.TestCase):
    """A molecule with the bonds of alanine dipeptide: united atoms CH3 C O N CA CB C O N CH3, and a force field made up for it:
    harmonic bonds and angles, planar peptide groups, and three or two minima of phi and psi, near the ends of their periods. The
    terms of dihedrals are a bias, because LAMMPS with KOKKOS and without its dihedral styles, as in these tests, ends in a segmentation
    fault with those of the host."""
    X = ((-3.13, -1.42, -0.29), (-1.73, -1.42, -0.29), (-1.03, -2.63, -0.29), (-1.03, -0.21, -0.29), (0.37, -0.21, -0.29),
         (0.85, -0.21, -1.61), (0.85, 0.93, 0.36), (-0.04, 1.96, 0.71), (2.21, 1.04, 0.67), (2.69, 2.18, 1.33))
    BONDS = ((1, 2), (2, 3), (2, 4), (4, 5), (5, 6), (5, 7), (7, 8), (7, 9), (9, 10))
    PHI, PSI = (2, 4, 5, 7), (4, 5, 7, 9)

    def begin(self):
        neighbors = {k: [sum(pair) - k for pair in self.BONDS if k in pair] for k in range(1, 11)}
        angles = [(i, k, j) for k, near in neighbors.items() for i, j in itertools.combinations(near, 2)]
        ids = lambda members: " ".join(map(str, members))
        lines = ["units lj", "atom_style molecular", "atom_modify map array sort 0 0", "region box block -8 8 -8 8 -8 8",
                 "create_box 3 box bond/types 1 angle/types 2 extra/bond/per/atom 4 extra/angle/per/atom 6 extra/special/per/atom 9"]
        lines += [f"create_atoms {kind} single {ids(x)}" for kind, x in zip((1, 2, 3, 3, 2, 1, 2, 3, 3, 1), self.X)]
        lines += ["mass 1 15", "mass 2 12", "mass 3 15.5", "pair_style zero 5", "bond_style harmonic", "angle_style harmonic",
                  "pair_coeff * *", "bond_coeff 1 200 1.4", "angle_coeff 1 50 120", "angle_coeff 2 50 110"]
        lines += [f"create_bonds single/bond 1 {ids(pair)}" for pair in self.BONDS]
        lines += [f"create_bonds single/angle {2 if atoms[1] == 5 else 1} {ids(atoms)}" for atoms in angles]
        return "\n".join([*lines, "velocity all create 0.8 4711 mom yes rot yes\n"])

    def test_metadynamics(self):
        """Both biases act in one run, with the forces of TORSION and METAD on atoms beside ours: V, forces, hills, and with a grid
        V and its derivatives at all its points. Between these PLUMED's interpolation has no mixed derivatives."""
        steps, pace, height = 3000, 20, 0.1
        of_torsion = lambda atoms: f"TORSION ATOMS={','.join(map(str, atoms))}\n"
        molecule = ("compute o all coord/geometry dihedral 1 2 4 5 dihedral 5 7 9 10\n"
                    f"compute t all coord/geometry dihedral {' '.join(map(str, self.PHI))} angle 4 5 7 dihedral {' '.join(map(str, self.PSI))}\n"
                    'compute e all coord/custom "0.6*cos(3*f)-0.5*cos(2*p)-5*cos(2*v)-5*cos(2*w)" f c_t[1] p c_t[3] v c_o[1] w c_o[2]\n'
                    "fix e all coord/bias c_e linear k 1\nfix n all nve\ntimestep 0.03\n")
        words = f"metad sigma 0.35 0.35 height {height} pace {pace} file H"
        metad = f"METAD ARG=phi,psi SIGMA=0.35,0.35 HEIGHT={height} PACE={pace} FILE=HILLS FMT=%24.16e"
        for ours, theirs, of_v, of_forces in (
                ("", "", 1e-10, 1e-9),
                (f" grid -pi pi -pi pi bins 120 120 write_grid {steps} G",
                 f" GRID_MIN=-pi,-pi GRID_MAX=pi,pi GRID_BIN=120,120 GRID_WFILE=grid GRID_WSTRIDE={steps}", 1e-3, 1e-2)):
            with self.subTest(ours):
                given = plumedtest.Input(f"UNITS NATURAL\nphi: {of_torsion(self.PHI)}psi: {of_torsion(self.PSI)}{metad}{theirs}\n")
                work = Folder()
                fixes = (f"fix b all coord/bias c_t[1] c_t[3] {words}{ours}\nfix p all coord/plumed {given.words}\n"
                         "compute b all coord/force b\ncompute p all coord/force p\n"
                         "dump d all custom 1 dump id c_b[1] c_b[2] c_b[3] c_p[1] c_p[2] c_p[3]\ndump_modify d format float %.17g")
                _, phi, psi, v, expected = run_of(work, fixes, f"run {steps}", "f_b f_p", self.begin(), molecule)
                expected[pace::pace] += height    # PLUMED adds a hill one step later
                forces, of_plumed = (np.array([[frame[f"c_{name}[{k}]"] for k in (1, 2, 3)] for frame in dumptest.read_dump(work.at("dump"))])
                                     for name in "bp")
                lines = [hill_lines(content) for content in (work.read("H"), given.read("HILLS").encode())]
                hills, of_metad = (np.array([line.split()[:6] for line in part], float)[:, 1:] for part in lines)
                errors = [np.abs(v - expected).max() / v.max(), coordtest.error_of(forces, of_plumed)]
                print("%d and %d crossings; V up to %.2f differs by %.1e, forces up to %.2f by %.1e, hills by %.1e" % (
                    crossings(phi), crossings(psi), v.max(), errors[0], np.abs(forces).max(), errors[1], np.abs(hills - of_metad).max()))
                self.assertGreater(crossings(phi), 3)
                self.assertGreater(crossings(psi), 3)
                self.assertGreater(v.max(), 5 * height)
                self.assertEqual(len(hills), steps // pace)
                np.testing.assert_allclose(hills, of_metad, rtol=0, atol=coordtest.rounded(1e-12))
                self.assertLess(errors[0], coordtest.rounded(of_v))
                self.assertLess(errors[1], coordtest.rounded(of_forces))
                if ours:
                    found, expected = np.loadtxt(work.at("G")), np.loadtxt(given.at("grid"))
                    self.assertEqual(found.shape, (120 * 120, 5))
                    np.testing.assert_allclose(found, expected, rtol=0, atol=coordtest.rounded(1e-7))


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
