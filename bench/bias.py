"""Parts bias and bias-gpu. bias: microseconds of a timestep with each kind of bias, and its excess over the time in which
the compute alone computes S and its derivatives.

The system is a jittered simple cubic lattice, rational 6/12 with 65 neighbors, norm mean. It has no
pair potential and no integration, so that nothing else takes time. 8 atoms on the host with one thread
show the cost of a bias itself. 46,656 atoms, on the GPU if there is one, show that this cost is
negligible. The time of the compute alone is a step in which compute reduce requests its derivatives,
minus a step in which compute reduce requests positions. Metadynamics starts from hills files with a
hundred and a million hills. bias-gpu: microseconds in which the GPU evaluates a bias of resident
variables.
"""

import math
import os
import random
import re
import statistics
import tempfile

from launch import SPREAD
from results import Number

SMALL, LARGE = 2, 36    # atoms along an edge of the lattice
STEPS = {True: 20_000, False: 20}    # steps of a run of the small and the large system; the fastest run counts
RUNS = {True: 5, False: 25}

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
ALONE = "none, the compute alone"


def measure(bench, edge, device, commands, folder):
    """Return microseconds of a step of the fastest run, and S."""
    is_small = edge == SMALL
    steps = bench.steps(STEPS[is_small])
    script = SCRIPT.format(edge=edge, device=device, commands=commands, steps=steps, runs=RUNS[is_small])
    output = bench.lammps(folder, script, threads=1 if is_small else bench.threads)
    took = [1e6 * float(text) / steps for text in re.findall(r"^Loop time of (\S+)", output, re.M)][1:]
    value = float(re.search(r"^ +0 +(\S+) *$", output, re.M).group(1))
    return Number(min(took), statistics.median(took) - min(took)), value


def write_hills(path, count, center):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("#! FIELDS time cv sigma_cv height biasf\n#! SET multivariate false\n"
                   "#! SET kerneltype stretched-gaussian\n")
        for k in range(count):
            file.write(f" {k} {draw.gauss(center, 0.5)!r} 0.1 {1.0 / count!r} -1\n")


def times_of(bench, edge, device, folder):
    """Return microseconds of a step of one system, by bias."""
    ask = "compute r all reduce max {}\nfix r all ave/time 1 1 1 c_r"
    empty, s = measure(bench, edge, device, "", folder)
    took = {"none, without the compute": empty}
    derivatives, positions = (measure(bench, edge, device, ask.format(what), folder)[0] for what in ("c_cv[2]", "x"))
    took[ALONE] = Number(empty.value + derivatives.value - positions.value,
                         math.hypot(empty.spread, derivatives.spread, positions.spread))
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
        took[name], _ = measure(bench, edge, device, f"fix b all coord/bias c_cv {words}", folder)
    return took


def run(bench):
    large = bench.size(LARGE, 5)
    with tempfile.TemporaryDirectory() as folder:
        few = times_of(bench, SMALL, "host", folder)
        many = times_of(bench, large, "cuda" if bench.gpus else "host", folder)
    systems = {f"{SMALL**3:,} atoms": few, f"{large**3:,} atoms": many}
    table = bench.table("step", "bias", *(f"{name}, {what}" for name in systems for what in ("us", "us added")),
                        precision="mixed", spread="the median minus the fastest run", lammps=True, gpus=bool(bench.gpus))
    for name in few:
        cells = []
        for took in systems.values():
            is_bias = name not in list(took)[:2]
            cells += [took[name], took[name].value - took[ALONE].value if is_bias else None]
        table.row(name, *cells)


def gpu(bench):
    table = bench.table("evaluation", "variables", "kernels", "restraints, us", "grid, us", "kernels, us", precision="double",
                        spread=SPREAD, gpus=True)
    for variables in (1, 2, 3):
        for kernels in (50, 340, 1000, 5000):
            table.row(variables, kernels, *bench.program("bench/bench_bias", variables, kernels, 15))
