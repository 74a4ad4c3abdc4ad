#!/usr/bin/env python3
"""analyze.py FOLDER: computes the number of liquid-like atoms of the dumped frames by numpy.
Compares it with compute coord/gpu and with a count by hard limits. Draws condensation.png."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

D0, DMAX, R0, NN, MM = 1.4, 1.8, 5.0, 12, 24
PULL = 20000, 60000    # steps of the moving restraint
SAME = 1e-11           # relative, S by numpy
COUNTS = 0.15          # relative, S and the count by hard limits
VAPOR, DROPLET = 30, 150    # S of a vapor is below, S of a droplet above


def tables(path):
    """Return columns by name of all runs of a log, one after the other."""
    columns, names = {}, None
    for line in open(path):
        words = line.split()
        if words[:1] == ["Step"]:
            names = words
        elif line.startswith("Loop time"):
            names = None
        elif names and len(words) == len(names):
            try:
                numbers = [float(word) for word in words]
            except ValueError:
                continue
            for name, number in zip(names, numbers):
                columns.setdefault(name, []).append(number)
    return {name: np.array(column) for name, column in columns.items()}


def frames(path):
    """Yield step, edges of the box, and columns of each frame of a dump."""
    with open(path) as file:
        while file.readline():    # ITEM: TIMESTEP
            step = int(file.readline())
            file.readline()
            n = int(file.readline())
            file.readline()
            edges = np.array([-np.subtract(*map(float, file.readline().split())) for _ in range(3)])
            file.readline()
            yield step, edges, np.array([file.readline().split() for _ in range(n)], float)


def liquid_like(x, edges):
    """Return s_i and f(s_i). s is cubic from D0 to DMAX, and f = 1 - (1 - y^NN)/(1 - y^MM) with
    y = s/R0."""
    s = np.zeros(len(x))
    for i in range(len(x)):
        d = x - x[i]
        d -= edges * np.round(d / edges)
        t = (np.sqrt((d**2).sum(axis=1)) - D0) / (DMAX - D0)
        t[i] = 1.0
        t = t.clip(0.0, 1.0)
        s[i] = ((t - 1)**2 * (1 + 2 * t)).sum()
    return s, 1 - 1 / (1 + (s / R0)**NN)    # MM = 2 NN


def main(folder):
    log = tables(f"{folder}/log.condensation")
    step, liquid, count = (log[name] for name in ("Step", "c_liquid", "c_count"))
    assert MM == 2 * NN

    worst = 0.0
    for at, edges, columns in frames(f"{folder}/dump.condensation"):
        s, f = liquid_like(columns[:, 1:4], edges)
        printed = liquid[np.flatnonzero(step == at)[0]]
        worst = max(worst, abs(f.sum() - printed) / max(1.0, printed),
                    np.abs(s - columns[:, 4]).max(),
                    np.abs(f - columns[:, 5]).max())
        print(f"step {at:6d}: S {printed:10.6f}, by numpy {f.sum():10.6f}")
    vapor, droplet = step <= PULL[0], step >= PULL[1] + 5000
    ratio = count[droplet].mean() / liquid[droplet].mean()
    print(f"largest difference to numpy, of S (relative), s_i and f(s_i): {worst:.1e}")
    print(f"vapor by itself: S up to {liquid[vapor].max():.1f}")
    print(f"droplet by itself: S {liquid[droplet].mean():.1f}, from {liquid[droplet].min():.1f} to "
          f"{liquid[droplet].max():.1f}; count by hard limits {count[droplet].mean():.1f}, ratio "
          f"{ratio:.3f}")

    figure, axes = plt.subplots(figsize=(7, 4))
    time = 0.005 * step
    axes.plot(time, liquid, color="C0", label="S of compute coord/gpu")
    axes.plot(time, count, ".", color="C1", markersize=3,
              label="atoms with six neighbors within 1.6")
    axes.plot(0.005 * np.array(PULL), [10, 250], "--", color="gray",
              label="center of the restraint")
    axes.set_xlabel(r"time / $\tau$")
    axes.set_ylabel("number of liquid-like atoms")
    axes.legend()
    figure.tight_layout()
    figure.savefig(f"{folder}/condensation.png", dpi=120)

    failed = [what for what, holds in (
        (f"S differs from numpy by more than {SAME}", worst <= SAME),
        (f"S and the count differ by more than {COUNTS}", abs(ratio - 1) <= COUNTS),
        (f"the vapor has condensed by itself: S above {VAPOR}", liquid[vapor].max() < VAPOR),
        (f"the droplet has evaporated: S below {DROPLET}",
         liquid[droplet].min() > DROPLET)) if not holds]
    sys.exit("; ".join(failed) or None)


main(sys.argv[1])
