"""Fix coord/bias on any number of ranks, in pieces with restart files, in every kind of run, and
next to other fixes.

Each test compares two ways to the same result. One of them does not need the tested feature: one
rank, an uninterrupted run, one fix for each variable, Verlet instead of rRESPA; or it is a closed
form.
"""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import itertools
import os
import shutil
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
from brutetest import Switch, brute_force

N = 108
SWITCH = Switch("cubic", d0=1.2, dmax=2.2)
LEFT, RIGHT = np.arange(50), np.arange(40, N)
EDGE = 4.93
DT = 1 / 256    # times are exact, in every order of additions
VARIABLES = ["variable k equal 200+100*sin(10*time)", "variable s equal 8.6-0.002*step"]
HILL_END = np.exp(-6.25)
SAME = coordtest.rounded(1e-9)    # rounding grows in a short run

# Fixes of all kinds for one run. S of c is about 9, S of d 8 to 8.7.
FIXES = {
    "harmonic": "c_c c_d harmonic k 100 20 s0 8.6 8.9",
    "moving": "c_c moving k 100 s0 8.9 s0/stop 8.4 k/stop 150 steps 45",
    # After a restart, work is done between two evaluations.
    "variable": "c_d moving k v_k s0 v_s stride 3",
    "upper": "c_d wall/upper k 300 s0 8.5 exponent 3 offset 0.1",
    "lower": "c_c wall/lower k 90 s0 9.1",
    "linear": "c_d linear k -8 stride 3",
    "sum": "c_d metad sigma 0.2 height 1.0 pace 8 file {hills}.sum",
    "grid": "c_c metad sigma 0.1 height 1.0 pace 5 stride 5 grid 6 12 bins 150 file {hills}.grid",
    "two": "c_c c_d metad sigma 0.1 0.3 height 1.0 pace 4 biasfactor 6 temp 1.4 grid 6 12 6 16 bins 120 70 "
           "file {hills}.two interval 6.5 11.5 7 15",
    "opes": "c_c c_d opes barrier 12 temp 1.4 sigma/adaptive 8 pace 4 file {hills}.opes",
}
METAD = ("sum", "grid", "two", "opes")


def crystal():
    path = f"{coordtest.folder()}/data"
    if not os.path.exists(path):
        cell = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
        sites = [np.add(corner, site) for corner in itertools.product((0, 2, 4), repeat=3) for site in cell]
        x = EDGE / 6 * np.array(sites) + np.random.default_rng(1).uniform(-0.05, 0.05, (N, 3))
        coordtest.write_data(path, x, brutetest.Box((EDGE,) * 3))
    return ["units lj", "atom_modify map array sort 0 0", f"read_data {path}", "mass 1 1.0", "group left id 1:50",
            f"group right id 41:{N}", "velocity all create 1.4 77 mom yes", f"timestep {DT}"]


def forces(style="lj/smooth/linear"):
    return [f"pair_style {style} 2.3", "pair_coeff * * 1.0 1.0", "neighbor 0.3 bin",
            "neigh_modify every 1 delay 0 check yes", "fix move all nve"]


def computes(keywords="", suffixes=("",)):
    return [line.format(suffix, f"{SWITCH.keywords} precision double {keywords}") for suffix in suffixes for line in
            ("compute c{} all coord/gpu {} norm mean", "compute d{} left coord/gpu group2 right {} norm mean")]


def all_fixes(hills):
    return VARIABLES + [f"fix {name} all coord/bias {words.format(hills=hills)}" for name, words in FIXES.items()]


def output(names, every, more="etotal press"):
    return [f"thermo_style custom step {more} " + " ".join(f"f_{name} f_{name}[*]" for name in names),
            "thermo_modify norm no format float %.17g", f"thermo {every}",
            f"dump d all custom {every} dump id x y z xu yu zu vx vy vz fx fy fz",
            "dump_modify d format float %.17g sort id"]


def text_of(path):
    with open(path) as file:
        return file.read()


def new_hills(counter=itertools.count()):
    return f"{coordtest.folder()}/hills{next(counter)}"


def state(run):
    """Return the whole state of the last step: thermo output, and x, v and f of the atoms."""
    atoms = dumptest.read_dump(run.path("dump"))[-1].columns
    unwrapped = {name: atoms[name] for name in atoms if name not in "xyz"}
    return {**{name: column[-1] for name, column in run.tables[-1].items()}, **unwrapped}


class Ranks(unittest.TestCase):
    def run_on(self, ranks, newton, engine):
        hills = new_hills()
        image = " image minimum" if engine == "allpairs" else ""
        # lj/cut has a KOKKOS variant, so that a GPU computes it and the variables at the same time.
        run = coordtest.run_lammps([f"newton {newton}"] + crystal() + forces("lj/cut") +
                                   computes(f"engine {engine}{image}") + all_fixes(hills) + output(FIXES, 10) + ["run 100"],
                                   ranks)
        return run, {name: np.loadtxt(f"{hills}.{name}") for name in METAD}

    def test_same_trajectory(self):
        expected, expected_hills = self.run_on(1, "on", "cells")
        cases = [(ranks, newton, "cells") for ranks in (1, 2, 4) for newton in ("on", "off")][1:]
        cases += [(2, "on", "allpairs"), (4, "off", "allpairs")]
        worst = 0
        for case in cases:
            run, hills = self.run_on(*case)
            for name, column in expected.tables[0].items():
                error = coordtest.error_of(run.tables[0][name], column)
                worst = max(worst, error)
                self.assertLess(error, SAME, f"{case}: {name}")
            last, expected_last = state(run), state(expected)
            for name in ("xu", "vx", "fz"):
                self.assertLess(coordtest.error_of(last[name], expected_last[name]), SAME, f"{case}: {name}")
            for name in METAD:
                self.assertLess(coordtest.error_of(hills[name], expected_hills[name]), SAME, f"{case}: hills {name}")
        print(f"worst error of thermo {worst:.1e}")
        # The last case, compared with brute force.
        for row, frame in enumerate(dumptest.read_dump(run.path("dump"))):
            for column, arguments in ((1, (np.arange(N),)), (5, (LEFT, RIGHT))):
                s = brute_force(frame.box, frame.x(), SWITCH, *arguments, norm="mean")
                found = run.tables[0][f"f_harmonic[{column}]"][row]
                self.assertLess(coordtest.error_of(found, s.value, s.spread_of("value")), 1e-12)


    def test_read_before_the_bias(self):
        """A fix reads the variable after its evaluation has begun, and the bias needs it again."""
        runs = [coordtest.run_lammps(crystal() + forces("lj/cut") + computes() + [
            "variable pull equal 0.1*c_c", "fix read all addforce v_pull 0 0", "fix b all coord/bias c_c c_d harmonic k 100 20 "
            "s0 8.6 8.9"] + output(["b"], 10) + ["run 40"], ranks) for ranks in (1, 2)]
        expected, found = map(state, runs)
        for name in expected:
            self.assertLess(coordtest.error_of(found[name], expected[name]), SAME, name)
        self.assertGreater(np.ptp(runs[0].tables[0]["f_b"]), 1)


class Restart(unittest.TestCase):
    """A run of 60 steps in pieces equals a run in one piece bit by bit, on the same ranks."""

    def pieces(self, hills, ranks, ends, every=60):    # no output at steps of restarts: no virial
        """ends: (first, last) step of each piece; each starts from the restart file of its first
        step."""
        for first, last in ends:
            begin = [f"read_restart {hills}.restart.{first}"] if first else crystal()
            run = coordtest.run_lammps(begin + forces() + computes() + all_fixes(hills) + output(FIXES, every) +
                                       [f"restart 20 {hills}.restart.*", f"run {last - first}"], ranks)
        return run

    def test_bitwise(self):
        for ranks in (1, 2):
            whole, parts = new_hills(), new_hills()
            expected = state(self.pieces(whole, ranks, [(0, 60)]))
            # Killed at step 29, after hills that the restart file of step 20 lacks, and at step 40
            # exactly.
            run = self.pieces(parts, ranks, [(0, 29), (20, 40), (40, 60)])
            found = state(run)
            self.assertEqual(found.keys(), expected.keys())
            for name in found:
                coordtest.assert_same_bits(found[name], expected[name], f"{ranks} ranks: {name}", in_pieces=True)
            for name in METAD:
                coordtest.assert_same_bits(text_of(f"{parts}.{name}"), text_of(f"{whole}.{name}"), f"hills of {name}",
                                           in_pieces=True)
            self.assertEqual(len(np.loadtxt(f"{parts}.two")), 15)
            for name, first in (("sum", 24), ("grid", 25), ("two", 24)):
                folder, base = os.path.split(f"{parts}.{name}")
                moved = np.loadtxt(f"{folder}/bck.0.{base}", ndmin=2)
                self.assertAlmostEqual(moved[0, 0], first * DT, delta=1e-12)

    def test_moving_goes_on(self):
        """The restraint of steps 0 to 45 in the last piece, 40 to 60: its position, and the step at
        which it stops."""
        run = self.pieces(new_hills(), 1, [(0, 20), (20, 40), (40, 60)], every=1)
        fraction = np.minimum(np.arange(40, 61) / 45, 1)
        for column, start, stop in ((3, 8.9, 8.4), (4, 100, 150)):
            np.testing.assert_allclose(run.tables[0][f"f_moving[{column}]"], start + fraction * (stop - start), 1e-15)


class Respa(unittest.TestCase):
    """rRESPA with all other forces at the innermost level equals Verlet with the short timestep. A
    bias at a higher level equals a stronger bias at every n-th short timestep, as with stride."""

    SHORT, STEPS = 0.002, 24
    RESPA = "run_style respa 2 4 pair 1"

    def run_of(self, fixes, dt, style="run_style verlet", levels=(), before=(), more="etotal", after=()):
        hills, steps = new_hills(), round(self.STEPS * 4 * self.SHORT / dt) if dt else self.STEPS
        lines = crystal() + forces() + computes() + [*before]
        lines += [f"fix {name} all coord/bias {words.format(hills=hills)}" for name, words in fixes.items()]
        lines += [f"fix_modify {name} respa {level}" for name, level in dict(levels).items()]
        run = coordtest.run_lammps(
            lines + output(fixes, steps, more) + [f"timestep {dt}", style, f"run {steps}", *after])
        return run, {name: np.loadtxt(f"{hills}.{name}") for name in fixes if "{hills}" in fixes[name]}

    def same(self, what, respa, verlet):
        (run, hills), (expected, expected_hills) = respa, verlet
        last, expected_last = state(run), state(expected)
        # With stride, forces are several times as large.
        errors = {name: coordtest.error_of(last[name], expected_last[name]) for name in last
                  if name not in ("Step", "fx", "fy", "fz")}
        errors.update((f"hills of {name}", coordtest.error_of(hills[name], expected_hills[name])) for name in hills)
        print(f"{what}: worst error {max(errors.values()):.1e}, hills {[len(rows) for rows in hills.values()]}")
        for name, error in errors.items():
            self.assertLess(error, SAME, f"{what}: {name}")

    def kinds(self, n, strides={}):
        """Return the fixes of a run with n timesteps for each long one."""
        fixes = {"harmonic": "c_c harmonic k 300 s0 8.6",
                 "moving": f"c_d moving k 50 s0 8.5 s0/stop 8 steps {10 * n}",
                 "sum": f"c_d metad sigma 0.2 height 1.0 pace {3 * n} file {{hills}}.sum",
                 "grid": f"c_c metad sigma 0.1 height 1.0 pace {3 * n} grid 6 12 bins 150 file {{hills}}.grid"}
        return {name: f"{words} stride {strides.get(name, 1)}" for name, words in fixes.items()}

    def test_outermost_level(self):
        strides = dict.fromkeys(self.kinds(1), 4)
        self.same("outermost level and stride", self.run_of(self.kinds(1), 4 * self.SHORT, self.RESPA),
                  self.run_of(self.kinds(4, strides), self.SHORT))

    def test_levels_of_their_own(self):
        levels = {"harmonic": 1, "moving": 3, "sum": 1, "grid": 2}
        strides = {"harmonic": 1, "moving": 4, "sum": 1, "grid": 2}
        self.same("three levels and strides",
                  self.run_of(self.kinds(1), 4 * self.SHORT, "run_style respa 3 2 2 pair 1", levels),
                  self.run_of(self.kinds(4, strides), self.SHORT))

    def test_timestep_0(self):
        """The positions stay, and hills and moving restraints advance as with Verlet."""
        for levels in {}, {"harmonic": 1, "moving": 3, "sum": 1, "grid": 2}:
            respa = self.run_of(self.kinds(1), 0, "run_style respa 3 2 2 pair 1", levels)
            self.assertEqual({name: len(rows) for name, rows in respa[1].items()}, dict.fromkeys(("sum", "grid"), self.STEPS // 3))
            self.same(f"timestep 0, levels {levels}", respa, self.run_of(self.kinds(1), 0))

    def test_fix_dt_reset(self):
        """A timestep that fix dt/reset changes from 0: hills are deposited at the last positions of a timestep."""
        reset = [f"fix reset all dt/reset 1 {self.SHORT} {4 * self.SHORT} 100"]
        if coordtest.KOKKOS:
            reset = ["suffix off", *reset, "suffix on"]    # dt/reset/kk refuses run_style respa
        levels = {"harmonic": 1, "moving": 3, "sum": 1, "grid": 2}
        style = "run_style respa 3 2 2 pair 1"
        self.same("from timestep 0", self.run_of(self.kinds(1), 0, style, levels, reset),
                  self.run_of(self.kinds(1), 0, "timestep 1e-12\n" + style, levels, reset))

    def test_moving_at_the_innermost_level(self):
        """Parameters change once per timestep, at its beginning. This test includes the pressure,
        because all forces act at all steps."""
        staircase = ["variable t equal ternary(step<80,ceil(step/4)/20,1)", "variable k equal 100+200*v_t",
                     "variable s equal 8.9-0.9*v_t"]
        moving = {"m": "c_c moving k 100 s0 8.9 k/stop 300 s0/stop 8 steps 20"}
        self.same("moving at the innermost level",
                  self.run_of(moving, 4 * self.SHORT, self.RESPA, {"m": 1}, more="etotal press pxy"),
                  self.run_of({"m": "c_c moving k v_k s0 v_s"}, self.SHORT, before=staircase, more="etotal press pxy"))

    def test_pressure(self):
        """The pressure at the last step of rRESPA equals that of Verlet at the same positions."""
        for level in (1, 2):
            run, _ = self.run_of(self.kinds(1), 4 * self.SHORT, self.RESPA, {"harmonic": level, "sum": level},
                                 more="etotal press pxx pxy", after=["run_style verlet", "run 0"])
            respa, verlet = ({name: column[-1] for name, column in table.items()} for table in run.tables)
            for name in verlet:
                self.assertAlmostEqual(respa[name], verlet[name], delta=coordtest.rounded(1e-11) * abs(verlet[name]), msg=f"level {level}")


class RunCommands(unittest.TestCase):
    FIX = "c_c metad sigma 0.1 height 1.0 pace 5 file {hills}"

    def hills_of(self, runs):
        hills = new_hills()
        with coordtest.start() as lmp:
            fix = f"fix b all coord/bias {self.FIX.format(hills=hills)}"
            for line in crystal() + forces() + computes() + [fix] + runs:
                lmp.command(line)
            assert lmp.extract_fix("b", 0, 1, 5) == len(np.loadtxt(hills))
        return np.loadtxt(hills)

    def test_pieces_of_a_run(self):
        expected = self.hills_of(["run 60"])
        np.testing.assert_allclose(expected[:, 0], DT * np.arange(5, 61, 5), 1e-14)
        for runs in (["run 30", "run 30"], ["run 0", "run 25", "run 0", "run 0", "run 35"],
                     ["run 20", "run 40 pre no"], ["run 30 post no", "run 0 pre no", "run 30 pre no post no"],
                     ['run 60 every 15 "print x"'], ["run 30 upto", "run 60 upto"]):
            hills = self.hills_of(runs)
            self.assertEqual(hills.shape, expected.shape, runs)
            self.assertLess(coordtest.error_of(hills, expected), SAME, runs)

    def test_new_fix_without_a_setup(self):
        """A fix that is defined before run pre no, and that only reads, leaves the bits of the run."""
        def result(runs):
            with coordtest.start() as lmp:
                for line in crystal() + forces() + computes() + [
                        f"fix b all coord/bias c_c metad sigma 0.1 height 1.0 pace 2 file {new_hills()}",
                        "fix a all coord/bias c_d harmonic k 20 s0 8.9"] + runs:
                    lmp.command(line)
                return [np.array(lmp.gather_atoms(what, 1, 3)) for what in "xvf"] + [
                    lmp.extract_fix(name, 0, 1, k) for name in "ab" for k in range(5)]

        expected = result(["run 5"])
        self.assertGreater(abs(expected[2]).max(), 0.1)
        for new in ("ave/time 1 1 1 c_c f_b", "store/state 0 x", "coord/bias c_d linear k 1"):
            with self.subTest(new):
                runs = ["run 3", f"fix new all {new}"]
                if new.startswith("coord/bias"):    # with it, the run is an error (test_bias_errors.py)
                    runs.append("unfix new")
                for found, wanted in zip(result([*runs, "run 2 pre no"]), expected):
                    coordtest.assert_same_bits(found, wanted, new)

    def test_rerun(self):
        """V of existing hills, at the steps of hills; no hill is added."""
        hills = new_hills()
        begin = crystal() + forces() + computes()
        fix = f"fix b all coord/bias {self.FIX.format(hills=hills)}"
        dump = f"{hills}.dump"
        coordtest.run_lammps(begin + [fix, f"dump d all custom 5 {dump} id type x y z",
                                      "dump_modify d format float %.17g", "run 40"])
        # With a time integration, LAMMPS with KOKKOS on a GPU keeps the positions of the first
        # frame.
        run = coordtest.run_lammps(begin + ["unfix move", fix + " append yes"] + output(["b"], 1) +
                                   [f"rerun {dump} dump x y z"])
        rows, written = run.tables[0], np.loadtxt(hills)
        self.assertEqual(len(written), 8)
        s = rows["f_b[1]"]
        np.testing.assert_array_equal(rows["Step"], np.arange(0, 41, 5))
        np.testing.assert_array_equal(rows["f_b[6]"], 8)
        u = (s[:, None] - written[:, 1])**2 / (2 * 0.1**2)
        expected = np.where(u < 6.25, (np.exp(-u) - HILL_END) / (1 - HILL_END), 0).sum(axis=1)
        np.testing.assert_allclose(rows["f_b"], expected, 1e-12)
        # Positions were written with 17 digits: S at a hill is its center.
        np.testing.assert_allclose(s[1:], written[:, 1], coordtest.rounded(1e-12))

    def test_minimization_adds_no_hills(self):
        # The last hill is of step 30, but in LAMMPS time does not advance in a minimization, which
        # ends early in float.
        hills = self.hills_of(["run 20", "minimize 0 0 8 1000", "run 2"])
        np.testing.assert_allclose(hills[:, 0], DT * np.array([5, 10, 15, 20, 22]), 1e-14)

    def test_moving_waits_for_a_minimization(self):
        """Iterations of a minimization are not timesteps: s0 continues from its previous value, and
        no work is done."""
        run = coordtest.run_lammps(crystal() + forces() + computes() + ["run 7",
            "fix b all coord/bias c_c moving k 100 s0 8.9 s0/stop 8.4 steps 50"] + output(["b"], 1) +
            ["run 10", "minimize 0 0 13 1000", "write_restart saved", "run 10", "clear", "read_restart saved"] +
            forces() + computes() + ["fix b all coord/bias c_c moving k 100 s0 8.9 s0/stop 8.4 steps 50"] +
            output(["b"], 1) + ["run 10"])
        before, during, after, restarted = run.tables[1:]
        np.testing.assert_allclose(before["f_b[3]"], 8.9 - 0.01 * np.arange(11), 1e-14)
        np.testing.assert_allclose(during["f_b[3]"], 8.8, 1e-14)
        self.assertEqual(len(set(during["f_b[5]"])), 1)
        for rows in (after, restarted):
            np.testing.assert_allclose(rows["f_b[3]"], 8.8 - 0.01 * np.arange(11), 1e-14)
            self.assertEqual(rows["f_b[5]"][0], during["f_b[5]"][0])

    def test_moving_has_not_begun_in_earlier_frames(self):
        dump = ["dump t all custom 5 frames id type x y z", "dump_modify t format float %.17g", "run 20", "undump t"]
        run = coordtest.run_lammps(crystal() + forces() + computes() + dump + [
            "fix b all coord/bias c_c moving k 100 s0 8.9 s0/stop 8.4 steps 50"] + output(["b"], 1) +
            ["rerun frames dump x y z"])
        np.testing.assert_allclose(run.tables[1]["f_b[3]"], 8.9, 1e-14)

    def test_hills_of_a_file_are_known_to_all_ranks(self):
        """A variable uses the last hill, in a run that begins between two evaluations."""
        hills = new_hills()
        fix = f"fix m all coord/bias c_c metad sigma 0.1 height 0.1 pace 5 stride 5 file {hills}"
        coordtest.run_lammps(crystal() + forces() + computes() + [fix, "run 10"])
        rows = {}
        for ranks in (1, 2):
            shutil.copy(hills, f"{hills}.{ranks}")
            rows[ranks] = coordtest.run_lammps(
                crystal() + forces() + computes() + ["run 2", f"{fix}.{ranks} append yes", "variable s0 equal f_m[3]",
                "fix b all coord/bias c_c moving k 100 s0 v_s0"] + output(["b"], 1, "fmax") + ["run 0"],
                ranks).tables[1]
        self.assertGreater(rows[1]["f_b[3]"][0], 8)
        for name in ("f_b[3]", "Fmax"):
            np.testing.assert_allclose(rows[2][name], rows[1][name], 1e-10)

    def test_variable_of_an_energy(self):
        """A run begins between two evaluations: LAMMPS tallies the energy that the next evaluation
        needs."""
        with_variable = ["compute e all pe pair", "variable e equal 8.6+1e-3*c_e",
                         "fix b all coord/bias c_c moving k 100 s0 v_e stride 3"]
        run = coordtest.run_lammps(crystal() + forces() + computes() + ["run 7"] + with_variable +
                                   output(["b"], 3, "c_e") + ["run 11"])
        rows = run.tables[1]
        every_third = rows["Step"] % 3 == 0
        self.assertEqual(every_third.sum(), 4)
        np.testing.assert_allclose(rows["f_b[3]"][every_third], 8.6 + 1e-3 * rows["c_e"][every_third], 1e-14)


class OneVariable(unittest.TestCase):
    """Several fixes of one compute, which evaluates it once for all, give the same bits as several
    fixes with separate computes, which cannot have a value of another evaluation."""

    FIXES = {"a": "harmonic k 300 s0 8.6", "b": "moving k 200 s0 8.9 s0/stop 8.5 steps 10 stride 2",
             "c": "wall/lower k 200 s0 9.2 stride 3"}
    STYLES = {"Verlet": ["run 12"], "two runs": ["run 5", "run 7 pre no"],
              "minimization": ["min_style cg", "minimize 0 0 12 1000"],
              "rRESPA": ["run_style respa 3 2 2 pair 1", "fix_modify a respa 2", "fix_modify c respa 1", "run 12"]}

    def run_with(self, order, own, runs, virial):
        with coordtest.start() as lmp:
            for line in crystal() + forces() + computes(suffixes=("a", "b", "c")) + [
                    f"fix {name} all coord/bias c_c{name if own else 'a'} {self.FIXES[name]}" for name in order] + [
                    f"fix_modify {order[0]} virial {virial}", "thermo 4"] + runs:
                lmp.command(line)
            return [np.array(lmp.gather_atoms(what, 1, 3)) for what in "xvf"] + [
                lmp.extract_fix(name, 0, 1, k) for name in "abc" for k in range(5)] + [lmp.get_thermo("press")]

    def test_same_bits(self):
        for name, runs in self.STYLES.items():
            for order in itertools.permutations("abc"):
                # The first fix requests less than the next.
                virial = "no" if order[1] == "a" else "yes"
                for found, expected in zip(*(self.run_with(order, own, runs, virial) for own in (False, True))):
                    coordtest.assert_same_bits(found, expected, f"{name}, {order}")

    def test_evaluated_once(self):
        """Keyword check determines the tenth evaluation: it raises an error there if S differs in
        single precision. Two atoms come into range at step 2."""
        for nfixes in (1, 3):
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, brutetest.Box((20.0,) * 3), [[5.0, 5.1, 5.2], [8.05, 5.1, 5.2]], ghosts=3.5)
                for line in ["compute c all coord/gpu switch rational 1.1 dmax 3.0 precision mixed check 10 1e-300",
                             *(f"fix b{k} all coord/bias c_c linear k 1.0" for k in range(nfixes)),
                             "group one id 1", "fix move one move linear 0.037 0 0", "timestep 1.0", "thermo 1000"]:
                    lmp.command(line)
                with self.assertRaisesRegex(Exception, "check: "):
                    lmp.command("run 100")
                # The setup evaluates the virial. Evaluations without it, at steps 1, ..., 11, are
                # counted separately.
                self.assertEqual(lmp.extract_global("ntimestep"), 11, f"{nfixes} fixes")


class Instances(unittest.TestCase):
    def begin(self, lmp, fix):
        for line in crystal() + forces() + computes() + [f"fix b all coord/bias {fix}"]:
            lmp.command(line)

    def result(self, lmp):
        return [*np.array(lmp.gather_atoms("x", 1, 3)), lmp.extract_fix("b", 0, 0), lmp.extract_fix("b", 0, 1, 4)]

    def test_two_at_a_time_and_clear(self):
        fixes = ["c_c harmonic k 100 s0 8.5", FIXES["grid"], FIXES["two"]]
        alone = []
        with coordtest.start() as lmp:
            for fix in fixes:
                lmp.command("clear")
                self.begin(lmp, fix.format(hills=new_hills()))
                lmp.command("run 20")
                lmp.command("run 20")
                alone.append(self.result(lmp))
        instances = [coordtest.start() for _ in fixes]
        for lmp, fix in zip(instances, fixes):
            self.begin(lmp, fix.format(hills=new_hills()))
        for _ in range(2):
            for lmp in instances:
                lmp.command("run 20")
        for lmp, expected in zip(instances, alone):
            coordtest.assert_same_bits(self.result(lmp), expected)
            lmp.close()

    def test_unfix_and_fix_again(self):
        """A new fix starts without hills and work; with append, with the hills of the file."""
        hills = new_hills()
        fix = f"c_c metad sigma 0.1 height 1.0 pace 5 file {hills}"
        count = lambda: lmp.extract_fix("b", 0, 1, 5)
        with coordtest.start() as lmp:
            self.begin(lmp, fix)
            lmp.command("run 20")
            self.assertEqual(count(), 4)
            first = text_of(hills)
            lmp.command("unfix b")
            lmp.command("run 10")
            lmp.command(f"fix b all coord/bias {fix}")
            lmp.command("run 0")
            self.assertEqual((count(), lmp.extract_fix("b", 0, 0), lmp.extract_fix("b", 0, 1, 4)), (0, 0, 0))
            self.assertEqual(text_of(os.path.join(os.path.dirname(hills), "bck.0." + os.path.basename(hills))), first)
            lmp.command("run 10")
            self.assertEqual(count(), 2)
            lmp.command("unfix b")
            lmp.command(f"fix b all coord/bias {fix} append yes")
            lmp.command("run 5")
            self.assertEqual((count(), len(np.loadtxt(hills))), (3, 3))


class Vector(unittest.TestCase):
    """The whole vector during a run, computed from S, which equals brute force for the dumped
    positions."""

    def run_with(self, fixes, variables=VARIABLES):
        run = coordtest.run_lammps(crystal() + forces() + computes() + variables +
                                   [f"fix {name} all coord/bias {words}" for name, words in fixes.items()] +
                                   output(fixes, 1) + ["run 40"])
        rows, frames = run.tables[0], dumptest.read_dump(run.path("dump"))
        name, words = next(iter(fixes.items()))
        s = []
        for k, variable in enumerate(word for word in words.split() if word.startswith("c_")):
            groups = {"c_c": (np.arange(N),), "c_d": (LEFT, RIGHT)}[variable]
            expected = [brute_force(frame.box, frame.x(), SWITCH, *groups, norm="mean") for frame in frames]
            s.append(rows[f"f_{name}[{1 + 4 * k}]"])
            self.assertLess(coordtest.error_of(s[-1], [one.value for one in expected],
                                               [one.spread_of("value") for one in expected]), 1e-12)
        return rows, np.transpose(s)

    def compare(self, rows, name, expected):
        self.assertNotIn(f"f_{name}[{len(expected) + 1}]", rows)
        for column, value in enumerate(expected, 1):
            np.testing.assert_allclose(rows[f"f_{name}[{column}]"], value, 1e-11, 1e-11, f"{name}[{column}]")

    def test_restraints(self):
        rows, s = self.run_with({
            "h": "c_c c_d harmonic k 100 20 s0 8.6 8.9", "l": "c_d linear k -8", "u": FIXES["upper"],
            "w": FIXES["lower"], "m": "c_c c_d moving k 100 10 s0 8.9 10 s0/stop 8.4 9 k/stop 150 20 steps 25",
            "v": "c_c c_d moving k v_k 10 s0 8.8 v_s"})
        c, d = s.T
        step = np.arange(41)
        ones = np.ones(41)

        def work(s, s0, k):
            """Average each change of k and s0 over S before and S after it."""
            change = [k[1:] / 2 * (at - s0[1:])**2 - k[:-1] / 2 * (at - s0[:-1])**2 for at in (s[:-1], s[1:])]
            return np.append(0, np.cumsum(sum(change) / 2))

        self.compare(rows, "h", [c, 100 * (c - 8.6), 8.6, 100, d, 20 * (d - 8.9), 8.9, 20, 0])
        self.compare(rows, "l", [d, -8, 0, -8, 0])
        self.compare(rows, "u", [d, 900 * np.maximum(d - 8.4, 0)**2, 8.5, 300, 0])
        self.compare(rows, "w", [c, -180 * np.maximum(9.1 - c, 0), 9.1, 90, 0])
        t = np.minimum(step / 25, 1)
        k, s0, kd, s0d = 100 + 50 * t, 8.9 - 0.5 * t, 10 + 10 * t, 10 - t
        self.compare(rows, "m", [c, k * (c - s0), s0, k, d, kd * (d - s0d), s0d, kd, work(c, s0, k) + work(d, s0d, kd)])
        k, s0 = 200 + 100 * np.sin(10 * DT * step), 8.6 - 0.002 * step
        self.compare(rows, "v", [c, k * (c - 8.8), 8.8, k, d, 10 * (d - s0), s0, 10,
                                 work(c, 8.8 * ones, k) + work(d, s0, 10 * ones)])
        np.testing.assert_allclose(rows["f_h"], 50 * (c - 8.6)**2 + 10 * (d - 8.9)**2, 1e-12)

    def test_variables_like_stop(self):
        """Variables with the formula of stop give the same run."""
        moving = {"m": "c_c moving k 100 s0 8.9 s0/stop 8.4 k/stop 150 steps 25"}
        expected, _ = self.run_with(moving)
        found, _ = self.run_with({"m": "c_c moving k v_k s0 v_s"}, [
            "variable t equal ternary(step<25,step/25,1)", "variable k equal 100+v_t*50",
            "variable s equal 8.9-v_t*0.5"])
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], 1e-11, 1e-11, name)

    def test_metad(self):
        hills, T, GAMMA = new_hills(), 1.4, 6.0
        base = f"c_c c_d metad sigma 0.1 0.3 height 1.0 pace 5 file {hills}"
        grid = " grid 8 10 6 12 bins 40 40"
        fixes = {"w": f"{base}.w biasfactor {GAMMA} temp {T}{grid}", "g": f"{base}.g{grid} temp {T}", "n": f"{base}.n",
                 "p": f"c_c metad sigma 0.1 height 1.0 pace 5 file {hills}.p grid 8 10 bins 80"}
        rows, s = self.run_with(fixes)
        points = np.array(list(itertools.product(np.linspace(8, 10, 41), np.linspace(6, 12, 41))))
        for name, gamma in (("w", GAMMA), ("g", np.inf), ("n", np.inf)):
            written = np.loadtxt(f"{hills}.{name}")
            heights = written[:, 5] * (1 if gamma == np.inf else (gamma - 1) / gamma)
            centers = s[5::5]
            np.testing.assert_allclose(written[:, 1:3], centers, 1e-12)
            bias = lambda at, n: sum(
                (h * np.maximum(np.exp(-((at - center)**2 / (2 * np.array([0.1, 0.3])**2)).sum(axis=1)) - HILL_END, 0) /
                 (1 - HILL_END) for center, h in zip(centers[:n], heights)), np.zeros(len(at)))
            for row in range(41):
                n = row // 5
                found = [rows[f"f_{name}[{k}]"][row] for k in range(1, 11 if name == "n" else 13)]
                np.testing.assert_allclose(found[0:5:4], s[row], 1e-12)
                last = centers[n - 1] if n else [0, 0]
                np.testing.assert_allclose([found[2], found[6], found[3], found[9]],
                                           [*last, heights[n - 1] if n else 0, n], 1e-12)
                # The grid interpolates: V between grid points differs slightly from that of the
                # hills.
                np.testing.assert_allclose(found[8], heights[:n].sum(), 1e-12 if name == "n" else 1e-3)
                if name != "n":
                    np.testing.assert_allclose(found[10], bias(points, n).max(), 1e-11)
                    v, g = bias(points, n) / T, 1 if gamma == np.inf else gamma / (gamma - 1)
                    c = T * np.log(np.exp(g * v).sum() / np.exp((g - 1) * v).sum())
                    np.testing.assert_allclose(found[11], c, 1e-11, 1e-13)
        self.assertNotIn("f_n[12]", rows)
        self.assertNotIn("f_w[13]", rows)
        self.assertNotIn("f_p[8]", rows)    # without temp no c(t)
        np.testing.assert_array_equal(rows["f_p[6]"], np.arange(41) // 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
