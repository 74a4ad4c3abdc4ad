#!/usr/bin/env python3
"""Runs parts of the benchmarks and stores their tables as PART.json (results.py has the format).

Without --parts all parts run that this machine and this build can run, and the others are listed with
the reason. A part that is named and cannot run is an error. bench/README.md describes the parts.
"""

import argparse
import importlib
import os
import subprocess
import sys
from dataclasses import dataclass

import results
from launch import Bench

LIBRARY = tuple(f"bench/bench_{name}" for name in ("orient_order", "environment_similarity", "pair_entropy"))


@dataclass
class Part:
    """A function of a module of this folder, and what it needs."""
    module: str
    function: str
    programs: tuple = ("lmp",)    # in the build folder
    gpus: int = 0
    kokkos: bool = False
    environment: tuple = ()    # variables that name files
    commands: tuple = ()


PARTS = {
    "coordination-host": Part("coordination", "host", ("bench/bench_coordination",)),
    "coordination-gpu": Part("coordination", "gpu", ("bench/bench_coordination",), gpus=1),
    "coordination-types": Part("coordination", "many_types", ("bench/bench_coordination",), gpus=1),
    "threads": Part("threads", "run", commands=("mpirun",)),
    "orders-host": Part("orders", "host", LIBRARY),
    "orders-gpu": Part("orders", "gpu", LIBRARY, gpus=1),
    "bias": Part("bias", "run"),
    "bias-gpu": Part("bias", "gpu", ("bench/bench_bias",), gpus=1),
    "pair-host": Part("pair", "host"),
    "pair-gpu": Part("pair", "gpu", gpus=1),
    "kokkos": Part("kokkos", "run", gpus=1, kokkos=True),
    "plumed": Part("plumed", "biases", gpus=1, kokkos=True, environment=("PLUMED_KERNEL",)),
    "geometry": Part("plumed", "geometry", gpus=1, kokkos=True, environment=("PLUMED_KERNEL",)),
    "fix-plumed": Part("plumed", "compared_with_fix_plumed", gpus=1, kokkos=True, environment=("PLUMED_KERNEL", "PLUMED_PLUGIN")),
    **{f"real-{name}": Part("real", name, gpus=1, kokkos=True) for name in ("water", "mw", "al", "mo", "w", "lj")},
    **{f"real-{name}-plumed": Part("real_plumed", name, gpus=1, kokkos=True, environment=("PLUMED_KERNEL", "PLUMED_PLUGIN"))
       for name in ("water", "mw", "al", "mo", "lj")},
    "gpus": Part("gpus", "run", gpus=2, kokkos=True, commands=("mpirun",)),
    "replicas": Part("replicas", "run", gpus=1, kokkos=True, commands=("mpirun", "nvidia-cuda-mps-control")),
    "molecules-host": Part("molecules", "host", ("bench/bench_multisite",)),
    "molecules-gpu": Part("molecules", "gpu", ("bench/bench_multisite",), gpus=1),
    "molecules-steps": Part("molecules", "steps"),
    "molecules-kokkos": Part("molecules", "kokkos", gpus=1, kokkos=True),
    "maps-host": Part("maps", "host", ("bench/bench_map",)),
    "maps-gpu": Part("maps", "gpu", ("bench/bench_map",), gpus=1),
    "accuracy-host": Part("accuracy", "host", ("lmp", "unittest/test_switching", "unittest/test_potential_map"),
                          commands=("ctest",)),
    "accuracy-gpu": Part("accuracy", "gpu", ("lmp", "unittest/test_switching", "unittest/test_potential_map"), gpus=1,
                         commands=("ctest",)),
    "drift": Part("drift", "run", gpus=1, kokkos=True, commands=("nvidia-cuda-mps-control",)),
}


def commit_of_tree():
    """Return the commit of this tree, with '+' if sources differ from it, or None without git."""
    git = ["git", "-C", results.ROOT]
    found = subprocess.run([*git, "rev-parse", "--short=7", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if found.returncode != 0:
        return None
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "lib", "src", "bench"]).returncode
    return found.stdout.strip() + "+" * bool(changed)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build folder, with lmp and bench/")
    parser.add_argument("--parts", default="", help=f"among: {' '.join(PARTS)}")
    parser.add_argument("--out", default=results.FOLDER, help="folder of the results [doc/results]")
    parser.add_argument("--threads", type=int, help="threads on the host [all cores]")
    parser.add_argument("--kokkos", default="on g {n}", help="words after LAMMPS' option -k for n GPUs [on g {n}]; off: without KOKKOS, to try the parts real-*")
    parser.add_argument("--commit", default=commit_of_tree(), help="commit of the build [that of the tree]")
    parser.add_argument("--scale", type=float, default=1.0, help="below 1: smaller systems and shorter runs, to try a part")
    options = parser.parse_args()
    if not os.path.isdir(options.build):
        parser.error(f"the build folder is '{options.build}' and must be a folder")
    if not 0 < options.scale <= 1:
        parser.error(f"--scale is {options.scale:g} and must be above 0 and at most 1")
    if options.threads is not None and options.threads < 1:
        parser.error(f"--threads is {options.threads} and must be at least 1")
    if options.kokkos == "off" and (options.scale == 1 or not options.parts):
        parser.error("--kokkos off is for trials: give --scale below 1 and --parts")
    if options.kokkos == "off" and not all(name.startswith("real-") for name in options.parts.split()):
        parser.error("--kokkos off is for the parts real-*")
    if options.scale < 1 and os.path.realpath(options.out) == os.path.realpath(results.FOLDER):
        parser.error("results of a --scale below 1 are no figures for the pages: give another folder by --out")
    if not results.COMMIT.fullmatch(options.commit or ""):
        parser.error(f"the commit is '{options.commit}' and must be 7 to 40 hexadecimal digits: without git, give --commit")
    for name in options.parts.split():
        if name not in PARTS:
            parser.error(f"the part is '{name}' and must be one of {', '.join(PARTS)}")
    return options


def main():
    options = arguments()
    bench = Bench(options.build, options.threads, options.kokkos, options.scale, options.commit)
    chosen = options.parts.split() or list(PARTS)
    reasons = {name: bench.missing(part.programs, part.gpus, part.kokkos, part.environment, part.commands)
               for name, part in PARTS.items() if name in chosen}
    without = {name: reason for name, reason in reasons.items() if reason}
    for name, reason in without.items():
        print(f"Part {name} cannot run: {reason}", file=sys.stderr)
    if options.parts and without:
        sys.exit(1)
    os.makedirs(options.out, exist_ok=True)
    for name in reasons:
        if name in without:
            continue
        part = PARTS[name]
        print(f"\n== {name} ==", flush=True)
        getattr(importlib.import_module(part.module), part.function)(bench)
        bench.save(options.out, name)


if __name__ == "__main__":
    main()
