"""Biases of order parameters: forces and virials are those of V(S), energy is conserved to second order in
the timestep, and runs are the same on any number of ranks, with rRESPA, restarts and reruns."""

import unittest

import numpy as np
from lammps import lammps

import coordtest
import dumptest
from coordtest import error_of, rounded
from ordertest import CRYSTAL, FREE, SOLID, BiasedRuns, check_energy, check_npt_conserves

SWITCH = "switch cubic d0 1.2 dmax 1.6 precision double"
GROUPS = ["group left id 1:54", "group right id 40:108"]
TWO = [f"compute q all coord/orientorder l 6 order average norm mean {SWITCH}",
       f"compute n all coord/orientorder l 6 order dot norm mean {SWITCH}"]
BIAS = "fix b all coord/bias c_q c_n harmonic k 2000 1000 s0 0.35 0.6"


class Energy(unittest.TestCase):
    """Fluctuations of the energy of NVE fall as the square of the timestep."""

    MORE = "function more_than rational 0.6 nn 12 mm 24"
    BONDS = "order connections rational 0.5 nn 12 mm 24"
    # Group, words and restraint.
    IN_SOLID = {
        "local": ("all", "l 6 norm mean", "k 20000 s0 0.45"),
        "connections": ("all", f"l 6 {BONDS} norm mean", "k 20 s0 10"),
        "global": ("all", "l 6 order global", "k 20000 s0 0.4"),
        "more_than": ("all", f"l 6 order dot {MORE} norm mean", "k 2000 s0 0.6"),
        "group2": ("left", "l 4 group2 right norm mean", "k 20000 s0 0.2"),
        "group2 global": ("left", "l 4 group2 right order global", "k 20000 s0 0.1"),
    }
    IN_MELT = {
        "average": ("all", "l 6 order average norm mean", "k 20000 s0 0.3"),
        "dot": ("all", "l 6 order dot norm mean", "k 2000 s0 0.3"),
        "connections": ("all", f"l 6 {BONDS} norm mean", "k 20 s0 5"),
        "global": ("all", "l 6 order global", "k 20000 s0 0.2"),
    }
    # A hot start melts the crystal.
    MELT = [*CRYSTAL, "velocity all create 8.0 4711 loop geom", "timestep 0.002", "fix move all nve", "thermo 300", "run 300"]

    def each(self, cases, start, dt):
        for name, (group, words, restraint) in cases.items():
            with self.subTest(name):
                check_energy(self, [*start, *GROUPS, f"compute v {group} coord/orientorder {words} {SWITCH}",
                                    f"fix b all coord/bias c_v harmonic {restraint}"], "v", dt, name)

    def test_solid(self):
        self.each(self.IN_SOLID, [*SOLID, "fix move all nve"], 0.002)

    def test_melt(self):
        self.each(self.IN_MELT, self.MELT, 0.001)

    def test_two_variables(self):
        check_energy(self, [*SOLID, "fix move all nve", *TWO, "compute v all coord/custom a+b a c_q b c_n", BIAS], "v", 0.002,
                     "two")


class Forces(unittest.TestCase):
    STEPS = 5
    # Words of each bias of n, which is near 0.98, and its V'(S) after STEPS steps.
    BIASES = {
        "harmonic": ("harmonic k 300 s0 0.8", lambda s: 300 * (s - 0.8)),
        "moving": ("moving k 200 s0 0.9 s0/stop 0.7 k/stop 300 steps 10", lambda s: 250 * (s - 0.8)),
        "wall/upper": ("wall/upper k 90 s0 0.8 offset 0.1 exponent 3", lambda s: 3 * 90 * (s - 0.7)**2),
        "linear": ("linear k -8", lambda s: -8.0),
    }

    def start(self, *lines):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in (*FREE, *TWO, *lines):
            lmp.command(line)
        return lmp

    def compare(self, name, words, dVdS_of):
        lmp = self.start("timestep 0.002", "fix move all nve", f"fix b all coord/bias c_n {words}",
                         "compute p all pressure NULL fix", "thermo_style custom step vol c_n c_p[*]", f"run {self.STEPS}")
        s, dVdS = coordtest.scalar_of(lmp, "n"), dVdS_of(coordtest.scalar_of(lmp, "n"))
        self.assertGreater(abs(dVdS), 1, name)
        self.assertAlmostEqual(lmp.extract_fix("b", 0, 1, 0), s, delta=1e-12 * abs(s))
        gradient = coordtest.atoms_of(lmp, "n")[:, 1:4]
        self.assertLess(error_of(coordtest.forces_of(lmp), -dVdS * gradient), rounded(1e-10), name)
        expected = dVdS * coordtest.virial_of(lmp, "n") / lmp.get_thermo("vol")
        self.assertLess(error_of(coordtest.virial_of(lmp, "p"), expected), rounded(1e-10), name)

    def test_kinds(self):
        """The force is -V'(S) dS/dx, and the pressure V'(S) W over the volume."""
        for name, (words, dVdS_of) in self.BIASES.items():
            with self.subTest(name):
                self.compare(name, words, dVdS_of)

    def test_metad(self):
        path = f"{coordtest.folder()}/hills"

        def dVdS_of(s):
            hills = np.loadtxt(path, ndmin=2)
            self.assertGreater(len(hills), 1)
            center, sigma, height = hills[:, 1], hills[:, 2], hills[:, 3]
            # Hills are stretched Gaussians that end in 0.
            return np.sum(-height * (s - center) / sigma**2 * np.exp(-(s - center)**2 / (2 * sigma**2))) / (1 - np.exp(-6.25))

        self.compare("metad", f"metad sigma 0.01 height 3 pace 2 file {path}", dVdS_of)

    def test_forces_and_virial(self):
        """The bias of an expression of the variables has the force -k (S - s0) dS/dx and the virial
        k (S - s0) W, and virials of atoms add up to it."""
        for name in "q", "n", "both", "square":
            lmp = self.start(f"compute Q all coord/orientorder order global {SWITCH}",
                             "compute both all coord/custom a*b^2 a c_q b c_n", "compute square all coord/custom Q*Q Q c_Q", "run 0")
            s = coordtest.scalar_of(lmp, name)
            pressures = {}
            lmp.command(f"fix b all coord/bias c_{name} harmonic k 300.0 s0 {s - 0.4!r}")
            for line in ("compute stress all stress/atom NULL fix", "compute sums all reduce sum c_stress[*]",
                         "thermo_style custom step c_sums[1] press"):
                lmp.command(line)
            for virial in "yes", "no":
                lmp.command(f"fix_modify b virial {virial}")
                lmp.command("run 0")
                pressures[virial] = lmp.get_thermo("press") * lmp.get_thermo("vol") * 3
                if virial == "yes":
                    found = -np.ctypeslib.as_array(lmp.extract_compute("sums", 0, 1), (6,)).copy()
            gradients = coordtest.atoms_of(lmp, name)
            gradients = gradients if name in ("both", "square") else gradients[:, 1:4]
            self.assertGreater(np.abs(gradients).max(), 1e-4, name)
            self.assertLess(error_of(coordtest.forces_of(lmp), -300 * 0.4 * gradients), rounded(1e-10), name)
            w = coordtest.virial_of(lmp, name)
            self.assertAlmostEqual((pressures["yes"] - pressures["no"]) / (300 * 0.4 * w[:3].sum()), 1.0, 8, name)
            self.assertLess(error_of(found, 300 * 0.4 * w), rounded(1e-9), name)


class WHat(unittest.TestCase):
    def test_column_of_a_biased_variable(self):
        """Column 6 is that of a variable without a bias, whichever command uses the array, and forces are the same."""
        for output in (["dump d all custom 2 dump id c_w[6] c_free[6] fx fy fz"],
                       ["fix a all ave/atom 2 1 2 c_w[6] c_free[6]", "dump d all custom 2 dump id f_a[1] f_a[2] fx fy fz"],
                       ["compute m all reduce ave c_w[6] c_free[6]", "thermo_style custom step c_m[*]",
                        "dump d all custom 2 dump id c_w[6] c_free[6] fx fy fz"]):
            forces = []
            for w_hat in "yes", "no":
                words = f"coord/orientorder order average norm mean {SWITCH} wl/hat"
                lines = output if w_hat == "yes" else ["dump d all custom 2 dump id fx fy fz"]
                run = coordtest.run_lammps(
                    [*FREE, f"compute w all {words} {w_hat}", f"compute free all {words} yes",
                     "fix b all coord/bias c_w harmonic k 3000 s0 0.3", "thermo 2", *lines,
                     "dump_modify d format float %.17g sort id", "timestep 0.002", "fix move all nve", "run 6"], 2)
                frames = dumptest.read_dump(run.path("dump"))
                forces.append([frame[axis] for frame in frames for axis in ("fx", "fy", "fz")])
                for frame in frames if w_hat == "yes" else ():
                    found, expected = (column for name, column in frame.columns.items() if name[:2] in ("c_", "f_"))
                    np.testing.assert_array_equal(found, expected)
                    self.assertEqual(np.count_nonzero(expected), len(expected))
            coordtest.assert_same_bits(*map(np.array, forces), "forces")


class Runs(BiasedRuns, unittest.TestCase):
    VARIABLES, BIAS = TWO, BIAS
    WEAK = "fix b all coord/bias c_q c_n harmonic k 300 200 s0 0.45 0.8"

    def test_npt(self):
        for kind in "aniso", "tri":
            self.check_npt(kind)

    def test_npt_conserves(self):
        check_npt_conserves(self, [*SOLID, *TWO], BIAS, "fix b all coord/bias c_q c_n linear k 0 0",
                            "temp 1.2 1.2 0.2 iso 5 5 0.5", 0.002, 60)


class DynamicGroup(unittest.TestCase):
    def test_groups_that_change(self):
        """Groups that follow a region, updated at every step, have the S of static groups with the same atoms."""
        computes = {"a": "slab coord/orientorder l 6 order average norm mean", "g": "slab coord/orientorder l 6 order global",
                    "p": "low coord/orientorder l 4 group2 slab"}
        run = coordtest.run_lammps(
            [*SOLID, "region slab block INF INF INF INF 1.1 3.3", "group slab dynamic all region slab every 1",
             "group low id 1:60", *(f"compute {name} {words} {SWITCH}" for name, words in computes.items()),
             "variable in atom gmask(slab)", "thermo_style custom step c_a c_g c_p", "thermo 1",
             "thermo_modify norm no format float %.17g", "dump d all custom 1 dump id x y z v_in",
             "dump_modify d format float %.17g sort id", "fix move all nve", "timestep 0.01", "run 12"], 2)
        sizes = set()
        for row, frame in enumerate(dumptest.read_dump(run.path("dump"))):
            slab = np.flatnonzero(frame["v_in"])
            sizes.add(len(slab))
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            coordtest.make_system(lmp, frame.box, frame.x(), ghosts=2.2)
            coordtest.define_group(lmp, "slab", slab)
            coordtest.define_group(lmp, "low", range(60))
            for name, words in computes.items():
                lmp.command(f"compute {name} {words} {SWITCH}")
            lmp.command("run 0")
            for name in computes:
                self.assertAlmostEqual(run.tables[0][f"c_{name}"][row] / coordtest.scalar_of(lmp, name), 1,
                                       delta=rounded(1e-10), msg=f"{name}, step {frame.step}")
        self.assertGreater(len(sizes), 2)


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
