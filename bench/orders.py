"""Parts orders-host and orders-gpu: milliseconds of an evaluation of order parameters by the library,
as compute coord/orientorder, coord/envsim and coord/pairentropy use it.

The systems are crystals: q6 with 13 partners of each atom in range of a cubic switching function;
aluminum with 55 partners of each atom for environment similarity with sigma 0.4; and density 0.84 with
86 pairs of each atom within reach for the pair entropy to a cutoff of 2.5 with sigma 0.05 and 100 bins.
On the GPU atoms and derivatives are resident, as with KOKKOS.
"""

from launch import SPREAD

PROGRAMS = tuple(f"bench/bench_{name}" for name in ("orient_order", "environment_similarity", "pair_entropy"))
EDGES = (20, 63)    # unit cells of 4 atoms
ORDERS = ("local", "average", "dot", "connections", "global")
STRUCTURES = ("fcc", "hcp")
REPEATS = 15    # evaluations within a run
COLUMNS = ("ms", "with virial, ms", "new pairs, ms", "bytes per atom")


def measure(bench, on_gpu):
    backend, threads = ("resident", None) if on_gpu else ("host", bench.threads)

    def row(table, name, precision, numbers):
        atoms, derivatives, virial, pairs, size = numbers
        table.row(int(atoms.value), name, precision, threads, derivatives, virial.value, pairs.value if on_gpu else None,
                  int(size.value))

    edges = [bench.size(edge, 4) for edge in EDGES]
    orders, similarity, entropy = PROGRAMS
    table = bench.table("q6", "atoms", "order", "precision", "threads", *COLUMNS, spread=SPREAD, gpus=on_gpu)
    for edge in edges:
        for precision in ("mixed", "double"):
            for order in ORDERS:
                row(table, order, precision, bench.program(orders, backend, edge, order, 6, precision, bench.threads, REPEATS))
    table = bench.table("environments", "atoms", "variable", "precision", "threads", *COLUMNS, spread=SPREAD, gpus=on_gpu)
    for edge in edges:
        for structure in STRUCTURES:
            row(table, f"envsim, {structure}", "mixed",
                bench.program(similarity, backend, edge, structure, "mixed", bench.threads, REPEATS))
        row(table, "pair entropy", "mixed", bench.program(entropy, backend, edge, "mixed", bench.threads, REPEATS))


def host(bench):
    measure(bench, False)


def gpu(bench):
    measure(bench, True)
