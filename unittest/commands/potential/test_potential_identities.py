"""compute potential/grid ... far fft compared with two identities and other commands of LAMMPS: the
double integral of the charge density of fix ave/chunk, which is the mean over planes, and the
energy of probe charges in salt water with kspace_style ewald."""
# KOKKOS on a GPU: newton on

import os
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box
from test_potential_far import rms
from test_potential_grid import COULOMB, output, read_grid, setup, write_data

HERE = os.path.dirname(os.path.abspath(__file__))
SALT = os.path.join(HERE, os.pardir, os.pardir, os.pardir, "examples", "coordination", "data.salt")


class Slab(unittest.TestCase):
    """Three sheets of ions that move by one bin per step, and vacuum."""
    BINS, PLANES, STEPS = 128, 32, 4
    SHEETS = (4.125, 11.125, 18.125)    # centers of bins: the charge of a bin acts at its center
    PER_SHEET = 12

    def chunks(self, path):
        """Return the mean charge of each bin over the steps."""
        with open(path) as file:
            rows = [line.split() for line in file if not line.startswith("#")]
        self.assertEqual(len(rows), 1 + self.BINS)
        return np.array([row[-1] for row in rows[1:]], float)

    def integral(self, charge, box, z):
        """Return, at z from the bottom, the periodic potential with zero mean whose second
        derivative is -4 pi times the density of charges, which add up to 0."""
        area, height = box.edges[0, 0] * box.edges[1, 1], box.edges[2, 2]
        apart = np.abs(z[:, None] - (np.arange(self.BINS) + 0.5) * height / self.BINS)
        return -2 * np.pi / area * (apart - apart**2 / height) @ charge

    def compare(self, box, units, words, scale, ranks):
        rng = np.random.default_rng(11)
        z = np.repeat(self.SHEETS, self.PER_SHEET)
        q = rng.normal(size=len(z)).round(4)
        q -= q.mean()
        x = box.lo + np.column_stack([rng.random((len(z), 2)), z / box.edges[2, 2]]) @ box.edges
        data = f"{coordtest.folder()}/sheets-{box.tilted}"
        write_data(data, x, q, box)
        grid = (12, 12, self.PLANES)
        lines = [f"compute m all potential/grid 12 12 {self.PLANES} cutoff 3.0 far fft 1e-6 precision double {words}",
                 f"fix mean all ave/grid 1 {self.STEPS} {self.STEPS} 12 12 {self.PLANES} c_m:grid:phi",
                 f"compute bins all chunk/atom bin/1d z lower $(1/{self.BINS}) units reduced", "variable q atom q",
                 f"fix bins all ave/chunk 1 {self.STEPS} {self.STEPS} bins v_q norm none file bins.dat format ' %.17g'",
                 "timestep 1.0", f"fix move all move linear 0.0 0.0 {box.edges[2, 2] / self.BINS!r}",
                 *[line.replace("c_m:grid:phi", "f_mean:grid:data") for line in output([("m", False, False)], grid, self.STEPS)],
                 f"run {self.STEPS}"]
        run = coordtest.run_lammps([*setup(box, data, units, shell=6.0), *lines], ranks)
        found = read_grid(run.path("m.grid"))[-1]
        # z changes slowest, and equals that of the sheets in tilted boxes, too.
        heights = found.positions[:, 2].reshape(self.PLANES, -1) - box.lo[2]
        self.assertLess(np.ptp(heights, axis=1).max(), 1e-9)
        heights, plane_means = heights[:, 0], found.phi.reshape(self.PLANES, -1).mean(axis=1)
        expected = scale * self.integral(self.chunks(run.path("bins.dat")), box, heights)
        # Near a charge the mean over points differs from that over the plane: the difference
        # decreases as exp(-2 pi 12 z / 8).
        moved = np.arange(1, self.STEPS + 1) * box.edges[2, 2] / self.BINS
        away = np.abs(heights[:, None, None] - (np.array(self.SHEETS)[:, None] + moved)).min(axis=(1, 2)) > 2.4
        self.assertGreater(away.sum(), 10)
        between = away & (heights > self.SHEETS[0]) & (heights < self.SHEETS[-1])
        self.assertGreater(between.sum(), 1)
        error = np.abs(plane_means - expected)[away].max() / scale
        print(f"\n{units}, tilted {box.tilted}, {ranks} ranks: potentials of planes from {expected.min() / scale:.3f} to "
              f"{expected.max() / scale:.3f}, errors up to {error:.1e}", end=" ")
        self.assertLess(error, coordtest.rounded(1e-6))
        self.assertGreater(np.abs(expected[away]).min(), 1e-4 * scale)
        self.assertGreater(np.ptp(expected[away]), scale)

    def test_slab(self):
        """Means over planes, and over steps from fix ave/grid, equal the double integral of the
        charge density of fix ave/chunk."""
        self.compare(Box((8.0, 8.0, 32.0), lo=(-1.0, 0.5, 2.0)), "lj", "", 1.0, 1)
        self.compare(Box((8.0, 8.0, 32.0), lo=(-1.0, 0.5, 2.0)), "metal", "units volt", COULOMB, 2)
        self.compare(Box((8.0, 8.0, 32.0), tilt=(2.0, -1.0, 3.0), lo=(-1.0, 0.5, 2.0)), "lj", "", 1.0, 4)


class SaltWater(unittest.TestCase):
    GRID = (4, 4, 4)
    PROBE = 1e-3

    def dump(self, name):
        return [f"dump {name} probes custom 1 {name} id c_energy", f"dump_modify {name} format float %.17g sort id"]

    def test_probes(self):
        """Each point has a probe charge. If all probes change their sign, energies of probes with
        each other and with their images are unchanged. The difference of the energies of one probe,
        of which LAMMPS assigns half to each atom of a pair, is its charge times the potential of
        the salt water."""
        with open(SALT) as file:
            atoms = file.read().split("Atoms # full\n\n")[1].split("\n\n")[0]
        rows = np.array([line.split()[3:7] for line in atoms.split("\n")], float)
        box = Box((31.26, 31.26, 31.26))
        n, points = len(rows), int(np.prod(self.GRID))
        self.assertEqual(n, 3036)
        # X changes fastest, as in the grid.
        positions = (np.indices(self.GRID).reshape(3, -1)[::-1].T + 0.5) * 31.26 / self.GRID[0]
        data = f"{coordtest.folder()}/salt"
        write_data(data, np.vstack([rows[:, 1:], positions]), np.append(rows[:, 0], np.full(points, self.PROBE)), box)
        lines = ["kspace_style ewald 1e-8", f"group salt id <= {n}", f"group probes id > {n}",
                 "compute m salt potential/grid 4 4 4 cutoff 10.0 far fft 1e-8 precision double units volt",
                 *output([("m", False, False)], self.GRID), "compute energy probes pe/atom",
                 *self.dump("plus"), "run 0", "undump plus"]
        system = [line.replace("pair_style zero 1.0 nocoeff", "pair_style coul/long 10.0")
                  for line in setup(box, data, "real", shell=16.0)]
        system.insert(-3, "pair_modify table 0")
        run = coordtest.run_lammps([*system, *lines, f"set group probes charge {-self.PROBE}", *self.dump("minus"), "run 0"], 2)
        grid = read_grid(run.path("m.grid"))[0]
        np.testing.assert_allclose(positions, grid.positions, 0, 1e-9)
        plus, minus = (dumptest.read_dump(run.path(name))[0]["c_energy"] for name in ("plus", "minus"))
        # kcal/mol to Volt by LAMMPS' constant of Coulomb's law.
        expected = (plus - minus) / self.PROBE * COULOMB / 332.06371
        size, error = rms(expected), rms(grid.phi - expected)
        print(f"\npotentials of {size:.2f} V, rms; they differ by {error:.1e} V, rms", end=" ")
        self.assertGreater(size, 1)
        # LAMMPS' pair styles compute erfc from a polynomial with errors up to 1.5e-7: this causes
        # the difference, not the Ewald sum.
        self.assertLess(error, coordtest.rounded(1e-6) * size)


if __name__ == "__main__":
    unittest.main(verbosity=2)
