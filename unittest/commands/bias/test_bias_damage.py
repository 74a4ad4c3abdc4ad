"""Damaged restart files of fixes and pair styles are an error that names the fix or the style."""

import os
import random
import re
import struct
import tempfile
import unittest

import coordtest
import test_bias_hills
from errortest import errors_in, without_suffix
from test_bias_hills import GRID, SUM, Folder

DAMAGED = "its saved state is damaged - use another restart file"
INCOMPLETE = "its saved state is incomplete"
OTHER = ("the restart file has kind metad with {} variables for this fix ID, but the command has kind metad with 2 - use the "
         "command of the earlier run, or another fix ID")
HARMONIC = "c_c c_d harmonic k 1 1 s0 4 3"
HUGE = 0x7fffffff


def script(*arguments, **options):
    """Return a script of test_bias_hills without its output, which only fits metad."""
    return re.sub("^thermo_style .*$", "", test_bias_hills.script(*arguments, **options), flags=re.MULTILINE)


def positions_of(restart):
    """Return the positions of: the size in LAMMPS' header, the format, the size of the state, the length of the kind, the kind,
    the number of variables, the first step, V, and the number of values S."""
    at = re.search(rb"coord/bias(/kk)?\0", restart).end()
    length, = struct.unpack_from("<q", restart, at + 16)
    kind = at + 24
    variables = kind + length
    return {"format": at + 4, "size": at + 12, "length": at + 16, "kind": kind, "variables": variables, "first": variables + 8,
            "energy": variables + 16, "count": variables + 32}


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
            name = kind.decode()
            longer = (f"its saved state has {{}} bytes more than kind {name} reads - continue with the version that wrote it, or "
                      "use another fix ID")
            other = OTHER.replace("metad", name)
            for field, form, value, message in (
                    ("size", "<i", HUGE, longer.format(HUGE - size)), ("size", "<i", size + 4096, longer.format(4096)),
                    ("size", "<i", -1, DAMAGED), ("size", "<i", 0, INCOMPLETE), ("size", "<i", size - 1, INCOMPLETE),
                    ("length", "<q", HUGE, INCOMPLETE), ("length", "<q", -1, INCOMPLETE), ("length", "<q", 2**62, INCOMPLETE),
                    ("length", "<q", len(kind) + 1, DAMAGED), ("kind", "<i", -1, DAMAGED),
                    ("variables", "<q", HUGE, other.format(HUGE)), ("variables", "<q", 3, other.format(3)),
                    ("count", "<q", HUGE, INCOMPLETE), ("count", "<q", 3, "its saved state belongs to a different bias"),
                    ("format", "<d", float("nan"), DAMAGED), ("format", "<d", 1e300, DAMAGED)):
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
                position = numbers.randrange(at["format"], at["length"] + size - 8)
                struct.pack_into("<q", changed, position, numbers.choice((HUGE, -1, 2**62, 0)))
                with self.subTest(bias, position=position - at["format"]):
                    if hills:
                        work.write("H", hills)
                    code, errors = self.read(work, bias, bytes(changed))
                    self.assertEqual(len(errors), code, errors)
                    for error in errors:
                        self.assertRegex(error, "^Fix coord/bias b: ")

    def test_earlier_version(self):
        """The numbers of an earlier version, with another number of variables."""
        work, good = self.written(SUM)
        old = test_bias_hills.of_earlier_version(good, 2)
        at = re.search(rb"coord/bias(/kk)?\0", old).end() + 4
        for field, value, message in ((0, float("inf"), DAMAGED), (0, 1e300, DAMAGED), (1, 1e9, OTHER.format(10**9)),
                                      (1, float("nan"), DAMAGED), (1, -2, OTHER.format(-2)), (2, 1e300, DAMAGED)):
            with self.subTest(field=field, value=value):
                changed = bytearray(old)
                struct.pack_into("<d", changed, at + 8 * field, value)
                code, errors = self.read(work, SUM, bytes(changed))
                self.assertEqual((code, errors), (1, ["Fix coord/bias b: " + message]))


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
        for position, value in ((name, HUGE), (name, -1), (name, 4), (keyword, HUGE), (keyword, -5), (keyword + 4, -1),
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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
