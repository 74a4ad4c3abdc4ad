// Part of GPUCOORD, GPL-2.0. The kernel over rows in blocks (device_rows.h).
//
// Launch: BLOCK_ROWS threads per block and at most MAX_KERNEL_BLOCKS blocks, which take the blocks
// of rows in turn. Shared memory: the points of a block of rows, bytes_of_points(max_lines), and
// the sums of the block's warps.

#ifndef GPUCOORD_ROW_BLOCK_KERNELS_CUH
#define GPUCOORD_ROW_BLOCK_KERNELS_CUH

#include "row_kernels.cuh"

namespace gpucoord {

// Blocks per multiprocessor. For a typical liquid, the shared memory suffices for this number; with
// compute capability 7.5, for four.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int BLOCKS_IN_LIQUID = 4;
#else
constexpr int BLOCKS_IN_LIQUID = 5;
#endif
// Blocks per multiprocessor; 0: the compiler decides.
template <unsigned WANT>
constexpr int ROW_BLOCKS_AT_ONCE = WANT == DERIVATIVES ? BLOCKS_IN_LIQUID : 0;
constexpr int EIGHTS_BEFORE_FLUSH = 8;

// Function: OneFunction<float>, with or without weights.
template <class Formula, unsigned WANT, class Function>
__global__ void __launch_bounds__(BLOCK_ROWS, ROW_BLOCKS_AT_ONCE<WANT>)
    sum_row_blocks(const __grid_constant__ RowArguments arg, const Function function)
{
  extern __shared__ int4 points_of_block[];
  const int4 *const __restrict__ points = static_cast<const int4 *>(arg.points);
  const char *const bytes = reinterpret_cast<const char *>(points_of_block);
  const RowBlocks &blocks = arg.rows.blocks;
  const int nblocks = (arg.rows.n + BLOCK_ROWS - 1) / BLOCK_ROWS;
  const float unit = arg.unit, unit_sq = unit * unit;

  WarpSums mine = {};
  for (int block = blockIdx.x; block < nblocks; block += gridDim.x) {
    const int p = block * BLOCK_ROWS + threadIdx.x;
    const bool valid = p < arg.rows.n;
    const RowBlocks::Entry entry = valid ? blocks.entries[p] : RowBlocks::Entry();
    const uint4 *partner = blocks.partner + p / 32 * blocks.stride + threadIdx.x % 32;
    uint4 next = {};
    if (entry.count > 0) next = load_once(partner);
    const int npoints = LINE * blocks.nlines[block];
    const int *const line = blocks.line + static_cast<std::size_t>(block) * MAX_LINES;
    wait_for_previous_kernel();    // the preceding kernel may write the points
    __syncthreads();               // points of the preceding block may be overwritten
#pragma unroll 4
    for (int k = threadIdx.x; k < npoints; k += BLOCK_ROWS)
      points_of_block[k] = points[LINE * line[k / LINE] + k % LINE];
    __syncthreads();
    if (!valid) continue;

    const auto point_at = [&](unsigned byte) {
      return *reinterpret_cast<const int4 *>(bytes + byte);
    };
    const int4 atom = point_at(entry.self);
    float own_weight = 0;
    if constexpr (Function::IS_WEIGHTED) own_weight = function.weight_of(atom, 0);
    AtomSums<float, double, WANT> sums;
    int left = entry.count;
    while (left > 0) {
      const int stop = max(0, left - EIGHTS_BEFORE_FLUSH * EIGHT);
      for (; left > stop; left -= EIGHT) {
        const unsigned pair[EIGHT / 2] = {next.x, next.y, next.z, next.w};
        partner += 32;
        if (left > EIGHT) next = load_once(partner);
#pragma unroll
        for (int four = 0; four < EIGHT; four += FOUR) {
          int4 other[FOUR];
          float weight[FOUR] = {};
#pragma unroll
          for (int u = 0; u < FOUR; ++u) {
            const unsigned both = pair[(four + u) / 2];
            other[u] = point_at(u % 2 == 0 ? both & 0xffff : both >> 16);
            if constexpr (Function::IS_WEIGHTED)
              weight[u] = own_weight + function.weight_of(other[u], 0);
          }
          add_four<Formula>(sums, function, function.load(), atom, other, weight, {left - four, 1},
                            unit_sq);
        }
      }
      sums.flush();
    }
    sums.finish(Formula::scale(function.constants), unit);
    store_row<WANT>(arg, entry.row, sums, mine);
  }
  add_up<WANT, BLOCK_ROWS / 32>(arg, mine);
}

}    // namespace gpucoord

#endif
