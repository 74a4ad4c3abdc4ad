"""What a new user sees first: S in thermodynamic output and in the line at setup, and the warning if no
pair is in range. Atoms stand still at distances of 3, 4, 5 and 8, so that S is known in closed form."""

import re
import unittest

import numpy as np

import coordtest

# s is 1, 0.84375 and 0.15625 at 3, 4 and 5.
NEAR = "switch cubic d0 3.5 dmax 5.5"
FAR = "switch cubic d0 0.12 dmax 0.18"
BOTH = (1, 2)    # ranks
SYSTEM = ["units {units}", "atom_modify map array", "region box block 0 20 0 20 0 20", "create_box 2 box",
          "create_atoms 1 single 1 1 1", "create_atoms 2 single 18 1 1", "create_atoms 2 single 6 1 1",
          "create_atoms 2 single 10 1 1", "mass * 1.0", "pair_style zero 6.0 nocoeff", "pair_coeff * *", "neighbor 0.3 bin",
          "group na id 1", "group ow id 2:4", "group left id 1 3", "group right id 2 4", "thermo 1"]


def run(*lines, units="metal", ranks=1):
    return coordtest.run_lammps([*(line.format(units=units) for line in SYSTEM), *lines], ranks)


def warnings_of(text):
    return re.findall(r"^WARNING: (Compute .*) \(\S+:\d+\)$", text, re.MULTILINE)


class Intensive(unittest.TestCase):
    def test_thermo(self):
        """LAMMPS divides extensive values by the number of atoms with norm yes."""
        columns = ["c_c", "c_c[1]", "c_f", "c_f[7]", "c_f[8]", "c_d"]
        found = {}
        for norm in "yes", "no":
            table = run(f"compute c all coord/gpu {NEAR} precision double",
                        f"compute f all coord/gpu {NEAR} function histogram 0.5 1.5 2 precision double",
                        'compute d all coord/custom "2*a" a c_c', "thermo_style custom step " + " ".join(columns),
                        f"thermo_modify norm {norm} format float %.15g", "run 1", units="lj").tables[0]
            self.assertAlmostEqual(table["c_c"][0], 2.0, 12)
            self.assertAlmostEqual(table["c_f"][0], 4.0, 12)
            self.assertAlmostEqual(table["c_d"][0], 4.0, 12)
            found[norm] = [table[name][0] for name in columns]
            # -r ds/dr = 6 t (1 - t) r/2 at 4 and 5, with t = 1/4 and 3/4
            self.assertAlmostEqual(table["c_c[1]"][0], 6 * 0.1875 / 2 * (4 + 5), 12)
        self.assertEqual(found["yes"], found["no"])


class Lines(unittest.TestCase):
    def line(self, text, ident="c", style="gpu", in_run=False):
        """Return the lines with S, which must be before the thermodynamic output, or in it."""
        parts = text.split("\n   Step ")
        lines = re.findall(rf"^Compute coord/{style} {ident}: (.*\bS .*)$", parts[1 if in_run else 0], re.MULTILINE)
        return [line for line in lines if " S summed " not in line and " S = " not in line]

    def test_groups_and_value(self):
        pairs = f"{coordtest.folder()}/pairs"
        with open(pairs, "w") as file:
            file.write("1 2\n3 4\n3 1\n")
        half = ", half of the mean coordination number: norm mean counts each pair once"
        cases = [
            (f"na coord/gpu group2 ow {NEAR}", "na (1 atom) with ow (3 atoms), S 1.15625"),
            (f"na coord/gpu group2 ow {NEAR} norm mean", "na (1 atom) with ow (3 atoms), S 1.15625"),
            (f"all coord/gpu {NEAR}", "all (4 atoms), S 2"),
            (f"all coord/gpu {NEAR} norm mean", "all (4 atoms), S 0.5" + half),
            (f"all coord/gpu {NEAR} norm mean engine allpairs", "all (4 atoms), S 0.5" + half),
            (f"all coord/gpu group2 all {NEAR} norm mean", "all (4 atoms) with all (4 atoms), S 1"),
            (f"all coord/gpu {NEAR} function sum norm mean", "all (4 atoms), S 1"),
            (f"all coord/gpu {NEAR} function max 0.01", "all (4 atoms), S 1.15625"),
            (f"left coord/gpu pairs right {NEAR}", "left (2 atoms) paired with right (2 atoms), S 1.84375"),
            (f"left coord/gpu pairs/file {pairs} {NEAR}", "left (2 atoms), 3 pairs of pairs/file, S 2"),
        ]
        for words, expected in cases:
            for ranks in (1, 2) if "mean" in words or "pairs" in words else (1,):
                with self.subTest(words, ranks=ranks):
                    text = run(f"compute c {words}", "thermo_style custom step c_c", "run 1", "run 1", ranks=ranks).text
                    in_run = " pairs" in words    # their errors must not stop runs without them
                    self.assertEqual(self.line(text, in_run=in_run), [expected], text)
                    self.assertEqual(text.count(f"Compute coord/gpu c: {expected}"), 1, text)    # in both runs

    def test_order_parameters(self):
        words = [("orientorder", "l 6 order global switch cubic d0 3.5 dmax 5.5", "all (4 atoms), S "),
                 ("envsim", "structure sc 3.0 sigma 0.1", "all (4 atoms), S "),
                 ("pairentropy", "cutoff 5.0 sigma 0.1 bins 100", "all (4 atoms), S ")]
        for style, keywords, expected in words:
            result = run(f"compute c all coord/{style} {keywords}", "thermo_style custom step c_c", "run 0")
            line, = self.line(result.text, style=style)
            self.assertTrue(line.startswith(expected), line)
            self.assertAlmostEqual(float(line[len(expected):]), result.tables[0]["c_c"][0], 4)

    def test_expression(self):
        text = run(f"compute c all coord/gpu {NEAR}", f"compute e na coord/gpu group2 ow {NEAR}",
                   'compute d all coord/custom "2*a - b" a c_c b c_e', "thermo_style custom step c_d", "run 0", "run 0").text
        self.assertEqual(re.findall("^Compute coord/custom d: (S 2.*)$", text, re.MULTILINE), ["S 2.84375 with a 2, b 1.15625"])
        self.assertEqual(self.line(text), ["all (4 atoms), S 2"])
        self.assertEqual(self.line(text, "e"), ["na (1 atom) with ow (3 atoms), S 1.15625"])

    def test_with_a_bias(self):
        """S is printed once, before the output of the run, also if only a fix uses the variable."""
        text = run(f"compute c na coord/gpu group2 ow {NEAR}", "fix b all coord/bias c_c linear k 1.0", "run 1").text
        self.assertEqual(self.line(text), ["na (1 atom) with ow (3 atoms), S 1.15625"])

    def test_again_after_a_change(self):
        text = run(f"compute c na coord/gpu group2 ow {NEAR}", "thermo_style custom step c_c", "run 0", "group na id 3",
                   "group ow clear", "group ow id 2 4", "run 0", "run 0").text
        self.assertEqual(re.findall(r"^Compute coord/gpu c: (na .*)$", text, re.MULTILINE),
                         ["na (1 atom) with ow (3 atoms), S 1.15625", "na (2 atoms) with ow (2 atoms), S 1.84375"])

    def test_dynamic_group(self):
        text = run("variable late atom id>1", "group some dynamic all var late", f"compute c na coord/gpu group2 some {NEAR}",
                   "thermo_style custom step c_c", "run 1", "run 1").text
        self.assertEqual(self.line(text), ["na (1 atom) with some (3 atoms), S 1.15625"])
        self.assertEqual(warnings_of(text), [])


class NoPair(unittest.TestCase):
    """A range in nm, where LAMMPS reads Angstrom."""

    maxDiff = None
    UNITS = " - are its lengths in Angstrom, as units metal requires?"
    WARNING = ("Compute coord/{} c: no atom of group {} has a partner within {}, {} and a bias has no force: the nearest pair is "
               "{} apart{} - are its lengths in {}, as units {} requires?")

    def expected(self, group, r, style="gpu", reach="dmax 0.18", result="S is 0", more="", unit="Angstrom", units="metal"):
        return self.WARNING.format(style, group, reach, result, r, more, unit, units)

    def check(self, words, warning, ranks=(1,), units="metal", runs=1):
        for n in ranks:
            with self.subTest(words, ranks=n):
                text = run(f"compute c {words}", "thermo_style custom step c_c", *["run 1"] * runs, units=units, ranks=n).text
                self.assertEqual(warnings_of(text), [warning] * runs if warning else [], text)

    def test_engines(self):
        for engine in "cells", "allpairs":
            self.check(f"na coord/gpu group2 ow {FAR} engine {engine}", self.expected("na", 3), BOTH)
            self.check(f"ow coord/gpu {FAR} norm mean engine {engine}", self.expected("ow", 4))
            self.check(f"ow coord/gpu {FAR} engine {engine} function more_than rational 1",
                       self.expected("ow", 4, result="all coordination numbers are 0"), BOTH)
        self.check(f"left coord/gpu pairs right {FAR}", self.expected("left", 3), BOTH)
        pairs = f"{coordtest.folder()}/far"
        with open(pairs, "w") as file:
            file.write("3 4\n1 3\n")
        for more, result in ("", "S is 0"), (" function less_than rational 1", "all coordination numbers are 0"):
            self.check(f"left coord/gpu pairs/file {pairs} {FAR}{more}", self.expected("left", 4, result=result), BOTH)

    def test_functions_and_units(self):
        for switch in ("rational 0.1", "exp 0.1", "gaussian 0.1", "smap 0.1 a 2 b 3", "tanh 0.1", "q ref 0.05 beta 50"):
            self.check(f"na coord/gpu group2 ow switch {switch} dmax 0.18", self.expected("na", 3))
        for units, unit in ("lj", "sigma"), ("real", "Angstrom"), ("electron", "Bohr"), ("nano", "nanometers"):
            self.check(f"na coord/gpu group2 ow {FAR}", self.expected("na", 3, unit=unit, units=units), units=units)

    def test_types(self):
        """The pair that lacks least to its own dmax is named: 4, beyond 3.5, and not 3, beyond 0.18."""
        self.check(f"all coord/gpu {FAR} coeff 2 2 cubic d0 3 dmax 3.5",
                   self.expected("all", 4, reach="dmax of coeff 2 2 3.5"))
        self.check(f"na coord/gpu group2 ow {FAR} coeff 2 2 cubic d0 3 dmax 3.5",
                   self.expected("na", 3, reach="dmax of coeff 2 2 3.5", more=", beyond the dmax 0.18 of its types"))

    def test_each_run_once(self):
        self.check(f"na coord/gpu group2 ow {FAR}", self.expected("na", 3), runs=2)
        self.check(f"na coord/gpu group2 ow {FAR} function more_than exp 1",
                   self.expected("na", 3, result="all coordination numbers are 0"), runs=2)

    def test_one_atom(self):
        warning = ("Compute coord/{} c: group na has one atom and no second group, {} and a bias has no force - name the group of "
                   "its partners by group2, or use a larger group")
        self.check(f"na coord/gpu {NEAR}", warning.format("gpu", "S is 0"))
        self.check(f"na coord/gpu {NEAR} function more_than rational 1", warning.format("gpu", "all coordination numbers are 0"))
        self.check(f"na coord/orientorder {NEAR}", warning.format("orientorder", "all order parameters are 0"))

    def test_range_without_end(self):
        self.check("na coord/gpu group2 ow switch gaussian 0.01 image minimum",
                   "Compute coord/gpu c: s is 0 for all pairs of group na, S is 0 and a bias has no force: the nearest pair is 3 "
                   "apart" + self.UNITS)
        self.check("na coord/gpu group2 ow switch gaussian 1.0 image minimum", None)

    def test_small_values_without_end(self):
        """s of the nearest pair, which is 3 apart, in closed form; S is about the same: the other pairs are 4 and 5 apart."""
        for switch, s in (("exp 0.3", np.exp(-10)), ("rational 0.12 nn 6 mm 12 dmax INF", 1 / (1 + 25.0**6)),
                          ("gaussian 0.6", np.exp(-12.5))):
            text = run(f"compute c na coord/gpu group2 ow switch {switch} image minimum", "thermo_style custom step c_c", "run 0").text
            warning, = warnings_of(text)
            found = re.fullmatch(r"Compute coord/gpu c: s is almost 0 for all pairs of group na, S is (\S+) and a bias has almost no "
                                 r"force: the nearest pair is 3 apart with s = (\S+)" + re.escape(self.UNITS), warning)
            self.assertTrue(found, warning)
            self.assertAlmostEqual(float(found[2]) / s, 1, delta=0.01)
            self.assertTrue(0.99 < float(found[1]) / s < 1.3, warning)
        self.check("na coord/gpu group2 ow switch exp 0.6 image minimum", None)    # s = 0.0067

    def test_small_values_with_end(self):
        """Pairs in range of a dmax in Angstrom, with an r0 in nm."""
        for switch, s in (("rational 0.26 nn 6 mm 12 dmax 6 nostretch", 1 / (1 + (3 / 0.26)**6)),
                          ("gaussian 0.5 dmax 4 nostretch", np.exp(-18))):
            text = run(f"compute c na coord/gpu group2 ow switch {switch}", "thermo_style custom step c_c", "run 0").text
            warning, = warnings_of(text)
            found = re.fullmatch(r"Compute coord/gpu c: s is almost 0 for all pairs of group na, S is (\S+) and a bias has almost no "
                                 r"force: the nearest pair is 3 apart with s = (\S+)" + re.escape(self.UNITS), warning)
            self.assertTrue(found, text)
            self.assertAlmostEqual(float(found[2]) / s, 1, delta=0.01)
        self.check("na coord/gpu group2 ow switch gaussian 0.01 dmax 4",
                   "Compute coord/gpu c: s is 0 for all pairs of group na, S is 0 and a bias has no force: the nearest pair is 3 "
                   "apart" + self.UNITS, BOTH)
        self.check("na coord/gpu group2 ow switch rational 1.0 dmax 6 nostretch", None)    # s = 0.0014

    def test_beta(self):
        """Functions that are mostly the logarithm of the number of atoms, next to the extreme of the column of the atoms."""
        for words, warning in (("min 0.1", "min beta 0.1 gives {}, but the smallest of the coordination numbers is {} - give a larger beta"),
                               ("alt_min 0.1", "alt_min beta 0.1 gives {}, but the smallest of the coordination numbers is {} - give a "
                                "larger beta"),
                               ("max 10", "max beta 10 gives {}, but the largest of the coordination numbers is {} - give a smaller "
                                "beta"), ("min 100", None), ("alt_min 100", None), ("max 0.01", None)):
            for ranks in (1, 2):
                with self.subTest(words, ranks=ranks):
                    text = run(f"compute c all coord/gpu {NEAR} function {words}", f"compute n all coord/gpu {NEAR}",
                               f"compute r all reduce {words.split()[0][-3:]} c_n[1]", "thermo_style custom step c_c c_n c_r",
                               "thermo_modify format float %.6g", "run 0", ranks=ranks).text
                    value, _, number = re.search(r"^ +0 +(\S+) +(\S+) +(\S+) *$", text, re.MULTILINE).groups()
                    expected = warning and "Compute coord/gpu c: function " + warning.format(value, number)
                    self.assertEqual(warnings_of(text), [expected] if expected else [], text)

    def test_beta_of_order_parameters(self):
        """Once in a run, although each evaluation looks for partners."""
        text = run(f"compute c all coord/orientorder l 6 {NEAR} function max 5", "thermo_style custom step c_c", "thermo 1", "run 5",
                   "run 5").text
        self.assertEqual(len(warnings_of(text)), 2, text)
        for warning in warnings_of(text):
            self.assertRegex(warning, "function max beta 5 gives .* - give a smaller beta$")

    def test_no_pair_of_the_types(self):
        """Atoms whose types have no function, and a group whose second group is the same single atom."""
        warning = ("Compute coord/gpu c: there is no pair of atoms of these groups and types, S is 0 and a bias has no force - "
                   "check group2 and coeff")
        self.check("ow coord/gpu switch none coeff 1 1 cubic d0 1 dmax 5", warning, BOTH)
        self.check(f"na coord/gpu group2 na {NEAR}", warning, BOTH)
        self.check(f"na coord/orientorder order average {NEAR}", "Compute coord/orientorder c: group na has one atom and no second "
                   "group, all order parameters are 0 and a bias has no force - use a larger group")

    def test_order_parameters(self):
        for words, more in (("orientorder {} group2 ow switch cubic d0 0.12 dmax 0.18", {"result": "all order parameters are 0"}),
                            ("envsim {} group2 ow structure sc 0.3 sigma 0.01",
                             {"reach": "reach (longest vector + cutoff*sigma) 0.38", "result": "all similarities are 0"}),
                            ("pairentropy {} group2 ow cutoff 0.5 sigma 0.01 bins 100",
                             {"reach": "cutoff 0.5", "result": "S is that of g = 0"})):
            style = words.split()[0]
            self.check("na coord/" + words.replace("{} ", ""), self.expected("na", 3, style=style, **more), BOTH)

    def test_expression(self):
        """A variable warns, with or without an expression of it."""
        text = run(f"compute c na coord/gpu group2 ow {FAR}", 'compute d all coord/custom "2*a" a c_c',
                   "fix b all coord/bias c_d linear k 1.0", "run 1").text
        self.assertEqual(warnings_of(text), [self.expected("na", 3)], text)

    def test_none(self):
        """Pairs in range, also where s is 0 at their distance, and empty groups."""
        for words in (f"na coord/gpu group2 ow {NEAR}", f"all coord/gpu {NEAR} function less_than rational 1",
                      f"ow coord/gpu {NEAR} function between 7 8"):
            self.check(words, None)
        text = run("group two id 2", "compute c na coord/gpu group2 two switch custom 3.0 func 1-x^2 dmax 5 nostretch",
                   "thermo_style custom step c_c", "run 0").text
        self.assertIn("c: na (1 atom) with two (1 atom), S 0\n", text)
        self.assertEqual(warnings_of(text), [])
        # s is 0 at the nearest pair, which is 3 apart, and 1 for those that are 4 apart.
        self.check("all coord/gpu switch custom 1.0 func exp(-20*(x-4)^2) dmax 4.5 nostretch", None)
        text = run("group none empty", f"compute c na coord/gpu group2 none {FAR}", "thermo_style custom step c_c", "run 0").text
        self.assertEqual(warnings_of(text), ["Compute coord/gpu c: group none is empty, S is 0"])

    def test_rerun(self):
        """Once for all frames."""
        words = {"c": f"na coord/gpu group2 ow {FAR}", "d": "ow coord/orientorder switch cubic d0 0.12 dmax 0.18",
                 "e": f"none coord/gpu {FAR}"}
        computes = [f"compute {ident} {text}" for ident, text in words.items()]
        text = run("group none empty", *computes, "thermo_style custom step c_c c_d c_e", "dump d all atom 1 frames",
                   "run 4", "undump d", "rerun frames dump x y z").text
        found = [line.split(": ")[0][-1] for line in warnings_of(text)]
        self.assertEqual({ident: found.count(ident) for ident in words}, {"c": 2, "d": 2, "e": 2}, text)
        self.assertEqual(text.count("c: na (1 atom) with ow (3 atoms), S 0\n"), 1)

    def test_sample(self):
        """In large systems a part of the atoms is compared with all others."""
        text = coordtest.run_lammps([
            "units metal", "lattice sc 2.5", "region box block 0 20 0 20 0 20", "create_box 1 box", "create_atoms 1 box",
            "mass * 1.0", "pair_style zero 3.0 nocoeff", "pair_coeff * *", f"compute c all coord/gpu {FAR}",
            "thermo_style custom step c_c", "run 0"], 2).text
        self.assertEqual(warnings_of(text), [self.expected("all", 2.5).replace("nearest pair is", "nearest pair of a sample is")])


if __name__ == "__main__":
    unittest.main()
