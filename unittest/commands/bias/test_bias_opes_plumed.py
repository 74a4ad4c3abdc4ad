"""PLUMED reads the kernels and state files of OPES, and computes the same bias and forces.

GPUCOORD_TEST_PLUMED is described in plumedtest.py.
"""
# Without: gpu

import re
import unittest

import numpy as np

import plumedtest
import test_bias_plumed
from test_bias_hills import Folder, hill_lines
from test_bias_opes import outputs

plumedtest.require()

NAMES = "c", "d"
# Words of the fix, and PLUMED's options that are not in the files.
CASES = [
    ("opes", 1, "sigma 0.2", "SIGMA=0.2"),
    ("opes", 2, "sigma 0.2 0.3 sigma/min 0.05 0.05 recursive no", "SIGMA=0.2,0.3 SIGMA_MIN=0.05,0.05 RECURSIVE_MERGE_OFF"),
    ("opes", 1, "sigma/adaptive 40", "ADAPTIVE_SIGMA_STRIDE=1000000"),
    ("opes", 2, "biasfactor 5 cutoff 3 threshold 0.8 epsilon 0.001 sigma 0.2 0.3",
     "BIASFACTOR=5 KERNEL_CUTOFF=3 COMPRESSION_THRESHOLD=0.8 EPSILON=0.001 SIGMA=0.2,0.3"),
    ("opes", 1, "biasfactor inf sigma 0.2", "BIASFACTOR=inf SIGMA=0.2"),
    ("opes", 1, "normalize no sigma 0.2", "NO_ZED SIGMA=0.2"),
    ("opes/explore", 1, "sigma 0.2", "SIGMA=0.2"),
    ("opes/explore", 2, "sigma/adaptive 50 fixed_sigma yes", "ADAPTIVE_SIGMA_STRIDE=1000000 FIXED_SIGMA"),
]


class Files(unittest.TestCase):
    def test_plumed_reads_them(self):
        """V and forces of PLUMED are those of LAMMPS, with the state or, without adaptive sigma, with
        the kernels."""
        for kind, n, words, options in CASES:
            bias = (" ".join("c_" + name for name in NAMES[:n]) + f" {kind} barrier 20 temp 1.5 pace 10 {words} kernel plumed "
                    "force plumed file H write_state 50 S")
            work = Folder()
            work.run(bias, "run 300\nwrite_data data nocoeff")
            self.assertGreater(len(hill_lines(work.read("H"))), 20)
            # A run without deposits, so that V is that of the state
            frozen = bias.replace("pace 10", "pace 1000000").replace("write_state 50 S", "read_state S").replace("file H", "file N")
            frozen = re.sub("sigma/adaptive [0-9]+", "sigma/adaptive 1000000", frozen)
            log = work.run(frozen, "run 100", data="data")
            values = np.array(list(outputs(log).values()), float)
            s, ours, dVdS = values[:, 3:3 + 4 * n:4], values[:, 2], values[:, 4:4 + 4 * n:4]
            self.assertGreater(np.ptp(ours), 0.1)
            action = "OPES_METAD_EXPLORE" if "explore" in kind else "OPES_METAD"
            for files in ("STATE_RFILE=S FILE=P",) + (() if "adaptive" in words else ("FILE=H",)):
                with self.subTest(kind + " " + words, files=files):
                    commands = f"metad: {action} {{arguments}} BARRIER=20 TEMP=1.5 PACE=1000000 {options} {files} RESTART=YES\n"
                    v, forces = test_bias_plumed.plumed(work, commands, s)
                    print(f"{kind} {words}: V differs by {np.abs(v - ours).max():.1e} of {np.abs(ours).max():.2f}, forces by "
                          f"{np.abs(forces + dVdS).max():.1e} of {np.abs(dVdS).max():.2f}")
                    np.testing.assert_allclose(v, ours, rtol=0, atol=1e-10)
                    np.testing.assert_allclose(forces, -dVdS, rtol=0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
