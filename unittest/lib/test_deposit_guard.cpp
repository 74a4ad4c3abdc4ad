// Part of GPUCOORD, GPL-2.0. Deposits that keywords limits, deposit_if and max_skip leave out. The
// hills file tells which hills were added.

#include "gpucoord/bias.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

class Guard : public Files {
 protected:
  std::unique_ptr<Bias> make(const std::vector<std::string> &more)
  {
    std::vector<std::string> words = {"metad", "sigma", "0.5",  "height", "1",
                                      "pace",  "5",     "file", path};
    words.insert(words.end(), more.begin(), more.end());
    return make_bias(words, context);
  }
  // S is the timestep. on: value of the variable of deposit_if
  static void run(Bias &bias, int from, int to, const std::function<double(int)> &on = {})
  {
    bias.begin_run(from);
    for (int k = from; k <= to; ++k) {
      Step step;
      step.phase = k == from ? Step::Phase::SETUP : Step::Phase::LAST_OF_STEP;
      step.timestep = k;
      step.time = k;
      bias.set(step, [&](const std::string &name) {
        EXPECT_EQ(name, "ok");
        EXPECT_EQ(k % 5, 0);
        return on(k);
      });
      const double s = k;
      bias.evaluate(step, &s);
    }
  }
  std::string error_of_run(Bias &bias, int from, int to, const std::function<double(int)> &on = {})
  {
    try {
      run(bias, from, to, on);
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "";
  }
  std::vector<double> centers() const
  {
    std::vector<double> result;
    std::istringstream lines(content(path));
    for (std::string line; std::getline(lines, line);)
      if (line[0] != '#') result.push_back(std::stod(line.substr(line.find(' ', 1))));
    return result;
  }
  static double last_output(const Bias &bias) { return bias.outputs().back().value(); }

  BiasContext context = context_of_s();
};

TEST_F(Guard, limits)
{
  const auto bias = make({"limits", "12", "30"});
  EXPECT_EQ(bias->outputs().back().name, "number of hills left out");
  EXPECT_EQ(make({})->outputs().back().name, "number of hills");
  bias->begin({});
  run(*bias, 0, 52);
  EXPECT_EQ(centers(), (std::vector<double>{15, 20, 25, 30}));
  EXPECT_EQ(last_output(*bias), 6);
  EXPECT_EQ(bias->outputs()[5].value(), 4);
}

// Limits of a periodic variable can be of any image, also across the ends of its period.
TEST_F(Guard, limits_of_a_period)
{
  context.periods = {{0.0, 20.0}};
  for (const auto &[lo, hi, expected] :
       {std::tuple{"12", "23", std::vector{15.0, 20.0, 35.0, 40.0}},
        std::tuple{"-8", "3", std::vector{15.0, 20.0, 35.0, 40.0}},
        std::tuple{"4", "6", std::vector{5.0, 25.0, 45.0}},
        std::tuple{"3", "30", std::vector{5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0}}}) {
    const auto bias = make({"limits", lo, hi});
    bias->begin({});
    run(*bias, 0, 47);
    EXPECT_EQ(centers(), expected) << lo << " " << hi;
    EXPECT_EQ(last_output(*bias), 9.0 - static_cast<double>(expected.size()));
    std::filesystem::remove(path);
  }
}

TEST_F(Guard, a_variable_is_evaluated_when_a_hill_is_due)
{
  const auto bias = make({"deposit_if", "v_ok"});
  EXPECT_EQ(bias->caller_variables(), std::vector<std::string>{"ok"});
  EXPECT_EQ(bias->next_set(0), 5);
  EXPECT_EQ(bias->next_set(5), 10);
  bias->begin({});
  run(*bias, 0, 42, [](int step) {
    return step % 10 ? -0.5 : 0.0;
  });
  EXPECT_EQ(centers(), (std::vector<double>{5, 15, 25, 35}));
  EXPECT_EQ(last_output(*bias), 4);
}

TEST_F(Guard, the_number_in_a_row_ends_the_run_and_survives_a_restart)
{
  ArchiveParts saved;
  {
    const auto bias = make({"limits", "0", "12", "max_skip", "3"});
    EXPECT_NE(bias->formula(0).find("\n  no hill beyond limits: c_s from 0 to 12, max_skip 3"
                                    "\n  hills file "),
              std::string::npos);
    bias->begin({});
    run(*bias, 0, 21);
    bias->save(saved);
    EXPECT_EQ(
        error_of_run(*bias, 21, 40),
        "left out 3 hills in a row, the limit of max_skip, because c_s = 25 is beyond limits 0 "
        "12 - check this run, or give a larger max_skip or wider limits");
    EXPECT_EQ(centers(), (std::vector<double>{5, 10}));
  }
  const auto again = make({"limits", "0", "12", "max_skip", "3"});
  again->load(saved);
  BiasStart start;
  start.is_restarted = true;
  again->begin(start);
  EXPECT_EQ(last_output(*again), 2);
  EXPECT_NE(error_of_run(*again, 21, 25), "");
  EXPECT_EQ(last_output(*again), 3);
}

TEST_F(Guard, a_deposit_ends_the_row)
{
  const auto bias = make({"deposit_if", "v_ok", "max_skip", "2"});
  EXPECT_NE(bias->formula(0).find("\n  no hill where variable ok is 0, max_skip 2\n"),
            std::string::npos);
  bias->begin({});
  run(*bias, 0, 60, [](int step) {
    return step % 10;
  });
  EXPECT_EQ(last_output(*bias), 6);
  EXPECT_EQ(
      error_of_run(*bias, 60, 70,
                   [](int) {
                     return 0.0;
                   }),
      "left out 2 hills in a row, the limit of max_skip, because variable ok of deposit_if is "
      "0 - check this run, or give a larger max_skip or another condition in variable ok");
}

TEST_F(Guard, the_way_out_is_that_of_the_keyword_that_left_out_the_hill)
{
  const auto way_out = [this](int last, double value) {
    const auto bias =
        make({"limits", "0", "12", "deposit_if", "v_ok", "max_skip", "1", "append", "no"});
    bias->begin({});
    const std::string text = error_of_run(*bias, 0, last, [value](int) {
      return value;
    });
    return text.substr(text.find("because"));
  };
  EXPECT_EQ(way_out(5, 0.0),
            "because variable ok of deposit_if is 0 - check this run, or give a larger max_skip or "
            "another condition in variable ok");
  EXPECT_EQ(way_out(15, 1.0),
            "because c_s = 15 is beyond limits 0 12 - check this run, or give a larger max_skip or "
            "wider limits");
}

TEST_F(Guard, a_restart_without_the_keywords)
{
  ArchiveParts saved;
  {
    const auto bias = make({"limits", "0", "12"});
    bias->begin({});
    run(*bias, 0, 21);
    bias->save(saved);
    EXPECT_TRUE(saved.has("guard"));
  }
  {
    const auto bias = make({});
    bias->load(saved);
    saved.check_all_are_taken();
    BiasStart start;
    start.is_restarted = true;
    bias->begin(start);
    run(*bias, 21, 30);
    EXPECT_EQ(centers(), (std::vector<double>{5, 10, 25, 30}));
    ArchiveParts without;
    bias->save(without);
    EXPECT_FALSE(without.has("guard"));
  }
}

TEST_F(Guard, a_weight_that_overflows)
{
  context.boltzmann = 0.001;
  const auto error = [this](const std::string &temp, std::vector<std::string> more) {
    more.insert(more.end(), {"temp", temp});
    const auto bias = make(more);
    bias->begin({});
    bias->begin_run(0);
    std::string text;
    Step step;
    for (step.timestep = 5; step.timestep <= 15 && text.empty(); step.timestep += 5) {
      const double s = 1.0;
      try {
        bias->evaluate(step, &s);
      } catch (const std::runtime_error &e) {
        text = e.what();
      }
    }
    return text;
  };
  EXPECT_EQ(error("2", {"limits", "0", "2"}),
            "V = 2 is 1000 kT at temp 2, more than 700 kT - check height and temp, which are in "
            "units none");
  EXPECT_EQ(centers().size(), 1u);                    // the second hill is not written
  EXPECT_EQ(error("5", {"limits", "0", "2"}), "");    // 3/0.005 = 600
  EXPECT_EQ(centers().size(), 3u);
  EXPECT_EQ(error("2", {}), "");
  std::filesystem::remove(path);
  EXPECT_EQ(error("1", {"limits", "0", "2"}).rfind("V = 1 is 1000 kT at temp 1, ", 0), 0u);
  EXPECT_EQ(centers().size(), 0u);
}

}    // namespace
