"""Pair entropy: S, g, derivatives and virial against numpy and differences, the same numbers for any number
of ranks and threads, biases, and output."""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import unittest

import numpy as np
from lammps import lammps

import coordtest
from brutetest import Box
from coordtest import error_of, rounded
from ordertest import (check_differences, check_energy, check_momentum, check_npt_conserves, check_restart, setup,
                       trajectory)

ORTHOGONAL = Box((4.4, 4.9, 5.3))
TILTED = Box((4.6, 4.9, 5.3), tilt=(1.2, -0.9, 0.8))
R_MAX, SIGMA, BINS = 1.8, 0.1, 40
WORDS = f"cutoff {R_MAX} sigma {SIGMA} bins {BINS}"
GHOSTS = 3.0    # R_MAX + 8 SIGMA + skin
COMPUTES = {"one": ("all", WORDS), "fine": ("all", "cutoff 1.5 sigma 0.15 bins 100"), "two": ("left", f"{WORDS} group2 right"),
            "both": ("left", f"{WORDS} group2 late")}
GROUPS = {"left": range(0, 40), "right": range(40, 80), "late": range(20, 80)}
EXACT = rounded(1e-10)


def positions(box, seed):
    return coordtest.random_positions(np.random.default_rng(seed), box, 80, closest=0.7)


def commands(computes, more=""):
    return [f"compute {name} {group} coord/pairentropy {words} precision double {more}"
            for name, (group, words) in computes.items()]


def start(test, box, x, computes=COMPUTES, more=""):
    lmp = coordtest.start()
    test.addCleanup(lmp.close)
    coordtest.make_system(lmp, box, x, ghosts=GHOSTS)
    for name, members in GROUPS.items():
        coordtest.define_group(lmp, name, [k for k in members if k < len(x)])
    for line in commands(computes, more):
        lmp.command(line)
    lmp.command("run 0")
    return lmp


def g_of(lmp, name, bins=BINS):
    return np.ctypeslib.as_array(lmp.extract_compute(name, 0, 1), (6 + bins,))[6:].copy()


def by_definition(box, x, a, b, r_max, sigma, bins):
    """Return S, g at the nodes r_1 to r_N, and the number of partners of the atoms of a within r_max."""
    d = x[b] - x[a][:, None]
    images = box.images(r_max + 9 * sigma)
    r = np.sqrt(((d[..., None, :] + images) ** 2).sum(axis=-1))
    own = (np.equal.outer(np.asarray(a), np.asarray(b))[..., None]) & (np.abs(images).sum(axis=1) == 0)
    r[own] = np.inf
    spacing = r_max / bins
    nodes = spacing * np.arange(1, bins + 1)
    rho = len(b) / abs(np.linalg.det(box.edges))
    near = r[r < r_max + 9 * sigma]
    kernel = np.exp(-(nodes[:, None] - near)**2 / (2 * sigma**2)) / (np.sqrt(2 * np.pi) * sigma)
    g = kernel.sum(axis=1) / (4 * np.pi * len(a) * rho * nodes**2)
    integrand = nodes**2 * (np.where(g > 0, g * np.log(np.where(g > 0, g, 1)), 0) - g + 1)
    integrand[-1] /= 2
    return -2 * np.pi * rho * spacing * integrand.sum(), g, (r <= r_max).sum(axis=(1, 2))


class Values(unittest.TestCase):
    def test_definition(self):
        parameters = {"one": (R_MAX, SIGMA, BINS), "fine": (1.5, 0.15, 100)}
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            lmp = start(self, box, positions(box, seed))
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            for name, (group, words) in COMPUTES.items():
                a = np.array(GROUPS.get(group, range(80)))
                b = np.array(GROUPS[words.split()[-1]]) if "group2" in words else a
                r_max, sigma, bins = parameters.get(name, parameters["one"])
                s, g, partners = by_definition(box, x, a, b, r_max, sigma, bins)
                self.assertLess(s, -0.1)
                self.assertAlmostEqual(coordtest.scalar_of(lmp, name) / s, 1, delta=EXACT, msg=name)
                coordtest.virial_of(lmp, name)
                self.assertLess(error_of(g_of(lmp, name, bins), g), EXACT, name)
                array = coordtest.atoms_of(lmp, name)
                self.assertEqual(array.shape[1], 5)
                expected = np.zeros(80)
                expected[a] = partners
                np.testing.assert_array_equal(array[:, 0], expected)
                np.testing.assert_array_equal(array[:, 4], expected)

    def test_lattice(self):
        """In a box of a few cells, atoms have images of themselves as partners; S does not depend on the number of cells."""
        values = []
        for cells in 1, 2, 3:
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            for line in ("lattice fcc 1.0", f"region box block 0 {cells} 0 {cells} 0 {cells}", "create_box 1 box",
                         "create_atoms 1 box", "mass * 1.0", "pair_style zero 1.5", "pair_coeff * *", "neighbor 0.3 bin",
                         "comm_modify cutoff 3.0", f"compute s all coord/pairentropy {WORDS} precision double", "run 0"):
                lmp.command(line)
            values.append(coordtest.scalar_of(lmp, "s"))
            self.assertLess(np.abs(coordtest.atoms_of(lmp, "s")[:, 1:4]).max(), 1e-12)
        self.assertLess(values[0], -2)
        np.testing.assert_allclose(values, values[0], rtol=EXACT)


class Derivatives(unittest.TestCase):
    STEP = 1e-3

    def test_differences(self):
        """change_box changes the density, too."""
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            lmp = start(self, box, positions(box, seed))
            if not box.tilted:
                lmp.command("change_box all triclinic")
                lmp.command("run 0")
            check_differences(self, lmp, box, COMPUTES, self.STEP, 1e-4, least_virial=1e-4)

    def test_momentum(self):
        for box in ORTHOGONAL, TILTED:
            lmp = start(self, box, positions(box, 5))
            check_momentum(self, lmp, COMPUTES)


class Ranks(unittest.TestCase):
    def run_on(self, box, ranks, newton="on", steps=6, more="", threads=1):
        lines = [*setup(box, positions(box, 11), GROUPS, GHOSTS, newton), *commands(COMPUTES, more)]
        run, frames = trajectory(lines, COMPUTES, steps, ranks, threads)
        return run.tables[0], [np.column_stack(list(frame.values())) for frame in frames]

    def compare(self, found, expected, limit, what):
        for row in 0, 6:
            for name, column in expected[0].items():
                scale = max(1, max(abs(expected[0][other][row]) for other in expected[0] if other[:4] == name[:4]))
                self.assertLessEqual(abs(found[0][name][row] - column[row]), limit * scale, f"{what}, step {row}, {name}")
            self.assertLessEqual(error_of(found[1][row], expected[1][row]), limit, f"{what}, step {row}")

    def test_ranks_and_newton(self):
        for box in ORTHOGONAL, TILTED:
            expected = self.run_on(box, 1)
            for ranks, newton in ((1, "off"), (2, "on"), (4, "off")):
                # Later steps are at positions that each run adds up in its own order.
                self.compare(self.run_on(box, ranks, newton), expected, rounded(1e-9), f"{ranks} ranks, newton {newton}")

    def test_check(self):
        """Keyword check compares with plain loops on all ranks."""
        self.run_on(TILTED, 1, steps=2, more="check 1 1e-9")
        self.run_on(ORTHOGONAL, 4, steps=2, more="check 1 1e-9")

    def test_mixed_precision(self):
        expected = self.run_on(TILTED, 1)
        self.compare(self.run_on(TILTED, 2, more="precision mixed"), expected, rounded(5e-5), "mixed")

    def test_threads(self):
        """Any number of threads gives the same bits."""
        table, frames = self.run_on(TILTED, 1)
        other_table, other_frames = self.run_on(TILTED, 1, threads=3)
        for name, column in table.items():
            coordtest.assert_same_bits(other_table[name], column, name)
        for frame, other in zip(frames, other_frames):
            coordtest.assert_same_bits(other, frame, "atoms")


class Output(unittest.TestCase):
    def script(self, *more):
        return ["region box block 0 8 0 8 0 8", "create_box 1 box", "create_atoms 1 single 1 1 1",
                "create_atoms 1 single 4 4 4", "mass * 1.0", "pair_style zero 2.6 nocoeff", "pair_coeff * *",
                f"compute c all coord/pairentropy {WORDS} device host", *more, "thermo 1", "thermo_style custom step c_c c_c[1] c_c[46]",
                "run 3", "run 1"]

    def test_setup_lines_and_warning(self):
        """One warning in a run if no atom has a partner; g is 0 then."""
        for ranks in 1, 2:
            run = coordtest.run_lammps(self.script(), ranks)
            self.assertRegex(run.text, r"Compute coord/pairentropy c: host \(.*\), "
                             r"precision mixed, engine cells, owned and ghost atoms.*\n  cutoff \+ 8 sigma 2.6\n"
                             "  pair entropy cutoff 1.8 sigma 0.1 bins 40\n")
            self.assertEqual(run.text.count("WARNING: Compute coord/pairentropy c: no atom of group all has a partner within "
                                            "cutoff 1.8, S is that of g = 0 "), 2)
            s = by_definition(Box((8.0, 8.0, 8.0)), np.array([[1.0, 1, 1], [4, 4, 4]]), [0, 1], [0, 1], R_MAX, SIGMA, BINS)[0]
            for table in run.tables:
                np.testing.assert_allclose(table["c_c"], s, rtol=1e-6)
                np.testing.assert_allclose(table["c_c[1]"], s, rtol=1e-6)    # S is proportional to the density
                np.testing.assert_array_equal(table["c_c[46]"], 0)
        self.assertNotIn("has a partner", coordtest.run_lammps(self.script("create_atoms 1 single 4 4 5")).text)

    def test_empty_group(self):
        text = coordtest.run_lammps(self.script("group none empty", f"compute d none coord/pairentropy {WORDS}",
                                                f"compute e all coord/pairentropy {WORDS} group2 none",
                                                "fix p all print 1 'S $(c_d) $(c_e)'")).text
        for name in "d", "e":
            self.assertIn(f"Compute coord/pairentropy {name}: group none is empty, S is 0 (", text)
        self.assertIn("S 0 0\n", text)

    def test_intensive(self):
        """LAMMPS does not divide S by the number of atoms."""
        lmp = start(self, ORTHOGONAL, positions(ORTHOGONAL, 4))
        lmp.command("thermo_style custom step c_one c_one[7]")
        lmp.command("run 0")
        self.assertAlmostEqual(lmp.last_thermo()["c_one"] / coordtest.scalar_of(lmp, "one"), 1, 6)


# ---------------------------------------------------------------- biases

BIASED = ["units lj", "atom_modify map array", "lattice fcc 1.0", "region box block 0 4 0 4 0 4", "create_box 1 box",
          "create_atoms 1 box", "mass * 1.0", "displace_atoms all random 0.05 0.05 0.05 4711",
          "pair_style lj/smooth/linear 2.3", "pair_coeff * * 1.0 1.0", "neighbor 0.3 bin", "comm_modify cutoff 3.0",
          "neigh_modify every 1 delay 0 check yes", "velocity all create 1.4 4711 loop geom"]
VARIABLE = [f"compute s all coord/pairentropy {WORDS} precision double"]
BIAS = "fix b all coord/bias c_s harmonic k 300 s0 -3"


class Biases(unittest.TestCase):
    def test_energy(self):
        check_energy(self, [*BIASED, *VARIABLE, BIAS, "fix move all nve"], "s", 0.002, "pair entropy")

    def test_forces_and_virial(self):
        """The force is -k (S - s0) dS/dx, and the pressure k (S - s0) W over the volume, also as a sum over atoms."""
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in (*(line for line in BIASED if "pair_" not in line), "pair_style zero 2.3", "pair_coeff * *", *VARIABLE, BIAS,
                     "fix_modify b virial yes",
                     "compute p all pressure NULL fix", "compute stress all stress/atom NULL fix",
                     "compute sums all reduce sum c_stress[*]", "thermo_style custom step vol c_p[*] c_sums[*]", "run 0"):
            lmp.command(line)
        dVdS = 300 * (coordtest.scalar_of(lmp, "s") + 3)
        self.assertGreater(abs(dVdS), 10)
        self.assertLess(error_of(coordtest.forces_of(lmp), -dVdS * coordtest.atoms_of(lmp, "s")[:, 1:4]), rounded(1e-10))
        w = dVdS * coordtest.virial_of(lmp, "s")
        self.assertLess(error_of(coordtest.virial_of(lmp, "p") * lmp.get_thermo("vol"), w), rounded(1e-10))
        self.assertLess(error_of(-coordtest.virial_of(lmp, "sums"), w), rounded(1e-10))

    def test_npt_conserves(self):
        check_npt_conserves(self, [*BIASED, *VARIABLE], BIAS, "fix b all coord/bias c_s linear k 0", "temp 1.4 1.4 0.2 iso 5 5 0.5",
                            0.002, 60)

    def test_restart(self):
        check_restart(self, BIASED, ["comm_modify cutoff 3.0"], [*VARIABLE, BIAS, "fix_modify b energy yes virial yes"],
                      "etotal press c_s f_b")


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
