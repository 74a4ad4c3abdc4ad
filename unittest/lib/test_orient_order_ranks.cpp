// Part of GPUCOORD, GPL-2.0. Steinhardt order parameters on several ranks, compared with one rank.
// Each rank is a thread.

#include "order_ranks.h"
#include "order_systems.h"

#include "gpucoord/orient_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

bool is_sum(const OrientOrderOptions &options)
{
  return options.order != OrderKind::GLOBAL && AtomFunction(options.function).is_sum();
}

RankedOrder ranked(const OrderBackend &backend, const SwitchTable &table,
                   const OrientOrderOptions &options, const std::string &what = "")
{
  return {[=] {
            return backend.make(table, options);
          },
          is_sum(options), true,
          what + " " + backend.name + " " + name_of(options.order) + " l " +
              std::to_string(options.l)};
}

void check_ranks(const OrderSystem &whole, const std::vector<int> &rank_of, int nranks,
                 const SwitchTable &table, const OrientOrderOptions &options,
                 const std::string &what)
{
  for (const OrderBackend &backend : double_orders())
    check_ranks(whole, rank_of, nranks, ranked(backend, table, options, what));
}

const SwitchTable &smooth()
{
  static const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.3, 1.1));
  return table;
}

TEST(OrientOrderRanks, results_do_not_depend_on_the_number_of_ranks)
{
  unsigned seed = 0;
  for (const int nranks : {2, 4})
    for (const int l : {3, 6})
      for (const OrderKind kind : ALL_ORDERS)
        for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
          if (groups != Groups::ONE && !allows_two_groups(kind)) continue;
          if (vanishes(l, kind, groups != Groups::ONE)) continue;
          ++seed;
          const OrderSystem whole = random_order_system(40, groups, 1, true, 1.2, seed);
          check_ranks(whole, random_ranks(40, nranks, seed), nranks, smooth(),
                      order_options(l, kind, order_functions()[seed % 4]),
                      "seed " + std::to_string(seed));
          if (HasFailure()) return;
        }
}

// Functions that need sums or largest values over all ranks.
TEST(OrientOrderRanks, results_do_not_depend_on_the_number_of_ranks_if_S_is_no_sum)
{
  AtomFunctionOptions function;
  function.beta = 0.1;
  for (const auto kind : {AtomFunctionKind::MIN, AtomFunctionKind::MAX, AtomFunctionKind::ALT_MIN,
                          AtomFunctionKind::MOMENT}) {
    function.kind = kind;
    function.order = 2;
    const OrderSystem whole = random_order_system(30, Groups::ONE, 1, true, 1.2, 77);
    check_ranks(whole, random_ranks(30, 3, 5), 3, smooth(),
                order_options(6, OrderKind::AVERAGE, function), "no sum");
  }
}

TEST(OrientOrderRanks, a_rank_may_have_no_atoms)
{
  const OrderSystem whole = random_order_system(30, Groups::ONE, 1, true, 1.2, 3);
  for (const OrderKind kind : ALL_ORDERS)
    for (const int empty : {0, 2}) {
      std::vector<int> rank_of = random_ranks(30, 3, 3);
      for (int &rank : rank_of)
        if (rank == empty) rank = 1;
      check_ranks(whole, rank_of, 3, smooth(), order_options(6, kind, order_functions()[3]),
                  "empty rank");
    }
}

TEST(OrientOrderRanks, the_only_partner_of_an_atom_may_be_on_another_rank)
{
  // Pairs of atoms, and a chain, split at each bond.
  const OrderSystem pair = open_system({0, 0, 0, 0.5, 0.3, 0.4});
  const OrderSystem chain =
      open_system({0, 0, 0, 0.5, 0.3, 0.4, 0.9, 0.9, 0.3, 1.2, 1.0, 0.9, 5, 5, 5});
  const SwitchTable table = Switch(plain(SwitchKind::CUBIC, NO, 0.3, 0.9));
  for (const int l : {3, 6})
    for (const OrderKind kind : ALL_ORDERS) {
      if (vanishes(l, kind, false)) continue;
      check_ranks(chain, {0, 1, 0, 1, 1}, 2, table, order_options(l, kind), "chain");
      // The derivatives of a pair are 0, except those of average for odd l and of connections.
      if (l == 3 && kind == OrderKind::AVERAGE)
        check_ranks(pair, {1, 0}, 2, table, order_options(l, kind), "pair");
    }
}

// Options with several reductions.
OrientOrderOptions with_maximum(OrderKind kind)
{
  AtomFunctionOptions maximum;
  maximum.kind = AtomFunctionKind::MAX;
  maximum.beta = 0.1;
  return order_options(6, kind, maximum);
}

// An exchange that threw an exception does not count as made.
TEST(OrientOrderRanks, complete_exchanges_makes_the_exchanges_that_a_failed_evaluation_has_not_made)
{
  const OrderSystem whole = random_order_system(20, Groups::ONE, 1, true, 1.2, 8);
  for (const OrderBackend &backend : double_orders())
    for (const OrderKind kind : ALL_ORDERS) {
      check_failures(whole, ranked(backend, smooth(), with_maximum(kind)));
      EXPECT_TRUE(
          Failures(whole, ranked(backend, smooth(), order_options(6, kind)), EVERYTHING).run(-1));
      if (HasFailure()) return;
    }
}

}    // namespace
