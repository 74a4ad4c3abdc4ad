"""Dynamics and minimization with fix coord/bias: conserved quantities, final states and volumes."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "commands"))
import coordtest
import dumptest
from brutetest import Switch, brute_force

# S of cubic has smooth first derivatives, as does this pair style: the remaining error is that of
# Verlet integration.
CUBIC = Switch("cubic", d0=1.2, dmax=2.2)
MEAN = f"compute c all coord/gpu {CUBIC.keywords} norm mean precision double"
# S starts at 8.89.
METAD = "metad sigma 0.1 height 3.0 pace {pace} file HILLS"
KINDS = {
    "harmonic": "c_c harmonic k 400 s0 8.5",
    "wall/upper": "c_c wall/upper k 1000 s0 8.6 exponent 3 offset 0.05",
    "wall/lower": "c_c wall/lower k 400 s0 9.2",
    "linear": "c_c c_d linear k 60 -20",
    "moving s0": "c_c moving k 400 s0 9.0 s0/stop 8.4 steps {steps}",
    "moving k": "c_c moving k 100 s0 8.6 k/stop 500 steps {steps}",
    "moving by variables": "c_c moving k v_k s0 v_s",
    "metad": f"c_c {METAD}",
    "metad on a grid": f"c_c {METAD} grid 6 12 bins 200",
    "well-tempered, two variables": f"c_c c_d {METAD} grid 6 12 0 30 bins 200 300 biasfactor 8 temp 1.4".replace(
        "sigma 0.1", "sigma 0.1 0.4"),
}


def crystal(size=3, density=0.9, skin=0.3):
    return ["units lj", "atom_modify map array sort 0 0", f"lattice fcc {density}",
            f"region box block 0 {size} 0 {size} 0 {size}", "create_box 1 box", "create_atoms 1 box", "mass 1 1.0",
            "displace_atoms all random 0.05 0.05 0.05 4711", f"neighbor {skin} bin",
            "neigh_modify every 1 delay 0 check yes", "thermo_modify norm no"]


def thermo(columns, every):
    return [f"thermo_style custom step {columns}", "thermo_modify norm no format float %.17g", f"thermo {every}"]


LJ = ["pair_style lj/smooth/linear 2.3", "pair_coeff * * 1.0 1.0"]


class ConstantEnergy(unittest.TestCase):
    DURATION = 0.8
    # With the shortest timestep, the error of Verlet integration would equal that of rounding to
    # float.
    TIMESTEPS = (0.004, 0.002) if coordtest.POSITION_ROUNDOFF else (0.004, 0.002, 0.001)
    # Velocities of order 1 to 10, rounded in some hundred steps.
    MOMENTUM = coordtest.rounded(1e-14, growth=100)

    def run_at(self, dt, bias, stride):
        """Return the thermo table of a run, and the work at its steps."""
        words = bias.format(steps=round(self.DURATION / dt), pace=round(0.08 / dt))
        at = 9 if "c_d" in words else 5
        script = crystal() + LJ + [
            MEAN, "group left id 1:50", "group right id 40:108",
            f"compute d left coord/gpu {CUBIC.keywords} group2 right norm mean precision double",
            "velocity all create 1.4 77 mom yes", f"timestep {dt}", "fix move all nve",
            "variable k equal 300+100*sin(6*time)", "variable s equal 8.8-0.5*time",
            f"fix b all coord/bias {words} stride {stride}",
            "variable px equal vcm(all,x)", "variable py equal vcm(all,y)", "variable pz equal vcm(all,z)",
            *thermo(f"time etotal f_b f_b[{at}] f_b[1] f_b[3] f_b[4] v_px v_py v_pz", stride),
            f"run {round(self.DURATION / dt)}"]
        rows = coordtest.run_lammps(script).tables[0]
        for axis in "xyz":
            self.assertLess(np.abs(rows[f"v_p{axis}"]).max(), self.MOMENTUM, "momentum is not conserved")
        work = rows[f"f_b[{at}]"]
        if "moving" in bias:
            s, s0, k = (rows[f"f_b[{column}]"] for column in (1, 3, 4))
            change = [k[1:] / 2 * (at - s0[1:])**2 - k[:-1] / 2 * (at - s0[:-1])**2 for at in (s[:-1], s[1:])]
            self.assertLess(coordtest.error_of(work, np.append(0, np.cumsum(sum(change) / 2))), 1e-12)
        return rows, work

    def check(self, name, bias, stride=1):
        errors = []
        for dt in self.TIMESTEPS:
            rows, work = self.run_at(dt, bias, stride)
            conserved = rows["TotEng"] - work
            errors.append(np.sqrt(np.mean((conserved - conserved[0])**2)))
        self.assertGreater(np.ptp(rows["f_b"]), 500 * errors[-1], "V hardly changes: the test shows nothing")
        if "moving" in bias or "metad" in bias:
            self.assertGreater(np.ptp(work), 500 * errors[-1], "no work is done: the test shows nothing")
        exponent = np.polyfit(np.log(self.TIMESTEPS), np.log(errors), 1)[0]
        print(f"{name}, stride {stride}: rms error {errors[0]:.2g} to {errors[-1]:.2g}, exponent {exponent:.3f}")
        self.assertAlmostEqual(exponent, 2, delta=0.15)

    def test_kinds(self):
        for name, bias in KINDS.items():
            with self.subTest(name):
                self.check(name, bias)

    def test_stride(self):
        for name in ("harmonic", "moving s0", "metad on a grid"):
            with self.subTest(name):
                self.check(name, KINDS[name], stride=2)


class PairPotential(unittest.TestCase):
    """k S of all atoms with switch cosinus is pair style soft with A = k/2: the same system
    computed by other code."""

    K, END = 0.6, 2.1
    POTENTIALS = {
        "bias": LJ + [f"compute c all coord/gpu switch cosinus {END} precision double",
                      f"fix b all coord/bias c_c linear k {K}"],
        "soft": [f"pair_style hybrid/overlay lj/smooth/linear 2.3 soft {END}",
                 "pair_coeff * * lj/smooth/linear 1.0 1.0", f"pair_coeff * * soft {K / 2}"],
        "neither": LJ}
    MOVE = "fix move all npt temp 0.6 0.6 0.3"
    STEPS = 200 if coordtest.POSITION_ROUNDOFF else 400    # over which rounding grows

    def run_with(self, potential, commands, columns="pe press pxx pyy pzz pxy pxz pyz vol", every=20):
        script = crystal(density=1.0) + self.POTENTIALS[potential] + thermo(columns, every)
        return coordtest.run_lammps(script + ["velocity all create 0.6 77 mom yes", "timestep 0.004", *commands]).tables

    def compare(self, what, bias, soft, neither):
        errors = {name: coordtest.error_of(bias[name], soft[name]) for name in soft if name != "Step"}
        print(f"{what}: volume {soft['Volume'][-1]:.2f}, {neither['Volume'][-1]:.2f} without; worst error "
              f"{max(errors.values()):.1e}")
        for name, error in errors.items():
            self.assertLessEqual(error, coordtest.rounded(coordtest.DOUBLE), f"{what}: {name}")
        for name, row in (("Press", 0), ("Volume", -1)):
            self.assertGreater(abs(neither[name][row] / soft[name][row] - 1), 0.03, f"the bias does nothing to {name}")

    def test_trajectories(self):
        """Random forces of fix langevin follow the order of the atoms, so they are equal in all
        runs."""
        for what, commands in {
                "npt iso": [f"{self.MOVE} iso 3.0 3.0 0.6"],
                "npt tri": ["change_box all triclinic", f"{self.MOVE} tri 3.0 3.0 0.8"],
                "press/berendsen": ["fix move all nve", "fix heat all langevin 0.6 0.6 0.5 12345",
                                    "fix press all press/berendsen aniso 3.0 3.0 0.2"]}.items():
            self.compare(what, *(self.run_with(p, commands + [f"run {self.STEPS}"])[0] for p in self.POTENTIALS))

    def test_mean_volume(self):
        mean, error = {}, {}
        for seed, potential in enumerate(self.POTENTIALS):
            volume = self.run_with(potential, [f"{self.MOVE} iso 3.0 3.0 0.6", f"velocity all create 1.2 {seed + 1}",
                                               "run 500", "run 5000"], "vol")[1]["Volume"][1:]
            blocks = volume.reshape(10, -1).mean(axis=1)
            mean[potential], error[potential] = blocks.mean(), blocks.std(ddof=1) / 3
        print("mean volumes:", ", ".join(f"{p} {mean[p]:.2f} +- {error[p]:.2f}" for p in mean))
        apart = 5 * np.hypot(error["bias"], error["soft"])
        self.assertLess(abs(mean["bias"] - mean["soft"]), apart)
        self.assertGreater(abs(mean["neither"] - mean["soft"]), 2 * apart, "the volume shows nothing")

    def test_box_relax(self):
        """The cell at zero temperature, and all steps of the relaxation."""
        tables = [self.run_with(p, ["fix relax all box/relax aniso 3.0 vmax 0.005", "min_style cg",
                                    "minimize 0 1e-8 500 5000"], "pe press lx ly lz vol", every=1)[0]
                  for p in self.POTENTIALS]
        # Rounding may end a line search earlier, and with positions in float it affects the whole
        # search.
        third = min(10, min(len(table["Step"]) for table in tables) - 1)
        some = [{name: column[[0, 3, third, -1]] for name, column in table.items()} for table in tables]
        self.compare("box/relax", *some)


class Minimization(unittest.TestCase):
    K, S0 = 60.0, 5.0
    # Minimization ends when rounding hides changes of the energy, which depends on the square of
    # the forces.
    TOLERANCE = coordtest.rounded(1e-16, growth=2e5)**0.5

    def test_force_on_pairs_and_bias_cancel(self):
        """Also with stride, which has no effect in a minimization."""
        left, right = np.arange(50), np.arange(40, 108)
        energies = []
        fire = [] if coordtest.kokkos_copies_lack("fire", coordtest.NO_FIRE) else [("fire", 1e-4)]
        # Fire takes very long for the last digits.
        for style, tolerance in [("cg", self.TOLERANCE), *fire]:
            run = coordtest.run_lammps(crystal() + LJ + [
                "group left id 1:50", "group right id 41:108",
                f"compute c left coord/gpu {CUBIC.keywords} group2 right norm mean precision double",
                f"fix b all coord/bias c_c harmonic k {self.K} s0 {self.S0} stride 7", *thermo("pe f_b fnorm", 1),
                f"min_style {style}", f"minimize 0 {tolerance} 20000 50000",
                "dump d all custom 1 dump id x y z fx fy fz", "dump_modify d format float %.17g first yes",
                "unfix b", *thermo("pe fnorm", 1), "run 0"])
            (path, alone), frame = run.tables, dumptest.read_dump(run.path("dump"))[-1]
            self.assertLess(path["Fnorm"][-1], tolerance)
            if style == "cg":    # other minimizers do not guarantee this
                self.assertLess(np.diff(path["PotEng"]).max(), coordtest.rounded(1e-10))
            variable = brute_force(frame.box, frame.x(), CUBIC, left, right, norm="mean")
            v = self.K / 2 * (variable.value - self.S0)**2
            self.assertAlmostEqual(path["f_b"][-1], v, delta=coordtest.rounded(1e-9))
            self.assertAlmostEqual(path["PotEng"][-1], alone["PotEng"][-1] + v, delta=coordtest.rounded(1e-9))
            forces = np.column_stack([frame[f"f{axis}"] for axis in "xyz"])
            gradients = self.K * (variable.value - self.S0) * variable.atoms[:, 1:]
            difference = np.abs(forces - gradients).max()
            print(f"{style}: V {path['f_b'][0]:.3f} to {v:.3f}, energy {path['PotEng'][-1]:.6f}, forces of pairs up to "
                  f"{np.abs(forces).max():.3g} differ from those of the bias by {difference:.1e}")
            self.assertLess(difference, tolerance)
            self.assertGreater(np.abs(forces).max(), 0.1, "the bias does nothing")
            energies.append(path["PotEng"][-1])
        if fire:
            self.assertAlmostEqual(energies[0], energies[1], delta=1e-6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
