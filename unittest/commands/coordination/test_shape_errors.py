"""Bad input of compute coord/shape stops LAMMPS on all ranks with a message that names the value, the limit and the way out."""
# Processors: 2
# Without: gpu

import re
import unittest

import errortest
from errortest import PRINT_S, SYSTEM, commands, error_of, errors_in, run_script, start, start_all
from coordtest import new_file
from test_envsim_errors import write

COMPUTE = "compute c all coord/shape "
OWNER = "Compute coord/shape"
KEYWORDS = "keywords are reference, weights, unwrap and squared"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
ARGUMENTS = [
    ("compute c [a] coord/shape gyration b",
     f"{OWNER} group must be all, not a: the second group selects the atoms - use group all"),
    ("[compute] c all coord/shape", f"{OWNER} needs gyration or rmsd and a group - such as gyration all"),
    ("[compute] c all coord/shape gyration", f"{OWNER} needs gyration or rmsd and a group - such as gyration all"),
    (f"{COMPUTE}[radius] a", "Unknown compute coord/shape option: radius - known are gyration, rmsd"),
    (f"{COMPUTE}gyration [nix]", f"{OWNER} group nix does not exist - define it before the compute"),
    (f"{COMPUTE}gyration a [scale] 2", f"{OWNER} gyration has no keyword 'scale' - keywords are weights, unwrap and squared"),
    (f"{COMPUTE}gyration a [reference] x", f"{OWNER} gyration has no keyword 'reference' - keywords are weights, unwrap and squared"),
    (f"{COMPUTE}rmsd a [scale] 2", f"{OWNER} rmsd has no keyword 'scale' - {KEYWORDS}"),
    (f"{COMPUTE}gyration a weights [charge]", "Unknown compute coord/shape weights option: charge - known are mass, geometry"),
    (f"{COMPUTE}gyration a unwrap [none]", "Unknown compute coord/shape unwrap option: none - known are image, nearest"),
    (f"{COMPUTE}gyration a squared [maybe]", "Unknown compute coord/shape squared option: maybe - known are yes, no"),
    ("[compute] c all coord/shape rmsd a weights mass",
     f"{OWNER} rmsd needs reference positions - give reference FILE, with a line ID x y z for each atom"),
]

# Text of a reference file, and the message without the name of the file.
FILES = {
    "three words": ("1 0 0 0\n2 1 # 1 1\n3 0 0\n", ": 2 words are given but ID x y z are needed in line 2"),
    "one word": ("x\n", ": 1 word is given but ID x y z are needed in line 1"),
    "five words": ("# a\n\n1 0 0 0 1\n", ": 5 words are given but ID x y z are needed in line 3"),
    "no ID": ("1 0 0 0\nC 1 1 1\n", ": 'C' is not an atom ID, an integer from 1 to 2147483647, in line 2"),
    "ID 0": ("0 0 0 0\n", ": '0' is not an atom ID, an integer from 1 to 2147483647, in line 1"),
    "a large ID": ("99999999999999999999 0 0 0\n",
                   ": '99999999999999999999' is not an atom ID, an integer from 1 to 2147483647, in line 1"),
    "no number": ("1 0 0 0\n2 1 1 z\n", ": 'z' is not a finite number in line 2"),
    "infinite": ("1 0 0 0\n2 1 1e999 0\n", ": '1e999' is not a finite number in line 2"),
    "twice": ("7 0 0 0\n\n8 1 1 1\n7 2 2 2\n", ": atom ID 7 is in line 1 already, use one line for each atom, in line 4"),
    "bytes": ("1 0 0 0\0\x1b[2J\n", r": '0\x00\x1b[2J' is not a finite number in line 1"),
    "empty": ("# nothing\n", " cannot be used: there are 0 numbers of reference positions: give three for each of at least two atoms"),
    "one atom": ("1 0 0 0\n", " cannot be used: there are 3 numbers of reference positions: give three for each of at least two atoms"),
    "one place": ("1 1 2 3\n2 1 2 3\n", " cannot be used: all reference positions are at the same place: give those of atoms at two "
                  "places or more"),
    "missing": (None, " cannot be used: it cannot be opened: No such file or directory - give the path of a file that can be read"),
}

REFERENCE = write(".", new_file(), "".join(f"{k} {k % 3} {k // 3} {k * k}\n" for k in range(1, 8)))
# Scripts whose last line must fail.
RUNS = {
    "missing atom": (f"{COMPUTE}rmsd a reference {REFERENCE}\nrun 0",
                     f"{OWNER} c: atom ID 8 of group a has no position in reference {REFERENCE} - add a line for it, or use a group "
                     "without it"),
    "group deleted": (f"{COMPUTE}gyration short\ngroup short delete\nrun 0",
                      f"{OWNER} c: group short no longer exists - keep it while the compute uses it"),
    "empty group": (f"{COMPUTE}gyration empty\nrun 0", f"{OWNER} c: group empty has no atoms - use a group with atoms"),
    "nearest": (f"{COMPUTE}gyration all unwrap nearest\nrun 0", None),
    "NaN": (f"variable bad atom exp(1000)-exp(1000)\n{COMPUTE}gyration a\nrun 0\nset atom 5 y v_bad\nrun 1 pre no",
            f"{OWNER} c: the position of atom ID 5 is not a finite number - the simulation is unstable, or positions were set "
            "wrongly"),
}
NEAREST = (r"Compute coord/shape c: an atom of group all is \S+ away from the atom with the smallest ID along periodic directions, but unwrap "
           "nearest needs < 5, half of the shortest box vector - use unwrap image")

# Warnings of runs that go on.
WARNINGS = {
    "same place": ("group one id 3\ncompute c all coord/shape gyration one\nfix b all coord/bias c_c harmonic k 1 s0 1\nrun 1",
                   f"WARNING: {OWNER} c: the radius of gyration has no derivative while all atoms are at the same place, so it exerts "
                   "no force there - use a group of several atoms, or squared yes"),
    "not unique": ("group two id 1 2\nset group two x 1 y 1 z 1 image 0 0 0\n"
                   f"compute c all coord/shape rmsd two reference {REFERENCE}\nfix b all coord/bias c_c harmonic k 1 s0 1\nrun 1",
                   f"WARNING: {OWNER} c: two rotations align the atoms with the reference equally well, and the force jumps from one "
                   "to the other - use more atoms, or a reference that is closer to them"),
}


def with_output(script):
    """Return the script with S in the thermodynamic output after the definition of compute c."""
    return re.sub(r"^(compute c .*)\n", rf"\1\n{PRINT_S}", script, flags=re.MULTILINE)


def tearDownModule():
    start().finalize()    # mpirun reports an error for a rank that ends without this call


class Errors(errortest.InProcess):
    def error(self, marked):
        """Return the message of a command and the command with its marked word."""
        message, command = error_of(self.lmp, re.sub(r"[][]", "", marked))
        self.assertFalse(self.lmp.has_id("compute", "c"))
        return message.split("\nFor more information")[0], command

    def test_arguments(self):
        for marked, message in ARGUMENTS:
            with self.subTest(marked):
                self.assertEqual(self.error(marked), (message, marked))

    def test_files(self):
        for name, (text, why) in FILES.items():
            path = write(".", new_file() + ".txt", text)
            marked = f"{COMPUTE}rmsd a reference [{path}]"
            with self.subTest(name):
                self.assertEqual(self.error(marked), (f"{OWNER} reference {path}{why}", marked))

    def test_runs(self):
        for name, (script, message) in RUNS.items():
            *before, last = with_output(script).split("\n")
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, "\n".join(before))
                found = error_of(self.lmp, last)[0]
                self.assertEqual(found, message) if message else self.assertRegex(found, f"^{NEAREST}$")

    def test_on_ranks(self):
        """One message and no hang, also where one rank alone fails, or reads the file."""
        path = write(".", new_file(), FILES["twice"][0])
        cases = {name: RUNS[name] for name in ("missing atom", "NaN")}
        cases["file"] = f"{COMPUTE}rmsd a reference {path}", f"{OWNER} reference {path}{FILES['twice'][1]}"
        scripts = {(name, ranks): (SYSTEM + with_output(script) + "\n", ranks) for name, (script, _) in cases.items()
                   for ranks in (2, 4)}
        for (name, ranks), future in zip(scripts, start_all(run_script, list(scripts.values()))):
            code, output = future.result()
            with self.subTest(name, ranks=ranks):
                self.assertNotEqual(code, 0)
                self.assertEqual(errors_in(output), [cases[name][1]])

    def test_warnings(self):
        """Once per run, on all numbers of ranks."""
        scripts = {(name, ranks): (SYSTEM + script + "\n", ranks) for name, (script, _) in WARNINGS.items() for ranks in (1, 2)}
        for (name, ranks), future in zip(scripts, start_all(run_script, list(scripts.values()))):
            code, output = future.result()
            with self.subTest(name, ranks=ranks):
                self.assertEqual(code, 0, output)
                found = [line for line in output.splitlines() if line.startswith(f"WARNING: {OWNER}")]
                self.assertEqual([re.sub(r" \(\S+:\d+\)$", "", line) for line in found], [WARNINGS[name][1]])
                way_out = WARNINGS[name][1].split(" - ")[1]
                self.assertIn(f"\n{OWNER} c: singular evaluations of values in this run: 2 - {way_out}\n", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
