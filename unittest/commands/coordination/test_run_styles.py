"""The compute in every kind of run and with every command that can use it.

The reported value is compared with brute force for the positions dumped at the same step.
"""
# Processors: 2

import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
from brutetest import Box, Switch, brute_force

BOX = Box((6.8, 6.4, 6.1), tilt=(1.2, -0.8, 0.9))
N = 150
SWITCH = Switch("rational", 1.1, dmax=2.5)
LONG = Switch("rational", 1.1, n=6, m=10, dmax=3.8)
ALL, LEFT, LATE = np.arange(N), np.arange(60), np.arange(40, N)
COMPUTES = {
    "cells": ("all", f"{SWITCH.keywords} engine cells", SWITCH, {"a": ALL}),
    "two": ("left", f"{SWITCH.keywords} group2 late engine cells", SWITCH, {"a": LEFT, "b": LATE}),
    "nearest": ("late", f"{LONG.keywords} image minimum", LONG, {"a": LATE, "image": "minimum"}),
    "images": ("all", f"{LONG.keywords} image all", LONG, {"a": ALL}),
}


def soft_liquid(commands, ranks=1, computes=COMPUTES, box=BOX, n=N, sort="sort id"):
    """Run commands on a Lennard-Jones liquid at random positions, which a short minimization has
    separated."""
    data = f"{coordtest.folder()}/data"
    x = coordtest.random_positions(np.random.default_rng(21), box, n, closest=0.75)
    coordtest.write_data(data, x, box)
    lines = ["units lj", "atom_modify map array", "box tilt large", f"read_data {data}", "mass * 1.0",
             "pair_style lj/cut 2.5", "pair_coeff * * 1.0 1.0", "pair_modify shift yes", "neighbor 0.3 bin",
             "neigh_modify every 1 delay 0 check yes", "comm_modify cutoff 4.3", "group left id 1:60",
             "group late id 41:150"]
    lines += [f"compute {ident} {group} coord/gpu {keywords} precision double"
              for ident, (group, keywords, _, _) in computes.items()]
    columns = " ".join(f"c_{ident} c_{ident}[*]" for ident in computes)
    lines += [f"thermo_style custom step {columns}", "thermo_modify format float %.17g norm no", "thermo 1",
              "velocity all create 1.5 4711",
              "dump d all custom 1 dump id x y z " + " ".join(f"c_{ident}[*]" for ident in computes),
              f"dump_modify d format float %.17g {sort}"]
    return coordtest.run_lammps(lines + commands, ranks)


class RunStyles(unittest.TestCase):
    def compare(self, run, table, steps, dump="dump", computes=COMPUTES, moving=True):
        rows = run.tables[table]
        frames = {frame.step: frame for frame in dumptest.read_dump(run.path(dump))}
        self.assertGreaterEqual(len(rows["Step"]), steps)
        for row, step in enumerate(rows["Step"]):
            frame = frames[int(step)]
            for ident, (_, _, switch, arguments) in computes.items():
                found = brutetest.Result(rows[f"c_{ident}"][row],
                                         [rows[f"c_{ident}[{k}]"][row] for k in range(1, 7)], frame.array(ident))
                expected = brute_force(frame.box, frame.x(), switch, **arguments)
                coordtest.assert_same(found, expected, coordtest.DOUBLE, f"step {step}, {ident}")
        if moving:
            values = rows["c_cells"]
            self.assertEqual(len(set(values)), len(values), "S stands still: the test shows nothing")

    def test_dynamics_and_run_0(self):
        run = soft_liquid(["fix move all nve", "timestep 0.003", "run 0", "run 8", "run 4 pre no"], ranks=2)
        self.compare(run, 0, 1)
        self.compare(run, 1, 9)
        self.compare(run, 2, 5)

    def test_neighbor_lists(self):
        """S includes all pairs within dmax, whatever pairs LAMMPS' own neighbor list has. The list
        is used if it has all of them."""
        lists = {"the same": [], "excluded": ["neigh_modify exclude group left late"],
                 "shorter": ["pair_style lj/cut 2.0", "pair_coeff * * 1.0 1.0"],
                 "longer": ["pair_style lj/cut 3.5", "pair_coeff * * 1.0 1.0"],
                 "hybrid": ["pair_style hybrid lj/cut 2.5", "pair_coeff * * lj/cut 1.0 1.0"]}
        of_all = COMPUTES["cells"]
        cases = [(name, commands, of_all) for name, commands in lists.items()]
        function = SWITCH.keywords.removeprefix("switch ")
        cases += [("a group", [], ("left", SWITCH.keywords, SWITCH, {"a": LEFT})),
                  ("coeff", [], ("all", f"switch cubic dmax 2.5 coeff 1 1 {function}", SWITCH, {"a": ALL}))]
        for name, commands, compute in cases:
            with self.subTest(name):
                computes = {"cells": compute}
                run = soft_liquid(commands + ["fix move all nve", "timestep 0.003", "run 6"], 2, computes)
                self.compare(run, 0, 7, computes=computes)
                taken = name == "the same" and coordtest.ON_KOKKOS_GPU and "half" not in coordtest.KOKKOS
                self.assertEqual("pairs of LAMMPS' neighbor list" in run.text, taken)

    def test_second_group_of_all_atoms(self):
        """The pairs of all atoms with a group equal those of a list of all atoms only if the group
        is all."""
        computes = {"late": ("all", f"{SWITCH.keywords} group2 late", SWITCH, {"a": ALL, "b": LATE}),
                    "cells": ("all", f"{SWITCH.keywords} group2 all", SWITCH, {"a": ALL, "b": ALL})}
        run = soft_liquid(["run 0", "fix move all nve", "timestep 0.003", "run 6"], 2, computes)
        self.compare(run, 0, 1, computes=computes, moving=False)
        self.compare(run, 1, 7, computes=computes)

    def test_between_neighbor_lists(self):
        """Evaluate five steps after LAMMPS has built its lists, when atoms have moved farther than
        half the skin."""
        computes = {"cells": COMPUTES["cells"]}
        run = soft_liquid(["pair_coeff * * 1e-9 1.0", "neigh_modify every 10 delay 0 check no", "velocity all create 8.0 99",
                           "undump d", "thermo 15", "dump d all custom 15 dump id x y z c_cells[*]",
                           "dump_modify d format float %.17g sort id", "fix move all nve", "timestep 0.01", "run 45"],
                          2, computes)
        self.compare(run, 0, 4, computes=computes)

    def test_after_commands_that_set_up(self):
        """write_data creates new ghost atoms, in another order than in the lists of the previous
        run."""
        box = Box((6.8, 6.4, 6.1))
        x = coordtest.random_positions(np.random.default_rng(21), box, N, closest=0.75)
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=3.0)
            for line in ("pair_style lj/cut 2.5", "pair_coeff * * 1.0 1.0",
                         f"compute cells all coord/gpu {SWITCH.keywords} precision double",
                         "thermo_style custom step c_cells", "fix move all nve", "timestep 0.003", "run 6",
                         f"write_data {coordtest.folder()}/written"):
                lmp.command(line)
            x = np.ctypeslib.as_array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3).copy()
            coordtest.assert_same(brutetest.result_of(lmp, "cells"), brute_force(box, x, SWITCH, a=ALL), coordtest.DOUBLE,
                                  "after write_data")

    def test_minimization(self):
        for style in ["cg"] if coordtest.kokkos_copies_lack("fire", coordtest.NO_FIRE) else ["cg", "fire"]:
            run = soft_liquid([f"min_style {style}", "minimize 0 1e-4 10 200"], ranks=2)
            self.compare(run, 0, 8)

    def test_respa(self):
        run = soft_liquid(["fix move all nve", "timestep 0.008", "run_style respa 2 3 pair 1", "run 8"], ranks=2)
        self.assertIn("Respa levels:", run.text)
        self.compare(run, 0, 9)

    def test_rerun(self):
        """Read the trajectory of a run again, with a compute that the run did not have."""
        script = ["undump d", "dump d all custom 2 trajectory id type x y z", "dump_modify d format float %.17g",
                  "fix move all nve", "timestep 0.004", "run 8", "undump d",
                  "dump d all custom 1 dump id x y z " + " ".join(f"c_{ident}[*]" for ident in COMPUTES),
                  "dump_modify d format float %.17g sort id", "rerun trajectory dump x y z box yes"]
        run = soft_liquid(script, ranks=2)
        self.compare(run, 1, 5)
        first = {int(step): value for step, value in zip(run.tables[0]["Step"], run.tables[0]["c_cells"])}
        for step, value in zip(run.tables[1]["Step"], run.tables[1]["c_cells"]):
            # The setup rounds positions in a tilted box.
            self.assertAlmostEqual(value / first[int(step)], 1, delta=coordtest.rounded(coordtest.LAST_DIGITS))

    def test_dynamic_groups(self):
        """Groups that follow a region and a variable, updated at every step."""
        commands = ["undump d", "region slab block 1.5 4.5 INF INF INF INF", "variable high atom z>2.0+0.1*y",
                    "group slab dynamic all region slab every 1", "group high dynamic all var high every 1"]
        parts = {"a": "slab", "b": "high"}
        keywords = {"self": ("slab", f"{SWITCH.keywords} engine cells"),
                    "two": ("slab", f"{SWITCH.keywords} group2 high engine cells norm mean"),
                    "swapped": ("high", f"{SWITCH.keywords} group2 slab engine allpairs"),
                    "gathered": ("high", f"{SWITCH.keywords} engine allpairs")}
        commands += [f"compute {ident} {group} coord/gpu {words} precision double"
                     for ident, (group, words) in keywords.items()]
        columns = " ".join(f"c_{ident} c_{ident}[*]" for ident in keywords)
        commands += [f"variable in_{part} atom gmask({group})" for part, group in parts.items()]
        commands += [f"thermo_style custom step {columns}", "thermo_modify format float %.17g norm no",
                     "fix move all nve", "timestep 0.01",
                     "dump d all custom 1 dump id x y z v_in_a v_in_b " + " ".join(f"c_{i}[*]" for i in keywords),
                     "dump_modify d format float %.17g sort id", "run 12"]
        run = soft_liquid(commands, ranks=2, computes={"cells": COMPUTES["cells"]})
        sizes = set()
        rows = run.tables[0]
        for row, frame in enumerate(dumptest.read_dump(run.path("dump"))):
            slab, high = (np.flatnonzero(frame[f"v_in_{part}"]) for part in parts)
            sizes.add((len(slab), len(high)))
            arguments = {"self": {"a": slab}, "two": {"a": slab, "b": high, "norm": "mean"},
                         "swapped": {"a": high, "b": slab}, "gathered": {"a": high}}
            for ident in keywords:
                found = brutetest.Result(rows[f"c_{ident}"][row],
                                         [rows[f"c_{ident}[{k}]"][row] for k in range(1, 7)], frame.array(ident))
                expected = brute_force(frame.box, frame.x(), SWITCH, **arguments[ident])
                coordtest.assert_same(found, expected, coordtest.DOUBLE, f"step {frame.step}, {ident}")
        self.assertGreater(len(sizes), 3, "the groups did not change")

    @coordtest.not_where(coordtest.KOKKOS_COPIES, coordtest.NO_FLIP)
    def test_sheared_box(self):
        """A shear that flips the box. run 0 after every few steps sets up ghost atoms in the
        current box."""
        box = Box((6.8, 6.4, 6.1), tilt=(2.9, 0.0, 0.0))
        x = coordtest.random_positions(np.random.default_rng(21), box, N, closest=0.75)
        tilts = []
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=4.3)
            lmp.command("group left id 1:60")
            lmp.command("group late id 41:150")
            for ident, (group, keywords, _, _) in COMPUTES.items():
                lmp.command(f"compute {ident} {group} coord/gpu {keywords} precision double")
            for line in ("neigh_modify every 1 delay 0 check yes", "velocity all create 1.5 4711", "fix move all nve",
                         "timestep 0.005", "fix shear all deform 1 xy erate 2.0 remap x"):
                lmp.command(line)
            for _ in range(8):
                lmp.command("run 3")
                lmp.command("run 0")
                low, high, xy, yz, xz, _, _ = lmp.extract_box()
                now = Box(np.subtract(high, low), (xy, xz, yz), lo=low, from_lammps=True)
                tilts.append(xy)
                x = np.ctypeslib.as_array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3).copy()
                for ident, (_, _, switch, arguments) in COMPUTES.items():
                    coordtest.assert_same(brutetest.result_of(lmp, ident), brute_force(now, x, switch, **arguments),
                                          coordtest.DOUBLE, f"xy {xy}, {ident}")
        self.assertTrue(min(tilts) < 0 < 3 < max(tilts), f"the box did not flip: {tilts}")

    def test_output_after_the_box_changed(self):
        """fix deform changes the box and the atoms after the forces, and before thermo and dump of
        a step."""
        run = soft_liquid(["fix move all nve", "timestep 0.005", "fix shear all deform 1 xy erate 0.2 remap x",
                           "run 6"], ranks=2)
        self.compare(run, 0, 7)

    def test_shrink_wrapped_box(self):
        """The box size follows the atoms."""
        box = Box((30.0, 30.0, 30.0), periodic=(False,) * 3)
        rng = np.random.default_rng(2)
        x = coordtest.random_positions(rng, Box((5.0,) * 3, lo=(10.0,) * 3), 80, closest=0.5)
        data = f"{coordtest.folder()}/shrink"
        coordtest.write_data(data, x, box)
        run = coordtest.run_lammps(
            ["units lj", "boundary s s s", f"read_data {data}", "mass * 1.0", "pair_style zero 1.0 nocoeff",
             "pair_coeff * *", "neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes", "comm_modify cutoff 2.9",
             "velocity all create 9.0 11", f"compute cells all coord/gpu {SWITCH.keywords} precision double",
             "fix move all nve", "timestep 0.02", "thermo 1", "thermo_style custom step c_cells c_cells[*]",
             "thermo_modify format float %.17g norm no", "dump d all custom 1 dump id x y z c_cells[*]",
             "dump_modify d format float %.17g sort id", "run 10"], ranks=2)
        self.compare(run, 0, 11, computes={"cells": ("all", "", SWITCH, {"a": np.arange(80)})})


class Uses(unittest.TestCase):
    """Each command that reads a compute, compared with the values of thermo and dump at the same
    steps."""

    @classmethod
    def setUpClass(cls):
        mean = ("left", f"{SWITCH.keywords} group2 late norm mean", None, None)
        computes = {"cells": COMPUTES["cells"], "mean": mean}
        cls.run_of_all = soft_liquid(
            ["fix move all nve", "timestep 0.004", "variable twice equal 2*c_cells+c_cells[4]",
             "variable length atom sqrt(c_cells[2]^2+c_cells[3]^2+c_cells[4]^2)",
             "compute highest all reduce max c_cells[1]", "compute total all reduce sum c_cells[*]",
             "fix time all ave/time 2 3 6 c_cells c_cells[4] v_twice format ' %.17g' file time",
             "fix atoms all ave/atom 2 3 6 c_cells[1] c_cells[3] v_length",
             'fix print all print 1 "value $(c_cells:%.17g) $(v_twice:%.17g)" file printed screen no',
             "thermo_style custom step c_cells c_cells[*] c_mean c_mean[*] v_twice c_highest c_total[*]",
             "thermo_modify format float %.17g norm no",
             "dump a all custom 6 averages id x y z f_atoms[*] v_length c_cells[*]",
             "dump_modify a format float %.17g sort id", "run 12"], computes=computes)
        cls.rows = cls.run_of_all.tables[0]
        cls.frames = dumptest.read_dump(cls.run_of_all.path("dump"))

    def test_thermo_and_variable(self):
        np.testing.assert_array_equal(self.rows["v_twice"], 2 * self.rows["c_cells"] + self.rows["c_cells[4]"])
        self.assertEqual(len(set(self.rows["c_cells"])), 13)

    def test_fix_ave_time(self):
        averages = np.loadtxt(self.run_of_all.path("time"))
        for line in averages[1:]:    # the first line belongs to step 0
            used = [int(line[0]) - 4, int(line[0]) - 2, int(line[0])]
            for column, name in enumerate(("c_cells", "c_cells[4]", "v_twice")):
                mean = np.mean([self.rows[name][step] for step in used])
                self.assertAlmostEqual(line[1 + column] / mean, 1, delta=coordtest.LAST_DIGITS)

    def test_fix_ave_atom(self):
        last = dumptest.read_dump(self.run_of_all.path("averages"))[-1]
        self.assertEqual(last.step, 12)
        arrays = [self.frames[step].array("cells") for step in (8, 10, 12)]
        expected = [np.mean([a[:, 0] for a in arrays], axis=0), np.mean([a[:, 2] for a in arrays], axis=0),
                    np.mean([np.linalg.norm(a[:, 1:], axis=1) for a in arrays], axis=0)]
        for k, column in enumerate(expected):
            self.assertLessEqual(coordtest.error_of(last[f"f_atoms[{k + 1}]"], column), coordtest.LAST_DIGITS)

    def test_fix_print(self):
        printed = np.loadtxt(self.run_of_all.path("printed"), comments="#", usecols=(1, 2))
        np.testing.assert_array_equal(printed[:, 0], self.rows["c_cells"][-len(printed):])
        self.assertGreaterEqual(len(printed), 12)

    def test_compute_reduce(self):
        for row, frame in enumerate(self.frames):
            array = frame.array("cells")
            self.assertEqual(self.rows["c_highest"][row], array[:, 0].max())
            # For one group the sum of s_i is 2 S, and the sum of derivatives is zero.
            self.assertAlmostEqual(self.rows["c_total[1]"][row] / (2 * self.rows["c_cells"][row]), 1, delta=1e-13)
            self.assertLess(abs(self.rows["c_total[2]"][row]), coordtest.rounded(1e-11))


if __name__ == "__main__":
    unittest.main(verbosity=2)
