"""All styles in a LAMMPS without MPI and with 64-bit atom IDs: closed-form results, equal to those
of a LAMMPS with MPI on one rank. For make check-serial, which sets GPUCOORD_LMP and
GPUCOORD_SERIAL_LMP."""

import functools
import math
import os
import re
import subprocess
import tempfile
import unittest

# Sums of a few terms of order 1, in the same order in both programs.
ROUNDING = 1e-13
# After 20 steps of two molecules, in which rounding grows.
TRAJECTORY = 1e-10

R = 1.3                                # distance of two atoms
K, S0 = 2.0, 0.5                       # harmonic bias
HEIGHT, SIGMA, HILLS = 0.3, 0.2, 4     # metadynamics
EPSILON, SIGMA_LJ = 0.8, 1.1           # sites
MADELUNG = -1.7475645946331822         # rock salt, at an ion, in units of the neighbor distance

PAIR = """
clear
units lj
atom_modify map array
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 single 3 3 3
create_atoms 1 single {x} 3 3
mass 1 1.0
neighbor 0.3 bin
"""
ZERO = """
pair_style zero 3.0
pair_coeff * *
"""
SECTIONS = {
    "compute coord/gpu": PAIR + ZERO + """
compute c all coord/gpu switch cubic d0 1.0 dmax 2.0 precision double
variable f atom c_c[2]
compute f all reduce sum v_f
compute g all reduce max v_f
thermo_style custom step c_c c_f c_g
run 0
print "value S $(c_c:%.17g)"
print "value virial $(c_c[1]:%.17g)"
print "value sum $(c_f:%.17g)"
print "value gradient $(c_g:%.17g)"
""",
    "fix coord/bias harmonic": PAIR + ZERO + """
compute c all coord/gpu switch cubic d0 1.0 dmax 2.0 precision double
fix b all coord/bias c_c harmonic k {k} s0 {s0}
variable f atom fx
compute g all reduce max v_f
thermo_style custom step f_b c_g
run 0
print "value energy $(f_b:%.17g)"
print "value force $(c_g:%.17g)"
""",
    "fix coord/bias metad": PAIR + ZERO + """
compute c all coord/gpu switch cubic d0 1.0 dmax 2.0 precision double
fix b all coord/bias c_c metad sigma {sigma} height {height} pace 5 file HILLS
thermo_style custom step f_b
run {steps}
print "value energy $(f_b:%.17g)"
""",
    "pair_style coord": PAIR + """
pair_style coord precision double
pair_coeff * * -2.0 cubic d0 1.0 dmax 2.0
variable f atom fx
compute g all reduce max v_f
thermo_style custom step pe c_g
thermo_modify norm no
run 0
print "value energy $(pe:%.17g)"
print "value force $(c_g:%.17g)"
""",
    "compute potential/grid direct, write_grid": """
clear
units lj
atom_style charge
boundary f f f
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 single 3 3 3
create_atoms 1 single {x} 3 3
mass 1 1.0
set atom 1 charge 1.5
set atom 2 charge -0.5
comm_modify cutoff 3.0
compute m all potential/grid 4 4 4 kernel direct align corner precision double
fix mean all ave/potential/grid 1 m
run 3
write_grid f_mean:grid:data mean.dx
write_grid c_m:grid:phi map.cube atoms all
print "value maps $(f_mean:%.17g)"
""",
    "compute potential/grid far fft": """
clear
units lj
atom_style charge
lattice sc 1.0
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
variable q atom 1-2*((round(x)+round(y)+round(z))%2)
set group all charge v_q
pair_style zero 2.0
pair_coeff * *
neighbor 0.3 bin
comm_modify cutoff 3.0
compute m all potential/grid 1 1 1 cutoff 1.9 far fft 1e-9 precision double
variable at atom c_m*q
compute lo all reduce min v_at
compute hi all reduce max v_at
thermo_style custom step c_lo c_hi
run 0
print "value least $(c_lo:%.17g)"
print "value most $(c_hi:%.17g)"
""",
    "pair_style multisite, set_multisite": """
clear
units lj
atom_style ellipsoid
atom_modify map array
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 single 3 3 3
create_atoms 1 single {x} 3 3
pair_style multisite 3.0
pair_coeff * * sites ball
set_multisite all
variable f atom fx
variable m atom mass
compute g all reduce max v_f
compute m all reduce sum v_m
thermo_style custom step pe c_g c_m
thermo_modify norm no
run 0
print "value energy $(pe:%.17g)"
print "value force $(c_g:%.17g)"
print "value mass $(c_m:%.17g)"
""",
    "fix multisite/linear": """
clear
units lj
atom_style ellipsoid
atom_modify map array
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 single 3 3 3
create_atoms 1 single 4.4 3.2 3
pair_style multisite 3.0
pair_coeff * * sites rod
set_multisite all
set atom 2 quat 1 1 0 40
set group all angmom 0.1 0.2 0.3
fix move all nve/asphere
fix line all multisite/linear
compute rot all erotate/asphere
group one id 1
compute l one property/atom angmomx angmomz
compute sum one reduce sum c_l[1] c_l[2]
thermo_style custom step pe ke c_rot c_sum[*]
thermo_modify norm no
timestep 0.001
run 0
print "value across $(c_sum[1]:%.17g)"
print "value along $(c_sum[2]:%.17g)"
print "value before $(pe+ke+c_rot:%.17g)"
run 20
print "value after $(pe+ke+c_rot:%.17g)"
print "value potential $(pe:%.17g)"
print "value rotation $(c_rot:%.17g)"
""",
}
SITES = f"""# UNITS: lj
component ball
mass 2.5
center 0 0 0 {EPSILON} {SIGMA_LJ}
component rod
mass 2.0
inertia 0.5 0.5 0
center 0 0 0.5 {EPSILON} {SIGMA_LJ}
center 0 0 -0.5 {EPSILON} {SIGMA_LJ}
"""
WORDS = {"x": 3 + R, "k": K, "s0": S0, "sigma": SIGMA, "height": HEIGHT, "steps": 5 * HILLS}
PROGRAMS = {name: os.path.abspath(os.environ[variable])
            for name, variable in (("serial", "GPUCOORD_SERIAL_LMP"), ("MPI", "GPUCOORD_LMP"))}
WRITTEN = "mean.dx", "map.cube", "HILLS"


def run(program, script, **inputs):
    """Return exit status, output, and the text of files that the run wrote. inputs: texts of files,
    by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in inputs.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        done = subprocess.run([PROGRAMS[program], "-log", "none"], cwd=folder, input=script, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        files = {}
        for name in WRITTEN:
            if os.path.exists(os.path.join(folder, name)):
                with open(os.path.join(folder, name)) as file:
                    files[name] = file.read()
        return done.returncode, done.stdout, files


@functools.lru_cache(None)
def results(program, section):
    """Return the numbers that a section prints, by name, and the text of its files."""
    code, text, files = run(program, SECTIONS[section].format(**WORDS), sites=SITES)
    assert code == 0, f"{section}, {program}:\n{text}"
    return {name: float(value) for name, value in re.findall(r"^value (\S+) (\S+)$", text, re.MULTILINE)}, files


def cubic(r):
    """Return s and ds/dr of cubic d0 1.0 dmax 2.0."""
    y = r - 1.0
    return (y - 1)**2 * (1 + 2 * y), 6 * y * (y - 1)


class Serial(unittest.TestCase):
    def check(self, found, expected, tolerance=ROUNDING):
        self.assertLessEqual(abs(found - expected), tolerance * max(1.0, abs(expected)), f"{found!r}, expected {expected!r}")

    def values(self, section):
        return results("serial", section)[0]

    def test_programs_are_what_they_are_called(self):
        for program, is_serial in ("serial", True), ("MPI", False):
            done = subprocess.run([PROGRAMS[program], "-h"], stdout=subprocess.PIPE, text=True)
            self.assertEqual("MPI STUBS" in done.stdout, is_serial, program)
            self.assertEqual("-DLAMMPS_BIGBIG" in done.stdout, is_serial, program)

    def test_coordination(self):
        found = self.values("compute coord/gpu")
        s, dsdr = cubic(R)
        self.check(found["S"], s)
        self.check(found["gradient"], -dsdr)
        self.check(found["sum"], 0.0)
        self.check(found["virial"], -dsdr * R)

    def test_harmonic(self):
        found = self.values("fix coord/bias harmonic")
        s, dsdr = cubic(R)
        self.check(found["energy"], K / 2 * (s - S0)**2)
        self.check(found["force"], abs(K * (s - S0) * dsdr))

    def test_metad(self):
        """Atoms are at rest, so all hills are at one position."""
        found, files = results("serial", "fix coord/bias metad")
        self.check(found["energy"], HILLS * HEIGHT)
        hills = [line.split() for line in files["HILLS"].splitlines() if not line.startswith("#")]
        self.assertEqual(len(hills), HILLS)
        for hill in hills:
            self.check(float(hill[1]), cubic(R)[0], 1e-9)

    def test_pair_coord(self):
        found = self.values("pair_style coord")
        s, dsdr = cubic(R)
        self.check(found["energy"], -2.0 * s)
        self.check(found["force"], abs(-2.0 * dsdr))

    def test_potential(self):
        """On a grid point: 1.5 / r - 0.5 / r' of two charges, also as the mean of maps of atoms at
        rest. Points are at multiples of 2; the last coordinate changes fastest."""
        found, files = results("serial", "compute potential/grid direct, write_grid")
        self.assertEqual(found["maps"], 3)
        dx = files["mean.dx"]
        numbers = [float(word) for line in dx.splitlines() if re.match(r"[-+0-9. e]+$", line) for word in line.split()]
        self.assertEqual(len(numbers), 64)
        points = [(2.0 * i, 2.0 * j, 2.0 * k) for i in range(4) for j in range(4) for k in range(4)]
        for point, number in zip(points, numbers):
            expected = 1.5 / math.dist(point, (3, 3, 3)) - 0.5 / math.dist(point, (3 + R, 3, 3))
            self.check(number, expected, 1e-6)
        self.assertIn("map.cube", files)

    def test_far(self):
        """Rock salt, at all ions."""
        found = self.values("compute potential/grid far fft")
        for name in "least", "most":
            self.check(found[name], MADELUNG, 1e-7)

    def test_multisite(self):
        found = self.values("pair_style multisite, set_multisite")
        a = (SIGMA_LJ / R)**6
        self.check(found["energy"], 4 * EPSILON * (a**2 - a))
        self.check(found["force"], abs(24 * EPSILON * (2 * a**2 - a) / R))
        self.check(found["mass"], 5.0)

    def test_linear(self):
        """The angular momentum of a rod about its axis, z, is removed, and its energy is conserved."""
        found = self.values("fix multisite/linear")
        self.check(found["across"], 0.1)
        self.check(found["along"], 0.0)
        self.assertGreater(found["rotation"], 0.01)
        self.check(found["after"], found["before"], 1e-5)

    def test_as_with_mpi(self):
        for section in SECTIONS:
            with self.subTest(section):
                (found, files), (expected, other) = results("serial", section), results("MPI", section)
                self.assertEqual(sorted(found), sorted(expected))
                for name in found:
                    self.check(found[name], expected[name], TRAJECTORY if section == "fix multisite/linear" else ROUNDING)
                self.assertEqual(files, other)

    def test_ids_of_64_bits(self):
        """An error names an atom by its ID."""
        big = 5000000001
        atoms = f"""two atoms

2 atoms
1 atom types
0 8 xlo xhi
0 8 ylo yhi
0 8 zlo zhi

Masses

1 1.0

Atoms # atomic

{big - 1} 1 3 3 3
{big} 1 4 3 3
"""
        script = f"""
units lj
atom_modify map hash
read_data atoms
{ZERO}
compute c all coord/gpu switch cubic d0 1.0 dmax 2.0
thermo_style custom step c_c
run 0
variable bad atom exp(1000)-exp(1000)
set atom {big} y v_bad
run 1 pre no
"""
        code, text, _ = run("serial", script, atoms=atoms)
        self.assertNotEqual(code, 0)
        self.assertIn(f"the position of atom ID {big} ", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
