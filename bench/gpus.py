#!/usr/bin/env python3
"""Prints the benchmark tables of biased KOKKOS runs on several GPUs of one machine: weak and strong
scaling, S and positions.

LAMMPS' melt and the bias are those of kokkos.py, with one MPI rank per GPU. Weak scaling: a
constant number of atoms per GPU, in a box that grows along z; the efficiency is the time of a step
on one GPU over the time on n. Strong scaling: the same atoms on more GPUs. Numbers are medians of
LAMMPS' own times of runs without and with the bias in turns. S in double and positions depend on
the number of GPUs by rounding, which grows from step to step.

Usage: gpus.py BUILD_DIR [GPUS [KOKKOS [SCALE]]]; GPUS is the largest number of GPUs, by default 4;
runs use powers of 2. KOKKOS are the words after LAMMPS' option -k for n GPUs, by default "on g {n}";
"on t 1" runs ranks of one thread. SCALE below 1 makes systems smaller and runs shorter, to try the
script without a GPU.
"""

import os
import re
import sys
import tempfile

from kokkos import EQUILIBRATION, HARMONIC, MELT, RATIONAL, Case, System, measure, nothing_to_do, steps_of
from launch import run_lammps
from run import head, row

LIMIT = 0.95    # minimum of the efficiency with bias over that without
# Edges in unit cells of 4 atoms, and steps of a run. For weak scaling, the edge along z is that of
# each GPU.
WEAK = (63, 63, 63), 200
VALUES = (WEAK[0], 0), ((20, 20, 20), 0), ((20, 20, 20), 100)
STRONG = ((40, 40, 40), 400), ((63, 63, 63), 200), ((126, 126, 126), 40)


def melt(edges, scale, equilibration=EQUILIBRATION):
    nx, ny, nz = (max(4, round(edge * scale)) for edge in edges)
    return MELT.format(nx=nx, ny=ny, nz=nz, cube=4, ball="4 4 4 2", equilibration=steps_of(equilibration, scale))


def scaling(lmp, kokkos, scale, n, edges, steps):
    """Return the results for a melt on n GPUs."""
    # Large systems get fewer steps of equilibration and run: the crystal has melted after some 50.
    system = System("LJ melt", melt(edges, scale, min(EQUILIBRATION, 2 * steps)), steps_of(steps, scale),
                    (Case("harmonic", (HARMONIC,)),))
    with tempfile.TemporaryDirectory() as folder:
        found, says = measure(lmp, folder, kokkos(n), system, ranks=n)
    return found[0], says


def last_state(lmp, kokkos, scale, n, edges, steps):
    """Return S in double, positions and box lengths of a crystal with displaced atoms after 'steps'
    biased steps."""
    with tempfile.TemporaryDirectory() as folder:
        last = os.path.join(folder, "last.txt")
        script = melt(edges, scale).rpartition("run ")[0] + f"""
displace_atoms all random 0.1 0.1 0.1 4711
reset_atoms id sort yes
compute cv all coord/gpu {RATIONAL} precision double
fix b all coord/bias c_cv harmonic k $(count(all)) s0 12
thermo_style custom step c_cv
thermo_modify format float %.17g
run {steps}
write_dump all custom {last} id x y z modify sort id format float %.17g
"""
        output = run_lammps(lmp, folder, script, "-k", *kokkos(n), "-sf", "kk", ranks=n)
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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lmp = os.path.join(os.path.abspath(sys.argv[1]), "lmp")
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    words = sys.argv[3] if len(sys.argv) > 3 else "on g {n}"
    scale = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    kokkos = lambda n: words.format(n=n).split()
    numbers = [2**k for k in range(most.bit_length()) if 2**k <= most]
    reason = nothing_to_do(lmp, kokkos(1))
    if reason:
        print(f"No table of runs on several GPUs by {sys.argv[1]}/lmp: {reason}")
        return

    print("S in double, over that on one GPU, less 1, and the largest difference of a coordinate:\n")
    head("GPUs", *(f"{4 * nx * ny * nz:,} atoms, {steps} steps" for (nx, ny, nz), steps in VALUES))
    one = None
    for n in numbers:
        states = [last_state(lmp, kokkos, scale, n, *run) for run in VALUES]
        one = one or states
        row(n, *(f"{a[0] / b[0] - 1:+.1e}, {largest_difference(a, b):.1e}" for a, b in zip(states, one)))

    print("\nWeak scaling: milliseconds of a step without and with a harmonic bias on S of all atoms.\n")
    head("GPUs", "atoms", "ms without", "ms with", "times", "efficiency without", "with", "with over without")
    first = None
    for n in numbers:
        (nx, ny, nz), steps = WEAK
        found, says = scaling(lmp, kokkos, scale, n, (nx, ny, nz * n), steps)
        first = first or found
        without, biased = first.without / found.without, first.biased / found.biased
        row(n, f"{found.atoms:,}", found.without, found.biased, f"{found.biased / found.without:.2f}", f"{without:.3f}",
            f"{biased:.3f}", f"{biased / without:.3f}: {LIMIT} {'met' if biased >= LIMIT * without else 'not met'}")

    print("\nStrong scaling:\n")
    head("atoms", "GPUs", "ms without", "ms with", "times", "speed-up without", "with")
    for edges, steps in STRONG:
        first = None
        for n in numbers:
            found, says = scaling(lmp, kokkos, scale, n, edges, steps)
            first = first or found
            row(f"{found.atoms:,}", n, found.without, found.biased, f"{found.biased / found.without:.2f}",
                f"{first.without / found.without:.2f}", f"{first.biased / found.biased:.2f}")
    print("\n" + says)


if __name__ == "__main__":
    main()
