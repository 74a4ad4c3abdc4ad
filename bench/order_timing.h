// Part of GPUCOORD, GPL-2.0. Times of order parameters of a crystal with displaced atoms, on the
// host and resident on the GPU.

#ifndef GPUCOORD_BENCH_ORDER_TIMING_H
#define GPUCOORD_BENCH_ORDER_TIMING_H

#include "periodic_atoms.h"
#include "timing.h"

#include "gpucoord/order_parameter.h"

#ifdef GPUCOORD_HAS_CUDA
#include "gpucoord/resident_function.h"
#include "gpucoord/resident_order_parameter.h"
#include "on_gpu.h"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

// Face-centered cubic, edge^3 unit cells. Each coordinate moves by at most max_displacement.
inline PeriodicAtoms displaced_crystal(int edge, double cell, double max_displacement, double reach)
{
  const double basis[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> moved(-max_displacement, max_displacement);
  PeriodicAtoms crystal;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int index[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (const auto &site : basis)
      for (int c = 0; c < 3; ++c)
        crystal.x.push_back((index[c] + 0.25 + 0.5 * site[c]) * cell + moved(random));
  }
  crystal.add_images(edge * cell, reach);
  return crystal;
}

// Milliseconds of an evaluation with derivatives, of one with the virial, and of finding the pairs
// again (host: 0), medians over repeats; and bytes.
struct OrderTimes {
  double derivatives, virial, rebuild, bytes;
};

inline void print(const PeriodicAtoms &crystal, const OrderTimes &found)
{
  std::printf("%d %.4f %.4f %.4f %.0f\n", crystal.nowned, found.derivatives, found.virial,
              found.rebuild, found.bytes / crystal.nowned);
}

inline gpucoord::Precision precision_of(const char *name)
{
  return !std::strcmp(name, "double") ? gpucoord::Precision::DOUBLE : gpucoord::Precision::MIXED;
}

inline OrderTimes time_on_host(gpucoord::OrderParameter &order, const PeriodicAtoms &crystal,
                               double skin, int threads, int repeats)
{
  std::vector<int> index(crystal.n());
  std::iota(index.begin(), index.end(), 0);
  gpucoord::OrderInput in;
  in.nall = crystal.n();
  in.cells.x = crystal.x.data();
  in.cells.a = {index.data(), in.nall, crystal.nowned};
  in.cells.version = 1;
  in.cells.skin = skin;
  in.exchange.forward = [&](double *numbers, int columns) {
#pragma omp parallel for num_threads(threads)
    for (int k = crystal.nowned; k < in.nall; ++k)
      std::copy_n(numbers + static_cast<std::size_t>(columns) * crystal.owner[k], columns,
                  numbers + static_cast<std::size_t>(columns) * k);
  };
  in.exchange.reduce = [](double *, int, gpucoord::AtomFunction::Reduction) {
  };
  std::vector<double> peratom(4 * static_cast<std::size_t>(crystal.nowned));
  std::vector<double> derivatives, virial;
  for (int k = 0; k <= repeats; ++k) {
    const auto evaluate = [&](unsigned want) {
      return milliseconds([&] {
        order.evaluate(in, want, peratom.data(), {});
      });
    };
    const double forces = evaluate(gpucoord::DERIVATIVES),
                 both = evaluate(gpucoord::DERIVATIVES | gpucoord::VIRIAL);
    if (k == 0) continue;    // warm-up of caches
    derivatives.push_back(forces);
    virial.push_back(both);
  }
  return {median(derivatives), median(virial), 0.0, static_cast<double>(order.bytes())};
}

#ifdef GPUCOORD_HAS_CUDA
inline OrderTimes time_resident(gpucoord::ResidentOrderParameter &order,
                                const gpucoord::AtomFunctionOptions &function_options,
                                gpucoord::Precision precision, const PeriodicAtoms &crystal,
                                double skin, int repeats)
{
  double *const x = to_gpu(crystal.x);
  int *const owner = to_gpu(crystal.owner);
  gpucoord::DeviceAtoms atoms;
  atoms.x = x;
  atoms.nlocal = crystal.nowned;
  atoms.nall = crystal.n();
  gpucoord::DeviceSelection selection;
  selection.skin = skin;
  gpucoord::DeviceExchange exchange;
  exchange.owner = owner;
  const auto function = make_resident_function(function_options, precision);
  function->select(atoms, 0, nullptr);
  std::vector<double> derivatives, virial, rebuild;
  for (int k = 0; k <= repeats; ++k) {
    const double found = milliseconds_on_gpu(1, [&] {
      order.rebuild(atoms, selection, 0, nullptr);
    });
    const auto evaluate = [&](unsigned want) {
      return milliseconds_on_gpu(IN_A_ROW, [&] {
        order.evaluate_first(atoms, 0, exchange, function->s(), nullptr);
        function->evaluate(nullptr);
        order.evaluate_second({want, true}, function->dSds(), 1.0, exchange, nullptr);
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
  return {median(derivatives), median(virial), median(rebuild), static_cast<double>(order.bytes())};
}
#endif

#endif
