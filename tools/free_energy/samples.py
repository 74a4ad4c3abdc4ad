"""Samples with weights: histograms by block, and jackknife errors (each block is left out in
turn)."""

import numpy as np

FEWEST_BLOCKS = 16    # their error is accurate to 18 %


def neff(weights):
    """Return the number of samples of equal weight that these are worth."""
    return weights.sum()**2 / (weights**2).sum()


def count_round_trips(s, low, high):
    """Return how often S goes from below low to above high and back."""
    return round_trips(s, (-np.inf, low), (high, np.inf))


def round_trips(s, one, other):
    ends = np.where(inside(s, one), -1, np.where(inside(s, other), 1, 0))
    ends = ends[ends != 0]
    return int((np.diff(ends) != 0).sum()) // 2


def inside(s, basin):
    return (s >= basin[0]) & (s <= basin[1])


def in_blocks(s, weights, edges, blocks):
    """Return the sums of weights by block and bin. s: [sample], or [sample, variable] with a list
    of edges."""
    s = np.asarray(s)
    if s.ndim == 1:
        s, edges = s[:, None], [edges]
    parts = zip(np.array_split(s, blocks), np.array_split(weights, blocks))
    return np.array([np.histogramdd(part, edges, weights=w)[0] for part, w in parts])


def smooth(s, weights, points, sigma, blocks):
    """Return the sums of Gaussians of width sigma around the samples, by block and point."""
    parts = zip(np.array_split(s, blocks), np.array_split(weights, blocks))
    return np.array([np.exp(-0.5 * ((points[:, None] - part) / sigma)**2) @ w for part, w in parts])


def jackknife(function, *sums):
    """Return function of the sums over all blocks, and its error. sums: [block, ...], each."""
    n = len(sums[0])
    totals = [part.sum(axis=0) for part in sums]
    left = function(*(total - part for total, part in zip(totals, sums)))
    with np.errstate(invalid="ignore"):
        return function(*totals), error_of(left)


def error_of(left):
    """Return the jackknife error from the results without each block."""
    n = len(left)
    with np.errstate(invalid="ignore"):
        return np.sqrt((n - 1) / n * ((left - left.mean(axis=0))**2).sum(axis=0))


def minus_log(sums, reference):
    """Return F of bins in kT, relative to one: a flat index of the bins."""
    flat = sums.reshape(*sums.shape[:len(sums.shape) - reference[1]], -1)
    zero = flat[..., reference[0]].reshape(flat.shape[:-1] + (1,) * reference[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.0 - np.log(sums / zero)


def profile(sums, reference, kt=1.0):
    """Return F relative to one bin, and its error, from sums of weights by block and bin. The error
    is not finite if only one block has samples of a bin. reference: index, flat for several
    variables."""
    f, error = jackknife(lambda part: minus_log(part, (reference, sums.ndim - 1)), sums)
    return kt * f, kt * error


def mean_of_blocks(numerator, denominator):
    """Return the sum of numerator over the sum of denominator, and its error. Both: by block."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return jackknife(lambda a, b: a / b, numerator, denominator)


def merged(sums, blocks):
    """Return the sums of fewer blocks; their number must be a divisor."""
    return sums.reshape(blocks, -1, *sums.shape[1:]).sum(axis=1)


def numbers_of_blocks(most):
    """Return 4, 8, 16, ... up to most."""
    return [2**k for k in range(2, 11) if 2**k <= max(4, most)]


def plateau(blocks, errors):
    """Return the index of the error at which the plateau begins, and whether there is one: the
    shortest blocks whose error is within 5 % of the largest (Flyvbjerg and Petersen, J. Chem. Phys.
    91, 461 (1989)). blocks: numbers of blocks, rising; fewer than 16 do not count, because their
    errors are not accurate. Without a plateau the error grows up to 16 blocks."""
    last = [k for k, n in enumerate(blocks) if n >= FEWEST_BLOCKS] or [len(blocks) - 1]
    largest = max(errors[k] for k in last)
    chosen = max(k for k in last if errors[k] >= 0.95 * largest)
    following = errors[chosen + 1] if chosen + 1 < len(blocks) else 0.0
    return chosen, blocks[chosen] > FEWEST_BLOCKS or following > 0.85 * errors[chosen]
