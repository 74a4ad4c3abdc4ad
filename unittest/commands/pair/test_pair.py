"""pair_style coord: energy, forces, virial and their per-atom contributions.

They are compared with brute force, fix coord/bias, differences of the energy, and LAMMPS' pair
styles gauss, soft and table.
"""
# KOKKOS on a GPU: newton on

import itertools
import unittest

import numpy as np

import coordtest
from brutetest import Box, Switch
from pairtest import (KINDS, PAIRS, PairTest, Potential, all_kinds, coefficients, commands, gaussians, state_of,
                      words)
from test_derivatives import all_distances, in_a_gap

N = 150
TYPES = np.random.default_rng(3).integers(1, 5, N)
BOXES = {"orthogonal": Box((6.2, 6.6, 7.0)), "triclinic": Box((8.0, 8.0, 8.0), tilt=(3.0, -2.0, 2.0)),
         "fixed": Box((6.0, 7.0, 8.0), periodic=(False,) * 3)}
SMALL = Box((3.0, 2.6, 3.3), tilt=(1.1, -0.8, 0.9))    # atoms interact with their own images
ENGINES = ("neigh", "cells")


def positions(box, n=N, seed=1, closest=0.35):
    return coordtest.random_positions(np.random.default_rng(seed), box, n, closest)


class BruteForce(PairTest):
    def test_all_kinds(self):
        potential = all_kinds()
        for name, box in {**BOXES, "small": SMALL}.items():
            n = 40 if box is SMALL else N
            x, types = positions(box, n), TYPES[:n]
            expected = potential.by_brute_force(box, x, types)
            for newton in ("on", "off"):
                lmp = self.system(box, x, types, [f"newton {newton}"])
                for engine in ENGINES:
                    found = state_of(lmp, f"pair_style coord engine {engine}", *potential.coefficients())
                    self.check_states(f"{name}, newton {newton}, {engine}", found, expected)

    def test_float(self):
        box, potential = BOXES["triclinic"], all_kinds()
        x = positions(box)
        expected = potential.by_brute_force(box, x, TYPES)
        lmp = self.system(box, x, TYPES)
        for precision, engine in itertools.product(("mixed", "single"), ENGINES):
            found = state_of(lmp, f"pair_style coord precision {precision} engine {engine}", *potential.coefficients())
            self.check_states(f"{precision}, {engine}", found, expected, coordtest.FLOAT)
            self.assertNotEqual(found.energy, expected.energy)

    def test_settings_again(self):
        """Repeating pair_style coord keeps the coefficients."""
        box, potential = BOXES["triclinic"], all_kinds()
        x = positions(box)
        expected = potential.by_brute_force(box, x, TYPES)
        lmp = self.system(box, x, TYPES)
        rough = state_of(lmp, "pair_style coord precision single", *potential.coefficients())
        self.assertGreater(coordtest.error_of(rough.forces, expected.forces), coordtest.DOUBLE)
        self.check_states("double", state_of(lmp, "pair_style coord engine cells"), expected)

    def test_same_position(self):
        """Atoms at the same position have an energy and no force on each other."""
        x = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
        lmp = self.system(Box((9.0, 9.0, 9.0)), x, [1, 1, 1])
        for (name, switch), engine in itertools.product(KINDS.items(), ENGINES):
            s, dsdr = (float(value[0]) for value in switch([1.0]))
            found = state_of(lmp, f"pair_style coord engine {engine}", "pair_coeff * * " + words(switch, 2.0))
            self.check(f"{name}: energy", found.energy, 2.0 * (1 + 2 * s), coordtest.LAST_DIGITS)
            force = -2.0 * dsdr
            expected = [[0, 0, -force], [0, 0, -force], [0, 0, 2 * force]]
            self.check(f"{name}: forces", found.forces, expected, coordtest.LAST_DIGITS + coordtest.FORCES)


class Bias(PairTest):
    """The forces of fix coord/bias linear on compute coord/gpu, which has the energy k S."""

    BOX = BOXES["triclinic"]

    def compare(self, potential, biases, style="coord", substyle="", others=()):
        """biases: k and tail of a compute."""
        x = positions(self.BOX)
        lmp = self.system(self.BOX, x, TYPES)
        commands(lmp, *(f"group t{i} type {i}" for i in (1, 2, 3, 4)), "comm_modify cutoff 2.81")
        for k, (strength, tail) in enumerate(biases):
            commands(lmp, f"compute c{k} {tail} precision double",
                     f"fix b{k} all coord/bias c_c{k} linear k {strength}", f"fix_modify b{k} energy yes")
        expected = state_of(lmp)
        commands(lmp, *(f"unfix b{k}" for k in range(len(biases))))
        # Per-atom contributions are those of pairs alone.
        expected.atom_energies = expected.atom_virials = expected.centroid = None
        for engine in ENGINES:
            found = state_of(lmp, f"pair_style {style} engine {engine}", *potential.coefficients(substyle), *others)
            self.check_states(engine, found, expected)

    def test_all_pairs(self):
        for name, switch in KINDS.items():
            with self.subTest(name):
                self.compare(Potential({p: switch for p in PAIRS}, {p: -1.7 for p in PAIRS}),
                             [(-1.7, f"all coord/gpu {switch.keywords}")])

    def biases(self, potential):
        return [(potential.epsilons[i, j], f"t{i} coord/gpu {f'group2 t{j} ' if i != j else ''}{function.keywords}")
                for (i, j), function in potential.functions.items()]

    def test_pairs_of_types(self):
        potential = all_kinds()
        self.compare(potential, self.biases(potential))

    def test_hybrid(self):
        """Only some pairs of types, none of which has two atoms of type 2 or 3."""
        every = all_kinds()
        some = Potential({p: every.functions[p] for p in ((1, 1), (1, 3), (2, 3), (2, 4))}, every.epsilons)
        rest = [f"pair_coeff {i} {j} zero" for i, j in every.functions if (i, j) not in some.functions]
        self.compare(some, self.biases(some), "hybrid zero 1.0 coord", "coord", rest)


class Differences(PairTest):
    STEP, STRAIN = 2.0**-12, coordtest.strain_step(1e-4)    # half a step is on coordtest.GRID
    N = 14

    def test_kinds(self):
        for title, box in ("orthogonal", Box((4.0, 4.0, 8.0))), ("triclinic", Box((4.0, 4.0, 8.0), (1.0, -2.0, 2.0))):
            x = positions(box, self.N, closest=0.6)
            lmp = self.system(box, x, [1] * self.N)
            if not box.tilted:
                commands(lmp, "pair_style zero 1.0", "pair_coeff * *", "change_box all triclinic")
            dmax = in_a_gap(all_distances(box, x, 4.0), 2.1)    # forces may jump there
            for name, switch in self.kinds(dmax).items():
                with self.subTest(name, box=title):
                    coeff = f"pair_coeff * * {words(switch, -1.6)}"
                    found = [state_of(lmp, f"pair_style coord engine {engine}", coeff) for engine in ENGINES]
                    self.check("engines", found[1].forces, found[0].forces, coordtest.DOUBLE)
                    self.check("forces", found[0].forces, self.force_differences(lmp, x), 1e-9 + coordtest.FORCES)
                    self.check("virial", found[0].virial, self.strain_differences(lmp, box, x), 1e-9,
                               coordtest.rounding_of_difference(box, found[0].forces, self.STRAIN))

    @staticmethod
    def kinds(dmax):
        return {"rational": Switch("rational", 0.9, n=6, m=10, dmax=dmax), "exp": Switch("exp", 0.7, dmax=dmax),
                "gaussian": Switch("gaussian", 0.8, dmax=dmax), "smap": Switch("smap", 1.0, a=6, b=8, dmax=dmax),
                "cubic": Switch("cubic", d0=0.2, dmax=dmax), "tanh": Switch("tanh", 0.8, dmax=dmax),
                "cosinus": Switch("cosinus", dmax), "q": Switch("q", beta=4.0, ref=0.7, dmax=dmax),
                "custom": Switch("custom", 0.9, dmax=dmax, expression="exp(-x^2)",
                                 func=lambda x: (np.exp(-x**2), -2 * x * np.exp(-x**2))),
                "nostretch": Switch("exp", 0.9, dmax=dmax, stretch=False)}

    def energy(self, lmp):
        lmp.command("run 0 post no")
        return lmp.get_thermo("pe")

    def force_differences(self, lmp, x):
        forces = np.empty_like(x)
        for index in np.ndindex(*x.shape):
            energies = []
            for factor in (-1, -0.5, 0.5, 1):
                moved = x.copy()
                moved[index] += factor * self.STEP
                coordtest.move_to(lmp, moved)
                energies.append(self.energy(lmp))
            forces[index] = -coordtest.extrapolate(energies, self.STEP)
        coordtest.move_to(lmp, x)
        return forces

    def strain_differences(self, lmp, box, x):
        """Return -dE/d(strain)."""
        virial = []
        for a, b in coordtest.COMPONENTS:
            energies = []
            for factor in (-1, -0.5, 0.5, 1):
                strain = np.eye(3)
                strain[a, b] += factor * self.STRAIN
                coordtest.set_box(lmp, box, box.edges @ strain.T)
                energies.append(self.energy(lmp))
                coordtest.set_box(lmp, box, box.edges)
                coordtest.move_to(lmp, x)
            virial.append(-coordtest.extrapolate(energies, self.STRAIN))
        return virial


class LammpsStyles(PairTest):
    """The same potential with a pair style of LAMMPS."""

    def compare(self, coord, other, tolerance=coordtest.DOUBLE, box=BOXES["triclinic"]):
        for newton in ("on", "off"):
            lmp = self.system(box, positions(box), TYPES, [f"newton {newton}"])
            commands(lmp, "group left id 1:60", "group right id 40:120",
                     "compute between left group/group right pair yes",
                     "thermo_style custom step pe c_between c_between[*]")
            states, between = [], []
            for lines in (other, *([f"pair_style coord engine {engine}", *coord] for engine in ENGINES)):
                states.append(state_of(lmp, *lines))
                between.append([lmp.extract_compute("between", 0, 0), *coordtest.virial_of(lmp, "between")[:3]])
            for found, some in zip(states[1:], between[1:]):
                self.check_states(f"newton {newton}", found, states[0], tolerance)
                self.check("group/group", some, between[0], tolerance)

    def test_gauss(self):
        coord, gauss = gaussians(PAIRS, np.random.default_rng(5))
        self.compare(coefficients(coord), ["pair_style gauss 2.0", *coefficients(gauss)])

    def test_gauss_shifted(self):
        coord, gauss = gaussians(PAIRS, np.random.default_rng(6))
        plain = state_of(self.system(BOXES["fixed"], positions(BOXES["fixed"]), TYPES),
                         "pair_style coord", *coefficients(coord))
        lines = [*coefficients(coord), "pair_modify shift yes"]
        self.compare(lines, ["pair_style gauss 2.0", *coefficients(gauss), "pair_modify shift yes"])
        shifted = state_of(self.system(BOXES["fixed"], positions(BOXES["fixed"]), TYPES), "pair_style coord", *lines)
        self.check("forces", shifted.forces, plain.forces, coordtest.LAST_DIGITS)
        self.assertGreater(abs(shifted.energy - plain.energy), 1.0)

    def test_soft(self):
        strengths = dict(zip(PAIRS, (1.5, -0.8, 2.2, 0.7, -1.1, 3.0, 0.6, 1.2, -0.4, 0.9)))
        reach = {pair: 1.1 + 0.1 * k for k, pair in enumerate(PAIRS)}
        soft = [f"pair_coeff {i} {j} {a} {reach[i, j]}" for (i, j), a in strengths.items()]
        self.compare([f"pair_coeff {i} {j} {2 * a} cosinus {reach[i, j]}" for (i, j), a in strengths.items()],
                     ["pair_style soft 2.0", *soft])

    def test_lj(self):
        """d0 removes the pole; no pair is that close."""
        self.compare(['pair_coeff * * 0.9 custom 1.1 d0 0.33 dmax 2.3 nostretch func "4*((x+0.3)^-12-(x+0.3)^-6)"'],
                     ["pair_style lj/cut 2.3", "pair_coeff * * 0.9 1.1"],
                     coordtest.rounded(coordtest.DOUBLE))    # lj/cut/kk has pairs in float

    def test_table(self):
        """Splines through the published formulas."""
        potential = all_kinds()
        path = f"{coordtest.folder()}/table"
        table = [f"pair_coeff {i} {j} {path} T{i}{j} {float(f.dmax)!r}" for (i, j), f in potential.functions.items()]
        with open(path, "w") as file:
            for (i, j), function in potential.functions.items():
                # The last knot is at the end of the function; rounding must not move it beyond.
                r = np.minimum(np.linspace(0.3, float(function.dmax), 8001), float(function.dmax))
                s, dsdr = function(r)
                energy, force = potential.epsilons[i, j] * s, -potential.epsilons[i, j] * dsdr
                file.write(f"T{i}{j}\nN {len(r)} R {r[0]!r} {r[-1]!r}\n\n")
                file.writelines(f"{k + 1} {a!r} {float(e)!r} {float(f)!r}\n"
                                for k, (a, e, f) in enumerate(zip(r.tolist(), energy, force)))
                file.write("\n")
        self.compare(potential.coefficients(), ["pair_style table spline 8000", *table], 1e-6)


class PairWrite(PairTest):
    """single() at many distances, and mixing, as pair_write prints them."""

    def curves(self, coeffs, more=(), between="1 2"):
        """Return r, E and F beyond all ranges."""
        lmp = self.system(BOXES["orthogonal"], np.ones((1, 3)), [2])
        commands(lmp, "pair_style coord", *coeffs, *more)
        path = f"{coordtest.folder()}/written"
        with open(path, "w"):
            pass
        lmp.command(f"pair_write {between} 700 r 1e-6 3.4 {path} curve")
        with open(path) as file:
            rows = [line.split() for line in file if line.strip()[:1].isdigit()]
        return np.array(rows, float)[:, 1:].T

    def check_curve(self, what, curve, switch, epsilon, shift=0.0):
        r, energy, force = curve
        s, dsdr = switch(r)
        inside = r <= float(switch.dmax)
        # Numbers have 15 digits.
        self.check(f"{what}: E", energy, epsilon * (s - shift * inside), 1e-9)
        self.check(f"{what}: F", force, -epsilon * dsdr, 1e-9)

    def test_closed_form(self):
        for name, switch in KINDS.items():
            self.check_curve(name, self.curves([f"pair_coeff * * {words(switch, -1.3)}"]), switch, -1.3)

    def test_shift(self):
        for name in ("nostretch", "exp"):
            switch = KINDS[name]
            # A stretched function is unchanged.
            shift = 0.0 if name == "exp" else float(switch(switch.dmax)[0])
            curve = self.curves([f"pair_coeff * * {words(switch, -1.3)}"], ["pair_modify shift yes"])
            self.check_curve(name, curve, switch, -1.3, shift)

    RULES = {"geometric": (lambda a, b: np.sqrt(a * b), lambda e, f, a, b: np.sqrt(e * f)),
             "arithmetic": (lambda a, b: (a + b) / 2, lambda e, f, a, b: np.sqrt(e * f)),
             "sixthpower": (lambda a, b: ((a**6 + b**6) / 2) ** (1 / 6),
                            lambda e, f, a, b: 2 * np.sqrt(e * f) * a**3 * b**3 / (a**6 + b**6))}

    # Lengths of both types, and their other options. The first length determines sixthpower.
    MIXED = [("rational", dict(r0=(0.7, 1.1), d0=(0.2, 0.5), dmax=(2.0, 2.7)), dict(n=4, m=10)),
             ("rational", dict(r0=(0.4, 0.5)), {}), ("exp", dict(r0=(0.6, 0.9), dmax=(1.7, 2.3)), {}),
             ("gaussian", dict(r0=(0.5, 1.2), dmax=(2.1, 2.9)), dict(stretch=False)),
             ("smap", dict(r0=(0.8, 1.2), dmax=(2.0, 3.0)), dict(a=5, b=8)),
             ("tanh", dict(r0=(0.8, 1.2), d0=(0.1, 0.4), dmax=(2.0, 3.0)), {}), ("cosinus", dict(r0=(1.8, 2.4)), {}),
             ("custom", dict(r0=(0.7, 1.0), dmax=(2.0, 2.5)), dict(
                 expression="1/(1+x^6)", func=lambda x: (1 / (1 + x**6), -6 * x**5 / (1 + x**6) ** 2)))]

    def check_mixed(self, rule, functions, epsilons, mixed, size):
        lengths, energy = self.RULES[rule]
        expected = np.sign(epsilons[0]) * energy(abs(epsilons[0]), abs(epsilons[1]), *size)
        curve = self.curves([f"pair_coeff {i} {i} {words(functions[i - 1], epsilons[i - 1])}" for i in (1, 2)],
                            [f"pair_modify mix {rule}"])
        self.check_curve(f"{functions[0].kind} {rule} {epsilons}", curve, mixed, expected)

    def test_mixing(self):
        for rule, epsilons in itertools.product(self.RULES, ((1.7, 0.6), (-1.7, -0.6))):
            mix = self.RULES[rule][0]
            for kind, lengths, others in self.MIXED:
                functions = [Switch(kind, **{name: pair[k] for name, pair in lengths.items()}, **others)
                             for k in (0, 1)]
                mixed = {name: float(mix(*pair)) for name, pair in lengths.items()}
                self.check_mixed(rule, functions, epsilons, Switch(kind, **mixed, **others), lengths["r0"])

    def test_mixing_cubic(self):
        """The size of cubic is its width dmax - d0."""
        d0, dmax = (0.3, 0.5), (1.9, 2.6)
        functions = [Switch("cubic", d0=d0[k], dmax=dmax[k]) for k in (0, 1)]
        for rule, (mix, _) in self.RULES.items():
            mixed = Switch("cubic", d0=float(mix(*d0)), dmax=float(mix(*dmax)))
            self.check_mixed(rule, functions, (0.9, 1.4), mixed, (1.6, 2.1))

    def test_mixing_q(self):
        ref, beta, dmax = (0.8, 1.1), (5.0, 9.0), (2.4, 2.9)
        functions = [Switch("q", ref=ref[k], beta=beta[k], dmax=dmax[k], lam=1.5) for k in (0, 1)]
        for rule, (mix, _) in self.RULES.items():
            mixed = Switch("q", ref=float(mix(*ref)), beta=float(1 / mix(1 / beta[0], 1 / beta[1])),
                           dmax=float(mix(*dmax)), lam=1.5)
            self.check_mixed(rule, functions, (-0.9, -1.4), mixed, ref)

    def test_mixed_forces(self):
        """compute() uses the mixed functions like single(), and a given pair is not mixed."""
        box, rng = BOXES["orthogonal"], np.random.default_rng(8)
        radii, ranges = rng.uniform(0.5, 0.9, 4), rng.uniform(1.5, 2.3, 4)
        functions = {(i, j): Switch("gaussian", float((radii[i - 1] + radii[j - 1]) / 2),
                                    dmax=float((ranges[i - 1] + ranges[j - 1]) / 2)) for i, j in PAIRS}
        own = {1: 1.0, 2: 0.5, 3: 2.0, 4: 0.8}
        epsilons = {(i, j): float(np.sqrt(own[i] * own[j])) for i, j in PAIRS}
        functions[2, 3], epsilons[2, 3] = KINDS["cubic"], -0.6
        potential = Potential(functions, epsilons)
        given = Potential({p: functions[p] for p in ((1, 1), (2, 2), (3, 3), (4, 4), (2, 3))}, epsilons)
        x = positions(box)
        found = state_of(self.system(box, x, TYPES), "pair_style coord", "pair_modify mix arithmetic",
                         *given.coefficients())
        self.check_states("mixed", found, potential.by_brute_force(box, x, TYPES))


if __name__ == "__main__":
    unittest.main(verbosity=2)
