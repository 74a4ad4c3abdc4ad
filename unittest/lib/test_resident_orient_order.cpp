// Part of GPUCOORD, GPL-2.0. Order parameters of atoms that are resident on the GPU, compared with
// the host backend in double.

#include "gpu_tests.h"
#include "resident_results.h"

#include "gpucoord/orient_order.h"
#include "gpucoord/resident_function.h"
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
  std::vector<double> f, w_hat;
};

// By a backend for host arrays; null: that of the host in double. version: of the input; then all
// atoms are on one rank.
Numbers numbers_of(OrderParameter *backend, const SwitchTable &table, const System &s, bool two,
                   unsigned want, const OrientOrderOptions &options, const std::vector<int> &owner,
                   std::int64_t version = 0)
{
  Numbers numbers;
  numbers.result.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  for (auto *of_atoms : {&numbers.f, &numbers.w_hat}) of_atoms->assign(s.nlocal + 1, 0.0);
  int na, nb;
  const auto a = s.atoms(2, na), b = s.atoms(4, nb);
  const int nothing = 0;
  OrderInput in;
  in.nall = s.nall;
  in.cells.x = s.x.data();
  in.cells.a = {a.empty() ? &nothing : a.data(), static_cast<int>(a.size()), na};
  if (two) in.cells.b = {b.empty() ? &nothing : b.data(), static_cast<int>(b.size()), nb};
  in.cells.types.type = s.type.data();
  in.cells.version = version;
  in.cells.skin = 0.2;
  if (version) in.exchange.owner = owner.data();
  in.exchange.forward = [&](double *numbers_of_rows, int columns) {
    for (int k = s.nlocal; k < s.nall; ++k)
      std::copy_n(numbers_of_rows + static_cast<std::size_t>(columns) * owner[k], columns,
                  numbers_of_rows + static_cast<std::size_t>(columns) * k);
  };
  in.exchange.reduce = [](double *, int, AtomFunction::Reduction) {
  };
  OrderNumbers wanted;
  wanted.f = numbers.f.data();
  wanted.w_hat = numbers.w_hat.data();
  std::unique_ptr<OrderParameter> host;
  if (!backend) {
    host = make_host_orient_order(table, options, Precision::DOUBLE, 2);
    backend = host.get();
  }
  numbers.result.sums = backend->evaluate(in, want, numbers.result.peratom.data(), wanted);
  return numbers;
}

Numbers order_on_host(const SwitchTable &table, const System &s, bool two, unsigned want,
                      const OrientOrderOptions &options, const std::vector<int> &owner)
{
  return numbers_of(nullptr, table, s, two, want, options, owner);
}

// A resident order parameter with its function.
struct OnDevice {
  std::unique_ptr<ResidentOrientOrder> order;
  std::unique_ptr<ResidentFunction> function;
  DeviceExchange exchange;
  bool is_global;

  OnDevice(const SwitchTable &table, const OrientOrderOptions &options, Precision precision) :
      order(make_resident_orient_order(table, options, precision)),
      function(make_resident_function(options.function, precision)),
      is_global(options.order == OrderKind::GLOBAL)
  {
  }
  void rebuild(const DeviceAtoms &atoms, const DeviceSelection &chosen)
  {
    order->rebuild(atoms, chosen, 0, nullptr);
    function->select(atoms, chosen.bit_a, nullptr);
  }
  void evaluate(const DeviceAtoms &atoms, const Request &request)
  {
    order->evaluate_first(atoms, 0, exchange, function->s(), nullptr);
    function->evaluate(nullptr);
    if (request.want != VALUE)
      order->evaluate_second(request, function->dSds(), 1.0, exchange, nullptr);
  }
  Totals result()
  {
    Totals totals = order->result(nullptr);
    const auto of_atoms = function->result();
    EXPECT_EQ(of_atoms.bad, -1);
    if (!is_global) totals.value = of_atoms.value;
    return totals;
  }
};

double tolerance_of_order(Precision precision)
{
  return precision == Precision::DOUBLE ? 1e-10 : 1e-3;
}

// Compares with the host, with column 0 or without.
void compare(const Numbers &found, Numbers expected, unsigned want, double tolerance,
             const std::string &here)
{
  expect_near(found.result, expected.result, want, tolerance, 0.0, here);
  for (std::size_t i = 0; i < expected.f.size(); ++i)
    ASSERT_NEAR(found.f[i], expected.f[i], 20.0 * tolerance) << here << ", atom " << i;
}

void check_resident(const SwitchTable &table, const System &s, bool two,
                    const DeviceSelection &chosen, const OrientOrderOptions &options,
                    const std::string &what)
{
  const std::vector<int> owner = owners_of(s);
  const Loaded loaded(s, false);
  const OnGpu<int> owner_on_gpu(owner);
  for (const Precision precision : PRECISIONS) {
    const double tolerance = tolerance_of_order(precision);
    OnDevice device(table, options, precision);
    device.exchange.owner = owner_on_gpu.data();
    device.rebuild(loaded.atoms, chosen);
    for (const unsigned want : WANTS) {
      const std::string here = label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const Numbers expected = order_on_host(table, s, two, want, options, owner);
      device.evaluate(loaded.atoms, {want});
      const Totals totals = device.result();
      EXPECT_FALSE(totals.moved) << here;
      bool any = false;
      for (int i = 0; i < s.nlocal; ++i) any |= expected.f[i] != 0.0;
      if (any) EXPECT_TRUE(device.order->any_partners()) << here;
      Numbers found;
      found.result.sums.value = totals.value;
      std::copy_n(totals.virial, 6, found.result.sums.virial);
      found.result.peratom.assign(expected.result.peratom.size(), 0.0);
      if (!found.result.peratom.empty())
        device.order->peratom(found.result.peratom.data(), nullptr);
      std::vector<double> v(s.nlocal + 1, 0.0);
      found.f.assign(s.nlocal + 1, 0.0);
      device.function->copy_numbers(v.data(), found.f.data(), nullptr);
      for (int i = 0; i < s.nlocal && peratom_columns(want) > 0; ++i)
        found.result.peratom[peratom_columns(want) * static_cast<std::size_t>(i)] += v[i];
      compare(found, expected, want, tolerance, here);
      if (want != DERIVATIVES) continue;
      // As the forces of a bias, whose derivatives may be in float.
      device.evaluate(loaded.atoms, {DERIVATIVES, true});
      OnGpu<double> forces(std::vector<double>(3 * s.nall + 3, 0.5));
      device.order->add_forces({forces.data()}, {2.0}, nullptr);
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

// From host arrays, whose ghosts get their numbers from the caller.
void check_host_arrays(const SwitchTable &table, const System &s, bool two,
                       const OrientOrderOptions &options, const std::string &what)
{
  const std::vector<int> owner = owners_of(s);
  for (const Precision precision : PRECISIONS) {
    const auto backend = make_cuda_orient_order(table, options, precision, 0, 2);
    for (const unsigned want : WANTS) {
      const std::string here = label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const Numbers expected = order_on_host(table, s, two, want, options, owner);
      const Numbers found = numbers_of(backend.get(), table, s, two, want, options, owner);
      const double tolerance = tolerance_of_order(precision);
      compare(found, expected, want, tolerance, here);
      for (int i = 0; i < s.nlocal; ++i)
        ASSERT_NEAR(found.w_hat[i], expected.w_hat[i], 20.0 * tolerance) << here << ", atom " << i;
    }
  }
}

void check_order(const SwitchTable &table, const System &s, bool two, const DeviceSelection &chosen,
                 const OrientOrderOptions &options, const std::string &what)
{
  const std::string text = description(options) + ", " + what;
  check_resident(table, s, two, chosen, options, text);
  check_host_arrays(table, s, two, options, text);
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
  for (const OrderKind kind : KINDS) {
    const auto options = order_options(6, kind);
    OnDevice device(table, options, Precision::DOUBLE);
    device.exchange.owner = owner_on_gpu.data();
    {
      const Loaded loaded(s, false);
      device.rebuild(loaded.atoms, selection(false, 0.2));
    }
    s.move(0.09, 3);
    const Loaded loaded(s, false);
    device.evaluate(loaded.atoms, {DERIVATIVES});
    const Totals sums = device.result();
    EXPECT_FALSE(sums.moved);
    const auto expected = order_on_host(table, s, false, DERIVATIVES, options, owner);
    EXPECT_NEAR(sums.value, expected.result.sums.value,
                1e-10 * std::max(1.0, std::fabs(expected.result.sums.value)));
    s.move(1.0, 4);
    const Loaded far(s, false);
    device.order->read_positions(far.atoms, 0, nullptr);
    EXPECT_TRUE(device.order->result(nullptr).moved);
  }
}

TEST(ResidentOrientOrder, equals_the_host_from_host_arrays_of_one_version)
{
  for (const OrderKind kind : KINDS) {
    System s(4000, 1500, 4.0, 12);
    const auto owner = owners_of(s);
    const auto options = order_options(6, kind);
    const auto backend = make_cuda_orient_order(cubic(), options, Precision::DOUBLE, 0, 2);
    const auto compare_now = [&](std::int64_t version, const std::string &when) {
      const Numbers expected = order_on_host(cubic(), s, false, DERIVATIVES, options, owner);
      compare(numbers_of(backend.get(), cubic(), s, false, DERIVATIVES, options, owner, version),
              expected, DERIVATIVES, 1e-10, description(options) + when);
    };
    compare_now(1, ", first");
    s.move(0.09, 3);
    compare_now(1, ", after moves within the skin");
    s.move(1.0, 4);
    compare_now(1, ", after moves beyond the skin");
    s.move(0.09, 5);
    compare_now(2, ", next version");
  }
}

// The numbers of ghosts by pack() and unpack(), and through the host.
TEST(ResidentOrientOrder, equals_the_host_with_communication)
{
  const System s(900, 400, 4.0, 5);
  const auto owner = owners_of(s);
  const std::vector<int> of_ghosts(owner.begin() + s.nlocal, owner.end());
  const OnGpu<int> list(of_ghosts);
  const Loaded loaded(s, false);
  const int nghosts = s.nall - s.nlocal;
  for (const OrderKind kind : KINDS)
    for (const bool by_host : {false, true})
      for (const Precision precision : PRECISIONS) {
        const auto options = order_options(6, kind);
        OnDevice device(cubic(), options, precision);
        device.rebuild(loaded.atoms, selection(false, 0.2));
        const std::size_t columns = device.order->exchange_columns();
        OnGpu<double> buffer(std::vector<double>(columns * nghosts, 0.0));
        std::vector<DeviceExchange::Call> calls;
        device.exchange.forward = [&] {
          calls.push_back({DeviceExchange::Kind::FORWARD, 0});
          if (by_host) {
            std::vector<double> numbers(columns * s.nall, -1.0);
            device.order->get_numbers(numbers.data(), nullptr);
            for (int k = s.nlocal; k < s.nall; ++k)
              std::copy_n(numbers.data() + columns * owner[k], columns,
                          numbers.data() + columns * k);
            device.order->set_numbers(numbers.data(), nullptr);
            return;
          }
          device.order->pack(list.data(), nghosts, buffer.data(), nullptr);
          device.order->unpack(buffer.data(), nghosts, s.nlocal, nullptr);
        };
        device.exchange.reduce = [&](double *, int n, AtomFunction::Reduction) {
          calls.push_back({DeviceExchange::Kind::REDUCE, n});
        };
        for (const unsigned want : {unsigned(VALUE), DERIVATIVES | VIRIAL}) {
          calls.clear();
          device.evaluate(loaded.atoms, {want});
          const Totals totals = device.result();
          const auto announced = device.order->exchanges(want);
          ASSERT_EQ(calls.size(), announced.size()) << description(options);
          for (std::size_t k = 0; k < calls.size(); ++k) {
            EXPECT_EQ(calls[k].kind, announced[k].kind) << description(options);
            EXPECT_EQ(calls[k].n, announced[k].n) << description(options);
          }
          const auto expected = order_on_host(cubic(), s, false, want, options, owner);
          const double scale = std::max(1.0, std::fabs(expected.result.sums.value));
          EXPECT_NEAR(totals.value, expected.result.sums.value,
                      tolerance_of_order(precision) * scale)
              << description(options);
          if (want & VIRIAL)
            for (int c = 0; c < 6; ++c)
              EXPECT_NEAR(totals.virial[c], expected.result.sums.virial[c],
                          20.0 * tolerance_of_order(precision) * scale)
                  << description(options);
        }
      }
}
