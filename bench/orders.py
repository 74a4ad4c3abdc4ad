#!/usr/bin/env python3
"""Prints the benchmark tables of order parameters in the library: compute coord/orientorder,
coord/envsim and coord/pairentropy.

The systems are crystals: with 13 partners of each atom in range of a cubic switching function;
aluminum with 55 partners of each atom for environment similarity with sigma 0.4; and with 86 pairs of
each atom within reach for the pair entropy. Times are those of value and derivatives, with the
virial, and of finding the pairs again; on the GPU atoms and derivatives are resident, as with KOKKOS.
PLUMED's times are constants, measured with 16 threads for a crystal with 12 to 14 partners, value
and forces: the pair entropy of 4,000 atoms took more than 200 s, and is left out.

Usage: orders.py BUILD_DIR [THREADS]; by default all cores.
"""

import os
import subprocess
import sys

from run import head, row, run_program

EDGES = (20, 63)    # unit cells of 4 atoms
ORDERS = ("local", "average", "dot", "connections", "global")
STRUCTURES = ("fcc", "hcp")
# Milliseconds of PLUMED for 32,000 atoms.
PEERS = {"local": 11913, "average": 14729}
REPEATS = 15


def times(backend, name, words, *more):
    """Print a row of what a benchmark program prints."""
    derivatives, virial, pairs, size = map(float, words[1:])
    row(f"{int(words[0]):,}", name, backend, derivatives, virial, pairs if backend == "resident" else "", f"{size:.0f}", *more)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    program = os.path.join(build, "bench", "bench_orient_order")
    similarity = os.path.join(build, "bench", "bench_environment_similarity")
    gpu = subprocess.run([os.path.join(build, "bench", "bench_coordination"), "gpu"], stdout=subprocess.PIPE, text=True)
    backends = ["host"] + (["resident"] if gpu.returncode == 0 else [])
    print(f"q6 of a crystal with 13 partners, precision mixed, {threads} threads, GPU: {gpu.stdout.strip()}. PLUMED: 16 "
          "threads, 32,000 atoms.\n")
    head("atoms", "order", "on", "ms", "ms with the virial", "ms of new pairs", "bytes an atom", "PLUMED, ms")
    for backend in backends:
        for edge in EDGES:
            for order in ORDERS:
                peer = f"{PEERS[order]:,}" if order in PEERS and edge == EDGES[0] else ""
                times(backend, order, run_program(program, backend, edge, order, 6, "mixed", threads, REPEATS), peer)
    print("\nEnvironment similarity of aluminum, 55 partners, precision mixed.\n")
    head("atoms", "structure", "on", "ms", "ms with the virial", "ms of new pairs", "bytes an atom")
    for backend in backends:
        for edge in EDGES:
            for structure in STRUCTURES:
                times(backend, structure, run_program(similarity, backend, edge, structure, "mixed", threads, REPEATS))
    entropy = os.path.join(build, "bench", "bench_pair_entropy")
    print("\nPair entropy of a crystal of density 0.84, cutoff 2.5, sigma 0.05, 100 bins, precision mixed.\n")
    head("atoms", "", "on", "ms", "ms with the virial", "ms of new pairs", "bytes an atom")
    for backend in backends:
        for edge in EDGES:
            times(backend, "", run_program(entropy, backend, edge, "mixed", threads, REPEATS))


if __name__ == "__main__":
    main()
