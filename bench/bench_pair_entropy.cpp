// Part of GPUCOORD, GPL-2.0. Times one evaluation of the pair entropy, with derivatives, of a
// face-centered cubic crystal of density 0.84 with displaced atoms: cutoff 2.5, sigma 0.05 and 100
// bins, 86 pairs of each atom within reach.
//
// Usage: bench_pair_entropy backend cells_per_edge precision threads repeats
// backend: host or resident. Prints: atoms, milliseconds of an evaluation, of one with the virial,
// and of finding the pairs again (host: 0), medians over repeats, and bytes of an atom.

#include "periodic_atoms.h"
#include "timing.h"

#include "gpucoord/pair_entropy.h"

#ifdef GPUCOORD_HAS_CUDA
#include "on_gpu.h"
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr double DENSITY = 0.84;
constexpr double SKIN = 0.3;    // LAMMPS' default

gpucoord::PairEntropyOptions make_options()
{
  gpucoord::PairEntropyOptions options;
  options.cutoff = 2.5;
  options.sigma = 0.05;
  options.bins = 100;
  return options;
}

PeriodicAtoms make_crystal(int edge)
{
  const double cell = std::cbrt(4.0 / DENSITY);
  const double basis[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> moved(-0.05, 0.05);
  PeriodicAtoms crystal;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int index[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (const auto &site : basis)
      for (int c = 0; c < 3; ++c)
        crystal.x.push_back((index[c] + 0.25 + 0.5 * site[c]) * cell + moved(random));
  }
  crystal.add_images(edge * cell, reach(make_options()) + SKIN);
  return crystal;
}

struct Found {
  double derivatives, virial, rebuild, bytes;
};

Found time_host(gpucoord::Precision precision, const PeriodicAtoms &crystal, int threads,
                int repeats)
{
  std::vector<int> index(crystal.n());
  std::iota(index.begin(), index.end(), 0);
  gpucoord::OrderInput in;
  in.nall = crystal.n();
  in.volume = crystal.nowned / DENSITY;
  in.cells.x = crystal.x.data();
  in.cells.a = {index.data(), in.nall, crystal.nowned};
  in.cells.version = 1;
  in.cells.skin = SKIN;
  in.exchange.reduce = [](double *, int, gpucoord::AtomFunction::Reduction) {
  };
  std::vector<double> peratom(4 * static_cast<std::size_t>(crystal.nowned));
  const auto entropy = make_host_order(make_options(), precision, threads);
  std::vector<double> derivatives, virial;
  for (int k = 0; k <= repeats; ++k) {
    const auto evaluate = [&](unsigned want) {
      return milliseconds([&] {
        entropy->evaluate(in, want, peratom.data(), {});
      });
    };
    const double forces = evaluate(gpucoord::DERIVATIVES),
                 both = evaluate(gpucoord::DERIVATIVES | gpucoord::VIRIAL);
    if (k == 0) continue;    // warm-up of caches
    derivatives.push_back(forces);
    virial.push_back(both);
  }
  return {median(derivatives), median(virial), 0.0, static_cast<double>(entropy->bytes())};
}

#ifdef GPUCOORD_HAS_CUDA
Found time_resident(gpucoord::Precision precision, const PeriodicAtoms &crystal, int repeats)
{
  double *const x = to_gpu(crystal.x);
  gpucoord::DeviceAtoms atoms;
  atoms.x = x;
  atoms.nlocal = crystal.nowned;
  atoms.nall = crystal.n();
  atoms.volume = crystal.nowned / DENSITY;
  gpucoord::DeviceSelection selection;
  selection.skin = SKIN;
  const auto entropy = make_resident_order(make_options(), precision);
  std::vector<double> derivatives, virial, rebuild;
  for (int k = 0; k <= repeats; ++k) {
    const double found = milliseconds_on_gpu(1, [&] {
      entropy->rebuild(atoms, selection, 0, nullptr);
    });
    const auto evaluate = [&](unsigned want) {
      return milliseconds_on_gpu(IN_A_ROW, [&] {
        // As in a biased timestep, without the numbers of partners of the atoms.
        entropy->evaluate_first(atoms, 0, {}, nullptr, nullptr);
        entropy->evaluate_second({want, true}, nullptr, 1.0, {}, nullptr);
      });
    };
    const double forces = evaluate(gpucoord::DERIVATIVES),
                 both = evaluate(gpucoord::DERIVATIVES | gpucoord::VIRIAL);
    if (k == 0) continue;    // warm-up of caches and buffers
    rebuild.push_back(found);
    derivatives.push_back(forces);
    virial.push_back(both);
  }
  cudaFree(x);
  return {median(derivatives), median(virial), median(rebuild),
          static_cast<double>(entropy->bytes())};
}
#endif

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s backend cells_per_edge precision threads repeats\n", argv[0]);
    return 1;
  }
  const PeriodicAtoms crystal = make_crystal(std::atoi(argv[2]));
  const auto precision = std::strcmp(argv[3], "double") ? gpucoord::Precision::MIXED
                                                        : gpucoord::Precision::DOUBLE;
  Found found;
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(argv[1], "resident"))
    found = time_resident(precision, crystal, std::atoi(argv[5]));
  else
#endif
    found = time_host(precision, crystal, std::atoi(argv[4]), std::atoi(argv[5]));
  std::printf("%d %.4f %.4f %.4f %.0f\n", crystal.nowned, found.derivatives, found.virial,
              found.rebuild, found.bytes / crystal.nowned);
  return 0;
}
