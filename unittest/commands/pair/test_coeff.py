"""compute coord/gpu coeff: different switching functions for pairs of atom types.

The reference is the sum of brute-force sums over the atoms of each pair of types.
"""
# KOKKOS on a GPU: newton on

import itertools
import re
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
from brutetest import Box, Result, Switch, brute_force

N = 60
TYPES = np.random.default_rng(3).integers(1, 4, N)    # no atom of type 4
BOXES = {"orthogonal": Box((5.2, 5.6, 6.0)), "triclinic": Box((5.2, 5.0, 5.6), tilt=(2.3, -1.9, 2.2)),
         "fixed": Box((6.0, 7.0, 8.0), periodic=(False,) * 3)}
FEW = np.random.default_rng(4).integers(0, N, (80, 2))
PAIRS = FEW[FEW[:, 0] != FEW[:, 1]]
np.savetxt(f"{coordtest.folder()}/pairs", PAIRS + 1, fmt="%d")
GROUPS = {"all": np.arange(N), "left": np.arange(25), "right": np.arange(30, 55), "late": np.arange(15, N)}

# Group, keywords and arguments of brute_force. The pairs have both orders of each two types, and
# the groups all types: each type is in the first group of some pairs and in the second of others.
FORMS = [("late", "", {"a": GROUPS["late"]}), ("all", "norm mean", {"a": GROUPS["all"], "norm": "mean"}),
         ("left", "group2 right", {"a": GROUPS["left"], "b": GROUPS["right"]}),
         ("left", "group2 late norm mean", {"a": GROUPS["left"], "b": GROUPS["late"], "norm": "mean"})]
PAIR_FORMS = [("left", "pairs right", {"pairs": np.column_stack([GROUPS["left"], GROUPS["right"]])}),
              ("all", f"pairs/file {coordtest.folder()}/pairs norm mean", {"pairs": PAIRS, "norm": "mean"})]


class Table:
    """Functions of pairs of types from coeff lines; later lines override earlier ones."""

    def __init__(self, switch, *coeffs):
        # coeffs: words, types of both sides, function; a function is None for the word none
        self.switch, self.coeffs = switch, coeffs
        words_of = lambda f: f.keywords.replace("switch ", "", 1) if f else "none"
        self.keywords = f"switch {words_of(switch)}" + "".join(
            f" coeff {words} {words_of(f)}" for words, _, _, f in coeffs)

    def __call__(self, i, j):
        for _, some, others, function in reversed(self.coeffs):
            if i in some and j in others or j in some and i in others:
                return function
        return self.switch


def table(longest):
    """Return a table with all forms of type words. A function of coeff has the longest range with a
    nonzero derivative at its end, and another has a short range."""
    return Table(
        Switch("rational", 0.9, n=6, m=10, d0=0.2, dmax=0.6 * longest),
        ("* 3*", (1, 2, 3, 4), (3, 4), Switch("exp", 0.3 * longest, dmax=longest)),
        ("2 1", (2,), (1,), Switch("cubic", d0=0.4, dmax=0.8 * longest)),
        ("2*3 3", (2, 3), (3,), Switch("custom", 0.7, dmax=0.5 * longest, expression="1/(1+x^6)", stretch=False,
                                       func=lambda x: (1 / (1 + x**6), -6 * x**5 / (1 + x**6) ** 2))),
        ("*2 2", (1, 2), (2,), Switch("tanh", 0.6, dmax=0.7 * longest)),
        ("1 2", (1,), (2,), Switch("gaussian", 0.5, d0=0.1, dmax=0.8 * longest)))


def by_types(box, x, types, functions, a=None, b=None, pairs=None, image="all", norm="sum"):
    """brute_force with the function of each pair of types."""
    present = sorted(set(types.tolist()))
    atoms_of_type = lambda group, k: group[types[group] == k]
    parts = []
    for i, j in itertools.product(present, repeat=2):
        if not functions(i, j):
            continue
        if pairs is not None:
            some = pairs[(types[pairs[:, 0]] == i) & (types[pairs[:, 1]] == j)]
            groups = {"a": None, "pairs": some} if len(some) else None
        elif b is not None:
            groups = {"a": atoms_of_type(a, i), "b": atoms_of_type(b, j)}
        elif i == j:
            groups = {"a": atoms_of_type(a, i)}
        else:
            groups = {"a": atoms_of_type(a, i), "b": atoms_of_type(a, j)} if i < j else None
        if groups:
            parts.append(brute_force(box, x, functions(i, j), image=image, **groups))
    scale = 1 / len(pairs if pairs is not None else a) if norm == "mean" else 1.0

    def total(parts):
        atoms = sum(part.atoms for part in parts)
        atoms[:, 1:] *= scale
        return Result(scale * sum(part.value for part in parts), scale * sum(part.virial for part in parts), atoms)

    result, spreads = total(parts), [part.spread for part in parts if part.spread]
    result.spread = total(spreads) if spreads else None
    return result


def make_system(lmp, box, x, ghosts, types=TYPES, more=()):
    for line in coordtest.setup_commands(box, ghosts, ntypes=4):
        lmp.command(line)
    assert lmp.create_atoms(len(x), list(range(1, len(x) + 1)), types.tolist(), x.ravel().tolist()) == len(x)
    for name, members in GROUPS.items():
        if name != "all":
            coordtest.define_group(lmp, name, members)
    for line in more:
        lmp.command(line)


def positions(box, seed=1, closest=0.0):
    return coordtest.random_positions(np.random.default_rng(seed), box, N, closest)


class Reference(unittest.TestCase):
    table = staticmethod(table)

    def check(self, box, factor, precision, tolerance):
        """factor: the largest dmax in half periods."""
        x = positions(box)
        reach = factor * (0.5 * box.shortest_vector() if any(box.periodic) else 3.0)
        functions = self.table(reach)
        short = factor < 1 or not any(box.periodic)
        ways = [(f"engine {engine}", "all") for engine in ("cells", "allpairs")] if short else [
            ("engine cells image all", "all"),
            ("engine allpairs image minimum", "minimum"), ("image minimum", "minimum")]
        cases = [(form, way) for form in FORMS for way in ways] + [
            (form, ("image minimum", "minimum")) for form in PAIR_FORMS]
        with coordtest.start() as lmp:
            make_system(lmp, box, x, reach + 0.31)
            for k, ((group, keywords, _), (way, _)) in enumerate(cases):
                lmp.command(f"compute c{k} {group} coord/gpu {functions.keywords} {keywords} {way} "
                            f"precision {precision} check 1 {10 * tolerance}")
            lmp.command("run 0")
            references = {}
            for k, ((group, keywords, arguments), (way, image)) in enumerate(cases):
                form = f"{group} {keywords}", image
                if form not in references:
                    references[form] = by_types(box, x, TYPES, functions, image=image, **arguments)
                coordtest.assert_same(brutetest.result_of(lmp, f"c{k}"), references[form], tolerance, f"{form}, {way}")


class BruteForce(Reference):
    def test_double(self):
        for name, box in BOXES.items():
            for factor in (0.95, 1.7):
                with self.subTest(box=name, factor=factor):
                    self.check(box, factor, "double", coordtest.DOUBLE)

    def test_float(self):
        for precision in ("mixed", "single"):
            with self.subTest(precision):
                self.check(BOXES["triclinic"], 0.95, precision, coordtest.FLOAT)

    def test_no_end(self):
        """One function has an infinite range, so the variable has one, too."""
        endless = Switch("gaussian", 0.8)
        functions = Table(Switch("cubic", dmax=2.0), ("1 3", (1,), (3,), endless))
        for name, image in ("triclinic", "image minimum"), ("fixed", ""):
            box = BOXES[name]
            x = positions(box)
            with self.subTest(name), coordtest.start() as lmp:
                make_system(lmp, box, x, 2.31)
                lmp.command(f"compute c all coord/gpu {functions.keywords} {image} precision double")
                lmp.command("run 0")
                expected = by_types(box, x, TYPES, functions, GROUPS["all"], image="minimum")
                coordtest.assert_same(brutetest.result_of(lmp, "c"), expected, coordtest.DOUBLE, name)

    def test_sum_of_computes(self):
        """S is the sum of those of computes on the groups of the types, each with its function."""
        box, functions = BOXES["orthogonal"], table(2.5)
        with coordtest.start() as lmp:
            make_system(lmp, box, positions(box), 2.81, more=[f"group t{i} type {i}" for i in (1, 2, 3)])
            tail = "precision double"
            lmp.command(f"compute c all coord/gpu {functions.keywords} {tail}")
            names = []
            for i, j in itertools.combinations_with_replacement((1, 2, 3), 2):
                names.append(f"c{i}{j}")
                second = f"group2 t{j} " if i != j else ""
                lmp.command(f"compute c{i}{j} t{i} coord/gpu {second}{functions(i, j).keywords} {tail}")
            lmp.command("run 0")
            parts = [brutetest.result_of(lmp, name) for name in names]
            total = Result(*(sum(getattr(part, field) for part in parts) for field in ("value", "virial", "atoms")))
            coordtest.assert_same(brutetest.result_of(lmp, "c"), total, coordtest.LAST_DIGITS, "the sum of computes")


class Words(unittest.TestCase):
    def test_ways_to_name_types(self):
        """The same pairs in other words give the same bits."""
        box = BOXES["orthogonal"]
        one, other = "cubic d0 0.3 dmax 2.1", "exp 0.4 dmax 2.4"
        same = [f"switch exp 1 dmax 2 coeff 1 2 {one} coeff 2 3 {other} coeff 3 3 {other} coeff 3 4 {other}",
                f"switch exp 1 dmax 2 coeff A B {one} coeff C B {other} coeff C C {other} coeff 4 C {other}",
                f"coeff *2 3 {one} coeff 2* 3 {other} coeff 1 3 exp 1 dmax 2 coeff 2*2 *1 {one} switch exp 1 dmax 2",
                f"coeff * * {one} switch exp 1 dmax 2 coeff 1*2 1*2 exp 1 dmax 2 coeff 1 2 {one} "
                f"coeff 4 * exp 1 dmax 2 coeff 3* 3 {other} coeff 2 3 {other} coeff 3 1 exp 1 dmax 2"]
        labels = ["labelmap atom 1 A 2 B 3 C 4 D"]
        if coordtest.kokkos_lacks("labels of types", coordtest.NO_LABELS):
            labels, same[1] = [], same[0]
        with coordtest.start() as lmp:
            make_system(lmp, box, positions(box), 2.8, more=labels)
            for k, words in enumerate([*same, same[0].replace("coeff 1 2", "coeff 1 1")]):
                lmp.command(f"compute c{k} all coord/gpu {words} precision double")
            lmp.command("run 0")
            values = [coordtest.scalar_of(lmp, f"c{k}") for k in range(5)]
            self.assertEqual(values[:4], 4 * values[:1])
            self.assertNotAlmostEqual(values[4], values[0], 3)

    @coordtest.not_where(coordtest.KOKKOS, coordtest.NO_LABELS)
    def test_set_up_text(self):
        tanh = Switch("tanh", 0.6, dmax=1.5)
        run = coordtest.run_lammps([
            *coordtest.setup_commands(BOXES["orthogonal"], 2.9, ntypes=4), "labelmap atom 1 A 2 B 3 C 4 D",
            "compute c all coord/gpu coeff A *2 tanh 0.6 dmax 1.5 switch cubic dmax 2.5 coeff 3 4 rational 1.0 dmax 2 "
            "nostretch norm mean", "compute e all coord/gpu switch exp 1 coeff 1 1 gaussian 1 dmax INF image minimum",
            "create_atoms 1 single 0 0 0", "thermo_style custom step c_c c_e", "run 0"])
        jump = f"{float(tanh(1.5)[1]):.6g}"
        text = run.text[run.text.index("Compute coord/gpu c:"):].split("\n")
        self.assertRegex(text[0], "engine cells")
        self.assertEqual(text[1:5], [
            "  switch cubic r0 2.5 d0 0 dmax 2.5 stretched", "  at dmax = 2.5: s and ds/dr go to 0",
            f"  coeff A *2 tanh r0 0.6 d0 0 dmax 1.5 stretched; at dmax = 1.5: s = 0, ds/dr jumps from {jump} to 0",
            # (1 - x^6)/(1 - x^12) = 1/(1 + x^6), and its derivative, at 2.
            "  coeff 3 4 rational nn 6 mm 12 r0 1 d0 0 dmax 2 not stretched; "
            f"at dmax = 2: s = {1 / 65:.6g}, ds/dr jumps from {-6 * 32 / 65**2:.6g} to 0"])
        self.assertRegex(text[5], "^Compute coord/gpu e: .* engine allpairs")
        self.assertEqual(text[6:8], ["  switch exp r0 1 d0 0 without end",
                                     "  coeff 1 1 gaussian r0 1 d0 0 without end"])


class Derivatives(unittest.TestCase):
    # Smooth everywhere: the functions end where they vanish to rounding.
    FUNCTIONS = Table(Switch("gaussian", 0.4, dmax=2.45),
                      ("1 2", (1,), (2,), Switch("gaussian", 0.33, d0=0.2, dmax=2.45)),
                      ("3 3", (3,), (3,), Switch("gaussian", 0.3, dmax=2.3)))
    BOX = BOXES["orthogonal"]

    def test_difference(self):
        """dS/dx is the derivative of S."""
        x = positions(self.BOX, closest=0.5)
        step = 2.0**-10    # all positions are on coordtest.GRID
        rng = np.random.default_rng(10)
        with coordtest.start() as lmp:
            make_system(lmp, self.BOX, x, 2.8)
            for engine in ("cells", "allpairs"):
                lmp.command(f"compute {engine} late coord/gpu group2 left {self.FUNCTIONS.keywords} engine {engine} "
                            "precision double")
            lmp.command("run 0")
            gradients = {engine: coordtest.atoms_of(lmp, engine)[:, 1:] for engine in ("cells", "allpairs")}
            direction = np.round(4 * rng.normal(size=x.shape)) / 4
            values = {engine: [] for engine in gradients}
            for shift in (-step, -step / 2, step / 2, step):
                coordtest.move_to(lmp, x + shift * direction)
                lmp.command("run 0")
                for engine in values:
                    values[engine].append(coordtest.scalar_of(lmp, engine))
            for engine, some in values.items():
                expected = coordtest.extrapolate(some, step)
                self.assertGreater(abs(expected), 1.0)
                error = (gradients[engine] * direction).sum() - expected
                self.assertLess(abs(error), 1e-8 * np.abs(gradients[engine]).sum(), engine)

    def test_bias(self):
        """The force of a harmonic bias is -k (S - s0) dS/dx."""
        x = positions(self.BOX, closest=0.5)
        expected = by_types(self.BOX, x, TYPES, self.FUNCTIONS, GROUPS["left"], GROUPS["late"])
        k, s0 = 3.0, expected.value - 0.7
        with coordtest.start() as lmp:
            make_system(lmp, self.BOX, x, 2.8)
            lmp.command(f"compute c left coord/gpu group2 late {self.FUNCTIONS.keywords} precision double")
            lmp.command(f"fix b all coord/bias c_c harmonic k {k} s0 {s0!r}")
            lmp.command("run 0")
            force = -k * 0.7 * expected.atoms[:, 1:]
            error = coordtest.error_of(coordtest.forces_of(lmp), force)
            self.assertLess(error, coordtest.DOUBLE + coordtest.FORCES)
            self.assertAlmostEqual(lmp.extract_fix("b", 0, 0), k / 2 * 0.49, delta=1e-8)


class Runs(unittest.TestCase):
    """Atoms move and change their types. Every step is compared with brute force for the positions
    and types of its dump."""

    FUNCTIONS = table(2.4)
    COMPUTES = {"cells": ("late", "engine cells", {"a": GROUPS["late"]}),
                "overlap": ("left", "group2 late engine cells", {"a": GROUPS["left"], "b": GROUPS["late"]}),
                "gathered": ("left", "group2 right engine allpairs", {"a": GROUPS["left"], "b": GROUPS["right"]}),
                "pairs": ("left", "pairs right", PAIR_FORMS[0][2]),
                "file": ("all", PAIR_FORMS[1][1], PAIR_FORMS[1][2])}

    def script(self, box, first, runs):
        path = f"{coordtest.folder()}/data"
        coordtest.write_data(path, positions(box), box, TYPES)
        computes = [f"compute {name} {group} coord/gpu {self.FUNCTIONS.keywords} {words} precision double"
                    for name, (group, words, _) in self.COMPUTES.items()]
        columns = " ".join(f"c_{name} c_{name}[*]" for name in self.COMPUTES)
        lines = coordtest.setup_commands(box, 2.9, skin=0.4)
        made = lines.index("box tilt large") + 1
        # Replaces the region and its box.
        lines[made:made + 2] = [f"read_data {path} extra/atom/types 1"]
        groups = [f"group {name} id {m[0] + 1}:{m[-1] + 1}" for name, m in GROUPS.items() if name != "all"]
        return [*first, *lines, *groups, "velocity all create 8.0 4711 loop geom", "fix move all nve", "timestep 0.01",
                "neigh_modify delay 0 every 1", *computes, f"thermo_style custom step {columns}", "thermo 1",
                "thermo_modify format float %.17g norm no lost warn",
                "dump d all custom 1 dump id type x y z " + " ".join(f"c_{name}[*]" for name in self.COMPUTES),
                "dump_modify d format float %.17g", *runs]

    def check(self, box, ranks, first=(), runs=()):
        run = coordtest.run_lammps(self.script(box, first, runs), ranks)
        rows = {name: np.concatenate([t[name] for t in run.tables]) for name in run.tables[0]}
        frames = dumptest.read_dump(run.path("dump"))
        seen = set()
        for frame in frames:
            row = np.flatnonzero(rows["Step"] == frame.step)[0]    # before types change
            types = frame["type"].astype(int)
            seen.add(tuple(types))
            for name, (_, _, arguments) in self.COMPUTES.items():
                virial = [rows[f"c_{name}[{k}]"][row] for k in range(1, 7)]
                found = Result(rows[f"c_{name}"][row], virial, frame.array(name))
                expected = by_types(frame.box, frame.x(), types, self.FUNCTIONS, **arguments)
                coordtest.assert_same(found, expected, coordtest.DOUBLE, f"{ranks} ranks, step {frame.step}, {name}")
        return run, len(frames), len(seen)

    def test_ranks(self):
        runs = ["run 4", "set group left type/fraction 2 0.5 11", "run 4"]
        for ranks, box, first in ((1, "triclinic", ()), (2, "orthogonal", ["newton off"]), (4, "triclinic", ())):
            with self.subTest(ranks=ranks):
                _, frames, seen = self.check(BOXES[box], ranks, first, runs)
                self.assertEqual((frames, seen), (9, 2))

    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_NEW_TYPES)
    def test_types_change_between_two_builds(self):
        """Neighbor lists, and copies of them on a device, stay valid: without ghosts, all types are
        new immediately."""
        runs = ["neigh_modify delay 1000", "run 1", *(line for k in (1, 2, 3) for line in (
            f"set group late type/fraction {k} 0.4 {k}", "run 1 pre no"))]
        run, frames, seen = self.check(BOXES["fixed"], 1, runs=runs)
        self.assertEqual((frames, seen), (5, 4))
        self.assertEqual(re.findall(r"Neighbor list builds = (\d+)", run.text), 4 * ["0"])


if __name__ == "__main__":
    unittest.main()
