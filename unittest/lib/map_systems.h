// Part of GPUCOORD, GPL-2.0. Charges, grids and options of potential maps.

#ifndef GPUCOORD_TEST_MAP_SYSTEMS_H
#define GPUCOORD_TEST_MAP_SYSTEMS_H

#include "gpucoord/potential_map.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace gpucoord {

constexpr Precision PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE};
constexpr MapKernel KERNELS[] = {MapKernel::CUT, MapKernel::SMOOTH, MapKernel::TAYLOR,
                                 MapKernel::EWALD, MapKernel::DIRECT};
constexpr MapOverlap OVERLAPS[] = {MapOverlap::SKIP, MapOverlap::ZERO, MapOverlap::SOFT};
const char *const KERNEL_NAMES[] = {"cut", "smooth", "taylor", "ewald", "direct"};
const char *const OVERLAP_NAMES[] = {"skip", "zero", "soft"};

struct System {
  std::vector<double> x, q;
  MapCharges charges() const { return {x.data(), q.data(), static_cast<int>(q.size())}; }
  void add(double px, double py, double pz, double charge)
  {
    x.insert(x.end(), {px, py, pz});
    q.push_back(charge);
  }
};

struct Values {
  std::vector<double> phi, field;
  explicit Values(std::size_t n = 0) : phi(n, NAN), field(3 * n, NAN) {}
  MapResults out() { return {phi.data(), field.data()}; }
};

inline std::size_t size_of(const MapGrid &grid)
{
  return static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
}

inline System random_system(int n, double length, unsigned seed)
{
  System s;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(0.0, length), charge(-1.0, 1.0);
  for (int k = 0; k < n; ++k) {
    const double px = coordinate(random), py = coordinate(random), pz = coordinate(random);
    s.add(px, py, pz, charge(random));
  }
  return s;
}

// A grid in restricted triclinic form.
inline MapGrid grid_of(int nx, int ny, int nz, double step, double tilt)
{
  MapGrid grid;
  const double origin[3] = {-0.7, 0.3, -0.2},
               steps[3][3] = {{step, 0, 0},
                              {tilt * step, 1.1 * step, 0},
                              {-0.5 * tilt * step, 0.7 * tilt * step, 0.9 * step}};
  const int n[3] = {nx, ny, nz};
  for (int a = 0; a < 3; ++a) {
    grid.origin[a] = origin[a];
    grid.n[a] = n[a];
    for (int c = 0; c < 3; ++c) grid.step[a][c] = steps[a][c];
  }
  return grid;
}

inline MapOptions options_of(MapKernel kernel, MapOverlap overlap = MapOverlap::SKIP)
{
  MapOptions o;
  o.kernel = kernel;
  o.cutoff = 3.3;
  o.alpha = 0.9;
  o.overlap = overlap;
  o.radius = 0.6;
  o.tiny = 1e-5 * o.cutoff;
  return o;
}

inline std::string name_of(const MapOptions &o)
{
  return std::string(KERNEL_NAMES[static_cast<int>(o.kernel)]) + " " +
      OVERLAP_NAMES[static_cast<int>(o.overlap)];
}

}    // namespace gpucoord

#endif
