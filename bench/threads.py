"""Part threads: compute coord/gpu and compute coord/orientorder on the host in LAMMPS, for numbers of
threads and of MPI ranks up to the number of cores.

The system is LAMMPS' melt of density 0.8442 as a crystal with displaced atoms that do not move,
rational 6/12. For order parameters it is a crystal of density 1 with 13 partners. Each step computes
the per-atom array, value and derivatives. Milliseconds are LAMMPS' own time of a step with the compute
and the sum of one of its columns, minus the time without them; medians of turns.
"""

import re
import tempfile

import results

TURNS = 5
# edge in unit cells of 4 atoms, dmax, steps of a run
CASES = ((14, 2.64, 40), (23, 2.64, 10), (23, 6.81, 4))
ORDERS = ("local", "average", "dot", "global")

SCRIPT = """
units lj
lattice fcc {density}
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random {move} {move} {move} 4711
pair_style zero 2.5 nocoeff
pair_coeff * *
comm_modify cutoff {reach}
thermo_modify norm no
"""
COORDINATION = "coord/gpu switch rational 1.5 dmax {dmax}"
ORDER = "coord/orientorder l 6 switch cubic d0 1.2 dmax 1.5 order {order}"
DEFINE = """
compute cv all {style} precision mixed device host
compute sum all reduce sum c_cv[1]
thermo 1
thermo_style custom step c_sum
"""


def measure(bench, edge, style, steps, threads, ranks, density=0.8442, move=0.1, reach=2.95):
    """Return the number of atoms, and milliseconds of an evaluation."""
    lines = SCRIPT.format(edge=edge, reach=reach, density=density, move=move)
    for _ in range(TURNS + 1):
        lines += f"thermo_style one\nrun {steps}\n" + DEFINE.format(style=style)
        lines += f"run {steps}\nthermo_style one\nuncompute sum\nuncompute cv\n"
    with tempfile.TemporaryDirectory() as folder:
        output = bench.lammps(folder, lines, threads=threads, ranks=ranks)
    loops = [1e3 * float(t) / steps for t in re.findall(r"^Loop time of (\S+)", output, re.M)]
    atoms = int(re.search(r"with (\d+) atoms", output).group(1))
    return atoms, results.measured([b - a for a, b in zip(loops[2::2], loops[3::2])])


def run(bench):
    numbers = [2**k for k in range(bench.threads.bit_length()) if 2**k <= bench.threads]
    columns = [*(f"{n}, ms" for n in numbers), *(f"{n}, times faster" for n in numbers[1:])]
    fields = {"precision": "mixed", "spread": f"half the range of {TURNS} turns", "lammps": True}

    def rows(table, more, *case, **system):
        for over in "threads", "ranks":
            found = [measure(bench, *case, *((n, 1) if over == "threads" else (1, n)), **system) for n in numbers]
            ms = [time for _, time in found]
            table.row(found[0][0], more, over, *ms, *(ms[0].value / time.value for time in ms[1:]))

    table = bench.table("coordination", "atoms", "neighbors", "over", *columns, **fields)
    for edge, dmax, steps in CASES:
        neighbors = round(4 / 3 * 3.14159265 * dmax**3 * 0.8442)
        rows(table, neighbors, bench.size(edge, 10), COORDINATION.format(dmax=dmax), steps, reach=dmax + 0.31)
    table = bench.table("q6", "atoms", "order", "over", *columns, **fields)
    for order in ORDERS:
        rows(table, order, bench.size(20, 5), ORDER.format(order=order), 10, density=1.0, move=0.05, reach=1.9)
