// Part of GPUCOORD, GPL-2.0. Restart files of earlier versions. They store a bias as these numbers:
//
//   kind, number of variables, first step, hills, work, V, whether parameters are set,
//   for each variable: S, dV/dS, s0 or center of the last hill, k or height of the last hill,
//   if kind >= 1000: whether there is a checksum of the hills, its higher and lower 32 bits.

#include "gpucoord/bias.h"

#include <cmath>
#include <stdexcept>

namespace gpucoord {

static const char *const NUMBERED_KINDS[] = {"harmonic",   "moving", "wall/upper",
                                             "wall/lower", "linear", "metad"};
static constexpr int N_KINDS = sizeof(NUMBERED_KINDS) / sizeof(NUMBERED_KINDS[0]);
static constexpr int METADYNAMICS = N_KINDS - 1;
static constexpr int WITH_CHECKSUM = 1000;    // added to the number of the kind

// Returns a number of a restart file as an integer.
static std::int64_t integer_of(double number)
{
  if (!(std::fabs(number) < 9e18))
    throw std::runtime_error("its saved state is damaged - use another restart file");
  return static_cast<std::int64_t>(number);
}

SavedBias read_numbered_bias(const double *numbers, int nvariables)
{
  const bool has_checksum = numbers[0] >= WITH_CHECKSUM;
  const std::int64_t kind = integer_of(numbers[0]) - (has_checksum ? WITH_CHECKSUM : 0);
  SavedBias result;
  result.kind = kind >= 0 && kind < N_KINDS ? NUMBERED_KINDS[kind] : "unknown";
  result.nvariables = integer_of(numbers[1]);
  result.first_step = integer_of(numbers[2]);
  // The length of the numbers follows from the number of variables.
  if (result.nvariables != nvariables) return result;

  // Write the state in the same order as save() of these kinds.
  const double nhills = numbers[3], work = numbers[4], energy = numbers[5];
  const double *const variable_numbers = numbers + 7;
  std::vector<double> s, dVdS, center, height;
  for (std::int64_t v = 0; v < result.nvariables; ++v) {
    const double *const values = variable_numbers + 4 * v;
    s.push_back(values[0]);
    dVdS.push_back(values[1]);
    center.push_back(values[2]);
    height.push_back(values[3]);
  }
  Archive &archive = result.state;
  archive.write(energy);
  archive.write(work);
  archive.write(s);
  archive.write(dVdS);
  if (kind == METADYNAMICS) {
    std::vector<double> own = {nhills, height.empty() ? 0.0 : height[0]};
    own.insert(own.end(), center.begin(), center.end());
    archive.write(own);
    const double *const checksum = variable_numbers + 4 * result.nvariables;
    const bool is_known = has_checksum && checksum[0] != 0.0;
    archive.write(static_cast<std::int64_t>(is_known));
    archive.write(static_cast<std::int64_t>(is_known
                                                ? static_cast<std::uint64_t>(checksum[1]) << 32 |
                                                    static_cast<std::uint64_t>(checksum[2])
                                                : 0));
  } else {
    archive.write(std::vector<double>());
    archive.write(static_cast<std::int64_t>(numbers[6] != 0.0));
    for (std::int64_t v = 0; v < result.nvariables; ++v) {
      archive.write(center[v]);
      archive.write(height[v]);
    }
  }
  return result;
}

}    // namespace gpucoord
