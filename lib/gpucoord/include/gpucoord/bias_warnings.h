// Part of GPUCOORD, GPL-2.0. What goes wrong in biased runs: the limits, and the sentences of
// warnings.
//
// Each function returns a warning with the number, the limit and the way out, or "" if all is well.

#ifndef GPUCOORD_BIAS_WARNINGS_H
#define GPUCOORD_BIAS_WARNINGS_H

#include "gpucoord/export.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpucoord {

// How hard a bias holds a variable.
struct Stiffness {
  double curvature = 0.0;    // largest |V''|, energy over the square of the unit of S
  std::string name;          // of the parameter to which it is proportional: "k"
  double value = 0.0;        // of this parameter
};

// inverse_mass: sum of |dS/dx|^2/m over atoms, in units in which Stiffness::curvature times it is
// the square of a frequency. timestep: between two evaluations of the bias
GPUCOORD_API std::string warning_of_frequency(const std::string &label, const Stiffness &,
                                              double inverse_mass, double timestep);

// barrier, kt: energies
GPUCOORD_API std::string warning_of_barrier(double barrier, double kt, const std::string &units);

// numbers: of walkers. s: [walkers][variables], at the start; integers are not compared. labels: of
// variables
GPUCOORD_API std::string warning_of_equal_walkers(const std::vector<int> &numbers,
                                                  const std::vector<std::vector<double>> &s,
                                                  const std::vector<std::string> &labels);

// The following ones are about deposits. plural: of a deposit, "hills"
GPUCOORD_API std::string warning_without_thermostat(const std::string &plural);

// change: of S between two evaluations of the bias. keyword: that makes sigma larger
GPUCOORD_API std::string warning_of_jump(const std::string &label, double change, double sigma,
                                         const std::string &keyword);

// fluctuation: DepositStatistics::fluctuation()
GPUCOORD_API std::string warning_of_sigma(const std::string &label, double sigma,
                                          double fluctuation, const std::string &plural);

// ninside: number of deposits where a wall acts or where the bias is constant
GPUCOORD_API std::string warning_of_walls(std::int64_t ninside, std::int64_t ndeposits,
                                          const std::string &plural);

// autocorrelation: of S after one pace. least: SampledVariable::least_autocorrelation()
GPUCOORD_API std::string warning_of_pace(const std::string &label, double autocorrelation,
                                         double least, int pace, const std::string &plural);

// Returns the number of crossings in words, and whether they are too few.
GPUCOORD_API std::string text_of_crossings(std::int64_t ncrossings);

}    // namespace gpucoord

#endif
