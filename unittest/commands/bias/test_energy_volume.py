"""compute coord/energy and coord/volume: values, forces and virials of their biases against LAMMPS'
own computes, closed forms and differences of the energy; conservation; ranks; other fixes."""
# Processors: 2
# KOKKOS on a GPU: newton on

import unittest

import numpy as np

import coordtest
import errortest
import test_bias_forces
from coordtest import rounded, scalar_of
from plumedtest import compare_with_differences
from test_bias_forces import BOXES
from test_bias_parallel import SAME, computes, crystal, forces, new_hills, output, state

# With positions in float, LAMMPS' terms of pairs are in float, too.
LAST_DIGITS, DOUBLE = rounded(coordtest.LAST_DIGITS, 200), rounded(coordtest.DOUBLE, 200)

test_bias_forces.SIGMA.update(u=6.0, v=20.0, h=8.0)

VARIABLES = ("compute u all coord/energy", "compute v all coord/volume")
# Variables, and the bias as in test_bias_forces
BIASES = {
    "energy": ("u", "harmonic k 0.02 s0 {s[0]-20}"),
    "energy, weaker forces": ("u", "linear k -0.4"),
    "volume": ("v", "harmonic k 0.1 s0 {s[0]-15}"),
    "both": ("u v", "harmonic k 0.02 0.1 s0 {s[0]+10} {s[1]+9}"),
    "expression": ("h", "harmonic k 0.02 s0 {s[0]-20}"),
    "with a coordination number": ("one u", "harmonic k 3.0 0.02 s0 {s[0]-0.5} {s[1]-20}"),
    "metad": ("u v", {}),
    "opes": ("h", dict(kind="opes barrier 9 temp 1.5")),
}


class System(test_bias_forces.System):
    def __init__(self, test, box):
        super().__init__(test, box)
        self.commands(*VARIABLES, "compute h all coord/custom u+0.1*v+0.01*v*u/100+one u c_u v c_v one c_one")
        self.evaluate()
        self.s.update({name: scalar_of(self.lmp, name) for name in "uvh"})


class Forces(unittest.TestCase):
    def test_differences(self):
        for box in BOXES:
            for title, (names, arguments) in BIASES.items():
                with self.subTest(box=box, case=title):
                    system = System(self, BOXES[box])
                    system.bias(names, arguments)
                    _, forces, _ = system.evaluate()
                    largest = np.abs(system.forces_of_bias(forces)).max(axis=1)
                    atoms = [] if title == "volume" else np.argsort(largest)[-3:]
                    compare_with_differences(self, f"{box}, {title}", system, atoms, only=title == "volume")

    def test_closed_forms(self):
        """A bias on the energy scales forces and virial; one on the volume shifts the pressure. Several fixes and values
        act as the sum, in any order."""
        for box in BOXES.values():
            system = System(self, box)
            energy, forces, virial = system.evaluate()
            volume = np.linalg.det(box.edges)
            self.assertLess(abs(system.s["u"] - energy), LAST_DIGITS * abs(energy))
            self.assertLess(abs(system.s["v"] - volume), LAST_DIGITS * volume)
            system.bias("u", "harmonic k 0.02 s0 {s[0]-20}", "b1")
            system.bias("one", "harmonic k 3.0 s0 {s[0]-0.5}", "b2")
            system.bias("v u", "linear k -0.3 0.25", "b3")
            system.bias("v", "harmonic k 0.1 s0 {s[0]-5}", "b4")
            found = system.evaluate()
            v1, v3, v4 = 0.02 * 20, 0.25, 0.1 * 5 - 0.3
            self.assertAlmostEqual(scalar_of(system.lmp, "u"), energy, delta=LAST_DIGITS * abs(energy))
            own = sum(system.lmp.extract_fix(f"b{k}", 0, 0) for k in range(1, 5))
            self.assertAlmostEqual(found[0], energy + own, delta=LAST_DIGITS * abs(energy))
            system.commands("unfix b1", "unfix b3", "unfix b4")
            other = system.evaluate()
            expected = other[1] + (v1 + v3) * forces
            self.assertLess(coordtest.error_of(found[1], expected), LAST_DIGITS + coordtest.FORCES)
            expected = other[2] + (v1 + v3) * virial - v4 * volume * np.array([1, 1, 1, 0, 0, 0])
            self.assertLess(coordtest.error_of(found[2], expected), DOUBLE)

    def test_outputs(self):
        """Derivatives, virial, stress of atoms, and compute coord/force."""
        system = System(self, BOXES["triclinic"])
        _, forces, virial = system.evaluate()
        system.bias("u v", "linear k 0.4 0.2")
        system.commands("compute f all coord/force b", "compute parts all stress/atom NULL pair")
        _, with_bias, _ = system.evaluate()
        lmp, volume = system.lmp, system.s["v"]
        self.assertLess(coordtest.error_of(coordtest.atoms_of(lmp, "u"), -forces), LAST_DIGITS + coordtest.FORCES)
        self.assertEqual(np.abs(coordtest.atoms_of(lmp, "v")).max(), 0)
        self.assertLess(coordtest.error_of(coordtest.virial_of(lmp, "u"), virial), DOUBLE)
        unit = np.array([1, 1, 1, 0, 0, 0])
        self.assertLess(coordtest.error_of(coordtest.virial_of(lmp, "v"), -volume * unit), LAST_DIGITS)
        pair = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("parts", 1, 2))
        expected = 0.4 * pair + 0.2 * volume / len(pair) * unit
        self.assertLess(coordtest.error_of(system.stress(), expected), DOUBLE)
        of_bias = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("f", 1, 2))
        self.assertLess(coordtest.error_of(of_bias, 0.4 * forces), LAST_DIGITS + coordtest.FORCES)
        self.assertLess(coordtest.error_of(with_bias, 1.4 * forces), LAST_DIGITS + coordtest.FORCES)


class TwoDimensions(unittest.TestCase):
    def test_area(self):
        """S is the area, and its bias shifts the pressure in the plane."""
        lines = ["units lj", "dimension 2", "lattice sq2 0.8", "region box block 0 6 0 5 -0.5 0.5", "create_box 1 box",
                 "create_atoms 1 box", "mass 1 1.0", "displace_atoms all random 0.1 0.1 0 4711 units box", "pair_style lj/cut 2.5",
                 "pair_coeff * * 1.0 1.0", "compute p all pressure NULL virial", *VARIABLES]
        output = ["thermo_style custom step vol c_v pe c_u c_p[1] c_p[2] c_p[4] c_v[1] c_v[2] c_v[3]",
                  "thermo_modify norm no format float %.17g"]
        tables = [coordtest.run_lammps(lines + fix + output + ["run 0"]).tables[0] for fix in
                  ([], ["fix b all coord/bias c_v c_u linear k 0.3 0.5"])]
        without, biased = ({name: column[0] for name, column in table.items()} for table in tables)
        area = without["Volume"]
        self.assertLess(abs(without["c_v"] - area), LAST_DIGITS * area)
        self.assertLess(coordtest.error_of([without[f"c_v[{k}]"] for k in (1, 2, 3)], [-area, -area, 0]), LAST_DIGITS)
        for name, shift in ("c_p[1]", -0.3), ("c_p[2]", -0.3), ("c_p[4]", 0):
            self.assertAlmostEqual(biased[name], 1.5 * without[name] + shift, delta=DOUBLE * abs(without["c_p[1]"]))


# Bonds, angles, charges with Ewald sums, and a tail of the pair energy.
MOLECULES = """
units lj
atom_style full
lattice fcc 0.6
region box block 0 3 0 3 0 3
create_box 2 box bond/types 1 angle/types 1 extra/bond/per/atom 6 extra/angle/per/atom 6 extra/special/per/atom 20
create_atoms 1 box
variable t atom 1+id%2
set group all type v_t
set type 1 charge 0.4
set type 2 charge -0.4
mass * 1.0
displace_atoms all random 0.08 0.08 0.08 4711
pair_style lj/cut/coul/long 2.4
pair_coeff * * 1.0 0.9
pair_modify tail yes
bond_style harmonic
bond_coeff 1 20 1.2
angle_style harmonic
angle_coeff 1 5 110
kspace_style ewald 1e-4
special_bonds lj/coul 0.5 0.5 0.5
create_bonds single/bond 1 1 2
create_bonds single/bond 1 2 3
create_bonds single/angle 1 1 2 3
compute u all coord/energy
compute parts all pressure NULL pair bond angle kspace
compute e all pe pair bond angle kspace
"""


class ForceField(unittest.TestCase):
    def test_all_parts(self):
        """The energy is that of pairs, bonds, angles and Ewald sums, with the tail, and without fixes."""
        text = MOLECULES + """
velocity all create 1.0 77
fix b all coord/bias c_u harmonic k 0.01 s0 -700
fix w all spring/self 3.0
fix_modify w energy yes
fix move all nve
thermo_style custom step c_u c_e vol c_u[1] c_u[2] c_u[3] c_u[4] c_u[5] c_u[6] c_parts[*] pe ebond eangle elong etail f_w f_b
thermo_modify norm no format float %.17g
thermo 1
run 5
"""
        for ranks in 1, 2:
            table = coordtest.run_lammps(text, ranks).tables[0]
            self.assertLess(coordtest.error_of(table["c_u"], table["c_e"]), LAST_DIGITS)
            fixes = table["f_w"] + table["f_b"]
            self.assertLess(coordtest.error_of(table["c_u"], table["PotEng"] - fixes), LAST_DIGITS)
            self.assertGreater(fixes.min(), 0.1)
            for part in "E_bond", "E_angle", "E_long", "E_tail":
                self.assertGreater(np.abs(table[part]).min(), 1e-3, part)
            for k in range(1, 7):
                expected = table[f"c_parts[{k}]"] * table["Volume"]
                self.assertLess(coordtest.error_of(table[f"c_u[{k}]"], expected), DOUBLE, k)


class Dynamics(unittest.TestCase):
    BIAS = "fix b all coord/bias {} harmonic k {} s0 {}"

    def drift(self, bias, ensemble, timestep, energy):
        """Return the largest change of a conserved energy within 1 unit of time, and the columns."""
        lines = crystal() + list(VARIABLES) + forces("lj/smooth/linear")[:-1] + [bias, f"fix move all {ensemble}"]
        steps = round(1 / timestep)
        run = coordtest.run_lammps(lines + ["thermo_modify norm no", f"timestep {timestep}",
                                            f"thermo_style custom step ke c_u c_v f_b {energy}",
                                            "thermo_modify norm no format float %.17g", f"thermo {steps // 16}", f"run {steps}"])
        table = run.tables[0]
        return np.ptp(table[{"etotal": "TotEng", "econserve": "Econserve"}[energy]]), table

    def test_conservation(self):
        """The drift is that of the integrator, of second order in the timestep."""
        for names, k, s0, ensemble, energy in (("c_u", "0.03", "-480", "nve", "etotal"),
                                               ("c_u c_v", "0.01 0.2", "-480 125", "nph iso 3 3 1.0", "econserve")):
            with self.subTest(ensemble):
                bias = self.BIAS.format(names, k, s0)
                coarse, table = self.drift(bias, ensemble, 1 / 256, energy)
                fine, _ = self.drift(bias, ensemble, 1 / 512, energy)
                print(f"{ensemble}: drift {coarse:.2g} and {fine:.2g}, changes of V {np.ptp(table['f_b']):.3g}")
                self.assertGreater(np.ptp(table["f_b"]), 100 * coarse)
                if not coordtest.POSITION_ROUNDOFF:
                    self.assertLess(fine, coarse / 2.5)

    def test_scaled_potential(self):
        """A linear bias on the energy is a force field whose energies are scaled."""
        scaled = [line.replace("1.0 1.0", "1.3 1.0") for line in forces()]
        runs = []
        for lines in (forces() + ["compute u all coord/energy", "fix b all coord/bias c_u linear k 0.3"], scaled):
            runs.append(coordtest.run_lammps(crystal() + lines + output([], 10) + ["run 50"]))
        found, expected = map(state, runs)
        for name in expected:
            self.assertLess(coordtest.error_of(found[name], expected[name]), SAME, name)

    def test_minimization(self):
        """A minimization of half the energy ends in a minimum of the energy."""
        minimize = ["thermo_style custom step pe c_u", "thermo_modify norm no format float %.17g", "minimize 0 1e-8 500 5000"]
        lines = crystal() + forces() + ["compute u all coord/energy", "fix b all coord/bias c_u linear k -0.5"]
        biased, alone = coordtest.run_lammps(lines + minimize + ["unfix b"] + minimize).tables
        self.assertLess(biased["c_u"][-1], biased["c_u"][0] - 10)
        self.assertAlmostEqual(biased["c_u"][-1], alone["c_u"][-1], delta=rounded(1e-8, 1000) * 500)
        self.assertAlmostEqual(biased["PotEng"][-1], 0.5 * biased["c_u"][-1], delta=rounded(1e-8, 1000) * 500)


# A resident bias, in which fix a comes first, and one whose stride differs.
FIXES = ["compute e all coord/custom u/100+c u c_u c c_c", "fix a all coord/bias c_d harmonic k 20 s0 8.9",
         "fix b all coord/bias c_u c_v harmonic k 0.01 0.2 s0 -480 125 stride 2",
         "fix c all coord/bias c_e metad sigma 0.1 height 1.0 pace 4 file {}"]
NAMES = "abc"


class Runs(unittest.TestCase):
    def script(self, hills, ensemble="nph iso 3 3 1.0"):
        lines = forces("lj/cut")[:-1] + computes("engine cells") + [line.format(hills) for line in (*VARIABLES, *FIXES)]
        return lines + [f"fix move all {ensemble}"] + output(NAMES, 10)

    def test_ranks(self):
        expected = None
        for ranks in 1, 2, 4:
            for newton in "on", "off":
                hills = new_hills()
                run = coordtest.run_lammps([f"newton {newton}"] + crystal() + self.script(hills) + ["run 60"], ranks)
                found = {**state(run), "hills": np.loadtxt(hills)}
                expected = expected or found
                for name in expected:
                    self.assertLess(coordtest.error_of(found[name], expected[name]), SAME, f"{ranks}, {newton}: {name}")

    @unittest.skipUnless(coordtest.KOKKOS, "it is about KOKKOS")
    def test_style_without_kokkos(self):
        """In a run with KOKKOS, the style without KOKKOS has the same results."""
        runs = []
        for before, after in ([], []), (["suffix off"], ["suffix on"]):
            lines = []
            for line in self.script(new_hills()):
                lines += before + [line] + after if line.startswith("compute u") else [line]
            runs.append(coordtest.run_lammps(crystal() + lines + ["run 60"]))
        found, expected = map(state, runs)
        for name in expected:
            self.assertLess(coordtest.error_of(found[name], expected[name]), SAME, name)

    def test_restart(self):
        """A run in pieces, and one with pre no, equal one run. The order of sums differs."""
        ends = []
        for pieces in (["run 60"], ["run 31", "write_restart {}", "clear", "read_restart {}", None, "run 29"],
                       ["run 20", "run 20 pre no", "run 20"]):
            hills = new_hills()
            lines = crystal() + self.script(hills)
            for piece in pieces:
                lines += [piece.format(f"{hills}.restart")] if piece else self.script(hills)
            run = coordtest.run_lammps(lines)
            ends.append({**state(run), "hills": np.loadtxt(hills)})
        for found in ends[1:]:
            for name in ends[0]:
                self.assertLess(coordtest.error_of(found[name], ends[0][name]), SAME, name)

    def test_rerun(self):
        """rerun evaluates the same energy, volume and bias."""
        hills = new_hills()
        lines = crystal() + self.script(hills, "nph iso 3 3 1.0")
        lines = [line for line in lines if not line.startswith("fix c")]
        lines = [line.replace(" f_c f_c[*]", "") for line in lines]
        again = ["unfix move", "undump d", "shell mv dump trajectory", "rerun trajectory dump x y z"]
        run = coordtest.run_lammps(lines + ["run 40"] + again)
        first, second = run.tables
        for name in "f_b", "f_b[1]", "f_b[5]":
            self.assertLess(coordtest.error_of(second[name], first[name]), rounded(1e-8), name)


class Errors(errortest.InProcess):
    BIAS = "fix b all coord/bias c_u linear k 0.1"
    FIRST = "Fix coord/bias b must be defined before fix x of style {}: a bias on the energy scales the forces of the force " \
        "field, and must find no others - define fix b first"
    RESPA = "Fix coord/bias b: a bias on the energy scales all forces at once, which run_style respa evaluates at several " \
        "levels - use run_style verlet"

    def assert_error(self, command, message, marked=None):
        found, command = errortest.error_of(self.lmp, command)
        self.assertEqual(errortest.without_suffix(found), message)
        self.assertIn(command, (marked, errortest.ANY))

    def test_arguments(self):
        for style in "energy", "volume":
            self.assert_error(f"compute u a coord/{style}", f"Compute coord/{style} group must be all, not a - use group all",
                              f"compute u [a] coord/{style}")
            self.assert_error(f"compute u all coord/{style} x", f"Compute coord/{style}: unknown keyword x - there are none",
                              f"compute u all coord/{style} [x]")

    def test_order_of_fixes(self):
        """Forces of other fixes are not those of the force field; fixes of variables act on the same forces in any order."""
        errortest.commands(self.lmp, "compute u all coord/energy\ncompute d all coord/custom u/2 u c_u")
        for words in "addforce 1 0 0", "langevin 300 300 0.1 4711", "setforce 0 NULL NULL", "spring/self 1":
            errortest.commands(self.lmp, f"fix x all {words}\n" + self.BIAS)
            self.assert_error("run 0", self.FIRST.format(words.split()[0]))
            errortest.commands(self.lmp, "unfix b\n" + self.BIAS.replace("c_u", "c_d"))
            self.assert_error("minimize 0 0 1 1", self.FIRST.format(words.split()[0]))
            errortest.commands(self.lmp, f"unfix b\nunfix x\n{self.BIAS}\nfix x all {words}\nrun 0\nunfix b\nunfix x")
        errortest.commands(self.lmp, f"fix x all nve\nfix y all store/force\nfix z all ave/time 1 1 1 c_u\n{self.BIAS}\nrun 1")

    def test_other_integrators_and_atoms(self):
        errortest.commands(self.lmp, "compute u all coord/energy\n" + self.BIAS + "\nrun_style respa 2 2 pair 1")
        self.assert_error("run 0", self.RESPA)
        errortest.commands(self.lmp, "unfix b\nrun 0")    # the value alone
        errortest.commands(self.lmp, "clear\n" + self.SYSTEM.replace("atom_modify", "atom_style sphere\natom_modify")
                           .replace("mass 1 1.0\n", "") + "compute u all coord/energy\n" + self.BIAS)
        self.assert_error("run 0", "Fix coord/bias b: a bias on the energy scales the forces on atoms, but atom_style sphere "
                          "also has torques or other forces - use a bias on another variable, or an atom style without them")

    def test_boundary(self):
        self.lmp.command("compute v all coord/volume")
        self.lmp.command("change_box all boundary p p f")
        self.assert_error("run 0", "Compute coord/volume v: the box must be periodic in all directions, because at other "
                          "boundaries a change of the volume is no strain - use boundary p p p")

    def test_outputs(self):
        """Derivatives need a bias, and the energy a timestep in which LAMMPS has summed it."""
        errortest.commands(self.lmp, "compute u all coord/energy\ncompute m all reduce max c_u[1]\n"
                           "thermo_style custom step c_m")
        self.assert_error("run 0", "Compute coord/energy u: the derivatives at step 0 are unknown, because no fix with this "
                          "variable was evaluated then - use them in a run, in timesteps of such a fix")
        errortest.commands(self.lmp, self.BIAS + "\nrun 0")

    def test_not_finite(self):
        """Two atoms at the same place, and a velocity that is not a number."""
        for bad in ("set atom 3 x 1 y 1 z 1\nset atom 4 x 1 y 1 z 1", "variable bad atom exp(1000)-exp(1000)\ngroup one id 3\n"
                    "velocity one set NULL v_bad NULL units box"):
            errortest.commands(self.lmp, "clear\n" + self.SYSTEM.replace("zero 3.0", "lj/cut 3.0").replace("pair_coeff * *", "pair_coeff * * 0.01 2.2") +
                               f"compute u all coord/energy\n{self.BIAS}\nfix n all nve\nrun 1\n{bad}")
            self.assert_error("run 1", "Compute coord/energy u: the energy or the virial of the force field is not a finite number - the "
                              "simulation is unstable, or atoms overlap")

    def test_centroid_stress(self):
        errortest.commands(self.lmp, "compute u all coord/energy\ncompute s all centroid/stress/atom NULL\n" + self.BIAS)
        self.assert_error("run 0", "Compute coord/energy u: compute s of style centroid/stress/atom needs the centroid stress "
                          "of a bias on the energy, which is unknown - use compute stress/atom")


if __name__ == "__main__":
    unittest.main(verbosity=2)
