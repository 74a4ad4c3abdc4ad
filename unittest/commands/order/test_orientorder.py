"""Order parameters: values of lattices and those of LAMMPS, derivatives against differences, the same
numbers for any number of ranks and threads, and output."""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import math
import re
import unittest

import numpy as np
from lammps import lammps

import coordtest
from brutetest import Box
from ordertest import check_differences, check_momentum, setup, trajectory

ORTHOGONAL = Box((4.4, 4.9, 5.3))
TILTED = Box((4.6, 4.9, 5.3), tilt=(1.2, -0.9, 0.8))
SWITCH = "switch cubic d0 0.9 dmax 1.8"
GHOSTS = 2.2
EXACT = coordtest.rounded(1e-10)

# ID: group, arguments
COMPUTES = {
    "local": ("all", "l 6 function sum norm mean"),
    "odd": ("all", "l 3 function custom s^2"),
    "average": ("all", "l 6 order average function more_than rational 0.3 nn 6 mm 12"),
    "odd_average": ("all", "l 3 order average"),
    "dot": ("all", "l 4 order dot function more_than rational 0.3 nn 6 mm 12"),
    "odd_dot": ("all", "l 5 order dot function less_than exp 0.5"),
    "connections": ("all", "l 6 order connections rational 0.3 nn 6 mm 12 function between 1 4 smear 0.3"),
    "global": ("all", "l 6 order global"),
    "two": ("left", "l 6 group2 right function moment 2"),
    "two_global": ("left", "l 4 group2 late order global"),
    "least": ("late", "l 6 function min 0.3"),
    "most": ("late", "l 2 order dot function max 0.2"),
}
GROUPS = {"left": range(0, 40), "right": range(40, 80), "late": range(20, 80)}


def positions(box, seed):
    return coordtest.random_positions(np.random.default_rng(seed), box, 80, closest=0.7)


def commands(computes, more=""):
    return [f"compute {name} {group} coord/orientorder {words} {SWITCH} precision double {more}"
            for name, (group, words) in computes.items()]


def start(test, box, x, computes=COMPUTES, more=""):
    lmp = coordtest.start()
    test.addCleanup(lmp.close)
    coordtest.make_system(lmp, box, x, ghosts=GHOSTS)
    for name, members in GROUPS.items():
        coordtest.define_group(lmp, name, [k for k in members if k < len(x)])
    for line in commands(computes, more):
        lmp.command(line)
    lmp.command("run 0")
    return lmp


class Lattices(unittest.TestCase):
    """q4 and q6 of the nearest shell; of bcc also of two shells."""

    VALUES = {
        "fcc 1.0": (0.8, 0.190940654, 0.574524260),
        "hcp 1.0": (1.2, 0.097222222, 0.484761685),
        "bcc 1.0": (0.92, 0.509175077, 0.628539361),
        "bcc 1.0 two shells": (1.2, 0.036369648, 0.510688231),
        "sc 1.0": (1.2, 0.763762616, 0.353553391),
    }

    def start(self, lattice, dmax):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        lattice = re.sub(" two shells", "", lattice)
        for line in ("units metal", f"lattice {lattice}", "region box block 0 4 0 4 0 4", "create_box 1 box",
                     "create_atoms 1 box", "mass * 1.0", "pair_style zero 1.5", "pair_coeff * *", "neighbor 0.3 bin"):
            lmp.command(line)
        return lmp, f"switch cubic d0 {dmax - 0.02!r} dmax {dmax!r} precision double"

    def test_values(self):
        for lattice, (dmax, *values) in self.VALUES.items():
            lmp, switch = self.start(lattice, dmax)
            orders = {"local": "", "average": "order average", "whole": "order global"}
            for l in (4, 6):
                for name, words in orders.items():
                    lmp.command(f"compute {name}{l} all coord/orientorder l {l} {words} {switch}")
            lmp.command(f"compute dot all coord/orientorder order dot {switch}")
            lmp.command(f"compute bonds all coord/orientorder order connections rational 0.5 nn 12 mm 24 {switch} norm mean")
            lmp.command("run 0")
            for l, value in zip((4, 6), values):
                for name in orders:
                    q = coordtest.atoms_of(lmp, f"{name}{l}")
                    np.testing.assert_allclose(q[:, 0], value, atol=coordtest.rounded(5e-9), err_msg=f"{lattice} {name} {l}")
                    np.testing.assert_array_equal(q[:, 4], q[:, 0])
                    self.assertLess(np.abs(q[:, 1:4]).max(), coordtest.rounded(1e-12), (lattice, name, l))
                self.assertAlmostEqual(coordtest.scalar_of(lmp, f"whole{l}"), value, delta=coordtest.rounded(5e-9))
                self.assertAlmostEqual(coordtest.scalar_of(lmp, f"local{l}") / (lmp.get_natoms() * value), 1,
                                       delta=coordtest.rounded(1e-7))
            np.testing.assert_allclose(coordtest.atoms_of(lmp, "dot")[:, 0], 1, rtol=EXACT, err_msg=lattice)
            partners = {"fcc": 12, "hcp": 12, "sc": 6}.get(lattice[:3].strip(), 14 if "two" in lattice else 8)
            self.assertAlmostEqual(coordtest.scalar_of(lmp, "bonds"), partners * (1 - 1 / (1 + 2**12)), delta=partners * EXACT)

    def test_lammps(self):
        """compute orientorder/atom of LAMMPS has a sharp cutoff, between two shells here."""
        for lattice, (dmax, *_) in self.VALUES.items():
            lmp, switch = self.start(lattice, dmax)
            lmp.command("displace_atoms all random 0.01 0.01 0.01 4711")
            degrees = range(2, 13)
            lmp.command(f"compute peer all orientorder/atom cutoff {dmax - 0.02!r} nnn NULL degrees 11 "
                        + " ".join(map(str, degrees)) + " wl/hat yes")
            for l in degrees:
                lmp.command(f"compute q{l} all coord/orientorder l {l} {switch} wl/hat yes")
            lmp.command("run 0")
            expected = coordtest.atoms_of(lmp, "peer")
            for l in degrees:
                found = coordtest.atoms_of(lmp, f"q{l}")
                self.assertEqual(found.shape[1], 6)
                self.assertLess(np.abs(found[:, 0] - expected[:, l - 2]).max(), EXACT, f"{lattice} q{l}")
                # w of odd l is 0, since its 3j symbols change sign with two of their m. LAMMPS has other numbers there.
                w = expected[:, len(degrees) + l - 2] if l % 2 == 0 else 0.0
                self.assertLess(np.abs(found[:, 5] - w).max(), EXACT, f"{lattice} w{l}")


    # Hexagonal ice: hcp with a second atom at 3/8 c above each.
    HEXAGONAL = ("custom 1.0 a1 1 0 0 a2 0 1.7320508075688772 0 a3 0 0 1.632993161855452 "
                 + " ".join(f"basis {x!r} {y!r} {z + up!r}" for up in (0, 0.375) for x, y, z in (
                     (0, 0, 0), (0.5, 0.5, 0), (0.5, 5 / 6, 0.5), (0, 1 / 3, 0.5))))

    def test_ice(self):
        """Products are -1 of staggered and -1/9 of eclipsed bonds, which are one of four in hexagonal ice."""
        for lattice, distance, product, counted in (("diamond 1.0", math.sqrt(3) / 4, -1, 1.0),
                                                    (self.HEXAGONAL, 0.375 * math.sqrt(8 / 3), -7 / 9, 0.976)):
            lmp, _ = self.start(lattice, 1.2)
            switch = f"switch cubic d0 {1.16 * distance!r} dmax {1.31 * distance!r} precision double"
            lmp.command(f"compute bonds all coord/gpu {switch} norm mean")
            lmp.command(f"compute dot all coord/orientorder l 3 order dot {switch} function between -1.5 -0.6 smear 0.1 norm mean")
            lmp.command("run 0")
            self.assertAlmostEqual(2 * coordtest.scalar_of(lmp, "bonds"), 4, delta=4 * EXACT)    # it counts pairs once
            np.testing.assert_allclose(coordtest.atoms_of(lmp, "dot")[:, 0], product, atol=EXACT, err_msg=lattice)
            self.assertAlmostEqual(coordtest.scalar_of(lmp, "dot"), counted, 3, lattice)

    def test_norms_that_round_to_0(self):
        """q of odd l is 0 at inversion centers except for rounding. It has no direction and no derivatives."""
        orders = {"local": "", "average": "order average", "dot": "order dot", "bonds": "order connections rational 0.5",
                  "two": "group2 all order global"}
        for lattice, dmax in (("fcc 1.0", 0.8), ("sc 1.0", 1.2), ("bcc 1.0", 1.2)):
            lmp, switch = self.start(lattice, dmax)
            computes = {f"{name}{l}{precision}": (name, precision) for name in orders for l in (3, 5)
                        for precision in ("double", "mixed")}
            for ident, (name, precision) in computes.items():
                words = switch.replace("double", precision) + (" check 1 1e-9" if precision == "double" else "")
                l = ident[len(name)]
                lmp.command(f"compute {ident} all coord/orientorder l {l} {orders[name]} {words}")
            lmp.command("run 0")
            for ident, (name, precision) in computes.items():
                array = coordtest.atoms_of(lmp, ident)
                floor = 0 if name in ("dot", "bonds") else 1e-12 if precision == "double" else 1e-6
                self.assertLessEqual(np.abs(array[:, [0, 4]]).max(), floor, f"{lattice} {ident}")
                self.assertEqual(np.abs(array[:, 1:4]).max(), 0, f"{lattice} {ident}")
                self.assertEqual(np.abs(coordtest.virial_of(lmp, ident)).max(), 0, f"{lattice} {ident}")


class Derivatives(unittest.TestCase):
    # The second derivative of cubic jumps at d0 and dmax: a longer step counts more of these jumps.
    STEP = 2e-5

    def test_differences(self):
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            lmp = start(self, box, positions(box, seed))
            if not box.tilted:
                lmp.command("change_box all triclinic")
                lmp.command("run 0")
            check_differences(self, lmp, box, COMPUTES, self.STEP, 1e-4)

    def test_momentum(self):
        for box in ORTHOGONAL, TILTED:
            lmp = start(self, box, positions(box, 5))
            check_momentum(self, lmp, COMPUTES)

    def test_torque_in_an_open_box(self):
        box = Box((5.0, 5.0, 5.0), periodic=(False, False, False))
        lmp = start(self, box, positions(box, 6))
        x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
        for name in COMPUTES:
            gradients = coordtest.atoms_of(lmp, name)[:, 1:4]
            torque = np.abs(np.cross(x, gradients).sum(axis=0)).max()
            self.assertLess(torque, coordtest.rounded(1e-11) * max(1, np.abs(gradients).max()), name)


class Ranks(unittest.TestCase):
    """Ghost atoms have the numbers of their owners, also with odd l, where q of an image of a pair has
    the opposite sign."""

    def run_on(self, box, ranks, newton="on", computes=COMPUTES, steps=6, more="", threads=1, first=()):
        lines = [*first, *setup(box, positions(box, 11), GROUPS, GHOSTS, newton), *commands(computes, more)]
        run, frames = trajectory(lines, computes, steps, ranks, threads)
        message = re.search(r"(\d+) threads? per rank", run.text)    # a GPU does not say
        self.threads = int(message.group(1)) if message else None
        return run.tables[0], frames

    def test_ranks_and_newton(self):
        for box in ORTHOGONAL, TILTED:
            expected = self.run_on(box, 1)
            for ranks, newton in ((1, "off"), (2, "on"), (2, "off"), (4, "on"), (4, "off")):
                found = self.run_on(box, ranks, newton)
                for row in (0, 6):
                    # Later steps are at positions that each run adds up in its own order.
                    limit = coordtest.rounded(1e-12 if row == 0 else 1e-9)
                    for name in COMPUTES:
                        what = f"{name}, {ranks} ranks, newton {newton}, step {row}, tilted {box.tilted}"
                        for column in [f"c_{name}"] + [f"c_{name}[{k}]" for k in range(1, 7)]:
                            virial = max(abs(expected[0][f"c_{name}[{k}]"][row]) for k in range(1, 7))
                            scale = virial if "[" in column else abs(expected[0][column][row])
                            difference = abs(found[0][column][row] - expected[0][column][row])
                            self.assertLessEqual(difference, 10 * limit * max(1, scale), f"{what}, {column}")
                        error = coordtest.error_of(found[1][row][name], expected[1][row][name])
                        self.assertLessEqual(error, 10 * limit, what)

    def test_check(self):
        """Keyword check compares with plain loops on all ranks."""
        self.run_on(TILTED, 1, steps=2, more=" check 1 1e-8")
        self.run_on(ORTHOGONAL, 4, steps=2, more=" check 1 1e-8")

    # Ten times the largest error of float, relative to the largest value.
    S_OF_FLOAT, COLUMNS_OF_FLOAT = 5e-6, 5e-5

    def test_mixed_precision(self):
        expected = self.run_on(TILTED, 1, steps=0)
        found = self.run_on(TILTED, 2, steps=0, more=" precision mixed")
        for name in COMPUTES:
            value = expected[0][f"c_{name}"][0]
            self.assertAlmostEqual(found[0][f"c_{name}"][0], value, delta=self.S_OF_FLOAT * max(1, abs(value)), msg=name)
            for columns in [0], [1, 2, 3], [4]:
                error = coordtest.error_of(found[1][0][name][:, columns], expected[1][0][name][:, columns])
                self.assertLess(error, self.COLUMNS_OF_FLOAT, f"{name} {columns}")

    def test_threads(self):
        """Any number of threads gives the same bits."""
        package = [] if coordtest.lacks_package("OPENMP") else ["package omp 3"]
        for precision in "double", "mixed":
            runs = []
            for threads, first in ((1, []), (3, []), *((1, [line]) for line in package)):
                runs.append(self.run_on(TILTED, 1, more=f" precision {precision}", threads=threads, first=first))
                if coordtest.DEVICE == "host":
                    self.assertEqual(self.threads, 3 if first else threads)
            (table, frames), *others = runs
            rounding = 1e-9 if precision == "double" else self.COLUMNS_OF_FLOAT    # with KOKKOS on a GPU
            for other_table, other_frames in others:
                for name, column in table.items():
                    coordtest.assert_same_bits(other_table[name], column, f"{precision} {name}", rounding)
                for frame, other in zip(frames, other_frames):
                    for name, columns in frame.items():
                        coordtest.assert_same_bits(other[name], columns, f"{precision} {name}", rounding)

    def test_after_atoms_are_deleted(self):
        """Between delete_atoms and a run, the communication lists still contain the deleted atoms."""
        lmp = start(self, ORTHOGONAL, positions(ORTHOGONAL, 3))
        lmp.command("group gone id 60:80")
        lmp.command("delete_atoms group gone compress no")
        lmp.command("run 0")
        values = [coordtest.scalar_of(lmp, name) for name in COMPUTES]
        other = start(self, ORTHOGONAL, positions(ORTHOGONAL, 3)[:59])
        expected = [coordtest.scalar_of(other, name) for name in COMPUTES]
        np.testing.assert_allclose(values, expected, rtol=EXACT, atol=EXACT)


class Alone(unittest.TestCase):
    WARNING = (r"WARNING: Compute coord/orientorder c: no atom of group (\w+) has a partner within dmax ([\d.]+), all order "
               "parameters are 0 ")

    def script(self, words, group="all"):
        return ["region box block 0 8 0 8 0 8", "create_box 1 box", "create_atoms 1 single 1 1 1", "create_atoms 1 single 4 4 4",
                "mass * 1.0", "pair_style zero 2.0 nocoeff", "pair_coeff * *", "group one id 1", "group two id 2",
                f"compute c {group} coord/orientorder {words}", "thermo 1",
                "thermo_style custom step c_c c_c[1]", "run 3", "run 1"]

    def test_warning(self):
        """Once in a run."""
        for ranks in 1, 2:
            for order in "local", "average", "dot", "connections rational 0.5", "global":
                run = coordtest.run_lammps(self.script(f"order {order} switch cubic d0 1.2 dmax 1.5"), ranks)
                self.assertEqual(re.findall(self.WARNING, run.text), [("all", "1.5")] * 2, order)
                for table in run.tables:
                    self.assertEqual(np.abs(table["c_c"]).max(), 0)
        run = coordtest.run_lammps(self.script("group2 two switch cubic d0 1.2 dmax 1.5", "one"))
        self.assertEqual(re.findall(self.WARNING, run.text), [("one", "1.5")] * 2)

    def test_no_warning_with_partners(self):
        for order in "local", "average", "dot", "connections rational 0.5", "global":
            script = self.script(f"order {order} switch cubic d0 1.2 dmax 1.5")
            script.insert(4, "create_atoms 1 single 4 4 5")
            run = coordtest.run_lammps(script, 2)
            self.assertNotIn("has a partner", run.text)

    def test_no_warning_where_order_parameters_are_0(self):
        """A liquid whose products are all below d0, and crystals whose q is 0."""
        liquid = ["units lj", "lattice fcc 1.0", "region box block 0 3 0 3 0 3", "create_box 1 box", "create_atoms 1 box",
                  "mass * 1.0", "displace_atoms all random 0.3 0.3 0.3 4711", "pair_style zero 2.3 nocoeff", "pair_coeff * *",
                  "compute c all coord/orientorder order connections cubic d0 0.95 dmax 1.1 switch cubic d0 1.2 dmax 1.6"]
        crystal = ["lattice sc 1.0", "region box block 0 4 0 4 0 4", "create_box 1 box", "create_atoms 1 box", "mass * 1.0",
                   "pair_style zero 1.5 nocoeff", "pair_coeff * *"]
        crystals = [[*crystal, f"compute c all coord/orientorder {words} switch cubic d0 1.0 dmax 1.3"]
                    for words in ("l 3", "l 5 order dot", "l 5 order average")]
        for script in liquid, *crystals:
            run = coordtest.run_lammps([*script, "thermo_style custom step c_c c_c[1]", "run 0"], 2)
            self.assertEqual(run.tables[0]["c_c"][0], 0, script[-1])
            self.assertNotIn("has a partner", run.text, script[-1])

    def test_empty_group(self):
        script = self.script("switch cubic d0 1.2 dmax 1.5", "none")
        script.insert(8, "group none empty")
        run = coordtest.run_lammps(script)
        self.assertEqual(run.text.count("Compute coord/orientorder c: group none is empty, S is 0"), 2)
        self.assertNotIn("has a partner", run.text)

    def test_isolated_atoms(self):
        """Isolated atoms have value 0 and derivatives 0. An atom with one partner has q = 1."""
        x = np.array([[1, 1, 1], [1, 1, 2], [3.5, 3.5, 3.5], [1, 2.9, 4.5]], float)
        box = Box((8.0, 8.0, 8.0), periodic=(False, False, False))
        lmp = start(self, box, x, {name: ("all", words) for name, (_, words) in COMPUTES.items() if "two" not in name})
        for name in ("local", "odd", "global"):
            array = coordtest.atoms_of(lmp, name)
            np.testing.assert_allclose(array[:, 0], [1, 1, 0, 0], atol=1e-14, err_msg=name)
            self.assertLess(np.abs(array[:, 1:4]).max(), 1e-12)
        for name in "average", "dot", "connections", "odd_dot":
            array = coordtest.atoms_of(lmp, name)
            self.assertTrue(np.isfinite(array).all(), name)
            np.testing.assert_array_equal(array[2:, :4], 0, name)
        self.assertAlmostEqual(coordtest.atoms_of(lmp, "dot")[0, 0], 1, 13)


class Output(unittest.TestCase):
    def test_columns(self):
        x = positions(TILTED, 2)
        computes = {"sum": ("left", "l 6"), "mean": ("left", "l 6 norm mean"), "square": ("left", "l 6 function custom s^2"),
                    "bins": ("left", "l 6 function histogram 0 1 4"), "whole": ("left", "l 6 order global")}
        lmp = start(self, TILTED, x, computes)
        left = np.array(GROUPS["left"])
        others = np.setdiff1d(np.arange(len(x)), left)
        arrays = {name: coordtest.atoms_of(lmp, name) for name in computes}
        q = arrays["sum"][left, 0]
        for name, array in arrays.items():
            self.assertEqual(array.shape[1], 5)
            np.testing.assert_array_equal(array[:, 0], arrays["sum"][:, 0], name)
            np.testing.assert_array_equal(array[others], 0, name)
            f = array[left, 0]**2 if name == "square" else array[left, 0]
            np.testing.assert_allclose(array[left, 4], f, rtol=1e-14, err_msg=name)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "sum"), q.sum(), 11)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "mean"), q.mean(), 13)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "square"), (q**2).sum(), 11)
        np.testing.assert_allclose(arrays["mean"][:, 1:4], arrays["sum"][:, 1:4] / len(left), atol=1e-15)
        np.testing.assert_allclose(coordtest.virial_of(lmp, "mean"), coordtest.virial_of(lmp, "sum") / len(left), atol=1e-14)
        bins = np.ctypeslib.as_array(lmp.extract_compute("bins", 0, 1), (10,))[6:]
        self.assertAlmostEqual(bins.sum(), len(left), delta=0.01 * len(left))

    def test_setup_line(self):
        script = Alone.script(None, "order connections rational 0.5 nn 12 mm 24 switch cubic d0 1.2 dmax 1.5 device host")
        run = coordtest.run_lammps(script)
        self.assertRegex(run.text, r"Compute coord/orientorder c: host \(.*\), precision mixed, engine cells, owned and ghost atoms.*"
                         r"\n  switch cubic .*\n  at dmax = 1.5: .*\n  q6 connections rational .*, function sum\n")

    def test_intensive(self):
        """With units lj, LAMMPS divides extensive output by the number of atoms."""
        computes = {"sum": ("all", "l 6"), "mean": ("all", "l 6 norm mean"), "whole": ("all", "l 6 order global"),
                    "least": ("all", "l 6 function min 0.1")}
        lmp = start(self, ORTHOGONAL, positions(ORTHOGONAL, 4), computes)
        lmp.command("thermo_style custom step " + " ".join(f"c_{name} c_{name}[1]" for name in computes))
        lmp.command("run 0")
        thermo = lmp.last_thermo()
        for name in computes:
            self.assertAlmostEqual(thermo[f"c_{name}"] / coordtest.scalar_of(lmp, name), 1, 6)
            self.assertAlmostEqual(thermo[f"c_{name}[1]"] / coordtest.virial_of(lmp, name)[0], 1, 6)

    def test_several_types(self):
        """coeff: pairs of types without partners in reach do not contribute."""
        x = positions(ORTHOGONAL, 9)
        types = [1 + (k % 2) for k in range(len(x))]
        data = f"{coordtest.folder()}/types"
        coordtest.write_data(data, x, ORTHOGONAL, types)
        script = ["units lj", f"read_data {data}", "mass * 1.0", "pair_style zero 1.0 nocoeff", "pair_coeff * *",
                  "comm_modify cutoff 2.2", "group first type 1", "group second type 2",
                  f"compute a all coord/orientorder switch cubic d0 0.1 dmax 0.2 coeff 1 2 {SWITCH[7:]} precision double check 1 1e-8",
                  f"compute b first coord/orientorder group2 second {SWITCH} precision double",
                  f"compute c second coord/orientorder group2 first {SWITCH} precision double",
                  "thermo_style custom step c_a c_b c_c c_a[1] c_b[1] c_c[1]", "thermo_modify norm no format float %.17g", "run 0"]
        table = coordtest.run_lammps(script, 2).tables[0]
        for column in "", "[1]":
            self.assertAlmostEqual(table[f"c_a{column}"][0], table[f"c_b{column}"][0] + table[f"c_c{column}"][0], delta=1e-10)


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
