"""Variables and fixes with and without KOKKOS in one run, in all combinations: the same energies,
forces and pressures as without KOKKOS styles. LAMMPS copies atoms between host and GPU for styles
without KOKKOS; variables and fixes with KOKKOS copy what they need."""
# Without: gpu
# Also on two GPUs

import itertools
import re
import unittest

import numpy as np

import coordtest
import errortest
from coordtest import rounded

if not coordtest.KOKKOS:
    coordtest.skip("this is about KOKKOS")

SYSTEM = errortest.SYSTEM.replace("pair_style zero 3.0\npair_coeff * *",
                                  "pair_style lj/cut 3.0\npair_coeff * * 0.01 2.2\nneigh_modify every 1 delay 0 check yes")
MOVE = "velocity all create 300 4711\ntimestep 0.002\nfix move all nve\n"
VARIABLES = {"c": "compute c all coord/gpu{} switch cubic d0 1.0 dmax 3.0 precision double",
             "d": "compute d a coord/gpu{} group2 b switch rational 2.0 dmax 3.0 precision double"}
SUM = "compute e all coord/custom{} c+2*d c c_c d c_d"
FIXES = ["fix b1 all coord/bias{} c_c c_d harmonic k 0.02 0.3 s0 34 0.5", "fix b2 all coord/bias{} c_d linear k 0.2"]
# Kernels that a GPU sums, with adaptive sigma, and a grid that grows.
DEPOSITS = [["fix b1 all coord/bias{} c_c c_d opes barrier 2 temp 3000 sigma/adaptive 4 pace 3 file H1",
             "fix b2 all coord/bias{} c_d opes/explore barrier 2 temp 3000 sigma 0.2 kernel plumed pace 4 file H2"],
            ["fix b1 all coord/bias{} c_c metad sigma 1.0 height 0.02 pace 3 grid 33 36 bins 6 file H1",
             "fix b2 all coord/bias{} c_d opes barrier 2 temp 3000 sigma 0.3 pace 4 file H2"]]
OF_SUM = "fix b3 all coord/bias{} c_e harmonic k 0.01 s0 38"
# Each step has values of variables, which are evaluated between the forces of two steps, the
# pressure, which needs the virial, and the energies of the fixes.
OUTPUT = "thermo_style custom step pe press c_c c_d[1] f_b1 f_b2 f_b1[1] {}\nthermo_modify format float %.17g\n"
NSTEPS = 20
WORDS = {"plain": "", "kk": "/kk"}


def script(variables, fixes, order="cd", sum_style=None, biases=None):
    """Styles of variables c and d, of fixes b1 and b2, and of a variable that is an expression of
    both and has a fix of its own; order: the variables in the order of their definition."""
    styles = dict(zip("cd", variables))
    lines = [coordtest.on_device(VARIABLES[name].format(WORDS[styles[name]])) for name in order]
    if sum_style:
        lines.append(SUM.format(""))    # has KOKKOS if its variables do
    lines += [fix.format(WORDS[style]) for fix, style in zip(biases or FIXES, fixes)]
    if sum_style:
        lines.append(OF_SUM.format(WORDS[sum_style]))
    return (SYSTEM + MOVE + "suffix off\n" + "\n".join(lines) + "\nsuffix on\n" +
            OUTPUT.format("c_e f_b3" if sum_style else "") + f"run {NSTEPS}\n" +
            "dump f all custom 1 f.dump id fx fy fz\ndump_modify f sort id format float %.17g\nrun 0\n")


def rows_of(text):
    """Return the numbers of the thermodynamic output."""
    text = re.sub(r"^WARNING.*\n", "", text, flags=re.MULTILINE)    # of few deposits
    table = re.search(r"^ *Step .*\n((?: *[-+0-9.e]+ .*\n)+)", text, re.MULTILINE)[1]
    return np.array([line.split() for line in table.strip().split("\n")], float)


def result_of(text, ranks):
    """Return the output of each step, and the forces after the last one."""
    code, output = errortest.run_script(text, ranks)
    if code != 0:
        raise AssertionError(output)
    with open("f.dump") as file:
        lines = file.read().split("ITEM: ATOMS id fx fy fz\n")[1].strip().split("\n")
    return rows_of(output), np.array([line.split() for line in lines], float)


class Mixed(unittest.TestCase):
    def compare(self, cases, ranks, **more):
        expected = result_of(script(("plain", "plain"), ("plain", "plain"), **more), ranks)
        self.assertEqual(len(expected[0]), NSTEPS + 1)
        self.assertGreater(np.ptp(expected[0][:, 3]), 0.1)    # atoms move
        for variables, fixes, order in cases:
            with self.subTest(variables=variables, fixes=fixes, order=order, ranks=ranks, **more):
                found = result_of(script(variables, fixes, order, **more), ranks)
                for name, mine, theirs in zip(("output", "forces"), found, expected):
                    scale = np.abs(theirs).max(axis=0)
                    self.assertLess((np.abs(mine - theirs).max(axis=0) / np.where(scale == 0, 1, scale)).max(),
                                    rounded(1e-9 if coordtest.ON_KOKKOS_GPU else 1e-13), name)

    def test_all_combinations(self):
        both = list(itertools.product(("plain", "kk"), repeat=2))
        self.compare([(variables, fixes, "cd") for variables in both for fixes in both], 1)

    def test_order_of_variables(self):
        self.compare([(variables, fixes, "dc") for variables in (("plain", "kk"), ("kk", "plain"))
                      for fixes in (("plain", "kk"), ("kk", "plain"))], 1)

    def test_ranks(self):
        self.compare([(("plain", "kk"), ("kk", "plain"), "cd"), (("kk", "plain"), ("kk", "kk"), "dc")], 2)

    def test_deposits(self):
        for biases in DEPOSITS:
            self.compare([(("kk", "kk"), ("kk", "kk"), "cd"), (("kk", "plain"), ("kk", "kk"), "cd")], 1, biases=biases)

    def test_expression(self):
        for style in "plain", "kk":
            self.compare([(("plain", "kk"), ("kk", "plain"), "cd"), (("kk", "kk"), ("plain", "kk"), "cd"),
                          (("kk", "plain"), ("kk", "kk"), "cd")], 1, sum_style=style)


if __name__ == "__main__":
    import os
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
