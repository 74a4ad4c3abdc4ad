"""Bad input of compute coord/pairentropy stops LAMMPS on all ranks with a message that names the value, the
limit and the way out."""
# Processors: 2
# Without: gpu

import re
import unittest

import errortest
from errortest import PRINT_S, SYSTEM, commands, error_of, errors_in, run_script, start, start_all

STYLE = "Compute coord/pairentropy"
COMPUTE = "compute c a coord/pairentropy "
KEYWORDS = "cutoff, sigma, bins, group2, precision, device, check"
GOOD = "cutoff 2.2 sigma 0.1 bins 40"
EXAMPLE = "for example: cutoff 2.5 sigma 0.05 bins 100"

# Words of each bad command, with [] around the word that LAMMPS must mark by ^^^, and the message.
ARGUMENTS = [
    ("[compute] c a coord/pairentropy", f"{STYLE} needs cutoff, {EXAMPLE}"),
    ("[compute] c a coord/pairentropy cutoff 2 bins 40", f"{STYLE} needs sigma, {EXAMPLE}"),
    ("[compute] c a coord/pairentropy cutoff 2 sigma 0.1", f"{STYLE} needs bins, {EXAMPLE}"),
    ("cutoff [0] sigma 0.1 bins 40", f"{STYLE}: cutoff is 0 but must be > 0 and finite"),
    ("cutoff [inf] sigma 0.1 bins 40", f"{STYLE} cutoff must be a number, not 'inf'"),
    ("cutoff 2 sigma [0] bins 40", f"{STYLE}: sigma is 0 but must be > 0 and finite"),
    ("cutoff 2 sigma [-0.1] bins 40", f"{STYLE}: sigma is -0.1 but must be > 0 and finite"),
    ("cutoff 2 sigma [x] bins 40", f"{STYLE} sigma must be a number, not 'x'"),
    ("cutoff 2 sigma 0.1 bins [0]", f"{STYLE}: bins is 0 but must be 1 to 10000"),
    ("cutoff 2 sigma 0.1 bins [10001]", f"{STYLE}: bins is 10001 but must be 1 to 10000"),
    ("cutoff 2 sigma 0.1 bins [40.5]", f"{STYLE} bins must be an integer, not '40.5'"),
    *((words, f"{STYLE}: {what} but must be from 1e-18 to 1e+18, whose squares single precision holds") for words, what in (
        ("cutoff 2.5 sigma [1e18] bins 50", "cutoff plus 8 sigma is 8e+18"), ("cutoff 2.5 sigma [1e308] bins 50", "sigma is 1e+308"),
        ("cutoff [1e30] sigma 0.1 bins 50", "cutoff is 1e+30"), ("cutoff [1e-20] sigma 1e-20 bins 50", "cutoff is 1e-20"))),
    ("bins [19] cutoff 2 sigma 0.1", f"{STYLE}: bins of 0.1052631579 are wider than sigma 0.1, so the integral would miss "
     "Gaussians between them - use at least 20 bins, better twice as many, or a larger sigma"),
    ("cutoff 2 sigma 0.0001 bins [100]", f"{STYLE}: bins of 0.02 are wider than sigma 0.0001, so the integral would miss "
     "Gaussians between them - with at most 10000 bins, use a sigma of at least 0.0002 or a smaller cutoff"),
    *((f"{GOOD} [{word}] 1", f"{STYLE} takes one {word}, but a second one is given") for word in ("cutoff", "sigma", "bins")),
    (f"{GOOD} group2 [nix]", f"{STYLE} group2: group nix does not exist - define it before the compute"),
    (f"{GOOD} group2 b [group2] b", f"{STYLE} takes one group2, but a second one is given"),
    *((f"{GOOD} [{word}] sum", f"Unknown compute coord/pairentropy keyword: {word} - known are {KEYWORDS}")
      for word in ("function", "norm", "switch", "cubic", "engine", "image", "coeff")),
    (f"{GOOD} precision [half]", "Unknown compute coord/pairentropy precision option: half - known are mixed, double"),
    (f"{GOOD} precision [single]", "Compute coord/pairentropy has no precision single - use precision mixed, which has the same "
     "results"),
    (f"{GOOD} device [gpu]", "Unknown compute coord/pairentropy device option: gpu - known are auto, cuda, host"),
    (f"{GOOD} check 1 [0]", f"{STYLE} check tolerance is 0 but must be > 0"),
    *((f"{GOOD if word not in GOOD else ''} {words}".strip(),
       f"Illegal compute coord/pairentropy {word} command: missing argument(s)") for words, word in (
           ("cutoff", "cutoff"), ("sigma", "sigma"), ("bins", "bins"), ("group2", "group2"), ("check 1", "check"))),
]

NAN = "variable bad atom exp(1000)-exp(1000)\n"
DENSITY = ("Compute coord/pairentropy c: the pair entropy needs the density, and so a box that is periodic in all directions, "
           "but the boundary is {} - use boundary p p p")
# Scripts whose last line must fail.
RUNS = {
    "group2 deleted": (f"compute c a coord/pairentropy group2 short {GOOD}\ngroup short delete\nrun 0",
                       "Compute coord/pairentropy c: group short no longer exists - keep it while the compute uses it"),
    "too few ghost atoms": (
        "compute c all coord/pairentropy cutoff 2.3 sigma 0.1 bins 40\nrun 0",
        "Compute coord/pairentropy c: cutoff + 8 sigma plus skin 3.4 exceeds the ghost atom range 3.3 - use comm_modify cutoff 3.4 "
        "or more"),
    "an open boundary": (f"change_box all boundary p f p\ncompute c all coord/pairentropy {GOOD}\nrun 0",
                         DENSITY.format("pp ff pp")),
    "a boundary that is opened later": (
        f"compute c all coord/pairentropy {GOOD}\nrun 0\nchange_box all boundary p p m\nrun 1 pre no",
        DENSITY.format("pp pp mm")),
    "NaN": (f"{NAN}compute c all coord/pairentropy {GOOD}\nrun 0\nset atom 12 y v_bad\nrun 1 pre no",
            "Compute coord/pairentropy c: the position of atom ID 12 is not a finite number - the simulation is unstable, or "
            "positions were set wrongly"),
}
TWO_DIMENSIONS = """
dimension 2
lattice sq 1.0
region box block 0 4 0 4 -0.5 0.5
create_box 1 box
create_atoms 1 box
mass 1 1.0
pair_style zero 1.0
pair_coeff * *
comm_modify cutoff 4.0
thermo_style custom step c_c
"""


def with_output(script):
    """Return the script with S in the thermodynamic output after the definition of compute c."""
    return re.sub(r"^(compute c .*)\n", rf"\1\n{PRINT_S}", script, flags=re.MULTILINE)


def tearDownModule():
    start().finalize()    # mpirun reports an error for a rank that ends without this call


class Errors(errortest.InProcess):
    def test_arguments(self):
        for words, message in ARGUMENTS:
            marked = words if words.startswith("[compute]") else COMPUTE + words
            with self.subTest(words):
                found = error_of(self.lmp, re.sub(r"[][]", "", marked))
                found = (found[0].split("\nFor more information")[0], found[1] if "[" in marked else None)
                self.assertEqual(found, (message, marked if "[" in marked else None))
                self.assertFalse(self.lmp.has_id("compute", "c"))

    def test_runs(self):
        for name, (script, message) in RUNS.items():
            *before, last = with_output(script).split("\n")
            with self.subTest(name):
                self.setUp()
                commands(self.lmp, "\n".join(before))
                self.assertEqual(error_of(self.lmp, last)[0], message)

    def test_two_dimensions(self):
        self.lmp.command("clear")
        commands(self.lmp, TWO_DIMENSIONS.replace("thermo_style", f"compute c all coord/pairentropy {GOOD}\nthermo_style"))
        self.assertEqual(error_of(self.lmp, "run 0")[0], "Compute coord/pairentropy c: the pair entropy needs the density of a "
                         "three-dimensional system, but the dimension is 2 - use dimension 3")

    def test_on_ranks(self):
        """One message and no hang, also where one rank alone fails."""
        scripts = [(SYSTEM + with_output(RUNS[name][0]) + "\n", ranks) for name in ("NaN", "an open boundary")
                   for ranks in (2, 4)]
        for (script, ranks), future in zip(scripts, start_all(run_script, scripts)):
            code, output = future.result()
            name = "NaN" if "v_bad" in script else "an open boundary"
            with self.subTest(name, ranks=ranks):
                self.assertNotEqual(code, 0)
                self.assertEqual(errors_in(output), [RUNS[name][1]], output)

    def test_check_fails(self):
        commands(self.lmp, f"compute c all coord/pairentropy {GOOD} precision mixed check 1 1e-14\n{PRINT_S}")
        self.assertRegex(error_of(self.lmp, "run 0")[0], r"^Compute coord/pairentropy c: check: S \(before norm\) differs by \S+ from "
                         r"the reference of magnitude \S+, more than \S+ - use a higher precision, or report a bug$")
        commands(self.lmp, "thermo_style one\nuncompute c\n"
                 f"compute c all coord/pairentropy {GOOD} precision double check 1 1e-9\n{PRINT_S}run 0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
