"""pair_style multisite in restart and data files."""

import os
import re
import struct
import unittest

import numpy as np

import coordtest
import multisitetest
from brutetest import Box
from multisitetest import ALL_KINDS, LINEAR, MIX, POLAR, Model, Molecules, MultisiteTest, commands, on_device, state_of

BOX = Box((7.3, 6.9, 7.6))    # in a tilted box LAMMPS rounds positions again
THREE = [ALL_KINDS, LINEAR, POLAR]
COLUMNS = "x y z vx vy vz fx fy fz tqx tqy tqz angmomx angmomy angmomz c_q[1] c_q[2] c_q[3] c_q[4] c_e"
MOVE = ["fix move all nve/asphere", "fix line all multisite/linear", "timestep 0.003"]
OUTPUT = ["compute q all property/atom quatw quati quatj quatk", "compute e all pe/atom pair",
          "thermo 5", "thermo_style custom step pe press etail", "thermo_modify format float %.17g norm no",
          f"dump d all custom 5 dump id {COLUMNS}", "dump_modify d format float %.17g sort id"]


def dumped(run):
    with open(run.path("dump")) as file:
        return file.read()


class Restart(MultisiteTest):
    def compare(self, style, first, second=(), ranks=1, keep=False, binary="restart"):
        """A continued run gives the same bits as an uninterrupted one. first, second: their
        pair_coeff commands. Files of components exist in the second run only if it reads them."""
        molecules = Molecules.random(BOX, 1.8, 3, seed=31)
        setup = multisitetest.setup_commands(molecules, ["atom_modify sort 0 0"])
        restart = f"{coordtest.folder()}/{binary}"
        whole = multisitetest.run_lammps(
            [*setup, f"pair_style {style}", *first, "set_multisite all", "velocity all create 1.0 4711 loop geom", *MOVE,
             "run 15", f"write_restart {restart}", *OUTPUT, "run 15"], ranks)
        components = f"{coordtest.folder()}/components"
        if not keep:
            os.rename(components, components + ".away")
        part = multisitetest.run_lammps(["atom_modify sort 0 0", f"read_restart {restart}", *second, *MOVE, *OUTPUT, "run 15"],
                                        ranks)
        # On a GPU sums of terms in float round differently from run to run.
        rounding = 1e-7 if "precision mixed" in style else 1e-9
        coordtest.assert_same_bits(dumped(part), dumped(whole), rounding=rounding)
        for name, column in whole.tables[1].items():
            coordtest.assert_same_bits(part.tables[0][name], column, name, rounding)
        return whole, part

    def coefficients(self, substyle="", **settings):
        return Model(THREE, 2.2, 2.9, mixing=MIX, **settings).coefficients(f"{coordtest.folder()}/components", substyle)

    def test_settings(self):
        for words, ranks in (("", 1), ("cutoff site shift yes rf 3.5 precision mixed", 2),
                             ("rf inf tail yes precision mixed", 1), ("check 1 1e-6 tail no", 1)):
            with self.subTest(words):
                whole, part = self.compare(on_device(f"multisite 2.2 2.9 {words}"), self.coefficients(), ranks=ranks)
                # The backend, and settings and components in the following lines.
                printed = lambda run: re.search(r"^Pair multisite: .*\n(?:  .*: .*\n|  [cL].*\n)+", run.text, re.MULTILINE)[0]
                self.assertEqual(printed(part), printed(whole))
                self.assertEqual(printed(part).count("\n"), 9 if "check" in words else 8, printed(part))

    def test_pair_modify(self):
        for words in "shift yes", "tail yes":
            _, part = self.compare("multisite 2.2", [*self.coefficients(), f"pair_modify {words}"])
            self.assertIn("shifted to 0" if "shift" in words else "with long-range correction", part.text)

    def test_hybrid(self):
        """LAMMPS does not store coefficients of pair_style hybrid: the second run gives them again."""
        coefficients = [*self.coefficients("multisite"), "pair_coeff * * lj/cut 0.1 1.0"]
        _, part = self.compare("hybrid/overlay multisite 2.2 2.9 rf 3.0 tail yes precision mixed lj/cut 1.5", coefficients,
                               coefficients, keep=True)
        self.assertIn("with long-range correction; reaction field of dielectric constant 3", part.text)
        self.assertTrue(part.tables[0]["E_tail"].all())

    def test_changed_after(self):
        """Settings and mixing that are given after a restart replace those of the file."""
        first, mix, *_ = self.coefficients()
        _, part = self.compare("multisite 2.2 2.9", [first], ())
        self.assertNotIn("xi 0.9", part.text)
        run = multisitetest.run_lammps([f"read_restart {coordtest.folder()}/restart", mix, "fix move all nve/asphere", "run 0"])
        self.assertIn("xi 0.9, eta 1.05", run.text)

    def test_damaged_sizes(self):
        """Sizes that do not fit into the file are an error, and no memory is allocated for them."""
        self.compare("multisite 2.2 2.9", self.coefficients())
        path = f"{coordtest.folder()}/restart"
        with open(path, "rb") as file:
            good = file.read()
        name = good.index(struct.pack("<i3sd", 3, b"all", 2.0)[:7])
        centers = name + 7 + 4 * 8    # after name, mass, and inertia
        self.assertEqual(struct.unpack_from("<i", good, name - 4) + struct.unpack_from("<i", good, centers), (3, 2))
        for position in name - 4, name, centers:
            for value in 0x7fffffff, -1:
                changed = bytearray(good)
                struct.pack_into("<i", changed, position, value)
                with open(path, "wb") as file:
                    file.write(changed)
                with self.subTest(position=position - name, value=value), self.assertRaisesRegex(
                        AssertionError, "ERROR: Pair multisite: its data in the restart file are damaged - use another restart file "):
                    multisitetest.run_lammps([f"read_restart {path}"])


class Data(MultisiteTest):
    def test_energy(self):
        molecules = Molecules.random(BOX, 1.8, 3, seed=32)
        model = Model(THREE, 2.2, 2.9, rf=3.0, mixing=MIX)
        lmp = self.system(model, molecules)
        commands(lmp, "set_multisite all", "velocity all create 1.0 4711 loop geom", "fix move all nve/asphere", "run 10")
        before = state_of(lmp)
        path = f"{coordtest.folder()}/data"
        lmp.command(f"write_data {path}")
        lmp.command("clear")
        setup = multisitetest.setup_commands(molecules)
        commands(lmp, *setup[:-1], f"read_data {path}", *model.commands(), *multisitetest.COMPUTES)
        after = state_of(lmp)
        self.check("energy", after.energy, before.energy, 1e-13, np.abs(before.atom_energies).sum())
        for name in "forces", "torques", "virial", "atom_energies":
            self.check(name, getattr(after, name), getattr(before, name), 1e-12)


if __name__ == "__main__":
    unittest.main(verbosity=2)
