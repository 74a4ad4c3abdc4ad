"""Restart, hills, grid and data files of an earlier revision (baseline/fixtures) are read, and the run goes on from them as a
run of this build that was not interrupted."""

import os
import re
import shutil
import tempfile
import unittest

import numpy as np

import coordtest

if coordtest.PRECISION != "double":
    coordtest.skip("trajectories are compared to the rounding of double, but this LAMMPS has positions in single precision "
                   "(KOKKOS_PREC)")

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "baseline", "fixtures")
# The files are of another machine and compiler, whose rounding has grown over 10 steps before, and 10 after.
ROUNDING = 1e-9
# The same where pair terms are in single precision: another instruction set sums them in another order.
ROUNDING_OF_FLOAT = 1e-4


def lines_of(name, part):
    """An input, on the device of these tests. Those that wrote the files name the host, so that all builds can read them."""
    with open(os.path.join(FIXTURES, name, part)) as file:
        lines = [line.replace(" device host", "") for line in file.read().splitlines()]
    return [on_device(line) for line in lines]


def on_device(line):
    if re.match(r"pair_style .*\bmultisite\b", line):
        return re.sub(r"(multisite(?: [0-9.]+)+)", rf"\1 device {coordtest.DEVICE}", line)
    return coordtest.on_device(line)


def numbers_of(run, table):
    """Thermodynamic output and dumped atoms"""
    with open(run.path("dump")) as file:
        frames = file.read().split("ITEM: TIMESTEP\n")[1:]
    rows = [re.split(r"ITEM: ATOMS.*\n", frame) for frame in frames]
    return run.tables[table], {int(head.split()[0]): np.array([line.split() for line in atoms.splitlines()], float)
                               for head, atoms in rows}


def hills_of(path):
    with open(path) as file:
        return np.array([line.split() for line in file if not line.startswith("#")], float)


class OldFiles(unittest.TestCase):
    def run_in(self, lines, files=()):
        """Runs LAMMPS in a folder of its own with copies of files."""
        where = tempfile.mkdtemp(dir=coordtest.folder())
        for path in files:
            shutil.copy(path, where)
        run = coordtest.run_lammps([f"shell cd {where}", *lines])
        run.folder = where
        return run

    def files(self, name):
        folder = os.path.join(FIXTURES, name)
        return [os.path.join(folder, file) for file in os.listdir(folder) if not file.startswith("in.")]

    def unbroken(self, name):
        given = [path for path in self.files(name) if os.path.basename(path) == "components"]
        run = self.run_in([*lines_of(name, "in.first"), *lines_of(name, "in.then")], given)
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
        names = sorted(name for name in os.listdir(FIXTURES) if os.path.isdir(os.path.join(FIXTURES, name)))
        self.assertGreater(len(names), 25)
        ways = 0
        for name in names:
            with self.subTest(name):
                rounding = ROUNDING_OF_FLOAT if name.endswith("mixed") and name != "pair-mixed" else ROUNDING
                _, numbers = self.unbroken(name)
                for part in sorted(os.listdir(os.path.join(FIXTURES, name))):
                    if part.startswith("in.read"):
                        self.compare(name, part[len("in.read"):], numbers, rounding)
                        ways += 1
        self.assertGreater(ways, 35)

    def test_later_hills_are_moved(self):
        """The hills file has hills of 10 timesteps after those of the restart file, which the run adds again."""
        run, numbers = self.unbroken("bias-metad-killed")
        self.assertEqual(numbers[0]["f_b[6]"].tolist(), [5, 6, 7, 8, 9, 10])
        again = self.compare("bias-metad-killed", "", numbers, ROUNDING)
        added, moved = hills_of(again.path("HILLS"))[5:], hills_of(again.path("bck.0.HILLS"))
        self.assertEqual(moved.shape, (5, 5))
        np.testing.assert_allclose(moved, added, ROUNDING)


if __name__ == "__main__":
    unittest.main()
