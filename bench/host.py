#!/usr/bin/env python3
"""Prints the benchmark tables of the host: compute coord/gpu and compute coord/orientorder in LAMMPS
for numbers of threads and of MPI ranks.

The system is LAMMPS' melt of density 0.8442 as a crystal with displaced atoms that do not move,
rational 6/12. For order parameters it is a crystal of 32,000 atoms of density 1 with 13 partners.
PLUMED's times are constants, measured with 16 threads for a crystal with 12 to 14 partners. Each
step computes the per-atom array, value and derivatives. Milliseconds are LAMMPS' own time of a step
with the compute and the sum of one of its columns, minus the time without them; medians of turns.

Usage: host.py BUILD_DIR [CORES]; BUILD_DIR has the program lmp, CORES is the largest number of
threads or ranks, by default all cores.
"""

import os
import re
import statistics
import sys
import tempfile

from launch import run_lammps
from run import head, row

TURNS = 5
# edge in unit cells of 4 atoms, dmax, steps of a run
CASES = ((14, 2.64, 40), (23, 2.64, 10), (23, 6.81, 4))
# order of q6, and milliseconds of PLUMED
ORDERS = (("local", "11,913"), ("average", "14,729"), ("dot", ""), ("global", ""))

SCRIPT = """
units lj
lattice fcc {density}
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random {move} {move} {move} 4711
pair_style zero 2.5 nocoeff
pair_coeff * *
comm_modify cutoff {reach}
thermo_modify norm no
"""
COORDINATION = "coord/gpu switch rational 1.5 dmax {dmax}"
ORDER = "coord/orientorder l 6 switch cubic d0 1.2 dmax 1.5 order {order}"
DEFINE = """
compute cv all {style} precision mixed device host
compute sum all reduce sum c_cv[1]
thermo 1
thermo_style custom step c_sum
"""


def measure(lmp, edge, style, steps, threads, ranks, density=0.8442, move=0.1, reach=2.95):
    """Return the number of atoms, and milliseconds of an evaluation."""
    lines = SCRIPT.format(edge=edge, reach=reach, density=density, move=move)
    for _ in range(TURNS + 1):
        lines += f"thermo_style one\nrun {steps}\n" + DEFINE.format(style=style)
        lines += f"run {steps}\nthermo_style one\nuncompute sum\nuncompute cv\n"
    with tempfile.TemporaryDirectory() as folder:
        output = run_lammps(lmp, folder, lines, threads=threads, ranks=ranks)
    loops = [1e3 * float(t) / steps for t in re.findall(r"^Loop time of (\S+)", output, re.M)]
    atoms = int(re.search(r"with (\d+) atoms", output).group(1))
    return atoms, statistics.median(b - a for a, b in zip(loops[2::2], loops[3::2]))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lmp = os.path.join(os.path.abspath(sys.argv[1]), "lmp")
    cores = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    numbers = [2**k for k in range(cores.bit_length()) if 2**k <= cores]
    columns = [*(f"{n}, ms" for n in numbers), *(f"{n}, times" for n in numbers[1:])]

    def measured(over, *case, **system):
        found = [measure(lmp, *case, *((n, 1) if over == "threads" else (1, n)), **system) for n in numbers]
        ms = [time for _, time in found]
        return f"{found[0][0]:,}", [*ms, *(f"{ms[0] / time:.1f}" for time in ms[1:])]

    print("compute coord/gpu on the host in LAMMPS, precision mixed: milliseconds of an evaluation, and how many times "
          "faster than\none thread of one rank.\n")
    head("atoms", "neighbors", "over", *columns)
    for edge, dmax, steps in CASES:
        neighbors = round(4 / 3 * 3.14159265 * dmax**3 * 0.8442)
        for over in "threads", "ranks":
            atoms, times = measured(over, edge, COORDINATION.format(dmax=dmax), steps, reach=dmax + 0.31)
            row(atoms, f"{neighbors:,}", over, *times)
    print("\ncompute coord/orientorder, q6, likewise.\n")
    head("atoms", "order", "over", *columns, "PLUMED, ms")
    for order, peer in ORDERS:
        for over in "threads", "ranks":
            atoms, times = measured(over, 20, ORDER.format(order=order), 10, density=1.0, move=0.05, reach=1.9)
            row(atoms, order, over, *times, peer)


if __name__ == "__main__":
    main()
