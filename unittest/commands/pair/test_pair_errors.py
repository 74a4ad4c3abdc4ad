"""Bad input of pair_style coord stops LAMMPS on all ranks with a message that names the value, the
limit and the way out, and leaves earlier settings unchanged."""
# Processors: 2
# Without: gpu

import os
import re
import sys
import tempfile
import unittest

import numpy as np

import coordtest
import errortest
from errortest import (commands, error_of, errors_in, expected_of_good, run_program, run_script, shortened, start,
                       start_all)

SYSTEM = errortest.SYSTEM.replace("create_box 1", "create_box 2").replace("mass 1", "mass *").replace(
    "pair_style zero 3.0\npair_coeff * *\n", "set group all type/fraction 2 0.5 99\n")
# All sums of single precision differ from those of double.
STYLE = "pair_style coord engine cells precision single device host"
GOOD = "pair_coeff * * 0.7 cubic d0 1.0 dmax 3.0"

MISSING = "Illegal pair_coeff command: missing argument(s)"    # LAMMPS' message
INCOMPLETE = "Pair coord needs epsilon and a switching function, for example: pair_coeff 1 1 2.0 cubic dmax 2.5"
BOUNDS = "Numeric index {} is out of bounds ({}-{})"
KNOWN = "rational, exp, gaussian, smap, cubic, tanh, cosinus, q, custom"
NO_END = "needs a finite range, but this function has none - give a finite dmax"
NOT_POSITIVE = "is {} but must be > 0 and finite"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
STYLES = [("[" + words.replace(" ", "] ", 1) if " " in words else f"[{words}]", "Unknown pair_style coord keyword: " +
           words.split()[0] + " - known are engine, precision, device") for words in ("engines cells", "3.0", "cells")]
STYLES += [("engine cells [2.5]", "Unknown pair_style coord keyword: 2.5 - known are engine, precision, device")]
for keyword, known in (("engine", "auto, cells, neigh"), ("precision", "mixed, double, single"),
                       ("device", "auto, cuda, host")):
    STYLES.append((keyword, f"Illegal pair_style coord {keyword} command: missing argument(s)"))
    STYLES += [(f"precision double device auto engine neigh {keyword} [{bad}]",
                f"Unknown pair_style coord {keyword} option: {bad} - known are {known}")
               for bad in ("list", "1", "hosts")]
STYLES.append(("device [Host]", "Unknown pair_style coord device option: Host - did you mean host?"))

COEFFS = [("", MISSING), ("1", MISSING), ("1 1", INCOMPLETE), ("1 1 1.0", INCOMPLETE)] + [
    # Types.
    ("[3] 3 1.0 cubic dmax 3", BOUNDS.format(3, 1, 2)), ("1 [3] 1.0 cubic dmax 3", BOUNDS.format(3, 1, 2)),
    ("[1*3] 2 1.0 cubic dmax 3", BOUNDS.format(3, 1, 2)), ("[2*1] 2 1.0 cubic dmax 3", BOUNDS.format(2, 1, 1)),
    ("[0] 1 1.0 cubic dmax 3", "Invalid range string: 0"), ("* [-1] 1.0 cubic dmax 3", "Invalid range string: -1"),
    ("[1.5] 1 1.0 cubic dmax 3", "Invalid range string: 1.5"),
    ("[2*] 1 1.0 cubic dmax 3",
     "Pair coord: types 2* 1 include no pair of types I <= J - swap them"),

    # Functions.
    ("1 1 1.0 [cubics] dmax 3", f"Unknown pair coord option: cubics - known are {KNOWN}"),
    ("1 1 1.0 [switch] cubic dmax 3", f"Unknown pair coord option: switch - known are {KNOWN}"),
    ("1 1 1.0 [gaussian]", "Pair coord gaussian needs r0, for example: gaussian 1.5"),
    ("1 1 1.0 cubic [1.5] dmax 3", "Pair coord cubic takes no r0: its width is dmax - d0"),
    ("1 1 1.0 q [1.5] beta 5 dmax 3", "Pair coord q takes no r0: its distance is ref"),
    ("1 1 1.0 cubic dmax 3 [cutoff] 3",
     "Unknown pair coord keyword: cutoff - coord cubic takes d0, dmax, nostretch"),
    ("1 1 1.0 exp 1.0 dmax 3 [3.0]", "Unknown pair coord keyword: 3.0 - coord exp takes d0, dmax, nostretch"),
    ("1 1 1.0 exp 1.0 dmax 3 [engine] cells",
     "Unknown pair coord keyword: engine - coord exp takes d0, dmax, nostretch"),
    ("1 1 1.0 exp 1.0 [nn] 6 dmax 3", "Pair coord exp takes no nn - it takes d0, dmax, nostretch"),
    ("1 1 1.0 q ref 1 beta 5 dmax 3 [nn] 1",
     "Pair coord q takes no nn - it takes ref, beta, lambda, d0, dmax, nostretch"),

    # Values.
    ("1 1 1.0 exp 1.0 d0 3 dmax [2]", "Pair coord exp: dmax is 2 but must be larger than d0 = 3"),
    ("1 1 1.0 exp 1.0 d0 [-1] dmax 2", "Pair coord exp: d0 is -1 but must be >= 0 and finite"),
    ("1 1 1.0 exp [0] dmax 3", "Pair coord exp: r0 " + NOT_POSITIVE.format(0)),
    ("1 1 1.0 smap 1.0 a [-2] b 3 dmax 3", "Pair coord smap: a " + NOT_POSITIVE.format(-2)),
    ("1 1 1.0 [smap] 1.0 b 3 dmax 3", "Pair coord smap: a is required: give a number > 0"),
    ("1 1 1.0 [q] ref 1.0 dmax 3", "Pair coord q: beta (1/distance) is required: give a number > 0"),
    ("1 1 1.0 rational 1.0 nn 8 mm [6]",
     "Pair coord rational: mm is 6 but must be larger than nn = 8, or s would grow with distance"),
    ("1 1 1.0 custom 1.0 func [exp(] dmax 3",
     "Pair coord custom: the expression 'exp(' cannot be used: Parse error in expression \"exp(\": unexpected end of "
     "expression; write it in x = (r - d0)/r0, for example 1/(1+x^6)"),

    ("1 1 1.0 custom 1.0 func [1/(1+x^6)+(1-2)^0.5] dmax 0.5",
     "Pair coord custom: the expression '1/(1+x^6)+(1-2)^0.5' cannot be used: a constant part of it is not a number; "
     "write it in x = (r - d0)/r0, for example 1/(1+x^6)"),

    # The range must be finite.
    ("1 1 1.0 [gaussian] 1.0", f"Pair coord gaussian {NO_END}"),
    ("1 1 1.0 [q] ref 1 beta 5", f"Pair coord q {NO_END}"),
    ("1 1 1.0 [rational] 1.0 dmax INF", f"Pair coord rational {NO_END}"),
    ("1 1 1.0 [custom] 1.0 func exp(-x)", f"Pair coord custom {NO_END}"),
    ("1 1 1.0 [cubic] d0 1.0", "Pair coord cubic: a finite dmax is required: s falls from 1 at d0 to 0 at dmax"),
    # The value at the end must be finite.
    ("1 1 1.0 [custom] 1.0 func sqrt(1-x) dmax 2 nostretch",
     "Pair coord custom is nan with derivative nan at dmax 2, but both must be finite numbers - give a smaller dmax"),
    ("1 1 1.0 [custom] 1.0 func sqrt(2-x) dmax 2",
     "Pair coord custom is 0 with derivative -inf at dmax 2, but both must be finite numbers - give a smaller dmax"),
]
for words in "exp 1.0 dmax", "exp 1.0 dmax 3 d0", "rational 1.0 nn", "smap 1 a 2 b", "q ref 1 beta", "custom 1.0 func":
    COEFFS.append(("1 1 1.0 " + words, f"Illegal pair coord {words.split()[-1]} command: missing argument(s)"))
for words, name in (("{} exp 1.0 dmax 3", "epsilon"), ("1.0 exp {} dmax 3", "r0"), ("1.0 exp 1.0 d0 {} dmax 3", "d0"),
                    ("1.0 exp 1.0 dmax {}", "dmax"), ("1.0 rational 1.0 nn {}", "nn")):
    for bad in ("nan", "-nan", "1.0x", "1,5", "v_e", "cubic") + (("inf",) if name != "dmax" else ()):
        COEFFS.append((f"1 1 {words.format(f'[{bad}]')}", f"Pair coord {name} must be a number"
                       f"{' or INF' if name == 'dmax' else ''}, not '{bad}'"))
    COEFFS.append((f"1 1 {words.format('1e999')}",
                   "Floating point number 1e999 in input script or data file is out of range"))

HYBRID = "pair_style hybrid/overlay coord lj/cut 2.5 coord precision single\n"
TWO = "pair_coeff 1 1 {}\npair_coeff 2 2 {}\n"
NOT_SET = "All pair coeffs are not set"
MARKED = re.compile(r"\[(\S*?)\](?=\s|$)")
DIFFER = ("Pair coord: types 1 and 2 do not mix: their functions differ in more than lengths, '{}' and '{}' - give "
          "pair_coeff 1 2")
CELLS = f"pair_style coord engine cells device host\n{GOOD}\n"
NEIGH = CELLS.replace("cells", "neigh")
RESPA = "run_style respa 2 2 "
LEVELS = ("Pair coord: engine cells cannot split forces into the levels inner, middle and outer of run_style respa - "
          "use engine neigh, or level pair")
SHORT = ("Pair coord: dmax {} of types {} and {} is less than {}, where the last inner level of run_style respa ends - "
         "use shorter levels, or level pair")
NOT_FINITE = ("Pair coord: the position of atom ID 12 is not a finite number - the simulation is unstable, or "
              "positions were set wrongly")
NO_VALUE = ("Pair coord: the energy on rank 0 is not a finite number - use finite functions or a smaller "
            "epsilon")
# A nonfinite velocity.
MOVE_TO_NAN = ("run 0\nvariable bad atom exp(1000)-exp(1000)\ngroup bad id 12\nvelocity bad set NULL v_bad NULL\n"
               "fix move all nve\nrun 1")

DATA = ("\n2 atoms\n2 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\nMasses\n\n1 1\n2 1\n\n{}\n\n{}\n\n"
        "Atoms # atomic\n\n1 1 1 1 1\n2 2 2 2 2\n")
PRINT = "thermo_modify format float %.17g\n"
READ = "clear\nunits metal\n{}\nread_data {}"

MOLECULES = "clear" + SYSTEM.replace("atom_modify", "atom_style bond\natom_modify").replace(
    "create_box 2 box", "create_box 2 box bond/types 1 extra/bond/per/atom 1 extra/special/per/atom 2") + """
bond_style zero
bond_coeff 1
create_bonds single/bond 1 1 2
special_bonds lj/coul {}
"""

# Scripts whose last line must fail, after SYSTEM, the message, and the command in LAMMPS' message
# if it differs.
RUNS = {
    # Without settings or coefficients.
    "nothing set": ("pair_style coord\nrun 0", NOT_SET + errortest.by_release(". Status:\nPair style not yet initialized\n", "")),
    "a type not set": (f"pair_style coord\n{GOOD.replace('* *', '1 *')}\nrun 0",
        NOT_SET + errortest.by_release(
            ". Status:\n     1      1: is set\n     1      2: is set\n     2      2: is not set\n", "")),
    "pair_coeff before the style": ("pair_style none\n[pair_coeff] * * 1.0 cubic dmax 3",
        "Pair_coeff command without a pair style"),
    "pair_coeff before the box": ("clear\npair_style coord\n[pair_coeff] * * 1.0 cubic dmax 3",
        "Pair_coeff command before simulation box is defined"),

    # Mixing.
    **{f"mixing {name}": ("pair_style coord\n" + TWO.format("1.0 " + first, "1.0 " + second) + "run 0",
                          DIFFER.format(first, second)) for name, first, second in (
        ("kinds", "exp 1 dmax 3", "gaussian 1 dmax 3"), ("cubic and cosinus", "cubic dmax 3", "cosinus 3"),
        ("nn", "rational 1 dmax 3", "rational 1 nn 8 mm 12 dmax 3"),
        ("mm", "rational 1 dmax 3", "rational 1 mm 14 dmax 3"),
        ("a", "smap 1 a 2 b 3 dmax 3", "smap 1 a 2.5 b 3 dmax 3"),
        ("b", "smap 1 a 2 b 3 dmax 3", "smap 1 a 2 b 4 dmax 3"),
        ("lambda", "q ref 1 beta 5 dmax 3", "q ref 1 beta 5 lambda 1.5 dmax 3"),
        ("expressions", "custom 1 dmax 3 func exp(-x)", "custom 1 dmax 3 func exp(-x^2)"),
        ("nostretch", "exp 1 dmax 3", "exp 1 dmax 3 nostretch"))},
    "mixing signs": ("pair_style coord\n" + TWO.format("1.5 cubic dmax 3", "-2 cubic dmax 2.5") + "run 0",
        "Pair coord: types 1 and 2 do not mix: epsilon 1.5 and -2 differ in sign - give pair_coeff 1 2"),
    # cos is 1 again at the geometric mean of these ranges.
    "mixing to no function": ("pair_style coord\n" + TWO.format("1 custom 1 func cos(x) dmax 1",
                                                    "1 custom 1 func cos(x) dmax 39.478417604357434") + "run 0",
        "Pair coord: types 1 and 2 do not mix: 'custom 1 dmax 6.283185307179586 func cos(x)': the function cannot be "
        "stretched: with r0 = 1 it is 1 at x = 0 and 1 at dmax = 6.283185307; choose another r0 or dmax, or nostretch - "
        "give pair_coeff 1 2"),
    "mixing to no value": (
        "pair_style coord\npair_modify mix arithmetic\n" +
        TWO.format("1 custom 1 func (2-x)^(-2) dmax 1", "1 custom 1 func (2-x)^(-2) dmax 3") + "run 0",
        "Pair coord: types 1 and 2 do not mix: 'custom 1 dmax 2 func (2-x)^(-2)': the expression '(2-x)^(-2)' is not a finite "
        "number at dmax, so it cannot be stretched to 0 there; use one that is, or a smaller dmax - give pair_coeff 1 2"),

    # A stretch that exceeds single precision.
    **{f"a stretch in precision {precision}": (
        f"pair_style coord precision {precision}\n" + TWO.format("1 exp 1e4 dmax 2", "1 cubic dmax 2") +
        "pair_coeff 1 2 1 cubic dmax 2\nrun 0",
        "Pair coord 'exp 10000 dmax 2' of types 1 and 1: with r0 = 10000 it is 1 at x = 0 and 0.99980002 at dmax = 2, "
        f"and stretching that to 1 and 0 in precision {precision} makes s wrong by about 0.0006, more than 1e-05; use "
        "precision double, another dmax, or nostretch") for precision in ("mixed", "single")},
    **{f"a factor beyond {precision}": (
        f"pair_style coord precision {precision}\npair_coeff * * 1.0 q ref 0.2 beta 50 d0 2.2 dmax 4.4\nrun 0",
        "Pair coord 'q ref 0.2 beta 50 d0 2.2 dmax 4.4' of types 1 and 1: with ref = 0.2 and beta = 50 it is 1.108939019e-40 "
        f"at x = 0 and 1.872900284e-88 at dmax = 4.4, and stretching that to 1 and 0 in precision {precision} makes s wrong by about "
        "1e+02, more than 1e-05; use precision double, another dmax, or nostretch") for precision in ("mixed", "single")},

    # More ghost atoms than LAMMPS can count: 64, 1 + 2 dmax/10 times in each direction.
    **{f"ghost atoms within {dmax}": (
        f"pair_style coord engine {engine} device host\npair_coeff * * 1.0 rational 1.0 dmax {dmax} nostretch\nrun 0",
        f"Pair coord: dmax {dmax} of types 1 and 1 is so long that LAMMPS would need about {natoms} atoms per rank, ghosts "
        "included, which it counts by int, up to 2147483647 - give a smaller dmax")
       for dmax, engine, natoms in (("10000", "cells", "5.1e+11"), ("1e+12", "cells", "5.1e+35"),
                                    ("9.223372037e+18", "cells", "4e+56"), ("1e+300", "cells", "inf"),
                                    ("1e+12", "neigh", "5.1e+35"))},
    **{f"comm_modify cutoff {engine}": (
        f"pair_style coord engine {engine} device host\npair_coeff * * 1.0 rational 1.0 dmax 3 nostretch\n"
        "comm_modify cutoff 1e20\nrun 0",
        "Pair coord: the ghost atom range 1e+20 of the comm_modify cutoff is so long that LAMMPS would need about 5.1e+59 atoms "
        "per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller comm_modify cutoff")
       for engine in ("cells", "neigh")},

    # Features that cutoff bins do not support.
    **{f"cells and exclusions of {what}": (CELLS + f"neigh_modify exclude {words}\nrun 0",
        "Pair coord: engine cells would count the pairs that neigh_modify exclude removes from the neighbor list - "
        "use engine neigh") for what, words in (("types", "type 1 2"), ("groups", "group a b"))},
    "cells and include": (CELLS + "atom_modify first a\nneigh_modify include a\nrun 0",
        "Pair coord: engine cells would count the atoms that neigh_modify include leaves out of the neighbor list - "
        "use engine neigh"),
    "cells and exclusions of molecules": (
        MOLECULES.format("1 1 1") + CELLS + "neigh_modify exclude molecule/intra all\nrun 0",
        "Pair coord: engine cells would count the pairs that neigh_modify exclude removes from the neighbor list - "
        "use engine neigh"),
    **{f"cells and special_bonds {weights}": (MOLECULES.format(weights) + CELLS + "run 0",
        f"Pair coord: engine cells ignores bonds, but special_bonds lj gives bonded pairs the weights {weights} - "
        "use engine neigh") for weights in ("0 1 1", "1 0.5 1", "1 1 1e-20")},
    "cells and hybrid/molecular": (
        MOLECULES.format("1 1 1") + "pair_style hybrid/molecular coord engine cells coord\n"
        f"{GOOD.replace('* *', '* * coord 1')}\n{GOOD.replace('* *', '* * coord 2')}\nrun 0",
        "Pair coord: engine cells ignores molecules, by which pair_style hybrid/molecular selects pairs - use engine "
            "neigh"),
    "cells and rRESPA": (CELLS + RESPA + "inner 1 1.0 2.0 outer 2\nrun 0", LEVELS),
    "cells and rRESPA, three levels": (CELLS + "run_style respa 3 2 2 inner 1 1.0 1.5 middle 2 2.0 2.5 outer 3\nrun 0",
                                       LEVELS),

    # Levels of rRESPA.
    "dmax below the levels": (NEIGH + RESPA + "inner 1 2.5 3.5 outer 2\nrun 0", SHORT.format(3, 1, 1, 3.5)),
    "dmax of one pair of types": (
        NEIGH + "pair_coeff 1 2 1.0 cubic dmax 1.9\n" + RESPA + "inner 1 1.0 2.0 outer 2\nrun 0",
        SHORT.format(1.9, 1, 2, 2)),
    "dmax below the middle level": (
        NEIGH + "run_style respa 3 2 2 inner 1 1.0 1.5 middle 2 2.5 3.25 outer 3\nrun 0", SHORT.format(3, 1, 1, 3.25)),

    # Hybrid styles. In their pair_coeff, LAMMPS has moved the types before the style reads it, and
    # shows the changed command.
    "hybrid keyword": ("pair_style hybrid lj/cut 2.5 coord engine [foo]",
        "Unknown pair_style coord engine option: foo - known are auto, cells, neigh"),
    "hybrid number": ("pair_style hybrid coord [3.0] lj/cut 2.5",
        "Unknown pair_style coord keyword: 3.0 - known are engine, precision, device"),
    "hybrid takes list for a style": ("pair_style hybrid/overlay coord engine list lj/cut 2.5",
        "Illegal pair_style coord engine command: missing argument(s)"),
    "hybrid epsilon": ("pair_style hybrid/overlay lj/cut 2.5 coord\npair_coeff 1 2 coord [x] cubic dmax 3",
        "Pair coord epsilon must be a number, not 'x'", "pair_coeff 1 1 2 [x] cubic dmax 3"),
    "hybrid/scaled d0": (
        "pair_style hybrid/scaled 0.5 lj/cut 2.5 1.0 coord\npair_coeff * * coord 1.0 cubic d0 [-1] dmax 3",
        "Pair coord cubic: d0 is -1 but must be >= 0 and finite", "pair_coeff * * * 1.0 cubic d0 [-1] dmax 3"),
    "hybrid twice": (HYBRID + "pair_coeff 1 2 coord 2 1.0 [cubics] dmax 3",
        f"Unknown pair coord option: cubics - known are {KNOWN}", "pair_coeff 1 2 1 2 1.0 [cubics] dmax 3"),
    "hybrid without epsilon": (HYBRID + "pair_coeff 1 2 coord 1 [cubic] dmax 3",
        "Pair coord epsilon must be a number, not 'cubic'", "pair_coeff 1 2 1 2 [cubic] dmax 3"),
    "hybrid too few": ("pair_style hybrid/overlay lj/cut 2.5 coord\npair_coeff 1 2 coord 1.0", INCOMPLETE),
    "hybrid mixing": (
        "pair_style hybrid coord\n" + TWO.format("coord 1 exp 1 dmax 3", "coord 1 cubic dmax 3") + "run 0",
        DIFFER.format("exp 1 dmax 3", "cubic dmax 3")),

    # Data files.
    **{f"data file {name}": (READ.format("pair_style coord", name), message) for name, message in (
        ("epsilon", "Pair coord epsilon must be a number, not 'x'"),
        ("name", f"Unknown pair coord option: cubics - known are {KNOWN}"),
        ("few", INCOMPLETE), ("end", f"Pair coord exp {NO_END}"),
        ("value", "Pair coord exp: r0 " + NOT_POSITIVE.format(0)),
        ("keyword", "Unknown pair coord keyword: cutoff - coord cubic takes d0, dmax, nostretch"),
        ("types", BOUNDS.format(3, 1, 2)),
        ("order", "Pair coord: types 2 1 include no pair of types I <= J - swap them"))},
    "data file without mixing": (READ.format("pair_style coord", "differ") + "\nrun 0",
        DIFFER.format("exp 1 dmax 3", "cubic dmax 3")),

    # Numbers that are not finite.
    "NaN in cells": (CELLS + MOVE_TO_NAN, NOT_FINITE),
    "no value at some distance": (
        "pair_style coord\npair_coeff * * 1.0 custom 1.0 func sqrt((x-2)*(x-2.7)) dmax 3.0 nostretch\nrun 0", NO_VALUE),
}
FILES = {name: DATA.format(section, lines) for name, section, lines in (
    ("epsilon", "Pair Coeffs", "1 1.0 cubic dmax 3\n2 x cubic dmax 3"),
    ("name", "Pair Coeffs", "1 1.0 cubics dmax 3\n2 1.0 cubic dmax 3"),
    ("few", "Pair Coeffs # coord", "1 1.0\n2 1.0 cubic dmax 3"),
    ("end", "Pair Coeffs", "1 1.0 exp 1\n2 1.0 exp 1 dmax 3"),
    ("value", "PairIJ Coeffs", "1 1 1.0 exp 1 dmax 3\n1 2 1.0 exp 0 dmax 3\n2 2 1.0 exp 1 dmax 3"),
    ("keyword", "PairIJ Coeffs", "1 1 1.0 cubic dmax 3\n1 2 1.0 cubic cutoff 3\n2 2 1.0 cubic dmax 3"),
    ("types", "PairIJ Coeffs", "1 1 1.0 cubic dmax 3\n1 3 1.0 cubic dmax 3\n2 2 1.0 cubic dmax 3"),
    ("order", "PairIJ Coeffs", "1 1 1.0 cubic dmax 3\n2 1 1.0 cubic dmax 3\n2 2 1.0 cubic dmax 3"),
    ("differ", "Pair Coeffs", "1 1.0 exp 1 dmax 3\n2 1.0 cubic dmax 3"))}

# Ways out that the messages name. The energy is then that of GOOD.
MENDED = {
    "nothing set": GOOD, "a type not set": GOOD.replace("* *", "2 2"), "mixing signs": GOOD,
    "cells and exclusions of types": "neigh_modify exclude none",
    "cells and special_bonds 0 1 1": "special_bonds lj/coul 1 1 1",
    "cells and rRESPA": "pair_style coord engine neigh", "cells and rRESPA, three levels": RESPA + "pair 2",
    "dmax below the levels": RESPA + "inner 1 2.0 3.0 outer 2", "dmax of one pair of types": GOOD,
    "hybrid epsilon": GOOD.replace("* *", "* * coord") + "\npair_coeff * * lj/cut 0 1",
    "no value at some distance": GOOD,
}

# These errors stop one rank, which in one process would leave the other waiting.
ONE_RANK = ["NaN in cells", "no value at some distance"]


def tearDownModule():
    start().finalize()  # mpirun reports an error for a rank that ends without this call


class InProcess(errortest.InProcess):
    SYSTEM = SYSTEM

    def run_0(self):
        self.lmp.command("run 0")
        return self.lmp.get_thermo("pe")

    def check_good(self):
        self.assertAlmostEqual(self.run_0(), 0.7 * expected_of_good(self.lmp), delta=1e-5)

    def check_error(self, command, message, marked=None):
        found, shown = error_of(self.lmp, MARKED.sub(r"\1", command))
        # The sign of nan depends on the processor.
        found = found.replace("-nan", "nan") if "'-nan'" not in message else found
        self.assertEqual((found, shown), (shortened(message), marked or (command if MARKED.search(command) else None)))


class Arguments(InProcess):
    def test_arguments(self):
        """Earlier settings and coefficients remain."""
        commands(self.lmp, f"pair_style coord device host\n{GOOD}")
        in_double = self.run_0()
        self.lmp.command(STYLE)
        before = self.run_0()
        self.assertNotEqual(before, in_double)
        for command, cases in ("pair_style coord ", STYLES), ("pair_coeff ", COEFFS):
            for words, message in cases:
                with self.subTest(command + words):
                    self.check_error((command + words).strip(), message)
                    self.assertEqual(self.run_0(), before)
        self.check_good()

    def test_first_style_refused(self):
        self.check_error("pair_style coord precision [half]",
                         "Unknown pair_style coord precision option: half - known are mixed, double, single")
        self.lmp.command(GOOD)
        self.check_error("run 0", "Pair coord has no settings after an earlier error - give pair_style coord again")
        self.lmp.command("pair_style coord")
        self.check_good()


def knows_pair_style_list():
    """Return whether LAMMPS has pair_style list, or at least knows that it belongs to the optional package MISC.
    Source trees without that package's files do not know it."""
    with start() as lmp:
        if lmp.has_style("pair", "list"):
            return True    # the command below would raise its error on rank 0 alone
        try:
            lmp.command("pair_style list no_file 1.0")
        except Exception as error:
            if "Unrecognized pair style" in str(error) and "MISC" not in str(error):
                coordtest.skip_part("pair_style list", "this LAMMPS does not know it")
                return False
    return True


for style in "hybrid/molecular", "hybrid/scaled":
    if coordtest.kokkos_lacks_pair(style):
        RUNS = {name: case for name, case in RUNS.items() if f"pair_style {style} " not in case[0]}
if not knows_pair_style_list():
    del RUNS["hybrid takes list for a style"]


class Runs(InProcess):
    def check_run(self, name):
        script, message, *marked = RUNS[name]
        *before, last = script.split("\n")
        self.setUp()
        commands(self.lmp, "\n".join(before) or "run 0")
        self.check_error(last, message, *marked)

    def test_runs(self):
        for name in RUNS:
            if name in ONE_RANK and self.lmp.extract_setting("world_size") > 1:
                continue
            with self.subTest(name):
                self.check_run(name)
                # Only clear resets these in LAMMPS; hybrid mixing: a neighbor list that a deleted
                # style requested.
                if re.search("clear|include", RUNS[name][0]) or name == "hybrid mixing":
                    self.setUp()
                # Also those that were not finite.
                x = 2.5 * np.indices((4, 4, 4)).reshape(3, -1).T
                self.lmp.scatter_atoms("x", 1, 3, np.ctypeslib.as_ctypes(x.ravel()))
                commands(self.lmp, f"neigh_modify exclude none\nrun_style verlet\ncomm_modify cutoff 3.3\n{STYLE}\n{GOOD}")
                self.check_good()

    def test_cutoff_beyond_an_open_box(self):
        """There are no images, but LAMMPS counts exchanges as if there were."""
        self.lmp.command("clear")
        commands(self.lmp, SYSTEM.replace("units metal", "units metal\nboundary s s s") +
                 "pair_style coord engine cells device host\npair_coeff * * 1.0 exp 5.0 dmax 1e9 nostretch")
        found = self.run_0()
        x = np.array(self.lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)
        r = np.sqrt(((x[:, None] - x)**2).sum(axis=2))[np.triu_indices(len(x), 1)]
        self.assertAlmostEqual(found, np.exp(-r / 5.0).sum(), delta=1e-9)
        self.lmp.command("pair_coeff * * 1.0 exp 5.0 dmax 1e12 nostretch")
        self.assertRegex(error_of(self.lmp, "run 0")[0], r"^Pair coord: dmax 1e\+12 of types 1 and 1 is so long that LAMMPS "
                         r"would need about \d(\.\d)?e\+\d+ exchanges of ghost atoms, which it counts by int, up to "
                         r"2147483647 - give a smaller dmax$")

    def test_mended(self):
        for name, way_out in MENDED.items():
            if name in ONE_RANK and self.lmp.extract_setting("world_size") > 1:
                continue
            with self.subTest(name):
                self.check_run(name)
                commands(self.lmp, way_out)
                self.check_good()


class Again(unittest.TestCase):
    """Repeated commands."""

    def outputs(self, scripts):
        for script, future in zip(scripts, start_all(run_script, [(SYSTEM + script, 2) for script in scripts])):
            code, output = future.result()
            self.assertEqual(code, 0, output)
            yield script, output

    @staticmethod
    def energies(output):
        return [energy for table in coordtest.Run(output, ".").tables for energy in table["E_pair"]]

    def test_settings(self):
        """pair_style coord with other words keeps the coefficients, like other styles, and a
        message says so."""
        start = f"pair_style coord device host\n{GOOD}\n" + PRINT + "run 0\n"
        (_, output), = self.outputs([start + "".join(
            f"pair_style coord device host {words}\nrun 0\n"
            for words in ("", "precision single", "engine cells", "precision single engine cells")) +
            "clear" + SYSTEM + start])
        found = re.findall(r"^Pair coord: host .* precision (\w+), engine (\w+),", output, re.MULTILINE)
        self.assertEqual(found, [("double", "neigh"), ("single", "neigh"), ("double", "cells"),
                                 ("single", "cells"), ("double", "neigh")])
        values = self.energies(output)
        self.assertEqual(len(values), 6)
        np.testing.assert_allclose(values, values[0], rtol=1e-6)
        self.assertNotEqual(values[0], values[2])

    def test_coefficients_reach_all_levels(self):
        """Coefficients also reach levels of rRESPA that an intermediate run does not have."""
        start = f"{NEIGH}velocity all create 3000 5\nfix n all nve\nthermo 1\n" + PRINT
        levels, new = RESPA + "inner 1 2.0 2.6 outer 2\n", "pair_coeff * * 5.0 cubic dmax 3.1\n"
        (_, first), (_, second) = self.outputs([start + levels + "run 0\nrun_style verlet\n" + new + "run 0\n" +
                                                levels + "run 5\n", start + new + levels + "run 5\n"])
        self.assertEqual(len(self.energies(second)), 6)
        np.testing.assert_allclose(self.energies(first)[2:], self.energies(second), rtol=coordtest.rounded(coordtest.DOUBLE))

    def test_restart_has_pair_modify(self):
        """shift and mix change the energy."""
        start = "pair_style coord\n{}\n" + TWO.format("1 exp 1 dmax 3 nostretch", "2 exp 0.5 dmax 2.7 nostretch")
        end = PRINT + "run 0\n"
        modified = {"none": "", "shift": "pair_modify shift yes", "mix": "pair_modify mix arithmetic",
                    "both": "pair_modify shift yes mix sixthpower"}
        found = set()
        for script, output in self.outputs([start.format(words) + end + f"write_restart r.{name}\nclear\n"
                                            f"read_restart r.{name}\n" + end for name, words in modified.items()]):
            first, second = self.energies(output)
            self.assertAlmostEqual(first, second, delta=coordtest.DOUBLE, msg=script)
            found.add(round(first, 6))
        self.assertEqual(len(found), len(modified))


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
        cases = [*ONE_RANK, "mixing signs", "cells and rRESPA", "dmax below the levels", "data file epsilon"]
        scripts = [(SYSTEM + MARKED.sub(r"\1", RUNS[name][0]) + "\nprint 'went on'\n", 2) for name in cases]
        for name, result in zip(cases, start_all(run_script, scripts)):
            with self.subTest(name):
                code, output = result.result()
                found = errors_in(output)
                if name in ONE_RANK:    # either rank, or both
                    found = {message.replace("rank 1", "rank 0") for message in found}
                    self.assertEqual(found, {RUNS[name][1]}, output)
                else:
                    self.assertEqual(found, [RUNS[name][1]], output)
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for stem, text in FILES.items():
            with open(stem, "w") as file:
                file.write(text)
        unittest.main()
