#!/usr/bin/env python3
"""Prints the benchmark table of many small KOKKOS runs that share one GPU: LAMMPS partitions of one
MPI rank each, with and without CUDA's Multi-Process Service (MPS), and the same runs one after another.

The system is the melt of kokkos.py with 4,000 atoms, without and with a harmonic bias on S of all
atoms. "ms of a step of all" is the time in which each of the runs advances by one step: the longest
time of a run, or the sum of the times one after another. Numbers are medians over turns.

Usage: replicas.py BUILD_DIR [KOKKOS [SCALE [N]]]; BUILD_DIR, KOKKOS and SCALE as in kokkos.py; N runs,
by default 8.
"""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from kokkos import MELT, RATIONAL, begin, runs_of, steps_of
from launch import run_lammps
from run import head, row

TURNS = 5
BIAS = f"""
compute cv all coord/gpu {RATIONAL} precision mixed
fix b all coord/bias c_cv harmonic k 400 s0 12
"""


def script(scale):
    """Return commands that run without and with the bias in turns, and the steps of a run."""
    edge, steps = max(4, round(10 * scale)), steps_of(4000, scale)
    lines = [MELT.format(nx=edge, ny=edge, nz=edge, cube=1, ball="1 1 1 1", equilibration=steps_of(500, scale)),
             f"thermo {steps}"]
    for _ in range(TURNS + 1):
        lines += ['print "bench 0"', f"run {steps}", BIAS, 'print "bench 1"', f"run {steps}", "unfix b", "uncompute cv"]
    return "\n".join(lines) + "\n", steps


@contextlib.contextmanager
def mps():
    """Start MPS for the programs of this context."""
    with tempfile.TemporaryDirectory() as folder:
        names = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"
        os.environ.update(dict.fromkeys(names, folder))
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True)
        try:
            yield
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, check=True)
            for name in names:
                del os.environ[name]


def times_of(lmp, kokkos, scale, n):
    """Return the milliseconds of a step of n runs at a time, without and with the bias."""
    text, steps = script(scale)
    with tempfile.TemporaryDirectory() as folder:
        partition = ["-partition", f"{n}x1"] if n > 1 else []
        run_lammps(lmp, folder, text, *partition, "-log", "log", "-k", *kokkos, "-sf", "kk", ranks=n)
        texts = []
        for k in range(n):
            with open(os.path.join(folder, f"log.{k}" if n > 1 else "log")) as file:
                texts.append(file.read())
    seconds = {}    # [with bias][run][turn]
    for k, output in enumerate(texts):
        for (biased,), time, _ in runs_of(output):
            seconds.setdefault(biased, {}).setdefault(k, []).append(time)
    return [1e3 / steps * statistics.median(max(turn) for turn in list(zip(*seconds[biased].values()))[1:])
            for biased in (0, 1)]


def main():
    lmp, words, scale = begin(__doc__, "runs that share a GPU")
    n = int(sys.argv[4]) if len(sys.argv) > 4 else 8
    alone = [n * time for time in times_of(lmp, words, scale, 1)]
    head("runs", "how", "ms of a step of all", "with bias", "ms added", "times faster with bias")

    def print_row(how, without, biased):
        row(n, how, without, biased, biased - without, f"{alone[1] / biased:.2f}")

    print_row("one after another", *alone)
    print_row("at once", *times_of(lmp, words, scale, n))
    if shutil.which("nvidia-cuda-mps-control"):
        with mps():
            print_row("one after another, MPS", *(n * time for time in times_of(lmp, words, scale, 1)))
            print_row("at once, MPS", *times_of(lmp, words, scale, n))


if __name__ == "__main__":
    main()
