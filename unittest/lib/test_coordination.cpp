// Part of GPUCOORD, GPL-2.0. The engines of every backend (backends.h) and the reference loops,
// compared with brute force that shares no code with them.

#include "backends.h"
#include "brute_force.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
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

const SwitchOptions DEFAULT = rational(6, 12, 0.5, 0.0, 1.6);

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

System one_group(const std::vector<double> &x)
{
  System s = make_system(x, Groups::ONE);
  std::fill(s.member.begin(), s.member.end(), 1);
  return s;
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

// ---- periodic systems

brute::Cell triclinic(double l, double tilt)
{
  brute::Cell cell;
  const double edges[3][3] = {
      {l, 0, 0}, {tilt * l, 1.1 * l, 0}, {-0.7 * tilt * l, 0.6 * tilt * l, 0.9 * l}};
  std::memcpy(cell.edges, edges, sizeof(edges));
  for (bool &p : cell.periodic) p = true;
  return cell;
}

std::vector<double> points_in(const brute::Cell &cell, int n, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0.0, 1.0);
  std::vector<double> x;
  for (int k = 0; k < n; ++k) {
    double p[3] = {};
    for (int e = 0; e < 3; ++e) {
      const double f = u(random);
      for (int c = 0; c < 3; ++c) p[c] += f * cell.edges[e][c];
    }
    x.insert(x.end(), p, p + 3);
  }
  return x;
}

// Ghosts as in LAMMPS: all images that can be in range. With nranks 2, rank 0 owns the atoms with
// first coordinate below the median, rank 1 those above; all others become ghosts.
System with_ghosts(const System &cell_atoms, const brute::Cell &cell, double dmax, int rank,
                   int nranks, std::vector<int> &owned)
{
  System s;
  s.two = cell_atoms.two;
  std::vector<double> first;
  for (int k = 0; k < cell_atoms.nall(); ++k) first.push_back(cell_atoms.x[3 * k]);
  std::sort(first.begin(), first.end());
  const double middle = first.empty() ? 0.0 : first[first.size() / 2];
  owned.clear();
  double lo[3] = {INF, INF, INF}, hi[3] = {-INF, -INF, -INF};
  for (int k = 0; k < cell_atoms.nall(); ++k) {
    const double *const p = &cell_atoms.x[3 * k];
    if (nranks == 2 && (p[0] < middle) != (rank == 0)) continue;
    owned.push_back(k);
    s.x.insert(s.x.end(), p, p + 3);
    s.member.push_back(cell_atoms.member[k]);
    for (int c = 0; c < 3; ++c) {
      lo[c] = std::min(lo[c], p[c]);
      hi[c] = std::max(hi[c], p[c]);
    }
  }
  s.nlocal = static_cast<int>(owned.size());
  for (int k = 0; k < cell_atoms.nall(); ++k) {
    const brute::Vector p = {cell_atoms.x[3 * k], cell_atoms.x[3 * k + 1], cell_atoms.x[3 * k + 2]};
    const bool own = std::find(owned.begin(), owned.end(), k) != owned.end();
    brute::for_images(cell, p, 4, [&](const brute::Vector &image, bool itself) {
      if (itself && own) return;
      for (int c = 0; c < 3; ++c)
        if (image[c] < lo[c] - 1.01 * dmax || image[c] > hi[c] + 1.01 * dmax) return;
      for (int c = 0; c < 3; ++c) s.x.push_back(static_cast<double>(image[c]));
      s.member.push_back(cell_atoms.member[k]);
    });
  }
  return s;
}

// The definition: all images of j around i. An atom interacts with its own images but not with
// itself.
brute::Sums all_images(const brute::PairTerms &terms, const System &s, const brute::Cell &cell)
{
  brute::Sums sums(s.nlocal);
  for (int i = 0; i < s.nlocal; ++i)
    for (int j = 0; j < s.nlocal; ++j) {
      const bool ab = s.member[i] & 1 && s.member[j] & (s.two ? 2 : 1);
      const bool ba = s.two && s.member[i] & 2 && s.member[j] & 1;
      brute::Vector d;
      for (int c = 0; c < 3; ++c) d[c] = (long double) s.x[3 * j + c] - s.x[3 * i + c];
      brute::for_images(cell, d, 4, [&](const brute::Vector &image, bool itself) {
        if (i == j && itself) return;
        if (ab) terms.add(image, s.two ? 1 : 0.5L, i, sums);
        if (ba) terms.add(image, 0, i, sums);
      });
    }
  return sums;
}

TEST(Periodic, engines_with_ghosts_give_all_images_on_one_rank_and_on_two)
{
  // dmax below and far above the cell size: an atom's own images count.
  for (const double dmax : {0.9, 3.1})
    for (const double tilt : {0.0, 0.45})
      for (const Groups groups : ALL_GROUPS) {
        const brute::Cell cell = triclinic(2.0, tilt);
        const System atoms = make_system(points_in(cell, 40, 19), groups);
        const SwitchCase c = built_in(rational(6, 12, 0.7, 0.0, dmax));
        const Switch function(c.options);
        const brute::PairTerms terms(formula_of(c, function), 20.0);
        const brute::Sums exact = all_images(terms, atoms, cell);
        for (const Precision precision : PRECISIONS)
          for (const int nranks : {1, 2})
            for (const bool by_list : {false, true})
              for (const unsigned want : BOTH_FORMS) {
                const auto backend = make_backend(function, precision, 2);
                const int columns = peratom_columns(want);
                Result total;
                total.peratom.assign(columns * atoms.nlocal, 0.0);
                for (int rank = 0; rank < nranks; ++rank) {
                  std::vector<int> owned;
                  const System s = with_ghosts(atoms, cell, dmax, rank, nranks, owned);
                  const Result r = by_list ? run_list(*backend, s, dmax, want)
                                           : run_cells(*backend, s, want);
                  total.sum.value += r.sum.value;
                  for (int k = 0; k < 6; ++k) total.sum.virial[k] += r.sum.virial[k];
                  for (int k = 0; k < s.nlocal; ++k)
                    for (int col = 0; col < columns; ++col)
                      total.peratom[columns * owned[k] + col] += r.peratom[columns * k + col];
                }
                expect_equal(total, exact, precision, want,
                             std::string(by_list ? "list " : "cells ") + name_of(precision) +
                                 " ranks " + std::to_string(nranks));
              }
      }
}

TEST(Periodic, S_of_a_cell_replicated_2_2_2_is_8_S)
{
  const brute::Cell cell = triclinic(2.0, 0.3);
  const Switch function(rational(6, 12, 0.7, 0.0, 2.6));
  const System atoms = one_group(points_in(cell, 20, 20));
  brute::Cell large = cell;
  for (auto &edge : large.edges)
    for (double &v : edge) v *= 2;
  System eight = atoms;
  eight.x.clear();
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < atoms.nlocal; ++k)
      for (int c = 0; c < 3; ++c)
        eight.x.push_back(atoms.x[3 * k + c] + (i & 1) * cell.edges[0][c] +
                          (i >> 1 & 1) * cell.edges[1][c] + (i >> 2) * cell.edges[2][c]);
  eight = one_group(eight.x);
  const auto backend = make_backend(function, Precision::DOUBLE, 2);
  std::vector<int> owned;
  const double one =
      run_cells(*backend, with_ghosts(atoms, cell, 2.6, 0, 1, owned), VALUE).sum.value;
  const double all =
      run_cells(*backend, with_ghosts(eight, large, 2.6, 0, 1, owned), VALUE).sum.value;
  EXPECT_NEAR(all, 8 * one, 1e-13 * all);    // sums of 1e4 terms
}

TEST(Periodic, allpairs_and_its_reference_give_nearest_images_on_any_number_of_ranks)
{
  for (const double dmax : {0.9, 50.0, INF})
    for (const double tilt : {0.0, 0.45, 0.9})
      for (int mask = 0; mask < 8; mask += tilt == 0.45 ? 1 : 7)
        for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
          brute::Cell cell = triclinic(2.0, tilt);
          for (int k = 0; k < 3; ++k) cell.periodic[k] = mask >> k & 1;
          System s = make_system(points_in(cell, 70, 23), groups);
          // Not wrapped into the cell: some atoms are far outside.
          for (int k = 0; k < s.nall(); k += 3)
            for (int e = 0; e < 3; ++e)
              if (cell.periodic[e])
                for (int c = 0; c < 3; ++c) s.x[3 * k + c] += (e - 1) * cell.edges[e][c];
          const SwitchCase c = built_in(rational(6, 12, 0.7, 0.0, dmax));
          const Switch function(c.options);
          const brute::PairTerms terms(formula_of(c, function), 10.0);
          brute::Sums exact(s.nlocal);
          for (int i = 0; i < s.nlocal; ++i)
            for (int j = 0; j < s.nlocal; ++j) {
              if (i == j) continue;
              const bool ab = s.member[i] & 1 && s.member[j] & (s.two ? 2 : 1);
              const bool ba = s.two && s.member[i] & 2 && s.member[j] & 1;
              if (!ab && !ba) continue;
              brute::Vector d;
              for (int k = 0; k < 3; ++k) d[k] = (long double) s.x[3 * j + k] - s.x[3 * i + k];
              d = brute::nearest(cell, d, 4);
              if (ab) terms.add(d, s.two ? 1 : 0.5L, i, exact);
              if (ba) terms.add(d, 0, i, exact);
            }
          const auto check = [&](const std::string &what, Precision precision, int nranks,
                                 const auto &run) {
            for (const unsigned want : BOTH_FORMS) {
              Result total;
              total.peratom.assign(peratom_columns(want) * s.nlocal, 0.0);
              for (int rank = 0; rank < nranks; ++rank) {
                const Gathered g(s, cell, rank, nranks);
                const Contribution r = run(g.in, want, total.peratom.data());
                total.sum.value += r.value;
                for (int k = 0; k < 6; ++k) total.sum.virial[k] += r.virial[k];
              }
              expect_equal(total, exact, precision, want, what);
            }
          };
          for (const int nranks : {1, 3}) {
            for (const Precision precision : PRECISIONS) {
              const auto backend = make_backend(function, precision, 2);
              check(std::string("allpairs ") + name_of(precision), precision, nranks,
                    [&](const AllPairsInput &in, unsigned want, double *out) {
                      return backend->allpairs(in, want, out);
                    });
            }
            check("reference_allpairs", Precision::DOUBLE, nranks,
                  [&](const AllPairsInput &in, unsigned want, double *out) {
                    return gpucoord::reference_allpairs(function, in, want, out);
                  });
          }
          if (HasFailure()) return;
        }
}

TEST(AllPairs, takes_more_atoms_than_one_chunk)
{
  // Chunks have 1024 atoms: the atom itself is in the first or a later chunk.
  check_engines(built_in(rational(6, 12, 0.5, 0.0, 2.0)),
                make_system(random_points(1500, 6, 6, 6, 0, 24), Groups::IDENTICAL), "1500 atoms",
                {Precision::DOUBLE});
}

// ---- pair mode

TEST(Pairs, and_its_reference_equal_brute_force)
{
  for (const int n : {0, 1, 2, 63, 64, 65, 1000})
    for (const double dmax : {1.2, INF})
      for (const double tilt : {0.0, 0.8}) {
        const brute::Cell cell = triclinic(2.0, tilt);
        const std::vector<double> xa = points_in(cell, n, 25), xb = points_in(cell, n, 26);
        const int nlocal = 50;    // fewer rows than pairs: atoms are in many pairs
        std::mt19937_64 random(27);
        std::vector<int> row_a, row_b;
        for (int k = 0; k < n; ++k) {
          row_a.push_back(static_cast<int>(random() % (nlocal + 10)) - 10);
          row_b.push_back(static_cast<int>(random() % (nlocal + 10)) - 10);
          if (row_a[k] < 0) row_a[k] = -1;
          if (row_b[k] < 0) row_b[k] = -1;
        }
        const SwitchCase c = built_in(rational(6, 12, 0.7, 0.0, dmax));
        const Switch function(c.options);
        const brute::PairTerms terms(formula_of(c, function), 10.0);
        brute::Sums exact(nlocal);
        for (int k = 0; k < n; ++k) {
          brute::Vector d;
          for (int e = 0; e < 3; ++e) d[e] = (long double) xb[3 * k + e] - xa[3 * k + e];
          d = brute::nearest(cell, d, 4);
          terms.add(d, row_a[k] >= 0 ? 1 : 0, row_a[k], exact);
          terms.add(d, 0, row_b[k], exact, -1);
        }
        PairsInput in;
        in.box = gpucoord::make_box(cell.edges, cell.periodic);
        in.n = n;
        in.xa = xa.data();
        in.xb = xb.data();
        in.row_a = row_a.data();
        in.row_b = row_b.data();
        for (const unsigned want : BOTH_FORMS) {
          for (const Precision precision : PRECISIONS) {
            const auto backend = make_backend(function, precision, 3);
            const Result r = run_input(*backend, in, nlocal, want);
            expect_equal(r, exact, precision, want, std::string("pairs ") + name_of(precision));
            EXPECT_NEAR(backend->pairs(in, VALUE, nullptr).value, r.sum.value,
                        4 * EPS_FLOAT * (1 + r.sum.value));
          }
          const Result r = result_of(nlocal, want, [&](double *out) {
            return gpucoord::reference_pairs(function, in, want, out);
          });
          expect_equal(r, exact, Precision::DOUBLE, want, "reference_pairs");
        }
      }
}

// ---- requested outputs and their form

System mixed_system(Groups groups)
{
  return make_system(random_points(700, 5, 5, 5, -2, 28), groups, 200);
}

TEST(Wants, value_and_virial_are_the_same_whatever_else_is_wanted)
{
  for (const Groups groups : ALL_GROUPS)
    for (const SwitchCase &c : {built_in(DEFAULT), built_in(rational(5.5, 12.3, 0.5, 0.0, 1.6)),
                                custom("1/(1+x^6)", rational(6, 12, 0.5, 0.0, 1.6))})
      for (const Precision precision : PRECISIONS) {
        const Switch function(c.options);
        const auto backend = make_backend(function, precision, 2);
        const System s = mixed_system(groups);
        for (const bool by_list : {false, true}) {
          const auto run = [&](unsigned want) {
            return by_list ? run_list(*backend, s, function.dmax(), want)
                           : run_cells(*backend, s, want);
          };
          const Result all = run(DERIVATIVES | VIRIAL);
          for (const unsigned want : {unsigned(VALUE), unsigned(DERIVATIVES), unsigned(VIRIAL)}) {
            const Result some = run(want);
            // The order of sums in a vector loop may differ: sums of S terms of order 1.
            EXPECT_NEAR(some.sum.value, all.sum.value, 4 * eps_of(precision) * all.sum.value);
            for (int k = 0; k < 6; ++k) {
              const double expected = want & VIRIAL ? all.sum.virial[k] : 0.0;
              const double tolerance =
                  want & VIRIAL ? 16 * eps_of(precision) * std::fabs(all.sum.virial[0]) : 0.0;
              EXPECT_NEAR(some.sum.virial[k], expected, tolerance);
            }
            for (std::size_t k = 0; want & DERIVATIVES && k < all.peratom.size(); ++k)
              EXPECT_NEAR(some.peratom[k], all.peratom[k], 100 * eps_of(precision));
          }
        }
      }
}

TEST(Wants, per_atom_results_are_added_to_what_is_there)
{
  const System s = mixed_system(Groups::OVERLAPPING);
  const Switch function(DEFAULT);
  const auto backend = make_backend(function, Precision::DOUBLE, 2);
  const Result r = run_cells(*backend, s, DERIVATIVES);
  const auto rows = rows_of(s);
  CellsInput in;
  in.x = s.x.data();
  in.a = rows->list_a;
  in.b = rows->list_b;
  std::vector<double> sum(4 * s.nlocal, 1000.0);
  backend->cells(in, DERIVATIVES, sum.data());
  for (std::size_t k = 0; k < sum.size(); ++k) EXPECT_NEAR(sum[k], 1000.0 + r.peratom[k], 1e-12);
}

TEST(Wants, the_sum_of_s_i_is_twice_S_and_gradients_sum_to_zero)
{
  for (const Groups groups : ALL_GROUPS)
    for (const Precision precision : PRECISIONS)
      for (const SwitchCase &c : switch_cases()) {
        const Switch function(c.options);
        if (!function.has_end()) continue;
        const double l = 1.5 * function.dmax();
        const System s = make_system(random_points(100, l, l, l, 3.0, 29), groups);
        const auto backend = make_backend(function, precision, 2);
        const Result r = run_cells(*backend, s, DERIVATIVES | VIRIAL);
        double si = 0, gradient[3] = {}, size = 0;
        for (int k = 0; k < s.nlocal; ++k) {
          si += r.peratom[4 * k];
          for (int e = 0; e < 3; ++e) {
            gradient[e] += r.peratom[4 * k + 1 + e];
            size += std::fabs(r.peratom[4 * k + 1 + e]);
          }
        }
        // The two sides of a pair are computed separately with separate rounding: a few eps per
        // pair, which sharp functions (30/100, q, cubic from 2.9 to 3.5) amplify 50-fold.
        const double tolerance = 200 * eps_of(precision) * (function.stretch() - function.shift());
        EXPECT_NEAR(si, 2 * r.sum.value, tolerance * (1 + r.sum.value)) << c.name;
        for (const double g : gradient) EXPECT_NEAR(g, 0.0, tolerance * (1e-3 + size)) << c.name;
      }
}

// One system on which every engine and every reference loop runs. This rank owns all its atoms.
class EveryEngine {
 public:
  struct Run {
    std::string name;
    bool of_pairs;
    std::function<Contribution(Coordination &, unsigned want, double *peratom)> evaluate;
  };
  explicit EveryEngine(const Switch &function_in, Groups groups) :
      function(function_in), s(make_system(random_points(400, 4, 4, 4, -2, 31), groups)),
      rows(rows_of(s)), neighbors(s, function.dmax()), gathered(s, brute::Cell())
  {
    for (int k = 0; k < 150; ++k) {
      row_a.push_back(k);
      row_b.push_back(200 + k);    // rows 150 to 199 and from 350 on are in no pair
    }
    pairs.n = 150;
    pairs.xa = s.x.data();
    pairs.xb = s.x.data() + 3 * 200;
    pairs.row_a = row_a.data();
    pairs.row_b = row_b.data();
    add("cells", cells_input(s, *rows));
    add("list", list_input(s, *rows, neighbors));
    add("allpairs", gathered.in);
    add("pairs", pairs, true);
    add_reference("reference_cells", cells_input(s, *rows), gpucoord::reference_cells);
    add_reference("reference_allpairs", gathered.in, gpucoord::reference_allpairs);
    add_reference("reference_pairs", pairs, gpucoord::reference_pairs, true);
  }
  EveryEngine(const EveryEngine &) = delete;
  bool takes_part(const Run &run, int row) const
  {
    return run.of_pairs ? row % 200 < 150 : s.member[row] != 0;
  }
  int nlocal() const { return s.nlocal; }
  std::vector<Run> runs;

 private:
  template <class Input> void add(const std::string &name, const Input &in, bool of_pairs = false)
  {
    runs.push_back({name, of_pairs, [in](Coordination &c, unsigned want, double *out) {
                      return evaluate(c, in, want, out);
                    }});
  }
  template <class Input, class Reference>
  void add_reference(const std::string &name, const Input &in, Reference reference,
                     bool of_pairs = false)
  {
    runs.push_back(
        {name, of_pairs, [this, in, reference](Coordination &, unsigned want, double *out) {
           return reference(function, in, want, out);
         }});
  }
  const Switch function;
  const System s;
  const std::unique_ptr<Rows> rows;
  const Neighbors neighbors;
  const Gathered gathered;
  std::vector<int> row_a, row_b;
  PairsInput pairs;
};

// Calls visit(evaluate, EveryEngine, its run, precision, text). evaluate(want, peratom) returns the
// sum.
template <class Visit> void for_every_engine(Visit visit)
{
  for (const Groups groups : ALL_GROUPS)
    for (const SwitchCase &c : {built_in(DEFAULT), built_in(rational(5, 11, 0.5, 0.0, 1.6)),
                                custom("1/(1+x^6)", rational(6, 12, 0.5, 0.0, 1.6))}) {
      const Switch function(c.options);
      const EveryEngine every(function, groups);
      for (const Precision precision : PRECISIONS) {
        const auto backend = make_backend(function, precision, 2);
        for (const auto &run : every.runs)
          visit(
              [&](unsigned want, double *out) {
                return run.evaluate(*backend, want, out);
              },
              every, run, precision,
              run.name + " " + name_of(precision) + " groups " +
                  std::to_string(static_cast<int>(groups)) + " " + c.name);
      }
    }
}

TEST(Wants, the_virials_of_the_atoms_add_up_to_twice_W)
{
  for_every_engine([](const auto &evaluate, const EveryEngine &every, const EveryEngine::Run &,
                      Precision precision, const std::string &what) {
    const Result r = result_of(every.nlocal(), EVERYTHING, [&](double *out) {
      return evaluate(EVERYTHING, out);
    });
    ASSERT_EQ(r.peratom.size(), 10u * every.nlocal());
    for (int k = 0; k < 6; ++k) {
      double sum = 0, size = 0;
      for (int i = 0; i < every.nlocal(); ++i) {
        sum += r.peratom[10 * i + 4 + k];
        size += std::fabs(r.peratom[10 * i + 4 + k]);
      }
      EXPECT_GT(size, 0.1) << what;
      // The two sides of a pair are computed separately with separate rounding.
      EXPECT_NEAR(0.5 * sum, r.sum.virial[k], 20 * eps_of(precision) * size)
          << what << " component " << k;
    }
  });
}

TEST(Wants, the_virial_of_atoms_changes_no_other_result)
{
  for_every_engine([](const auto &evaluate, const EveryEngine &every, const EveryEngine::Run &,
                      Precision precision, const std::string &what) {
    const Result with = result_of(every.nlocal(), EVERYTHING, [&](double *out) {
      return evaluate(EVERYTHING, out);
    });
    const unsigned others = DERIVATIVES | VIRIAL;
    const Result without = result_of(every.nlocal(), others, [&](double *out) {
      return evaluate(others, out);
    });
    const double eps = eps_of(precision);
    EXPECT_NEAR(with.sum.value, without.sum.value, 4 * eps * without.sum.value) << what;
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(with.sum.virial[k], without.sum.virial[k],
                  16 * eps * std::fabs(without.sum.virial[0]))
          << what;
    for (int i = 0; i < every.nlocal(); ++i)
      for (int c = 0; c < 4; ++c)
        EXPECT_NEAR(with.peratom[10 * i + c], without.peratom[4 * i + c], 100 * eps) << what;
  });
}

// Forces must not depend on whether the virial is requested.
TEST(Wants, derivatives_have_the_same_bits_whatever_else_is_wanted)
{
  for_every_engine([](const auto &evaluate, const EveryEngine &every, const EveryEngine::Run &,
                      Precision, const std::string &what) {
    const Result bare = result_of(every.nlocal(), DERIVATIVES, [&](double *out) {
      return evaluate(DERIVATIVES, out);
    });
    for (const unsigned want : {DERIVATIVES | VIRIAL, EVERYTHING}) {
      const int columns = gpucoord::peratom_columns(want);
      const Result more = result_of(every.nlocal(), want, [&](double *out) {
        return evaluate(want, out);
      });
      for (int i = 0; i < every.nlocal(); ++i)
        for (int c = 1; c < 4; ++c)
          EXPECT_EQ(more.peratom[columns * i + c], bare.peratom[4 * i + c])
              << what << " want " << want;
    }
  });
}

TEST(Wants, nothing_is_written_but_the_columns_that_are_wanted_of_atoms_that_take_part)
{
  for_every_engine([](const auto &evaluate, const EveryEngine &every, const EveryEngine::Run &run,
                      Precision, const std::string &what) {
    constexpr double there = 1000.0;    // initial values, which cost 1e-13 of accuracy
    for (const unsigned want : {unsigned(VALUE), unsigned(DERIVATIVES), unsigned(VIRIAL),
                                DERIVATIVES | VIRIAL, EVERYTHING}) {
      const int columns = want & ATOM_VIRIAL ? 10 : want & DERIVATIVES ? 4 : 0;
      // More columns than necessary.
      std::vector<double> from_0(11 * every.nlocal(), 0.0), out(11 * every.nlocal(), there);
      evaluate(want, from_0.data());
      evaluate(want, out.data());
      for (std::size_t k = 0; k < out.size(); ++k) {
        const bool wanted = k < std::size_t(columns) * every.nlocal();
        if (wanted && every.takes_part(run, static_cast<int>(k) / columns))
          EXPECT_NEAR(out[k], there + from_0[k], 1e-11)
              << what << " want " << want << " element " << k;
        else
          EXPECT_EQ(out[k], there) << what << " want " << want << " element " << k;
      }
    }
  });
}

TEST(Wants, cells_and_list_refuse_a_range_without_end)
{
  const auto backend = make_backend(Switch(rational(6, 12, 1, 0, INF)), Precision::DOUBLE, 1);
  EXPECT_THROW(backend->cells(CellsInput(), VALUE, nullptr), std::invalid_argument);
  EXPECT_THROW(backend->list(ListInput(), VALUE, nullptr), std::invalid_argument);
}

// ---- bitwise reproducibility

TEST(Bits, are_the_same_for_any_number_of_threads_and_run_after_run)
{
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
    for (const Precision precision : PRECISIONS)
      for (const SwitchCase &c : {built_in(DEFAULT), built_in(rational(5, 11, 0.5, 0.0, 1.6)),
                                  custom("1/(1+x^6)", rational(6, 12, 0.5, 0.0, 1.6))}) {
        const Switch function(c.options);
        const System s = mixed_system(groups);
        System owned = s;
        owned.nlocal = owned.nall();
        const brute::Cell cell = triclinic(6.0, 0.4);
        std::vector<int> row_a, row_b;
        for (int k = 0; k < 350; ++k) {
          row_a.push_back(k % 9 ? k % 200 : -1);
          row_b.push_back(k % 7 ? k % 111 : -1);
        }
        PairsInput pairs;
        pairs.box = gpucoord::make_box(cell.edges, cell.periodic);
        pairs.n = 350;
        pairs.xa = s.x.data();
        pairs.xb = s.x.data() + 3 * 350;
        pairs.row_a = row_a.data();
        pairs.row_b = row_b.data();
        // Pairs with VALUE run on all threads.
        std::vector<std::function<Result(Coordination &)>> runs = {[&](Coordination &b) {
          return run_input(b, pairs, 200, VALUE);
        }};
        for (const unsigned want : BOTH_FORMS) {
          runs.push_back([&, want](Coordination &b) {
            return run_cells(b, s, want);
          });
          runs.push_back([&, want](Coordination &b) {
            return run_list(b, s, function.dmax(), want);
          });
          runs.push_back([&, want](Coordination &b) {
            return run_allpairs(b, owned, cell, want);
          });
          runs.push_back([&, want](Coordination &b) {
            return run_input(b, pairs, 200, want);
          });
        }
        for (const auto &run : runs) {
          const auto one = make_backend(function, precision, 1);
          const Result first = run(*one);
          EXPECT_NE(first.sum.value, 0.0);
          EXPECT_TRUE(same_bits(first, run(*one)));
          for (const int nthreads : {1, 2, 3}) {
            const auto backend = make_backend(function, precision, nthreads);
            EXPECT_TRUE(same_bits(first, run(*backend)))
                << nthreads << " threads, " << name_of(precision);
            EXPECT_TRUE(same_bits(first, run(*backend)));
          }
        }
      }
}

TEST(Bits, do_not_depend_on_what_was_computed_before)
{
  const Switch function(DEFAULT);
  const System small = mixed_system(Groups::OVERLAPPING);
  const System large = make_system(random_points(1500, 4, 4, 4, 50, 30), Groups::ONE);
  for (const Precision precision : PRECISIONS) {
    const auto fresh = make_backend(function, precision, 2);
    const auto used = make_backend(function, precision, 2);
    for (const unsigned before : BOTH_FORMS) {
      run_cells(*used, large, before);
      run_list(*used, large, function.dmax(), before);
      for (const unsigned want : BOTH_FORMS) {
        EXPECT_TRUE(same_bits(run_cells(*fresh, small, want), run_cells(*used, small, want)));
        EXPECT_TRUE(same_bits(run_list(*fresh, small, function.dmax(), want),
                              run_list(*used, small, function.dmax(), want)));
      }
    }
  }
}

}    // namespace
