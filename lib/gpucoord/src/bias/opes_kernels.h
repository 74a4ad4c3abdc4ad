// Part of GPUCOORD, GPL-2.0. The kernels of OPES: their sum and their compression.
//
// A kernel is h G(d), d = sum over the variables of ((S - center)/sigma)^2, and 0 from d = cutoff^2
// on. S - center is the shortest difference if S is periodic.

#ifndef GPUCOORD_OPES_KERNELS_H
#define GPUCOORD_OPES_KERNELS_H

#include "gpucoord/export.h"
#include "gpucoord/grid_axis.h"
#include "gpucoord/period.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

enum class KernelForm {
  SMOOTH,         // G = exp(-d/2) - end (1 + (cutoff^2 - d)/2): value and slope end at 0
  PLUMED,         // G = exp(-d/2) - end: the slope jumps at the end
  PLUMED_FORCE    // that G, with the derivative of SMOOTH in its place
};

// V = akt ln(inverse sum over kernels of h G + epsilon), with all parameters but the kernels.
struct KernelSum {
  int nvariables = 0;
  Period period[MAX_SAMPLED_VARIABLES];
  KernelForm form = KernelForm::SMOOTH;
  double cutoff2 = 0.0;    // cutoff^2
  double end = 0.0;        // exp(-cutoff^2/2)
  double akt = 0.0;        // energy
  double epsilon = 0.0;
  // These change at each deposit.
  double inverse = 0.0;    // 1/(norm Z)
  std::int64_t version = 0;
};

class GPUCOORD_TEST_API OpesKernels {
 public:
  explicit OpesKernels(const KernelSum &shape_in) : shape(shape_in) {}

  // Returns the height, centers and sigmas of each kernel, [size()][1 + 2 nvariables].
  const std::vector<double> &rows() const { return table; }
  std::size_t size() const { return table.size() / width(); }
  // Returns the sum over kernels of h G at s. Sets its derivatives, [nvariables].
  double sum(const double *s, double *derivative) const;
  // Returns the sum over all pairs of kernels, also with themselves, of h G of one at the center of
  // the other one.
  double overlap() const { return pairs; }

  // Adds a kernel, a row. Merges it with the nearest kernel that is closer than the threshold, if
  // any. recursive: then merges the result likewise.
  void add(std::vector<double> kernel, double threshold, bool recursive);
  // Replaces all kernels.
  void set(std::vector<double> rows_in, double overlap_in);

 private:
  std::size_t width() const { return 1 + 2 * static_cast<std::size_t>(shape.nvariables); }
  double distance2(const double *s, const double *kernel) const;
  double value(const double *s, const double *kernel) const;
  double overlap_with(const double *kernel) const;
  std::size_t nearest(const double *kernel, double threshold) const;
  void merge(std::vector<double> &kernel, const double *other) const;

  const KernelSum shape;
  std::vector<double> table;
  double pairs = 0.0;
};

}    // namespace gpucoord

#endif
