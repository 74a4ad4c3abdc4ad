"""memory_usage() of every style against the memory that is free again when the style is deleted, for two
sizes of the system. A command of memory_of_styles.cpp prints both."""
# Without: gpu, kokkos

import os
import pathlib
import re
import unittest

import coordtest
import errortest
import plumedtest
import test_fake_gpu

TOP = pathlib.Path(__file__).resolve().parents[3]
PLUGIN = os.path.join(os.environ["GPUCOORD_BUILD"], "unittest", "memory_of_styles", "memory_of_styles.so")

SIZES = 8, 26    # edges in atoms
ATOMS = """
units metal
atom_style charge
atom_modify map array
lattice sc 2.5
region box block 0 {0} 0 {0} 0 {0}
create_box 1 box
create_atoms 1 box
mass 1 1.0
set group all charge 1.0
set atom 1*256 charge -1.0
displace_atoms all random 0.2 0.2 0.2 4711
pair_style zero 6.0
pair_coeff * *
comm_modify cutoff 6.5
neighbor 0.3 bin
timestep 0.0001
"""
# Rods, all parallel to x, far from each other.
MOLECULES = """
units metal
atom_style ellipsoid
atom_modify map array
lattice sc 3.0
region box block 0 {0} 0 {0} 0 {0}
create_box 1 box
create_atoms 1 box
set group all mass 2.0
set group all shape 1 1 1
neighbor 0.3 bin
timestep 0.0001
pair_style multisite 4.0 device {2}
pair_coeff * * components rod
"""
RODS = "component rod\nmass 2\ninertia 0 1 1\ncenter 0 -0.5 0 0.01 2.0\ncenter 0 0.5 0 0.01 2.0\n"
FEW_ATOMS = ATOMS.replace("{0}", "4")
FUNCTION = "switch cubic d0 1.0 dmax 3.0 device {2}\n"
CV = "compute cv all coord/gpu " + FUNCTION
MAP = "compute m all potential/grid {1} {1} {1} cutoff 3.0 device {2}\n"
BIAS = "fix x all coord/bias c_cv metad sigma 0.5 height 1e-9 pace 1 "
OPES = (CV.replace("cv", "cu") + CV.replace("cv", "cw") + "fix x all coord/bias c_cv c_cu c_cw opes barrier 0.2 temp 300 "
        "sigma 0.5 0.5 0.5 threshold 0 pace 1 file K\n")
PERATOM = "variable v atom c_x[1]\ndump d all custom 1 dump.x id v_v\n"
OUTPUT = "thermo_style custom step c_x\nthermo 1\n"
GRID = "dump d all grid 1 dump.x {}:grid:{}\n"


class Case:
    """commands: with {0}, the edge in atoms, {1}, three times as much, {2}, the device, and {3}, 500 times as
    much. delete: the command that deletes the style. steps: None: 100 times the edge. of_others: largest
    fraction of the memory that another library has, which memory_usage() does not count."""
    def __init__(self, commands, delete="uncompute x", system=ATOMS, output=OUTPUT, grows=True, steps=1, of_others=0.0):
        self.commands, self.delete, self.system, self.output = commands, delete, system, output
        self.grows, self.steps, self.of_others = grows, steps, of_others

    @staticmethod
    def tolerance(memory):
        """malloc() rounds sizes up, and objects have small parts."""
        return 0.02 * memory + 5000

    def script(self, size, device, load=""):
        undump = "undump d\n" if "dump d" in self.output else ""
        return (f"{load}plugin load {PLUGIN}\n{(self.system + self.commands).format(size, 3 * size, device, 500 * size)}"
                f"{self.output}fix move all nve/limit 1e-9\nrun {self.steps or 100 * size}\n"
                f"{undump}thermo_style one\nmemory_of_styles\n{self.delete}\nmemory_of_styles\n")


CASES = {
    "compute coord/gpu": [Case(f"compute x all coord/gpu {words} {FUNCTION}", output=OUTPUT + PERATOM)
                          for words in ("", "engine allpairs", "function more_than rational 10 nn 12 mm 24")],
    **{f"compute {style}": [Case(f"compute x all {style} {example} device {{2}}\n")]
       for style, example in coordtest.ORDER_STYLES.items()},
    "compute coord/energy": [Case("compute x all coord/energy\nfix b all coord/bias c_x harmonic k 1e-9 s0 2\n",
                                  "unfix b\nuncompute x", output=OUTPUT + PERATOM)],
    "compute coord/volume": [Case("compute x all coord/volume\n", output=OUTPUT + PERATOM)],
    "compute coord/custom": [Case(CV + "compute x all coord/custom 2*a a c_cv\n", output=OUTPUT + PERATOM)],
    "compute coord/geometry": [Case("compute x all coord/geometry distance 1 all\n", output=OUTPUT + PERATOM)],
    "compute coord/shape": [Case("compute x all coord/shape gyration all\n", output=OUTPUT + PERATOM)],
    "compute coord/force": [Case(CV + "fix b all coord/bias c_cv harmonic k 1e-9 s0 2\ncompute x all coord/force b\n",
                                 output=PERATOM)],
    "compute potential/grid": [Case(MAP.replace("compute m", "compute x"), output=GRID.format("c_x", "phi"))],
    "fix coord/bias": [Case(CV + BIAS + "grid 0 10000 bins {3}00 file H\n", "unfix x", output=""),
                       Case(CV + BIAS + "file H\n", "unfix x", FEW_ATOMS, output="", steps=None),
                       Case(CV + OPES, "unfix x", FEW_ATOMS, output="", steps=None)],
    "fix coord/plumed": [Case(CV + "fix x all coord/plumed c_cv plumedfile plumed.dat\n", "unfix x", output="", of_others=0.75)],
    "fix ave/potential/grid": [Case(MAP + "fix x all ave/potential/grid 1 m\n", "unfix x", output=GRID.format("f_x", "data"))],
    "fix multisite/linear": [Case("fix x all multisite/linear\n", "unfix x", MOLECULES, output="", grows=False)],
    "pair coord": [Case(f"pair_style coord {words} device {{2}}\npair_coeff * * 1e-9 cubic d0 1.0 dmax 3.0\n",
                        "pair_style none", output="") for words in ("engine cells", "engine neigh")],
    "pair multisite": [Case("", "pair_style none", MOLECULES, output="")],
}
ON_GPU = [name for name in CASES if name.split()[1] in (
    "coord/gpu", *coordtest.ORDER_STYLES, "potential/grid", "coord", "multisite")]


def styles_of_package():
    """Return the kinds and names of all styles, without those for KOKKOS, which have the same classes as base."""
    found = set()
    for path in (TOP / "src/GPUCOORD").glob("*.h"):
        for kind, name in re.findall(r"^(Compute|Fix|Pair)Style\(([\w/]+),", path.read_text(), re.MULTILINE):
            found.add(f"{kind.lower()} {name}")
    return found | {f"compute {name}" for name in coordtest.ORDER_STYLES}


def write_inputs(size, folder="."):
    with open(os.path.join(folder, "components"), "w") as file:
        file.write(RODS)
    ids = ",".join(str(k + 1) for k in range(size**3))
    with open(os.path.join(folder, "plumed.dat"), "w") as file:
        file.write(f"c: CENTER ATOMS={ids}\ns: EXTRACV NAME=cv\nRESTRAINT ARG=s AT=0 KAPPA=1e-9\n")


def run(script, **environment):
    with open("in", "w") as file:
        file.write(script)
    code, output = errortest.run_program([*coordtest.lmp_program(), "-in", "in", "-log", "none", "-nocite"], 1,
                                         OMP_NUM_THREADS="1", **environment)
    if code:
        raise AssertionError(output)
    # Before and after the style is deleted: the memory of each style, and of the process.
    states = []
    for line in re.findall(r"^memory of (\S+: \d+)$", output, re.MULTILINE):
        name, number = line.split(": ")
        if not states or "malloc" in states[-1]:
            states.append({})
        states[-1][name] = states[-1].get(name, 0.0) + float(number)
    return states


class Memory(unittest.TestCase):
    def test_list_of_styles(self):
        self.assertEqual(set(CASES), styles_of_package())

    def test_styles(self):
        """What all styles count is less after the style is deleted, and so is the memory of the process. Some
        of it does not depend on the size: objects, tables, and what LAMMPS allocates for a style."""
        for name, cases in CASES.items():
            for case in cases:
                with self.subTest(name, commands=case.commands):
                    counted, freed = [], []
                    for size in SIZES:
                        write_inputs(size)
                        before, after = run(case.script(size, "host"))
                        self.assertIn(name.split()[1], before)
                        freed.append(before.pop("malloc") - after.pop("malloc"))
                        counted.append(sum(before.values()) - sum(after.values()))
                    for ours, all_of_it in zip(counted, freed):
                        self.assertLess(ours, all_of_it + case.tolerance(all_of_it))
                        self.assertGreater(ours, (1 - case.of_others) * all_of_it - case.tolerance(all_of_it) - 1e5)
                    if case.grows:
                        grown, all_of_it = counted[1] - counted[0], freed[1] - freed[0]
                        self.assertGreater(all_of_it, 1e5)
                        self.assertLess(grown, all_of_it + case.tolerance(all_of_it))
                        self.assertGreater(grown, (1 - case.of_others) * all_of_it - case.tolerance(all_of_it))


class OnGPU(test_fake_gpu.WithFakeGPUs):
    MEMORY = 3000000000    # of a backend (fake_gpu.cpp)

    def test_styles(self):
        for name in ON_GPU:
            for case in CASES[name]:
                with self.subTest(name, commands=case.commands):
                    write_inputs(4)
                    before, _ = run(case.script(4, "cuda", self.load), FAKE_GPUS="1")
                    found = before[name.split()[1]]
                    self.assertGreater(found, self.MEMORY)
                    self.assertLess(found, self.MEMORY + 5e6)


if __name__ == "__main__":
    os.chdir(coordtest.folder())
    unittest.main(verbosity=2)
