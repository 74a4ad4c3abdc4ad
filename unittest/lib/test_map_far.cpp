// Part of GPUCOORD, GPL-2.0. Ewald's far field on a mesh, with a Fourier transform by its
// definition, compared with sums over wave vectors and potentials of crystals.

#include "far_systems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double NO_LIMIT = std::numeric_limits<double>::infinity();
constexpr int MAX_POINTS = std::numeric_limits<int>::max();    // mesh points

// Potential and field from the converged sum over wave vectors.
std::vector<double> exact(const FarBox &box, const Charges &charges, double alpha, const double *at)
{
  double reciprocal[3][3];
  box.reciprocal(reciprocal);
  int max_index[3];
  for (int a = 0; a < 3; ++a) {
    const double length = std::hypot(box.edge[a][0], box.edge[a][1], box.edge[a][2]);
    max_index[a] = static_cast<int>(std::ceil(13.0 * alpha * length / (2.0 * PI)));    // exp(-42)
  }
  std::vector<double> sum(4, 0.0);
  for (int h = -max_index[0]; h <= max_index[0]; ++h)
    for (int k = -max_index[1]; k <= max_index[1]; ++k)
      for (int l = -max_index[2]; l <= max_index[2]; ++l) {
        if (h == 0 && k == 0 && l == 0) continue;
        double wave[3], wave_sq = 0.0;
        for (int c = 0; c < 3; ++c) {
          wave[c] = 2.0 * PI * (h * reciprocal[0][c] + k * reciprocal[1][c] + l * reciprocal[2][c]);
          wave_sq += wave[c] * wave[c];
        }
        const double factor =
            4.0 * PI / (wave_sq * box.volume()) * std::exp(-wave_sq / (4.0 * alpha * alpha));
        if (factor < 1e-18) continue;
        double cosine = 0.0, sine = 0.0;
        for (std::size_t i = 0; i < charges.q.size(); ++i) {
          double phase = 0.0;
          for (int c = 0; c < 3; ++c) phase += wave[c] * (at[c] - charges.x[3 * i + c]);
          cosine += charges.q[i] * std::cos(phase);
          sine += charges.q[i] * std::sin(phase);
        }
        sum[0] += factor * cosine;
        for (int c = 0; c < 3; ++c) sum[1 + c] += factor * wave[c] * sine;
      }
  return sum;
}

std::vector<double> point(const FarBox &box, const int n[3], std::size_t p)
{
  const double s[3] = {static_cast<double>(p % n[0]) / n[0],
                       static_cast<double>(p / n[0] % n[1]) / n[1],
                       static_cast<double>(p / n[0] / n[1]) / n[2]};
  std::vector<double> x(3);
  for (int c = 0; c < 3; ++c)
    x[c] = box.origin[c] + s[0] * box.edge[0][c] + s[1] * box.edge[1][c] + s[2] * box.edge[2][c];
  return x;
}

}    // namespace

// For every tolerance, errors are within the requested limit and close to the estimate. The field
// is the derivative of the potential.
TEST(MapFar, errors_are_the_chosen_ones)
{
  for (const FarBox &box : boxes())
    for (const double wanted : {1e-3, 1e-5, 1e-7, 1e-9}) {
      const Charges charges = random_charges(box, 40, 7);
      const double alpha = 0.9;
      const int multiples[3] = {4, 3, 5};
      const FarMesh mesh =
          choose_far_mesh(box, multiples, alpha, charges.sum_sq(), wanted, NO_LIMIT, MAX_POINTS);
      for (int a = 0; a < 3; ++a) EXPECT_EQ(mesh.n[a] % multiples[a], 0);
      EXPECT_LE(mesh.error, wanted);
      const OnMesh found(box, mesh.n, charges, alpha);
      double sum_sq = 0.0, field_sq = 0.0, size_sq = 0.0, atoms_sq = 0.0;
      int n = 0;
      for (std::size_t p = 0; p < found.values[0].size();
           p += 1 + found.values[0].size() / 30, ++n) {
        const auto expected = exact(box, charges, alpha, point(box, mesh.n, p).data());
        sum_sq += std::pow(found.values[0][p] - expected[0], 2);
        for (int c = 0; c < 3; ++c) {
          field_sq += std::pow(found.values[1 + c][p] - expected[1 + c], 2);
          size_sq += std::pow(expected[1 + c], 2);
        }
      }
      for (std::size_t i = 0; i < charges.q.size(); ++i)
        atoms_sq +=
            std::pow(found.at_charges[i] - exact(box, charges, alpha, &charges.x[3 * i])[0], 2);
      const double error = std::sqrt(sum_sq / n), at_atoms = std::sqrt(atoms_sq / charges.q.size());
      std::printf("wanted %.0e: mesh %d x %d x %d, estimate %.2e, error %.2e, at charges %.2e, of "
                  "the field %.2e of its size\n",
                  wanted, mesh.n[0], mesh.n[1], mesh.n[2], mesh.error, error, at_atoms,
                  std::sqrt(field_sq / size_sq));
      EXPECT_LT(error, 2.0 * wanted);
      EXPECT_GT(error, 0.2 * mesh.error);
      EXPECT_LT(error, 3.0 * mesh.error);
      EXPECT_LT(at_atoms, 4.0 * wanted);
      EXPECT_LT(std::sqrt(field_sq / n), 20.0 * alpha * wanted);
    }
}

// A box with four times the edges, for which only part of the wave numbers is sampled, has the
// errors of the small box.
TEST(MapFar, errors_of_large_meshes)
{
  const double alpha = 0.9;
  for (int k = 0; k < 3; ++k) {
    const FarBox box = boxes()[k];
    FarBox large = box;
    for (auto &edge : large.edge)
      for (double &c : edge) c *= 4.0;
    const int small[3] = {24 + 4 * k, 26, 28}, n[3] = {4 * small[0], 4 * small[1], 4 * small[2]};
    const double expected = far_error(box, small, alpha, 10.0),
                 found = far_error(large, n, alpha, 640.0);
    std::printf("error %.3e, of a large mesh %.3e\n", expected, found);
    EXPECT_NEAR(found, expected, 0.05 * expected);
  }
}

TEST(MapFar, heights_of_cells)
{
  const int multiples[3] = {1, 2, 1};
  for (const FarBox &box : boxes()) {
    const double widest = 0.4;
    const FarMesh mesh = choose_far_mesh(box, multiples, 0.9, 10.0, 1.0, widest, MAX_POINTS);
    for (int a = 0; a < 3; ++a) {
      EXPECT_LE(box.height(a), widest * mesh.n[a]);
      EXPECT_GT(box.height(a), widest * (mesh.n[a] - 2 * multiples[a]));
    }
  }
}

TEST(MapFar, no_mesh)
{
  const FarBox box = box_of({17.0, 17.0, 17.0});
  const int multiples[3] = {7, 11, 13};
  EXPECT_THROW(choose_far_mesh(box, multiples, 40.0, 1e3, 1e-30, NO_LIMIT, MAX_POINTS),
               std::invalid_argument);
  EXPECT_THROW(choose_far_mesh(box, multiples, 40.0, 1e3, 1e30, NO_LIMIT, 1 << 20),
               std::invalid_argument);
  EXPECT_NO_THROW(choose_far_mesh(box, multiples, 40.0, 1e3, 1e30, NO_LIMIT, 1 << 27));
  EXPECT_THROW(choose_far_mesh(box, multiples, 1e20, 1e3, 1e-4, NO_LIMIT, MAX_POINTS),
               std::invalid_argument);
}

// The mean over a box is 0, even if the net charge is far from 0.
TEST(MapFar, no_mean)
{
  const FarBox box = boxes()[1];
  const Charges charges = random_charges(box, 10, 3);
  const int n[3] = {12, 10, 14};
  const OnMesh found(box, n, charges, 0.8);
  double sum = 0.0, size = 0.0;
  for (const double v : found.values[0]) {
    sum += v;
    size += std::fabs(v);
  }
  EXPECT_LT(std::fabs(sum), 1e-14 * size);
}

// At the ions of rock salt, without self-interaction, the potential is Madelung's.
TEST(MapFar, madelung)
{
  const double distance = 2.0, alpha = 1.1;
  const FarBox box = box_of({2 * distance, 2 * distance, 2 * distance});
  Charges ions;
  for (int i = 0; i < 8; ++i) {
    const int cell[3] = {i % 2, i / 2 % 2, i / 4};
    for (int c = 0; c < 3; ++c) ions.x.push_back(box.origin[c] + distance * (cell[c] + 0.3));
    ions.q.push_back((cell[0] + cell[1] + cell[2]) % 2 ? -1.0 : 1.0);
  }
  const int multiples[3] = {1, 1, 1};
  const FarMesh mesh =
      choose_far_mesh(box, multiples, alpha, ions.sum_sq(), 1e-11, NO_LIMIT, MAX_POINTS);
  const OnMesh found(box, mesh.n, ions, alpha);
  double near = 0.0;    // at the first ion
  for (int h = -8; h <= 8; ++h)
    for (int k = -8; k <= 8; ++k)
      for (int l = -8; l <= 8; ++l) {
        const double r = distance * std::sqrt(h * h + k * k + l * l);
        if (r > 0.0) near += ((h + k + l) % 2 ? -1.0 : 1.0) * std::erfc(alpha * r) / r;
      }
  const double total = near + found.at_charges[0] - 2.0 * alpha / std::sqrt(PI);
  EXPECT_NEAR(total * distance, -1.7475645946331822,
              1e-9);    // errors add up, since the ions' positions are not random
}

// Transforms of real numbers store one of two opposite waves. The result must be the same.
TEST(MapFar, opposite_waves)
{
  for (const FarBox &box : boxes()) {
    const int n[3] = {6, 5, 4};
    const FarFactors factors(box, n, 0.9);
    for (int p = 0; p < 6 * 5 * 4; ++p) {
      const int index[3] = {p % 6, p / 6 % 5, p / 30},
                opposite[3] = {(6 - index[0]) % 6, (5 - index[1]) % 5, (4 - index[2]) % 4};
      double wave[3], other[3];
      const double factor = factors.at(index, wave);
      EXPECT_DOUBLE_EQ(factors.at(opposite, other), factor);
      for (int c = 0; c < 3; ++c) EXPECT_DOUBLE_EQ(other[c], -wave[c]);
    }
  }
}

TEST(MapFar, alpha_of_the_near_field)
{
  const double cutoff = 4.0, volume = 300.0, sum_q_sq = 25.0;
  double last = 0.0;
  for (const double error : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const double alpha = near_alpha(cutoff, sum_q_sq, volume, error);
    EXPECT_GT(alpha, last);
    last = alpha;
    // Root mean square contribution of charges beyond the cutoff: the integral of erfc(alpha r)^2
    // over space, as a sum.
    double sum = 0.0;
    const double step = 1e-4;
    for (double r = cutoff + 0.5 * step; r < 3.0 * cutoff; r += step)
      sum += 4.0 * PI * std::pow(std::erfc(alpha * r), 2) * step;
    const double exact_error = std::sqrt(sum_q_sq / volume * sum);
    EXPECT_LT(exact_error, 1.01 * error);
    EXPECT_GT(exact_error, 0.6 * error);
  }
  EXPECT_THROW(near_alpha(cutoff, sum_q_sq, volume, 1e-19), std::invalid_argument);
}

// Parts of a mesh have the same bits as the whole, with any number of threads.
TEST(MapFar, bricks)
{
  const FarBox box = boxes()[2];
  const Charges charges = random_charges(box, 200, 11).with_images(box);
  MeshBrick whole;
  whole.box = box;
  const int n[3] = {15, 12, 18};
  for (int a = 0; a < 3; ++a) whole.mesh[a] = whole.n[a] = n[a];
  std::vector<double> expected(15 * 12 * 18);
  spread_charges(whole, charges.view(), 1, expected.data());
  MeshBrick part = whole;
  const int lo[3] = {4, 0, 7}, size[3] = {6, 12, 5};
  std::copy_n(lo, 3, part.lo);
  std::copy_n(size, 3, part.n);
  for (const int threads : {1, 2, 7}) {
    std::vector<double> found(6 * 12 * 5, -1.0);
    spread_charges(part, charges.view(), threads, found.data());
    for (int k = 0; k < 5; ++k)
      for (int j = 0; j < 12; ++j)
        for (int i = 0; i < 6; ++i)
          EXPECT_EQ(found[(k * 12 + j) * 6 + i], expected[((k + 7) * 12 + j) * 15 + i + 4]);
  }
}
