// Part of GPUCOORD, GPL-2.0. Times potential maps of a jittered lattice of charges of both signs in
// a periodic box, with 0.1 charges per cubic Angstrom, as in water.
//
// Usage: bench_map backend kernel atoms spacing cutoff precision field threads repeats
//                  [size depth device|host]
// backend: host or cuda. kernel: cut, smooth, taylor, ewald. atoms: number in the box, without
// images. spacing: of grid points, Angstrom. precision: double, mixed. field: no, yes.
// size, depth: bins of fixed depth; device or host handles their overflow.
// Prints: atoms, points, milliseconds of a map in the memory of the backend (sorted bins), of these
// the milliseconds of the sort (GPU), milliseconds of copies to and from host arrays (GPU), pairs
// within the cutoff, computed distances, and the fraction of charges that overflow. Times are
// medians over repeats. Pairs within the cutoff are estimated from the density.

#include "timing.h"

#include "gpucoord/potential_map.h"

#ifdef GPUCOORD_HAS_CUDA
#include "potential_map/map_engine.h"
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double DENSITY = 0.1;

struct System {
  double length = 0.0;    // edge of the box
  std::vector<double> x, q;
  MapCharges charges() const { return {x.data(), q.data(), static_cast<int>(q.size())}; }
};

System make_system(int atoms, double cutoff)
{
  System s;
  const int edge = static_cast<int>(std::lround(std::cbrt(atoms)));
  const double spacing = 1.0 / std::cbrt(DENSITY);
  s.length = edge * spacing;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> jitter(-0.45, 0.45);
  std::vector<double> x;
  for (int k = 0; k < edge; ++k)
    for (int j = 0; j < edge; ++j)
      for (int i = 0; i < edge; ++i)
        for (const int c : {i, j, k}) x.push_back((c + 0.5 + jitter(random)) * spacing);
  const int images = static_cast<int>(std::ceil(cutoff / s.length));
  for (int k = -images; k <= images; ++k)
    for (int j = -images; j <= images; ++j)
      for (int i = -images; i <= images; ++i)
        for (std::size_t a = 0; a < x.size(); a += 3) {
          const double p[3] = {x[a] + i * s.length, x[a + 1] + j * s.length,
                               x[a + 2] + k * s.length};
          const bool is_near = *std::min_element(p, p + 3) > -cutoff &&
              *std::max_element(p, p + 3) < s.length + cutoff;
          if (!is_near) continue;
          s.x.insert(s.x.end(), p, p + 3);
          s.q.push_back(a % 2 == 0 ? 0.8 : -0.8);
        }
  return s;
}

struct Times {
  std::vector<double> all, sort, with_copies;
};

void time_host(PotentialMap &map, const MapGrid &grid, const System &s, const MapResults &out,
               int repeats, std::vector<double> &times)
{
  for (int k = 0; k <= repeats; ++k) {
    const double took = milliseconds([&] {
      map.on_grid(grid, s.charges(), out);
    });
    if (k > 0) times.push_back(took);
  }
}

#ifdef GPUCOORD_HAS_CUDA
double time_cuda(const MapOptions &options, Precision precision, const MapGrid &grid,
                 const System &s, bool field, int repeats, Times &times)
{
  const std::size_t n = static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
  std::vector<DeviceAtom> atoms(s.q.size());
  for (std::size_t k = 0; k < atoms.size(); ++k)
    atoms[k] = {s.x[3 * k], s.x[3 * k + 1], s.x[3 * k + 2], static_cast<int>(k)};
  DeviceBuffer<DeviceAtom> atom;
  DeviceBuffer<double> q, phi, field_values;
  atom.reserve(atoms.size());
  q.reserve(atoms.size());
  phi.reserve(n);
  if (field) field_values.reserve(3 * n);
  check(cudaMemcpy(atom.data(), atoms.data(), atoms.size() * sizeof(DeviceAtom),
                   cudaMemcpyHostToDevice),
        "copying");
  check(cudaMemcpy(q.data(), s.q.data(), s.q.size() * sizeof(double), cudaMemcpyHostToDevice),
        "copying");
  const auto engine = make_map_engine(options, precision);
  Stream stream;
  TimedEvent start, sorted, end;
  for (int k = 0; k <= repeats; ++k) {
    start.record(stream);
    engine->begin(bounds_of(grid), {atom.data(), q.data(), static_cast<int>(atoms.size())}, stream);
    sorted.record(stream);
    engine->on_grid(grid, 0, engine->layers(grid), false, phi.data(),
                    field ? field_values.data() : nullptr, stream);
    end.record(stream);
    check(cudaStreamSynchronize(stream), "computing potentials");
    if (k == 0) continue;
    times.all.push_back(1e3 * seconds_between(start, end));
    times.sort.push_back(1e3 * seconds_between(start, sorted));
  }
  return engine->tested(stream);
}
#endif

[[noreturn]] void stop(const char *what, const std::string &value, const char *known)
{
  std::fprintf(stderr, "%s is '%s' and must be %s\n", what, value.c_str(), known);
  std::exit(1);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 10 && argc != 13) {
    std::fprintf(stderr,
                 "usage: bench_map backend kernel atoms spacing cutoff precision field threads "
                 "repeats [size depth taker]\n");
    return 1;
  }
  const std::string backend = argv[1], kernel = argv[2], words = argv[6];
  MapOptions options;
  if (kernel == "cut")
    options.kernel = MapKernel::CUT;
  else if (kernel == "smooth")
    options.kernel = MapKernel::SMOOTH;
  else if (kernel == "taylor")
    options.kernel = MapKernel::TAYLOR;
  else if (kernel == "ewald")
    options.kernel = MapKernel::EWALD;
  else
    stop("kernel", kernel, "cut, smooth, taylor or ewald");
  const double spacing = std::atof(argv[4]);
  options.cutoff = std::atof(argv[5]);
  options.alpha = 3.5 / options.cutoff;
  options.tiny = 1e-5 * options.cutoff;
  const Precision precision = words == "double" ? Precision::DOUBLE : Precision::MIXED;
  const bool field = std::string(argv[7]) == "yes";
  const int threads = std::atoi(argv[8]), repeats = std::atoi(argv[9]);
  MapBins bins;
  if (argc == 13)
    bins = {true, std::atof(argv[10]), std::atoi(argv[11]), std::string(argv[12]) == "host"};

  const System s = make_system(std::atoi(argv[3]), options.cutoff);
  MapGrid grid;
  for (int c = 0; c < 3; ++c) {
    grid.n[c] = static_cast<int>(std::lround(s.length / spacing));
    grid.step[c][c] = s.length / grid.n[c];
    grid.origin[c] = 0.5 * grid.step[c][c];
  }
  const std::size_t n = static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
  std::vector<double> phi(n), field_values(field ? 3 * n : 0);
  const MapResults out = {phi.data(), field ? field_values.data() : nullptr};
  constexpr double PI = 3.14159265358979323846;
  const double useful = n * DENSITY * 4.0 / 3.0 * PI * std::pow(options.cutoff, 3);
  Times times;
  double tested = 0.0;
  MapOverflow overflow;
  if (backend == "host") {
    const auto map = make_host_potential_map(options, precision, threads, bins);
    time_host(*map, grid, s, out, repeats, times.all);
    times.sort = times.with_copies = {0.0};
    tested = map->tested();
    overflow = map->overflow();
  }
#ifdef GPUCOORD_HAS_CUDA
  else if (backend == "cuda") {
    const auto map = make_cuda_potential_map(options, precision, 0, threads, bins);
    time_host(*map, grid, s, out, repeats, times.with_copies);
    overflow = map->overflow();
    tested = time_cuda(options, precision, grid, s, field, repeats, times);
  }
#endif
  else
    stop("backend", backend, "host or cuda");
  std::printf("%.0f %zu %.4f %.4f %.4f %.4e %.4e %.4f\n", DENSITY * std::pow(s.length, 3), n,
              median(times.all), median(times.sort), median(times.with_copies), useful, tested,
              overflow.charges > 0.0 ? overflow.overflowing / overflow.charges : 0.0);
  return 0;
}
