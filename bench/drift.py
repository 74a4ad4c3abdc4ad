"""Part drift: conserved quantities in NVE and NPT runs with KOKKOS, with and without a bias.

The system is a melt of 4,000 atoms, lj/cut shifted to 0 at 2.5, T 1, density 0.8442 or pressure 3,
timestep 0.005. A harmonic bias acts on the mean coordination number of all atoms, 0.2 from its mean
without the bias: cubic, d0 0.9, dmax 2.5, whose derivative has no jump at dmax, and for comparison
rational 6/12, r0 1.5, dmax 2.5, whose derivative has one. NVE conserves the total energy including the
bias, NPT also includes the energies of thermostat and barostat. All runs share one GPU at the same
time, by CUDA's Multi-Process Service (MPS).

The drift is the slope of a straight line through block means. Its error assumes that the noise is
partly independent from block to block and partly a random walk, which rounding causes in energies.
The data determine the fraction of each (restricted maximum likelihood).
"""

import contextlib
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from replicas import mps
from results import Number

SECONDS = 100    # length of each run
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
SWITCHES = {"cubic": "cubic d0 0.9 dmax 2.5", "rational": "rational 1.5 dmax 2.5"}
# ensemble, switch, precision
CASES = (("NVE", None, None), ("NVE", "cubic", "mixed"), ("NVE", "rational", "mixed"),
         ("NVE", "rational", "double"), ("NPT", None, None), ("NPT", "cubic", "mixed"))

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
compute cv all coord/gpu switch {switch} norm mean precision {precision}
thermo_style custom step c_cv
run 0
variable s0 equal $(c_cv+0.2)
thermo_style one
thermo_modify norm no
fix b all coord/bias c_cv harmonic k 8000 s0 ${{s0}}
"""


def measure(bench, ensemble, switch, precision):
    """Return steps, the conserved energy, and the energy of the bias, if there is one."""
    thermostat, move = ENSEMBLES[ensemble]
    bias, columns = (BIAS.format(switch=SWITCHES[switch], precision=precision), "f_b") if switch else ("", "")
    script = SCRIPT.format(thermostat=thermostat, bias=bias, equilibration=EQUILIBRATION, move=move, columns=columns,
                           every=EVERY, seconds=round(SECONDS * bench.scale))
    with tempfile.TemporaryDirectory() as folder:
        output = bench.lammps(folder, script, "-k", *bench.kokkos(), "-sf", "kk", threads=1)
    rows = re.findall(r"^ +(\d+(?: +[-+.0-9e]+)+) *$", output.split("measured from here")[1], re.M)
    return np.array([line.split() for line in rows], float).T


def drift(steps, energy):
    """Return the drift per time, from a straight line through block means, and its error."""
    length = len(steps) // BLOCKS
    if length < 1:
        sys.exit(f"A run came to {EVERY * len(steps):,} steps, and a fit needs {EVERY * BLOCKS:,}: raise SECONDS in "
                 "bench/drift.py")
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


def run(bench):
    is_gpu = "g" in bench.kokkos()
    with mps() if is_gpu else contextlib.nullcontext(), ThreadPoolExecutor(len(CASES)) as pool:
        found = list(pool.map(lambda case: measure(bench, *case), CASES))
    table = bench.table("conserved", "ensemble", "bias on", "steps", "drift", "fluctuation", "mean V", "fluctuation of V",
                        spread="the standard error", lammps=True, gpus=is_gpu)
    for (ensemble, switch, precision), (steps, conserved, *v) in zip(CASES, found):
        slope, error = 1e6 / ATOMS * np.array(drift(steps, conserved))
        table.row(ensemble, f"{SWITCHES[switch]}; {precision}" if switch else "none", int(steps[-1] - steps[0]),
                  Number(slope, error), float(conserved.std()), *((float(v[0].mean()), float(v[0].std())) if v else (None, None)))
