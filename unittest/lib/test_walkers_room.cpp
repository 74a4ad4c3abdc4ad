// Part of GPUCOORD, GPL-2.0. Walkers that share the hills of metadynamics: one has no memory for
// the grid that all hills of a round need, although it has memory for its own hill.

#include "limited_memory.h"
#include "walker_threads.h"

namespace {

TEST_F(SharedBias, a_walker_without_memory_for_the_hills_of_others)
{
  for (const int bad : {0, 2}) {
    make(3, {{"grid", "0", "4", "bins", "40"}});
    begin();
    run(0, {7});
    expect_errors("");
    std::vector<BiasState> before;
    for (const auto &walker : walkers) before.push_back(at(*walker->bias, 1.9));
    const auto far_hill_of_1 = [bad](int w, int step) {
      if (w == bad) largest_allocation = 50000;    // for 3,125 points
      return w == 1 && step == 10 ? 400.0 : position(w, step);
    };
    all([&](int w) {
      try {
        run_one(w, 7, 17, 17, far_hill_of_1);
      } catch (const std::bad_alloc &) {
        walkers[w]->error = "no memory";
      }
    });
    const std::string error =
        "walker " + std::to_string(bad) + ": out of memory - use a smaller grid";
    for (int w = 0; w < 3; ++w) {
      const bool has_added = bad != 0 && w != bad;    // the round that walker 0 has written
      EXPECT_EQ(walkers[w]->error, bad != 0 && w == bad ? "no memory" : error);
      EXPECT_EQ(walkers[w]->bias->outputs()[5].value(), has_added ? 6 : 3);
      const auto found = at(*walkers[w]->bias, 1.9);
      EXPECT_EQ(found.energy != before[w].energy, has_added);
      EXPECT_NEAR(at(*walkers[w]->bias, 400.0).energy, has_added ? 1.0 : 0.0, 1e-12);
    }
    EXPECT_EQ(lines().size(), bad == 0 ? 3u : 6u);
  }
}

}    // namespace
