#!/usr/bin/env python3
"""analyze.py FOLDER: melting temperature of aluminum from log*.bulk.* and log*.pinning.*, and the crystal
that formed in log*.freezing

Prints tables, draws aluminum.png, and fails if the melting temperature differs from the published one,
the slope of the chemical potential from the enthalpies of the phases, or the crystal that formed from an
fcc crystal.
"""

import glob
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from logs import DISCARDED, mean_and_error, pinned_points, production, runs, zero_of_line

TIMESTEP = 0.002                # ps, as in the inputs
MASS = 26.98154 / 0.602214076   # g/cm^3 of one atom in a volume of 1 A^3
JOULE = 96485.33                # J/mol per eV
PUBLISHED = 926                 # K, Mendelev, Kramer, Becker and Asta, Philos. Mag. 88, 1723 (2008)
PIAGGI, PIAGGI_ERROR = 903, 13  # K, Piaggi, Valsson and Parrinello, Phys. Rev. Lett. 119, 015701 (2017)
ENTROPY = 12.1                  # J/(mol K), the same
TEMPERATURE = 10                # K, largest deviation from PUBLISHED, or 3 standard errors
SLOPE = 0.1                     # largest relative deviation of the slope, or 3 standard errors
ERROR = 15                      # K, largest standard error that makes the comparison useful
Q_CRYSTAL, Q_LIQUID = 0.6, 0.3  # Q of a crystal is above, that of a liquid below
FROZEN = 0.6                    # smallest part of h_l - h_c that the liquid gives off when it freezes
FCC = 0.5                       # smallest part of fcc atoms of the crystal that formed


@dataclass
class Point:
    """One temperature. Enthalpies h, chemical potentials (dmu: liquid minus crystal) and errors are per atom."""
    t: float
    lattice: float
    q_crystal: float
    q_liquid: float
    h_crystal: float
    h_liquid: float
    time: np.ndarray
    q: np.ndarray
    dmu: float
    error: float
    g: float    # timesteps
    blocks: int

    @property
    def entropy(self):
        return (self.h_liquid - self.h_crystal) / self.t

    @property
    def part(self):
        """Part of the atoms in the crystal, over time"""
        return (self.q - self.q_liquid) / (self.q_crystal - self.q_liquid)


def read(bulk, pinning):
    _, (atoms, crystal), _, (_, liquid) = runs(bulk)
    _, (n, pinned) = runs(pinning)
    t, step, q = pinned["v_temperature"][0], pinned["Step"], pinned["c_Q"]
    if not crystal["v_temperature"][0] == liquid["v_temperature"][0] == t:
        sys.exit(f"{bulk} and {pinning} have different temperatures")
    q_crystal, q_liquid = (production(phase["c_Q"]).mean() for phase in (crystal, liquid))
    h_crystal, h_liquid = (production(phase["Enthalpy"]).mean() / atoms for phase in (crystal, liquid))
    lattice = (4 * MASS / production(crystal["Density"]).mean())**(1 / 3)

    # An atom that moves from the liquid to the crystal changes Q by (q_crystal - q_liquid)/n, the Gibbs
    # energy by -dmu, and the bias by dV/dQ times the change of Q. The mean of the sum of both energies is
    # zero.
    dmu, error, g, blocks = mean_and_error(production(pinned["f_pin[2]"]) * (q_crystal - q_liquid) / n)
    return Point(t, lattice, q_crystal, q_liquid, h_crystal, h_liquid, TIMESTEP * (step - step[0]), q,
                 dmu, error, g * (step[1] - step[0]), blocks)


@dataclass
class Freezing:
    """Pair entropies, enthalpies per atom with errors, and parts of fcc atoms, of the phases by name"""
    t: float
    s: dict
    h: dict
    fcc: float
    time: np.ndarray
    biased: np.ndarray
    atoms: int


def read_freezing(path):
    (n, crystal), _, (_, liquid), (_, biased), (_, formed), (_, quenched) = runs(path)
    phases = {"crystal": crystal, "liquid": liquid, "formed": formed}
    s, h = ({name: mean_and_error(production(phase[column]) / part)[:2] for name, phase in phases.items()}
            for column, part in (("c_S2", 1), ("Enthalpy", n)))
    return Freezing(crystal["v_temperature"][0], s, h, quenched["c_fcc"][-1],
                    TIMESTEP * (biased["Step"] - biased["Step"][0]), biased["c_S2"], n)


def draw(path, points, zero, error, slope, freezing):
    plt.rcParams.update({"font.size": 11})
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    for k, point in enumerate(points):
        time, part = ([block.mean() for block in np.array_split(series, 200)] for series in (point.time, point.part))
        left.plot(time, part, color=f"C{k}", lw=0.8, label=f"{point.t:g} K")
        left.axhline(production(point.part).mean(), color=f"C{k}", lw=1.5)
    left.axvspan(0, DISCARDED * points[0].time[-1], color="0.92", label="discarded")
    left.axhline(0.5, color="k", ls="--", lw=1.5, label="center of the bias")
    left.set(xlabel="time  (ps)", ylabel=r"fraction of the crystal, $(Q - Q_l)/(Q_c - Q_l)$", ylim=(0.35, 0.65))
    left.legend(ncols=2, loc="upper right", fontsize=9)

    t = np.array([points[0].t - 10, points[-1].t + 10])
    meV = 1000
    middle.axhline(0, color="gray", lw=0.8)
    middle.plot(t, meV * slope * (t - zero), color="C0", label="weighted straight line")
    middle.plot(t, -meV * np.mean([point.entropy for point in points]) * (t - zero), color="gray", ls=":", lw=2,
                label="slope of the bulk enthalpies")
    middle.errorbar([point.t for point in points], [meV * point.dmu for point in points],
                    [meV * point.error for point in points], fmt="o", color="k", capsize=4, label="interface pinning")
    middle.errorbar([zero], [0], xerr=[error], fmt="D", color="C0", capsize=4, mfc="white",
                    label=f"zero: {zero:.0f} ± {error:.0f} K")
    middle.plot([PUBLISHED], [0], "x", color="C3", ms=10, mew=2, label=f"Mendelev et al.: {PUBLISHED} K")
    middle.errorbar([PIAGGI], [0], xerr=[PIAGGI_ERROR], fmt="s", color="C2", capsize=4,
                    label=f"Piaggi et al.: {PIAGGI} ± {PIAGGI_ERROR} K")
    middle.set(xlabel="temperature  (K)", ylabel=r"$\mu_\mathrm{liquid} - \mu_\mathrm{crystal}$  (meV per atom)")
    middle.legend(loc="upper right", fontsize=9)

    right.plot(freezing.time, freezing.biased, color="C0", lw=0.8, label=f"with bias, {freezing.t:g} K")
    for name, color in (("liquid", "C3"), ("crystal", "k"), ("formed", "C1")):
        right.axhline(freezing.s[name][0], color=color, ls="--", lw=1.5,
                      label="new crystal" if name == "formed" else name)
    right.set(xlabel="time  (ps)", ylabel="pair entropy  (k per atom)", ylim=(-7, -1.8))
    right.legend(loc="upper right", fontsize=9)
    figure.savefig(path, dpi=110)


def main(folder):
    points = pinned_points(folder, read, lambda point: point.t, "temperatures")
    found = glob.glob(f"{folder}/log*.freezing*")
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} logs of freezing, 1 is needed")
    freezing = read_freezing(found[0])

    print("T/K  lattice/A  h liquid - h crystal/eV  Q crystal  Q liquid    <Q>     g/steps  blocks"
          "  mu liquid - mu crystal/meV")
    for s in points:
        print(f"{s.t:3.0f} {s.lattice:9.4f} {s.h_liquid - s.h_crystal:18.5f} {s.q_crystal:16.4f} {s.q_liquid:9.4f} "
              f"{production(s.q).mean():9.4f} {s.g:8.0f} {s.blocks:6d}     {1000 * s.dmu:9.3f} +- {1000 * s.error:.3f}")
    zero, error, slope, slope_error, chi2 = zero_of_line(*zip(*((s.t, s.dmu, s.error) for s in points)))
    entropy = np.mean([s.entropy for s in points])
    deviation, allowed = abs(zero - PUBLISHED), max(TEMPERATURE, 3 * error)
    mismatch, mismatch_allowed = abs(-slope / entropy - 1), max(SLOPE, 3 * slope_error / entropy)
    print(f"melting temperature: {zero:.1f} +- {error:.1f} K, published {PUBLISHED} K and {PIAGGI} +- {PIAGGI_ERROR} K; "
          f"deviation {deviation:.1f} K, allowed {allowed:.1f} K")
    print(f"entropy of melting, J/(mol K): {-JOULE * slope:.2f} +- {JOULE * slope_error:.2f} by the slope, "
          f"{JOULE * entropy:.2f} by the enthalpies, published {ENTROPY}; "
          f"relative deviation {mismatch:.3f}, allowed {mismatch_allowed:.3f}")
    print(f"chi^2 of the line: {chi2:.2f} with {len(points) - 2} degrees of freedom")

    print(f"\nfreezing of {freezing.atoms} atoms at {freezing.t:g} K:  pair entropy     enthalpy/eV")
    for name, label in (("liquid", "liquid"), ("crystal", "crystal"), ("formed", "crystal that formed")):
        (s, s_error), (h, h_error) = freezing.s[name], freezing.h[name]
        print(f"{label:36s}{s:8.3f} +- {s_error:.3f} {h:10.5f} +- {h_error:.5f}")
    h = {name: mean for name, (mean, _) in freezing.h.items()}
    frozen = (h["liquid"] - h["formed"]) / (h["liquid"] - h["crystal"])
    print(f"the crystal that formed has given off {100 * frozen:.0f} % of the heat of freezing, allowed {100 * FROZEN:g} to "
          f"105 %, and has {100 * freezing.fcc:.0f} % fcc atoms, allowed {100 * FCC:g} to 100 %")
    draw(f"{folder}/aluminum.png", points, zero, error, slope, freezing)

    def two_phases(s):
        part = production(s.part)
        return 0.25 < part.min() and part.max() < 0.75

    failed = [what for what, holds in (
        (f"the melting temperature differs from {PUBLISHED} K by more than {allowed:.1f} K", deviation <= allowed),
        (f"the error of the melting temperature is above {ERROR} K", error <= ERROR),
        (f"the slope differs from that of the enthalpies by more than {mismatch_allowed:.3f}",
         mismatch <= mismatch_allowed),
        (f"a bulk crystal has Q below {Q_CRYSTAL}", all(s.q_crystal > Q_CRYSTAL for s in points)),
        (f"a bulk liquid has Q above {Q_LIQUID}", all(s.q_liquid < Q_LIQUID for s in points)),
        ("a pinned system has lost its crystal or its liquid", all(map(two_phases, points))),
        ("the enthalpy of the crystal that formed is not that of a crystal", FROZEN <= frozen <= 1.05),
        (f"the crystal that formed has less than {100 * FCC:g} % fcc atoms", freezing.fcc >= FCC)) if not holds]
    sys.exit("; ".join(failed) or None)


if __name__ == "__main__":
    main(sys.argv[1])
