"""Parts real-NAME-plumed: the systems of real.py, smaller, with a bias by fix coord/bias and by LAMMPS' fix plumed.

Both run in one process of one build with KOKKOS. fix plumed has no KOKKOS variant, so LAMMPS copies
positions and forces in each timestep, and PLUMED computes on the cores of the host with one thread on
each (PLUMED_NUM_THREADS), with a neighbor list where it has one, and the same range and switching
function. Before the runs S and the forces of both biases are compared at the same positions. Table
steps has milliseconds of a step and this difference, and table days has ns/day and the use of the GPU
by nvidia-smi. A STRIDE of 5 evaluates the bias in every fifth step.

The environment has PLUMED_KERNEL, the PLUMED library, and PLUMED_PLUGIN, LAMMPS' plumedplugin.so.

Seconds on one H200 with 16 cores, estimated from the times of single steps: water 60, mw 60, al 120,
mo 120, lj 100.
"""

import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass

import real
from launch import GpuUse
from results import Number

LARGEST_DIFFERENCE = 1e-5    # of S and of forces, relative to the largest; the variable is mixed
TURNS = 3    # of LAMMPS alone and of our bias


@dataclass
class Peer:
    system: real.System
    bias: str    # in words
    group: str
    variable: str
    plumed: str    # defines s; {natoms}: number of atoms
    factor: float    # PLUMED's s over S
    steps: int    # of a run without PLUMED: about two seconds on a GPU, to see its use
    plumed_steps: int    # of a run with it: about twenty seconds
    units: str
    strides: tuple = (1,)


UNITS = {"real": "UNITS LENGTH=A ENERGY=kcal/mol TIME=fs", "metal": "UNITS LENGTH=A ENERGY=eV TIME=ps", "lj": "UNITS NATURAL"}


def environments(structure, a, sigma, cutoff):
    """Return the words of our compute and PLUMED's. Only diamond has several environments, and PLUMED takes LAMBDA only there."""
    several = " LAMBDA=100" if structure == "diamond" else ""
    return (f"coord/envsim structure {structure} {a} sigma {sigma} cutoff {cutoff} norm mean",
            f"e: ENVIRONMENTSIMILARITY SPECIES=1-{{natoms}} CRYSTAL_STRUCTURE={structure.upper()} LATTICE_CONSTANTS={a} "
            f"SIGMA={sigma} CUTOFF={cutoff}{several} MEAN\ns: COMBINE ARG=e_mean PERIODIC=NO\n")


def water_of(bench):
    copies = real.edges(bench, 1, 2, 2, 2)
    number = copies[0] * copies[1] * copies[2]
    # The data file has the oxygens 1, 4, ..., 2998 and the Na+ 3001 to 3018.
    starts = [3036 * k for k in range(number)]
    na, ow = (",".join(f"{start + first}-{start + last}{more}" for start in starts)
              for first, last, more in ((3001, 3018, ""), (1, 2998, ":3")))
    return Peer(real.water_of(bench, copies), "coordination of Na+ with O", "na",
                "coord/gpu group2 ow switch cubic d0 2.4 dmax 4.0 norm mean",
                f"c: COORDINATION GROUPA={na} GROUPB={ow} NLIST NL_CUTOFF=6 NL_STRIDE=10 SWITCH={{{{CUBIC D_0=2.4 D_MAX=4.0}}}}\n"
                f"s: COMBINE ARG=c COEFFICIENTS={1 / (18 * number)!r} PERIODIC=NO\n", 1.0, 1500, 200, "real", (1, 5))


def mw_of(bench):
    ours, theirs = environments("diamond", 6.26, 0.55, 4)
    return Peer(real.mw_of(bench, real.edges(bench, 4, 12, 12, 12)), "envsim diamond", "all", ours, theirs, 1.0, 15_000, 20, "real",
                (1, 5))


def al_of(bench):
    ours, theirs = environments("fcc", 4.12, 0.4, 8)
    return Peer(real.al_of(bench, real.edges(bench, 5, 14, 14, 14)), "envsim fcc", "all", ours, theirs, 1.0, 10_000, 20, "metal")


def mo_of(bench):
    ours, theirs = environments("bcc", 3.2, 0.3, 8)
    return Peer(real.mo_of(bench, real.edges(bench, 5, 20, 20, 20)), "envsim bcc", "all", ours, theirs, 1.0, 1000, 20, "metal")


def lj_of(bench):
    switch = "SWITCH={{CUBIC D_0=1.2 D_MAX=1.5}}"
    # PLUMED's Q6 lacks sqrt(4 pi/13).
    return Peer(real.lj_of(bench, real.edges(bench, 5, 10, 10, 10)), "averaged q6", "all",
                "coord/orientorder l 6 switch cubic d0 1.2 dmax 1.5 order average norm mean",
                f"q: Q6 SPECIES=1-{{natoms}} {switch}\na: LOCAL_AVERAGE SPECIES=q {switch} MEAN\n"
                "s: COMBINE ARG=a_mean PERIODIC=NO\n", 1.0171072, 30_000, 20, "lj")


# ---------------------------------------------------------------- the script

def variable_of(peer):
    return f"compute cv {peer.group} {peer.variable} precision mixed"


def script_of(bench, peer):
    steps = bench.steps(peer.steps)
    ours = [variable_of(peer), "fix b all coord/bias c_cv harmonic k ${k} s0 ${s0}"]

    def plumed_input(name, stride, printed):
        """Return a command that writes an input for the strength and center of our bias."""
        text = UNITS[peer.units] + "\n" + peer.plumed.format(natoms="$(count(all):%.0f)")
        text += f"r: RESTRAINT ARG=s AT=$(v_s0*{peer.factor}:%.15g) KAPPA=$(v_k/{peer.factor**2!r}:%.15g) STRIDE={stride}\n" + printed
        return f'print """{text}""" file {name}.dat'

    def theirs(name):
        return [f"fix b all plumed plumedfile {name}.dat outfile {name}.log"]

    def forces(name):
        return f"write_dump all custom {name}.forces id fx fy fz modify sort id format float %.17g"

    lines = [f"plugin load {os.path.abspath(os.environ['PLUMED_PLUGIN'])}", peer.system.setup, variable_of(peer),
             "thermo_style custom step c_cv", "run 0", forces("without"), 'print "value $(c_cv:%.15g) $(count(all):%.0f)"',
             f"variable k equal count({peer.group})", "variable s0 equal $(c_cv+0.1:%.15g)", "thermo_style one", "uncompute cv",
             # Without fix shake, whose forces depend on those of the bias
             *ours, "run 0", forces("ours"), "unfix b", "uncompute cv",
             plumed_input("compared", 1, "PRINT ARG=s FILE=COLVAR FMT=%.15g\n"), *theirs("compared"), "run 0", forces("theirs"),
             "unfix b", 'print "compared"', f"thermo {steps}"]

    def timed(number, begin, n, end):
        run = [f'print "bench {number}" file begin.{number}', f"run {n}", f'print "" file end.{number}']
        return real.turn_lines(peer.system, begin, run, end)

    for turn in range(TURNS):
        lines += timed(10 * turn, [], steps, []) + timed(10 * turn + 1, ours, steps, ["unfix b", "uncompute cv"])
    for number, stride in enumerate(peer.strides, 101):
        lines += [plumed_input(f"timed{stride}", stride, ""), *timed(number, theirs(f"timed{stride}"), steps_of_plumed(bench, peer), ["unfix b"])]
    return "\n".join(lines) + "\n"


def steps_of_plumed(bench, peer):
    return peer.plumed_steps if bench.scale == 1 else 20


def read_forces(path):
    """Return the components of all forces of a dump, in the order of IDs."""
    with open(path) as file:
        lines = file.read().split("ITEM: ATOMS")[1].splitlines()[1:]
    return [float(word) for line in lines for word in line.split()[1:]]


def compare(folder, output, peer):
    """Return the largest relative differences of S and forces. End with an error if they are too large."""
    mine = float(re.search(r"^value (\S+)", output, re.M).group(1))
    with open(os.path.join(folder, "COLVAR")) as file:
        values = [float(line.split()[1]) for line in file if not line.startswith("#")]
    without, ours, theirs = (read_forces(os.path.join(folder, name + ".forces")) for name in ("without", "ours", "theirs"))
    largest = max(abs(f - f0) for f, f0 in zip(ours, without))
    if largest == 0:
        sys.exit(f"{peer.system.name}: the bias has no forces, so the comparison shows nothing")
    found = (abs(values[-1] / peer.factor / mine - 1), max(abs(f - g) for f, g in zip(ours, theirs)) / largest)
    if not max(found) <= LARGEST_DIFFERENCE:
        sys.exit(f"{peer.system.name}: S and forces of fix plumed differ by {found[0]:.1e} and {found[1]:.1e} from those of "
                 f"fix coord/bias, more than {LARGEST_DIFFERENCE:g}")
    return found


def measure(bench, peer):
    """Return the number of atoms, differences of S and forces, and milliseconds and use of the GPU by 'without', 'with' and
    stride."""
    os.environ["PLUMED_NUM_THREADS"] = str(bench.threads)
    settings = peer.system.settings[0]
    with tempfile.TemporaryDirectory() as folder:
        real.write_files(folder)
        with GpuUse() as use:
            try:
                output = bench.lammps(folder, script_of(bench, peer), *real.words_of(bench, settings))
            except SystemExit as ended:    # with threads PLUMED may crash at the end, after its runs
                output = str(ended)
        keys = dict((10 * turn + biased, "with" if biased else "without") for turn in range(TURNS) for biased in (0, 1))
        keys.update(enumerate(peer.strides, 101))
        runs = [(numbers[0], seconds) for numbers, seconds, part in real.runs_of(output) if "Loop time of" in part]
        if not re.search("^compared", output, re.M) or [number for number, _ in runs] != sorted(keys):
            sys.exit(output)
        differences = compare(folder, output, peer)
        took, used = {}, {}
        for number, seconds in runs:
            steps = steps_of_plumed(bench, peer) if number > 100 else bench.steps(peer.steps)
            took.setdefault(keys[number], []).append(1e3 * seconds / steps)
            window = (os.path.getmtime(os.path.join(folder, f"{name}.{number}")) for name in ("begin", "end"))
            used.setdefault(keys[number], []).extend(use.between(*window))
        natoms = int(re.search(r"^value \S+ (\d+)", output, re.M).group(1))
    return natoms, differences, took, {key: statistics.median(samples) if samples else None for key, samples in used.items()}


def run(bench, peer):
    natoms, differences, took, used = measure(bench, peer)
    system, gpus = peer.system, "g" in bench.kokkos()
    without, ours = (statistics.median(took[key]) for key in ("without", "with"))
    spread = "half the range of the runs"
    half_range = lambda samples: (max(samples) - min(samples)) / 2
    table = bench.table("steps", "system", "atoms", "bias", "STRIDE of PLUMED", "threads of PLUMED", "newton", "neigh", "ms without",
                        "ms with", "ms, fix plumed", "times faster", "difference of S", "difference of forces", precision="mixed",
                        spread=spread, lammps=True, gpus=gpus)
    for stride in peer.strides:
        theirs = statistics.median(took[stride])
        table.row(system.name, natoms, peer.bias, stride, bench.threads, *real.settings_of(bench, system.settings[0]),
                  Number(without, half_range(took["without"])), Number(ours, half_range(took["with"])), theirs, theirs / ours,
                  *differences)
    if not system.femtoseconds:
        return
    table = bench.table("days", "system", "atoms", "bias", "ns/day", "with our bias", "with fix plumed", "GPU use, %",
                        "with our bias, %", "with fix plumed, %", precision="mixed", lammps=True, gpus=gpus)
    theirs = statistics.median(took[1])
    table.row(system.name, natoms, peer.bias, *(real.per_day(system.femtoseconds, ms) for ms in (without, ours, theirs)),
              *(used.get(key) for key in ("without", "with", 1)))


def water(bench):
    run(bench, water_of(bench))


def mw(bench):
    run(bench, mw_of(bench))


def al(bench):
    run(bench, al_of(bench))


def mo(bench):
    run(bench, mo_of(bench))


def lj(bench):
    run(bench, lj_of(bench))
