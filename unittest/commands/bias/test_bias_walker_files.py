"""LAMMPS processes that share hills of fix coord/bias by files of one folder, at the same time. V must be the sum of the
lines of each journal, by the formula of the documentation, whenever a process is killed."""
# Processors: 4

import glob
import os
import subprocess
import sys
import time
import unittest

import numpy as np

import coordtest
from coordtest import on_device
from errortest import TIMEOUT, errors_in
from test_bias_hills import SYSTEM, Folder, bias_of, hill_lines, rows, warnings_of
from test_bias_plumed import LIBRARY, PLUMED

START = """
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 random 12 4711 box overlap 1.0
mass 1 1.0
velocity all create 1.5 ${seed}
"""
FIX = "fix b all coord/bias c_c metad sigma 0.2 height 0.1 pace 10 biasfactor 6 temp 1.5 file H.${w} walkers files S ${w} 20"
OUTPUT = """
thermo_style custom step pe ke f_b f_b[1] f_b[2] f_b[3] f_b[4] f_b[5] f_b[6]
thermo_modify norm no format float %.17g flush yes
thermo 10
"""
TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/free_energy.py")


def script(commands, old=None, more=""):
    begin = f"read_restart {old}\n" if old else START
    text = "units lj\natom_modify map array sort 0 0\n" + begin + SYSTEM + FIX + more + OUTPUT + commands + "\n"
    return "\n".join(map(on_device, text.split("\n")))


class Jobs(unittest.TestCase):
    def setUp(self):
        self.work = Folder()

    def start(self, name, text, ranks=1, more=()):
        """Start a job of its own input and log."""
        with open(self.work.at("in." + name), "w") as file:
            file.write(text)
        begin = coordtest.mpirun(ranks) if ranks > 1 else []
        more = more or ("-var", "w", name, "-var", "seed", str(4711 + ord(name[-1])))
        process = subprocess.Popen([*begin, *coordtest.lmp_program(ranks), "-in", "in." + name, "-log", "log." + name, "-nocite",
                                    "-screen", "none", *more],
                                   cwd=self.work.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)    # if the test fails
        return process

    def log(self, name):
        return self.work.read("log." + name).decode(errors="replace")

    def finish(self, name, *arguments, **options):
        process = self.start(name, *arguments, **options)
        self.assertEqual(process.wait(TIMEOUT), 0, self.log(name)[-2000:])
        return self.log(name)

    def lines_of(self, journal, walker):
        """Return lines of a journal of this number of walker, without the number."""
        return [line.rsplit(None, 1)[0] for line in hill_lines(self.work.read(journal)) if line.split()[-1] == str(walker)]

    def numbers(self, name):
        """Return the number of each walker in the journal of one of them."""
        return {words[4]: int(words[2]) for words in map(str.split, self.work.read("H." + name).decode().split("\n"))
                if words[:2] == ["#", "walker"]}

    def check(self, names):
        """Each journal has the first lines of each file, in their order, and V is the sum of the journal."""
        files = {name: [line.strip() for line in hill_lines(self.work.read(f"S/{name}.w"))] for name in names}
        for name in names:
            numbers = self.numbers(name)
            for other in names:
                found = [line.strip() for line in self.lines_of("H." + name, numbers[other])] if other in numbers else []
                self.assertEqual(found, files[other][:len(found)])
                if other == name:
                    self.assertEqual(found, files[other])
        return files

    def test_jobs_at_once(self):
        names = ["w1", "w2", "w3"]
        jobs = [self.start(name, script("run 1000"), ranks=2 if name == "w2" else 1) for name in names]
        for name, job in zip(names, jobs):
            self.assertEqual(job.wait(TIMEOUT), 0, self.log(name)[-2000:] if os.path.exists(self.work.at("log." + name)) else "")
        files = self.check(names)
        for name in names:
            self.assertEqual(len(files[name]), 100)
            self.assertEqual([text for text in warnings_of(self.log(name)) if "hills of walker" in text], [])
        # Each takes what the others have added after its last read. At the same S, V differs by rounding only.
        expected, last = sorted(sum(files.values(), [])), []
        for name in names:
            log = self.finish(name, script("write_dump all custom first id x y z modify format float %.17g\nrun 0" if name == "w1" else
                                           "read_dump first 0 x y z box no timestep no\nrun 0", more=" append yes"))
            lines = hill_lines(self.work.read("H." + name))
            self.assertEqual(sorted(line.strip().rsplit(None, 1)[0] for line in lines), expected)
            row = [float(number) for number in rows(log)[0][0]]
            self.assertLess(abs(row[2] - bias_of([line.rsplit(None, 1)[0] for line in lines], [row[3]])), 1e-12)
            self.assertEqual(row[8], 300)
            last.append(row)
        self.assertGreater(last[0][2], 0.1)
        for row in last[1:]:
            self.assertEqual(row[3], last[0][3])
            self.assertLess(abs(row[2] - last[0][2]), 1e-11)
        self.check_free_energy()

    def check_free_energy(self):
        """One journal and all files of the folder are the same hills for free_energy.py and for PLUMED's sum_hills."""
        lines = [line.rsplit(None, 1)[0] for line in hill_lines(self.work.read("H.w2"))]
        files = sorted(os.path.relpath(path, self.work.path) for path in glob.glob(self.work.at("S/*.w")))
        self.assertEqual(len(files), 3)
        for out, given in ("one", ["H.w2"]), ("all", files):
            done = subprocess.run([sys.executable, TOOL, *given, "--temp", "1.5", "--units", "lj", "--grid", "1", "9", "--bins", "80",
                                   "--out", out], cwd=self.work.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        values = [np.loadtxt(self.work.at(out + ".dat")) for out in ("one", "all")]
        expected = np.array([-6 / 5 * bias_of(lines, [s]) for s in values[0][:, 0]])
        self.assertGreater(np.ptp(expected), 0.1)
        for value in values:
            np.testing.assert_allclose(value[:, 1] - value[0, 1], expected - expected[0], rtol=0, atol=1e-10)
        if not PLUMED:
            coordtest.skip_part("sum_hills", "GPUCOORD_TEST_PLUMED is not set")
            return
        environment = dict(os.environ, PLUMED_ROOT=os.path.join(LIBRARY, "plumed"), PLUMED_KERNEL=f"{LIBRARY}/libplumedKernel.so",
                           LD_LIBRARY_PATH=f"{LIBRARY}:{PLUMED}/hillclimber.libs")
        for given in ["H.w2"], files:
            done = subprocess.run([os.path.join(LIBRARY, "../bin/plumed"), "sum_hills", "--hills", ",".join(given), "--outfile", "fes",
                                   "--fmt", "%.17g", "--min", "1", "--max", "9", "--bin", "80"], cwd=self.work.path, env=environment,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
            found = np.loadtxt(self.work.at("fes"))
            expected = np.array([-6 / 5 * bias_of(lines, [s]) for s in found[:, 0]])
            np.testing.assert_allclose(found[:, 1], expected, rtol=0, atol=1e-9)

    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_SAME_BITS)
    def test_killed_and_restarted(self):
        """A job that is killed continues with the bits of one that is not, if the files of the others are the same."""
        self.finish("w2", script("run 600"))
        whole = self.work.read("S/w2.w")
        half = whole[:len(whole) // 2]    # in the middle of a line
        first = ("run 500\nshell cp whole S/w2.w\n", "run 3000 upto")
        self.work.write("whole", whole)
        self.work.write("half", half)

        def begin():
            self.work.write("S/w2.w", half)
            for name in "H.w1", "S/w1.w":
                if os.path.exists(self.work.at(name)):
                    os.remove(self.work.at(name))
        begin()
        text = script("restart 200 r.*\n" + "".join(first))
        expected = rows(self.finish("w1", text))
        files = self.work.read("H.w1"), self.work.read("S/w1.w")
        self.assertEqual(len(self.lines_of("H.w1", 1)), 60)
        for after in 130, 175, 201:
            begin()
            for name in glob.glob(self.work.at("r.*")):
                os.remove(name)
            # Long enough that the run does not end before it is killed, even if this process has to wait.
            process = self.start("w1", text.replace("run 3000 upto", "run 1000000 upto"))
            while process.poll() is None:
                if os.path.exists(self.work.at("H.w1")) and len(hill_lines(self.work.read("H.w1"))) > after:
                    process.kill()
                time.sleep(0.001)
            self.assertEqual(process.wait(), -9)
            steps = sorted(int(name.split(".")[-1]) for name in glob.glob(self.work.at("r.*")))
            steps = [step for step in steps if step < 3000]
            step = max(step for step in steps if os.path.getsize(self.work.at(f"r.{step}")) == os.path.getsize(self.work.at(f"r.{steps[0]}"))
                       or step < steps[-1])
            self.assertGreaterEqual(step, 600)
            log = self.finish("w1", script("restart 200 r.*\nrun 3000 upto", old=f"r.{step}"))
            found = rows(log)
            self.assertEqual(found[step][0], expected[step][0])
            self.assertEqual(found[3000][-1], expected[3000][-1])
            self.assertEqual((self.work.read("H.w1"), self.work.read("S/w1.w")), files)

    def wait_for(self, is_true, jobs):
        begin = time.monotonic()
        while not is_true():
            self.assertLess(time.monotonic() - begin, TIMEOUT)
            for name, job in jobs.items():
                self.assertIsNone(job.poll(), name)
            time.sleep(0.005)

    def read_by(self, name, other):
        """Return the number of hills of another walker in a journal."""
        if not os.path.exists(self.work.at("H." + name)):
            return 0
        return len(self.lines_of("H." + name, self.numbers(name).get(other, -1)))

    def test_one_of_three_is_killed(self):
        """The others go on, and know how many of their hills are no longer in its file."""
        names = ["w1", "w2", "w3"]
        text = script("restart 500 r.${w}.*\nvariable stop equal is_file(stop)\nfix h all halt 10 v_stop != 0 error soft\nrun 1000000")
        jobs = {name: self.start(name, text) for name in names}
        self.wait_for(lambda: min(self.read_by(name, "w2") for name in ("w1", "w3")) > 60, jobs)
        jobs["w2"].kill()
        self.assertEqual(jobs.pop("w2").wait(), -9)
        killed = rows(self.log("w2"))
        nread = len(hill_lines(self.work.read("S/w2.w")))
        log = self.finish("w2", script("run 1000 upto", old="r.w2.500"))
        # Up to its first read, it has the bits of the killed run.
        if not coordtest.ON_KOKKOS_GPU:
            for step in 500, 510:
                self.assertEqual(rows(log)[step][0], killed[step][0])
        self.assertIn(f"{nread - 50} hills of S/w2.w that are later than those of this run are now in S/bck.0.w2.w", log)
        new = [line.strip() for line in hill_lines(self.work.read("S/w2.w"))]
        self.assertEqual(len(new), 100)
        self.wait_for(lambda: all("hills of walker w2 that act in this bias are not in S/w2.w" in self.log(name) for name in jobs), jobs)
        self.work.write("stop", b"")
        for name, job in jobs.items():
            self.assertEqual(job.wait(TIMEOUT), 0)
            more = self.finish(name, script("run 0", more=" append yes"))
            lines = hill_lines(self.work.read("H." + name))
            row = [float(number) for number in rows(more)[0][0]]
            self.assertEqual(row[8], len(lines))
            self.assertLess(abs(row[2] - bias_of([line.rsplit(None, 1)[0] for line in lines], [row[3]])), 1e-9)
            numbers = self.numbers(name)
            found = [line.strip() for line in self.lines_of("H." + name, numbers["w2"])]
            self.assertEqual(found[:50], new[:50])
            self.assertGreaterEqual(len(found), len(new))
            other = {"w1": "w3", "w3": "w1"}[name]
            found = [line.strip() for line in self.lines_of("H." + name, numbers[other])]
            self.assertEqual(found, [line.strip() for line in hill_lines(self.work.read(f"S/{other}.w"))][:len(found)])

    def test_partitions(self):
        """Partitions of one job, each a walker of another name."""
        text = "variable w world w1 w2\nvariable seed world 1 2\n" + script("run 400")
        self.assertEqual(self.start("p", text, ranks=2, more=("-partition", "2x1")).wait(TIMEOUT), 0)
        self.assertEqual([len(lines) for lines in self.check(["w1", "w2"]).values()], [40, 40])

    def test_same_name(self):
        job = self.start("w1", script("run 1000000"))
        while not os.path.exists(self.work.at("S/w1.w")) or not hill_lines(self.work.read("S/w1.w")):
            time.sleep(0.001)
        second = self.start("x", script("run 10").replace("files S ${w}", "files S w1"))
        self.assertEqual(second.wait(TIMEOUT), 1)
        job.kill()
        job.wait()
        self.assertIn("Fix coord/bias b: hills file S/w1.w is being written by another fix or run - use one file for each",
                      "\n".join(errors_in(self.log("x"))))
        self.assertFalse(os.path.exists(self.work.at("H.x")))

    def test_rerun(self):
        """It reads no new hills, and leaves the folder as it is."""
        dump = "dump d all custom 10 d.${w} id type x y z\n"
        for name in "w1", "w2":
            self.finish(name, script(dump + "run 100"))
        files = {name: self.work.read(name) for name in ("H.w1", "S/w1.w", "S/w2.w")}
        log = self.finish("w1", script("rerun d.w1 dump x y z", more=" append yes"))
        self.assertEqual({name: self.work.read(name) for name in files}, files)
        self.assertIn("Fix coord/bias b: rerun adds no hills, V is that of the 10 hills in H.w1", "\n".join(warnings_of(log)))
        lines = [line.rsplit(None, 1)[0] for line in hill_lines(files["H.w1"])]
        found = rows(log)
        self.assertEqual(sorted(found), list(range(0, 101, 10)))
        for (row,) in found.values():
            self.assertLess(abs(float(row[2]) - bias_of(lines, [float(row[3])])), coordtest.rounded(1e-12))


if __name__ == "__main__":
    unittest.main()
