"""compute potential/grid ... far fft: the potential of all periodic images, compared with Ewald
sums in numpy with another splitting, known potentials of crystals, and LAMMPS' kspace_style ewald.
"""
# Processors: 2
# KOKKOS on a GPU: newton on

import math
import os
import re
import unittest

import numpy as np

import coordtest
import dumptest
import errortest
from brutetest import Box
from test_potential_grid import COULOMB, SKIN, Map, charges, output, read_grid, setup, system, write_data

ORTHOGONAL = Box((8.0, 7.0, 6.5), lo=(-1.0, 0.5, 2.0))
TILTED = Box((8.0, 7.0, 6.5), tilt=(2.5, -1.5, 2.0), lo=(-1.0, 0.5, 2.0))
GRID = (7, 6, 5)
N = 40


def ewald(box, points, x, q, alpha=1.2, itself=False):
    """Return potentials and fields at points, from charges and a neutralizing background. itself:
    points are those of the charges, and exclude the charge at the point."""
    points, x, q = np.asarray(points, float), box.wrap(np.asarray(x, float)), np.asarray(q, float)
    volume = abs(np.linalg.det(box.edges))
    phi, field = np.full(len(points), -np.pi * q.sum() / (alpha**2 * volume)), np.zeros((len(points), 3))
    erfc = np.vectorize(math.erfc, otypes=[float])
    for image in box.images(6.3 / alpha):
        d = points[:, None] - x - image
        r = np.linalg.norm(d, axis=2)
        i, j = np.nonzero((r < 6.3 / alpha) & (r > 1e-6))
        r, d = r[i, j], d[i, j]
        near = erfc(alpha * r) / r
        np.add.at(phi, i, q[j] * near)
        derivative = near / r + 2 * alpha / np.sqrt(np.pi) * np.exp(-(alpha * r) ** 2) / r
        np.add.at(field, i, (q[j] * derivative / r)[:, None] * d)
    reciprocal = 2 * np.pi * np.linalg.inv(box.edges)    # columns
    reach = 12.6 * alpha
    most = [int(np.ceil(reach * np.linalg.norm(edge) / (2 * np.pi))) for edge in box.edges]
    m = np.stack(np.meshgrid(*(np.arange(-k, k + 1) for k in most), indexing="ij"), -1).reshape(-1, 3)
    waves = m @ reciprocal.T
    size = (waves**2).sum(axis=1)
    waves, size = waves[(size > 0) & (size < reach**2)], size[(size > 0) & (size < reach**2)]
    factor = 4 * np.pi / (volume * size) * np.exp(-size / (4 * alpha**2))
    density = np.exp(-1j * (waves @ x.T)) @ q
    phases = np.exp(1j * (points @ waves.T))
    phi += (phases @ (factor * density)).real
    for c in range(3):
        field[:, c] -= (phases @ (1j * waves[:, c] * factor * density)).real
    if itself:
        phi -= 2 * alpha / np.sqrt(np.pi) * q
    return phi, field


def rms(error):
    return float(np.sqrt((np.asarray(error) ** 2).mean()))


class Far(unittest.TestCase):
    def run_far(self, box, data, words, ranks=1, grid=GRID, corner=False, first=(), shell=None, cutoff=3.0, units="lj", later=(),
                group="all"):
        align = "corner" if corner else "center"
        lines = [f"compute m {group} potential/grid {grid[0]} {grid[1]} {grid[2]} cutoff {cutoff} field yes align {align} precision double "
                 f"{words}"]
        dump = output([("m", True, corner)], grid)
        dump = [line.replace("efield[*]", "efield[*] c_m:grid:near c_m:grid:far") if line.startswith("dump m ") else line for line in dump]
        run = coordtest.run_lammps([*setup(box, data, units, first, shell or cutoff + SKIN + 1.6), *later, *lines, *dump, "run 0"], ranks)
        who = "cuFFT on the GPU" if coordtest.DEVICE == "cuda" and ranks == 1 else "LAMMPS' Fourier transforms"
        self.assertIn(f"  reciprocal-space part by {who} of a mesh of ", run.text)
        return run, dumptest.read_dump(run.path("atoms.dump"))[0], read_grid(run.path("m.grid"))[0]

    def test_ewald(self):
        """Errors are within the tolerance, for any cutoff and number of ranks."""
        for box, corner in (ORTHOGONAL, False), (TILTED, True):
            data = system(box, 5, n=N)
            q = charges(N, 5)
            expected = None
            for tolerance, cutoff, ranks in ((1e-3, 3.0, 1), (1e-5, 2.2, 2), (1e-5, 3.4, 4), (1e-8, 3.2, 1), (1e-8, 3.2, 4)):
                with self.subTest(tilted=box.tilted, tolerance=tolerance, cutoff=cutoff, ranks=ranks):
                    _, atoms, grid = self.run_far(box, data, f"far fft {tolerance}", ranks, corner=corner, cutoff=cutoff)
                    if expected is None:
                        expected = ewald(box, grid.positions, atoms.x(), q)
                        at_atoms = ewald(box, atoms.x(), atoms.x(), q, itself=True)[0]
                    error = rms(grid.phi - expected[0])
                    print(f"\ntolerance {tolerance:.0e}, cutoff {cutoff}: error {error:.1e}, at atoms {rms(atoms['c_m'] - at_atoms):.1e}, "
                          f"of the field {rms(grid.field - expected[1]):.1e}", end=" ")
                    self.assertLess(error, 1.2 * tolerance)
                    self.assertGreater(error, 1e-3 * tolerance)
                    self.assertLess(rms(atoms["c_m"] - at_atoms), 2 * tolerance)
                    self.assertLess(rms(grid.field - expected[1]), 20 * tolerance)
                    near, far = grid.more.T
                    np.testing.assert_allclose(near + far, grid.phi, 0, 1e-12)
                    self.assertGreater(rms(far), 0.1)

    def crystal(self, kind, distance):
        """Return rock salt or caesium chloride with a site at the origin."""
        if kind == "NaCl":
            cells = np.indices((4, 4, 4)).reshape(3, -1).T
            box = Box((4 * distance,) * 3)
            return box, cells * distance, np.where(cells.sum(axis=1) % 2, -1.0, 1.0)
        edge = 2 * distance / np.sqrt(3)
        cells = np.indices((3, 3, 3)).reshape(3, -1).T
        return Box((3 * edge,) * 3), np.concatenate([cells, cells + 0.5]) * edge, np.repeat([1.0, -1.0], len(cells))

    def test_crystals(self):
        """At sites without the ion there; and between sites, in Volt."""
        for kind, madelung in ("NaCl", -1.7475645946331822), ("CsCl", -1.7626747730709903):
            distance = 2.82
            box, x, q = self.crystal(kind, distance)
            data = f"{coordtest.folder()}/{kind}"
            write_data(data, x, q, box)
            n = 8 if kind == "NaCl" else 6    # points at sites and halfway between
            _, atoms, grid = self.run_far(box, data, "far fft 1e-9 units volt", grid=(n, n, n), corner=True, cutoff=6.0, units="metal",
                                          shell=9.0)
            potential = COULOMB * madelung / distance
            np.testing.assert_allclose(atoms["c_m"] * q, potential, 1e-7)
            d = box.wrap(grid.positions)[:, None] - x
            d -= np.round(d / box.edges[0, 0]) * box.edges[0, 0]
            r = np.linalg.norm(d, axis=2)
            at_site, ion = np.nonzero(r < 1e-6)
            self.assertEqual(len(at_site), len(x))
            np.testing.assert_allclose(grid.phi[at_site] * q[ion], potential, 1e-7)
            self.assertLess(np.abs(grid.field[at_site]).max(), 1e-6)
            if kind == "NaCl":    # the center of a small cube
                middle = np.isclose(r.min(axis=1), np.sqrt(3) / 2 * distance)
                self.assertEqual(middle.sum(), 64)
                self.assertLess(np.abs(grid.phi[middle]).max(), 1e-7)

    def test_one_charge(self):
        """A charge with a neutralizing background: the potential of a cubic lattice of charges at
        one of them, and a warning."""
        box = Box((5.0, 5.0, 5.0))
        data = f"{coordtest.folder()}/one"
        write_data(data, np.array([[1.2, 3.4, 0.7]]), np.array([1.0]), box)
        run, atoms, _ = self.run_far(box, data, "far fft 1e-8")
        self.assertAlmostEqual(atoms["c_m"][0], -2.837297479480620 / 5.0, 7)
        self.assertIn("WARNING: Compute potential/grid m: charges of group all add up to 1: its periodic potential "
                      "includes a uniform background that neutralizes them", run.text)

    def test_energy_of_lammps(self):
        """Half the sum of q phi at the atoms is the energy of pair_style coul/long with
        kspace_style ewald and pppm."""
        for box, style, ranks in (ORTHOGONAL, "ewald 1e-9", 1), (TILTED, "pppm 1e-6", 2):
            data = system(box, 6, n=N)
            q = charges(N, 6)
            neutral = q - q.mean()
            write_data(data, coordtest.random_positions(np.random.default_rng(6), box, N), neutral, box)
            theirs = coordtest.run_lammps([*setup(box, data, shell=5.0)[:-4], "pair_style coul/long 3.0", "pair_coeff * *",
                                           f"kspace_style {style}", "thermo_style custom step pe", "thermo_modify norm no format float %.15g",
                                           "run 0"], ranks)
            _, atoms, _ = self.run_far(box, data, "far fft 1e-9", ranks)
            ours = 0.5 * (neutral * atoms["c_m"]).sum()
            size = 0.5 * np.abs(neutral * atoms["c_m"]).sum()
            self.assertLess(abs(ours - theirs.tables[0]["PotEng"][0]), (1e-8 if "ewald" in style else 1e-5) * size)

    def test_probe(self):
        """The potential at a grid point is the energy of a small charge there, divided by the
        charge, with LAMMPS' kspace_style ewald and without the charge's interaction with its own
        images."""
        box = ORTHOGONAL
        rng = np.random.default_rng(8)
        x, q = coordtest.random_positions(rng, box, N), charges(N, 8)
        q -= q.mean()
        data = f"{coordtest.folder()}/salt"
        write_data(data, x, q, box)
        _, _, grid = self.run_far(box, data, "far fft 1e-9")
        for point in 3, 100, 207:
            energies = []
            for probe in 1e-3, -1e-3:
                with_probe = f"{coordtest.folder()}/probe"
                write_data(with_probe, np.vstack([x, grid.positions[point]]), np.append(q, probe), box)
                run = coordtest.run_lammps([*setup(box, with_probe, shell=5.0)[:-4], "pair_style coul/long 3.2", "pair_coeff * *",
                                            "kspace_style ewald 1e-9", "thermo_style custom step pe",
                                                "thermo_modify norm no format float %.15g", "run 0"])
                energies.append(run.tables[0]["PotEng"][0])
            self.assertAlmostEqual((energies[0] - energies[1]) / 2e-3, grid.phi[point], 5)

    def test_reference(self):
        """The mean over a region is 0. Differences are unchanged, also at atoms."""
        data = system(ORTHOGONAL, 5, n=N)
        _, atoms, grid = self.run_far(ORTHOGONAL, data, "far fft 1e-6")
        region = ["region r block 1.0 4.0 1.0 5.0 3.0 7.0 units box"]
        for ranks in 1, 4:
            _, shifted_atoms, shifted = self.run_far(ORTHOGONAL, data, "far fft 1e-6 reference r", ranks, later=region)
            inside = ((grid.positions > [1, 1, 3]) & (grid.positions < [4, 5, 7])).all(axis=1)
            self.assertGreater(inside.sum(), 5)
            shift = grid.phi[inside].mean()
            self.assertGreater(abs(shift), 1e-3)
            np.testing.assert_allclose(shifted.phi, grid.phi - shift, 0, 1e-9)
            np.testing.assert_allclose(shifted_atoms["c_m"], atoms["c_m"] - shift, 0, 1e-9)
        # Also for a map without far field.
        lines = [*setup(ORTHOGONAL, data), *region, "compute m all potential/grid 7 6 5 cutoff 3.0 reference r precision double",
                 *output([("m", False, False)]), "run 0"]
        grid = read_grid(coordtest.run_lammps(lines).path("m.grid"))[0]
        self.assertLess(abs(grid.phi[inside].mean()), 1e-12)

    def test_soft(self):
        """Near points, charges are replaced by balls, which does not affect the far field."""
        data = system(ORTHOGONAL, 5, n=N)
        soft = 0.8
        _, atoms, grid = self.run_far(ORTHOGONAL, data, "far fft 1e-7 overlap soft 0.8")
        x, q = atoms.x(), charges(N, 5)
        expected = ewald(ORTHOGONAL, grid.positions, x, q)[0]
        bare = Map(ORTHOGONAL, grid.positions, x, q, kernel="cut", cutoff=soft)
        ball = Map(ORTHOGONAL, grid.positions, x, q, kernel="cut", cutoff=soft, soft=soft)
        self.assertGreater(np.abs(ball.phi - bare.phi).max(), 0.1)
        self.assertLess(rms(grid.phi - (expected + ball.phi - bare.phi).astype(float)), 2e-7)

    def test_changing_box(self):
        """With a barostat and fix deform, and with load balancing."""
        data = system(ORTHOGONAL, 5, n=N, speed=1.0)
        q = charges(N, 5)
        for fixes in ["fix b all npt temp 1.0 1.0 0.1 aniso 0.3 0.3 1.0"], ["fix b all nve", "fix c all deform 1 x scale 1.06 y scale 0.96"]:
            lines = ["compute m all potential/grid 7 6 5 cutoff 3.0 far fft 1e-6 precision double",
                     *output([("m", False, False)], every=10), "timestep 0.01", *fixes, "fix l all balance 10 1.0 shift xyz 5 1.0", "run 20"]
            for ranks in 1, 4:
                run = coordtest.run_lammps([*setup(ORTHOGONAL, data, shell=6.5), *lines], ranks)
                frames = dumptest.read_dump(run.path("atoms.dump"))
                change = np.abs(np.diag(frames[-1].box.edges) / np.diag(frames[0].box.edges) - 1).max()
                self.assertGreater(change, 0.01)    # so that alpha differs
                self.assertLess(change, 0.3)
                for atoms, grid in zip(frames, read_grid(run.path("m.grid"))):
                    self.assertLess(rms(grid.phi - ewald(atoms.box, grid.positions, atoms.x(), q)[0]), 1.2e-6)


    def test_ranks_without_points(self):
        """Some ranks have no points. With a field, all ranks take part in transforming the data of the others."""
        data = system(ORTHOGONAL, 5, n=N)
        q = charges(N, 5)
        for grid in (1, 1, 1), (1, 2, 1):
            _, atoms, found = self.run_far(ORTHOGONAL, data, "far fft 1e-6", 4, grid=grid, shell=3.0 + SKIN)
            expected = ewald(ORTHOGONAL, found.positions, atoms.x(), q)
            self.assertLess(np.abs(found.phi - expected[0]).max(), 1e-5)
            self.assertLess(np.abs(found.field - expected[1]).max(), 1e-4)

    def test_few_points(self):
        """Grids of a few points. The near field determines the range of known charges, which limits the mesh spacing."""
        q = charges(N, 5)
        for box in ORTHOGONAL, TILTED:
            data = system(box, 5, n=N)
            height = 1 / np.linalg.norm(np.linalg.inv(box.edges), axis=0)
            for ranks, grid, corner, tolerance in ((1, (1, 1, 1), False, 0.3), (1, (1, 1, 1), True, 1e-4), (4, (1, 1, 1), False, 1e-4),
                                                   (4, (2, 1, 3), False, 0.1), (4, (2, 3, 5), True, 1e-4), (3, (3, 5, 2), True, 0.3)):
                with self.subTest(tilted=box.tilted, ranks=ranks, grid=grid, corner=corner, tolerance=tolerance):
                    # Largest distance of a point from its rank's part of the box.
                    beyond = max(height / grid) / 2 if corner and ranks > 1 else 0.0
                    _, atoms, found = self.run_far(box, data, f"far fft {tolerance}", ranks, grid=grid, corner=corner,
                                                   shell=3.0 + SKIN + beyond)
                    expected = ewald(box, found.positions, atoms.x(), q)
                    self.assertLess(np.abs(found.phi - expected[0]).max(), 4 * tolerance)
                    self.assertLess(rms(atoms["c_m"] - ewald(box, atoms.x(), atoms.x(), q, itself=True)[0]), 2 * tolerance)

    def test_growing_box(self):
        """The mesh becomes finer as the box grows. The log lists it once, and again after a change."""
        data, q = system(ORTHOGONAL, 5, n=N, speed=1e-6), charges(N, 5)
        lines = ["compute m all potential/grid 5 4 3 cutoff 3.0 far fft 1e-2 precision double",
                 *output([("m", False, False)], (5, 4, 3), every=20),
                 "fix a all nve", "fix b all deform 1 x scale 1.5 y scale 1.5 z scale 1.5 remap x", "run 100"]
        for ranks in 1, 2:
            run = coordtest.run_lammps([*setup(ORTHOGONAL, data, shell=3.0 + SKIN), *lines], ranks)
            frames = dumptest.read_dump(run.path("atoms.dump"))
            for atoms, grid in zip(frames, read_grid(run.path("m.grid"))):
                self.assertLess(rms(grid.phi - ewald(atoms.box, grid.positions, atoms.x(), q)[0]), 1.2e-2)
            meshes = re.findall(r"^Compute potential/grid m:.*\n.*\n  reciprocal-space part by (?:LAMMPS' Fourier transforms|"
                                r"cuFFT on the GPU) of (a mesh of .*), alpha", run.text, re.MULTILINE)
            self.assertIn(len(meshes), range(2, 5), meshes)
            self.assertTrue(all(one != other for one, other in zip(meshes, meshes[1:])), meshes)

    def test_one_sign(self):
        """The background matters; and the same system in other units, with an equal tolerance."""
        box, n = Box((6.0, 6.0, 6.0)), 60
        x = coordtest.random_positions(np.random.default_rng(3), box, n)
        data = f"{coordtest.folder()}/sign"
        write_data(data, x, np.ones(n), box)
        _, atoms, grid = self.run_far(box, data, "far fft 1e-5")
        error = grid.phi - ewald(box, grid.positions, atoms.x(), np.ones(n))[0]
        self.assertLess(rms(error), 1.2e-5)
        self.assertLess(abs(error.mean()), 5e-6)
        angstrom, charge = 1e-10, 1.6021765e-19
        si = Box((6.0 * angstrom,) * 3)
        write_data(data, x * angstrom, np.full(n, charge), si)
        lines = [f"compute m all potential/grid 7 6 5 cutoff {3.0 * angstrom} field yes far fft 1e-5 precision double"]
        script = [line.replace(f"neighbor {SKIN}", f"neighbor {SKIN * angstrom}").replace("zero 1.0", f"zero {angstrom}")
                  for line in setup(si, data, "si", shell=0.0)]
        script = [f"comm_modify cutoff {5.0 * angstrom}" if "comm_modify" in line else line for line in script]
        found = read_grid(coordtest.run_lammps([*script, *lines, *output([("m", True, False)]), "run 0"]).path("m.grid"))[0]
        constant = 8.9876e9 * charge / angstrom    # Volt
        np.testing.assert_allclose(found.phi / constant, grid.phi, 0, 2e-5 + 1e-4 * np.abs(grid.phi).max())

    def test_coincident_charges(self):
        """Atoms at the positions of others, which their potentials exclude."""
        box = Box((6.0, 6.0, 6.0))
        x = coordtest.random_positions(np.random.default_rng(4), box, 20)
        q = charges(20, 4)
        data = f"{coordtest.folder()}/place"
        write_data(data, np.vstack([x, x[:5]]), np.append(q, [0.3] * 5), box)
        found = {}
        for cutoff in 2.5, 3.3:
            _, atoms, _ = self.run_far(box, data, "far fft 1e-7", 2, cutoff=cutoff)
            found[cutoff] = atoms["c_m"]
        np.testing.assert_allclose(found[2.5], found[3.3], 0, 2e-6)
        whole = np.append(q, [0.3] * 5)
        everywhere = ewald(box, np.vstack([x, x[:5]]), np.vstack([x, x[:5]]), whole)[0]
        of_position = whole.copy()
        of_position[:5] += 0.3
        of_position[20:] += q[:5]
        np.testing.assert_allclose(found[3.3], everywhere - 2 * 1.2 / np.sqrt(np.pi) * of_position, 0, 2e-6)

    def test_dynamic_group(self):
        """A group without charges, then with some, then without."""
        data = system(ORTHOGONAL, 5, n=N)
        lines = ["variable here atom step==2", "group some dynamic all var here every 1", "timestep 1e-9", "fix move all nve",
                 "compute m some potential/grid 7 6 5 cutoff 3.0 far fft 1e-5 precision double", *output([("m", False, False)]), "run 4"]
        run = coordtest.run_lammps([*setup(ORTHOGONAL, data, shell=5.0), *lines], 2)
        for step, grid in enumerate(read_grid(run.path("m.grid"))):
            self.assertEqual(bool(grid.phi.any()), step == 2, step)


NEEDS_FAR = ("Compute potential/grid kernel ewald is the real-space part of a potential and needs the reciprocal-space part, "
             "for example: far fft 1e-5")
LARGE = ("Compute potential/grid far fft tolerance is {} but must be less than 1, the potential of a unit charge at unit distance - use "
         "for example: far fft 1e-4")
COMMANDS = {
    "cutoff 3.0 kernel [ewald]": NEEDS_FAR,
    "cutoff 3.0 kernel [smooth] far fft 1e-5": "Compute potential/grid far fft selects kernel ewald by itself and "
        "cannot be used with kernel smooth - leave out the kernel, or far fft",
    "cutoff 3.0 far [fft]": "Compute potential/grid far fft needs a tolerance, for example: far fft 1e-4",
    "far fft 1e-4": "Compute potential/grid far fft needs a cutoff, for example: cutoff 10.0",
    "cutoff 3.0 far [foo]": "Unknown compute potential/grid far option: foo - known are none, fft",
    "cutoff 3.0 far fft [0]": "Compute potential/grid far fft tolerance is 0 but must be > 0 and finite",
    "cutoff 3.0 far fft [1e300]": LARGE.format("1e300"),
    "cutoff 3.0 far fft [1]": LARGE.format("1"),
    "cutoff 3.0 far fft [x]": "Compute potential/grid far fft tolerance must be a number, not 'x'",
    "cutoff 3.0 far fft 1e-5 overlap [zero] 0.5": "Compute potential/grid overlap zero sets points to 0, but the "
        "reciprocal-space part does not - use overlap skip or soft with far fft",
    "cutoff 3.0 reference [foo]": "Compute potential/grid reference: there is no region foo",
    "cutoff 3.0 reference whole overlap [zero] 0.5": "Compute potential/grid overlap zero sets points to 0, which a reference would shift - "
        "use overlap skip or soft with reference"}


class Errors(errortest.InProcess):
    SYSTEM = "\n".join([*setup(ORTHOGONAL, system(ORTHOGONAL, 9, n=N), shell=6.0), "region whole block EDGE EDGE EDGE EDGE EDGE EDGE"])

    def check(self, command, message):
        marked = command.replace("[", "").replace("]", "")
        found, shown = errortest.error_of(self.lmp, marked)
        self.assertEqual(found, message)
        if "[" in command:
            self.assertEqual(shown, command)

    def test_words(self):
        for words, message in COMMANDS.items():
            with self.subTest(words):
                self.check(f"compute m all potential/grid 7 6 5 {words}", message)

    def test_boundaries(self):
        errortest.commands(self.lmp, "change_box all boundary p p f")
        self.check("compute m all potential/grid 7 6 5 cutoff 3.0 [far] fft 1e-5",
                   "Compute potential/grid far fft needs a box that is periodic in all directions, also with "
                   "kspace_modify slab - use boundary p p p with a slab of vacuum, or kernel direct in a box that is "
                   "not periodic")

    def test_boundaries_of_a_later_run(self):
        errortest.commands(self.lmp, "compute m all potential/grid 7 6 5 cutoff 3.0 far fft 1e-5\nrun 0\nchange_box all boundary p p f")
        self.check("run 0", "Compute potential/grid m: far fft needs a box that is periodic in all directions, also "
                   "with kspace_modify slab - use boundary p p p with a slab of vacuum, or kernel direct in a box "
                   "that is not periodic")

    def test_runs(self):
        errortest.commands(self.lmp, "compute m all potential/grid 7 6 5 cutoff 3.0 far fft 1e-16\n"
                                     f"dump m all grid 1 {coordtest.folder()}/none.grid c_m:grid:phi")
        self.assertEqual(errortest.error_of(self.lmp, "run 0")[0],
                         "Compute potential/grid m: far fft 1e-16: it is less than what double precision can give within such a cutoff - "
                         "use a larger tolerance or cutoff")
        errortest.commands(self.lmp, "undump m\nuncompute m\nregion r block 100 101 0 1 0 1 units box\n"
                                     "compute m all potential/grid 7 6 5 cutoff 3.0 reference r\n"
                                     f"dump m all grid 1 {coordtest.folder()}/none.grid c_m:grid:phi")
        self.assertEqual(errortest.error_of(self.lmp, "run 0")[0],
                         "Compute potential/grid m: no point of its grid is in its reference region r - use a larger "
                             "region or a finer grid")
        errortest.commands(self.lmp, "undump m\nuncompute m\nregion s block INF INF INF INF INF INF\n"
                                     "compute m all potential/grid 7 6 5 cutoff 3.0 reference s\nrun 0\nregion s delete")
        for command in f"write_grid c_m:grid:phi {coordtest.folder()}/none.dx", "run 0":
            self.assertEqual(errortest.error_of(self.lmp, command)[0],
                             "Compute potential/grid m: its reference region s no longer exists")

    def test_newton(self):
        errortest.commands(self.lmp, "clear\nnewton off\n" + self.SYSTEM + "\ncompute m all potential/grid 7 6 5 cutoff 3.0 far fft 1e-5\n"
                                     f"dump m all custom 1 {coordtest.folder()}/none.dump id c_m")
        self.assertEqual(errortest.error_of(self.lmp, "run 0")[0],
                         "Compute potential/grid m: potentials at atoms with far fft need reverse communication, which "
                         "LAMMPS lacks with newton off - use newton on" +
                         (", with KOKKOS on a GPU package kokkos newton on neigh half" if coordtest.KOKKOS else ""))

    def test_no_mesh(self):
        """An unsupported mesh is an error. With the last cutoffs, a search through all sizes would
        not end."""
        for cutoff in 0.1, 1e-6, 1e-100:
            with self.subTest(cutoff=cutoff):
                self.setUp()
                errortest.commands(self.lmp, f"compute m all potential/grid 7 11 13 cutoff {cutoff} far fft 1e-8\n"
                                             f"dump m all grid 1 {coordtest.folder()}/none.grid c_m:grid:phi")
                found = errortest.error_of(self.lmp, "run 0")[0]
                pattern = (r"^Compute potential/grid m: far fft 1e-08: it needs a mesh of (\S+) x (\S+) x (\S+) points or more, and the most "
                           r"is 134217728 points - use a larger tolerance or cutoff$")
                self.assertRegex(found, pattern)
                self.assertLess(len(found), 250)
                self.assertGreater(np.prod([float(n) for n in re.match(pattern, found).groups()]), 2**27)

    def test_too_large_for_memory(self):
        """The check includes the mesh, and all ranks of the machine."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        lines = [*setup(ORTHOGONAL, system(ORTHOGONAL, 9, n=N), shell=6.0),
                 "compute m all potential/grid 1 1 1 cutoff 0.04 far fft 1e-2 field yes",
                 f"dump m all grid 1 {coordtest.folder()}/none.grid c_m:grid:phi", "run 0", ""]
        if memory > 40 * 2**30:
            self.skipTest("this machine may have room for the mesh")
        code, text = errortest.run_script("\n".join(lines), 8)
        self.assertNotEqual(code, 0)
        found, *_ = errortest.errors_in(text)
        pattern = (r"^Compute potential/grid m: a grid of 1 x 1 x 1 points with field and a mesh of (\d+) x (\d+) x (\d+) for far fft needs "
                   r"(\S+) GiB on a machine, which has (\S+) GiB - use a larger cutoff or tolerance, a coarser grid or more machines$")
        self.assertRegex(found, pattern)
        *mesh, needs, has = (float(word) for word in re.match(pattern, found).groups())
        self.assertAlmostEqual(needs, np.prod(mesh) * 114 / 2**30, delta=0.06)
        self.assertAlmostEqual(has, memory / 2**30, delta=0.06)


if __name__ == "__main__":
    unittest.main(verbosity=2)
