#!/usr/bin/env python3
"""Computes work and free energy from the files of in.pull and in.windows. Prints tables and draws
salt.png.

Usage: analyze.py [FOLDER]. The exit code is 1 if a number of fix coord/bias is wrong, or if the
free energies of the windows and of the ions without a bias differ.
"""
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from free_energy import Failure, wham

STEP_PS = 0.002
KT = 0.0019872067 * 300.0       # kcal/mol
K = 20.0                        # force constant of the restraint, as in the inputs
START, STOP, STEPS = 4.0, 8.0, 10000
SAMPLES = 900                   # samples of a window that count: the last 4,500 of 6,000 steps
# 15 digits of S and 12 of the work
TOLERANCE = 1e-9
BLOCKS = 4                      # blocks of the ions without a bias, about 30 ps each


def restraint(s, center):
    return 0.5 * K * (s - center)**2


def read_log(path):
    """Columns of the last run's table of thermo output, by name."""
    lines = path.read_text().splitlines()
    first = max(i for i, line in enumerate(lines) if line.split()[:1] == ["Step"])
    rows = []
    for line in lines[first + 1:]:
        if line.startswith("Loop time"):
            break
        rows.append([float(word) for word in line.split()])
    return dict(zip(lines[first].split(), np.array(rows).T))


def read_windows(path):
    """Return the samples [sample, ion] of the restrained ions by center, and the numbers of
    chlorides in contact. Only the last SAMPLES of each window count."""
    table = np.loadtxt(path)
    s, center = np.hsplit(table[:, 1:-1], 2)
    windows = {c: np.column_stack([s[center[:, ion] == c, ion][-SAMPLES:]
                                   for ion in range(s.shape[1])])
               for c in np.unique(center)}
    return windows, table[:, -1]


def by_ion(windows):
    """Return the windows of each ion."""
    n_ions = next(iter(windows.values())).shape[1]
    return [{c: s[:, ion] for c, s in windows.items()} for ion in range(n_ions)]


def read_histogram(path):
    """Middles of the bins, and for each block the number of samples in each."""
    blocks = []
    with open(path) as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            rows = int(line.split()[1])
            blocks.append([[float(word) for word in next(lines).split()] for _ in range(rows)])
    blocks = np.array(blocks)
    return blocks[0, :, 1], blocks[:, :, 2]


def merge(histogram, blocks):
    """Return the sums of this number of blocks."""
    return np.array([part.sum(axis=0) for part in np.array_split(histogram, blocks)])


def fractions(edges, bounds):
    """Return the fraction of each bin that is between two bounds: [bin, interval]."""
    inside = np.minimum(edges[1:, None], bounds[1:]) - np.maximum(edges[:-1, None], bounds[:-1])
    return np.clip(inside / np.diff(edges)[:, None], 0, 1)


def combine(windows):
    """Return the weights of all samples without the bias, and the free energy of every window in
    kT, by WHAM without bins."""
    centers = np.array(list(windows))
    samples = np.concatenate([s.ravel() for s in windows.values()])
    sizes = [s.size for s in windows.values()]
    bias = restraint(samples, centers[:, None]) / KT    # window, sample
    try:
        weights, free, _ = wham(np.ones(len(samples)), sizes, bias)
    except Failure as failure:
        sys.exit(f"analyze.py: {failure}")
    return samples, weights, free


def profile(probability):
    """kcal/mol, infinite where the probability is 0."""
    with np.errstate(divide="ignore"):
        return -KT * np.log(probability)


def error(results):
    """Standard error of the mean of independent results."""
    return np.std(results, axis=0, ddof=1) / np.sqrt(len(results))


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "output")
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    # --- the pull: all of it from S alone ---
    step, s, center, work = np.loadtxt(folder / "pull.dat").T
    moved = START + (STOP - START) * (step - step[0]) / STEPS
    change = [restraint(at, moved[1:]) - restraint(at, moved[:-1]) for at in (s[:-1], s[1:])]
    summed = np.append(0, np.cumsum(sum(change) / 2))
    log = read_log(folder / "log.pull")
    at_log = np.searchsorted(step, log["Step"])
    print(f"\nPull from {START:g} to {STOP:g} in {STEPS * STEP_PS:g} ps: work "
          f"{log['work'][-1]:.2f} kcal/mol")
    check(np.abs(center - moved).max() < TOLERANCE, "the center moves linearly from start to stop")
    worst = max(np.abs(work - summed).max(), np.abs(log["work"] - summed[at_log]).max())
    check(worst < TOLERANCE,
          f"work is what V changes by as the center moves, summed over S: to {worst:.1g}")
    # the thermostat's conserved energy has the bias in it: where the center moves it gains the work
    gain = log["Econserve"] - log["work"]
    half = len(gain) // 2
    drift = gain[half:].mean() - gain[:half].mean()
    check(np.abs(drift) < 1.2,
          f"conserved energy minus work changes by {drift:+.2f} kcal/mol, with the work by "
          f"{log['Econserve'][half:].mean() - log['Econserve'][:half].mean():+.2f}")
    off = s - moved
    check(np.abs(off).max() < 1.5 and np.abs(off.mean()) < 0.4,
          f"S follows the center: S - center {off.mean():+.2f} on average, at most "
          f"{np.abs(off).max():.2f} away")

    # --- the windows ---
    windows, chloride = read_windows(folder / "windows.dat")
    samples, weights, free = combine(windows)
    # Blocks of one ion are not independent: an exchange of a water takes as long as a window.
    ions = [combine(samples_of_ion) for samples_of_ion in by_ion(windows)]
    free, free_error = free * KT, error([ion[2] * KT for ion in ions])
    centers = np.array(list(windows))
    work_at = np.interp(centers, moved, summed)
    print(f"\n{len(windows)} windows of {len(windows[START])} samples of {len(ions)} ions, errors "
          "from the ions\n"
          "center    mean of S    F of the window   work of the pull up to there (kcal/mol)")
    for c, f, e, w in zip(centers, free, free_error, work_at):
        print(f"{c:6.1f}  {windows[c].mean():.2f} +- {error(windows[c].mean(axis=0)):.2f}"
              f"    {f:6.2f} +- {e:.2f}    {w:6.2f}")
    means = np.array([windows[c].mean() for c in centers])
    check(np.all(means[2:] > means[:-2]) and np.abs(means - centers).max() < 0.75,
          "means of the windows rise with the centers, at most "
          f"{np.abs(means - centers).max():.2f} away")
    print(f"        work of the pull less F: {work_at[-1] - free[-1]:.2f} +- {free_error[-1]:.2f} "
          "kcal/mol")

    check(chloride.max() < 0.9, "no chloride is in contact with these ions: their sum is at most "
          f"{chloride.max():.2f}")

    # --- the ions without a bias ---
    middle, histogram = read_histogram(folder / "unpaired.dat")
    edges = np.append(middle - 0.025, middle[-1] + 0.025)
    histogram = merge(histogram, BLOCKS)

    def binned(values, weights, edges):
        return np.histogram(values, edges, weights=weights)[0]

    mean = weights @ samples
    mean_error = error([w @ s for s, w, _ in ions])
    block_means = histogram @ middle / histogram.sum(axis=1)
    unbiased, mean_unbiased_error = block_means.mean(), error(block_means)
    print(f"\n{'':26s}{'windows':>16s}{'without a bias':>18s}  results of single ions")
    print(f"{'mean of S':26s}{mean:8.2f} +- {mean_error:.2f}"
          f"{unbiased:9.3f} +- {mean_unbiased_error:.3f}"
          f"  {' '.join(f'{w @ s:5.2f}' for s, w, _ in ions)}")
    # Errors of four results are themselves accurate to 40 %. Therefore the tolerances contain a
    # constant.
    check(abs(mean - unbiased) < 0.1 + 3 * np.hypot(mean_error, mean_unbiased_error),
          f"means of S differ by {mean - unbiased:+.2f}")

    numbers = np.arange(4, 9)      # 4 is from 3.5 to 4.5
    coarse = np.arange(3.5, 9)
    ion_f = np.array([profile(binned(s, w, coarse)) for s, w, _ in ions])
    ion_f -= ion_f[:, [2]]
    f_error = error(ion_f)
    f = profile(binned(samples, weights, coarse))
    f -= f[2]
    count = histogram @ fractions(edges, coarse)
    f_unbiased = profile(count.sum(axis=0))
    f_unbiased -= f_unbiased[2]
    both = (count > 100).all(axis=0)
    block_f = profile(count[:, both]) - profile(count[:, [2]])
    unbiased_error = np.full(len(numbers), np.nan)
    unbiased_error[both] = error(block_f)
    for n in range(len(numbers)):
        seen = count.sum(axis=0)[n]
        text = (f"{f_unbiased[n]:9.2f} +- {unbiased_error[n]:.2f} " if both[n] else
                f"{f_unbiased[n]:9.2f}         " if seen else "        none      ")
        print(f"F of {numbers[n]} oxygens, kcal/mol  {f[n]:8.2f} +- {f_error[n]:.2f}{text} "
              f"{' '.join(f'{value:5.2f}' for value in ion_f[:, n])}")
    difference = np.abs(f - f_unbiased)[both]
    tolerance = 0.3 + 3 * np.hypot(f_error, unbiased_error)[both]
    check(both.sum() >= 3 and np.all(difference < tolerance),
          f"F of {numbers[both][0]} to {numbers[both][-1]} oxygens of the windows and of the ions "
          f"without a bias: to {difference.max():.2f} kcal/mol")

    # relative to the bin of 6, where all have samples
    six = np.argmin(np.abs(middle - 6))
    fine = [profile(binned(s, w, edges)) for s, w, _ in [(samples, weights, None)] + ions]
    fine = np.array([f - f[six] for f in fine])
    fine[np.isinf(fine)] = np.nan
    total = histogram.sum(axis=0)
    f_unbiased = np.where(total < 10, np.nan, profile(total / total[six]))
    plot(folder / "salt.png", (step - step[0]) * STEP_PS, s, moved, summed, centers, free,
         free_error,
         middle, fine[0], error(fine[1:]), f_unbiased)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, time, s, moved, work, centers, free, free_error, middle, f, f_error, f_unbiased):
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    grid = figure.add_gridspec(2, 2)
    top, bottom, right = (figure.add_subplot(g) for g in (grid[0, 0], grid[1, 0], grid[:, 1]))
    top.plot(time, s, color="tab:blue", lw=0.5, label="S")
    top.plot(time, moved, color="k", lw=1, label="center")
    top.set(ylabel="hydration number S", xlim=(0, time[-1] * 1.02))
    top.legend(frameon=False, loc="upper left")
    bottom.plot(time, work, color="tab:red", lw=1.2, label="work of the pull")
    at = np.interp(centers, moved, time)
    bottom.errorbar(at, free, free_error, color="k", fmt="o", ms=3, capsize=2,
                    label="F of the windows")
    bottom.set(xlabel="time (ps)", ylabel="energy (kcal/mol)", xlim=(0, time[-1] * 1.02))
    bottom.legend(frameon=False, loc="upper left")

    right.plot(middle, f, color="tab:blue", lw=1.2, label="from the windows")
    right.fill_between(middle, f - f_error, f + f_error, color="tab:blue", alpha=0.25, lw=0)
    right.plot(middle, f_unbiased, color="tab:orange", lw=1.2, label="14 ions without a bias")
    right.set(xlabel="hydration number S", ylabel="free energy F (kcal/mol)", xlim=(3.5, 8.5))
    right.legend(frameon=False)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
