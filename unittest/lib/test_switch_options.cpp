// Part of GPUCOORD, GPL-2.0. Options of switching functions: accepted values, defaults and behavior
// at d0 and dmax.

#include "closed_forms.h"
#include "switch_cases.h"

#include "gpucoord/switching.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using gpucoord::Precision;
using gpucoord::Switch;
using gpucoord::SwitchError;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;

namespace {

constexpr double EPS = std::numeric_limits<double>::epsilon();
constexpr double EPS_FLOAT = std::numeric_limits<float>::epsilon();
constexpr double NONE = SwitchOptions::NOT_GIVEN;

SwitchOptions expression(const std::string &text, double dmax = INF)
{
  SwitchOptions o = plain(SwitchKind::CUSTOM, 1.5, 0.0, dmax);
  o.expression = text;
  return o;
}

// ---- rejected options

struct BadOption {
  std::string name;
  SwitchOptions options;
  std::string field;
  std::vector<std::string> text;    // the message contains all of these
};

void PrintTo(const BadOption &bad, std::ostream *out)
{
  *out << bad.name;
}

class BadOptions : public testing::TestWithParam<BadOption> {};

TEST_P(BadOptions, is_refused_with_the_field_and_the_value)
{
  const BadOption &bad = GetParam();
  try {
    const Switch function(bad.options);
    FAIL() << "accepted as " << function.description();
  } catch (const SwitchError &error) {
    EXPECT_EQ(error.field, bad.field) << error.what();
    for (const auto &part : bad.text)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
  }
}

std::vector<BadOption> bad_options()
{
  const SwitchOptions good = rational(6, 12, 1.5, 0.0, 4.0);
  std::vector<BadOption> list;
  const auto change = [&](const std::string &name, const SwitchOptions &from,
                          const std::function<void(SwitchOptions &)> &edit,
                          const std::string &field, const std::vector<std::string> &text) {
    SwitchOptions o = from;
    edit(o);
    list.push_back({name, o, field, text});
  };
  for (const auto kind :
       {SwitchKind::RATIONAL, SwitchKind::EXP, SwitchKind::GAUSSIAN, SwitchKind::SMAP,
        SwitchKind::TANH, SwitchKind::COSINUS, SwitchKind::CUSTOM}) {
    SwitchOptions o = plain(kind, NONE, 0.0, 4.0);
    o.a = o.b = 3.0;
    o.expression = "exp(-x)";
    const std::string name = "kind_" + std::to_string(static_cast<int>(kind));
    list.push_back({name + "_without_r0", o, "r0", {"required"}});
    o.r0 = 0.0;
    list.push_back({name + "_r0_zero", o, "r0", {"r0 is 0", "> 0"}});
    o.r0 = -1.5;
    list.push_back({name + "_r0_negative", o, "r0", {"r0 is -1.5", "> 0"}});
    o.r0 = INF;
    list.push_back({name + "_r0_infinite", o, "r0", {"inf", "finite"}});
    for (const double r0 : {0.99e-18, 1.01e18}) {
      o.r0 = r0;
      list.push_back({name + (r0 < 1.0 ? "_r0_small" : "_r0_large"),
                      o,
                      "r0",
                      {"the width r0 is " + std::string(r0 < 1.0 ? "9.9e-19" : "1.01e+18") +
                       " but must be from 1e-18 to 1e+18, whose squares single precision holds"}});
    }
  }
  change("d0_negative", good,
         [](auto &o) {
           o.d0 = -0.25;
         },
         "d0", {"-0.25", ">= 0"});
  change("d0_infinite", good,
         [](auto &o) {
           o.d0 = INF;
         },
         "d0", {"inf", "finite"});
  change("d0_not_a_number", good,
         [](auto &o) {
           o.d0 = NONE;
         },
         "d0", {"nan"});
  change("dmax_equals_d0", good,
         [](auto &o) {
           o.d0 = o.dmax = 2.5;
         },
         "dmax", {"dmax is 2.5", "d0 = 2.5"});
  change("dmax_below_d0", good,
         [](auto &o) {
           o.d0 = 5.0;
         },
         "dmax", {"dmax is 4", "d0 = 5"});
  change("dmax_zero", good,
         [](auto &o) {
           o.dmax = 0.0;
         },
         "dmax", {"dmax is 0"});
  change("dmax_negative", good,
         [](auto &o) {
           o.dmax = -4.0;
         },
         "dmax", {"dmax is -4"});
  change("dmax_minus_infinite", good,
         [](auto &o) {
           o.dmax = -INF;
         },
         "dmax", {"-inf"});
  change("nn_zero", good,
         [](auto &o) {
           o.n = 0.0;
         },
         "n", {"nn is 0", "> 0"});
  change("nn_negative", good,
         [](auto &o) {
           o.n = -6.0;
         },
         "n", {"nn is -6", "> 0"});
  change("nn_not_a_number", good,
         [](auto &o) {
           o.n = NONE;
         },
         "n", {"nn", "required"});
  change("nn_infinite", good,
         [](auto &o) {
           o.n = INF;
         },
         "n", {"nn", "finite"});
  change("mm_equals_nn", good,
         [](auto &o) {
           o.m = 6.0;
         },
         "m", {"mm equals nn = 6", "mm > nn"});
  change("mm_below_nn", good,
         [](auto &o) {
           o.m = 5.0;
         },
         "m", {"mm is 5", "nn = 6"});
  change("mm_zero", good,
         [](auto &o) {
           o.m = 0.0;
         },
         "m", {"mm is 0", "> 0"});
  change("mm_negative", good,
         [](auto &o) {
           o.m = -12.0;
         },
         "m", {"mm is -12", "> 0"});
  change("mm_infinite", good,
         [](auto &o) {
           o.m = INF;
         },
         "m", {"mm", "finite"});
  const SwitchOptions map = smap(8, 4, 1.5, 0.0, 4.0);
  change("smap_without_a", map,
         [](auto &o) {
           o.a = NONE;
         },
         "a", {"a is required", "> 0"});
  change("smap_without_b", map,
         [](auto &o) {
           o.b = NONE;
         },
         "b", {"b is required", "> 0"});
  change("smap_a_zero", map,
         [](auto &o) {
           o.a = 0.0;
         },
         "a", {"is 0", "> 0"});
  change("smap_b_negative", map,
         [](auto &o) {
           o.b = -2.0;
         },
         "b", {"is -2", "> 0"});
  change("smap_b_infinite", map,
         [](auto &o) {
           o.b = INF;
         },
         "b", {"finite"});
  const SwitchOptions cubic = plain(SwitchKind::CUBIC, NONE, 2.9, 3.5);
  change("cubic_without_dmax", cubic,
         [](auto &o) {
           o.dmax = NONE;
         },
         "dmax", {"a finite dmax is required"});
  change("cubic_without_end", cubic,
         [](auto &o) {
           o.dmax = INF;
         },
         "dmax", {"a finite dmax is required"});
  change("cubic_dmax_below_d0", cubic,
         [](auto &o) {
           o.dmax = 2.0;
         },
         "dmax", {"dmax is 2", "d0 = 2.9"});
  const SwitchOptions q = native(5.0, 1.8, 1.4, 4.0);
  change("q_without_beta", q,
         [](auto &o) {
           o.beta = NONE;
         },
         "beta", {"beta", "required"});
  change("q_beta_zero", q,
         [](auto &o) {
           o.beta = 0.0;
         },
         "beta", {"is 0", "> 0"});
  change("q_lambda_not_a_number", q,
         [](auto &o) {
           o.lambda = NONE;
         },
         "lambda", {"lambda", "required"});
  change("q_lambda_negative", q,
         [](auto &o) {
           o.lambda = -1.8;
         },
         "lambda", {"-1.8", "> 0"});
  change("q_without_ref", q,
         [](auto &o) {
           o.ref = NONE;
         },
         "ref", {"ref", "required"});
  change("q_ref_infinite", q,
         [](auto &o) {
           o.ref = INF;
         },
         "ref", {"finite"});
  const auto custom = [&list](const std::string &name, const std::string &text, double dmax,
                              const std::string &field, const std::vector<std::string> &parts) {
    list.push_back({name, expression(text, dmax), field, parts});
  };
  custom("custom_empty", "", INF, "expression", {"an expression in x is required", "1/(1+x^6)"});
  custom("custom_broken", "1/(1+x^6", INF, "expression", {"'1/(1+x^6'", "cannot be used"});
  custom("custom_no_formula", "1 +* x", INF, "expression", {"'1 +* x'"});
  custom("custom_bad_number", "2e*x", INF, "expression", {"'2e*x' has the bad number 2e"});
  custom("custom_too_large_number", "1e400*x", INF, "expression", {"has the number 1e400"});
  custom("custom_too_long", std::string(100000, '-') + "x", INF, "expression",
         {"...' is too long: it has", " 100001 numbers, names and operations"});
  custom("custom_unknown_function", "wiggle(x)", INF, "expression", {"wiggle"});
  custom("custom_unknown_variable", "exp(-x*k)", INF, "expression", {"unknown variable 'k'"});
  custom("custom_r_instead_of_x", "exp(-r)", INF, "expression",
         {"unknown variable 'r'", "x = (r - d0)/r0"});
  // Lepton's simplification of these expressions does not terminate.
  const std::vector<std::string> not_a_number = {"0/0",
                                                 "sqrt(-1)",
                                                 "log(-1)",
                                                 "1/(1+x^6)+0*(1/0)",
                                                 "acos(2)*x",
                                                 "(1-2)^0.5*x",
                                                 "1/0-1/0",
                                                 "(x/(1/0))/0",
                                                 "3*(x*(1/x)-x^2*(1/x^2))/(x-x)",
                                                 "select(x, 0/0, 1)"};
  for (std::size_t k = 0; k < not_a_number.size(); ++k)
    custom("custom_not_a_number_" + std::to_string(k), not_a_number[k], 4.0, "expression",
           {"'" + not_a_number[k] + "' cannot be used", "a constant part of it is not a number",
            "1/(1+x^6)"});
  custom("custom_derivative_not_a_number", "(-2)^x", INF, "expression",
         {"'(-2)^x'", "in its derivative a constant part of it is not a number"});
  // These can be parsed, but s(0) = 1 and s(dmax) = 0 have no solution.
  custom("custom_constant_cannot_be_stretched", "1", 4.0, "dmax",
         {"cannot be stretched", "nostretch"});
  custom("custom_periodic_cannot_be_stretched", "0*x+0.5", 4.0, "dmax", {"cannot be stretched"});
  custom("custom_without_a_value_at_dmax_cannot_be_stretched", "sqrt(1-x)", 4.0, "expression",
         {"'sqrt(1-x)' is not a finite number at dmax", "smaller dmax"});
  custom("custom_infinite_at_0_cannot_be_stretched", "1/x", 4.0, "expression",
         {"'1/x' is not a finite number at x = 0", "nostretch"});
  custom("custom_logarithm_cannot_be_stretched", "log(x)", 4.0, "expression", {"at x = 0"});
  custom("custom_not_a_number_at_0_cannot_be_stretched", "sqrt(x-1)", 4.0, "expression",
         {"at x = 0"});
  // dmax is so close to d0 that s is still 1 there.
  for (const double r0 : {1e10, 4e12}) {
    SwitchOptions o = plain(SwitchKind::TANH, r0, 0.0, 5.0);
    if (r0 == 1e10) o.kind = SwitchKind::RATIONAL;
    list.push_back(
        {o.kind == SwitchKind::TANH ? "tanh_much_wider_than_dmax" : "rational_much_wider_than_dmax",
         o,
         "dmax",
         {"cannot be stretched: with r0 = ",
          "it is 1 at x = 0 and 1 at dmax = 5; choose another r0 or dmax"}});
  }
  list.push_back(
      {"q_much_wider_than_dmax",
       native(1e-16, 1.8, 1.4, 5.0),
       "dmax",
       {"with ref = 1.4 and beta = 1e-16 it is 0.5 at x = 0", "choose another ref, beta or dmax"}});
  change("dmax_next_to_d0", good,
         [](auto &o) {
           o.dmax = 1e-10;
         },
         "dmax", {"cannot be stretched", "nostretch"});
  return list;
}

INSTANTIATE_TEST_SUITE_P(switch_options, BadOptions, testing::ValuesIn(bad_options()),
                         [](const auto &info) {
                           return info.param.name;
                         });

// ---- defaults

TEST(Defaults, range_of_rational_is_where_x_to_the_n_minus_m_is_1e_minus_5)
{
  const double exponents[][2] = {{6, 12}, {6, 10}, {5, 11}, {24, 48}, {3, 7}, {5.5, 12.3}, {1, 2}};
  for (const auto &e : exponents)
    for (const double d0 : {0.0, 2.1}) {
      const Switch function(rational(e[0], e[1], 1.5, d0));
      const long double expected = d0 + 1.5L * powl(1e-5L, 1.0L / ((long double) e[0] - e[1]));
      // 1/(n - m) is rounded before it becomes the exponent of 1e-5: ln(1e5)/(m - n) roundings.
      EXPECT_NEAR(function.dmax(), static_cast<double>(expected),
                  16 * EPS * static_cast<double>(expected))
          << e[0] << "/" << e[1];
      EXPECT_TRUE(function.has_end());
    }
  EXPECT_NEAR(Switch(rational(6, NONE, 1.0)).dmax(), 6.8129,
              1e-4);    // value in reference/coordination.md
}

TEST(Defaults, m_is_twice_n)
{
  EXPECT_EQ(Switch(rational(6, NONE, 1.5)).options().m, 12.0);
  EXPECT_EQ(Switch(rational(5.5, NONE, 1.5)).options().m, 11.0);
  EXPECT_EQ(Switch(SwitchOptions(rational(6, 10, 1.5))).options().m, 10.0);
}

TEST(Defaults, other_kinds_have_no_end)
{
  for (const auto kind : {SwitchKind::EXP, SwitchKind::GAUSSIAN, SwitchKind::TANH})
    EXPECT_FALSE(Switch(plain(kind, 1.5, 0.0, NONE)).has_end());
  EXPECT_FALSE(Switch(smap(8, 4, 1.5, 0.0, NONE)).has_end());
  EXPECT_FALSE(Switch(native(5, 1.8, 1.4, NONE)).has_end());
  EXPECT_FALSE(Switch(expression("exp(-x)", NONE)).has_end());
  EXPECT_FALSE(Switch(rational(6, 12, 1.5, 0.0, INF)).has_end());
}

TEST(Defaults, cosinus_ends_at_x_1_whatever_dmax)
{
  for (const double dmax : {NONE, INF, 7.0})
    EXPECT_EQ(Switch(plain(SwitchKind::COSINUS, 2.25, 1.5, dmax)).dmax(), 3.75);
  EXPECT_EQ(Switch(plain(SwitchKind::COSINUS, 2.25, 1.5, 3.0)).dmax(), 3.0);
}

TEST(Defaults, cubic_takes_r0_from_its_ends)
{
  EXPECT_EQ(Switch(plain(SwitchKind::CUBIC, NONE, 2.5, 3.25)).options().r0, 0.75);
}

// ---- d0 and dmax

class Ends : public testing::TestWithParam<SwitchCase> {
 protected:
  const Switch function{GetParam().options};
  const double d0 = GetParam().formula.d0;
  const double dmax = function.dmax();
};

TEST_P(Ends, s_is_1_and_flat_up_to_d0)
{
  for (const auto precision : {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE}) {
    const double tolerance = precision == Precision::DOUBLE ? EPS : EPS_FLOAT;
    // Factor and shift are rounded separately, and cancel if the exponents are nearly equal.
    const double amplification = function.stretch() - function.shift();
    for (const double fraction : {0.0, 1e-30, 0.25, 0.5, 0.9999}) {
      double derivative;
      EXPECT_NEAR(function.evaluate(fraction * d0, &derivative, precision), 1.0,
                  tolerance * amplification);
      EXPECT_EQ(derivative, 0.0);
    }
  }
  double derivative;
  for (const double r : {d0, std::nextafter(d0, 0.0)}) {
    EXPECT_NEAR(function.evaluate(r, &derivative), 1.0,
                EPS * (function.stretch() - function.shift()));
    EXPECT_EQ(derivative, 0.0);
  }
}

TEST_P(Ends, s_is_0_at_dmax_where_stretched_and_exactly_0_beyond)
{
  if (!function.has_end()) {
    EXPECT_EQ(function.value_at_dmax(), 0.0);
    EXPECT_EQ(function.derivative_at_dmax(), 0.0);
    return;
  }
  if (function.options().stretch) {
    // s' stretch + shift, each rounded.
    EXPECT_NEAR(function.evaluate(dmax), 0.0, EPS * function.stretch());
    EXPECT_NEAR(function.evaluate(dmax * (1.0 - 2 * EPS_FLOAT), nullptr, Precision::SINGLE), 0.0,
                8 * EPS_FLOAT * function.stretch());
  }
  for (const auto precision : {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE}) {
    const double just_beyond = precision == Precision::DOUBLE ? std::nextafter(dmax, INF)
                                                              : dmax * (1.0 + 2 * EPS_FLOAT);
    for (const double r : {just_beyond, 1.01 * dmax, 1e3 * dmax, 1e18}) {
      double derivative = 1.0;
      EXPECT_EQ(function.evaluate(r, &derivative, precision), 0.0) << r;
      EXPECT_EQ(derivative, 0.0) << r;
    }
  }
}

TEST_P(Ends, numbers_at_dmax_are_those_of_the_closed_form)
{
  if (!function.has_end()) return;
  SwitchOptions formula = GetParam().formula;
  formula.dmax = dmax;
  const closed::Function<closed::Quad> exact(formula);
  const auto end = exact(closed::Quad(dmax));
  const double s = static_cast<double>(end.s), derivative = static_cast<double>(end.ds);
  const double amplification = exact.amplification();
  // 8 roundings of the sizes |ds/dr| dmax (r rounded) and amplification (sum of rounded terms).
  EXPECT_NEAR(function.value_at_dmax(), s,
              8 * EPS * (amplification + dmax * std::fabs(derivative)));
  // The derivatives of cubic and cosinus pass through 0 there. Errors are roundings of r times the
  // curvature, which is at most 6 amplification/r0^2. The worst case is rational 6/6.001 at 1e-10.
  const double r0 = function.options().r0;
  EXPECT_NEAR(function.derivative_at_dmax(), derivative,
              8 * EPS * amplification *
                  (amplification * std::fabs(derivative) + 6 * dmax / (r0 * r0)));
}

INSTANTIATE_TEST_SUITE_P(switching, Ends, testing::ValuesIn(switch_cases()), [](const auto &info) {
  std::string name = std::to_string(info.index) + "_";
  for (const char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(Range, far_tails_are_finite_and_fall_to_0)
{
  // From 1e6 r0 to beyond the overflow of r^2. A stray atom may cause an infinite r^2.
  std::vector<SwitchOptions> list = {rational(6, 12, 1.5, 0, INF),
                                     rational(2, 4, 1.5, 0, INF),
                                     rational(8, 16, 1.5, 0, INF),
                                     rational(6, 12, 1.5, 1, INF),
                                     rational(6, 10, 1.5, 0, INF),
                                     rational(5, 11, 1.5, 0, INF),
                                     rational(5.5, 12.3, 1.5, 0, INF),
                                     plain(SwitchKind::EXP, 1.5, 0, INF),
                                     plain(SwitchKind::GAUSSIAN, 1.5, 0, INF),
                                     plain(SwitchKind::TANH, 1.5, 0, INF),
                                     smap(8, 4, 1.5, 0, INF),
                                     native(5, 1.8, 1.4, INF)};
  for (const auto &o : list)
    for (const auto precision : {Precision::DOUBLE, Precision::SINGLE})
      for (double r = 1e6; r < 1e30; r *= 3.7) {
        const Switch function(o);
        double derivative;
        const double s = function.evaluate(r, &derivative, precision);
        ASSERT_TRUE(s >= 0.0 && s < 1e-8) << function.description() << " r = " << r << " s = " << s;
        ASSERT_TRUE(std::isfinite(derivative) && std::fabs(derivative) < 1e-12)
            << function.description() << " r = " << r << " ds/dr = " << derivative
            << (precision == Precision::SINGLE ? " in float" : " in double");
      }
}

TEST(Range, smap_with_a_long_tail_keeps_it_in_float)
{
  // a/b = 24: x^a exceeds float from x = 415 on, where s = 2^(-1+...) x^-b is 0.02.
  SwitchOptions o = smap(12, 0.5, 1.0, 0.0, INF);
  const Switch function(o);
  for (const double r : {10.0, 100.0, 300.0, 500.0, 1000.0}) {
    const double exact = static_cast<double>(closed::Function<closed::Quad>(o)(r).s);
    EXPECT_NEAR(function.evaluate(r, nullptr, Precision::SINGLE), exact, 4 * EPS_FLOAT) << r;
  }
}

TEST(Range, large_integer_exponents_keep_the_derivative_at_the_singular_point)
{
  const double exponents[][2] = {{127, 254}, {128, 256}, {200, 301}, {1000, 3000}, {60001, 130001}};
  for (const auto &e : exponents) {
    const Switch function(rational(e[0], e[1], 1.0, 1.0, 4.0, false));
    double derivative;
    // n/m and n (n - m)/(2 m) at x = 1. Sums of m terms round up to m times.
    EXPECT_NEAR(function.evaluate(2.0, &derivative), e[0] / e[1], e[1] * EPS);
    const double exact = e[0] * (e[0] - e[1]) / (2 * e[1]);
    EXPECT_NEAR(derivative, exact, e[1] * EPS * std::fabs(exact)) << e[0] << "/" << e[1];
  }
}

TEST(Range, q_is_a_function_of_the_distance_itself_whatever_d0)
{
  for (const double d0 : {0.0, 1.0, 2.5})
    EXPECT_NEAR(Switch(native(5.0, 1.8, 1.4, INF, true, d0)).evaluate(2.52), 0.5,
                1e-15);    // r = lambda ref
}

// r, s and ds/dr printed by plumed driver of PLUMED 2.11-dev, lengths in nm: COORDINATION GROUPA=1
// GROUPB=2 NOPBC SWITCH={Q REF=0.3 BETA=5 LAMBDA=1.8 R_0=1.0 D_0=0.15 D_MAX=1.0 NOSTRETCH}.
TEST(Range, q_with_d0_equals_that_of_PLUMED)
{
  const double plumed[][3] = {{0.0005, 1.0, 0.0},
                              {0.1, 1.0, 0.0},
                              {0.15, 1.0, 0.0},
                              {0.2, 0.845534734916465, -0.653028734831040},
                              {0.3, 0.768524783499018, -0.889472203234028},
                              {0.5, 0.549833997312478, -1.237582863559300},
                              {0.55, 0.487502603515790, -1.249219075405582},
                              {0.7, 0.310025518872388, -1.069548482601472},
                              {0.99, 0.095349464899109, -0.431289722212815}};
  SwitchOptions o = native(5.0, 1.8, 0.3, 1.0, false, 0.15);
  for (const auto &p : plumed) {
    double derivative;
    EXPECT_NEAR(Switch(o).evaluate(p[0], &derivative), p[1], 2e-15)
        << p[0];    // 15 decimals are known
    EXPECT_NEAR(derivative, p[2], 2e-15) << p[0];
  }
  // PLUMED's stretch is the same, except that it uses 1 for phi(0): it gives 0.504700874399710 at r
  // = 0.5, and jumps at d0.
  o.stretch = true;
  const Switch stretched(o);
  const double at_d0 = 1.0 / (1.0 + std::exp(5.0 * (0.15 - 0.54)));
  const double at_end = 1.0 / (1.0 + std::exp(5.0 * (1.0 - 0.54)));
  EXPECT_NEAR(stretched.evaluate(0.5) * (at_d0 - at_end) / (1.0 - at_end), 0.504700874399710,
              2e-15);
  EXPECT_NEAR(stretched.evaluate(std::nextafter(0.15, 1.0)), 1.0, 4 * EPS);
}

TEST(Description, has_the_formula_with_its_numbers)
{
  const auto text = [](const SwitchOptions &o) {
    return Switch(o).description();
  };
  EXPECT_EQ(text(rational(6, NONE, 1.5, 0.0, 4.0)),
            "rational nn 6 mm 12 r0 1.5 d0 0 dmax 4 stretched");
  EXPECT_EQ(text(rational(6, 10, 1.5, 0.25, 4.0, false)),
            "rational nn 6 mm 10 r0 1.5 d0 0.25 dmax 4 not stretched");
  EXPECT_EQ(text(plain(SwitchKind::EXP, 1.5, 0.0, NONE)), "exp r0 1.5 d0 0 without end");
  EXPECT_EQ(text(plain(SwitchKind::CUBIC, NONE, 2.5, 3.25)),
            "cubic r0 0.75 d0 2.5 dmax 3.25 stretched");
  EXPECT_EQ(text(smap(8, 4, 1.5, 0.0, INF)), "smap a 8 b 4 r0 1.5 d0 0 without end");
  EXPECT_EQ(text(native(5, 1.8, 1.4, 4.0)), "q beta 5 lambda 1.8 ref 1.4 d0 0 dmax 4 stretched");
  EXPECT_EQ(text(native(5, 1.8, 1.4, 4.0, true, 1.5)),
            "q beta 5 lambda 1.8 ref 1.4 d0 1.5 dmax 4 stretched");
  EXPECT_EQ(text(expression("1/(1+x^6)", 4.0)),
            "custom \"1/(1+x^6)\" r0 1.5 d0 0 dmax 4 stretched");
}

// ---- rounding errors of the stretch

// phi(0) - phi(dmax) is small if r0 is far above dmax. The stretch then amplifies rounding errors
// by its inverse. Errors stay within the stated bound, and no function whose errors are 100 times
// smaller is rejected.
TEST(Stretch, rounding_is_within_the_bound_and_near_it)
{
  std::vector<SwitchOptions> list;
  for (double ratio = 0.5; ratio < 1e6; ratio *= 7.3) {
    const double r0 = 3.9 * ratio;
    for (const auto kind :
         {SwitchKind::EXP, SwitchKind::GAUSSIAN, SwitchKind::TANH, SwitchKind::COSINUS})
      list.push_back(plain(kind, r0, 0.0, 3.9));
    list.push_back(rational(6, 12, r0, 0.0, 3.9));
    list.push_back(rational(1, 2, r0, 0.0, 3.9));
    list.push_back(rational(3, 7, r0, 0.0, 3.9));
    list.push_back(smap(2, 3, r0, 0.0, 3.9));
    list.push_back(native(1.0 / r0, 1.8, 1.4, 3.9));
  }
  int refused = 0, near_the_bound = 0;
  for (const auto &o : list) {
    try {
      const Switch function(o);
      if (std::isinf(function.dmax()) || function.dmax() < 3.9)
        continue;    // cosinus within its own range
      const closed::Function<closed::Quad> exact(o);
      double worst = 0.0;
      for (int k = 1; k < 400; ++k) {
        const float r = 3.9f * k / 400;
        const double error =
            static_cast<double>(function.evaluate(r, nullptr, Precision::MIXED) - exact(r).s);
        worst = std::max(worst, std::fabs(error));
      }
      const double bound = function.rounding(Precision::MIXED);
      // A formula rounds a few times, and r is rounded, too.
      EXPECT_LE(worst, 4 * bound) << function.description();
      if (worst > 0.1 * bound) ++near_the_bound;
      const bool is_refused = !function.why_imprecise(Precision::MIXED).empty();
      EXPECT_EQ(is_refused, !function.why_imprecise(Precision::SINGLE).empty());
      EXPECT_EQ(function.why_imprecise(Precision::DOUBLE), "");
      refused += is_refused;
      if (is_refused) EXPECT_GT(worst, 0.01 * Switch::MAX_ROUNDING) << function.description();
      if (!is_refused) EXPECT_LE(worst, 4 * Switch::MAX_ROUNDING) << function.description();
    } catch (const SwitchError &error) {
      EXPECT_NE(std::string(error.what()).find("cannot be stretched"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(near_the_bound, 20);
}

TEST(Stretch, ordinary_functions_are_not_refused)
{
  for (const auto &c : switch_cases())
    if (c.name.find("6/6.001") == std::string::npos)    // its phi(dmax) is 0.999
      EXPECT_EQ(Switch(c.options).why_imprecise(Precision::SINGLE), "") << c.name;
}

TEST(Stretch, refusal_names_the_precision_the_value_the_limit_and_the_way_out)
{
  const Switch function(plain(SwitchKind::TANH, 1e7, 0.0, 3.9));
  EXPECT_EQ(function.why_imprecise(Precision::MIXED),
            "with r0 = 10000000 it is 1 at x = 0 and 0.99999961 at dmax = 3.9, and stretching that "
            "to 1 and 0 in "
            "precision mixed makes s wrong by about 0.3, more than 1e-05; use precision double, "
            "another dmax, or "
            "nostretch");
  // Double keeps the digits.
  const closed::Function<closed::Quad> exact(plain(SwitchKind::TANH, 1e7, 0.0, 3.9));
  for (double r = 0.1; r < 3.9; r += 0.1)
    EXPECT_NEAR(function.evaluate(r), static_cast<double>(exact(r).s), 1e-8);
}

// s' near 1e-40: the stretch works in double, while float rounds s' to 0 and the factor to
// infinity.
TEST(Stretch, float_cannot_hold_large_factors)
{
  // phi = exp(-50 (r - 0.36)), since exp(-92) is negligible compared with 1: 1.1e-40 at d0, and
  // after the stretch exp(-50 (r - d0)).
  const Switch contacts(native(50.0, 1.8, 0.2, 4.4, true, 2.2));
  const Switch tiny(expression("1e-40*exp(-x)", 4.4));
  for (const double x : {0.01, 0.1, 0.3}) {
    EXPECT_NEAR(contacts.evaluate(2.2 + x), std::exp(-50.0 * x), 1e-13);
    const double end = std::exp(-4.4 / 1.5);
    EXPECT_NEAR(tiny.evaluate(1.5 * x), (std::exp(-x) - end) / (1.0 - end), 1e-14);
  }
  for (const Precision p : {Precision::MIXED, Precision::SINGLE}) {
    const std::string name = p == Precision::MIXED ? "mixed" : "single";
    EXPECT_EQ(
        tiny.why_imprecise(p),
        "with r0 = 1.5 it is 1e-40 at x = 0 and 5.321934434e-42 at dmax = 4.4, and stretching that "
        "to 1 and 0 in precision " +
            name +
            " makes s wrong by about 1e+02, more than 1e-05; use "
            "precision double, another dmax, or nostretch");
    EXPECT_NE(contacts.why_imprecise(p), "");
    EXPECT_EQ(Switch(expression("1e-30*exp(-x)", 4.4)).why_imprecise(p), "");
    // s is correct, but ds/dr = (dphi/dx) stretch/r0 is infinite.
    SwitchOptions o = expression("1e-30*exp(-x)", 4.4e-10);
    o.r0 = 1.5e-10;
    EXPECT_EQ(Switch(o).why_imprecise(p),
              "with r0 = 1.5e-10 it is 1e-30 at x = 0 and 5.321934434e-32 at dmax = 4.4e-10, and "
              "stretching that to 1 and 0 in precision " +
                  name +
                  " gives ds/dr the factor 7e+39, "
                  "more than 3.4e+38; use precision double, another dmax, or nostretch");
  }
  EXPECT_EQ(contacts.why_imprecise(Precision::DOUBLE), "");
  // A function that rises from 0 keeps its digits.
  EXPECT_EQ(Switch(expression("x", 4.4)).why_imprecise(Precision::SINGLE), "");
}

TEST(Stretch, top_before_stretch_is_that_of_the_formula)
{
  EXPECT_EQ(Switch(expression("2*exp(-x)", 4.0)).top_before_stretch(), 2.0);
  EXPECT_EQ(Switch(expression("exp(-x)", 4.0)).top_before_stretch(), 1.0);
  EXPECT_EQ(Switch(rational(6, 12, 1.5, 0.0, 4.0)).top_before_stretch(), 1.0);
  EXPECT_NEAR(Switch(native(5.0, 1.8, 1.4, 4.0, true, 2.0)).top_before_stretch(),
              1.0 / (1.0 + std::exp(5.0 * -0.52)), EPS);
}

}    // namespace
