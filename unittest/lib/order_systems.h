// Part of GPUCOORD, GPL-2.0. Systems and runs for tests of order parameters.

#ifndef GPUCOORD_TEST_ORDER_SYSTEMS_H
#define GPUCOORD_TEST_ORDER_SYSTEMS_H

#include "brute_force.h"
#include "engines.h"
#include "switch_tables.h"

#include "gpucoord/orient_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

using gpucoord::AtomFunction;
using gpucoord::AtomFunctionKind;
using gpucoord::AtomFunctionOptions;
using gpucoord::OrderExchange;
using gpucoord::OrderInput;
using gpucoord::OrderKind;
using gpucoord::OrderNumbers;
using gpucoord::OrderParameter;
using gpucoord::OrderResult;
using gpucoord::OrientOrderOptions;

using Numbers = std::vector<double>;

const OrderKind ALL_ORDERS[] = {OrderKind::LOCAL, OrderKind::AVERAGE, OrderKind::DOT,
                                OrderKind::CONNECTIONS, OrderKind::GLOBAL};

inline std::string name_of(OrderKind kind)
{
  const char *const names[] = {"local", "average", "dot", "connections", "global"};
  return names[static_cast<int>(kind)];
}

inline bool allows_two_groups(OrderKind kind)
{
  return kind == OrderKind::LOCAL || kind == OrderKind::GLOBAL;
}

// S of odd l is 0 within one group, because the two atoms of a pair cancel.
inline bool vanishes(int l, OrderKind kind, bool two_groups)
{
  return l % 2 && kind == OrderKind::GLOBAL && !two_groups;
}

// ---- options

inline OrientOrderOptions order_options(int l, OrderKind kind,
                                        const AtomFunctionOptions &function = {})
{
  OrientOrderOptions o;
  o.l = l;
  o.order = kind;
  if (kind == OrderKind::CONNECTIONS) o.connection = rational(6, 12, 0.5);
  if (kind != OrderKind::GLOBAL) o.function = function;
  return o;
}

inline OrientOrderOptions with_table(OrientOrderOptions options, const SwitchTable &table)
{
  options.table = table;
  return options;
}

// One function for each form of the derivatives of S.
inline std::vector<AtomFunctionOptions> order_functions()
{
  std::vector<AtomFunctionOptions> all(4);
  all[1].kind = AtomFunctionKind::MORE_THAN;
  all[1].sigma = rational(4, 8, 0.4);
  all[2].kind = AtomFunctionKind::BETWEEN;
  all[2].a = 0.2;
  all[2].b = 0.6;
  all[3].kind = AtomFunctionKind::MOMENT;
  all[3].order = 3;
  return all;
}

// s(r) = 1 up to 'inner', 0 beyond 'outer'.
inline SwitchTable step(double inner, double outer)
{
  return Switch(plain(SwitchKind::CUBIC, NO, inner, outer));
}

// ---- systems

// Rows of owned atoms, then of their images.
struct OrderSystem : System {
  std::vector<int> owner;    // [nall] the owned atom whose image each row is
  std::vector<int> type;     // [nall]
};

inline brute::Cell cell_of(const double (&edges)[3][3])
{
  brute::Cell cell;
  for (int k = 0; k < 3; ++k) {
    std::copy_n(edges[k], 3, cell.edges[k]);
    cell.periodic[k] = true;
  }
  return cell;
}

inline brute::Cell box_of(double lx, double ly, double lz)
{
  return cell_of({{lx, 0, 0}, {0, ly, 0}, {0, 0, lz}});
}

// Calls visit(shift) for the images of a cell, without the cell itself.
template <class Visit> void visit_shifts(const brute::Cell &cell, int reach, const Visit &visit)
{
  brute::for_images(cell, {}, reach, [&](const brute::Vector &v, bool is_cell) {
    const double shift[3] = {static_cast<double>(v[0]), static_cast<double>(v[1]),
                             static_cast<double>(v[2])};
    if (!is_cell) visit(shift);
  });
}

// Adds the images of all owned atoms that are within 'range' of an owned atom. reach: number of
// cells to search in each direction
inline void add_images(OrderSystem &s, const brute::Cell &cell, double range, int reach = 2)
{
  const Numbers x = s.x;
  visit_shifts(cell, reach, [&](const double *shift) {
    for (int j = 0; j < s.nlocal; ++j) {
      bool is_near = false;
      for (int i = 0; i < s.nlocal && !is_near; ++i) {
        double r_sq = 0.0;
        for (int c = 0; c < 3; ++c) {
          const double d = x[3 * j + c] + shift[c] - x[3 * i + c];
          r_sq += d * d;
        }
        is_near = r_sq <= range * range;
      }
      if (!is_near) continue;
      for (int c = 0; c < 3; ++c) s.x.push_back(x[3 * j + c] + shift[c]);
      s.member.push_back(s.member[j]);
      s.owner.push_back(j);
      s.type.push_back(s.type[j]);
    }
  });
}

// All atoms are in group a, and of type 1.
inline OrderSystem open_system(const Numbers &x)
{
  OrderSystem s;
  s.x = x;
  s.nlocal = s.nall();
  s.member.assign(s.nlocal, 1);
  s.type.assign(s.nlocal, 1);
  for (int k = 0; k < s.nlocal; ++k) s.owner.push_back(k);
  return s;
}

inline OrderSystem periodic_system(const Numbers &x, const brute::Cell &cell, double range)
{
  OrderSystem s = open_system(x);
  add_images(s, cell, range);
  return s;
}

inline OrderSystem random_order_system(int n, Groups groups, int ntypes, bool is_periodic,
                                       double range, unsigned seed)
{
  const double side = std::cbrt(n / 6.0 + 0.1);
  OrderSystem s = open_system(random_points(n, side, side, side, -1.0, seed));
  s.member = make_system(s.x, groups, 0, seed).member;
  s.two = groups != Groups::ONE;
  s.type = random_types(n, ntypes, seed);
  if (is_periodic)
    add_images(s, box_of(side, side, side), range, static_cast<int>(range / side) + 2);
  return s;
}

// Random positions that are at least 'distance' apart, including images.
inline Numbers spread_points(int n, const brute::Cell &cell, double distance, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0.0, 1.0);
  Numbers x;
  while (x.size() < 3 * static_cast<std::size_t>(n)) {
    const double f[3] = {u(random), u(random), u(random)};
    double p[3];
    for (int c = 0; c < 3; ++c)
      p[c] = f[0] * cell.edges[0][c] + f[1] * cell.edges[1][c] + f[2] * cell.edges[2][c];
    bool is_free = true;
    for (std::size_t k = 0; k < x.size(); k += 3) {
      const auto d = brute::nearest(cell, {x[k] - p[0], x[k + 1] - p[1], x[k + 2] - p[2]}, 1);
      is_free = is_free && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > distance * distance;
    }
    if (is_free) x.insert(x.end(), p, p + 3);
  }
  return x;
}

// ---- runs

constexpr double UNCHANGED = -7.25;

struct OrderResults {
  OrderResult sum;
  Numbers peratom;            // [nlocal][peratom_columns(want)]
  Numbers order, f, w_hat;    // [nlocal]; UNCHANGED where not set
};

inline void reduce_alone(double *, int, AtomFunction::Reduction) {}

// Exchanges of a single rank: copies numbers to images. Valid as long as s exists.
inline OrderExchange exchange_alone(const OrderSystem &s)
{
  OrderExchange exchange;
  exchange.forward = [&s](double *numbers, int columns) {
    for (int k = s.nlocal; k < s.nall(); ++k)
      std::copy_n(numbers + static_cast<std::size_t>(columns) * s.owner[k], columns,
                  numbers + static_cast<std::size_t>(columns) * k);
  };
  exchange.reduce = reduce_alone;
  return exchange;
}

// Valid as long as s and rows exist.
inline OrderInput order_input(const OrderSystem &s, const Rows &rows, const OrderExchange &exchange)
{
  OrderInput in;
  in.cells = cells_input(s, rows);
  in.cells.types.type = s.type.data();
  in.nall = s.nall();
  in.exchange = exchange;
  return in;
}

// has_w_hat: false for order parameters other than Steinhardt's
inline OrderResults run_order(OrderParameter &order, const OrderSystem &s, unsigned want,
                              const OrderExchange &exchange, bool has_w_hat = true)
{
  const auto rows = rows_of(s);
  OrderResults r;
  r.peratom.assign(static_cast<std::size_t>(peratom_columns(want)) * s.nlocal + 1, 0.0);
  for (auto *numbers : {&r.order, &r.f, &r.w_hat}) numbers->assign(s.nlocal + 1, UNCHANGED);
  OrderNumbers numbers;
  numbers.order = r.order.data();
  numbers.f = r.f.data();
  numbers.w_hat = has_w_hat ? r.w_hat.data() : nullptr;
  r.sum = order.evaluate(order_input(s, *rows, exchange), want,
                         want & DERIVATIVES ? r.peratom.data() : nullptr, numbers);
  EXPECT_EQ(r.sum.bad, -1);
  EXPECT_EQ(r.peratom.back(), 0.0) << "written beyond the end";
  r.peratom.pop_back();
  for (auto *list : {&r.order, &r.f, &r.w_hat}) {
    EXPECT_EQ(list->back(), UNCHANGED) << "written beyond the end";
    list->pop_back();
    for (int k = 0; k < s.nlocal; ++k)
      EXPECT_EQ((*list)[k] == UNCHANGED, !(s.member[k] & 1) || (list == &r.w_hat && !has_w_hat))
          << "row " << k;
  }
  return r;
}

inline OrderResults run_order(OrderParameter &order, const OrderSystem &s, unsigned want,
                              bool has_w_hat = true)
{
  return run_order(order, s, want, exchange_alone(s), has_w_hat);
}

// ---- backends

struct OrderBackend {
  std::string name;
  std::function<std::unique_ptr<OrderParameter>(const SwitchTable &, const OrientOrderOptions &)>
      make;
};

inline OrderBackend host_order(Precision precision, int nthreads = 1)
{
  return {std::string("host ") + name_of(precision),
          [=](const SwitchTable &table, const OrientOrderOptions &options) {
            return gpucoord::make_host_order(with_table(options, table), precision, nthreads);
          }};
}

inline OrderBackend reference_order()
{
  return {"reference", [](const SwitchTable &table, const OrientOrderOptions &options) {
            return gpucoord::make_reference_order(with_table(options, table));
          }};
}

// The backends that calculate in double.
inline std::vector<OrderBackend> double_orders()
{
  return {reference_order(), host_order(Precision::DOUBLE)};
}

// ---- comparisons

inline double largest_of(const Numbers &numbers)
{
  double largest = 0.0;
  for (const double v : numbers) largest = std::max(largest, std::fabs(v));
  return largest;
}

// Largest sizes of derivatives (kind 1) and of virials (kind 2) of atoms; see kind_of().
inline double largest_of_kind(const OrderResults &r, int columns, int kind)
{
  double largest = 0.0;
  for (std::size_t k = 0; k < r.peratom.size(); ++k)
    if (kind_of(static_cast<int>(k % columns)) == kind)
      largest = std::max(largest, std::fabs(r.peratom[k]));
  return largest;
}

// Errors of results relative to the largest number of the same kind, S and v to at least 1.
struct OrderErrors {
  double value = 0.0, order = 0.0, w_hat = 0.0, derivative = 0.0, virial = 0.0;
  void operator|=(const OrderErrors &e)
  {
    value = std::max(value, e.value);
    order = std::max(order, e.order);
    w_hat = std::max(w_hat, e.w_hat);
    derivative = std::max(derivative, e.derivative);
    virial = std::max(virial, e.virial);
  }
};

inline std::ostream &operator<<(std::ostream &out, const OrderErrors &e)
{
  return out << "S " << e.value << ", v " << e.order << ", w " << e.w_hat << ", dS/dx "
             << e.derivative << ", W " << e.virial;
}

// exact: results with EVERYTHING. Checks that numbers that are not requested are 0. scale: smallest
// number that errors of derivatives and virials are relative to
inline OrderErrors errors_of(const OrderResults &r, const OrderResults &exact, unsigned want,
                             double scale = 0.0)
{
  OrderErrors e;
  // NaN is the largest error.
  const auto raise = [](double &error, double got, double expected, double size_of_all) {
    const double difference = std::fabs(got - expected);
    if (difference == 0.0) return;
    const double relative = difference / size_of_all;
    error = relative <= error ? error : std::isnan(relative) ? INF : relative;
  };
  const double size = std::max({std::fabs(exact.sum.value), largest_of(exact.f), 1.0});
  raise(e.value, r.sum.value, exact.sum.value, size);
  const double largest_order = std::max(largest_of(exact.order), 1.0);
  for (std::size_t k = 0; k < exact.order.size(); ++k) {
    raise(e.order, r.order[k], exact.order[k], largest_order);
    raise(e.order, r.f[k], exact.f[k], size);
    raise(e.w_hat, r.w_hat[k], exact.w_hat[k], 1.0);
  }
  const double derivative = std::max(largest_of_kind(exact, 10, 1), scale);
  double virial = std::max(largest_of_kind(exact, 10, 2), scale);
  for (const double w : exact.sum.virial) virial = std::max(virial, std::fabs(w));
  for (int k = 0; k < 6; ++k)
    if (want & VIRIAL)
      raise(e.virial, r.sum.virial[k], exact.sum.virial[k], virial);
    else
      EXPECT_EQ(r.sum.virial[k], 0.0) << "virial was not wanted";
  const int columns = peratom_columns(want);
  for (std::size_t k = 0; k < r.peratom.size(); ++k) {
    const std::size_t row = k / columns;
    const int column = static_cast<int>(k % columns), kind = kind_of(column);
    raise(kind == 0       ? e.order
              : kind == 1 ? e.derivative
                          : e.virial,
          r.peratom[k], exact.peratom[10 * row + column],
          kind == 0       ? largest_order
              : kind == 1 ? derivative
                          : virial);
  }
  return e;
}

inline bool same_bits(const OrderResults &a, const OrderResults &b)
{
  const auto same = [](const Numbers &x, const Numbers &y) {
    return x.size() == y.size() &&
        (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
  };
  return std::memcmp(&a.sum.value, &b.sum.value, sizeof(double)) == 0 &&
      std::memcmp(a.sum.virial, b.sum.virial, sizeof(a.sum.virial)) == 0 &&
      same(a.peratom, b.peratom) && same(a.order, b.order) && same(a.f, b.f) &&
      same(a.w_hat, b.w_hat);
}

#endif
