"""Bad input of fix coord/plumed stops LAMMPS on all ranks with one message that names the value and
the way out, or is PLUMED's message with its action."""
# Processors: 2
# Without: gpu

import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import coordtest
import errortest
import plumedtest
from errortest import commands, error_of, errors_in, few, run_script, start_all, without_suffix
from plumedtest import KERNEL

# S of cv is about 0.4, and changes by 0.1 in some hundred steps.
SYSTEM = errortest.SYSTEM + """
velocity all create 300 4711
fix move all nve
compute cv a coord/gpu group2 b switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute cw a coord/gpu switch cubic d0 1.0 dmax 3.0 image minimum engine allpairs precision double
compute ke all ke
"""
FIX = "fix b all coord/plumed "
S = "s: EXTRACV NAME=cv\n"
R = "r: RESTRAINT ARG=s AT=1 KAPPA=1\n"
WORDS = "c_cv plumedfile {file} outfile {file}.log"
LOAD = " - give the path of libplumedKernel.so, and make the libraries that it needs known by LD_LIBRARY_PATH"

# Words of bad commands with [] around the word that LAMMPS must mark by ^^^, the message after 'Fix
# coord/plumed ' (after 'Unknown fix coord/plumed ' if it begins with ?), and PLUMED's input if it is
# not S + R.
KEYWORDS = "known are plumedfile, outfile, kernel, temp, after variables, as c_ID or c_ID as NAME"
READS_NOT = "PLUMED file {{file}} does not read the variable {0} - add a line such as 's: EXTRACV NAME={1}', or leave out " \
    "the variable"
MISSING = "Illegal fix coord/plumed command: missing argument(s)"
ARGUMENTS = [
    ("[c_nix] plumedfile {file}", ": compute nix does not exist - define it before the fix"),
    ("[c_ke] plumedfile {file}", f"takes collective variables (computes of style {coordtest.VARIABLES}), but compute ke is of style ke"),
    ("[c_cv[1]] plumedfile {file}", "takes a whole variable, c_cv, not c_cv[1]"),
    ("c_cv [c_cv] plumedfile {file}", ": compute cv is given twice - give each variable once"),
    ("c_cv as x c_cw as [x] plumedfile {file}", ": the name x is given twice - give each variable another name, as c_ID as "
     "NAME"),
    ("c_cv as cw [c_cw] plumedfile {file}", ": the name cw is given twice - give each variable another name, as c_ID as "
     "NAME"),
    ("c_cv [plumed] {file}", f"?keyword: plumed - {KEYWORDS}"),
    ("c_cv plumedfile {file} [c_cw]", f"?keyword: c_cw - {KEYWORDS}"),
    ("c_cv plumedfile {file} temp [0]", "temp is 0 but must be > 0"),
    ("c_cv plumedfile {file} outfile [nix/log]", ": PLUMED's log nix/log cannot be written: No such file or directory - give "
     "a file in another folder after outfile"),
    ("c_cv plumedfile [{file}]", ": {file}, line 2: OPES_METAD needs the temperature - give it by keyword temp, or by TEMP=",
     S + "m: OPES_METAD ARG=s PACE=5 SIGMA=0.1 BARRIER=20\n"),
    ("c_cv plumedfile [{file}]", ": {file}, line 2: ECV_MULTITHERMAL needs the temperature - give it by keyword temp, or by TEMP=",
     S + "e: ECV_MULTITHERMAL ARG=s TEMP_MIN=300 TEMP_MAX=400\n"),
    ("c_cv plumedfile {file} temp [-300]", "temp is -300 but must be > 0"),
    *((f"c_cv plumedfile {{file}} temp [{bad}]", f"temp must be a number, not '{bad}'") for bad in ("hot", "1e400", "nan", "3,0")),
    ("[c_cv,c_cw] plumedfile {file}", ": variables are separated by blanks, not by commas: "
     "c_cv c_cw, not c_cv,c_cw"),
    ("c_cv plumedfile [/dev/zero]", ": PLUMED file /dev/zero cannot be read: it is not a regular file"),
    ("c_cv plumedfile [nix.dat]", ": PLUMED file nix.dat cannot be read: No such file or directory - give its path after "
     "plumedfile, or after FILE= of INCLUDE"),
    ("c_cv plumedfile {file} kernel [/nix/kernel.so]", ": the PLUMED library cannot be loaded: /nix/kernel.so: cannot open "
     "shared object file: No such file or directory" + LOAD),
    ("c_cv plumedfile {file} kernel [libz.so.1]", ": the library libz.so.1 is not a PLUMED kernel of version 2.9 or "
     "later - give the file libplumedKernel.so of a newer PLUMED"),

    # PLUMED's input and the variables.
    ("c_cv plumedfile [{file}]", ": {file}, line 3: EXTRACV NAME=nix is not a variable of the fix, which has cv - "
     "give the compute after the fix's style, as c_ID, or as c_ID as nix", S + R + "t: EXTRACV NAME=nix\n"),
    ("plumedfile [{file}]", ": {file}, line 1: EXTRACV NAME=cv is not a variable of the fix - give the compute after "
     "the fix's style, as c_ID, or as c_ID as cv"),
    ("c_cv c_cw as x plumedfile [{file}]", ": {file}, line 5: EXTRACV NAME=cw is not a variable of the fix, which "
     "has cv, x - give the compute after the fix's style, as c_ID, or as c_ID as cw", S + "# EXTRACV NAME=one\n\n" + R +
     "u: EXTRACV ...\n  NAME=cw\n...\n"),
    ("c_cv c_cw plumedfile [{file}]", ": " + READS_NOT.format("c_cw", "cw")),
    ("c_cv as x plumedfile [{file}]", ": " + READS_NOT.format("c_cv as x", "x").replace("c_cv as x", "c_cv"), ""),
    ("c_cv plumedfile [{file}]", ": " + READS_NOT.format("c_cv", "cv"), "# s: EXTRACV NAME=cv\nENDPLUMED\n" + S),
    *((f"c_cv as {name} plumedfile [{{file}}]", f": PLUMED uses the name {name} itself - give the variable another one, as "
       "c_cv as NAME", f"s: EXTRACV NAME={name}\n{R}") for name in ("posx", "posy", "posz", "Masses", "Charges", "Box",
                                                                  "Energy", "timestep", "kBT", "LAMMPS")),
    ("c_cv plumedfile [{file}]", ": PLUMED file nix.dat cannot be read: No such file or directory - give its path after "
     "plumedfile, or after FILE= of INCLUDE", "INCLUDE FILE=nix.dat\n" + S),
    ("c_cv plumedfile [{file}]", ": PLUMED file {file} is included by itself - remove the INCLUDE",
     "INCLUDE FILE={file}\n" + S),
]

# Commands that fail at a run: PLUMED's input, a regular expression for the message after 'Fix
# coord/plumed b: ', the commands after the fix, and other words of the fix.
GRID = "m: METAD ARG=s HEIGHT=0 PACE=5 SIGMA=0.1 FILE={file}.H GRID_MIN=0.2 GRID_MAX=0.5 GRID_BIN=100 GRID_NOSPLINE\n"
DELETE = "group ten id 10\ndelete_atoms group ten compress no\n"
RUNS = {
    "unknown action": (S + "m: METADD ARG=s\n", r'PLUMED: .*("METADD" is not known|cannot understand line: METADD)'),
    "no SIGMA": (S + "m: METAD ARG=s HEIGHT=1 PACE=5\n", r"PLUMED: .*METAD with label m : keyword SIGMA is compulsory"),
    "unknown keyword": (S + "m: METAD ARG=s HEIGHT=1 PACE=5 SIGMA=0.1 FOO=3\n",
                        r"PLUMED: .*METAD with label m : cannot understand .*FOO"),
    "unknown argument": (S + "m: METAD ARG=q HEIGHT=1 PACE=5 SIGMA=0.1\n",
                         r"PLUMED: .*METAD with label m : cannot find action named q"),
    "no number": (S + "m: METAD ARG=s HEIGHT=x PACE=5 SIGMA=0.1\n", r"PLUMED: .*METAD with label m : keyword HEIGHT"),
    "formula": (S + "q: CUSTOM ARG=s FUNC=x+ PERIODIC=NO\nBIASVALUE ARG=q\n", r"PLUMED: .*expression \"x\+\""),
    "METAD without TEMP": (S + "m: METAD ARG=s HEIGHT=1 PACE=5 SIGMA=0.1 BIASFACTOR=5\n",
                           r"PLUMED: .*METAD with label m : .*TEMP"),
    "UNITS": ("UNITS LENGTH=furlong\n" + S + R, r"PLUMED: .*length unit"),
    "UNITS after an action": (S + R + "UNITS LENGTH=A\n", r"PLUMED: .*UNITS .* setup action"),
    "no file": (S + "EXTERNAL ARG=s FILE=nix.grid\n", r"PLUMED: .*nix.grid cannot be found"),
    "no folder": (S + R + "PRINT ARG=s FILE=nix/COLVAR\n", r"PLUMED: .*(nix/COLVAR|uninitialized File)"),
    "ENERGY": (S + R + "e: ENERGY\nRESTRAINT ARG=e AT=1 KAPPA=1\n",
               r"PLUMED's ENERGY is not available, which PLUMED file {file} uses - use compute coord/energy, and read it by EXTRACV"),
    "ENERGY in a formula": (S + "e: ENERGY\nq: CUSTOM ARG=e,s FUNC=x*y PERIODIC=NO\nBIASVALUE ARG=q\n",
                            r"PLUMED's ENERGY is not available, which PLUMED file {file} uses - use compute coord/energy, and read it by EXTRACV"),
    "beyond the last atom": (S + "d: DISTANCE ATOMS=1,65\nRESTRAINT ARG=d AT=1 KAPPA=1\n", r"PLUMED: .*atom 65 out of range"),
    # In the course of a run.
    "outside the grid": (S + GRID, r"PLUMED: .*outside the grid", "run 1000"),
    "not a number": (S + "q: CUSTOM ARG=s FUNC=log(0.5-x) PERIODIC=NO\nBIASVALUE ARG=q\n",
                     r"the bias is not a finite number: V = -?nan.* at c_cv = 0\.5\d* - .*{file}", "run 1000"),
    "end of a file": ("x: READ FILE={file}.series VALUES=x IGNORE_TIME\n" + S + R + "BIASVALUE ARG=x\n", None, "run 1000"),
    # Between runs.
    "timestep": (S + R, r"the timestep has changed from 0.001 to 0.002, which PLUMED does not support - define the "
                 r"fix again after command timestep", "run 5\ntimestep 0.002\nrun 5"),
    "timestep without setup": (S + R, r"the timestep has changed from 0.001 to 0.002, which PLUMED does not support",
                               "run 5\ntimestep 0.002\nrun 5 pre no"),
    "atom deleted": (S + "d: DISTANCE ATOMS=1,10\nRESTRAINT ARG=d AT=1 KAPPA=1\n", r"(?i)atom.*\b10\b",
                     f"run 5\n{DELETE}run 5"),
    "atom missing": (S + "d: DISTANCE ATOMS=1,10\nRESTRAINT ARG=d AT=1 KAPPA=1\n", r"(?i)atom.*\b10\b", "run 0", "",
                     DELETE),
    "compute deleted": (S + R, r"compute cv no longer exists", "run 5\nuncompute cv\nrun 5"),
}
# Since PLUMED 2.10 the name of a variable is also the label of an action.
USED_LABELS = {
    "label is the name": S + "cv: DISTANCE ATOMS=1,2\n" + R,
    "name read twice": S + "t: EXTRACV NAME=cv\n" + R,
}


def expected(message, path):
    begin = "" if message.startswith("Illegal") else "Unknown fix coord/plumed " if message[0] == "?" else "Fix coord/plumed"
    message = message.lstrip("?").replace("{file}", path)
    return begin + (" " if begin == "Fix coord/plumed" and message[0] != ":" else "") + message


def put(text, name=""):
    """Write PLUMED's input and return its path."""
    path = tempfile.mktemp(prefix="plumed" + name, dir=coordtest.folder())
    with open(path, "w") as file:
        file.write(text.replace("{file}", path))
    with open(path + ".series", "w") as file:
        file.write("#! FIELDS time x\n" + "".join(f"{k} {0.01 * k}\n" for k in range(9)))
    return path


class InProcess(errortest.InProcess):
    SYSTEM = SYSTEM

    def check_still_usable(self):
        """A correct fix works after the error."""
        path = put(S + R)
        commands(self.lmp, f"fix good all coord/plumed c_cv plumedfile {path} outfile {path}.log\nrun 0")
        s = self.lmp.extract_compute("cv", 0, 0)
        self.assertAlmostEqual(self.lmp.extract_fix("good", 0, 0), (s - 1)**2 / 2 / plumedtest.EV, delta=1e-12)
        self.lmp.command("unfix good")


class Arguments(InProcess):
    def test_arguments(self):
        for words, message, *text in ARGUMENTS:
            with self.subTest(words):
                if self.lmp.has_id("fix", "b"):    # a subtest without an error has left the fix
                    self.lmp.command("unfix b")
                path = put(text[0] if text else S + R)
                marked = (FIX + words).replace("{file}", path)
                found = error_of(self.lmp, re.sub(r"\[(\S*?)\](?=\s|$)", r"\1", marked))
                self.assertEqual((without_suffix(found[0]), found[1]), (expected(message, path), marked))
                self.assertFalse(self.lmp.has_id("fix", "b"))
        self.check_still_usable()

    def test_missing_words(self):
        path = put(S + R)
        for words, message in (("", "Fix coord/plumed needs PLUMED's input - give it by plumedfile FILE"),
                               ("c_cv", "Fix coord/plumed needs PLUMED's input - give it by plumedfile FILE"),
                               ("c_cv plumedfile", "Illegal fix coord/plumed plumedfile command: missing argument(s)"),
                               ("c_cv as", "Illegal fix coord/plumed as command: missing argument(s)"),
                               (f"c_cv plumedfile {path} temp", "Illegal fix coord/plumed temp command: missing argument(s)")):
            with self.subTest(words):
                self.assertEqual(without_suffix(error_of(self.lmp, (FIX + words).strip())[0]), message)
        self.check_still_usable()

    def test_folder_as_input(self):
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        message, marked = error_of(self.lmp, f"{FIX}c_cv plumedfile {folder}")
        self.assertIn(f"PLUMED file {folder} cannot be read: Is a directory", message)
        self.check_still_usable()

    def test_no_kernel(self):
        """Neither keyword kernel nor PLUMED_KERNEL; the keyword comes first."""
        path = put(S + R)
        command = f"{FIX}c_cv plumedfile {path} outfile {path}.log"
        try:
            del os.environ["PLUMED_KERNEL"]
            self.assertEqual(error_of(self.lmp, command)[0], "Fix coord/plumed: no PLUMED library is named - use "
                             "keyword kernel, or set the environment variable PLUMED_KERNEL, to the file libplumedKernel.so")
            os.environ["PLUMED_KERNEL"] = "/nix/other.so"
            self.assertEqual(error_of(self.lmp, command)[0], "Fix coord/plumed: the PLUMED library cannot be loaded: "
                             "/nix/other.so: cannot open shared object file: No such file or directory" + LOAD)
            commands(self.lmp, f"{command} kernel {KERNEL}\nrun 0\nunfix b")
        finally:
            os.environ["PLUMED_KERNEL"] = KERNEL
        self.check_still_usable()

    def test_log_that_cannot_be_read(self):
        """A file that can be written but not read is unchanged after the definition of the fix."""
        path, log = put(S + R), tempfile.mktemp(dir=coordtest.folder())
        with open(log, "w") as file:
            file.write("old\n")
        self.check_still_usable()    # loads the kernel
        os.chmod(log, 0o200)
        is_root = os.geteuid() == 0    # may read any file
        if is_root:
            os.chown(log, 65534, -1)
            os.chmod(coordtest.folder(), 0o733)
            os.seteuid(65534)
        try:
            self.lmp.command(f"{FIX}c_cv plumedfile {path} outfile {log}")
        finally:
            if is_root:
                os.seteuid(0)
                os.chmod(coordtest.folder(), 0o700)
        self.lmp.command("unfix b")
        os.chmod(log, 0o600)
        with open(log) as file:
            self.assertEqual(file.read(), "old\n")

    def test_file_that_is_no_library(self):
        path = put(S + R)
        message, marked = error_of(self.lmp, f"{FIX}c_cv plumedfile {path} kernel {path}")
        self.assertRegex(message, "Fix coord/plumed: the PLUMED library cannot be loaded: .*" + re.escape(path) + ".*" +
                         re.escape(LOAD))
        self.assertEqual(marked, f"{FIX}c_cv plumedfile {path} kernel [{path}]")
        self.check_still_usable()

    def test_units(self):
        path = put(S + R)
        for units in "micro", "nano":
            self.lmp.command("clear")
            commands(self.lmp, SYSTEM.replace("units metal", f"units {units}"))
            self.assertEqual(error_of(self.lmp, f"{FIX}c_cv plumedfile {path}")[0], "Fix coord/plumed does not "
                             f"support units {units} - use units lj, real, metal, si, cgs or electron")

    def test_names_and_labels(self):
        """The label of EXTRACV may be the name or be absent. Before PLUMED 2.10 another action may have the name as its
        label, and two actions may read one variable."""
        inputs = ["cv: EXTRACV NAME=cv\nRESTRAINT ARG=cv AT=1 KAPPA=3\n", S + "RESTRAINT ARG=s AT=1 KAPPA=3\n",
                  "EXTRACV NAME=cv LABEL=s\nRESTRAINT ARG=s AT=1 KAPPA=3\n"]
        if plumedtest.version() < (2, 10):
            inputs += [S + "cv: DISTANCE ATOMS=1,2\nRESTRAINT ARG=s AT=1 KAPPA=3\n",
                       S + "t: EXTRACV NAME=cv\nRESTRAINT ARG=s AT=1 KAPPA=1\nRESTRAINT ARG=t AT=1 KAPPA=2\n"]
        for text in inputs:
            with self.subTest(text):
                path = put(text)
                commands(self.lmp, f"{FIX}c_cv plumedfile {path} outfile {path}.log\nrun 0")
                s = self.lmp.extract_compute("cv", 0, 0)
                found = self.lmp.extract_fix("b", 0, 0), self.lmp.extract_fix("b", 0, 1, 1)
                self.lmp.command("unfix b")
                for one, expected in zip(found, (1.5 * (s - 1)**2, -3 * (s - 1))):
                    self.assertAlmostEqual(one, expected / plumedtest.EV, delta=1e-12)

    def test_no_atom_map(self):
        path = put(S + R + "d: DISTANCE ATOMS=1,2\nRESTRAINT ARG=d AT=1 KAPPA=1\n")
        self.lmp.command("clear")
        commands(self.lmp, SYSTEM.replace("atom_modify map array\n", ""))
        self.lmp.command(f"{FIX}c_cv plumedfile {path} outfile {path}.log")
        self.assertEqual(error_of(self.lmp, "run 0")[0], "Fix coord/plumed b: PLUMED requests atoms, which are found "
                         "by their IDs - use atom_modify map array or hash, or leave atoms out of the PLUMED file")
        self.lmp.command("unfix b")
        self.check_still_usable()    # variables need no map


FAKE = """
struct handler { void *receiver; void (*handle)(void *, int, const char *, const void *); };
static int object;
static void *create(void) { return &object; }
static void command(void *o, const char *key, const void *value) {}
static void finalize(void *o) {}
static void nothrow(void *o, const char *key, const void *value, struct handler h)
{
  const char *name = "getApiVersion";
  while (*name && *name == *key) { ++name; ++key; }
  if (!*name) *(int *) value = API;
}
struct { int version; void *(*create)(void); void (*command)(void *, const char *, const void *);
         void (*finalize)(void *); void (*nothrow)(void *, const char *, const void *, struct handler); }
  plumed_symbol_table = {TABLE, create, command, finalize, nothrow};
EXTRA
"""


class Kernels(InProcess):
    """Libraries that claim to be another PLUMED."""

    def compile(self, text, *options, suffix=".c", name=None):
        """Compile a file with the C or C++ compiler and return the path of the result."""
        names = ("cc", "gcc") if suffix == ".c" else ("c++", "g++")
        compiler = next(filter(None, map(shutil.which, names)), None)
        if not compiler:
            self.skipTest(f"there is no compiler {' or '.join(names)}")
        source = tempfile.mktemp(suffix=suffix, dir=coordtest.folder())
        with open(source, "w") as file:
            file.write(text)
        made = os.path.join(coordtest.folder(), name) if name else source[:-len(suffix)] + ".so"
        subprocess.run([compiler, "-o", made, source, *options], check=True)
        return made

    def kernel(self, *options, **macros):
        text = re.sub("API|TABLE|EXTRA", lambda word: str(macros.get(word.group(), 2)), FAKE)
        return self.compile(text, "-shared", "-fPIC", *options)

    def kernel_linked_to(self, mpi):
        """Return a PLUMED of the right version that is linked to an MPI library."""
        calls = "int MPI_Init(int *, char ***); int begin(void) { return MPI_Init(0, 0); }"
        return self.kernel(mpi, "-Wl,-rpath," + os.path.dirname(mpi), API=10, TABLE=2, EXTRA=calls)

    def other_mpi(self, number):
        """Return a library that claims to be an MPI, with a number that the MPI of LAMMPS does not have."""
        name = f"libmpi.so.{number}"
        return self.compile("int MPI_Init(int *a, char ***b) { return 0; } int MPI_Finalize(void) { return 0; }", "-shared",
                            "-fPIC", f"-Wl,-soname,{name}", name=name)

    def mpi_of_lammps(self):
        """Return the file of the MPI library in this process."""
        with open("/proc/self/maps") as file:
            found = [path for path in re.findall(r"/\S*/libmpi\.so\S*", file.read())
                     if not path.startswith(coordtest.folder())]
        if not found:
            self.skipTest("this process has no libmpi.so")
        return found[0]

    def test_kernels(self):
        path = put(S + R)
        for macros, message in (
                (dict(API=10, TABLE=1, EXTRA=""), "the library {0} is not a PLUMED kernel of version 2.9 or later - "
                 "give the file libplumedKernel.so of a newer PLUMED"),
                (dict(API=9, TABLE=2, EXTRA=""), "the PLUMED library {0} has the interface 9, that of PLUMED 2.9 is 10 - use "
                 "PLUMED 2.9 or later"),
                (dict(API=10, TABLE=2, EXTRA="int MPI_Init(int *a, char ***b) { return 0; }"), "the PLUMED library "
                 "{0} is linked to a different MPI than LAMMPS - use a PLUMED that is built with the MPI of LAMMPS, "
                 "or without MPI")):
            library = self.kernel(**macros)
            with self.subTest(**macros):
                with self.assertRaises(Exception) as caught:
                    commands(self.lmp, f"{FIX}c_cv plumedfile {path} outfile {path}.log kernel {library}\nrun 0")
                self.assertIn(message.format(library), str(caught.exception))
                if self.lmp.has_id("fix", "b"):
                    self.lmp.command("unfix b")
        self.check_still_usable()

    def test_other_mpi(self):
        """A kernel that is linked to a library of another MPI, and one whose library does not exist."""
        path = put(S + R)
        refused = self.kernel_linked_to(self.other_mpi(120))
        missing = self.other_mpi(121)
        incomplete = self.kernel_linked_to(missing)
        os.remove(missing)
        for library, message in (
                (refused, f"the PLUMED library {refused} is linked to a different MPI than LAMMPS - use a PLUMED "
                 "that is built with the MPI of LAMMPS, or without MPI"),
                (incomplete, "the PLUMED library cannot be loaded: libmpi.so.121: cannot open shared object file: No such "
                 "file or directory" + LOAD)):
            with self.subTest(message):
                words = f"{FIX}c_cv plumedfile {path} outfile {path}.log kernel "
                found, marked = error_of(self.lmp, words + library)
                self.assertEqual(without_suffix(found), "Fix coord/plumed: " + message)
                self.assertEqual(marked, f"{words}[{library}]")
                code, output = run_script(f"{SYSTEM}{words}{library}\n", 2)
                self.assertNotEqual(code, 0)
                self.assertEqual(errors_in(output), ["Fix coord/plumed: " + message])
        self.check_still_usable()

    def test_same_mpi(self):
        """A kernel that is linked to the MPI of LAMMPS is used."""
        path = put(S + R)
        library = self.kernel_linked_to(self.mpi_of_lammps())
        commands(self.lmp, f"{FIX}c_cv plumedfile {path} outfile {path}.log kernel {library}\nrun 0\nunfix b")
        self.check_still_usable()

    def test_same_mpi_in_a_program_without_pic(self):
        """MPI_Init then has an address inside the program."""
        sources = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../src/GPUCOORD"))
        mpi = self.mpi_of_lammps()
        text = """
#include "bias_plumed_kernel.h"
#include <cstdio>
#include <exception>
extern "C" int MPI_Init(int *, char ***);
extern "C" int MPI_Finalize();
int main(int narg, char **arg)
{
  if (narg > 2) return MPI_Finalize();
  try {
    LAMMPS_NS::PlumedKernel(arg[1], reinterpret_cast<const void *>(&MPI_Init));
    std::puts("used");
  } catch (const std::exception &e) {
    std::puts(e.what());
  }
}
"""
        kernels = self.kernel_linked_to(mpi), self.kernel_linked_to(self.other_mpi(122))
        for options in ("-fno-pie", "-no-pie"), ("-fPIE", "-pie"):
            with self.subTest(options):
                program = self.compile(text, *options, "-std=c++17", "-I" + sources, f"{sources}/bias_plumed_kernel.cpp", mpi,
                                       "-Wl,-rpath," + os.path.dirname(mpi), "-ldl", suffix=".cpp")
                for kernel, message in zip(kernels, ("^used$", "is linked to a different MPI")):
                    done = subprocess.run([program, kernel], capture_output=True, text=True, timeout=60)
                    self.assertRegex(done.stdout.strip(), message)

    def test_two_copies_of_libstdcxx(self):
        """A program or library with its own libstdc++, whose functions replace those of the shared one, is named."""
        sources = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../src/GPUCOORD"))
        folder = tempfile.mkdtemp(dir=coordtest.folder())
        library = """
#include "bias_plumed_kernel.h"
#include <cstdio>
#include <exception>
#include <sstream>
extern "C" int go(const char *file)
{
  try {
    const auto kernel = std::make_shared<const LAMMPS_NS::PlumedKernel>(file, nullptr);
    LAMMPS_NS::Plumed(kernel).command("init");
    std::puts("used");
  } catch (const std::exception &e) {
    std::puts(e.what());
  }
  std::ostringstream text;
  text << 1.5;
  return text.str() != "1.5";
}
"""
        program = """
#include <iostream>
extern "C" int go(const char *);
int main(int, char **arg) { std::cout << 1.5 << std::endl; return go(arg[1]); }
"""
        refused = ("PLUMED cannot be loaded, because this process then has two copies of the C++ library, libstdc++: {} has its "
                   "own - build LAMMPS and GPUCOORD without the option -static-libstdc++, for example with the compiler "
                   "/usr/bin/g++")
        static = "-static-libstdc++"
        cases = [((), (), None), ((), ("-fno-pie", "-no-pie"), None), ((static,), (static,), "library program"),
                 ((), (static,), "program"), ((static,), (), "library")]
        for of_library, of_program, owners in cases:
            with self.subTest(library=of_library, program=of_program):
                made = self.compile(library, "-shared", "-fPIC", "-std=c++17", "-I" + sources, *of_library,
                                    f"{sources}/bias_plumed_kernel.cpp", "-ldl", suffix=".cpp")
                caller = self.compile(program, *of_program, made, "-Wl,-rpath," + os.path.dirname(made), suffix=".cpp")
                done = subprocess.run([caller, KERNEL], cwd=folder, capture_output=True, text=True, timeout=60)
                files = {"program": caller, "library": made}
                expected = [refused.format(files[owner]) for owner in owners.split()] if owners else ["used"]
                *_, last = done.stdout.strip().split("\n")
                self.assertIn(last, expected, done.stdout + done.stderr)
                self.assertEqual(done.returncode, 0)


class Runs(InProcess):
    def script(self, name):
        text, message, *more = RUNS[name]
        run, words, before = [*more, *("run 0", "", "")[len(more):]]
        path = put(text)
        words = (words or WORDS).replace("{file}", path)
        return before, FIX + words, run, message and message.replace("{file}", re.escape(path))

    def test_in_process(self):
        """LAMMPS remains usable after the error."""
        for name in RUNS:
            with self.subTest(name):
                self.setUp()
                before, fix, run, message = self.script(name)
                if before:
                    commands(self.lmp, before)
                *first, last = f"{fix}\n{run}".split("\n")
                if message is None:
                    continue
                commands(self.lmp, "\n".join(first))
                found, _ = error_of(self.lmp, last)
                self.assertRegex(found, "^Fix coord/plumed b: ")
                self.assertRegex(found.split(": ", 1)[1], message)
                if name in ("outside the grid", "not a number"):
                    self.assertGreater(self.lmp.extract_global("ntimestep"), 3)
                if name == "atom missing":    # PLUMED requests all atoms only once
                    self.assertEqual(error_of(self.lmp, last)[0], found)
                self.lmp.command("unfix b")
                if name not in ("compute deleted",):
                    self.check_still_usable()

    def test_on_ranks(self):
        """All ranks end, with one message."""
        cases = few((name, ranks) for name in RUNS for ranks in (1, 2))
        scripts = [(self.script(name), ranks) for name, ranks in cases]
        results = start_all(run_script, [(SYSTEM + "\n".join(map(coordtest.on_device, [before + fix, run])), ranks)
                                         for (before, fix, run, _), ranks in scripts])
        for (name, ranks), ((*_, message), _), result in zip(cases, scripts, results):
            with self.subTest(name, ranks=ranks):
                code, output = result.result()
                found = errors_in(output)
                self.assertFalse(re.search(r"Segmentation|signal 11|Aborted|terminate called", output), output[-3000:])
                if message is None:    # ends without an error, or with a message
                    self.assertLessEqual(len(found), 1, output[-3000:])
                    continue
                self.assertNotEqual(code, 0, output[-3000:])
                self.assertEqual(len(found), 1, output[-3000:])
                self.assertRegex(found[0], message)

    def test_arguments_on_ranks(self):
        """Errors of rank 0 at the definition of the fix."""
        chosen = [case for case in ARGUMENTS if "[{file}]" in case[0] or "nix" in case[0]]
        paths = [put(case[2] if len(case) > 2 else S + R) for case in chosen]
        results = start_all(run_script, [
            (SYSTEM + (FIX + re.sub(r"\[(\S*?)\](?=\s|$)", r"\1", case[0])).replace("{file}", path), 2)
            for case, path in zip(chosen, paths)])
        self.assertGreater(len(chosen), 15)
        for case, path, result in zip(chosen, paths, results):
            with self.subTest(case[0]):
                code, output = result.result()
                self.assertNotEqual(code, 0)
                self.assertEqual(errors_in(output), [expected(case[1], path)])

    def test_no_kernel_on_ranks(self):
        path = put(S + R)
        for kernel, message in ("", "no PLUMED library is named - "), ("/nix/kernel.so", "cannot be loaded: /nix/kernel.so"):
            code, output = run_script(f"{SYSTEM}{FIX}c_cv plumedfile {path}\n", 2, PLUMED_KERNEL=kernel)
            self.assertNotEqual(code, 0)
            self.assertEqual(len(errors_in(output)), 1, output)
            self.assertIn(message, errors_in(output)[0])

    def test_ways_out(self):
        """Errors are fixed by the way out in their message."""
        for name, way_out, text in (
                ("METAD without TEMP", "unfix b\n{fix} temp 300", None),
                ("timestep", "unfix b\n{fix}", None),
                ("outside the grid", "unfix b\n{fix}", S + GRID.replace("=0.5", "=9"))):
            with self.subTest(name):
                self.setUp()
                before, fix, run, message = self.script(name)
                *first, last = f"{fix}\n{run}".split("\n")
                commands(self.lmp, "\n".join(first))
                error_of(self.lmp, last)
                if text:
                    fix = fix.replace(re.search(r"plumedfile (\S+)", fix).group(1), put(text.replace("=0.2", "=-9")))
                commands(self.lmp, way_out.format(fix=fix) + "\nrun 10")

    def test_timestep_with_restart(self):
        """The way out of another timestep: a fix with RESTART continues with the hills."""
        hills = "m: METAD ARG=s SIGMA=0.1 HEIGHT=1 PACE=5 FILE={file}.H\n"
        path = put(S + hills)
        commands(self.lmp, f"{FIX}c_cv plumedfile {path} outfile {path}.log\nrun 20\ntimestep 0.0005")
        self.assertRegex(error_of(self.lmp, "run 5")[0], "RESTART")
        v = self.lmp.extract_fix("b", 0, 0)
        self.lmp.command("unfix b")
        again = put("RESTART\n" + S + hills.replace("{file}", path))
        commands(self.lmp, f"{FIX}c_cv plumedfile {again} outfile {again}.log\nrun 0")
        self.assertGreater(self.lmp.extract_fix("b", 0, 0), v)    # with the hill of step 20
        self.lmp.command("run 10")
        # without the deposition of step 20, which the earlier fix has done
        self.assertEqual(len(plumedtest.read_columns(path + ".H")["s"]), 6)


class FullDisk(unittest.TestCase):
    """A restarted run that cannot move later hills to a backup file ends, and all files are as before."""

    HILLS = ("m: METAD ARG=s SIGMA=0.1 HEIGHT=1 PACE=2 FILE={0}/HILLS FMT=%25.17g\n"
             "o: OPES_METAD ARG=s PACE=2 SIGMA=0.1 BARRIER=20 TEMP=300 FILE={0}/KERNELS FMT=%.17g\n")
    FULL = "Fix coord/plumed b: cannot write {0}/{1}: {2} - {0}/{3} is unchanged; make room, or allow writing, in its folder, " \
        "and start the run again"

    def setUp(self):
        """Write hills of 29 steps, and a restart file of step 20 or of step 6."""
        self.folder = tempfile.mkdtemp(dir=coordtest.folder())
        self.path = put(S + self.HILLS.format(self.folder))
        fix = f"{FIX}c_cv plumedfile {self.path} outfile {self.folder}/log"
        begin, rest = SYSTEM.split("velocity")
        lmp = errortest.start()
        commands(lmp, f"{begin}velocity{rest}{fix}\nrun 6\nwrite_restart {self.folder}/restart.6\nrun 14\n"
                 f"write_restart {self.folder}/restart.20\nrun 9")
        lmp.close()
        again = rest.split("\n", 1)[1]    # without velocities
        self.scripts = {step: f"read_restart {self.folder}/restart.{step}\nthermo 1\n{again}{fix}\nrun 29 upto\n"
                        for step in (6, 20)}
        self.before = self.files()
        self.assertEqual(self.before["HILLS"].count(b"\n"), 14 + 3)

    def files(self):
        """Return the bytes of all files except PLUMED's log and LAMMPS' restart files."""
        found = {}
        for name in os.listdir(self.folder):
            if not name.startswith("restart.") and "log" not in name:
                with open(f"{self.folder}/{name}", "rb") as file:
                    found[name] = file.read()
        return found

    def check_error(self, result, message):
        code, output = result
        self.assertNotEqual(code, 0)
        self.assertEqual(errors_in(output), [message], output[-3000:])
        self.assertEqual(self.files(), self.before)

    def check_next_run(self):
        """With free disk space the run continues, and both files have all hills."""
        code, output = run_script(self.scripts[20], 2)
        self.assertEqual(code, 0, output[-3000:])
        for name in "HILLS", "KERNELS":
            columns = plumedtest.read_columns(f"{self.folder}/{name}")
            self.assertEqual(np.rint(1e3 * columns["time"]).tolist(), list(range(2, 30, 2)), name)
            self.assertIn("bck.0." + name, self.files())

    def test_device(self):
        """The file of later hills is on a full device."""
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                os.symlink("/dev/full", f"{self.folder}/bck.0.HILLS.part")
                self.check_error(run_script(self.scripts[20], ranks),
                                 self.FULL.format(self.folder, "bck.0.HILLS", "No space left on device", "HILLS"))
        # The first file is moved already, and the next run does not move it again.
        os.symlink("/dev/full", f"{self.folder}/bck.0.KERNELS.part")
        code, output = run_script(self.scripts[20], 2)
        self.assertEqual(errors_in(output), [self.FULL.format(self.folder, "bck.0.KERNELS", "No space left on device", "KERNELS")])
        self.assertEqual(self.files()["KERNELS"], self.before["KERNELS"])
        self.assertEqual(set(self.files()), {"HILLS", "KERNELS", "bck.0.HILLS"})
        self.check_next_run()
        self.assertNotIn("bck.1.HILLS", self.files())

    def test_limit(self):
        """The size of files is limited. In a restart from step 6, the file with the later hills is too large."""
        line = len(self.before["HILLS"].split(b"\n")[4]) + 1
        step, name = 6, "bck.0.HILLS"
        lmp = errortest.start()
        *begin, run = self.scripts[step].strip().split("\n")
        commands(lmp, "\n".join(begin))
        # Python ignores the signal for a file that grows beyond the limit, so that the
        # write fails instead.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9 * line, hard))
        try:
            message, _ = error_of(lmp, run)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lmp.close()
        self.assertEqual(message, self.FULL.format(self.folder, name, "File too large", "HILLS"))
        self.assertEqual(self.files(), self.before)
        self.check_next_run()


def setUpModule():
    os.chdir(coordtest.folder())    # PLUMED's files of no name
    if plumedtest.version() >= (2, 10):
        RUNS.update({name: (text, r"PLUMED: .*label cv has been already used") for name, text in USED_LABELS.items()})


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
