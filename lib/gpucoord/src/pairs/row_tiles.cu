// Part of GPUCOORD, GPL-2.0. Packs rows of partners into tiles.
//
// Launch: one thread per row, 256 threads per block. make_tiles: one warp per tile, 128 threads per
// block. No shared memory.

#include "row_tiles.h"

#include "../gpu/tuning.h"
#include "../gpu/warp_reduction.cuh"
#include "found_rows.cuh"
#include "pair_rebuild.cuh"

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>

namespace gpucoord {

using namespace pair_rebuild;

namespace {

  struct HasPartners {
    const int *count;
    __device__ bool operator()(int t) const { return count[t] > 0; }
  };

  // Returns the number of threads per atom.
  int lanes_for(int rows, std::int64_t partners_per_row, int min_threads)
  {
    int lanes = 1;
    while (lanes < 32 && static_cast<std::int64_t>(rows) * lanes < min_threads &&
           partners_per_row >= 2 * lanes * tuning::MIN_PARTNERS)
      lanes *= 2;
    return lanes;
  }

  // The output of list_rows(), see DeviceRows.
  struct ListedRows {
    int *point, *atom, *count;
    std::int64_t *tile;    // [tiles] size of each tile; null: not requested
  };

  // Writes the rows. active: the candidates that are rows; null: all.
  __global__ void list_rows(const __grid_constant__ Candidates candidates, const int *active, int n,
                            int lanes, const int *candidate_count,
                            const __grid_constant__ ListedRows to)
  {
    const int r = thread_number(), rows_per_tile = 32 / lanes;
    int maximum = 0;
    if (r < n) {
      const int t = active ? active[r] : r;
      const int point = candidates(t).point;
      to.point[r] = point;
      to.atom[r] = candidates.atom_of[point];
      to.count[r] = maximum = candidate_count[t];
    }
    if (!to.tile) return;
    for (int distance = rows_per_tile / 2; distance > 0; distance /= 2)
      maximum = max(maximum, __shfl_xor_sync(ALL_LANES, maximum, distance));
    const int fours = (maximum + FOUR - 1) / FOUR;
    if (r < n && r % rows_per_tile == 0)
      to.tile[r / rows_per_tile] = 32 * static_cast<std::int64_t>((fours + lanes - 1) / lanes);
  }

  // Partner k of row r, as found by the search.
  struct FoundPartners {
    const int *active;
    Room room;
    __device__ int operator()(int r, int k) const { return room.partner_of(active[r], k); }
  };
  // Partner k of row r, from a neighbor list of the caller.
  struct NeighborsOfCaller {
    const int *neighbor;
    std::int64_t atom_stride, neighbor_stride;
    __device__ int operator()(int r, int k) const
    {
      return neighbor[r * atom_stride + k * neighbor_stride];
    }
  };

  // One warp per tile.
  constexpr int TILE_THREADS = 128;

  template <class Partners>
  __global__ void __launch_bounds__(TILE_THREADS)
      make_tiles(const __grid_constant__ DeviceRows rows, int ntiles,
                 const __grid_constant__ Partners partners, int4 *partner)
  {
    const int thread = threadIdx.x % 32, tile = blockIdx.x * (TILE_THREADS / 32) + threadIdx.x / 32;
    if (tile >= ntiles) return;
    const int lanes = rows.lanes, r = tile * (32 / lanes) + thread / lanes;
    if (r >= rows.n) return;
    const int count = rows.count[r], none = rows.point ? rows.point[r] : r;
    const auto point_of = [&](int k) {
      return k < count ? partners(r, k) : none;
    };
    int4 *to = partner + (rows.tile ? rows.tile[tile] : tile * rows.stride) + thread;
#pragma unroll 2    // loads in flight
    for (int k = thread % lanes; k < count; k += FOUR * lanes, to += 32)
      *to = make_int4(point_of(k), point_of(k + lanes), point_of(k + 2 * lanes),
                      point_of(k + 3 * lanes));
  }

  template <class Partners>
  void enqueue_tiles(const DeviceRows &rows, const Partners &partners, int4 *partner,
                     cudaStream_t stream)
  {
    const int rows_per_tile = 32 / rows.lanes,
              ntiles = (rows.n + rows_per_tile - 1) / rows_per_tile;
    make_tiles<<<(ntiles + TILE_THREADS / 32 - 1) / (TILE_THREADS / 32), TILE_THREADS, 0, stream>>>(
        rows, ntiles, partners, partner);
    check(cudaGetLastError(), "launching make_tiles");
  }

}    // namespace

// The tiles of rows from a search.
struct RowTiles::Shape {
  int n, na;    // number of rows, and of those of group a
  int lanes, ntiles;
  bool in_place;           // the search has written tiles, with one row per candidate
  std::int64_t longest;    // length of a tile with room for the longest row, in int4
  bool differ;             // tiles differ in size

  Shape(const FoundRows &rows, int min_threads) : n(rows.n), na(rows.na)
  {
    // A few rows may have most of the partners.
    lanes =
        lanes_for(n, std::max<std::int64_t>(rows.npairs / n, rows.max_partners / 2), min_threads);
    // The search has already written tiles. They are good if nearly all candidates have partners.
    in_place = lanes == 1 && !rows.room.offset && n >= tuning::ROWS_IN_PLACE * rows.candidates.n;
    if (in_place) {
      n = rows.candidates.n;
      na = rows.candidates.na;
    }
    const int rows_per_tile = 32 / lanes;
    ntiles = (n + rows_per_tile - 1) / rows_per_tile;
    // Tiles have room for the longest row, unless this wastes memory.
    longest =
        32 * static_cast<std::int64_t>(((rows.max_partners + FOUR - 1) / FOUR + lanes - 1) / lanes);
    differ = !in_place && is_wasteful(FOUR * longest * ntiles, rows.npairs);
  }
};

DeviceRows RowTiles::pack(const FoundRows &rows, DeviceBuffer<int4> &partners, int min_threads,
                          RowBuffers &buffers, cudaStream_t stream)
{
  const Shape shape(rows, min_threads);
  DeviceRows view = compact(rows, shape, buffers, stream);
  if (shape.in_place) {
    buffers.partner.swap(partners);
    view.stride = 32 * (rows.room.capacity / FOUR);
    view.partner = buffers.partner.data();
    buffers.nelements = static_cast<std::size_t>(view.stride) * shape.ntiles;
  } else
    fill(rows, shape, buffers, view, stream);
  return view;
}

// Removes candidates without partners, unless the rows are in place. The result has no tile, stride
// and partner yet.
DeviceRows RowTiles::compact(const FoundRows &rows, const Shape &shape, RowBuffers &buffers,
                             cudaStream_t stream)
{
  const int n = shape.n, ncandidates = rows.candidates.n;
  buffers.point.reserve(n);
  buffers.atom.reserve(n);
  buffers.count.reserve(n);
  if (!shape.in_place) {
    const thrust::counting_iterator<int> indices(0);
    const HasPartners has_partners = {rows.candidate_count};
    active.reserve(ncandidates);
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, indices, active.data(),
                                memory.counters.data() + ROWS, ncandidates, has_partners, stream),
          "planning a selection");
    memory.workspace.reserve(bytes);
    check(cub::DeviceSelect::If(memory.workspace.data(), bytes, indices, active.data(),
                                memory.counters.data() + ROWS, ncandidates, has_partners, stream),
          "selecting rows");
  }
  if (shape.differ) {
    buffers.tile.reserve(shape.ntiles + 1);
    check(cudaMemsetAsync(buffers.tile.data() + shape.ntiles, 0, sizeof(std::int64_t), stream),
          "clearing a number");
  }
  list_rows<<<blocks_of(n), THREADS, 0, stream>>>(
      rows.candidates, shape.in_place ? nullptr : active.data(), n, shape.lanes,
      rows.candidate_count,
      {buffers.point.data(), buffers.atom.data(), buffers.count.data(),
       shape.differ ? buffers.tile.data() : nullptr});
  check(cudaGetLastError(), "launching list_rows");
  DeviceRows view = {};
  view.n = n;
  view.nvalue = shape.na;
  view.lanes = shape.lanes;
  view.point = buffers.point.data();
  view.atom = buffers.atom.data();
  view.count = buffers.count.data();
  return view;
}

// Writes the partners of compact rows into tiles. Waits for the total size if tiles differ in size.
void RowTiles::fill(const FoundRows &rows, const Shape &shape, RowBuffers &buffers,
                    DeviceRows &view, cudaStream_t stream)
{
  const int ntiles = shape.ntiles;
  if (shape.differ) {
    std::size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, buffers.tile.data(), buffers.tile.data(),
                                        ntiles + 1, stream),
          "planning a scan");
    memory.workspace.reserve(bytes);
    check(cub::DeviceScan::ExclusiveSum(memory.workspace.data(), bytes, buffers.tile.data(),
                                        buffers.tile.data(), ntiles + 1, stream),
          "adding up tiles");
    check(cudaMemcpyAsync(memory.counters_host.data(), buffers.tile.data() + ntiles,
                          sizeof(std::int64_t), cudaMemcpyDeviceToHost, stream),
          "copying data to the host");
    check(cudaStreamSynchronize(stream), "finding pairs of atoms");
    memory.copied += sizeof(std::int64_t);
    view.tile = buffers.tile.data();
    buffers.nelements = memory.counters_host[0];
  } else {
    view.stride = shape.longest;
    buffers.nelements = shape.longest * ntiles;
  }
  buffers.partner.reserve(buffers.nelements);
  view.partner = buffers.partner.data();
  enqueue_tiles(view, FoundPartners{active.data(), rows.room}, buffers.partner.data(), stream);
}

DeviceRows RowTiles::copy(const DeviceNeighbors &neighbors, int n, int min_threads,
                          RowBuffers &buffers, cudaStream_t stream)
{
  DeviceRows view = {};    // point and atom stay null: equal to the row's index
  view.n = view.nvalue = n;
  buffers.count.reserve(n);
  check(cudaMemcpyAsync(buffers.count.data(), neighbors.count, n * sizeof(int),
                        cudaMemcpyDeviceToDevice, stream),
        "copying data on the GPU");
  // Half of the capacity is about the number of neighbors of an atom in a liquid.
  view.lanes = lanes_for(n, neighbors.capacity / 2, min_threads);
  view.count = buffers.count.data();
  const int rows_per_tile = 32 / view.lanes, ntiles = (n + rows_per_tile - 1) / rows_per_tile;
  view.stride = 32 * (((neighbors.capacity + FOUR - 1) / FOUR + view.lanes - 1) / view.lanes);
  buffers.partner.reserve(static_cast<std::size_t>(ntiles) * view.stride);
  view.partner = buffers.partner.data();
  enqueue_tiles(
      view, NeighborsOfCaller{neighbors.neighbor, neighbors.atom_stride, neighbors.neighbor_stride},
      buffers.partner.data(), stream);
  return view;
}

}    // namespace gpucoord
