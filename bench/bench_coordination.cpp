// Part of GPUCOORD, GPL-2.0. Times one evaluation of S with derivatives and virial
// on a jittered simple cubic lattice, as the figures of the peers were taken.
//
// Usage: bench_coordination atoms_per_edge range_in_spacings precision threads repeats
// Prints: atoms neighbours milliseconds, then copies, bins, pairs and reduction of
// it. The figures are the medians over repeats.

#include "gpucoord/coordination.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s atoms_per_edge range precision threads repeats\n", argv[0]);
    return 1;
  }
  const int edge = std::atoi(argv[1]);
  const double range = std::atof(argv[2]);
  const auto precision = !std::strcmp(argv[3], "double") ? gpucoord::Precision::DOUBLE
      : !std::strcmp(argv[3], "mixed")                   ? gpucoord::Precision::MIXED
                                                         : gpucoord::Precision::SINGLE;
  const int threads = std::atoi(argv[4]), repeats = std::atoi(argv[5]);

  // owned atoms, then the periodic images within range, as LAMMPS gives them
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> jitter(-0.1, 0.1);
  std::vector<double> x;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int site[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (int c = 0; c < 3; ++c) x.push_back(site[c] + 0.5 + jitter(random));
  }
  const int nowned = static_cast<int>(x.size() / 3);
  for (int c = 0; c < 3; ++c) {
    const std::size_t n = x.size() / 3;
    for (std::size_t i = 0; i < n; ++i)
      for (int side = -1; side <= 1; side += 2) {
        const double image = x[3 * i + c] + side * edge;
        if (image < -range || image > edge + range) continue;
        for (int k = 0; k < 3; ++k) x.push_back(k == c ? image : x[3 * i + k]);
      }
  }
  std::vector<int> index(x.size() / 3);
  std::iota(index.begin(), index.end(), 0);

  gpucoord::SwitchOptions options;
  options.r0 = 1.0;
  options.dmax = range;
  const auto backend =
      gpucoord::make_host_coordination(gpucoord::Switch(options), precision, threads);
  gpucoord::CellsInput in;
  in.x = x.data();
  in.a = {index.data(), static_cast<int>(index.size()), nowned};
  std::vector<double> peratom(4 * static_cast<std::size_t>(nowned));

  std::vector<double> total, copies, bins, pairs, reduction;
  for (int k = 0; k <= repeats; ++k) {
    std::fill(peratom.begin(), peratom.end(), 0.0);
    const auto start = std::chrono::steady_clock::now();
    const auto result =
        backend->cells(in, gpucoord::DERIVATIVES | gpucoord::VIRIAL, peratom.data());
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (k == 0) continue;    // warms caches and buffers
    total.push_back(elapsed.count());
    copies.push_back(1e3 * result.timings.copies);
    bins.push_back(1e3 * result.timings.bins);
    pairs.push_back(1e3 * result.timings.pairs);
    reduction.push_back(1e3 * result.timings.reduction);
  }
  const double neighbours = 4.0 / 3.0 * 3.14159265358979 * range * range * range;
  std::printf("%d %.0f %.4f %.4f %.4f %.4f %.4f\n", nowned, neighbours, median(total), median(copies),
              median(bins), median(pairs), median(reduction));
  return 0;
}
