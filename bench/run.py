#!/usr/bin/env python3
"""Prints the bench table: ms per evaluation of S with derivatives and virial.

A jittered simple cubic lattice, rational 6/12, beside the figures of the peers,
which were measured on one H200 with 16 CPU cores.

Usage: run.py BUILD_DIR [threads ...]; threads defaults to all cores.
"""

import os
import subprocess
import sys

# (atoms, neighbours) -> {peer: ms}. PLUMED COORDINATION with linked cells, 16 threads;
# cudaCoord on the GPU in double.
PEERS = {
    (10_000, 65): {"PLUMED 16 threads": 8.7, "cudaCoord": 1.6},
    (48_000, 65): {"PLUMED 16 threads": 39, "cudaCoord": 5.4},
    (250_000, 65): {"cudaCoord": 29},
    (1_000_000, 65): {"cudaCoord": 145},
    (10_000, 1122): {"PLUMED 16 threads": 157, "cudaCoord": 3.9},
    (48_000, 1122): {"PLUMED 16 threads": 717, "cudaCoord": 7.6},
    (250_000, 1122): {"cudaCoord": 35},
    (1_000_000, 1122): {"cudaCoord": 169},
}
# PLUMED with 2 threads, the one figure there is
PEERS_2_THREADS = {(10_000, 65): {"PLUMED 2 threads": 28}}

EDGES = {10_000: 22, 48_000: 36, 250_000: 63, 1_000_000: 100}
RANGES = {65: 2.5, 1122: 6.45}


def measure(program, edge, distance, precision, threads, repeats):
    out = subprocess.run(
        [program, str(edge), str(distance), precision, str(threads), str(repeats)],
        check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(out[0]), [float(word) for word in out[2:]]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = os.path.join(sys.argv[1], "bench", "bench_coordination")
    thread_counts = [int(word) for word in sys.argv[2:]] or [os.cpu_count()]
    print("| atoms | neighbours | precision | threads | ms | copies | bins | pairs | reduction "
          "| peers, ms | times faster |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for neighbours, distance in RANGES.items():
        for nominal, edge in EDGES.items():
            repeats = 3 if nominal * neighbours > 5e7 else 11
            for threads in thread_counts:
                for precision in ("double", "mixed"):
                    atoms, ms = measure(program, edge, distance, precision, threads, repeats)
                    peers = dict(PEERS[nominal, neighbours])
                    if threads == 2:
                        peers.update(PEERS_2_THREADS.get((nominal, neighbours), {}))
                    names = ", ".join(f"{name} {value:g}" for name, value in peers.items())
                    ratios = ", ".join(f"{value * atoms / nominal / ms[0]:.2g}"
                                       for value in peers.values())
                    print(f"| {atoms:,} | {neighbours:,} | {precision} | {threads} | "
                          + " | ".join(f"{value:.3g}" for value in ms)
                          + f" | {names} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
