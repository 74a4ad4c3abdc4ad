// Part of GPUCOORD, GPL-2.0. Times one evaluation of environment similarity, with derivatives, of a
// crystal of aluminum with displaced atoms, with sigma 0.4: 55 partners for each atom within the
// default cutoff.
//
// Usage: bench_environment_similarity backend cells_per_edge structure precision threads repeats
// backend: host or resident; structure: fcc (12 vectors) or hcp (2 environments of 12 vectors that
// do not equal their inverse). Prints the number of atoms, OrderTimes (order_timing.h), and bytes
// of an atom.

#include "order_timing.h"

#include "gpucoord/environment_similarity.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using gpucoord::CrystalStructure;

constexpr double CELL = 4.05, SIGMA = 0.4, SKIN = 1.0;    // Angstrom

std::vector<gpucoord::Environment> environments_of(const char *name)
{
  if (!std::strcmp(name, "fcc")) return make_environments(CrystalStructure::FCC, CELL);
  const double nearest = CELL / std::sqrt(2.0);
  if (!std::strcmp(name, "hcp"))
    return make_environments(CrystalStructure::HCP, nearest, std::sqrt(8.0 / 3.0) * nearest);
  std::fprintf(stderr, "no structure %s\n", name);
  std::exit(1);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s backend cells_per_edge structure precision threads repeats\n",
                 argv[0]);
    return 1;
  }
  gpucoord::EnvironmentOptions options;
  options.environments = environments_of(argv[3]);
  options.sigma = SIGMA;
  const PeriodicAtoms crystal =
      displaced_crystal(std::atoi(argv[2]), CELL, 0.15, reach(options) + SKIN);
  const auto precision = precision_of(argv[4]);
  const int threads = std::atoi(argv[5]), repeats = std::atoi(argv[6]);
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(argv[1], "resident")) {
    const auto order = make_resident_order(options, precision);
    print(crystal, time_resident(*order, options.function, precision, crystal, SKIN, repeats));
    return 0;
  }
#endif
  const auto order = make_host_order(options, precision, threads);
  print(crystal, time_on_host(*order, crystal, SKIN, threads, repeats));
  return 0;
}
