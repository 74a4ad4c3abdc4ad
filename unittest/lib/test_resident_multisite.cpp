// Part of GPUCOORD, GPL-2.0. Rigid molecules that are resident on the GPU, compared with the
// reference loops. test_multisite.cpp compares those with closed forms, finite differences and
// ls1-MarDyn.

#include "gpu.h"
#include "multisite_lattices.h"
#include "on_gpu.h"

#include "gpucoord/resident_multisite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

// The layout of LAMMPS.
struct Body {
  double shape[3], quaternion[4];
  int atom;
};

// Atoms on the GPU: the molecules of a system, mixed with other atoms. Types are components + 1;
// other atoms have the next type. The order of bodies differs from that of atoms. Real: type of
// positions and forces
template <class Real> class Atoms {
 public:
  std::vector<Real> x;
  std::vector<int> type, mask, body, molecule;    // molecule: index in the system, -1: none
  std::vector<Body> bodies;
  std::vector<int> component_of;
  int nlocal = 0;

  // mixed: every third atom is not a molecule. by_axis: forces are [3][atoms]
  Atoms(const System &s, int ncomponents, bool mixed, bool by_axis_in) : by_axis(by_axis_in)
  {
    component_of.push_back(-1);
    for (int c = 0; c < ncomponents; ++c) component_of.push_back(c);
    component_of.push_back(-1);
    const int n = static_cast<int>(s.kind.size());
    for (int k = 0; k < n; ++k) {
      if (mixed && k % 2 == 0) {
        for (int c = 0; c < 3; ++c) x.push_back(static_cast<Real>(s.x[3 * k + c]));
        type.push_back(ncomponents + 1);
        body.push_back(-1);
        molecule.push_back(-1);
      }
      for (int c = 0; c < 3; ++c) x.push_back(static_cast<Real>(s.x[3 * k + c]));
      type.push_back(s.kind[k] + 1);
      body.push_back(n - 1 - k);
      molecule.push_back(k);
      if (k < s.nlocal) nlocal = static_cast<int>(type.size());
    }
    bodies.resize(n);
    for (int k = 0; k < n; ++k) {
      std::copy_n(s.q.begin() + 4 * k, 4, bodies[n - 1 - k].quaternion);
      std::fill_n(bodies[n - 1 - k].shape, 3, -7.0);
    }
    mask.assign(type.size(), 1);
    send();
  }

  void send()
  {
    x_there = std::make_unique<OnGpu<Real>>(x);
    type_there = std::make_unique<OnGpu<int>>(type);
    mask_there = std::make_unique<OnGpu<int>>(mask);
    body_there = std::make_unique<OnGpu<int>>(body);
    bodies_there = std::make_unique<OnGpu<Body>>(bodies);
  }

  DeviceAtoms atoms() const
  {
    DeviceAtoms a;
    a.x = x_there->data();
    a.x_is_float = sizeof(Real) == sizeof(float);
    a.type = type_there->data();
    a.mask = mask_there->data();
    a.nlocal = nlocal;
    a.nall = static_cast<int>(type.size());
    return a;
  }
  DeviceBodies turned() const
  {
    const char *const first = reinterpret_cast<const char *>(bodies_there->data());
    return {body_there->data(), first + offsetof(Body, quaternion), sizeof(Body)};
  }

  // Vectors of owned atoms.
  OnGpu<Real> vectors(double value) const
  {
    return OnGpu<Real>(std::vector<Real>(3 * nlocal, static_cast<Real>(value)));
  }
  DeviceForces forces(const OnGpu<Real> &buffer) const
  {
    return {buffer.data(), sizeof(Real) == sizeof(float), by_axis ? 1 : 3, by_axis ? nlocal : 1};
  }
  double at(const std::vector<Real> &vectors, int atom, int axis) const
  {
    return by_axis ? vectors[static_cast<std::size_t>(nlocal) * axis + atom]
                   : vectors[3 * atom + axis];
  }

 private:
  const bool by_axis;
  std::unique_ptr<OnGpu<Real>> x_there;
  std::unique_ptr<OnGpu<int>> type_there, mask_there, body_there;
  std::unique_ptr<OnGpu<Body>> bodies_there;
};

// Rounds positions to float, so that sums differ only by precision.
System rounded(System s)
{
  for (double &c : s.x) c = static_cast<float>(c);
  return s;
}

constexpr double BEFORE = 0.25;    // initial value of forces and torques

// Checks the added forces and torques, and that rows of other atoms are unchanged.
template <class Real>
void expect_added(const Atoms<Real> &a, const OnGpu<Real> &force, const OnGpu<Real> &torque,
                  const Result &expected, double tolerance)
{
  const auto f = force.get(), t = torque.get();
  std::vector<double> forces, torques;
  for (int i = 0; i < a.nlocal; ++i)
    for (int c = 0; c < 3; ++c) {
      if (a.molecule[i] < 0) {
        EXPECT_EQ(a.at(f, i, c), BEFORE);
        EXPECT_EQ(a.at(t, i, c), BEFORE);
        continue;
      }
      forces.push_back(a.at(f, i, c) - BEFORE);
      torques.push_back(a.at(t, i, c) - BEFORE);
    }
  expect_close(forces, expected.force, tolerance, "force");
  expect_close(torques, expected.torque, tolerance, "torque");
}

template <class Real>
void compare(const MultisiteModel &model, const System &s, Precision precision, bool mixed,
             bool by_axis, ResidentMultisite &on_device)
{
  const double tolerance = precision == Precision::DOUBLE && sizeof(Real) == sizeof(double)
      ? TOLERANCE_DOUBLE
      : TOLERANCE_FLOAT;
  const Result expected(s, [&](const Molecules &m, const MultisiteResults &r) {
    return reference_multisite(model, m, r);
  });
  const Atoms<Real> a(s, static_cast<int>(model.components().size()), mixed, by_axis);
  on_device.rebuild(a.atoms(), nullptr);
  for (const MultisiteWant want : {MultisiteWant::ALL, MultisiteWant::FORCES}) {
    const auto force = a.vectors(BEFORE), torque = a.vectors(BEFORE);
    on_device.evaluate(a.atoms(), a.turned(), want, a.forces(force), a.forces(torque), nullptr);
    const auto found = on_device.result(nullptr);
    EXPECT_EQ(found.bad_atom, -1);
    expect_added(a, force, torque, expected, tolerance);
    if (want == MultisiteWant::FORCES) continue;

    on_device.evaluate(a.atoms(), a.turned(), want, nullptr);    // again, without adding to forces
    expect_added(a, force, torque, expected, tolerance);
    std::vector<double> f(3 * a.nlocal), t(3 * a.nlocal), e(a.nlocal), w(6 * a.nlocal);
    on_device.add_to({f.data(), t.data(), e.data(), w.data()}, nullptr);
    Result by_row = expected;
    by_row.sums = found.sums;
    for (int i = 0; i < a.nlocal; ++i) {
      const int k = a.molecule[i];
      if (k < 0) {
        EXPECT_EQ(e[i], 0.0);
        continue;
      }
      std::copy_n(&f[3 * i], 3, &by_row.force[3 * k]);
      std::copy_n(&t[3 * i], 3, &by_row.torque[3 * k]);
      std::copy_n(&w[6 * i], 6, &by_row.virial[6 * k]);
      by_row.energy[k] = e[i];
    }
    // Sums are in double, forces in float.
    expect_close(by_row, expected,
                 precision == Precision::DOUBLE ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT);
  }
}

class DeviceMultisites : public Multisites {};

}    // namespace

TEST_F(DeviceMultisites, equal_plain_loops)
{
  const auto all = kinds_of_components();
  for (const auto &kinds : {all[2], all[7], all[10], all[11]})
    for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
      MultisiteModel model(kinds, options(3.2, 2.5));
      if (kinds.size() > 1) model.set_mixing(0, 1, {0.9, 1.02});
      std::vector<int> component_of = {-1};
      for (int c = 0; c < static_cast<int>(kinds.size()); ++c) component_of.push_back(c);
      component_of.push_back(-1);
      const auto on_device = make_resident_multisite(model, component_of, precision);
      for (const int n : {400, 1, 2, 3000, 33, 0, 500})    // no data of an earlier size remain
        for (const bool mixed : {false, true})
          for (const bool by_axis : {false, true}) {
            SCOPED_TRACE(kinds[0].name + ", " + std::to_string(n) + " molecules" +
                         (mixed ? " among others" : "") + (by_axis ? ", by axis" : ""));
            const System s = rounded(System(n, static_cast<int>(kinds.size())));
            compare<double>(model, s, precision, mixed, by_axis, *on_device);
            compare<float>(model, s, precision, mixed, by_axis, *on_device);
          }
    }
}

// Positions may change without a rebuild, as long as atoms keep their indices.
TEST_F(DeviceMultisites, move_without_a_rebuild)
{
  const auto kinds = kinds_of_components()[10];
  const MultisiteModel model(kinds, options(3.0, 3.0));
  const auto on_device = make_resident_multisite(model, {-1, 0, 1, 2, -1}, Precision::DOUBLE);
  System s = rounded(System(2000, 3));
  Atoms<double> a(s, 3, true, false);
  on_device->rebuild(a.atoms(), nullptr);
  for (const double shift : {0.7, -40.0, 300.0}) {
    for (std::size_t k = 0; k < s.x.size(); k += 3) {
      s.x[k] = 1.3 * s.x[k] + shift;    // the box grows, too
      s.x[k + 1] -= shift;
    }
    Atoms<double> moved(s, 3, true, false);
    const Result expected(s, [&](const Molecules &m, const MultisiteResults &r) {
      return reference_multisite(model, m, r);
    });
    const auto force = moved.vectors(BEFORE), torque = moved.vectors(BEFORE);
    on_device->evaluate(moved.atoms(), moved.turned(), MultisiteWant::FORCES, moved.forces(force),
                        moved.forces(torque), nullptr);
    EXPECT_EQ(on_device->result(nullptr).bad_atom, -1);
    expect_added(moved, force, torque, expected,
                 10.0 * TOLERANCE_DOUBLE);    // coordinates are large
  }
}

// Reports the lowest invalid row until the next rebuild. Atoms that are not molecules may be
// invalid.
TEST_F(DeviceMultisites, find_what_is_no_molecule)
{
  const auto kinds = kinds_of_components()[10];
  const MultisiteModel model(kinds, options(3.0, 3.0));
  const auto on_device = make_resident_multisite(model, {-1, 0, 1, 2, -1}, Precision::MIXED);
  const System s(300, 3);
  const auto bad_atom_of = [&](Atoms<double> &a) {
    a.send();
    const auto force = a.vectors(0.0), torque = a.vectors(0.0);
    on_device->evaluate(a.atoms(), a.turned(), MultisiteWant::FORCES, a.forces(force),
                        a.forces(torque), nullptr);
    return on_device->result(nullptr).bad_atom;
  };
  for (int kind = 0; kind < 6; ++kind) {
    Atoms<double> a(s, 3, true, false);
    on_device->rebuild(a.atoms(), nullptr);
    ASSERT_EQ(a.molecule[6], -1);
    a.x[3 * 6] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(bad_atom_of(a), -1);
    const int bad = kind < 3 ? 100 : a.nlocal;    // a ghost
    ASSERT_GE(a.molecule[bad], 0);
    auto &body = a.bodies[std::max(0, a.body[bad])];
    if (kind % 3 == 0) a.x[3 * bad + 2] = std::numeric_limits<double>::infinity();
    if (kind % 3 == 1) body.quaternion[1] += 0.1;
    if (kind % 3 == 2) a.body[bad] = -1;
    EXPECT_EQ(bad_atom_of(a), bad);
    Atoms<double> good(s, 3, true, false);
    EXPECT_EQ(bad_atom_of(good), bad);    // still reported
    EXPECT_EQ(on_device->rebuild(good.atoms(), nullptr).bad_atom, bad);
    EXPECT_EQ(bad_atom_of(good), -1);
  }
}

// Checks the types of atoms that were molecules at the rebuild.
TEST_F(DeviceMultisites, find_types_that_change)
{
  const auto kinds = kinds_of_components()[10];
  const MultisiteModel model(kinds, options(3.0, 3.0));
  const auto on_device = make_resident_multisite(model, {-1, 0, 1, 2, -1}, Precision::MIXED);
  for (const int type : {1, 4}) {
    Atoms<double> a(System(300, 3), 3, true, false);
    EXPECT_FALSE(on_device->rebuild(a.atoms(), nullptr).types_changed);
    on_device->evaluate(a.atoms(), a.turned(), MultisiteWant::FORCES, nullptr);
    EXPECT_FALSE(on_device->result(nullptr).types_changed);
    ASSERT_EQ(a.type[a.nlocal], 1 + 225 % 3);    // a ghost
    a.type[a.nlocal] = type == 1 ? 2 : type;
    a.send();
    on_device->evaluate(a.atoms(), a.turned(), MultisiteWant::FORCES, nullptr);
    EXPECT_TRUE(on_device->result(nullptr).types_changed);
    // Reported until this rebuild.
    EXPECT_TRUE(on_device->rebuild(a.atoms(), nullptr).types_changed);
    on_device->evaluate(a.atoms(), a.turned(), MultisiteWant::FORCES, nullptr);
    EXPECT_FALSE(on_device->result(nullptr).types_changed);
  }
}

// The result is perpendicular to the axis, and other atoms keep their vectors.
template <class Real> void remove_axial_components(bool by_axis, double tolerance)
{
  System s(700, 3);
  Atoms<Real> a(s, 3, true, by_axis);
  for (std::size_t i = 0; i < a.mask.size(); ++i) a.mask[i] = i % 5 == 0 ? 1 : 6;
  a.send();
  for (int axis = 0; axis < 3; ++axis) {
    const auto axes = make_resident_axes({-1, -1, axis, (axis + 1) % 3, axis});
    std::mt19937 random(axis);
    std::normal_distribution<double> normal;
    std::vector<Real> before(3 * a.nlocal);
    for (Real &c : before) c = static_cast<Real>(normal(random));
    const OnGpu<Real> there(before);
    axes->remove_axial_components(a.atoms(), a.turned(), 4, a.forces(there), nullptr);
    const auto after = there.get();
    for (int i = 0; i < a.nlocal; ++i) {
      const int kind = a.molecule[i] < 0 ? -1 : s.kind[a.molecule[i]];
      double along[3] = {};
      if (kind > 0 && a.mask[i] == 6) {
        // The unit vector of the frame, rotated: v + 2 w (u x v) + 2 u x (u x v).
        const double *const q = &s.q[4 * a.molecule[i]];
        double e[3] = {}, u[3] = {q[1], q[2], q[3]};
        e[kind == 1 ? axis : (axis + 1) % 3] = 1.0;
        const auto cross = [](const double *p, const double *r, double *to) {
          for (int c = 0; c < 3; ++c)
            to[c] = p[(c + 1) % 3] * r[(c + 2) % 3] - p[(c + 2) % 3] * r[(c + 1) % 3];
        };
        double once[3], twice[3];
        cross(u, e, once);
        cross(u, once, twice);
        for (int c = 0; c < 3; ++c) along[c] = e[c] + 2.0 * (q[0] * once[c] + twice[c]);
      }
      double part = 0.0;
      for (int c = 0; c < 3; ++c) part += a.at(before, i, c) * along[c];
      for (int c = 0; c < 3; ++c) {
        if (part == 0.0)
          EXPECT_EQ(a.at(after, i, c), a.at(before, i, c));
        else
          EXPECT_NEAR(a.at(after, i, c), a.at(before, i, c) - part * along[c], tolerance);
      }
    }
  }
}

TEST_F(DeviceMultisites, remove_along_axes)
{
  for (const bool by_axis : {false, true}) {
    remove_axial_components<double>(by_axis, 1e-14);
    remove_axial_components<float>(by_axis, 1e-6);
  }
}

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  need_gpu();
  return RUN_ALL_TESTS();
}
