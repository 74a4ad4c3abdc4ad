// Part of GPUCOORD, GPL-2.0. Rigid molecules on a GPU, compared with the reference loops and the
// host backend in double. test_multisite.cpp compares those with closed forms, finite differences
// and ls1-MarDyn.

#include "gpu.h"
#include "multisite_lattices.h"

#include "../../lib/gpucoord/src/multisite/multisite_cuda.h"
#include "gpucoord/multisite.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace gpucoord;

// All specialized numbers of sites and other numbers, mixtures, both kinds of cutoffs.
TEST_F(Multisites, equal_plain_loops)
{
  for (const auto &kinds : kinds_of_components())
    for (const bool site_cutoff : {false, true})
      for (const double charges : {3.2, 2.1, 4.0}) {
        MultisiteOptions o = options(3.2, charges);
        o.site_cutoff = site_cutoff;
        MultisiteModel model(kinds, o);
        if (kinds.size() > 1) model.set_mixing(0, 1, {0.9, 1.02});
        for (const int n : {1, 2, 33, 400}) {
          SCOPED_TRACE(kinds[0].name + ", " + std::to_string(kinds.size()) + " kinds, " +
                       std::to_string(n) + " molecules, cutoff of " +
                       (site_cutoff ? "sites" : "centers") + ", of charges " +
                       std::to_string(charges));
          const System s(n, static_cast<int>(kinds.size()));
          const Result expected(s, [&](const Molecules &m, const MultisiteResults &r) {
            return reference_multisite(model, m, r);
          });
          for (const bool any_sites : {false, true})
            for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
              SCOPED_TRACE(any_sites ? "any sites" : "");
              MultisiteTuning tuning;
              tuning.any_sites = any_sites;
              const auto cuda = make_cuda_multisite(model, precision, 0, 2, tuning);
              const double tolerance = precision == Precision::DOUBLE ? TOLERANCE_DOUBLE
                                                                      : TOLERANCE_FLOAT;
              expect_close(evaluate(*cuda, s), expected, tolerance);
              const Result forces = evaluate(*cuda, s, MultisiteWant::FORCES);
              expect_close(forces.force, expected.force, tolerance, "force");
              expect_close(forces.torque, expected.torque, tolerance, "torque");
              EXPECT_EQ(largest(forces.energy), 0.0);
            }
        }
      }
}

// Sizes for which the partners of a molecule are distributed over many warps, and for which they
// are not.
TEST_F(Multisites, equal_the_host)
{
  const auto all = kinds_of_components();
  for (const auto &kinds : {all[1], all[5], all[10]})
    for (const int n : {31, 32, 129, 5000, 40000, 200000}) {
      SCOPED_TRACE(kinds[0].name + ", " + std::to_string(n));
      const MultisiteModel model(kinds, options(3.0, 3.0));
      const System s(n, static_cast<int>(kinds.size()));
      const auto host = make_host_multisite(model, Precision::DOUBLE, 8);
      const Result expected = evaluate(*host, s);
      for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
        const auto cuda = make_cuda_multisite(model, precision, 0, 8);
        expect_close(evaluate(*cuda, s), expected,
                     precision == Precision::DOUBLE ? TOLERANCE_DOUBLE : TOLERANCE_FLOAT);
      }
    }
}

// An evaluation of a different size leaves no data for the next one, and equal input gives equal
// bits.
TEST_F(Multisites, again_and_again)
{
  const auto kinds = kinds_of_components()[10];
  const MultisiteModel model(kinds, options(3.0, 2.5));
  const auto cuda = make_cuda_multisite(model, Precision::MIXED, -1, 2);
  MultisiteTuning one_warp;
  one_warp.warps_per_block = 1;
  const auto other = make_cuda_multisite(model, Precision::MIXED, -1, 1, one_warp);
  std::vector<Result> first;
  const int sizes[] = {3000, 10, 20000, 0, 700};
  for (const int n : sizes) first.push_back(evaluate(*cuda, System(n, 3)));
  for (int k = 0; k < 5; ++k)
    for (Multisite *backend : {cuda.get(), other.get()}) {
      const Result again = evaluate(*backend, System(sizes[k], 3));
      EXPECT_EQ(again.force, first[k].force);
      EXPECT_EQ(again.torque, first[k].torque);
      EXPECT_EQ(again.energy, first[k].energy);
      EXPECT_EQ(again.virial, first[k].virial);
      EXPECT_EQ(again.sums.lennard_jones, first[k].sums.lennard_jones);
    }
}

// Molecules that are far apart or at one position, with ghosts only, and without one of the
// components.
TEST_F(Multisites, crowds)
{
  const auto kinds = kinds_of_components()[10];
  MultisiteOptions o = options(3.0, 3.0);
  const MultisiteModel model(kinds, o);
  const auto host = make_host_multisite(model, Precision::DOUBLE, 2);
  const auto cuda = make_cuda_multisite(model, Precision::DOUBLE, 0, 2);
  System few(900, 3);
  for (std::size_t k = 0; k < few.kind.size(); ++k) few.kind[k] = 2 * (k % 2);
  for (std::size_t k = 0; k < few.x.size(); k += 3)
    if (k % 2) few.x[k] += 1e5;                                      // two positions
  expect_close(evaluate(*cuda, few), evaluate(*host, few), 1e-9);    // coordinates are large
  System ghosts(600, 3);
  ghosts.nlocal = 0;
  EXPECT_EQ(evaluate(*cuda, ghosts).sums.lennard_jones, 0.0);
  System owned(600, 3);
  owned.nlocal = 600;
  expect_close(evaluate(*cuda, owned), evaluate(*host, owned), TOLERANCE_DOUBLE);
}

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  need_gpu();
  return RUN_ALL_TESTS();
}
