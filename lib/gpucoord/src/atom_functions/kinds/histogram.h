// Part of GPUCOORD, GPL-2.0. histogram: f = s; also counts the s_i in equal parts of an interval.

#ifndef GPUCOORD_ATOM_FUNCTION_HISTOGRAM_H
#define GPUCOORD_ATOM_FUNCTION_HISTOGRAM_H

#include "../smeared_interval.h"
#include "sum.h"

namespace gpucoord {

template <>
struct AtomFunctionDefinition<AtomFunctionKind::HISTOGRAM> :
    AtomFunctionDefinition<AtomFunctionKind::SUM> {
  static constexpr const char *NAME = "histogram";
  static std::vector<AtomFunctionParameter> parameters()
  {
    using namespace atom_parameter;
    return {A, B, NBINS, SMEAR};
  }

  static void check(const AtomFunctionOptions &o)
  {
    if (o.nbins < 1 || o.nbins > MAX_BINS)
      throw AtomFunctionError("nbins",
                              "the number of bins is " + std::to_string(o.nbins) +
                                  " but must be 1 to " + std::to_string(MAX_BINS));
    check_interval(o);
  }
  static std::string description(const AtomFunctionOptions &o)
  {
    return " from " + short_text(o.a) + " to " + short_text(o.b) + " in " +
        std::to_string(o.nbins) + " bins smear " + short_text(o.smear);
  }

  static SmearedInterval bin(const AtomFunctionOptions &o, int k)
  {
    const double width = (o.b - o.a) / o.nbins;
    return {o.a + k * width, o.a + (k + 1) * width, o.smear * width};
  }
};

}    // namespace gpucoord

#endif
