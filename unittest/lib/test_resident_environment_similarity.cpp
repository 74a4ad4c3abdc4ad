// Part of GPUCOORD, GPL-2.0. Environment similarity of atoms that are resident on the GPU, compared
// with the host backend in double.

#include "gpu_tests.h"
#include "resident_orders.h"

#include "gpucoord/environment_similarity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace gpucoord;

namespace {

// Vectors with lengths from 0.3 to 0.7. max_type: types from 0 to this one.
Environment random_environment(int n, unsigned seed, int max_type = 0)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> component(-1.0, 1.0), length_distribution(0.3, 0.7);
  Environment e;
  while (static_cast<int>(e.size()) < n) {
    EnvironmentVector v = {{component(random), component(random), component(random)}};
    const double length = std::sqrt(v.r[0] * v.r[0] + v.r[1] * v.r[1] + v.r[2] * v.r[2]);
    if (length < 0.1) continue;
    const double factor = length_distribution(random) / length;
    for (double &x : v.r) x *= factor;
    v.type = max_type > 0 ? static_cast<int>(random() % (max_type + 1)) : 0;
    e.push_back(v);
  }
  return e;
}

Environment fcc()
{
  return make_environments(CrystalStructure::FCC, 0.7 * std::sqrt(2.0))[0];
}

// An environment for which the special kernels of fcc must not be used: its last vector differs, in
// units of h.
Environment nearly_fcc(double x, double y, double z)
{
  Environment e = fcc();
  const double h = std::fabs(e[0].r[0] != 0.0 ? e[0].r[0] : e[0].r[1]);
  e.back() = {{x * h, y * h, z * h}};
  return e;
}

// fcc whose first n vectors are for partners of type 2.
Environment typed_fcc(int n)
{
  Environment e = fcc();
  for (int k = 0; k < n; ++k) e[k].type = 2;
  return e;
}

TestedOrder tested(const std::string &name, const std::vector<Environment> &environments,
                   double lambda = 20.0, double sigma = 0.08)
{
  EnvironmentOptions options;
  options.environments = environments;
  options.sigma = sigma;
  options.lambda = lambda;
  options.function.kind = AtomFunctionKind::CUSTOM;
  options.function.expression = "s^2+s";
  TestedOrder order;
  order.name = name;
  order.make_host = [=] {
    return make_host_order(options, Precision::DOUBLE, 2);
  };
  order.make_resident = [=](Precision precision) {
    return make_resident_order(options, precision);
  };
  order.make_cuda = [=](Precision precision) {
    return make_cuda_order(options, precision, 0, 2);
  };
  order.function = options.function;
  order.tolerance_float = 2e-5;
  order.f_factor = 1.0;
  return order;
}

// One to five environments. All, none or some of them are equal to their inverse.
std::vector<TestedOrder> all_orders()
{
  std::vector<TestedOrder> all = {
      tested("fcc", {fcc()}),
      tested("one vector", {random_environment(1, 1)}),
      tested("seven vectors", {random_environment(7, 2)}),
      tested("hcp", make_environments(CrystalStructure::HCP, 0.6, 0.95)),
      tested("three", {fcc(), random_environment(5, 3), fcc()}),
      tested("sc", make_environments(CrystalStructure::SC, 0.7)),
      tested("bcc", make_environments(CrystalStructure::BCC, 0.75)),
      tested("two fcc", {fcc(), make_environments(CrystalStructure::FCC, 0.9)[0]}),
      tested("fcc at the limit of h", {fcc()}, 20.0, 0.0596),
      tested("fcc beyond the limit of h", {fcc()}, 20.0, 0.0592),
      tested("narrow fcc", {fcc()}, 20.0, 0.03),
      tested("wide fcc", {fcc()}, 20.0, 0.15),
      tested("fcc with a vector twice", {nearly_fcc(0.0, 1.0, 1.0)}),
      tested("fcc with another length", {nearly_fcc(0.0, -1.0, -0.8)}),
      tested("fcc with a vector off its plane", {nearly_fcc(0.6, -1.0, -1.0)})};
  std::vector<Environment> four = make_environments(CrystalStructure::DIAMOND, 1.5);
  four.push_back(random_environment(30, 4));
  four.push_back(fcc());
  all.push_back(tested("four", four, 100.0));
  four.push_back(random_environment(3, 5));
  all.push_back(tested("five", four));
  return all;
}

}    // namespace

TEST(ResidentEnvironmentSimilarity, equals_the_host_for_all_environments)
{
  for (const TestedOrder &order : all_orders())
    check_order(order, System(900, 300, 6.0, 100), false, selection(false, 0.2), "one group");
}

TEST(ResidentEnvironmentSimilarity, equals_the_host_for_any_number_of_atoms)
{
  std::vector<std::tuple<int, double>> sizes = {{0, 6.0},    {1, 6.0},     {2, 6.0},    {500, 0.05},
                                                {1000, 6.0}, {20000, 4.0}, {3000, 40.0}};
  for (int n = 31; n <= 100; n += n < 36 || n > 95 ? 1 : 12) sizes.emplace_back(n, 6.0);
  for (const auto &[n, density] : sizes)
    for (const TestedOrder &order :
         {tested("fcc", {fcc()}), tested("two", {random_environment(4, 6), fcc()})})
      check_order(order, System(n, n / 3, density, 7 * n + 1, 0.9), false, selection(false, 0.2),
                  "one group");
}

TEST(ResidentEnvironmentSimilarity, equals_the_host_for_two_groups)
{
  const double fractions[][2] = {{1, 1}, {0.5, 0.6}, {0.05, 0.9}, {0, 1}, {1, 0}};
  for (const auto &f : fractions)
    for (const TestedOrder &order :
         {tested("fcc", {fcc()}), tested("two", {random_environment(4, 6), fcc()})})
      check_order(order, System(2000, 700, 6.0, 5, f[0], f[1]), true, selection(true, 0.2),
                  "two groups");
}

// Atoms have types 1 to 3.
TEST(ResidentEnvironmentSimilarity, equals_the_host_for_types)
{
  const Environment type_2 = {{{0.5, 0.1, 0.0}, 2}, {{-0.5, -0.1, 0.0}, 2}};
  for (const TestedOrder &order :
       {tested("one type", {type_2}), tested("a type that no atom has", {{{{0.5, 0, 0}, 7}}}),
        tested("fcc, one vector with a type", {typed_fcc(1)}),
        tested("fcc, all vectors with a type", {typed_fcc(12)}),
        tested("all types", {random_environment(9, 7, 3), random_environment(12, 8, 3)}),
        tested("some", {random_environment(9, 9, 1), fcc(), type_2})})
    for (const bool two : {false, true})
      check_order(order, System(2000, 700, 6.0, 37, two ? 0.6 : 1.0, two ? 0.6 : 0.0), two,
                  selection(two, 0.2), two ? "types, two groups" : "types");
}

TEST(ResidentEnvironmentSimilarity, equals_the_host_after_moves_within_the_skin)
{
  for (const TestedOrder &order : all_orders()) check_moves(order);
}

TEST(ResidentEnvironmentSimilarity, equals_the_host_from_host_arrays_of_one_version)
{
  for (const TestedOrder &order : all_orders()) check_versions(order);
}

TEST(ResidentEnvironmentSimilarity, equals_the_host_with_communication)
{
  for (const TestedOrder &order : all_orders()) check_communication(order);
}

// Sums have a fixed order.
TEST(ResidentEnvironmentSimilarity, has_the_same_bits_in_each_evaluation)
{
  const System s(20000, 5000, 4.0, 3);
  const Loaded loaded(s, false);
  const auto owner = owners_of(s);
  const OnGpu<int> owner_on_gpu(owner);
  constexpr unsigned want = DERIVATIVES | VIRIAL | ATOM_VIRIAL;
  for (const auto &environments :
       {std::vector<Environment>{fcc()}, {fcc(), random_environment(6, 1)}})
    for (const Precision precision : ORDER_PRECISIONS) {
      OrderOnDevice device(tested("bits", environments), precision);
      device.exchange.owner = owner_on_gpu.data();
      device.rebuild(loaded.atoms, selection(false, 0.2));
      const auto evaluate = [&] {
        device.evaluate(loaded.atoms, {want});
        const Totals totals = device.result();
        std::vector<double> numbers(10 * static_cast<std::size_t>(s.nlocal), 0.0);
        device.order->peratom(numbers.data(), nullptr);
        numbers.push_back(totals.value);
        numbers.insert(numbers.end(), totals.virial, totals.virial + 6);
        return numbers;
      };
      const auto first = evaluate();
      EXPECT_EQ(evaluate(), first);
    }
}

TEST(ResidentEnvironmentSimilarity, reports_a_position_that_is_not_finite)
{
  System s(100, 0, 6.0, 4);
  OrderOnDevice device(tested("fcc", {fcc()}), Precision::MIXED);
  {
    const Loaded loaded(s, false);
    device.rebuild(loaded.atoms, selection(false, 0.2));
  }
  s.x[3 * 17 + 1] = std::numeric_limits<double>::quiet_NaN();
  const Loaded loaded(s, false);
  device.order->read_positions(loaded.atoms, 0, nullptr);
  EXPECT_EQ(device.order->result(nullptr).bad_atom, 17);
}

TEST(ResidentEnvironmentSimilarity, throws_for_bad_options_and_missing_types)
{
  EnvironmentOptions options;
  EXPECT_THROW(make_resident_order(options, Precision::MIXED), OptionError);
  EXPECT_THROW(make_cuda_order(options, Precision::MIXED, 0, 1), OptionError);
  options.environments = {{{{0.5, 0.0, 0.0}, 2}}};
  options.sigma = 0.1;
  const System s(100, 0, 6.0, 4);
  Loaded loaded(s, false);
  loaded.atoms.type = nullptr;
  const auto order = make_resident_order(options, Precision::MIXED);
  EXPECT_THROW(order->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr),
               std::invalid_argument);
}
