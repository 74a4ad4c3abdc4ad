#!/usr/bin/env python3
"""Hydration numbers from the files of in.coordination: a table, and hydration.png.

Usage: analyze.py [FOLDER]. Exit code 1 when the hydration numbers of coord/gpu and the integral of
4 pi r^2 rho g(r) s(r) with the same s disagree.
"""
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

STEP_PS = 0.002
# A bin hides the position of an atom within it. With 10,000 samples and a derivative of 2.5/A, the
# error is about 1e-4.
TOLERANCE = 1e-3


@dataclass
class Ion:
    name: str
    d0: float           # parameter of the switching function in in.coordination
    dmax: float
    minimum: float      # first minimum of g(r), from the reference run
    reference: str
    experiment: str
    color: str


IONS = [Ion("Na+", 2.9, 3.5, 3.19, "5.85 +- 0.01", "5.3 +- 0.8", "tab:blue"),
        Ion("Cl-", 3.5, 4.1, 3.79, "7.02 +- 0.01", "6.9 +- 1.0", "tab:green")]


def cubic(r, ion):
    x = np.clip((r - ion.d0) / (ion.dmax - ion.d0), 0, 1)
    return (x - 1)**2 * (1 + 2 * x)


def read_blocks(path):
    """Return the steps at the ends of the blocks, and their tables (block, bin, column) without
    the row numbers."""
    steps, blocks = [], []
    with open(path) as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            step, rows = line.split()[:2]
            steps.append(int(step))
            blocks.append([[float(v) for v in next(lines).split()[1:]] for _ in range(int(rows))])
    return np.array(steps), np.array(blocks)


def with_error(blocks, form="{:.3f} +- {:.3f}"):
    return form.format(np.mean(blocks), np.std(blocks, ddof=1) / np.sqrt(len(blocks)))


def first_peak_and_minimum(r, g):
    """Return positions from g(r) smoothed by a parabola, which is fitted to 0.2 A around each bin,
    because the minimum is flat and noisy."""
    half = int(round(0.1 / (r[1] - r[0])))
    offset = np.arange(-half, half + 1)
    weights = np.linalg.pinv(np.vander(offset, 3))[2]
    smooth = np.convolve(g, weights[::-1], mode="same")
    peak = np.argmax(smooth)
    after = (r > r[peak]) & (r < r[peak] + 1.2)
    return r[peak], r[after][np.argmin(smooth[after])]


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    ends, rdf = read_blocks(folder / "rdf.dat")
    if len(ends) < 2:
        sys.exit(f"analyze.py: {folder / 'rdf.dat'} has {len(ends)} blocks of 2,000 steps, and errors need 2 - run 4,000 "
                 "steps or more")
    step, *hydration, density = np.loadtxt(folder / "hydration.dat").T
    r = rdf[0, :, 0]
    width = r[1] - r[0]
    shell = 4 / 3 * np.pi * ((r + width / 2)**3 - (r - width / 2)**3)   # 4 pi r^2 dr, exactly
    block_steps = ends[1] - ends[0]
    in_block = [(step > end - block_steps) & (step <= end) for end in ends]

    columns, worst = [], 0.0
    for k, ion in enumerate(IONS):
        g = rdf[:, :, 1 + 2 * k]
        direct = np.array([hydration[k][b].mean() for b in in_block])
        rho = np.array([density[b].mean() for b in in_block])
        # The counts of compute rdf in LAMMPS 4 Feb 2025 are those of ions around an oxygen.
        rdf[:, :, 2 + 2 * k] = running = np.cumsum(shell * g, axis=1) * rho[:, None]
        integral = (shell * g * cubic(r, ion)).sum(axis=1) * rho
        at_minimum = np.array([np.interp(ion.minimum, r + width / 2, n) for n in running])
        difference = direct - integral
        worst = max(worst, abs(difference.mean()))
        peak, minimum = first_peak_and_minimum(r, g.mean(axis=0))
        columns.append([with_error(direct), f"{integral.mean():.5f}",
                        f"{difference.mean():+.5f}", with_error(at_minimum),
                        f"{peak:.2f}, {minimum:.2f} A",
                        ion.reference, ion.experiment])
    rows = ["coord/gpu, <S/N>", "integral of 4 pi r^2 rho g(r) s(r)", "  difference",
            "integral of compute rdf to 3.19, 3.79 A", "first peak and minimum of g(r)",
            "reference, 180 ps", "experiment (Mancinelli 2007)"]
    print(f"\nOxygens around an ion; {len(ends)} blocks of {block_steps * STEP_PS:g} ps, "
          f"{sum(b.sum() for b in in_block)} samples")
    print(f"{'':40s}" + "".join(f"{ion.name:>18s}" for ion in IONS))
    for name, *values in zip(rows, *columns):
        print(f"{name:40s}" + "".join(f"{v:>18s}" for v in values))
    pairs = np.array([np.interp(3.6, r + width / 2, n) for n in rdf[:, :, 6]])
    print(f"Chloride within 3.6 A of a sodium: {with_error(pairs)}")

    plot(folder / "hydration.png", r, rdf.mean(axis=0), step * STEP_PS, hydration)
    if not worst < TOLERANCE:
        sys.exit(f"analyze.py: coord/gpu and the integral of g(r) s(r) differ by {worst:.2g}, more "
                 f"than {TOLERANCE:g}")
    print(f"coord/gpu and the integral of g(r) s(r) agree to {worst:.1g} (tolerance {TOLERANCE:g})")


def plot(path, r, rdf, time, hydration):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False})
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1.15, 1])
    series = figure.add_subplot(grid[:, 1])
    for k, ion in enumerate(IONS):
        label = f"{ion.name[:2]}$^{ion.name[2]}$"
        left = figure.add_subplot(grid[k, 0])
        left.plot(r, rdf[:, 1 + 2 * k], color=ion.color, lw=1.3, label="g(r)")
        left.fill_between(r, cubic(r, ion), color="0.85", lw=0, label="s(r)")
        left.axvline(ion.minimum, color="0.5", lw=0.8, ls=":", label="minimum")
        left.set(xlim=(1.8, 5.5), ylim=(0, None), ylabel=f"g(r), {label}-O")
        right = left.twinx()
        right.plot(r, rdf[:, 2 + 2 * k], color="k", lw=1, ls="--", label="n(r)")
        right.set(ylim=(0, 15), yticks=range(0, 16, 3), ylabel="oxygens within r")
        handles = [h for a in (left, right) for h in a.get_legend_handles_labels()[0]]
        left.legend(handles=handles, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 0.98),
                    ncol=4)
        left.set_xlabel("distance r (Å)")

        mean = hydration[k][1:].mean()
        series.plot(time, hydration[k], color=ion.color, lw=0.8)
        series.axhline(mean, color=ion.color, lw=1, ls="--")
        series.annotate(f"{label}  {mean:.2f}", (time[-1], mean), xytext=(4, 0),
                        textcoords="offset points",
                        color=ion.color, va="center", annotation_clip=False)
    series.spines["right"].set_visible(False)
    series.set(xlabel="time (ps)", ylabel="oxygens per ion, S/N of compute coord/gpu",
               xlim=(0, time[-1]))
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
