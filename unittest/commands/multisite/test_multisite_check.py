"""Keyword check of pair_style multisite: cases that are not errors, and errors that it must find."""

import re
import unittest

import numpy as np

import coordtest
import multisitetest
from brutetest import Box
from multisitetest import Component, Molecules, MultisiteTest, commands

CUTOFF = 3.0
TOLERANCE = 1e-4
CHARGE = Component("charge", 1.0, (0.2, 0.25, 0.3), charges=[((0.3, 0.1, -0.2), 1.0)])
BOX = Box((40.0, 40.0, 40.0))


def pairs(distances, site, seed=6):
    """Return pairs of molecules, far from other pairs, with sites or centers of mass at these
    distances."""
    rng = np.random.default_rng(seed)
    x, q = [], rng.normal(size=(2 * len(distances), 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    arms = multisitetest.rotations(q) @ np.array(CHARGE.sites["charge"][0][0]) if site else np.zeros((len(q), 3))
    for k, distance in enumerate(distances):
        position = 10.0 * np.array([k % 4, k // 4 % 4, k // 16]) + rng.uniform(3, 7, 3)
        direction = rng.normal(size=3)
        x += [position, position + arms[2 * k] + distance * direction / np.linalg.norm(direction) - arms[2 * k + 1]]
    return Molecules(BOX, x, q, np.ones(len(x), int))


class AtCutoff(MultisiteTest):
    """In single precision, rounding may put a pair within the cutoff for one molecule and beyond it
    for the other."""

    def begin(self, site, words, seed=6):
        rng = np.random.default_rng(seed)
        at, near = CUTOFF * (1 + rng.uniform(-3e-8, 3e-8, 50)), rng.uniform(1.5, 2.0, 14)
        molecules = pairs([*at, *near], site)
        path = multisitetest.write_components(f"{coordtest.folder()}/charge", [CHARGE])
        return self.start(*multisitetest.setup_commands(molecules), f"pair_style multisite {CUTOFF} {words}"
                          + (" cutoff site" if site else ""), f"pair_coeff * * {path} charge")

    def forces(self, site, words):
        lmp = self.begin(site, words)
        lmp.command("run 0 post no")
        return coordtest.forces_of(lmp).copy()

    def test_no_error(self):
        for site in True, False:
            exact = self.forces(site, "precision double")
            rounded = self.forces(site, "precision mixed")
            other = np.linalg.norm(rounded - exact, axis=1) > TOLERANCE * np.linalg.norm(exact, axis=1).max()
            print(f"\ncutoff {'site' if site else 'center'}: {other.sum()} of 128 molecules have other pairs", end=" ")
            if site:
                # Otherwise the check has no such case to accept.
                self.assertGreater(other.sum(), 0)
            self.assertFalse(other[100:].any())
            self.forces(site, f"precision mixed check 1 {TOLERANCE}")

    def test_error(self):
        """Molecules without a pair at the cutoff raise an error."""
        lmp = self.begin(True, "precision mixed check 1 1e-12")
        with self.assertRaisesRegex(Exception, "Pair multisite: check: the force on molecule ID") as caught:
            lmp.command("run 0 post no")
        self.assertGreater(int(re.search(r"molecule ID (\d+)", str(caught.exception))[1]), 100)

    def test_ranks(self):
        """One rank may have such molecules and another none."""
        script = []
        self.start = lambda *lines: script.extend(lines)
        self.begin(True, f"precision mixed check 1 {TOLERANCE}")
        run = multisitetest.run_lammps([*script, "run 0"], 3)
        self.assertIn("check every 1 evaluations", run.text)

    def test_double(self):
        """In double, both molecules of a pair agree."""
        for site in True, False:
            self.forces(site, "precision double check 1 1e-12")


class Every(MultisiteTest):
    """In step 1, pairs come to distances at which their energies cancel: in mixed, energies then
    have larger errors than forces."""

    def begin(self, every):
        atom = Component("atom", 1.0, centers=[((0, 0, 0), 1.0, 1.0)])
        distances = 1.5 + 1e-4 * np.random.default_rng(7).uniform(0.5, 1.0, 20)
        x = np.array([[[10 * (k % 4) + 5, 10 * (k // 4 % 4) + 5, 10 * (k // 16) + 5]] * 2 for k in range(20)], float)
        x[:, 1, 0] += distances
        molecules = Molecules(BOX, x.reshape(-1, 3), [[1, 0, 0, 0]] * 40, np.tile([1, 2], 20))
        path = multisitetest.write_components(f"{coordtest.folder()}/atom", [atom])
        return self.start(*multisitetest.setup_commands(molecules),
                          f"pair_style multisite {CUTOFF} precision mixed check {every} 1e-5",
                          f"pair_coeff * * {path} atom atom", "group second type 2", "fix come second move linear -0.5 0 0",
                          "timestep 1.0", "thermo_style custom step", "thermo 1000")

    def test_all_evaluations_count(self):
        """Evaluations for which LAMMPS requests no energy count, too; their energy is still
        compared."""
        commands(self.begin(2), "run 1 post no")    # evaluation 1 is not checked
        with self.assertRaisesRegex(Exception, "Pair multisite: check: the energy is"):
            self.begin(1).command("run 1 post no")
        with self.assertRaisesRegex(Exception, "Pair multisite: check: the energy is"):
            commands(self.begin(2), "run 0 post no", "fix come second move linear -0.25 0 0", "run 2 post no")


if __name__ == "__main__":
    unittest.main(verbosity=2)
