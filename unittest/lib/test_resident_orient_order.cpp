// Part of GPUCOORD, GPL-2.0. Steinhardt order parameters of atoms that are resident on the GPU,
// compared with the host backend in double.

#include "gpu_tests.h"
#include "resident_orders.h"

#include "gpucoord/orient_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

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

TestedOrder tested(const SwitchTable &table, int l, OrderKind kind)
{
  OrientOrderOptions options = order_options(l, kind);
  options.table = table;
  TestedOrder order;
  order.name = description(options);
  order.make_host = [=] {
    return make_host_order(options, Precision::DOUBLE, 2);
  };
  order.make_resident = [=](Precision precision) {
    return make_resident_order(options, precision);
  };
  order.make_cuda = [=](Precision precision) {
    return make_cuda_order(options, precision, 0, 2);
  };
  order.function = options.function;
  order.is_global = kind == OrderKind::GLOBAL;
  order.has_w_hat = true;
  return order;
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
      check_order(tested(cubic(), l, kind), System(900, 300, 4.0, 100 + l), false,
                  selection(false, 0.2), "l " + std::to_string(l));
    }
}

TEST(ResidentOrientOrder, equals_the_host_for_any_number_of_atoms)
{
  for (const OrderKind kind : KINDS)
    for (const auto &[n, density] : {std::tuple(0, 4.0),
                                     {1, 4.0},
                                     {2, 4.0},
                                     {33, 4.0},
                                     {500, 0.05},
                                     {20000, 3.5},
                                     {3000, 40.0}})
      check_order(tested(cubic(), 6, kind), System(n, n / 3, density, 7 * n + 1, 0.9), false,
                  selection(false, 0.2), "one group");
}

TEST(ResidentOrientOrder, equals_the_host_for_two_groups)
{
  const double fractions[][2] = {{1, 1}, {0.5, 0.6}, {0.05, 0.9}, {0, 1}, {1, 0}};
  for (const OrderKind kind : {OrderKind::LOCAL, OrderKind::GLOBAL})
    for (const int l : {3, 6})
      for (const auto &f : fractions)
        check_order(tested(cubic(), l, kind), System(2000, 700, 6.0, 5 * l, f[0], f[1]), true,
                    selection(true, 0.2), "two groups, l " + std::to_string(l));
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
    check_order(tested(table, 6, kind), System(3000, 1000, 6.0, 37), false, selection(false, 0.2),
                "types");
}

TEST(ResidentOrientOrder, equals_the_host_after_moves_within_the_skin)
{
  for (const OrderKind kind : KINDS) check_moves(tested(cubic(), 6, kind));
}

TEST(ResidentOrientOrder, equals_the_host_from_host_arrays_of_one_version)
{
  for (const OrderKind kind : KINDS) check_versions(tested(cubic(), 6, kind));
}

TEST(ResidentOrientOrder, equals_the_host_with_communication)
{
  for (const OrderKind kind : KINDS) check_communication(tested(cubic(), 6, kind));
}
