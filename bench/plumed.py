"""Parts plumed, geometry and fix-plumed: biases by fix coord/plumed in a KOKKOS run.

Part plumed is of the KOKKOS melt of kokkos.py: the time that a harmonic bias adds to a step by
fix coord/bias, by PLUMED's RESTRAINT, by RESTRAINT with a wall on the distance of two atoms, and by
OPES_METAD. All take turns in one process, in alternating order. Part geometry does the same with
variables of compute coord/geometry, and with PLUMED computing them on the host. Part fix-plumed is of
the same melt in smaller boxes, of the coordination between two halves of the atoms, next to LAMMPS'
fix plumed, where PLUMED computes the same number on the host: milliseconds of a whole step. fix plumed
runs without KOKKOS, with a thread of PLUMED on each core. The environment has PLUMED_KERNEL, the
PLUMED library, and for part fix-plumed PLUMED_PLUGIN, LAMMPS' plumedplugin.so.
"""

import os
import re
import statistics
import tempfile

from kokkos import EQUILIBRATION, RATIONAL, SPREAD, median_difference, melt_of, runs_of
from results import Number

TURNS = 12
EDGES = {256_000: 40, 10_976: 14, 48_668: 23}
STEPS = {256_000: 400, 10_976: 2000, 48_668: 1000}
FIX_PLUMED_STEPS = {10_976: 100, 48_668: 20}

VARIABLE = f"compute cv all {RATIONAL} precision mixed"
# PLUMED 2.11-dev crashes in COORDINATION of one group of 42,592 atoms. Two groups work.
OF_TWO_GROUPS = (f"group odd id 1:{{n}}:2\ngroup even id 2:{{n}}:2\n"
                 f"compute cv odd {RATIONAL} precision mixed group2 even")
PLUMED_INPUTS = {
    "restraint": "s: EXTRACV NAME=cv\nr: RESTRAINT ARG=s AT={s0} KAPPA={k}\n",
    "distance": "s: EXTRACV NAME=cv\nr: RESTRAINT ARG=s AT={s0} KAPPA={k}\n"
                "d: DISTANCE ATOMS=1,1000\nw: RESTRAINT ARG=d AT=5 KAPPA=1\n",
    "opes": "s: EXTRACV NAME=cv\no: OPES_METAD ARG=s PACE=500 BARRIER=10 TEMP=1.44 SIGMA=0.05\n",
    "coordination": "s: COORDINATION GROUPA=1-{n}:2 GROUPB=2-{n}:2 NLIST NL_CUTOFF=2.8 NL_STRIDE=20 "
                    "SWITCH={{RATIONAL R_0=1.5 NN=6 MM=12 D_MAX=2.5}}\n"
                    "m: CUSTOM ARG=s FUNC=2*x/{n} PERIODIC=NO\nr: RESTRAINT ARG=m AT={s0} KAPPA={k}\n",
}
# name, fix
CASES = (("harmonic", "coord/bias c_cv harmonic k {k} s0 {s0}"),
         ("RESTRAINT", "coord/plumed c_cv plumedfile restraint.dat outfile restraint.log"),
         ("RESTRAINT, and of a distance", "coord/plumed c_cv plumedfile distance.dat outfile distance.log"),
         ("OPES_METAD", "coord/plumed c_cv plumedfile opes.dat outfile opes.log"))


def melt(bench, n):
    edge = bench.size(EDGES[n], 7)    # an input names atom 1000
    # PLUMED's atoms are found by their IDs.
    return "atom_modify map array\n" + melt_of((edge,) * 3, bench.steps(EQUILIBRATION)), 4 * edge**3


def write_inputs(folder, natoms, s0):
    numbers = {"n": natoms, "s0": s0, "k": 0.1 * natoms}
    for name, text in PLUMED_INPUTS.items():
        with open(os.path.join(folder, name + ".dat"), "w") as file:
            file.write(text.format(**numbers))
    return {key: f"{value:.15g}" for key, value in numbers.items()}


def times_of(output, steps):
    """Return milliseconds of a step, by case, in the order of the runs."""
    took = {}
    for (number,), seconds, _ in runs_of(output):
        took.setdefault(number, []).append(1e3 * seconds / steps)
    return took


def value_of(bench, folder, setup, variable):
    script = "\n".join([setup, variable, "thermo_style custom step c_cv", "run 0"])
    return float(re.findall(r"^ +\d+ +(\S+) *$", with_kokkos(bench, folder, script), re.M)[-1])


def with_kokkos(bench, folder, script):
    return bench.lammps(folder, script, "-k", *bench.kokkos(), "-sf", "kk")


def compared(bench, folder, lines, fixes, steps):
    """Return times, and bytes copied per step, by the number of the fix from 1; 0: without a bias."""
    for turn in range(TURNS + 1):
        order = list(enumerate(fixes, 1))
        for number, fix in reversed(order) if turn % 2 else order:
            lines = [*lines, f"fix b all {fix}", f'print "bench {number}"', f"run {steps}", "unfix b"]
        lines = [*lines, 'print "bench 0"', f"run {steps}"]
    output = with_kokkos(bench, folder, "\n".join(lines))
    copied = {}
    for (number,), _, part in runs_of(output):
        found = re.search(r"^Fix coord/\w+ b: copied to and from the GPU: (\S+) bytes", part, re.M)
        copied[number] = round(float(found.group(1))) if found else None
    return {number: times[1:] for number, times in times_of(output, steps).items()}, copied


def biases(bench):
    steps = bench.steps(STEPS[256_000])
    setup, natoms = melt(bench, 256_000)
    with tempfile.TemporaryDirectory() as folder:
        numbers = write_inputs(folder, natoms, value_of(bench, folder, setup, VARIABLE) + 0.1)
        took, copied = compared(bench, folder, [setup, VARIABLE, f"thermo {steps}"],
                                [fix.format(**numbers) for _, fix in CASES], steps)
    table = bench.table("biases", "atoms", "bias", "ms per step", "ms added", "ms over harmonic", "bytes copied per step",
                        precision="mixed", spread=SPREAD, lammps=True, gpus="g" in bench.kokkos())
    table.row(natoms, "none", statistics.median(took[0]), None, None, None)
    for number, (name, _) in enumerate(CASES, 1):
        table.row(natoms, name, statistics.median(took[number]), median_difference(took[0], took[number]),
                  median_difference(took[1], took[number]) if number > 1 else None, copied[number])


def geometry(bench):
    """Harmonic biases on compute coord/geometry, and the same by PLUMED, which computes the variables on the host."""
    steps = bench.steps(STEPS[256_000])
    setup, natoms = melt(bench, 256_000)
    half = natoms // 2
    chain = [range(k, k + 4) for k in range(1, 1001)]
    torsions = [f"t{k[0]}: TORSION ATOMS={','.join(map(str, k))}\n" for k in chain]
    zeros = ",0" * (len(chain) - 1)
    groups = f"group low id <= {half}\ngroup high id > {half}"
    # name, compute, fix coord/bias, input of PLUMED
    variables = (
        ("a dihedral of four atoms", "dihedral 1 2 3 4", "c_v harmonic k 1 s0 1", torsions[0] + "r: RESTRAINT ARG=t1 AT=1 KAPPA=1\n"),
        (f"the distance of two centers of {half:,} atoms", "distance low high image none", "c_v harmonic k 1 s0 30",
         f"a: COM ATOMS=1-{half}\nb: COM ATOMS={half + 1}-{natoms}\nd: DISTANCE ATOMS=a,b NOPBC\n"
         "r: RESTRAINT ARG=d AT=30 KAPPA=1\n"),
        ("one of 1,000 dihedrals", "file items.txt", "c_v[1] harmonic k 1 s0 1",
         "".join(torsions) + f"r: RESTRAINT ARG={','.join(f't{k[0]}' for k in chain)} AT=1{zeros} KAPPA=1{zeros}\n"))
    table = bench.table("geometry", "atoms", "variable", "ms per step without", "ms added", "bytes copied per step",
                        "ms added, PLUMED", "bytes copied per step, PLUMED", precision="double", spread=SPREAD, lammps=True,
                        gpus="g" in bench.kokkos())
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "items.txt"), "w") as file:
            file.writelines(f"dihedral {' '.join(map(str, k))}\n" for k in chain)
        for name, items, words, plumed in variables:
            with open(os.path.join(folder, "geometry.dat"), "w") as file:
                file.write(plumed)
            row = []
            for fix, n in ((f"coord/bias {words}", steps), ("coord/plumed plumedfile geometry.dat outfile geometry.log", max(20, steps // 10))):
                lines = [setup, groups, f"compute v all coord/geometry {items}", f"thermo {n}"]
                took, copied = compared(bench, folder, lines, [fix], n)
                row += [] if row else [statistics.median(took[0])]
                row += [median_difference(took[0], took[1]), copied[1]]
            table.row(natoms, name, *row)


def compared_with_fix_plumed(bench):
    table = bench.table("steps", "atoms", "ms per step, fix coord/plumed", "ms per step, fix plumed", "times faster", precision="mixed",
                        spread="the median minus the fastest run", lammps=True, gpus="g" in bench.kokkos())
    with tempfile.TemporaryDirectory() as folder:
        for n in FIX_PLUMED_STEPS:
            setup, natoms = melt(bench, n)
            variable = OF_TWO_GROUPS.format(n=natoms)
            numbers = write_inputs(folder, natoms, value_of(bench, folder, setup, variable) + 0.1)
            steps, peers = bench.steps(STEPS[n]), max(20, FIX_PLUMED_STEPS[n])
            ours = [setup, variable, f"fix b all {CASES[1][1].format(**numbers)}"]
            ours += ['print "bench 0"', f"run {steps}"] * 4
            theirs = [f"plugin load {os.path.abspath(os.environ['PLUMED_PLUGIN'])}", setup,
                      "fix b all plumed plumedfile coordination.dat outfile coordination.log"]
            theirs += ['print "bench 0"', f"run {peers}"] * 2
            mine = times_of(with_kokkos(bench, folder, "\n".join(ours)), steps)[0][1:]
            os.environ["PLUMED_NUM_THREADS"] = str(bench.threads)
            try:
                output = bench.lammps(folder, "\n".join(theirs), threads=bench.threads)
            except SystemExit as ended:    # with threads of PLUMED the plugin crashes at the end, after its runs
                output = str(ended)
            other = times_of(output, peers)[0][-1]
            table.row(natoms, Number(min(mine), statistics.median(mine) - min(mine)), other, other / min(mine))
