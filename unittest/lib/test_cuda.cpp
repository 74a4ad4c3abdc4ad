// Part of GPUCOORD, GPL-2.0. The CUDA backend, compared with the host backend in double.
// test_coordination.cpp compares the host backend with brute force. These tests cover systems that
// are too large for brute force, and properties of devices, such as copies of lists, launch shapes
// and device memory.

#include "closed_forms.h"
#include "engines.h"
#include "gpu_tests.h"
#include "switch_cases.h"
#include "worst_errors.h"

#include "../../lib/gpucoord/src/coordination/coordination_cuda.h"
#include "gpucoord/coordination.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

using gpucoord::CudaTuning;
using gpucoord::DeviceError;
using Processor = gpucoord::CudaTuning::Processor;

namespace {

// Unit of errors: the largest effect of one rounding of the positions and of the pair terms
// (PairSizes), times the number of pairs. One thread adds the terms of an atom one by one: n terms
// may lose more, most if they are nearly equal. With this order of sums, the host's formulas lost
// at most 0.0008 n.
constexpr double ROUNDINGS = 1.0;
constexpr double ROUNDINGS_PER_SUMMAND = 0.002;
// Relative errors of S, as in test_coordination.cpp.
constexpr double RELATIVE_DOUBLE = 2e-12;
constexpr double RELATIVE_FLOAT = 2e-6;
// Custom expressions, in roundings of s and of ds/dr including the effect of rounding r. The
// mathematical functions of CUDA and of the host differ by a few roundings, and up to four are
// nested.
constexpr double UNITS_CUSTOM = 16.0;

const Processor PROCESSORS[] = {
    Processor::AUTO,
    Processor::WARP,
#ifdef GPUCOORD_BENCH_VARIANTS
    Processor::BLOCK,
#endif
};

const char *label_of(Processor p)
{
  return p == Processor::AUTO ? "auto" : p == Processor::WARP ? "warp" : "block";
}

std::unique_ptr<Coordination> make_cuda(const Switch &function, Precision precision,
                                        Processor processor = Processor::AUTO, int nthreads = 2,
                                        int warps = 4)
{
  CudaTuning tuning;
  tuning.processor = processor;
  tuning.warps_per_block = warps;
  return gpucoord::make_cuda_coordination(function, precision, 0, nthreads, tuning);
}

int all_cores()
{
  return std::max(1u, std::thread::hardware_concurrency());
}

// ---- comparison with the host

using Run = std::function<Result(Coordination &, unsigned want)>;

// Contribution of one pair to the scale of errors (brute_force.h), at its worst distance, and the
// jump of s and ds/dr at dmax.
struct PairSizes {
  double s = 0, gradient = 0, virial = 0;
  double s_end = 0, derivative_end = 0, dmax = 0;
};

PairSizes sizes_of(const Switch &function)
{
  const SwitchOptions &o = function.options();
  const closed::Function<long double> exact(o);
  // s vanishes beyond 20 r0, and no system here is wider than three times this distance.
  const double a = exact.amplification(), reach = std::min(o.dmax, 20 * o.r0), extent = 3 * reach;
  PairSizes sizes;
  for (int k = 1; k <= 2000; ++k) {
    const long double r = o.d0 + (reach - o.d0) * k / 2000, h = 1e-5L * (r - o.d0);
    const double derivative = std::fabs(static_cast<double>(exact.smooth(r).ds));
    const double curvature =
        static_cast<double>(fabsl(exact.smooth(r + h).ds - exact.smooth(r - h).ds) / (2 * h));
    const double r_double = static_cast<double>(r);
    const double gradient = a * derivative + extent * (curvature + derivative / r_double);
    sizes.s = std::max(sizes.s, a + extent * derivative);
    sizes.gradient = std::max(sizes.gradient, gradient);
    sizes.virial = std::max(sizes.virial, r_double * gradient + extent * derivative);
  }
  if (function.has_end()) {
    sizes.dmax = o.dmax;
    sizes.s_end = std::fabs(static_cast<double>(exact.smooth(o.dmax).s));
    sizes.derivative_end = std::fabs(static_cast<double>(exact.smooth(o.dmax).ds));
  }
  return sizes;
}

// Results of the host. Each has its number of pairs, and the number of pairs so close to dmax that
// rounding decides whether they are in range.
struct HostTruth {
  HostTruth(const Switch &function, const Run &run) : sizes(sizes_of(function))
  {
    result = run(*gpucoord::make_host_coordination(function, Precision::DOUBLE, all_cores()),
                 EVERYTHING);
    pairs[0] = count(function, run, 1e-12);
    pairs[1] = count(function, run, 2e-6);
  }
  struct Pairs {
    Result all, certain;    // pairs up to slightly beyond dmax, and up to slightly below
  };
  static Pairs count(const Switch &function, const Run &run, double margin)
  {
    const double dmax = function.dmax();
    const auto counted = [&](double range) {
      // s = 1/(1 + 1e-36) = 1 at any distance that occurs.
      const double r0 = 1e6 * (function.has_end() ? dmax : 1e6);
      const Switch one(rational(6, 12, r0, 0.0, range, false));
      return run(*gpucoord::make_host_coordination(one, Precision::DOUBLE, all_cores()),
                 DERIVATIVES);
    };
    return {counted(dmax * (1 + margin)), counted(dmax * (1 - margin))};
  }
  PairSizes sizes;
  Result result;
  Pairs pairs[2];    // in double, in float
};

void expect_equal(const Result &r, const HostTruth &truth, Precision precision, unsigned want,
                  const std::string &what)
{
  const double eps = eps_of(precision);
  const bool in_float = precision != Precision::DOUBLE;
  const Result &expected = truth.result, &all = truth.pairs[in_float].all,
               &certain = truth.pairs[in_float].certain;
  const PairSizes &sizes = truth.sizes;
  Worst &w = worst_of_all()[name_of(precision)];
  double largest_partners = 0.0, worst = 0.0;
  for (std::size_t k = 0; k < all.peratom.size(); k += 4)
    largest_partners = std::max(largest_partners, all.peratom[k]);
  std::string where;
  // Error of one number relative to its limit, without possible changes from pairs at dmax.
  const auto check = [&](double got, double value, double npairs, double ndoubtful, double partners,
                         double size, double jump, const char *name, std::size_t row) {
    const double error = std::fabs(got - value) - ndoubtful * jump;
    const double roundings = error <= 0.0 ? 0.0 : error / (eps * npairs * size);
    const double summands = precision == Precision::MIXED ? std::min(partners, 256.0) : partners;
    const double ratio = roundings / (ROUNDINGS + ROUNDINGS_PER_SUMMAND * summands);
    if (ratio <= worst) return;    // false for NaN
    worst = std::isnan(ratio) ? INF : ratio;
    where = std::string(name) + " of row " + std::to_string(row) + " is " +
        testing::PrintToString(got) + ", not " + testing::PrintToString(value);
  };
  const double npairs = all.sum.value, ndoubtful = npairs - certain.sum.value;
  check(r.sum.value, expected.sum.value, npairs, ndoubtful, largest_partners, sizes.s, sizes.s_end,
        "S", 0);
  if (expected.sum.value > 1.0 && ndoubtful == 0) {
    const double relative = std::fabs(r.sum.value / expected.sum.value - 1.0);
    EXPECT_LE(relative, in_float ? RELATIVE_FLOAT : RELATIVE_DOUBLE) << what << ": S";
    w.relative_s = std::max(w.relative_s, relative);
  }
  double largest = 0.0;
  for (const double v : expected.sum.virial) largest = std::max(largest, std::fabs(v));
  for (int k = 0; k < 6; ++k) {
    const bool wanted = want & VIRIAL;
    check(r.sum.virial[k], wanted ? expected.sum.virial[k] : 0.0, npairs, ndoubtful,
          largest_partners, wanted ? sizes.virial : 0.0, sizes.derivative_end * sizes.dmax, "W", k);
    if (wanted && largest > 0.0 && npairs > 1000 && ndoubtful == 0)
      w.relative_virial = std::max(w.relative_virial,
                                   std::fabs(r.sum.virial[k] - expected.sum.virial[k]) / largest);
  }
  if (want & DERIVATIVES) {
    const int columns = peratom_columns(want), expected_columns = peratom_columns(EVERYTHING);
    const int counted_columns = peratom_columns(DERIVATIVES);
    const std::size_t nrows = expected.peratom.size() / expected_columns;
    ASSERT_EQ(r.peratom.size(), columns * nrows) << what;
    double largest_of_kind[3] = {};
    for (std::size_t k = 0; k < expected.peratom.size(); ++k) {
      double &l = largest_of_kind[kind_of(k % expected_columns)];
      l = std::max(l, std::fabs(expected.peratom[k]));
    }
    const double size_of_kind[3] = {sizes.s, sizes.gradient, sizes.virial};
    const double jump_of_kind[3] = {sizes.s_end, sizes.derivative_end,
                                    sizes.derivative_end * sizes.dmax};
    const char *const name_of_kind[3] = {"s_i", "dS/dx", "W_i"};
    double *const relative_of_kind[3] = {&w.relative_si, &w.relative_gradient,
                                         &w.relative_atom_virial};
    for (std::size_t row = 0; row < nrows; ++row) {
      const double partners = all.peratom[counted_columns * row],
                   doubtful = partners - certain.peratom[counted_columns * row];
      for (int column = 0; column < columns; ++column) {
        const double got = r.peratom[columns * row + column],
                     value = expected.peratom[expected_columns * row + column];
        const int kind = kind_of(column);
        // Without partners both numbers must be exactly 0: any difference counts as infinitely many
        // roundings.
        check(got, value, partners, doubtful, partners, size_of_kind[kind], jump_of_kind[kind],
              name_of_kind[kind], row);
        if (npairs <= 1000 || doubtful > 0) continue;
        double &relative = *relative_of_kind[kind];
        relative = std::max(relative, std::fabs(got - value) / largest_of_kind[kind]);
      }
    }
  }
  EXPECT_LE(worst, 1.0) << what << ": " << where;
  w.measure = std::max(w.measure, worst);
}

testing::Environment *const print_worst =
    testing::AddGlobalTestEnvironment(new PrintWorst("CUDA errors", "of the limit"));

// s(dmax) is 1/65, not 0: a pair that is lost or kept at the end of the range becomes visible.
const SwitchOptions FUNCTION = rational(6, 12, 0.8, 0.0, 1.6, false);

// CUDA backends of one function in each precision and with each processor, reused for all inputs.
class Backends {
 public:
  explicit Backends(const SwitchOptions &o) : function(o)
  {
    for (const Precision precision : PRECISIONS)
      for (const Processor processor : PROCESSORS)
        list.push_back({precision, std::string(name_of(precision)) + " " + label_of(processor),
                        make_cuda(function, precision, processor)});
  }
  void check(const Run &run, const std::string &what,
             const std::vector<unsigned> &wants = {DERIVATIVES | VIRIAL, EVERYTHING})
  {
    const HostTruth truth(function, run);
    for (const auto &b : list)
      for (const unsigned want : wants)
        expect_equal(run(*b.backend, want), truth, b.precision, want,
                     what + " " + b.name + " want " + std::to_string(want));
  }
  const Switch function;

 private:
  struct One {
    Precision precision;
    std::string name;
    std::unique_ptr<Coordination> backend;
  };
  std::vector<One> list;
};

const std::vector<unsigned> ALL_WANTS = {VALUE, DERIVATIVES, VIRIAL, DERIVATIVES | VIRIAL,
                                         EVERYTHING};

Run cells_of(const System &s)
{
  return [&s](Coordination &c, unsigned want) {
    return run_cells(c, s, want);
  };
}

// Checks cells. Checks list and allpairs only for small systems because of their cost.
void check_engines(Backends &backends, const System &s, const std::string &what,
                   const std::vector<unsigned> &wants = {DERIVATIVES | VIRIAL, EVERYTHING})
{
  backends.check(cells_of(s), what + " cells", wants);
  if (s.nall() > 5000) return;
  const auto rows = rows_of(s);
  const Neighbors neighbors(s, backends.function.dmax());
  const ListInput in = list_input(s, *rows, neighbors);
  backends.check(
      [&](Coordination &c, unsigned want) {
        return run_input(c, in, s.nlocal, want);
      },
      what + " list", wants);
  if (s.nlocal == s.nall())
    backends.check(
        [&](Coordination &c, unsigned want) {
          return run_allpairs(c, s, brute::Cell(), want);
        },
        what + " allpairs", wants);
}

// ---- sizes and groups

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, equal_the_host)
{
  const int n = GetParam();
  const bool large = n > 5000;
  Backends backends(FUNCTION);
  const double side = std::cbrt(n / 8.0 + 0.1);
  const std::vector<double> x = random_points(n, side, side, 1.3 * side, -2.0, n);
  for (const Groups groups :
       {Groups::ONE, Groups::DISJOINT, Groups::OVERLAPPING, Groups::IDENTICAL, Groups::TINY})
    for (const int owned :
         large ? std::vector<int>{3 * n / 4} : std::vector<int>{n, n / 2, std::min(n, 3)})
      check_engines(backends, make_system(x, groups, n - owned),
                    std::to_string(n) + " atoms, " + std::to_string(owned) + " owned, groups " +
                        std::to_string(static_cast<int>(groups)),
                    ALL_WANTS);
}

INSTANTIATE_TEST_SUITE_P(cuda, Sizes,
                         testing::Values(0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 1000,
                                         4095, 4096, 4097, 20000, 100000),
                         [](const auto &info) {
                           return "n" + std::to_string(info.param);
                         });

// ---- shapes

TEST(Shapes, dense_clusters_in_an_empty_space)
{
  Backends backends(FUNCTION);
  for (const int n : {4000, 12000})
    check_engines(backends, make_system(random_points(n, 0.8, 0.8, 0.8, 3.0, 41), Groups::ONE),
                  "one cluster");
  // Clusters of thousands of atoms within one range, and a thin gas around them.
  std::vector<double> x = random_points(3000, 90, 90, 90, 0, 42);
  for (const double at : {7.0, 30.0, 31.0, 80.0})
    x = joined(x, random_points(2500, 0.9, 0.9, 0.9, at, 43));
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    check_engines(backends, make_system(x, groups), "clusters in a gas");
    check_engines(backends, make_system(x, groups, 5000), "clusters, two of them ghosts");
  }
}

TEST(Shapes, droplets_far_apart)
{
  Backends backends(FUNCTION);
  for (const double distance : {1e3, 1e6, 1e9})
    for (const int n : {300, 6000}) {
      const double side = std::cbrt(n / 8.0);
      std::vector<double> x = random_points(n, side, side, side, 0, 44);
      x = joined(x, random_points(n / 2, side, side, side, distance, 45));
      check_engines(backends, make_system(x, Groups::ONE),
                    "droplets " + std::to_string(distance) + " apart");
      check_engines(backends, make_system(x, Groups::DISJOINT, n / 2), "droplets, one of ghosts");
    }
  // A stray atom so far away that columns are as wide as the droplet.
  const double side = 30.0;
  check_engines(backends,
                make_system(joined(random_points(20000, side, side, side, 0, 44), {3e7, 3e7, 3e7}),
                            Groups::ONE),
                "a droplet and a stray atom");
}

TEST(Shapes, planes_lines_and_thin_gases)
{
  Backends backends(FUNCTION);
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    check_engines(backends, make_system(random_points(20000, 60, 60, 0, 1.7, 46), groups),
                  "a plane in x and y");
    check_engines(backends, make_system(random_points(20000, 0, 60, 60, 1.7, 46), groups),
                  "a plane in y and z");
    check_engines(backends, make_system(random_points(5000, 500, 0, 0, 1.7, 47), groups),
                  "a line along x");
    check_engines(backends, make_system(random_points(5000, 0, 0, 500, 1.7, 47), groups),
                  "a line along z");
    check_engines(backends, make_system(random_points(20000, 200, 80, 1, 1.7, 48), groups),
                  "a slab");
    check_engines(backends, make_system(random_points(400, 60, 60, 60, 1.7, 49), groups),
                  "a few atoms in a large space");
    check_engines(backends, make_system(random_points(30000, 300, 300, 300, 1.7, 50), groups),
                  "a thin gas");
  }
}

TEST(Shapes, every_atom_in_range_of_every_other)
{
  for (const double dmax : {30.0, 1e9}) {
    Backends backends(rational(6, 12, 2.0, 0.0, dmax));
    check_engines(backends, make_system(random_points(4500, 9, 9, 9, -3, 51), Groups::ONE),
                  "long range");
    check_engines(backends,
                  make_system(random_points(6000, 9, 9, 9, -3, 51), Groups::OVERLAPPING, 1000),
                  "long range");
    // More atoms than are accepted unsorted, in the narrowest columns.
    check_engines(backends, make_system(random_points(20000, 9, 9, 9, -3, 51), Groups::ONE),
                  "long range, sorted");
  }
}

TEST(AllPairs, in_a_tilted_box_equal_the_host)
{
  brute::Cell cell;
  const double edges[3][3] = {{9, 0, 0}, {3.9, 10, 0}, {-4.1, 4.8, 8}};
  std::memcpy(cell.edges, edges, sizeof(edges));
  for (bool &p : cell.periodic) p = true;
  for (const double dmax : {2.0, INF}) {
    Backends backends(rational(6, 12, 1.0, 0.0, dmax, false));
    for (const int n : {33, 1025, 2500})
      for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
        const System s = make_system(random_points(n, 30, 30, 30, -9, 52), groups);
        backends.check(
            [&](Coordination &c, unsigned want) {
              return run_allpairs(c, s, cell, want);
            },
            std::to_string(n) + " atoms in a tilted box", ALL_WANTS);
        // The contribution of the middle one of three ranks.
        const Gathered middle(s, cell, 1, 3);
        backends.check(
            [&](Coordination &c, unsigned want) {
              return run_input(c, middle.in, s.nall(), want);
            },
            std::to_string(n) + " atoms, one of three ranks");
      }
  }
}

TEST(Pairs, of_any_number_equal_the_host)
{
  brute::Cell cell;
  const double edges[3][3] = {{9, 0, 0}, {3.9, 10, 0}, {-4.1, 4.8, 8}};
  std::memcpy(cell.edges, edges, sizeof(edges));
  for (bool &p : cell.periodic) p = true;
  for (const double dmax : {3.0, INF}) {
    Backends backends(rational(6, 12, 1.5, 0.0, dmax, false));
    for (const int n : {0, 1, 31, 32, 33, 255, 256, 257, 4097, 100000}) {
      const std::vector<double> xa = random_points(n, 30, 30, 30, -9, 53),
                                xb = random_points(n, 30, 30, 30, -9, 54);
      const int nlocal = n / 3 + 1;    // atoms are in several pairs, or in none
      std::mt19937_64 random(55);
      std::vector<int> row_a, row_b;
      for (int k = 0; k < n; ++k) {
        row_a.push_back(static_cast<int>(random() % (nlocal + 1)) - 1);
        row_b.push_back(static_cast<int>(random() % (nlocal + 1)) - 1);
      }
      PairsInput in;
      in.box = gpucoord::make_box(cell.edges, cell.periodic);
      in.n = n;
      in.xa = xa.data();
      in.xb = xb.data();
      in.row_a = row_a.data();
      in.row_b = row_b.data();
      backends.check(
          [&](Coordination &c, unsigned want) {
            return run_input(c, in, nlocal, want);
          },
          std::to_string(n) + " pairs", ALL_WANTS);
    }
  }
}

// ---- lists, which the device copies

class Lists : public testing::Test {
 protected:
  // The list engine must give the host's result for 'in'. The host does not read the version of
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

TEST_F(Lists, of_one_version_are_read_once_and_positions_every_time)
{
  expect_host(run(input(s, *rows, neighbors, 7)), input(s, *rows, neighbors, 0), "first");
  System moved = s;
  std::mt19937_64 random(62);
  for (double &v : moved.x) v += std::uniform_real_distribution<double>(-0.05, 0.05)(random);
  // The lists of the first evaluation remain valid, whatever lists are given with their version.
  expect_host(run(input(moved, *rows, nearest, 7)), input(moved, *rows, neighbors, 0), "moved");
  expect_host(run(input(s, *rows, nearest, 7)), input(s, *rows, neighbors, 0), "moved back");
}

TEST_F(Lists, of_another_version_are_taken_up)
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

// Atoms enter the groups that did not need their lists before.
TEST_F(Lists, of_one_version_serve_any_groups)
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
    for (const Processor processor : PROCESSORS)
      for (std::size_t k = 0; k < inputs.runs.size(); ++k)
        for (const unsigned want : {unsigned(VALUE), DERIVATIVES | VIRIAL, EVERYTHING}) {
          const Result first = inputs.runs[k](*make_cuda(function, precision, processor, 1), want);
          EXPECT_GT(first.sum.value, 1.0);
          for (const int nthreads : {1, 4})
            for (const int warps : {1, 2, 3, 4}) {
              const auto cuda = make_cuda(function, precision, processor, nthreads, warps);
              for (int repeat = 0; repeat < 2; ++repeat)
                EXPECT_TRUE(same_bits(first, inputs.runs[k](*cuda, want)))
                    << "input " << k << ", " << name_of(precision) << " " << label_of(processor)
                    << ", " << nthreads << " threads, " << warps << " warps, want " << want;
            }
        }
}

TEST(Bits, do_not_depend_on_what_was_computed_before_nor_on_other_objects)
{
  const Inputs inputs;
  const Switch function(FUNCTION), another(plain(SwitchKind::EXP, 0.4, 0.2, 1.1));
  for (const Precision precision : PRECISIONS)
    for (const Processor processor : PROCESSORS) {
      const unsigned wants_before[] = {DERIVATIVES, VIRIAL, EVERYTHING};
      const auto used = make_cuda(function, precision, processor),
                 other = make_cuda(another, precision, processor);
      for (const unsigned want : BOTH_FORMS) {
        std::vector<Result> fresh;
        for (const auto &run : inputs.runs)
          fresh.push_back(run(*make_cuda(function, precision, processor), want));
        for (std::size_t before = 0; before < inputs.runs.size(); ++before)
          for (std::size_t k = 0; k < inputs.runs.size(); ++k) {
            inputs.runs[before](*used, wants_before[before % 3]);
            inputs.runs[before](*other, DERIVATIVES);
            EXPECT_TRUE(same_bits(fresh[k], inputs.runs[k](*used, want)))
                << "input " << k << " after " << before << ", " << name_of(precision) << " "
                << label_of(processor) << ", want " << want;
          }
      }
    }
}

// ---- expressions

// Every function of Lepton, with arguments that change the result if they are swapped.
const char *const EXPRESSIONS[] = {"1",
                                   "x",
                                   "2-x",
                                   "-x",
                                   "x/(1+x)",
                                   "3/(2+x)-x*0.5",
                                   "sqrt(x+0.1)",
                                   "exp(-x)",
                                   "log(x+0.5)",
                                   "sin(x)",
                                   "cos(x)",
                                   "sec(x/3)",
                                   "csc(x/3+0.5)",
                                   "tan(x/3)",
                                   "cot(x/3+0.5)",
                                   "asin(x/4)",
                                   "acos(x/4)",
                                   "atan(x)",
                                   "atan2(x,2)",
                                   "atan2(2,x+0.3)",
                                   "sinh(x)",
                                   "cosh(x)",
                                   "tanh(x)",
                                   "erf(x)",
                                   "erfc(x)",
                                   "step(x-1)",
                                   "step(1-x)",
                                   "delta(x-1)",
                                   "square(x)",
                                   "cube(x)",
                                   "recip(x+1)",
                                   "min(x,2-x)",
                                   "max(2-x,x)",
                                   "abs(x-1)",
                                   "floor(2*x)",
                                   "ceil(2*x)",
                                   "select(step(x-1),exp(-x),1-x)",
                                   "select(delta(x-1),2,x)",
                                   "select(x-1,x,5)",
                                   "x^0",
                                   "x^1",
                                   "x^2",
                                   "x^7",
                                   "(1+x)^(-1)",
                                   "(1+x)^(-6)",
                                   "(x-1)^3",
                                   "x^2.5",
                                   "(1+x)^(-0.5)",
                                   "2^x",
                                   "(1+x)^x",
                                   "(1+x)^(-x/2)",
                                   "2^(-x^2)",
                                   "1-tanh(x)",
                                   "(1-(x/2)^6)/(1-(x/2)^13)",
                                   "1/(1+exp(5*(x-1)))",
                                   "y*y; y=1+x",
                                   "exp(-z)*w; z=x^2; w=cos(x)",
                                   "min(1,max(0,1.5-x))^2",
                                   "1/(1+x*(1+x*(1+x*(1+x*(1+x*(1+x*(1+x*(1+x))))))))",
                                   "x-(1-(x-(1-(x-(1-(x-(1-(x-(1-(x-(1-x)))))))))))"};

TEST(Expressions, equal_the_host)
{
  for (const char *const expression : EXPRESSIONS) {
    SwitchOptions o = plain(SwitchKind::CUSTOM, 1.0, 0.0, 3.0, false);
    o.expression = expression;
    const Switch function(o);
    std::vector<double> at, origin;
    std::vector<int> rows, not_owned;
    for (int k = 0; k <= 97; ++k) {    // 1/32 apart: exact in float, and x = 1 is included
      at.insert(at.end(), {k / 32.0, 0.0, 0.0});
      rows.push_back(k);
    }
    origin.assign(at.size(), 0.0);
    not_owned.assign(rows.size(), -1);
    PairsInput in;
    in.n = static_cast<std::int64_t>(rows.size());
    in.xa = origin.data();
    in.xb = at.data();
    in.row_a = rows.data();
    in.row_b = not_owned.data();
    for (const Precision precision : PRECISIONS) {
      const Result r = run_input(*make_cuda(function, precision), in, static_cast<int>(rows.size()),
                                 DERIVATIVES);
      const double unit = UNITS_CUSTOM * eps_of(precision);
      for (const int k : rows) {
        const double distance = at[3 * k], h = 1e-4 * distance;
        if (distance == 2.0 && std::string(expression).find("^13") != std::string::npos)
          continue;    // 0/0
        double derivative, before, after;
        const double s = function.evaluate(distance, &derivative, precision);
        function.evaluate(distance - h, &before);
        function.evaluate(distance + h, &after);
        const double bend = distance == 0.0 || after == 0.0
            ? 0.0
            : std::fabs(after - before) / 2e-4;    // r d2s/dr2
        const std::string what = std::string(expression) + ", " + name_of(precision) +
            ", r = " + std::to_string(distance);
        EXPECT_NEAR(r.peratom[4 * k], s,
                    unit * (1 + std::fabs(s) + distance * std::fabs(derivative)))
            << what;
        EXPECT_NEAR(-r.peratom[4 * k + 1], derivative, unit * (1 + std::fabs(derivative) + bend))
            << what;
      }
    }
  }
}

TEST(Expressions, that_are_nested_too_deeply_are_refused_or_right)
{
  std::string expression = "x";
  for (int depth = 0; depth < 40; ++depth) expression = "1/(1+x*" + expression + ")";
  SwitchOptions o = plain(SwitchKind::CUSTOM, 1.0, 0.0, 3.0, false);
  o.expression = expression;
  const Switch function(o);
  const System s = make_system(random_points(100, 2, 2, 2, 0, 81), Groups::IDENTICAL);
  try {
    const auto cuda = make_cuda(function, Precision::DOUBLE);
    const double found = run_cells(*cuda, s, VALUE).sum.value;
    const double expected =
        run_cells(*gpucoord::make_host_coordination(function, Precision::DOUBLE, 1), s, VALUE)
            .sum.value;
    EXPECT_NEAR(found, expected, 1e-12 * expected);
  } catch (const DeviceError &error) {
    EXPECT_NE(std::string(error.what()).find("nest"), std::string::npos) << error.what();
  }
}

// ---- devices

TEST(Devices, have_names_and_others_are_errors)
{
  const int count = gpucoord::find_cuda_devices().count;
  for (int device = 0; device < count; ++device)
    EXPECT_FALSE(gpucoord::cuda_device_name(device).empty());
  const System s = make_system(random_points(100, 2, 2, 2, 0, 82), Groups::ONE);
  EXPECT_THROW(
      {
        const auto none =
            gpucoord::make_cuda_coordination(Switch(FUNCTION), Precision::MIXED, count, 1);
        run_cells(*none, s, VALUE);
      },
      DeviceError);
  // The other devices still work.
  const Switch function(FUNCTION);
  const auto cuda = gpucoord::make_cuda_coordination(function, Precision::DOUBLE, count - 1, 1);
  expect_equal(run_cells(*cuda, s, DERIVATIVES | VIRIAL), HostTruth(function, cells_of(s)),
               Precision::DOUBLE, DERIVATIVES | VIRIAL, "the last device");
}

// ---- tests that need the whole GPU or all cores: not in parallel with other tests, and not under
// compute-sanitizer

TEST(WholeGpu, four_million_atoms_equal_the_host)
{
  // 60 neighbors within dmax.
  const int n = 4000000;
  const double side = std::cbrt(n / 60.0 * 4.0 / 3.0 * 3.14159265358979) * FUNCTION.dmax;
  const System s =
      make_system(random_points(n, side, side, side, -100, 91), Groups::IDENTICAL, n / 5);
  const Switch function(FUNCTION);
  const HostTruth truth(function, cells_of(s));
  for (const Precision precision : {Precision::DOUBLE, Precision::MIXED})
    for (const Processor processor : PROCESSORS)
      for (const unsigned want : BOTH_FORMS)
        expect_equal(
            run_cells(*make_cuda(function, precision, processor), s, want), truth, precision, want,
            std::string("4,000,000 atoms ") + name_of(precision) + " " + label_of(processor));
}

// Allocates nearly all memory of the GPU.
class Hog {
 public:
  explicit Hog(std::size_t leave)
  {
    for (std::size_t block = std::size_t(1) << 34; block >= std::size_t(1) << 21; block /= 2)
      for (;;) {
        std::size_t free = 0, total = 0;
        void *memory = nullptr;
        if (cudaMemGetInfo(&free, &total) != cudaSuccess || free < leave + block) break;
        if (cudaMalloc(&memory, block) != cudaSuccess) break;
        blocks.push_back(memory);
      }
    cudaGetLastError();
  }
  ~Hog()
  {
    for (void *memory : blocks) cudaFree(memory);
  }
  Hog(const Hog &) = delete;
  std::size_t size() const { return blocks.size(); }

 private:
  std::vector<void *> blocks;
};

TEST(WholeGpu, memory_that_is_exhausted_is_an_error_after_which_the_object_works)
{
  const Switch function(FUNCTION);
  const System small = make_system(random_points(5000, 9, 9, 9, 0, 92), Groups::ONE);
  // Too dilute for many pairs, but with 48 MB of positions.
  const System large = make_system(random_points(2000000, 400, 400, 400, 0, 93), Groups::ONE);
  for (const Processor processor : PROCESSORS) {
    const auto cuda = make_cuda(function, Precision::DOUBLE, processor);
    const Result expected_small =
        run_cells(*cuda, small, DERIVATIVES | VIRIAL);    // also loads the kernels
    const Result expected_large =
        run_cells(*make_cuda(function, Precision::DOUBLE, processor), large, DERIVATIVES | VIRIAL);
    {
      const Hog hog(std::size_t(24) << 20);
      ASSERT_GT(hog.size(), 0u);
      try {
        run_cells(*cuda, large, DERIVATIVES | VIRIAL);
        ADD_FAILURE() << "2,000,000 atoms fit into 24 MiB";
      } catch (const DeviceError &error) {
        const std::regex expected(
            "no memory for [0-9]+ MiB on the GPU, of which [0-9]+( MiB)? of [0-9]+ MiB are free");
        EXPECT_TRUE(std::regex_search(error.what(), expected)) << error.what();
      }
    }
    EXPECT_TRUE(same_bits(expected_small, run_cells(*cuda, small, DERIVATIVES | VIRIAL)));
    EXPECT_TRUE(same_bits(expected_large, run_cells(*cuda, large, DERIVATIVES | VIRIAL)));
  }
}

}    // namespace
