// Part of GPUCOORD, GPL-2.0. Rigid molecules: interactions compared with sums over point charges,
// forces and torques compared with finite differences, and all compared with results of ls1-MarDyn.

#include "multisite_systems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace gpucoord;

namespace {

// A dipole or quadrupole as the limit of charges at distance h. h must be small, but large enough
// that rounding errors of differences are small.
void add_charges(std::vector<ChargeSite> &charges, const AxialSite &site, bool quadrupole, double h)
{
  const double length = std::sqrt(site.axis[0] * site.axis[0] + site.axis[1] * site.axis[1] +
                                  site.axis[2] * site.axis[2]);
  const auto at = [&](double t) {
    std::array<double, 3> p = site.position;
    for (int c = 0; c < 3; ++c) p[c] += t * site.axis[c] / length;
    return p;
  };
  if (quadrupole) {    // Q = 2 q h^2 for charges q, -2 q, q
    const double q = site.moment / (2.0 * h * h);
    charges.push_back({at(h), q});
    charges.push_back({at(0.0), -2.0 * q});
    charges.push_back({at(-h), q});
  } else {
    const double q = site.moment / (2.0 * h);
    charges.push_back({at(h), q});
    charges.push_back({at(-h), -q});
  }
}

// q q / r in long double, summed over charges.
long double energy_of_charges(const Component *kinds, const System &s)
{
  long double u = 0;
  for (const auto &a : kinds[0].charges)
    for (const auto &b : kinds[1].charges) {
      const auto pa = rotated(s.q.data(), a.position), pb = rotated(s.q.data() + 4, b.position);
      long double r_sq = 0;
      for (int c = 0; c < 3; ++c) {
        const long double d = static_cast<long double>(s.x[c]) + pa[c] - s.x[3 + c] - pb[c];
        r_sq += d * d;
      }
      u += static_cast<long double>(a.charge) * b.charge / sqrtl(r_sq);
    }
  return u;
}

}    // namespace

TEST(Multisite, poles_are_limits_of_charges)
{
  const ChargeSite charge = {{0.3, -0.2, 0.5}, 0.7};
  const AxialSite pole = {{-0.4, 0.1, 0.3}, {1.0, -2.0, 0.5}, 1.3};
  std::mt19937 random(1);
  for (int kind_a = 0; kind_a < 3; ++kind_a)    // charge, dipole, quadrupole
    for (int kind_b = 0; kind_b < 3; ++kind_b)
      for (int round = 0; round < 20; ++round) {
        Component kinds[2], charge_kinds[2];
        const int kind[2] = {kind_a, kind_b};
        // The error of the limit is of order h^2: two values of h eliminate it.
        const System s = two_molecules(random, 5.0);
        double limit[2];
        for (int fine = 0; fine < 2; ++fine) {
          for (int i = 0; i < 2; ++i) {
            charge_kinds[i] = kinds[i] = Component();
            if (kind[i] == 0)
              kinds[i].charges = charge_kinds[i].charges = {charge};
            else {
              (kind[i] == 1 ? kinds[i].dipoles : kinds[i].quadrupoles) = {pole};
              add_charges(charge_kinds[i].charges, pole, kind[i] == 2, fine ? 0.01 : 0.02);
            }
          }
          limit[fine] = static_cast<double>(energy_of_charges(charge_kinds, s));
        }
        const double expected = limit[1] + (limit[1] - limit[0]) / 3.0;
        const MultisiteModel model({kinds[0], kinds[1]}, options(10.0));
        EXPECT_NEAR(s.evaluate(model).sums.electrostatic, expected, 1e-7) << kind_a << kind_b;
      }
}

// One center each: mixing and shift.
TEST(Multisite, lennard_jones_of_unlike_centers)
{
  Component kinds[2];
  kinds[0].centers = {{{0, 0, 0}, 0.5, 1.0}};
  kinds[1].centers = {{{0, 0, 0}, 2.0, 1.4}};
  std::mt19937 random(3);
  for (const bool shift : {false, true}) {
    MultisiteOptions o = options(3.0);
    o.shift = shift;
    MultisiteModel model({kinds[0], kinds[1]}, o);
    model.set_mixing(1, 0, {0.8, 1.05});
    const auto lj = [](double epsilon, double sigma, double r) {
      return 4.0 * epsilon * (std::pow(sigma / r, 12) - std::pow(sigma / r, 6));
    };
    for (const double r : {1.0, 1.3, 2.9999}) {
      System s = two_molecules(random, r);
      const double epsilon = 0.8, sigma = 1.05 * 1.2;    // 0.8 sqrt(0.5 * 2)
      EXPECT_NEAR(s.evaluate(model).total(),
                  lj(epsilon, sigma, r) - (shift ? lj(epsilon, sigma, 3.0) : 0.0), 1e-12);
      s.component = {1, 1};    // molecules of one kind have no mixing parameters
      EXPECT_NEAR(s.evaluate(model).total(), lj(2.0, 1.4, r) - (shift ? lj(2.0, 1.4, 3.0) : 0.0),
                  1e-9);
    }
    EXPECT_EQ(two_molecules(random, 3.0001).evaluate(model).total(), 0.0);
  }
}

TEST(Multisite, reaction_field)
{
  Component kinds[2];
  for (int i = 0; i < 2; ++i) kinds[i].dipoles = {{{0, 0, 0}, {0, 0, 1}, 1.5}};
  std::mt19937 random(4);
  for (const double epsilon : {1.0, 78.0, std::numeric_limits<double>::infinity()}) {
    MultisiteOptions o = options(4.0);
    o.reaction_field = epsilon;
    o.coulomb = 2.0;
    const MultisiteModel model({kinds[0], kinds[1]}, o);
    const System s = two_molecules(random, 2.0);
    const auto a = rotated(s.q.data(), {0, 0, 1}), b = rotated(s.q.data() + 4, {0, 0, 1});
    const double g = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const double factor = std::isinf(epsilon) ? 1.0 : 2.0 * (epsilon - 1.0) / (2.0 * epsilon + 1.0);
    EXPECT_NEAR(s.evaluate(model).sums.reaction_field, -2.0 * factor * 1.5 * 1.5 * g / 64.0, 1e-14);
  }
}

TEST(Multisite, bad_components)
{
  const auto message_of = [](const Component &component) -> std::string {
    try {
      MultisiteModel({component}, options(3.0));
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  Component c;
  c.name = "X";
  EXPECT_EQ(message_of(c),
            "component X: it has no sites - add a center, charge, dipole or quadrupole");
  c.centers = {{{0, 0, 0}, -0.5, 1.0}};
  EXPECT_EQ(message_of(c), "component X: epsilon is -0.5 but must be >= 0");
  c.centers = {{{0, 0, 0}, 0.5, 0.0}};
  EXPECT_EQ(message_of(c), "component X: sigma is 0 but must be > 0");
  c.centers = {{{0, 0, 0}, 0.5, 1.0}};
  EXPECT_EQ(message_of(c), "");
  c.dipoles = {{{0, 0, 0}, {0, 0, 0}, 1.0}};
  EXPECT_EQ(message_of(c),
            "component X: the axis of a dipole has length 0 but must have a direction");
  std::swap(c.dipoles, c.quadrupoles);
  EXPECT_EQ(message_of(c),
            "component X: the axis of a quadrupole has length 0 but must have a direction");
}

TEST(Multisite, component_file)
{
  std::istringstream file(R"(# UNITS: metal
component CO2    # Merker
mass 44.01
inertia 43.2 43.2 0

center 0 0 0 1.066e-3 2.8137
  center 0 0 1.2869 8.66e-3 2.9755
quadrupole 0 0 0  0 0 1  -0.85
component ion
mass 23
charge 0 0 0 1
dipole 0.5 -1 2 1 1 0 3e-1
)");
  const auto components = read_components(file, "x.multisite");
  ASSERT_EQ(components.size(), 2u);
  const Component &co2 = components[0], &ion = components[1];
  EXPECT_EQ(co2.name, "CO2");
  EXPECT_EQ(co2.mass, 44.01);
  EXPECT_EQ(co2.inertia, (std::array<double, 3>{43.2, 43.2, 0.0}));
  ASSERT_EQ(co2.centers.size(), 2u);
  EXPECT_EQ(co2.centers[1].position[2], 1.2869);
  EXPECT_EQ(co2.centers[1].epsilon, 8.66e-3);
  EXPECT_EQ(co2.centers[1].sigma, 2.9755);
  ASSERT_EQ(co2.quadrupoles.size(), 1u);
  EXPECT_EQ(co2.quadrupoles[0].axis[2], 1.0);
  EXPECT_EQ(co2.quadrupoles[0].moment, -0.85);
  EXPECT_TRUE(co2.charges.empty() && co2.dipoles.empty());
  EXPECT_EQ(ion.name, "ion");
  ASSERT_EQ(ion.charges.size(), 1u);
  EXPECT_EQ(ion.charges[0].charge, 1.0);
  ASSERT_EQ(ion.dipoles.size(), 1u);
  EXPECT_EQ(ion.dipoles[0].position, (std::array<double, 3>{0.5, -1.0, 2.0}));
  EXPECT_EQ(ion.dipoles[0].axis, (std::array<double, 3>{1.0, 1.0, 0.0}));
  EXPECT_EQ(ion.dipoles[0].moment, 0.3);
}

TEST(Multisite, bad_component_files)
{
  const auto message_of = [](const std::string &text) -> std::string {
    std::istringstream file(text);
    try {
      read_components(file, "bad");
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message_of("# nothing\n"), "");
  EXPECT_EQ(message_of("mass 1\n"), "bad, line 1: mass comes before the first component");
  EXPECT_EQ(message_of("component\n"), "bad, line 1: component needs one name");
  EXPECT_EQ(message_of("component A\nmass 1\ncomponent A\n"),
            "bad, line 3: there is a component A already");
  EXPECT_EQ(message_of("component A\nmass 1\nmass 2\n"),
            "bad, line 3: component A has a line mass already");
  EXPECT_EQ(message_of("component A\ninertia 0 0 0\ninertia 1 1 1\n"),
            "bad, line 3: component A has a line inertia already");
  EXPECT_EQ(message_of("component A\ninertia 1 1 1\nmass 1\ncomponent B\ninertia 1 1 1\nmass 1\n"),
            "");
  EXPECT_EQ(message_of("component A\ncenter 0 0 0 1 1\n"),
            "bad, line 2: component A ends without a mass");
  EXPECT_EQ(message_of("component A\nmass -1\n"), "bad, line 2: the mass is -1 but must be > 0");
  EXPECT_EQ(
      message_of("component A\nmass 1e-101\n"),
      "bad, line 2: the mass is 1e-101 but must be >= 1e-100, so that quotients by it are finite");
  EXPECT_EQ(message_of("component A\ncharge 0 0 0 -1e101\n"),
            "bad, line 2: '-1e101' must be 1e100 or less in magnitude, so that products of such "
            "numbers are finite");
  EXPECT_EQ(message_of("\xEF\xBB\xBF"
                       "component A\r\nmass 1\r\n"),
            "");
  EXPECT_EQ(message_of("component A\nmass 1\n\xEF\xBB\xBF"
                       "component B\n"),
            "bad, line 3: '\xEF\xBB\xBF"
            "component' is not one of component, mass, inertia, center, "
            "charge, dipole, quadrupole");
  EXPECT_EQ(message_of("component A\nmass 1 2\n"),
            "bad, line 2: mass needs M, but there are 2 numbers");
  EXPECT_EQ(message_of("component A\ncenter 0\n"),
            "bad, line 2: center needs x y z epsilon sigma, but there is 1 number");
  EXPECT_EQ(message_of("component A\ncharge 0 0 0 one\n"),
            "bad, line 2: 'one' is not a finite number");
  EXPECT_EQ(message_of("component A\ncharge 0 0 0 inf\n"),
            "bad, line 2: 'inf' is not a finite number");
  EXPECT_EQ(message_of("component A\nsite 0 0 0\n"),
            "bad, line 2: 'site' is not one of component, mass, inertia, center, charge, dipole, "
            "quadrupole");
  EXPECT_EQ(message_of("component A\ninertia 1 -1 1\n"),
            "bad, line 2: the moment of inertia -1 must be >= 0");
  EXPECT_EQ(message_of("component A\ninertia 1 3 1\n"),
            "bad, line 2: the moment of inertia 3 is more than the sum of the other two, which is "
            "impossible for a body");
}

TEST(Multisite, forces_and_torques_are_derivatives)
{
  Component kinds[2];
  for (int i = 0; i < 2; ++i) {
    kinds[i].centers = {{{0.2, 0.1, -0.3}, 0.8 + i, 1.1}, {{-0.4, 0.0, 0.2}, 0.5, 1.4 - 0.1 * i}};
    kinds[i].charges = {{{0.3, -0.2, 0.1}, 0.7}, {{-0.1, 0.2, 0.4}, -0.9}};
    kinds[i].dipoles = {{{0.1, 0.3, -0.2}, {0.3, 1.0, 0.2 * i}, 0.8}};
    kinds[i].quadrupoles = {{{-0.2, -0.1, 0.3}, {1.0, 0.2, -0.4}, 1.2 - i}};
  }
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    // With a cutoff between centers, or with a cutoff between sites that only some pairs of sites
    // are within.
    MultisiteOptions o = options(round < 20 ? 9.0 : 2.5);
    o.site_cutoff = round >= 20;
    o.cutoff_charge = round < 30 ? o.cutoff : 2.7;
    o.reaction_field = 5.0;
    o.coulomb = 1.7;
    o.shift = true;
    MultisiteModel model({kinds[0], kinds[1]}, o);
    model.set_mixing(0, 1, {0.9, 1.1});
    System s = two_molecules(random, 2.5);
    while (o.site_cutoff && is_at_the_cutoff(model, s, 0, 1, 2e-3)) s = two_molecules(random, 2.5);
    const Result r = s.evaluate(model);
    const double h = 1e-4;
    const auto derivative = [&](const std::function<void(System &, double)> &move) {
      double u[4];
      const double step[4] = {h, -h, 2 * h, -2 * h};
      for (int k = 0; k < 4; ++k) {
        System moved = s;
        move(moved, step[k]);
        u[k] = moved.evaluate(model).total();
      }
      return (8.0 * (u[0] - u[1]) - (u[2] - u[3])) / (12.0 * h);
    };
    for (int i = 0; i < 2; ++i)
      for (int c = 0; c < 3; ++c) {
        const double force = -derivative([&](System &m, double step) {
          m.x[3 * i + c] += step;
        });
        const double torque = -derivative([&](System &m, double step) {
          rotate(m.q.data() + 4 * i, c, step);
        });
        EXPECT_NEAR(r.force[3 * i + c], force, 1e-8 * std::max(1.0, std::fabs(force)));
        EXPECT_NEAR(r.torque[3 * i + c], torque, 1e-8 * std::max(1.0, std::fabs(torque)));
      }
    // A strain that moves molecules but not their sites relative to them: xx yy zz xy xz yz.
    const int along[] = {0, 1, 2, 1, 2, 2}, with[] = {0, 1, 2, 0, 0, 1};
    for (int k = 0; k < 6; ++k) {
      const double w = -derivative([&](System &m, double step) {
        for (int i = 0; i < 2; ++i) m.x[3 * i + along[k]] += step * s.x[3 * i + with[k]];
      });
      EXPECT_NEAR(r.sums.virial[k], w, 1e-8 * std::max(1.0, std::fabs(w)));
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(r.virial[6 * i + k], 0.5 * w, 1e-8 * std::max(1.0, std::fabs(w)));
    }
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(r.energy[i], 0.5 * r.total(), 1e-12 * std::fabs(r.total()));
  }
}

namespace {

struct Ls1 {
  System s;
  MultisiteModel model;
  std::vector<double> force, torque;
  double u, w;
};

Ls1 read_ls1(const std::string &folder, const std::string &name, const std::string &rc)
{
  std::ifstream input(folder + "/" + name + ".inp"),
      results(folder + "/" + name + ".rc" + rc + ".legacy.txt");
  std::string text, line;
  while (std::getline(input, line))
    if (line.find('#') == std::string::npos) text += line + "\n";
  std::istringstream in(text);
  double length = 0.0;
  std::string word;
  while (in >> word && word != "NumberOfComponents")
    if (word == "Length") in >> length;
  int ncomponents, n[5];
  in >> ncomponents;
  EXPECT_EQ(ncomponents, 1);
  for (int &k : n) in >> k;
  Component c;
  double mass, unused;
  for (int k = 0; k < n[0]; ++k) {
    LennardJonesSite site;
    in >> site.position[0] >> site.position[1] >> site.position[2] >> mass >> site.epsilon >>
        site.sigma >> unused >> unused;
    c.centers.push_back(site);
  }
  for (int k = 0; k < n[1]; ++k) {
    ChargeSite site;
    in >> site.position[0] >> site.position[1] >> site.position[2] >> mass >> site.charge;
    c.charges.push_back(site);
  }
  for (int k = 0; k < n[2]; ++k) {
    AxialSite site;
    in >> site.position[0] >> site.position[1] >> site.position[2] >> site.axis[0] >>
        site.axis[1] >> site.axis[2] >> site.moment;
    site.moment = -site.moment;    // ls1 defines charge-dipole with the opposite sign
    c.dipoles.push_back(site);
  }
  EXPECT_TRUE(in);
  MultisiteOptions o = options(std::stod(rc));
  o.reaction_field = 1e10;
  Ls1 ls1 = {{}, MultisiteModel({c}, o), {}, {}, 0.0, 0.0};
  std::getline(results, line);
  std::istringstream(line) >> word >> word >> ls1.u >> word >> ls1.w;
  std::getline(results, line);
  while (std::getline(results, line)) {
    std::istringstream row(line);
    double x[3], q[4], f[6];
    row >> word >> word;
    for (double &v : x) row >> v;
    for (double &v : q) row >> v;
    for (double &v : f) row >> v;
    EXPECT_TRUE(row);
    ls1.s.add(x, q, 0);
    ls1.force.insert(ls1.force.end(), f, f + 3);
    ls1.torque.insert(ls1.torque.end(), f + 3, f + 6);
  }
  const int nlocal = ls1.s.nlocal = static_cast<int>(ls1.s.component.size());
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 27; ++k) {
      const int image[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      double x[3];
      bool is_near = k != 13;
      for (int d = 0; d < 3; ++d) {
        x[d] = ls1.s.x[3 * i + d] + image[d] * length;
        is_near = is_near && x[d] > -o.cutoff && x[d] < length + o.cutoff;
      }
      if (is_near)
        ls1.s.add(x, std::vector<double>(ls1.s.q.data() + 4 * i, ls1.s.q.data() + 4 * i + 4).data(),
                  0);
    }
  return ls1;
}

}    // namespace

TEST(Multisite, ls1)
{
  const char *const data = std::getenv("GPUCOORD_TEST_DATA");
  if (!data || !std::ifstream(std::string(data) + "/ls1/README.md"))
    GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA names no folder with reference data of ls1";
  for (const auto &[name, rc] : {std::pair("LennardJones", "35"),
                                 {"Charge", "35"},
                                 {"ChargeDipole", "35"},
                                 {"CO2", "33.0702"},
                                 {"F0", "1.3"}}) {
    const Ls1 ls1 = read_ls1(std::string(data) + "/ls1", name, rc);
    const System &s = ls1.s;
    const auto host = make_host_multisite(ls1.model, Precision::DOUBLE, 2);
    for (const Result &r : {s.evaluate(ls1.model), s.evaluate(*host)}) {
      EXPECT_NEAR(r.total(), ls1.u, 1e-10 * std::fabs(ls1.u)) << name;
      const double w =
          r.sums.virial[0] + r.sums.virial[1] + r.sums.virial[2] + 3.0 * r.sums.reaction_field;
      EXPECT_NEAR(w, ls1.w, 1e-10 * std::max(std::fabs(ls1.w), std::fabs(ls1.u))) << name;
      // Forces of F0 vanish: they are compared with the size of the terms that cancel.
      double max_force = std::fabs(ls1.u) / ls1.s.nlocal / std::stod(rc), max_torque = max_force;
      for (const double f : ls1.force) max_force = std::max(max_force, std::fabs(f));
      for (const double t : ls1.torque) max_torque = std::max(max_torque, std::fabs(t));
      for (std::size_t k = 0; k < ls1.force.size(); ++k) {
        ASSERT_NEAR(r.force[k], ls1.force[k], 1e-9 * max_force) << name << " " << k;
        ASSERT_NEAR(r.torque[k], ls1.torque[k], 1e-9 * max_torque) << name << " " << k;
      }
    }
  }
}
