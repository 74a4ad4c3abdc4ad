#!/usr/bin/env python3
"""Prints the drift of conserved quantities in NVE and NPT runs with KOKKOS, with and without a
bias.

The system is a melt of 4,000 atoms, lj/cut shifted to 0 at 2.5, T 1, density 0.8442 or pressure 3,
timestep 0.005. A harmonic bias acts on the mean coordination number of all atoms (cubic, d0 0.9,
dmax 2.5), 0.2 from its mean without the bias. The derivative of this function has no jump at dmax;
a jump may cause an energy drift in any precision (doc/accuracy.md). NVE conserves the total energy
including the bias, NPT also includes the energies of thermostat and barostat. All runs share one
GPU at the same time. Start nvidia-cuda-mps-control -d first: it lets processes run on the GPU
concurrently. Without it they take turns, which is far slower.

The drift is the slope of a straight line through block means. Its error assumes that the noise is
partly independent from block to block and partly a random walk, which rounding causes in energies.
The data determine the fraction of each (restricted maximum likelihood).

Usage: drift.py BUILD_DIR SECONDS [KOKKOS [PRECISION ...]]; SECONDS is the time of each run. KOKKOS
are the words after LAMMPS' option -k, by default "on g 1". There is a biased run for each PRECISION
of the compute, by default mixed.
"""

import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kokkos import nothing_to_do
from launch import run_lammps
from run import head, row

NVT = "fix move all nvt temp 1.0 1.0 0.5"
# With iso and a chain on the barostat, LAMMPS' conserved energy performs a walk of 0.01 per atom in
# 20,000 steps. Hence no chain.
NPT = "fix move all npt temp 1.0 1.0 0.5 iso 3.0 3.0 5.0 pchain 0"
# commands for equilibration, and for the run itself
ENSEMBLES = {"NVE": (NVT, "fix move all nve"), "NPT": (NPT, NPT)}
ATOMS = 4000
EQUILIBRATION = 4000    # steps, without the bias and again with it
EVERY = 100    # steps
BLOCKS = 50

SCRIPT = """
units lj
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 2.0 87287
pair_style lj/cut 2.5
pair_modify shift yes
pair_coeff 1 1 1.0 1.0
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
thermo_modify norm no
{thermostat}
run {equilibration}
unfix move
{bias}
{thermostat}
run {equilibration}
unfix move
{move}
thermo {every}
thermo_style custom step econserve {columns}
thermo_modify norm no format float %.16g
timer timeout {seconds} every {every}
print "measured from here"
run 1000000000
"""
BIAS = """
compute cv all coord/gpu switch cubic d0 0.9 dmax 2.5 norm mean precision {precision}
thermo_style custom step c_cv
run 0
variable s0 equal $(c_cv+0.2)
thermo_style one
thermo_modify norm no
fix b all coord/bias c_cv harmonic k 8000 s0 ${{s0}}
"""


def measure(lmp, kokkos, seconds, ensemble, precision):
    """Return steps, the conserved energy, and the energy of the bias, if there is one."""
    thermostat, move = ENSEMBLES[ensemble]
    bias, columns = (BIAS.format(precision=precision), "f_b") if precision else ("", "")
    script = SCRIPT.format(thermostat=thermostat, bias=bias, equilibration=EQUILIBRATION, move=move, columns=columns,
                           every=EVERY, seconds=seconds)
    with tempfile.TemporaryDirectory() as folder:
        output = run_lammps(lmp, folder, script, "-k", *kokkos, "-sf", "kk", threads=1)
    rows = re.findall(r"^ +(\d+(?: +[-+.0-9e]+)+) *$", output.split("measured from here")[1], re.M)
    return np.array([line.split() for line in rows], float).T


def drift(steps, energy):
    """Return the drift per time, from a straight line through block means, and its error."""
    length = len(steps) // BLOCKS
    if length < 1:
        sys.exit(f"A run came to {EVERY * len(steps):,} steps, and a fit needs {EVERY * BLOCKS:,}: give more SECONDS")
    times, means = (column[:BLOCKS * length].reshape(BLOCKS, length).mean(axis=1) for column in (steps, energy))
    line = np.column_stack([np.ones(BLOCKS), times - times.mean()])
    index = np.arange(1, BLOCKS + 1)
    # Covariance of block means of a random walk.
    walk = np.minimum.outer(index, index) - 1 / 2 - np.eye(BLOCKS) / 6
    best = (-np.inf,)    # likelihood, drift per time, error
    for share in np.append(0, np.logspace(-5, 5, 101)):
        root = np.linalg.cholesky(np.eye(BLOCKS) + share * walk)
        x, y = np.linalg.solve(root, line), np.linalg.solve(root, means - means.mean())
        normal = x.T @ x
        coefficients = np.linalg.solve(normal, x.T @ y)
        variance = np.sum((y - x @ coefficients)**2) / (BLOCKS - 2)
        logarithms = 2 * np.log(np.diag(root)).sum(), np.linalg.slogdet(normal)[1], (BLOCKS - 2) * np.log(variance)
        best = max(best, (-sum(logarithms), coefficients[1], np.sqrt(variance * np.linalg.inv(normal)[1, 1])))
    return best[1:]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    lmp, seconds = os.path.join(os.path.abspath(sys.argv[1]), "lmp"), sys.argv[2]
    kokkos = (sys.argv[3] if len(sys.argv) > 3 else "on g 1").split()
    precisions = sys.argv[4:] or ["mixed"]
    reason = nothing_to_do(lmp, kokkos)
    if reason:
        sys.exit(f"No KOKKOS runs by {sys.argv[1]}/lmp: {reason}")
    cases = [(ensemble, precision) for ensemble in ENSEMBLES for precision in [None, *precisions]]
    with ThreadPoolExecutor(len(cases)) as pool:
        tables = dict(zip(cases, pool.map(lambda case: measure(lmp, kokkos, seconds, *case), cases)))
    print(f"What {ATOMS:,} atoms conserve, every {EVERY} steps for {seconds} s (LJ units). Fluctuation: the standard "
          "deviation, of all atoms;\ndrift: for each atom in a million steps.\n")
    head("ensemble", "bias", "steps", "mean V", "fluctuation of V", "of what is conserved", "drift", "+-",
         "less that without bias", "over its error")
    for (ensemble, precision), (steps, conserved, *v) in tables.items():
        slope, error = 1e6 / ATOMS * np.array(drift(steps, conserved))
        if precision is None:
            without = slope, error
            compared = "", ""
        else:
            difference, its_error = slope - without[0], np.hypot(error, without[1])
            compared = f"{difference:+.2e}", f"{difference / its_error:+.1f}"
        row(ensemble, f"harmonic, {precision}" if precision else "none", f"{steps[-1] - steps[0]:,.0f}",
            *((v[0].mean(), v[0].std()) if v else ("", "")), conserved.std(), f"{slope:+.2e}", f"{error:.1e}",
            *compared)


if __name__ == "__main__":
    main()
