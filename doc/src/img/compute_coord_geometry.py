#!/usr/bin/env python3
"""Draws compute_coord_geometry.png, the figure of the page of compute coord/geometry, from values of
S and V that LAMMPS prints for atoms at chosen positions.

Usage: compute_coord_geometry.py [LMP]. LMP [build/lmp] is a LAMMPS with GPUCOORD.
"""
import subprocess
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
BOX = 10.0
S0 = 3.0
TURNS = np.radians(np.arange(-270, 271, 2))    # of point 4, clockwise from above point 1
SHIFTS = np.linspace(-BOX, BOX, 201)           # of the second point from the first one

# Seen along -z, x to the right and y up: point 2 is in front of point 3. Atoms 5 and 6 are the two
# points of a component.
START = f"""
atom_modify map array
region box block -5 5 -5 5 -5 5
create_box 1 box
create_atoms 1 single 0 1 1
create_atoms 1 single 0 0 1
create_atoms 1 single 0 0 0
create_atoms 1 single 0 1 0
create_atoms 1 single 2 2 -4.5
create_atoms 1 single 2 2 -4.5
mass 1 1.0
pair_style zero 3.0
pair_coeff * *
compute t all coord/geometry dihedral 1 2 3 4
compute z all coord/geometry component z 5 6
compute u all coord/geometry component z 5 6 image none
fix v all coord/bias c_t harmonic k 1.0 s0 {S0}
fix_modify v energy yes
thermo_style custom step c_t c_z c_u f_v
"""


def values(lmp):
    """Return rows of S of the dihedral, S of the component, also with image none, and V."""
    text = START
    for turn, shift in zip(TURNS, np.resize(SHIFTS, len(TURNS))):
        images = np.floor((shift - 4.5 + BOX / 2) / BOX)
        text += (f"set atom 4 x {np.sin(turn):.15g} y {np.cos(turn):.15g}\n"
                 f"set atom 6 z {shift - 4.5 - BOX * images:.15g} image 0 0 {images:.0f}\n"
                 "run 0 post no\nprint 'VALUES $(c_t:%.15g) $(c_z:%.15g) $(c_u:%.15g) $(f_v:%.15g)'\n")
    run = subprocess.run([lmp, "-log", "none"], input=text, stdout=subprocess.PIPE, text=True)
    rows = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("VALUES")]
    if run.returncode or len(rows) != len(TURNS):
        sys.exit(run.stdout[-2000:])
    return np.array(rows, float)


def with_gaps(s):
    """Curves are not drawn across a jump."""
    return np.where(np.append(np.abs(np.diff(s)), 0) > 3, np.nan, s)


def draw_sign(axes):
    axes.set(xlim=(-1.6, 1.6), ylim=(-0.95, 1.3), aspect="equal")
    axes.axis("off")
    axes.plot([0, 0], [0.27, 1], color="k", lw=2)
    axes.add_patch(plt.Circle((0, 0), 0.27, fc="w", ec="k", lw=1.5, zorder=3))
    axes.text(0, 0, "2, 3", ha="center", va="center", zorder=4)
    axes.text(0, 1.08, "1", ha="center")
    for sign, color in ((1, BLUE), (-1, ORANGE)):
        x, y = sign * np.sin(np.pi / 3), np.cos(np.pi / 3)
        axes.plot([0.27 * x, x], [0.27 * y, y], color=color, lw=2, ls="-" if sign > 0 else "--")
        axes.text(1.12 * x, 1.1 * y, "4", color=color, ha="center")
        arc = sign * np.radians(np.arange(6, 50))
        axes.plot(0.62 * np.sin(arc), 0.62 * np.cos(arc), color=color, lw=1)
        axes.annotate("", (0.62 * np.sin(sign * 0.96), 0.62 * np.cos(sign * 0.96)),
                      (0.62 * np.sin(arc[-1]), 0.62 * np.cos(arc[-1])),
                      arrowprops={"arrowstyle": "-|>", "color": color})
        axes.text(sign * 1.05, 0.98, "clockwise\nS = $+\\pi/3$" if sign > 0 else
                  "anticlockwise\nS = $-\\pi/3$", color=color, ha="center")
    axes.text(0, -0.85, "seen from point 2 to point 3\n(2 is in front of 3)", ha="center")


def main():
    dihedral, nearest, unwrapped, v = values(sys.argv[1] if len(sys.argv) > 1 else
                                             str(HERE.parents[2] / "build/lmp")).T
    # what draw_sign shows
    for turn in np.pi / 3, -np.pi / 3:
        assert abs(dihedral[np.argmin(np.abs(TURNS - turn))] - turn) < 1e-12
    n = len(SHIFTS)

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "legend.frameon": False})
    figure, ((sign, component), (period, bias)) = plt.subplots(2, 2, figsize=(8.4, 5.6),
                                                               layout="constrained")
    sign.set_title("(a) sign of a dihedral", loc="left", fontsize=9)
    draw_sign(sign)

    component.set_title("(b) component z P1 P2 in a box of 10", loc="left", fontsize=9)
    component.plot(SHIFTS, with_gaps(nearest[:n]), color=BLUE, label="image nearest")
    component.plot(SHIFTS, unwrapped[:n], color=ORANGE, ls="--", lw=1, label="image none")
    component.set(xlabel="$z_2 - z_1$, unwrapped", ylabel="S", xlim=(-BOX, BOX))
    component.legend(loc="upper left")

    degrees = np.degrees(TURNS)
    ticks = [-270, -180, -90, 0, 90, 180, 270]
    pi = [-np.pi, 0, np.pi]
    period.set_title("(c) period of a dihedral", loc="left", fontsize=9)
    period.plot(degrees, with_gaps(dihedral), color=BLUE)
    period.set(xlabel="turn of point 4, clockwise (degrees)", ylabel="S", xticks=ticks, yticks=pi,
               yticklabels=["$-\\pi$", "0", "$\\pi$"])
    period.axhline(S0, color="0.6", lw=0.8, ls=":")
    period.text(270, S0 - 0.5, "s0 = 3", color="0.4", ha="right")

    bias.set_title("(d) V of harmonic k 1.0 s0 3", loc="left", fontsize=9)
    bias.plot(degrees, v, color=BLUE, label="fix coord/bias: nearest image")
    bias.plot(degrees, with_gaps(0.5 * (dihedral - S0)**2), color=ORANGE, ls="--", lw=1,
              label="without a period: $(S - 3)^2/2$")
    bias.set(xlabel="turn of point 4, clockwise (degrees)", ylabel="V", xticks=ticks, ylim=(0, 27))
    bias.legend(loc="upper left")
    for axes in (period, bias):
        axes.axvline(180, color="0.85", lw=0.8, zorder=0)
        axes.axvline(-180, color="0.85", lw=0.8, zorder=0)
    figure.savefig(HERE / "compute_coord_geometry.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
