"""fix multisite/linear: no torque and no angular momentum about the axes of linear molecules; all
else is unchanged."""
# Without: gpu

import os
import re
import unittest

import numpy as np

import coordtest
import errortest
import multisitetest

# Components along z, along x, planar, and with one site.
COMPONENTS = """# UNITS: real
component along_z
mass 44.0
inertia 43.0 43.0 0
center 0 0 1.16 0.157 3.05
center 0 0 -1.16 0.157 3.05
component along_x
mass 28.0
inertia 0 8.5 8.5
center 0.55 0 0 0.07 3.3
center -0.55 0 0 0.07 3.3
component planar
mass 18.0
inertia 0.6 1.3 1.9
center 0 0.1 0 0.15 3.1
charge 0.8 -0.5 0 0.4
charge -0.8 -0.5 0 -0.4
component unknown
mass 44.0
center 0 0 1.16 0.157 3.05
center 0 0 -1.16 0.157 3.05
component atom
mass 40.0
center 0 0 0 0.238 3.4
"""
AXES = {1: 2, 2: 0}    # axes of linear molecules, by type
FILE = os.path.join(coordtest.folder(), "linear.multisite")
with open(FILE, "w") as out:
    out.write(COMPONENTS)

EDGE = 17.6
N = 64


def system(style="ellipsoid"):
    return f"""
units real
atom_style {style}
atom_modify map array
region box block 0 {EDGE} 0 {EDGE} 0 {EDGE}
create_box 4 box
lattice sc {EDGE / 4}
create_atoms 1 box
set group all type/ratio 2 0.5 1
set group all type/subset 3 16 2
set group all type/subset 4 8 3
""" + STYLE + "set_multisite all\nset group all quat/random 4711\nvelocity all create 300.0 4712\n"


STYLE = f"""
pair_style multisite 8.0
pair_coeff * * {FILE} along_z along_x planar atom
"""
NOISE = "fix noise all langevin 300.0 300.0 100.0 4713 angmom 3.333"
BODIES = "compute bodies all property/atom quatw quati quatj quatk angmomx angmomy angmomz"


def axes_of(quaternions, types):
    """Return the axis of each molecule in space; nan: the molecule is not linear."""
    w, x, y, z = quaternions.T
    columns = {0: np.column_stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]),
               2: np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])}
    axes = np.full((len(types), 3), np.nan)
    for kind, k in AXES.items():
        axes[types == kind] = columns[k][types == kind]
    return axes


class Linear(unittest.TestCase):
    def start(self, *lines, style="ellipsoid"):
        lmp = multisitetest.start()
        self.addCleanup(lmp.close)
        errortest.commands(lmp, system(style) if style == "ellipsoid" else style)
        for line in lines:
            lmp.command(line)
        return lmp

    def state(self, lmp):
        """Return torques, angular momenta, axes and types."""
        bodies = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("bodies", 1, 2))
        types = np.array(lmp.gather_atoms("type", 0, 1))
        torques = np.array(lmp.gather_atoms("torque", 1, 3)).reshape(-1, 3)
        return torques, bodies[:, 4:], axes_of(bodies[:, :4], types), types

    def test_torques(self):
        """Torques of a thermostat lose their component along the axis; without the fix they have
        one."""
        torques, _, axes, types = self.state(self.run_0(self.start(BODIES, NOISE)))
        is_linear = ~np.isnan(axes[:, 0])
        self.assertEqual(sorted(set(types[~is_linear])), [3, 4])
        self.assertGreater(is_linear.sum(), 20)
        axes[~is_linear] = 0.0
        along = (torques * axes).sum(axis=1)
        self.assertGreater(abs(along[is_linear]).max(), 0.1 * abs(torques).max())
        found, *_ = self.state(self.run_0(self.start(BODIES, NOISE, "fix linear all multisite/linear")))
        np.testing.assert_allclose(found, torques - along[:, None] * axes, rtol=0, atol=1e-13 * abs(torques).max())
        np.testing.assert_array_equal(found[types == 3], torques[types == 3])

    def test_angular_momenta(self):
        """Angular momenta lose their component along the axis when a run is set up."""
        spin = "set group all angmom 0.1 -0.2 0.3"
        _, momenta, axes, types = self.state(self.run_0(self.start(BODIES, spin)))
        axes[np.isnan(axes)] = 0.0
        _, cleaned, *_ = self.state(self.run_0(self.start(BODIES, spin, "fix linear all multisite/linear")))
        np.testing.assert_allclose(cleaned, momenta - (momenta * axes).sum(axis=1)[:, None] * axes, rtol=0, atol=1e-15)
        self.assertGreater(abs(cleaned - momenta)[types == 1].max(), 0.05)

    def run_0(self, lmp):
        lmp.command("run 0 post no")
        return lmp

    def test_group(self):
        torques, momenta, axes, types = self.state(self.run_0(self.start(BODIES, NOISE, "set group all angmom 0.1 -0.2 0.3",
                                                                         "group some type 1",
                                                                         "fix linear some multisite/linear")))
        along = abs((torques * axes).sum(axis=1))
        self.assertLess(along[types == 1].max(), 1e-13 * abs(torques).max())
        self.assertGreater(along[types == 2].max(), 0.01)
        self.assertGreater(abs((momenta * axes).sum(axis=1))[types == 2].max(), 0.01)

    def check_spin(self, lmp, steps):
        """Check that there is no spin about axes after this number of steps. Return the largest
        relative spin."""
        lmp.command(f"run {steps} post no")
        torques, momenta, axes, types = self.state(lmp)
        is_linear = ~np.isnan(axes[:, 0])
        for vectors in torques, momenta:
            self.assertGreater(np.linalg.norm(vectors[is_linear], axis=1).min(), 0)
            self.assertLess(abs((vectors * axes).sum(axis=1)[is_linear]).max(), 1e-13 * abs(vectors[is_linear]).max())

    def test_runs(self):
        """Integrators with and without a thermostat of torques; also as a superellipsoid."""
        nve, nvt = "fix move all nve/asphere", "fix move all nvt/asphere temp 300 300 100"
        for move in [nve], [nve, NOISE], [nvt], ["run_style respa 2 2 pair 2", nvt]:
            lmp = self.start(BODIES, *move, "fix linear all multisite/linear", "neigh_modify every 1 delay 0 check yes")
            self.check_spin(lmp, 200)
        if coordtest.lacks_superellipsoids():
            return
        both = system("ellipsoid superellipsoid").replace("set_multisite all", "\n".join(
            f"set type {k} shape {shape}\nset type {k} mass {mass}" for k, (shape, mass) in enumerate(
                [("0.01 0.01 4.4", 44.0), ("2.46 0.01 0.01", 28.0), ("2 1 0.01", 18.0), ("1 1 1", 40.0)], 1)))
        self.check_spin(self.start(BODIES, "fix move all nve/asphere", "fix linear all multisite/linear", style=both), 20)

    def test_spin_at_the_start(self):
        """Angular momenta about axes at the start of a run, and the levels of rRESPA: a thermostat
        of torques would treat them as a spin to slow down, and eject the molecule."""
        for run in [], ["run_style respa 2 2 pair 2"]:
            if run and coordtest.kokkos_lacks("run_style respa", "LAMMPS has none there"):
                continue
            lmp = self.start(BODIES, "set group all angmom 0.1 -0.2 0.3", "fix move all nve/asphere", *run, NOISE,
                             "fix linear all multisite/linear", "neigh_modify every 1 delay 0 check yes")
            first = self.state(self.run_0(lmp))[1]
            self.check_spin(lmp, 20)
            last = self.state(lmp)[1]
            self.assertLess(np.linalg.norm(last, axis=1).max(), 5 * np.linalg.norm(first, axis=1).max())

    def test_two_sub_styles(self):
        """Two sub-styles of pair_style hybrid, each with linear molecules."""
        hybrid = ["pair_style hybrid multisite 8.0 multisite 7.0 lj/cut 8.0",
                  f"pair_coeff * * multisite 1 {FILE} along_z NULL NULL NULL",
                  f"pair_coeff * * multisite 2 {FILE} NULL along_x planar NULL",
                  "pair_coeff 1 2*3 lj/cut 0.2 3.3", "pair_coeff * 4 lj/cut 0.2 3.3"]
        self.check_spin(self.start(BODIES, *hybrid, "fix move all nve/asphere", NOISE, "fix linear all multisite/linear",
                                   "neigh_modify every 1 delay 0 check yes"), 50)

    def test_order(self):
        """Defined before a thermostat of torques, the fix raises an error in the first step; a
        thermostat of forces may be defined later."""
        lmp = self.start("fix linear all multisite/linear", "fix move all nve/asphere", NOISE)
        with self.assertRaises(Exception) as caught:
            lmp.command("run 10 post no")
        self.assertEqual(errortest.read_error(str(caught.exception))[0], ORDER.format("linear"))
        self.check_spin(self.start(BODIES, "fix linear all multisite/linear", "fix move all nve/asphere",
                                   NOISE.replace("angmom 3.333", "")), 50)

    def test_minimization(self):
        lmp = self.start(BODIES, "fix linear all multisite/linear")
        lmp.command("minimize 0.0 0.0 5 10")
        torques, _, axes, _ = self.state(lmp)
        self.assertLess(np.nanmax(abs((torques * axes).sum(axis=1))), 1e-13 * abs(torques).max())


ORDER = ("Fix multisite/linear {}: there are torques about the axes of linear molecules after it has removed them - define "
         "it after all fixes that add torques, such as langevin with angmom")


class Messages(unittest.TestCase):
    def warnings(self, text, ranks=1):
        run = multisitetest.run_lammps((system() + text).splitlines(), ranks)
        return [line.split("WARNING: ")[1].split(" (src/")[0] for line in run.text.splitlines() if "WARNING: " in line and
                ("multisite/linear" in line or "three rotations" in line)], run

    def test_temperature(self):
        linear = ("fix move all nve/asphere\nfix linear all multisite/linear\ncompute t all temp/asphere\n"
                  "compute_modify t extra/dof {}\nrun 1")
        wrong = ("Pair multisite: compute {} counts three rotations of each molecule, but {} linear ones have two and {} others "
                 "none: with extra/dof {} its temperature is too {} - give compute_modify {} extra/dof {}, or {} if it counts "
                 "translation and momentum is conserved")
        for ranks in 2, 1:    # each rank draws its types separately
            count, points = self.atoms("1 2", ranks), self.atoms("4", ranks)
            missing = count + 3 * points
            found, _ = self.warnings(linear.format(3), ranks)
            self.assertEqual(found, [wrong.format("t", count, points, 3, "low", "t", missing, missing + 3)])
        self.assertEqual(self.warnings(linear.format(missing + 4))[0],
                         [wrong.format("t", count, points, missing + 4, "high", "t", missing, missing + 3)])
        for right in missing, missing + 3:
            self.assertEqual(self.warnings(linear.format(right))[0], [])
        found, _ = self.warnings(linear.replace("temp/asphere", "temp/asphere dof rotate", 1).format(0))
        self.assertEqual(found, [wrong.format("t", count, points, 0, "low", "t", missing, missing + 3)])
        # The compute that a thermostat creates.
        found, _ = self.warnings("fix move all nvt/asphere temp 300 300 100\nfix linear all multisite/linear\nrun 1")
        self.assertEqual(found, [wrong.format("move_temp", count, points, 3, "low", "move_temp", missing, missing + 3)])

    def atoms(self, types, ranks):
        run = multisitetest.run_lammps((system() + f"group some type {types}").splitlines(), ranks)
        return int(re.search(r"(\d+) atoms in group some", run.text).group(1))

    def test_group(self):
        found, _ = self.warnings("group some type 1 3 4\nfix move some nve/asphere\nfix linear some multisite/linear\nrun 1", 2)
        self.assertRegex(found[0], r"^Fix multisite/linear linear: \d+ linear molecules are not in group some and may heat up "
                                   r"by spinning about their axes$")

    def test_nothing(self):
        found, _ = self.warnings(f"pair_coeff * * {FILE} planar planar planar atom\nset_multisite all\nfix move all nve/asphere\n"
                                 "fix linear all multisite/linear\nrun 1")
        self.assertRegex(found[0], "^Fix multisite/linear linear does nothing: no component has exactly one moment of inertia "
                                   "that is 0$")

    def test_no_inertia(self):
        """The fix cannot classify such a component, and its motion is unchanged."""
        found, _ = self.warnings(f"pair_coeff * * {FILE} unknown along_x planar atom\nfix move all nve/asphere\n"
                                 "fix linear all multisite/linear\nrun 1")
        self.assertEqual(found, ["Fix multisite/linear linear ignores component unknown of type 1: without moments "
                                 "of inertia, it is unknown whether it is linear"])
        lmp = multisitetest.start()
        self.addCleanup(lmp.close)
        errortest.commands(lmp, system() + f"pair_coeff * * {FILE} unknown along_x planar atom\nset group all angmom 0.1 -0.2 "
                                           f"0.3\n"
                           "fix linear all multisite/linear\n" + BODIES + "\nrun 0 post no")
        momenta = coordtest.in_order_of_id(lmp, lmp.numpy.extract_compute("bodies", 1, 2))[:, 4:]
        types = np.array(lmp.gather_atoms("type", 0, 1))
        np.testing.assert_array_equal(momenta[types != 2], [[0.1, -0.2, 0.3]] * (types != 2).sum())

    def test_order_on_ranks(self):
        code, output = errortest.run_script(system() + f"fix linear all multisite/linear\nfix move all nve/asphere\n{NOISE}\n"
                                                       f"run 10\n", 2)
        self.assertNotEqual(code, 0)
        self.assertEqual(errortest.errors_in(output), [ORDER.format("linear")])


class Errors(errortest.InProcess):
    SYSTEM = system()

    def test_words(self):
        self.assertEqual(errortest.error_of(self.lmp, "fix linear all multisite/linear now"),
                         ("Fix multisite/linear takes no arguments, but there is 'now'", "fix linear all multisite/linear [now]"))

    def test_no_style(self):
        self.lmp.command("fix linear all multisite/linear")
        for style in "none", "zero 5.0":
            self.lmp.command(f"pair_style {style}")
            if style != "none":
                self.lmp.command("pair_coeff * *")
            self.assertEqual(errortest.error_of(self.lmp, "run 0"),
                             ("Fix multisite/linear needs pair_style multisite, which defines molecules", None))

    def test_atom_style(self):
        errortest.commands(self.lmp, "clear\natom_style atomic\nregion box block 0 9 0 9 0 9\ncreate_box 1 box\ncreate_atoms 1 "
                                     "single 1 1 1\n"
                           "mass 1 1.0\npair_style zero 2.0\npair_coeff * *\nfix linear all multisite/linear")
        self.assertEqual(errortest.error_of(self.lmp, "run 0"),
                         ("Fix multisite/linear needs atom_style ellipsoid, not atomic" + "/kk" * bool(coordtest.KOKKOS), None))


if __name__ == "__main__":
    unittest.main(verbosity=2)
