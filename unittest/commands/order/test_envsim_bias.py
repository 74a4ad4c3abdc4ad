"""Biases of environment similarity: forces and virials are those of V(S), energy is conserved to second order in the timestep, and
runs are the same on any number of ranks, with rRESPA, restarts and reruns."""

import unittest

import numpy as np
from lammps import lammps

import coordtest
import dumptest
from coordtest import error_of, rounded

A = 1.5874010519682    # lattice constant at density 1
CRYSTAL = ["units lj", "atom_modify map array", "lattice fcc 1.0", "region box block 0 3 0 3 0 3", "create_box 1 box",
           "create_atoms 1 box", "mass * 1.0", "displace_atoms all random 0.05 0.05 0.05 4711",
           "pair_style lj/smooth/linear 2.3", "pair_coeff * * 1.0 1.0", "neighbor 0.3 bin",
           "neigh_modify every 1 delay 0 check yes"]
SOLID = [*CRYSTAL, "velocity all create 1.2 4711 loop geom"]
FREE = [line for line in SOLID if "pair_" not in line] + ["pair_style zero 2.3", "pair_coeff * *"]
GROUPS = ["group left id 1:54", "group right id 40:108"]
FCC = f"structure fcc {A} sigma 0.14 precision double"
# Four of the twelve vectors, without their opposites: not symmetric.
with open(f"{coordtest.folder()}/half", "w") as half:
    half.write("".join(f"{x * A / 2} {y * A / 2} {z * A / 2}\n" for x, y, z in ((1, 1, 0), (1, 0, 1), (-1, 1, 0), (0, -1, 1))))
HALF = f"file {coordtest.folder()}/half sigma 0.14 precision double"
TWO = [f"compute q all coord/envsim {FCC} norm mean", f"compute n all coord/envsim {HALF} function more_than rational 0.3 norm mean"]
BIAS = ["fix b all coord/bias c_q c_n harmonic k 1000 500 s0 0.5 0.9", "fix_modify b energy yes virial yes"]
OUTPUT = ["thermo_style custom step etotal press c_q c_n f_b", "thermo_modify norm no format float %.17g", "thermo 5"]


class Energy(unittest.TestCase):
    """Fluctuations of the energy of NVE fall as the square of the timestep."""

    # Group, words and restraint.
    CASES = {
        "fcc": ("all", f"{FCC} norm mean", "k 3000 s0 0.4"),
        "half": ("all", f"{HALF} norm mean", "k 3000 s0 0.4"),
        "several": ("all", f"{FCC} file {coordtest.folder()}/half lambda 20 norm mean", "k 3000 s0 0.4"),
        "more_than": ("all", f"{FCC} function more_than rational 0.5 nn 12 mm 24 norm mean", "k 500 s0 0.7"),
        "group2": ("left", f"{HALF} group2 right norm mean", "k 3000 s0 0.2"),
    }

    def compare(self, lines, dt, what):
        spreads = []
        for halved in 1, 2:
            output = ["fix_modify b energy yes", "thermo_style custom step etotal c_v f_b",
                      "thermo_modify norm no format float %.17g", f"thermo {5 * halved}"]
            table = coordtest.run_lammps([*SOLID, "fix move all nve", *lines, *output, f"timestep {dt / halved}",
                                          f"run {60 * halved}"], 2).tables[-1]
            spreads.append(np.std(table["TotEng"]))
            self.assertGreater(np.ptp(table["f_b"]), 50 * np.ptp(table["TotEng"]), what)
        print(f"{what}: spread falls by {spreads[0] / spreads[1]:.2f}")
        if not coordtest.POSITION_ROUNDOFF:
            self.assertAlmostEqual(spreads[0] / spreads[1], 4, delta=0.6, msg=what)

    def test_each(self):
        for name, (group, words, restraint) in self.CASES.items():
            with self.subTest(name):
                self.compare([*GROUPS, f"compute v {group} coord/envsim {words}", f"fix b all coord/bias c_v harmonic {restraint}"],
                             0.002, name)

    def test_two_variables(self):
        self.compare([*TWO, "compute v all coord/custom a+b a c_q b c_n", *BIAS], 0.002, "two")


class Forces(unittest.TestCase):
    def test_forces_and_virial(self):
        """The bias has the force -k (S - s0) dS/dx and the pressure k (S - s0) W over the volume, and virials of atoms add up to
        k (S - s0) W."""
        for name in "q", "n", "both":
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            for line in (*FREE, *TWO, "compute both all coord/custom a*b^2 a c_q b c_n", "run 0"):
                lmp.command(line)
            s = coordtest.scalar_of(lmp, name)
            for line in (f"fix b all coord/bias c_{name} harmonic k 300.0 s0 {s - 0.4!r}", "fix_modify b virial yes",
                         "compute p all pressure NULL fix", "compute stress all stress/atom NULL fix",
                         "compute sums all reduce sum c_stress[*]", "thermo_style custom step vol c_p[*] c_sums[1]", "run 0"):
                lmp.command(line)
            slopes = coordtest.atoms_of(lmp, name)
            slopes = slopes if name == "both" else slopes[:, 1:4]
            self.assertGreater(np.abs(slopes).max(), 1e-4, name)
            self.assertLess(error_of(coordtest.forces_of(lmp), -300 * 0.4 * slopes), rounded(1e-10), name)
            w = 300 * 0.4 * coordtest.virial_of(lmp, name)
            self.assertLess(error_of(coordtest.virial_of(lmp, "p"), w / lmp.get_thermo("vol")), rounded(1e-10), name)
            found = -np.ctypeslib.as_array(lmp.extract_compute("sums", 0, 1), (6,)).copy()
            self.assertLess(error_of(found, w), rounded(1e-9), name)


class Runs(unittest.TestCase):
    """Runs of the crystal with a bias of two variables."""

    def test_restart_and_rerun(self):
        atoms = ["dump d all custom 5 dump id x y z", "dump_modify d format float %.17g sort id"]
        whole = coordtest.run_lammps([*SOLID, *TWO, *BIAS, *OUTPUT, *atoms, "timestep 0.002",
                                      "fix move all nve", "run 10", "write_restart half", "run 10"])
        tail = coordtest.run_lammps([f"read_restart {whole.path('half')}", "neighbor 0.3 bin",
                                     "neigh_modify every 1 delay 0 check yes", *TWO, *BIAS, *OUTPUT,
                                     "timestep 0.002", "fix move all nve", "run 10"])
        for name, column in whole.tables[1].items():
            coordtest.assert_same_bits(tail.tables[0][name], column, name, in_pieces=True)
        again = coordtest.run_lammps([*SOLID[:-1], *TWO, *BIAS, *OUTPUT, f"rerun {whole.path('dump')} dump x y z"])
        for name in "c_q", "c_n", "f_b":
            expected = np.concatenate([whole.tables[0][name], whole.tables[1][name][1:]])
            np.testing.assert_allclose(again.tables[0][name], expected, rtol=rounded(1e-10), err_msg=name)

    LAST = ["xu", "yu", "zu", "vx", "vy", "vz"]

    def run_with(self, lines, ranks=1, start=SOLID, bias=BIAS):
        dump = [f"dump d all custom 1000 dump id x y z {' '.join(self.LAST)}", "dump_modify d format float %.17g sort id first yes"]
        run = coordtest.run_lammps([*start, *TWO, *bias, *OUTPUT, *dump, *lines, "write_dump all custom last id x y z "
                                    + " ".join(self.LAST) + " modify format float %.17g sort id"], ranks)
        last = dumptest.read_dump(run.path("last"))[0]
        return run.tables[-1], np.column_stack([last[name] for name in self.LAST])

    def test_respa(self):
        """A bias at the outermost level equals a stronger bias at every fourth short timestep."""
        bias = ["fix b all coord/bias c_q c_n harmonic k 300 200 s0 0.6 0.9"]
        respa, last = self.run_with(["fix move all nve", "timestep 0.004", "run_style respa 2 4 pair 1", "run 20"], 2, bias=bias)
        verlet, expected = self.run_with(["fix move all nve", "timestep 0.001", "run 80"], 2, bias=[f"{bias[0]} stride 4"])
        self.assertLess(error_of(last, expected), rounded(1e-9))
        for name in "c_q", "c_n", "f_b":
            self.assertAlmostEqual(respa[name][-1] / verlet[name][-1], 1, delta=rounded(1e-9), msg=name)

    def test_npt(self):
        """A pressure that contains the bias, in a box that tilts, on 1, 2 and 4 ranks."""
        # From a file, because create_atoms gives other IDs on other numbers of ranks.
        path = f"{coordtest.folder()}/crystal"
        coordtest.run_lammps([*SOLID, f"write_data {path}"])
        start = [*SOLID[:2], f"read_data {path}", *SOLID[SOLID.index("pair_style lj/smooth/linear 2.3"):], "change_box all triclinic"]
        lines = ["fix move all npt temp 1.2 1.2 0.2 tri 5 5 0.5", "timestep 0.002", "run 30"]
        table, last = self.run_with(lines, 1, start)
        self.assertGreater(np.ptp(table["Press"]), 0.1)
        for ranks in 2, 4:
            found, found_last = self.run_with(lines, ranks, start)
            self.assertLess(error_of(found_last, last), rounded(1e-9), f"{ranks} ranks")
            for name, column in table.items():
                self.assertLess(error_of(found[name], column), rounded(1e-9), f"{ranks} ranks, {name}")

    def test_npt_conserves(self):
        """The virial is that of V by strain: with it, the quantity that NPT conserves fluctuates as without a bias, also in a box
        that tilts."""
        for kind, first in (("iso", []), ("tri", ["change_box all triclinic"])):
            spread = {}
            biases = {"no bias": ["fix b all coord/bias c_q c_n linear k 0 0"], "with virial": BIAS, "without virial": [
                BIAS[0], "fix_modify b energy yes virial no"]}
            for name, bias in biases.items():
                table = coordtest.run_lammps([*SOLID, *first, *TWO, *bias, "thermo_style custom step econserve vol f_b",
                                              "thermo_modify norm no format float %.17g", "thermo 5", "timestep 0.001",
                                              f"fix move all npt temp 1.2 1.2 0.2 {kind} 5 5 0.5", "run 120"], 2).tables[0]
                spread[name] = np.std(table["Econserve"])
                self.assertGreater(np.ptp(table["Volume"]), 0.01 * table["Volume"][0])
            print(f"NPT {kind}:", ", ".join(f"{name} {value:.4f}" for name, value in spread.items()))
            self.assertLess(spread["with virial"], 2 * spread["no bias"])
            self.assertGreater(spread["without virial"], 20 * spread["with virial"])


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
