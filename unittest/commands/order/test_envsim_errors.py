"""Bad input of compute coord/envsim stops LAMMPS on all ranks with a message that names the value, the limit and the way out."""
# Processors: 2
# Without: gpu

import os
import re
import tempfile
import unittest

import errortest
from errortest import PRINT_S, SYSTEM, commands, error_of, errors_in, run_script, start, start_all

STYLE = "compute coord/envsim"
COMPUTE = "compute c a coord/envsim "
KEYWORDS = "structure, file, sigma, lambda, cutoff, group2, function, within, norm, precision, device, check"
STRUCTURES = "fcc, bcc, sc, diamond, hcp"
GOOD = "structure sc 2.5 sigma 0.05"
NOT_FINITE = "is not a finite number - the simulation is unstable, or positions were set wrongly"
REACH = "reach (longest vector + cutoff*sigma)"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
ARGUMENTS = [
    # Keywords of this style alone.
    ("[compute] c a coord/envsim sigma 0.1", "Compute coord/envsim needs an environment, for example: structure fcc 4.05"),
    ("[compute] c a coord/envsim structure sc 2.5", "Compute coord/envsim needs sigma, for example: sigma 0.4"),
    ("structure [ice] 4.0 sigma 0.1", f"Unknown {STYLE} structure option: ice - known are {STRUCTURES}"),
    ("structure fcc [x] sigma 0.1", "Compute coord/envsim structure fcc lattice constant a must be a number, not 'x'"),
    ("structure fcc [0] sigma 0.1", "Compute coord/envsim structure fcc: the lattice constant a is 0 but must be > 0 and finite"),
    ("structure hcp 2.5 [-4] sigma 0.1",
     "Compute coord/envsim structure hcp: the lattice constant c is -4 but must be > 0 and finite"),
    ("structure hcp 2.5 [sigma] 0.1", "Compute coord/envsim structure hcp lattice constant c must be a number, not 'sigma'"),
    ("structure sc 2.5 sigma [0]", "Compute coord/envsim: sigma is 0 but must be > 0 and finite"),
    ("structure sc 2.5 sigma [-0.1]", "Compute coord/envsim: sigma is -0.1 but must be > 0 and finite"),
    ("structure sc 2.5 sigma [a]", "Compute coord/envsim sigma must be a number, not 'a'"),
    (f"{GOOD} [sigma] 0.1", "Compute coord/envsim takes one sigma, but a second one is given"),
    (f"{GOOD} lambda [0]", "Compute coord/envsim: lambda is 0 but must be 0.001 to 1000000"),
    (f"{GOOD} lambda [1e17]", "Compute coord/envsim: lambda is 1e+17 but must be 0.001 to 1000000"),
    (f"lambda 1 {GOOD} [lambda] 2", "Compute coord/envsim takes one lambda, but a second one is given"),
    (f"{GOOD} cutoff [-1]", "Compute coord/envsim: cutoff is -1 but must be > 0 and finite"),
    (f"cutoff 8 {GOOD} [cutoff] 8", "Compute coord/envsim takes one cutoff, but a second one is given"),
    # Distances whose squares are beyond single precision.
    *((f"structure {words}", f"Compute coord/envsim{what} is {value} but must be from 1e-18 to 1e+18, whose squares single "
       "precision holds") for words, what, value in (
           ("sc 2.5 sigma [1e19]", ": sigma", "1e+19"), ("sc 2.5 sigma [1e308]", ": sigma", "1e+308"),
           ("sc 2.5 sigma [1e18]", ": cutoff times sigma", "8e+18"), ("sc 2.5 sigma 0.1 cutoff [1e30]", ": cutoff times sigma", "1e+29"),
           ("sc [1e30] sigma 0.1", " structure sc: the lattice constant a", "1e+30"),
           ("hcp 2.5 [1e-30] sigma 0.1", " structure hcp: the lattice constant c", "1e-30"),
           ("sc 2.5 sigma [1e-30]", ": sigma", "1e-30"))),
    (f"{GOOD} device [gpu]", "Unknown compute coord/envsim device option: gpu - known are auto, cuda, host"),

    # Keywords of compute coord/gpu: those that this style shares, and those that it lacks.
    *((f"[{keyword}] 1 {GOOD}", f"Unknown {STYLE} keyword: {keyword} - known are {KEYWORDS}") for keyword in (
        "switch", "coeff", "pairs", "image", "engine", "order", "cubic")),
    (f"{GOOD} group2 [nix]", "Compute coord/envsim group2: group nix does not exist - define it before the compute"),
    (f"{GOOD} function max 1 [norm] mean", "Compute coord/envsim function max is not a sum over atoms and takes no norm - leave "
     "norm out"),
    (f"{GOOD} function max 1 [within] z 1 2 smear 1", "Compute coord/envsim function max is not a sum over atoms and takes no "
     "within - leave within out"),
    (f"{GOOD} function more_than rational 0.5 [bogus]", f"Unknown {STYLE} function keyword: bogus - more_than "
     f"rational takes nn, mm, d0, dmax, nostretch, then optionally {KEYWORDS}"),
    (f"{GOOD} function min [0]", "Compute coord/envsim function min: beta is 0 but must be > 0 and finite"),
    (f"{GOOD} precision [half]", "Unknown compute coord/envsim precision option: half - known are mixed, double"),
    (f"{GOOD} precision [single]", "Compute coord/envsim has no precision single - use precision mixed, which has the same "
     "results"),
    (f"{GOOD} check [0] 1e-8", "Compute coord/envsim check interval is 0 but must be a number of evaluations > 0"),
    *((words, f"Illegal {STYLE} {missing} command: missing argument(s)") for words, missing in (
        ("structure", "structure"), ("structure fcc", "structure fcc"), ("structure hcp 2.5", "structure hcp"), ("file", "file"),
        ("sigma", "sigma"), ("lambda", "lambda"), ("cutoff", "cutoff"))),
]

PDB = "ATOM      1  C   XXX A   1    "
MUST_BE_RECORD = "must be an ATOM or HETATM record with x, y and z in columns 31 to 54"
# Name and text of each bad file, and why it cannot be used.
FILES = {
    "empty": ("empty", "", "it has no vectors"),
    "comments": ("comments", "# x y z\n\n", "it has no vectors"),
    "empty pdb": ("none.pdb", "REMARK\nEND\n", "it has no ATOM or HETATM records"),
    "missing": ("missing", None, "it cannot be opened: No such file or directory - give the path of a file that can be read"),
    "two words": ("two", "1 0 0\n0 1 # 0\n", "line 2: '0 1 # 0' must be x y z, or x y z and an atom type"),
    "five words": ("five", "1 0 0 1 1\n", "line 1: '1 0 0 1 1' must be x y z, or x y z and an atom type"),
    "no number": ("word", "# a\n\n1 x 0\n", "line 3: 'x' is not a finite number"),
    "infinite": ("infinite", "1 1e999 0\n", "line 1: '1e999' is not a finite number"),
    "length 0": ("zero", "1 0 0\n\n0 0.0 0\n", "line 3: the vector has length 0 - leave out the atom in the center"),
    "type 0": ("type0", "1 0 0 0\n", "line 1: atom type 0 is not one of the types 1 to 1"),
    "type 2": ("type2", "1 0 0 2\n", "line 1: atom type 2 is not one of the types 1 to 1"),
    "type beyond int": ("type2e32", "1 0 0 4294967297\n", "line 1: atom type 4294967297 is not one of the types 1 to 1"),
    "type label": ("label", "1 0 0 Na\n", "line 1: atom type Na is not a label - use labelmap, or a number from 1 to 1"),
    "bytes": ("bytes", "1 0 \0\x1b[2J\n", r"line 1: '\x00\x1b[2J' is not a finite number"),
    "a long line": ("long", 200 * "1 ", f"line 1: '{40 * '1 '}...' must be x y z, or x y z and an atom type"),
    "short record": ("short.pdb", PDB + "   1.000\n", f"line 1: '{PDB}   1.000' {MUST_BE_RECORD}"),
    "free format": ("free.pdb", PDB + "   1.000   0.000   0.000\nATOM 2 AL ALU 2 -1.0 0.0 0.0\n",
                    f"line 2: 'ATOM 2 AL ALU 2 -1.0 0.0 0.0' {MUST_BE_RECORD}"),
    "lower case": ("lower.pdb", "atom  " + PDB[6:] + "   1.000   0.000   0.000\n",
                   f"line 1: 'atom  {PDB[6:]}   1.000   0.000   0.000' {MUST_BE_RECORD}"),
    "pdb by another name": ("pdb.txt", PDB + "   1.000   0.000   0.000\n",
                            "line 1: it is a record of a PDB file - the name of a PDB file must end with .pdb"),
    "bad record": ("bad.pdb", PDB + "   1.000   x.000   0.000\n", "line 1: 'x.000' is not a finite number"),
    "center": ("center.pdb", "REMARK\n" + PDB + "   0.000   0.000   0.000\n",
               "line 2: the vector has length 0 - leave out the atom in the center"),
}

NAN = "variable bad atom exp(1000)-exp(1000)\n"
# Scripts whose last line must fail.
RUNS = {
    "group2 deleted": (f"compute c a coord/envsim group2 short {GOOD}\ngroup short delete\nrun 0",
                       "Compute coord/envsim c: group short no longer exists - keep it while the compute uses it"),
    "too few ghost atoms": (
        "compute c all coord/envsim structure sc 2.5 sigma 0.15\nrun 0",
        f"Compute coord/envsim c: {REACH} plus skin 4 exceeds the ghost atom range 3.3 - use comm_modify cutoff 4 or more"),
    "a function without a value": (
        f"group one id 5\ncompute c one coord/envsim group2 empty {GOOD} function custom log(s)\nrun 0",
        "Compute coord/envsim c: function custom log(s) or its derivative is not a finite number at similarity = 0 of atom ID 5 - "
        "use a function that is finite and smooth at all similarities"),
    "NaN": (f"{NAN}compute c all coord/envsim {GOOD}\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
            f"Compute coord/envsim c: the position of atom ID 12 {NOT_FINITE}"),
    "NaN with max": (f"{NAN}compute c all coord/envsim {GOOD} function max 1\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
                     f"Compute coord/envsim c: the position of atom ID 12 {NOT_FINITE}"),
    "a bias of a histogram": (
        f"compute c all coord/envsim {GOOD} function histogram 0 1 4\nfix b all coord/bias c_c harmonic k 1 s0 0",
        "Fix coord/bias cannot take compute c: its function histogram is for output only - bias a function such as between"),
}


def with_output(script):
    """Return the script with S in the thermodynamic output after the definition of compute c."""
    return re.sub(r"^(compute c .*)\n", rf"\1\n{PRINT_S}", script, flags=re.MULTILINE)


def write(folder, name, text):
    """Write a file and return its path."""
    path = os.path.join(folder, name)
    if text is not None:
        with open(path, "w") as file:
            file.write(text)
    return path


def tearDownModule():
    start().finalize()    # mpirun reports an error for a rank that ends without this call


class Errors(errortest.InProcess):
    def error(self, marked):
        """Return the message of a command and the command with its marked word."""
        message, command = error_of(self.lmp, re.sub(r"[][]", "", marked))
        self.assertFalse(self.lmp.has_id("compute", "c"))
        return message.split("\nFor more information")[0], command if "[" in marked else None

    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = words if words.startswith("[compute]") else COMPUTE + words
            with self.subTest(words):
                self.assertEqual(self.error(marked), (message, marked if "[" in marked else None))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (file, text, why) in FILES.items():
                path = write(folder, file, text)
                marked = f"{COMPUTE}sigma 0.1 file [{path}]"
                with self.subTest(name):
                    self.assertEqual(self.error(marked), (f"Compute coord/envsim file {path} cannot be used: {why}", marked))

    def test_files_without_end_and_limits(self):
        marked = f"{COMPUTE}sigma 0.1 file [/dev/zero]"
        self.assertEqual(self.error(marked), ("Compute coord/envsim file /dev/zero cannot be used: it is longer than 64 MB, the limit "
                                              "- check the name", marked))
        with tempfile.TemporaryDirectory() as folder:
            path = write(folder, "huge", "1e30 0 0\n")
            self.assertEqual(error_of(self.lmp, f"{COMPUTE}sigma 0.1 file {path}")[0], "Compute coord/envsim: the longest vector plus "
                             "cutoff times sigma is 1e+30 but must be from 1e-18 to 1e+18, whose squares single precision holds")

    def test_files_without_a_box_and_units(self):
        with tempfile.TemporaryDirectory() as folder:
            typed, pdb = write(folder, "typed", "1 0 0 1\n"), write(folder, "a.pdb", PDB + "   1.000   0.000   0.000\n")
            self.lmp.command("clear")
            self.lmp.command("units lj")
            for path, why in ((typed, "line 1: atom types need a simulation box - define the compute after the box"),
                              (pdb, "PDB files are in Angstrom, which has no length in units lj - use a text file of vectors")):
                marked = f"compute c all coord/envsim sigma 0.1 file [{path}]"
                self.assertEqual(self.error(marked), (f"Compute coord/envsim file {path} cannot be used: {why}", marked))

    def test_runs(self):
        for name, (script, message) in RUNS.items():
            *before, last = with_output(script).split("\n")
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, "\n".join(before))
                self.assertEqual(error_of(self.lmp, last)[0], message)

    def test_on_ranks(self):
        """One message and no hang, also where one rank alone fails, or reads the file."""
        with tempfile.TemporaryDirectory() as folder:
            cases = {name: RUNS[name] for name in ("NaN", "NaN with max", "a function without a value", "group2 deleted")}
            for name in "missing", "two words", "type 2":
                file, text, why = FILES[name]
                path = write(folder, file, text)
                cases[name] = f"{COMPUTE}sigma 0.1 file {path}", f"Compute coord/envsim file {path} cannot be used: {why}"
            scripts = {(name, ranks): (SYSTEM + with_output(script) + "\n", ranks) for name, (script, _) in cases.items()
                       for ranks in (2, 4)}
            for (name, ranks), future in zip(scripts, start_all(run_script, list(scripts.values()))):
                code, output = future.result()
                with self.subTest(name, ranks=ranks):
                    self.assertNotEqual(code, 0)
                    self.assertEqual(errors_in(output), [cases[name][1]], output)

    def test_check_fails(self):
        commands(self.lmp, f"compute c all coord/envsim {GOOD} precision mixed check 1 1e-14\n{PRINT_S}")
        self.assertRegex(error_of(self.lmp, "run 0")[0], r"^Compute coord/envsim c: check: .* differs by \S+ from "
                         r"the reference of magnitude \S+, more than \S+ - use a higher precision, or report a bug$")
        commands(self.lmp, f"thermo_style one\nuncompute c\ncompute c all coord/envsim {GOOD} precision double check 1 1e-9\n"
                 f"{PRINT_S}run 0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
