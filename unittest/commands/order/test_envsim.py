"""Environment similarity: values of lattices and sums by numpy, derivatives against differences, the same numbers for any number
of ranks and threads, files of environments, and output."""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import itertools
import math
import re
import unittest

import numpy as np
from lammps import lammps

import coordtest
import ordertest
from brutetest import Box
from ordertest import check_differences, check_momentum, trajectory

ORTHOGONAL = Box((4.4, 4.9, 5.3))
TILTED = Box((4.6, 4.9, 5.3), tilt=(1.2, -0.9, 0.8))
GHOSTS = 2.6
EXACT = coordtest.rounded(1e-10)
N = 80
GROUPS = {"left": range(0, 40), "right": range(40, 80), "late": range(20, 80)}

# x, y, z and type of each vector, 0: any. No mirror image of the first is a rotated copy.
CHIRAL = [(0.9, 0.1, 0.0, 0), (0.0, 0.8, 0.2, 0), (-0.1, 0.0, 0.7, 0), (0.5, -0.6, 0.3, 0)]
OTHER = [(-0.9, 0.1, 0.0, 0), (0.2, 0.8, 0.4, 0), (0.3, 0.3, -0.8, 0)]
TYPED = [(0.8, 0.2, 0.0, 2), (-0.7, 0.3, 0.3, 1), (0.0, 0.1, -0.9, 0)]
FCC = [(*v, 0) for v in sorted({tuple(np.array(p) * s * 0.7) for axes in ((0, 1, 1), (1, 0, 1), (1, 1, 0))
                                for p in (axes, (axes[0], -axes[1], axes[2]), (axes[0], axes[1], -axes[2]))
                                for s in (1, -1) if np.count_nonzero(p) == 2})]


def path_of(name):
    return f"{coordtest.folder()}/{name}"


def write(name, *environments):
    """Write a file of vectors, with comments and blank lines, and return its path."""
    with open(path_of(name), "w") as file:
        file.write("# environments\n\n")
        file.write("\n\n".join("".join(f"  {x!r} {y!r}\t{z!r}" + (f" {kind}  # type\n" if kind else "\n") for x, y, z, kind in one)
                               + "# end of environment\n" for one in environments))
    return path_of(name)


def define_computes():
    """Return group, words, and environments with sigma, cutoff and lambda, by ID."""
    chiral, both, typed = write("chiral", CHIRAL), write("both", CHIRAL, OTHER), write("typed", TYPED, OTHER)
    more = "function more_than rational 0.1 nn 6 mm 12"
    return {
        "fcc": ("all", "structure fcc 1.4 sigma 0.13 norm mean", [FCC], 0.13, 8, 100),
        "chiral": ("all", f"file {chiral} sigma 0.14 function custom s^2", [CHIRAL], 0.14, 8, 100),
        "both": ("all", f"file {both} sigma 0.13 cutoff 10 lambda 20 {more}", [CHIRAL, OTHER], 0.13, 10, 20),
        "mixed": ("late", f"structure fcc 1.4 file {chiral} sigma 0.12 cutoff 9 function max 0.02", [FCC, CHIRAL], 0.12, 9, 100),
        "typed": ("all", f"file {typed} sigma 0.15 lambda 30", [TYPED, OTHER], 0.15, 8, 30),
        "two": ("left", f"file {typed} sigma 0.15 group2 right function moment 2", [TYPED, OTHER], 0.15, 8, 100),
    }


COMPUTES = define_computes()


def positions(box, seed):
    return coordtest.random_positions(np.random.default_rng(seed), box, N, closest=0.7)


def types_of(n=N):
    return [1 + k % 2 for k in range(n)]


def commands(more=""):
    return [f"compute {name} {group} coord/envsim {words} precision double {more}"
            for name, (group, words, *_) in COMPUTES.items()]


def setup(box, x, newton="on"):
    """Return the commands of a system with two types of atoms, and its computes."""
    return ordertest.setup(box, x, GROUPS, GHOSTS, newton, types_of(len(x)))


def start(test, lines):
    lmp = coordtest.start()
    test.addCleanup(lmp.close)
    for line in lines:
        lmp.command(line)
    return lmp


def similarities(x, box, group, group2, environments, sigma, cutoff, lam):
    """Return v of all atoms by the definition; group2: partners."""
    kinds = np.array(types_of(len(x)))
    reach = max(math.dist((0, 0, 0), v[:3]) for one in environments for v in one) + cutoff * sigma
    shifts = [np.array(n) @ box.edges for n in itertools.product((-1, 0, 1), repeat=3)]
    v = np.zeros(len(x))
    for i in group:
        d = np.vstack([x[group2] + shift - x[i] for shift in shifts])
        kind = np.tile(kinds[group2], len(shifts))
        r = np.linalg.norm(d, axis=1)
        near = (r <= reach) & (r > 1e-9)
        d, kind = d[near], kind[near]
        k = [sum(np.exp(-((d - vector[:3])**2).sum(axis=1) / (4 * sigma**2))[(kind == vector[3]) | (vector[3] == 0)].sum()
                 for vector in one) / len(one) for one in environments]
        v[i] = k[0] if len(k) == 1 else np.log(np.sum(np.exp(lam * np.array(k)))) / lam
    return v


class Lattices(unittest.TestCase):
    """Atoms of perfect crystals have 1, and the Gaussians of more distant atoms."""

    # Lattice in LAMMPS, which has lattice constant 1, words of its structure, and the nearest distance.
    CRYSTALS = {"fcc 1.0": ("fcc 1.0", math.sqrt(0.5)), "bcc 1.0": ("bcc 1.0", math.sqrt(0.75)), "sc 1.0": ("sc 1.0", 1.0),
                "diamond 1.0": ("diamond 1.0", math.sqrt(3) / 4), "hcp 1.0": (f"hcp 1.0 {math.sqrt(8 / 3)!r}", 1.0)}

    def start(self, lattice):
        return start(self, ["units metal", "atom_modify map array", f"lattice {lattice}", "region box block 0 3 0 3 0 3",
                            "create_box 1 box", "create_atoms 1 box", "mass * 1.0", "pair_style zero 1.5", "pair_coeff * *",
                            "neighbor 0.3 bin", "comm_modify cutoff 3.5"])

    def test_own(self):
        for lattice, (words, nearest) in self.CRYSTALS.items():
            lmp = self.start(lattice)
            sigma = 0.08 * nearest    # other atoms have less than exp(-39)
            lmp.command(f"compute c all coord/envsim structure {words} sigma {sigma!r} precision double norm mean")
            lmp.command("run 0")
            array = coordtest.atoms_of(lmp, "c")
            np.testing.assert_allclose(array[:, 0], 1, rtol=EXACT, err_msg=lattice)
            np.testing.assert_array_equal(array[:, 4], array[:, 0])
            self.assertLess(np.abs(array[:, 1:4]).max(), coordtest.rounded(1e-9), lattice)
            self.assertAlmostEqual(coordtest.scalar_of(lmp, "c"), 1, delta=EXACT)

    def test_others(self):
        """An atom of another lattice with the same nearest distance has a smaller value."""
        for lattice, (_, nearest) in self.CRYSTALS.items():
            lmp = self.start(lattice)
            others = {}
            for name, (_, distance) in self.CRYSTALS.items():
                kind, a = name.split()[0], nearest / distance
                if kind != lattice.split()[0] and (kind, lattice) != ("diamond", "bcc 1.0"):    # a part of bcc
                    others[kind] = kind
                    constants = f"{a!r} {a * math.sqrt(8 / 3)!r}" if kind == "hcp" else repr(a)
                    lmp.command(f"compute {kind} all coord/envsim structure {kind} {constants} sigma {0.08 * nearest!r}")
            lmp.command("run 0")
            for kind in others:
                self.assertLess(coordtest.atoms_of(lmp, kind)[:, 0].max(), 0.8, f"{kind} in {lattice}")


class Values(unittest.TestCase):
    def test_numpy(self):
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            lmp = start(self, [*setup(box, positions(box, seed)), *commands(), "run 0"])
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            for name, (group, words, *environments) in COMPUTES.items():
                members = list(GROUPS.get(group, range(N)))
                partners = list(GROUPS["right"]) if "group2" in words else members
                expected = similarities(x, box, members, partners, *environments)
                self.assertGreater(np.abs(expected).max(), 0.05, name)
                found = coordtest.atoms_of(lmp, name)[:, 0]
                self.assertLess(np.abs(found - expected).max(), coordtest.rounded(1e-12), name)

    def test_mirror_image(self):
        """The center of a chiral environment differs from that of its mirror image."""
        for sign, expected in ((1, 1.0), (-1, 0.25)):
            x = 4.0 + np.array([(0, 0, 0), *((sign * v[0], v[1], v[2]) for v in CHIRAL)])
            data = path_of("center")
            coordtest.write_data(data, x, Box((8.0, 8.0, 8.0)))
            lmp = start(self, ["units lj", "atom_modify map array", f"read_data {data}", "mass * 1.0", "pair_style zero 2.0 nocoeff",
                               "pair_coeff * *", f"compute c all coord/envsim file {path_of('chiral')} sigma 0.05 precision double",
                               "run 0"])
            found = coordtest.atoms_of(lmp, "c")[0, 0]
            if sign > 0:
                self.assertAlmostEqual(found, expected, 6)
            else:
                self.assertLess(found, expected + 0.15)

    def test_files(self):
        """Several files and blank lines are the same; PDB files are in Angstrom; a label is a type."""
        def pdb(*environments):
            return "REMARK\n" + "END\n".join("".join(
                f"{'ATOM' if k % 2 else 'HETATM':<6}{k + 1:5d}  CA  XXX A{k:4d}    {x:8.3f}{y:8.3f}{z:8.3f}\n"
                for k, (x, y, z, _) in enumerate(one)) for one in environments) + "END\n"
        with open(path_of("both.pdb"), "w") as file:
            file.write(pdb(CHIRAL, OTHER))
        with open(path_of("labels"), "w") as file:
            file.write("".join(f"{x} {y} {z} {['', 'A', 'B'][kind]}\n" for x, y, z, kind in TYPED))
        with open(path_of("dos"), "w", newline="") as file:
            file.write("".join(f"{x} {y} {z}\r\n" for x, y, z, _ in CHIRAL))
        one, two, typed = write("one", CHIRAL), write("two", OTHER), write("three", TYPED)
        same = {"a": f"file {write('pair', CHIRAL, OTHER)}", "b": f"file {one} file {two}", "c": f"file {path_of('both.pdb')}"}
        labels = {"d": f"file {typed}", "e": f"file {path_of('labels')}"}
        dos = {"f": f"file {one}", "g": f"file {path_of('dos')}"}
        for units, angstrom in (("metal", 1.0), ("real", 1.0), ("nano", 0.1)):
            box = Box(tuple(angstrom * np.array((4.4, 4.9, 5.3))))
            lines = setup(box, angstrom * positions(ORTHOGONAL, 1))
            lines[0], lines[6] = f"units {units}", f"pair_style zero {angstrom} nocoeff"
            lines[8], lines[10] = f"neighbor {0.3 * angstrom} bin", f"comm_modify cutoff {GHOSTS * angstrom}"
            groups = [labels, dos, same] if units == "metal" else [{"c": same["c"]}]
            lmp = start(self, [*lines, *([] if coordtest.KOKKOS else ["labelmap atom 1 A 2 B"])])
            for words in groups:
                if coordtest.KOKKOS and words is labels:
                    continue
                for name, files in words.items():
                    lmp.command(f"compute {name} all coord/envsim {files} sigma {0.15 * angstrom!r} precision double norm mean")
            lmp.command("run 0")
            for words in groups:
                values = [coordtest.scalar_of(lmp, name) for name in words if lmp.has_id("compute", name)]
                self.assertEqual(values, values[:1] * len(values))
            if units == "metal":
                in_angstrom = coordtest.scalar_of(lmp, "c")
            self.assertAlmostEqual(coordtest.scalar_of(lmp, "c") / in_angstrom, 1, delta=coordtest.rounded(1e-9))


class Derivatives(unittest.TestCase):
    STEP = 2e-5

    def test_differences(self):
        """A step of exp(-16)/n where a pair crosses the cutoff of 8 sigma does not matter."""
        for seed, box in enumerate((ORTHOGONAL, TILTED)):
            lmp = start(self, [*setup(box, positions(box, seed)), *commands()])
            if not box.tilted:
                lmp.command("change_box all triclinic")
            lmp.command("run 0")
            check_differences(self, lmp, box, COMPUTES, self.STEP, 1e-3)

    def test_momentum(self):
        for box in ORTHOGONAL, TILTED:
            lmp = start(self, [*setup(box, positions(box, 5)), *commands(), "run 0"])
            check_momentum(self, lmp, COMPUTES)


class Ranks(unittest.TestCase):
    def run_on(self, box, ranks, newton="on", steps=6, more="", threads=1):
        run, frames = trajectory([*setup(box, positions(box, 11), newton), *commands(more)], COMPUTES, steps, ranks, threads)
        return run.tables[0], frames

    def test_ranks_and_newton(self):
        for box in ORTHOGONAL, TILTED:
            expected = self.run_on(box, 1)
            for ranks, newton in ((1, "off"), (2, "on"), (4, "on"), (4, "off")):
                found = self.run_on(box, ranks, newton)
                for row in (0, 6):
                    # Later steps are at positions that each run adds up in its own order.
                    limit = 10 * coordtest.rounded(1e-12 if row == 0 else 1e-9)
                    for name in COMPUTES:
                        what = f"{name}, {ranks} ranks, newton {newton}, step {row}, tilted {box.tilted}"
                        virial = max(abs(expected[0][f"c_{name}[{k}]"][row]) for k in range(1, 7))
                        for column in [f"c_{name}"] + [f"c_{name}[{k}]" for k in range(1, 7)]:
                            scale = virial if "[" in column else abs(expected[0][column][row])
                            difference = abs(found[0][column][row] - expected[0][column][row])
                            self.assertLessEqual(difference, limit * max(1, scale), f"{what}, {column}")
                        self.assertLessEqual(coordtest.error_of(found[1][row][name], expected[1][row][name]), limit, what)

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
        for precision in "double", "mixed":
            (table, frames), (other_table, other_frames) = (
                self.run_on(TILTED, 1, more=f" precision {precision}", threads=threads) for threads in (1, 3))
            rounding = 1e-9 if precision == "double" else self.COLUMNS_OF_FLOAT    # with KOKKOS on a GPU
            for name, column in table.items():
                coordtest.assert_same_bits(other_table[name], column, f"{precision} {name}", rounding)
            for frame, other in zip(frames, other_frames):
                for name, columns in frame.items():
                    coordtest.assert_same_bits(other[name], columns, f"{precision} {name}", rounding)


class Alone(unittest.TestCase):
    WARNING = (r"WARNING: Compute coord/envsim c: no atom of group (\w+) has a partner within reach "
               r"\(longest vector \+ cutoff\*sigma\) ([\d.]+), all similarities are (.*?) and a bias has no force: the nearest pair is ([\d.]+) apart - ")

    def script(self, words, group="all"):
        return ["region box block 0 8 0 8 0 8", "create_box 1 box", "create_atoms 1 single 1 1 1", "create_atoms 1 single 4 4 4",
                "mass * 1.0", "pair_style zero 2.0 nocoeff", "pair_coeff * *", "group one id 1", "group two id 2",
                f"compute c {group} coord/envsim {words}", "thermo 1", "thermo_style custom step c_c c_c[1]", "run 3", "run 1"]

    def test_warning(self):
        """Once in a run."""
        one, two = "structure sc 1.0 sigma 0.1", "structure diamond 2.0 sigma 0.1 group2 two"
        for ranks in 1, 2:
            run = coordtest.run_lammps(self.script(one), ranks)
            self.assertEqual(re.findall(self.WARNING, run.text), [("all", "1.8", "0", "5.19615")] * 2)
            self.assertEqual(np.abs(run.tables[0]["c_c"]).max(), 0)
            run = coordtest.run_lammps(self.script(two, "one"), ranks)
            self.assertEqual(re.findall(self.WARNING, run.text), [("one", "1.666025404", "ln(2)/lambda = 0.00693147", "5.19615")] * 2)
            np.testing.assert_allclose(run.tables[0]["c_c"], math.log(2) / 100, rtol=1e-6)

    def test_no_warning_with_partners(self):
        script = self.script("structure sc 1.0 sigma 0.1")
        script.insert(4, "create_atoms 1 single 4 4 5.7")
        self.assertNotIn("has a partner", coordtest.run_lammps(script, 2).text)

    def test_empty_group(self):
        script = self.script("structure sc 1.0 sigma 0.1", "none")
        script.insert(8, "group none empty")
        run = coordtest.run_lammps(script)
        self.assertEqual(run.text.count("Compute coord/envsim c: group none is empty, S is 0"), 2)
        self.assertNotIn("has a partner", run.text)
        script = self.script("structure diamond 2.0 sigma 0.1 group2 none")
        script.insert(8, "group none empty")
        self.assertIn("Compute coord/envsim c: group none is empty, all similarities are ln(2)/lambda = 0.00693147",
                      coordtest.run_lammps(script).text)


class Output(unittest.TestCase):
    def test_columns(self):
        words = "structure bcc 1.1 sigma 0.15 precision double"
        computes = {"sum": "", "mean": "norm mean", "square": "function custom s^2", "bins": "function histogram -1 1 4"}
        lmp = start(self, [*setup(TILTED, positions(TILTED, 2)),
                           *(f"compute {name} left coord/envsim {words} {more}" for name, more in computes.items()), "run 0"])
        left = np.array(GROUPS["left"])
        others = np.setdiff1d(np.arange(N), left)
        arrays = {name: coordtest.atoms_of(lmp, name) for name in computes}
        v = arrays["sum"][left, 0]
        for name, array in arrays.items():
            self.assertEqual(array.shape[1], 5)
            np.testing.assert_array_equal(array[:, 0], arrays["sum"][:, 0], name)
            np.testing.assert_array_equal(array[others], 0, name)
            f = array[left, 0]**2 if name == "square" else array[left, 0]
            np.testing.assert_allclose(array[left, 4], f, rtol=1e-14, err_msg=name)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "sum"), v.sum(), 11)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "mean"), v.mean(), 13)
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "square"), (v**2).sum(), 11)
        np.testing.assert_allclose(arrays["mean"][:, 1:4], arrays["sum"][:, 1:4] / len(left), atol=1e-15)
        np.testing.assert_allclose(coordtest.virial_of(lmp, "mean"), coordtest.virial_of(lmp, "sum") / len(left), atol=1e-14)
        bins = np.ctypeslib.as_array(lmp.extract_compute("bins", 0, 1), (10,))[6:]
        self.assertAlmostEqual(bins.sum(), len(left), delta=0.01 * len(left))

    def test_setup_line(self):
        script = Alone.script(None, f"structure hcp 1.0 1.6 file {path_of('chiral')} sigma 0.1 function more_than rational 0.5 "
                              "device host")
        run = coordtest.run_lammps(script)
        self.assertRegex(run.text, r"Compute coord/envsim c: host \(.*\), precision mixed, engine cells, owned and ghost atoms.*"
                         r"\n  reach \(longest vector \+ cutoff\*sigma\) 1.8\n"
                         r"  3 environments of 12, 12 and 4 vectors, sigma 0.1, cutoff 8, lambda 100, function more_than rational")

    def test_intensive(self):
        """With units lj, LAMMPS divides extensive output by the number of atoms."""
        words = "structure bcc 1.1 sigma 0.15 precision double"
        computes = {"sum": "", "mean": "norm mean", "least": "function min 0.1"}
        lmp = start(self, [*setup(ORTHOGONAL, positions(ORTHOGONAL, 4)),
                           *(f"compute {name} all coord/envsim {words} {more}" for name, more in computes.items()),
                           "thermo_style custom step " + " ".join(f"c_{name} c_{name}[1]" for name in computes), "run 0"])
        thermo = lmp.last_thermo()
        for name in computes:
            self.assertAlmostEqual(thermo[f"c_{name}"] / coordtest.scalar_of(lmp, name), 1, 6)
            self.assertAlmostEqual(thermo[f"c_{name}[1]"] / coordtest.virial_of(lmp, name)[0], 1, 6)


def tearDownModule():
    lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"]).finalize()


if __name__ == "__main__":
    unittest.main(verbosity=2)
