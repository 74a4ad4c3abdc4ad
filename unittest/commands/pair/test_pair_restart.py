"""pair_style coord in restart and data files."""

import unittest

import numpy as np

import coordtest
from brutetest import Box, Switch
from pairtest import COMPUTES, PAIRS, PairTest, Potential, all_kinds, commands, setup_commands, state_of, words

BOX = Box((6.2, 6.6, 6.0))    # in a tilted box LAMMPS rounds positions again
N = 150
TYPES = np.random.default_rng(3).integers(1, 5, N)
OUTPUT = ["fix move all nve", "thermo 5", "thermo_style custom step pe press", "thermo_modify format float %.17g",
          "dump d all custom 5 dump id x y z vx vy vz fx fy fz", "dump_modify d format float %.17g sort id"]


def positions():
    return coordtest.random_positions(np.random.default_rng(1), BOX, N, 0.4)


class Restart(PairTest):
    def compare(self, style, first, second=(), ranks=1, before=("atom_modify sort 0 0",)):
        """A continued run gives the same bits as an uninterrupted one. first, second: their pair
        commands."""
        rounding = 1e-9 if "double" in style else 1e-5
        data = f"{coordtest.folder()}/data"
        coordtest.write_data(data, positions(), BOX, TYPES)
        setup = setup_commands(BOX, before, data=data)
        restart = f"{coordtest.folder()}/restart"
        whole = coordtest.run_lammps(
            [*setup, f"pair_style {style}", *first, "velocity all create 1.0 4711 loop geom", "fix move all nve",
             "run 15", f"write_restart {restart}", "unfix move", *OUTPUT, "run 15"], ranks)
        part = coordtest.run_lammps([*before, f"read_restart {restart}", *second, *OUTPUT, "run 15"], ranks)
        with open(whole.path("dump")) as expected, open(part.path("dump")) as found:
            coordtest.assert_same_bits(found.read(), expected.read(), style, rounding)
        for name, column in whole.tables[1].items():
            coordtest.assert_same_bits(part.tables[0][name], column, name, rounding)
        return part

    def test_all_kinds(self):
        for engine, precision, ranks in ("neigh", "double", 2), ("cells", "mixed", 1), ("auto", "single", 1):
            part = self.compare(f"coord engine {engine} precision {precision}", all_kinds().coefficients(), ranks=ranks)
            self.assertIn(f"precision {precision}", part.text)
            self.assertIn({"neigh": "full neighbor list", "cells": "engine cells"}.get(engine, "engine"), part.text)

    def test_unknown_function(self):
        coefficients = "pair_coeff * * 1.0 smap 1.0 a 6 b 8 dmax 2.1"
        path = f"{coordtest.folder()}/unknown"
        lmp = self.system(BOX, positions(), TYPES)
        commands(lmp, "pair_style coord", coefficients, f"write_restart {path}", "clear")
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data.replace(b"smap", b"mine"))
        with self.assertRaisesRegex(Exception, "Pair coord: the restart file has the switching function 'mine', which"):
            lmp.command(f"read_restart {path}")

    def test_mix_and_shift(self):
        """The file contains the rule of mixing and the shift, as for other styles."""
        functions = {i: Switch("gaussian", 0.4 + 0.1 * i, dmax=1.3 + 0.2 * i, stretch=False) for i in (1, 2, 3, 4)}
        own = [f"pair_coeff {i} {i} {words(function, 1.0 + i)}" for i, function in functions.items()]
        self.compare("coord", [*own, "pair_modify mix arithmetic shift yes"])
        self.compare("hybrid coord", [*self.of_substyle(own), "pair_modify mix arithmetic shift yes"],
                     self.of_substyle(own))

    @staticmethod
    def of_substyle(lines, name="coord"):
        """Return pair_coeff I J ... with a sub-style."""
        return [" ".join([*line.split(" ")[:3], name, *line.split(" ")[3:]]) for line in lines]

    def test_hybrid(self):
        """LAMMPS does not store coefficients of pair_style hybrid: the second run gives them again."""
        potential = all_kinds()
        some = Potential({p: potential.functions[p] for p in ((1, 2), (3, 3), (3, 4))}, potential.epsilons)
        coeffs = [*some.coefficients("coord"), "pair_coeff * * soft 1.4"]
        for engine in "neigh", "cells":
            part = self.compare(f"hybrid/overlay soft 1.5 coord engine {engine} precision mixed", coeffs, coeffs)
            self.assertRegex(part.text, f"precision mixed, engine {engine}")


class Data(PairTest):
    def compare(self, potential, keyword, *first):
        """A data file with coefficients gives the energy and forces of the potential."""
        x = positions()
        expected = potential.by_brute_force(BOX, x, TYPES)
        path = f"{coordtest.folder()}/written"
        lmp = self.system(BOX, x, TYPES)
        commands(lmp, "pair_style coord", *first, f"write_data {path} pair {keyword}")
        lmp.command("clear")
        setup = setup_commands(BOX, data=path)
        read = setup.index(f"read_data {path}")    # the file contains what follows
        modify = [line for line in first if line.startswith("pair_modify")]
        commands(lmp, *setup[:read], "pair_style coord", *modify, setup[read], *COMPUTES)
        self.check_states(keyword, state_of(lmp), expected)

    def test_all_pairs(self):
        potential = all_kinds()
        potential.epsilons[1, 3] = 0.1 + 0.2    # requires all digits
        self.compare(potential, "ij", *potential.coefficients())

    def test_own_and_mixed(self):
        own = {i: (0.4 + 0.1 * i, 1.3 + 0.2 * i, 0.5 * i) for i in (1, 2, 3, 4)}
        for stretch in True, False:
            of = lambda r0, dmax: Switch("custom", float(r0), dmax=float(dmax), stretch=stretch,
                                         expression="1 / (1 + x^5)",
                                         func=lambda x: (1 / (1 + x**5), -5 * x**4 / (1 + x**5) ** 2))
            mixed = Potential({(i, j): of((own[i][0] + own[j][0]) / 2, (own[i][1] + own[j][1]) / 2) for i, j in PAIRS},
                              {(i, j): -float(np.sqrt(own[i][2] * own[j][2])) for i, j in PAIRS})
            given = [f"pair_coeff {i} {i} {words(of(*own[i][:2]), -own[i][2])}" for i in own]
            for keyword in "ii", "ij":
                self.compare(mixed, keyword, *given, "pair_modify mix arithmetic")


if __name__ == "__main__":
    unittest.main(verbosity=2)
