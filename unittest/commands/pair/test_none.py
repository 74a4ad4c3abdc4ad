"""The word none in place of a switching function: pairs of these types are not counted and have no force.

The references are brute force over the other pairs, and computes of groups of the same atoms.
"""

import re
import unittest

import numpy as np

import coordtest
import test_coeff
from brutetest import Result, Switch, result_of
from pairtest import PAIRS, PairTest, Potential, all_kinds, commands, setup_commands, state_of, words
from test_coeff import BOXES, N, TYPES, Table, make_system
from test_pair_restart import Restart

SWITCH = Switch("rational", 0.9, n=6, m=12, dmax=2.4)
KEYWORDS = SWITCH.keywords.replace("switch ", "", 1)
ENGINES = ("cells", "allpairs")


def few_pairs(longest):
    """Return a table with three pairs of types; the last line removes one that an earlier line gives."""
    return Table(None, ("1 3", (1,), (3,), Switch("exp", 0.3 * longest, dmax=longest)),
                 ("* 2", (1, 2, 3, 4), (2,), Switch("cubic", d0=0.4, dmax=0.8 * longest)), ("1 2", (1,), (2,), None))


class BruteForce(test_coeff.Reference):
    table = staticmethod(few_pairs)

    def test_double(self):
        for name, factor in (("orthogonal", 0.95), ("triclinic", 1.7), ("fixed", 0.95)):
            with self.subTest(box=name):
                self.check(BOXES[name], factor, "double", coordtest.DOUBLE)

    def test_float(self):
        for precision in ("mixed", "single"):
            with self.subTest(precision):
                self.check(BOXES["triclinic"], 0.95, precision, coordtest.FLOAT)


class Groups(unittest.TestCase):
    """One pair of types, against the two groups of these types."""

    def start(self, types=TYPES):
        box = BOXES["orthogonal"]
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        make_system(lmp, box, test_coeff.positions(box, closest=0.5), 2.8, types,
                    [f"group t{i} type {i}" for i in (1, 2, 3)])
        return lmp

    def compare(self, lmp, style, tails, tolerance=coordtest.DOUBLE):
        """All atoms, against the sum of both groups as the first one."""
        for k, tail in enumerate(tails):
            commands(lmp, f"compute a{k} all {style} switch none coeff 1 3 {KEYWORDS} {tail} precision double",
                     f"compute b{k} t1 {style} group2 t3 switch {KEYWORDS} {tail} precision double",
                     f"compute c{k} t3 {style} group2 t1 switch {KEYWORDS} {tail} precision double")
        lmp.command("run 0")
        for k, tail in enumerate(tails):
            found, one, other = (result_of(lmp, f"{letter}{k}") for letter in "abc")
            self.assertGreater(abs(found.value), 0.1, tail)
            total = Result(*(getattr(one, field) + getattr(other, field) for field in ("value", "virial", "atoms")))
            coordtest.assert_same(Result(found.value, found.virial, found.atoms[:, :4]),
                                  Result(total.value, total.virial, total.atoms[:, :4]), tolerance, tail)

    def test_function_of_atoms(self):
        """f(0) = 0, so the atoms without a partner add nothing."""
        self.compare(self.start(), "coord/gpu", [
            f"function {function} engine {engine}" for function in ("more_than rational 1.5", "custom s^2")
            for engine in ENGINES])

    def test_function_counts_atoms_without_partners(self):
        """less_than is 1 at 0: atoms of type 2 have no partners."""
        lmp = self.start()
        for engine in ENGINES:
            commands(lmp, f"compute {engine} all coord/gpu switch none coeff 1 3 {KEYWORDS} function less_than rational 1e-9 "
                     f"engine {engine} precision double")
        lmp.command("run 0")
        for engine in ENGINES:
            alone = coordtest.atoms_of(lmp, engine)[:, 0] == 0.0
            self.assertTrue(alone[TYPES == 2].all())
            self.assertAlmostEqual(coordtest.scalar_of(lmp, engine), alone.sum(), delta=1e-6)

    def test_order(self):
        self.compare(self.start(), "coord/orientorder", [
            "l 6", "l 4 function more_than rational 0.5", "l 3 function custom s^2"])

    def test_bias(self):
        """A type without any function gets no force."""
        lmp = self.start()
        commands(lmp, f"compute c all coord/gpu switch none coeff 1 3 {KEYWORDS} precision double",
                 "fix b all coord/bias c_c linear k 2.0", "run 0")
        forces, gradients = coordtest.forces_of(lmp), coordtest.atoms_of(lmp, "c")[:, 1:]
        self.assertTrue((forces[TYPES == 2] == 0.0).all())
        self.assertGreater(np.abs(forces[TYPES != 2]).max(), 0.1)
        self.assertLess(coordtest.error_of(forces, -2.0 * gradients), coordtest.DOUBLE + coordtest.FORCES)

    def test_set_up_text(self):
        run = coordtest.run_lammps([
            *coordtest.setup_commands(BOXES["orthogonal"], 2.9, ntypes=3), "create_atoms 1 single 0 0 0",
            "compute c all coord/gpu coeff 1 2 cubic dmax 2.5 switch none coeff 3 * none coeff 2 2 exp 1 dmax 2 nostretch",
            "thermo_style custom step c_c", "run 0"])
        text = run.text[run.text.index("Compute coord/gpu c:"):].split("\n")
        self.assertEqual(text[1:5], [
            "  switch none", "  coeff 1 2 cubic r0 2.5 d0 0 dmax 2.5 stretched; at dmax = 2.5: s and ds/dr go to 0",
            "  coeff 3 * none",
            f"  coeff 2 2 exp r0 1 d0 0 dmax 2 not stretched; at dmax = 2: s = {np.exp(-2):.6g}, ds/dr jumps from "
            f"{-np.exp(-2):.6g} to 0"])

    def test_range(self):
        """The range is that of the functions: cubic dmax 2.5 needs ghost atoms up to 2.8."""
        run = lambda more: coordtest.run_lammps([
            *coordtest.setup_commands(BOXES["orthogonal"], 2.8, skin=0.3, ntypes=3), "create_atoms 1 single 0 0 0",
            f"compute c all coord/gpu switch none coeff 1 2 cubic dmax {more}", "thermo_style custom step c_c", "run 0"])
        run("2.5")
        with self.assertRaisesRegex(Exception, "dmax of coeff 1 2 plus skin 2.85 exceeds the ghost atom range 2.8"):
            run("2.55")


class Pair(PairTest):
    TYPES = np.random.default_rng(3).integers(1, 5, N)
    SOME = ((1, 2), (3, 3), (3, 4))

    def potential(self):
        """The potential of some pairs, and the commands with none for all others."""
        whole = all_kinds()
        some = Potential({pair: whole.functions[pair] for pair in self.SOME}, whole.epsilons)
        return some, ["pair_coeff * * none", *some.coefficients()]

    def test_brute_force(self):
        some, coefficients = self.potential()
        for name, box in BOXES.items():
            x = test_coeff.positions(box, closest=0.35)
            expected = some.by_brute_force(box, x, self.TYPES)
            lmp = self.system(box, x, self.TYPES)
            for engine in ("neigh", "cells"):
                found = state_of(lmp, f"pair_style coord engine {engine}", *coefficients)
                self.check_states(f"{name}, {engine}", found, expected)

    def test_pairs_of_compute_group(self):
        """compute group/group evaluates single pairs, also those without a function."""
        some, coefficients = self.potential()
        box = BOXES["fixed"]
        x = test_coeff.positions(box, closest=0.35)
        lmp = self.system(box, x, self.TYPES)
        commands(lmp, "compute g all group/group all", "pair_style coord", *coefficients, "thermo_style custom step pe c_g",
                 "run 0")
        self.check("energy", lmp.extract_compute("g", 0, 0), some.by_brute_force(box, x, self.TYPES).energy,
                   coordtest.DOUBLE)

    def test_data(self):
        some, coefficients = self.potential()
        box = BOXES["orthogonal"]
        x = test_coeff.positions(box, closest=0.35)
        expected = some.by_brute_force(box, x, self.TYPES)
        path = f"{coordtest.folder()}/none"
        lmp = self.system(box, x, self.TYPES)
        commands(lmp, "pair_style coord", *coefficients, f"write_data {path} pair ij", "clear")
        with open(path) as file:
            self.assertEqual(len(re.findall(r"^\d \d none$", file.read(), re.MULTILINE)), len(PAIRS) - len(self.SOME))
        setup = setup_commands(box, data=path)
        read = setup.index(f"read_data {path}")
        again = self.start([*setup[:read], "pair_style coord", setup[read]])
        self.check_states("data file", state_of(again), expected)

    def test_mixing(self):
        """none mixes with none alone."""
        box = BOXES["fixed"]
        x = test_coeff.positions(box, closest=0.35)
        function = Switch("cubic", dmax=2.0)
        one = Potential({(3, 3): function, (4, 4): function, (3, 4): function, (1, 3): function, (1, 4): function,
                         (2, 3): function, (2, 4): function}, {pair: 1.5 for pair in PAIRS})
        lmp = self.system(box, x, self.TYPES)
        own = ["pair_coeff 1 1 none", "pair_coeff 2 2 none", *one.coefficients()]
        self.check_states("mixed", state_of(lmp, "pair_style coord", *own), one.by_brute_force(box, x, self.TYPES))
        commands(lmp, "pair_style none", "pair_style coord", "pair_coeff 1 1 none",
                 *(f"pair_coeff {i} {i} {words(function, 1.0)}" for i in (2, 3, 4)))
        with self.assertRaisesRegex(Exception, "Pair coord: types 1 and 2 do not mix: the function of type 1 is none - give "
                                    "pair_coeff 1 2"):
            lmp.command("run 0")

    def test_all_none(self):
        lmp = self.system(BOXES["fixed"], test_coeff.positions(BOXES["fixed"]), self.TYPES)
        commands(lmp, "pair_style coord", "pair_coeff * * none")
        with self.assertRaisesRegex(Exception, "Pair coord: all pairs of types are none - give pair_coeff with a function for "
                                    "one of them"):
            lmp.command("run 0")


class PairRestart(Restart):
    def test_all_kinds(self):
        whole = all_kinds()
        some = Potential({pair: whole.functions[pair] for pair in Pair.SOME}, whole.epsilons)
        coefficients = ["pair_coeff * * none", *some.coefficients()]
        for engine in "neigh", "cells":
            self.compare(f"coord engine {engine} precision double", coefficients)

    test_version_1 = test_unknown_function = test_mix_and_shift = test_hybrid = None    # of Restart alone


del Restart    # its tests run in their own file

if __name__ == "__main__":
    unittest.main(verbosity=2)
