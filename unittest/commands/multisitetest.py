"""Shared code of the tests of pair_style multisite: components, systems of molecules in LAMMPS, and
their energy.

The energy follows the published formulas (lines of the table in J. Chem. Theory Comput. 10, 4455)
for each pair of sites with numpy, not GPUCOORD's code.
"""

import itertools
import re
import unittest

import numpy as np

import brutetest
import coordtest

if coordtest.PRECISION != "double":
    coordtest.skip("tests of rigid molecules compare to the rounding of double, but this LAMMPS has positions in single precision "
                   "(KOKKOS_PREC)")

# The same sums in double in another order; the largest terms cancel.
DOUBLE = 1e-12


def on_device(command):
    """Return a LAMMPS command with the device of these tests: pair_style multisite, also as a
    sub-style."""
    if not re.match(r"\s*pair_style\s", command) or re.search(r"\sdevice\s", command):
        return command
    number = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
    return re.sub(rf"(\smultisite(?:\s+{number}(?!\S)){{1,2}})", rf"\1 device {coordtest.DEVICE}", command)


def start(*arguments):
    from lammps import lammps

    class Lammps(lammps):
        def command(self, command):
            super().command(on_device(command))

    return Lammps(cmdargs=["-screen", "none", "-log", "none", "-nocite", *coordtest.kokkos(), *arguments])


def run_lammps(script, *arguments, **more):
    return coordtest.run_lammps([on_device(line) for line in script], *arguments, **more)


def commands(lmp, *lines):
    for line in lines:
        lmp.command(line)


# ---------------------------------------------------------------- components

class Component:
    """Sites: centers (x, epsilon, sigma), charges (x, q), dipoles and quadrupoles (x, axis,
    moment)."""

    def __init__(self, name, mass=1.0, inertia=(0.0, 0.0, 0.0), centers=(), charges=(), dipoles=(), quadrupoles=()):
        self.name, self.mass, self.inertia = name, mass, inertia
        self.sites = {"center": list(centers), "charge": list(charges), "dipole": list(dipoles), "quadrupole": list(quadrupoles)}

    def lines(self):
        flat = lambda site: " ".join(repr(float(n)) for part in site for n in np.atleast_1d(part))
        return [f"component {self.name}", f"mass {self.mass!r}", "inertia " + " ".join(map(repr, map(float, self.inertia))),
                *(f"{kind} {flat(site)}" for kind, sites in self.sites.items() for site in sites)]

    def reach(self):
        return max(np.linalg.norm(site[0]) for sites in self.sites.values() for site in sites)


def write_components(path, components, first_line="# UNITS: lj"):
    with open(path, "w") as file:
        file.write("\n".join([first_line, *(line for one in components for line in one.lines())]) + "\n")
    return path


# Off-center sites of each kind, none on an axis.
ALL_KINDS = Component("all", 2.0, (0.4, 0.5, 0.7),
                      centers=[((0.1, 0.2, -0.15), 0.8, 0.9), ((-0.2, 0.05, 0.25), 1.3, 0.7)],
                      charges=[((0.15, -0.1, 0.2), 0.6), ((-0.1, 0.2, -0.05), -0.4)],
                      dipoles=[((0.05, 0.1, 0.2), (0.3, -1.2, 0.5), 0.35), ((-0.1, -0.2, 0.1), (1.0, 0.4, 0.2), 0.2)],
                      quadrupoles=[((-0.15, 0.1, 0.05), (0.2, 0.7, -0.4), 0.3)])
LINEAR = Component("linear", 1.5, (0.3, 0.3, 0.0),
                   centers=[((0.0, 0.0, 0.3), 1.0, 0.8), ((0.0, 0.0, -0.3), 1.0, 0.8)],
                   quadrupoles=[((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), -0.4)])
POLAR = Component("polar", 1.2, (0.2, 0.25, 0.3), centers=[((0.0, 0.05, 0.0), 0.9, 1.0)],
                  dipoles=[((0.0, 0.1, 0.05), (0.0, 1.0, 0.3), 0.5)])
ATOM = Component("atom", 1.0, centers=[((0.0, 0.0, 0.0), 1.1, 0.95)])
MIX = {("all", "linear"): (0.9, 1.05), ("linear", "polar"): (0.8, 0.95)}


def rotations(q):
    """Return matrices from the frames of molecules to the frame of space."""
    w, x, y, z = np.asarray(q, float).T
    return np.moveaxis(np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), 2, 0)


def turned(q, vector):
    """Return quaternions after a rotation of space by a vector."""
    angle = np.linalg.norm(vector)
    a = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * np.asarray(vector)])
    b = np.asarray(q, float)
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


class Energies:
    """Energies of molecules: Lennard-Jones, electrostatic and reaction field of pairs, self energy,
    and the energy of each molecule."""

    def __init__(self, n):
        self.lj = self.es = self.rf = self.self = 0.0
        self.atoms = np.zeros(n)

    def total(self):
        return self.lj + self.es + self.rf + self.self


class Model:
    """Components of types 1, 2, ... and settings of the pair style."""

    def __init__(self, components, cutoff, cutoff_charge=None, site=False, shift=False, rf=1.0, mixing=None, coulomb=1.0):
        self.components, self.site, self.shift, self.rf = components, site, shift, rf
        self.cutoff, self.cutoff_charge = cutoff, cutoff_charge or cutoff
        self.mixing, self.coulomb = mixing or {}, coulomb

    def style(self, words=""):
        keywords = [f"multisite {self.cutoff!r} {self.cutoff_charge!r}"]
        keywords += ["cutoff site"] if self.site else []
        keywords += ["shift yes"] if self.shift else []
        keywords += ["rf " + ("inf" if np.isinf(self.rf) else repr(self.rf))] if self.rf != 1.0 else []
        return " ".join([*keywords, words]).strip()

    def coefficients(self, path, substyle=""):
        """Write the file of components and return pair_coeff commands."""
        names = [one.name for one in self.components]
        write_components(path, {one.name: one for one in self.components}.values())
        lines = [f"pair_coeff * * {substyle} {path} {' '.join(names)}"]
        for (a, b), (xi, eta) in self.mixing.items():
            if a in names and b in names:
                i, j = sorted((names.index(a) + 1, names.index(b) + 1))
                lines.append(f"pair_coeff {i} {j} {substyle} mix {xi!r} {eta!r}")
        return lines

    def commands(self, words=""):
        return [f"pair_style {self.style(words)}", *self.coefficients(f"{coordtest.folder()}/components")]

    def field(self):
        field_factor = 1.0 if np.isinf(self.rf) else 2 * (self.rf - 1) / (2 * self.rf + 1)
        return self.coulomb * field_factor / self.cutoff_charge**3

    def self_energy(self, component):
        moment = np.zeros(3)
        for _, axis, strength in component.sites["dipole"]:
            moment += strength * np.asarray(axis) / np.linalg.norm(axis)
        for x, charge in component.sites["charge"]:
            moment += charge * np.asarray(x)
        return -self.field() * moment @ moment / 2

    def energies(self, box, x, q, types):
        """Sum over pairs of all periodic images. box: brutetest.Box."""
        result = Energies(len(x))
        x, turn = box.wrap(np.asarray(x, float)), rotations(q)
        reach = max(one.reach() for one in self.components)
        far = max(self.cutoff, self.cutoff_charge) + (2 * reach if self.site else 0.0)
        i, j, d = self.pairs(box, x, far)
        kinds = np.asarray([t - 1 for t in types])
        for a, b in itertools.product(range(len(self.components)), repeat=2):
            use = (kinds[i] == a) & (kinds[j] == b)
            if use.any():
                self.add_pairs(result, self.components[a], self.components[b], turn, i[use], j[use], d[use])
        for k, one in enumerate(self.components):
            result.self += self.self_energy(one) * (kinds == k).sum()
            result.atoms[kinds == k] += self.self_energy(one)
        return result

    @staticmethod
    def pairs(box, x, far):
        """Return each pair of molecules and images once from either side, and x_i - x_j."""
        first, second, vectors = [], [], []
        for image in box.images(far):
            d = x[:, None] - x[None] - image
            near = (d**2).sum(axis=2) <= far**2
            if not image.any():
                np.fill_diagonal(near, False)
            i, j = np.nonzero(near)
            first.append(i), second.append(j), vectors.append(d[i, j])
        return np.concatenate(first), np.concatenate(second), np.concatenate(vectors)

    def away_from_cutoffs(self, molecules, width=0.15):
        """Set cutoffs in the middle of the widest gaps between distances near them: small changes
        then move no pair across a cutoff, where energies jump."""
        turn, reach = rotations(molecules.q), max(one.reach() for one in self.components)
        far = max(self.cutoff, self.cutoff_charge) + width + 2 * reach
        i, j, d = self.pairs(molecules.box, molecules.box.wrap(molecules.x), far)
        positions = lambda kinds: [np.array([turn[k] @ np.asarray(site[0], float) for kind in kinds
                                          for site in self.components[molecules.types[k] - 1].sites[kind]]).reshape(-1, 3)
                                for k in range(len(turn))]

        def moved(cutoff, kinds):
            if self.site:
                of = positions(kinds)
                r = np.concatenate([np.linalg.norm(v + of[a][:, None] - of[b][None], axis=2).ravel() for a, b, v in zip(i, j, d)])
            else:
                r = np.linalg.norm(d, axis=1)
            r = np.sort(np.concatenate([r[np.abs(r - cutoff) < width], [cutoff - width, cutoff + width]]))
            gap = np.diff(r).argmax()
            return float((r[gap] + r[gap + 1]) / 2)

        return Model(self.components, moved(self.cutoff, ["center"]),
                     moved(self.cutoff_charge, ["charge", "dipole", "quadrupole"]), self.site, self.shift, self.rf,
                     self.mixing, self.coulomb)

    def add_pairs(self, result, one, other, turn, i, j, d):
        center_distance = np.linalg.norm(d, axis=1)
        total = np.zeros(len(i))

        def site_pairs(kind_a, kind_b, cutoff):
            for a, b in itertools.product(one.sites[kind_a], other.sites[kind_b]):
                r = d + turn[i] @ np.asarray(a[0], float) - turn[j] @ np.asarray(b[0], float)
                length = np.linalg.norm(r, axis=1)
                inside = (length if self.site else center_distance) <= cutoff
                axis = lambda t, s: t @ (np.asarray(s[1], float) / np.linalg.norm(s[1])) if len(s) == 3 else None
                ei = axis(turn[i], a) if kind_a in ("dipole", "quadrupole") else None
                ej = axis(turn[j], b) if kind_b in ("dipole", "quadrupole") else None
                ci = (ei * r).sum(axis=1) / length if ei is not None else None
                cj = (ej * r).sum(axis=1) / length if ej is not None else None
                g = (ei * ej).sum(axis=1) if ei is not None and ej is not None else None
                yield a, b, length, ci, cj, g, inside

        def add(energy, inside):
            energy = np.where(inside, energy, 0.0)
            total[:] += energy
            return energy.sum() / 2    # from either side

        xi, eta = (1.0, 1.0) if one is other else self.mixing.get((one.name, other.name),
                                                                  self.mixing.get((other.name, one.name), (1.0, 1.0)))
        for a, b, r, _, _, _, inside in site_pairs("center", "center", self.cutoff):
            epsilon, sigma = xi * np.sqrt(a[1] * b[1]), eta * (a[2] + b[2]) / 2
            lj = lambda r: 4 * epsilon * ((sigma / r)**12 - (sigma / r)**6)
            result.lj += add(lj(r) - (lj(self.cutoff) if self.shift else 0.0), inside)

        # Moments of i, then of j. ci and cj: cosines of axes with x_i - x_j.
        formulas = {
            ("charge", "charge"): lambda s, r, ci, cj, g: s / r,
            ("charge", "dipole"): lambda s, r, ci, cj, g: s * cj / r**2,
            ("dipole", "charge"): lambda s, r, ci, cj, g: -s * ci / r**2,
            ("dipole", "dipole"): lambda s, r, ci, cj, g: s * (g - 3 * ci * cj) / r**3,
            ("charge", "quadrupole"): lambda s, r, ci, cj, g: s * (3 * cj**2 - 1) / (2 * r**3),
            ("quadrupole", "charge"): lambda s, r, ci, cj, g: s * (3 * ci**2 - 1) / (2 * r**3),
            ("dipole", "quadrupole"): lambda s, r, ci, cj, g: 1.5 * s * (-ci * (5 * cj**2 - 1) + 2 * g * cj) / r**4,
            ("quadrupole", "dipole"): lambda s, r, ci, cj, g: -1.5 * s * (-cj * (5 * ci**2 - 1) + 2 * g * ci) / r**4,
            ("quadrupole", "quadrupole"): lambda s, r, ci, cj, g: 0.75 * s * (
                1 - 5 * (ci**2 + cj**2) - 15 * ci**2 * cj**2 + 2 * (g - 5 * ci * cj)**2) / r**5}
        for (kind_a, kind_b), formula in formulas.items():
            for a, b, r, ci, cj, g, inside in site_pairs(kind_a, kind_b, self.cutoff_charge):
                strength = a[-1] * b[-1]
                result.es += add(self.coulomb * formula(strength, r, ci, cj, g), inside)
                if kind_a == kind_b == "dipole":
                    result.rf += add(-self.field() * strength * g, inside)
        np.add.at(result.atoms, i, total / 2)


# ---------------------------------------------------------------- systems

class Molecules:
    """Molecules in a box, of types 1, 2, ... in random order."""

    def __init__(self, box, x, q, types):
        self.box, self.x, self.q, self.types = box, np.asarray(x, float), np.asarray(q, float), np.asarray(types)

    @classmethod
    def random(cls, box, spacing, ntypes, seed, jitter=0.12):
        """Return molecules near the sites of a lattice of the box, in random orientations, some of
        them outside a periodic box."""
        rng = np.random.default_rng(seed)
        counts = np.maximum((np.diag(box.edges) / spacing).astype(int), 1)
        grid = np.indices(counts).reshape(3, -1).T
        x = box.lo + (grid + 0.5) / counts @ box.edges + jitter * spacing * rng.uniform(-1, 1, (len(grid), 3))
        if all(box.periodic):
            x += 0.3 * np.array(box.edges.sum(axis=0))    # not aligned with the boundaries
            x = box.wrap(x)
        q = rng.normal(size=(len(x), 4))
        types = rng.permutation(np.arange(len(x)) % ntypes + 1)
        return cls(box, x, q / np.linalg.norm(q, axis=1)[:, None], types)

    def write(self, path, shapes=None, ntypes=None):
        """Write a data file of atom_style ellipsoid. shapes: diameters by type."""
        n, hi = len(self.x), self.box.lo + np.diag(self.box.edges)
        text = [f"molecules\n\n{n} atoms\n{n} ellipsoids\n{ntypes or self.types.max()} atom types\n"]
        text += [f"{float(lo)!r} {float(top)!r} {axis}lo {axis}hi" for axis, lo, top in zip("xyz", self.box.lo, hi)]
        if self.box.tilted:
            e = self.box.edges.tolist()
            text.append(f"{e[1][0]!r} {e[2][0]!r} {e[2][1]!r} xy xz yz")
        vector = lambda v: " ".join(map(repr, np.asarray(v, float).tolist()))
        text += ["\nAtoms # ellipsoid\n"]
        text += [f"{k + 1} {self.types[k]} 1 1.0 {vector(self.x[k])}" for k in range(n)]
        text += ["\nEllipsoids\n"]
        text += [f"{k + 1} {vector(shapes[self.types[k]] if shapes else (1, 1, 1))} {vector(self.q[k])}" for k in range(n)]
        with open(path, "w") as file:
            file.write("\n".join(text) + "\n")
        return path


COMPUTES = ["compute p all pressure NULL pair", "compute e all pe/atom pair", "compute s all stress/atom NULL pair",
            "compute sums all reduce sum c_e c_s[*]",
            "thermo_style custom step pe evdwl ecoul press etail c_p[*] c_sums[*]", "thermo_modify norm no"]


def setup_commands(molecules, first=(), units="lj", skin=0.3, ntypes=None):
    """Return commands up to the pair style."""
    path = molecules.write(f"{coordtest.folder()}/molecules", ntypes=ntypes)
    boundary = " ".join("p" if p else "f" for p in molecules.box.periodic)
    return [f"units {units}", *first, "atom_style ellipsoid", "atom_modify map array", f"boundary {boundary}",
            "box tilt large", f"neighbor {skin!r} bin", f"read_data {path}"]


class State:
    def __init__(self, **quantities):
        self.__dict__.update(quantities)


def torques_of(lmp):
    return coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("torque"))


def state_of(lmp, run="run 0 post no"):
    lmp.command(run)
    atom_values = lambda ident, kind: coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute(ident, 1, kind))
    volume = lmp.get_thermo("vol")
    return State(energy=lmp.get_thermo("pe"), vdwl=lmp.get_thermo("evdwl"), coul=lmp.get_thermo("ecoul"),
                 forces=coordtest.forces_of(lmp), torques=torques_of(lmp),
                 virial=coordtest.virial_of(lmp, "p") * volume,    # units lj
                 atom_energies=atom_values("e", 1), atom_virials=-atom_values("s", 2))


class MultisiteTest(unittest.TestCase):
    """Compares numbers, and prints the largest error of each test."""

    maxDiff = None

    def setUp(self):
        self.worst = 0.0

    def tearDown(self):
        if self.worst:
            print(f"worst error {self.worst:.1e} ", end="")

    def check(self, what, found, expected, tolerance, magnitude=None):
        """Compare differences relative to the largest expected magnitude."""
        found, expected = np.asarray(found, float), np.asarray(expected, float)
        self.assertEqual(found.shape, expected.shape, what)
        magnitude = magnitude or np.abs(expected).max()
        self.assertGreater(magnitude, 1e-9, f"{what}: nothing to compare")
        difference = np.abs(found - expected).max() / magnitude
        self.worst = max(self.worst, difference if np.isfinite(difference) else np.inf)
        self.assertLessEqual(difference if np.isfinite(difference) else np.inf, tolerance,
                             f"{what}: {found} instead of {expected}" if found.size < 10 else what)

    def start(self, *lines):
        lmp = start()
        self.addCleanup(lmp.close)
        commands(lmp, *lines)
        return lmp

    def system(self, model, molecules, words="", first=(), **arguments):
        """Return LAMMPS with these molecules and the pair style."""
        return self.start(*setup_commands(molecules, first, ntypes=len(model.components), **arguments), *model.commands(words),
                          *COMPUTES)
