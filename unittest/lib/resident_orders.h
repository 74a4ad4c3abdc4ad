// Part of GPUCOORD, GPL-2.0. Order parameters of atoms that are resident on the GPU, and of host
// arrays on the GPU, compared with the host backend in double.

#ifndef GPUCOORD_TEST_RESIDENT_ORDERS_H
#define GPUCOORD_TEST_RESIDENT_ORDERS_H

#include "resident_results.h"

#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_function.h"
#include "gpucoord/resident_order_parameter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace gpucoord {

// An order parameter in each backend.
struct TestedOrder {
  std::string name;
  std::function<std::unique_ptr<OrderParameter>()> make_host;    // in double
  std::function<std::unique_ptr<ResidentOrderParameter>(Precision)> make_resident;
  std::function<std::unique_ptr<OrderParameter>(Precision)> make_cuda;    // for host arrays
  AtomFunctionOptions function;
  bool is_global = false, has_w_hat = false;
  // Limits of relative errors in double and in float, and the largest error of per-atom f in units
  // of them.
  double tolerance_double = 1e-10, tolerance_float = 1e-3, f_factor = 20.0;

  double tolerance(Precision precision) const
  {
    return precision == Precision::DOUBLE ? tolerance_double : tolerance_float;
  }
};

// Returns the owners. Each ghost has the numbers of an owned atom.
inline std::vector<int> owners_of(const System &s)
{
  std::mt19937 random(17);
  std::vector<int> owner(s.nall);
  std::iota(owner.begin(), owner.end(), 0);
  for (int k = s.nlocal; k < s.nall; ++k)
    owner[k] = s.nlocal > 0 ? static_cast<int>(random() % s.nlocal) : 0;
  return owner;
}

struct OrderNumbersOfAtoms {
  Result result;
  bool any_partners = false;
  std::vector<double> f, w_hat;
};

// Evaluates by a backend for host arrays. version: version of the input; if it is not 0, all atoms
// are on one rank
inline OrderNumbersOfAtoms numbers_of(OrderParameter &backend, const TestedOrder &order,
                                      const System &s, bool two, unsigned want,
                                      const std::vector<int> &owner, std::int64_t version = 0)
{
  OrderNumbersOfAtoms numbers;
  numbers.result.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  for (auto *values : {&numbers.f, &numbers.w_hat}) values->assign(s.nlocal + 1, 0.0);
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
  if (order.has_w_hat) wanted.w_hat = numbers.w_hat.data();
  const OrderResult found = backend.evaluate(in, want, numbers.result.peratom.data(), wanted);
  numbers.result.sums = found;
  numbers.any_partners = found.natoms_with_partners > 0;
  return numbers;
}

inline OrderNumbersOfAtoms order_on_host(const TestedOrder &order, const System &s, bool two,
                                         unsigned want, const std::vector<int> &owner)
{
  return numbers_of(*order.make_host(), order, s, two, want, owner);
}

// A resident order parameter with its function.
struct OrderOnDevice {
  std::unique_ptr<ResidentOrderParameter> order;
  std::unique_ptr<ResidentFunction> function;
  DeviceExchange exchange;
  bool is_global;

  OrderOnDevice(const TestedOrder &tested, Precision precision) :
      order(tested.make_resident(precision)),
      function(make_resident_function(tested.function, precision)), is_global(tested.is_global)
  {
  }
  void rebuild(const DeviceAtoms &atoms, const DeviceSelection &chosen)
  {
    order->rebuild(atoms, chosen, 0, nullptr);
    function->select(atoms, chosen.bit_a, nullptr);
  }
  void evaluate(const DeviceAtoms &atoms, const Request &request, std::int64_t positions = 0)
  {
    // The forces of a bias on one number of all atoms need no numbers of atoms.
    double *const v = is_global && request.for_forces_only ? nullptr : function->s();
    order->evaluate_first(atoms, positions, exchange, v, nullptr);
    function->evaluate(nullptr);
    if (request.want != VALUE)
      order->evaluate_second(request, function->dSds(), 1.0, exchange, nullptr);
  }
  Totals result()
  {
    Totals totals = order->result(nullptr);
    const auto function_result = function->result();
    EXPECT_EQ(function_result.bad, -1);
    if (!is_global) totals.value = function_result.value;
    return totals;
  }
  OrderNumbersOfAtoms numbers(const Totals &totals, int nlocal, unsigned want)
  {
    OrderNumbersOfAtoms found;
    const std::size_t columns = peratom_columns(want);
    found.result.sums.value = totals.value;
    std::copy_n(totals.virial, 6, found.result.sums.virial);
    found.result.peratom.assign(columns * nlocal, 0.0);
    if (!found.result.peratom.empty()) order->peratom(found.result.peratom.data(), nullptr);
    std::vector<double> v(nlocal + 1, 0.0);
    found.f.assign(nlocal + 1, 0.0);
    function->copy_numbers(v.data(), found.f.data(), nullptr);
    for (int i = 0; i < nlocal && columns > 0; ++i) found.result.peratom[columns * i] += v[i];
    return found;
  }
};

inline void compare(const OrderNumbersOfAtoms &found, const OrderNumbersOfAtoms &expected,
                    unsigned want, const TestedOrder &order, Precision precision,
                    const std::string &description)
{
  const double tolerance = order.tolerance(precision);
  expect_near(found.result, expected.result, want, tolerance, 0.0, description);
  for (std::size_t i = 0; i < expected.f.size(); ++i)
    ASSERT_NEAR(found.f[i], expected.f[i], order.f_factor * tolerance)
        << description << ", atom " << i;
}

inline void check_resident(const TestedOrder &order, const System &s, bool two,
                           const DeviceSelection &chosen, const std::string &what)
{
  const std::vector<int> owner = owners_of(s);
  const Loaded loaded(s, false);
  const OnGpu<int> owner_on_gpu(owner);
  for (const Precision precision : ORDER_PRECISIONS) {
    const double tolerance = order.tolerance(precision);
    OrderOnDevice device(order, precision);
    device.exchange.owner = owner_on_gpu.data();
    device.rebuild(loaded.atoms, chosen);
    for (const unsigned want : WANTS) {
      const std::string description =
          label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const auto expected = order_on_host(order, s, two, want, owner);
      device.evaluate(loaded.atoms, {want});
      const Totals totals = device.result();
      EXPECT_FALSE(totals.moved) << description;
      EXPECT_EQ(device.order->any_partners(), expected.any_partners) << description;
      compare(device.numbers(totals, s.nlocal, want), expected, want, order, precision,
              description);
      if (want != DERIVATIVES) continue;
      // Evaluate as for the forces of a bias, whose derivatives may be in float.
      device.evaluate(loaded.atoms, {DERIVATIVES, true});
      OnGpu<double> forces(std::vector<double>(3 * s.nall + 3, 0.5));
      device.order->add_forces({forces.data()}, {2.0}, nullptr);
      const auto after = forces.get();
      const double maximum = std::max(1.0, largest(expected.result.peratom, 4, 1, 4));
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(after[3 * i + c],
                      0.5 - 2.0 * (i < s.nlocal ? expected.result.peratom[4 * i + 1 + c] : 0.0),
                      4.0 * tolerance * maximum)
              << description;
    }
  }
}

// Checks host arrays, whose ghosts get their numbers from the caller.
inline void check_host_arrays(const TestedOrder &order, const System &s, bool two,
                              const std::string &what)
{
  const std::vector<int> owner = owners_of(s);
  for (const Precision precision : ORDER_PRECISIONS) {
    const auto backend = order.make_cuda(precision);
    for (const unsigned want : WANTS) {
      const std::string description =
          label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const auto expected = order_on_host(order, s, two, want, owner);
      const auto found = numbers_of(*backend, order, s, two, want, owner);
      compare(found, expected, want, order, precision, description);
      for (int i = 0; i < s.nlocal; ++i)
        ASSERT_NEAR(found.w_hat[i], expected.w_hat[i], 20.0 * order.tolerance(precision))
            << description << ", atom " << i;
    }
  }
}

inline void check_order(const TestedOrder &order, const System &s, bool two,
                        const DeviceSelection &chosen, const std::string &what)
{
  const std::string text = order.name + ", " + what;
  check_resident(order, s, two, chosen, text);
  check_host_arrays(order, s, two, text);
}

// Checks moves within the skin, and beyond it. The second evaluation does not read the positions
// again.
inline void check_moves(const TestedOrder &order)
{
  constexpr std::int64_t POSITIONS = 7;
  for (const Precision precision : ORDER_PRECISIONS) {
    System s(4000, 1500, 4.0, 11);
    const auto owner = owners_of(s);
    const OnGpu<int> owner_on_gpu(owner);
    OrderOnDevice device(order, precision);
    device.exchange.owner = owner_on_gpu.data();
    {
      const Loaded loaded(s, false);
      device.rebuild(loaded.atoms, selection(false, 0.2));
    }
    s.move(0.09, 3);
    const Loaded loaded(s, false);
    const auto expected = order_on_host(order, s, false, DERIVATIVES, owner);
    for (const char *const when : {", after moves within the skin", ", again"}) {
      device.evaluate(loaded.atoms, {DERIVATIVES}, POSITIONS);
      const Totals totals = device.result();
      EXPECT_FALSE(totals.moved) << order.name << when;
      compare(device.numbers(totals, s.nlocal, DERIVATIVES), expected, DERIVATIVES, order,
              precision, order.name + when);
    }
    s.move(1.0, 4);
    const Loaded far(s, false);
    device.order->read_positions(far.atoms, 0, nullptr);
    EXPECT_TRUE(device.order->result(nullptr).moved) << order.name;
  }
}

// Checks host arrays of one version, whose pairs are kept.
inline void check_versions(const TestedOrder &order)
{
  System s(4000, 1500, 4.0, 12);
  const auto owner = owners_of(s);
  const auto backend = order.make_cuda(Precision::DOUBLE);
  const auto compare_now = [&](std::int64_t version, const std::string &when) {
    compare(numbers_of(*backend, order, s, false, DERIVATIVES, owner, version),
            order_on_host(order, s, false, DERIVATIVES, owner), DERIVATIVES, order,
            Precision::DOUBLE, order.name + when);
  };
  compare_now(1, ", first");
  s.move(0.09, 3);
  compare_now(1, ", after moves within the skin");
  s.move(1.0, 4);
  compare_now(1, ", after moves beyond the skin");
  s.move(0.09, 5);
  compare_now(2, ", next version");
}

// Checks the numbers of ghosts, sent by pack() and unpack(), and through the host.
inline void check_communication(const TestedOrder &order)
{
  const System s(900, 400, 4.0, 5);
  const auto owner = owners_of(s);
  const std::vector<int> ghost_owners(owner.begin() + s.nlocal, owner.end());
  const OnGpu<int> list(ghost_owners);
  const Loaded loaded(s, false);
  const int nghosts = s.nall - s.nlocal;
  for (const bool by_host : {false, true})
    for (const Precision precision : ORDER_PRECISIONS) {
      OrderOnDevice device(order, precision);
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
            std::copy_n(numbers.data() + columns * owner[k], columns, numbers.data() + columns * k);
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
        ASSERT_EQ(calls.size(), announced.size()) << order.name;
        for (std::size_t k = 0; k < calls.size(); ++k) {
          EXPECT_EQ(calls[k].kind, announced[k].kind) << order.name;
          EXPECT_EQ(calls[k].n, announced[k].n) << order.name;
        }
        const auto expected = order_on_host(order, s, false, want, owner);
        const double tolerance = order.tolerance(precision),
                     scale = std::max(1.0, std::fabs(expected.result.sums.value));
        EXPECT_NEAR(totals.value, expected.result.sums.value, tolerance * scale) << order.name;
        if (want & VIRIAL)
          for (int c = 0; c < 6; ++c)
            EXPECT_NEAR(totals.virial[c], expected.result.sums.virial[c], 20.0 * tolerance * scale)
                << order.name;
      }
    }
}

}    // namespace gpucoord

#endif
