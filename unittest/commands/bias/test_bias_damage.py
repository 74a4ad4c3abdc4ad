"""Files that fixes and pair styles of GPUCOORD cannot use: damaged restart files, files of other fixes, and a full disk. Each is
an error on all ranks that names the fix and the file."""
# Processors: 2
# Without: gpu

import os
import random
import re
import resource
import struct
import tempfile
import unittest

import coordtest
import test_bias_hills
from errortest import commands, error_of, errors_in, few, run_script, start, start_all, without_suffix
from test_bias_errors import FIX, METAD, SYSTEM, VARIABLES, put_files, read
from test_bias_hills import GRID, SUM, Folder

DAMAGED = "its saved state is damaged - use another restart file"
INCOMPLETE = "its saved state is incomplete - use another restart file, or another fix ID"
OTHER = ("the restart file has kind metad with {} variables for this fix ID, but the command has kind metad with 2 - use the "
         "command of the earlier run, or another fix ID")
FORMAT = ("the restart file has its state in {}, but this version of GPUCOORD needs format 2 - continue with the version that wrote "
          "it, or use another fix ID")
OLD = "a format from before version 1.0"
WAY_OUT = " - continue with the version that wrote it, or use another fix ID"
HARMONIC = "c_c c_d harmonic k 1 1 s0 4 3"
HUGE = 0x7fffffff
FULL = " - it has all hills before this one; make room, and continue from the last restart file"


def script(*arguments, **options):
    """Return a script of test_bias_hills without its output, which only fits metad."""
    return re.sub("^thermo_style .*$", "", test_bias_hills.script(*arguments, **options), flags=re.MULTILINE)


def positions_of(restart):
    """Return the positions of: the format, the size of the state, the state, in its first part the version, the length of the
    kind, the kind, the number of variables, and the first step; and in its second part the name, V, and the number of values S."""
    at = re.search(rb"coord/bias(/kk)?\0", restart).end()
    state = at + 16
    version = state + 16 + len("fix")    # after the number of parts and the name
    length = version + 16
    kind = length + 8
    variables = kind + struct.unpack_from("<q", restart, length)[0]
    name = variables + 24
    energy = name + len("bias") + 16
    return {"format": at + 4, "size": at + 12, "state": state, "version": version, "length": length, "kind": kind,
            "variables": variables, "first": variables + 8, "name": name, "energy": energy, "count": energy + 16}


class RestartOfBiases(unittest.TestCase):
    def read(self, work, bias, content):
        """Return the exit code and the error of a run that reads this restart file."""
        work.write("bad", content)
        code = work.start(script(bias, "run 0", old="bad")).wait()
        self.assertGreaterEqual(code, 0, f"signal {-code}")
        return code, [without_suffix(error) for error in errors_in(work.log())]

    def written(self, bias):
        work = Folder()
        self.assertEqual(work.start(script(bias.replace("write_grid 50 G", ""), "run 20\nwrite_restart r")).wait(), 0, work.log())
        return work, work.read("r")

    def test_fields(self):
        for bias, kind in ((HARMONIC, b"harmonic"), (SUM, b"metad")):
            work, good = self.written(bias)
            at = positions_of(good)
            size, = struct.unpack_from("<i", good, at["size"])
            self.assertEqual(good[at["kind"]:at["variables"]], kind)
            self.assertEqual(good[at["name"]:at["name"] + 4], b"bias")
            other = OTHER.replace("metad", kind.decode())
            version = "part fix of its saved state has version 2, but this version of GPUCOORD needs version 1" + WAY_OUT
            for field, form, value, message in (
                    ("size", "<i", HUGE, DAMAGED), ("size", "<i", size + 4096, DAMAGED), ("version", "<q", 2, version),
                    ("state", "<q", HUGE, INCOMPLETE), ("state", "<q", -1, DAMAGED), ("name", "<i", 0, DAMAGED),
                    ("name", "<4s", b"walk", f"its saved state has no part bias{WAY_OUT}"),
                    ("size", "<i", -1, DAMAGED), ("size", "<i", 0, INCOMPLETE), ("size", "<i", size - 1, INCOMPLETE),
                    ("length", "<q", HUGE, INCOMPLETE), ("length", "<q", -1, INCOMPLETE), ("length", "<q", 2**62, INCOMPLETE),
                    ("length", "<q", len(kind) + 1, INCOMPLETE), ("kind", "<i", -1, DAMAGED),
                    ("variables", "<q", HUGE, other.format(HUGE)), ("variables", "<q", 3, other.format(3)),
                    ("count", "<q", HUGE, INCOMPLETE),
                    ("count", "<q", 3, "its saved state has 3 numbers, but this command needs 2 - use the command and the version "
                     "of GPUCOORD that wrote it, or another fix ID"),
                    ("format", "<d", float("nan"), DAMAGED), ("format", "<d", 1e300, DAMAGED), ("format", "<d", -0.5, DAMAGED),
                    ("format", "<d", -1, FORMAT.format("format 1")), ("format", "<d", -3, FORMAT.format("format 3")),
                    ("format", "<d", 0, FORMAT.format(OLD)), ("format", "<d", 1005, FORMAT.format(OLD))):
                with self.subTest(bias, field=field, value=value):
                    changed = bytearray(good)
                    struct.pack_into(form, changed, at[field], value)
                    code, errors = self.read(work, bias, bytes(changed))
                    self.assertEqual((code, errors), (1, ["Fix coord/bias b: " + message]))
            code, errors = self.read(work, bias, good)
            self.assertEqual((code, errors), (0, []))

    def test_any_field(self):
        """No other change of the state ends LAMMPS by a signal."""
        numbers = random.Random(4711)
        for bias in HARMONIC, GRID:
            work, good = self.written(bias)
            at = positions_of(good)
            size, = struct.unpack_from("<i", good, at["size"])
            hills = work.read("H") if "metad" in bias else b""
            for _ in range(12):
                changed = bytearray(good)
                position = numbers.randrange(at["format"], at["state"] + size - 8)
                struct.pack_into("<q", changed, position, numbers.choice((HUGE, -1, 2**62, 0)))
                with self.subTest(bias, position=position - at["format"]):
                    if hills:
                        work.write("H", hills)
                    code, errors = self.read(work, bias, bytes(changed))
                    self.assertEqual(len(errors), code, errors)
                    for error in errors:
                        self.assertRegex(error, "^Fix coord/bias b: ")


BEGIN = "units lj\natom_modify map array sort 0 0\n"


class RestartOfPairStyles(unittest.TestCase):
    def test_pair_coord(self):
        work = Folder()
        text = BEGIN + test_bias_hills.START + coordtest.on_device("pair_style coord") + "\npair_coeff 1 1 1.0 cubic d0 0.8 dmax 1.5"
        self.assertEqual(work.start(text + "\nrun 0\nwrite_restart r\n").wait(), 0, work.log())
        good = work.read("r")
        name = good.index(struct.pack("<i", 5) + b"cubic")
        settings = good.index(struct.pack("<d", -2.0) + struct.pack("<i", 0))    # format 2, engine auto
        keyword = good.index(struct.pack("<i", 4) + b"dmax")
        damaged = "Pair coord: its data in the restart file are damaged - use another restart file"
        for position, value in ((name - 4, 0), (name, HUGE), (name, -1), (name, 4), (keyword, HUGE), (keyword, -5), (keyword + 4, -1),
                                (settings + 8, 7), (settings + 12, -1), (settings + 16, 1000)):
            with self.subTest(position=position - settings, value=value):
                changed = bytearray(good)
                struct.pack_into("<i", changed, position, value)
                work.write("bad", bytes(changed))
                code = work.start(BEGIN + "read_restart bad\nrun 0\n").wait()
                found = errors_in(work.log())
                if (position, value) == (name, 4):
                    self.assertRegex(found[0], "^Pair coord: the restart file has the switching function 'cubi'")
                else:
                    self.assertEqual((code, found), (1, [damaged]))


class FilesOfOtherFixes(unittest.TestCase):
    GRID = METAD + " grid 0 90 bins 900 write_grid 10 G"

    def check(self, cases):
        """Each case runs in its own folder, on 1 and 2 ranks: (commands, error or None)."""
        scripts = []
        for k, (text, _) in enumerate(cases):
            for ranks in 1, 2:
                folder = f"folder{len(os.listdir('.'))}"
                os.mkdir(folder)
                scripts.append((f"shell cd {folder}\n{SYSTEM}{text}\n", ranks))
        messages = [message for _, message in cases for _ in (1, 2)]
        scripts, messages = few(scripts), few(messages)
        for (text, ranks), message, result in zip(scripts, messages, start_all(run_script, scripts)):
            with self.subTest(text, ranks=ranks):
                code, output = result.result()
                self.assertEqual([without_suffix(error) for error in errors_in(output)], [message] if message else [], output)
                self.assertEqual(code == 0, message is None)

    def test_files(self):
        two = FIX + self.GRID + "\nfix b2 all coord/bias " + METAD
        error = "Fix coord/bias b2: {} {} is also the {} of fix b of style coord/bias - use one file for each"
        grid = " grid 0 90 bins 900 write_grid 10 "
        self.check([
            (two.replace("file H", "file H1", 1) + grid + "G\nrun 0", error.format("grid file", "G", "grid file")),
            (two + grid.replace("grid 10 ", "grid 10 ../") + "x\nrun 0", error.format("hills file", "H", "hills file")),
            (two.replace("write_grid 10 G", "write_grid 10 W")[:-1] + "G" + grid + "W\nrun 0",
             error.format("grid file", "W", "grid file")),
            # The hills file of one is the grid file of the other.
            (two[:-1] + "./G\nrun 0", error.format("hills file", "./G", "grid file")),
            (two[:-1] + "I" + grid + "H\nrun 0", error.format("grid file", "H", "hills file")),
            (two.replace("file H", "file M", 1).replace("\nfix b2", "\nrun 0\nshell ln -s M L\nfix b2")[:-1] + "L\nrun 0",
             error.format("hills file", "L", "hills file")),
            # Right: other files; the same names after the other fix is gone; and a device.
            (two[:-1] + "I" + grid + "J\nrun 20", None),
            (FIX + METAD + "\nrun 0\nunfix b\nfix b2 all coord/bias " + METAD + "\nrun 0", None),
            (FIX + METAD + "\nrun 0\n" + FIX + METAD + "\nrun 0", None),
            (f"{FIX}{METAD[:-1]}/dev/null\nfix b2 all coord/bias {METAD[:-1]}/dev/null\nrun 20", None),
            # The same name in another folder
            (FIX + METAD + "\nrun 0\nshell mkdir sub\nshell cd sub\nfix b2 all coord/bias " + METAD + "\nrun 0", None),
            (FIX + METAD + "\nrun 0\nshell mkdir sub\nshell cd sub\nfix b2 all coord/bias " + METAD[:-1] + "../H\nrun 0",
             error.format("hills file", "../H", "hills file")),
            # An earlier fix in the list whose first run is later
            (FIX + "c_cv harmonic k 1 s0 2\nfix b2 all coord/bias " + METAD + "\nrun 0\n" + FIX + METAD + "\nrun 0",
             "Fix coord/bias b: hills file H is also the hills file of fix b2 of style coord/bias - use one file for each")])

    def test_files_of_plumed(self):
        if not os.environ.get("GPUCOORD_TEST_PLUMED"):
            coordtest.skip_part("fix coord/plumed", "GPUCOORD_TEST_PLUMED is not set")
            return
        import plumedtest    # noqa: F401: tells PLUMED's path to LAMMPS
        plumed = []
        for k, text in enumerate(("METAD ARG=s HEIGHT=1 PACE=5 SIGMA=0.1", "METAD ARG=s HEIGHT=1 PACE=5 SIGMA=0.1 FILE=I",
                                  "PRINT ARG=s FILE=COLVAR", "PRINT ARG=s FILE=./COLVAR\nRESTRAINT ARG=s AT=1 KAPPA=1")):
            path = os.path.abspath(f"plumed{k}.dat")
            with open(path, "w") as file:
                file.write("s: EXTRACV NAME=cv\n" + text + "\n")
            plumed.append(f"all coord/plumed c_cv plumedfile {path} outfile log.{k}\n")
        error = "Fix coord/{} q: {} {} is also the {} of fix p of style coord/{} - use one file for each"
        self.check([
            (f"fix p {plumed[0]}fix q all coord/bias {METAD[:-1]}HILLS\nrun 0",
             error.format("bias", "hills file", "HILLS", "file of hills", "plumed")),
            (f"fix p all coord/bias {METAD[:-1]}I\nfix q {plumed[1]}run 0",
             error.format("plumed", "file of hills", "I", "hills file", "bias")),
            (f"fix p {plumed[2]}fix q {plumed[3]}run 0",
             error.format("plumed", "file of PRINT", "./COLVAR", "file of PRINT", "plumed")),
            (f"fix p {plumed[2]}fix q {plumed[0].replace('log.0', 'log.2')}run 0",
             error.format("plumed", "log", "log.2", "log", "plumed")),
            (f"fix p {plumed[0]}fix q {plumed[1]}run 0", None)])


class FullDisk(unittest.TestCase):
    def test_full_from_the_start(self):
        """A device is not renamed."""
        put_files()
        os.symlink("/dev/full", "H")
        for keyword, message in (("", "cannot write hills file H: No space left on device - make room, or allow writing, in its "
                                  "folder, and start the run again"),
                                 (" append yes", "cannot read hills file H: it is not a regular file")):
            with self.subTest(keyword):
                code, output = run_script(SYSTEM + FIX + METAD + keyword + "\nrun 20\n", 2)
                self.assertEqual(errors_in(output), ["Fix coord/bias b: " + message])
                self.assertNotEqual(code, 0)
                self.assertEqual(os.readlink("H"), "/dev/full")
                self.assertFalse([name for name in os.listdir(".") if name.startswith("bck")])

    @coordtest.not_where(coordtest.ON_KOKKOS_GPU, coordtest.NO_SAME_BITS)
    def test_full_in_the_run(self):
        """The disk is full in the middle of a line: the file ends with the previous hill or kernel,
        and the run can continue from there."""
        opes = "c_cv opes barrier 0.2 temp 300 sigma 0.2 pace 10 file H"
        for words, noun in (METAD, "hill"), (opes, "kernel"):
            self.check_full_in_the_run(FIX + words.replace("pace 10", "pace 1"), noun)

    def check_full_in_the_run(self, fix, noun):
        put_files()
        for name in os.listdir("."):
            if name.endswith("H"):
                os.remove(name)
        again = "clear\nread_restart r\n" + VARIABLES + fix
        lmp = start()
        commands(lmp, SYSTEM + fix + "\nrun 5\nwrite_restart r\nrun 15")
        unlimited = read("H")
        ends = [k + 1 for k, byte in enumerate(unlimited) if byte == 10]
        first = unlimited.count(b"#")    # lines of the header
        self.assertEqual(len(ends), first + 20)
        last = first + 9
        for limit in ends[last] + 1, ends[last] + 20, ends[last + 1] - 1, ends[last + 1]:
            with self.subTest(noun, limit=limit):
                commands(lmp, again + "\nrun 0")
                # Python ignores the signal for a file that grows beyond the limit, so that the
                # write fails instead.
                soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
                try:
                    message, _ = error_of(lmp, "run 15")
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                self.assertEqual(message, f"Fix coord/bias b: cannot write {noun}s file H: File too large" +
                                 FULL.replace("hill", noun))
                self.assertEqual(read("H"), unlimited[:ends[last + (limit == ends[last + 1])]])
                commands(lmp, again + "\nrun 20 upto")
                self.assertEqual(read("H"), unlimited)
        lmp.close()

    def test_full_at_a_state_file(self):
        """The kernels file has all kernels, and the state file before remains."""
        put_files()
        fix = FIX + "c_cv opes barrier 0.2 temp 300 sigma 0.2 pace 10 file K write_state 10 S"
        lmp = start()
        commands(lmp, SYSTEM + fix + "\nrun 20\nwrite_restart r")
        state = read("S")
        os.symlink("/dev/full", "S.part")
        message, _ = error_of(lmp, "run 20")
        self.assertEqual(message, "Fix coord/bias b: cannot write S: No space left on device - all kernels are in K; make room, or "
                                  "allow writing, in its folder, and continue from the last restart file")
        self.assertEqual(read("S"), state)
        self.assertEqual(sum(line[:1] not in (b"", b"#") for line in read("K").split(b"\n")), 3)
        if os.path.islink("S.part"):
            os.remove("S.part")
        commands(lmp, "clear\nread_restart r\n" + VARIABLES + fix + "\nrun 20")
        self.assertEqual(sum(line[:1] not in (b"", b"#") for line in read("K").split(b"\n")), 4)
        self.assertGreater(len(read("S")), 0)
        lmp.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
