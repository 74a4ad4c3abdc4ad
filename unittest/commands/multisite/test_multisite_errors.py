"""Bad input of pair_style multisite stops LAMMPS on all ranks with a message that names the value,
the limit and the way out, and leaves earlier settings unchanged. Input that is probably unintended
gives one warning."""
# Processors: 2
# Without: gpu, kokkos

import os
import re
import struct
import sys
import tempfile
import unittest

import numpy as np

import coordtest
import errortest
import multisitetest
from errortest import commands, error_of, errors_in, run_program, run_script, start, start_all
from multisitetest import ALL_KINDS, ATOM, LINEAR, POLAR, Component, write_components

# 27 molecules with orientations, of two types, in a periodic box of edge 6.
SYSTEM = """
units lj
atom_style {style}
atom_modify map array
lattice sc 0.125
region box block 0 3 0 3 0 3
create_box 2 box {extra}
create_atoms 1 box
set group all type/fraction 2 0.4 99
set group all mass 1.0
set group all shape 1 1 1
set group all quat/random 7
displace_atoms all random 0.2 0.2 0.2 4711
neighbor 0.3 bin
group a id 1:8
group b id 9:16
"""
PLAIN = SYSTEM.format(style="ellipsoid", extra="")
STYLE = "pair_style multisite 2.5 device host"
GOOD = "pair_coeff * * good all linear"
RUN = f"{STYLE}\n{GOOD}\n"

MISSING = "Illegal {} command: missing argument(s)"
BOUNDS = "Numeric index {} is out of bounds ({}-{})"
KNOWN = "cutoff, shift, rf, tail, precision, device, check"
MARKED = re.compile(r"\[(\S*?)\](?=\s|$)")

LENGTHS = "but must be 1e-20 to 1e+20, so that (sigma/cutoff)^12 is a finite number"
DOUBLES = "but must be 0 or 2.2e-308 to 1.8e+308 in magnitude"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
STYLES = [("", MISSING.format("pair_style multisite"))] + [
    ("[x]", "Pair_style multisite cutoff must be a number, not 'x'"),
    ("[cutoff] site", "Pair_style multisite cutoff must be a number, not 'cutoff'"),
    ("[nan]", "Pair_style multisite cutoff must be a number, not 'nan'"),
    ("[inf]", "Pair_style multisite cutoff must be a number, not 'inf'"),
    ("[0]", "Pair_style multisite cutoff is 0 but must be > 0"),
    ("[-2.5]", "Pair_style multisite cutoff is -2.5 but must be > 0"),
    ("2.5 [0]", "Pair_style multisite cutoff of charges is 0 but must be > 0"),
    ("[1e-300] rf 5", f"Pair_style multisite cutoff is 1e-300 {LENGTHS}"),
    ("[1e300]", f"Pair_style multisite cutoff is 1e300 {LENGTHS}"),
    ("2.5 [1e-21]", f"Pair_style multisite cutoff of charges is 1e-21 {LENGTHS}"),
    ("2.5 [-1] rf 2", "Pair_style multisite cutoff of charges is -1 but must be > 0"),
    ("2.5 3.0 [3.5]", "Pair_style multisite has at most two cutoffs, but 3.5 is a third"),
    ("2.5 tail yes [shift] yes", "Pair_style multisite shift yes cannot be used with tail yes, a correction for "
     "energies that are not shifted - use only one of them"),
    ("2.5 [engine] cells", f"Unknown pair_style multisite keyword: engine - known are {KNOWN}"),
    ("2.5 rf 2 [sites]", f"Unknown pair_style multisite keyword: sites - known are {KNOWN}"),
    ("2.5 rf [0.5]", "Pair_style multisite rf is 0.5 but must be a dielectric constant >= 1, or inf"),
    ("2.5 rf [-inf]", "Pair_style multisite rf must be a number, not '-inf'"),
    ("2.5 rf [water]", "Pair_style multisite rf must be a number, not 'water'"),
    ("2.5 check [0] 1e-6", "Pair_style multisite check is every 0 evaluations but must be every 1 to 2147483647"),
    ("2.5 check [-5] 1e-6", "Pair_style multisite check is every -5 evaluations but must be every 1 to 2147483647"),
    ("2.5 check [1.5] 1e-6", "Pair_style multisite check is every 1.5 evaluations but must be every 1 to 2147483647"),
    ("2.5 check [99999999999] 1e-6",
     "Pair_style multisite check is every 99999999999 evaluations but must be every 1 to 2147483647"),
    ("2.5 check [99999999999999999999] 1e-6",
     "Pair_style multisite check is every 99999999999999999999 evaluations but must be every 1 to 2147483647"),
    ("[1e400]", f"Pair_style multisite cutoff is 1e400 {DOUBLES}"),
    ("2.5 rf [1e400]", f"Pair_style multisite rf is 1e400 {DOUBLES}"),
    ("2.5 check 1 [1e-400]", f"Pair_style multisite check tolerance is 1e-400 {DOUBLES}"),
    ("2.5 check 1 [0]", "Pair_style multisite check tolerance is 0 but must be > 0"),
    ("2.5 check 1 [-1e-6]", "Pair_style multisite check tolerance is -1e-6 but must be > 0"),
    ("2.5 check 1 [yes]", "Pair_style multisite check tolerance must be a number, not 'yes'"),
    ("2.5 check 1", MISSING.format("pair_style multisite check"))]
for keyword, known in (("cutoff", "center, centre, site"), ("shift", "yes, no, pair"), ("tail", "yes, no"),
                       ("precision", "mixed, double"), ("device", "auto, cuda, host")):
    STYLES += [(f"2.5 {keyword}", MISSING.format(f"pair_style multisite {keyword}")),
               (f"2.5 rf 2 {keyword} [maybe]",
                f"Unknown pair_style multisite {keyword} option: maybe - known are {known}")]
STYLES.append(("2.5 precision [single]", "Pair_style multisite has no precision single - use precision mixed, which has the "
               "same results"))
STYLES.append(("2.5 rf", MISSING.format("pair_style multisite rf")))

COMPONENT = "component one\nmass 1\n{}\n"
FILES = {    # invalid files, and the error after their name
    "no_sites": (COMPONENT.format(""), ": component one: it has no sites - add a center, charge, dipole or quadrupole"),
    "dipole_axis": (COMPONENT.format("dipole 0 0 0 0 0 0 1.0"),
                    ": component one: the axis of a dipole has length 0 but must have a direction"),
    "quadrupole_axis": (COMPONENT.format("quadrupole 0 0 0 0 0 0 1.0"),
                        ": component one: the axis of a quadrupole has length 0 but must have a direction"),
    "epsilon": (COMPONENT.format("center 0 0 0 -1.0 1.0"), ": component one: epsilon is -1 but must be >= 0"),
    "sigma": (COMPONENT.format("center 0 0 0 1.0 -2"), ": component one: sigma is -2 but must be > 0"),
    "wide": (COMPONENT.format("center 0 0 0 1.0 1e21"), f": component one: sigma is 1e+21 {LENGTHS}"),
    "far": (COMPONENT.format("center 0 0 1e10 1 1"),
            ": component one: a site is 1e+10 from the center of mass, but must not be farther than 1e+06 times the "
            "cutoff 2.5, where rounding changes distances by 1e-10 of the cutoff - give sites relative to the center "
            "of mass"),
    "heavy": ("component one\nmass 1e308\n",
              ", line 2: '1e308' must be 1e100 or less in magnitude, so that products of such numbers are finite"),
    "light": ("component one\nmass 1e-308\n",
              ", line 2: the mass is 1e-308 but must be >= 1e-100, so that quotients by it are finite"),
    "no_mass": ("component one\ncenter 0 0 0 1 1\n", ", line 2: component one ends without a mass"),
    "negative_mass": ("component one\nmass -1\n", ", line 2: the mass is -1 but must be > 0"),
    "inertia": (COMPONENT.format("inertia 1 1 3"),
                ", line 3: the moment of inertia 3 is more than the sum of the other two, which is impossible for a "
                    "body"),
    "words": (COMPONENT.format("site 0 0 0 1.0"),
              ", line 3: 'site' is not one of component, mass, inertia, center, charge, dipole, quadrupole"),
    "numbers": (COMPONENT.format("charge 0 0 1.0"), ", line 3: charge needs x y z q, but there are 3 numbers"),
    "no_number": (COMPONENT.format("charge 0 0 0 1.0e"), ", line 3: '1.0e' is not a finite number"),
    "before": ("mass 1\n", ", line 1: mass comes before the first component"),
    "twice": (COMPONENT.format("center 0 0 0 1 1") * 2, ", line 4: there is a component one already"),
    "metal": ("# UNITS: metal\n" + COMPONENT.format("center 0 0 0 1 1"),
              " is in units metal, but units lj are in use - convert one of them"),
    "late": (COMPONENT.format("center 0 0 0 1 1") + "# UNITS: si\n",
             " is in units si, but units lj are in use - convert one of them"),
    "close": ("# made by hand UNITS:real\n" + COMPONENT.format("center 0 0 0 1 1"),
              " is in units real, but units lj are in use - convert one of them"),
    "newer": ("# UNITS: lj FORMAT: 2\n" + COMPONENT.format("center 0 0 0 1 1"),
              " says FORMAT: 2, but this version of GPUCOORD needs format 1 - use the version that it was written for, or "
              "rewrite it by tools/multisite/convert.py of this version"),
    "both": ("# UNITS: lj\n" + COMPONENT.format("center 0 0 0 1 1") + "# UNITS: real\n",
             " says UNITS: lj and UNITS: real - use one file for each")}
NAMES = "Pair multisite needs a component, or NULL, for each of the 2 atom types, but there {} after the file"
COEFFS = [("", MISSING.format("pair_coeff")), ("* *", MISSING.format("pair_coeff")),
          ("* * [good]", NAMES.format("are 0")), ("* * [good] all", NAMES.format("is 1")),
          ("* * [good] all linear polar", NAMES.format("are 3")),
          ("[1] * good all linear", "Pair multisite takes * * for the types before a file of components, not 1 *"),
          ("[1] 2 good all linear", "Pair multisite takes * * for the types before a file of components, not 1 2"),
          ("* * good all [lineer]",
           "Pair multisite: file of components good has no component lineer - it has all, linear, polar, atom"),
          ("* * empty [all] linear", "Pair multisite: file of components empty has no component all - it has none"),
          ("* * good [NULL] linear", "Pair multisite: type 1 is NULL, which is for types of another style of pair_style hybrid"),
          ("* * [nowhere] all linear",
           "Pair multisite: file of components nowhere: it cannot be opened, here or in a folder of LAMMPS_POTENTIALS"),
          ("* * [folder] all linear", "Pair multisite: file of components folder: it cannot be read - give a file"),
          # Mixing.
          ("1 2 mix [1e400] 1.0", f"Pair multisite mix: XI is 1e400 {DOUBLES}"),
          ("1 2 mix 1.0 [1e-400]", f"Pair multisite mix: ETA is 1e-400 {DOUBLES}"),
          ("1 2 [mix]", "Pair multisite mix needs XI and ETA, for example: pair_coeff 1 2 mix 0.95 1.0"),
          ("1 2 [mix] 1.0", "Pair multisite mix needs XI and ETA, for example: pair_coeff 1 2 mix 0.95 1.0"),
          ("1 2 [mix] 1.0 1.0 1.0", "Pair multisite mix needs XI and ETA, for example: pair_coeff 1 2 mix 0.95 1.0"),
          ("1 2 mix [x] 1.0", "Pair multisite mix: XI must be a number, not 'x'"),
          ("1 2 mix 1.0 [nan]", "Pair multisite mix: ETA must be a number, not 'nan'"),
          ("1 2 mix [-0.5] 1.0", "Pair multisite mix: XI is -0.5 but must be >= 0"),
          ("1 2 mix 1.0 [0]", "Pair multisite mix: ETA is 0 but must be > 0"),
          ("[1] 1 mix 0.9 1.0", "Pair multisite mix: types 1 1 include no pair of unlike components, and only those "
           "mix"),
          ("1 [3] mix 0.9 1.0", BOUNDS.format(3, 1, 2)), ("[x] 2 mix 0.9 1.0", "Invalid range string: x")]
COEFFS += [(f"* * [{name}] one one",
            "Pair multisite: " + ("" if ", line" in message else "file of components ") + name + message)
           for name, (_, message) in FILES.items()]

HYBRID = "pair_style hybrid multisite 2.5 device host lj/cut 2.5\n"
OVER = HYBRID.replace("hybrid", "hybrid/overlay")
OURS, LJ = "pair_coeff * * multisite good all linear\n", "pair_coeff * * lj/cut 1 1\n"
ALL_PAIRS = "Pair multisite computes all pairs of its molecules, but "
TWO_STYLES = ALL_PAIRS + ("pair_style hybrid gives types 1 and 2 to another style or none - use hybrid/overlay to add to it, "
                          "or give one of them to another style altogether")
GHOSTS = (r"Pair multisite: the range \S+ of types 1 and 1 is so long that LAMMPS would need about \S+ (atoms per rank, ghosts "
          r"included|exchanges of ghost atoms), which it counts by int, up to 2147483647 - use a shorter cutoff")
SHIFTED = "Cannot have both pair_modify shift and tail set to yes"
UNSTABLE = "the simulation is unstable, or {} were set wrongly"
NO_ELLIPSOID = ("Pair multisite: atom ID 5 of type 2 is a molecule, but has no ellipsoid and therefore no quaternion "
                "- use set_multisite or set shape before the run; fixes that insert atoms create no ellipsoids")
CHANGED = "Pair multisite has changed since the last setup - use run without pre no"
CHECK = (r"Pair multisite: check: the force on molecule ID \d+ is \S+ \S+ \S+, but \S+ \S+ \S+ by the host in double "
         r"precision: a difference of \S+ of the largest force, more than 1e-12 - use a larger tolerance or a higher precision, "
         r"or report a bug")
TO_NAN = "variable bad atom exp(1000)-exp(1000)\ngroup bad id 12\nvelocity bad set NULL v_bad NULL\nfix move all nve\nrun 1"

# Scripts whose last line must fail, after a system, the message, and the command in LAMMPS' message
# if it differs. A script may begin with the name of another system than SYSTEM.
RUNS = {
    "nothing set": (f"{STYLE}\nrun 0", "All pair coeffs are not set"
                    + errortest.by_release(". Status:\nPair style not yet initialized\n", "")),
    "mix before components": (f"{STYLE}\npair_coeff 1 2 [mix] 0.9 1.0",
        "Pair multisite mix: types have no components yet - give pair_coeff * * FILE ... first"),
    "same component": (f"{STYLE}\npair_coeff * * good all all\npair_coeff [1] 2 mix 0.9 1.0",
        "Pair multisite mix: types 1 2 include no pair of unlike components, and only those mix"),
    "atom style": ("clear\nregion box block 0 6 0 6 0 6\ncreate_box 2 box\ncreate_atoms 1 random 9 7 NULL\nmass * 1.0\n"
        + RUN + "run 0",
        "Pair multisite needs atom_style ellipsoid, which has quaternions, but this is atom_style atomic"),
    "no ellipsoid": (RUN + "set atom 5 shape 0 0 0\nset atom 5 type 2\nrun 0", NO_ELLIPSOID),

    # Beyond single precision.
    "sigma in mixed": ("pair_style multisite 1.6 precision mixed\npair_coeff * * huge huge huge\nrun 0",
        "Pair multisite: precision mixed: component huge: (sigma/cutoff)^12 is 3.55271e+117 for sigma 1e+10 and cutoff "
        "1.6, and single precision holds up to 1e+30 - use precision double, or units real or metal"),

    # Ghost atoms.
    "mode multi": (RUN + "neighbor 0.3 multi\ncomm_modify mode multi cutoff/multi 1 1.0\nrun 0",
        "Pair multisite cannot use the ghost atoms of comm_modify mode multi, whose range may be shorter than its "
        "cutoff - use mode single"),
    "communication group": (RUN + "atom_modify first a\ncomm_modify group a\nrun 0",
        "Pair multisite cannot use the ghost atoms of comm_modify group, which lack molecules - remove it by comm_modify "
        "group all"),

    # Excluded pairs.
    "exclude types": (RUN + "neigh_modify exclude type 1 2\nrun 0",
        ALL_PAIRS + "neigh_modify exclude type 1 2 excludes some - use neigh_modify exclude none"),
    "exclude groups": (RUN + "neigh_modify exclude group a b\nrun 0",
        ALL_PAIRS + "neigh_modify exclude group excludes some - use neigh_modify exclude none"),
    "include": (RUN + "atom_modify first a\nneigh_modify include a\nrun 0",
        ALL_PAIRS + "neigh_modify include excludes some - use neigh_modify include all"),
    "exclude molecules": ("MOLECULAR" + RUN + "neigh_modify exclude molecule/intra all\nrun 0",
        ALL_PAIRS + "neigh_modify exclude molecule of group all excludes some - use neigh_modify exclude none, and "
        "give exclude molecule a group without them"),
    "special bonds": ("MOLECULAR" + RUN + "create_bonds single/bond 1 1 2\nspecial_bonds lj 0 0.5 1 coul 1 1 1\nrun 0",
        ALL_PAIRS + "some are bonded, for which special_bonds has the weights 0 0.5 1 (lj) and 1 1 1 (coul) - use "
        "special_bonds lj/coul 1 1 1"),
    "hybrid/molecular": ("MOLECULARpair_style hybrid/molecular multisite 2.5 multisite 2.5\n"
        + OURS.replace("site", "site 1") + OURS.replace("site", "site 2") + "run 0",
        ALL_PAIRS + "pair_style hybrid/molecular selects those within or between the molecules of atoms - use hybrid "
        "or hybrid/overlay"),
    "pair of another style": (HYBRID + OURS + "pair_coeff 1 2 lj/cut 1 1\nrun 0", TWO_STYLES),
    "pair of none": (OVER + OURS + "pair_coeff 2 2 lj/cut 1 1\npair_coeff 1 2 none\nrun 0", TWO_STYLES),

    # Changes that only a setup would detect.
    "settings changed": (RUN + "run 0\npair_style multisite 2.9 rf 3\nrun 1 pre no", CHANGED),
    "components changed": (RUN + "run 0\npair_coeff * * good polar atom\nrun 1 pre no", CHANGED),
    "mixing changed": (RUN + "run 0\npair_coeff 1 2 mix 0.5 1\nrun 1 pre no", CHANGED),
    "shift changed": (RUN + "run 0\npair_modify shift yes\nrun 1 pre no", CHANGED),
    "tail changed": (RUN + "run 0\npair_modify tail yes\nrun 1 pre no", CHANGED),
    "another style": ("pair_style lj/cut 2.5\npair_coeff * * 1 1\nrun 0\n" + RUN + "run 1 pre no", CHANGED),
    "component taken away from a run": (OVER + OURS + LJ + "run 0\n" + OURS.replace("linear", "NULL") + "run 1 pre no",
        CHANGED),

    # Long-range correction.
    "tail and pair_modify shift": (RUN + "pair_style multisite 2.5 tail yes\npair_modify shift yes\nrun 0", SHIFTED),
    "tail and shift in hybrid": (OVER.replace("host", "host tail yes") + "pair_modify shift yes\n" + OURS + LJ + "run 0",
        "Pair multisite: a long-range correction is for Lennard-Jones terms that are not shifted - use shift no or tail no"),
    "tail in 2d": ("PLANE" + RUN + "pair_style multisite 2.5 tail yes\nrun 0",
        "Cannot use pair tail corrections with 2d simulations"),
    "tail in 2d in hybrid": ("PLANE" + OVER.replace("host", "host tail yes") + OURS + LJ + "run 0",
        "Pair multisite: a long-range correction needs 3 dimensions - use tail no"),
    "tail and a short cutoff": (RUN + "pair_style multisite 0.6 tail yes\nrun 0",
        "Pair multisite: the cutoff between centers of mass is 0.6, and sites of all and all reach 0.648074 together: the "
        "long-range correction is not defined - use a longer cutoff, or a cutoff between sites"),

    # Hybrid styles. In their pair_coeff, LAMMPS has moved the types before the style reads it, and
    # shows the changed command.
    "component taken away": (OVER + OURS + LJ + OURS.replace("linear", "NULL") + "run 0",
        "Pair multisite: pair_style hybrid gives it types 1 and 2, but the last pair_coeff gives type 2 no component - give "
        "pair_style again"),
    "hybrid keyword": ("pair_style hybrid lj/cut 2.5 multisite 2.5 cutoff [foo]",
        "Unknown pair_style multisite cutoff option: foo - known are center, centre, site"),
    "hybrid component": (HYBRID + "pair_coeff * * multisite good all [foo]",
        "Pair multisite: file of components good has no component foo - it has all, linear, polar, atom",
        "pair_coeff * * * good all [foo]"),

    # Commands that need features this style lacks.
    "rerun": (RUN + "run 0\nwrite_dump all custom rerun.dump id type x y z\nrerun rerun.dump dump x y z",
        "Pair multisite cannot be used in a rerun, which reads positions but no quaternions - use read_restart or read_data "
        "and run 0 for each configuration"),
    "levels of rRESPA": (RUN + "run_style respa 2 2 inner 1 1.0 2.0 outer 2\nrun 0",
        "Pair style does not support rRESPA inner/middle/outer"),
    "a potential by distance": (RUN + "pair_write 1 1 10 r 1.0 2.0 table.txt x",
        errortest.by_release("Pair style multisite does not support pair_write", "Pair style does not support pair_write")),
    "centroid stress": (RUN + "compute c all centroid/stress/atom NULL pair\nfix c all ave/atom 1 1 1 c_c[1]\nrun 0",
        "Pair style does not support compute centroid/stress/atom"),

    # Numbers that are not finite.
    "position": (RUN + TO_NAN,
        "Pair multisite: the position of atom ID 12 is not a finite number - " + UNSTABLE.format("positions")),
    "quaternion": (RUN + "set atom 12 angmom 1e300 1e300 0\nfix move all nve/asphere\nrun 1",
        "Pair multisite: the quaternion of atom ID 12, nan nan nan nan, has length nan but must have length 1 - "
        + UNSTABLE.format("quaternions")),
}
ONE_RANK = ["no ellipsoid", "position", "quaternion"]    # in one process the other ranks would wait

# Ways out that the messages name: commands after which a run succeeds.
MENDED = {"mix before components": GOOD, "no ellipsoid": "set atom 5 shape 1 1 1", "mode multi": "comm_modify mode single",
          "communication group": "comm_modify group all", "exclude types": "neigh_modify exclude none",
          "exclude groups": "neigh_modify exclude none",
          "exclude molecules": "neigh_modify exclude none\ngroup others empty\nneigh_modify exclude molecule/intra others",
          "special bonds": "special_bonds lj/coul 1 1 1", "tail and pair_modify shift": "pair_modify shift no",
          "tail and shift in hybrid": OVER.replace("host", "host tail yes shift no") + OURS + LJ,
          "tail in 2d": "pair_style multisite 2.5 tail no",
          "tail and a short cutoff": "pair_style multisite 0.6 tail yes cutoff site",
          "settings changed": STYLE, "mixing changed": "pair_coeff 1 2 mix 0.5 1", "tail changed": "pair_modify tail yes",
          "component taken away": OVER + OURS.replace("linear", "NULL") + "pair_coeff *2 2 lj/cut 1 1"}

# Probably unintended input: a warning, and the command that removes it.
NO_AXES = RUN + "set_multisite all\n"
INTEGRATE = NO_AXES + "fix l all multisite/linear\n"
OTHER_BODIES = RUN + "fix move all nve/asphere\nfix l all multisite/linear"
WARNINGS = {
    "masses": (OTHER_BODIES, r"27 molecules have masses that differ from those of their components - use "
        r"set_multisite to set them",
        "set_multisite all"),
    "shapes": (OTHER_BODIES, r"27 molecules have shapes whose moments of inertia differ from those of their "
        r"components - use set_multisite to set them", "set_multisite all"),
    "off the axis": (f"{STYLE}\npair_coeff * * bent beside beside\nset_multisite all\nfix l all multisite/linear",
        r"component beside has no moment of inertia about its axis z, but its charge 2 is not on this axis, so that "
        r"a torque acts about this axis - correct its line inertia, or the charge",
        "pair_coeff * * good linear linear\nset_multisite all"),
    "across the axis": (f"{STYLE}\npair_coeff * * bent across across\nset_multisite all\nfix l all multisite/linear",
        r"component across has no moment of inertia about its axis x, but its dipole 1 does not point along this "
        r"axis, so that a torque acts about this axis - correct its line inertia, or the dipole",
        "pair_coeff * * good linear linear\nset_multisite all"),
    "nve": (INTEGRATE + "fix move all nve", r"fix move of style nve moves 27 molecules without rotating them - use "
        r"nve/asphere, nvt/asphere or npt/asphere", "unfix move\nfix move all nve/asphere"),
    "npt/asphere": (INTEGRATE + "fix move all npt/asphere temp 1 1 1 iso 0 0 10\ncompute_modify move_temp extra/dof 16",
        r"compute move_press includes the rotation of temperature move_temp in its pressure, but the pressure is "
        r"that of centers of mass - use fix_modify move press thermo_press", "fix_modify move press thermo_press"),
    "pressure of the output": (INTEGRATE + "fix move all nve/asphere\ncompute t all temp/asphere\ncompute_modify t extra/dof 16\nthermo_modify temp t",
        r"compute thermo_press includes the rotation of temperature t in its pressure, but the pressure is that of "
        r"centers of mass - use thermo_modify temp a compute of style temp", "thermo_modify temp thermo_temp"),
    "another pressure": (INTEGRATE + "fix move all nve/asphere\ncompute t all temp/asphere\ncompute_modify t extra/dof 16\ncompute p all pressure t",
        r"compute p includes the rotation of temperature t in its pressure, but the pressure is that of centers of "
        r"mass - use compute p a temperature of style temp", "uncompute p\ncompute p all pressure thermo_temp"),
    "field without dipoles": (f"pair_style multisite 2.5 rf inf\npair_coeff * * good atom atom\nset_multisite all",
        r"rf acts between point dipoles, but no component has one: it only adds a constant to the energy of "
        r"molecules whose charges have a dipole moment", "pair_style multisite 2.5\npair_coeff * * good atom atom"),
    "net charge": (f"{STYLE}\npair_coeff * * ion cation cation\nset_multisite all",
        r"component cation has the net charge 2: the Coulomb energy of two of its molecules jumps from 1.6 to 0 at "
        r"the cutoff 2.5, because there is no Ewald sum and rf acts only on dipoles - correct its charges unless it "
        r"is an ion",
        "pair_coeff * * ion pair pair"),
    "short cutoff": ("pair_style multisite 0.5\npair_coeff * * good linear linear\nset_multisite all\nfix l all multisite/linear",
        r"sites of linear and linear reach 0.6 together, and molecules interact within 0.5 between centers of mass: farther apart "
        r"they can overlap - use a longer cutoff, or cutoff site", "pair_style multisite 0.5 cutoff site"),
    "rotations of atoms": (f"{STYLE}\npair_coeff * * good atom atom\nset_multisite all\nfix move all nvt/asphere temp 1 1 1",
        r"compute move_temp counts three rotations of each molecule, but 0 linear ones have two and 27 others none: "
        r"with extra/dof 3 its temperature is too low - give compute_modify move_temp extra/dof 81, or 84 if it "
        r"counts translation and momentum is conserved", "compute_modify move_temp extra/dof 84"),
    "too many missing": (f"{STYLE}\npair_coeff * * good atom atom\nset_multisite all\nfix move all nvt/asphere temp 1 1 1\n"
        "compute_modify move_temp extra/dof 85",
        r"compute move_temp counts three rotations of each molecule, but 0 linear ones have two and 27 others none: "
        r"with extra/dof 85 its temperature is too high - give compute_modify move_temp extra/dof 81, or 84 if it "
        r"counts translation and momentum is conserved", "compute_modify move_temp extra/dof 81"),
    "linear molecules": (NO_AXES + "fix move all nve/asphere",
        r"\d+ linear molecules have no moment of inertia about their axes and heat up by spinning about them - use "
        r"fix multisite/linear, after all fixes that act on torques", "fix l all multisite/linear")}


BESIDE = Component("beside", 1.5, (0.3, 0.3, 0.0), centers=[((0.0, 0.0, 0.3), 1.0, 0.8)],
                   charges=[((0.0, 0.0, -0.3), 0.1), ((0.0, 0.01, 0.2), -0.1)])
ACROSS = Component("across", 1.5, (0.0, 0.3, 0.3), centers=[((0.3, 0.0, 0.0), 1.0, 0.8)],
                   dipoles=[((0.1, 0.0, 0.0), (1.0, 0.1, 0.0), 0.1)])


def tearDownModule():
    start().finalize()    # mpirun reports an error for a rank that ends without this call


def system_and_script(script):
    """Return commands before a script of RUNS, and the script."""
    if script.startswith("MOLECULAR"):
        bonds = "bond/types 1 extra/bond/per/atom 1 extra/special/per/atom 2"
        molecular = SYSTEM.format(style="hybrid ellipsoid bond", extra=bonds) + "special_bonds lj/coul 1 1 1\n"
        return molecular, script[len("MOLECULAR"):]
    if not script.startswith("PLANE"):
        return PLAIN, script
    plane = PLAIN
    for of_space, of_plane in (("units lj", "units lj\ndimension 2"), ("0 3 0 3 0 3", "0 4 0 4 -0.1 0.1"),
                               ("lattice sc", "lattice sq"), ("0.2 0.2 0.2", "0.2 0.2 0")):
        plane = plane.replace(of_space, of_plane)
    return plane, script[len("PLANE"):]


class InProcess(errortest.InProcess):
    SYSTEM = PLAIN

    def begin(self, system=None):
        self.lmp.command("clear")
        commands(self.lmp, system or self.SYSTEM)

    def energy(self):
        self.lmp.command("run 0")
        return self.lmp.get_thermo("pe")

    def check_error(self, command, message, marked=None):
        found, shown = error_of(self.lmp, MARKED.sub(r"\1", command))
        expected = marked or (command if MARKED.search(command) else None)
        self.assertEqual((found.replace("-nan", "nan"), shown), (message, expected))


class Arguments(InProcess):
    def test_arguments(self):
        """Earlier settings and components remain."""
        commands(self.lmp, f"{STYLE} rf 3 precision mixed\n{GOOD}\npair_coeff 1 2 mix 0.9 1.1")
        before = self.energy()
        self.assertNotEqual(before, 0.0)
        for command, cases in ("pair_style multisite ", STYLES), ("pair_coeff ", COEFFS):
            for words, message in cases:
                with self.subTest(command + words):
                    self.check_error((command + words).strip(), message)
                    self.assertEqual(self.energy(), before)

    def test_first_style_refused(self):
        self.check_error("pair_style multisite [-1]", "Pair_style multisite cutoff is -1 but must be > 0")
        self.lmp.command(GOOD)
        self.check_error("run 0", "Pair multisite has no settings after an earlier error - give pair_style multisite again")
        self.lmp.command("pair_style multisite 2.5")
        self.assertNotEqual(self.energy(), 0.0)

    def test_byte_order_mark_and_line_ends(self):
        """Files from Windows editors are read, including units."""
        commands(self.lmp, f"{STYLE}\n{GOOD}")
        expected = self.energy()
        for name in "marked", "crlf", "both_of_them":
            self.lmp.command(f"pair_coeff * * {name} all linear")
            self.assertEqual(self.energy(), expected)
        self.lmp.command("clear")
        commands(self.lmp, self.SYSTEM.replace("units lj", "units metal"))
        self.lmp.command(STYLE)
        for name in "marked", "crlf", "both_of_them":
            self.check_error(f"pair_coeff * * [{name}] all linear", f"Pair multisite: file of components {name} is in units lj, but "
                             "units metal are in use - convert one of them")

    def test_ghosts_are_enough(self):
        """A short comm_modify cutoff does not reduce the range that the style needs."""
        commands(self.lmp, f"{STYLE} cutoff site\n{GOOD}")
        before = self.energy()
        self.lmp.command("comm_modify cutoff 0.5")
        self.assertEqual(self.energy(), before)


class Runs(InProcess):
    def test_runs(self):
        for name, (script, message, *marked) in RUNS.items():
            if name in ONE_RANK and self.lmp.extract_setting("world_size") > 1:
                continue
            with self.subTest(name):
                system, script = system_and_script(script)
                *before, last = script.split("\n")
                self.begin(system)
                commands(self.lmp, "\n".join(before))
                self.check_error(last, message, *marked)
                if name in MENDED:
                    commands(self.lmp, MENDED[name])
                    self.assertTrue(np.isfinite(self.energy()))

    def test_check(self):
        """In single precision, forces differ from those of double by more than 1e-12; in double
        they equal those of the reference loops."""
        for words, fails in (("precision mixed check 1 1e-12", True),
                             ("precision mixed check 1 1e-3", False), ("precision double check 1 1e-11", False)):
            with self.subTest(words):
                self.begin()
                commands(self.lmp, f"{STYLE} {words} rf 3\n{GOOD}")
                if fails:
                    self.assertRegex(error_of(self.lmp, "run 0")[0], f"^{CHECK}$")
                else:
                    self.assertNotEqual(self.energy(), 0.0)

    def test_long_cutoff(self):
        """LAMMPS cannot count the ghost atoms of a long cutoff, with or without the extent of
        molecules."""
        for style in "multisite 1e12", "multisite 5e4", "multisite 2.5 1e6", "hybrid/overlay multisite 1e12 lj/cut 2.5":
            with self.subTest(style):
                self.begin()
                coefficients = f"{OURS}{LJ}" if "hybrid" in style else GOOD
                commands(self.lmp, f"pair_style {style}\n{coefficients}")
                self.assertRegex(error_of(self.lmp, "run 0")[0], f"^{GHOSTS}$")
        self.begin()
        commands(self.lmp, f"pair_style multisite 2.5\n{GOOD}\ncomm_modify cutoff 1e20")
        self.assertRegex(error_of(self.lmp, "run 0")[0],
                         r"^Pair multisite: the ghost atom range 1e\+20 of the comm_modify cutoff is so long that LAMMPS would need "
                         r"about \S+ atoms per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller "
                         "comm_modify cutoff$")
        self.begin()
        commands(self.lmp, f"pair_style multisite 30.0\n{GOOD}")
        self.assertTrue(np.isfinite(self.energy()))

    def test_pre_no(self):
        """A run without setup continues if nothing has changed. The first run after a restart file
        has a setup."""
        commands(self.lmp, RUN)
        before = self.energy()
        for lines in ("pair_modify shift no tail no",
                      "write_restart pre_no.restart\nclear\nread_restart pre_no.restart"):
            commands(self.lmp, f"{lines}\nthermo 1\nrun 1 pre no")
            self.assertAlmostEqual(self.lmp.get_thermo("pe"), before, delta=1e-12 * abs(before))
        # A failed setup does not count as a setup.
        self.lmp.command("neigh_modify exclude type 1 2")
        self.check_error("run 0", RUNS["exclude types"][1])
        self.check_error("run 1 pre no", CHANGED)

    def test_bonds_of_others(self):
        """special_bonds may weight the bonded atoms of another style next to the molecules."""
        system, _ = system_and_script("MOLECULAR")
        energies = []
        for weights in "1 1 1", "0 0.5 0.5":
            self.begin(system)
            commands(self.lmp, f"set group all type 1\nset group a type 2\n{HYBRID.replace('lj/cut 2.5', 'lj/cut 3.0')}"
                     "pair_coeff * * multisite good all NULL\npair_coeff *2 2 lj/cut 1 1\n"
                     f"create_bonds single/bond 1 1 2\nspecial_bonds lj/coul {weights}")
            energies.append(self.energy())
        # Energy of the pair of 1-2 neighbors, which the weight removes.
        x = np.array(self.lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)[:2]
        d = x[0] - x[1]
        d -= 6 * np.round(d / 6)
        sixth = 1 / (d @ d)**3
        self.assertLess(d @ d, 3.0**2)
        self.assertAlmostEqual(energies[0] - energies[1], 4 * (sixth**2 - sixth) / 27, delta=1e-10)

    def test_check_every(self):
        """Checks evaluations 0, 3, ... with energy, and equally those without."""
        energies = []
        for words in "", " check 3 1e-11":
            self.begin()
            commands(self.lmp, f"{STYLE} precision double{words}\n{GOOD}\nset_multisite all\nfix move all nve/asphere\n"
                     "fix l all multisite/linear\ntimestep 0.001\nthermo 100\nrun 5")
            energies.append(self.lmp.get_thermo("pe"))
        self.assertAlmostEqual(*energies, delta=1e-11)

    def test_quaternion_not_normalized(self):
        """LAMMPS normalizes quaternions that it reads, except from a restart file."""
        commands(self.lmp, f"{RUN}set atom 3 quat 1 0 0 0\nrun 0\nwrite_restart good.restart")
        if self.lmp.extract_setting("world_rank") == 0:
            with open("good.restart", "rb") as file:
                text = file.read()
            unturned = struct.pack("7d", 0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0)    # after half axes
            self.assertEqual(text.count(unturned), 1)
            with open("bad.restart", "wb") as file:
                file.write(text.replace(unturned, struct.pack("7d", 0.5, 0.5, 0.5, 1.0, 0.5, 0.0, 0.0)))
        if self.lmp.extract_setting("world_size") > 1:
            return
        self.lmp.command("clear")
        commands(self.lmp, "read_restart bad.restart")
        self.check_error("run 0", "Pair multisite: the quaternion of atom ID 3, 1 0.5 0 0, has length "
                         "1.118033988749895 but must have length 1 - " + UNSTABLE.format("quaternions"))

    def test_on_two_ranks(self):
        """The tests run on both of two ranks: if the ranks do not fail alike, the test fails or
        hangs."""
        if self.lmp.extract_setting("world_size") > 1:
            return
        tests = ["Arguments", "Runs.test_runs", "Runs.test_check", "Runs.test_long_cutoff"]
        code, output = run_program([sys.executable, os.path.abspath(__file__), *tests], 2)
        self.assertEqual(code, 0, output)
        self.assertEqual(output.count("OK"), 2, output)

    def test_executable_stops(self):
        if self.lmp.extract_setting("world_size") > 1:
            return
        cases = [*ONE_RANK, "exclude groups", "pair of another style"]
        scripts = [("".join(system_and_script(RUNS[name][0])) + "\nprint 'went on'\n", 2) for name in cases]
        for name, result in zip(cases, start_all(run_script, scripts)):
            with self.subTest(name):
                code, output = result.result()
                self.assertEqual({message.replace("-nan", "nan") for message in errors_in(output)}, {RUNS[name][1]}, output)
                self.assertNotEqual(code, 0)
                self.assertNotRegex(output, "(?m)^went on")


class Warnings(unittest.TestCase):
    def test_warnings(self):
        cases = [(name, script, way_out) for name, (script, _, way_out) in WARNINGS.items()]
        printed = lambda output: re.findall(r"^WARNING: Pair multisite: (.*?) \(\S+:\d+\)$", output, re.MULTILINE)
        scripts = [(f"{PLAIN}timestep 0.0001\n{script}\nrun 0\nrun 0\nprint 'mended'\n{way_out}\nrun 0\n", 1)
                   for _, script, way_out in cases]
        for (name, _, _), result in zip(cases, start_all(run_script, scripts)):
            with self.subTest(name):
                code, output = result.result()
                self.assertEqual(code, 0, output)
                before, after = re.split("(?m)^mended$", output)
                matching = [text for text in printed(before) if re.fullmatch(WARNINGS[name][1], text)]
                self.assertEqual(len(matching), 1, before)    # not in the second run
                self.assertEqual(printed(after), [], after)

    def test_minimization(self):
        code, output = run_script(PLAIN + INTEGRATE + "minimize 0 0 1 1\n", 1)
        self.assertEqual(code, 0, output)
        self.assertIn("WARNING: Pair multisite: a minimization moves molecules without rotating them", output)

    def test_units(self):
        text = PLAIN.replace("units lj", "units metal").replace("lattice sc 0.125", "lattice sc 2.0")
        code, output = run_script(text + "pair_style multisite 2.5\npair_coeff * * real one one\nrun 0\n", 1)
        self.assertEqual(code, 0, output)
        self.assertIn("WARNING: Pair multisite: converting file of components real from units real to metal", output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        write_components("good", [ALL_KINDS, LINEAR, POLAR, ATOM])
        write_components("huge", [Component("huge", 1.0, centers=[((0.0, 0.0, 0.0), 1.0, 1e10)])])
        write_components("bent", [BESIDE, ACROSS])
        write_components("ion", [Component("cation", charges=[((0.0, 0.0, 0.0), 2.0)]),
                                 Component("pair", charges=[((0.0, 0.0, 0.0), 2.0), ((0.0, 0.0, 0.0), -2.0)])])
        with open("good", encoding="ascii") as file:
            text = file.read()
        for name, first, newline in ("marked", "\ufeff", "\n"), ("crlf", "", "\r\n"), ("both_of_them", "\ufeff", "\r\n"):
            with open(name, "w", encoding="utf-8", newline=newline) as file:
                file.write(first + text)
        os.mkdir("folder")
        for stem, text in {**{name: text for name, (text, _) in FILES.items()}, "empty": "# UNITS: lj\n",
                           "real": "# UNITS: real\n" + COMPONENT.format("center 0 0 0 1 1")}.items():
            with open(stem, "w") as file:
                file.write(text)
        unittest.main(verbosity=2)
