"""Restart, hills, grid and data files of earlier revisions (baseline/fixtures) are read, and a run that continues from them
equals an uninterrupted run of this build. Files of a newer format are an error that names both formats."""

import os
import re
import shutil
import struct
import tempfile
import unittest

import numpy as np

import coordtest
from errortest import run_program

if coordtest.is_older_lammps():
    coordtest.skip("the files are those of LAMMPS 4 Jul 2026, and older releases do not read restart files of newer ones")
if coordtest.PRECISION != "double":
    coordtest.skip("trajectories are compared to the rounding of double, but this LAMMPS has positions in single precision "
                   "(KOKKOS_PREC)")

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "baseline", "fixtures")
# Another machine and compiler wrote the files: differences of rounding grow over the 10 steps before, and 10 after.
ROUNDING = 1e-9
# The same where pair terms are in single precision: another instruction set sums them in another order.
ROUNDING_OF_FLOAT = 1e-4


def all_names():
    """Return REVISION/NAME of all folders of files."""
    return sorted(f"{revision}/{name}" for revision in os.listdir(FIXTURES)
                  for name in os.listdir(os.path.join(FIXTURES, revision)) if name != "WRITTEN_BY")


def lines_of(name, part):
    """Return an input for the device of these tests. The inputs that wrote the files use the host,
    so that all builds can read the files."""
    with open(os.path.join(FIXTURES, name, part)) as file:
        lines = [line.replace(" device host", "") for line in file.read().splitlines()]
    return [on_device(line) for line in lines]


def on_device(line):
    if re.match(r"pair_style .*\bmultisite\b", line):
        return re.sub(r"(multisite(?: [0-9.]+)+)", rf"\1 device {coordtest.DEVICE}", line)
    return coordtest.on_device(line)


def numbers_of(run, table):
    """Return the thermodynamic output and the dumped atoms."""
    with open(run.path("dump")) as file:
        frames = file.read().split("ITEM: TIMESTEP\n")[1:]
    rows = [re.split(r"ITEM: ATOMS.*\n", frame) for frame in frames]
    return run.tables[table], {int(head.split()[0]): np.array([line.split() for line in atoms.splitlines()], float)
                               for head, atoms in rows}


def hills_of(path):
    with open(path) as file:
        return np.array([line.split() for line in file if not line.startswith("#")], float)


class Files(unittest.TestCase):
    def run_in(self, lines, files=()):
        """Run LAMMPS in a separate folder with copies of files."""
        where = tempfile.mkdtemp(dir=coordtest.folder())
        for path in files:
            shutil.copy(path, where)
        run = coordtest.run_lammps([f"shell cd {where}", *lines])
        run.folder = where
        return run

    def files(self, name):
        folder = os.path.join(FIXTURES, name)
        return [os.path.join(folder, file) for file in os.listdir(folder) if not file.startswith("in.")]

    def components(self, name):
        return [path for path in self.files(name) if os.path.basename(path) == "components"]


class OldFiles(Files):
    def unbroken(self, name):
        run = self.run_in([*lines_of(name, "in.first"), *lines_of(name, "in.then")], self.components(name))
        return run, numbers_of(run, 1)

    def compare(self, name, way, unbroken, rounding):
        run = self.run_in([*lines_of(name, f"in.read{way}"), *lines_of(name, f"in.then{way}")], self.files(name))
        table, atoms = numbers_of(run, 0)
        expected_table, expected_atoms = unbroken
        self.assertEqual(set(atoms), {10, 15, 20})
        for column, values in table.items():
            expected = expected_table[column.replace("f_again", "f_b")]
            np.testing.assert_allclose(values, expected, rounding, rounding, err_msg=f"{name}{way} {column}")
        for step, values in atoms.items():
            for column, expected in zip(values.T, expected_atoms[step].T):
                self.assertLessEqual(coordtest.error_of(column, expected), rounding, f"{name}{way}, step {step}")
        return run

    def test_runs_go_on(self):
        names = all_names()
        self.assertGreater(len(names), 35)
        ways = 0
        for name in names:
            with self.subTest(name):
                rounding = ROUNDING_OF_FLOAT if name.endswith(("precision-mixed", "multisite-mixed")) else ROUNDING
                _, numbers = self.unbroken(name)
                for part in sorted(os.listdir(os.path.join(FIXTURES, name))):
                    if part.startswith("in.read"):
                        self.compare(name, part[len("in.read"):], numbers, rounding)
                        ways += 1
        self.assertGreater(ways, 45)

    def test_later_hills_are_moved(self):
        """The hills file has hills of 10 timesteps after those of the restart file, which the run adds again."""
        run, numbers = self.unbroken("c0363da/bias-metad-killed")
        self.assertEqual(numbers[0]["f_b[6]"].tolist(), [5, 6, 7, 8, 9, 10])
        again = self.compare("c0363da/bias-metad-killed", "", numbers, ROUNDING)
        added, moved = hills_of(again.path("HILLS"))[5:], hills_of(again.path("bck.0.HILLS"))
        self.assertEqual(moved.shape, (5, 5))
        np.testing.assert_allclose(moved, added, ROUNDING)


def format_of(number):
    """Return a version of a format as restart files store it."""
    return struct.pack("d", -float(number))


class NewerFiles(Files):
    """Files of this build, in which the number of the format is changed to the next one."""

    def written(self, name):
        return self.run_in(lines_of(name, "in.first"), self.components(name))

    def refuses(self, name, file, known, newer, message, way=""):
        """Read a file of this build in which 'known', which must occur once, is replaced by
        'newer'."""
        run = self.written(name)
        with open(run.path(file), "rb") as old:
            text = old.read()
        self.assertEqual(text.count(known), 1, name)
        with open(run.path(file), "wb") as new:
            new.write(text.replace(known, newer))
        with open(run.path("in.newer"), "w") as script:
            script.write("\n".join([f"shell cd {run.folder}", *lines_of(name, f"in.read{way}"), "run 0"]) + "\n")
        for ranks in 1, 2:
            code, output = run_program([*coordtest.lmp_program(ranks), "-in", run.path("in.newer"), "-log", "none", "-nocite"],
                                       ranks)
            self.assertNotEqual(code, 0, name)
            self.assertIn(f"ERROR: {message} (", output)

    def test_restart_of_a_bias(self):
        name, kind = "c0363da/bias-harmonic", struct.pack("q", len("harmonic")) + b"harmonic"
        with open(self.written(name).path("restart"), "rb") as file:
            text = file.read()
        begin = text.index(kind)
        size, = struct.unpack("i", text[begin - 4:begin])

        def data(format, state):
            return struct.pack("i", 12 + len(state)) + format_of(format) + struct.pack("i", len(state)) + state

        state = text[begin:begin + size]
        self.refuses(name, "restart", data(1, state), data(2, state),
                     "Fix coord/bias b: the restart file has its state in format 2, but this version of GPUCOORD "
                     "knows formats up to 1 - continue with the version that wrote it, or use another fix ID")
        # A number that a later version adds without another format
        self.refuses(name, "restart", data(1, state), data(1, state + format_of(0)),
                     "Fix coord/bias b: its saved state has 8 bytes more than kind harmonic reads - continue with "
                     "the version that wrote it, or use another fix ID")

    def test_restart_of_pair_styles(self):
        for name, style, after in (("pair-functions-1", "coord", struct.pack("i", 1)),
                                   ("multisite-default", "multisite", struct.pack("d", 2.2))):
            self.refuses(f"c0363da/{name}", "restart", format_of(2) + after, format_of(3) + after,
                         f"Pair {style}: the restart file has its data in format 3, but this version of GPUCOORD knows "
                         "formats up to 2 - read it with the version that wrote it")

    def test_hills(self):
        self.refuses("c0363da/bias-metad", "HILLS", b"# GPUCOORD hills format 1\n", b"# GPUCOORD hills format 2\n",
                     "Fix coord/bias again: hills file HILLS, line 5: it has format 2, but this version of GPUCOORD "
                     "knows formats up to 1 - continue with the version that wrote it, or give another file", "-append")

    def test_grid(self):
        self.refuses("c0363da/bias-metad-grid-two", "GRID", b"# GPUCOORD grid format 2\n", b"# GPUCOORD grid format 3\n",
                     "Fix coord/bias again: grid file GRID, line 11: it has format 3, but this version of GPUCOORD knows "
                     "formats up to 2 - leave out keyword read_grid to take all hills from the hills file", "-read-grid")


if __name__ == "__main__":
    unittest.main()
