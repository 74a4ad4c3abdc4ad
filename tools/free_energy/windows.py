"""Umbrella windows: WHAM, and the overlap of windows."""

import numpy as np

from .files import Failure

CONNECTED = 1e-4    # smallest overlap of windows whose free energies can be compared
NO_SOLUTION = "WHAM does not converge: windows that do not overlap, or not the k of the run"
GOOD = 0.03         # Klimovich, Shirts and Mobley, J. Comput. Aided Mol. Des. 29, 397 (2015)


def wham(counts, sizes, bias, tolerance=1e-9, start=None):
    """Return the probability of points without the bias, the free energy of each window in kT, and
    the part [window, point] that a window has in each point.

    counts: samples of all windows, by point; a point is a bin, or a sample with count 1. sizes:
    number of samples by window. bias: [window, point], in kT. Ferrenberg and Swendsen, Phys. Rev.
    Lett. 63, 1195 (1989), and without bins Shirts and Chodera, J. Chem. Phys. 129, 124105 (2008).
    The equations are those of the minimum of a convex function, which Newton's method finds.
    """
    counts, sizes = np.asarray(counts, float), np.asarray(sizes, float)
    f = np.zeros(len(sizes)) if start is None else start.copy()

    def state(f):
        x = (f + np.log(sizes))[:, None] - bias
        top = x.max(axis=0)
        part = np.exp(x - top)
        total = part.sum(axis=0)
        part /= total
        log_total = top + np.log(total)
        return counts @ log_total - sizes @ f, part, part @ counts, log_total

    value, part, found, log_total = state(f)
    for step in range(1000):
        if np.abs(found / sizes - 1).max() < tolerance:
            break
        if not (found > 0).all():
            raise Failure(NO_SOLUTION)
        new = f - np.log(found / sizes)    # self-consistent: never moves away from the solution
        if start is not None or step > 10:
            hessian = np.diag(found) - (part * counts) @ part.T
            newton = f.copy()
            newton[1:] -= np.linalg.lstsq(hessian[1:, 1:], (found - sizes)[1:], rcond=1e-13)[0]
            at_newton = state(newton)
            if at_newton[0] <= value + 1e-12 * abs(value) and np.isfinite(newton).all():
                new = newton
        f = new - new[0]
        value, part, found, log_total = state(f)
    else:
        raise Failure(NO_SOLUTION)
    logarithm = np.where(counts > 0, -log_total, -np.inf)
    p = counts * np.exp(logarithm - logarithm.max())
    return p / p.sum(), f, part


def overlaps(counts, part):
    """Return the overlap [window, window]: the probability that a sample of one window belongs to
    the other, if only S is known. Rows sum up to 1."""
    shared = (part * counts) @ part.T
    return shared / shared.sum(axis=1, keepdims=True)


def weakest_link(overlap):
    """Return the smallest overlap on the best chain that connects all windows, and its windows."""
    both = np.minimum(overlap, overlap.T)
    reached, weakest = [0], (np.inf, 0, 0)
    while len(reached) < len(both):
        left = [k for k in range(len(both)) if k not in reached]
        values = both[np.ix_(reached, left)]
        a, b = np.unravel_index(values.argmax(), values.shape)
        weakest = min(weakest, (values[a, b], reached[a], left[b]))
        reached.append(left[b])
    return weakest


def check_overlap(overlap, describe, warn):
    """describe: of a window, for messages."""
    value, one, other = weakest_link(overlap)
    if value < CONNECTED:
        raise Failure(f"{describe(one)} and {describe(other)} overlap by {value:.1g}, but "
                      f"{CONNECTED:g} is needed to connect all windows - add windows between them")
    if value < GOOD:
        warn(f"{describe(one)} and {describe(other)} overlap by {value:.2g}, but the error of F is "
             f"reliable above {GOOD:g} only - add windows between them, or run longer")
