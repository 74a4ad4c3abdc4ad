// Part of GPUCOORD, GPL-2.0. Ewald's far field on a GPU, compared with the host's splines and
// factors with Fourier transforms by their definition. test_map_far.cpp compares those with sums
// over wave vectors.

#include "far_systems.h"
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double DOUBLE = 1e-12;    // relative to the largest value

class NeedGpu : public testing::Environment {
 public:
  void SetUp() override
  {
    need_gpu();
    if (has_cuda_far_field()) return;
    std::printf("SKIPPED: no cuFFT\n");
    std::exit(77);
  }
};
testing::Environment *const need = testing::AddGlobalTestEnvironment(new NeedGpu);

struct Values {
  std::vector<double> phi, field, at;

  // Values at every fold-th mesh point, starting at the middle of a fold, and at the charges.
  // with_field false: no field
  Values(FarField &far, const EwaldMesh &mesh, const int *fold, const Charges &charges,
         int threads = 2, bool with_field = true)
  {
    std::size_t n = 1;
    int first[3];
    for (int a = 0; a < 3; ++a) {
      n *= mesh.n[a] / fold[a];
      first[a] = fold[a] / 2;
    }
    phi.assign(n, NAN);
    if (with_field) field.assign(3 * n, NAN);
    at.assign(charges.q.size(), NAN);
    far.on_grid(mesh, fold, first, charges.view(), threads,
                {phi.data(), with_field ? field.data() : nullptr});
    far.at_positions(mesh, charges.view(), charges.x.data(), static_cast<int>(charges.q.size()),
                     threads, at.data());
  }
  bool operator==(const Values &other) const
  {
    return phi == other.phi && field == other.field && at == other.at;
  }
};

EwaldMesh mesh_of(const FarBox &box, const int *n, double alpha)
{
  EwaldMesh mesh;
  mesh.box = box;
  std::copy_n(n, 3, mesh.n);
  mesh.alpha = alpha;
  return mesh;
}

double largest(const std::vector<double> &values)
{
  double size = 1e-300;
  for (const double v : values) size = std::max(size, std::fabs(v));
  return size;
}

double largest_difference(const std::vector<double> &found, const std::vector<double> &expected)
{
  double worst = 0.0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double d = std::fabs(found[k] - expected[k]);
    worst = std::isfinite(d) ? std::max(worst, d) : INFINITY;
  }
  return worst;
}

// Selects one of each row of three numbers.
std::vector<double> column(const std::vector<double> &rows, int c)
{
  std::vector<double> one;
  for (std::size_t k = c; k < rows.size(); k += 3) one.push_back(rows[k]);
  return one;
}

std::vector<double> every(const std::vector<double> &values, const int *n, const int *fold)
{
  std::vector<double> some;
  for (int k = fold[2] / 2; k < n[2]; k += fold[2])
    for (int j = fold[1] / 2; j < n[1]; j += fold[1])
      for (int i = fold[0] / 2; i < n[0]; i += fold[0])
        some.push_back(values[(static_cast<std::size_t>(k) * n[1] + j) * n[0] + i]);
  return some;
}

}    // namespace

// Powers of two, even and odd numbers of points, flat and very small meshes, all with one object.
TEST(FarOnGpu, equals_the_host)
{
  struct Case {
    int n[3], fold[3], charges;
  };
  const Case cases[] = {{{12, 10, 14}, {1, 1, 1}, 40},  {{15, 9, 7}, {3, 1, 1}, 1},
                        {{8, 16, 32}, {2, 4, 8}, 700},  {{11, 13, 17}, {1, 1, 17}, 40},
                        {{12, 10, 14}, {4, 5, 2}, 3},   {{30, 49, 22}, {2, 7, 1}, 3000},
                        {{40, 1, 1}, {4, 1, 1}, 20},    {{1, 1, 40}, {1, 1, 1}, 20},
                        {{1, 30, 2}, {1, 3, 1}, 20},    {{2, 6, 3}, {1, 2, 1}, 20},
                        {{1, 1, 1}, {1, 1, 1}, 5},      {{64, 60, 72}, {4, 3, 8}, 2000},
                        {{33, 64, 27}, {1, 1, 1}, 100}, {{36, 36, 36}, {36, 36, 36}, 65}};
  const auto far = make_cuda_far_field(0);
  double worst[3] = {};
  unsigned seed = 0;
  for (const Case &c : cases)
    for (const FarBox &box : boxes())
      for (const double alpha : {0.9, 1.6}) {
        SCOPED_TRACE(std::to_string(c.n[0]) + " x " + std::to_string(c.n[1]) + " x " +
                     std::to_string(c.n[2]) + " points, " + std::to_string(c.charges) +
                     " charges, alpha " + std::to_string(alpha));
        const Charges charges = random_charges(box, c.charges, ++seed);
        const OnMesh expected(box, c.n, charges, alpha);
        const Values found(*far, mesh_of(box, c.n, alpha), c.fold, charges.with_images(box));
        double differences[3] = {
            largest_difference(found.phi, every(expected.values[0], c.n, c.fold)) /
                largest(expected.values[0]),
            0.0, largest_difference(found.at, expected.at_images) / largest(expected.at_images)};
        double strongest = 0.0;
        for (int d = 1; d < 4; ++d) {
          const double one = largest_difference(column(found.field, d - 1),
                                                every(expected.values[d], c.n, c.fold));
          differences[1] = std::max(differences[1], one);
          strongest = std::max(strongest, largest(expected.values[d]));
        }
        differences[1] /= strongest;
        for (int k = 0; k < 3; ++k) {
          EXPECT_LT(differences[k], DOUBLE) << "of "
                                            << (k == 0       ? "phi"
                                                    : k == 1 ? "the field"
                                                             : "places");
          worst[k] = std::max(worst[k], differences[k]);
        }
      }
  std::printf(
      "worst difference over the largest value: potential %.2g, field %.2g, at places %.2g\n",
      worst[0], worst[1], worst[2]);
}

// The order of contributions must not matter, since sums are in integers. Other numbers of copying
// threads, an additional field and earlier results must not matter either.
TEST(FarOnGpu, same_bits)
{
  const FarBox box = boxes()[1];
  const int n[3] = {30, 28, 33}, fold[3] = {3, 2, 1}, other[3] = {16, 15, 14}, one[3] = {1, 1, 1};
  const EwaldMesh mesh = mesh_of(box, n, 1.1);
  const Charges charges = random_charges(box, 5000, 3).with_images(box),
                few = random_charges(box, 10, 4);
  const auto far = make_cuda_far_field(0);
  const Values expected(*far, mesh, fold, charges);
  EXPECT_GT(largest(expected.phi), 0.1);
  EXPECT_TRUE(Values(*far, mesh, fold, charges, 1) == expected);
  Values(*far, mesh_of(boxes()[2], other, 0.7), one, few);
  EXPECT_TRUE(Values(*far, mesh, fold, charges, 7) == expected);
  EXPECT_TRUE(Values(*make_cuda_far_field(0), mesh, fold, charges) == expected);
  const Values without(*far, mesh, fold, charges, 2, false);
  EXPECT_EQ(without.phi, expected.phi);
  Charges reversed;
  for (std::size_t k = charges.q.size(); k-- > 0;) {
    reversed.x.insert(reversed.x.end(), &charges.x[3 * k], &charges.x[3 * k] + 3);
    reversed.q.push_back(charges.q[k]);
  }
  Values turned(*far, mesh, fold, reversed);
  std::reverse(turned.at.begin(), turned.at.end());
  EXPECT_TRUE(turned == expected);
}

// Sums of charges of one sign at one position, the largest values that the integers must hold; no
// charges; charges of 0; and tiny charges.
TEST(FarOnGpu, sizes_of_charges)
{
  const FarBox box = boxes()[0];
  const int n[3] = {14, 12, 16}, fold[3] = {1, 1, 1};
  const EwaldMesh mesh = mesh_of(box, n, 1.1);
  const auto far = make_cuda_far_field(0);
  const Values none(*far, mesh, fold, {});
  EXPECT_EQ(none.phi, std::vector<double>(none.phi.size(), 0.0));
  const Charges alone = random_charges(box, 1, 8);
  Charges zero = alone;
  zero.q[0] = 0.0;
  EXPECT_EQ(Values(*far, mesh, fold, zero).phi, none.phi);
  const OnMesh expected(box, n, alone, mesh.alpha);
  for (const double size : {1.0, 1.999999, 2.0, 1.6e-19, 1e12}) {
    Charges all;
    for (int k = 0; k < 3000; ++k) {
      all.x.insert(all.x.end(), alone.x.begin(), alone.x.end());
      all.q.push_back(size);
    }
    const Values found(*far, mesh, fold, all.with_images(box));
    std::vector<double> scaled;
    for (const double v : expected.values[0]) scaled.push_back(v * (3000.0 * size / alone.q[0]));
    EXPECT_LT(largest_difference(found.phi, scaled), DOUBLE * largest(scaled)) << size;
  }
}

// Takes nearly all memory of the GPU.
TEST(WholeGpu, far_field_says_when_there_is_no_memory)
{
  const FarBox box = boxes()[0];
  const int large[3] = {400, 400, 400}, few[3] = {12, 12, 12};
  const Charges charges = random_charges(box, 10, 1);
  const auto far = make_cuda_far_field(0);
  const Values expected(*far, mesh_of(box, few, 1.0), few, charges);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  constexpr std::size_t LEFT = std::size_t(1) << 30;
  void *taken = nullptr;
  ASSERT_GT(free, LEFT);
  ASSERT_EQ(cudaMalloc(&taken, free - LEFT), cudaSuccess);
  try {
    Values(*far, mesh_of(box, large, 1.0), large, charges);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError &e) {
    EXPECT_NE(std::string(e.what()).find("no memory"), std::string::npos) << e.what();
  }
  // Works after the failure.
  EXPECT_TRUE(Values(*far, mesh_of(box, few, 1.0), few, charges) == expected);
  cudaFree(taken);
}
