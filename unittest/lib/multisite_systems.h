// Part of GPUCOORD, GPL-2.0. Systems of rigid molecules for tests.

#ifndef GPUCOORD_TEST_MULTISITE_SYSTEMS_H
#define GPUCOORD_TEST_MULTISITE_SYSTEMS_H

#include "gpucoord/multisite.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

struct Result {
  gpucoord::MultisiteSums sums;
  std::vector<double> force, torque, energy, virial;    // for each molecule

  explicit Result(int nlocal) :
      force(3 * nlocal), torque(3 * nlocal), energy(nlocal), virial(6 * nlocal)
  {
  }
  gpucoord::MultisiteResults to_be_added_to()
  {
    return {force.data(), torque.data(), energy.data(), virial.data()};
  }
  double total() const { return sums.lennard_jones + sums.electrostatic + sums.reaction_field; }
};

struct System {
  std::vector<double> x, q;
  std::vector<int> component;
  int nlocal = 0;

  void add(const double *position, const double *quaternion, int kind)
  {
    x.insert(x.end(), position, position + 3);
    q.insert(q.end(), quaternion, quaternion + 4);
    component.push_back(kind);
  }
  gpucoord::Molecules molecules() const
  {
    return {x.data(), q.data(), component.data(), nlocal, static_cast<int>(component.size())};
  }
  // Uses the reference loops.
  Result evaluate(const gpucoord::MultisiteModel &model) const
  {
    Result result(nlocal);
    result.sums = reference_multisite(model, molecules(), result.to_be_added_to());
    return result;
  }
  Result evaluate(gpucoord::Multisite &backend,
                  gpucoord::MultisiteWant want = gpucoord::MultisiteWant::ALL) const
  {
    Result result(nlocal);
    result.sums = backend.evaluate(molecules(), want, result.to_be_added_to());
    return result;
  }
};

inline std::array<double, 3> rotated(const double *q, const std::array<double, 3> &v)
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double m[3][3] = {
      {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
      {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
      {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
  std::array<double, 3> r = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r[i] += m[i][j] * v[j];
  return r;
}

// Rotates a quaternion by a small angle a about an axis of space.
inline void rotate(double *q, int axis, double a)
{
  const double c = std::cos(0.5 * a), s = std::sin(0.5 * a);
  const double r[4] = {c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0},
               p[4] = {q[0], q[1], q[2], q[3]};
  q[0] = r[0] * p[0] - r[1] * p[1] - r[2] * p[2] - r[3] * p[3];
  q[1] = r[0] * p[1] + r[1] * p[0] + r[2] * p[3] - r[3] * p[2];
  q[2] = r[0] * p[2] - r[1] * p[3] + r[2] * p[0] + r[3] * p[1];
  q[3] = r[0] * p[3] + r[1] * p[2] - r[2] * p[1] + r[3] * p[0];
}

inline std::array<double, 4> random_quaternion(std::mt19937 &random)
{
  std::normal_distribution<double> normal;
  std::array<double, 4> q;
  for (double &c : q) c = normal(random);
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double &c : q) c /= length;
  return q;
}

inline System two_molecules(std::mt19937 &random, double distance)
{
  std::normal_distribution<double> normal;
  System s;
  s.nlocal = 2;
  for (int i = 0; i < 2; ++i) {
    double position[3] = {0, 0, 0};
    const auto q = random_quaternion(random);
    if (i == 1) {
      for (double &c : position) c = normal(random);
      const double r = std::hypot(position[0], position[1], position[2]);
      for (double &c : position) c *= distance / r;
    }
    s.add(position, q.data(), i);
  }
  return s;
}

inline gpucoord::MultisiteOptions options(double cutoff)
{
  gpucoord::MultisiteOptions o;
  o.cutoff = o.cutoff_charge = cutoff;
  return o;
}

// Returns whether a pair of sites of molecules i and j is so close to the cutoff between sites that
// sums jump. The distance is given as a fraction of the cutoff.
inline bool is_at_the_cutoff(const gpucoord::MultisiteModel &model, const System &s, int i, int j,
                             double part)
{
  const auto &a = model.components()[s.component[i]], &b = model.components()[s.component[j]];
  const auto is_at = [&](const std::array<double, 3> &site_a, const std::array<double, 3> &site_b,
                         double cutoff) {
    const auto pa = rotated(s.q.data() + 4 * i, site_a), pb = rotated(s.q.data() + 4 * j, site_b);
    double r_sq = 0.0;
    for (int c = 0; c < 3; ++c) {
      const double d = s.x[3 * i + c] + pa[c] - s.x[3 * j + c] - pb[c];
      r_sq += d * d;
    }
    return std::fabs(std::sqrt(r_sq) - cutoff) < part * cutoff;
  };
  const auto others = [](const gpucoord::Component &c) {
    std::vector<std::array<double, 3>> all;
    for (const auto &site : c.charges) all.push_back(site.position);
    for (const auto &site : c.dipoles) all.push_back(site.position);
    for (const auto &site : c.quadrupoles) all.push_back(site.position);
    return all;
  };
  for (const auto &sa : a.centers)
    for (const auto &sb : b.centers)
      if (is_at(sa.position, sb.position, model.options().cutoff)) return true;
  for (const auto &sa : others(a))
    for (const auto &sb : others(b))
      if (is_at(sa, sb, model.options().cutoff_charge)) return true;
  return false;
}

#endif
