// Part of GPUCOORD, GPL-2.0. Rigid molecules on lattices, for GPU tests, and comparisons of their
// results.

#ifndef GPUCOORD_TEST_MULTISITE_LATTICES_H
#define GPUCOORD_TEST_MULTISITE_LATTICES_H

#include "gpucoord/multisite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

// Relative to the largest force, torque, energy and so on of a molecule. Measured on an H200: 2e-14
// and 1.2e-5.
constexpr double TOLERANCE_DOUBLE = 1e-12, TOLERANCE_FLOAT = 4e-5;
constexpr double SPACING = 1.5;    // between molecules, in units of sigma

inline gpucoord::Component component(const std::string &name, int ncenters, int ncharges,
                                     int ndipoles, int nquadrupoles)
{
  std::mt19937 random(1000 * ncenters + 100 * ncharges + 10 * ndipoles + nquadrupoles);
  std::uniform_real_distribution<double> uniform(-0.25, 0.25);
  const auto position = [&] {
    return std::array<double, 3>{uniform(random), uniform(random), uniform(random)};
  };
  gpucoord::Component c;
  c.name = name;
  c.mass = 1.0;
  for (int k = 0; k < ncenters; ++k)
    c.centers.push_back({position(), 1.0 + uniform(random), 0.9 + 0.4 * uniform(random)});
  for (int k = 0; k < ncharges; ++k) c.charges.push_back({position(), 0.3 + uniform(random)});
  for (int k = 0; k < ndipoles; ++k)
    c.dipoles.push_back({position(), position(), 0.5 + uniform(random)});
  for (int k = 0; k < nquadrupoles; ++k)
    c.quadrupoles.push_back({position(), position(), 0.4 + uniform(random)});
  return c;
}

struct System {
  std::vector<double> x, q;
  std::vector<int> kind;
  int nlocal = 0;

  // n molecules with ncomponents components on a lattice. No two are too close. Every fourth
  // molecule is a ghost.
  System(int n, int ncomponents)
  {
    std::mt19937 random(n);
    std::uniform_real_distribution<double> uniform(-0.15, 0.15);
    std::normal_distribution<double> normal;
    const int edge = static_cast<int>(std::ceil(std::cbrt(n)));
    std::vector<int> cells(edge * edge * edge);
    std::iota(cells.begin(), cells.end(), 0);
    std::shuffle(cells.begin(), cells.end(), random);
    nlocal = n - n / 4;
    for (int i = 0; i < n; ++i) {
      const int cell[3] = {cells[i] % edge, cells[i] / edge % edge, cells[i] / edge / edge};
      for (const int c : cell) x.push_back(SPACING * (c + uniform(random)) - 17.0);
      double turn[4];
      for (double &c : turn) c = normal(random);
      const double length =
          std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
      for (const double c : turn) q.push_back(c / length);
      kind.push_back(i % ncomponents);
    }
  }
  gpucoord::Molecules molecules() const
  {
    return {x.data(), q.data(), kind.data(), nlocal, static_cast<int>(kind.size())};
  }
};

struct Result {
  gpucoord::MultisiteSums sums;
  std::vector<double> force, torque, energy, virial;

  template <class Evaluate>
  Result(const System &s, Evaluate evaluate) :
      force(3 * s.nlocal, 0.0), torque(3 * s.nlocal, 0.0), energy(s.nlocal, 0.0),
      virial(6 * s.nlocal, 0.0)
  {
    sums = evaluate(
        s.molecules(),
        gpucoord::MultisiteResults{force.data(), torque.data(), energy.data(), virial.data()});
  }
};

inline Result evaluate(gpucoord::Multisite &backend, const System &s,
                       gpucoord::MultisiteWant want = gpucoord::MultisiteWant::ALL)
{
  return Result(s, [&](const gpucoord::Molecules &m, const gpucoord::MultisiteResults &r) {
    return backend.evaluate(m, want, r);
  });
}

inline double largest(const std::vector<double> &values)
{
  double maximum = 0.0;
  for (const double v : values) maximum = std::max(maximum, std::fabs(v));
  return maximum;
}

inline std::map<std::string, double> &worst_errors()
{
  static std::map<std::string, double> worst;
  return worst;
}

inline void expect_close(const std::vector<double> &found, const std::vector<double> &expected,
                         double tolerance, const char *what)
{
  ASSERT_EQ(found.size(), expected.size());
  const double scale = largest(expected);
  double worst = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double error = std::fabs(found[k] - expected[k]);
    worst = error <= worst ? worst : error;    // this also keeps NaN
  }
  EXPECT_TRUE(worst <= tolerance * scale) << what << ": " << worst << " of " << scale;
  double &all =
      worst_errors()[std::string(tolerance == TOLERANCE_DOUBLE ? "double, " : "mixed, ") + what];
  if (scale > 0.0) all = std::max(all, worst / scale);
}

inline void expect_close(const Result &found, const Result &expected, double tolerance)
{
  expect_close(found.force, expected.force, tolerance, "force");
  expect_close(found.torque, expected.torque, tolerance, "torque");
  expect_close(found.energy, expected.energy, tolerance, "energy of a molecule");
  expect_close(found.virial, expected.virial, tolerance, "virial of a molecule");
  const auto total = [](const gpucoord::MultisiteSums &s) {
    return std::vector<double>{s.lennard_jones, s.electrostatic, s.reaction_field,
                               s.virial[0],     s.virial[1],     s.virial[2],
                               s.virial[3],     s.virial[4],     s.virial[5]};
  };
  expect_close(total(found.sums), total(expected.sums), tolerance, "sum");
}

inline gpucoord::MultisiteOptions options(double cutoff, double cutoff_charge)
{
  gpucoord::MultisiteOptions o;
  o.cutoff = cutoff;
  o.cutoff_charge = cutoff_charge;
  o.shift = true;
  o.reaction_field = 5.0;
  o.coulomb = 1.3;
  return o;
}

inline std::vector<std::vector<gpucoord::Component>> kinds_of_components()
{
  return {{component("center", 1, 0, 0, 0)},
          {component("two centers", 2, 0, 0, 0)},
          {component("two centers and a quadrupole", 2, 0, 0, 1)},
          {component("three centers and a quadrupole", 3, 0, 0, 1)},
          {component("three centers and charges", 3, 3, 0, 0)},
          {component("three centers and a dipole", 3, 0, 1, 0)},
          {component("a center and three charges", 1, 3, 0, 0)},
          {component("all kinds", 2, 2, 2, 2)},
          {component("charges alone", 0, 2, 0, 0)},
          {component("many", 5, 7, 1, 3)},
          {component("water", 1, 3, 0, 0), component("quadrupole", 2, 0, 0, 1),
           component("ion", 1, 1, 0, 0)},
          {component("dipole", 3, 0, 1, 0), component("dipole", 1, 0, 1, 0),
           component("no electrostatics", 2, 0, 0, 0), component("pole", 0, 0, 0, 1)}};
}

class Multisites : public testing::Test {
 public:
  static void TearDownTestSuite()
  {
    for (const auto &worst : worst_errors())
      std::printf("worst error, of the largest: %s %.1e\n", worst.first.c_str(), worst.second);
  }
};

#endif
