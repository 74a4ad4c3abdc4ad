"""Starts LAMMPS for the benches."""

import os
import subprocess
import sys


def run_lammps(lmp, folder, script, *words, threads=None, ranks=1):
    """The screen output of LAMMPS on the commands of script, in folder; words follow on its command line."""
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
