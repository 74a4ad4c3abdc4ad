// Part of GPUCOORD, GPL-2.0. Times one evaluation of S with derivatives and virial on a jittered
// simple cubic lattice, the same system as for the timings of other programs.
//
// Usage: bench_coordination backend atoms_per_edge range_in_spacings precision threads repeats
//        bench_coordination resident ... [types]
//        bench_coordination gpu
// backend: host, cuda or resident.
// Prints: atoms, neighbors, milliseconds; of these the milliseconds of copies, bins, pairs and
// reduction; the number of ordered pairs in range and of computed distances (0: not counted);
// milliseconds of the pairs without the virial; and milliseconds of a function of the coordination
// numbers (more_than), with derivatives and virial: of the first evaluation after a GPU has found
// the pairs, which also finds the owners of ghost atoms (0: not a GPU), and of a later one. Times
// are medians over repeats. A GPU keeps the pairs that it has found; bins is then the time of
// finding them again, as when LAMMPS builds its neighbor lists, and is not included in the
// milliseconds.
// With backend resident, positions and results are in GPU memory, as with KOKKOS. Prints: atoms,
// neighbors, milliseconds of value and derivatives, the same with the virial, milliseconds of a
// rebuild, the number of ordered pairs in range, and milliseconds of value and derivatives of the
// function. With several types, each pair of types has its own r0 and the same range.
// 'gpu' prints the name of the GPU, or why there is none.

#include "periodic_atoms.h"
#include "timing.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/coordination.h"
#include "gpucoord/resident_function.h"

#ifdef GPUCOORD_HAS_CUDA
#include "gpucoord/resident_coordination.h"
#include "on_gpu.h"
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace {

std::unique_ptr<gpucoord::Coordination> make_backend(const char *name,
                                                     const gpucoord::SwitchOptions &options,
                                                     gpucoord::Precision precision, int threads)
{
  const gpucoord::Switch function(options);
  if (!std::strcmp(name, "cuda") || !std::strcmp(name, "resident"))
    return make_cuda_coordination(function, precision, 0, threads);
  return make_host_coordination(function, precision, threads);
}

constexpr double SKIN = 0.12;    // LAMMPS' default of 0.3 for a cutoff of 2.5

// A function that is 1/2 at the mean coordination number.
gpucoord::AtomFunctionOptions function_options(double mean)
{
  gpucoord::AtomFunctionOptions options;
  options.kind = gpucoord::AtomFunctionKind::MORE_THAN;
  options.sigma.r0 = mean;
  return options;
}

#ifdef GPUCOORD_HAS_CUDA
gpucoord::SwitchTable functions_of(gpucoord::SwitchOptions options, int ntypes)
{
  if (ntypes == 1) return gpucoord::Switch(options);
  gpucoord::SwitchTable table(ntypes);
  const double r0 = options.r0;
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j) {
      options.r0 = r0 * (1.0 + 1e-3 * (i * ntypes + j));
      table.set(i, j, table.add(gpucoord::Switch(options)));
    }
  return table;
}

void time_resident(const gpucoord::SwitchOptions &options, gpucoord::Precision precision,
                   const std::vector<double> &x, const std::vector<int> &owner, int nowned,
                   double mean, int ntypes, int repeats, double (&ms)[4])
{
  const gpucoord::SwitchTable table = functions_of(options, ntypes);
  std::mt19937 random(30);
  std::vector<int> type(x.size() / 3);
  for (int &t : type) t = static_cast<int>(random() % ntypes) + 1;
  double *const on_gpu = to_gpu(x);
  int *const type_on_gpu = to_gpu(type), *const owner_on_gpu = to_gpu(owner);
  gpucoord::DeviceAtoms atoms;
  atoms.x = on_gpu;
  atoms.type = type_on_gpu;
  atoms.nlocal = nowned;
  atoms.nall = static_cast<int>(x.size() / 3);
  gpucoord::DeviceSelection selection;
  selection.skin = SKIN;
  const auto device = make_resident_coordination(
      table, precision, gpucoord::make_resident_pairs(table, precision, nullptr));
  const auto function = make_resident_function(function_options(mean), precision);
  function->select(atoms, 0, nullptr);
  std::vector<double> derivatives, virial, rebuild, function_times;
  for (int k = 0; k <= repeats; ++k) {
    const double found = milliseconds_on_gpu(1, [&] {
      device->rebuild(atoms, selection, 0, nullptr);
    });
    const auto evaluate = [&](unsigned want) {
      device->evaluate(atoms, {want, true}, nullptr);
    };
    const double forces = milliseconds_on_gpu(IN_A_ROW, [&] {
      evaluate(gpucoord::DERIVATIVES);
    });
    const double all = milliseconds_on_gpu(IN_A_ROW, [&] {
      evaluate(gpucoord::DERIVATIVES | gpucoord::VIRIAL);
    });
    const double both = milliseconds_on_gpu(IN_A_ROW, [&] {
      device->evaluate_first(atoms, 0, function->s(), nullptr);
      function->evaluate(nullptr);
      device->evaluate_second({gpucoord::DERIVATIVES, true}, {function->dSds(), owner_on_gpu},
                              nullptr);
    });
    if (k == 0) continue;    // warm-up of caches and buffers
    function_times.push_back(both);
    rebuild.push_back(found);
    derivatives.push_back(forces);
    virial.push_back(all);
  }
  ms[0] = median(derivatives);
  ms[1] = median(virial);
  ms[2] = median(rebuild);
  ms[3] = median(function_times);
  cudaFree(owner_on_gpu);
  cudaFree(on_gpu);
  cudaFree(type_on_gpu);
}
#endif

}    // namespace

int main(int argc, char **argv)
{
  if (argc == 2 && !std::strcmp(argv[1], "gpu")) {
    const auto devices = gpucoord::find_cuda_devices();
    std::printf("%s\n",
                devices.count ? gpucoord::cuda_device_name(0).c_str() : devices.why_none.c_str());
    return devices.count ? 0 : 1;
  }
  const int ntypes = argc == 8 ? std::atoi(argv[7]) : 1;
  if (argc < 7 || argc > 8 || (argc == 8 && std::strcmp(argv[1], "resident")) || ntypes < 1) {
    std::fprintf(stderr,
                 "usage: %s backend atoms_per_edge range precision threads repeats [types, with "
                 "backend resident]\n",
                 argv[0]);
    return 1;
  }
  const char *const backend_name = argv[1];
  const int edge = std::atoi(argv[2]);
  const double range = std::atof(argv[3]);
  const auto precision = !std::strcmp(argv[4], "double") ? gpucoord::Precision::DOUBLE
      : !std::strcmp(argv[4], "mixed")                   ? gpucoord::Precision::MIXED
                                                         : gpucoord::Precision::SINGLE;
  const int threads = std::atoi(argv[5]), repeats = std::atoi(argv[6]);

  // Owned atoms, then the periodic images within range, as in LAMMPS.
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> jitter(-0.1, 0.1);
  PeriodicAtoms lattice;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int site[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (int c = 0; c < 3; ++c) lattice.x.push_back(site[c] + 0.5 + jitter(random));
  }
  lattice.add_images(edge, range);
  const std::vector<double> &x = lattice.x;
  const std::vector<int> &owner = lattice.owner;
  const int nowned = lattice.nowned;
  std::vector<int> index(x.size() / 3);
  std::iota(index.begin(), index.end(), 0);

  gpucoord::SwitchOptions options;
  options.r0 = 1.0;
  options.dmax = range;
  const double neighbors = 4.0 / 3.0 * 3.14159265358979 * range * range * range;
  gpucoord::CellsInput in;
  in.x = x.data();
  in.a = {index.data(), static_cast<int>(index.size()), nowned};
  in.version = 1;
  in.skin = SKIN;
  std::vector<double> peratom(4 * static_cast<std::size_t>(nowned));

  // Number of pairs in range: S of a function that is 1 up to its end.
  gpucoord::SwitchOptions count;
  count.kind = gpucoord::SwitchKind::CUBIC;
  count.d0 = range * (1.0 - 1e-12);
  count.dmax = range;
  const double npairs = 2.0 *
      make_backend(backend_name, count, gpucoord::Precision::DOUBLE, threads)
          ->cells(in, gpucoord::VALUE, nullptr)
          .value;

  const double mean = 2.0 *
      make_backend(backend_name, options, gpucoord::Precision::DOUBLE, threads)
          ->cells(in, gpucoord::VALUE, nullptr)
          .value /
      nowned;
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(backend_name, "resident")) {
    double ms[4];
    time_resident(options, precision, x, owner, nowned, mean, ntypes, repeats, ms);
    std::printf("%d %.0f %.4f %.4f %.4f %.0f %.4f\n", nowned, neighbors, ms[0], ms[1], ms[2],
                npairs, ms[3]);
    return 0;
  }
#endif

  const auto backend = make_backend(backend_name, options, precision, threads);
  const bool keeps_pairs = std::strncmp(backend_name, "cuda", 4) == 0;
  double tested = 0.0;
  gpucoord::AtomFunction function(function_options(mean));
  std::vector<double> s(nowned), f(nowned), weights(owner.size());
  gpucoord::SecondPass second;
  second.s = s.data();
  second.nweights = static_cast<std::int64_t>(weights.size());
  second.weights = [&] {
    function.evaluate(
        nowned, s.data(), f.data(), weights.data(),
        [](double *, int, gpucoord::AtomFunction::Reduction) {
        },
        threads);
    for (std::size_t k = nowned; k < owner.size(); ++k) weights[k] = weights[owner[k]];
    return weights.data();
  };
  gpucoord::DeviceFunction on_device;
  on_device.options = function_options(mean);
  on_device.owner = owner.data();
  if (gpucoord::can_be_resident(on_device.options)) second.on_device = &on_device;
  std::vector<double> total, copies, bins, pairs, reduction, pairs_only, first_times,
      function_times;
  for (int k = 0; k <= repeats; ++k) {
    std::fill(peratom.begin(), peratom.end(), 0.0);
    gpucoord::Contribution result;
    const double elapsed = milliseconds([&] {
      result = backend->cells(in, gpucoord::DERIVATIVES | gpucoord::VIRIAL, peratom.data());
    });
    if (k == 0) continue;    // warm-up of caches and buffers
    tested = result.timings.tested;
    total.push_back(elapsed);
    copies.push_back(1e3 * result.timings.copies);
    if (!keeps_pairs) bins.push_back(1e3 * result.timings.bins);
    pairs.push_back(1e3 * result.timings.pairs);
    reduction.push_back(1e3 * result.timings.reduction);
    pairs_only.push_back(1e3 *
                         backend->cells(in, gpucoord::DERIVATIVES, peratom.data()).timings.pairs);
    in.second = &second;
    const auto evaluate_function = [&] {
      std::fill(peratom.begin(), peratom.end(), 0.0);
      std::fill(s.begin(), s.end(), 0.0);
      return milliseconds([&] {
        backend->cells(in, gpucoord::DERIVATIVES | gpucoord::VIRIAL, peratom.data());
      });
    };
    if (keeps_pairs) first_times.push_back(evaluate_function());
    function_times.push_back(evaluate_function());
    in.second = nullptr;
    if (!keeps_pairs) continue;
    ++in.version;
    bins.push_back(1e3 * backend->cells(in, gpucoord::DERIVATIVES, peratom.data()).timings.bins);
  }
  std::printf("%d %.0f %.4f %.4f %.4f %.4f %.4f %.0f %.0f %.4f %.4f %.4f\n", nowned, neighbors,
              median(total), median(copies), median(bins), median(pairs), median(reduction), npairs,
              tested, median(pairs_only), keeps_pairs ? median(first_times) : 0.0,
              median(function_times));
  return 0;
}
