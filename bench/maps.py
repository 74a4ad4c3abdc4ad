"""Parts maps-host and maps-gpu: potential maps by bench_map (its first lines list its arguments).

Random charges with a density of 0.1 per cubic Angstrom, cutoff 12 Angstrom. Useful pairs are within the
cutoff. Tested pairs are all pairs whose distance is computed. Their ratio is the share within the cutoff.
The peak is the throughput of reciprocal square roots of an H100: 16 pairs per clock and
multiprocessor.
"""

from launch import SPREAD

PROGRAM = "bench/bench_map"
PEAK = 132 * 16 * 1.98e9
CUTOFF = 12
# kernel, atoms, spacing of points, precision, field
GPU = [("smooth", atoms, 1.0, "mixed", "no") for atoms in (10000, 100000, 1000000, 4000000)]
GPU += [("smooth", 1000000, 0.5, "mixed", "no"), ("smooth", 100000, 0.25, "mixed", "no")]
GPU += [(kernel, 1000000, 1.0, "mixed", "no") for kernel in ("cut", "taylor", "ewald")]
GPU += [("smooth", 1000000, 1.0, "mixed", "yes"), ("smooth", 1000000, 1.0, "double", "no")]
HOST = [("smooth", 30000, 1.0, "mixed", "no"), ("smooth", 30000, 1.0, "double", "no"), ("ewald", 30000, 1.0, "mixed", "no")]
BINS = (4, 8), (4, 12)    # edge of a cube in Angstrom, charges a cube
COLUMNS = ("kernel", "precision", "field", "atoms", "points", "spacing", "ms")


def run(bench, backend, case, repeats, bins=()):
    """Return the case, and the numbers that the program prints."""
    kernel, atoms, spacing, precision, field = case
    atoms = max(1000, round(atoms * bench.scale**3))    # the program takes the nearest cube
    numbers = bench.program(PROGRAM, backend, kernel, atoms, spacing, CUTOFF, precision, field, bench.threads, repeats, *bins)
    return (kernel, precision, field, int(numbers[0].value), int(numbers[1].value), spacing), numbers


def host(bench):
    table = bench.table("maps", *COLUMNS, "useful pairs/s", "in the cutoff", spread=SPREAD)
    for case in HOST:
        words, numbers = run(bench, "host", case, 3)
        ms, useful, tested = (numbers[k].value for k in (2, 5, 6))
        table.row(*words, numbers[2], useful / (1e-3 * ms), useful / tested)


def gpu(bench):
    table = bench.table("maps", *COLUMNS, "the sort, ms", "host arrays, ms", "useful pairs/s", "in the cutoff",
                        "fraction of peak", spread=SPREAD, gpus=1)
    for case in GPU:
        words, numbers = run(bench, "cuda", case, 7)
        ms, sort, copies, useful, tested = (numbers[k].value for k in range(2, 7))
        table.row(*words, numbers[2], sort, copies, useful / (1e-3 * ms), useful / tested,
                  tested / (1e-3 * (ms - sort)) / PEAK)
    table = bench.table("bins", "cube edge", "charges a cube", "overflow, %", "overflow on the GPU, ms",
                        "overflow on the host, ms", precision="mixed", spread=SPREAD, gpus=1)
    for edge, depth in BINS:
        on_gpu, on_host = (run(bench, "cuda", GPU[2], 5, (float(edge), depth, device))[1] for device in ("device", "host"))
        table.row(edge, depth, 100 * on_gpu[7].value, on_gpu[4], on_host[4])
