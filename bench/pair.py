"""Parts pair-host and pair-gpu: the time of a timestep with pair_style coord, compared with lj/cut and
lj/cut/omp with the same cutoff.

The system is LAMMPS' own bench/in.lj: an fcc lattice of density 0.8442 that melts, T 1.44, cutoff 2.5,
skin 0.3, neighbor lists rebuilt every 20 steps. The precision is double, and the engine neigh on the
host and cells on the GPU, unless a row says otherwise. All times are LAMMPS' own, after 100 steps. The
styles take turns, and the fastest run of each counts, so that all meet the same conditions of the
machine.
"""

import glob
import os
import re
import statistics
import sys
import tempfile

from results import Number

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

SMALL, LARGE = 20, 63    # edge in unit cells of 4 atoms
TURNS = {SMALL: 5, LARGE: 2}
IN_LARGE = ("lj/cut/omp", "rational 6/12", "gaussian", "mixed", "neigh", " types")    # the ends of names

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


def styles(device):
    """Return name -> (suffix, number of types, commands)."""
    lj = "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0"
    found = {"lj/cut": ("", 1, lj), "lj/cut/omp": ("omp", 1, lj)}
    coord = "pair_style coord device " + device
    for name, words in FUNCTIONS.items():
        found[f"coord {name}"] = ("", 1, f"{coord}\npair_coeff * * 1.0 {words}")
    rational = f"pair_coeff * * 1.0 {FUNCTIONS['rational 6/12']}"
    found["coord rational 6/12, mixed"] = ("", 1, f"{coord} precision mixed\n{rational}")
    engine = "neigh" if device == "cuda" else "cells"
    found[f"coord rational 6/12, engine {engine}"] = ("", 1, f"{coord} engine {engine}\n{rational}")
    for ntypes in 3, 16, 32:
        more = "\n".join(f"pair_coeff {i} {i} {i} {FUNCTIONS['rational 6/12']}" for i in range(2, ntypes + 1))
        found[f"coord rational 6/12, {ntypes} types"] = ("", ntypes, f"{coord}\n{rational}\n{more}")
    return found


def measure(bench, folder, edge, steps, suffix, ntypes, style):
    """Return milliseconds of a step, in the pair style and in neighbor lists."""
    types = "\n".join(f"set group all type/ratio {i} {1 / i} {i}" for i in range(2, ntypes + 1))
    script = SCRIPT.format(edge=edge, ntypes=ntypes, types=types, style=style, steps=steps)
    # With package omp, threads build the neighbor lists of all styles.
    words = ["-pk", "omp", str(bench.threads)] + (["-sf", suffix] if suffix else [])
    output = bench.lammps(folder, script, *words, threads=bench.threads)
    second = output[output.index("Loop time", output.index("Loop time") + 1):]
    number = r"\s*\|\s*([0-9.e+-]+)"
    return [1e3 / steps * float(found) for found in (
        re.search(r"Loop time of (\S+)", second).group(1),
        re.search("^Pair " + number, second, re.M).group(1), re.search("^Neigh" + number, second, re.M).group(1))]


def melt(bench, name, device, size, turns, chosen):
    edge = bench.size(size, 4)
    steps = max(20, 3_200_000 // (4 * edge**3) // 20 * 20) if bench.scale == 1 else 20
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            for style, (suffix, ntypes, commands) in chosen.items():
                print(f"\rturn {turn + 1} of {turns}: {style:60}", end="", file=sys.stderr, flush=True)
                took.setdefault(style, []).append(measure(bench, folder, edge, steps, suffix, ntypes, commands))
    print("\r" + 80 * " " + "\r", end="", file=sys.stderr)
    table = bench.table(name, "atoms", "pair style", "threads", "ms per step", "pair", "neighbor list", "over lj/cut/omp",
                        spread="the median minus the fastest run", lammps=True, gpus=device == "cuda")
    reference = min(took["lj/cut/omp"])[0]
    for style, runs in took.items():
        # LAMMPS reports some 4e-5 ms for neighbor lists if a style has none.
        loop, pair, neigh = min(runs)
        table.row(4 * edge**3, style, 1 if style == "lj/cut" else bench.threads,
                  Number(loop, statistics.median(run[0] for run in runs) - loop), pair, round(neigh, 3), loop / reference)


def host(bench):
    melt(bench, "melt", "host", SMALL, TURNS[SMALL], styles("host"))


def gpu(bench):
    melt(bench, "melt", "cuda", SMALL, TURNS[SMALL], styles("cuda"))
    chosen = {name: style for name, style in styles("cuda").items() if name.endswith(IN_LARGE)}
    melt(bench, "large", "cuda", LARGE, TURNS[LARGE], chosen)
