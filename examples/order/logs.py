"""Reads logs of LAMMPS: columns of each run, means with standard errors, points of interface
pinning, and the zero of a straight line."""

import glob
import sys

import numpy as np

DISCARDED = 0.2    # equilibration, part of each run


def runs(path):
    """Yield the number of atoms and the columns by name of each run of a log."""
    names, rows = None, []
    for line in open(path):
        words = line.split()
        if words[:1] == ["Step"]:
            names, rows = words, []
        elif line.startswith("Loop time"):
            yield int(words[-2]), dict(zip(names, np.array(rows).T))
            names = None
        elif names and len(words) == len(names):
            try:
                rows.append([float(word) for word in words])
            except ValueError:
                pass    # a warning


def production(series):
    return series[int(DISCARDED * len(series)):]


def inefficiency(series):
    """Return the statistical inefficiency g = 1 + 2 sum of the autocorrelation, in rows. The sum
    ends after five correlation times (Sokal). The last factor corrects for the use of the mean
    of the series (Wolff)."""
    n = len(series)
    power = np.abs(np.fft.rfft(series - series.mean(), 2 * n))**2
    c = np.fft.irfft(power)[:n] / np.arange(n, 0, -1)
    g = 2 * np.cumsum(c / c[0]) - 1
    end = np.argmax(np.arange(n) >= 2.5 * g)
    return max(1.0, g[end] * (1 + (2 * end + 1) / n))


def mean_and_error(series):
    """Return mean, standard error, g and number of blocks. Blocks have 5 g rows. The number of
    blocks is at least four. The error is at least the error of n/g independent values."""
    n, g = len(series), inefficiency(series)
    blocks = int(max(4, n // (5 * g)))
    means = [block.mean() for block in np.array_split(series, blocks)]
    error = max(np.std(means, ddof=1) / blocks**0.5, series.std() * (g / n)**0.5)
    return series.mean(), error, g, blocks


def pinned_points(folder, read, coordinate, name):
    """Return read(log of the bulk, log of interface pinning) for all pairs of logs, in the order of
    coordinate(point). name: of the coordinates in the error if there are fewer than two."""
    logs = (sorted(glob.glob(f"{folder}/log*.{part}.*")) for part in ("bulk", "pinning"))
    points = sorted((read(*pair) for pair in zip(*logs, strict=True)), key=coordinate)
    if len(points) < 2:
        sys.exit(f"{folder} has logs of {len(points)} {name}, at least 2 are needed")
    return points


def zero_of_line(x, y, error):
    """Zero, its error, slope, its error, chi^2: weighted least squares of y = slope (x - zero)."""
    x, y, error = np.array(x), np.array(y), np.array(error)
    (slope, constant), covariance = np.polyfit(x, y, 1, w=1 / error, cov="unscaled")
    zero = -constant / slope
    gradient = np.array([-zero, -1.0]) / slope    # derivatives of the zero: slope, constant
    chi2 = (((y - slope * x - constant) / error)**2).sum()
    return zero, (gradient @ covariance @ gradient)**0.5, slope, covariance[0, 0]**0.5, chi2
