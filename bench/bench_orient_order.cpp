// Part of GPUCOORD, GPL-2.0. Times one evaluation of order parameters q_l, with derivatives, of a
// face-centered cubic crystal of density 1 with displaced atoms, cubic from 1.2 to 1.5: 13 partners
// for each atom.
//
// Usage: bench_orient_order backend cells_per_edge order l precision threads repeats
// backend: host or resident; order: local, average, dot, connections or global. Prints: atoms,
// milliseconds of an evaluation, of one with the virial, and of finding the pairs again (host: 0),
// medians over repeats, and bytes of an atom.

#include "periodic_atoms.h"
#include "timing.h"

#include "gpucoord/orient_order.h"

#ifdef GPUCOORD_HAS_CUDA
#include "gpucoord/resident_function.h"
#include "gpucoord/resident_orient_order.h"
#include "on_gpu.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

using gpucoord::OrderKind;

constexpr double REACH = 1.8;    // dmax and LAMMPS' default skin
constexpr double SKIN = 0.3;

PeriodicAtoms make_crystal(int edge)
{
  const double cell = std::cbrt(4.0);
  const double basis[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> moved(-0.05, 0.05);
  PeriodicAtoms crystal;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int place[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (const auto &site : basis)
      for (int c = 0; c < 3; ++c)
        crystal.x.push_back((place[c] + 0.25 + 0.5 * site[c]) * cell + moved(random));
  }
  crystal.add_images(edge * cell, REACH);
  return crystal;
}

struct Found {
  double derivatives, virial, rebuild, bytes;
};

Found time_host(const gpucoord::SwitchTable &table, const gpucoord::OrientOrderOptions &options,
                gpucoord::Precision precision, const PeriodicAtoms &crystal, int threads,
                int repeats)
{
  std::vector<int> index(crystal.n());
  std::iota(index.begin(), index.end(), 0);
  gpucoord::OrderInput in;
  in.nall = crystal.n();
  in.cells.x = crystal.x.data();
  in.cells.a = {index.data(), in.nall, crystal.nowned};
  in.cells.version = 1;
  in.cells.skin = SKIN;
  in.exchange.forward = [&](double *numbers, int columns) {
#pragma omp parallel for num_threads(threads)
    for (int k = crystal.nowned; k < in.nall; ++k)
      std::copy_n(numbers + static_cast<std::size_t>(columns) * crystal.owner[k], columns,
                  numbers + static_cast<std::size_t>(columns) * k);
  };
  in.exchange.reduce = [](double *, int, gpucoord::AtomFunction::Reduction) {
  };
  std::vector<double> peratom(4 * static_cast<std::size_t>(crystal.nowned));
  const auto order = make_host_orient_order(table, options, precision, threads);
  std::vector<double> derivatives, virial;
  for (int k = 0; k <= repeats; ++k) {
    const auto evaluate = [&](unsigned want) {
      return milliseconds([&] {
        order->evaluate(in, want, peratom.data(), {});
      });
    };
    const double forces = evaluate(gpucoord::DERIVATIVES),
                 both = evaluate(gpucoord::DERIVATIVES | gpucoord::VIRIAL);
    if (k == 0) continue;    // warm-up of caches
    derivatives.push_back(forces);
    virial.push_back(both);
  }
  return {median(derivatives), median(virial), 0.0, static_cast<double>(order->bytes())};
}

#ifdef GPUCOORD_HAS_CUDA
Found time_resident(const gpucoord::SwitchTable &table, const gpucoord::OrientOrderOptions &options,
                    gpucoord::Precision precision, const PeriodicAtoms &crystal, int repeats)
{
  double *const x = to_gpu(crystal.x);
  int *const owner = to_gpu(crystal.owner);
  gpucoord::DeviceAtoms atoms;
  atoms.x = x;
  atoms.nlocal = crystal.nowned;
  atoms.nall = crystal.n();
  gpucoord::DeviceSelection selection;
  selection.skin = SKIN;
  gpucoord::DeviceExchange exchange;
  exchange.owner = owner;
  const auto order = make_resident_orient_order(table, options, precision);
  const auto function = make_resident_function(options.function, precision);
  function->select(atoms, 0, nullptr);
  std::vector<double> derivatives, virial, rebuild;
  for (int k = 0; k <= repeats; ++k) {
    const double found = milliseconds_on_gpu(1, [&] {
      order->rebuild(atoms, selection, 0, nullptr);
    });
    const auto evaluate = [&](unsigned want) {
      return milliseconds_on_gpu(IN_A_ROW, [&] {
        order->evaluate_first(atoms, 0, exchange, function->s(), nullptr);
        function->evaluate(nullptr);
        order->evaluate_second({want, true}, function->dSds(), 1.0, exchange, nullptr);
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
  cudaFree(owner);
  return {median(derivatives), median(virial), median(rebuild),
          static_cast<double>(order->bytes())};
}
#endif

OrderKind kind_of(const char *name)
{
  const char *const names[] = {"local", "average", "dot", "connections", "global"};
  for (int k = 0; k < 5; ++k)
    if (!std::strcmp(name, names[k])) return static_cast<OrderKind>(k);
  std::fprintf(stderr, "no order %s\n", name);
  std::exit(1);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 8) {
    std::fprintf(stderr, "usage: %s backend cells_per_edge order l precision threads repeats\n",
                 argv[0]);
    return 1;
  }
  const PeriodicAtoms crystal = make_crystal(std::atoi(argv[2]));
  gpucoord::OrientOrderOptions options;
  options.order = kind_of(argv[3]);
  options.l = std::atoi(argv[4]);
  options.connection.r0 = 0.5;
  const auto precision = !std::strcmp(argv[5], "double") ? gpucoord::Precision::DOUBLE
      : !std::strcmp(argv[5], "mixed")                   ? gpucoord::Precision::MIXED
                                                         : gpucoord::Precision::SINGLE;
  gpucoord::SwitchOptions cubic;
  cubic.kind = gpucoord::SwitchKind::CUBIC;
  cubic.d0 = 1.2;
  cubic.dmax = 1.5;
  const gpucoord::SwitchTable table{gpucoord::Switch(cubic)};
  Found found;
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(argv[1], "resident"))
    found = time_resident(table, options, precision, crystal, std::atoi(argv[7]));
  else
#endif
    found = time_host(table, options, precision, crystal, std::atoi(argv[6]), std::atoi(argv[7]));
  std::printf("%d %.4f %.4f %.4f %.0f\n", crystal.nowned, found.derivatives, found.virial,
              found.rebuild, found.bytes / crystal.nowned);
  return 0;
}
