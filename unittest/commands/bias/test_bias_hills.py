"""Hills and grid files of fix coord/bias: no hill is lost or duplicated, whenever a run is killed."""

import glob
import math
import os
import random
import re
import subprocess
import tempfile
import time
import unittest

import coordtest
from coordtest import DEVICE, FRESH, folder, kokkos, lmp_program, on_device, run_in_worker

# 12 atoms, so that a step takes microseconds, and a run not much longer than the start of LAMMPS. Sorting
# would change the order of atoms, and of sums over them, in a continued run.
START = """
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 random 12 4711 box overlap 1.0
mass 1 1.0
velocity all create 1.5 4711
"""
SYSTEM = """
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
group a id 1:4
group b id 5:12
compute c a coord/gpu group2 b switch rational 1.5 dmax 4 engine allpairs image minimum precision double
compute d all coord/gpu switch gaussian 1.0 engine allpairs image minimum precision double
fix n all nve
"""
# Heights of hills that change the trajectory immediately.
GRID = "c_c metad sigma 0.2 height 0.1 pace 10 file H grid 0 32 bins 640 write_grid 50 G"
SUM = "c_c c_d metad sigma 0.2 0.3 height 0.2 biasfactor 4 temp 1.5 pace 10 file H"
OPES = "c_c c_d opes barrier 12 temp 1.5 sigma/adaptive 30 pace 10 file H write_state 50 S"
GRID2 = SUM + " grid 0 12 0 16 bins 100 120 write_grid 50 G"


def thermo(bias):
    """Return thermo commands for all output that depends on the state of the fix, to the last
    digit."""
    last = 6 + 4 * ("c_d" in bias) + 5 * ("opes" in bias) + ("grid" in bias) + ("grid" in bias and "temp" in bias)
    values = " ".join(f"f_b[{k}]" for k in range(1, last + 1))
    return f"thermo_style custom step pe ke f_b {values}\nthermo_modify norm no format float %.17g flush yes\n"


def warnings_of(log):
    """Return the warnings, except that of a run without a thermostat: the runs of this test have none, so that they
    continue exactly."""
    found = re.findall(r"^WARNING: (.*) \(\S+:\d+\)$", log, re.MULTILINE)
    return [text for text in found if "no fix is a thermostat" not in text]


def script(bias, steps, old=None, data=None, restart="", every=10):
    begin = f"read_restart {old}\n" if old else f"read_data {data}\n" if data else START
    text = "units lj\natom_modify map array sort 0 0\n" + begin + SYSTEM + f"fix b all coord/bias {bias}\n"
    text += thermo(bias) + f"thermo {every}\n{restart}\n{steps}\n"
    return "\n".join(map(on_device, text.split("\n")))


class Folder:
    """A folder in which LAMMPS runs."""

    def __init__(self):
        self.path = tempfile.mkdtemp(dir=folder())
        self.nruns = 0

    def at(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def write(self, name, content):
        with open(self.at(name), "wb") as file:
            file.write(content)

    def put(self, text):
        """Write a script, and return arguments of LAMMPS. Its log is log.N."""
        self.nruns += 1
        with open(self.at("in.test"), "w") as file:
            file.write(text)
        return ["-log", f"log.{self.nruns}", "-nocite", "-screen", "none"]

    def start(self, text):
        """Start a script and return its process."""
        return subprocess.Popen([*lmp_program(), "-in", "in.test", *self.put(text)], cwd=self.path, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def log(self):
        return self.read(f"log.{self.nruns}").decode(errors="replace")

    def run(self, *arguments, **options):
        """Run a script and return its log."""
        text = script(*arguments, **options)
        code = (self.start(text).wait() if FRESH else
                run_in_worker(self.path, "in.test", os.devnull, os.devnull, self.put(text), kokkos()))
        assert code == 0, self.log()[-2000:]
        return self.log()


def rows(log):
    """Return lines of thermodynamic output by step."""
    found = {}
    width = 0
    for line in log.split("\n")[:-1]:    # a killed run may leave an incomplete last line
        words = line.split()
        if words[:1] == ["Step"]:
            width = len(words)
        elif width and len(words) == width and re.fullmatch(r"[-+.0-9e ]+", line):
            found.setdefault(int(words[0]), []).append(words[1:])
    return found


def hill_lines(content):
    return [line for line in content.decode().split("\n") if line and line[0] != "#"]


HEADER = 5    # lines of the header of a hills file of one or two variables without an interval


def header_of(content):
    return b"".join(line + b"\n" for line in content.split(b"\n") if line.startswith(b"#"))


def bias_of(lines, s):
    """Return V for the lines of a hills file by the formula of the documentation: heights in the
    file are those of the free energy."""
    n, v = len(s), 0.0
    for line in lines:
        columns = [float(word) for word in line.split()]
        centers, sigmas, (height, factor) = columns[1:1 + n], columns[1 + n:1 + 2 * n], columns[1 + 2 * n:]
        u = sum((a - b)**2 / (2 * w**2) for a, b, w in zip(s, centers, sigmas))
        if u < 6.25:
            scale = (factor - 1) / factor if factor > 1 else 1
            v += scale * height * (math.exp(-u) - math.exp(-6.25)) / (1 - math.exp(-6.25))
    return v


class Killed(unittest.TestCase):
    KILLS = 50 if DEVICE == "host" else 10    # a start with a GPU is slow
    STEPS = 2000

    def attempt(self, work, old, restart, kill_at, kill_at_line):
        """Run until the script is killed, ends or fails: return -9, 0 or another exit code."""
        process = work.start(script(self.bias, f"run {self.STEPS} upto", old, restart=restart))
        hills = work.at("H")
        size, grown, begin = None, 0, time.monotonic()
        while process.poll() is None:
            now = os.path.getsize(hills) if os.path.exists(hills) else 0
            grown += size is not None and now > size
            size = now
            if grown == kill_at_line or time.monotonic() - begin > kill_at:
                process.kill()
            time.sleep(0.0003)
        return process.returncode

    def chain(self, whole, duration, kills):
        """Kill and continue one run until it has ended. Return the number of kills."""
        work, killed, seen = Folder(), 0, {}
        restart = "restart 30 ra rb"
        while True:
            kill_at, line = math.inf, None
            if killed < kills:
                if self.random.random() < 0.3:
                    line = self.random.randint(1, 40)
                else:
                    kill_at = self.random.uniform(0, duration)
            # Start from the newest restart file; from the older one if the newest is incomplete;
            # from the beginning if there is none.
            files = [name for name in ("ra", "rb") if os.path.exists(work.at(name))]
            files.sort(key=lambda name: -os.stat(work.at(name)).st_mtime_ns)
            for old in files + [None]:
                code = self.attempt(work, old, restart, kill_at, line)
                for step, values in rows(work.log()).items() if os.path.exists(work.at(f"log.{work.nruns}")) else ():
                    seen.setdefault(step, []).extend(values)
                if code in (0, -9):
                    break
                self.assertIsNotNone(old, work.log()[-2000:])
                self.assertRegex(work.log(), "ERROR.*restart file")
                self.count["unfinished restart files"] += 1
            log = work.log() if os.path.exists(work.at(f"log.{work.nruns}")) else ""
            self.count["continued runs"] += old is not None
            self.count["damaged lines"] += "removed the last line of " in log
            self.count["moved hills"] += "that are later than the restart file" in log
            if code == 0:
                break
            killed += 1
            # A kill in the middle of a write leaves a part of the next line.
            content = work.read("H") if os.path.exists(work.at("H")) else b""
            if content.endswith(b"\n") and hill_lines(content) and self.random.random() < 0.5:
                line = hill_lines(content)[-1]
                work.write("H", content + line[:self.random.randrange(1, len(line))].encode())

        expected = whole.read("H")
        self.assertEqual(work.read("H"), expected)
        self.assertEqual(len(hill_lines(expected)), self.STEPS // 10 - 2 * ("adaptive 30" in self.bias))
        for name in re.findall(r" write_\w+ 50 (\w)", self.bias):
            self.assertEqual(work.read(name), whole.read(name))
        # Hills that were moved away were found again.
        lines = set(hill_lines(expected))
        for path in glob.glob(work.at("bck.*")):
            for line in work.read(path).decode().split("\n")[:-1]:
                self.assertTrue(line[:1] == "#" or line in lines, f"{path}: {line}")
        trajectory = rows(whole.log())
        self.assertEqual(sorted(seen), sorted(trajectory))
        for step, found in seen.items():
            for values in found:
                self.assertEqual(values, trajectory[step][0], f"step {step}")
        return killed

    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_SAME_BITS)
    def test_killed(self):
        self.random = random.Random(4711)
        self.count = dict.fromkeys(("continued runs", "damaged lines", "moved hills", "unfinished restart files"), 0)
        unbroken = []
        for self.bias in (GRID, SUM, OPES):
            whole = Folder()
            begin = time.monotonic()
            code = whole.start(script(self.bias, f"run {self.STEPS} upto", restart="restart 30 ra rb")).wait()
            self.assertEqual(code, 0, whole.log()[-2000:])
            unbroken.append((self.bias, whole, time.monotonic() - begin))
            self.assertEqual(len(rows(whole.log())), self.STEPS // 10 + 1)
        kills = 0
        while kills < self.KILLS:
            for self.bias, *whole in unbroken:
                kills += self.chain(*whole, self.KILLS - kills)
        print(kills, "kills:", self.count)
        for what in "continued runs", "damaged lines", "moved hills":
            self.assertGreater(self.count[what], self.KILLS // 20, what)


class Continued(unittest.TestCase):
    def test_append(self):
        """A run that continues from a data file with all hills. The bias is the sum of the hills in
        the file."""
        for bias in SUM, SUM.replace(" c_d", "").replace(" 0.3", ""), SUM.replace("biasfactor 4 temp 1.5 ", ""):
            with self.subTest(bias):
                work = Folder()
                work.run(bias, "run 300\nwrite_data data nocoeff")
                before = work.read("H")
                self.assertEqual(len(hill_lines(before)), 30)
                log = work.run(bias + " append yes", "run 100", data="data")
                self.assertIn("continues with 30 hills of H", log)
                after = work.read("H")
                self.assertTrue(after.startswith(before))
                lines = hill_lines(after)
                self.assertEqual(len(lines), 40)
                n = 1 + ("c_d" in bias)
                for step, (values,) in rows(log).items():
                    _, _, v, *f = [float(word) for word in values]
                    s = f[0:4 * n:4]
                    known = lines[:30 + step // 10]
                    self.assertEqual(f[4 * n + 1], len(known))
                    self.assertAlmostEqual(v, bias_of(known, s), delta=1e-13)
                    self.assertGreater(v, 0.01)
                    if step:    # the center is S of that step, exactly
                        self.assertEqual([float(word) for word in known[-1].split()[1:1 + n]], s)
                self.assertFalse(glob.glob(work.at("bck.*")))

    def test_append_and_write_restart_at_once(self):
        """A restart file that is written before the first step contains the hills that were read."""
        work = Folder()
        whole = work.run(SUM, "run 200\nwrite_data data nocoeff\nrun 50")
        hills = work.read("H")
        kept = b"\n".join(hills.split(b"\n")[:HEADER + 20]) + b"\n"
        self.assertEqual(len(hill_lines(kept)), 20)
        work.write("H", kept)
        work.run(SUM + " append yes", "write_restart r", data="data")
        log = work.run(SUM, "run 0", old="r")
        self.assertIn("continues with 20 hills of H", log)
        self.assertEqual(work.read("H"), kept)
        self.assertAlmostEqual(float(rows(log)[0][0][2]), float(rows(whole)[200][-1][2]), delta=1e-10)

    def test_backups(self):
        """Each new run moves the file of the previous run."""
        work, files = Folder(), []
        for steps in 50, 70, 90:
            log = work.run(GRID, f"run {steps}")
            files.append(work.read("H"))
            self.assertEqual(len(hill_lines(files[-1])), steps // 10)
            if len(files) > 1:
                self.assertIn(f"hills file H of an earlier run is now bck.{len(files) - 2}.H", log)
        self.assertEqual([work.read("bck.0.H"), work.read("bck.1.H")], files[:2])
        # Two runs of one fix count as one.
        work.run(GRID, "run 50\nrun 50")
        self.assertEqual(len(hill_lines(work.read("H"))), 10)
        self.assertEqual(work.read("bck.2.H"), files[2])
        self.assertEqual(len(glob.glob(work.at("bck.*"))), 3)

    def test_later_hills_are_moved(self):
        """Later hills are moved to a separate hills file, and the bias is that of the restart file
        to the last bit."""
        for bias in GRID, SUM, GRID2:
            with self.subTest(bias):
                work = Folder()
                whole = work.run(bias, "run 200", restart="restart 100 r")
                hills = work.read("H")
                lines = hills.split(b"\n")
                header = header_of(hills)
                log = work.run(bias, "run 0", old="r.100")
                self.assertIn("10 hills of H that are later than the restart file are now in bck.0.H", log)
                self.assertEqual(work.read("bck.0.H"), header + b"\n".join(lines[HEADER + 10:]))
                self.assertEqual(work.read("H"), header + b"\n".join(lines[HEADER:HEADER + 10]) + b"\n")
                self.assertEqual(rows(log)[100], rows(whole)[100])
                # Again: there is nothing to move.
                log = work.run(bias, "run 100", old="r.100")
                self.assertEqual(rows(log), {step: v for step, v in rows(whole).items() if step >= 100})
                self.assertEqual(work.read("H"), hills)
                self.assertEqual(glob.glob(work.at("bck.*")), [work.at("bck.0.H")])
                # A hills file of later hills is an ordinary hills file.
                work.write("H", work.read("bck.0.H"))
                self.assertIn("continues with 10 hills of H", work.run(bias + " append yes", "run 0"))

    def test_restart_before_the_first_hill(self):
        work = Folder()
        whole = work.run(GRID, "run 100", restart="restart 5 r")
        hills = work.read("H")
        log = work.run(GRID, "run 95", old="r.5", restart="restart 5 r")
        self.assertEqual(rows(log)[100], rows(whole)[100])
        self.assertEqual(work.read("H"), hills)
        self.assertEqual(len(hill_lines(work.read("bck.0.H"))), 10)

    def test_times(self):
        """The time is that of the uninterrupted run, which a LAMMPS restart file within a run does
        not store."""
        work = Folder()
        work.run(GRID, "run 70\ntimestep 0.003\nrun 130", restart="restart 40 r")
        times = [float(line.split()[0]) for line in hill_lines(work.read("H"))]
        for k, found in enumerate(times, 1):
            self.assertAlmostEqual(found, 0.05 * min(k, 7) + 0.03 * max(k - 7, 0), delta=1e-12)
        for old, commands in (("r.120", "run 80"), ("r.120", "run 10\nrun 70"), ("r.160", "run 0\nrun 40"),
                              ("r.40", "run 30\ntimestep 0.003\nrun 130")):
            with self.subTest(old, commands=commands):
                work.run(GRID, commands, old=old, restart="restart 40 r")
                self.assertEqual([float(line.split()[0]) for line in hill_lines(work.read("H"))], times)

    def test_damaged_last_line(self):
        """The damaged line is removed with a warning that gives the reason, and the run then equals
        the uninterrupted one."""
        work = Folder()
        work.run(SUM, "run 200", restart="restart 100 r")
        hills = work.read("H")
        lines = hills.split(b"\n")
        begin, line = b"\n".join(lines[:HEADER + 10]) + b"\n", lines[HEADER + 10]
        words = line.split()
        damages = {
            "nothing but the end": (line, "it has no end"),
            "cut": (line[:30], "it has no end"),
            "cut in a number": (line[:line.index(words[3]) + 4], "it has no end"),
            "cut with an end": (line[:10] + b"\n", "2 columns in place of 7"),
            "a number missing": (b" ".join(words[:2] + words[3:]) + b"\n", "6 columns in place of 7"),
            "a number too many": (line + b" 1\n", "8 columns in place of 7"),
            "not a number": (line.replace(words[2], b"1.2.3") + b"\n", "'1.2.3' is not a number"),
            "nan": (line.replace(words[2], b"nan") + b"\n", "'nan' is not a number"),
            "sigma 0": (b" ".join(words[:3] + [b"0"] + words[4:]) + b"\n", "sigma 0 is not above 0"),
            "NUL bytes": (b"\0" * 40, "it has bytes that are not text"),
            "NUL bytes in a line": (line[:20] + b"\0" * (len(line) - 20) + b"\n", "it has bytes that are not text"),
            "NUL bytes and an end": (b"\0" * 40 + b"\n", "it has bytes that are not text"),
            "a part of a comment": (b"# a com", "it has no end"),
        }
        for name, (damaged, why) in damages.items():
            with self.subTest(name):
                for path in glob.glob(work.at("bck.*")):
                    os.remove(path)
                work.write("H", begin + damaged)
                log = work.run(SUM, "run 100", old="r.100")
                self.assertEqual(warnings_of(log), [
                    f"Fix coord/bias b: removed the last line of hills file H, which was damaged: {why}"])
                self.assertEqual(work.read("H"), hills)
                self.assertFalse(glob.glob(work.at("bck.*")))
        # The last of the later hills, which are moved.
        work.write("H", hills[:-20])
        log = work.run(SUM, "run 100", old="r.100")
        self.assertIn("removed the last line", log)
        self.assertEqual(work.read("H"), hills)
        self.assertEqual(work.read("bck.0.H"), header_of(hills) + b"\n".join(lines[HEADER + 10:-2]) + b"\n")

    def test_windows_lines(self):
        """Hills and grid files with the line ends of Windows are read without a warning."""
        work = Folder()
        whole = work.run(GRID, "run 100", restart="restart 80 r")
        hills, later = work.read("H"), work.read("H").split(b"\n")[-3:]
        work.run(GRID.replace("write_grid 50", "write_grid 60"), "run 60")
        work.write("H", hills.replace(b"\n", b"\r\n"))
        work.write("G", work.read("G").replace(b"\n", b"\r\n"))
        log = work.run(GRID.replace("write_grid 50", "read_grid"), "run 20", old="r.80")
        self.assertEqual(warnings_of(log), [])
        self.assertEqual(rows(log), {step: v for step, v in rows(whole).items() if step >= 80})
        self.assertEqual(work.read("H"), b"\n".join(hills.split(b"\n")[:-3]).replace(b"\n", b"\r\n") + b"\r\n" +
                         b"\n".join(later))

    def test_damaged_header(self):
        """A file without a hill is started again: its header may be incomplete."""
        work = Folder()
        work.run(GRID, "run 50")
        hills = work.read("H")
        header = header_of(hills)
        for end in 0, 10, header.index(b"\n") + 1, header.index(b"kernel"), len(header) - 1, len(header):
            with self.subTest(end=end):
                work.write("H", header[:end])
                work.run(GRID + " append yes", "run 50")
                self.assertEqual(work.read("H"), hills)


class Grids(unittest.TestCase):
    def test_read_grid(self):
        """A bias from a grid file and the later hills equals that of all hills, to the last bit."""
        for bias in GRID, GRID2:
            work = Folder()
            work.run(bias, "run 80\nwrite_data data nocoeff")
            grid, hills = work.read("G"), work.read("H")
            self.assertEqual(len(hill_lines(hills)), 8)
            log = work.run(bias.replace("write_grid 50 G", "append yes"), "run 100", data="data")
            expected, all_hills = rows(log), work.read("H")
            self.assertEqual(len(hill_lines(all_hills)), 18)
            self.assertGreater(max(float(values[0][2]) for values in expected.values()), 0.1)
            work.run(bias.replace("write_grid 50", "write_grid 80"), "run 80")
            for content, count in (grid, 5), (work.read("G"), 8):
                with self.subTest(bias, hills_in_grid=count):
                    work.write("H", hills)
                    work.write("G", content)
                    log = work.run(bias.replace("write_grid 50", "append yes read_grid"), "run 100", data="data")
                    self.assertIn(f"continues with 8 hills of H, {count} of them from grid file G", log)
                    self.assertEqual(rows(log), expected)
                    self.assertEqual(work.read("H"), all_hills)
                    self.assertEqual(work.read("G"), content)

    def test_restart_with_a_grid(self):
        """The same after a restart."""
        work = Folder()
        whole = work.run(GRID, "run 100", restart="restart 80 r")
        hills = work.read("H")
        # The grid of six hills.
        work.run(GRID.replace("write_grid 50", "write_grid 60"), "run 60")
        work.write("H", hills)
        log = work.run(GRID.replace("write_grid 50", "read_grid"), "run 20", old="r.80")
        self.assertIn("continues with 8 hills of H, 6 of them from grid file G", log)
        self.assertEqual(rows(log), {step: v for step, v in rows(whole).items() if step >= 80})
        self.assertEqual(work.read("H"), hills)

    def test_a_grid_that_grows(self):
        """A grid that S leaves has the results of a wide one with the same points, also after a
        restart and from a grid file, whose ranges differ."""
        for wide, narrow, tail in (GRID, GRID.replace("grid 0 32 bins 640", "grid 0 2 bins 40"), 0), (
                GRID2, GRID2.replace("grid 0 12 0 16 bins 100 120", "grid 0 6 0 2 bins 50 15"), 1):
            def of_all(log, begin=0):
                # c(t), the last column, depends on the bounds.
                return {step: [v[:len(v) - tail] for v in values] for step, values in rows(log).items() if step >= begin}
            with self.subTest(narrow):
                work = Folder()
                expected = of_all(work.run(wide, "run 100", restart="restart 80 r"))
                grid = hill_lines(work.read("G"))
                hills = work.read("H")
                whole = work.run(narrow, "run 100", restart="restart 80 r")
                self.assertEqual(of_all(whole), expected)
                self.assertEqual(work.read("H"), hills)
                # The points that both files have are equal, and V is 0 at others.
                points = {" ".join(line.split()[:1 + tail]): line for line in grid}
                grown = {" ".join(line.split()[:1 + tail]): line for line in hill_lines(work.read("G"))}
                self.assertNotEqual(set(points), set(grown))
                self.assertTrue(any(float(line.split()[1 + tail]) > 0.1 for line in grown.values()))
                for at in set(points) | set(grown):
                    if at in points and at in grown:
                        self.assertEqual(points[at], grown[at])
                    else:
                        self.assertEqual(float({**points, **grown}[at].split()[1 + tail]), 0.0)
                # Restarts, which take the grid file of six hills or grow the grid again
                later = {step: v for step, v in rows(whole).items() if step >= 80}
                work.run(narrow.replace("write_grid 50", "write_grid 60"), "run 60")
                for bias in wide, narrow:
                    work.write("H", hills)
                    log = work.run(bias.replace("write_grid 50", "read_grid"), "run 20", old="r.80")
                    self.assertIn("continues with 8 hills of H, 6 of them from grid file G", log)
                    self.assertEqual(of_all(log), of_all(whole, 80))
                self.assertEqual(rows(log), later)
                work.write("H", hills)
                self.assertEqual(rows(work.run(narrow, "run 20", old="r.80")), later)
                self.assertEqual(work.read("H"), hills)

    def test_grid_file(self):
        """PLUMED's columns: V and its derivative at the grid points equal those of the hills."""
        work = Folder()
        work.run(GRID, "run 100")
        lines = hill_lines(work.read("H"))
        centers = [float(line.split()[1]) for line in lines]
        points = [[float(word) for word in line.split()] for line in hill_lines(work.read("G"))]
        self.assertEqual(len(points), 641)
        self.assertEqual([points[0][0], points[-1][0]], [0.0, 32.0])
        for s, v, dVdS in points:
            self.assertAlmostEqual(v, bias_of(lines, [s]), delta=1e-14)
            h = 1e-4
            difference = (bias_of(lines, [s + h]) - bias_of(lines, [s - h])) / (2 * h)
            # A hill ends there.
            if not any(abs(abs(s - center) - math.sqrt(12.5) * 0.2) < h for center in centers):
                self.assertAlmostEqual(dVdS, difference, delta=1e-6)
        self.assertGreater(max(v for _, v, _ in points), 0.2)


if __name__ == "__main__":
    unittest.main()
