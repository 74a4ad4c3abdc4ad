#!/usr/bin/env python3
"""Prints the benchmark tables of fix coord/plumed.

The first table is of the KOKKOS melt of kokkos.py: the time that a harmonic bias adds to a step by
fix coord/bias, by PLUMED's RESTRAINT, by RESTRAINT with a wall on the distance of two atoms, and by
OPES_METAD. All take turns in one process, in alternating order. The second table is of the same
melt in smaller boxes, of the coordination between two halves of the atoms, beside LAMMPS' fix
plumed, where PLUMED computes the same number on the host: milliseconds of a whole step. fix plumed
runs without KOKKOS, with a thread of PLUMED on each core.

Usage: plumed.py BUILD_DIR [KOKKOS [SCALE [PLUGIN]]]; BUILD_DIR, KOKKOS and SCALE as in kokkos.py;
PLUGIN is LAMMPS' plumedplugin.so, without which there is no second table. PLUMED_KERNEL names the
PLUMED library.
"""

import os
import re
import statistics
import sys
import tempfile

from kokkos import MELT, RATIONAL, begin, median_difference, runs_of, steps_of
from launch import run_lammps
from run import head, row

TURNS = 12
EDGES = {256_000: 40, 10_976: 14, 48_668: 23}
STEPS = {256_000: 400, 10_976: 2000, 48_668: 1000}
STEPS_OF_PEER = {10_976: 100, 48_668: 20}

VARIABLE = f"compute cv all coord/gpu {RATIONAL} precision mixed"
# PLUMED 2.11-dev crashes in COORDINATION of one group of 42,592 atoms. Two groups work.
OF_TWO_GROUPS = (f"group odd id 1:{{n}}:2\ngroup even id 2:{{n}}:2\n"
                 f"compute cv odd coord/gpu {RATIONAL} precision mixed group2 even")
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


def melt(n, scale):
    edge = max(4, round(EDGES[n] * scale))
    setup = MELT.format(nx=edge, ny=edge, nz=edge, cube=1, ball="1 1 1 1", equilibration=steps_of(500, scale))
    return "atom_modify map array\n" + setup, 4 * edge**3    # PLUMED's atoms are found by their IDs


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


def value_of(lmp, folder, setup, variable, kokkos):
    output = run_lammps(lmp, folder, "\n".join([setup, variable, "thermo_style custom step c_cv", "run 0"]), *kokkos)
    return float(re.findall(r"^ +\d+ +(\S+) *$", output, re.M)[-1])


def added_by_biases(lmp, folder, kokkos, scale):
    steps = steps_of(STEPS[256_000], scale)
    setup, natoms = melt(256_000, scale)
    numbers = write_inputs(folder, natoms, value_of(lmp, folder, setup, VARIABLE, kokkos) + 0.1)
    lines = [setup, VARIABLE, f"thermo {steps}"]
    for turn in range(TURNS + 1):
        order = list(enumerate(CASES))
        for number, (_, fix) in reversed(order) if turn % 2 else order:
            lines += [f"fix b all {fix.format(**numbers)}", f'print "bench {number + 1}"', f"run {steps}", "unfix b"]
        lines += ['print "bench 0"', f"run {steps}"]
    output = run_lammps(lmp, folder, "\n".join(lines), *kokkos)
    took = {number: times[1:] for number, times in times_of(output, steps).items()}
    copied = re.findall(r"^Fix (coord/\w+) b: copied to and from the GPU: (\S+) bytes", output, re.M)
    head("atoms", "bias", "ms of a step", "ms added", "+-", "ms over harmonic", "+-", "ms over the row above", "bytes copied a step")
    row(f"{natoms:,}", "none", statistics.median(took[0]), "", "", "", "", "", "")
    for number, (name, _) in enumerate(CASES, 1):
        differences = [f"{x:+.4f}" for other in (0, 1, number - 1) for x in median_difference(took[other], took[number])]
        mine = copied[number - 1][1] if copied else ""
        row(f"{natoms:,}", name, statistics.median(took[number]), *differences[:5], mine)


def beside_fix_plumed(lmp, folder, kokkos, scale, plugin):
    print()
    head("atoms", "ms of a step, fix coord/plumed", "ms, fix plumed", "times")
    threads = len(os.sched_getaffinity(0))
    for n in STEPS_OF_PEER:
        setup, natoms = melt(n, scale)
        variable = OF_TWO_GROUPS.format(n=natoms)
        numbers = write_inputs(folder, natoms, value_of(lmp, folder, setup, variable, kokkos) + 0.1)
        steps, peers = steps_of(STEPS[n], scale), max(20, STEPS_OF_PEER[n])
        ours = [setup, variable, f"fix b all {CASES[1][1].format(**numbers)}"]
        ours += ['print "bench 0"', f"run {steps}"] * 4
        theirs = [f"plugin load {plugin}", setup, "fix b all plumed plumedfile coordination.dat outfile coordination.log"]
        theirs += ['print "bench 0"', f"run {peers}"] * 2
        mine = min(times_of(run_lammps(lmp, folder, "\n".join(ours), *kokkos), steps)[0][1:])
        os.environ["PLUMED_NUM_THREADS"] = str(threads)
        try:
            output = run_lammps(lmp, folder, "\n".join(theirs), threads=threads)
        except SystemExit as ended:    # with threads of PLUMED the plugin crashes at the end, after its runs
            output = str(ended)
        other = times_of(output, peers)[0][-1]
        row(f"{natoms:,}", mine, other, f"{other / mine:.0f}")


def main():
    why_not = None if os.environ.get("PLUMED_KERNEL") else "PLUMED_KERNEL is not set"
    lmp, words, scale = begin(__doc__, "fix coord/plumed", why_not)
    kokkos = ("-k", *words, "-sf", "kk")
    with tempfile.TemporaryDirectory() as folder:
        added_by_biases(lmp, folder, kokkos, scale)
        if len(sys.argv) > 4:
            beside_fix_plumed(lmp, folder, kokkos, scale, os.path.abspath(sys.argv[4]))


if __name__ == "__main__":
    main()
