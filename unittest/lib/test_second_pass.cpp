// Part of GPUCOORD, GPL-2.0. The second pass over pairs of functions of coordination numbers, with
// any weights: the engines of every backend (backends.h) and the reference loops, compared with
// brute force that shares no code with them.

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
#include <memory>
#include <random>
#include <string>
#include <vector>

using gpucoord::SecondPass;

namespace {

// Returns weights up to this size, which may exceed the range of float. Some of them are 0.
std::vector<double> random_weights(int n, double size, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  std::vector<double> weights;
  for (int k = 0; k < n; ++k) weights.push_back(random() % 6 ? size * u(random) : 0.0);
  weights.push_back(0.0);    // never empty
  return weights;
}

// Replaces value and column 0 by those of sums without weights.
brute::Sums joined_sums(const brute::Sums &without, brute::Sums with)
{
  with.value = without.value;
  with.value_scale = without.value_scale;
  with.value_size = without.value_size;
  with.npairs = std::max(with.npairs, without.npairs);
  for (std::size_t k = 0; k < with.peratom.size(); k += brute::COLUMNS) {
    with.peratom[k] = without.peratom[k];
    with.peratom_scale[k] = without.peratom_scale[k];
  }
  return with;
}

// S = sum of w_i s_i over the atoms of a, with the terms of both atoms of each pair. If the atoms
// of a pair are on two ranks, W differs between backends: the host counts the term with the weight
// of the partner, and a GPU (by_halves) counts half of both terms, or, with two groups, the terms
// of the atoms of a.
brute::Sums weighted_sums(const System &s, const brute::TypePairs &pairs,
                          const std::vector<int> &type, const std::vector<double> &w,
                          bool by_halves)
{
  const brute::Real own_weight = by_halves ? (s.two ? 1 : brute::Real(0.5)) : 0,
                    partner_weight = 1 - own_weight;
  brute::Sums without(s.nlocal), with(s.nlocal);
  const unsigned char of_b = s.two ? 2 : 1;
  for (int i = 0; i < s.nlocal; ++i)
    for (int j = 0; j < s.nall(); ++j) {
      if (i == j) continue;
      brute::Vector d;
      for (int c = 0; c < 3; ++c) d[c] = brute::Real(s.x[3 * j + c]) - s.x[3 * i + c];
      if (s.member[i] & 1 && s.member[j] & of_b) {
        pairs.add(type[i], type[j], d, 1, i, without);
        pairs.add(type[i], type[j], d, own_weight, i, with, 1, w[i]);
      }
      if (s.member[i] & of_b && s.member[j] & 1)
        pairs.add(type[i], type[j], d, partner_weight, i, with, 1, w[j]);
    }
  return joined_sums(without, with);
}

// Runs an engine with these weights. Returns its results, and checks that s_i are in column 0.
template <class Input, class Run>
Result run_weighted(Input in, int nlocal, unsigned want, const std::vector<double> &weights,
                    Run run)
{
  std::vector<double> s(nlocal + 1, 0.0);
  int ncalls = 0;
  SecondPass second;
  second.s = s.data();
  second.nweights = static_cast<std::int64_t>(weights.size()) - 1;
  second.weights = [&] {
    ++ncalls;
    return weights.data();
  };
  in.second = &second;
  const Result r = result_of(nlocal, want, [&](double *out) {
    return run(in, want, out);
  });
  EXPECT_EQ(ncalls, 1);
  const int columns = peratom_columns(want);
  double sum = 0.0;
  for (int i = 0; i < nlocal; ++i) {
    sum += s[i];
    if (columns) EXPECT_EQ(r.peratom[columns * static_cast<std::size_t>(i)], s[i]);
  }
  EXPECT_NEAR(sum, r.sum.value, 1e-9 * (1.0 + std::fabs(sum)));
  return r;
}

void check_engines(const Table &table, const System &s, const std::vector<int> &type, double size,
                   const std::string &what, int nthreads = 1)
{
  const double extent = extent_of(s);
  const auto w = random_weights(s.nall(), size, s.nall() + 3);
  const brute::TypePairs by_type = table.exact(extent, true), bare = table.exact(extent, false);
  const bool by_halves = !on_host();
  const brute::Sums exact = weighted_sums(s, by_type, type, w, by_halves),
                    exact_bare = weighted_sums(s, bare, type, w, by_halves),
                    exact_reference = weighted_sums(s, by_type, type, w, false);
  const auto rows = rows_of(s);
  CellsInput cells = cells_input(s, *rows);
  cells.types = {type.data(), table.flat_weight.data()};
  CellsInput kept = cells;
  kept.version = 1;
  kept.skin = 0.3;
  const Neighbors neighbors(s, table.library.dmax());
  ListInput list = list_input(s, *rows, neighbors);
  list.types = cells.types;
  Gathered gathered(s, brute::Cell());
  std::vector<int> type_a, type_b;
  for (const int k : gathered.rowa) type_a.push_back(type[k]);
  for (const int k : gathered.rowb) type_b.push_back(type[k]);
  gathered.in.a.type = type_a.data();
  gathered.in.b.type = type_b.data();
  std::vector<double> w_of_a;
  for (const int k : gathered.rowa) w_of_a.push_back(w[k]);
  w_of_a.push_back(0.0);
  const bool owned = s.nlocal == s.nall();
  for (const Precision precision : PRECISIONS) {
    const auto backend = make_backend(table.library, precision, nthreads);
    const std::string label = what + " " + name_of(precision);
    for (const unsigned want :
         {unsigned(DERIVATIVES), unsigned(VIRIAL), DERIVATIVES | VIRIAL, EVERYTHING}) {
      const auto run = [&](const auto &in, unsigned wanted, double *out) {
        return evaluate(*backend, in, wanted, out);
      };
      expect_equal(run_weighted(cells, s.nlocal, want, w, run), exact, precision, want,
                   label + " cells");
      // A GPU lists the partners of kept pairs.
      expect_equal(run_weighted(kept, s.nlocal, want, w, run), exact, precision, want,
                   label + " kept cells");
      expect_equal(run_weighted(list, s.nlocal, want, w, run), exact, precision, want,
                   label + " list");
      if (owned)
        expect_equal(run_weighted(gathered.in, s.nlocal, want, w_of_a, run), exact_bare, precision,
                     want, label + " allpairs");
    }
  }
  for (const unsigned want : {unsigned(VIRIAL), EVERYTHING}) {
    const auto by_cells = [&](const CellsInput &in, unsigned wanted, double *out) {
      return gpucoord::reference_cells(table.library, in, wanted, out);
    };
    expect_equal(run_weighted(cells, s.nlocal, want, w, by_cells), exact_reference,
                 Precision::DOUBLE, want, what + " reference_cells");
    if (!owned) continue;
    const auto by_allpairs = [&](const AllPairsInput &in, unsigned wanted, double *out) {
      return gpucoord::reference_allpairs(table.library, in, wanted, out);
    };
    expect_equal(run_weighted(gathered.in, s.nlocal, want, w_of_a, by_allpairs), exact_bare,
                 Precision::DOUBLE, want, what + " reference_allpairs");
  }
}

// A table of one function for all atoms, which are of type 1.
Table one_function(const SwitchCase &c)
{
  Table table(1, {c});
  table.set(1, 1, 0);
  table.library = SwitchTable(Switch(c.options));
  return table;
}

TEST(SecondPass, engines_equal_brute_force_for_any_groups_and_number_of_atoms)
{
  unsigned seed = 0;
  for (const int n : {0, 1, 2, 33, 257})
    for (const Groups groups : ALL_GROUPS)
      for (const int ghosts : {0, n / 3}) {
        ++seed;
        check_engines(one_function(built_in(rational(6, 12, 0.5, 0.0, 1.6))),
                      dense_system(n, groups, ghosts, seed), std::vector<int>(n, 1), 1.0,
                      std::to_string(n) + " atoms, groups " +
                          std::to_string(static_cast<int>(groups)));
        if (HasFailure()) return;
      }
}

TEST(SecondPass, engines_equal_brute_force_for_every_kind_of_function)
{
  for (const SwitchCase &c : all_kinds())
    for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
      check_engines(one_function(c), dense_system(150, groups, 0, 8), std::vector<int>(150, 1), 1.0,
                    c.name);
}

TEST(SecondPass, engines_equal_brute_force_for_types)
{
  unsigned seed = 0;
  for (const int n : {33, 150, 1000})
    for (const Groups groups : {Groups::ONE, Groups::DISJOINT, Groups::OVERLAPPING})
      for (const int nkinds : {1, 2, 5}) {
        ++seed;
        check_engines(random_table(5, nkinds, seed), dense_system(n, groups, n / 5, seed),
                      random_types(n, 5, seed), 1.0, "types, seed " + std::to_string(seed), 2);
        check_engines(random_table(5, nkinds, seed), dense_system(n, groups, 0, seed),
                      random_types(n, 5, seed), 1.0, "owned types, seed " + std::to_string(seed));
        if (HasFailure()) return;
      }
}

// The largest float is 3.4e38.
TEST(SecondPass, weights_may_be_of_any_size)
{
  for (const double size : {0.0, 1e-200, 1e-30, 1e30, 1e200})
    check_engines(one_function(built_in(rational(6, 12, 0.5, 0.0, 1.6))),
                  dense_system(150, Groups::ONE, 30, 5), std::vector<int>(150, 1), size,
                  "weights of " + std::to_string(size));
}

TEST(SecondPass, results_do_not_depend_on_the_number_of_threads)
{
  const Table table = random_table(5, 5, 3);
  const System s = dense_system(3000, Groups::OVERLAPPING, 500, 3);
  const auto type = random_types(3000, 5, 3);
  const auto w = random_weights(3000, 1.0, 4);
  const auto rows = rows_of(s);
  CellsInput in = cells_input(s, *rows);
  in.types = {type.data(), table.flat_weight.data()};
  const auto with_threads = [&](int n) {
    const auto backend = make_backend(table.library, Precision::MIXED, n);
    return run_weighted(in, s.nlocal, EVERYTHING, w,
                        [&](const CellsInput &input, unsigned want, double *out) {
                          return backend->cells(input, want, out);
                        });
  };
  const Result one = with_threads(1);
  for (const int n : {2, 3, 8}) EXPECT_TRUE(same_bits(with_threads(n), one)) << n << " threads";
}

// Atoms may be in several pairs, at either end; some are not owned.
TEST(SecondPass, pairs_equal_brute_force)
{
  constexpr int NATOMS = 40, NPAIRS = 100;
  const Switch function(rational(6, 12, 0.5, 0.0, 1.6));
  const brute::PairTerms terms(formula_of(built_in(function.options()), function), 4.0);
  std::mt19937_64 random(9);
  const auto x = random_points(NATOMS, 1.5, 1.5, 1.5, 0.0, 9);
  const auto w = random_weights(NATOMS, 2.0, 9);
  PairsInput in;
  std::vector<double> xa, xb, weights;
  std::vector<int> row_a, row_b;
  brute::Sums without(NATOMS), with(NATOMS);
  for (int k = 0; k < NPAIRS; ++k) {
    const int a = static_cast<int>(random() % NATOMS);
    const int b = (a + 1 + static_cast<int>(random() % (NATOMS - 1))) % NATOMS;
    const bool has_a = random() % 4 != 0, has_b = random() % 4 != 0;
    xa.insert(xa.end(), &x[3 * a], &x[3 * a] + 3);
    xb.insert(xb.end(), &x[3 * b], &x[3 * b] + 3);
    row_a.push_back(has_a ? a : -1);
    row_b.push_back(has_b ? b : -1);
    weights.push_back(w[a]);
    brute::Vector d, back;
    for (int c = 0; c < 3; ++c) {
      d[c] = brute::Real(x[3 * b + c]) - x[3 * a + c];
      back[c] = -d[c];
    }
    if (has_a) {
      terms.add(d, 1, a, without);
      terms.add(d, 1, a, with, 1, w[a]);
    }
    if (has_b) terms.add(back, 0, b, with, 1, w[a]);
  }
  weights.push_back(0.0);
  const brute::Sums exact = joined_sums(without, with);
  in.n = NPAIRS;
  in.box = gpucoord::make_box(brute::Cell().edges, brute::Cell().periodic);
  in.xa = xa.data();
  in.xb = xb.data();
  in.row_a = row_a.data();
  in.row_b = row_b.data();
  for (const unsigned want :
       {unsigned(DERIVATIVES), unsigned(VIRIAL), DERIVATIVES | VIRIAL, EVERYTHING}) {
    for (const Precision precision : PRECISIONS) {
      const auto backend = make_backend(function, precision, 2);
      expect_equal(run_weighted(in, NATOMS, want, weights,
                                [&](const PairsInput &input, unsigned wanted, double *out) {
                                  return backend->pairs(input, wanted, out);
                                }),
                   exact, precision, want, std::string("pairs ") + name_of(precision));
    }
    expect_equal(run_weighted(in, NATOMS, want, weights,
                              [&](const PairsInput &input, unsigned wanted, double *out) {
                                return gpucoord::reference_pairs(function, input, wanted, out);
                              }),
                 exact, Precision::DOUBLE, want, "reference_pairs");
  }
}

// Without weights, and with weights that are all 0, s_i are computed, but no derivatives.
TEST(SecondPass, is_left_out_without_weights)
{
  constexpr int N = 100;
  const System s = dense_system(N, Groups::ONE, 0, 2);
  const auto rows = rows_of(s);
  const Switch function(rational(6, 12, 0.5, 0.0, 1.6));
  const Neighbors neighbors(s, function.dmax());
  const std::vector<int> type(N, 1);
  Gathered gathered(s, brute::Cell());
  std::vector<double> xa, xb;
  std::vector<int> row_a, row_b;
  for (int k = 0; k + 1 < N; ++k) {
    xa.insert(xa.end(), &s.x[3 * k], &s.x[3 * k] + 3);
    xb.insert(xb.end(), &s.x[3 * k + 3], &s.x[3 * k + 3] + 3);
    row_a.push_back(k);
    row_b.push_back(k + 1);
  }
  PairsInput pairs;
  pairs.box = gpucoord::make_box(brute::Cell().edges, brute::Cell().periodic);
  pairs.n = N - 1;
  pairs.xa = xa.data();
  pairs.xb = xb.data();
  pairs.row_a = row_a.data();
  pairs.row_b = row_b.data();
  const std::vector<double> zeros(N, 0.0);
  const auto backend = make_backend(function, Precision::DOUBLE, 1);
  const auto check = [&](auto in, const double *weights, std::int64_t nweights,
                         const std::string &what) {
    std::vector<double> s_of_atoms(N, 0.0);
    SecondPass second;
    second.s = s_of_atoms.data();
    second.nweights = nweights;
    second.weights = [&] {
      return weights;
    };
    in.second = &second;
    const Result r = run_input(*backend, in, s.nlocal, EVERYTHING);
    EXPECT_GT(r.sum.value, 1.0) << what;
    for (const double w : r.sum.virial) EXPECT_EQ(w, 0.0) << what;
    for (std::size_t k = 0; k < r.peratom.size(); ++k) {
      if (k % 10 == 0)
        EXPECT_EQ(r.peratom[k], s_of_atoms[k / 10]) << what;
      else if (weights)
        EXPECT_EQ(r.peratom[k], 0.0) << what;
    }
  };
  for (const double *const weights : {static_cast<const double *>(nullptr), zeros.data()}) {
    check(cells_input(s, *rows), weights, N, "cells");
    check(list_input(s, *rows, neighbors), weights, N, "list");
    check(gathered.in, weights, N, "allpairs");
    check(pairs, weights, N - 1, "pairs");
  }
}

}    // namespace
