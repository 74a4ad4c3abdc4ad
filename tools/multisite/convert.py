#!/usr/bin/env python3
"""Makes component files of pair_style multisite from descriptions of rigid molecules: ASCII and XML files of ls1-MarDyn, and
molecule templates of LAMMPS."""

import argparse
import math
import os
import sys
import xml.etree.ElementTree

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"ERROR: convert.py needs the Python package numpy, which this Python ({sys.executable}) cannot import ({error}) - "
             "install numpy for it, or use another Python")

# The units of length, mass, energy and charge in Angstrom, u, kcal/mol and elementary charges (CODATA 2018). ls1's XML files
# from the MolMod database have units 'kelvin': Angstrom, u, K, and charges for which 4 pi eps0 is 1.
KCAL_PER_HARTREE, ANGSTROM_PER_BOHR, KCAL_PER_KELVIN = 627.5094740631, 0.529177210903, 0.0019872042586
COULOMB = KCAL_PER_HARTREE * ANGSTROM_PER_BOHR    # energy of two elementary charges times their distance, kcal/mol Angstrom
SYSTEMS = {
    "atomic": (ANGSTROM_PER_BOHR, 1000.0, KCAL_PER_HARTREE, 1.0),
    "kelvin": (1.0, 1.0, KCAL_PER_KELVIN, math.sqrt(KCAL_PER_KELVIN / COULOMB)),
    "real": (1.0, 1.0, 1.0, 1.0),
    "metal": (1.0, 1.0, 23.060547830619, 1.0),
    "electron": (ANGSTROM_PER_BOHR, 1.0, KCAL_PER_HARTREE, 1.0),
    "lj": None,
}
# LAMMPS' units of time, in (u Angstrom^2 / (kcal/mol))^(1/2), which is 48.88821291 fs
TIMES = {"real": 1 / 48.88821291, "metal": 1000 / 48.88821291, "electron": ANGSTROM_PER_BOHR / math.sqrt(KCAL_PER_HARTREE),
         "lj": 1.0}


class Failure(Exception):
    pass


def notice(text):
    print("NOTE: " + text, file=sys.stderr)


class Component:
    def __init__(self, name):
        self.name = name
        self.masses, self.positions = [], []    # masses and positions of the sites that have a mass
        self.centers, self.charges = [], []    # (x, epsilon, sigma), (x, q)
        self.dipoles, self.quadrupoles = [], []    # (x, axis, moment)
        self.inertia = [0.0, 0.0, 0.0]    # as given in the file; 0: from masses

    def add_mass(self, x, mass):
        if mass < 0:
            raise Failure(f"component {self.name}: the mass {mass:g} must not be negative")
        if mass > 0:
            self.masses.append(mass)
            self.positions.append(np.array(x, float))

    def mass(self):
        return sum(self.masses)

    def center(self):
        return sum(m * x for m, x in zip(self.masses, self.positions)) / self.mass()

    def tensor(self):
        """Return the tensor of inertia about the origin, [3][3]."""
        return sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(self.masses, self.positions))

    def size(self):
        return max((math.hypot(*x) for x in self.positions), default=0.0)

    def check(self):
        if not self.masses:
            raise Failure(f"component {self.name} has no mass")
        if not (self.centers or self.charges or self.dipoles or self.quadrupoles):
            raise Failure(f"component {self.name} has no sites that interact")
        for _, epsilon, sigma in self.centers:
            if epsilon < 0 or sigma <= 0:
                raise Failure(f"component {self.name}: a center has epsilon {epsilon:g} and sigma {sigma:g}, but epsilon must "
                              "not be negative and sigma must be positive")
        for _, axis, _ in self.dipoles + self.quadrupoles:
            if math.hypot(*axis) == 0:
                raise Failure(f"component {self.name}: a dipole or quadrupole has an axis of length 0")

    def is_off_center(self):
        return math.hypot(*self.center()) > 1e-6 * max(self.size(), 1e-300)

    def is_turned(self):
        tensor = self.tensor()
        return abs(tensor - np.diag(np.diag(tensor))).max() > 1e-6 * max(tensor.max(), 1e-300)

    def transform(self, move, turn):
        """Move each position x to turn (x - move), and rotate the axes of sites."""
        self.positions = [turn @ (x - move) for x in self.positions]
        self.centers = [(turn @ (x - move), *rest) for x, *rest in self.centers]
        self.charges = [(turn @ (x - move), *rest) for x, *rest in self.charges]
        self.dipoles, self.quadrupoles = ([(turn @ (x - move), turn @ axis, moment) for x, axis, moment in sites]
                                          for sites in (self.dipoles, self.quadrupoles))
        self.inertia = [0.0, 0.0, 0.0]

    def to_principal_axes(self):
        """Move the center of mass to the origin, and rotate the principal axes of inertia to x, y and z."""
        if self.is_off_center():
            notice(f"component {self.name}: its center of mass was at {numbers(self.center())} and is now the origin")
            self.transform(self.center(), np.eye(3))
        if self.is_turned():
            axes = np.linalg.eigh(self.tensor())[1].T
            if np.linalg.det(axes) < 0:
                axes[2] *= -1
            self.transform(np.zeros(3), axes)
            notice(f"component {self.name}: rotated to its principal axes, which had the directions "
                   + ", ".join(numbers(axis) for axis in axes))

    def moments(self):
        """Return the given principal moments of inertia, or else those of the masses. Values as small as rounding are 0."""
        computed = np.diag(self.tensor()) if self.positions else np.zeros(3)
        found = [given if given > 0 else of_masses for given, of_masses in zip(self.inertia, computed)]
        return [0.0 if moment < 1e-9 * max(found) else float(moment) for moment in found]

    def convert(self, source, target):
        """Convert all quantities from one system of units to another."""
        if source == target:
            return
        length, mass, energy, charge = (a / b for a, b in zip(SYSTEMS[source], SYSTEMS[target]))
        self.masses = [m * mass for m in self.masses]
        self.positions = [x * length for x in self.positions]
        self.centers = [(x * length, epsilon * energy, sigma * length) for x, epsilon, sigma in self.centers]
        self.charges = [(x * length, q * charge) for x, q in self.charges]
        self.dipoles = [(x * length, axis, moment * charge * length) for x, axis, moment in self.dipoles]
        self.quadrupoles = [(x * length, axis, moment * charge * length**2) for x, axis, moment in self.quadrupoles]
        self.inertia = [moment * mass * length**2 for moment in self.inertia]

    def lines(self):
        lines = [f"component {self.name}", f"mass {self.mass():.12g}", f"inertia {numbers(self.moments())}"]
        lines += [f"center {numbers(x)} {epsilon:.12g} {sigma:.12g}" for x, epsilon, sigma in self.centers]
        lines += [f"charge {numbers(x)} {q:.12g}" for x, q in self.charges]
        for keyword, sites in ("dipole", self.dipoles), ("quadrupole", self.quadrupoles):
            lines += [f"{keyword} {numbers(x)} {numbers(axis)} {moment:.12g}" for x, axis, moment in sites]
        return lines


def numbers(values):
    return " ".join(f"{float(value) + 0.0:.12g}" for value in values)    # + 0.0: no -0


class Description:
    """The contents of a file, in its own units."""

    def __init__(self):
        self.components = []
        self.mixing = {}    # (i, j) from 0: (xi, eta)
        self.reaction_field = None
        self.is_shifted = False
        self.box, self.molecules = None, []    # lengths; (id, component, r, v, q, D)


def finite(word, where):
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Failure(f"{where}: '{word}' is not a finite number")
    return value


# ---------------------------------------------------------------- ls1, ASCII

class Words:
    """The words of a file and their line numbers, without comments."""

    def __init__(self, text, name):
        self.name = name
        self.words = [(word, number) for number, line in enumerate(text.splitlines(), 1) for word in line.split("#")[0].split()]
        self.at = 0

    def fail(self, text):
        line = self.words[min(self.at, len(self.words)) - 1][1] if self.words else 0
        raise Failure(f"{self.name}, line {line}: {text}")

    def more(self):
        return self.at < len(self.words)

    def word(self, what):
        if not self.more():
            self.fail(f"the file ends where {what} is expected")
        self.at += 1
        return self.words[self.at - 1][0]

    def number(self, what, kind=float):
        word = self.word(what)
        try:
            value = kind(word)
        except ValueError:
            self.fail(f"'{word}' is not a number, but {what} is expected here")
        if not math.isfinite(value):
            self.fail(f"{what} is {word}, which is not finite")
        return value

    def vector(self, what, n=3):
        return np.array([self.number(what) for _ in range(n)])


def ls1_axis(words, keyword, axis, moment):
    """Return the unit axis and the moment. ls1 does not normalize axes of this format: the length of the axis scales the moment
    of a dipole, and a quadrupole must have an axis of length 1."""
    length = math.hypot(*axis)
    if length == 0:
        words.fail(f"the axis of a {keyword} has length 0")
    if abs(length - 1) < 1e-6:
        return axis, moment
    if keyword == "quadrupole":
        words.fail(f"the axis of a quadrupole has length {length:g}, which ls1 does not support - scale the axis to length 1")
    notice(f"the axis of a dipole has length {length:g}, by which its moment is multiplied, as in ls1")
    return axis / length, moment * length


def read_ls1_ascii(text, name):
    words, found = Words(text, name), Description()
    words.word("'mardyn'")
    ncomponents = None
    while words.more():
        keyword = words.word("a keyword")
        if keyword == "Length":
            found.box = words.vector("the edge of the box")
        elif keyword == "NumberOfComponents":
            ncomponents = words.number("the number of components", int)
            break
    if ncomponents is None:
        words.fail("there is no NumberOfComponents")
    for k in range(ncomponents):
        component = Component(f"C{k + 1}")
        counts = [words.number("a number of sites", int) for _ in range(5)]
        if counts[4]:
            words.fail(f"component {k + 1} has {counts[4]} Tersoff sites, which pair_style multisite does not support")
        for _ in range(counts[0]):
            x, mass, epsilon, sigma, _, shift = np.split(words.vector("x y z m eps sigma rc shift", 8), (3, 4, 5, 6, 7))
            component.add_mass(x, mass[0])
            found.is_shifted |= bool(shift[0])
            if epsilon[0]:
                component.centers.append((x, float(epsilon[0]), float(sigma[0])))
        for _ in range(counts[1]):
            *x, mass, charge = words.vector("x y z m q", 5)
            component.add_mass(x, mass)
            if charge:
                component.charges.append((np.array(x), charge))
        for keyword, n, sites in ("dipole", counts[2], component.dipoles), ("quadrupole", counts[3], component.quadrupoles):
            for _ in range(n):
                x, axis, moment = words.vector(f"x of a {keyword}"), words.vector("its axis"), words.number("its moment")
                sites.append((x, *ls1_axis(words, keyword, axis, moment)))
        component.inertia = list(words.vector("Ixx Iyy Izz"))
        found.components.append(component)
    for i in range(ncomponents):
        for j in range(i + 1, ncomponents):
            found.mixing[i, j] = words.number("xi"), words.number("eta")
    found.reaction_field = words.number("epsilonRF")
    read_ls1_molecules(words, found)
    return found


def read_ls1_molecules(words, found):
    count, layout = 0, "ICRVQD"
    while words.more():
        keyword = words.word("a keyword")
        if keyword == "NumberOfMolecules":
            count = words.number("the number of molecules", int)
        elif keyword == "MoleculeFormat":
            layout = words.word("the format of molecules")
            if layout not in ("ICRVQD", "ICRV", "IRV"):
                words.fail(f"MoleculeFormat is {layout}, but only ICRVQD, ICRV and IRV are supported")
            break
        else:
            words.fail(f"'{keyword}' is neither NumberOfMolecules nor MoleculeFormat")
    for _ in range(count):
        ident = words.number("the ID of a molecule", int)
        component = words.number("its component", int) if "C" in layout else 1
        if not 1 <= component <= len(found.components):
            words.fail(f"molecule {ident} is of component {component}, but there are {len(found.components)}")
        r, v = words.vector("its position"), words.vector("its velocity")
        q = words.vector("its quaternion", 4) if "Q" in layout else np.array([1.0, 0, 0, 0])
        if math.hypot(*q) == 0:
            words.fail(f"the quaternion of molecule {ident} has length 0")
        angular = words.vector("its angular momentum") if "D" in layout else np.zeros(3)
        found.molecules.append((ident, component, r, v, q / math.hypot(*q), angular))


# ---------------------------------------------------------------- ls1, XML

def read_ls1_xml(text, name):
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        raise Failure(f"{name} is not valid XML: {error}") from None
    found = Description()
    ids = {}
    for molecule in root.iter("moleculetype"):
        component = Component(molecule.get("name") or f"C{len(ids) + 1}")
        ids[molecule.get("id", str(len(ids) + 1))] = len(ids)
        where = f"{name}, component {component.name}"
        for site in molecule.findall("site"):
            read_xml_site(site, component, found, where)
        moments = molecule.find("momentsofinertia")
        if moments is not None:
            component.inertia = [xml_number(moments, axis, where, 0.0) for axis in ("Ixx", "Iyy", "Izz")]
        found.components.append(component)
    if not found.components:
        raise Failure(f"{name} has no moleculetype")
    for rule in root.iter("rule"):
        if rule.get("type", "LB") != "LB":
            raise Failure(f"{name}: a mixing rule of type {rule.get('type')}, but only LB is supported")
        pair = [rule.get(key) for key in ("cid1", "cid2")]
        for cid in pair:
            if cid not in ids:
                raise Failure(f"{name}: a mixing rule of component {cid}, which does not exist")
        where = f"{name}, mixing rule of {pair[0]} and {pair[1]}"
        numbers_of_rule = tuple(xml_number(rule, key, where, 1.0) for key in ("xi", "eta"))
        found.mixing[tuple(sorted(ids[cid] for cid in pair))] = numbers_of_rule
    return found


def xml_number(node, path, where, default=None):
    found = node.find(path)
    if found is None:
        if default is None:
            raise Failure(f"{where}: there is no {path}")
        return default
    if found.get("unit"):
        raise Failure(f"{where}: {path} has the unit {found.get('unit')}, but convert.py does not convert units of single "
                      "numbers - give all numbers in one system of units")
    try:
        value = float(found.text)
    except (TypeError, ValueError):
        raise Failure(f"{where}: {path} is '{(found.text or '').strip()}', which is not a number") from None
    if not math.isfinite(value):
        raise Failure(f"{where}: {path} is {value}, which is not finite")
    return value


def read_xml_site(site, component, found, where):
    kind = site.get("type")
    x = np.array([xml_number(site, "coords/" + axis, where, 0.0) for axis in "xyz"])
    if kind in ("LJ126", "Charge"):    # others have no mass in ls1
        component.add_mass(x, xml_number(site, "mass", where, 0.0))
    if kind == "LJ126":
        epsilon, sigma = xml_number(site, "epsilon", where), xml_number(site, "sigma", where)
        shifted = (site.findtext("shifted") or "0").strip().lower()
        found.is_shifted |= shifted in ("1", "true", "yes", "on")
        if epsilon:
            component.centers.append((x, epsilon, sigma))
    elif kind == "Charge":
        charge = xml_number(site, "charge", where)
        if charge:
            component.charges.append((x, charge))
    elif kind in ("Dipole", "Quadrupole"):
        path = kind.lower() + "moment"
        if site.find(path) is None:
            raise Failure(f"{where}: there is no {path} in a site of type {kind}")
        has_angle, has_vector = (any(site.find(f"{path}/{part}") is not None for part in parts)
                                 for parts in (("theta", "phi"), ("x", "y", "z")))
        if not has_angle and not has_vector:
            raise Failure(f"{where}: {path} has no direction - give theta and phi, or x, y and z")
        if has_angle:
            theta, phi = (math.radians(xml_number(site, f"{path}/{angle}", where)) for angle in ("theta", "phi"))
            axis = np.array([math.sin(theta) * math.cos(phi), math.sin(theta) * math.sin(phi), math.cos(theta)])
            moment = xml_number(site, path + "/abs", where)
        else:
            axis = np.array([xml_number(site, f"{path}/{axis}", where, 0.0) for axis in "xyz"])
            length = math.hypot(*axis)
            if length == 0:
                raise Failure(f"{where}: the axis of a {kind.lower()} has length 0")
            moment = xml_number(site, path + "/abs", where, length)
            axis = axis / length
        (component.dipoles if kind == "Dipole" else component.quadrupoles).append((x, axis, moment))
    else:
        raise Failure(f"{where}: a site of type {kind}, but only LJ126, Charge, Dipole and Quadrupole are supported")


# ---------------------------------------------------------------- molecule templates of LAMMPS

TAKEN = "Coords", "Types", "Masses", "Charges"
# Sections that do not affect a rigid molecule.
LEFT = ("Molecules", "Fragments", "Bonds", "Angles", "Dihedrals", "Impropers", "Special Bond Counts", "Special Bonds",
        "Shake Flags", "Shake Atoms", "Shake Bond Types")
# Sections that do, although atoms can only become points with a mass, a charge and a Lennard-Jones center.
REFUSED = "Diameters", "Dipoles", "Lines", "Triangles", "Body Integers", "Body Doubles"


def read_template(text, name, options):
    """Return the component of a molecule template, from its coordinates, types, masses and charges."""
    lines = [(number, line.split("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)][1:]    # after the title
    lines = [(number, line) for number, line in lines if line]
    natoms = next((int(line.split()[0]) for _, line in lines if line.split()[1:] == ["atoms"] and line.split()[0].isdigit()), 0)
    if natoms < 1:
        words = Words(text, name)
        if words.more() and words.word("'component'") == "component":
            raise Failure(f"{name} is already a component file of pair_style multisite - pair_coeff can read it")
        raise Failure(f"{name} is neither an ls1 file (first word mardyn), XML, nor a LAMMPS molecule template in its native "
                      "format (with a line 'N atoms', N 1 or more)")
    sections = {}
    for number, line in lines:
        if line in REFUSED:
            raise Failure(f"{name}, line {number}: section {line} cannot be converted, only Coords, Types, Masses and Charges "
                          "of point atoms can - remove the section to convert the molecule without it")
        if all(part.isalpha() for part in line.split()) and line not in TAKEN + LEFT:
            raise Failure(f"{name}, line {number}: '{line}' is not a section of a molecule template")
        if line.split()[-1] in ("mass", "com", "inertia"):
            notice(f"'{line}' of the template is ignored - the value follows from its atoms")
    for k, (_, line) in enumerate(lines):
        if line in TAKEN:
            rows = lines[k + 1:k + 1 + natoms]
            values = {}
            for number, row in rows:
                words = row.split()
                if len(words) != (4 if line == "Coords" else 2) or not words[0].isdigit():
                    raise Failure(f"{name}, line {number}: '{row}' is not a valid line of section {line}")
                values[int(words[0])] = words[1:]
            if sorted(values) != list(range(1, natoms + 1)):
                raise Failure(f"{name}: section {line} must list each of the {natoms} atoms once")
            sections[line] = values
    for needed in "Coords", "Types":
        if needed not in sections:
            raise Failure(f"{name} has no section {needed}")

    types = sorted({kind for kind, in sections["Types"].values()}, key=lambda kind: (len(kind), kind))

    def by_type(option, given, section=None):
        if given and section in sections:
            raise Failure(f"{option} {' '.join(given[0])}: {name} has a section {section}, which sets it for each atom - leave "
                          f"{option} out, or remove the section")
        found = {}
        for kind, *words in given:
            if kind not in types:
                is_number = kind.isdigit() or not all(known.isdigit() for known in types)    # types may also be labels
                what = f"there are no atoms of type {kind}" if is_number else f"{kind} is not an atom type number"
                raise Failure(f"{option} {kind}: {what} - the types in {name} are {', '.join(types)}")
            if kind in found:
                raise Failure(f"{option} {kind} is given twice")
            found[kind] = [finite(word, f"{option} {kind}") for word in words]
        return found

    lj = by_type("--lj", options.lj)
    masses, charges = by_type("--mass", options.mass, "Masses"), by_type("--charge", options.charge, "Charges")
    found = Description()
    component = Component(os.path.splitext(os.path.basename(name))[0])
    for atom in range(1, natoms + 1):
        of = lambda section: np.array([finite(word, f"{name}, {section} of atom {atom}") for word in sections[section][atom]])
        x = of("Coords")
        kind = sections["Types"][atom][0]
        if kind not in lj:
            raise Failure(f"{name}: atom {atom} is of type {kind}, which has no Lennard-Jones parameters - use --lj {kind} "
                          "EPSILON SIGMA, with epsilon 0 for no interaction")
        if "Masses" not in sections and kind not in masses:
            raise Failure(f"{name} has no section Masses, and no mass for type {kind} is given - use --mass {kind} M")
        charge, = of("Charges") if "Charges" in sections else charges.get(kind, [0.0])
        component.add_mass(x, *(of("Masses") if "Masses" in sections else masses[kind]))
        if lj[kind][0]:
            component.centers.append((x, *lj[kind]))
        if charge:
            component.charges.append((x, charge))
    uncharged = [kind for kind in types if kind not in charges]
    if "Charges" not in sections and uncharged:
        notice(f"{name} has no section Charges, and no --charge is given for its types {', '.join(uncharged)} - their charges "
               "are 0")
    component.check()
    component.to_principal_axes()
    found.components.append(component)
    return found


# ---------------------------------------------------------------- output

def give_masses(found, given):
    """Give a mass to components whose sites have none, at the origin, which is the center of mass in ls1."""
    masses = {}
    for name, word in given:
        if name in masses:
            raise Failure(f"--mass {name} is given twice")
        if name not in [component.name for component in found.components]:
            raise Failure(f"--mass {name}: there is no component {name} - the components are "
                          + ", ".join(component.name for component in found.components))
        masses[name] = finite(word, f"--mass {name}")
        if masses[name] <= 0:
            raise Failure(f"--mass {name} {word}: a mass must be positive")
    for component in found.components:
        if component.masses and component.name in masses:
            raise Failure(f"--mass {component.name}: the file gives the component the mass {component.mass():g} - leave --mass out")
        if not component.masses and component.name not in masses:
            raise Failure(f"component {component.name} has no mass, because in ls1 only centers and charges have one - use "
                          f"--mass {component.name} M, in the units of the file")
        component.add_mass(np.zeros(3), masses.get(component.name, 0.0))


def take_sign(found, negate):
    """Reverse dipoles in files that also have charges, if the option says so."""
    has = {kind for kind in ("charges", "dipoles", "quadrupoles") if any(getattr(one, kind) for one in found.components)}
    if not has >= {"charges", "dipoles"}:
        return
    if negate is None:
        also = ", although energies between dipoles and quadrupoles then have the opposite sign" if "quadrupoles" in has else ""
        raise Failure("the energy between charges and dipoles has the opposite sign in ls1 - give --negate-dipoles yes to "
                      f"obtain this energy as in ls1{also}, or --negate-dipoles no to keep the molecules as the file describes "
                      "them")
    if negate == "no":
        return
    for component in found.components:
        component.dipoles = [(x, -axis, moment) for x, axis, moment in component.dipoles]
    if "quadrupoles" in has:
        notice("dipoles are negated: energies between charges and dipoles equal those of ls1, energies between dipoles and "
               "quadrupoles have the opposite sign")


def output_lines(found, source, units):
    lines = [f"# UNITS: {units}", "# FORMAT: 1", f"# from {source} by convert.py"]
    for (i, j), (xi, eta) in sorted(found.mixing.items()):
        if (xi, eta) != (1.0, 1.0):
            line = f"pair_coeff {i + 1} {j + 1} mix {xi:.12g} {eta:.12g}"
            lines.append(f"# {line}    (type {i + 1} is {found.components[i].name}, {j + 1} is {found.components[j].name})")
            notice(f"unlike molecules are mixed by: {line}")
    for component in found.components:
        lines += ["", *component.lines()]
    return lines


def rotation(q):
    """Return the matrix of a quaternion, which rotates vectors from the frame of the molecule to that of space."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def write_data(path, found, source, units):
    """Write a data file of atom_style ellipsoid with the moments of inertia of the components."""
    if found.box is None or not found.molecules:
        raise Failure("--data needs a file of ls1 with Length and molecules")
    length, mass, time = 1.0, 1.0, 1.0
    if source != units:
        theirs, ours = SYSTEMS[source], SYSTEMS[units]
        length, mass = theirs[0] / ours[0], theirs[1] / ours[1]
        time = theirs[0] * math.sqrt(theirs[1] / theirs[2]) / TIMES[units]
    speed, angular = length / time, mass * length**2 / time
    rows = {"Atoms # ellipsoid": [], "Velocities": [], "Ellipsoids": []}
    shapes, has_inertia = [], []
    for component in found.components:
        moments = component.moments()
        has_inertia.append(np.array(moments) > 0)
        squares = [2.5 * (sum(moments) - 2 * moment) / component.mass() for moment in moments]
        longest = math.sqrt(max(squares)) if max(squares) > 0 else 0.5
        half = [max(math.sqrt(max(square, 0.0)), 1e-3 * longest) if max(squares) > 0 else 0.5 for square in squares]
        shapes.append(half)
    first = min(molecule[0] for molecule in found.molecules)
    if first < 1:
        notice(f"IDs begin at {first} in ls1 and at 1 in the data file")
    for ident, kind, r, v, q, momentum in sorted(found.molecules, key=lambda molecule: molecule[0]):
        ident += max(0, 1 - first)
        half = shapes[kind - 1]
        # ls1 disregards angular momentum about axes without inertia
        axes = rotation(q)
        momentum = axes @ (has_inertia[kind - 1] * (axes.T @ momentum))
        density = found.components[kind - 1].mass() / (4 / 3 * math.pi * math.prod(half))
        rows["Atoms # ellipsoid"].append(f"{ident} {kind} 1 {density:.15g} {numbers17(r * length)}")
        rows["Velocities"].append(f"{ident} {numbers17(v * speed)} {numbers17(momentum * angular)}")
        rows["Ellipsoids"].append(f"{ident} {numbers17(2 * np.array(half))} {numbers17(q)}")
    with open(path, "w") as file:
        file.write(f"LAMMPS data file, units {units}\n\n{len(found.molecules)} atoms\n{len(found.molecules)} ellipsoids\n"
                   f"{len(found.components)} atom types\n\n")
        file.writelines(f"0 {edge * length:.15g} {axis}lo {axis}hi\n" for axis, edge in zip("xyz", found.box))
        for section, lines in rows.items():
            file.write(f"\n{section}\n\n" + "\n".join(lines) + "\n")


def numbers17(values):
    return " ".join(f"{value:.17g}" for value in values)


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Makes a component file of pair_style multisite from an ASCII or XML file of ls1-MarDyn or from a "
                    "molecule template of LAMMPS, which it distinguishes by their contents.")
    parser.add_argument("file", help="what to convert")
    parser.add_argument("--units", required=True, choices=["real", "metal", "electron", "lj"], help="units of the component file")
    parser.add_argument("--from", dest="source", choices=["atomic", "kelvin", "lj"],
                        help="units of a file of ls1: atomic is bohr, hartree, 1000 u, e; kelvin is Angstrom, K, u and "
                             "charges with 4 pi eps0 = 1, as in the MolMod database; lj is reduced units")
    parser.add_argument("--names", metavar="NAME,...", help="names of the components, in the order of the file")
    parser.add_argument("--negate-dipoles", choices=["yes", "no"],
                        help="needed if there are charges and dipoles: yes reverses all dipoles, so that energies between "
                             "charges and dipoles equal those of ls1")
    parser.add_argument("--principal", action="store_true",
                        help="move sites of ls1 to the center of mass and rotate them to their principal axes, as for "
                             "templates")
    parser.add_argument("--lj", nargs=3, action="append", default=[], metavar=("TYPE", "EPSILON", "SIGMA"),
                        help="Lennard-Jones parameters of an atom type of a molecule template, in its units")
    parser.add_argument("--mass", nargs=2, action="append", default=[], metavar=("NAME", "M"),
                        help="mass of a component of ls1 without a mass, in the units of the file, or of an atom type of a "
                             "template without section Masses")
    parser.add_argument("--charge", nargs=2, action="append", default=[], metavar=("TYPE", "Q"),
                        help="charge of an atom type of a template without section Charges")
    parser.add_argument("--data", metavar="FILE", help="also write the molecules of an ASCII file of ls1 as a data file")
    parser.add_argument("-o", dest="output", metavar="FILE", help="the component file; without it, standard output")
    return parser.parse_args(arguments)


def convert(options):
    try:
        with open(options.file, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{options.file} cannot be read: {error}") from None
    is_ls1 = True
    if text.lstrip().startswith("<"):
        found = read_ls1_xml(text, options.file)
    elif text.lstrip().startswith("mardyn"):
        found = read_ls1_ascii(text, options.file)
    else:
        found = read_template(text, options.file, options)
        is_ls1 = False

    if is_ls1 and (options.lj or options.charge):
        raise Failure("--lj and --charge apply to molecule templates, but this is a file of ls1")
    if is_ls1 and options.source is None:
        raise Failure("files of ls1 do not contain their units - give --from atomic, kelvin or lj")
    if not is_ls1 and options.source is not None:
        raise Failure("--from applies to files of ls1 - a molecule template has the units given by --units")
    source = options.source or options.units
    if (source == "lj") != (options.units == "lj"):
        raise Failure(f"units {source} cannot be converted to {options.units}")
    if options.names:
        names = options.names.split(",")
        if len(names) != len(found.components):
            raise Failure(f"--names has {len(names)} names, but there are {len(found.components)} components")
        for name, component in zip(names, found.components):
            component.name = name
    names = [component.name for component in found.components]
    for name in names:
        if len(name.split()) != 1 or names.count(name) > 1:
            raise Failure(f"the name '{name}' of a component must be one word and differ from the others - give --names")
    if is_ls1:
        give_masses(found, options.mass)
    for component in found.components:
        component.check()
        if is_ls1 and options.principal:
            if options.data:
                raise Failure("--principal moves sites, but --data writes positions and quaternions of the original sites - "
                              "use only one of them")
            component.to_principal_axes()
        elif is_ls1 and component.is_off_center():
            notice(f"component {component.name}: its center of mass is at {numbers(component.center())}, but ls1 uses the "
                   "origin as the center of mass, and so does convert.py - --principal moves the sites")
        elif is_ls1 and component.is_turned():
            notice(f"component {component.name}: its axes are not the principal axes of its masses, but ls1 uses them as such, "
                   "and so does convert.py - --principal rotates the sites")
    take_sign(found, options.negate_dipoles)
    if found.is_shifted:
        notice("there are shifted Lennard-Jones centers - use pair_style multisite with shift yes")
    if found.reaction_field is not None and any(component.dipoles for component in found.components):
        notice(f"ls1 has a reaction field of {found.reaction_field:g} about dipoles - use pair_style multisite with rf "
               f"{found.reaction_field:g}")
    for component in found.components:
        component.convert(source, options.units)
    text = "\n".join(output_lines(found, os.path.basename(options.file), options.units)) + "\n"
    if options.data:
        write_data(options.data, found, source, options.units)
    if options.output:
        with open(options.output, "w") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


def main():
    try:
        convert(parse(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"ERROR: {failure}")
    except OSError as error:
        sys.exit(f"ERROR: {error.filename} cannot be written: {error.strerror}")


if __name__ == "__main__":
    main()
