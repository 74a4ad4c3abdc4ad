"""Bad input of fix coord/bias stops LAMMPS on all ranks with a message that names the value, the
limit and the way out."""
# Processors: 2
# Without: gpu

import os
import re
import sys
import tempfile
import unittest

import coordtest
import errortest
from coordtest import lmp_program
from errortest import (GOOD, PRINT_S, SYSTEM, commands, error_of, errors_in, expected_of_good, few, run_program, run_script,
                       shortened, start, start_all, value, without_suffix)

# S of cv is about 0.4, S of cw is 3.
VARIABLES = """
compute cv a coord/gpu group2 b switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute cw a coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute cx b coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute cy short coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute ke all ke
variable k equal 1.0
"""
SYSTEM += VARIABLES
FIX = "fix b all coord/bias "
METAD = "c_cv metad sigma 0.2 height 0.1 pace 10 file H"
MOVE = FIX + "c_cv moving k 1 s0 {}\n"

KINDS = "harmonic, moving, wall/upper, wall/lower, linear, metad, opes, opes/explore"
TAKES = {"harmonic": "k, s0, stride", "moving": "k, s0, k/stop, s0/stop, steps, stride",
         "wall/upper": "k, s0, exponent, offset, stride", "linear": "k, s0, stride",
         "opes": "barrier, pace, temp, sigma, sigma/adaptive, sigma/min, biasfactor, epsilon, cutoff, threshold, fixed_sigma, "
                 "recursive, normalize, kernel, force, file, append, extra, write_state, read_state, "
                 "limits, deposit_if, max_skip, walkers, patience, stride",
         "metad": "sigma, height, pace, biasfactor, temp, grid, bins, grow, interval, file, append, write_grid, read_grid, "
                  "limits, deposit_if, max_skip, walkers, patience, stride"}
ONE = "one for the variable c_cv"
EACH = "one for each of the variables c_cv c_cw"
NO_VARIABLE = " - only k and s0 of kind moving may be a variable, v_name"
STEPS = "must be a number of steps from 1 to 2147483647, not '{}'"
MISSING = "Illegal fix coord/bias command: missing argument(s)"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message
# after 'Fix coord/bias ' (after 'Unknown fix coord/bias ' if it begins with ?).
ARGUMENTS = [
    # Variables.
    ("[]", MISSING),
    ("[c_nix] harmonic k 1 s0 2", ": compute nix does not exist - define it before the fix"),
    ("c_cv [c_nix] harmonic k 1 s0 2", ": compute nix does not exist - define it before the fix"),
    ("[c_ke] harmonic k 1 s0 2", f"biases collective variables (computes of style {coordtest.VARIABLES}), but compute ke is of style ke"),
    ("[c_cv[1]] harmonic k 1 s0 2", "takes a whole variable, c_cv, not c_cv[1]"),
    ("c_cv [c_cv] harmonic k 1 1 s0 2 2", ": compute cv is given twice - give each variable once"),
    ("[c_cv,c_cw] harmonic k 1 1 s0 2 2", ": variables are separated by blanks, not by commas: c_cv c_cw, not c_cv,c_cw"),
    ("[harmonic] k 1 s0 2", "needs a collective variable, as c_ID, before the kind of bias, not harmonic"),
    ("[cv] harmonic k 1 s0 2", "needs a collective variable, as c_ID, before the kind of bias, not cv"),
    ("c_cv [c_cw]", f"needs a kind of bias after its variables: {KINDS}"),

    # Kinds and keywords.
    ("c_cv [harmonics] k 1 s0 2", f"?kind: harmonics - known are {KINDS}"),
    ("c_cv harmonic k 1 s0 2 [c_cw]", f"?harmonic keyword: c_cw - known are {TAKES['harmonic']}"),
    ("c_cv harmonic k 1 [S0] 2", f"?harmonic keyword: S0 - known are {TAKES['harmonic']}"),
    ("c_cv harmonic k 1 s0 2 [exponent] 2", f"?harmonic keyword: exponent - known are {TAKES['harmonic']}"),
    ("c_cv moving k 1 s0 2 [s0/end] 2", f"?moving keyword: s0/end - known are {TAKES['moving']}"),
    ("c_cv wall/upper k 1 s0 2 [power] 2", f"?wall/upper keyword: power - known are {TAKES['wall/upper']}"),
    ("c_cv linear k 1 [offset] 2", f"?linear keyword: offset - known are {TAKES['linear']}"),
    ("c_cv metad [k] 1", f"?metad keyword: k - known are {TAKES['metad']}"),
    ("c_cv opes [k] 1", f"?opes keyword: k - known are {TAKES['opes']}"),
    ("c_cv harmonic [2.0]", f"?harmonic keyword: 2.0 - known are {TAKES['harmonic']}"),
    ("c_cv harmonic k 1 s0 2 [k] 1", "harmonic keyword k is given twice"),
    (METAD + " [file] H", "metad keyword file is given twice"),
    ("c_cv [harmonic] s0 2", "harmonic needs keyword k"),
    ("c_cv [harmonic] k 2", "harmonic needs keyword s0"),
    ("c_cv [wall/lower] k 2", "wall/lower needs keyword s0"),
    ("c_cv [linear] s0 2", "linear needs keyword k"),
    ("c_cv [moving] k 1 s0/stop 2 steps 9", "moving needs keyword s0"),
    ("c_cv [metad] height 1 pace 5 file H", "metad needs keyword sigma"),
    ("c_cv [metad] sigma 1 pace 5 file H", "metad needs keyword height"),
    ("c_cv [metad] sigma 1 height 1 file H", "metad needs keyword pace"),
    ("c_cv [metad] sigma 1 height 1 pace 5", "metad needs keyword file"),
    ("c_cv [opes] barrier 9 pace 5 temp 9000", "opes needs keyword file"),
    ("c_cv [opes/explore] pace 5 temp 1 file H", "opes/explore needs keyword barrier"),
    ("c_cv opes barrier 9 pace 5 temp 9000 biasfactor [inf] file H",
     "opes biasfactor inf is not possible with adaptive sigma - use keyword sigma for a sigma that is not adaptive"),

    # Numbers of values.
    ("c_cv harmonic [k] s0 2", f"harmonic keyword k takes 1 value, {ONE}, but has 0"),
    ("c_cv harmonic k 1 [s0]", f"harmonic keyword s0 takes 1 value, {ONE}, but has 0"),
    ("c_cv harmonic [k] 1 2 s0 2", f"harmonic keyword k takes 1 value, {ONE}, but has 2: 1 2"),
    ("c_cv c_cw harmonic [k] 1 s0 2 2", f"harmonic keyword k takes 2 values, {EACH}, but has 1: 1"),
    ("c_cv c_cw harmonic k 1 1 [s0] 1 2 3", f"harmonic keyword s0 takes 2 values, {EACH}, but has 3: 1 2 3"),
    ("c_cv wall/upper k 1 s0 2 [exponent]", f"wall/upper keyword exponent takes 1 value, {ONE}, but has 0"),
    ("c_cv wall/upper k 1 s0 2 [offset] 1 2", f"wall/upper keyword offset takes 1 value, {ONE}, but has 2: 1 2"),
    ("c_cv moving k 1 s0 2 [s0/stop] 1 2 steps 5", f"moving keyword s0/stop takes 1 value, {ONE}, but has 2: 1 2"),
    ("c_cv moving k 1 s0 2 s0/stop 1 [steps]", "moving keyword steps takes 1 value, but has 0"),
    ("c_cv moving k 1 s0 2 s0/stop 1 [steps] 5 6", "moving keyword steps takes 1 value, but has 2: 5 6"),
    ("c_cv harmonic k 1 s0 2 [stride]", "harmonic keyword stride takes 1 value, but has 0"),
    ("c_cv harmonic k 1 s0 2 [stride] 1 2", "harmonic keyword stride takes 1 value, but has 2: 1 2"),
    ("c_cv metad [sigma] 1 2 height 1 pace 5 file H", f"metad keyword sigma takes 1 value, {ONE}, but has 2: 1 2"),
    ("c_cv c_cw metad [sigma] 1 height 1 pace 5 file H", f"metad keyword sigma takes 2 values, {EACH}, but has 1: 1"),
    ("c_cv metad sigma 1 [height] 1 1 pace 5 file H", "metad keyword height takes 1 value, but has 2: 1 1"),
    ("c_cv metad sigma 1 height 1 [pace] file H", "metad keyword pace takes 1 value, but has 0"),
    (METAD + " temp 1 [biasfactor]", "metad keyword biasfactor takes 1 value, but has 0"),
    (METAD + " [temp]", "metad keyword temp takes 1 value, but has 0"),
    (METAD + " [grid] 0 bins 5", "metad keyword grid takes 2 values, low and high for the variable c_cv, but has 1: 0"),
    (METAD + " grid 0 9 [bins] 5 5", f"metad keyword bins takes 1 value, {ONE}, but has 2: 5 5"),
    (METAD + " [interval] 5",
     "metad keyword interval takes 2 values, low and high for the variable c_cv, but has 1: 5"),
    ("c_cv c_cw metad sigma 1 1 height 1 pace 5 file H [interval] 0 5",
     "metad keyword interval takes 4 values, low and high for each of the variables c_cv c_cw, but has 2: 0 5"),
    ("c_cv metad sigma 1 height 1 pace 5 [file]",
     "metad keyword file takes 1 value, the name of the hills file, but has 0"),
    (METAD + " [append]", "metad keyword append takes 1 value, yes or no, but has 0"),
    (METAD + " grid 0 9 bins 90 [write_grid] 10",
     "metad keyword write_grid takes 2 values, a number of steps and a file, but has 1: 10"),
    (METAD + " grid 0 9 bins 90 [read_grid]", "metad keyword read_grid takes 1 value, a file, but has 0"),

    # Limits.
    ("c_cv harmonic k [-1] s0 2", "harmonic k is -1 but must be >= 0"),
    ("c_cv c_cw harmonic k 1 [-0.5] s0 2 2", "harmonic k is -0.5 but must be >= 0"),
    ("c_cv wall/lower k [-1] s0 2", "wall/lower k is -1 but must be >= 0"),
    ("c_cv moving k 1 k/stop [-1] s0 2 steps 5", "moving k/stop is -1 but must be >= 0"),
    ("c_cv wall/upper k 1 s0 2 exponent [1]",
     "wall/upper exponent is 1 but must be > 1, or the force jumps at the wall"),
    ("c_cv c_cw wall/lower k 1 1 s0 2 2 exponent 2 [0.5]",
     "wall/lower exponent is 0.5 but must be > 1, or the force jumps at the wall"),
    ("c_cv wall/lower k 1 s0 1e308 exponent [1e300]", "wall/lower exponent is 1e+300 but must be <= 1000, because V "
     "is close to the largest double at 2 units beyond the wall - use a larger k for a harder wall"),
    ("c_cv [moving] k 1 s0 2", "moving needs a parameter that changes: k/stop, s0/stop, or a variable v_name for "
     "k or s0 - or use kind harmonic"),
    ("c_cv moving k 1 s0 2 [s0/stop] 3", "moving keyword s0/stop needs keyword steps, the number of steps to the stop"),
    ("c_cv moving k 1 s0 2 [k/stop] 3", "moving keyword k/stop needs keyword steps, the number of steps to the stop"),
    ("c_cv moving k 1 s0 v_k [steps] 5",
     "moving steps applies to k/stop and s0/stop - variables change by themselves"),
    ("c_cv moving k 1 s0 v_k s0/stop [3] steps 5",
     "moving: s0 is the variable v_k, so s0/stop cannot change it"),
    ("c_cv c_cw moving k 1 v_k s0 2 2 k/stop 3 [3] steps 5",
     "moving: k is the variable v_k, so k/stop cannot change it"),
    (METAD.replace("sigma 0.2", "sigma [0]"), "metad sigma is 0 but must be > 0"),
    ("c_cv c_cw metad sigma 0.2 [-1] height 1 pace 10 file H", "metad sigma is -1 but must be > 0"),
    (METAD.replace("0.1", "[0]"), "metad height is 0 but must be > 0"),
    (METAD.replace("0.1", "[-2]"), "metad height is -2 but must be > 0"),
    (METAD + " temp 1 biasfactor [1]",
     "metad biasfactor is 1 but must be > 1 - leave it out for hills of constant height"),
    (METAD + " [biasfactor] 5", "metad biasfactor needs keyword temp, the temperature of the thermostat"),
    (METAD + " temp [0]", "metad temp is 0 but must be > 0"),
    (METAD + " temp [1e-322]", "metad temp is 1e-322 but must be > 0"),
    (METAD.replace("10", "[15]") + " stride 10",
     "metad pace 15 is not a multiple of stride 10: hills are added where the bias is evaluated - use pace 20"),
    (METAD + " grid [5] 5 bins 10", "metad grid of c_cv begins at 5, which must be below its end 5"),
    (METAD + " interval [6] 5", "metad interval of c_cv begins at 6, which must be below its end 5"),
    (METAD + " [grid] 0 9", "metad keyword grid needs keyword bins, the number of bins"),
    (METAD + " [bins] 9", "metad keyword bins needs keyword grid"),
    (METAD + " [write_grid] 10 G", "metad keyword write_grid needs keyword grid"),
    (METAD + " [read_grid] G", "metad keyword read_grid needs keyword grid"),
    (METAD + " [grow] no", "metad keyword grow needs keyword grid"),
    (METAD + " grid 0 9 bins 90 [grow]", "metad keyword grow takes 1 value, yes or no, but has 0"),
    (METAD + " grid 0 9 bins 90 interval 1 8 grow [yes]",
     "metad grow yes is not possible with interval, beyond which V is constant - leave out one of them"),
    (METAD + " grid 0 9 bins 90 grow [on]", "metad grow must be yes or no, not 'on'"),
    (METAD + " grid 0 9 bins [44]",
     "metad: points of the grid of c_cv are 0.204545 apart, which is more than its sigma 0.2 - use 90 bins or more, so "
     "that they are at most half a sigma apart"),
    ("c_cv c_cw metad sigma 1 1 height 1 pace 10 file H grid 0 9 0 9 bins 30 [3]",
     "metad: points of the grid of c_cw are 3 apart, which is more than its sigma 1 - use 18 bins or more, so "
     "that they are at most half a sigma apart"),
    (METAD + " grid 0 9 bins [0]", "metad bins must be a number of bins from 1 to 2147483647, not '0'"),
    (METAD + " grid 0 9 bins [9.5]", "metad bins must be a number of bins from 1 to 2147483647, not '9.5'"),
    (METAD + " grid 0 9 [bins] 2000000000", "metad grid has 2000000001 points, more than 1e8 - use fewer bins"),
    (METAD + " grid 1 9 bins 80 interval [0] 9",
     "metad interval of c_cv from 0 to 9 reaches beyond the grid from 1 to 9 - widen keyword grid"),
    (METAD + " interval [2] 9.5 grid 1 9 bins 80",
     "metad interval of c_cv from 2 to 9.5 reaches beyond the grid from 1 to 9 - widen keyword grid"),
    ("c_cv c_cw c_cx c_cy [metad] sigma 1 1 1 1 height 1 pace 10 file H",
     "metad takes 1 to 3 variables, not 4 - use several fixes"),
    ("c_cv metad sigma 1 height 1 pace [2000000000] stride 1500000000 file H",
     "metad pace 2000000000 is not a multiple of stride 1500000000: hills are added where the bias is evaluated - use pace "
     "1500000000"),
    (METAD + " append [maybe]", "metad append must be yes or no, not 'maybe'"),
    (METAD + " grid 0 9 bins 90 write_grid [15] G",
     "metad write_grid every 15 steps is not a multiple of pace 10: it is written when a hill is added - use 20"),
    (METAD + " grid 0 9 bins 90 write_grid 10 [H]",
     "metad write_grid cannot write to the hills file H - use another name"),
    (METAD + " limits [5] 5", "metad limits of c_cv begins at 5, which must be below its end 5"),
    (METAD + " deposit_if [temp]", "metad deposit_if must be a variable, v_name, not 'temp'"),
    (METAD + " [max_skip] 3", "metad keyword max_skip needs keyword limits or deposit_if"),
    (METAD + " limits 0 5 max_skip [0]", "metad max_skip must be a number of hills from 1 to 2147483647, not '0'"),
    (METAD + " walkers [cluster]",
     "metad walkers must be partitions or files, not 'cluster' - use walkers partitions, or walkers files DIR NAME N"),
    (METAD + " walkers [file] S w1 500",
     "metad walkers must be partitions or files, not 'file' - use walkers partitions, or walkers files DIR NAME N"),
    (METAD + " [walkers]", "metad keyword walkers takes 1 value, partitions, or 4 values, files DIR NAME N, but has 0"),
    (METAD + " [walkers] files S w1",
     "metad keyword walkers takes 4 values, files, a folder, the name of this walker and a number of steps, but has 3: files S w1"),
    (METAD + " walkers files S [a.b] 20", "metad name of a walker 'a.b' must have 1 to 100 letters, digits, _ and - only"),
    (METAD + " walkers files S w1 [0]", "metad walkers " + STEPS.format("0")),
    (METAD + " walkers files S w1 [15]",
     "metad walkers files every 15 steps is not a multiple of pace 10: hills of other walkers are read when a hill is added "
     "- use 20"),
    (METAD + " [walkers] files S w1 limits 0 5",
     "metad keyword walkers takes 4 values, files, a folder, the name of this walker and a number of steps, but has 3: files S w1"),
    ("c_cv opes barrier 9 pace 5 temp 9000 file K walkers [files] S w1 20",
     "opes walkers files is not possible, because the sum depends on the order of kernels - use walkers partitions"),
    (METAD + " walkers files S w1 20 [patience] 5", "metad keyword patience needs walkers partitions"),
]

# Numbers of steps.
for bad in "0", "-1", "1.5", "2147483648", "nan", "v_k":
    ARGUMENTS += [
        (f"c_cv harmonic k 1 s0 2 stride [{bad}]", "harmonic stride " + STEPS.format(bad)),
        (f"c_cv moving k 1 s0 2 s0/stop 3 steps [{bad}]", "moving steps " + STEPS.format(bad)),
        (METAD.replace("10", f"[{bad}]"), "metad pace " + STEPS.format(bad)),
        (METAD + f" grid 0 9 bins 90 write_grid [{bad}] G", "metad write_grid " + STEPS.format(bad))]

# Numbers.
for words, name in (
        ("c_cv harmonic k {} s0 2", "harmonic k"), ("c_cv c_cw harmonic k 1 1 s0 2 {}", "harmonic s0"),
        ("c_cv moving k {} s0 v_k", "moving k"), ("c_cv moving k 1 s0 2 s0/stop {} steps 5", "moving s0/stop"),
        ("c_cv wall/upper k 1 s0 2 exponent {}", "wall/upper exponent"),
        ("c_cv wall/lower k 1 s0 2 offset {}", "wall/lower offset"), ("c_cv linear k {}", "linear k"),
        (METAD.replace("0.2", "{}"), "metad sigma"), (METAD.replace("0.1", "{}"), "metad height"),
        (METAD + " temp {}", "metad temp"), (METAD + " temp 1 biasfactor {}", "metad biasfactor"),
        (METAD + " bins 90 grid {} 9", "metad grid"), (METAD + " interval 0 {}", "metad interval")):
    for bad in "nan", "-nan", "inf", "1.0x", "1,5", "v_", "v_k":
        if bad == "v_k" and name == "moving k":
            continue
        ARGUMENTS.append((words.format(f"[{bad}]"), f"{name} must be a number, not '{bad}'" +
                          (NO_VARIABLE if bad[:2] == "v_" else "")))

HEAD = ("#! FIELDS time cv sigma_cv height biasf\n#! SET multivariate false\n#! SET kerneltype stretched-gaussian\n")
HILL = " 0.1 20 0.2 0.1 -1\n"
# A grid from 0 to 1 in 2 bins.
GRID_HEAD = ("#! FIELDS cv metad.bias der_cv\n#! SET min_cv 0\n#! SET max_cv 1\n#! SET nbins_cv 3\n"
             "#! SET periodic_cv false\n# GPUCOORD grid format 2\n# hills 1\n")
GRID_END = "0 0 0\n0.5 0.1 0\n1 0 0\n"
# The checksum of these points, and one of other hills
GRID_SUMS = "# checksums hills 0123456789abcdef grid 861fa3df1d1585e0\n"
FILES = {
    "good": HEAD + HILL * 2, "other": HEAD.replace("cv", "cw") + HILL, "two": HEAD.replace("cv", "cv c") + HILL,
    "gaussian": HEAD.replace("stretched-", "") + HILL, "multivariate": HEAD.replace("false", "true") + HILL,
    "headless": HILL, "short": HEAD + HILL + " 0.1 20 0.2 0.1\n" + HILL, "word": HEAD + "a 1 1 1 1\n" + HILL,
    "width": HEAD + HILL.replace("0.2", "-0.2") + HILL, "binary": HEAD + "\0\0\n" + HILL,
    "grid": GRID_HEAD + GRID_END, "grid3": GRID_HEAD.replace("hills 1", "hills 3") + GRID_SUMS + GRID_END,
    "gridother": GRID_HEAD + GRID_SUMS + GRID_END,
    "gridless": GRID_HEAD.replace("# hills 1\n", "") + GRID_END, "gridname": GRID_HEAD.replace("cv", "cw") + GRID_END,
    "gridlow": GRID_HEAD.replace("min_cv 0", "min_cv 0.1") + GRID_END,
    "gridhigh": GRID_HEAD.replace("max_cv 1", "max_cv 1.1") + GRID_END,
    "gridbins": GRID_HEAD.replace("nbins_cv 3", "nbins_cv 4") + GRID_END,
    "gridperiod": GRID_HEAD.replace("false", "true") + GRID_END, "gridshort": GRID_HEAD + "0 0 0\n0.5 0 0\n",
    "gridlong": GRID_HEAD + GRID_END + "1 0 0\n", "gridcolumns": GRID_HEAD + "0 0\n",
    "gridword": GRID_HEAD + "0 0 0.x\n", "gridplace": GRID_HEAD + "0 0 0\n1 0 0\n1 0 0\n",
    "gridnan": GRID_HEAD + "0 nan 0\n",
    "gridplumed": GRID_HEAD.replace("# GPUCOORD grid format 2\n# hills 1\n", "") + GRID_END,
    "gridsums": GRID_HEAD + "# checksums grid 0\n" + GRID_END,
    "gridaltered": GRID_HEAD + "# checksums hills 0123456789abcdef grid 0123456789abcdef\n" + GRID_END,
    "bytes": HEAD + "a\xff 1 1 1 1\n" + HILL, "gridbytes": GRID_HEAD + "0 \x01\xff\0 0\n",
    "lj": HEAD + "# LAMMPS units lj: time and heights in these\n" + HILL,
}
REPAIR = " - repair it, or use a backup of it"
WIDEN = " - leave out grow no, widen keyword grid, or give keyword interval, beyond which the bias is constant"
ANOTHER = " - give another file"
LEAVE_OUT = " - leave out keyword read_grid to take all hills from the hills file"
APPEND = FIX + METAD + " append yes\nrun 0"
READ_GRID = FIX + METAD.replace("0.2", "0.5") + " grid 0 1 bins 2 interval 0 1 append yes file good read_grid"


def append(name):
    return APPEND.replace("file H", f"file {name}")


def read_grid(name):
    return READ_GRID.replace("file H ", "") + f" {name}\nrun 0"


# An earlier run of 20 steps with hills at steps 10 and 20, continued from its restart file.
METAD_R = METAD.replace("file H", "file R")
CONTINUE = (FIX + METAD_R + "\nrun 20\nwrite_restart r\n{}\nclear\nread_restart r\n" +
 VARIABLES.strip() + "\n")

# Scripts whose last line must fail, after SYSTEM, and the message after 'Fix coord/bias b: '.
PRE_NO = "the fix or compute cv was defined or deleted after the last setup - use run without pre no"
CV = VARIABLES.strip().split("\n")[0]
OTHER_COMPUTE = "compute cv was deleted and defined again - define the fix again after the compute"
RUNS = {
    # Groups, computes and variables.
    "dynamic group": ("variable y atom id<10\ngroup a dynamic all var y\n" + FIX + "c_cv harmonic k 1 s0 2\nrun 0",
        "group a of compute cv is dynamic, so S and the bias would jump - use a static group, and a switching function "
        "that lets atoms in and out smoothly"),
    "dynamic second group": ("variable y atom id<10\ngroup b dynamic all var y\n" + FIX + "c_cv linear k 1\nrun 0",
        "group b of compute cv is dynamic, so S and the bias would jump - use a static group, and a switching function "
        "that lets atoms in and out smoothly"),
    "compute deleted": (FIX + "c_cv harmonic k 1 s0 2\nuncompute cv\nrun 0",
        "compute cv no longer exists - keep it while the fix uses it"),
    "compute replaced": (FIX + "c_cv harmonic k 1 s0 2\nuncompute cv\ncompute cv all ke\nrun 0",
        "compute cv no longer exists - keep it while the fix uses it"),
    "compute replaced by one of its style": (FIX + "c_cv harmonic k 1 s0 2\nrun 0\nuncompute cv\n" + CV + "\nrun 0",
        OTHER_COMPUTE),
    "compute replaced before the first run": (FIX + METAD + "\nuncompute cv\n" + CV + "\nrun 0", OTHER_COMPUTE),
    "compute replaced after the setup": (
        FIX + "c_cv harmonic k 1 s0 2\nrun 0\nuncompute cv\n" + CV + "\nrun 1 pre no", PRE_NO),
    "no variable": (MOVE.format("v_nix") + "run 0", "variable nix does not exist - define it before the run"),
    "variable deleted": (MOVE.format("v_k") + "run 0\nvariable k delete\nrun 0",
        "variable k does not exist - define it before the run"),
    "atom-style variable": ("variable y2 atom x\n" + MOVE.format("v_y2") + "run 0",
        "variable y2 must be of style equal or similar"),
    "variable nan": ("variable y3 equal exp(1000)-exp(1000)\n" + MOVE.format("v_y3") + "run 0",
        "variable y3 is nan, not a finite number - correct its formula"),
    "variable inf": ("variable y4 equal exp(1000*(step>2))\n" + MOVE.format("v_y4") + "run 5",
        "variable y4 is inf, not a finite number - correct its formula"),

    # A bias that is not finite.
    "linear too far": (FIX + "c_cv linear k 10 s0 -1e308\nrun 0",
        "the bias is not a finite number: V = inf, dV/dS = 10 at c_cv = {cv17} - use a smaller k or s0"),
    "harmonic too far": (FIX + "c_cv c_cw harmonic k 1 1 s0 0 1e200\nrun 0",
        "the bias is not a finite number: V = inf, dV/dS = {cv17} at c_cv = {cv17}, dV/dS = -1e+200 at c_cw = {cw17} - use a "
        "smaller k or s0"),
    "wall too far": (FIX + "c_cv wall/lower k 1 s0 1e308\nrun 0",
        "the bias is not a finite number: V = inf, dV/dS = -inf at c_cv = {cv17} - use a smaller k, s0, exponent or offset"),
    "stride too strong": (FIX + "c_cv linear k 1e308 stride 10\nrun 0",
        "the bias is not a finite number: V = {huge}, dV/dS = 1e+308 at c_cv = {cv17} - use a smaller k or s0"),
    "too strong in the run": ("variable k equal 10^(300*(step>2))\n" + FIX + "c_cv moving k v_k s0 1e10\nrun 5",
        "the bias is not a finite number: V = inf, dV/dS = -inf at c_cv = {cv17} - use a smaller k or s0"),
    "hills too high": (FIX + METAD.replace("height 0.1 pace 10", "height 1e308 pace 1") + "\nrun 5",
        "the bias is not a finite number: V = inf, dV/dS = 0 at c_cv = {cv17} - use a smaller height"),

    # The order of fixes.
    **{f"after {style}": (f"fix p all {style} {words}\n" + FIX + "c_cv harmonic k 1 s0 2\nrun 0",
        f"must be defined before fix p of style {style}, which needs the virial of the bias - define fix b first")
       for style, words in (("npt", "temp 300 300 1 iso 0 0 1"), ("nph", "iso 0 0 1"), ("press/berendsen", "iso 0 0 1"),
                            ("box/relax", "iso 0"), ("rigid/nph", "group 1 short iso 0 0 1"))},

    # The grid.
    "outside the grid": (FIX + METAD + " grid 0 0.25 bins 5 grow no\nrun 0",
        "variable cv = {cv} is outside the grid from 0 to 0.25" + WIDEN),
    "below the grid": (FIX + METAD + " grid 50 55 bins 50 grow no\nrun 0",
        "variable cv = {cv} is outside the grid from 50 to 55" + WIDEN),
    "outside the grid in the run": (
        FIX + "c_cv c_cw metad sigma 0.2 0.2 height 0.1 pace 10 file H grid 0 90 0 20 bins 900 200 "
        "grow no\nrun 10\nset group a x 0 y 0 z 0\nrun 1",
        "variable cw = 28 is outside the grid from 0 to 20" + WIDEN),
    "a grid that cannot grow": (
        "set group a x 0 y 0 z 0\n" + FIX + "c_cw metad sigma 1e-9 height 0.1 pace 10 file H grid 0 1e-8 bins 20\nrun 10",
        "the grid cannot grow to a hill at cw = 28: it would have 56000000010 points, more than 1e8 - use fewer bins, a wall "
        "that limits the variable, or keyword interval, beyond which the bias is constant"),

    "defined after the setup": (FIX + "c_cv harmonic k 1 s0 2\nrun 0\n" + FIX + "c_cv harmonic k 1 s0 2\nrun 1 pre no", PRE_NO),
    "compute deleted after the setup": (FIX + "c_cv harmonic k 1 s0 2\nrun 0\nuncompute cv\nrun 1 pre no", PRE_NO),
    "compute deleted before neighbor lists are made": (
        "neigh_modify every 1 delay 0 check no\n" + FIX + "c_cv harmonic k 1 s0 2\nrun 0\nuncompute cv\nrun 1 pre no", PRE_NO),
    "negative k": ("variable k equal 3-step\n" + FIX + "c_cv moving k v_k s0 1\nrun 10",
        "variable k makes k -1, but it must be >= 0"),
    "restart before the begin": (
        "run 20\n" + FIX + "c_cv moving k 1 s0 1 s0/stop 2 steps 9\nrun 0\nwrite_restart r\nclear\nread_restart r\n" +
        VARIABLES.strip() + "\nreset_timestep 7\n" + FIX + "c_cv moving k 1 s0 1 s0/stop 2 steps 9",
        "in the run that wrote the restart file the bias began at step 20, which is after the present step 7 - leave out "
        "reset_timestep, or use another fix ID"),

    # Hills files.
    "append without a file": (append("nix"),
        "hills file nix does not exist - use append no for a new file"),
    "hills file is a folder": (FIX + METAD.replace("file H", "file .") + "\nrun 0",
        "cannot write hills file .: Is a directory"),
    "hills file in no folder": (FIX + METAD.replace("file H", "file nix/H") + "\nrun 0",
        "cannot write hills file nix/H: No such file or directory"),
    # A folder in which not even root can write.
    "read-only folder": (FIX + METAD.replace("file H", "file /proc/H") + "\nrun 0",
        "cannot write hills file /proc/H: No such file or directory"),
    "not a hills file": ("shell printf notes > notes\n" + append("notes"),
        "file notes is not a hills file - give the name of one, or of a new file"),
    "write_grid by another name": (FIX + METAD + " grid 0 90 bins 900 write_grid 10 ./H\nrun 10",
        "write_grid ./H is the hills file - give another name"),
    "other variable": (append("other"),
        "hills file other, line 1: it has the columns 'time cw sigma_cw height biasf', but this fix needs "
        "'time cv sigma_cv height biasf'" + ANOTHER),
    "more variables": (append("two"),
        "hills file two, line 1: it has the columns 'time cv c sigma_cv c height biasf', but this fix needs "
        "'time cv sigma_cv height biasf'" + ANOTHER),
    "other hills": (append("gaussian"),
        "hills file gaussian, line 3: kerneltype is gaussian, but only stretched-gaussian is known" + ANOTHER),
    "multivariate hills": (append("multivariate"),
        "hills file multivariate, line 2: multivariate is true, but only false is known" + ANOTHER),
    "hills without a header": (append("headless"),
        "hills file headless, line 1: a hill comes before the line '#! FIELDS time cv sigma_cv height biasf'" + REPAIR),
    "a number missing": (append("short"), "hills file short, line 5: 4 columns in place of 5" + REPAIR),
    "not a number": (append("word"), "hills file word, line 4: 'a' is not a number" + REPAIR),
    "bytes that are not ASCII": (append("bytes"), "hills file bytes, line 4: 'a\\xc3\\xbf' is not a number" + REPAIR),
    "a negative sigma": (append("width"), "hills file width, line 4: sigma -0.2 is not above 0" + REPAIR),
    "NUL bytes": (append("binary"), "hills file binary, line 4: it has bytes that are not text" + REPAIR),
    "hills in other units": (append("lj"),
        "hills file lj, line 4: its times and heights are in units lj, but this simulation has units metal - convert them "
        "and this line, or give another file"),
    "two fixes with one file": (FIX + METAD + "\nfix b2 all coord/bias " + METAD + "\nrun 0",
        "hills file H is also the hills file of fix b of style coord/bias - use one file for each", "b2"),
    "two names of one file": (
        FIX + METAD + "\nfix b2 all coord/bias " + METAD.replace("file H", "file ./H append yes") + "\nrun 0",
        "hills file ./H is also the hills file of fix b of style coord/bias - use one file for each", "b2"),

    "two walkers of one name": (
        FIX + METAD + " walkers files S w1 20\nfix b2 all coord/bias " + METAD.replace("file H", "file H2") + " walkers files S w1 20\nrun 0",
        "hills file S/w1.w is also the hills file of fix b of style coord/bias - use one file for each", "b2"),
    "a hills file that other walkers would read": (FIX + METAD.replace("file H", "file ./S/H.w") + " walkers files S w1 20\nrun 0",
        "hills file ./S/H.w would be that of a walker of this folder - give a name in another folder, or one that does not end in .w"),
    "a folder of walkers in a file": ("shell touch nix\n" + FIX + METAD + " walkers files nix/S w1 20\nrun 0",
        "cannot make the folder of walkers nix/S: Not a directory - make room, or give the name of a folder, or a new name"),
    "a folder of walkers that is a file": ("shell touch nix\n" + FIX + METAD + " walkers files nix w1 20\nrun 0",
        "cannot make the folder of walkers nix: Not a directory - make room, or give the name of a folder, or a new name"),
    "a file of walkers files": (FIX + METAD + " walkers files S w1 20\nrun 20\nunfix b\n" + FIX + METAD +
        " append yes walkers partitions\nrun 0",
        "walker 0: hills file H, line 4: it names walker w1, as in a file of walkers files - use walkers files, or give another file"),
    "a file of walkers partitions": (FIX + METAD + " walkers partitions\nrun 20\nunfix b\n" + FIX + METAD +
        " append yes walkers files S w1 20\nrun 0",
        "hills file H, line 6: no line before it names a walker, as in a file of walkers partitions - use walkers partitions, or "
        "give another file"),

    # Restarts.
    "restart without the file": (CONTINUE.format("shell rm R") + FIX + METAD_R + "\nrun 0",
        "hills file R does not exist - give the hills file of the run that wrote the restart file"),
    "restart with fewer hills": (CONTINUE.format("shell cp good R\nshell sed -i 5d R") + FIX + METAD_R + "\nrun 0",
        "hills file R ends after 1 of the 2 hills that were in the bias of the restart file - give the hills file of "
        "that run"),
    "restart with other hills": (CONTINUE.format("shell cp good R") + FIX + METAD_R + "\nrun 0",
        "hill 2 of hills file R is at c_cv = 20, but in the run that wrote the restart file it was at {cv17} - give "
        "the hills file of that run"),
    "restart with an edited hill": (CONTINUE.format("shell sed -i 6s/0.10000000000000001/0.11/ R") + FIX + METAD_R + "\nrun 0",
        "the first 2 hills of hills file R are not those of the run that wrote the restart file: their checksum differs - "
        "give the hills file of that run, or use another fix ID and append yes for a new run with these hills"),
    "restart with another kind": (CONTINUE.format("") + FIX + "c_cv harmonic k 1 s0 2",
        "the restart file has kind metad with 1 variable for this fix ID, but the command has kind harmonic with 1 - use the "
        "command of the earlier run, or another fix ID"),
    "restart with another number of variables": (
        CONTINUE.format("") + FIX + "c_cv c_cw metad sigma 1 1 height 1 pace 10 file R",
        "the restart file has kind metad with 1 variable for this fix ID, but the command has kind metad with 2 - use the "
        "command of the earlier run, or another fix ID"),
    "restart with a later grid": (
        CONTINUE.format("shell cp grid3 G") + FIX + "c_cv metad sigma 0.5 height 1 pace 10 file R grid 0 1 bins 2 "
        "interval 0 1 read_grid G\nrun 0",
        "grid file G holds 3 hills, but there are 2" + LEAVE_OUT),

    # Grid files.
    "read_grid of a new run": (read_grid("grid").replace("append yes", "append no"),
        "keyword read_grid grid continues an earlier run and also needs its hills - use append yes"),
    "no grid file": (read_grid("nix"), "cannot read grid file nix: No such file or directory" + LEAVE_OUT),
    "grid file is a device": (read_grid("/dev/zero"), "cannot read grid file /dev/zero: it is not a regular file" + LEAVE_OUT),
    "more hills in the grid file": (read_grid("grid3"),
        "grid file grid3 holds 3 hills, but there are 2" + LEAVE_OUT),
    "grid of other hills": (read_grid("gridother"),
        "grid file gridother is not the sum of these hills: the first 1 have another checksum than those in the grid" +
        LEAVE_OUT),
    "grid without a format": (read_grid("gridplumed"),
        "grid file gridplumed has no comment '# GPUCOORD grid format 2': PLUMED, GPUCOORD before version 1.0 or another program "
        "wrote it" + LEAVE_OUT),
    "altered grid": (read_grid("gridaltered"),
        "grid file gridaltered was altered after it was written: its numbers do not have the checksum that it gives" +
        LEAVE_OUT),
    **{f"grid file {name}": (read_grid(name), f"grid file {name}, line {line}: {why}{LEAVE_OUT}")
       for name, line, why in (
        ("gridname", 1, "its columns are cw metad.bias der_cw, but the fix needs cv metad.bias der_cv"),
        ("gridlow", 2, "min_cv is 0.1, but the fix has 0"), ("gridhigh", 3, "max_cv is 1.1, but the fix has 1"),
        ("gridbins", 4, "nbins_cv is 4, but the fix has 3"),
        ("gridperiod", 5, "periodic_cv is true, but the fix has false"),
        ("gridshort", 9, "it ends after 2 of 3 points"), ("gridlong", 11, "more points than the grid has"),
        ("gridcolumns", 8, "2 columns in place of 3"), ("gridword", 8, "'0.x' is not a number"),
        ("gridnan", 8, "'nan' is not a number"), ("gridbytes", 8, r"'\x01\xc3\xbf\x00' is not a number"), ("gridplace", 9, "cv is 1 in place of 0.5"),
        ("gridsums", 8, "'# checksums grid 0' in place of '# checksums hills X grid Y'"),
        ("gridless", 9, "no line '# hills N' says how many hills are in it"))},
    "grid file in no folder": (FIX + METAD + " grid 0 90 bins 900 write_grid 10 nix/G\nrun 10",
        "cannot write nix/G: No such file or directory - all hills are in H; make room, or allow writing, in its folder, and "
        "continue from the last restart file"),
}

# These errors differ between ranks, so one rank could stop alone or wait forever. The executable
# runs them, too.
ON_RANKS = ["linear too far", "hills too high", "altered grid", "hills in other units", "restart with an edited hill",
            "compute replaced by one of its style", "outside the grid", "below the grid",
            "a grid that cannot grow", "append without a file", "hills file in no folder",
            "a number missing", "restart with fewer hills", "restart with other hills", "no grid file",
            "more hills in the grid file", "grid file in no folder", "restart with another kind"]


def at_run_time(message, fix="b"):
    """Return the message with values that only a run provides."""
    if "{cv" in message:
        lmp = start()
        commands(lmp, SYSTEM + PRINT_S.replace("c_c", "c_cv c_cw") + "run 0")
        s, other = lmp.extract_compute("cv", 0, 0), lmp.extract_compute("cw", 0, 0)
        lmp.close()
        message = shortened(message.replace("{cv}", f"{s:.10g}").replace("{cv17}", repr(s)).replace("{cw17}", repr(other))
                            .replace("{huge}", repr(1e308 * s)))
    return f"Fix coord/bias {fix}" + (" " if message.startswith("must be") else ": ") + message


def expected(message):
    return ("Unknown fix coord/bias " + message[1:] if message[0] == "?" else
            message if message == MISSING else "Fix coord/bias" + (" " if message[0] != ":" else "") + message)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def contents():
    return {name: read(name) for name in os.listdir(".") if os.path.isfile(name)}


def put_files(folder="."):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.islink(path) or os.path.isfile(path):
            os.remove(path)
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def tearDownModule():
    start().finalize()  # mpirun reports an error for a rank that ends without this call


class InProcess(errortest.InProcess):
    SYSTEM = SYSTEM

    def check_still_usable(self):
        """Correct computes and fixes work after the error, and the compute's value follows its
        definition."""
        commands(self.lmp, GOOD + "\nfix good all coord/bias c_c harmonic k 2 s0 1.5\n" + PRINT_S + "run 0")
        s = expected_of_good(self.lmp)
        self.assertAlmostEqual(value(self.lmp), s, delta=1e-5)
        self.assertAlmostEqual(self.lmp.extract_fix("good", 0, 0), (s - 1.5)**2, delta=1e-3)
        commands(self.lmp, "thermo_style one\nunfix good\nuncompute c")


class Arguments(InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = FIX + words
            if words == "[]":
                marked = FIX.strip()
            with self.subTest(words):
                plain = re.sub(r"\[(\S*?)\](?=\s|$)", r"\1", marked)
                found = error_of(self.lmp, plain)
                self.assertEqual(found, (expected(message), marked if "[" in words and words != "[]" else None))
                self.assertFalse(self.lmp.has_id("fix", "b"))
        self.check_still_usable()


    def test_group(self):
        words = "coord/bias c_cv harmonic k 1 s0 2"
        self.assertEqual(error_of(self.lmp, f"fix b a {words}"), (
            "Fix coord/bias group must be all, not a: forces act on the atoms of the computes' groups - use group all, and "
            "choose atoms by the groups of the computes", f"fix b [a] {words}"))
        self.check_still_usable()


class Runs(InProcess):
    def test_runs(self):
        for name, (script, *message) in RUNS.items():
            *before, last = script.split("\n")
            with self.subTest(name):
                put_files()
                self.setUp()
                commands(self.lmp, "\n".join(before))
                files = contents()
                found, _ = error_of(self.lmp, last)
                # The sign of nan depends on the processor.
                self.assertEqual(without_suffix(found).replace("-nan", "nan"), at_run_time(*message))
                # Rejected files stay unchanged; H is new, or belongs to the run.
                self.assertEqual({**contents(), "H": None}, {**files, "H": None})
                for fix in "b", "b2", "p":
                    if self.lmp.has_id("fix", fix):
                        self.lmp.command(f"unfix {fix}")
                self.check_still_usable()

    def test_mended(self):
        """Some errors are fixed by the way out in their message, in the same LAMMPS."""
        for name, way_out, hills in (
                ("append without a file", f"unfix b\n{FIX}{METAD}", 1),
                ("a number missing", "shell sed -i 5d short", 3),
                ("dynamic group", "group a static", None), ("no variable", "variable nix equal 2", None),
                ("outside the grid", f"unfix b\n{FIX}{METAD} grid 0 0.25 bins 5 interval 0 0.25", 1),
                ("restart without the file", "shell cp save R", 3),
                ("two fixes with one file", "unfix b2", 1), ("after npt", "unfix p", None)):
            with self.subTest(name):
                put_files()
                self.setUp()
                *before, last = RUNS[name][0].replace("shell rm R", "shell mv R save").split("\n")
                commands(self.lmp, "\n".join(before))
                error_of(self.lmp, last)
                commands(self.lmp, way_out + "\nrun 10")
                if name == "no variable":
                    self.lmp.command("variable nix delete")
                if hills:
                    self.assertEqual(self.lmp.extract_fix("b", 0, 1, 5), hills)


MOLECULES = SYSTEM.replace("atom_modify", "atom_style bond\natom_modify").replace(
    "create_box 1 box", "create_box 1 box bond/types 1 extra/bond/per/atom 1 extra/special/per/atom 2") + """
bond_style harmonic
bond_coeff 1 1.0 2.5
create_bonds single/bond 1 1 2
"""


class Warnings(unittest.TestCase):
    """These cases are not errors, but each gives one warning."""

    def check(self, cases):
        cases = few((ranks, *case) for case in cases for ranks in (1, 2))
        results = start_all(run_script, [(MOLECULES + script.format(ranks), ranks) for ranks, script, _ in cases])
        for (ranks, script, message), result in zip(cases, results):
            with self.subTest(script, ranks=ranks):
                code, output = result.result()
                self.assertEqual(code, 0, output)
                name = re.search(r"file (\S+)", script.format(ranks))
                message = message and message.replace("{file}", name.group(1) if name else "")
                found = re.findall(r"^WARNING: (Fix.*) \(\S+:\d+\)$", output, re.MULTILINE)
                self.assertEqual(list(map(without_suffix, found)), [message] if message else [])

    def test_fixes_that_change_the_box(self):
        """Fixes that fix coord/bias does not know by name, and fix deform, which does not request the
        pressure."""
        plugin = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "box_fix", "box_fix.so")
        self.assertTrue(os.path.exists(plugin), f"there is no {plugin}")
        box, bias, run = "fix p all test/box\n", FIX + "c_cv harmonic k 1 s0 2\n", "run 1\nrun 1"
        load = f"plugin load {plugin}\n"
        self.check([
            (load + box + bias + run, "Fix coord/bias b is defined after fix p of style test/box, which changes the box: the "
             "pressure at its setup lacks the virial of the bias - define fix b first, or use fix_modify b virial no"),
            (load + bias + box + run, None), (load + box + bias + "fix_modify b virial no\n" + run, None),
            ("fix p all deform 1 x erate 0.001\n" + bias + run, None)])

    def test_warnings(self):
        put_files()
        shake = [("fix s all shake 1e-4 10 0 b 1\n" + FIX + "c_cv harmonic k 1 s0 2\nrun 1\nrun 1",
                  "Fix coord/bias b is defined after fix s of style shake, which does not see the forces of the "
                  "bias - define fix b first")]
        self.check([
            *([] if coordtest.kokkos_copies_lack("fix shake", coordtest.NO_SHAKE) else shake),
            ("dump d all atom 1 d{0}\nrun 3\nundump d\nreset_timestep 0\n" + FIX + METAD.replace("file H", "file W{0}") +
             "\nrerun d{0} dump x y z", "Fix coord/bias b: rerun adds no hills, V is that of the 0 "
             "hills in {file} - give append yes to have those of an earlier run"),
            ("compute lifetime a coord/gpu switch cubic dmax 3.0\nfix b all coord/bias c_lifetime metad sigma 1 height 1 "
             "pace 1 file L{}\nrun 1\nrun 1", "Fix coord/bias b: plumed sum_hills cannot read hills of a variable whose "
             "name contains time: lifetime"),
            ("shell cp good U{0}\nfix b all coord/bias c_cv metad sigma 0.2 height 0.1 pace 10 "
             "file U{0} append yes\nrun 1\nrun 1", "Fix coord/bias b: hills file {file} does not give the units of "
             "its heights - they are assumed to be in units metal"),
            ("fix b all coord/bias c_cv metad sigma 0.2 height 0.1 pace 1 biasfactor 5 temp 1 file V{0}\nrun 1\nunfix b\n"
             "fix b all coord/bias c_cv metad sigma 0.2 height 0.1 pace 10 file V{0} append yes\nrun 1\nrun 1", "Fix "
             "coord/bias b: hills file {file} has hills with biasfactor 5, but the fix has no biasfactor - heights are converted "
             "with the biasfactor of the file"),
            (FIX + "c_cv moving k 1 s0 2 s0/stop 3 steps 100\nrun 10\nwrite_restart w{0}\nclear\nread_restart w{0}\n" +
             VARIABLES.strip() + "\n" + FIX + "c_cv moving k 1 s0 2 s0/stop 3 steps 200\nrun 1\nrun 1",
             "Fix coord/bias b: continues with steps 200, but the restart file had steps 100 - check the values of this "
             "command")])


class Partitions(unittest.TestCase):
    def test_one_file_for_two(self):
        """The second run raises an error, and the file remains that of the first."""
        with open("in.partitions", "w") as file:
            file.write(SYSTEM + FIX + METAD.replace("file H", "file PART pace 1").replace("pace 10 ", "") + "\nrun 1000000\n")
        code, output = run_program([*lmp_program(), "-in", "in.partitions", "-partition", "2x1", "-log", "none",
                                    "-screen", "screen", "-nocite"], 2)
        self.assertNotEqual(code, 0)
        said = "".join(read(name).decode() for name in os.listdir(".") if name.startswith("screen.")) + output
        self.assertIn("hills file PART is being written by another fix or run - use one file for each", said)
        self.assertEqual(read("PART").count(b"FIELDS"), 1)
        self.assertEqual([name for name in os.listdir(".") if name.endswith(".PART")], [])


class TwoRanks(unittest.TestCase):
    maxDiff = None

    def test_same_in_process(self):
        """The tests above run on both of two ranks: if the ranks do not fail alike, the test fails
        or hangs."""
        code, output = run_program([sys.executable, os.path.abspath(__file__), "Arguments", "Runs"], 2)
        self.assertEqual(code, 0, output)
        # The ranks may write into one line.
        self.assertEqual(output.replace("KOKKOS", "").count("OK"), 2, output)

    def test_executable_stops(self):
        cases = few((name, *RUNS[name]) for name in ON_RANKS)
        scripts = []
        # In separate folders, because all run at the same time.
        for k, (_, script, _) in enumerate(cases):
            os.mkdir(f"ranks{k}")
            put_files(f"ranks{k}")
            scripts.append((f"shell cd ranks{k}\n{SYSTEM}{script}\nprint 'went on'\n", 2))
        for (name, _, message), result in zip(cases, start_all(run_script, scripts)):
            with self.subTest(name):
                code, output = result.result()
                self.assertEqual(errors_in(output), [at_run_time(message)], output)
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
