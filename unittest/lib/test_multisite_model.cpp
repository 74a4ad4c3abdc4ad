// Part of GPUCOORD, GPL-2.0. Rigid molecules: tail corrections, the self-energy in the reaction
// field, and interaction ranges.

#include "gpucoord/multisite.h"
#include "multisite_systems.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double PI = 3.14159265358979323846;

// Gauss-Legendre nodes and weights on [-1, 1].
std::vector<std::pair<double, double>> nodes(int n)
{
  std::vector<std::pair<double, double>> all;
  for (int k = 0; k < n; ++k) {
    double x = std::cos(PI * (k + 0.75) / (n + 0.5)), derivative = 0.0;
    for (int round = 0; round < 100; ++round) {
      double p = 1.0, before = 0.0;
      for (int m = 0; m < n; ++m) {
        const double next = ((2 * m + 1) * x * p - m * before) / (m + 1);
        before = p;
        p = next;
      }
      derivative = n * (x * p - before) / (x * x - 1.0);
      x -= p / derivative;
    }
    all.push_back({x, 2.0 / ((1.0 - x * x) * derivative * derivative)});
  }
  return all;
}

const std::vector<std::pair<double, double>> GAUSS = nodes(48);

double lj(double epsilon, double sigma, double r)
{
  const double s6 = std::pow(sigma / r, 6);
  return 4.0 * epsilon * (s6 * s6 - s6);
}

// Mean over all orientations of arms t1 and t2 at the ends of R. The second arm averages over the
// distances that remain after the first.
double mean_over_orientations(const std::function<double(double)> &u, double R, double t1,
                              double t2)
{
  double sum = 0.0;
  for (const auto &[c1, w1] : GAUSS) {
    const double r1 = std::sqrt(R * R + t1 * t1 + 2.0 * R * t1 * c1);
    for (const auto &[c2, w2] : GAUSS)
      sum += 0.25 * w1 * w2 * u(std::sqrt(r1 * r1 + t2 * t2 + 2.0 * r1 * t2 * c2));
  }
  return sum;
}

// Tail correction of a pair of sites: half the integrals of 4 pi R^2 <u> and of -4 pi R^2 R/3
// d<u>/dR from rc on, with R = rc / s.
TailCorrection integrated(double epsilon, double sigma, double rc, double t1, double t2)
{
  const auto u = [&](double r) {
    return lj(epsilon, sigma, r);
  };
  TailCorrection tail;
  for (const auto &[c, w] : GAUSS) {
    const double s = 0.5 * (1.0 + c), R = rc / s, h = 1e-3 * R,
                 weight = 0.5 * w * 2.0 * PI * rc * rc * rc / (s * s * s * s);
    const auto mean = [&](double step) {
      return mean_over_orientations(u, R + step, t1, t2);
    };
    const double derivative =
        (8.0 * (mean(h) - mean(-h)) - (mean(2 * h) - mean(-2 * h))) / (12.0 * h);
    tail.energy += weight * mean(0.0);
    tail.virial -= weight * R / 3.0 * derivative;
  }
  return tail;
}

Component make_component(const std::vector<LennardJonesSite> &centers)
{
  Component c;
  c.name = "A";
  c.centers = centers;
  return c;
}

}    // namespace

// etail and ptail of pair_style lj/cut for one type.
TEST(MultisiteModel, tail_of_single_sites)
{
  const double epsilon = 0.7, sigma = 1.3, rc = 3.1, s6 = std::pow(sigma, 6), rc6 = std::pow(rc, 6),
               rc9 = std::pow(rc, 9);
  const double factor = 8.0 * PI * epsilon * s6 / (9.0 * rc9);
  for (const bool site_cutoff : {false, true}) {
    MultisiteOptions o = options(rc);
    o.site_cutoff = site_cutoff;
    const auto tail = MultisiteModel({make_component({{{0, 0, 0}, epsilon, sigma}})}, o).tail(0, 0);
    EXPECT_NEAR(tail.energy, factor * (s6 - 3.0 * rc6), 1e-14);
    EXPECT_NEAR(tail.virial, 2.0 * factor * (2.0 * s6 - 3.0 * rc6), 1e-14);
  }
}

// With a cutoff between sites, arms do not matter, and pairs of sites add up.
TEST(MultisiteModel, tail_of_a_cutoff_between_sites)
{
  const double rc = 3.0;
  MultisiteOptions o = options(rc);
  o.site_cutoff = true;
  const auto one = make_component({{{0, 0, 0}, 0.7, 1.3}}),
             two = make_component({{{0, 0, 1.9}, 0.7, 1.3}, {{0, 1.2, 0}, 0.7, 1.3}});
  const MultisiteModel model({one, two}, o);
  EXPECT_NEAR(model.tail(1, 1).energy, 4.0 * model.tail(0, 0).energy, 1e-14);
  EXPECT_NEAR(model.tail(1, 1).virial, 4.0 * model.tail(0, 0).virial, 1e-14);
  EXPECT_NEAR(model.tail(0, 1).virial, 2.0 * model.tail(0, 0).virial, 1e-14);
}

TEST(MultisiteModel, tail_of_sites_off_the_center)
{
  const double rc = 3.0;
  for (const auto &[t1, t2] :
       {std::pair(0.0, 0.0), {0.3, 0.0}, {0.0, 1.0}, {0.5, 0.5}, {1e-3, 0.8}, {0.9, 0.6}}) {
    const auto a = make_component({{{0, t1, 0}, 0.7, 1.1}}),
               b = make_component({{{t2, 0, 0}, 1.9, 1.3}});
    MultisiteModel model({a, b}, options(rc));
    model.set_mixing(0, 1, {0.9, 1.05});
    const auto expected = integrated(0.9 * std::sqrt(0.7 * 1.9), 1.05 * 1.2, rc, t1, t2);
    for (const auto &tail : {model.tail(0, 1), model.tail(1, 0)}) {
      EXPECT_NEAR(tail.energy, expected.energy, 1e-9 * std::fabs(expected.energy))
          << t1 << " " << t2;
      EXPECT_NEAR(tail.virial, expected.virial, 1e-9 * std::fabs(expected.virial))
          << t1 << " " << t2;
    }
  }
  // Pairs of sites add up, mixed like sites of one component.
  const LennardJonesSite first = {{0, 0.5, 0}, 0.7, 1.1}, second = {{0, 0, -0.8}, 1.9, 1.3};
  const auto tail = MultisiteModel({make_component({first, second})}, options(rc)).tail(0, 0);
  const auto ff = integrated(0.7, 1.1, rc, 0.5, 0.5),
             fs = integrated(std::sqrt(0.7 * 1.9), 1.2, rc, 0.5, 0.8),
             ss = integrated(1.9, 1.3, rc, 0.8, 0.8);
  EXPECT_NEAR(tail.energy, ff.energy + 2.0 * fs.energy + ss.energy, 1e-9 * std::fabs(tail.energy));
  EXPECT_NEAR(tail.virial, ff.virial + 2.0 * fs.virial + ss.virial, 1e-9 * std::fabs(tail.virial));
}

TEST(MultisiteModel, tail_of_molecules_that_reach_too_far)
{
  const auto a = make_component({{{0, 0, 1.5}, 1.0, 1.0}});
  try {
    MultisiteModel({a}, options(3.0)).tail(0, 0);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument &e) {
    EXPECT_STREQ(e.what(),
                 "the cutoff between centers of mass is 3, and sites of A and A reach 3 together: "
                 "the long-range "
                 "correction is not defined - use a longer cutoff, or a cutoff between sites");
  }
  // Slightly longer: sites at the same position repel each other without bound.
  const auto tail = MultisiteModel({a}, options(3.0 * (1.0 + 1e-12))).tail(0, 0);
  EXPECT_TRUE(std::isfinite(tail.energy) && tail.energy > 1e6);
}

TEST(MultisiteModel, self_energy)
{
  Component c;
  c.dipoles = {{{0.3, 0, 0}, {0, 3, 4}, 2.0}, {{0, 0, 1}, {1, 0, 0}, -0.5}};    // (-0.5, 1.2, 1.6)
  c.charges = {{{0.5, -0.2, 0.1}, 3.0}, {{-0.5, 0.2, 0.4}, -3.0}};              // (3, -1.2, -0.9)
  const double moment_sq = 2.5 * 2.5 + 0.7 * 0.7;
  MultisiteOptions o = options(2.0);
  o.cutoff_charge = 4.0;
  o.coulomb = 1.7;
  EXPECT_EQ(MultisiteModel({c}, o).self_energy(0), 0.0);
  o.reaction_field = 78.0;
  EXPECT_NEAR(MultisiteModel({c}, o).self_energy(0),
              -0.5 * 1.7 * (2.0 * 77.0 / 157.0) / 64.0 * moment_sq, 1e-14);
  o.reaction_field = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(MultisiteModel({c}, o).self_energy(0), -0.5 * 1.7 / 64.0 * moment_sq, 1e-14);
}

TEST(MultisiteModel, reach_and_range)
{
  Component a = make_component({{{0, 0, 0.5}, 1.0, 1.0}}), b = a, c;
  a.charges = {{{0, 1.2, 0}, 1.0}};
  c.quadrupoles = {{{0.3, 0, 0.4}, {0, 0, 1}, 1.0}};
  MultisiteOptions o = options(3.0);
  o.cutoff_charge = 4.0;
  const MultisiteModel by_center({a, b, c}, o);
  EXPECT_DOUBLE_EQ(by_center.reach(0), 1.2);
  EXPECT_DOUBLE_EQ(by_center.reach(2), 0.5);
  EXPECT_DOUBLE_EQ(by_center.range(0, 0), 4.0);
  EXPECT_DOUBLE_EQ(by_center.range(0, 1), 3.0);    // only from Lennard-Jones sites
  EXPECT_DOUBLE_EQ(by_center.range(1, 2), 0.0);
  EXPECT_DOUBLE_EQ(by_center.range(), 4.0);
  o.site_cutoff = true;
  const MultisiteModel by_site({a, b, c}, o);
  EXPECT_DOUBLE_EQ(by_site.range(0, 1), 3.0 + 1.2 + 0.5);
  EXPECT_DOUBLE_EQ(by_site.range(1, 2), 0.0);
  EXPECT_DOUBLE_EQ(by_site.range(), 4.0 + 2.4);
}

// Products of moments in SI and cgs exceed the range of single precision. Those in usual units do
// not.
TEST(MultisiteModel, range_of_float)
{
  Component c;
  c.name = "polar";
  const auto why = [&](const MultisiteOptions &o) -> std::string {
    try {
      MultisiteModel({c}, o).check_float();
      return "";
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
  };
  c.dipoles = {{{0, 0, 0}, {0, 0, 1}, 6.2e-30}};    // C m
  MultisiteOptions o = options(1e-9);
  o.coulomb = 8.9876e9;
  EXPECT_EQ(why(o),
            "component polar: a product of charges, dipoles or quadrupoles is 3.844e-59, and "
            "single precision holds "
            "1e-30 to 1e+30");
  c.dipoles[0].moment = 0.387;    // e Angstrom
  o = options(12.0);
  o.coulomb = 332.06371;
  EXPECT_EQ(why(o), "");
  c.dipoles.clear();
  c.quadrupoles = {// Float holds the square of this quadrupole, but not its force.
                   {{0, 0, 0}, {0, 0, 1}, 2e-14}};
  o = options(1e2);
  EXPECT_EQ(why(o),
            "component polar: an electrostatic force at the cutoff is 4e-40, and single precision "
            "holds 1e-30 to 1e+30");
  c.quadrupoles.clear();
  c.centers = {{{0, 0, 0}, 1.65e-21, 3.4e-10}};    // J, m
  EXPECT_EQ(why(o), "");
  c.centers[0].sigma = 3.4e-16;
  EXPECT_EQ(
      why(o),
      "component polar: sigma squared is 1.156e-31, and single precision holds 1e-30 to 1e+30");
}

// lennard_jones() computes powers of sigma/cutoff, which must be within the range of float.
TEST(MultisiteModel, sigma_in_float)
{
  const auto why = [&](const LennardJonesSite &site, double cutoff,
                       double eta = 1.0) -> std::string {
    std::vector<Component> two = {make_component({site}), make_component({site})};
    two[0].name = "big";
    try {
      MultisiteModel model(two, options(cutoff));
      model.set_mixing(0, 1, {1.0, eta});
      model.check_float();
      return "";
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
  };
  EXPECT_EQ(why({{0, 0, 0}, 1.0, 1e10}, 1.6),
            "component big: (sigma/cutoff)^12 is 3.55271e+117 for sigma 1e+10 and cutoff 1.6, and "
            "single precision holds up to 1e+30");
  EXPECT_EQ(why({{0, 0, 0}, 1.0, 3.0}, 1.6, 1e3),
            "component big: (sigma/cutoff)^12 is 1.88806e+39 for sigma 3000 and cutoff 1.6, and "
            "single precision holds up to 1e+30");
  EXPECT_EQ(why({{0, 0, 0}, 1e-20, 1e-10}, 1e-12),
            "component big: 12 (sigma/cutoff)^12/cutoff^2 is 1.2e+49 for sigma 1e-10 and "
            "cutoff 1e-12, and single precision holds up to 1e+30");
  EXPECT_EQ(why({{0, 0, 0}, 1e20, 10.0}, 1.0),
            "component big: 48 epsilon (sigma/cutoff)^12/cutoff^2 is 4.8e+33 for sigma 10 and "
            "cutoff 1, and single precision holds up to 1e+30");
  EXPECT_EQ(why({{0, 0, 0}, 1.65e-21, 3.4e-10}, 1e-9), "");    // J, m
  EXPECT_EQ(why({{0, 0, 0}, 1.0, 100.0}, 1.0), "");
}
