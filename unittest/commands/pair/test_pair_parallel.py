"""pair_style coord: trajectories for any number of ranks and threads, any list and communication
equal those of pair_style gauss."""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import re
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box
from pairtest import COMPUTES, PAIRS, PairTest, coefficients, gaussians, setup_commands

N, STEPS = 260, 100
BOXES = {"orthogonal": Box((7.4, 7.0, 6.8)), "triclinic": Box((7.4, 7.0, 6.8), tilt=(3.1, -2.2, 2.0))}
COORD, GAUSS = gaussians(PAIRS, np.random.default_rng(21), jumps=not coordtest.POSITION_ROUNDOFF)
# After STEPS, over which rounding errors grow by a factor of about ten.
TOLERANCE = coordtest.rounded(1e-10)
COLUMNS = ["xu", "yu", "zu", "fx", "fy", "fz", "c_e", *(f"c_s[{k}]" for k in range(1, 7))]


def script(box, style, coeffs, first=(), later=(), skin=0.3, data=None):
    path = data or f"{coordtest.folder()}/data"
    if not data:
        x = coordtest.random_positions(np.random.default_rng(7), box, N, 0.4)
        coordtest.write_data(path, x, box, np.random.default_rng(8).integers(1, 5, N))
    return [*setup_commands(box, first, skin, data=path), "neigh_modify every 1 delay 0 check yes",
            f"pair_style {style}", *coefficients(coeffs), *later, "velocity all create 2.0 4711 loop geom",
            "fix move all nve", *COMPUTES, "thermo 20",
            f"dump d all custom 50 dump id {' '.join(COLUMNS)}", "dump_modify d format float %.17g sort id",
            "thermo_modify format float %.17g lost error", f"run {STEPS}"]


class Parallel(PairTest):
    def reference(self, box):
        return coordtest.run_lammps(script(box, "gauss 2.0", GAUSS))

    def compare(self, what, run, reference):
        for found, expected in zip(dumptest.read_dump(run.path("dump")), dumptest.read_dump(reference.path("dump")),
                                   strict=True):
            for k in (0, 3, 6, 7):    # vectors and tensors relative to their largest component
                names = {0: COLUMNS[0:3], 3: COLUMNS[3:6], 6: COLUMNS[6:7], 7: COLUMNS[7:]}[k]
                self.check(f"{what}, step {found.step}: {names[0]}", np.array([found[n] for n in names]),
                           np.array([expected[n] for n in names]), TOLERANCE)
        for name, column in reference.tables[0].items():
            self.check(f"{what}: {name}", run.tables[0][name], column, TOLERANCE)

    def compare_all(self, box, ways):
        """ways: engine, ranks, and other arguments of script()."""
        reference = self.reference(box)
        builds = lambda run: int(re.search(r"Neighbor list builds = (\d+)", run.text).group(1))
        self.assertGreater(builds(reference), 5)
        for engine, ranks, arguments in ways:
            arguments = dict(arguments)
            threads = arguments.pop("threads", 1)
            run = coordtest.run_lammps(script(box, f"coord engine {engine}", COORD, **arguments), ranks, threads)
            self.assertRegex(run.text, f"engine {engine}")
            self.compare(f"{engine} on {ranks} ranks {arguments}", run, reference)

    def test_ranks(self):
        self.compare_all(BOXES["orthogonal"], [
            ("neigh", 1, {}), ("cells", 1, {}), ("neigh", 2, dict(first=["newton off"])),
            ("cells", 4, dict(first=["newton off", "processors 2 2 1"])),
            ("neigh", 4, dict(first=["processors 1 1 4"], threads=2)), ("cells", 2, dict(threads=2))])

    def test_tilted(self):
        self.compare_all(BOXES["triclinic"], [("neigh", 4, {}), ("cells", 2, dict(first=["processors 1 2 1"])),
                                              ("neigh", 1, dict(first=["newton off"], threads=2))])

    def test_lists(self):
        multi = ["neighbor 0.3 multi", "comm_modify mode multi"]
        cases = [("neigh", 1, dict(later=["neighbor 0.3 nsq"])), ("neigh", 1, dict(skin=0.9)),
                 ("cells", 1, dict(skin=0.05))]
        if not (coordtest.KOKKOS_FLOAT_GPU and coordtest.kokkos_lacks("comm_style tiled", coordtest.NO_TILED)):
            cases.append(("neigh", 4, dict(later=["comm_style tiled", "balance 1.0 rcb",
                                                  "fix even all balance 10 1.0 rcb"])))
        if not coordtest.kokkos_lacks("neighbor multi", coordtest.NO_MULTI):
            cases += [("neigh", 2, dict(later=multi)), ("cells", 2, dict(later=multi)),
                      ("neigh", 1, dict(later=["neighbor 0.3 multi", "atom_modify sort 7 1.1"]))]
        self.compare_all(BOXES["orthogonal"], cases)

    def test_same_bits(self):
        """Any number of threads gives the same bits."""
        for engine in "neigh", "cells":
            dumps = []
            for threads in (1, 2):
                with open(coordtest.run_lammps(script(BOXES["triclinic"], f"coord engine {engine}", COORD), 1,
                                               threads).path("dump")) as file:
                    dumps.append(file.read())
            coordtest.assert_same_bits(*dumps, engine, 1e-5)

    def test_ranks_without_atoms(self):
        """A droplet in the corner of a box, on one of four ranks."""
        box = Box((60.0, 20.0, 20.0), periodic=(False,) * 3)
        path = f"{coordtest.folder()}/droplet"
        x = coordtest.random_positions(np.random.default_rng(9), Box((5.0, 5.0, 5.0), lo=(4.0, 4.0, 4.0)), 90, 0.4)
        coordtest.write_data(path, x, box, np.random.default_rng(8).integers(1, 5, 90))
        reference = coordtest.run_lammps(script(box, "gauss 2.0", GAUSS, data=path))
        for engine in "neigh", "cells":
            run = coordtest.run_lammps(script(box, f"coord engine {engine}", COORD, ["processors 4 1 1"], data=path), 4)
            self.assertRegex(run.text, r"Nlocal:.*90 max.* 0 min")
            self.compare(engine, run, reference)


if __name__ == "__main__":
    unittest.main(verbosity=2)
