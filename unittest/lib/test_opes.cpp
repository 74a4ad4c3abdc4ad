// Part of GPUCOORD, GPL-2.0. OPES: values of a real PLUMED, derivatives, merging, periods, and
// errors about words.

#include "../../lib/gpucoord/src/bias/opes.h"

#include "opes_runs.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>

namespace {

class Opes : public OpesRuns {};

const char *const BASE = "barrier 8 pace 10 temp 1 ";

// Words of this fix for the cases of reference.dat. NLIST of PLUMED is an approximation, which this
// fix does not have.
const std::map<std::string, std::string> CASES = {
    {"default", "opes sigma 0.15"},
    {"explore", "opes/explore sigma 0.15"},
    {"uniform", "opes sigma 0.15 biasfactor inf"},
    {"epsilon", "opes sigma 0.15 epsilon 0.01"},
    {"cutoff3", "opes sigma 0.15 cutoff 3"},
    {"adaptive", "opes"},
    {"adaptive_stride50", "opes sigma/adaptive 50 sigma/min 0.05"},
    {"sigma_min", "opes sigma 0.15 sigma/min 0.1"},
    {"threshold0", "opes sigma 0.15 threshold 0"},
    {"fixed_sigma", "opes sigma 0.15 fixed_sigma yes"},
    {"recursive_off", "opes sigma 0.15 recursive no"},
    {"two", "opes sigma 0.15 0.2"},
    {"two_adaptive", "opes"}};

TEST_F(Opes, values_of_plumed)
{
  const std::string data = opes_data();
  if (data.empty()) GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA has no folder opes";
  std::vector<std::vector<double>> series;
  std::ifstream trajectory(data + "/traj.dat");
  for (std::string line; std::getline(trajectory, line);)
    if (line[0] != '#') {
      const auto columns = words(line);
      series.push_back({std::stod(columns[1]), std::stod(columns[2])});
    }
  std::map<std::string, std::map<int, std::vector<double>>> expected;
  std::ifstream reference(data + "/reference.dat");
  for (std::string line; std::getline(reference, line);)
    if (line[0] != '#') {
      const auto columns = words(line);
      for (std::size_t k = 2; k < columns.size(); ++k)
        expected[columns[0]][std::stoi(columns[1])].push_back(std::stod(columns[k]));
    }

  for (const auto &[name, given] : CASES) {
    SCOPED_TRACE(name);
    const std::size_t n = name.rfind("two", 0) == 0 ? 2 : 1;
    ASSERT_FALSE(expected[name].empty());
    auto bias = begin(given + " " + BASE + "kernel plumed force plumed", static_cast<int>(n));
    for (int frame = 1; frame <= expected[name].rbegin()->first; ++frame) {
      const std::vector<double> s(series[frame].begin(), series[frame].begin() + n);
      // PLUMED makes a deposit after it computed V, this fix makes it before.
      const double v = evaluate(*bias, frame, s, Step::Phase::STEP);
      const auto dVdS = bias->state().dVdS;
      evaluate(*bias, frame, s);
      if (!expected[name].count(frame)) continue;
      SCOPED_TRACE(frame);
      const auto &values = expected[name][frame];
      const auto near = [](double found, double value) {
        EXPECT_NEAR(found, value, 1e-10 * std::max(1.0, std::fabs(value)));
      };
      near(v, values[0]);
      for (std::size_t k = 0; k < n; ++k) near(-dVdS[k], values[1 + k]);
      near(output(*bias, "rct"), values[1 + n]);
      near(output(*bias, "zed"), values[2 + n]);
      near(output(*bias, "neff"), values[3 + n]);
      EXPECT_EQ(output(*bias, "kernels after merging"), values[4 + n]);
    }
    bias.reset();
  }
}

// walkers.kernels was written with kernels of PLUMED, and the values are PLUMED's.
TEST_F(Opes, continues_with_kernels_of_plumed)
{
  const std::string data = opes_data();
  if (data.empty()) GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA has no folder opes";
  std::ofstream(path) << content(data + "/walkers.kernels");
  const auto bias = begin(std::string("opes sigma 0.15 kernel plumed append yes ") + BASE);
  EXPECT_EQ(messages.back(), "continues with 297 kernels of " + path);
  const std::vector<std::pair<double, double>> values = {
      {-1, 1.40391238211}, {0, -4.58070447124}, {1, 0.292991679134}};
  for (const auto &[s, v] : values) EXPECT_NEAR(evaluate(*bias, 1, {s}), v, 1e-10);
  EXPECT_NEAR(output(*bias, "rct"), -0.0392741814438, 1e-12);
  EXPECT_NEAR(output(*bias, "zed"), 0.135621887109, 1e-11);
  EXPECT_NEAR(output(*bias, "neff"), 106.628996792, 1e-8);
  EXPECT_EQ(output(*bias, "kernels after merging"), 23);
  const auto last = words(content(path));
  EXPECT_EQ(output(*bias, "V/kT at the last kernel"), std::stod(last.back()));
}

TEST_F(Opes, derivatives_are_limits_of_differences)
{
  const char *const forms[] = {"opes",
                               "opes kernel plumed",
                               "opes kernel plumed force exact",
                               "opes/explore",
                               "opes/explore kernel plumed",
                               "opes biasfactor inf",
                               "opes normalize no"};
  for (int n = 1; n <= 3; ++n)
    for (const std::string form : forms) {
      SCOPED_TRACE(form + " of " + std::to_string(n));
      const std::string sigma = n == 1 ? " sigma 0.2 "
          : n == 2                     ? " sigma 0.2 0.3 "
                                       : " sigma 0.2 0.3 0.3 ";
      auto bias = begin(form + sigma + BASE, n, {{-1.5, 3.0}, {}, {}});
      run(*bias, 0, 700, n);
      std::mt19937 random(7);
      std::uniform_real_distribution<double> uniform(-1.4, 1.4);
      for (int sample = 0; sample < 60; ++sample) {
        std::vector<double> s;
        for (int k = 0; k < n; ++k) s.push_back(uniform(random));
        const auto v_at = [&](int k, double shift) {
          auto moved = s;
          moved[k] += shift;
          return evaluate(*bias, 700, moved, Step::Phase::STEP);
        };
        evaluate(*bias, 700, s, Step::Phase::STEP);
        const auto dVdS = bias->state().dVdS;
        for (int k = 0; k < n; ++k) {
          // Differences of two sizes agree unless there is a kink between the points.
          const double wide = (v_at(k, 1e-5) - v_at(k, -1e-5)) / 2e-5;
          const double narrow = (v_at(k, 5e-6) - v_at(k, -5e-6)) / 1e-5;
          const double left = (v_at(k, 0.0) - v_at(k, -1e-5)) / 1e-5;
          if (form.find("plumed") != std::string::npos &&
              (std::fabs(wide - narrow) > 1e-6 || std::fabs(wide - left) > 0.05))
            continue;
          EXPECT_NEAR(dVdS[k], (4.0 * narrow - wide) / 3.0, 1e-6 * (1.0 + std::fabs(dVdS[k])));
        }
      }
      bias.reset();
    }
}

KernelSum shape(int n, KernelForm form = KernelForm::SMOOTH, double cutoff = 4.0)
{
  KernelSum result;
  result.nvariables = n;
  result.form = form;
  result.cutoff2 = cutoff * cutoff;
  result.end = std::exp(-0.5 * result.cutoff2);
  return result;
}

TEST_F(Opes, kernels_end_with_value_and_slope_0)
{
  OpesKernels smooth(shape(1)), plumed(shape(1, KernelForm::PLUMED));
  for (OpesKernels *kernels : {&smooth, &plumed}) kernels->add({2.0, 1.0, 0.5}, 1.0, true);
  const double inside = 1.0 + 0.5 * 4.0 * (1.0 - 1e-7), outside = 1.0 + 0.5 * 4.0 * (1.0 + 1e-7);
  double slope;
  EXPECT_NEAR(smooth.sum(&inside, &slope), 0.0, 1e-14);
  EXPECT_NEAR(slope, 0.0, 1e-8);
  EXPECT_GT(plumed.sum(&inside, &slope), 0.0);
  EXPECT_NEAR(slope, -2.0 * std::exp(-8.0) * 4.0 / 0.5, 1e-8);
  for (OpesKernels *kernels : {&smooth, &plumed}) {
    EXPECT_EQ(kernels->sum(&outside, &slope), 0.0);
    EXPECT_EQ(slope, 0.0);
  }
}

// The merged kernel has the mean and the variance of the sum of both.
TEST_F(Opes, merged_kernels_have_the_moments_of_both)
{
  const double centers[][2] = {{0.0, 0.3}, {1e6, 1e6 + 5e-4}, {-1e8, -1e8}};
  const double sigmas[] = {0.4, 1e-3, 1e-7};
  for (int k = 0; k < 3; ++k)
    for (const double height : {1e-300, 1e-9, 1.0, 1e9}) {
      OpesKernels kernels(shape(1));
      kernels.add({1.0, centers[k][0], sigmas[k]}, 1.0, true);
      kernels.add({height, centers[k][1], 0.8 * sigmas[k]}, 1.0, true);
      ASSERT_EQ(kernels.size(), 1u);
      const long double total = 1.0L + height, apart = centers[k][1] - centers[k][0];
      const long double variance = sigmas[k] * sigmas[k] * (1.0L + 0.64L * height) / total +
          height * apart * apart / total / total;
      EXPECT_NEAR(kernels.rows()[0], static_cast<double>(total), 1e-15 * kernels.rows()[0]);
      EXPECT_NEAR(kernels.rows()[1] - centers[k][0], static_cast<double>(apart * height / total),
                  std::fabs(centers[k][0]) * 3e-16 + 1e-15);
      EXPECT_NEAR(kernels.rows()[2], static_cast<double>(std::sqrt(variance)), 1e-14 * sigmas[k]);
    }
  // Weights below the smallest normal number.
  OpesKernels tiny(shape(1));
  for (int k = 0; k < 3; ++k) tiny.add({4e-323, 0.1 * k, 0.5}, 1.0, true);
  EXPECT_NEAR(tiny.rows()[1], 0.1, 1e-12);
  EXPECT_GT(tiny.rows()[2], 0.5);
}

// The sum of changes stays equal to the sum over all pairs.
TEST_F(Opes, overlap_of_kernels)
{
  for (const bool recursive : {true, false})
    for (int n = 1; n <= 3; ++n) {
      OpesKernels kernels(shape(n));
      for (int frame = 0; frame < 600; ++frame) {
        std::vector<double> kernel = {std::exp(4.0 * std::sin(0.3 * frame))};
        for (const double s : well(7 * frame, n)) kernel.push_back(s);
        for (int k = 0; k < n; ++k) kernel.push_back(0.1 + 0.05 * std::cos(frame + k));
        kernels.add(kernel, 1.0, recursive);
      }
      ASSERT_GT(kernels.size(), 5u);
      ASSERT_LT(kernels.size(), 600u);
      double expected = 0.0, ignored[3];
      for (std::size_t k = 0; k < kernels.size(); ++k)
        expected += kernels.sum(&kernels.rows()[k * (1 + 2 * n) + 1], ignored);
      EXPECT_NEAR(kernels.overlap(), expected, 1e-12 * expected);
    }
}

// A period only means that S is an angle: kernels near its ends act and merge across them.
TEST_F(Opes, origin_of_a_period_does_not_matter)
{
  for (const std::string given : {"opes sigma 0.3 ", "opes ", "opes/explore sigma 0.3 "}) {
    std::vector<double> v[2], last;
    for (int origin = 0; origin < 2; ++origin) {
      const Period period = {origin ? -1.0 : 0.5, 6.0};
      auto bias = begin(given + BASE, 1, {period});
      for (int frame = 1; frame <= 500; ++frame) {
        const double s = 0.5 + 0.4 * std::sin(0.8 * frame) + (frame > 250 ? 2.0 : 0.0);
        v[origin].push_back(evaluate(*bias, frame, {period.wrapped(s)}));
      }
      last.push_back(output(*bias, "kernels after merging"));
      const double center = output(*bias, "center of the last kernel of c_cv");
      EXPECT_TRUE(center >= period.lo && center < period.hi());
      bias.reset();
    }
    EXPECT_EQ(last[0], last[1]);
    for (std::size_t k = 0; k < v[0].size(); ++k) ASSERT_NEAR(v[0][k], v[1][k], 1e-9);
  }
}

// ---- adaptive sigma

TEST_F(Opes, averages_advance_once_a_timestep)
{
  auto plain = begin(std::string("opes ") + BASE);
  std::vector<double> expected;
  for (int frame = 1; frame <= 400; ++frame)
    expected.push_back(evaluate(*plain, frame, well(frame, 1)));
  plain.reset();
  auto other = begin(std::string("opes ") + BASE);
  for (int frame = 1; frame <= 400; ++frame) {
    evaluate(*other, frame, {0.3}, Step::Phase::STEP);
    evaluate(*other, frame, {0.4}, Step::Phase::MINIMIZATION);
    EXPECT_EQ(evaluate(*other, frame, well(frame, 1)), expected[frame - 1]);
    EXPECT_EQ(evaluate(*other, frame, well(frame, 1)), expected[frame - 1]);
    for (const auto &one : other->outputs()) one.value();
    ArchiveParts restart;
    other->save(restart);
    if (frame % 70 == 0) {    // the next run
      other->begin_run(frame);
      evaluate(*other, frame, well(frame, 1), Step::Phase::SETUP);
    }
  }
  EXPECT_GT(output(*other, "kernels after merging"), 3);
}

// In a harmonic well, S has a known variance, and with the final bias gamma times this variance.
// Sigma of OPES is the fluctuation in the well, that of OPES EXPLORE the one with the bias.
TEST_F(Opes, adaptive_sigma_is_the_fluctuation_in_a_basin)
{
  constexpr double FLUCTUATION = 0.2, GAMMA = 8.0;
  constexpr int STRIDE = 10000;
  for (const std::string kind : {"opes", "opes/explore"})
    for (const Period period : {Period(), Period{-3.0, 6.0}}) {
      auto bias = begin(kind + " sigma/adaptive " + std::to_string(STRIDE) +
                            " barrier 8 pace 1000 temp 1 fixed_sigma yes",
                        1, {period});
      std::mt19937 random(5);
      std::normal_distribution<double> normal;
      std::vector<double> errors;
      for (int frame = 1; frame <= 8 * STRIDE; ++frame) {
        const double width = FLUCTUATION * (frame <= STRIDE ? 1.0 : std::sqrt(GAMMA));
        const double s = 2.9 + width * normal(random);
        evaluate(*bias, frame, {period.wrapped(s)});
        if (frame != STRIDE && frame != 8 * STRIDE) continue;
        const std::string file = content(path);
        const auto row = words(file.substr(file.rfind('\n', file.size() - 2)));
        const double expected = FLUCTUATION * (kind == "opes" ? 1.0 : std::sqrt(GAMMA));
        errors.push_back((std::stod(row[2]) / expected - 1.0) * std::sqrt(2.0 * frame));
      }
      std::printf("%s: sigma differs by %.2f and %.2f statistical errors\n", kind.c_str(),
                  errors[0], errors[1]);
      for (const double error : errors) EXPECT_LT(std::fabs(error), 3.0);
      EXPECT_EQ(output(*bias, "number of kernels"), 71);
    }
}

TEST_F(Opes, first_adaptive_sigma)
{
  auto bias = begin(std::string("opes sigma/adaptive 37 ") + BASE);
  for (int frame = 1; frame < 40; ++frame) evaluate(*bias, frame, {frame % 2 ? 1.2 : 0.8});
  EXPECT_EQ(output(*bias, "number of kernels"), 0);
  EXPECT_EQ(bias->state().energy, -8.0);
  EXPECT_EQ(bias->state().dVdS[0], 0.0);
  evaluate(*bias, 40, {1.0});
  EXPECT_EQ(output(*bias, "number of kernels"), 1);
  bias.reset();
  bias = begin(std::string("opes ") + BASE);
  try {
    for (int frame = 1; frame <= 100; ++frame) evaluate(*bias, frame, {1.0});
    ADD_FAILURE();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(
        std::string(e.what()),
        "sigma of the first kernel is 0 for c_cv, below 1e-6: S hardly changed in 100 steps - "
        "use keyword sigma, sigma/min, or a larger sigma/adaptive");
  }
}

// ---- errors

TEST_F(Opes, weight_that_overflows)
{
  OpesOptions options;
  options.names = options.labels = {"cv"};
  options.kt = 2.0;
  options.biasfactor = 8.0;
  options.epsilon = 0.01;
  options.cutoff = 4.0;
  options.sigma = {0.1};
  const gpucoord::Opes opes(options);
  const double s = 0.0;
  EXPECT_NO_THROW(opes.propose(0.0, &s, 700.0));
  for (const double v : {701.0, -1401.0, std::numeric_limits<double>::quiet_NaN()}) try {
      opes.propose(0.0, &s, v);
      ADD_FAILURE();
    } catch (const std::runtime_error &e) {
      const std::string v_in_kt = v > 0.0 ? "350.5" : v < 0.0 ? "-700.5" : "nan";
      EXPECT_EQ(e.what(),
                "V/kT is " + v_in_kt +
                    ", but must be from -700 to 350 for the weight exp(V/kT) of a kernel - check "
                    "temp and the units of barrier");
    }
}

TEST_F(Opes, kernels_file_with_a_wrong_number)
{
  const std::string begin_of_file = "#! FIELDS time cv sigma_cv height logweight\n0 1 0.1 1 -1\n";
  const std::pair<std::string, std::string> cases[] = {
      {"0 1 0.1 1 800\n",
       "logweight of kernel 2 in kernels file FILE is 800, but must be from -700 to 350 for the "
       "weight exp(V/kT) of a kernel - check temp and the units of barrier"},
      {"0 1 0.1 0 1\n",
       "height of kernel 2 in kernels file FILE is 0, but must be > 0 - repair it, or use a backup "
       "of it"}};
  for (const auto &[line, text] : cases) {
    std::ofstream(path) << begin_of_file << line;
    try {
      begin(std::string("opes sigma 0.15 append yes ") + BASE);
      ADD_FAILURE();
    } catch (const std::runtime_error &e) {
      std::string message = e.what();
      EXPECT_EQ(message.replace(message.find(path), path.size(), "FILE"), text);
    }
  }
}

TEST_F(Opes, what_the_user_sees)
{
  auto bias =
      begin("opes sigma 0.15 0.2 sigma/min 0.01 0.02 recursive no kernel plumed force plumed "
            "biasfactor inf normalize no barrier 8 pace 10 temp 1 extra f_w",
            2, {{}, {0.0, 5.0}});
  EXPECT_EQ(bias->formula(0),
            "V = 1 kT ln(P/Z + 0.000335463), P = sum over kernels of h (exp(-d/2) - exp(-c^2/2)) "
            "for d < c^2, c = 4, d = (c_cv - s_1)^2/sigma_1^2 + (c_cw - s_2)^2/sigma_2^2\n"
            "  forces are those of PLUMED, which are not the derivatives of this V\n"
            "  divided by the sum of exp(V/kT), Z = 1, kT = 1 at temp 1\n"
            "  barrier 8, biasfactor inf, a kernel every 10 steps, kernels closer than 1 sigma are "
            "merged, once\n"
            "  sigma 0.15 0.2, at least 0.01 0.02, which shrinks with the number of samples, "
            "weights exp((V + f_w)/kT)\n"
            "  shortest differences of periodic variables: c_cw from 0 to 5\n"
            "  kernels file " +
                path + ": units none");
  EXPECT_EQ(bias->caller_energies(), std::vector<std::string>{"w"});
  bias.reset();
  bias = begin("opes/explore barrier 8 pace 10 temp 1 fixed_sigma yes");
  EXPECT_EQ(bias->formula(0),
            "V = 7 kT ln(P/Z + 0.318907), P = sum over kernels of h (exp(-d/2) - exp(-c^2/2) (1 + "
            "(c^2 - d)/2)) for d < c^2, c = 4, d = (c_cv - s_1)^2/sigma_1^2\n"
            "  divided by the number of samples, Z = mean of P at the kernels, kT = 1 at temp 1\n"
            "  barrier 8, biasfactor 8, a kernel every 10 steps, kernels closer than 1 sigma are "
            "merged\n"
            "  adaptive sigma of averages over 100 steps, fixed\n"
            "  kernels file " +
                path + ": units none");
  EXPECT_FALSE(bias->needs_host({Step::Phase::LAST_OF_STEP, 9}));
  EXPECT_TRUE(bias->needs_host({Step::Phase::LAST_OF_STEP, 10}));
  const auto bytes = bias->bytes();    // of statistics
  run(*bias, 0, 1000);
  const double kernels = output(*bias, "kernels after merging");
  EXPECT_GE(bias->bytes(), bytes + 24 * kernels);
  EXPECT_EQ(bias->memory_advice(),
            " for " + std::to_string(static_cast<int>(kernels)) +
                " kernels - use fewer variables, or a larger threshold, sigma or pace");
}

// The kernels of another barrier are not those of this V.
TEST_F(Opes, constants_of_the_file)
{
  auto bias = begin(std::string("opes sigma 0.15 ") + BASE);
  run(*bias, 0, 100);
  bias.reset();
  messages.clear();
  bias = begin("opes sigma 0.15 barrier 9 pace 10 temp 1 append yes");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0],
            "kernels file " + path +
                " has biasfactor 8 in place of 9, epsilon 0.0001069812317752422 in place of "
                "4.006529739e-05, kernel_cutoff 4.2761798705987903 in place of 4.5 - check the "
                "values of this command");
}

TEST_F(Opes, errors_of_words)
{
  const std::string needed = " barrier 8 pace 10 temp 1";
  const std::vector<std::pair<std::string, std::string>> errors = {
      {"opes pace 10 temp 1", "opes: Fix bias opes needs keyword barrier"},
      {"opes barrier 8 temp 1", "opes: Fix bias opes needs keyword pace"},
      {"opes barrier 8 pace 10", "opes: Fix bias opes needs keyword temp"},
      {"opes barrier 0 pace 10 temp 1", "0: Fix bias opes barrier is 0 but must be > 0"},
      {"opes barrier 8 pace 10 temp 0", "0: Fix bias opes temp is 0 but must be > 0"},
      {"opes/explore barrier 20 pace 10 temp 1 epsilon 1e-30",
       "1e-30: Fix bias opes/explore epsilon is 1e-30, whose power 19, the weight of the sample "
       "before "
       "the first kernel, is too small for a number - use a larger epsilon"},
      {"opes barrier 0.5 pace 10 temp 1",
       "0.5: Fix bias opes barrier 0.5 is 0.5 kT, but biasfactor, which is barrier/kT, must be > 1 "
       "- check temp and units, or use keyword biasfactor"},
      {"opes barrier 800 pace 10 temp 1",
       "800: Fix bias opes barrier 800 is 800 kT, and 801 kT/a with a = 0.9988, but at most 700 "
       "are possible - check temp and units"},
      {"opes biasfactor 1" + needed, "1: Fix bias opes biasfactor is 1 but must be > 1, or inf"},
      {"opes/explore sigma 0.1 biasfactor inf" + needed,
       "inf: Fix bias opes/explore takes no biasfactor inf - use kind opes"},
      {"opes biasfactor inf" + needed,
       "inf: Fix bias opes biasfactor inf is not possible with adaptive sigma - use keyword sigma "
       "for a sigma that is not adaptive"},
      {"opes stride 2" + needed,
       "2: Fix bias opes stride 2 is not possible with adaptive sigma, which needs S at every step "
       "- use keyword sigma for a sigma that is not adaptive"},
      {"opes append yes" + needed,
       "yes: Fix bias opes append yes is not possible with adaptive sigma, whose averages are not "
       "in the kernels file - continue from a restart file, or use keyword read_state"},
      {"opes sigma 0.1 append yes read_state S" + needed,
       "read_state: Fix bias opes keyword read_state is not possible with append yes, which takes "
       "all kernels from the kernels file - leave out one of them"},
      {"opes write_state 5 S" + needed,
       "5: Fix bias opes write_state every 5 steps is not a multiple of pace 10: it is written "
       "when a kernel is added - use 10"},
      {"opes append maybe" + needed, "maybe: Fix bias opes append must be yes or no, not 'maybe'"},
      {"opes sigma/adaptive 9" + needed,
       "9: Fix bias opes sigma/adaptive must be a number of steps from 10 to 2147483647, not '9'"},
      {"opes sigma 0.1 sigma/adaptive 90" + needed,
       "sigma/adaptive: Fix bias opes keywords sigma and sigma/adaptive exclude each other - leave "
       "out one of them"},
      {"opes sigma 0" + needed, "0: Fix bias opes sigma is 0 but must be > 0"},
      {"opes sigma 0.1 0.2" + needed,
       "sigma: Fix bias opes keyword sigma takes 1 value, one for the variable c_cv, but has 2: "
       "0.1 "
       "0.2"},
      {"opes sigma/min -1" + needed, "-1: Fix bias opes sigma/min is -1 but must be > 0"},
      {"opes sigma 0.1 sigma/min 0.2" + needed,
       "0.2: Fix bias opes sigma/min is 0.2, which must not be above sigma 0.1"},
      {"opes epsilon 0" + needed, "0: Fix bias opes epsilon is 0 but must be > 0"},
      {"opes cutoff 0" + needed, "0: Fix bias opes cutoff is 0 but must be > 0"},
      {"opes threshold 5" + needed,
       "5: Fix bias opes threshold is 5 but must be >= 0 and below cutoff 4.27618"},
      {"opes threshold -1" + needed,
       "-1: Fix bias opes threshold is -1 but must be >= 0 and below cutoff 4.27618"},
      {"opes cutoff 0.5" + needed,
       "opes: Fix bias opes threshold is 1 but must be >= 0 and below cutoff 0.5 - use keyword "
       "threshold, or a larger cutoff"},
      {"opes recursive 1" + needed, "1: Fix bias opes recursive must be yes or no, not '1'"},
      {"opes kernel round" + needed,
       "round: Fix bias opes kernel must be smooth or plumed, not 'round'"},
      {"opes extra w" + needed,
       "w: Fix bias opes extra must be f_ID, the energy of another fix, not 'w'"},
      {"opes force exact" + needed, "force: Fix bias opes keyword force needs kernel plumed"},
      {"opes kernel plumed force good" + needed,
       "good: Fix bias opes force must be exact or plumed, not 'good'"}};
  for (const auto &[given, text] : errors) EXPECT_EQ(error_of(given), text);
  EXPECT_EQ(error_of("opes" + needed, 3), "");
}

}    // namespace
