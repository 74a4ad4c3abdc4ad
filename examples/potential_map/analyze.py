#!/usr/bin/env python3
"""Compares the mean potential of in.film with the double integral of the charge density. Prints a
table and draws potential.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if means over planes differ from the integral by
more than the tolerance.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COULOMB = 14.399645             # 1/(4 pi epsilon_0), V A per elementary charge
MIDDLE = 15.63                  # z of the middle of the film, and x and z of the ions
IONS = {"Na$^+$": 20.0, "Cl$^-$": 11.26}     # y
# Distances from the middle. VACUUM: start of the vacuum, where in.film sets the mean potential to
# 0. INNER: inner parts of both halves of the film, away from the ions and from the surfaces.
VACUUM, INNER = 23.63, (6.0, 11.0)
RADIUS = 12.0                   # radius of the picture around the ions
# V: rounding and the tolerance of far fft; and points near charges, which are few in a plane
TOLERANCE = {"vacuum": 1e-4, "film": 0.02}


def read_dx(path):
    """Places of the points along x, y and z, and the numbers there."""
    with open(path) as lines:
        origin, steps = [], []
        for line in lines:
            words = line.split()
            if words[-2:] == ["data", "follows"]:
                break
            if words[:2] == ["object", "1"]:
                shape = [int(word) for word in words[-3:]]
            elif words[0] == "origin":
                origin = [float(word) for word in words[1:]]
            elif words[0] == "delta":
                steps.append([float(word) for word in words[1:]])
        count = np.prod(shape)
        values = np.fromstring(" ".join(next(lines) for _ in range(-(-count // 3))), sep=" ")
    axes = [first + step * np.arange(n) for first, step, n in zip(origin, np.diag(steps), shape)]
    return axes, values.reshape(shape)


def read_layers(path):
    """Mean charge of each layer, and mean charge times z: (block, layer)."""
    blocks = []
    with open(path) as lines:
        for line in lines:
            if not line.startswith("#"):
                layers = int(line.split()[1])
                blocks.append([[float(word) for word in next(lines).split()[-2:]]
                               for _ in range(layers)])
    return np.moveaxis(np.array(blocks), 2, 0)


def double_integral(charge, moment, area, bottom, height):
    """Return periodic potentials at the tops of the layers: the sum of -4 pi C/area q (top - z)
    over the charges below, plus a linear term that makes the potential periodic. The result is
    exact for any positions of charges within a layer."""
    top = bottom + height * np.arange(1, charge.shape[-1] + 1) / charge.shape[-1]
    below = np.cumsum(charge, axis=-1) * top - np.cumsum(moment, axis=-1)
    slope = moment.sum(axis=-1, keepdims=True) / height
    return -4 * np.pi * COULOMB / area * (below + slope * (top - bottom))


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    (x, y, z), phi = read_dx(folder / "potential.dx")
    charge, moment = read_layers(folder / "layers.dat")
    cell = z[1] - z[0]
    per_cell = charge.shape[1] // len(z)
    away = np.abs(z - MIDDLE)
    vacuum = away > VACUUM
    inner = (away > INNER[0]) & (away < INNER[1])

    planes = phi.mean(axis=(0, 1))
    area = (len(x) * (x[1] - x[0])) * (len(y) * (y[1] - y[0]))
    blocks = double_integral(charge, moment, area, z[0] - cell / 2, len(z) * cell)
    # Select the layers whose tops are in the middle of a grid cell, at the grid points.
    blocks = blocks[:, per_cell // 2 - 1::per_cell]
    blocks -= blocks[:, vacuum].mean(axis=1, keepdims=True)
    integral = blocks.mean(axis=0)
    difference = planes - integral

    drop = blocks[:, inner].mean(axis=1)
    slope = np.polyfit(z[z < MIDDLE - VACUUM], planes[z < MIDDLE - VACUUM], 1)[0]
    print(f"\nPotential of the film, {INNER[0]:g} to {INNER[1]:g} A from its middle, against the "
          "vacuum, V")
    print(f"  mean of the map              {planes[inner].mean():8.4f}")
    print(f"  integral of the charges      {integral[inner].mean():8.4f} +- "
          f"{drop.std(ddof=1) / np.sqrt(len(drop)):.4f} "
          f"({len(drop)} blocks)")
    print(f"Field in the vacuum, by the mean dipole moment of the film: {-1e3 * slope:.2f} mV/A")
    failed = False
    for name, where in ("vacuum", vacuum), ("film", away < MIDDLE):
        worst = np.abs(difference[where]).max()
        failed |= not worst < TOLERANCE[name]
        print(f"Means over planes and the double integral of the charge density, {name}: differ by "
              f"{1e3 * np.sqrt((difference[where]**2).mean()):.4f} mV, rms, and at most "
              f"{1e3 * worst:.4f}")
    plot(folder / "potential.png", x, y, z, phi, planes, integral)
    if failed:
        sys.exit("analyze.py: the map differs from the potential of the charges of fix ave/chunk")


def around_axis(x, y, z, phi):
    """Means over rings around the axis through the ions, as wide as a cell: (y, ring)."""
    cell = x[1] - x[0]
    ring = (np.hypot(x[:, None] - MIDDLE, z - MIDDLE) / cell).astype(int).ravel()
    points = np.bincount(ring)
    rings = np.array([np.bincount(ring, phi[:, k].ravel()) / points for k in range(len(y))])
    return rings[:, :int(RADIUS / cell)]


def plot(path, x, y, z, phi, planes, integral):
    plt.rcParams.update({"font.size": 9})
    figure = plt.figure(figsize=(9.6, 4.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.5, 1, 0.5])

    rings = around_axis(x, y, z, phi)
    both = np.hstack([rings[:, ::-1], rings]).T
    cell = y[1] - y[0]
    reach = cell * rings.shape[1]
    image = left.imshow(both, cmap="RdBu_r", vmin=-2, vmax=2, origin="lower",
                        extent=(y[0] - cell / 2, y[-1] + cell / 2, -reach, reach))
    for name, at in IONS.items():
        left.annotate(name, (at, 0), ha="center", va="center", color="w", fontsize=8)
    left.set(xlabel="y (Å)", ylabel="distance from the axis (Å)",
             title="around the axis through the ions")
    figure.colorbar(image, ax=left, label="mean potential (V)", orientation="horizontal",
                    extend="both", shrink=0.8)

    middle.plot(integral, z, color="k", lw=1, label="double integral of\nthe charge density")
    middle.plot(planes, z, ".", color="tab:red", ms=4, label="means over planes\nof the map")
    middle.set(xlabel="mean potential (V)", ylabel="z (Å)", title="across the film",
               ylim=(z[0], z[-1]))
    middle.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.97), fontsize=8)
    right.plot(1e3 * (planes - integral), z, ".", color="tab:red", ms=4)
    right.axvline(0, color="k", lw=0.8)
    right.set(xlabel="difference (mV)", yticklabels=[], ylim=(z[0], z[-1]))
    for axes in middle, right:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
