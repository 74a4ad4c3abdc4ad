"""compute coord/geometry: values against closed forms and LAMMPS' own computes, derivatives, virials and stress against
differences."""

import math
import os
import unittest

import numpy as np

import coordtest
import plumedtest
import test_bias_forces
from brutetest import Box
from geometrytest import ANGLES, BOXES, GROUPS, ITEMS, NATOMS, System, points_of, value

SAME = coordtest.rounded(1e-12)


class Values(unittest.TestCase):
    def test_closed_forms(self):
        for name, box in BOXES.items():
            with self.subTest(name):
                items = [item for item in ITEMS if name != "flat" or " z " not in item]
                system = System(self, box, flat=name == "flat")
                for image in "nearest", "none":
                    for center in "mass", "geometry":
                        system.commands(f"compute t all coord/geometry {' '.join(items)} image {image} center {center}", "run 0")
                        expected = system.expected(items, image, center == "mass")
                        error = coordtest.error_of(system.values(), expected)
                        np.testing.assert_array_equal(system.array()[:, 0], system.values())
                        self.assertLess(error, SAME)
                        self.assertGreater(np.abs(expected).max(), 3 if image == "nearest" else 20 if name != "free" else 3)
                        system.commands("uncompute t")

    def test_nearest_members(self):
        """Members joined as nearest images, for groups that are narrower than half the box."""
        for name in "orthogonal", "half", "slab":
            system = System(self, BOXES[name])
            items = [item for item in ITEMS if not item.startswith("position")]
            system.commands("set group all image 0 0 " + ("NULL" if name == "slab" else "0"),
                            f"compute t all coord/geometry {' '.join(items)} unwrap nearest", "run 0")
            self.assertLess(coordtest.error_of(system.values(), system.expected(items)), SAME)

    def test_near_singular(self):
        """Angles of 1e-9 and pi - 1e-9, a dihedral whose first three atoms are 1e-7 from a line, and two atoms at the same place."""
        x = np.array([(2, 0, 0), (0, 0, 0), (4, 4e-9, 0), (-4, 4e-9, 0), (1e-7, 0, -1), (0, 0, 1), (0, 1, 1.5), (2, 0, 0)])
        for periodic in True, False:
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            coordtest.make_system(lmp, Box((10, 10, 10), lo=(-5, -5, -5), periodic=(periodic,) * 3), x, 3.0)
            lmp.command("compute t all coord/geometry angle 1 2 3 angle 1 2 4 dihedral 5 2 6 7 distance 1 8")
            lmp.command("run 0")
            values = np.ctypeslib.as_array(lmp.extract_compute("t", 0, 1), (4,)).copy()
            slopes = np.linalg.norm(coordtest.atoms_of(lmp, "t").reshape(8, 4, 3), axis=2)
            for found, expected, error in ((values[0], 1e-9, 1e-12), (math.pi - values[1], 1e-9, 1e-6), (values[2], math.pi / 2, 1e-12),
                                           (slopes[0, 0], 0.5, 1e-9), (slopes[2, 0], 0.25, 1e-9), (slopes[0, 1], 0.5, 1e-9),
                                           (slopes[4, 2], 1e7, 1e-9)):
                self.assertAlmostEqual(found / expected, 1, delta=max(error, 2 * coordtest.POSITION_ROUNDOFF))
            self.assertEqual((values[3], *slopes[:, 3]), (0,) * 9)

    def test_single_precision(self):
        """The bounds of doc/limits.md for positions in single precision. A LAMMPS with positions in double gets rounded ones."""
        system = System(self, BOXES["free"])
        x = np.random.default_rng(31).uniform(0.2, 8.8, (NATOMS, 3))
        coordtest.move_to(system.lmp, x if coordtest.POSITION_ROUNDOFF else x.astype(np.float32))
        words = [f"{kind} {' '.join(str((k + j) % NATOMS + 1) for j in range(n))}" for k in range(NATOMS)
                 for kind, n in (("distance", 2), ("angle", 3), ("dihedral", 4))]
        system.commands(f"compute t all coord/geometry {' '.join(words)}", "compute g all coord/shape gyration all weights geometry", "run 0")
        expected = np.array([value(item, points_of(x, system.masses, {}), system.box) for item in words])
        bonds = np.roll(x, -1, axis=0) - x
        sines = np.sin([value(f"angle {k + 1} {(k + 1) % NATOMS + 1} {(k + 2) % NATOMS + 1}", points_of(x, system.masses, {}), system.box)
                        for k in range(NATOMS)])
        lengths = np.linalg.norm(bonds, axis=1)
        two, three = (np.min([np.roll(lengths, -j) for j in range(n)], axis=0) for n in (2, 3))
        bounds = np.abs(x).max() * np.column_stack([np.full(NATOMS, 2.1e-7), 4.2e-7 / two, 8.3e-7 / (three * np.minimum(sines, np.roll(sines, -1)))])
        shares = np.abs(system.values() - expected).reshape(-1, 3) / bounds
        print("shares of the bounds: distance %.2f, angle %.2f, dihedral %.2f" % tuple(shares.max(axis=0)))
        self.assertLess(shares.max(), 1)
        self.assertGreater(shares.max(axis=0).min(), 0.05)    # positions are rounded
        radius = np.sqrt(((x - x.mean(axis=0))**2).sum() / NATOMS)
        self.assertLess(abs(coordtest.scalar_of(system.lmp, "g") - radius), 2.1e-7 * np.abs(x).max())

    def test_outputs(self):
        """Values, rows of S and W, and derivatives of a value do not depend on the other values."""
        system = System(self, BOXES["half"])
        system.commands(f"compute t all coord/geometry {' '.join(ITEMS)}",
                        *(f"compute s{k} all coord/geometry {item}" for k, item in enumerate(ITEMS)), "run 0")
        array, atoms = system.array(), coordtest.atoms_of(system.lmp, "t")
        self.assertEqual((array.shape, atoms.shape), ((12, 7), (NATOMS, 36)))
        for k in range(len(ITEMS)):
            self.assertEqual(coordtest.scalar_of(system.lmp, f"s{k}"), array[k, 0])
            np.testing.assert_array_equal(coordtest.virial_of(system.lmp, f"s{k}"), array[k, 1:])
            np.testing.assert_array_equal(coordtest.atoms_of(system.lmp, f"s{k}"), atoms[:, 3 * k:3 * k + 3])

    def test_words(self):
        """scale, output, distances and file."""
        system = System(self, BOXES["half"])
        path = os.path.join(coordtest.folder(), "items")
        with open(path, "w") as file:
            file.write("# items\n\n" + "\n".join(f"{item}  # {k}" for k, item in enumerate(ITEMS)) + "\ndistances gb\n")
        system.commands(f"compute t all coord/geometry file {path} scale 0.1 output sincos",
                        f"compute u all coord/geometry scale 0.1 output sincos {' '.join(ITEMS)} distances gb", "run 0")
        expected = []
        pairs = [f"distance {i} {j}" for i in GROUPS["gb"] for j in GROUPS["gb"] if i < j]
        for item, s in zip([*ITEMS, *pairs], system.expected([*ITEMS, *pairs])):
            expected += [math.sin(s), math.cos(s)] if item.split()[0] in ANGLES else [0.1 * s]
        self.assertEqual(len(expected), 12 + 4 + 10)
        self.assertLess(coordtest.error_of(system.values(), np.array(expected)), SAME)
        np.testing.assert_array_equal(system.values("u"), system.values())

    def test_distances_are_fixed(self):
        """The pairs are those of the group when the compute is defined."""
        system = System(self, BOXES["half"])
        system.commands("compute t all coord/geometry distances ga", "run 0")
        before = system.values()
        system.commands("group ga id 20 21", "run 0")
        # LAMMPS maps atoms into the box again.
        self.assertLess(coordtest.error_of(system.values(), before), SAME)
        self.assertEqual(len(before), 6)

    def test_changes(self):
        """Masses and groups that change."""
        system = System(self, BOXES["orthogonal"])
        system.commands("compute t all coord/geometry position x ga distance ga gb", "run 0")
        system.commands("mass 2 120")
        system.masses[system.masses == 12] = 120
        items = ("position x ga", "distance ga gb")
        self.assertLess(coordtest.error_of(system.values(), system.expected(items)), SAME)
        system.commands("group ga id 9", "run 0")
        points = points_of(system.unwrapped, system.masses, dict(GROUPS, ga=[*GROUPS["ga"], 9]))
        expected = [value(item, points, system.box) for item in items]
        self.assertLess(coordtest.error_of(system.values(), np.array(expected)), SAME)


class OfLammps(unittest.TestCase):
    def test_centers(self):
        """Functions of groups and compute com use image flags and masses."""
        system = System(self, BOXES["half"])
        items = [f"position {axis} {name}" for name in GROUPS for axis in "xyz"]
        system.commands("compute t all coord/geometry " + " ".join(items), *(f"compute {name} {name} com" for name in GROUPS),
                        *(f"variable {name}{axis} equal xcm({name},{axis})" for name in GROUPS for axis in "xyz"), "run 0")
        by_function = [system.lmp.extract_variable(f"{name}{axis}") for name in GROUPS for axis in "xyz"]
        by_compute = np.concatenate([coordtest.virial_of(system.lmp, name)[:3] for name in GROUPS])
        for expected in by_function, by_compute:
            self.assertLess(coordtest.error_of(system.values(), np.array(expected)), SAME)

    def test_bonds(self):
        """compute bond/local, angle/local and dihedral/local, with the sign of dihedrals."""
        if coordtest.lacks_package("MOLECULE"):
            self.skipTest("no package MOLECULE")
        box = BOXES["half"]
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in coordtest.setup_commands(box, 6):
            line = line.replace("atom_style atomic", "atom_style molecular")
            if line.startswith("create_box"):
                line += "".join(f" {kind}/types 1 extra/{kind}/per/atom 4" for kind in ("bond", "angle", "dihedral"))
                line += " extra/special/per/atom 20"
            lmp.command(line)
        x = box.lo + np.random.default_rng(3).uniform(-0.15, 0.15, (12, 3)) @ box.edges
        lmp.create_atoms(12, list(range(1, 13)), [1] * 12, box.wrap(x).ravel().tolist())
        items = []
        for line in ("bond_style zero nocoeff", "bond_coeff *", "angle_style zero nocoeff", "angle_coeff *",
                     "dihedral_style zero nocoeff", "dihedral_coeff *"):
            lmp.command(line)
        for k in range(1, 10):
            lmp.command(f"create_bonds single/bond 1 {k} {k + 1}")
            lmp.command(f"create_bonds single/angle 1 {k} {k + 1} {k + 2}")
            lmp.command(f"create_bonds single/dihedral 1 {k} {k + 1} {k + 2} {k + 3}")
            items += [f"distance {k} {k + 1}", f"angle {k} {k + 1} {k + 2}", f"dihedral {k} {k + 1} {k + 2} {k + 3}"]
        for line in ("compute t all coord/geometry " + " ".join(items), "compute b all bond/local dist",
                     "compute a all angle/local theta", "compute d all dihedral/local phi",
                     "run 0"):
            lmp.command(line)
        values = np.ctypeslib.as_array(lmp.extract_compute("t", 0, 1), (27,)).copy()
        for first, kind, factor in (0, "b", 1), (1, "a", 180 / math.pi), (2, "d", 180 / math.pi):
            expected = np.ctypeslib.as_array(lmp.extract_compute(kind, 2, 1), (9,)).copy()
            # LAMMPS lists them in the order of the atoms that store them.
            self.assertLess(coordtest.error_of(np.sort(factor * values[first::3]), np.sort(expected)), coordtest.rounded(1e-10), kind)
        self.assertLess(values[2::3].min(), -0.5)
        self.assertGreater(values[2::3].max(), 0.5)


def compact_groups(system, n=3):
    """Define groups of atoms near an atom, which may cross the faces of the box."""
    x, box = system.x(), system.box
    for name, atom in ("ga", 3), ("gb", 11):
        d = x - x[atom]
        d = d - np.rint(d @ np.linalg.inv(box.edges)) @ box.edges
        coordtest.define_group(system.lmp, name, np.argsort(np.linalg.norm(d, axis=1))[:n])


class Differences(unittest.TestCase):
    """Derivatives and virials of all values, and the forces, pressure and stress of biases."""

    ITEMS = ("distance 1 2", "distance ga gb", "component x 4 ga", "component y gb 2", "component z 5 6", "angle 1 7 8",
             "angle ga 2 gb", "dihedral 9 10 11 13", "dihedral 14 ga 15 gb", "position x 5", "position y ga", "position z gb")

    def test_values(self):
        step = test_bias_forces.STEP
        for name, box in test_bias_forces.BOXES.items():
            for words in "", "unwrap nearest output sincos", "image none scale 0.5":
                system = test_bias_forces.System(self, box)
                compact_groups(system)
                n = len(self.ITEMS) + (4 if "sincos" in words else 0)
                system.commands(f"compute t all coord/geometry {' '.join(self.ITEMS)} {words}",
                                *([] if box.tilted else ["change_box all triclinic"]), "run 0")

                def values():
                    system.commands("run 0")
                    return np.ctypeslib.as_array(system.lmp.extract_compute("t", 0, 1), (n,)).copy()

                array = system.lmp.extract_compute("t", 0, 2)
                virials = np.array([[array[k][1 + c] for c in range(6)] for k in range(n)])
                gradients = coordtest.atoms_of(system.lmp, "t").reshape(-1, n, 3).transpose(1, 0, 2)
                atoms = [0, 3, 4, 8, 9, 11, 13]
                by_positions, by_strain = coordtest.differences(system.lmp, box, atoms, values, step)
                # Differences keep the lower corner of the box in place. Barostats keep its center in xx, yy and zz.
                for k, item in enumerate(self.ITEMS[-3:]):
                    scale = 0.5 if "scale" in words else 1.0
                    for c, (a, b) in enumerate(coordtest.COMPONENTS):
                        by_strain[c, n - 3 + k] -= scale * (a == b == "xyz".index(item.split()[1])) * 0.5 * box.edges[a][a]
                errors = [coordtest.error_of(gradients[:, atoms], by_positions.transpose(2, 0, 1),
                                             coordtest.rounding_of_difference(box, gradients, step)),
                          coordtest.error_of(virials, -by_strain.T, coordtest.rounding_of_difference(box, gradients, step))]
                print("%s, %s: dS/dx %.1e, W %.1e" % (name, words, *errors))
                self.assertLess(max(errors), 5 * test_bias_forces.TOLERANCE)
                self.assertGreater(np.abs(gradients[:, atoms]).max(axis=(1, 2)).min(), 0.01)

    def test_biases(self):
        """Forces, pressure and stress of atoms of a bias on three values of two computes."""
        for name, box in test_bias_forces.BOXES.items():
            system = plumedtest.System(self, box)
            compact_groups(system)
            system.commands("compute t all coord/geometry dihedral 9 10 11 13 angle 1 7 8 component x 4 ga distance ga gb "
                            "dihedral 14 ga 15 gb unwrap nearest")
            system.commands("fix b all coord/bias c_t[1] c_t[3] c_t[4] c_t[5] c_one harmonic k 3 4 2 5 1 s0 1 2 3 4 5")
            plumedtest.compare_with_differences(self, name, system, np.array([8, 9, 3]))
            virial = system.evaluate()[2]
            stress = system.stress().sum(axis=0)
            system.commands("unfix b")
            without = system.evaluate()[2]
            self.assertLess(coordtest.error_of(-stress, virial - without), coordtest.rounded(1e-10))


if __name__ == "__main__":
    unittest.main(verbosity=2)
