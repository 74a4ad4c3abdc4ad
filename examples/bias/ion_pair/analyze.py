#!/usr/bin/env python3
"""Computes the free energy of an ion pair as a function of distance and hydration number from the
files of in.ion_pair. Prints tables and draws ion_pair.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if numbers of PLUMED and LAMMPS differ, if the run
is too short, or if contact pair, barrier and solvent-separated pair are not at the distances of
other models of NaCl in water.
"""
import importlib.util
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import count_round_trips, mean_of_blocks, neff, profile, read_table, smooth

WALL = 6.0                      # Angstrom, as in plumed.dat
D = np.arange(2.3, WALL + 0.001, 0.05)
N = np.arange(3.0, 9.001, 0.1)
# widths of the Gaussians by which samples are smoothed for the profile and for the map, in d and n
PROFILE_SIGMA = 0.04
MAP_SIGMA = 0.08, 0.15


def import_opes():
    """analyze.py of examples/bias/opes."""
    path = Path(__file__).resolve().parents[1] / "opes" / "analyze.py"
    spec = importlib.util.spec_from_file_location("opes", path)
    opes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(opes)
    return opes


opes = import_opes()
KT, STEP_PS, BLOCKS, TRANSIENT = opes.KT, opes.STEP_PS, opes.BLOCKS, opes.TRANSIENT


def gaussians(values, grid, sigma):
    """Return Gaussians around the samples at the points of the grid. A row is a point, a column
    is a sample."""
    return np.exp(-0.5 * ((grid[:, None] - values) / sigma)**2)


def nearest(grid, value):
    return int(np.argmin(np.abs(grid - value)))


def extremum(values, low, high, find):
    """Index of the extremum of the profile between two distances."""
    where = np.flatnonzero((D >= low) & (D <= high) & np.isfinite(values))
    return where[find(values[where])] if len(where) else None


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    # --- numbers of PLUMED and LAMMPS agree ---
    colvar = read_table(folder / "COLVAR")
    log = opes.read_log(folder / "log.ion_pair")
    step = np.rint(colvar["time"] / STEP_PS).astype(int)
    both = np.isin(log["Step"], step)
    at = np.searchsorted(step, log["Step"][both])
    bias = colvar["opes.bias"] + colvar["wall.bias"]
    worst = {name: np.abs(log[name][both] - column[at]).max()
             for name, column in (("d", colvar["d"]), ("n", colvar["n"]), ("V", bias))}
    print(f"\n{step[-1]} steps, {step[-1] * STEP_PS:.1f} ps; {both.sum()} steps are both in COLVAR "
          "and in the log")
    check(max(worst.values()) < opes.TOLERANCE,
          "COLVAR and the log have the same " +
          ", ".join(f"{name} (to {d:.1g})" for name, d in worst.items()))

    # --- states ---
    settled = step > TRANSIENT * step[-1]
    d, n, v = colvar["d"][settled], colvar["n"][settled], bias[settled]
    weights = np.exp((v - v.max()) / KT)
    length = len(d) // BLOCKS * (step[1] - step[0]) * STEP_PS
    trips = count_round_trips(colvar["d"], 3.0, 4.5)
    seen = weights[d < WALL]
    late = colvar["opes.rct"][settled]
    print(f"The first {TRANSIENT * step[-1] * STEP_PS:.0f} ps do not count. {len(d)} samples, "
          f"those within {WALL:g} A worth "
          f"{neff(seen):.0f} of equal weight; {BLOCKS} blocks of {length:.0f} "
          "ps. In them c(t) goes from "
          f"{late[:20].mean():.2f} to {late[-20:].mean():.2f} kcal/mol")
    check(d.max() < WALL + 1, f"the wall at {WALL:g} A holds: d is at most {d.max():.2f} A")
    check(trips >= 2,
          f"{trips} times from contact (below 3 A) to beyond 4.5 A and back in the whole run")

    if d.min() > 3.0 or d.max() < 4.5:
        sys.exit("analyze.py: the pair was not both in contact and separated: a longer run is "
                 "needed")

    # --- w(d) = -kT ln of p(d)/d^2, zero for the solvent-separated pair ---
    in_shell = weights / d**2
    sums = smooth(d, in_shell, D, PROFILE_SIGMA, BLOCKS)
    w = profile(sums, nearest(D, 5.0), KT)[0]
    contact = extremum(w, 2.4, 3.3, np.argmin)
    separated = extremum(w, 4.2, 5.8, np.argmin)
    if contact is None or separated is None or contact + 1 >= separated:
        sys.exit("analyze.py: the pair was not both in contact and separated: a longer run is "
                 "needed")
    w, error = profile(sums, separated, KT)
    barrier = contact + 1 + int(np.argmax(np.where(np.isfinite(w), w,
                                                   -np.inf)[contact + 1:separated]))
    error_from_contact = profile(sums, contact, KT)[1]
    print("\n                           distance, A   w, kcal/mol")
    for name, k in (("contact pair", contact), ("barrier", barrier),
                    ("solvent-separated pair", separated)):
        print(f"{name:26s} {D[k]:8.2f}     {w[k]:6.2f} +- {error[k]:.2f}")
    print(f"{'barrier from the contact pair':41s}{w[barrier] - w[contact]:6.2f} +- "
          f"{error_from_contact[barrier]:.2f}")
    check(2.55 <= D[contact] <= 2.95, f"contact pair at {D[contact]:.2f} A, between 2.55 and 2.95")
    check(3.1 <= D[barrier] <= 4.0, f"barrier at {D[barrier]:.2f} A, between 3.1 and 4.0")
    check(4.5 <= D[separated] <= 5.6,
          f"solvent-separated pair at {D[separated]:.2f} A, between 4.5 and 5.6")
    for name, well in (("contact", contact), ("separated", separated)):
        height = w[barrier] - w[well]
        check(0.5 < height < 5,
              f"barrier from the {name} pair {height:.2f} kcal/mol, between 0.5 and 5")
    print("\nError of w by the number of blocks, kcal/mol; it should not grow any more with their "
          "length\n"
          "blocks   length, ps   contact   barrier")
    for blocks in (4 * BLOCKS, 2 * BLOCKS, BLOCKS, BLOCKS // 2):
        errors = profile(smooth(d, in_shell, D, PROFILE_SIGMA, blocks), separated, KT)[1]
        print(f"{blocks:6d}{length * BLOCKS / blocks:12.0f}  {errors[contact]:8.2f}  "
              f"{errors[barrier]:8.2f}")

    # --- waters of the Na+ in both states ---
    waters = {}
    for name, inside in (("in contact", d < D[barrier]),
                         ("separated", (d > D[barrier]) & (d < WALL))):
        product = np.array([part.sum() for part in np.array_split(n * weights * inside, BLOCKS)])
        weight = np.array([part.sum() for part in np.array_split(weights * inside, BLOCKS)])
        waters[name] = mean_of_blocks(product, weight)
        print(f"{'waters of the Na+ ' + name:40s} {waters[name][0]:6.2f} +- {waters[name][1]:.2f}")
    lost = waters["separated"][0] - waters["in contact"][0]
    check(0.3 < lost < 1.7, f"the chloride in contact takes the place of {lost:.2f} waters")

    # --- map: -kT ln of the probability of d and n ---
    in_n = gaussians(n, N, MAP_SIGMA[1])
    in_d = gaussians(d, D, MAP_SIGMA[0])
    density = (in_n * weights) @ in_d.T
    samples = in_n @ in_d.T         # in numbers of samples within about a width
    with np.errstate(divide="ignore"):
        f = 0.0 - KT * np.log(density / density.max())
    f[samples < 1] = np.nan
    print("\nminima of the map          d, A     n     F, kcal/mol")
    for name, low, high in (("contact pair", 2.3, D[barrier]),
                            ("solvent-separated pair", D[barrier] + 0.2, WALL)):
        part = np.where((D > low) & (D < high), f, np.nan)
        i, k = np.unravel_index(np.nanargmin(part), f.shape)
        print(f"{name:24s} {D[k]:6.2f} {N[i]:6.2f}   {f[i, k]:6.2f}")

    plot(folder / "ion_pair.png", step * STEP_PS, colvar, TRANSIENT * step[-1] * STEP_PS, f, w,
         error)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, time, colvar, transient, f, w, error):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10, 5.5), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(1, 1.2))
    top, middle, bottom = (figure.add_subplot(grid[k, 0]) for k in range(3))
    right = figure.add_subplot(grid[:, 1])
    top.plot(time, colvar["d"], color="tab:blue", lw=0.4)
    top.set(ylabel="d (Å)", xlim=(0, time[-1]))
    middle.plot(time, colvar["n"], color="tab:blue", lw=0.4)
    middle.set(xlabel="time (ps)", ylabel="n", xlim=(0, time[-1]))
    for axes in (top, middle):
        axes.axvspan(0, transient, color="0.9", lw=0)
    bottom.plot(D, w, color="tab:blue", lw=1.2)
    bottom.fill_between(D, w - error, w + error, where=np.isfinite(w + error), color="tab:blue",
                        alpha=0.25, lw=0)
    bottom.set(xlabel="distance d (Å)", ylabel="w (kcal/mol)", xlim=(D[0], D[-1]),
               ylim=(np.nanmin(w) - 0.5, 5))

    levels = np.arange(0, 5.01, 0.5)
    filled = right.contourf(D, N, np.ma.masked_invalid(f), levels=levels, cmap="viridis",
                            extend="max")
    right.contour(D, N, np.ma.masked_invalid(f), levels=levels, colors="k", linewidths=0.3)
    figure.colorbar(filled, ax=right, label="free energy F (kcal/mol)")
    right.set(xlabel="distance d of Na$^+$ and Cl$^-$ (Å)", ylabel="hydration number n of Na$^+$",
              xlim=(D[0], D[-1]), ylim=(3.5, 8.5))
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
