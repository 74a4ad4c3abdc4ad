// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD: closed forms, differences, small values,
// rotations that are not unique, images and ranks.

#include "shape_systems.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

using Real = long double;
constexpr int NATOMS = 12;

// Atoms 3 and 7 are no members.
GeometrySystem system_of(const BoxShape &shape)
{
  GeometrySystem system(shape, NATOMS, 7);
  system.members.clear();
  const double weight[] = {1, 12, 16, 0, 14, 1, 1, 0, 32, 2.5, 0.01, 7};
  for (int i = 0; i < NATOMS; ++i)
    if (weight[i] > 0.0) system.members.push_back({i, 0, weight[i]});
  return system;
}

std::vector<double> random_positions(int n, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  std::vector<double> all(3 * static_cast<std::size_t>(n));
  for (double &one : all) one = uniform(random);
  return all;
}

std::vector<ShapeOptions> all_options()
{
  std::vector<ShapeOptions> all;
  for (const ShapeKind kind : {ShapeKind::GYRATION, ShapeKind::RMSD})
    for (const bool squared : {false, true})
      for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
        ShapeOptions options;
        options.kind = kind;
        options.squared = squared;
        options.unwrap = unwrap;
        if (kind == ShapeKind::RMSD) options.reference = random_positions(NATOMS, 3);
        all.push_back(options);
      }
  return all;
}

ShapeOptions rmsd_from(const std::vector<double> &reference)
{
  ShapeOptions options;
  options.kind = ShapeKind::RMSD;
  options.reference = reference;
  return options;
}

// Atoms in a box without periods, all of them members.
GeometrySystem atoms_at(const std::vector<double> &x)
{
  GeometrySystem system(box_shapes()[3], static_cast<int>(x.size()) / 3, 1);
  system.x = x;
  system.flags.assign(x.size(), 0);
  return system;
}

// Turns positions by a quaternion, stretches and moves them.
std::vector<double> turned(const std::vector<double> &from, std::vector<double> q,
                           double stretch = 1.0, double shift = 0.0)
{
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double &one : q) one /= norm;
  std::vector<double> to = from;
  for (std::size_t i = 0; i < from.size(); i += 3) {
    const double *const v = &from[i];
    double u[3], t[3];    // q x v, and twice that plus w v
    for (int c = 0; c < 3; ++c)
      u[c] = q[1 + (c + 1) % 3] * v[(c + 2) % 3] - q[1 + (c + 2) % 3] * v[(c + 1) % 3];
    for (int c = 0; c < 3; ++c)
      t[c] = q[1 + (c + 1) % 3] * u[(c + 2) % 3] - q[1 + (c + 2) % 3] * u[(c + 1) % 3];
    for (int c = 0; c < 3; ++c)
      to[i + c] = stretch * (v[c] + 2.0 * (q[0] * u[c] + t[c])) + (c + 1) * shift;
  }
  return to;
}

double norm_of(const std::vector<double> &all)
{
  double square = 0.0;
  for (const double one : all) square += one * one;
  return std::sqrt(square);
}

void expect_finite(const ShapeResult &result)
{
  EXPECT_TRUE(std::isfinite(result.value));
  for (const auto *all : {&result.gradients, &result.atom_virials})
    for (const double one : *all) EXPECT_TRUE(std::isfinite(one));
}

// ---------------------------------------------------------------- values

struct Centered {
  std::vector<Real> w, x, y;    // [n], [n][3]
  Real weight = 0;
};

Centered centered(const GeometrySystem &system, const std::vector<double> &reference)
{
  const auto all_x = system.unwrapped(system.shape.edges);
  Centered all;
  for (const GeometryMember &m : system.members) {
    all.w.push_back(m.weight);
    all.weight += m.weight;
    for (int c = 0; c < 3; ++c) {
      all.x.push_back(all_x[3 * m.row + c]);
      all.y.push_back(reference.empty() ? 0.0 : reference[3 * m.row + c]);
    }
  }
  for (std::vector<Real> *v : {&all.x, &all.y})
    for (int c = 0; c < 3; ++c) {
      Real center = 0;
      for (std::size_t i = 0; i < all.w.size(); ++i) center += all.w[i] * (*v)[3 * i + c];
      for (std::size_t i = 0; i < all.w.size(); ++i) (*v)[3 * i + c] -= center / all.weight;
    }
  return all;
}

// By singular values (Kabsch), the roots of the characteristic polynomial of M^T M.
Real expected_square(const GeometrySystem &system, const std::vector<double> &reference)
{
  const Centered all = centered(system, reference);
  Real sum = 0, m[3][3] = {}, a[3][3] = {};
  for (std::size_t i = 0; i < all.w.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      const Real x = all.x[3 * i + c], y = all.y[3 * i + c];
      sum += all.w[i] * (x * x + y * y);
      for (int d = 0; d < 3; ++d) m[c][d] += all.w[i] * y * all.x[3 * i + d];
    }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) a[i][j] += m[k][i] * m[k][j];
  const Real mean = (a[0][0] + a[1][1] + a[2][2]) / 3;
  Real square = 0, det = 0;    // of a - mean
  for (int i = 0; i < 3; ++i) {
    a[i][i] -= mean;
    for (int j = 0; j < 3; ++j) square += a[i][j] * a[i][j];
  }
  const auto determinant = [](const Real(&b)[3][3]) {
    Real all = 0;
    for (int i = 0; i < 3; ++i)
      all +=
          b[0][i] * (b[1][(i + 1) % 3] * b[2][(i + 2) % 3] - b[1][(i + 2) % 3] * b[2][(i + 1) % 3]);
    return all;
  };
  det = determinant(a);
  const Real p = sqrtl(square / 6);
  const Real angle = acosl(det / (2 * p * p * p)) / 3, third = 2 * acosl(-1.0L) / 3;
  const Real s1 = sqrtl(mean + 2 * p * cosl(angle)), s3 = sqrtl(mean + 2 * p * cosl(angle + third));
  const Real s2 = sqrtl(mean + 2 * p * cosl(angle - third));
  return (sum - 2 * (s1 + s2 + copysignl(s3, determinant(m)))) / all.weight;
}

class Boxes : public testing::TestWithParam<BoxShape> {};
INSTANTIATE_TEST_SUITE_P(Shape, Boxes, testing::ValuesIn(box_shapes()), [](const auto &instance) {
  return instance.param.name;
});

TEST_P(Boxes, values)
{
  GeometrySystem system = system_of(GetParam());
  for (const ShapeOptions &options : all_options()) {
    Real expected = 0;
    if (options.kind == ShapeKind::RMSD)
      expected = expected_square(system, options.reference);
    else {
      const Centered all = centered(system, {});
      for (std::size_t k = 0; k < all.x.size(); ++k)
        expected += all.w[k / 3] * all.x[k] * all.x[k] / all.weight;
    }
    if (!options.squared) expected = sqrtl(expected);
    const ShapeResult result = evaluate(options, system);
    EXPECT_NEAR(result.value, static_cast<double>(expected), 1e-13);
    EXPECT_EQ(result.flags, 0u);
  }
}

// No other rotation gives less.
TEST(Rmsd, is_smallest)
{
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const GeometrySystem system = system_of(box_shapes()[1]);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto reference = random_positions(NATOMS, seed);
    ShapeOptions options = rmsd_from(reference);
    options.squared = true;
    const double square = evaluate(options, system).value;
    EXPECT_NEAR(square, static_cast<double>(expected_square(system, reference)), 1e-12);
    for (int k = 0; k < 200; ++k) {
      const Centered all = centered(
          system,
          turned(reference, {normal(random), normal(random), normal(random), normal(random)}));
      Real other = 0;
      for (std::size_t i = 0; i < all.x.size(); ++i)
        other += all.w[i / 3] * (all.x[i] - all.y[i]) * (all.x[i] - all.y[i]) / all.weight;
      EXPECT_LT(square, other);
    }
  }
}

// ---------------------------------------------------------------- derivatives

TEST_P(Boxes, derivatives_equal_differences)
{
  const GeometrySystem system = system_of(GetParam());
  for (const ShapeOptions &options : all_options()) {
    const ShapeResult result = evaluate(options, system);
    const auto values = [&](const GeometrySystem &moved) {
      return std::vector<double>{evaluate(options, moved).value};
    };
    for (std::size_t x = 0; x < system.x.size(); ++x) {
      const auto numeric = differences([&](double h) {
        GeometrySystem moved = system;
        moved.x[x] += h;
        return values(moved);
      });
      EXPECT_NEAR(result.gradients[x], numeric[0], 1e-10) << x;
    }
    const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int c = 0; c < 6; ++c) {
      const auto numeric = differences([&](double e) {
        return values(strained(system, axes[c][0], axes[c][1], e));
      });
      EXPECT_NEAR(result.virial[c], -numeric[0], 1e-9) << c;
    }
  }
}

// The sums over atoms of gradients, torques and virials.
TEST_P(Boxes, sums_over_atoms)
{
  const GeometrySystem system = system_of(GetParam());
  const auto x = system.unwrapped(system.shape.edges);
  for (const ShapeOptions &options : all_options()) {
    const ShapeResult result = evaluate(options, system);
    double gradient[3] = {}, virial[6] = {}, torque[3] = {};
    for (int i = 0; i < NATOMS; ++i) {
      const double *const g = &result.gradients[3 * i], *const at = &x[3 * i];
      for (int c = 0; c < 3; ++c)
        torque[c] += at[(c + 1) % 3] * g[(c + 2) % 3] - at[(c + 2) % 3] * g[(c + 1) % 3];
      for (int c = 0; c < 3; ++c) gradient[c] += g[c];
      for (int c = 0; c < 6; ++c) virial[c] += result.atom_virials[6 * i + c];
    }
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(gradient[c], 0.0, 1e-14);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(torque[c], 0.0, 1e-13);
    for (int c = 0; c < 6; ++c) EXPECT_NEAR(virial[c], result.virial[c], 1e-13);
    EXPECT_GT(norm_of(result.gradients), 0.1);
  }
}

TEST_P(Boxes, ranks_agree)
{
  const GeometrySystem system = system_of(GetParam());
  for (const ShapeOptions &options : all_options()) {
    const ShapeResult one = evaluate(options, system);
    for (const int nranks : {2, 4, 20}) {
      const ShapeResult several = evaluate(options, system, nranks);
      EXPECT_NEAR(several.value, one.value, 1e-13);
      for (std::size_t k = 0; k < one.gradients.size(); ++k)
        EXPECT_NEAR(several.gradients[k], one.gradients[k], 1e-14);
      for (std::size_t k = 0; k < one.atom_virials.size(); ++k)
        EXPECT_NEAR(several.atom_virials[k], one.atom_virials[k], 1e-13);
    }
  }
}

// Images of members do not matter, if their flags say so, or if they are near.
TEST_P(Boxes, members_across_faces)
{
  const GeometrySystem system = system_of(GetParam());
  GeometrySystem shifted = system;
  for (int i = 0; i < NATOMS; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      if (!system.shape.periodic[axis]) continue;
      const int shift = (i + axis) % 7 - 3;
      shifted.flags[3 * i + axis] -= shift;
      for (int c = 0; c < 3; ++c) shifted.x[3 * i + c] += shift * system.shape.edges[axis][c];
    }
  for (const ShapeOptions &options : all_options()) {
    const ShapeResult expected = evaluate(options, system);
    for (const int bits : {10, 21}) {
      const ShapeResult got = evaluate(options, shifted, 1, bits);
      EXPECT_NEAR(got.value, expected.value, 1e-13);
      for (std::size_t k = 0; k < expected.gradients.size(); ++k)
        EXPECT_NEAR(got.gradients[k], expected.gradients[k], 1e-13);
    }
  }
}

// ---------------------------------------------------------------- closed forms

// A rigid copy is at distance 0.
TEST(Rmsd, rigid_copies)
{
  const auto reference = random_positions(NATOMS, 11);
  const std::vector<std::vector<double>> rotations = {
      {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 2, -3, 0.5}, {1e-9, 1, 1, 0}};
  for (const auto &q : rotations)
    for (const double shift : {0.0, 3.0}) {
      const GeometrySystem system = atoms_at(turned(reference, q, 1.0, shift));
      const ShapeResult result = evaluate(rmsd_from(reference), system, 2);
      EXPECT_LT(result.value, 1e-14);
      EXPECT_EQ(result.flags, ShapeTerm::SINGULAR);
      EXPECT_EQ(norm_of(result.gradients), 0.0);
      EXPECT_EQ(norm_of(result.atom_virials), 0.0);
      for (const double one : result.virial) EXPECT_EQ(one, 0.0);
    }
}

// A stretched copy: R y is along x, and S = a Rg(y). Where S is small, the second sum takes over
// without a step.
TEST(Rmsd, stretched_copies)
{
  const auto reference = random_positions(NATOMS, 13);
  const double radius = evaluate(ShapeOptions{}, atoms_at(reference)).value;
  const auto options = rmsd_from(reference);
  bool had_first = false, had_again = false;
  for (const double a : {0.5, 0.1, 0.03, 0.02, 0.015, 0.01, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10}) {
    const auto x = turned(reference, {1, 2, -3, 0.5}, 1.0 + a, 2.0);
    const ShapeResult result = evaluate(options, atoms_at(x), 3);
    (result.had_residuals ? had_again : had_first) = true;
    EXPECT_EQ(result.flags, 0u);
    EXPECT_NEAR(result.value / (a * radius), 1.0, 1e-12 + 1e-15 / a) << a;
    // |dS/dx| is 1 over the root of the number of atoms.
    EXPECT_NEAR(norm_of(result.gradients) * std::sqrt(NATOMS), 1.0, 1e-12) << a;
    // S grows with all lengths as (1 + e)(1 + a) - 1.
    double trace = 0.0;
    for (int c = 0; c < 3; ++c) trace -= result.virial[c];
    EXPECT_NEAR(trace, radius * (1.0 + a), 1e-12 + 1e-14 / a) << a;
    for (int c = 0; c < 6; ++c) {
      double total = 0.0;
      for (int i = 0; i < NATOMS; ++i) total += result.atom_virials[6 * i + c];
      EXPECT_NEAR(total, result.virial[c], 1e-13) << a;
    }
    ShapeOptions squared = options;
    squared.squared = true;
    const ShapeResult square = evaluate(squared, atoms_at(x), 3);
    EXPECT_NEAR(square.value, result.value * result.value, 1e-14 * result.value);
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_NEAR(square.gradients[k], 2.0 * result.value * result.gradients[k], 1e-14);
  }
  EXPECT_TRUE(had_first && had_again);
}

// S^2 has a derivative at S = 0.
TEST(Rmsd, squared_at_zero)
{
  ShapeOptions options = rmsd_from(random_positions(NATOMS, 17));
  options.squared = true;
  const ShapeResult result = evaluate(options, atoms_at(turned(options.reference, {1, 1, 0, 2})));
  EXPECT_LT(result.value, 1e-29);
  EXPECT_EQ(result.flags, 0u);
  EXPECT_LT(norm_of(result.gradients), 1e-14);
  EXPECT_GT(norm_of(result.gradients), 0.0);
}

// Corners of a brick.
TEST(Rmsd, mirror_images)
{
  const double half[3] = {1.5, 1.0, 0.5};
  std::vector<double> brick;
  for (int k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c) brick.push_back(k >> c & 1 ? half[c] : -half[c]);
  // Atoms keep their names: each has moved to the opposite corner along x, and turning about z
  // brings all but z back. S is the shortest edge.
  auto mirror = brick;
  for (std::size_t k = 0; k < mirror.size(); k += 3) mirror[k] = -mirror[k];
  const ShapeResult result = evaluate(rmsd_from(brick), atoms_at(mirror));
  EXPECT_NEAR(result.value, 2.0 * half[2], 1e-15);
  EXPECT_EQ(result.flags, 0u);
  // A cube has three such rotations.
  for (double &one : brick) one = std::copysign(1.0, one);
  for (double &one : mirror) one = std::copysign(1.0, one);
  const ShapeResult cube = evaluate(rmsd_from(brick), atoms_at(mirror));
  EXPECT_NEAR(cube.value, 2.0, 1e-15);
  EXPECT_EQ(cube.flags, ShapeTerm::NOT_UNIQUE);
  expect_finite(cube);
  EXPECT_NEAR(norm_of(cube.gradients) * std::sqrt(8.0), 1.0, 1e-14);
}

// Planar sets: the mirror image of a planar set is a rotated copy.
TEST(Rmsd, planar_sets)
{
  auto reference = random_positions(NATOMS, 19);
  for (std::size_t k = 2; k < reference.size(); k += 3) reference[k] = 0.7;
  auto x = turned(reference, {1, 2, 3, 4}, 1.25);
  for (std::size_t k = 0; k < x.size(); k += 3) x[k] = -x[k];
  const double radius = evaluate(ShapeOptions{}, atoms_at(reference)).value;
  const ShapeResult result = evaluate(rmsd_from(reference), atoms_at(x));
  EXPECT_NEAR(result.value, 0.25 * radius, 1e-14);
  EXPECT_EQ(result.flags, 0u);
  EXPECT_NEAR(norm_of(result.gradients) * std::sqrt(NATOMS), 1.0, 1e-13);
}

// Two atoms: S is half of the change of their distance.
TEST(Rmsd, two_atoms)
{
  const auto options = rmsd_from({0, 0, 0, 0, 2, 0});
  const ShapeResult result = evaluate(options, atoms_at({1, 1, 1, 2, 3, 3}));
  EXPECT_NEAR(result.value, 0.5, 1e-15);
  EXPECT_EQ(result.flags, 0u);
  const double expected[6] = {-1. / 6, -1. / 3, -1. / 3, 1. / 6, 1. / 3, 1. / 3};
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(result.gradients[k], expected[k], 1e-15);
  // At the same place, their direction is free.
  const ShapeResult together = evaluate(options, atoms_at({1, 1, 1, 1, 1, 1}));
  EXPECT_NEAR(together.value, 1.0, 1e-15);
  EXPECT_EQ(together.flags, ShapeTerm::NOT_UNIQUE);
  expect_finite(together);
}

// Atoms in line. About the line of the reference all rotations are the same. About that of the
// atoms they are not, if the reference is not in line.
TEST(Rmsd, collinear_sets)
{
  const std::vector<double> line = {0, 0, 0, 1, 1, 1, 3, 3, 3, 4, 4, 4};
  const std::vector<double> bent = {0, 0, 0, 1, 1, 1, 3, 3, 3, 4, 4, 3};
  EXPECT_EQ(evaluate(rmsd_from(line), atoms_at(turned(bent, {1, 2, 3, 4}))).flags, 0u);
  EXPECT_EQ(evaluate(rmsd_from(line), atoms_at(turned(line, {1, 2, 3, 4}, 2.0))).flags, 0u);
  const ShapeResult free = evaluate(rmsd_from(bent), atoms_at(turned(line, {1, 2, 3, 4})));
  EXPECT_EQ(free.flags, ShapeTerm::NOT_UNIQUE);
  expect_finite(free);
  // the same S in both directions
  EXPECT_NEAR(free.value, evaluate(rmsd_from(line), atoms_at(bent)).value, 1e-14);
  const auto numeric = differences([&](double h) {
    auto x = bent;
    x[4] += h;
    return std::vector<double>{evaluate(rmsd_from(line), atoms_at(x)).value};
  });
  EXPECT_NEAR(evaluate(rmsd_from(line), atoms_at(bent)).gradients[4], numeric[0], 1e-10);
}

TEST(Gyration, closed_forms)
{
  // two masses: sqrt(m1 m2)/(m1 + m2) r
  GeometrySystem system = atoms_at({1, 1, 1, 3, 4, 7});
  system.members[0].weight = 3.0;
  const ShapeResult two = evaluate(ShapeOptions{}, system);
  EXPECT_NEAR(two.value, std::sqrt(3.0) / 4.0 * 7.0, 1e-14);
  EXPECT_NEAR(two.virial[0] + two.virial[1] + two.virial[2], -two.value, 1e-14);
  // corners of a cube
  std::vector<double> cube;
  for (int k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c) cube.push_back(5.0 + (k >> c & 1 ? 0.5 : -0.5));
  EXPECT_NEAR(evaluate(ShapeOptions{}, atoms_at(cube), 2).value, std::sqrt(0.75), 1e-15);
}

// The reference of the point is 1e6 sizes away.
TEST(Gyration, far_reference)
{
  auto x = random_positions(NATOMS, 23);
  const ShapeResult near = evaluate(ShapeOptions{}, atoms_at(x));
  EXPECT_FALSE(near.had_residuals);
  x.insert(x.begin(), {1e6, 1e6, 1e6});
  GeometrySystem system = atoms_at(x);
  system.members[0].weight = 1e-30;
  const ShapeResult far = evaluate(ShapeOptions{}, system, 2);
  EXPECT_TRUE(far.had_residuals);
  EXPECT_NEAR(far.value, near.value, 1e-9);    // the rounding of 1e6
  for (int c = 0; c < 6; ++c) EXPECT_NEAR(far.virial[c], near.virial[c], 1e-9);
}

TEST(Gyration, same_place)
{
  for (const int n : {1, 4}) {
    std::vector<double> x;
    for (int k = 0; k < n; ++k) x.insert(x.end(), {0.7, 1.1, 2.3});
    const ShapeResult result = evaluate(ShapeOptions{}, atoms_at(x));
    EXPECT_EQ(result.value, 0.0);
    EXPECT_EQ(result.flags, ShapeTerm::SINGULAR);
    EXPECT_EQ(norm_of(result.gradients), 0.0);
    expect_finite(result);
  }
}

// ---------------------------------------------------------------- interface

TEST(Interface, factors)
{
  const GeometrySystem system = system_of(box_shapes()[0]);
  const ShapeOptions options = all_options()[4];
  const ShapeResult expected = evaluate(options, system);
  GeometrySystem copy = system;
  for (GeometryMember &member : copy.members) member.reference = member.row;
  const auto ranks = ranks_of(copy, 1, 10);
  Shape shape(options);
  std::vector<double> sums(shape.nsums());
  shape.sum(copy.box, ranks[0].atoms, nullptr, sums.data());    // null is the origin
  const auto flags = shape.evaluate(copy.box, sums.data(), nullptr);
  EXPECT_EQ(flags.nsingular, 0);
  EXPECT_EQ(flags.first_singular, -1);
  EXPECT_EQ(flags.first_far, -1);
  EXPECT_NEAR(shape.value(), expected.value, 1e-13);
  EXPECT_EQ(shape.nvalues(), 1);
  EXPECT_FALSE(shape.period(0).exists());
  EXPECT_GE(shape.bytes(), 3 * NATOMS * sizeof(double));

  const double on_host[4] = {0.3, 100.0, -2.0, 0.0};
  const int item[4] = {0, ItemFactors::NO_ITEM, 0, 0};
  ItemFactors factors;
  factors.host = -0.5;
  factors.on_host = on_host;
  factors.item = item;
  factors.n = 4;
  std::vector<double> f(3 * NATOMS, 1.0), w(6 * NATOMS, 1.0);
  double virial[6] = {1, 2, 3, 4, 5, 6};
  shape.add_gradients(factors, ranks[0].atoms, f.data(), 3);
  shape.add_virial(factors, virial);
  shape.add_atom_virial(factors, ranks[0].atoms, w.data(), 6);
  for (int k = 0; k < 3 * NATOMS; ++k) EXPECT_NEAR(f[k], 1.0 + 0.85 * expected.gradients[k], 1e-13);
  for (int k = 0; k < 6 * NATOMS; ++k)
    EXPECT_NEAR(w[k], 1.0 + 0.85 * expected.atom_virials[k], 1e-12);
  for (int c = 0; c < 6; ++c) EXPECT_NEAR(virial[c], 1.0 + c + 0.85 * expected.virial[c], 1e-12);
}

// A factor of 0 leaves out derivatives that are not finite.
TEST(Interface, zero_factor)
{
  GeometrySystem system = atoms_at(random_positions(4, 1));
  system.x[4] = NAN;
  const auto ranks = ranks_of(system, 1, 10);
  Shape shape{ShapeOptions{}};
  std::vector<double> sums(shape.nsums()), all(12, 1.0);
  const double zero[3] = {};
  shape.sum(system.box, ranks[0].atoms, zero, sums.data());
  shape.evaluate(system.box, sums.data(), zero);
  EXPECT_TRUE(std::isnan(shape.value()));
  ItemFactors factors;
  factors.host = 0.0;
  double virial[6] = {1, 1, 1, 1, 1, 1};
  shape.add_gradients(factors, ranks[0].atoms, all.data(), 3);
  shape.add_virial(factors, virial);
  for (const double one : all) EXPECT_EQ(one, 1.0);
  for (const double one : virial) EXPECT_EQ(one, 1.0);
  shape.add_virial({}, virial);
  EXPECT_TRUE(std::isnan(virial[1]));
}

TEST(Errors, texts)
{
  const auto expect_error = [](const ShapeOptions &options, const std::string &text) {
    try {
      Shape unused(options);
      ADD_FAILURE() << "no error: " << text;
    } catch (const gpucoord::OptionError &e) {
      EXPECT_EQ(e.field, "reference");
      EXPECT_EQ(std::string(e.what()), text);
    }
  };
  const std::string numbers =
      " numbers of reference positions: give three for each of at least two "
      "atoms";
  expect_error(rmsd_from({}), "there are 0" + numbers);
  expect_error(rmsd_from({1, 2, 3}), "there are 3" + numbers);
  expect_error(rmsd_from({1, 2, 3, 4, 5, 6, 7}), "there are 7" + numbers);
  expect_error(rmsd_from({1, 2, 3, 4, NAN, 6}),
               "a reference position has nan but must have finite numbers");
  expect_error(
      rmsd_from({1, 2, 3, 1, 2, 3}),
      "all reference positions are at the same place: give those of atoms at two places or "
      "more");
  ShapeOptions options = rmsd_from({1, 2, 3, 4, 5, 6});
  options.kind = ShapeKind::GYRATION;
  expect_error(options, "the radius of gyration has no reference positions: leave them out");
  Shape shape{ShapeOptions{}};
  const double sums[10] = {};
  try {
    shape.evaluate(box_of(box_shapes()[0]), sums, nullptr);
    ADD_FAILURE();
  } catch (const std::invalid_argument &e) {
    EXPECT_EQ(std::string(e.what()),
              "the members have weight 0 but must have > 0: give the group atoms");
  }
}

}    // namespace
