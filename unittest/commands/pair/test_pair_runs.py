"""pair_style coord in runs: dynamics, rRESPA, minimization, rerun, and changes between and within
runs.

The reference is a pair style of LAMMPS with the same potential: gauss, or lj/cut if rRESPA splits
forces.
"""
# KOKKOS on a GPU: newton on

import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box, Switch
from pairtest import (COMPUTES, PAIRS, PairTest, Potential, all_kinds, coefficients, commands, gaussians,
                      setup_commands, state_of)

BOX = Box((6.2, 6.6, 6.0), tilt=(1.3, -1.4, 1.2))
N = 150
TYPES = np.random.default_rng(3).integers(1, 5, N)
COORD, GAUSS = gaussians(PAIRS, np.random.default_rng(31), jumps=not coordtest.POSITION_ROUNDOFF)
SAME = coordtest.rounded(1e-10)    # rounding grows in a short run
COLUMNS = [("x", "y", "z"), ("fx", "fy", "fz"), ("c_e",)]
DUMP = ["dump d all custom 10 dump id x y z fx fy fz c_e", "dump_modify d format float %.17g sort id"]


def data_of(box, x, types):
    path = f"{coordtest.folder()}/data"
    coordtest.write_data(path, x, box, types)
    return path


def script(path, *lines, first=()):
    return [*setup_commands(BOX, first, data=path), "neigh_modify every 1 delay 0 check yes", *COMPUTES, "thermo 10",
            *lines]


class Runs(PairTest):
    def positions(self):
        return coordtest.random_positions(np.random.default_rng(1), BOX, N, 0.4)

    def compare_runs(self, what, found, expected, columns=COLUMNS):
        for one, other in zip(dumptest.read_dump(found.path("dump")), dumptest.read_dump(expected.path("dump")),
                              strict=True):
            self.assertEqual(one.step, other.step)
            for names in columns:
                self.check(f"{what}, step {one.step}: {names[0]}", np.array([one[n] for n in names]),
                           np.array([other[n] for n in names]), SAME)
        self.assertEqual(len(found.tables), len(expected.tables))
        for table, reference in zip(found.tables, expected.tables):
            for name, column in reference.items():
                self.check(f"{what}: {name}", table[name], column, SAME)

    def compare(self, lines, ranks=1):
        """lines: returns commands from words of pair_style, its name, its coefficients, and the
        commands for dynamics and output."""
        path = data_of(BOX, self.positions(), TYPES)
        start = ["velocity all create 1.0 4711 loop geom", "fix move all nve", *DUMP,
                 "thermo_modify format float %.17g"]
        expected = coordtest.run_lammps(script(path, *lines("gauss 2.0", "gauss", GAUSS, start)))
        for engine in "neigh", "cells":
            found = coordtest.run_lammps(script(path, *lines(f"coord engine {engine}", "coord", COORD, start)), ranks)
            self.compare_runs(engine, found, expected)


class Changes(Runs):
    def test_several_runs(self):
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style {style}", *coefficients(coeffs), *start, "run 20", "run 20 pre no", "run 0", "run 10 post no",
            "run 20 every 5 'set atom 1*9 vx 0.1'"], ranks=2)

    def test_change_coefficients(self):
        others = dict(zip(("coord", "gauss"), gaussians(PAIRS[2:7], np.random.default_rng(5))))
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style {style}", *coefficients(coeffs), *start, "run 20", *coefficients(others[name]), "run 20",
            *coefficients(coeffs), "pair_modify shift yes", "run 20"])

    def test_change_types_and_atoms(self):
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style {style}", *coefficients(coeffs), *start, "run 20", "set atom 1*40 type 2", "run 20",
            "set atom 30*70 type 4", "group some id 100:120", "delete_atoms group some compress no",
            "run 20", "create_atoms 3 single 1.0 1.1 1.2", "create_atoms 1 single 3 3 3", "run 10",
            "change_box all xy delta 0.4 x scale 1.1 remap", "run 20"], ranks=2)

    def test_adapt(self):
        """Changes epsilon of some pairs of types to 0 and back, and resets it after the run."""
        names = {"coord": ("epsilon", 1), "gauss": ("a", -1)}
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style {style}", *coefficients(coeffs), *start,
            f"variable wave equal {names[name][1]}*(2.5-0.25*step)*(step<=20)",
            "variable half equal 0.5", "fix a all adapt 5 pair {0} {1} 1 2*4 v_wave pair {0} {1} 3 3 v_wave reset yes"
            .format(name, names[name][0]),
            "run 30", "unfix a", "run 10",
            f"fix a all adapt 10 pair {name} {names[name][0]} 2 2 v_half scale yes", "run 10"])

    def test_adapt_mixed(self):
        """Mixed pairs follow changes of epsilon."""
        own = {name: [line for line in lines if line.split()[0] == line.split()[1]] for name, lines in
               (("coord", ["1 1 1.5 gaussian 0.5 dmax 2.0 nostretch", "2 2 0.7 gaussian 0.8 dmax 1.7 nostretch",
                           "3 3 1.1 gaussian 0.6 dmax 1.9 nostretch", "4 4 2.0 gaussian 0.4 dmax 1.5 nostretch"]),
                ("gauss", ["1 1 -1.5 2.0 2.0", f"2 2 -0.7 {0.5 / 0.64} 1.7", f"3 3 -1.1 {0.5 / 0.36} 1.9",
                           "4 4 -2.0 3.125 1.5"]))}
        names = {"coord": ("epsilon", 1), "gauss": ("a", -1)}
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style {style}", *coefficients(own[name]), "pair_modify mix arithmetic", *start,
            f"variable wave equal {names[name][1]}*(0.5+0.1*step)",
            f"fix a all adapt 5 pair {name} {names[name][0]} 2 2 v_wave", "run 20"])

    def test_adapt_in_hybrid(self):
        """A sub-style with only some pairs of types."""
        picked = {name: [line for line in lines if line.split()[:2] in (["1", "2"], ["3", "3"])]
                  for name, lines in (("coord", COORD), ("gauss", GAUSS))}
        names = {"coord": ("epsilon", 1), "gauss": ("a", -1)}
        self.compare(lambda style, name, coeffs, start: [
            f"pair_style hybrid/overlay {style} soft 1.5", *coefficients(picked[name], name), "pair_coeff * * soft 1.0",
            *start, f"variable wave equal {names[name][1]}*(2.5-0.25*step)",
            f"fix a all adapt 5 pair {name} {names[name][0]} 1 2 v_wave", "run 20"])

    def test_rerun(self):
        path = data_of(BOX, self.positions(), TYPES)
        lines = ["pair_style coord engine {}", *coefficients(COORD)]
        tail = ["thermo_modify format float %.17g"]
        reference = coordtest.run_lammps(script(path, "pair_style gauss 2.0", *coefficients(GAUSS), "fix move all nve",
                                                "velocity all create 1.0 4711", *DUMP, *tail, "run 50"))
        for engine in "neigh", "cells":
            run = coordtest.run_lammps(script(path, lines[0].format(engine), *lines[1:], *DUMP, *tail,
                                              f"rerun {reference.path('dump')} dump x y z"))
            # Positions are those of the dump, wrapped into the box.
            self.compare_runs(engine, run, reference, columns=COLUMNS[1:])

    def test_minimize(self):
        """Conjugate gradients reach the minimum of pair_style gauss, and FIRE follows the same
        path: later it oscillates between two minima 5e-8 apart, where rounding decides."""
        fire = [] if coordtest.kokkos_copies_lack("fire", coordtest.NO_FIRE) else [("fire", 300)]
        for style, steps in [("cg", 3000), *fire]:
            path = data_of(BOX, self.positions(), TYPES)
            runs = []
            for pair, words_of_pair in (("gauss 2.6", "{1} {2} {0} 2.0"),
                                        ("coord", "{1} {2} {0} gaussian 0.5 dmax 2.6 nostretch")):
                sign = -1 if "gauss" in pair else 1
                coeffs = [words_of_pair.format(sign * (1.0 + 0.1 * i), i, j) for i, j in PAIRS]
                runs.append(coordtest.run_lammps(script(
                    path, f"pair_style {pair}", *coefficients(coeffs), f"min_style {style}", *DUMP,
                    "thermo_modify format float %.17g", "timestep 0.01", f"minimize 0 1e-7 {steps} 20000")))
            gauss, coord = (run.tables[0]["PotEng"] for run in runs)
            self.assertLess(gauss[-1], gauss[0] - 1)
            self.check(style, coord[-1], gauss[-1], coordtest.rounded(1e-9))
            expected, found = (dumptest.read_dump(run.path("dump"))[-1].x() for run in runs)
            # The same image of each atom.
            found -= np.round((found - expected) @ np.linalg.inv(BOX.edges)) @ BOX.edges
            # The energy increases with the square of the distance from the minimum.
            self.check(style, found, expected, coordtest.rounded(1e-12)**0.5)


class Energy(Runs):
    """For a smooth potential, the error of the energy scales with the square of the timestep."""

    POTENTIAL = Potential({(i, j): Switch("gaussian", 0.4 + 0.01 * i * j, dmax=3.2) for i, j in PAIRS},
                          {(i, j): 3.0 + i for i, j in PAIRS})

    def error(self, timestep, integrator=(), engine="neigh"):
        path = data_of(BOX, self.positions(), TYPES)
        run = coordtest.run_lammps(script(
            path, f"pair_style coord engine {engine}", *self.POTENTIAL.coefficients(), *integrator, "fix move all nve",
            "thermo_style custom step etotal", "thermo_modify format float %.17g norm no",
            "velocity all create 1.0 4711", "thermo 1", f"timestep {timestep}", f"run {round(1 / timestep)}"))
        energy = run.tables[0]["TotEng"]
        return np.sqrt(((energy - energy[0]) ** 2).mean())

    def test_order(self):
        levels = ["run_style respa 2 2 inner 1 0.5 0.9 outer 2"]
        for engine, integrator in ("neigh", []), ("cells", []), ("neigh", levels):
            coarse, middle, fine = (self.error(timestep, integrator, engine) for timestep in (0.02, 0.01, 0.005))
            self.assertLess(abs(np.log2(middle / fine) - 2), 0.1, f"{engine} {integrator}: {coarse} {middle} {fine}")
            print(f"errors {coarse:.2g} {middle:.2g} {fine:.2g}", end=" ")


NO_LEVELS = "lj/cut/kk has no levels of rRESPA"


class Respa(Runs):
    """lj/cut and an equivalent expression, on a lattice that melts."""

    LJ = 'pair_coeff {} {} 1.0 custom 1.0 d0 0.3 dmax 2.3 nostretch func "4*((x+0.3)^-12-(x+0.3)^-6)"'
    CUBE = Box((6.72, 6.72, 6.72))
    STEPS = 10 if coordtest.POSITION_ROUNDOFF else 60    # in a melt rounding grows fast

    def lattice(self):
        """Return 256 atoms in cubic close packing."""
        corner = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]) / 2
        cells = np.array(list(np.ndindex(4, 4, 4)))
        x = 1.68 * (cells[:, None] + corner[None]).reshape(-1, 3)
        return x + np.random.default_rng(3).normal(scale=0.03, size=x.shape)

    def run_lj(self, style, coeffs, respa, ranks=1, first=()):
        x = self.lattice()
        path = data_of(self.CUBE, x, np.random.default_rng(2).integers(1, 3, len(x)))
        return coordtest.run_lammps(script(
            path, f"pair_style {style}", *coeffs, "velocity all create 2.0 4711 loop geom", "fix move all nve", *DUMP,
            "thermo_modify format float %.17g", f"run_style respa {respa}", "timestep 0.008", f"run {self.STEPS}", "run 20",
            first=first), ranks)

    LEVELS = ["2 2 inner 1 1.1 1.5 outer 2", "3 2 2 inner 1 1.0 1.25 middle 2 1.4 1.9 outer 3", "2 2 bond 1 pair 2"]

    def test_trajectories(self):
        for respa in self.LEVELS:
            expected = self.run_lj("lj/cut 2.3", ["pair_coeff * * 1.0 1.0"], respa, first=["suffix off"])
            for ranks, newton in (1, "on"), (2, "off"):
                found = self.run_lj("coord", [self.LJ.format("*", "*")], respa, ranks, [f"newton {newton}"])
                self.compare_runs(respa, found, expected)

    @coordtest.not_where(coordtest.KOKKOS, NO_LEVELS)
    def test_hybrid(self):
        """Levels for sub-styles, and distance levels of several sub-styles; ranges in either order."""
        lj = self.LJ.format("{} {} {}", "")
        for respa in (*self.LEVELS[:2], "2 2 hybrid 1 2"):
            for reach in 2.4, 2.2:
                expected = self.run_lj(f"hybrid/overlay lj/cut {reach} lj/cut 2.3",
                                       ["pair_coeff * * lj/cut 1 0.4 1.0", "pair_coeff * * lj/cut 2 1.0 1.0"], respa)
                found = self.run_lj(f"hybrid/overlay lj/cut {reach} coord",
                                    ["pair_coeff * * lj/cut 0.4 1.0", lj.format("*", "*", "coord")], respa)
                self.compare_runs(f"overlay {reach} {respa}", found, expected)
        for respa in self.LEVELS[:2]:
            expected = self.run_lj("lj/cut 2.3", ["pair_coeff * * 1.0 1.0"], respa)
            for style, between in (("coord coord", lj.format("1", "2", "coord 2")),
                                   ("coord lj/cut 2.3", "pair_coeff 1 2 lj/cut 1 1")):
                name = "coord 1" if style == "coord coord" else "coord"
                found = self.run_lj(f"hybrid {style}", [lj.format(1, 1, name), lj.format(2, 2, name), between], respa)
                self.compare_runs(f"hybrid {style} {respa}", found, expected)

    def test_sum_of_levels(self):
        """Levels add up to the forces without levels; energy and virial are complete."""
        potential, x = all_kinds(), self.positions()
        expected = potential.by_brute_force(BOX, x, TYPES)
        lmp = self.system(BOX, x, TYPES)
        for engine, levels in (("neigh", "2 2 inner 1 0.6 1.1 outer 2"), ("neigh", "2 2 bond 1 pair 2"),
                               ("neigh", "3 2 2 inner 1 0.5 0.8 middle 2 1.1 1.7 outer 3"),
                               ("cells", "2 2 bond 1 pair 2")):
            self.check_states(levels, state_of(lmp, f"pair_style coord engine {engine}", *potential.coefficients(),
                                               f"run_style respa {levels}"), expected)

    def test_change_between(self):
        """Coefficients that change in a run without levels apply to the levels later."""
        x = self.positions()
        soft, hard = (Potential({pair: switch for pair in PAIRS}, {pair: 1.0 for pair in PAIRS})
                      for switch in (Switch("cubic", dmax=2.0), Switch("exp", 0.5, dmax=2.0)))
        lmp = self.system(BOX, x, TYPES)
        levels = "run_style respa 3 2 2 inner 1 0.5 0.8 middle 2 1.1 1.7 outer 3"
        commands(lmp, "pair_style coord")
        for name, potential, style in (("first", soft, levels), ("plain", hard, "run_style verlet"),
                                       ("levels", hard, levels), ("again", soft, levels)):
            found = state_of(lmp, *potential.coefficients(), style)
            self.check_states(name, found, potential.by_brute_force(BOX, x, TYPES))


if __name__ == "__main__":
    unittest.main(verbosity=2)
