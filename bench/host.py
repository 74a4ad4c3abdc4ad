#!/usr/bin/env python3
"""Prints the benchmark table of the host: compute coord/gpu in LAMMPS for numbers of threads and of
MPI ranks.

The system is LAMMPS' melt of density 0.8442 as a crystal with displaced atoms that do not move,
rational 6/12. Each step computes the per-atom array, value and derivatives. Milliseconds are
LAMMPS' own time of a step with the compute and the sum of one of its columns, minus the time
without them; medians of turns.

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

SCRIPT = """
units lj
lattice fcc 0.8442
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.1 0.1 0.1 4711
pair_style zero 2.5 nocoeff
pair_coeff * *
comm_modify cutoff {reach}
thermo_modify norm no
"""
DEFINE = """
compute cv all coord/gpu switch rational 1.5 dmax {dmax} precision mixed device host
compute sum all reduce sum c_cv[1]
thermo 1
thermo_style custom step c_sum
"""


def measure(lmp, edge, dmax, steps, threads, ranks):
    """Return the number of atoms, and milliseconds of an evaluation."""
    lines = SCRIPT.format(edge=edge, reach=dmax + 0.31)
    for _ in range(TURNS + 1):
        lines += f"thermo_style one\nrun {steps}\n" + DEFINE.format(dmax=dmax)
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
    print("compute coord/gpu on the host in LAMMPS, precision mixed: milliseconds of an evaluation, and how many times "
          "faster than\none thread of one rank.\n")
    head("atoms", "neighbors", "over", *(f"{n}, ms" for n in numbers), *(f"{n}, times" for n in numbers[1:]))
    for edge, dmax, steps in CASES:
        for over in "threads", "ranks":
            found = [measure(lmp, edge, dmax, steps, *((n, 1) if over == "threads" else (1, n))) for n in numbers]
            ms = [time for _, time in found]
            neighbors = round(4 / 3 * 3.14159265 * dmax**3 * 0.8442)
            row(f"{found[0][0]:,}", f"{neighbors:,}", over, *ms, *(f"{ms[0] / time:.1f}" for time in ms[1:]))


if __name__ == "__main__":
    main()
