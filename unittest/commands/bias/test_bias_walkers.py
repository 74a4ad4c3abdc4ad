"""Partitions of one LAMMPS that share the hills of fix coord/bias. The bias must be the sum of the lines of the
hills file, by the formula of the documentation, in all partitions with the same bits."""
# Processors: 4

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import coordtest
from errortest import TIMEOUT
from test_bias_hills import SYSTEM, bias_of, hill_lines, rows

START = """
units lj
atom_modify map array sort 0 0
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 random 12 4711 box overlap 1.0
mass 1 1.0
write_dump all custom first.${w} id x y z modify format float %.17g
velocity all create 1.5 4711${w}
"""
FIX = "fix b all coord/bias c_c metad sigma 0.2 height 0.1 pace 10 file H walkers partitions"
GRID = " biasfactor 6 temp 1.5 grid 0 12 bins 120"
OUTPUT = """
thermo_style custom step pe ke f_b f_b[1] f_b[2] f_b[3] f_b[4] f_b[5] f_b[6]
thermo_modify norm no format float %.17g flush yes
thermo 10
"""
# V of all partitions at the same positions.
COMPARE = "\nread_dump first.${w} 0 x y z box no timestep no\nrun 0\n"
TEXT = re.compile(r"^ERROR.*?: (?:Fix coord/bias b: )?(.*) \(\S+:\d+\)$", re.MULTILINE)
LIBRARY = """
import os
import sys
from lammps import lammps
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
with open("new." + rank, "w") as file:
    file.write(str(os.getpid()))
os.rename("new." + rank, "pid." + rank)
lmp = lammps(cmdargs=["-nocite", "-in", "in.test", *sys.argv[1:]])
try:
    lmp.file("in.test")
except Exception as error:
    with open("caught." + rank, "w") as file:
        file.write(str(error))
lmp.finalize()
"""
# One walker gives up after a second. events: before which definition of the fix a walker waits for how many lines of a file.
RETRY = """
import ast
import os
import sys
import time
from lammps import lammps
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
fix, impatient, events, *arguments = sys.argv[1:]
lmp = lammps(cmdargs=["-nocite", "-in", "in.test", *arguments])
lmp.file("in.test")
errors = open("caught." + str(rank), "w", buffering=1)
for k in range(3):
    name, text, count = ast.literal_eval(events).get((rank, k), ("in.test", "", 0))
    while not os.path.exists(name) or open(name).read().count(text) < count:
        time.sleep(0.01)
    lmp.command(fix + " patience " + ("1" if rank == int(impatient) and k == 0 else "20"))
    try:
        lmp.command("run 30")
        break
    except Exception as error:
        errors.write(str(error).strip().replace("\\n", " ") + "\\n")
        lmp.command("unfix b")
lmp.finalize()
"""


class Partitions(unittest.TestCase):
    def setUp(self):
        self.where = tempfile.mkdtemp(dir=coordtest.folder())

    def at(self, name):
        return os.path.join(self.where, name)

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def start(self, text, layout, program=None, while_running=None, **environment):
        """Run partitions, and return the exit code. Variable w is their number."""
        n, ranks = map(int, layout.split("x"))
        with open(self.at("in.test"), "w") as file:
            file.write(f"variable w world {' '.join(map(str, range(n)))}\n")
            file.write("\n".join(map(coordtest.on_device, text.split("\n"))) + "\n")
        command = [*coordtest.mpirun(n * ranks), *(program or [*coordtest.lmp_program(n * ranks), "-in", "in.test", "-nocite"]),
                   "-partition", layout]
        with open(self.at("screen"), "w") as screen:
            process = subprocess.Popen(command, cwd=self.where, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                       stdout=screen, stderr=screen)
            if while_running:
                while_running(process)
            return process.wait(TIMEOUT)

    def logs(self, n):
        return [self.read(f"log.lammps.{w}").decode() for w in range(n)]

    def run_all(self, text, layout):
        n = int(layout.split("x")[0])
        self.assertEqual(self.start(text, layout), 0, "\n".join([self.read("screen").decode()[-1000:], *(log[-1500:] for log in self.logs(n))]))
        return self.logs(n)

    def errors_of(self, text, layout):
        """All partitions stop. The first one to stop ends the others, perhaps before they print."""
        self.assertNotEqual(self.start(text, layout), 0)
        return {message for log in self.logs(int(layout.split("x")[0])) for message in TEXT.findall(log)}

    def start_library(self, text, layout, **options):
        with open(self.at("run.py"), "w") as file:
            file.write(LIBRARY)
        return self.start(text, layout, [sys.executable, "run.py"], **options)

    def caught(self, text, layout, **environment):
        """Return the errors that each rank of a program has caught, in which LAMMPS is a library."""
        self.start_library(text, layout, **environment)
        n, ranks = map(int, layout.split("x"))
        return [self.read(f"caught.{rank}").decode() for rank in range(n * ranks)]

    def test_one_bias(self):
        for layout, more in ("2x1", ""), ("4x1", GRID), ("2x2", GRID), ("1x1", ""):
            with self.subTest(layout):
                self.setUp()
                n = int(layout[0])
                logs = self.run_all(START + SYSTEM + FIX + more + OUTPUT + "run 100" + COMPARE, layout)
                lines = hill_lines(self.read("H"))
                self.assertEqual([int(line.split()[5]) for line in lines], 10 * list(range(n)))
                last = [rows(log)[100][-1] for log in logs]
                trajectories = {tuple(rows(log)[50][0]) for log in logs}
                self.assertEqual(len(trajectories), n)    # they do differ
                for row in last:
                    if layout != "2x2":
                        self.assertEqual(row[2:5], last[0][2:5])    # V, S, dV/dS
                    self.assertEqual(float(row[8]), 10 * n)
                    # A grid interpolates.
                    expected = bias_of([line.rsplit(None, 1)[0] for line in lines], [float(row[3])])
                    self.assertLess(abs(float(row[2]) - expected), 1e-3 if more else 1e-12)
                self.assertGreater(float(last[0][2]), 0.01)
                # Each hill is where its walker was.
                for line in lines:
                    time, center, _, _, _, walker = line.split()
                    self.assertEqual(rows(logs[int(walker)])[round(float(time) / 0.005)][0][3], center)

    def test_one_partition_has_the_same_bits(self):
        log, = self.run_all(START + SYSTEM + FIX + GRID + OUTPUT + "run 100", "1x1")
        self.setUp()
        expected, = self.run_all(START + SYSTEM + FIX.replace("walkers partitions", GRID) + OUTPUT + "run 100", "1x1")
        self.assertEqual(rows(log), rows(expected))

    def test_restart(self):
        restart = "restart 50 w.${w}.*\n"
        text = SYSTEM + FIX + GRID + OUTPUT
        whole = self.run_all(START + text + restart + "run 100", "2x1")
        hills, first = hill_lines(self.read("H")), self.read("H")
        again = "units lj\natom_modify map array sort 0 0\nread_restart w.FILE.50\n" + text + restart + "run 50"
        logs = self.run_all(again.replace("FILE", "${w}"), "2x1")
        self.assertEqual(hill_lines(self.read("H")), hills)
        for w in range(2):
            self.assertEqual(rows(logs[w])[100], rows(whole[w])[100])
            self.assertEqual(rows(logs[w])[60], rows(whole[w])[60])
        # More and fewer partitions. A new one takes a restart file of another one.
        for n in 3, 1:
            with open(self.at("H"), "wb") as file:
                file.write(first)
            file_of = "variable f world " + " ".join(map(str, (0, 1, 0)[:n])) + "\n"
            logs = self.run_all(file_of + again.replace("FILE", "${f}") + COMPARE.replace("${w}", "0"), f"{n}x1")
            lines = hill_lines(self.read("H"))
            self.assertEqual(lines[:10], hills[:10])
            self.assertEqual([int(line.split()[5]) for line in lines[10:]], 5 * list(range(n)))
            self.assertEqual({tuple(rows(log)[100][-1][2:5]) for log in logs}, {tuple(rows(logs[0])[100][-1][2:5])})

    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_SAME_BITS)
    def test_a_killed_walker(self):
        """All end. Restart files of one step and the hills file continue with the same bits."""
        begin = "units lj\natom_modify map array sort 0 0\n"
        text = SYSTEM + FIX + GRID + OUTPUT + "restart 50 w.${w}.*\nrun 2000 upto\n"
        whole = self.run_all(START + text, "2x1")
        hills = self.read("H")
        for killed, after in (0, 60), (1, 111):
            self.setUp()

            def kill(process):
                while process.poll() is None:
                    if os.path.exists(self.at("H")) and len(hill_lines(self.read("H"))) > after:
                        os.kill(int(self.read(f"pid.{killed}")), signal.SIGKILL)
                        return
                    time.sleep(0.001)
            self.assertNotEqual(self.start_library(START + text, "2x1", while_running=kill), 0)
            # Both have passed this step: they have met after it.
            step = (len(hill_lines(self.read("H"))) // 2 * 10 - 20) // 50 * 50
            self.assertIn(step, range(50, 2000))
            logs = self.run_all(begin + f"read_restart w.${{w}}.{step}\n" + text, "2x1")
            self.assertEqual(self.read("H"), hills)
            for w in range(2):
                self.assertEqual(rows(logs[w])[2000], rows(whole[w])[2000])

    def test_restart_files_of_two_steps(self):
        text = SYSTEM + FIX + OUTPUT
        self.run_all(START + text + "restart 50 w.${w}.*\nrun 100", "2x1")
        found = self.errors_of("variable s world 50 100\nunits lj\natom_modify map array sort 0 0\nread_restart w.${w}.${s}\n" +
                               text + "run 50", "2x1")
        self.assertEqual(found, {"walker 1 continues after round 10 of the walkers, but walker 0 after round 5 - read restart "
                                 "files of one timestep, or use another fix ID and append yes"})

    def test_an_error_stops_all(self):
        limits = "variable l world 100 0.01\n"
        text = limits + START + SYSTEM + FIX + " limits 0 $l max_skip 3" + OUTPUT + "run 1000"
        found = self.errors_of(text, "2x1")
        message, = found
        self.assertRegex(message, r"^walker 1: left out 3 hills in a row, the limit of max_skip, because c_c = \S+ is beyond "
                                  r"limits 0 0.01 - check this run, or give a larger max_skip or wider limits$")
        self.assertEqual(len(hill_lines(self.read("H"))), 2)

    def test_as_a_library(self):
        """Nothing aborts the other walkers there. All have the same message."""
        # The variable is not finite in a step in which a hill is due, before the others meet.
        cases = ((" limits 0 $l max_skip 3", "variable l world 100 0.01\n", "left out 3 hills in a row"),
                 (" deposit_if v_p", 'variable k world 0 1\nvariable p equal "exp(1000*v_k*(step == 20))"\n', "variable p is inf"))
        for (more, before, expected), run in itertools.product(cases, ("run 1000", "run 10\nrun 990 pre no")):
            with self.subTest(more + run):
                self.setUp()
                text = before + START + SYSTEM + FIX + more + OUTPUT + run
                caught = self.caught(text, "2x1")
                self.assertIn("Fix coord/bias b: walker 1: ", caught[0])
                for text in caught:
                    self.assertIn(expected, text)

    def test_a_run_that_ends_early(self):
        runs = "run 100", "run 20\nrun 80 pre no", "run 100 pre no every 20 NULL"
        for early, run in itertools.product((0, 1), runs):
            stop = ("33 1000", "1000 33")[early]
            text = f"variable stop world {stop}\n" + START + SYSTEM + FIX + OUTPUT + (
                "variable s equal step\nfix h all halt 1 v_s >= ${stop} error soft message no\n" + run)
            logs = self.run_all(text, "2x1")
            self.assertIn(f"walker {early} has ended its run before its last hill: this run ends, too", logs[1 - early])
            self.assertEqual(len(hill_lines(self.read("H"))), 6)
            self.assertIn(40, rows(logs[1 - early]))
            self.assertNotIn(50, rows(logs[1 - early]))
            self.setUp()

    def test_a_run_that_ends_after_its_last_hill(self):
        """The others would wait for it at the setup of the next run."""
        text = "variable stop world 33 1000\n" + START + SYSTEM + FIX + OUTPUT + (
            "variable s equal step\nfix h all halt 1 v_s >= ${stop} error soft message no\nrun 35\nrun 100")
        logs = self.run_all(text, "2x1")
        self.assertIn("walker 0 has ended its run before its last step: later runs are left out", logs[1])
        self.assertEqual([max(rows(log)) for log in logs], [30, 35])
        self.assertEqual(len(hill_lines(self.read("H"))), 6)

    def test_a_late_walker_of_a_library(self):
        """A walker gives up before the late one comes, and comes again. What it sent before counts for nothing."""
        waiting, gone = "waiting for walker", "waited"
        again = (" is in another part of its input than walker 0, or came again after its patience had ended - use the same fixes "
                 "and runs in all partitions, and a larger patience")
        for late, early in (0, 1), (1, 0):
            waited = f"waited 1 seconds for walker {late} - see why partition {late} does not come, or give a larger patience"
            # It comes again before the late one, or after it.
            for events in ({(late, 0): (f"log.lammps.{early}", waiting, 2)},
                           {(late, 0): (f"caught.{early}", gone, 1), (early, 1): (f"log.lammps.{late}", waiting, 1)}):
                self.retry(2, early, events, {early: [waited]})
        # Walker 0 has counted it, and waits for another one.
        waited = "waited 1 seconds for walker 0 - see why partition 0 does not come, or give a larger patience"
        self.retry(3, 1, {(1, 0): ("log.lammps.0", waiting, 1), (2, 0): ("caught.1", gone, 1)},
                   {0: ["walker 1" + again], 1: [waited, "walker 1" + again], 2: ["walker 1" + again]})

    def retry(self, n, impatient, events, expected):
        with self.subTest(events=events):
            self.setUp()
            with open(self.at("run.py"), "w") as file:
                file.write(RETRY)
            program = [sys.executable, "run.py", FIX, str(impatient), repr(events)]
            self.assertEqual(self.start(START + SYSTEM, f"{n}x1", program), 0, self.read("screen"))
            for w in range(n):
                caught = self.read(f"caught.{w}").decode().split("\n")[:-1]
                self.assertEqual(len(caught), len(expected.get(w, [])), caught)
                for found, text in zip(caught, expected.get(w, [])):
                    self.assertIn(text, found)
            self.assertEqual([int(line.split()[5]) for line in hill_lines(self.read("H"))], list(range(n)) * 3)

    def test_another_timestep(self):
        logs = self.run_all("variable dt world 0.005 0.004\n" + START + "timestep ${dt}\n" + SYSTEM + FIX + OUTPUT + "run 20", "2x1")
        self.assertIn("walker 1 has timestep 0.004, but walker 0 has 0.005 - the time of each hill is that of its walker", logs[0])
        self.assertEqual([line.split()[0] for line in hill_lines(self.read("H"))], ["0.05", "0.04", "0.1", "0.08"])

    def test_different_inputs(self):
        way_out = " - use the same fix in all partitions"
        other_runs = ("runs of walkers must add equal numbers of hills from equal steps, up to multiples of pace 10, but walker 0 "
                      "has {} hills to add from step {}, walker 1 has {} hills to add from step {} - use the same run command in "
                      "all partitions, or reset_timestep before it")
        cases = (("variable x world 10 20", FIX.replace("pace 10", "pace $x"), "run 100",
                  "walker 1 has pace 20, but walker 0 has pace 10" + way_out),
                 ("variable x world b d", FIX.replace("fix b", "fix $x"), "run 100",
                  "walker 1 has fix d, but walker 0 has fix b" + way_out),
                 ("variable x world 100 200", FIX, "run $x", other_runs.format(10, 0, 20, 0)),
                 ("variable x world 60 40", FIX, "run 30\nrun $x pre no", other_runs.format(6, 30, 4, 30)),
                 ("variable x world 40 0", FIX, "run 30\nrun $x pre no", other_runs.format(4, 30, 0, 30)))
        for variable, fix, run, expected in cases:
            with self.subTest(run):
                found = self.errors_of(variable + "\n" + START + SYSTEM + fix + "\n" + run, "2x1")
                self.assertEqual({message.split(": ", 1)[-1] for message in found}, {expected})

    def test_a_partition_without_the_fix(self):
        found = self.errors_of("variable x world 0 1\n" + START + SYSTEM + f'if "$x == 0" then "{FIX} patience 2"\n' +
                               "run 10", "2x1")
        self.assertEqual(found, {"waited 2 seconds for walker 1 - see why partition 1 does not come, or give a larger patience"})
        warning = re.search(r"WARNING: fix b: waiting for walker 1 since (\S+) seconds - patience 2 ends it, so see why partition 1 "
                            "does not come, or give a larger patience", self.logs(2)[0])
        self.assertGreaterEqual(float(warning[1]), 0.2)

    def test_minimize_and_rerun(self):
        """They exchange nothing, so that partitions may differ in them."""
        text = START + SYSTEM + FIX + OUTPUT + "dump d all custom 10 dump.${w} id x y z\nrun 30\nundump d\n"
        logs = self.run_all("variable n world 3 9\n" + text + "minimize 0 0 $n 100\nrerun dump.${w} every $(v_n*10-20) dump x y z\n" +
                            "reset_timestep 30\nrun 20", "2x1")
        self.assertEqual(len(hill_lines(self.read("H"))), 10, logs[0][-2000:])


if __name__ == "__main__":
    unittest.main()
