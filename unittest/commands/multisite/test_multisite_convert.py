"""tools/multisite/convert.py: component files from ls1-MarDyn's formats and from LAMMPS' molecule
templates."""
# Without: gpu, kokkos

import os
import re
import subprocess
import sys
import unittest

import numpy as np

import coordtest
import errortest

CONVERT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/multisite/convert.py")
DATA = os.environ.get("GPUCOORD_TEST_DATA", "")

HARTREE, BOHR = 627.5094740631, 0.529177210903    # kcal/mol, Angstrom
BOLTZMANN = 0.0019872042586    # kcal/mol/K
COULOMB = 332.0637128    # kcal/mol Angstrom, for two elementary charges

ASCII = """mardyn trunk 20120726
 Length 30 30 30
 NumberOfComponents 2   # a comment
2 1 1 0 0
0 0 -1 0.02 0.0004 6.5 0 0
0 0 1 0.02 0.0003 6.0 0 0
0 0 0 0 0.5
0 0 0.5 0 0 1 0.9
0 0 0
1 0 0 1 0
0 0 0 0.03 0.0002 5.0 0 0
0 0 0 1 0 0 -2.5
0.1 0.1 0
0.9 1.1
1e10
 NumberOfMolecules 2
 MoleculeFormat ICRVQD
1 1 1 2 3 0.01 0.02 0.03 2 0 0 0 0.5 0.25 0
2 2 10 2 3 0.01 0.02 0.03 0.6 0 0.8 0 0 0 0
"""
XML = """<?xml version="1.0"?>
<components>
 <moleculetype id="1" name="CO2">
  <site type="LJ126"><coords><x>0</x><y>0</y><z>0</z></coords><mass>12.011</mass>
   <sigma>2.8137</sigma><epsilon>12.3724</epsilon></site>
  <site type="LJ126"><coords><z>1.2869</z></coords><mass>15.999</mass><sigma>2.9755</sigma><epsilon>100.493</epsilon></site>
  <site type="LJ126"><coords><z>-1.2869</z></coords><mass>15.999</mass><sigma>2.9755</sigma><epsilon>100.493</epsilon></site>
  <site type="Quadrupole"><coords><z>0</z></coords><mass>1</mass>
   <quadrupolemoment><theta>90</theta><phi>0</phi><abs>-346.69</abs></quadrupolemoment></site>
 </moleculetype>
 <moleculetype id="7" name="HCl">
  <site type="LJ126"><coords><x>0</x></coords><mass>36.46</mass>
   <sigma>3.3</sigma><epsilon>200</epsilon><shifted>true</shifted></site>
  <site type="Charge"><coords><y>0.5</y></coords><mass>0</mass><charge>408.78</charge></site>
  <site type="Dipole"><coords/><dipolemoment><x>3</x><y>0</y><z>4</z></dipolemoment></site>
  <momentsofinertia><Ixx>2.5</Ixx><Iyy>3.5</Iyy><Izz>4.5</Izz></momentsofinertia>
 </moleculetype>
 <mixing><rule type="LB" cid1="1" cid2="7"><eta>1.02</eta><xi>0.95</xi></rule></mixing>
</components>
"""
# SPC/E water, neither centered nor along any axis.
WATER = """# SPC/E water

3 atoms
2 bonds

Coords

1 1.0 2.0 3.0
2 1.8 2.6 3.0
3 0.4 2.8 3.0

Types

1 1
2 2   # a hydrogen
3 2

Charges

1 -0.8476
2 0.4238
3 0.4238

Bonds

1 1 1 2
2 1 1 3
"""
# LAMMPS' examples/body/molecule.rod3d
ROD = """# 2d polygon body: rods Izz = 1/12 m length^2

1 atoms
3 13 body

Coords

1 0 0 0

Types

1 1

Masses

1 1.0

Body Integers

2 1 0

Body Doubles

1 1 1.333 0 0 0
-2 0 0
2 0 0
0.5
"""
CHARGES_SECTION = "Charges\n\n1 -0.8476\n2 0.4238\n3 0.4238\n\n"
WATER_ARGUMENTS = ["--lj", "1", "0.1553", "3.166", "--lj", "2", "0", "1", "--mass", "1", "15.9994", "--mass", "2", "1.008"]


class Converted:
    def __init__(self, text, notices):
        self.text, self.notices = text, notices
        self.components = {}
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["component"]:
                name = words[1]
                self.components[name] = {}
            elif words:
                self.components[name].setdefault(words[0], []).append([float(word) for word in words[1:]])


def write(text, name="input"):
    path = os.path.join(coordtest.folder(), name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(path, *options):
    return subprocess.run([sys.executable, CONVERT, path, *options], capture_output=True, text=True)


class Convert(unittest.TestCase):
    maxDiff = None

    def convert(self, text, *options, name="input"):
        done = run(write(text, name), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Converted(done.stdout, re.findall("NOTE: (.*)", done.stderr))

    def error(self, text, *options, name="input"):
        path = write(text, name)
        done = run(path, *options)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr.strip().splitlines()[-1].replace(path, "FILE")

    def same(self, found, expected, rtol=1e-9):
        np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=rtol, atol=1e-12)

    # ---------------------------------------------------------------- ls1

    def test_ascii(self):
        found = self.convert(ASCII, "--units", "real", "--from", "atomic", "--negate-dipoles", "no", "--names", "A,B")
        self.assertTrue(found.text.startswith("# UNITS: real\n"))
        a, b = found.components["A"], found.components["B"]
        self.same(a["mass"], [[40.0]])
        self.same(a["inertia"], [[40.0 * BOHR**2, 40.0 * BOHR**2, 0]])    # from the masses of sites
        self.same(a["center"], [[0, 0, -BOHR, 0.0004 * HARTREE, 6.5 * BOHR], [0, 0, BOHR, 0.0003 * HARTREE, 6.0 * BOHR]])
        self.same(a["charge"], [[0, 0, 0, 0.5]])
        self.same(a["dipole"], [[0, 0, 0.5 * BOHR, 0, 0, 1, 0.9 * BOHR]])
        self.same(b["mass"], [[30.0]])
        self.same(b["inertia"], [[100 * BOHR**2, 100 * BOHR**2, 0]])    # as given in the file
        self.same(b["quadrupole"], [[0, 0, 0, 1, 0, 0, -2.5 * BOHR**2]])
        self.assertIn("# pair_coeff 1 2 mix 0.9 1.1    (type 1 is A, 2 is B)", found.text)
        self.assertIn("unlike molecules are mixed by: pair_coeff 1 2 mix 0.9 1.1", found.notices)
        self.assertIn("ls1 has a reaction field of 1e+10 about dipoles - use pair_style multisite with rf 1e+10", found.notices)

    def test_sign(self):
        options = ["--units", "lj", "--from", "lj"]
        self.assertEqual(self.error(ASCII, *options),
                         "ERROR: the energy between charges and dipoles has the opposite sign in ls1 - give --negate-dipoles "
                         "yes to obtain this energy as in ls1, although energies between dipoles and quadrupoles then have "
                         "the opposite sign, or --negate-dipoles no to keep the molecules as the file describes them")
        without_quadrupoles = ASCII.replace("1 0 0 1 0\n", "1 0 0 0 0\n").replace("0 0 0 1 0 0 -2.5\n", "")
        self.assertEqual(self.error(without_quadrupoles, *options),
                         "ERROR: the energy between charges and dipoles has the opposite sign in ls1 - give --negate-dipoles "
                         "yes to obtain this energy as in ls1, or --negate-dipoles no to keep the molecules as the file "
                         "describes them")
        for answer, sign in ("yes", -1), ("no", 1):
            found = self.convert(ASCII, *options, "--negate-dipoles", answer)
            self.same(found.components["C1"]["dipole"], [[0, 0, 0.5, 0, 0, sign, 0.9]])
        self.assertIn("dipoles are negated: energies between charges and dipoles equal those of ls1, energies between dipoles "
                      "and quadrupoles have the opposite sign",
                      self.convert(ASCII, *options, "--negate-dipoles", "yes").notices)

    def energy_of(self, sites, *options):
        """Return the energy of one molecule of each component, each with one site: two are 2 apart
        along x, a third is beyond the cutoff."""
        names = [f"C{k + 1}" for k in range(len(sites))]
        components = "".join(f"{count}\n{site}\n0 0 0\n" for count, site in sites)
        mixing = "1 1 " * (len(sites) * (len(sites) - 1) // 2)
        molecules = "".join(f"{k + 1} {k + 1} {x} 15 15 0 0 0 1 0 0 0 0 0 0\n" for k, x in zip(range(len(sites)), (2, 4, 18)))
        path = write(f"mardyn trunk\nLength 30 30 30\nNumberOfComponents {len(sites)}\n{components}{mixing}\n1\n"
                     f"NumberOfMolecules {len(sites)}\nMoleculeFormat ICRVQD\n{molecules}")
        data, target = (os.path.join(coordtest.folder(), name) for name in ("data.pair", "pair.multisite"))
        masses = [word for k, name in enumerate(names) for word in ("--mass", name, str(2 + k))]
        done = run(path, "--units", "lj", "--from", "lj", *masses, "--data", data, "-o", target, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        lmp = errortest.start()
        errortest.commands(lmp, f"units lj\natom_style ellipsoid\nread_data {data}\npair_style multisite 10.0\n"
                                f"pair_coeff * * {target} {' '.join(names)}\nthermo_modify norm no\nvariable m atom mass\n"
                                "compute m all reduce sum v_m\nrun 0 post no")
        self.same(coordtest.scalar_of(lmp, "m"), sum(2 + k for k in range(len(sites))))
        energy = lmp.get_thermo("pe")
        lmp.close()
        return energy

    def test_masses_and_signs(self):
        """Dipoles and quadrupoles have no mass in ls1, so the test provides it. With
        --negate-dipoles yes, energies of charges and dipoles have the sign of ls1, those of dipoles
        and quadrupoles have the opposite sign."""
        r, mu, q, theta = 2.0, 0.7, 0.4, 0.3
        dipole, quadrupole = ("0 0 1 0 0", f"0 0 0 1 0 0 {mu}"), ("0 0 0 1 0", f"0 0 0 1 0 0 {theta}")
        charge = "0 1 0 0 0", f"0 0 0 0 {q}"
        self.same(self.energy_of([dipole, dipole]), -2 * mu**2 / r**3)
        self.same(self.energy_of([quadrupole, quadrupole]), 6 * theta**2 / r**5)
        self.same(self.energy_of([dipole, quadrupole]), 3 * mu * theta / r**4)
        for answer, sign in ("no", 1), ("yes", -1):    # ls1 has + q mu / r^2 and + 3 mu theta / r^4
            self.same(self.energy_of([charge, dipole], "--negate-dipoles", answer), -sign * q * mu / r**2)
            self.same(self.energy_of([dipole, quadrupole, charge], "--negate-dipoles", answer), sign * 3 * mu * theta / r**4)

    def test_mass_of_a_component(self):
        """A mass in the units of the file, if the file has none."""
        options = ["--from", "atomic", "--negate-dipoles", "no"]
        text = ASCII.replace("0 0 0 0.03 ", "0 0 0 0 ")
        found = self.convert(text, "--units", "real", *options, "--names", "A,B", "--mass", "B", "0.05")
        self.same(found.components["B"]["mass"], [[50.0]])
        # As given in the file.
        self.same(found.components["B"]["inertia"], [[100 * BOHR**2, 100 * BOHR**2, 0]])
        self.same(found.components["A"]["mass"], [[40.0]])

    def test_axes_and_shift(self):
        """ls1 does not normalize axes of its ASCII format."""
        found = self.convert(ASCII.replace("0 0 1 0.9", "0 3 4 0.9").replace("6.5 0 0", "6.5 35 1"), "--units", "lj", "--from",
                             "lj",
                             "--negate-dipoles", "no")
        self.same(found.components["C1"]["dipole"], [[0, 0, 0.5, 0, 0.6, 0.8, 4.5]])
        self.assertEqual(found.notices[:1], ["the axis of a dipole has length 5, by which its moment is multiplied, as in "
                                             "ls1"])
        self.assertIn("there are shifted Lennard-Jones centers - use pair_style multisite with shift yes", found.notices)
        self.assertEqual(self.error(ASCII.replace("1 0 0 -2.5", "2 0 0 -2.5"), "--units", "lj", "--from", "lj",
                                    "--negate-dipoles", "no"),
                         "ERROR: FILE, line 12: the axis of a quadrupole has length 2, which ls1 does not support - scale the "
                         "axis to length 1")

    def test_origin(self):
        """Sites off the center of mass stay there, or are moved."""
        text = ASCII.replace("0 0 1 0.02", "0 1 1 0.02")
        options = ["--units", "lj", "--from", "lj", "--negate-dipoles", "no"]
        found = self.convert(text, *options)
        self.same(found.components["C1"]["center"], [[0, 0, -1, 0.0004, 6.5], [0, 1, 1, 0.0003, 6.0]])
        self.assertEqual(found.notices[0], "component C1: its center of mass is at 0 0.5 0, but ls1 uses the origin as the "
                                           "center of mass, and so does convert.py - --principal moves the sites")
        found = self.convert(text, *options, "--principal")
        half = np.sqrt(5) / 2
        one = found.components["C1"]
        positions = np.array(one["center"])[:, :3]
        self.same(abs(positions), [[half, 0, 0]] * 2)
        self.same(one["inertia"], [[0, 0.04 * half**2, 0.04 * half**2]])
        # The sites that are at the origin and half a unit above the middle in the file, with the
        # axis along z.
        e, direction = positions[0] / half, np.array([0, -0.5, -1]) / half
        self.same(np.array(one["charge"][0][:3]) @ e, np.dot([0, -0.5, 0], direction))
        self.same(np.array(one["dipole"][0][3:6]) @ e, np.dot([0, 0, 1], direction))
        self.assertEqual(len(found.notices), 4)

    def test_xml(self):
        found = self.convert(XML, "--units", "real", "--from", "kelvin", "--negate-dipoles", "no")
        co2, hcl = found.components["CO2"], found.components["HCl"]
        self.same(co2["mass"], [[44.009]])    # quadrupoles have no mass
        self.same(co2["inertia"], [[2 * 15.999 * 1.2869**2] * 2 + [0]])
        self.same(co2["center"][0], [0, 0, 0, 12.3724 * BOLTZMANN, 2.8137])
        self.same(co2["quadrupole"], [[0, 0, 0, 1, 0, 0, -346.69 * np.sqrt(BOLTZMANN / COULOMB)]], 1e-8)
        self.same(hcl["inertia"], [[2.5, 3.5, 4.5]])
        self.same(hcl["charge"], [[0, 0.5, 0, 1.0]], 1e-4)    # 408.78 is e in these units
        self.same(hcl["dipole"], [[0, 0, 0, 0.6, 0, 0.8, 5 * np.sqrt(BOLTZMANN / COULOMB)]], 1e-8)
        self.assertIn("# pair_coeff 1 2 mix 0.95 1.02    (type 1 is CO2, 2 is HCl)", found.text)
        self.assertIn("there are shifted Lennard-Jones centers - use pair_style multisite with shift yes", found.notices)

    def test_units(self):
        """Energy, charge, mass and dipole in LAMMPS' unit systems."""
        eV = 27.211386245988
        for units, (length, mass, energy) in {"real": (BOHR, 1000, HARTREE), "metal": (BOHR, 1000, eV),
                                              "electron": (1, 1000, 1)}.items():
            found = self.convert(ASCII, "--units", units, "--from", "atomic", "--negate-dipoles", "no")
            a = found.components["C1"]
            self.same(a["mass"], [[0.04 * mass]])
            self.same(a["center"][0], [0, 0, -length, 0.0004 * energy, 6.5 * length], 1e-8)
            self.same(a["charge"][0][3], 0.5)
            self.same(a["dipole"][0][6], 0.9 * length)
            self.assertIn(f"# UNITS: {units}", found.text)

    @unittest.skipUnless(DATA, "no reference data")
    def test_energy_of_ls1(self):
        """CO2 of ls1's tests as a data file in units real: LAMMPS computes ls1's energy and its
        temperature."""
        where = coordtest.folder()
        data, components = (os.path.join(where, name) for name in ("data.co2", "co2.multisite"))
        done = run(os.path.join(DATA, "ls1/CO2.inp"), "--units", "real", "--from", "atomic", "--names", "CO2", "--data", data,
                   "-o", components)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("NOTE: IDs begin at 0 in ls1 and at 1 in the data file", done.stderr)
        with open(os.path.join(DATA, "ls1/CO2.rc33.0702.legacy.txt")) as file:
            energy = float(file.readline().split()[2])
        lmp = errortest.start()
        self.addCleanup(lmp.close)
        errortest.commands(lmp, f"units real\natom_style ellipsoid\nread_data {data}\npair_style multisite {33.0702 * BOHR!r}\n"
                           f"pair_coeff * * {components} CO2\ncompute r all temp/asphere dof rotate\ncompute_modify r "
                           f"extra/dof 2048\n"
                           "run 0 post no")
        # LAMMPS' constants have eight digits.
        self.assertLess(abs(lmp.get_thermo("pe") / (energy * HARTREE) - 1), 1e-6)
        self.assertLess(abs(lmp.get_thermo("temp") / 370.0 - 1), 1e-3)
        self.assertLess(abs(coordtest.scalar_of(lmp, "r") / 370.0 - 1), 0.02)    # one random sample

    def test_data(self):
        path = os.path.join(coordtest.folder(), "data.two")
        self.convert(ASCII, "--units", "lj", "--from", "lj", "--negate-dipoles", "no", "--data", path)
        with open(path) as file:
            lines = [line.split() for line in file if line.strip()]
        of = lambda section, k: lines[next(n for n, line in enumerate(lines) if line[0] == section) + k]
        self.assertEqual(of("Atoms", 1)[:3] + of("Atoms", 1)[4:], ["1", "1", "1", "1", "2", "3"])
        self.assertEqual(of("Ellipsoids", 1)[4:], ["1", "0", "0", "0"])    # normalized to length 1
        self.same(of("Velocities", 1)[1:], [0.01, 0.02, 0.03, 0.5, 0.25, 0])
        self.same(of("Ellipsoids", 1)[3], 2 * np.sqrt(5))    # 2.5 (1 + 1) I / m, twice
        self.assertEqual(self.error(XML, "--units", "lj", "--from", "lj", "--negate-dipoles", "no", "--data", path),
                         "ERROR: --data needs a file of ls1 with Length and molecules")
        self.assertEqual(self.error(ASCII, "--units", "lj", "--from", "lj", "--negate-dipoles", "no", "--data", path,
                                    "--principal"),
                         "ERROR: --principal moves sites, but --data writes positions and quaternions of the original sites - "
                         "use only one of them")

    # ---------------------------------------------------------------- molecule templates

    def test_template(self):
        found = self.convert(WATER, "--units", "real", *WATER_ARGUMENTS, name="water.txt")
        water = found.components["water"]
        self.same(water["mass"], [[18.0154]])
        self.assertEqual(len(water["center"]), 1)
        self.assertEqual(len(water["charge"]), 3)
        # Two hydrogens 1 Angstrom from the oxygen, at a right angle: closed forms about the center
        # of mass.
        along = 15.9994 * 2.016 / 18.0154 * 0.5
        self.same(sorted(water["inertia"][0]), [along, 2.016 * 0.5, along + 2.016 * 0.5], 1e-9)
        positions = np.array(water["charge"])[:, :3]
        self.same(np.linalg.norm(positions[1:] - positions[0], axis=1), [1, 1])
        self.same(np.linalg.norm(positions[1] - positions[2]), np.sqrt(2))
        masses = np.array([15.9994, 1.008, 1.008])
        self.same(masses @ positions, [0, 0, 0])
        self.same(positions.T @ (masses[:, None] * positions) - np.diag((masses[:, None] * positions**2).sum(axis=0)), np.zeros((3, 3)))
        self.assertIn("its center of mass was at", found.notices[0])
        self.assertIn("rotated to its principal axes", found.notices[1])
        with_masses = WATER + "\nMasses\n\n1 15.9994\n2 1.008\n3 1.008\n"
        again = self.convert(with_masses, "--units", "real", *WATER_ARGUMENTS[:8], name="water.txt")
        self.assertEqual(again.components, found.components)

    def test_template_in_lammps(self):
        """LAMMPS computes the moments of inertia of the same template."""
        path, target = write(WATER + "\nMasses\n\n1 15.9994\n2 1.008\n3 1.008\n", "water.txt"), os.path.join(coordtest.folder(),
                                                                                                             "w.multisite")
        self.assertEqual(run(path, "--units", "real", *WATER_ARGUMENTS[:8], "-o", target).returncode, 0)
        lmp = errortest.start()
        self.addCleanup(lmp.close)
        errortest.commands(lmp, "units real\natom_style ellipsoid\natom_modify map array\nregion box block 0 20 0 20 0 20\n"
                                "create_box 1 box\n"
                           f"create_atoms 1 single 5 5 5\npair_style multisite 9.0\npair_coeff * * {target} water\n"
                           f"set_multisite all\n"
                           "set atom 1 angmom 1 0 0\ncompute e all erotate/asphere\nrun 0 post no")
        with_x = coordtest.scalar_of(lmp, "e")
        errortest.commands(lmp, "clear\nunits real\natom_style full\nregion box block 0 20 0 20 0 20\n"
                           f"create_box 2 box bond/types 1 extra/bond/per/atom 2 extra/special/per/atom 2\nmass 1 15.9994\n"
                           f"mass 2 1.008\n"
                           f"molecule w {path}\ncreate_atoms 0 single 5 5 5 mol w 1\npair_style zero 5.0\npair_coeff * *\n"
                           f"bond_style zero\n"
                           "bond_coeff *\ncompute c all chunk/atom molecule\ncompute i all inertia/chunk c\nrun 0 post no")
        xx, yy, zz, xy, yz, xz = np.array(lmp.numpy.extract_compute("i", 0, 2))[0]
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        self.same(with_x, 0.5 * 48.88821291**2 / moments[0], 1e-4)

    def test_template_without_charges(self):
        """A message reports it, and the values of --charge are used."""
        self.assertIn(CHARGES_SECTION, WATER)
        bare = WATER.replace(CHARGES_SECTION, "")
        found = self.convert(bare, "--units", "real", *WATER_ARGUMENTS, name="water.txt")
        self.assertNotIn("charge", found.components["water"])
        self.assertRegex(found.notices[0], "water.txt has no section Charges, and no --charge is given for its types 1, 2 - "
                                           "their charges are 0$")
        found = self.convert(bare, "--units", "real", *WATER_ARGUMENTS, "--charge", "2", "0.4", name="water.txt")
        self.same([site[3] for site in found.components["water"]["charge"]], [0.4, 0.4])
        self.assertRegex(found.notices[0], "no --charge is given for its types 1 - their charges are 0$")
        options = ["--charge", "1", "-0.8476", "--charge", "2", "0.4238"]
        found = self.convert(bare, "--units", "real", *WATER_ARGUMENTS, *options, name="water.txt")
        whole = self.convert(WATER, "--units", "real", *WATER_ARGUMENTS, name="water.txt")
        self.assertEqual(found.components, whole.components)
        self.assertEqual(len(found.notices), 2)    # only about the center and the axes

    def test_template_with_labels(self):
        """Type labels, which LAMMPS allows in place of numbers."""
        labels = WATER.replace("1 1\n2 2   # a hydrogen\n3 2\n", "1 O\n2 H\n3 H\n")
        options = ["--lj", "O", "0.1553", "3.166", "--lj", "H", "0", "1", "--mass", "O", "15.9994", "--mass", "H", "1.008"]
        found = self.convert(labels, "--units", "real", *options, name="water.txt")
        self.assertEqual(found.components, self.convert(WATER, "--units", "real", *WATER_ARGUMENTS, name="water.txt").components)
        self.assertEqual(self.error(labels, "--units", "real", *options, "--lj", "N", "1", "1"),
                         "ERROR: --lj N: there are no atoms of type N - the types in FILE are H, O")

    def test_template_with_mass_in_its_header(self):
        found = self.convert(WATER.replace("2 bonds", "2 bonds\n99.0 mass"), "--units", "real", *WATER_ARGUMENTS, name="water.txt")
        self.same(found.components["water"]["mass"], [[18.0154]])
        self.assertEqual(found.notices[0], "'99.0 mass' of the template is ignored - the value follows from its atoms")

    def test_byte_order_mark_and_line_ends(self):
        """Files from Windows editors are read."""
        for text, options in ((ASCII, ["--from", "lj", "--negate-dipoles", "no"]), (XML, ["--from", "lj", "--negate-dipoles", "no"]),
                              (WATER, WATER_ARGUMENTS)):
            units = "real" if text is WATER else "lj"
            expected = self.convert(text, "--units", units, *options)
            for changed in "\ufeff" + text, text.replace("\n", "\r\n"):
                self.assertEqual(self.convert(changed, "--units", units, *options).components, expected.components)

    # ---------------------------------------------------------------- errors

    def test_without_numpy(self):
        """With -I -S, Python has no packages."""
        for argument in "-h", "/nowhere":
            done = subprocess.run([sys.executable, "-I", "-S", CONVERT, argument], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^ERROR: convert.py needs the Python package numpy, which this Python \(.*\) cannot "
                                          r"import \(No module named 'numpy'\) - install numpy for it, or use another Python\n$")

    def test_sections_of_templates(self):
        """Sections that a rigid molecule of points cannot have are errors; bonds are dropped."""
        options = ["--units", "real", *WATER_ARGUMENTS[:4]]
        cannot = ("cannot be converted, only Coords, Types, Masses and Charges of point atoms can - remove the section to "
                  "convert the molecule without it")
        self.assertEqual(self.error(ROD, *options), "ERROR: FILE, line 18: section Body Integers " + cannot)
        whole = ROD[:ROD.index("Body Integers")]
        self.assertEqual(self.convert(whole, *options, name="rod").components["rod"]["mass"], [[1.0]])
        for section in ("Diameters\n\n1 2.0\n", "Dipoles\n\n1 0 0 1\n", "Lines\n\n1 1 0 0 1 1\n",
                        "Triangles\n\n1 1 0 0 0 1 1 0 0 1 0 0\n", "Body Doubles\n\n1 1\n"):
            with self.subTest(section):
                self.assertEqual(self.error(whole + section, *options),
                                 f"ERROR: FILE, line 18: section {section.splitlines()[0]} {cannot}")
        self.assertEqual(self.error(whole + "Charge\n\n1 1.0\n", *options),
                         "ERROR: FILE, line 18: 'Charge' is not a section of a molecule template")
        for section in ("Molecules\n\n1 1\n", "Special Bond Counts\n\n1 0 0 0\n", "Shake Flags   # none\n\n1 0\n"):
            with self.subTest(section):
                self.assertEqual(self.convert(whole + section, *options, name="rod").components["rod"]["mass"], [[1.0]])

    def test_errors(self):
        ascii_options = ["--units", "real", "--from", "atomic", "--negate-dipoles", "no"]
        xml_options = ["--units", "real", "--from", "kelvin", "--negate-dipoles", "no"]
        for (old, new), message in {
                ("2 1 1 0 0", "2 1 1 0 1"): "FILE, line 4: component 1 has 1 Tersoff sites, which pair_style multisite does "
                                            "not support",
                ("0.0004", "strong"): "FILE, line 5: 'strong' is not a number, but x y z m eps sigma rc shift is expected "
                                      "here",
                ("0.0004", "inf"): "FILE, line 5: x y z m eps sigma rc shift is inf, which is not finite",
                ("0.0004", "-1"): "component C1: a center has epsilon -1 and sigma 6.5, but epsilon must not be negative and "
                                  "sigma must be positive",
                ("0 0 1 0.9", "0 0 0 0.9"): "FILE, line 8: the axis of a dipole has length 0",
                ("NumberOfComponents 2", "NumberOfThings 2"): "FILE, line 19: there is no NumberOfComponents",
                ("ICRVQD", "ICQ"): "FILE, line 17: MoleculeFormat is ICQ, but only ICRVQD, ICRV and IRV are supported",
                ("2 2 10", "2 3 10"): "FILE, line 19: molecule 2 is of component 3, but there are 2",
                ("2 0 0 0 0.5", "0 0 0 0 0.5"): "FILE, line 18: the quaternion of molecule 1 has length 0",
                ("0 0 0 0.03 ", "0 0 0 0 "): "component C2 has no mass, because in ls1 only centers and charges have one - "
                                             "use --mass C2 M, in the units of the file",
                ("0.6 0 0.8 0 0 0 0\n", "0.6 0"): "FILE, line 19: the file ends where its quaternion is expected"}.items():
            with self.subTest(message):
                self.assertIn(old, ASCII)
                self.assertEqual(self.error(ASCII.replace(old, new), *ascii_options), "ERROR: " + message)
        for (old, new), message in {
                ('type="Charge"', 'type="Tersoff"'):
                    "FILE, component HCl: a site of type Tersoff, but only LJ126, Charge, Dipole and Quadrupole are supported",
                ("<sigma>3.3</sigma>", ""): "FILE, component HCl: there is no sigma",
                ("<sigma>3.3", "<sigma>wide"): "FILE, component HCl: sigma is 'wide', which is not a number",
                ("<sigma>3.3", '<sigma unit="nm">0.33'):
                    "FILE, component HCl: sigma has the unit nm, but convert.py does not convert units of single numbers - "
                    "give all numbers in one system of units",
                ("<x>3</x><y>0</y><z>4</z>", "<x>0</x>"): "FILE, component HCl: the axis of a dipole has length 0",
                ("<quadrupolemoment><theta>90</theta><phi>0</phi><abs>-346.69</abs></quadrupolemoment>", ""):
                    "FILE, component CO2: there is no quadrupolemoment in a site of type Quadrupole",
                ("<dipolemoment><x>3</x><y>0</y><z>4</z></dipolemoment>", ""):
                    "FILE, component HCl: there is no dipolemoment in a site of type Dipole",
                ("<theta>90</theta><phi>0</phi>", ""):
                    "FILE, component CO2: quadrupolemoment has no direction - give theta and phi, or x, y and z",
                ("<phi>0</phi>", ""): "FILE, component CO2: there is no quadrupolemoment/phi",
                ("<abs>-346.69</abs>", ""): "FILE, component CO2: there is no quadrupolemoment/abs",
                ("<charge>408.78</charge>", ""): "FILE, component HCl: there is no charge",
                ('cid2="7"', 'cid2="2"'): "FILE: a mixing rule of component 2, which does not exist",
                ('type="LB"', 'type="LB2"'): "FILE: a mixing rule of type LB2, but only LB is supported",
                ('name="HCl"', 'name="CO2"'): "the name 'CO2' of a component must be one word and differ from the others - "
                                              "give --names",
                ("</components>", ""): "FILE is not valid XML: no element found: line 20, column 0"}.items():
            with self.subTest(message):
                self.assertIn(old, XML)
                self.assertEqual(self.error(XML.replace(old, new), *xml_options), "ERROR: " + message)
        self.assertEqual(self.error("<components/>", *xml_options), "ERROR: FILE has no moleculetype")
        for text, options, message in (
                (WATER, WATER_ARGUMENTS[4:], "FILE: atom 1 is of type 1, which has no Lennard-Jones parameters - use --lj 1 EPSILON "
                                      "SIGMA, with epsilon 0 for no interaction"),
                (WATER, WATER_ARGUMENTS[:8], "FILE has no section Masses, and no mass for type 1 is given - use --mass 1 M"),
                (WATER.replace("Types\n\n1 1\n2 2   # a hydrogen\n3 2\n", ""), WATER_ARGUMENTS, "FILE has no section Types"),
                (WATER, [*WATER_ARGUMENTS, "--lj", "3", "1", "1"], "--lj 3: there are no atoms of type 3 - the types in FILE are 1, 2"),
                (WATER, [*WATER_ARGUMENTS, "--mass", "3", "1"], "--mass 3: there are no atoms of type 3 - the types in FILE are 1, 2"),
                (WATER.replace(CHARGES_SECTION, ""), [*WATER_ARGUMENTS, "--charge", "3", "1"],
                 "--charge 3: there are no atoms of type 3 - the types in FILE are 1, 2"),
                (WATER, ["--lj", "O", "0.1553", "3.166"], "--lj O: O is not an atom type number - the types in FILE are 1, 2"),
                (WATER, [*WATER_ARGUMENTS, "--lj", "2", "1", "1"], "--lj 2 is given twice"),
                (WATER, [*WATER_ARGUMENTS, "--charge", "1", "-0.5"],
                 "--charge 1 -0.5: FILE has a section Charges, which sets it for each atom - leave --charge out, or remove "
                 "the section"),
                (WATER + "\nMasses\n\n1 15.9994\n2 1.008\n3 1.008\n", [*WATER_ARGUMENTS[:8], "--mass", "1", "999"],
                 "--mass 1 999: FILE has a section Masses, which sets it for each atom - leave --mass out, or remove the "
                 "section"),
                (WATER.replace("3 0.4 2.8 3.0", "3 0.4"), WATER_ARGUMENTS, "FILE, line 10: '3 0.4' is not a valid line of section "
                                                                    "Coords"),
                (WATER.replace("3 0.4 2.8 3.0", "2 0.4 2.8 3.0"), WATER_ARGUMENTS,
                 "FILE: section Coords must list each of the 3 atoms once"),
                (WATER.replace("1.8 2.6", "1.8 far"), WATER_ARGUMENTS, "FILE, Coords of atom 2: 'far' is not a finite number"),
                (WATER, [*WATER_ARGUMENTS[:3], "wide", *WATER_ARGUMENTS[4:]], "--lj 1: 'wide' is not a finite number"),
                (ASCII, [*WATER_ARGUMENTS, "--from", "lj"], "--lj and --charge apply to molecule templates, but this is a file of "
                                                     "ls1"),
                (ASCII, ["--from", "atomic", "--mass", "C1", "1"],
                 "--mass C1: the file gives the component the mass 0.04 - leave --mass out"),
                (ASCII, ["--from", "atomic", "--mass", "D", "1"],
                 "--mass D: there is no component D - the components are C1, C2"),
                (ASCII, ["--from", "atomic", "--mass", "C1", "1", "--mass", "C1", "2"], "--mass C1 is given twice"),
                (ASCII, ["--from", "atomic", "--mass", "C1", "0"], "--mass C1 0: a mass must be positive"),
                (ASCII, ["--from", "atomic", "--mass", "C1", "big"], "--mass C1: 'big' is not a finite number"),
                ("Once upon a time\n", [], "FILE is neither an ls1 file (first word mardyn), XML, nor a LAMMPS molecule template "
                                           "in its native format (with a line 'N atoms', N 1 or more)"),
                ("", [], "FILE is neither an ls1 file (first word mardyn), XML, nor a LAMMPS molecule template in its native "
                         "format (with a line 'N atoms', N 1 or more)"),
                ("# UNITS: real\n\ncomponent A   # methane\nmass 16\ncenter 0 0 0 0.3 3.7\n", [],
                 "FILE is already a component file of pair_style multisite - pair_coeff can read it"),
                (WATER, [*WATER_ARGUMENTS, "--from", "lj"], "--from applies to files of ls1 - a molecule template has the units "
                                                     "given by --units"),
                (ASCII, ["--negate-dipoles", "no"], "files of ls1 do not contain their units - give --from atomic, kelvin or "
                                                    "lj"),
                (ASCII, ["--from", "lj"], "units lj cannot be converted to real"),
                (ASCII, ["--from", "atomic", "--names", "A"], "--names has 1 names, but there are 2 components")):
            with self.subTest(message):
                self.assertEqual(self.error(text, "--units", "real", *options), "ERROR: " + message)
        done = run("/nowhere", "--units", "real")
        self.assertRegex(done.stderr, "^ERROR: /nowhere cannot be read: .*No such file")
        self.assertEqual(self.error(ASCII, "--units", "real", "--from", "atomic", "--negate-dipoles", "no", "-o",
                                    "/nowhere/x"),
                         "ERROR: /nowhere/x cannot be written: No such file or directory")


if __name__ == "__main__":
    unittest.main(verbosity=2)
