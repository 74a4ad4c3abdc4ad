// Part of GPUCOORD, GPL-2.0. All kinds of bias through class Bias: closed forms, derivatives, work,
// hills, saved states, and errors about words.

#include "gpucoord/bias.h"
#include "gpucoord/device_terms.h"

#include "bias_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Phase = Step::Phase;

std::vector<std::string> split(const std::string &text)
{
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Step step(std::int64_t number, Phase phase = Phase::LAST_OF_STEP)
{
  Step result;
  result.phase = phase;
  result.timestep = result.elapsed = number;
  result.time = 0.5 * static_cast<double>(number);
  return result;
}

double no_variable(const std::string &name)
{
  ADD_FAILURE() << name;
  return 0.0;
}

class Kinds : public Files {
 protected:
  // FILE in words is the hills file of the test.
  std::unique_ptr<Bias> make(std::string words, int n = 1)
  {
    for (std::size_t at; (at = words.find("FILE")) != std::string::npos;)
      words.replace(at, 4, path);
    BiasContext context;
    context.command = "fix bias";
    for (int v = 0; v < n; ++v) {
      context.names.push_back(std::string("stu").substr(v, 1));
      context.labels.push_back("c_" + context.names.back());
    }
    context.boltzmann = 2.0;
    context.program = "program";
    context.units = "none";
    context.print = [this](const std::string &text) {
      messages.push_back(text);
    };
    context.warn = [this](const std::string &text) {
      warned.push_back(text);
    };
    return make_bias(split(words), context);
  }
  std::unique_ptr<Bias> begin(const std::string &words, int n = 1)
  {
    auto bias = make(words, n);
    bias->begin({});
    bias->begin_run(0);
    return bias;
  }
  // Returns V. x: value of the caller's variable x
  static double evaluate(Bias &bias, const std::vector<double> &s, const Step &at, double x = 0.0)
  {
    bias.set(at, [x](const std::string &name) {
      return name == "x" ? x : no_variable(name);
    });
    bias.evaluate(at, s.data());
    return bias.state().energy;
  }
  static void save(const Bias &bias, Archive &archive)
  {
    ArchiveParts parts;
    bias.save(parts);
    parts.write(archive);
  }
  static void load(Bias &bias, const Archive &saved)
  {
    Archive archive(saved.bytes());
    ArchiveParts parts(archive);
    bias.load(parts);
    parts.check_all_are_taken();
  }
  static DeviceTerms on_device(const Bias &bias, const Step &at)
  {
    DeviceTerms terms;
    bias.on_device(at, terms);
    return terms;
  }
  static std::map<std::string, double> outputs(const Bias &bias)
  {
    std::map<std::string, double> result;
    for (const auto &output : bias.outputs()) result[output.name] = output.value();
    return result;
  }

  std::vector<std::string> messages, warned;
};

// ---- V and its derivatives

struct ClosedForm {
  const char *words;
  std::function<double(double)> first, second;    // terms of the two variables
};

TEST_F(Kinds, closed_forms)
{
  const auto power = [](double base, double exponent) {
    return base > 0.0 ? std::pow(base, exponent) : 0.0;
  };
  const ClosedForm forms[] = {
      {"harmonic k 3 5 s0 1 -2",
       [](double s) {
         return 1.5 * (s - 1) * (s - 1);
       },
       [](double t) {
         return 2.5 * (t + 2) * (t + 2);
       }},
      {"linear k 3 -5",
       [](double s) {
         return 3 * s;
       },
       [](double t) {
         return -5 * t;
       }},
      {"linear k 3 -5 s0 1 2",
       [](double s) {
         return 3 * (s - 1);
       },
       [](double t) {
         return -5 * (t - 2);
       }},
      {"wall/upper k 3 5 s0 1 0.5 exponent 2.5 3 offset 0 0.25",
       [&](double s) {
         return 3 * power(s - 1, 2.5);
       },
       [&](double t) {
         return 5 * power(t - 0.25, 3);
       }},
      {"wall/lower k 3 5 s0 1 0.5",
       [&](double s) {
         return 3 * power(1 - s, 2);
       },
       [&](double t) {
         return 5 * power(0.5 - t, 2);
       }},
      {"moving k 3 5 s0 1 2 s0/stop 3 6 k/stop 7 5 steps 10",    // at step 4
       [](double s) {
         return 0.5 * 4.6 * (s - 1.8) * (s - 1.8);
       },
       [](double t) {
         return 2.5 * (t - 3.6) * (t - 3.6);
       }},
      {"moving k v_x 5 s0 1 v_x",
       [](double s) {
         return 1.25 * (s - 1) * (s - 1);
       },
       [](double t) {
         return 2.5 * (t - 2.5) * (t - 2.5);
       }},
  };
  for (const auto &form : forms) {
    SCOPED_TRACE(form.words);
    const auto bias = begin(form.words, 2);
    EXPECT_FALSE(bias->on_rank_0());
    EXPECT_EQ(bias->kind(), split(form.words)[0]);
    for (const double s : {-3.0, 0.3, 0.9, 1.1, 4.0}) {
      const std::vector<double> at = {s, 1.5 * s};
      const double v = form.first(at[0]) + form.second(at[1]);
      EXPECT_NEAR(evaluate(*bias, at, step(4), 2.5), v, 1e-13 * (1 + std::fabs(v)));
      EXPECT_EQ(bias->state().s, at);
    }
  }
}

TEST_F(Kinds, derivatives_are_limits_of_differences)
{
  for (const char *words :
       {"harmonic k 3 5 s0 1 -2", "linear k 3 -5", "moving k 3 5 s0 1 2 s0/stop 3 6 steps 10",
        "wall/upper k 3 5 s0 1 0.5 exponent 2.5 3 offset 0 0.25", "wall/lower k 3 5 s0 1 0.5",
        "metad sigma 0.5 0.7 height 2 pace 1 file FILE",
        "metad sigma 0.5 0.7 height 2 pace 1 file FILE biasfactor 4 temp 0.5",
        "metad sigma 0.5 0.7 height 2 pace 1 file FILE grid -4 8 -4 8 bins 60 60",
        "opes barrier 20 temp 1 sigma 0.5 0.7 pace 1 file FILE",
        "opes/explore barrier 20 temp 1 sigma/adaptive 5 pace 1 file FILE"}) {
    SCOPED_TRACE(words);
    const auto bias = begin(words, 2);
    for (int k = 1; k < 20 && bias->on_rank_0(); ++k)
      evaluate(*bias, {0.1 * k, std::sin(k)}, step(k));
    double maximum = 0.0;
    for (const double s : {0.3, 0.9, 1.6}) {
      std::vector<double> at = {s, 1.0 - s};
      evaluate(*bias, at, step(20, Phase::STEP));
      const auto dVdS = bias->state().dVdS;
      for (int v = 0; v < 2; ++v) {
        const double middle = at[v], h = 1e-5;
        at[v] = middle + h;
        const double up = evaluate(*bias, at, step(20, Phase::STEP));
        at[v] = middle - h;
        const double down = evaluate(*bias, at, step(20, Phase::STEP));
        at[v] = middle;
        EXPECT_NEAR((up - down) / (2 * h), dVdS[v], 1e-7 * (1.0 + std::fabs(dVdS[v])));
        maximum = std::max(maximum, std::fabs(dVdS[v]));
      }
    }
    EXPECT_GT(maximum, 0.1);
  }
}

// ---- parameters and work

TEST_F(Kinds, work_of_moving_parameters)
{
  const auto bias = begin("moving k 3 s0 1 s0/stop 3 steps 10");
  EXPECT_TRUE(bias->moves());
  double work = 0.0, last = 0.0;
  for (int k = 0; k < 15; ++k) {
    const double s = 1.0 + 0.3 * k, center = 1.0 + 0.2 * std::min(k, 10);
    const double before = center - (k <= 10 ? 0.2 : 0.0);
    const auto change = [&](double at) {
      return 1.5 * ((at - center) * (at - center) - (at - before) * (at - before));
    };
    if (k > 0) work += 0.5 * (change(last) + change(s));
    evaluate(*bias, {s}, step(k));
    EXPECT_NEAR(bias->state().work, work, 1e-12);
    EXPECT_NEAR(outputs(*bias)["s0 of c_s"], center, 1e-14);
    const auto terms = on_device(*bias, step(k));
    EXPECT_EQ(terms.moves, k > 0);
    EXPECT_NEAR(terms.now[0].s0, center, 1e-14);
    if (k > 0) { EXPECT_NEAR(terms.last[0].s0, before, 1e-14); }
    last = s;
  }
  // In a minimization, parameters do not change, and there is no work.
  evaluate(*bias, {2.0}, step(5, Phase::MINIMIZATION));
  EXPECT_EQ(outputs(*bias)["s0 of c_s"], 3.0);
  EXPECT_FALSE(on_device(*bias, step(5, Phase::MINIMIZATION)).moves);
  EXPECT_NEAR(bias->state().work, work, 1e-12);
}

TEST_F(Kinds, variables_of_the_caller)
{
  const auto bias = begin("moving k 3 v_y s0 v_x 2", 2);
  EXPECT_EQ(bias->caller_variables(), (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(bias->formula(0), "V = 3/2 (c_s - v_x)^2 + v_y/2 (c_t - 2)^2");
  std::vector<std::string> names;
  bias->set(step(0), [&](const std::string &name) {
    names.push_back(name);
    return 4.0;
  });
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(on_device(*bias, step(0)).now[0].s0, 4.0);
  EXPECT_EQ(on_device(*bias, step(0)).now[1].k, 4.0);
  try {
    bias->set(step(1), [](const std::string &name) {
      return name == "y" ? -0.5 : 4.0;
    });
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "variable y makes k -0.5, but it must be >= 0");
  }
  const auto fixed = begin("harmonic k 3 s0 2");
  EXPECT_FALSE(fixed->moves());
  EXPECT_TRUE(fixed->caller_variables().empty());
}

TEST_F(Kinds, not_finite)
{
  const auto error_at = [this](const std::string &words, double s, int k = 1) {
    const auto bias = begin(words);
    try {
      evaluate(*bias, {s}, step(k));
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string begin_of = "the bias is not a finite number: V = ";
  EXPECT_EQ(error_at("harmonic k 1 s0 0", 1e200),
            begin_of + "inf, dV/dS = 1e+200 at c_s = 1e+200 - use a smaller k or s0");
  EXPECT_EQ(error_at("wall/upper k 1 s0 0", 1e200),
            begin_of +
                "inf, dV/dS = 2e+200 at c_s = 1e+200 - use a smaller k, s0, exponent or offset");
  EXPECT_EQ(error_at("linear k 1e308 stride 4", 0.25, 4),
            begin_of + "2.5e+307, dV/dS = 1e+308 at c_s = 0.25 - use a smaller k or s0");
  EXPECT_EQ(error_at("metad sigma 1 height 1e308 pace 1 biasfactor 1.5 temp 1 file FILE", 2.0),
            begin_of + "inf, dV/dS = 0 at c_s = 2 - use a smaller height");
}

// ---- metadynamics

TEST_F(Kinds, hills)
{
  const std::string words = "metad sigma 0.5 height 2 pace 5 file FILE grid 0 10 bins 100 temp 1.5";
  auto bias = begin(words);
  EXPECT_TRUE(bias->on_rank_0());
  MetadynamicsOptions o;
  o.names = {"s"};
  o.sigma = {0.5};
  o.height = 2.0;
  o.kt = 3.0;
  o.grid = {{0.0, 10.0, 100}};
  Metadynamics expected(o);
  double dVdS, work = 0.0;
  for (int k = 0; k <= 30; ++k) {
    const double s = series(k);
    for (const auto phase : {Phase::STEP, Phase::LAST_OF_STEP, Phase::LAST_OF_STEP}) {
      // A hill is added once per timestep, and not at the beginning of a run.
      const bool is_due =
          phase == Phase::LAST_OF_STEP && k % 5 == 0 && k > 0 && expected.nhills() < k / 5;
      EXPECT_EQ(bias->needs_host(step(k, phase)), is_due);
      if (is_due) {
        const double before = expected.evaluate(&s, &dVdS);
        expected.add(expected.next_hill(&s, before));
        work += expected.evaluate(&s, &dVdS) - before;
      }
      EXPECT_EQ(evaluate(*bias, {s}, step(k, phase)), expected.evaluate(&s, &dVdS));
      EXPECT_EQ(bias->state().dVdS[0], dVdS);
    }
    EXPECT_EQ(on_device(*bias, step(k)).grid.version, expected.nhills());
  }
  EXPECT_EQ(expected.nhills(), 6);
  auto found = outputs(*bias);
  EXPECT_EQ(found["number of hills"], 6);
  EXPECT_EQ(found["work"], work);
  EXPECT_EQ(found["center of the last hill of c_s"], series(30));
  EXPECT_EQ(found["height of the last hill of c_s"], 2.0);
  EXPECT_EQ(found["maximum of V"], expected.maximum());
  EXPECT_EQ(found["c(t)"], expected.reweighting_offset());
  EXPECT_EQ(*on_device(*bias, step(30)).grid.values, expected.grid_values());
  EXPECT_NE(bias->formula(0).find("kT = 3 at temp 1.5, a hill every 5 steps\n  grid: c_s from 0 to "
                                  "10 in 100 bins\n  hills file " +
                                  path + ": units none, heights of the bias"),
            std::string::npos);
  bias.reset();    // unlocks the file
  EXPECT_EQ(HillsFile(path, o, "program", "none").read(HillsFile::ALL).hills.size(), 6);
}

TEST_F(Kinds, a_grid_that_grows)
{
  const std::string words = "metad sigma 0.5 height 2 pace 1 file FILE grid 0 9 bins 90";
  auto bias = begin(words);
  EXPECT_EQ(evaluate(*bias, {20.0}, step(0, Phase::SETUP)), 0.0);
  EXPECT_EQ(on_device(*bias, step(0)).grid.axes[0].above, 0);
  EXPECT_DOUBLE_EQ(evaluate(*bias, {20.0}, step(1)), 2.0);
  const auto grid = on_device(*bias, step(1)).grid;
  EXPECT_TRUE(grid.zero_outside);
  // Up to 20 + sqrt(12.5) 0.5 = 21.77 and a bin beyond, and a quarter of 90 bins
  EXPECT_EQ(grid.axes[0].above, 219 - 90 + 22);
  EXPECT_EQ(grid.values->size(), 2u * (91 + 151));
  // The error comes before the hill is written.
  const std::string hills = content(path);
  try {
    evaluate(*bias, {-1e9}, step(2));
    ADD_FAILURE();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 76),
              "the grid cannot grow to a hill at s = -1000000000: it would have 10000000261");
  }
  EXPECT_EQ(content(path), hills);
  EXPECT_EQ(outputs(*bias)["number of hills"], 1);
  EXPECT_DOUBLE_EQ(evaluate(*bias, {20.0}, step(3)), 4.0);
  bias.reset();
  for (const char *more : {" grow no", " interval 0 9", " grow no interval 0 9"}) {
    std::filesystem::remove(path);
    EXPECT_FALSE(on_device(*begin(words + more), step(1)).grid.zero_outside) << more;
  }
}

TEST_F(Kinds, on_device)
{
  const Step no_hill = step(1);
  EXPECT_TRUE(begin("metad sigma 0.5 height 2 pace 5 file FILE")->needs_host(no_hill));
  EXPECT_TRUE(
      make("metad sigma 0.5 height 2 pace 5 grid 0 9 bins 90 file FILE")->needs_host(no_hill));
  const auto bias =
      begin("metad sigma 0.5 height 2 pace 5 grid 0 9 bins 90 interval 1 8 file FILE");
  EXPECT_FALSE(bias->needs_host(no_hill));
  const auto terms = on_device(*bias, no_hill);
  EXPECT_TRUE(terms.has_grid() && terms.now.empty());
  EXPECT_EQ(terms.grid.axes[0].bins, 90);
  EXPECT_EQ(terms.grid.interval[0].hi, 8.0);
  // The state that a GPU or rank 0 computed.
  BiasState state = bias->state();
  state.s = {3.0};
  state.dVdS = {0.5};
  state.energy = 7.0;
  state.work = 9.0;
  bias->set_state(state);
  EXPECT_EQ(outputs(*bias)["c_s"], 3.0);
  EXPECT_EQ(outputs(*bias)["dV/dS of c_s"], 0.5);
  EXPECT_EQ(outputs(*bias)["work"], 9.0);
  EXPECT_NO_THROW(bias->check());
  state.dVdS = {INFINITY};
  bias->set_state(state);
  EXPECT_THROW(bias->check(), std::runtime_error);
}

TEST_F(Kinds, outputs_are_fixed_at_construction)
{
  const auto names = [this](const std::string &words, int n) {
    std::string text;
    const auto bias = make(words, n);
    for (const auto &output : bias->outputs())
      text += (text.empty() ? "" : ", ") + output.name + (output.on_demand ? "!" : "");
    return text;
  };
  const std::string hill = " of the last hill of c_";
  EXPECT_EQ(names("linear k 1 2", 2),
            "c_s, dV/dS of c_s, s0 of c_s, k of c_s, c_t, dV/dS of c_t, s0 of c_t, k of c_t, work");
  const std::string names_with_s = "c_s, dV/dS of c_s, center" + hill + "s, height" + hill +
      "s, work, "
      "number of hills";
  const std::string metad = "metad sigma 1 height 1 pace 1 file FILE";
  EXPECT_EQ(names(metad, 1), names_with_s);
  EXPECT_EQ(names(metad + " temp 1", 1), names_with_s);
  EXPECT_EQ(names(metad + " grid 0 9 bins 9", 1), names_with_s + ", maximum of V!");
  EXPECT_EQ(names(metad + " grid 0 9 bins 9 temp 1", 1), names_with_s + ", maximum of V!, c(t)!");
}

// ---- saved states

struct Continued {
  const char *words;
  int n;
};

TEST_F(Kinds, a_saved_bias_continues_exactly)
{
  for (const auto &c : {Continued{"harmonic k 3 s0 2", 1},
                        {"linear k 3 4", 2},
                        {"wall/upper k 3 s0 2 exponent 3", 1},
                        {"wall/lower k 3 s0 2", 1},
                        {"moving k 3 4 s0 2 1 s0/stop 5 4 k/stop 9 4 steps 30", 2},
                        {"metad sigma 0.5 height 2 pace 4 file FILE", 1},
                        {"metad sigma 0.5 0.4 height 2 pace 4 biasfactor 5 temp 1 file FILE", 2},
                        {"metad sigma 0.5 height 2 pace 4 grid 0 10 bins 100 file FILE", 1},
                        {"metad sigma 0.5 0.4 height 2 pace 4 grid 5 6 3 4 bins 9 9 file FILE", 2},
                        {"opes barrier 20 temp 1 sigma 0.5 pace 4 file FILE", 1},
                        {"opes barrier 20 temp 1 pace 2 sigma/adaptive 5 file FILE", 2},
                        {"opes/explore barrier 20 temp 1 pace 4 sigma/adaptive 22 file FILE", 1}}) {
    SCOPED_TRACE(c.words);
    const auto at = [](int k) {
      return std::vector<double>{series(k), second_series(k)};
    };
    std::filesystem::remove(path);
    auto bias = begin(c.words, c.n);
    Archive archive;
    for (int k = 0; k <= 30; ++k) {
      evaluate(*bias, at(k), step(k));
      if (k == 14) save(*bias, archive);
    }
    const auto last = bias->state();
    bias.reset();
    warned.clear();    // steps of S are large for sigma

    auto again = make(c.words, c.n);
    load(*again, archive);
    BiasStart start;
    start.is_restarted = true;
    start.restart_step = 14;
    again->begin(start);
    again->begin_run(14);
    EXPECT_TRUE(warned.empty());
    evaluate(*again, at(14), step(14, Phase::SETUP));
    EXPECT_TRUE(warned.empty());
    for (int k = 15; k <= 30; ++k) evaluate(*again, at(k), step(k));
    EXPECT_EQ(again->state().energy, last.energy);
    EXPECT_EQ(again->state().work, last.work);
    EXPECT_EQ(again->state().s, last.s);
    EXPECT_EQ(again->state().dVdS, last.dVdS);
    EXPECT_EQ(again->state().own, last.own);

    for (std::size_t size = 0; size < archive.bytes().size(); size += 8) {
      const Archive cut(archive.bytes().substr(0, size));
      EXPECT_THROW(load(*make(c.words, c.n), cut), std::runtime_error) << size;
    }
  }
}

TEST_F(Kinds, other_words_after_a_restart)
{
  const auto bias = begin("moving k 1 s0 2 s0/stop 3 steps 100");
  for (int k = 0; k <= 10; ++k) evaluate(*bias, {2.0}, step(k));
  Archive archive;
  save(*bias, archive);
  const auto again = make("moving k 1 s0 2 s0/stop 3 steps 200");
  load(*again, archive);
  BiasStart start;
  start.is_restarted = true;
  start.restart_step = 10;
  again->begin(start);
  for (int run = 0; run < 2; ++run) evaluate(*again, {2.0}, step(10, Phase::SETUP));
  EXPECT_EQ(warned,
            std::vector<std::string>{"continues with steps 200, but the restart file had steps "
                                     "100 - check the values of this command"});
}

// Parameters that do not move are those of the command, not of the restart file.
TEST_F(Kinds, other_words_of_a_static_bias_after_a_restart)
{
  for (const std::string kind : {"harmonic", "linear", "wall/upper", "wall/lower"}) {
    SCOPED_TRACE(kind);
    warned.clear();
    const auto bias = begin(kind + " k 1 s0 2");
    evaluate(*bias, {2.5}, step(10));
    Archive archive;
    save(*bias, archive);
    const auto again = make(kind + " k 3 s0 4"), fresh = begin(kind + " k 3 s0 4");
    load(*again, archive);
    BiasStart start;
    start.is_restarted = true;
    start.restart_step = 10;
    again->begin(start);
    for (const double s : {3.0, 5.0}) {
      evaluate(*again, {s}, step(10, Phase::SETUP));
      evaluate(*fresh, {s}, step(10, Phase::SETUP));
      EXPECT_EQ(again->state().energy, fresh->state().energy);
      EXPECT_EQ(again->state().dVdS, fresh->state().dVdS);
      EXPECT_EQ(again->state().work, 0.0);
    }
    EXPECT_EQ(warned,
              std::vector<std::string>{"c_s continues with s0 4 and k 3, but the restart file had "
                                       "2 and 1 - check the values of this command"});
  }
}

// An archive of the caller's bytes accesses only the values that are read, whatever its size.
TEST_F(Kinds, archive_with_a_wrong_size)
{
  Archive written;
  written.write(0.5);
  written.write(std::string("cubic"));
  written.write(std::vector<double>{1.5, 2.5});
  const std::vector<char> bytes(written.bytes().begin(), written.bytes().end());
  for (const std::size_t size : {bytes.size(), bytes.size() + 8, std::size_t(1) << 40}) {
    Archive read = Archive::of_bytes(bytes.data(), size);
    EXPECT_EQ(read.read_number(), 0.5);
    EXPECT_EQ(read.read_text(), "cubic");
    EXPECT_EQ(read.read_numbers(), (std::vector<double>{1.5, 2.5}));
    EXPECT_EQ(read.unread(), size - bytes.size());
  }
  Archive read = Archive::of_bytes(bytes.data(), bytes.size() - 1);
  read.read_number();
  read.read_text();
  EXPECT_THROW(read.read_numbers(), std::runtime_error);
}

TEST_F(Kinds, parts_of_other_versions)
{
  const auto error_of = [this](const std::function<void(ArchiveParts &)> &change) {
    ArchiveParts parts;
    change(parts);
    try {
      make("harmonic k 3 s0 2")->load(parts);
      parts.check_all_are_taken();
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto bias = make("harmonic k 3 s0 2");
  const auto save = [&bias](ArchiveParts &parts) {
    bias->save(parts);
  };
  const std::string way_out = " - continue with the version that wrote it, or use another fix ID";
  EXPECT_EQ(error_of(save), "");
  EXPECT_EQ(error_of([&](ArchiveParts &parts) {
              save(parts);
              parts.add("walkers", 1, Archive("abc"));
            }),
            "its saved state has a part walkers, which this version of GPUCOORD does not know" +
                way_out);
  EXPECT_EQ(error_of([](ArchiveParts &parts) {
              parts.add("bias", 2, Archive("abc"));
            }),
            "part bias of its saved state has version 2, but this version of GPUCOORD needs "
            "version 1" +
                way_out);
  EXPECT_EQ(error_of([](ArchiveParts &) {
            }),
            "its saved state has no part bias" + way_out);
  const std::vector<std::string> names = {"", "Bias", "b1", std::string(50, 'b')};
  for (const std::string &name : names) {
    ArchiveParts parts;
    parts.add(name, 1, {});
    Archive archive;
    parts.write(archive);
    EXPECT_THROW(ArchiveParts{archive}, std::runtime_error) << name;
  }
}

// ---- words

struct Wrong {
  const char *words;    // [] around the word that the error points at
  const char *text;
  int n = 1;
};

TEST_F(Kinds, wrong_words)
{
  std::string known;
  for (const auto &kind : bias_kinds()) known += (known.empty() ? "" : ", ") + kind;
  EXPECT_EQ(known, "harmonic, moving, wall/upper, wall/lower, linear, metad, opes, opes/explore");
  const std::string unknown = "Unknown fix bias kind: spring - known are " + known;
  const Wrong cases[] = {
      {"[spring] k 1", unknown.c_str()},
      {"harmonic k 1 [K] 2", "Unknown fix bias harmonic keyword: K - known are k, s0, stride"},
      {"harmonic k 1 s0 2 [k] 3", "Fix bias harmonic keyword k is given twice"},
      {"[harmonic] s0 2", "Fix bias harmonic needs keyword k"},
      {"harmonic [k] s0 2",
       "Fix bias harmonic keyword k takes 1 value, one for the variable c_s, but has 0"},
      {"harmonic k 1 [s0] 2 3",
       "Fix bias harmonic keyword s0 takes 1 value, one for the variable c_s, but has 2: 2 3"},
      {"linear [k] 1 1",
       "Fix bias linear keyword k takes 3 values, one for each of the variables c_s c_t c_u, but "
       "has 2: 1 1",
       3},
      {"harmonic k [1x] s0 2", "Fix bias harmonic k must be a number, not '1x'"},
      {"harmonic k [0x1] s0 2", "Fix bias harmonic k must be a number, not '0x1'"},
      {"harmonic k [inf] s0 2", "Fix bias harmonic k must be a number, not 'inf'"},
      {"harmonic k [v_x] s0 2",
       "Fix bias harmonic k must be a number, not 'v_x' - only k and s0 of kind moving may be a "
       "variable, v_name"},
      {"harmonic k 1 [-0.1] s0 2 2", "Fix bias harmonic k is -0.1 but must be >= 0", 2},
      {"harmonic k 1 s0 2 stride [0]",
       "Fix bias harmonic stride must be a number of steps from 1 to 2147483647, not '0'"},
      {"harmonic k 1 s0 2 stride [99999999999999999999]",
       "Fix bias harmonic stride must be a number of steps from 1 to 2147483647, not "
       "'99999999999999999999'"},
      {"moving k 1 s0 2 [s0/stop] 3",
       "Fix bias moving keyword s0/stop needs keyword steps, the number of steps to the stop"},
      {"moving k v_x s0 2 k/stop [3] steps 4",
       "Fix bias moving: k is the variable v_x, so k/stop cannot change it"},
      {"wall/upper k 1 s0 2 exponent [1]",
       "Fix bias wall/upper exponent is 1 but must be > 1, or the force jumps at the wall"},
      {"metad sigma 1 height 1 pace [5] file H stride 2",
       "Fix bias metad pace 5 is not a multiple of stride 2: hills are added where the bias is "
       "evaluated - use pace 6"},
      {"metad sigma 1 height 1 pace 1 file H append [maybe]",
       "Fix bias metad append must be yes or no, not 'maybe'"},
      {"metad sigma 1 height 1 pace 1 file H grid 0 9 bins 9 write_grid 1 [H]",
       "Fix bias metad write_grid cannot write to the hills file H - use another name"},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.words);
    auto words = split(c.words);
    int expected = ParseError::WHOLE_COMMAND;
    std::string plain;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (words[k][0] == '[') {
        expected = static_cast<int>(k);
        words[k] = words[k].substr(1, words[k].size() - 2);
      }
      plain += words[k] + " ";
    }
    try {
      make(plain, c.n);
      ADD_FAILURE();
    } catch (const ParseError &e) {
      EXPECT_STREQ(e.what(), c.text);
      EXPECT_EQ(e.word, expected);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Kinds, setup)
{
  EXPECT_EQ(make("harmonic k 50 s0 5.5")->formula(7), "V = 50/2 (c_s - 5.5)^2");
  EXPECT_EQ(make("moving k 50 s0 4 s0/stop 8 steps 100")->formula(7),
            "V = 50/2 (c_s - (4 -> 8 from step 7 to 107))^2");
  EXPECT_EQ(make("wall/upper k 3 s0 2 exponent 3 offset 0.5")->formula(7),
            "V = 3 (c_s - 1.5)^3 where c_s > 1.5");
  EXPECT_EQ(make("wall/lower k 3 s0 2 offset 0.5")->formula(7),
            "V = 3 (2.5 - c_s)^2 where c_s < 2.5");
  EXPECT_EQ(make("linear k 3 -2", 2)->formula(7), "V = 3 (c_s - 0) + -2 (c_t - 0)");
  EXPECT_EQ(make("linear k 3 stride 5")->stride(), 5);
  EXPECT_EQ(make("linear k 3")->stride(), 1);
  EXPECT_EQ(make("linear k 3")->warning_of_rerun(), "");
  EXPECT_NE(make("metad sigma 1 height 1 pace 1 file FILE")->warning_of_rerun(), "");
}

}    // namespace
