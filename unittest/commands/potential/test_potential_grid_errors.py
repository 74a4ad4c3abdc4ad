"""Bad input of compute potential/grid gives a message that names the value, the limit and the way
out, and points at the argument. LAMMPS stays usable, and no rank waits forever."""
# Processors: 2
# Without: gpu

import os
import re
import unittest

from lammps import LMP_STYLE_ATOM, LMP_TYPE_VECTOR

import coordtest
import errortest
from errortest import commands, error_of, errors_in, run_script, start, start_all

# 64 atoms with charges +1 and -1 near the sites of a lattice, in a periodic box of edge 10; ghost
# atoms up to 3.3.
SYSTEM = """
units metal
atom_style charge
atom_modify map array
lattice sc 2.5
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
set group all charge 1.0
set atom 1*32 charge -1.0
pair_style zero 3.0
pair_coeff * *
neighbor 0.3 bin
thermo 1
group a id 1:8
group empty id 0
"""
COMPUTE = "compute c a potential/grid 4 4 4 "
GOOD = "compute c all potential/grid 4 4 4 cutoff 3.0"
KNOWN = "known are cutoff, kernel, far, overlap, align, units, temp, dielectric, reference, field, bins, overflow, precision, device"
POINTS = "must be a number of grid points from 1 to 2147483647"
DIRECT = ("Compute potential/grid kernel direct sums 1/r over all atoms, which diverges in a periodic box - use "
          "kernel cut, smooth or taylor with a cutoff, or boundary f f f")
SHELL = "Compute potential/grid c: cutoff plus skin {0} exceeds the ghost atom range {1} - use comm_modify cutoff {0} or more"
CORNERS = SHELL.replace("skin", "skin plus 1, by which points at corners are outside of a rank's part of the box,")
SHORT = ("Compute potential/grid cutoff is 2.5e-05 but must be more than 2.5e-05, 1e-05 of the longest edge of a "
         "grid cell: nearer charges are treated as coincident with a point and skipped - use a larger cutoff or a "
         "finer grid")
SINGLE = "but must be from 1e-30 to 1e+30, so that potentials fit into single precision"
# LAMMPS of older releases refuses such numbers.
SUBNORMAL = "Floating point number 1e-320 in input script or data file is out of range"
NOT_FINITE = "is not a finite number - the simulation is unstable, or they were set wrongly"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
ARGUMENTS = [
    ("[bogus] 3", f"Unknown compute potential/grid keyword: bogus - {KNOWN}"),
    ("cutoff 3.0 [9]", f"Unknown compute potential/grid keyword: 9 - {KNOWN}"),
    ("cutoff 3.0 kernel [foo]", "Unknown compute potential/grid kernel option: foo - known are cut, smooth, taylor, ewald, direct"),
    ("cutoff 3.0 overlap [hard] 1", "Unknown compute potential/grid overlap option: hard - known are skip, zero, soft"),
    ("cutoff 3.0 align [edge]", "Unknown compute potential/grid align option: edge - known are center, corner"),
    ("cutoff 3.0 units [mV]", "Unknown compute potential/grid units option: mV - known are native, volt, kT"),
    ("cutoff 3.0 field [on]", "Unknown compute potential/grid field option: on - known are yes, no"),
    ("cutoff 3.0 precision single device [cuda]",
     "Compute potential/grid precision single is the same as mixed on a GPU - use precision mixed, or device host"),
    ("cutoff 3.0 precision [half]", "Unknown compute potential/grid precision option: half - known are mixed, double, single"),
    ("cutoff 3.0 device [gpu]", "Unknown compute potential/grid device option: gpu - known are auto, cuda, host"),
    ("cutoff 3.0 bins [round]", "Unknown compute potential/grid bins option: round - known are sorted, fixed"),
    ("cutoff 3.0 bins fixed [0] 8", "Compute potential/grid bins fixed size is 0 but must be > 0 and finite"),
    ("cutoff 3.0 bins fixed [x] 8", "Compute potential/grid bins fixed size must be a number, not 'x'"),
    ("cutoff 3.0 bins fixed 4.0 [0]", "Compute potential/grid bins fixed depth is 0 but must be a number of charges from 1 to 1048576"),
    ("cutoff 3.0 bins fixed 4.0 [2.5]",
     "Compute potential/grid bins fixed depth is 2.5 but must be a number of charges from 1 to 1048576"),
    ("cutoff 3.0 bins fixed 4.0 [2000000]",
     "Compute potential/grid bins fixed depth is 2000000 but must be a number of charges from 1 to 1048576"),
    ("cutoff 3.0 [bins] fixed 4.0 8 overlap zero 0.5",
     "Compute potential/grid bins fixed cannot be used with overlap zero, because overflowing charges are summed "
     "separately - use bins sorted, or overlap skip or soft"),
    ("cutoff 3.0 overflow [gpu]", "Unknown compute potential/grid overflow option: gpu - known are device, host"),
    ("cutoff 3.0 [overflow] host",
     "Compute potential/grid overflow is for bins of fixed depth - leave it out, or use for example: bins fixed 4.0 8"),
    ("[compute] c a potential/grid 4 4 4",
     "Compute potential/grid kernel smooth needs a cutoff, for example: cutoff 12.0 - or use kernel direct in a box that is not "
     "periodic"),
    ("[compute] c a potential/grid 4 4 4 kernel cut field yes",
     "Compute potential/grid kernel cut needs a cutoff, for example: cutoff 12.0 - or use kernel direct in a box that is not "
     "periodic"),
    ("kernel direct [cutoff] 3.0", "Compute potential/grid kernel direct sums over all atoms and takes no cutoff - leave it out"),
    ("kernel [direct]", DIRECT),
    ("cutoff 3.0 overlap soft [3.5]", "Compute potential/grid overlap soft radius is 3.5 but must not exceed the "
     "cutoff, 3"),
    ("overlap zero [3.5] cutoff 3.0", "Compute potential/grid overlap zero radius is 3.5 but must not exceed the "
     "cutoff, 3"),
    ("cutoff 3.0 units [kT]", "Compute potential/grid units kT needs a temperature, for example: temp 300.0"),
    ("cutoff 3.0 [temp] 300", "Compute potential/grid temp is for units kT only - leave it out, or use units kT"),
    ("cutoff 3.0 units volt [temp] 300", "Compute potential/grid temp is for units kT only - leave it out, or use units kT"),
    ("cutoff 3.0 overlap soft [1e-40]",
     "Compute potential/grid overlap soft radius is 1e-40 but must be 3e-05 or more: nearer charges are treated as "
     "coincident with a point - use a larger radius or overlap skip"),
    ("cutoff [2.5e-5]", SHORT),
    ("kernel cut cutoff [2.5e-5] field yes", SHORT),
    ("cutoff 3.0 units kT temp [1e-320]", errortest.by_release(f"Compute potential/grid temp is 1e-320 {SINGLE}", SUBNORMAL)),
    ("cutoff 3.0 units kT temp [1e31]", f"Compute potential/grid temp is 1e31 {SINGLE}"),
    ("cutoff 3.0 dielectric [1e-320]", errortest.by_release(f"Compute potential/grid dielectric is 1e-320 {SINGLE}", SUBNORMAL)),
    ("cutoff 3.0 dielectric [1e300]", f"Compute potential/grid dielectric is 1e300 {SINGLE}"),
    # The grid.
    ("compute c a potential/grid [0] 4 4 cutoff 3.0", f"Compute potential/grid Nx is 0 but {POINTS}"),
    ("compute c a potential/grid 4 [-1] 4 cutoff 3.0", f"Compute potential/grid Ny is -1 but {POINTS}"),
    ("compute c a potential/grid 4 4 [x] cutoff 3.0", f"Compute potential/grid Nz is x but {POINTS}"),
    ("compute c a potential/grid 4 4 [2.5] cutoff 3.0", f"Compute potential/grid Nz is 2.5 but {POINTS}"),
    ("compute c a potential/grid [3000000000] 1 1 cutoff 3.0", f"Compute potential/grid Nx is 3000000000 but {POINTS}"),
    ("compute c a potential/grid [99999999999999999999] 1 1 cutoff 3.0",
     f"Compute potential/grid Nx is 99999999999999999999 but {POINTS}"),
    ("compute c a potential/grid [2000] 2000 2000 cutoff 3.0",
     "Compute potential/grid: a grid of 2000 x 2000 x 2000 has 8000000000 points, but LAMMPS supports at most "
     "2147483647 - use fewer"),
    ("compute c a potential/grid 4 4", "Illegal compute potential/grid command: missing argument(s)"),
]
for keyword in "cutoff", "temp", "dielectric", "overlap soft", "overlap zero":
    what = keyword + (" radius" if " " in keyword else "")
    rest = "" if keyword == "cutoff" else "cutoff 3.0 "
    for bad in "nan", "1.0x", "inf":
        ARGUMENTS.append((f"{rest}{keyword} [{bad}]", f"Compute potential/grid {what} must be a number, not '{bad}'"))
    for bad in "0", "-1.5":
        ARGUMENTS.append((f"{rest}{keyword} [{bad}]", f"Compute potential/grid {what} is {bad} but must be > 0 and finite"))
    ARGUMENTS.append((f"{rest}{keyword}", f"Illegal compute potential/grid {keyword} command: missing argument(s)"))
for keyword in "kernel", "overlap", "align", "units", "field", "precision", "device":
    ARGUMENTS.append((f"cutoff 3.0 {keyword}", f"Illegal compute potential/grid {keyword} command: missing argument(s)"))

DUMP = f"{coordtest.folder()}/none.dump"
USE = f"\ndump d all custom 1 {DUMP} id c_c\nrun 0"
MAP = f"\ndump d all grid 1 {DUMP} c_c:grid:phi\nrun 0"
NAN = "variable bad atom exp(1000)-exp(1000)\n"

# Scripts whose last line must fail, after SYSTEM, and the message.
RUNS = {
    "ghosts too near": ("compute c all potential/grid 4 4 4 cutoff 3.5\nrun 0", SHELL.format(3.8, 3.3)),
    "ghosts without a pair style": ("pair_style none\ncompute c all potential/grid 4 4 4 cutoff 3.5\nrun 0", SHELL.format(3.8, 0)),
    "skin too large in the run": ("compute c all potential/grid 4 4 4 cutoff 3.0" + MAP + "\nneighbor 0.4 bin\nrun 1 pre no",
                                  SHELL.format(3.4, 3.3)),
    "a cutoff beyond int": (GOOD.replace("cutoff 3.0", "cutoff 1e9") + "\nrun 0",
                            "Compute potential/grid c: cutoff plus skin 1000000000 is so long that LAMMPS would need about 5.1e+26 atoms "
                            "per rank, ghosts included, which it counts by int, up to 2147483647 - use a smaller cutoff; far fft "
                            "adds all periodic images"),
    "comm_modify mode multi": ("neighbor 0.3 multi\ncomm_modify mode multi\n" + GOOD + "\nrun 0",
                               "Compute potential/grid c: cannot use the ghost atoms of comm_modify mode multi - use mode single"),
    "comm_modify group": ("atom_modify first a\ncomm_modify group a\n" + GOOD + "\nrun 0",
                          "Compute potential/grid c: cannot use the ghost atoms of comm_modify group - use comm_modify group all"),
    "no charges": ("set group all charge 0.0\n" + GOOD + MAP,
                   "Compute potential/grid c: no atom of group all has a charge - set charges, or use another group"),
    "no charges at atoms": ("set group all charge 0.0\n" + GOOD + USE,
                            "Compute potential/grid c: no atom of group all has a charge - set charges, or use another group"),
    "an empty group": ("compute c empty potential/grid 4 4 4 cutoff 3.0" + MAP,
                       "Compute potential/grid c: no atom of group empty has a charge - set charges, or use another group"),
    # moved there: with KOKKOS on one GPU, positions that a command has set on the host do not reach it before the next setup
    "not a number": (GOOD + MAP + f"\n{NAN}group bad id 17\nvelocity bad set NULL v_bad NULL\nfix move all nve\nrun 1",
                     f"Compute potential/grid c: the position or the charge of atom ID 17 {NOT_FINITE}"),
    "a charge that is not a number": (GOOD + USE + f"\n{NAN}set atom 17 charge v_bad\nrun 1 pre no",
                                      f"Compute potential/grid c: the position or the charge of atom ID 17 {NOT_FINITE}"),
}

# Two halves of the box cut the middle one of five cells. Its corner is outside the upper half, but
# its center is inside.
CUT_CELL = ("compute c all potential/grid 4 4 5 cutoff 3.0 align corner\nrun 0", CORNERS.format("4.3", 3.3))
# Errors for which ranks could stop alone.
ON_RANKS = ["no charges", "an empty group", "not a number"]
# Without field, and with unknown names: LAMMPS' own errors.
NAMES = ["c_c:grid:efield[1]", "c_c:grid:phi[1]", "c_c:mesh:phi", "c_c:grid:psi"]


def tearDownModule():
    start().finalize()


class InProcess(errortest.InProcess):
    SYSTEM = SYSTEM

    def check_still_usable(self):
        commands(self.lmp, GOOD + "\nrun 0\nuncompute c")


class Arguments(InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = words if re.match(r"\[?compute", words) else COMPUTE + words
            with self.subTest(words):
                found, where = error_of(self.lmp, re.sub(r"[][]", "", marked))
                self.assertEqual(found.split("\nFor more information")[0], message)
                if "[" in marked:
                    self.assertEqual(where, marked)
                self.assertFalse(self.lmp.has_id("compute", "c"))
                self.check_still_usable()

    def test_units_without_a_volt(self):
        commands(self.lmp, "clear\n" + SYSTEM.strip().replace("units metal", "units lj").replace("lattice sc 2.5", "lattice sc 1.0"))
        self.assertEqual(error_of(self.lmp, GOOD + " units volt"), (
            "Compute potential/grid units volt: there is no Volt in units lj - use units native or units kT",
            GOOD + " units [volt]"))

    def test_without_charges(self):
        commands(self.lmp, "clear\n" + re.sub("set .*\n", "", SYSTEM).strip().replace("style charge", "style atomic"))
        self.assertEqual(errortest.without_suffix(error_of(self.lmp, GOOD)[0]),
                         "Compute potential/grid needs charges, but atom_style atomic has none - use atom_style "
                         "charge or full")

    def test_two_dimensions(self):
        commands(self.lmp, "clear\ndimension 2\n" + SYSTEM.strip().replace("lattice sc", "lattice sq").replace(
            "0 4 0 4 0 4", "0 8 0 8 -0.1 0.1"))
        self.assertEqual(error_of(self.lmp, GOOD)[0],
                         "Compute potential/grid is for three dimensions - use dimension 3 with one thick layer")

    def test_too_large_for_memory(self):
        memory, needed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"), 1250**3 * 40
        if memory > needed:
            self.skipTest("this machine has room for the largest grid")
        found, _ = error_of(self.lmp, "compute c all potential/grid 1250 1250 1250 cutoff 3.0 field yes")
        self.assertEqual(found, "Compute potential/grid c: a grid of 1250 x 1250 x 1250 points with field needs "
                         f"{needed / 2**30:.1f} GiB on a machine, which has {memory / 2**30:.1f} GiB - use a coarser grid or more "
                         "machines")
        self.check_still_usable()

    def test_too_large_for_lammps(self):
        """LAMMPS also allocates cells next to those of a rank."""
        found, _ = error_of(self.lmp, "compute c all potential/grid 1290 1290 1290 cutoff 3.0")
        self.assertEqual(found, "Compute potential/grid c: a grid of 1290 x 1290 x 1290 points has 2151685171 of "
                         "them on a rank and at its faces, but LAMMPS supports at most 2147483647 - use fewer points "
                         "or more ranks")
        self.check_still_usable()

    def test_direct_after_a_change_of_boundary(self):
        commands(self.lmp, "change_box all boundary f f f\ncompute c all potential/grid 4 4 4 kernel direct\nrun 0\n"
                 "change_box all boundary f p f")
        self.assertEqual(error_of(self.lmp, "run 0"), (DIRECT.replace("grid", "grid c:", 1), None))


    def test_smallest_temperature_and_dielectric(self):
        """The limits themselves are valid."""
        for limit in "1e-30", "1e30":
            commands(self.lmp, f"{GOOD} units kT temp {limit}\nrun 0\nuncompute c\n{GOOD} dielectric {limit}\nrun 0\nuncompute c")

    def test_cells_that_grow_beyond_the_cutoff(self):
        commands(self.lmp, "compute c all potential/grid 4 4 4 cutoff 2.6e-5\nrun 0\nchange_box all x final 0 12 y final 0 12 z final 0 12 units box")
        self.assertEqual(error_of(self.lmp, "run 0"), (
            SHORT.replace("grid", "grid c:", 1).replace("is 2.5e-05", "is 2.6e-05").replace("than 2.5e-05", "than 3e-05"), None))


class Runs(InProcess):
    def test_runs(self):
        for name, (script, message) in RUNS.items():
            *before, last = script.split("\n")
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, "\n".join(before))
                self.assertEqual(error_of(self.lmp, last)[0], message)

    def test_before_a_run(self):
        commands(self.lmp, GOOD)
        with self.assertRaisesRegex(Exception, "Compute potential/grid c is used before a run has set it up - use run 0 first"):
            self.lmp.extract_compute("c", LMP_STYLE_ATOM, LMP_TYPE_VECTOR)

    def test_names(self):
        for name in NAMES:
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, GOOD)
                self.assertRegex(error_of(self.lmp, f"dump d all grid 1 {DUMP} {name}")[0], "Dump grid compute c|not recognized")
                self.lmp.command("run 0")

    def test_on_ranks(self):
        cases = [(ranks, *case) for case in [RUNS[name] for name in ON_RANKS] + [CUT_CELL] for ranks in (2, 4)]
        results = start_all(run_script, [(SYSTEM + script + "\n", ranks) for ranks, script, _ in cases])
        for (ranks, script, message), result in zip(cases, results):
            with self.subTest(script, ranks=ranks):
                code, text = result.result()
                self.assertNotEqual(code, 0)
                found = errors_in(text)
                self.assertEqual(found[:1], [message], text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
