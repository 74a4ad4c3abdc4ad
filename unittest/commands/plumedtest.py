"""Shared code of the tests of fix coord/plumed: PLUMED's input and output files, its driver, a melt,
and derivatives by differences.

GPUCOORD_TEST_PLUMED is the folder of a PLUMED without MPI, of version 2.9 or later: the unpacked
wheel hillclimber of PyPI, with plumed/_lib and hillclimber.libs, or links to another PLUMED under
these names: plumed/_lib/lib/libplumedKernel.so, plumed/_lib/lib/plumed (PLUMED_ROOT),
plumed/_lib/bin/plumed, and plumed/_lib/include/plumed.
"""

import functools
import os
import re
import subprocess
import tempfile

import numpy as np

import coordtest
import dumptest
import test_bias_forces
import test_bias_parallel

PLUMED = os.environ.get("GPUCOORD_TEST_PLUMED", "")
LIBRARY = os.path.join(PLUMED, "plumed", "_lib", "lib")
KERNEL = os.path.join(LIBRARY, "libplumedKernel.so")
if PLUMED:    # for LAMMPS in this process and in others
    os.environ.update(PLUMED_KERNEL=KERNEL, PLUMED_ROOT=os.path.join(LIBRARY, "plumed"))

# PLUMED's units in kJ/mol, from PLUMED's manual.
KCAL, EV = 4.184, 96.48530749925792


def require():
    """End a script that has no PLUMED."""
    if not PLUMED:
        coordtest.skip("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED")
    if not os.path.exists(KERNEL):
        coordtest.skip(f"there is no {KERNEL} in GPUCOORD_TEST_PLUMED")


def read_columns(path):
    """Return the columns of a file of PLUMED by name; PLUMED writes the names with the first line."""
    with open(path) as file:
        names = file.readline().split()[2:]
    if not names:
        return {}
    numbers = np.loadtxt(path, ndmin=2)
    return dict(zip(names, numbers.T)) if numbers.size else {name: np.empty(0) for name in names}


class Input:
    """A PLUMED input, in a folder with the files that it names."""

    def __init__(self, text, folder=None, name="plumed.dat"):
        self.folder = folder or tempfile.mkdtemp(dir=coordtest.folder())
        self.path, self.log_path = self.at(name), self.at("log." + name)
        self.write(name, text)

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """Write an input, in which names of files become paths."""
        with open(self.at(name), "w") as file:
            file.write(re.sub(r"\b(\w*FILE)=(?![/{])", rf"\1={self.folder}/", text))

    @property
    def words(self):
        """Words of the fix after the variables."""
        return f"plumedfile {self.path} outfile {self.log_path}"

    def read(self, name):
        with open(self.at(name)) as file:
            return file.read()

    def log(self):
        return self.read(os.path.basename(self.log_path))

    def columns(self, name):
        return read_columns(self.at(name))


def extracv(names):
    return "".join(f"{name}: EXTRACV NAME={name}\n" for name in names)


def run_plumed(*arguments, folder=None):
    """Run the program plumed and return its output."""
    environment = dict(os.environ, LD_LIBRARY_PATH=LIBRARY + ":" + os.path.join(PLUMED, "hillclimber.libs"))
    program = os.path.join(LIBRARY, "..", "bin", "plumed")
    done = subprocess.run([program, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@functools.lru_cache
def version():
    """Return PLUMED's version, such as (2, 9)."""
    found = re.search(r"^(\d+)\.(\d+)", run_plumed("info", "--version"), re.MULTILINE)
    return int(found[1]), int(found[2])


def driver(text, series, units="UNITS NATURAL\n", arguments=()):
    """Run PLUMED's driver on an input that finds the columns of series; return the input."""
    reading = "".join(f"{name}: READ FILE=series VALUES={name} IGNORE_FORCES IGNORE_TIME\n" for name in series)
    given = Input(units + reading + text)
    with open(given.at("series"), "w") as file:
        file.write("#! FIELDS time " + " ".join(series) + "\n")
        for step, values in enumerate(zip(*series.values())):
            file.write(f"{step} " + " ".join(repr(float(value)) for value in values) + "\n")
    run_plumed("driver", "--noatoms", "--plumed", given.path, *arguments, folder=given.folder)
    return given


# ---------------------------------------------------------------- a melt of 108 atoms

MELT_ATOMS = test_bias_parallel.N
EDGE = test_bias_parallel.EDGE
DT = test_bias_parallel.DT


def melt(keywords=""):
    """Return the commands of a melt with the variables c, about 9, and d, 8 to 8.7."""
    return test_bias_parallel.crystal() + test_bias_parallel.forces() + test_bias_parallel.computes(keywords)


def thermo(fixes=(), every=1, more="", size=4):
    """size: numbers of values of each fix."""
    values = " ".join(f"f_{fix} " + " ".join(f"f_{fix}[{k + 1}]" for k in range(size)) for fix in fixes)
    return [f"thermo_style custom step pe ke etotal press vol c_c c_d {values} {more}",
            "thermo_modify norm no format float %.17g", f"thermo {every}"]


def dump_of_last(steps):
    return [f"dump d all custom {steps} dump id type x y z xu yu zu vx vy vz fx fy fz",
            "dump_modify d format float %.17g sort id"]


def last_of(run):
    """Return unwrapped positions, velocities and forces at the last dump."""
    last = dumptest.read_dump(run.path("dump"))[-1]
    return np.column_stack([last[name] for name in ("xu", "yu", "zu", "vx", "vy", "vz", "fx", "fy", "fz")])


# ---------------------------------------------------------------- differences

class System(test_bias_forces.System):
    """Atoms and variables of test_bias_forces with PLUMED."""

    def plumed(self, names, text, ident="b", more=""):
        """Define the fix and return its input."""
        self.input = Input("UNITS NATURAL\n" + extracv(names.split()) + text)
        self.commands(f"fix {ident} all coord/plumed {' '.join('c_' + name for name in names.split())} "
                      f"{self.input.words} {more}")
        return self.input

    def v(self, ident="b"):
        return self.lmp.extract_fix(ident, 0, 0)

    def of_bias(self):
        """Return V, and forces and virial of the bias, from evaluations with and without it."""
        energy, forces, virial = self.evaluate()
        v = self.v()
        self.commands("unfix b")
        without = self.evaluate()
        return v, energy - without[0], forces - without[1], virial - without[2]


def compare_with_differences(test, title, system, atoms, axes=range(3), tolerance=test_bias_forces.TOLERANCE, least=0.1,
                             only=False):
    """Compare forces on atoms (indices) and the virial with differences of the energy. only: the
    bias has no forces on other atoms."""
    if not system.box.tilted:
        system.commands("change_box all triclinic")
    _, forces, virial = system.evaluate()
    bias_forces = np.abs(system.forces_of_bias(forces))
    if len(atoms):
        test.assertGreater(bias_forces[atoms].max(axis=1).min(), least, title)
    others = np.setdiff1d(np.arange(len(bias_forces)), atoms)
    if only:
        test.assertLessEqual(bias_forces[others].max(), coordtest.FORCE_ROUNDOFF * np.abs(forces).max(), title)
    box, step = system.box, test_bias_forces.STEP
    gradients, strains = coordtest.differences(system.lmp, box, atoms, lambda: system.evaluate()[0], step)
    by_positions, by_strain = -gradients.reshape(-1, 3)[:, list(axes)], -strains
    rounding = coordtest.rounding_of_difference(box, forces, step)
    errors = [coordtest.error_of(virial, by_strain, rounding)]
    if len(atoms):
        errors.append(coordtest.error_of(forces[np.ix_(atoms, axes)], by_positions, rounding))
    print(f"{title}: virial and force", *("%.1e" % error for error in errors))
    test.assertLessEqual(max(errors), tolerance + coordtest.FORCES, title)


def derivatives_by_driver(text, value, x, box):
    """Return the value that PLUMED's driver prints, S, for atoms at x in units of the input, with dS/dx and W.
    text: the input without PRINT."""
    given = Input(f"UNITS NATURAL\n{text}PRINT ARG={value} FILE=colvar FMT=%.17g\n"
                  f"RESTRAINT ARG={value} AT=0 KAPPA=0 SLOPE=1\n")
    with open(given.at("x.xyz"), "w") as file:
        file.write(f"{len(x)}\n" + " ".join(map(repr, box.edges.ravel().tolist())) + "\n")
        for p in x.tolist():
            file.write(f"X {p[0]!r} {p[1]!r} {p[2]!r}\n")
    run_plumed("driver", "--plumed", given.path, "--ixyz", "x.xyz", "--length-units", "1", "--dump-forces", "forces",
               "--dump-forces-fmt", "%.17g", "--dump-full-virial", folder=given.folder)
    lines = given.read("forces").splitlines()
    forces = np.array([[float(word) for word in line.split()[1:]] for line in lines[2:]])
    virial = np.array([float(word) for word in lines[1].split()]).reshape(3, 3)
    assert forces.shape == x.shape, f"{forces.shape} forces for {x.shape} positions"
    columns = given.columns("colvar")
    (column,) = set(columns) - {"time"}    # c.min or c_min, depending on the version
    # The driver writes dS/d(strain), which is -W.
    return columns[column][0], -forces, -virial
