"""Hills of metadynamics, kernels of OPES, and grids."""

import math
from dataclasses import dataclass

import numpy as np

from .files import Failure, bound

MAX_POINTS = 10_000_000    # of a grid
MAX_SNAPSHOTS = 1000
FIRST_CLOCK = 1e6          # larger numbers in a column clock are times


@dataclass
class Axis:
    """Points low, low + spacing, ... of a grid. The last one, high, is not a point if the axis is
    periodic."""
    name: str
    low: float
    high: float
    bins: int
    periodic: bool = False

    def __post_init__(self):
        self.low, self.high = float(self.low), float(self.high)

    @property
    def spacing(self):
        return (self.high - self.low) / self.bins

    @property
    def points(self):
        return self.low + self.spacing * np.arange(self.bins + (not self.periodic))

    @property
    def edges(self):
        return np.linspace(self.low, self.high, self.bins + 1)

    @property
    def middles(self):
        return (self.edges[1:] + self.edges[:-1]) / 2

    def near(self, center, reach):
        """Return the indices of points within reach, and their differences to center. Of an axis
        that is periodic, each point is there once: its nearest image."""
        if self.periodic:
            length = self.high - self.low
            center = self.low + (center - self.low) % length
            reach = min(reach, 0.5 * length)
        elif center - reach > self.high or center + reach < self.low:
            return np.arange(0), np.empty(0)
        first = math.ceil((center - reach - self.low) / self.spacing)
        last = math.floor((center + reach - self.low) / self.spacing)
        if self.periodic:
            last = min(last, first + self.bins - 1)
        else:
            first, last = max(first, 0), min(last, self.bins)
        index = np.arange(first, last + 1)
        d = self.low + self.spacing * index - center
        return index % self.bins if self.periodic else index, d


@dataclass
class Deposits:
    """A sum of Gaussians h (exp(-d/2) - end) for d < cutoff2, where d is the sum of the squares of
    (S - center)/sigma. F is factor times this sum or, if logarithmic, times its logarithm."""
    kind: str
    names: list
    time: np.ndarray
    center: np.ndarray    # [deposit, variable]
    sigma: np.ndarray
    height: np.ndarray
    periods: list         # of each variable: (low, high) or None
    cutoff2: float
    end: float
    factor: float = -1.0
    logarithmic: bool = False
    about: str = ""       # the kind of run
    walker: np.ndarray = None    # of each deposit

    def axes(self, limits=None, bins=None):
        """Return the axes of a grid. The defaults have all of the sum, and five points a sigma."""
        result = []
        most = {1: 2000, 2: 300}.get(len(self.names), 60)
        for k, name in enumerate(self.names):
            reach = math.sqrt(self.cutoff2) * self.sigma[:, k]
            low, high = ((self.center[:, k] - reach).min(), (self.center[:, k] + reach).max())
            if self.periods[k]:
                low, high = self.periods[k]
            low, high = limits[k] if limits else (low, high)
            least = np.median(self.sigma[:, k]) / 5
            n = bins[k] if bins else int(min(most, max(50, math.ceil((high - low) / least))))
            is_periodic = bool(self.periods[k]) and np.allclose((low, high), self.periods[k])
            result.append(Axis(name, low, high, n, is_periodic))
        check_size(result)
        return result

    def snapshots(self, axes, every=0, average=0.0):
        """Yield (number of deposits, F) after each 'every' deposits and after the last. average:
        the last F is the mean over the last part of the deposits."""
        n = len(self.height)
        if average:
            height = self.height * np.minimum(1, (n - 1 - np.arange(n)) / (average * n))
        values = np.zeros([len(axis.points) for axis in axes])
        begin = 0
        for end in ends(n, every)[:-1]:
            self.add(values, axes, slice(begin, end), self.height)
            yield end, self.free_energy(values)
            begin = end
        if average:
            values, begin = np.zeros_like(values), 0
            self.add(values, axes, slice(0, n), height)
        else:
            self.add(values, axes, slice(begin, n), self.height)
        yield n, self.free_energy(values)

    def free_energy_on(self, axes, average=0.0):
        """Return F after the last deposit."""
        (_, f), = self.snapshots(axes, average=average)
        return f

    def free_energy(self, values):
        if not self.logarithmic:
            return self.factor * values
        with np.errstate(divide="ignore"):
            return self.factor * np.log(values)

    def add(self, values, axes, part, heights):
        reach = math.sqrt(self.cutoff2)
        for center, sigma, height in zip(self.center[part], self.sigma[part], heights[part]):
            d2, where = 0.0, []
            for axis, c, w in zip(axes, center, sigma):
                index, d = axis.near(c, reach * w)
                where.append(index)
                d2 = np.add.outer(d2, (d / w)**2)
            values[np.ix_(*where)] += height * np.where(d2 < self.cutoff2,
                                                        np.exp(-d2 / 2) - self.end, 0.0)


def ends(n, every):
    """Return every, 2 every, ... below n, and n."""
    if every and n > MAX_SNAPSHOTS * every:
        raise Failure(f"--every {every} gives F {-(-n // every):,} times, but at most "
                      f"{MAX_SNAPSHOTS:,} are possible - give --every {-(-n // MAX_SNAPSHOTS)} or "
                      "more")
    return [*(range(every, n, every) if every else ()), n]


def check_size(axes):
    for axis in axes:
        if not (math.isfinite(axis.spacing) and axis.low + axis.spacing > axis.low):
            raise Failure(f"{axis.name} is from {axis.low:g} to {axis.high:g}, which is no range "
                          f"for {axis.bins:,} bins - give --grid")
    points = math.prod(len(axis.points) for axis in axes)
    if points > MAX_POINTS:
        raise Failure(f"the grid has {points:,} points, but at most {MAX_POINTS:,} are possible - "
                      "give fewer --bins")


def read_deposits(tables, kind, kt=1.0, discard=0.0):
    """Return the deposits of files of one bias, in the order of time. kt is for kernels and
    states. discard: first part of the kernels, left out."""
    first = tables[0]
    names = [name for name in first.names if "sigma_" + name in first.names]
    if first.constants.get("multivariate", "false") != "false":
        raise Failure(f"{first.path} has hills with a matrix of sigmas (ADAPTIVE of PLUMED), which "
                      "are not possible - use plumed sum_hills")
    if not names:
        raise Failure(f"{first.path} has no columns S and sigma_S - its columns are "
                      + ", ".join(first.names))
    for table in tables:
        if table.walker and len(tables) > 1:
            raise Failure(f"{table.path} has the hills of walker {table.walker} and those of others "
                          "that it has read - give this file alone, or those of the folder of walkers")
        if table.names != first.names or table.constants != first.constants:
            raise Failure(f"{table.path} and {first.path} differ in columns or in lines '#! SET' - "
                          "give files of one bias")
    times = np.concatenate([table.column("time") for table in tables])
    order = np.argsort(times, kind="stable") if len(tables) > 1 else np.arange(len(times))

    def columns(names):
        return np.column_stack([np.concatenate([table.column(name) for table in tables])
                                for name in names])[order]

    center, sigma = columns(names), columns(["sigma_" + name for name in names])
    height = columns(["height"])[:, 0]
    check(tables, np.concatenate([table.numbers for table in tables])[order], sigma, names)
    walker = np.concatenate([walkers_of(table, k) for k, table in enumerate(tables)])[order]
    result = Deposits(kind, names, times[order], center, sigma, height,
                      [first.period(name) for name in names], 0.0, 0.0, walker=walker)
    if kind == "hills":
        as_hills(result, tables)
    else:
        as_kernels(result, tables, kt, columns)
        if discard:
            begin = int(discard * len(height))
            for name in "time", "center", "sigma", "height", "walker":
                setattr(result, name, getattr(result, name)[begin:])
    return result


def walkers_of(table, k):
    """Return the walker of each row of file k: its number in that column. Hills of walkers have it
    in the column clock, which in files of PLUMED is the time in seconds since 1970."""
    for name in "walker", "clock":
        if name in table.names and table.column(name).max(initial=0) < FIRST_CLOCK:
            return table.column(name)
    return np.full(len(table), -1 - k)


def check(tables, rows, sigma, names):
    bad = np.argwhere(~(sigma > 0))
    if len(bad):
        k = bad[0][1]
        raise Failure(f"{tables[0].path}: sigma_{names[k]} is {sigma[tuple(bad[0])]:g} at time "
                      f"{rows[bad[0][0], 0]:.12g}, but must be > 0")


def as_hills(hills, tables):
    """PLUMED's stretched Gaussians, whose heights in the file are those of -F."""
    factors = {}
    for table in tables:
        if "biasf" not in table.names:
            raise Failure(f"{table.path} has no column biasf - its columns are "
                          + ", ".join(table.names))
        values = table.column("biasf")
        for value, line in zip(values[[0]], table.lines[[0]]):
            factors.setdefault(value, f"{table.path}, line {line}")
        for k in np.flatnonzero(values != values[0])[:1]:
            factors.setdefault(values[k], f"{table.path}, line {table.lines[k]}")
    if len(factors) > 1:
        (one, at_one), (other, at_other) = list(factors.items())[:2]
        raise Failure(f"{at_other}: biasf is {other:g}, but {one:g} in {at_one} - give the hills "
                      "of one bias")
    (biasfactor,) = factors
    hills.about = (f"well-tempered, biasfactor {biasfactor:g}" if biasfactor > 1
                   else "not well-tempered")
    hills.cutoff2 = 12.5
    if tables[0].constants.get("kerneltype", "stretched-gaussian") != "gaussian":
        hills.end = math.exp(-6.25)
        hills.height = hills.height / (1 - hills.end)


def as_kernels(kernels, tables, kt, columns):
    """Kernels of a file sum up to the probability, with the weight of each sample: exp(logweight)
    (Invernizzi and Parrinello, 2020). A state has the weights in its heights, except that of
    OPES_METAD_EXPLORE, whose kernels sum up to the well-tempered probability (2022)."""
    constants = tables[0].constants
    if "kernel_cutoff" not in constants:
        raise Failure(f"{tables[0].path} has no line '#! SET kernel_cutoff'")
    kernels.cutoff2 = bound(constants["kernel_cutoff"], tables[0].path)**2
    kernels.end = math.exp(-kernels.cutoff2 / 2)
    kernels.factor, kernels.logarithmic = -kt, True
    kernels.about = "biasfactor " + constants.get("biasfactor", "unknown")
    if kernels.kind == "kernels":
        logweight = columns(["logweight"])[:, 0]
        kernels.height = np.exp(logweight - logweight.max()) / kernels.sigma.prod(axis=1)
        kernels.height /= kernels.height.max()
    elif "EXPLORE" in constants["action"]:
        if "biasfactor" not in constants:
            raise Failure(f"{tables[0].path} has no line '#! SET biasfactor'")
        kernels.factor *= bound(constants["biasfactor"], tables[0].path)


def read_grid(table, biasfactor=None):
    """Return the axes and F of a grid file: of F itself (sum_hills of PLUMED, or this tool), or of
    the bias. Then F is -V or, well-tempered, -gamma/(gamma - 1) V."""
    names = [name for name in table.names if "nbins_" + name in table.constants]
    value = next((name for name in table.names
                  if name.split(".")[-1] in ("free", "projection", "bias")), None)
    if value is None:
        raise Failure(f"{table.path} has no column of F or V, such as file.free or metad.bias - "
                      "its columns are " + ", ".join(table.names))
    axes = []
    for name in names:
        points = np.unique(table.column(name))
        if len(points) < 2:
            raise Failure(f"{table.path} has a single value of {name} - the file is not complete")
        period = table.period(name) if table.constants.get("periodic_" + name) == "true" else None
        low, high = points[0], points[0] + period[1] - period[0] if period else points[-1]
        axes.append(Axis(name, low, high, len(points) - (not period), bool(period)))
    check_size(axes)
    shape = [len(axis.points) for axis in axes]
    if math.prod(shape) != len(table):
        raise Failure(f"{table.path} has {len(table)} points, but a grid of "
                      f"{' x '.join(map(str, shape))} - the file is not complete")
    f = table.column(value)
    if value.split(".")[-1] == "bias":
        f = -f * (biasfactor / (biasfactor - 1) if biasfactor else 1.0)
    # The first variable is the fastest.
    return axes, f.reshape(shape[::-1]).transpose()


def project(f, axes, names, kt):
    """Return the axes of these variables, and F of them: the others are integrated out."""
    others = tuple(k for k, axis in enumerate(axes) if axis.name not in names)
    if others:
        with np.errstate(divide="ignore", invalid="ignore"):
            low = f.min(axis=others, keepdims=True)
            p = np.exp(-(f - np.where(np.isfinite(low), low, 0)) / kt).sum(axis=others)
            f = np.squeeze(low, others) - kt * np.log(p)
    left = [axis for axis in axes if axis.name in names]
    order = [[axis.name for axis in left].index(name) for name in names]
    return [left[k] for k in order], f.transpose(order)
