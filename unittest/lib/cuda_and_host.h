// Part of GPUCOORD, GPL-2.0. Comparison of the CUDA backend with the host backend in double.

#ifndef GPUCOORD_TEST_CUDA_AND_HOST_H
#define GPUCOORD_TEST_CUDA_AND_HOST_H

#include "closed_forms.h"
#include "engines.h"
#include "gpu_tests.h"
#include "switch_cases.h"
#include "worst_errors.h"

#include "../../lib/gpucoord/src/coordination/coordination_cuda.h"
#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using gpucoord::CudaTuning;

// Unit of errors: the largest effect of one rounding of the positions and of the pair terms
// (PairSizes), times the number of pairs. One thread adds the terms of an atom one by one. n terms
// may lose more, especially if they are nearly equal. With this order of sums, the host's formulas
// lost at most 0.0008 n.
constexpr double ROUNDINGS = 1.0;
constexpr double ROUNDINGS_PER_SUMMAND = 0.002;
// Relative errors of S; see expect_equal.h.
constexpr double RELATIVE_DOUBLE = 2e-12;
constexpr double RELATIVE_FLOAT = 2e-6;

// Values of CudaTuning::keeps_lists.
constexpr bool WITH_AND_WITHOUT_LISTS[] = {true, false};

inline const char *label_of(bool keeps_lists)
{
  return keeps_lists ? "auto" : "cells";
}

inline std::unique_ptr<Coordination> make_cuda(const Switch &function, Precision precision,
                                               bool keeps_lists = true, int nthreads = 2,
                                               int warps = 4)
{
  CudaTuning tuning;
  tuning.keeps_lists = keeps_lists;
  tuning.warps_per_block = warps;
  return gpucoord::make_cuda_coordination(function, precision, 0, nthreads, tuning);
}

inline int all_cores()
{
  return std::max(1u, std::thread::hardware_concurrency());
}

// ---- comparison with the host

using Run = std::function<Result(Coordination &, unsigned want)>;

// Contribution of one pair to the scale of errors (brute_force.h) at the distance with the largest
// contribution, and the jump of s and ds/dr at dmax.
struct PairSizes {
  double s = 0, gradient = 0, virial = 0;
  double s_end = 0, derivative_end = 0, dmax = 0;
};

inline PairSizes sizes_of(const Switch &function)
{
  const SwitchOptions &o = function.options();
  const closed::Function<long double> exact(o);
  // s vanishes beyond 20 r0, and no system here is wider than three times this distance.
  const double a = exact.amplification(), reach = std::min(o.dmax, 20 * o.r0), extent = 3 * reach;
  PairSizes sizes;
  for (int k = 1; k <= 2000; ++k) {
    const long double r = o.d0 + (reach - o.d0) * k / 2000, h = 1e-5L * (r - o.d0);
    const double derivative = std::fabs(static_cast<double>(exact.smooth(r).ds));
    const double curvature =
        static_cast<double>(fabsl(exact.smooth(r + h).ds - exact.smooth(r - h).ds) / (2 * h));
    const double r_double = static_cast<double>(r);
    const double gradient = a * derivative + extent * (curvature + derivative / r_double);
    sizes.s = std::max(sizes.s, a + extent * derivative);
    sizes.gradient = std::max(sizes.gradient, gradient);
    sizes.virial = std::max(sizes.virial, r_double * gradient + extent * derivative);
  }
  if (function.has_end()) {
    sizes.dmax = o.dmax;
    sizes.s_end = std::fabs(static_cast<double>(exact.smooth(o.dmax).s));
    sizes.derivative_end = std::fabs(static_cast<double>(exact.smooth(o.dmax).ds));
  }
  return sizes;
}

// Results of the host. Each result has its number of pairs, and the number of pairs so close to
// dmax that rounding decides whether they are in range.
struct HostTruth {
  HostTruth(const Switch &function, const Run &run) : sizes(sizes_of(function))
  {
    result = run(*gpucoord::make_host_coordination(function, Precision::DOUBLE, all_cores()),
                 EVERYTHING);
    pairs[0] = count(function, run, 1e-12);
    pairs[1] = count(function, run, 2e-6);
  }
  struct Pairs {
    Result all, certain;    // pairs up to slightly beyond dmax, and up to slightly below
  };
  static Pairs count(const Switch &function, const Run &run, double margin)
  {
    const double dmax = function.dmax();
    const auto counted = [&](double range) {
      // s = 1/(1 + 1e-36) = 1 at any distance that occurs.
      const double r0 = 1e6 * (function.has_end() ? dmax : 1e6);
      const Switch one(rational(6, 12, r0, 0.0, range, false));
      return run(*gpucoord::make_host_coordination(one, Precision::DOUBLE, all_cores()),
                 DERIVATIVES);
    };
    return {counted(dmax * (1 + margin)), counted(dmax * (1 - margin))};
  }
  PairSizes sizes;
  Result result;
  Pairs pairs[2];    // in double, in float
};

inline void expect_equal(const Result &r, const HostTruth &truth, Precision precision,
                         unsigned want, const std::string &what)
{
  const double eps = eps_of(precision);
  const bool in_float = precision != Precision::DOUBLE;
  const Result &expected = truth.result, &all = truth.pairs[in_float].all,
               &certain = truth.pairs[in_float].certain;
  const PairSizes &sizes = truth.sizes;
  Worst &w = worst_of_all()[name_of(precision)];
  double largest_partners = 0.0, worst = 0.0;
  for (std::size_t k = 0; k < all.peratom.size(); k += 4)
    largest_partners = std::max(largest_partners, all.peratom[k]);
  std::string location;
  // Error of one number relative to its limit, without possible changes from pairs at dmax.
  const auto check = [&](double got, double value, double npairs, double ndoubtful, double partners,
                         double size, double jump, const char *name, std::size_t row) {
    const double error = std::fabs(got - value) - ndoubtful * jump;
    const double roundings = error <= 0.0 ? 0.0 : error / (eps * npairs * size);
    const double summands = precision == Precision::MIXED ? std::min(partners, 256.0) : partners;
    const double ratio = roundings / (ROUNDINGS + ROUNDINGS_PER_SUMMAND * summands);
    if (ratio <= worst) return;    // false for NaN
    worst = std::isnan(ratio) ? INF : ratio;
    location = std::string(name) + " of row " + std::to_string(row) + " is " +
        testing::PrintToString(got) + ", not " + testing::PrintToString(value);
  };
  const double npairs = all.sum.value, ndoubtful = npairs - certain.sum.value;
  check(r.sum.value, expected.sum.value, npairs, ndoubtful, largest_partners, sizes.s, sizes.s_end,
        "S", 0);
  if (expected.sum.value > 1.0 && ndoubtful == 0) {
    const double relative = std::fabs(r.sum.value / expected.sum.value - 1.0);
    EXPECT_LE(relative, in_float ? RELATIVE_FLOAT : RELATIVE_DOUBLE) << what << ": S";
    w.relative_s = std::max(w.relative_s, relative);
  }
  double largest = 0.0;
  for (const double v : expected.sum.virial) largest = std::max(largest, std::fabs(v));
  for (int k = 0; k < 6; ++k) {
    const bool wanted = want & VIRIAL;
    check(r.sum.virial[k], wanted ? expected.sum.virial[k] : 0.0, npairs, ndoubtful,
          largest_partners, wanted ? sizes.virial : 0.0, sizes.derivative_end * sizes.dmax, "W", k);
    if (wanted && largest > 0.0 && npairs > 1000 && ndoubtful == 0)
      w.relative_virial = std::max(w.relative_virial,
                                   std::fabs(r.sum.virial[k] - expected.sum.virial[k]) / largest);
  }
  if (want & DERIVATIVES) {
    const int columns = peratom_columns(want), expected_columns = peratom_columns(EVERYTHING);
    const int counted_columns = peratom_columns(DERIVATIVES);
    const std::size_t nrows = expected.peratom.size() / expected_columns;
    ASSERT_EQ(r.peratom.size(), columns * nrows) << what;
    double largest_of_kind[3] = {};
    for (std::size_t k = 0; k < expected.peratom.size(); ++k) {
      double &l = largest_of_kind[kind_of(k % expected_columns)];
      l = std::max(l, std::fabs(expected.peratom[k]));
    }
    const double size_of_kind[3] = {sizes.s, sizes.gradient, sizes.virial};
    const double jump_of_kind[3] = {sizes.s_end, sizes.derivative_end,
                                    sizes.derivative_end * sizes.dmax};
    const char *const name_of_kind[3] = {"s_i", "dS/dx", "W_i"};
    double *const relative_of_kind[3] = {&w.relative_si, &w.relative_gradient,
                                         &w.relative_atom_virial};
    for (std::size_t row = 0; row < nrows; ++row) {
      const double partners = all.peratom[counted_columns * row],
                   doubtful = partners - certain.peratom[counted_columns * row];
      for (int column = 0; column < columns; ++column) {
        const double got = r.peratom[columns * row + column],
                     value = expected.peratom[expected_columns * row + column];
        const int kind = kind_of(column);
        // Without partners both numbers must be exactly 0: any difference counts as infinitely many
        // roundings.
        check(got, value, partners, doubtful, partners, size_of_kind[kind], jump_of_kind[kind],
              name_of_kind[kind], row);
        if (npairs <= 1000 || doubtful > 0) continue;
        double &relative = *relative_of_kind[kind];
        relative = std::max(relative, std::fabs(got - value) / largest_of_kind[kind]);
      }
    }
  }
  EXPECT_LE(worst, 1.0) << what << ": " << location;
  w.measure = std::max(w.measure, worst);
}

inline testing::Environment *const print_worst =
    testing::AddGlobalTestEnvironment(new PrintWorst("CUDA errors", "of the limit"));

// s(dmax) is 1/65, not 0, so that a pair that is wrongly lost or kept at the end of the range
// becomes visible.
inline const SwitchOptions FUNCTION = rational(6, 12, 0.8, 0.0, 1.6, false);

// CUDA backends of one function in each precision, with and without lists, reused for all inputs.
class Backends {
 public:
  explicit Backends(const SwitchOptions &o) : function(o)
  {
    for (const Precision precision : PRECISIONS)
      for (const bool lists : WITH_AND_WITHOUT_LISTS)
        list.push_back({precision, std::string(name_of(precision)) + " " + label_of(lists),
                        make_cuda(function, precision, lists)});
  }
  void check(const Run &run, const std::string &what,
             const std::vector<unsigned> &wants = {DERIVATIVES | VIRIAL, EVERYTHING})
  {
    const HostTruth truth(function, run);
    for (const auto &b : list)
      for (const unsigned want : wants)
        expect_equal(run(*b.backend, want), truth, b.precision, want,
                     what + " " + b.name + " want " + std::to_string(want));
  }
  const Switch function;

 private:
  struct One {
    Precision precision;
    std::string name;
    std::unique_ptr<Coordination> backend;
  };
  std::vector<One> list;
};

inline Run cells_of(const System &s)
{
  return [&s](Coordination &c, unsigned want) {
    return run_cells(c, s, want);
  };
}

// Runs engine cells with a version, so that the GPU keeps the pairs from one evaluation to the
// next.
inline Run kept_cells_of(const System &s)
{
  static std::int64_t nversions = 0;
  const std::int64_t version = ++nversions;
  return [&s, version](Coordination &c, unsigned want) {
    const auto rows = rows_of(s);
    CellsInput in = cells_input(s, *rows);
    in.version = version;
    in.skin = 0.3;
    return run_input(c, in, s.nlocal, want);
  };
}

#endif
