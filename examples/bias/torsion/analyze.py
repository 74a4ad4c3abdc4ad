#!/usr/bin/env python3
"""Compares the free energies that tools/free_energy.py has written, from hills and by reweighting,
with the potential of the torsion. Prints a table and draws torsion.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if one of the two differs by more than its tolerance.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import read_table

# As in in.torsion.
KT = 0.0019872067 * 300                   # kcal/mol
K = 1.411036, -0.271016, 3.145034
OF_HILLS = 0.15    # kT, largest difference of F from hills
BESIDES = 0.02     # kT, besides 3 errors, of F by reweighting
LARGEST = 0.05     # kT, largest error


def potential(phi):
    """The potential of dihedral_style opls in kT."""
    return sum(k / 2 * (1 - (-1)**n * np.cos(n * phi)) for n, k in enumerate(K, 1)) / KT


def of_bins(n):
    """F of n bins from -pi to pi."""
    phi = -np.pi + (np.arange(200 * n) + 0.5) * np.pi / (100 * n)
    return -np.log(np.exp(-potential(phi)).reshape(n, 200).mean(axis=1))


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    phi, f, error = read_table(folder / "reweighted.dat").numbers.T
    f, error, exact = f / KT, error / KT, of_bins(len(phi))
    exact -= exact[-1]    # the tool has F = 0 in the bin at pi
    at, hills = read_table(folder / "hills.dat").numbers.T
    hills = hills / KT - potential(at)
    hills -= hills[np.argmax(np.abs(at))]
    series = read_table(folder / "series").numbers[:, 1]
    jumps = np.abs(np.diff(series)) > np.pi

    print(f"F(phi) - F({phi[-1]:.3f}) in kT\n   phi  closed form   reweighting")
    for row in list(zip(phi, exact, f, error))[::3]:
        print("{:6.3f}{:10.3f}{:11.3f} +-{:6.3f}".format(*row))
    off = np.abs(f - exact)
    print(f"reweighting: largest difference {off.max():.3f} kT, {np.max(off[:-1] / error[:-1]):.1f} "
          f"errors; root mean square {np.sqrt((off**2).mean()):.3f}; errors: root mean square "
          f"{np.sqrt((error**2).mean()):.3f}, largest {error.max():.3f}")
    print(f"hills: largest difference {np.abs(hills).max():.3f} kT (tolerance {OF_HILLS})")
    print(f"{jumps.sum()} of {len(series)} samples are on the other side of +-pi than the one before")
    plot(folder / "torsion.png", phi, f, error, exact, at, hills)
    failed = [text for text, holds in (
        (f"F by reweighting differs by more than {BESIDES} kT and 3 errors",
         (off <= BESIDES + 3 * error).all()),
        (f"an error is above {LARGEST} kT", error.max() < LARGEST),
        ("F from hills differs", np.abs(hills).max() < OF_HILLS),
        ("phi stayed on one side of +-pi", jumps.sum() > 1000)) if not holds]
    sys.exit("; ".join(failed) or None)


def plot(path, phi, f, error, exact, at, hills):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(6, 5), layout="constrained", sharex=True,
                                          height_ratios=[2, 1])
    around = lambda x: np.degrees(x) % 360    # the ends of the grid are in the middle
    line = np.linspace(0, 2 * np.pi, 361)
    upper.plot(np.degrees(line), potential(line), color="k", lw=1, label="potential of the torsion")
    order = np.argsort(around(at))
    lower.axhline(0, color="k", lw=1)
    shown = around(at)[order], potential(at)[order], hills[order]
    upper.plot(shown[0], shown[1] + shown[2], color="tab:blue", lw=1, label="hills")
    lower.plot(shown[0], shown[2], color="tab:blue", lw=1)
    style = dict(color="tab:orange", fmt="o", ms=3, lw=1)
    upper.errorbar(around(phi), f - exact + potential(phi), error, label="reweighting", **style)
    lower.errorbar(around(phi), f - exact, error, **style)
    for axes in upper, lower:
        axes.axvline(180, color="gray", lw=1, ls="--")
    upper.set(ylabel="F - F(trans)  (kT)")
    lower.text(184, -0.09, "ends of the grid", color="gray")
    upper.legend(frameon=False, loc="upper center")
    lower.set(xlabel="phi  (degrees)", ylabel="difference (kT)", xlim=(0, 360), ylim=(-0.1, 0.1),
              xticks=range(0, 361, 60))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
