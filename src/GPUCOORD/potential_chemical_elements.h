/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_CHEMICAL_ELEMENTS_H
#define LMP_POTENTIAL_CHEMICAL_ELEMENTS_H

#include <cmath>

namespace LAMMPS_NS {

// Returns the atomic number of the element whose standard atomic weight is closest to a mass in
// dalton, up to plutonium, or 0 if none is close. The weights are the abridged weights of IUPAC,
// 2021. Elements without a standard weight have the mass number of the longest-lived isotope.

inline int element_of_mass(double mass)
{
  static constexpr double WEIGHTS[] = {
      1.008,  4.0026, 6.94,   9.0122, 10.81,  12.011, 14.007, 15.999, 18.998, 20.180, 22.990,
      24.305, 26.982, 28.085, 30.974, 32.06,  35.45,  39.95,  39.098, 40.078, 44.956, 47.867,
      50.942, 51.996, 54.938, 55.845, 58.933, 58.693, 63.546, 65.38,  69.723, 72.630, 74.922,
      78.971, 79.904, 83.798, 85.468, 87.62,  88.906, 91.224, 92.906, 95.95,  97,     101.07,
      102.91, 106.42, 107.87, 112.41, 114.82, 118.71, 121.76, 127.60, 126.90, 131.29, 132.91,
      137.33, 138.91, 140.12, 140.91, 144.24, 145,    150.36, 151.96, 157.25, 158.93, 162.50,
      164.93, 167.26, 168.93, 173.05, 174.97, 178.49, 180.95, 183.84, 186.21, 190.23, 192.22,
      195.08, 196.97, 200.59, 204.38, 207.2,  208.98, 209,    210,    222,    223,    226,
      227,    232.04, 231.04, 238.03, 237,    244};
  constexpr double FAR = 0.1;    // larger than the rounding of 35.45 to 35.5
  int nearest = 0;
  double minimum = FAR;
  int number = 0;
  for (const double weight : WEIGHTS) {
    ++number;
    const double difference = std::fabs(mass - weight);
    if (difference >= minimum) continue;
    minimum = difference;
    nearest = number;
  }
  return nearest;
}

}    // namespace LAMMPS_NS

#endif
