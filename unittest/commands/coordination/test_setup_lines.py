"""What a new user sees first: S in thermodynamic output and in the line at setup, and the warning if no
pair is in range. Atoms stand still at distances of 3, 4, 5 and 8, so that S is known in closed form."""

import re
import unittest

import coordtest

# s is 1, 0.84375 and 0.15625 at 3, 4 and 5.
NEAR = "switch cubic d0 3.5 dmax 5.5"
FAR = "switch cubic d0 0.12 dmax 0.18"
SYSTEM = ["units {units}", "atom_modify map array", "region box block 0 20 0 20 0 20", "create_box 2 box",
          "create_atoms 1 single 1 1 1", "create_atoms 2 single 18 1 1", "create_atoms 2 single 6 1 1",
          "create_atoms 2 single 10 1 1", "mass * 1.0", "pair_style zero 6.0 nocoeff", "pair_coeff * *", "neighbor 0.3 bin",
          "group na id 1", "group ow id 2:4", "group left id 1 3", "group right id 2 4", "thermo 1"]


def run(*lines, units="metal", ranks=1):
    return coordtest.run_lammps([*(line.format(units=units) for line in SYSTEM), *lines], ranks)


def warnings_of(text):
    return re.findall(r"^WARNING: (Compute .*) \(\S+:\d+\)$", text, re.MULTILINE)


class Intensive(unittest.TestCase):
    def test_thermo(self):
        """LAMMPS divides extensive values by the number of atoms with norm yes."""
        columns = ["c_c", "c_c[1]", "c_f", "c_f[7]", "c_f[8]", "c_d"]
        found = {}
        for norm in "yes", "no":
            table = run(f"compute c all coord/gpu {NEAR} precision double",
                        f"compute f all coord/gpu {NEAR} function histogram 0.5 1.5 2 precision double",
                        'compute d all coord/custom "2*a" a c_c', "thermo_style custom step " + " ".join(columns),
                        f"thermo_modify norm {norm} format float %.15g", "run 1", units="lj").tables[0]
            self.assertAlmostEqual(table["c_c"][0], 2.0, 12)
            self.assertAlmostEqual(table["c_f"][0], 4.0, 12)
            self.assertAlmostEqual(table["c_d"][0], 4.0, 12)
            found[norm] = [table[name][0] for name in columns]
            # -r ds/dr = 6 t (1 - t) r/2 at 4 and 5, with t = 1/4 and 3/4
            self.assertAlmostEqual(table["c_c[1]"][0], 6 * 0.1875 / 2 * (4 + 5), 12)
        self.assertEqual(found["yes"], found["no"])


if __name__ == "__main__":
    unittest.main()
