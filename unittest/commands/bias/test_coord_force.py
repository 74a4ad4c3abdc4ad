"""Compute coord/force: the forces of a bias on each atom are those that LAMMPS' fix store/force finds
around the fix, or all forces where there are no others; reading them changes nothing."""

import os
import unittest

import numpy as np

import coordtest
import dumptest
import errortest
import plumedtest
import test_bias_parallel
from test_bias_forces import BOXES, METADS, RESTRAINTS, System
from test_bias_parallel import FIXES, METAD, all_fixes, computes, crystal, forces, new_hills, state, text_of

# Difference of forces computed again in double, relative to the largest: sums in another order.
TOLERANCE = 1e-11 + coordtest.FORCES
AXES = "xyz"


def columns(frame, word):
    """Return three columns of a dump as [atom][axis]."""
    return np.column_stack([frame[f"{word}[{k}]"] for k in (1, 2, 3)])


def melt_with_dump(every, hills, ranks):
    """Run all kinds of biases at once, each between two fixes store/force, with or without a dump of
    their forces."""
    stored = lambda k: f"fix stored{k} all store/force"
    lines = crystal() + forces() + computes()
    for k, line in enumerate(all_fixes(hills)):
        lines += [line] if line.startswith("variable") else [stored(k), line]
    lines += [stored("end"), "thermo_style custom step etotal press " + " ".join(f"f_{name}[*]" for name in FIXES),
              "thermo_modify norm no format float %.17g", "thermo 5"]
    lines += [f"compute {name} all coord/force {name}" for name in FIXES]
    if every:
        names = [f"f_stored{k}" for k, line in enumerate(all_fixes(hills)) if line.startswith("fix")] + ["f_storedend"]
        words = " ".join(f"{word}[{axis}]" for word in names + [f"c_{name}" for name in FIXES] for axis in (1, 2, 3))
        lines += [f"dump forces all custom {every} forces id {words}", "dump_modify forces format float %.17g sort id"]
    lines += ["dump d all custom 20 dump id x y z xu yu zu vx vy vz fx fy fz",
              "dump_modify d format float %.17g sort id", "run 20"]
    return coordtest.run_lammps(lines, ranks)


class Melt(unittest.TestCase):
    def test_each_step(self):
        """All kinds, with strides, moving parameters, and hills that are deposited."""
        fixes = [line for line in all_fixes("h") if line.startswith("fix")]
        stored = [f"f_stored{k}" for k, line in enumerate(all_fixes("h")) if line.startswith("fix")] + ["f_storedend"]
        for ranks in (1, 2, 4):
            run = melt_with_dump(1, new_hills(), ranks)
            frames = dumptest.read_dump(run.path("forces"))
            self.assertEqual(len(frames), 21)
            acts = {name: 0 for name in FIXES}
            for frame in frames:
                for name, before, after in zip(FIXES, stored, stored[1:]):
                    expected = columns(frame, after) - columns(frame, before)
                    found = columns(frame, f"c_{name}")
                    scale = max(np.abs(columns(frame, after)).max(), np.abs(columns(frame, before)).max())
                    with self.subTest(ranks=ranks, step=frame.step, fix=name):
                        self.assertLess(np.abs(found - expected).max(), TOLERANCE * scale)
                        if frame.step % 3 and "stride 3" in FIXES[name] or frame.step % 5 and "stride 5" in FIXES[name]:
                            self.assertEqual(np.abs(found).max(), 0.0)
                    acts[name] += np.abs(expected).max() > 0.01
            self.assertEqual(len(fixes), len(FIXES))
            for name, steps in acts.items():
                self.assertGreater(steps, 2, name)

    def test_nothing_changes(self):
        """Trajectory, output of the fixes and hills are those of a run that does not read the forces."""
        for ranks in (1, 2):
            hills = new_hills(), new_hills()
            read, other = (melt_with_dump(every, path, ranks) for every, path in zip((1, 0), hills))
            found, expected = state(read), state(other)
            self.assertEqual(found.keys(), expected.keys())
            for name in expected:
                coordtest.assert_same_bits(found[name], expected[name], f"{ranks} ranks, {name}", at_other_steps=True)
            for name in METAD:
                coordtest.assert_same_bits(text_of(f"{hills[0]}.{name}"), text_of(f"{hills[1]}.{name}"), name,
                                           at_other_steps=True)

    def test_levels_of_respa(self):
        """At both levels, with the factors that the fix prints and the gradients of the variable."""
        for level in (1, 2):
            lines = crystal() + forces() + computes() + [
                "run_style respa 2 2 pair 2", f"fix b all coord/bias {FIXES['harmonic']}", f"fix_modify b respa {level}",
                "compute f all coord/force b", "thermo_style custom step f_b[2] f_b[6]",
                "thermo_modify format float %.17g", "thermo 1",
                "dump d all custom 1 dump id c_f[*] c_c[2] c_c[3] c_c[4] c_d[2] c_d[3] c_d[4]",
                "dump_modify d format float %.17g sort id", "run 5"]
            run = coordtest.run_lammps(lines)
            for k, frame in enumerate(dumptest.read_dump(run.path("dump"))):
                expected = sum(-run.tables[0][f"f_b[{component}]"][k] *
                               np.column_stack([frame[f"c_{name}[{axis}]"] for axis in (2, 3, 4)])
                               for component, name in ((2, "c"), (6, "d")))
                self.assertGreater(np.abs(expected).max(), 0.1)
                np.testing.assert_allclose(columns(frame, "c_f"), expected, 0, 1e-11 * np.abs(expected).max())

    def test_alone(self):
        """Without other forces. With KOKKOS on a GPU, variables and bias are there."""
        words = {"harmonic": "c_e harmonic k 30 s0 8.0", "two": "c_c c_d harmonic k 100 20 s0 8.6 8.9",
                 "grid": "c_c metad sigma 0.1 height 1.0 pace 2 grid 6 12 bins 150 file {hills}",
                 "wall": "c_d wall/upper k 300 s0 5 stride 2"}
        for name, bias in words.items():
            precisions = {"precision double": 1e-12} | ({"precision mixed": 2e-5} if name == "two" else {})
            for keyword, tolerance in precisions.items():
                lines = crystal() + ["pair_style zero 2.3", "pair_coeff * *", "neighbor 0.3 bin", "fix move all nve"]
                lines += [line.replace("precision double", keyword) for line in computes()]
                lines += ["compute e all coord/custom c+0.1*d*d c c_c d c_d",
                          f"fix b all coord/bias {bias.format(hills=new_hills())}",
                          "compute f all coord/force b", "compute some left coord/force b",
                          "compute sum all reduce sum c_some[*]", "thermo_style custom step c_sum[*]",
                          "thermo_modify norm no format float %.17g", "thermo 3",
                          "dump d all custom 3 dump id fx fy fz c_f[*] c_some[*]",
                          "dump_modify d format float %.17g sort id", "run 12"]
                for ranks in (1, 2):
                    with self.subTest(bias=name, keyword=keyword, ranks=ranks):
                        run = coordtest.run_lammps(lines, ranks)
                        frames = dumptest.read_dump(run.path("dump"))
                        self.assertEqual([frame.step for frame in frames], [0, 3, 6, 9, 12])
                        acts = 0
                        for k, frame in enumerate(frames):
                            expected = np.column_stack([frame[f"f{axis}"] for axis in AXES])
                            largest = max(np.abs(expected).max(), 1e-300)
                            acts += largest > 0.1
                            found = columns(frame, "c_f")
                            error = np.abs(found - expected).max()
                            self.assertLessEqual(error, (tolerance + coordtest.FORCES) * largest)
                            left = np.isin(frame["id"], 1 + test_bias_parallel.LEFT)
                            np.testing.assert_array_equal(columns(frame, "c_some"), found * left[:, None])
                            total = np.array([run.tables[0][f"c_sum[{axis}]"][k] for axis in (1, 2, 3)])
                            np.testing.assert_allclose(total, found[left].sum(axis=0), 0, 1e-9 * largest)
                        # The first hill is deposited at step 2, the wall acts in even steps.
                        self.assertGreater(acts, {"grid": 1, "wall": 2}.get(name, 4))


class Differences(unittest.TestCase):
    """In orthogonal and triclinic boxes, of all kinds of variables; the forces that LAMMPS has are
    compared with differences of the energy by test_bias_forces."""

    def test_all_kinds(self):
        for box in BOXES:
            for name, (names, arguments, *_) in {**RESTRAINTS, **METADS}.items():
                with self.subTest(box=box, case=name):
                    system = System(self, BOXES[box])
                    system.bias(names, arguments)
                    system.commands("compute f all coord/force b", "fix move all nve", "run 4", "unfix move")
                    all_forces = system.evaluate()[1]
                    found = coordtest.atoms_of(system.lmp, "f")
                    expected = system.forces_of_bias(all_forces)
                    self.assertLess(np.abs(found - expected).max(), TOLERANCE * np.abs(all_forces).max())

    def test_minimization(self):
        system = System(self, BOXES["orthogonal"])
        system.bias(*RESTRAINTS["harmonic, three"][:2])
        system.commands("compute f all coord/force b", "minimize 0 0 5 20")
        found, all_forces = coordtest.atoms_of(system.lmp, "f"), coordtest.forces_of(system.lmp)
        expected = system.forces_of_bias(all_forces)
        self.assertGreater(np.abs(expected).max(), 0.1)
        self.assertLess(np.abs(found - expected).max(), TOLERANCE * np.abs(all_forces).max())

    def test_plumed(self):
        """Forces through our variables and of PLUMED's own on atoms."""
        plumed = plumedtest.PLUMED and os.path.exists(plumedtest.KERNEL)
        if not plumed:
            self.skipTest("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED")
        cases = {"variable": ("one", "RESTRAINT ARG=one AT=0 KAPPA=0.2\n"),
                 "atoms": ("", "d: DISTANCE ATOMS=3,17\nRESTRAINT ARG=d AT=1 KAPPA=5\n"),
                 "both": ("one mean", "d: TORSION ATOMS=2,9,21,30\nq: CUSTOM ARG=one,d FUNC=x*cos(y) PERIODIC=NO\n"
                          "RESTRAINT ARG=q,mean AT=5,1 KAPPA=1,2\n")}
        for name, (names, text) in cases.items():
            with self.subTest(case=name):
                system = plumedtest.System(self, BOXES["triclinic"])
                system.plumed(names, text)
                system.commands("compute f all coord/force b", "fix move all nve", "run 4", "unfix move")
                all_forces = system.evaluate()[1]
                found, expected = coordtest.atoms_of(system.lmp, "f"), system.forces_of_bias(all_forces)
                self.assertGreater(np.abs(expected).max(), 0.1)
                self.assertLess(np.abs(found - expected).max(), TOLERANCE * np.abs(all_forces).max())


class Errors(errortest.InProcess):
    BIAS = errortest.GOOD + "\nfix b all coord/bias c_c harmonic k 1 s0 2"

    def assert_error(self, command, message, marked):
        self.assertEqual(errortest.error_of(self.lmp, command), (message, marked))

    def test_definition(self):
        errortest.commands(self.lmp, self.BIAS + "\nfix n all nve")
        missing = ("Compute coord/force f: fix x does not exist - define it before this compute, and keep it "
                   "while the compute is used")
        self.assert_error("compute f all coord/force x", missing, "compute f all coord/force [x]")
        style = "nve/kk" if coordtest.KOKKOS else "nve"
        self.assert_error("compute f all coord/force n",
                          f"Compute coord/force f: fix n is of style {style}, which has no bias on collective "
                          "variables - give the ID of a fix coord/bias or coord/plumed", "compute f all coord/force [n]")
        self.assert_error("compute f all coord/force b n",
                          "Compute coord/force takes the ID of one fix, but n follows b - define a compute for each "
                          "fix", "compute f all coord/force b [n]")
        with self.assertRaisesRegex(Exception, "Illegal compute coord/force command: missing argument"):
            self.lmp.command("compute f all coord/force")

    def test_use(self):
        errortest.commands(self.lmp, self.BIAS + "\ncompute f all coord/force b\ncompute m all reduce max c_f[1]\n"
                           "variable m equal c_m\nthermo_style custom step c_m")
        self.lmp.command("run 0 post no")
        self.assertGreater(abs(self.lmp.extract_compute("m", 0, 0)), 0.0)
        errortest.commands(self.lmp, "unfix b")
        gone = ("Compute coord/force f: fix b does not exist - define it before this compute, and keep it while the "
                "compute is used")
        self.assertEqual(errortest.error_of(self.lmp, "run 0")[0], gone)
        # A new fix of the same ID is used from its first evaluation on.
        errortest.commands(self.lmp, "fix b all coord/bias c_c harmonic k 1 s0 2\nrun 0 post no\nreset_timestep 7")
        early = ("Compute coord/force f: fix b has no forces of timestep 7 yet - use run 0 first, and define fixes "
                 "that read them after fix b")
        with self.assertRaises(Exception) as caught:
            self.lmp.extract_compute("f", 1, 2)
        self.assertEqual(errortest.read_error(str(caught.exception))[0], early)
        self.lmp.command("run 0")

    def test_read_too_early(self):
        """By a fix before the bias, within a timestep."""
        errortest.commands(self.lmp, errortest.GOOD + "\nfix early all addforce v_x 0 0\n"
                           "fix b all coord/bias c_c harmonic k 1 s0 2\ncompute f all coord/force b\n"
                           "variable x atom c_f[1]")
        message = errortest.error_of(self.lmp, "run 0")[0]
        self.assertEqual(message, "Compute coord/force f: fix b has no forces of timestep 0 yet - use run 0 first, and "
                         "define fixes that read them after fix b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
