// Part of GPUCOORD, GPL-2.0. Nearest images, compared with a search over many images.

#include "../../lib/gpucoord/src/core/minimum_image.h"
#include "gpucoord/box.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using gpucoord::Box;

namespace {

using Vector = std::array<double, 3>;

struct Cell {
  double edges[3][3];
  bool periodic[3];
};

Vector minus(const Vector &v)
{
  return {-v[0], -v[1], -v[2]};
}

Vector nearest(const Box &box, Vector d)
{
  gpucoord::minimum_image(box, d[0], d[1], d[2]);
  return d;
}

// Shortest distance among the images with coefficients from -reach to reach.
long double brute_distance(const Cell &cell, const Vector &d, int reach)
{
  long double best = std::numeric_limits<long double>::infinity();
  int range[3];
  for (int k = 0; k < 3; ++k) range[k] = cell.periodic[k] ? reach : 0;
  for (int i = -range[0]; i <= range[0]; ++i)
    for (int j = -range[1]; j <= range[1]; ++j)
      for (int k = -range[2]; k <= range[2]; ++k) {
        long double sum = 0;
        for (int c = 0; c < 3; ++c) {
          const long double x = d[c] + (long double) i * cell.edges[0][c] +
              (long double) j * cell.edges[1][c] + (long double) k * cell.edges[2][c];
          sum += x * x;
        }
        best = std::min(best, sum);
      }
  return sqrtl(best);
}

// Shortest nonzero lattice vector.
long double brute_shortest(const Cell &cell, int reach)
{
  long double best = std::numeric_limits<long double>::infinity();
  int range[3];
  for (int k = 0; k < 3; ++k) range[k] = cell.periodic[k] ? reach : 0;
  for (int i = -range[0]; i <= range[0]; ++i)
    for (int j = -range[1]; j <= range[1]; ++j)
      for (int k = -range[2]; k <= range[2]; ++k) {
        if (i == 0 && j == 0 && k == 0) continue;
        long double sum = 0;
        for (int c = 0; c < 3; ++c) {
          const long double x = (long double) i * cell.edges[0][c] +
              (long double) j * cell.edges[1][c] + (long double) k * cell.edges[2][c];
          sum += x * x;
        }
        best = std::min(best, sum);
      }
  return sqrtl(best);
}

double length(const Vector &v)
{
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Distance of v from the closest sum of integer multiples of the periodic edges, in units of the
// edges.
double distance_from_lattice(const Cell &cell, const Vector &v)
{
  // Least squares by the normal equations in long double: sufficiently accurate for edges from 1 to
  // 100.
  long double g[3][4] = {};
  std::vector<int> axes;
  for (int k = 0; k < 3; ++k)
    if (cell.periodic[k]) axes.push_back(k);
  const int n = static_cast<int>(axes.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < 3; ++c)
        g[i][j] += (long double) cell.edges[axes[i]][c] * cell.edges[axes[j]][c];
    for (int c = 0; c < 3; ++c) g[i][3] += (long double) cell.edges[axes[i]][c] * v[c];
  }
  for (int i = 0; i < n; ++i)
    for (int r = 0; r < n; ++r) {
      if (r == i) continue;
      const long double factor = g[r][i] / g[i][i];
      for (int c = 0; c < n; ++c) g[r][c] -= factor * g[i][c];
      g[r][3] -= factor * g[i][3];
    }
  long double rest[3] = {v[0], v[1], v[2]};
  for (int i = 0; i < n; ++i) {
    const long double coefficient = roundl(g[i][3] / g[i][i]);
    for (int c = 0; c < 3; ++c) rest[c] -= coefficient * cell.edges[axes[i]][c];
  }
  return static_cast<double>(sqrtl(rest[0] * rest[0] + rest[1] * rest[1] + rest[2] * rest[2]));
}

// Number of images of d that are no farther than d itself. The count is exact for small binary
// fractions.
int images_as_near_as(const Cell &cell, const Vector &d)
{
  int count = 0;
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j)
      for (int k = -2; k <= 2; ++k) {
        Vector image = d;
        for (int c = 0; c < 3; ++c)
          image[c] += i * cell.edges[0][c] + j * cell.edges[1][c] + k * cell.edges[2][c];
        count += image[0] * image[0] + image[1] * image[1] + image[2] * image[2] <=
            d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      }
  return count;
}

// A LAMMPS cell: edges (lx,0,0), (xy,ly,0), (xz,yz,lz).
Cell lammps_cell(double lx, double ly, double lz, double xy, double xz, double yz)
{
  return {{{lx, 0, 0}, {xy, ly, 0}, {xz, yz, lz}}, {true, true, true}};
}

void check(const Cell &cell, std::mt19937_64 &random, int points, int reach)
{
  const Box box = gpucoord::make_box(cell.edges, cell.periodic);
  double largest = 0.0;
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) largest = std::max(largest, std::fabs(cell.edges[k][c]));
  // Sums of a few edges in double.
  const double tolerance = 1e-14 * 10 * largest;
  if (box.nperiodic) {
    const double shortest = static_cast<double>(brute_shortest(cell, reach));
    ASSERT_NEAR(box.shortest, shortest, tolerance);
    ASSERT_EQ(gpucoord::first_ambiguous_range(box), 0.5 * box.shortest);
  }
  std::uniform_real_distribution<double> fraction(-1.0, 1.0);
  for (int p = 0; p < points; ++p) {
    Vector d = {0, 0, 0};
    for (int k = 0; k < 3; ++k) {
      const double f = fraction(random);
      for (int c = 0; c < 3; ++c) d[c] += f * cell.edges[k][c];
    }
    const Vector found = nearest(box, d);
    const double expected = static_cast<double>(brute_distance(cell, d, reach));
    ASSERT_NEAR(length(found), expected, tolerance)
        << "d = " << d[0] << " " << d[1] << " " << d[2] << " point " << p;
    // The result is an image: it differs from d by a lattice vector.
    ASSERT_LT(distance_from_lattice(cell, {d[0] - found[0], d[1] - found[1], d[2] - found[2]}),
              tolerance);
    const Vector opposite = nearest(box, minus(d));
    for (int c = 0; c < 3; ++c) ASSERT_EQ(opposite[c], -found[c]);
  }
}

TEST(MinimumImage, is_the_nearest_of_729_images_in_random_cells)
{
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> size(0.5, 3.0), tilt(-0.5, 0.5);
  for (int trial = 0; trial < 400; ++trial) {
    const double lx = size(random), ly = size(random), lz = size(random);
    Cell cell = lammps_cell(lx, ly, lz, lx * tilt(random), lx * tilt(random), ly * tilt(random));
    for (bool &p : cell.periodic) p = trial % 4 == 0 || random() % 2;
    check(cell, random, 60, 4);
    if (HasFatalFailure()) FAIL() << "trial " << trial;
  }
}

TEST(MinimumImage, is_the_nearest_image_in_cells_of_any_orientation_and_strong_tilt)
{
  // Three random edges. Most cells are far from reduced, so the search visits more images. Cells
  // with shortest edges still beyond its reach are skipped.
  std::mt19937_64 random(12);
  std::normal_distribution<double> gauss(0.0, 1.0);
  int tested = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Cell cell;
    for (auto &edge : cell.edges)
      for (double &x : edge) x = gauss(random);
    for (bool &p : cell.periodic) p = trial % 3 == 0 || random() % 2;
    const auto &e = cell.edges;
    const double volume = std::fabs(e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                                    e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                                    e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]));
    if (volume < 0.5) continue;
    ++tested;
    check(cell, random, 20, 9);
    if (HasFatalFailure()) FAIL() << "trial " << trial;
  }
  EXPECT_GT(tested, 100);
}

TEST(MinimumImage, is_the_nearest_image_where_tilts_are_many_edges)
{
  // The same lattice as an upright cell, given by edges that are 3, 7 and 40 cells away. Brute
  // force searches the upright cell.
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> fraction(-0.5, 0.5);
  for (const int turns : {1, 3, 7, 40}) {
    const double lx = 2.0, ly = 1.5, lz = 1.75, xy = 0.625, xz = -0.5, yz = 0.25;
    const Cell upright = lammps_cell(lx, ly, lz, xy, xz, yz);
    Cell tilted = upright;
    tilted.edges[1][0] += turns * lx;
    for (int c = 0; c < 3; ++c)
      tilted.edges[2][c] += turns * tilted.edges[1][c] - turns * upright.edges[0][c];
    const Box box = gpucoord::make_box(tilted.edges, tilted.periodic);
    EXPECT_NEAR(box.shortest, static_cast<double>(brute_shortest(upright, 4)), 1e-12);
    for (int p = 0; p < 300; ++p) {
      Vector d = {0, 0, 0};
      for (int k = 0; k < 3; ++k) {
        const double f = 2 * fraction(random);
        for (int c = 0; c < 3; ++c) d[c] += f * upright.edges[k][c];
      }
      ASSERT_NEAR(length(nearest(box, d)), static_cast<double>(brute_distance(upright, d, 4)),
                  1e-11);
      // 50 cells away, where 1e-11 is a few roundings of the coordinates.
      for (int c = 0; c < 3; ++c) d[c] += 50 * tilted.edges[2][c];
      Vector near = d;
      for (int c = 0; c < 3; ++c) near[c] -= 50 * tilted.edges[2][c];
      ASSERT_NEAR(length(nearest(box, d)), static_cast<double>(brute_distance(upright, near, 4)),
                  1e-10);
    }
  }
}

TEST(MinimumImage, largest_tilts_of_lammps_and_special_lattices)
{
  std::mt19937_64 random(14);
  const double h = std::sqrt(0.75);
  const std::vector<Cell> cells = {
      lammps_cell(2, 2, 2, 1, 1, 1),    // all tilts at LAMMPS' limit
      lammps_cell(2, 2, 2, 1, -1, 1),
      lammps_cell(2, 2, 2, -1, -1, -1),
      lammps_cell(1, h, 1, 0.5, 0, 0),
      lammps_cell(1, h, std::sqrt(2.0 / 3.0), 0.5, 0.5, std::sqrt(1.0 / 12.0)),    // fcc
      {{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}}, {true, true, true}},                  // bcc
      lammps_cell(10, 1, 1, 5, 5, 0.5),
      lammps_cell(1, 10, 10, 0.5, 0.5, 5)};
  for (const Cell &cell : cells) {
    check(cell, random, 500, 5);
    if (HasFatalFailure()) FAIL();
  }
}

TEST(MinimumImage, is_antisymmetric_where_images_are_exactly_as_far)
{
  // All numbers are multiples of 1/8: distances and ties are exact.
  std::vector<Cell> cells = {lammps_cell(2, 2, 2, 0, 0, 0),
                             lammps_cell(2, 2, 2, 1, 0, 0),
                             lammps_cell(2, 2, 2, 1, 1, 1),
                             lammps_cell(2, 2, 2, 1, -1, 1),
                             lammps_cell(4, 2, 1, 1, 0.5, 0.5),
                             {{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}}, {true, true, true}}};
  for (Cell cell : cells)
    for (int mask = 0; mask < 8; ++mask) {
      for (int k = 0; k < 3; ++k) cell.periodic[k] = mask >> k & 1;
      const Box box = gpucoord::make_box(cell.edges, cell.periodic);
      int ties = 0;
      for (int i = -16; i <= 16; ++i)
        for (int j = -16; j <= 16; ++j)
          for (int k = -16; k <= 16; ++k) {
            const Vector d = {i / 8.0, j / 8.0, k / 8.0};
            const Vector one = nearest(box, d), other = nearest(box, minus(d));
            for (int c = 0; c < 3; ++c) ASSERT_EQ(one[c], -other[c]) << i << " " << j << " " << k;
            if (mask == 7 && i % 4 == 0) ties += images_as_near_as(cell, one) > 1;
          }
      if (mask == 7) {
        EXPECT_GT(ties, 0);    // otherwise the test would check nothing
      }
    }
}

TEST(MinimumImage, without_periodicity_changes_nothing)
{
  Cell cell = lammps_cell(2, 2, 2, 1, 1, 1);
  for (bool &p : cell.periodic) p = false;
  const Box box = gpucoord::make_box(cell.edges, cell.periodic);
  EXPECT_EQ(box.nperiodic, 0);
  EXPECT_EQ(gpucoord::first_ambiguous_range(box), std::numeric_limits<double>::infinity());
  for (const double scale : {1e-300, 1.0, 1e7, 1e200}) {
    const Vector d = {3.3 * scale, -7.7 * scale, 0.1 * scale};
    EXPECT_EQ(nearest(box, d), d);
  }
}

TEST(MinimumImage, edges_that_are_not_periodic_may_be_anything)
{
  const double infinity = std::numeric_limits<double>::infinity();
  Cell cell = {{{2, 0, 0}, {infinity, 0, 0}, {0, 0, std::nan("")}}, {true, false, false}};
  const Box box = gpucoord::make_box(cell.edges, cell.periodic);
  const Vector d = {1.5, 40.0, -30.0}, expected = {-0.5, 40.0, -30.0};
  EXPECT_EQ(nearest(box, d), expected);
}

TEST(MinimumImage, upright_cell_needs_no_candidates)
{
  for (int mask = 0; mask < 8; ++mask) {
    Cell cell = lammps_cell(2.1, 3.3, 4.7, 0, 0, 0);
    for (int k = 0; k < 3; ++k) cell.periodic[k] = mask >> k & 1;
    EXPECT_EQ(gpucoord::make_box(cell.edges, cell.periodic).ncandidates, 0);
  }
}

// A body-centered cubic lattice of edge 2. The point (0.7, 2.9, -4.9) is nearest to (1, 3, -5).
TEST(MinimumImage, has_the_distance_of_the_nearest_image)
{
  const double edges[3][3] = {{2, 0, 0}, {0, 2, 0}, {1, 1, 1}};
  const bool all[3] = {true, true, true}, none[3] = {false, false, false};
  const double d[3] = {0.7, 2.9, -4.9};
  EXPECT_NEAR(gpucoord::nearest_image_distance(gpucoord::make_box(edges, all), d),
              std::sqrt(0.3 * 0.3 + 0.1 * 0.1 + 0.1 * 0.1), 1e-14);
  EXPECT_DOUBLE_EQ(gpucoord::nearest_image_distance(gpucoord::make_box(edges, none), d),
                   std::sqrt(0.7 * 0.7 + 2.9 * 2.9 + 4.9 * 4.9));
}

TEST(MakeBox, refuses_dependent_edges_and_edges_that_are_not_finite)
{
  const bool all[3] = {true, true, true}, two[3] = {true, true, false};
  const double same[3][3] = {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}};
  EXPECT_THROW(gpucoord::make_box(same, all), std::invalid_argument);
  EXPECT_THROW(gpucoord::make_box(same, two), std::invalid_argument);
  const double zero[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 1}};
  EXPECT_THROW(gpucoord::make_box(zero, all), std::invalid_argument);
  const double plane[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  EXPECT_THROW(gpucoord::make_box(plane, all), std::invalid_argument);
  const double infinite[3][3] = {
      {1, 0, 0}, {0, std::numeric_limits<double>::infinity(), 0}, {0, 0, 1}};
  EXPECT_THROW(gpucoord::make_box(infinite, all), std::invalid_argument);
  const double not_a_number[3][3] = {{1, 0, 0}, {0, 1, std::nan("")}, {0, 0, 1}};
  EXPECT_THROW(gpucoord::make_box(not_a_number, all), std::invalid_argument);
}

TEST(MakeBox, refuses_edges_that_are_dependent_up_to_rounding)
{
  const bool all[3] = {true, true, true}, two[3] = {true, true, false};
  const double multiple[3][3] = {{0.1, 0.2, 0.3}, {0.3, 0.6, 0.9}, {0, 0, 1}};
  EXPECT_THROW(gpucoord::make_box(multiple, two), std::invalid_argument);
  const double plane[3][3] = {{0.1, 0.2, 0.7}, {0.3, 0.1, 0.2}, {0.4, 0.3, 0.9}};
  EXPECT_THROW(gpucoord::make_box(plane, all), std::invalid_argument);
}

}    // namespace
