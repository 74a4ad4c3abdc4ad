// Part of GPUCOORD, GPL-2.0. Rigid molecules in the host backend, compared with the reference
// loops. test_multisite.cpp compares those with closed forms, finite differences and ls1-MarDyn.

#include "each_isa.h"

#include "../../lib/gpucoord/src/multisite/site_kernels_host.h"
#include "gpucoord/multisite.h"
#include "multisite_systems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace gpucoord {
GPUCOORD_TEST_DECLARE_IN_EACH_ISA(void get_site_kernels(SiteKernels<float> &);
                                  void get_site_kernels(SiteKernels<double> &);)
}    // namespace gpucoord

using namespace gpucoord;

namespace {

// SINGLE is evaluated as MIXED.
const Precision PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED};

// All kinds of sites.
std::vector<Component> three_components()
{
  std::vector<Component> kinds(3);
  kinds[0].centers = {{{0.2, 0.1, -0.3}, 0.8, 1.1}, {{-0.4, 0.0, 0.2}, 0.5, 1.2}};
  kinds[0].charges = {{{0.3, -0.2, 0.1}, 0.7}, {{-0.1, 0.2, 0.4}, -0.9}};
  kinds[0].quadrupoles = {{{0.1, 0.0, -0.2}, {0.0, 1.0, 1.0}, 0.6}};
  kinds[1].centers = {{{0, 0, 0}, 0.6, 1.0}};
  kinds[1].dipoles = {{{0.1, 0.3, -0.2}, {0.3, 1.0, 0.2}, 0.8}, {{0, 0, 0.1}, {0, 0, 1}, -0.4}};
  kinds[2].charges = {{{0, 0, 0}, 1.0}};
  return kinds;
}

constexpr double SPACING = 1.9;    // sites of different molecules do not overlap

// A jittered lattice. It has no pair of sites for which float and double could disagree on the
// cutoff.
System lattice(const MultisiteModel &model, int n, int along_x, int along_y)
{
  System s;
  std::mt19937 random(n + 1);
  std::normal_distribution<double> normal(0.0, 0.1);
  for (int k = 0; k < n; ++k) {
    bool is_good = false;
    while (!is_good) {
      double position[3] = {SPACING * (k % along_x), SPACING * (k / along_x % along_y),
                            SPACING * (k / along_x / along_y)};
      for (double &c : position) c += std::clamp(normal(random), -0.25, 0.25);
      s.x.resize(3 * k);
      s.q.resize(4 * k);
      s.component.resize(k);
      s.add(position, random_quaternion(random).data(),
            k % static_cast<int>(model.components().size()));
      is_good = true;
      for (int j = 0; j < k && is_good && model.options().site_cutoff; ++j)
        is_good = !is_at_the_cutoff(model, s, j, k, 1e-5);
    }
  }
  s.nlocal = n;
  return s;
}

double largest(const std::vector<double> &values)
{
  double maximum = 0.0;
  for (const double v : values) maximum = std::max(maximum, std::fabs(v));
  return maximum;
}

void expect_near(const std::vector<double> &found, const std::vector<double> &expected,
                 double tolerance, const std::string &what)
{
  ASSERT_EQ(found.size(), expected.size());
  const double limit = tolerance * std::max(1.0, largest(expected));
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k], expected[k], limit) << what << " " << k;
}

void expect_same(const Result &found, const Result &expected, double tolerance,
                 const std::string &description)
{
  SCOPED_TRACE(description);
  expect_near(found.force, expected.force, tolerance, "force");
  expect_near(found.torque, expected.torque, tolerance, "torque");
  expect_near(found.energy, expected.energy, tolerance, "energy");
  expect_near(found.virial, expected.virial, tolerance, "virial");
  const double n = std::max<std::size_t>(1, expected.energy.size());
  const double scale = tolerance * n * std::max(1.0, largest(expected.energy));
  EXPECT_NEAR(found.sums.lennard_jones, expected.sums.lennard_jones, scale);
  EXPECT_NEAR(found.sums.electrostatic, expected.sums.electrostatic, scale);
  EXPECT_NEAR(found.sums.reaction_field, expected.sums.reaction_field, scale);
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(found.sums.virial[k], expected.sums.virial[k],
                tolerance * n * std::max(1.0, largest(expected.virial)));
}

void expect_molecules_add_up(const Result &r)
{
  const double n = std::max<std::size_t>(1, r.energy.size());
  double energy = 0.0, virial[6] = {};
  for (const double u : r.energy) energy += u;
  for (std::size_t k = 0; k < r.virial.size(); ++k) virial[k % 6] += r.virial[k];
  EXPECT_NEAR(energy, r.total(), 1e-6 * n * std::max(1.0, largest(r.energy)));
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(virial[k], r.sums.virial[k], 1e-6 * n * std::max(1.0, largest(r.virial)));
}

}    // namespace

// Mixtures and single components, with some ghost molecules and different cutoffs.
TEST(MultisiteHost, is_as_plain_loops)
{
  struct Case {
    bool site_cutoff, shift;
    double cutoff, cutoff_charge;
  };
  for (const Case &c : {Case{false, false, 2.5, 2.5},
                        {false, true, 2.5, 3.5},
                        {false, false, 3.5, 2.5},
                        {true, false, 2.5, 2.5},
                        {true, true, 2.5, 3.5},
                        {true, false, 3.5, 2.5}})
    for (const int ncomponents : {3, 1})
      for (const int n : {1, 2, 40, 250}) {
        MultisiteOptions o = options(c.cutoff);
        o.cutoff_charge = c.cutoff_charge;
        o.site_cutoff = c.site_cutoff;
        o.shift = c.shift;
        o.reaction_field = 10.0;
        o.coulomb = 1.2;
        auto kinds = three_components();
        kinds.resize(ncomponents);
        MultisiteModel model(kinds, o);
        if (ncomponents > 1) model.set_mixing(0, 1, {0.9, 1.1});
        const int edge = static_cast<int>(std::ceil(std::cbrt(n)));
        System s = lattice(model, n, edge, edge);
        s.nlocal = n - n / 4;
        const Result expected = s.evaluate(model);
        expect_molecules_add_up(expected);
        for (const Precision precision : PRECISIONS) {
          const auto host = make_host_multisite(model, precision, 2);
          const double tolerance =
              precision == Precision::DOUBLE ? 1e-12 : 1e-5;    // float: steep repulsion
          const std::string description = std::to_string(n) + " molecules, components " +
              std::to_string(ncomponents) + (o.site_cutoff ? ", by site" : "");
          const Result found = s.evaluate(*host);
          expect_same(found, expected, tolerance, description);
          expect_molecules_add_up(found);
          // Outputs that are not requested stay unchanged.
          const Result forces = s.evaluate(*host, MultisiteWant::FORCES);
          expect_near(forces.force, expected.force, tolerance, "force alone");
          expect_near(forces.torque, expected.torque, tolerance, "torque alone");
          EXPECT_EQ(largest(forces.energy), 0.0);
          EXPECT_EQ(largest(forces.virial), 0.0);
        }
      }
}

// A periodic box with its images as ghosts: forces between molecules add up to zero.
TEST(MultisiteHost, periodic_images)
{
  for (const bool site_cutoff : {false, true}) {
    MultisiteOptions o = options(2.5);
    o.site_cutoff = site_cutoff;
    o.reaction_field = 10.0;
    const MultisiteModel model(three_components(), o);
    const int edge = 6;
    System s = lattice(model, edge * edge * edge, edge, edge);
    const double length = edge * SPACING;
    for (int axis = 0; axis < 3; ++axis)
      for (int i = 0, n = static_cast<int>(s.component.size()); i < n; ++i)
        for (const double shift : {-length, length}) {
          double position[3] = {s.x[3 * i], s.x[3 * i + 1], s.x[3 * i + 2]};
          position[axis] += shift;
          const std::array<double, 4> q = {s.q[4 * i], s.q[4 * i + 1], s.q[4 * i + 2],
                                           s.q[4 * i + 3]};
          if (position[axis] > -model.range() - 1.0 &&
              position[axis] < length + model.range() + 1.0)
            s.add(position, q.data(), s.component[i]);
        }
    const Result expected = s.evaluate(model);
    const Result found = s.evaluate(*make_host_multisite(model, Precision::DOUBLE, 2));
    expect_same(found, expected, 1e-12, site_cutoff ? "by site" : "by center");
    double sum[3] = {};
    for (std::size_t k = 0; k < found.force.size(); ++k) sum[k % 3] += found.force[k];
    for (const double f : sum) EXPECT_NEAR(f, 0.0, 1e-11 * s.nlocal * largest(found.force));
  }
}

// A long box, in which rows of cells have many parts.
TEST(MultisiteHost, bits_do_not_depend_on_threads)
{
  MultisiteOptions o = options(2.5);
  o.reaction_field = 10.0;
  const MultisiteModel model(three_components(), o);
  System s = lattice(model, 1500, 50, 6);
  s.nlocal = 1400;
  for (const Precision precision : PRECISIONS) {
    const Result one = s.evaluate(*make_host_multisite(model, precision, 1));
    EXPECT_GT(largest(one.force), 0.0);
    for (const int threads : {2, 3, 5}) {
      const Result more = s.evaluate(*make_host_multisite(model, precision, threads));
      EXPECT_EQ(more.force, one.force);
      EXPECT_EQ(more.torque, one.torque);
      EXPECT_EQ(more.energy, one.energy);
      EXPECT_EQ(more.virial, one.virial);
      EXPECT_EQ(more.total(), one.total());
      for (int k = 0; k < 6; ++k) EXPECT_EQ(more.sums.virial[k], one.sums.virial[k]);
    }
  }
}

// Molecules at the cutoff are partners, in every precision and at every position. Molecules beyond
// it are not.
TEST(MultisiteHost, at_the_cutoff)
{
  Component c;
  c.centers = {{{0, 0, 0}, 1.0, 1.0}};
  const MultisiteModel model({c}, options(2.5));
  const double u = 4.0 * (std::pow(2.5, -12) - std::pow(2.5, -6)), q[4] = {1, 0, 0, 0};
  std::mt19937 random(7);
  std::uniform_int_distribution<int> coordinate(-4000, 4000);
  for (int round = 0; round < 200; ++round) {
    const double origin[3] = {coordinate(random) / 16.0, coordinate(random) / 16.0,
                              coordinate(random) / 16.0};
    for (const bool is_outside : {false, true}) {
      System s;
      s.add(origin, q, 0);
      // 1.5 and 2 give the distance 2.5. The third coordinate increases it by less than the last
      // digit of a float.
      const double other[3] = {origin[0] + 1.5, origin[1] - 2.0,
                               origin[2] + (is_outside ? 1e-6 : 0.0)};
      s.add(other, q, 0);
      s.nlocal = 2;
      for (const Precision precision : PRECISIONS) {
        const Result r = s.evaluate(*make_host_multisite(model, precision, 1));
        EXPECT_NEAR(r.total(), is_outside ? 0.0 : u, 1e-6 * std::fabs(u));
      }
      EXPECT_NEAR(s.evaluate(model).total(), is_outside ? 0.0 : u, 1e-12 * std::fabs(u));
    }
  }
}

TEST(MultisiteHost, no_partners)
{
  const auto kinds = three_components();
  Component center, charge;
  center.centers = {{{0, 0, 0}, 1.0, 1.0}};
  charge.charges = {{{0, 0, 0}, 1.0}};
  const double x[3] = {0, 0, 0}, near[3] = {1, 0, 0}, q[4] = {1, 0, 0, 0};
  for (const Precision precision : PRECISIONS) {
    const auto expect_nothing = [&](const std::vector<Component> &components, const System &s) {
      const auto host = make_host_multisite(MultisiteModel(components, options(2.5)), precision, 2);
      const Result r = s.evaluate(*host);
      EXPECT_EQ(r.total(), 0.0);
      EXPECT_EQ(largest(r.force) + largest(r.torque) + largest(r.energy) + largest(r.virial), 0.0);
    };
    System s;
    expect_nothing(kinds, s);
    s.add(x, q, 0);
    expect_nothing(kinds, s);    // only a ghost
    s.nlocal = 1;
    expect_nothing(kinds, s);
    s.add(near, q, 1);
    expect_nothing({center, charge}, s);
    // Null pointers for outputs that are not requested.
    double force[3] = {}, torque[3] = {};
    const auto host =
        make_host_multisite(MultisiteModel({center, center}, options(2.5)), precision, 1);
    host->evaluate(s.molecules(), MultisiteWant::ALL, {force, torque, nullptr, nullptr});
    EXPECT_NEAR(force[0], -24.0, 1e-5);    // at r = sigma
  }
}

namespace {

// Every build of the kernels that this processor supports.
template <class Real> std::vector<SiteKernels<Real>> all_kernels()
{
  std::vector<SiteKernels<Real>> all(1);
  isa_baseline::get_site_kernels(all[0]);
#ifdef __x86_64__
  if (runs_avx2()) isa_avx2::get_site_kernels(all.emplace_back());
  if (runs_avx512()) isa_avx512::get_site_kernels(all.emplace_back());
#endif
  return all;
}

template <class Real> void expect_kept_points()
{
  std::mt19937 random(5);
  std::uniform_int_distribution<int> coordinate(-8,
                                                8);    // distances are exact in every precision
  for (const SiteKernels<Real> &kernels : all_kernels<Real>())
    for (int n = 0; n < 70; ++n) {
      const std::size_t room = n + KEPT_MARGIN;
      std::vector<Real> x[3], from(room), values(room);
      for (auto &c : x)
        for (std::size_t k = 0; k < room; ++k) c.push_back(coordinate(random));
      for (std::size_t k = 0; k < room; ++k) from[k] = static_cast<Real>(k) + Real(0.5);
      std::vector<unsigned char> kept(n / 8 + 1 + KEPT_MARGIN, 0xff);
      std::vector<int> numbers(room), expected;
      bool any_outside = false, outside = false;
      kernels.keep_partners(81, 64, {n, x[0].data(), x[1].data(), x[2].data()}, {1, 2, 3, -1},
                            kept.data(), any_outside);
      for (int k = 0; k < n; ++k) {
        const Real dx = x[0][k] - 1, dy = x[1][k] - 2, dz = x[2][k] - 3,
                   r_sq = dx * dx + dy * dy + dz * dz;
        if (r_sq <= 81) expected.push_back(k);
        outside |= r_sq <= 81 && r_sq > 64;
      }
      EXPECT_EQ(any_outside, outside);
      const int count = kernels.list_kept(n, kept.data(), numbers.data());
      ASSERT_EQ(count, static_cast<int>(expected.size()));
      kernels.copy_kept(n, kept.data(), count, numbers.data(), from.data(), 3, values.data());
      for (int m = 0; m < count; ++m) {
        EXPECT_EQ(numbers[m], expected[m]);
        EXPECT_EQ(values[m], from[expected[m]] - 3);
      }
    }
}

// Record r has the numbers 100 r, 100 r + 1 and so on.
template <class Real> void expect_records()
{
  for (const SiteKernels<Real> &kernels : all_kernels<Real>())
    for (const int nfields : {3, 8, 15, 16, 18, 36})
      for (const int n : {1, 7, 16, 37}) {
        const int size = (nfields + RECORD_UNIT<Real> - 1) / RECORD_UNIT<Real> * RECORD_UNIT<Real>,
                  nrecords = 50;
        const std::size_t stride = n + KEPT_MARGIN;
        std::vector<Real> records(nrecords * size), to(nfields * stride);
        for (std::size_t k = 0; k < records.size(); ++k)
          records[k] = static_cast<Real>(k / size * 100 + k % size);
        std::vector<int> index;
        for (int m = 0; m < n; ++m) index.push_back(m * 17 % nrecords);
        kernels.gather_records(n, index.data(), size, nfields, records.data(), stride, to.data());
        for (int m = 0; m < n; ++m)
          for (int field = 0; field < nfields; ++field)
            EXPECT_EQ(to[field * stride + m], 100 * index[m] + field);
      }
}

}    // namespace

TEST(MultisiteHost, points_that_are_kept)
{
  expect_kept_points<double>();
  expect_kept_points<float>();
}

TEST(MultisiteHost, gather_records)
{
  expect_records<double>();
  expect_records<float>();
}

// All instruction sets give the results of the oldest one, up to rounding. The tests above use the
// newest one.
TEST(MultisiteHost, instruction_sets)
{
  const int n = 37;
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> numbers[9];
  for (int row = 0; row < 9; ++row)
    for (int k = 0; k < n; ++k) numbers[row].push_back(uniform(random) + (row == 0 ? 3.0 : 0.0));
  const PartnerSites<double> sites = {{numbers[0].data(), numbers[1].data(), numbers[2].data()},
                                      {numbers[3].data(), numbers[4].data(), numbers[5].data()},
                                      {numbers[6].data(), numbers[7].data(), numbers[8].data()}};
  const OwnSite<double> own = {{0.1, -0.2, 0.3}, {0.6, 0.0, 0.8}};
  const SitePairConstants<double> constants = {2.0, 1.1, 0.1, 0.7, 0.02};
  const auto everything = all_kernels<double>();
  for (int kind = 0; kind < SITE_PAIR_KINDS; ++kind)
    for (const bool reversed : {false, true})
      for (const bool all : {false, true}) {
        std::vector<double> first;
        for (const auto &kernels : everything) {
          const auto kernel = kernels.kernel[kind][reversed][all];
          if (!kernel) continue;    // pairs of sites of the same kind are never reversed
          SiteSums sums;
          PartnerForces<double> partners = {};
          kernel(constants, 9.0, n, sites, own, sums, partners);
          std::vector<double> found = {sums.energy, sums.field};
          found.insert(found.end(), sums.force, sums.force + 3);
          found.insert(found.end(), sums.torque, sums.torque + 3);
          for (const auto &component : partners.force)
            found.insert(found.end(), component, component + n);
          if (first.empty()) {
            first = found;
            EXPECT_GT(largest(first), 0.0);
          }
          expect_near(found, first, 1e-13,
                      "kind " + std::to_string(kind) + (reversed ? " reversed" : "") +
                          (all ? " all" : "") + " number");
        }
      }
}
