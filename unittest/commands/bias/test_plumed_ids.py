"""Atom IDs of fix coord/plumed: atoms without IDs, a box without atoms, and large IDs."""

import os
import re
import subprocess
import tempfile
import unittest

import numpy as np

import coordtest
import errortest
import plumedtest
from errortest import commands, error_of, errors_in, run_script, without_suffix
from test_plumed_errors import FIX, put

S = "UNITS NATURAL\ns: EXTRACV NAME=cv\n"
R = "r: RESTRAINT ARG=s AT=5 KAPPA=100\n"
# 64 atoms near the sites of a lattice.
BOX = """
units lj
{modify}
lattice sc 1.0
region box block 0 4 0 4 0 4
create_box 1 box
mass 1 1.0
pair_style zero 1.6
pair_coeff * *
{variable}
"""
VARIABLE = "compute cv all coord/gpu switch cubic d0 0.8 dmax 1.5 norm mean"
ATOMS = "create_atoms 1 box\ndisplace_atoms all random 0.1 0.1 0.1 4711\n"
NO_IDS = "atom_modify id no sort 0 0"
MAP = "atom_modify map array"
OUTPUT = "thermo 1\nthermo_style custom step c_cv f_b[1] f_b\nthermo_modify norm no format float %.17g\n"


def box(modify=MAP):
    return BOX.format(modify=modify, variable=VARIABLE)


class Case(unittest.TestCase):
    def setUp(self):
        self.lmp = errortest.start()
        self.addCleanup(self.lmp.close)

    def fix(self, text):
        path = put(text)
        return f"{FIX}c_cv plumedfile {path} outfile {path}.log"

    def check(self, more=0.0):
        """V is that of the restraint, k (S - 5)^2 / 2, and of other actions."""
        s = self.lmp.extract_compute("cv", 0, 0)
        self.assertAlmostEqual(self.lmp.extract_fix("b", 0, 0), 50 * (s - 5)**2 + more, delta=1e-10)
        return s


class NoIds(Case):
    def test_variables(self):
        """Without IDs, PLUMED can read variables, and the volume of the box."""
        fix = self.fix(S + R + "v: VOLUME\nRESTRAINT ARG=v AT=0 KAPPA=0 SLOPE=1\n")
        script = box(NO_IDS) + ATOMS + fix + "\n" + OUTPUT + "fix move all nve\nrun 2\n"
        for ranks in 1, 2:
            code, output = run_script(script, ranks)
            self.assertEqual(code, 0, output[-3000:])
            rows = np.array(re.findall(r"^ +([012]) +(\S+) +(\S+) +(\S+)$", output, re.MULTILINE), float)
            self.assertEqual(rows[:, 0].tolist(), [0, 1, 2])
            self.assertGreater(rows[0, 1], 0.1)
            np.testing.assert_allclose(rows[:, 2], rows[:, 1], 1e-14)
            np.testing.assert_allclose(rows[:, 3], 50 * (rows[:, 1] - 5)**2 + 64, 1e-12)

    def test_atoms(self):
        """Actions with atoms are an error that names the action."""
        commands(self.lmp, box(NO_IDS) + ATOMS)
        for action, keyword in ("d: DISTANCE ATOMS=1,2", "ATOMS"), ("p: POSITION ATOM=1", "ATOM"), \
                ("c: COORDINATION GROUPA=1 GROUPB=2,3 R_0=1", "GROUPA"), ("g: GROUP ATOMS=1-3", "ATOMS"), \
                ("c: COORDINATIONNUMBER SPECIES=1-9 R_0=1 MEAN", "SPECIES"):
            with self.subTest(action):
                fix = self.fix(S + R + action + "\n")
                path = re.search(r"plumedfile (\S+)", fix).group(1)
                message, marked = error_of(self.lmp, fix)
                self.assertEqual(without_suffix(message), f"Fix coord/plumed: {path}, line 4: {action.split()[1]} uses atoms "
                                 f"by {keyword}=, but the atoms have no IDs - leave out command atom_modify id no, or use "
                                 "only variables of the fix")
                self.assertEqual(marked, fix.replace(path, f"[{path}]", 1))
        commands(self.lmp, self.fix(S + R) + "\nrun 0")
        self.check()


class NoAtoms(Case):
    def test_empty_box(self):
        for modify in MAP, "atom_modify map hash", "atom_modify sort 0 0":
            with self.subTest(modify):
                self.lmp.command("clear")
                commands(self.lmp, box(modify) + self.fix(S + R) + "\nrun 0")
                self.assertEqual(self.check(), 0.0)

    def test_atoms_after_the_fix(self):
        """Atoms that are created between the definition of the fix and the first run can be used."""
        commands(self.lmp, box() + self.fix(S + R + "d: DISTANCE ATOMS=3,64\nRESTRAINT ARG=d AT=0 KAPPA=2\n") + "\n" +
                 ATOMS + "run 0")
        x = np.array(self.lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)
        d = x[63] - x[2]
        d -= 4 * np.round(d / 4)
        self.assertGreater(self.check((d**2).sum()), 0.1)
        commands(self.lmp, "fix move all nve\nrun 2")


class LargeIds(Case):
    SPARSE = 3000000    # largest ID of two atoms

    def data(self, largest):
        path = tempfile.mktemp(dir=coordtest.folder())
        with open(path, "w") as file:
            file.write(f"two\n\n2 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # atomic\n\n"
                       f"7 1 1 1 1\n{largest} 1 2 1.1 1\n")
        return path

    def script(self, largest, fix):
        return f"units lj\natom_modify map hash\npair_style zero 1.6\nread_data {self.data(largest)}\npair_coeff * *\n" \
            f"{VARIABLE}\n{fix}\n"

    def advice(self, ids):
        return f", but the memory and time of PLUMED follow the largest atom ID, {ids}: about {250e-9 * ids:.2g} GB on one " \
            "rank - use command reset_atoms id"

    def test_warning(self):
        """PLUMED uses the atom of the largest ID. After the way out there is no warning."""
        warning = "WARNING: Fix coord/plumed b: there are 2 atoms" + self.advice(self.SPARSE)
        for ids, before in (f"7,{self.SPARSE}", ""), ("1,2", "reset_atoms id\n"):
            fix = self.fix(S + R + f"d: DISTANCE ATOMS={ids}\nRESTRAINT ARG=d AT=0 KAPPA=2\n")
            code, output = run_script(self.script(self.SPARSE, before + fix) + OUTPUT + "run 1\n", 2)
            self.assertEqual(code, 0, output[-3000:])
            self.assertEqual(output.count(warning), 0 if before else 1, output[-3000:])
            rows = np.array(re.findall(r"^ +([01]) +(\S+) +(\S+) +(\S+)$", output, re.MULTILINE), float)
            self.assertGreater(rows[0, 1], 0.1)
            np.testing.assert_allclose(rows[:, 3], 50 * (rows[:, 1] - 5)**2 + 1.01, 1e-12)

    def test_out_of_memory(self):
        """The address space is limited to what a run with few IDs needs, and half a gigabyte."""
        if coordtest.KOKKOS:
            self.skipTest("KOKKOS reserves more address space")
        fix = self.fix(S + R)
        for ids in 300000000, 30000000:
            path = tempfile.mktemp(dir=coordtest.folder())
            with open(path, "w") as file:
                file.write(self.script(ids, fix) + "run 0\n")
            done = subprocess.run(["bash", "-c", 'ulimit -v 1500000; exec "$@"', "bash", *coordtest.lmp_program(), "-in", path,
                                   "-log", "none", "-nocite"], capture_output=True, text=True, timeout=100)
            self.assertNotEqual(done.returncode, 0)
            found = errors_in(done.stdout + done.stderr)
            self.assertEqual(len(found), 1, done.stdout[-2000:] + done.stderr[-2000:])
            self.assertRegex(found[0], r"^Fix coord/plumed b: (rank 0 is )?out of memory" + re.escape(self.advice(ids)) + "$")


def setUpModule():
    os.chdir(coordtest.folder())


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
