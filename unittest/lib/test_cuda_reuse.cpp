// Part of GPUCOORD, GPL-2.0. Objects of the CUDA backend that evaluate many inputs: copies of lists
// on the device, and bits that do not depend on earlier evaluations.

#include "cuda_and_host.h"
#include "engines.h"
#include "gpu_tests.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using gpucoord::SwitchTable;

namespace {

// ---- pairs of engine cells, which the device keeps

// Inputs of one version; positions, types and weights change between evaluations.
class KeptCells : public testing::Test {
 protected:
  KeptCells()
  {
    for (int i = 1; i <= NTYPES; ++i)
      for (int j = i; j <= NTYPES; ++j)
        if (i + j != 4)    // types 2 and 2, and 1 and 3, do not interact
          table.set(i, j,
                    table.add(Switch(rational(6, 12, 0.5 + 0.05 * (i + j), 0.0, 1.2 + 0.1 * i))));
    std::mt19937_64 random(64);
    for (int k = 0; k < s.nall(); ++k) types.push_back(1 + static_cast<int>(random() % NTYPES));
    weights.assign((NTYPES + 1) * (NTYPES + 1), 1.0);
  }
  void move(double distance)
  {
    std::uniform_real_distribution<double> step(-distance / std::sqrt(3.0),
                                                distance / std::sqrt(3.0));
    for (double &v : s.x) v += step(moves);
  }
  // Each backend evaluates inputs of one version.
  void expect_host(Groups groups, bool typed, Precision precision, const std::string &what)
  {
    s.member = make_system(s.x, groups).member;
    s.two = groups != Groups::ONE;
    const auto rows = rows_of(s);
    CellsInput in = cells_input(s, *rows);
    if (typed) in.types = {types.data(), weights.data()};
    in.version = 1;
    in.skin = SKIN;
    auto &cuda = backends[{groups, typed, precision}];
    const SwitchTable &functions = typed ? table : plain_table;
    if (!cuda) cuda = gpucoord::make_cuda_coordination(functions, precision, 0, 2);
    const Result found = run_input(*cuda, in, s.nlocal, EVERYTHING);
    const Result expected =
        run_input(*gpucoord::make_host_coordination(functions, Precision::DOUBLE, 2), in, s.nlocal,
                  EVERYTHING);
    const double rounding = precision == Precision::DOUBLE ? 1e-12 : 3e-6;
    ASSERT_GT(std::fabs(expected.sum.value), 100.0) << what;
    EXPECT_NEAR(found.sum.value, expected.sum.value, rounding * std::fabs(expected.sum.value))
        << what;
    double largest = 0.0, worst = 0.0;
    for (std::size_t k = 0; k < expected.peratom.size(); ++k) {
      largest = std::max(largest, std::fabs(expected.peratom[k]));
      worst = std::max(worst, std::fabs(found.peratom[k] - expected.peratom[k]));
    }
    EXPECT_LE(worst, rounding * largest) << what;
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(found.sum.virial[k], expected.sum.virial[k],
                  rounding * std::fabs(expected.sum.virial[0]))
          << what;
  }
  void expect_host(const std::string &what)
  {
    for (const Precision precision : {Precision::DOUBLE, Precision::MIXED})
      for (const bool typed : {false, true})
        for (const Groups groups : ALL_GROUPS)
          expect_host(groups, typed, precision,
                      what + ", groups " + std::to_string(static_cast<int>(groups)) +
                          (typed ? ", types, " : ", ") + name_of(precision));
  }
  static constexpr int NTYPES = 3;
  static constexpr double SKIN = 0.2;
  std::mt19937_64 moves{65};
  System s = make_system(random_points(12000, 11, 11, 11, 0, 63), Groups::ONE, 4000);
  SwitchTable table{NTYPES};
  const SwitchTable plain_table = SwitchTable(Switch(rational(6, 12, 0.6, 0.0, 1.3)));
  std::vector<int> types;
  std::vector<double> weights;
  std::map<std::tuple<Groups, bool, Precision>, std::unique_ptr<Coordination>> backends;
};

TEST_F(KeptCells, equal_the_host_while_atoms_move_within_the_skin_and_beyond)
{
  expect_host("first");
  for (const double distance : {0.04, 0.04, 3.0, 0.04}) {
    move(distance);
    expect_host("moved by up to " + std::to_string(distance));
  }
}

TEST_F(KeptCells, equal_the_host_when_types_and_weights_change)
{
  expect_host("first");
  for (int k = 0; k < 300; ++k) types[40 * k] = 1 + types[40 * k] % NTYPES;
  expect_host("other types");
  for (int i = 1; i <= NTYPES; ++i)
    for (int j = 1; j <= NTYPES; ++j) weights[i * (NTYPES + 1) + j] = 0.5 + 0.1 * (i + j);
  expect_host("other weights");
}

TEST_F(KeptCells, table_without_functions_has_none)
{
  const auto rows = rows_of(s);
  CellsInput in = cells_input(s, *rows);
  in.types = {types.data(), weights.data()};
  in.skin = SKIN;
  const auto cuda = gpucoord::make_cuda_coordination(SwitchTable(NTYPES), Precision::MIXED, 0, 2);
  for (const std::int64_t version : {0, 1, 1}) {
    in.version = version;
    const Result found = run_input(*cuda, in, s.nlocal, DERIVATIVES | VIRIAL);
    EXPECT_EQ(found.sum.value, 0.0);
    EXPECT_EQ(*std::max_element(found.peratom.begin(), found.peratom.end()), 0.0);
  }
}

// ---- lists, which the device copies

class Lists : public testing::Test {
 protected:
  // The list engine must give the host's result for 'in'. The host does not use the version of
  // 'in'.
  void expect_host(const Result &found, const ListInput &in, const std::string &what)
  {
    const HostTruth truth(function, [&](Coordination &c, unsigned want) {
      return run_input(c, in, s.nlocal, want);
    });
    expect_equal(found, truth, Precision::DOUBLE, DERIVATIVES | VIRIAL, what);
  }
  Result run(const ListInput &in) { return run_input(*cuda, in, s.nlocal, DERIVATIVES | VIRIAL); }
  ListInput input(const System &system, const Rows &rows, const Neighbors &neighbors,
                  std::int64_t version)
  {
    ListInput in = list_input(system, rows, neighbors);
    in.version = version;
    return in;
  }
  const Switch function = Switch(FUNCTION);
  const std::unique_ptr<Coordination> cuda = make_cuda(function, Precision::DOUBLE);
  const System s = make_system(random_points(900, 5, 5, 5, 0, 61), Groups::OVERLAPPING, 300);
  const std::unique_ptr<Rows> rows = rows_of(s);
  const Neighbors neighbors = Neighbors(s, function.dmax());
  const Neighbors nearest = Neighbors(s, 0.5 * function.dmax());    // other lists of the same atoms
};

TEST_F(Lists, one_version_is_read_once_and_positions_every_time)
{
  expect_host(run(input(s, *rows, neighbors, 7)), input(s, *rows, neighbors, 0), "first");
  System moved = s;
  std::mt19937_64 random(62);
  for (double &v : moved.x) v += std::uniform_real_distribution<double>(-0.05, 0.05)(random);
  // The lists of the first evaluation remain valid, whatever lists are given with their version.
  expect_host(run(input(moved, *rows, nearest, 7)), input(moved, *rows, neighbors, 0), "moved");
  expect_host(run(input(s, *rows, nearest, 7)), input(s, *rows, neighbors, 0), "moved back");
}

TEST_F(Lists, another_version_is_read)
{
  const Result first = run(input(s, *rows, neighbors, 7)),
               second = run(input(s, *rows, nearest, 8));
  EXPECT_LT(second.sum.value, first.sum.value);
  expect_host(second, input(s, *rows, nearest, 0), "another version");
  expect_host(run(input(s, *rows, neighbors, 7)), input(s, *rows, neighbors, 0),
              "a version from before");
  const System fewer =
      make_system(random_points(500, 4, 4, 4, 0, 63), Groups::OVERLAPPING, 500 - 100);
  const auto fewer_rows = rows_of(fewer);
  const Neighbors fewer_neighbors(fewer, function.dmax());
  const ListInput in = input(fewer, *fewer_rows, fewer_neighbors, 9);
  const HostTruth truth(function, [&](Coordination &c, unsigned want) {
    return run_input(c, in, fewer.nlocal, want);
  });
  expect_equal(run_input(*cuda, in, fewer.nlocal, DERIVATIVES | VIRIAL), truth, Precision::DOUBLE,
               DERIVATIVES | VIRIAL, "other atoms");
  expect_host(run(input(s, *rows, nearest, 10)), input(s, *rows, nearest, 0), "more atoms again");
}

TEST_F(Lists, without_a_version_are_read_every_time)
{
  expect_host(run(input(s, *rows, neighbors, 0)), input(s, *rows, neighbors, 0), "first");
  expect_host(run(input(s, *rows, nearest, 0)), input(s, *rows, nearest, 0), "second");
  expect_host(run(input(s, *rows, neighbors, 3)), input(s, *rows, neighbors, 0), "a version");
  expect_host(run(input(s, *rows, nearest, 0)), input(s, *rows, nearest, 0), "none");
  expect_host(run(input(s, *rows, neighbors, 3)), input(s, *rows, neighbors, 0),
              "the version again");
}

// Atoms enter groups that did not need their lists in earlier evaluations.
TEST_F(Lists, one_version_serves_any_groups)
{
  run(input(s, *rows, neighbors, 7));
  for (const unsigned seed : {2u, 3u}) {
    const System other = make_system(s.x, Groups::OVERLAPPING, s.nall() - s.nlocal, seed);
    EXPECT_NE(other.member, s.member);
    const auto other_rows = rows_of(other);
    expect_host(run(input(other, *other_rows, neighbors, 7)),
                input(other, *other_rows, neighbors, 0), "other groups");
  }
  const System one = make_system(s.x, Groups::ONE, s.nall() - s.nlocal);
  const auto one_rows = rows_of(one);
  expect_host(run(input(one, *one_rows, neighbors, 7)), input(one, *one_rows, neighbors, 0),
              "one group");
  expect_host(run(input(s, *rows, neighbors, 7)), input(s, *rows, neighbors, 0),
              "the first groups again");
}

// ---- bitwise reproducibility

// Runs of every engine, on sorted and unsorted systems.
struct Inputs {
  Inputs()
  {
    for (const int n : {700, 20000})
      for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
        const double side = std::cbrt(n / 8.0);
        systems.push_back(make_system(random_points(n, side, side, side, 0, 71), groups, n / 5));
      }
    for (const System &s : systems) runs.push_back(cells_of(s));
    const System &small = systems[1];
    runs.push_back([&](Coordination &c, unsigned want) {
      return run_list(c, small, FUNCTION.dmax, want);
    });
    gathered = small;
    gathered.nlocal = gathered.nall();
    runs.push_back([&](Coordination &c, unsigned want) {
      return run_allpairs(c, gathered, brute::Cell(), want);
    });
    for (int k = 0; k < 350; ++k) {
      row_a.push_back(k % 9 ? k % 200 : -1);
      row_b.push_back(k % 7 ? k % 111 : -1);
    }
    pairs.n = 350;
    pairs.xa = small.x.data();
    pairs.xb = small.x.data() + 3 * 350;
    pairs.row_a = row_a.data();
    pairs.row_b = row_b.data();
    runs.push_back([&](Coordination &c, unsigned want) {
      return run_input(c, pairs, 200, want);
    });
  }
  Inputs(const Inputs &) = delete;
  std::vector<System> systems;
  System gathered;
  std::vector<int> row_a, row_b;
  PairsInput pairs;
  std::vector<Run> runs;
};

TEST(Bits, are_the_same_for_any_threads_warps_and_run_after_run)
{
  const Inputs inputs;
  const Switch function(FUNCTION);
  for (const Precision precision : PRECISIONS)
    for (const bool lists : WITH_AND_WITHOUT_LISTS)
      for (std::size_t k = 0; k < inputs.runs.size(); ++k)
        for (const unsigned want : {unsigned(VALUE), DERIVATIVES | VIRIAL, EVERYTHING}) {
          const Result first = inputs.runs[k](*make_cuda(function, precision, lists, 1), want);
          EXPECT_GT(first.sum.value, 1.0);
          for (const int nthreads : {1, 4})
            for (const int warps : {1, 2, 3, 4}) {
              const auto cuda = make_cuda(function, precision, lists, nthreads, warps);
              for (int repeat = 0; repeat < 2; ++repeat)
                EXPECT_TRUE(same_bits(first, inputs.runs[k](*cuda, want)))
                    << "input " << k << ", " << name_of(precision) << " " << label_of(lists) << ", "
                    << nthreads << " threads, " << warps << " warps, want " << want;
            }
        }
}

TEST(Bits, do_not_depend_on_what_was_computed_before_nor_on_other_objects)
{
  const Inputs inputs;
  const Switch function(FUNCTION), another(plain(SwitchKind::EXP, 0.4, 0.2, 1.1));
  for (const Precision precision : PRECISIONS)
    for (const bool lists : WITH_AND_WITHOUT_LISTS) {
      const unsigned wants_before[] = {DERIVATIVES, VIRIAL, EVERYTHING};
      const auto used = make_cuda(function, precision, lists),
                 other = make_cuda(another, precision, lists);
      for (const unsigned want : BOTH_FORMS) {
        std::vector<Result> fresh;
        for (const auto &run : inputs.runs)
          fresh.push_back(run(*make_cuda(function, precision, lists), want));
        for (std::size_t before = 0; before < inputs.runs.size(); ++before)
          for (std::size_t k = 0; k < inputs.runs.size(); ++k) {
            inputs.runs[before](*used, wants_before[before % 3]);
            inputs.runs[before](*other, DERIVATIVES);
            EXPECT_TRUE(same_bits(fresh[k], inputs.runs[k](*used, want)))
                << "input " << k << " after " << before << ", " << name_of(precision) << " "
                << label_of(lists) << ", want " << want;
          }
      }
    }
}

}    // namespace
