#!/usr/bin/env python3
"""pair_style multisite/kk and fix multisite/linear/kk, compared with their versions without KOKKOS
in the same LAMMPS, which other tests compare with formulas and other styles; and their messages."""
# Without: gpu

import os
import re
import unittest

import numpy as np

import coordtest
import errortest
import multisitetest
from brutetest import Box
from multisitetest import ALL_KINDS, ATOM, LINEAR, MIX, POLAR, Model, Molecules, MultisiteTest

if not coordtest.KOKKOS:
    coordtest.skip("this is about KOKKOS")

STAYS = coordtest.ON_KOKKOS_GPU and coordtest.DEVICE == "cuda"
MODEL = Model([ALL_KINDS, LINEAR, POLAR, ATOM], 2.3, 2.6, rf=5.0, mixing=MIX)
MOLECULES = Molecules.random(Box((9.5, 11.0, 10.2)), 1.9, 4, seed=51)
MOVE = ["set_multisite all", "velocity all create 1.2 4711", "set group all angmom 0.1 -0.2 0.05",
        "neigh_modify every 1 delay 0 check yes", "timestep 0.002", "fix move all nve/asphere",
        "fix linear all multisite/linear"]


class Kokkos(MultisiteTest):
    def start(self, *lines, model=MODEL, words=""):
        return super().start(*multisitetest.setup_commands(MOLECULES, ntypes=4), *model.commands(words), *lines)

    def error_of(self, *lines, words=""):
        lmp = self.start(*lines[:-1], words=words)
        with self.assertRaises(Exception) as caught:
            lmp.command(lines[-1])
        return errortest.read_error(str(caught.exception))[0]

    def test_setup_line(self):
        script = [*multisitetest.setup_commands(MOLECULES, ntypes=4), *MODEL.commands(), "run 0"]
        here = multisitetest.run_lammps(script).text
        script = [line + " device host" if line.startswith("pair_style") else line for line in script]
        on_host = multisitetest.run_lammps(script).text
        by_host = "engine cells, owned and ghost molecules" + ", copied through the host" * coordtest.ON_KOKKOS_GPU
        self.assertIn(("engine cells, molecules, forces and torques resident on the GPU" if STAYS else by_host) + "\n", here)
        self.assertIn(by_host + "\n", on_host)

    def test_trajectory(self):
        """Molecules leave the box and cross to other cells. Compares energies and positions."""
        states = {}
        for suffix in "on", "off":
            lmp = self.start(f"suffix {suffix}", *MODEL.commands(), *MOVE, *multisitetest.COMPUTES, "run 300 post no")
            self.assertGreater(lmp.get_thermo("nbuild"), 5)
            states[suffix] = multisitetest.state_of(lmp, "run 0 post no")
            states[suffix].x = lmp.gather_atoms("x", 1, 3)[:]
            self.assertEqual(lmp.has_id("fix", "linear"), 1)
        for name in "energy", "forces", "torques", "virial", "atom_energies", "atom_virials", "x":
            # Rounding grows.
            self.check(name, getattr(states["on"], name), getattr(states["off"], name), 1e-7)

    def test_check(self):
        """Steps with energies and without. A tolerance near 0 stops the run."""
        lmp = self.start(*MOVE, "thermo 7", "run 20 post no", words="check 2 1e-4 precision mixed")
        self.assertTrue(np.isfinite(lmp.get_thermo("pe")))
        message = self.error_of(*MOVE, "run 1 post no", words="check 1 1e-12 precision mixed")
        self.assertRegex(message, r"^Pair multisite: check: the (force|torque) on molecule ID \d+ is \S+ \S+ \S+, but \S+ \S+ "
                         r"\S+ by the host in double precision: a difference of \S+ of the largest (force|torque), more than "
                         r"1e-12 - use a larger tolerance or a higher precision, or report a bug$")

    def test_what_is_no_molecule(self):
        """The same errors as without KOKKOS, at the next step with energies at the latest."""
        self.assertEqual(
            self.error_of("set atom 5 shape 0 0 0", "run 0"),
            f"Pair multisite: atom ID 5 of type {MOLECULES.types[4]} is a molecule, but has no ellipsoid and "
            "therefore no quaternion - use set_multisite or set shape before the run; fixes that insert atoms "
            "create no ellipsoids")
        self.assertEqual(
            self.error_of(*MOVE, "variable bad atom exp(1000)-exp(1000)", "group bad id 12", "velocity bad set NULL v_bad NULL",
                          "unfix move", "fix move all nve", "run 1"),
            "Pair multisite: the position of atom ID 12 is not a finite number - the simulation is unstable, or positions were set "
            "wrongly")
        self.assertEqual(
            self.error_of(*MOVE, "unfix linear", "set atom 12 angmom 1e300 1e300 0", "run 1").replace("-nan", "nan"),
            "Pair multisite: the quaternion of atom ID 12, nan nan nan nan, has length nan but must have length 1 - "
            "the simulation is unstable, or quaternions were set wrongly")

    def test_changes(self):
        """After invalid settings, and after changes of types between two builds of neighbor lists."""
        changed = "Pair multisite has changed since the last setup - use run without pre no"
        lmp = self.start("pair_style lj/cut 2.5", "pair_coeff * * 1 1", "run 0")
        for command in "pair_style multisite 2.5 foo", "run 1 pre no":
            with self.assertRaises(Exception) as caught:
                lmp.command(command)
        self.assertEqual(errortest.read_error(str(caught.exception))[0], changed)
        lmp = self.start(*MOVE, "run 0", "set group all type 1")
        if not STAYS:
            lmp.command("run 1 pre no")
            return
        with self.assertRaises(Exception) as caught:
            lmp.command("run 1 pre no")
        self.assertEqual(errortest.read_error(str(caught.exception))[0],
                         "Pair multisite: on rank 0 the type of a molecule has changed since LAMMPS made its neighbor lists, when it "
                         "was read on the GPU - use device host")

    def test_thermostat(self):
        """Fix langevin, which has a KOKKOS variant, acts on torques before fix multisite/linear
        removes their components along axes. The other order is an error."""
        noise = "fix heat all langevin 1.2 1.2 0.5 4711 angmom 3.333"
        lmp = self.start(*MOVE[:-1], noise, MOVE[-1], "run 50 post no")
        self.assertTrue(np.isfinite(lmp.get_thermo("pe")))
        self.assertEqual(self.error_of(*MOVE, noise, "run 2"),
                         "Fix multisite/linear linear: there are torques about the axes of linear molecules after it "
                         "has removed them - define it after all fixes that add torques, such as langevin with angmom")


if __name__ == "__main__":
    unittest.main(verbosity=2)
