"""Pair entropy compared with PLUMED's PAIRENTROPY: values, derivatives and virial in orthogonal and triclinic boxes.

PLUMED cuts the Gaussian of a pair at about 3.5 sigma, at nodes ceil(sqrt(12.5) sigma/Delta) steps from the one below the
distance. The definition in numpy gives the numbers of PLUMED with these truncated
Gaussians, and those of LAMMPS with complete ones."""

import math
import unittest

import numpy as np

import coordtest
import plumedtest
from brutetest import Box

EXACT = coordtest.rounded(1e-10)    # relative to S, and to the largest component
CUT_TOLERANCE = 2e-3    # the same of S with cut Gaussians, and with whole ones
CELLS, FIRST = 3, 40
BOXES = {"orthogonal": Box((4.8, 4.9, 5.0)), "triclinic": Box((4.9, 4.8, 5.1), tilt=(0.9, -0.8, 0.7))}
R_MAX, SIGMA, BINS = 1.8, 0.1, 60
ARGUMENTS = f"MAXR={R_MAX} GRID_BIN={BINS} BANDWIDTH={SIGMA}"
WORDS = f"cutoff {R_MAX} sigma {SIGMA} bins {BINS} precision double"
plumedtest.require()


def crystal(box, seed):
    """Return the atoms of a displaced fcc crystal."""
    cells = np.stack(np.meshgrid(*[np.arange(CELLS)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    sites = (cells + np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]) + 0.25).reshape(-1, 3) / CELLS
    return sites @ box.edges + box.lo + np.random.default_rng(seed).normal(0, 0.05, sites.shape)


def by_definition(box, x, a, b, is_cut):
    """Return S, dS/dx and W. is_cut: with the Gaussians of PLUMED"""
    spacing, volume = R_MAX / BINS, abs(np.linalg.det(box.edges))
    steps = math.ceil(math.sqrt(12.5) * SIGMA / spacing)
    reach = R_MAX + (math.sqrt(12.5) if is_cut else 9) * SIGMA
    i, j = (index.ravel() for index in np.meshgrid(a, b, indexing="ij"))
    i, j = i[i != j], j[i != j]
    images = box.images(reach)
    d = ((x[j] - x[i])[:, None] + images).reshape(-1, 3)
    i, j = np.repeat(i, len(images)), np.repeat(j, len(images))
    r = np.sqrt((d**2).sum(axis=1))
    i, j, d, r = (array[r < reach] for array in (i, j, d, r))
    k = np.arange(1, BINS + 1)[:, None]
    u = (k * spacing - r) / SIGMA
    kernel = np.exp(-u**2 / 2) / (math.sqrt(2 * math.pi) * SIGMA)
    if is_cut:
        kernel[np.abs(k - np.floor(r / spacing)) > steps] = 0
    rho = len(b) / volume
    weight = spacing * np.where(k[:, 0] == BINS, 0.5, 1)
    shells = 4 * math.pi * len(a) * rho * (k[:, 0] * spacing)**2
    g = kernel.sum(axis=1) / shells
    log_g = np.log(np.where(g > 0, g, 1))
    factor = -2 * math.pi * rho * weight * (k[:, 0] * spacing)**2
    by_r = (factor * log_g / shells) @ (kernel * u / SIGMA)
    along = by_r[:, None] * d / r[:, None]
    gradients = np.zeros_like(x)
    np.add.at(gradients, i, -along)
    np.add.at(gradients, j, along)
    w = -np.einsum("pa,pb->ab", along, d) + np.eye(3) * (factor * (1 - g)).sum()
    return (factor * (g * log_g - g + 1)).sum(), gradients, np.array([w[c] for c in coordtest.COMPONENTS])


class PairEntropy(unittest.TestCase):
    def compare(self, what, found, expected):
        value, gradients, virial = expected
        self.assertLess(value, -1, what)
        self.assertGreater(np.abs(gradients).max(), 1e-2, what)
        errors = [abs(found[0] / value - 1), coordtest.error_of(found[1], gradients), coordtest.error_of(found[2], virial)]
        print(f"{what}: differences of S, dS/dx and W", *("%.1e" % error for error in errors))
        self.assertLessEqual(max(errors), EXACT, what)

    def by_plumed(self, words, x, box):
        value, gradients, w = plumedtest.derivatives_by_driver(f"s: PAIRENTROPY {words} {ARGUMENTS}\n", "s", x, box)
        return value, gradients, np.array([w[c] for c in coordtest.COMPONENTS])

    def test_equal(self):
        for seed, (title, box) in enumerate(BOXES.items()):
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            x = crystal(box, seed)
            n = len(x)
            coordtest.make_system(lmp, box, x, ghosts=3.0)
            coordtest.define_group(lmp, "first", range(FIRST))
            coordtest.define_group(lmp, "last", range(FIRST, n))
            lmp.command(f"compute one all coord/pairentropy {WORDS}")
            lmp.command(f"compute two first coord/pairentropy {WORDS} group2 last")
            lmp.command("run 0")
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            plumed_values = {"one": self.by_plumed(f"GROUP=1-{n}", x, box)}
            if plumedtest.version() >= (2, 11):    # earlier versions divide by the number of atoms of the first group plus 1
                plumed_values["two"] = self.by_plumed(f"GROUPA=1-{FIRST} GROUPB={FIRST + 1}-{n}", x, box)
            groups = {"one": (np.arange(n), np.arange(n)), "two": (np.arange(FIRST), np.arange(FIRST, n))}
            for name in plumed_values:
                a, b = groups[name]
                what = f"{title}, {name}"
                ours = (coordtest.scalar_of(lmp, name), coordtest.atoms_of(lmp, name)[:, 1:4], coordtest.virial_of(lmp, name))
                self.compare(f"{what}, PLUMED", plumed_values[name], by_definition(box, x, a, b, True))
                self.compare(f"{what}, LAMMPS", ours, by_definition(box, x, a, b, False))
                print(f"{what}: S of PLUMED and LAMMPS differs by {plumed_values[name][0] / ours[0] - 1:.1e}")
                self.assertLessEqual(abs(plumed_values[name][0] / ours[0] - 1), CUT_TOLERANCE, what)


if __name__ == "__main__":
    unittest.main(verbosity=2)
