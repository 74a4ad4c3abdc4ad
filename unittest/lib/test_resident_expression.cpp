// Part of GPUCOORD, GPL-2.0. Expressions on the GPU, compared with those on the host, which
// test_expression.cpp compares with closed forms and differences.

#include "gpucoord/expression.h"
#include "gpucoord/resident_expression.h"

#include "../../lib/gpucoord/src/pairs/points.h"
#include "gpu_tests.h"
#include "on_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;
constexpr double EPS = std::numeric_limits<double>::epsilon();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

// An expression on the GPU, with values of variables that the test sets.
class OnDevice {
 public:
  OnDevice(const std::string &text, const Names &names, Period period = {}) :
      n(static_cast<int>(names.size())), expression(make_resident_expression(text, names, period)),
      sums(Numbers(names.size())),
      statuses(std::vector<DeviceStatus>(names.size(), {DeviceStatus::NONE, 0})), factor({1.0})
  {
  }

  // S and dS/dS_k times the factor.
  Numbers evaluate(const Numbers &numbers, double times = 1.0)
  {
    Numbers halves = numbers;
    for (double &number : halves) number /= 2;
    sums.set(halves);
    factor.set({times});
    std::vector<DeviceValue> values;
    for (int k = 0; k < n; ++k) values.push_back({sums.data() + k, 2.0, statuses.data() + k});
    return evaluate(values);
  }
  Numbers evaluate(const std::vector<DeviceValue> &values)
  {
    expression->evaluate(values, nullptr);
    expression->multiply({1.0, factor.data()}, nullptr);
    Numbers found = {read(expression->device_value().sum)};
    for (int k = 0; k < n; ++k) found.push_back(read(expression->product(k)));
    return found;
  }
  DeviceStatus status() const { return read(expression->device_value().status); }

  template <class T> static T read(const T *from)
  {
    T to;
    cudaMemcpy(&to, from, sizeof(T), cudaMemcpyDeviceToHost);
    return to;
  }

  const int n;
  std::unique_ptr<ResidentExpression> expression;
  OnGpu<double> sums;
  OnGpu<DeviceStatus> statuses;
  OnGpu<double> factor;
};

Numbers on_host(const std::string &text, const Names &names, const Numbers &numbers)
{
  Expression expression(text, names);
  Numbers found(names.size() + 1);
  found[0] = expression.evaluate(numbers.data(), &found[1]);
  return found;
}

void expect_near(const Numbers &found, const Numbers &expected, const std::string &what)
{
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_NEAR(found[k], expected[k], 100 * EPS * std::max(1.0, std::abs(expected[k])))
        << what << ", " << (k ? "derivative " + std::to_string(k - 1) : "value");
}

Names names_of(int n)
{
  Names names;
  for (int k = 0; k < n; ++k) names.push_back("s" + std::to_string(k));
  return names;
}

}    // namespace

TEST(ResidentExpression, equals_the_host)
{
  std::mt19937 random(4711);
  std::uniform_real_distribution<double> between(0.3, 2.2);
  for (const char *const text :
       {"a - b + 0*c", "x^2*y/z; x = a; y = b; z = c", "exp(-a)*log(b) + sqrt(c)",
        "tanh(a*b) + atan2(a, c)", "erf(a - b)*cosh(c/3) - erfc(a)*sinh(b)",
        "select(step(a - b), a^c, b^c)", "(1 - a^6)/(1 - b^12) + c^-3 + a^0.5",
        "log(exp(a) + exp(b) + exp(c))", "max(a, b) - min(b, c) + abs(a - c)",
        "floor(3*a) + ceil(2*b) + delta(c)", "sin(a)*cos(b)*tan(c/2) + sec(a/3)*csc(b)*cot(c)",
        "asin(a/3)*acos(b/3) + atan(c) + 1/square(a) + cube(b) - recip(c)"}) {
    OnDevice device(text, {"a", "b", "c"});
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Numbers at = {between(random), between(random), between(random)};
      expect_near(device.evaluate(at), on_host(text, {"a", "b", "c"}, at), text);
    }
  }
}

TEST(ResidentExpression, takes_each_number_of_variables_up_to_the_limit)
{
  for (int n = 1; n <= ResidentExpression::MAX_VARIABLES; ++n) {
    const Names names = names_of(n);
    std::string text = "0.5";
    Numbers at;
    for (int k = 0; k < n; ++k) {
      text += " + " + std::to_string(k + 1) + "*" + names[k] + "^2*" + names[n - 1 - k];
      at.push_back(1.0 + 0.1 * k);
    }
    expect_near(OnDevice(text, names).evaluate(at), on_host(text, names, at), text);
  }
}

TEST(ResidentExpression, multiplies_by_the_factor)
{
  OnDevice device("a^2 + 3*b", {"a", "b"});
  EXPECT_EQ(device.evaluate({5.0, 7.0}, -0.5), (Numbers{46.0, -5.0, -1.5}));
  EXPECT_EQ(device.evaluate({5.0, 7.0}, 2.0), (Numbers{46.0, 20.0, 6.0}));
}

// S is mapped into its period, and its derivatives are those of the expression.
TEST(ResidentExpression, maps_S_into_its_period)
{
  for (const Period period : {Period{-0.5, 2.0}, Period{0.0, 0.25}, Period{-3.0, 1e3}})
    for (const double at : {-7.3, -0.5, 0.1, 1.4, 1.6, 40.0}) {
      Numbers expected = on_host("3*a + b", {"a", "b"}, {at, 0.25});
      expected[0] = period.wrapped(expected[0]);
      expect_near(OnDevice("3*a + b", {"a", "b"}, period).evaluate({at, 0.25}), expected,
                  "at " + std::to_string(at));
    }
  EXPECT_TRUE(std::isnan(OnDevice("log(a)", {"a"}, {0.0, 1.0}).evaluate({-1.0})[0]));
}

TEST(ResidentExpression, can_be_a_variable_of_another_one)
{
  OnDevice inner("a*b", {"a", "b"}), outer("u^2", {"u"});
  inner.evaluate({3.0, 5.0});
  EXPECT_EQ(outer.evaluate({inner.expression->device_value()}), (Numbers{225.0, 30.0}));
  inner.expression->multiply({1.0, outer.expression->product(0)}, nullptr);
  EXPECT_EQ(OnDevice::read(inner.expression->product(0)), 150.0);    // 2 a b^2
  EXPECT_EQ(OnDevice::read(inner.expression->product(1)), 90.0);
}

TEST(ResidentExpression, takes_a_variable_without_atoms_for_zero)
{
  OnDevice device("a + b", {"a", "b"});
  device.sums.set({2.5, 0.0});
  EXPECT_EQ(device.evaluate({{device.sums.data(), 1.0, device.statuses.data()},
                             {nullptr, 1.0, device.statuses.data()}}),
            (Numbers{2.5, 1.0, 1.0}));
}

// A bias that has stopped has the factor 0.
TEST(ResidentExpression, is_no_number_where_it_or_a_derivative_is_not_finite)
{
  OnDevice device("sqrt(a)/b", {"a", "b"});
  for (const Numbers &at :
       {Numbers{-1.0, 1.0}, Numbers{0.0, 1.0}, Numbers{1.0, 0.0}, Numbers{1.0, NOT_A_NUMBER}}) {
    const Numbers found = device.evaluate(at, 0.0);
    EXPECT_TRUE(std::isnan(found[0])) << at[0] << " " << at[1];
    EXPECT_EQ(found[1], 0.0) << at[0] << " " << at[1];
    EXPECT_EQ(found[2], 0.0) << at[0] << " " << at[1];
  }
  EXPECT_EQ(device.evaluate({4.0, 1.0}), (Numbers{2.0, 0.25, -2.0}));
  // fmin() ignores a NaN argument.
  OnDevice smaller("min(a, b)", {"a", "b"}), fraction("1/(1 + a)", {"a"});
  EXPECT_TRUE(std::isnan(smaller.evaluate({NOT_A_NUMBER, 1.0})[0]));
  EXPECT_TRUE(std::isnan(fraction.evaluate(Numbers{std::numeric_limits<double>::infinity()})[0]));
}

TEST(ResidentExpression, has_the_errors_of_its_variables)
{
  OnDevice device("a + b", {"a", "b"});
  const auto status_with = [&](DeviceStatus a, DeviceStatus b) {
    device.statuses.set({a, b});
    device.evaluate({1.0, 2.0});
    return device.status();
  };
  const DeviceStatus good = {DeviceStatus::NONE, 0}, moved = {DeviceStatus::NONE, 1}, bad = {7, 0};
  EXPECT_EQ(status_with(good, good).bad_atom, DeviceStatus::NONE);
  EXPECT_EQ(status_with(good, good).moved, 0);
  EXPECT_EQ(status_with(good, bad).bad_atom, 7);
  EXPECT_EQ(status_with(bad, moved).bad_atom, 7);
  EXPECT_EQ(status_with(bad, moved).moved, 1);
  EXPECT_EQ(status_with(moved, good).moved, 1);
}

TEST(ResidentExpression, says_what_is_too_large)
{
  const auto message = [](const std::string &text, const Names &names) {
    try {
      make_resident_expression(text, names);
    } catch (const std::length_error &error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const Names many = names_of(ResidentExpression::MAX_VARIABLES + 1);
  std::string sum = "0", deep = "a";
  for (const auto &name : many) sum += "+" + name;
  EXPECT_EQ(message(sum, many),
            "has 32 variables, but the GPU supports at most 31 - split it into several");
  for (int k = 0; k < 40; ++k) deep = "exp(a*" + std::to_string(k + 2) + ") - (" + deep + ")*a^1.5";
  EXPECT_EQ(
      message(deep, {"a"}),
      "or its derivative needs a stack of 41 numbers, and the GPU has 32 - nest it less deeply");
}
