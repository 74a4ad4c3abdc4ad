"""compute potential/grid compared with sums over explicit periodic images in numpy, by the
published formulas: kernels, overlaps, boxes, ranks, units, moving atoms, changing boxes and load
balancing. fix ave/grid and dump grid must read the maps.

Positions of grid points are those of LAMMPS' compute property/grid. Positions of atoms are those
that each run dumped.
"""
# Also on two GPUs

import itertools
import re
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box

N = 120
GRID = (7, 6, 5)
CUTOFF, SKIN = 3.1, 0.4
ORTHOGONAL = Box((8.0, 7.0, 6.5), lo=(-1.0, 0.5, 2.0))
TILTED = Box((8.0, 7.0, 6.5), tilt=(2.5, -1.5, 2.0), lo=(-1.0, 0.5, 2.0))
OPEN = Box((8.0, 7.0, 6.5), periodic=(False, False, False))
SLAB = Box((8.0, 7.0, 6.5), periodic=(True, True, False))
DOUBLE, FLOAT = 1e-11, 3e-6    # relative to the sum of |q|/r over the charges of a point
LD = np.longdouble
DEVICE_LINE = r"host \(.*, 1 thread per rank\)" if coordtest.DEVICE == "host" else r"cuda \(.*\)"
# CODATA 2018: 1/(4 pi epsilon_0) in V Angstrom per elementary charge.
COULOMB = 14.3996454784


def value_and_derivative(kernel, r, cutoff, soft=None):
    """Return K(r) and dK/dr of a unit charge."""
    with np.errstate(divide="ignore", invalid="ignore"):
        u, du = 1 / r, -1 / r**2
        if soft:
            in_ball = r < soft
            u = np.where(in_ball, (3 - (r / soft) ** 2) / (2 * LD(soft)), u)
            du = np.where(in_ball, -r / LD(soft) ** 3, du)
    if kernel == "direct":
        return u, du
    s, ds = (r / cutoff) ** 2, 2 * r / LD(cutoff) ** 2
    if kernel == "smooth":
        u, du = u * (1 - s) ** 2, du * (1 - s) ** 2 - 2 * u * (1 - s) * ds
    if kernel == "taylor":
        u, du = (u - (LD(15) / 8 - LD(5) / 4 * s + LD(3) / 8 * s**2) / cutoff,
                 du - (-LD(5) / 4 + LD(3) / 4 * s) * ds / cutoff)
    return np.where(r > cutoff, 0, u), np.where(r > cutoff, 0, du)


class Map:
    """Potentials, fields and the sums of |q|/r at points. jump: rounding decides whether a charge
    counts."""

    def __init__(self, box, points, x, q, kernel="smooth", cutoff=CUTOFF, zero=None, soft=None, itself=False):
        images = box.images(cutoff) if kernel != "direct" else np.zeros((1, 3))
        points, x, q = np.asarray(points, LD), np.asarray(box.wrap(x), LD), np.asarray(q, LD)
        self.phi, self.size, self.field_size = (np.zeros(len(points), LD) for _ in range(3))
        self.field = np.zeros((len(points), 3), LD)
        self.jump = np.zeros(len(points), bool)
        near = np.zeros(len(points), bool)
        for image in images:
            r = np.linalg.norm((points[:, None] - x - image).astype(float), axis=2)
            counts = r <= cutoff * 1.001 if kernel != "direct" else np.ones(r.shape, bool)
            if itself and not image.any():
                np.fill_diagonal(counts, False)
            i, j = np.nonzero(counts)    # few: the rest is in extended precision
            d = points[i] - x[j] - image
            r = np.sqrt((d**2).sum(axis=1))
            if not itself and not soft:
                keep = r > 1e-5 * cutoff
                i, j, d, r = i[keep], j[keep], d[keep], r[keep]
            value, derivative = value_and_derivative(kernel, r, cutoff, soft)
            with np.errstate(divide="ignore", invalid="ignore"):
                direction = np.where(r[:, None] > 0, d / r[:, None], 0)
            bare = np.where((r <= cutoff) | (kernel == "direct"), 1 / np.maximum(r, soft or 1e-9), 0)
            np.add.at(self.phi, i, q[j] * value)
            np.subtract.at(self.field, i, (q[j] * derivative)[:, None] * direction)
            np.add.at(self.size, i, np.abs(q[j]) * bare)
            np.add.at(self.field_size, i, np.abs(q[j]) * bare**2)
            if kernel == "cut":
                self.jump[i[np.abs(r - cutoff) < 1e-5]] = True
            if zero:
                near[i[r < zero]] = True
                self.jump[i[np.abs(r - zero) < 1e-5]] = True
        if zero:
            self.phi[near] = 0
            self.field[near] = 0

    def worst(self, phi, field=None, scale=1.0):
        """Return the largest errors, relative to the sizes, of potentials and fields in units of
        scale."""
        keep = ~self.jump
        assert keep.mean() > 0.9, "hardly a point is left"
        floor = 1e-3 * self.size.max()
        error = np.abs(phi / scale - self.phi)[keep] / np.maximum(self.size, floor)[keep]
        worst = [float(error.max())]
        if field is not None:
            error = np.abs(field / scale - self.field)[keep] / np.maximum(self.field_size, floor)[keep][:, None]
            worst.append(float(error.max()))
        return worst


def charges(n=N, seed=1):
    return np.random.default_rng(seed).normal(size=n).round(4)


def write_data(path, x, q, box, velocity=None):
    coordtest.write_data(path, x, box)
    with open(path) as file:
        text = file.read()
    head, atoms = text.split("Atoms # atomic")
    lines = [line.split() for line in atoms.strip().split("\n")]
    with open(path, "w") as file:
        file.write(head + "Atoms # charge\n\n")
        for charge, (tag, kind, *position) in zip(q.tolist(), lines):
            file.write(f"{tag} {kind} {charge!r} {' '.join(position)}\n")
        if velocity is not None:
            file.write("\nVelocities\n\n")
            for k, v in enumerate(velocity.tolist()):
                file.write(f"{k + 1} {v[0]!r} {v[1]!r} {v[2]!r}\n")


def system(box, seed=1, n=N, speed=0.0):
    path = f"{coordtest.folder()}/data-{seed}-{speed}-{box.tilted}-{sum(box.periodic)}-{n}"
    rng = np.random.default_rng(seed)
    x = coordtest.random_positions(rng, box, n)
    velocity = rng.normal(size=(n, 3))
    velocity *= speed / np.linalg.norm(velocity, axis=1)[:, None]
    write_data(path, x, charges(n, seed), box, velocity)
    return path


def setup(box, data, units="lj", first=(), shell=CUTOFF + SKIN, skin=SKIN):
    return [f"units {units}", *first, "atom_style charge", "atom_modify map array",
            "boundary " + " ".join("pf"[not p] for p in box.periodic), "box tilt large", f"read_data {data}", "mass * 1.0",
            "pair_style zero 1.0 nocoeff", "pair_coeff * *", f"neighbor {skin} bin",
            "neigh_modify every 1 delay 0 check yes", f"comm_modify cutoff {shell + 1e-9}"]


def output(computes, grid=GRID, every=1):
    """Return dump commands for the atoms, and for each grid with the positions of its points from
    compute property/grid."""
    lines = []
    for name, has_field, corner in computes:
        positions = "x y z" if corner else "xc yc zc"
        field = f" c_{name}:grid:efield[*]" if has_field else ""
        lines += [f"compute at_{name} all property/grid {grid[0]} {grid[1]} {grid[2]} id {positions}",
                  f"dump {name} all grid {every} {name}.grid c_at_{name}:grid:data[*] c_{name}:grid:phi{field}",
                  f"dump_modify {name} format float %.17g"]
    columns = " ".join(f"c_{name}" for name, *_ in computes)
    return lines + [f"dump d all custom {every} atoms.dump id x y z q {columns}", "dump_modify d format float %.17g sort id"]


class GridFrame:
    def __init__(self, rows):
        rows = rows[np.argsort(rows[:, 0])]
        self.positions, self.phi = rows[:, 1:4], rows[:, 4]
        self.field = rows[:, 5:8] if rows.shape[1] >= 8 else None
        self.more = rows[:, 8:]


def read_grid(path):
    frames = []
    with open(path) as file:
        text = file.read()
    for part in text.split("ITEM: TIMESTEP\n")[1:]:
        _, rows = re.split(r"ITEM: GRID CELLS.*\n", part)
        frames.append(GridFrame(np.array([line.split() for line in rows.strip().split("\n")], float)))
    return frames


class PotentialGrid(unittest.TestCase):
    def compare(self, run, computes, tolerance=DOUBLE, scale=1.0, group=slice(None), nframes=None):
        """computes: name -> arguments of Map."""
        atoms = dumptest.read_dump(run.path("atoms.dump"))
        if nframes:
            self.assertEqual(len(atoms), nframes)
        for name, arguments in computes.items():
            grids = read_grid(run.path(f"{name}.grid"))
            self.assertEqual(len(grids), len(atoms))
            for frame, grid in zip(atoms, grids):
                x, q = frame.x()[group], frame["q"][group]
                expected = Map(frame.box, grid.positions, x, q, **arguments)
                self.assertLess(max(expected.worst(grid.phi, grid.field, scale)), coordtest.rounded(tolerance),
                                f"{name}, step {frame.step}")
                self.assertGreater(float(np.abs(expected.phi).max()), 0.1)
                without = {key: value for key, value in arguments.items() if key != "zero"}
                at_atoms = Map(frame.box, frame.box.wrap(x), x, q, itself=True, **without)
                found = frame[f"c_{name}"]
                self.assertLess(at_atoms.worst(found[group], scale=scale)[0], coordtest.rounded(tolerance))
                self.assertFalse(np.delete(found, np.arange(len(found))[group]).any())

    def kernels(self, box, ranks, later=(), run="run 0", tolerance=DOUBLE, precision="double", data=None, first=(),
                shell=CUTOFF + SKIN + 1.0, grid=GRID, nframes=None, every=1):
        computes, lines = {}, []
        for k, (kernel, overlap) in enumerate([("cut", ""), ("smooth", ""), ("taylor", "soft 0.7"), ("smooth", "zero 0.5"),
                                               ("smooth", "soft 3.1"), ("cut", "soft 0.3")]):
            name, corner = f"c{k}", k % 2 == 1
            words = overlap.split()
            computes[name] = {"kernel": kernel, **({words[0]: float(words[1])} if words else {})}
            lines.append(f"compute {name} all potential/grid {grid[0]} {grid[1]} {grid[2]} cutoff {CUTOFF} kernel {kernel} "
                         f"{'overlap ' + overlap if overlap else ''} field yes align {'corner' if corner else 'center'} "
                         f"precision {precision}")
        lines += output([(name, True, k % 2 == 1) for k, name in enumerate(computes)], grid, every)
        done = coordtest.run_lammps([*setup(box, data or system(box), first=first, shell=shell), *lines, *later, run], ranks)
        self.compare(done, computes, tolerance, nframes=nframes)
        return done

    def test_boxes_and_ranks(self):
        for box, ranks in itertools.product((ORTHOGONAL, TILTED, SLAB, OPEN), (1, 2, 4)):
            with self.subTest(tilted=box.tilted, periodic=box.periodic, ranks=ranks):
                self.kernels(box, ranks)

    def test_more_ranks_than_planes_of_points(self):
        """Ranks without a point."""
        self.kernels(ORTHOGONAL, 4, grid=(1, 2, 1), first=["processors 4 1 1"], shell=8.0)
        self.kernels(TILTED, 4, grid=(1, 1, 3), first=["processors 1 1 4"], shell=8.0)

    def test_precision(self):
        for precision in ("mixed", "single") if coordtest.DEVICE == "host" else ("mixed",):
            self.kernels(TILTED, 2, tolerance=FLOAT, precision=precision)

    def test_moving_atoms(self):
        """Runs until atoms have used up the skin, and beyond. Ghost atoms reach exactly as far as
        necessary."""
        for box, ranks in (ORTHOGONAL, 1), (TILTED, 4), (SLAB, 2):
            half = max(1.1 * np.diag(box.edges) / GRID) / 2
            done = self.kernels(box, ranks, data=system(box, 3, speed=4.0), shell=CUTOFF + SKIN + half,
                                later=["timestep 0.01", "fix move all nve", "fix stay all wall/reflect zlo EDGE zhi EDGE"
                                       if box is SLAB else ""], run="run 12", every=4, nframes=4)
            builds = int(re.search(r"Neighbor list builds = (\d+)", done.text).group(1))
            self.assertTrue(1 <= builds <= 7, builds)

    def test_changing_box(self):
        """fix deform at the end of a step, and a barostat."""
        for box, change in ((ORTHOGONAL, "fix b all deform 1 x scale 1.04 y scale 0.97 remap v"),
                            (TILTED, "fix b all deform 1 x scale 1.03 xy delta 0.2 remap x"),
                            (ORTHOGONAL, "fix b all npt temp 1.0 1.0 0.1 aniso 50.0 50.0 3.0"),
                            (TILTED, "fix b all npt temp 1.0 1.0 0.1 tri 30.0 30.0 3.0")):
            move = [] if "npt" in change else ["fix move all nve"]
            for ranks in 1, 2:
                with self.subTest(change, ranks=ranks):
                    done = self.kernels(box, ranks, data=system(box, 4, speed=1.0), run="run 8", every=4, nframes=3,
                                        later=["timestep 0.01", *move, change], shell=CUTOFF + SKIN + 1.5)
                    atoms = dumptest.read_dump(done.path("atoms.dump"))
                    self.assertGreater(np.abs(atoms[0].box.edges - atoms[-1].box.edges).max(), 1e-3)

    def test_load_balancing(self):
        for balance in (["balance 1.0 shift xyz 10 1.0"], ["fix bal all balance 3 1.0 shift xyz 10 1.0"],
                        ["comm_style tiled", "balance 1.0 rcb"], ["comm_style tiled", "fix bal all balance 3 1.0 rcb"]):
            for box in ORTHOGONAL, TILTED:
                with self.subTest(" ".join(balance), tilted=box.tilted):
                    # Most atoms are in one corner.
                    data = f"{coordtest.folder()}/crowd-{box.tilted}"
                    rng = np.random.default_rng(5)
                    x = box.lo + (0.01 + 0.98 * rng.random((N, 3)) ** 2) @ box.edges
                    velocity = rng.normal(size=(N, 3))
                    write_data(data, x, charges(), box, velocity)
                    self.kernels(box, 4, data=data, later=[*balance, "timestep 0.01", "fix move all nve"], run="run 6",
                                 every=3, nframes=3)

    def test_group(self):
        """Charges of a group only, and potentials at its atoms."""
        lines = ["group some id 11:70", f"compute c some potential/grid 7 6 5 cutoff {CUTOFF} precision double",
                 *output([("c", False, False)])]
        for ranks in 1, 2:
            run = coordtest.run_lammps([*setup(TILTED, system(TILTED)), *lines, "run 0"], ranks)
            self.compare(run, {"c": {}}, group=slice(10, 70))

    def test_dynamic_group(self):
        """Charges enter and leave the group. Without charges, the potential is 0."""
        lines = ["variable left atom x<v_limit", "variable limit equal 5-step*20",
                 "group moving dynamic all var left every 1",
                 f"compute c moving potential/grid 7 6 5 cutoff {CUTOFF} precision double", *output([("c", False, False)]),
                 "timestep 0.001", "fix move all nve", "run 1"]
        run = coordtest.run_lammps([*setup(ORTHOGONAL, system(ORTHOGONAL)), *lines], 2)
        frames, grids = dumptest.read_dump(run.path("atoms.dump")), read_grid(run.path("c.grid"))
        left = frames[0]["x"] < 5
        self.assertTrue(0 < left.sum() < N)
        expected = Map(frames[0].box, grids[0].positions, frames[0].x()[left], frames[0]["q"][left])
        self.assertLess(expected.worst(grids[0].phi)[0], coordtest.rounded(DOUBLE))
        self.assertFalse(grids[1].phi.any())

    def test_direct(self):
        for ranks in 1, 2, 4:
            lines = ["compute c all potential/grid 7 6 5 kernel direct field yes precision double",
                     "compute s all potential/grid 7 6 5 kernel direct field yes overlap soft 1.2 precision double align corner",
                     *output([("c", True, False), ("s", True, True)]), "timestep 0.01", "fix move all nve",
                     "fix stay all wall/reflect xlo EDGE xhi EDGE ylo EDGE yhi EDGE zlo EDGE zhi EDGE", "run 3"]
            run = coordtest.run_lammps([*setup(OPEN, system(OPEN, 6, speed=2.0)), *lines], ranks)
            self.compare(run, {"c": {"kernel": "direct"}, "s": {"kernel": "direct", "soft": 1.2}}, nframes=4)

    def test_numbers_do_not_depend_on_ranks_threads_and_bricks(self):
        found = {}
        for ranks, threads in (1, 1), (2, 1), (4, 1), (1, 2):
            lines = [f"compute c all potential/grid 12 13 14 cutoff {CUTOFF} field yes precision double",
                     *output([("c", True, False)], (12, 13, 14)), "run 0"]
            run = coordtest.run_lammps([*setup(TILTED, system(TILTED)), *lines], ranks, threads)
            found[ranks, threads] = read_grid(run.path("c.grid"))[0]
        for key, grid in found.items():
            np.testing.assert_allclose(grid.phi, found[1, 1].phi, 0, 1e-12 * np.abs(found[1, 1].phi).max(), err_msg=str(key))
        coordtest.assert_same_bits(found[1, 2].phi, found[1, 1].phi)
        coordtest.assert_same_bits(found[1, 2].field, found[1, 1].field)

    def test_consumers(self):
        """fix ave/grid has the mean over time of the maps that dump grid writes, also after load
        balancing; dump grid/vtk writes the same maps."""
        for ranks, more in (1, []), (2, []), (4, ["fix bal all balance 2 1.0 shift xyz 10 1.0"]):
            start = [*setup(ORTHOGONAL, system(ORTHOGONAL, 7, speed=4.0), shell=5.0),
                     f"compute c all potential/grid 7 6 5 cutoff {CUTOFF} field yes align corner precision double",
                     "timestep 0.01", "fix move all nve", *more,
                     "fix mean all ave/grid 1 4 4 7 6 5 c_c:grid:phi c_c:grid:efield[1] c_c:grid:efield[2] c_c:grid:efield[3]"]
            end = ["compute p all property/grid 7 6 5 id x y z",
                   "dump mean all grid 4 mean.grid c_p:grid:data[*] f_mean:grid:data[*]",
                   "dump_modify mean format float %.17g", "dump vtk all grid/vtk 4 map.*.vtr c_c:grid:phi", "run 4"]
            run = coordtest.run_lammps([*start, *output([("c", True, True)]), *end], ranks)
            each, mean = read_grid(run.path("c.grid"))[1:], read_grid(run.path("mean.grid"))[-1]
            self.assertEqual(len(each), 4)
            self.assertGreater(np.abs(each[0].phi - each[-1].phi).max(), 1e-3)
            same = dict(rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(mean.phi, np.mean([g.phi for g in each], axis=0), **same)
            np.testing.assert_allclose(mean.field, np.mean([g.field for g in each], axis=0), **same)
            with open(run.path("map.4.vtr")) as file:
                numbers = re.search(r"<DataArray[^>]*Name=\"Scalar\"[^>]*>(.*?)</DataArray>", file.read(), re.DOTALL)
            np.testing.assert_allclose(np.array(numbers.group(1).split(), float), each[-1].phi, 1e-4, 1e-4)
            # Without other commands that request the map.
            alone = read_grid(coordtest.run_lammps([*start, *end], ranks).path("mean.grid"))[-1]
            np.testing.assert_allclose(alone.phi, mean.phi, **same)
            np.testing.assert_allclose(alone.field, mean.field, **same)

    def test_one_charge(self):
        """A unit charge 5 Angstrom from a grid point: 14.39964/5 V in LAMMPS' units with a Volt,
        and e phi/kT."""
        angstrom = {"metal": 1.0, "real": 1.0, "electron": 1 / 0.529177210903, "si": 1e-10, "cgs": 1e-8, "micro": 1e-4,
                    "nano": 0.1}
        charge = {"si": 1.602176634e-19, "cgs": 4.803204712570263e-10, "micro": 1.602176634e-7}
        volts = COULOMB / 5.0
        for units, length in angstrom.items():
            one = charge.get(units, 1.0)
            corners = " ".join(f"0 {20 * length!r}" for _ in range(3))
            lines = [f"units {units}", "atom_style charge", "atom_modify map array", "boundary f f f",
                     f"region b block {corners}", "create_box 1 b",
                     f"create_atoms 1 single {7.5 * length!r} {10 * length!r} {10 * length!r}", "mass 1 1.0",
                     f"set atom 1 charge {one!r}", f"pair_style zero {length}", "pair_coeff * *", f"neighbor {length} bin",
                     "compute v all potential/grid 8 8 8 kernel direct units volt align corner field yes precision double",
                     "compute k all potential/grid 8 8 8 kernel direct units kT temp 300 align corner precision double",
                     "compute w all potential/grid 8 8 8 kernel direct units volt dielectric 78.5 align corner "
                     "precision double",
                     "compute n all potential/grid 8 8 8 kernel direct align corner precision double",
                     *output([("v", True, True), ("k", False, True), ("w", False, True), ("n", False, True)], (8, 8, 8)),
                     "run 0"]
            run = coordtest.run_lammps(lines)
            point = (4 * 8 + 4) * 8 + 5    # at 12.5, 10, 10
            v, k, w, n = (read_grid(run.path(f"{name}.grid"))[0] for name in "vkwn")
            np.testing.assert_allclose(v.positions[point], np.array([12.5, 10, 10]) * length, 1e-12)
            # LAMMPS' constants are of different years, and its constant of Coulomb's law has five
            # digits in SI.
            rounding = 1e-5 if units == "si" else 2e-6
            with self.subTest(units):
                self.assertAlmostEqual(v.phi[point] / volts, 1, delta=rounding)
                self.assertAlmostEqual(w.phi[point] * 78.5 / volts, 1, delta=rounding)
                np.testing.assert_allclose(v.field[point], [v.phi[point] / (5 * length), 0, 0], 1e-12, 1e-12 / length)
                self.assertAlmostEqual(k.phi[point] / (volts / (8.617333262e-5 * 300)), 1, delta=1e-5)
            if units == "metal":
                self.assertAlmostEqual(v.phi[point] * 5, 14.399645, delta=1e-12)
                self.assertEqual(n.phi[point], v.phi[point])
            if units == "real":
                self.assertAlmostEqual(n.phi[point] * 5, 332.06371, delta=1e-10)
        # Reduced units: half a length unit away.
        reduced = [line.replace("units nano", "units lj").replace("kT temp 300", "kT temp 0.7") for line in lines
                   if re.match("(units|atom|boundary|region|create|mass|set|pair|neighbor|compute k|compute at_k|dump k|run)", line)
                   or line.startswith("dump_modify k")]
        run = coordtest.run_lammps(reduced)
        self.assertAlmostEqual(read_grid(run.path("k.grid"))[0].phi[point] * 0.5 * 0.7, 1, delta=1e-12)
        self.assertIn("units kT at temperature 0.7\n", run.text)

    def test_energy_of_coul_cut(self):
        """Half the sum of q phi over atoms is the energy of LAMMPS' own pair style coul/cut, also
        in a tilted box and with the dielectric command."""
        for units, box, ranks in ("real", ORTHOGONAL, 1), ("metal", TILTED, 2), ("lj", SLAB, 4):
            lines = [line.replace("pair_style zero 1.0 nocoeff", f"dielectric 2.5\npair_style coul/cut {CUTOFF}")
                     for line in setup(box, system(box, 9), units)]
            lines += [f"compute c all potential/grid 2 2 2 cutoff {CUTOFF} kernel cut precision double", "variable u atom q*c_c/2",
                      "compute u all reduce sum v_u", "thermo_style custom step pe c_u",
                      "thermo_modify format float %.17g norm no", "run 0"]
            table = coordtest.run_lammps(lines, ranks).tables[0]
            self.assertGreater(abs(table["PotEng"][0]), 0.1)
            self.assertAlmostEqual(table["c_u"][0] / table["PotEng"][0], 1, delta=coordtest.rounded(1e-11))

    def test_several_runs_and_rerun(self):
        """Maps follow charges and atoms that commands change between runs, and rerun reads a dump
        again."""
        lines = [f"compute c all potential/grid 7 6 5 cutoff {CUTOFF} precision double", *output([("c", False, False)], every=2),
                 "timestep 0.01", "fix move all nve", "run 2", "set group all charge 0.25", "run 2", "displace_atoms all move 0.3 0 0",
                 "run 0", "undump d", "undump c", "dump c all grid 2 again.grid c_at_c:grid:data[*] c_c:grid:phi",
                 "dump_modify c format float %.17g", "rerun atoms.dump dump x y z q"]
        run = coordtest.run_lammps([*setup(ORTHOGONAL, system(ORTHOGONAL, 8, speed=2.0)), *lines], 2)
        frames, grids = dumptest.read_dump(run.path("atoms.dump")), read_grid(run.path("c.grid"))
        for frame, grid in zip(frames, grids):
            self.assertLess(Map(frame.box, grid.positions, frame.x(), frame["q"]).worst(grid.phi)[0], coordtest.rounded(DOUBLE))
        again = read_grid(run.path("again.grid"))
        steps = [frame.step for frame in frames]
        for k, grid in enumerate(again):
            np.testing.assert_allclose(grid.phi, grids[k].phi, 1e-9, 1e-9, err_msg=f"{k} of {steps}")

    def test_set_up_line(self):
        precision = "single" if coordtest.DEVICE == "host" else "double"
        lines = [f"compute c all potential/grid 7 6 5 cutoff {CUTOFF} overlap soft 0.5 field yes dielectric 2 align corner",
                 f"compute d all potential/grid 2 3 4 kernel direct precision {precision}", "run 0", "run 0"]
        run = coordtest.run_lammps([*setup(OPEN, system(OPEN), shell=5.0), *lines])
        found = re.findall(r"^Compute potential/grid (?:.*\n)(?:  .*\n)", run.text, re.MULTILINE)
        self.assertEqual(len(found), 2, "once each")
        self.assertRegex(found[0], rf"^Compute potential/grid c: {DEVICE_LINE}, precision mixed, kernel smooth, "
                         r"cutoff 3\.1, overlap soft 0\.5, (?:owned and ghost atoms|atoms and maps resident on the GPU)\n"
                         r"  7 x 6 x 5 points at corners of cells, units native, dielectric 2, with field\n$")
        self.assertRegex(found[1], rf"^Compute potential/grid d: {DEVICE_LINE}, precision {precision}, kernel direct, "
                         r"overlap skip, atoms gathered over ranks(?:, copied through the host)?\n  2 x 3 x 4 points at centers of cells, units native\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
