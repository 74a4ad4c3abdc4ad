// Part of GPUCOORD, GPL-2.0. Forces that a GPU keeps, compared with arrays that were copied there.

#include "gpu_tests.h"
#include "on_gpu.h"

#include "gpucoord/resident_forces.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace gpucoord;

namespace {

std::vector<double> random_numbers(std::size_t n, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-10.0, 10.0);
  std::vector<double> numbers(n);
  for (double &x : numbers) x = number(random);
  return numbers;
}

// The caller's forces have strides: [n][3], [n][4], or [3][n]. Forces that others add later are
// not multiplied.
template <class Real> void expect_multiples()
{
  const auto kept = make_resident_forces();
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const OnGpu<double> numbers(std::vector<double>{0.5, -4.0});
  for (const int n : {1000, 0, 1, 85, 86, 5000})
    for (const bool by_axis : {false, true})
      for (const int stride : {3, 4}) {
        const int atom_stride = by_axis ? 1 : stride, axis_stride = by_axis ? n : 1;
        const auto from = random_numbers(4 * n + 4, n), others = random_numbers(4 * n + 4, n + 1);
        const std::vector<Real> before(from.begin(), from.end());
        std::vector<Real> expected(others.begin(), others.end());
        const OnGpu<Real> f(before);
        const DeviceForces forces = {f.data(), std::is_same<Real, float>::value, atom_stride,
                                     axis_stride};
        kept->take(forces, n, stream);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        f.set(expected);
        kept->add_to(forces, {0.25}, stream);
        kept->add_to(forces, {2.0, numbers.data(), numbers.data() + 1}, stream);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        std::vector<double> on_host(3 * n + 1);
        kept->copy_to_host(on_host.data(), stream);
        for (int i = 0; i < n; ++i)
          for (int a = 0; a < 3; ++a) {
            const int at = atom_stride * i + axis_stride * a;
            const double one = before[at];
            ASSERT_EQ(on_host[3 * i + a], one) << n << " atoms";
            expected[at] += static_cast<Real>(0.25 * one);
            expected[at] += static_cast<Real>(-4.0 * one);
          }
        ASSERT_EQ(f.get(), expected) << n << " atoms";
      }
  cudaStreamDestroy(stream);
}

}    // namespace

TEST(ResidentForces, double)
{
  expect_multiples<double>();
}

TEST(ResidentForces, float)
{
  expect_multiples<float>();
}

// A factor of 0 leaves out forces that are not finite.
TEST(ResidentForces, leaves_out_factor_0)
{
  const auto kept = make_resident_forces();
  const std::vector<double> bad(3, std::numeric_limits<double>::quiet_NaN()),
      good = {1.0, 2.0, 3.0};
  const OnGpu<double> f(bad), zero(std::vector<double>{0.0});
  const DeviceForces forces = {f.data()};
  kept->take(forces, 1, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  f.set(good);
  kept->add_to(forces, {0.0}, nullptr);
  kept->add_to(forces, {1.0, zero.data()}, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(f.get(), good);
  EXPECT_EQ(kept->bytes_copied(), 0);
}
