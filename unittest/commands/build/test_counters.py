"""How often variables, biases and pair sums are evaluated, by the counters of a build with
GPUCOORD_COUNTERS. The numbers are compared with LAMMPS' own counts of force evaluations."""

import os
import re
import sys
import unittest

import coordtest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "baseline"))
import counters

if not counters.has_counters(os.environ["GPUCOORD_BUILD"]):
    coordtest.skip("this build has no counters (configure with -D GPUCOORD_COUNTERS=ON)")


# A setup evaluates S for its line of text, and then for the forces. Where the gradients are on a GPU, it evaluates them once more
# on the host, for the advice about the largest k.
WITH_LINE = 2
ADVICE = int(coordtest.ON_KOKKOS_GPU)
WITH_LINE_AND_ADVICE = WITH_LINE + ADVICE


class Evaluations(unittest.TestCase):
    def count(self, case):
        path = os.path.join(coordtest.folder(), "counters")
        os.environ["GPUCOORD_COUNTERS_FILE"] = path
        try:
            run = coordtest.run_lammps(counters.CASES[case], fresh=True)
        finally:
            del os.environ["GPUCOORD_COUNTERS_FILE"]
        return run, counters.Counts(path)

    def once_a_timestep(self, case, steps=10, setup=WITH_LINE_AND_ADVICE):
        """setup: number of evaluations before the first timestep."""
        _, counts = self.count(case)
        expected = {0: setup, **dict.fromkeys(range(1, steps + 1), 1)}
        self.assertEqual({step: counts.evaluations(step) for step in range(steps + 1)}, expected)
        self.assertEqual(counts.evaluations(), setup + steps)
        return counts

    def test_one_fix(self):
        self.once_a_timestep("one fix")

    def test_two_fixes_on_one_variable(self):
        """They share one evaluation."""
        # The advice to the first fix makes the second one evaluate again.
        counts = self.once_a_timestep("two fixes on one variable", setup=WITH_LINE + 3 * ADVICE)
        biases = counts.totals.get("restraints (host)", 0) + counts.totals.get("ResidentBias", 0)
        self.assertEqual(biases, 22)

    def test_expression(self):
        """With atoms resident on the GPU, the host waits and copies as often as without an expression."""
        counts = self.once_a_timestep("expression", setup=WITH_LINE_AND_ADVICE + 1)    # the line of the expression
        _, alone = self.count("one fix")
        for what in "stream waits", "event waits", "bytes to host":
            self.assertEqual([counts.steps[step].get(what, 0) for step in range(1, 11)],
                             [alone.steps[step].get(what, 0) for step in range(1, 11)], what)
        if coordtest.ON_KOKKOS_GPU:
            self.assertEqual(min(row.get("stream waits", 0) for row in counts.steps.values()), 0)

    def test_metadynamics(self):
        """A hill does not evaluate the variable again."""
        self.once_a_timestep("metadynamics on a grid")

    def test_opes(self):
        """With atoms resident on the GPU, the host waits in timesteps of deposits only, also with adaptive sigma."""
        counts = self.once_a_timestep("OPES with adaptive sigma", steps=20, setup=WITH_LINE)
        if not coordtest.ON_KOKKOS_GPU:
            return
        _, alone = self.count("one fix")
        for step in range(9, 20):
            between = step % 4 > 1    # in the step after a deposit, the host looks whether its last copies are complete
            for what in ["stream waits"] + ["event waits"] * between if step % 4 else []:
                self.assertEqual(counts.steps[step].get(what, 0), alone.steps[8].get(what, 0), (step, what))

    @unittest.skipUnless(coordtest.ON_KOKKOS_GPU, "without KOKKOS on a GPU, the host computes")
    def test_geometry(self):
        """Two launches for atoms and four for centers, next to that of the bias. Nothing is copied, and nothing waits."""
        for case, launches in ("geometry of atoms", 2), ("geometry of centers", 4):
            with self.subTest(case):
                run, counts = self.count(case)
                rows = [counts.steps[step] for step in (2, 3, 4, 7, 8, 9)]
                self.assertEqual({row["kernel launches"] for row in rows}, {launches + 1})
                for what in "stream waits", "device waits", "blocking copies", "bytes to host":
                    self.assertEqual({row.get(what, 0) for row in rows}, {0}, what)
                self.assertIn("atoms and derivatives resident on the GPU", run.text)

    def test_pair(self):
        self.once_a_timestep("pair coord", setup=1)

    def test_run_0_twice(self):
        """A run begins with an evaluation, even if nothing has moved."""
        _, counts = self.count("run 0 twice")
        self.assertEqual(counts.evaluations(), 1 + 2 * (1 + ADVICE))

    def test_minimizations(self):
        """Once for each force evaluation that LAMMPS counts, and twice at the setup."""
        for style in ["cg"] + ["fire"] * (not coordtest.ON_KOKKOS_GPU):    # a LAMMPS may lack fire/kk
            with self.subTest(style):
                run, counts = self.count(f"min_style {style}")
                forces = int(re.search(r"Iterations, force evaluations = \d+ (\d+)", run.text)[1])
                self.assertGreater(forces, 9)
                self.assertEqual(counts.evaluations(), forces + WITH_LINE)

    def test_respa(self):
        """Once a timestep at the outermost level, and 2 * 2 times at the innermost."""
        self.once_a_timestep("respa, outer level")
        _, counts = self.count("respa, inner level")
        self.assertEqual([counts.evaluations(step) for step in range(1, 11)], [4] * 10)


if __name__ == "__main__":
    unittest.main()
