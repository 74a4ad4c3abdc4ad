"""Fix coord/plumed on any number of ranks, in every kind of run, and next to other fixes.

Each test compares two ways to the same result. One of them does not need the tested feature: one
rank, an uninterrupted run, fix coord/bias, PLUMED's driver, or a closed form.
"""
# Processors: 2
# KOKKOS on a GPU: newton on

import glob
import os
import subprocess
import unittest

import numpy as np

import brutetest
import coordtest
import plumedtest
import test_bias_forces
import test_bias_parallel
from plumedtest import DT, Input, System, driver, dump_of_last, extracv, last_of, melt, thermo

SAME = coordtest.rounded(1e-9)
RANKS = coordtest.rounded(1e-11)
NATURAL = "UNITS NATURAL\n"
# Biases with a history; %.17g where PLUMED's files restart a run.
METAD = "m: METAD ARG=c SIGMA=0.1 HEIGHT=1 PACE=5 FILE=HILLS FMT=%25.17g\n"
METAD2 = "m: METAD ARG=c,d SIGMA=0.1,0.3 HEIGHT=1 PACE=4 BIASFACTOR=6 TEMP=1.4 FILE=HILLS FMT=%25.17g\n"
OPES = "m: OPES_METAD ARG=c PACE=5 BARRIER=8 TEMP=1.4 SIGMA=0.1 FILE=KERNELS FMT=%.17g\n"
PRINT = "PRINT ARG=c,m.bias FILE=COLVAR FMT=%.17g\n"
RESTRAINT = "m: RESTRAINT ARG=c,d AT=8.6,8.9 KAPPA=100,20\n"
HARMONIC = "c_c c_d harmonic k 100 20 s0 8.6 8.9"


def input_of(text, variables="cd", **options):
    return Input(NATURAL + extracv(variables) + text, **options)


def fix_of(given, variables="cd", ident="b", more=""):
    return f"fix {ident} all coord/plumed {' '.join('c_' + name for name in variables)} {given.words} {more}"


def run_with(fixes, runs, ranks=1, size=4, names="b", every=1, last=None, begin=None, before=(), arguments=()):
    lines = melt() if begin is None else begin
    return coordtest.run_lammps(lines + [*before, *fixes] + thermo(names, every, size=size) +
                                (dump_of_last(last) if last else []) + [*runs], ranks, arguments=arguments)


def compare(test, found, expected, what="", tolerance=SAME, columns=("f_b", "TotEng", "KinEng", "Press", "c_c", "c_d")):
    for name in columns:
        error = coordtest.error_of(found.tables[-1][name], expected.tables[-1][name])
        test.assertLess(error, tolerance, f"{what}: {name}")


class Live:
    """A melt in this process."""

    def __init__(self, test, *fixes):
        self.lmp = coordtest.start()
        test.addCleanup(self.lmp.close)
        self.do(*melt(), *fixes)

    def do(self, *lines):
        for line in lines:
            self.lmp.command(line)
        return self

    def v(self, ident="b"):
        return self.lmp.extract_fix(ident, 0, 0)

    def vector(self, k, ident="b"):
        return self.lmp.extract_fix(ident, 0, 1, k)

    def state(self):
        """Return unwrapped positions, velocities and forces."""
        x, v, f = (np.array(self.lmp.gather_atoms(name, 1, 3)) for name in "xvf")
        return np.array([x + plumedtest.EDGE * np.array(self.lmp.gather_atoms("image", 0, 3)), v, f])

    def step(self):
        return self.lmp.extract_global("ntimestep")


class Ranks(unittest.TestCase):
    INPUTS = {"static": RESTRAINT, "METAD": METAD2, "OPES": OPES + "w: UPPER_WALLS ARG=d AT=8 KAPPA=30\n",
              "atoms": "d1: DISTANCE ATOMS=1,77\nq: CUSTOM ARG=c,d,d1 FUNC=x+y*z PERIODIC=NO\n"
              "m: METAD ARG=q SIGMA=0.3 HEIGHT=1 PACE=4 FILE=HILLS\n"}

    def test_same_trajectory(self):
        for name, text in self.INPUTS.items():
            begin = lambda newton: [f"newton {newton}"] + melt()
            expected = run_with([fix_of(input_of(text))], ["run 60"], every=5, last=60, begin=begin("on"))
            self.assertGreater(np.ptp(expected.tables[0]["f_b"]), 1)
            for ranks, newton in (1, "off"), (2, "on"), (2, "off"), (4, "on"):
                with self.subTest(name, ranks=ranks, newton=newton):
                    found = run_with([fix_of(input_of(text))], ["run 60"], ranks, every=5, last=60, begin=begin(newton))
                    compare(self, found, expected, tolerance=RANKS)
                    for part in range(0, 9, 3):
                        error = coordtest.error_of(last_of(found)[:, part:part + 3], last_of(expected)[:, part:part + 3])
                        self.assertLess(error, SAME)


class Pieces(unittest.TestCase):
    """Runs one after another equal one run; a step that is computed twice deposits and prints once."""

    RUNS = (["run 30", "run 30"], ["run 0", "run 0", "run 25", "run 0", "run 0", "run 35"], ["run 20", "run 40 pre no"],
            ["run 30 post no", "run 0 pre no", "run 30 pre no post no"], ['run 60 every 15 "print x"'],
            ["run 30 upto", "run 60 upto"], ["run 25", "run 35 start 0 stop 100"])

    def pieces(self, text, file, runs):
        given = input_of(text + PRINT)
        live = Live(self, fix_of(given)).do("thermo 5", *runs)
        return live.state(), live.v(), given.columns("COLVAR"), given.columns(file)

    def test_pieces(self):
        for text, file in (METAD, "HILLS"), (OPES, "KERNELS"):
            expected = self.pieces(text, file, ["run 60"])
            np.testing.assert_allclose(expected[3]["time"], DT * np.arange(5, 61, 5), 1e-12)
            for runs in self.RUNS:
                with self.subTest(file, runs=runs):
                    state, v, printed, hills = self.pieces(text, file, runs)
                    for name in hills:
                        self.assertEqual(hills[name].shape, expected[3][name].shape, runs)
                        self.assertLess(coordtest.error_of(hills[name], expected[3][name]), SAME, name)
                    self.assertEqual(len(printed["time"]), 61)
                    for name in printed:
                        self.assertLess(coordtest.error_of(printed[name], expected[2][name]), SAME, name)
                    self.assertLess(max(map(coordtest.error_of, state, expected[0])), SAME)
                    self.assertAlmostEqual(v, expected[1], delta=SAME)

    def test_moved_atoms(self):
        """At a setup of the same timestep with other positions, V is evaluated for these, and nothing is deposited."""
        given = input_of(METAD + PRINT)
        live = Live(self, fix_of(given)).do("run 20")
        hills = given.columns("HILLS")
        self.assertEqual(len(hills["c"]), 4)
        live.do("displace_atoms all ramp x 0 0.1 y 0 $(ly)", "run 0")
        self.assertEqual(len(given.columns("HILLS")["c"]), 4)
        s = coordtest.scalar_of(live.lmp, "c")
        u = (s - hills["c"])**2 / (2 * 0.1**2)
        end = np.exp(-6.25)
        expected = np.where(u < 6.25, (np.exp(-u) - end) / (1 - end), 0)
        self.assertGreater(abs(s - hills["c"][-1]), 1e-4)
        self.assertGreater(expected.sum(), 0.1)
        self.assertAlmostEqual(live.v(), expected.sum(), delta=1e-6)    # HILLS has few digits
        before = live.v()
        live.do("run 0", "run 0")
        self.assertAlmostEqual(live.v(), before, delta=1e-12)
        self.assertEqual(len(given.columns("HILLS")["c"]), 4)

    def test_changed_timestep_numbers(self):
        """reset_timestep: the state continues, and the same configuration deposits and prints once."""
        expected = input_of(METAD + PRINT)
        whole = Live(self, fix_of(expected)).do("run 20", "run 20")
        given = input_of(METAD + PRINT)
        live = Live(self, fix_of(given)).do("run 20", "reset_timestep 0", "run 20")
        self.assertEqual(len(expected.columns("HILLS")["c"]), 8)
        for name in "HILLS", "COLVAR":
            np.testing.assert_allclose(given.columns(name)["c"], expected.columns(name)["c"], SAME)
        self.assertLess(max(map(coordtest.error_of, live.state(), whole.state())), SAME)

    def test_begin_at_a_later_step(self):
        """A fix that is defined at step 10 deposits from step 15 on, as fix coord/bias does."""
        given = input_of(METAD + PRINT)
        live = Live(self).do("run 10", fix_of(given), "run 20")
        ours = Live(self).do("run 10", f"fix b all coord/bias c_c metad sigma 0.1 height 1 pace 5 file {given.at('OURS')}",
                             "run 20")
        self.assertLess(max(map(coordtest.error_of, live.state(), ours.state())), SAME)
        np.testing.assert_allclose(given.columns("HILLS")["c"], np.loadtxt(given.at("OURS"))[:, 1], SAME)


class Kinds(unittest.TestCase):
    """Other kinds of runs."""

    def test_rerun(self):
        """Each frame is a step of PLUMED's driver."""
        dump = f"{coordtest.folder()}/frames"
        run_with([], ["dump t all custom 5 %s id type x y z" % dump, "dump_modify t format float %.17g", "run 60"], names="")
        begin = [line for line in melt() if not line.startswith("fix move")]
        text = "m: METAD ARG=c SIGMA=0.1 HEIGHT=1 PACE=10 FILE=HILLS\n" + PRINT
        for ranks in 1, 2:
            given = input_of(text)
            rows = run_with([fix_of(given)], [f"rerun {dump} dump x y z"], ranks, begin=begin).tables[0]
            printed = given.columns("COLVAR")
            np.testing.assert_array_equal(rows["Step"], np.arange(0, 61, 5))
            np.testing.assert_array_equal(printed["c"], rows["c_c"])
            reference = driver(text, {"c": rows["c_c"]}, arguments=["--timestep", repr(DT), "--trajectory-stride", "5"])
            np.testing.assert_allclose(printed["m.bias"], reference.columns("COLVAR")["m.bias"], 1e-11, 1e-11)
            np.testing.assert_allclose(rows["f_b"], printed["m.bias"], 1e-14)
            self.assertEqual(len(given.columns("HILLS")["c"]), 6)
            self.assertGreater(rows["f_b"].max(), 0.5)

    def test_rerun_without_a_first_frame_twice(self):
        """A rerun after a run whose last timestep is that of the first frame has the values of the frame."""
        dump = f"{coordtest.folder()}/later"
        given = input_of(RESTRAINT)
        run = run_with([fix_of(given)], [f"dump t all custom 10 {dump} id type x y z", "dump_modify t format float %.17g",
                                         "run 10", "undump t", "reset_timestep 0", f"rerun {dump} first 0 dump x y z"])
        before, after = run.tables
        np.testing.assert_allclose(after["f_b"], before["f_b"][::10], SAME)
        np.testing.assert_allclose(after["c_c"], before["c_c"][::10], SAME)

    def test_minimize(self):
        """A minimization ends at the minimum of fix coord/bias. PRINT writes nothing, and no hill
        is added."""
        for style in "cg", "fire":
            if style == "fire" and coordtest.kokkos_copies_lack("min_style fire", coordtest.NO_FIRE):
                continue
            minimize = [f"min_style {style}", "minimize 0 0 30 1000"]
            given = input_of(RESTRAINT + PRINT)
            found = run_with([fix_of(given)], minimize, last=30)
            expected = run_with([f"fix b all coord/bias {HARMONIC}"], minimize, last=30)
            compare(self, found, expected, style, columns=("f_b", "PotEng", "c_c"))
            self.assertGreater(np.ptp(found.tables[0]["f_b"]), 1)
            self.assertLess(coordtest.error_of(last_of(found)[:, :3], last_of(expected)[:, :3]), SAME)
            self.assertEqual(given.columns("COLVAR"), {})

    def test_minimization_between_runs(self):
        """Iterations are not timesteps of PLUMED: hills and lines of output are those of the runs."""
        given = input_of(METAD + PRINT)
        Live(self, fix_of(given)).do("run 20", "minimize 0 0 12 1000", "run 3", "minimize 0 0 5 100", "run 5")
        steps = np.rint(given.columns("HILLS")["time"] / DT)
        np.testing.assert_array_equal(steps[:4], [5, 10, 15, 20])
        printed = np.rint(given.columns("COLVAR")["time"] / DT)
        np.testing.assert_array_equal(printed[:21], np.arange(21))
        # 32 or less: the end of the first minimization; three and five steps follow
        self.assertIn(len(printed), (21 + 3 + 5, 21 + 4 + 6))
        self.assertEqual(len(set(printed)), len(printed))
        self.assertTrue(set(steps) <= set(printed), (steps, printed))
        self.assertFalse(set(steps) - {5, 10, 15, 20} - {step for step in printed[21:] if step % 5 == 0})

    def test_respa(self):
        """At each level of rRESPA, trajectories and hills equal those of fix coord/bias, which
        another test compares with Verlet."""
        for style, levels in ("run_style respa 2 4 pair 1", (1, 2)), ("run_style respa 3 2 2 pair 1", (1, 2, 3)):
            for level in levels:
                with self.subTest(style, level=level):
                    given = input_of(RESTRAINT)
                    after = [f"fix_modify b respa {level}", "timestep 0.008", style, "run 24"]
                    found = run_with([fix_of(given)], after, last=24)
                    expected = run_with([f"fix b all coord/bias {HARMONIC}"], after, last=24)
                    compare(self, found, expected)
                    self.assertLess(coordtest.error_of(last_of(found), last_of(expected)), SAME)
                    hills = input_of(METAD + PRINT)
                    found = run_with([fix_of(hills)], after, last=24)
                    fix = f"fix b all coord/bias c_c metad sigma 0.1 height 1 pace 5 file {hills.at('OURS')}"
                    expected = run_with([fix], after, last=24)
                    self.assertLess(coordtest.error_of(last_of(found)[:, :6], last_of(expected)[:, :6]), SAME)
                    self.assertEqual(len(hills.columns("HILLS")["c"]), 4)
                    self.assertEqual(len(hills.columns("COLVAR")["c"]), 25)
                    np.testing.assert_allclose(hills.columns("HILLS")["c"], np.loadtxt(hills.at("OURS"))[:, 1], SAME)

    def test_respa_levels_differ(self):
        """The tested level is used: results differ from those of another level."""
        runs = [run_with([fix_of(input_of(RESTRAINT))], [f"fix_modify b respa {level}", "timestep 0.008",
                                                         "run_style respa 2 4 pair 1", "run 24"]) for level in (1, 2)]
        self.assertGreater(coordtest.error_of(runs[0].tables[0]["c_c"], runs[1].tables[0]["c_c"]), 1e-9)


class Restart(unittest.TestCase):
    """A run of 60 steps in pieces equals a run in one piece."""

    CASES = {
        "METAD": (METAD + PRINT, "HILLS"),
        "METAD of two": (METAD2 + PRINT, "HILLS"),
        "METAD on a grid": ("m: METAD ARG=c SIGMA=0.1 HEIGHT=1 PACE=5 GRID_MIN=4 GRID_MAX=14 GRID_BIN=300 FILE=HILLS "
                            "FMT=%25.17g\n" + PRINT, "HILLS"),
        "OPES by KERNELS": (OPES + PRINT, "KERNELS"),
        "OPES by STATE": (OPES.rstrip() + " STATE_WFILE=STATE STATE_RFILE=STATE\n" + PRINT, "KERNELS"),
        "OPES_METAD_EXPLORE": ("m: OPES_METAD_EXPLORE ARG=c PACE=5 BARRIER=8 TEMP=1.4 SIGMA=0.1 FILE=KERNELS FMT=%.17g "
                               "STATE_WFILE=STATE STATE_RFILE=STATE\n" + PRINT, "KERNELS"),
        "static": (RESTRAINT + PRINT, None),
        "atoms": ("d1: DISTANCE ATOMS=1,77\nm: METAD ARG=c,d1 SIGMA=0.1,0.1 HEIGHT=1 PACE=5 FILE=HILLS FMT=%25.17g\n" + PRINT,
                  "HILLS"),
    }

    def piece(self, given, first, last, ranks, every=20):
        begin = melt()
        if first:
            made = next(k for k, line in enumerate(begin) if line.startswith("timestep"))
            begin = [f"read_restart {given.at('restart')}.{first}", *begin[made + 1:]]
        return run_with([fix_of(given)], [f"restart {every} {given.at('restart')}.*", f"run {last - first}"], ranks,
                        begin=begin, last=60, every=5)

    def pieces(self, text, ends, ranks):
        given = input_of(text)
        for first, last in ends:
            run = self.piece(given, first, last, ranks)
        return given, run

    def compare(self, title, given, found, whole, expected, file):
        worst = 0
        for name, column in found.tables[0].items():
            reference = expected.tables[0][name][-len(column):]
            error = coordtest.error_of(column, reference)
            worst = max(worst, error)
            self.assertLess(error, SAME, f"{title}: {name}")
        error = coordtest.error_of(last_of(found), last_of(expected))
        self.assertLess(error, SAME, title)
        for name in filter(None, (file,)):
            ours, theirs = given.columns(name), whole.columns(name)
            np.testing.assert_array_equal(ours["time"], theirs["time"], title)
            for column in theirs:
                self.assertLess(coordtest.error_of(ours[column], theirs[column]), SAME, f"{title}: {name} {column}")
        print(f"{title}: thermo differs by {worst:.1e}, atoms by {error:.1e}")

    def test_pieces(self):
        for name, (text, file) in self.CASES.items():
            for ranks in (1, 2) if name == "METAD of two" else (1,):
                with self.subTest(name, ranks=ranks):
                    whole, expected = self.pieces(text, [(0, 60)], ranks)
                    self.assertGreater(np.ptp(expected.tables[0]["f_b"]), 1)
                    given, found = self.pieces(text, [(0, 20), (20, 40), (40, 60)], ranks)
                    self.compare(f"{name}, {ranks} ranks", given, found, whole, expected, file)
                    # The first step of a restarted run is printed again.
                    printed = given.columns("COLVAR")
                    times, first = np.unique(np.rint(printed["time"] / DT), return_index=True)
                    np.testing.assert_array_equal(times, np.arange(61))
                    self.assertEqual(len(printed["time"]), 63)
                    np.testing.assert_allclose(printed["c"][first], whole.columns("COLVAR")["c"], SAME)

    def test_each_step_of_a_pace(self):
        """A hill that is due soon after the restart is deposited."""
        for name in "METAD", "OPES by KERNELS":
            text, file = self.CASES[name]
            for split in range(21, 26):
                with self.subTest(name, split=split):
                    whole, expected = self.pieces(text, [(0, 60)], 1)
                    given = input_of(text)
                    run_with([fix_of(given)], [f"run {split}", f"write_restart {given.at('restart')}.{split}"])
                    found = self.piece(given, split, 60, 1)
                    self.assertLess(coordtest.error_of(found.tables[0]["f_b"][-5:], expected.tables[0]["f_b"][-5:]), SAME)
                    np.testing.assert_array_equal(given.columns(file)["time"], whole.columns(file)["time"])

    def test_other_times(self):
        """Hills are kept if the restarted run has another timestep or other timestep numbers."""
        text, file = self.CASES["METAD"]
        for change in (f"timestep {DT / 2!r}", "reset_timestep 0"):
            with self.subTest(change):
                given = input_of(text)
                run_with([fix_of(given)], ["run 22", f"write_restart {given.at('restart')}.22"])
                before = given.columns(file)["time"]
                begin = melt()
                made = next(k for k, line in enumerate(begin) if line.startswith("timestep"))
                begin = [f"read_restart {given.at('restart')}.22", *begin[made:]]
                run = run_with([change, fix_of(given)], ["run 1"], begin=begin)
                np.testing.assert_array_equal(given.columns(file)["time"][:4], before)
                self.assertGreater(run.tables[0]["f_b"][-1], 1)

    def test_edited_input(self):
        """A restarted run with another input does not use the forces of the old input."""
        given = input_of("m: RESTRAINT ARG=c AT=8 KAPPA=10\n" + PRINT)
        self.piece(given, 0, 20, 1)
        given.write("plumed.dat", extracv("cd") + "m: RESTRAINT ARG=c AT=8 KAPPA=40\n" + PRINT)
        run = self.piece(given, 20, 25, 1)
        first = {name: column[0] for name, column in run.tables[0].items()}
        self.assertAlmostEqual(first["f_b"], 20 * (first["c_c"] - 8)**2, delta=1e-9)

    def test_killed(self):
        """The first piece ends after hills that the restart file lacks: they are trimmed, and bck.* has them, or the run
        is refused with a message that names the file."""
        for name in "METAD", "METAD of two", "METAD on a grid", "OPES by KERNELS", "OPES by STATE":
            with self.subTest(name):
                text, file = self.CASES[name]
                whole, expected = self.pieces(text, [(0, 60)], 1)
                given = input_of(text)
                self.piece(given, 0, 29, 1)
                try:
                    found = self.piece(given, 20, 60, 1)
                except AssertionError as error:
                    self.assertRegex(str(error), "ERROR: Fix coord/plumed b: .*(HILLS|KERNELS|STATE).* - ")
                    print(f"{name}: refused")
                    continue
                self.compare(name, given, found, whole, expected, file)
                moved = plumedtest.read_columns(given.at("bck.0." + file))
                self.assertGreater(moved["time"].max(), 20 * DT)

    def test_other_run(self):
        """A restart file of a run without the fix: PLUMED starts from scratch, and renames its old files to bck.*."""
        given = input_of(METAD + PRINT)
        run_with([], [f"restart 20 {given.at('restart')}.*", "run 20"], names="")
        given.write("HILLS", "old\n")
        self.piece(given, 20, 40, 1)
        self.assertEqual(given.read("bck.0.HILLS"), "old\n")
        steps = np.rint(given.columns("HILLS")["time"] / DT)
        np.testing.assert_array_equal(steps, [25, 30, 35, 40])

    def test_write_restart_command(self):
        """The state of OPES is that of the end of the run, if command write_restart follows."""
        text, file = self.CASES["OPES by STATE"]
        whole, expected = self.pieces(text, [(0, 60)], 1)
        given = input_of(text)
        run_with([fix_of(given)], ["run 23", f"write_restart {given.at('restart')}.23"])
        found = self.piece(given, 23, 60, 1)
        error = coordtest.error_of(last_of(found), last_of(expected))
        self.assertLess(error, SAME)


class Neighbors(unittest.TestCase):
    """Several fixes and several instances."""

    def test_two_fixes(self):
        """Two inputs in two fixes equal one input."""
        for ranks in 1, 2:
            expected = run_with([fix_of(input_of(METAD + RESTRAINT.replace("m:", "r:")))], ["run 40"], ranks, last=40)
            found = run_with([fix_of(input_of(METAD)), fix_of(input_of(RESTRAINT), ident="b2")], ["run 40"], ranks, last=40)
            compare(self, found, expected, columns=("TotEng", "Press", "c_c"))
            self.assertLess(coordtest.error_of(last_of(found), last_of(expected)), SAME)
            self.assertGreater(np.ptp(found.tables[0]["f_b"]), 1)

    def test_next_to_coord_bias(self):
        expected = run_with([fix_of(input_of(METAD + RESTRAINT.replace("m:", "r:")))], ["run 40"], last=40)
        for order, ranks in (1, 1), (-1, 1), (1, 2), (-1, 2):
            with self.subTest(order=order, ranks=ranks):
                fixes = [fix_of(input_of(METAD)), f"fix h all coord/bias {HARMONIC}"][::order]
                found = run_with(fixes, ["run 40"], ranks, last=40)
                compare(self, found, expected, columns=("TotEng", "Press", "c_c"))
                self.assertLess(coordtest.error_of(last_of(found), last_of(expected)), SAME)

    def test_clear_and_instances(self):
        texts = RESTRAINT, METAD, OPES
        alone = []
        for text in texts:
            alone.append(Live(self, fix_of(input_of(text))).do("run 30").state())
        live = Live(self)
        for text, expected in zip(texts, alone):
            live.do("clear", *melt(), fix_of(input_of(text)), "run 30")
            coordtest.assert_same_bits(live.state(), expected)
        together = [Live(self, fix_of(input_of(text))) for text in texts]
        for _ in range(2):
            for one in together:
                one.do("run 15")
        for one, expected in zip(together, alone):
            self.assertLess(max(map(coordtest.error_of, one.state(), expected)), SAME)

    def test_unfix_and_fix_again(self):
        """The new fix begins without hills, and PLUMED keeps the old file; with RESTART it continues the file."""
        given = input_of(METAD)
        live = Live(self, fix_of(given)).do("run 20")
        first = given.read("HILLS")
        live.do("unfix b", "run 10", fix_of(given), "run 0")
        self.assertEqual(live.v(), 0.0)
        live.do("run 10")
        self.assertEqual(given.read("bck.0.HILLS"), first)
        self.assertEqual(len(given.columns("HILLS")["c"]), 2)
        live.do("unfix b")
        again = Input(NATURAL + "RESTART\n" + extracv("cd") + METAD, folder=given.folder)
        live.do(fix_of(again), "run 10")
        self.assertEqual(len(given.columns("HILLS")["c"]), 4)
        self.assertGreater(live.v(), 1)

    def test_names(self):
        """Keyword 'as' gives a variable another name in PLUMED."""
        given = Input(NATURAL + "s: EXTRACV NAME=x1\nt: EXTRACV NAME=d\nm: RESTRAINT ARG=s,t AT=8.6,8.9 KAPPA=100,20\n")
        found = run_with([f"fix b all coord/plumed c_c as x1 c_d {given.words}"], ["run 10"])
        compare(self, found, run_with([f"fix b all coord/bias {HARMONIC}"], ["run 10"]))


class Parts(unittest.TestCase):
    def test_variable_read_by_another_fix(self):
        """A fix that reads the variable in each timestep, before this fix or after it, changes nothing."""
        read = ["variable f equal 0*c_c", "fix read all addforce v_f 0 0"]
        results = []
        for before, after in ((), ()), (read, ()), ((), read):
            results.append(run_with([*before, fix_of(input_of(METAD + PRINT)), *after], ["run 20"]))
            self.assertGreater(np.abs(results[-1].tables[-1]["f_b"]).max(), 0.01)
        for found in results[1:]:
            compare(self, found, results[0])

    def test_fix_modify(self):
        """Without the fix's energy or virial both equal those of the pair style alone. Forces are unchanged."""
        system = System(self, test_bias_forces.BOXES["orthogonal"])
        energy, forces, virial = system.evaluate()
        s = [system.s[name] for name in ("one", "pair")]
        system.plumed("one pair", f"d: DISTANCE ATOMS=3,17\nRESTRAINT ARG=one,pair,d AT={s[0] - 0.5},{s[1] + 0.6},1 "
                      "KAPPA=3,4,5\n")
        with_bias = system.evaluate()
        v = system.v()
        self.assertGreater(v, 0.1)
        self.assertLess(abs(with_bias[0] - energy - v), 1e-13 * energy)
        system.commands("fix_modify b energy no")
        found = system.evaluate()
        self.assertEqual(found[0], energy)
        coordtest.assert_same_bits(found[2], with_bias[2])
        system.commands("fix_modify b energy yes virial no")
        found = system.evaluate()
        coordtest.assert_same_bits(found[2], virial)
        self.assertGreater(np.abs(with_bias[2] - virial).max(), 1)
        self.assertLess(abs(found[0] - with_bias[0]), coordtest.LAST_DIGITS * abs(v))
        self.assertLess(coordtest.error_of(found[1], with_bias[1]), coordtest.LAST_DIGITS)
        self.assertGreater(np.abs(found[1] - forces).max(), 0.1)

    def test_stride(self):
        """STRIDE of PLUMED equals stride of fix coord/bias: forces and virial are n times as large at multiples of n
        steps, and zero between."""
        text = RESTRAINT.rstrip() + " STRIDE=3\n" + PRINT
        for more in ["run 31"], ["run 10", "run 21"], ["run 10", "run 21 pre no"]:
            for ranks in 1, 2:
                found = run_with([fix_of(input_of(text))], more, ranks, last=31)
                expected = run_with([f"fix b all coord/bias {HARMONIC} stride 3"], more, ranks, last=31)
                what = f"{more}, {ranks} ranks"
                compare(self, found, expected, what, columns=("KinEng", "Press"))
                self.assertLess(coordtest.error_of(last_of(found), last_of(expected)), SAME, what)
                rows, ours = found.tables[-1], expected.tables[-1]
                due = rows["Step"] % 3 == 0
                self.assertLess(coordtest.error_of(rows["f_b"][due], ours["f_b"][due]), SAME, what)
                # PRINT needs the bias at each step: V is that of the step.
                v = 50 * (rows["c_c"] - 8.6)**2 + 10 * (rows["c_d"] - 8.9)**2
                self.assertLess(coordtest.error_of(rows["f_b"], v), SAME, what)
        found = run_with([fix_of(input_of(text.replace(PRINT, "")))], ["run 10"])
        expected = run_with([f"fix b all coord/bias {HARMONIC} stride 3"], ["run 10"])
        compare(self, found, expected, columns=("f_b", "KinEng", "Press"))

    def test_evaluations_that_nothing_needs(self):
        """Variables are not evaluated at steps at which PLUMED needs none: keyword check ends the run at the tenth
        evaluation."""
        steps = {}
        for stride in 1, 3:
            given = Input(NATURAL + f"c: EXTRACV NAME=c\nRESTRAINT ARG=c AT=1 KAPPA=0.1 STRIDE={stride}\n")
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, brutetest.Box((20.0,) * 3), [[5.0, 5.1, 5.2], [8.05, 5.1, 5.2]], ghosts=3.5)
                # In range from step 7 on: the first evaluation, which is checked, too, has S = 0.
                for line in ["compute c all coord/gpu switch rational 1.1 dmax 3.0 precision mixed check 10 1e-300",
                             f"fix b all coord/plumed c_c {given.words}", "group one id 1",
                             "fix move one move linear 0.0075 0 0", "timestep 1.0", "thermo 1000"]:
                    lmp.command(line)
                with self.assertRaisesRegex(Exception, "check: "):
                    lmp.command("run 100")
                steps[stride] = lmp.extract_global("ntimestep")
        print("evaluation that ends the run:", steps)
        self.assertEqual(steps[1], 11)
        self.assertEqual(steps[3], 33)

    def test_committor(self):
        """COMMITTOR ends the run on all ranks at the first step in its basin; runs that follow without the fix are
        complete."""
        free = run_with([], ["run 60"], names="").tables[0]["c_c"]
        low = np.sort(free)[len(free) // 4] if free[0] > np.median(free) else None
        basin = f"BASIN_LL1=0 BASIN_UL1={low}" if low else f"BASIN_LL1={np.sort(free)[3 * len(free) // 4]} BASIN_UL1=100"
        inside = free < low if low else free > np.sort(free)[3 * len(free) // 4]
        first = int(np.argmax(inside))
        self.assertGreater(first, 3)
        for ranks in 1, 2:
            given = input_of(f"COMMITTOR ARG=c STRIDE=1 {basin} FILE=basins\nm: BIASVALUE ARG=z\n".replace(
                "m:", "z: CONSTANT VALUE=0\nm:"), "cd")
            run = run_with([fix_of(given)], ["run 60", "unfix b", *thermo("", 1, size=0), "run 7"], ranks)
            self.assertEqual(run.tables[0]["Step"][-1], first)
            np.testing.assert_allclose(run.tables[0]["c_c"], free[:first + 1], SAME)
            self.assertEqual(run.tables[1]["Step"][-1], first + 7)
            self.assertIn("COMMITTED", given.read("basins").upper())

    def test_order_of_fixes(self):
        """Defining the fix after a barostat is an error, except with virial no."""
        given = input_of(RESTRAINT)
        live = Live(self)
        live.do("unfix move", "fix n all npt temp 1.4 1.4 0.2 iso 1.0 1.0 0.5", fix_of(given))
        with self.assertRaisesRegex(Exception, "Fix coord/plumed b must be defined before fix n of style npt"):
            live.do("run 0")
        live.do("fix_modify b virial no", "run 5")
        self.assertGreater(live.v(), 0.1)

    def test_output(self):
        """The outputs are V, each S and each force, also of variables that PLUMED reads but does
        not bias."""
        given = input_of("m: RESTRAINT ARG=d AT=8.9 KAPPA=20\nPRINT ARG=c FILE=COLVAR\n")
        rows = run_with([fix_of(given)], ["run 10"]).tables[0]
        np.testing.assert_allclose(rows["f_b"], 10 * (rows["c_d"] - 8.9)**2, 1e-11)
        np.testing.assert_allclose(rows["f_b[1]"], rows["c_c"], 1e-14)
        np.testing.assert_array_equal(rows["f_b[2]"], 0.0)
        np.testing.assert_allclose(rows["f_b[3]"], rows["c_d"], 1e-14)
        np.testing.assert_allclose(rows["f_b[4]"], -20 * (rows["c_d"] - 8.9), 1e-10)

    def test_work(self):
        """PLUMED's work of a MOVINGRESTRAINT is in the fix's vector."""
        given = input_of("m: MOVINGRESTRAINT ARG=c STEP0=0 AT0=9 KAPPA0=50 STEP1=20 AT1=8.6 KAPPA1=100\n"
                         "PRINT ARG=m.work FILE=COLVAR FMT=%.17g\n")
        rows = run_with([fix_of(given)], ["run 20"], size=5).tables[0]
        work = given.columns("COLVAR")["m.work"]
        self.assertGreater(np.abs(work).max(), 0.1)
        np.testing.assert_allclose(rows["f_b[5]"], work, 1e-11, 1e-11)


class Walkers(unittest.TestCase):
    """Partitions with an input each; METAD by WALKERS_DIR reads the hills of the other one."""

    def test_partitions(self):
        folder = Input("").folder
        inputs = [input_of(f"m: METAD ARG=c SIGMA=0.1 HEIGHT=1 PACE=5 FILE={{HILLS}} WALKERS_N=2 WALKERS_ID={k} "
                           f"WALKERS_DIR={folder} WALKERS_RSTRIDE=5\nPRINT ARG=c,m.bias FILE=COLVAR.{k} FMT=%.17g\n",
                           folder=folder, name=f"plumed.{k}.dat") for k in range(2)]
        fix = f"fix b all coord/plumed c_c c_d plumedfile {folder}/plumed.${{k}}.dat outfile {folder}/log.${{k}}"
        lines = ["variable k world 0 1", "variable seed world 77 78"] + [
            line.replace("create 1.4 77", "create 1.4 ${seed}") for line in melt()] + [fix, "run 300"]
        for ranks in 2, 4:
            self.run_partitions(lines, ranks)
            counts = [len(plumedtest.read_columns(f"{folder}/HILLS.{k}")["c"]) for k in range(2)]
            self.assertEqual(counts, [60, 60])
            others = []
            for k in range(2):
                columns = inputs[k].columns(f"COLVAR.{k}")
                self.assertEqual(len(columns["c"]), 301)
                own = self.sum_of(plumedtest.read_columns(f"{folder}/HILLS.{k}"), columns)
                others.append((columns["m.bias"] - own).max())
                self.assertGreater((columns["m.bias"] - own).min(), -1e-5)
            self.assertGreater(max(others), 0.01)    # the later one has hills of the earlier one
            for path in glob.glob(f"{folder}/*HILLS*") + glob.glob(f"{folder}/*COLVAR*"):
                os.remove(path)

    def sum_of(self, hills, columns):
        """Return the bias of the hills before each time; HILLS has nine decimals."""
        u = (columns["c"][:, None] - hills["c"])**2 / (2 * 0.1**2)
        end = np.exp(-6.25)
        height = np.where(u < 6.25, (np.exp(-u) - end) / (1 - end), 0)
        return np.where(hills["time"] < columns["time"][:, None] - 1e-5, height, 0).sum(axis=1)

    def run_partitions(self, lines, ranks):
        where = Input("").folder
        with open(f"{where}/in.test", "w") as file:
            file.write("\n".join(map(coordtest.on_device, lines)) + "\n")
        command = [*coordtest.mpirun(ranks), *coordtest.lmp_program(ranks), "-partition", f"2x{ranks // 2}", "-in",
                   "in.test", "-log", "none", "-nocite"]
        # Without the variables that MPI adds to the environment of this process.
        done = subprocess.run(command, cwd=where, env=dict(os.environ), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300)
        screens = [test_bias_parallel.text_of(path)[-2000:] for path in sorted(glob.glob(f"{where}/screen.*"))]
        self.assertEqual(done.returncode, 0, "\n".join([done.stdout[-2000:], done.stderr[-2000:], *screens]))


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
