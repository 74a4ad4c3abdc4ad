"""Periodic variables of compute coord/custom with PLUMED: its biases of the same variable, its reading of our files, and the
line that tells PLUMED the period.

GPUCOORD_TEST_PLUMED is described in plumedtest.py.
"""
# Without: gpu

import math
import re
import unittest

import numpy as np

import plumedtest
from plumedtest import Input
from test_bias_hills import Folder, hill_lines, warnings_of
from test_bias_periods import METAD, OPES, PARTS, crossings, run_of, shortest

plumedtest.require()
READ = "phi: CUSTOM ARG=s FUNC=x PERIODIC=-pi,pi\n"
L = 2 * math.pi


def by_driver(text, s):
    """Return V and the force on phi of the action metad at each s."""
    given = plumedtest.driver(READ + text + "PRINT ARG=metad.bias FILE=bias FMT=%.17g\nDUMPFORCES ARG=phi FILE=forces FMT=%.17g\n",
                              {"s": s})
    return given.columns("bias")["metad.bias"], given.columns("forces")["phi"]


class Restraints(unittest.TestCase):
    def test_restraint(self):
        """A RESTRAINT of PLUMED gives the trajectory of kind harmonic, across the ends of the period."""
        read = "UNITS NATURAL\ns: EXTRACV NAME=phi\np: CUSTOM ARG=s FUNC=x PERIODIC=-pi,pi\n"
        for plumed, ours in (("RESTRAINT ARG=p AT=3 KAPPA=3", "harmonic k 3 s0 3"),
                             ("MOVINGRESTRAINT ARG=p STEP0=0 AT0=3 KAPPA0=20 STEP1=1000 AT1=3.5",
                              "moving k 20 s0 3 s0/stop 3.5 steps 1000")):
            with self.subTest(ours):
                given = Input(read + plumed + "\n")
                work = Folder()
                found = run_of(work, f"fix b all coord/plumed c_phi {given.words}", "run 1000")
                self.assertEqual(warnings_of(work.log()), [])
                self.assertNotIn("is periodic", work.log())
                expected = run_of(Folder(), f"fix b all coord/bias c_phi {ours}", "run 1000")
                self.assertGreater(crossings(found[1]), 2)
                np.testing.assert_allclose(found[:3], expected[:3], rtol=0, atol=1e-8)
                np.testing.assert_allclose(-found[3], expected[3], rtol=0, atol=1e-7)


class Setup(unittest.TestCase):
    def test_line(self):
        """The setup prints the line that is missing, and warns of actions that do not know the period."""
        line = "p: CUSTOM ARG=s FUNC=x PERIODIC=-pi,pi"
        use = " uses s, and PLUMED does not know that c_phi is periodic - add the line '" + line + "' and use p"
        for text, is_printed, warned in (
                ("RESTRAINT ARG=s AT=3 KAPPA=3\n", True, "RESTRAINT"),
                ("q: CUSTOM ARG=s FUNC=x PERIODIC=NO\nRESTRAINT ARG=q AT=3 KAPPA=3\n", True, "CUSTOM"),
                ("q: CUSTOM ARG=s FUNC=sin(x) PERIODIC=NO\nRESTRAINT ARG=q AT=0 KAPPA=3\nPRINT ARG=s FILE=C\n", True, ""),
                ("q: COMBINE ARG=s PERIODIC=-pi,pi\nRESTRAINT ARG=q AT=3 KAPPA=3\nPRINT ARG=s FILE=C\n", False, ""),
                (line + "\nRESTRAINT ARG=p AT=3 KAPPA=3\nDUMPFORCES ARG=s FILE=F\n", False, "")):
            with self.subTest(text):
                given = Input("UNITS NATURAL\ns: EXTRACV NAME=phi\n" + text)
                work = Folder()
                run_of(work, f"fix b all coord/plumed c_phi {given.words}", "run 0")
                found = [re.sub(r".*plumed\.dat, line 3: ", "", warning) for warning in warnings_of(work.log())]
                self.assertEqual(found, [warned + use] if warned else [])
                self.assertEqual(f"\n  c_phi is periodic, which PLUMED learns from the line {line}\n" in work.log(), is_printed)
        self.assertNotIn("\n  c_r is periodic", work.log())


class Files(unittest.TestCase):
    def deposited(self, bias):
        """Return a folder with files of deposits on both sides of the ends of the period."""
        work = Folder()
        _, phi, *_ = run_of(work, "fix b all coord/bias c_phi " + bias, "run 1000")
        self.assertGreater(crossings(phi), 2)
        return work

    def frozen(self, work, bias):
        """Return S, V and dV/dS of LAMMPS with these deposits all around."""
        _, phi, v, dVdS = run_of(work, "fix b all coord/bias c_phi " + bias.replace("pace 20", "pace 1000000"),
                                 "unfix side\nvelocity ion set 0 2.5 0\nrun 2000")
        self.assertLess(np.diff(np.sort(phi)).max(), 0.1)
        return phi, v, dVdS

    def test_hills(self):
        """METAD of PLUMED with our HILLS, and sum_hills."""
        work = self.deposited(METAD)
        s, ours, dVdS = self.frozen(work, METAD + " append yes")
        hills = np.array([[float(word) for word in line.split()] for line in hill_lines(work.read("H"))])
        self.assertEqual(len(hills), 50)
        self.assertLess(hills[:, 1].min(), -3)
        self.assertGreater(hills[:, 1].max(), 3)
        v, force = by_driver(f"metad: METAD ARG=phi SIGMA=0.3 HEIGHT=0.02 BIASFACTOR=5 TEMP=1 PACE=1000000 FILE={work.at('H')} "
                             "RESTART=YES\n", s)
        print(f"METAD: V differs by {np.abs(v - ours).max():.1e} of {ours.max():.2f}, forces by {np.abs(force + dVdS).max():.1e}")
        np.testing.assert_allclose(v, ours, rtol=0, atol=1e-12)
        np.testing.assert_allclose(force, -dVdS, rtol=0, atol=1e-11)
        plumedtest.run_plumed("sum_hills", "--hills", "H", "--min", "-pi", "--max", "pi", "--bin", "4000", "--outfile", "fes",
                              "--fmt", "%.15g", folder=work.path)
        fes = np.loadtxt(work.at("fes"))
        at = np.interp(s, fes[:, 0], fes[:, 1], period=L)
        self.assertLess(np.ptp(at + ours * 5 / 4), 1e-5 * ours.max())

    def test_grid(self):
        """EXTERNAL and METAD of PLUMED with our grid: V at its points, and everywhere up to the interpolation."""
        bias = METAD + " grid -pi pi bins 200"
        work = self.deposited(bias + " write_grid 200 G")
        s, ours, dVdS = self.frozen(work, bias + " append yes read_grid G")
        points = np.loadtxt(work.at("G"))
        self.assertEqual(len(points), 200)
        for action in (f"EXTERNAL ARG=phi FILE={work.at('G')}",
                       f"METAD ARG=phi SIGMA=0.3 HEIGHT=0.02 BIASFACTOR=5 TEMP=1 PACE=1000000 FILE=P GRID_MIN=-pi GRID_MAX=pi "
                       f"GRID_BIN=200 GRID_RFILE={work.at('G')} RESTART=YES"):
            with self.subTest(action):
                v, force = by_driver(f"metad: {action}\n", points[:, 0])
                np.testing.assert_allclose(v, points[:, 1], rtol=0, atol=1e-12)
                np.testing.assert_allclose(force, -points[:, 2], rtol=0, atol=1e-11)
                v, force = by_driver(f"metad: {action}\n", s)
                np.testing.assert_allclose(v, ours, rtol=0, atol=1e-11)
                np.testing.assert_allclose(force, -dVdS, rtol=0, atol=1e-10)

    def test_kernels(self):
        """OPES of PLUMED with our kernels and our state."""
        work = self.deposited(OPES)
        frozen = OPES.replace("write_state 200 S", "read_state S").replace("file K", "file N")
        s, ours, dVdS = self.frozen(work, frozen)
        self.assertGreater(np.ptp(ours), 0.1)
        state = work.read("S").decode()
        self.assertIn("#! SET min_phi -pi\n#! SET max_phi pi\n", state)
        for files in f"FILE={work.at('K')}", f"STATE_RFILE={work.at('S')} FILE=P":
            with self.subTest(files):
                v, force = by_driver(f"metad: OPES_METAD ARG=phi BARRIER=2 TEMP=0.3 SIGMA=0.2 PACE=1000000 {files} RESTART=YES\n", s)
                print(f"OPES: V differs by {np.abs(v - ours).max():.1e} of {np.ptp(ours):.2f}, forces by {np.abs(force + dVdS).max():.1e}")
                np.testing.assert_allclose(v, ours, rtol=0, atol=1e-10)
                np.testing.assert_allclose(force, -dVdS, rtol=0, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
