// Part of GPUCOORD, GPL-2.0. Times one evaluation of S with derivatives and virial
// on a jittered simple cubic lattice, as the figures of the peers were taken.
//
// Usage: bench_coordination backend atoms_per_edge range_in_spacings precision threads repeats
//        bench_coordination gpu
// backend: host, cuda or cuda-block (the thread-block processor).
// Prints: atoms neighbours milliseconds, then copies, bins, pairs and reduction of it, then
// the number of ordered pairs in range and of distances computed (0: not counted), then
// milliseconds of the pairs without the virial. Times are medians over repeats. 'gpu' prints the name of the GPU, or why there is none.

#include "gpucoord/coordination.h"

#ifdef GPUCOORD_HAS_CUDA
#include "cuda/coordination_cuda.h"
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace {

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::unique_ptr<gpucoord::Coordination> make_backend(const char *name, const gpucoord::SwitchOptions &options,
                                                     gpucoord::Precision precision, int threads)
{
  const gpucoord::Switch function(options);
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(name, "cuda-block")) {
    gpucoord::CudaTuning tuning;
    tuning.processor = gpucoord::CudaTuning::Processor::BLOCK;
    return make_cuda_coordination(function, precision, 0, threads, tuning);
  }
#endif
  if (!std::strcmp(name, "cuda")) return make_cuda_coordination(function, precision, 0, threads);
  return make_host_coordination(function, precision, threads);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc == 2 && !std::strcmp(argv[1], "gpu")) {
    const auto devices = gpucoord::find_cuda_devices();
    std::printf("%s\n", devices.count ? gpucoord::cuda_device_name(0).c_str() : devices.why_none.c_str());
    return devices.count ? 0 : 1;
  }
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s backend atoms_per_edge range precision threads repeats\n", argv[0]);
    return 1;
  }
  const char *const backend_name = argv[1];
  const int edge = std::atoi(argv[2]);
  const double range = std::atof(argv[3]);
  const auto precision = !std::strcmp(argv[4], "double") ? gpucoord::Precision::DOUBLE
      : !std::strcmp(argv[4], "mixed")                   ? gpucoord::Precision::MIXED
                                                         : gpucoord::Precision::SINGLE;
  const int threads = std::atoi(argv[5]), repeats = std::atoi(argv[6]);

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
  const auto backend = make_backend(backend_name, options, precision, threads);
  gpucoord::CellsInput in;
  in.x = x.data();
  in.a = {index.data(), static_cast<int>(index.size()), nowned};
  std::vector<double> peratom(4 * static_cast<std::size_t>(nowned));

  // pairs in range: S of a function that is 1 up to its end
  gpucoord::SwitchOptions count;
  count.kind = gpucoord::SwitchKind::CUBIC;
  count.d0 = range * (1.0 - 1e-12);
  count.dmax = range;
  const double npairs = 2.0 * make_backend(backend_name, count, gpucoord::Precision::DOUBLE, threads)
                                  ->cells(in, gpucoord::VALUE, nullptr).value;

  double tested = 0.0;
  std::vector<double> total, copies, bins, pairs, reduction, pairs_only;
  for (int k = 0; k <= repeats; ++k) {
    std::fill(peratom.begin(), peratom.end(), 0.0);
    const auto start = std::chrono::steady_clock::now();
    const auto result =
        backend->cells(in, gpucoord::DERIVATIVES | gpucoord::VIRIAL, peratom.data());
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (k == 0) continue;    // warms caches and buffers
    tested = result.timings.tested;
    total.push_back(elapsed.count());
    copies.push_back(1e3 * result.timings.copies);
    bins.push_back(1e3 * result.timings.bins);
    pairs.push_back(1e3 * result.timings.pairs);
    reduction.push_back(1e3 * result.timings.reduction);
    pairs_only.push_back(1e3 * backend->cells(in, gpucoord::DERIVATIVES, peratom.data()).timings.pairs);
  }
  const double neighbours = 4.0 / 3.0 * 3.14159265358979 * range * range * range;
  std::printf("%d %.0f %.4f %.4f %.4f %.4f %.4f %.0f %.0f %.4f\n", nowned, neighbours, median(total), median(copies),
              median(bins), median(pairs), median(reduction), npairs, tested, median(pairs_only));
  return 0;
}
