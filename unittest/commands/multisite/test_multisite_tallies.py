"""pair_style multisite: energies compared with formulas; forces, torques and pressure with
differences of the energy; tallies of atoms and cells with sums; the long-range correction with
closed forms and pair_style lj/cut."""

import itertools
import unittest

import numpy as np

import coordtest
import errortest    # also whole messages with older releases
import multisitetest
from brutetest import Box
from multisitetest import (ALL_KINDS, ATOM, DOUBLE, LINEAR, MIX, POLAR, Component, Model, Molecules, MultisiteTest, commands,
                           state_of)

FOUR = [ALL_KINDS, LINEAR, POLAR, ATOM]
BOXES = {"orthogonal": Box((7.3, 6.9, 7.6)), "triclinic": Box((7.3, 6.9, 7.6), tilt=(1.7, -0.9, 1.2))}
SETTINGS = {"center": {}, "site": dict(site=True), "shift": dict(shift=True), "field": dict(rf=7.5), "conductor": dict(rf=np.inf),
            "all": dict(site=True, shift=True, rf=3.0)}
# Derivatives from coordtest.extrapolate(): errors of order STEP^4, and rounding over STEP.
STEP, GRADIENT_TOLERANCE = 2e-4, 1e-8


def model(**settings):
    return Model(FOUR, 2.2, 2.9, mixing=MIX, **settings)


class Energies(MultisiteTest):
    def test_formulas(self):
        for (box, settings) in itertools.product(BOXES, SETTINGS):
            with self.subTest(f"{box} {settings}"):
                molecules = Molecules.random(BOXES[box], 1.7, 4, seed=3)
                wanted = model(**SETTINGS[settings])
                expected = wanted.energies(molecules.box, molecules.x, molecules.q, molecules.types)
                found = state_of(self.system(wanted, molecules))
                largest = np.abs(expected.atoms).sum()
                self.check("Lennard-Jones", found.vdwl, expected.lj, DOUBLE, largest)
                self.check("electrostatic", found.coul, expected.es + expected.rf + expected.self, DOUBLE, largest)
                self.check("energy", found.energy, expected.total(), DOUBLE, largest)
                self.check("energies of molecules", found.atom_energies, expected.atoms, DOUBLE)
                if "field" in settings:
                    self.assertNotAlmostEqual(expected.self, 0.0, delta=1e-3)

    def test_small_box(self):
        """A molecule interacts with its own images."""
        box = Box((3.1, 3.3, 2.9), tilt=(0.8, 0.4, -0.6))
        molecules = Molecules.random(box, 1.7, 3, seed=4)
        wanted = Model(FOUR[:3], 3.6, site=True, rf=4.0)
        expected = wanted.energies(box, molecules.x, molecules.q, molecules.types)
        found = state_of(self.system(wanted, molecules))
        self.check("energies of molecules", found.atom_energies, expected.atoms, 10 * DOUBLE)

    def test_units(self):
        """The factors of charges and units are LAMMPS': a pair of charges in units real, with a
        dielectric constant."""
        box = Box((30.0, 30.0, 30.0), periodic=(False,) * 3)
        ion = Component("ion", charges=[((0, 0, 0), 1.0)])
        molecules = Molecules(box, [[10, 10, 10], [13, 14, 10]], [[1, 0, 0, 0]] * 2, [1, 1])
        path = f"{coordtest.folder()}/ion"
        multisitetest.write_components(path, [ion], "# UNITS: real")
        lmp = self.start(*multisitetest.setup_commands(molecules, units="real"), "dielectric 4.0", "pair_style multisite 9",
                         f"pair_coeff * * {path} ion")
        lmp.command("run 0 post no")
        self.check("pair of charges", lmp.get_thermo("pe"), 332.06371 / 4.0 / 5.0, 1e-12)

    def test_small_numbers(self):
        """Units si and cgs, whose numbers exceed single precision: two dipoles in a line."""
        # Moment, distance, and Coulomb's constant.
        for units, moment, r, coulomb in ("si", 6e-30, 4e-10, 8.9876e9), ("cgs", 1.8e-18, 4e-8, 1.0):
            box = Box((15 * r,) * 3)
            molecules = Molecules(box, [[r, r, r], [r, r, 2 * r]], [[1, 0, 0, 0]] * 2, [1, 1])
            dipole = Component("dipole", 5e-26, dipoles=[((0, 0, 0), (0, 0, 1), moment)])
            path = multisitetest.write_components(f"{coordtest.folder()}/dipole", [dipole], f"# UNITS: {units}")
            lmp = self.start(*multisitetest.setup_commands(molecules, units=units, skin=r / 2), f"pair_style multisite {2 * r!r}",
                             f"pair_coeff * * {path} dipole", "thermo_style custom step pe", "run 0 post no")
            found, expected = lmp.get_thermo("pe"), -2 * coulomb * moment**2 / r**3
            # Digits of LAMMPS' constant.
            self.check(f"units {units}", found / expected, 1.0, 1e-4 if units == "si" else 1e-12)
            lmp.command(f"pair_style multisite {2 * r!r} precision mixed")
            with self.assertRaisesRegex(Exception, "Pair multisite: precision mixed: component dipole: .* - use "
                                        "precision double, or units real or metal"):
                lmp.command("run 0 post no")

    def test_converted(self):
        """A file in units metal in a system with units real, and vice versa."""
        box = Box((30.0, 30.0, 30.0), periodic=(False,) * 3)
        one = Component("one", 40.0, centers=[((0, 0, 0), 0.01, 3.0)], charges=[((0.2, 0, 0), 0.3)])
        molecules = Molecules(box, [[10, 10, 10], [13, 11, 10]], [[1, 0, 0, 0]] * 2, [1, 1])
        energies = {}
        for of_file, units in itertools.product(("metal", "real"), repeat=2):
            path = f"{coordtest.folder()}/{of_file}"
            epsilon = 0.01 if of_file == "metal" else 0.01 * 23.060549
            one.sites["center"] = [((0, 0, 0), epsilon, 3.0)]
            multisitetest.write_components(path, [one], f"# DATE: 2026-01-01 UNITS: {of_file} CONTRIBUTOR: test")
            lmp = self.start(*multisitetest.setup_commands(molecules, units=units), "pair_style multisite 9",
                             f"pair_coeff * * {path} one")
            lmp.command("run 0 post no")
            energies[of_file, units] = lmp.get_thermo("evdwl"), lmp.get_thermo("ecoul")
        for units in "metal", "real":
            np.testing.assert_allclose(energies["metal", units], energies["real", units], 1e-12)
        sixth = (9 / 10)**3    # sigma 3 at a distance of sqrt(10)
        self.check("Lennard-Jones in units metal", energies["metal", "metal"][0], 4 * 0.01 * (sixth**2 - sixth), 1e-12)


class Differences(MultisiteTest):
    def states(self, lmp, molecules, x=None, q=None):
        """Return the energy with other positions or quaternions."""
        if x is not None:
            coordtest.move_to(lmp, x)
        if q is not None:
            for k in q:
                size = np.linalg.norm(q[k][1:])
                axis, angle = q[k][1:] / size, 2 * np.degrees(np.arctan2(size, q[k][0]))
                lmp.command(f"set atom {k + 1} quat {' '.join(map(repr, axis.tolist()))} {float(angle)!r}")
        lmp.command("run 0 post no")
        return lmp.get_thermo("pe")

    def test_forces_and_torques(self):
        for box, settings in itertools.product(BOXES.values(), ({}, dict(site=True))):
            molecules = Molecules.random(box, 2.0, 4, seed=5)
            lmp = self.system(model(rf=3.0, **settings).away_from_cutoffs(molecules), molecules)
            here = state_of(lmp)
            types = molecules.types
            some = [int(np.flatnonzero(types == t)[k]) for t in (1, 2, 3, 4) for k in (0, 1)]
            largest = np.abs(here.forces).max(), np.abs(here.torques).max()
            for k, axis in itertools.product(some, range(3)):
                energies = []
                for h in (-STEP, -STEP / 2, STEP / 2, STEP):
                    x = molecules.x.copy()
                    x[k, axis] += h
                    energies.append(self.states(lmp, molecules, x=x))
                coordtest.move_to(lmp, molecules.x)
                self.check(f"force {axis} on {k}", here.forces[k, axis], -coordtest.extrapolate(energies, STEP), GRADIENT_TOLERANCE,
                           largest[0])
                energies = []
                for h in (-STEP, -STEP / 2, STEP / 2, STEP):
                    energies.append(self.states(lmp, molecules, q={k: multisitetest.turned(molecules.q[k], h * np.eye(3)[axis])}))
                self.states(lmp, molecules, q={k: molecules.q[k]})
                self.check(f"torque {axis} on {k}", here.torques[k, axis], -coordtest.extrapolate(energies, STEP), GRADIENT_TOLERANCE,
                           largest[1])

    def test_pressure(self):
        """Centers of mass are strained, molecules are not. The range of the reaction field is not
        strained."""
        strains = {0: "xx", 1: "yy", 2: "zz", 3: "xy", 4: "xz", 5: "yz"}
        for name, settings in itertools.product(BOXES, ({}, dict(rf=3.0), dict(site=True))):
            box = BOXES[name]
            molecules = Molecules.random(box, 2.0, 4, seed=6)
            lmp = self.system(model(**settings).away_from_cutoffs(molecules), molecules)
            here = state_of(lmp)
            if not box.tilted:
                lmp.command("change_box all triclinic")
            for k, component in strains.items():
                energies = []
                for h in (-STEP, -STEP / 2, STEP / 2, STEP):
                    a, b = coordtest.COMPONENTS[k]
                    strain = np.eye(3)
                    strain[b, a] += h    # x_a grows with x_b
                    coordtest.move_to(lmp, molecules.x)
                    coordtest.set_box(lmp, box, box.edges @ strain)
                    lmp.command("run 0 post no")
                    energies.append(lmp.get_thermo("pe"))
                    coordtest.set_box(lmp, box, box.edges)
                # Forces are not parallel to d: d_y F_x, from the strain, equals d_x F_y, which is
                # tallied, minus d x F. The torques of a pair add up to the negative of d x F.
                twist = {3: 1.0, 4: -1.0, 5: 1.0}.get(k, 0.0) * here.torques.sum(axis=0)[{3: 2, 4: 1}.get(k, 0)]
                self.check(f"virial {component}, {name} {settings}", here.virial[k] + twist,
                           -coordtest.extrapolate(energies, STEP), 1e-7, np.abs(here.virial).max())


class Tallies(MultisiteTest):
    def test_sums(self):
        for settings in SETTINGS.values():
            molecules = Molecules.random(BOXES["triclinic"], 1.7, 4, seed=7)
            found = state_of(self.system(model(**settings), molecules))
            self.check("energies", found.atom_energies.sum(), found.energy, DOUBLE, np.abs(found.atom_energies).sum())
            self.check("virials", found.atom_virials.sum(axis=0), found.virial, DOUBLE, np.abs(found.atom_virials).sum())
            self.check("no net force", 1 + found.forces.sum(axis=0), np.ones(3), 1e-11 * np.abs(found.forces).sum())

    def test_asked_for(self):
        """Forces and torques are the same if energy or virial are not requested."""
        molecules = Molecules.random(BOXES["triclinic"], 1.7, 4, seed=8)
        lmp = self.system(model(site=True, rf=3.0), molecules)
        both = state_of(lmp)
        # Step 1 requests nothing, nothing moves.
        commands(lmp, "thermo_style custom step", "thermo 1000", "run 1 post no")
        self.check("forces", coordtest.forces_of(lmp), both.forces, DOUBLE)
        self.check("torques", multisitetest.torques_of(lmp), both.torques, DOUBLE)

    def test_cells(self):
        """Potential and virial by cells: fix ave/grid of the per-atom tallies, which add up to the
        totals."""
        molecules = Molecules.random(BOXES["orthogonal"], 1.7, 4, seed=9)
        lmp = self.system(model(rf=3.0), molecules)
        dump = f"{coordtest.folder()}/grid"
        commands(lmp, "fix g all ave/grid 1 1 1 3 4 5 c_e c_s[1] c_s[4] norm none",
                 f"dump g all grid 1 {dump} f_g:grid:data[*]", "dump_modify g format float %.17g")
        found = state_of(lmp, "run 0")
        lmp.command("undump g")
        with open(dump) as file:
            text = file.read()
        rows = np.array([line.split() for line in text[text.rindex("ITEM: GRID CELLS"):].splitlines()[1:]], float)
        self.assertEqual(len(rows), 3 * 4 * 5)
        cells = (molecules.box.wrap(molecules.x) / np.diag(molecules.box.edges) * (3, 4, 5)).astype(int)
        number = cells[:, 0] + 3 * (cells[:, 1] + 4 * cells[:, 2])
        for column, atom_values in enumerate((found.atom_energies, -found.atom_virials[:, 0], -found.atom_virials[:, 3])):
            expected = np.bincount(number, atom_values, 60)
            self.check("cells", rows[:, column], expected, DOUBLE)

    def test_hybrid(self):
        """Next to atoms of another style, and with another style on top."""
        box = BOXES["triclinic"]
        molecules = Molecules.random(box, 1.7, 4, seed=10)
        ours = Model([ALL_KINDS, LINEAR, POLAR], 2.2, 2.9, rf=3.0, mixing=MIX)
        path = f"{coordtest.folder()}/components"
        coefficients = ours.coefficients(path, "multisite")
        coefficients[0] += " NULL"
        lj = ["pair_coeff *3 4 lj/cut 0.7 0.9", "pair_coeff 4 4 lj/cut 0.7 0.9"]
        own = molecules.types != 4
        expected = ours.energies(box, molecules.x[own], molecules.q[own], molecules.types[own])
        # All pairs minus those among molecules.
        atoms = Model([Component("a", centers=[((0, 0, 0), 0.7, 0.9)])], 2.0)
        all_lj = atoms.energies(box, molecules.x, molecules.q, np.ones(len(own), int))
        among = atoms.energies(box, molecules.x[own], molecules.q[own], np.ones(own.sum(), int))
        states = {}
        for style in "hybrid", "hybrid/overlay":
            lmp = self.start(*multisitetest.setup_commands(molecules, ntypes=4), f"pair_style {style} {ours.style()} lj/cut 2.0",
                             *coefficients, *lj, *multisitetest.COMPUTES)
            states[style] = state_of(lmp)
            self.check("energy", states[style].energy, expected.total() + all_lj.lj - among.lj, DOUBLE,
                       np.abs(expected.atoms).sum() + np.abs(all_lj.atoms).sum())
        for name in "forces", "torques", "virial", "atom_energies", "atom_virials":
            self.check(name, getattr(states["hybrid"], name), getattr(states["hybrid/overlay"], name), DOUBLE)
        # Alone: the interactions among the molecules of a hybrid system.
        alone = Molecules(box, molecules.x[own], molecules.q[own], molecules.types[own])
        by_itself = state_of(self.system(ours, alone))
        self.check("torques", states["hybrid"].torques[own], by_itself.torques, 1e-11)
        over = self.start(*multisitetest.setup_commands(alone, ntypes=3), f"pair_style hybrid/overlay {ours.style()} lj/cut 2.0",
                          *ours.coefficients(path, "multisite"), "pair_coeff * * lj/cut 0.7 0.9", *multisitetest.COMPUTES)
        only = self.start(*multisitetest.setup_commands(alone, ntypes=3), "pair_style lj/cut 2.0", "pair_coeff * * 0.7 0.9",
                          *multisitetest.COMPUTES)
        both, lj_alone = state_of(over), state_of(only)
        self.check("energy with lj/cut over it", both.energy, by_itself.energy + among.lj, DOUBLE,
                   np.abs(expected.atoms).sum() + np.abs(among.atoms).sum())
        for name in "forces", "virial", "atom_energies", "atom_virials":
            of_both = getattr(by_itself, name) + getattr(lj_alone, name)
            self.check(f"{name} with lj/cut over it", getattr(both, name), of_both, 1e-11)


class Tail(MultisiteTest):
    """Contributions of sites beyond the cutoff with a uniform density."""

    def tail_of(self, wanted, molecules, words="tail yes", units="lj"):
        """Return energy and pressure with the correction minus those without."""
        values = []
        for keyword in words, words.replace("tail yes", "tail no"):
            lmp = self.system(wanted, molecules, keyword)
            lmp.command("run 0 post no")
            values.append((lmp.get_thermo("pe"), lmp.get_thermo("press")))
            if keyword == words:
                etail = lmp.get_thermo("etail")
        energy, pressure = np.subtract(*values)
        self.check("etail", etail, energy, 1e-9)
        return energy, pressure

    def test_single_sites(self):
        """The same correction as in pair_style lj/cut, with mixing."""
        box = BOXES["orthogonal"]
        molecules = Molecules.random(box, 1.7, 2, seed=11)
        two = [Component("a", centers=[((0, 0, 0), 0.7, 0.9)]), Component("b", centers=[((0, 0, 0), 1.2, 1.1)])]
        for site in False, True:
            found = self.tail_of(Model(two, 2.3, site=site), molecules)
            values = []
            for tail in "yes", "no":
                lmp = self.start(*multisitetest.setup_commands(molecules, ntypes=2), "thermo_style custom step pe press",
                                 "thermo_modify norm no",
                                 "pair_style lj/cut 2.3",
                                 "pair_coeff 1 1 0.7 0.9", "pair_coeff 2 2 1.2 1.1", f"pair_modify mix arithmetic tail {tail}")
                lmp.command("run 0 post no")
                values.append((lmp.get_thermo("pe"), lmp.get_thermo("press")))
            self.check("energy", found[0], np.subtract(*values)[0], 1e-10)
            self.check("pressure", found[1], np.subtract(*values)[1], 1e-10)

    def integrals(self, a, b, arms, cutoff, n=60):
        """Return the mean over orientations of u and of R du/dR beyond the cutoff, by numerical
        integration: 2 pi int u R^2 dR and - 2 pi / 3 int du/dR R^3 dR of one pair of sites at the
        ends of arms, for a cutoff between centers of mass."""
        epsilon, sigma = np.sqrt(a[0] * b[0]), (a[1] + b[1]) / 2
        nodes, weights = np.polynomial.legendre.leggauss(n)
        # t = cutoff/R from 0 to 1. Orientations: cosines of both arms, and the angle between them.
        t, wt = (nodes + 1) / 2, weights / 2
        angles = np.arange(48) * np.pi / 24
        c1, c2, phi, radius = np.meshgrid(nodes, nodes, angles, cutoff / t, indexing="ij", sparse=True)
        weight = (weights[:, None, None, None] * weights[None, :, None, None] / 4 / len(angles)
                  * (wt * cutoff / t**2)[None, None, None, :])
        along = radius + arms[1] * c2 - arms[0] * c1
        s1, s2 = np.sqrt(1 - c1**2), np.sqrt(1 - c2**2)
        r_sq = along**2 + (arms[1] * s2 * np.cos(phi) - arms[0] * s1)**2 + (arms[1] * s2 * np.sin(phi))**2
        s6 = (sigma**2 / r_sq)**3
        # du/dR.
        u, dudr = 4 * epsilon * (s6**2 - s6), -24 * epsilon * (2 * s6**2 - s6) / r_sq * along
        return 2 * np.pi * (weight * u * radius**2).sum(), -2 * np.pi / 3 * (weight * dudr * radius**3).sum()

    def test_centers_of_molecules(self):
        """Two-center and one-center molecules with off-center sites, by numerical integration."""
        one = Component("one", centers=[((0.1, 0.3, -0.1), 0.8, 0.9), ((0, -0.45, 0.2), 1.1, 0.7)])
        other = Component("other", centers=[((0.2, 0.0, 0.3), 1.3, 1.0)])
        box = BOXES["triclinic"]
        molecules = Molecules.random(box, 1.7, 2, seed=12)
        volume = np.linalg.det(box.edges)
        count = np.bincount(molecules.types)[1:]
        energy = pressure = 0.0
        for (i, a), (j, b) in itertools.product(enumerate((one, other)), repeat=2):
            for (x, *lj), (y, *lk) in itertools.product(a.sites["center"], b.sites["center"]):
                pair_integral = self.integrals(lj, lk, (np.linalg.norm(x), np.linalg.norm(y)), 2.3, 24)
                energy += count[i] * count[j] / volume * pair_integral[0]
                pressure += count[i] * count[j] / volume**2 * pair_integral[1]
        found = self.tail_of(Model([one, other], 2.3), molecules)
        self.check("energy", found[0], energy, 1e-7)
        self.check("pressure", found[1], pressure, 1e-7)

    def test_who_says(self):
        """The keyword takes precedence over pair_modify, which applies without the keyword; also in
        hybrid styles."""
        molecules = Molecules.random(BOXES["orthogonal"], 1.7, 1, seed=13)
        one = Model([ATOM], 2.3)
        lmp = self.system(one, molecules)

        def etail(*lines):
            commands(lmp, *lines, "run 0 post no")
            return lmp.get_thermo("etail")

        self.assertEqual(etail(), 0.0)
        full = etail("pair_modify tail yes")
        self.assertLess(full, -0.1)
        style = f"pair_style {one.style()}"
        self.assertEqual(etail(f"{style} tail no"), 0.0)
        self.assertEqual(etail(style), full)
        self.assertEqual(etail("pair_modify tail no"), 0.0)
        self.assertEqual(etail(f"{style} tail yes", "pair_modify tail no"), full)
        path = f"{coordtest.folder()}/components"
        hybrid = f"pair_style hybrid/overlay {one.style()} {{}} lj/cut 2.0"
        rest = [*one.coefficients(path, "multisite"), "pair_coeff * * lj/cut 0.0 1.0"]
        self.assertEqual(etail(hybrid.format(""), *rest), 0.0)
        self.assertEqual(etail(hybrid.format("tail yes"), *rest), full)
        self.assertEqual(etail(hybrid.format(""), *rest, "pair_modify pair multisite tail yes"), full)
        self.assertEqual(etail(hybrid.format("tail no"), *rest, "pair_modify tail yes"), 0.0)

    def test_other_styles_of_hybrid(self):
        """A stale correction of another sub-style is not added to that of multisite."""
        molecules = Molecules.random(BOXES["orthogonal"], 1.7, 1, seed=13)
        one = Model([ATOM], 2.3)
        lmp = self.start(*multisitetest.setup_commands(molecules), f"pair_style hybrid/overlay {one.style()} tail yes lj/cut 2.0",
                         *one.coefficients(f"{coordtest.folder()}/components", "multisite"), "pair_coeff * * lj/cut 0.7 0.9",
                         "thermo_style custom step pe etail", "thermo_modify norm no")

        def closed(epsilon, sigma, cutoff):
            third = (sigma / cutoff)**3
            n, volume = len(molecules.x), np.linalg.det(molecules.box.edges)
            return 8 / 3 * np.pi * n**2 / volume * epsilon * sigma**3 * (third**3 / 3 - third)

        (_, epsilon, sigma), = ATOM.sites["center"]
        ours, other = closed(epsilon, sigma, 2.3), closed(0.7, 0.9, 2.0)
        for words, expected in (("lj/cut tail yes", ours + other), ("lj/cut tail no", ours), ("lj/cut tail yes", ours + other),
                                ("multisite tail no", ours + other)):
            commands(lmp, f"pair_modify pair {words}", "run 0 post no")
            self.check(words, lmp.get_thermo("etail"), expected, 1e-12)
        commands(lmp, "pair_modify pair lj/cut tail no", f"pair_style hybrid/overlay {one.style()} lj/cut 2.0",
                 *one.coefficients(f"{coordtest.folder()}/components", "multisite"), "pair_coeff * * lj/cut 0.7 0.9",
                 "run 0 post no")
        self.assertEqual(lmp.get_thermo("etail"), 0.0)

    def test_shift_by_pair_modify(self):
        molecules = Molecules.random(BOXES["orthogonal"], 1.7, 4, seed=14)
        energies = {shift: model(shift=shift).energies(molecules.box, molecules.x, molecules.q, molecules.types).lj
                    for shift in (False, True)}
        for words, lines, shift in (("", ["pair_modify shift yes"], True), ("shift pair", ["pair_modify shift yes"], True),
                                    ("shift no", ["pair_modify shift yes"], False),
                                    ("shift yes", ["pair_modify shift no"], True)):
            lmp = self.system(model(), molecules, words)
            commands(lmp, *lines)
            self.check(words, state_of(lmp).vdwl, energies[shift], DOUBLE, abs(energies[False]) + abs(energies[True]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
