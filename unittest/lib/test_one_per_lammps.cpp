// Part of GPUCOORD, GPL-2.0. Objects of LAMMPS instances that run in several threads.

#include "../../src/GPUCOORD/gpucoord_one_per_lammps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using LAMMPS_NS::LAMMPS;

struct Shared {
  explicit Shared(LAMMPS *lmp_in) : lmp(lmp_in) { ++nobjects; }
  ~Shared()
  {
    LAMMPS_NS::OnePerLammps<Shared>::remove(lmp);
    --nobjects;
  }
  LAMMPS *const lmp;
  static std::atomic<int> nobjects;
};
std::atomic<int> Shared::nobjects(0);

using OnePerShared = LAMMPS_NS::OnePerLammps<Shared>;

// Only the addresses of LAMMPS instances matter.
LAMMPS *instance(char &place)
{
  return reinterpret_cast<LAMMPS *>(&place);
}

TEST(OnePerLammps, object_is_shared_as_long_as_it_is_used)
{
  char places[2];
  auto first = OnePerShared::get(instance(places[0]));
  const auto other = OnePerShared::get(instance(places[1]));
  EXPECT_EQ(OnePerShared::get(instance(places[0])), first);
  EXPECT_NE(other, first);
  EXPECT_EQ(first->lmp, instance(places[0]));
  EXPECT_EQ(Shared::nobjects, 2);
  first.reset();
  EXPECT_EQ(Shared::nobjects, 1);
  EXPECT_EQ(OnePerShared::get(instance(places[0]))->lmp, instance(places[0]));
}

// Each thread creates and deletes LAMMPS instances, in which two styles share an object.
TEST(OnePerLammps, instances_in_several_threads)
{
  constexpr int NTHREADS = 4, NINSTANCES = 50, NROUNDS = 5000;
  std::atomic<int> nwrong(0);
  const auto work = [&nwrong] {
    std::vector<char> places(NINSTANCES);
    for (int round = 0; round < NROUNDS; ++round) {
      std::vector<std::shared_ptr<Shared>> kept;
      for (char &place : places) kept.push_back(OnePerShared::get(instance(place)));
      for (int k = 0; k < NINSTANCES; ++k) {
        const auto again = OnePerShared::get(instance(places[k]));
        if (again != kept[k] || again->lmp != instance(places[k])) ++nwrong;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < NTHREADS; ++t) threads.emplace_back(work);
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(nwrong, 0);
  EXPECT_EQ(Shared::nobjects, 0);
}

}    // namespace
