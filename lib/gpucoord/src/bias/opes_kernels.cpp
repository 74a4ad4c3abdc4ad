// Part of GPUCOORD, GPL-2.0. The kernels of OPES.

#include "opes_kernels.h"

#include <algorithm>
#include <cmath>

namespace gpucoord {

double OpesKernels::distance2(const double *s, const double *kernel) const
{
  double d = 0.0;
  for (int k = 0; k < shape.nvariables; ++k) {
    const double x =
        shape.period[k].difference(s[k], kernel[1 + k]) / kernel[1 + shape.nvariables + k];
    d += x * x;
  }
  return d;
}

double OpesKernels::value(const double *s, const double *kernel) const
{
  const double d = distance2(s, kernel);
  if (!(d < shape.cutoff2)) return 0.0;
  return shape.value(kernel[0], d, std::exp(-0.5 * d));
}

double OpesKernels::sum(const double *s, double *derivative) const
{
  const int n = shape.nvariables;
  double total = 0.0;
  std::fill(derivative, derivative + n, 0.0);
  for (std::size_t at = 0; at < table.size(); at += width()) {
    const double *const kernel = &table[at];
    double z[MAX_SAMPLED_VARIABLES], d = 0.0;
    for (int k = 0; k < n; ++k) {
      const double sigma = kernel[1 + n + k];
      const double x = shape.period[k].difference(s[k], kernel[1 + k]) / sigma;
      d += x * x;
      z[k] = x / sigma;
    }
    if (!(d < shape.cutoff2)) continue;
    total += shape.add_kernel(kernel[0], d, z, derivative);
  }
  return total;
}

// Returns the part of overlap() of a kernel that is not in the table.
double OpesKernels::overlap_with(const double *kernel) const
{
  double result = value(kernel + 1, kernel);
  for (std::size_t at = 0; at < table.size(); at += width())
    result += value(kernel + 1, &table[at]) + value(&table[at + 1], kernel);
  return result;
}

// Returns the index of the nearest kernel that is closer than the threshold, in its own sigmas, or
// size().
std::size_t OpesKernels::nearest(const double *kernel, double threshold) const
{
  double closest = threshold * threshold;
  std::size_t result = size();
  for (std::size_t k = 0; k < size(); ++k) {
    const double d = distance2(kernel + 1, &table[k * width()]);
    if (!(d < closest)) continue;
    closest = d;
    result = k;
  }
  return result;
}

// Height, mean and variance become those of the sum of two Gaussians. The variance is written as a
// sum of terms that are not negative, so that it stays above 0.
void OpesKernels::merge(std::vector<double> &kernel, const double *other) const
{
  const double height = kernel[0] + other[0];
  const double ours = kernel[0] / height, theirs = other[0] / height;
  kernel[0] = height;
  for (int k = 0; k < shape.nvariables; ++k) {
    const Period &period = shape.period[k];
    double &center = kernel[1 + k], &sigma = kernel[1 + shape.nvariables + k];
    const double apart = period.difference(other[1 + k], center);
    const double width_of_other = other[1 + shape.nvariables + k];
    center = period.wrapped(center + theirs * apart);
    sigma = std::sqrt(ours * theirs * apart * apart + ours * sigma * sigma +
                      theirs * width_of_other * width_of_other);
  }
}

void OpesKernels::add(std::vector<double> kernel, double threshold, bool recursive)
{
  // A merged kernel takes the first place of those that it replaces.
  std::size_t place = size();
  for (bool again = true; again;) {
    const std::size_t partner = nearest(kernel.data(), threshold);
    again = recursive && partner < size();
    if (partner == size()) break;
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(partner * width());
    const std::vector<double> other(begin, begin + static_cast<std::ptrdiff_t>(width()));
    table.erase(begin, begin + static_cast<std::ptrdiff_t>(width()));
    pairs -= overlap_with(other.data());
    merge(kernel, other.data());
    place = std::min(place, partner);
  }
  pairs += overlap_with(kernel.data());
  table.insert(table.begin() + static_cast<std::ptrdiff_t>(place * width()), kernel.begin(),
               kernel.end());
}

void OpesKernels::set(std::vector<double> rows_in, double overlap_in)
{
  table = std::move(rows_in);
  pairs = overlap_in;
}

}    // namespace gpucoord
