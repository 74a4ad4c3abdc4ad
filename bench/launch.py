"""Starts LAMMPS for the benchmarks, and reports which variants a build has."""

import os
import re
import subprocess
import sys


def has_variants(build):
    """Whether a build folder has the variants that are never chosen (GPUCOORD_BENCH_VARIANTS)."""
    with open(os.path.join(build, "CMakeCache.txt")) as cache:
        return re.search(r"^GPUCOORD_BENCH_VARIANTS:BOOL=(ON|TRUE|YES|1)$", cache.read(), re.M | re.I) is not None


def run_lammps(lmp, folder, script, *words, threads=None, ranks=1):
    """Return the screen output of LAMMPS for the commands of script, run in folder with additional
    command line words."""
    path = os.path.join(folder, "in.bench")
    with open(path, "w") as file:
        file.write(script)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)} if threads else None
    launcher = ["mpirun", "-np", str(ranks)] if ranks > 1 else []
    run = subprocess.run([*launcher, lmp, "-in", path, "-log", "none", "-nocite", *words], cwd=folder, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    return run.stdout
