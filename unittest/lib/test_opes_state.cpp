// Part of GPUCOORD, GPL-2.0. OPES: state files of a real PLUMED and of this fix, and their errors.

#include "../../lib/gpucoord/src/bias/opes.h"

#include "opes_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace {

class OpesState : public OpesRuns {
 protected:
  std::string state_path() const { return (folder / "STATE").string(); }
  std::string error_of_state(const std::string &text, const std::string &given,
                             std::vector<Period> periods = {})
  {
    std::ofstream(state_path(), std::ios::binary) << text;
    try {
      begin(given + " read_state " + state_path(), 1, std::move(periods));
    } catch (const std::runtime_error &e) {
      std::string message = e.what();
      const auto at = message.find(state_path());
      return at == std::string::npos ? message : message.replace(at, state_path().size(), "STATE");
    }
    return "";
  }
};

const char *const BASE = " barrier 8 pace 10 temp 1 kernel plumed ";

// The outputs of PLUMED at the step of its state, and V of a run that made the same kernels.
TEST_F(OpesState, states_of_plumed)
{
  const std::string data = opes_data();
  if (data.empty()) GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_DATA has no folder opes";
  std::map<std::string, std::vector<std::string>> last;    // by case
  std::ifstream reference(data + "/reference.dat");
  for (std::string line; std::getline(reference, line);) last[words(line)[0]] = words(line);
  std::vector<double> series;
  std::ifstream trajectory(data + "/traj.dat");
  for (std::string line; std::getline(trajectory, line);)
    if (line[0] != '#') series.push_back(std::stod(words(line)[1]));

  const std::map<std::string, std::string> cases = {
      {"default", "opes sigma 0.15"}, {"explore", "opes/explore sigma 0.15"}, {"adaptive", "opes"}};
  for (const auto &[name, given] : cases) {
    SCOPED_TRACE(name);
    auto run = begin(given + BASE);
    for (int frame = 1; frame <= 3000; ++frame) evaluate(*run, frame, {series[frame]});
    auto read = make(given + BASE + "read_state " + data + "/" + name + ".state");
    run->begin_run(3000);
    std::map<double, double> v;
    for (double s = -1.7; s < 1.8; s += 0.1) v[s] = evaluate(*run, 3000, {s}, Step::Phase::SETUP);
    std::vector<double> later;
    for (int frame = 1; frame <= 40; ++frame)
      later.push_back(evaluate(*run, 3000 + frame, {series[frame]}));
    run.reset();
    messages.clear();
    read->begin({});
    read->begin_run(3000);
    for (const auto &[s, expected] : v)
      EXPECT_NEAR(evaluate(*read, 3000, {s}, Step::Phase::SETUP), expected, 1e-11);
    const auto &expected = last[name];
    EXPECT_NEAR(output(*read, "rct"), std::stod(expected[4]), 1e-12);
    EXPECT_NEAR(output(*read, "zed"), std::stod(expected[5]), 1e-12);
    EXPECT_NEAR(output(*read, "neff"), std::stod(expected[6]), 1e-9);
    EXPECT_EQ(output(*read, "kernels after merging"), std::stod(expected[7]));
    for (int frame = 1; frame <= 40; ++frame)
      EXPECT_NEAR(evaluate(*read, 3000 + frame, {series[frame]}), later[frame - 1], 1e-10);
    ASSERT_GE(messages.size(), 2u);    // others name the renamed kernels file, and a jump of S
    EXPECT_EQ(messages[0],
              "continues with " + expected[7] + " kernels of state file " + data + "/" + name +
                  ".state");
    read.reset();
  }
}

TEST_F(OpesState, state_of_this_fix)
{
  const Period angle = {-3.14159265358979323846, 2.0 * 3.14159265358979323846};
  for (const std::string given : {"opes sigma 0.3 0.2", "opes", "opes/explore"}) {
    SCOPED_TRACE(given);
    const std::string state = given + " barrier 8 pace 10 temp 1 ";
    auto first = begin(state + "write_state 100 " + state_path(), 2, {angle, {}});
    run(*first, 0, 420, 2);
    first.reset();
    const std::string written = content(state_path());
    EXPECT_NE(written.find("#! SET min_cv -pi\n#! SET max_cv pi\n"
                           "# program units none: time in these; kernel smooth\n"
                           "# GPUCOORD state format 1\n0."),
              std::string::npos)
        << written;
    auto whole = begin(state, 2, {angle, {}});
    run(*whole, 0, 500, 2);
    const auto expected = whole->state();
    whole.reset();
    auto again = begin(state + "read_state " + state_path(), 2, {angle, {}});
    EXPECT_EQ(again->warning_of_rerun().rfind("rerun adds no kernels, V is that of state file ", 0),
              0u);
    run(*again, 400, 500, 2);
    EXPECT_NEAR(again->state().energy, expected.energy, 1e-11);
    for (const char *const name : {"rct", "zed", "neff", "kernels after merging"}) {
      whole = make(state, 2, {angle, {}});
      whole->set_state(expected);
      EXPECT_NEAR(output(*again, name), output(*whole, name), 1e-10) << name;
    }
    again.reset();
  }
}

// A state with other kernels than those of the file of kernels continues exactly, too.
TEST_F(OpesState, restart_after_a_state)
{
  const std::string state = std::string("opes") + BASE;
  auto first = begin(state + "write_state 100 " + state_path());
  run(*first, 0, 300);
  first.reset();
  auto second = begin(state + "read_state " + state_path());
  run(*second, 300, 360);
  ArchiveParts saved;
  second->save(saved);
  run(*second, 360, 450);
  const auto last = second->state();
  second.reset();
  for (const std::string &more : {"read_state " + state_path(), std::string()}) {
    auto third = make(state + more);
    ArchiveParts parts = saved;
    third->load(parts);
    BiasStart start;
    start.is_restarted = true;
    third->begin(start);
    // The kernels, and those of the restart file
    EXPECT_GE(third->bytes(), 2 * 3 * sizeof(double) * output(*third, "kernels after merging"));
    run(*third, 360, 450);
    EXPECT_EQ(third->state().energy, last.energy);
    EXPECT_EQ(third->state().own, last.own);
    EXPECT_EQ(third->state().work, last.work);
  }
}

// Older versions saved averages of adaptive sigma in any case: their number, means and squares.
TEST_F(OpesState, restart_of_an_older_version)
{
  const std::string given = std::string("opes sigma 0.15 0.2") + BASE;
  auto first = begin(given, 2);
  run(*first, 0, 300, 2);
  ArchiveParts saved;
  first->save(saved);
  const std::string file = content(path);
  run(*first, 300, 450, 2);
  const auto last = first->state();
  first.reset();
  Archive bytes;
  saved.write(bytes);
  Archive from(bytes.bytes());
  // averages: how many numbers
  const auto load = [&](Bias &bias, std::size_t averages) {
    Archive in(from), to;
    std::int64_t left = in.read_integer();
    for (to.write(left); left > 0; --left) {
      const std::string name = in.read_text();
      to.write(name);
      to.write(in.read_integer());
      const std::string part = in.read_text();
      if (name != "bias") {
        to.write(part);
        continue;
      }
      Archive old(part), longer;
      for (int k = 0; k < 2; ++k) longer.write(old.read_number());
      for (int k = 0; k < 3; ++k) {
        auto numbers = old.read_numbers();
        if (k == 2) numbers.resize(numbers.size() + averages);
        longer.write(numbers);
      }
      to.write(longer.bytes());
    }
    Archive changed(to.bytes());
    ArchiveParts parts(changed);
    bias.load(parts);
    parts.check_all_are_taken();
  };
  std::ofstream(path, std::ios::binary) << file;
  auto second = make(given, 2);
  load(*second, 1 + 2 * 2);
  BiasStart start;
  start.is_restarted = true;
  second->begin(start);
  run(*second, 300, 450, 2);
  EXPECT_EQ(second->state().energy, last.energy);
  EXPECT_EQ(second->state().own, last.own);
  second.reset();
  try {
    load(*make(given, 2), 3);
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(),
                 "its saved state has 12 numbers, but this command needs 9 - use the command and "
                 "the version of GPUCOORD that wrote it, or another fix ID");
  }
}

// A changed byte is an error, or another state.
TEST_F(OpesState, damaged_files)
{
  const std::string fixed = std::string("opes sigma 0.15") + BASE,
                    adaptive = std::string("opes") + BASE;
  for (const bool is_state : {true, false}) {
    const std::string given = is_state ? adaptive : fixed;
    auto bias = begin(given + "write_state 100 " + state_path());
    run(*bias, 0, 300);
    bias.reset();
    const std::string good = content(is_state ? state_path() : path);
    std::mt19937 random(5);
    int nerrors = 0;
    for (int sample = 0; sample < 500; ++sample) {
      std::string text = good;
      for (unsigned change = random() % 3 + 1; change > 0; --change) {
        const std::size_t at = random() % text.size();
        if (random() % 4 == 0)
          text.erase(at, random() % 40);
        else
          text[at] = static_cast<char>(random() % 2 ? "0123456789+-.e \n#!"[random() % 18]
                                                    : static_cast<char>(random() % 256));
      }
      std::filesystem::remove(path);
      std::ofstream(is_state ? state_path() : path, std::ios::binary) << text;
      try {
        auto read = begin(given + (is_state ? "read_state " + state_path() : "append yes"));
        run(*read, 300, 330);
        EXPECT_TRUE(std::isfinite(read->state().energy));
      } catch (const std::runtime_error &) {
        ++nerrors;
      }
    }
    EXPECT_GT(nerrors, 100);
    EXPECT_LT(nerrors, 500);
  }
}

// Saved states and state files with numbers that nobody can have written
TEST_F(OpesState, damaged_numbers)
{
  OpesOptions options;
  options.names = options.labels = {"cv"};
  options.barrier = options.biasfactor = 8.0;
  options.epsilon = 1e-4;
  options.cutoff = 4.0;
  options.stride = 100;
  const auto error = [&](double counter, double weights, std::int64_t nsamples, double mean,
                         std::size_t nkernels = 1) {
    Archive archive;
    for (const double number : {counter, weights, 1.0, 1.0}) archive.write(number);
    std::vector<double> rows;
    for (std::size_t k = 0; k < nkernels; ++k)
      rows.insert(rows.end(), {1.0, 10.0 * static_cast<double>(k), 0.1});
    archive.write(rows);
    archive.write(nsamples);
    for (const double value : {0.1, mean, 1.0}) archive.write(std::vector<double>{value});
    Opes opes(options);
    try {
      opes.load(archive);
      const double s = -50.0;
      double slope;
      std::vector<Deposit> round = {opes.propose(1.0, &s, opes.evaluate(&s, &slope))};
      opes.complete(round);
      opes.add(round[0]);
    } catch (const std::runtime_error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string damaged = "its saved state is damaged - use another restart file";
  EXPECT_EQ(error(2.0, 1.0, 200, 0.5), "");
  EXPECT_EQ(error(HUGE_VAL, 1.0, 200, 0.5), damaged);
  EXPECT_EQ(error(2.0, HUGE_VAL, 200, 0.5), damaged);
  EXPECT_EQ(error(2.0, 1.0, INT64_MAX, 0.5), damaged);
  EXPECT_EQ(error(2.0, 1.0, 200, std::nan("")), damaged);
  const std::string limit = " kernels are above the limit of 100000 - use fewer variables, or a "
                            "larger threshold, sigma or pace";
  EXPECT_EQ(error(2.0, 1.0, 200, 0.5, 99999), "");
  EXPECT_EQ(error(2.0, 1.0, 200, 0.5, 100000), "100001" + limit);
  EXPECT_EQ(error(2.0, 1.0, 200, 0.5, 100002), "100002" + limit);

  const std::string adaptive = std::string("opes") + BASE;
  auto bias = begin(adaptive + "write_state 100 " + state_path());
  run(*bias, 0, 200);
  bias.reset();
  std::string text = content(state_path());
  const std::string counter = "adaptive_counter 200";
  ASSERT_NE(text.find(counter), std::string::npos);
  text.replace(text.find(counter), counter.size(), "adaptive_counter 1e300");
  EXPECT_EQ(
      error_of_state(text, adaptive),
      "state file STATE: adaptive_counter is 1e300, but must be a number >= 0 and <= 1e+15 - give "
      "another file");
}

TEST_F(OpesState, errors)
{
  const std::string given = std::string("opes sigma 0.15") + BASE;
  auto bias = begin(given + "write_state 100 " + state_path());
  run(*bias, 0, 100);
  bias.reset();
  const std::string good = content(state_path());
  const auto changed = [&good](const std::string &from, const std::string &to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto without = [&good](const std::string &name) {
    const auto at = good.find("#! SET " + name + " ");
    return good.substr(0, at) + good.substr(good.find('\n', at) + 1);
  };
  EXPECT_EQ(error_of_state(good, given), "");
  std::filesystem::remove(path);
  EXPECT_EQ(error_of_state(changed("sigma_cv", "sigma_cw"), given),
            "state file STATE, line 1: it has the columns 'time cv sigma_cw height', but this fix "
            "needs 'time cv sigma_cv height' - give another file");
  EXPECT_EQ(error_of_state(changed("OPES_METAD_state", "OPES_METAD_EXPLORE_state"), given),
            "state file STATE: action is OPES_METAD_EXPLORE_state, but this fix needs "
            "OPES_METAD_state - give another file");
  EXPECT_EQ(error_of_state(without("sum_weights"), given),
            "state file STATE: it has no line '#! SET sum_weights' - give another file");
  EXPECT_EQ(
      error_of_state(changed("counter 11", "counter nan"), given),
      "state file STATE: counter is nan, but must be a number >= 1 and <= 1e+15 - give another "
      "file");
  EXPECT_EQ(error_of_state(changed("counter 11", "counter 1e18"), given),
            "state file STATE: counter is 1e18, but must be a number >= 1 and <= 1e+15 - give "
            "another file");
  EXPECT_EQ(error_of_state(changed("units none", "units real"), given),
            "state file STATE, line 11: its simulation has units real, but this one has units none "
            "- give another file");
  EXPECT_EQ(error_of_state(changed("state format 1", "state format 2"), given),
            "state file STATE: line 12: it has format 2, but this version of GPUCOORD needs format "
            "1 - give another file");
  EXPECT_EQ(error_of_state(good.substr(0, good.rfind(' ')), given),
            "state file STATE, line " + std::to_string(std::count(good.begin(), good.end(), '\n')) +
                ": 3 columns in place of 4 - give another file");
  EXPECT_EQ(error_of_state(good + "0.2 1 0 1\n", given),
            "state file STATE, line 16: sigma 0 is not above 0 - give another file");
  EXPECT_EQ(error_of_state(good + "0.2 1 x 1\n", given),
            "state file STATE, line 16: 'x' is not a number - give another file");
  EXPECT_EQ(error_of_state("0 1 1 1\n", given),
            "state file STATE, line 1: a kernel comes before the line '#! FIELDS time cv sigma_cv "
            "height' - give another file");
  EXPECT_EQ(error_of_state(good, given, {{0.0, 3.0}}),
            "state file STATE: it has no line '#! SET min_cv' - give another file");
  EXPECT_EQ(error_of_state(changed("#! SET zed", "#! SET min_cv 0\n#! SET zed"), given),
            "state file STATE: min_cv is 0, but the variable is not periodic here - give another "
            "file");
  EXPECT_EQ(error_of_state(good, std::string("opes") + BASE),
            "state file STATE: it has no line '#! SET adaptive_counter' - give another file");
  EXPECT_EQ(error_of_state(changed("#! SET kernel_cutoff ", "#! SET kernel_cutoff x"), given)
                .rfind("state file STATE: kernel_cutoff is x", 0),
            0u);
  const auto last = good.rfind("#! SET sum_weights ");
  const auto weights = good.substr(last, good.find('\n', last) - last);
  EXPECT_EQ(error_of_state(changed(weights, "#! SET sum_weights 0"), given),
            "state file STATE: sum_weights is 0, but must be > 0 - give another file");
  // A copy that ends early, at the end of a line
  const std::string cut = good.substr(0, good.rfind('\n', good.size() - 2) + 1);
  const std::string found = error_of_state(cut, given);
  EXPECT_EQ(found.rfind("state file STATE: zed is ", 0), 0u) << found;
  EXPECT_NE(found.find(", but that of its 2 kernels is "), std::string::npos) << found;
  EXPECT_NE(found.find(": lines are missing or changed - give another file"), std::string::npos);
  messages.clear();
  EXPECT_EQ(error_of_state(changed("threshold 1", "threshold 0.5"), given), "");
  EXPECT_EQ(messages[0],
            "state file " + state_path() +
                " has compression_threshold 0.5 in place of 1 - check the values of this command");
  const std::string missing = state_path() + ".none";
  try {
    begin(given + " read_state " + missing);
    ADD_FAILURE();
  } catch (const std::runtime_error &e) {
    EXPECT_EQ(
        e.what(),
        "cannot read state file " + missing +
            ": No such file or directory - give another file, or leave out keyword read_state");
  }
}

}    // namespace
