// Part of GPUCOORD, GPL-2.0. Hills for the tests of metadynamics and of its files.

#ifndef GPUCOORD_BIAS_HILLS_H
#define GPUCOORD_BIAS_HILLS_H

#include "gpucoord/metadynamics.h"

#include <cmath>
#include <random>
#include <vector>

namespace gpucoord {

// The series of values that PLUMED's driver read with READ.
inline double series(int k)
{
  return 5.0 + 2.2 * std::sin(0.7 * k) + 0.9 * std::cos(1.9 * k);
}

inline double second_series(int k)
{
  return 3.0 + 1.1 * std::cos(0.53 * k) + 0.4 * std::sin(2.3 * k);
}

inline MetadynamicsOptions options(int n, double biasfactor, bool grid)
{
  MetadynamicsOptions o;
  o.names = {"s", "t", "u"};
  o.names.resize(n);
  o.sigma = {0.2, 0.15, 0.3};
  o.sigma.resize(n);
  o.height = 0.3;
  o.biasfactor = biasfactor;
  o.kt = 1.0;
  if (grid) {
    o.grid = {{0.0, 10.0, 200}, {0.0, 6.0, 120}, {-1.0, 4.0, 60}};
    o.grid.resize(n);
  }
  return o;
}

// Adds hills at random positions with random heights.
inline std::vector<Hill> fill(Metadynamics &metad, int n, int nhills, unsigned seed)
{
  std::vector<Hill> hills;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const double lo[3] = {2.0, 1.0, 0.0}, width[3] = {4.0, 3.0, 3.0}, sigma[3] = {0.2, 0.15, 0.3};
  for (int h = 0; h < nhills; ++h) {
    Hill hill;
    for (int k = 0; k < n; ++k) {
      hill.center[k] = lo[k] + width[k] * uniform(random);
      hill.sigma[k] = sigma[k];
    }
    hill.height = hill.file_height = uniform(random);
    metad.add(hill);
    hills.push_back(hill);
  }
  return hills;
}

}    // namespace gpucoord

#endif
