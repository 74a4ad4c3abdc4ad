"""Forces, virial and energy of fix coord/bias, compared with differences of the energy that LAMMPS
prints.

The pair style and the switching functions are Gaussians that end where they vanish to rounding, so
the energy is smooth: central differences at two steps are extrapolated, with an error of fourth
order in the step.
"""

import os
import tempfile
import unittest

import numpy as np

import coordtest
from brutetest import Box, Switch, brute_force
from coordtest import scalar_of

# Distance and strain; the narrowest Gaussian has a width of 0.3.
STEP = coordtest.strain_step(1e-3)
TOLERANCE = 2e-9 * (STEP / 1e-3)**4    # relative to the largest component

N = 30
BOXES = {"orthogonal": Box((5.0, 5.4, 6.0)), "triclinic": Box((5.2, 5.0, 5.6), tilt=(1.4, -1.3, 1.2))}
# 2e-12 at the end, which is less than half of both boxes.
SHORT = Switch("gaussian", 0.3, d0=0.2, dmax=2.4)
WIDE = Switch("gaussian", 0.9, dmax=np.inf)
LEFT, RIGHT = np.arange(15), np.arange(15, N)

# The variables: tail of the command, and arguments of brute_force.
COMPUTES = {
    "one": (f"all coord/gpu {SHORT.keywords} engine cells", dict(switch=SHORT, a=np.arange(N))),
    "two": (f"left coord/gpu group2 right {SHORT.keywords} engine cells", dict(switch=SHORT, a=LEFT, b=RIGHT)),
    "mean": (f"left coord/gpu group2 all {SHORT.keywords} norm mean engine allpairs",
             dict(switch=SHORT, a=LEFT, b=np.arange(N), norm="mean", image="minimum")),
    "pair": (f"left coord/gpu pairs right {WIDE.keywords}",
             dict(switch=WIDE, a=LEFT, pairs=np.column_stack([LEFT, RIGHT]), image="minimum")),
}
SIGMA = {"one": 0.3, "two": 0.25, "mean": 0.05, "pair": 0.4}    # widths of hills

# Variables, and the bias as a function of their values s. With FLAT, the bias exerts no force
# there.
FLAT = True
RESTRAINTS = {
    "harmonic": ("one", "harmonic k 3.0 s0 {s[0]-0.5}"),
    "harmonic, pairs": ("pair", "harmonic k 3.0 s0 {s[0]+0.7}"),
    "harmonic, three": ("one mean pair", "harmonic k 3.0 50.0 0.8 s0 {s[0]+0.4} {s[1]-0.1} {s[2]+0.6}"),
    "moving": ("two", "moving k 2.0 s0 {s[0]+0.3} k/stop 7.0 s0/stop {s[0]-1.4} steps 10"),
    "moving, two": ("mean one", "moving k 20.0 v_k s0 {s[0]-0.3} {s[1]+0.2} s0/stop {s[0]+0.1} {s[1]+0.8} steps 9"),
    "upper wall": ("one", "wall/upper k 4.0 s0 {s[0]+0.2} offset 0.9 exponent 2.5"),
    "upper wall, below it": ("one", "wall/upper k 4.0 s0 {s[0]+0.2}", FLAT),
    "lower wall": ("two", "wall/lower k 4.0 s0 {s[0]-0.2} offset 0.9 exponent 1.5"),
    "lower wall, above it": ("two", "wall/lower k 4.0 s0 {s[0]-0.2} exponent 3", FLAT),
    "two walls, beyond one": ("one mean", "wall/lower k 4.0 400.0 s0 {s[0]-0.3} {s[1]+0.1} offset 0 0.1 exponent 2 3"),
    "linear": ("mean pair", "linear k 40.0 -1.5"),
}


def metad(names, s, grid=False, interval=None, more="", kind="metad height 0.7"):
    """Return a bias with eight hills of a file and those that the run adds. interval: whether the
    first variable is in it. kind: of bias, whose deposits may also be kernels of OPES"""
    sigma = np.array([SIGMA[name] for name in names])
    # A separate file for each writer.
    path = tempfile.mktemp(prefix="hills", dir=coordtest.folder())
    with open(path, "w") as file:
        file.write(f"#! FIELDS time {' '.join(names)} {' '.join('sigma_' + name for name in names)} height {'biasf' if 'metad' in kind else 'logweight'}\n")
        rng = np.random.default_rng(5)
        for k in range(8):
            hill = [0.01 * k, *(s + sigma * rng.uniform(-0.4, 1.6, len(s))), *sigma, rng.uniform(0.5, 1.5), -1]
            file.write(" ".join(repr(float(number)) for number in hill) + "\n")

    def per_variable(keyword, *values):
        return f" {keyword} " + " ".join(repr(float(number)) for number in np.column_stack(values).ravel())

    command = f"{kind} pace 2 file {path} append yes" + per_variable("sigma", sigma) + more
    if grid:    # s in the middle of a bin: the second derivative jumps at its ends
        command += per_variable("grid", s - 6 * sigma, s + 6 * sigma) + " bins" + len(s) * " 27"
    if interval:
        lo, hi = s - 2 * sigma, s + 2 * sigma
        if interval == "outside":
            lo[0] += 2.5 * sigma[0]
        command += per_variable("interval", lo, hi)
    return command


# Variables, arguments of metad(), and FLAT as above.
METADS = {
    "metad": ("one", {}),
    "metad, two": ("two pair", {}),
    "metad, three": ("one mean pair", {}),
    "metad, well-tempered": ("one two", dict(more=" temp 0.3 biasfactor 4")),
    "metad in an interval": ("two", dict(interval="inside")),
    "metad outside an interval": ("one", dict(interval="outside"), FLAT),
    "metad, two, one outside": ("one pair", dict(interval="outside")),
    "grid": ("one", dict(grid=True)),
    "grid, two": ("mean pair", dict(grid=True)),
    "grid, three": ("one two pair", dict(grid=True)),
    "grid, well-tempered": ("two", dict(grid=True, more=" temp 0.3 biasfactor 4")),
    "grid outside an interval": ("two", dict(grid=True, interval="outside"), FLAT),
    "grid, two, one outside": ("two pair", dict(grid=True, interval="outside")),
    "opes": ("one", dict(kind="opes barrier 9 temp 1.5")),
    "opes, plumed": ("two", dict(kind="opes barrier 9 temp 1.5 kernel plumed")),
    "opes, two": ("mean pair", dict(kind="opes barrier 9 temp 1.5 normalize no")),
    "opes/explore, three": ("one two pair", dict(kind="opes/explore barrier 5 temp 1.5")),
}


class System:
    """N interacting atoms, and the variables."""

    def __init__(self, test, box):
        self.box = box
        self.lmp = coordtest.start()
        test.addCleanup(self.lmp.close)
        x = coordtest.random_positions(np.random.default_rng(31), box, N, closest=0.55)
        # Sums have the same order in every run.
        coordtest.make_system(self.lmp, box, x, ghosts=3.5, extra=["atom_modify sort 0 0"])
        coordtest.define_group(self.lmp, "left", LEFT)
        coordtest.define_group(self.lmp, "right", RIGHT)
        self.commands("pair_style gauss 2.9", "pair_coeff * * -3.0 4.0", "timestep 0.002",
                      "velocity all create 1.0 4711", "variable k equal 1+0.5*step", "fix before all store/force",
                      "compute p all pressure NULL virial", "compute stress all stress/atom NULL fix",
                      "compute sum all reduce sum c_stress[*]", "thermo_style custom step pe c_p[*] c_sum[*]",
                      "thermo_modify norm no")
        for name, (tail, _) in COMPUTES.items():
            self.commands(f"compute {name} {tail} precision double")
        self.evaluate()
        self.s = {name: scalar_of(self.lmp, name) for name in COMPUTES}

    def commands(self, *lines):
        for line in lines:
            self.lmp.command(line)

    def evaluate(self, steps=0):
        """Return the total energy, forces and minus the derivatives of the energy with respect to
        strain."""
        self.commands(f"run {steps}")
        return self.now()

    def now(self):
        virial = coordtest.virial_of(self.lmp, "p") * np.linalg.det(self.box.edges)
        return self.lmp.get_thermo("pe"), coordtest.forces_of(self.lmp), virial

    def forces_of_bias(self, forces):
        return forces - coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_fix("before", 1, 2))

    def stress(self):
        """Return the contributions of fixes to the stress of atoms."""
        return coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_compute("stress", 1, 2))

    def x(self):
        return np.array(self.lmp.gather_atoms("x", 1, 3)).reshape(N, 3)

    def bias(self, names, arguments, ident="b"):
        variables = names.split()
        s = np.array([self.s[name] for name in variables])
        if isinstance(arguments, dict):
            arguments = metad(variables, s, **arguments)
        else:
            arguments = eval(f"f'{arguments}'", {"s": s.tolist()})
        self.commands(f"fix {ident} all coord/bias {' '.join('c_' + name for name in variables)} {arguments}")


class Differences(unittest.TestCase):
    def compare(self, title, box, names, arguments, flat=False):
        """Compare after four timesteps, in which parameters move and hills are added."""
        system = System(self, box)
        if not box.tilted:
            system.commands("change_box all triclinic")
        system.bias(names, arguments)
        system.commands("fix move all nve", "run 4", "unfix move")
        _, forces, virial = system.evaluate()
        bias_forces = np.abs(system.forces_of_bias(forces)).max(axis=1)
        atoms = np.argsort(bias_forces)[-3:]
        if flat:
            self.assertLessEqual(bias_forces.max(), coordtest.FORCE_ROUNDOFF * np.abs(forces).max(), title)
        else:
            self.assertGreater(bias_forces[atoms].min(), 0.1, title)
        by_positions, by_strain = coordtest.differences(system.lmp, box, atoms, lambda: system.evaluate()[0], STEP)
        rounding = coordtest.rounding_of_difference(box, forces, STEP)
        errors = [coordtest.error_of(*both, rounding) for both in ((forces[atoms], -by_positions), (virial, -by_strain))]
        print("%s: force %.1e, virial %.1e" % (title, *errors))
        self.assertLessEqual(max(errors), TOLERANCE + coordtest.FORCES, title)

    def each(self, cases):
        for box in BOXES:
            for name, case in cases.items():
                with self.subTest(box=box, case=name):
                    self.compare(f"{box}, {name}", BOXES[box], *case)

    def test_restraints(self):
        self.each(RESTRAINTS)

    def test_metad(self):
        self.each(METADS)


class Parts(unittest.TestCase):
    """Contributions of the bias to the energy, the pressure and the stress of atoms."""

    THREE = RESTRAINTS["harmonic, three"]

    def test_fix_modify(self):
        """Without the fix's energy or virial, both equal those of the pair style alone, bit by bit
        where KOKKOS does not add them up in any order, as on a GPU. Forces are unchanged."""
        rounding = 1e-14 if "g" in coordtest.KOKKOS else 0.0
        system = System(self, BOXES["orthogonal"])    # a setup rounds positions in a tilted box
        energy, forces, virial = system.evaluate()
        system.bias(*self.THREE)
        with_bias = system.evaluate()
        v = system.lmp.extract_fix("b", 0, 0)
        self.assertLess(abs(with_bias[0] - energy - v), 1e-13 * energy)
        self.assertGreater(v, 0.1)
        expected = sum(system.lmp.extract_fix("b", 0, 1, 4 * k + 1) *
                       brute_force(system.box, system.x(), **COMPUTES[name][1]).virial
                       for k, name in enumerate(self.THREE[0].split()))
        self.assertLess(coordtest.error_of(with_bias[2] - virial, expected), coordtest.DOUBLE)
        system.commands("fix_modify b energy no")
        found = system.evaluate()
        self.assertLessEqual(abs(found[0] - energy), rounding * energy)
        self.assertLessEqual(coordtest.error_of(found[2], with_bias[2]), rounding)
        system.commands("fix_modify b energy yes virial no")
        found = system.evaluate()
        self.assertLessEqual(coordtest.error_of(found[2], virial), rounding)
        # Without the virial, other kernels run, which round differently.
        self.assertLess(abs(found[0] - with_bias[0]), coordtest.LAST_DIGITS * v)
        self.assertLess(coordtest.error_of(found[1], with_bias[1]), coordtest.LAST_DIGITS)
        self.assertGreater(np.abs(found[1] - forces).max(), 0.1)

    def test_two_fixes(self):
        """Two fixes with a common variable act as the sum of both."""
        results = []
        names = ["harmonic, three"], ["moving, two"], ["harmonic, three", "moving, two"], []
        for some in names:
            system = System(self, BOXES["orthogonal"])
            for name in some:
                system.bias(*RESTRAINTS[name], ident=f"b{len(name)}")
            results.append(system.evaluate())
        for one, other, both, none in zip(*results):
            error = coordtest.error_of(both - none, (one - none) + (other - none))
            self.assertLess(error, coordtest.LAST_DIGITS + coordtest.FORCES)

    def test_stride(self):
        """Forces and virial are N times as large at multiples of N steps, and zero at other steps;
        V is unchanged."""
        for kind in ("harmonic, three", "linear"):
            expected = None
            for stride in (1, 3):
                system = System(self, BOXES["orthogonal"])
                _, none, virial_none = system.evaluate()
                names, arguments = RESTRAINTS[kind]
                system.bias(names, f"{arguments} stride {stride}")
                # Nothing moves. Step 0 is a setup; the others are steps of a run, and of a second
                # setup.
                found = [system.evaluate()]
                for pre in 6 * ["no"] + ["yes"]:
                    system.commands(f"run 1 pre {pre} post no")
                    found.append(system.now())
                if stride == 1:
                    energy = found[0][0]
                    expected = found[0][1] - none, found[0][2] - virial_none
                for step, (energy_found, forces, virial) in enumerate(found):
                    what = f"{kind}, stride {stride}, step {step}"
                    # On a GPU sums are in another order at each evaluation, or list of neighbors.
                    rounding = coordtest.LAST_DIGITS if coordtest.ON_KOKKOS_GPU else 0.0
                    self.assertLessEqual(coordtest.error_of(energy_found, energy), rounding, what)
                    if step % stride:
                        self.assertLessEqual(coordtest.error_of(forces, none), coordtest.FORCES + rounding, what)
                        self.assertLessEqual(coordtest.error_of(virial, virial_none), rounding, what)
                        continue
                    for part, full in zip((forces - none, virial - virial_none), expected):
                        self.assertGreater(np.abs(full).max(), 1, what)
                        error = coordtest.error_of(part, stride * full)
                        self.assertLess(error, coordtest.LAST_DIGITS + coordtest.FORCES, what)

    def test_stress_of_atoms(self):
        """Each atom of a pair gets half of its stress; the sum is the virial of the fix."""
        for box in BOXES:
            system = System(self, BOXES[box])
            for title, (names, arguments) in (("harmonic, three", self.THREE), ("metad, two", ("mean pair", {}))):
                system.bias(names, arguments)
                _, _, virial = system.evaluate()
                dVdS = [system.lmp.extract_fix("b", 0, 1, 4 * k + 1) for k in range(len(names.split()))]
                found = -system.stress()
                parts = [(factor, brute_force(system.box, system.x(), **COMPUTES[name][1]))
                         for factor, name in zip(dVdS, names.split())]
                expected = sum(factor * part.atom_virials for factor, part in parts)
                spread = sum(abs(factor) * part.spread_of("atom_virials") for factor, part in parts)
                self.assertGreater(np.abs(expected).max(), 0.1)
                error = coordtest.error_of(found, expected, spread)
                print(f"{box}, {title}: stress of atoms differs by {error:.1e}")
                self.assertLess(error, coordtest.DOUBLE, title)
                system.commands("fix_modify b virial no")
                without = system.evaluate()[2]
                # A setup rounds positions in a tilted box.
                tolerance = coordtest.rounded(coordtest.DOUBLE)
                self.assertLess(coordtest.error_of(found.sum(axis=0), virial - without), tolerance, title)
                self.assertEqual(np.abs(system.stress()).max(), 0, title)
                system.commands("unfix b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
