// Part of GPUCOORD, GPL-2.0. Loops of the kernels of order parameters over rows.
//
// Launch: GATHER_THREADS threads per block unless the kernel says otherwise, and at most
// MAX_KERNEL_BLOCKS blocks. Warps take the tiles of rows in turn, as in sum_rows. Each thread
// takes one partner of its row at a time. Shared memory: only that of add_up().

#ifndef GPUCOORD_ROW_LOOPS_CUH
#define GPUCOORD_ROW_LOOPS_CUH

#include "partners_in_range.h"

#include "../pairs/row_kernels.cuh"

#include <algorithm>

namespace gpucoord {

constexpr int ORDER_WARPS = GATHER_THREADS / 32;    // warps per block

// The position of a thread in a row.
struct RowPosition {
  bool valid;    // the row exists
  int row, point, lane;
  std::int64_t element;    // first element of this thread's partners
  int tile_thread;         // index of this thread's count
};

// Returns the atom of a row.
__device__ inline int atom_of(const DeviceRows &rows, const RowPosition &position)
{
  return rows.atom ? rows.atom[position.row] : position.row;
}

// Calls work(position), then end(position, lanes), for each row of this thread; 'lanes' threads
// share a row. All threads of a warp make the same number of calls. WARPS: warps per block.
template <int WARPS = ORDER_WARPS, class Work, class End>
__device__ void for_each_row(const DeviceRows &rows, const Work &work, const End &end)
{
  const int lanes = rows.lanes, rows_per_tile = 32 / lanes;
  const int warp = threadIdx.x / 32, thread = threadIdx.x % 32;
  const int ntiles = (rows.n + rows_per_tile - 1) / rows_per_tile;
  for (int tile = blockIdx.x * WARPS + warp; tile < ntiles; tile += gridDim.x * WARPS) {
    RowPosition position;
    position.row = tile * rows_per_tile + thread / lanes;
    position.valid = position.row < rows.n;
    position.point = !position.valid ? 0 : rows.point ? rows.point[position.row] : position.row;
    position.lane = thread % lanes;
    position.element = (rows.tile ? rows.tile[tile] : tile * rows.stride) + thread;
    position.tile_thread = 32 * tile + thread;
    work(position);
    end(position, lanes);
  }
}

// Calls f(k), k < 4, for the partners of an element. left: number of partners that this thread has
// left
template <class F> __device__ void for_each_of_four(int left, const F &f)
{
#pragma unroll 1
  for (int k = 0; k < FOUR && k < left; ++k) f(k);
}

__device__ inline int part(const int4 &four, int k)
{
  return k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w;
}
template <class Real> __device__ Real part(const Four<Real> &four, int k)
{
  return k == 0 ? four.v[0] : k == 1 ? four.v[1] : k == 2 ? four.v[2] : four.v[3];
}

__device__ inline float inverse_sqrt(float x)
{
  return rsqrtf(x);
}
__device__ inline double inverse_sqrt(double x)
{
  return 1.0 / sqrt(x);
}

template <class Real> __device__ Real add_row_lanes(Real value, int lanes)
{
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(ALL_LANES, value, distance);
  return value;
}

// Sums of a row by column of the per-atom output, for store_row(). Column 0 is 0.
template <int N> struct RowSums {
  int columns;    // number of columns to store
  double v[N];
  __device__ double column(int k) const { return v[k]; }
  __device__ void store(const SumsOut &out, std::size_t row) const
  {
#pragma unroll
    for (int k = 0; k < N; ++k)
      if (k < columns) out.sums[columns * row + k] = out.weight * v[k];
  }
};

template <class Kernel, class Arguments>
void launch_over_rows(const char *what, Kernel *kernel, const Arguments &arg,
                      const DeviceRows &rows, cudaStream_t stream)
{
  const int rows_per_block = ORDER_WARPS * (32 / rows.lanes);
  const unsigned blocks =
      std::min((rows.n + rows_per_block - 1) / rows_per_block, tuning::MAX_KERNEL_BLOCKS);
  launch_kernel(what, kernel, true, {blocks, GATHER_THREADS}, stream, arg);
}

}    // namespace gpucoord

#endif
