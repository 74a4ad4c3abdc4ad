// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs: hills of others that this walker has no
// room for, or that would end it. They are left out with a warning, and it goes on.

#include "limited_memory.h"
#include "walkers_by_files.h"

namespace {

class Room : public WalkersByFiles {
 protected:
  static constexpr const char *LEFT_OUT = "; new hills in it are left out until it can be read";
  void TearDown() override
  {
    largest_allocation = SIZE_MAX;
    WalkersByFiles::TearDown();
  }
  static double at_2(char, int) { return 2.0; }
};

TEST_F(Room, hills_that_the_grid_cannot_hold_together)
{
  begin({"a"}, {"grid", "0", "4", "bins", "40"});
  run({"a"}, 0, 7);
  put("x", header() + hill(1.0));
  put("y", header() + hill(-6e6) + hill(6e6));    // each of them fits
  put("z", header() + hill(1.1));
  run({"a"}, 7, 42);
  const Words expected = {
      "adds 1 hill of walker x in S/x.w, and its later ones",
      "hills file S/y.w of walker y: the grid cannot grow to a hill at s = 6000000: it would have "
      "120000053 points, more than 1e8 - use fewer bins, a wall that limits the variable, or "
      "keyword interval, beyond which the bias is constant" +
          std::string(LEFT_OUT),
      "adds 1 hill of walker z in S/z.w, and its later ones"};
  EXPECT_EQ(jobs["a"].messages, expected);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 ");
  EXPECT_EQ(centers(journal_of("a"), 2), "1.100000 ");
  EXPECT_EQ(lines(file_of("a")).size(), 8u);
  EXPECT_EQ(lines(journal_of("a")).size(), 10u);
}

TEST_F(Room, hills_that_memory_cannot_hold_together)
{
  begin({"a"}, {"grid", "0", "4", "bins", "40"});
  run({"a"}, 0, 7, at_2);
  put("y", header() + hill(-200.0));
  put("z", header() + hill(200.0));
  largest_allocation = 50000;    // for 3,125 points: those up to one of them, but not up to both
  run({"a"}, 7, 22, at_2);
  EXPECT_EQ(jobs["a"].messages,
            (Words{"adds 1 hill of walker y in S/y.w, and its later ones",
                   "hills file S/z.w of walker z: no memory for the hills - use a smaller grid" +
                       std::string(LEFT_OUT)}));
  EXPECT_EQ(centers(journal_of("a"), 1), "-200.000000 ");
  EXPECT_EQ(lines(file_of("a")).size(), 4u);
  EXPECT_NEAR(at(*jobs["a"].bias, -200.0), 1.0, 1e-12);
  // The hill of this walker comes first: there is no room for it and for that of z.
  const std::string before = content(journal_of("a"));
  EXPECT_THROW(run({"a"}, 22, 25,
                   [](char, int) {
                     return 200.0;
                   }),
               std::bad_alloc);
  EXPECT_EQ(content(journal_of("a")), before);
  largest_allocation = SIZE_MAX;
  run({"a"}, 27, 32, at_2);
  EXPECT_EQ(centers(journal_of("a"), 2), "200.000000 ");
  EXPECT_NEAR(at(*jobs["a"].bias, 200.0), 1.0, 1e-12);
}

TEST_F(Room, own_hills_come_first)
{
  begin({"a"}, {"grid", "0", "4", "bins", "40"});
  run({"a"}, 0, 7, at_2);
  put("z", header() + hill(200.0));
  largest_allocation = 50000;
  run({"a"}, 7, 10, [](char, int) {
    return -200.0;
  });
  EXPECT_EQ(jobs["a"].messages,
            Words{"hills file S/z.w of walker z: no memory for the hills - use a smaller grid" +
                  std::string(LEFT_OUT)});
  EXPECT_EQ(centers(journal_of("a")), "2.000000 -200.000000 ");
  EXPECT_NEAR(at(*jobs["a"].bias, -200.0), 1.0, 1e-12);
}

// With limits, V is checked at the hills of others. This needs no second grid.
TEST_F(Room, many_hills_on_a_large_grid)
{
  const Words more = {"grid", "0", "4", "bins", "70000", "temp", "1", "limits", "0", "9"};
  begin({"a"}, more);
  run({"a"}, 0, 2, at_2);
  std::string many = header();
  for (int k = 0; k < 1500; ++k) many += hill(1.0 + 1e-3 * k, " 0.001 0.1 -1\n");
  put("x", many);
  put("y", header() + hill(2.0));
  largest_allocation = 500000;    // the grid has 1.1 MB
  run({"a"}, 2, 7, at_2);
  EXPECT_EQ(jobs["a"].messages, Words());
  run({"a"}, 7, 12, at_2);
  EXPECT_EQ(jobs["a"].messages,
            (Words{"adds 1500 hills of walker x in S/x.w, and its later ones",
                   "adds 1 hill of walker y in S/y.w, and its later ones"}));
}

// Hills of b would be lost if the run went on after that of c: they count as read, but do not act.
TEST_F(Room, no_step_after_a_read_that_failed)
{
  begin({"a"});
  run({"a"}, 0, 7, at_2);
  std::string many = header();
  for (int k = 0; k < 1500; ++k) many += hill(1.0);
  put("b", header() + hill(1.0));
  put("c", many);
  const auto parts = saved("a");
  largest_allocation = 20000;
  EXPECT_THROW(run({"a"}, 7, 12, at_2), std::bad_alloc);
  largest_allocation = SIZE_MAX;
  EXPECT_EQ(error_of_run("a", 12, 22), "out of memory - use keyword grid");
  EXPECT_EQ(centers(journal_of("a"), 1), "");
  restart("a", parts);
  run({"a"}, 7, 12, at_2);
  EXPECT_EQ(centers(journal_of("a"), 1), "1.000000 ");
  EXPECT_EQ(lines(journal_of("a")).size(), 1503u);
}

// The same if the hills are written, but cannot be added.
TEST_F(Room, no_step_after_hills_that_could_not_be_added)
{
  begin({"a"}, {"grid", "0", "4", "bins", "70000"});
  run({"a"}, 0, 7, at_2);
  put("b", header() + hill(2.0));
  const auto parts = saved("a");
  largest_allocation = 200000;    // less than indices of 61,950 points
  EXPECT_THROW(run({"a"}, 7, 12, at_2), std::bad_alloc);
  largest_allocation = SIZE_MAX;
  EXPECT_EQ(error_of_run("a", 12, 22), "out of memory - use a smaller grid");
  EXPECT_EQ(lines(journal_of("a")).size(), 3u);
  restart("a", parts, {"grid", "0", "4", "bins", "70000"});
  run({"a"}, 7, 12, at_2);
  EXPECT_NEAR(at(*jobs["a"].bias, 2.0), 3.0, 1e-12);
}

// Of two walkers, the other one lowers V. Here, kT is 0.01.
TEST_F(Room, a_walker_that_lowers_the_bias)
{
  boltzmann = 0.001;
  begin({"a"}, {"temp", "10", "limits", "4", "5", "max_skip", "100"});
  run({"a"}, 0, 7, at_2);
  put("x", header() + hill(1.0, " 0.5 -3 -1\n"));    // -300 kT
  put("y", header() + hill(3.0, " 0.5 -4 -1\n"));
  run({"a"}, 7, 12, at_2);
  EXPECT_EQ(jobs["a"].messages,
            (Words{"adds 1 hill of walker x in S/x.w, and its later ones",
                   "hills file S/y.w of walker y: V = -4 is -400 kT at temp 10, below -350 kT - "
                   "move the file to another folder" +
                       std::string(LEFT_OUT)}));
}

// V above 700 kT ends a walker with limits. Here, kT is 0.01.
TEST_F(Room, a_walker_that_fills_the_bias)
{
  boltzmann = 0.001;
  for (const int ngood : {1, 1500})    // sums of many are those of a grid
    for (const bool has_grid : {false, true}) {
      fs::remove_all(shared);
      Words more = {"temp", "10", "limits", "4", "5", "max_skip", "100"};    // no own hills
      if (has_grid) more.insert(more.end(), {"grid", "0", "10", "bins", "100"});
      begin({"a"}, more);
      run({"a"}, 0, 7, at_2);
      const std::string good = " 0.5 0.002 -1\n";
      std::string some = header();
      for (int k = 0; k < ngood; ++k) some += hill(2.0, good);
      put("x", some);    // 0.2 or 300 kT
      put("y", header() + hill(9.0) + hill(9.0) + hill(9.0));
      run({"a"}, 7, 12, at_2);
      put("x", hill(2.0, good), true);
      put("y", hill(9.0), true);    // 400 kT
      put("z", header() + hill(1.0, " 0.5 3.4 -1\n"));
      jobs["a"].messages.clear();
      run({"a"}, 12, 60, [](char, int step) {
        return step % 2 ? 9.0 : 2.0;
      });
      // At 1.0, hills at 2.0 have 13 % of their height.
      const std::string end = " kT at temp 10, more than 350 kT - move the file to another folder" +
          std::string(LEFT_OUT);
      ASSERT_EQ(jobs["a"].messages.size(), 2u);
      EXPECT_EQ(jobs["a"].messages[0], "hills file S/y.w of walker y: V = 4 is 400" + end);
      EXPECT_EQ(jobs["a"].messages[1].rfind(
                    ngood == 1 ? "adds 1 hill of walker z in S/z.w, and its later ones"
                               : "hills file S/z.w of walker z: V = 3.8",
                    0),
                0u)
          << jobs["a"].messages[1];
      EXPECT_EQ(lines(journal_of("a")).size(), ngood + 1u + 3 + (ngood == 1));
    }
}

}    // namespace
