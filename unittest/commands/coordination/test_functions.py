"""Functions of coordination numbers: the same for any number of ranks as brute force finds, in all
engines, while atoms move; in biased runs; and where atoms have no partners. test_derivatives.py
compares derivatives with differences."""

import math
import unittest

import numpy as np

import coordtest
import errortest    # also whole messages with older releases
import dumptest
import test_parallel
import test_run_styles
from brutetest import Box, Switch, brute_force
from test_parallel import GROUPS, N, ORTHOGONAL, PAIRS, TILTED

erf = np.vectorize(math.erf)


def rational(s, r0, n, m):
    return (1 - (s / r0)**n) / (1 - (s / r0)**m)


def moment(k):
    return lambda s: ((s - s.mean())**k).mean()


# Words, and S from the coordination numbers of the group. Sums: f of each atom.
SUMS = {
    "sum": lambda s: s,
    "more_than rational 7 nn 6 mm 12": lambda s: 1 - rational(s, 7, 6, 12),
    "more_than rational 1 nn 2 mm 8": lambda s: 1 - rational(s, 1, 2, 8),
    "less_than exp 2 d0 1": lambda s: np.where(s <= 1, 1, np.exp(-(s - 1) / 2)),
    "between 4 6.5 smear 0.3": lambda s: 0.5 * (erf((6.5 - s) / (2**0.5 * 0.75)) - erf((4 - s) / (2**0.5 * 0.75))),
    "custom s^2/(1+s)": lambda s: s**2 / (1 + s),
}
OTHERS = {
    "moment 2": moment(2), "moment 3": moment(3),
    "min 0.8": lambda s: 0.8 / np.log(np.exp(0.8 / s).sum()),
    "max 0.5": lambda s: 0.5 * np.log(np.exp(s / 0.5).sum()),
    "alt_min 1.5": lambda s: -np.log(np.exp(-1.5 * s).sum()) / 1.5,
}
# ID: compute of test_parallel, words of the function, norm
CASES = {
    "cells": ("cells", "more_than rational 7 nn 6 mm 12", "sum"), "overlap": ("overlap", "between 4 6.5 smear 0.3", "mean"),
    "two": ("two", "custom s^2/(1+s)", "mean"), "nearest": ("nearest", "less_than exp 2 d0 1", "sum"),
    "images": ("images", "moment 3", None), "pairs": ("pairs", "custom s^2/(1+s)", "mean"),
    "file": ("file", "more_than rational 1 nn 2 mm 8", "mean"), "least": ("overlap", "min 0.8", None),
    "most": ("nearest", "max 0.5", None), "alt": ("cells", "alt_min 1.5", None), "second": ("two", "moment 2", None),
    "sum": ("cells", "sum", "sum"),
}


def function_computes():
    """Return the computes in the form of test_parallel."""
    computes = {}
    for ident, (base, words, norm) in CASES.items():
        group, keywords, switch, arguments = test_parallel.COMPUTES[base]
        keywords = keywords.replace(" norm mean", "") + (f" norm {norm}" if norm else "") + f" function {words}"
        computes[ident] = (group, keywords, switch, arguments)
    return computes


def first_atoms(base):
    """Return the atoms whose coordination numbers count."""
    if base == "file":
        return np.unique(PAIRS[:, 0])
    return {"pairs": GROUPS["left"]}.get(base, test_parallel.COMPUTES[base][3].get("a"))


def coordination_numbers(frame, base):
    """Return s_i of the atoms whose coordination numbers count, by brute force: within one group
    this is column 1. Between two groups, column 1 of an atom in both groups also contains its sum
    as a partner."""
    _, _, switch, arguments = test_parallel.COMPUTES[base]
    image = arguments.get("image", "all")
    if arguments.get("pairs") is not None:
        s = np.zeros(N)
        for i, j in arguments["pairs"]:
            s[i] += brute_force(frame.box, frame.x(), switch, a=None, pairs=np.array([[i, j]]), image=image).value
        return s[first_atoms(base)]
    a, b = arguments["a"], arguments.get("b")
    if b is None:
        return brute_force(frame.box, frame.x(), switch, a=a, image=image).atoms[a, 0]
    return np.array([brute_force(frame.box, frame.x(), switch, a=np.array([i]), b=b, image=image).value for i in a])


class Ranks(unittest.TestCase):
    def run_on(self, box, ranks, seed, first=(), steps=12, precision="double"):
        data = test_parallel.write_system(box, seed)
        script = test_parallel.script(box, data, first, computes=function_computes(), precision=precision,
                                      run=f"run {steps}")
        run = coordtest.run_lammps(script, ranks)
        return run.tables[0], dumptest.read_dump(run.path("dump"))

    def numbers(self, table, frames, ident, row):
        array = np.column_stack([frames[row].columns[f"c_{ident}[{k}]"] for k in range(1, 6)])
        return (table[f"c_{ident}"][row], np.array([table[f"c_{ident}[{k}]"][row] for k in range(1, 7)]), array)

    def check_values(self, table, frames, rows, tolerance):
        for row in rows:
            for ident, (base, words, norm) in CASES.items():
                value, _, array = self.numbers(table, frames, ident, row)
                atoms, s = first_atoms(base), coordination_numbers(frames[row], base)
                what = f"{ident}, step {frames[row].step}"
                self.assertLessEqual(coordtest.error_of(array[atoms, 0], s), tolerance, what)
                others = np.setdiff1d(np.arange(N), atoms)
                self.assertEqual(np.abs(array[others][:, [0, 4]]).max(initial=0), 0, what)
                if words in SUMS:
                    f = SUMS[words](s)
                    self.assertLessEqual(coordtest.error_of(array[atoms, 4], f), tolerance, what)
                    expected = f.mean() if norm == "mean" else f.sum()
                else:
                    expected = OTHERS[words](s)
                self.assertGreater(abs(expected), 1e-4, what)
                self.assertLessEqual(abs(value / expected - 1), tolerance, what)

    def test_values(self):
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            table, frames = self.run_on(box, 1, seed + 1)
            self.check_values(table, frames, (0, 7, 12), 1e-10)

    def test_mixed_precision(self):
        """Also compares dS/dx and W with those in double precision."""
        table, frames = self.run_on(TILTED, 2, 5, precision="mixed")
        self.check_values(table, frames, (0, 12), coordtest.FLOAT)
        expected = self.run_on(TILTED, 2, 5)
        for ident in CASES:
            found = self.numbers(table, frames, ident, 0)
            for a, b in zip(found[1:], self.numbers(*expected, ident, 0)[1:]):
                for k in range(b.shape[-1]):
                    self.assertLessEqual(coordtest.error_of(a[..., k], b[..., k]), 10 * coordtest.FLOAT, (ident, k))

    def test_ranks(self):
        """dS/dx and W of atoms whose partners belong to other ranks have the weights of these."""
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            expected = self.run_on(box, 1, seed + 1)
            for ranks, first in ((2, ()), (4, ()), (2, ["newton off"]), (4, ["newton off"])):
                found = self.run_on(box, ranks, seed + 1, first)
                for row in (0, 6, 12):
                    for ident in CASES:
                        for a, b, name in zip(self.numbers(*found, ident, row), self.numbers(*expected, ident, row),
                                              ("S", "W", "columns")):
                            # Each run moves its atoms by sums in its own order.
                            error = max(coordtest.error_of(a[..., k], b[..., k])
                                        for k in range(5)) if name == "columns" else coordtest.error_of(a, b)
                            self.assertLessEqual(error, 1e-9, f"{ident}, {name}, {ranks} ranks, {first}, row {row}")

    def test_momentum_and_check(self):
        """The sum of forces is 0. Keyword check compares with the reference on all ranks."""
        data = test_parallel.write_system(ORTHOGONAL, 3)
        computes = {ident: (group, keywords + " check 1 1e-10", *more)
                    for ident, (group, keywords, *more) in function_computes().items()}
        run = coordtest.run_lammps(test_parallel.script(ORTHOGONAL, data, computes=computes, run="run 2"), 2)
        for frame in dumptest.read_dump(run.path("dump")):
            for ident in CASES:
                gradients = np.column_stack([frame.columns[f"c_{ident}[{k}]"] for k in (2, 3, 4)])
                self.assertGreater(np.abs(gradients).max(), 1e-4, ident)
                self.assertLess(np.abs(gradients.sum(axis=0)).max(), 1e-12 * np.abs(gradients).sum(), ident)


class Alone(unittest.TestCase):
    def start(self, x, tails):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        box = Box((8.0, 8.0, 8.0), periodic=(False, False, False))
        coordtest.make_system(lmp, box, np.array(x), ghosts=2.0)
        for name, tail in tails.items():
            lmp.command(f"compute {name} all coord/gpu switch cubic d0 0.5 dmax 1.5 precision double function {tail}")
        lmp.command("run 0")
        return lmp

    def test_atoms_without_partners(self):
        """s_i = 0 does not give NaN: f is f(0), and the derivatives of S are 0."""
        tails = {"more": "more_than rational 2", "less": "less_than rational 2", "least": "min 1.0", "most": "max 1.0",
                 "alt": "alt_min 1.0", "second": "moment 2", "between": "between -0.5 0.5", "square": "custom s^2"}
        lmp = self.start([[1, 1, 1], [4, 4, 4], [7, 7, 7]], tails)
        values = {"more": 0, "less": 3, "least": 0, "most": math.log(3), "alt": -math.log(3), "second": 0,
                  "between": 3 * math.erf(0.5 / 2**0.5 / 0.5), "square": 0}
        for name, value in values.items():
            self.assertAlmostEqual(coordtest.scalar_of(lmp, name), value, 14, name)
            self.assertEqual(np.abs(coordtest.atoms_of(lmp, name)[:, 1:4]).max(), 0, name)

    def test_histogram(self):
        """Elements 7 and higher of the vector are the values of function between for parts of the
        interval, and add up to that of the whole interval; a bias of it is an error."""
        x = np.random.default_rng(6).uniform(1, 5, (40, 3))
        tails = {"bins": "histogram 0.5 4.5 8 smear 0.4", "mean": "histogram 0.5 4.5 8 smear 0.4 norm mean"}
        tails.update({f"part{k}": f"between {0.5 + 0.5 * k} {1 + 0.5 * k} smear 0.4" for k in range(8)})
        lmp = self.start(x, tails)
        found, mean = (np.ctypeslib.as_array(lmp.extract_compute(name, 0, 1), (14,)) for name in ("bins", "mean"))
        expected = [coordtest.scalar_of(lmp, f"part{k}") for k in range(8)]
        self.assertGreater(min(expected), 0.01)
        np.testing.assert_allclose(found[6:], expected, rtol=1e-13)
        np.testing.assert_allclose(mean[6:], found[6:] / 40, rtol=1e-13)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "bins"), coordtest.atoms_of(lmp, "bins")[:, 0].sum(), 11)
        for command in ("fix b all coord/bias c_bins harmonic k 1 s0 0", "compute d all coord/custom a*2 a c_bins"):
            with self.assertRaisesRegex(Exception, "cannot take compute bins: its function histogram is for output only - "
                                        "bias a function such as between"):
                lmp.command(command)

    def test_torque(self):
        """In an open box the torque of the forces is 0."""
        x = np.random.default_rng(4).uniform(2, 5, (20, 3))
        tails = {"more": "more_than rational 3", "least": "min 0.5", "third": "moment 3"}
        lmp = self.start(x, tails)
        x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
        for name in tails:
            gradients = coordtest.atoms_of(lmp, name)[:, 1:4]
            self.assertGreater(np.abs(gradients).max(), 1e-3, name)
            self.assertLess(np.abs(np.cross(x, gradients).sum(axis=0)).max(), 1e-12, name)

    def test_sum_is_twice_the_variable_without_a_function(self):
        x = np.random.default_rng(5).uniform(1, 5, (30, 3))
        lmp = self.start(x, {"twice": "sum"})
        lmp.command("compute once all coord/gpu switch cubic d0 0.5 dmax 1.5 precision double")
        lmp.command("run 0")
        once, twice = (coordtest.atoms_of(lmp, name) for name in ("once", "twice"))
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "twice"), 2 * coordtest.scalar_of(lmp, "once"), 12)
        np.testing.assert_allclose(twice[:, 1:4], 2 * once[:, 1:4], atol=1e-13)
        np.testing.assert_array_equal(twice[:, 4], twice[:, 0])
        np.testing.assert_allclose(coordtest.virial_of(lmp, "twice"), 2 * coordtest.virial_of(lmp, "once"), atol=1e-12)


class Biased(unittest.TestCase):
    MORE = "all coord/gpu switch gaussian 0.5 d0 0.3 dmax 2.6 precision double function more_than rational 4"
    LEAST = ("left coord/gpu group2 late switch gaussian 0.5 dmax 2.6 precision double engine allpairs "
             "function min 2.0")

    def start(self):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        box = Box((6.8, 6.1, 5.4), tilt=(1.0, -0.9, 0.7))
        coordtest.make_system(lmp, box, coordtest.random_positions(np.random.default_rng(8), box, 80, closest=0.7),
                              ghosts=3.0)
        coordtest.define_group(lmp, "left", np.arange(40))
        coordtest.define_group(lmp, "late", np.arange(20, 80))
        for line in (f"compute more {self.MORE}", f"compute least {self.LEAST}",
                     "compute both all coord/custom a*b^2 a c_more b c_least"):
            lmp.command(line)
        lmp.command("run 0")
        return lmp

    def test_forces(self):
        """The force of a harmonic bias is -k (S - s0) dS/dx, and its virial k (S - s0) W, of functions
        and of an expression of them."""
        for name in "more", "least", "both":
            lmp = self.start()
            s = coordtest.scalar_of(lmp, name)
            pressures = {}
            lmp.command(f"fix b all coord/bias c_{name} harmonic k 3.0 s0 {s - 0.4!r}")
            for virial in "yes", "no":
                lmp.command(f"fix_modify b virial {virial}")
                lmp.command("run 0")
                pressures[virial] = lmp.get_thermo("press") * lmp.get_thermo("vol") * 3
            self.assertAlmostEqual(lmp.extract_fix("b", 0, 0), 0.5 * 3.0 * 0.4**2, 11)
            gradients = coordtest.atoms_of(lmp, name)
            gradients = gradients if name == "both" else gradients[:, 1:4]
            self.assertGreater(np.abs(gradients).max(), 1e-3, name)
            self.assertLess(coordtest.error_of(coordtest.forces_of(lmp), -3.0 * 0.4 * gradients), 1e-10, name)
            w = coordtest.virial_of(lmp, name)[:3].sum()
            self.assertAlmostEqual((pressures["yes"] - pressures["no"]) / (3.0 * 0.4 * w), 1.0, 8, name)

    def test_virial_of_atoms(self):
        """The virials of atoms add up to that of the bias, also if derivatives are requested between two
        biases of the same variable."""
        for name in "more", "least":
            lmp = self.start()
            s = coordtest.scalar_of(lmp, name)
            for line in (f"fix b1 all coord/bias c_{name} linear k 2.0", f"variable none atom 0.0*c_{name}[2]",
                         "fix none all addforce v_none 0 0", f"fix b2 all coord/bias c_{name} harmonic k 3.0 s0 {s - 0.4!r}",
                         "compute stress all stress/atom NULL fix", "compute sums all reduce sum c_stress[*]",
                         "thermo_style custom step c_sums[1] press", "run 0"):
                lmp.command(line)
            found = -np.ctypeslib.as_array(lmp.extract_compute("sums", 0, 1), (6,))
            w = coordtest.virial_of(lmp, name)
            self.assertGreater(np.abs(w).max(), 1e-3)
            self.assertLess(coordtest.error_of(found, (2.0 + 3.0 * 0.4) * w), 1e-10, name)

    def test_energy_is_conserved(self):
        """Errors of the integrator fall with the square of the timestep."""
        drifts = []
        for steps, timestep in ((100, 0.002), (200, 0.001)):
            lmp = self.start()
            s = coordtest.scalar_of(lmp, "both")
            for line in ("velocity all create 1.0 17", f"timestep {timestep}", "fix n all nve",
                         f"fix b all coord/bias c_both harmonic k 400.0 s0 {s - 0.5!r}", "fix_modify b energy yes",
                         "neigh_modify every 1 delay 0 check yes"):
                lmp.command(line)
            energies = []
            for _ in range(5):
                lmp.command(f"run {steps // 5}")
                energies.append(lmp.get_thermo("etotal"))
            drifts.append(np.abs(np.array(energies) - energies[0]).max())
        print(f"changes of the energy: {drifts}")
        self.assertGreater(drifts[0], 1e-7)
        self.assertLess(drifts[1], drifts[0] / 3)


class Runs(unittest.TestCase):
    """Biased runs of several kinds on two ranks: compares S, s_i and f of each step with brute force for the
    dumped positions."""
    WORDS = "more_than rational 7 nn 6 mm 12"
    DUMP = ["dump d all custom 1 dump id x y z c_f[*]", "dump_modify d format float %.17g sort id"]
    BIASED = [f"compute f all coord/gpu {test_run_styles.SWITCH.keywords} precision double function {WORDS}",
              "fix b all coord/bias c_f harmonic k 0.5 s0 20", "thermo_style custom step c_f",
              "thermo_modify format float %.17g norm no", "undump d", *DUMP, "fix move all nve", "timestep 0.004"]

    def run_with(self, commands):
        return test_run_styles.soft_liquid(self.BIASED + commands, 2, computes={})

    def compare(self, run, table, steps):
        rows = run.tables[table]
        frames = {frame.step: frame for frame in dumptest.read_dump(run.path("dump"))}
        self.assertGreaterEqual(len(rows["Step"]), steps)
        for step, value in zip(rows["Step"], rows["c_f"]):
            frame = frames[int(step)]
            s = brute_force(frame.box, frame.x(), test_run_styles.SWITCH, a=test_run_styles.ALL).atoms[:, 0]
            f = SUMS[self.WORDS](s)
            self.assertLess(coordtest.error_of(frame.columns["c_f[1]"], s), 1e-11, step)
            self.assertLess(coordtest.error_of(frame.columns["c_f[5]"], f), 1e-11, step)
            self.assertAlmostEqual(value / f.sum(), 1, 11, step)
        self.assertGreater(np.ptp(rows["c_f"]), 1e-6)

    def test_respa(self):
        self.compare(self.run_with(["run_style respa 2 3 pair 1", "run 8"]), 0, 9)

    def test_minimization(self):
        self.compare(self.run_with(["min_style cg", "minimize 0 1e-4 10 200"]), 0, 8)

    def test_rerun(self):
        run = self.run_with(["dump r all custom 2 trajectory id type x y z", "dump_modify r format float %.17g", "run 8",
                             "undump r", "undump d", *self.DUMP, "rerun trajectory dump x y z box yes"])
        self.compare(run, 1, 5)

    def test_restart(self):
        """A run continued from a restart file equals an uninterrupted run."""
        again = ["read_restart {}/restart", "comm_modify cutoff 4.3", "neighbor 0.3 bin",
                 "neigh_modify every 1 delay 0 check yes", *(line for line in self.BIASED if line != "undump d"), "thermo 1"]
        run = self.run_with(["run 6", "write_restart restart", "run 8"])
        words = [line.format(run.path("")) for line in again]
        last = coordtest.run_lammps(words + ["run 8"], 2).tables[0]["c_f"][-1]
        self.assertAlmostEqual(last / run.tables[1]["c_f"][-1], 1, delta=coordtest.rounded(1e-9))

    def test_group_that_changes(self):
        """The mean of f over a dynamic group that follows a region."""
        run = test_run_styles.soft_liquid(
            ["undump d", "region slab block 1.5 4.5 INF INF INF INF", "group slab dynamic all region slab every 1",
             f"compute f slab coord/gpu {test_run_styles.SWITCH.keywords} precision double function {self.WORDS} norm mean",
             "variable in atom gmask(slab)", "thermo_style custom step c_f", "thermo_modify format float %.17g norm no",
             "dump d all custom 1 dump id x y z v_in c_f[*]", "dump_modify d format float %.17g sort id",
             "fix move all nve", "timestep 0.01", "run 12"], 2, computes={})
        sizes = set()
        for value, frame in zip(run.tables[0]["c_f"], dumptest.read_dump(run.path("dump"))):
            slab = np.flatnonzero(frame["v_in"])
            sizes.add(len(slab))
            s = brute_force(frame.box, frame.x(), test_run_styles.SWITCH, a=slab).atoms[slab, 0]
            self.assertAlmostEqual(value / SUMS[self.WORDS](s).mean(), 1, 11)
        self.assertGreater(len(sizes), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
