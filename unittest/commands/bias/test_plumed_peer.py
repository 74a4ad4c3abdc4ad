"""fix coord/plumed against LAMMPS' own fix plumed with the same PLUMED library, on inputs without our variables, and both in
one run. The test compiles fix plumed as LAMMPS' plugin of it."""

import os
import subprocess
import unittest

import numpy as np

import coordtest
import dumptest
import plumedtest
from plumedtest import Input, extracv, melt

INPUTS = {
    "distance": "d: DISTANCE ATOMS=1,77\nr: RESTRAINT ARG=d AT=1.5 KAPPA=20\n",
    "components": "d: DISTANCE ATOMS=1,77 COMPONENTS\nr: RESTRAINT ARG=d.x,d.z AT=1.5,0.2 KAPPA=20,10\n",
    "angle and torsion": "a: ANGLE ATOMS=1,5,9\nt: TORSION ATOMS=3,40,70,100\nr: RESTRAINT ARG=a,t AT=1,0.5 KAPPA=30,5\n",
    "centers": "c: COM ATOMS=1-20\ng: CENTER ATOMS=40-50\nd: DISTANCE ATOMS=c,g\nr: UPPER_WALLS ARG=d AT=0.3 KAPPA=50\n",
    "volume": "v: VOLUME\nr: RESTRAINT ARG=v AT=100 KAPPA=0.01\n",
    "all atoms": "g: GYRATION ATOMS=1-108 NOPBC\nr: RESTRAINT ARG=g AT=2 KAPPA=50\n",
    "metad": "d: DISTANCE ATOMS=1,77\nm: METAD ARG=d SIGMA=0.1 HEIGHT=0.5 PACE=4 FILE=HILLS\n",
    "moving": "d: DISTANCE ATOMS=1,77\nm: MOVINGRESTRAINT ARG=d STEP0=0 AT0=1 KAPPA0=5 STEP1=20 AT1=2 KAPPA1=50\n",
}
# fix plumed gives LAMMPS x_a F_b in place of x_b F_a, which differs where a rotation changes the bias. test_plumed_atoms
# compares these components with differences of the energy.
OTHER_VIRIAL = {"components": ("Pxy", "Pxz", "Pyz")}
STEPS = 20


def plugin_of_lammps():
    """Return LAMMPS' plugin with fix plumed, for a PLUMED without MPI that is loaded at run time."""
    source = coordtest.cached("LAMMPS_SOURCE_DIR")
    files = [os.path.join(source, *path.split("/")) for path in
             ("src/PLUMED/fix_plumed.cpp", "examples/PACKAGES/plumed/plugin/plumedplugin.cpp")]
    include = os.path.join(plumedtest.PLUMED, "plumed", "_lib", "include")
    missing = [path for path in (*files, include) if not os.path.exists(path)]
    if missing:
        coordtest.skip(f"there is no {missing[0]}")
    library = os.path.join(coordtest.folder(), "plumedplugin.so")
    # With this macro fix plumed does not give PLUMED LAMMPS' communicator: for one rank only.
    definitions = ["MPI_STUBS", "OMPI_SKIP_MPICXX", "MPICH_SKIP_MPICXX", "LAMMPS_SMALLBIG", "LAMMPS_OMP_COMPAT=4",
                   "__PLUMED_HAS_DLOPEN=1", "__PLUMED_WRAPPER_LINK_RUNTIME=1", "__PLUMED_WRAPPER_IMPLEMENTATION=1",
                   "__PLUMED_WRAPPER_EXTERN=0"]
    folders = [os.path.join(source, "src"), os.path.join(source, "src", "PLUMED"), include,
               *coordtest.cached("MPI_CXX_COMPILER_INCLUDE_DIRS").split(";")]
    done = subprocess.run([coordtest.cached("CMAKE_CXX_COMPILER"), "-std=c++17", "-fPIC", "-shared", *("-D" + d for d in definitions),
                           *("-I" + folder for folder in folders), *files, "-o", library], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return library


class Peer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.begin = [f"plugin load {plugin_of_lammps()}"]

    def run_with(self, *fixes):
        output = ["thermo_style custom step pe ke press pxx pyy pzz pxy pxz pyz vol", "thermo_modify norm no format float %.17g",
                  "thermo 1", "dump d all custom 5 dump id type x y z vx vy vz fx fy fz",
                  "dump_modify d format float %.17g sort id"]
        run = coordtest.run_lammps(melt() + self.begin + list(fixes) + output + [f"run {STEPS}"])
        return run, dumptest.read_dump(run.path("dump"))

    def assert_same(self, found, expected, what):
        names = {"KinEng", "Press", "Pxx", "Pyy", "Pzz", "Pxy", "Pxz", "Pyz", "Volume"}
        for name in names.difference(OTHER_VIRIAL.get(what, ())):
            self.assertLess(coordtest.error_of(found[0].tables[0][name], expected[0].tables[0][name]), coordtest.rounded(1e-9), f"{what}: {name}")
        for mine, theirs in zip(found[1], expected[1]):
            for name in ("x", "y", "z", "vx", "vy", "vz", "fx", "fy", "fz"):
                self.assertLess(coordtest.error_of(mine[name], theirs[name]), coordtest.rounded(1e-9), f"{what}: {name}")

    def test_same_trajectory(self):
        without = self.run_with()
        for what, text in INPUTS.items():
            with self.subTest(what):
                results = []
                for style in "plumed", "coord/plumed":
                    given = Input(text + "PRINT ARG=*.bias FILE=COLVAR FMT=%.17g\n")
                    results.append(self.run_with(f"fix b all {style} {given.words}"))
                    results[-1][0].bias = given.columns("COLVAR")
                self.assert_same(results[1], results[0], what)
                self.assertGreater(np.abs(results[1][0].tables[0]["Pxx"] - without[0].tables[0]["Pxx"]).max(), 1e-4, what)
                for name, column in results[0][0].bias.items():
                    self.assertLess(coordtest.error_of(results[1][0].bias[name], column), 1e-9, f"{what}: {name}")

    def test_both_in_one_run(self):
        """The fixes have separate PLUMED objects: each acts as if it were the only one, and the
        bias on our variable equals that of fix coord/bias."""
        theirs = Input(INPUTS["distance"])
        ours = Input(extracv("c") + "r: RESTRAINT ARG=c AT=8.5 KAPPA=30\n")
        both = self.run_with(f"fix a all plumed {theirs.words}", f"fix b all coord/plumed c_c {ours.words}")
        again = Input(INPUTS["distance"])
        expected = self.run_with(f"fix a all plumed {again.words}", "fix b all coord/bias c_c harmonic k 30 s0 8.5")
        self.assert_same(both, expected, "both")


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
