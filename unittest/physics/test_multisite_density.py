"""Densities of liquids at constant temperature and pressure, compared with published values of the
same models.

TraPPE-UA ethane: two Lennard-Jones centers; Monte Carlo gives 469.4 kg/m^3 at 236 K and 1.1 MPa,
and 434.42 at 256 K and 1.8 MPa (FEASST tutorials, cutoff 14 Angstrom with long-range correction, as
here).

Two centers and a point quadrupole, L* = 0.505 and Q*^2 = 4, saturated at 0.7 of the critical
temperature: the correlation of J. Stoll, J. Vrabec, H. Hasse and J. Fischer, Fluid Phase Equilib.
179, 339 (2001), for their simulations of 30 such fluids gives T* = 2.2368, rho* = 0.5340, p* =
0.01255. The same correlation gives 469.3 and 434.1 kg/m^3 for the ethane above.
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
center 0 0 0.77 0.194746 3.75
center 0 0 -0.77 0.194746 3.75
"""
# In reduced units.
QUADRUPOLAR = """# UNITS: lj
component 2CLJQ
mass 1
inertia 0.06375625 0.06375625 0
center 0 0 0.2525 1 1
center 0 0 -0.2525 1 1
quadrupole 0 0 0 0 0 1 2
"""
ATM = 0.101325    # MPa
KCAL = 68568.415    # kcal/mol/A^3 in atm
BLOCKS = 8


class Liquid:
    """A run with fix npt/asphere: means of density, temperatures and pressure with standard errors
    from blocks."""

    def __init__(self, components, name, spacing, temperature, pressure, per_edge, cutoff, steps, timestep, seed):
        """Lengths, temperatures, pressures and times are in the units of the components."""
        path = os.path.join(coordtest.folder(), "density.multisite")
        with open(path, "w") as file:
            file.write(components)
        reduced = "UNITS: lj" in components
        n = per_edge**3
        heat = f"{temperature} {temperature}"
        run = multisitetest.run_lammps([
            "units " + ("lj" if reduced else "real"), "atom_style ellipsoid",
            f"lattice sc {1 / spacing**3 if reduced else spacing}",
            f"region box block 0 {per_edge} 0 {per_edge} 0 {per_edge}",
            "create_box 1 box", "create_atoms 1 box", f"pair_style multisite {cutoff} tail yes precision mixed",
            f"pair_coeff * * {path} {name}", "set_multisite all", f"set group all quat/random {seed}",
            f"neighbor {0.4 if reduced else 1.5} bin",
            "neigh_modify every 1 delay 0 check yes", f"velocity all create {temperature} {seed}", f"timestep {timestep / 5}",
            # Separate overlapping molecules, and equilibrate rotations.
            "fix move all nve/asphere", f"fix heat all langevin {heat} {10 * timestep} {seed} angmom 3.333",
            "fix linear all multisite/linear",
            "run 2000 post no", "unfix linear", "unfix heat", "unfix move", f"timestep {timestep}",
            f"fix move all npt/asphere temp {heat} {100 * timestep} iso {pressure} {pressure} {600 * timestep}",
            f"compute_modify move_temp extra/dof {n + 3}", "fix_modify move press thermo_press",
            "fix linear all multisite/linear",
            f"run {steps // 5} post no", "compute turning all temp/asphere dof rotate", f"compute_modify turning extra/dof {n}",
            "thermo_style custom step density temp c_turning press vol", "thermo 20", f"run {steps}"])
        table = run.tables[-1]
        columns = np.array([table[key][1:] for key in ("Density", "Temp", "c_turning", "Press")])
        columns[0] *= 1 if reduced else 1000    # kg/m^3
        means = np.array([part.mean(axis=1) for part in np.array_split(columns, BLOCKS, axis=1)])
        self.mean, self.error = means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
        # In a term of relative size 1/(number of molecules), fix npt/asphere uses all kinetic
        # energy for that of translation: pressures are too low by 2/3 kT/V for molecules with two
        # rotations.
        boltzmann = 1.0 if reduced else 0.0019872067 * KCAL
        self.pressure = pressure - 2 / 3 * boltzmann * temperature / table["Volume"].mean()
        self.temperature, self.text = temperature, f"{name}, temperature {temperature}, pressure {pressure:.5g}"


class Density(unittest.TestCase):
    def check(self, liquid, density, within, uncertain):
        (rho, translation, rotation, pressure), errors = liquid.mean, liquid.error
        print(f"\n{liquid.text}: density {rho:.5g} +- {errors[0]:.2g} ({density}), temperatures {translation:.5g} +- "
              f"{errors[1]:.2g} and {rotation:.5g} +- {errors[2]:.2g}, pressure {pressure:.4g} +- {errors[3]:.2g} "
              f"({liquid.pressure:.4g})", end=" ")
        self.assertLess(errors[0], uncertain * density)
        self.assertLess(abs(rho / density - 1), within)
        for found, error in (translation, errors[1]), (rotation, errors[2]):
            self.assertLess(error, 0.01 * liquid.temperature)
            self.assertLess(abs(found - liquid.temperature), 6 * error)
        self.assertLess(abs(pressure - liquid.pressure), 6 * errors[3])

    def test_ethane(self):
        # The density fluctuates more at the higher temperature.
        for temperature, pressure, density, spacing, steps in (236.0, 1.1, 469.4, 4.74, 20000), (256.0, 1.8, 434.42, 4.86, 40000):
            liquid = Liquid(COMPONENTS, "ethane", spacing, temperature, pressure / ATM, 7, 14.0, steps, 5.0, 4711)
            self.check(liquid, density, 0.01, 0.006)

    def test_quadrupole(self):
        liquid = Liquid(QUADRUPOLAR, "2CLJQ", 1.23, 2.2368, 0.01255, 7, 5.0, 20000, 0.0015, 4712)
        self.check(liquid, 0.5340, 0.015, 0.006)


if __name__ == "__main__":
    unittest.main(verbosity=2)
