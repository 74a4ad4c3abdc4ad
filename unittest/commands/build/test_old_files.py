"""Restart, hills, grid and data files of earlier revisions (baseline/fixtures) are read, and a run that continues from them
equals an uninterrupted run of this build. Files of another format are an error that names both formats."""

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
        return numbers_of(run, 1)

    def compare(self, name, way, unbroken):
        run = self.run_in([*lines_of(name, f"in.read{way}"), *lines_of(name, f"in.then{way}")], self.files(name))
        table, atoms = numbers_of(run, 0)
        expected_table, expected_atoms = unbroken
        self.assertEqual(set(atoms), {10, 15, 20})
        for column, values in table.items():
            expected = expected_table[column.replace("f_again", "f_b")]
            np.testing.assert_allclose(values, expected, ROUNDING, ROUNDING, err_msg=f"{name}{way} {column}")
        for step, values in atoms.items():
            for column, expected in zip(values.T, expected_atoms[step].T):
                self.assertLessEqual(coordtest.error_of(column, expected), ROUNDING, f"{name}{way}, step {step}")

    def test_runs_go_on(self):
        names = all_names()
        self.assertGreaterEqual(len(names), 8)
        ways = 0
        for name in names:
            with self.subTest(name):
                numbers = self.unbroken(name)
                for part in sorted(os.listdir(os.path.join(FIXTURES, name))):
                    if part.startswith("in.read"):
                        self.compare(name, part[len("in.read"):], numbers)
                        ways += 1
        self.assertGreaterEqual(ways, 10)


def format_of(number):
    """Return a version of a format as restart files store it."""
    return struct.pack("d", -float(number))


class OtherFormats(Files):
    """Files of this build, in which the format is changed or left out."""

    def written(self, name):
        """Write the files of a folder by its inputs."""
        name = [one for one in all_names() if one.endswith("/" + name)][-1]
        return name, self.run_in(lines_of(name, "in.first"), self.components(name))

    def refuses(self, written, file, known, other, message, way=""):
        """Read a file of this build in which 'known', which must occur once, is replaced by
        'other'."""
        name, run = written
        with open(run.path(file), "rb") as old:
            text = old.read()
        self.assertEqual(text.count(known), 1, name)
        with open(run.path(file), "wb") as new:
            new.write(text.replace(known, other))
        with open(run.path("in.other"), "w") as script:
            script.write("\n".join([f"shell cd {run.folder}", *lines_of(name, f"in.read{way}"), "run 0"]) + "\n")
        code, output = run_program([*coordtest.lmp_program(2), "-in", run.path("in.other"), "-log", "none", "-nocite"], 2)
        with open(run.path(file), "wb") as again:
            again.write(text)
        self.assertNotEqual(code, 0, name)
        self.assertIn(f"ERROR: {message} (", output)

    def test_restart_of_a_bias(self):
        written, kind = self.written("bias-moving-two"), struct.pack("q", len("moving")) + b"moving"
        with open(written[1].path("restart"), "rb") as file:
            text = file.read()
        begin = text.index(kind) - 35    # the number of parts, and the name, version and length of the first part
        size, = struct.unpack("i", text[begin - 4:begin])

        def data(first, state):
            return struct.pack("i", 12 + len(state)) + first + struct.pack("i", len(state)) + state

        state = text[begin:begin + size]
        good = data(format_of(2), state)
        way_out = " - continue with the version that wrote it, or use another fix ID"
        message = "Fix coord/bias b: the restart file has its state in {}, but this version of GPUCOORD needs format 2" + way_out
        for format, found in (format_of(1), "format 1"), (format_of(3), "format 3"), (struct.pack("d", 1),
                                                                                     "a format from before version 1.0"):
            self.refuses(written, "restart", good, data(format, state), message.format(found))
        # A part that a later version adds
        more = struct.pack("q", struct.unpack_from("q", state)[0] + 1) + state[8:]
        more += struct.pack("q", 7) + b"walkers" + struct.pack("qq", 1, 8) + format_of(0)
        self.refuses(written, "restart", good, data(format_of(2), more),
                     "Fix coord/bias b: its saved state has a part walkers, which this version of GPUCOORD does not know" + way_out)

    def test_restart_of_pair_styles(self):
        for name, style, after in (("pair-functions-1", "coord", struct.pack("i", 1)),
                                   ("multisite", "multisite", struct.pack("d", 2.2))):
            written = self.written(name)
            for first, found in (format_of(3), "format 3"), (b"", "a format from before version 1.0"):
                self.refuses(written, "restart", format_of(2) + after, first + after,
                             f"Pair {style}: the restart file has its data in {found}, but this version of GPUCOORD needs "
                             "format 2 - read it with the version that wrote it, and continue from a data file of command "
                             "write_data")

    def test_hills_and_grid(self):
        written = self.written("bias-metad-grid-two")
        self.refuses(written, "HILLS", b"# GPUCOORD hills format 1\n", b"# GPUCOORD hills format 2\n",
                     "Fix coord/bias again: hills file HILLS, line 5: it has format 2, but this version of GPUCOORD "
                     "needs format 1 - continue with the version that wrote it, or give another file", "-append")
        line, way_out = b"# GPUCOORD grid format 2\n", " - leave out keyword read_grid to take all hills from the hills file"
        for other in 1, 3:
            self.refuses(written, "GRID", line, b"# GPUCOORD grid format %d\n" % other,
                         f"Fix coord/bias again: grid file GRID, line 11: it has format {other}, but this version of GPUCOORD "
                         "needs format 2" + way_out, "-read-grid")
        self.refuses(written, "GRID", line, b"", "Fix coord/bias again: grid file GRID has no comment '# GPUCOORD grid format "
                     "2': PLUMED, GPUCOORD before version 1.0 or another program wrote it" + way_out, "-read-grid")


if __name__ == "__main__":
    unittest.main()
