// Part of GPUCOORD, GPL-2.0. The kernels of distances, angles, dihedrals and centers.
//
// Launches, all of them early:
//   sum_centers        256 threads per block, whose threads take the rows in turn. A block sums two
//                      groups, so that it reads atoms once if there are two. At most MAX_BLOCKS
//                      blocks for them. The last block to finish adds all blocks, always in the
//                      same order. Shared memory: the sums of the block's warps.
//   evaluate_items     four lanes per item, 64 threads per block
//   add_atom_forces    one warp per atom, if all points are atoms
//   sum_gradients      one warp per point, otherwise
//   add_member_forces  one thread per row. Groups are found by the mask: it takes less time to read
//                      than positions, and there are no lists to keep.

#ifndef GPUCOORD_GEOMETRY_KERNELS_CUH
#define GPUCOORD_GEOMETRY_KERNELS_CUH

#include "device_members.cuh"
#include "geometry_formulas.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"
#include "../gpu/positions.cuh"
#include "../gpu/sorted_atoms.cuh"
#include "../gpu/warp_reduction.cuh"

#include "gpucoord/variable.h"

#include <climits>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256, WARP = 32, WARPS = THREADS / WARP, ITEM_THREADS = 64;
  constexpr int LANES = 4;    // of an item: the largest number of its points
  // Results depend on the number of blocks, so it is the same for all GPUs.
  constexpr unsigned MAX_BLOCKS = 512;
  constexpr int GROUPS = 2, SUMS = 4 * GROUPS;    // of a block
  constexpr int FEW = WARP;                       // factors that a launch takes by value
  constexpr int NOT_HERE = PointSelection::NOT_HERE, GROUP = -2;
  static_assert(SUMS <= WARP && FEW <= WARP, "one lane each");

  struct Group {
    int bit, point, by_mass;
  };
  // A value as a function of a point, which is the point with this index of the item.
  struct Use {
    int value, item, index;
  };

  struct Report {
    unsigned long long nsingular;
    int first_singular, first_far;
    static constexpr int NONE = INT_MAX;
  };
  // Written by kernels to the memory of the host, which reads it without a wait.
  struct Seen {
    volatile int singular, far;
  };

  struct Points {
    DeviceMembers members;
    Unwrap unwrap;
    int n, ngroups, natoms;
    const int *row;                            // [n] of an atom, NOT_HERE or GROUP
    const double *reference;                   // [n][3]
    const Group *group;                        // [ngroups]
    const int *row_of_atom, *point_of_atom;    // [natoms] of the atoms here, by ascending rows
    double *sums;                              // [n][4]
  };

  // Sets the position of an atom relative to the reference of a point.
  template <class X>
  __device__ void find_member(const X *x, const GeometryBox &box, const Points &points, int row,
                              int point, double *d)
  {
    find_member(x, box, points.unwrap, points.members.image, row, points.reference + 3 * point, d);
  }

  // Adds the sums of all threads of the block. Returns sum c in thread c.
  __device__ double add_block(const double (&sums)[SUMS])
  {
    __shared__ double of_warp[WARPS][SUMS];
    __syncthreads();    // of_warp may be overwritten again
    for (int c = 0; c < SUMS; ++c) {
      const double sum = add_warp(sums[c]);
      if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP][c] = sum;
    }
    __syncthreads();
    double total = 0.0;
    if (threadIdx.x < SUMS)
      for (int w = 0; w < WARPS; ++w) total += of_warp[w][threadIdx.x];
    return total;
  }

  // first, step: of the points
  template <class X>
  __device__ void sum_atoms(const X *x, const GeometryBox &box, const Points &points, int first,
                            int step)
  {
    for (int p = first; p < points.n; p += step) {
      const int row = points.row[p];
      if (row == GROUP) continue;
      double *const sum = points.sums + 4 * p;
      double d[3] = {};
      if (row != NOT_HERE) find_member(x, box, points, row, p, d);
      for (int c = 0; c < 3; ++c) sum[c] = d[c];
      sum[3] = row == NOT_HERE ? 0.0 : 1.0;
    }
  }

  // Takes 'blocks' blocks for each pair of groups. If there are more, they sum atoms. partial:
  // [npairs][blocks][SUMS]; ended: [npairs] number of finished blocks, 0 before and after the
  // launch
  template <class X>
  __global__ void __launch_bounds__(THREADS)
      sum_centers(const X *x, const __grid_constant__ GeometryBox box,
                  const __grid_constant__ Points points, unsigned blocks, unsigned npairs,
                  double *partial, unsigned *ended)
  {
    __shared__ bool is_last;
    wait_for_previous_kernel();
    launch_dependents();
    const unsigned pair = blockIdx.x / blocks, block = blockIdx.x % blocks;
    const int first = block * THREADS + threadIdx.x, step = blocks * THREADS;
    if (pair >= npairs) {
      sum_atoms(x, box, points, first, step);
      return;
    }
    Group group[GROUPS];
    double sums[SUMS] = {};
    for (int g = 0; g < GROUPS; ++g) {
      const int k = GROUPS * pair + g;
      group[g] = k < points.ngroups ? points.group[k] : Group{0, 0, 0};
    }
    const int nlocal = points.members.atoms.nlocal;
    for (int row = first; row < nlocal; row += step) {
      const int mask = points.members.atoms.mask[row];
      if (!(mask & (group[0].bit | group[1].bit))) continue;
      for (int g = 0; g < GROUPS; ++g) {
        if (!(mask & group[g].bit)) continue;
        const double weight = weight_of(points.members, group[g].by_mass, row);
        double d[3];
        find_member(x, box, points, row, group[g].point, d);
        for (int c = 0; c < 3; ++c) sums[4 * g + c] += weight * d[c];
        sums[4 * g + 3] += weight;
      }
    }
    double total = add_block(sums);
    double *const of_pair = partial + static_cast<std::size_t>(SUMS) * blocks * pair;
    if (threadIdx.x < SUMS) {
      of_pair[SUMS * block + threadIdx.x] = total;
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(ended + pair, 1u) == blocks - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    for (int c = 0; c < SUMS; ++c) sums[c] = 0.0;
    for (unsigned b = threadIdx.x; b < blocks; b += THREADS)
      for (int c = 0; c < SUMS; ++c) sums[c] += __ldcg(of_pair + SUMS * b + c);
    total = add_block(sums);
    const int g = threadIdx.x / 4;
    if (g < GROUPS && static_cast<int>(GROUPS * pair) + g < points.ngroups)
      points.sums[4 * group[g].point + threadIdx.x % 4] = total;
    if (threadIdx.x == 0) ended[pair] = 0;    // for the next launch
  }

  struct Items {
    int n;
    bool nearest, sincos, has_sums;    // has_sums: of all points, and not of groups alone
    double scale;
    const GeometryItem *item;    // [n]
    const int *first_value;      // [n]
    double *values, *slopes;     // [nvalues] slope: derivative with respect to the term of the item
    double *gradients;           // [n][LANES][3] of the term
    Report *report;
    Seen *seen;
  };

  template <class X>
  __device__ void find_point(const X *x, const GeometryBox &box, const Points &points,
                             bool has_sums, int p, int row, double *to)
  {
    double d[3], weight = 1.0;
    if (has_sums || row == GROUP) {
      for (int c = 0; c < 3; ++c) d[c] = points.sums[4 * p + c];
      weight = points.sums[4 * p + 3];
    } else if (row == NOT_HERE)
      weight = 0.0;
    else
      find_member(x, box, points, row, p, d);
    for (int c = 0; c < 3; ++c)
      to[c] = weight > 0.0 ? d[c] / weight + points.reference[3 * p + c] : nan("");
  }

  // Sets values, slopes and gradients of item k, whose points are at 'at'. Each lane p of an item
  // stores the gradient of its point. The kind is known at compile time, so that no array is
  // indexed at run time.
  template <GeometryItem::Kind KIND>
  __device__ void evaluate_kind(const Items &arg, const GeometryBox &box, int k, int p, int axis,
                                const double (&at)[LANES][3])
  {
    GeometryItem item = {};
    item.kind = KIND;
    item.axis = axis;
    for (int q = 0; q < LANES; ++q) item.point[q] = q;
    const GeometryTerm t = evaluate_item(item, box, arg.nearest, at[0]);
    double value[2], slope[2];
    const int nvalues = values_of(KIND, arg.sincos, arg.scale, t.value, value, slope);
    bool is_finite = isfinite(t.value);
#pragma unroll
    for (int q = 0; q < points_of(KIND); ++q) {
      double g[3] = {};
      add_gradient(KIND, t, q, 1.0, g);
      for (int c = 0; c < 3; ++c) {
        is_finite = is_finite && isfinite(g[c]);
        if (q == p) arg.gradients[12 * static_cast<std::size_t>(k) + 3 * q + c] = g[c];
      }
    }
    if (p != 0) return;
    for (int v = 0; v < nvalues; ++v) {
      arg.values[arg.first_value[k] + v] = is_finite ? value[v] : nan("");
      arg.slopes[arg.first_value[k] + v] = slope[v];
    }
    if (!is_finite) return;
    if (t.flags & GeometryTerm::SINGULAR) {
      atomicAdd(&arg.report->nsingular, 1ull);
      atomicMin(&arg.report->first_singular, k);
      arg.seen->singular = 1;
    }
    if (t.flags & GeometryTerm::FAR) {
      atomicMin(&arg.report->first_far, k);
      arg.seen->far = 1;
    }
  }

  // Takes LANES lanes for each item, which read one point each.
  template <class X>
  __global__ void __launch_bounds__(ITEM_THREADS)
      evaluate_items(const X *x, const __grid_constant__ GeometryBox box,
                     const __grid_constant__ Points points, const __grid_constant__ Items arg)
  {
    using Kind = GeometryItem::Kind;
    const int thread = blockIdx.x * ITEM_THREADS + threadIdx.x;
    const int k = thread / LANES, p = thread % LANES;
    GeometryItem item = {};
    int npoints = 0, point = 0;
    if (k < arg.n) {
      item = arg.item[k];
      npoints = points_of(item.kind);
      if (p < npoints) point = arg.item[k].point[p];
    }
    const int row = p < npoints ? points.row[point] : NOT_HERE;
    wait_for_previous_kernel();
    launch_dependents();
    double own[3] = {}, at[LANES][3];
    if (p < npoints) find_point(x, box, points, arg.has_sums, point, row, own);
    for (int q = 0; q < LANES; ++q)
      for (int c = 0; c < 3; ++c) at[q][c] = __shfl_sync(ALL_LANES, own[c], q, LANES);
    if (k >= arg.n) return;
    switch (item.kind) {
      case Kind::DISTANCE:
        return evaluate_kind<Kind::DISTANCE>(arg, box, k, p, item.axis, at);
      case Kind::COMPONENT:
        return evaluate_kind<Kind::COMPONENT>(arg, box, k, p, item.axis, at);
      case Kind::POSITION:
        return evaluate_kind<Kind::POSITION>(arg, box, k, p, item.axis, at);
      case Kind::ANGLE:
        return evaluate_kind<Kind::ANGLE>(arg, box, k, p, item.axis, at);
      case Kind::DIHEDRAL:
        return evaluate_kind<Kind::DIHEDRAL>(arg, box, k, p, item.axis, at);
    }
  }

  struct Gradients {
    double host;
    const double *device, *on_device;    // on_device: [n]
    int n;
    bool is_few;       // there are 'value' and 'on_host'; otherwise value k has factor k
    int value[FEW];    // or NO_ITEM
    double on_host[FEW];
    const GeometryItem *item;
    const int *item_of;    // [nvalues]
    const double *slopes, *gradients;
    const int *begin;    // [points + 1] of the uses of a point
    const Use *use;
  };

  // Adds factor dS/dx of a value and a point, unless the factor is 0.
  __device__ void add_value(const Gradients &arg, int k, const Use &use, double *g)
  {
    double factor = arg.host;
    if (arg.is_few) factor *= arg.on_host[k];
    if (arg.device) factor *= *arg.device;
    if (arg.on_device) factor *= arg.on_device[k];
    if (factor == 0.0) return;
    factor *= arg.slopes[use.value];
    const double *const from =
        arg.gradients + 12 * static_cast<std::size_t>(use.item) + 3 * use.index;
    for (int c = 0; c < 3; ++c) g[c] += factor * from[c];
  }

  // What a lane adds for a point if there are few factors: the value of the lane.
  struct LaneUse {
    int value, item;
    int points;    // bit p: point p of the item is this point
  };
  // Reads tables only, so that it may be called before the preceding kernel ends.
  __device__ LaneUse use_of_lane(const Gradients &arg, int point)
  {
    const int lane = threadIdx.x % WARP;
    LaneUse found = {};
    if (!arg.is_few || lane >= arg.n || arg.value[lane] == ItemFactors::NO_ITEM) return found;
    found.value = arg.value[lane];
    found.item = arg.item_of[found.value];
    const GeometryItem item = arg.item[found.item];
    for (int p = 0; p < LANES; ++p)
      if (p < points_of(item.kind) && item.point[p] == point) found.points |= 1 << p;
    return found;
  }

  // Adds the sum of factor dS_k/dx for a point. All lanes of a warp must call this function, and
  // all get the sum, whose order is fixed.
  __device__ void add_gradients_of_point(const Gradients &arg, int point, const LaneUse &own,
                                         double *sum)
  {
    const int lane = threadIdx.x % WARP;
    double g[3] = {};
    if (arg.is_few) {
      for (int p = 0; p < LANES; ++p)
        if (own.points >> p & 1) add_value(arg, lane, {own.value, own.item, p}, g);
    } else
      for (int u = arg.begin[point] + lane; u < arg.begin[point + 1]; u += WARP) {
        const Use use = arg.use[u];
        if (use.value < arg.n) add_value(arg, use.value, use, g);
      }
    for (int c = 0; c < 3; ++c) sum[c] += add_warp(g[c]);
  }

  // The first entry of a row adds those of all points of this atom.
  __global__ void __launch_bounds__(THREADS)
      add_atom_forces(const __grid_constant__ DeviceForces forces,
                      const __grid_constant__ Points points, const __grid_constant__ Gradients arg)
  {
    const int k = (blockIdx.x * THREADS + threadIdx.x) / WARP;
    int row = NOT_HERE, end = k;    // of the points of this row
    LaneUse own = {};
    if (k < points.natoms) {
      row = points.row_of_atom[k];
      if (k == 0 || points.row_of_atom[k - 1] != row)
        while (end < points.natoms && points.row_of_atom[end] == row) ++end;
      own = use_of_lane(arg, points.point_of_atom[k]);
    }
    wait_for_previous_kernel();
    if (end == k) return;
    double f[3] = {};
    add_gradients_of_point(arg, points.point_of_atom[k], own, f);
    for (int same = k + 1; same < end; ++same) {
      const int point = points.point_of_atom[same];
      add_gradients_of_point(arg, point, use_of_lane(arg, point), f);
    }
    if (threadIdx.x % WARP == 0) subtract(forces, row, f[0], f[1], f[2]);
  }

  // of_points: [points][3] sums of factor dS_k/dx, of a group divided by its weight
  __global__ void __launch_bounds__(THREADS)
      sum_gradients(const __grid_constant__ Points points, const __grid_constant__ Gradients arg,
                    double *of_points)
  {
    const int p = (blockIdx.x * THREADS + threadIdx.x) / WARP;
    LaneUse own = {};
    if (p < points.n) own = use_of_lane(arg, p);
    wait_for_previous_kernel();
    launch_dependents();
    if (p >= points.n) return;
    double g[3] = {};
    add_gradients_of_point(arg, p, own, g);
    if (threadIdx.x % WARP != 0) return;
    const double weight = points.row[p] == GROUP ? points.sums[4 * p + 3] : 1.0;
    for (int c = 0; c < 3; ++c) of_points[3 * p + c] = g[c] / weight;
  }

  __global__ void __launch_bounds__(THREADS)
      add_member_forces(const __grid_constant__ DeviceForces forces,
                        const __grid_constant__ Points points, const double *of_points)
  {
    const int row = blockIdx.x * THREADS + threadIdx.x;
    wait_for_previous_kernel();
    if (row >= points.members.atoms.nlocal) return;
    const int mask = points.members.atoms.mask[row];
    double f[3] = {};
    bool is_member = false;
    for (int k = 0; k < points.ngroups; ++k) {
      if (!(mask & points.group[k].bit)) continue;
      const double weight = weight_of(points.members, points.group[k].by_mass, row);
      for (int c = 0; c < 3; ++c) f[c] += weight * of_points[3 * points.group[k].point + c];
      is_member = true;
    }
    int k = lower_bound(points.row_of_atom, points.natoms, row);
    for (; k < points.natoms && points.row_of_atom[k] == row; ++k) {
      for (int c = 0; c < 3; ++c) f[c] += of_points[3 * points.point_of_atom[k] + c];
      is_member = true;
    }
    if (is_member) subtract(forces, row, f[0], f[1], f[2]);
  }

}    // namespace

}    // namespace gpucoord

#endif
