// Part of GPUCOORD, GPL-2.0. Atoms for tests of variables on the GPU, and sums of the host backend
// in double, which test_coordination.cpp compares with brute force.

#ifndef GPUCOORD_TEST_RESIDENT_SYSTEMS_H
#define GPUCOORD_TEST_RESIDENT_SYSTEMS_H

#include "on_gpu.h"
#include "type_functions.h"

#include "gpucoord/coordination.h"
#include "gpucoord/resident_coordination.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace gpucoord {

// Atoms of two groups, bits 2 and 4, both owned and ghost; types 1 to 3.
struct System {
  std::vector<double> x;
  std::vector<int> mask, type;
  int nlocal, nall;

  System(int nlocal_in, int nghost, double density, unsigned seed, double fraction_a = 1.0,
         double fraction_b = 0.0, double offset = 0.0) :
      nlocal(nlocal_in),
      nall(nlocal_in + nghost)
  {
    std::mt19937 random(seed);
    const double length = std::cbrt(std::max(1, nall) / density);
    std::uniform_real_distribution<double> coordinate(offset, offset + length), chance(0.0, 1.0);
    for (int i = 0; i < 3 * nall; ++i) x.push_back(coordinate(random));
    for (int i = 0; i < nall; ++i) {
      mask.push_back(1 | (chance(random) < fraction_a ? 2 : 0) |
                     (chance(random) < fraction_b ? 4 : 0));
      type.push_back(1 + static_cast<int>(random() % 3));
    }
  }
  void move(double distance, unsigned seed)
  {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> step(-distance / std::sqrt(3.0),
                                                distance / std::sqrt(3.0));
    for (double &coordinate : x) coordinate += step(random);
  }
  std::vector<int> atoms(int bit, int &nowned) const
  {
    std::vector<int> list;
    nowned = 0;
    for (int i = 0; i < nall; ++i)
      if (mask[i] & bit) {
        list.push_back(i);
        nowned += i < nlocal;
      }
    return list;
  }
};

struct Result {
  Contribution sums;
  std::vector<double> peratom;
};

inline Result on_host(const SwitchTable &table, const System &s, bool two, unsigned want,
                      const double *weight = nullptr)
{
  Result result;
  result.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  int na, nb;
  const auto a = s.atoms(2, na), b = s.atoms(4, nb);
  const int nothing = 0;
  CellsInput in;
  in.x = s.x.data();
  in.a = {a.empty() ? &nothing : a.data(), static_cast<int>(a.size()), na};
  if (two) in.b = {b.empty() ? &nothing : b.data(), static_cast<int>(b.size()), nb};
  in.types = {s.type.data(), weight};
  result.sums =
      make_host_coordination(table, Precision::DOUBLE, 4)->cells(in, want, result.peratom.data());
  return result;
}

// Sorts the atoms by cells of this size, x fastest. Owned atoms and ghosts are sorted separately.
inline void sort_in_cells(System &s, double size)
{
  std::vector<int> order(s.nall);
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int i) {
    const auto cell = [&](int c) {
      return std::floor(s.x[3 * i + c] / size);
    };
    return std::make_tuple(i >= s.nlocal, cell(2), cell(1), cell(0));
  };
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    return key(i) < key(j);
  });
  const System old = s;
  for (int i = 0; i < s.nall; ++i) {
    std::copy_n(old.x.data() + 3 * order[i], 3, s.x.data() + 3 * i);
    s.mask[i] = old.mask[order[i]];
    s.type[i] = old.type[order[i]];
  }
}

// Neighbors within range of the owned atoms, in both layouts.
struct HostList {
  std::vector<int> neighbor, count;

  HostList(const System &s, double range, std::int64_t atom_stride, std::int64_t neighbor_stride,
           int capacity) :
      count(s.nlocal)
  {
    std::map<std::tuple<int, int, int>, std::vector<int>> cells;
    const auto cell = [&](int i, int c) {
      return static_cast<int>(std::floor(s.x[3 * i + c] / range));
    };
    for (int i = 0; i < s.nall; ++i) cells[{cell(i, 0), cell(i, 1), cell(i, 2)}].push_back(i);
    neighbor.assign(static_cast<std::size_t>(s.nlocal) * capacity, -1000000000);
    for (const auto &[at, atoms] : cells)
      for (int k = 0; k < 27; ++k) {
        const auto others =
            cells.find({std::get<0>(at) + k % 3 - 1, std::get<1>(at) + k / 3 % 3 - 1,
                        std::get<2>(at) + k / 9 - 1});
        if (others == cells.end()) continue;
        for (const int i : atoms)
          for (const int j : others->second) {
            if (i >= s.nlocal || j == i) continue;
            double r_sq = 0.0;
            for (int c = 0; c < 3; ++c)
              r_sq += (s.x[3 * i + c] - s.x[3 * j + c]) * (s.x[3 * i + c] - s.x[3 * j + c]);
            if (r_sq >= range * range) continue;
            if (count[i] == capacity)
              throw std::length_error("more neighbors than there is room for");
            neighbor[i * atom_stride + count[i]++ * neighbor_stride] = j;
          }
      }
  }
};

// The atoms of a System on the GPU, with positions in float or double.
struct Loaded {
  Loaded(const System &s, bool in_float) :
      x(in_float ? std::vector<double>() : s.x),
      xf(in_float ? std::vector<float>(s.x.begin(), s.x.end()) : std::vector<float>()),
      mask(s.mask), type(s.type)
  {
    atoms.x = in_float ? static_cast<const void *>(xf.data()) : x.data();
    atoms.x_is_float = in_float;
    atoms.mask = mask.data();
    atoms.type = type.data();
    atoms.nlocal = s.nlocal;
    atoms.nall = s.nall;
  }
  OnGpu<double> x;
  OnGpu<float> xf;
  OnGpu<int> mask, type;
  DeviceAtoms atoms;
};

inline DeviceSelection selection(bool two, double skin)
{
  DeviceSelection chosen;
  chosen.bit_a = 2;
  chosen.bit_b = two ? 4 : 0;
  chosen.skin = skin;
  return chosen;
}

inline std::unique_ptr<ResidentCoordination> make(const SwitchTable &table, Precision precision,
                                                  const double *weight = nullptr)
{
  return make_resident_coordination(table, precision,
                                    make_resident_pairs(table, precision, weight));
}

inline double largest(const std::vector<double> &values, int columns, int first, int last)
{
  double distance = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (const int c = static_cast<int>(k % columns); c >= first && c < last)
      distance = std::max(distance, std::fabs(values[k]));
  return distance;
}

}    // namespace gpucoord

#endif
