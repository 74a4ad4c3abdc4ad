// Part of GPUCOORD, GPL-2.0. Results of coordination numbers on the GPU, compared with the host.

#ifndef GPUCOORD_TEST_RESIDENT_RESULTS_H
#define GPUCOORD_TEST_RESIDENT_RESULTS_H

#include "resident_systems.h"

#include "../../lib/gpucoord/src/gpu/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace gpucoord {

// Compares differences relative to the largest magnitude. A pair that rounding moves beyond dmax
// contributes its jumps there.
inline void expect_near(const Result &found, const Result &expected, unsigned want,
                        double tolerance, double jump, const std::string &what)
{
  EXPECT_NEAR(found.sums.value, expected.sums.value,
              tolerance * std::max(1.0, std::fabs(expected.sums.value)))
      << what;
  if (want & VIRIAL) {
    double maximum = 1.0;
    for (const double w : expected.sums.virial) maximum = std::max(maximum, std::fabs(w));
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(found.sums.virial[k], expected.sums.virial[k], tolerance * maximum + 10 * jump)
          << what;
  }
  const int columns = peratom_columns(want);
  ASSERT_EQ(found.peratom.size(), expected.peratom.size());
  const int ends[] = {0, 1, 4, 10};
  for (int part = 0; part < 3 && columns > 0 && ends[part + 1] <= columns; ++part) {
    const double limit =
        tolerance * std::max(1.0, largest(expected.peratom, columns, ends[part], ends[part + 1])) +
        (part > 0 ? 10 * jump : 0.0);
    for (std::size_t k = 0; k < expected.peratom.size(); ++k)
      if (const int c = static_cast<int>(k % columns); c >= ends[part] && c < ends[part + 1])
        ASSERT_NEAR(found.peratom[k], expected.peratom[k], limit)
            << what << ", row " << k / columns << ", column " << c;
  }
}

inline Result on_gpu(ResidentCoordination &device, const System &s, const DeviceAtoms &atoms,
                     unsigned want)
{
  Result result;
  result.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  device.evaluate(atoms, {want}, nullptr);
  const Totals sums = device.result(nullptr);
  result.sums.value = sums.value;
  std::copy_n(sums.virial, 6, result.sums.virial);
  EXPECT_EQ(sums.bad_atom, -1);
  if (!result.peratom.empty()) device.peratom(result.peratom.data(), nullptr);
  return result;
}

inline double tolerance_of(Precision precision)
{
  return precision == Precision::DOUBLE ? 1e-11 : 2e-5;
}

inline double jump_of(const Switch &function, Precision precision)
{
  return precision == Precision::DOUBLE ? 0.0 : std::fabs(function.derivative_at_dmax());
}

constexpr unsigned WANTS[] = {VALUE, DERIVATIVES, VIRIAL, DERIVATIVES | VIRIAL,
                              DERIVATIVES | VIRIAL | ATOM_VIRIAL};
constexpr Precision PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE};
// Order parameters evaluate SINGLE as MIXED.
constexpr Precision ORDER_PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED};

inline std::string label(const char *what, int n, int precision, unsigned want)
{
  return std::string(what) + ", " + std::to_string(n) + " atoms, precision " +
      std::to_string(precision) + ", want " + std::to_string(want);
}

// Numbers of atoms for which pairs are found by testing all pairs, and by bins, also if the groups
// have fractions of 0.8 and 0.5 of the atoms.
constexpr int FEW_ATOMS = 3000, MANY_ATOMS = 20000;
// A density at which partners within a range of 1 are not listed, not even those of one type of
// three.
constexpr double CROWD = 1500.0;
static_assert(2.0 * FEW_ATOMS * FEW_ATOMS * 4 / 3 < tuning::MAX_TESTED_PAIRS);
static_assert(0.8 * 0.5 * MANY_ATOMS * MANY_ATOMS > tuning::MAX_TESTED_PAIRS);

}    // namespace gpucoord

#endif
