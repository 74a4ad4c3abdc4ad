// Part of GPUCOORD, GPL-2.0. The search in cutoff bins shared by the cell processor for atom pairs
// (cell_processor.cuh) and for rigid molecules (molecule_processor.cuh).
//
// Launch: any number of warps per block. Each warp takes blocks of 32 i-atoms, one i-atom per
// thread, from a queue until it is empty. The queue is one atomic counter. It balances the load, so
// that dense regions do not delay the others.
//
// Partners near the bounding box of the i-atoms are collected in shared memory and then read by all
// threads. No thread tests atoms that are out of reach of all i-atoms. Shared memory: one
// PartnerMemory per warp.
//
// Small systems have too few i-atoms to fill a GPU. The partners of each i-atom are then split over
// several warps.

#ifndef GPUCOORD_CELL_SEARCH_CUH
#define GPUCOORD_CELL_SEARCH_CUH

#include "../gpu/sorted_atoms.cuh"
#include "../gpu/warp_reduction.cuh"
#include "launch_cuda.h"
#include "pair_arguments_cuda.h"

#include <cmath>
#include <cstdint>

namespace gpucoord {

template <class Real> struct alignas(16) Partner {
  Real x, y, z;    // relative to the origin of the i-atoms
  // Low half of the id, which is unique within one array of atoms. Equal to the id of a Center: the
  // partner is the atom itself.
  int id;
};

// Number of partners that a warp collects at once.
template <bool SELECT, class Real, bool WEIGHTED> constexpr int partner_capacity()
{
  return !SELECT                      ? tuning::PARTNERS_CHEAP
      : sizeof(Real) != sizeof(float) ? tuning::PARTNERS_SELECT_DOUBLE
      : WEIGHTED                      ? tuning::PARTNERS_SELECT_FLOAT_WEIGHTED
                                      : tuning::PARTNERS_SELECT_FLOAT;
}

// Weights of the partners: N of them, or no memory.
template <class Real, int N> struct WeightMemory {
  Real weight[N];
};
template <class Real> struct WeightMemory<Real, 0> {
};

// WEIGHTED: includes the weights of the partners, CellsSearch::weight_j.
template <bool SELECT, class Real, bool WEIGHTED = false>
struct PartnerMemory :
    WeightMemory<Real, WEIGHTED ? partner_capacity<SELECT, Real, WEIGHTED>() : 0> {
  static constexpr bool IS_WEIGHTED = WEIGHTED;
  static constexpr int CAPACITY = partner_capacity<SELECT, Real, WEIGHTED>();
  Partner<Real> partner[CAPACITY];
  // [word][lane] one bit per partner.
  unsigned in_range[SELECT ? CAPACITY / 32 : 1][32];
  int2 range[32];         // [column of the neighborhood] sorted j-atoms
  double leader[3];       // position of the first atom, distance
  std::int64_t column;    // column of its cell
  int item;
};

// Computes the position of each lane's flagged elements when the elements of all lanes are
// concatenated: first the elements with flag[0]. total: number of flagged elements
template <int N> __device__ void find_offsets(const bool (&flag)[N], int (&offset)[N], int &total)
{
  total = 0;
  for (int k = 0; k < N; ++k) {
    const unsigned votes = __ballot_sync(ALL_LANES, flag[k]);
    offset[k] = total + __popc(votes & ((1u << (threadIdx.x % 32)) - 1));
    total += __popc(votes);
  }
}

// Returns whether this lane is the first one with the flag set.
__device__ inline bool is_first(bool flag)
{
  const unsigned votes = __ballot_sync(ALL_LANES, flag);
  return flag && (votes & ((1u << (threadIdx.x % 32)) - 1)) == 0;
}

// Returns the smallest value of all lanes.
__device__ inline float lowest(float value)
{
  return reduce_warp(value, [](float a, float b) {
    return fminf(a, b);
  });
}

template <class Memory> __device__ int next_item(int *queue, Memory &m)
{
  if (threadIdx.x % 32 == 0) m.item = atomicAdd(queue, 1);
  __syncwarp();
  const int item = m.item;
  __syncwarp();
  return item;
}

// Returns the distance between the intervals [lo, hi] and [a, b].
__device__ inline double gap(double lo, double hi, double a, double b)
{
  return fmax(0.0, fmax(a - hi, lo - b));
}

// Returns the distance along an axis between [lo, hi] and a column. The outermost columns also
// contain all atoms beyond the grid.
__device__ inline double gap_to_column(const BinGrid &grid, int axis, std::int64_t c, double lo,
                                       double hi)
{
  const double begin = grid.lo[axis] + c * grid.size[axis];
  return gap(lo, hi, c > 0 ? begin : -HUGE_VAL,
             c < grid.n[axis] - 1 ? begin + grid.size[axis] : HUGE_VAL);
}

// Returns the sorted j-atoms in column t of the neighborhood of (cy, cz) that can be in range of
// the box [lo, hi] around the i-atoms. Exact up to the margin of search_sq.
__device__ inline int2 find_partners(const CellsSearch &arg, int t, std::int64_t cy,
                                     std::int64_t cz, const double lo[3], const double hi[3])
{
  const BinGrid &grid = arg.grid;
  if (t >= arg.neighborhood.n) return make_int2(0, 0);
  cy += arg.neighborhood.dy[t];
  cz += arg.neighborhood.dz[t];
  if (cy < 0 || cy >= grid.n[1] || cz < 0 || cz >= grid.n[2]) return make_int2(0, 0);
  const double gap_y = gap_to_column(grid, 1, cy, lo[1], hi[1]),
               gap_z = gap_to_column(grid, 2, cz, lo[2], hi[2]);
  const double reach_sq = arg.search_sq - gap_y * gap_y - gap_z * gap_z;
  if (reach_sq < 0.0) return make_int2(0, 0);
  const double reach = sqrt(reach_sq);
  const auto first = static_cast<std::uint64_t>(grid.column(cy, cz) * grid.n[0]);
  const std::uint64_t first_cell = first + grid.coordinate(0, lo[0] - reach);
  const std::uint64_t end_cell = first + grid.coordinate(0, hi[0] + reach) + 1;
  return atoms_of_cells(arg.j, first_cell, end_cell);
}

// One i-atom.
template <class Real> struct Center {
  Real x, y, z;    // relative to the origin
  Real limit;      // range^2; negative: inactive
  int id;

  __device__ Real distance_sq(const Partner<Real> &p, Real &dx, Real &dy, Real &dz) const
  {
    dx = p.x - x;
    dy = p.y - y;
    dz = p.z - z;
    return dx * dx + dy * dy + dz * dz;
  }

  __device__ Center from_lane(int lane) const
  {
    return {__shfl_sync(ALL_LANES, x, lane), __shfl_sync(ALL_LANES, y, lane),
            __shfl_sync(ALL_LANES, z, lane), __shfl_sync(ALL_LANES, limit, lane),
            __shfl_sync(ALL_LANES, id, lane)};
  }
};

// The work of a warp: 32 i-atoms, with all or a part of their partners.
struct WarpItem {
  int split;                      // index of the part of partners
  int t;                          // index of this thread's atom among the owned i-atoms
  bool valid;                     // this thread has an atom
  int index;                      // index of this thread's atom among the sorted atoms
  int first_index, last_index;    // sorted indices of the first and last atom of the warp
  DeviceAtom atom;
  std::int64_t column;    // column of the cell of this thread's atom
};

// item: index of the part times the number of atom blocks, plus the index of the atom block
__device__ inline WarpItem item_of(const CellsSearch &arg, int item, int nblocks, int lane)
{
  WarpItem warp_item = {};
  warp_item.split = item / nblocks;
  const int first_t = (item % nblocks) * 32;
  warp_item.t = first_t + lane;
  warp_item.valid = warp_item.t < arg.i.nowned;
  const auto index_of = [&](int t) {
    return arg.i.owned ? arg.i.owned[t] : t;
  };
  warp_item.index = warp_item.valid ? index_of(warp_item.t) : 0;
  warp_item.first_index = index_of(first_t);
  warp_item.last_index = index_of(min(first_t + 32, arg.i.nowned) - 1);
  warp_item.atom = arg.i.atom[warp_item.index];
  warp_item.column = static_cast<std::int64_t>(arg.i.cell(warp_item.index)) / arg.grid.n[0];
  return warp_item;
}

template <class Real> struct NearSearch {
  int splits;           // number of warps that share the partners of the i-atoms
  int passes;           // number of passes in which a warp processes its share
  Real inverse_unit;    // lengths are multiplied by it
  Real limit;           // value of Center::limit
  int own_id;           // value of Center::id
};

// Collects the partners near the i-atoms of an item in m.partner. Calls add(center, may_be_same, n)
// for each batch of n partners. may_be_same: one of the partners may be the atom itself. PADDED:
// the partners from n to the next multiple of 32 are far away. id_of(atom, index) returns the id
// that is stored with a partner.
//
// A part has every nparts-th chunk of the atoms that a warp loads at once. INTERLEAVED: a part has
// every nparts-th partner instead, in several passes. A batch then covers the whole
// neighborhood evenly, and all threads have similar numbers of partners in range.
template <bool PADDED, bool INTERLEAVED, class Real, class Memory, class IdOf, class Add>
__device__ void for_near_partners(const CellsSearch &arg, const WarpItem &warp_item,
                                  const NearSearch<Real> &search, Memory &m, IdOf id_of, Add add)
{
  const int splits = search.splits, passes = search.passes, own_id = search.own_id;
  const Real inverse_unit = search.inverse_unit, limit = search.limit;
  constexpr int AT_ONCE = tuning::LOADS_AT_ONCE;
  const int lane = threadIdx.x % 32;
  const DeviceAtom &atom = warp_item.atom;
  const Real range_sq = static_cast<Real>(arg.range_sq) * inverse_unit * inverse_unit;
  const bool one_group = arg.i.atom == arg.j.atom;
  const int nparts = splits * passes, stride = INTERLEAVED ? nparts : 1;

  // Atoms of one column that are not too far apart share an origin and a search for partners.
  bool waits = warp_item.valid && isfinite(atom.x) && isfinite(atom.y) && isfinite(atom.z);
  while (__any_sync(ALL_LANES, waits)) {
    if (is_first(waits)) {
      m.leader[0] = atom.x;
      m.leader[1] = atom.y;
      m.leader[2] = atom.z;
      m.column = warp_item.column;
    }
    __syncwarp();
    const double leader[3] = {m.leader[0], m.leader[1], m.leader[2]};
    const std::int64_t column_here = m.column, cy = column_here % arg.grid.n[1],
                       cz = column_here / arg.grid.n[1];
    const bool here = waits && fabs(atom.x - leader[0]) <= arg.max_extent &&
        fabs(atom.y - leader[1]) <= arg.max_extent && fabs(atom.z - leader[2]) <= arg.max_extent &&
        warp_item.column == column_here;
    waits = waits && !here;

    // Bounding box of these atoms, relative to the first of them. Rounding errors are far below the
    // margin of range_sq.
    double lo[3], hi[3], origin[3];
    Real half[3];
    const double position[3] = {atom.x, atom.y, atom.z};
    for (int k = 0; k < 3; ++k) {
      const auto relative = static_cast<float>(position[k] - leader[k]);
      const float low = lowest(here ? relative : INFINITY),
                  high = -lowest(here ? -relative : INFINITY);
      lo[k] = leader[k] + low;
      hi[k] = leader[k] + high;
      origin[k] = leader[k] + 0.5f * (low + high);
      half[k] = 0.5f * (high - low) * inverse_unit;
    }
    const auto relative = [&](double x, int axis) {
      return static_cast<Real>((x - origin[axis]) * inverse_unit);
    };
    const Center<Real> center = {relative(atom.x, 0), relative(atom.y, 1), relative(atom.z, 2),
                                 here ? limit : Real(-1), own_id};

    const int ncolumns = arg.neighborhood.n;
    for (int part = warp_item.split; part < nparts; part += splits) {
      // begin, end: sorted j-atoms left in this column.
      int chunk = 0, column = 0, begin = 0, end = 0;
      for (bool more = true; more;) {
        int queued = 0;
        // With two arrays of atoms, indices cannot tell whether a partner is one of the i-atoms.
        bool may_be_same = !one_group;
        while (queued + AT_ONCE * 32 <= Memory::CAPACITY) {
          if (begin >= end) {
            more = column < ncolumns;
            if (!more) break;
            if (column % 32 == 0) {
              __syncwarp();
              m.range[lane] = find_partners(arg, column + lane, cy, cz, lo, hi);
              __syncwarp();
            }
            begin = m.range[column % 32].x + (INTERLEAVED ? part : 0);
            end = m.range[column % 32].y;
            ++column;
            continue;
          }
          const int chunk_begin = begin, k = begin + lane * stride;
          begin += AT_ONCE * 32 * stride;
          if (!INTERLEAVED && nparts > 1 && chunk++ % nparts != part) continue;
          may_be_same = may_be_same || INTERLEAVED ||
              (chunk_begin <= warp_item.last_index && warp_item.first_index < begin);
          DeviceAtom a[AT_ONCE];
          for (int u = 0; u < AT_ONCE; ++u)
            if (k + u * 32 * stride < end) a[u] = arg.j.atom[k + u * 32 * stride];
          Partner<Real> p[AT_ONCE];
          bool is_near[AT_ONCE];
          for (int u = 0; u < AT_ONCE; ++u) {
            p[u] = {relative(a[u].x, 0), relative(a[u].y, 1), relative(a[u].z, 2),
                    id_of(a[u], k + u * 32 * stride)};
            const Real out_x = fmax(fabs(p[u].x) - half[0], Real(0)),
                       out_y = fmax(fabs(p[u].y) - half[1], Real(0)),
                       out_z = fmax(fabs(p[u].z) - half[2], Real(0));
            is_near[u] = k + u * 32 * stride < end &&
                out_x * out_x + out_y * out_y + out_z * out_z <= range_sq;
          }
          int offset[AT_ONCE], total;
          find_offsets(is_near, offset, total);
          for (int u = 0; u < AT_ONCE; ++u)
            if (is_near[u]) {
              m.partner[queued + offset[u]] = p[u];
              if constexpr (Memory::IS_WEIGHTED)
                m.weight[queued + offset[u]] =
                    static_cast<const Real *>(arg.weight_j)[k + u * 32 * stride];
            }
          queued += total;
        }
        // Pad to a multiple of 32.
        if (PADDED && lane < (32 - queued % 32) % 32)
          m.partner[queued + lane] = {INFINITY, INFINITY, INFINITY, -1};
        __syncwarp();
        add(center, may_be_same, queued);
        __syncwarp();
      }
    }
  }
}

// Calls add(partner, k) for each partner k of the first n within the center's limit. The partners
// must be padded as in for_near_partners(). Each thread first notes its partners in range in
// m.in_range. The threads of a warp then run as long as the thread with the most partners.
template <class Real, class Memory, class F>
__device__ void for_partners_in_range(const Center<Real> &i, int n, int lane, Memory &m, F add)
{
  Real dx, dy, dz;
  const int nwords = (n + 31) / 32;
  for (int word = 0; word < nwords; ++word) {
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < 32; ++k)
      if (i.distance_sq(m.partner[32 * word + k], dx, dy, dz) <= i.limit) bits |= 1u << k;
    m.in_range[word][lane] = bits;
  }
  // One loop over all words, so that a thread with an empty word continues with its next word at
  // once.
  unsigned bits = 0;
  for (int word = -1;;) {
    while (bits == 0 && ++word < nwords) bits = m.in_range[word][lane];
    if (bits == 0) break;
    const int k = 32 * word + __ffs(bits) - 1;
    const Partner<Real> p = m.partner[k];
    bits &= bits - 1;
    add(p, k);
  }
}

}    // namespace gpucoord

#endif
