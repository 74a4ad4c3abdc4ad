// Part of GPUCOORD, GPL-2.0. Metadynamics: a bias that is a sum of Gaussian hills.
//
// Laio and Parrinello, PNAS 99, 12562 (2002); well-tempered: Barducci, Bussi and Parrinello, PRL
// 100, 020603 (2008). A hill is PLUMED's stretched Gaussian, which is zero from a finite distance
// on:
//   h (exp(-u) - exp(-u_max))/(1 - exp(-u_max)) for u < u_max = 6.25, and 0 beyond,
//   u = sum over the variables of (S - center)^2/(2 sigma^2).
// S - center is the shortest difference if S is periodic.

#ifndef GPUCOORD_METADYNAMICS_H
#define GPUCOORD_METADYNAMICS_H

#include "gpucoord/deposit_file.h"
#include "gpucoord/export.h"
#include "gpucoord/grid_axis.h"
#include "gpucoord/period.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

struct Hill {
  double center[MAX_SAMPLED_VARIABLES] = {};
  double sigma[MAX_SAMPLED_VARIABLES] = {};
  double height = 0.0;         // height in the bias, energy
  double file_height = 0.0;    // in a hills file; well-tempered: height biasf/(biasf - 1)
};

struct MetadynamicsOptions {
  std::vector<std::string> names;    // 1 to MAX_SAMPLED_VARIABLES variables
  std::vector<double> sigma;         // > 0, one per variable
  double height = 0.0;               // height of the first hill, > 0, energy
  double biasfactor = -1.0;          // > 1: well-tempered; -1: all hills have the same height
  double kt = 0.0;                   // thermal energy; 0: unknown (well-tempered needs it)
  std::vector<Period> period;        // one per variable, or empty: no variable is periodic
  std::vector<GridAxis> grid;        // one per variable, or empty: no grid
  bool grow = false;                 // whether the grid grows, so that it holds all hills
  std::vector<Interval> interval;    // one per variable, or empty: V is constant beyond it

  Period period_of(int variable) const { return period.empty() ? Period() : period[variable]; }
};

// Returns the largest sigma of a hill that does not overlap its own image.
GPUCOORD_API double largest_sigma(const Period &);

// Hills in a file. The last column, biasf, is the biasfactor.
GPUCOORD_API DepositFormat hills_format(const MetadynamicsOptions &);
// Returns the height in the bias from the last two columns.
inline double height_of_bias(double file_height, double biasfactor)
{
  return biasfactor > 1.0 ? file_height * ((biasfactor - 1.0) / biasfactor) : file_height;
}
GPUCOORD_API Hill hill_of(const Deposit &);
GPUCOORD_API Deposit deposit_of(const Hill &, const MetadynamicsOptions &, double time = 0.0);

// The bias of all hills as a function of the variables. Energies are in the caller's units.
class GPUCOORD_API Metadynamics {
 public:
  explicit Metadynamics(const MetadynamicsOptions &);
  ~Metadynamics();

  // Returns V at s, [variables], and sets dVdS, [variables], to its exact derivatives. Outside a
  // grid that grows, V is 0. Throws std::out_of_range, which names the value, if s is outside
  // another grid.
  double evaluate(const double *s, double *dVdS) const;

  // Returns the hill to deposit at s, [variables]. v: V at s. Does not add the hill. Throws
  // std::runtime_error if the grid cannot grow to hold it.
  Hill next_hill(const double *s, double v) const;

  // Throws std::runtime_error if the grid cannot grow to hold the hills, and std::bad_alloc if it
  // has no memory.
  void check_room(const std::vector<Hill> &) const;
  void add(const Hill &);
  // Adds all in this order. The grid grows once, so that it needs no more memory than check_room().
  void add(const std::vector<Hill> &);

  // Returns V and its mixed derivatives at the points of the grid, [points, first variable
  // fastest][2^n]. Bit k of the last index: derivative with respect to variable k. Needs a grid.
  const std::vector<double> &grid_values() const;
  const std::vector<GridAxis> &grid_axes() const;    // of these points

  // Returns the number of hills in the bias.
  std::int64_t nhills() const;
  // Returns these hills in the order in which they were added. Null with a grid, because hills are
  // then not kept.
  const std::vector<Hill> *hills() const;
  // Returns the checksum of their centers, sigmas and heights, in this order.
  std::uint64_t hills_checksum() const;

  // Returns the largest V at the points of the grid. Needs a grid.
  double maximum() const;

  // Returns c(t) = kT ln( sum exp(g V/kT) / sum exp((g - 1) V/kT) ) over the points of the grid
  // between the bounds that it had before it grew, with g = biasfactor/(biasfactor - 1), or 1 if
  // not well-tempered: Tiwary and Parrinello, J. Phys. Chem. B 119, 736 (2015), eq. 12. Needs a
  // grid and kt.
  double reweighting_offset() const;

  // Writes the grid to a file that PLUMED can read, with checksums of the grid and of its hills.
  // Throws std::runtime_error.
  void write_grid(const std::string &path) const;

  // Reads the grid from a file and takes it as the sum of the first of these hills, as many as the
  // file states. The axes must be the same, and those of a grid that grows must have the same
  // points. Throws std::runtime_error, also if the grid is not the sum of these hills. The
  // checksums in the file decide this.
  void read_grid(const std::string &path, const std::vector<Hill> &hills);

  std::size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state;
};

}    // namespace gpucoord

#endif
