"""Distributions of S with fix coord/bias, compared with their closed form, with the input of
examples/bias/closed_form.

A fixed atom and four atoms on springs: the density of S has a closed form (analyze.py of the
example). Seeds are fixed. Tolerances are several times the standard error of runs with other seeds,
since rounding differs between machines.
"""
# Without: gpu, gpu/kokkos

import importlib.util
import os
import sys
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "commands"))
import coordtest

EXAMPLE = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir, "examples", "bias", "closed_form"))
spec = importlib.util.spec_from_file_location("analyze", os.path.join(EXAMPLE, "analyze.py"))
analyze = importlib.util.module_from_spec(spec)
spec.loader.exec_module(analyze)

# F(S) - F(1.05) in kT in bins of 0.1, from another program than analyze.py.
REFERENCE = {0.15: 0.370, 0.55: 0.444, 1.55: 0.736, 2.05: 1.219, 2.55: 2.500, 3.05: 4.004, 3.55: 5.775, 3.75: 6.535}


def run(script, **variables):
    script = script.replace("include         ", f"include {EXAMPLE}/")
    return coordtest.run_lammps(script, arguments=[str(word) for name, values in variables.items()
                                         for word in ("-var", name, *np.atleast_1d(values))])


def run_example(name, **variables):
    with open(os.path.join(EXAMPLE, name)) as file:
        return run(file.read(), **variables)


def gaussians(s, center, sigma):
    """Return stretched Gaussians of height 1 for each s (rows) and center (columns)."""
    u = (np.asarray(s)[:, None] - center)**2 / (2 * np.asarray(sigma)**2)
    return np.where(u < 6.25, (np.exp(-u) - np.exp(-6.25)) / (1 - np.exp(-6.25)), 0)


class ClosedForm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s, cls.p = analyze.closed_form()
        cls.f = analyze.free_energy(analyze.in_bins(cls.s, cls.p))

    def test_density(self):
        for s, f in REFERENCE.items():
            self.assertAlmostEqual(self.f[int(s / 0.1)], f, delta=0.002)
        mean, deviation = analyze.mean_and_deviation(self.s, self.p)
        self.assertAlmostEqual(mean, 1.0676, delta=1e-4)
        self.assertAlmostEqual(deviation, 0.6489, delta=1e-4)

    def test_windows(self):
        """Mean and standard deviation in harmonic windows: 10% in k or in the force changes each by
        0.012 to 0.025."""
        windows = 2.8, 4.0
        done = run_example("in.umbrella", s0=windows, steps=1200000)
        for s0 in windows:
            samples = np.loadtxt(done.path(f"umbrella.{s0}"), usecols=1)
            weights = self.p * np.exp(-analyze.WINDOW_K / 2 * (self.s - s0)**2)
            mean, deviation = analyze.mean_and_deviation(self.s, weights)
            print(f"s0 {s0}: mean {samples.mean():.4f}, closed form {mean:.4f}; deviation {samples.std():.4f}, "
                  f"closed form {deviation:.4f}")
            self.assertAlmostEqual(samples.mean(), mean, delta=0.01)     # standard error 0.002
            self.assertAlmostEqual(samples.std(), deviation, delta=0.01)    # the same

    def test_fixed_hills(self):
        """The bias of a given hills file: 10% of its height is up to 0.4 kT."""
        biasfactor = 4.0
        center, sigma, height = [0.3, 1.0, 1.7], [0.4, 0.4, 0.5], [4.0, 3.0, 3.0]
        path = os.path.join(coordtest.folder(), "HILLS")
        with open(path, "w") as file:
            file.write("#! FIELDS time cv sigma_cv height biasf\n")
            for k, (c, w, h) in enumerate(zip(center, sigma, height)):
                file.write(f"{k} {c} {w} {h * biasfactor / (biasfactor - 1)} {biasfactor}\n")
        done = run(f"""
variable        seed index 5
include         springs.system
fix b all coord/bias c_cv metad sigma 0.4 height 1.0 pace 1000000000 biasfactor {biasfactor} temp 1.0 &
    grid 0 4 bins 160 file {path} append yes
fix series all ave/time 40 1 40 c_cv file series
thermo 0
run 1600000""")
        samples = np.loadtxt(done.path("series"), usecols=1)
        edges = np.linspace(0, 3.6, 10)
        bias = gaussians(self.s, center, sigma) @ height
        expected, _ = np.histogram(self.s, edges, weights=self.p * np.exp(-bias))
        found, _ = np.histogram(samples, edges)
        difference = -np.log(found / found.sum() * expected.sum() / expected)
        print("fixed hills: differences of F", difference.round(3))
        self.assertLess(np.abs(difference).max(), 0.2)    # largest value of five seeds: 0.09

    def test_metadynamics(self):
        """Heights are those of well-tempered hills, and the free energy from hills and from weights
        is the closed form."""
        biasfactor, walker = 3, 1
        done = run_example("in.metad", walker=walker, steps=2500000, biasfactor=biasfactor)
        _, center, sigma, height, _ = np.loadtxt(done.path(f"HILLS.{walker}"))[:3000].T
        bias = (np.tril(gaussians(center, center, sigma), -1) @ height) * (biasfactor - 1) / biasfactor
        expected = 0.03 * biasfactor / (biasfactor - 1) * np.exp(-bias / (biasfactor - 1))
        error = np.abs(height / expected - 1).max()
        print(f"metadynamics: heights to {error:.1e}")
        # The grid interpolates; 10% in kT or V changes heights by 20%.
        self.assertLess(error, 5e-4)
        self.assertGreater(bias.max(), 2.0)

        part = slice(1, 28)    # 0.15 to 2.75
        # Fitted slopes had standard deviations of 0.03 and 0.02 over seeds. 10% in the force
        # changes the derivative of hills by 0.1.
        for name, f, tolerance in (("hills", analyze.from_hills(done.path(f"HILLS.{walker}")), 0.08),
                                   ("weights", analyze.from_reweighting(done.path(f"metad.{walker}")), 0.06)):
            slope, _ = np.polyfit(self.f[part], f[part], 1)
            largest = np.abs(f - self.f)[part].max()
            print(f"metadynamics, {name}: {slope:.3f} of the closed form, largest difference {largest:.3f}")
            self.assertAlmostEqual(slope, 1, delta=tolerance)
            self.assertLess(largest, 0.3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
