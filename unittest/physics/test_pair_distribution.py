"""S/N = 1/2 integral 4 pi r^2 rho g(r) s(r) dr, on a small Lennard-Jones fluid with compute rdf.

With one group S counts a pair once, hence the factor 1/2. compute rdf counts the pairs of each bin
exactly, so the integral is the sum over bins of (pairs in the bin) times s at the middle of the
bin. The error per pair is s'' h^2/24 and, because pairs in a bin of width h are not at its middle,
a random s' h/sqrt(12). Finer bins must reduce the error.
"""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "commands"))
import coordtest
from brutetest import Switch

RANGE = 2.4
SWITCH = Switch("cubic", d0=1.0, dmax=RANGE)
# With h = 1e-3, s' up to 1.1 and 1500 pairs: 1.1 * 1e-3 / sqrt(12 * 1500) = 8e-6 of the sum of s
# per pair, and s'' h^2/24 = 1e-7. Measured: 6e-8 and 4e-6. The tolerance is three times the first.
TOLERANCE = 2.5e-5


class PairDistribution(unittest.TestCase):
    def test_identity(self):
        with coordtest.start() as lmp:
            for line in ("units lj", "atom_modify map array", "lattice fcc 0.7", "region box block 0 5 0 5 0 5",
                         "create_box 2 box", "create_atoms 1 box", "set type 1 type/fraction 2 0.3 99", "mass * 1.0",
                         "pair_style lj/cut 2.5", "pair_coeff * * 1.0 1.0", "velocity all create 2.0 1234",
                         "neighbor 0.3 bin", "fix move all nve", "timestep 0.004", "run 150", "group two type 2",
                         "group one type 1"):
                lmp.command(line)
            n, volume = lmp.get_natoms(), lmp.get_thermo("vol")
            lmp.command(f"compute s all coord/gpu {SWITCH.keywords} norm mean precision double")
            lmp.command(f"compute s12 one coord/gpu group2 two {SWITCH.keywords} norm mean precision double")
            for bins in (75, 2400):
                lmp.command(f"compute g{bins} all rdf {bins} * * 1 2 cutoff {RANGE}")
            lmp.command("comm_modify cutoff 3.0")
            lmp.command("run 0")
            value, value12 = coordtest.scalar_of(lmp, "s"), coordtest.scalar_of(lmp, "s12")
            n_two = int((lmp.numpy.extract_atom("type")[:n] == 2).sum())
            errors = {}
            for bins in (75, 2400):
                table = lmp.numpy.extract_compute(f"g{bins}", 0, 2).copy()
                r, g, g12 = table[:, 0], table[:, 1], table[:, 3]
                h = (r[-1] - r[0]) / (bins - 1)    # older releases use the pair cutoff, beyond which s is 0
                s = np.asarray(SWITCH(r)[0], float)
                # rdf normalizes by the exact volume of the shell, and g by the number of other
                # atoms.
                shell = 4 / 3 * np.pi * ((r + h / 2)**3 - (r - h / 2)**3)
                integral = 0.5 * (shell * (n - 1) / volume * g * s).sum()
                integral12 = (shell * n_two / volume * g12 * s).sum()
                errors[bins] = (abs(integral / value - 1), abs(integral12 / value12 - 1))
                print(f"{bins} bins: {integral:.8f} and {value:.8f}, {integral12:.8f} and {value12:.8f}")
            self.assertGreater(value, 1)
            for kind in (0, 1):
                self.assertLess(errors[2400][kind], TOLERANCE)
                self.assertGreater(errors[75][kind], errors[2400][kind])


if __name__ == "__main__":
    unittest.main(verbosity=2)
