"""set_multisite: masses and moments of inertia of molecules in LAMMPS are those of their
components."""
# Without: gpu

import os
import unittest

import numpy as np

import coordtest
import dumptest
import errortest
import multisitetest

# Components: linear along z, planar, nonplanar, with one site, and with a rotating site but no
# moments of inertia.
COMPONENTS = """# UNITS: real
component linear
mass 44.009
inertia 43.0563 43.0563 0
center 0 0 1.16 0.1570 3.05
center 0 0 -1.16 0.1570 3.05
component planar
mass 18.0154
inertia 0.6012 1.3439 1.9451
center 0 0.1 0 0.1553 3.166
charge 0.8 -0.5 0 0.5
charge -0.8 -0.5 0 0.5
component bulky
mass 64.0
inertia 30.0 50.0 60.0
center 0.5 0.3 -0.2 0.2 3.5
component atom
mass 39.948
center 0 0 0 0.238 3.4
component ion
mass 22.99
center 0 0 0 0.1 2.4
charge 0 0 0 1.0
component stiff
mass 30.0
center 0 0 0 0.1 3.0
dipole 0 0 0 0 0 1 0.4
component free
mass 30.0
center 0 0 0.7 0.1 3.0
center 0 0 -0.7 0.1 3.0
"""
MASSES = [44.009, 18.0154, 64.0, 39.948]
INERTIA = [(43.0563, 43.0563, 0), (0.6012, 1.3439, 1.9451), (30.0, 50.0, 60.0)]

WHERE = coordtest.folder()
FILE = os.path.join(WHERE, "set.multisite")
with open(FILE, "w") as out:
    out.write(COMPONENTS)

BOX = """
units real
atom_style ellipsoid
atom_modify map array
region box block 0 40 0 40 0 40
"""
# Atoms 1 to 8, of types 1 2 3 4 1 2 3 4.
ATOMS = "create_box 4 box\n" + "\n".join(f"create_atoms {k % 4 + 1} single {5 * k + 2} {4 * k + 3} {3 * k + 5}" for k in range(8))
STYLE = f"""
pair_style multisite 9.0
pair_coeff * * {FILE} linear planar bulky atom
"""
PER_ATOM = "compute shape all property/atom mass shapex shapey shapez quatw quati quatj quatk"


def start():
    lmp = multisitetest.start()
    errortest.commands(lmp, BOX + ATOMS)
    return lmp


def bodies(lmp):
    """Return mass, moments of inertia by LAMMPS' formula, diameters and quaternion of all atoms."""
    if not lmp.has_id("compute", "shape"):
        lmp.command(PER_ATOM)
        lmp.command("run 0 post no")
    found = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("shape", 1, 2))
    mass, diameters = found[:, 0], found[:, 1:4]
    squares = (diameters / 2)**2
    return mass, 0.2 * mass[:, None] * (squares.sum(axis=1)[:, None] - squares), diameters, found[:, 4:]


class Set(unittest.TestCase):
    def setUp(self):
        self.lmp = start()
        self.addCleanup(self.lmp.close)

    def test_moments(self):
        errortest.commands(self.lmp, STYLE + "set_multisite all")
        mass, inertia, diameters, quaternions = bodies(self.lmp)
        np.testing.assert_array_equal(mass, MASSES * 2)
        for k in range(8):
            if k % 4 == 3:
                np.testing.assert_array_equal(diameters[k], [1, 1, 1])    # one site
                continue
            expected = np.array(INERTIA[k % 4])
            # A tiny axis adds a millionth of the others.
            np.testing.assert_allclose(inertia[k], expected, rtol=0, atol=3e-6 * expected.max())
            self.assertGreater(diameters[k].min(), 0.999e-3 * diameters[k].max())
        np.testing.assert_allclose(diameters[0], np.array([1e-3, 1e-3, 1]) * 2 * np.sqrt(5 * 43.0563 / 44.009), rtol=1e-12)
        np.testing.assert_array_equal(quaternions, [[1, 0, 0, 0]] * 8)    # atoms had no ellipsoids

    def test_rotational_energy(self):
        """LAMMPS' rotational energy for an angular momentum."""
        lmp = self.lmp
        errortest.commands(lmp, STYLE + "set_multisite all\ngroup one id 3\nset atom 3 quat {a} {a} {a} 120\nset atom 3 angmom "
                                        "1.5 -2.0 0.7\n"
                           "compute e one erotate/asphere\nrun 0 post no".format(a=1 / np.sqrt(3)))
        # This rotation maps x to y, y to z, z to x.
        body = np.array([-2.0, 0.7, 1.5])
        mvv2e = 48.88821291**2
        self.assertAlmostEqual(coordtest.scalar_of(lmp, "e"), 0.5 * mvv2e * (body**2 / INERTIA[2]).sum(), delta=1e-9 * mvv2e)

    def test_keeps_quaternions_and_others(self):
        lmp = self.lmp
        errortest.commands(lmp, STYLE + "set type 1 shape 3 2 1\nset atom 1 quat 0 0.6 0.8 70\nset atom 4 shape 2 2 2\nset "
                                        "atom 4 mass 5.0\n"
                           "group some type 1 2\nset_multisite some")
        expected = np.array([np.cos(np.radians(35)), *(np.sin(np.radians(35)) * np.array([0, 0.6, 0.8]))])
        # LAMMPS cannot compute shapes of atoms without a shape.
        lmp.command("set type 3 shape 4 4 4")
        lmp.command("set atom 8 shape 4 4 4")
        errortest.commands(lmp, PER_ATOM + "\nrun 0 post no")
        mass, inertia, diameters, quaternions = bodies(lmp)
        np.testing.assert_allclose(quaternions[0], expected, rtol=1e-14)
        np.testing.assert_allclose(mass[[0, 1, 3, 4, 5]], [44.009, 18.0154, 5.0, 44.009, 18.0154])
        np.testing.assert_array_equal(diameters[3], [2, 2, 2])

    def test_data_file(self):
        """Write and read a data file."""
        lmp = self.lmp
        errortest.commands(lmp, STYLE + "set_multisite all\nset group all quat/random 4711")
        before = bodies(lmp)
        path = os.path.join(WHERE, "data.set")
        lmp.command(f"write_data {path}")
        with open(path) as file:
            self.assertIn("8 ellipsoids", file.read())
        errortest.commands(lmp, f"clear\nunits real\natom_style ellipsoid\natom_modify map array\nread_data {path}\n" + STYLE)
        for found, expected in zip(bodies(lmp), before):
            # Digits of write_data.
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        errortest.commands(lmp, "set_multisite all")
        np.testing.assert_allclose(bodies(lmp)[0], before[0], rtol=1e-15)

    def test_hybrid(self):
        """Types of other styles are unchanged."""
        errortest.commands(self.lmp, f"pair_style hybrid multisite 9.0 lj/cut 9.0\npair_coeff * * multisite {FILE} linear "
                                     f"planar bulky NULL\n"
                           "pair_coeff * 4 lj/cut 0.2 3.4\nset type 4 shape 2 2 2\nset type 4 mass 7.0\nset_multisite all")
        mass, _, diameters, _ = bodies(self.lmp)
        np.testing.assert_array_equal(mass, [*MASSES[:3], 7.0] * 2)
        np.testing.assert_array_equal(diameters[[3, 7]], [[2, 2, 2]] * 2)


    def test_two_sub_styles(self):
        """Types get their components from either sub-style."""
        errortest.commands(self.lmp, "pair_style hybrid multisite 9.0 multisite 8.0 lj/cut 9.0\n"
                           f"pair_coeff * * multisite 1 {FILE} linear NULL NULL NULL\n"
                           f"pair_coeff * * multisite 2 {FILE} NULL planar bulky NULL\n"
                           "pair_coeff 1 2*3 lj/cut 0.2 3.4\npair_coeff * 4 lj/cut 0.2 3.4\n"
                           "set type 4 shape 2 2 2\nset type 4 mass 7.0\nset_multisite all")
        mass, inertia, *_ = bodies(self.lmp)
        np.testing.assert_array_equal(mass, [*MASSES[:3], 7.0] * 2)
        for k in range(3):
            np.testing.assert_allclose(inertia[k], INERTIA[k], rtol=0, atol=3e-6 * max(INERTIA[k]))


class Ranks(unittest.TestCase):
    SCRIPT = BOX + ATOMS + STYLE + "set type 1 shape 3 2 1\nset atom 5 quat 0 0.6 0.8 70\nset_multisite all\n"

    def test_ranks(self):
        """Results are equal on all numbers of ranks; some ranks have no atoms."""
        tables = []
        for ranks in 1, 3:
            run = multisitetest.run_lammps((self.SCRIPT + PER_ATOM + "\ndump d all custom 1 dump.d id type x y z c_shape[*]\n"
                                       "dump_modify d format float %.17g\nrun 0").splitlines(), ranks)
            for line in ("Set_multisite: 2 molecules of linear, mass 44.009, moments of inertia 43.0563 43.0563 0",
                         "Set_multisite: 2 molecules of atom, mass 39.948, moments of inertia 0 0 0"):
                self.assertEqual(run.text.count(line), 1, run.text)
            frame = dumptest.read_dump(run.path("dump.d"))[0]
            tables.append(np.column_stack([frame[f"c_shape[{k}]"] for k in range(1, 9)]))
        np.testing.assert_array_equal(*tables)
        self.assertLess(tables[0][4, 4], 0.9)

    def test_error(self):
        code, output = errortest.run_script(BOX + ATOMS + STYLE + "group none empty\nset_multisite none\n", 3)
        self.assertNotEqual(code, 0)
        self.assertEqual(errortest.errors_in(output), [NO_ATOMS.format("none")])


class Warnings(unittest.TestCase):
    def test_sites_off_the_axis(self):
        """Sites off the axis of a component in use are an error."""
        path = os.path.join(WHERE, "bent.multisite")
        with open(path, "w") as file:
            file.write("component bent\nmass 30.0\ninertia 9 9 0\ncenter 0 0 0.7 0.1 3.0\ncenter 0.3 0 -0.7 0.1 3.0\n"
                       + COMPONENTS)
        for names, count in (("bent planar bulky atom", 1), ("linear planar bulky atom", 0)):
            code, output = errortest.run_script(BOX + ATOMS + STYLE + f"pair_coeff * * {path} {names}\nset_multisite all\n", 1)
            self.assertEqual(code, 0, output)
            self.assertEqual(output.count(
                "WARNING: Set_multisite: component bent has no moment of inertia about its axis z, but its center 2 "
                "is not on this axis, so that a torque acts about this axis - correct its line inertia, or the center"), count, output)


NO_ATOMS = "Set_multisite: no atom of group {} is of a type to which pair_coeff gives a component"
NO_STYLE = ("Set_multisite needs pair_style multisite and its pair_coeff, which define molecules - give them first")
NO_INERTIA = ("Set_multisite: component {} has no moments of inertia, but torques act on its sites - give it a line "
              "'inertia Ix Iy Iz' in its file")


class Errors(errortest.InProcess):
    SYSTEM = BOX + ATOMS

    def check(self, command, message, words):
        self.assertEqual(errortest.error_of(self.lmp, command), (message, words))

    def test_words(self):
        errortest.commands(self.lmp, STYLE)
        self.check("set_multisite", "Set_multisite needs one group, for example: set_multisite all", "[set_multisite]")
        self.check("set_multisite all now", "Set_multisite needs one group, for example: set_multisite all",
                   "[set_multisite] all now")
        self.check("set_multisite them", "Set_multisite: group them does not exist", "set_multisite [them]")

    def test_no_atoms(self):
        errortest.commands(self.lmp, STYLE + "group none empty")
        self.check("set_multisite none", NO_ATOMS.format("none"), "set_multisite [none]")
        errortest.commands(self.lmp, f"pair_style hybrid multisite 9.0 lj/cut 9.0\npair_coeff * * multisite {FILE} linear "
                                     f"planar bulky NULL\n"
                           "pair_coeff * 4 lj/cut 0.2 3.4\ngroup others type 4")
        self.check("set_multisite others", NO_ATOMS.format("others"), "set_multisite [others]")

    def test_no_style(self):
        self.check("set_multisite all", NO_STYLE, "[set_multisite] all")
        self.lmp.command("pair_style lj/cut 9.0")
        self.check("set_multisite all", NO_STYLE, "[set_multisite] all")
        self.lmp.command("pair_style multisite 9.0")
        self.check("set_multisite all", NO_STYLE, "[set_multisite] all")

    def test_no_box(self):
        errortest.commands(self.lmp, "clear\natom_style ellipsoid")
        self.check("set_multisite all", "Set_multisite needs the simulation box - give it after create_box or read_data",
                   "[set_multisite] all")

    def test_no_inertia(self):
        errortest.commands(self.lmp, STYLE)
        for name in "stiff", "free":
            self.lmp.command(f"pair_coeff * * {FILE} linear {name} bulky ion")
            self.check("set_multisite all", NO_INERTIA.format(name), "[set_multisite] all")
            # Nothing was changed.
            np.testing.assert_array_equal(self.lmp.gather_atoms("rmass", 1, 1), [1.0] * 8)
        # The group contains none of them.
        errortest.commands(self.lmp, "group some type 1 4\nset_multisite some")
        np.testing.assert_allclose(self.lmp.gather_atoms("rmass", 1, 1), [44.009, 1, 1, 22.99] * 2)

    def test_atom_styles(self):
        for style, text in (("atomic", "Set_multisite needs atom_style ellipsoid, not atomic" + "/kk" * bool(coordtest.KOKKOS)),
                            ("ellipsoid superellipsoid", "Set_multisite needs atom_style ellipsoid without superellipsoid")):
            if "super" in style and coordtest.lacks_superellipsoids():
                continue
            errortest.commands(self.lmp, "clear\n" + BOX.replace("style ellipsoid", "style " + style) + ATOMS)
            self.check("set_multisite all", text, "[set_multisite] all")


if __name__ == "__main__":
    unittest.main(verbosity=2)
