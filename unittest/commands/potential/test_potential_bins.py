"""compute potential/grid with bins of fixed depth: the map equals that of sorted charges, whether
host or GPU handles the overflow. A warning about a depth that is too small gives the fraction and a
better depth."""

import re
import unittest

import numpy as np

import coordtest
from test_potential_grid import CUTOFF, ORTHOGONAL, TILTED, N, output, read_grid, setup, system

GRID = (11, 10, 9)


class Bins(unittest.TestCase):
    def run_bins(self, box, ranks, words, later="run 0", every=1):
        """Run compute s with sorted charges, and c with these words."""
        grid = " ".join(map(str, GRID))
        lines = [f"compute s all potential/grid {grid} cutoff {CUTOFF} kernel taylor field yes precision double",
                 f"compute c all potential/grid {grid} cutoff {CUTOFF} kernel taylor field yes precision double {words}",
                 *output([("s", True, False), ("c", True, False)], GRID, every)]
        return coordtest.run_lammps([*setup(box, system(box, 3, speed=3.0)), *lines, "timestep 0.01\nfix move all nve", later], ranks)

    def test_maps_agree(self):
        for box in ORTHOGONAL, TILTED:
            for ranks in 1, 2:
                for words in ("bins fixed 2.0 4", "bins fixed 2.0 1 overflow host", "bins fixed 1.1 2 overflow device", "bins sorted",
                              "bins fixed 30.0 500 overflow host"):
                    with self.subTest(words, tilted=box.tilted, ranks=ranks):
                        done = self.run_bins(box, ranks, words, "run 4", 2)
                        sorted_charges, binned = (read_grid(done.path(f"{name}.grid")) for name in "sc")
                        self.assertEqual(len(binned), 3)
                        for s, c in zip(sorted_charges, binned):
                            for expected, found in (s.phi, c.phi), (s.field, c.field):
                                largest = np.abs(expected).max()
                                self.assertGreater(largest, 1.0)
                                self.assertLess(np.abs(found - expected).max(), coordtest.rounded(1e-12) * largest)

    def test_overflow(self):
        """One bin has all charges: with a depth of 1, all but one overflow."""
        for depth, warns in (1, True), (N // 2, True), (5000, False):
            done = self.run_bins(ORTHOGONAL, 1, f"bins fixed 50.0 {depth}", "run 2\nrun 2 pre no")
            found = re.findall(r"WARNING: Compute potential/grid c: (\S+) % of charges overflow bins of size 50 and depth (\d+), which takes "
                               r"time - use bins fixed 50 (\d+)", done.text)
            if not warns:
                self.assertEqual(found, [])
                continue
            (percent, given, better), = found    # once
            self.assertEqual(int(given), depth)
            # Images of charges within the cutoff are in the bin, too.
            charges = int(re.search(r"(?m)^Nghost: *(\S+)", done.text).group(1).split(".")[0]) + N
            self.assertAlmostEqual(float(percent), 100 * (1 - depth / charges), delta=0.006)
            self.assertEqual(int(better), charges - int(0.01 * charges))

    def test_setup_line(self):
        done = self.run_bins(ORTHOGONAL, 1, "bins fixed 4.0 8 overflow host")
        self.assertIn("overlap skip, bins of size 4 and depth 8, whose overflow the host takes, owned and ghost atoms", done.text)

    def test_bins_too_large(self):
        for words, ranks in ("bins fixed 0.001 8", 1), ("bins fixed 0.001 8", 2):
            with self.assertRaises(AssertionError) as failure:
                self.run_bins(ORTHOGONAL, ranks, words)
            self.assertRegex(str(failure.exception), r"Compute potential/grid c: bins of size 0.001 and depth 8 have "
                             r"room for \S+ charges on a rank, but at most 2147483647 are supported - use larger or "
                             r"less deep bins, or sorted bins")


if __name__ == "__main__":
    unittest.main(verbosity=2)
