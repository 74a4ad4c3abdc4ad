"""Part kokkos: the time that a bias adds to a KOKKOS timestep whose data are resident on the GPU.

The systems are melts of density 0.8442 (LAMMPS' bench/in.lj: T 1.44, cutoff 2.5, skin 0.3, neighbor
lists rebuilt every 20 steps, fix nve), and Na+ and Cl- in SPC/Fw water. The variable is coord/gpu,
coord/orientorder or coord/envsim with norm mean, or coord/pairentropy, which needs ghost atoms to
3.2; the bias is weak and close to the current S. Runs without and with each bias take turns in one
process, in alternating order, so that both meet the same clocks and the same drift. The numbers are
medians of LAMMPS' own times.
"""

import os
import random
import re
import statistics
import tempfile
from dataclasses import dataclass

from results import Number

SPREAD = "the standard error of the median of paired differences"
TURNS = 6    # counted turns, after one warm-up; even, since the order alternates
EQUILIBRATION = 500    # steps; a crystal of this temperature has melted by then

MELT = """
units lj
lattice fcc 0.8442
region box block 0 {nx} 0 {ny} 0 {nz}
create_box 1 box
create_atoms 1 box
mass 1 1.0
region cube block -0.1 {cube} -0.1 {cube} -0.1 {cube}
region ball sphere {ball}
group cube region cube
group ball region ball
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
comm_modify cutoff {ghosts}
fix move all nve
run {equilibration}
"""

# One Na+ and one Cl- in flexible SPC/Fw water (Wu, Tepper and Voth, J. Chem. Phys. 124, 024503,
# 2006), ten times, with the damped shifted force for charges. Water starts on a lattice with the
# density of the liquid, in random orientations.
WATER = """
units real
atom_style full
pair_style lj/cut/coul/dsf 0.2 9.0
pair_modify mix arithmetic
bond_style harmonic
angle_style harmonic
lattice sc 3.107
region box block 0 {nx} 0 {ny} 0 {nz}
region na sphere {x} {y} {low} 0.1 side out
region cl sphere {x} {y} {high} 0.1 side out
region water intersect 2 na cl
create_box 4 box bond/types 1 angle/types 1 extra/bond/per/atom 2 extra/angle/per/atom 1 extra/special/per/atom 2
molecule water water.txt
create_atoms 0 region water mol water 4711
create_atoms 3 single {x} {y} {low}
create_atoms 4 single {x} {y} {high}
mass 1 15.9994
mass 2 1.008
mass 3 22.98977
mass 4 35.453
set type 3 charge 1
set type 4 charge -1
pair_coeff 1 1 0.1554253 3.165492
pair_coeff 2 2 0 0
pair_coeff 3 3 0.3526418 2.159538
pair_coeff 4 4 0.0127850 4.830453
bond_coeff 1 529.581 1.012
angle_coeff 1 37.95 113.24
neighbor 2.0 bin
neigh_modify every 10 delay 0 check no
group na type 3
group ow type 1
velocity all create 300 87287
fix move all nve
fix heat all langevin 300 300 20 4711
timestep 0.5
run {equilibration}
unfix heat
replicate {replicate}
run 100
"""

WATER_MOLECULE = """SPC/Fw water

3 atoms
2 bonds
1 angles

Coords

1 0.0 0.0 0.0
2 0.55680 0.84503 0.0
3 0.55680 -0.84503 0.0

Types

1 1
2 2
3 2

Charges

1 -0.82
2 0.41
3 0.41

Bonds

1 1 1 2
2 1 1 3

Angles

1 1 2 1 3

Special Bond Counts

1 2 0 0
2 1 1 0
3 1 1 0

Special Bonds

1 2 3
2 1 3
3 1 2
"""

RATIONAL = "coord/gpu switch rational 1.5 nn 6 mm 12 dmax 2.5 norm mean"
FUNCTION = RATIONAL + " function more_than rational 13.6 nn 12 mm 24"    # counts half of the atoms
Q6 = "coord/orientorder l 6 switch cubic d0 1.2 dmax 1.5 norm mean order "
FCC = "coord/envsim structure fcc 1.68 sigma 0.16 norm mean"
ENTROPY = "coord/pairentropy cutoff 2.5 sigma 0.05 bins 100"
KERNELS = (340, 5000)    # of OPES, from a file
# Biases for v_n atoms with the variable at v_s.
HARMONIC = "harmonic k $(0.1*v_n) s0 $(v_s+0.1)"
LINEAR = "linear k $(0.01*v_n)"
METAD = "metad sigma 0.05 height $(0.001*v_n) pace 500 grid $(v_s-2) $(v_s+2) bins 400 file HILLS"
OPES = "opes barrier 15 pace 500 temp 1.44 sigma 0.05 threshold 0 append yes file KERNELS.{}"


@dataclass
class Case:
    bias: str
    fixes: tuple = (HARMONIC,)
    group: str = "all"
    variable: str = RATIONAL
    precision: str = "mixed"
    expression: str = ""    # the bias acts on this function of the variable s; "": on s itself
    table: str = "coordination"


@dataclass
class System:
    name: str
    setup: str
    steps: int    # steps per run, a multiple of the rebuild interval
    cases: tuple
    turns: int = TURNS


def write_kernels(path, count):
    """Write kernels over the coordination numbers of the melt, which are not merged."""
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("#! FIELDS time cv sigma_cv height logweight\n#! SET action OPES_METAD_kernels\n")
        for _ in range(count):
            file.write(f" 0 {draw.uniform(5, 9)!r} 0.1 1.0 0.0\n")


def melt_of(edges, equilibration, cube=1, ball="1 1 1 1", ghosts=2.8):
    """Return commands for a melt with edges in unit cells of 4 atoms."""
    nx, ny, nz = edges
    return MELT.format(nx=nx, ny=ny, nz=nz, cube=cube, ball=ball, ghosts=ghosts, equilibration=equilibration)


def systems(bench):
    scale = bench.scale

    def melt(edge, steps, *cases, ghosts=2.8):
        ball = " ".join(str(scale * number) for number in (7.1, 7.05, 7.02, 3.514))    # 718 atoms
        setup = melt_of((bench.size(edge, 4),) * 3, bench.steps(EQUILIBRATION), 10 * scale - 0.1, ball, ghosts)
        return System("LJ melt", setup, bench.steps(steps), cases)

    def opes_cases():
        """Metadynamics on a grid, and OPES with as many kernels as after short and very long runs."""
        return (Case("metad, grid", (METAD,), table="opes"),
                *(Case(f"OPES, {count:,} kernels", (OPES.format(count),), table="opes") for count in KERNELS))

    def function_case():
        return Case("harmonic, function more_than", variable=FUNCTION, table="function")

    def order_cases():
        return (*(Case(f"harmonic, q6 {order}", variable=Q6 + order, table="orders") for order in ("local", "average", "dot")),
                Case("harmonic, envsim fcc", variable=FCC, table="orders"))

    def entropy_case():
        return Case("harmonic, pair entropy", variable=ENTROPY, table="orders")

    nx, ny, nz = (bench.size(edge, 8) for edge in (25, 10, 40))
    water = WATER.format(nx=nx, ny=ny, nz=nz, x=nx // 2, y=ny // 2, low=nz // 4, high=3 * nz // 4,
                         replicate="2 5 1" if scale == 1 else "2 1 1", equilibration=bench.steps(EQUILIBRATION))
    return (
        melt(14, 4000, Case("harmonic", group="ball")),
        melt(20, 2000,
             Case("harmonic"),
             Case("harmonic of an expression", expression="s+1e-9*s^2"),
             *opes_cases(), function_case(), *order_cases()),
        melt(20, 2000, entropy_case(), ghosts=3.2),
        melt(40, 400,
             Case("harmonic"),
             Case("linear", (LINEAR,)),
             Case("metad, grid", (METAD,)),
             *opes_cases(),
             Case("harmonic and linear of one variable", (HARMONIC, LINEAR)),
             Case("harmonic, double", precision="double"),
             Case("harmonic", group="cube")),
        melt(63, 200, Case("harmonic"), function_case(), *order_cases()),
        melt(63, 200, entropy_case(), ghosts=3.2),
        # For new neighbor lists of the water, LAMMPS copies arrays of 11 MB between host and GPU, and
        # its times scatter.
        System("SPC/Fw water", water, bench.steps(200), (
            Case("harmonic", ("harmonic k 10 s0 $(v_s+0.5)",), "na",
                 "coord/gpu group2 ow switch cubic d0 2.9 dmax 3.5 norm mean"),), turns=20))


def script_of(system):
    def define(number, case):
        """Define $(v_n) and $(v_s): the number of atoms of the group, and S after the setup."""
        return [f"variable n equal count({case.group})", f"variable s equal v_s{number}",
                f"compute cv {case.group} {case.variable} precision {case.precision}",
                *([f'compute e all coord/custom "{case.expression}" s c_cv'] if case.expression else []),
                *(f"fix b{k} all coord/bias c_{'e' if case.expression else 'cv'} {words}"
                  for k, words in enumerate(case.fixes))]

    def run(number, case, biased):
        return [f'print "bench {number} {biased} $(count(all)) $(count({case.group}))"', f"run {system.steps}"]

    lines = [system.setup, f"thermo {system.steps}"]
    for number, case in enumerate(system.cases):
        lines += [f"compute cv {case.group} {case.variable}", "thermo_style custom step c_cv", "run 0",
                  f"variable s{number} equal $(c_cv)", "thermo_style one", "uncompute cv"]
    for turn in range(system.turns + 1):
        for number, case in enumerate(system.cases):
            without = run(number, case, 0)
            biased = [*define(number, case), *run(number, case, 1),
                      *(f"unfix b{k}" for k in range(len(case.fixes))), *["uncompute e"] * bool(case.expression),
                      "uncompute cv"]
            lines += without + biased if turn % 2 else biased + without
    return "\n".join(lines) + "\n"


@dataclass
class Found:
    """Results of a case: atoms, atoms of the group, milliseconds of a step without and with the bias,
    added milliseconds, bytes copied."""
    atoms: int
    members: int
    without: float
    biased: float
    added: Number
    copied: float


def median_difference(before, after):
    """Return the median of paired differences, with its standard error for normal differences."""
    low, median, high = statistics.quantiles((b - a for a, b in zip(before, after)), n=4)
    return Number(median, (high - low) / 2 * 1.86 / len(before)**0.5)


def runs_of(output):
    """Yield for each run after a line 'bench NUMBER ...': these numbers, its seconds, its output."""
    for part in re.split(r"^bench (?=[0-9])", output, flags=re.M)[1:]:
        numbers = [int(word) for word in part.split("\n", 1)[0].split()]
        yield numbers, float(re.search(r"^Loop time of (\S+)", part, re.M).group(1)), part


def measure(bench, kokkos, system, ranks=1):
    """Return the results for each case of a system."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "water.txt"), "w") as file:
            file.write(WATER_MOLECULE)
        for count in KERNELS:
            write_kernels(os.path.join(folder, f"KERNELS.{count}"), count)
        output = bench.lammps(folder, script_of(system), "-k", *kokkos, "-sf", "kk", ranks=ranks)
    took, copied, atoms = {}, {}, {}
    for (number, biased, *counts), seconds, part in runs_of(output):
        took.setdefault((number, biased), []).append(1e3 * seconds / system.steps)
        if biased:
            atoms[number] = counts
            words = re.findall(r"copied to and from the GPU: ([0-9.e+]+) bytes per step", part)
            copied[number] = round(sum(float(word) for word in words)) if words else None
    found = []
    for number in range(len(system.cases)):
        without, biased = took[number, 0][1:], took[number, 1][1:]
        found.append(Found(*atoms[number], statistics.median(without), statistics.median(biased),
                           median_difference(without, biased), copied[number]))
    return found


def run(bench):
    rows = {}
    for system in systems(bench):
        for case, f in zip(system.cases, measure(bench, bench.kokkos(), system)):
            rows.setdefault(case.table, []).append(
                (system.name, f.atoms, f.members, case.bias, f.without, f.biased, f.added, f.copied))
    for name, found in rows.items():
        table = bench.table(name, "system", "atoms", "group", "bias", "ms without", "ms with", "ms added",
                            "bytes copied per step", precision="mixed", spread=SPREAD, lammps=True,
                            gpus="g" in bench.kokkos())
        for row in found:
            table.row(*row)
