// Part of GPUCOORD, GPL-2.0. The engines of every backend (backends.h) and the reference loops,
// compared with brute force that shares no code with them: without a box, for any groups, functions
// and shapes of systems.

#include "backends.h"
#include "brute_force.h"
#include "coordination_systems.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

namespace {

// Checks every engine without a box, and the reference loop, in every precision.
void check_engines(const SwitchCase &c, const System &s, const std::string &what,
                   std::initializer_list<Precision> precisions = {
                       Precision::DOUBLE, Precision::MIXED, Precision::SINGLE})
{
  const Switch function(c.options);
  const brute::PairTerms terms(formula_of(c, function), extent_of(s));
  const brute::Sums exact = brute::all_atoms(terms, s.x, s.nlocal, s.member, s.two);
  for (const Precision precision : precisions) {
    const auto backend = make_backend(function, precision, 1);
    const std::string label = what + " " + name_of(precision);
    for (const unsigned want : BOTH_FORMS) {
      if (function.has_end()) {
        expect_equal(run_cells(*backend, s, want), exact, precision, want, label + " cells");
        expect_equal(run_list(*backend, s, function.dmax(), want), exact, precision, want,
                     label + " list");
      }
      if (s.nlocal == s.nall())
        expect_equal(run_allpairs(*backend, s, brute::Cell(), want), exact, precision, want,
                     label + " allpairs");
    }
  }
  const auto rows = rows_of(s);
  const CellsInput in = cells_input(s, *rows);
  for (const unsigned want : BOTH_FORMS) {
    const Result r = result_of(s.nlocal, want, [&](double *out) {
      return gpucoord::reference_cells(function, in, want, out);
    });
    expect_equal(r, exact, Precision::DOUBLE, want, what + " reference_cells");
    if (s.nlocal < s.nall()) continue;
    const Gathered g(s, brute::Cell());
    const Result gathered = result_of(s.nlocal, want, [&](double *out) {
      return gpucoord::reference_allpairs(function, g.in, want, out);
    });
    expect_equal(gathered, exact, Precision::DOUBLE, want, what + " reference_allpairs");
  }
}

// ---- sizes and groups

TEST(Engines, equal_brute_force_for_any_number_of_atoms_and_any_groups)
{
  for (const int n : {0, 1, 2, 3, 31, 32, 33, 64, 65, 257})
    for (const Groups groups : ALL_GROUPS) {
      const double side = std::cbrt(n / 8.0 + 0.1);
      check_engines(
          built_in(DEFAULT), make_system(random_points(n, side, side, side, -1.0, n), groups),
          std::to_string(n) + " atoms, groups " + std::to_string(static_cast<int>(groups)));
    }
}

TEST(Engines, equal_brute_force_for_2000_atoms)
{
  for (const Groups groups : ALL_GROUPS)
    check_engines(built_in(DEFAULT), make_system(random_points(2000, 6, 7, 8, -3.0, 5), groups),
                  "2000 atoms");
}

TEST(Engines, equal_brute_force_where_1000_atoms_are_all_in_range)
{
  check_engines(built_in(rational(6, 12, 1.5, 0.0, 8.0)),
                make_system(random_points(1000, 2, 2, 2, -1.0, 6), Groups::ONE), "dense");
}

TEST(Engines, sum_owned_atoms_over_owned_and_ghost_atoms)
{
  for (const int n : {1, 2, 33, 600})
    for (const int ghosts : {0, 1, n / 2, n})
      for (const Groups groups : ALL_GROUPS) {
        const double side = std::cbrt(n / 8.0 + 0.1);
        check_engines(
            built_in(DEFAULT),
            make_system(random_points(n, side, side, side, 2.0, n), groups, std::min(ghosts, n)),
            std::to_string(ghosts) + " of " + std::to_string(n) + " are ghosts");
      }
}

TEST(Engines, take_an_empty_group)
{
  for (const unsigned char bit : {1, 2}) {
    System s = make_system(random_points(50, 2, 2, 2, 0, 7), Groups::IDENTICAL);
    for (auto &m : s.member) m &= bit;
    check_engines(built_in(DEFAULT), s, "only one of two groups has atoms");
  }
}

// ---- every function

class EngineFunctions : public testing::TestWithParam<SwitchCase> {};

TEST_P(EngineFunctions, equal_brute_force)
{
  const SwitchCase &c = GetParam();
  if (c.formula.kind == SwitchKind::RATIONAL && c.formula.m < 1.1 * c.formula.n && c.formula.m != 7)
    return;    // exponents nearly equal: brute force in long double is too inaccurate
  const Switch function(c.options);
  const double reach = function.has_end() ? function.dmax() : 4.0;
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
    check_engines(c,
                  make_system(random_points(150, 2 * reach, 2 * reach, 2 * reach, 0.0, 8), groups),
                  c.name);
}

INSTANTIATE_TEST_SUITE_P(coordination, EngineFunctions, testing::ValuesIn(switch_cases()),
                         [](const auto &info) {
                           std::string name = std::to_string(info.index) + "_";
                           for (const char c : info.param.name)
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// ---- shapes of systems

TEST(Shapes, all_atoms_in_one_cell)
{
  check_engines(built_in(DEFAULT),
                make_system(random_points(700, 0.3, 0.3, 0.3, 9.0, 9), Groups::ONE), "one cell");
  check_engines(built_in(DEFAULT),
                make_system(random_points(300, 1e-3, 1e-3, 1e-3, 9.0, 9), Groups::OVERLAPPING),
                "1e-3");
}

TEST(Shapes, coincident_atoms_count_1_and_have_no_direction)
{
  std::vector<double> x(3 * 40, 1.25);
  x = joined(x, random_points(40, 1.5, 1.5, 1.5, 0.5, 10));
  const std::vector<SwitchOptions> functions = {
      DEFAULT, plain(SwitchKind::EXP, 0.5, 0.0, 1.6),
      plain(SwitchKind::CUBIC, SwitchOptions::NOT_GIVEN, 0.3, 1.6), rational(5, 11, 0.5, 0.0, 1.6),
      rational(5.5, 11.5, 0.5, 0.0, 1.6)};
  for (const auto &o : functions)
    for (const Groups groups : ALL_GROUPS)
      check_engines(built_in(o), make_system(x, groups), "coincident");
  // 10 atoms at one point: 45 pairs.
  System ten = make_system(std::vector<double>(30, -3.7), Groups::ONE);
  std::fill(ten.member.begin(), ten.member.end(), 1);
  for (const Precision p : PRECISIONS) {
    const auto backend = make_backend(Switch(DEFAULT), p, 1);
    for (const unsigned want : BOTH_FORMS) {
      const Result r = run_cells(*backend, ten, want);
      EXPECT_NEAR(r.sum.value, 45.0, 45 * 2 * eps_of(p));
      for (int k = 0; k < 6; ++k) EXPECT_EQ(r.sum.virial[k], 0.0);
      const int columns = peratom_columns(want);
      for (int k = 0; k < 10; ++k)
        for (int c = 1; c < columns; ++c) EXPECT_EQ(r.peratom[columns * k + c], 0.0);
    }
  }
}

TEST(Shapes, planar_slabs_lines_and_points)
{
  for (const Groups groups : {Groups::ONE, Groups::DISJOINT}) {
    check_engines(built_in(DEFAULT), make_system(random_points(500, 8, 8, 0, 3.3, 11), groups),
                  "all z equal");
    check_engines(built_in(DEFAULT), make_system(random_points(500, 0, 8, 9, 3.3, 11), groups),
                  "all x equal");
    check_engines(built_in(DEFAULT), make_system(random_points(300, 0, 200, 0, 3.3, 11), groups),
                  "a line");
  }
}

TEST(Shapes, droplets_a_million_apart)
{
  for (const double distance : {1e6, 1e9}) {
    std::vector<double> x =
        joined(random_points(200, 2, 2, 2, 0, 12), random_points(150, 2, 2, 2, distance, 13));
    for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
      // extent: no pair spans the gap, and positions are made relative before they are rounded.
      check_engines(built_in(DEFAULT), make_system(x, groups), "droplets",
                    {Precision::DOUBLE, Precision::MIXED});
  }
}

TEST(Shapes, a_single_atom_far_away)
{
  for (const double distance : {1e3, 1e7, 1e12}) {
    const std::vector<double> x =
        joined(random_points(300, 3, 3, 3, 0, 14), {distance, -distance, 2 * distance});
    check_engines(built_in(DEFAULT), make_system(x, Groups::ONE), "far atom");
    check_engines(built_in(DEFAULT),
                  make_system(joined({-distance, -distance, 0}, x), Groups::OVERLAPPING),
                  "far atoms");
  }
}

TEST(Shapes, ranges_larger_than_the_whole_system)
{
  for (const double dmax : {20.0, 1e4, 1e9, 1e15}) {
    check_engines(built_in(rational(6, 12, 1.5, 0.0, dmax)),
                  make_system(random_points(200, 5, 5, 5, 0, 15), Groups::ONE), "long range");
    check_engines(built_in(plain(SwitchKind::EXP, 1.5, 0.5, dmax)),
                  make_system(random_points(200, 5, 5, 5, 0, 16), Groups::DISJOINT), "long range");
  }
}

TEST(Shapes, coordinates_of_order_1e7_and_negative_ones)
{
  for (const double at : {1e7, -1e7, -4.0}) {
    check_engines(built_in(DEFAULT), make_system(random_points(600, 4, 5, 6, at, 17), Groups::ONE),
                  "far origin");
    check_engines(built_in(DEFAULT),
                  make_system(random_points(600, 4, 5, 6, at, 18), Groups::OVERLAPPING, 200),
                  "far origin");
  }
}

// ---- pairs at the very end of the range

std::vector<double> cubic_lattice(int n, double spacing, double at)
{
  std::vector<double> x;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        for (const int c : {i, j, k}) x.push_back(at + spacing * c);
  return x;
}

TEST(EndOfRange, a_pair_at_exactly_dmax_is_inside)
{
  // Integers and squares of integers: every distance is exact, in float too.
  const System s = one_group(cubic_lattice(8, 1.0, -3.0));
  for (const double dmax : {1.0, 2.0, 3.0, 5.0})
    check_engines(built_in(rational(6, 12, 2.0, 0.0, dmax, false)), s, "r = dmax");
  // The number of pairs itself: 3 n^2 (n - 1) nearest neighbors, each with s = 1/2.
  for (const Precision p : PRECISIONS) {
    const auto backend = make_backend(Switch(rational(6, 12, 1.0, 0.0, 1.0, false)), p, 2);
    EXPECT_EQ(run_cells(*backend, s, VALUE).sum.value, 0.5 * 3 * 64 * 7);
    EXPECT_EQ(run_list(*backend, s, 1.0, VALUE).sum.value, 0.5 * 3 * 64 * 7);
    EXPECT_EQ(run_allpairs(*backend, s, brute::Cell(), VALUE).sum.value, 0.5 * 3 * 64 * 7);
  }
}

TEST(EndOfRange, no_pair_is_lost_inside_or_kept_outside_where_cells_are_aligned_with_the_lattice)
{
  // Not stretched: each pair at the end contributes s(dmax) > 0. margin is far larger than the
  // rounding of coordinates (a few ulp of the extent), so the side of each pair is well defined.
  for (const double spacing : {1.0, 0.1, 0.7, 1.0 / 3.0})
    for (const double at : {0.0, -2.3, 0.05})
      for (const double multiple : {1.0, 3.0})
        for (const int side : {-1, 1}) {
          const System s = one_group(cubic_lattice(7, spacing, at));
          const auto function = [&](double margin) {
            return built_in(rational(6, 12, 2 * spacing, 0.0,
                                     multiple * spacing * (1.0 + side * margin), false));
          };
          check_engines(function(1e-13), s, "margin 1e-13", {Precision::DOUBLE});
          check_engines(function(4e-6), s, "margin 4e-6");
        }
}

TEST(EndOfRange, atoms_on_cell_boundaries_are_found)
{
  // Cells have the size range (1 + 1e-6) or half of it. The lattice has the same spacing.
  for (const double factor : {1.0, 0.5})
    for (const double nudge : {-1e-15, 0.0, 1e-15}) {
      const double spacing = factor * 1.6 * (1.0 + 1e-6) * (1.0 + nudge);
      std::vector<double> x = cubic_lattice(6, spacing, 0.0);
      const std::vector<double> near = cubic_lattice(6, spacing, 1e-3);
      check_engines(built_in(rational(6, 12, 1.0, 0.0, 1.6, false)), one_group(joined(x, near)),
                    "cell boundaries");
    }
}

// ---- chunks of engine allpairs

TEST(AllPairs, takes_more_atoms_than_one_chunk)
{
  // Chunks have 1024 atoms: the atom itself is in the first or a later chunk.
  check_engines(built_in(rational(6, 12, 0.5, 0.0, 2.0)),
                make_system(random_points(1500, 6, 6, 6, 0, 24), Groups::IDENTICAL), "1500 atoms",
                {Precision::DOUBLE});
}

}    // namespace
