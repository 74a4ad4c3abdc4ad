// Part of GPUCOORD, GPL-2.0. Potential maps on a GPU, compared with the host backend in double.
// test_potential_map.cpp compares the host backend with published formulas, closed forms and finite
// differences, and also runs on a GPU.

#include "gpu_tests.h"

#include "gpucoord/potential_map.h"
#include "gpucoord/resident_map.h"

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

constexpr MapKernel KERNELS[] = {MapKernel::CUT, MapKernel::SMOOTH, MapKernel::TAYLOR,
                                 MapKernel::EWALD, MapKernel::DIRECT};
constexpr MapOverlap OVERLAPS[] = {MapOverlap::SKIP, MapOverlap::ZERO, MapOverlap::SOFT};
const char *const KERNEL_NAMES[] = {"cut", "smooth", "taylor", "ewald", "direct"};

// Relative to the largest value. Fields have a larger tolerance, since steep terms cancel.
constexpr double DOUBLE = 1e-12, DOUBLE_FIELD = 4e-12, FLOAT = 1e-4;

struct System {
  std::vector<double> x, q;
  System(int n, const double *length, unsigned seed)
  {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> coordinate(0.0, 1.0), charge(-1.0, 1.0);
    for (int k = 0; k < n; ++k) {
      for (int c = 0; c < 3; ++c) x.push_back(length[c] * coordinate(random));
      q.push_back(charge(random));
    }
  }
  MapCharges charges() const { return {x.data(), q.data(), static_cast<int>(q.size())}; }
  std::vector<int> all_indices() const
  {
    std::vector<int> all(q.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    return all;
  }
};

struct Values {
  std::vector<double> phi, field;
  explicit Values(std::size_t n) : phi(n, NAN), field(3 * n, NAN) {}
  MapResults out() { return {phi.data(), field.data()}; }
};

std::size_t size_of(const MapGrid &grid)
{
  return static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
}

MapGrid grid_of(const int *n, const double *length, double tilt)
{
  MapGrid grid;
  for (int a = 0; a < 3; ++a) {
    grid.n[a] = n[a];
    grid.step[a][a] = length[a] / n[a];
    grid.origin[a] = 0.3 * grid.step[a][a];
  }
  grid.step[1][0] = tilt * grid.step[0][0];
  grid.step[2][0] = -0.7 * tilt * grid.step[0][0];
  grid.step[2][1] = 0.9 * tilt * grid.step[1][1];
  return grid;
}

MapOptions options_of(MapKernel kernel, MapOverlap overlap, double cutoff)
{
  MapOptions o;
  o.kernel = kernel;
  o.cutoff = cutoff;
  o.alpha = 3.0 / cutoff;
  o.overlap = overlap;
  o.radius = 0.12 * cutoff;
  o.tiny = 1e-5 * cutoff;
  return o;
}

// Largest difference over the largest value.
double difference(const std::vector<double> &found, const std::vector<double> &expected)
{
  double worst = 0.0, largest = 1e-300;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double d = std::fabs(found[k] - expected[k]);
    worst = std::isfinite(d) ? std::max(worst, d) : INFINITY;
    largest = std::max(largest, std::fabs(expected[k]));
  }
  return worst / largest;
}

// At a jump of the kernel, rounding in float decides whether a charge counts.
bool jumps(MapKernel kernel)
{
  return kernel == MapKernel::CUT;
}

}    // namespace

// All kernels; grids of less than one tile, of many tiles, long and flat ones; zero, one and many
// charges.
TEST(MapOnGpu, equals_the_host)
{
  struct Case {
    int n[3];
    double length[3];
    int charges;
    double cutoff, tilt;
  };
  const Case cases[] = {
      {{1, 2, 1}, {9, 9, 9}, 20, 4.0, 0.0},           {{8, 8, 8}, {8, 8, 8}, 1, 3.0, 0.2},
      {{7, 9, 17}, {10, 9, 14}, 900, 3.5, -0.4},      {{40, 3, 2}, {60, 5, 4}, 500, 5.0, 0.3},
      {{2, 33, 21}, {4, 30, 20}, 2500, 6.0, 0.0},     {{50, 41, 37}, {25, 20, 18}, 900, 6.0, 0.45},
      {{64, 64, 64}, {32, 32, 32}, 3000, 4.0, 0.0},   {{5, 6, 7}, {60, 70, 80}, 20000, 12.0, 0.1},
      {{30, 30, 30}, {60, 60, 60}, 20000, 12.0, 0.0}, {{3, 4, 5}, {3, 4, 5}, 3000, 20.0, 0.0}};
  double worst_phi[2] = {}, worst_field[2] = {};
  unsigned seed = 0;
  for (const Case &c : cases)
    for (const MapKernel kernel : KERNELS)
      for (const MapOverlap overlap : OVERLAPS) {
        if (kernel == MapKernel::DIRECT && c.charges > 5000) continue;
        SCOPED_TRACE(std::string(KERNEL_NAMES[static_cast<int>(kernel)]) + ", overlap " +
                     std::to_string(static_cast<int>(overlap)) + ", " + std::to_string(c.n[0]) +
                     " points along x, " + std::to_string(c.charges) + " charges");
        MapOptions o = options_of(kernel, overlap, c.cutoff);
        // Float has two code paths for ewald. These values of alpha use the second path, and the
        // first at the end of its range.
        if (c.tilt != 0.0) o.alpha = (c.tilt > 0.0 ? 5.0 : 3.499) / c.cutoff;
        const MapGrid grid = grid_of(c.n, c.length, c.tilt);
        const System s(c.charges, c.length, ++seed);
        const auto self = s.all_indices();
        const MapPoints points = {s.x.data(), self.data(), std::min(c.charges, 3000)};
        Values expected(size_of(grid)), expected_at(points.n);
        const auto host = make_host_potential_map(o, Precision::DOUBLE, 2);
        host->on_grid(grid, s.charges(), expected.out());
        host->at_points(points, s.charges(), expected_at.out());
        for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
          const bool is_double = precision == Precision::DOUBLE;
          const double limit = is_double ? DOUBLE : jumps(kernel) ? 2e-2 : FLOAT;
          const auto cuda = make_cuda_potential_map(o, precision, 0, 2);
          Values found(size_of(grid)), found_at(points.n), alone(size_of(grid));
          cuda->on_grid(grid, s.charges(), found.out());
          EXPECT_LT(difference(found.phi, expected.phi), limit);
          EXPECT_LT(difference(found.field, expected.field), limit);
          EXPECT_GT(cuda->tested(), 0.0);
          cuda->on_grid(grid, s.charges(), {alone.phi.data(), nullptr});
          EXPECT_LT(difference(alone.phi, expected.phi), limit);
          cuda->at_points(points, s.charges(), found_at.out());
          EXPECT_LT(difference(found_at.phi, expected_at.phi), limit);
          EXPECT_LT(difference(found_at.field, expected_at.field), limit);
          if (!is_double && jumps(kernel)) continue;
          worst_phi[!is_double] =
              std::max({worst_phi[!is_double], difference(found.phi, expected.phi),
                        difference(found_at.phi, expected_at.phi)});
          worst_field[!is_double] =
              std::max({worst_field[!is_double], difference(found.field, expected.field),
                        difference(found_at.field, expected_at.field)});
        }
      }
  std::printf(
      "worst difference over the largest value: double %.2g, field %.2g; mixed %.2g, field %.2g\n",
      worst_phi[0], worst_field[0], worst_phi[1], worst_field[1]);
}

// A crystal with all ions on grid points, the first of them at the origin.
TEST(MapOnGpu, charges_on_points)
{
  const int edge = 12, n[3] = {2 * edge, 2 * edge, 2 * edge};
  const double length[3] = {24.0, 24.0, 24.0};
  System s(0, length, 1);
  for (int k = 0; k < edge; ++k)
    for (int j = 0; j < edge; ++j)
      for (int i = 0; i < edge; ++i) {
        s.x.insert(s.x.end(), {2.0 * i, 2.0 * j, 2.0 * k});
        s.q.push_back((i + j + k) % 2 ? -1.0 : 1.0);
      }
  MapGrid grid = grid_of(n, length, 0.0);
  for (double &c : grid.origin) c = 0.0;
  for (const MapKernel kernel : {MapKernel::SMOOTH, MapKernel::TAYLOR, MapKernel::DIRECT}) {
    const MapOptions o = options_of(kernel, MapOverlap::SKIP, 7.3);
    Values expected(size_of(grid)), found(size_of(grid));
    make_host_potential_map(o, Precision::DOUBLE, 2)->on_grid(grid, s.charges(), expected.out());
    for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
      make_cuda_potential_map(o, precision, 0, 1)->on_grid(grid, s.charges(), found.out());
      EXPECT_LT(difference(found.phi, expected.phi),
                precision == Precision::DOUBLE ? DOUBLE : FLOAT);
      EXPECT_LT(difference(found.field, expected.field),
                precision == Precision::DOUBLE ? DOUBLE : FLOAT);
    }
  }
}

// Points are so far apart that few charges near a tile are near any of its points. Rounding must
// not exclude a charge.
TEST(MapOnGpu, points_far_apart)
{
  const int n[3] = {9, 5, 6};
  const double length[3] = {9000.0, 5000.0, 6000.0}, near[3] = {3.0, 3.0, 3.0};
  const MapGrid grid = grid_of(n, length, 0.0);
  System s(0, length, 1);
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) {
        const System cloud(20, near, 7 + i + 9 * (j + 5 * k));
        const int at[3] = {i, j, k};
        for (std::size_t a = 0; a < cloud.x.size(); ++a)
          s.x.push_back(cloud.x[a] - 1.5 + grid.origin[a % 3] +
                        at[a % 3] * grid.step[a % 3][a % 3]);
        s.q.insert(s.q.end(), cloud.q.begin(), cloud.q.end());
      }
  for (const MapKernel kernel : {MapKernel::CUT, MapKernel::TAYLOR}) {
    const MapOptions o = options_of(kernel, MapOverlap::SKIP, 2.0);
    Values expected(size_of(grid)), found(size_of(grid));
    make_host_potential_map(o, Precision::DOUBLE, 2)->on_grid(grid, s.charges(), expected.out());
    make_cuda_potential_map(o, Precision::DOUBLE, 0, 1)->on_grid(grid, s.charges(), found.out());
    EXPECT_LT(difference(found.phi, expected.phi),
              1e-9);    // positions of 1e3 have 12 decimal places
    EXPECT_LT(difference(found.field, expected.field), 1e-9);
  }
}

// More points than one launch handles, copied back layer by layer. Earlier results must be
// overwritten.
TEST(MapOnGpu, many_launches)
{
  const int n[3] = {160, 150, 140}, few[3] = {5, 5, 5};
  const double length[3] = {80.0, 75.0, 70.0};
  const System s(3000, length, 5);
  const MapOptions o = options_of(MapKernel::SMOOTH, MapOverlap::ZERO, 5.0);
  const auto cuda = make_cuda_potential_map(o, Precision::DOUBLE, 0, 2),
             host = make_host_potential_map(o, Precision::DOUBLE, 2);
  for (const int *points : {n, few, n}) {
    const MapGrid grid = grid_of(points, length, 0.1);
    Values expected(size_of(grid)), found(size_of(grid));
    host->on_grid(grid, s.charges(), expected.out());
    cuda->on_grid(grid, s.charges(), found.out());
    EXPECT_LT(difference(found.phi, expected.phi), DOUBLE);
    EXPECT_LT(difference(found.field, expected.field), DOUBLE_FIELD);
  }
}

// Both kinds of bins agree, with little and with much overflow. The GPU or the host handles the
// overflow; the host's bins hold the same charges.
TEST(MapOnGpu, fixed_bins)
{
  const int n[3] = {150, 90, 95};
  const double length[3] = {75.0, 45.0, 48.0};
  const System s(9000, length, 9);
  const MapGrid grid = grid_of(n, length, 0.2);
  for (const MapKernel kernel :
       {MapKernel::CUT, MapKernel::SMOOTH, MapKernel::TAYLOR, MapKernel::EWALD})
    for (const MapOverlap overlap : {MapOverlap::SKIP, MapOverlap::SOFT})
      for (const MapBins &bins :
           {MapBins{true, 4.0, 8, false}, MapBins{true, 4.0, 8, true}, MapBins{true, 3.1, 1, false},
            MapBins{true, 3.1, 1, true}, MapBins{true, 60.0, 20000, true}}) {
        SCOPED_TRACE(std::string(KERNEL_NAMES[static_cast<int>(kernel)]) + ", size " +
                     std::to_string(bins.size));
        const MapOptions o = options_of(kernel, overlap, 6.0);
        Values expected(size_of(grid)), found(size_of(grid));
        const auto host = make_host_potential_map(o, Precision::DOUBLE, 2, bins),
                   cuda = make_cuda_potential_map(o, Precision::DOUBLE, 0, 2, bins);
        make_host_potential_map(o, Precision::DOUBLE, 2)
            ->on_grid(grid, s.charges(), expected.out());
        cuda->on_grid(grid, s.charges(), found.out());
        EXPECT_LT(difference(found.phi, expected.phi), DOUBLE);
        EXPECT_LT(difference(found.field, expected.field), DOUBLE_FIELD);
        host->on_grid(grid, s.charges(), found.out());
        EXPECT_LT(difference(found.phi, expected.phi), DOUBLE);
        EXPECT_EQ(cuda->overflow().charges, 9000.0);
        EXPECT_EQ(cuda->overflow().overflowing, host->overflow().overflowing);
        EXPECT_EQ(cuda->overflow().deepest, host->overflow().deepest);
        EXPECT_EQ(cuda->overflow().better_depth, host->overflow().better_depth);
        EXPECT_EQ(cuda->overflow().overflowing > 0.0, bins.depth < 20000);
      }
}

template <class T> class OnGpu {
 public:
  explicit OnGpu(const std::vector<T> &values)
  {
    EXPECT_EQ(cudaMalloc(&address, values.size() * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(address, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~OnGpu() { cudaFree(address); }
  const T *data() const { return address; }

 private:
  T *address = nullptr;
};

// Atoms in device memory, in double and float, a group of them, and the sum of maps.
template <class Real> void check_device_map(const MapBins &bins)
{
  const int n[3] = {21, 19, 30}, few[3] = {3, 3, 3}, nlocal = 700;
  const double length[3] = {20.0, 18.0, 30.0};
  System s(1500, length, 21);
  std::vector<int> mask(s.q.size());
  for (std::size_t k = 0; k < mask.size(); ++k) mask[k] = k % 3 == 0 ? 5 : 2;
  for (double &x : s.x) x = static_cast<Real>(x);
  for (double &q : s.q) q = static_cast<Real>(q);
  s.q[1] = 0.0;
  const MapGrid grid = grid_of(n, length, 0.2);
  const OnGpu<Real> x(std::vector<Real>(s.x.begin(), s.x.end())),
      q(std::vector<Real>(s.q.begin(), s.q.end()));
  const OnGpu<int> on_gpu(mask);
  DeviceCharges charges;
  charges.atoms.x = x.data();
  charges.q = q.data();
  charges.atoms.x_is_float = charges.q_is_float = sizeof(Real) == sizeof(float);
  charges.atoms.nlocal = nlocal;
  charges.atoms.nall = 1500;
  const MapOptions o = options_of(MapKernel::TAYLOR, MapOverlap::SOFT, 6.0);
  const auto map = make_resident_potential_map(o, Precision::DOUBLE, bins);
  const auto host = make_host_potential_map(o, Precision::DOUBLE, 2);
  map->set_sum(std::vector<double>(size_of(grid), 3.0).data(), size_of(grid), nullptr);
  std::vector<double> sum(size_of(grid), 3.0);
  for (const int group : {-1, 2, 4, 8}) {
    System chosen(0, length, 1);
    ChargeSums expected_sums;
    for (std::size_t k = 0; k < mask.size(); ++k) {
      if (!(mask[k] & group)) continue;
      chosen.x.insert(chosen.x.end(), &s.x[3 * k], &s.x[3 * k] + 3);
      chosen.q.push_back(s.q[k]);
      if (k >= nlocal) continue;
      expected_sums.charged += s.q[k] != 0.0;
      expected_sums.q += s.q[k];
      expected_sums.q_sq += s.q[k] * s.q[k];
      expected_sums.size += std::fabs(s.q[k]);
    }
    charges.atoms.mask = group == -1 ? nullptr : on_gpu.data();
    charges.groupbit = group;
    const ChargeSums sums = map->begin(charges, nullptr);
    EXPECT_EQ(sums.charged, expected_sums.charged);
    EXPECT_NEAR(sums.q, expected_sums.q, 1e-10);
    EXPECT_NEAR(sums.q_sq, expected_sums.q_sq, 1e-10);
    EXPECT_NEAR(sums.size, expected_sums.size, 1e-10);
    EXPECT_EQ(sums.bad_atom, -1);
    Values expected(size_of(grid)), found(size_of(grid));
    host->on_grid(grid, chosen.charges(), expected.out());
    for (std::size_t p = 0; p < size_of(grid); ++p) {
      expected.phi[p] *= 2.5;
      sum[p] += expected.phi[p];
    }
    map->on_grid(grid, true, 2.5, nullptr);
    map->add_to_sum(nullptr);
    map->fetch(found.out(), nullptr);
    if (group == 8)
      EXPECT_EQ(*std::max_element(found.phi.begin(), found.phi.end()), 0.0);
    else
      EXPECT_LT(difference(found.phi, expected.phi), DOUBLE);
    for (double &e : expected.field) e *= 2.5;
    if (group != 8) EXPECT_LT(difference(found.field, expected.field), DOUBLE_FIELD);
  }
  std::vector<double> found_sum(size_of(grid));
  map->fetch_sum(found_sum.data(), nullptr);
  EXPECT_LT(difference(found_sum, sum), DOUBLE);

  std::vector<Real> bad(s.x.begin(), s.x.end());
  bad[3 * 1200 + 1] = NAN;    // a ghost atom
  const OnGpu<Real> bad_x(bad);
  charges.atoms.x = bad_x.data();
  charges.atoms.mask = nullptr;
  EXPECT_EQ(map->begin(charges, nullptr).bad_atom, 1200);
  charges.atoms = {};
  EXPECT_EQ(map->begin(charges, nullptr).charged, 0.0);
  Values none(27);
  map->on_grid(grid_of(few, length, 0.0), false, 1.0, nullptr);
  map->fetch({none.phi.data(), nullptr}, nullptr);
  for (const double v : none.phi) EXPECT_EQ(v, 0.0);
}

TEST(MapOnGpu, atoms_in_device_memory)
{
  for (const MapBins &bins : {MapBins(), MapBins{true, 4.0, 2, false}}) {
    check_device_map<double>(bins);
    check_device_map<float>(bins);
  }
}

TEST(MapOnGpu, says_when_there_is_no_memory)
{
  const int n[3] = {2000000000, 100, 1};
  const double length[3] = {100.0, 100.0, 100.0};
  const System s(3, length, 1);
  const auto map = make_cuda_potential_map(options_of(MapKernel::CUT, MapOverlap::SKIP, 5.0),
                                           Precision::MIXED, 0, 1);
  double nothing = 0.0;
  try {
    map->on_grid(grid_of(n, length, 0.0), s.charges(), {&nothing, nullptr});
    FAIL() << "no error";
  } catch (const DeviceError &e) {
    EXPECT_NE(std::string(e.what()).find("no memory for"), std::string::npos) << e.what();
  }
  const int few[3] = {4, 4, 4};    // works after the failure
  const MapGrid grid = grid_of(few, length, 0.0);
  Values found(size_of(grid));
  map->on_grid(grid, s.charges(), found.out());
  EXPECT_TRUE(std::isfinite(found.phi[63]));
}
