"""What fix coord/bias says of runs in which S moves too fast, or in which hills are at the wrong places or too far apart, and its
summary at the end of a run. A good run gives no warning."""
# Processors: 2
# Without: gpu

import os
import re
import tempfile
import unittest

import numpy as np

import coordtest
from errortest import run_script
from test_bias_warnings import warnings_of

# Two atoms, and S of their distance
PAIR = """
units {units}
atom_style {style}
atom_modify map array
region box block -10 10 -10 10 -10 10
create_box 2 box
create_atoms 1 single 0 0 0
create_atoms 2 single 1.3 0.4 0.2
{masses}
pair_style zero 9.0
pair_coeff * *
group a id 1
group b id 2
compute cv a coord/gpu group2 b switch rational 1.5 dmax 8 precision double
compute far b coord/gpu group2 a switch gaussian 1.0 dmax 8 precision double
velocity b set 0.001 0 0
fix move all nve
timestep {dt}
"""
LJ = {"units": "lj", "style": "atomic", "masses": "mass 1 2.0\nmass 2 6.0", "dt": 0.02}
OMEGA = re.compile(r"Fix coord/bias b: omega dt of c_cv in this bias is (\S+), more than 0.3 - use (\w+) (\S+) or less in place "
                   r"of (\S+), or a smaller timestep")
PRINT = "thermo_style custom step c_cv\nthermo_modify format float %.15g\nthermo 1\n"

# Four atoms on springs around a fixed one, as in examples/bias/closed_form: S is between 0 and 4, its standard deviation is 0.65.
SPRINGS = """
units lj
atom_modify map array
boundary f f f
region box block -20 20 -20 20 -20 20
create_box 1 box
create_atoms 1 single 0 0 0
create_atoms 1 single 0.9 0.1 0.2
create_atoms 1 single -0.8 1.1 0.3
create_atoms 1 single 0.4 -1.3 0.5
create_atoms 1 single 1.4 0.4 -1.2
mass 1 1.0
pair_style zero 1.0
pair_coeff * *
neigh_modify every 100000 delay 0 check no
group center id 1
group four id 2:5
fix springs four spring/self 0.5
compute cv center coord/gpu group2 four switch rational 1.5 dmax INF precision double
velocity four create 1.0 4711
fix move four nve
timestep 0.025
"""
BATH = "fix bath four langevin 1.0 1.0 1.0 4711\n"
METAD = "fix b all coord/bias c_cv metad sigma {sigma} height {height} pace {pace} file {file}\n"
HOT = "hills heat the system, but no fix is a thermostat - use one, such as fix nvt or fix langevin"


def metad(sigma=0.3, height=0.01, pace=80, file=os.devnull):
    return METAD.format(sigma=sigma, height=height, pace=pace, file=file)


def run(script, ranks=1):
    code, output = run_script("\n".join(map(coordtest.on_device, script.splitlines())) + "\n", ranks)
    assert code == 0, output
    return output


def values_of(output):
    return np.array([float(words[1]) for words in map(str.split, output.splitlines())
                     if len(words) == 2 and words[0].isdigit() and re.fullmatch(r"[-+.\de]+", words[1])])


def measured(s, s0):
    """Return omega dt of an oscillation, from the times at which S passes s0. Verlet's frequency is that of a sine."""
    d = s - s0
    k = np.flatnonzero(d[:-1] * d[1:] < 0)
    times = k + d[k] / (d[k] - d[k + 1])
    half_period = (times[-1] - times[0]) / (len(times) - 1)
    return 2 * np.sin(0.5 * np.pi / half_period)


class Frequencies(unittest.TestCase):
    def s0(self, system):
        return values_of(run(system + "fix b all coord/bias c_cv linear k 0\n" + PRINT + "run 0"))[0]

    def warned(self, script, ranks=1):
        found = warnings_of(run(script, ranks))
        if not found:
            return None
        self.assertEqual(len(found), 1, found)
        match = OMEGA.fullmatch(found[0])
        self.assertTrue(match, found[0])
        return float(match[1]), match[2], float(match[3]), float(match[4])

    def check(self, system, kind, factor=1.0, ranks=1, run_length=400, command="", steps=1):
        """k is chosen so that omega dt is near 0.6. The same S oscillates with this frequency in the run."""
        s0 = self.s0(system)
        bias = "fix b all coord/bias c_cv " + kind + "\n"
        phase, name, largest, k = self.warned(system + command + bias.format(k=1e6, s0=s0) + "run 0", ranks)
        self.assertEqual((name, k), ("k", 1e6))
        k = 1e6 * (0.6 / phase)**2
        phase, _, largest, _ = self.warned(system + command + bias.format(k=k, s0=s0) + "run 0", ranks)
        self.assertAlmostEqual(phase, 0.6, delta=4e-3)
        self.assertAlmostEqual(largest, k / 4, delta=0.01 * k)
        self.assertIsNone(self.warned(system + command + bias.format(k=0.99 * largest, s0=s0) + "run 0", ranks))
        self.assertIsNotNone(self.warned(system + command + bias.format(k=1.01 * largest, s0=s0) + "run 0", ranks))
        # The bias acts every 'steps' timesteps.
        s = values_of(run(system + command + bias.format(k=k, s0=s0) + PRINT + f"run {run_length}", ranks))[::steps]
        self.assertAlmostEqual(factor * measured(s, s0), phase, delta=0.01)

    def test_harmonic(self):
        for ranks in (1, 2):
            self.check(PAIR.format(**LJ), "harmonic k {k:.10g} s0 {s0:.10g}", ranks=ranks)

    def test_masses_of_atoms(self):
        self.check(PAIR.format(**{**LJ, "style": "sphere", "masses": "set atom 1 diameter 1 density 3\nset atom 2 diameter 1.5 density 2"}),
                   "harmonic k {k:.10g} s0 {s0:.10g}")

    def test_units(self):
        self.check(PAIR.format(**{**LJ, "units": "metal", "dt": 0.001}).replace("0.001 0 0", "0.05 0 0"),
                   "harmonic k {k:.10g} s0 {s0:.10g}")

    def test_stride(self):
        """Forces every 4 timesteps and 4 times as strong are those of one timestep of four times the length."""
        self.check(PAIR.format(**LJ), "harmonic k {k:.10g} s0 {s0:.10g} stride 4", run_length=1600, steps=4)

    def test_largest_k(self):
        """A moving restraint has the frequency of its largest k."""
        system = PAIR.format(**LJ)
        s0 = self.s0(system)
        phases = {self.warned(system + f"fix b all coord/bias c_cv {kind} s0 {s0:.10g}\nrun 0")[0] for kind in
                  ("harmonic k 1e6", "moving k 0 k/stop 1e6 steps 100", "moving k 1e6 k/stop 0 steps 100", "wall/upper k 5e5",
                   "wall/lower k 5e5")}
        self.assertEqual(len(phases), 1, phases)

    def test_hills(self):
        """A hill has V'' = h/sigma^2 at its center, apart from the stretch of 0.2 %."""
        system = PAIR.format(**LJ).replace("fix move", BATH.replace("four", "all") + "fix move")
        s0 = self.s0(system)
        phase, _, _, _ = self.warned(system + f"fix b all coord/bias c_cv harmonic k 1e6 s0 {s0:.10g}\nrun 0")
        found, name, largest, height = self.warned(system + metad(sigma=0.01, height=100, file=os.devnull) + "run 0")
        self.assertAlmostEqual(found, phase, delta=0.01 * phase)
        self.assertEqual((name, height), ("height", 100))
        self.assertAlmostEqual(largest, 100 * (0.3 / found)**2, delta=0.01 * largest)
        self.assertIsNone(self.warned(system + metad(sigma=0.01, height=0.99 * largest) + "run 0"))

    def test_once(self):
        """Once for a fix, and not if nothing moves."""
        system = PAIR.format(**LJ)
        bias = "fix b all coord/bias c_cv harmonic k 1e6 s0 0.5\n"
        self.assertEqual(len(warnings_of(run(system + bias + "run 0\nrun 0\nrun 1\n"))), 1)
        self.assertEqual(warnings_of(run(system + bias + "unfix move\nrun 1\nrun 1\n")), [])
        two = warnings_of(run(system + "fix b all coord/bias c_cv c_far harmonic k 1e6 1e-6 s0 0.5 0.5\nrun 0"))
        self.assertEqual(len(two), 1)
        self.assertIn("omega dt of c_cv ", two[0])

    def test_respa(self):
        """A bias of the inner level has its timestep."""
        if coordtest.KOKKOS:    # LAMMPS has no rRESPA there
            return
        system = PAIR.format(**LJ) + "run_style respa 2 4 bond 1 pair 2\nfix b all coord/bias c_cv harmonic k 1e6 s0 0.5\n"
        outer, inner = self.warned(system + "run 0"), self.warned(system + "fix_modify b respa 1\nrun 0")
        self.assertAlmostEqual(outer[0] / 4, inner[0], delta=0.01 * inner[0])


class Hills(unittest.TestCase):
    def check(self, script, *warnings, ranks=(1, 2)):
        for n in ranks:
            with self.subTest(script, ranks=n):
                output = run(script, n)
                found = warnings_of(output)
                self.assertEqual(len(found), len(warnings), found)
                for text, expected in zip(found, warnings):
                    self.assertRegex(text, "^Fix coord/bias b: " + expected + "$")

    def test_good_run(self):
        """No warning, and one summary for each run with hills."""
        good = SPRINGS.replace("0.025", "0.01") + BATH + metad(sigma=0.25, pace=150)
        output = run(good + "run 30000\nrun 10\nrun 1500\n")
        self.assertEqual(warnings_of(output), [])
        summaries = re.findall(r"^Fix coord/bias b: (\d+) hills since step 0, c_cv (\S+) to (\S+) with (\d+) crossings?(: not converged)?"
                               r", (\d+) independent values; the second half changed V by (\S+)$", output, re.MULTILINE)
        self.assertEqual([int(one[0]) for one in summaries], [200, 210])
        lo, hi, crossings, neff = (float(word) for word in np.array(summaries[0])[[1, 2, 3, 5]])
        self.assertTrue(0 < lo < 1 < hi < 4, summaries)
        self.assertEqual(summaries[0][4] != "", crossings < 10)
        self.assertTrue(1 <= neff <= 200)

    def test_summary_is_that_of_the_hills(self):
        """Range and crossings are those of the centers in the hills file. kT is that of temp."""
        path = os.path.abspath("SUMMARY")
        bias = metad(sigma=0.25, pace=150, file=path).strip() + " temp 2.0 biasfactor 5\n"
        output = run(SPRINGS.replace("0.025", "0.01") + BATH.replace("1.0 1.0 1.0", "2.0 2.0 1.0") + bias + "run 30000\n")
        s = np.loadtxt(path)[:, 1]
        lo, hi = s.min(), s.max()
        ends = [value < lo + 0.2 * (hi - lo) for value in s if not lo + 0.2 * (hi - lo) < value < hi - 0.2 * (hi - lo)]
        crossings = sum(a != b for a, b in zip(ends, ends[1:]))
        found = re.search(r"200 hills since step 0, c_cv (\S+) to (\S+) with (\d+) crossing.*changed V by (\S+) \((\S+) kT\)\n", output)
        self.assertTrue(found, output[-3000:])
        self.assertAlmostEqual(float(found[1]), lo, delta=1e-3)
        self.assertAlmostEqual(float(found[2]), hi, delta=1e-3)
        self.assertEqual(int(found[3]), crossings)
        self.assertAlmostEqual(float(found[5]), float(found[4]) / 2, delta=1e-3)

    def test_no_summary(self):
        """There is none without hills, and none of a few."""
        for script in (BATH + metad(pace=10) + "run 500", BATH + metad(pace=1000) + "run 500",
                       "fix b all coord/bias c_cv harmonic k 1 s0 1\nrun 500"):
            self.assertNotIn("hills since", run(SPRINGS + script))

    def test_thermostats(self):
        one = SPRINGS + "{}" + metad(pace=5) + "run 1\nrun 1\nrun 10\nrun 10"
        self.check(one.format(""), re.escape(HOT))
        self.check(one.format("unfix move\n"))
        for fixes in (BATH, "unfix move\nfix move four nvt temp 1 1 0.5\n", "fix bath four temp/berendsen 1 1 1\n",
                      "fix bath four temp/rescale 1 1 1 1 0.5\n", "unfix move\nfix move four move linear 1e-4 0 0\n",
                      "variable T atom 1.0\nfix bath four langevin v_T 1 1 4711\n"):
            self.check(one.format(fixes), ranks=(1,))
        self.check(SPRINGS + "fix b all coord/bias c_cv harmonic k 1 s0 1\nrun 10")

    def test_jumps(self):
        self.check(SPRINGS + BATH + metad(sigma=0.02, pace=20) + "run 500\nrun 500",
                   r"c_cv changed by 0\.0\d+ between two evaluations of the bias, more than a third of sigma 0\.02 - use a larger "
                   "sigma, a smaller timestep or stride, or a smoother variable")
        # A stride is a longer step.
        self.check(SPRINGS + BATH + metad(sigma=0.3, pace=20) + "run 1000", ranks=(1,))
        self.check(SPRINGS + BATH + metad(sigma=0.3, pace=20).strip() + " stride 20\nrun 1000",
                   r"c_cv changed by \d\.\d+ between two evaluations of the bias, more than a third of sigma 0\.3 - use .*",
                   ranks=(1,))

    def test_sigma(self):
        fluctuation = r" the fluctuation of c_cv, 0\.[456]\d*, within 5 hills - use about half of the fluctuation, 0\.[23]\d*"
        fluctuation = fluctuation.replace(", within", " within")
        self.check(SPRINGS + BATH + metad(sigma=0.9, pace=200) + "run 40000", r"sigma 0\.9 of c_cv is above" + fluctuation, ranks=(1,))
        if coordtest.kokkos_lacks("sigma below a tenth of the fluctuation", "200,000 timesteps take a minute there"):
            return
        self.check(SPRINGS.replace("0.025", "0.001") + BATH + metad(sigma=0.01, pace=2000).strip() + "\nrun 200000",
                   r"sigma 0\.01 of c_cv is below a tenth of" + fluctuation, ranks=(1,))

    def test_pace(self):
        self.check(SPRINGS + BATH + metad(sigma=0.3, pace=20) + "run 2000",
                   r"the autocorrelation of c_cv over one pace of 20 steps is 0\.[89]\d*, more than 0\.8: hills pile up before c_cv can "
                   r"leave - use a larger pace, (such as 40|at least [4-7]\d)", ranks=(1,))

    def test_pace_of_a_chain_of_runs(self):
        """A run that continues does not repeat the warning, and says which hills its summary is about."""
        path = os.path.abspath("CHAIN")
        system, bias = SPRINGS.split("group center")
        fixes = "group center" + bias.replace("velocity", "#") + BATH + metad(sigma=0.3, pace=20, file=path)
        pace = "autocorrelation of c_cv over one pace of 20 steps"
        first = run(system + fixes + "run 3000\nwrite_restart restart.chain\n")
        self.assertEqual(first.count(pace), 1, first)
        self.assertRegex(first, r"Fix coord/bias b: 150 hills since step 0, c_cv ")
        more = "read_restart restart.chain\n" + fixes.replace("mass 1 1.0\n", "") + "run 3000\n"
        again = run("units lj\natom_modify map array\n" + more)
        self.assertEqual(again.count(pace), 0, again)
        self.assertIn(f"Fix coord/bias b: 150 hills since the restart at step 3000, of 300 in {path}, c_cv ", again)
        self.assertEqual(run("units lj\natom_modify map array\n" + more.replace("sigma 0.3", "sigma 0.31")).count(pace), 1)

    def test_growth_of_the_grid(self):
        """One line at the end of a run in which it grows."""
        output = run(SPRINGS + BATH + metad(sigma=0.25, pace=150).strip() + " grid 1 1.5 bins 10\nrun 1500\nrun 10\n")
        found = re.findall(r"^Fix coord/bias b: the grid has grown: c_cv from 1 to 1\.5 is now from (\S+) to (\S+) in (\d+) bins$", output,
                           re.MULTILINE)
        self.assertEqual(output.count("has grown"), 1, output)
        lo, hi, bins = map(float, found[0])
        self.assertTrue(lo < 1 and hi > 1.5)
        self.assertAlmostEqual(hi - lo, 0.05 * bins, delta=1e-5)

    def test_walls(self):
        """A wall of another fix on the same variable, before or after the hills, and the interval of the hills."""
        wall = "fix w all coord/bias c_cv wall/upper k 0.5 s0 1.0\n"
        text = (r"\d\d of [12]00 hills are inside a wall or beyond the interval, more than a fifth - use a wall with a larger k, or "
                "move the wall or the interval outwards")
        begin, hills = SPRINGS + "compute other center coord/gpu group2 four switch gaussian 1.0 precision double\n" + BATH, metad(pace=200)
        for more in (wall + hills, hills + wall, hills.strip() + " interval 0.0 1.0\n"):
            self.check(begin + more + "run 20000\nrun 20000", text, ranks=(1,))
            if coordtest.kokkos_lacks("other walls", "60,000 timesteps each take a minute there"):
                return
        for more in (wall.replace("c_cv", "c_other") + hills, wall.replace("s0 1.0", "s0 3.0") + hills,
                     hills + wall + "unfix w\n"):
            self.check(begin + more + "run 20000", ranks=(1,))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main()
