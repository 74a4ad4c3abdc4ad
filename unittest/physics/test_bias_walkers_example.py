"""F(S) of eight walkers that share a bias, and of one run, compared with quadrature: a short version of
examples/bias/walkers. Tolerances are several errors of such a run, since rounding differs between machines."""
# Processors: 2
# Without: gpu, kokkos

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "commands"))
import coordtest

EXAMPLE = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir, "examples", "bias", "walkers"))
spec = importlib.util.spec_from_file_location("analyze", os.path.join(EXAMPLE, "analyze.py"))
analyze = importlib.util.module_from_spec(spec)
spec.loader.exec_module(analyze)

STEPS = 50000    # of a walker
SHARE = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class Walkers(unittest.TestCase):
    def setUp(self):
        self.where = tempfile.mkdtemp(dir=coordtest.folder())
        for name in "in.walkers", "in.single", "pair.system":
            shutil.copy(os.path.join(EXAMPLE, name), self.where)

    def run_example(self, command, name, steps):
        done = subprocess.run([*command, "-in", name, "-nocite", "-screen", "none", "-var", "steps", str(steps)],
                              cwd=self.where, env={**os.environ, **SHARE}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])

    def compare(self, name, files, kernels):
        """Return the estimate. The error of F of a bin is near 0.1 kT."""
        found = analyze.Estimate(name, [os.path.join(self.where, file) for file in files])
        p = analyze.quadrature()
        exact = -np.log(p / p[analyze.ZERO])
        difference = found.f - exact
        of_binding = found.binding - analyze.binding(p)
        print(f"{found.line()}; F to {np.abs(difference).max():.3f}, rms {np.sqrt((difference**2).mean()):.3f}, "
              f"binding to {of_binding:.3f} +- {found.binding_error:.3f} kT")
        self.assertLess(np.abs(difference).max(), 0.6)
        self.assertLess(np.abs(of_binding), 0.5)
        self.assertGreater(exact.max() - exact.min(), 6)
        with open(os.path.join(self.where, kernels)) as file:
            rows = [line.split() for line in file if not line.startswith("#")]
        self.assertEqual(len(rows), 8 * STEPS // 500)
        return found, rows

    def test_walkers(self):
        launch = [*coordtest.mpirun(8), *coordtest.lmp_program(8)]
        self.run_example([*launch, "-partition", "8x1", "-pscreen", "none"], "in.walkers", STEPS)
        found, rows = self.compare("8 walkers", [f"walkers.{w}" for w in range(8)], "KERNELS.walkers")
        self.assertEqual([int(row[-1]) for row in rows], list(range(8)) * (STEPS // 500))
        for series in found.series:
            self.assertGreater(analyze.count_round_trips(series[:, 0], 0.25, 0.85), 2)

    def test_single(self):
        self.run_example(coordtest.lmp_program(), "in.single", 8 * STEPS)
        self.compare("one run", ["single"], "KERNELS.single")


if __name__ == "__main__":
    unittest.main(verbosity=2)
