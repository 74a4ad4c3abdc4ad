"""dS/dx compared with displaced atoms, and W with a strained box, both through LAMMPS.

Central differences with two steps are extrapolated: D = (4 D(h/2) - D(h))/3 has an error of order
h^4, about 1e-10 of the largest derivative here. Rounding adds 1e-15 S/h. A stretched switch has a
kink at dmax, so dmax lies in a gap between two distances that is wider than the displacements.
"""

import unittest

import numpy as np

import coordtest
from brutetest import Box, Switch

STEP = 2.0**-12    # distance; half of it is on coordtest.GRID
STRAIN = coordtest.strain_step(1e-4)
TOLERANCE = 1e-9    # relative to the largest component
GAP = max(4 * STEP, 6 * STRAIN)

# name, lengths, tilt, periodic
BOXES = [("orthogonal ppp", (3.9, 4.4, 5.0), (0, 0, 0), (True, True, True)),
         ("orthogonal pfp", (3.9, 4.4, 5.0), (0, 0, 0), (True, False, True)),
         ("tilted ppp", (4.0, 4.0, 8.0), (1.0, -2.0, 2.0), (True, True, True)),
         ("strongly tilted ppp", (4.0, 4.0, 4.0), (6.0, -5.0, 3.0), (True, True, True)),
         ("tilted fpp", (4.0, 4.0, 8.0), (1.0, -2.0, 2.0), (False, True, True))]


def all_distances(box, x, reach):
    x = box.wrap(x)
    d = x[:, None, None] - x[None, :, None] + box.images(reach)[None, None]
    return np.sort(np.sqrt((d**2).sum(axis=-1)).ravel())


def in_a_gap(distances, wanted):
    """Return a range near the wanted one that no pair crosses when atoms move by a step."""
    middles = 0.5 * (distances[1:] + distances[:-1])
    wide = np.diff(distances) > 2 * GAP
    assert wide.any()
    return float(middles[wide][np.abs(middles[wide] - wanted).argmin()])


def computes(box, x):
    """Return IDs and command tails of computes for the same atoms."""
    half = 0.5 * box.shortest_vector()
    distances = all_distances(box, x, 2.5 * half)
    short, long, far = (in_a_gap(distances, factor * half) for factor in (0.9, 1.6, 2.3))
    r0 = 0.5 * half
    rational = f"switch rational {r0!r} nn 6 mm 10 dmax"
    return {
        "cells": f"all coord/gpu {rational} {short!r} engine cells",
        "two": f"left coord/gpu group2 right {rational} {short!r} engine cells",
        "all": f"all coord/gpu {rational} {long!r} image all",
        "overlap": f"left coord/gpu group2 middle {rational} {long!r} image all norm mean",
        "minimum": f"all coord/gpu {rational} {long!r} image minimum",
        "minimum2": f"left coord/gpu group2 middle {rational} {short!r} engine allpairs",
        "pairs": f"left coord/gpu pairs right {rational} {far!r} image minimum",
        "cubic": f"all coord/gpu switch cubic d0 {0.3 * half!r} dmax {1.4 * half!r} image all",
        "exp": f"all coord/gpu switch exp {r0!r} dmax {short!r}",
        "smap": f"all coord/gpu switch smap {r0!r} a 6 b 8 dmax {short!r}",
        "q": f"all coord/gpu switch q beta {8 / half!r} ref {0.3 * half!r} dmax {short!r}",
        "custom": f"all coord/gpu switch custom {r0!r} func \"1/(1+x^5)\" dmax {short!r}",
        # Functions of coordination numbers, every engine.
        "more": f"all coord/gpu {rational} {long!r} image all function more_than rational 1.5 nn 6 mm 12",
        "less": f"left coord/gpu group2 middle {rational} {long!r} image all norm mean function less_than exp 1.0",
        "between": f"left coord/gpu group2 right {rational} {short!r} engine cells function between 0.1 0.8",
        "moment": f"all coord/gpu {rational} {short!r} engine allpairs function moment 3",
        "min": f"all coord/gpu {rational} {long!r} image all function min 1.0",
        "max": f"left coord/gpu group2 middle {rational} {short!r} engine allpairs function max 0.2",
        "alt_min": f"all coord/gpu {rational} {long!r} image minimum function alt_min 2.0",
        "square": f"left coord/gpu pairs right {rational} {far!r} image minimum function custom s^2",
        "sum": f"all coord/gpu switch custom {r0!r} func \"1/(1+x^5)\" dmax {short!r} function sum",
    }


class Derivatives(unittest.TestCase):
    def start(self, lengths, tilt, periodic, seed):
        box = Box(lengths, tilt, periodic)
        n = 14
        # Inside the box, so that atoms do not leave through a fixed side; separated, so that S
        # remains smooth.
        x = coordtest.random_positions(np.random.default_rng(seed), box, n, closest=0.55)
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        # The ghost shell covers the range, the skin and the strain.
        coordtest.make_system(lmp, box, x, ghosts=2.5 * 0.5 * box.shortest_vector() + 0.4)
        for name, members in (("left", range(7)), ("right", range(7, 14)), ("middle", range(3, 12))):
            coordtest.define_group(lmp, name, list(members))
        tails = computes(box, x)
        for name, tail in tails.items():
            lmp.command(f"compute {name} {tail} precision double")
        lmp.command("run 0")
        return lmp, box, x, list(tails)

    def each_box(self, check):
        for seed, (name, lengths, tilt, periodic) in enumerate(BOXES):
            with self.subTest(box=name):
                check(name, *self.start(lengths, tilt, periodic, 20 + seed))

    def test_displaced_atoms(self):
        self.each_box(self.displace)

    def displace(self, title, lmp, box, x, names):
        found = {name: coordtest.atoms_of(lmp, name)[:, 1:4] for name in names}
        expected = {name: np.empty_like(found[name]) for name in names}
        for atom in range(len(x)):
            for axis in range(3):
                values = {name: [] for name in names}
                for factor in (-1, -0.5, 0.5, 1):
                    moved = x.copy()
                    moved[atom, axis] += factor * STEP
                    coordtest.move_to(lmp, moved)
                    lmp.command("run 0")
                    for name in names:
                        values[name].append(coordtest.scalar_of(lmp, name))
                for name in names:
                    expected[name][atom, axis] = coordtest.extrapolate(values[name], STEP)
        for name in names:
            self.assertGreater(np.abs(expected[name]).max(), 1e-3, f"{title}, {name}: nothing to compare")
            error = coordtest.error_of(found[name], expected[name])
            print(f"{title}, {name}: dS/dx differs by {error:.1e}")
            self.assertLessEqual(error, TOLERANCE, f"{title}, {name}: dS/dx")

    def test_strained_box(self):
        self.each_box(self.strain)

    def strain(self, title, lmp, box, x, names):
        """Strain x' = x + e_ab x_b along a: dS/de_ab = sum ds/dr d_a d_b/r = -W_ab."""
        if not box.tilted and all(box.periodic):
            lmp.command("change_box all triclinic")
        found = {name: coordtest.virial_of(lmp, name) for name in names}
        gradients = {name: coordtest.atoms_of(lmp, name)[:, 1:4] for name in names}
        components = coordtest.COMPONENTS
        if not coordtest.can_shear(box):
            components = components[:3]
        expected = {name: [] for name in names}
        for a, b in components:
            values = {name: [] for name in names}
            for factor in (-1, -0.5, 0.5, 1):
                e = np.eye(3)
                e[a, b] += factor * STRAIN
                coordtest.set_box(lmp, box, box.edges @ e.T)
                lmp.command("run 0")
                for name in names:
                    values[name].append(coordtest.scalar_of(lmp, name))
                coordtest.set_box(lmp, box, box.edges)
                coordtest.move_to(lmp, x)
            for name in names:
                expected[name].append(-coordtest.extrapolate(values[name], STRAIN))
        for name in names:
            self.assertGreater(np.abs(expected[name]).max(), 1e-3, f"{title}, {name}: nothing to compare")
            error = coordtest.error_of(found[name][:len(components)], expected[name],
                                       coordtest.rounding_of_difference(box, gradients[name], STRAIN))
            print(f"{title}, {name}: W differs by {error:.1e}")
            self.assertLessEqual(error, TOLERANCE, f"{title}, {name}: W")


if __name__ == "__main__":
    unittest.main(verbosity=2)
