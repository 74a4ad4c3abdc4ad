// Part of GPUCOORD, GPL-2.0. Metadynamics: a bias that is a sum of Gaussian hills.
//
// Laio and Parrinello, PNAS 99, 12562 (2002); well-tempered: Barducci, Bussi and Parrinello,
// PRL 100, 020603 (2008). A hill is PLUMED's stretched Gaussian, which ends where it is zero:
//   h (exp(-u) - exp(-u_max))/(1 - exp(-u_max)) for u < u_max = 6.25, and 0 beyond,
//   u = sum over the variables of (S - center)^2/(2 sigma^2).

#ifndef GPUCOORD_METADYNAMICS_H
#define GPUCOORD_METADYNAMICS_H

#include "gpucoord/export.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

constexpr int MAX_METAD_VARIABLES = 3;

struct Hill {
  double center[MAX_METAD_VARIABLES] = {};
  double sigma[MAX_METAD_VARIABLES] = {};
  double height = 0.0;    // in the bias
  double file_height =
      0.0;    // in a hills file: height biasfactor/(biasfactor - 1), if well-tempered
};

// height of the bias from the two last columns of a hills file
inline double height_of_bias(double file_height, double biasfactor)
{
  return biasfactor > 1.0 ? file_height * ((biasfactor - 1.0) / biasfactor) : file_height;
}

// points lo, lo + (hi - lo)/bins, ..., hi
struct GridAxis {
  double lo = 0.0, hi = 0.0;
  int bins = 0;
  double spacing() const { return (hi - lo) / bins; }
};

struct Interval {
  double lo, hi;
};

struct MetadynamicsOptions {
  std::vector<std::string> names;    // 1 to MAX_METAD_VARIABLES variables
  std::vector<double> sigma;         // > 0, one a variable
  double height = 0.0;               // > 0, of the first hill
  double biasfactor = -1.0;          // > 1: well-tempered; -1: all hills are equally high
  double kt = 0.0;                   // thermal energy; 0: not known (well-tempered needs it)
  std::vector<GridAxis> grid;        // one a variable, or none
  std::vector<Interval> interval;    // one a variable, or none: V is constant beyond it
};

// The bias of all hills as a function of the variables. All energies are in the caller's units.
class GPUCOORD_API Metadynamics {
 public:
  explicit Metadynamics(const MetadynamicsOptions &);
  ~Metadynamics();

  // V; dVdS: its exact derivatives. std::out_of_range names a value outside the grid.
  double evaluate(const double *s, double *dVdS) const;

  // Returns the hill to deposit at s, where V is v. Does not add it.
  Hill next_hill(const double *s, double v) const;

  void add(const Hill &);

  const MetadynamicsOptions &options() const;
  // V and its mixed derivatives at the points of the grid, [points, first variable fastest][2^n],
  // bit k: by variable k. Needs a grid.
  const std::vector<double> &grid_values() const;

  // hills that are in the bias
  std::int64_t nhills() const;
  // These hills, in the order in which they were added; null with a grid, which does not keep them.
  const std::vector<Hill> *hills() const;
  // Checksum of their centers, sigmas and heights, in this order.
  std::uint64_t hills_checksum() const;

  // largest V at the points of the grid. Needs a grid.
  double maximum() const;

  // c(t) = kT ln( sum exp(g V/kT) / sum exp((g - 1) V/kT) ) over the points of the grid, with
  // g = biasfactor/(biasfactor - 1), or 1 if not well-tempered: Tiwary and Parrinello,
  // J. Phys. Chem. B 119, 736 (2015), eq. 12. Needs a grid and kt.
  double reweighting_offset() const;

  // Writes the grid to a file that PLUMED reads, with checksums of the grid and of its hills.
  // std::runtime_error.
  void write_grid(const std::string &path) const;

  // Takes the first of these hills, as many as the grid file holds, from that file; the axes must
  // be the same. std::runtime_error, also if the grid is not the sum of these hills. Its checksums
  // decide. For a file of an earlier version, which has none, the sum is computed. Returns whether
  // the file has checksums.
  bool read_grid(const std::string &path, const std::vector<Hill> &hills);

  std::size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state;
};

}    // namespace gpucoord

#endif
