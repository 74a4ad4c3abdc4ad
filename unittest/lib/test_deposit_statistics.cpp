// Part of GPUCOORD, GPL-2.0. Statistics of S at deposits, against processes with known ones, and
// the warnings and the summary that a bias makes of them.

#include "../../lib/gpucoord/src/bias/deposit_statistics.h"
#include "gpucoord/bias.h"
#include "gpucoord/bias_warnings.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

const auto NO_BIAS = [](const double *) {
  return 0.0;
};

// A series with mean 0, variance 1 and the correlation r^k after k samples.
class Autoregressive {
 public:
  explicit Autoregressive(double r_in, unsigned seed = 1) : random(seed), r(r_in), x(normal(random))
  {
  }
  double next() { return x = r * x + std::sqrt(1.0 - r * r) * normal(random); }

 private:
  std::mt19937 random;
  std::normal_distribution<double> normal;
  const double r;
  double x;
};

TEST(DepositStatistics, autoregressive_series)
{
  const int n = 200000;
  for (const double r : {0.0, 0.3, 0.6, 0.8, 0.9}) {
    Autoregressive series(r);
    DepositStatistics statistics({Period()});
    for (int k = 0; k < n; ++k) {
      const double s = 5.0 + 0.2 * series.next();
      statistics.add(&s, NO_BIAS);
    }
    const auto &variable = statistics.variable(0);
    EXPECT_EQ(statistics.count(), n);
    EXPECT_NEAR(variable.variance(), 0.04, 0.04 * 0.03) << r;
    EXPECT_NEAR(variable.autocorrelation(), r, r > 0.8 ? 0.05 : 0.02) << r;
    // Of 5 to 32 blocks, the largest error counts.
    const double expected = n * (1.0 - r) / (1.0 + r);
    EXPECT_GT(statistics.neffective(0), 0.3 * expected) << r;
    EXPECT_LT(statistics.neffective(0), 1.4 * expected) << r;
    if (r == 0.0)
      EXPECT_NEAR(variable.fluctuation(), 0.2, 0.2 * 0.01);
    else
      EXPECT_LT(variable.fluctuation(), 0.2);
  }
}

// A pace that a warning calls the least one is at most 5 % of times longer than the one with which
// the warning would go. The longest one does not depend on noise.
TEST(DepositStatistics, a_lower_bound_of_the_pace)
{
  const int n = 2000, pace = 100;
  for (const double r : {0.85, 0.9, 0.95, 0.98, 0.999}) {
    const double enough = pace * std::log(0.8) / std::log(r);
    int nbounds = 0, ntoo_long = 0;
    double longest = 0.0;
    for (unsigned seed = 1; seed <= n; ++seed) {
      Autoregressive series(r, seed);
      SampledVariable variable{Period()};
      for (int k = 0; k < 100; ++k) variable.add(5.0 + 0.2 * series.next());
      const std::string text =
          warning_of_pace("c_s", 0.9, variable.least_autocorrelation(), pace, "hills");
      const std::size_t at = text.find("at least ");
      if (at == std::string::npos) {
        EXPECT_EQ(text.substr(text.find(" - ")), " - use a larger pace, such as 200");
        continue;
      }
      ++nbounds;
      const double bound = std::stod(text.substr(at + 9));
      EXPECT_GT(bound, 2 * pace);
      longest = std::max(longest, bound);
      if (bound > enough + 1.0) ++ntoo_long;
    }
    EXPECT_LT(ntoo_long, 0.07 * n) << r;
    EXPECT_LT(longest, 4.2 * pace) << r;
    if (r > 0.94) { EXPECT_GT(nbounds, 0.3 * n) << r; }
  }
  // Many samples tell more: 10.0 paces would do.
  Autoregressive series(0.978);
  SampledVariable variable{Period()};
  for (int k = 0; k < 20000; ++k) variable.add(series.next());
  EXPECT_LT(variable.least_autocorrelation(), 0.978);
  EXPECT_GT(variable.least_autocorrelation(), 0.97);
}

// S jumps between two basins that are 20 fluctuations apart.
TEST(DepositStatistics, a_jump_to_another_basin_does_not_hide_the_fluctuation)
{
  Autoregressive series(0.0);
  DepositStatistics statistics({Period()});
  for (int k = 0; k < 1000; ++k) {
    const double s = 0.1 * series.next() + (k < 497 ? 1.0 : 3.0);
    statistics.add(&s, NO_BIAS);
  }
  EXPECT_NEAR(statistics.variable(0).fluctuation(), 0.1, 0.02);
  EXPECT_NEAR(statistics.variable(0).autocorrelation(), 0.0, 0.1);
  EXPECT_EQ(statistics.variable(0).ncrossings(), 1);
  EXPECT_GT(std::sqrt(statistics.variable(0).variance()), 0.9);
  // Two blocks of S that are all different: a few independent samples
  EXPECT_LT(statistics.neffective(0), 10.0);
}

TEST(DepositStatistics, crossings_of_an_oscillation)
{
  const double PI = std::acos(-1.0);
  for (const int half_periods : {1, 2, 13, 5000}) {
    SampledVariable variable{Period()};
    for (int k = 0; k <= 12 * half_periods; ++k) variable.add(std::cos(PI / 12 * k));
    EXPECT_EQ(variable.ncrossings(), half_periods);
    EXPECT_DOUBLE_EQ(variable.lowest(), -1.0);
    EXPECT_DOUBLE_EQ(variable.highest(), 1.0);
  }
}

// The range grows, and crossings of the earlier range no longer count.
TEST(DepositStatistics, crossings_of_random_walks)
{
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    SampledVariable variable{Period()};
    std::vector<double> all;
    double x = 0.0;
    for (int k = 0; k < 20000; ++k) {
      x = (seed % 2 ? 1.0 : 0.99) * x + normal(random);
      all.push_back(x);
      variable.add(x);
    }
    const double lo = *std::min_element(all.begin(), all.end());
    const double hi = *std::max_element(all.begin(), all.end());
    const double low = lo + 0.2 * (hi - lo), high = hi - 0.2 * (hi - lo);
    int expected = 0, region = 0;
    for (const double s : all) {
      if (s > low && s < high) continue;
      const int here = s <= low ? 1 : 2;
      if (region && here != region) ++expected;
      region = here;
    }
    EXPECT_EQ(variable.ncrossings(), expected) << seed;
    if (seed % 2 == 0) { EXPECT_GT(expected, 1) << seed; }
  }
}

TEST(DepositStatistics, a_period_is_no_jump)
{
  const Period period{0.0, 10.0};
  Autoregressive series(0.5);
  SampledVariable plain{Period()}, periodic(period);
  for (int k = 0; k < 1000; ++k) {
    const double s = 0.3 * series.next();
    plain.add(s);
    periodic.add(s < 0.0 ? s + 10.0 : s);
  }
  EXPECT_NEAR(periodic.fluctuation(), plain.fluctuation(), 1e-12);
  // on an arc instead of a line
  EXPECT_NEAR(periodic.autocorrelation(), plain.autocorrelation(), 0.01);
  EXPECT_NEAR(periodic.variance(), plain.variance(), 0.05 * plain.variance());
  EXPECT_LT(periodic.highest(), 3.0);
}

// S goes around in steps of any length: each sample is independent, however far the turns lead.
TEST(DepositStatistics, turns_do_not_correlate)
{
  std::mt19937 random(4);
  std::uniform_real_distribution<double> anywhere(-2.0, 8.0);
  DepositStatistics statistics({Period{-2.0, 8.0}});
  for (int k = 0; k < 10000; ++k) {
    const double s = anywhere(random);
    statistics.add(&s, NO_BIAS);
  }
  EXPECT_NEAR(statistics.variable(0).autocorrelation(), 0.0, 0.02);
  EXPECT_LT(statistics.variable(0).least_autocorrelation(), 0.02);
  EXPECT_GT(statistics.neffective(0), 3000.0);
}

// V grows by c(s) at each deposit, so that it changes by half of all in the second half.
TEST(DepositStatistics, change_in_second_half)
{
  for (const int n : {64, 96, 512, 10240}) {
    DepositStatistics statistics({Period(), Period()});
    std::vector<double> seen;
    int ndeposits = 0;
    const auto v = [&](const double *s) {
      return ndeposits * (7.0 + 0.1 * s[0] - 0.05 * s[1]);
    };
    for (; ndeposits < n; ++ndeposits) {
      const double s[2] = {std::sin(0.37 * ndeposits), std::cos(1.7 * ndeposits)};
      seen.push_back(0.1 * s[0] - 0.05 * s[1]);
      statistics.add(s, v);
    }
    // V is that before a deposit. Blocks have the same length, and the first half has at least 8.
    ndeposits = n - 1;
    double sum = 0.0, sum_of_squares = 0.0;
    for (int k = 0; k < n / 2; ++k) {
      sum += seen[k];
      sum_of_squares += seen[k] * seen[k];
    }
    const double mean = sum / (n / 2), rms = std::sqrt(sum_of_squares / (n / 2) - mean * mean);
    const double found = statistics.change_in_second_half(v) / (n / 2);
    EXPECT_GT(found, 0.6 * rms) << n;
    EXPECT_LT(found, 1.4 * rms) << n;
    // A constant is no change.
    const auto constant = [&](const double *) {
      return 3.0 * ndeposits;
    };
    DepositStatistics same({Period()});
    for (ndeposits = 0; ndeposits < n; ++ndeposits) same.add(&seen[ndeposits], constant);
    EXPECT_EQ(same.change_in_second_half(constant), 0.0);
  }
}

/* ---------------------------------------------------------------------- */

TEST(BiasWarnings, frequency)
{
  // A harmonic restraint of the distance of two atoms: omega = sqrt(k (1/m1 + 1/m2))
  const double k = 8.0, inverse_mass = 1.0 / 2.0 + 1.0 / 6.0, omega = std::sqrt(k * inverse_mass);
  EXPECT_EQ(warning_of_frequency("c_s", {k, "k", k}, inverse_mass, 0.2999 / omega), "");
  EXPECT_EQ(warning_of_frequency("c_s", {k, "k", k}, inverse_mass, 0.6 / omega),
            "omega dt of c_s in this bias is 0.6, more than 0.3 - use k 2 or less in place of 8, "
            "or a smaller timestep");
  // A wall k d^2: V'' = 2 k
  EXPECT_EQ(warning_of_frequency("c_s", {2.0 * k, "k", k}, inverse_mass, 0.6 / omega),
            "omega dt of c_s in this bias is 0.849, more than 0.3 - use k 1 or less in place of 8, "
            "or a smaller timestep");
  EXPECT_EQ(warning_of_frequency("c_s", {k, "k", k}, 0.0, 1.0), "");
}

TEST(BiasWarnings, barrier)
{
  EXPECT_EQ(warning_of_barrier(3.0, 1.0, "real"), "");
  EXPECT_EQ(warning_of_barrier(50.0, 1.0, "real"), "");
  EXPECT_EQ(warning_of_barrier(100.0, 1.0, "metal"), "");
  EXPECT_EQ(warning_of_barrier(100.0, 0.596, "real"),
            "barrier 100 is 168 kT, not 3 to 50 kT as most barriers - check temp, and that it is "
            "in the energy units of units real, kcal/mol: 100 kJ/mol are barrier 23.9");
  // At 300 K, 30 kJ/mol are 12 kT.
  EXPECT_EQ(warning_of_barrier(29.0, 0.596, "real"), "");
  EXPECT_EQ(warning_of_barrier(30.0, 0.596, "real"),
            "barrier 30 is 50.3 kT, not 3 to 50 kT as most barriers - check temp, and that it is "
            "in the energy units of units real, kcal/mol: 30 kJ/mol are barrier 7.17");
  EXPECT_EQ(warning_of_barrier(1.0, 0.596, "real"),
            "barrier 1 is 1.68 kT, not 3 to 50 kT as most barriers - check temp, and that it is "
            "in the energy units of units real, kcal/mol");
  EXPECT_EQ(warning_of_barrier(40.0, 300.0, "lj"),
            "barrier 40 is 0.133 kT, not 3 to 100 kT as most barriers - check temp, and that it is "
            "in the energy units of units lj");
}

TEST(BiasWarnings, equal_walkers)
{
  EXPECT_EQ(
      warning_of_equal_walkers({0, 1, 2}, {{1.5, 2.0}, {1.5, 3.0}, {1.1, 2.0}}, {"c_a", "c_b"}),
      "");
  EXPECT_EQ(warning_of_equal_walkers({0}, {{1.5}}, {"c_a"}), "");
  EXPECT_EQ(warning_of_equal_walkers({0, 1}, {{5.0}, {5.0}}, {"c_a"}),
            "");    // numbers of neighbors
  EXPECT_EQ(warning_of_equal_walkers({0, 2, 3, 5, 6}, {{0.5}, {2.5}, {3.0}, {2.5}, {2.5}}, {"c_a"}),
            "walkers 2, 5, 6 start at the same c_a = 2.5 - start each from another configuration, "
            "or their first deposits add up at one place");
  EXPECT_EQ(warning_of_equal_walkers({0, 1}, {{1.5, 2.0}, {1.5, 2.0}}, {"c_a", "c_b"}),
            "walkers 0, 1 start at the same c_a = 1.5, c_b = 2 - start each from another "
            "configuration, or their first deposits add up at one place");
}

/* ---------------------------------------------------------------------- */

class ObservedBias : public Files {
 protected:
  std::unique_ptr<Bias> make(const std::string &words, int nvariables = 1, Period period = {})
  {
    BiasContext context;
    context.command = "fix bias";
    context.program = "LAMMPS";
    context.units = "lj";
    for (int v = 0; v < nvariables; ++v) {
      context.names.push_back(std::string(1, static_cast<char>('a' + v)));
      context.labels.push_back("c_" + context.names.back());
      context.periods.push_back(period);
    }
    context.print = [this](const std::string &text) {
      printed.push_back(text);
    };
    context.warn = [this](const std::string &text) {
      warned.push_back(text);
    };
    std::istringstream stream(words);
    std::vector<std::string> list;
    for (std::string word; stream >> word;) list.push_back(word == "FILE" ? path : word);
    return make_bias(list, context);
  }
  // Evaluates the bias from timestep 'first' on at these values of S.
  static void run(Bias &bias, const std::vector<double> &s, int first = 0)
  {
    bias.begin_run(first);
    for (std::size_t k = 0; k < s.size(); ++k) {
      Step step;
      step.timestep = step.elapsed = first + static_cast<std::int64_t>(k);
      step.phase = k ? Step::Phase::LAST_OF_STEP : Step::Phase::SETUP;
      bias.evaluate(step, &s[k]);
    }
  }
  static std::vector<double> series(double r, double width, int n)
  {
    Autoregressive process(r);
    std::vector<double> s;
    for (int k = 0; k < n; ++k) s.push_back(5.0 + width * process.next());
    return s;
  }

  std::vector<std::string> warned, printed;
};

using Texts = std::vector<std::string>;

// V'' is the change of dV/dS.
TEST_F(ObservedBias, stiffness_is_that_of_differences)
{
  struct Case {
    std::string words;
    double s;
    const char *name;
    double value;
  };
  for (const Case &c : {Case{"harmonic k 3 s0 1", 2.0, "k", 3.0},
                        {"wall/upper k 3 s0 1", 2.0, "k", 3.0},
                        {"wall/upper k 3 s0 1 exponent 4 offset 0.5", 2.0, "k", 3.0},
                        {"wall/lower k 3 s0 2 exponent 3 offset 0.5", 1.0, "k", 3.0},
                        {"metad sigma 0.4 height 0.7 pace 1 file FILE", 5.0, "height", 0.7}}) {
    const auto bias = make(c.words);
    bias->begin({});
    const auto stiffness = bias->stiffness(0, c.s);
    EXPECT_EQ(stiffness.name, c.name);
    EXPECT_EQ(stiffness.value, c.value);
    Step step;
    if (c.words[1] == 'e') {    // a hill at S
      step.timestep = 1;
      bias->evaluate(step, &c.s);
    }
    step.phase = Step::Phase::STEP;
    bias->set(step, nullptr);
    const double d = 1e-4, after = c.s + d, before = c.s - d;
    bias->evaluate(step, &after);
    const double slope = bias->state().dVdS[0];
    bias->evaluate(step, &before);
    const double found = std::fabs(slope - bias->state().dVdS[0]) / (2.0 * d);
    EXPECT_NEAR(stiffness.curvature, found, 1e-6 * found) << c.words;
  }
  // The largest k of a moving restraint
  EXPECT_EQ(make("moving k 3 s0 1 k/stop 9 steps 10")->stiffness(0, 0.0).value, 9.0);
  EXPECT_EQ(make("moving k 3 s0 1 k/stop 1 steps 10")->stiffness(0, 0.0).curvature, 3.0);
  EXPECT_EQ(make("linear k 3")->stiffness(0, 0.0).curvature, 0.0);
  EXPECT_EQ(make("wall/upper k 3 s0 1 exponent 4")->stiffness(0, 0.5).curvature, 0.0);
  EXPECT_EQ(make("wall/upper k 3 s0 1")->stiffness(0, 0.5).curvature, 6.0);
}

TEST_F(ObservedBias, no_warning_of_a_good_bias)
{
  const auto bias = make("metad sigma 0.05 height 0.01 pace 50 file FILE");
  bias->begin({});
  // The fluctuation is 0.1. S moves between deposits in 50 steps.
  std::vector<double> s;
  Autoregressive process(0.2);
  for (double last = 5.0, next; s.size() < 10000; last = next) {
    next = 5.0 + 0.1 * process.next();
    for (int k = 1; k <= 50; ++k) s.push_back(last + (next - last) * k / 50);
  }
  run(*bias, s);
  EXPECT_EQ(warned, Texts());
}

TEST_F(ObservedBias, a_jump_of_s)
{
  const auto bias = make("metad sigma 0.3 height 0.1 pace 2 file FILE");
  bias->begin({});
  // Between deposits, and before the first evaluation
  run(*bias, {5.0, 5.3, 5.2, 5.1, 5.15});
  run(*bias, {7.0, 7.0, 7.0}, 5);
  EXPECT_EQ(warned, Texts());
  run(*bias, {5.0, 5.0, 5.11, 5.0, 5.2, 5.4}, 20);
  EXPECT_EQ(warned,
            Texts({"c_a changed by 0.11 between two evaluations of the bias, more than a "
                   "third of sigma 0.3 - use a larger sigma, a smaller timestep or stride, "
                   "or a smoother variable"}));
}

// Adaptive kernels have no keyword sigma.
TEST_F(ObservedBias, a_jump_of_s_with_adaptive_kernels)
{
  const auto bias = make("opes barrier 10 temp 1 pace 10 sigma/adaptive 10 file FILE");
  bias->begin({});
  std::vector<double> s = series(0.3, 0.1, 25);
  s.insert(s.end(), {5.0, 5.0, 5.0, 5.0, 5.0, 9.0});
  run(*bias, s);
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_NE(warned[0].find(" - use a larger sigma/min, a smaller timestep or stride, or a "),
            std::string::npos)
      << warned[0];
}

TEST_F(ObservedBias, summary_of_a_period)
{
  const auto bias = make("metad sigma 0.5 height 1e-3 pace 1 file FILE", 1, {0.0, 10.0});
  bias->begin({});
  std::vector<double> s;
  for (int k = 0; k <= 120; ++k) s.push_back(std::fmod(3.0 + 0.1 * k, 10.0));
  run(*bias, s);
  EXPECT_NE(bias->summary().find(", distance of c_a from its first value 0 to 5 with "),
            std::string::npos)
      << bias->summary();
}

TEST_F(ObservedBias, periods_are_no_jumps)
{
  const auto bias = make("metad sigma 0.3 height 0.1 pace 1 file FILE", 1, {0.0, 10.0});
  bias->begin({});
  run(*bias, {0.05, 9.98, 0.01, 9.99});
  EXPECT_EQ(warned, Texts());
}

TEST_F(ObservedBias, sigma_and_the_fluctuation)
{
  const auto about_sigma = [this](const std::string &sigma) {
    warned.clear();
    const auto bias = make("metad sigma " + sigma + " height 1e-3 pace 1 file FILE");
    bias->begin({});
    run(*bias, series(0.3, 0.1, 300));
    std::string found;
    for (const auto &text : warned)
      if (text.find("fluctuation") != std::string::npos) found += text;
    return found;
  };
  const std::string end = " within 5 hills - use about half of the fluctuation, 0.04";
  const std::string above = about_sigma("0.2"), below = about_sigma("0.005");
  EXPECT_EQ(above.rfind("sigma 0.2 of c_a is above the fluctuation of c_a, 0.09", 0), 0u) << above;
  EXPECT_NE(above.find(end), std::string::npos) << above;
  EXPECT_EQ(below.rfind("sigma 0.005 of c_a is below a tenth of the fluctuation of c_a, 0.09", 0),
            0u)
      << below;
  EXPECT_NE(below.find(end), std::string::npos) << below;
  EXPECT_EQ(about_sigma("0.05"), "");
  // Of OPES, sigma is that of the user, which is 0.5 to 0.4 times as large at the last kernels.
  const auto of_opes = [&](const std::string &words) {
    warned.clear();
    const auto bias = make("opes barrier 10 temp 1 pace 1 file FILE sigma" + words);
    bias->begin({});
    run(*bias, series(0.3, 0.1, 300));
    return std::count_if(warned.begin(), warned.end(), [](const std::string &text) {
      return text.find("fluctuation") != std::string::npos;
    });
  };
  EXPECT_EQ(of_opes(" 0.015"), 0);
  EXPECT_EQ(of_opes(" 0.005"), 1);
  EXPECT_EQ(of_opes("/adaptive 10 sigma/min 0.001"), 0);
}

TEST_F(ObservedBias, a_pace_that_is_too_short)
{
  const auto bias = make("metad sigma 0.5 height 1e-3 pace 1 file FILE");
  bias->begin({});
  run(*bias, series(0.95, 0.1, 500));
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_EQ(warned[0].rfind("the autocorrelation of c_a over one pace of 1 steps is 0.9", 0), 0u)
      << warned[0];
  EXPECT_NE(warned[0].find(", more than 0.8: hills pile up before c_a can leave - use a larger "
                           "pace, at least "),
            std::string::npos)
      << warned[0];
}

// A run that continues does not repeat the warning, unless its settings are others.
TEST_F(ObservedBias, a_pace_that_is_too_short_in_a_chain_of_runs)
{
  const std::string words = "metad sigma 0.5 pace 1 file FILE height ";
  const auto s = series(0.95, 0.1, 500);
  const auto pace_warnings = [this] {
    return std::count_if(warned.begin(), warned.end(), [](const std::string &text) {
      return text.rfind("the autocorrelation", 0) == 0;
    });
  };
  auto first = make(words + "1e-3");
  first->begin({});
  run(*first, s);
  run(*first, s, -1000);    // reset_timestep
  EXPECT_EQ(pace_warnings(), 1);
  ArchiveParts parts;
  first->save(parts);
  Archive archive;
  parts.write(archive);
  first.reset();    // closes the file
  const auto after_restart = [&](const std::string &height) {
    warned.clear();
    const auto bias = make(words + height);
    Archive copy(archive.bytes());
    ArchiveParts saved(copy);
    bias->load(saved);
    BiasStart start;
    start.is_restarted = true;
    bias->begin(start);
    run(*bias, s, 500);
    const std::string text = bias->summary();
    EXPECT_EQ(
        text.rfind("499 hills since the restart at step 500, of 1497 in " + path + ", c_a ", 0), 0u)
        << text;
    return pace_warnings();
  };
  EXPECT_EQ(after_restart("1e-3"), 0);
  EXPECT_EQ(warned, Texts());
  EXPECT_EQ(after_restart("2e-3"), 1);
}

TEST_F(ObservedBias, growth_of_a_grid_is_told_once)
{
  const auto bias = make("metad sigma 0.5 height 0.1 pace 1 grid 0 2 bins 8 file FILE");
  bias->begin({});
  run(*bias, {1.0, 1.0, 1.0});
  bias->summary();
  printed.clear();
  run(*bias, {1.0, 1.0, -1.0, 4.0, 6.0}, 2);
  EXPECT_EQ(printed, Texts());
  EXPECT_EQ(bias->summary(), "");
  EXPECT_EQ(
      printed,
      Texts({"the grid has grown: c_a from -1.75 to 3.75 is now from -4.5 to 8.25 in 51 bins"}));
  bias->summary();
  EXPECT_EQ(printed.size(), 1u);
}

TEST_F(ObservedBias, deposits_inside_walls)
{
  const auto inside = [this](const std::string &more, std::vector<Bias::Walls> walls, int every) {
    warned.clear();
    const auto bias = make("metad sigma 5 height 1e-3 pace 2 file FILE " + more);
    bias->begin({});
    bias->set_walls_of_others(walls);
    std::vector<double> s;
    Autoregressive process(0.0);
    for (int k = 0; k < 130; ++k) {
      const double value = (k % every == 1 ? 12.0 : 0.0) + process.next();
      s.insert(s.end(), 2, value);
    }
    run(*bias, s);
    Texts about;
    for (const auto &text : warned)
      if (text.find("inside a wall") != std::string::npos) about.push_back(text);
    return about;
  };
  const std::string end =
      " hills are inside a wall or beyond the interval, more than a fifth - use a wall with a "
      "larger k, or move the wall or the interval outwards";
  EXPECT_EQ(inside("", {}, 4), Texts());
  EXPECT_EQ(inside("", {{-20.0, 9.0}}, 4), Texts({"25 of 100" + end}));
  EXPECT_EQ(inside("", {{-20.0, 9.0}}, 6), Texts());
  EXPECT_EQ(inside("interval -20 9", {}, 4), Texts({"25 of 100" + end}));
  EXPECT_EQ(make("wall/upper k 1 s0 9 offset 0.5")->walls(0).upper, 8.5);
  EXPECT_EQ(make("wall/upper k 1 s0 9")->walls(0).lower, -HUGE_VAL);
  EXPECT_EQ(make("wall/lower k 1 s0 2 offset 0.5")->walls(0).lower, 2.5);
  EXPECT_EQ(make("wall/lower k 0 s0 2")->walls(0).lower, -HUGE_VAL);
  EXPECT_EQ(make("harmonic k 1 s0 2")->walls(0).upper, HUGE_VAL);
}

TEST_F(ObservedBias, summary)
{
  const auto bias = make("metad sigma 0.5 height 0.1 pace 1 biasfactor 5 temp 2 file FILE");
  bias->begin({});
  EXPECT_EQ(bias->deposits(), "hills");
  std::vector<double> s;
  Autoregressive process(0.0);
  const auto add = [&](double center, int n) {
    for (int k = 0; k < n; ++k) s.push_back(center + 0.1 * process.next());
  };
  add(1.0, 51);
  run(*bias, s, 1000);
  EXPECT_EQ(bias->summary(), "");    // fewer than 100
  s.clear();
  add(3.0, 51);
  run(*bias, s, 1050);
  const std::string text = bias->summary();
  EXPECT_EQ(text.rfind("100 hills since step 1000, c_a 0.", 0), 0u) << text;
  EXPECT_NE(text.find(" to 3."), std::string::npos) << text;
  EXPECT_NE(text.find(" with 1 crossing: not converged, "), std::string::npos) << text;
  EXPECT_NE(text.find(" independent values; the second half changed V by "), std::string::npos)
      << text;
  EXPECT_NE(text.find(" kT)"), std::string::npos) << text;
  EXPECT_EQ(bias->summary(), "");    // no further deposits
  // A run after reset_timestep
  for (int round = 0; round < 10; ++round) {
    add(1.0, 20);
    add(3.0, 20);
  }
  run(*bias, s, 0);
  const std::string later = bias->summary();
  EXPECT_EQ(later.rfind("450 hills since step 0, of 550 in " + path + ", c_a 0.", 0), 0u) << later;
  EXPECT_NE(later.find(" with 20 crossings, "), std::string::npos) << later;
}

}    // namespace
