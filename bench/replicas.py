"""Part replicas: many small KOKKOS runs that share one GPU: LAMMPS partitions of one MPI rank each, with
and without CUDA's Multi-Process Service (MPS), and the same runs one after another.

The system is the melt of kokkos.py with 4,000 atoms, without and with a harmonic bias on S of all
atoms. Milliseconds are those in which each of the runs advances by one step: the longest time of a
run, or the sum of the times one after another. Numbers are medians over turns. Table walkers: the same with OPES, whose kernels the runs share or do not share.
"""

import contextlib
import os
import subprocess
import tempfile

from kokkos import RATIONAL, melt_of, runs_of
from results import Number, measured

N = 8    # runs
TURNS = 5
PERCENT = 40    # of the threads of the GPU that MPS lets a process use: the best of 15, 40 and 100
COMPUTE = f"compute cv all {RATIONAL} precision mixed\n"
BIAS = COMPUTE + "fix b all coord/bias c_cv harmonic k 400 s0 12\n"
OPES = COMPUTE + "fix b all coord/bias c_cv opes barrier 20 pace 500 temp 1.44 sigma 0.01 "
OWN = OPES + "file KERNELS.$w\n"
SHARED = OPES + "file KERNELS walkers partitions\n"


def script(bench, n, bias):
    """Return commands that run without and with the bias in turns, and the steps of a run."""
    steps = bench.steps(4000)
    world = " ".join(map(str, range(n)))
    lines = [f"variable w world {world}" if n > 1 else "variable w index 0",
             melt_of((bench.size(10, 4),) * 3, bench.steps(500)), f"thermo {steps}"]
    for _ in range(TURNS + 1):
        lines += ['print "bench 0"', f"run {steps}", bias, 'print "bench 1"', f"run {steps}", "unfix b", "uncompute cv"]
    return "\n".join(lines) + "\n", steps


@contextlib.contextmanager
def mps(percent=100):
    """Start MPS for the programs of this context, which may each use that percentage of the threads of the GPU."""
    with tempfile.TemporaryDirectory() as folder:
        names = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
        os.environ.update(zip(names, (folder, folder, str(percent))))
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True)
        try:
            yield
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, check=True)
            for name in names:
                del os.environ[name]


def times_of(bench, n, bias=BIAS):
    """Return the milliseconds of a step of n runs at a time, without and with the bias."""
    text, steps = script(bench, n, bias)
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        partition = ["-partition", f"{n}x1"] if n > 1 else []
        bench.lammps(folder, text, *partition, "-log", "log", "-k", *bench.kokkos(), "-sf", "kk", ranks=n)
        for k in range(n):
            with open(os.path.join(folder, f"log.{k}" if n > 1 else "log")) as file:
                texts.append(file.read())
    seconds = {}    # [with bias][run][turn]
    for k, output in enumerate(texts):
        for (biased,), time, _ in runs_of(output):
            seconds.setdefault(biased, {}).setdefault(k, []).append(time)
    return [measured([1e3 / steps * max(turn) for turn in list(zip(*seconds[biased].values()))[1:]]) for biased in (0, 1)]


def run(bench):
    rows = []

    def row(how, without, biased):
        reference = rows[0][2] if rows else biased
        rows.append((how, without, biased, reference.value / biased.value))

    def alone(bias=BIAS):
        return (Number(N * time.value, N * time.spread) for time in times_of(bench, 1, bias))

    row("one after another", *alone())
    row(f"{N} processes at once", *times_of(bench, N))
    if "g" in bench.kokkos():
        with mps():
            row("one after another, MPS on", *alone())
            row(f"{N} processes at once, MPS on", *times_of(bench, N))
            walkers = (("one after another, each with its own bias", *alone(OWN)),
                       (f"{N} at once, each with its own bias", *times_of(bench, N, OWN)),
                       (f"{N} walkers that share one bias", *times_of(bench, N, SHARED)))
        with mps(PERCENT):
            walkers += ((f"{N} walkers, each with {PERCENT} % of the threads", *times_of(bench, N, SHARED)),)
    table = bench.table("runs", "mode", "ms without bias", "ms with bias", "times faster, with bias", precision="mixed",
                        spread=f"half the range of {TURNS} turns", lammps=True, gpus="g" in bench.kokkos())
    for cells in rows:
        table.row(*cells)
    if "g" in bench.kokkos():
        table = bench.table("walkers", "mode, MPS on", "ms without bias", "ms with OPES", "times faster, with OPES",
                            precision="mixed", spread=f"half the range of {TURNS} turns", lammps=True, gpus=True)
        for cells in walkers:
            table.row(*cells, walkers[0][2].value / cells[2].value)
