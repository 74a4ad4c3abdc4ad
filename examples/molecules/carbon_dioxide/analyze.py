#!/usr/bin/env python3
"""Density and g(r) of liquid carbon dioxide from the files of in.co2: a table, and carbon_dioxide.png.

Usage: analyze.py [FOLDER]. Exit code 1 when a density is further than 1.5 % from experiment.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

STEP_PS = 0.003
START_PS, BLOCKS = 20.0, 5
# T (K): pressure (MPa) and density of the saturated liquid (kg/m3), R. Span and W. Wagner, J. Phys. Chem. Ref. Data 25, 1509 (1996)
EXPERIMENT = {216.592: (0.51796, 1178.46), 220: (0.59913, 1166.14), 230: (0.89291, 1128.68), 240: (1.2825, 1088.87),
              250: (1.7850, 1045.97), 260: (2.4188, 998.89), 270: (3.2033, 945.83)}
TEMPERATURES = (220, 240, 260)


def with_error(values):
    blocks = values[:len(values) // BLOCKS * BLOCKS].reshape(BLOCKS, -1).mean(axis=1)
    return blocks.mean(), blocks.std(ddof=1) / np.sqrt(BLOCKS)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")

    print(f"\n{'T, K':>5s}{'p, MPa':>9s}{'density, kg/m3':>19s}{'experiment':>12s}{'difference':>12s}{'T of translation, rotation':>29s}")
    worst = 0.0
    for temperature in TEMPERATURES:
        step, density, translation, rotation = np.loadtxt(folder / f"density.{temperature}.dat").T
        use = step * STEP_PS > START_PS
        mean, error = with_error(1000 * density[use])
        pressure, experiment = EXPERIMENT[temperature]
        difference = mean / experiment - 1
        worst = max(worst, abs(difference))
        print(f"{temperature:5d}{pressure:9.4f}{mean:12.1f} +- {error:3.1f}{experiment:12.1f}{100 * difference:+11.2f}%"
              f"{translation[use].mean():18.1f}, {rotation[use].mean():5.1f} K")
        left.errorbar(temperature, mean, 2 * error, color="tab:blue", marker="o", ms=5, capsize=3, zorder=3,
                      label="this example" if temperature == TEMPERATURES[0] else None)
    left.plot(list(EXPERIMENT), [density for _, density in EXPERIMENT.values()], color="k", lw=1, label="Span and Wagner")
    left.set(xlabel="temperature (K)", ylabel="density (kg/m³)", title="along the vapor pressure curve")
    left.legend(frameon=False)

    for name, label, color in ("240", "with the quadrupole", "tab:blue"), ("bare", "without the quadrupole", "tab:red"):
        _, r, g, _ = np.loadtxt(folder / f"rdf.{name}.dat", skiprows=4).T
        right.plot(r, g, color=color, lw=1.3, label=label)
        print(f"g(r) {label}: first peak {g.max():.2f} at {r[g.argmax()]:.2f} A")
    right.axhline(1, color="0.6", lw=0.8)
    right.set(xlabel="distance r of carbon atoms (Å)", ylabel="g(r)", xlim=(2.5, 11), ylim=(0, None), title="240 K, 1089 kg/m³")
    right.legend(frameon=False)
    figure.savefig(folder / "carbon_dioxide.png", dpi=150)
    if not worst < 0.015:
        sys.exit(f"analyze.py: a density is {100 * worst:.1f} % from experiment, more than 1.5 %")


if __name__ == "__main__":
    main()
