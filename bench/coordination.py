"""Parts coordination-host, coordination-gpu and coordination-types: milliseconds of an evaluation of S, or of a function
of coordination numbers, with derivatives and virial, by bench_coordination.

The system is a jittered simple cubic lattice, rational 6/12, from host arrays and, on the GPU, also
resident. The function is more_than, in mixed precision.
"""

from launch import SPREAD
from results import value_of

PROGRAM = "bench/bench_coordination"
# Pairs per second that an H200 can evaluate in float with forces and virial, by an all-pairs probe.
CEILING = 0.84e12
EDGES = (22, 36, 63, 100)
RANGES = (2.5, 6.446)    # in lattice spacings: 65 and 1,122 neighbors
MORE = ((22, 1.5), (22, 4.0))    # edge and range for the plot against neighbors: 14 and 268
TYPES = {"mixed": (1, 3, 16, 32), "double": (1, 16)}
SMALL = ((2, 1.2), (3, 1.2), (5, 2.5), (10, 0.9), (10, 2.5))    # edge, range
CRYSTAL = (32, 1.5)    # as many neighbors as in the crystal of PLUMED's figure
REPEATS = 9    # evaluations within a run
RESIDENT = ("value and derivatives, ms", "with virial, ms", "lists, ms")


def cases(bench, ranges, more=()):
    """Yield edge and range, each system once."""
    systems = [(edge, distance) for distance in ranges for edge in EDGES] + list(more)
    scaled = ((bench.size(edge, 4), distance) for edge, distance in systems)
    return dict.fromkeys((edge, distance) for edge, distance in scaled if distance < edge)


def counts(numbers):
    """Return atoms and neighbors, the first two numbers that the program prints."""
    return [int(number.value) for number in numbers[:2]]


def host(bench):
    sums, functions = [], []
    for edge, distance in cases(bench, RANGES, MORE):
        repeats = 3 if edge**3 * distance**3 > 1e7 else 11
        for precision in ("double", "mixed"):
            numbers = bench.program(PROGRAM, "host", edge, distance, precision, bench.threads, repeats)
            ms, _, bins, pairs = numbers[2:6]
            function = numbers[11]
            sums.append((*counts(numbers), precision, bench.threads, ms, bins.value, pairs.value))
            if precision == "mixed":
                functions.append((*counts(numbers), bench.threads, function, function.value / ms.value))
    table = bench.table("S", "atoms", "neighbors", "precision", "threads", "ms", "bins", "pairs", spread=SPREAD)
    for row in sums:
        table.row(*row)
    table = bench.table("functions", "atoms", "neighbors", "threads", "ms", "over S", precision="mixed", spread=SPREAD)
    for row in functions:
        table.row(*row)
    crystal(bench, ("host",))


def crystal(bench, backends):
    """A function in a crystal with as many neighbors as in PLUMED's figure."""
    table = bench.table("crystal", "atoms", "neighbors", "from", "ms", precision="mixed", spread=SPREAD,
                        gpus="host" not in backends)
    edge, distance = CRYSTAL
    for backend in backends:
        numbers = bench.program(PROGRAM, backend, bench.size(edge, 4), distance, "mixed", bench.threads, REPEATS)
        table.row(*counts(numbers), {"host": "host arrays, host", "cuda": "host arrays, GPU", "resident": "resident"}[backend],
                  numbers[-1])


def gpu(bench):
    resident, functions = {}, {}
    table = bench.table("arrays", "atoms", "neighbors", "kernel", "precision", "ms", "copies", "pairs", "pair search, ms",
                        "evaluated", spread=SPREAD, gpus=1)
    for edge, distance in cases(bench, RANGES, MORE):
        for precision in "mixed", "double":
            numbers = bench.program(PROGRAM, "cuda", edge, distance, precision, bench.threads, REPEATS)
            ms, copies, bins, pairs, _, in_range, _, _, _, function = (number.value for number in numbers[2:])
            evaluated = in_range / (1e-3 * pairs) / CEILING if precision != "double" else None
            # The page selects the rows "in use" of the stored table, which also has rows of another kernel.
            table.row(*counts(numbers), "in use", precision, numbers[2], copies, pairs, bins, evaluated)
            if precision == "mixed":
                functions[edge, distance] = numbers[11], function / ms, numbers[10]

    table = bench.table("resident", "atoms", "neighbors", "precision", *RESIDENT, spread=SPREAD, gpus=1)
    for edge, distance in cases(bench, RANGES, MORE):
        for precision in ("mixed", "double"):
            numbers = bench.program(PROGRAM, "resident", edge, distance, precision, bench.threads, REPEATS)
            table.row(*counts(numbers), precision, *numbers[2:5])
            if precision == "mixed":
                resident[edge, distance] = counts(numbers), numbers[6], numbers[6].value / numbers[2].value

    table = bench.table("functions", "atoms", "neighbors", "resident, ms", "over S", "host arrays, ms", "over S, host arrays",
                        "new pairs, ms", precision="mixed", spread=SPREAD, gpus=1)
    for case, (found, ms, over) in resident.items():
        table.row(*found, ms, over, *functions[case])

    table = bench.table("small", "atoms", "neighbors", "ms", "without the copies, ms", precision="mixed", spread=SPREAD, gpus=1)
    for edge, distance in SMALL:
        numbers = bench.program(PROGRAM, "cuda", edge, distance, "mixed", bench.threads, 101)
        table.row(*counts(numbers), numbers[2], numbers[2].value - numbers[3].value)
    crystal(bench, ("cuda", "resident"))


def many_types(bench):
    """Several types with per-pair parameters, resident on the GPU, compared with one type."""
    table = bench.table("types", "atoms", "types", "precision", *RESIDENT, "over one type", "over one type, with virial", spread=SPREAD, gpus=1)
    for edge, distance in cases(bench, RANGES[:1]):
        for precision, several in TYPES.items():
            for ntypes in several:
                numbers = bench.program(PROGRAM, "resident", edge, distance, precision, bench.threads, REPEATS, ntypes)
                derivatives, virial = (value_of(number) for number in numbers[2:4])
                if ntypes == 1:
                    one = derivatives, virial
                table.row(counts(numbers)[0], ntypes, precision, *numbers[2:5], derivatives / one[0], virial / one[1])
