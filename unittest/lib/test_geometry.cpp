// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers: closed forms, differences,
// signs, singular points, images and ranks.

#include "geometry_systems.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr int NATOMS = 12;
constexpr int GROUP_A = NATOMS, GROUP_B = NATOMS + 1, ALONE = NATOMS + 2;

GeometrySystem system_of(const BoxShape &shape)
{
  GeometrySystem system(shape, NATOMS, 7);
  system.add_group({0, 4, 8, 2}, {1.0, 12.0, 16.0, 1.0});
  system.add_group({1, 2, 5}, {2.0, 3.0, 2.5});    // atom 2 is in both groups
  system.add_group({9}, {0.1});
  return system;
}

GeometryOptions options_of(const GeometrySystem &system)
{
  GeometryOptions options;
  options.npoints = system.npoints;
  options.items = {{Kind::DISTANCE, {0, 1}},
                   {Kind::DISTANCE, {GROUP_A, GROUP_B}},
                   {Kind::COMPONENT, {3, GROUP_A}, 0},
                   {Kind::COMPONENT, {GROUP_B, 6}, 1},
                   {Kind::COMPONENT, {4, 2}, 2},
                   {Kind::POSITION, {5}, 0},
                   {Kind::POSITION, {GROUP_A}, 1},
                   {Kind::POSITION, {ALONE}, 2},
                   {Kind::ANGLE, {0, 5, 7}},
                   {Kind::ANGLE, {GROUP_A, 2, GROUP_B}},    // 2 is also a member of both
                   {Kind::DIHEDRAL, {3, 6, 10, 11}},
                   {Kind::DIHEDRAL, {ALONE, GROUP_A, 1, GROUP_B}}};
  return options;
}

// ---------------------------------------------------------------- values

using Real = long double;
struct Vec {
  Real c[3];
};
Real dot(const Vec &a, const Vec &b)
{
  return a.c[0] * b.c[0] + a.c[1] * b.c[1] + a.c[2] * b.c[2];
}
Vec sum(const Vec &a, Real factor, const Vec &b)
{
  return {{a.c[0] + factor * b.c[0], a.c[1] + factor * b.c[1], a.c[2] + factor * b.c[2]}};
}

// The shortest of explicit images.
Vec nearest(const BoxShape &shape, const Vec &d)
{
  Vec best = d;
  for (int i = -3; i <= 3; ++i)
    for (int j = -3; j <= 3; ++j)
      for (int k = -3; k <= 3; ++k) {
        const int n[3] = {i, j, k};
        Vec image = d;
        bool exists = true;
        for (int axis = 0; axis < 3; ++axis) {
          exists = exists && (n[axis] == 0 || shape.periodic[axis]);
          for (int c = 0; c < 3; ++c) image.c[c] += n[axis] * shape.edges[axis][c];
        }
        if (exists && dot(image, image) < dot(best, best)) best = image;
      }
  return best;
}

Real angle_of(const Vec &a, const Vec &b)
{
  return acosl(dot(a, b) / sqrtl(dot(a, a) * dot(b, b)));
}

// By projections onto the plane across the axis.
Real dihedral_of(const Vec &b1, const Vec &b2, const Vec &b3)
{
  const Real ll = dot(b2, b2);
  const Vec p = sum({{-b1.c[0], -b1.c[1], -b1.c[2]}}, dot(b1, b2) / ll, b2);
  const Vec q = sum(b3, -dot(b3, b2) / ll, b2);
  const Vec cross = {{p.c[1] * q.c[2] - p.c[2] * q.c[1], p.c[2] * q.c[0] - p.c[0] * q.c[2],
                      p.c[0] * q.c[1] - p.c[1] * q.c[0]}};
  return copysignl(angle_of(p, q), dot(cross, b2));
}

Real expected_value(const GeometryItem &item, const GeometrySystem &system)
{
  const auto x = system.unwrapped(system.shape.edges);
  const auto point = [&](int p) {
    Vec center = {};
    Real weight = 0;
    for (const GeometryMember &m : system.members)
      if (m.point == item.point[p]) {
        for (int c = 0; c < 3; ++c) center.c[c] += static_cast<Real>(m.weight) * x[3 * m.row + c];
        weight += m.weight;
      }
    return Vec{{center.c[0] / weight, center.c[1] / weight, center.c[2] / weight}};
  };
  const auto bond = [&](int from, int to) {
    return nearest(system.shape, sum(point(to), -1, point(from)));
  };
  switch (item.kind) {
    case Kind::DISTANCE:
      return sqrtl(dot(bond(0, 1), bond(0, 1)));
    case Kind::COMPONENT:
      return bond(0, 1).c[item.axis];
    case Kind::POSITION:
      return point(0).c[item.axis];
    case Kind::ANGLE:
      return angle_of(bond(1, 0), bond(1, 2));
    default:
      return dihedral_of(bond(0, 1), bond(1, 2), bond(2, 3));
  }
}

class Boxes : public testing::TestWithParam<BoxShape> {};
INSTANTIATE_TEST_SUITE_P(Geometry, Boxes, testing::ValuesIn(box_shapes()),
                         [](const auto &instance) {
                           return instance.param.name;
                         });

TEST_P(Boxes, values_equal_explicit_images)
{
  const GeometrySystem system = system_of(GetParam());
  const GeometryOptions options = options_of(system);
  const GeometryResult result = evaluate(options, system);
  for (std::size_t k = 0; k < options.items.size(); ++k)
    EXPECT_NEAR(result.values[k], static_cast<double>(expected_value(options.items[k], system)),
                1e-13)
        << k;
}

TEST_P(Boxes, ranks_agree)
{
  const GeometrySystem system = system_of(GetParam());
  for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
    GeometryOptions options = options_of(system);
    options.unwrap = unwrap;
    const GeometryResult one = evaluate(options, system);
    for (const int nranks : {2, 4, 20}) {
      const GeometryResult several = evaluate(options, system, nranks);
      for (std::size_t k = 0; k < one.values.size(); ++k)
        EXPECT_NEAR(several.values[k], one.values[k], 1e-13);
      for (std::size_t k = 0; k < one.gradients.size(); ++k)
        EXPECT_NEAR(several.gradients[k], one.gradients[k], 1e-13);
      for (std::size_t k = 0; k < one.atom_virials.size(); ++k)
        EXPECT_NEAR(several.atom_virials[k], one.atom_virials[k], 1e-12);
    }
  }
}

// ---------------------------------------------------------------- derivatives

TEST_P(Boxes, derivatives_equal_differences)
{
  const GeometrySystem system = system_of(GetParam());
  for (const bool nearest : {true, false})
    for (const bool sincos : {true, false})
      for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
        GeometryOptions options = options_of(system);
        options.nearest = nearest;
        options.sincos = sincos;
        options.unwrap = unwrap;
        options.scale = 0.1;
        const GeometryResult result = evaluate(options, system);
        const std::size_t n = result.values.size();
        ASSERT_EQ(n, options.items.size() + (sincos ? 4 : 0));
        for (std::size_t x = 0; x < system.x.size(); ++x) {
          const auto numeric = differences([&](double h) {
            GeometrySystem moved = system;
            moved.x[x] += h;
            return evaluate(options, moved).values;
          });
          for (std::size_t k = 0; k < n; ++k)
            EXPECT_NEAR(result.gradients[k * system.x.size() + x], numeric[k], 1e-9)
                << k << " " << x;
        }
        const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        for (int c = 0; c < 6; ++c) {
          const auto numeric = differences([&](double e) {
            return evaluate(options, strained(system, axes[c][0], axes[c][1], e)).values;
          });
          for (std::size_t k = 0; k < n; ++k)
            EXPECT_NEAR(result.virials[6 * k + c], -numeric[k], 1e-9) << k << " " << c;
        }
      }
}

// The sums over atoms of gradients, torques and virials.
TEST_P(Boxes, sums_over_atoms)
{
  const GeometrySystem system = system_of(GetParam());
  const GeometryOptions options = options_of(system);
  const GeometryResult result = evaluate(options, system);
  const auto x = system.unwrapped(system.shape.edges);
  for (std::size_t k = 0; k < result.values.size(); ++k) {
    double gradient[3] = {}, virial[6] = {}, torque[3] = {};
    for (int i = 0; i < NATOMS; ++i) {
      const double *const g = &result.gradients[3 * (NATOMS * k + i)], *const at = &x[3 * i];
      for (int c = 0; c < 3; ++c)
        torque[c] += at[(c + 1) % 3] * g[(c + 2) % 3] - at[(c + 2) % 3] * g[(c + 1) % 3];
      for (int c = 0; c < 3; ++c) gradient[c] += result.gradients[3 * (NATOMS * k + i) + c];
      for (int c = 0; c < 6; ++c) virial[c] += result.atom_virials[6 * (NATOMS * k + i) + c];
    }
    const GeometryItem &item = options.items[k];
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(gradient[c], item.kind == Kind::POSITION && c == item.axis ? 1.0 : 0.0, 1e-14);
    for (int c = 0; c < 6; ++c) EXPECT_NEAR(virial[c], result.virials[6 * k + c], 1e-13);
    const bool turns = item.kind == Kind::POSITION || item.kind == Kind::COMPONENT;
    for (int c = 0; c < 3 && !turns; ++c) EXPECT_NEAR(torque[c], 0.0, 1e-13);
  }
}

TEST_P(Boxes, sine_and_cosine)
{
  const GeometrySystem system = system_of(GetParam());
  GeometryOptions options = options_of(system);
  options.scale = 0.1;
  const GeometryResult angles = evaluate(options, system);
  options.sincos = true;
  const Geometry geometry(options);
  const GeometryResult both = evaluate(options, system);
  int value = 0;
  for (int k = 0; k < 12; ++k) {
    const double a = angles.values[k];
    const bool is_angle = options.items[k].kind >= Kind::ANGLE;
    for (int which = 0; which < (is_angle ? 2 : 1); ++which, ++value) {
      EXPECT_EQ(geometry.item_of(value), k);
      EXPECT_FALSE(geometry.period(value).exists());
      EXPECT_EQ(both.values[value], !is_angle ? a : which == 0 ? std::sin(a) : std::cos(a));
      const double slope = !is_angle ? 1.0 : which == 0 ? std::cos(a) : -std::sin(a);
      for (int x = 0; x < 3 * NATOMS; ++x)
        EXPECT_NEAR(both.gradients[3 * NATOMS * value + x],
                    slope * angles.gradients[3 * NATOMS * k + x], 1e-15);
      for (int c = 0; c < 6; ++c)
        EXPECT_NEAR(both.virials[6 * value + c], slope * angles.virials[6 * k + c], 1e-14);
    }
  }
  EXPECT_EQ(value, geometry.nvalues());
}

// ---------------------------------------------------------------- signs and singular points

// Points in a box without periods, each of them an atom.
GeometrySystem points_at(const std::vector<double> &x)
{
  GeometrySystem system(box_shapes()[3], static_cast<int>(x.size()) / 3, 1);
  system.x = x;
  return system;
}

GeometryResult evaluate_one(const GeometryItem &item, const GeometrySystem &system)
{
  GeometryOptions options;
  options.items = {item};
  options.npoints = system.npoints;
  const GeometryResult result = evaluate(options, system);
  for (const auto *all : {&result.values, &result.gradients, &result.virials, &result.atom_virials})
    for (const double one : *all) EXPECT_TRUE(std::isfinite(one));
  return result;
}
double size_of(const GeometryResult &result, int atom)
{
  const double *const g = &result.gradients[3 * atom];
  return std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}
void expect_singular(const GeometryResult &result)
{
  EXPECT_EQ(result.flags.nsingular, 1);
  EXPECT_EQ(result.flags.first_singular, 0);
  for (const auto *all : {&result.gradients, &result.virials, &result.atom_virials})
    for (const double one : *all) EXPECT_EQ(one, 0.0);
}

// X2 to X3 leads along z. X4 is turned by the angle about z.
TEST(Signs, dihedral_of_iupac)
{
  const GeometryItem item = {Kind::DIHEDRAL, {0, 1, 2, 3}};
  for (const double a : {-3.14, -2.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 2.0, 3.14}) {
    const auto result = evaluate_one(
        item, points_at({1, 0, -0.3, 0, 0, 0, 0, 0, 1, std::cos(a), std::sin(a), 1.2}));
    EXPECT_NEAR(result.values[0], a, 4e-16);
    EXPECT_EQ(result.flags.nsingular, 0);
    EXPECT_NEAR(size_of(result, 0), 1.0, 1e-15);    // 1 over the distance from the axis
  }
}

TEST(Signs, component_leads_to_the_second_point)
{
  const GeometrySystem system = points_at({1, 2, 3, 1.5, 1.75, 4});
  const double expected[3] = {0.5, -0.25, 1.0};
  for (int axis = 0; axis < 3; ++axis) {
    const auto result = evaluate_one({Kind::COMPONENT, {0, 1}, axis}, system);
    EXPECT_EQ(result.values[0], expected[axis]);
    EXPECT_EQ(result.gradients[3 + axis], 1.0);
  }
}

TEST(Singular, distance_of_equal_points)
{
  const auto result =
      evaluate_one({Kind::DISTANCE, {0, 1}}, points_at({0.7, 1.1, 2.3, 0.7, 1.1, 2.3}));
  EXPECT_EQ(result.values[0], 0.0);
  expect_singular(result);
  const auto near = evaluate_one({Kind::DISTANCE, {0, 1}}, points_at({0, 0, 0, 0, 1e-150, 0}));
  EXPECT_EQ(near.flags.nsingular, 0);
  EXPECT_NEAR(size_of(near, 1), 1.0, 1e-15);
}

TEST(Singular, angle_in_line)
{
  const GeometryItem item = {Kind::ANGLE, {0, 1, 2}};
  for (const double end : {0.0, PI})
    for (const double away : {1e-3, 1e-7, 1e-9, 1e-11}) {
      const double sign = end == 0.0 ? 1.0 : -1.0;
      const auto result = evaluate_one(
          item, points_at({2, 0, 0, 0, 0, 0, sign * 4 * std::cos(away), 4 * std::sin(away), 0}));
      EXPECT_EQ(result.flags.nsingular, 0);
      EXPECT_NEAR(result.values[0], end == 0.0 ? away : PI - away,
                  end == 0.0 ? 1e-15 * away : 4e-16);
      EXPECT_NEAR(size_of(result, 0), 0.5, 1e-9);
      EXPECT_NEAR(size_of(result, 2), 0.25, 1e-9);
    }
  for (const double y : {0.0, 3e-12}) {    // sin = 0.75e-12
    auto result = evaluate_one(item, points_at({2, 0, 0, 0, 0, 0, 4, y, 0}));
    EXPECT_NEAR(result.values[0], 0.25 * y, 1e-27);
    expect_singular(result);
    result = evaluate_one(item, points_at({2, 0, 0, 0, 0, 0, -4, y, 0}));
    EXPECT_NEAR(result.values[0], PI, 1e-11);
    expect_singular(result);
  }
  expect_singular(evaluate_one(item, points_at({1, 0, 0, 1, 0, 0, 3, 1, 0})));
  expect_singular(evaluate_one(item, points_at({1, 0, 0, 1, 0, 0, 1, 0, 0})));
}

// The first three points are in line up to an offset.
TEST(Singular, dihedral_of_three_in_line)
{
  const GeometryItem item = {Kind::DIHEDRAL, {0, 1, 2, 3}};
  for (const double offset : {1e-2, 1e-4, 1e-7, 2e-8}) {
    const auto result = evaluate_one(item, points_at({offset, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1, 1.5}));
    EXPECT_EQ(result.flags.nsingular, 0);
    EXPECT_NEAR(result.values[0], 0.5 * PI, 1e-15);
    EXPECT_NEAR(size_of(result, 0) * offset, 1.0, 1e-14);
    // in the other order
    const auto turned = evaluate_one({Kind::DIHEDRAL, {3, 2, 1, 0}},
                                     points_at({offset, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1, 1.5}));
    EXPECT_NEAR(turned.values[0], result.values[0], 1e-15);
    EXPECT_NEAR(size_of(turned, 0) * offset, 1.0, 1e-14);
  }
  for (const double offset : {0.0, 9e-9}) {
    const auto system = points_at({offset, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1, 1.5});
    expect_singular(evaluate_one(item, system));
    expect_singular(evaluate_one({Kind::DIHEDRAL, {3, 2, 1, 0}}, system));
  }
  for (int twice = 0; twice < 3; ++twice) {    // equal neighbors
    std::vector<double> x = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1.5};
    std::copy_n(&x[3 * twice], 3, &x[3 * twice + 3]);
    expect_singular(evaluate_one(item, points_at(x)));
  }
}

TEST(Singular, half_a_box_apart)
{
  for (const int tilted : {0, 1}) {
    GeometrySystem system(box_shapes()[tilted], 2, 1);
    system.flags.assign(6, 0);
    GeometryOptions options;
    options.npoints = 2;
    options.items = {{Kind::COMPONENT, {0, 1}, 0}, {Kind::COMPONENT, {1, 0}, 1}};
    for (const double part : {0.44, 0.46, 0.54, 0.56}) {
      system.x = {0.2, 0.3, 0.4, 0.2 + 9 * part, 0.3, 0.4};
      options.nearest = true;
      auto result = evaluate(options, system);
      EXPECT_EQ(result.flags.first_far, part > 0.45 && part < 0.55 ? 0 : -1) << part;
      EXPECT_EQ(result.flags.nsingular, 0);
      EXPECT_NEAR(result.values[0], part < 0.5 ? 9 * part : 9 * (part - 1.0), 1e-14);
      options.nearest = false;
      result = evaluate(options, system);
      EXPECT_EQ(result.flags.first_far, -1);
      EXPECT_NEAR(result.values[0], 9 * part, 1e-14);
    }
  }
}

// ---------------------------------------------------------------- centers

// Images of members do not matter, if their flags say so, or if they are near.
TEST_P(Boxes, centers_across_faces)
{
  GeometrySystem system = system_of(GetParam());
  GeometryOptions options = options_of(system);
  const GeometryResult expected = evaluate(options, system);
  options.unwrap = Unwrap::NEAREST;
  const GeometryResult by_nearest = evaluate(options, system);
  for (int i = 0; i < NATOMS; ++i)    // the same unwrapped positions
    for (int axis = 0; axis < 3; ++axis) {
      if (!system.shape.periodic[axis]) continue;
      const int shift = (i + axis) % 7 - 3;
      system.flags[3 * i + axis] -= shift;
      for (int c = 0; c < 3; ++c) system.x[3 * i + c] += shift * system.shape.edges[axis][c];
    }
  const GeometryResult shifted_nearest = evaluate(options, system);
  options.unwrap = Unwrap::IMAGE;
  for (const int bits : {10, 21}) {
    const GeometryResult shifted = evaluate(options, system, 1, bits);
    for (std::size_t k = 0; k < expected.values.size(); ++k) {
      EXPECT_NEAR(shifted.values[k], expected.values[k], 1e-13);
      EXPECT_NEAR(by_nearest.values[k], expected.values[k], 1e-13);
      EXPECT_NEAR(shifted_nearest.values[k], expected.values[k], 1e-13);
    }
    for (std::size_t k = 0; k < expected.gradients.size(); ++k)
      EXPECT_NEAR(shifted.gradients[k], expected.gradients[k], 1e-13);
  }
}

// The largest flags of both sizes.
TEST(Centers, flags_at_the_limit)
{
  GeometrySystem system(box_shapes()[1], 1, 1);
  GeometryOptions options;
  options.npoints = 1;
  for (int axis = 0; axis < 3; ++axis) options.items.push_back({Kind::POSITION, {0}, axis});
  for (const int bits : {10, 21})
    for (const int flag : {-(1 << (bits - 1)), (1 << (bits - 1)) - 1}) {
      system.flags = {flag, 0, flag};
      const auto all = system.unwrapped(system.shape.edges);
      const auto result = evaluate(options, system, 1, bits);
      for (int axis = 0; axis < 3; ++axis)
        EXPECT_NEAR(result.values[axis], all[axis], 1e-9) << bits << " " << flag;
    }
}

// ---------------------------------------------------------------- factors

// Evaluates on one rank and adds with these factors.
struct OneRank {
  OneRank(const GeometryOptions &options, const GeometrySystem &system) :
      geometry(options), members(system.members)
  {
    for (std::size_t i = 0; i < system.x.size(); i += 3)
      packed.push_back(static_cast<std::int32_t>(packed_flags(&system.flags[i], 10)));
    atoms = {system.x.data(), {packed.data(), 10}, members.data(), members.size()};
    std::vector<double> sums(4 * options.npoints);
    geometry.sum(system.box, atoms, nullptr, sums.data());
    geometry.evaluate(system.box, sums.data(), nullptr);
  }
  Geometry geometry;
  std::vector<GeometryMember> members;
  std::vector<std::int32_t> packed;
  gpucoord::GeometryAtoms atoms;
};

TEST(Factors, sums_of_items)
{
  const GeometrySystem system = system_of(box_shapes()[1]);
  GeometryOptions options = options_of(system);
  options.sincos = true;
  const GeometryResult separate = evaluate(options, system);
  const OneRank rank(options, system);
  const double factor[5] = {0.3, -2.0, 0.0, 7.0, 1.5};
  const int item[5] = {9, 1, 3, ItemFactors::NO_ITEM, 10};
  ItemFactors factors;
  factors.host = -0.5;
  factors.on_host = factor;
  factors.item = item;
  factors.n = 5;
  std::vector<double> f(3 * NATOMS, 1.0), w(6 * NATOMS, 0.0);
  double virial[6] = {1, 2, 3, 4, 5, 6};
  rank.geometry.add_gradients(factors, rank.atoms, f.data(), 3);
  rank.geometry.add_virial(factors, virial);
  rank.geometry.add_atom_virial(factors, rank.atoms, w.data(), 6);
  const auto expected = [&](const std::vector<double> &all, std::size_t width, std::size_t at) {
    double total = 0.0;
    for (const int k : {0, 1, 4}) total += -0.5 * factor[k] * all[width * item[k] + at];
    return total;
  };
  for (int k = 0; k < 3 * NATOMS; ++k)
    EXPECT_NEAR(f[k], 1.0 + expected(separate.gradients, 3 * NATOMS, k), 1e-14);
  for (int k = 0; k < 6 * NATOMS; ++k)
    EXPECT_NEAR(w[k], expected(separate.atom_virials, 6 * NATOMS, k), 1e-14);
  for (int c = 0; c < 6; ++c)
    EXPECT_NEAR(virial[c], 1.0 + c + expected(separate.virials, 6, c), 1e-14);
}

TEST(Factors, many_items_equal_single_ones)
{
  const GeometrySystem system = system_of(box_shapes()[1]);
  const GeometryOptions few = options_of(system);
  GeometryOptions many = few;
  for (int k = 12; k < 1000; ++k) many.items.push_back(few.items[k % 12]);
  const OneRank all(many, system);
  for (const int k : {0, 1, 2, 9, 11, 501, 999}) {
    GeometryOptions single = few;
    single.items = {many.items[k]};
    const OneRank one(single, system);
    EXPECT_EQ(all.geometry.value(k), one.geometry.value(0));
    std::vector<double> of_all(3 * NATOMS, 0.25), of_one = of_all;
    ItemFactors factors;
    factors.host = -1.7;
    one.geometry.add_gradients(factors, one.atoms, of_one.data(), 3);
    factors.item = &k;
    all.geometry.add_gradients(factors, all.atoms, of_all.data(), 3);
    EXPECT_EQ(std::memcmp(of_all.data(), of_one.data(), sizeof(double) * of_all.size()), 0) << k;
  }
}

// A value whose factor is 0 does not act, even if it is not a number.
TEST(Factors, zero_leaves_out)
{
  GeometrySystem system = system_of(box_shapes()[0]);
  GeometryOptions options = options_of(system);
  options.sincos = true;
  const OneRank finite(options, system);
  system.x[0] = std::numeric_limits<double>::quiet_NaN();    // of items 0, 1, 2, 8, 9, 11
  const OneRank rank(options, system);
  EXPECT_TRUE(std::isnan(rank.geometry.value(0)));
  std::vector<double> factor(16, 0.0);
  factor[12] = 2.0;    // the sine of item 10
  ItemFactors factors;
  factors.on_host = factor.data();
  factors.n = 16;
  for (const bool atoms : {false, true}) {
    std::vector<double> expected(9 * NATOMS, 0.0), got = expected;
    for (const OneRank *one : {&finite, &rank}) {
      double *const to = one == &rank ? got.data() : expected.data();
      one->geometry.add_gradients(factors, one->atoms, to, 3);
      if (atoms)
        one->geometry.add_atom_virial(factors, one->atoms, to + 3 * NATOMS, 6);
      else
        one->geometry.add_virial(factors, to + 3 * NATOMS);
    }
    EXPECT_EQ(got, expected);
    EXPECT_NE(expected[3 * NATOMS + (atoms ? 6 * 3 : 0)], 0.0);
  }
}

TEST(Periods, of_values)
{
  GeometryOptions options;
  options.npoints = 4;
  options.items = {
      {Kind::DISTANCE, {0, 1}}, {Kind::DIHEDRAL, {0, 1, 2, 3}}, {Kind::ANGLE, {0, 1, 2}}};
  const Geometry geometry(options);
  EXPECT_FALSE(geometry.period(0).exists());
  EXPECT_FALSE(geometry.period(2).exists());
  EXPECT_EQ(geometry.period(1).lo, -PI);
  EXPECT_EQ(geometry.period(1).length, 2.0 * PI);
}

TEST(Errors, texts)
{
  const auto expect_error = [](const GeometryOptions &options, const std::string &field,
                               const std::string &text) {
    try {
      Geometry unused(options);
      ADD_FAILURE() << "no error: " << text;
    } catch (const gpucoord::OptionError &e) {
      EXPECT_EQ(e.field, field);
      EXPECT_EQ(std::string(e.what()), text);
    }
  };
  GeometryOptions options;
  options.npoints = 3;
  expect_error(options, "items", "there are no items: give at least one");
  options.items = {{Kind::DISTANCE, {0, 1}}, {Kind::ANGLE, {0, 1, 3}}};
  expect_error(options, "items", "item 2 has point 3 of 3 points, counted from 0");
  options.items[1].point[2] = -1;
  expect_error(options, "items", "item 2 has point -1 of 3 points, counted from 0");
  options.items[1].point[2] = 0;
  expect_error(options, "items", "item 2 has a point twice: use different points");
  options.items[1] = {Kind::COMPONENT, {1, 2}, 3};
  expect_error(options, "items", "item 2 has axis 3 but must have 0, 1 or 2");
  options.items.pop_back();
  for (const double scale : {0.0, -1.0}) {
    options.scale = scale;
    expect_error(options, "scale",
                 std::string("scale is ") + (scale == 0.0 ? "0" : "-1") +
                     " but must be > 0 and finite");
  }
  options.scale = 1.0;
  Geometry geometry(options);
  const double sums[12] = {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1};
  try {
    geometry.evaluate(box_of(box_shapes()[0]), sums, nullptr);
    ADD_FAILURE();
  } catch (const std::invalid_argument &e) {
    EXPECT_EQ(std::string(e.what()),
              "point 1, counted from 0, has weight 0 but must have > 0: give it atoms");
  }
}

}    // namespace
