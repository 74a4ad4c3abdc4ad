// Part of GPUCOORD, GPL-2.0. Rigid molecules on a GPU against plain loops and the host backend in double, which
// test_multisite.cpp holds against closed forms, finite differences and ls1-MarDyn.

#include "gpu.h"

#include "../../lib/gpucoord/src/cuda/multisite_cuda.h"
#include "gpucoord/multisite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;
using Processor = CudaTuning::Processor;

namespace {

// Relative to the largest force, torque, energy and so on of a molecule. Seen on an H200: 2e-14 and 1.2e-5.
constexpr double TOLERANCE_DOUBLE = 1e-12, TOLERANCE_FLOAT = 4e-5;
constexpr double SPACING = 1.5;    // of molecules, in units of sigma

Component component(const std::string &name, int ncentres, int ncharges, int ndipoles, int nquadrupoles)
{
  std::mt19937 random(1000 * ncentres + 100 * ncharges + 10 * ndipoles + nquadrupoles);
  std::uniform_real_distribution<double> uniform(-0.25, 0.25);
  const auto place = [&] { return std::array<double, 3>{uniform(random), uniform(random), uniform(random)}; };
  Component c;
  c.name = name;
  c.mass = 1.0;
  for (int k = 0; k < ncentres; ++k) c.centres.push_back({place(), 1.0 + uniform(random), 0.9 + 0.4 * uniform(random)});
  for (int k = 0; k < ncharges; ++k) c.charges.push_back({place(), 0.3 + uniform(random)});
  for (int k = 0; k < ndipoles; ++k) c.dipoles.push_back({place(), place(), 0.5 + uniform(random)});
  for (int k = 0; k < nquadrupoles; ++k) c.quadrupoles.push_back({place(), place(), 0.4 + uniform(random)});
  return c;
}

struct System {
  std::vector<double> x, q;
  std::vector<int> kind;
  int nlocal = 0;

  // n molecules of these many components on a lattice, none too near to another, of which every fourth is a ghost
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
      const double length = std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
      for (const double c : turn) q.push_back(c / length);
      kind.push_back(i % ncomponents);
    }
  }
  Molecules molecules() const { return {x.data(), q.data(), kind.data(), nlocal, static_cast<int>(kind.size())}; }
};

struct Result {
  MultisiteSums sums;
  std::vector<double> force, torque, energy, virial;

  template <class Evaluate> Result(const System &s, Evaluate evaluate) :
      force(3 * s.nlocal, 0.0), torque(3 * s.nlocal, 0.0), energy(s.nlocal, 0.0), virial(6 * s.nlocal, 0.0)
  {
    sums = evaluate(s.molecules(), MultisiteResults{force.data(), torque.data(), energy.data(), virial.data()});
  }
};

Result evaluate(Multisite &backend, const System &s, MultisiteWant want = MultisiteWant::ALL)
{
  return Result(s, [&](const Molecules &m, const MultisiteResults &r) { return backend.evaluate(m, want, r); });
}

double largest(const std::vector<double> &values)
{
  double most = 0.0;
  for (const double v : values) most = std::max(most, std::fabs(v));
  return most;
}

std::map<std::string, double> &worst_errors()
{
  static std::map<std::string, double> worst;
  return worst;
}

void expect_close(const std::vector<double> &found, const std::vector<double> &expected, double tolerance, const char *what)
{
  ASSERT_EQ(found.size(), expected.size());
  const double scale = largest(expected);
  double worst = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double error = std::fabs(found[k] - expected[k]);
    worst = error <= worst ? worst : error;    // also of what is no number
  }
  EXPECT_TRUE(worst <= tolerance * scale) << what << ": " << worst << " of " << scale;
  double &all = worst_errors()[std::string(tolerance == TOLERANCE_DOUBLE ? "double, " : "mixed, ") + what];
  if (scale > 0.0) all = std::max(all, worst / scale);
}

void expect_close(const Result &found, const Result &expected, double tolerance)
{
  expect_close(found.force, expected.force, tolerance, "force");
  expect_close(found.torque, expected.torque, tolerance, "torque");
  expect_close(found.energy, expected.energy, tolerance, "energy of a molecule");
  expect_close(found.virial, expected.virial, tolerance, "virial of a molecule");
  const auto total = [](const MultisiteSums &s) {
    return std::vector<double>{s.lennard_jones, s.electrostatic, s.reaction_field, s.virial[0], s.virial[1],
                               s.virial[2], s.virial[3], s.virial[4], s.virial[5]};
  };
  expect_close(total(found.sums), total(expected.sums), tolerance, "sum");
}

MultisiteOptions options(double cutoff, double cutoff_charge)
{
  MultisiteOptions o;
  o.cutoff = cutoff;
  o.cutoff_charge = cutoff_charge;
  o.shift = true;
  o.reaction_field = 5.0;
  o.coulomb = 1.3;
  return o;
}

std::vector<std::vector<Component>> kinds_of_components()
{
  return {{component("centre", 1, 0, 0, 0)},
          {component("two centres", 2, 0, 0, 0)},
          {component("two centres and a quadrupole", 2, 0, 0, 1)},
          {component("three centres and a quadrupole", 3, 0, 0, 1)},
          {component("three centres and charges", 3, 3, 0, 0)},
          {component("three centres and a dipole", 3, 0, 1, 0)},
          {component("a centre and three charges", 1, 3, 0, 0)},
          {component("all kinds", 2, 2, 2, 2)},
          {component("charges alone", 0, 2, 0, 0)},
          {component("many", 5, 7, 1, 3)},
          {component("water", 1, 3, 0, 0), component("quadrupole", 2, 0, 0, 1), component("ion", 1, 1, 0, 0)},
          {component("dipole", 3, 0, 1, 0), component("dipole", 1, 0, 1, 0), component("no electrostatics", 2, 0, 0, 0),
           component("pole", 0, 0, 0, 1)}};
}

MultisiteTuning tuning(Processor processor, bool any_sites = false)
{
  MultisiteTuning t;
  t.processor = processor;
  t.any_sites = any_sites;
  return t;
}

class Multisites : public testing::Test {
 public:
  static void TearDownTestSuite()
  {
    for (const auto &worst : worst_errors()) std::printf("worst error, of the largest: %s %.1e\n", worst.first.c_str(), worst.second);
  }
};

}    // namespace

// every number of sites that has kernels of its own and others, mixtures, both processors, cutoffs of both kinds
TEST_F(Multisites, EqualPlainLoops)
{
  for (const auto &kinds : kinds_of_components())
    for (const bool site_cutoff : {false, true})
      for (const double charges : {3.2, 2.1, 4.0}) {
        MultisiteOptions o = options(3.2, charges);
        o.site_cutoff = site_cutoff;
        MultisiteModel model(kinds, o);
        if (kinds.size() > 1) model.set_mixing(0, 1, {0.9, 1.02});
        for (const int n : {1, 2, 33, 400}) {
          SCOPED_TRACE(kinds[0].name + ", " + std::to_string(kinds.size()) + " kinds, " + std::to_string(n) + " molecules, cutoff of " +
                       (site_cutoff ? "sites" : "centres") + ", of charges " + std::to_string(charges));
          const System s(n, static_cast<int>(kinds.size()));
          const Result expected(s, [&](const Molecules &m, const MultisiteResults &r) { return reference_multisite(model, m, r); });
          for (const Processor processor : {Processor::WARP, Processor::BLOCK})
            for (const bool any_sites : {false, true})
              for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
                SCOPED_TRACE(std::string(processor == Processor::WARP ? "warp" : "block") + (any_sites ? ", any sites" : ""));
                const auto cuda = make_cuda_multisite(model, precision, 0, 2, tuning(processor, any_sites));
                const double tolerance = precision == Precision::DOUBLE ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT;
                expect_close(evaluate(*cuda, s), expected, tolerance);
                const Result forces = evaluate(*cuda, s, MultisiteWant::FORCES);
                expect_close(forces.force, expected.force, tolerance, "force");
                expect_close(forces.torque, expected.torque, tolerance, "torque");
                EXPECT_EQ(largest(forces.energy), 0.0);
              }
        }
      }
}

// sizes from where partners of a molecule are shared out to many warps to where they are not
TEST_F(Multisites, EqualTheHost)
{
  const auto all = kinds_of_components();
  for (const auto &kinds : {all[1], all[5], all[10]})
    for (const int n : {31, 32, 129, 5000, 40000, 200000}) {
      SCOPED_TRACE(kinds[0].name + ", " + std::to_string(n));
      const MultisiteModel model(kinds, options(3.0, 3.0));
      const System s(n, static_cast<int>(kinds.size()));
      const auto host = make_host_multisite(model, Precision::DOUBLE, 8);
      const Result expected = evaluate(*host, s);
      for (const Processor processor : {Processor::WARP, Processor::BLOCK})
        for (const Precision precision : {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE}) {
          const auto cuda = make_cuda_multisite(model, precision, 0, 8, tuning(processor));
          expect_close(evaluate(*cuda, s), expected, precision == Precision::DOUBLE ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT);
        }
    }
}

// nothing is left over from an evaluation of another size, and the same input gives the same bits
TEST_F(Multisites, AgainAndAgain)
{
  const auto kinds = kinds_of_components()[10];
  const MultisiteModel model(kinds, options(3.0, 2.5));
  const auto cuda = make_cuda_multisite(model, Precision::MIXED, -1, 2);
  MultisiteTuning one_warp = tuning(Processor::WARP);
  one_warp.warps_per_block = 1;
  const auto other = make_cuda_multisite(model, Precision::MIXED, -1, 1, one_warp);
  std::vector<Result> first;
  const int sizes[] = {3000, 10, 20000, 0, 700};
  for (const int n : sizes) first.push_back(evaluate(*cuda, System(n, 3)));
  for (int k = 0; k < 5; ++k)
    for (Multisite *backend : {cuda.get(), other.get()}) {
      const Result again = evaluate(*backend, System(sizes[k], 3));
      EXPECT_EQ(again.force, first[k].force);
      EXPECT_EQ(again.torque, first[k].torque);
      EXPECT_EQ(again.energy, first[k].energy);
      EXPECT_EQ(again.virial, first[k].virial);
      EXPECT_EQ(again.sums.lennard_jones, first[k].sums.lennard_jones);
    }
}

// molecules far apart, in one place, with ghosts alone, and without one of the components
TEST_F(Multisites, Crowds)
{
  const auto kinds = kinds_of_components()[10];
  MultisiteOptions o = options(3.0, 3.0);
  const MultisiteModel model(kinds, o);
  const auto host = make_host_multisite(model, Precision::DOUBLE, 2);
  for (const Processor processor : {Processor::WARP, Processor::BLOCK}) {
    const auto cuda = make_cuda_multisite(model, Precision::DOUBLE, 0, 2, tuning(processor));
    System few(900, 3);
    for (std::size_t k = 0; k < few.kind.size(); ++k) few.kind[k] = 2 * (k % 2);
    for (std::size_t k = 0; k < few.x.size(); k += 3)
      if (k % 2) few.x[k] += 1e5;    // two places
    expect_close(evaluate(*cuda, few), evaluate(*host, few), 1e-9);    // coordinates are large
    System ghosts(600, 3);
    ghosts.nlocal = 0;
    EXPECT_EQ(evaluate(*cuda, ghosts).sums.lennard_jones, 0.0);
    System owned(600, 3);
    owned.nlocal = 600;
    expect_close(evaluate(*cuda, owned), evaluate(*host, owned), TOLERANCE_DOUBLE);
  }
}

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  need_gpu();
  return RUN_ALL_TESTS();
}
