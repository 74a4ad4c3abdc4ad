"""fix coord/bias compared with fix colvars: the same variable and bias must give the same run.

Colvars loses digits if the distance of a pair equals r0 to many digits, an error that grows to 1e-8
in 50 steps: no pair comes that close to r0 in these runs.
"""

import os
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box, Switch, brute_force

STEPS = 200
# Relative to the largest magnitude, after STEPS in which rounding grows.
TOLERANCE = coordtest.rounded(1e-9)

N = 40
BOX = Box((7.0, 8.0, 9.0), lo=(-2.0, 1.0, 0.0))
X = coordtest.random_positions(np.random.default_rng(6), BOX, N, closest=0.5)
FIRST, SECOND, SELF = np.arange(10), np.arange(15, 40), np.arange(5, 30)
XI = Switch("rational", 1.3, dmax=np.inf)
ETA = Switch("rational", 1.0, n=4, m=14, dmax=np.inf)
# At the start.
S = [brute_force(BOX, X, XI, FIRST, SECOND, image="minimum").value,
     brute_force(BOX, X, ETA, SELF, image="minimum").value]


def ids(atoms):
    return " ".join(str(i + 1) for i in atoms)


COLVARS = f"""
colvarsTrajFrequency 1
colvarsRestartFrequency 0
colvar {{
  name xi
  coordNum {{
    cutoff 1.3
    group1 {{ atomNumbers {ids(FIRST)} }}
    group2 {{ atomNumbers {ids(SECOND)} }}
  }}
}}
colvar {{
  name eta
  selfCoordNum {{
    cutoff 1.0
    expNumer 4
    expDenom 14
    group1 {{ atomNumbers {ids(SELF)} }}
  }}
}}
"""
COMPUTES = f"""
compute xi first coord/gpu group2 second {XI.keywords} image minimum precision double
compute eta self coord/gpu {ETA.keywords} image minimum precision double
"""


HEIGHT, PACE, SIGMA = 0.8, 20, {"xi": 1.6, "eta": 1.0}
CUT = np.exp(-6.25)    # cutoff of GPUCOORD's hills
STRETCHED = HEIGHT / (1 - CUT)


def colvars(kind, names, **keywords):
    """Return a bias of Colvars, with one keyword per line."""
    lines = [f"colvars {names}", *(f"{keyword} {value}" for keyword, value in keywords.items())]
    return "\n".join([kind + " {", *lines, "}"])


def metad(*names):
    """Colvars' hills are Gaussians without cutoff. Within the cutoff they equal GPUCOORD's hills
    plus a constant for each hill."""
    sigmas = " ".join(str(SIGMA[name]) for name in names)
    ours = f"{' '.join('c_' + name for name in names)} metad sigma {sigmas} height {HEIGHT} pace {PACE} file HILLS"
    return [ours], colvars("metadynamics", " ".join(names), gaussianSigmas=sigmas, hillWeight=repr(STRETCHED),
                           newHillFrequency=PACE, useGrids="off")


# One or more biases of GPUCOORD, and those of Colvars. Walls of Colvars have a factor 1/2, those of
# GPUCOORD have not.
BIASES = {
    "harmonic": ([f"c_xi harmonic k 3.0 s0 {S[0] - 1}"],
                 colvars("harmonic", "xi", centers=S[0] - 1, forceConstant=3.0)),
    "harmonic, two": ([f"c_eta c_xi harmonic k 2.0 2.0 s0 {S[1] + 1} {S[0] - 1}"],
                      colvars("harmonic", "xi eta", centers=f"{S[0] - 1} {S[1] + 1}", forceConstant=2.0)),
    "moving center": ([f"c_xi moving k 3.0 s0 {S[0]} s0/stop {S[0] + 2} steps 150"],
                      colvars("harmonic", "xi", centers=S[0], forceConstant=3.0, targetCenters=S[0] + 2,
                              targetNumSteps=150)),
    "moving force constant": ([f"c_eta moving k 1.0 s0 {S[1] + 1} k/stop 4.0 steps 150"],
                              colvars("harmonic", "eta", centers=S[1] + 1, forceConstant=1.0, targetForceConstant=4.0,
                                      targetNumSteps=150)),
    "upper wall": ([f"c_xi wall/upper k 4.0 s0 {S[0] - 0.05}"],
                   colvars("harmonicWalls", "xi", upperWalls=S[0] - 0.05, forceConstant=8.0)),
    "lower wall": ([f"c_xi wall/lower k 4.0 s0 {S[0] + 0.4}"],
                   colvars("harmonicWalls", "xi", lowerWalls=S[0] + 0.4, forceConstant=8.0)),
    "both walls": ([f"c_eta wall/lower k 30.0 s0 {S[1] - 0.1}", f"c_eta wall/upper k 30.0 s0 {S[1] + 0.1}"],
                   colvars("harmonicWalls", "eta", lowerWalls=S[1] - 0.1, upperWalls=S[1] + 0.1, forceConstant=60.0)),
    "linear": ([f"c_xi c_eta linear k 0.2 0.2 s0 {S[0]} 1"],
               colvars("linear", "xi eta", centers=f"{S[0]} 1", forceConstant=0.2)),
    "metad": metad("xi"),
    "metad, two": metad("xi", "eta"),
}


def run(fixes, energy):
    path = os.path.join(coordtest.folder(), "data")
    coordtest.write_data(path, X, BOX)
    done = coordtest.run_lammps(f"""
units lj
atom_modify map array
pair_style gauss 2.9
read_data {path}
mass 1 1.0
pair_coeff * * -3.0 4.0
velocity all create 1.0 4711
group first id {ids(FIRST)}
group second id {ids(SECOND)}
group self id {ids(SELF)}
{COMPUTES}
{fixes}
fix move all nve
variable v equal {energy}
variable xi equal c_xi
variable eta equal c_eta
thermo_style custom step v_v v_xi v_eta
thermo_modify format float %.17g
thermo 1
dump d all custom 10 dump id xu yu zu fx fy fz
dump_modify d sort id format float %.17g
run {STEPS}
""")
    x, f = (np.array([[frame[axis] for axis in axes] for frame in dumptest.read_dump(done.path("dump"))])
            for axes in (("xu", "yu", "zu"), ("fx", "fy", "fz")))
    return done, done.tables[0], x, f


@unittest.skipIf(coordtest.lacks_package("COLVARS"), "no package COLVARS")
class Colvars(unittest.TestCase):
    def compare(self, name):
        ours, theirs = BIASES[name]
        with open(os.path.join(coordtest.folder(), "in.colvars"), "w") as file:
            file.write(COLVARS + theirs)
        _, table, x, f = run("\n".join(f"fix b{k} all coord/bias {tail}" for k, tail in enumerate(ours)),
                             "+".join(f"f_b{k}" for k in range(len(ours))))
        done, expected, x_expected, f_expected = run(f"fix b all colvars {file.name} output out", "f_b")
        trajectory = np.loadtxt(done.path("out.colvars.traj"))
        np.testing.assert_array_equal(trajectory[:, 0], table["Step"])
        s = np.column_stack([table["v_xi"], table["v_eta"]])
        v, v_expected = table["v_v"], expected["v_v"]
        if name.startswith("metad"):
            v_expected = v_expected - STRETCHED * CUT * np.floor(table["Step"] / PACE)
            self.stay_near_hills(*(table["v_" + some] / SIGMA[some] for some in SIGMA if "c_" + some in ours[0]))
        if "wall" in name:    # both sides are visited
            self.assertGreater((v == 0).sum(), 5)
        self.assertGreater((v > 0).sum(), 5)
        errors = (coordtest.error_of(s, trajectory[:, 1:]), coordtest.error_of(v, v_expected),
                  coordtest.error_of(f, f_expected), coordtest.error_of(x, x_expected))
        print("%s: S %.1e, energy %.1e, forces %.1e, positions %.1e" % (name, *errors))
        self.assertLessEqual(max(errors), TOLERANCE, name)

    def stay_near_hills(self, *scaled):
        """Check that runs stay within the cutoff of all hills: 3.5 sigma."""
        for step in range(PACE, STEPS + 1, PACE):
            distance = np.sqrt(sum((s[step:] - s[step]) ** 2 for s in scaled))
            self.assertLess(distance.max(), 3.5)

    def test_runs(self):
        for name in BIASES:
            if name.startswith("metad") and coordtest.is_older_lammps():
                coordtest.skip_part(name, "metadynamics of Colvars 2024-06-04 ends LAMMPS in a segmentation fault")
                continue
            with self.subTest(bias=name):
                self.compare(name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
