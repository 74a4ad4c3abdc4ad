// Part of GPUCOORD, GPL-2.0. Checks the options of potential maps.

#include "../core/checks.h"

#include "gpucoord/potential_map.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace gpucoord {

namespace {

  void check_map_positive(const char *name, double value)
  {
    const std::string message = positive_error(name, value);
    if (!message.empty()) throw std::invalid_argument(message);
  }

}    // namespace

void check_map_options(const MapOptions &options)
{
  const bool has_cutoff = options.kernel != MapKernel::DIRECT;
  if (has_cutoff) check_map_positive("the cutoff", options.cutoff);
  if (options.kernel == MapKernel::EWALD) check_map_positive("alpha", options.alpha);
  if (options.overlap != MapOverlap::SKIP) {
    check_map_positive("the radius of overlap", options.radius);
    if (has_cutoff && options.radius > options.cutoff) {
      std::ostringstream text;
      text << "the radius of overlap is " << options.radius << " but must not exceed the cutoff, "
           << options.cutoff;
      throw std::invalid_argument(text.str());
    }
  }
  if (!(options.tiny >= 0.0) || !std::isfinite(options.tiny))
    throw std::invalid_argument(
        "the distance below which charges coincide with a point must be >= 0 and finite");
}

void check_map_bins(const MapBins &bins, const MapOptions &options)
{
  if (!bins.are_fixed) return;
  check_map_positive("the size of bins", bins.size);
  check_map_positive("the depth of bins", bins.depth);
  if (options.kernel == MapKernel::DIRECT)
    throw std::invalid_argument("kernel direct has no cutoff and does not support bins");
  if (options.overlap == MapOverlap::ZERO)
    throw std::invalid_argument("fixed bins support only overlap skip and soft, because "
                                "overflowing charges are summed separately");
}

}    // namespace gpucoord
