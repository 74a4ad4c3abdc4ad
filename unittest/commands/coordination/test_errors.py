"""Bad input stops LAMMPS on all ranks with a message that names the value, the limit and the way
out."""
# Processors: 2
# Without: gpu

import os
import re
import sys
import tempfile
import unittest

import coordtest
import errortest
import function_errors
from errortest import (GOOD, PRINT_S, SYSTEM, commands, error_of, errors_in, expected_of_good, few, run_program, run_script,
                       start, start_all, value)

COMPUTE = "compute c a coord/gpu "

KEYWORDS = "group2, pairs, pairs/file, switch, coeff, function, within, norm, image, engine, precision, device, check"
SWITCHES = "rational, exp, gaussian, smap, cubic, tanh, cosinus, q, custom"
CUSTOM = "; write it in x = (r - d0)/r0, for example 1/(1+x^6)"
AFTER_SWITCH = "; those of a switching function follow it"
ENDS = "d0, dmax, nostretch"
TAKES = {"rational": f"nn, mm, {ENDS}", "smap": f"a, b, {ENDS}", "q": f"ref, beta, lambda, {ENDS}",
         "custom": f"func, {ENDS}"}
NOT_A_NUMBER = ("Compute coord/gpu switch custom: the expression '{}' cannot be used: {}a constant part of it is not a "
                "number" + CUSTOM)
IMPRECISE = ("Compute coord/gpu {}: with r0 = 10000000 it is {} at dmax = {}, and stretching that to 1 and 0 in "
             "precision {} makes s wrong by about {}, more than 1e-05; use precision double, another dmax, or nostretch")
NO_END = "needs a finite dmax, but the switching function has none - give dmax, or use "
OUT_OF_BOUNDS = "Numeric index 2 is out of bounds (1-1)"
NOT_POSITIVE = "is {} but must be > 0 and finite"
NOT_FINITE = "is not a finite number - the simulation is unstable, or positions were set wrongly"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
# Messages of LAMMPS itself mark no word.
ARGUMENTS = [
    # Keywords and choices.
    ("switch rational 1.0 [bogus] 3", "Unknown compute coord/gpu keyword: bogus - switch rational takes "
     f"{TAKES['rational']}, then optionally {KEYWORDS}"),
    ("[nn] 6 switch rational 1.0", f"Unknown compute coord/gpu keyword: nn - known are {KEYWORDS}{AFTER_SWITCH}"),
    ("switch [step] 1.0", f"Unknown compute coord/gpu switch option: step - known are {SWITCHES}, none"),
    ("switch exp 1.0 norm [max]", "Unknown compute coord/gpu norm option: max - known are sum, mean"),
    ("switch exp 1.0 image [any]", "Unknown compute coord/gpu image option: any - known are all, minimum"),
    ("switch exp 1.0 engine [fast]",
     "Unknown compute coord/gpu engine option: fast - known are auto, cells, allpairs"),
    ("switch exp 1.0 engine [list]", "Compute coord/gpu has no engine list - use engine cells, which has the same "
     "results"),
    ("switch exp 1.0 precision [half]",
     "Unknown compute coord/gpu precision option: half - known are mixed, double, single"),
    ("switch exp 1.0 device [gpu]", "Unknown compute coord/gpu device option: gpu - known are auto, cuda, host"),

    # Groups and files of pairs.
    ("group2 [nix] switch exp 1.0", "Compute coord/gpu group2: group nix does not exist - define it before the compute"),
    ("pairs [nix] switch exp 1.0", "Compute coord/gpu pairs: group nix does not exist - define it before the compute"),
    ("group2 b [pairs] b switch exp 1.0",
     "Compute coord/gpu takes one of group2, pairs and pairs/file, not pairs as well"),
    ("pairs b switch exp 1.0 [group2] b",
     "Compute coord/gpu takes one of group2, pairs and pairs/file, not group2 as well"),
    ("group2 b [group2] b switch exp 1.0",
     "Compute coord/gpu takes one of group2, pairs and pairs/file, not group2 as well"),
    ("pairs b [pairs/file] good.pairs switch exp 1.0",
     "Compute coord/gpu takes one of group2, pairs and pairs/file, not pairs/file as well"),
    ("pairs/file [missing.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file missing.pairs cannot be used: it cannot be opened: No such file "
     "or directory - give the path of a file that can be read"),
    ("pairs/file [/dev/zero] switch exp 1.0", "Compute coord/gpu pairs/file /dev/zero cannot be used: a line is longer than "
     "10000 characters, the limit - check the name"),
    ("pairs/file [bytes.pairs] switch exp 1.0",
     r"Compute coord/gpu pairs/file bytes.pairs cannot be used: '\x01' is not an atom ID in line '3 \x01'"),
    ("pairs/file [nothing.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file nothing.pairs cannot be used: it has no pairs"),
    ("pairs/file [one.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file one.pairs cannot be used: two atom IDs are expected in line '3'"),
    ("pairs/file [three.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file three.pairs cannot be used: two atom IDs are expected in line '1 2 3'"),
    ("pairs/file [word.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file word.pairs cannot be used: 'x' is not an atom ID in line '3 x'"),
    ("pairs/file [zero.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file zero.pairs cannot be used: atom ID 0 must be > 0 in line '1 0'"),
    ("pairs/file [self.pairs] switch exp 1.0",
     "Compute coord/gpu pairs/file self.pairs cannot be used: an atom cannot pair with itself in line '2 2'"),

    # Switching functions.
    ("[compute] c a coord/gpu norm sum",
     "Compute coord/gpu needs a switching function, for example: switch rational 1.5"),
    ("switch exp 1.0 [switch] exp 1.0", "Compute coord/gpu takes one switch, but a second one is given"),
    ("switch rational 1.0 d0 [-0.5]", "Compute coord/gpu switch rational: d0 is -0.5 but must be >= 0 and finite"),
    ("switch rational 1.0 d0 2 dmax [2]",
     "Compute coord/gpu switch rational: dmax is 2 but must be larger than d0 = 2"),
    ("switch rational 1.0 dmax [1.5] d0 2",
     "Compute coord/gpu switch rational: dmax is 1.5 but must be larger than d0 = 2"),
    ("switch cubic dmax [0]", "Compute coord/gpu switch cubic: dmax is 0 but must be larger than d0 = 0"),
    ("switch rational 1.0 nn 8 mm [8]",
     "Compute coord/gpu switch rational: mm equals nn = 8, so s would be 1 everywhere: give mm > nn"),
    ("switch rational 1.0 mm [6]",
     "Compute coord/gpu switch rational: mm equals nn = 6, so s would be 1 everywhere: give mm > nn"),
    ("switch rational 1.0 mm [8] nn 12",
     "Compute coord/gpu switch rational: mm is 8 but must be larger than nn = 12, or s would grow with distance"),
    ("switch [cubic] d0 1",
     "Compute coord/gpu switch cubic: a finite dmax is required: s falls from 1 at d0 to 0 at dmax"),
    ("switch cubic d0 1 dmax [INF]",
     "Compute coord/gpu switch cubic: a finite dmax is required: s falls from 1 at d0 to 0 at dmax"),
    ("switch [smap] 1.0 b 2", "Compute coord/gpu switch smap: a is required: give a number > 0"),
    ("switch [smap] 1.0 a 2", "Compute coord/gpu switch smap: b is required: give a number > 0"),
    ("switch [q] ref 1", "Compute coord/gpu switch q: beta (1/distance) is required: give a number > 0"),
    ("switch [q] beta 5", "Compute coord/gpu switch q: ref (distance) is required: give a number > 0"),
    ("switch exp 1.0 [nn] 6", f"Compute coord/gpu switch exp takes no nn - it takes {TAKES.get('exp', ENDS)}"),
    ("switch exp 1.0 [a] 6", f"Compute coord/gpu switch exp takes no a - it takes {TAKES.get('exp', ENDS)}"),
    ("switch smap 1.0 a 2 b 3 [mm] 6", f"Compute coord/gpu switch smap takes no mm - it takes {TAKES.get('smap', ENDS)}"),
    ("switch q beta 5 ref 1 [nn] 6", f"Compute coord/gpu switch q takes no nn - it takes {TAKES.get('q', ENDS)}"),
    ("switch q beta 5 ref 1 d0 2 dmax [2]", "Compute coord/gpu switch q: dmax is 2 but must be larger than d0 = 2"),
    ("switch rational 1.0 [func] x", f"Compute coord/gpu switch rational takes no func - it takes {TAKES.get('rational', ENDS)}"),
    ("switch [custom] 1.0",
     "Compute coord/gpu switch custom: an expression in x is required, for example func \"1/(1+x^6)\""),
    ("switch custom 1.0 func [1/(1+x^6]",
     "Compute coord/gpu switch custom: the expression '1/(1+x^6' cannot be used: Parse error in "
     "expression \"1/(1+x^6\": unbalanced parentheses" + CUSTOM),
    ("switch custom 1.0 func [\"1/(1 + y^6)\"] dmax 3",
     "Compute coord/gpu switch custom: the expression '1/(1 + y^6)' cannot be used: unknown "
     "variable 'y'" + CUSTOM),
    ("switch custom 1.0 func 2 dmax [3]",
     "Compute coord/gpu switch custom: the function cannot be stretched: with r0 = 1 it is 2 at x = 0 and 2 at "
     "dmax = 3; choose another r0 or dmax, or nostretch"),
    ("switch rational 1e10 dmax [5]",
     "Compute coord/gpu switch rational: the function cannot be stretched: with r0 = 1e+10 it is 1 at x = 0 and 1 at "
     "dmax = 5; choose another r0 or dmax, or nostretch"),
    ("switch custom 1.0 func [0/0] dmax 4", NOT_A_NUMBER.format("0/0", "")),
    ("switch custom 1.0 func [1/(1+x^6)+0*(1/0)] dmax 4", NOT_A_NUMBER.format("1/(1+x^6)+0*(1/0)", "")),
    ("switch custom 1.0 func [(-2)^x]", NOT_A_NUMBER.format("(-2)^x", "in its derivative ")),
    ("switch exp 1.0 coeff 1 1 custom 1.0 func [sqrt(-1)] dmax 4",
     NOT_A_NUMBER.replace("switch", "coeff").format("sqrt(-1)", "")),

    # A stretch that exceeds single precision.
    ("switch [tanh] 1e7 dmax 3.9", IMPRECISE.format("switch tanh", "1 at x = 0 and 0.99999961", 3.9, "mixed", 0.3)),
    ("precision single switch [rational] 10 dmax 3",
     IMPRECISE.format("switch rational", "1 at x = 0 and 0.9992715311", 3, "single", "0.0002").replace("10000000", "10")),
    ("switch cubic dmax 3 coeff * * [exp] 1e4 dmax 3 precision mixed", IMPRECISE.format(
        "coeff * * exp", "1 at x = 0 and 0.999700045", 3, "mixed", "0.0004").replace("10000000", "10000")),
    ("precision mixed switch [custom] 1.0 func 1e-40*exp(-x) dmax 4.4",
     IMPRECISE.format("switch custom", "1e-40 at x = 0 and 1.22773399e-42", 4.4, "mixed", "1e+02")
     .replace("10000000", "1")),
    # The message must not say that there is a number too many, or that dmax is missing.
    ("switch q [1.5] beta 5 ref 1", "Compute coord/gpu switch q takes no r0: its distance is ref"),
    # A misspelled word must not be reported as missing.
    ("switch cubic [D0] 1 dmax 3", f"Unknown compute coord/gpu keyword: D0 - switch cubic takes {ENDS}, then "
     f"optionally {KEYWORDS}"),
    ("switch custom 1.5 [exp(-x)]",
     f"Unknown compute coord/gpu keyword: exp(-x) - switch custom takes {TAKES['custom']}, then optionally {KEYWORDS}"),
    ("[rational] 1.5", "Unknown compute coord/gpu keyword: rational - did you mean switch rational?"),
    ("switch exp [dmax] 3", "Compute coord/gpu switch r0 must be a number, not 'dmax'"),
    ("switch cubic [1.5] dmax 3", "Compute coord/gpu switch cubic takes no r0: its width is dmax - d0"),

    # Functions of atom types.
    ("switch exp 1.0 coeff [0] 1 exp 1.0", "Invalid range string: 0"),
    ("switch exp 1.0 coeff 1 [x] exp 1.0", "Invalid range string: x"),
    ("switch exp 1.0 coeff 1 [exp] 1.0", "Invalid range string: exp"),
    ("switch exp 1.0 coeff [2] 1 exp 1.0", OUT_OF_BOUNDS),
    ("switch exp 1.0 coeff * [*2] exp 1.0", OUT_OF_BOUNDS),
    ("switch exp 1.0 coeff 1 1 [step] 1.0", f"Unknown compute coord/gpu coeff option: step - known are {SWITCHES}, none"),
    ("switch exp 1.0 coeff 1 1 [exp]", "Compute coord/gpu coeff exp needs r0, for example: exp 1.5"),
    ("switch exp 1.0 coeff 1 1 exp [0]", f"Compute coord/gpu coeff exp: r0 {NOT_POSITIVE.format(0)}"),
    ("coeff 1 1 rational 1.0 [bogus] 3 switch exp 1.0", "Unknown compute coord/gpu keyword: bogus - coeff rational "
     f"takes {TAKES['rational']}, then optionally {KEYWORDS}"),
    ("[compute] c a coord/gpu coeff * * exp 1.0",
     "Compute coord/gpu needs a switching function, for example: switch rational 1.5"),
    ("switch cubic dmax 3 coeff 1 1 exp 1.0 engine [cells]",
     f"Compute coord/gpu engine cells {NO_END.replace('function', 'function of coeff 1 1')}engine allpairs"),
    ("coeff * 1 cubic dmax 3 image [all] switch exp 1.0",
     f"Compute coord/gpu image all {NO_END.replace('function', 'function of switch')}image minimum"),

    # Contradicting options.
    ("switch exp 1.0 dmax 3 image [all] engine allpairs",
     "Compute coord/gpu engine allpairs takes the nearest image of each pair, not image all - use image "
     "minimum, or engine cells"),
    ("switch exp 1.0 engine [cells]", f"Compute coord/gpu engine cells {NO_END}engine allpairs"),
    ("image [all] switch gaussian 1.0", f"Compute coord/gpu image all {NO_END}image minimum"),
    ("pairs b switch exp 1.0 engine [cells]",
     "Compute coord/gpu pairs evaluates its pairs directly and takes no engine cells - leave engine out"),
    ("pairs/file good.pairs image [all] switch exp 1.0 dmax 3",
     "Compute coord/gpu pairs takes the nearest image of each pair, not image all - use image minimum"),
    ("switch exp 1.0 check [0] 0.1", "Compute coord/gpu check interval is 0 but must be a number of evaluations > 0"),
    ("switch exp 1.0 check [-2] 0.1",
     "Compute coord/gpu check interval is -2 but must be a number of evaluations > 0"),
    ("switch exp 1.0 check 1 [0]", "Compute coord/gpu check tolerance is 0 but must be > 0"),
    ("switch exp 1.0 check 1 [-0.5]", "Compute coord/gpu check tolerance is -0.5 but must be > 0"),
]

ARGUMENTS += function_errors.arguments(KEYWORDS, SWITCHES, TAKES)

# Arguments that end too early, and their names in the message.
MISSING = [(keyword, keyword) for keyword in KEYWORDS.split(", ")]
MISSING += [("check 1", "check"), ("coeff 1 1", "coeff")]
MISSING += function_errors.MISSING
ARGUMENTS += [(f"switch [{name}]", f"Compute coord/gpu switch {name} needs r0, for example: {name} 1.5")
              for name in SWITCHES.split(", ") if name not in ("cubic", "q")]
MISSING += [(f"switch {start} {keyword}", f"switch {keyword}") for start, keyword in (
    ("rational 1.0", "nn"), ("rational 1.0", "mm"), ("rational 1.0", "d0"), ("cubic", "dmax"), ("smap 1.0", "a"),
    ("smap 1.0", "b"), ("q", "beta"), ("q", "lambda"), ("q", "ref"), ("custom 1.0", "func"))]
ARGUMENTS += [(words, f"Illegal compute coord/gpu {name} command: missing argument(s)") for words, name in MISSING]

# Numbers that must be > 0, and their names in the message.
for words, name in (
        ("rational {}", "r0"), ("exp {}", "r0"), ("gaussian {}", "r0"), ("smap {} a 2 b 3", "r0"), ("tanh {}", "r0"),
        ("cosinus {}", "r0"), ("custom {} func exp(-x)", "r0"), ("rational 1.0 nn {}", "nn"),
        ("rational 1.0 mm {}", "mm"), ("smap 1.0 b 3 a {}", "a"),
        ("smap 1.0 b {} a 2", "b"), ("q ref 1 beta {}", "beta (1/distance)"),
        ("q ref 1 beta 5 lambda {}", "lambda"), ("q beta 5 ref {}", "ref (distance)"),
        ("rational 1.0 d0 {}", None), ("cubic dmax {}", None), ("exp 1.0 check 1 {}", None)):
    words = "switch " + words
    word = words.split()[words.split().index("{}") - 1]
    what = {"1": "check tolerance"}.get(word, f"switch {word}")
    if words.split()[2] == "{}" and word not in ("cubic", "q"):
        what = "switch r0"
    for bad in ("nan", "-nan", "1.0x", "1,5") + (("inf",) if word != "dmax" else ()):
        ARGUMENTS.append((words.format(f"[{bad}]"), f"Compute coord/gpu {what} must be a number"
                          f"{' or INF' if word == 'dmax' else ''}, not '{bad}'"))
    ARGUMENTS.append((words.format("1e999"), "Floating point number 1e999 in input script or data file is out of "
                      "range"))
    for bad in ("0", "-1.5") if name else ():
        ARGUMENTS.append((words.format(f"[{bad}]"), f"Compute coord/gpu {words.split()[1]}: {name} ".replace(
            "gpu ", "gpu switch ", 1) + NOT_POSITIVE.format(bad)))
for bad in "nan", "1.5", "1x":
    ARGUMENTS.append((f"switch exp 1.0 check [{bad}] 0.1",
                      f"Compute coord/gpu check interval is {bad} but must be a number of evaluations > 0"))

FILES = {"good": "# first second\n1 12\n\n2 11  # a comment\n", "nothing": "# none\n", "one": "1 2\n3\n",
         "three": "1 2 3\n", "word": "1 2\n3 x\n", "bytes": "1 2\n3 \x01\n", "zero": "1 0\n", "self": "1 2\n2 2\n", "absent": "1 12\n2 65\n",
         "first": "1 12\n9 3\n", "far": "1 12\n17 20\n"}

NAN = "variable bad atom exp(1000)-exp(1000)\n"
INF = "variable bad atom exp(1000)\n"
AMBIGUOUS = ("Compute coord/gpu c: dmax {} is not below {}, half the shortest period of the box, so several images of one "
             "atom are in range - give a smaller dmax, or use ")
WITH_COEFF = "compute c all coord/gpu switch {} coeff 1 1 {} {}\nrun 0"
SHELL = "Compute coord/gpu c: dmax plus skin {0} exceeds the ghost atom range {1} - use comm_modify cutoff {0} or more"

# Scripts whose last line must fail, after SYSTEM, and the message.
RUNS = {
    "pairs of unequal groups": ("compute c a coord/gpu pairs short switch exp 1.0 dmax 3\nrun 0",
        "Compute coord/gpu c: pairs needs two groups of the same size, but the first has 8 atoms and the second 4 - "
        "change the groups, or use group2 for every pair of them"),
    "pairs with an empty group": ("compute c a coord/gpu pairs empty switch exp 1.0 dmax 3\nrun 0",
        "Compute coord/gpu c: pairs needs two groups of the same size, but the first has 8 atoms and the second 0 - "
        "change the groups, or use group2 for every pair of them"),
    "pairs/file without the atom": ("compute c a coord/gpu pairs/file absent.pairs switch exp 1.0 dmax 3\nrun 0",
        "Compute coord/gpu c: pairs/file names atom ID 65, which does not exist - correct the file, or keep that atom"),
    "pairs/file of another group": ("compute c a coord/gpu pairs/file first.pairs switch exp 1.0 dmax 3\nrun 0",
        "Compute coord/gpu c: atom ID 9 is first in a pair of pairs/file but not in group a - use a group that holds "
        "the first atoms of all pairs"),
    "pairs/file after an atom is lost": (
        "compute c a coord/gpu pairs/file good.pairs switch exp 1.0 dmax 3\nrun 0\ngroup lost id 11\n"
        "delete_atoms group lost compress no\nrun 0",
        "Compute coord/gpu c: pairs/file names atom ID 11, which does not exist - correct the file, or keep that atom"),
    "pairs/file missing": ("compute c a coord/gpu pairs/file missing.pairs switch exp 1.0 dmax 3",
        "Compute coord/gpu pairs/file missing.pairs cannot be used: it cannot be opened: No such file or directory - give the "
        "path of a file that can be read"),
    "pairs/file bad": ("compute c a coord/gpu pairs/file three.pairs switch exp 1.0 dmax 3",
        "Compute coord/gpu pairs/file three.pairs cannot be used: two atom IDs are expected in line '1 2 3'"),
    "group2 deleted": (
        "group gone id 3\ncompute c a coord/gpu group2 gone switch cubic dmax 3.0\ngroup gone delete\nrun 0",
        "Compute coord/gpu c: group gone no longer exists - keep it while the compute uses it"),

    "ghosts too near for cells": ("compute c all coord/gpu switch cubic dmax 3.5\nrun 0", SHELL.format(3.8, 3.3)),
    "ghosts without a pair style": ("pair_style none\ncompute c all coord/gpu switch cubic dmax 3.5\nrun 0",
                                    SHELL.format(3.8, 0)),
    "skin too large": ("comm_modify cutoff 3.3\nneighbor 0.4 bin\npair_style zero 1.0\npair_coeff * *\n"
                       "compute c all coord/gpu switch cubic dmax 3.0\nrun 0", SHELL.format(3.4, 3.3)),
    "ghosts too near in the run": (
        "comm_modify cutoff 4.5\ncompute c all coord/gpu switch cubic dmax 4.0\nrun 0\ncomm_modify cutoff 4.0\n"
        "run 0 pre no", SHELL.format(4.3, 4)),
    "skin too large in the run": (
        "compute c all coord/gpu switch cubic dmax 3.0\nrun 0\nneighbor 0.4 bin\nrun 0 pre no",
        SHELL.format(3.4, 3.3)),
    "comm_modify mode multi": (
        "neighbor 0.3 multi\ncomm_modify mode multi\ncompute c all coord/gpu switch cubic dmax 3.0\nrun 0",
        "Compute coord/gpu c: cannot use the ghost atoms of comm_modify mode multi - use mode single, or engine "
        "allpairs with image minimum"),
    "comm_modify group": (
        "atom_modify first a\ncomm_modify group a\ncompute c all coord/gpu switch cubic dmax 3.0\nrun 0",
        "Compute coord/gpu c: cannot use the ghost atoms of comm_modify group - remove it, or use engine allpairs "
        "with image minimum"),
    "a function without a value": (
        "compute c all coord/gpu switch custom 1.0 func sqrt(1-x) dmax 3.0 nostretch\nrun 0",
        "Compute coord/gpu c: S or a derivative is not a finite number, although all positions are - check the switching "
        "function custom \"sqrt(1-x)\" r0 1 d0 0 dmax 3 not stretched: values, derivatives "
        "and sums must be finite"),
    **function_errors.RUNS,

    "several images": ("comm_modify cutoff 6.0\ncompute c all coord/gpu switch cubic dmax 5.5\nrun 0",
                       AMBIGUOUS.format(5.5, 5) + "image minimum or image all"),
    "several images of a function of types": (
        WITH_COEFF.format("cubic dmax 3", "rational 1.0", ""),
        AMBIGUOUS.format("6.812920691 of coeff 1 1 (the default)", 5) + "image minimum or image all"),
    "several images of the function of other types": (
        WITH_COEFF.format("exp 1", "cubic dmax 3", ""), "Compute coord/gpu c: the range of switch is infinite, so "
        "all images of an atom are in range - use image minimum, or give dmax below 5, half the shortest period of "
        "the box"),
    "minimum image of cells and a function of types": (
        "comm_modify cutoff 6.0\n" + WITH_COEFF.format("cubic dmax 3", "cubic dmax 5.5", "image minimum engine cells"),
        "Compute coord/gpu c: image minimum with dmax 5.5 of coeff 1 1, not below 5, half the shortest period of the "
        "box, needs engine allpairs or auto"),
    "ghosts too near for a function of types": (
        WITH_COEFF.format("cubic dmax 3", "cubic dmax 3.5", ""),
        SHELL.replace("dmax", "dmax of coeff 1 1").format(3.8, 3.3)),
    "a function of types without a value": (
        WITH_COEFF.format("exp 1.0 dmax 3", "custom 1.0 func sqrt(1-x) dmax 3.0 nostretch", ""),
        "Compute coord/gpu c: S or a derivative is not a finite number, although all positions are - check one of the "
        "switching functions switch exp r0 1 d0 0 dmax 3 stretched, coeff 1 1 custom \"sqrt(1-x)\" r0 1 d0 0 dmax 3 not "
        "stretched: values, derivatives "
        "and sums must be finite"),
    "several images of a range without end": ("compute c all coord/gpu switch exp 1.0\nrun 0",
                                              "Compute coord/gpu c: the range is infinite, so all images of an atom are in range - use image minimum, or give "
        "dmax below 5, half the shortest period of the box"),
    "an atom that pairs with itself": ("compute c a coord/gpu pairs a switch cubic dmax 3\nrun 0",
        "Compute coord/gpu c: atom ID 1 would pair with itself, being number 1 by ID in both groups of pairs - change "
        "the groups"),
    "several images within the default range": (
        "compute c all coord/gpu switch rational 1.0\nrun 0",
        AMBIGUOUS.format("6.812920691 (the default)", 5) + "image minimum or image all"),
    "several images for allpairs": ("compute c all coord/gpu switch cubic dmax 5.5 engine allpairs\nrun 0",
                                    AMBIGUOUS.format(5.5, 5) + "image minimum"),
    "several images in a shrinking box": (
        "comm_modify cutoff 5.0\ncompute c all coord/gpu switch cubic dmax 4.45\n"
        "fix d all deform 1 x final 0 8 units box\nrun 10", AMBIGUOUS.format(4.45, 4.4) + "image minimum or image all"),
    "minimum image in a shrinking box": (
        "comm_modify cutoff 5.0\ncompute c all coord/gpu switch cubic dmax 4.45 image minimum engine cells\n"
        "fix d all deform 1 x final 0 8 units box\nrun 10",
        "Compute coord/gpu c: image minimum with dmax 4.45, not below 4.4, half the shortest period of the box, needs "
        "engine allpairs or auto"),
    "minimum image of cells": (
        "comm_modify cutoff 6.0\ncompute c all coord/gpu switch cubic dmax 5.5 image minimum engine cells\nrun 0",
        "Compute coord/gpu c: image minimum with dmax 5.5, not below 5, half the shortest period of the box, needs "
        "engine allpairs or auto"),
}
for name, arguments, tag in (
        ("cells", "all coord/gpu switch cubic dmax 3.0", 12),
        ("allpairs", "all coord/gpu switch cubic dmax 3.0 engine allpairs", 12),
        ("the second group", "a coord/gpu group2 b switch cubic dmax 3.0", 12),
        ("pairs", "a coord/gpu pairs b switch cubic dmax 3.0", 12),
        ("pairs/file, first atom", "a coord/gpu pairs/file good.pairs switch cubic dmax 3.0", 2),
        ("pairs/file, second atom", "a coord/gpu pairs/file good.pairs switch cubic dmax 3.0", 12)):
    for what, variable in ("NaN", NAN), ("infinity", INF):
        # Define the compute before any run, so that a list that the first run builds does not fail
        # already.
        RUNS[f"{what} in {name}"] = (
            f"neigh_modify exclude none\n{variable}compute c {arguments}\nrun 0\nset atom {tag} y v_bad\nrun 1 pre no",
            f"Compute coord/gpu c: the position of atom ID {tag} {NOT_FINITE}")

if coordtest.kokkos_lacks("neighbor multi", coordtest.NO_MULTI):
    del RUNS["comm_modify mode multi"]

# These errors differ between ranks, so one rank could stop alone or wait forever. The executable
# runs them, too.
ON_RANKS = [name for name in RUNS if re.match("pairs|ghosts|NaN|infinity in pairs|within", name)] + [
    "several images in a shrinking box", "comm_modify group", "group2 deleted"]


def with_output(script):
    """Return the script with S in the thermodynamic output after the definition of compute c."""
    return re.sub(r"^(compute c .*)\n", rf"\1\n{PRINT_S}", script, flags=re.MULTILINE)


def tearDownModule():
    start().finalize()  # mpirun reports an error for a rank that ends without this call


class InProcess(errortest.InProcess):
    def check_still_usable(self):
        commands(self.lmp, GOOD + "\n" + PRINT_S + "run 0")
        self.assertAlmostEqual(value(self.lmp), expected_of_good(self.lmp), delta=1e-5)
        commands(self.lmp, "thermo_style one\nuncompute c")


class Arguments(InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = words if words.startswith("[compute]") else COMPUTE + words
            with self.subTest(words):
                found = error_of(self.lmp, re.sub(r"[][]", "", marked))
                self.assertEqual(found, (message, marked if "[" in marked else None))
                self.assertFalse(self.lmp.has_id("compute", "c"))
                self.check_still_usable()


    def test_types_without_a_box(self):
        self.lmp.command("clear")
        self.assertEqual(error_of(self.lmp, "compute c all coord/gpu switch exp 1.0 coeff 1 1 exp 1.0"), (
            "Compute coord/gpu coeff needs atom types, which do not exist before the simulation box is defined - "
            "define the compute after the box", "compute c all coord/gpu switch exp 1.0 [coeff] 1 1 exp 1.0"))


class Runs(InProcess):
    def test_runs(self):
        for name, (script, message) in RUNS.items():
            *before, last = with_output(script).split("\n")
            with self.subTest(name):
                self.setUp()
                x = self.lmp.gather_atoms("x", 1, 3)
                commands(self.lmp, "\n".join(before))
                found, _ = error_of(self.lmp, last)
                self.assertEqual(found, message)
                if "delete_atoms" in script:
                    continue
                self.lmp.scatter_atoms("x", 1, 3, x)
                commands(self.lmp, "neigh_modify exclude none\nthermo_style one")
                if self.lmp.has_id("compute", "c"):
                    self.lmp.command("uncompute c")
                self.check_still_usable()

    def test_exclusions_of_neighbor_lists(self):
        """S includes pairs and atoms that the neighbor lists of LAMMPS lack."""
        for without in "neigh_modify exclude type 1 1", "atom_modify first a\nneigh_modify include a":
            for engine in "cells", "allpairs":
                with self.subTest(without, engine=engine):
                    self.setUp()
                    commands(self.lmp, without)
                    commands(self.lmp, with_output(GOOD.replace("engine allpairs", f"engine {engine}") + "\nrun 0"))
                    self.assertAlmostEqual(value(self.lmp), expected_of_good(self.lmp), delta=1e-5)

    def test_ghost_range_beyond_int(self):
        """In this case LAMMPS itself has no ghost atoms, or stops with an MPI error."""
        for cutoff, natoms in (1e4, 5.1e11), (1e12, 5.1e35), (1e19, 5.1e56), (1e300, float("inf")):
            with self.subTest(cutoff):
                commands(self.lmp, f"comm_modify cutoff {cutoff}\ncompute c all coord/gpu switch cubic dmax 3.0\n{PRINT_S}")
                # 64 atoms, 1 + 2 cutoff/10 times in each direction.
                self.assertEqual(error_of(self.lmp, "run 0")[0],
                    f"Compute coord/gpu c: the ghost atom range {cutoff:.10g} of the comm_modify cutoff is so long that LAMMPS would "
                    "need about "
                    f"{natoms:.2g} atoms per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller "
                    "comm_modify cutoff")
                commands(self.lmp, "thermo_style one\nuncompute c\ncomm_modify cutoff 3.3")
                self.check_still_usable()

    def test_source_of_a_ghost_range_beyond_int(self):
        """The message names the command that sets the long range."""
        message = ("Compute coord/gpu c: the ghost atom range {0} of the {1} is so long that LAMMPS would need about 5.1e+11 "
                   "atoms per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller {1}{2}")
        for before, after, cutoff, source, way_out in (
                ("pair_style zero 1e4\npair_coeff * *", "pair_style zero 3.0\npair_coeff * *", "10000.3",
                 "cutoff of pair_style zero", ""),
                ("comm_modify cutoff 10001", "comm_modify cutoff 3.3", "10001", "comm_modify cutoff",
                 " and dmax, or engine allpairs with image minimum")):
            with self.subTest(source):
                dmax = "1e4 image all" if way_out else "3.0"
                commands(self.lmp, f"{before}\ncompute c all coord/gpu switch cubic dmax {dmax}\n{PRINT_S}")
                self.assertEqual(error_of(self.lmp, "run 0")[0], message.format(cutoff, source, way_out))
                commands(self.lmp, f"thermo_style one\nuncompute c\n{after}")
                self.check_still_usable()

    def test_stretch_in_double(self):
        """tanh with r0 far above dmax is 1 - r/dmax; mixed and single reject it."""
        commands(self.lmp, f"compute c all coord/gpu switch tanh 1e7 dmax 3.0 precision double\n{PRINT_S}run 0")
        found = value(self.lmp)
        commands(self.lmp, 'thermo_style one\nuncompute c\n'
                 f'compute c all coord/gpu switch custom 3.0 func "1-x" dmax 3.0 precision double\n{PRINT_S}run 0')
        self.assertAlmostEqual(found, value(self.lmp), delta=1e-6)

    def test_check_fails(self):
        options = " precision single check 1 1e-14"
        commands(self.lmp, GOOD + options + "\n" + PRINT_S)
        message, marked = error_of(self.lmp, "run 0")
        number = r"(\d\S*)"
        found = re.fullmatch(rf"Compute coord/gpu c: check: S \(before norm\) differs by {number} from the reference of magnitude "
                             f"{number}, more than {number} - use a higher precision, or report a bug", message)
        self.assertTrue(found, message)
        difference, magnitude, limit = map(float, found.groups())
        s = expected_of_good(self.lmp)
        self.assertAlmostEqual(magnitude, s, delta=1e-5 * s)
        self.assertAlmostEqual(limit, 1e-14 * s, delta=1e-16 * s)
        self.assertGreater(difference, limit)
        self.assertLess(difference, 1e-4)
        options = options.replace("single", "double").replace("1e-14", "1e-10")
        commands(self.lmp, f"thermo_style one\nuncompute c\n{GOOD}{options}\n{PRINT_S}run 0")
        self.assertAlmostEqual(value(self.lmp), s, delta=1e-9)


class WithoutIDs(InProcess):
    # For KOKKOS in float with newton on, LAMMPS builds no neighbor lists of such atoms.
    SCRIPT = SYSTEM[:SYSTEM.index("group a")].replace("map array", "id no").replace(
        "atom_modify", "newton off\natom_modify" if coordtest.POSITION_ROUNDOFF else "atom_modify") + """
region half block 0 2 0 4 0 4
group a region half
group b subtract all a
"""

    def setUp(self):
        super().setUp()
        commands(self.lmp, GOOD + "\nrun 0")
        self.expected = expected_of_good(self.lmp)
        self.lmp.command("clear")
        commands(self.lmp, self.SCRIPT)

    def test_pairs(self):
        for pairs in "pairs b", "pairs/file good.pairs":
            with self.subTest(pairs):
                found = error_of(self.lmp, f"compute c a coord/gpu {pairs} switch exp 1.0 image minimum")
                self.assertEqual(found, (
                    "Compute coord/gpu pairs and pairs/file match atoms by ID, but atom IDs are off - remove 'atom_modify id no' "
                    "or use group2", f"[compute] c a coord/gpu {pairs} switch exp 1.0 image minimum"))

    def test_others_work(self):
        for engine in "cells", "allpairs image minimum":
            with self.subTest(engine):
                commands(self.lmp, "neigh_modify exclude none\nthermo_style one")
                self.lmp.command(f"compute c all coord/gpu switch cubic d0 1.0 dmax 3.0 engine {engine}")
                commands(self.lmp, PRINT_S + "run 0")
                self.assertAlmostEqual(value(self.lmp), self.expected, delta=1e-5)
                commands(self.lmp, "thermo_style one\nuncompute c")

    def test_nan_names_no_id(self):
        commands(self.lmp, f"compute c all coord/gpu switch cubic dmax 3.0\n{PRINT_S}run 0")
        self.lmp.numpy.extract_atom("x")[7, 1] = float("nan")
        message, _ = error_of(self.lmp, "run 1 pre no")
        self.assertRegex(message, "^Compute coord/gpu c: the position of an? .*atom .*" + NOT_FINITE)
        self.assertNotRegex(message, "ID -?[0-9]")


class TwoRanks(unittest.TestCase):
    maxDiff = None

    def test_same_in_process(self):
        """The tests above run on both of two ranks: if the ranks do not fail alike, the test fails
        or hangs."""
        code, output = run_program([sys.executable, os.path.abspath(__file__), "Arguments", "Runs"], 2)
        self.assertEqual(code, 0, output)
        # The ranks may write into one line.
        self.assertEqual(output.replace("KOKKOS", "").count("OK"), 2, output)

    def check_executable(self, cases):
        """cases: name, script after SYSTEM, the only error in it."""
        cases = few(cases)
        scripts = [(SYSTEM + with_output(script + "\nprint 'went on'\n"), 2) for _, script, _ in cases]
        for (name, _, message), result in zip(cases, start_all(run_script, scripts)):
            with self.subTest(name):
                code, output = result.result()
                self.assertEqual(errors_in(output), [message], output)
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")

    def test_executable_stops(self):
        self.check_executable([(name, *RUNS[name]) for name in ON_RANKS] + [
            ("argument", COMPUTE + "switch exp 0", "Compute coord/gpu switch exp: r0 is 0 but must be > 0 and finite")])

    def test_two_faults_at_once(self):
        """Atom 17 is on one rank only. Its nonfinite position must not let the other rank stop
        alone."""
        message = f"Compute coord/gpu c: the position of atom ID 17 {NOT_FINITE}"
        start = "pair_style zero 1.0\npair_coeff * *\ncompute c a coord/gpu {} switch cubic dmax 3.0\nrun 0\n" + NAN
        fault = "set atom 17 x v_bad\nrun 0 pre no"
        self.check_executable([
            ("pairs", start.format("pairs b") + "group b id 17\n" + fault, message),
            ("pairs/file", "group a id 17\n" + start.format("pairs/file far.pairs") + "group a clear\ngroup a id 17\n" +
             fault, message)])


class EmptyGroups(unittest.TestCase):
    """S is 0 without an error, and one warning reports it."""

    def check(self, cases):
        """cases: script after SYSTEM, whether S is 0 in each step, groups of the warnings."""
        cases = [(ranks, *case) for case in cases for ranks in (1, 2)]
        results = start_all(run_script, [(SYSTEM + with_output(script), ranks) for ranks, script, _, _ in cases])
        for (ranks, script, zero, groups), result in zip(cases, results):
            with self.subTest(script, ranks=ranks):
                code, output = result.result()
                self.assertEqual(code, 0, output)
                values = re.findall(r"^ +\d+ +(\S+) *$", output, re.MULTILINE)
                self.assertEqual([float(s) == 0.0 for s in values], zero, output)
                self.assertEqual(re.findall(r"^WARNING: (Compute .*) \(\S+:\d+\)$", output, re.MULTILINE),
                                 [f"Compute coord/gpu c: group {group} is empty, S is 0" for group in groups], output)

    def test_from_the_start(self):
        self.check([(f"compute c {words} switch cubic dmax 3.0 norm {norm}\nrun 2", [True] * 3, [group])
                    for norm in ("sum", "mean") for words, group in (
                        ("empty coord/gpu", "empty"), ("empty coord/gpu group2 a", "empty"),
                        ("a coord/gpu group2 empty", "empty"), ("empty coord/gpu pairs empty", "empty"))])

    def test_in_the_run(self):
        start = "variable early atom {}\ngroup some dynamic all var early\ncompute c all coord/gpu group2 some "
        end = "switch cubic dmax 3.0 norm {} engine {}\nrun {}"
        self.check([(start.format("step<2.5") + end.format(norm, engine, 5), [False] * 3 + [True] * 3, ["some"])
                    for norm in ("sum", "mean") for engine in ("cells", "allpairs")] +
                   [(start.format("id<20") + end.format("sum", "cells", 2), [False] * 3, [])])


class Warnings(unittest.TestCase):
    """A stretch that changes the scale of an expression is reported once for each expression, and
    only then."""

    WARNING = ("{} custom: the expression '{}' is {} at x = 0, and the stretch for dmax = 3 makes that 1: s is {} times the "
               "expression {} - use nostretch to keep its values, or an expression that is 1 at x = 0")
    COMPUTE = "compute c all coord/gpu switch custom 1.0 func {} dmax 3 {}\nrun 0\nrun 0\n"
    # 1/(2 - 2 exp(-3)) and 1/(0.5 - 0.5/28)
    TWICE, HALF = ("2*exp(-x)", 2, 0.526198, "minus 0.0523957"), ("0.5/(1+x^3)", 0.5, 2.07407, "minus 0.037037")

    def test_scale(self):
        cases = [(self.COMPUTE.format(self.TWICE[0], ""), [("Compute coord/gpu switch", *self.TWICE)]),
                 (self.COMPUTE.format("exp(-x)", f"coeff 1 1 custom 1.0 dmax 3 func {self.HALF[0]}"),
                  [("Compute coord/gpu coeff", *self.HALF)]),
                 (f"pair_style coord\npair_coeff * * 1.0 custom 1.0 func {self.TWICE[0]} dmax 3\nrun 0\nrun 0\n",
                  [("Pair coord", *self.TWICE)]),
                 (self.COMPUTE.format(self.TWICE[0], "nostretch"), []), (self.COMPUTE.format("cos(x)^2", ""), []),
                 ("compute c all coord/gpu switch q ref 1 beta 1 dmax 3\nrun 0\n", [])]
        cases = [(ranks, *case) for case in cases for ranks in (1, 2)]
        results = start_all(run_script, [(SYSTEM + script, ranks) for ranks, script, _ in cases])
        for (ranks, script, expected), result in zip(cases, results):
            with self.subTest(script, ranks=ranks):
                code, output = result.result()
                self.assertEqual(code, 0, output)
                self.assertEqual(re.findall(r"^WARNING: (.* custom: .*) \(\S+:\d+\)$", output, re.MULTILINE),
                                 [self.WARNING.format(*words) for words in expected], output)

    def test_q_that_is_small_at_d0(self):
        """q is 1/(1 + exp(beta (d0 - lambda ref))) at d0: 1/(1 + exp(3)) and 1/2."""
        for d0, expected in ("2.4", True), ("1.8", False):
            with self.subTest(d0):
                code, output = run_script(f"{SYSTEM}compute c all coord/gpu switch q ref 1 beta 5 d0 {d0} dmax 3\nrun 0\nrun 0\n", 2)
                self.assertEqual(code, 0, output)
                self.assertEqual(re.findall(r"^WARNING: (.* q: .*) \(\S+:\d+\)$", output, re.MULTILINE), expected * [
                    "Compute coord/gpu switch q: the function is 0.0474259 at r = d0, and the stretch for dmax = 3 makes that 1 - "
                    "use a d0 below lambda ref = 1.8, where it is 1/2, or nostretch; d0 does not shift q"], output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for stem, text in FILES.items():
            with open(stem + ".pairs", "w") as file:
                file.write(text)
        unittest.main()
