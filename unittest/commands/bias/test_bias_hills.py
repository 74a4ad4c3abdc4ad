"""Hills and grid files of fix coord/bias: no hill is lost or duplicated, whenever a run is killed."""

import base64
import glob
import itertools
import math
import os
import random
import re
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

from coordtest import DEVICE, folder, lacks_newer_restart_files, lmp_program, on_device

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
GRID2 = SUM + " grid 0 12 0 16 bins 100 120 write_grid 50 G"


def thermo(bias):
    """Return thermo commands for all output that depends on the state of the fix, to the last
    digit."""
    last = 6 + 4 * ("c_d" in bias) + ("grid" in bias) + ("grid" in bias and "temp" in bias)
    values = " ".join(f"f_b[{k}]" for k in range(1, last + 1))
    return f"thermo_style custom step pe ke f_b {values}\nthermo_modify norm no format float %.17g flush yes\n"


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

    def start(self, text):
        """Start a script and return its process; its log is log.N."""
        self.nruns += 1
        with open(self.at("in.test"), "w") as file:
            file.write(text)
        return subprocess.Popen([*lmp_program(), "-in", "in.test", "-log", f"log.{self.nruns}", "-nocite",
                                 "-screen", "none"], cwd=self.path, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def log(self):
        return self.read(f"log.{self.nruns}").decode(errors="replace")

    def run(self, *arguments, **options):
        """Run a script and return its log."""
        code = self.start(script(*arguments, **options)).wait()
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


def of_earlier_version(restart, nvariables, checksum=False):
    """Return a restart file as earlier versions wrote it: the state of fix b had 7 + 4 numbers per
    variable, preceded by the number of its kind. The last of these versions added 1000 to the kind, and a
    checksum of the hills."""
    at = re.search(rb"coord/bias(/kk)?\0", restart).end()
    size, version, archive, length = struct.unpack_from("<idiq", restart, at)
    kind, state = restart[at + 24:at + 24 + length], at + 24 + length
    assert (version, kind, size) == (-1, b"metad", 12 + archive)
    n = nvariables
    layout = f"<qqddq{n}dq{n}dq{2 + n}dqQ"
    assert state + struct.calcsize(layout) < at + 4 + size    # parameters of the command follow
    found = iter(struct.unpack_from(layout, restart, state))
    take_next = lambda count: [next(found) for _ in range(count)]
    variables, first, energy, work = take_next(4)
    s, dVdS, own = (take_next(int(next(found))) for _ in range(3))
    has_checksum, value = found
    assert (variables, len(s), len(dVdS), len(own), has_checksum) == (n, n, n, 2 + n, 1)
    nhills, height, *centers = own
    numbers = [5 + 1000 * checksum, n, first, nhills, work, energy, 1]
    for v in range(n):
        numbers += [s[v], dVdS[v], centers[v], height]
    if checksum:
        numbers += [1, value >> 32, value & 0xffffffff]
    old = struct.pack(f"{len(numbers)}d", *numbers)
    return restart[:at] + struct.pack("i", len(old)) + old + restart[at + 4 + size:]


# An earlier version wrote these restart and hills files at step 50 of a run of four atoms, and
# printed these numbers when it continued: potential energy, V, both variables, maximum of V, number
# of hills.
RESTART_OF_EARLIER_VERSION = """
eNrzSczNLQhWCEotLkksKglhYGRgYGBmgABuIDZR8CrNUTAyMDIDS7EAsQGUZoLSIOUcSOycLAZWIGUENYUNKswOxIxQpcxQ
NgxzQmkuKM0NpXmgNC+U5oOahwsYEpDHBfih7kssyc/NTAYLCUB9BAKCUOuFkLQIQ2kRKC2KJCcGpcWhtASSnCSUloLS0khy
MlBaFkrLQWl5pEjBBhRQ5CUc0GlFJLVKSGxlJLYnlFYhYJcqAXlQtFeLrHN/WFVibwwNNxMobQqlzaBqzZH0WUBpSyQxKyht
A6VtobQdlLaH0o5Qc72hfCckM5yR2C5IbFcktjsS2w2J/R8ImKHpIDEnB5ziE8FkEoMa1E4I+GAPUqsOTUY5WfrJpSVQKRYH
5OBB1oJKsziAjGCEZqwkcB5Izs8vStFPykwsZqiAaxSBGeiAGvIiDs9c5VdELLtnv2tW3LPVNrfhFgiuWbgxUoHRoWjvRTuv
uHP7YXwZE5Yljse220u56S9z5WFwYPI2jrS6d3w/jA+TB5migxQm+kh8BgY1h12V7YYycq/tp9reX7pJ9KO9h2af/svLH+wZ
0TwNTzdMHKAky7BzWffRB1ZP929iP+cUOuvufv6sGylbp523h5lrc9NvxjshJgfPs9ZSMvO/2K9KOvTx0o739kwEzE2RqpXc
dPT4fkfeVaePa76zZ3m00rVxxSa4uWu4Lm5sNvhiH1O5/flVYQaH1ek2qkL+7+2Z0cxlRTO37lvlhb3Mn+1PfukouBf0cH/p
jk2OiXte74eZe6bf2F/0FqODBaP1jkOCjA7/steEurIzO7AQMDfkv+CqmG1X98tujUsRSVlvvzHx+P7FjQ/tfdAKZwBYJsDC
"""
HILLS_OF_EARLIER_VERSION = """#! FIELDS time c d sigma_c sigma_d height biasf
#! SET multivariate false
#! SET kerneltype stretched-gaussian
# LAMMPS units lj: time and heights in these; heights are times biasfactor/(biasfactor - 1) where biasfactor > 1, so that the sum of hills is minus the free energy
 0.05 1.6958470418797313 1.8584045294963913 0.59999999999999998 0.40000000000000002 0.13333333333333333 4
 0.1 1.8098241155232915 1.881837756893217 0.59999999999999998 0.40000000000000002 0.13048252770200372 4
 0.15 1.9374714010842848 1.9285016793845524 0.59999999999999998 0.40000000000000002 0.12795649606402379 4
 0.2 2.0569114670966293 1.9815830123625202 0.59999999999999998 0.40000000000000002 0.12585248642256283 4
 0.25 2.1407960774863644 2.0059922202278928 0.59999999999999998 0.40000000000000002 0.12382520363244542 4
"""
CONTINUED = """
units lj
atom_modify map array sort 0 0
read_restart old
pair_style lj/cut 2.5
pair_coeff 1 1 1 1
compute c a coord/gpu group2 b switch rational 1.5 dmax 4 engine allpairs image minimum precision double
compute d all coord/gpu switch gaussian 1.0 engine allpairs image minimum precision double
fix n all nve
fix b all coord/bias c_c c_d metad sigma 0.6 0.4 height 0.1 biasfactor 4 temp 1.5 pace 10 file H grid 1.5 3 1.6 2.4 bins 3 2
thermo_style custom step pe f_b f_b[1] f_b[5] f_b[9] f_b[10]
thermo_modify norm no format float %.17g
thermo 10
run 30
write_restart new
"""
OUTPUT_OF_EARLIER_VERSION = {
    50: [-1.768779709785735, 0.42557809350038733, 2.1407960774863644, 2.0059922202278928, 0.47890297334842413, 5],
    60: [-2.2166337944426711, 0.5062921232258929, 2.1840653138716957, 2.0005703800933308, 0.56980955325144578, 6],
    70: [-1.539986886356792, 0.5957898438638709, 2.1892890458094985, 1.9869036902726311, 0.65887552960250628, 7],
    80: [-0.65518482438756853, 0.69421763511471857, 2.1410933331953022, 1.921628384296215, 0.74584409723386236, 8],
}


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
            self.count["damaged lines"] += "removed the last line of hills file H" in log
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
        self.assertEqual(len(hill_lines(expected)), self.STEPS // 10)
        if "grid" in self.bias:
            self.assertEqual(work.read("G"), whole.read("G"))
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

    def test_killed(self):
        self.random = random.Random(4711)
        self.count = dict.fromkeys(("continued runs", "damaged lines", "moved hills", "unfinished restart files"), 0)
        unbroken = []
        for self.bias in (GRID, SUM):
            whole = Folder()
            begin = time.monotonic()
            whole.run(self.bias, f"run {self.STEPS} upto", restart="restart 30 ra rb")
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
                self.assertEqual(re.findall(r"^WARNING: (.*) \(\S+:\d+\)$", log, re.MULTILINE), [
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
        self.assertNotIn("WARNING", log)
        self.assertNotIn("earlier version", log)
        self.assertEqual(rows(log), {step: v for step, v in rows(whole).items() if step >= 80})
        self.assertEqual(work.read("H"), b"\n".join(hills.split(b"\n")[:-3]).replace(b"\n", b"\r\n") + b"\r\n" +
                         b"\n".join(later))

    def test_restart_files_of_earlier_versions(self):
        """The run continues as before. Files without a checksum of the hills: a line says that only the
        last hill is compared."""
        for bias, checksum in itertools.product((GRID, SUM), (False, True)):
            with self.subTest(bias, checksum=checksum):
                work = Folder()
                whole = work.run(bias, "run 200", restart="restart 100 r")
                hills = work.read("H")
                work.write("old", of_earlier_version(work.read("r.100"), 1 + ("c_d" in bias), checksum))
                self.assertNotIn("earlier version", work.run(bias, "run 0", old="r.100"))
                log = work.run(bias, "run 100", old="old")
                message = ("Fix coord/bias b: the restart file is of an earlier version without a checksum of the "
                        "hills: compared only the position of the last of 10 hills")
                self.assertEqual(log.count(message), 0 if checksum else 1)
                self.assertEqual(rows(log), {step: v for step, v in rows(whole).items() if step >= 100})
                self.assertEqual(work.read("H"), hills)

    def test_restart_file_that_an_earlier_version_wrote(self):
        """The run continues as in that version."""
        if lacks_newer_restart_files():
            return
        work = Folder()
        work.write("old", zlib.decompress(base64.b64decode(RESTART_OF_EARLIER_VERSION)))
        work.write("H", HILLS_OF_EARLIER_VERSION.encode())
        process = work.start("\n".join(map(on_device, CONTINUED.split("\n"))))
        self.assertEqual(process.wait(), 0, work.log()[-2000:])
        self.assertIn("compared only the position of the last of 5 hills", work.log())
        found = rows(work.log())
        self.assertEqual(sorted(found), sorted(OUTPUT_OF_EARLIER_VERSION))
        for step, expected in OUTPUT_OF_EARLIER_VERSION.items():
            for word, number in zip(found[step][0], expected):
                self.assertAlmostEqual(float(word), number, delta=1e-9)
        self.assertTrue(work.read("H").startswith(HILLS_OF_EARLIER_VERSION.encode()))
        self.assertEqual(len(hill_lines(work.read("H"))), 8)
        # The new restart file has the checksum of the old hills.
        self.assertEqual(of_earlier_version(work.read("new"), 2).count(b"coord/bias"), 1)

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

    def test_grids_of_earlier_versions(self):
        """These files have no checksums and, for several variables, columns of mixed derivatives:
        all their numbers are compared with the sum of the hills, and a message says so."""
        for bias in GRID, GRID2:
            with self.subTest(bias):
                work = Folder()
                work.run(bias, "run 80\nwrite_data data nocoeff")
                hills = work.read("H")
                words = bias.replace("write_grid 50", "append yes read_grid")
                expected = rows(work.run(words, "run 100", data="data"))
                lines = [line.replace(" # ", " ") for line in work.read("G").decode().split("\n")
                         if line[:11] not in ("# checksums", "# after the")]
                if bias == GRID2:
                    lines[0] += " der_c_d"
                work.write("H", hills)
                work.write("G", "\n".join(lines).encode())
                log = work.run(words, "run 100", data="data")
                self.assertIn("Fix coord/bias b: grid file G is of an earlier version without checksums: compared all its "
                              "numbers with the sum of its 5 hills", log)
                self.assertEqual(rows(log), expected)

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
