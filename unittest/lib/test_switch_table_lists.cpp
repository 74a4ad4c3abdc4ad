// Part of GPUCOORD, GPL-2.0. Lists of atoms of several types, whose types and weights change
// between evaluations, and windows: the engines of every backend (backends.h), compared with brute
// force that shares no code with them.

#include "backends.h"
#include "brute_force.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"
#include "switch_tables.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using gpucoord::WINDOWED;

namespace {

// ---- changes between evaluations of one backend, which may keep lists and buffers

class Changes : public testing::Test {
 protected:
  // The list has this version, whatever else changes.
  void check(const Table &table, const System &s, const std::vector<int> &type,
             std::int64_t version, Coordination &backend, const std::string &what,
             unsigned want = EVERYTHING, bool special = false)
  {
    const auto rows = rows_of(s);
    const Neighbors neighbors(s, table.library.dmax());
    ListInput list = list_input(s, *rows, neighbors);
    list.types = {type.data(), table.flat_weight.data()};
    list.version = version;
    if (special) list.special = SPECIAL;
    CellsInput cells = cells_input(s, *rows);
    cells.types = list.types;
    const brute::TypePairs terms = table.exact(extent_of(s), true);
    const brute::Sums exact = brute_sums(s, terms, type);
    expect_equal(run_input(backend, list, s.nlocal, want),
                 special ? brute_sums(s, terms, type, special_weight) : exact, Precision::DOUBLE,
                 want, what + ", list");
    expect_equal(run_input(backend, cells, s.nlocal, want), exact, Precision::DOUBLE, want,
                 what + ", cells");
  }
};

TEST_F(Changes, types_with_the_same_version_of_lists)
{
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    const System s = dense_system(300, groups, 80, 150);
    const Table table = random_table(3, 3, 151);
    const auto backend = make_backend(table.library, Precision::DOUBLE, 2);
    std::vector<int> type = random_types(300, 3, 152);
    check(table, s, type, 7, *backend, "first");
    check(table, s, type, 7, *backend, "again");
    for (const int row : {0, 219, 299})    // one owned atom, the last owned atom, the last ghost
      for (const unsigned want : {unsigned(VALUE), EVERYTHING}) {
        type[row] = 1 + type[row] % 3;
        check(table, s, type, 7, *backend, "row " + std::to_string(row) + " changed", want);
        check(table, s, type, 7, *backend, "row " + std::to_string(row) + " changed before");
      }
    check(table, s, type, 7, *backend, "special weights", EVERYTHING, true);
    check(table, s, type, 7, *backend, "no special weights");
    check(table, s, random_types(300, 3, 153), 8, *backend, "all types and the version");
    check(table, s, type, 7, *backend, "the version before");
  }
}

// The last rows are ghosts without partners. They are therefore in no list by class.
TEST_F(Changes, type_of_a_ghost_that_did_not_interact)
{
  Table table(2, {built_in(rational(6, 12, 0.5, 0.0, 1.6))});
  table.set(1, 1, 0);    // type 2 does not contribute to S
  const System s = dense_system(100, Groups::ONE, 60, 154);
  std::vector<int> type(100, 1);
  std::fill(type.end() - 40, type.end(), 2);
  const auto backend = make_backend(table.library, Precision::DOUBLE, 1);
  check(table, s, type, 3, *backend, "ghosts without partners");
  std::fill(type.end() - 20, type.end(), 1);
  check(table, s, type, 3, *backend, "ghosts with partners");
}

// The atoms of b have partners far from those of a. If only the value is requested, the evaluation
// does not need them.
TEST_F(Changes, type_of_a_partner_of_group_b_after_the_value_alone)
{
  Table table(2, {built_in(rational(6, 12, 0.5, 0.0, 1.6))});
  table.set(1, 1, 0);
  const std::vector<double> x =
      joined(random_points(60, 2, 2, 2, 0, 163), random_points(40, 2, 2, 2, 50, 164));
  System s = make_system(x, Groups::DISJOINT, 20);
  for (int k = 0; k < 100; ++k) s.member[k] = k < 60 ? 1 + k % 2 : k < 80 ? 2 : 1;
  std::vector<int> type(100, 1);
  type[0] = 2;    // makes the types differ
  const auto backend = make_backend(table.library, Precision::DOUBLE, 1);
  check(table, s, type, 3, *backend, "all");
  check(table, s, type, 3, *backend, "value", VALUE);
  type[99] = 2;    // a ghost in a, next to owned atoms in b
  check(table, s, type, 3, *backend, "all again");
}

TEST_F(Changes, number_of_atoms_in_lists_of_unknown_version)
{
  const Table table = random_table(3, 3, 155);
  const auto backend = make_backend(table.library, Precision::DOUBLE, 1);
  for (const int n : {300, 20, 0, 100, 1, 400})
    check(table, dense_system(n, Groups::OVERLAPPING, n / 4, 156), random_types(n, 3, 156), 0,
          *backend, std::to_string(n));
}

TEST_F(Changes, weights_count_at_once)
{
  const System s = dense_system(200, Groups::OVERLAPPING, 50, 157);
  const std::vector<int> type = random_types(200, 3, 158);
  Table table(3, all_kinds());
  for (int i = 1; i <= 3; ++i)
    for (int j = 1; j <= i; ++j) table.set(i, j, i + j);
  const auto backend = make_backend(table.library, Precision::DOUBLE, 2);
  std::mt19937_64 random(159);
  for (int round = 0; round < 8; ++round) {
    check(table, s, type, 5, *backend, "round " + std::to_string(round));
    const int i = 1 + static_cast<int>(random() % 3), j = 1 + static_cast<int>(random() % 3);
    table.set_weight(i, j, table.weight[i][j] == 0.0 ? 1.5 : random() % 2 ? 0.0 : -2.0);
  }
  for (int i = 1; i <= 3; ++i)
    for (int j = 1; j <= i; ++j) table.set_weight(i, j, 0.0);
  check(table, s, type, 5, *backend, "no weights");
}

// ---- lists

TEST(List, takes_all_atoms_where_no_members_are_given)
{
  System s = dense_system(200, Groups::ONE, 60, 160);
  std::fill(s.member.begin(), s.member.end(), 1);
  const auto rows = rows_of(s);
  const std::vector<int> type = random_types(200, 3, 161);
  for (const bool typed : {false, true}) {
    Table table = typed ? random_table(3, 3, 162) : Table(1, {all_kinds()[0]});
    if (!typed) table.set(1, 1, 0);
    const SwitchTable library = typed ? table.library : Switch(table.functions[0].options);
    const std::vector<int> types = typed ? type : std::vector<int>(200, 1);
    const brute::TypePairs terms = table.exact(extent_of(s), typed);
    const Neighbors neighbors(s, library.dmax());
    for (const bool special : {false, true}) {
      ListInput list = list_input(s, *rows, neighbors);
      list.member = nullptr;
      if (typed) list.types = {types.data(), table.flat_weight.data()};
      if (special) list.special = SPECIAL;
      const brute::Sums exact = special ? brute_sums(s, terms, types, special_weight)
                                        : brute_sums(s, terms, types);
      for (const Precision precision : PRECISIONS)
        for (const unsigned want : ALL_WANTS)
          expect_equal(run_input(*make_backend(library, precision, 1), list, s.nlocal, want), exact,
                       precision, want, std::string("no members ") + name_of(precision));
    }
  }
}

// A table without types has one pair of types, 0 and 0.
TEST(List, and_cells_take_a_weight_without_types)
{
  const System s = dense_system(100, Groups::ONE, 0, 163);
  Table table(1, {all_kinds()[0]});
  table.set(1, 1, 0, -3.0);
  const brute::Sums exact =
      brute_sums(s, table.exact(extent_of(s), true), std::vector<int>(100, 1));
  const auto backend = make_backend(Switch(table.functions[0].options), Precision::DOUBLE, 1);
  const double weight = -3.0;
  const auto rows = rows_of(s);
  const Neighbors neighbors(s, table.library.dmax());
  ListInput list = list_input(s, *rows, neighbors);
  CellsInput cells = cells_input(s, *rows);
  list.types.weight = cells.types.weight = &weight;
  expect_equal(run_input(*backend, list, s.nlocal, EVERYTHING), exact, Precision::DOUBLE,
               EVERYTHING, "list");
  expect_equal(run_input(*backend, cells, s.nlocal, EVERYTHING), exact, Precision::DOUBLE,
               EVERYTHING, "cells");
}

// ---- windows

Window window(double rise_begin, double rise_end, double fall_begin, double fall_end)
{
  Window w;
  w.rise_begin = rise_begin;
  w.rise_end = rise_end;
  w.fall_begin = fall_begin;
  w.fall_end = fall_end;
  return w;
}
const Window WHOLE;
const Window INNER = window(WHOLE.rise_begin, WHOLE.rise_end, 0.3, 0.55),
             MIDDLE = window(0.3, 0.55, 0.8, 0.9),
             OUTER = window(0.8, 0.9, WHOLE.fall_begin, WHOLE.fall_end);

class Windows : public testing::Test {
 protected:
  const std::vector<int> type = random_types(300, 3, 171);
  Table table{3, all_kinds()};
  void SetUp() override
  {
    int k = 0;
    for (int i = 1; i <= 3; ++i)
      for (int j = 1; j <= i; ++j)
        table.set(i, j, k++ + 3, 0.5 * (i + j) - 2);    // includes cubic, q and custom
  }
  Result run(const System &s, Precision precision, const Window &w,
             unsigned want = DERIVATIVES | WINDOWED)
  {
    const auto rows = rows_of(s);
    const Neighbors neighbors(s, table.library.dmax());
    ListInput list = list_input(s, *rows, neighbors);
    list.types = {type.data(), table.flat_weight.data()};
    list.special = SPECIAL;
    list.window = w;
    return run_input(*make_backend(table.library, precision, 2), list, s.nlocal, want);
  }
};

TEST_F(Windows, derivatives_equal_brute_force)
{
  const Window steep = window(0.5, 0.5, 0.8, 0.8);
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    const System s = dense_system(300, groups, 100, 172);
    for (const Window &w : {WHOLE, INNER, MIDDLE, OUTER, steep}) {
      const brute::TypePairs terms = table.exact(extent_of(s), true, &w);
      const brute::Sums exact = brute_sums(s, terms, type, special_weight);
      for (const Precision precision : PRECISIONS)
        expect_equal(run(s, precision, w), exact, precision, DERIVATIVES | WINDOWED,
                     std::string(name_of(precision)) + " rise " + std::to_string(w.rise_begin));
    }
  }
}

TEST_F(Windows, three_levels_add_up_to_the_whole_derivative)
{
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
    for (const Precision precision : PRECISIONS) {
      const System s = dense_system(300, groups, 100, 173);
      const Result whole = run(s, precision, WHOLE, DERIVATIVES);
      const Result part[3] = {run(s, precision, INNER), run(s, precision, MIDDLE),
                              run(s, precision, OUTER)};
      double largest = 0;
      for (int k = 0; k < s.nlocal; ++k)
        for (int c = 1; c < 4; ++c) {
          double sum = 0;
          for (const Result &p : part) sum += p.peratom[4 * k + c];
          largest = std::max(largest, std::fabs(whole.peratom[4 * k + c]));
          // About ten terms of order 1.
          EXPECT_NEAR(sum, whole.peratom[4 * k + c], 40 * eps_of(precision)) << name_of(precision);
        }
      EXPECT_GT(largest, 1.0);
      for (const Result &p : part) {
        EXPECT_EQ(p.sum.value, 0.0);
        EXPECT_EQ(p.peratom[0], 0.0);
      }
    }
}

TEST_F(Windows, are_forgotten_by_the_next_evaluation)
{
  const System s = dense_system(300, Groups::ONE, 100, 174);
  const auto rows = rows_of(s);
  const Neighbors neighbors(s, table.library.dmax());
  ListInput list = list_input(s, *rows, neighbors);
  list.types = {type.data(), table.flat_weight.data()};
  const auto backend = make_backend(table.library, Precision::DOUBLE, 1);
  const Result before = run_input(*backend, list, s.nlocal, EVERYTHING);
  list.window = MIDDLE;
  run_input(*backend, list, s.nlocal, DERIVATIVES | WINDOWED);
  EXPECT_TRUE(same_bits(before, run_input(*backend, list, s.nlocal, EVERYTHING)));
}

}    // namespace
