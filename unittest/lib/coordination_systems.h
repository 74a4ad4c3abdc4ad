// Part of GPUCOORD, GPL-2.0. Systems of the test programs of engines.

#ifndef GPUCOORD_TEST_COORDINATION_SYSTEMS_H
#define GPUCOORD_TEST_COORDINATION_SYSTEMS_H

#include "brute_force.h"
#include "engines.h"
#include "switch_cases.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

inline const SwitchOptions DEFAULT = rational(6, 12, 0.5, 0.0, 1.6);

inline System one_group(const std::vector<double> &x)
{
  System s = make_system(x, Groups::ONE);
  std::fill(s.member.begin(), s.member.end(), 1);
  return s;
}

inline brute::Cell triclinic(double l, double tilt)
{
  brute::Cell cell;
  const double edges[3][3] = {
      {l, 0, 0}, {tilt * l, 1.1 * l, 0}, {-0.7 * tilt * l, 0.6 * tilt * l, 0.9 * l}};
  std::memcpy(cell.edges, edges, sizeof(edges));
  for (bool &p : cell.periodic) p = true;
  return cell;
}

inline std::vector<double> points_in(const brute::Cell &cell, int n, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0.0, 1.0);
  std::vector<double> x;
  for (int k = 0; k < n; ++k) {
    double p[3] = {};
    for (int e = 0; e < 3; ++e) {
      const double f = u(random);
      for (int c = 0; c < 3; ++c) p[c] += f * cell.edges[e][c];
    }
    x.insert(x.end(), p, p + 3);
  }
  return x;
}

#endif
