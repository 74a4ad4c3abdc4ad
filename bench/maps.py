#!/usr/bin/env python3
"""Prints the benchmark tables of potential maps by bench_map (its first lines list its arguments)
on the GPU, if there is one, and on the host.

Useful pairs are within the cutoff. Tested pairs are all pairs whose distance is computed. Their
ratio is the fraction within the cutoff. The ceiling is the number of pairs that the reciprocal
square root units of an H100 can test, 16 per clock and multiprocessor.

Usage: maps.py BUILD_DIR [threads]; threads of the host, by default all cores.
"""

import os
import subprocess
import sys

from run import head, row, run_program

CEILING = 132 * 16 * 1.98e9
CUTOFF = 12
GPU = [("smooth", atoms, 1.0, "mixed", "no") for atoms in (10000, 100000, 1000000, 4000000)]
GPU += [("smooth", 1000000, 0.5, "mixed", "no"), ("smooth", 100000, 0.25, "mixed", "no")]
GPU += [(kernel, 1000000, 1.0, "mixed", "no") for kernel in ("cut", "taylor", "ewald")]
GPU += [("smooth", 1000000, 1.0, "mixed", "yes"), ("smooth", 1000000, 1.0, "double", "no")]
HOST = [("smooth", 30000, 1.0, "mixed", "no"), ("ewald", 30000, 1.0, "mixed", "no"), ("smooth", 30000, 1.0, "double", "no")]
BINS = [("4.0", "8", "device"), ("4.0", "8", "host"), ("4.0", "12", "device"), ("4.0", "12", "host")]


def run(program, backend, case, threads, repeats, bins=()):
    kernel, atoms, spacing, precision, field = case
    words = [backend, kernel, atoms, spacing, CUTOFF, precision, field, threads, repeats, *bins]
    return [float(word) for word in run_program(program, *words)]


def main(build, threads=os.cpu_count()):
    program = os.path.join(build, "bench", "bench_map")
    has_gpu = subprocess.run([os.path.join(build, "unittest", "find_gpu")], stdout=subprocess.DEVNULL, check=False).returncode == 0
    what = "kernel", "precision", "field", "atoms", "spacing"
    if has_gpu:
        print(f"Potential maps on the GPU, cutoff {CUTOFF}: milliseconds in its memory, of these the sort, and from and to host arrays\n")
        head(*what, "points", "ms", "sort", "host arrays", "useful/s", "tested/s", "in cutoff", "of the ceiling")
        for case in GPU:
            kernel, atoms, spacing, precision, field = case
            _, points, all_ms, sort, copies, useful, tested, _ = run(program, "cuda", case, threads, 7)
            rate = tested / (1e-3 * (all_ms - sort))
            row(kernel, precision, field, f"{atoms:,}", spacing, f"{points:,.0f}", f"{all_ms:.3f}", f"{sort:.3f}", f"{copies:.2f}",
                 f"{useful / (1e-3 * all_ms):.3g}", f"{rate:.3g}", f"{useful / tested:.2f}", f"{rate / CEILING:.2f}")
        print("\nBins of fixed depth, kernel smooth, 1,000,000 atoms, a point each Angstrom, from and to host arrays\n")
        head("bins", "depth", "overflow taken by", "overflow", "ms", "sorted bins, ms")
        case = GPU[2]
        plain = run(program, "cuda", case, threads, 5)[4]
        for bins in BINS:
            *_, copies, _, _, overflow = run(program, "cuda", case, threads, 5, bins)
            row(*bins, f"{100 * overflow:.2f} %", f"{copies:.1f}", f"{plain:.1f}")
        print()
    print(f"Potential maps on the host, {threads} threads, cutoff {CUTOFF}\n")
    head(*what, "points", "ms", "useful/s", "tested/s", "in cutoff")
    for case in HOST:
        kernel, atoms, spacing, precision, field = case
        _, points, all_ms, _, _, useful, tested, _ = run(program, "host", case, threads, 3)
        row(kernel, precision, field, f"{atoms:,}", spacing, f"{points:,.0f}", f"{all_ms:.1f}", f"{useful / (1e-3 * all_ms):.3g}",
             f"{tested / (1e-3 * all_ms):.3g}", f"{useful / tested:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
