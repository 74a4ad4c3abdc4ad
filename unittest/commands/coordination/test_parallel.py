"""The same numbers for any number of ranks and threads, newton setting and communication style,
while atoms move.

Every step of a run is compared with brute force for the positions that the run dumped. Atoms move
freely at the same speed, so that all of them use up the skin between two rebuilds of the neighbor
lists.
"""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import re
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
from brutetest import Box, Switch, brute_force

SPEED, TIMESTEP, STEPS = 4.0, 0.01, 15
SKIN = 0.5    # half of it lasts six steps of SPEED * TIMESTEP
N = 110
SHORT, LONG = Switch("rational", 1.0, n=6, m=10, dmax=2.4), Switch("rational", 1.1, dmax=3.9)
ORTHOGONAL = Box((6.8, 6.1, 5.4))
TILTED = Box((6.8, 6.1, 5.4), tilt=(2.9, -2.2, 2.0))
GROUPS = {"all": np.arange(N), "left": np.arange(0, 40), "right": np.arange(50, 90), "late": np.arange(30, N)}

# ID: group, keywords, arguments of brute force
COMPUTES = {
    "cells": ("all", f"{SHORT.keywords} engine cells", SHORT, {"a": GROUPS["all"]}),
    "overlap": ("left", f"{SHORT.keywords} group2 late engine cells", SHORT, {"a": GROUPS["left"], "b": GROUPS["late"]}),
    "two": ("left", f"{SHORT.keywords} group2 right norm mean", SHORT,
            {"a": GROUPS["left"], "b": GROUPS["right"], "norm": "mean"}),
    "nearest": ("late", f"{LONG.keywords} image minimum", LONG, {"a": GROUPS["late"], "image": "minimum"}),
    "images": ("all", f"{LONG.keywords} image all", LONG, {"a": GROUPS["all"]}),
    "pairs": ("left", f"{LONG.keywords} pairs right image minimum", LONG,
              {"a": None, "pairs": np.column_stack([GROUPS["left"], GROUPS["right"]]), "image": "minimum"}),
}
PAIRS = np.random.default_rng(0).integers(0, N, (70, 2))
PAIRS = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]
COMPUTES["file"] = ("all", f"{LONG.keywords} pairs/file {coordtest.folder()}/pairs image minimum norm mean", LONG,
                    {"a": None, "pairs": PAIRS, "image": "minimum", "norm": "mean"})
np.savetxt(f"{coordtest.folder()}/pairs", PAIRS + 1, fmt="%d")


def write_system(box, seed):
    """Write a data file with velocities of equal magnitude."""
    path = f"{coordtest.folder()}/data{seed}"
    rng = np.random.default_rng(seed)
    coordtest.write_data(path, coordtest.random_positions(rng, box, N), box)
    velocity = rng.normal(size=(N, 3))
    velocity *= SPEED / np.linalg.norm(velocity, axis=1)[:, None]
    with open(path, "a") as file:
        file.write("\nVelocities\n\n")
        for k, v in enumerate(velocity.tolist()):
            file.write(f"{k + 1} {v[0]!r} {v[1]!r} {v[2]!r}\n")
    return path


def script(box, data, first=(), later=(), computes=COMPUTES, precision="double", run=f"run {STEPS}", cutoff="1.0"):
    reach = max(float(switch.dmax) for _, _, switch, _ in computes.values())
    lines = ["units lj", *first, "atom_modify map array", "boundary " + " ".join("pf"[not p] for p in box.periodic),
             "box tilt large", f"read_data {data}", "mass * 1.0", f"pair_style zero {cutoff} nocoeff", "pair_coeff * *",
             f"neighbor {SKIN} bin", "neigh_modify every 1 delay 0 check yes",
             f"comm_modify cutoff {reach + SKIN + 1e-9}", f"timestep {TIMESTEP}"]
    for name, members in GROUPS.items():
        if name != "all":
            lines.append(f"group {name} id {members[0] + 1}:{members[-1] + 1}")
    for ident, (group, keywords, _, _) in computes.items():
        lines.append(f"compute {ident} {group} coord/gpu {keywords} precision {precision}")
    lines += ["fix move all nve", *later]
    columns = " ".join(f"c_{ident} c_{ident}[*]" for ident in computes)
    lines += [f"thermo_style custom step {columns}", "thermo_modify format float %.17g norm no lost warn", "thermo 1",
              "dump d all custom 1 dump id x y z " + " ".join(f"c_{ident}[*]" for ident in computes),
              "dump_modify d format float %.17g sort id", run]
    return lines


def table_result(table, frame, row, ident):
    return brutetest.Result(table[f"c_{ident}"][row],
                            [table[f"c_{ident}[{k}]"][row] for k in range(1, 7)], frame.array(ident))


class Parallel(unittest.TestCase):
    def check(self, box, ranks, seed=1, first=(), later=(), rebuilds=True, precision="double",
              tolerance=coordtest.DOUBLE):
        data = write_system(box, seed)
        run = coordtest.run_lammps(script(box, data, first, later, precision=precision), ranks)
        table, frames = run.tables[0], dumptest.read_dump(run.path("dump"))
        what = f"{ranks} ranks, {' '.join(first)} {' '.join(later)} tilted {box.tilted}"
        self.assertEqual(len(frames), STEPS + 1)
        lines = re.findall(r"^Compute coord/gpu \w+: (?:host|cuda) .*", run.text, re.M)
        self.assertEqual(len(lines), len(COMPUTES))
        for line in lines:
            self.assertEqual(re.findall(", S summed .*", line), [f", S summed over {ranks} ranks by MPI"] * (ranks > 1))
            ghosts = re.findall("ghost atoms by (?:GPU-aware MPI|LAMMPS through the host)", line)
            self.assertEqual(len(ghosts), "resident on the GPU" in line and ranks > 1)
        if rebuilds:
            builds = int(re.search(r"Neighbor list builds = (\d+)", run.text).group(1))
            self.assertTrue(2 <= builds <= STEPS / 4, f"{builds} rebuilds: the skin is not used up between them")
        results = {}
        for row, frame in enumerate(frames):
            for ident, (_, _, switch, arguments) in COMPUTES.items():
                found = table_result(table, frame, row, ident)
                expected = brute_force(frame.box, frame.x(), switch, **arguments)
                self.assertGreater(expected.value, 0.01)
                coordtest.assert_same(found, expected, tolerance, f"{what}, step {frame.step}, {ident}")
                results[ident, frame.step] = found
        return results

    def test_ranks_and_newton(self):
        first = {}
        for ranks in (1, 2, 4):
            for newton in ("on", "off"):
                results = self.check(ORTHOGONAL, ranks, first=[f"newton {newton}"])
                for ident in COMPUTES:    # positions at step 0 are equal on all numbers of ranks
                    first.setdefault(ident, results[ident, 0])
                    coordtest.assert_same(results[ident, 0], first[ident], coordtest.LAST_DIGITS,
                                          f"{ident} on {ranks} ranks and on 1")

    def test_tilted_box(self):
        self.check(TILTED, 4, seed=2)
        self.check(TILTED, 2, seed=3, first=["newton off"])

    def test_mixed_precision(self):
        self.check(TILTED, 4, seed=8, precision="mixed", tolerance=coordtest.FLOAT)

    @coordtest.not_where(coordtest.KOKKOS_FLOAT_GPU, coordtest.NO_TILED)
    def test_tiled_and_balanced(self):
        later = ["comm_style tiled", "balance 1.0 rcb", "fix even all balance 4 1.0 rcb", "atom_modify sort 3 1.5"]
        self.check(ORTHOGONAL, 4, seed=4, later=later, rebuilds=False)

    def test_mixed_boundaries(self):
        box = Box((40.0, 6.1, 5.4), periodic=(False, True, True))
        box_of_atoms = Box((6.8, 6.1, 5.4), lo=(15.0, 0, 0))
        data = write_system(box_of_atoms, 5)
        self.widen(data, box)
        run = coordtest.run_lammps(script(box, data), 3)
        self.compare_frames(run, "fixed in x, 3 ranks")

    def widen(self, data, box):
        """Put the atoms of a data file into another box."""
        with open(data) as file:
            text = file.read()
        for axis, low, high in zip("xyz", box.lo.tolist(), (box.lo + np.diag(box.edges)).tolist()):
            text, n = re.subn(f".*({axis}lo {axis}hi)", f"{low} {high} \\1", text)
            self.assertEqual(n, 1)
        with open(data, "w") as file:
            file.write(text)

    def compare_frames(self, run, what):
        frames = dumptest.read_dump(run.path("dump"))
        rows = run.tables[0]
        self.assertEqual(len(frames), len(rows["Step"]))
        for row, frame in enumerate(frames):
            self.assertEqual(frame.step, rows["Step"][row])
            for ident, (_, _, switch, arguments) in COMPUTES.items():
                expected = brute_force(frame.box, frame.x(), switch, **arguments)
                coordtest.assert_same(table_result(rows, frame, row, ident), expected, coordtest.DOUBLE,
                                      f"{what}, step {frame.step}, {ident}")

    def test_ranks_without_atoms(self):
        """A droplet in the corner of a fixed box, in the subdomain of one of four ranks."""
        box = Box((60.0, 20.0, 20.0), periodic=(False,) * 3)
        data = write_system(Box((6.8, 6.1, 5.4), lo=(2.0, 2.0, 2.0)), 6)
        self.widen(data, box)
        run = coordtest.run_lammps(script(box, data, first=["processors 4 1 1"]), 4)
        self.assertIn("4 by 1 by 1 MPI processor grid", run.text)
        self.assertRegex(run.text, r"Nlocal:.*110 max.* 0 min")
        self.compare_frames(run, "droplet on 4 ranks")


class SameBits(unittest.TestCase):
    """The same input, build, device and ranks give the same bits, for any number of threads."""

    def run_once(self, ranks, threads, precision, first=(), threads_used=None):
        data = write_system(ORTHOGONAL, 7)
        run = coordtest.run_lammps(script(ORTHOGONAL, data, precision=f"{precision} device {coordtest.DEVICE}", first=first),
                                   ranks, threads)
        if coordtest.DEVICE == "host":
            reported = int(re.search(r"(\d+) threads? per rank", run.text).group(1))
            self.assertEqual(reported, threads_used or threads)
        with open(run.path("dump")) as file:
            dump = file.read()
        self.assertEqual(len(run.tables[0]["Step"]), STEPS + 1)
        return dump, run.tables[0]

    def assert_same(self, found, expected, what, precision):
        (dump, columns), (other_dump, other_columns) = found, expected
        rounding = 1e-9 if precision == "double" else 1e-5
        coordtest.assert_same_bits(dump, other_dump, what, rounding)
        self.assertEqual(columns.keys(), other_columns.keys())
        for name in columns:
            coordtest.assert_same_bits(columns[name], other_columns[name], f"{what}, {name}", rounding)
            if not coordtest.ON_KOKKOS_GPU:    # includes signs of zeros
                self.assertEqual(columns[name].tobytes(), other_columns[name].tobytes(), f"{what}, {name}")

    def test_twice(self):
        for precision in ("mixed", "double"):
            self.assert_same(self.run_once(2, 1, precision), self.run_once(2, 1, precision), precision, precision)

    def test_threads(self):
        for precision in ("mixed", "double", "single"):
            one = self.run_once(1, 1, precision)
            self.assert_same(one, self.run_once(1, 2, precision), f"1 and 2 threads, {precision}", precision)
            self.assert_same(one, self.run_once(1, 3, precision), f"1 and 3 threads, {precision}", precision)

    def test_package_omp(self):
        if coordtest.lacks_package("OPENMP"):
            return
        self.assert_same(self.run_once(1, 1, "mixed"), self.run_once(1, 1, "mixed", ["package omp 3"], 3), "omp", "mixed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
