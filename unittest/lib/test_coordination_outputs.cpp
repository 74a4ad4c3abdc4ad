// Part of GPUCOORD, GPL-2.0. Requested outputs of the engines of every backend (backends.h) and of
// the reference loops, and reproducibility of their bits.

#include "backends.h"
#include "brute_force.h"
#include "coordination_systems.h"
#include "engines.h"
#include "expect_equal.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

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
            // The order of sums in a vector loop may differ. These are sums of S terms of order 1.
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
        // The terms of the two atoms of a pair are computed and rounded separately: a few eps per
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
    bool by_pairs;
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
    return run.by_pairs ? row % 200 < 150 : s.member[row] != 0;
  }
  int nlocal() const { return s.nlocal; }
  std::vector<Run> runs;

 private:
  template <class Input> void add(const std::string &name, const Input &in, bool by_pairs = false)
  {
    runs.push_back({name, by_pairs, [in](Coordination &c, unsigned want, double *out) {
                      return evaluate(c, in, want, out);
                    }});
  }
  template <class Input, class Reference>
  void add_reference(const std::string &name, const Input &in, Reference reference,
                     bool by_pairs = false)
  {
    runs.push_back(
        {name, by_pairs, [this, in, reference](Coordination &, unsigned want, double *out) {
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
      // The terms of the two atoms of a pair are computed and rounded separately.
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
