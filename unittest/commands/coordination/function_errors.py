"""Bad functions of coordination numbers, and bad regions of keyword within, for test_errors.py."""

import coordtest

NOT_POSITIVE = "is {} but must be > 0 and finite"

MISSING = [(f"switch exp 1.0 function {words}", f"function {words.split()[0]}") for words in (
    "more_than", "less_than", "between", "between 3", "between 3 5 smear", "moment", "min", "max", "alt_min", "custom", "histogram 0 12")]
MISSING += [("within z 1", "within"), ("within z 1 2 smear", "within smear"), ("within r 1 2 center", "within center")]

# Scripts whose last line must fail.
RUNS = {
    "a function of coordination numbers without a value": (
        "group one id 5\ncompute c one coord/gpu group2 empty switch cubic dmax 3.0 function custom log(s)\nrun 0",
        "Compute coord/gpu c: function custom log(s) or its derivative is not a finite number at s = 0 of atom ID 5 - "
        "use a function that is finite and smooth at all coordination numbers"),
    "a sum of a function that overflows": (
        "compute c all coord/gpu switch cubic d0 2.6 dmax 3.0 precision double function custom 2e307*s\nrun 0",
        "Compute coord/gpu c: S or a derivative is not a finite number, although all positions are - check the switching "
        "function cubic r0 0.4 d0 2.6 dmax 3 stretched or function custom 2e307*s: values, derivatives "
        "and sums must be finite"),
}
RUNS.update({f"within, {what}": (f"{before}compute c a coord/gpu switch cubic dmax 3.0 within {words}\n{after}run 0",
                                 f"Compute coord/gpu c: {message}")
             for what, before, words, after, message in (
    ("wider than the box", "", "z 0 10.5 smear 0.5", "",
     "within z: the region from 0 to 10.5 is wider than 10, the period of the box - use a narrower one"),
    ("smear wider than the box", "", "x 0 5 smear 1.5", "",
     "within x: smear 1.5 exceeds an eighth of 10, the period of the box - use a smaller one"),
    ("ball wider than the box", "", "r 0 4 smear 0.2 center b", "",
     "within r: the largest distance 4 plus 8 times smear 0.2 exceeds 5, half the shortest period of the box - use smaller "
     "numbers"),
    ("box that has shrunk", "", "z 0 9.5 smear 0.5", "run 0\nchange_box all z scale 0.9 remap\n",
     "within z: the region from 0 to 9.5 is wider than 9, the period of the box - use a narrower one"),
    ("no center", "", "r 0 2 smear 0.2 center empty", "",
     "group empty has no atoms - use a group with atoms"),
    ("center with image flags at the limit", "group solute id 1\nset atom 1 image 511 0 0\n", "r 0 2 smear 0.2 center solute", "",
     "an image flag of atom ID 1 has reached its limit, -512 to 511 - use reset_atoms image between runs, or a LAMMPS with "
     "LAMMPS_SIZES=bigbig"),
    ("center deleted", "group solute id 1\n", "r 0 2 smear 0.2 center solute", "group solute delete\n",
     "group solute no longer exists - keep it while the compute uses it"))})
if coordtest.ON_KOKKOS_GPU:
    RUNS["a derivative of a function beyond the floats"] = (
        "group one id 5\ncompute c one coord/gpu group2 empty switch cubic dmax 3.0 precision mixed function custom 1e31*s"
        "\nrun 0",
        "Compute coord/gpu c: the derivative of function custom 1e31*s is 1e+31 at s = 0 of atom ID 5, above 1e+30, the "
        "limit of precision mixed and single with KOKKOS on a GPU - use precision double or device host")


def arguments(keywords, switches, takes):
    """Return words of bad commands and their messages. keywords: keywords of the compute; switches: names
    of switching functions; takes: keywords of a switching function."""
    return [
        ("switch exp 1.0 function [most] 3", "Unknown compute coord/gpu function option: most - known are sum, more_than, "
         "less_than, between, moment, min, max, alt_min, custom, histogram"),
        ("switch exp 1.0 function sum [function] sum", "Compute coord/gpu takes one function, but a second one is given"),
        ("switch exp 1.0 function more_than [step] 1.0",
         f"Unknown compute coord/gpu function more_than option: step - known are {switches}"),
        ("switch exp 1.0 function more_than [rational]",
         "Compute coord/gpu function more_than rational needs r0, for example: rational 1.5"),
        ("switch exp 1.0 function less_than rational [-6]", "Compute coord/gpu function less_than rational: r0 is -6 but "
         "must be > 0 and finite"),
        ("switch exp 1.0 function less_than [cubic] d0 1", "Compute coord/gpu function less_than cubic: a finite dmax is "
         "required: s falls from 1 at d0 to 0 at dmax"),
        ("switch exp 1.0 function more_than rational 6 [bogus] 1", "Unknown compute coord/gpu function keyword: "
         f"bogus - more_than rational takes {takes['rational']}, then optionally {keywords}"),
        ("switch exp 1.0 function min [0]", f"Compute coord/gpu function min: beta {NOT_POSITIVE.format(0)}"),
        ("switch exp 1.0 function max [-2.5]", f"Compute coord/gpu function max: beta {NOT_POSITIVE.format(-2.5)}"),
        ("switch exp 1.0 function alt_min [x]", "Compute coord/gpu function alt_min beta must be a number, not 'x'"),
        ("switch exp 1.0 function between 5 [5]",
         "Compute coord/gpu function between: the upper bound is 5 but must be above the lower bound 5"),
        ("switch exp 1.0 function between [norm] 5", "Compute coord/gpu function between lower bound must be a number, "
         "not 'norm'"),
        ("switch exp 1.0 function between 3 5 smear [0]",
         f"Compute coord/gpu function between: smear {NOT_POSITIVE.format(0)}"),
        ("switch exp 1.0 function moment [1]",
         "Compute coord/gpu function moment: the order is 1 but must be 2 to 100: the first moment is always 0"),
        ("switch exp 1.0 function moment [2.5]",
         "Compute coord/gpu function moment order must be an integer, not '2.5'"),
        ("switch exp 1.0 function histogram 0 12 [x]", "Compute coord/gpu function histogram nbins must be an integer, not "
         "'x'"),
        ("switch exp 1.0 function histogram 0 12 [0]",
         "Compute coord/gpu function histogram: the number of bins is 0 but must be 1 to 10000"),
        ("switch exp 1.0 function histogram 12 [0] 3",
         "Compute coord/gpu function histogram: the upper bound is 0 but must be above the lower bound 12"),
        ("switch exp 1.0 function custom [s+t]", "Compute coord/gpu function custom: the expression 's+t' has the unknown "
         "name t at character 3 - known are s"),
        ("switch exp 1.0 function moment 2 [norm] mean", "Compute coord/gpu function moment is not a sum over atoms and "
         "takes no norm - leave norm out"),
        ("switch [custom] 1.0 func 1-2*x dmax 1.5 nostretch function min 100", "Compute coord/gpu switch custom: s is -2 at "
         "distance 1.5, but function min divides by sums of s, which must not be negative - use an expression that is >= 0 up to "
         "dmax, or a smaller dmax"),
        ("[norm] sum switch exp 1.0 function min 1", "Compute coord/gpu function min is not a sum over atoms and takes no "
         "norm - leave norm out"),
        *((f"switch exp 1.0 {words}", f"Compute coord/gpu {message}") for words, message in (
            ("[within] z 1 2 smear 1 function moment 2",
             "function moment is not a sum over atoms and takes no within - leave within out"),
            ("[within] z 1 2 smear 1 function histogram 0 12 6", "function histogram counts atoms without weights and takes no "
             "within - use function between"),
            ("within z 1 2 smear 1 [within] z 3 4 smear 1", "takes one within, but a second one is given"),
            ("within z [a] 2 smear 1", "within lower bound must be a number, not 'a'"),
            ("within z 1 [norm] smear 1", "within upper bound must be a number, not 'norm'"),
            ("[within] z 1 2 norm mean", "within needs smear, for example: within z 1 2 smear 1.0"),
            ("[within] r 1 2", "within needs smear, for example: within r 1 2 smear 1.0 center solute"),
            ("[within] r 1 2 smear 0.5", "within r needs the group whose center of mass is the center, for example: within r 1 2 "
             "smear 0.5 center solute"),
            ("within r 1 2 smear 0.5 center [nix]", "within center: group nix does not exist - define it before the compute"),
            ("within r 1 2 smear 0.5 center [7]", "within center: 7 must be a group whose name is not a number - rename it"),
            ("within z 1 2 center [b] smear 0.5", "within z takes no center - leave center out, or use within r"),
            ("within z 2 [1] smear 1", "within z: the upper bound is 1 but must be above the lower bound 2"),
            ("within r [-1] 2 center b smear 1", "within r: the smallest distance is -1 but must be >= 0 - use 0 for a ball"),
            ("within z 1 2 smear [0]", f"within z: smear {NOT_POSITIVE.format(0)}"))),
        ("switch exp 1.0 within [w] 1 2", "Unknown compute coord/gpu within option: w - known are x, y, z, r"),
    ]
