// Part of GPUCOORD, GPL-2.0. Blocks of rows of nearby atoms: their order and their lists.
//
// Launch: find_keys: one thread per atom, 256 threads per block. make_row_blocks: PARTS threads per
// row, one thread block per block of rows. Shared memory: the lists of all rows of a block, and the
// set of lines that they need.

#include "row_blocks.h"

#include "../gpu/positions.cuh"
#include "../gpu/tuning.h"
#include "../gpu/warp_reduction.cuh"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include <climits>

namespace gpucoord {

namespace {

  // Bits of a cell coordinate per axis. Distant cells that agree in these bits share a key.
  constexpr int KEY_BITS = 8;
  // Number of threads that share the partners of a row.
  constexpr int PARTS = 2, BUILD_THREADS = PARTS * BLOCK_ROWS;
  constexpr int LOADS = 8;    // partners of a thread whose loads are in flight at the same time
  // PAGE: lines per page; PAGE_WORDS: 32-bit words with a bit per line.
  constexpr int PAGE = 256, PAGE_WORDS = PAGE / 32;
  constexpr int MAX_PAGES = 128;    // pages per block
  constexpr int WORDS_PER_THREAD = MAX_PAGES * PAGE_WORDS / BUILD_THREADS;
  constexpr int EMPTY = -1, TAKING = -2;
  static_assert(MAX_LINES * LINE * sizeof(int4) == 1 << 16,
                "16 bits hold the offset of a point in bytes");
  static_assert(WORDS_PER_THREAD * BUILD_THREADS == MAX_PAGES * PAGE_WORDS,
                "each thread counts the same number of words");

  // Returns the index of a cell along a Hilbert curve. Cells with similar indices are near each
  // other in space. J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  __device__ unsigned along_curve(unsigned x, unsigned y, unsigned z)
  {
    unsigned c[3] = {x, y, z};
    for (unsigned q = 1u << (KEY_BITS - 1); q > 1; q >>= 1) {
      const unsigned p = q - 1;
      for (int i = 0; i < 3; ++i) {
        const unsigned t = (c[0] ^ c[i]) & p;
        if (c[i] & q)
          c[0] ^= p;
        else {
          c[0] ^= t;
          c[i] ^= t;
        }
      }
    }
    c[1] ^= c[0];
    c[2] ^= c[1];
    unsigned t = 0;
    for (unsigned q = 1u << (KEY_BITS - 1); q > 1; q >>= 1)
      if (c[2] & q) t ^= q - 1;
    unsigned key = 0;
    for (int bit = KEY_BITS - 1; bit >= 0; --bit)
      for (int i = 0; i < 3; ++i) key = key << 1 | (((c[i] ^ t) >> bit) & 1);
    return key;
  }

  template <class X>
  __global__ void find_keys(const X *x, int n, double inverse_size, unsigned *key, int *index)
  {
    const int k = blockIdx.x * BLOCK_ROWS + threadIdx.x;
    if (k >= n) return;
    const double3 p = position_of(x, k);
    const auto cell = [&](double c) {
      return static_cast<unsigned>(static_cast<long long>(floor(c * inverse_size))) &
          ((1u << KEY_BITS) - 1);
    };
    key[k] = along_curve(cell(p.x), cell(p.y), cell(p.z));
    index[k] = k;
  }

  // The set of lines of one block. First, lines are inserted; then each line gets its index in the
  // set. Pages of contiguous lines get slots in the order of their first use. A slot has one bit
  // for each line of its page.
  struct LineSet {
    unsigned bits[MAX_PAGES * PAGE_WORDS];
    unsigned short before[MAX_PAGES * PAGE_WORDS];    // number of lines before those of the word
    // page: page of each slot. in_order: slots, sorted by page.
    int page[MAX_PAGES], in_order[MAX_PAGES];
    int npages;

    // Inserts the lines whose 'wanted' is true. slot: [pages of all points] slot of each page,
    // EMPTY or TAKING. All lanes of a warp must call this function: a converged warp takes half the
    // time. The loads of slots and those of words are independent, so that N are in flight.
    template <int N>
    __device__ void insert(volatile int *slot, const unsigned (&line)[N], const bool (&wanted)[N])
    {
      int there[N], all = 0;
#pragma unroll
      for (int u = 0; u < N; ++u) {
        there[u] = wanted[u] ? slot[line[u] / PAGE] : 0;
        all |= there[u];
      }
      if (__any_sync(ALL_LANES, all < 0))    // rarely true within a block
        for (int u = 0; u < N; ++u) there[u] = slot_of(slot, line[u] / PAGE, wanted[u]);
      unsigned word[N];
#pragma unroll
      for (int u = 0; u < N; ++u) word[u] = *word_of(there[u], line[u]);
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const unsigned bit = 1u << (line[u] % 32);
        if (wanted[u] && !(word[u] & bit))
          atomicOr(const_cast<unsigned *>(word_of(there[u], line[u])), bit);
      }
    }

    __device__ volatile unsigned *word_of(int slot_of_page, unsigned line)
    {
      return bits + slot_of_page * PAGE_WORDS + line % PAGE / 32;
    }

    // Returns the slot of a page, or 0 if wanted is false. Takes a slot if the page has none. All
    // lanes of a warp must call this function.
    __device__ int slot_of(volatile int *slot, unsigned page_of_line, bool wanted)
    {
      int there = wanted ? slot[page_of_line] : 0;
      while (__any_sync(ALL_LANES, there < 0)) {
        if (there == EMPTY &&
            atomicCAS(const_cast<int *>(slot) + page_of_line, EMPTY, TAKING) == EMPTY) {
          const int k = atomicAdd(&npages, 1);
          if (k < MAX_PAGES) page[k] = page_of_line;
          // Publish the slot before waiting for other threads. Threads that read TAKING then wait
          // only briefly.
          atomicExch(const_cast<int *>(slot) + page_of_line, min(k, MAX_PAGES - 1));
        }
        __syncwarp();
        if (there < 0) there = slot[page_of_line];
      }
      return there;
    }

    // Call after the last insert. Calls f(index, line) for all lines and returns their number. All
    // threads must call this function.
    template <class F> __device__ int assign_indices(F f)
    {
      for (int k = threadIdx.x; k < npages; k += BUILD_THREADS) {
        int smaller = 0;
        for (int m = 0; m < npages; ++m) smaller += page[m] < page[k];
        in_order[smaller] = k;
      }
      __syncthreads();
      const auto place_of = [&](int k) {
        return in_order[k / PAGE_WORDS] * PAGE_WORDS + k % PAGE_WORDS;
      };
      int mine[WORDS_PER_THREAD] = {}, total;
      for (int w = 0; w < WORDS_PER_THREAD; ++w)
        if (const int k = threadIdx.x * WORDS_PER_THREAD + w; k < npages * PAGE_WORDS)
          mine[w] = __popc(bits[place_of(k)]);
      using Scan = cub::BlockScan<int, BUILD_THREADS>;
      __shared__ typename Scan::TempStorage scan_storage;
      Scan(scan_storage).ExclusiveSum(mine, mine, total);
      for (int w = 0; w < WORDS_PER_THREAD; ++w)
        if (const int k = threadIdx.x * WORDS_PER_THREAD + w; k < npages * PAGE_WORDS) {
          const int at = place_of(k);
          before[at] = mine[w];
          const int first = page[in_order[k / PAGE_WORDS]] * PAGE + k % PAGE_WORDS * 32;
          for (unsigned left = bits[at]; left; left &= left - 1)
            f(mine[w]++, first + __ffs(left) - 1);
        }
      __syncthreads();
      return total;
    }

    __device__ unsigned number_of(const int *slot, unsigned line) const
    {
      const unsigned word = slot[line / PAGE] * PAGE_WORDS + line % PAGE / 32;
      return before[word] + __popc(bits[word] & ((1u << (line % 32)) - 1));
    }
  };

  // Chooses positions in a row without bank conflicts. A 16-byte load by a warp is served for eight
  // threads at a time. Where possible, partner k of thread t is in 16-byte unit (t + k) mod 8 of a
  // 128-byte segment of shared memory. Eight threads then do not conflict.
  class Arrangement {
   public:
    __device__ explicit Arrangement(int n) : n(n), full(0xff00u | (0xffu << min(n, EIGHT) & 0xffu))
    {
    }

    __device__ int next(unsigned point, int thread)
    {
      const unsigned residue = (point - thread) % EIGHT;
      const unsigned first = residue + __ffs(~((full & 0xff) * 0x101u) >> residue) - 1;
      const unsigned r = first % EIGHT, shift = 8 * (r % 4);
      std::uint32_t &counts_of_four = r < 4 ? low : high;
      const int k = r + EIGHT * (counts_of_four >> shift & 0xff);
      counts_of_four += 1u << shift;
      if (k + EIGHT >= n) full |= 1u << r;
      return k;
    }

   private:
    const int n;
    unsigned full;                      // bit mask of residues without free positions
    std::uint32_t low = 0, high = 0;    // number of used positions, one byte per residue
  };

  struct BlocksOut {
    RowBlocks::Entry *entries;
    int *nlines, *line;
    uint4 *partner;
    std::int64_t stride;
    // Largest number of lines of a block; must be 0 at launch. Above MAX_LINES: a block has too
    // many lines.
    int *max_lines;
  };

  // Calls f(points, left) for n partners of a row, LOADS points at a time, starting at partner k.
  // left: number of partners that remain. Points whose index is at least 'left' are the row itself.
  // Each lane makes as many calls as the lane with the most partners. All lanes of a warp must call
  // this function.
  template <class F>
  __device__ void for_each_batch(const DeviceNeighbors &list, int row, int k, int n, F f)
  {
    const int *p = list.neighbor + row * list.atom_stride + k * list.neighbor_stride;
    const int maximum = max_warp(n);
    for (int done = 0; done < maximum; done += LOADS) {
      unsigned point[LOADS];
#pragma unroll
      for (int u = 0; u < LOADS; ++u, p += list.neighbor_stride) point[u] = done + u < n ? *p : row;
      f(point, n - done);
    }
  }

  __global__ void __launch_bounds__(BUILD_THREADS)
      make_row_blocks(const __grid_constant__ DeviceNeighbors list, const int *order, int n,
                      int npages, const __grid_constant__ BlocksOut out)
  {
    extern __shared__ uint4 lists[];    // [warps of rows][stride], then the slots of pages
    __shared__ LineSet lines;
    int *const slot = reinterpret_cast<int *>(lists + BLOCK_ROWS / 32 * out.stride);
    const int t = threadIdx.x % BLOCK_ROWS, part = threadIdx.x / BLOCK_ROWS,
              p = blockIdx.x * BLOCK_ROWS + t;
    const bool valid = p < n;

    // Sort the rows of the block in ascending order, so that adjacent threads read adjacent data.
    __shared__ alignas(16) int found[BLOCK_ROWS], rising[BLOCK_ROWS];
    if (part == 0) found[t] = valid ? order[p] : INT_MAX;
    __syncthreads();
    if (part == 0) {
      int rank = valid ? 0 : t;
      for (int k = 0; valid && k < BLOCK_ROWS; k += 4) {
        const int4 other = *reinterpret_cast<const int4 *>(found + k);
        rank += (other.x < found[t]) + (other.y < found[t]) + (other.z < found[t]) +
            (other.w < found[t]);
      }
      rising[rank] = found[t];
    }
    __syncthreads();
    const unsigned row = valid ? rising[t] : 0;
    const int count = valid ? list.count[row] : 0,
              part_size = (count + EIGHT * PARTS - 1) / (EIGHT * PARTS) * EIGHT;
    const int begin = min(count, part * part_size), mine = min(count - begin, part_size);

    if (threadIdx.x == 0) lines.npages = 0;
    for (int k = threadIdx.x; k < npages; k += BUILD_THREADS) slot[k] = EMPTY;
    for (int k = threadIdx.x; k < MAX_PAGES * PAGE_WORDS; k += BUILD_THREADS) lines.bits[k] = 0;
    __syncthreads();
    unsigned last = row / LINE;
    lines.insert<1>(slot, {last}, {valid});
    for_each_batch(list, row, begin, mine, [&](const unsigned(&point)[LOADS], int) {
      unsigned line[LOADS];
      bool wanted[LOADS];
#pragma unroll
      for (int u = 0; u < LOADS; ++u) {
        line[u] = point[u] / LINE;
        wanted[u] = valid && line[u] != last;    // points of the same line are mostly adjacent
        last = line[u];
      }
      lines.insert(slot, line, wanted);
    });
    __syncthreads();
    int nlines = MAX_LINES + 1;
    if (lines.npages <= MAX_PAGES)
      nlines = lines.assign_indices([&](int index, int line) {
        if (index < MAX_LINES)
          out.line[static_cast<std::size_t>(blockIdx.x) * MAX_LINES + index] = line;
      });
    if (threadIdx.x == 0) {
      atomicMax(out.max_lines, nlines);
      out.nlines[blockIdx.x] = nlines;
    }
    if (nlines > MAX_LINES) return;

    const auto index_of = [&](unsigned point) {
      return lines.number_of(slot, point / LINE) * LINE + point % LINE;
    };
    uint4 *const row_list = lists + t / 32 * out.stride + t % 32;
    const auto put = [&](unsigned k, unsigned index) {
      reinterpret_cast<unsigned short *>(row_list + 32 * (k / EIGHT))[k % EIGHT] =
          index * sizeof(int4);
    };
    Arrangement arrangement(mine);
    for_each_batch(list, row, begin, mine, [&](const unsigned(&point)[LOADS], int left) {
      if (!valid) return;
      unsigned index[LOADS];
#pragma unroll
      for (int u = 0; u < LOADS; ++u) index[u] = index_of(point[u]);
#pragma unroll
      for (int u = 0; u < LOADS; ++u)
        if (u < left) put(begin + arrangement.next(index[u], t), index[u]);
    });
    if (!valid) return;
    const unsigned self = index_of(row);
    if (part == 0)
      out.entries[p] = {static_cast<int>(row), static_cast<unsigned short>(count),
                        static_cast<unsigned short>(self * sizeof(int4))};
    if (mine == 0) return;    // each group of eight belongs to one thread
    for (int k = begin + mine; k % EIGHT != 0; ++k) put(k, self);
    uint4 *const to = out.partner + static_cast<std::int64_t>(p / 32) * out.stride + t % 32;
    // This thread itself has written these elements of row_list.
    for (int m = begin / EIGHT; m * EIGHT < begin + mine; ++m) to[32 * m] = row_list[32 * m];
  }

  // Returns the bytes of shared memory available to a block, without static shared memory.
  std::size_t room()
  {
    return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2 * sizeof(LineSet);
  }

  int eights(int partners)
  {
    return (partners + EIGHT - 1) / EIGHT;
  }
  int pages(int points)
  {
    return (points - 1) / (LINE * PAGE) + 1;
  }

  std::size_t bytes_to_build(int max_partners, int npoints)
  {
    return sizeof(uint4) * BLOCK_ROWS * eights(max_partners) + sizeof(int) * pages(npoints);
  }

}    // namespace

bool RowBlockBuilder::are_for(int nrows, int npoints, int max_partners, double mean_partners)
{
  // Largest number of groups of eight: Arrangement counts them in bytes.
  constexpr int MAX_BYTE = 255;
  return nrows >= tuning::MIN_ROWS_IN_BLOCKS && mean_partners >= tuning::MIN_PARTNERS_IN_BLOCKS &&
      eights(max_partners) <= MAX_BYTE && bytes_to_build(max_partners, npoints) <= room();
}

void RowBlockBuilder::sort(const DeviceAtoms &atoms, double reach, cudaStream_t stream)
{
  const int n = atoms.nlocal;
  keys.reserve(n);
  keys_sorted.reserve(n);
  indices.reserve(n);
  order.reserve(n);
  with_positions(atoms, [&](const auto *x) {
    find_keys<<<(n + BLOCK_ROWS - 1u) / BLOCK_ROWS, BLOCK_ROWS, 0, stream>>>(
        x, n, 1.0 / reach, keys.data(), indices.data());
  });
  check(cudaGetLastError(), "launching find_keys");
  std::size_t bytes = 0;
  const auto sort = [&](void *memory) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.data(), keys_sorted.data(),
                                           indices.data(), order.data(), n, 0, 3 * KEY_BITS,
                                           stream);
  };
  check(sort(nullptr), "planning a sort");
  workspace.reserve(bytes);
  check(sort(workspace.data()), "sorting rows");
}

RowBlocks RowBlockBuilder::build(const DeviceAtoms &atoms, const DeviceNeighbors &neighbors,
                                 double reach, cudaStream_t stream)
{
  RowBlocks blocks = {};
  const int n = atoms.nlocal, nblocks = (n + BLOCK_ROWS - 1) / BLOCK_ROWS,
            nwarps = nblocks * (BLOCK_ROWS / 32);
  sort(atoms, reach, stream);
  blocks.stride = 32 * static_cast<std::int64_t>(eights(neighbors.capacity));
  entries.reserve(n);
  nlines.reserve(nblocks);
  line.reserve(static_cast<std::size_t>(nblocks) * MAX_LINES);
  partner.reserve(static_cast<std::size_t>(nwarps) * blocks.stride);
  max_lines.reserve(1);
  max_lines_host.reserve(1);
  check(cudaMemsetAsync(max_lines.data(), 0, sizeof(int), stream), "clearing a number");
  const auto bytes = static_cast<int>(bytes_to_build(neighbors.capacity, atoms.nall));
  check(cudaFuncSetAttribute(make_row_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "requesting shared memory");
  make_row_blocks<<<nblocks, BUILD_THREADS, bytes, stream>>>(
      neighbors, order.data(), n, pages(atoms.nall),
      {entries.data(), nlines.data(), line.data(), partner.data(), blocks.stride,
       max_lines.data()});
  check(cudaGetLastError(), "launching make_row_blocks");
  check(cudaMemcpyAsync(max_lines_host.data(), max_lines.data(), sizeof(int),
                        cudaMemcpyDeviceToHost, stream),
        "copying data to the host");
  check(cudaStreamSynchronize(stream), "sorting atoms into blocks");
  const int max_lines = max_lines_host[0];
  if (max_lines > MAX_LINES || bytes_of_points(max_lines) > room()) return {};
  blocks.max_lines = max_lines;
  blocks.entries = entries.data();
  blocks.nlines = nlines.data();
  blocks.line = line.data();
  blocks.partner = partner.data();
  return blocks;
}

std::size_t RowBlockBuilder::bytes() const
{
  return keys.bytes() + keys_sorted.bytes() + indices.bytes() + order.bytes() + workspace.bytes() +
      entries.bytes() + nlines.bytes() + line.bytes() + max_lines.bytes() + partner.bytes();
}

}    // namespace gpucoord
