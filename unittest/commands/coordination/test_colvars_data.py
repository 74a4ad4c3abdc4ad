"""Values and forces from Colvars' own tests (trajectory of 5 frames, no periodicity)."""

import os
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Box

R0 = 4.0
# The force on an atom is FORCE_CONSTANT (xi - CENTER) dxi/dx.
FORCE_CONSTANT, CENTER = -0.004, 0.1
# Colvars prints values with 15 and forces with 13 significant digits: half a unit of the last digit
# is at most 5e-15 and 5e-13 relative. The positions are exact, since the trajectory has 6 decimals,
# except in a LAMMPS with float.
TOLERANCE = coordtest.rounded(1e-12, growth=100)

DATA = os.path.join(os.environ.get("GPUCOORD_TEST_DATA") or "/nonexistent", "colvars")


def read_frames():
    with open(os.path.join(DATA, "trajectory.xyz")) as file:
        lines = file.read().splitlines()
    n = int(lines[0])
    return [np.array([[float(word) for word in line.split()[1:4]] for line in lines[first + 2:first + 2 + n]])
            for first in range(0, len(lines) - n, n + 2)]


class ColvarsData(unittest.TestCase):
    def compare(self, name, group, options):
        values = np.loadtxt(os.path.join(DATA, name + ".traj"))[:, 1]
        frames = read_frames()
        self.assertEqual((len(frames), len(values)), (5, 5))
        with coordtest.start() as lmp:
            box = Box((120, 120, 120), periodic=(False,) * 3, lo=(-60,) * 3)
            coordtest.make_system(lmp, box, frames[0], ghosts=20.0, cutoff=10.0)
            for k, rows in enumerate(group):
                coordtest.define_group(lmp, f"g{k + 1}", rows)
            lmp.command(f"compute c g1 coord/gpu switch rational {R0} {options} precision double")
            atoms = np.concatenate(group)
            for k, x in enumerate(frames):
                coordtest.move_to(lmp, x)
                lmp.command("run 0")
                result = brutetest.result_of(lmp, "c")
                value_error = abs(result.value / values[k] - 1)
                forces = FORCE_CONSTANT * (result.value - CENTER) * result.atoms[:, 1:]
                expected = np.loadtxt(os.path.join(DATA, f"{name}.forces.{k}"))[:len(atoms)]
                force_error = coordtest.error_of(forces[atoms], expected)
                print(f"{name} frame {k}: value {value_error:.1e}, force {force_error:.1e} relative")
                self.assertLessEqual(value_error, TOLERANCE)
                self.assertLessEqual(force_error, TOLERANCE)
                others = np.delete(result.atoms, atoms, axis=0)
                self.assertTrue((others == 0).all(), "atoms outside the groups have values")

    def test_two_groups_without_end(self):
        self.compare("coordnum", [np.arange(4), np.arange(4, 8)], "dmax INF group2 g2")

    def test_one_group_with_tolerance(self):
        t = 0.01
        dmax = R0 * ((1 - t) / t) ** (1 / 6)
        self.assertAlmostEqual(dmax, 8.60332, places=5)
        self.compare("selfcoordnum-pairlist", [np.arange(4)], f"dmax {dmax!r}")


if __name__ == "__main__":
    if not os.path.isdir(DATA):
        coordtest.skip("there is no folder colvars in GPUCOORD_TEST_DATA")
    unittest.main(verbosity=2)
