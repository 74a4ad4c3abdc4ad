"""pair_style multisite for any number of ranks and threads, any box and communication: energies
from formulas, and one trajectory."""
# Processors: 2
# KOKKOS on a GPU: newton on
# Also on two GPUs

import re
import unittest

import numpy as np

import coordtest
import dumptest
import multisitetest
from brutetest import Box
from multisitetest import ALL_KINDS, ATOM, DOUBLE, LINEAR, MIX, POLAR, Model, Molecules, MultisiteTest

FOUR = [ALL_KINDS, LINEAR, POLAR, ATOM]
STEPS, TOLERANCE = 60, 1e-9    # rounding errors grow by a factor of about ten
COLUMNS = ["xu", "yu", "zu", "fx", "fy", "fz", "tqx", "tqy", "tqz", "c_q[1]", "c_q[2]", "c_q[3]", "c_q[4]", "c_e",
           *(f"c_s[{k}]" for k in range(1, 7))]
PARTS = {"positions": slice(0, 3), "forces": slice(3, 6), "torques": slice(6, 9), "quaternions": slice(9, 13),
         "energies": slice(13, 14), "virials": slice(14, 20)}
BOXES = {"orthogonal": Box((7.9, 8.3, 8.1)), "triclinic": Box((7.9, 8.3, 8.1), tilt=(3.2, -2.1, 2.4))}


class Parallel(MultisiteTest):
    def script(self, molecules, model, first=(), later=(), steps=STEPS, words=""):
        return [*multisitetest.setup_commands(molecules, first, skin=0.2), *model.commands(words),
                "neigh_modify every 1 delay 0 check yes", "set_multisite all", "velocity all create 3.0 4711 loop geom", *later,
                "fix move all nve/asphere", *(["fix line all multisite/linear"] if LINEAR in model.components else []),
                "timestep 0.003",
                *multisitetest.COMPUTES[:3], "compute q all property/atom quatw quati quatj quatk",
                f"thermo_style custom step temp pe etotal {'press' if all(molecules.box.periodic) else ''}",
                "thermo_modify norm no format float %.17g lost error", "thermo 20",
                f"dump d all custom {max(steps // 2, 1)} dump id {' '.join(COLUMNS)}",
                "dump_modify d format float %.17g sort id", f"run {steps}"]

    def run_all(self, molecules, model, ways, steps=STEPS):
        """ways: ranks and other arguments of script(); the others are compared with the first. The
        energies of molecules at the start equal those of the formulas."""
        reference = None
        for ranks, arguments in ways:
            arguments = dict(arguments)
            threads = arguments.pop("threads", 1)
            with self.subTest(f"{ranks} ranks {arguments}"):
                run = multisitetest.run_lammps(self.script(molecules, model, steps=steps, **arguments), ranks, threads)
                frames = [np.column_stack([frame[name] for name in COLUMNS]) for frame in dumptest.read_dump(run.path("dump"))]
                expected = model.energies(molecules.box, molecules.x, molecules.q, molecules.types)
                self.check("energies by formulas", frames[0][:, 13], expected.atoms, 10 * DOUBLE)
                self.check("sum by formulas", run.tables[0]["PotEng"][0], expected.total(), 10 * DOUBLE,
                           np.abs(expected.atoms).sum())
                if reference is None:
                    reference, tables = frames, run.tables[0]
                    if steps:
                        builds = int(re.search(r"Neighbor list builds = (\d+)", run.text).group(1))
                        self.assertGreater(builds, 3)
                for found, wanted in zip(frames, reference, strict=True):
                    for name, part in PARTS.items():
                        self.check(name, found[:, part], wanted[:, part], TOLERANCE)
                for name, column in tables.items():
                    self.check(name, run.tables[0][name], column, TOLERANCE)

    def test_ranks(self):
        """Molecules cross boundaries of boxes and ranks."""
        box = BOXES["orthogonal"]
        self.run_all(Molecules.random(box, 1.9, 4, seed=21), Model(FOUR, 2.3, 2.6, rf=4.0, mixing=MIX), [
            (1, {}), (1, dict(first=["newton off"], threads=2)), (2, dict(first=["newton off"])),
            (4, dict(first=["newton on", "processors 2 2 1"])), (4, dict(first=["newton off", "processors 1 1 4"]))])

    def test_tilted(self):
        box = BOXES["triclinic"]
        self.run_all(Molecules.random(box, 1.9, 4, seed=22), Model(FOUR, 2.3, 2.0, site=True, shift=True, mixing=MIX), [
            (1, {}), (2, dict(first=["newton off", "processors 1 2 1"])), (4, {})])

    def test_balanced(self):
        """comm_style tiled, and boundaries that move during the run."""
        box = BOXES["orthogonal"]
        # The default of KOKKOS with GPU-aware MPI, comm device, does not update all ghost molecules
        # (doc/dev/lammps-defects, comm_tiled_self).
        first = ["package kokkos comm/forward no"] if coordtest.KOKKOS else []
        self.run_all(Molecules.random(box, 1.9, 3, seed=23), Model(FOUR[:3], 2.3, 2.6, mixing=MIX), [
            (1, {}),
            (4, dict(first=first, later=["comm_style tiled", "balance 1.0 rcb", "fix even all balance 10 1.0 rcb"])),
            (4, dict(first=["processors 4 1 1"], later=["fix even all balance 10 1.0 shift x 5 1.0"]))])

    def test_droplet(self):
        """A droplet in vacuum: the box shrinks to it, or some ranks have no molecules."""
        box = Box((30.0, 16.0, 16.0), periodic=(False,) * 3)
        inside = Molecules.random(Box((5.4, 5.4, 5.4), lo=(5.0, 5.0, 5.0), periodic=(False,) * 3), 1.7, 4, seed=24)
        droplet = Molecules(box, inside.x, inside.q, inside.types)
        model = Model(FOUR, 2.5, 3.0, site=True, rf=4.0, mixing=MIX)
        shrink = ["change_box all boundary s s s"]
        self.run_all(droplet, model, [(1, {}), (4, dict(first=["processors 4 1 1"])),
                                      (2, dict(later=shrink, first=["newton off"]))])

    def test_hybrid(self):
        """Only some atoms are molecules, and some ranks have none."""
        box = Box((20.0, 6.1, 6.3))
        molecules = Molecules.random(box, 1.9, 4, seed=25)
        model = Model(FOUR[:3], 2.3, 2.6, mixing=MIX)
        half = (molecules.x[:, 0] > 10.0) & (molecules.x[:, 0] < 18.0)
        molecules.types = np.where(half, 4, np.minimum(molecules.types, 3))
        path = f"{coordtest.folder()}/components"
        coefficients = model.coefficients(path, "multisite")
        coefficients[0] += " NULL"
        found = {}
        for ranks in 1, 4:
            run = multisitetest.run_lammps([
                *multisitetest.setup_commands(molecules, ["processors * 1 1"], ntypes=4),
                f"pair_style hybrid {model.style()} lj/cut 2.0", *coefficients, "pair_coeff *3 4 lj/cut 0.7 0.9",
                "pair_coeff 4 4 lj/cut 0.7 0.9", *multisitetest.COMPUTES[:3],
                "compute q all property/atom quatw quati quatj quatk", "thermo_modify norm no format float %.17g",
                f"dump d all custom 1 dump id {' '.join(COLUMNS)}", "dump_modify d format float %.17g sort id", "run 0"], ranks)
            frame, = dumptest.read_dump(run.path("dump"))
            found[ranks] = np.column_stack([frame[name] for name in COLUMNS])
        for name, part in PARTS.items():
            self.check(name, found[4][:, part], found[1][:, part], 10 * DOUBLE)
        own = molecules.types != 4
        far = own & (molecules.x[:, 0] > 2.0) & (molecules.x[:, 0] < 8.0)    # no lj/cut in range
        self.assertTrue(far.any())
        expected = model.energies(box, molecules.x[own], molecules.q[own], molecules.types[own])
        self.check("energies", found[1][far, 13], expected.atoms[far[own]], 10 * DOUBLE)

    @coordtest.not_where(coordtest.KOKKOS, coordtest.NO_SAME_GHOSTS)
    def test_same_bits(self):
        """Any number of threads gives the same bits, in any precision."""
        molecules = Molecules.random(BOXES["triclinic"], 1.9, 4, seed=26)
        for precision in "double", "mixed":
            dumps = []
            for threads in 1, 2:
                run = multisitetest.run_lammps(self.script(molecules, Model(FOUR, 2.3, 2.6, mixing=MIX),
                                                           steps=20, words=f"precision {precision}"), 1, threads)
                with open(run.path("dump")) as file:
                    dumps.append(file.read())
            self.assertEqual(*dumps)


if __name__ == "__main__":
    unittest.main(verbosity=2)
