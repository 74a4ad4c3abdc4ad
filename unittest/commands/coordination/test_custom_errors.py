"""Bad input of compute coord/custom stops LAMMPS on all ranks with a message that names the value, the limit and the
way out."""
# Processors: 2
# Without: gpu

import os
import re
import tempfile
import unittest

import coordtest
import errortest
from errortest import (GOOD, PRINT_S, SYSTEM, commands, error_of, errors_in, expected_of_good, few, run_script, shortened,
                       start, start_all, value, without_suffix)

VARIABLES = """
compute cv a coord/gpu group2 b switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute cw all coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute zero empty coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute ke all ke
"""
SYSTEM += VARIABLES
CUSTOM = "compute d all coord/custom "
DIFFERENCE = CUSTOM + '"v - w" v c_cv w c_cw\n'
FIX = "fix b all coord/bias "

NAME = "' is not a name - use letters, digits and _, and no digit first, and put an expression with spaces in quotes"
VARIABLE = " must be a compute, as c_ID, not '{}'"
WRITE = " - write it in v, w with + - * / ^ ( ) and functions such as exp()"

PERIODIC = (": keyword periodic takes the two ends of the period, as in periodic -pi pi, at the end of the command, but has {} "
            "words after it")
END = ": the end of a period must be a number, pi or -pi, not '{}'"
LENGTH = ": the period from {}, but it must be > 0 and finite - give the lower end first"

# Words of each bad command, [] around the one that LAMMPS must mark by ^^^, and the message after 'Compute coord/custom'.
ARGUMENTS = [
    ("[v-w]", " needs a name and a variable, as c_ID, for each name in the expression 'v-w'"),
    ("v-w [1v] c_cv", ": '1v" + NAME),
    ("v [-] w v c_cv w c_cw", ": '-" + NAME),    # an expression without quotes
    ("v-w v c_cv [v] c_cw", ": the name v is given twice - give each name once"),
    ("v-w v c_cv [w]", ": the name w needs a compute, as c_ID, after it"),
    ("v-w v c_cv w [cw]", ": w" + VARIABLE.format("cw")),
    ("v-w v [c_] w c_cw", ": v" + VARIABLE.format("c_")),
    ("v-w v [v_cv] w c_cw", ": v" + VARIABLE.format("v_cv")),
    ("v-w v c_cv w [c_cw[2]]", " takes a whole variable, c_cw, not c_cw[2] - leave out the brackets"),
    ("v-w v c_cv w [c_cv]", ": compute cv is given twice, as v and as w - give each variable once"),
    ("v-w v c_cv w [c_nix]", ": compute nix does not exist - define it before this compute"),
    ("v-w v c_cv w [c_ke]", f" takes collective variables (computes of style {coordtest.VARIABLES}), but compute ke is of style ke"),
    ("v-w v c_cv w [c_d]", ": compute d cannot be a variable of itself - use another compute"),

    # the period of S, and of a variable
    ("v v c_cv [periodic]", PERIODIC.format(0)),
    ("v v c_cv [periodic] 1", PERIODIC.format(1)),
    ("v v c_cv [periodic] 0 1 w c_cw", PERIODIC.format(4)),
    ("v v c_cv periodic [cv] 0", END.format("cv")),
    ("v v c_cv periodic 0 [2*pi]", END.format("2*pi")),
    ("v v c_cv periodic 0 [nan]", END.format("nan")),
    ("v v c_cv periodic [pi] -pi", LENGTH.format("pi to -pi has the length -6.28319")),
    ("v v c_cv periodic [1] 1", LENGTH.format("1 to 1 has the length 0")),
    ("v v c_cv periodic [-1e308] 1e308", LENGTH.format("-1e308 to 1e308 has the length inf")),

    # the expression
    ("[v-u] v c_cv w c_cw", ": the expression 'v-u' has the unknown name u at character 3 - known are v, w"),
    ("2*v v c_cv [w] c_cw", ": the expression '2*v' does not use the name w - leave out the name, or use it"),
    ("[v-] v c_cv w c_cw", ": the expression 'v-' cannot be parsed: unexpected end of expression" + WRITE),
    ("[v*(w] v c_cv w c_cw", ": the expression 'v*(w' cannot be parsed: unbalanced parentheses" + WRITE),
    ("[v+ln(w)] v c_cv w c_cw", ": the expression 'v+ln(w)' cannot be parsed: unknown function: ln" + WRITE),
    ("[v+2e*w] v c_cv w c_cw", ": the expression 'v+2e*w' has the bad number 2e - write it like 1.5 or 2e-3"),
    ("[v*w+sqrt(-1)] v c_cv w c_cw", ": the expression 'v*w+sqrt(-1)' cannot be used: a constant part of it is not a "
     "number - use only finite constants, for example no 0/0 or sqrt(-1)"),
]

# Expressions that are too long, and the end of the message.
LONG = {
    "sum": ("+".join(600 * "v"), "it has, with its named parts written out, 1199 numbers, names and operations, but at most 1000 are "
            "supported - shorten it, or split it into several"),
    "signs": (100000 * "-" + "v", "it has, with its named parts written out, 100001 numbers, names and operations, but at most 1000 "
              "are supported - shorten it, or split it into several"),
    "parentheses": (100000 * "(" + "v" + 100000 * ")", "it has parentheses in parentheses, 100000 deep, but at most 1000 are "
                    "supported - leave out parentheses"),
    "functions": (2000 * "sqrt(" + "v" + 2000 * ")", "it has, with its named parts written out, 2001 numbers, names and operations, "
                  "but at most 1000 are supported - shorten it, or split it into several"),
    "parts": ("s0;" + "".join(f"s{k}=s{k + 1}*s{k + 1};" for k in range(60)) + "s60=v", "it has, with its named parts written out, "
              "1023 numbers, names and operations, but at most 1000 are supported - shorten it, or split it into several"),
    "product": ("*".join(300 * "v"), "its derivatives have about {} numbers, names and operations, but at most 10000 are supported - "
                "shorten products and functions of functions, or split it into several"),
    "nested": (300 * "sqrt(" + "v" + 300 * ")", "its derivatives have about {} numbers, names and operations, but at most 10000 are "
               "supported - shorten products and functions of functions, or split it into several"),
}

# Scripts whose last line must fail, after SYSTEM, and the message.
D = "Compute coord/custom d: "
E = D.replace("d:", "e:")
GONE = "compute {0} no longer exists - keep it while compute {1} uses it"
OTHER = "compute {0} was deleted and defined again - define compute {1} again after it"
SMOOTH = ", but must be finite - use an expression that is smooth at all values of its variables"
CV = VARIABLES.strip().split("\n")[0]
NESTED = DIFFERENCE + "compute e all coord/custom d^2 d c_d\n"
HARMONIC = "c_d harmonic k 1 s0 2\n"
RUNS = {
    # deleted variables
    "deleted before the run": (DIFFERENCE + "uncompute cw\nrun 0", D + GONE.format("cw", "d")),
    "replaced before the run": (DIFFERENCE + "uncompute cv\n" + CV + "\nrun 0", D + OTHER.format("cv", "d")),
    "replaced by another style": (DIFFERENCE + "uncompute cv\ncompute cv all ke\nrun 0", D + OTHER.format("cv", "d")),
    "deleted after the setup": (DIFFERENCE + FIX + HARMONIC + "run 0\nuncompute cv\nrun 1 pre no", D + GONE.format("cv", "d")),
    "replaced after the setup": (
        DIFFERENCE + FIX + HARMONIC + "run 0\nuncompute cv\n" + CV + "\nrun 1 pre no", D + OTHER.format("cv", "d")),
    "deleted two levels below": (NESTED + FIX + "c_e linear k 1\nrun 0\nuncompute cw\nrun 1 pre no", D + GONE.format("cw", "d")),
    "expression deleted": (NESTED + FIX + "c_e linear k 1\nrun 0\nuncompute d\nrun 1 pre no", E + GONE.format("d", "e")),
    "deleted before output": (DIFFERENCE + "run 0\nuncompute cw\nprint $(c_d)", D + GONE.format("cw", "d")),
    "replaced before output": (DIFFERENCE + "run 0\nuncompute cw\n" + VARIABLES.split("\n")[2] + "\nprint $(c_d[2])",
                               D + OTHER.format("cw", "d")),
    "dynamic group of a variable": (
        "variable y atom id<10\ngroup a dynamic all var y\n" + NESTED + FIX + "c_e linear k 1\nrun 0",
        "Fix coord/bias b: group a of compute e is dynamic, so S and the bias would jump - use a static group, and a "
        "switching function that lets atoms in and out smoothly"),

    # loops, which redefined computes would make
    "loop of two": (DIFFERENCE + "uncompute cv\ncompute cv all coord/custom 2*d d c_d",
        "Compute coord/custom: compute d is itself an expression of compute cv - variables must not form a loop, so use another "
        "compute ID"),
    "loop of three": (NESTED + "uncompute cv\ncompute cv all coord/custom 2*e+w w c_cw e c_e",
        "Compute coord/custom: compute e is itself an expression of compute cv - variables must not form a loop, so use another "
        "compute ID"),

    # values that are not finite
    "value nan": (CUSTOM + "sqrt(v-100) v c_cv\nrun 0", D + "S = sqrt(v-100) is not a number at v = {cv}" + SMOOTH),
    "value inf": (CUSTOM + "w/z w c_cw z c_zero\nrun 0", D + "S = w/z is inf at w = {cw}, z = 0" + SMOOTH),
    "derivative inf": (CUSTOM + "v+sqrt(z) v c_cv z c_zero\n" + FIX + "c_d linear k 1\nrun 0",
        D + "the derivative of S = v+sqrt(z) with respect to z is inf at v = {cv}, z = 0" + SMOOTH),
    "in the run": (CUSTOM + "sqrt(v-0.1) v c_cv\n" + FIX + "c_d linear k 1\nrun 0\nset group a x 0 y 0 z 0\nset group b x 5 y 5 "
        "z 5\nrun 1", D + "S = sqrt(v-0.1) is not a number at v = 0" + SMOOTH),
}
ON_RANKS = ["deleted after the setup", "replaced after the setup", "loop of two", "value inf", "derivative inf", "in the run"]
USES = "thermo_style custom step c_d\n"


def at_run_time(message):
    """Errors that depend on the system."""
    if "{c" in message:
        lmp = start()
        commands(lmp, SYSTEM + PRINT_S.replace("c_c", "c_cv c_cw") + "run 0")
        message = message.format(**{name: repr(lmp.extract_compute(name, 0, 0)) for name in ("cv", "cw")})
        lmp.close()
    return message


def script_of(name):
    """Return the lines of a script and its message. If no fix reads the values, thermo does."""
    script, message = RUNS[name]
    if FIX not in script and SMOOTH in message:
        script = script.replace("\nrun 0", "\n" + USES + "run 0")
    return script.split("\n"), message


def tearDownModule():
    start().finalize()    # mpirun reports a rank that ends without


class InProcess(errortest.InProcess):
    SYSTEM = SYSTEM

    def check_still_usable(self):
        """The corrected computes work, and their values follow from the definition."""
        for ident in ("fix", "b"), ("compute", "d"), ("compute", "e"):
            if self.lmp.has_id(*ident):
                self.lmp.command(f"un{ident[0]} {ident[1]}")
        commands(self.lmp, GOOD + "\ncompute d all coord/custom 3*c c c_c\n" + PRINT_S.replace("c_c", "c_c c_d") + "run 0")
        s = expected_of_good(self.lmp)
        self.assertAlmostEqual(value(self.lmp), s, delta=1e-5)
        self.assertAlmostEqual(self.lmp.extract_compute("d", 0, 0), 3 * s, delta=1e-4)
        commands(self.lmp, "thermo_style one\nuncompute d\nuncompute c")


class Arguments(InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            with self.subTest(words):
                plain = re.sub(r"\[(\S*?)\](?=\s|$)", r"\1", CUSTOM + words)
                self.assertEqual(error_of(self.lmp, plain), ("Compute coord/custom" + message, CUSTOM + words))
                self.assertFalse(self.lmp.has_id("compute", "d"))
        self.check_still_usable()

    def test_periodic_children(self):
        """S must join at the ends of the period of a variable, or jump by its own period."""
        self.lmp.command("compute p all coord/custom 2*v v c_cv periodic 0 3")
        for words, jump in (("3*p p [c_p]", "9 to 0"), ("abs(p-1) p [c_p]", "2 to 1"), ("2*p p [c_p] periodic 0 4", "6 to 0"),
                            ("p*v v c_cv p [c_p]", "2.055 to 0"), ("sin(p) p [c_p]", "0.14112 to 0")):
            with self.subTest(words):
                self.assertEqual(error_of(self.lmp, re.sub(r"[][]", "", CUSTOM + words)), (
                    f"Compute coord/custom: c_p has the period 3, but S jumps from {jump} at its end - use functions with this "
                    "period, such as its sine and cosine, or keyword periodic with a period of S that divides the jump",
                    CUSTOM + words))
        for words in "(p-1.5)^2 p c_p", "2*p p c_p periodic 0 3", "v+p p c_p v c_cv periodic -1.5 1.5", "v+cos(2/3*3.14159265358979*p) p c_p v c_cv":
            commands(self.lmp, CUSTOM + words + "\nrun 0\nuncompute d")
        self.check_still_usable()

    def test_too_long(self):
        """Each of these would take minutes and gigabytes, or overflow the stack."""
        for name, (expression, end) in LONG.items():
            with self.subTest(name):
                found, _ = error_of(self.lmp, CUSTOM + f'"{expression}" v c_cv')
                start = f"Compute coord/custom: the expression '{expression[:60]}...' is too long: "
                self.assertEqual(re.sub(r"about \d{5}", "about {}", found), start + end)
                for style, words, field in (
                        ("switch custom", f'switch custom 1.0 func "{expression}" dmax 3', "x"),
                        ("function custom", f'switch cubic dmax 3 function custom "{expression}"', "s")):
                    text = expression.replace("v", field)
                    found, _ = error_of(self.lmp, "compute d all coord/gpu " + words.replace(expression, text))
                    self.assertIn(f"Compute coord/gpu {style}: the expression '{text[:60]}...' is too long: ", found)
        self.check_still_usable()

    def test_long(self):
        """Within the limits: 300 variables, a product of 90, and parts."""
        names = " ".join(f"n{k} c_q{k}" for k in range(300))
        for k in range(300):
            self.lmp.command(f"compute q{k} a coord/gpu switch cubic d0 {1 + k / 1000} dmax 3.0 image minimum engine allpairs")
        for expression, words in (("+".join(f"n{k}" for k in range(300)), names), ("*".join(90 * ["n0"]), "n0 c_q0"),
                                  ("s0;" + "".join(f"s{k}=s{k + 1}*s{k + 1};" for k in range(8)) + "s8=n0", "n0 c_q0")):
            self.lmp.command(f'compute d all coord/custom "{expression}" {words}')
            self.lmp.command("uncompute d")

    def test_numbers(self):
        for number in ("1e400", "-1e999", "1" + 400 * "0"):
            with self.subTest(number):
                found, _ = error_of(self.lmp, CUSTOM + f"v+{number} v c_cv")
                plain = number.lstrip("-")
                shown = plain if len(plain) < 60 else plain[:60] + "..."
                self.assertEqual(found, f"Compute coord/custom: the expression 'v+{number}' has the number {shown}, but double "
                                 "precision ends at 1.8e308 - use a smaller number")
        for number, why in (("1e400", "the number 1e400, but double precision ends at 1.8e308 - use a smaller number"),
                            ("2e", "the bad number 2e - write it like 1.5 or 2e-3")):
            found, _ = error_of(self.lmp, f"compute d all coord/gpu switch custom 1.0 func {number}*x dmax 3")
            self.assertEqual(found, f"Compute coord/gpu switch custom: the expression '{number}*x' has {why}")

    def test_constant(self):
        """A function of atoms without x has no derivative."""
        for words in ("more_than custom 1.0 func 2 nostretch", "less_than custom 1.0 func 0*x+1 dmax 5 nostretch"):
            found, _ = error_of(self.lmp, f"compute d all coord/gpu switch cubic dmax 3 function {words}")
            self.assertIn("does not depend on x - write it in x", found)

    def test_quotes(self):
        """The expression is marked as it is written."""
        self.assertEqual(error_of(self.lmp, CUSTOM + '"v - u" v c_cv'), (
            "Compute coord/custom: the expression 'v - u' has the unknown name u at character 5 - known are v",
            CUSTOM + '["v - u"] v c_cv'))
        self.check_still_usable()

    def test_missing(self):
        self.assertEqual(error_of(self.lmp, CUSTOM.strip()),
                         ("Illegal compute coord/custom command: missing argument(s)", None))
        self.check_still_usable()

    def test_group(self):
        self.assertEqual(error_of(self.lmp, "compute d a coord/custom 2*v v c_cv"), (
            "Compute coord/custom group must be all, not a: S is of the atoms of the groups of its variables - use group all, "
            "and choose atoms by the groups of the variables", "compute d [a] coord/custom 2*v v c_cv"))
        self.check_still_usable()


class Unused(InProcess):
    """A variable that nothing uses stops no run. Its use, also by an expression, is an error."""

    def test_unused(self):
        pairs = os.path.join(coordtest.folder(), "missing.pairs")
        with open(pairs, "w") as file:
            file.write("1 2\n1 65\n")
        gpu = "compute u all coord/gpu switch cubic dmax 3.0 "
        cases = {
            "expression": ("compute u all coord/custom w/z w c_cw z c_zero", "Compute coord/custom u: S = w/z is inf at "),
            "pairs/file": (gpu + "pairs/file " + pairs, "Compute coord/gpu u: pairs/file names atom ID 65, which does not exist - "),
            "function": (gpu + "precision double function custom log(s-100)",
                         "Compute coord/gpu u: function custom log(s-100) or its derivative is not a finite number at s = "),
        }
        for name, (definition, message) in cases.items():
            # max() is finite at NaN, and t at a child that is never used
            for more, use in ("", "c_u"), ("compute d all coord/custom 2*u u c_u\ncompute t all coord/custom max(d,v) d c_d v c_cv", "c_t"):
                with self.subTest(name, use=use):
                    self.setUp()
                    commands(self.lmp, definition + ("\n" + more if more else "") + "\nrun 0\nrun 2")
                    self.lmp.command(f"thermo_style custom step {use}")
                    found, _ = error_of(self.lmp, "run 0")
                    self.assertTrue(without_suffix(found).startswith(message), found)


class Runs(InProcess):
    def test_runs(self):
        for name in RUNS:
            with self.subTest(name):
                self.setUp()
                (*before, last), message = script_of(name)
                commands(self.lmp, "\n".join(before))
                found, _ = error_of(self.lmp, last)
                self.assertEqual(without_suffix(found), shortened(at_run_time(message)))
                self.lmp.command("thermo_style one")
                self.check_still_usable()

    def test_not_set_up(self):
        commands(self.lmp, "run 0\n" + DIFFERENCE)
        with self.assertRaisesRegex(Exception, re.escape(D[:-2] + " is used before a run has set it up - use run 0 first")):
            self.lmp.extract_compute("d", 0, 0)
        self.check_still_usable()

    def test_on_ranks(self):
        """Each rank stops, with one message."""
        cases = few((name, ranks) for name in ON_RANKS for ranks in (1, 2, 4))
        results = start_all(run_script, [(SYSTEM + "\n".join(script_of(name)[0]) + "\n", ranks) for name, ranks in cases])
        for (name, ranks), result in zip(cases, results):
            with self.subTest(name, ranks=ranks):
                code, output = result.result()
                self.assertNotEqual(code, 0)
                found = [re.sub(r"\d\.\d{9,}", "#", message) for message in errors_in(output)]
                self.assertEqual(found, [re.sub(r"\d\.\d{9,}", "#", at_run_time(RUNS[name][1]))], output)

    def test_mended(self):
        """Some errors are repaired by what their message says, in the same LAMMPS."""
        for name, way_out in (("replaced after the setup", "unfix b\nuncompute d\n" + DIFFERENCE + FIX + HARMONIC),
                              ("loop of two", "uncompute d\n" + CV + "\n" + DIFFERENCE)):
            with self.subTest(name):
                self.setUp()
                (*before, last), _ = script_of(name)
                commands(self.lmp, "\n".join(before))
                error_of(self.lmp, last)
                commands(self.lmp, way_out + "\n" + USES.replace("c_d", "c_cv c_cw c_d") + "run 1")
                v, w, d = (self.lmp.extract_compute(ident, 0, 0) for ident in ("cv", "cw", "d"))
                self.assertEqual(d, v - w)
                self.lmp.command("thermo_style one")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
