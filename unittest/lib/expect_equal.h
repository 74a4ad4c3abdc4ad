// Part of GPUCOORD, GPL-2.0. Comparison of a backend's results (backends.h) with brute force
// (brute_force.h).

#ifndef GPUCOORD_TEST_EXPECT_EQUAL_H
#define GPUCOORD_TEST_EXPECT_EQUAL_H

#include "backends.h"
#include "brute_force.h"
#include "engines.h"
#include "worst_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

// Errors are measured in roundings of the scale in brute_force.h. Largest errors in the engines:
// double 3.8 (S in a lattice, where all terms are equal), mixed 1.4, single 1.6.
constexpr double ROUNDINGS = 4.0;
// The reference loops add terms one by one. n equal terms lose up to n roundings, here at most 0.06
// n (lattices, where all terms of a shell are equal).
constexpr double ROUNDINGS_PER_SUMMAND = 0.1;
// A CUDA thread also adds the terms of its atom one by one. In mixed, it adds up to 512 terms
// before it continues in double. With this order of sums, the host's formulas lost 0.01 n in the
// engines.
constexpr double CUDA_ROUNDINGS_PER_SUMMAND = 0.02;
// Relative errors of S for every system. Largest values: 5e-13 (a reference loop) and 3.4e-7.
constexpr double RELATIVE_DOUBLE = 2e-12;
constexpr double RELATIVE_FLOAT = 2e-6;

inline void expect_equal(const Result &r, const brute::Sums &exact, Precision precision,
                         unsigned want, const std::string &what)
{
  const double eps = eps_of(precision);
  const bool reference = what.find("reference") != std::string::npos;
  Worst &w = worst_of_all()[reference ? "reference" : name_of(precision)];
  const double partners =
      exact.partners.empty() ? 0 : *std::max_element(exact.partners.begin(), exact.partners.end());
  const double limit = ROUNDINGS +
      (reference       ? ROUNDINGS_PER_SUMMAND * exact.npairs
           : on_host() ? 0.0
                       : CUDA_ROUNDINGS_PER_SUMMAND *
               (precision == Precision::MIXED ? std::min(partners, 512.0) : partners));
  const auto check = [&](double got, long double expected, long double scale,
                         const std::string &name) {
    const double error = static_cast<double>(fabsl(got - expected));
    const double roundings = error == 0.0 ? 0.0 : error / (eps * static_cast<double>(scale));
    w.measure = std::max(w.measure, roundings);
    EXPECT_LE(roundings, limit) << what << ": " << name << " is " << testing::PrintToString(got)
                                << ", not "
                                << testing::PrintToString(static_cast<double>(expected));
  };
  check(r.sum.value, exact.value, exact.value_scale, "S");
  if (exact.value_size > 1) {    // S itself, unless weights are negative
    const double relative =
        static_cast<double>(fabsl(r.sum.value - exact.value) / exact.value_size);
    w.relative_s = std::max(w.relative_s, relative);
    EXPECT_LE(relative, precision == Precision::DOUBLE ? RELATIVE_DOUBLE : RELATIVE_FLOAT) << what;
  }
  static const char *const axes[6] = {"W xx", "W yy", "W zz", "W xy", "W xz", "W yz"};
  long double largest = 0;
  for (const auto v : exact.virial) largest = std::max(largest, fabsl(v));
  for (int k = 0; k < 6; ++k) {
    if (!(want & VIRIAL)) {
      EXPECT_EQ(r.sum.virial[k], 0.0) << what << ": virial was not wanted";
      continue;
    }
    check(r.sum.virial[k], exact.virial[k], exact.virial_scale[k], axes[k]);
    if (largest > 1e-3 * exact.virial_scale[0])    // skipped if nearly all of it cancels
      w.relative_virial =
          std::max(w.relative_virial,
                   static_cast<double>(fabsl(r.sum.virial[k] - exact.virial[k]) / largest));
  }
  if (!(want & DERIVATIVES)) return;
  const int columns = want & ATOM_VIRIAL ? 10 : 4;
  const std::size_t nrows = exact.partners.size();
  ASSERT_EQ(r.peratom.size(), columns * nrows);
  long double largest_of_kind[3] = {};
  for (std::size_t k = 0; k < exact.peratom.size(); ++k) {
    long double &l = largest_of_kind[kind_of(k % brute::COLUMNS)];
    l = std::max(l, fabsl(exact.peratom[k]));
  }
  double *const relative_of_kind[3] = {&w.relative_si, &w.relative_gradient,
                                       &w.relative_atom_virial};
  for (std::size_t row = 0; row < nrows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double got = r.peratom[columns * row + column];
      const long double expected = exact.peratom[brute::COLUMNS * row + column];
      const long double scale = exact.peratom_scale[brute::COLUMNS * row + column];
      if (scale == 0) {
        EXPECT_EQ(got, 0.0) << what << ": an atom without partners";
        continue;
      }
      check(got, expected, scale,
            "row " + std::to_string(row) + " column " + std::to_string(column));
      const long double kind_largest = largest_of_kind[kind_of(column)];
      double &relative = *relative_of_kind[kind_of(column)];
      if (kind_largest > 1e-3 * scale)
        relative = std::max(relative, static_cast<double>(fabsl(got - expected) / kind_largest));
    }
}

inline testing::Environment *const print_worst = testing::AddGlobalTestEnvironment(
    new PrintWorst("errors against brute force, " + backend_name(), "roundings"));

// Extent of a system, at which brute_force.h assumes that coordinates are rounded.
inline double extent_of(const System &s)
{
  double lo = INF, hi = -INF;
  for (const double v : s.x) {
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  return s.x.empty() ? 1.0 : 2 * (hi - lo);
}

#endif
