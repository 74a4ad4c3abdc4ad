// Part of GPUCOORD, GPL-2.0. Pair entropy of atoms that are resident on the GPU, compared with the
// host backend in double.

#include "gpu_tests.h"
#include "resident_results.h"

#include "gpucoord/pair_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double SKIN = 0.2;

PairEntropyOptions entropy_options(double cutoff, double sigma, int bins)
{
  PairEntropyOptions o;
  o.cutoff = cutoff;
  o.sigma = sigma;
  o.bins = bins;
  return o;
}
const PairEntropyOptions USUAL = entropy_options(1.0, 0.03, 60);

using Reduce = AtomFunction::Reduce;

struct Found {
  double value = 0.0, virial[6] = {};
  std::vector<double> v, g, peratom;    // v: [nlocal]
  bool any_partners = false;
};

// Evaluates by a backend for host arrays. version: version of the input; 0: unknown
Found run(OrderParameter &entropy, const System &s, double volume, bool two, unsigned want,
          const Reduce &reduce, std::int64_t version = 0)
{
  Found found;
  found.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  found.v.assign(s.nlocal + 1, 0.0);
  int na, nb;
  const auto a = s.atoms(2, na), b = s.atoms(4, nb);
  const int nothing = 0;
  OrderInput in;
  in.nall = s.nall;
  in.volume = volume;
  in.cells.x = s.x.data();
  in.cells.a = {a.empty() ? &nothing : a.data(), static_cast<int>(a.size()), na};
  if (two) in.cells.b = {b.empty() ? &nothing : b.data(), static_cast<int>(b.size()), nb};
  in.cells.version = version;
  in.cells.skin = SKIN;
  in.exchange.reduce = reduce;
  OrderNumbers numbers;
  numbers.order = found.v.data();
  const OrderResult result = entropy.evaluate(in, want, found.peratom.data(), numbers);
  found.v.resize(s.nlocal);
  found.value = result.value;
  std::copy_n(result.virial, 6, found.virial);
  found.g = entropy.global_vector();
  found.any_partners = result.natoms_with_partners > 0;
  return found;
}

void alone(double *, int, AtomFunction::Reduction) {}

Found on_host(const PairEntropyOptions &options, const System &s, double volume, bool two,
              unsigned want, const Reduce &reduce = alone)
{
  const auto host = make_host_order(options, Precision::DOUBLE, 2);
  return run(*host, s, volume, two, want, reduce);
}

// A resident pair entropy with the atoms of a System.
struct OnDevice {
  const std::unique_ptr<ResidentOrderParameter> entropy;
  DeviceExchange exchange;
  std::unique_ptr<OnGpu<double>> v;    // the same for all evaluations

  OnDevice(const PairEntropyOptions &options, Precision precision) :
      entropy(make_resident_order(options, precision))
  {
  }
  // Without the numbers of partners, all other results have the same bits.
  Found evaluate(const System &s, const DeviceAtoms &atoms, double volume, unsigned want)
  {
    if (!v) v = std::make_unique<OnGpu<double>>(std::vector<double>(s.nlocal + 1, -1.0));
    const Found found = evaluate_once(s, atoms, volume, want, v->data()),
                without = evaluate_once(s, atoms, volume, want, nullptr);
    EXPECT_EQ(without.value, found.value);
    EXPECT_EQ(without.g, found.g);
    EXPECT_EQ(without.peratom, found.peratom);
    EXPECT_EQ(without.any_partners, found.any_partners);
    for (int k = 0; k < 6; ++k) EXPECT_EQ(without.virial[k], found.virial[k]) << k;
    return found;
  }

 private:
  Found evaluate_once(const System &s, DeviceAtoms atoms, double volume, unsigned want,
                      double *v_of_atoms)
  {
    Found found;
    atoms.volume = volume;
    entropy->evaluate_first(atoms, 0, exchange, v_of_atoms, nullptr);
    if (want != VALUE) entropy->evaluate_second({want}, nullptr, 1.0, exchange, nullptr);
    const Totals totals = entropy->result(nullptr);
    EXPECT_FALSE(totals.moved);
    EXPECT_EQ(totals.bad_atom, -1);
    found.value = totals.value;
    std::copy_n(totals.virial, 6, found.virial);
    found.any_partners = entropy->any_partners();
    found.v = v->get();
    found.v.resize(s.nlocal);
    found.g = entropy->global_vector();
    const int columns = peratom_columns(want);
    found.peratom.assign(static_cast<std::size_t>(s.nlocal) * columns, 0.0);
    if (columns == 0) return found;
    entropy->peratom(found.peratom.data(), nullptr);
    for (int i = 0; i < s.nlocal; ++i)
      found.peratom[columns * static_cast<std::size_t>(i)] += found.v[i];
    return found;
  }
};

double tolerance(Precision precision)
{
  return precision == Precision::DOUBLE ? 1e-10 : 2e-4;
}

double largest_of(const std::vector<double> &numbers)
{
  double maximum = 0.0;
  for (const double x : numbers) maximum = std::max(maximum, std::fabs(x));
  return maximum;
}

// Differences are relative to the largest number of the same kind. S of many atoms has small
// derivatives.
void compare(const Found &found, const Found &expected, unsigned want, double limit,
             const std::string &description)
{
  EXPECT_NEAR(found.value, expected.value, limit * std::fabs(expected.value) + 1e-14)
      << description;
  EXPECT_EQ(found.any_partners, expected.any_partners) << description;
  ASSERT_EQ(found.g.size(), expected.g.size());
  const double largest_g = std::max(1e-14, largest_of(expected.g));
  for (std::size_t k = 0; k < expected.g.size(); ++k)
    ASSERT_NEAR(found.g[k], expected.g[k], limit * largest_g) << description << ", node " << k;
  int differ = 0;    // rounding may move a partner over the cutoff
  for (std::size_t i = 0; i < expected.v.size(); ++i) {
    ASSERT_NEAR(found.v[i], expected.v[i], 1.0) << description << ", atom " << i;
    differ += found.v[i] != expected.v[i] ? 1 : 0;
  }
  EXPECT_LE(differ, limit * expected.v.size()) << description;
  if (want & VIRIAL) {
    const double maximum = largest_of(std::vector<double>(expected.virial, expected.virial + 6));
    for (int k = 0; k < 6; ++k)
      EXPECT_NEAR(found.virial[k], expected.virial[k], 5.0 * limit * maximum + 1e-14)
          << description;
  }
  const int columns = peratom_columns(want), ends[] = {1, 4, 10};
  ASSERT_EQ(found.peratom.size(), expected.peratom.size());
  for (int part = 0; part < 2 && ends[part + 1] <= columns; ++part) {
    const double maximum = largest(expected.peratom, columns, ends[part], ends[part + 1]);
    for (std::size_t k = 0; k < expected.peratom.size(); ++k)
      if (const int c = static_cast<int>(k % columns); c >= ends[part] && c < ends[part + 1]) {
        ASSERT_NEAR(found.peratom[k], expected.peratom[k], 5.0 * limit * maximum + 1e-14)
            << description << ", row " << k / columns << ", column " << c;
      }
  }
}

// Density of the System: the volume is that of its atoms.
void check_entropy(const PairEntropyOptions &options, const System &s, double density, bool two,
                   const std::string &what)
{
  const double volume = std::max(1, s.nall) / density;
  const Loaded loaded(s, false);
  for (const Precision precision : ORDER_PRECISIONS) {
    OnDevice device(options, precision);
    device.entropy->rebuild(loaded.atoms, selection(two, SKIN), 0, nullptr);
    const auto from_host_arrays = make_cuda_order(options, precision, 0, 2);
    for (const unsigned want : WANTS) {
      const std::string description =
          label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      const Found expected = on_host(options, s, volume, two, want);
      compare(device.evaluate(s, loaded.atoms, volume, want), expected, want, tolerance(precision),
              description);
      compare(run(*from_host_arrays, s, volume, two, want, alone), expected, want,
              tolerance(precision), description + ", host arrays");
      if (want != DERIVATIVES) continue;
      // Evaluate as for the forces of a bias, whose derivatives may be in float.
      DeviceAtoms atoms = loaded.atoms;
      atoms.volume = volume;
      device.entropy->evaluate_first(atoms, 0, {}, nullptr, nullptr);
      device.entropy->evaluate_second({DERIVATIVES, true}, nullptr, 1.0, {}, nullptr);
      const OnGpu<double> forces(std::vector<double>(3 * s.nall + 3, 0.0));
      device.entropy->add_forces({forces.data()}, {2.0}, nullptr);
      const auto after = forces.get();
      const double maximum = largest(expected.peratom, 4, 1, 4);
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(after[3 * i + c],
                      -2.0 * (i < s.nlocal ? expected.peratom[4 * i + 1 + c] : 0.0),
                      10.0 * tolerance(precision) * maximum + 1e-14)
              << description;
    }
  }
}

// Owned atoms of a crystal of edge^3 cells, moved by up to 'moved', and their images as ghosts.
System fcc(int edge, double density, double moved, double range, double &volume)
{
  const double cell = std::cbrt(4.0 / density), length = edge * cell;
  const double basis[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  System s(0, 0, 1.0, 1);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> displacement(-moved, moved);
  for (int i = 0; i < edge * edge * edge; ++i)
    for (const auto &site : basis) {
      const int index[3] = {i % edge, i / edge % edge, i / edge / edge};
      for (int c = 0; c < 3; ++c)
        s.x.push_back((index[c] + 0.25 + 0.5 * site[c]) * cell + displacement(random));
    }
  s.nlocal = static_cast<int>(s.x.size() / 3);
  for (int c = 0; c < 3; ++c) {
    const std::size_t n = s.x.size() / 3;
    for (std::size_t i = 0; i < n; ++i)
      for (const int side : {-1, 1}) {
        const double image = s.x[3 * i + c] + side * length;
        if (image < -range || image > length + range) continue;
        for (int k = 0; k < 3; ++k) s.x.push_back(k == c ? image : s.x[3 * i + k]);
      }
  }
  s.nall = static_cast<int>(s.x.size() / 3);
  s.mask.assign(s.nall, 3);
  s.type.assign(s.nall, 1);
  volume = length * length * length;
  return s;
}

}    // namespace

TEST(ResidentPairEntropy, equals_the_host_for_any_number_of_atoms)
{
  std::vector<std::tuple<int, double>> cases = {
      {0, 4.0}, {1, 4.0}, {2, 4.0}, {1000, 0.05}, {20000, 4.0}};
  for (int n = 31; n <= 100; n += 3) cases.emplace_back(n, n % 2 ? 40.0 : 2.0);
  for (const auto &[n, density] : cases)
    check_entropy(USUAL, System(n, n / 3, density, 7 * n + 1), density, false, "one group");
}

// Not all atoms are in the group, so that the indices of rows and atoms differ.
TEST(ResidentPairEntropy, equals_the_host_for_a_part_of_the_atoms)
{
  for (const double fraction : {0.95, 0.3, 0.0})
    check_entropy(USUAL, System(3000, 900, 8.0, 3, fraction), 8.0, false, "part of the atoms");
}

TEST(ResidentPairEntropy, equals_the_host_for_two_groups)
{
  const double fractions[][2] = {{1, 1}, {0.5, 0.6}, {0.05, 0.9}, {0, 1}, {1, 0}};
  for (const auto &f : fractions)
    check_entropy(USUAL, System(2000, 700, 6.0, 5, f[0], f[1]), 6.0, true, "two groups");
}

// Many pairs of each atom.
TEST(ResidentPairEntropy, equals_the_host_in_a_dense_system)
{
  check_entropy(USUAL, System(4000, 1000, 400.0, 8), 400.0, false, "dense");
}

// Tables in global memory: cells of sums beyond the 227 KiB of shared memory of a block, in double
// and then also in float, and coefficients beyond 44 KiB.
TEST(ResidentPairEntropy, equals_the_host_for_narrow_gaussians)
{
  for (const auto &[sigma, bins] : {std::tuple(0.002, 600), {0.0025, 500}, {0.01, 100}})
    check_entropy(entropy_options(1.0, sigma, bins), System(2500, 800, 10.0, 21), 10.0, false,
                  "sigma " + std::to_string(sigma));
}

// All pair entropies of a process share the kernels, whose limit of shared memory is that of the
// largest table.
TEST(ResidentPairEntropy, equals_the_host_next_to_a_smaller_table)
{
  const System s(2500, 800, 10.0, 21);
  const double volume = s.nall / 10.0;
  const Loaded loaded(s, false);
  const PairEntropyOptions large = entropy_options(1.0, 0.01, 100);
  for (const Precision precision : ORDER_PRECISIONS) {
    OnDevice first(large, precision), second(USUAL, precision);
    first.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
    second.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
    for (const unsigned want : WANTS) {
      compare(second.evaluate(s, loaded.atoms, volume, want),
              on_host(USUAL, s, volume, false, want), want, tolerance(precision), "smaller table");
      compare(first.evaluate(s, loaded.atoms, volume, want), on_host(large, s, volume, false, want),
              want, tolerance(precision), "larger table");
    }
  }
}

TEST(ResidentPairEntropy, equals_the_host_for_wide_gaussians)
{
  check_entropy(entropy_options(1.0, 0.3, 4), System(700, 300, 3.0, 22), 3.0, false, "sigma 0.3");
  check_entropy(entropy_options(1.0, 0.1, 1000), System(700, 300, 6.0, 23), 6.0, false,
                "1000 bins");
}

// A perfect crystal, in which thousands of pairs of a block of atoms have the same distance. Forces
// cancel there.
TEST(ResidentPairEntropy, equals_the_host_in_a_crystal)
{
  const auto options = entropy_options(2.5, 0.05, 100);
  for (const double moved : {0.0, 0.05}) {
    double volume;
    const System s = fcc(16, 0.84, moved, reach(options) + SKIN, volume);
    const Loaded loaded(s, false);
    const unsigned want = moved == 0.0 ? VIRIAL : DERIVATIVES | VIRIAL | ATOM_VIRIAL;
    const Found expected = on_host(options, s, volume, false, want);
    for (const Precision precision : ORDER_PRECISIONS) {
      OnDevice device(options, precision);
      device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
      compare(device.evaluate(s, loaded.atoms, volume, want), expected, want, tolerance(precision),
              "crystal, precision " + std::to_string(static_cast<int>(precision)));
    }
  }
}

// In float, the mean of the squared distance from the center of a cell is taken as 1/12. Errors of
// g remain as small as those of float positions.
TEST(ResidentPairEntropy, has_the_distribution_of_the_host_in_float)
{
  const auto options = entropy_options(2.5, 0.05, 100);
  double volume;
  const System s = fcc(8, 0.84, 0.05, reach(options) + SKIN, volume);
  const Loaded loaded(s, false);
  const Found expected = on_host(options, s, volume, false, VALUE);
  OnDevice device(options, Precision::MIXED);
  device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
  const Found found = device.evaluate(s, loaded.atoms, volume, VALUE);
  for (int k = 0; k < options.bins; ++k)
    EXPECT_NEAR(found.g[k], expected.g[k], 5e-6 * largest_of(expected.g)) << k;
  EXPECT_NEAR(found.value, expected.value, 5e-6 * std::fabs(expected.value));
}

TEST(ResidentPairEntropy, equals_the_host_with_other_ranks)
{
  const double density = 8.0;
  const System s(900, 400, density, 5);
  const double volume = 3 * s.nall / density;
  const Loaded loaded(s, false);
  std::vector<int> sizes;
  // Another rank with twice the pairs and atoms.
  const Reduce reduce = [&](double *sums, int n, AtomFunction::Reduction by) {
    EXPECT_EQ(by, AtomFunction::Reduction::SUM);
    sizes.push_back(n);
    for (int k = 0; k < n; ++k) sums[k] *= 3.0;
  };
  for (const Precision precision : ORDER_PRECISIONS)
    for (const unsigned want : WANTS) {
      const std::string description = label("ranks", s.nlocal, static_cast<int>(precision), want);
      const Found expected = on_host(USUAL, s, volume, false, want, reduce);
      OnDevice device(USUAL, precision);
      device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
      device.exchange.reduce = reduce;
      sizes.clear();
      compare(device.evaluate(s, loaded.atoms, volume, want), expected, want, tolerance(precision),
              description);
      const auto announced = device.entropy->exchanges(want);
      ASSERT_EQ(announced.size(), 1u);
      EXPECT_EQ(announced[0].kind, DeviceExchange::Kind::REDUCE);
      EXPECT_EQ(sizes, std::vector<int>(2, announced[0].n)) << description;    // two evaluations
      const auto backend = make_cuda_order(USUAL, precision, 0, 2);
      compare(run(*backend, s, volume, false, want, reduce), expected, want, tolerance(precision),
              description + ", host arrays");
    }
}

// A rank without atoms of the groups has the sums of the other ranks.
TEST(ResidentPairEntropy, takes_part_without_atoms)
{
  const System s(100, 30, 4.0, 6, 0.0);
  const Loaded loaded(s, false);
  const Reduce others = [](double *sums, int n, AtomFunction::Reduction) {
    for (int k = 0; k < n; ++k) sums[k] += 10.0 + k;
  };
  for (const Precision precision : ORDER_PRECISIONS) {
    OnDevice device(USUAL, precision);
    device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
    device.exchange.reduce = others;
    const unsigned want = DERIVATIVES | VIRIAL | ATOM_VIRIAL;
    compare(device.evaluate(s, loaded.atoms, 50.0, want),
            on_host(USUAL, s, 50.0, false, want, others), want, 1e-12, "no atoms");
  }
}

TEST(ResidentPairEntropy, gives_the_same_bits_again)
{
  const System s(20000, 5000, 4.0, 31);
  const double volume = s.nall / 4.0;
  const Loaded loaded(s, false);
  const unsigned want = DERIVATIVES | VIRIAL | ATOM_VIRIAL;
  for (const Precision precision : ORDER_PRECISIONS) {
    Found first;
    for (int k = 0; k < 4; ++k) {
      OnDevice device(USUAL, precision);
      device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
      for (int again = 0; again < 2; ++again) {
        const Found found = device.evaluate(s, loaded.atoms, volume, want);
        if (k + again == 0) first = found;
        EXPECT_EQ(found.value, first.value);
        EXPECT_EQ(found.g, first.g);
        EXPECT_EQ(found.peratom, first.peratom);
        EXPECT_TRUE(std::equal(found.virial, found.virial + 6, first.virial));
      }
    }
  }
}

// In float, the integers do not depend on the order of the atoms.
TEST(ResidentPairEntropy, gives_the_same_bits_for_sorted_atoms)
{
  System s(5000, 1500, 6.0, 32);
  const double volume = s.nall / 6.0;
  Found found[2];
  for (Found &result : found) {
    const Loaded loaded(s, false);
    OnDevice device(USUAL, Precision::MIXED);
    device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
    result = device.evaluate(s, loaded.atoms, volume, VALUE);
    sort_in_cells(s, 0.5);
  }
  EXPECT_EQ(found[0].value, found[1].value);
  EXPECT_EQ(found[0].g, found[1].g);
}

TEST(ResidentPairEntropy, equals_the_host_after_moves_and_changes_of_the_volume)
{
  System s(4000, 1500, 4.0, 11);
  OnDevice device(USUAL, Precision::DOUBLE);
  {
    const Loaded loaded(s, false);
    device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
  }
  const unsigned want = DERIVATIVES | VIRIAL | ATOM_VIRIAL;
  s.move(0.09, 3);
  const Loaded loaded(s, false);
  for (const double volume : {1000.0, 2000.0, 500.0})
    compare(device.evaluate(s, loaded.atoms, volume, want), on_host(USUAL, s, volume, false, want),
            want, 1e-10, "moved");
  s.move(1.0, 4);
  const Loaded far(s, false);
  device.entropy->read_positions(far.atoms, 0, nullptr);
  EXPECT_TRUE(device.entropy->result(nullptr).moved);
}

TEST(ResidentPairEntropy, equals_the_host_from_host_arrays_of_one_version)
{
  System s(4000, 1500, 4.0, 12);
  const auto backend = make_cuda_order(USUAL, Precision::DOUBLE, 0, 2);
  const unsigned want = DERIVATIVES | VIRIAL;
  const auto compare_now = [&](std::int64_t version, const std::string &when) {
    compare(run(*backend, s, 1300.0, false, want, alone, version),
            on_host(USUAL, s, 1300.0, false, want), want, 1e-10, when);
  };
  compare_now(1, "first");
  s.move(0.09, 3);
  compare_now(1, "after moves within the skin");
  s.move(1.0, 4);
  compare_now(1, "after moves beyond the skin");
  s.move(0.09, 5);
  compare_now(2, "next version");
}

TEST(ResidentPairEntropy, needs_a_volume)
{
  const System s(100, 30, 4.0, 6);
  const Loaded loaded(s, false);
  OnDevice device(USUAL, Precision::MIXED);
  device.entropy->rebuild(loaded.atoms, selection(false, SKIN), 0, nullptr);
  const OnGpu<double> v(std::vector<double>(s.nlocal));
  EXPECT_THROW(device.entropy->evaluate_first(loaded.atoms, 0, {}, v.data(), nullptr),
               std::invalid_argument);
  const auto backend = make_cuda_order(USUAL, Precision::MIXED, 0, 2);
  EXPECT_THROW(run(*backend, s, 0.0, false, VALUE, alone), std::invalid_argument);
}
