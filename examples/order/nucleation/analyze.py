#!/usr/bin/env python3
"""analyze.py FOLDER: checks a run of the nucleation example and draws nucleation.png.

Computes the order parameters, the number of solid-like atoms and the largest cluster of several
frames from the positions by numpy and scipy. Compares them with the results of LAMMPS. Compares
the distributions of the averaged q6 with fcc and hcp crystals and with published peaks. Fails if
a check fails.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import gaussian_kde

try:
    from scipy.special import sph_harm_y
except ImportError:    # scipy before 1.15

    def sph_harm_y(l, m, polar, azimuth):
        from scipy.special import sph_harm
        return sph_harm(m, l, azimuth, polar)


TIMESTEP = 0.005
L, D0, DMAX, THRESHOLD, NN = 6, 1.2, 1.5, 0.6, 12    # as in in.clusters; the exponent mm is 2 NN
RERUN = 1e-9      # relative, S and per-atom values by numpy and by the rerun in double precision
RUN = 1e-5        # relative, S by numpy and by the run in mixed precision
LIQUID = 0.08     # part of the atoms: S of a liquid stays below
CRYSTAL = 0.5     # part of the atoms: S of a crystal is above
TAIL = 0.2        # last part of the biased run: the crystal

# Peaks of the averaged q6 in Lennard-Jones phases, Lechner and Dellago, J. Chem. Phys. 129, 114707
# (2008).
# They are approximate because that work shows them as curves.
PUBLISHED = {"liquid": (0.2, 0.2), "crystal": (0.4, 0.5)}
PEAK = 0.05       # tolerance of a peak


def read_log(path):
    """Return columns by name of the last thermo table of a log."""
    columns, names = {}, None
    for line in open(path):
        words = line.split()
        if words[:1] == ["Step"]:
            names, rows = words, []
        elif line.startswith("Loop time"):
            columns, names = dict(zip(names, np.array(rows).T)), None
        elif names and len(words) == len(names) and words[0].isdigit():
            rows.append([float(word) for word in words])
    return columns


def read_frames(path):
    """Return {step: (edges of the box, lower corner, columns)} of a dump that is sorted by ID."""
    frames = {}
    with open(path) as file:
        while file.readline():    # ITEM: TIMESTEP
            step = int(file.readline())
            file.readline()
            n = int(file.readline())
            file.readline()
            low, high = np.array([file.readline().split() for _ in range(3)], float).T
            file.readline()
            frames[step] = high - low, low, np.array([file.readline().split() for _ in range(n)],
                                                     float)
    return frames


def find_pairs(x, edges, cutoff):
    """Return i, j and the vectors from i to j of all ordered pairs. The box is at least 2
    cutoffs wide."""
    tree = cKDTree(x % edges, boxsize=edges)
    i, j = tree.query_pairs(cutoff, output_type="ndarray").T
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    d = x[j] - x[i]
    return i, j, d - edges * np.round(d / edges)


def order_parameters(x, edges):
    """Return the mean alignment and the averaged q6 of each atom."""
    i, j, d = find_pairs(x, edges, DMAX)
    r = np.sqrt((d**2).sum(axis=1))
    t = ((r - D0) / (DMAX - D0)).clip(0.0, 1.0)
    s = (t - 1)**2 * (1 + 2 * t)
    m = np.arange(-L, L + 1)
    y = sph_harm_y(L, m, np.arccos(d[:, 2] / r)[:, None], np.arctan2(d[:, 1], d[:, 0])[:, None])
    weights = csr_matrix((s, (i, j)), (len(x), len(x)))
    partners = np.bincount(i, s, len(x))[:, None]
    bonds = csr_matrix((s, (i, np.arange(len(i)))), (len(x), len(i)))
    q = bonds @ y / partners
    u = q / np.sqrt((np.abs(q)**2).sum(axis=1))[:, None]
    alignment = (u.conj() * (weights @ u)).sum(axis=1).real / partners[:, 0]
    average = (q + weights @ q) / (1 + partners)
    return alignment, np.sqrt(4 * np.pi / (2 * L + 1) * (np.abs(average)**2).sum(axis=1))


def largest_cluster(x, edges, solid):
    """Return the size of the largest cluster of solid-like atoms: neighbors within DMAX."""
    if not solid.any():
        return 0
    i, j, _ = find_pairs(x[solid], edges, DMAX)
    n = solid.sum()
    labels = connected_components(csr_matrix((np.ones(len(i)), (i, j)), (n, n)), directed=False)[1]
    return np.bincount(labels).max()


def peak(values):
    """Return the position of the maximum of the distribution, smoothed by a width of 0.01."""
    at = np.linspace(0, 0.7, 701)
    return at[gaussian_kde(values, 0.01 / values.std())(at).argmax()]


def main(folder):
    failures = []

    def check(passes, text):
        print(("ok      " if passes else "FAILED  ") + text)
        if not passes:
            failures.append(text)

    logs = {name: read_log(folder / f"log.{name}") for name in ("biased", "unbiased")}
    clusters = {name: read_log(folder / f"log.clusters.{name}") for name in ("biased", "unbiased")}
    atoms = {name: read_frames(folder / f"dump.atoms.{name}")
             for name in ("biased", "unbiased", "fcc", "hcp")}
    n = len(next(iter(atoms["biased"].values()))[2])
    last = {name: log["Step"][-1] for name, log in logs.items()}
    print(f"{n} atoms, {last['biased']:.0f} steps")

    # Order parameters from positions.
    print("\n               step    S of the run       S of rerun      S by numpy  largest "
          "cluster: LAMMPS, scipy")
    worst = {"run": 0.0, "rerun": 0.0, "atoms": 0.0}
    equal = True
    for name in ("biased", "unbiased"):
        frames = read_frames(folder / f"dump.{name}")
        steps = np.array(list(frames))
        part = np.linspace(0, len(steps) - 1, 9 if name == "biased" else 3).round().astype(int)
        for step in steps[part]:
            edges, low, columns = frames[step]
            x = columns[:, 1:] - low
            alignment, average = order_parameters(x, edges)
            f = 1 - 1 / (1 + (alignment.clip(0) / THRESHOLD)**NN)
            lammps = atoms[name][step][2]
            run = logs[name]["c_solid"][np.searchsorted(logs[name]["Step"], step)]
            at = np.searchsorted(clusters[name]["Step"], step)
            rerun, size = clusters[name]["c_solid"][at], int(clusters[name]["v_largest"][at])
            worst["run"] = max(worst["run"], abs(run / f.sum() - 1))
            worst["rerun"] = max(worst["rerun"], abs(rerun / f.sum() - 1))
            worst["atoms"] = max(worst["atoms"],
                                 np.abs(np.array([alignment, f, average]).T - lammps[:, 1:4]).max())
            own = largest_cluster(x, edges, alignment > THRESHOLD)
            equal &= own == size
            print(f"{name:9s}{step:10d}{run:16.7f}{rerun:17.10f}{f.sum():16.10f}{size:15d}{own:9d}")
    check(worst["run"] < RUN, f"S of the run and by numpy differ by {worst['run']:.1e} (relative)")
    check(worst["rerun"] < RERUN,
          f"S of the rerun and by numpy differ by {worst['rerun']:.1e} (relative)")
    check(worst["atoms"] < RERUN,
          f"per-atom values of the rerun and by numpy differ by {worst['atoms']:.1e}")
    check(equal, "the largest clusters by compute cluster/atom and by scipy are equal")

    # Nucleation.
    print()
    s = {name: log["c_solid"] for name, log in logs.items()}
    size = {name: log["v_largest"] for name, log in clusters.items()}
    tail = logs["biased"]["Step"] >= (1 - TAIL) * last["biased"]
    check(last["biased"] == last["unbiased"], "both runs have the same length")
    check(s["biased"][tail].min() > CRYSTAL * n,
          f"biased: S is {s['biased'][tail].mean() / n:.3f} N in the last {100 * TAIL:.0f} % of "
          "the run")
    check(size["biased"][0] < LIQUID * n and size["biased"][-1] > CRYSTAL * n,
          f"biased: the largest cluster grows from {size['biased'][0]:.0f} to "
          f"{size['biased'][-1]:.0f} atoms")
    check(s["unbiased"].max() < LIQUID * n,
          f"unbiased: S is at most {s['unbiased'].max() / n:.3f} N, {s['unbiased'].mean() / n:.3f} "
          "N on average")
    check(size["unbiased"].max() < LIQUID * n,
          f"unbiased: the largest cluster has at most {size['unbiased'].max():.0f} atoms")
    above = logs["biased"]["Step"][s["biased"] > CRYSTAL * n]
    if len(above):
        print(f"biased: S exceeds {CRYSTAL:g} N at step {above[0]:.0f}; "
              f"the bias is at most {logs['biased']['f_bias'].max() / 0.6:.1f} kT")

    # Distributions of the averaged q6.
    def collect(name, first):
        return np.concatenate([frame[2][:, 3]
                               for step, frame in atoms[name].items() if step >= first])

    q = {"liquid": collect("unbiased", 0),
         "crystal": collect("biased", (1 - TAIL) * last["biased"]),
         "fcc": collect("fcc", 0), "hcp": collect("hcp", 0)}
    peaks = {name: peak(values) for name, values in q.items()}
    print("\n             averaged q6: peak   mean   published peak")
    for name, values in q.items():
        low, high = PUBLISHED.get(name, (np.nan, np.nan))
        text = "" if np.isnan(low) else f"{low} to {high}"
        print(f"{name:20s}{peaks[name]:10.3f}{values.mean():7.3f}   {text}")
    for name, (low, high) in PUBLISHED.items():
        check(low - PEAK < peaks[name] < high + PEAK,
              f"{name}: peak {peaks[name]:.3f}, published {low} to {high}, tolerance {PEAK}")
    check(peaks["hcp"] - PEAK < peaks["crystal"] < peaks["fcc"] + PEAK,
          f"crystal: peak {peaks['crystal']:.3f}, hcp and fcc {peaks['hcp']:.3f} and "
          f"{peaks['fcc']:.3f}, tolerance {PEAK}")

    plot(folder / "nucleation.png", n, logs, clusters, q)
    if failures:
        sys.exit(f"analyze.py: {len(failures)} of the checks failed")


def plot(path, n, logs, clusters, q):
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, color in (("biased", "tab:red"), ("unbiased", "tab:blue")):
        left.plot(TIMESTEP * logs[name]["Step"], logs[name]["c_solid"], color=color, lw=1,
                  label=f"solid-like atoms, {name}")
        left.plot(TIMESTEP * clusters[name]["Step"], clusters[name]["v_largest"], "o", color=color,
                  ms=3,
                  label=f"largest cluster, {name}")
    left.axhline(n, color="0.6", lw=0.8, ls=":")
    left.set(xlabel=r"time / $\tau$", ylabel="number of atoms", xlim=(0, None), ylim=(0, 1.05 * n))
    left.legend(frameon=False, loc="center right")

    bins = np.linspace(0, 0.7, 71)
    for name, color, style, label in (("liquid", "tab:blue", "-", "unbiased run: liquid"),
                                      ("crystal", "tab:red", "-",
                                       f"biased run, last {100 * TAIL:.0f} %"),
                                      ("hcp", "0.3", "--", "hcp crystal"),
                                      ("fcc", "0.3", ":", "fcc crystal")):
        p = np.histogram(q[name], bins, density=True)[0]
        right.plot((bins[1:] + bins[:-1]) / 2, p, style, color=color, lw=1.5, label=label)
    for k, (low, high) in enumerate(PUBLISHED.values()):
        right.axvspan(low - 0.01, high + 0.01, ymax=0.03, color="tab:green", lw=0,
                      label=None if k else "published peaks")
    right.set(xlabel=r"averaged $q_6$", ylabel="probability density", xlim=(0, 0.7), ylim=(0, None))
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "output"))
