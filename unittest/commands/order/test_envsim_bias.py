"""Biases of environment similarity: forces and virials are those of V(S), energy is conserved to second order in the timestep, and
runs are the same on any number of ranks, with rRESPA, restarts and reruns."""

import unittest

import numpy as np
from lammps import lammps

import coordtest
from coordtest import error_of, rounded
from ordertest import FREE, SOLID, BiasedRuns, check_energy, check_npt_conserves

A = 1.5874010519682    # lattice constant at density 1
GROUPS = ["group left id 1:54", "group right id 40:108"]
FCC = f"structure fcc {A} sigma 0.14 precision double"
# Four of the twelve vectors, without their opposites: not symmetric.
with open(f"{coordtest.folder()}/half", "w") as half:
    half.write("".join(f"{x * A / 2} {y * A / 2} {z * A / 2}\n" for x, y, z in ((1, 1, 0), (1, 0, 1), (-1, 1, 0), (0, -1, 1))))
HALF = f"file {coordtest.folder()}/half sigma 0.14 precision double"
TWO = [f"compute q all coord/envsim {FCC} norm mean", f"compute n all coord/envsim {HALF} function more_than rational 0.3 norm mean"]
BIAS = "fix b all coord/bias c_q c_n harmonic k 1000 500 s0 0.5 0.9"


class Energy(unittest.TestCase):
    """Fluctuations of the energy of NVE fall as the square of the timestep."""

    # Group, words and restraint.
    CASES = {
        "fcc": ("all", f"{FCC} norm mean", "k 3000 s0 0.4"),
        "half": ("all", f"{HALF} norm mean", "k 3000 s0 0.4"),
        "several": ("all", f"{FCC} file {coordtest.folder()}/half lambda 20 norm mean", "k 3000 s0 0.4"),
        "more_than": ("all", f"{FCC} function more_than rational 0.5 nn 12 mm 24 norm mean", "k 500 s0 0.7"),
        "group2": ("left", f"{HALF} group2 right norm mean", "k 3000 s0 0.2"),
    }

    def test_each(self):
        for name, (group, words, restraint) in self.CASES.items():
            with self.subTest(name):
                check_energy(self, [*SOLID, "fix move all nve", *GROUPS, f"compute v {group} coord/envsim {words}",
                                    f"fix b all coord/bias c_v harmonic {restraint}"], "v", 0.002, name)

    def test_two_variables(self):
        check_energy(self, [*SOLID, "fix move all nve", *TWO, "compute v all coord/custom a+b a c_q b c_n", BIAS], "v", 0.002,
                     "two")


class Forces(unittest.TestCase):
    def test_forces_and_virial(self):
        """The bias has the force -k (S - s0) dS/dx and the pressure k (S - s0) W over the volume, and virials of atoms add up to
        k (S - s0) W."""
        for name in "q", "n", "both":
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            for line in (*FREE, *TWO, "compute both all coord/custom a*b^2 a c_q b c_n", "run 0"):
                lmp.command(line)
            s = coordtest.scalar_of(lmp, name)
            for line in (f"fix b all coord/bias c_{name} harmonic k 300.0 s0 {s - 0.4!r}", "fix_modify b virial yes",
                         "compute p all pressure NULL fix", "compute stress all stress/atom NULL fix",
                         "compute sums all reduce sum c_stress[*]", "thermo_style custom step vol c_p[*] c_sums[1]", "run 0"):
                lmp.command(line)
            gradients = coordtest.atoms_of(lmp, name)
            gradients = gradients if name == "both" else gradients[:, 1:4]
            self.assertGreater(np.abs(gradients).max(), 1e-4, name)
            self.assertLess(error_of(coordtest.forces_of(lmp), -300 * 0.4 * gradients), rounded(1e-10), name)
            w = 300 * 0.4 * coordtest.virial_of(lmp, name)
            self.assertLess(error_of(coordtest.virial_of(lmp, "p"), w / lmp.get_thermo("vol")), rounded(1e-10), name)
            found = -np.ctypeslib.as_array(lmp.extract_compute("sums", 0, 1), (6,)).copy()
            self.assertLess(error_of(found, w), rounded(1e-9), name)


class Runs(BiasedRuns, unittest.TestCase):
    VARIABLES, BIAS = TWO, BIAS
    WEAK = "fix b all coord/bias c_q c_n harmonic k 300 200 s0 0.6 0.9"

    def test_npt(self):
        self.check_npt("tri")

    def test_npt_conserves(self):
        """Also in a box that tilts."""
        for kind, first in ("iso", []), ("tri", ["change_box all triclinic"]):
            check_npt_conserves(self, [*SOLID, *first, *TWO], BIAS, "fix b all coord/bias c_q c_n linear k 0 0",
                                f"temp 1.2 1.2 0.2 {kind} 5 5 0.5", 0.001, 120)


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
