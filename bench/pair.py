#!/usr/bin/env python3
"""Prints the benchmark table of pair_style coord: the time of a step compared with lj/cut and
lj/cut/omp with the same cutoff.

The system is LAMMPS' own bench/in.lj: an fcc lattice of density 0.8442 that melts, T 1.44, cutoff
2.5, skin 0.3, neighbor lists rebuilt every 20 steps; 32,000 atoms by default. All times are LAMMPS'
own, after 100 steps. The styles take turns, and the fastest run of each counts, so that all meet
the same conditions of the machine.

Usage: pair.py BUILD_DIR [threads [edge [device ...]]]; threads defaults to all cores, edge (of the
lattice, 4 atoms per cell) to 20, devices to host, and cuda if there is a GPU.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

from launch import run_lammps

SCRIPT = """
units lj
lattice fcc 0.8442
region box block 0 {edge} 0 {edge} 0 {edge}
create_box {ntypes} box
create_atoms 1 box
{types}
mass * 1.0
velocity all create 1.44 87287
{style}
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 1000
run 100
run {steps}
"""

# Each function has a cutoff of 2.5.
FUNCTIONS = {
    "rational 6/12": "rational 1.0 dmax 2.5",
    "cubic": "cubic dmax 2.5",
    "cosinus": "cosinus 2.5",
    "q": "q ref 1.0 beta 5.0 dmax 2.5",
    "rational 12/24": "rational 1.0 nn 12 mm 24 dmax 2.5",
    "rational 6/10": "rational 1.0 nn 6 mm 10 dmax 2.5",
    "rational 5.5/11.5": "rational 1.0 nn 5.5 mm 11.5 dmax 2.5",
    "smap": "smap 1.0 a 2 b 3 dmax 2.5",
    "custom": "custom 1.0 func 1/(1+x^6) dmax 2.5",
}
HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/gpucoord/src/switching/functions/*.h")
for header in sorted(glob.glob(HEADERS)):
    with open(header) as text:
        name, = re.findall(r'NAME = "(\w+)"', text.read())
    if name not in {words.split()[0] for words in FUNCTIONS.values()}:    # one that needs r0 alone
        FUNCTIONS[name] = f"{name} 1.0 dmax 2.5"
TURNS = 5


def styles(devices):
    """Return name -> (suffix, number of types, commands)."""
    lj = "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0"
    found = {"lj/cut": ("", 1, lj), "lj/cut/omp": ("omp", 1, lj)}
    for device in devices:
        coord = "pair_style coord device " + device
        for name, words in FUNCTIONS.items():
            found[f"coord {name}, {device}"] = ("", 1, f"{coord}\npair_coeff * * 1.0 {words}")
        rational = f"pair_coeff * * 1.0 {FUNCTIONS['rational 6/12']}"
        found[f"coord rational 6/12, mixed, {device}"] = ("", 1, f"{coord} precision mixed\n{rational}")
        engine = "neigh" if device == "cuda" else "cells"
        found[f"coord rational 6/12, engine {engine}, {device}"] = ("", 1, f"{coord} engine {engine}\n{rational}")
        for ntypes in 3, 16:
            more = "\n".join(f"pair_coeff {i} {i} {i} {FUNCTIONS['rational 6/12']}" for i in range(2, ntypes + 1))
            found[f"coord rational 6/12, {ntypes} types, {device}"] = ("", ntypes, f"{coord}\n{rational}\n{more}")
    return found


def measure(lmp, folder, threads, edge, steps, suffix, ntypes, style):
    types = "\n".join(f"set group all type/ratio {i} {1 / i} {i}" for i in range(2, ntypes + 1))
    script = SCRIPT.format(edge=edge, ntypes=ntypes, types=types, style=style, steps=steps)
    # With package omp, threads build the neighbor lists of all styles.
    words = ["-pk", "omp", str(threads)] + (["-sf", suffix] if suffix else [])
    output = run_lammps(lmp, folder, script, *words, threads=threads)
    second = output[output.index("Loop time", output.index("Loop time") + 1):]
    number = r"\s*\|\s*([0-9.e+-]+)"
    return [1e3 / steps * float(found) for found in (
        re.search(r"Loop time of (\S+)", second).group(1),
        re.search("^Pair " + number, second, re.M).group(1), re.search("^Neigh" + number, second, re.M).group(1))]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    edge = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    devices = sys.argv[4:]
    if not devices:
        probe = subprocess.run([os.path.join(build, "unittest", "find_gpu")], stdout=subprocess.DEVNULL)
        devices = ["host", "cuda"] if probe.returncode == 0 else ["host"]
    steps = max(20, 3_200_000 // (4 * edge**3) // 20 * 20)
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(TURNS):
            for name, (suffix, ntypes, style) in styles(devices).items():
                print(f"\rturn {turn + 1} of {TURNS}: {name:60}", end="", file=sys.stderr, flush=True)
                took = measure(os.path.join(build, "lmp"), folder, threads, edge, steps, suffix, ntypes, style)
                best[name] = min(best.get(name, took), took)
    print("\r" + 80 * " " + "\r", end="", file=sys.stderr)
    print("Milliseconds of a step, in the pair style and in neighbor lists, and the step over that of lj/cut/omp. A melt of "
          "density\n0.8442 (LAMMPS' bench/in.lj), cutoff 2.5, skin 0.3, lists made anew every 20 steps; double precision, and "
          "engine neigh\non the host and cells on the GPU, where nothing else is said; the fastest of "
          f"{TURNS} runs.\n")
    print("| atoms | pair style | threads | ms a step | pair | neighbor list | over lj/cut/omp |\n|---|---|---|---|---|---|---|")
    for name, (loop, pair, neigh) in best.items():
        print(f"| {4 * edge**3:,} | {name} | {1 if name == 'lj/cut' else threads} | {loop:.3g} | {pair:.3g} | {neigh:.3g} | "
              f"{loop / best['lj/cut/omp'][0]:.2f} |")


if __name__ == "__main__":
    main()
