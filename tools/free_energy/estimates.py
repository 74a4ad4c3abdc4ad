"""F(S) from deposits, samples and windows, with its convergence and errors."""

import sys
from dataclasses import dataclass, field

import numpy as np

from . import deposits, samples, windows
from .deposits import Axis
from .files import Failure

LOW = 10.0           # kT: errors and differences are those of F up to here
MOST_BLOCKS = {1: 1024, 2: 256}
WINDOW_BLOCKS = 32
FINE = {1: 20000, 2: 400}    # bins of an axis for WHAM


@dataclass
class Result:
    """F at all points, with its error if there is one. snapshots: (count, F) after parts of the
    run. blocks: (their number, samples of a block, root mean square of the error). noun: what is
    counted."""
    names: list
    points: list
    f: np.ndarray
    error: np.ndarray = None
    snapshots: list = field(default_factory=list)
    blocks: list = field(default_factory=list)
    chosen: int = None
    noun: str = ""
    periods: list = None
    difference: tuple = None    # F of the second basin minus F of the first, and its error
    overlap: np.ndarray = None


def of_deposits(job):
    arguments, kind = job.arguments, job.kind
    found = deposits.read_deposits(job.tables, kind, job.kt, arguments.discard)
    count = f"{len(found.height):,}"
    print(f"{', '.join(arguments.files)}: {count} "
          f"{'kernels of a state' if kind == 'state' else kind} of {', '.join(found.names)}, "
          f"{found.about}")
    if kind == "kernels":
        weights = found.height * found.sigma.prod(axis=1)
        print(f"worth {samples.neff(weights):,.0f} of equal weight (neff)")
    names = job.check_names(found.names)
    axes = found.axes(*job.limits(len(found.names)))
    snapshots = []
    for n, f in found.snapshots(axes, arguments.every, arguments.average):
        left, f = deposits.project(f, axes, names, job.kt)
        snapshots.append((n, f.copy()))
    if arguments.basins and kind != "state":
        s = found.center[:, found.names.index(names[0])]
        print_round_trips([s[found.walker == w] for w in np.unique(found.walker)],
                          arguments.basins, f"the centers of {kind}")
    return Result(names, [axis.points for axis in left], snapshots[-1][1], snapshots=snapshots,
                  noun=kind, periods=[(axis.low, axis.high) if axis.periodic else None
                                      for axis in left])


def print_round_trips(series, basins, what):
    """series: S of each walker, in the order of time"""
    one, other = basins[:2], basins[2:]
    trips = sum(samples.round_trips(s, one, other) for s in series)
    print(f"round trips between the basins, by {what}: {trips}")


def settled(table, names, discard):
    """Return the values [sample, name] after the first part of the run."""
    values = np.column_stack([table.column(name) for name in names])
    return values[int(discard * len(values)):]


def axes_of(job, names, s, periods):
    limits, bins = job.limits(len(names))
    default = {1: 100, 2: 50}[len(names)]
    axes = []
    for k, name in enumerate(names):
        low, high = s[:, k].min(), s[:, k].max()
        if not limits and low == high and not periods[k]:
            raise Failure(f"all samples of {name} are {low:g} - F needs samples of several values")
        high += 1e-9 * (high - low)    # the largest sample is inside the last bin
        low, high = limits[k] if limits else periods[k] or (low, high)
        is_periodic = bool(periods[k]) and np.allclose((low, high), periods[k])
        axes.append(Axis(name, low, high, bins[k] if bins else default, is_periodic))
    deposits.check_size(axes)
    return axes


def wrapped(s, periods):
    s = s.copy()
    for k, period in enumerate(periods):
        if period:
            s[:, k] = period[0] + (s[:, k] - period[0]) % (period[1] - period[0])
    return s


def columns_of(job, defaults=None):
    names = job.arguments.s or defaults
    table = job.tables[0]
    if not names:
        raise Failure(f"--s is missing - name the columns of S, as --s {table.names[:2][-1]}: "
                      f"{table.path} has {', '.join(table.names)}")
    if len(names) > 2:
        raise Failure(f"F of {len(names)} variables is not possible - name one or two")
    return [table.names[table.index(name)] for name in names], names


def reference(job, f, points):
    """Return the flat index of the point at which F is 0."""
    zero = job.arguments.zero
    if zero is None:
        return int(np.nanargmin(np.where(np.isfinite(f), f, np.inf)))
    if len(zero) != len(points):
        raise Failure(f"--zero has {len(zero)} values, but the number of variables is "
                      f"{len(points)}")
    at = tuple(int(np.abs(x - value).argmin()) for x, value in zip(points, zero))
    if not np.isfinite(f[at]):
        raise Failure(f"--zero is where F has no value: S = {', '.join(f'{z:g}' for z in zero)} - "
                      "give a point with samples")
    return int(np.ravel_multi_index(at, f.shape))


def of_samples(job):
    arguments = job.arguments
    names, columns = columns_of(job)
    periods = [job.tables[0].period(name) for name in columns]
    parts, logs = [], []
    for table in job.tables:
        parts.append(settled(table, columns, arguments.discard))
        if arguments.logweight:
            log = settled(table, [arguments.logweight], arguments.discard)[:, 0]
        elif arguments.bias:
            log = settled(table, arguments.bias, arguments.discard).sum(axis=1)
            if arguments.offset:
                log = log - settled(table, [arguments.offset], arguments.discard)[:, 0]
            log = log / job.kt
        else:
            log = np.zeros(len(parts[-1]))
        logs.append(log)
    energies = [name.split("[")[0] for name in columns if name.endswith("]")]    # f_b of f_b[1]
    bias = [name for name in job.tables[0].names if name.endswith(".bias") or name in energies]
    if bias and not (arguments.logweight or arguments.bias):
        job.note(f"all samples have the weight 1, although {arguments.files[0]} has {', '.join(bias)} - "
                 "give --bias for F without it")
    s, log = wrapped(np.concatenate(parts), periods), np.concatenate(logs)
    w = np.exp(log - log.max())
    n = len(s)
    if n < 8:
        raise Failure(f"{arguments.files[0]} has {n} samples after --discard, but at least 8 are "
                      "needed")
    axes = axes_of(job, names, s, periods)
    edges = [axis.edges for axis in axes]
    print(f"{', '.join(arguments.files)}: {n:,} samples of {', '.join(names)}, worth "
          f"{samples.neff(w):,.0f} of equal weight (neff)")

    numbers = samples.numbers_of_blocks(min(n // 2, MOST_BLOCKS[len(names)]))
    if arguments.blocks:
        numbers = [arguments.blocks]
    if numbers[-1] > n:
        raise Failure(f"--blocks is {numbers[-1]}, but there are {n} samples")
    finest = samples.in_blocks(s, w, edges, numbers[-1])
    sums = finest.sum(axis=0)
    if not sums.any():
        raise Failure("--grid has no sample")
    with np.errstate(divide="ignore"):
        f = -np.log(sums)
    points = [axis.middles for axis in axes]
    zero = reference(job, f, points)
    profiles = [samples.profile(samples.merged(finest, number), zero, job.kt) for number in numbers]
    result = Result(names, points, profiles[0][0], noun="samples", periods=periods)
    choose(job, result, [(number, n // number) for number in numbers],
           [error for _, error in profiles])
    chosen = numbers[result.chosen]

    print_means(names, periods, [samples.mean_of_blocks(
        *(np.array([part.sum() for part in np.array_split(x, chosen)]) for x in (value * w, w)))
        for value in s.T])
    if arguments.basins:
        print_round_trips([table.column(columns[0]) for table in job.tables], arguments.basins,
                          "all samples")
        one, other = ([samples.inside(points[0], arguments.basins[k:k + 2])] for k in (0, 2))
        blocks = samples.merged(finest, chosen)
        blocks = blocks.reshape(chosen, len(points[0]), -1).sum(axis=2)
        if blocks[:, one[0]].any() and blocks[:, other[0]].any():
            with np.errstate(divide="ignore", invalid="ignore"):
                value, error = samples.jackknife(
                    lambda p: job.kt * (np.log(p[..., one[0]].sum(axis=-1))
                                        - np.log(p[..., other[0]].sum(axis=-1))), blocks)
            result.difference = value, error
    if arguments.every:
        begin, sums = 0, 0.0
        for end in deposits.ends(n, arguments.every):
            sums = sums + np.histogramdd(s[begin:end], edges, weights=w[begin:end])[0]
            begin = end
            with np.errstate(divide="ignore"):
                result.snapshots.append((end, -job.kt * np.log(sums)))
    return result


def print_means(names, periods, means):
    """The mean of a periodic variable depends on where its period begins, and is left out."""
    for name, period, (mean, error) in zip(names, periods, means):
        if not period:
            print(f"mean of {name}: {mean:.6g} +- {error:.2g}")


def choose(job, result, blocks, errors):
    """Choose the length of blocks at which the plateau of the error begins."""
    low = np.isfinite(result.f) & (result.f < result.f[np.isfinite(result.f)].min() + LOW * job.kt)
    low &= np.all([np.isfinite(error) for error in errors], axis=0)
    size = [np.sqrt((error[low]**2).sum() / max(1, low.sum())) for error in errors]
    result.blocks = [(number, length, rms) for (number, length), rms in zip(blocks, size)]
    result.chosen, is_reached = samples.plateau([number for number, _ in blocks], size)
    result.error = errors[result.chosen]
    if len(blocks) > 1 and not is_reached:
        job.warn("the error may still grow with the length of blocks: no plateau with "
                 f"{samples.FEWEST_BLOCKS} blocks or more - it is a lower bound, run longer")


class Points:
    """Samples of all windows in fine bins, each at the mean of its samples. axes: of F, whose bins
    consist of fine bins."""

    def __init__(self, series, centers, k, kt, axes, periods):
        every = np.concatenate(series)
        n = every.shape[1]
        fine = [max(1, FINE[n] // axis.bins) for axis in axes]
        index = np.column_stack([np.floor((every[:, v] - axis.low) / axis.spacing * m).astype(int)
                                 for v, (axis, m) in enumerate(zip(axes, fine))])
        keys, inverse = np.unique(index, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        self.n = len(keys)
        self.where = np.split(inverse, np.cumsum([len(s) for s in series])[:-1])
        total = np.bincount(inverse, minlength=self.n)
        self.s = np.column_stack([np.bincount(inverse, every[:, v], self.n) / total
                                  for v in range(n)])
        self.bias = bias_of(self.s, centers, k, periods) / kt
        bins = np.column_stack([keys[:, v] // m for v, m in enumerate(fine)])
        self.shape = tuple(axis.bins for axis in axes)
        self.inside = ((bins >= 0) & (bins < self.shape)).all(axis=1)
        self.bins = np.ravel_multi_index(bins[self.inside].T, self.shape)

    def counts(self, parts):
        """Return the samples of each point. parts: of each window, a slice."""
        return sum(np.bincount(where[part], minlength=self.n)
                   for where, part in zip(self.where, parts))

    def histogram(self, p):
        return np.bincount(self.bins, p[self.inside], np.prod(self.shape)).reshape(self.shape)


def bias_of(s, centers, k, periods):
    """Return the bias of each window at each point."""
    d = s - centers[:, None]
    for v, period in enumerate(periods):
        if period:
            length = period[1] - period[0]
            d[..., v] -= length * np.round(d[..., v] / length)
    return 0.5 * (k[:, None] * d**2).sum(axis=-1)


def of_windows(job):
    arguments = job.arguments
    n = len(job.windows[0][1])
    names, columns = columns_of(job, ["2", "3"][:n])
    if len(names) != n:
        raise Failure(f"--s has {len(names)} names, but the windows have {n} centers")
    centers = np.array([center for _, center, _ in job.windows])
    k = np.array([constants for *_, constants in job.windows])
    periods = [job.tables[0].period(name) for name in columns]
    series = [wrapped(settled(table, columns, arguments.discard), periods) for table in job.tables]
    shortest = min(map(len, series))
    if shortest < 8:
        raise Failure(f"a window has {shortest} samples after --discard, but at least 8 are needed")
    axes = axes_of(job, names, np.concatenate(series), periods)
    points = Points(series, centers, k, job.kt, axes, periods)
    sizes = np.array([len(s) for s in series])
    counts = points.counts([slice(None)] * len(series))
    p, f_windows, part = windows.wham(counts, sizes, points.bias)
    overlap = windows.overlaps(counts, part)
    windows.check_overlap(overlap, lambda a: job.tables[a].path, job.warn)
    middles = [axis.middles for axis in axes]
    sums = points.histogram(p)
    with np.errstate(divide="ignore"):
        zero = reference(job, -np.log(sums), middles)

    def minus_log(sums):
        return job.kt * samples.minus_log(sums, (zero, n))

    result = Result(names, middles, minus_log(sums), noun="samples of each window", periods=periods,
                    overlap=overlap)
    numbers = samples.numbers_of_blocks(min(shortest // 2, WINDOW_BLOCKS))
    if arguments.blocks:
        numbers = [arguments.blocks]
    if numbers[-1] > shortest:
        raise Failure(f"--blocks is {numbers[-1]}, but a window has {shortest} samples")
    errors, window_errors, mean_errors = [], [], []
    for number in numbers:
        left = [without_block(points, sizes, counts, number, b, f_windows) for b in range(number)]
        errors.append(samples.error_of(np.array([minus_log(points.histogram(q)) for q, _ in left])))
        window_errors.append(samples.error_of(np.array([f for _, f in left])))
        mean_errors.append(samples.error_of(np.array([q @ points.s for q, _ in left])))
    choose(job, result, [(number, shortest // number) for number in numbers], errors)
    print(f"{arguments.files[0]}: {len(series)} windows, {sizes.sum():,} samples of "
          f"{', '.join(names)}")
    print_windows(job, series, centers, f_windows * job.kt, window_errors[result.chosen] * job.kt,
                  overlap, by_pymbar(job, series, centers, k, periods))
    print_means(names, periods, zip(p @ points.s, mean_errors[result.chosen]))
    if arguments.every:
        for end in deposits.ends(sizes.max(), arguments.every):
            counts = points.counts([slice(0, end)] * len(series))
            try:
                q, *_ = windows.wham(counts, np.minimum(sizes, end), points.bias, start=f_windows)
            except Failure:
                continue    # too few samples
            result.snapshots.append((end, minus_log(points.histogram(q))))
    return result


def without_block(points, sizes, counts, blocks, b, start):
    bounds = [(size * b // blocks, size * (b + 1) // blocks) for size in sizes]
    left = counts - points.counts([slice(*bound) for bound in bounds])
    left_sizes = sizes - np.array([end - begin for begin, end in bounds])
    return windows.wham(left, left_sizes, points.bias, tolerance=1e-7, start=start)[:2]


def by_pymbar(job, series, centers, k, periods):
    """Return the free energies of the windows by pymbar and their asymptotic errors, in kT."""
    if not job.arguments.mbar:
        return None
    try:
        import pymbar
    except ImportError as error:
        raise Failure(f"--mbar needs the Python package pymbar, which this Python "
                      f"({sys.executable}) cannot import ({error}) - install pymbar 4 for it, or "
                      "leave out --mbar: WHAM solves the same equations") from None
    bias = bias_of(np.concatenate(series), centers, k, periods) / job.kt
    mbar = pymbar.MBAR(bias, np.array([len(s) for s in series]))
    found = mbar.compute_free_energy_differences()
    return found["Delta_f"][0], found["dDelta_f"][0]


def print_windows(job, series, centers, f, error, overlap, mbar):
    print(f"{'center':>16s}   samples  mean of S   F of the window, {job.unit}   overlap with the "
          "next" + ("    by pymbar" if mbar else ""))
    for a, (s, center) in enumerate(zip(series, centers)):
        text = f"{', '.join(f'{c:g}' for c in center):>16s} {len(s):9,d} {s[:, 0].mean():10.5g}"
        text += f"   {f[a]:12.5g} +- {error[a]:8.2g}"
        text += f"     {overlap[a, a + 1]:18.3f}" if a + 1 < len(series) else " " * 23
        if mbar:
            text += f"   {mbar[0][a] * job.kt:9.5g} +- {mbar[1][a] * job.kt:.2g}"
        print(text)
