"""Runs in which the box shrinks and grows past twice dmax: image minimum changes its engine during
the run.

Every step is compared with brute force for the dumped positions, on both sides of the crossing.
"""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "commands"))
import brutetest
import coordtest
import dumptest
from brutetest import Box, Switch, brute_force

# Far from 0 at dmax: each additional image counts.
SWITCH = Switch("rational", 2.0, dmax=3.0, stretch=False)
N = 150


class ChangingBox(unittest.TestCase):
    def run_fluid(self, box, barostat, ranks, steps=30):
        data = f"{coordtest.folder()}/data"
        x = coordtest.random_positions(np.random.default_rng(3), box, N, closest=0.75)
        coordtest.write_data(data, x, box)
        return coordtest.run_lammps(
            ["units lj", "atom_modify map array", "box tilt large", f"read_data {data}", "mass * 1.0",
             "pair_style lj/cut 2.2", "pair_coeff * * 1.0 1.0", "pair_modify shift yes", "neighbor 0.3 bin",
             "neigh_modify every 1 delay 0 check yes", "comm_modify cutoff 3.5", "velocity all create 1.5 77",
             f"compute c all coord/gpu {SWITCH.keywords} image minimum precision double",
             f"compute a all coord/gpu {SWITCH.keywords} image all engine cells precision double",
             "minimize 0 1e-2 50 500", "reset_timestep 0", "velocity all create 1.5 77", "timestep 0.003", *barostat,
             "thermo_style custom step c_c c_c[*] c_a c_a[*] lx", "thermo 1",
             "thermo_modify format float %.17g norm no",
             "dump d all custom 1 dump id x y z c_c[*] c_a[*]", "dump_modify d format float %.17g sort id",
             f"run {steps}"], ranks)

    def check(self, box, barostat, ranks):
        run = self.run_fluid(box, barostat, ranks)
        rows, frames = run.tables[-1], dumptest.read_dump(run.path("dump"))
        self.assertEqual(len(frames), len(rows["Step"]))
        sides, more_images = [], 0.0
        for row, frame in enumerate(frames):
            sides.append(float(SWITCH.dmax) > 0.5 * frame.box.shortest_vector())
            references = {image: brute_force(frame.box, frame.x(), SWITCH, np.arange(N), image=image)
                          for image in ("minimum", "all")}
            for ident, image in (("c", "minimum"), ("a", "all")):
                found = brutetest.Result(rows[f"c_{ident}"][row], [rows[f"c_{ident}[{k}]"][row] for k in range(1, 7)],
                                         frame.array(ident))
                coordtest.assert_same(found, references[image], coordtest.DOUBLE, f"step {frame.step}, image {image}")
            more_images = max(more_images, rows["c_a"][row] / rows["c_c"][row] - 1)
            if not sides[-1]:
                self.assertAlmostEqual(rows["c_a"][row] / rows["c_c"][row], 1, delta=coordtest.LAST_DIGITS)
        self.assertGreater(more_images, 1e-4, "the two meanings of image never differed: the test shows nothing")
        print(f"{ranks} ranks: box {rows['Lx'][0]:.3f} to {rows['Lx'][-1]:.3f}, beyond half of it at "
              f"{sum(sides)} of {len(sides)} steps")
        self.assertGreater(sum(sides), 5)
        self.assertGreater(len(sides) - sum(sides), 5)
        return sides

    def test_compression(self):
        """NPT at high pressure: dmax starts within half the box and ends beyond it."""
        sides = self.check(Box((6.7,) * 3), ["fix move all npt temp 1.5 1.5 0.3 iso 20.0 20.0 0.15"], ranks=2)
        self.assertTrue(not sides[0] and sides[-1])

    def test_expansion(self):
        """NPT at zero pressure, tilted: dmax starts beyond half the shortest period."""
        sides = self.check(Box((5.9, 5.9, 6.3), tilt=(1.0, -1.5, 2.0)),
                           ["fix move all npt temp 1.5 1.5 0.3 aniso 0.0 0.0 0.15"], ranks=2)
        self.assertTrue(sides[0] and not sides[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
