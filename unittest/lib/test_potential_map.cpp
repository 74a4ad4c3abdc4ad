// Part of GPUCOORD, GPL-2.0. Potential maps, compared with sums in long double of the published
// formulas, closed forms and finite differences.

#include "backends.h"
#include "each_isa.h"
#include "map_systems.h"

#include "../../lib/gpucoord/src/potential_map/map_kernels_host.h"
#include "gpucoord/potential_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {
GPUCOORD_TEST_DECLARE_IN_EACH_ISA(void get_map_kernels(const MapOptions &, Precision,
                                                       MapKernels<float> &);
                                  void get_map_kernels(const MapOptions &, Precision,
                                                       MapKernels<double> &);)
}    // namespace gpucoord

using namespace gpucoord;

namespace {

using Long = long double;

// Rounding of pair terms in float, relative to sums of |q/r| terms.
constexpr double FLOAT = 3e-6;
// The same in double, where the order of sums differs.
constexpr double DOUBLE = 2e-14;

void set_point(const MapGrid &grid, std::size_t p, double *x)
{
  const int i = static_cast<int>(p % grid.n[0]), j = static_cast<int>(p / grid.n[0] % grid.n[1]),
            k = static_cast<int>(p / grid.n[0] / grid.n[1]);
  for (int c = 0; c < 3; ++c)
    x[c] = grid.origin[c] + i * grid.step[0][c] + j * grid.step[1][c] + k * grid.step[2][c];
}

// K(r) of a unit charge from the documentation of compute potential/grid and from papers, and its
// derivative from the same formula.
struct Term {
  Long value, derivative;
  // Terms of the bare charge. Kernels that subtract from it lose digits relative to these.
  Long bare, bare_derivative;
};

Term term_of(const MapOptions &o, Long r)
{
  const Long rc = o.cutoff, pi = 3.14159265358979323846264338327950288L;
  Long u = 1 / r, du = -1 / (r * r);
  if (o.overlap == MapOverlap::SOFT && r < o.radius) {
    const Long big = o.radius;
    u = (3 - r * r / (big * big)) / (2 * big);
    du = -r / (big * big * big);
  }
  const Long s = r * r / (rc * rc), ds = 2 * r / (rc * rc);
  const auto term = [=](Long value, Long derivative) {
    return Term{value, derivative, u, du};
  };
  switch (o.kernel) {
    case MapKernel::SMOOTH:
      return term(u * (1 - s) * (1 - s), du * (1 - s) * (1 - s) - 2 * u * (1 - s) * ds);
    case MapKernel::TAYLOR:
      return term(u - (15.0L / 8 - 5.0L / 4 * s + 3.0L / 8 * s * s) / rc,
                  du - (-5.0L / 4 + 3.0L / 4 * s) * ds / rc);
    case MapKernel::EWALD: {
      const Long a = o.alpha;
      if (r == 0) return term(u - 2 * a / std::sqrt(pi), 0);
      const Long erf_term = std::erf(a * r) / r,
                 gauss = 2 * a / std::sqrt(pi) * std::exp(-a * a * r * r);
      if (r < o.radius && o.overlap == MapOverlap::SOFT)
        return term(u - erf_term, du - (gauss - erf_term) / r);
      const Long erfc_term = std::erfc(a * r) / r;
      return term(erfc_term, -(erfc_term + gauss) / r);
    }
    default:
      return term(u, du);
  }
}

struct Sums {
  Long phi = 0, field[3] = {}, size = 0,
       field_size = 0;       // sums of magnitudes of the bare charges' terms
  bool at_a_jump = false;    // rounding decides the contribution of a charge
};

Sums sum_at(const MapOptions &o, const System &s, const double *x, int self, bool on_grid)
{
  Sums sums;
  bool is_near = false;
  for (int j = 0; j < static_cast<int>(s.q.size()); ++j) {
    if (j == self) continue;
    Long d[3], r_sq = 0;
    for (int c = 0; c < 3; ++c) {
      d[c] = static_cast<Long>(x[c]) - s.x[3 * j + c];
      r_sq += d[c] * d[c];
    }
    const Long r = std::sqrt(r_sq);
    const bool jumps = o.kernel == MapKernel::CUT || o.kernel == MapKernel::EWALD;
    if (jumps && std::fabs(r - static_cast<Long>(o.cutoff)) < 1e-5) sums.at_a_jump = true;
    if (o.overlap == MapOverlap::ZERO && std::fabs(r - static_cast<Long>(o.radius)) < 1e-5)
      sums.at_a_jump = true;
    if (o.overlap == MapOverlap::ZERO && r < o.radius) is_near = true;
    if (o.kernel != MapKernel::DIRECT && r > o.cutoff) continue;
    if (o.overlap != MapOverlap::SOFT && r <= o.tiny) continue;
    const Term t = term_of(o, r);
    sums.phi += s.q[j] * t.value;
    sums.size += std::fabs(s.q[j] * t.bare);
    for (int c = 0; c < 3 && r > 0; ++c) sums.field[c] -= s.q[j] * t.derivative * d[c] / r;
    sums.field_size += std::fabs(s.q[j] * t.bare_derivative);
  }
  if (on_grid && is_near) sums = {0, {}, sums.size, sums.field_size, sums.at_a_jump};
  return sums;
}

// Largest errors of potentials and fields, relative to the size of terms.
struct Worst {
  double phi = 0.0, field = 0.0;
  int compared = 0;
};

Worst compare(const MapOptions &o, const System &s, const Values &found,
              const std::vector<double> &points, const int *self, bool on_grid)
{
  Worst worst;
  for (std::size_t p = 0; p < found.phi.size(); ++p) {
    const Sums sums = sum_at(o, s, &points[3 * p], self ? self[p] : -1, on_grid);
    if (sums.at_a_jump) continue;
    ++worst.compared;
    const auto error = [](double value, Long expected, Long size) {
      const double e = static_cast<double>(std::fabs(value - expected) /
                                           std::max(size, static_cast<Long>(1e-3)));
      return std::isfinite(e) ? e : std::numeric_limits<double>::infinity();
    };
    worst.phi = std::max(worst.phi, error(found.phi[p], sums.phi, sums.size));
    for (int c = 0; c < 3; ++c)
      worst.field =
          std::max(worst.field, error(found.field[3 * p + c], sums.field[c], sums.field_size));
  }
  return worst;
}

std::vector<double> points_of(const MapGrid &grid)
{
  std::vector<double> points(3 * size_of(grid));
  for (std::size_t p = 0; p < size_of(grid); ++p) set_point(grid, p, &points[3 * p]);
  return points;
}

}    // namespace

// Every kernel and overlap, orthogonal and tilted grids, sizes that do not fill a tile, for the
// reference loops and the backend.
TEST(PotentialMap, is_the_sum_of_the_published_terms)
{
  struct Size {
    int nx, ny, nz;
    double tilt;
  };
  double worst_phi[3] = {}, worst_field[3] = {};
  int seed = 0;
  for (const Size &size : {Size{9, 7, 6, 0.0}, Size{8, 4, 4, 0.4}, Size{1, 1, 1, 0.0},
                           Size{17, 5, 3, -0.45}, Size{3, 11, 2, 0.2}})
    for (const MapKernel kernel : KERNELS)
      for (const MapOverlap overlap : OVERLAPS) {
        MapOptions o = options_of(kernel, overlap);
        // Float has two code paths for ewald. These values of alpha use the second path, and the
        // first at the end of its range.
        if (size.tilt != 0.0) o.alpha = size.tilt > 0.0 ? 2.0 : 3.5 / o.cutoff;
        SCOPED_TRACE(name_of(o) + " " + std::to_string(size.nx));
        const MapGrid grid = grid_of(size.nx, size.ny, size.nz, 0.75, size.tilt);
        System s = random_system(300, 7.0, ++seed);
        double on_point[3];    // position of an additional charge on a point
        set_point(grid, size_of(grid) / 2, on_point);
        s.add(on_point[0], on_point[1], on_point[2], 0.7);
        const auto points = points_of(grid);
        Values plain(size_of(grid));
        reference_map_on_grid(o, grid, s.charges(), plain.out());
        const Worst plain_errors = compare(o, s, plain, points, nullptr, true);
        EXPECT_LT(plain_errors.phi, DOUBLE);
        EXPECT_LT(plain_errors.field, DOUBLE);
        EXPECT_GE(plain_errors.compared,
                  static_cast<int>(0.8 * static_cast<double>(size_of(grid))));
        for (const Precision precision : PRECISIONS) {
          Values found(size_of(grid)), potential_alone(size_of(grid));
          const auto map = make_map(o, precision, 2);
          map->on_grid(grid, s.charges(), found.out());
          const Worst worst = compare(o, s, found, points, nullptr, true);
          const double limit = precision == Precision::DOUBLE ? DOUBLE : FLOAT;
          EXPECT_LT(worst.phi, limit);
          EXPECT_LT(worst.field, limit);
          worst_phi[static_cast<int>(precision)] =
              std::max(worst_phi[static_cast<int>(precision)], worst.phi);
          worst_field[static_cast<int>(precision)] =
              std::max(worst_field[static_cast<int>(precision)], worst.field);
          potential_alone.field = found.field;
          map->on_grid(grid, s.charges(), {potential_alone.phi.data(), nullptr});
          EXPECT_LT(compare(o, s, potential_alone, points, nullptr, true).phi, limit);
        }
      }
  for (const Precision precision : PRECISIONS)
    std::printf("worst errors over the sum of |terms|, precision %d: potential %.2g, field %.2g\n",
                static_cast<int>(precision), worst_phi[static_cast<int>(precision)],
                worst_field[static_cast<int>(precision)]);
}

// Potentials at the charges themselves, and anywhere.
TEST(PotentialMap, at_points)
{
  for (const MapKernel kernel : KERNELS)
    for (const MapOverlap overlap : OVERLAPS) {
      const MapOptions o = options_of(kernel, overlap);
      SCOPED_TRACE(name_of(o));
      const System s = random_system(400, 8.0, 77);
      std::vector<double> points = s.x;
      std::vector<int> self(s.q.size());
      for (std::size_t k = 0; k < self.size(); ++k) self[k] = static_cast<int>(k);
      for (const double c : random_system(50, 12.0, 78).x) points.push_back(c - 2.0);
      self.resize(points.size() / 3, -1);
      const MapPoints in = {points.data(), self.data(), static_cast<int>(self.size())};
      Values plain(self.size());
      reference_map_at_points(o, in, s.charges(), plain.out());
      const Worst plain_errors = compare(o, s, plain, points, self.data(), false);
      EXPECT_LT(std::max(plain_errors.phi, plain_errors.field), DOUBLE);
      for (const Precision precision : PRECISIONS) {
        Values found(self.size());
        make_map(o, precision, 2)->at_points(in, s.charges(), found.out());
        const Worst worst = compare(o, s, found, points, self.data(), false);
        EXPECT_LT(std::max(worst.phi, worst.field),
                  precision == Precision::DOUBLE ? DOUBLE : FLOAT);
      }
      // null: no charge is excluded.
      Values with_self(1), skipped(1);
      const MapPoints one = {points.data(), nullptr, 1}, without = {points.data(), self.data(), 1};
      const auto map = make_map(o, Precision::DOUBLE, 1);
      map->at_points(one, s.charges(), with_self.out());
      map->at_points(without, s.charges(), skipped.out());
      if (overlap == MapOverlap::SOFT)
        EXPECT_GT(std::fabs(with_self.phi[0] - skipped.phi[0]), 0.1 * std::fabs(s.q[0]));
      else    // the charge is on the point
        EXPECT_NEAR(with_self.phi[0], skipped.phi[0], DOUBLE * std::fabs(skipped.phi[0]));
    }
}

TEST(PotentialMap, one_charge)
{
  System s;
  s.add(0.0, 0.0, 0.0, 2.0);
  MapGrid grid = grid_of(5, 1, 1, 1.0, 0.0);
  std::fill(grid.origin, grid.origin + 3, 0.0);
  const double rc = 2.5, alpha = 0.8;
  for (const MapKernel kernel : KERNELS) {
    MapOptions o = options_of(kernel);
    o.cutoff = rc;
    o.alpha = alpha;
    Values found(5);
    make_map(o, Precision::DOUBLE, 1)->on_grid(grid, s.charges(), found.out());
    EXPECT_EQ(found.phi[0], 0.0);    // skipped
    const double expected[][2] = {
        {2.0, 1.0},
        {2.0 * 0.84 * 0.84, 0.36 * 0.36},
        {2.0 - 2.0 * (1.875 - 0.2 + 0.0096) / 2.5, 1.0 - 2.0 * (1.875 - 0.8 + 0.1536) / 2.5},
        {2.0 * std::erfc(0.8), std::erfc(1.6)},
        {2.0, 1.0}};
    for (int p = 1; p <= 2; ++p)
      EXPECT_NEAR(found.phi[p], expected[static_cast<int>(kernel)][p - 1], 1e-14) << name_of(o);
    EXPECT_NEAR(found.phi[3], kernel == MapKernel::DIRECT ? 2.0 / 3.0 : 0.0, 1e-15);
    EXPECT_NEAR(found.field[13 - 1], kernel == MapKernel::DIRECT ? 2.0 / 16.0 : 0.0, 1e-15);
    EXPECT_NEAR(found.field[4], 0.0, 1e-15);
  }
}

// Cutoffs far shorter than a grid cell are equally fast. A point has the q/r of the charge next to
// it, or 0.
TEST(PotentialMap, short_cutoff)
{
  constexpr int N = 8;
  MapGrid grid;
  for (int c = 0; c < 3; ++c) {
    grid.n[c] = N;
    grid.step[c][c] = 1.5;
    grid.origin[c] = 0.75;
  }
  const std::size_t points[] = {0, 7, 100, 511};
  // With cells as small as the shortest cutoff, the test would take days.
  for (const double cutoff : {0.1, 3e-4, 1e-6}) {
    System s = random_system(40, 12.0, 3);
    for (const std::size_t p : points) {
      double x[3];
      set_point(grid, p, x);
      s.add(x[0], x[1] - 0.5 * cutoff, x[2], 2.0);
    }
    MapOptions o = options_of(MapKernel::CUT);
    o.cutoff = cutoff;
    o.tiny = 1e-3 * cutoff;
    std::vector<double> expected(size_of(grid), 0.0);
    for (const std::size_t p : points) expected[p] = 2.0 / (0.5 * cutoff);
    Values found(size_of(grid));
    make_map(o, Precision::DOUBLE, 1)->on_grid(grid, s.charges(), found.out());
    // Relative rounding of positions.
    const double rounding = 16.0 * 12.0 * std::numeric_limits<double>::epsilon() / cutoff;
    for (std::size_t p = 0; p < size_of(grid); ++p)
      EXPECT_NEAR(found.phi[p], expected[p], rounding * expected[p]) << cutoff;
  }
}

// The erfc of kernel ewald, over its whole range.
TEST(PotentialMap, scaled_erfc)
{
  double worst = 0.0, worst_float = 0.0;
  for (int k = 0; k <= 26000; ++k) {
    const double x = k / 1000.0;
    const Long expected = std::erfc(static_cast<Long>(x)) * std::exp(static_cast<Long>(x) * x);
    worst = std::max(worst, static_cast<double>(std::fabs(scaled_erfc(x) / expected - 1)));
    const float xf = static_cast<float>(x);
    const Long expected_float =
        std::erfc(static_cast<Long>(xf)) * std::exp(static_cast<Long>(xf) * xf);
    worst_float =
        std::max(worst_float, static_cast<double>(std::fabs(scaled_erfc(xf) / expected_float - 1)));
  }
  EXPECT_LT(worst, 2e-15);
  EXPECT_LT(worst_float, 6e-7);
}

// E = -grad phi, by differences of shifted grids, if no charge crosses a jump.
TEST(PotentialMap, field_is_minus_the_gradient)
{
  const double h = 1e-3;
  for (const MapKernel kernel :
       {MapKernel::SMOOTH, MapKernel::TAYLOR, MapKernel::DIRECT, MapKernel::EWALD})
    for (const MapOverlap overlap : {MapOverlap::SKIP, MapOverlap::SOFT}) {
      MapOptions o = options_of(kernel, overlap);
      if (kernel == MapKernel::EWALD) o.alpha = 2.0;    // erfc(6.6) at the cutoff
      SCOPED_TRACE(name_of(o));
      const System s = random_system(60, 5.0, 11);
      const MapGrid grid = grid_of(6, 5, 4, 0.8, 0.3);
      const auto map = make_map(o, Precision::DOUBLE, 1);
      Values at(size_of(grid));
      map->on_grid(grid, s.charges(), at.out());
      double largest = 0.0;
      for (const double e : at.field) largest = std::max(largest, std::fabs(e));
      for (int c = 0; c < 3; ++c) {
        Values shifted[4];
        const double steps[] = {-2 * h, -h, h, 2 * h};
        for (int m = 0; m < 4; ++m) {
          MapGrid other = grid;
          other.origin[c] += steps[m];
          shifted[m] = Values(size_of(grid));
          map->on_grid(other, s.charges(), shifted[m].out());
        }
        for (std::size_t p = 0; p < size_of(grid); ++p) {
          const double derivative = (8 * (shifted[2].phi[p] - shifted[1].phi[p]) -
                                     (shifted[3].phi[p] - shifted[0].phi[p])) /
              (12 * h);
          // The second derivative of a ball of charge jumps at its surface.
          EXPECT_NEAR(at.field[3 * p + c], -derivative,
                      (overlap == MapOverlap::SOFT ? 1e-3 : 1e-6) * largest);
        }
      }
    }
}

// Value and derivative are continuous at the radius of a soft charge, and at the cutoff for kernels
// that end smoothly.
TEST(PotentialMap, is_continuous)
{
  const double step = 1e-9;
  for (const MapKernel kernel : KERNELS) {
    const MapOptions o = options_of(kernel, MapOverlap::SOFT);
    const MapConstants<double> c = make_map_constants<double>(o);
    const auto at = [&](double r, double &value, double &derivative) {
      visit_map_kernel<double>(o, [&](auto k) {
        k.template eval<true>(c, bare_potential<true>(c, r * r), value, derivative);
      });
    };
    double v[2], w[2];
    at(o.radius - step, v[0], w[0]);
    at(o.radius + step, v[1], w[1]);
    EXPECT_NEAR(v[0], v[1], 2e-8) << name_of(o);
    EXPECT_NEAR(w[0], w[1], 2e-7) << name_of(o);
    if (kernel != MapKernel::SMOOTH && kernel != MapKernel::TAYLOR) continue;
    at(o.cutoff, v[0], w[0]);
    EXPECT_NEAR(v[0], 0.0, 1e-15) << name_of(o);
    EXPECT_NEAR(w[0], 0.0, 1e-15) << name_of(o);
  }
}

// A map of many tiles.
TEST(PotentialMap, bits_do_not_depend_on_threads)
{
  const System s = random_system(2000, 20.0, 3);
  const MapGrid grid = grid_of(33, 21, 17, 0.9, 0.3);
  std::vector<int> self(s.q.size());
  for (std::size_t k = 0; k < self.size(); ++k) self[k] = static_cast<int>(k);
  const MapPoints points = {s.x.data(), self.data(), static_cast<int>(s.q.size())};
  for (const MapKernel kernel : {MapKernel::SMOOTH, MapKernel::DIRECT})
    for (const Precision precision : PRECISIONS) {
      const MapOptions o = options_of(kernel);
      Values one(size_of(grid)), one_at(s.q.size());
      const auto first = make_map(o, precision, 1);
      first->on_grid(grid, s.charges(), one.out());
      first->at_points(points, s.charges(), one_at.out());
      for (const int threads : {2, 3, 5}) {
        Values more(size_of(grid)), more_at(s.q.size());
        const auto map = make_map(o, precision, threads);
        map->on_grid(grid, s.charges(), more.out());
        map->at_points(points, s.charges(), more_at.out());
        EXPECT_EQ(more.phi, one.phi);
        EXPECT_EQ(more.field, one.field);
        EXPECT_EQ(more_at.phi, one_at.phi);
        EXPECT_EQ(more_at.field, one_at.field);
      }
    }
}

// A point has the same value in every grid: the grid is cut into bricks like those of ranks.
TEST(PotentialMap, bricks_of_a_grid)
{
  const System s = random_system(500, 9.0, 13);
  const MapGrid whole = grid_of(19, 13, 11, 0.5, 0.35);
  const MapOptions o = options_of(MapKernel::SMOOTH);
  const auto map = make_map(o, Precision::DOUBLE, 1);
  Values whole_values(size_of(whole));
  map->on_grid(whole, s.charges(), whole_values.out());
  for (const auto &[first, last] : {std::pair<int, int>{0, 7}, {7, 8}, {8, 19}}) {
    MapGrid brick = whole;
    for (int c = 0; c < 3; ++c)
      brick.origin[c] += first * whole.step[0][c] + 2 * whole.step[1][c] + 3 * whole.step[2][c];
    brick.n[0] = last - first;
    brick.n[1] = 6;
    brick.n[2] = 5;
    Values found(size_of(brick));
    map->on_grid(brick, s.charges(), found.out());
    std::size_t p = 0;
    for (int k = 0; k < brick.n[2]; ++k)
      for (int j = 0; j < brick.n[1]; ++j)
        for (int i = 0; i < brick.n[0]; ++i, ++p)
          ASSERT_NEAR(found.phi[p], whole_values.phi[((k + 3) * 13 + j + 2) * 19 + i + first],
                      1e-12 * 30);
  }
}

// Charges far from the origin, and far from each other.
TEST(PotentialMap, far_from_the_origin)
{
  const System s = random_system(300, 7.0, 21);
  System far = s;
  MapGrid grid = grid_of(9, 7, 6, 0.75, 0.3), far_grid = grid;
  // Sums with multiples of 2^-30 are exact.
  const double shift[3] = {65536.0, -131072.0, 32768.0};
  for (double &x : far.x) x = std::round(x * 1073741824.0) / 1073741824.0;
  System near = far;
  for (int c = 0; c < 3; ++c) {
    grid.origin[c] = std::round(grid.origin[c] * 1024.0) / 1024.0;
    for (int a = 0; a < 3; ++a)
      far_grid.step[a][c] = grid.step[a][c] = std::round(grid.step[a][c] * 1024.0) / 1024.0;
    far_grid.origin[c] = grid.origin[c] + shift[c];
    for (std::size_t k = 0; k < far.q.size(); ++k) far.x[3 * k + c] += shift[c];
  }
  for (const MapKernel kernel : {MapKernel::SMOOTH, MapKernel::DIRECT})
    for (const Precision precision : PRECISIONS) {
      const auto map = make_map(options_of(kernel), precision, 1);
      Values a(size_of(grid)), b(size_of(grid));
      map->on_grid(grid, near.charges(), a.out());
      map->on_grid(far_grid, far.charges(), b.out());
      for (std::size_t p = 0; p < size_of(grid); ++p) {
        ASSERT_NEAR(a.phi[p], b.phi[p],
                    (precision == Precision::DOUBLE ? 1e-8 : 1e-4) *
                        std::max(1.0, std::fabs(a.phi[p])));
      }
    }
}

TEST(PotentialMap, instruction_sets_agree)
{
  std::vector<MapOptions> cases;
  for (const MapKernel kernel : KERNELS)
    for (const MapOverlap overlap : {MapOverlap::SKIP, MapOverlap::SOFT}) {
      cases.push_back(options_of(kernel, overlap));
      if (kernel == MapKernel::EWALD) cases.push_back(cases.back());
      if (kernel == MapKernel::EWALD) cases.back().alpha = 2.0;    // second code path in float
    }
  for (const MapOptions &o : cases) {
    SCOPED_TRACE(name_of(o));
    const MapConstants<double> c = make_map_constants<double>(o);
    const MapConstants<float> cf = make_map_constants<float>(o);
    const System s = random_system(1100, 6.0, 31);
    const int n = static_cast<int>(s.q.size());
    std::vector<double> x(n), y(n), z(n);
    for (int k = 0; k < n; ++k) x[k] = s.x[3 * k], y[k] = s.x[3 * k + 1], z[k] = s.x[3 * k + 2];
    const std::vector<float> xf(x.begin(), x.end()), yf(y.begin(), y.end()), zf(z.begin(), z.end()),
        qf(s.q.begin(), s.q.end());
    RowOfPoints<double> row = {{}, 3.1, 2.9, POINTS_PER_ROW};
    RowOfPoints<float> row_f = {{}, 3.1f, 2.9f, POINTS_PER_ROW};
    for (int i = 0; i < POINTS_PER_ROW; ++i)
      row_f.x[i] = static_cast<float>(row.x[i] = 1.5 + 0.4 * i);
    std::vector<std::vector<double>> results;
    const auto add = [&](const MapKernels<double> &k, const MapKernels<float> &kf) {
      for (const bool alone : {false, true}) {
        RowOfPoints<double> r = row;
        RowOfPoints<float> rf = row_f;
        if (alone) r.n = rf.n = 1;
        std::vector<double> sums(POINTS_PER_ROW * MAP_VALUES, 0.0), sums_f = sums;
        k.row[alone][true](c, {n, x.data(), y.data(), z.data(), s.q.data()}, r, sums.data());
        kf.row[alone][true](cf, {n, xf.data(), yf.data(), zf.data(), qf.data()}, rf, sums_f.data());
        results.push_back(sums);
        results.push_back(sums_f);
      }
    };
    MapKernels<double> k;
    MapKernels<float> kf;
    isa_baseline::get_map_kernels(o, Precision::DOUBLE, k);
    isa_baseline::get_map_kernels(o, Precision::MIXED, kf);
    add(k, kf);
#ifdef __x86_64__
    if (runs_avx2()) {
      isa_avx2::get_map_kernels(o, Precision::DOUBLE, k);
      isa_avx2::get_map_kernels(o, Precision::MIXED, kf);
      add(k, kf);
    }
    if (runs_avx512()) {
      isa_avx512::get_map_kernels(o, Precision::DOUBLE, k);
      isa_avx512::get_map_kernels(o, Precision::MIXED, kf);
      add(k, kf);
    }
#endif
    for (std::size_t set = 1; set < results.size() / 4; ++set)
      for (int which = 0; which < 4; ++which)
        for (int v = 0; v < POINTS_PER_ROW * MAP_VALUES; ++v)
          ASSERT_NEAR(results[4 * set + which][v], results[which][v], which % 2 ? 2e-3 : 1e-10);
  }
}
