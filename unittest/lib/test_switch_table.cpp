// Part of GPUCOORD, GPL-2.0. Functions of pairs of atom types, weights, special weights and shifted
// functions: the engines of every backend (backends.h), compared with brute force that shares no
// code with them. test_switch_table_lists.cpp tests lists of such atoms.

#include "../../lib/gpucoord/src/switching/type_classes.h"
#include "backends.h"
#include "brute_force.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"
#include "switch_tables.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

using gpucoord::TypeClasses;

namespace {

// Checks engines cells and list with weights, allpairs and the reference loops, for a table with
// types.
void check_engines(const Table &table, const System &s, const std::vector<int> &type,
                   const std::string &what, int nthreads = 1)
{
  const double extent = extent_of(s);
  const brute::TypePairs weighted = table.exact(extent, true), bare = table.exact(extent, false);
  const brute::Sums exact = brute_sums(s, weighted, type),
                    exact_special = brute_sums(s, weighted, type, special_weight),
                    exact_bare = brute_sums(s, bare, type);
  const auto rows = rows_of(s);
  CellsInput cells = cells_input(s, *rows);
  cells.types = {type.data(), table.flat_weight.data()};
  const Neighbors neighbors(s, table.library.dmax());
  ListInput list = list_input(s, *rows, neighbors);
  list.types = cells.types;
  ListInput special_list = list;
  special_list.special = SPECIAL;
  CellsInput unweighted = cells;
  unweighted.types.weight = nullptr;
  Gathered gathered(s, brute::Cell());
  std::vector<int> type_a, type_b;
  for (const int k : gathered.rowa) type_a.push_back(type[k]);
  for (const int k : gathered.rowb) type_b.push_back(type[k]);
  gathered.in.a.type = type_a.data();
  gathered.in.b.type = type_b.data();
  const bool owned = s.nlocal == s.nall();
  for (const Precision precision : PRECISIONS) {
    const auto backend = make_backend(table.library, precision, nthreads);
    for (const unsigned want : ALL_WANTS) {
      const auto check = [&](const auto &in, const brute::Sums &expected, const char *engine) {
        expect_equal(run_input(*backend, in, s.nlocal, want), expected, precision, want,
                     what + " " + name_of(precision) + " " + engine);
      };
      check(cells, exact, "cells");
      check(unweighted, exact_bare, "cells without weights");
      check(list, exact, "list");
      check(special_list, exact_special, "list with special weights");
      if (owned) check(gathered.in, exact_bare, "allpairs");
    }
  }
  for (const unsigned want : {unsigned(VALUE), EVERYTHING}) {
    const auto by_cells = [&](double *out) {
      return gpucoord::reference_cells(table.library, cells, want, out);
    };
    expect_equal(result_of(s.nlocal, want, by_cells), exact, Precision::DOUBLE, want,
                 what + " reference_cells");
    if (!owned) continue;
    const auto by_allpairs = [&](double *out) {
      return gpucoord::reference_allpairs(table.library, gathered.in, want, out);
    };
    expect_equal(result_of(s.nlocal, want, by_allpairs), exact_bare, Precision::DOUBLE, want,
                 what + " reference_allpairs");
  }
}

// ---- every engine

TEST(Types, engines_equal_brute_force_for_any_number_of_atoms_and_types)
{
  unsigned seed = 0;
  for (const int n : {0, 1, 2, 33, 150})
    for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
      for (int ntypes = 1; ntypes <= 5; ++ntypes)
        for (const int nkinds : {2, 5})
          for (const int ghosts : {0, n / 3}) {
            ++seed;
            const System s = dense_system(n, groups, ghosts, seed);
            check_engines(random_table(ntypes, std::min(nkinds, ntypes), seed), s,
                          random_types(n, ntypes, seed),
                          std::to_string(n) + " atoms of " + std::to_string(ntypes) +
                              " types, seed " + std::to_string(seed));
            if (HasFailure()) return;
          }
}

TEST(Types, engines_equal_brute_force_for_1000_and_3000_atoms)
{
  for (const auto &[n, ghosts, groups, nkinds] :
       {std::tuple{1000, 0, Groups::OVERLAPPING, 5}, std::tuple{1000, 300, Groups::ONE, 2},
        std::tuple{3000, 700, Groups::ONE, 3}})
    check_engines(random_table(5, nkinds, 101), dense_system(n, groups, ghosts, 101),
                  random_types(n, 5, 101), std::to_string(n) + " atoms", 2);
}

TEST(Types, each_kind_of_function_acts_between_its_two_types_alone)
{
  const auto kinds = all_kinds();
  for (int k = 0; k < static_cast<int>(kinds.size()); ++k) {
    Table table(3, kinds);
    table.set(1, 3, k);
    check_engines(table, dense_system(120, Groups::ONE, 0, 102 + k), random_types(120, 3, 102 + k),
                  "kind " + std::to_string(k));
  }
}

// There are more types than one or two vector registers have elements. The functions of one kind
// differ in all of their parameters, in r0 alone, or not at all; weights differ in any case.
TEST(Types, engines_equal_brute_force_for_many_types)
{
  std::vector<SwitchCase> one_kind, one_range, all_functions = all_kinds();
  for (int k = 0; k < 30; ++k) {
    one_kind.push_back(built_in(rational(6, 12, 0.4 + 0.01 * k, 0.0, 0.9 + 0.02 * k)));
    one_range.push_back(built_in(rational(6, 12, 0.4 + 0.01 * k, 0.0, 1.2)));
  }
  std::vector<SwitchCase> one_function = {one_range.front()};
  for (int k = 0; k < 4; ++k) {
    const double by = 0.1 * k;
    for (const auto &options :
         {rational(6, 12, 0.4 + by, 0.05, 1.3),
          rational(5.5 + by, 12.3 + 3 * by, 0.5, 0.0, 1.3 - by),
          smap(6 + 2 * k, 3 + k, 0.5 + by, 0.0, 1.5), smap(8, 4 + k, 0.6, 0.1 * by, 1.4),
          native(5.0 + k, 1.2 + by, 0.5 - 0.02 * k, 1.5), plain(SwitchKind::EXP, 0.3 + by, by, 1.2),
          plain(SwitchKind::GAUSSIAN, 0.4 + by, 0.0, 1.3),
          plain(SwitchKind::TANH, 0.4 + by, by, 1.1),
          plain(SwitchKind::COSINUS, 1.0 + by, by, 1.2 + by),
          plain(SwitchKind::CUBIC, NO, by, 1.2)})
      all_functions.push_back(built_in(options));
    all_functions.push_back(custom("1/(1+x^8)", rational(8, 16, 0.5 + by, 0.0, 1.2)));
  }
  for (const int ntypes : {9, 16, 17, 20, 32, 33, 40})
    for (const auto *functions : {&one_kind, &one_range, &one_function, &all_functions}) {
      const auto n = static_cast<int>(functions->size());
      Table table(ntypes, *functions);
      for (int i = 1; i <= ntypes; ++i)
        for (int j = i; j <= ntypes; ++j)
          table.set(i, j, (7 * i * j + i + j) % n, 1.0 - 0.02 * ((i + j) % 83));
      check_engines(table, dense_system(250, Groups::OVERLAPPING, 60, 140 + ntypes),
                    random_types(250, ntypes, 141),
                    std::to_string(ntypes) + " types, " + std::to_string(n) + " functions");
    }
}

TEST(Types, a_table_without_any_pair_gives_nothing)
{
  const Table table(2, all_kinds());
  check_engines(table, dense_system(100, Groups::ONE, 0, 120), random_types(100, 2, 120),
                "all NONE");
}

TEST(Types, some_or_all_types_have_no_atoms)
{
  for (const int only : {1, 4}) {
    const System s = dense_system(200, Groups::OVERLAPPING, 40, 121);
    check_engines(random_table(5, 5, 121), s, std::vector<int>(200, only), "all of one type");
  }
}

TEST(Types, ranges_may_differ_twentyfold)
{
  Table table(2,
              {built_in(rational(6, 12, 0.1, 0.0, 0.2)), built_in(rational(6, 12, 1.0, 0.0, 4.0))});
  table.set(1, 1, 0);
  table.set(2, 2, 1);
  table.set(1, 2, 0, -2.0);
  check_engines(table, make_system(random_points(800, 3, 3, 9, 0, 122), Groups::ONE),
                random_types(800, 2, 122), "two ranges");
}

TEST(Types, pairs_equal_brute_force)
{
  const brute::Cell cell;    // test_coordination tests images
  for (const int n : {0, 1, 64, 1000})
    for (int ntypes = 1; ntypes <= 5; ++ntypes) {
      const int nlocal = 60;
      const unsigned seed = 130 + n + ntypes;
      const Table table = random_table(ntypes, ntypes, seed);
      const std::vector<double> xa = random_points(n, 1, 1, 1, 0, seed),
                                xb = random_points(n, 1, 1, 1, 0, seed + 1);
      const std::vector<int> type_a = random_types(n, ntypes, seed),
                             type_b = random_types(n, ntypes, seed + 1);
      const brute::TypePairs terms = table.exact(2.0, false);
      brute::Sums exact(nlocal);
      std::vector<int> row_a, row_b;
      for (int k = 0; k < n; ++k) {
        row_a.push_back(k % 7 ? k * 3 % nlocal : -1);
        row_b.push_back(k % 5 ? k * 7 % nlocal : -1);
        const brute::Vector d = {(brute::Real) xb[3 * k] - xa[3 * k],
                                 (brute::Real) xb[3 * k + 1] - xa[3 * k + 1],
                                 (brute::Real) xb[3 * k + 2] - xa[3 * k + 2]};
        terms.add(type_a[k], type_b[k], d, row_a[k] >= 0 ? 1 : 0, row_a[k], exact);
        terms.add(type_a[k], type_b[k], d, 0, row_b[k], exact, -1);
      }
      PairsInput in;
      in.box = gpucoord::make_box(cell.edges, cell.periodic);
      in.n = n;
      in.xa = xa.data();
      in.xb = xb.data();
      in.row_a = row_a.data();
      in.row_b = row_b.data();
      in.type_a = type_a.data();
      in.type_b = type_b.data();
      for (const unsigned want : ALL_WANTS) {
        for (const Precision precision : PRECISIONS)
          expect_equal(run_input(*make_backend(table.library, precision, 1), in, nlocal, want),
                       exact, precision, want, std::string("pairs ") + name_of(precision));
        const auto reference = [&](double *out) {
          return gpucoord::reference_pairs(table.library, in, want, out);
        };
        expect_equal(result_of(nlocal, want, reference), exact, Precision::DOUBLE, want,
                     "reference_pairs");
      }
    }
}

// ---- bits

// cells, list, allpairs and pairs over one system of owned atoms, with or without types.
class EveryEngine {
 public:
  EveryEngine(Groups groups, const std::vector<int> *type, const double *weight, double dmax) :
      s(dense_system(700, groups, 0, 140)), rows(rows_of(s)), neighbors(s, dmax),
      gathered(s, brute::Cell())
  {
    cells = cells_input(s, *rows);
    list = list_input(s, *rows, neighbors);
    pairs.n = 300;
    pairs.xa = s.x.data();
    pairs.xb = s.x.data() + 3 * 400;
    for (int k = 0; k < 300; ++k) row.push_back(k % 90);
    pairs.row_a = pairs.row_b = row.data();
    if (!type) return;
    cells.types = list.types = {type->data(), weight};
    for (const int k : gathered.rowa) type_a.push_back((*type)[k]);
    for (const int k : gathered.rowb) type_b.push_back((*type)[k]);
    gathered.in.a.type = type_a.data();
    gathered.in.b.type = type_b.data();
    pairs.type_a = type->data();
    pairs.type_b = type->data() + 400;
  }
  EveryEngine(const EveryEngine &) = delete;
  std::vector<Result> results(const SwitchTable &table, Precision precision, int nthreads) const
  {
    std::vector<Result> found;
    const auto backend = make_backend(table, precision, nthreads);
    for (const unsigned want : ALL_WANTS) {
      found.push_back(run_input(*backend, cells, s.nlocal, want));
      found.push_back(run_input(*backend, list, s.nlocal, want));
      found.push_back(run_input(*backend, gathered.in, s.nlocal, want));
      found.push_back(run_input(*backend, pairs, s.nlocal, want));
    }
    return found;
  }

 private:
  const System s;
  const std::unique_ptr<Rows> rows;
  const Neighbors neighbors;
  Gathered gathered;
  std::vector<int> row, type_a, type_b;
  CellsInput cells;
  ListInput list;
  PairsInput pairs;
};

void expect_same_bits(const std::vector<Result> &a, const std::vector<Result> &b,
                      const std::string &what)
{
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_TRUE(same_bits(a[k], b[k])) << what << " result " << k;
}

TEST(Bits, are_the_same_for_1_and_3_threads)
{
  const std::vector<int> type = random_types(700, 5, 141);
  const Table table = random_table(5, 4, 141);
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    const EveryEngine every(groups, &type, table.flat_weight.data(), table.library.dmax());
    for (const Precision precision : PRECISIONS) {
      const auto one = every.results(table.library, precision, 1);
      EXPECT_NE(one[0].sum.value, 0.0);
      expect_same_bits(one, every.results(table.library, precision, 3), name_of(precision));
    }
  }
}

TEST(Bits, table_with_one_function_has_those_of_the_function)
{
  const std::vector<int> type = random_types(700, 3, 142);
  auto functions = all_kinds();
  std::rotate(functions.begin(), functions.begin() + 1,
              functions.end());    // the longest range is the last
  const int last = static_cast<int>(functions.size()) - 1;
  Table table(3, functions);
  for (int i = 1; i <= 3; ++i)
    for (int j = 1; j <= i; ++j) table.set(i, j, last);
  const double dmax = table.library.dmax();
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    const EveryEngine typed(groups, &type, table.flat_weight.data(), dmax),
        plain(groups, nullptr, nullptr, dmax);
    for (const Precision precision : PRECISIONS)
      expect_same_bits(typed.results(table.library, precision, 2),
                       plain.results(Switch(functions[last].options), precision, 2),
                       name_of(precision));
  }
}

// ---- shifted functions

TEST(Shifted, functions_end_at_0_with_unchanged_derivative)
{
  for (SwitchCase c : switch_cases()) {
    c.options.stretch = c.formula.stretch = false;
    const Switch plain(c.options);
    const SwitchCase moved = shifted(c);
    const Switch function(moved.options);
    if (!plain.has_end()) {
      EXPECT_FALSE(function.options().shifted) << c.name;
      EXPECT_EQ(function.evaluate(0.0), 1.0) << c.name;
      EXPECT_EQ(function.description(), plain.description());
      continue;
    }
    const double end = plain.dmax();
    const closed::Function<closed::Quad> exact(formula_of(c, plain));
    const double at_end = static_cast<double>(exact(end).s);
    EXPECT_EQ(function.evaluate(end), 0.0) << c.name;
    EXPECT_EQ(function.value_at_dmax(), 0.0) << c.name;
    EXPECT_NEAR(function.evaluate(0.0), 1.0 - at_end, 4 * EPS_DOUBLE) << c.name;
    EXPECT_NEAR(function.top(), 1.0 - at_end, 4 * EPS_DOUBLE) << c.name;
    EXPECT_EQ(function.derivative_at_dmax(), plain.derivative_at_dmax()) << c.name;
    for (const Precision precision : {Precision::DOUBLE, Precision::SINGLE})
      for (int k = 0; k <= 40; ++k) {
        const double r = k == 40 ? 1.1 * end : end * k / 40;
        double derivative, expected;
        const double s = function.evaluate(r, &derivative, precision);
        const double unshifted = plain.evaluate(r, &expected, precision);
        EXPECT_NEAR(s, k == 40 ? 0.0 : unshifted - at_end, 2 * eps_of(precision))
            << c.name << " at " << r;
        EXPECT_EQ(derivative, expected) << c.name << " at " << r;
      }
    std::string words = plain.description();
    words.replace(words.find("not stretched"), 13, "shifted");
    EXPECT_EQ(function.description(), words);
  }
}

TEST(Shifted, has_no_effect_on_a_stretched_function)
{
  SwitchOptions o = rational(6, 12, 0.5, 0.0, 1.6);
  const Switch stretched(o);
  o.shifted = true;
  const Switch both(o);
  EXPECT_FALSE(both.options().shifted);
  EXPECT_EQ(both.description(), stretched.description());
  EXPECT_EQ(both.evaluate(0.0), 1.0);
  EXPECT_EQ(both.evaluate(0.7), stretched.evaluate(0.7));
}

// ---- classes

TEST(Classes, join_the_types_that_differ_in_nothing_and_keep_what_is_between_them)
{
  for (unsigned seed = 200; seed < 300; ++seed) {
    const int ntypes = 1 + static_cast<int>(seed % 9);
    const Table table = random_table(ntypes, 1 + static_cast<int>(seed % ntypes), seed);
    for (const bool weighted : {false, true}) {
      const TypeClasses classes(table.library, weighted ? table.flat_weight.data() : nullptr);
      const auto weight = [&](int i, int j) {
        return weighted ? table.weight[i][j] : 1.0;
      };
      int largest = 0;
      for (int i = 1; i <= ntypes; ++i) {
        largest = std::max(largest, classes.index(i));
        for (int j = 1; j <= ntypes; ++j) {
          bool same = true;
          for (int k = 1; k <= ntypes; ++k)
            same = same && table.number[i][k] == table.number[j][k] && weight(i, k) == weight(j, k);
          EXPECT_EQ(classes.index(i) == classes.index(j), same)
              << "types " << i << ' ' << j << " seed " << seed;
          const auto &between = classes(classes.index(i), classes.index(j));
          EXPECT_EQ(between.function, table.number[i][j]);
          EXPECT_EQ(between.weight, weight(i, j));
          EXPECT_EQ(between.exists(),
                    table.number[i][j] != brute::TypePairs::NONE && weight(i, j) != 0.0);
        }
      }
      EXPECT_EQ(classes.size(), largest + 1);    // no class is empty
    }
  }
}

TEST(Classes, are_grouped_by_the_classes_that_they_have_functions_with)
{
  const auto groups_of = [](const Table &table) {
    return gpucoord::ClassGroups(TypeClasses(table.library, table.flat_weight.data())).indices();
  };
  Table all(3, all_kinds()), one_pair(3, all_kinds()), weighted(3, all_kinds()),
      none(3, all_kinds());
  for (int i = 1; i <= 3; ++i)
    for (int j = i; j <= 3; ++j) {
      all.set(i, j, (i + j) % 4);
      weighted.set(i, j, 0, i == 3 && j == 3 ? 0.0 : i + j);
    }
  one_pair.set(1, 2, 0);
  Table between_two(4, all_kinds());    // 1 and 2 with 3 and 4
  for (const int i : {1, 2})
    for (const int j : {3, 4}) between_two.set(i, j, i + j);
  EXPECT_EQ(groups_of(all), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(groups_of(weighted), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(groups_of(one_pair), (std::vector<int>{0, 0, 1, 2}));
  EXPECT_EQ(groups_of(between_two), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(groups_of(none), (std::vector<int>{0, 0, 0, 0}));
}

TEST(Classes, table_without_types_has_one)
{
  const TypeClasses classes(Switch(rational(6, 12, 0.5)), nullptr);
  EXPECT_EQ(classes.size(), 1);
  EXPECT_EQ(classes(0, 0).function, 0);
  EXPECT_EQ(classes(0, 0).weight, 1.0);
}

TEST(Classes, sort_atoms_in_the_order_of_the_list_owned_ones_first)
{
  Table table(3, all_kinds());
  table.set(1, 1, 0);
  table.set(2, 2, 1);    // three classes: 3 has no partners
  const TypeClasses classes(table.library, nullptr);
  ASSERT_EQ(classes.size(), 3);
  const std::vector<int> type = {2, 1, 3, 1, 2, 1, 1, 2}, index = {6, 0, 4, 1, 7, 3};
  gpucoord::AtomsByClass atoms;
  const std::vector<std::vector<int>> expected = {{6, 1, 3}, {0, 4, 7}, {}};
  const int owned[] = {2, 2, 0}, first[] = {0, 3, 6};
  for (int again = 0; again < 2; ++again) {
    atoms.sort({index.data(), 6, 4}, type.data(), classes);
    EXPECT_EQ(atoms.all().n, 6);
    for (int t = 1; t <= 3; ++t) {
      const AtomList list = atoms[classes.index(t)];
      EXPECT_EQ(std::vector<int>(list.index, list.index + list.n), expected[t - 1]);
      EXPECT_EQ(list.nowned, owned[t - 1]);
      EXPECT_EQ(list.index - atoms.all().index, first[t - 1]);
    }
    const AtomList none = {index.data(), 0, 0};
    atoms.sort(none, type.data(), classes);
    EXPECT_EQ(atoms.all().n, 0);
  }
}

}    // namespace
