// Part of GPUCOORD, GPL-2.0. Environment similarity: lattices, closed forms and differences of S,
// for the host backend and the reference loops; the host backend compared with these loops; and
// ranks.

#include "each_isa.h"
#include "order_checks.h"
#include "order_ranks.h"
#include "order_systems.h"

#include "../../lib/gpucoord/src/order/environment/environment_kernels_host.h"
#include "gpucoord/environment_similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {
GPUCOORD_TEST_DECLARE_IN_EACH_ISA(void get_environment_kernels(EnvironmentKernels<float> &);
                                  void get_environment_kernels(EnvironmentKernels<double> &);)
}    // namespace gpucoord

namespace {

using gpucoord::CrystalStructure;
using gpucoord::Environment;
using gpucoord::EnvironmentOptions;

struct EnvironmentBackend {
  std::string name;
  std::function<std::unique_ptr<OrderParameter>(const EnvironmentOptions &)> make;
};

// The backends that calculate in double.
std::vector<EnvironmentBackend> double_backends()
{
  return {{"reference",
           [](const EnvironmentOptions &options) {
             return gpucoord::make_reference_order(options);
           }},
          {"host", [](const EnvironmentOptions &options) {
             return gpucoord::make_host_order(options, Precision::DOUBLE, 1);
           }}};
}

OrderResults run(OrderParameter &order, const OrderSystem &s, unsigned want)
{
  return run_order(order, s, want, false);
}

EnvironmentOptions options_of(const std::vector<Environment> &environments, double sigma,
                              double cutoff, const AtomFunctionOptions &function = {})
{
  EnvironmentOptions o;
  o.environments = environments;
  o.sigma = sigma;
  o.cutoff = cutoff;
  o.function = function;
  return o;
}

// An environment whose mirror image is not a rotated copy.
Environment chiral()
{
  return {{{0.8, 0.1, 0.0}}, {{0.0, 0.7, 0.2}}, {{-0.1, 0.0, 0.6}}, {{0.5, -0.5, 0.3}}};
}

Environment mirrored(Environment environment)
{
  for (auto &v : environment) v.r[0] = -v.r[0];
  return environment;
}

Environment with_types(Environment environment)
{
  for (std::size_t k = 0; k < environment.size(); ++k)
    environment[k].type = static_cast<int>(k % 4);    // 0: any of types 1 to 3
  return environment;
}

Environment fcc_of_length(double length)
{
  return gpucoord::make_environments(CrystalStructure::FCC, length * std::sqrt(2.0))[0];
}

// Environments of each kind, with vectors up to 0.8.
std::vector<std::pair<std::string, std::vector<Environment>>> all_environments()
{
  return {{"symmetric", {fcc_of_length(0.7)}},
          {"chiral", {chiral()}},
          {"both", {fcc_of_length(0.8), chiral(), mirrored(chiral())}},
          {"types", {with_types(chiral()), with_types(fcc_of_length(0.6))}},
          {"hcp", gpucoord::make_environments(CrystalStructure::HCP, 0.7, 1.1)},
          {"vector", {{{{0.0, 0.0, 0.5}}}}}};
}

// ---- lattices

struct Crystal {
  std::string name;
  CrystalStructure structure;
  Numbers x;
  brute::Cell cell;
  // Shells of sites around a site: squared distance and number.
  std::vector<std::pair<double, int>> shells;
  std::vector<std::pair<double, int>> vectors;    // squared lengths and numbers
  double nearest;
};

std::vector<Crystal> crystals()
{
  const double r3 = std::sqrt(3.0);
  const Numbers fcc = {0, 0, 0, 0, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0};
  Numbers diamond = fcc;
  for (const double x : fcc) diamond.push_back(x + 0.25);
  return {
      {"fcc",
       CrystalStructure::FCC,
       fcc,
       box_of(1, 1, 1),
       {{0.5, 12}, {1, 6}, {1.5, 24}, {2, 12}, {2.5, 24}},
       {{0.5, 12}},
       std::sqrt(0.5)},
      {"bcc",
       CrystalStructure::BCC,
       {0, 0, 0, 0.5, 0.5, 0.5},
       box_of(1, 1, 1),
       {{0.75, 8}, {1, 6}, {2, 12}, {2.75, 24}, {3, 8}, {4, 6}},
       {{0.75, 8}, {1, 6}},
       std::sqrt(0.75)},
      {"sc",
       CrystalStructure::SC,
       {0, 0, 0},
       box_of(1, 1, 1),
       {{1, 6}, {2, 12}, {3, 8}, {4, 6}, {5, 24}},
       {{1, 6}},
       1.0},
      {"diamond",
       CrystalStructure::DIAMOND,
       diamond,
       box_of(1, 1, 1),
       {{3 / 16.0, 4}, {0.5, 12}, {11 / 16.0, 12}, {1, 6}},
       {{3 / 16.0, 4}},
       r3 / 4},
      {"hcp",
       CrystalStructure::HCP,
       {0, 0, 0, 0.5, r3 / 2, 0, 0.5, r3 / 6, std::sqrt(2.0 / 3), 0, 2 * r3 / 3,
        std::sqrt(2.0 / 3)},
       box_of(1, r3, std::sqrt(8.0 / 3)),
       {{1, 12}, {2, 6}, {8 / 3.0, 2}, {3, 18}, {11 / 3.0, 12}, {4, 6}, {5, 12}},
       {{1, 12}},
       1.0},
  };
}

// Each vector leads to a site. The shells around it contribute, except the site of the center.
double similarity_of(const Crystal &crystal, double sigma)
{
  double all = 1.0, center = 0.0;
  int nvectors = 0;
  for (const auto &[r_sq, n] : crystal.shells) all += n * std::exp(-r_sq / (4 * sigma * sigma));
  for (const auto &[r_sq, n] : crystal.vectors) {
    center += n * std::exp(-r_sq / (4 * sigma * sigma));
    nvectors += n;
  }
  return all - center / nvectors;
}

OrderSystem crystal_system(const Crystal &crystal, double range)
{
  OrderSystem s = open_system(crystal.x);
  add_images(s, crystal.cell, range, 6);
  return s;
}

TEST(EnvironmentSimilarity, perfect_lattices_have_1_and_the_tails_of_other_sites)
{
  for (const EnvironmentBackend &backend : double_backends())
    for (const Crystal &crystal : crystals())
      for (const double width : {0.12, 0.2}) {
        const double sigma = width * crystal.nearest;
        const EnvironmentOptions options = options_of(
            gpucoord::make_environments(crystal.structure, 1.0, std::sqrt(8.0 / 3)), sigma, 12.0);
        const OrderSystem s = crystal_system(crystal, gpucoord::reach(options));
        const OrderResults r = run(*backend.make(options), s, EVERYTHING);
        // Shells that are not in the list: for diamond 19/16, which is 6.3 squares of the nearest
        // distance.
        for (const double v : r.order)
          EXPECT_NEAR(v, similarity_of(crystal, sigma), 1e-13)
              << backend.name << " " << crystal.name << " width " << width;
        EXPECT_LT(largest_of_kind(r, 10, 1), 1e-12);    // forces of a perfect lattice
      }
}

TEST(EnvironmentSimilarity, atoms_of_another_structure_have_less)
{
  for (const Crystal &crystal : crystals())
    for (const Crystal &other : crystals()) {
      if (crystal.name == other.name) continue;
      const double a = other.nearest / crystal.nearest;
      const EnvironmentOptions options =
          options_of(gpucoord::make_environments(crystal.structure, a, a * std::sqrt(8.0 / 3)),
                     0.1 * other.nearest, 8.0);
      const auto order = gpucoord::make_host_order(options, Precision::DOUBLE, 1);
      const OrderResults r = run(*order, crystal_system(other, gpucoord::reach(options)), VALUE);
      // The neighbors of an atom of diamond are among those of an atom of bcc.
      if (crystal.name == "diamond" && other.name == "bcc")
        EXPECT_GT(largest_of(r.order), 1.0);
      else
        EXPECT_LT(largest_of(r.order), 0.8) << crystal.name << " in " << other.name;
    }
}

// ---- few atoms

TEST(EnvironmentSimilarity, an_atom_alone_has_no_similarity)
{
  for (const EnvironmentBackend &backend : double_backends()) {
    const OrderSystem s = open_system({1, 2, 3});
    EXPECT_EQ(run(*backend.make(options_of({chiral()}, 0.2, 8.0)), s, EVERYTHING).order[0], 0.0);
    // The formula of several environments has its zero at ln(n)/lambda.
    const auto three = options_of({chiral(), chiral(), fcc_of_length(1.0)}, 0.2, 8.0);
    const OrderResults r = run(*backend.make(three), s, EVERYTHING);
    EXPECT_NEAR(r.order[0], std::log(3.0) / 100, 1e-16);
    EXPECT_EQ(r.sum.natoms_with_partners, 0);
    EXPECT_EQ(largest_of_kind(r, 10, 1), 0.0);
  }
}

TEST(EnvironmentSimilarity, a_pair_of_atoms_has_the_closed_form)
{
  const double sigma = 0.3, d[3] = {0.5, -0.2, 0.4}, w = 1 / (4 * sigma * sigma);
  const Environment environment = {{{0.6, 0, 0.1}}, {{0.1, -0.4, 0.5}}};
  const OrderSystem s = open_system({0.1, 0.2, 0.3, 0.1 + d[0], 0.2 + d[1], 0.3 + d[2]});
  for (const EnvironmentBackend &backend : double_backends()) {
    const OrderResults r = run(*backend.make(options_of({environment}, sigma, 8.0)), s, EVERYTHING);
    double k[2] = {}, dSdd[3] = {};    // dS/dd
    for (const auto &v : environment)
      for (const double sign : {1.0, -1.0}) {    // for the first and for the second atom
        double distance_sq = 0.0;
        for (int c = 0; c < 3; ++c) distance_sq += std::pow(sign * d[c] - v.r[c], 2);
        const double term = std::exp(-w * distance_sq) / 2;
        k[sign > 0 ? 0 : 1] += term;
        for (int c = 0; c < 3; ++c) dSdd[c] -= 2 * w * sign * (sign * d[c] - v.r[c]) * term;
      }
    EXPECT_EQ(r.sum.natoms_with_partners, 2);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(r.order[i], k[i], 1e-15) << backend.name;
    EXPECT_NEAR(r.sum.value, k[0] + k[1], 1e-15) << backend.name;
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(r.peratom[1 + c], -dSdd[c], 1e-14) << backend.name;
      EXPECT_NEAR(r.peratom[11 + c], dSdd[c], 1e-14) << backend.name;
      EXPECT_NEAR(r.sum.virial[c], -dSdd[c] * d[c], 1e-14) << backend.name;
    }
    EXPECT_NEAR(r.sum.virial[3], -dSdd[0] * d[1], 1e-14);
  }
}

TEST(EnvironmentSimilarity, a_pair_counts_up_to_the_cutoff)
{
  const EnvironmentOptions options = options_of({{{{0.6, 0, 0}}}}, 0.1, 3.0);
  EXPECT_NEAR(gpucoord::reach(options), 0.9, 1e-15);
  for (const EnvironmentBackend &backend : double_backends()) {
    const auto order = backend.make(options);
    const OrderResults in = run(*order, open_system({0, 0, 0, 0.8999999, 0, 0}), EVERYTHING),
                       out = run(*order, open_system({0, 0, 0, 0.9000001, 0, 0}), EVERYTHING);
    EXPECT_NEAR(in.order[0], std::exp(-9.0 / 4), 1e-6) << backend.name;
    EXPECT_EQ(out.order[0], 0.0) << backend.name;
    EXPECT_EQ(largest_of_kind(out, 10, 1), 0.0) << backend.name;
  }
}

// ---- chirality and types

// An atom with partners at the vectors of an environment.
OrderSystem center_of(const Environment &environment)
{
  Numbers x = {0, 0, 0};
  for (const auto &v : environment) x.insert(x.end(), v.r, v.r + 3);
  OrderSystem s = open_system(x);
  s.two = true;
  s.member.assign(s.nlocal, 2);
  s.member[0] = 1;
  for (std::size_t k = 0; k < environment.size(); ++k)
    s.type[k + 1] = std::max(1, environment[k].type);
  return s;
}

TEST(EnvironmentSimilarity, a_chiral_environment_differs_from_its_mirror_image)
{
  const auto options = [](const Environment &environment) {
    return options_of({environment}, 0.05, 8.0);
  };
  for (const EnvironmentBackend &backend : double_backends()) {
    const auto left = backend.make(options(chiral())),
               right = backend.make(options(mirrored(chiral())));
    const OrderSystem s = center_of(chiral()), mirror = center_of(mirrored(chiral()));
    EXPECT_NEAR(run(*left, s, VALUE).order[0], 1.0, 1e-9) << backend.name;
    EXPECT_NEAR(run(*right, mirror, VALUE).order[0], 1.0, 1e-9) << backend.name;
    EXPECT_LT(run(*left, mirror, VALUE).order[0], 0.4) << backend.name;
    EXPECT_LT(run(*right, s, VALUE).order[0], 0.4) << backend.name;
    // Several environments: the larger one counts.
    const auto both = backend.make(options_of({chiral(), mirrored(chiral())}, 0.05, 8.0));
    for (const OrderSystem &either : {s, mirror})
      EXPECT_NEAR(run(*both, either, VALUE).order[0], 1.0, 1e-9) << backend.name;
  }
}

TEST(EnvironmentSimilarity, vectors_with_a_type_only_count_partners_of_this_type)
{
  Environment environment = chiral();
  environment[0].type = 2;
  environment[2].type = 1;
  for (const EnvironmentBackend &backend : double_backends()) {
    const auto order = backend.make(options_of({environment}, 0.05, 8.0));
    OrderSystem s = center_of(environment);
    EXPECT_NEAR(run(*order, s, VALUE).order[0], 1.0, 1e-9) << backend.name;
    s.type[2] = 3;    // the type of a vector with any type
    EXPECT_NEAR(run(*order, s, VALUE).order[0], 1.0, 1e-9) << backend.name;
    s.type[1] = 3;
    EXPECT_NEAR(run(*order, s, VALUE).order[0], 0.75, 1e-9) << backend.name;
    s.type[3] = 2;
    EXPECT_NEAR(run(*order, s, VALUE).order[0], 0.5, 1e-9) << backend.name;
    OrderInput in;
    in.cells = cells_input(s, *rows_of(s));
    in.nall = s.nall();
    EXPECT_THROW(order->evaluate(in, VALUE, nullptr, {}), std::invalid_argument) << backend.name;
  }
}

// ---- derivatives

constexpr double SMOOTH_CUTOFF = 12.0;    // exp(-36): S has no steps

TEST(EnvironmentSimilarity, derivatives_equal_differences_of_S)
{
  OrderSystem s = triclinic_system(6, 2);
  for (int k = 0; k < s.nall(); ++k) s.type[k] = 1 + s.owner[k] % 3;
  for (const EnvironmentBackend &backend : double_backends())
    for (const auto &[name, environments] : all_environments())
      for (const auto &function : order_functions()) {
        EnvironmentOptions options = options_of(environments, 0.12, SMOOTH_CUTOFF, function);
        options.lambda = 5.0;    // both environments count
        ASSERT_LT(gpucoord::reach(options), 2.3);
        check_differences(*backend.make(options), s, backend.name + " " + name, false);
      }
}

TEST(EnvironmentSimilarity, derivatives_equal_differences_of_S_for_two_groups)
{
  OrderSystem s = triclinic_system(6, 9);
  s.two = true;
  const unsigned char members[] = {1, 3, 2, 3, 1, 2};
  for (int k = 0; k < s.nall(); ++k) {
    s.type[k] = 1 + s.owner[k] % 3;
    s.member[k] = members[s.owner[k]];
  }
  for (const EnvironmentBackend &backend : double_backends())
    for (const auto &[name, environments] : all_environments()) {
      EnvironmentOptions options =
          options_of(environments, 0.12, SMOOTH_CUTOFF, order_functions()[1]);
      options.lambda = 5.0;
      check_differences(*backend.make(options), s, backend.name + " " + name + " two groups",
                        false);
    }
}

TEST(EnvironmentSimilarity, forces_add_up_to_0)
{
  const OrderSystem s = cluster(40, 4);
  for (const EnvironmentBackend &backend : double_backends())
    for (const auto &[name, environments] : all_environments()) {
      const OrderResults r = run(*backend.make(options_of(environments, 0.2, 8.0)), s, EVERYTHING);
      const double largest = largest_of_kind(r, 10, 1);
      EXPECT_GT(largest, 1e-2);
      const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
      double force[3] = {}, virial[6] = {}, w[6] = {};
      for (int k = 0; k < s.nlocal; ++k) {
        const double *const g = &r.peratom[10 * k + 1], *const x = &s.x[3 * k];
        for (int c = 0; c < 3; ++c) force[c] += g[c];
        for (int c = 0; c < 6; ++c) {
          virial[c] += r.peratom[10 * k + 4 + c];
          w[c] -= g[first[c]] * x[second[c]];
        }
      }
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(force[c], 0.0, 1e-11 * largest) << backend.name << " " << name;
      // In an open box, W is the sum of -dS/dx (x) x.
      for (int c = 0; c < 6; ++c) {
        EXPECT_NEAR(r.sum.virial[c], w[c], 1e-11 * largest * s.nlocal) << backend.name << name;
        EXPECT_NEAR(virial[c], 2 * w[c], 1e-11 * largest * s.nlocal) << backend.name << name;
      }
    }
}

// ---- the host backend

// Largest errors: double 5e-15, 1e-15, 6e-15 and 2e-15; mixed and single 1.1e-6, 1.7e-6, 7e-6 and
// 3e-6.
constexpr Limits LIMITS_OF_DOUBLE = {1e-14, 1e-14, 0.0, 4e-12, 4e-13};
constexpr Limits LIMITS_OF_FLOAT = {1e-6, 1e-6, 0.0, 5e-5, 2e-5};

OrderErrors worst_of_host[2];    // one for each precision, printed at the end

class PrintWorstErrors : public testing::Environment {
 public:
  void TearDown() override
  {
    for (const Precision p : ORDER_PRECISIONS)
      std::cout << "largest errors of host " << name_of(p) << ": "
                << worst_of_host[static_cast<int>(p)] << "\n";
  }
};
testing::Environment *const print_worst_errors =
    testing::AddGlobalTestEnvironment(new PrintWorstErrors);

// scale: as in errors_of()
void check_host(const OrderSystem &s, const EnvironmentOptions &options, const std::string &what,
                double scale = 0.1)
{
  const OrderResults exact = run(*gpucoord::make_reference_order(options), s, EVERYTHING);
  for (const Precision precision : ORDER_PRECISIONS) {
    const auto host = gpucoord::make_host_order(options, precision, 1);
    const auto threaded = gpucoord::make_host_order(options, precision, 4);
    for (const unsigned want : ALL_WANTS) {
      const OrderResults r = run(*host, s, want);
      const OrderErrors e = errors_of(r, exact, want, scale);
      worst_of_host[static_cast<int>(precision)] |= e;
      const std::string label = what + " " + name_of(precision) + " want " + std::to_string(want);
      expect_within(e, precision == Precision::DOUBLE ? LIMITS_OF_DOUBLE : LIMITS_OF_FLOAT, label);
      EXPECT_EQ(r.sum.natoms_with_partners, exact.sum.natoms_with_partners) << label;
      EXPECT_TRUE(same_bits(run(*threaded, s, want), r)) << label << ": 4 threads";
    }
  }
}

TEST(EnvironmentSimilarity, host_equals_reference)
{
  unsigned seed = 0;
  for (const int n : {0, 1, 2, 33, 150})
    for (const bool is_periodic : {false, true})
      for (const Groups groups : ALL_GROUPS)
        for (const auto &[name, environments] : all_environments()) {
          ++seed;
          EnvironmentOptions options =
              options_of(environments, 0.1, 8.0, order_functions()[seed % 4]);
          if (seed % 3 == 0) options.lambda = 10.0;
          check_host(random_order_system(n, groups, 3, is_periodic, 1.7, seed), options,
                     name + ", " + std::to_string(n) + " atoms, seed " + std::to_string(seed));
          if (HasFailure()) return;
        }
}

// Exponents beyond the range of float, and weights far below the largest one.
TEST(EnvironmentSimilarity, host_equals_reference_for_narrow_and_wide_gaussians)
{
  for (const double sigma : {0.01, 0.05, 3.0})
    for (const auto &[name, environments] : all_environments()) {
      OrderSystem s = random_order_system(100, Groups::ONE, 3, false, 1.0, 5);
      // One atom has a perfect environment.
      for (std::size_t k = 0; k < environments[0].size(); ++k)
        for (int c = 0; c < 3; ++c) s.x[3 * (k + 1) + c] = s.x[c] + environments[0][k].r[c];
      check_host(s, options_of(environments, sigma, 4.0), name + " sigma " + std::to_string(sigma),
                 1 / sigma);    // the forces of a perfect environment are 0
    }
}

TEST(EnvironmentSimilarity, kernels_of_all_instruction_sets_are_equal)
{
  using Kernels = gpucoord::EnvironmentKernels<double>;
  std::vector<Kernels> sets(1);
  gpucoord::isa_baseline::get_environment_kernels(sets[0]);
#ifdef __x86_64__
  if (runs_avx2()) {
    sets.emplace_back();
    gpucoord::isa_avx2::get_environment_kernels(sets.back());
  }
  if (runs_avx512()) {
    sets.emplace_back();
    gpucoord::isa_avx512::get_environment_kernels(sets.back());
  }
#endif
  const Numbers points = random_points(40, 2, 2, 2, -1, 3), own = {0.3, 0.0},
                row_weights = random_points(40, 1, 1, 0, 0, 4);
  Numbers x[3];
  std::vector<int> row;
  for (int k = 0; k < 40; ++k) {
    row.push_back(39 - k);
    for (int c = 0; c < 3; ++c) x[c].push_back(points[3 * k + c]);
  }
  const std::vector<int> types = random_types(40, 2, 5), first = {0, 3, 5},
                         type_of_vector = {0, 1, 2, 1, 0};
  const double vx[] = {1, 0.2, -1, 0.3, 0.4}, vy[] = {0.1, 1, 0, -0.7, 0}, vz[] = {0, 0, 1, 1, -1};
  const char is_symmetric[] = {0, 0};
  const gpucoord::EnvironmentTable<double> table = {2,  first.data(),          vx,           vy,
                                                    vz, type_of_vector.data(), is_symmetric, 1.3};
  for (const int n : {0, 1, 8, 9, 37}) {
    const gpucoord::PartnerVectors<double> partners = {n, x[0].data(), x[1].data(), x[2].data(),
                                                       row.data()};
    std::vector<Numbers> results;
    for (const Kernels &kernels : sets) {
      Numbers sums(11, 0.0);
      kernels.sum(table, partners, types.data(), sums.data());
      kernels.sum_forces(table, partners, types.data(), 1, own.data(), row_weights.data(),
                         sums.data() + 2);
      results.push_back(sums);
    }
    double k = 0.0;    // similarity to the first environment
    for (int p = 0; p < n; ++p)
      for (int v = 0; v < 3; ++v) {
        if (type_of_vector[v] && types[row[p]] != type_of_vector[v]) continue;
        const double d[3] = {1.3 * x[0][p] - vx[v], 1.3 * x[1][p] - vy[v], 1.3 * x[2][p] - vz[v]};
        k += std::exp(-(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
      }
    EXPECT_NEAR(results[0][0], k, 1e-14);
    for (const Numbers &sums : results)
      for (int c = 0; c < 11; ++c) EXPECT_NEAR(sums[c], results[0][c], 1e-13);
  }
}

TEST(EnvironmentSimilarity, results_are_added_to_the_per_atom_output)
{
  const OrderSystem s = random_order_system(30, Groups::ONE, 1, true, 1.7, 7);
  const auto rows = rows_of(s);
  for (const EnvironmentBackend &backend : double_backends()) {
    const auto order = backend.make(options_of({chiral()}, 0.1, 8.0));
    const OrderResults r = run(*order, s, EVERYTHING);
    Numbers twice = r.peratom;
    order->evaluate(order_input(s, *rows, exchange_alone(s)), EVERYTHING, twice.data(), {});
    for (std::size_t k = 0; k < twice.size(); ++k)
      EXPECT_NEAR(twice[k], 2 * r.peratom[k], 1e-12 * largest_of(r.peratom));
  }
}

TEST(EnvironmentSimilarity, the_smallest_row_whose_f_is_not_finite_is_reported)
{
  AtomFunctionOptions function;
  function.kind = AtomFunctionKind::CUSTOM;
  function.expression = "1/s";    // infinite for atoms without partners
  Numbers x = {0, 0, 0, 0.8, 0.1, 0};
  for (int k = 0; k < 20; ++k) x.insert(x.end(), {50.0 + 9 * k, 0, 0});
  const OrderSystem s = open_system(x);    // rows_of() lists rows in random order
  for (const EnvironmentBackend &backend : double_backends()) {
    const auto order = backend.make(options_of({chiral()}, 0.3, 8.0, function));
    const auto rows = rows_of(s);
    const OrderResult r =
        order->evaluate(order_input(s, *rows, exchange_alone(s)), VALUE, nullptr, {});
    EXPECT_EQ(r.bad, 2) << backend.name;
    EXPECT_EQ(r.order_of_bad, 0.0) << backend.name;
  }
}

// ---- ranks

RankedOrder ranked(const EnvironmentBackend &backend, const EnvironmentOptions &options,
                   const std::string &what)
{
  return {[=] {
            return backend.make(options);
          },
          AtomFunction(options.function).is_sum(), false, backend.name + " " + what};
}

TEST(EnvironmentSimilarityRanks, results_do_not_depend_on_the_number_of_ranks)
{
  std::vector<AtomFunctionOptions> functions = order_functions();
  functions.emplace_back();
  functions.back().kind = AtomFunctionKind::MAX;
  functions.back().beta = 0.1;
  unsigned seed = 0;
  for (const EnvironmentBackend &backend : double_backends())
    for (const auto &[name, environments] : all_environments())
      for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
        for (const int nranks : {2, 4}) {
          ++seed;
          const OrderSystem whole = random_order_system(40, groups, 3, true, 1.7, seed);
          std::vector<int> rank_of = random_ranks(40, nranks, seed);
          if (seed % 4 == 1)    // a rank without atoms
            for (int &rank : rank_of) rank = rank == 0 ? 1 : rank;
          check_ranks(whole, rank_of, nranks,
                      ranked(backend, options_of(environments, 0.1, 8.0, functions[seed % 5]),
                             name + " seed " + std::to_string(seed)));
          if (HasFailure()) return;
        }
}

TEST(EnvironmentSimilarityRanks,
     complete_exchanges_makes_the_exchanges_that_a_failed_evaluation_has_not_made)
{
  AtomFunctionOptions maximum;
  maximum.kind = AtomFunctionKind::MAX;
  maximum.beta = 0.1;
  const OrderSystem whole = random_order_system(20, Groups::ONE, 1, true, 1.7, 8);
  for (const EnvironmentBackend &backend : double_backends())
    check_failures(
        whole,
        ranked(backend, options_of({chiral(), fcc_of_length(0.7)}, 0.1, 8.0, maximum), "failures"));
}

// ---- options

void expect_error(const EnvironmentOptions &options, const std::string &field,
                  const std::string &message)
{
  for (const EnvironmentBackend &backend : double_backends()) try {
      backend.make(options);
      ADD_FAILURE() << message;
    } catch (const gpucoord::OptionError &e) {
      EXPECT_EQ(e.field, field);
      EXPECT_EQ(e.what(), message);
    }
}

TEST(EnvironmentSimilarity, bad_options_are_errors)
{
  const EnvironmentOptions good = options_of({chiral(), chiral()}, 0.1, 8.0);
  const double inf = std::numeric_limits<double>::infinity();
  EnvironmentOptions o = good;
  o.environments.clear();
  expect_error(o, "environments", "there is no environment: give at least one");
  o = good;
  o.environments[1].clear();
  expect_error(o, "environments", "environment 2 has no vectors: give at least one");
  o = good;
  o.environments[1][2] = {{0.0, 0.0, 0.0}};
  expect_error(o, "environments",
               "vector 3 of environment 2 has length 0: leave out the atom in the center");
  o.environments[1][2] = {{0.0, inf, 0.0}};
  expect_error(o, "environments", "vector 3 of environment 2 is not finite");
  o.environments[1][2] = {{0.0, 1.0, 0.0}, -1};
  expect_error(o, "environments",
               "vector 3 of environment 2 has atom type -1 but types begin with 1, and 0 is any "
               "type");
  o = good;
  o.sigma = 0.0;
  expect_error(o, "sigma", "sigma is 0 but must be > 0 and finite");
  o = good;
  o.lambda = -1.0;
  expect_error(o, "lambda", "lambda is -1 but must be 0.001 to 1000000");
  o = good;
  o.cutoff = inf;
  expect_error(o, "cutoff", "cutoff is inf but must be > 0 and finite");
  o = good;
  o.function.kind = AtomFunctionKind::MAX;
  EXPECT_THROW(check_options(o), gpucoord::AtomFunctionError);
  try {
    gpucoord::make_environments(CrystalStructure::HCP, 1.0);
    ADD_FAILURE();
  } catch (const gpucoord::OptionError &e) {
    EXPECT_EQ(e.field, "c");
  }
}

TEST(EnvironmentSimilarity, a_description_names_the_environments)
{
  EXPECT_EQ(description(options_of({chiral()}, 0.4, 8.0)),
            "environment of 4 vectors, sigma 0.4, cutoff 8");
  EXPECT_EQ(description(options_of({chiral(), fcc_of_length(1.0), chiral()}, 0.4, 8.0)),
            "3 environments of 4, 12 and 4 vectors, sigma 0.4, cutoff 8, lambda 100");
}

}    // namespace
