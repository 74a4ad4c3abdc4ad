"""examples/python prints S as in brute force, and V and dV/dS as in the sum of the hills in its
file."""

import contextlib
import io
import os
import sys
import unittest

import matplotlib
import numpy as np

import brutetest
import coordtest

matplotlib.use("Agg")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir, "examples", "python"))
import live

PIECES, STEPS = 4, 110
PRINTED = 1e-5        # five decimals
V_TOLERANCE = 5e-4    # the grid interpolates: spacing 0.25 sigma


class PythonExample(unittest.TestCase):
    def test_printed(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(coordtest.folder())
        live.LIQUID = "\n".join(map(coordtest.on_device, live.LIQUID.splitlines()))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            lmp = live.run(os.path.join(os.environ["GPUCOORD_BUILD"], "gpucoordplugin.so"), PIECES, STEPS)
        table = np.array([line.split() for line in printed.getvalue().splitlines()[1:]], float)
        self.assertEqual(table[:, 0].tolist(), [STEPS * (k + 1) for k in range(PIECES)])
        self.assertEqual(table[:, 4].tolist(), [STEPS * (k + 1) // 50 for k in range(PIECES)])

        x = np.array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)
        low, high, *_ = lmp.extract_box()
        box = brutetest.Box(np.subtract(high, low), lo=low, from_lammps=True)
        switch = brutetest.Switch("cubic", d0=1.2, dmax=1.8)
        s = brutetest.brute_force(box, x, switch, a=np.array([0]), b=np.arange(1, len(x))).value
        self.assertAlmostEqual(table[-1, 1], s, delta=PRINTED)

        # Heights in the file include the factor biasfactor/(biasfactor - 1).
        _, center, sigma, height, biasfactor = np.loadtxt("HILLS").T
        height *= (biasfactor - 1) / biasfactor
        d = table[-1, 1] - center
        e = height * np.exp(-d**2 / (2 * sigma**2)) * (d**2 / (2 * sigma**2) < 6.25) / (1 - np.exp(-6.25))
        v = (e - np.exp(-6.25) * height / (1 - np.exp(-6.25)) * (e > 0)).sum()
        self.assertGreater(v, 0.1)
        print(f"S {s:.6f}, V {v:.6f}, dV/dS {(-e * d / sigma**2).sum():.6f}; printed {table[-1, 1:4]}")
        self.assertAlmostEqual(table[-1, 2], v, delta=V_TOLERANCE)
        self.assertAlmostEqual(table[-1, 3], (-e * d / sigma**2).sum(), delta=V_TOLERANCE)
        self.assertGreater(os.path.getsize("live.png"), 1000)
        lmp.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
