"""Shared code of the tests of compute coord/geometry: items evaluated by NumPy, and a system whose groups cross the faces of
the box."""

import itertools

import numpy as np

import coordtest
from brutetest import Box

BOXES = {"orthogonal": Box((9, 10, 11), lo=(-2, 1, 0)), "half": Box((9, 10, 11), tilt=(4.5, -4.5, 5)),
         "slab": Box((9, 10, 40), tilt=(4.5, 0, 0), periodic=(True, True, False)),
         "free": Box((9, 10, 11), periodic=(False, False, False)), "flat": Box((9, 10, 1), lo=(0, 0, -0.5))}
NATOMS = 24
MASSES = (1.0, 12.0, 16.0)
# Atom 3 is in two groups, and in the points of some items.
GROUPS = {"ga": [1, 3, 4, 5], "gb": [3, 8, 9, 10, 11], "alone": [7]}
ITEMS = ("distance 1 2", "distance ga gb", "component x 4 ga", "component y gb 2", "component z 12 13", "position x 5", "position y ga",
         "position z alone", "angle 1 6 7", "angle ga 3 gb", "dihedral 14 15 16 17", "dihedral alone ga 2 gb")
ANGLES = ("angle", "dihedral")


def nearest(box, d):
    """Return the shortest image, from explicit images."""
    lattice = box.lattice()
    if not len(lattice):
        return d
    d = d - np.rint(d @ np.linalg.pinv(lattice)) @ lattice
    images = d + np.array(list(itertools.product(range(-2, 3), repeat=len(lattice)))) @ lattice
    return images[np.argmin(np.linalg.norm(images, axis=1))]


def value(item, points, box, image="nearest"):
    """Return the value of an item. points: position by word"""
    word, *names = item.split()
    axis = "xyz".index(names.pop(0)) if word in ("component", "position") else None
    x = [points[name] for name in names]
    bond = lambda k, j: nearest(box, x[j] - x[k]) if image == "nearest" else x[j] - x[k]
    if word == "position":
        return x[0][axis]
    if word == "component":
        return bond(0, 1)[axis]
    if word == "distance":
        return np.linalg.norm(bond(0, 1))
    cosine = lambda a, b: np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1, 1)    # points in a plane: rounding
    if word == "angle":
        return np.arccos(cosine(bond(1, 0), bond(1, 2)))
    axis = bond(1, 2)
    # by projections onto the plane across the axis
    p, q = (d - d @ axis / (axis @ axis) * axis for d in (bond(1, 0), bond(2, 3)))
    return np.copysign(np.arccos(cosine(p, q)), np.cross(p, q) @ axis)


def points_of(x, masses, groups, by_mass=True):
    """Return the positions of atoms and centers of groups. x: unwrapped, by ID - 1"""
    points = {str(k + 1): p for k, p in enumerate(x)}
    for name, ids in groups.items():
        members = np.array(ids) - 1
        points[name] = np.average(x[members], axis=0, weights=masses[members] if by_mass else None)
    return points


class System:
    """Atoms around a corner of the box, moved by up to three boxes, each group by the same."""

    def __init__(self, test, box, flat=False, more=()):
        self.box = box
        rng = np.random.default_rng(23)
        periodic = np.array(box.periodic)
        s = rng.uniform(-0.15, 0.15, (NATOMS, 3)) * np.where(periodic, 1, 2) + np.where(periodic, 0, 0.5)
        if flat:
            s[:, 2] = 0.5
        inside = np.floor(s).astype(int) * periodic
        flags = np.zeros((NATOMS, 3), int)
        for ids, shift in zip((GROUPS["ga"] + GROUPS["gb"], [2, 6, 7]), ((3, -3, 2), (-1, 0, -3))):
            flags[np.array(ids) - 1] = shift
        flags = (flags + inside) * periodic * (1, 1, 0 if flat else 1)
        self.x = coordtest.on_grid(box.lo + (s - inside) @ box.edges)
        self.unwrapped = self.x + flags @ box.edges
        types = np.arange(NATOMS) % 3 + 1
        self.masses = np.array(MASSES)[types - 1]
        self.lmp = coordtest.start()
        test.addCleanup(self.lmp.close)
        commands = coordtest.setup_commands(box, 3.5, ntypes=3)
        self.commands(*(["dimension 2"] if flat else []), *commands, *more)
        image = [self.lmp.encode_image_flags(*map(int, flag)) for flag in flags]
        self.lmp.create_atoms(NATOMS, list(range(1, NATOMS + 1)), types.tolist(), self.x.ravel().tolist(), None, image)
        for k, mass in enumerate(MASSES):
            self.commands(f"mass {k + 1} {mass}")
        for name, ids in GROUPS.items():
            self.commands(f"group {name} id {' '.join(map(str, ids))}")

    def commands(self, *lines):
        for line in lines:
            self.lmp.command(line)

    def values(self, ident="t"):
        """Return all values."""
        n = self.lmp.extract_compute(ident, 0, 3)
        return np.ctypeslib.as_array(self.lmp.extract_compute(ident, 0, 1), (n,)).copy()

    def array(self, ident="t"):
        """Return S and W of all values."""
        rows, columns = (self.lmp.extract_compute(ident, 0, kind) for kind in (4, 5))
        array = self.lmp.extract_compute(ident, 0, 2)
        return np.array([[array[k][c] for c in range(columns)] for k in range(rows)])

    def expected(self, items=ITEMS, image="nearest", by_mass=True):
        points = points_of(self.unwrapped, self.masses, GROUPS, by_mass)
        return np.array([value(item, points, self.box, image) for item in items])
