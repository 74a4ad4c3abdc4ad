// Part of GPUCOORD, GPL-2.0. Expressions of named variables, compared with closed forms and
// differences, and the errors of bad expressions.

#include "gpucoord/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using gpucoord::Expression;
using gpucoord::ExpressionError;

namespace {

using Numbers = std::vector<double>;
constexpr double EPS = std::numeric_limits<double>::epsilon();

// ---- values and derivatives

struct Formula {
  std::string text;
  std::vector<std::string> names;
  std::function<double(const Numbers &)> value;
  std::function<Numbers(const Numbers &)> derivatives;
};

const std::vector<Formula> FORMULAS = {
    {"a - b",
     {"a", "b"},
     [](const Numbers &n) {
       return n[0] - n[1];
     },
     [](const Numbers &) {
       return Numbers{1.0, -1.0};
     }},
    {"2*a",
     {"a"},
     [](const Numbers &n) {
       return 2 * n[0];
     },
     [](const Numbers &) {
       return Numbers{2.0};
     }},
    {"x^2*y/z",
     {"z", "y", "x"},    // a different order than in the text
     [](const Numbers &n) {
       return n[2] * n[2] * n[1] / n[0];
     },
     [](const Numbers &n) {
       return Numbers{-n[2] * n[2] * n[1] / (n[0] * n[0]), n[2] * n[2] / n[0],
                      2 * n[2] * n[1] / n[0]};
     }},
    {"exp(-a)*log(exp) + sqrt(_b1)",    // a name may be that of a function
     {"a", "exp", "_b1"},
     [](const Numbers &n) {
       return std::exp(-n[0]) * std::log(n[1]) + std::sqrt(n[2]);
     },
     [](const Numbers &n) {
       return Numbers{-std::exp(-n[0]) * std::log(n[1]), std::exp(-n[0]) / n[1],
                      0.5 / std::sqrt(n[2])};
     }},
    {"s^2 + 1.5e-1*a; s = a + b",    // with a part that has a name
     {"a", "b"},
     [](const Numbers &n) {
       return (n[0] + n[1]) * (n[0] + n[1]) + 0.15 * n[0];
     },
     [](const Numbers &n) {
       return Numbers{2 * (n[0] + n[1]) + 0.15, 2 * (n[0] + n[1])};
     }},
    {"max(a, b) + 0*c",    // b is larger below; c has no effect
     {"a", "b", "c"},
     [](const Numbers &n) {
       return std::max(n[0], n[1]);
     },
     [](const Numbers &) {
       return Numbers{0.0, 1.0, 0.0};
     }},
    {"a - a + 3",
     {"a"},
     [](const Numbers &) {
       return 3.0;
     },
     [](const Numbers &) {
       return Numbers{0.0};
     }},
};

TEST(Expression, has_the_value_and_derivatives_of_its_formula)
{
  const Numbers numbers = {0.7, 1.9, 2.3};
  for (const Formula &formula : FORMULAS) {
    Expression expression(formula.text, formula.names);
    Numbers found(formula.names.size(), -1.0);
    const double value = formula.value(numbers);
    EXPECT_NEAR(expression.evaluate(numbers.data(), found.data()), value, 4 * EPS * std::abs(value))
        << formula.text;
    const Numbers expected = formula.derivatives(numbers);
    ASSERT_EQ(found.size(), expected.size()) << formula.text;
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_NEAR(found[k], expected[k], 4 * EPS * std::abs(expected[k]))
          << formula.text << " by " << formula.names[k];
    // Without derivatives, the bits are the same.
    EXPECT_EQ(expression.evaluate(numbers.data(), nullptr),
              expression.evaluate(numbers.data(), found.data()))
        << formula.text;
  }
}

TEST(Expression, derivatives_are_limits_of_differences)
{
  const char *const texts[] = {"tanh(a*b) + atan2(a, c)", "erf(a - b)*cosh(c/3)",
                               "select(step(a - b), a^c, b^c)", "(1 - a^6)/(1 - b^12) + c",
                               "log(exp(a) + exp(b) + exp(c))"};
  for (const char *const text : texts) {
    Expression expression(text, {"a", "b", "c"});
    const Numbers at = {0.8, 1.7, 1.3};
    Numbers found(3);
    expression.evaluate(at.data(), found.data());
    for (int k = 0; k < 3; ++k) {
      const double h = 1e-3;
      const auto value = [&](double step) {
        Numbers moved = at;
        moved[k] += step;
        return expression.evaluate(moved.data(), nullptr);
      };
      const double coarse = (value(h) - value(-h)) / (2 * h),
                   fine = (value(h / 2) - value(-h / 2)) / h;
      EXPECT_NEAR(found[k], (4 * fine - coarse) / 3, 1e-10) << text << " by name " << k;
    }
  }
}

TEST(Expression, gives_what_is_not_finite_as_it_is)
{
  Expression expression("sqrt(a)/b", {"a", "b"});
  double derivatives[2];
  const double zero[] = {0.0, 1.0}, negative[] = {-1.0, 1.0}, divided[] = {1.0, 0.0};
  EXPECT_EQ(expression.evaluate(zero, derivatives), 0.0);
  EXPECT_TRUE(std::isinf(derivatives[0]));
  EXPECT_TRUE(std::isnan(expression.evaluate(negative, nullptr)));
  EXPECT_TRUE(std::isinf(expression.evaluate(divided, nullptr)));
}

TEST(Expression, two_do_not_share_numbers)
{
  Expression one("a + b", {"a", "b"}), other("a*b", {"a", "b"});
  const double numbers[] = {3.0, 5.0}, others[] = {7.0, 11.0};
  EXPECT_EQ(one.evaluate(numbers, nullptr), 8.0);
  EXPECT_EQ(other.evaluate(others, nullptr), 77.0);
  EXPECT_EQ(one.evaluate(numbers, nullptr), 8.0);
}

// ---- errors

struct BadExpression {
  std::string text;
  std::vector<std::string> names;
  std::string name, message;
};

TEST(Expression, bad_ones_are_refused_with_the_name_and_the_way_out)
{
  const std::string write = " - write it in a, b with + - * / ^ ( ) and functions such as exp()";
  const std::string without = " - use only finite constants, for example no 0/0 or sqrt(-1)";
  const std::string number = " - write it like 1.5 or 2e-3";
  const std::vector<BadExpression> bad = {
      {"a - c",
       {"a", "b"},
       "c",
       "the expression 'a - c' has the unknown name c at character 5 - known are a, b"},
      {"ab + b*(a - b1)",
       {"ab", "b", "b1"},
       "a",
       "the expression 'ab + b*(a - b1)' has the unknown name a at character 9 - known are ab, b, "
       "b1"},
      {"a==b",
       {"a", "b"},
       "a==b",
       "the expression 'a==b' has the unknown name a==b at character 1 - known are a, b"},
      {"2*a",
       {"a", "b"},
       "b",
       "the expression '2*a' does not use the name b - leave out the name, or use it"},
      {"a; a = 3",
       {"a"},
       "a",
       "the expression 'a; a = 3' does not use the name a - leave out the name, or use it"},
      {"a + b", {"a", "b", "a"}, "a", "the name a is given twice - give each name once"},
      {"a", {"a-b"}, "a-b", "'a-b' is not a name - use letters, digits and _, and no digit first"},
      {"1a", {"1a"}, "1a", "'1a' is not a name - use letters, digits and _, and no digit first"},
      {"a", {""}, "", "'' is not a name - use letters, digits and _, and no digit first"},
      {"",
       {"a", "b"},
       "",
       "the expression '' cannot be parsed: unexpected end of expression" + write},
      {"a +",
       {"a", "b"},
       "",
       "the expression 'a +' cannot be parsed: unexpected end of expression" + write},
      {"a +* b",
       {"a", "b"},
       "",
       "the expression 'a +* b' cannot be parsed: unexpected token: *" + write},
      {"a b",
       {"a", "b"},
       "",
       "the expression 'a b' cannot be parsed: unexpected text at end of expression: b" + write},
      {"(a - b",
       {"a", "b"},
       "",
       "the expression '(a - b' cannot be parsed: unbalanced parentheses" + write},
      {"ln(a) + b",
       {"a", "b"},
       "",
       "the expression 'ln(a) + b' cannot be parsed: unknown function: ln" + write},
      {"a + 2e*b", {"a", "b"}, "", "the expression 'a + 2e*b' has the bad number 2e" + number},
      {"a + . - b", {"a", "b"}, "", "the expression 'a + . - b' has the bad number ." + number},
      {"a + 1e5.3*b",
       {"a", "b"},
       "",
       "the expression 'a + 1e5.3*b' has the bad number 1e5.3" + number},
      {"a + 1e400*b",
       {"a", "b"},
       "",
       "the expression 'a + 1e400*b' has the number 1e400, but double precision ends at 1.8e308 - "
       "use a smaller number"},
      {"3a + b", {"a", "b"}, "", "the expression '3a + b' has the bad number 3a" + number},
      {"a + 0/0*b",
       {"a", "b"},
       "",
       "the expression 'a + 0/0*b' cannot be used: a constant part of it is not a number" +
           without},
      {"b + (-2)^a",
       {"a", "b"},
       "",
       "the expression 'b + (-2)^a' cannot be used: in its derivative with respect to a a constant "
       "part of it is not "
       "a number" +
           without},
  };
  for (const BadExpression &one : bad) {
    try {
      const Expression expression(one.text, one.names);
      ADD_FAILURE() << "accepted: " << one.text;
    } catch (const ExpressionError &error) {
      EXPECT_EQ(error.name, one.name) << one.text;
      EXPECT_EQ(std::string(error.what()), one.message);
    }
  }
}

std::string repeated(const std::string &text, int n, const std::string &separator = "")
{
  std::string all = text;
  for (int k = 1; k < n; ++k) all += separator + text;
  return all;
}

// Returns s0; s0 = s1*s1; ...; sn = a, which is a to the power 2^n.
std::string powers_of_parts(int n)
{
  std::string text = "s0";
  for (int k = 0; k < n; ++k) {
    const std::string next = "s" + std::to_string(k + 1);
    text += "; s" + std::to_string(k) + " = " + next + "*" + next;
  }
  return text + "; s" + std::to_string(n) + " = a";
}

// The longest expressions, with values and derivatives in closed form.
TEST(Expression, is_right_up_to_its_limits)
{
  const double a = 0.99;
  const struct {
    std::string text;
    double value, derivative;
  } cases[] = {
      {repeated("a", 500, "+"), 500 * a, 500.0},
      {repeated("a", 500, "-"), -498 * a, -498.0},
      {repeated("a", 95, "*"), std::pow(a, 95), 95 * std::pow(a, 94)},
      {powers_of_parts(8), std::pow(a, 256), 256 * std::pow(a, 255)},
      {repeated("sqrt(", 100) + "a" + repeated(")", 100), std::exp(std::log(a) * std::exp2(-100)),
       std::exp2(-100) / a},
      {repeated("(", 1000) + "a" + repeated(")", 1000), a, 1.0},
      {repeated("-", 999) + "a", -a, -1.0},
  };
  for (const auto &one : cases) {
    double derivative;
    const double value = Expression(one.text, {"a"}).evaluate(&a, &derivative);
    EXPECT_NEAR(value, one.value, 1e-13 * std::fabs(one.value)) << one.text;
    EXPECT_NEAR(derivative, one.derivative, 1e-13 * std::fabs(one.derivative)) << one.text;
  }
}

// A path variable: s = sum(i e_i)/sum(e_i), e_i = exp(-l |a - f_i|^2), with the frames f_i =
// (i - 1, ..., i - 1) in 8 variables.
TEST(Expression, can_be_a_path_of_8_frames_in_8_variables)
{
  constexpr int N = 8;
  const double lambda = 0.3;
  std::vector<std::string> names;
  Numbers at;
  for (int k = 0; k < N; ++k) {
    names.push_back("a" + std::to_string(k));
    at.push_back(3.1 + 0.1 * k);
  }
  std::string numerator = "(", denominator = "(", parts;
  double sum = 0.0, weighted = 0.0;
  std::vector<double> e(N);
  for (int i = 0; i < N; ++i) {
    const std::string name = "e" + std::to_string(i + 1), frame = std::to_string(i);
    numerator += (i ? "+" : "") + std::to_string(i + 1) + "*" + name;
    denominator += (i ? "+" : "") + name;
    parts += "; " + name + " = exp(-0.3*(";
    double squares = 0.0;
    for (int k = 0; k < N; ++k) {
      parts += (k ? "+(" : "(") + names[k] + "-" + frame + ")^2";
      squares += (at[k] - i) * (at[k] - i);
    }
    parts += "))";
    e[i] = std::exp(-lambda * squares);
    sum += e[i];
    weighted += (i + 1) * e[i];
  }
  Expression expression(numerator + ")/" + denominator + ")" + parts, names);
  Numbers found(N);
  const double s = weighted / sum;
  EXPECT_NEAR(expression.evaluate(at.data(), found.data()), s, 1e-12);
  for (int k = 0; k < N; ++k) {
    double expected = 0.0;    // sum of (i - s) de_i/da_k, over the sum of e_i
    for (int i = 0; i < N; ++i) expected -= (i + 1 - s) * 2 * lambda * (at[k] - i) * e[i] / sum;
    EXPECT_NEAR(found[k], expected, 1e-12) << "by name " << k;
  }
}

TEST(Expression, has_a_limit_of_its_length)
{
  const std::string split =
      " numbers, names and operations, but at most 1000 are supported - shorten "
      "it, or split it into several";
  const std::string written_out = "it has, with its named parts written out, ";
  const std::string derivatives =
      " numbers, names and operations, but at most 10000 are supported - shorten products and "
      "functions of functions, or split it into several";
  const struct {
    std::string text, begin, end;
  } cases[] = {
      {repeated("a", 501, "+"), written_out + "1001" + split, ""},
      {repeated("a", 100000, "*"), written_out + "199999" + split, ""},
      {repeated("-", 100000) + "a", written_out + "100001" + split, ""},
      {powers_of_parts(9), written_out + "1023" + split, ""},
      {powers_of_parts(1000), written_out + "1023" + split, ""},
      {repeated("(", 100000) + "a" + repeated(")", 100000),
       "it has parentheses in parentheses, 100000 deep, but at most 1000 are supported - leave out "
       "parentheses",
       ""},
      {repeated("a", 110, "*"), "its derivatives have about 1", derivatives},
      {repeated("sin(", 300) + "a" + repeated(")", 300), "its derivatives have about 4",
       derivatives},
      {repeated("a", 100, "^"), "its derivatives have about 3", derivatives},
  };
  for (const auto &one : cases) {
    const std::string begin = "the expression '" + one.text.substr(0, 60) + "...' is too long: ";
    try {
      const Expression expression(one.text, {"a"});
      ADD_FAILURE() << "accepted: " << begin;
    } catch (const ExpressionError &error) {
      const std::string message = error.what();
      EXPECT_EQ(message.compare(0, begin.size() + one.begin.size(), begin + one.begin), 0)
          << message;
      if (one.end.empty())
        EXPECT_EQ(message, begin + one.begin);
      else
        EXPECT_EQ(message.substr(message.size() - one.end.size()), one.end);
    }
  }
}

}    // namespace
