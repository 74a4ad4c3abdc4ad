"""pair_style coord if not all pairs interact equally: bonds, exclusions, pair_style hybrid, and
systems of few atoms.

The reference is LAMMPS' pair_style gauss.
"""
# KOKKOS on a GPU: newton on

import unittest

import numpy as np

import coordtest
from brutetest import Box, Switch
from pairtest import PAIRS, PairTest, coefficients, commands, gaussians, setup_commands, state_of, words

N, LENGTH = 120, 6    # atoms, and atoms of one molecule
BOX = Box((8.0, 8.0, 4.0), tilt=(2.0, -2.0, 1.0))
TYPES = np.random.default_rng(3).integers(1, 5, N)
COORD, GAUSS = gaussians(PAIRS, np.random.default_rng(11))
OTHER_COORD, OTHER_GAUSS = gaussians(PAIRS, np.random.default_rng(12))


def write_chains():
    """Write a data file of chains of bonded atoms."""
    rng = np.random.default_rng(2)
    x = np.empty((N, 3))
    for k in range(N):
        step = rng.normal(size=3)
        x[k] = rng.random(3) @ BOX.edges if k % LENGTH == 0 else x[k - 1] + 0.9 * step / np.linalg.norm(step)
    bonded = [k for k in range(1, N) if k % LENGTH]
    path = f"{coordtest.folder()}/chains"
    coordtest.write_data(path, BOX.wrap(x), BOX, TYPES)
    with open(path) as file:
        text = file.read().replace("Atoms # atomic", "Atoms # molecular")
    text = text.replace(f"{N} atoms\n", f"{N} atoms\n{len(bonded)} bonds\n1 bond types\n6 extra special per atom\n")
    head, atoms = text.split("# molecular\n\n")
    atoms = [line.split() for line in atoms.splitlines()]
    with open(path, "w") as file:
        file.write(head + "# molecular\n\n")
        file.writelines(f"{words[0]} {k // LENGTH + 1} {' '.join(words[1:])}\n" for k, words in enumerate(atoms))
        file.write("\nBonds\n\n")
        file.writelines(f"{k + 1} 1 {atom} {atom + 1}\n" for k, atom in enumerate(bonded))
    return path


class Selection(PairTest):
    def compare(self, lmp, style, pairs, more=(), engines=("auto", "neigh"), forces_only=False):
        """{} in a style stands for coord or gauss. pairs: coefficients of both."""
        states = []
        for name, coeffs in [("gauss 2.0", pairs[1])] + [(f"coord engine {engine}", pairs[0]) for engine in engines]:
            states.append(state_of(lmp, f"pair_style {style.replace('{}', name)}", *coeffs, *more))
        for found in states[1:]:
            if forces_only:
                self.check(style, found.forces, states[0].forces, coordtest.DOUBLE)
            else:
                self.check_states(style, found, states[0])
        return states[0]

    def molecules(self, *first):
        path = write_chains()
        lines = setup_commands(BOX, first, data=path)
        lines[lines.index("atom_style atomic")] = "atom_style molecular"
        read = lines.index(f"read_data {path}")
        lines[read:read + 1] = ["bond_style zero", lines[read], "bond_coeff *"]
        return self.start(lines)


PLAIN = coefficients(COORD), coefficients(GAUSS)
# The reference gauss/kk takes a neighbor list of KOKKOS, with the defects neighbor_include and
# neighbor_exclude_again of doc/dev/lammps-defects. pair_style coord with engine neigh takes a list of
# LAMMPS without KOKKOS.
KOKKOS_LIST = coordtest.KOKKOS and not coordtest.has_no_kokkos_pair("gauss")
NO_INCLUDE = "with KOKKOS: the reference, pair_style gauss/kk, has pairs outside the group of neigh_modify include"
NO_OTHER_KIND = "with KOKKOS on a GPU: the reference, pair_style gauss/kk, excludes molecule/intra again"


class Molecules(Selection):
    def test_special_bonds(self):
        energies = []
        for newton in ("on", "off"):
            lmp = self.molecules(f"newton {newton}")
            for weights in ("lj 0 0.5 1", "lj 0.2 0.7 0.4", "lj 0 0 0", "lj 1 1 1", "lj 0 0.3 1 coul 0.4 1 0",
                            "lj 1 1 0.5 coul 0 0 0", "lj 1e-100 1e-100 0.5"):
                state = self.compare(lmp, "{}", PLAIN, [f"special_bonds {weights}"])
                energies.append(round(state.energy, 6))
            state = self.compare(lmp, "{}", PLAIN, ["special_bonds lj 1 1 1"], engines=("cells",))
            energies.append(round(state.energy, 6))
        self.assertEqual(energies[:8], energies[8:])
        self.assertEqual(len(set(energies)), 7)    # both engines with weights of 1: one energy

    def test_special_of_a_substyle(self):
        lmp = self.molecules("special_bonds lj 0.5 0.5 0.5")
        states = []
        for style, names, coeffs in (("gauss 2.0 gauss 2.0", ("gauss 1", "gauss 2"), GAUSS),
                                     ("coord gauss 2.0", ("coord", "gauss"), COORD)):
            states.append(state_of(
                lmp, f"pair_style hybrid/overlay {style}", *coefficients(coeffs, names[0]),
                *coefficients(OTHER_GAUSS, names[1]), f"pair_modify pair {names[0]} special lj 0.1 0.8 0.0"))
        self.check_states("hybrid", states[1], states[0])

    def test_exclusions(self):
        lmp = self.molecules()
        commands(lmp, "group left id 1:50", "group right id 30:90", "special_bonds lj 1 1 1")
        energies = [self.compare(lmp, "{}", PLAIN).energy]
        selected = ["type 1 2", "type 3 3", "group left right", "molecule/intra all", "molecule/inter left"]
        if KOKKOS_LIST and coordtest.ON_KOKKOS_GPU:
            coordtest.skip_part(f"neigh_modify exclude {selected.pop()}", NO_OTHER_KIND)
        for pairs in selected:
            lmp.command(f"neigh_modify exclude {pairs}")
            energies.append(self.compare(lmp, "{}", PLAIN).energy)
            lmp.command("neigh_modify exclude none")
        self.assertEqual(len({round(e, 6) for e in energies}), 1 + len(selected))

    def test_include(self):
        if KOKKOS_LIST:
            self.skipTest(NO_INCLUDE)
        for newton in ("on", "off"):
            lmp = self.molecules(f"newton {newton}", "atom_modify first some")
            commands(lmp, "group some id 20:80", "special_bonds lj 1 1 1", "neigh_modify include some")
            self.compare(lmp, "{}", PLAIN)

    def test_hybrid_molecular(self):
        """Different potentials within and between molecules."""
        if coordtest.has_no_kokkos_pair("hybrid/molecular"):
            self.skipTest("with KOKKOS: this LAMMPS has no hybrid/molecular/kk")
        lmp = self.molecules("special_bonds lj 0 0.5 1")
        reference = state_of(lmp, "pair_style hybrid/molecular gauss 2.0 gauss 2.0", *coefficients(GAUSS, "gauss 1"),
                             *coefficients(OTHER_GAUSS, "gauss 2"))
        for style, coeffs in {
                "coord gauss 2.0": coefficients(COORD, "coord") + coefficients(OTHER_GAUSS, "gauss"),
                "gauss 2.0 coord": coefficients(GAUSS, "gauss") + coefficients(OTHER_COORD, "coord"),
                "coord coord": coefficients(COORD, "coord 1") + coefficients(OTHER_COORD, "coord 2")}.items():
            self.check_states(style, state_of(lmp, f"pair_style hybrid/molecular {style}", *coeffs), reference)


class Hybrid(Selection):
    """One style, another style or both compute a pair of types."""

    def setUp(self):
        super().setUp()
        x = coordtest.random_positions(np.random.default_rng(4), BOX, N, 0.3)
        self.lmp = self.system(BOX, x, TYPES)

    def pick(self, pairs, number="", other=False):
        """Return coefficients of these pairs of types for coord and gauss as a sub-style."""
        lines = (OTHER_COORD, OTHER_GAUSS) if other else (COORD, GAUSS)
        return [coefficients([line for line in some if tuple(map(int, line.split()[:2])) in pairs], f"{name} {number}")
                for some, name in zip(lines, ("coord", "gauss"))]

    def test_some_types(self):
        engines = ("neigh", "cells")
        for pairs in [(1, 2), (3, 3)], [(1, 1)], [(1, 1), (2, 2), (1, 2)], [(1, 4), (2, 4), (4, 4), (3, 4)]:
            picked = self.pick(pairs)
            rest = [f"pair_coeff {i} {j} soft {0.1 * i + j} 1.6" for i, j in PAIRS if (i, j) not in pairs]
            for style in "hybrid {} soft 2.0", "hybrid soft 2.0 {}":
                self.compare(self.lmp, style, picked, rest, engines)

    def test_none(self):
        picked = self.pick([p for p in PAIRS if p not in ((1, 2), (3, 3))])
        self.compare(self.lmp, "hybrid {}", picked, ["pair_coeff 1 2 none", "pair_coeff 3 3 none"], ("neigh", "cells"))

    def test_mixed_in_hybrid(self):
        """1 2 is mixed, 3 4 is not: each has 1 1 and 2 2, or 3 3 and 4 4, in the same style."""
        coord = ["pair_coeff 1 1 coord 1.0 gaussian 0.5 dmax 1.5 nostretch",
                 "pair_coeff 2 2 coord 2.0 gaussian 0.7 dmax 2.0 nostretch"]
        gauss = ["pair_coeff 1 1 gauss -1.0 2.0 1.5", f"pair_coeff 2 2 gauss -2.0 {0.5 / 0.49} 2.0"]
        self.compare(self.lmp, "hybrid {} soft 1.8", [coord, gauss], [
            "pair_coeff 3*4 3*4 soft 1.0", "pair_coeff 1*2 3*4 soft 2.0"], ("neigh", "cells"))

    def test_overlay_and_scaled(self):
        picked = self.pick([(1, 2), (3, 3), (2, 4)])
        commands(self.lmp, "variable half equal 0.5", "variable each atom 0.2*type")
        # A per-atom scale applies to forces only. It comes first, since LAMMPS otherwise lacks an
        # array for it.
        styles = ["hybrid/scaled v_each {} 1 soft 1.8", "hybrid/scaled 0.3 {} v_half soft 1.8",
                  "hybrid/overlay {} soft 1.8"]
        no_scaled = coordtest.kokkos_lacks_pair("hybrid/scaled") or (
            coordtest.ON_KOKKOS_GPU and coordtest.kokkos_lacks("pair_style hybrid/scaled", coordtest.NO_SCALED))
        for style in styles[2:] if no_scaled else styles:
            self.compare(self.lmp, style, picked, ["pair_coeff * * soft 1.4"], ("neigh", "cells"), "v_each" in style)

    def test_twice(self):
        first, second = self.pick([(1, 1), (1, 2), (2, 2)], "1"), self.pick([(1, 2), (3, 4), (4, 4)], "2", True)
        picked = [a + b for a, b in zip(first, second)]
        for engine in "neigh", "cells":
            self.compare(self.lmp, "hybrid/overlay {} soft 1.8 {}", picked, ["pair_coeff * * soft 0.7"], (engine,))


class FewAtoms(Selection):
    def test_few(self):
        switch = Switch("cubic", dmax=2.0)
        for engine in "neigh", "cells":
            for n in (0, 1, 2):
                lmp = self.start(setup_commands(Box((5.0, 5.0, 5.0)), ntypes=4))
                if n:
                    x = [1.0, 1.0, 1.0, 2.25, 1.0, 1.0][:3 * n]
                    self.assertEqual(lmp.create_atoms(n, None, [1, 3][:n], x), n)
                state = state_of(lmp, f"pair_style coord engine {engine}", f"pair_coeff * * {words(switch, 3.0)}")
                self.assertAlmostEqual(state.energy, 3.0 * float(switch([1.25])[0][0]) if n == 2 else 0.0, 14)
                self.assertEqual(state.forces.shape, (n, 3))
                if n < 2:
                    self.assertFalse(state.forces.any() or state.virial.any() or state.atom_virials.any())


if __name__ == "__main__":
    unittest.main(verbosity=2)
