"""Comparison with other results: fix colvars, compute coord/atom, shells of lattices, a replicated
cell."""

import os
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Box, Switch, brute_force

# Colvars and GPUCOORD add the same terms in double in different order; Colvars' trajectory file has
# 15 digits.
COLVARS = 1e-12

FORCE_CONSTANT, CENTER = 0.3, 1.7
COLVARS_INPUT = """
colvarsTrajFrequency 1
colvarsRestartFrequency 0
colvar {{
  name xi
  {component} {{
    cutoff 1.3
    expNumer {n}
    expDenom {m}
    {groups}
  }}
}}
harmonic {{
  colvars xi
  centers %g
  forceConstant %g
}}
""" % (CENTER, FORCE_CONSTANT)


@unittest.skipIf(coordtest.lacks_package("COLVARS"), "no package COLVARS")
class Colvars(unittest.TestCase):
    def compare(self, component, members, exponents, periodic):
        """Compare the value, and the force of a harmonic bias: -k (xi - xi0) dxi/dx."""
        box = Box((7.0, 8.0, 9.0), periodic=periodic, lo=(-2.0, 1.0, 0.0))
        x = coordtest.random_positions(np.random.default_rng(6), box, 40, closest=0.2)
        groups = "\n".join(f"group{k + 1} {{ atomNumbers {' '.join(str(i + 1) for i in group)} }}"
                           for k, group in enumerate(members))
        n, m = exponents
        path = os.path.join(coordtest.folder(), "in.colvars")
        with open(path, "w") as file:
            file.write(COLVARS_INPUT.format(component=component, groups=groups, n=n, m=m))
        output = os.path.join(coordtest.folder(), "out")
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=2.0)
            for k, group in enumerate(members):
                coordtest.define_group(lmp, f"g{k + 1}", group)
            two = "group2 g2" if len(members) == 2 else ""
            lmp.command(f"compute c g1 coord/gpu {two} switch rational 1.3 nn {n} mm {m} dmax INF image minimum "
                        "engine allpairs precision double")
            lmp.command(f"fix b all colvars {path} output {output}")
            lmp.command("run 0")
            result = brutetest.result_of(lmp, "c")
            tags = lmp.numpy.extract_atom("id")[:40]
            forces = np.empty((40, 3))
            forces[tags - 1] = lmp.numpy.extract_atom("f")[:40]
            lmp.command("unfix b")
        value = np.loadtxt(output + ".colvars.traj", ndmin=2)[0, 1]
        self.assertGreater(value, 1.0)
        self.assertGreater(np.abs(forces).max(), 0.1)
        value_error = abs(result.value / value - 1)
        expected = -FORCE_CONSTANT * (result.value - CENTER) * result.atoms[:, 1:]
        force_error = coordtest.error_of(forces, expected)
        print(f"{component} {exponents}, periodic {periodic}: value {value_error:.1e}, force {force_error:.1e}")
        self.assertLessEqual(value_error, COLVARS)
        self.assertLessEqual(force_error, COLVARS)

    def test_coordnum(self):
        for exponents in ((6, 12), (8, 10)):
            for periodic in ((True,) * 3, (False,) * 3):
                self.compare("coordNum", (range(10), range(15, 40)), exponents, periodic)

    def test_selfcoordnum(self):
        for exponents in ((6, 12), (4, 14)):
            self.compare("selfCoordNum", (range(5, 30),), exponents, (True,) * 3)


class HardCutoff(unittest.TestCase):
    """s = 1 up to dmax and 0 beyond: the number of neighbors, exact in double and in float."""

    def test_coord_atom(self):
        one = lambda x: (np.ones_like(x), np.zeros_like(x))
        for box in (Box((8.0, 7.0, 9.0)), Box((8.0, 7.0, 9.0), tilt=(3.0, -2.0, 2.5)),
                    Box((8.0, 7.0, 9.0), periodic=(True, False, True))):
            x = coordtest.random_positions(np.random.default_rng(9), box, 400)
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=2.5, cutoff=2.0)
                coordtest.define_group(lmp, "even", range(0, 400, 2))
                coordtest.define_group(lmp, "odd", range(1, 400, 2))
                lmp.command("compute self all coord/atom cutoff 1.83")
                lmp.command("compute other even coord/atom cutoff 1.83 group odd")
                hard = 'switch custom 1.0 func "1" dmax 1.83 nostretch'
                for precision in ("double", "mixed"):
                    for engine in ("cells", "allpairs"):
                        tail = f"{hard} engine {engine} precision {precision}"
                        lmp.command(f"compute s{engine}{precision} all coord/gpu {tail}")
                        lmp.command(f"compute o{engine}{precision} even coord/gpu group2 odd {tail}")
                lmp.command("run 0")
                ordered = np.argsort(lmp.numpy.extract_atom("id")[:400])
                neighbors = lmp.numpy.extract_compute("self", 1, 1)[:400][ordered]
                others = lmp.numpy.extract_compute("other", 1, 1)[:400][ordered]
                self.assertGreater(neighbors.min(), 1)
                for precision in ("double", "mixed"):
                    for engine in ("cells", "allpairs"):
                        one_group = brutetest.result_of(lmp, f"s{engine}{precision}")
                        two_groups = brutetest.result_of(lmp, f"o{engine}{precision}")
                        what = f"{engine}, {precision}, tilted {box.tilted}"
                        np.testing.assert_array_equal(one_group.atoms[:, 0], neighbors, what)
                        self.assertEqual(one_group.value, neighbors.sum() / 2, what)
                        np.testing.assert_array_equal(two_groups.atoms[::2, 0], others[::2], what)
                        self.assertEqual(two_groups.value, others[::2].sum(), what)
                        self.assertEqual(np.abs(one_group.atoms[:, 1:]).max(), 0, what)

    # Distances of the shells in lattice constants, and their numbers of atoms.
    LATTICES = {
        "fcc": (4.0, [(np.sqrt(0.5), 12), (1.0, 6), (np.sqrt(1.5), 24), (np.sqrt(2), 12), (np.sqrt(2.5), 24)]),
        "bcc": (2.0, [(np.sqrt(0.75), 8), (1.0, 6), (np.sqrt(2), 12), (np.sqrt(2.75), 24), (np.sqrt(3), 8)]),
        "sc": (1.0, [(1.0, 6), (np.sqrt(2), 12), (np.sqrt(3), 8), (2.0, 6), (np.sqrt(5), 24)]),
    }

    def test_lattices(self):
        """Numbers of atoms in shells. With one unit cell and image all, every partner is an image."""
        for lattice, (density, shells) in self.LATTICES.items():
            for cells in (1, 2, 6):
                with coordtest.start() as lmp:
                    for line in ("units lj", "atom_modify map array", f"lattice {lattice} {density}",
                                 f"region box block 0 {cells} 0 {cells} 0 {cells}", "create_box 1 box",
                                 "create_atoms 1 box", "mass 1 1.0", "pair_style zero 1.0 nocoeff", "pair_coeff * *",
                                 "comm_modify cutoff 3.0", "neighbor 0.3 bin"):
                        lmp.command(line)
                    n = lmp.get_natoms()
                    count, cases = 0, []
                    for k, (distance, members) in enumerate(shells[:-1]):
                        count += members
                        after = shells[k + 1][0]
                        d0, dmax = distance + 0.3 * (after - distance), distance + 0.7 * (after - distance)
                        for precision in ("double", "mixed"):
                            ident = f"c{len(cases)}"
                            lmp.command(f"compute {ident} all coord/gpu switch cubic d0 {d0} dmax {dmax} "
                                        f"norm mean image all engine cells precision {precision}")
                            cases.append((ident, count, f"{lattice} {cells} cells, {count} neighbors"))
                    lmp.command("run 0")
                    for ident, count, what in cases:
                        result = brutetest.result_of(lmp, ident)
                        self.assertEqual(result.value, count / 2, what)
                        np.testing.assert_array_equal(result.atoms[:, 0], np.full(n, count), what)
                        self.assertEqual(np.abs(result.atoms[:, 1:]).max(), 0, what)


class Replicated(unittest.TestCase):
    def test_value_of_eight_cells(self):
        """With image all, a cell replicated 2 2 2 has 8 S and 8 W, and each copy has the s_i and
        dS/dx of the cell."""
        for box in (Box((3.0, 3.6, 4.1)), Box((4.0, 4.0, 4.0), tilt=(1.0, -2.0, 2.0))):
            n = 20
            x = coordtest.random_positions(np.random.default_rng(12), box, n)
            # Beyond half the widths of both boxes. In the small box an atom's own images are in
            # range twice.
            dmax = 0.9 * box.edges[0, 0]
            results = []
            for replicate in (False, True):
                with coordtest.start() as lmp:
                    coordtest.make_system(lmp, box, x, ghosts=dmax + 0.31)
                    if replicate:
                        lmp.command("replicate 2 2 2")
                    lmp.command(f"group half id {' '.join(str(i) for i in range(1, 8 * n + 1) if i % 2)}")
                    lmp.command(f"compute c all coord/gpu switch rational 1.1 dmax {dmax} image all precision double")
                    lmp.command(f"compute two half coord/gpu group2 all switch rational 1.1 dmax {dmax} image all "
                                "precision double norm mean")
                    lmp.command("run 0")
                    results.append([brutetest.result_of(lmp, name) for name in ("c", "two")])
            for k, factor in enumerate((8, 1)):
                one, eight = results[0][k], results[1][k]
                copies = np.tile(one.atoms, (8, 1))
                if k == 1:    # norm mean divides derivatives by eight times the atoms
                    copies[:, 1:] /= 8
                expected = brutetest.Result(factor * one.value, factor * one.virial, copies)
                coordtest.assert_same(eight, expected, coordtest.LAST_DIGITS, f"norm {('sum', 'mean')[k]}")
            reference = brute_force(box, x, Switch("rational", 1.1, dmax=dmax), np.arange(n))
            coordtest.assert_same(results[0][0], reference, coordtest.DOUBLE, "one cell")


if __name__ == "__main__":
    unittest.main(verbosity=2)
