"""The inputs in README.md and examples/README.md run unchanged, the parts of inputs in small systems."""
# Without: gpu

import os
import re
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
BLOCKS = []
for name in "README.md", "examples/README.md":
    with open(os.path.join(REPOSITORY, name)) as readme:
        BLOCKS += re.findall(r"^```\n(.*?)^```$", readme.read(), re.MULTILINE | re.DOTALL)

# Two types of atoms near the sites of a lattice with a given number of sites along each edge.
LATTICE = """
lattice sc {}
region box block 0 {} 0 {} 0 {}
create_box 2 box
create_atoms 2 box
set group all type/fraction 1 0.1 4711
"""
LIQUID = f"""
units real
atom_modify map array
{LATTICE.format(3.1, 8, 8, 8)}
mass 1 22.99
mass 2 16.0
displace_atoms all random 0.1 0.1 0.1 4711
group na type 1
group ow type 2
velocity all create 300 4711
fix move all nve
thermo 1
"""
IONS = f"""
units real
atom_style charge
{LATTICE.format(6.2, 4, 4, 4)}
mass 1 22.99
mass 2 35.45
set type 1 charge 0.9
set type 2 charge -0.1
pair_style zero 8.0
pair_coeff * *
displace_atoms all random 0.4 0.4 0.4 4711
"""
MOLECULES = f"""
units real
{LATTICE.format(5.0, 6, 6, 6)}
"""
COMPONENTS = """# UNITS: real
component EO
mass 44.053
inertia 20.4 27.0 47.4
center 0 0.776364 0 0.123458 3.0929
center 0.78 -0.443636 0 0.168394 3.5266
center -0.78 -0.443636 0 0.168394 3.5266
dipole 0 0.3 0 0 1 0 0.51195
component N2
mass 28.0134
inertia 8.4 8.4 0
center 0 0 0.5233 0.0691 3.3211
center 0 0 -0.5233 0.0691 3.3211
quadrupole 0 0 0 0 0 1 -0.4
"""


def snippet(first_word):
    """Return the block that begins with this word."""
    block, = [block for block in BLOCKS if block.startswith(first_word + " ")]
    return block


class Snippets(unittest.TestCase):
    def check_values(self, block, values, frames, groups, **norm):
        """Compare values of compute cv with brute force. groups: atoms of both groups in a frame."""
        words = re.search(r"^compute cv .* switch cubic d0 (\S+) dmax (\S+)$", block, re.MULTILINE)
        switch = brutetest.Switch("cubic", d0=float(words[1]), dmax=float(words[2]))
        self.assertEqual(len(frames), len(values))
        for value, frame in zip(values, frames):
            a, b = groups(frame)
            expected = brutetest.brute_force(frame.box, frame.x(), switch, a=a, b=b, **norm).value
            self.assertGreater(expected, 0.5)
            self.assertLess(abs(value - expected), coordtest.rounded(1e-4))

    def test_first(self):
        """S follows its definition, and V is the sum of the hills in the file."""
        block, run_command = snippet("units").rstrip().rsplit("\n", 1)
        self.assertRegex(run_command, r"^run \d+$")
        run = coordtest.run_lammps(f"{block}\ndump x all custom 500 x.dump id x y z\n"
                                   "dump_modify x format float %.17g sort id\n"
                                   f"thermo 500\nthermo_modify format float %.12g\n{run_command}\n")
        table = run.tables[0]
        self.check_values(block, table["c_cv"], dumptest.read_dump(run.path("x.dump")),
                          lambda frame: (np.array([0]), np.arange(1, len(frame["id"]))))

        # Heights in the file include the factor biasfactor/(biasfactor - 1).
        _, center, sigma, height, biasfactor = np.loadtxt(run.path("HILLS")).T
        height *= (biasfactor - 1) / biasfactor
        self.assertGreater(len(center), 10)
        u = (table["c_cv"][-1] - center)**2 / (2 * sigma**2)
        v = (height * (np.exp(-u) - np.exp(-6.25)) / (1 - np.exp(-6.25)))[u < 6.25].sum()
        self.assertGreater(v, 0.1)
        self.assertLess(abs(table["f_b"][-1] - v), 5e-4)    # the grid interpolates: spacing 0.25 sigma

    def test_pairs(self):
        """The mean hydration number follows its definition."""
        block = snippet("pair_style")
        run = coordtest.run_lammps(f"{LIQUID}\n{block}\ndump x all custom 1 x.dump id type x y z\n"
                                   "dump_modify x format float %.17g\nthermo_modify format float %.12g\nrun 5\n")
        self.check_values(block, run.tables[0]["c_cv"], dumptest.read_dump(run.path("x.dump")),
                          lambda frame: tuple(np.flatnonzero(frame["type"] == kind) for kind in (1, 2)), norm="mean")

    def test_molecules(self):
        path = os.path.join(coordtest.folder(), "molecules.multisite")
        with open(path, "w") as file:
            file.write(COMPONENTS)
        block = snippet("atom_style").replace("molecules.multisite", path)
        style, dots, rest = block.partition("\n...\n")
        self.assertTrue(dots)
        run = coordtest.run_lammps(f"{style}\n{MOLECULES}\n{rest}\nthermo 1\ntimestep 0.5\nrun 5\n")
        self.assertEqual(len(run.tables[0]["Step"]), 6)

    def test_maps(self):
        run = coordtest.run_lammps(f"{IONS}\n{snippet('comm_modify')}")
        for name in "map.0.vtr", "map.1000.vtr", "map.dx":
            self.assertGreater(os.path.getsize(run.path(name)), 64**3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
