// Part of GPUCOORD, GPL-2.0. Periodic images in the engines of every backend (backends.h) and in
// the reference loops, compared with brute force that shares no code with them: ghosts, nearest
// images and given pairs.

#include "backends.h"
#include "brute_force.h"
#include "coordination_systems.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

// ---- periodic systems

// Ghosts as in LAMMPS: all images that can be in range. With nranks 2, rank 0 owns the atoms whose
// first coordinate is below the median, and rank 1 the atoms above it. All others become ghosts.
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

// Computes the definition: all images of j around i. An atom interacts with its own images but not
// with itself.
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

}    // namespace
