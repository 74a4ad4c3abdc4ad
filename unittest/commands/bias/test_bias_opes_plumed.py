"""PLUMED reads the kernels and state files of OPES, and computes the same bias and forces, also with its own kernels.

GPUCOORD_TEST_PLUMED is described in plumedtest.py.
"""
# Without: gpu

import re
import unittest

import numpy as np

import plumedtest
import test_bias_plumed
from test_bias_hills import Folder, hill_lines, script
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


def columns(content):
    """Return the numbers of a KERNELS or STATE file."""
    return np.array([[float(word) for word in line.split()] for line in hill_lines(content)])


class OwnKernels(unittest.TestCase):
    # Step of the sixth kernel, the first one with adaptive sigma at step 40.
    CASES = [("opes", 1, "sigma 0.2", "SIGMA=0.2", 60), ("opes", 2, "sigma 0.2 0.3", "SIGMA=0.2,0.3", 60),
             ("opes", 1, "sigma/adaptive 40", "ADAPTIVE_SIGMA_STRIDE=40", 90), ("opes/explore", 1, "sigma 0.05", "SIGMA=0.05", 60)]

    def test_after_6_kernels(self):
        """PLUMED makes its own kernels from the same S. V and forces then agree on both sides of a kernel's end, where
        the first kernels make PLUMED's force differ most from the derivative of its V."""
        for kind, n, words, options, last in self.CASES:
            with self.subTest(kind + " " + words):
                bias = (" ".join("c_" + name for name in NAMES[:n]) + f" {kind} barrier 12 temp 1.5 pace 10 {words} kernel "
                        "plumed force plumed deposit_if v_few max_skip 1000 file H write_state 10 S")
                work = Folder()
                text = script(bias, "run 1000", every=1).replace("fix b", f'variable few equal "step <= {last}"\nfix b', 1)
                self.assertEqual(work.start(text).wait(), 0, work.log()[-2000:])
                values = np.array(list(outputs(work.log()).values()), float)
                s, ours, dVdS = values[:, 3:3 + 4 * n:4], values[:, 2], values[:, 4:4 + 4 * n:4]
                action = "OPES_METAD_EXPLORE" if "explore" in kind else "OPES_METAD"
                commands = (f"metad: {action} {{arguments}} BARRIER=12 TEMP=1.5 PACE=10 {options} FILE=P UPDATE_UNTIL={last + 1}\n"
                            "PRINT ARG=metad.rct,metad.zed,metad.neff,metad.nker FILE=numbers FMT=%.17g\n")
                v, forces = test_bias_plumed.plumed(work, commands, s)
                kernels, theirs = columns(work.read("H")), columns(work.read("P"))
                self.assertEqual(len(kernels), 6)
                np.testing.assert_allclose(kernels[:, 1:], theirs[:, 1:], rtol=1e-12)
                # PLUMED adds a kernel after it computed V.
                same = np.arange(len(s)) > last
                np.testing.assert_allclose(v[same], ours[same], rtol=0, atol=1e-10)
                np.testing.assert_allclose(forces[same], -dVdS[same], rtol=0, atol=1e-10)
                first = 4 + 4 * n + 2 - 1
                np.testing.assert_allclose(np.loadtxt(work.at("numbers"))[same, 1:], values[same, first:first + 4], rtol=1e-10)
                state = columns(work.read("S"))
                distance = np.sqrt((((s[same, None] - state[:, 1:1 + n]) / state[:, 1 + n:1 + 2 * n])**2).sum(axis=2))
                cutoff = np.sqrt(2 * 12 / 1.5 / (1 if "explore" in kind else 1 - 1.5 / 12))
                beyond = (distance - cutoff).ravel()
                print(f"{kind} {words}: V differs by {np.abs(v - ours)[same].max():.1e}, forces by "
                      f"{np.abs(forces + dVdS)[same].max():.1e} of {np.abs(dVdS)[same].max():.2f}; nearest S {beyond[beyond < 0].max():.4f} and "
                      f"{beyond[beyond > 0].min():.4f} sigma from an end")
                self.assertLess(-beyond[beyond < 0].max(), 0.05)
                self.assertLess(beyond[beyond > 0].min(), 0.05)


if __name__ == "__main__":
    unittest.main()
