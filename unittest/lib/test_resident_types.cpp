// Part of GPUCOORD, GPL-2.0. Functions between types of atoms that are resident on the GPU,
// compared with the host backend in double.

#include "gpu_tests.h"
#include "resident_results.h"
#include "type_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

using namespace gpucoord;

// Functions and weights of pairs of types: as a coordination number, and as an energy with forces.
TEST(ResidentTypes, types_and_forces)
{
  SwitchTable table(3);
  const int cubic = table.add(Switch(options(SwitchKind::CUBIC, 1.0))),
            gaussian = table.add(Switch(options(SwitchKind::GAUSSIAN, 0.8)));
  table.set(1, 1, cubic);
  table.set(1, 2, gaussian);
  table.set(2, 3, cubic);
  table.set(3, 3, gaussian);
  std::vector<double> weight(16, 0.0);
  const double epsilon[] = {1.5, -0.7, 2.0, 0.3};
  const int pairs[][2] = {{1, 1}, {1, 2}, {2, 3}, {3, 3}};
  for (int k = 0; k < 4; ++k)
    weight[table.index(pairs[k][0], pairs[k][1])] = weight[table.index(pairs[k][1], pairs[k][0])] =
        epsilon[k];
  const unsigned want = WANTS[4];
  for (const auto &[n, density, two] : {std::tuple(FEW_ATOMS, 12.0, false),
                                        {FEW_ATOMS, 12.0, true},
                                        {MANY_ATOMS, 12.0, false},
                                        {MANY_ATOMS, 12.0, true},
                                        {MANY_ATOMS, CROWD, false},
                                        {MANY_ATOMS, CROWD, true}}) {
    const System s(n, n / 3, density, 37, 0.8, 0.7);
    const Loaded loaded(s, false);
    for (const Precision precision : PRECISIONS) {
      const auto pairs_in_reach = make_resident_pairs(table, precision, weight.data());
      const auto device = make_resident_coordination(table, precision, pairs_in_reach);
      device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
      const Result expected = on_host(table, s, two, want, weight.data());
      expect_near(on_gpu(*device, s, loaded.atoms, want), expected, want, tolerance_of(precision),
                  precision == Precision::DOUBLE ? 0.0 : 5.0, "types");
      if (two) continue;
      const auto pass = make_resident_pair_pass(table, precision, pairs_in_reach);
      pass->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr);
      // Both force layouts of LAMMPS.
      for (const bool in_rows : {true, false}) {
        OnGpu<double> f(std::vector<double>(3 * s.nall, 1.0));
        DeviceForces forces;
        forces.f = f.data();
        forces.atom_stride = in_rows ? 3 : 1;
        forces.axis_stride = in_rows ? 1 : s.nall;
        pass->add_forces_and_tally(loaded.atoms, DERIVATIVES, forces, nullptr);
        EXPECT_NEAR(pass->result(nullptr).value, expected.sums.value,
                    tolerance_of(precision) * 1e5);
        const auto after = f.get();
        const double limit = tolerance_of(precision) * largest(expected.peratom, 10, 1, 4) +
            (precision == Precision::DOUBLE ? 0 : 5);
        for (int i = 0; i < s.nall; ++i)
          for (int c = 0; c < 3; ++c)
            ASSERT_NEAR(after[forces.atom_stride * i + forces.axis_stride * c],
                        1.0 - (i < s.nlocal ? expected.peratom[10 * i + 1 + c] : 0.0), limit);
      }
    }
  }
}

// A pair of types that temporarily has no atoms.
TEST(ResidentTypes, pairs_of_types_come_and_go)
{
  SwitchTable table(2);
  const int cubic = table.add(Switch(options(SwitchKind::CUBIC, 1.0)));
  const int rational = table.add(Switch(options(SwitchKind::RATIONAL, 0.9)));
  table.set(1, 1, cubic);
  table.set(1, 2, rational);
  for (const int n : {FEW_ATOMS, MANY_ATOMS}) {
    System s(n, n / 3, 10.0, 53);
    for (int &type : s.type) type = std::min(type, 2);
    const auto device = make(table, Precision::DOUBLE);
    for (const bool has_pairs_of_1 : {true, false, true}) {
      System now = s;
      if (!has_pairs_of_1) std::fill(now.type.begin() + 1, now.type.end(), 2);
      const Loaded loaded(now, false);
      device->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr);
      expect_near(on_gpu(*device, now, loaded.atoms, WANTS[4]),
                  on_host(table, now, false, WANTS[4]), WANTS[4], 1e-11, 0.0,
                  "types that come and go");
    }
  }
}

namespace {

// Functions that end smoothly: in float, a pair at the end of another function would jump.
SwitchOptions smooth_function(int k, double dmax)
{
  switch (k % 4) {
    case 0:
      return options(SwitchKind::CUBIC, dmax);
    case 1: {
      SwitchOptions o = options(SwitchKind::COSINUS, dmax);
      o.r0 = dmax;
      return o;
    }
    case 2: {
      SwitchOptions o = options(SwitchKind::CUBIC, dmax);
      o.d0 = 0.3 * dmax;
      return o;
    }
    default: {
      SwitchOptions o = options(SwitchKind::CUSTOM, dmax);
      o.r0 = dmax;
      o.expression = "(1-x^2)^3";
      return o;
    }
  }
}

// Compares forces that are added from derivatives in the form for forces only.
void expect_forces(ResidentCoordination &device, const Loaded &loaded, const System &s,
                   const Result &expected, Precision precision)
{
  OnGpu<double> f(std::vector<double>(3 * s.nall, 0.0));
  device.evaluate(loaded.atoms, {DERIVATIVES, true}, nullptr);
  device.add_forces({f.data(), false, 3, 1}, {2.0}, nullptr);
  device.result(nullptr);
  const auto found = f.get();
  const double limit =
      2.0 * tolerance_of(precision) * std::max(1.0, largest(expected.peratom, 4, 1, 4));
  for (int i = 0; i < s.nall; ++i)
    for (int c = 0; c < 3; ++c)
      ASSERT_NEAR(found[3 * i + c], i < s.nlocal ? -2.0 * expected.peratom[4 * i + 1 + c] : 0.0,
                  limit);
}

}    // namespace

// Tables of many types: all pairs with functions of one formula, of four formulas, and few pairs.
TEST(ResidentTypes, many_types)
{
  // 33 types in double and 47 in float have too many functions for shared memory. If all functions
  // have the same weight, stretch and shift, these tables fit.
  for (const int ntypes : {2, 7, 33, 47})
    for (const int nformulas : {1, 4})
      for (const double share : {1.0, 0.15}) {
        SwitchTable table(ntypes);
        std::vector<double> weight((ntypes + 1) * (ntypes + 1), 0.0);
        std::mt19937 random(100 * ntypes + nformulas);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        int number = 0;
        for (int i = 1; i <= ntypes; ++i)
          for (int j = i; j <= ntypes; ++j) {
            const double dmax = 0.5 + 0.5 * chance(random),
                         w = nformulas == 1 && share == 1.0 ? 0.8 : 2.0 * chance(random) - 0.7;
            if (number > 0 && chance(random) > share) continue;
            table.set(i, j, table.add(Switch(smooth_function(number++ % nformulas, dmax))));
            weight[table.index(i, j)] = weight[table.index(j, i)] = w;
          }
        for (const auto &[n, two] : {std::pair(FEW_ATOMS, false),
                                     {FEW_ATOMS, true},
                                     {MANY_ATOMS, false},
                                     {MANY_ATOMS, true}}) {
          System s(n, n / 3, 25.0, 7 * n + ntypes, 0.8, 0.6);
          for (int &type : s.type) type = 1 + static_cast<int>(random() % ntypes);
          const Loaded loaded(s, false);
          for (const unsigned want : WANTS) {
            const Result expected = on_host(table, s, two, want, weight.data());
            for (const Precision precision : PRECISIONS) {
              const auto device = make(table, precision, weight.data());
              device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
              expect_near(on_gpu(*device, s, loaded.atoms, want), expected, want,
                          tolerance_of(precision), 0.0,
                          std::to_string(ntypes) + " types, " + std::to_string(nformulas) +
                              " formulas, " + label("share", n, static_cast<int>(precision), want));
              if (want == DERIVATIVES) expect_forces(*device, loaded, s, expected, precision);
            }
          }
        }
      }
}

namespace {

// Largest jump of a derivative at the end of a function.
double largest_jump(const SwitchTable &table, Precision precision)
{
  double jump = 0.0;
  for (const Switch &function : table.functions())
    jump = std::max(jump, jump_of(function, precision));
  return jump;
}

// Smallest difference between the distance of a pair and the end of its function.
double nearest_to_an_end(const System &s, const SwitchTable &table)
{
  double nearest = 1.0;
  for (int i = 0; i < s.nlocal; ++i)
    for (int j = 0; j < s.nall; ++j) {
      double r_sq = 0.0;
      for (int c = 0; c < 3; ++c) r_sq += std::pow(s.x[3 * j + c] - s.x[3 * i + c], 2);
      const double dmax = table.functions()[table.function_of(s.type[i], s.type[j])].dmax();
      if (j != i) nearest = std::min(nearest, std::fabs(std::sqrt(r_sq) - dmax));
    }
  return nearest;
}

void expect_every_formula(const System &s, Differing differing, bool has_pairs_at_ends)
{
  const Loaded loaded(s, false);
  const std::vector<double> weights = weights_of(differing);
  for (int formula = 0; formula < NFORMULAS; ++formula) {
    const SwitchTable table = table_of(formula, differing);
    if (!has_pairs_at_ends) EXPECT_GT(nearest_to_an_end(s, table), 1e-6);
    for (const bool two : {false, true})
      for (const Precision precision : PRECISIONS) {
        const double jump = has_pairs_at_ends ? largest_jump(table, precision) : 0.0;
        const auto device = make(table, precision, weights.data());
        device->rebuild(loaded.atoms, selection(two, 0.3), 0, nullptr);
        for (const unsigned want : WANTS)
          expect_near(on_gpu(*device, s, loaded.atoms, want),
                      on_host(table, s, two, want, weights.data()), want, tolerance_of(precision),
                      jump, table.functions()[0].description());
      }
  }
}

}    // namespace

TEST(ResidentTypes, every_formula)
{
  expect_every_formula(System(3000, 1000, 20.0, 5, 0.7, 0.6), Differing::ALL, true);
}

// One thread has all partners of an atom, because they are few.
TEST(ResidentTypes, every_formula_with_few_partners)
{
  for (const Differing differing : DIFFERING)
    expect_every_formula(System(3000, 1000, 0.4, 10, 0.7, 0.6), differing, false);
}

// Without the virial, kernels read short elements if there are any.
TEST(ResidentTypes, derivatives_with_the_virial_have_the_same_bits)
{
  const System s(3000, 1000, 20.0, 5, 0.7, 0.6);
  const Loaded loaded(s, false);
  for (const Differing differing : DIFFERING)
    for (int formula = 0; formula < NFORMULAS; ++formula)
      for (const Precision precision : PRECISIONS) {
        const SwitchTable table = table_of(formula, differing);
        const auto device = make(table, precision, weights_of(differing).data());
        device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
        const Result without = on_gpu(*device, s, loaded.atoms, DERIVATIVES),
                     with = on_gpu(*device, s, loaded.atoms, DERIVATIVES | VIRIAL);
        ASSERT_EQ(without.peratom.size(), 4u * s.nlocal);
        int ndifferent = 0;
        for (int i = 0; i < s.nlocal; ++i)
          for (int c = 1; c < 4; ++c)
            ndifferent += without.peratom[4 * i + c] !=
                with.peratom[peratom_columns(DERIVATIVES | VIRIAL) * i + c];
        EXPECT_EQ(ndifferent, 0) << table.functions()[0].description() << ", precision "
                                 << static_cast<int>(precision);
      }
}

// Atoms have many partners, and few partners of each type.
TEST(ResidentTypes, many_partners_of_many_types)
{
  constexpr int NTYPES = 16;
  SwitchTable table(NTYPES);
  for (int i = 1; i <= NTYPES; ++i)
    for (int j = i; j <= NTYPES; ++j)
      table.set(i, j, table.add(Switch(options(SwitchKind::CUBIC, 0.95 + 0.003 * j))));
  System s(MANY_ATOMS, MANY_ATOMS / 3, 150.0, 17);
  for (int i = 0; i < s.nall; ++i) s.type[i] = 1 + i % NTYPES;
  const Loaded loaded(s, false);
  const Result expected = on_host(table, s, false, WANTS[4]);
  for (const Precision precision : PRECISIONS) {
    const auto device = make(table, precision);
    device->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr);
    expect_near(on_gpu(*device, s, loaded.atoms, WANTS[4]), expected, WANTS[4],
                tolerance_of(precision), 0.0, "many partners of many types");
  }
}

// The pairs of a function with a short range are not kept up to the range of another function.
TEST(ResidentTypes, ranges_that_differ)
{
  SwitchTable table(2);
  table.set(1, 1, table.add(Switch(options(SwitchKind::CUBIC, 0.4))));
  table.set(1, 2, table.add(Switch(options(SwitchKind::CUBIC, 0.5))));
  table.set(2, 2, table.add(Switch(options(SwitchKind::CUBIC, 1.6))));
  const SwitchTable longest(Switch(options(SwitchKind::CUBIC, 1.6)));
  for (const int n : {FEW_ATOMS, MANY_ATOMS}) {
    System s(n, n / 3, 20.0, 11);
    for (int i = 0; i < s.nall; ++i) s.type[i] = i % 50 == 0 ? 2 : 1;
    const Loaded loaded(s, false);
    const auto device = make(table, Precision::MIXED);
    const auto all = make(longest, Precision::MIXED);
    device->rebuild(loaded.atoms, selection(false, 0.1), 0, nullptr);
    all->rebuild(loaded.atoms, selection(false, 0.1), 0, nullptr);
    expect_near(on_gpu(*device, s, loaded.atoms, WANTS[4]), on_host(table, s, false, WANTS[4]),
                WANTS[4], 2e-5, 0.0, "ranges that differ");
    EXPECT_LT(device->bytes(), all->bytes());
  }
}
