"""Dynamics of rigid molecules: energy, momentum, equipartition, and no heat in rotations without
inertia."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "commands"))
import coordtest
import multisitetest

BOLTZMANN = 0.0019872067    # kcal/mol/K, units real
MVV2E = 48.88821291**2

# CO2 of Merker et al. (J. Chem. Phys. 132, 234512) with a point quadrupole, SPC/E water, ethylene
# oxide with a point dipole, and two molecules with Lennard-Jones centers only: linear and
# nonplanar.
COMPONENTS = """# UNITS: real
component CO2
mass 44.0095
inertia 52.99292 52.99292 0
center 0 0 0 0.024586486 2.8137
center 0 0 1.2869 0.199700118 2.9755
center 0 0 -1.2869 0.199700118 2.9755
quadrupole 0 0 0 0 0 1 -0.848163
component water
mass 18.0154
inertia 0.6012 1.3440 1.9452
center 0 0.0646 0 0.1553 3.166
charge 0 0.0646 0 -0.8476
charge 0.8165 -0.51275 0 0.4238
charge -0.8165 -0.51275 0 0.4238
component oxide
mass 44.053
inertia 20.4 27.0 47.4
center 0 0.776364 0 0.123458 3.0929
center 0.78 -0.443636 0 0.168394 3.5266
center -0.78 -0.443636 0 0.168394 3.5266
dipole 0 0.3 0 0 1 0 0.51195
component ethane
mass 30.069
inertia 17.82791 17.82791 0
center 0 0 0.77 0.194746 3.75
center 0 0 -0.77 0.194746 3.75
component bulky
mass 60.0
inertia 40.0 55.0 70.0
center 0.9 0.1 -0.3 0.2 3.2
center -0.8 0.5 0.2 0.15 3.4
center 0.0 -0.9 0.4 0.2 3.0
"""
INERTIA = {words[0]: np.array(words[4:7], float) for words in map(str.split, COMPONENTS.split("component ")[1:])}
FILE = os.path.join(coordtest.folder(), "dynamics.multisite")
with open(FILE, "w") as out:
    out.write(COMPONENTS)

BODIES = "compute bodies all property/atom quatw quati quatj quatk angmomx angmomy angmomz vx vy vz mass type x y z"
LINEAR = "fix linear all multisite/linear"


def liquid(names, spacing, words, temperature, per_edge=5, boundary="p p p", seed=4711):
    """Return commands for molecules near the sites of a cubic lattice, with randomly distributed
    components, random orientations, and velocities."""
    edge = per_edge * spacing
    lines = ["units real", "atom_style ellipsoid", "atom_modify map array", f"boundary {boundary}",
             f"lattice sc {spacing}", f"region box block 0 {per_edge} 0 {per_edge} 0 {per_edge}",
             f"create_box {len(names)} box", "create_atoms 1 box"]
    lines += [f"set group all type/ratio {k} {1 / k!r} {seed + k}" for k in range(2, len(names) + 1)]
    if boundary != "p p p":
        lines += [f"change_box all x final {-edge} {2 * edge} y final {-edge} {2 * edge} z final {-edge} {2 * edge}"]
    return [*lines, f"pair_style multisite {words}", f"pair_coeff * * {FILE} " + " ".join(names), "set_multisite all",
            f"set group all quat/random {seed}", f"displace_atoms all random 0.2 0.2 0.2 {seed}",
            "neighbor 1.0 bin", "neigh_modify every 1 delay 0 check yes", f"velocity all create {temperature} {seed}"]


def relax(temperature, steps, damp=50.0, timestep=1.0):
    """Return commands that equilibrate translation and rotation, starting from overlapping
    orientations."""
    return [f"timestep {0.2 * timestep}", "fix move all nve/asphere",
            f"fix heat all langevin {temperature} {temperature} {damp} 4711 angmom 3.333",
            LINEAR, "run 500 post no", f"timestep {timestep}", f"run {steps} post no",
            "unfix linear", "unfix heat", "unfix move"]


class Bodies:
    """State of all molecules, from LAMMPS."""

    def __init__(self, lmp, names, found=None):
        found = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("bodies", 1, 2) if found is None else found)
        self.momenta, self.v, self.mass, self.x = found[:, 4:7], found[:, 7:10], found[:, 10], found[:, 12:15]
        self.kinds = [names[int(kind) - 1] for kind in found[:, 11]]
        turn = multisitetest.rotations(found[:, :4])
        # In the frames of molecules.
        self.body_momenta = np.einsum("nij,ni->nj", turn, self.momenta)
        self.inertia = np.array([INERTIA[kind] for kind in self.kinds])

    def axis_energies(self):
        """Return the kinetic energy of translation along x y z, and of rotation about axes with
        inertia, else 0; kcal/mol."""
        with np.errstate(all="ignore"):
            rotation = np.where(self.inertia > 0, self.body_momenta**2 / self.inertia, 0.0)
        return MVV2E / 2 * self.mass[:, None] * self.v**2, MVV2E / 2 * rotation

    def spin(self):
        """Return the temperature about axes of linear molecules, with the inertia that LAMMPS
        assigns there."""
        dead = (self.inertia == 0) & (self.inertia.max(axis=1) > 0)[:, None]
        along = np.where(dead, self.body_momenta**2, 0.0).sum(axis=1)[dead.any(axis=1)]
        tiny = 2e-6 * self.inertia.max(axis=1)[dead.any(axis=1)]    # two axes of a thousandth
        return (MVV2E * along / tiny / BOLTZMANN).mean()


class Dynamics(unittest.TestCase):
    def start(self, *lines):
        lmp = multisitetest.start()
        self.addCleanup(lmp.close)
        multisitetest.commands(lmp, *lines, BODIES)
        return lmp

    def test_dead_rotation(self):
        """With fix nve/asphere, linear molecules spin about their axes. With fix multisite/linear
        they do not."""
        for words in "9.0 cutoff site", "9.0 cutoff center":
            spins = {}
            for fix in [], [LINEAR]:
                lmp = self.start(*liquid(["CO2"], 4.6, words, 250.0), *relax(250.0, 500), "fix move all nve/asphere", *fix,
                                 "timestep 2.0",
                                 "run 300 post no")
                spins[bool(fix)] = Bodies(lmp, ["CO2"]).spin()
            print(f"\n{words}: after 0.6 ps of NVE spin of {spins[False]:.3g} K without the fix, {spins[True]:.1g} K with it",
                  end=" ")
            self.assertGreater(spins[False], 1e4)
            self.assertLess(spins[True], 1e-6)

    def test_dead_rotation_of_thermostats(self):
        """Fixes langevin and nvt/asphere add no heat there: fix multisite/linear removes nearly no
        angular momentum at the end of each step, as fix ave/atom before it shows. The two other
        rotations have the temperature of the thermostat."""
        axes = np.array([True, True, False])    # CO2
        for what, fixes in (("langevin", ["fix move all nve/asphere", "fix heat all langevin 250 250 100 4711 angmom 3.333"]),
                            ("nvt/asphere", ["fix move all nvt/asphere temp 250 250 100",
                                             "compute_modify move_temp extra/dof 128"])):
            # Overlapping molecules may spin so fast that they do not slow down in picoseconds.
            lmp = self.start(*liquid(["CO2"], 4.6, "9.0 cutoff site", 250.0), *relax(250.0, 500), "set group all angmom 0 0 0",
                             *relax(250.0, 2000), "timestep 2.0")
            multisitetest.commands(lmp, *fixes, "fix before all ave/atom 1 1 1 c_bodies[*]", LINEAR, "run 0")
            taken, live = [], []
            for _ in range(400):
                lmp.command("run 10 pre no post no")
                bodies = Bodies(lmp, ["CO2"], lmp.numpy.extract_fix("before", 1, 2))
                taken.append(bodies.spin())
                live.append(bodies.axis_energies()[1][:, axes].mean() * 2 / BOLTZMANN)
            blocks = np.reshape(live, (10, -1)).mean(axis=1)
            mean, error = blocks.mean(), blocks.std(ddof=1) / np.sqrt(len(blocks))
            print(f"\n{what}: the fix takes {np.mean(taken):.2g} K away in a step, rotations have {mean:.1f} +- {error:.1f} K",
                  end=" ")
            # A thermostat that acts there would contribute some K.
            self.assertLess(np.mean(taken), 0.1)
            self.assertLess(error, 0.03 * 250)
            self.assertLess(abs(mean - 250.0), 6 * error)

    def total_energies(self, setup, timesteps, picoseconds, extra=()):
        """Return total energies at each step of runs from the same start."""
        where = coordtest.folder()
        restart = os.path.join(where, "restart.dynamics")
        lmp = self.start(*setup, f"write_restart {restart}")
        lmp.close()
        style = [line for line in setup if line.startswith("pair_coeff")]
        energies = []
        for timestep in timesteps:
            run = multisitetest.run_lammps(
                ["units real", "atom_style ellipsoid", f"read_restart {restart}", *style,
                 "neigh_modify every 1 delay 0 check yes",
                 "compute r all erotate/asphere", *extra, "fix move all nve/asphere", LINEAR, f"timestep {timestep}",
                 "thermo_style custom step pe ke c_r", "thermo_modify format float %.17g", "thermo 1",
                 f"run {int(picoseconds * 1000 / timestep)}"])
            table = run.tables[-1]
            energies.append(table["PotEng"] + table["KinEng"] + table["c_r"])
        return energies

    def check_order(self, what, energies, timesteps):
        """Fluctuations of the total energy scale with the square of the timestep."""
        # at the times at which energies are compared, with the mean of the start
        spread = [np.std(e[:: max(1, round(timesteps[0] / t))]) for e, t in zip(energies, timesteps)]
        orders = [np.log(a / b) / np.log(s / t) for a, b, s, t in zip(spread, spread[1:], timesteps, timesteps[1:])]
        drift = [np.polyfit(np.linspace(0, 1, len(e)), e, 1)[0] for e in energies]
        print(f"\n{what}: total energy fluctuates by", ", ".join(f"{s:.2e} ({t} fs)" for s, t in zip(spread, timesteps)),
              "kcal/mol, orders", ", ".join(f"{o:.2f}" for o in orders), "drift", ", ".join(f"{d:.1e}" for d in drift), end=" ")
        for order in orders:
            self.assertGreater(order, 1.7)
            self.assertLess(order, 2.3)
        for s, d in zip(spread, drift):
            self.assertLess(abs(d), 3 * s)

    def test_energy(self):
        """Shifted Lennard-Jones sites with a cutoff between sites: a liquid of linear and other
        molecules."""
        timesteps = [4.0, 2.0, 1.0]
        setup = [*liquid(["ethane", "bulky"], 4.8, "11.0 cutoff site shift yes", 200.0), *relax(200.0, 1000)]
        self.check_order("NVE, cutoff site, shift yes", self.total_energies(setup, timesteps, 1.0), timesteps)

    def test_free_cluster(self):
        """All kinds of sites, all within the cutoff: energy, momentum and angular momentum are
        conserved."""
        names = ["CO2", "water", "oxide"]
        setup = [*liquid(names, 4.4, "60.0", 120.0, per_edge=3, boundary="f f f"), *relax(120.0, 2000, timestep=0.5),
                 "velocity all zero linear"]
        timesteps = [1.0, 0.5, 0.25]
        self.check_order("free cluster", self.total_energies(setup, timesteps, 0.5), timesteps)
        lmp = self.start(*setup, "fix move all nve/asphere", LINEAR, "timestep 0.5", "run 0 post no")

        def totals():
            now = Bodies(lmp, names)
            p = now.mass[:, None] * now.v
            return p.sum(axis=0), (np.cross(now.x, p) + now.momenta).sum(axis=0), np.abs(p).sum(), np.abs(now.momenta).sum(), now

        p0, l0, p_size, l_size, before = totals()
        lmp.command("run 2000 post no")
        p1, l1, _, _, after = totals()
        print(f"\nfree cluster, 1 ps: momentum {np.abs(p1 - p0).max() / p_size:.1e}, angular momentum "
              f"{np.abs(l1 - l0).max() / l_size:.1e} of the sum of magnitudes; molecules moved up to "
              f"{np.abs(after.x - before.x).max():.2f} A", end=" ")
        # Molecules exchange momentum.
        self.assertGreater(np.abs(after.momenta - before.momenta).sum() / l_size, 0.3)
        self.assertGreater(np.abs(after.x - before.x).max(), 0.3)
        self.assertLess(np.abs(p1 - p0).max() / p_size, 1e-12)
        self.assertLess(np.abs(l1 - l0).max() / l_size, 1e-12)

    def sample(self, lmp, names, blocks, samples, every):
        """Return the mean and standard error of kinetic temperatures by kind of molecule and axis.
        Axes: translation, x y z of rotation."""
        values = []
        for _ in range(blocks):
            sums = None
            for _ in range(samples):
                lmp.command(f"run {every} pre no post no")
                now = Bodies(lmp, names)
                translation, rotation = now.axis_energies()
                both = np.column_stack([translation.mean(axis=1), rotation]) * 2 / BOLTZMANN
                of_kinds = np.array([both[[kind == name for kind in now.kinds]].mean(axis=0) for name in names])
                sums = of_kinds if sums is None else sums + of_kinds
            values.append(sums / samples)
        return np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(blocks)

    def check_equipartition(self, what, names, found, temperature, precise):
        mean, error = found
        for name, of_kind, errors in zip(names, mean, error):
            alive = [True, *(INERTIA[name] > 0)]
            print(f"\n{what}, {name}:", ", ".join(f"{axis} {m:.1f} +- {e:.1f}" for axis, m, e in zip(
                ("translation", "x", "y", "z"), of_kind, errors)), "K", end=" ")
            for m, e, lives in zip(of_kind, errors, alive):
                if not lives:
                    self.assertEqual(m, 0.0)
                    continue
                self.assertLess(e, precise * temperature)
                self.assertLess(abs(m - temperature), 6 * e)

    def test_equipartition(self):
        """Translation and rotation about each axis of linear, planar and other molecules have the
        temperature of fix langevin."""
        names, temperature = ["CO2", "water", "bulky"], 300.0
        lmp = self.start(*liquid(names, 4.6, "9.0 cutoff site", temperature), *relax(temperature, 2000), "timestep 1.0",
                         "fix move all nve/asphere", f"fix heat all langevin {temperature} {temperature} 50 4712 angmom 3.333",
                         LINEAR, "run 0")
        self.check_equipartition("langevin", names, self.sample(lmp, names, 10, 60, 40), temperature, 0.02)

    def test_nvt(self):
        """fix nvt/asphere: temperatures of translation and rotation, and the energy including that
        of the thermostat."""
        # Charges with a cutoff would not conserve the energy.
        names, temperature = ["ethane", "bulky"], 300.0
        thermostat = f"fix move all nvt/asphere temp {temperature} {temperature} 100"
        # One rotation of each ethane, and the momentum.
        lmp = self.start(*liquid(names, 4.9, "9.0 cutoff site shift yes", temperature), *relax(temperature, 2000), "timestep 2.0",
                         "compute r all erotate/asphere", thermostat, LINEAR, "group linear type 1",
                         "compute_modify move_temp extra/dof $(count(linear)+3)", "variable h equal pe+ke+c_r+f_move", "run 0")
        begin = lmp.extract_variable("h")
        found = self.sample(lmp, names, 10, 100, 30)
        change = lmp.extract_variable("h") - begin
        print(f"\nin 60 ps the energy with that of the thermostat changes by {change:.2e} kcal/mol,", end=" ")
        self.assertLess(abs(change), 1.0)
        self.check_equipartition("nvt/asphere", names, found, temperature, 0.03)


if __name__ == "__main__":
    unittest.main(verbosity=2)
