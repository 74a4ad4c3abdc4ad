"""Shared code of the tests of pair_style coord: systems of several types, and results of a pair
style."""

import itertools
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Switch

# One function of each kind, and one with a jump at dmax. All ranges are at most 2.5.
KINDS = {
    "rational": Switch("rational", 0.9, n=6, m=10, d0=0.1, dmax=2.3),
    "exp": Switch("exp", 0.7, dmax=2.4),
    "gaussian": Switch("gaussian", 0.6, dmax=2.2),
    "smap": Switch("smap", 1.0, a=6, b=8, dmax=2.1),
    "cubic": Switch("cubic", d0=0.3, dmax=2.0),
    "tanh": Switch("tanh", 0.8, d0=0.2, dmax=2.5),
    "cosinus": Switch("cosinus", 1.9),
    "q": Switch("q", beta=4.0, ref=0.7, lam=1.6, d0=0.3, dmax=2.4),
    "custom": Switch("custom", 0.9, dmax=2.3, expression="1 / (1 + x^5)",
                     func=lambda x: (1 / (1 + x**5), -5 * x**4 / (1 + x**5) ** 2)),
    "nostretch": Switch("rational", 0.8, dmax=1.7, stretch=False),
}


PAIRS = list(itertools.combinations_with_replacement((1, 2, 3, 4), 2))    # pairs of four types


def words(switch, epsilon):
    """Return epsilon and function in the form of pair_coeff."""
    return f"{epsilon!r} " + switch.keywords.replace("switch ", "", 1)


class Potential:
    """Functions and epsilons by pairs of types (i, j), i <= j. Pairs that are not given do not
    interact."""

    def __init__(self, functions, epsilons):
        self.functions, self.epsilons = dict(functions), dict(epsilons)

    def coefficients(self, substyle=""):
        return [f"pair_coeff {i} {j} {substyle} {words(function, self.epsilons[i, j])}"
                for (i, j), function in self.functions.items()]

    def by_brute_force(self, box, x, types):
        parts = []
        for (i, j), switch in self.functions.items():
            a, b = np.flatnonzero(types == i), np.flatnonzero(types == j)
            part = brutetest.brute_force(box, x, switch, a, None if i == j else b)
            parts.append((self.epsilons[i, j], part))
        state = self.total(parts)
        spreads = [(abs(epsilon), part.spread) for epsilon, part in parts if part.spread]
        state.spread = self.total(spreads) if spreads else None
        return state

    @staticmethod
    def total(parts):
        total = lambda value: sum(epsilon * value(part) for epsilon, part in parts)
        # Each atom of a pair gets half of its energy.
        return State(total(lambda p: p.value), total(lambda p: -p.atoms[:, 1:]), total(lambda p: p.virial),
                     total(lambda p: p.atoms[:, 0] / 2), total(lambda p: p.atom_virials))


def all_kinds():
    """Return the pairs of four types, each with another kind of function and with epsilon of either
    sign."""
    return Potential(zip(PAIRS, KINDS.values()), zip(PAIRS, (1.5, -0.8, 2.2, 0.7, -1.1, 3.0, 0.6, 1.2, -0.4, 0.9)))


def gaussians(pairs, rng, jumps=True):
    """Return coefficients of the same potential for pair styles coord and gauss, with a different
    range for each pair. jumps: the potential is not small at its end, so in runs a pair must cross
    it at the same step."""
    coord, gauss = [], []
    for i, j in pairs:
        epsilon, r0, dmax = rng.uniform(-2, 3), rng.uniform(0.5, 0.9), rng.uniform(1.3, 2.4)
        if not jumps:
            r0, dmax = r0 / 2, 2.1 + dmax / 10
        coord.append(f"{i} {j} {epsilon!r} gaussian {r0!r} dmax {dmax!r} nostretch")
        gauss.append(f"{i} {j} {-epsilon!r} {0.5 / r0**2!r} {dmax!r}")
    return coord, gauss


def coefficients(lines, substyle=""):
    """Return pair_coeff commands for these lines, with a sub-style after the types."""
    return ["pair_coeff {} {} {} {}".format(*line.split()[:2], substyle, " ".join(line.split()[2:])) for line in lines]


class State:
    def __init__(self, energy, forces, virial, atom_energies, atom_virials, centroid=None):
        self.energy, self.forces, self.virial = energy, forces, virial
        self.atom_energies, self.atom_virials, self.centroid = atom_energies, atom_virials, centroid
        self.spread = None    # like that of brutetest.Result


class PairTest(unittest.TestCase):
    """Compares numbers, and prints the largest error of each test."""

    def setUp(self):
        self.worst = 0.0

    def tearDown(self):
        if self.worst:
            print(f"worst error {self.worst:.1e} ", end="")

    def check(self, what, found, expected, tolerance, spread=0.0):
        self.assertGreater(np.abs(expected).max(), 1e-6, f"{what}: nothing to compare")
        error = coordtest.error_of(found, expected, spread)
        self.worst = max(self.worst, error)
        self.assertLessEqual(error, tolerance, what)

    def check_states(self, what, found, expected, tolerance=coordtest.DOUBLE):
        for name in ("energy", "forces", "virial", "atom_energies", "atom_virials", "centroid"):
            wanted = getattr(expected, name)
            if wanted is not None:
                spread = np.abs(getattr(expected.spread, name)) if expected.spread else 0.0
                # hybrid styles compute the virial from forces
                rounding = coordtest.FORCES if name in ("forces", "virial") else 0.0
                self.check(f"{what}: {name}", getattr(found, name), wanted, tolerance + rounding, spread)

    def system(self, box, x, types, first=(), skin=0.3):
        """Return LAMMPS with atoms and computes, without forces. first: commands before the box is
        created."""
        lmp = self.start(setup_commands(box, first, skin, max(types)))
        n = len(x)
        assert lmp.create_atoms(n, list(range(1, n + 1)), list(types), np.asarray(x, float).ravel().tolist()) == n
        return lmp

    def start(self, setup):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        commands(lmp, *setup, *COMPUTES)
        return lmp


COMPUTES = ("compute p all pressure NULL virial", "compute e all pe/atom pair",
            "compute s all stress/atom NULL pair", "compute c all centroid/stress/atom NULL pair",
            "compute sums all reduce sum c_e c_s[*] c_c[*]", "thermo_style custom step pe c_p[*] c_sums[*]",
            "thermo_modify norm no")


def setup_commands(box, first=(), skin=0.3, ntypes=1, data=None):
    """Return commands up to a pair style without forces, which determines the range of ghost atoms.
    data: a file of atoms."""
    lines = [line for line in coordtest.setup_commands(box, 0.0, skin, ntypes) if not line.startswith("comm_modify")]
    if data:
        made = [lines.index(line) for line in lines if line.startswith(("region", "create_box"))]
        lines[made[0]:made[1] + 1] = [f"read_data {data}"]
    return [*lines[:3], *first, *lines[3:]]


def commands(lmp, *lines):
    for line in lines:
        lmp.command(line)


def state_of(lmp, *lines, run="run 0 post no"):
    """Return the results after some more commands."""
    commands(lmp, *lines)
    x = lmp.gather_atoms("x", 1, 3) if coordtest.POSITION_ROUNDOFF and lmp.get_natoms() else []
    lmp.command(run)
    atom_values = lambda ident, kind: coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute(ident, 1, kind))
    # LAMMPS defines the stress of atoms with the opposite sign.
    state = State(lmp.get_thermo("pe"), coordtest.forces_of(lmp), coordtest.virial_of(lmp, "p") * lmp.get_thermo("vol"),
                  atom_values("e", 1), -atom_values("s", 2), -atom_values("c", 2))
    if len(x):    # each setup would round the positions again
        coordtest.move_to(lmp, x)
    return state
