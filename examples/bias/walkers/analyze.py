#!/usr/bin/env python3
"""Compares F(S) of eight walkers that share a bias with that of one run as long as all of them, and
with quadrature. Prints a table and draws walkers.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if F differs by more than its errors allow.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import (count_round_trips, in_blocks, jackknife, neff, plateau, profile,
                         read_table)

WALKERS = 8
DISCARD = 0.1                       # first part of each run, in which V changes fast
BLOCKS = [8, 16, 32, 64, 128, 256]  # numbers of blocks
EDGES = np.linspace(0.05, 1, 39)    # F is minus the logarithm of the probability of these bins
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2
STRIDE, FIRST = 20, 20000           # timesteps between samples, and those of the plot
ZERO = 3                            # F is 0 in this bin, at S = 0.1375
TOP = np.searchsorted(EDGES, 0.56)  # the atom is bound beyond the top of the barrier
SHOWN = [0, 3, 7, 11, 15, 20, 24, 28, 32, 35, 37]
TOLERANCE = 0.05                    # kT, besides 3 errors


def quadrature():
    """Return the probability of the bins: the integral of r^2 exp(-U), with U of pair.system and S
    = 1/(1 + r^2)."""
    edges = np.linspace(0, 10, 200001)
    r = (edges[1:] + edges[:-1]) / 2
    u = 0.25 * r**2
    for a, rc in (3.0, 2.2), (-5.5, 1.0):
        u += np.where(r < rc, a * (1 + np.cos(np.pi * r / rc)), 0)
    below = np.append(0, np.cumsum(r**2 * np.exp(-u)))
    return -np.diff(np.interp(np.sqrt(1 / EDGES - 1), edges, below))


def binding(p):
    """F of the bound states minus F of the free ones."""
    return np.log(p[..., :TOP].sum(axis=-1)) - np.log(p[..., TOP:].sum(axis=-1))


class Estimate:
    """F of runs that share a bias. Each block is a part of the time of one run."""
    def __init__(self, name, paths):
        self.name = name
        self.series = [read_table(path).numbers[:, 1:] for path in paths]    # S, V
        settled = np.concatenate([x[int(DISCARD * len(x)):] for x in self.series])
        self.weights = np.exp(settled[:, 1] - settled[:, 1].max())
        finest = in_blocks(settled[:, 0], self.weights, EDGES, BLOCKS[-1])
        # From all samples, errors of the blocks of the plateau.
        self.of_blocks = []
        for n in BLOCKS:
            sums = finest.reshape(n, -1, len(MIDDLES)).sum(axis=1)
            self.of_blocks.append((profile(sums, ZERO), jackknife(binding, sums)))
        self.errors = [error for _, (_, error) in self.of_blocks]
        self.chosen, self.converged = plateau(BLOCKS, self.errors)
        (self.f, self.error), (self.binding, self.binding_error) = self.of_blocks[self.chosen]
        self.trips = sum(count_round_trips(x[:, 0], 0.25, 0.85) for x in self.series)

    def line(self):
        return (f"{self.name}: {len(self.weights)} samples, worth {neff(self.weights):.0f} of "
                f"equal weight; {self.trips} round trips")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    p = quadrature()
    exact, exact_binding = -np.log(p / p[ZERO]), binding(p)
    walkers = Estimate("8 walkers", [folder / f"walkers.{w}" for w in range(WALKERS)])
    single = Estimate("one run", [folder / "single"])
    both = walkers, single
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    for e in both:
        print(e.line())
    print("\nError of the binding free energy by the number of blocks, kT\nblocks   "
          + "".join(f"{n:8d}" for n in BLOCKS))
    for e in both:
        print(f"{e.name:9s}" + "".join(f"{error:8.3f}" for error in e.errors)
              + f"   {BLOCKS[e.chosen]} blocks are used")

    print(f"\nF(S) - F({MIDDLES[ZERO]:.4f}) in kT\n     S  quadrature"
          + "".join(f"{e.name:>19s}" for e in both))
    for k in SHOWN:
        print(f"{MIDDLES[k]:.4f}{exact[k]:10.3f}  "
              + "".join(f"{e.f[k]:11.3f} +-{e.error[k]:5.3f}" for e in both))
    print(f"binding{exact_binding:9.3f}  "
          + "".join(f"{e.binding:11.3f} +-{e.binding_error:5.3f}" for e in both) + "\n")

    pairs = [(e.name, "quadrature", e.f - exact, e.error, e.binding - exact_binding,
              e.binding_error) for e in both]
    pairs.append((walkers.name, single.name, walkers.f - single.f,
                  np.hypot(walkers.error, single.error), walkers.binding - single.binding,
                  np.hypot(walkers.binding_error, single.binding_error)))
    for one, other, difference, error, of_binding, binding_error in pairs:
        largest = np.abs(difference).max()
        rms, stated = (np.sqrt((x**2).mean()) for x in (difference, error))
        check(bool((np.abs(difference) < TOLERANCE + 3 * error).all()) and rms < 3 * stated,
              f"F of {one} and {other}: largest difference {largest:.3f} kT, root mean square "
              f"{rms:.3f}, of the errors {stated:.3f}")
        check(abs(of_binding) < 3 * binding_error,
              f"binding free energy: difference {of_binding:+.3f} +- {binding_error:.3f} kT")
    trips = [count_round_trips(x[:, 0], 0.25, 0.85) for x in walkers.series]
    check(min(trips) > 0, "round trips of the walkers: " + " ".join(map(str, trips)))
    plot(folder / "walkers.png", exact, both)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, exact, both):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    grid = figure.add_gridspec(WALKERS + 1, 2)
    for k, x in enumerate(both[0].series + both[1].series):
        axes = figure.add_subplot(grid[k, 0])
        part = x[:FIRST // STRIDE, 0]
        axes.plot(STRIDE * np.arange(len(part)), part, lw=0.6,
                  color="tab:blue" if k < WALKERS else "tab:orange")
        axes.set(xlim=(0, FIRST), ylim=(0, 1), yticks=[0, 1],
                 ylabel=str(k) if k < WALKERS else "one run")
        if k < WALKERS:
            axes.set_xticks([])
    figure.axes[0].set_title("S of the walkers 0 to 7, and of one run: the first "
                             f"{FIRST} timesteps", fontsize=9)
    figure.axes[-1].set_xlabel("timestep")
    upper = figure.add_subplot(grid[:5, 1])
    lower = figure.add_subplot(grid[5:, 1], sharex=upper)
    upper.plot(MIDDLES, exact, color="k", lw=1, label="quadrature")
    lower.axhline(0, color="k", lw=1)
    for k, (e, color) in enumerate(zip(both, ("tab:blue", "tab:orange"))):
        style = dict(color=color, fmt="o", ms=3, lw=1)
        upper.errorbar(MIDDLES + 0.006 * k, e.f, e.error, label=e.name, **style)
        lower.errorbar(MIDDLES + 0.006 * k, e.f - exact, e.error, **style)
    upper.set(ylabel=f"F(S) - F({MIDDLES[ZERO]:.2f})  (kT)")
    upper.legend(frameon=False)
    lower.set(xlabel="S", ylabel="difference (kT)", xlim=(0, 1))
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
