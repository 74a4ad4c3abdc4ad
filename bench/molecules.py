#!/usr/bin/env python3
"""Prints the benchmark tables of rigid molecules: molecule updates per second, and steps of LAMMPS
compared with fix rigid/nve/small, also on the GPU if LAMMPS has KOKKOS for CUDA.

The models are those of bench_multisite (its first lines list them) on a jittered lattice with
random orientations and periodic images as ghosts; forces and torques only. The numbers of
ls1-MarDyn are constants, measured on one core.

Usage: molecules.py BUILD_DIR [threads [edge ...]]; threads defaults to all cores, edges (molecules
along an edge, on the GPU) to 22 46 100 159; the fourth and later edges run ethylene oxide only.
"""

import os
import re
import subprocess
import sys
import tempfile

from kokkos import nothing_to_do
from launch import has_variants, run_lammps
from run import head, row, run_program

MODELS = {"lj": "two centers (ethane)", "co2": "three centers, three charges", "eo": "three centers, a dipole (ethylene oxide)",
          "water": "a center, three charges (water)", "n2": "two centers, a quadrupole (nitrogen)"}
LS1_A_CORE = {"eo": 0.086, "co2": 0.068}    # million updates per second on one EPYC core
HOST_EDGE = 22
KOKKOS_EDGES = 16, 46, 100
TURNS = 3

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


def measure(program, backend, model, phase, edge, precision, threads, repeats):
    """Return molecules, partners, ms of forces, ms with energies and virials, million updates per
    second, ms with copies."""
    return [float(word) for word in run_program(program, backend, model, phase, edge, precision, threads, repeats)]


def host_table(program, threads, variants):
    head("model, liquid", "molecules", "partners", "precision", "threads", "each pair", "ms", "with energies",
         "million updates/s", "ls1-MarDyn, one core", "times, a core")
    for model, name in MODELS.items():
        for precision in "double", "mixed":
            for n in sorted({1, threads}):
                for backend in ["host", "host-once"] if variants else ["host"]:
                    molecules, partners, ms, with_energies, rate, _ = measure(program, backend, model, "liquid", HOST_EDGE,
                                                                              precision, n, 3)
                    peer = LS1_A_CORE.get(model)
                    row(name, f"{molecules:,.0f}", f"{partners:.0f}", precision, n, "once" if "once" in backend else "twice", ms,
                        with_energies, rate, peer or "", rate / n / peer if peer else "")


def gpu_table(program, threads, edges, variants):
    head("model", "phase", "molecules", "partners", "processor", "precision", "ms", "with energies", "ms with copies",
         "million updates/s", "pairs of molecules/s")
    cases = [(model, phase, edge, "cuda", "single") for model in MODELS for phase in ("liquid", "gas")
             for edge in (edges if model == "eo" else edges[:3])]
    cases += [("eo", "liquid", edge, backend, precision) for edge in edges[1:3]
              for backend, precision in (("cuda-block", "single"), ("cuda-any", "single"), ("cuda", "mixed"), ("cuda", "double"))
              if variants or backend != "cuda-block"]
    for model, phase, edge, backend, precision in cases:
        molecules, partners, ms, with_energies, rate, copies = measure(program, backend, model, phase, edge, precision, threads, 5)
        processor = {"cuda": "warp", "cuda-block": "block", "cuda-any": "warp, any number of sites"}[backend]
        row(MODELS[model], phase, f"{molecules:,.0f}", f"{partners:.0f}", processor, precision, ms, with_energies, copies, rate,
            f"{rate * 1e6 * partners:.2g}")


def fastest(build, threads, edge, steps, cases):
    """Return milliseconds of a step, and of its pair style, for runs by name. cases: arguments of
    LAMMPS and a script."""
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("component", COMPONENT), ("template", TEMPLATE)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        for _ in range(TURNS):
            for name, (words, script) in cases.items():
                output = run_lammps(os.path.join(build, "lmp"), folder, script.format(edge=edge, steps=steps, folder=folder),
                                    *words, threads=threads)
                second = output[output.index("Loop time", output.index("Loop time") + 1):]
                took = [1e3 / steps * float(re.search(pattern, second, re.M).group(1))
                        for pattern in (r"Loop time of (\S+)", r"^Pair \s*\|\s*([0-9.e+-]+)")]
                best[name] = min(best.get(name, took), took)
    return best


def kokkos_table(build, threads):
    head("molecules of carbon dioxide", "precision", "multisite, ms a step", "multisite/kk, ms a step", "million updates/s", "times")
    for edge in KOKKOS_EDGES:
        steps = int(min(1000, max(50, 20_000_000 // edge**3)))
        for precision in "mixed", "double":
            script = MULTISITE.replace("{words}", f"device cuda precision {precision}")
            took = fastest(build, threads, edge, steps, {"copies": ([], script),
                                                         "kk": (["-k", "on", "g", "1", "-sf", "kk"], script)})
            copies, kk = took["copies"][0], took["kk"][0]
            row(f"{edge**3:,}", precision, copies, kk, edge**3 / kk * 1e-3, copies / kk)


def step_table(build, threads, device_is_there, edge):
    steps = max(10, 200_000 // edge**3)
    cases = {"lj/cut/coul/cut, fix rigid/nve/small": ("", RIGID), "lj/cut/coul/cut/omp, fix rigid/nve/small": ("omp", RIGID)}
    for words in "device host precision double", "device host precision mixed":
        cases[f"multisite, {words}"] = ("", MULTISITE.replace("{words}", words))
    if device_is_there:
        for words in "device cuda precision double", "device cuda precision mixed":
            cases[f"multisite, {words}"] = ("", MULTISITE.replace("{words}", words))
    words = {name: ["-pk", "omp", str(threads)] + (["-sf", suffix] if suffix else []) for name, (suffix, _) in cases.items()}
    best = fastest(build, threads, edge, steps, {name: (words[name], script) for name, (_, script) in cases.items()})
    head("molecules of carbon dioxide", "pair style", "threads", "ms a step", "pair", "million updates/s")
    for name, (loop, pair) in best.items():
        row(f"{edge**3:,}", name, 1 if name.startswith("lj/cut/coul/cut,") else threads, loop, pair, edge**3 / loop * 1e-3)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    edges = [int(word) for word in sys.argv[3:]] or [22, 46, 100, 159]
    program = os.path.join(build, "bench", "bench_multisite")
    has_gpu = subprocess.run([os.path.join(build, "unittest", "find_gpu")], stdout=subprocess.DEVNULL).returncode == 0
    print(f"Rigid molecules on the host, {os.cpu_count()} cores\n")
    variants = has_variants(build)
    host_table(program, threads, variants)
    if has_gpu:
        print("\nThe same on the GPU, where molecules are there and results stay: bins, forces and torques\n")
        gpu_table(program, threads, edges, variants)
    print("\nSteps of LAMMPS: carbon dioxide as TraPPE has it, cutoff 12 Angstrom (of sites in lj/cut/coul/cut, of centers in "
          f"multisite); the\nfastest of {TURNS} runs\n")
    step_table(build, threads, has_gpu, 16)
    reason = nothing_to_do(os.path.join(build, "lmp"), ["on", "g", "1"])
    if reason:
        print(f"\nNo steps with KOKKOS: {reason}")
    else:
        print("\nThe same with KOKKOS, where nothing leaves the GPU, beside copies at every step\n")
        kokkos_table(build, threads)


if __name__ == "__main__":
    main()
