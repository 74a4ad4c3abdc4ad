#!/usr/bin/env python3
"""analyze.py FOLDER: chemical potentials and coexistence pressure from log*.bulk.* and log*.pinning.*

Prints a table, draws interface_pinning.png, and fails if the coexistence pressure differs from the
published one, or the slope of the chemical potential from the volumes of the phases.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from logs import DISCARDED, mean_and_error, pinned_points, production, runs, zero_of_line

T, TIMESTEP = 0.8, 0.004    # as in the inputs
PUBLISHED = 2.185           # Pedersen, J. Chem. Phys. 139, 104102 (2013)
PRESSURE = 0.03             # largest deviation from PUBLISHED, or 3 standard errors
SLOPE = 0.1                 # largest relative deviation of the slope, or 3 standard errors
ERROR = 0.1                 # largest standard error of the pressure that makes the comparison useful
Q_CRYSTAL, Q_LIQUID = 0.4, 0.1    # Q of a crystal is above, that of a liquid below


@dataclass
class Point:
    """One pressure. Volumes, chemical potentials (dmu: liquid minus crystal) and errors are per atom."""
    p: float
    q_crystal: float
    q_liquid: float
    v_crystal: float
    v_liquid: float
    time: np.ndarray
    q: np.ndarray
    center: float
    dmu: float
    error: float
    g: float    # timesteps
    blocks: int


def read(bulk, pinning):
    (_, crystal), _, (_, liquid) = runs(bulk)
    _, (n, pinned) = runs(pinning)
    p, step, q = pinned["v_pressure"][0], pinned["Step"], pinned["c_Q"]
    if not crystal["v_pressure"][0] == liquid["v_pressure"][0] == p:
        sys.exit(f"{bulk} and {pinning} have different pressures")
    q_crystal, q_liquid = (production(phase["c_Q"]).mean() for phase in (crystal, liquid))
    v_crystal, v_liquid = (1 / production(phase["Density"]).mean() for phase in (crystal, liquid))

    # An atom that moves from the liquid to the crystal changes Q by q_crystal/n, the Gibbs energy by
    # -dmu, and the bias by dV/dQ q_crystal/n. The mean of the sum of both energies is zero.
    dmu, error, g, blocks = mean_and_error(production(pinned["f_pin[2]"]) * q_crystal / n)
    return Point(p, q_crystal, q_liquid, v_crystal, v_liquid, TIMESTEP * (step - step[0]), q,
                 pinned["f_pin[3]"][0], dmu, error, g * (step[1] - step[0]), blocks)


def curvature(points, coexistence):
    """Shift of the zero because dmu is no straight line: that of a line through the integral of the
    difference of volumes, which is linear in p."""
    p, error = (np.array([getattr(point, name) for point in points]) for name in ("p", "error"))
    integral = np.polyint(np.polyfit(p, [point.v_liquid - point.v_crystal for point in points], 1))
    dmu = np.polyval(integral, p) - np.polyval(integral, coexistence)
    slope, zero = np.polyfit(p, dmu, 1, w=1 / error)
    return -zero / slope - coexistence


def draw(path, points, coexistence, error, slope, volume):
    plt.rcParams.update({"font.size": 11})
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for k, point in enumerate(points):
        time, q = ([part.mean() for part in np.array_split(series, 200)] for series in (point.time, point.q))
        left.plot(time, q, color=f"C{k}", lw=0.8, label=f"p* = {point.p:g}")
        left.axhline(production(point.q).mean(), color=f"C{k}", lw=1.5)
    left.axvspan(0, DISCARDED * points[0].time[-1], color="0.92", label="discarded")
    left.axhline(points[0].center, color="k", ls="--", lw=1.5, label="center of the bias")
    width = 0.12 * points[0].q_crystal
    left.set(xlabel=r"time  ($\tau$)", ylabel="order parameter Q", ylim=(points[0].center - width, points[0].center + width))
    left.legend(ncols=2, loc="upper right", fontsize=10)

    p = np.array([points[0].p - 0.1, points[-1].p + 0.1])
    right.axhline(0, color="gray", lw=0.8)
    right.plot(p, slope * (p - coexistence), color="C0", label="weighted straight line")
    right.plot(p, volume * (p - coexistence), color="gray", ls=":", lw=2, label="slope of the bulk volumes")
    right.errorbar([point.p for point in points], [point.dmu for point in points],
                   [point.error for point in points], fmt="o", color="k", capsize=4, label="interface pinning")
    right.errorbar([coexistence], [0], xerr=[error], fmt="D", color="C0", capsize=4, mfc="white",
                   label=f"zero: p* = {coexistence:.3f} ± {error:.3f}")
    right.plot([PUBLISHED], [0], "x", color="C3", ms=10, mew=2, label=f"published: p* = {PUBLISHED}")
    right.set(xlabel=r"pressure p*  ($\epsilon/\sigma^3$)",
              ylabel=r"$\mu_\mathrm{liquid} - \mu_\mathrm{crystal}$  ($\epsilon$ per atom)")
    right.legend(loc="lower right", fontsize=10)
    figure.savefig(path, dpi=110)


def main(folder):
    points = pinned_points(folder, read, lambda point: point.p, "pressures")

    print("  p*   v crystal  v liquid  Q crystal  Q liquid    <Q>     g/steps  blocks  mu liquid - mu crystal")
    for s in points:
        print(f"{s.p:5.3f} {s.v_crystal:9.4f} {s.v_liquid:9.4f} {s.q_crystal:10.4f} {s.q_liquid:9.4f} "
              f"{production(s.q).mean():9.4f} {s.g:8.0f} {s.blocks:6d}     {s.dmu:9.5f} +- {s.error:.5f}")
    coexistence, error, slope, slope_error, chi2 = zero_of_line(
        *zip(*((s.p, s.dmu, s.error) for s in points)))
    volume = np.mean([s.v_liquid - s.v_crystal for s in points])
    deviation, allowed = abs(coexistence - PUBLISHED), max(PRESSURE, 3 * error)
    mismatch, mismatch_allowed = abs(slope / volume - 1), max(SLOPE, 3 * slope_error / volume)
    print(f"coexistence: p* = {coexistence:.4f} +- {error:.4f}, published {PUBLISHED}; "
          f"deviation {deviation:.4f}, allowed {allowed:.4f}")
    print(f"slope: {slope:.4f} +- {slope_error:.4f}, v liquid - v crystal {volume:.4f}; "
          f"relative deviation {mismatch:.3f}, allowed {mismatch_allowed:.3f}")
    print(f"chi^2 of the line: {chi2:.2f} with {len(points) - 2} degrees of freedom; its curvature by the volumes "
          f"shifts the zero by {curvature(points, coexistence):+.4f}")
    draw(f"{folder}/interface_pinning.png", points, coexistence, error, slope, volume)

    def two_phases(s):
        q = production(s.q)
        return 0.25 * s.q_crystal < q.min() and q.max() < 0.75 * s.q_crystal

    failed = [what for what, holds in (
        (f"the coexistence pressure differs from {PUBLISHED} by more than {allowed:.3f}", deviation <= allowed),
        (f"the error of the coexistence pressure is above {ERROR}", error <= ERROR),
        (f"the slope differs from that of the volumes by more than {mismatch_allowed:.3f}", mismatch <= mismatch_allowed),
        (f"a bulk crystal has Q below {Q_CRYSTAL}", all(s.q_crystal > Q_CRYSTAL for s in points)),
        (f"a bulk liquid has Q above {Q_LIQUID}", all(s.q_liquid < Q_LIQUID for s in points)),
        ("a pinned system has lost its crystal or its liquid", all(map(two_phases, points)))) if not holds]
    sys.exit("; ".join(failed) or None)


if __name__ == "__main__":
    main(sys.argv[1])
