"""Periodic variables in LAMMPS: S of compute coord/custom with keyword periodic, and biases across the ends of its period.

test_bias_periods.cpp of the library has the closed forms of the kinds of bias.
"""

import math
import unittest

import numpy as np

import coordtest
import test_bias_forces
from errortest import error_of, shortened
from test_bias_hills import Folder, hill_lines, rows

L = 2 * math.pi


def wrapped(s, lo=-math.pi, length=L):
    return lo + (s - lo) % length


def shortest(d, length=L):
    return d - length * np.round(d / length)


class Values(unittest.TestCase):
    """u is the same expression without a period."""

    def system(self, *periods):
        system = test_bias_forces.System(self, test_bias_forces.BOXES["triclinic"])
        system.commands("compute u all coord/custom 30*a*b a c_one b c_two", *periods)
        return system

    def test_wrapped(self):
        """S is between the ends, and the derivatives and the virial are those of the expression."""
        periods = {"phi": ("-pi pi", -math.pi, L), "q": ("0 0.25", 0, 0.25), "r": ("2 1e3", 2, 998), "t": ("-1e-3 2.5", -1e-3, 2.501)}
        system = self.system(*(f"compute {name} all coord/custom 30*a*b a c_one b c_two periodic {words}"
                               for name, (words, *_) in periods.items()))
        system.commands("run 0")
        u = coordtest.scalar_of(system.lmp, "u")
        self.assertGreater(abs(u), math.pi)
        for name, (_, lo, length) in periods.items():
            s = coordtest.scalar_of(system.lmp, name)
            self.assertTrue(lo <= s <= lo + length)
            self.assertAlmostEqual(s, wrapped(u, lo, length), delta=1e-10)
            np.testing.assert_array_equal(coordtest.atoms_of(system.lmp, name), coordtest.atoms_of(system.lmp, "u"))
            np.testing.assert_array_equal(coordtest.virial_of(system.lmp, name), coordtest.virial_of(system.lmp, "u"))

    def test_children(self):
        """Expressions of a periodic variable: with a period of their own, or with the same value at both ends."""
        system = self.system("compute phi all coord/custom 30*a*b a c_one b c_two periodic -pi pi",
                             "compute twice all coord/custom 2*p p c_phi periodic -1 2.141592653589793",
                             "compute sine all coord/custom sin(p)+u p c_phi u c_u")
        system.commands("run 0")
        u, p, twice, sine = (coordtest.scalar_of(system.lmp, name) for name in ("u", "phi", "twice", "sine"))
        self.assertNotAlmostEqual(u, p, delta=1)
        self.assertAlmostEqual(twice, wrapped(2 * u, -1, math.pi), delta=1e-9)
        self.assertAlmostEqual(sine, math.sin(u) + u, delta=1e-10)
        expected = coordtest.atoms_of(system.lmp, "u")
        for name, factor in (("twice", 2), ("sine", math.cos(u) + 1)):
            np.testing.assert_allclose(coordtest.atoms_of(system.lmp, name), factor * expected, rtol=1e-9, atol=1e-12)

    def test_name(self):
        """A variable can have the name of the keyword."""
        system = self.system("compute phi all coord/custom 2*periodic periodic c_one periodic 0 0.5")
        system.commands("run 0")
        self.assertAlmostEqual(coordtest.scalar_of(system.lmp, "phi"), wrapped(2 * coordtest.scalar_of(system.lmp, "one"), 0, 0.5), delta=1e-10)


# An atom that moves in the plane of two fixed atoms. The angle about its place at (3 3 3) follows from its distances to
# them. Another bias keeps it on a ring, whose left side is at the ends of the period.
START = """
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 single 2.6 3 3
create_atoms 1 single 5 3 3
create_atoms 1 single 3 5 3
mass 1 1
group ion id 1
group one id 2
group two id 3
velocity ion set 0 0.8 0
"""
DISTANCES = "ion coord/gpu group2 {} switch gaussian 1.5 engine allpairs image minimum precision double"
PARTS = "b-exp(-8/9),a-exp(-8/9)"
SYSTEM = f"""
pair_style zero 3.0
pair_coeff * *
compute a {DISTANCES.format("one")}
compute b {DISTANCES.format("two")}
compute phi all coord/custom atan2({PARTS}) a c_a b c_b periodic -pi pi
compute r all coord/custom sqrt((b-exp(-8/9))^2+(a-exp(-8/9))^2) a c_a b c_b
fix n ion nve
timestep 0.002
"""
RING = """fix ring all coord/bias c_r harmonic k 400 s0 0.1
fix_modify ring energy yes
fix side all coord/bias c_phi harmonic k 3 s0 pi
fix_modify side energy yes
"""
OUTPUT = "thermo_style custom step etotal c_phi f_b {}\nthermo_modify norm no format float %.17g\nthermo 1\n"


def run_of(work, fix, steps, begin=START, more="f_b[2]"):
    """Run with a fix b, and return columns of its output: energy, phi, V, dV/dS and more."""
    text = f"units lj\natom_modify map array sort 0 0\n{begin}{SYSTEM}{fix}\nfix_modify b energy yes\n{RING}{OUTPUT.format(more)}{steps}\n"
    assert work.start("\n".join(map(coordtest.on_device, text.split("\n")))).wait() == 0, work.log()[-2000:]
    return np.array([found[0] for found in rows(work.log()).values()], float).T


def crossings(phi):
    return np.count_nonzero(np.abs(np.diff(phi)) > math.pi)


METAD = "metad sigma 0.3 height 0.02 biasfactor 5 temp 1 pace 20 file H"
OPES = "opes barrier 2 temp 0.3 sigma 0.2 pace 20 kernel plumed force plumed file K write_state 200 S"


class Angle(unittest.TestCase):
    """An atom on a ring crosses the ends of the period of its angle."""

    def test_harmonic(self):
        """V is that of the shortest difference, and the energy is conserved."""
        for s0 in 3.0, 3.0 + 6 * math.pi, -3.2:
            with self.subTest(s0=s0):
                energy, phi, v, dVdS = run_of(Folder(), f"fix b all coord/bias c_phi harmonic k 3 s0 {s0!r}", "unfix side\nrun 2000")
                print(f"s0 {s0:g}: {crossings(phi)} crossings, energy {energy[0]:.3f} within {np.ptp(energy):.1e}, V up to {v.max():.2f}")
                self.assertGreater(crossings(phi), 4)
                self.assertGreater(v.max(), 0.1)
                self.assertLess(np.ptp(energy), 2e-4)
                np.testing.assert_allclose(v, 1.5 * shortest(phi - s0)**2, rtol=0, atol=1e-9)
                np.testing.assert_allclose(dVdS, 3 * shortest(phi - s0), rtol=0, atol=1e-9)

    def test_moving(self):
        """s0 pulls S once around, and its work is the change of the energy."""
        energy, phi, v, dVdS, s0, work = run_of(
            Folder(), f"fix b all coord/bias c_phi moving k 20 s0 3 s0/stop {3 + L!r} steps 4000", "unfix side\nrun 4000", more="f_b[2] f_b[3] f_b[5]")
        np.testing.assert_allclose(v, 10 * shortest(phi - s0)**2, rtol=0, atol=1e-9)
        self.assertAlmostEqual(np.unwrap(phi)[-1] - phi[0], L, delta=1)
        self.assertGreater(np.ptp(energy), 0.1)
        print(f"work {work[-1]:.4f}, energy changes by {energy[-1] - energy[0]:.4f}")
        self.assertLess(np.ptp(energy - work), 1e-3)

    def test_restart(self):
        """A continued run has the same bits."""
        for bias in METAD, METAD + " grid -pi pi bins 100", METAD + " grid 0 6.283185307179586 bins 100 limits 2 4", OPES:
            with self.subTest(bias):
                whole, parts = Folder(), Folder()
                expected = run_of(whole, "fix b all coord/bias c_phi " + bias, "run 800")
                self.assertGreater(crossings(expected[1]), 1)
                self.assertGreater(expected[2].max(), 0.02)
                if "metad" in bias:    # S is in a hill that reaches over the ends
                    self.assertLess(abs(shortest(expected[1][310] - math.pi)), 0.3)
                run_of(parts, "fix b all coord/bias c_phi " + bias, "run 310\nwrite_restart old")
                found = run_of(parts, "fix b all coord/bias c_phi " + bias, "run 490", "read_restart old\n")
                np.testing.assert_array_equal(found[1:], expected[1:, 310:])
                name = "K" if "opes" in bias else "H"
                self.assertEqual(hill_lines(parts.read(name)), hill_lines(whole.read(name)))
                self.assertIn("#! SET min_phi -pi\n#! SET max_phi pi\n", whole.read(name).decode())

    def test_another_period(self):
        """Files of another period are errors."""
        work = Folder()
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for fix, error in (("harmonic k 1 s0 3", "Fix coord/bias b: the restart file has periods from -3.141592653589793 to "
                            "3.141592653589793, but this command has {} - define the variables with the same periods, or use "
                            "another fix ID"),):
            run_of(work, f"fix b all coord/bias c_phi {fix}", f"run 1\nwrite_restart old")
            for period, words in ("0 6.283185307179586", "periods from 0 to 6.283185307179586"), ("", "no periods"):
                for line in ("clear", "units lj", "atom_modify map array sort 0 0", f"read_restart {work.at('old')}",
                             *SYSTEM.replace("periodic -pi pi", period and "periodic " + period).strip().split("\n"),
                             ):
                    lmp.command(line)
                found, _ = error_of(lmp, f"fix b all coord/bias c_phi {fix}")
                self.assertEqual(found, shortened(error.format(words)))

    def test_finite_differences(self):
        """V of hills and kernels has no step at the ends of the period, and its derivative is right there."""
        for bias in METAD, METAD + " grid -pi pi bins 100", OPES.replace("kernel plumed force plumed ", ""):
            with self.subTest(bias):
                work = Folder()
                run_of(work, "fix b all coord/bias c_phi " + bias, "run 800")
                frozen = bias.replace("pace 20", "pace 100000").replace("write_state 200 S", "read_state S")
                frozen += " append yes" if "opes" not in bias else ""
                # slow motion across the ends
                _, phi, v, dVdS = run_of(work, "fix b all coord/bias c_phi " + frozen.replace("file K", "file N"),
                                         "velocity ion set 0 0.2 0\nrun 20", START.replace("2.6 3", "2.6 3.0364"))
                order = np.argsort(phi % L)
                s, v, dVdS = (phi % L)[order], v[order], dVdS[order]
                self.assertEqual(crossings(phi), 1)
                self.assertGreater(np.abs(dVdS).min(), 1e-3)
                np.testing.assert_allclose(np.diff(v) / np.diff(s), (dVdS[1:] + dVdS[:-1]) / 2, rtol=1e-4)


class Words(unittest.TestCase):
    def test_refused(self):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in ("units lj\natom_modify map array sort 0 0" + START + SYSTEM).strip().split("\n"):
            lmp.command(line)
        for kind in "wall/upper k 1 s0 1", "wall/lower k 1 s0 1", "linear k 1":
            found, _ = error_of(lmp, f"fix b all coord/bias c_phi {kind}")
            self.assertEqual(found, f"Fix coord/bias {kind.split()[0]} cannot act on c_phi, which is periodic from -pi to pi: V would jump at "
                             "the ends - use kind harmonic or moving, or its sine and cosine: output sincos of compute coord/geometry, or "
                             "compute coord/custom")
        # the ways out
        for line in ("compute y all coord/custom sin(p) p c_phi", "fix b all coord/bias c_y wall/upper k 1 s0 0.5",
                     "compute z all coord/geometry angle 2 1 3 output sincos", "fix c all coord/bias c_z[1] wall/upper k 1 s0 0.5", "run 0"):
            lmp.command(line)


if __name__ == "__main__":
    unittest.main()
