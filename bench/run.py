#!/usr/bin/env python3
"""Prints the benchmark tables: ms per evaluation of S, or of a function of coordination numbers, with derivatives and
virial.

The system is a jittered simple cubic lattice, rational 6/12, from host arrays. The numbers of other
programs were measured on one H200 with 16 CPU cores. With a GPU there is a second table for it.

Usage: run.py BUILD_DIR [threads ...]; threads defaults to all cores.
"""

import os
import subprocess
import sys

from launch import has_variants

# (atoms, neighbors) -> {program: ms}. PLUMED COORDINATION with linked cells, 16 threads.
PLUMED = {(10_000, 65): 8.7, (48_000, 65): 39, (10_000, 1122): 157, (48_000, 1122): 717}
PLUMED_2_THREADS = {(10_000, 65): 28}    # the only known number
# cudaCoord on the GPU.
CUDACOORD = {
    "mixed": {(10_000, 65): 1.3, (48_000, 65): 5.0, (250_000, 65): 28, (1_000_000, 65): 150,
              (10_000, 1122): 3.9, (48_000, 1122): 7.6, (250_000, 1122): 35, (1_000_000, 1122): 169},
    "double": {(10_000, 65): 1.6, (48_000, 65): 5.4, (250_000, 65): 29, (1_000_000, 65): 145},
}
# PLUMED COORDINATIONNUMBER with MORE_THAN, 32,000 atoms, 14 neighbors, 16 threads.
PLUMED_FUNCTION = (32_000, 727)
# Pairs per second that the H200 can process in float: evaluated with forces, with forces and
# virial; distances tested.
CEILING_FORCES, CEILING_VIRIAL, CEILING_TESTED = 1.17e12, 0.84e12, 2.0e12

EDGES = {10_000: 22, 48_000: 36, 250_000: 63, 1_000_000: 100}
RANGES = {65: 2.5, 1122: 6.45}
TYPES = 1, 3, 16, 32
SMALL = [(2, 1.2), (3, 1.2), (5, 2.5), (10, 0.9), (10, 2.5)]    # edge, range


class Result:
    def __init__(self, words):
        self.atoms, self.neighbors = int(words[0]), int(words[1])
        numbers = [float(word) for word in words[2:]]
        self.total, self.copies, self.bins, self.pairs, self.reduction = numbers[:5]
        self.in_range, self.tested, self.pairs_without_virial, self.function = numbers[5:]


def run_program(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def measure(*words):
    return Result(run_program(*words))


def row(*cells):
    print("| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |",
          flush=True)


def head(*names):
    row(*names)
    print("|" + "---|" * len(names))


def host_table(program, thread_counts):
    head("atoms", "neighbors", "precision", "threads", "ms", "bins", "pairs", "PLUMED, ms", "times faster", "function",
         "times S")
    for neighbors, distance in RANGES.items():
        for nominal, edge in EDGES.items():
            repeats = 3 if nominal * neighbors > 5e7 else 11
            for threads in thread_counts:
                for precision in ("double", "mixed"):
                    r = measure(program, "host", edge, distance, precision, threads, repeats)
                    peer, peer_threads = PLUMED.get((nominal, neighbors)), 16
                    if threads == 2 and (nominal, neighbors) in PLUMED_2_THREADS:
                        peer, peer_threads = PLUMED_2_THREADS[nominal, neighbors], 2
                    row(f"{r.atoms:,}", f"{neighbors:,}", precision, threads, r.total, r.bins, r.pairs,
                        f"{peer:g} ({peer_threads} threads)" if peer else "",
                        peer * r.atoms / nominal / r.total if peer else "", r.function, r.function / r.total)


def function_table(program, threads, has_gpu):
    """The system of PLUMED's figure is a crystal with as many neighbors."""
    print("\nA function of coordination numbers (more_than) with derivatives, mixed; from host arrays with the virial.\n")
    head("atoms", "neighbors", "backend", "ms", "PLUMED, ms", "times faster")
    nominal, peer = PLUMED_FUNCTION
    for backend in ("host", "cuda", "resident")[:3 if has_gpu else 1]:
        words = run_program(program, backend, 32, 1.5, "mixed", threads, 9)
        atoms, ms = int(words[0]), float(words[-1])
        row(f"{atoms:,}", words[1], backend, ms, peer, peer * atoms / nominal / ms)


def gpu_table(program, threads, variants):
    print("copies: host arrays to the GPU and back, with all that the host does; pairs: the pair kernel, with and "
          "without\nthe virial; found again: what is added when LAMMPS builds its neighbor lists; evaluated, tested: pairs a "
          "second over\nthe ceilings of the H200 in float (with and without virial; tested without).\n")
    head("atoms", "neighbors", "processor", "precision", "ms", "copies", "pairs", "no virial", "found again",
         "evaluated", "no virial", "tested", "cudaCoord, ms", "times faster", "function", "times S")
    cases = [(neighbors, nominal, edge, distance) for neighbors, distance in RANGES.items()
             for nominal, edge in EDGES.items()]
    for neighbors, nominal, edge, distance in cases:
        for processor, backend in (("lists, or warp", "cuda"), ("block", "cuda-block"))[:2 if variants else 1]:
            for precision in ("mixed", "single", "double") if backend == "cuda" else ("mixed",):
                r = measure(program, backend, edge, distance, precision, threads, 9)
                peer = CUDACOORD.get("double" if precision == "double" else "mixed").get((nominal, neighbors))
                rates = [r.in_range / (1e-3 * r.pairs) / CEILING_VIRIAL,
                         r.in_range / (1e-3 * r.pairs_without_virial) / CEILING_FORCES,
                         r.tested / (1e-3 * r.pairs_without_virial) / CEILING_TESTED if r.tested else ""]
                row(f"{r.atoms:,}", f"{neighbors:,}", processor, precision, r.total, r.copies, r.pairs,
                    r.pairs_without_virial, r.bins, *(rates if precision != "double" else [""] * 3),
                    peer or "", peer * r.atoms / nominal / r.total if peer else "", r.function, r.function / r.total)
    print("\nAtoms and derivatives stay on the GPU, as under KOKKOS: milliseconds of value and derivatives, of these and "
          "the virial,\nof what is done anew with the neighbor lists, and of value and derivatives of a function of the "
          "coordination numbers.\n")
    head("atoms", "neighbors", "precision", "value and derivatives", "with virial", "lists", "evaluated", "function", "times S")
    for neighbors, nominal, edge, distance in cases:
        for precision in ("mixed", "double"):
            words = run_program(program, "resident", edge, distance, precision, threads, 9)
            derivatives, virial, lists, in_range, function = (float(word) for word in words[2:])
            rate = in_range / (1e-3 * derivatives) / CEILING_FORCES if precision == "mixed" else ""
            row(f"{int(words[0]):,}", f"{neighbors:,}", precision, derivatives, virial, lists, rate, function,
                function / derivatives)
    print("\nThe same with 65 neighbors and several types, with per-pair parameters. times: relative to one type.\n")
    head("atoms", "types", "precision", "value and derivatives", "with virial", "lists", "times", "times, with virial")
    for edge in EDGES.values():
        for precision in ("mixed", "double"):
            for ntypes in TYPES:
                words = run_program(program, "resident", edge, RANGES[65], precision, threads, 9, ntypes)
                derivatives, virial, lists = (float(word) for word in words[2:5])
                one = (derivatives, virial) if ntypes == 1 else one
                row(f"{int(words[0]):,}", ntypes, precision, derivatives, virial, lists, derivatives / one[0], virial / one[1])
    print("\nSmall systems: milliseconds, and what is left of them beside the copies.\n")
    head("atoms", "neighbors", "precision", "ms", "beside the copies")
    for edge, distance in SMALL:
        r = measure(program, "cuda", edge, distance, "mixed", threads, 101)
        row(f"{r.atoms:,}", f"{r.neighbors:,}", "mixed", r.total, r.total - r.copies)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.join(sys.argv[1], "bench", "bench_coordination")
    threads = [int(word) for word in sys.argv[2:]] or [os.cpu_count()]
    gpu = subprocess.run([program, "gpu"], stdout=subprocess.PIPE, text=True)
    print("The peers' figures are constants, measured on one H200 with 16 CPU cores and scaled to the number of atoms here.\n")
    print(f"Host, {os.cpu_count()} cores\n")
    host_table(program, threads)
    function_table(program, max(threads), gpu.returncode == 0)
    print(f"\nGPU: {gpu.stdout.strip()}\n")
    if gpu.returncode == 0:
        gpu_table(program, max(threads), has_variants(sys.argv[1]))


if __name__ == "__main__":
    main()
