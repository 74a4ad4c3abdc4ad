// Part of GPUCOORD, GPL-2.0. The CUDA backend, compared with the host backend in double.
// test_coordination.cpp compares the host backend with brute force. These tests cover systems that
// are too large for brute force, and properties of devices, such as launch shapes and device
// memory.

#include "cuda_and_host.h"
#include "engines.h"
#include "gpu_tests.h"
#include "switch_cases.h"

#include "../../lib/gpucoord/src/coordination/coordination_cuda.h"
#include "gpucoord/coordination.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <regex>
#include <string>
#include <vector>

using gpucoord::DeviceError;

namespace {

// Custom expressions, in roundings of s and of ds/dr including the effect of rounding r. The
// mathematical functions of CUDA and of the host differ by a few roundings, and up to four are
// nested.
constexpr double UNITS_CUSTOM = 16.0;

const std::vector<unsigned> ALL_WANTS = {VALUE, DERIVATIVES, VIRIAL, DERIVATIVES | VIRIAL,
                                         EVERYTHING};

// Checks cells. Checks list and allpairs only for small systems because of their cost.
void check_engines(Backends &backends, const System &s, const std::string &what,
                   const std::vector<unsigned> &wants = {DERIVATIVES | VIRIAL, EVERYTHING})
{
  backends.check(cells_of(s), what + " cells", wants);
  backends.check(kept_cells_of(s), what + " cells, pairs are kept", wants);
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

TEST(Pairs, any_number_equals_the_host)
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

TEST(Expressions, deep_nesting_is_refused_or_right)
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
    for (const bool lists : WITH_AND_WITHOUT_LISTS)
      for (const unsigned want : BOTH_FORMS)
        expect_equal(run_cells(*make_cuda(function, precision, lists), s, want), truth, precision,
                     want,
                     std::string("4,000,000 atoms ") + name_of(precision) + " " + label_of(lists));
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
  for (const bool lists : WITH_AND_WITHOUT_LISTS) {
    const auto cuda = make_cuda(function, Precision::DOUBLE, lists);
    const Result expected_small =
        run_cells(*cuda, small, DERIVATIVES | VIRIAL);    // also loads the kernels
    const Result expected_large =
        run_cells(*make_cuda(function, Precision::DOUBLE, lists), large, DERIVATIVES | VIRIAL);
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
