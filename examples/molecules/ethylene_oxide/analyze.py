#!/usr/bin/env python3
"""Computes density and dielectric constant of liquid ethylene oxide from the files of
in.ethylene_oxide. Prints a table and draws ethylene_oxide.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if the dielectric constants with the two reaction
fields differ by more than three times their standard errors.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

STEP_PS, MOLECULES, TEMPERATURE = 0.004, 256, 305.0
DIPOLE = 0.5119492                        # e A
COULOMB, BOLTZMANN = 332.06371, 0.0019872067     # units real: kcal/mol A / e^2, kcal/mol/K
BLOCKS = 6
FIELDS = {"inf": np.inf, "10": 10.0}


def dielectric_constant(fluctuation, volume, field):
    """Return eps from <M^2>. Beyond the cutoff, the reaction field has the dielectric constant
    'field': (eps - 1)(2 field + 1) / (2 field + eps) = 4 pi C <M^2> / (3 V k T)"""
    y = 4 * np.pi * COULOMB * fluctuation / (3 * volume * BOLTZMANN * TEMPERATURE)
    return 1 + y if np.isinf(field) else (1 + 2 * field * (1 + y)) / (2 * field + 1 - y)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    print(f"\n{'reaction field':>15s}{'density, kg/m3':>20s}"
          f"{'<M^2>/(N mu^2)':>19s}{'dielectric constant':>22s}")
    found = []
    for (name, field), color in zip(FIELDS.items(), ("tab:blue", "tab:orange")):
        step, density, volume, *m = np.loadtxt(folder / f"dipole.{name}.dat").T
        time, m_sq = step * STEP_PS, sum(component**2 for component in m)
        n = len(step) // BLOCKS * BLOCKS
        # mu's: the mean of M is 0 by symmetry
        blocks = [part.reshape(BLOCKS, -1).mean(axis=1) for part in (1000 * density[:n],
                                                                     m_sq[:n] / MOLECULES,
                                                                     DIPOLE**2 * m_sq[:n],
                                                                     volume[:n])]
        deviation = lambda values: values.std(ddof=1) / np.sqrt(BLOCKS)
        mean = dielectric_constant(blocks[2].mean(), blocks[3].mean(), field)
        # by leaving out one block in turn: it is not linear in <M^2>
        without = np.array([dielectric_constant(np.delete(blocks[2], k).mean(),
                                                np.delete(blocks[3], k).mean(), field)
                            for k in range(BLOCKS)])
        error = np.sqrt((BLOCKS - 1) * ((without - without.mean())**2).mean())
        found.append((mean, error))
        print(f"{name:>15s}{blocks[0].mean():13.1f} +- "
              f"{deviation(blocks[0]):3.1f}{blocks[1].mean():12.2f} +- {deviation(blocks[1]):4.2f}"
              f"{mean:14.1f} +- {error:4.1f}")

        count = np.arange(1, len(step) + 1)
        y = dielectric_constant(DIPOLE**2 * np.cumsum(m_sq) / count, np.cumsum(volume) / count,
                                field)
        left.plot(time[time > 20], y[time > 20], color=color, lw=1.3,
                  label=f"rf {name}: {mean:.1f} ± {error:.1f}")
        right.hist(np.concatenate(m) / np.sqrt(MOLECULES / 3), bins=72, range=(-6, 6), density=True,
                   histtype="step", color=color, lw=1.3,
                   label=f"rf {name}")
    x = np.linspace(-6, 6, 200)
    right.plot(x, np.exp(-x * x / 2) / np.sqrt(2 * np.pi), color="k", lw=1, ls="--",
               label="independent dipoles")
    right.set(xlabel="component of M / (μ √(N/3))", ylabel="probability density")
    right.legend(frameon=False)
    left.set(xlabel="time (ps)", ylabel="running dielectric constant", ylim=(0, None),
             xlim=(0, None))
    left.legend(frameon=False, loc="lower right")
    figure.savefig(folder / "ethylene_oxide.png", dpi=150)
    (a, error_a), (b, error_b) = found
    if not abs(a - b) < 3 * np.hypot(error_a, error_b):
        sys.exit("analyze.py: the reaction fields give dielectric constants that differ")


if __name__ == "__main__":
    main()
