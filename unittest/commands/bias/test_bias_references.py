"""The reference files of fix coord/bias for LAMMPS' tester of fixes, compared with a run without
that fix.

LAMMPS integrates with forces that Python provides through fix external: S, dS/dx and W by brute
force, V by the formulas below, V' from V by a step along the imaginary axis, which has no rounding
error.
"""
# Without: gpu
# KOKKOS on a GPU: newton on

import glob
import os
import re
import shlex
import unittest

import numpy as np

import coordtest
from brutetest import Box, Result, Switch, brute_force
from referencetest import INPUT, TESTS, numbers, read_reference

REFERENCES = glob.glob(os.path.join(TESTS, "fix-timestep-coord_bias_*.yaml"))
STEPS = 8
TOLERANCE = coordtest.rounded(1e-11)


def keywords(words):
    """Return values by keyword."""
    found, words = {}, list(words)
    while words:
        key = words.pop(0)
        found[key] = [words.pop(0)] if key in ("switch", "group2", "norm", "precision", "device", "file") else []
        while words and re.match(r"[-.\d]", words[0]):
            found[key].append(float(words.pop(0)))
    return found


class Hill:
    def __init__(self, center, sigma, height):
        self.center, self.sigma, self.height = center, sigma, height

    def __call__(self, s):
        u = (((s - self.center) / self.sigma) ** 2).sum() / 2
        return self.height * (np.exp(-u) - np.exp(-6.25)) / (1 - np.exp(-6.25)) if u.real < 6.25 else 0.0


class Bias:
    """V for the words after the names of the variables."""

    def __init__(self, words, boltz):
        self.kind, self.given = words[0], {key: np.array(value) for key, value in keywords(words[1:]).items()}
        self.hills, self.work, self.s = [], 0.0, None
        if "temp" in self.given:
            self.kt = boltz * self.given["temp"][0]
        if self.kind == "opes":
            barrier = self.given["barrier"][0]
            self.akt = self.kt - self.kt**2 / barrier
            self.epsilon, self.cutoff2 = np.exp(-barrier / self.akt), 2 * barrier / self.akt
            self.weights = [np.exp(-barrier / self.kt)]
        if "grid" in self.given:
            self.points = np.linspace(*self.given["grid"], int(self.given["bins"][0]) + 1)

    def step(self, number, s):
        """Update the state of the bias at a step with these variables."""
        if self.kind == "metad":
            if number and number % self.given["pace"][0] == 0:
                height, before = self.given["height"][0], self(s)
                if "biasfactor" in self.given:
                    height *= np.exp(-before / ((self.given["biasfactor"][0] - 1) * self.kt))
                self.hills.append(Hill(s, self.given["sigma"], height))
                self.work += self(s) - before
        elif self.kind == "opes":
            if number and number % self.given["pace"][0] == 0:
                before = self(s)
                self.weights.append(np.exp(before / self.kt))
                factor = (self.neff() * (len(s) + 2) / 4)**(-1 / (len(s) + 4))
                self.hills.append(Hill(s, factor * self.given["sigma"], self.weights[-1] * factor**-len(s)))
                self.work += self(s) - before
        else:
            ends = [] if self.s is None else [self.s, s]    # the work is averaged over both values
            before = [self(end) for end in ends]
            self.k, self.s0 = self.given["k"], self.given["s0"]
            if self.kind == "moving":
                fraction = number / self.given["steps"][0]
                self.k = self.k + fraction * (self.given["k/stop"] - self.k)
                self.s0 = self.s0 + fraction * (self.given["s0/stop"] - self.s0)
            self.work += sum(self(end) - old for end, old in zip(ends, before)) / 2
        self.s = s

    def __call__(self, s):
        if self.kind == "metad":
            return self.metad(s)
        if self.kind == "opes":
            return self.akt * np.log(self.probability(s) / self.zed() + self.epsilon)
        if self.kind in ("harmonic", "moving"):
            return (self.k / 2 * (s - self.s0) ** 2).sum()
        if self.kind == "linear":
            return (self.k * (s - self.s0)).sum()
        sign = {"wall/upper": 1, "wall/lower": -1}[self.kind]
        depth = sign * (s - self.s0) + self.given["offset"]
        return (self.k * np.where(depth.real > 0, depth, 0) ** self.given["exponent"]).sum()

    def metad(self, s):
        if "interval" in self.given:
            lo, hi = self.given["interval"]
            s = np.array([lo if s.real < lo else hi if s.real > hi else s[0]])
        if "grid" not in self.given:
            return sum(hill(s) for hill in self.hills)
        # For one variable: the cubic polynomial with the values and derivatives at the ends of the
        # bin.
        k = max(0, np.searchsorted(self.points, s[0].real) - 1)
        width = self.points[1] - self.points[0]
        t = (s[0] - self.points[k]) / width
        (v0, (d0,)), (v1, (d1,)) = (self.sum_and_derivatives(self.points[at:at + 1]) for at in (k, k + 1))
        return (v0 * (1 + 2 * t) * (1 - t) ** 2 + v1 * t * t * (3 - 2 * t) + width * d0 * t * (1 - t) ** 2
                + width * d1 * t * t * (t - 1))

    def probability(self, s):
        """Return P of OPES with kernels that are not merged."""
        total, end = 0.0, np.exp(-self.cutoff2 / 2)
        for kernel in self.hills:
            d = (((s - kernel.center) / kernel.sigma)**2).sum()
            if d.real < self.cutoff2:
                total += kernel.height * (np.exp(-d / 2) - end * (1 + (self.cutoff2 - d) / 2))
        return total / sum(self.weights)

    def zed(self):
        return np.mean([self.probability(kernel.center) for kernel in self.hills]) if self.hills else 1.0

    def neff(self):
        return (1 + sum(self.weights))**2 / (1 + sum(weight**2 for weight in self.weights))

    def sum_and_derivatives(self, s):
        return derivatives(lambda point: sum(hill(point) for hill in self.hills), s)

    def vector(self):
        dVdS = derivatives(self, self.s)[1]
        last = (self.hills[-1].center, self.hills[-1].height + 0 * self.s) if self.hills else (self.s0, self.k)
        result = [*np.column_stack([self.s, dVdS, *last]).ravel(), self.work]
        if self.kind not in ("metad", "opes"):
            return result
        result.append(len(self.hills))
        if self.kind == "opes":
            rct = self.kt * np.log(np.mean(self.weights))
            return result + [rct, self.zed(), self.neff(), len(self.hills), np.log(self.weights[-1])]
        if "grid" not in self.given:
            return result
        v = np.array([self(np.array([point])) for point in self.points])
        result.append(v.max())
        if "temp" in self.given:
            biased = v / self.kt / (self.given["biasfactor"][0] - 1)
            result.append(self.kt * np.log(np.exp(biased + v / self.kt).sum() / np.exp(biased).sum()))
        return result


def derivatives(function, s):
    """Return value and derivatives."""
    steps = 1e-30j * np.eye(len(s))
    return np.real(function(s + 0j)), np.array([function(s + step).imag / 1e-30 for step in steps])


def of_expression(text, names, parts):
    """Return the result of an expression of the results 'parts', by the chain rule."""
    expression = lambda s: eval(text, dict(zip(names, s)))
    value, dVdS = derivatives(expression, np.array([part.value for part in parts]))
    total = lambda of: sum(factor * of(part) for factor, part in zip(dVdS, parts))
    return Result(value, total(lambda part: part.virial), total(lambda part: part.atoms))


COEFFICIENTS = """
pair_style lj/cut 8.0
pair_coeff 1 1 0.02 2.5
pair_coeff 2 2 0.005 1.0
pair_coeff 2 4 0.005 0.5
pair_coeff 3 3 0.02 3.2
pair_coeff 4 4 0.015 3.1
pair_coeff 5 5 0.015 3.1
bond_style harmonic
bond_coeff 1 250.0 1.5
bond_coeff 2 300.0 1.1
bond_coeff 3 350.0 1.3
bond_coeff 4 650.0 1.2
bond_coeff 5 450.0 1.0
angle_style harmonic
angle_coeff 1 75.0 110.1
angle_coeff 2 45.0 111.0
angle_coeff 3 50.0 120.0
angle_coeff 4 100.0 108.5
group solute molecule 1:2
group solvent molecule 3:5
"""


class References(unittest.TestCase):
    def compare(self, name, reference):
        lmp = coordtest.start("-var", "input_dir", INPUT)
        self.addCleanup(lmp.close)
        lmp.file(os.path.join(INPUT, reference["input_file"].strip()))
        coefficients = os.path.join(INPUT, reference["input_coeffs"].strip())
        if os.path.exists(coefficients):
            lmp.file(coefficients)
        else:    # in older releases the testers contain these commands
            lmp.commands_string(COEFFICIENTS)
        lo, hi, *_ = lmp.extract_box()
        box = Box(np.subtract(hi, lo), lo=lo, from_lammps=True)
        n = lmp.get_natoms()
        mask, tags = (lmp.numpy.extract_atom(key)[:n].copy() for key in ("mask", "id"))
        members = {group: np.sort(tags[mask >> k & 1 == 1]) - 1
                   for k, group in enumerate(lmp.available_ids("group"))}

        computes, expressions = {}, {}
        for words in map(shlex.split, reference["post_commands"].splitlines()):
            if words[0] == "compute" and words[3] == "coord/custom":
                expressions["c_" + words[1]] = words[4], words[5::2], words[6::2]
            elif words[0] == "compute":
                given = keywords(words[4:])
                kind, r0 = given.pop("switch")
                switch = Switch(kind, r0, **{key: given[key][0] for key in ("d0", "dmax") if key in given})
                computes["c_" + words[1]] = dict(
                    switch=switch, a=members[words[2]], norm=given.get("norm", ["sum"])[0],
                    b=members[given["group2"][0]] if "group2" in given else None)
            elif words[:2] == ["fix", "test"]:
                variables = [word for word in words if word.startswith("c_")]
                bias = Bias(words[4 + len(variables):], lmp.extract_global("boltz"))

        def result_of(variable, x):
            if variable in computes:
                return brute_force(box, x, **computes[variable])
            text, names, parts = expressions[variable]
            return of_expression(text, names, [result_of(part, x) for part in parts])

        results = {}

        def force(_, step, nlocal, tag, x, f):
            ordered = np.empty((n, 3))
            ordered[tag.ravel() - 1] = x
            results[step] = [result_of(variable, ordered) for variable in variables]
            bias.step(step, np.array([result.value for result in results[step]]))
            _, dVdS = derivatives(bias, bias.s)
            total = sum(factor * result.atoms[:, 1:] for factor, result in zip(dVdS, results[step]))
            f[:] = -total[tag.ravel() - 1]

        for command in ("fix move all nve", "fix bias all external pf/callback 1 1", "timestep 0.25"):
            lmp.command(command)
        lmp.set_fix_external_callback("bias", force)
        lmp.command(f"run {STEPS}")

        energy, dVdS = derivatives(bias, bias.s)
        positions, velocities = (np.array(lmp.gather_atoms(what, 1, 3)).reshape(n, 3) for what in "xv")
        expected = {"run_pos": positions, "run_vel": velocities, "global_scalar": [energy],
                    "run_stress": sum(factor * result.virial for factor, result in zip(dVdS, results[STEPS])),
                    "global_vector": bias.vector()}
        errors = {}
        for key, values in expected.items():
            found = numbers(reference[key])
            if key in ("run_pos", "run_vel"):
                found = found.reshape(n, 4)[:, 1:]
            if key == "global_vector":    # compared one by one: the units differ
                self.assertEqual(found[0], len(values), f"{name}: length of the vector")
                found, values = found[1:], np.array(values)
                size = np.where(values == 0, 1, values)
                found, values = found / size, values / size
            errors[key] = coordtest.error_of(found, values)
        print(f"{name}: {', '.join(f'{key} {error:.1e}' for key, error in errors.items())}")
        self.assertLessEqual(max(errors.values()), TOLERANCE, name)

    def test_references(self):
        self.assertGreater(len(REFERENCES), 0)
        for path in sorted(REFERENCES):
            name = re.search(r"coord_bias_(\w+).yaml", path).group(1)
            with self.subTest(reference=name):
                self.compare(name, read_reference(path))

    def test_twice_a_variable(self):
        """harmonic on 2*S with k/4 and 2*s0 has the numbers of harmonic on S, to the last digit."""
        twice, once = (read_reference(os.path.join(TESTS, f"fix-timestep-coord_bias_{name}.yaml"))
                       for name in ("custom", "harmonic"))
        for key in ("run_pos", "run_vel", "run_stress", "global_scalar"):
            self.assertEqual(twice[key], once[key], key)
        ratios = np.array([1, 2, 1 / 2, 2, 1 / 4, 1])    # ratios of their number, S, dV/dS, s0, k and the work
        np.testing.assert_array_equal(numbers(twice["global_vector"]), ratios * numbers(once["global_vector"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
