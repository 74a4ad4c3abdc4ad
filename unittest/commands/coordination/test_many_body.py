"""Biases next to many-body and machine-learned potentials: S, the forces that a bias adds and its virial, compared with brute force.
The forces are differences of LAMMPS' forces with and without the bias at the same positions."""
# KOKKOS on a GPU: newton on

import itertools
import math
import os
import unittest

import numpy as np
from numpy.polynomial.legendre import Legendre

import coordtest
from brutetest import Box, Switch, brute_force

# Stillinger-Weber parameters of Molinero and Moore, J. Phys. Chem. B 113, 4008 (2009), units real
MW = """mW mW mW 6.189 2.3925 1.80 23.15 1.20 -0.333333333333
         7.049556277 0.6022245584 4.0 0.0 0.0
"""
BCC = [p for p in itertools.product((-0.5, 0.5), repeat=3)] + [tuple(s * (k == axis) for k in range(3)) for axis in range(3) for s in (1, -1)]
FCC = [p for p in itertools.product((-0.5, 0, 0.5), repeat=3) if np.count_nonzero(p) == 2]
TETRAHEDRON = [(0.25, 0.25, 0.25), (0.25, -0.25, -0.25), (-0.25, 0.25, -0.25), (-0.25, -0.25, 0.25)]
DIAMOND = TETRAHEDRON, [tuple(-c for c in v) for v in TETRAHEDRON]

# name: packages, units, lattice and its constant, cells, mass, potential files, commands with the places of these files,
# environments, middle and end of the switching function, which is smooth to rounding
SYSTEMS = {
    "snap": (["ML-SNAP"], "metal", "bcc", 3.2, 4, 95.95, ["Mo_Chen_PRM2017.snapcoeff", "Mo_Chen_PRM2017.snapparam"],
             ["pair_style snap", "pair_coeff * * {0} {1} Mo"], [BCC], 3.55, 4.5),
    "hybrid/overlay zbl snap": (["ML-SNAP"], "metal", "bcc", 3.25, 4, 183.84, ["W_2940_2017_2.snapcoeff", "W_2940_2017_2.snapparam"],
                                ["pair_style hybrid/overlay zbl 4.0 4.8 snap", "pair_coeff 1 1 zbl 74.0 74.0",
                                 "pair_coeff * * snap {0} {1} W"], [BCC], 3.6, 4.55),
    "sw": (["MANYBODY"], "real", "diamond", 6.26, 2, 18.015, [], ["pair_style sw", "pair_coeff * * {mw} mW"], DIAMOND, 3.3, 4.25),
    "eam": (["MANYBODY"], "metal", "fcc", 4.12, 3, 26.982, ["Al_mm.eam.fs"], ["pair_style eam/fs", "pair_coeff * * {0} Al"], [FCC],
            3.4, 4.35),
}
SIGMA, CUTOFF, LAMBDA = 0.35, 8, 100    # of environments
STEEPNESS = 27.0    # of the switching function
CHOSEN = 24    # atoms whose derivatives are compared where the reference takes differences
STEP = 2e-4    # of differences of the reference, in Angstrom, and as a strain
TOLERANCE = 2e-9    # of numbers, relative to the largest: error of the differences
SKIN = 1.0


class Pairs:
    """Ordered pairs within a range: indices, and lattice vectors as multiples of edges. They stay the same when differences are
    taken, as a pair has no derivative where it crosses the range."""

    def __init__(self, x, edges, reach):
        steps = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
        assert reach < min(abs(np.linalg.det(edges)) / np.linalg.norm(np.cross(edges[a], edges[b])) for a, b in ((0, 1), (0, 2), (1, 2)))
        d = x[None, :, None] - x[:, None, None] + steps @ edges
        near = (d**2).sum(axis=3) <= reach**2
        near[np.arange(len(x)), np.arange(len(x)), len(steps) // 2] = False
        self.i, self.j, which = np.nonzero(near)
        self.steps = steps[which]

    def vectors(self, x, edges):
        return x[self.j] - x[self.i] + self.steps @ edges


def similarity(environments, pairs, natoms):
    """Return S of compute coord/envsim, the mean over all atoms, as a function of positions and edges."""
    def value(x, edges):
        d = pairs.vectors(x, edges)
        k = [np.bincount(pairs.i, sum(np.exp(-((d - v)**2).sum(axis=1) / (4 * SIGMA**2)) for v in np.array(one)), natoms) / len(one)
             for one in environments]
        return np.mean(k[0] if len(k) == 1 else np.log(np.sum(np.exp(LAMBDA * np.array(k)), axis=0)) / LAMBDA)
    return value


def averaged_q6(switch, pairs, natoms):
    """Return the mean of the averaged q6 as a function of positions and edges."""
    l = 6
    norms = [math.sqrt((2 if m else 1) * math.factorial(l - m) / math.factorial(l + m)) for m in range(l + 1)]    # of m and -m
    legendre = [Legendre.basis(l).deriv(m) for m in range(l + 1)]

    def value(x, edges):
        d = pairs.vectors(x, edges)
        r = np.linalg.norm(d, axis=1)
        s = switch(r)[0].astype(float)
        u = d / r[:, None]
        plane = u[:, 0] + 1j * u[:, 1]
        total = np.bincount(pairs.i, s, natoms)
        add = lambda numbers: np.bincount(pairs.i, numbers.real, natoms) + 1j * np.bincount(pairs.i, numbers.imag, natoms)
        squares = 0
        for m in range(l + 1):
            q = add(s * norms[m] * plane**m * legendre[m](u[:, 2])) / total
            squares = squares + np.abs((q + add(s * q[pairs.j])) / (1 + total))**2
        return np.mean(np.sqrt(squares))
    return value


def derivatives(value, x, edges, atoms):
    """Return S, dS/dx of these atoms, and W, by differences."""
    def difference(change):
        return coordtest.extrapolate([value(*change(factor * STEP)) for factor in (-1, -0.5, 0.5, 1)], STEP)

    def move(atom, axis):
        return lambda by: (x + by * np.outer(np.arange(len(x)) == atom, np.eye(3)[axis]), edges)

    def strain(a, b):
        matrix = np.outer(np.eye(3)[b], np.eye(3)[a])    # x' = x + e_ab x_b along a
        return lambda by: (x + by * x @ matrix, edges + by * edges @ matrix)

    return (value(x, edges), np.array([[difference(move(atom, axis)) for axis in range(3)] for atom in atoms]),
            -np.array([difference(strain(a, b)) for a, b in coordtest.COMPONENTS]))


class ManyBody(unittest.TestCase):
    def paths(self, packages, files):
        """Return the potential files, or None after the reason."""
        if any([coordtest.lacks_package(name) for name in packages]):
            return None
        paths = [os.path.join(coordtest.cached("LAMMPS_SOURCE_DIR"), "potentials", name) for name in files]
        for path in paths:
            if not os.path.exists(path):
                coordtest.skip_part(os.path.basename(path), f"there is no {path}")
                return None
        return paths

    def start(self, units, lattice, a, cells, mass, potential, paths):
        mw = f"{coordtest.folder()}/mW.sw"
        with open(mw, "w") as file:
            file.write(MW)
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in (f"units {units}", "atom_modify map array", f"lattice {lattice} {a!r}", f"region box prism 0 {cells} 0 {cells} 0 {cells} 0 0 0",
                     "create_box 1 box", "create_atoms 1 box", f"mass 1 {mass}", *(line.format(*paths, mw=mw) for line in potential),
                     f"neighbor {SKIN} bin", "neigh_modify every 2 delay 0 check no", "comm_modify cutoff 7.5",
                     "change_box all xy final 0.6 yz final -0.4 remap units box", "displace_atoms all random 0.15 0.15 0.15 4711",
                     "velocity all create 300 4711 loop all", f"timestep {dict(metal=0.001, real=1.0)[units]}", "fix move all nve",
                     "compute stress all pressure NULL virial", "thermo_style custom step pe press c_stress[*]"):
            lmp.command(line)
        return lmp

    @staticmethod
    def state(lmp):
        """Return forces, and the virial in units of energy."""
        lo, hi, xy, yz, xz, *_ = lmp.extract_box()
        volume = np.prod(np.subtract(hi, lo))
        return coordtest.forces_of(lmp), coordtest.virial_of(lmp, "stress") * volume / lmp.extract_global("nktv2p")

    def check(self, name, lmp, words, reference):
        """Compare at the first and after some steps. reference: from x, edges and box, S, dS/dx of atoms, W, these atoms."""
        lmp.command(f"compute cv all {words} precision double norm mean")
        lmp.command("thermo_style custom step pe press c_stress[*] c_cv")
        lmp.command("run 0")
        value = coordtest.scalar_of(lmp, "cv")
        natoms = lmp.get_natoms()
        k, s0 = 20.0 * natoms, value - 0.05
        lmp.command(f"fix b all coord/bias c_cv harmonic k {k!r} s0 {s0!r}")
        lmp.command("fix_modify b virial yes")
        for steps in 0, 5:
            lmp.command(f"run {steps}")
            value = coordtest.scalar_of(lmp, "cv")
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            forces, virial = self.state(lmp)
            (lo, hi, xy, yz, xz, *_) = lmp.extract_box()
            box = Box(np.subtract(hi, lo), (xy, xz, yz), lo=lo, from_lammps=True)
            expected, gradients, w, atoms = reference(x, box)
            slope = k * (expected - s0)
            self.assertGreater(np.abs(slope * gradients).max(), 0.01, name)
            limit = coordtest.rounded(TOLERANCE)
            errors = [abs(value / expected - 1)]
            lmp.command("fix_modify b virial no")
            lmp.command("unfix b")
            lmp.command("run 0")
            without, without_virial = self.state(lmp)
            # A run 0 may wrap atoms, and sums the potential's forces in another order.
            potential_rounding = max(1e-13 * np.abs(without).max(), coordtest.FORCES * np.abs(without).max())
            added = forces - without
            errors.append(coordtest.error_of(added[atoms], -slope * gradients, np.full(gradients.shape, potential_rounding)))
            errors.append(coordtest.error_of(virial - without_virial, slope * w,
                                             np.full(6, len(x) * potential_rounding)))
            print(f"{name}, {words.split()[0]}, {steps} steps: errors of S {errors[0]:.1e}, forces {errors[1]:.1e}, virial {errors[2]:.1e}")
            for error in errors:
                self.assertLessEqual(error, limit, f"{name}, {words}, {steps} steps")
            self.assertLess(np.abs(added.sum(axis=0)).max(), len(x) * potential_rounding + 1e-11 * np.abs(added).sum(), name)
            lmp.command(f"fix b all coord/bias c_cv harmonic k {k!r} s0 {s0!r}")
            lmp.command("fix_modify b virial yes")
        lmp.command("unfix b")
        lmp.command("thermo_style custom step pe press c_stress[*]")
        lmp.command("uncompute cv")

    def check_system(self, name):
        packages, units, lattice, a, cells, mass, files, potential, environments, middle, dmax = SYSTEMS[name]
        paths = self.paths(packages, files)
        if paths is None:
            return
        lmp = self.start(units, lattice, a, cells, mass, potential, paths)
        environments = [[tuple(a * c for c in v) for v in one] for one in environments]
        reach = max(np.linalg.norm(v) for one in environments for v in one) + CUTOFF * SIGMA
        switch = Switch("q", beta=STEEPNESS, lam=1.0, ref=middle, dmax=dmax)
        atoms = np.random.default_rng(1).permutation(lmp.get_natoms())[:CHOSEN]

        def coordination(x, box):
            found = brute_force(box, x, switch, np.arange(len(x)), norm="mean")
            return found.value, found.atoms[:, 1:].astype(float), found.virial, np.arange(len(x))

        def by_differences(function, given, reach):
            def reference(x, box):
                return *derivatives(function(given, Pairs(x, box.edges, reach), len(x)), x, box.edges, atoms), atoms
            return reference

        self.check(name, lmp, f"coord/gpu {switch.keywords}", coordination)
        self.check(name, lmp, f"coord/envsim structure {lattice} {a!r} sigma {SIGMA} cutoff {CUTOFF} lambda {LAMBDA}",
                   by_differences(similarity, environments, reach))
        self.check(name, lmp, f"coord/orientorder l 6 order average {switch.keywords}", by_differences(averaged_q6, switch, dmax))

    def test_snap(self):
        self.check_system("snap")

    def test_snap_and_zbl(self):
        self.check_system("hybrid/overlay zbl snap")

    def test_sw(self):
        self.check_system("sw")

    def test_eam(self):
        self.check_system("eam")


if __name__ == "__main__":
    if all([coordtest.lacks_package(name) for name in ("MANYBODY", "ML-SNAP")]):
        coordtest.skip("this LAMMPS has neither package MANYBODY nor package ML-SNAP")
    unittest.main(verbosity=2)
