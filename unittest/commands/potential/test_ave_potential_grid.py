"""fix ave/potential/grid: the running mean equals the mean of the dumped maps, also if LAMMPS
changes the ranks' parts or the box, or if a run ends and another begins."""

import unittest

import numpy as np

import coordtest
import errortest
from test_potential_grid import CUTOFF, ORTHOGONAL, SKIN, TILTED, N, output, read_grid, setup, system, write_data

GRID = (9, 8, 7)
COMPUTE = f"compute c all potential/grid {GRID[0]} {GRID[1]} {GRID[2]} cutoff {CUTOFF} precision double"


class Mean(unittest.TestCase):
    def check_mean(self, box, ranks, later, nframes, words="", data=None, shell=CUTOFF + SKIN, first=(), before=()):
        """Compare maps and means every second step."""
        done = coordtest.run_lammps(
            [*setup(box, data or system(box, 3, speed=3.0), shell=shell, first=first), *before, f"{COMPUTE} {words}",
             "fix m all ave/potential/grid 2 c", *output([("c", False, False)], GRID, 2),
             "compute at all property/grid 9 8 7 id xc yc zc",
             "dump m all grid 2 m.grid c_at:grid:data[*] f_m:grid:data", "dump_modify m format float %.17g first no",
             "thermo_style custom step f_m", "thermo 2", "timestep 0.01", "fix move all nve", *later], ranks)
        maps, means = read_grid(done.path("c.grid")), read_grid(done.path("m.grid"))
        self.assertEqual(len(means), nframes)
        # The first frame of each dump precedes the first end of a step.
        maps = [frame.phi for frame in maps][1:]
        means = [frame.phi for frame in means][-len(maps):]
        for k, mean in enumerate(means):
            expected = np.mean(maps[:k + 1], axis=0)
            self.assertGreater(np.abs(expected).max(), 0.1)
            self.assertLess(np.abs(mean - expected).max(), coordtest.rounded(1e-13) * np.abs(expected).max())
        self.assertGreater(np.abs(maps[0] - maps[-1]).max(), 1e-3)    # atoms have moved
        counts = [row for table in done.tables for row in table["f_m"]]
        self.assertEqual(max(counts), len(maps))

    def test_boxes_and_ranks(self):
        for box, ranks in (ORTHOGONAL, 1), (TILTED, 2), (ORTHOGONAL, 4):
            with self.subTest(tilted=box.tilted, ranks=ranks):
                self.check_mean(box, ranks, ["run 8"], 5)

    def test_fixed_bins(self):
        self.check_mean(ORTHOGONAL, 1, ["run 6"], 4, "bins fixed 2.0 2 field yes")

    def test_changing_box(self):
        self.check_mean(TILTED, 2, ["unfix move", "fix b all npt temp 1.0 1.0 0.1 tri 300.0 300.0 0.3", "run 8"], 5,
                        shell=CUTOFF + SKIN + 1.0)

    def test_by_way_of_the_host(self):
        """A reference region with zero mean."""
        self.check_mean(ORTHOGONAL, 2, ["run 6"], 4, "reference r", before=["region r block INF INF INF INF 2.0 4.0"])

    def test_several_runs(self):
        for runs in ["run 4", "run 4"], ["run 4", "run 4 pre no"], ["run 4", "run 4 every 2 NULL"]:
            with self.subTest(runs[1]):
                self.check_mean(ORTHOGONAL, 2, runs, 5)

    def test_another_fix_after_load_balancing(self):
        """The state of the first fix does not matter."""
        data = f"{coordtest.folder()}/crowd"
        rng = np.random.default_rng(6)
        x = ORTHOGONAL.lo + (0.01 + 0.98 * rng.random((N, 3)) ** 3) @ ORTHOGONAL.edges
        write_data(data, x, rng.normal(size=N).round(4), ORTHOGONAL, rng.normal(size=(N, 3)))
        done = coordtest.run_lammps(
            [*setup(ORTHOGONAL, data, shell=CUTOFF + SKIN + 1.0), COMPUTE, "fix m all ave/potential/grid 1 c", "run 2", "unfix m",
             "balance 1.0 shift xyz 10 1.0", "run 1", "fix m all ave/potential/grid 1 c",
             "compute at all property/grid 9 8 7 id xc yc zc", "run 1",
             "dump m all grid 1 m.grid c_at:grid:data[*] f_m:grid:data", "dump_modify m format float %.17g",
             "dump c all grid 1 c.grid c_at:grid:data[*] c_c:grid:phi", "dump_modify c format float %.17g", "run 0"], 4)
        mean, phi = (read_grid(done.path(f"{name}.grid"))[-1].phi for name in "mc")
        self.assertGreater(np.abs(phi).max(), 0.1)
        # Nothing moves.
        self.assertLess(np.abs(mean - phi).max(), coordtest.rounded(1e-13) * np.abs(phi).max())

    def test_load_balancing(self):
        """Most atoms are in one corner: the ranks' parts change."""
        for words in "fix bal all balance 3 1.0 shift xyz 10 1.0", "fix bal all balance 3 1.0 rcb":
            data = f"{coordtest.folder()}/corner"
            rng = np.random.default_rng(5)
            x = ORTHOGONAL.lo + (0.01 + 0.98 * rng.random((N, 3)) ** 3) @ ORTHOGONAL.edges
            write_data(data, x, rng.normal(size=N).round(4), ORTHOGONAL, rng.normal(size=(N, 3)))
            first = ["comm_style tiled"] if "rcb" in words else []
            with self.subTest(words):
                self.check_mean(ORTHOGONAL, 4, [words, "run 12"], 7, data=data, first=first, shell=CUTOFF + SKIN + 1.0,
                                before=["fix slow all nve/limit 0.01"])


class Errors(errortest.InProcess):
    SYSTEM = "\n".join(setup(ORTHOGONAL, system(ORTHOGONAL, 9, n=N), shell=4.0)) + f"\n{COMPUTE}\n"

    def test_words(self):
        for words, message in (
                ("", "Illegal fix ave/potential/grid command: missing argument(s)"),
                ("2", "Illegal fix ave/potential/grid command: missing argument(s)"),
                ("0 c", "Fix ave/potential/grid Nevery is 0 but must be > 0"),
                ("2 d", "Fix ave/potential/grid: there is no compute d"),
                ("2 c_c", "Fix ave/potential/grid: there is no compute c_c - give its ID alone, without c_"),
                ("2 thermo_temp", "Fix ave/potential/grid: compute thermo_temp is of style temp but must be of style potential/grid"),
                ("2 c ave", "Unknown fix ave/potential/grid keyword: ave - it takes a number of steps and the ID of a compute")):
            with self.subTest(words):
                self.assertEqual(errortest.without_suffix(errortest.error_of(self.lmp, f"fix m all ave/potential/grid {words}")[0]),
                                 message)

    def test_between(self):
        """The mean exists at all steps, with a group that the fix ignores, and also after
        reset_timestep."""
        errortest.commands(self.lmp, "group g dynamic all every 1\nfix m g ave/potential/grid 2 c\nthermo_style custom step f_m\n"
                                     f"thermo 3\ndump d all grid 3 {coordtest.folder()}/d.grid f_m:grid:data\nrun 5\nundump d\n"
                                     "reset_timestep 100\nrun 4")
        self.assertEqual(self.lmp.extract_fix("m", 0, 0), 4.0)

    def test_one_fix_for_a_compute(self):
        errortest.commands(self.lmp, "fix m all ave/potential/grid 2 c")
        self.assertEqual(errortest.error_of(self.lmp, "fix n all ave/potential/grid 1 c")[0],
                         "Fix ave/potential/grid: another fix averages the maps of compute c already - use that, or another compute")
        errortest.commands(self.lmp, "unfix m\nfix n all ave/potential/grid 1 c\nrun 1")

    def test_compute_that_is_gone(self):
        errortest.commands(self.lmp, "fix m all ave/potential/grid 1 c\nuncompute c")
        gone = "Fix ave/potential/grid m: compute c has been deleted - define it, unfix the fix and define it again"
        self.assertEqual(errortest.error_of(self.lmp, "run 1")[0], gone)
        self.assertEqual(errortest.error_of(self.lmp, f"write_grid f_m:grid:data {coordtest.folder()}/gone.dx")[0], gone)
        errortest.commands(self.lmp, COMPUTE)
        self.assertEqual(errortest.error_of(self.lmp, "run 1")[0], gone)
        errortest.commands(self.lmp, "unfix m\nfix m all ave/potential/grid 1 c\nrun 1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
