// Part of GPUCOORD, GPL-2.0. The pair kernels of every instruction set, compared with brute force.

#include "brute_force.h"
#include "instruction_sets.h"
#include "switch_cases.h"

#include "../../lib/gpucoord/src/expression/custom_function_host.h"
#include "../../lib/gpucoord/src/pairs/class_constants_host.h"
#include "../../lib/gpucoord/src/switching/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using gpucoord::Precision;
using gpucoord::Switch;

namespace {

template <class T> class Kernels : public testing::Test {
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Reals);

// Roundings of the scale of brute_force.h. Largest value: 1.5.
constexpr double ROUNDINGS = 4.0;

TYPED_TEST(Kernels, gather_sums_all_partners_in_range_but_the_atom_itself)
{
  using Real = TypeParam;
  const double eps = std::numeric_limits<Real>::epsilon();
  for (const SwitchCase &c :
       {SwitchCase{"6/12", rational(6, 12, 0.5, 0, 1.2), rational(6, 12, 0.5, 0, 1.2)},
        SwitchCase{"5/11", rational(5, 11, 0.5, 0.1, 1.2), rational(5, 11, 0.5, 0.1, 1.2)},
        custom("1/(1+x^6)", rational(6, 12, 0.5, 0, 1.2))}) {
    const Switch function(c.options);
    const auto constants = gpucoord::make_constants<Real>(function);
    const auto evaluator = function.make_custom();
    gpucoord::SwitchOptions formula = c.formula;
    formula.dmax = function.dmax();
    const brute::PairTerms terms(formula, 4.0);
    for (const Precision precision : {Precision::MIXED, Precision::SINGLE})
      for (const auto &set : instruction_sets<Real>(function, precision))
        // Vectors of 4, 8 and 16 and chunks of 256, each also with one more and one less.
        for (const int n :
             {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 511, 513, 700})
          for (const int self : {-1, 0, n / 2, n - 1, 255, 256}) {
            if (self >= n) continue;
            std::mt19937_64 random(n);
            std::uniform_real_distribution<double> u(-1.0, 1.0);
            std::vector<Real> x, y, z;
            for (int k = 0; k < n; ++k) {
              x.push_back(static_cast<Real>(u(random)));
              y.push_back(static_cast<Real>(u(random)));
              z.push_back(static_cast<Real>(u(random)));
            }
            const Real at[3] = {self < 0 ? Real(0.1) : x[self], self < 0 ? Real(-0.2) : y[self],
                                self < 0 ? Real(0.3) : z[self]};
            brute::Sums exact(1);
            for (int k = 0; k < n; ++k)
              if (k != self)
                terms.add({(long double) x[k] - at[0], (long double) y[k] - at[1],
                           (long double) z[k] - at[2]},
                          1, 0, exact);
            for (unsigned want = 0; want < 4; ++want) {
              double sums[gpucoord::NSUMS];
              for (double &s : sums) s = 1000.0;    // kernels add to existing sums
              set.kernels.gather[want](constants, evaluator.get(),
                                       {n, x.data(), y.data(), z.data()},
                                       {at[0], at[1], at[2], self}, sums);
              const auto check = [&](int k, long double expected, long double scale) {
                // 1000 + sum is rounded to double: 1e-13.
                EXPECT_NEAR(sums[k] - 1000.0, static_cast<double>(expected),
                            ROUNDINGS * eps * static_cast<double>(scale) + 1e-12)
                    << set.name << " " << c.name << " n " << n << " self " << self << " sum " << k;
              };
              check(0, exact.value, exact.value_scale);
              for (int k = 1; k < 4 && want & gpucoord::DERIVATIVES; ++k)
                check(k, exact.peratom[k], exact.peratom_scale[k]);
              for (int k = 0; k < 6 && want & gpucoord::VIRIAL; ++k)
                check(4 + k, exact.virial[k], exact.virial_scale[k]);
            }
          }
  }
}

// Forces must not depend on whether the virial is requested: every formula, every instruction set.
TYPED_TEST(Kernels, derivatives_have_the_same_bits_with_and_without_the_virial)
{
  using Real = TypeParam;
  constexpr int n = 300;
  for (const SwitchCase &c : switch_cases()) {
    const Switch function(c.options);
    const auto constants = gpucoord::make_constants<Real>(function);
    const auto evaluator = function.make_custom();
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> u(-4.0, 4.0);
    std::vector<Real> x, y, z;
    for (int k = 0; k < n; ++k) {
      x.push_back(static_cast<Real>(u(random)));
      y.push_back(static_cast<Real>(u(random)));
      z.push_back(static_cast<Real>(u(random)));
    }
    for (const Precision precision : {Precision::MIXED, Precision::SINGLE})
      for (const auto &set : instruction_sets<Real>(function, precision)) {
        double bare[gpucoord::NSUMS] = {}, more[gpucoord::NSUMS] = {};
        const auto gather = [&](unsigned want, double *sums) {
          set.kernels.gather[want](constants, evaluator.get(), {n, x.data(), y.data(), z.data()},
                                   {Real(0.1), Real(-0.2), Real(0.3), -1}, sums);
        };
        gather(gpucoord::DERIVATIVES, bare);
        gather(gpucoord::DERIVATIVES | gpucoord::VIRIAL, more);
        for (int k = 1; k < 4; ++k) EXPECT_EQ(more[k], bare[k]) << set.name << " " << c.name;
      }
  }
}

// For partners of several classes, with functions of one formula: the sum over classes by gather(),
// and the same derivatives with and without the virial.
TYPED_TEST(Kernels, gather_classes_adds_what_gather_adds_for_each_class)
{
  using Real = TypeParam;
  const double eps = std::numeric_limits<Real>::epsilon();
  const double weights[] = {1.0, -0.5, 0.3, 2.0};
  gpucoord::Window window;
  window.rise_begin = 0.5;
  window.rise_end = 1.0;
  window.fall_begin = 1.5;
  window.fall_end = 2.0;
  for (const SwitchCase &c : switch_cases()) {
    std::vector<Switch> list;
    for (const double scale : {1.0, 0.8, 1.1}) {
      gpucoord::SwitchOptions options = c.options;
      options.r0 *= scale;
      options.ref *= scale;
      options.d0 *= scale;
      options.dmax *= scale;    // NaN and infinity do not change
      list.push_back(Switch(options));
    }
    for (const auto &set : instruction_sets<Real>(list[0], Precision::MIXED)) {
      // Types 1 to 4. Type 1 has a different function or weight with each of them.
      gpucoord::SwitchTable table(4);
      std::vector<gpucoord::HostFunction<Real>> functions;
      std::vector<std::unique_ptr<gpucoord::CustomFunction>> custom;
      std::vector<gpucoord::CustomFunction *> custom_functions;
      std::vector<double> weight(25, 1.0);
      for (const Switch &function : list) {
        table.add(function);
        functions.push_back(
            {function.dmax(), gpucoord::make_constants<Real>(function), set.kernels});
        gpucoord::set_window(window, functions.back().constants);
        custom.push_back(function.make_custom());
        custom_functions.push_back(custom.back().get());
      }
      for (int i = 1; i <= 4; ++i)
        for (int j = i; j <= 4; ++j) table.set(i, j, i == 1 ? (j - 1) % 3 : 1);
      for (int j = 1; j <= 4; ++j)
        weight[table.index(1, j)] = weight[table.index(j, 1)] = weights[j - 1];
      const gpucoord::TypeClasses classes(table, weight.data());
      const gpucoord::ClassGroups groups(classes);
      ASSERT_EQ(groups.size(), 1);
      const gpucoord::ClassFunctions<Real> class_indices(functions);
      const auto between = class_indices.between(classes, groups, 0, 0);
      const auto &tables = between.tables[classes.index(1)];
      ASSERT_EQ(tables.size(), 1u) << c.name;
      for (const int n : {0, 1, 17, 256, 257, 700})
        for (const int self : {-1, n / 2}) {
          if (self >= n) continue;
          std::mt19937_64 random(n);
          std::uniform_real_distribution<double> u(-3.0, 3.0);
          std::vector<Real> x, y, z;
          std::vector<int> type, class_index;
          for (int k = 0; k < n; ++k) {
            x.push_back(static_cast<Real>(u(random)));
            y.push_back(static_cast<Real>(u(random)));
            z.push_back(static_cast<Real>(u(random)));
            type.push_back(1 + static_cast<int>(random() % 4));
            class_index.push_back(classes.index(type.back()));
          }
          const auto one_by_one = [&](auto kernel, double &scale) {
            std::vector<double> total(gpucoord::NSUMS, 0.0);
            for (int t = 1; t <= 4; ++t) {
              std::vector<Real> xt, yt, zt;
              for (int k = 0; k < n; ++k)
                if (type[k] == t && k != self) {
                  xt.push_back(x[k]);
                  yt.push_back(y[k]);
                  zt.push_back(z[k]);
                }
              const int number = table.function_of(1, t);
              double sums[gpucoord::NSUMS] = {};
              kernel(functions[number].constants, custom_functions[number],
                     {static_cast<int>(xt.size()), xt.data(), yt.data(), zt.data()},
                     {Real(0.1), Real(-0.2), Real(0.3), -1}, sums);
              for (int k = 0; k < gpucoord::NSUMS; ++k) {
                total[k] += weight[table.index(1, t)] * sums[k];
                scale = std::max(scale, std::fabs(sums[k]));
              }
            }
            return total;
          };
          const auto together = [&](auto kernel, const Real *weights_of_partners = nullptr) {
            std::vector<double> sums(gpucoord::NSUMS, 0.0);
            kernel(tables[0].constants, custom_functions.data(), {n, x.data(), y.data(), z.data()},
                   class_index.data(), weights_of_partners,
                   {Real(0.1), Real(-0.2), Real(0.3), self}, sums.data());
            return sums;
          };
          double scale = 1.0;
          const auto expected =
              one_by_one(set.kernels.gather[gpucoord::DERIVATIVES | gpucoord::VIRIAL], scale);
          const auto expected_in_window = one_by_one(set.kernels.gather_windowed, scale);
          const auto bare = together(set.kernels.gather_classes),
                     more = together(set.kernels.gather_classes_virial),
                     in_window = together(set.kernels.gather_classes_windowed);
          for (int k = 0; k < gpucoord::NSUMS; ++k) {
            EXPECT_NEAR(more[k], expected[k], 200.0 * eps * scale)
                << set.name << " " << c.name << " n " << n << " self " << self << " sum " << k;
            if (k < 4) {
              EXPECT_EQ(bare[k], more[k]) << set.name << " " << c.name;
              EXPECT_NEAR(in_window[k], expected_in_window[k], 200.0 * eps * scale)
                  << set.name << " " << c.name << " n " << n << " windowed sum " << k;
            }
          }
          // With weights of partners: the sum of single partners, each times its weight.
          std::vector<Real> weights_of_partners;
          std::vector<double> expected_of_weighted(gpucoord::NSUMS, 0.0);
          for (int k = 0; k < n; ++k) {
            weights_of_partners.push_back(static_cast<Real>(u(random)));
            const int number = table.function_of(1, type[k]);
            double sums[gpucoord::NSUMS] = {};
            if (k != self)
              set.kernels.gather[gpucoord::DERIVATIVES | gpucoord::VIRIAL](
                  functions[number].constants, custom_functions[number], {1, &x[k], &y[k], &z[k]},
                  {Real(0.1), Real(-0.2), Real(0.3), -1}, sums);
            for (int c2 = 0; c2 < gpucoord::NSUMS; ++c2)
              expected_of_weighted[c2] += static_cast<double>(weights_of_partners[k]) *
                  weight[table.index(1, type[k])] * sums[c2];
          }
          weights_of_partners.push_back(0);    // never empty
          const auto weighted = together(set.kernels.gather_classes, weights_of_partners.data()),
                     weighted_virial =
                         together(set.kernels.gather_classes_virial, weights_of_partners.data());
          for (int k = 0; k < gpucoord::NSUMS; ++k) {
            EXPECT_NEAR(weighted_virial[k], expected_of_weighted[k], 600.0 * eps * scale)
                << set.name << " " << c.name << " n " << n << " weighted sum " << k;
            if (k < 4) EXPECT_EQ(weighted[k], weighted_virial[k]) << set.name << " " << c.name;
          }
        }
    }
  }
}

TYPED_TEST(Kernels, displacements_are_the_nearest_images)
{
  using Real = TypeParam;
  const Switch function(rational(6, 12, 1.5));
  brute::Cell cell;
  const double edges[3][3] = {{2, 0, 0}, {0.9, 1.8, 0}, {-0.8, 0.7, 1.5}};
  for (int k = 0; k < 9; ++k) cell.edges[k / 3][k % 3] = edges[k / 3][k % 3];
  for (bool &p : cell.periodic) p = true;
  const auto box = gpucoord::make_box(cell.edges, cell.periodic);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> u(-1.5, 1.5);
  for (const auto &set : instruction_sets<Real>(function, Precision::MIXED))
    for (const int n : {0, 1, 7, 8, 9, 100}) {
      std::vector<double> x(3 * n + 3);
      for (double &v : x) v = u(random);
      const double *const xi = x.data() + 3 * n;
      std::vector<Real> d[3];
      for (auto &v : d) v.resize(n);
      set.kernels.displacements(box, xi, n, x.data(), d[0].data(), d[1].data(), d[2].data());
      for (int k = 0; k < n; ++k) {
        const auto nearest =
            brute::nearest(cell,
                           {(long double) x[3 * k] - xi[0], (long double) x[3 * k + 1] - xi[1],
                            (long double) x[3 * k + 2] - xi[2]},
                           4);
        for (int c = 0; c < 3; ++c)
          EXPECT_NEAR(d[c][k], static_cast<double>(nearest[c]),
                      4 * std::numeric_limits<Real>::epsilon())
              << set.name;
      }
    }
}

TYPED_TEST(Kernels, neighbors_are_at_the_displacements_of_their_rows)
{
  using Real = TypeParam;
  const Switch function(rational(6, 12, 1.5));
  constexpr int NROWS = 50, MASK = 0x1FFFFFFF;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> u(-1.5, 1.5);
  for (const auto &set : instruction_sets<Real>(function, Precision::MIXED))
    for (const int stride : {3, 4})    // 4: a class follows the position
      for (const int n : {0, 1, 7, 8, 9, 15, 16, 17, 100}) {
        std::vector<double> x(stride * NROWS);
        for (int k = 0; k < stride * NROWS; ++k)
          x[k] = k % stride < 3 ? u(random) : static_cast<double>(random() % 60);
        const double xi[3] = {u(random), u(random), u(random)};
        std::vector<int> neighbors;    // the two highest bits are not part of the row
        for (int k = 0; k < n; ++k)
          neighbors.push_back(static_cast<int>(random() % NROWS | random() % 4 << 30));
        constexpr Real untouched = Real(-77);
        const int room = n + gpucoord::KEEP_MARGIN;
        std::vector<Real> out[3];
        for (auto &v : out) v.assign(room + 4, untouched);
        std::vector<int> classes(room + 4, -77);
        set.kernels.neighbors({x.data(), stride, n, neighbors.data(), MASK}, xi,
                              {out[0].data(), out[1].data(), out[2].data()}, classes.data());
        for (int k = 0; k < n; ++k) {
          const double *const row = &x[stride * (neighbors[k] & MASK)];
          for (int c = 0; c < 3; ++c)
            EXPECT_EQ(out[c][k], static_cast<Real>(row[c] - xi[c])) << set.name << " n " << n;
          if (stride == 4) EXPECT_EQ(classes[k], row[3]) << set.name << " n " << n;
        }
        for (int k = room; k < room + 4; ++k) {
          for (const auto &v : out)
            EXPECT_EQ(v[k], untouched) << set.name << ": written beyond its margin";
          EXPECT_EQ(classes[k], -77) << set.name;
        }
      }
}

TYPED_TEST(Kernels, keep_near_box_keeps_just_the_points_near_the_box_in_their_order)
{
  using Real = TypeParam;
  const Switch function(rational(6, 12, 1.5));
  const double origin[3] = {1e6 + 0.25, -3e5 - 0.5, 2.125}, half[3] = {0.25, 0.0, 0.5};
  const double range = 0.75;
  std::mt19937_64 random(6);
  for (const auto &set : instruction_sets<Real>(function, Precision::MIXED))
    for (const int n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 1000})
      for (const int nranges : {1, 2, 5}) {
        std::vector<double> p[3];
        for (int k = 0; k < n; ++k)
          // Multiples of 1/16: points at exactly the range are kept, and sums of squares are exact.
          for (int c = 0; c < 3; ++c)
            p[c].push_back(origin[c] + (static_cast<int>(random() % 49) - 24) / 16.0);
        std::vector<gpucoord::PointRange> ranges;    // in any order, of any length including 0
        std::vector<int> kept, first_kept;
        for (int r = 0; r < nranges; ++r) {
          const int begin = nranges == 1 ? 0 : static_cast<int>(random() % (n + 1));
          const int end = nranges == 1 ? n : begin + static_cast<int>(random() % (n - begin + 1));
          ranges.push_back({begin, end, -77});
          first_kept.push_back(static_cast<int>(kept.size()));
          for (int k = begin; k < end; ++k) {
            double sum = 0;
            for (int c = 0; c < 3; ++c) {
              const double outside = std::max(std::fabs(p[c][k] - origin[c]) - half[c], 0.0);
              sum += outside * outside;
            }
            if (sum <= range * range) kept.push_back(k);
          }
        }
        constexpr Real untouched = Real(-77);
        const std::size_t room = kept.size() + gpucoord::KEEP_MARGIN;
        std::vector<Real> out[3];
        for (auto &v : out) v.assign(room + 4, untouched);
        std::vector<int> out_index(room + 4, -77);
        const int count = set.kernels.keep_near_box(
            nranges, ranges.data(), {p[0].data(), p[1].data(), p[2].data()},
            {origin, half, range * range},
            {out[0].data(), out[1].data(), out[2].data(), out_index.data()});
        ASSERT_EQ(count, static_cast<int>(kept.size())) << set.name << " n " << n;
        for (int r = 0; r < nranges; ++r) EXPECT_EQ(ranges[r].kept, first_kept[r]) << set.name;
        for (std::size_t k = 0; k < kept.size(); ++k) {
          for (int c = 0; c < 3; ++c)
            EXPECT_EQ(out[c][k], static_cast<Real>(p[c][kept[k]] - origin[c])) << set.name;
          EXPECT_EQ(out_index[k], kept[k]) << set.name;
        }
        for (std::size_t k = room; k < room + 4; ++k) {
          for (const auto &v : out)
            EXPECT_EQ(v[k], untouched) << set.name << ": written beyond its margin";
          EXPECT_EQ(out_index[k], -77);
        }
      }
}

TEST(InstructionSets, the_library_takes_the_newest_that_this_machine_has)
{
  const Switch function(rational(6, 12, 1.5));
  const auto sets = instruction_sets<double>(function, Precision::DOUBLE);
  EXPECT_EQ(sets.back().name, gpucoord::host_instruction_set());
  const auto chosen = gpucoord::select_pair_kernels<double>(function, Precision::DOUBLE);
  for (int want = 0; want < 4; ++want)
    EXPECT_EQ(chosen.gather[want], sets.back().kernels.gather[want]);
}

}    // namespace
