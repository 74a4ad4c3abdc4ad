// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value, compared with their definitions in long
// double, and their derivatives compared with differences.

#include "closed_forms.h"
#include "switch_cases.h"

#include "gpucoord/atom_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

using gpucoord::AtomFunction;
using gpucoord::AtomFunctionError;
using gpucoord::AtomFunctionInfo;
using gpucoord::AtomFunctionKind;
using gpucoord::AtomFunctionOptions;
using gpucoord::Switch;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;

namespace {

using Real = long double;
using Numbers = std::vector<double>;

struct Values {
  AtomFunction::Result result;
  Numbers f, dSds;
};

void alone(double *, int, AtomFunction::Reduction) {}

Values evaluate(const AtomFunctionOptions &options, const Numbers &s,
                const AtomFunction::Reduce &reduce = alone, int nthreads = 1)
{
  AtomFunction function(options);
  Values v;
  v.f.assign(s.size() + 1, -1.0);
  v.dSds.assign(s.size() + 1, -1.0);
  v.result = function.evaluate(static_cast<std::int64_t>(s.size()), s.data(), v.f.data(),
                               v.dSds.data(), reduce, nthreads);
  return v;
}

AtomFunctionOptions with_sigma(AtomFunctionKind kind, const SwitchOptions &sigma)
{
  AtomFunctionOptions o;
  o.kind = kind;
  o.sigma = sigma;
  return o;
}

AtomFunctionOptions with_beta(AtomFunctionKind kind, double beta)
{
  AtomFunctionOptions o;
  o.kind = kind;
  o.beta = beta;
  return o;
}

AtomFunctionOptions between(double a, double b, double smear)
{
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::BETWEEN;
  o.a = a;
  o.b = b;
  o.smear = smear;
  return o;
}

AtomFunctionOptions moment(int order)
{
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::MOMENT;
  o.order = order;
  return o;
}

AtomFunctionOptions custom_of(const std::string &text)
{
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::CUSTOM;
  o.expression = text;
  return o;
}

Numbers coordination_numbers(int n, double minimum, double maximum, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(minimum, maximum);
  Numbers s;
  for (int k = 0; k < n; ++k) s.push_back(u(random));
  return s;
}

// Checks f(s) against its definition, for functions whose S is a sum.
void check_sum(const AtomFunctionOptions &options, const Numbers &s,
               const std::function<Real(Real)> &f, const std::string &what)
{
  const Values v = evaluate(options, s);
  Real sum = 0;
  for (std::size_t k = 0; k < s.size(); ++k) {
    sum += f(s[k]);
    EXPECT_NEAR(v.f[k], static_cast<double>(f(s[k])), 1e-14) << what << ": f(" << s[k] << ")";
    const Real h = 1e-6L * std::max<Real>(1, fabsl(s[k]));
    EXPECT_NEAR(v.dSds[k], static_cast<double>((f(s[k] + h) - f(s[k] - h)) / (2 * h)), 1e-8)
        << what << ": f'(" << s[k] << ")";
  }
  EXPECT_NEAR(v.result.value, static_cast<double>(sum), 1e-13 * s.size()) << what;
  EXPECT_EQ(v.result.bad, -1) << what;
  EXPECT_EQ(v.f.back(), -1.0) << "written beyond the end";
}

TEST(AtomFunction, more_than_and_less_than_equal_the_switching_function_without_an_end)
{
  for (SwitchOptions sigma : {rational(6, 12, 5.0), rational(12, 24, 6.0, 1.0), rational(4, 9, 3.0),
                              plain(SwitchKind::EXP, 2.0, 1.0, SwitchOptions::NOT_GIVEN),
                              plain(SwitchKind::GAUSSIAN, 3.0, 0.0, SwitchOptions::NOT_GIVEN),
                              plain(SwitchKind::TANH, 3.0, 0.0, SwitchOptions::NOT_GIVEN),
                              plain(SwitchKind::CUBIC, SwitchOptions::NOT_GIVEN, 2.0, 9.0),
                              rational(6, 12, 5.0, 0.0, 11.0)}) {
    SwitchOptions formula = sigma;
    if (std::isnan(formula.dmax)) formula.dmax = INF;
    if (std::isnan(formula.m)) formula.m = 2 * formula.n;
    if (sigma.kind == SwitchKind::CUBIC) formula.r0 = formula.dmax - formula.d0;
    const closed::Function<Real> closed(formula);
    const auto value = [&](Real s) {
      return s <= formula.d0 ? Real(1) : s > formula.dmax ? Real(0) : closed(s).s;
    };
    Numbers s = coordination_numbers(300, 0.02, 14.0, 3);
    s.erase(std::remove_if(s.begin(), s.end(),
                           [&](double x) {    // the differences cross an end there
                             return std::fabs(x - formula.dmax) < 0.01 ||
                                 std::fabs(x - formula.d0) < 0.01;
                           }),
            s.end());
    check_sum(with_sigma(AtomFunctionKind::LESS_THAN, sigma), s, value, "less_than");
    check_sum(
        with_sigma(AtomFunctionKind::MORE_THAN, sigma), s,
        [&](Real x) {
          return 1 - value(x);
        },
        "more_than");
  }
}

TEST(AtomFunction, less_than_is_1_at_and_below_d0)
{
  const Values v = evaluate(with_sigma(AtomFunctionKind::LESS_THAN, rational(6, 12, 1.0, 0.5)),
                            {-3.0, -0.1, 0.0, 0.5});
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(v.f[k], 1.0);
    EXPECT_EQ(v.dSds[k], 0.0);
  }
}

TEST(AtomFunction, between_equals_its_definition)
{
  for (const double smear : {0.1, 0.5, 2.0})
    check_sum(
        between(3.0, 5.5, smear), coordination_numbers(300, -2.0, 12.0, 4),
        [&](Real s) {
          const Real w = sqrtl(2) * smear * 2.5L;
          return 0.5L * (erfl((5.5L - s) / w) - erfl((3 - s) / w));
        },
        "between");
}

TEST(AtomFunction, between_keeps_its_digits_in_the_tails)
{
  for (const double s : {-20.0, 30.0}) {
    const Values v = evaluate(between(3.0, 5.0, 0.5), {s});
    const Real w = sqrtl(2),
               exact = s < 0 ? 0.5L * (erfcl((3 - s) / w) - erfcl((5 - s) / w))
                             : 0.5L * (erfcl((s - 5) / w) - erfcl((s - 3) / w));
    EXPECT_GT(v.f[0], 0.0);
    EXPECT_NEAR(v.f[0] / static_cast<double>(exact), 1.0, 1e-12);
  }
}

TEST(AtomFunction, histogram_has_the_numbers_between_its_bounds)
{
  AtomFunctionOptions options = between(1.0, 9.0, 0.3);
  options.kind = AtomFunctionKind::HISTOGRAM;
  options.nbins = 16;
  const Numbers s = coordination_numbers(3000, 0.0, 10.0, 11);
  Numbers one(16, 1.0), four(16, 1.0);    // add_histogram() adds to existing numbers
  AtomFunction(options).add_histogram(3000, s.data(), one.data(), 1);
  AtomFunction(options).add_histogram(3000, s.data(), four.data(), 4);
  EXPECT_EQ(one, four);
  for (int bin = 0; bin < 16; ++bin) {
    Real sum = 1;
    for (const double x : s) {
      const Real w = sqrtl(2) * 0.3L * 0.5L;
      sum += 0.5L * (erfl((1.5L + 0.5L * bin - x) / w) - erfl((1 + 0.5L * bin - x) / w));
    }
    EXPECT_NEAR(one[bin], static_cast<double>(sum), 1e-11);
  }
  const Values v = evaluate(options, s);    // S is the sum
  EXPECT_EQ(v.f[7], s[7]);
  EXPECT_EQ(v.dSds[7], 1.0);
}

TEST(AtomFunction, sum_and_custom_equal_their_definitions)
{
  const Numbers s = coordination_numbers(300, 0.0, 12.0, 5);
  check_sum(
      AtomFunctionOptions(), s,
      [](Real x) {
        return x;
      },
      "sum");
  check_sum(
      custom_of("exp(-(s-6)^2/4)*s"), s,
      [](Real x) {
        return expl(-(x - 6) * (x - 6) / 4) * x;
      },
      "custom");
}

// Checks S and its derivatives for functions of all numbers together.
void check_whole(const AtomFunctionOptions &options, const Numbers &s,
                 const std::function<Real(const std::vector<Real> &)> &exact,
                 const std::string &what)
{
  const Values v = evaluate(options, s);
  std::vector<Real> x(s.begin(), s.end());
  const Real value = exact(x);
  EXPECT_NEAR(v.result.value, static_cast<double>(value), 1e-13 * (1 + fabsl(value))) << what;
  for (std::size_t k = 0; k < s.size(); ++k) {
    const Real h = 1e-5L;
    x[k] = s[k] + h;
    const Real above = exact(x);
    x[k] = s[k] - h;
    const Real below = exact(x);
    x[k] = s[k];
    EXPECT_NEAR(v.dSds[k], static_cast<double>((above - below) / (2 * h)),
                2e-9 * (1 + fabsl(value)))
        << what << ": dS/ds of " << s[k];
  }
}

TEST(AtomFunction, min_max_alt_min_and_moments_equal_their_definitions)
{
  const Numbers s = coordination_numbers(60, 0.5, 9.0, 6);
  for (const double beta : {0.1, 1.0, 20.0}) {
    check_whole(
        with_beta(AtomFunctionKind::MIN, beta), s,
        [&](const std::vector<Real> &x) {
          Real sum = 0;
          for (const Real one : x) sum += expl(beta / one);
          return beta / logl(sum);
        },
        "min");
    check_whole(
        with_beta(AtomFunctionKind::MAX, beta), s,
        [&](const std::vector<Real> &x) {
          Real sum = 0;
          for (const Real one : x) sum += expl(one / beta);
          return beta * logl(sum);
        },
        "max");
    check_whole(
        with_beta(AtomFunctionKind::ALT_MIN, beta), s,
        [&](const std::vector<Real> &x) {
          Real sum = 0;
          for (const Real one : x) sum += expl(-beta * one);
          return -logl(sum) / beta;
        },
        "alt_min");
  }
  for (const int order : {2, 3, 4, 7})
    check_whole(
        moment(order), s,
        [&](const std::vector<Real> &x) {
          Real mean = 0, sum = 0;
          for (const Real one : x) mean += one / x.size();
          for (const Real one : x) sum += powl(one - mean, order);
          return sum / x.size();
        },
        "moment " + std::to_string(order));
}

TEST(AtomFunction, exponents_do_not_overflow)
{
  const Numbers s = {1e4, 0.0, 12.0, 1e-3, 1e4};
  const Values highest = evaluate(with_beta(AtomFunctionKind::MAX, 0.01), s);
  EXPECT_NEAR(highest.result.value, 1e4 + 0.01 * std::log(2.0), 1e-11);
  EXPECT_NEAR(highest.dSds[0], 0.5, 1e-15);
  EXPECT_EQ(highest.dSds[2], 0.0);
  EXPECT_EQ(highest.result.bad, -1);
  const Values lowest = evaluate(with_beta(AtomFunctionKind::MIN, 500.0), {1e-3, 12.0, 1e4});
  EXPECT_NEAR(lowest.result.value, 1e-3, 1e-15);
  EXPECT_NEAR(lowest.dSds[0], 1.0, 1e-12);
  EXPECT_EQ(lowest.result.bad, -1);
  const Values other = evaluate(with_beta(AtomFunctionKind::ALT_MIN, 500.0), s);
  EXPECT_NEAR(other.result.value, 0.0, 1e-2);
  EXPECT_EQ(other.result.bad, -1);
  const Values tanh =
      evaluate(with_sigma(AtomFunctionKind::MORE_THAN,
                          plain(SwitchKind::TANH, 1.0, 0.0, SwitchOptions::NOT_GIVEN)),
               {1e4});
  EXPECT_EQ(tanh.f[0], 1.0);
  EXPECT_NEAR(tanh.dSds[0], 0.0, 1e-300);
}

TEST(AtomFunction, min_is_0_with_no_derivatives_where_an_atom_has_no_partner)
{
  for (const double lowest : {0.0, -1e-7}) {    // s that rounding makes slightly negative
    const Values v = evaluate(with_beta(AtomFunctionKind::MIN, 2.0), {3.0, lowest, 1.0});
    EXPECT_EQ(v.result.value, 0.0);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(v.dSds[k], 0.0);
    EXPECT_EQ(v.result.bad, -1);
  }
}

// Atoms on the x axis, s_i = 3 + x_i^2, and the weight of atom i is a Gaussian of x_i.
TEST(AtomFunction, weights_are_factors_of_the_sum_and_add_their_gradients)
{
  const std::vector<double> x = {-0.9, -0.1, 0.0, 0.4, 1.3};
  const auto n = static_cast<std::int64_t>(x.size());
  AtomFunction function(between(2.5, 4.0, 0.5));
  std::vector<double> f(x.size()), dSds(x.size());
  const auto value = [&](const std::vector<double> &at, Numbers *w_out, Numbers *gradient) {
    Numbers s, w, g;
    for (const double xi : at) {
      s.push_back(3.0 + xi * xi);
      w.push_back(std::exp(-xi * xi));
      g.insert(g.end(), {-2.0 * xi * w.back(), 0.25, 0.0});
    }
    const auto result =
        function.evaluate(n, s.data(), f.data(), dSds.data(), alone, 2, {w.data(), g.data()});
    EXPECT_EQ(result.bad, -1);
    if (w_out) *w_out = w;
    if (gradient) *gradient = g;
    return result.value;
  };
  Numbers w, gradient;
  const double all = value(x, &w, &gradient);
  const auto plain = evaluate(between(2.5, 4.0, 0.5), {3.81, 3.01, 3.0, 3.16, 4.69});
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum += w[k] * plain.f[k];
    EXPECT_DOUBLE_EQ(f[k], plain.f[k]);
    EXPECT_DOUBLE_EQ(dSds[k], w[k] * plain.dSds[k]);
  }
  EXPECT_NEAR(all, sum, 1e-15);

  const std::vector<int> rows = {4, 3, 2, 1, 0};
  std::vector<double> peratom(4 * x.size(), 0.0);
  gpucoord::add_weight_gradients(n, rows.data(), f.data(), {w.data(), gradient.data()}, 4,
                                 peratom.data());
  const Numbers derivatives = dSds, values = f;
  for (std::size_t k = 0; k < x.size(); ++k) {
    constexpr double H = 1e-5;
    auto high = x, low = x;
    high[k] += H;
    low[k] -= H;
    const double difference = (value(high, nullptr, nullptr) - value(low, nullptr, nullptr)) / 2;
    EXPECT_NEAR(derivatives[k] * 2.0 * x[k] + peratom[4 * (4 - k) + 1], difference / H, 1e-9);
    EXPECT_EQ(peratom[4 * (4 - k) + 2], 0.25 * values[k]);
    EXPECT_EQ(peratom[4 * (4 - k)], 0.0);
  }

  AtomFunction largest(with_beta(AtomFunctionKind::MAX, 1.0));
  EXPECT_THROW(largest.evaluate(n, x.data(), f.data(), dSds.data(), alone, 1, {w.data()}),
               std::invalid_argument);
  EXPECT_THROW(
      function.evaluate(n, x.data(), f.data(), dSds.data(), alone, 1, {nullptr, gradient.data()}),
      std::invalid_argument);
}

TEST(AtomFunction, no_atoms_give_0)
{
  for (const auto &options :
       {AtomFunctionOptions(), moment(2), with_beta(AtomFunctionKind::MIN, 1.0),
        with_beta(AtomFunctionKind::MAX, 1.0), with_beta(AtomFunctionKind::ALT_MIN, 1.0),
        between(1, 2, 0.5), custom_of("s^2")})
    EXPECT_EQ(evaluate(options, {}).result.value, 0.0);
}

// Sums and largest values over two threads, which act as ranks.
class TwoRanks {
 public:
  void reduce(double *numbers, int n, AtomFunction::Reduction by)
  {
    std::unique_lock<std::mutex> lock(mutex);
    const int round = narrived / 2;
    if (narrived++ % 2 == 0) {
      first.assign(numbers, numbers + n);
      changed.wait(lock, [&] {
        return nfinished > round;
      });
    } else {
      total.clear();
      for (int k = 0; k < n; ++k)
        total.push_back(by == AtomFunction::Reduction::SUM ? first[k] + numbers[k]
                                                           : std::max(first[k], numbers[k]));
      ++nfinished;
      changed.notify_all();
    }
    std::copy(total.begin(), total.end(), numbers);
    // No thread begins the next round before both have their totals.
    if (++nleft % 2 == 1)
      changed.wait(lock, [&] {
        return nleft >= 2 * (round + 1);
      });
    else
      changed.notify_all();
  }

 private:
  std::mutex mutex;
  std::condition_variable changed;
  int narrived = 0, nfinished = 0, nleft = 0;
  Numbers first, total;
};

TEST(AtomFunction, ranks_agree_with_one_rank)
{
  const Numbers all = coordination_numbers(50, 0.5, 9.0, 7);
  for (const std::size_t nfirst : {0, 1, 20})
    for (const auto &options : {moment(2), moment(3), with_beta(AtomFunctionKind::MIN, 1.0),
                                with_beta(AtomFunctionKind::MAX, 1.0),
                                with_beta(AtomFunctionKind::ALT_MIN, 1.0), between(1, 2, 0.5)}) {
      const Values one = evaluate(options, all);
      TwoRanks ranks;
      const auto reduce = [&](double *numbers, int n, AtomFunction::Reduction by) {
        ranks.reduce(numbers, n, by);
      };
      Values parts[2];
      std::thread other([&] {
        parts[0] = evaluate(options, Numbers(all.begin(), all.begin() + nfirst), reduce);
      });
      parts[1] = evaluate(options, Numbers(all.begin() + nfirst, all.end()), reduce);
      other.join();
      const bool is_sum = AtomFunction(options).is_sum();
      const double value = is_sum ? parts[0].result.value + parts[1].result.value
                                  : parts[0].result.value;
      EXPECT_NEAR(value, one.result.value, 1e-13 * (1 + std::fabs(value)));
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Values &part = parts[k < nfirst ? 0 : 1];
        const std::size_t index = k < nfirst ? k : k - nfirst;
        EXPECT_NEAR(part.dSds[index], one.dSds[k], 1e-13);
        EXPECT_NEAR(part.f[index], one.f[k], 1e-12 * (1 + std::fabs(one.f[k])));
      }
    }
}

TEST(AtomFunction, bits_do_not_depend_on_the_number_of_threads)
{
  const Numbers s = coordination_numbers(20000, 0.5, 9.0, 8);
  for (const auto &options :
       {moment(3), with_beta(AtomFunctionKind::MAX, 1.0),
        with_sigma(AtomFunctionKind::MORE_THAN, rational(6, 12, 5.0)), custom_of("s^2/(1+s)")}) {
    const Values one = evaluate(options, s), four = evaluate(options, s, alone, 4);
    EXPECT_EQ(one.result.value, four.result.value);
    EXPECT_EQ(one.dSds, four.dSds);
    EXPECT_EQ(one.f, four.f);
  }
}

TEST(AtomFunction, names_the_first_atom_whose_value_is_not_finite)
{
  EXPECT_EQ(evaluate(custom_of("log(s)"), {1.0, 2.0, 0.0, 3.0, 0.0}).result.bad, 2);
  EXPECT_EQ(evaluate(custom_of("sqrt(s)"), {0.0}).result.bad, 0);    // infinite derivative
  EXPECT_EQ(evaluate(moment(9), {1e200, 0.0}).result.bad, 0);
}

void expect_error(const AtomFunctionOptions &options, const std::string &field,
                  const std::string &message)
{
  try {
    AtomFunction function(options);
    FAIL() << "no error: " << message;
  } catch (const AtomFunctionError &e) {
    EXPECT_EQ(e.field, field);
    EXPECT_EQ(std::string(e.what()), message);
  }
}

TEST(AtomFunction, errors_name_the_value_and_the_limit)
{
  expect_error(with_beta(AtomFunctionKind::MIN, 0.0), "beta",
               "beta is 0 but must be > 0 and finite");
  expect_error(with_beta(AtomFunctionKind::MAX, -2.0), "beta",
               "beta is -2 but must be > 0 and finite");
  expect_error(with_beta(AtomFunctionKind::ALT_MIN, INF), "beta",
               "beta is inf but must be > 0 and finite");
  expect_error(with_beta(AtomFunctionKind::MIN, SwitchOptions::NOT_GIVEN), "beta",
               "beta is required: give a number > 0");
  expect_error(between(5.0, 3.0, 0.5), "b",
               "the upper bound is 3 but must be above the lower bound 5");
  expect_error(between(5.0, INF, 0.5), "b", "a bound is inf but must be a finite number");
  expect_error(between(-INF, 3.0, 0.5), "a", "a bound is -inf but must be a finite number");
  expect_error(between(3.0, 5.0, 0.0), "smear", "smear is 0 but must be > 0 and finite");
  for (const int order : {1, 101})
    expect_error(moment(order), "order",
                 "the order is " + std::to_string(order) +
                     " but must be 2 to 100: the first moment is always 0");
  expect_error(with_sigma(AtomFunctionKind::MORE_THAN, rational(6, 12, -1.0)), "r0",
               "r0 is -1 but must be > 0 and finite");
  AtomFunctionOptions bins = between(0.0, 12.0, 0.5);
  bins.kind = AtomFunctionKind::HISTOGRAM;
  bins.nbins = 10001;
  expect_error(bins, "nbins", "the number of bins is 10001 but must be 1 to 10000");
  expect_error(custom_of("s+t"), "expression",
               "the expression 's+t' has the unknown name t at character 3 - known are s");
  expect_error(custom_of("3"), "expression",
               "the expression '3' does not depend on s - write it in s");
}

// Without dmax, this function must be an error, not an infinite range.
TEST(AtomFunction, functions_that_require_dmax_still_do)
{
  EXPECT_THROW(AtomFunction(with_sigma(AtomFunctionKind::MORE_THAN,
                                       plain(SwitchKind::CUBIC, SwitchOptions::NOT_GIVEN, 1.0,
                                             SwitchOptions::NOT_GIVEN))),
               AtomFunctionError);
}

TEST(AtomFunction, every_function_of_the_list_has_a_name_and_distinct_arguments)
{
  std::set<std::string> names;
  int index = 0;
  for (const AtomFunctionInfo &info : AtomFunctionInfo::all()) {
    EXPECT_EQ(static_cast<int>(info.kind), index++);
    EXPECT_EQ(&AtomFunctionInfo::get(info.kind), &info);
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " twice";
    std::set<std::string> fields;
    for (const auto &parameter : info.parameters) {
      const int nvalues = (parameter.value != nullptr) + (parameter.integer != nullptr) +
          (parameter.text != nullptr);
      EXPECT_EQ(nvalues, 1) << info.name << " " << parameter.name;
      EXPECT_TRUE(fields.insert(parameter.field).second) << info.name << " " << parameter.name;
    }
  }
}

TEST(AtomFunction, descriptions_have_the_numbers)
{
  EXPECT_EQ(AtomFunction(between(3.0, 5.5, 0.5)).description(), "between 3 and 5.5 smear 0.5");
  EXPECT_EQ(AtomFunction(moment(3)).description(), "moment 3");
  EXPECT_EQ(AtomFunction(with_beta(AtomFunctionKind::MIN, 2.0)).description(), "min beta 2");
  EXPECT_EQ(AtomFunction(custom_of("s^2")).description(), "custom s^2");
  EXPECT_EQ(AtomFunction(AtomFunctionOptions()).description(), "sum");
  const auto sigma = with_sigma(AtomFunctionKind::MORE_THAN, rational(6, 12, 5.0));
  SwitchOptions endless = rational(6, 12, 5.0);
  endless.dmax = INF;
  EXPECT_EQ(AtomFunction(sigma).description(), "more_than " + Switch(endless).description());
}

}    // namespace
