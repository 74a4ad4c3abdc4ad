"""Parts molecules-host, molecules-gpu, molecules-steps and molecules-kokkos: rigid molecules.

The first two are of the library: forces and torques of the models of bench_multisite (its first lines
list them) on a jittered lattice with random orientations and periodic images as ghosts. On the GPU
molecules are there and results stay. The others are timesteps of LAMMPS: carbon dioxide of TraPPE,
cutoff 12 Angstrom (of sites in lj/cut/coul/cut, of centers in multisite). Part molecules-steps compares
with fix rigid/nve/small, with rows of the GPU if there is one. Part molecules-kokkos compares copies at
every step with molecules that are resident on the GPU.
"""

import os
import re
import statistics
import tempfile

from launch import SPREAD
from results import Number

PROGRAM = "bench/bench_multisite"
MODELS = {"lj": "ethane: two centers", "co2": "CO2: three centers, three charges",
          "eo": "ethylene oxide: three centers, a dipole", "water": "water: a center, three charges",
          "n2": "nitrogen: two centers, a quadrupole"}
HOST_EDGE = 22    # molecules along an edge
GPU_EDGES = 22, 46, 100, 159    # the fourth is for ethylene oxide alone
STEP_EDGE = 16
KOKKOS_EDGES = 16, 46, 100
TURNS = 3
FASTEST = "the median minus the fastest run"

# Carbon dioxide of TraPPE at half the density of the liquid, at which a lattice of parallel
# molecules does not overlap. The runs differ as little as possible except for the pair style.
# Molecules start without rotation.
COMPONENT = """# UNITS: real
component CO2
mass 44.01
inertia 43.062 43.062 0
center 0 0 0 0.053649 2.80
center 0 0 1.16 0.156991 3.05
center 0 0 -1.16 0.156991 3.05
charge 0 0 0 0.70
charge 0 0 1.16 -0.35
charge 0 0 -1.16 -0.35
"""
TEMPLATE = """carbon dioxide

3 atoms

Coords

1 0 0 0
2 0.669726 0.669726 0.669726
3 -0.669726 -0.669726 -0.669726

Types

1 1
2 2
3 2

Charges

1 0.70
2 -0.35
3 -0.35
"""
BEGIN = """units real
lattice sc 5.2
region box block 0 {edge} 0 {edge} 0 {edge}
"""
END = """neighbor 2.0 bin
neigh_modify delay 0 every 10 check no
timestep 1.0
thermo 1000
run 10
run {steps}
"""
MULTISITE = BEGIN + """atom_style ellipsoid
create_box 1 box
create_atoms 1 box
pair_style multisite 12.0 {words}
pair_coeff * * {folder}/component CO2
set_multisite all
set group all quat -1 1 0 54.7356
velocity all create 300.0 4928
fix integrate all nve/asphere
fix linear all multisite/linear
""" + END
RIGID = BEGIN + """atom_style full
create_box 2 box
mass 1 12.011
mass 2 15.9995
molecule CO2 {folder}/template
create_atoms 0 box mol CO2 4928 rotate 0 1 0 0
pair_style lj/cut/coul/cut 12.0
pair_coeff 1 1 0.053649 2.80
pair_coeff 2 2 0.156991 3.05
pair_modify mix arithmetic
neigh_modify exclude molecule/intra all
velocity all create 300.0 4928
fix integrate all rigid/nve/small molecule
""" + END


def updates(bench, backend, model, phase, edge, precision, repeats, threads=None):
    """Return molecules, partners, ms of forces and torques, ms with energies and virials, million
    updates per second, ms with copies."""
    numbers = bench.program(PROGRAM, backend, model, phase, bench.size(edge, 4), precision, threads or bench.threads, repeats)
    molecules, partners, ms, with_energies, rate, copies = numbers
    return int(molecules.value), int(partners.value), ms, with_energies.value, rate.value, copies.value


def fastest(bench, edge, steps, cases):
    """Return milliseconds of a step with the median minus the fastest as spread, and of its pair
    style, for runs by name. cases: arguments of LAMMPS and a script."""
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("component", COMPONENT), ("template", TEMPLATE)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        for _ in range(TURNS):
            for name, (words, script) in cases.items():
                output = bench.lammps(folder, script.format(edge=edge, steps=steps, folder=folder), *words,
                                      threads=bench.threads)
                second = output[output.index("Loop time", output.index("Loop time") + 1):]
                took.setdefault(name, []).append([1e3 / steps * float(re.search(pattern, second, re.M).group(1))
                                                  for pattern in (r"Loop time of (\S+)", r"^Pair \s*\|\s*([0-9.e+-]+)")])
    return {name: (Number(min(runs)[0], statistics.median(run[0] for run in runs) - min(runs)[0]), min(runs)[1])
            for name, runs in took.items()}


def steps(bench):
    has_gpu = bool(bench.gpus)
    edge = bench.size(STEP_EDGE, 6)
    number = max(10, 200_000 // edge**3)
    cases = {"lj/cut/coul/cut, rigid/nve/small": ("", RIGID), "lj/cut/coul/cut/omp, rigid/nve/small": ("omp", RIGID)}
    for device in ("host", "cuda")[:1 + has_gpu]:
        for precision in "double", "mixed":
            words = f"device {device} precision {precision}"
            cases[f"multisite, device {device}, {precision}"] = ("", MULTISITE.replace("{words}", words))
    cases = {name: (["-pk", "omp", str(bench.threads)] + (["-sf", suffix] if suffix else []), script)
             for name, (suffix, script) in cases.items()}
    best = fastest(bench, edge, number, cases)
    table = bench.table("steps", "molecules", "pair style and fix", "threads", "ms per step", "pair", "million updates/s",
                        spread=FASTEST, lammps=True, gpus=has_gpu)
    for name, (loop, pair) in best.items():
        threads = 1 if name.startswith("lj/cut/coul/cut,") else bench.threads
        table.row(edge**3, name, threads, loop, pair, edge**3 / loop.value * 1e-3)


def host(bench):
    table = bench.table("updates", "model", "molecules", "partners", "precision", "threads", "each pair", "ms",
                        "with energies, ms", "million updates/s", spread=SPREAD)
    for model, name in MODELS.items():
        for precision in "mixed", "double":
            for n in sorted({1, bench.threads}):
                molecules, partners, ms, with_energies, rate, _ = updates(bench, "host", model, "liquid", HOST_EDGE,
                                                                          precision, 3, n)
                # The page selects the rows "twice" of the stored table, which also has rows "once".
                table.row(name, molecules, partners, precision, n, "twice", ms, with_energies, rate)


def gpu(bench):
    kernels = {"cuda": "in use", "cuda-any": "any number of sites"}
    table = bench.table("updates", "model", "phase", "molecules", "partners", "kernel", "precision", "ms",
                        "with energies, ms", "with copies, ms", "million updates/s", spread=SPREAD, gpus=1)
    cases = [(model, phase, edge, "cuda", "mixed") for model in MODELS for phase in ("liquid", "gas")
             for edge in (GPU_EDGES if model == "eo" else GPU_EDGES[:3])]
    others = (("cuda-any", "mixed"), ("cuda", "double"))
    cases += [("eo", "liquid", edge, *other) for edge in GPU_EDGES[1:3] for other in others]
    for model, phase, edge, backend, precision in cases:
        molecules, partners, ms, with_energies, rate, copies = updates(bench, backend, model, phase, edge, precision, 5)
        table.row(MODELS[model], phase, molecules, partners, kernels[backend], precision, ms, with_energies, copies, rate)


def kokkos(bench):
    table = bench.table("steps", "molecules", "precision", "multisite, ms per step", "multisite/kk, ms per step",
                        "million updates/s", "times faster", spread=FASTEST, lammps=True, gpus=1)
    for edge in KOKKOS_EDGES:
        edge = bench.size(edge, 6)
        steps = int(min(1000, max(50, 20_000_000 // edge**3)))
        for precision in "mixed", "double":
            script = MULTISITE.replace("{words}", f"device cuda precision {precision}")
            took = fastest(bench, edge, steps, {"copies": ([], script),
                                                "kk": (["-k", *bench.kokkos(), "-sf", "kk"], script)})
            copies, kk = took["copies"][0], took["kk"][0]
            table.row(edge**3, precision, copies, kk, edge**3 / kk.value * 1e-3, copies.value / kk.value)
