"""compute coord/geometry in runs: ranks, atoms that come and go, energy, restarts, outputs of biases, and warnings."""
# Processors: 4

import math
import os
import re
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box
from errortest import error_of
from geometrytest import points_of, value
from test_bias_hills import Folder, hill_lines, rows, warnings_of

# ---------------------------------------------------------------- a fluid on several ranks

BOX = Box((7.0, 8.0, 9.0), tilt=(3.5, -2.0, 1.5))
N = 250
X = coordtest.random_positions(np.random.default_rng(8), BOX, N, closest=0.75)
MASSES = np.where(np.arange(N) % 2, 1.0, 7.0)
GROUPS = {"ga": list(range(3, 40)), "gb": [7, 90, 200, 201, 249], "one": [77]}
ITEMS = ("distance ga gb", "dihedral 1 ga 110 gb", "angle 2 one 60", "component x gb 91", "position z ga", "distance 17 249",
         "dihedral 12 44 101 203")


def script(commands):
    path = os.path.join(coordtest.folder(), "data.fluid")
    if not os.path.exists(path):
        coordtest.write_data(path, X, BOX, types=(np.arange(N) % 2 + 1).tolist())
    groups = "\n".join(f"group {name} id {' '.join(map(str, ids))}" for name, ids in GROUPS.items())
    return f"""
units lj
box tilt large
atom_modify map array sort 3 1.0
read_data {path}
mass 1 7.0
mass 2 1.0
pair_style gauss 2.0
pair_coeff * * -3.0 4.0
neighbor 0.2 bin
neigh_modify every 1 delay 0 check yes
{groups}
set group ga image 3 -3 2
set atom 90 image -1 0 -3
velocity all create 1.5 4711
velocity all zero linear
compute t all coord/geometry {' '.join(ITEMS)}
compute g all coord/geometry {' '.join(ITEMS)} center geometry image none output sincos
fix b all coord/bias c_t[1] c_t[2] c_t[6] harmonic k 5 2 3 s0 2 3.1 1
fix_modify b energy yes
fix move all nve
thermo_style custom step temp etotal {' '.join(f'c_t[{k + 1}]' for k in range(7))} {' '.join(f'c_g[{k + 1}]' for k in range(10))}
thermo_modify norm no format float %.17g
thermo 5
timestep 0.01
dump d all custom 5 dump id mass xu yu zu x y z ix iy iz
dump_modify d sort id format float %.17g
{commands}
"""


class Ranks(unittest.TestCase):
    def check(self, run, groups):
        """Compare all values with those of the positions in the dump."""
        # The dump has the first step of a later run before the changes.
        printed = {name: np.concatenate([table[name][1 if k else 0:] for k, table in enumerate(run.tables)]) for name in run.tables[0]}
        steps = printed["Step"]
        frames = dumptest.read_dump(run.path("dump"))
        errors = []
        for k, step in enumerate(steps):
            if step % 5:    # the last step of a minimization, which is not in the dump
                continue
            frame = next(frame for frame in frames if frame.step == step)
            ids = frame["id"].astype(int)
            x, masses = np.full((ids.max(), 3), np.nan), np.zeros(ids.max())
            x[ids - 1] = np.column_stack([frame[axis] for axis in ("xu", "yu", "zu")])
            masses[ids - 1] = frame["mass"]
            here = {name: [i for i in members if i in ids] for name, members in groups(step).items()}
            points = points_of(x, masses, here)
            expected = [value(item, points, frame.box) for item in ITEMS]
            found = [printed[f"c_t[{j + 1}]"][k] for j in range(7)]
            points = points_of(x, masses, here, by_mass=False)
            for item in ITEMS:
                s = value(item, points, frame.box, "none")
                expected += [math.sin(s), math.cos(s)] if item.split()[0] in ("angle", "dihedral") else [s]
            found += [printed[f"c_g[{j + 1}]"][k] for j in range(10)]
            errors.append(coordtest.error_of(np.array(found), np.array(expected)))
        self.assertLess(max(errors), coordtest.rounded(1e-11))
        return printed

    def test_ranks(self):
        """Values of the positions, on 1, 2 and 4 ranks, with atoms that are sorted, balanced, deleted and added. Without
        these, the first steps of all ranks agree."""
        change = ("delete_atoms group gone compress no\ngroup gone delete\ncreate_atoms 2 single 1.1 2.2 3.3\n"
                  "group one id 251\nvelocity all create 1.5 4712 loop geom\nrun 50")
        first = None
        for ranks in 1, 2, 4:
            with self.subTest(ranks):
                run = coordtest.run_lammps(script(f"fix balance all balance 10 1.0 shift xyz 5 1.1\nrun 50\ngroup gone id 5 20:30 201 150\n{change}"),
                                           ranks)
                printed = self.check(run, lambda step: dict(GROUPS, one=[77, 251]) if step > 50 else GROUPS)
                self.assertGreater(np.ptp(printed["c_t[1]"]), 0.1)
                if first is None:
                    first = printed
                for name in "c_t[1]", "c_t[2]", "c_g[5]", "TotEng":
                    np.testing.assert_allclose(printed[name][:3], first[name][:3], rtol=0, atol=coordtest.rounded(1e-9))

    def test_kinds_of_runs(self):
        """Values of the positions in a box that changes, with rRESPA, in a minimization, and in a rerun of all."""
        run = coordtest.run_lammps(script("unfix move\nfix move all nph iso 20 20 2\nrun 20\nunfix move\nfix move all nve\n"
                                          "run_style respa 2 2 pair 1\nrun 20\nrun_style verlet\nminimize 0 0 12 100"), 2)
        printed = self.check(run, lambda step: GROUPS)
        volumes = [np.linalg.det(frame.box.edges) for frame in dumptest.read_dump(run.path("dump"))]
        self.assertGreater(abs(volumes[4] / volumes[0] - 1), 0.003)
        again = coordtest.run_lammps(script(f"rerun {run.path('dump')} dump x y z ix iy iz"), 1).tables[0]
        kept = [k for k, step in enumerate(printed["Step"]) if step % 5 == 0]
        self.assertEqual(again["Step"].tolist(), printed["Step"][kept].tolist())
        for name in (name for name in again if name.startswith("c_")):
            np.testing.assert_allclose(again[name], printed[name][kept], rtol=0, atol=coordtest.rounded(1e-10))

    def test_energy(self):
        """The energy of a fluid with these biases is conserved."""
        run = coordtest.run_lammps(script("run 100").replace("timestep 0.01", "timestep 0.002"), 2)
        energy = run.tables[0]["TotEng"]
        print(f"energy {energy[0]:.3f} within {np.ptp(energy):.1e}")
        self.assertLess(np.ptp(energy), 0.02)

    def test_barostat(self):
        """The virial of positions and components is that of V by six strains: with it, the drift of what fix nph conserves is of
        second order in the timestep."""
        def drift(item, timestep, virial="yes"):
            run = coordtest.run_lammps(script(
                f"unfix b\nunfix move\ncompute p all coord/geometry {item}\nthermo_style custom step c_p\nrun 0\nvariable s0 equal $(c_p)+0.5\n"
                f"fix b all coord/bias c_p harmonic k 400 s0 ${{s0}}\nfix_modify b energy yes virial {virial}\n"
                f"fix move all nph tri 5 5 0.3 flip no\nthermo_style custom step econserve f_b\ntimestep {timestep}\nthermo 1\n"
                f"run {round(0.4 / timestep)}"), 2)
            return np.ptp(run.tables[-1]["Econserve"])

        for item in "position x ga", "position y 5", "position z ga", *(f"component {axis} ga 5 image none" for axis in "xyz"):
            with self.subTest(item):
                coarse, fine, without = drift(item, 0.004), drift(item, 0.002), drift(item, 0.002, "no")
                print(f"{item}: drift {coarse:.2g} and {fine:.2g}, without virial {without:.2g}")
                self.assertGreater(without, 20 * fine)
                if not coordtest.POSITION_ROUNDOFF:
                    self.assertLess(fine, coarse / 3.5)

    def test_kspace_in_a_tilted_box(self):
        """There kspace styles overwrite positions by fractional ones for a while."""
        path = os.path.join(coordtest.folder(), "data.charged")
        text = script("run 60")
        with open(os.path.join(coordtest.folder(), "data.fluid")) as file, open(path, "w") as out:
            head, atoms = file.read().split("Atoms # atomic\n\n")
            rows = [line.split() for line in atoms.splitlines()]
            out.write(head + "Atoms # charge\n\n" + "".join(f"{i} {kind} {1.5 - float(kind)} {' '.join(x)}\n" for i, kind, *x in rows))
        for old, new in (("units lj\n", "units lj\natom_style charge\nnewton off\n"), ("data.fluid", "data.charged"),
                         ("pair_style gauss 2.0\npair_coeff * * -3.0 4.0",
                          "pair_style lj/cut/coul/long 2.0\npair_coeff * * 0.05 0.8\nkspace_style pppm 1e-4")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        for ranks in 1, 2:
            printed = self.check(coordtest.run_lammps(text, ranks), lambda step: GROUPS)
            self.assertGreater(np.ptp(printed["c_t[1]"]), 0.03)

    def test_missing_atom(self):
        """An atom that does not exist is the same error on all ranks."""
        for ranks in 1, 4:
            with self.assertRaisesRegex(AssertionError, "Compute coord/geometry t: atom 17 does not exist - use IDs of atoms"):
                coordtest.run_lammps(script("run 2\ngroup gone id 17\ndelete_atoms group gone compress no\nrun 2"), ranks)


# ---------------------------------------------------------------- a molecule

# A chain of five atoms, held by restraints on distances and angles.
CHAIN = """
units lj
atom_modify map array sort 0 0
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 single 11.2 6 6
create_atoms 1 single 11.8 6.8 6
create_atoms 1 single 0.8 6.8 6
create_atoms 1 single 1.4 7.6 6.05
create_atoms 1 single 2.4 7.6 6.1
mass 1 1
velocity all create 0.8 4711 mom yes rot yes
pair_style zero 3.0
pair_coeff * *
"""
MOLECULE = """
compute bonds all coord/geometry distance 1 2 distance 2 3 distance 3 4 distance 4 5 angle 1 2 3 angle 2 3 4 angle 3 4 5
fix bonds all coord/bias c_bonds[1] c_bonds[2] c_bonds[3] c_bonds[4] c_bonds[5] c_bonds[6] c_bonds[7] harmonic &
  k 100 100 100 100 20 20 20 s0 1 1 1 1 2.2 2.2 2.2
fix_modify bonds energy yes
compute t all coord/geometry dihedral 1 2 3 4 angle 1 2 4 dihedral 2 3 4 5
fix n all nve
timestep 0.002
"""
OUTPUT = "thermo_style custom step etotal c_t[1] c_t[3] {}\nthermo_modify norm no format float %.17g\nthermo 1\n"


def run_of(work, fixes, steps, more="", begin=CHAIN, molecule=MOLECULE):
    text = f"{begin}{molecule}{fixes}\n{OUTPUT.format(more)}{steps}\n"
    assert work.start(text).wait() == 0, work.log()[-3000:]
    return np.array([found[0] for found in rows(work.log()).values()], float).T


def crossings(phi):
    return np.count_nonzero(np.abs(np.diff(phi)) > math.pi)


class Molecule(unittest.TestCase):
    def test_energy(self):
        """A harmonic dihedral crosses the ends of its period: the energy is conserved, as without the bias."""
        without = run_of(Folder(), "", "run 4000")
        for s0 in 3.1, -3.1, 3.1 + 4 * math.pi:
            energy, phi, _, v = run_of(Folder(), f"fix b all coord/bias c_t[1] harmonic k 2 s0 {s0!r}\nfix_modify b energy yes", "run 4000",
                                       "f_b")
            print(f"s0 {s0:g}: {crossings(phi)} crossings, energy within {np.ptp(energy):.1e}, {np.ptp(without[0]):.1e} without, V up to {v.max():.2f}")
            self.assertGreater(crossings(phi), 3)
            self.assertGreater(v.max(), 0.1)
            d = phi - s0
            np.testing.assert_allclose(v, (d - 2 * math.pi * np.rint(d / (2 * math.pi)))**2, rtol=0, atol=1e-12)
            self.assertLess(np.ptp(energy), 2 * np.ptp(without[0]) + 1e-3)

    def test_names_and_restart(self):
        """Files name the values t_1 and t_3, and a run continues exactly. A setup wraps atoms."""
        metad = "fix b all coord/bias c_t[1] c_t[3] metad sigma 0.35 0.35 height 0.05 pace 20 grid -pi pi -pi pi bins 60 60 file H"
        whole, parts = Folder(), Folder()
        expected = run_of(whole, metad, "run 150\nrun 250", "f_b f_b[2] f_b[6]")
        run_of(parts, metad, "run 150\nwrite_restart old", "f_b f_b[2] f_b[6]")
        found = run_of(parts, metad, "run 250", "f_b f_b[2] f_b[6]", "units lj\natom_modify map array sort 0 0\nread_restart old\npair_style zero 3.0\npair_coeff * *\n")
        np.testing.assert_array_equal(found[2:], expected[2:, 150:])
        self.assertEqual(hill_lines(parts.read("H")), hill_lines(whole.read("H")))
        header = whole.read("H").decode()
        self.assertIn("FIELDS time t_1 t_3 sigma_t_1 sigma_t_3", header)
        self.assertIn("#! SET min_t_3 -pi\n#! SET max_t_3 pi\n", header)
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        for line in ("units lj", "atom_modify map array sort 0 0", f"read_restart {parts.at('old')}", "pair_style zero 3.0", "pair_coeff * *",
                     "compute t all coord/geometry dihedral 1 2 3 4 dihedral 2 3 4 5"):
            lmp.command(line)
        lmp.command("compute u all coord/geometry distance 1 2 angle 1 2 3 distance 2 3")
        lmp.command(metad.replace("fix b", "fix other").replace("t[", "u[").replace(" file H", f" file {parts.at('H')} append yes"))
        text, _ = error_of(lmp, "run 0")
        self.assertIn("t_1 t_3", text)

    def test_two_fixes(self):
        """Values 1 and 3 in two fixes, one of them with a stride, act as in two computes."""
        fixes = "fix b all coord/bias c_{} harmonic k 2 s0 1\nfix c all coord/bias c_{} harmonic k 1 s0 -1 stride 5\n"
        two = "compute u all coord/geometry dihedral 1 2 3 4\ncompute v all coord/geometry dihedral 2 3 4 5\n"
        found = run_of(Folder(), fixes.format("t[1]", "t[3]"), "run 200", "f_b f_c")
        expected = run_of(Folder(), two + fixes.format("u", "v"), "run 200", "f_b f_c")
        np.testing.assert_array_equal(found, expected)

    def test_custom(self):
        """Expressions of values, and a value of sincos."""
        commands = ("compute s all coord/geometry dihedral 1 2 3 4 output sincos\n"
                    'compute e all coord/custom "sin(p)+cos(q)" p c_t[1] q c_t[3]\n'
                    "fix b all coord/bias c_e harmonic k 1 s0 0\nfix w all coord/bias c_s[2] wall/upper k 5 s0 -0.5\n")
        _, p, q, e, s, c, v = run_of(Folder(), commands, "run 100", "c_e c_s[1] c_s[2] f_b")
        np.testing.assert_allclose(e, np.sin(p) + np.cos(q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(np.arctan2(s, c), p, rtol=0, atol=1e-14)
        np.testing.assert_allclose(v, 0.5 * e**2, rtol=0, atol=1e-14)


@unittest.skipIf(coordtest.lacks_package("COLVARS"), "no package COLVARS")
class Colvars(unittest.TestCase):
    DEGREE = 180 / math.pi
    # Name, block of Colvars by lines, factor from our unit, item, and center.
    VARIABLES = (("d", ["distance", "group1 1", "group2 3 4 5"], 1, "distance 1 tail", 1.9),
                 ("z", ["distanceZ", "ref 1 2", "main 3 4 5"], 1, "component z head tail", 0.2),
                 ("a", ["angle", "group1 1", "group2 2", "group3 3 4 5"], DEGREE, "angle 1 2 tail", 2.0),
                 ("p", ["dihedral", "group1 1", "group2 2", "group3 3", "group4 4"], DEGREE, "dihedral 1 2 3 4", 3.1))

    def test_run(self):
        """Values, energies and positions of a run with harmonic restraints."""
        work = Folder()
        with open(work.at("in.colvars"), "w") as file:
            file.write("colvarsTrajFrequency 1\ncolvarsRestartFrequency 0\n")
            for name, (kind, *groups), unit, _, center in self.VARIABLES:
                lines = "".join(f"  {group} {{ atomNumbers {ids} }}\n" for group, ids in (line.split(None, 1) for line in groups))
                file.write(f"colvar {{\n name {name}\n width {unit!r}\n {kind} {{\n{lines} }}\n}}\n"
                           f"harmonic {{\n colvars {name}\n centers {center * unit!r}\n forceConstant 2\n}}\n")
        groups = "group head id 1 2\ngroup tail id 3 4 5\nset atom 1 image -1 0 0\nset atom 2 image -1 0 0\n"
        ours = (groups + "compute v all coord/geometry " + " ".join(item for *_, item, _ in self.VARIABLES) +
                "\nfix b all coord/bias c_v[1] c_v[2] c_v[3] c_v[4] harmonic k 2 2 2 2 s0 " + " ".join(str(center) for *_, center in self.VARIABLES))
        results = run_of(work, ours, "run 2000", "f_b c_v[1] c_v[2] c_v[3] c_v[4]")
        expected = run_of(work, groups + "fix b all colvars in.colvars output out", "run 2000", "f_b")
        values = np.loadtxt(work.at("out.colvars.traj"))[:, 1:5].T
        self.assertGreater(np.ptp(results[3]), 0.1)
        self.assertGreater(crossings(results[7]), 0)
        for k, (name, _, unit, _, _) in enumerate(self.VARIABLES):
            error = np.abs(results[4 + k] * unit - values[k]).max() / unit
            at_start = abs(results[4 + k][0] * unit - values[k][0]) / unit
            print(f"{name}: differs by {at_start:.1e} at the start, and later by {error:.1e}")
            self.assertLess(at_start, 1e-10)
            self.assertLess(error, coordtest.rounded(1e-8))
        np.testing.assert_allclose(results[1:4], expected[1:4], rtol=0, atol=coordtest.rounded(1e-8))


# ---------------------------------------------------------------- warnings

class Warnings(unittest.TestCase):
    BEGIN = """
units lj
atom_modify map array
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 single 1 5 5
create_atoms 1 single 2 5 5
create_atoms 1 single 3 5 5
create_atoms 1 single 3 6 7
create_atoms 1 single 9.5 5 5
mass 1 1
group g id 1 2 5
pair_style zero 3.0
pair_coeff * *
thermo_modify norm no
"""

    def warnings(self, commands, ranks=1):
        text = coordtest.run_lammps(self.BEGIN + commands, ranks).text
        self.assertNotIn("nan", text)
        return [re.sub(r" \(\S+:\d+\)$", "", line) for line in re.findall("^WARNING: (Compute coord/geometry.*)$", text, re.MULTILINE)]

    def test_singular(self):
        self.assertEqual(
            self.warnings("compute t all coord/geometry distance 1 4 dihedral 1 2 3 4 dihedral 4 3 2 1\nfix b all coord/bias c_t[2] c_t[3] harmonic "
                          "k 1 1 s0 1 1\nfix n all nve\nrun 3\nrun 1"),
            2 * ["Compute coord/geometry t: dihedral 1 2 3 4 has no derivative while its points are in line, three of them, so it exerts no "
                 "force there - use points that never get there"])
        self.assertEqual(self.warnings("compute t all coord/geometry angle 1 2 3 distance 1 4\nthermo_style custom step c_t[1]\nrun 1"),
                         ["Compute coord/geometry t: angle 1 2 3 has no derivative while its points are in line, so it exerts no force there - "
                          "use points that never get there"])
        self.assertEqual(self.warnings("compute t all coord/geometry distance 1 4 angle 1 3 4\nthermo_style custom step c_t[1]\nrun 1"), [])

    def test_count(self):
        """Singular items of all force evaluations of a run, in which two fixes share a variable, or of the frames of a rerun."""
        begin = ("compute t all coord/geometry dihedral 1 2 3 4 dihedral 4 3 2 1 angle 1 4 2\ncompute f all coord/custom a*a a c_t[2]\n"
                 "fix b all coord/bias c_t[1] c_t[3] harmonic k 1 0 s0 1 1\nfix c all coord/bias c_f harmonic k 1 s0 1 stride 2\nfix n all nve\n"
                 "thermo_style custom step c_t[1]\n")
        rerun = "dump d all custom 1 frames id x y z\nrun 3\nundump d\nrerun frames dump x y z"
        for commands, ranks, counts, nwarnings in (("run 3\nrun 1\nset atom 1 y 6\nrun 5", 1, [8, 4], 2), ("run 3", 2, [8], 1), ("run 0\nrun 7 pre no", 1, [2, 14], 1),
                                        (rerun, 1, [8, 8], 2)):
            with self.subTest(commands, ranks=ranks):
                text = coordtest.run_lammps(self.BEGIN + begin + commands, ranks).text
                found = re.findall(r"^Compute coord/geometry t: singular evaluations of values in this run: (\d+) - use points that never get "
                                   "there$", text, re.MULTILINE)
                self.assertEqual(found, list(map(str, counts)))
                self.assertEqual(len(re.findall("^WARNING: .* has no derivative", text, re.MULTILINE)), nwarnings)

    def test_far(self):
        move = "set atom 4 x 5.6 y 5 z 5\ncompute t all coord/geometry distance 1 2 component x 1 4 {}\nthermo_style custom step c_t[2]\nrun 2"
        self.assertEqual(self.warnings(move.format("")),
                         ["Compute coord/geometry t: two points of component x 1 4 are more than 0.45 box lengths apart, and at 0.5 the nearest image "
                          "jumps, and with it the force - use a larger box, or image none if image flags join the points"])
        self.assertEqual(self.warnings(move.format("image none")), [])

    def test_flags(self):
        """A group without image flags across a face, and a straight chain that is wider than half the box."""
        words = "compute t all coord/geometry distance 4 g {}\nthermo_style custom step c_t\nrun 2"
        text = ("Compute coord/geometry {}: by image flags, an atom of group {} is {} away from the atom with the smallest ID, and as nearest image "
                "{} at most - if the group is not that wide, image flags are missing in the data or dump file: use unwrap nearest; if it is, "
                "such as a long chain, all is right")
        chain = "".join(f"create_atoms 1 single {1 + 0.9 * k} 1 1\n" for k in range(8))
        chain += "group chain id 6:13\ncompute c all coord/geometry position x chain\nthermo_style custom step c_c\nrun 0"
        for ranks in 1, 2:
            self.assertEqual(self.warnings(words.format(""), ranks), [text.format("t", "g", 8.5, 1.5)])
            self.assertEqual(self.warnings(words.format("unwrap nearest"), ranks), [])
            self.assertEqual(self.warnings("set atom 5 image -1 0 0\n" + words.format(""), ranks), [])
            self.assertEqual(self.warnings(chain, ranks), [text.format("c", "chain", 6.3, 4.6)])
        self.assertEqual(coordtest.run_lammps(self.BEGIN + chain, 1).tables[0]["c_c"].tolist(), [4.15])

    def test_setup_lines(self):
        text = coordtest.run_lammps(self.BEGIN + "compute t all coord/geometry position x g dihedral 1 2 4 5 output sincos scale 0.1\n"
                                    "compute u all coord/geometry distances g angle 1 2 4 distance 2 4\nrun 0").text
        path = "atoms and derivatives resident on the GPU" if coordtest.ON_KOKKOS_GPU else "owned atoms"
        for line in ("Compute coord/geometry t: position x g, dihedral 1 2 4 5, sine and cosine of angles, lengths times 0.1, nearest images "
                     "between points, centers of mass of groups joined by image flags, virial of positions for a barostat that leaves the center of "
                     f"the box in place, {path}", "Compute coord/geometry t: S 0.416667 0 1",
                     f"Compute coord/geometry u: 5 items, distance 1 2 to distance 2 4, nearest images between points, {path}"):
            self.assertIn("\n" + line + "\n", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
