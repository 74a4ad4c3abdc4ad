// Part of GPUCOORD, GPL-2.0. Times one evaluation of a bias on the GPU: of harmonic restraints, of
// metadynamics on a grid with 60 points per variable, and of a sum of kernels of OPES.
//
// Usage: bench_bias variables kernels repeats
// Prints: microseconds of an evaluation of each, medians over repeats of 1000 in a row.

#include "on_gpu.h"

#include "gpu/device_status.h"
#include "gpucoord/metadynamics.h"
#include "gpucoord/resident_bias.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int EVALUATIONS = 1000;    // timed together, without waiting in between

gpucoord::MetadynamicsOptions grid_options(int n)
{
  gpucoord::MetadynamicsOptions options;
  for (int v = 0; v < n; ++v) {
    options.names.push_back("v" + std::to_string(v));
    options.sigma.push_back(0.2);
    options.grid.push_back({-2.0, 2.0, 60});
  }
  options.height = 1.0;
  return options;
}

gpucoord::KernelSum sum_of_kernels(int n)
{
  gpucoord::KernelSum sum;
  sum.nvariables = n;
  sum.cutoff2 = 24.0;    // barrier 12 kT
  sum.end = std::exp(-12.0);
  sum.akt = sum.inverse = 1.0;
  sum.epsilon = std::exp(-12.0);
  return sum;
}

// Kernels over the range of a variable, as after a long run.
std::vector<double> random_kernels(int n, int count)
{
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> center(-2.0, 2.0), sigma(0.05, 0.2), height(0.1, 1.0);
  std::vector<double> rows;
  for (int k = 0; k < count; ++k) {
    rows.push_back(height(random));
    for (int v = 0; v < n; ++v) rows.push_back(center(random));
    for (int v = 0; v < n; ++v) rows.push_back(sigma(random));
  }
  return rows;
}

double microseconds(const gpucoord::DeviceTerms &terms,
                    const std::vector<gpucoord::DeviceValue> &variables, int repeats)
{
  const auto bias = gpucoord::make_resident_bias();
  gpucoord::ResidentBias::State state = {};
  state.bad_atom = -1;
  bias->set(state, nullptr);
  std::vector<double> times;
  for (int k = 0; k <= repeats; ++k) {
    const double time = 1e3 * milliseconds_on_gpu(EVALUATIONS, [&] {
                          bias->evaluate(variables, terms, 1.0, nullptr);
                        });
    if (k > 0) times.push_back(time);    // the first one copies the grid or the kernels
  }
  return median(times);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s variables kernels repeats\n", argv[0]);
    return 1;
  }
  const int n = std::atoi(argv[1]), repeats = std::atoi(argv[3]);
  double *const s = to_gpu<double>({0.31, -0.27, 0.52});
  auto *const status = to_gpu<gpucoord::DeviceStatus>({{gpucoord::DeviceStatus::NONE, 0}});
  std::vector<gpucoord::DeviceValue> variables(n);
  for (int v = 0; v < n; ++v) {
    variables[v].sum = s + v;
    variables[v].status = status;
  }

  gpucoord::DeviceTerms restraints;
  restraints.now.resize(n);
  restraints.last.resize(n);

  const auto options = grid_options(n);
  gpucoord::Metadynamics metad(options);
  const double center[3] = {0.2, -0.2, 0.4};
  metad.add(metad.next_hill(center, 0.0));
  gpucoord::DeviceTerms grid;
  grid.grid = {options.grid, {}, &metad.grid_values(), metad.nhills()};

  const auto rows = random_kernels(n, std::atoi(argv[2]));
  gpucoord::DeviceTerms kernels;
  kernels.kernels = {sum_of_kernels(n), &rows, 1};

  std::printf("%.3f %.3f %.3f\n", microseconds(restraints, variables, repeats),
              microseconds(grid, variables, repeats), microseconds(kernels, variables, repeats));
  cudaFree(s);
  cudaFree(status);
  return 0;
}
