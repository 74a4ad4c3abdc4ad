#!/usr/bin/env python3
"""Densities of liquid ethane from the files of in.ethane: a table, and ethane.png.

Usage: analyze.py [FOLDER]. Exit code 1 when a density is further than 1 % from that of another program, or rotation and
translation differ in temperature by more than 3 %.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

STEP_PS = 0.004
START_PS, BLOCKS = 40.0, 8
# T (K): pressure (MPa) and density (kg/m3) of the same model by FEASST's tutorials, from grand canonical simulations
REFERENCE = {236: (1.1, 469.4), 256: (1.8, 434.42)}


def with_error(values):
    blocks = values[:len(values) // BLOCKS * BLOCKS].reshape(BLOCKS, -1).mean(axis=1)
    return blocks.mean(), blocks.std(ddof=1) / np.sqrt(BLOCKS)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    print(f"\n{'T, K':>5s}{'p, MPa':>8s}{'density, kg/m3':>18s}{'FEASST':>9s}{'difference':>12s}{'T of translation, rotation':>29s}")
    good = True
    for (temperature, (pressure, reference)), color in zip(REFERENCE.items(), ("tab:blue", "tab:red")):
        step, density, translation, rotation = np.loadtxt(folder / f"density.{temperature}.dat").T
        time, density = step * STEP_PS, 1000 * density
        use = time > START_PS
        mean, error = with_error(density[use])
        t, r = translation[use].mean(), rotation[use].mean()
        print(f"{temperature:5d}{pressure:8.1f}{mean:11.1f} +- {error:3.1f}{reference:9.1f}{100 * (mean / reference - 1):+11.2f}%"
              f"{t:18.1f}, {r:5.1f} K")
        good &= abs(mean / reference - 1) < 0.01 and abs(t / r - 1) < 0.03

        axes.plot(time, density, color=color, lw=0.5, alpha=0.5)
        running = np.cumsum(density[use]) / np.arange(1, use.sum() + 1)
        axes.plot(time[use], running, color=color, lw=1.5, label=f"{temperature} K, {pressure} MPa: {mean:.1f} ± {error:.1f}")
        axes.axhline(reference, color="k", lw=1, ls="--", label="FEASST's tutorials" if color == "tab:blue" else None)
    axes.set(xlabel="time (ps)", ylabel="density (kg/m³)", xlim=(0, time[-1]), title="TraPPE-UA ethane, NpT: density and its running mean")
    handles, labels = axes.get_legend_handles_labels()
    order = [0, 2, 1] if len(labels) == 3 else range(len(labels))
    axes.legend([handles[k] for k in order], [labels[k] for k in order], frameon=False, ncol=3, loc="upper center",
                bbox_to_anchor=(0.5, -0.16))
    figure.savefig(folder / "ethane.png", dpi=150)
    if not good:
        sys.exit("analyze.py: a density is further than 1 % from FEASST's, or rotation is at another temperature")


if __name__ == "__main__":
    main()
