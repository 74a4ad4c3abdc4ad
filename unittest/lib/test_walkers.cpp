// Part of GPUCOORD, GPL-2.0. Walkers that share the hills of metadynamics. What is expected of V is
// the sum of hills as the documentation writes it; the hills are at S that the test chooses.

#include "walker_threads.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

double sum_of_hills(const std::vector<double> &centers, double s)
{
  const double end = std::exp(-6.25);
  double v = 0.0;
  for (const double center : centers) {
    const double u = (s - center) * (s - center) / (2.0 * 0.5 * 0.5);
    if (u < 6.25) v += (std::exp(-u) - end) / (1.0 - end);
  }
  return v;
}

TEST_F(SharedBias, hills_of_all_in_the_order_of_walkers)
{
  for (const int n : {1, 2, 4})
    for (const Words &grid : {Words(), Words{"grid", "0", "4", "bins", "40"}}) {
      make(n, {grid});
      begin();
      run(0, {23});
      expect_errors("");
      std::vector<std::pair<double, int>> expected;
      std::vector<double> centers;
      for (int step = 5; step <= 20; step += 5)
        for (int w = 0; w < n; ++w) {
          expected.emplace_back(position(w, step), w);
          centers.push_back(position(w, step));
        }
      EXPECT_EQ(lines(), expected);
      for (double s = 0.5; s < 3.6; s += 0.1) {
        const auto first = at(*walkers[0]->bias, s);
        if (grid.empty()) EXPECT_NEAR(first.energy, sum_of_hills(centers, s), 1e-12);
        for (const auto &walker : walkers) {
          const auto found = at(*walker->bias, s);
          EXPECT_EQ(found.energy, first.energy);
          EXPECT_EQ(found.dVdS, first.dVdS);
          EXPECT_EQ(found.own, first.own);
        }
      }
      const auto &outputs = walkers.back()->bias->outputs();
      EXPECT_EQ(outputs[5].value(), 4 * n);
      EXPECT_EQ(outputs.back().name, "number of walkers");
      EXPECT_EQ(outputs.back().value(), n);
      EXPECT_NE(content(path).find("height biasf clock\n"), std::string::npos);
      EXPECT_EQ(walkers[0]->bias->written_files().size(), 1u);
      if (n > 1) EXPECT_TRUE(walkers[1]->bias->written_files().empty());
    }
}

// Well-tempered heights depend on V before the round.
TEST_F(SharedBias, one_walker_has_the_bits_of_none)
{
  const std::vector<Words> well_tempered = {{"temp", "1", "biasfactor", "5"}};
  make(1, well_tempered, "none");
  begin();
  run(0, {43});
  const auto expected = walkers[0]->bias->state();
  const std::string file = content(path);
  make(1, well_tempered);
  begin();
  run(0, {43});
  EXPECT_EQ(walkers[0]->bias->state().energy, expected.energy);
  EXPECT_EQ(walkers[0]->bias->state().work, expected.work);
  EXPECT_EQ(walkers[0]->bias->state().dVdS, expected.dVdS);
  EXPECT_EQ(walkers[0]->bias->state().own, expected.own);
  std::string found = content(path);
  found.erase(found.find(" clock"), 6);
  for (std::size_t at = 0; (at = found.find(" 0\n", at)) != std::string::npos;) found.erase(at, 2);
  EXPECT_EQ(found, file);
}

TEST_F(SharedBias, heights_of_a_round_do_not_see_each_other)
{
  make(3, {{"temp", "1", "biasfactor", "5"}});
  begin();
  run(0, {5}, {}, [](int, int) {
    return 2.0;
  });
  expect_errors("");
  EXPECT_NEAR(at(*walkers[1]->bias, 2.0).energy, 3.0, 1e-14);
}

TEST_F(SharedBias, a_walker_that_leaves_out_hills)
{
  const Words none, some = {"limits", "0", "2", "max_skip", "3"};
  make(3, {none, some, none});
  EXPECT_NE(
      walkers[1]->bias->formula(0).find(
          "\n  no hill beyond limits: c_s from 0 to 2, max_skip 3\n  walkers: all 3 partitions\n"),
      std::string::npos);
  begin();
  run(0, {23});
  expect_errors("");
  std::vector<std::pair<double, int>> expected;
  for (int step = 5; step <= 20; step += 5)
    for (int w = 0; w < 3; ++w)
      if (w != 1 || position(w, step) <= 2.0) expected.emplace_back(position(w, step), w);
  ASSERT_LT(expected.size(), 12u);
  EXPECT_EQ(lines(), expected);
  for (const auto &walker : walkers)
    EXPECT_EQ(walker->bias->outputs()[5].value(), static_cast<double>(expected.size()));
  EXPECT_EQ(walkers[1]->bias->outputs().back().value(),
            12.0 - static_cast<double>(expected.size()));
  run(23, {60}, {}, [](int w, int step) {
    return w == 1 ? 3.0 : position(w, step);
  });
  expect_errors("walker 1: left out 3 hills in a row, the limit of max_skip, because c_s = 3 is "
                "beyond limits 0 2 - check this run, or give a larger max_skip or wider limits");
}

// An exploding run of one walker of eight fills the bias of all with hills where no other one is.
// The guard stops it before.
TEST_F(SharedBias, a_rogue_walker)
{
  const auto rogue = [](int w, int step) {
    return w == 5 && step > 12 ? 8.0 : position(w, step);
  };
  for (const bool is_guarded : {false, true}) {
    make(8, {is_guarded ? Words{"limits", "0", "5", "max_skip", "2"} : Words()});
    begin();
    run(0, {33}, {}, rogue);
    expect_errors(is_guarded
                      ? "walker 5: left out 2 hills in a row, the limit of max_skip, because "
                        "c_s = 8 is beyond limits 0 5 - check this run, or give a larger "
                        "max_skip or wider limits"
                      : "");
    EXPECT_EQ(lines().size(), is_guarded ? 23u : 48u);
    for (const auto &walker : walkers)
      EXPECT_NEAR(at(*walker->bias, 8.0).energy, is_guarded ? 0.0 : 4.0, 1e-14);
  }
}

TEST_F(SharedBias, a_round_without_hills)
{
  make(2, {{"limits", "5", "6"}});
  begin();
  run(0, {23});
  expect_errors("");
  EXPECT_TRUE(lines().empty());
  EXPECT_EQ(at(*walkers[1]->bias, 2.0).energy, 0.0);
}

TEST_F(SharedBias, a_walker_fails)
{
  for (const int step : {10, 12, 22})    // in a round, between two rounds, and after the last one
    for (const int bad : {0, 2}) {
      make(3);
      begin();
      run(0, {23}, {}, [&](int w, int k) {
        return w == bad && k == step ? std::nan("") : position(w, k);
      });
      const std::size_t nrounds = step == 10 ? 1 : step == 12 ? 2 : 4;
      expect_errors("walker " + std::to_string(bad) +
                    ": the bias is not a finite number: V = 0, dV/dS = 0 at c_s = nan - use a "
                    "smaller height");
      EXPECT_EQ(lines().size(), 3 * nrounds);
      for (const auto &walker : walkers)
        EXPECT_EQ(walker->bias->outputs()[5].value(), static_cast<double>(3 * nrounds));
      // Later meetings would wait for nobody.
      for (const auto &walker : walkers) walker->error.clear();
      run(23, {30});
      expect_errors("the walkers have stopped after an error - define the fix again");
    }
}

TEST_F(SharedBias, an_error_of_the_caller)
{
  for (const int bad : {0, 1}) {
    make(2);
    begin();
    all([&](int w) {
      Bias &bias = *walkers[w]->bias;
      if (w != bad)
        run_one(w, 0, 20, 20, position);
      else {
        bias.begin_run(0);
        bias.join_run(0, 20);
        bias.fail("bond atoms 1 2 missing");
      }
    });
    EXPECT_EQ(walkers[bad]->error, "");
    EXPECT_EQ(walkers[1 - bad]->error,
              "walker " + std::to_string(bad) + ": bond atoms 1 2 missing");
    EXPECT_TRUE(lines().empty());
  }
}

// Other processors may round differently, so that kinds whose deposits depend on their sum differ.
TEST_F(SharedBias, sums_that_differ)
{
  make(3);
  hub->damaged = 1;
  begin();
  run(0, {23});
  expect_errors("");
  std::vector<double> centers;
  for (int step = 5; step <= 20; step += 5)
    for (int w = 0; w < 3; ++w) centers.push_back(position(w, step));
  for (const auto &walker : walkers) {
    EXPECT_EQ(walker->messages.back(),
              "walkers had different sums of hills - they continue with that of walker 0");
    EXPECT_NEAR(at(*walker->bias, 1.9).energy, sum_of_hills(centers, 1.9), 1e-12);
    EXPECT_EQ(at(*walker->bias, 1.9).energy, at(*walkers[0]->bias, 1.9).energy);
    EXPECT_EQ(walker->bias->outputs()[5].value(), 12);
  }

  make(3, {{"grid", "0", "4", "bins", "40"}});
  hub->damaged = 1;
  begin();
  run(0, {23});
  expect_errors("walker 0: walkers have different sums of hills - continue from their last restart "
                "files");
}

TEST_F(SharedBias, damaged_records)
{
  const std::function<void(WalkerRecord &)> all_damages[] = {
      [](WalkerRecord &record) {
        record.ncolumns = 99;
      },
      [](WalkerRecord &record) {
        record.ncolumns = 3;
      },
      [](WalkerRecord &record) {
        std::fill_n(record.text, sizeof(record.text), 'x');
        record.status = WalkerRecord::FAILED;
      }};
  for (const auto &damages : all_damages) {
    make(3);
    hub->damages = damages;
    begin();
    run(0, {23});
    expect_errors("walker 2 has sent a damaged record - continue from the last restart files");
    EXPECT_EQ(lines().size(), 3u);
  }
}

TEST_F(SharedBias, the_file_of_walker_0)
{
  make(2);
  begin();
  run(0, {7});
  std::filesystem::remove(path);
  run(7, {12});
  EXPECT_EQ(walkers[0]->error, walkers[1]->error);
  EXPECT_EQ(walkers[1]->error.rfind("walker 0: hills file FILE was changed by another program", 0),
            0u)
      << walkers[1]->error;
  for (const auto &walker : walkers) EXPECT_EQ(walker->bias->outputs()[5].value(), 2);

  // The text is lost, but not the hills and their walkers.
  make(2, {{"limits", "0", "2.9"}});
  begin();
  run(0, {22});
  const auto before = lines();
  std::filesystem::resize_file(path, 5);
  run(22, {25});
  const std::string error = walkers[1]->error, end = ", with time 0 because";
  const auto from = error.find("/"), to = error.find(end);
  ASSERT_NE(to, std::string::npos) << error;
  walkers.clear();
  std::filesystem::rename(error.substr(from, to - from), path);
  make(2, {{"append", "yes"}});
  begin();
  expect_errors("");
  EXPECT_EQ(lines(), before);

  const std::string good = path;
  path = "/dev/full";
  make(2);
  path = good;
  begin();
  for (const auto &walker : walkers)
    EXPECT_EQ(
        walker->error,
        "walker 0: cannot write hills file /dev/full: No space left on device - make room, or "
        "allow writing, in its folder, and start the run again");
}

TEST_F(SharedBias, a_walker_ends_early)
{
  for (const int early : {0, 1}) {
    make(3);
    begin();
    std::vector<int> to(3, 40);
    to[early] = 12;
    run(0, to, {40});
    expect_errors("");
    for (int w = 0; w < 3; ++w) {
      EXPECT_EQ(walkers[w]->ended_at, w == early ? -1 : 15);
      EXPECT_EQ(walkers[w]->bias->outputs()[5].value(), 6);
      if (w != early)
        EXPECT_EQ(walkers[w]->messages.back(),
                  "walker " + std::to_string(early) +
                      " has ended its run before its last hill: this run ends, too");
    }
    EXPECT_EQ(lines().size(), 6u);
    // They can continue together.
    for (const auto &walker : walkers) walker->ended_at = -1;
    run(15, {22});
    expect_errors("");
    EXPECT_EQ(lines().size(), 9u);
  }
}

// Its later runs are left out, so that the others would wait for it.
TEST_F(SharedBias, a_walker_ends_early_after_its_last_hill)
{
  for (const int early : {0, 1}) {
    make(3);
    begin();
    std::vector<int> to(3, 24);
    to[early] = 21;
    run(0, to, {24});
    expect_errors("");
    EXPECT_EQ(lines().size(), 12u);
    for (int w = 0; w < 3; ++w) {
      EXPECT_EQ(walkers[w]->ended_at, w == early ? -1 : 24);
      if (w != early)
        EXPECT_EQ(walkers[w]->messages.back(),
                  "walker " + std::to_string(early) +
                      " has ended its run before its last step: later runs are left out");
    }
  }
  // All end in the same step.
  make(2);
  begin();
  run(0, {12}, {24});
  expect_errors("");
  for (const auto &walker : walkers) EXPECT_EQ(walker->ended_at, -1);
  run(12, {24});
  expect_errors("");
  EXPECT_EQ(lines().size(), 8u);
}

// A hill of each walker fits, but those of both do not. No one is written.
TEST_F(SharedBias, hills_that_the_grid_cannot_hold_together)
{
  make(2, {{"grid", "0", "4", "bins", "40"}});
  begin();
  run(0, {12}, {}, [](int w, int step) {
    return step < 10 ? position(w, step) : w ? 6e6 : -6e6;
  });
  expect_errors(
      "walker 0: the grid cannot grow to a hill at s = 6000000: it would have 120000053 "
      "points, more than 1e8 - use fewer bins, a wall that limits the variable, or keyword "
      "interval, beyond which the bias is constant");
  EXPECT_EQ(lines().size(), 2u);
}

// Walker 1 leaves the first bias, while walker 0 meets for the second one.
TEST_F(SharedBias, two_biases_and_a_walker_that_ends_early)
{
  for (const int early : {0, 1}) {
    make(2, {{"pace", "20"}});
    begin();
    auto others = std::move(walkers);
    const auto of_first = path;
    path += "2";
    keeps_hub = true;
    make(2);
    begin();
    keeps_hub = false;
    path = of_first;
    std::vector<int> last(2);
    all([&](int w) {
      const std::vector<Bias *> both = {others[w]->bias.get(), walkers[w]->bias.get()};
      for (Bias *const bias : both) {
        bias->begin_run(0);
        bias->join_run(0, 100);
      }
      Step step;
      bool must_end = false;
      for (int k = 1; k <= (w == early ? 33 : 100) && !must_end; ++k) {
        step.timestep = last[w] = k;
        const double s = position(w, k);
        for (Bias *const bias : both) {
          bias->evaluate(step, &s);
          must_end = must_end || bias->must_end();
        }
      }
      for (Bias *const bias : both) bias->leave_run(last[w]);
    });
    expect_errors("");
    EXPECT_EQ(last[1 - early], 35);
    for (int w = 0; w < 2; ++w) {
      EXPECT_EQ(others[w]->bias->outputs()[5].value(), 2);
      EXPECT_EQ(walkers[w]->bias->outputs()[5].value(), 12);
    }
  }
}

TEST_F(SharedBias, other_runs)
{
  make(3);
  begin();
  run(0, {40, 40, 45});
  expect_errors(
      "runs of walkers must add equal numbers of hills from equal steps, up to multiples of "
      "pace 5, but walker 0 has 8 hills to add from step 0, walker 1 has 8 hills to add "
      "from step 0, walker 2 has 9 hills to add from step 0 - use the same run command in "
      "all partitions, or reset_timestep before it");
}

TEST_F(SharedBias, other_settings)
{
  const auto error = [this](const Words &more) {
    make(2, {{"temp", "300"}, more});
    begin();
    EXPECT_EQ(walkers[0]->error, walkers[1]->error);
    return walkers[0]->error;
  };
  const std::string way_out = " - use the same fix in all partitions";
  EXPECT_EQ(error({"temp", "310"}), "walker 1 has temp 310, but walker 0 has temp 300" + way_out);
  EXPECT_EQ(error({"temp", "300", "pace", "10"}),
            "walker 1 has pace 10, but walker 0 has pace 5" + way_out);
  EXPECT_EQ(error({}), "walker 1 has no temp, but walker 0 has temp 300" + way_out);
  EXPECT_EQ(error({"temp", "300"}), "");

  make(2);
  std::vector<BiasStart> start(2);
  start[0].timestep = 0.002;
  start[1].timestep = 0.001;
  begin(start);
  expect_errors("");
  EXPECT_EQ(
      walkers[0]->messages[0],
      "walker 1 has timestep 0.001, but walker 0 has 0.002 - the time of each hill is that of "
      "its walker");
}

// Restart files of all walkers, continued by fewer and by more. A new walker has none.
TEST_F(SharedBias, restart)
{
  make(3);
  begin();
  run(0, {22});
  std::vector<ArchiveParts> saved(3);
  for (int w = 0; w < 3; ++w) walkers[w]->bias->save(saved[w]);
  const std::string file = content(path);
  run(22, {41});
  const auto last = walkers[2]->bias->state();
  const auto whole = lines();

  const auto load = [&](int n) {
    std::vector<BiasStart> start(n);
    make(n);
    for (int w = 0; w < std::min(n, 3); ++w) {
      auto parts = saved[w];
      walkers[w]->bias->load(parts);
      parts.check_all_are_taken();
      start[w].is_restarted = true;
    }
    return start;
  };
  auto start = load(3);
  begin(start);
  run(22, {41});
  expect_errors("");
  EXPECT_EQ(lines(), whole);
  EXPECT_EQ(walkers[2]->bias->state().energy, last.energy);
  EXPECT_EQ(walkers[2]->bias->state().work, last.work);
  EXPECT_EQ(walkers[2]->bias->state().dVdS, last.dVdS);
  EXPECT_EQ(walkers[2]->bias->state().own, last.own);

  for (const int n : {1, 2, 5}) {
    walkers.clear();
    std::ofstream(path, std::ios::binary) << file;
    start = load(n);
    begin(start);
    run(22, {41});
    expect_errors("");
    auto expected = std::vector<std::pair<double, int>>(whole.begin(), whole.begin() + 12);
    for (int step = 25; step <= 40; step += 5)
      for (int w = 0; w < n; ++w) expected.emplace_back(position(w, step), w);
    EXPECT_EQ(lines(), expected);
    std::vector<double> centers;
    for (const auto &line : expected) centers.push_back(line.first);
    for (const auto &walker : walkers)
      EXPECT_NEAR(at(*walker->bias, 1.8).energy, sum_of_hills(centers, 1.8), 1e-12);
  }
}

TEST_F(SharedBias, restart_files_that_do_not_fit)
{
  make(2);
  begin();
  run(0, {7});
  std::vector<ArchiveParts> early(2), late(2);
  for (int w = 0; w < 2; ++w) walkers[w]->bias->save(early[w]);
  run(7, {22});
  for (int w = 0; w < 2; ++w) walkers[w]->bias->save(late[w]);
  std::vector<BiasStart> start(2);
  start[0].is_restarted = start[1].is_restarted = true;
  make(2);
  walkers[0]->bias->load(late[0]);
  walkers[1]->bias->load(early[1]);
  begin(start);
  const std::string way_out = ", or use another fix ID and append yes";
  expect_errors(
      "walker 1 continues after round 1 of the walkers, but walker 0 after round 4 - read "
      "restart files of one timestep" +
      way_out);
  make(2);
  walkers[1]->bias->load(late[1]);
  start[0].is_restarted = false;
  begin(start);
  expect_errors(
      "walker 1 continues from a restart file, but walker 0 does not - read restart files "
      "in all partitions" +
      way_out);
  EXPECT_EQ(lines().size(), 8u);    // nothing has changed

  make(2, {{"append", "yes"}});
  begin();
  run(22, {26});
  expect_errors("");
  EXPECT_EQ(lines().size(), 10u);
  EXPECT_EQ(walkers[1]->bias->outputs()[5].value(), 10);
}

}    // namespace
