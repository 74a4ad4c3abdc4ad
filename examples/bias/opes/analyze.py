#!/usr/bin/env python3
"""Computes the free energy of the hydration number from the files of in.opes. Prints tables and
draws opes.png.

Usage: analyze.py [FOLDER [FOLDER OF A RUN OF examples/bias/salt]]. If FOLDER has a folder plumed
with a run of in.plumed, or is one itself, this run is checked, too. The free energy of windows is
shown for comparison. It is computed from windows.dat of the second folder, or read from
windows.txt without a second folder. The exit code is 1 if numbers of PLUMED and LAMMPS differ,
if the run is too short, or if the free energies of the biased ion and of the ions without a bias
differ by more than their errors allow.
"""
import importlib.util
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools"))
from free_energy import (count_round_trips, in_blocks, mean_of_blocks, neff, profile,
                         read_table)

STEP_PS = 0.002
KT = 0.0019872067 * 300.0       # kcal/mol
BARRIER = 6.0                   # kcal/mol, as in in.opes and plumed.dat
TRANSIENT = 0.2                 # part of the run that does not count
BLOCKS = 8                      # blocks after the equilibration, for the compared errors
HISTOGRAM_STEPS = 4000          # steps per histogram of the other ions, as in in.opes
NUMBERS = np.arange(4, 9)       # 4 oxygens are S from 3.5 to 4.5
EDGES = np.arange(3.5, 9)
SIX = 2                         # F is zero at 6 oxygens
# COLVAR has 8 decimals, the log 10 digits
TOLERANCE = 3e-8


def import_salt():
    """analyze.py of examples/bias/salt."""
    spec = importlib.util.spec_from_file_location("salt", HERE.parent / "salt" / "analyze.py")
    salt = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(salt)
    return salt


salt = import_salt()


def read_log(path):
    """Return the columns of the last run's thermo output by name. Warnings and lines of fixes may be
    between its rows and after them."""
    lines = path.read_text().splitlines()
    first = max(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
    rows = []
    for line in lines[first + 1:]:
        if line.startswith("Loop time"):
            break
        if line.split()[:1] and line.split()[0].isdigit():
            rows.append([float(word) for word in line.split()])
    return dict(zip(lines[first].split(), np.array(rows).T))


def windows_of(folder):
    """Return F of 4 to 8 oxygens and its error from the windows of examples/bias/salt, the fine
    profile or None, and the source."""
    if folder is None:
        f, error = np.loadtxt(HERE / "windows.txt").T[1:]
        return f, error, None, "windows.txt"
    windows, _ = salt.read_windows(folder / "windows.dat")
    every = [salt.combine(samples) for samples in [windows] + salt.by_ion(windows)]
    coarse = np.array([salt.profile(np.histogram(s, EDGES, weights=w)[0]) for s, w, _ in every])
    coarse -= coarse[:, [SIX]]
    samples, weights, _ = every[0]
    return coarse[0], salt.error(coarse[1:]), (samples, weights), str(folder / "windows.dat")


class Run:
    """A biased run: its samples, F of 4 to 8 oxygens, and the fine profile."""
    def __init__(self, folder, check):
        self.folder, self.by_plumed = folder, (folder / "COLVAR").exists()
        self.name = "OPES of PLUMED" if self.by_plumed else "OPES"
        if self.by_plumed:
            self.read_colvar(check)
        else:
            table = read_table(folder / "samples")
            step, self.s, self.chloride, self.v, wall, self.rct = table.numbers[:, :6].T
            self.step, self.bias = np.rint(step).astype(int), self.v + wall
        last = self.step[-1]
        if last < BLOCKS * HISTOGRAM_STEPS:
            sys.exit(f"analyze.py: a run of at least {BLOCKS * HISTOGRAM_STEPS} steps is needed "
                     f"for {BLOCKS} blocks")
        self.time = self.step * STEP_PS
        self.transient = TRANSIENT * self.time[-1]
        self.estimate(check)

    def read_colvar(self, check):
        """Numbers of PLUMED and LAMMPS must agree."""
        colvar = read_table(self.folder / "COLVAR")
        log = read_log(self.folder / "log.opes")
        self.s, self.chloride, self.v, self.rct = (
            colvar.column(name) for name in ("s", "chloride", "opes.bias", "opes.rct"))
        self.step = np.rint(colvar.column("time") / STEP_PS).astype(int)
        self.bias = self.v + colvar.column("hold.bias")
        both = np.isin(log["Step"], self.step)
        at = np.searchsorted(self.step, log["Step"][both])
        worst = {name: np.abs(log[name][both] - column[at]).max() for name, column in (
            ("S", self.s), ("chloride", self.chloride), ("V", self.bias))}
        print(f"{both.sum()} steps are both in COLVAR and in the log")
        check(max(worst.values()) < TOLERANCE,
              "COLVAR and the log have the same " +
              ", ".join(f"{name} (to {d:.1g})" for name, d in worst.items()))

    def estimate(self, check):
        settled = self.time > self.transient
        s, v, chloride, bias = (x[settled] for x in (self.s, self.v, self.chloride, self.bias))
        # the ions without a bias count while no chloride touches them, and so does this one
        weights = np.where(chloride > 0.5, 0.0, np.exp((bias - bias.max()) / KT))
        length = len(s) // BLOCKS * (self.step[1] - self.step[0]) * STEP_PS
        trips = count_round_trips(self.s, 4.5, 7.5)
        print(f"\n{self.name}: {self.step[-1]} steps, {self.time[-1]:.1f} ps\n"
              f"The first {self.transient:.0f} ps do not count. {len(s)} samples, "
              f"worth {neff(weights):.0f} of equal weight; {BLOCKS} blocks of {length:.0f} ps")
        check(s.min() < 4.25 and s.max() > 7.75, f"S is from {s.min():.2f} to {s.max():.2f}")
        check(trips >= 3, f"{trips} times from below 4.5 to above 7.5 and back in the whole run")
        check(chloride.max() < 0.9,
              f"the wall holds chlorides off: at most {chloride.max():.2f} of one is in contact")

        counts = in_blocks(s, weights, EDGES, BLOCKS)
        self.f, self.f_error = profile(counts, SIX, KT)
        print("\nError of F by the number of blocks, kcal/mol; it should not grow any more with "
              "their length\nblocks   length, ps "
              + "".join(f"{'F(' + str(n) + ')':>8s}" for n in NUMBERS if n != 6))
        for blocks in (4 * BLOCKS, 2 * BLOCKS, BLOCKS, BLOCKS // 2):
            errors = profile(in_blocks(s, weights, EDGES, blocks), SIX, KT)[1]
            print(f"{blocks:6d}{length * BLOCKS / blocks:12.0f}  " +
                  "".join(f"{e:8.2f}" for n, e in zip(NUMBERS, errors) if n != 6))
        parts = [np.array([part.sum() for part in np.array_split(x, BLOCKS)])
                 for x in (s * weights, weights)]
        self.mean, self.mean_error = mean_of_blocks(*parts)

        # If F is well below BARRIER, the bias is -(1 - 1/gamma) F plus a constant. F of the bias
        # and F of reweighting use the same samples. If they agree, BARRIER and kT are the values of
        # the run.
        self.middle, self.histogram = salt.read_histogram(self.folder / "others.dat")
        self.edges = np.append(self.middle - 0.025, self.middle[-1] + 0.025)
        six = np.argmin(np.abs(self.middle - 6))
        late = slice(len(s) // 2, None)
        seen = np.histogram(s[late], self.edges)[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            self.f_bias = (-np.histogram(s[late], self.edges, weights=v[late])[0] / seen
                           / (1 - KT / BARRIER))
        self.fine, self.fine_error = profile(in_blocks(s, weights, self.edges, BLOCKS), six, KT)
        low = (seen >= 5) & (self.fine < self.fine[np.isfinite(self.fine)].min() + BARRIER - 2)
        self.f_bias -= (self.f_bias - self.fine)[low].mean()
        rms = np.sqrt(((self.f_bias - self.fine)[low]**2).mean())
        print(f"F from the bias and F by reweighting differ by {rms:.2f} kcal/mol (root mean "
              f"square, F below {BARRIER - 2:g})")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    salt_folder = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    run = Run(folder, check)
    runs = [run]
    if (folder / "plumed" / "COLVAR").exists():
        runs.append(Run(folder / "plumed", check))
    middle, edges, histogram = run.middle, run.edges, run.histogram
    six = np.argmin(np.abs(middle - 6))

    # --- ions without a bias and without a chloride in contact, like the biased ion ---
    free = salt.merge(salt.read_histogram(folder / "free.dat")[1], BLOCKS)
    nearest = salt.fractions(edges, EDGES)    # [fine bin, number of oxygens]
    f_free, free_error = profile(free @ nearest, SIX, KT)
    samples = free.sum(axis=0) @ nearest
    paired = 1 - free.sum() / salt.merge(histogram, BLOCKS).sum()
    f_windows, windows_error, windows, source = windows_of(salt_folder)
    mean_free, mean_free_error = mean_of_blocks(free @ middle, free.sum(axis=1))

    def show(value, error, digits=2):
        return f"{value:8.{digits}f} +- {error:.{digits}f}"

    print(f"\nwindows: {source}\n{'':26s}" + "".join(f"{r.name:>16s}" for r in runs)
          + f"{'windows':>18s}{'17 ions, no bias':>19s}")
    print(f"{'mean of S':26s}" + "".join(f"{show(r.mean, r.mean_error):>16s}" for r in runs)
          + f"{'':18s}{show(mean_free, mean_free_error, 3):>19s}")
    for n, number in enumerate(NUMBERS):
        print(f"F of {number} oxygens, kcal/mol  "
              + "".join(f"{show(r.f[n], r.f_error[n]):>16s}" for r in runs)
              + f"{show(f_windows[n], windows_error[n]):>18s}"
              f"{show(f_free[n], free_error[n]):>19s}, {samples[n]:.0f} samples")
    print(f"Of the samples without a bias, {100 * paired:.2f} % have a chloride in contact. They "
          "do not count.")

    # The tolerance is 3 errors of 8 blocks, and a constant, because few waters are exchanged in all
    # blocks. Numbers of oxygens that ions without a bias seldom have are shown, but not compared.
    where = ((NUMBERS >= 5) & (NUMBERS <= 7)) | (free_error < 0.3)
    numbers = ", ".join(str(n) for n in NUMBERS[where])
    others = [(r, "the ions without a bias", mean_free, mean_free_error, f_free, free_error)
              for r in runs]
    if len(runs) > 1:
        others.append((run, runs[1].name, runs[1].mean, runs[1].mean_error, runs[1].f,
                       runs[1].f_error))
    for r, name, other, other_error, other_f, other_f_error in others:
        check(abs(r.mean - other) < 0.03 + 3 * np.hypot(r.mean_error, other_error),
              f"means of S of {r.name} and of {name} differ by {r.mean - other:+.2f}")
        difference = np.abs(r.f - other_f)[where]
        check(bool((difference < 0.1 + 3 * np.hypot(r.f_error, other_f_error)[where]).all()),
              f"F of {numbers} oxygens of {r.name} and of {name}: to {difference.max():.2f} "
              "kcal/mol")

    plot(folder / "opes.png", runs, free.sum(axis=0), six, windows)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, runs, free, six, windows):
    run = runs[0]
    time, middle, edges = run.time, run.middle, run.edges
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    grid = figure.add_gridspec(2, 2)
    top, bottom, right = (figure.add_subplot(g) for g in (grid[0, 0], grid[1, 0], grid[:, 1]))
    top.plot(time, run.s, color="tab:blue", lw=0.4)
    top.set(ylabel="hydration number S", xlim=(0, time[-1]))
    bottom.plot(time, run.v, color="tab:blue", lw=0.3, label="bias of OPES")
    bottom.plot(time, run.rct, color="k", lw=1.2, label="rct")
    bottom.set(xlabel="time (ps)", ylabel="energy (kcal/mol)", xlim=(0, time[-1]))
    bottom.legend(frameon=False, loc="lower right", ncol=2)
    for axes in (top, bottom):
        axes.axvspan(0, run.transient, color="0.9", lw=0)

    for r, color in zip(runs, ("tab:blue", "tab:red")):
        right.plot(middle, r.fine, color=color, lw=1.2, label=f"{r.name}, reweighted")
        shown = np.isfinite(r.fine) & np.isfinite(r.fine_error)
        right.fill_between(middle, r.fine - r.fine_error, r.fine + r.fine_error, where=shown,
                           color=color, alpha=0.25, lw=0)
    right.plot(middle, run.f_bias, color="k", lw=0.8, ls=":", label=f"{run.name}, from its bias")
    with np.errstate(divide="ignore"):
        f_free = np.where(free < 10, np.nan, -KT * np.log(free / free[six]))
    right.plot(middle, f_free, color="tab:orange", lw=1.2, label="17 ions without a bias")
    if windows:
        samples, weights = windows
        p = np.histogram(samples, edges, weights=weights)[0]
        with np.errstate(divide="ignore"):
            right.plot(middle, np.where(p > 0, -KT * np.log(p / p[six]), np.nan), color="tab:green",
                       lw=0.8,
                       label="windows of examples/bias/salt")
    right.set(xlabel="hydration number S", ylabel="free energy F (kcal/mol)", xlim=(3.5, 8.5),
              ylim=(-1, 8))
    right.legend(frameon=False)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
