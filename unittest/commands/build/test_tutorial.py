"""The inputs of doc/tutorial run, and its analysis agrees with closed forms and with the bias of LAMMPS."""
# Without: gpu, gpu/kokkos

import importlib.util
import os
import unittest

import numpy as np

import coordtest

FOLDER = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "doc", "tutorial"))
spec = importlib.util.spec_from_file_location("tutorial", os.path.join(FOLDER, "tutorial.py"))
tutorial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tutorial)


def run(name, changes=(), **variables):
    with open(os.path.join(FOLDER, f"in.{name}")) as file:
        text = file.read()
    for old, new in changes:
        text = text.replace(old, new)
    variables = {"here": FOLDER, **variables}
    return coordtest.run_lammps(text, arguments=[word for key, value in variables.items() for word in ("-var", key, str(value))])


class Inputs(unittest.TestCase):
    def test_unbiased(self):
        where = run("unbiased", steps=200).folder
        r, g, n = tutorial.read_rdf(os.path.join(where, "g.dat"))
        self.assertEqual(len(r), 200)
        series = np.loadtxt(os.path.join(where, "series.dat"))
        # The shell of Na+ has 4 to 8 oxygens. Distances in nm have no oxygen within dmax.
        self.assertTrue(np.all((series[:, 1] > 4) & (series[:, 1] < 8)))
        self.assertTrue(np.all(series[:, 3] == 0))

    def test_pull(self):
        where = run("pull", steps=200).folder
        for name, end in ("forward", 4.0), ("back", 5.8):
            self.assertAlmostEqual(np.loadtxt(os.path.join(where, f"{name}.dat"))[-1, 2], end, delta=1e-9)
        self.assertTrue(os.path.exists(os.path.join(where, "data.four")))

    def test_metad(self):
        """V of LAMMPS is (biasfactor - 1)/biasfactor times the sum of the hills in the file, which
        have the factor biasfactor/(biasfactor - 1)."""
        where = run("metad", steps=200, pace=20, every=100).folder
        _, s, v, _ = np.loadtxt(os.path.join(where, "metad.dat"))[-1]
        when, center, sigma, height = np.loadtxt(os.path.join(where, "HILLS"))[:, :4].T
        u = (s - center)**2 / (2 * sigma**2)
        end = np.exp(-6.25)
        expected = 7 / 8 * np.sum(np.where(u < 6.25, height * (np.exp(-u) - end) / (1 - end), 0))
        self.assertGreater(expected, 0.1)
        self.assertAlmostEqual(v, expected, delta=2e-3)    # the grid interpolates
        f = tutorial.sum_of_hills(os.path.join(where, "HILLS"), np.array([s, 9.9]))
        self.assertAlmostEqual((f[1] - f[0]) * tutorial.KT * 7 / 8, expected, delta=1e-9)

    def test_restart(self):
        """Hills at 640, 1,280 and 1,920. The restart file of step 1,280 has the first two."""
        where = run("metad", steps=2000, every=1280).folder
        before = np.loadtxt(os.path.join(where, "HILLS"))
        self.assertEqual(before[:, 0].tolist(), [1280, 2560, 3840])    # fs
        changes = [("metad.${from}", f"{where}/metad.${{from}}"), ("file HILLS", f"file {where}/HILLS")]
        text = run("restart", changes, upto=2000, **{"from": 1280}).text
        self.assertRegex(text, "continues with 2 hills of ")
        after = np.loadtxt(os.path.join(where, "HILLS"))
        self.assertEqual(after[:, 0].tolist(), before[:, 0].tolist())
        np.testing.assert_array_equal(after[:2], before[:2])
        np.testing.assert_array_equal(np.loadtxt(os.path.join(where, "bck.0.HILLS"), ndmin=2), before[2:])


class Analysis(unittest.TestCase):
    def test_cubic(self):
        np.testing.assert_allclose(tutorial.cubic([2.0, 2.4, 3.2, 4.0, 5.0]), [1, 1, 0.5, 0, 0], atol=1e-14)

    def test_correlation_time(self):
        """x(k + 1) = a x(k) + noise: the sum of a^k is a/(1 - a)."""
        a, rng = 0.9, np.random.default_rng(1)
        x = np.zeros(400000)
        for k, noise in enumerate(rng.normal(size=len(x) - 1)):
            x[k + 1] = a * x[k] + noise
        self.assertAlmostEqual(tutorial.correlation_time(x, 0.5), 0.5 * (0.5 + a / (1 - a)), delta=0.4)

    def test_residences(self):
        s = [5.0, 5.5, 6.0, 5.5, 6.0, 5.4, 5.1, 6.1]
        self.assertEqual(tutorial.residences(s, 5.2, 5.8), [(0, 2, 0), (2, 6, 1), (6, 7, 0), (7, 8, 1)])
        self.assertEqual(tutorial.round_trips(s, 5.2, 5.8), 1)

    def test_block_errors(self):
        """Independent samples with p = 0.3: the error of ln(p/(1 - p)) is 1/sqrt(n p (1 - p))."""
        n, p = 200000, 0.3
        s = np.where(np.random.default_rng(2).random(n) < p, 5.0, 6.0)
        f, errors = tutorial.block_errors(s, (4.5, 5.5), (5.5, 6.5), np.ones(n), (128, 64))
        self.assertAlmostEqual(f, -np.log(p / (1 - p)), delta=0.03)
        expected = 1 / np.sqrt(n * p * (1 - p))
        for error in errors:    # of 64 blocks, the standard error of a standard error is 9 %
            self.assertAlmostEqual(error / expected, 1, delta=0.4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
