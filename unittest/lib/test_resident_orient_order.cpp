// Part of GPUCOORD, GPL-2.0. Order parameters of atoms that are resident on the GPU, compared with
// the host backend in double.

#include "gpu_tests.h"
#include "resident_results.h"

#include "gpucoord/orient_order.h"
#include "gpucoord/resident_orient_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace gpucoord;

namespace {

constexpr OrderKind KINDS[] = {OrderKind::LOCAL, OrderKind::AVERAGE, OrderKind::DOT,
                               OrderKind::CONNECTIONS, OrderKind::GLOBAL};

OrientOrderOptions order_options(int l, OrderKind order)
{
  OrientOrderOptions o;
  o.l = l;
  o.order = order;
  o.connection.r0 = 0.4;
  if (order != OrderKind::GLOBAL) {
    o.function.kind = AtomFunctionKind::CUSTOM;
    o.function.expression = "s^2+s";
  }
  return o;
}

// Each ghost has the numbers of an owned atom.
std::vector<int> owners_of(const System &s)
{
  std::mt19937 random(17);
  std::vector<int> owner(s.nall);
  std::iota(owner.begin(), owner.end(), 0);
  for (int k = s.nlocal; k < s.nall; ++k)
    owner[k] = s.nlocal > 0 ? static_cast<int>(random() % s.nlocal) : 0;
  return owner;
}

struct Numbers {
  Result result;
  std::vector<double> f;
};

Numbers order_on_host(const SwitchTable &table, const System &s, bool two, unsigned want,
                      const OrientOrderOptions &options, const std::vector<int> &owner)
{
  Numbers numbers;
  numbers.result.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  numbers.f.assign(s.nlocal + 1, 0.0);
  int na, nb;
  const auto a = s.atoms(2, na), b = s.atoms(4, nb);
  const int nothing = 0;
  OrientOrderInput in;
  in.nall = s.nall;
  in.cells.x = s.x.data();
  in.cells.a = {a.empty() ? &nothing : a.data(), static_cast<int>(a.size()), na};
  if (two) in.cells.b = {b.empty() ? &nothing : b.data(), static_cast<int>(b.size()), nb};
  in.cells.types.type = s.type.data();
  in.exchange.forward = [&](double *numbers_of_rows, int columns) {
    for (int k = s.nlocal; k < s.nall; ++k)
      std::copy_n(numbers_of_rows + static_cast<std::size_t>(columns) * owner[k], columns,
                  numbers_of_rows + static_cast<std::size_t>(columns) * k);
  };
  in.exchange.reduce = [](double *, int, AtomFunction::Reduction) {
  };
  OrderNumbers wanted;
  wanted.f = numbers.f.data();
  numbers.result.sums = make_host_orient_order(table, options, Precision::DOUBLE, 2)
                            ->evaluate(in, want, numbers.result.peratom.data(), wanted);
  return numbers;
}

double tolerance_of_order(Precision precision)
{
  return precision == Precision::DOUBLE ? 1e-10 : 1e-3;
}

void check_order(const SwitchTable &table, const System &s, bool two, const DeviceSelection &chosen,
                 const OrientOrderOptions &options, const std::string &what)
{
  const std::vector<int> owner = owners_of(s);
  const Loaded loaded(s, false);
  const OnGpu<int> owner_on_gpu(owner);
  DeviceExchange exchange;
  exchange.owner = owner_on_gpu.data();
  for (const Precision precision : PRECISIONS) {
    const auto device = make_resident_orient_order(table, options, precision);
    device->rebuild(loaded.atoms, chosen, 0, nullptr);
    for (const unsigned want : WANTS) {
      const std::string here = label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const Numbers expected = order_on_host(table, s, two, want, options, owner);
      device->evaluate(loaded.atoms, {want}, exchange, nullptr);
      const auto found = device->result(nullptr);
      EXPECT_EQ(found.bad, -1) << here;
      EXPECT_FALSE(found.moved) << here;
      Result result;
      result.sums.value = found.value;
      std::copy_n(found.virial, 6, result.sums.virial);
      result.peratom.assign(expected.result.peratom.size(), 0.0);
      if (!result.peratom.empty()) device->peratom(result.peratom.data(), nullptr);
      const double tolerance = tolerance_of_order(precision);
      expect_near(result, expected.result, want, tolerance, 0.0, here);
      std::vector<double> f(s.nlocal + 1, 0.0);
      device->copy_f(f.data(), nullptr);
      for (int i = 0; i < s.nlocal; ++i)
        ASSERT_NEAR(f[i], expected.f[i], 20.0 * tolerance) << here << ", atom " << i;
      if (want != DERIVATIVES) continue;
      // As the forces of a bias, whose derivatives may be in float.
      device->evaluate(loaded.atoms, {DERIVATIVES, true}, exchange, nullptr);
      OnGpu<double> forces(std::vector<double>(3 * s.nall + 3, 0.5));
      device->add_forces({forces.data()}, {2.0}, nullptr);
      const auto after = forces.get();
      const double most = std::max(1.0, largest(expected.result.peratom, 4, 1, 4));
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(after[3 * i + c],
                      0.5 - 2.0 * (i < s.nlocal ? expected.result.peratom[4 * i + 1 + c] : 0.0),
                      4.0 * tolerance * most)
              << here;
    }
  }
}

Switch cubic()
{
  return Switch(options(SwitchKind::CUBIC, 1.0));
}

}    // namespace

TEST(ResidentOrientOrder, equals_the_host_for_all_kinds_and_l)
{
  for (const OrderKind kind : KINDS)
    for (int l = MIN_L; l <= MAX_L; ++l) {
      if (kind == OrderKind::GLOBAL && l % 2) continue;    // 0 within one group
      check_order(cubic(), System(900, 300, 4.0, 100 + l), false, selection(false, 0.2),
                  order_options(l, kind), "l " + std::to_string(l));
    }
}

TEST(ResidentOrientOrder, equals_the_host_for_any_number_of_atoms)
{
  for (const OrderKind kind : KINDS)
    for (const auto [n, density] : {std::tuple(0, 4.0),
                                    {1, 4.0},
                                    {2, 4.0},
                                    {33, 4.0},
                                    {500, 0.05},
                                    {20000, 3.5},
                                    {3000, 40.0}})
      check_order(cubic(), System(n, n / 3, density, 7 * n + 1, 0.9), false, selection(false, 0.2),
                  order_options(6, kind), "one group");
}

TEST(ResidentOrientOrder, equals_the_host_for_two_groups)
{
  const double fractions[][2] = {{1, 1}, {0.5, 0.6}, {0.05, 0.9}, {0, 1}, {1, 0}};
  for (const OrderKind kind : {OrderKind::LOCAL, OrderKind::GLOBAL})
    for (const int l : {3, 6})
      for (const auto &f : fractions)
        check_order(cubic(), System(2000, 700, 6.0, 5 * l, f[0], f[1]), true, selection(true, 0.2),
                    order_options(l, kind), "two groups, l " + std::to_string(l));
}

TEST(ResidentOrientOrder, equals_the_host_for_types_and_formulas)
{
  SwitchTable table(3);
  const int wide = table.add(cubic());
  table.set(1, 1, wide);
  table.set(1, 2, table.add(Switch(options(SwitchKind::RATIONAL, 0.9))));
  table.set(2, 3, table.add(Switch(options(SwitchKind::TANH, 0.8))));
  SwitchOptions custom = options(SwitchKind::CUSTOM, 1.0);
  custom.expression = "1/(1+x^4)";
  table.set(3, 3, table.add(Switch(custom)));
  for (const OrderKind kind : KINDS)
    check_order(table, System(3000, 1000, 6.0, 37), false, selection(false, 0.2),
                order_options(6, kind), "types");
}

TEST(ResidentOrientOrder, equals_the_host_after_moves_within_the_skin)
{
  System s(4000, 1500, 4.0, 11);
  const SwitchTable table = cubic();
  const auto owner = owners_of(s);
  const OnGpu<int> owner_on_gpu(owner);
  DeviceExchange exchange;
  exchange.owner = owner_on_gpu.data();
  for (const OrderKind kind : KINDS) {
    const auto options = order_options(6, kind);
    const auto device = make_resident_orient_order(table, options, Precision::DOUBLE);
    {
      const Loaded loaded(s, false);
      device->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr);
    }
    s.move(0.09, 3);
    const Loaded loaded(s, false);
    device->evaluate(loaded.atoms, {DERIVATIVES}, exchange, nullptr);
    const auto sums = device->result(nullptr);
    EXPECT_FALSE(sums.moved);
    const auto expected = order_on_host(table, s, false, DERIVATIVES, options, owner);
    EXPECT_NEAR(sums.value, expected.result.sums.value,
                1e-10 * std::max(1.0, std::fabs(expected.result.sums.value)));
    s.move(1.0, 4);
    const Loaded far(s, false);
    device->evaluate(far.atoms, {VALUE}, exchange, nullptr);
    EXPECT_TRUE(device->result(nullptr).moved);
  }
}
