"""Files that PLUMED writes for fix coord/plumed: a restart needs the hills that the restart file names, incomplete lines are
removed, a full disk ends the run, and one run writes a file."""
# Processors: 2

import os
import re
import resource
import struct
import tempfile
import unittest

import numpy as np

import coordtest
import errortest
import plumedtest
from errortest import commands, error_of, errors_in, run_program, run_script, start_all, without_suffix
from test_plumed_errors import FIX, S, SYSTEM, put

# 64 atoms, S about 0.4. A hill every second step, 10 of them before the restart file of step 20.
METAD = "m: METAD ARG=s SIGMA=0.1 HEIGHT=1 PACE=2 FILE={0}/HILLS FMT=%25.17g\n"
PBMETAD = "p: PBMETAD ARG=s SIGMA=0.1 HEIGHT=1 PACE=2 FILE={0}/PB FMT=%25.17g\n"
OPES = "o: OPES_METAD ARG=s PACE=2 SIGMA=0.1 BARRIER=20 FILE={0}/KERNELS FMT=%.17g\n"
PRINT = "PRINT ARG=s STRIDE=2 FILE={0}/COLVAR\n"
HILLS = "HILLS", "PB", "KERNELS"
BEGIN, REST = SYSTEM.split("velocity")
REST = REST.split("\n", 1)[1]    # without the velocities

WAY_OUT = (" - give the file of that run, or use another fix ID, and RESTART as the first command of the PLUMED file, to "
           "continue with this file as it is")
WRITTEN = "when the restart file was written"
IN_USE = ("PLUMED's file {} is being written by another fix or run - give each fix and each partition its own PLUMED file, "
          "with other file names after FILE=, such as plumedfile plumed.${{p}}.dat with a variable p of style world")
LACKS = "Fix coord/plumed b: PLUMED's file {} lacks lines that PLUMED has written: {} - {}, and continue from an earlier restart file"
NO_ROOM = "make room on its disk"
CHANGED = "another program has changed it: give each run and each partition its own file"


def of_file(path):
    with open(path) as file:
        return file.read()


def lines_of(path):
    return of_file(path).splitlines(keepends=True)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Run(unittest.TestCase):
    """A run of 29 steps, with a restart file of step 20."""

    def first(self, text):
        """Run it, and keep a copy of its files."""
        self.folder = tempfile.mkdtemp(dir=coordtest.folder())
        self.path = put(S + text.format(self.folder))
        self.fix = f"{FIX}c_cv plumedfile {self.path} outfile {self.folder}/log temp 300"
        self.restart = f"{self.folder}/restart"
        lmp = errortest.start()
        commands(lmp, f"{BEGIN}velocity all create 300 4711\n{REST}{self.fix}\nrun 20\nwrite_restart {self.restart}\nrun 9")
        self.v = lmp.extract_fix("b", 0, 0)
        lmp.close()
        self.files = {name: of_file(self.at(name)) for name in os.listdir(self.folder)
                      if name not in ("restart", "log")}
        self.then = f"read_restart {self.restart}\n{REST}{self.fix}\nthermo_style custom step f_b c_cv\n" \
            "thermo_modify format float %.17g\nrun 9\n"

    def at(self, name):
        return f"{self.folder}/{name}"

    def reset(self):
        """Make the files those at the end of the first run."""
        for name in os.listdir(self.folder):
            if name != "restart":
                os.remove(self.at(name))
        for name, text in self.files.items():
            write(self.at(name), text)

    def now(self):
        return {name: of_file(self.at(name)) for name in os.listdir(self.folder) if name not in ("restart", "log")}

    def run_then(self, ranks=1):
        """Return the output of the restarted run and V at its end, and set S."""
        code, output = run_script(self.then, ranks)
        self.assertEqual(code, 0, output[-3000:])
        v, self.s = map(float, re.findall(r"^ +29 +(\S+) +(\S+)$", output, re.MULTILINE)[-1])
        return output, v

    def is_refused(self, message):
        """The restarted run ends with this message, and its files are as before."""
        before = self.now()
        results = start_all(run_script, [(self.then, ranks) for ranks in (1, 2)])
        for result in results:
            code, output = result.result()
            self.assertNotEqual(code, 0)
            self.assertEqual(errors_in(output), ["Fix coord/plumed b: " + message], output[-3000:])
        self.assertEqual(self.now(), before)


class Restart(Run):
    def cut(self, name):
        """Return the comments, the 10 lines of the restart file, and the 4 later ones."""
        lines = self.files[name].splitlines(keepends=True)
        comments = [line for line in lines if line.startswith("#")]
        lines = lines[len(comments):]
        self.assertEqual((len(lines), comments + lines), (14, self.files[name].splitlines(keepends=True)))
        self.assertEqual([round(1000 * float(line.split()[0])) for line in lines], list(range(2, 30, 2)))
        return comments, lines[:10], lines[10:]

    def test_hills_are_missing(self):
        """Lines at the end or in the middle, part of a line, a digit, or the file."""
        self.first(METAD + PBMETAD + OPES)
        for name in HILLS:
            path = self.at(name)
            comments, ten, later = self.cut(name)
            short = f"PLUMED's file {path} ends after {{}} of the 10 hills that it had {WRITTEN}, at time {{}} in place of " \
                f"0.02{WAY_OUT}"
            other = f"the first 10 hills of PLUMED's file {path} are not those that it had {WRITTEN}: their checksum " \
                f"differs{WAY_OUT}"
            none = f"PLUMED's file {path} has no hills or does not exist, but had 10 {WRITTEN}{WAY_OUT}"
            number = ten[4].split()[1]
            edited = ten[4].replace(number, number[:-3] + ("1" if number[-3] != "1" else "2") + number[-2:])
            self.assertNotEqual(edited, ten[4])
            for title, lines, message in (("last six", comments + ten[:4], short.format(4, "0.008")),
                                          ("half of the last", comments + ten[:9] + [ten[9][:40]], short.format(9, "0.018")),
                                          ("one of the first, and later hills", comments + ten[1:] + later, other),
                                          ("a digit", comments + ten[:4] + [edited] + ten[5:], other),
                                          ("all", comments, none), ("file", None, none)):
                with self.subTest(name, missing=title):
                    self.reset()
                    os.remove(path)
                    if lines is not None:
                        write(path, "".join(lines))
                    self.is_refused(message)
        self.reset()
        _, v = self.run_then()
        self.assertAlmostEqual(v, self.v, delta=coordtest.rounded(1e-9))

    def test_incomplete_last_line(self):
        """A later line without an end is removed, also from a file that PLUMED only prints to, and the run continues as an
        uninterrupted one."""
        self.first(METAD + PBMETAD + OPES + PRINT)
        for ranks, where in (1, 0.5), (2, 0.5), (1, None):
            with self.subTest(ranks=ranks, where=where):
                self.reset()
                rests = {}
                for name in HILLS:
                    comments, ten, later = self.cut(name)
                    number = re.match(r"\s*0\.02", later[0])
                    # the line of time 0.022 as 0.02, or half of it
                    rests[name] = later[0][:number.end()] if where is None else later[0][:int(where * len(later[0]))]
                    write(self.at(name), "".join(comments + ten) + rests[name])
                rests["COLVAR"] = " 0.024000 0.3"
                write(self.at("COLVAR"), self.files["COLVAR"] + rests["COLVAR"])
                output, v = self.run_then(ranks)
                for name, rest in rests.items():
                    self.assertIn(f"Fix coord/plumed b: removed the last line of {self.at(name)}, which had no end: {rest}\n",
                                  output)
                    self.assertEqual([line for line in lines_of(self.at(name)) if not re.fullmatch(r"(#.*|[^#]*)\n", line)], [])
                self.assertAlmostEqual(v, self.v, delta=coordtest.rounded(1e-9))
                for name in HILLS:
                    found = plumedtest.read_columns(self.at(name))
                    np.testing.assert_array_equal(np.rint(1000 * found["time"]), np.arange(2, 30, 2), name)

    def test_edited_comments_and_later_hills(self):
        """Other comments, and hills after the restart file, do not matter."""
        self.first(METAD)
        comments, ten, later = self.cut("HILLS")
        write(self.at("HILLS"), "".join(comments + ten[:3] + comments + ["# mine\n"] + ten[3:] + later[:2]))
        output, v = self.run_then()
        self.assertIn(f"hills after the step of the restart file moved from {self.at('HILLS')} to {self.at('bck.0.HILLS')}",
                      output)
        self.assertAlmostEqual(v, self.v, delta=coordtest.rounded(1e-9))

    def test_way_out(self):
        """Another fix ID and RESTART continue with the hills of the file."""
        self.first(METAD)
        comments, ten, _ = self.cut("HILLS")
        write(self.at("HILLS"), "".join(comments + ten[:4] + [ten[4][:30]]))
        write(self.path, "RESTART\n" + of_file(self.path))
        self.then = self.then.replace("fix b ", "fix again ").replace("f_b", "f_again")
        output, v = self.run_then()
        self.assertIn(f"Fix coord/plumed again: removed the last line of {self.at('HILLS')}, which had no end", output)
        hills = plumedtest.read_columns(self.at("HILLS"))
        np.testing.assert_array_equal(np.rint(1000 * hills["time"]), [2, 4, 6, 8, 22, 24, 26, 28])
        u, end = (self.s - hills["s"])**2 / (2 * 0.1**2), np.exp(-6.25)    # PLUMED's hills
        expected = np.where(u < 6.25, (np.exp(-u) - end) / (1 - end), 0).sum() / plumedtest.EV
        self.assertGreater(expected, 0.001)
        self.assertAlmostEqual(v, expected, delta=1e-9)

    def test_lines_of_another_run(self):
        """Lines after those of the restart file do not act, also if another run from step 0 appended them."""
        for text in METAD, PBMETAD, OPES:
            with self.subTest(text):
                self.first(text)
                name, = set(self.files) & set(HILLS)
                comments, ten, later = self.cut(name)
                write(self.at(name), "".join(comments + ten + ten[:4] + later[:1]))
                output, v = self.run_then()
                self.assertIn(f"hills after the step of the restart file moved from {self.at(name)} to "
                              f"{self.at('bck.0.' + name)}", output)
                self.assertEqual(lines_of(self.at("bck.0." + name)), comments + ten[:4] + later[:1])
                self.assertAlmostEqual(v, self.v, delta=coordtest.rounded(1e-9))

    def test_restart_of_one_action(self):
        """RESTART=YES of an action acts without the command RESTART, and against RESTART NO."""
        self.first(METAD)
        comments, ten, _ = self.cut("HILLS")
        text = of_file(self.path).replace("METAD ", "METAD RESTART=YES ")
        write(self.path, "RESTART NO\n" + text)
        write(self.at("HILLS"), "".join(comments + ten[:4]))
        self.is_refused(f"PLUMED's file {self.at('HILLS')} ends after 4 of the 10 hills that it had {WRITTEN}, at time 0.008 in "
                        f"place of 0.02{WAY_OUT}")
        self.reset()
        output, v = self.run_then()
        self.assertIn("hills after the step of the restart file moved", output)
        self.assertAlmostEqual(v, self.v, delta=coordtest.rounded(1e-9))
        write(self.path, text)
        write(self.at("HILLS"), "".join(comments + ten) + " 0.022\t\x01")
        self.then = self.then.replace("fix b ", "fix again ").replace("f_b", "f_again")
        output, _ = self.run_then()
        self.assertIn(f"removed the last line of {self.at('HILLS')}, which had no end:  0.022\\x09\\x01\n", output)

    def test_state_that_is_only_read(self):
        """A state that PLUMED only reads needs no end of its last line. Its run ends well."""
        self.first(OPES.rstrip() + " STATE_WFILE={0}/STATE COMPRESSION_THRESHOLD=0\n")
        lmp = errortest.start()
        commands(lmp, f"{BEGIN}velocity all create 300 4711\n{REST}{self.fix}\nrun 20\nwrite_restart {self.restart}")
        lmp.close()
        write(self.path, of_file(self.path).replace("STATE_WFILE", "STATE_RFILE"))
        write(self.at("STATE"), of_file(self.at("STATE")).rstrip("\n"))
        self.run_then()

    def test_state(self):
        """A state of OPES lost lines."""
        self.first(OPES.rstrip() + " STATE_WFILE={0}/STATE STATE_RFILE={0}/STATE COMPRESSION_THRESHOLD=0\n")
        lmp = errortest.start()
        commands(lmp, f"{BEGIN}velocity all create 300 4711\n{REST}{self.fix}\nrun 20\nwrite_restart {self.restart}")
        lmp.close()
        lines = lines_of(self.at("STATE"))
        self.assertEqual(sum(not line.startswith("#") for line in lines), 10)
        for missing in 1, 6:
            write(self.at("STATE"), "".join(lines[:-missing]))
            self.is_refused(f"PLUMED's state in file {self.at('STATE')} has {10 - missing} lines, but had 10 {WRITTEN} - give "
                            "the file of that run after STATE_RFILE")
        write(self.at("STATE"), "".join(lines))
        _, v = self.run_then()
        self.assertAlmostEqual(v, self.v, delta=1e-4)    # the state has few digits

    def test_inputs_that_read_no_hills(self):
        """Hills are not checked if PLUMED does not read them, or if the restart file has none of this file."""
        self.first(METAD)
        comments, ten, _ = self.cut("HILLS")
        text = of_file(self.path)
        for title, edited in (("new files", text.replace("METAD ", "METAD RESTART=NO ")), ("all new", "RESTART NO\n" + text)):
            with self.subTest(title):
                self.reset()
                write(self.at("HILLS"), "".join(comments + ten[:4]))
                write(self.path, edited)
                self.run_then()
                steps = np.rint(1000 * plumedtest.read_columns(self.at("HILLS"))["time"])
                np.testing.assert_array_equal(steps, [22, 24, 26, 28])
        self.reset()
        write(self.at("OTHER"), "".join(comments + ten[:4]))
        write(self.path, text.replace("/HILLS", "/OTHER"))
        output, _ = self.run_then()
        self.assertIn(f"Fix coord/plumed b: {self.at('OTHER')} is not checked: the restart file has no hills of this file\n",
                      output)

    def test_incomplete_restart_file(self):
        """The state in the restart file ends before the contents of hills files, or in them."""
        self.first(METAD)
        with open(self.restart, "rb") as file:
            text = file.read()
        begin = text.index(struct.pack("q", len("PLUMED")) + b"PLUMED") - 35    # in the first part of the state
        size, = struct.unpack("i", text[begin - 4:begin])
        state, name = text[begin:begin + size], self.at("HILLS").encode()
        for end in state.rindex(struct.pack("qq", 1, len(name)) + name), len(state) - 8:
            new = state[:end]
            head = text[:begin - 16] + struct.pack("i", 12 + end) + text[begin - 12:begin - 4] + struct.pack("i", end)
            with open(self.restart, "wb") as file:
                file.write(head + new + text[begin + size:])
            self.is_refused("its saved state is incomplete - use another restart file, or another fix ID")


class FullDisk(unittest.TestCase):
    """Hills that PLUMED cannot write end the run before a restart file is written, or at the end of the run."""

    def test_limit(self):
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        path = put(S + METAD.format(folder))
        for run in (f"restart 20 {folder}/restart.*\nrun 30", "run 20", "fix h all halt 1 v_step >= 17 error continue\nrun 100"):
            with self.subTest(run):
                lmp = errortest.start()
                commands(lmp, f"{SYSTEM}variable step equal step\n{FIX}c_cv plumedfile {path} outfile {folder}/log\n"
                         "thermo_modify flush no")
                *begin, last = run.split("\n")
                commands(lmp, "\n".join(begin) or "thermo 1")
                # Python ignores the signal for a file that grows beyond the limit, so that the
                # write fails instead.
                soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (800, hard))
                try:
                    message, _ = error_of(lmp, last)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                self.assertEqual(message, LACKS.format(f"{folder}/HILLS", "its last line has no end", NO_ROOM))
                self.assertEqual(os.path.getsize(f"{folder}/HILLS"), 800)
                self.assertLess(lmp.extract_global("ntimestep"), 21)
                lmp.close()
                self.assertFalse([name for name in os.listdir(folder) if name.startswith("restart")])


class OneWriter(unittest.TestCase):
    """Two fixes, instances or partitions must not write one file."""

    def test_two_fixes(self):
        for text, name, kind in ((METAD, "HILLS", "hills"), (PBMETAD, "PB", "hills"), (OPES, "KERNELS", "hills"),
                                 (PRINT, "COLVAR", "PRINT"),
                                 ("DUMPATOMS ATOMS=1 FILE={0}/dump.xyz\n", "dump.xyz", "DUMPATOMS")):
            with self.subTest(name):
                folder = tempfile.mkdtemp(dir=coordtest.folder())
                path = put(S + text.format(folder))
                lmp = errortest.start()
                fix = f"coord/plumed c_cv plumedfile {path} outfile {folder}/log temp 300"
                commands(lmp, f"{SYSTEM}fix b all {fix}\nrun 4\nfix b2 all {fix.replace('/log', '/log2')}")
                before = of_file(f"{folder}/{name}")
                found, _ = error_of(lmp, "run 0")
                path = f"{folder}/{name}"
                self.assertEqual(without_suffix(found), f"Fix coord/plumed b2: file of {kind} {path} is also the file of {kind} "
                                 "of fix b of style coord/plumed - use one file for each")
                self.assertEqual(error_of(lmp, "run 0")[0], found)
                self.assertEqual(of_file(path), before)
                # The other LAMMPS instance
                other = errortest.start()
                commands(other, f"{SYSTEM}fix b all {fix}")
                self.assertEqual(error_of(other, "run 0")[0], "Fix coord/plumed b: " + IN_USE.format(path))
                commands(lmp, "unfix b2\nunfix b")
                commands(other, "run 4")    # the file is free
                other.close()
                lmp.close()

    def test_other_files(self):
        """The log, states and grids have one writer too."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        grid = " GRID_MIN=0 GRID_MAX=2 GRID_BIN=99"
        for text, log, message in (
                (OPES.rstrip() + " STATE_WFILE={0}/STATE STATE_WSTRIDE=10\n", "log2", "file of STATE_WFILE {0}/STATE"),
                (METAD.rstrip() + grid + " GRID_WFILE={0}/GRID GRID_WSTRIDE=10\n", "log2", "file of GRID_WFILE {0}/GRID"),
                (PBMETAD.rstrip() + grid + " GRID_WFILES={0}/GRIDS GRID_WSTRIDE=10\n", "log2", "file of GRID_WFILES {0}/GRIDS"),
                ("RESTRAINT ARG=s AT=0 KAPPA=1\n", "log", "log {0}/log")):
            with self.subTest(message):
                lmp = errortest.start()
                commands(lmp, SYSTEM)
                for fix, outfile in ("b", "log"), ("b2", log):
                    path = put(S + text.format(folder).replace("FILE=" + folder + ("/KERNELS" if "KER" in text else "/HILLS"),
                                                               f"FILE={folder}/{fix}.hills").replace("/PB", f"/{fix}.PB"))
                    commands(lmp, f"fix {fix} all coord/plumed c_cv plumedfile {path} outfile {folder}/{outfile} temp 300")
                kind, name = message.format(folder).rsplit(" ", 1)
                found = without_suffix(error_of(lmp, "run 0")[0])
                self.assertEqual(found, f"Fix coord/plumed b2: {kind} {name} is also the {kind} of fix b of style coord/plumed - "
                                 "use one file for each")
                lmp.close()

    def test_devices(self):
        """Several fixes may print to a device that leads to a file. No text is removed from it."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        with open(f"{folder}/out", "a") as out:
            out.write("no end")
            out.flush()
            path = put(f"RESTART\n{S}PRINT ARG=s FILE=/dev/fd/{out.fileno()}\n")
            lmp = errortest.start()
            commands(lmp, SYSTEM)
            for fix in "b", "b2":
                commands(lmp, f"fix {fix} all coord/plumed c_cv plumedfile {path} outfile {folder}/{fix}.log temp 300")
            commands(lmp, "run 2")
            lmp.close()
        text = of_file(f"{folder}/out")
        self.assertTrue(text.startswith("no end#! FIELDS time s\n"), text)
        self.assertEqual(text.count(" 0.002000 "), 2)

    def test_names_that_are_missing(self):
        """PLUMED itself reports a missing name."""
        for text, message in (("DUMPATOMS ATOMS=1\n", "FILE"), ("DUMPATOMS ATOMS=1 FILE=\n", "FILE"),
                              ("PRINT ARG=s FILE=\n", "")):
            with self.subTest(text):
                lmp = errortest.start()
                commands(lmp, f"{SYSTEM}{FIX}c_cv plumedfile {put(S + text)} outfile {coordtest.folder()}/log")
                found = error_of(lmp, "run 0")[0]
                self.assertRegex(found, "^Fix coord/plumed b: PLUMED: .*" + message)
                self.assertNotIn("filesystem", found)
                lmp.close()

    def test_working_folder(self):
        """PLUMED opens a file of hills again after a flush, in the new folder."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        os.mkdir(f"{folder}/sub")
        before = os.getcwd()
        for name in "HILLS", f"{folder}/absolute":
            path = put(S + METAD.replace("{0}/HILLS", name))
            lmp = errortest.start()
            try:
                os.chdir(folder)
                commands(lmp, f"{SYSTEM}{FIX}c_cv plumedfile {path} outfile {folder}/log\nrun 4\nshell cd sub")
                if name == "HILLS":
                    self.assertEqual(error_of(lmp, "run 4")[0], "Fix coord/plumed b: PLUMED's file HILLS is in another folder "
                                     "than before: the working folder has changed - use absolute paths after FILE=, or leave "
                                     "out shell cd")
                else:
                    commands(lmp, "run 4")
            finally:
                os.chdir(before)
                lmp.close()

    def test_partitions(self):
        """The second of two partitions with the same file ends the run. With a file each, both end well."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        os.symlink(folder, f"{folder}.link")
        for p, where in ("1", folder), ("2", f"{folder}.link"):
            write(f"{folder}/shared.{p}.dat", S + METAD.format(where))
            write(f"{folder}/own.{p}.dat", S + METAD.format(where).replace("HILLS", "HILLS." + p))
        # The first partition waits with its file open.
        script = f"variable p world 1 2\n{SYSTEM}{FIX}c_cv plumedfile {folder}/NAME.$p.dat outfile {folder}/log\n" \
            'if "$p == 2" then "shell sleep 2"\nrun 4\nif "$p == 1" then "shell sleep 4"\n'
        for name, size in ("shared", None), ("own", 2):
            path = f"{folder}/in.{name}"
            write(path, script.replace("NAME", name))
            code, output = run_program([*coordtest.lmp_program(), "-in", path, "-partition", "2x1", "-log", "none", "-screen",
                                        f"{folder}/screen", "-nocite"], 2)
            output += "".join(of_file(f"{folder}/{screen}") for screen in os.listdir(folder) if screen.startswith("screen."))
            if size:
                self.assertEqual(code, 0, output[-3000:])
                for p in "12":
                    self.assertEqual(len(plumedtest.read_columns(f"{folder}/HILLS.{p}")["s"]), size)
            else:
                self.assertNotEqual(code, 0)
                self.assertIn("Fix coord/plumed b: " + IN_USE.format(f"{folder}.link/HILLS"), output)

    def test_start_together(self):
        """Of two partitions that open the same file at the same time, one ends the run. PLUMED itself moves the file of the
        first one away, and both then write to that of the second."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        write(f"{folder}/plumed.dat", S + METAD.format(folder))
        write(f"{folder}/in", f"variable p world 1 2\n{SYSTEM}{FIX}c_cv plumedfile {folder}/plumed.dat outfile {folder}/log.$p\n"
              "run 4\nshell sleep 5\n")
        for trial in range(5):
            with self.subTest(trial=trial):
                code, output = run_program([*coordtest.lmp_program(), "-in", f"{folder}/in", "-partition", "2x1", "-log", "none",
                                            "-screen", f"{folder}/screen", "-nocite"], 2)
                output += "".join(of_file(f"{folder}/screen.{p}") for p in (0, 1))
                self.assertNotEqual(code, 0)
                self.assertIn("Fix coord/plumed b: " + IN_USE.format(f"{folder}/HILLS"), output)

    def test_replaced_file(self):
        """A program that replaces the file during the run is noticed at the end of the run."""
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        path = put(S + METAD.format(folder))
        # PLUMED opens the file again at each flush.
        for change, problem in ((lambda name: os.rename(name, name + ".old"), "it was replaced by another file"),
                                (lambda name: os.truncate(name, 300), "it has 300 bytes in place of ")):
            with self.subTest(problem):
                lmp = errortest.start()
                commands(lmp, f"{SYSTEM}{FIX}c_cv plumedfile {path} outfile {folder}/log\nrun 10")
                change(f"{folder}/HILLS")
                message, _ = error_of(lmp, "run 1")
                self.assertRegex(message, "^" + re.escape(LACKS.format(f"{folder}/HILLS", problem, CHANGED)).replace(
                    re.escape("in place of  - "), r"in place of \d+ - ") + "$")
                lmp.close()


def setUpModule():
    os.chdir(coordtest.folder())


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
