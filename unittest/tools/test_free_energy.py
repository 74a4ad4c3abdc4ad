"""tools/free_energy.py against PLUMED's sum_hills and OPES, against closed forms and quadrature, and its
messages. Random numbers have fixed seeds."""

import contextlib
import importlib.util
import io
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "unittest", "commands")]
import coordtest    # noqa: F401, reports skipped tests
import free_energy
from free_energy.command import main

PLUMED = os.environ.get("GPUCOORD_TEST_PLUMED", "")
LIBRARY = os.path.join(PLUMED, "plumed", "_lib", "lib")
KERNEL = os.path.join(LIBRARY, "libplumedKernel.so")
trapezoid = getattr(np, "trapezoid", None) or np.trapz    # the name since NumPy 2
WHY_NO_PLUMED = ("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED" if not PLUMED else
                 "" if os.path.exists(KERNEL) else f"there is no {KERNEL}")
HEADER = "#! FIELDS time cv sigma_cv height biasf\n"
KERNELS = ("#! FIELDS time s sigma_s height logweight\n#! SET action OPES_METAD_kernels\n#! SET biasfactor 10\n"
           "#! SET epsilon 0.001\n#! SET kernel_cutoff 4\n#! SET compression_threshold 1\n")


def plumed(folder, *arguments):
    environment = dict(os.environ, PLUMED_ROOT=os.path.join(LIBRARY, "plumed"), PLUMED_KERNEL=KERNEL,
                       LD_LIBRARY_PATH=LIBRARY + ":" + os.path.join(PLUMED, "hillclimber.libs"))
    done = subprocess.run([os.path.join(LIBRARY, "..", "bin", "plumed"), *arguments], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]


def rows(columns):
    return "".join(" ".join(repr(float(x)) for x in row) + "\n" for row in zip(*columns))


def double_well(s):
    """F in kT, with minima near -1 and 1, and a barrier of 4."""
    return 4 * (s * s - 1)**2 + 0.5 * s


def exact(edges, f=double_well):
    """Return F of bins by quadrature."""
    fine = np.linspace(edges[:-1], edges[1:], 401)
    return -np.log(trapezoid(np.exp(-f(fine)), fine, axis=0))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.at(name), "w") as file:
            file.write(text)

    def run_tool(self, words, plots=False):
        """Return what is printed. Files are those of the folder. Plots take most of the time."""
        output, errors, here = io.StringIO(), io.StringIO(), os.getcwd()
        os.chdir(self.folder)
        drawing = contextlib.nullcontext() if plots else mock.patch("free_energy.output.draw", return_value=False)
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), drawing:
                main(words.split())
        finally:
            os.chdir(here)
            self.errors = errors.getvalue()
        return output.getvalue()

    def numbers(self, name="fes.dat"):
        return np.loadtxt(self.at(name)).T

    def fails(self, words, text):
        with self.assertRaises(SystemExit) as caught:
            self.run_tool(words)
        self.assertEqual(caught.exception.code, "ERROR: " + text)


def skip_without_plumed(test):
    return unittest.skipIf(WHY_NO_PLUMED, WHY_NO_PLUMED)(test)


class Plumed(Case):
    """The same F as sum_hills."""

    def compare(self, words, sum_hills, columns):
        plumed(self.folder, "sum_hills", "--hills", "HILLS", "--outfile", "theirs", "--fmt", "%.17g", *sum_hills.split())
        self.run_tool("HILLS " + words)
        ours, theirs = self.numbers(), self.numbers("theirs")
        np.testing.assert_allclose(ours[:columns], theirs[:columns], rtol=0, atol=1e-9)
        f, g = ours[columns], theirs[columns]
        self.assertGreater(np.ptp(g), 0.4)
        error = np.abs(f - f[0] - (g - g[0])).max()
        print(f"sum_hills: F differs by {error:.1e} of {np.ptp(g):.2f}")
        self.assertLess(error, 1e-6)
        # What sum_hills has written is a grid of F.
        self.run_tool("theirs --temp 300 --out again")
        g = self.numbers("again.dat")[columns]
        np.testing.assert_allclose(f - f[0], g - g[0], rtol=0, atol=1e-6)

    def hills(self, columns, biasfactor, constants="", names="cv", n=60, low=-1.0, high=1.5):
        random = np.random.default_rng(5)
        fields = names.split()
        centers = [random.uniform(low * (k + 1), high * (k + 1), n) for k in range(columns)]
        sigmas = [random.uniform(0.1, 0.3, n) for _ in range(columns)]
        data = [1 + np.arange(n), *centers, *sigmas, random.uniform(0.2, 1.0, n), np.full(n, biasfactor)]
        text = "#! FIELDS time " + " ".join(fields) + " " + " ".join("sigma_" + name for name in fields)
        self.write("HILLS", text + " height biasf\n#! SET multivariate false\n#! SET kerneltype stretched-gaussian\n"
                   + constants + rows(data))

    @skip_without_plumed
    def test_one_variable(self):
        for biasfactor in 8.0, -1.0:
            self.hills(1, biasfactor)
            self.compare("--temp 300 --grid -2 3 --bins 250", "--min -2 --max 3 --bin 250", 1)

    @skip_without_plumed
    def test_periodic_variable(self):
        self.hills(1, 8.0, "#! SET min_cv -pi\n#! SET max_cv pi\n", n=100, low=-math.pi, high=math.pi)
        self.assertGreater(np.ptp(np.loadtxt(self.at("HILLS"))[:, 1]), 6)    # hills reach across the bounds
        self.compare("--temp 300 --bins 200", "--min -pi --max pi --bin 200", 1)

    @skip_without_plumed
    def test_two_variables(self):
        self.hills(2, 8.0, "#! SET min_b -pi\n#! SET max_b pi\n", "a b")
        self.compare("--temp 300 --grid -2 3 -3.141592653589793 3.141592653589793 --bins 100 120",
                     "--min -2,-pi --max 3,pi --bin 100,120", 2)

    @skip_without_plumed
    def test_projection(self):
        """The other variable is integrated out with kT: 300 K and kJ/mol."""
        self.hills(2, 8.0, names="a b")
        for name in "a", "b":
            self.compare(f"--temp 300 --s {name} --grid -2 3 -4 5 --bins 100 120",
                         f"--min -2,-4 --max 3,5 --bin 100,120 --idw {name} --kt {0.0083144621 * 300!r}", 1)

    @skip_without_plumed
    def test_state_of_opes(self):
        """V of PLUMED that continues from the state: V/(a kT) = ln(P/Z + epsilon). Without compression, the file
        of kernels has the same sum."""
        random = np.random.default_rng(3)
        n = 400
        s = np.where(random.random(n) < 0.5, -1, 1) + 0.3 * random.standard_normal(n)
        for action, files, power in (("OPES_METAD", ("STATE", "K"), 1.0), ("OPES_METAD", ("STATE",), 1.0),
                                     ("OPES_METAD_EXPLORE", ("STATE",), 8.0)):
            for name in os.listdir(self.folder):
                os.remove(self.at(name))
            self.write("series", "#! FIELDS time s\n" + rows([np.arange(n), s]))
            read = "UNITS NATURAL\ns: READ FILE=series VALUES=s IGNORE_FORCES\n"
            opes = f"opes: {action} ARG=s TEMP=1 BARRIER=8 SIGMA=0.2 PACE=4 FILE=K FMT=%.17g "
            opes += "COMPRESSION_THRESHOLD=0 " if "K" in files else ""
            self.write("one.dat", read + opes + "STATE_WFILE=STATE STATE_WSTRIDE=4\n")
            plumed(self.folder, "driver", "--noatoms", "--plumed", "one.dat")
            points = np.linspace(-1.6, 1.6, 81)
            self.write("series", "#! FIELDS time s\n" + rows([np.arange(81), points]))
            self.write("two.dat", read + opes.replace("PACE=4", "PACE=100000").replace("K F", "K2 F")
                       + "STATE_RFILE=STATE RESTART=YES\nPRINT ARG=opes.bias FILE=V FMT=%.17g\n")
            plumed(self.folder, "driver", "--noatoms", "--plumed", "two.dat")
            with open(self.at("STATE")) as file:
                constants = dict(re.findall(r"^#! SET (\S+) +(\S+)", file.read(), re.MULTILINE))
            a = 1 - 1 / 8 if power == 1 else 7.0
            p = np.exp(np.loadtxt(self.at("V"))[:, 1] / a) - float(constants["epsilon"])
            for name in files:
                self.run_tool(f"{name} --temp 1 --units lj --grid -1.6 1.6 --bins 80")
                f, expected = self.numbers()[1], -power * np.log(p)
                error = np.abs(f - f[40] - (expected - expected[40]))[p > 1e-3].max()
                print(f"{action}: F from {name} differs by {error:.1e} of {np.ptp(expected[p > 1e-3]):.2f}")
                self.assertGreater((p > 1e-3).sum(), 40)
                self.assertLess(error, 1e-9)

    @skip_without_plumed
    def test_hills_and_grid_of_metad(self):
        """F from the hills of METAD and from its grid of V, well-tempered."""
        s = np.sin(np.arange(400) * 0.1) + np.sin(np.arange(400) * 0.173)
        self.write("series", "#! FIELDS time s\n" + rows([np.arange(400), s]))
        self.write("plumed.dat", "UNITS NATURAL\ns: READ FILE=series VALUES=s IGNORE_FORCES\nmetad: METAD ARG=s SIGMA=0.2 "
                   "HEIGHT=0.5 BIASFACTOR=8 TEMP=1 PACE=4 FILE=H GRID_MIN=-4 GRID_MAX=4 GRID_BIN=160 GRID_WFILE=G "
                   "GRID_WSTRIDE=4\n")
        plumed(self.folder, "driver", "--noatoms", "--plumed", "plumed.dat")
        self.run_tool("H --temp 1 --units lj --grid -4 4 --bins 160 --zero 0 --out hills")
        self.run_tool("G --temp 1 --units lj --biasfactor 8 --zero 0 --out grid")
        hills, grid = self.numbers("hills.dat"), self.numbers("grid.dat")
        error = np.abs(hills[1] - grid[1]).max()
        print(f"METAD: F from hills and grid differ by {error:.1e} of {np.ptp(grid[1]):.2f}")
        self.assertGreater(np.ptp(grid[1]), 5)
        self.assertLess(error, 1e-6)


class Deposits(Case):
    def test_hills_of_the_fix(self):
        """The header and the units of fix coord/bias; F is minus the sum of stretched Gaussians."""
        self.write("HILLS", HEADER + "#! SET multivariate false\n#! SET kerneltype stretched-gaussian\n"
                   "# LAMMPS units real: time and heights in these; heights are times biasfactor/(biasfactor - 1)\n"
                   "# GPUCOORD hills format 1\n1 0.5 0.2 0.8 10\n2 0.9 0.1 0.5 10\n")
        printed = self.run_tool("HILLS --temp 300 --every 1 --grid 0 1.5 --bins 30 --basins -inf 0.72 0.78 1.02")
        self.assertIn("units real, kT = 0.596162 kcal/mol\n", printed)
        self.assertIn("HILLS: 2 hills of cv, well-tempered, biasfactor 10\n", printed)
        self.assertIn("round trips between the basins, by the centers of hills: 0\n", printed)
        s, f = self.numbers()
        np.testing.assert_allclose(s, np.linspace(0, 1.5, 31), atol=1e-12)
        end, expected = math.exp(-6.25), 0
        for center, sigma, height in (0.5, 0.2, 0.8), (0.9, 0.1, 0.5):
            u = (s - center)**2 / (2 * sigma**2)
            expected = expected - height * np.where(u < 6.25, (np.exp(-u) - end) / (1 - end), 0)
            if center == 0.5:
                first = expected
        np.testing.assert_allclose(f, expected - expected.min(), atol=1e-11)
        every = self.numbers("fes.every.dat")
        zero = expected.argmin()
        np.testing.assert_allclose(every[1:], [first - first[zero], expected - expected[zero]], atol=1e-11)
        p = np.exp(-expected / (0.0019872067 * 300))
        value = 0.0019872067 * 300 * np.log(p[s < 0.72].sum() / p[(s > 0.78) & (s < 1.02)].sum())
        self.assertIn(f"F of the second basin minus F of the first: {value:.4g} kcal/mol\n", printed)

    def test_average(self):
        """Over the last half of four equal times, F is the mean of that of two and of three hills."""
        self.write("HILLS", HEADER + "".join(f"{k} {k / 4} 0.2 1 10\n" for k in range(1, 5)))
        self.run_tool("HILLS --temp 300 --grid 0 2 --bins 20 --every 1 --zero 2")
        every = self.numbers("fes.every.dat")[1:]
        self.run_tool("HILLS --temp 300 --grid 0 2 --bins 20 --average 0.5 --zero 2")
        # The fourth hill is deposited at the end of the run.
        mean = (every[1] + every[2]) / 2
        np.testing.assert_allclose(self.numbers()[1], mean, atol=1e-11)

    def test_walkers(self):
        """Files of walkers are one bias, in the order of time."""
        lines = [f"{k} {k / 4} 0.2 {1 / k!r} 10\n" for k in range(1, 7)]
        self.write("ALL", HEADER + "".join(lines))
        self.write("H.0", HEADER + "".join(lines[::2]))
        self.write("H.1", HEADER + "".join(lines[1::2]))
        self.write("H.2", HEADER)    # no deposit yet
        for files, out in ("ALL", "one"), ("H.2 H.0 H.1", "two"):
            self.run_tool(f"{files} --temp 300 --every 2 --out {out}")
        np.testing.assert_allclose(self.numbers("one.every.dat"), self.numbers("two.every.dat"), atol=1e-11)

    def test_files_of_walkers(self):
        """No hill counts twice: backups of a folder are left out, and files with the hills of all walkers are refused."""
        lines = [f"{k} {k / 4} 0.2 {1 / k!r} 10\n" for k in range(1, 7)]
        os.mkdir(self.at("S"))
        self.write("S/a.w", HEADER + "".join(lines[::2]))
        self.write("S/b.w", HEADER + "".join(lines[1::2]))
        self.write("S/bck.0.b.w", HEADER + "".join(lines[3::2]))
        self.run_tool("S/a.w S/b.w --temp 300 --out expected")
        self.run_tool("S/a.w S/b.w S/bck.0.b.w --temp 300")
        self.assertEqual(self.errors, "NOTE: S/bck.0.b.w: left out, because it has hills that a restart or a new run has moved "
                                      "out of S/b.w\n")
        np.testing.assert_array_equal(self.numbers(), self.numbers("expected.dat"))
        self.run_tool("S/b.w --temp 300")
        self.assertEqual(self.errors, "NOTE: S/b.w has the hills of one walker only - give S/*.w for the bias of all\n")
        os.remove(self.at("S/a.w"))
        self.run_tool("S/b.w --temp 300")
        self.assertEqual(self.errors, "")
        self.write("S/a.w", HEADER + "".join(lines[::2]))
        for name in "a", "b":
            self.write("HILLS." + name, HEADER.replace("biasf", "biasf clock") + f"# walker 0 is {name}\n"
                       + "".join(line.replace("\n", " 0\n") for line in lines))
        self.run_tool("HILLS.a --temp 300")
        for words in "HILLS.a HILLS.b", "HILLS.a S/a.w", "S/a.w HILLS.a":
            self.fails(words + " --temp 300", "HILLS.a has the hills of walker a and those of others that it has read - give this "
                       "file alone, or those of the folder of walkers")

    def test_kernels(self):
        """Kernels of samples that are distributed evenly, with their weights: the double well, smoothed
        by the kernel."""
        n, sigma = 2000, 0.05
        s = -1.8 + 3.6 * (np.arange(n) + 0.5) / n
        for name, height in ("METAD", np.exp(-double_well(s))), ("EXPLORE", np.ones(n)):
            self.write("KERNELS", KERNELS + rows([np.arange(n), s, np.full(n, sigma), height, -double_well(s) + 3]))
            printed = self.run_tool("KERNELS --temp 1 --units lj --grid -1.5 1.5 --bins 60")
            w = np.exp(-double_well(s))
            self.assertIn(f"worth {w.sum()**2 / (w**2).sum():,.0f} of equal weight (neff)\n", printed)
            x, f = self.numbers()
            y = np.linspace(-4 * sigma, 4 * sigma, 801)
            kernel = np.exp(-y**2 / (2 * sigma**2)) - math.exp(-8)
            expected = -np.log(trapezoid(np.exp(-double_well(x[:, None] - y)) * kernel, y, axis=1))
            np.testing.assert_allclose(f - f[0], expected - expected[0], atol=1e-3, err_msg=name)
        # Two sigmas: a kernel of half the width is twice as high.
        self.write("KERNELS", KERNELS + "1 0 0.2 1 0\n2 5 0.1 2 0\n")
        self.run_tool("KERNELS --temp 1 --units lj --grid -1 6 --bins 7")
        f = self.numbers()[1]
        self.assertAlmostEqual(f[1] - f[6], math.log(2), delta=1e-12)
        self.assertTrue(np.isinf(f[3]))

    def test_grids(self):
        """A grid of write_grid, with mixed derivatives after the #, and a periodic variable."""
        x, y = np.linspace(0, 1, 5), np.arange(4) * math.pi / 2 - math.pi
        v = np.add.outer(x, np.sin(y))
        text = ("#! FIELDS a b metad.bias der_a der_b\n#! SET min_a 0\n#! SET max_a 1\n#! SET nbins_a 5\n"
                "#! SET periodic_a false\n#! SET min_b -pi\n#! SET max_b pi\n#! SET nbins_b 4\n#! SET periodic_b true\n"
                "# after the # of each line: der_a_b\n# GPUCOORD grid format 1\n")
        for k in range(4):
            text += "".join(f" {x[i]} {y[k]!r} {v[i, k]!r} 1 0 # 0.25\n" for i in range(5)) + "\n"
        self.write("grid", text)
        self.run_tool("grid --temp 300 --units real --biasfactor 5")
        a, b, f = self.numbers()
        np.testing.assert_allclose(f, (2 - a - np.sin(b)) * 1.25, atol=1e-11)
        self.run_tool("grid --temp 300 --units real --s b")
        b, f = self.numbers()
        np.testing.assert_allclose(f, 1 - np.sin(b), atol=1e-11)
        self.run_tool("fes.dat --temp 300 --units real --out again")    # it reads what it writes
        np.testing.assert_allclose(self.numbers("again.dat"), [b, f], atol=1e-11)


class Samples(Case):
    def biased(self, n, seed):
        """Return exact samples of exp(-F - V) and V, in kT."""
        random = np.random.default_rng(seed)
        x = np.linspace(-2.2, 2.2, 20001)
        v = -0.8 * double_well(x)
        c = np.cumsum(np.exp(-double_well(x) - v))
        s = np.interp(random.random(n), c / c[-1], x)
        return s, -0.8 * double_well(s)

    def test_double_well(self):
        """F within its errors of quadrature; by bias, bias and offset, and log weights."""
        s, v = self.biased(40000, 1)
        self.write("COLVAR", "#! FIELDS time s v c logw\n" + rows([np.arange(len(s)), s, 2 * v + 3, np.full(len(s), 3), v]))
        expected = exact(np.linspace(-1.6, 1.6, 33))
        for weights in "--bias v", "--bias v --offset c", "--logweight logw":
            printed = self.run_tool(f"COLVAR --temp 2 --units lj --s s {weights} --grid -1.6 1.6 --bins 32 --basins -inf 0 0 inf")
            x, f, error = self.numbers()
            zero = f.argmin()
            f = f / 2
            deviation = (f - expected + expected[zero])[error > 0] / (error[error > 0] / 2)
            print(f"double well, {weights}: error up to {error.max() / 2:.3f} kT, chi^2 {np.mean(deviation**2):.2f} a bin")
            self.assertLess(np.abs(deviation).max(), 4.5)
            self.assertTrue(0.4 < np.mean(deviation**2) < 1.8)
            value, sigma = map(float, re.search(r"minus F of the first: (\S+) \+- (\S+) epsilon", printed).groups())
            two = exact(np.array([-1.6, 0, 1.6]))
            self.assertLess(abs(value / 2 - (two[1] - two[0])), 3 * sigma / 2)
            self.assertLess(sigma, 0.06)
        w = np.exp(v)
        self.assertIn(f"worth {w.sum()**2 / (w**2).sum():,.0f} of equal weight", printed)

    def test_two_variables(self):
        s, v = self.biased(60000, 2)
        y = np.random.default_rng(3).standard_normal(len(s))
        self.write("series", "# Time-averaged data\n# TimeStep c_a c_b f_b\n" + rows([np.arange(len(s)), s, y, v]))
        self.run_tool("series --temp 1 --units lj --s c_a c_b --bias f_b --grid -1.2 1.2 -2 2 --bins 12 8")
        x, y, f, error = self.numbers()
        expected = np.add.outer(exact(np.linspace(-2, 2, 9), lambda y: y * y / 2), exact(np.linspace(-1.2, 1.2, 13))).ravel()
        deviation = (f - expected + expected[f.argmin()])[error > 0] / error[error > 0]
        print(f"two variables: error up to {error.max():.3f} kT, chi^2 {np.mean(deviation**2):.2f} a bin")
        self.assertLess(np.abs(deviation).max(), 4.5)
        self.assertTrue(0.5 < np.mean(deviation**2) < 1.7)

    def test_errors_of_correlated_samples(self):
        """An AR(1) process x: the correlation of its sign after k steps is 2/pi asin(phi^k), which gives
        the error of F of the two halves; the error of the mean of x has a closed form, too."""
        n, phi = 200000, 0.95
        noise = np.random.default_rng(11).standard_normal(n) * math.sqrt(1 - phi * phi)
        x = np.empty(n)
        x[0] = noise[0]
        for k in range(1, n):
            x[k] = phi * x[k - 1] + noise[k]
        self.write("series", rows([np.arange(n), x]))
        printed = self.run_tool("series --temp 1 --units lj --s 2 --grid -10 10 --bins 2 --zero -5 --every 50000")
        k = np.arange(1, 1000)
        sign = 4 * math.sqrt((1 + 2 * (2 / math.pi * np.arcsin(phi**k)).sum()) / (4 * n))
        mean = math.sqrt((1 + phi) / (1 - phi) / n)
        f, error = self.numbers()[1:, 1]
        found = float(re.search(r"mean of 2: \S+ \+- (\S+)", printed)[1])
        print(f"AR(1): error of F {error:.4f}, closed form {sign:.4f}; of the mean {found:.4f}, closed form {mean:.4f}")
        self.assertAlmostEqual(error, sign, delta=0.2 * sign)
        self.assertAlmostEqual(found, mean, delta=0.2 * mean)
        self.assertLess(abs(f), 4 * sign)
        # Errors of short blocks are too small: those of independent samples are a sixth.
        table = np.array(re.findall(r"^ *(\d+) +[\d,]+ +([\d.]+)(?:   used)?$", printed, re.MULTILINE), float)
        table = table[table[:, 0] <= 1024]
        np.testing.assert_array_equal(table[:, 0], 2**np.arange(2, 11))
        self.assertNotIn("WARNING", self.errors)

    def test_periodic(self):
        """A normal distribution about pi, half of which is below it: F is that of the sum over images."""
        random = np.random.default_rng(12)
        s = (np.pi + 0.6 * random.standard_normal(40000) + np.pi) % (2 * np.pi) - np.pi
        header = "#! FIELDS time phi\n#! SET min_phi -pi\n#! SET max_phi pi\n"
        results = []
        for head, more in (header, ""), ("# TimeStep phi\n", " --periodic phi -pi pi"):
            self.write("series", head + rows([np.arange(len(s)), s]))
            printed = self.run_tool("series --temp 1 --units lj --s phi --bins 40 --zero 3.1" + more)
            self.assertNotIn("mean of phi", printed)
            results.append(self.numbers())
        np.testing.assert_array_equal(*results)
        self.assertEqual(self.errors, "")
        self.run_tool("series --temp 1 --units lj --s phi --bins 40 --periodic phi 0 pi")
        self.assertEqual(self.errors, f"NOTE: {np.sum(s < 0)} of 40000 samples of series have phi beyond --periodic 0 3.14159, from "
                                      f"{s.min():g} to {s.max():g} - they count as their images within it\n")
        phi, f, error = results[0]
        edges = np.linspace(-np.pi, np.pi, 41)
        cdf = [0.5 * (1 + math.erf((x - np.pi) / 0.6 / math.sqrt(2))) for x in np.append(edges, edges + 2 * np.pi)]
        p = np.diff(cdf)[:40] + np.diff(cdf)[41:]
        expected = -np.log(p / p[-1])
        self.assertAlmostEqual(phi[0], -np.pi * 39 / 40, delta=1e-9)
        known = (error > 0) & np.isfinite(error)
        deviation = (f - expected)[known] / error[known]
        print(f"samples on a circle: error up to {error[known].max():.3f} kT, chi^2 {np.mean(deviation**2):.2f} a bin")
        self.assertGreater(known.sum(), 20)
        self.assertLess(np.abs(deviation).max(), 4.5)
        self.assertTrue(0.3 < np.mean(deviation**2) < 2.5)

    def test_plateau(self):
        """The shortest blocks within 5 % of the largest error; without a plateau, errors grow by sqrt(2)."""
        blocks = [4, 8, 16, 32, 64, 128]
        for errors, chosen in (([9, 0.1, 1, 0.99, 0.96, 0.6], (4, True)), ([1, 1, 1, 1.2, 1, 1], (3, True)),
                               ([1, 1, 1, 0.9, 0.6, 0.5], (2, True)), (2.0**(-np.arange(6) / 2), (2, False))):
            self.assertEqual(free_energy.plateau(blocks, errors), chosen)
        self.assertEqual(free_energy.plateau([5], [1.0]), (0, False))

    def test_no_plateau(self):
        """A run with a single transition."""
        x = np.concatenate([np.full(500, -1.0), np.full(500, 1.0)]) + 0.1 * np.random.default_rng(2).standard_normal(1000)
        self.write("series", rows([np.arange(1000), x]))
        self.run_tool("series --temp 1 --units lj --s 2 --grid -2 2 --bins 2")
        self.assertEqual(self.errors, "WARNING: the error may still grow with the length of blocks: no plateau with 16 "
                         "blocks or more - it is a lower bound, run longer\n")

    def test_round_trips(self):
        x = [0, 1, 0.5, 0, 0.4, 0, 1, 1, 0, 1]
        for n, trips in (10, 2), (9, 2), (8, 1), (4, 1), (3, 0):
            self.assertEqual(free_energy.count_round_trips(np.array(x[:n]), 0.1, 0.9), trips)
        self.write("series", rows([np.arange(10), x]))
        printed = self.run_tool("series --temp 1 --units lj --s 2 --basins -inf 0.1 0.9 inf")
        self.assertIn("round trips between the basins, by all samples: 2\n", printed)

    def test_round_trips_of_walkers(self):
        """Each walker has its own. One stays below, one above, and one makes one round trip."""
        paths = [0, 0.05, 0], [1, 0.95, 1], [0, 1, 0]
        for w, x in enumerate(paths):
            self.write(f"series.{w}", rows([np.arange(12), x * 4]) if w < 2 else rows([np.arange(3), x]))
        words = " --temp 1 --units lj --basins -inf 0.1 0.9 inf"
        printed = self.run_tool("series.0 series.1 series.2 --s 2" + words)
        self.assertIn("round trips between the basins, by all samples: 1\n", printed)
        header = HEADER.replace(" biasf", " biasf clock")
        row = "{} {} 0.1 1.0 10 {}\n"
        for names, clock in (["H"], lambda t, w: w), (["H.0", "H.1", "H.2"], lambda t, w: 1.7e9 + t):
            for k, name in enumerate(names):
                walkers = [k] if len(names) > 1 else range(3)
                self.write(name, header + "".join(row.format(t, paths[w][t], clock(t, w)) for t in range(3) for w in walkers))
            printed = self.run_tool(" ".join(names) + words)
            self.assertIn("round trips between the basins, by the centers of hills: 1\n", printed)


class Windows(Case):
    K, A = 12.0, 3.0    # of the windows and of F = A/2 S^2, in kT

    def windows(self, centers, n=2000, seed=4, more=""):
        """Samples of harmonic windows: Gaussians with mean k c/(k + a)."""
        random = np.random.default_rng(seed)
        k, a = self.K, self.A
        for number, center in enumerate(centers):
            s = k * center / (k + a) + random.standard_normal(n) / math.sqrt(k + a)
            self.write(f"w.{number}", "# TimeStep c_s\n" + rows([np.arange(n), s]))
        self.write("list", "# file center k\n" + "".join(f"w.{number} {center} {2 * k}\n"
                                                          for number, center in enumerate(centers)) + more)

    def test_harmonic(self):
        """F(S), the free energies of the windows, and their overlap in closed form."""
        centers = np.arange(-2, 2.1, 0.5)
        self.windows(centers)
        printed = self.run_tool("list --windows --temp 2 --units lj --grid -1.5 1.5 --bins 30 --every 500")
        x, f, error = self.numbers()
        expected = exact(np.linspace(-1.5, 1.5, 31), lambda s: self.A / 2 * s * s)
        deviation = (f / 2 - expected + expected[f.argmin()])[error > 0] / (error[error > 0] / 2)
        print(f"windows: error up to {error.max() / 2:.3f} kT, chi^2 {np.mean(deviation**2):.2f} a bin")
        self.assertLess(np.abs(deviation).max(), 4.5)
        self.assertTrue(0.2 < np.mean(deviation**2) < 2.5)
        table = np.array([line.replace("+-", "").replace(",", "").split()[:5] for line in printed.splitlines()
                          if re.match(r" +-?[\d.]+ +2,000 ", line)], float)
        self.assertEqual(len(table), len(centers))
        of_window = self.K * self.A / (2 * (self.K + self.A)) * (centers**2 - 4) * 2    # times kT
        print("free energies of windows differ by", (table[1:, 3] - of_window[1:]).round(3), "errors", table[1:, 4])
        self.assertLess(table[:, 4].max(), 0.25)
        self.assertLess(np.abs((table[1:, 3] - of_window[1:]) / table[1:, 4]).max(), 4)
        y = np.linspace(-4, 4, 4001)
        p = np.exp(-(self.K + self.A) / 2 * (y - self.K * centers[:, None] / (self.K + self.A))**2)
        p /= p.sum(axis=1)[:, None]
        overlap = p @ (p / p.sum(axis=0)).T
        found = [float(line.split()[-1]) for line in printed.splitlines() if re.match(r" +-?[\d.]+ +2,000 ", line)][:-1]
        np.testing.assert_allclose(found, np.diag(overlap, 1), atol=0.02)
        self.assertEqual(self.errors, "")

    def test_two_variables(self):
        random = np.random.default_rng(9)
        text = ""
        for i, a in enumerate((-0.6, 0, 0.6)):
            for j, b in enumerate((-0.5, 0.5)):
                s = 0.8 * np.array([a, b]) + random.standard_normal((1500, 2)) / math.sqrt(15)
                self.write(f"w.{i}{j}", "# TimeStep a b\n" + rows([np.arange(1500), *s.T]))
                text += f"w.{i}{j} {a} {b} 12 12\n"
        self.write("list", text)
        self.run_tool("list --windows --temp 1 --units lj --s a b --grid -1 1 -1 1 --bins 8 8")
        x, y, f, error = self.numbers()
        one = exact(np.linspace(-1, 1, 9), lambda s: 1.5 * s * s)
        expected = np.add.outer(one, one).ravel()
        deviation = (f - expected + expected[f.argmin()])[error > 0] / error[error > 0]
        print(f"windows of two variables: error up to {error.max():.3f} kT, chi^2 {np.mean(deviation**2):.2f} a bin")
        self.assertLess(np.abs(deviation).max(), 5)
        self.assertTrue(0.2 < np.mean(deviation**2) < 2.5)

    def test_periodic(self):
        """Free motion on a circle: F is constant, also where windows reach across its bounds."""
        random = np.random.default_rng(6)
        text = ""
        for number in range(12):
            center = -math.pi + number * math.pi / 6
            s = center + random.standard_normal(2000) / math.sqrt(12)
            s = (s + math.pi) % (2 * math.pi) - math.pi
            self.write(f"w.{number}", "#! FIELDS time phi\n#! SET min_phi -pi\n#! SET max_phi pi\n" + rows([np.arange(2000), s]))
            text += f"w.{number} {center!r} 24\n"
        self.write("list", text)
        self.run_tool("list --windows --temp 2 --units lj --bins 24 --zero 0")
        phi, f, error = expected = self.numbers()
        # files of LAMMPS, which do not have the period
        for number in range(12):
            with open(self.at(f"w.{number}")) as file:
                lines = file.read().split("\n")[3:]
            self.write(f"w.{number}", "# TimeStep c_phi\n" + "\n".join(lines))
        self.run_tool("list --windows --temp 2 --units lj --bins 24 --zero 0 --periodic c_phi -pi pi")
        np.testing.assert_array_equal(self.numbers(), expected)
        self.assertAlmostEqual(phi[0], -math.pi * 23 / 24, delta=1e-9)
        print(f"windows on a circle: F up to {np.abs(f).max():.3f}, error up to {error.max():.3f}")
        self.assertLess(np.abs(f[error > 0] / error[error > 0]).max(), 4)
        self.assertLess(error.max(), 0.3)

    def test_weights_of_single_samples(self):
        """wham() without bins: the equations of Shirts and Chodera hold."""
        random = np.random.default_rng(1)
        s = np.concatenate([random.normal(c, 0.3, 300) for c in (0, 0.4, 0.8)])
        bias = 5 * (s - np.array([[0], [0.4], [0.8]]))**2
        p, f, _ = free_energy.wham(np.ones(900), np.full(3, 300), bias)
        weights = 1 / (300 * np.exp(f[:, None] - bias)).sum(axis=0)
        np.testing.assert_allclose(p, weights / weights.sum(), rtol=1e-9)
        np.testing.assert_allclose(np.exp(-f), np.exp(-bias) @ weights, rtol=1e-8)

    def test_overlap(self):
        self.windows((-2.5, 0, 2.5))
        with self.assertRaises(SystemExit) as caught:
            self.run_tool("list --windows --temp 2 --units lj")
        self.assertRegex(caught.exception.code, r"^ERROR: w\.\d and w\.\d overlap by \de-\d\d, but 0\.0001 is needed to connect "
                         r"all windows - add windows between them$")
        self.windows((-1.5, 0, 1.5))
        self.run_tool("list --windows --temp 2 --units lj --bins 20")
        self.assertRegex(self.errors, r"^WARNING: w\.\d and w\.\d overlap by 0\.0\d+, but the error of F is reliable above 0\.03 "
                         r"only - add windows between them, or run longer\n$")

    @unittest.skipUnless(importlib.util.find_spec("pymbar"), "this Python has no pymbar")
    def test_pymbar(self):
        self.windows(np.arange(-1, 1.1, 0.5), n=500)
        printed = self.run_tool("list --windows --temp 2 --units lj --mbar")
        table = [line.replace("+-", "").split() for line in printed.splitlines() if re.match(r" +-?[\d.]+ +500 ", line)]
        self.assertEqual(len(table), 5)
        for row in table[1:]:
            self.assertAlmostEqual(float(row[3]), float(row[-2]), delta=2e-4 * max(1, abs(float(row[-2]))))

    def test_without_pymbar(self):
        self.windows(np.arange(-1, 1.1, 0.5), n=100)
        with mock.patch.dict(sys.modules, {"pymbar": None}):
            self.fails("list --windows --temp 2 --units lj --mbar",
                       f"--mbar needs the Python package pymbar, which this Python ({sys.executable}) cannot import (import of "
                       "pymbar halted; None in sys.modules) - install pymbar 4 for it, or leave out --mbar: WHAM solves the "
                       "same equations")


class Messages(Case):
    GOOD = HEADER + "1 0.5 0.1 1 10\n2 0.6 0.1 1 10\n"

    def test_files(self):
        self.fails("HILLS --temp 300", "cannot read HILLS: No such file or directory")
        self.write("HILLS", HEADER)
        self.fails("HILLS --temp 300", "HILLS has no numbers - is it the file of a run that began?")
        self.write("b.w", HEADER)
        self.fails("HILLS b.w --temp 300", "HILLS has no numbers - is it the file of a run that began?")
        self.write("restart", "1 2\n\0\x1b\n")
        self.fails("restart --temp 300", "restart is not a text file - give a file of hills, kernels, a grid or samples")
        for text, message in (
                ("3 0.6 0.1 1\n", "HILLS, line 4: 4 columns in place of 5 - repair the line, or leave it out"),
                ("3 x 0.1 1 10\n", "HILLS, line 4: 'x' is not a number - repair the line, or leave it out"),
                ("3 nan 0.1 1 10\n", "HILLS, line 4: cv is nan, but must be finite - find out why the run wrote it, and leave "
                 "out what follows"),
                ("3 0.6 0.1 inf 10\n", "HILLS, line 4: height is inf, but must be finite - find out why the run wrote it, and "
                 "leave out what follows"),
                ("3 0.6 0 1 10\n", "HILLS: sigma_cv is 0 at time 3, but must be > 0"),
                ("3 0.6 0.1 1 5\n", "HILLS, line 4: biasf is 5, but 10 in HILLS, line 2 - give the hills of one bias"),
                ("#! FIELDS time d sigma_d height biasf\n3 0.6 0.1 1 10\n", "HILLS, line 4: the columns are time d sigma_d "
                 "height biasf, but time cv sigma_cv height biasf before - give each run its own file")):
            self.write("HILLS", self.GOOD + text)
            self.fails("HILLS --temp 300", message)
        self.write("HILLS", "#! FIELDS time cv width height biasf\n1 0.5 0.1 1 10\n")
        self.fails("HILLS --temp 300", "HILLS has no columns S and sigma_S - its columns are time, cv, width, height, biasf")
        self.write("HILLS", HEADER.replace(" biasf", "") + "1 0.5 0.1 1\n")
        self.fails("HILLS --temp 300", "HILLS has no column biasf - its columns are time, cv, sigma_cv, height")
        self.write("HILLS", HEADER + "#! SET multivariate true\n1 0.5 0.1 1 10\n")
        self.fails("HILLS --temp 300", "HILLS has hills with a matrix of sigmas (ADAPTIVE of PLUMED), which are not possible - "
                   "use plumed sum_hills")
        self.write("K", KERNELS.replace("#! SET kernel_cutoff 4\n", "") + "1 0 0.2 1 0\n")
        self.fails("K --temp 300", "K has no line '#! SET kernel_cutoff'")
        self.write("K", KERNELS + "1 0 0.2 1 0\n" + KERNELS.replace("biasfactor 10", "biasfactor 5") + "2 0 0.2 1 0\n")
        self.fails("K --temp 300", "K, line 10: biasfactor is 5, but 10 before - give each bias its own file")
        self.write("grid", "#! FIELDS s file.free\n#! SET min_s 0\n#! SET max_s 1\n#! SET nbins_s 3\n#! SET periodic_s false\n"
                   "0 1\n0 1\n1 1\n")
        self.fails("grid --temp 300", "grid has 3 points, but a grid of 2 - the file is not complete")
        self.write("grid", "#! FIELDS s v\n#! SET nbins_s 3\n0 1\n1 1\n")
        self.fails("grid --temp 300", "grid has no column of F or V, such as file.free or metad.bias - its columns are s, v")

    def test_half_a_last_line(self):
        """It is left out with a note; F is that of the complete lines."""
        self.write("HILLS", self.GOOD)
        self.run_tool("HILLS --temp 300")
        expected = self.numbers()
        self.write("HILLS", self.GOOD + "3 0.9 0.1 1 1")    # of a biasfactor of 10
        self.run_tool("HILLS --temp 300")
        self.assertEqual(self.errors, "NOTE: HILLS, line 4: left out, because it has no end: '3 0.9 0.1 1 1'\n")
        np.testing.assert_array_equal(self.numbers(), expected)

    def test_options(self):
        self.write("HILLS", self.GOOD)
        self.write("OTHER", self.GOOD.replace("10\n", "5\n"))
        self.write("REAL", "# LAMMPS units real: time and heights in these\n" + self.GOOD)
        self.write("series", "# TimeStep c_s f_b\n" + rows([range(20), np.arange(20) % 7, np.ones(20)]))
        for words, message in (
                ("HILLS", "--temp is missing - give the temperature of the run in K, as --temp 300, or with units lj in epsilon/k"),
                ("HILLS OTHER ./HILLS --temp 300", "./HILLS is given twice - give each file once"),
                ("HILLS --temp 0", "--temp is 0, but must be > 0"),
                ("HILLS --temp x", "argument --temp: invalid float value: 'x' - free_energy.py -h shows all options"),
                ("HILLS OTHER --temp 300", "OTHER, line 2: biasf is 5, but 10 in HILLS, line 2 - give the hills of one bias"),
                ("HILLS series --temp 300", "HILLS has hills, but series has samples - give files of one kind"),
                ("HILLS --temp 300 --grid 0 1 2 3", "--grid has 2 ranges, but the number of variables is 1"),
                ("HILLS --temp 300 --grid 1 0", "--grid is from 1 to 0, but LO must be < HI"),
                ("HILLS --temp 300 --grid 1", "--grid has 1 numbers - give LO and HI of each variable"),
                ("HILLS --temp 300 --periodic cv -pi pi", "--periodic is for samples, windows, but HILLS has hills"),
                ("series --temp 1 --units lj --s c_s --periodic c_s -pi", "--periodic has 2 words - give NAME LO HI of each variable"),
                ("series --temp 1 --units lj --s c_s --periodic c_s -pi x", "--periodic: the bound 'x' is not a number"),
                ("series --temp 1 --units lj --s c_s --periodic c_d -pi pi", "series has no column c_d - its columns are TimeStep, c_s, f_b"),
                ("series --temp 1 --units lj --s c_s --periodic 2 1 0", "--periodic of c_s is from 1 to 0, but LO must be < HI"),
                ("series --temp 1 --units lj --s c_s --periodic c_s -inf pi", "--periodic of c_s is from -inf to 3.14159, but LO must be < HI"),
                ("series --temp 1 --units lj --s c_s --periodic c_s 0 1 c_s 0 2", "--periodic of c_s is from 0 to 2, but series has 0 to 1 - "
                 "leave out --periodic"),
                ("HILLS --temp 300 --bins 1", "--bins is 1, but must be > 1"),
                ("HILLS --temp 300 --bins 20000000", "the grid has 20,000,001 points, but at most 10,000,000 are possible - give "
                 "fewer --bins"),
                ("HILLS --temp 300 --s d", "HILLS has no variable d - its variables are cv"),
                ("HILLS --temp 300 --bias f_b", "--bias is for samples, but HILLS has hills"),
                ("HILLS --temp 300 --average 2", "--average is 2, but must be a part of the run: from 0 to 1"),
                ("HILLS --temp 300 --basins 0.4 0.5 6 7", "--basins: F has no point from 6 to 7, only from 0.146447 to 0.953553 - "
                 "give another range, or another --grid"),
                ("HILLS --temp 300 --zero 1 2", "--zero has 2 values, but the number of variables is 1"),
                ("series --temp 1 --units lj --s c_s --every 0.5", "argument --every: invalid int value: '0.5' - "
                 "free_energy.py -h shows all options"),
                ("HILLS --temp 300 --every -1", "--every is -1, but must be > 0"),
                ("HILLS OTHER --temp 300 --windows", "--windows takes one list of windows, not HILLS, OTHER"),
                ("HILLS --temp 300 --blocks 1", "--blocks is 1, but at least 2 are needed"),
                ("HILLS --temp 300 --biasfactor 1", "--biasfactor is 1, but must be > 1"),
                ("HILLS --temp 300 --out no/fes", "cannot write no/fes.dat: No such file or directory - give another --out"),
                ("REAL --temp 300 --units lj", "units are lj and real - give files of the same units, and these"),
                ("series --temp 1 --s c_s", "--units is missing - series does not name its units: give one of real, metal, lj, "
                 "electron, si, cgs, micro, nano, kj"),
                ("series --temp 1 --units lj", "--s is missing - name the columns of S, as --s c_s: series has TimeStep, c_s, f_b"),
                ("series --temp 1 --units lj --s c_d", "series has no column c_d - its columns are TimeStep, c_s, f_b"),
                ("series --temp 1 --units lj --s f_b", "all samples of f_b are 1 - F needs samples of several values"),
                ("series --temp 1 --units lj --s c_s --grid 8 9", "--grid has no sample"),
                ("series --temp 1 --units lj --s c_s --blocks 50", "--blocks is 50, but there are 20 samples"),
                ("series --temp 1 --units lj --s c_s --discard 0.9", "series has 2 samples after --discard, but at least 8 are "
                 "needed"),
                ("series --temp 1 --units lj --s c_s --offset f_b", "--offset is subtracted from --bias - give --bias, too"),
                ("series --temp 1 --units lj --s c_s --bias f_b --logweight f_b", "--logweight is the whole weight - leave out "
                 "--bias and --offset")):
            with self.subTest(words):
                self.fails(words, message)

    def test_too_many_results(self):
        self.write("series", rows([range(5000), np.arange(5000) % 7]))
        self.fails("series --temp 1 --units lj --s 2 --every 4", "--every 4 gives F 1,250 times, but at most 1,000 are possible - "
                   "give --every 5 or more")

    def first_error(self):
        """Return the first line of the errors, apart from that of few samples."""
        return next((line + "\n" for line in self.errors.splitlines() if "no plateau" not in line), "")

    def test_samples_twice(self):
        """Runs that continue append to a file of fix ave/time, from steps 50 and 80 on."""
        def series(*parts):
            steps = np.concatenate([np.arange(*part) for part in parts])
            return "# TimeStep c_s\n" + rows([steps, steps % 7])
        words = "series --temp 1 --units lj --s c_s"
        self.write("series", series((0, 60), (60, 100)))
        self.run_tool(words)
        self.assertEqual(self.first_error(), "")
        self.write("series", series((0, 60), (50, 100)))
        self.run_tool(words)
        text = ("WARNING: series, line 62: TimeStep is 50 after 59, so that {} of {} samples are there twice - if the run continued "
                "from a restart file, leave out lines 52 to 61{}\n")
        self.assertEqual(self.first_error(), text.format(10, 110, ""))
        self.write("series", series((0, 60), (50, 90), (80, 100)))
        self.run_tool(words)
        self.assertEqual(self.first_error(), text.format(20, 120, ", and those of its other restarts"))
        self.write("other", series((0, 60)))
        self.write("list", "series 1 0.1\nother 2 0.1\n")
        self.run_tool("list --windows --temp 1 --units lj")
        self.assertEqual(self.first_error(), text.format(20, 120, ", and those of its other restarts"))

    def test_samples_without_weights(self):
        self.write("COLVAR", "#! FIELDS time s opes.bias\n" + rows([range(20), np.arange(20) % 7, np.arange(20)]))
        note = "NOTE: all samples have the weight 1, although COLVAR has opes.bias - give --bias for F without it\n"
        for words, expected in ("", note), (" --bias opes.bias", ""), (" --logweight opes.bias", ""):
            self.run_tool("COLVAR --temp 300 --s s" + words)
            self.assertEqual(self.first_error(), expected)
        self.write("series", "# TimeStep f_b[1] f_b\n" + rows([range(20), np.arange(20) % 7, np.arange(20)]))
        self.run_tool("series --temp 1 --units lj --s f_b[1]")
        self.assertEqual(self.first_error(), note.replace("COLVAR has opes.bias", "series has f_b"))

    def test_lists_of_windows(self):
        self.write("w", "# TimeStep c_s\n" + rows([range(20), np.arange(20) % 7]))
        for text, message in (
                ("w 1\n", "list, line 1: 'w 1' in place of a file, its centers, and its force constants"),
                ("w 1 x\n", "list, line 1: 'w 1 x' in place of a file, its centers, and its force constants"),
                ("w 1 2\n", "list has 1 windows, but at least 2 are needed"),
                ("w 1 -2\n", "list, line 1: centers must be finite, and force constants >= 0"),
                ("w 1 2\nw 1 2 3 4\n", "list, line 2: 2 variables, but 1 before"),
                ("w 1 2\nw 2 2\n", "list, line 2: w is the file of an earlier line - give each window its own"),
                ("w 1 2\nv 1 2\n", "cannot read v: No such file or directory")):
            self.write("list", text)
            self.fails("list --windows --temp 1 --units lj", message)

    def test_plots(self):
        """Of one and two variables; without matplotlib a note says that there is no plot."""
        self.write("HILLS", self.GOOD)
        self.write("series", rows([range(400), np.arange(400) % 7, np.arange(400) % 11]))
        for words in "HILLS --temp 300 --every 1", "series --temp 1 --units lj --s 2 3 --every 100":
            printed = self.run_tool(words, plots=True)
            self.assertTrue(printed.endswith("wrote fes.dat, fes.every.dat, fes.png\n"), printed)
            with open(self.at("fes.png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
            os.remove(self.at("fes.png"))
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            printed = self.run_tool("HILLS --temp 300", plots=True)
        self.assertEqual(self.errors, f"NOTE: fes.png is not drawn: this Python ({sys.executable}) cannot import matplotlib "
                         "(import of matplotlib halted; None in sys.modules)\n")
        self.assertTrue(printed.endswith("wrote fes.dat\n"), printed)
        self.assertFalse(os.path.exists(self.at("fes.png")))

    def test_script(self):
        """The script as a user calls it; errors end it with exit code 1."""
        script = os.path.join(ROOT, "tools", "free_energy.py")
        self.write("HILLS", self.GOOD)
        for words, code, text in ("--temp 300 --out f", 0, "wrote f.dat, f.png\n"), ("", 1, "ERROR: --temp is missing"):
            done = subprocess.run([sys.executable, script, "HILLS", *words.split()], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=100)
            self.assertEqual(done.returncode, code, done.stdout)
            self.assertIn(text, done.stdout)
        # Nobody reads what is printed, as in '... | head'.
        os.remove(self.at("f.dat"))
        for more in "", " --every 1":
            for words, code, errors in ("--temp 300 --out f", 0, ""), ("", 1, "ERROR: --temp is missing"):
                process = subprocess.Popen([sys.executable, script, "HILLS", *(words + more).split()], cwd=self.folder,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                process.stdout.close()
                found = process.stderr.read()
                process.stderr.close()
                self.assertEqual(process.wait(100), code)
                self.assertEqual(found[:len(errors)] if errors else found, errors)
            self.assertTrue(os.path.exists(self.at("f.dat")))


if __name__ == "__main__":
    unittest.main()
