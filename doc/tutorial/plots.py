#!/usr/bin/env python3
"""Draws the figures of doc/tutorial from the output in the present folder.
usage: plots.py PART...   parts: rdf series pull metad converge"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tutorial

EDGES = np.arange(3.0, 8.01, 0.1)
CENTERS = EDGES[:-1] + 0.05


def save(figure, name):
    figure.tight_layout()
    figure.savefig(name, dpi=90)
    plt.close(figure)


def rdf():
    """Part (a): g(r) with both switching functions, and F(S) of both variables."""
    r, g, n = tutorial.read_rdf()
    shell = (r > 2.8) & (r < 4.0)
    gap = r[shell][np.argmin(g[shell])]
    inside = np.interp(gap, r, n)
    print(f"g(r): maximum {g.max():.1f} at {r[g.argmax()]:.2f} A, minimum {g[shell].min():.3f} at "
          f"{gap:.2f} A, {inside:.2f} oxygens within")
    data = np.loadtxt("series.dat")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
    left.plot(r, g, "k", label="g(r)")
    left.plot(r, 5 * tutorial.cubic(r, 2.4, 4.0), "C0", label="5 s(r), d0 2.4 dmax 4.0")
    left.plot(r, 5 * tutorial.cubic(r, 2.9, 3.5), "C3--", label="5 s(r), d0 2.9 dmax 3.5")
    left.set(xlabel="r (A)", xlim=(1.8, 6), ylim=(0, None))
    left.legend(fontsize=8)
    for column, style, name in (1, "C0", "2.4 to 4.0"), (2, "C3--", "2.9 to 3.5"):
        s = data[:, column]
        right.plot(CENTERS, tutorial.free_energy(s, EDGES), style, label=f"S, {name} A")
        whole = np.mean(abs(s - np.round(s)) < 1e-6)
        print(f"S {name}: {100 * whole:.1f} % of the samples are integers")
    print(f"S with lengths in nm: largest value {data[:, 3].max():g}")
    right.set(xlabel="S", ylabel="F (kT)")
    right.legend(fontsize=8)
    save(figure, "rdf.png")


def series():
    """Part (b): S(t), autocorrelation, widths in the basins."""
    data = np.loadtxt("series.dat")
    t, s = data[:, 0] * tutorial.FS / 1000, data[:, 1]
    step = t[1] - t[0]
    print(f"{t[-1]:.0f} ps, whole run: mean {s.mean():.3f}, standard deviation {s.std():.3f}, "
          f"correlation time {tutorial.correlation_time(s, step):.2f} ps")
    # S is sampled every 10 steps; the change per step is an upper estimate from these samples.
    print(f"change of S between samples ({step * 1000:.0f} fs): rms "
          f"{np.sqrt(np.mean(np.diff(s)**2)):.4f}, largest {abs(np.diff(s)).max():.4f}")
    for basin, values in tutorial.in_basins(s, step).items():
        print(f"basin {'5' if basin == 0 else '6'}: " + ", ".join(
            f"{name} {value:.3g}" for name, value in values.items()))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.0))
    part = t < 100
    left.plot(t[part], s[part], "k", lw=0.4)
    left.axhline(5.2, color="C0", ls=":")
    left.axhline(5.8, color="C3", ls=":")
    left.set(xlabel="t (ps)", ylabel="S")
    c = tutorial.autocorrelation(s)
    right.plot(t[:500], c[:500], "k")
    right.axhline(0, color="gray", lw=0.5)
    right.set(xlabel="lag (ps)", ylabel="autocorrelation of S")
    save(figure, "series.png")


def pull():
    """Part (c): S and work against the center, forward and back, slow and fast."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.0))
    for folder, color in ("fast", "C3"), ("slow", "C0"):
        forward, back = (np.loadtxt(f"{folder}/{name}.dat") for name in ("forward", "back"))
        steps = forward[-1, 0] - forward[0, 0]
        label = f"{steps * tutorial.FS / 1000:.0f} ps each way"
        for k, (data, style) in enumerate(((forward, "-"), (back, "--"))):
            width = max(1, len(data) // 60)
            rows = len(data) // width * width
            mean = data[:rows].reshape(-1, width, 4).mean(axis=1)
            left.plot(mean[:, 2], mean[:, 1], color + style, lw=1, label=None if k else label)
        w = forward[-1, 3]
        right.plot(forward[:, 2], forward[:, 3], color, lw=1, label=label)
        right.plot(back[:, 2], w + back[:, 3], color + "--", lw=1)
        print(f"{folder}: {label}, work forward {w:.2f}, back {back[-1, 3]:.2f}, "
              f"lost in the loop {w + back[-1, 3]:.2f} kcal/mol")
    left.plot([4, 5.8], [4, 5.8], "k:", lw=0.8)
    left.set(xlabel="center of the restraint", ylabel="S")
    left.legend(fontsize=8)
    right.set(xlabel="center of the restraint", ylabel="work (kcal/mol)")
    save(figure, "pull.png")


def metad():
    """Part (d): F of the run with the chosen values, and of one wrong choice of each."""
    s = np.arange(3.5, 8.0, 0.02)
    end = 100000 * tutorial.FS
    right = tutorial.sum_of_hills("right/HILLS", s)
    same_time = tutorial.sum_of_hills("right/HILLS", s, end)
    # The reference is the run without bias where it has many samples.
    plain = tutorial.free_energy(np.loadtxt("series.dat")[:, 1], EDGES)
    known = (CENTERS > 4.9) & (CENTERS < 6.7)

    def error(f):
        difference = np.interp(CENTERS[known], s, f) - plain[known]
        return np.std(difference)

    print(f"right, whole run: rms difference to the run without bias {error(right):.2f} kT")
    print(f"right, 100,000 steps: rms difference {error(same_time):.2f} kT")
    figure, axes = plt.subplots(1, 4, figsize=(10, 3.0), sharey=True)
    for axis, (name, value) in zip(axes, (("sigma", "0.6"), ("pace", "20"), ("height", "2.0"),
                                          ("biasfactor", "2"))):
        f = tutorial.sum_of_hills(f"wrong_{name}/HILLS", s)
        low, high = np.quantile(np.loadtxt(f"wrong_{name}/metad.dat")[:, 1], (0.001, 0.999))
        print(f"{name} {value}: rms difference {error(f):.2f} kT, 99.8 % of S in "
              f"{low:.2f} to {high:.2f}")
        axis.plot(s, right, "k", lw=1)
        axis.plot(s, same_time, "C0", lw=1)
        axis.plot(s, f, "C3", lw=1)
        axis.plot(CENTERS[known], plain[known], "k.", ms=3)
        axis.set(title=f"{name} {value}", xlabel="S", ylim=(0, 16))
    axes[0].set_ylabel("F (kT)")
    save(figure, "metad.png")


BASINS = (4.0, 5.3), (5.6, 6.6)


def converge():
    """Parts (f) and (g): reweighting, F at quarters of the run, block errors, a second run."""
    s = np.arange(3.5, 8.0, 0.02)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.0))
    end = np.loadtxt("right/metad.dat")[-1, 0] * tutorial.FS
    for k in 1, 2, 3, 4:
        left.plot(s, tutorial.sum_of_hills("right/HILLS", s, k * end / 4), f"C{k - 1}", lw=1,
                  label=f"{k * end / 4000:.0f} ps")
    left.set(xlabel="S", ylabel="F (kT)", ylim=(0, 15))
    left.legend(fontsize=8)
    for name, style in ("right", "C0"), ("other", "C3"):
        _, series, v, c = np.loadtxt(f"{name}/metad.dat").T
        first = len(series) // 5
        series, weights = series[first:], np.exp((v - c)[first:] / tutorial.KT)
        middle.plot(CENTERS, tutorial.free_energy(series, EDGES, weights), style, lw=1, label=name)
        counts = np.array((256, 128, 64, 32, 16, 8))
        f, errors = tutorial.block_errors(series, *BASINS, weights, counts)
        right.plot(len(series) / counts * 10 * tutorial.FS / 1000, errors, style + "o-", label=name)
        print(f"{name}: F(5) - F(6) {f:.2f} kT, errors with {counts} blocks "
              f"{np.round(errors, 3)}, "
              f"{tutorial.round_trips(series, 4.5, 6.5)} round trips 4.5 - 6.5")
    plain = np.loadtxt("series.dat")[:, 1]
    f, errors = tutorial.block_errors(plain, *BASINS, np.ones(len(plain)), (64, 32, 16, 8))
    print(f"without bias: F(5) - F(6) {f:.2f} kT, errors {np.round(errors, 3)}")
    middle.plot(CENTERS, tutorial.free_energy(plain, EDGES), "k:", label="no bias")
    middle.set(xlabel="S", ylim=(0, 15))
    middle.legend(fontsize=8)
    right.set(xlabel="block length (ps)", ylabel="error of F(5) - F(6) (kT)", xscale="log",
              ylim=(0, None))
    save(figure, "converge.png")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"rdf": rdf, "series": series, "pull": pull, "metad": metad,
         "converge": converge}[name]()
