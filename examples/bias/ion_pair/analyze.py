#!/usr/bin/env python3
"""Computes the free energy of an ion pair as a function of distance and hydration number from the
files of in.ion_pair. Prints tables and draws ion_pair.png.

Usage: analyze.py [FOLDER]. If FOLDER has a folder plumed with a run of in.plumed, both free
energies are compared. The exit code is 1 if numbers of PLUMED and LAMMPS differ, if a run is too
short, if contact pair, barrier and solvent-separated pair are not at the distances of other models
of NaCl in water, or if the free energies differ by more than their errors allow.
"""
import importlib.util
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import (count_round_trips, in_blocks, mean_of_blocks, neff, profile, read_table,
                         smooth)

WALL = 6.0                      # Angstrom, as in in.ion_pair and plumed.dat
PACE = 200                      # timesteps, as there
D = np.arange(2.3, WALL + 0.001, 0.05)
N = np.arange(3.0, 9.001, 0.1)
# widths of the Gaussians by which samples are smoothed for the profile and for the map, in d and n
PROFILE_SIGMA = 0.04
MAP_SIGMA = 0.08, 0.15
# states whose F is compared: in contact, at the barrier, separated, with 4 to 7 waters. F of the
# separated pair with 6 waters is 0.
STATES = [2.3, 3.2, 3.8, WALL], [3.5, 4.5, 5.5, 6.5, 7.5]
ZERO = 2, 2


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


class Run:
    """A run: its samples, w(d), F of the states, and the waters of the Na+."""
    def __init__(self, folder, check):
        self.folder, self.by_plumed = folder, (folder / "COLVAR").exists()
        self.name = "OPES of PLUMED" if self.by_plumed else "OPES"
        table = read_table(folder / ("COLVAR" if self.by_plumed else "samples"))
        names = (("time", "d", "n", "opes.bias", "wall.bias", "opes.rct") if self.by_plumed else
                 ("TimeStep", "f_opes[1]", "f_opes[5]", "f_opes", "f_wall", "f_opes[11]"))
        time, self.d, self.n, v, wall, self.rct = (table[name] for name in names)
        self.step = np.rint(time / STEP_PS if self.by_plumed else time).astype(int)
        # At the timestep of a deposit, V of fix coord/bias contains the new kernel, and that of
        # PLUMED does not.
        self.counts = np.ones(len(self.step), bool) if self.by_plumed else self.step % PACE != 0
        self.time, self.bias = self.step * STEP_PS, v + wall
        self.transient = TRANSIENT * self.time[-1]
        print(f"\n{self.name}: {self.step[-1]} steps, {self.time[-1]:.1f} ps")
        if self.by_plumed:
            self.compare_with_log(check)
        self.estimate(check)

    def compare_with_log(self, check):
        log = opes.read_log(self.folder / "log.plumed")
        both = np.isin(log["Step"], self.step)
        at = np.searchsorted(self.step, log["Step"][both])
        worst = {name: np.abs(log[name][both] - column[at]).max()
                 for name, column in (("d", self.d), ("n", self.n), ("V", self.bias))}
        check(max(worst.values()) < opes.TOLERANCE,
              f"COLVAR and the log have {both.sum()} steps with the same " +
              ", ".join(f"{name} (to {d:.1g})" for name, d in worst.items()))

    def estimate(self, check):
        settled = (self.time > self.transient) & self.counts
        d, n, v = self.d[settled], self.n[settled], self.bias[settled]
        weights = np.exp((v - v.max()) / KT)
        length = (self.time[-1] - self.transient) / BLOCKS
        trips = count_round_trips(self.d, 3.0, 4.5)
        late = self.rct[settled]
        print(f"The first {self.transient:.0f} ps do not count. {len(d)} samples, those within "
              f"{WALL:g} A worth {neff(weights[d < WALL]):.0f} of equal weight; {BLOCKS} blocks of "
              f"{length:.0f} ps. In them c(t) goes from {late[:20].mean():.2f} to "
              f"{late[-20:].mean():.2f} kcal/mol")
        check(d.max() < WALL + 1, f"the wall at {WALL:g} A holds: d is at most {d.max():.2f} A")
        check(trips >= 2,
              f"{trips} times from contact (below 3 A) to beyond 4.5 A and back in the whole run")

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
        self.w, self.error = w, error
        print("\n                           distance, A   w, kcal/mol")
        for name, k in (("contact pair", contact), ("barrier", barrier),
                        ("solvent-separated pair", separated)):
            print(f"{name:26s} {D[k]:8.2f}     {w[k]:6.2f} +- {error[k]:.2f}")
        print(f"{'barrier from the contact pair':41s}{w[barrier] - w[contact]:6.2f} +- "
              f"{error_from_contact[barrier]:.2f}")
        check(2.55 <= D[contact] <= 2.95,
              f"contact pair at {D[contact]:.2f} A, between 2.55 and 2.95")
        check(3.1 <= D[barrier] <= 4.0, f"barrier at {D[barrier]:.2f} A, between 3.1 and 4.0")
        check(4.5 <= D[separated] <= 5.6,
              f"solvent-separated pair at {D[separated]:.2f} A, between 4.5 and 5.6")
        for name, well in (("contact", contact), ("separated", separated)):
            height = w[barrier] - w[well]
            check(0.5 < height < 5,
                  f"barrier from the {name} pair {height:.2f} kcal/mol, between 0.5 and 5")
        print("\nError of w by the number of blocks, kcal/mol; it should not grow any more with "
              "their length\n"
              "blocks   length, ps   contact   barrier")
        for blocks in (4 * BLOCKS, 2 * BLOCKS, BLOCKS, BLOCKS // 2):
            errors = profile(smooth(d, in_shell, D, PROFILE_SIGMA, blocks), separated, KT)[1]
            print(f"{blocks:6d}{length * BLOCKS / blocks:12.0f}  {errors[contact]:8.2f}  "
                  f"{errors[barrier]:8.2f}")

        # --- waters of the Na+ in both states ---
        self.waters = {}
        for name, inside in (("in contact", d < D[barrier]),
                             ("separated", (d > D[barrier]) & (d < WALL))):
            product = np.array([part.sum()
                                for part in np.array_split(n * weights * inside, BLOCKS)])
            weight = np.array([part.sum() for part in np.array_split(weights * inside, BLOCKS)])
            self.waters[name] = mean_of_blocks(product, weight)
            print(f"{'waters of the Na+ ' + name:40s} {self.waters[name][0]:6.2f} +- "
                  f"{self.waters[name][1]:.2f}")
        lost = self.waters["separated"][0] - self.waters["in contact"][0]
        check(0.3 < lost < 1.7, f"the chloride in contact takes the place of {lost:.2f} waters")

        # --- F of d and n: in states, and as a map, -kT ln of the probability ---
        zero = np.ravel_multi_index(ZERO, [len(edges) - 1 for edges in STATES])
        self.f_states, self.f_states_error = profile(
            in_blocks(np.column_stack((d, n)), weights, STATES, BLOCKS), zero, KT)
        in_n = gaussians(n, N, MAP_SIGMA[1])
        in_d = gaussians(d, D, MAP_SIGMA[0])
        density = (in_n * weights) @ in_d.T
        samples = in_n @ in_d.T         # in numbers of samples within about a width
        with np.errstate(divide="ignore"):
            self.f = 0.0 - KT * np.log(density / density.max())
        self.f[samples < 1] = np.nan
        print("\nminima of the map          d, A     n     F, kcal/mol")
        for name, low, high in (("contact pair", 2.3, D[barrier]),
                                ("solvent-separated pair", D[barrier] + 0.2, WALL)):
            part = np.where((D > low) & (D < high), self.f, np.nan)
            i, k = np.unravel_index(np.nanargmin(part), part.shape)
            print(f"{name:24s} {D[k]:6.2f} {N[i]:6.2f}   {self.f[i, k]:6.2f}")


def compare(run, other, check):
    """The tolerance is 3 errors of 8 blocks, and a constant, because few waters are exchanged in
    all blocks. States with an error above 0.5 kcal/mol are shown, but not compared."""
    print(f"\nF of d and n, kcal/mol, by the run of {run.name} and that of {other.name}")
    known = np.maximum(run.f_states_error, other.f_states_error) < 0.5
    for i, name in enumerate(("in contact", "at the barrier", "separated")):
        for k in range(len(STATES[1]) - 1):
            print(f"{name:15s} {STATES[1][k] + 0.5:2.0f} waters  " + "  ".join(
                f"{r.f_states[i, k]:6.2f} +- {r.f_states_error[i, k]:.2f}" for r in (run, other))
                + ("" if known[i, k] else "   not compared"))

    def agree(a, a_error, b, b_error, constant, text):
        difference = np.abs(a - b)
        check(bool((difference < constant + 3 * np.hypot(a_error, b_error)).all()),
              f"{text} of both runs: to {difference.max():.2f}")

    agree(run.f_states[known], run.f_states_error[known], other.f_states[known],
          other.f_states_error[known], 0.1, f"F of {known.sum()} states")
    check(known.sum() >= 5, f"{known.sum()} states are compared, at least 5")
    # relative to the mean from 4.5 A on, so that noise of one point does not count
    shown = np.isfinite(run.error) & np.isfinite(other.error) & (D >= 2.6)
    far = D >= 4.5
    agree((run.w - run.w[far].mean())[shown], run.error[shown],
          (other.w - other.w[far].mean())[shown], other.error[shown], 0.1, "w(d) from 2.6 A on")
    for name in run.waters:
        agree(*map(np.array, run.waters[name] + other.waters[name]), 0.03, f"waters {name}")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    runs = [Run(folder, check)]
    if (folder / "plumed" / "COLVAR").exists():
        runs.append(Run(folder / "plumed", check))
        compare(*runs, check)
    plot(folder / "ion_pair.png", runs)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, runs):
    run = runs[0]
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10, 5.5), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(1, 1.2))
    top, middle, bottom = (figure.add_subplot(grid[k, 0]) for k in range(3))
    right = figure.add_subplot(grid[:, 1])
    top.plot(run.time, run.d, color="tab:blue", lw=0.4)
    top.set(ylabel="d (Å)", xlim=(0, run.time[-1]))
    middle.plot(run.time, run.n, color="tab:blue", lw=0.4)
    middle.set(xlabel="time (ps)", ylabel="n", xlim=(0, run.time[-1]))
    for axes in (top, middle):
        axes.axvspan(0, run.transient, color="0.9", lw=0)
    for r, color in zip(runs, ("tab:blue", "tab:red")):
        bottom.plot(D, r.w, color=color, lw=1.2, label=r.name)
        bottom.fill_between(D, r.w - r.error, r.w + r.error, where=np.isfinite(r.w + r.error),
                            color=color, alpha=0.25, lw=0)
    if len(runs) > 1:
        bottom.legend(frameon=False)
    bottom.set(xlabel="distance d (Å)", ylabel="w (kcal/mol)", xlim=(D[0], D[-1]),
               ylim=(np.nanmin(run.w) - 0.5, 5))

    levels = np.arange(0, 5.01, 0.5)
    filled = right.contourf(D, N, np.ma.masked_invalid(run.f), levels=levels, cmap="viridis",
                            extend="max")
    right.contour(D, N, np.ma.masked_invalid(run.f), levels=levels, colors="k", linewidths=0.3)
    figure.colorbar(filled, ax=right, label="free energy F (kcal/mol)")
    right.set(xlabel="distance d of Na$^+$ and Cl$^-$ (Å)", ylabel="hydration number n of Na$^+$",
              xlim=(D[0], D[-1]), ylim=(3.5, 8.5))
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
