"""Part gpus: biased KOKKOS runs on several GPUs of one machine: weak and strong scaling, S and
positions.

LAMMPS' melt and the bias are those of kokkos.py, with one MPI rank per GPU, on 1, 2, 4, ... GPUs. Weak
scaling: a constant number of atoms per GPU, in a box that grows along z; the efficiency is the time of a
step on one GPU over the time on n. Strong scaling: the same atoms on more GPUs. Numbers are medians of
LAMMPS' own times of runs without and with the bias in turns. S in double and positions depend on the
number of GPUs by rounding, which grows from step to step.
"""

import os
import re
import tempfile

from kokkos import EQUILIBRATION, RATIONAL, SPREAD, Case, System, measure, melt_of

# Edges in unit cells of 4 atoms, and steps of a run. For weak scaling, the edge along z is that of
# each GPU.
WEAK = ((32, 32, 32), 800), ((63, 63, 63), 200)
VALUES = ((63, 63, 63), 0), ((20, 20, 20), 0), ((20, 20, 20), 100)
STRONG = ((40, 40, 40), 400), ((63, 63, 63), 200), ((126, 126, 126), 40)


def melt(bench, edges, equilibration=EQUILIBRATION):
    return melt_of([bench.size(edge, 4) for edge in edges], bench.steps(equilibration), cube=4, ball="4 4 4 2")


def scaling(bench, n, edges, steps):
    """Return the results for a melt on n GPUs."""
    # Large systems get fewer steps of equilibration and run: the crystal has melted after some 50.
    system = System("LJ melt", melt(bench, edges, min(EQUILIBRATION, 2 * steps)), bench.steps(steps), (Case("harmonic"),))
    return measure(bench, bench.kokkos(n), system, ranks=n)[0]


def last_state(bench, n, edges, steps):
    """Return S in double, positions and box lengths of a crystal with displaced atoms after 'steps'
    biased steps."""
    with tempfile.TemporaryDirectory() as folder:
        last = os.path.join(folder, "last.txt")
        script = melt(bench, edges).rpartition("run ")[0] + f"""
displace_atoms all random 0.1 0.1 0.1 4711
reset_atoms id sort yes
compute cv all {RATIONAL} precision double
fix b all coord/bias c_cv harmonic k $(count(all)) s0 12
thermo_style custom step c_cv
thermo_modify format float %.17g
run {steps}
write_dump all custom {last} id x y z modify sort id format float %.17g
"""
        output = bench.lammps(folder, script, "-k", *bench.kokkos(n), "-sf", "kk", ranks=n)
        with open(last) as file:
            lines = file.read().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("ITEM: BOX"))
    bounds = [[float(word) for word in line.split()] for line in lines[first + 1 : first + 4]]
    positions = [[float(word) for word in line.split()[1:]] for line in lines[first + 5 :]]
    s = float(re.findall(r"^ +\d+ +([0-9.e+]+) *$", output, re.M)[-1])
    return s, positions, [hi - lo for lo, hi in bounds]


def largest_difference(state, other):
    """Return the largest difference of a coordinate, between nearest images."""
    _, positions, lengths = state
    return max(
        abs(a - b - length * round((a - b) / length))
        for row_a, row_b in zip(positions, other[1])
        for a, b, length in zip(row_a, row_b, lengths)
    )


def run(bench):
    maximum = len(bench.gpus) if "g" in bench.kokkos() else 2
    numbers = [2**k for k in range(maximum.bit_length()) if 2**k <= maximum]
    fields = {"lammps": True, "gpus": maximum if "g" in bench.kokkos() else 0}

    table = bench.table("exact", "GPUs", "atoms", "steps", "S, relative difference", "coordinates, largest difference",
                        precision="double", **fields)
    one = None
    for n in numbers:
        states = [last_state(bench, n, *case) for case in VALUES]
        one = one or states
        if n > 1:
            for a, b, (_, steps) in zip(states, one, VALUES):
                table.row(n, len(a[1]), steps, abs(a[0] / b[0] - 1), largest_difference(a, b))

    fields.update(precision="mixed", spread=SPREAD)
    for name, ratio, cases in ("weak", "efficiency", WEAK), ("strong", "speed-up", STRONG):
        table = bench.table(name, "GPUs", "atoms", "ms without", "ms with", "ms added", f"{ratio} without",
                            f"{ratio} with", **fields)
        for (nx, ny, nz), steps in cases:
            first = None
            for n in numbers:
                found = scaling(bench, n, (nx, ny, nz * n if name == "weak" else nz), steps)
                first = first or found
                table.row(n, found.atoms, found.without, found.biased, found.added, first.without / found.without,
                          first.biased / found.biased)
