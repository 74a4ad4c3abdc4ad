"""write_grid: files in OpenDX and Gaussian cube formats have the values of LAMMPS' own grids at the
right positions, or do not exist.

The readers below follow the formats: OpenDX as APBS writes it and VMD and PyMOL read it, and
Gaussian's documentation of cubegen.
"""
# Processors: 2
# Without: gpu
# KOKKOS on a GPU: newton on

import os
import re
import subprocess
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
import errortest

BOHR = 0.529177210544    # Angstrom, CODATA 2022
DIGITS = 0.51e-9         # ten significant digits, relative
DECIMALS = 0.51e-9         # decimals of lengths in cube files


class Map:
    """Values [x][y][z] of points at origin + i step[0] + j step[1] + k step[2]; for a cube file
    also its atoms."""

    def __init__(self, values, origin, step, title, second="", elements=(), x=()):
        self.values, self.origin, self.step, self.title = values, np.array(origin), np.array(step), title
        self.second, self.elements, self.x = second, elements, np.array(x)


NUMBER = r"-?\d\.\d{9}e[-+]\d{2,3}"


def read_dx(path):
    with open(path) as file:
        lines = file.read().split("\n")
    assert lines.pop() == "", "the last line has no end"
    title = re.fullmatch("# (.*)", lines[0]).group(1)
    n = [int(k) for k in re.fullmatch(r"object 1 class gridpositions counts (\d+) (\d+) (\d+)", lines[1]).groups()]
    assert lines[2].startswith("origin ")
    origin = [float(word) for word in lines[2].split()[1:]]
    assert all(line.startswith("delta ") for line in lines[3:6])
    step = [[float(word) for word in line.split()[1:]] for line in lines[3:6]]
    assert lines[6] == "object 2 class gridconnections counts {} {} {}".format(*n)
    assert lines[7] == f"object 3 class array type double rank 0 items {np.prod(n)} data follows"
    rows = lines[8:-5]
    values = [word for row in rows for word in row.split()]
    assert all(re.fullmatch(NUMBER, word) for word in values)
    assert all(len(row.split()) == 3 for row in rows[:-1]) and len(rows) == -(-np.prod(n) // 3)
    assert lines[-5:] == ['attribute "dep" string "positions"', f'object "{title}" class field',
                          'component "positions" value 1', 'component "connections" value 2', 'component "data" value 3']
    return Map(np.array(values, float).reshape(n), origin, step, title)


def read_cube(path):
    with open(path) as file:
        lines = file.read().split("\n")
    assert lines.pop() == "", "the last line has no end"
    words = [line.split() for line in lines[2:]]
    natoms, origin = int(words[0][0]), [float(word) for word in words[0][1:]]
    assert natoms > 0, "VMD takes it for a file of orbitals"
    n, step = [int(line[0]) for line in words[1:4]], [[float(word) for word in line[1:]] for line in words[1:4]]
    atoms, rows = words[4:4 + natoms], words[4 + natoms:]
    assert all(len(atom) == 5 and float(atom[1]) == int(atom[0]) for atom in atoms)
    # Six values per line, and a new line after each row along z.
    a_row = [6] * (n[2] // 6) + [n[2] % 6] * (n[2] % 6 > 0)
    assert [len(row) for row in rows] == a_row * (n[0] * n[1])
    assert all(re.fullmatch(NUMBER, word) for row in rows for word in row)
    return Map(np.array([word for row in rows for word in row], float).reshape(n), origin, step, lines[0], lines[1],
               [int(atom[0]) for atom in atoms], [[float(word) for word in atom[2:]] for atom in atoms])


def read(path):
    return read_dx(path) if path.endswith(".dx") else read_cube(path)


def read_grid_dump(path):
    """Return, for each step, the columns of a dump grid, [x][y][z]. The first column is the number
    of a point, x fastest."""
    with open(path) as file:
        text = file.read()
    frames = {}
    for part in text.split("ITEM: TIMESTEP\n")[1:]:
        n = [int(k) for k in re.search(r"ITEM: GRID SIZE nx ny nz\n(\d+) (\d+) (\d+)", part).groups()]
        data = np.array([line.split() for line in part.split("ITEM: GRID CELLS")[1].strip().split("\n")[1:]], float)
        data = data[np.argsort(data[:, 0])]
        np.testing.assert_array_equal(data[:, 0], np.arange(np.prod(n)) + 1)
        frames[int(part.split()[0])] = [column.reshape(n[::-1]).transpose(2, 1, 0) for column in data.T]
    return frames


def same(found, expected):
    """Check that all values agree to ten digits."""
    assert found.shape == expected.shape, (found.shape, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=DIGITS, atol=0)


# Charges in a box with a nonzero origin. Edges and tilts are multiples of 2^-13, which float
# represents exactly.
BOXES = {"orthogonal": "region box block -1 11 0.5 10 2 11", "tilted": "region box prism -1 11 0.5 10 2 11 2 -1 1.5"}
EDGES = {"orthogonal": np.diag([12, 9.5, 9.0]), "tilted": np.array([[12, 0, 0], [2, 9.5, 0], [-1, 1.5, 9.0]])}
LOW = np.array([-1, 0.5, 2.0])


def system(box, style="", units="real"):
    return f"""units {units}
atom_style charge
atom_modify map array
{style}
{BOXES[box]}
create_box 2 box
create_atoms 1 random 30 4711 box
create_atoms 2 random 20 4712 box
mass 1 22.99
mass 2 35.45
set type 1 charge 0.8
set type 2 charge -1.2
group anions type 2
pair_style zero 5.0
pair_coeff * *
comm_modify cutoff 8.0
"""


# After these commands, dump.grid has the values of every file below.
COMPUTES = """compute phi all potential/grid {0} {1} {2} cutoff 4.0 precision double field yes {3}
compute id all property/grid {0} {1} {2} id
"""
DUMP = """dump grid all grid {} dump.grid c_id:grid:data c_phi:grid:phi c_phi:grid:efield[3]
dump_modify grid format float %.17g
"""
WRITE = """write_grid c_phi:grid:phi phi.dx
write_grid c_phi:grid:phi phi.cube atoms all
write_grid c_phi:grid:efield[3] field.dx align center
write_grid c_id:grid:data id.cube align corner
"""
LAYOUTS = {"bricks": ("", ""), "shifted": ("", "balance 1.0 shift xyz 10 1.01"),
           "tiled": ("comm_style tiled", "balance 1.0 rcb")}


def run(script, ranks=1):
    return coordtest.run_lammps(script, ranks)


class Ranks(unittest.TestCase):
    def check(self, box, layout, ranks, n, align):
        style, balance = LAYOUTS[layout]
        done = run(system(box, style) + COMPUTES.format(*n, align) + "write_dump all custom atoms id x y z\n" +
                   f"{balance}\n" + DUMP.format(1) + "run 0\n" + WRITE, ranks)
        identity, phi, field = read_grid_dump(done.path("dump.grid"))[0]
        step = EDGES[box] / np.array(n)[:, None]
        centers = LOW + step.sum(axis=0) / 2
        is_corner = "corner" in align
        for name, values, origin in (("phi.dx", phi, LOW if is_corner else centers), ("field.dx", field, centers),
                                     ("phi.cube", phi, LOW if is_corner else centers), ("id.cube", identity, LOW)):
            found = read(done.path(name))
            same(found.values, values)
            unit = 1.0 if name.endswith(".dx") else 1 / BOHR
            np.testing.assert_allclose(found.origin, unit * origin, rtol=1e-9, atol=DECIMALS)
            np.testing.assert_allclose(found.step, unit * step, rtol=1e-9, atol=DECIMALS)
            self.assertFalse(os.path.exists(done.path(name + ".tmp")))
        self.assertEqual(read(done.path("phi.cube")).elements, [11] * 30 + [17] * 20)

    def test_ranks(self):
        """Also more ranks than planes, some without points."""
        for box in BOXES:
            for layout, ranks in (("bricks", 1), ("bricks", 2), ("bricks", 4), ("shifted", 4), ("tiled", 4)):
                with self.subTest(box=box, layout=layout, ranks=ranks):
                    self.check(box, layout, ranks, (7, 5, 4), "align corner" if ranks == 4 else "")
            for n in (2, 1, 3), (1, 9, 1):
                with self.subTest(box=box, n=n):
                    self.check(box, "tiled", 4, n, "")

    def test_same_file(self):
        """Integers, and atoms in the order of their IDs: the text is the same on any number of
        ranks."""
        texts = set()
        atoms = coordtest.random_positions(np.random.default_rng(4711), brutetest.Box(np.diag(EDGES["orthogonal"]), lo=LOW), 12)
        setup = "".join(f"create_atoms {1 + k % 2} single {x!r} {y!r} {z!r} units box\n" for k, (x, y, z) in
                        enumerate(atoms.tolist()))    # other commands assign IDs by rank
        for ranks in 1, 3:
            done = run(re.sub("create_atoms 1.*\ncreate_atoms 2.*\n", setup, system("orthogonal")) +
                       COMPUTES.format(6, 7, 8, "") + "run 0\nwrite_grid c_id:grid:data id.cube atoms all\n", ranks)
            with open(done.path("id.cube")) as file:
                texts.add(file.read())
        self.assertEqual(len(texts), 1)
        found = read(done.path("id.cube"))
        self.assertEqual(found.elements, [11, 17] * 6)
        np.testing.assert_allclose(found.x * BOHR, atoms, atol=1e-9)


class Fixes(unittest.TestCase):
    SCRIPT = (system("tilted") + COMPUTES.format(5, 4, 6, "") + "velocity all create 300.0 4711\nfix nve all nve\n"
              "fix many all ave/grid 1 5 5 5 4 6 density/number vx\nfix one all ave/grid 5 1 5 5 4 6 c_phi:grid:phi\n"
              "dump grid all grid 5 dump.grid c_id:grid:data f_many:grid:data[1] f_many:grid:data[2] f_one:grid:data\n"
              "dump_modify grid format float %.17g\nrun 12\n{}\n"
              "write_grid f_many:grid:data[1] density.*.dx\nwrite_grid f_many:grid:data[2] vx.cube align corner\n"
              "write_grid f_one:grid:data phi.dx\nwrite_grid f_many:grid:count count.dx")

    def test_averages(self):
        """Values of the last complete average, also after load balancing has moved them to other
        ranks."""
        for ranks, balance in ((1, ""), (2, ""), (4, "balance 1.0 shift x 10 1.01")):
            done = run(self.SCRIPT.format(balance), ranks)
            _, density, vx, phi = read_grid_dump(done.path("dump.grid"))[10]
            self.assertGreater(np.abs(density).sum(), 0)
            for name, values, corner in (("density.12.dx", density, 0), ("vx.cube", vx, 1), ("phi.dx", phi, 0)):
                found = read(done.path(name))
                same(found.values, values)
                step = EDGES["tilted"] / np.array([5, 4, 6])[:, None]
                origin = LOW if corner else LOW + step.sum(axis=0) / 2
                np.testing.assert_allclose(found.origin, origin / (BOHR if corner else 1), atol=1e-9)
            # Number of atoms.
            self.assertAlmostEqual(read(done.path("count.dx")).values.sum(), 50, delta=1e-6)


    def test_no_average_yet(self):
        """LAMMPS sets averages to zero before the first one is complete."""
        for ranks in 1, 2:
            done = run(system("orthogonal") + COMPUTES.format(4, 5, 6, "") + "fix nve all nve\n"
                       "fix mean all ave/grid 1 4 4 4 5 6 c_phi:grid:phi\nrun 2\nwrite_grid f_mean:grid:data zero.dx\n"
                       "run 2\nwrite_grid f_mean:grid:data mean.dx", ranks)
            self.assertFalse(read(done.path("zero.dx")).values.any())
            self.assertTrue(read(done.path("mean.dx")).values.any())
            self.assertEqual(done.text.count("WARNING: Write_grid: all numbers of f_mean:grid:data are 0 - a fix that averages has no data "
                                             "before its first average is complete"), 1)


class Times(unittest.TestCase):
    def test_during_a_run(self):
        """'run every' writes files at regular steps without changing the run, and a fix gets values
        of its own steps."""
        script = (system("orthogonal") + COMPUTES.format(4, 5, 6, "") + "velocity all create 3000.0 4711\nfix nve all nve\n"
                  "thermo 1000\n" + DUMP.format(5))
        done = run(script + 'run 15 every 5 "write_grid c_phi:grid:phi t.*.dx" "write_grid c_phi:grid:phi t.*.cube"', 2)
        frames = read_grid_dump(done.path("dump.grid"))
        for step in 5, 10, 15:
            for kind in "dx", "cube":
                found = read(done.path(f"t.{step}.{kind}"))
                same(found.values, frames[step][1])
                self.assertEqual(found.title, f"c_phi:grid:phi of LAMMPS at timestep {step}" +
                                 (", lengths in units real" if kind == "dx" else ""))
        self.assertGreater(np.abs(frames[5][1] - frames[10][1]).max(), 1e-3)
        # Without write_grid, the dump is the same.
        other = read_grid_dump(run(script + "run 15", 2).path("dump.grid"))
        np.testing.assert_allclose(other[15][1], frames[15][1], rtol=0, atol=coordtest.rounded(1e-9 * np.abs(frames[15][1]).max()))

    def test_fix_after_it(self):
        """A fix ave/grid of the next steps evaluates the compute itself."""
        script = (system("orthogonal") + COMPUTES.format(4, 5, 6, "") + "velocity all create 3000.0 4711\nfix nve all nve\n"
                  "fix last all ave/grid 1 1 1 4 5 6 c_phi:grid:phi\nthermo 1000\nrun 2\nwrite_grid c_phi:grid:phi before.dx\n"
                  "run 1 pre no\nwrite_grid f_last:grid:data last.dx\nwrite_grid c_phi:grid:phi now.dx")
        done = run(script)
        last, now, before = (read(done.path(f"{name}.dx")).values for name in ("last", "now", "before"))
        self.assertGreater(np.abs(now - before).max(), 1e-3)
        np.testing.assert_array_equal(last, now)

    def test_values_are_of_now(self):
        """Values are current, not those of an earlier evaluation at the same timestep."""
        done = run(system("orthogonal", "boundary f f f") + "compute phi all potential/grid 4 5 6 kernel direct\nrun 0\n"
                   "write_grid c_phi:grid:phi one.dx\nset type 1 charge 1.6\nset type 2 charge -2.4\n"
                   "write_grid c_phi:grid:phi two.dx", 2)
        same(read(done.path("two.dx")).values, 2 * read(done.path("one.dx")).values)


class Changed(unittest.TestCase):
    """Changes by commands between runs."""

    START = ("group some type 1\ncompute phi all potential/grid 4 5 6 cutoff 4.0 far fft 1e-4\n"
             "compute near some potential/grid 4 5 6 cutoff 4.0\nrun 0\n")
    FILES = ["write_grid c_phi:grid:phi {}.phi.dx", "write_grid c_near:grid:phi {}.near.dx",
             "write_dump all custom {}.dump id c_phi c_near modify sort id format float %.17g"]
    MOVED = "Compute potential/grid phi: atoms have been moved, created or deleted since the last run - use run 0 first"

    def test_charges_and_groups(self):
        """Includes changes of ghost atoms."""
        change = "set type 1 charge 1.6\nset type 2 charge -1.2\nset atom 3 charge 7.0\nset atom 4 x 0.25\ngroup some id 30:40\n"
        def files(name):
            return "\n".join(self.FILES).format(*[name] * 3) + "\n"
        for box, layout, ranks in (("orthogonal", "bricks", 1), ("tilted", "bricks", 1), ("tilted", "bricks", 4), ("orthogonal", "tiled", 4)):
            with self.subTest(box=box, layout=layout, ranks=ranks):
                style, balance = LAYOUTS[layout]
                # atom 4 moves slightly, and so do its ghost atoms
                move = "set atom 4 x 0.0\n"
                done = run(system(box, style) + move + balance + "\n" + self.START + files("old") + change + files("one") + "run 0\n" +
                           files("two"), ranks)
                for kind in "phi", "near":
                    one, two, old = (read(done.path(f"{name}.{kind}.dx")).values for name in ("one", "two", "old"))
                    self.assertGreater(np.abs(one - old).max(), 1.0)
                    np.testing.assert_allclose(one, two, rtol=0, atol=1e-5 * np.abs(two).max())
                one, two = (dumptest.read_dump(done.path(f"{name}.dump"))[0] for name in ("one", "two"))
                for column in "c_phi", "c_near":
                    np.testing.assert_allclose(one[column], two[column], rtol=0, atol=1e-5 * np.abs(two[column]).max())

    def test_atoms(self):
        """If atoms changed ranks or were replaced, all ranks raise an error."""
        changes = ["displace_atoms all move 0.5 0 0", "create_atoms 1 single 5 5 5", "group g id 7\ndelete_atoms group g compress no",
                   "change_box all x scale 1.01 remap", "balance 1.0 shift x 5 1.01", "set atom 4 x -0.9"]
        scripts = []
        for change in changes:
            for ranks in 1, 3:
                if ranks == 1 and "balance" in change:
                    continue
                for a_map in "atom_modify map array\n", "":
                    script = (system("orthogonal").replace("atom_modify map array\n", a_map) + "set atom 4 x 5.0 y 5.0 z 6.5\n" +
                              self.START + f"{change}\nwrite_grid c_phi:grid:phi {coordtest.folder()}/none.dx\n")
                    if "set" in change:    # only some atoms have ghost atoms
                        script = script.replace("cutoff 8.0", "cutoff 4.1").replace("cutoff 4.0", "cutoff 2.0").replace("zero 5", "zero 2")
                    scripts.append((script, ranks))
        for (script, ranks), result in zip(scripts, errortest.start_all(errortest.run_script, scripts)):
            with self.subTest(script[-150:], ranks=ranks):
                code, text = result.result()
                self.assertNotEqual(code, 0)
                self.assertEqual(errortest.errors_in(text)[:1], [self.MOVED], text)

    def test_no_ghost_atoms(self):
        """In the middle of a large box, no ghost atoms are necessary."""
        lines = re.sub("create_atoms 1.*\ncreate_atoms 2.*", "create_atoms 1 single 5 5 6.5\ncreate_atoms 2 single 6 5 7", system("orthogonal"))
        done = run(lines.replace("comm_modify cutoff 8.0", "") + "compute phi all potential/grid 4 5 6 cutoff 2.0\nneighbor 0.5 bin\n"
                   "pair_style zero 2.0\npair_coeff * *\nrun 0\ndisplace_atoms all move 0.1 0 0\nwrite_grid c_phi:grid:phi one.dx\n"
                   "run 0\nwrite_grid c_phi:grid:phi two.dx")
        one, two = (read(done.path(f"{name}.dx")).values for name in ("one", "two"))
        self.assertGreater(np.abs(two).max(), 0.1)
        np.testing.assert_array_equal(one, two)


class Cubes(errortest.InProcess):
    """Contents of a cube file in addition to the values."""

    SYSTEM = ""

    def start(self, units="real", unit=1.0, masses=(1.0, 2.0), style="atomic", n=(2, 3, 4)):
        lengths = [repr(unit * length) for length in (-1, 11, 0, 9, 2, 10)]
        self.lmp.command("clear")
        errortest.commands(self.lmp, f"units {units}\natom_style {style}\natom_modify map array\nregion box block " +
                           " ".join(lengths) + f"\ncreate_box {len(masses)} box")
        x = np.array([[-1.0, 0.0, 2.0], [1.5, 8.25, 3.0], [10.5, 4.0, 9.5]])[:len(masses)]
        count = self.lmp.create_atoms(len(x), [5, 3, 9][:len(x)], list(range(1, len(x) + 1)), (unit * x).ravel().tolist())
        self.assertEqual(count, len(x))
        if style == "atomic":
            errortest.commands(self.lmp, "\n".join(f"mass {k + 1} {mass!r}" for k, mass in enumerate(masses)))
        else:
            errortest.commands(self.lmp, "\n".join(f"set type {k + 1} mass {mass!r}" for k, mass in enumerate(masses)))
        errortest.commands(self.lmp, f"pair_style zero {unit * 3.0!r} nocoeff\npair_coeff * *\nneighbor {unit * 0.3!r} bin\n"
                           "compute id all property/grid {} {} {} id\nrun 0 post no".format(*n))
        return x

    def write(self, words=""):
        path = os.path.join(coordtest.folder(), "map.cube")
        self.lmp.command(f"write_grid c_id:grid:data {path} {words}")
        return read_cube(path)

    def test_units(self):
        """Lengths are in Bohr."""
        for units, unit, bohr, name in (("real", 1, 1 / BOHR, "Bohr"), ("metal", 1, 1 / BOHR, "Bohr"),
                                        ("si", 1e-10, 1 / BOHR, "Bohr"), ("cgs", 1e-8, 1 / BOHR, "Bohr"),
                                        ("micro", 1e-4, 1 / BOHR, "Bohr"), ("nano", 0.1, 1 / BOHR, "Bohr"),
                                        ("electron", 1, 1, "Bohr"), ("lj", 1, 1, "sigma")):
            with self.subTest(units=units):
                x = self.start(units, unit)
                found = self.write("atoms all")
                np.testing.assert_allclose(found.step, bohr * np.diag([6, 3, 2]), atol=DECIMALS)
                np.testing.assert_allclose(found.origin, bohr * np.array([2, 1.5, 3.0]), atol=DECIMALS)
                # In the order of IDs.
                np.testing.assert_allclose(found.x, bohr * x[::-1], atol=2e-9)
                self.assertEqual(found.title, "c_id:grid:data of LAMMPS at timestep 0")
                self.assertEqual(found.second, f"x is the outer, y the middle, z the inner loop; lengths are in {name}")

    def test_rows(self):
        """Lines of six values, fewer at the end of a row."""
        for nz in 1, 5, 6, 7, 12, 13:
            self.start(n=(3, 2, nz))
            expected = np.arange(6 * nz).reshape(nz, 2, 3).transpose(2, 1, 0) + 1
            np.testing.assert_array_equal(self.write().values, expected)

    def test_elements(self):
        for masses, elements in (((1.008, 15.9994, 22.98977), (1, 8, 11)), ((1.0, 16.0, 23.0), (1, 8, 11)),
                                 ((35.5, 40.08, 39.948), (17, 20, 18)), ((58.9332, 58.69, 238.0289), (27, 28, 92)),
                                 ((12.0, 196.967, 300.0), (6, 79, 0)), ((5.0, 2.014, 18.015), (0, 0, 0))):
            for units, dalton in (("real", 1.0), ("metal", 1.0), ("electron", 1.0), ("nano", 1.66053906892e-6)):
                with self.subTest(masses=masses, units=units):
                    self.start(units, masses=[dalton * mass for mass in masses])
                    self.assertEqual(self.write("atoms all").elements, [elements[k] for k in (1, 0, 2)])
            self.start("lj", masses=masses)
            self.assertEqual(self.write("atoms all").elements, [0, 0, 0])
        self.start(style="sphere", masses=(12.011, 63.55, 1.0))    # per-atom masses
        self.assertEqual(self.write("atoms all").elements, [29, 6, 1])

    def test_groups(self):
        x = self.start(masses=(12.011, 14.007, 15.999)) / BOHR
        errortest.commands(self.lmp, "group none empty\ngroup some type 1 3")
        found = self.write("atoms some")
        self.assertEqual(found.elements, [6, 8])
        np.testing.assert_allclose(found.x, x[[0, 2]], atol=2e-9)
        # One atom without element at the corner of the box instead of 0 atoms.
        for words in "", "atoms none":
            found = self.write(words)
            self.assertEqual(found.elements, [0])
            np.testing.assert_allclose(found.x, [np.array([-1, 0, 2]) / BOHR], atol=DECIMALS)

    def test_atoms_are_in_the_box(self):
        x = self.start()
        errortest.commands(self.lmp, "displace_atoms all move 1 1 1.0 units box")
        np.testing.assert_allclose(self.write("atoms all").x * BOHR, [[2.5, 0.25, 4.0], [0.0, 1.0, 3.0]], atol=1e-9)


BAD_WORD = ("Write_grid cannot read '{}' - give c_ID:grid:data of a compute or f_ID:grid:data of a fix, with [k] for column k of "
            "an array")


class Errors(errortest.InProcess):
    SYSTEM = """units real
atom_style charge
atom_modify map array
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 random 20 4711 box
mass 1 1.0
set type 1 charge 1.0
pair_style zero 5.0
pair_coeff * *
comm_modify cutoff 8.0
compute phi all potential/grid 4 5 6 cutoff 4.0 field yes
compute full all potential/grid 4 5 6 cutoff 4.0 far fft 1e-4
compute ke all ke
fix nve all nve
fix mean all ave/grid 1 1 1 4 5 6 density/number
"""

    def check(self, words, message, marked):
        self.assertEqual(errortest.error_of(self.lmp, f"write_grid {words}"), (message, f"write_grid {marked}"))
        self.assertFalse([name for name in os.listdir(".") if ".dx" in name or ".cube" in name])

    def test_source(self):
        self.lmp.command("run 0 post no")
        for word in ("phi", "v_phi:grid:phi", "c_phi", "c_phi:grid", "c_phi:grid:phi:more", "c_phi:grid:efield[]",
                     "c_phi:grid:efield[1", "c_phi:grid:efield[x]", "c_phi:grid:efield[1]2", "c_phi[1]:grid:efield",
                     "c_phi:grid:efield[1][2]", "c_", "c_phi:grid:efield["):
            self.check(f"{word} a.dx", BAD_WORD.format(word), f"[{word}] a.dx")
        for word, message in (("c_psi:grid:phi", "compute psi does not exist"), ("f_psi:grid:data", "fix psi does not exist"),
                              ("c_ke:grid:phi", "compute ke has no per-grid data"),
                              ("f_nve:grid:phi", "fix nve has no per-grid data"),
                              ("c_phi:lattice:phi", "compute phi has no grid named 'lattice'"),
                              ("f_mean:lattice:data", "fix mean has no grid named 'lattice'"),
                              ("c_phi:grid:psi", "compute phi has no data named 'psi' on its grid grid - known are phi, efield"),
                              ("c_full:grid:data", "compute full has no data named 'data' on its grid grid - known are phi, near, far"),
                              ("f_mean:grid:psi", "fix mean has no data named 'psi' on its grid grid - known are data, count"),
                              ("c_phi:grid:phi[1]", "data phi of compute phi has one number per point and no columns - leave out [1]"),
                              ("c_phi:grid:efield", "data efield of compute phi has 3 columns - choose one by [1] to [3]"),
                              ("c_phi:grid:efield[0]", "data efield of compute phi has only columns 1 to 3"),
                              ("c_phi:grid:efield[-1]", "data efield of compute phi has only columns 1 to 3"),
                              ("c_phi:grid:efield[99999999999999999999]",
                               "data efield of compute phi has only columns 1 to 3"),
                              ("f_mean:grid:data[1]", "data data of fix mean has one number per point and no columns - leave out [1]")):
            self.check(f"{word} a.dx", f"Write_grid: {message}", f"[{word}] a.dx")

    def test_before_a_run(self):
        self.check("c_phi:grid:phi a.dx", "Write_grid: compute phi is used before a run has set it up - use run 0 first",
                   "[c_phi:grid:phi] a.dx")
        self.check("f_mean:grid:data a.dx", "Write_grid: fix mean has no data before a run", "[f_mean:grid:data] a.dx")
        errortest.commands(self.lmp, "run 0 post no\ncompute psi all potential/grid 4 5 6 cutoff 4.0")
        self.check("c_psi:grid:phi a.dx", "Write_grid: compute psi is used before a run has set it up - use run 0 first",
                   "[c_psi:grid:phi] a.dx")

    def test_file(self):
        self.lmp.command("run 0 post no")
        for name in "phi.txt", "phi", "phi.DX", "phi.cub", ".dx", ".cube", "phi.dx.gz":
            self.check(f"c_phi:grid:phi {name}", f"Write_grid: file name {name} must end in .dx or .cube, which selects "
                       "the format", f"c_phi:grid:phi [{name}]")
        self.check("c_phi:grid:phi no/such/*.dx", "Write_grid cannot write file no/such/0.dx: No such file or directory",
                   "c_phi:grid:phi [no/such/*.dx]")

    def test_keywords(self):
        self.lmp.command("run 0 post no")
        known = "known are align, atoms"
        self.check("c_phi:grid:phi a.dx every 3", f"Unknown write_grid keyword: every - {known}",
                   "c_phi:grid:phi a.dx [every] 3")
        self.check("c_phi:grid:phi a.cube align middle", "Unknown write_grid align option: middle - known are center, corner",
                   "c_phi:grid:phi a.cube align [middle]")
        self.check("c_phi:grid:phi a.cube atoms them", "Write_grid: group them does not exist",
                   "c_phi:grid:phi a.cube atoms [them]")
        self.check("c_phi:grid:phi a.dx align corner atoms all", "Write_grid: a .dx file has no atoms - leave out atoms, or "
                   "write a .cube file", "c_phi:grid:phi a.dx align corner [atoms] all")
        for words, command in (("", "write_grid"), (" c_phi:grid:phi", "write_grid"),
                               (" c_phi:grid:phi a.cube atoms", "write_grid atoms"),
                               (" c_phi:grid:phi a.dx align", "write_grid align")):
            message, _ = errortest.error_of(self.lmp, f"write_grid{words}")
            self.assertTrue(message.startswith(f"Illegal {command} command: missing argument(s)"), message)

    def test_box(self):
        command = "c_phi:grid:phi a.dx"
        self.lmp.command("clear")
        self.assertEqual(errortest.error_of(self.lmp, f"write_grid {command}"),
                         ("Write_grid needs the simulation box - give it after create_box or read_data",
                          f"[write_grid] {command}"))
        errortest.commands(self.lmp, "dimension 2\nregion box block 0 4 0 4 -0.5 0.5\ncreate_box 1 box\ncreate_atoms 1 "
                           "random 5 4711 box\nmass 1 1.0\ncompute id all property/grid 2 2 1 id\nrun 0 post no")
        self.assertEqual(errortest.error_of(self.lmp, "write_grid c_id:grid:data a.dx"),
                         ("Write_grid is for grids of three dimensions - use dump grid in two",
                          "[write_grid] c_id:grid:data a.dx"))


class Complete(unittest.TestCase):
    """A file exists under its name only if it is complete."""

    SCRIPT = (system("orthogonal") + COMPUTES.format(50, 60, 70, "") + "run 0 post no\n")

    def start(self, name):
        self.path = os.path.join(coordtest.folder(), name)
        with open(self.path, "w") as file:
            file.write("of before\n")

    def check(self):
        with open(self.path) as file:
            self.assertEqual(file.read(), "of before\n")

    def test_full_disk(self):
        """All ranks stop with the reason."""
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for name in "full.dx", "full.cube":
            self.start(name)
            for ranks in 1, 3:
                os.symlink("/dev/full", self.path + ".tmp")
                code, output = errortest.run_script(self.SCRIPT + f"write_grid c_id:grid:data {self.path}\n", ranks)
                self.assertNotEqual(code, 0)
                self.assertEqual(errortest.errors_in(output),
                                 [f"Write_grid cannot write file {self.path}: No space left on device"], output)
                self.check()
                self.assertFalse(os.path.lexists(self.path + ".tmp"))

    def test_folder_named_as_the_file(self):
        folder = os.path.join(coordtest.folder(), "folder.dx")
        os.mkdir(folder)
        code, output = errortest.run_script(self.SCRIPT + f"write_grid c_id:grid:data {folder}\n", 1)
        self.assertNotEqual(code, 0)
        self.assertEqual(errortest.errors_in(output), [f"Write_grid cannot write file {folder}: Is a directory"], output)
        self.assertFalse(os.path.exists(folder + ".tmp"))

    def test_killed(self):
        """Killed in the middle of the file, while a pipe blocks it."""
        self.start("killed.dx")
        os.mkfifo(self.path + ".tmp")
        script = os.path.join(coordtest.folder(), "in.killed")
        with open(script, "w") as file:
            file.write(self.SCRIPT + f"write_grid c_id:grid:data {self.path}\n")
        process = subprocess.Popen([*coordtest.lmp_program(), "-in", script, "-log", "none", "-nocite"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(self.path + ".tmp") as pipe:
            self.assertEqual(len(pipe.read(1000)), 1000)
            self.assertIsNone(process.poll())
            self.check()
            process.kill()
            process.wait()
        self.check()


if __name__ == "__main__":
    unittest.main(verbosity=2)
