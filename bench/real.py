"""Parts real-NAME: what a bias adds to a KOKKOS timestep of water, ice, metals and a melt.

Each system is a part of its own, so that it can run alone:
  real-water  SPC/E water with Na+ and Cl- (data of examples/coordination, 5 x 5 x 4 times), PPPM, SHAKE
  real-mw     mW, half ice and half liquid
  real-al     aluminum by EAM, half melted; newton off with full lists, and newton on with half lists
  real-mo     molybdenum by SNAP (Mo_Chen)
  real-w      tungsten by SNAP with ZBL (W_2940, hybrid/overlay)
  real-lj     the melt of kokkos.py
Runs without and with each bias take turns in one process, in alternating order, and lists are rebuilt
at a fixed interval in both. Potential files are in LAMMPS' folder potentials: that of the environment
variable LAMMPS_POTENTIALS, or of the tree that the build folder names. mW is written here.

Seconds on one H200, estimated from the times of single steps: water 70, mw 30, al 90, mo 80, w 120,
lj 40.
"""

import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass

import results
from kokkos import EQUILIBRATION, SPREAD, median_difference, melt_of, runs_of

TURNS = 6    # counted turns, after one warm-up; even, since the order alternates

# Stillinger-Weber parameters of Molinero and Moore, J. Phys. Chem. B 113, 4008 (2009), units real
MW = """mW mW mW 6.189 2.3925 1.80 23.15 1.20 -0.333333333333
         7.049556277 0.6022245584 4.0 0.0 0.0
"""

# With KOKKOS, fix shake reads masses that fix nvt, which must be before it, has copied to the GPU.
# If it does not, positions are not finite.
WATER = """
units real
atom_style full
atom_modify map array
read_data {salt}/data.salt
replicate {replicate}
include {salt}/forcefield.salt
neighbor 2.0 bin
neigh_modify every 10 delay 0 check no
group ow type 1
group na type 3
group one id 3001
velocity all create 300 4711
fix move all nvt temp 300 300 100
{last}
timestep 2.0
run 10
if "$(temp) < 3000" then "print 'temperature after 10 steps: $(temp:%.0f)'" else "print 'Error: the temperature after 10 steps is $(temp)'" "quit 1"
run {equilibration}
unfix rigid
"""
SHAKE = "fix rigid all shake 1e-4 50 0 b 1 a 1"

TWO_PHASES = """
units {units}
atom_modify map array
lattice {lattice}
region box block 0 {nx} 0 {ny} 0 {nz}
create_box 1 box
create_atoms 1 box
mass 1 {mass}
{potential}
neighbor {skin} bin
neigh_modify every 10 delay 0 check no
comm_modify cutoff {ghosts}
timestep {timestep}
region upper block INF INF INF INF $({nz}/2) INF
group upper region upper
velocity upper create {hot} 4711
fix melt upper nvt temp {hot} {hot} {damping}
run {melting}
unfix melt
velocity all create {temperature} 4711
fix move all nvt temp {temperature} {temperature} {damping}
run {equilibration}
"""

CRYSTAL = """
units metal
atom_modify map array
lattice bcc {a}
region box block 0 {nx} 0 {ny} 0 {nz}
create_box 1 box
create_atoms 1 box
mass 1 {mass}
{potential}
neighbor 1.0 bin
neigh_modify every 10 delay 0 check no
comm_modify cutoff 6.8
timestep 0.001
velocity all create {hot} 4711
fix move all nvt temp {temperature} {temperature} 0.1
run {equilibration}
"""

MORE = "function more_than rational 0.5 nn 12 mm 24 norm mean"
HALF, FULL = "newton on neigh half", "newton off neigh full"


@dataclass
class Case:
    bias: str    # in words
    variable: str
    group: str = "all"
    strength: str = "k $(0.1*count(all)) s0 $(v_s{number}+0.01)"


@dataclass
class System:
    name: str
    setup: str
    cases: tuple
    steps: int    # steps per run
    femtoseconds: float    # of a timestep; 0: units lj
    settings: tuple = (HALF,)    # words of package kokkos; each has a process of its own
    last: str = ""    # a fix rigid that must follow the bias
    rebuild: int = 10    # steps between neighbor lists


def potentials(bench, *names):
    """Return the folder of potential files, which must have these."""
    folder = os.environ.get("LAMMPS_POTENTIALS")
    if not folder:
        try:
            with open(os.path.join(bench.build, "CMakeCache.txt")) as file:
                cache = dict(re.findall(r"^(LAMMPS_SOURCE_DIR|CMAKE_HOME_DIRECTORY):\w+=(.*)$", file.read(), re.M))
        except FileNotFoundError:
            sys.exit(f"{bench.build} has no CMakeCache.txt: set the environment variable LAMMPS_POTENTIALS to LAMMPS' folder potentials")
        # With the package built in, the build is that of LAMMPS' folder cmake.
        tree = cache.get("LAMMPS_SOURCE_DIR") or os.path.dirname(cache["CMAKE_HOME_DIRECTORY"])
        folder = os.path.join(tree, "potentials")
    for name in names:
        if not os.path.isfile(os.path.join(folder, name)):
            sys.exit(f"there is no {os.path.join(folder, name)}: set the environment variable LAMMPS_POTENTIALS to LAMMPS' folder potentials")
    return folder


# ---------------------------------------------------------------- systems, of a number of cells

def water_of(bench, copies):
    salt = os.path.join(results.ROOT, "examples", "coordination")
    setup = WATER.format(salt=salt, replicate=" ".join(map(str, copies)), equilibration=bench.steps(1000), last=SHAKE)
    switch = "coord/gpu group2 ow switch cubic d0 2.4 dmax 4.0 norm mean"
    strength = "k 1 s0 $(v_s{number}+0.1)"
    return System("SPC/E water, Na+ and Cl-", setup, (Case("coordination of all Na+ with O", switch, "na", strength),
                                                      Case("coordination of one Na+ with O", switch, "one", strength)),
                  bench.steps(200), 2.0, last=SHAKE)


def mw_of(bench, cells):
    nx, ny, nz = cells
    setup = TWO_PHASES.format(units="real", lattice="diamond 6.26", nx=nx, ny=ny, nz=nz, mass=18.015, skin=2.0, ghosts=8.0,
                              potential="pair_style sw\npair_coeff * * mW.sw mW", timestep=5, damping=500, hot=800, temperature=275,
                              melting=bench.steps(1000), equilibration=bench.steps(2000))
    return System("mW, ice and liquid", setup, (
        Case("envsim diamond", f"coord/envsim structure diamond 6.26 sigma 0.55 cutoff 4 {MORE}"),
        Case("averaged q6", "coord/orientorder l 6 switch cubic d0 3.2 dmax 3.8 order average norm mean")), bench.steps(1000), 5.0)


def al_of(bench, cells):
    nx, ny, nz = cells
    file = os.path.join(potentials(bench, "Al_mm.eam.fs"), "Al_mm.eam.fs")
    setup = TWO_PHASES.format(units="metal", lattice="fcc 4.12", nx=nx, ny=ny, nz=nz, mass=26.982, skin=1.0, ghosts=9.7,
                              potential=f"pair_style eam/fs\npair_coeff * * {file} Al", timestep=0.002, damping=0.1, hot=3000,
                              temperature=926, melting=bench.steps(2000), equilibration=bench.steps(1000))
    return System("Al by EAM, half melted", setup, (
        Case("envsim fcc", f"coord/envsim structure fcc 4.12 sigma 0.4 {MORE}"),
        Case("pair entropy", "coord/pairentropy cutoff 7.0 sigma 0.2 bins 140")), bench.steps(400), 2.0, (FULL, HALF))


def snap_of(bench, cells, name, a, mass, temperature, potential):
    nx, ny, nz = cells
    setup = CRYSTAL.format(a=a, nx=nx, ny=ny, nz=nz, mass=mass, potential=potential, hot=2 * temperature, temperature=temperature,
                           equilibration=bench.steps(500))
    nearest = a * 0.75**0.5
    switch = f"switch cubic d0 {1.25 * nearest:.4g} dmax {1.47 * nearest:.4g}"    # 14 partners
    return System(name, setup, (
        Case("envsim bcc", f"coord/envsim structure bcc {a} sigma 0.3 {MORE}"),
        Case("averaged q6", f"coord/orientorder l 6 {switch} order average norm mean"),
        Case("coordination", f"coord/gpu {switch} norm mean")), bench.steps(200), 1.0)


def mo_of(bench, cells):
    folder = potentials(bench, "Mo_Chen_PRM2017.snapcoeff", "Mo_Chen_PRM2017.snapparam")
    file = os.path.join(folder, "Mo_Chen_PRM2017.snap")
    return snap_of(bench, cells, "Mo by SNAP", 3.2, 95.95, 2600, f"pair_style snap\npair_coeff * * {file}coeff {file}param Mo")


def w_of(bench, cells):
    folder = potentials(bench, "W_2940_2017_2.snapcoeff", "W_2940_2017_2.snapparam")
    file = os.path.join(folder, "W_2940_2017_2.snap")
    return snap_of(bench, cells, "W by SNAP and ZBL", 3.25, 183.84, 3300,
                   "pair_style hybrid/overlay zbl 4.0 4.8 snap\npair_coeff 1 1 zbl 74.0 74.0\n"
                   f"pair_coeff * * snap {file}coeff {file}param W")


def lj_of(bench, cells):
    setup = "atom_modify map array\n" + melt_of(cells, bench.steps(EQUILIBRATION))
    return System("LJ melt", setup, (
        Case("coordination", "coord/gpu switch rational 1.5 nn 6 mm 12 dmax 2.5 norm mean"),
        Case("averaged q6", "coord/orientorder l 6 switch cubic d0 1.2 dmax 1.5 order average norm mean")), bench.steps(200), 0,
                  (FULL,), rebuild=20)


# ---------------------------------------------------------------- runs

def is_without_kokkos(bench):
    return bench.kokkos() == ["off"]


def words_of(bench, settings):
    """Return words of the command line; none for a trial without KOKKOS."""
    return [] if is_without_kokkos(bench) else ["-k", *bench.kokkos(), "-sf", "kk", "-pk", "kokkos", *settings.split()]


def settings_of(bench, settings):
    """Return newton and neigh of these words, for the table."""
    return (None, None) if is_without_kokkos(bench) else tuple(settings.split()[1::2])


def write_files(folder):
    with open(os.path.join(folder, "mW.sw"), "w") as file:
        file.write(MW)


def per_day(femtoseconds, milliseconds):
    """Return nanoseconds per day, or None in units lj."""
    return 86.4 * femtoseconds / milliseconds if femtoseconds else None


def value_lines(case, number):
    """Return commands that define the variable s with a number as S of the current positions."""
    return [f"compute cv {case.group} {case.variable}", "thermo_style custom step c_cv", "run 0",
            f"variable s{number} equal $(c_cv:%.15g)", "thermo_style one", "uncompute cv"]


def turn_lines(system, begin, run, end):
    """Return a run between commands that begin and end a bias. system.last follows the bias."""
    last = [system.last] if system.last else []
    return [*begin, *last, *run, *["unfix rigid"] * len(last), *end]


def script_of(system):
    def turn(number, case, biased):
        run = [f'print "bench {number} {biased} $(count(all))"', f"run {system.steps}"]
        if not biased:
            return turn_lines(system, [], run, [])
        begin = [f"compute cv {case.group} {case.variable} precision mixed",
                 f"fix b all coord/bias c_cv harmonic {case.strength.format(number=number)}"]
        return turn_lines(system, begin, run, ["unfix b", "uncompute cv"])

    lines = [system.setup, f"thermo {system.steps}"]
    for number, case in enumerate(system.cases):
        lines += value_lines(case, number)
    for k in range(TURNS + 1):
        for number, case in enumerate(system.cases):
            for biased in (1, 0) if k % 2 else (0, 1):
                lines += turn(number, case, biased)
    return "\n".join(lines) + "\n"


def list_of(output):
    """Return whether the compute uses LAMMPS' neighbor list, by the line that it prints during setup."""
    line = re.search(r"^Compute coord/\w+ cv: .*", output, re.M)
    if not line:
        raise ValueError("the compute cv printed no setup line:\n" + output)
    return "shared" if "pairs of LAMMPS' neighbor list" in line.group() else "own"


def measure(bench, system, settings):
    """Yield the cells of a row for each case."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        output = bench.lammps(folder, script_of(system), *words_of(bench, settings))
    took, copied, lists = {}, {}, {}
    for (number, biased, natoms), seconds, part in runs_of(output):
        took.setdefault((number, biased), []).append(1e3 * seconds / system.steps)
        if biased:
            words = re.findall(r"copied to and from the GPU: ([0-9.e+]+) bytes per step", part)
            copied[number] = round(sum(map(float, words))) if words else None
            lists[number] = list_of(part)
    for number, case in enumerate(system.cases):
        before, after = took[number, 0][1:], took[number, 1][1:]
        without, biased = statistics.median(before), statistics.median(after)
        added = median_difference(before, after)
        yield (system.name, natoms, case.bias, lists[number], *settings_of(bench, settings), system.rebuild, without, biased, added,
               100 * added.value / biased, per_day(system.femtoseconds, without), per_day(system.femtoseconds, biased),
               copied[number])


def run(bench, system):
    table = bench.table("steps", "system", "atoms", "bias", "pairs", "newton", "neigh", "steps between lists", "ms without",
                        "ms with", "ms added", "% of the step", "ns/day without", "ns/day with", "bytes copied per step",
                        precision="mixed", spread=SPREAD, lammps=True, gpus="g" in bench.kokkos())
    for settings in system.settings:
        for row in measure(bench, system, settings):
            table.row(*row)


def edges(bench, minimum, *lengths):
    return tuple(bench.size(length, minimum) for length in lengths)


def water(bench):
    run(bench, water_of(bench, edges(bench, 1, 5, 5, 4)))


def mw(bench):
    run(bench, mw_of(bench, edges(bench, 4, 30, 30, 30)))


def al(bench):
    run(bench, al_of(bench, edges(bench, 5, 40, 40, 40)))


def mo(bench):
    run(bench, mo_of(bench, edges(bench, 5, 20, 20, 40)))


def w(bench):
    run(bench, w_of(bench, edges(bench, 5, 20, 20, 40)))


def lj(bench):
    run(bench, lj_of(bench, edges(bench, 4, 63, 63, 63)))
