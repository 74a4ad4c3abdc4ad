// Part of GPUCOORD, GPL-2.0. Checks of order parameters: differences of S, and limits of errors.

#ifndef GPUCOORD_TEST_ORDER_CHECKS_H
#define GPUCOORD_TEST_ORDER_CHECKS_H

#include "order_systems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

// Random positions in an open box, at least 0.3 apart.
inline OrderSystem cluster(int n, unsigned seed)
{
  const double side = 0.8 * std::cbrt(n);
  return open_system(spread_points(n, box_of(side, side, side), 0.3, seed));
}

// Returns the derivative of value(h) at h = 0.
inline double difference(const std::function<double(double)> &value)
{
  constexpr double H = 2e-4;
  return (8 * (value(H) - value(-H)) - (value(2 * H) - value(-2 * H))) / (12 * H);
}

// Compares dS/dx and W with differences of S in positions and strains.
inline void check_differences(OrderParameter &order, const OrderSystem &s, const std::string &what,
                              bool has_w_hat = true)
{
  const OrderResults r = run_order(order, s, EVERYTHING, has_w_hat);
  const auto value_of = [&](const std::function<void(OrderSystem &)> &change) {
    OrderSystem changed = s;
    change(changed);
    return run_order(order, changed, VALUE, has_w_hat).sum.value;
  };
  const double largest = std::max(largest_of_kind(r, 10, 1), 1e-3);
  for (int i = 0; i < s.nlocal; ++i)
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(r.peratom[10 * i + 1 + c], difference([&](double h) {
                    return value_of([&](OrderSystem &moved) {
                      for (int k = 0; k < s.nall(); ++k)
                        if (s.owner[k] == i) moved.x[3 * k + c] += h;
                    });
                  }),
                  1e-8 * largest)
          << what << ": atom " << i << " axis " << c;
  const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
  double sum[6] = {};
  for (int k = 0; k < s.nlocal; ++k)
    for (int c = 0; c < 6; ++c) sum[c] += r.peratom[10 * k + 4 + c];
  for (int c = 0; c < 6; ++c) {
    const double w = -difference([&](double h) {
      return value_of([&](OrderSystem &strained) {
        for (int k = 0; k < s.nall(); ++k) {
          strained.x[3 * k + first[c]] += h * s.x[3 * k + second[c]];
        }
      });
    });
    EXPECT_NEAR(r.sum.virial[c], w, 1e-8 * largest * s.nlocal) << what << ": W " << c;
    EXPECT_NEAR(sum[c], 2 * r.sum.virial[c], 1e-11 * largest * s.nlocal) << what << ": W " << c;
  }
}

// A triclinic cell in which atoms have their own images as partners. Some bonds are along z.
inline OrderSystem triclinic_system(int n, unsigned seed)
{
  const brute::Cell cell = cell_of({{1.9, 0, 0}, {0.4, 2.0, 0}, {0, 0, 1.7}});
  return periodic_system(spread_points(n, cell, 0.45, seed), cell, 2.3);
}

inline void expect_finite(const OrderResults &r, const std::string &what)
{
  EXPECT_TRUE(std::isfinite(r.sum.value)) << what;
  for (const double w : r.sum.virial) EXPECT_TRUE(std::isfinite(w)) << what;
  for (const auto *list : {&r.peratom, &r.order, &r.f, &r.w_hat})
    for (const double v : *list) EXPECT_TRUE(std::isfinite(v)) << what;
}

struct Limits {
  double value, order, w_hat, derivative, virial;
};

inline void expect_within(const OrderErrors &e, const Limits &limits, const std::string &what)
{
  EXPECT_LE(e.value, limits.value) << what;
  EXPECT_LE(e.order, limits.order) << what;
  EXPECT_LE(e.w_hat, limits.w_hat) << what;
  EXPECT_LE(e.derivative, limits.derivative) << what;
  EXPECT_LE(e.virial, limits.virial) << what;
}

#endif
