"""Bad input of compute coord/orientorder stops LAMMPS on all ranks with a message that names the
value, the limit and the way out."""
# Processors: 2
# Without: gpu

import math
import re
import unittest

import errortest
from errortest import PRINT_S, SYSTEM, commands, error_of, errors_in, run_script, start, start_all

STYLE = "compute coord/orientorder"
COMPUTE = "compute c a coord/orientorder "
KEYWORDS = "l, order, group2, switch, coeff, function, within, norm, wl/hat, precision, device, check"
RATIONAL = "nn, mm, d0, dmax, nostretch"
SWITCHES = "rational, exp, gaussian, smap, cubic, tanh, cosinus, q, custom"
GOOD = "switch cubic dmax 3.0"
NO_DMAX = "dmax is missing - give a dmax near the first minimum of the radial distribution function"
ENDLESS = "dmax is infinite, but partners need a finite range - give a finite dmax"
NEGATIVE = ("Compute coord/orientorder {}: s is {} at distance {}, but it weights partners and must not be negative - use an "
            "expression that is >= 0 up to dmax, or a smaller dmax")
# exp(-x) (1 - x)^3 is smallest at x = 4; the stretch to 1 and 0 at 9 changes it little.
ENDS = math.exp(-9) * (1 - 9)**3
STRETCHED = (f"{(-27 * math.exp(-4) - ENDS) / (1 - ENDS):.6g}", 4)
NO_GROUP2 = ("Compute coord/orientorder order {} compares atoms with partners of the same group and takes no group2 - leave "
             "group2 out, or use order local or global")
ONE_NUMBER = "Compute coord/orientorder order global is one number of all atoms and takes no "
NOT_FINITE = "is not a finite number - the simulation is unstable, or positions were set wrongly"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
ARGUMENTS = [
    # Keywords of this style alone.
    (f"{GOOD} l [1]", "Compute coord/orientorder: l is 1 but must be 2 to 12"),
    (f"l [13] {GOOD}", "Compute coord/orientorder: l is 13 but must be 2 to 12"),
    (f"l [6.5] {GOOD}", "Compute coord/orientorder l must be an integer, not '6.5'"),
    (f"l 6 {GOOD} [l] 4", "Compute coord/orientorder takes one l, but a second one is given"),
    (f"wl/hat no {GOOD} [wl/hat] yes", "Compute coord/orientorder takes one wl/hat, but a second one is given"),
    (f"{GOOD} wl/hat [maybe]", "Unknown compute coord/orientorder wl/hat option: maybe - known are yes, no"),
    (f"{GOOD} order [q6]", "Unknown compute coord/orientorder order option: q6 - known are local, average, dot, connections, "
     "global"),
    (f"{GOOD} order dot [order] dot", "Compute coord/orientorder takes one order, but a second one is given"),
    (f"{GOOD} order connections [step] 1", f"Unknown {STYLE} order connections option: step - known are {SWITCHES}"),
    (f"{GOOD} order connections [rational]", "Compute coord/orientorder order connections rational needs r0, for example: "
     "rational 1.5"),
    (f"{GOOD} order connections rational [-1]", "Compute coord/orientorder order connections rational: r0 is -1 but must be > 0 "
     "and finite"),
    (f"{GOOD} order connections rational 0.5 [bogus]", f"Unknown {STYLE} order keyword: bogus - connections rational "
     f"takes {RATIONAL}, then optionally {KEYWORDS}"),

    # Orders that contradict other keywords.
    (f"{GOOD} order global function [sum]", ONE_NUMBER + "function sum - leave function out, or use another order"),
    (f"function [more_than] rational 0.5 {GOOD} order global",
     ONE_NUMBER + "function more_than - leave function out, or use another order"),
    (f"{GOOD} order global [norm] mean", ONE_NUMBER + "norm - leave norm out, or use another order"),
    (f"{GOOD} order global [within] z 1 2 smear 1", ONE_NUMBER + "within - leave within out, or use another order"),
    (f"{GOOD} order global l [3]", "Compute coord/orientorder order global is 0 for l = 3 and all odd l, because both atoms of "
     "a pair cancel - use an even l, group2, or another order"),
    (f"{GOOD} order average [group2] b", NO_GROUP2.format("average")),
    (f"[group2] b {GOOD} order dot", NO_GROUP2.format("dot")),
    (f"[group2] b order connections rational 0.5 {GOOD}", NO_GROUP2.format("connections")),
    (f"{GOOD} function moment 2 [norm] mean", "Compute coord/orientorder function moment is not a sum over atoms and takes no norm "
     "- leave norm out"),

    # The range.
    *((f"switch [{kind}] 1.0", f"Compute coord/orientorder switch {kind}: {NO_DMAX}") for kind in (
        "rational", "exp", "gaussian", "tanh")),
    ("switch [rational] 1.0 nn 6 mm 12 d0 0.5 order connections rational 0.5 dmax 2",
     f"Compute coord/orientorder switch rational: {NO_DMAX}"),
    *((f"{GOOD} coeff 1 1 [{kind}] 1.0", f"Compute coord/orientorder coeff 1 1 {kind}: {NO_DMAX}") for kind in (
        "rational", "exp", "gaussian")),
    ("switch [rational] 1.0 coeff 1 1 cubic d0 1.2 dmax 1.5", f"Compute coord/orientorder switch rational: {NO_DMAX}"),
    *((f"switch [{kind}] 1.0 dmax INF", f"Compute coord/orientorder switch {kind}: {ENDLESS}") for kind in (
        "rational", "exp")),
    (f"{GOOD} coeff 1 1 [gaussian] 1.0 dmax INF", f"Compute coord/orientorder coeff 1 1 gaussian: {ENDLESS}"),

    # Negative switching functions: the smallest value and its distance follow from the expressions.
    *((f"order {order} switch [custom] {words}", NEGATIVE.format("switch custom", smallest, r))
      for order in ("local", "average", "dot", "global", "connections rational 0.5")
      for words, smallest, r in (("2.0 func 1-2*x dmax 4 nostretch", -3, 4), ("1.0 func cos(x) dmax 4 nostretch", -1, "3.14159"),
                                 ("1.0 func exp(-x)*(1-x)^3 dmax 9", *STRETCHED))),
    (f"{GOOD} coeff 1 1 [custom] 1.0 func sin(9.0*x)/(9.0*x+1e-12) dmax 3 nostretch",
     NEGATIVE.format("coeff 1 1 custom", -0.217234, "0.499268")),

    # Keywords of compute coord/gpu: those that this style shares, and those that it lacks.
    ("[compute] c a coord/orientorder l 6",
     "Compute coord/orientorder needs a switching function, for example: switch cubic d0 1.2 dmax 1.5"),
    (f"{GOOD} [switch] exp 1.0", "Compute coord/orientorder takes one switch, but a second one is given"),
    ("switch [step] 1.0", f"Unknown {STYLE} switch option: step - known are {SWITCHES}, none"),
    ("switch rational 1.0 d0 [-0.5]", "Compute coord/orientorder switch rational: d0 is -0.5 but must be >= 0 and finite"),
    ("switch rational 1.0 [bogus] 3", f"Unknown {STYLE} keyword: bogus - switch rational takes {RATIONAL}, then "
     f"optionally {KEYWORDS}"),
    (f"[nn] 6 {GOOD}", f"Unknown {STYLE} keyword: nn - known are {KEYWORDS}; those of a switching function follow it"),
    (f"[cubic] {GOOD}", f"Unknown {STYLE} keyword: cubic - did you mean switch cubic?"),
    *((f"[{keyword}] b {GOOD}", f"Unknown {STYLE} keyword: {keyword} - known are {KEYWORDS}; those of a switching function "
       "follow it") for keyword in ("pairs", "pairs/file", "image", "engine")),
    ("group2 [nix] switch exp 1.0",
     "Compute coord/orientorder group2: group nix does not exist - define it before the compute"),
    (f"group2 b [group2] b {GOOD}", "Compute coord/orientorder takes one group2, but a second one is given"),
    (f"{GOOD} function sum [function] sum", "Compute coord/orientorder takes one function, but a second one is given"),
    (f"{GOOD} function min [0]", "Compute coord/orientorder function min: beta is 0 but must be > 0 and finite"),
    (f"{GOOD} function custom [2]", "Compute coord/orientorder function custom: the expression '2' does not depend on s - write "
     "it in s"),
    (f"{GOOD} norm [max]", "Unknown compute coord/orientorder norm option: max - known are sum, mean"),
    (f"{GOOD} precision [half]", "Unknown compute coord/orientorder precision option: half - known are mixed, double"),
    (f"{GOOD} precision [single]", "Compute coord/orientorder has no precision single - use precision mixed, which has the same "
     "results"),
    (f"{GOOD} device [gpu]", "Unknown compute coord/orientorder device option: gpu - known are auto, cuda, host"),
    (f"{GOOD} check [0] 1e-8", "Compute coord/orientorder check interval is 0 but must be a number of evaluations > 0"),
    (f"{GOOD} check 1 [0]", "Compute coord/orientorder check tolerance is 0 but must be > 0"),
    (f"{GOOD} check 1 [x]", "Compute coord/orientorder check tolerance must be a number, not 'x'"),
    *((f"{words}", f"Illegal {STYLE} {missing} command: missing argument(s)") for words, missing in (
        ("l", "l"), ("order", "order"), ("order connections", "order connections"), ("switch", "switch"), ("group2", "group2"),
        ("coeff 1", "coeff"), ("function", "function"), ("norm", "norm"), ("precision", "precision"), ("device", "device"),
        ("wl/hat", "wl/hat"), ("check 1", "check"))),
]

NAN = "variable bad atom exp(1000)-exp(1000)\n"
# Scripts whose last line must fail.
RUNS = {
    "group2 deleted": (f"compute c a coord/orientorder group2 short {GOOD}\ngroup short delete\nrun 0",
                       "Compute coord/orientorder c: group short no longer exists - keep it while the compute uses it"),
    "too few ghost atoms": (
        "compute c all coord/orientorder switch cubic dmax 3.5\nrun 0",
        "Compute coord/orientorder c: dmax plus skin 3.8 exceeds the ghost atom range 3.3 - use comm_modify cutoff 3.8 or more"),
    "too many ghost atoms": (
        "comm_modify cutoff 10001\ncompute c all coord/orientorder switch cubic dmax 1e4\nrun 0",
        "Compute coord/orientorder c: the ghost atom range 10001 of the comm_modify cutoff is so long that LAMMPS would need about "
        "5.1e+11 atoms per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller comm_modify cutoff and "
        "dmax"),
    "comm_modify group": (
        f"atom_modify first a\ncomm_modify group a\ncompute c all coord/orientorder {GOOD}\nrun 0",
        "Compute coord/orientorder c: cannot use the ghost atoms of comm_modify group - remove it"),
    "comm_modify mode multi": (
        f"neighbor 0.3 multi\ncomm_modify mode multi\ncompute c all coord/orientorder {GOOD}\nrun 0",
        "Compute coord/orientorder c: cannot use the ghost atoms of comm_modify mode multi - use mode single"),
    "a function without a value": (
        f"group one id 5\ncompute c one coord/orientorder group2 empty {GOOD} function custom log(s)\nrun 0",
        "Compute coord/orientorder c: function custom log(s) or its derivative is not a finite number at order parameter = 0 of "
        "atom ID 5 - use a function that is finite and smooth at all order parameters"),
    "NaN": (f"{NAN}compute c all coord/orientorder {GOOD}\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
            f"Compute coord/orientorder c: the position of atom ID 12 {NOT_FINITE}"),
    "NaN with average": (
        f"{NAN}compute c all coord/orientorder {GOOD} order average function max 1\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
        f"Compute coord/orientorder c: the position of atom ID 12 {NOT_FINITE}"),
    "NaN in the second group": (
        f"{NAN}compute c a coord/orientorder group2 b {GOOD}\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
        f"Compute coord/orientorder c: the position of atom ID 12 {NOT_FINITE}"),
    "a bias of a histogram": (
        f"compute c all coord/orientorder {GOOD} function histogram 0 1 4\nfix b all coord/bias c_c harmonic k 1 s0 0",
        "Fix coord/bias cannot take compute c: its function histogram is for output only - bias a function such as between"),
}


def with_output(script):
    """Return the script with S in the thermodynamic output after the definition of compute c."""
    return re.sub(r"^(compute c .*)\n", rf"\1\n{PRINT_S}", script, flags=re.MULTILINE)


def tearDownModule():
    start().finalize()    # mpirun reports an error for a rank that ends without this call


class Errors(errortest.InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = words if words.startswith("[compute]") else COMPUTE + words
            with self.subTest(words):
                found = error_of(self.lmp, re.sub(r"[][]", "", marked))
                found = (found[0].split("\nFor more information")[0], found[1] if "[" in marked else None)
                self.assertEqual(found, (message, marked if "[" in marked else None))
                self.assertFalse(self.lmp.has_id("compute", "c"))

    def test_runs(self):
        for name, (script, message) in RUNS.items():
            if name == "comm_modify mode multi" and errortest.KOKKOS:
                continue
            *before, last = with_output(script).split("\n")
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, "\n".join(before))
                self.assertEqual(error_of(self.lmp, last)[0], message)

    def test_on_ranks(self):
        """One message and no hang, also where one rank alone fails."""
        names = ["NaN", "NaN with average", "NaN in the second group", "a function without a value", "group2 deleted"]
        scripts = [(SYSTEM + with_output(RUNS[name][0]) + "\n", ranks) for name in names for ranks in (2, 4)]
        for (script, ranks), future in zip(scripts, start_all(run_script, scripts)):
            code, output = future.result()
            name, = (name for name in names if with_output(RUNS[name][0]) in script)
            with self.subTest(name, ranks=ranks):
                self.assertNotEqual(code, 0)
                self.assertEqual(errors_in(output), [RUNS[name][1]], output)

    def test_small_values_are_not_negative(self):
        """Rounding errors of functions that end at 0 are no negative values."""
        for k, words in enumerate(("custom 2.5 func (1-x)^2*(1+2*x) dmax 2.5 nostretch", "custom 2.5 func 1-3*x^2+2*x^3 dmax 2.5",
                                   "custom 2.5 func (1+cos(3.14159265358979*x))/2 dmax 2.5 nostretch", "cosinus 2.5 dmax 2.5",
                                   "tanh 0.5 dmax 2.5", "smap 0.3 a 40 b 0.7 dmax 2.5", "smap 2 a 0.01 b 9 dmax 2.5 nostretch",
                                   "rational 0.1 nn 3 mm 500 dmax 2.5", "q ref 1 beta 50 dmax 2.5 d0 0.5",
                                   "rational 30 dmax 2.5", "gaussian 100 dmax 2.5")):
            self.lmp.command(f"compute c{k} all coord/orientorder switch {words} precision double")

    def test_negative_values_next_to_large_ones(self):
        """The minimum of 1/x^12-1/x^6 is -1/4 at x = 2^(1/6); values at small distances are above 1e30."""
        message = error_of(self.lmp, "compute c all coord/orientorder switch custom 1.0 func 1/x^12-1/x^6 dmax 2.5 nostretch")[0]
        self.assertIn("-0.25", message)
        self.assertIn("1.1224", message)

    def test_check_fails(self):
        commands(self.lmp, f"compute c all coord/orientorder l 6 {GOOD} precision mixed check 1 1e-14\n{PRINT_S}")
        self.assertRegex(error_of(self.lmp, "run 0")[0], r"^Compute coord/orientorder c: check: S \(before norm\) differs by \S+ from "
                         r"the reference of magnitude \S+, more than \S+ - use a higher precision, or report a bug$")
        commands(self.lmp, "thermo_style one\nuncompute c\n"
                 f"compute c all coord/orientorder l 6 {GOOD} precision double check 1 1e-9\n{PRINT_S}run 0")

    def test_no_variable(self):
        self.lmp.command("compute ke all ke")
        self.assertEqual(error_of(self.lmp, "fix b all coord/bias c_ke harmonic k 1 s0 2")[0],
                         "Fix coord/bias biases collective variables (computes of style coord/gpu, coord/orientorder, "
                         "coord/envsim, coord/pairentropy, coord/geometry, coord/shape, coord/energy, coord/volume or coord/custom), "
                         "but compute ke is of style ke")


if __name__ == "__main__":
    unittest.main(verbosity=2)
