"""PLUMED reads the grid and hills files of fix coord/bias, and computes the same bias and forces.

GPUCOORD_TEST_PLUMED is the folder of a PLUMED without MPI: the unpacked wheel hillclimber of PyPI,
with plumed/_lib and hillclimber.libs.
"""
# Without: gpu

import os
import subprocess
import unittest

import numpy as np

import coordtest
import test_bias_hills
from test_bias_hills import Folder, bias_of, hill_lines, rows

PLUMED = os.environ.get("GPUCOORD_TEST_PLUMED", "")
LIBRARY = os.path.join(PLUMED, "plumed", "_lib", "lib")

NAMES = "c", "d", "e"
SIGMAS, LOWS, HIGHS = (0.2, 0.3, 0.25), (0, 0, 0), (12, 16, 12)
BINS = {1: (240,), 2: (120, 120), 3: (60, 64, 60)}
# A third variable in addition to those of test_bias_hills.
THIRD = "compute e b coord/gpu switch rational 1.2 dmax 4 engine allpairs image minimum precision double\n"


def listed(values):
    return ",".join(f"{value:g}" for value in values)


def bias(n, more):
    """Return the words of a fix of n variables, with a grid."""
    limits = " ".join(f"{low} {high}" for low, high in zip(LOWS[:n], HIGHS))
    return (" ".join("c_" + name for name in NAMES[:n]) + " metad sigma " + " ".join(map(str, SIGMAS[:n])) +
            f" height 0.2 biasfactor 4 temp 1.5 pace 10 file H grid {limits} bins " + " ".join(map(str, BINS[n])) + more)


def script(words, steps):
    """Return the script of test_bias_hills, with the third variable."""
    text = test_bias_hills.script(words, steps)
    return text.replace("fix n all nve\n", "fix n all nve\n" + coordtest.on_device(THIRD.strip()) + "\n")


def plumed(work, commands, points):
    """Return PLUMED's bias and forces on the variables at given values."""
    names = NAMES[:len(points[0])]
    with open(work.at("places"), "w") as file:
        file.write("#! FIELDS time " + " ".join(names) + "\n")
        for k, point in enumerate(points):
            file.write(f"{k} " + " ".join(repr(float(s)) for s in point) + "\n")
    arguments = "ARG=" + ",".join(names)
    with open(work.at("plumed.dat"), "w") as file:
        file.write("UNITS NATURAL\n")
        for name in names:
            file.write(f"{name}: READ FILE=places VALUES={name} IGNORE_FORCES\n")
        file.write(commands.format(arguments=arguments, sigmas=listed(SIGMAS[:len(names)])))
        file.write(f"PRINT ARG=metad.bias FILE=bias FMT=%.17g\nDUMPFORCES {arguments} FILE=forces FMT=%.17g\n")
    environment = dict(os.environ, PLUMED_ROOT=os.path.join(LIBRARY, "plumed"),
                       PLUMED_KERNEL=os.path.join(LIBRARY, "libplumedKernel.so"),
                       LD_LIBRARY_PATH=LIBRARY + ":" + os.path.join(PLUMED, "hillclimber.libs"))
    program = os.path.join(LIBRARY, "..", "bin", "plumed")
    done = subprocess.run([program, "driver", "--noatoms", "--plumed", "plumed.dat"], cwd=work.path, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
    return np.loadtxt(work.at("bias"))[:, 1], np.loadtxt(work.at("forces"))[:, 1:]


class Grids(unittest.TestCase):
    def test_plumed_reads_the_grid(self):
        """At the grid points PLUMED's V is the sum of the hills, and its forces are minus the
        derivatives in the file. Between them V and forces equal those of LAMMPS, up to the
        interpolation without mixed derivatives."""
        random = np.random.default_rng(4711)
        for n in 1, 2, 3:
            work = Folder()
            process = work.start(script(bias(n, " write_grid 100 G"), "run 100"))
            self.assertEqual(process.wait(), 0, work.log()[-2000:])
            hills = hill_lines(work.read("H"))
            self.assertEqual(len(hills), 10)
            points = np.array([[float(word) for word in line.split("#")[0].split()] for line in hill_lines(work.read("G"))])
            # The grid of three variables grows.
            ends = {words[2]: words[3] for words in map(str.split, work.read("G").decode().split("\n")) if words[1:2] == ["SET"]}
            lows, highs = ([ends[f"{end}_{name}"] for name in NAMES[:n]] for end in ("min", "max"))
            bins = [int(ends[f"nbins_{name}"]) - 1 for name in NAMES[:n]]
            self.assertEqual(len(points), np.prod(np.add(bins, 1)))
            self.assertEqual(tuple(bins) != BINS[n], n == 3)
            raised = np.flatnonzero(points[:, n] > 1e-3)
            chosen = points[random.choice(raised, 100)]

            # S, V and dV/dS of LAMMPS' own grid, over steps that add no hill. Here no S is at a
            # grid point.
            process = work.start(script(bias(n, " append yes read_grid G").replace("pace 10", "pace 1000000"), "run 100"))
            self.assertEqual(process.wait(), 0, work.log()[-2000:])
            values = np.array([[float(word) for word in found[0]] for found in rows(work.log()).values()])
            s, ours, dVdS = values[:, 3:3 + 4 * n:4], values[:, 2], values[:, 4:4 + 4 * n:4]
            self.assertGreater(ours.max(), 0.1)

            for kind, commands in (
                    ("EXTERNAL", "metad: EXTERNAL {arguments} FILE=G\n"),
                    ("METAD", f"metad: METAD {{arguments}} SIGMA={{sigmas}} HEIGHT=0.2 BIASFACTOR=4 TEMP=1.5 PACE=1000000 "
                     f"FILE=P GRID_MIN={','.join(lows)} GRID_MAX={','.join(highs)} GRID_BIN={listed(bins)} "
                     "GRID_RFILE=G RESTART=YES\n")):
                with self.subTest(kind, variables=n):
                    v, forces = plumed(work, commands, chosen[:, :n])
                    for point, found in zip(chosen, v):
                        self.assertAlmostEqual(found, bias_of(hills, point[:n]), delta=1e-12)
                    np.testing.assert_allclose(v, chosen[:, n], rtol=0, atol=1e-12)
                    np.testing.assert_allclose(forces, -chosen[:, n + 1:], rtol=0, atol=1e-11)
                    v, forces = plumed(work, commands, s)
                    print(f"{kind}, {n} variables: V differs by {np.abs(v - ours).max():.1e} of {ours.max():.2f}, forces by "
                          f"{np.abs(forces + dVdS).max():.1e} of {np.abs(dVdS).max():.2f}")
                    np.testing.assert_allclose(v, ours, rtol=0, atol=(1e-12, 1e-3, 3e-3)[n - 1] * ours.max())
                    np.testing.assert_allclose(forces, -dVdS, rtol=0,
                                               atol=(1e-11, 2e-2, 5e-2)[n - 1] * np.abs(dVdS).max())


class Hills(unittest.TestCase):
    def test_plumed_goes_on_with_the_hills(self):
        """METAD with RESTART reads the hills file, including its comment, and has the same bias as
        LAMMPS."""
        for n in 1, 2, 3:
            with self.subTest(variables=n):
                work = Folder()
                process = work.start(script(bias(n, ""), "run 100"))
                self.assertEqual(process.wait(), 0, work.log()[-2000:])
                hills = hill_lines(work.read("H"))
                centers = np.array([[float(word) for word in line.split()[1:1 + n]] for line in hills])
                points = centers + 0.1
                v, forces = plumed(work, "metad: METAD {arguments} SIGMA={sigmas} HEIGHT=0.2 BIASFACTOR=4 TEMP=1.5 "
                                   "PACE=1000000 FILE=H RESTART=YES\n", points)
                step = 1e-5
                for point, found, force in zip(points, v, forces):
                    self.assertAlmostEqual(found, bias_of(hills, point), delta=1e-12)
                    for k in range(n):
                        h = step * np.eye(n)[k]
                        dVdS = (bias_of(hills, point + h) - bias_of(hills, point - h)) / (2 * step)
                        self.assertAlmostEqual(force[k], -dVdS, delta=1e-7)
                self.assertGreater(v.max(), 0.1)


class Custom(unittest.TestCase):
    """An expression of variables as the variable of metadynamics, by compute coord/custom and by PLUMED's CUSTOM."""

    EXPRESSIONS = {"c - d": ("c,d", "x-y", (-15, 15)), "c*c/(1 + d)": ("c,d", "x*x/(1+y)", (0, 60))}

    def test_bias_and_forces(self):
        for text, (arguments, function, limits) in self.EXPRESSIONS.items():
            for grid in "", f" grid {limits[0]} {limits[1]} bins 3000":
                with self.subTest(text, grid=grid):
                    work = Folder()
                    words = f"c_s metad sigma 0.2 height 0.2 biasfactor 4 temp 1.5 pace 10 file H{grid}"
                    run = test_bias_hills.script(words, "run 200")
                    run = run.replace("fix n all nve\n", f'fix n all nve\ncompute s all coord/custom "{text}" c c_c d c_d\n')
                    run = run.replace("f_b ", "f_b c_c c_d ", 1)
                    process = work.start(run)
                    self.assertEqual(process.wait(), 0, work.log()[-2000:])
                    hills = hill_lines(work.read("H"))
                    self.assertEqual(len(hills), 20)
                    values = np.array([[float(word) for word in found[-1]] for found in rows(work.log()).values()])
                    # pe ke V c d S dV/dS: each row has the hill of its step
                    points, ours, s, dVdS = values[:, 3:5], values[:, 2], values[:, 5], values[:, 6]
                    self.assertGreater(ours.max(), 0.3)
                    self.assertGreater(np.abs(dVdS[[5, 12, 20]]).max(), 0.1)
                    for row in 5, 12, 20:
                        with open(work.at("P"), "wb") as file:
                            file.write(test_bias_hills.header_of(work.read("H")) +
                                       "".join(line + "\n" for line in hills[:row]).encode())
                        commands = (f"s: CUSTOM ARG={arguments} FUNC={function} PERIODIC=NO\n"
                                    "metad: METAD ARG=s SIGMA=0.2 HEIGHT=0.2 BIASFACTOR=4 TEMP=1.5 PACE=1000000 FILE=P "
                                    "RESTART=YES\nPRINT ARG=s FILE=values FMT=%.17g\n")
                        v, forces = plumed(work, commands, points)
                        np.testing.assert_allclose(np.loadtxt(work.at("values"))[:, 1], s, rtol=1e-12)
                        c, d = points[row]
                        chain = np.array([1, -1] if "-" in text else [2 * c / (1 + d), -c * c / (1 + d)**2])
                        tolerance = 1e-4 if grid else 1e-11    # a grid interpolates
                        self.assertAlmostEqual(ours[row], v[row], delta=tolerance * ours.max())
                        np.testing.assert_allclose(forces[row], -dVdS[row] * chain, rtol=0,
                                                   atol=30 * tolerance * np.abs(dVdS).max() * np.abs(chain).max())


if __name__ == "__main__":
    if not PLUMED:
        coordtest.skip("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED")
    if not os.path.exists(os.path.join(LIBRARY, "libplumedKernel.so")):
        coordtest.skip(f"there is no {LIBRARY}/libplumedKernel.so in GPUCOORD_TEST_PLUMED")
    unittest.main()
