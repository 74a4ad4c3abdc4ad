#!/usr/bin/env python3
"""Prints the bench table of fix coord/bias: milliseconds of a timestep with each kind of bias, and what of them is
more than the compute alone takes for S and its derivatives.

The compute alone is a step in which compute reduce asks for its derivatives, less one in which compute reduce asks
for positions.

A jittered simple cubic lattice, rational 6/12 with 65 neighbours, norm mean; no pair potential and no integration, so
that nothing else takes time. Metadynamics starts from hills files with a hundred and a million hills.

Usage: bias.py BUILD_DIR [device]; device defaults to auto.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

EDGES = (10, 36)    # atoms on an edge of the lattice
STEPS = {10: 500, 36: 50}    # of each of five runs; the fastest counts

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
compute cv all coord/gpu switch rational 1.2 dmax 2.5 norm mean device {device}
{commands}
thermo 100000
thermo_style custom step c_cv
run 0
thermo_style custom step
run {steps}
run {steps}
run {steps}
run {steps}
run {steps}
"""


def measure(lmp, edge, device, commands, folder):
    """ms of a step, and S."""
    steps = STEPS[edge]
    path = os.path.join(folder, "in.bench")
    with open(path, "w") as file:
        file.write(SCRIPT.format(edge=edge, device=device, commands=commands, steps=steps))
    run = subprocess.run([lmp, "-in", path, "-log", "none", "-nocite"], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    seconds = [float(text) for text in re.findall(r"^Loop time of (\S+)", run.stdout, re.M)]
    value = float(re.search(r"^ +0 +(\S+) *$", run.stdout, re.M).group(1))
    return 1e3 * min(seconds[1:]) / steps, value


def write_hills(path, count, centre):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("#! FIELDS time cv sigma_cv height biasf\n#! SET multivariate false\n"
                   "#! SET kerneltype stretched-gaussian\n")
        for k in range(count):
            file.write(f" {k} {draw.gauss(centre, 0.5)!r} 0.1 {1.0 / count!r} -1\n")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lmp = os.path.join(os.path.abspath(sys.argv[1]), "lmp")
    device = sys.argv[2] if len(sys.argv) > 2 else "auto"
    print("| atoms | bias | ms a step | more than the compute |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for edge in EDGES:
            ask = "compute r all reduce max {}\nfix r all ave/time 1 1 1 c_r"
            empty, s = measure(lmp, edge, device, "", folder)
            alone = measure(lmp, edge, device, ask.format("c_cv[2]"), folder)[0] - measure(
                lmp, edge, device, ask.format("x"), folder)[0] + empty
            print(f"| {edge**3:,} | none, nor the compute | {empty:.4f} | |\n"
                  f"| {edge**3:,} | none: the compute alone | {alone:.4f} | |", flush=True)
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
                print(f"| {edge**3:,} | {name} | {took:.4f} | {took - alone:+.4f} |", flush=True)


if __name__ == "__main__":
    main()
