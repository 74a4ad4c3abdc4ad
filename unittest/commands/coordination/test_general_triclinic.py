"""Per-atom derivatives in a general triclinic box: one warning per compute."""

import re
import unittest

import coordtest

DATA = """general triclinic box

3 atoms
1 atom types

7.0 1.0 0.5 avec
-1.5 6.5 0.8 bvec
0.7 -0.9 7.2 cvec
0 0 0 abc origin

Atoms # atomic

1 1 1.0 1.0 1.0
2 1 2.0 1.5 1.0
3 1 1.0 2.5 1.2
"""
WARNING = ("WARNING: Compute {}: the box is general triclinic, but per-atom {} are in the frame of LAMMPS' restricted "
           "triclinic box - use them with positions in that frame, as a dump writes them without triclinic/general yes")
COMPUTES = {"c": "coord/gpu switch cubic dmax 2.5 precision double", "q": "coord/orientorder switch cubic dmax 2.5",
            "e": "coord/envsim structure sc 1.5 sigma 0.1", "d": "coord/custom 2*s s c_c", "unused": "coord/gpu switch cubic dmax 2"}


class Warnings(unittest.TestCase):
    def run_in(self, box, ranks=1):
        """Return the warnings of a run with a dump of columns of all computes except the last."""
        path = f"{coordtest.folder()}/general"
        with open(path, "w") as file:
            file.write(DATA)
        region = ["region b block 0 7 0 7 0 7", "create_box 1 b", "create_atoms 1 single 1 1 1",
                  "create_atoms 1 single 2 1.5 1", "create_atoms 1 single 1 2.5 1.2"]
        run = coordtest.run_lammps([
            "units lj", "atom_modify map array", "box tilt large", *([f"read_data {path}"] if box == "general" else region),
            "mass 1 1.0", "pair_style zero 2.6", "pair_coeff * *",
            *(f"compute {name} all {words}" for name, words in COMPUTES.items()),
            "fix b all coord/bias c_c linear k 1.0", "compute f all coord/force b",
            "thermo_style custom step c_c c_q c_e c_d c_unused",
            "dump d all custom 1 dump id x y z c_c[2] c_q[2] c_e[2] c_d[1] c_f[1]", "run 3"], ranks)
        return re.findall(r"^WARNING: Compute .*triclinic.*?(?= \(\S+:\d+\)$)", run.text, re.MULTILINE)

    def test_warning(self):
        for ranks in (1, 2):
            self.assertEqual(self.run_in("general", ranks), [
                WARNING.format(f"{COMPUTES[name].split()[0]} {name}", "derivatives") for name in "cqed"] + [
                    WARNING.format("coord/force f", "forces")])

    def test_no_warning(self):
        self.assertEqual(self.run_in("restricted"), [])


if __name__ == "__main__":
    unittest.main()
