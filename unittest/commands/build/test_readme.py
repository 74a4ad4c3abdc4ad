"""The input snippets of README.md run unchanged, in small systems."""

import os
import re
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, os.pardir, os.pardir, os.pardir, "README.md")) as readme:
    BLOCKS = re.findall(r"^```\n(.*?)^```$", readme.read(), re.MULTILINE | re.DOTALL)
PLUGIN = os.path.join(os.environ["GPUCOORD_BUILD"], "gpucoordplugin.so")

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
    """Return the block that begins with this word, with the plugin of this build."""
    block, = [block for block in BLOCKS if block.startswith(first_word + " ")]
    return block.replace("<GPUCOORD>/build/gpucoordplugin.so", PLUGIN)


class Snippets(unittest.TestCase):
    def test_first(self):
        """The mean hydration number follows its definition."""
        run = coordtest.run_lammps(f"{LIQUID}\n{snippet('plugin')}\ndump x all custom 1 x.dump id type x y z\n"
                                   "dump_modify x format float %.17g\nthermo_modify format float %.12g\nrun 5\n")
        words = re.search(r"^compute cv .* switch cubic d0 (\S+) dmax (\S+)$", snippet("plugin"), re.MULTILINE)
        switch = brutetest.Switch("cubic", d0=float(words[1]), dmax=float(words[2]))
        frames = dumptest.read_dump(run.path("x.dump"))
        self.assertEqual(len(frames), 6)
        for value, frame in zip(run.tables[0]["c_cv"], frames):
            na, ow = (np.flatnonzero(frame["type"] == kind) for kind in (1, 2))
            expected = brutetest.brute_force(frame.box, frame.x(), switch, a=na, b=ow, norm="mean").value
            self.assertGreater(expected, 0.5)
            self.assertLess(abs(value - expected), coordtest.rounded(1e-4))

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
