#!/usr/bin/env python3
"""Compares the free energy of S from metadynamics, reweighting and umbrella windows with its closed
form. Prints a table and draws free_energy.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if one of the three differs from the closed form
by more than its tolerance.
"""
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import Axis, in_blocks, read_deposits, read_table, wham

# As in the input files; energies in kT.
SPRING, R0, ATOMS = 0.5, 1.5, 4
WINDOW_K = 12
BLOCKS = 8

EDGES = np.linspace(0, 4, 41)       # F is minus the logarithm of the probability of these bins
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2
ZERO = 10                           # F is 0 in this bin, at S = 1.05
COMPARED = slice(1, 31)             # 0.15 to 3.05
SHOWN = [1, 5, 10, 15, 20, 25, 30, 35, 37]


@dataclass
class Estimate:
    name: str
    f: np.ndarray
    error: np.ndarray
    tolerance: float    # kT, at all of COMPARED
    color: str


def free_energy(probability):
    with np.errstate(divide="ignore"):
        f = -np.log(probability)
    return f - f[..., ZERO:ZERO + 1]


def standard_error(samples):
    return np.std(samples, axis=0, ddof=1) / np.sqrt(len(samples))


def closed_form():
    """Return S and the probability of narrow bins around it. s = 1/(1 + (r/R0)^6) of one atom is
    in (s, s + ds) if r is in (r(s + ds), r(s)). r has a Maxwell distribution. The distribution
    for four atoms is the fourfold convolution."""
    ds = 2.5e-4
    s = np.linspace(0, 1, round(1 / ds) + 1)
    z = R0 * (1 / s[1:] - 1)**(1 / 6) * math.sqrt(SPRING)
    within = np.array([math.erf(v / math.sqrt(2)) - math.sqrt(2 / math.pi) * v
                       * math.exp(-v * v / 2) for v in z])
    one = -np.diff(within, prepend=1.0)
    p = one
    for _ in range(ATOMS - 1):
        p = np.convolve(p, one)
    return (np.arange(len(p)) + ATOMS / 2) * ds, p


def mean_and_deviation(s, p):
    mean = (p * s).sum() / p.sum()
    return mean, np.sqrt((p * (s - mean)**2).sum() / p.sum())


def in_bins(s, p):
    """The probability of the bins of EDGES."""
    return np.diff(np.interp(EDGES, s + (s[1] - s[0]) / 2, np.cumsum(p), left=0.0))


def from_hills(path):
    """Return F averaged over the second half of the run."""
    hills = read_deposits([read_table(path)], "hills")
    middles = Axis("S", 0.005, 3.995, 399)    # of 400 bins
    f = hills.free_energy_on([middles], average=0.5)
    return free_energy(np.exp(f.min() - f).reshape(len(MIDDLES), -1).sum(axis=1))


def from_reweighting(path):
    """Return the histogram of S with weights exp(V - c(t)). The first eighth of the run, in
    which hills fill the well, is discarded."""
    table = read_table(path)
    s, v, c = table.numbers[len(table) // 8:, 1:].T
    w = v - c
    return free_energy(in_blocks(s, np.exp(w - w.max()), EDGES, 1)[0])


def from_windows(folder):
    """F of all samples, and of each of BLOCKS parts of the time."""
    fine = np.linspace(0, 4, 201)
    middles = (fine[1:] + fine[:-1]) / 2
    counts, bias = [], []
    for path in sorted(folder.glob("umbrella.*")):
        bias.append(WINDOW_K / 2 * (middles - float(path.name[len("umbrella."):]))**2)
        s = read_table(path).numbers[:, 1]
        counts.append(in_blocks(s, np.ones(len(s)), fine, BLOCKS))
    counts, bias = np.swapaxes(counts, 0, 1), np.array(bias)    # [block, window, bin]

    def of(counts):
        p, *_ = wham(counts.sum(axis=0), counts.sum(axis=1), bias)
        return free_energy(p.reshape(len(MIDDLES), -1).sum(axis=1))

    return of(counts.sum(axis=0)), standard_error([of(block) for block in counts])


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    narrow = closed_form()
    exact = free_energy(in_bins(*narrow))
    print("Closed form: mean of S {:.4f}, standard deviation "
          "{:.4f}".format(*mean_and_deviation(*narrow)))
    bias = np.array([from_hills(path) for path in sorted(folder.glob("HILLS.*"))])
    weighted = np.array([from_reweighting(path) for path in sorted(folder.glob("metad.*"))])
    estimates = [Estimate("metadynamics", bias.mean(axis=0), standard_error(bias), 0.15,
                          "tab:blue"),
                 Estimate("reweighting", weighted.mean(axis=0), standard_error(weighted), 0.15,
                          "tab:orange"),
                 Estimate("windows", *from_windows(folder), 0.10, "tab:green")]

    print(f"\nF(S) - F({MIDDLES[ZERO]:.2f}) in kT; {len(bias)} walkers, {BLOCKS} blocks of the "
          "windows")
    print("   S  closed form" + "".join(f"{e.name:>20s}" for e in estimates))
    for k in SHOWN:
        print(f"{MIDDLES[k]:.2f}{exact[k]:13.3f}"
              + "".join(f"{e.f[k]:11.3f} +-{e.error[k]:6.3f}" for e in estimates))
    failed = []
    for e in estimates:
        difference = (e.f - exact)[COMPARED]
        largest, rms = np.abs(difference).max(), np.sqrt((difference**2).mean())
        error = np.sqrt((e.error[COMPARED]**2).mean())
        print(f"{e.name}, S = 0.15 to 3.05: largest difference {largest:.3f} (tolerance "
              f"{e.tolerance:g}), "
              f"rms {rms:.3f}, stated error {error:.3f}")
        if not (largest < e.tolerance and rms < 3 * error):
            failed.append(e.name)
    plot(folder / "free_energy.png", exact, estimates)
    if failed:
        sys.exit("analyze.py: " + ", ".join(failed) + ": too far from the closed form")


def plot(path, exact, estimates):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(6, 5), layout="constrained", sharex=True,
                                          height_ratios=[2, 1])
    upper.plot(MIDDLES, exact, color="k", lw=1, label="closed form")
    lower.axhline(0, color="k", lw=1)
    for k, e in enumerate(estimates):
        x = MIDDLES + 0.02 * (k - 1)
        style = dict(color=e.color, fmt="o", ms=3, lw=1)
        upper.errorbar(x, e.f, e.error, label=e.name, **style)
        lower.errorbar(x, e.f - exact, e.error, **style)
    upper.set(ylabel="F(S) - F(1.05)  (kT)")
    upper.legend(frameon=False)
    lower.set(xlabel="coordination number S", ylabel="difference (kT)", ylim=(-0.3, 0.3),
              xlim=(0, 4))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
