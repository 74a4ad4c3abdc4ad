// Part of GPUCOORD, GPL-2.0. Positions of a few atoms on the GPU, and forces on them, compared with
// the arrays that were copied there.

#include "gpu_tests.h"
#include "on_gpu.h"

#include "gpucoord/resident_atoms.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using namespace gpucoord;

namespace {

constexpr int NATOMS = 5000;

std::vector<double> random_numbers(std::size_t n, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-10.0, 10.0);
  std::vector<double> numbers(n);
  for (double &x : numbers) x = number(random);
  return numbers;
}

// Some of the atoms in random order, with gaps for atoms that are not here.
std::vector<int> some_atoms(int n, unsigned seed)
{
  std::vector<int> all(NATOMS);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), std::mt19937(seed));
  all.resize(n);
  for (int k = 2; k < n; k += 7) all[k] = ResidentAtoms::NOT_HERE;
  return all;
}

// The caller's forces have strides: [n][4], or [3][n].
template <class Real> void expect_same(bool by_axis)
{
  const auto x = random_numbers(3 * NATOMS, 1);
  const OnGpu<Real> x_on_gpu(std::vector<Real>(x.begin(), x.end()));
  DeviceAtoms atoms;
  atoms.x = x_on_gpu.data();
  atoms.x_is_float = std::is_same<Real, float>::value;
  atoms.nlocal = atoms.nall = NATOMS;
  const auto selected = make_resident_atoms();
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (const int n : {0, 1, 2, 3, 43, 128, 129, 2000, NATOMS, 5}) {
    const auto index = some_atoms(n, n);
    selected->select(index, stream);
    selected->enqueue_positions(atoms, stream);
    const double *const found = selected->positions();
    for (int k = 0; k < 3 * n; ++k) {
      const int row = index[k / 3];
      const double expected = row < 0 ? 0.0 : static_cast<Real>(x[3 * row + k % 3]);
      ASSERT_EQ(found[k], expected) << n << " atoms, component " << k;
    }

    const auto force = random_numbers(3 * n, 3), more = random_numbers(3 * n, 4);
    const int atom_stride = by_axis ? 1 : 4, axis_stride = by_axis ? NATOMS : 1;
    const auto before = random_numbers(4 * NATOMS, 2);
    std::vector<Real> expected(before.begin(), before.end());
    const OnGpu<Real> f(expected);
    const DeviceForces forces = {f.data(), std::is_same<Real, float>::value, atom_stride,
                                 axis_stride};
    // The second call must not overwrite data that the first one still reads.
    selected->add_forces(forces, force.data(), stream);
    selected->add_forces(forces, more.data(), stream);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    for (const auto *added : {&force, &more})
      for (int k = 0; k < 3 * n; ++k)
        if (index[k / 3] >= 0)
          expected[atom_stride * index[k / 3] + axis_stride * (k % 3)] +=
              static_cast<Real>((*added)[k]);
    ASSERT_EQ(f.get(), expected) << n << " atoms";
  }
  cudaStreamDestroy(stream);
}

}    // namespace

TEST(ResidentAtoms, double)
{
  expect_same<double>(false);
  expect_same<double>(true);
}

TEST(ResidentAtoms, float)
{
  expect_same<float>(false);
  expect_same<float>(true);
}
