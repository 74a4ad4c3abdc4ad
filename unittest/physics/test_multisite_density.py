"""Densities of liquids at constant temperature and pressure, beside published ones of the same models, or of the substance to
which a model was fitted.

TraPPE-UA ethane: two Lennard-Jones centres; by Monte Carlo 469.4 kg/m^3 at 236 K and 1.1 MPa, 434.42 at 256 K and 1.8 MPa (FEASST
tutorials, cutoff 14 Angstrom with long-range correction, as here).
CO2 of T. Merker, C. Engin, J. Vrabec and H. Hasse, J. Chem. Phys. 132, 234512 (2010): three centres and a point quadrupole, whose
liquid has the density of CO2 within half a percent; saturated at 250 K that is 1046 kg/m^3 by the equation of state of R. Span
and W. Wagner, J. Phys. Chem. Ref. Data 25, 1509 (1996).
"""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "commands"))
import coordtest
import multisitetest

COMPONENTS = """# UNITS: real
component ethane
mass 30.069
inertia 17.82791 17.82791 0
centre 0 0 0.77 0.194746 3.75
centre 0 0 -0.77 0.194746 3.75
component CO2
mass 44.0095
inertia 52.99292 52.99292 0
centre 0 0 0 0.024586486 2.8137
centre 0 0 1.2869 0.199700118 2.9755
centre 0 0 -1.2869 0.199700118 2.9755
quadrupole 0 0 0 0 0 1 -0.848163
"""
ATM = 0.101325    # MPa
KCAL = 68568.415    # kcal/mol/A^3 in atm
BLOCKS = 8


class Liquid:
    """A run with fix npt/asphere: means of density, temperatures and pressure with standard errors by blocks."""

    def __init__(self, name, spacing, temperature, pressure, per_edge, cutoff, steps, timestep, seed):
        path = os.path.join(coordtest.folder(), "density.multisite")
        with open(path, "w") as file:
            file.write(COMPONENTS)
        n = per_edge**3
        heat = f"{temperature} {temperature}"
        run = multisitetest.run_lammps([
            "units real", "atom_style ellipsoid", f"lattice sc {spacing}",
            f"region box block 0 {per_edge} 0 {per_edge} 0 {per_edge}",
            "create_box 1 box", "create_atoms 1 box", f"pair_style multisite {cutoff} tail yes precision mixed",
            f"pair_coeff * * {path} {name}", "set_multisite all", f"set group all quat/random {seed}", "neighbor 1.5 bin",
            "neigh_modify every 1 delay 0 check yes", f"velocity all create {temperature} {seed}", "timestep 1.0",
            # what overlaps goes apart, and what turns gets its heat
            "fix move all nve/asphere", f"fix heat all langevin {heat} 50.0 {seed} angmom 3.333",
            "fix linear all multisite/linear",
            "run 2000 post no", "unfix linear", "unfix heat", "unfix move", f"timestep {timestep}",
            f"fix move all npt/asphere temp {heat} 500.0 iso {pressure / ATM} {pressure / ATM} 3000.0",
            f"compute_modify move_temp extra/dof {n + 3}", "fix_modify move press thermo_press",
            "fix linear all multisite/linear",
            f"run {steps // 5} post no", "compute turning all temp/asphere dof rotate", f"compute_modify turning extra/dof {n}",
            "thermo_style custom step density temp c_turning press vol", "thermo 20", f"run {steps}"])
        table = run.tables[-1]
        columns = np.array([table[key][1:] for key in ("Density", "Temp", "c_turning", "Press")])
        columns[0] *= 1000    # kg/m^3
        means = np.array([part.mean(axis=1) for part in np.array_split(columns, BLOCKS, axis=1)])
        self.mean, self.error = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
        # fix npt/asphere has all kinetic energy for that of translation in a term that is one part in the number of
        # molecules: pressures come out lower by 2/3 kT/V where molecules have two rotations
        self.pressure = pressure / ATM - 2 / 3 * 0.0019872067 * temperature / table["Volume"].mean() * KCAL
        self.temperature, self.text = temperature, f"{name}, {temperature} K, {pressure} MPa"


class Density(unittest.TestCase):
    def check(self, liquid, density, within, uncertain):
        (rho, translation, rotation, pressure), errors = liquid.mean, liquid.error
        print(f"\n{liquid.text}: {rho:.1f} +- {errors[0]:.1f} kg/m^3 ({density}), {translation:.1f} +- {errors[1]:.1f} and "
              f"{rotation:.1f} +- {errors[2]:.1f} K, {pressure:.1f} +- {errors[3]:.1f} atm ({liquid.pressure:.2f})", end=" ")
        self.assertLess(errors[0], uncertain * density)
        self.assertLess(abs(rho / density - 1), within)
        for found, error in (translation, errors[1]), (rotation, errors[2]):
            self.assertLess(error, 0.01 * liquid.temperature)
            self.assertLess(abs(found - liquid.temperature), 6 * error)
        self.assertLess(abs(pressure - liquid.pressure), 6 * errors[3])

    def test_ethane(self):
        for temperature, pressure, density, spacing in (236.0, 1.1, 469.4, 4.74), (256.0, 1.8, 434.42, 4.86):
            self.check(Liquid("ethane", spacing, temperature, pressure, 7, 14.0, 40000, 5.0, 4711), density, 0.01, 0.004)

    def test_quadrupole(self):
        self.check(Liquid("CO2", 4.12, 250.0, 1.785, 6, 12.0, 30000, 4.0, 4712), 1046.0, 0.015, 0.006)


if __name__ == "__main__":
    unittest.main(verbosity=2)
