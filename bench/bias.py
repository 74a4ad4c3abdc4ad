#!/usr/bin/env python3
"""Prints the benchmark table of fix coord/bias: the time of a step with each kind of bias, and its
excess over the time in which the compute alone computes S and its derivatives.

The system is a jittered simple cubic lattice, rational 6/12 with 65 neighbors, norm mean. It has no
pair potential and no integration, so that nothing else takes time. 8 atoms on the host show the
cost of a bias itself; 46,656 atoms show that this cost is negligible. The time of the compute alone
is a step in which compute reduce requests its derivatives, minus a step in which compute reduce
requests positions. Metadynamics starts from hills files with a hundred and a million hills.

Usage: bias.py BUILD_DIR [device]; device is that of the large system and defaults to auto.
"""

import os
import random
import re
import sys
import tempfile

from launch import run_lammps

SMALL, LARGE = 2, 36    # atoms along an edge of the lattice
STEPS = {SMALL: 20_000, LARGE: 20}    # steps per run; the fastest run counts
RUNS = {SMALL: 5, LARGE: 25}

SCRIPT = """
units lj
atom_modify map array sort 0 0
lattice sc 1.0
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.1 0.1 0.1 4711
pair_style zero 2.5
pair_coeff * *
neighbor 0.3 bin
thermo_modify norm no
compute cv all coord/gpu switch rational 1.2 dmax 2.5 norm mean image all device {device}
{commands}
thermo 100000
thermo_style custom step c_cv
run 0
thermo_style custom step
label loop
variable i loop {runs}
run {steps} post no
next i
jump SELF loop
"""


def measure(lmp, edge, device, commands, folder):
    """Return microseconds of a step, and S."""
    steps = STEPS[edge]
    script = SCRIPT.format(edge=edge, device=device, commands=commands, steps=steps, runs=RUNS[edge])
    output = run_lammps(lmp, folder, script, threads=1 if edge == SMALL else None)
    seconds = [float(text) for text in re.findall(r"^Loop time of (\S+)", output, re.M)]
    value = float(re.search(r"^ +0 +(\S+) *$", output, re.M).group(1))
    return 1e6 * min(seconds[1:]) / steps, value


def write_hills(path, count, center):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("#! FIELDS time cv sigma_cv height biasf\n#! SET multivariate false\n"
                   "#! SET kerneltype stretched-gaussian\n")
        for k in range(count):
            file.write(f" {k} {draw.gauss(center, 0.5)!r} 0.1 {1.0 / count!r} -1\n")


def table(lmp, edge, device, folder):
    """Print the rows of one system, in microseconds."""
    ask = "compute r all reduce max {}\nfix r all ave/time 1 1 1 c_r"
    empty, s = measure(lmp, edge, device, "", folder)
    alone = measure(lmp, edge, device, ask.format("c_cv[2]"), folder)[0] - measure(
        lmp, edge, device, ask.format("x"), folder)[0] + empty
    print(f"| {edge**3:,} | none, nor the compute | {empty:.1f} | |\n"
          f"| {edge**3:,} | none: the compute alone | {alone:.1f} | |", flush=True)
    limits = f"grid {s - 5} {s + 5} bins 200"
    files = {}
    for count in (100, 10_000, 1_000_000):
        files[count] = os.path.join(folder, f"HILLS.{count}")
        write_hills(files[count], count, s)
    metad = "metad sigma 0.1 height 0.001 pace"
    kinds = {
        "harmonic": f"harmonic k 1 s0 {s + 1}",
        "moving": f"moving k 1 s0 {s + 1} s0/stop {s + 2} steps 100000",
        "wall/upper": f"wall/upper k 1 s0 {s - 1} exponent 4",
        "wall/lower": f"wall/lower k 1 s0 {s + 1} exponent 4",
        "linear": "linear k 1",
        "metad, no grid, 100 hills": f"{metad} 1000000 append yes file {files[100]}",
        "metad, no grid, 10,000 hills": f"{metad} 1000000 append yes file {files[10_000]}",
        "metad, grid, 100 hills": f"{metad} 1000000 {limits} append yes file {files[100]}",
        "metad, grid, 1,000,000 hills": f"{metad} 1000000 {limits} append yes file {files[1_000_000]}",
        "metad, grid, a hill every step": f"{metad} 1 {limits} file {folder}/HILLS",
    }
    for name, words in kinds.items():
        took, _ = measure(lmp, edge, device, f"fix b all coord/bias c_cv {words}", folder)
        print(f"| {edge**3:,} | {name} | {took:.1f} | {took - alone:+.1f} |", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lmp = os.path.join(os.path.abspath(sys.argv[1]), "lmp")
    print("| atoms | bias | microseconds a step | more than the compute |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        table(lmp, SMALL, "host", folder)
        table(lmp, LARGE, sys.argv[2] if len(sys.argv) > 2 else "auto", folder)


if __name__ == "__main__":
    main()
