// Part of GPUCOORD, GPL-2.0. The search for the partners of an atom in bins.

#ifndef GPUCOORD_BIN_SEARCH_CUH
#define GPUCOORD_BIN_SEARCH_CUH

#include "../gpu/bins.h"
#include "../gpu/sorted_atoms.cuh"
#include "class_functions_cuda.h"

#include <cstdint>

namespace gpucoord {

// Returns a position as integers, in units of a length, and a number. The integers are the low 32
// bits; they wrap around.
__device__ inline int4 integer_point(const double3 &p, double inverse_unit, int index)
{
  const auto low = [&](double x) {
    return static_cast<int>(__double2ll_rn(x * inverse_unit));
  };
  return make_int4(low(p.x), low(p.y), low(p.z), index);
}

// Returns a point of the search, with its index among the points.
__device__ inline int4 search_point(const DeviceAtom &atom, double inverse_unit, int index)
{
  return integer_point(make_double3(atom.x, atom.y, atom.z), inverse_unit, index);
}

// Margin of distances and their squares. It is far above rounding errors in float, also those that
// put an atom into the next column.
constexpr double REACH_MARGIN = 1.0 + 1e-5;

// Possible rows of a pair of parts: owned atoms of group a with partners in b and, if there are
// two groups, owned atoms of b with partners in a. They are in the caller's order, in which
// neighbors are mostly close together.
struct Candidates {
  const int *atom_of;    // row of the caller's arrays for each point
  int first_point[2];
  int na, n;    // candidates of group a, and all; the rest are of group b

  struct Candidate {
    int group, k;    // atom k of the group
    int point;       // index of the point
  };
  __device__ Candidate operator()(int t) const
  {
    const int group = t < na ? 0 : 1, k = group == 0 ? t : t - na;
    return {group, k, first_point[group] + k};
  }
};

// The largest distance of partners. It depends on their classes if the functions of types differ.
// Squares have a margin.
struct Reach {
  double longest;    // distance
  float skin;
  // [classes][classes + 1] range, distance, negative: no function. The last of a class is its
  // longest. null: all partners within 'longest'.
  const float *range;
  int nclasses;

  __device__ double longest_squared() const { return longest * longest * REACH_MARGIN; }
  // Returns the squared reach between classes i and j. range must not be null.
  __device__ float squared(int i, int j) const
  {
    const float own = __ldg(range + i * (nclasses + 1) + j), reach = own + skin;
    return own < 0.0f ? -1.0f : reach * reach * static_cast<float>(REACH_MARGIN);
  }
  // Returns the largest squared reach of class i.
  __device__ float squared_of_any(int i) const
  {
    const auto maximum = static_cast<float>(longest_squared());
    return range ? fminf(squared(i, nclasses), maximum) : maximum;
  }
};

struct Search {
  Candidates candidates;
  BinGrid grid;
  Neighborhood neighborhood;
  Reach reach;
  double unit, inverse_unit;     // distance and 1/distance, unit of the search points
  const DeviceAtom *atoms[2];    // by group, candidates first
  SortedAtoms partners[2];
  const int4 *partner_points[2];
  bool two;
};

// Returns the distance between x and a column d columns away. x is measured from the lower corner
// of the own column. size: width of a column.
__device__ inline float outside(double x, int d, double size)
{
  const double below = d * size - x;
  return fmaxf(0.0f, fmaxf(static_cast<float>(below), static_cast<float>(-below - size)));
}

constexpr int TESTED_AT_ONCE = 4;    // atoms loaded together

// Calls f(index of the point) for each partner of candidate t.
template <class F> __device__ void for_each_partner(const Search &search, int t, F f)
{
  const auto [group, k_of_group, point] = search.candidates(t);
  const DeviceAtom atom = search.atoms[group][k_of_group];
  const int row = static_cast<int>(atom.id);
  const int4 center = search_point(atom, search.inverse_unit, point);
  const SortedAtoms &j = search.partners[group];
  const int4 *const __restrict__ points = search.partner_points[group];
  const BinGrid &grid = search.grid;
  const auto unit = static_cast<float>(search.unit);
  const int own_class = class_of(atom);
  const float reach_sq = search.reach.squared_of_any(own_class);
  if (reach_sq < 0.0f) return;
  // The atom's own cell, and its position relative to the lower corner of that cell. x is in cells,
  // from 0 to 1, also for a position that is not finite.
  const int nx = grid.n[0], ny = grid.n[1], nz = grid.n[2];
  const int cx = grid.coordinate(0, atom.x), cy = grid.coordinate(1, atom.y),
            cz = grid.coordinate(2, atom.z);
  const double y = atom.y - (grid.lo[1] + cy * grid.size[1]),
               z = atom.z - (grid.lo[2] + cz * grid.size[2]);
  const float x =
      __saturatef(static_cast<float>((atom.x - grid.lo[0]) * grid.inverse_size[0] - cx));
  const auto cells_per_length = static_cast<float>(grid.inverse_size[0]);
  const std::int64_t own_column = grid.column(cy, cz) * nx;
  for (int c = 0; c < search.neighborhood.n; ++c) {
    const int dy = search.neighborhood.dy[c], dz = search.neighborhood.dz[c];
    if (static_cast<unsigned>(cy + dy) >= ny || static_cast<unsigned>(cz + dz) >= nz) continue;
    const float out_y = outside(y, dy, grid.size[1]), out_z = outside(z, dz, grid.size[2]);
    const float left_sq = reach_sq - out_y * out_y - out_z * out_z;
    if (left_sq < 0.0f) continue;
    const float left = sqrtf(left_sq) * cells_per_length;
    const std::int64_t column = own_column + static_cast<std::int64_t>(dz * ny + dy) * nx;
    const int2 range =
        atoms_of_cells(j, column + max(0, cx + static_cast<int>(floorf(x - left))),
                       column + min(nx, cx + static_cast<int>(floorf(x + left)) + 1));
    for (int k = range.x; k < range.y; k += TESTED_AT_ONCE) {
      int4 other[TESTED_AT_ONCE];
#pragma unroll
      for (int u = 0; u < TESTED_AT_ONCE; ++u) other[u] = k + u < range.y ? points[k + u] : center;
#pragma unroll
      for (int u = 0; u < TESTED_AT_ONCE; ++u) {
        const float dx = unit * static_cast<float>(other[u].x - center.x);
        const float dy = unit * static_cast<float>(other[u].y - center.y);
        const float dz = unit * static_cast<float>(other[u].z - center.z);
        // center: the atom itself.
        if (!(dx * dx + dy * dy + dz * dz <= reach_sq) || other[u].w == point) continue;
        // The same atom in both groups.
        if (search.two && search.candidates.atom_of[other[u].w] == row) continue;
        if (search.reach.range &&
            !(dx * dx + dy * dy + dz * dz <=
              search.reach.squared(own_class, class_of(j.atom[k + u]))))
          continue;
        f(other[u].w);
      }
    }
  }
}

}    // namespace gpucoord

#endif
