"""Fix coord/plumed with atoms and the box in PLUMED's input: forces and virial are derivatives of the
energy and equal closed forms and LAMMPS' own styles, on any number of ranks."""
# Processors: 2

import re
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
import plumedtest
import test_bias_forces
from plumedtest import EDGE, MELT_ATOMS, Input, System, dump_of_last, extracv, last_of, melt, thermo

SAME = coordtest.rounded(1e-9)
RANKS = coordtest.rounded(1e-11)


class Differences(unittest.TestCase):
    """Forces on atoms and virial, of an input with atoms only and of one with our variables."""

    # Our variables, PLUMED's commands, and the IDs of all atoms that feel PLUMED's forces, or None
    # where our variables act on others. {s[k]}: variables at the beginning, {V}: volume.
    CASES = {
        "DISTANCE": ("", "d: DISTANCE ATOMS=3,17\nRESTRAINT ARG=d AT=1 KAPPA=5\n", (3, 17)),
        "DISTANCE, components": ("", "d: DISTANCE ATOMS=3,17 COMPONENTS\nRESTRAINT ARG=d.x,d.y,d.z AT=1,-1,0.5 "
                                 "KAPPA=5,4,3\n", (3, 17)),
        "DISTANCE, scaled": ("", "d: DISTANCE ATOMS=3,17 SCALED_COMPONENTS\nRESTRAINT ARG=d.a,d.b AT=1,-1 KAPPA=5,4\n",
                             (3, 17)),
        "ANGLE": ("", "d: ANGLE ATOMS=2,9,21\nRESTRAINT ARG=d AT=1 KAPPA=15\n", (2, 9, 21)),
        "TORSION": ("", "d: TORSION ATOMS=2,9,21,30\nRESTRAINT ARG=d AT=1 KAPPA=9\n", (2, 9, 21, 30)),
        "COM": ("", "a: COM ATOMS=1-3\nb: CENTER ATOMS=6,9,12 WEIGHTS=1,2,3\nd: DISTANCE ATOMS=a,b\n"
                "RESTRAINT ARG=d AT=9 KAPPA=5\n", (1, 2, 3, 6, 9, 12)),
        "GROUP": ("", "g: GROUP ATOMS=1-3\nh: GROUP ATOMS=14,20\nd: COORDINATION GROUPA=g GROUPB=h R_0=1.5\n"
                  "RESTRAINT ARG=d AT=4 KAPPA=9\n", (1, 2, 3, 14, 20)),
        "WHOLEMOLECULES": ("", "WHOLEMOLECULES ENTITY0=4-8\nd: GYRATION ATOMS=4-8 NOPBC\nRESTRAINT ARG=d AT=0 KAPPA=9\n",
                           (4, 5, 6, 7, 8)),
        "POSITION": ("", "d: POSITION ATOM=7 SCALED_COMPONENTS\nRESTRAINT ARG=d.a,d.b,d.c AT=0.3,0.1,0.2 KAPPA=40,30,20\n",
                     (7,)),
        "GYRATION of all": ("", f"d: GYRATION ATOMS=1-{test_bias_forces.N}\nRESTRAINT ARG=d AT=0 KAPPA=20\n", None),
        "VOLUME": ("", "d: VOLUME\nRESTRAINT ARG=d AT={V-3} KAPPA=0.5\n", ()),
        "CELL": ("", "d: CELL\nRESTRAINT ARG=d.ax,d.by,d.cz,d.bx,d.cx,d.cy AT=4,5,6,1,2,3 KAPPA=5,4,3,5,4,3\n", ()),
        "VOLUME and DISTANCE": ("", "v: VOLUME\nd: DISTANCE ATOMS=3,17\nq: CUSTOM ARG=v,d FUNC=y/x^(1/3) PERIODIC=NO\n"
                                "RESTRAINT ARG=q AT=0.1 KAPPA=50\n", (3, 17)),
        "one and DISTANCE": ("one", "d: DISTANCE ATOMS=3,17\nRESTRAINT ARG=one,d AT={s[0]-0.5},1 KAPPA=3,5\n", None),
        "product with TORSION": ("mean pair", "d: TORSION ATOMS=2,9,21,30\nq: CUSTOM ARG=mean,pair,d FUNC=x*y*cos(z) "
                                 "PERIODIC=NO\nRESTRAINT ARG=q AT=5 KAPPA=1\n", None),
        "one and VOLUME": ("one", "d: VOLUME\nq: CUSTOM ARG=one,d FUNC=x/y*100 PERIODIC=NO\nRESTRAINT ARG=q AT=0 "
                           "KAPPA=5\n", None),
        "pair and CELL": ("pair", "d: CELL\nq: CUSTOM ARG=pair,d.cz,d.bx FUNC=x*y+z PERIODIC=NO\nRESTRAINT ARG=q AT=0 "
                          "KAPPA=0.1\n", None),
    }

    def test_differences(self):
        for box in test_bias_forces.BOXES:
            for name, (variables, text, ids) in self.CASES.items():
                with self.subTest(box=box, case=name):
                    system = System(self, test_bias_forces.BOXES[box])
                    s = [system.s[one] for one in variables.split()]
                    system.plumed(variables, eval(f"f'''{text}'''", {"s": s, "V": np.linalg.det(system.box.edges)}))
                    system.commands("fix move all nve", "run 4", "unfix move")
                    atoms = np.array(ids or (), int) - 1
                    if ids is None:
                        of_bias = np.abs(system.forces_of_bias(system.evaluate()[1])).max(axis=1)
                        atoms = np.argsort(of_bias)[-4:]
                    plumedtest.compare_with_differences(self, f"{box}, {name}", system, atoms, only=ids is not None,
                                                        least=1e-3)

    def test_closed_forms(self):
        """V, forces and virial of a DISTANCE and of a VOLUME."""
        for box in test_bias_forces.BOXES.values():
            system = System(self, box)
            system.plumed("", "d: DISTANCE ATOMS=3,17\nRESTRAINT ARG=d AT=1 KAPPA=5\n")
            v, energy, forces, virial = system.of_bias()
            x = system.x()
            d = x[16] - x[2] + np.vstack([np.zeros(3), box.images(6.0)])
            d = d[np.argmin((d**2).sum(axis=1))]
            r = np.linalg.norm(d)
            self.assertGreater(abs(r - 1), 0.1)
            self.assertAlmostEqual(v, 2.5 * (r - 1)**2, delta=1e-12)
            self.assertAlmostEqual(energy, v, delta=1e-10)
            expected = np.zeros_like(forces)
            expected[16] = -5 * (r - 1) * d / r
            expected[2] = -expected[16]
            self.assertLess(coordtest.error_of(forces, expected), coordtest.DOUBLE)
            w = [d[a] * expected[16, b] for a, b in coordtest.COMPONENTS]
            self.assertLess(coordtest.error_of(virial, w), coordtest.DOUBLE)

            system = System(self, box)
            volume = np.linalg.det(box.edges)
            system.plumed("", f"d: VOLUME\nRESTRAINT ARG=d AT={volume - 3} KAPPA=0.5\n")
            v, energy, forces, virial = system.of_bias()
            self.assertAlmostEqual(v, 0.25 * 9, delta=1e-10)
            self.assertLess(np.abs(forces).max(), 1e-12 * np.abs(system.evaluate()[1]).max())
            self.assertLess(coordtest.error_of(virial, -0.5 * 3 * volume * np.array([1, 1, 1, 0, 0, 0])), coordtest.DOUBLE)

    def test_box_changes_between_runs(self):
        """VOLUME is that of the changed box, also if the timestep and the atoms are the same."""
        system = System(self, test_bias_forces.BOXES["orthogonal"])
        system.commands("change_box all triclinic")
        system.plumed("", "d: VOLUME\nRESTRAINT ARG=d AT=100 KAPPA=1\n")
        for factor in 1.0, 1.02, 0.98:
            coordtest.set_box(system.lmp, system.box, factor * system.box.edges)
            system.evaluate()
            volume = factor**3 * np.linalg.det(system.box.edges)
            self.assertAlmostEqual(system.v(), (volume - 100)**2 / 2, delta=1e-9 * volume**2)


class Molecules(unittest.TestCase):
    """Bonds and angles by PLUMED in place of LAMMPS."""

    # IDs of neighbors in the crystal, one pair and one triple across boundaries.
    BONDS = ((1, 2), (5, 6), (1, 100), (30, 31))
    ANGLES = ((2, 1, 3), (100, 1, 2))
    K, R0, KA, THETA0 = 60.0, 1.3, 25.0, 80.0

    def commands(self, tilted):
        lines = []
        for line in melt():
            lines.append(line)
            if line.startswith("atom_modify"):
                lines += ["atom_style angle", "special_bonds lj 1 1 1"]
            if line.startswith("read_data"):
                lines[-1] = (line.replace("/data", "/data.angle") + " extra/bond/per/atom 6 extra/angle/per/atom 6 "
                             "extra/special/per/atom 20")
        if tilted:
            at = next(k for k, line in enumerate(lines) if line.startswith("velocity"))
            lines[at:at] = ["change_box all triclinic",
                            "change_box all xy final 1.0 xz final -0.7 yz final 0.8 remap units box"]
        return lines

    def setUp(self):
        folder = coordtest.folder()
        melt()
        with open(f"{folder}/data") as file:
            header, atoms = file.read().split("Atoms # atomic\n\n")
        rows = [line.split() for line in atoms.split("\n") if line]
        with open(f"{folder}/data.angle", "w") as file:
            file.write(header.replace("1 atom types", "1 atom types\n1 bond types\n1 angle types") + "Atoms # angle\n\n")
            file.write("".join(f"{row[0]} 1 {' '.join(row[1:])}\n" for row in rows))

    def run_with(self, tilted, lines, ranks=1, steps=60):
        fix = [line for line in lines if line.startswith("fix ")]
        energy = ["c_bonded"] if not fix else ["f_b"]
        return coordtest.run_lammps(
            self.commands(tilted) + lines +
            [f"thermo_style custom step pe ke etotal press pxy pxz pyz {energy[0]}", "thermo 5",
             "thermo_modify norm no format float %.17g"] + dump_of_last(steps) + [f"run {steps}"], ranks)

    def test_bonds_and_angles(self):
        ours = ["bond_style harmonic", f"bond_coeff 1 {self.K / 2} {self.R0}", "angle_style harmonic",
                f"angle_coeff 1 {self.KA / 2} {self.THETA0}"]
        ours += [f"create_bonds single/bond 1 {i} {j} special yes" for i, j in self.BONDS]
        ours += [f"create_bonds single/angle 1 {i} {j} {k} special yes" for i, j, k in self.ANGLES]
        ours += ["compute bonded all pe bond angle"]
        text = "UNITS NATURAL\n"
        for k, (i, j) in enumerate(self.BONDS):
            text += f"d{k}: DISTANCE ATOMS={i},{j}\nRESTRAINT ARG=d{k} AT={self.R0} KAPPA={self.K}\n"
        for k, (i, j, l) in enumerate(self.ANGLES):
            text += f"a{k}: ANGLE ATOMS={i},{j},{l}\nRESTRAINT ARG=a{k} AT={np.radians(self.THETA0)!r} KAPPA={self.KA}\n"
        for tilted in False, True:
            expected = self.run_with(tilted, ours)
            rows = expected.tables[0]
            self.assertGreater(rows["c_bonded"].min(), 0.3)
            for ranks in 1, 2, 4:
                with self.subTest(tilted=tilted, ranks=ranks):
                    run = self.run_with(tilted, [f"fix b all coord/plumed {Input(text).words}"], ranks)
                    found = run.tables[0]
                    for name, column in rows.items():
                        name_of_bias = "f_b" if name == "c_bonded" else name
                        self.assertLess(coordtest.error_of(found[name_of_bias], column), SAME, name)
                    error = coordtest.error_of(last_of(run), last_of(expected))
                    print(f"tilted {tilted}, {ranks} ranks: atoms differ by {error:.1e}")
                    self.assertLess(error, SAME)


class Properties(unittest.TestCase):
    """PLUMED gets masses, charges, positions and the box of LAMMPS."""

    TEXT = ("UNITS NATURAL\nc: COM ATOMS=1-4\np: POSITION ATOM=c NOPBC\n"
            "q: DIPOLE GROUP=1-4 NOPBC\nd: DISTANCE ATOMS=2,3\nb: CELL\n"
            "PRINT ARG=p.x,p.y,p.z,q,d,b.ax,b.bx,b.by,b.cx,b.cy,b.cz FILE=COLVAR FMT=%.17g\n")
    X = np.array([[1.5, 2.0, 2.5], [2.0, 3.0, 2.0], [3.0, 2.5, 3.5], [3.5, 3.5, 2.0], [4.0, 0.5, 0.5]])
    MASSES = np.array([1.0, 3.0, 3.0, 1.0, 1.0])
    CHARGES = np.array([0.5, -1.0, 2.0, 0.0, 4.0])
    BOX = ["region box prism 0 6 0 5 0 4 1 -0.5 0.5"]

    def begin(self, style, properties):
        return (["units lj", f"atom_style {style}", "atom_modify map hash", *self.BOX, "create_box 2 box",
                 "mass 1 1.0" if style == "charge" else "", "mass 2 3.0" if style == "charge" else ""] +
                [f"create_atoms 1 single {x} {y} {z}" for x, y, z in self.X.tolist()] + properties +
                ["pair_style zero 1.0 nocoeff", "pair_coeff * *", "comm_modify cutoff 2.0"])

    def test_masses_and_charges(self):
        per_type = ["set atom 2*3 type 2"] + [f"set atom {k + 1} charge {q}" for k, q in enumerate(self.CHARGES.tolist())]
        per_atom = [f"set atom {k + 1} mass {m}" for k, m in enumerate(self.MASSES.tolist())]
        for style, properties in ("charge", per_type), ("sphere", per_atom):
            for ranks in 1, 2, 4:
                with self.subTest(style, ranks=ranks):
                    given = Input(self.TEXT)
                    coordtest.run_lammps(self.begin(style, properties) + [f"fix b all coord/plumed {given.words}", "run 0"],
                                         ranks)
                    row = {name: column[0] for name, column in given.columns("COLVAR").items()}
                    x, m, q = self.X[:4], self.MASSES[:4], self.CHARGES[:4] if style == "charge" else np.zeros(4)
                    com = (m[:, None] * x).sum(axis=0) / m.sum()
                    np.testing.assert_allclose([row["p." + axis] for axis in "xyz"], com, 1e-14)
                    # PLUMED's dipole is about the atoms' center, with its charge removed.
                    q = q - q.mean()
                    self.assertAlmostEqual(row["q"], np.linalg.norm((q[:, None] * x).sum(axis=0)), delta=1e-13)
                    self.assertAlmostEqual(row["d"], np.linalg.norm(x[2] - x[1]), delta=1e-14)
                    np.testing.assert_allclose([row["b." + name] for name in ("ax", "bx", "by", "cx", "cy", "cz")],
                                               [6, 1, 5, -0.5, 0.5, 4], 1e-15)

    def test_forces_by_mass(self):
        """A force on a center of mass goes to its atoms by their masses."""
        per_type = ["set atom 2*3 type 2"]
        given = Input("UNITS NATURAL\nc: COM ATOMS=1-4\nd: DISTANCE ATOMS=c,5 COMPONENTS NOPBC\n"
                      "RESTRAINT ARG=d.x AT=0 KAPPA=0 SLOPE=2\n")
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in self.begin("charge", per_type) + [f"fix b all coord/plumed {given.words}", "run 0"]:
            lmp.command(line)
        expected = np.zeros((5, 3))
        expected[:4, 0] = 2 * self.MASSES[:4] / 8
        expected[4, 0] = -2
        np.testing.assert_allclose(coordtest.forces_of(lmp), expected, 1e-13, 1e-13)


    def test_gaps_in_the_ids(self):
        """IDs may be larger than the number of atoms."""
        given = Input("UNITS NATURAL\nd: DISTANCE ATOMS=2,5\nr: RESTRAINT ARG=d AT=1 KAPPA=3\n")
        d = self.X[4] - self.X[1]
        images = np.vstack([np.zeros(3), brutetest.Box((6.0, 5.0, 4.0), tilt=(1.0, -0.5, 0.5)).images(8.0)])
        r = np.linalg.norm(d + images, axis=1).min()
        for properties in [], ["group three id 3", "delete_atoms group three compress no"]:
            for ranks in 1, 2:
                with self.subTest(properties, ranks=ranks):
                    run = coordtest.run_lammps(
                        self.begin("charge", properties) +
                        [f"fix b all coord/plumed {given.words}", "thermo_style custom step f_b",
                         "thermo_modify norm no format float %.17g", "run 0"], ranks)
                    self.assertAlmostEqual(run.tables[0]["f_b"][0], 1.5 * (r - 1)**2, delta=1e-12)


class Melt(unittest.TestCase):
    """Trajectories with atoms in PLUMED's input, on 1, 2 and 4 ranks."""

    def run_with(self, text, variables="", ranks=1, steps=40, more=(), extra=()):
        given = Input("UNITS NATURAL\n" + extracv(variables) + text)
        names = " ".join("c_" + name for name in variables)
        run = coordtest.run_lammps(melt() + [*extra, f"fix b all coord/plumed {names} {given.words}", *more] +
                                   thermo("b", size=2 * len(variables)) + dump_of_last(steps) + [f"run {steps}"], ranks)
        return run, given

    INPUTS = {
        "few": ("", "d: DISTANCE ATOMS=1,77\nc1: COM ATOMS=5-40\ne: DISTANCE ATOMS=c1,100\n"
                "r: RESTRAINT ARG=d,e AT=1,2 KAPPA=10,20\n"),
        "mixed": ("c", "d: DISTANCE ATOMS=1,77\nq: CUSTOM ARG=c,d FUNC=x*y PERIODIC=NO\n"
                  "r: RESTRAINT ARG=q,c AT=10,9 KAPPA=0.5,10\nv: VOLUME\nw: RESTRAINT ARG=v AT=100 KAPPA=0.1\n"),
        "all": ("d", f"g: GYRATION ATOMS=1-{MELT_ATOMS}\nr: RESTRAINT ARG=g,d AT=0,8 KAPPA=40,20\n"),
    }

    def test_ranks(self):
        for name, (variables, text) in self.INPUTS.items():
            expected, given = self.run_with(text + "PRINT ARG=r.bias FILE=COLVAR FMT=%.17g\n", variables)
            v = given.columns("COLVAR")["r.bias"]
            self.assertGreater(np.ptp(v), 0.1)
            for ranks in 2, 4:
                with self.subTest(name, ranks=ranks):
                    run, _ = self.run_with(text, variables, ranks)
                    for column in "f_b", "Press", "TotEng", "KinEng":
                        error = coordtest.error_of(run.tables[0][column], expected.tables[0][column])
                        self.assertLess(error, RANKS, column)
                    self.assertLess(coordtest.error_of(last_of(run), last_of(expected)), SAME)

    def test_energy_is_conserved(self):
        run, _ = self.run_with(self.INPUTS["mixed"][1], "c", steps=150, more=[f"timestep {plumedtest.DT / 4}"])
        rows = run.tables[0]
        self.assertLess(np.ptp(rows["TotEng"]), 0.01 * np.ptp(rows["f_b"]))
        self.assertGreater(np.ptp(rows["f_b"]), 1)

    def test_all_atoms(self):
        """An input that needs all atoms works, and the log says in one line what this costs."""
        run, _ = self.run_with(self.INPUTS["all"][1], "d")
        self.assertEqual(len(self.lines_about_all_atoms(run)), 1, run.text)
        run, _ = self.run_with(self.INPUTS["few"][1])
        self.assertEqual(self.lines_about_all_atoms(run), [])

    def lines_about_all_atoms(self, run):
        return [line for line in run.text.split("\n") if re.search(r"PLUMED.*\ball\b.*\batoms\b", line)]

    def test_lists_that_change(self):
        """COORDINATION with a neighbor list, whose atoms differ from step to step, equals that without
        one."""
        plain = ("g: GROUP ATOMS=1-10\nh: GROUP ATOMS=11-60\nd: COORDINATION GROUPA=g GROUPB=h "
                 "SWITCH={CUBIC D_0=0.8 D_MAX=1.6}")
        restraint = "\nr: RESTRAINT ARG=d AT=30 KAPPA=2\n"
        for ranks in 1, 2:
            expected, _ = self.run_with(plain + restraint)
            found, _ = self.run_with(plain + " NLIST NL_CUTOFF=2.2 NL_STRIDE=5" + restraint, ranks=ranks)
            for column in "f_b", "TotEng", "Press":
                self.assertLess(coordtest.error_of(found.tables[0][column], expected.tables[0][column]), SAME, column)

    def test_other_atoms_at_other_steps(self):
        """Actions with STRIDE request atoms at their steps. Forces are those of the atoms of a step."""
        text = ("a: DISTANCE ATOMS=1,2\nb: DISTANCE ATOMS=30,31\nc1: RESTRAINT ARG=a AT=3 KAPPA=7 STRIDE=2\n"
                "c2: RESTRAINT ARG=b AT=3 KAPPA=5 STRIDE=3\n")
        for ranks in 1, 2:
            given = Input("UNITS NATURAL\n" + text)
            lines = melt()
            at = lines.index("fix move all nve")
            lines[at:at + 1] = ["fix before all store/force", f"fix b all coord/plumed {given.words}"]
            lines += thermo("b", size=0) + ["dump d all custom 1 dump id type x y z fx fy fz f_before[*]",
                                            "dump_modify d format float %.17g sort id", "fix move all nve", "run 12"]
            run = coordtest.run_lammps(lines, ranks)
            for frame in dumptest.read_dump(run.path("dump")):
                force = np.column_stack([frame["f" + axis] - frame[f"f_before[{k + 1}]"] for k, axis in enumerate("xyz")])
                expected = np.zeros_like(force)
                for (i, j), kappa, stride in ((0, 1), 7, 2), ((29, 30), 5, 3):
                    if frame.step % stride:
                        continue
                    d = frame.x()[j] - frame.x()[i]
                    d -= EDGE * np.round(d / EDGE)
                    r = np.linalg.norm(d)
                    expected[j] = -stride * kappa * (r - 3) * d / r
                    expected[i] = -expected[j]
                np.testing.assert_allclose(force, expected, 1e-9, 1e-9, f"step {frame.step}, {ranks} ranks")


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
