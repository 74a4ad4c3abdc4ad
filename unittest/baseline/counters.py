"""How often a build with GPUCOORD_COUNTERS evaluates its objects, launches, waits and copies."""

import os
import re

BEGIN = ["units lj", "atom_modify map array", "region box block 0 6 0 6 0 6", "create_box 1 box",
         "create_atoms 1 random 40 4711 box overlap 1.0", "mass 1 1.0", "velocity all create 1.5 4711",
         "comm_modify cutoff 3.5", "fix n all nve", "timestep 0.002", "thermo 5",
         "thermo_style custom step pe press"]
LIQUID = [*BEGIN, "pair_style lj/cut 2.5", "pair_coeff 1 1 1 1"]
VARIABLE = ["compute s all coord/gpu switch rational 1.5 dmax 2.9 precision double"]
BIAS = "fix a all coord/bias c_s harmonic k 1 s0 50"
EXPRESSION = 'compute d all coord/custom "2*s+1" s c_s'
GEOMETRY = ["group odd id 1:40:2", "group even id 2:40:2", "compute t all coord/geometry dihedral 1 2 3 4 distance 5 6",
            "compute d all coord/geometry distance odd even image none"]
WALL = "fix b all coord/bias c_s wall/upper k 1 s0 50"
METAD = "fix a all coord/bias c_s metad sigma 1.0 height 0.1 pace 2 grid 0 400 bins 800 file HILLS"
OPES = "fix a all coord/bias c_s opes barrier 20 temp 1.5 sigma/adaptive 8 pace 4 file KERNELS"
PRINTED = "thermo_style custom step pe press c_s c_s[1]"

CASES = {
    "one fix": [*LIQUID, *VARIABLE, BIAS, "run 10"],
    "expression": [*LIQUID, *VARIABLE, EXPRESSION, BIAS.replace("c_s", "c_d"), "run 10"],
    "two fixes on one variable": [*LIQUID, *VARIABLE, BIAS, WALL, "run 10"],
    "metadynamics on a grid": [*LIQUID, *VARIABLE, METAD, "run 10"],
    "OPES with adaptive sigma": [*LIQUID, *VARIABLE, OPES, "thermo 100", "run 20"],
    "variable in thermo output": [*LIQUID, *VARIABLE, BIAS, PRINTED, "run 10"],
    "run 0 twice": [*LIQUID, *VARIABLE, BIAS, "run 0", "run 0"],
    "min_style cg": [*LIQUID, *VARIABLE, BIAS, "min_style cg", "minimize 0 0 10 50"],
    "min_style fire": [*LIQUID, *VARIABLE, BIAS, "min_style fire", "minimize 0 0 10 50"],
    "respa, outer level": [*LIQUID, *VARIABLE, BIAS, "run_style respa 3 2 2 pair 1", "run 10"],
    "respa, inner level": [*LIQUID, *VARIABLE, BIAS, "fix_modify a respa 1", "run_style respa 3 2 2 pair 1",
                           "run 10"],
    "geometry of atoms": [*LIQUID, *GEOMETRY, "fix a all coord/bias c_t[1] c_t[2] harmonic k 1 1 s0 1 1", "run 10"],
    "geometry of centers": [*LIQUID, *GEOMETRY, "fix a all coord/bias c_d harmonic k 1 s0 1", "run 10"],
    "pair coord": [*BEGIN, "pair_style coord", "pair_coeff * * 3.0 cubic dmax 1.8", "run 10"],
}
# The evaluators of collective variables and pair sums: the host, a GPU from host arrays, or a GPU with atoms on it.
EVALUATIONS = "Coordination (host)", "Coordination (CUDA)", "ResidentCoordination"


class Counts:
    """The counts in a file that a build with GPUCOORD_COUNTERS writes: by name, totals and by timestep."""

    def __init__(self, path):
        self.totals, self.steps = {}, {}
        with open(path) as file:
            for line in file:
                match = re.match(r"timestep (\d+): (.*)", line)
                if match:
                    counts = [re.fullmatch(r"(.*) (\d+)", part) for part in match[2].split(", ") if part]
                    self.steps.setdefault(int(match[1]), {})
                    for found in counts:
                        row = self.steps[int(match[1])]
                        row[found[1]] = row.get(found[1], 0) + int(found[2])
                elif not line.startswith(("#", "GPUCOORD")):
                    name, total, _ = re.fullmatch(r"(.+?) +(\d+) +(\S+)", line.strip()).groups()
                    self.totals[name] = int(total)

    def evaluations(self, step=None):
        counts = self.totals if step is None else self.steps.get(step, {})
        return sum(counts.get(name, 0) for name in EVALUATIONS)


def has_counters(build):
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        return bool(re.search(r"^GPUCOORD_COUNTERS:BOOL=(ON|1|TRUE|YES|Y)$", file.read(), re.MULTILINE | re.I))
