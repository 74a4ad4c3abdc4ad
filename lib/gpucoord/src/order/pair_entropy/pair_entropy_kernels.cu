// Part of GPUCOORD, GPL-2.0. The kernels of the pair entropy.
//
// sum_distances and sum_distance_forces go over rows (row_loops.cuh) in blocks of SUM_THREADS and
// THREADS threads. A block has its own copy of a table in shared memory: the sums of cells, or the
// coefficients of dS/dr. Tables that do not fit are in global memory. Blocks of the other
// kernels have NODE_THREADS or THREADS threads, and the sums of their warps in shared memory.

#include "../row_loops.cuh"
#include "pair_entropy_arguments_cuda.h"

#include "../../gpu/buffers.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <type_traits>

namespace gpucoord {

namespace {

  constexpr int SUM_THREADS = 512, NODE_THREADS = 1024, THREADS = 256;
  // Blocks of sum_distance_forces per multiprocessor. In float, the sums in double and loads under
  // way need 64 registers, or 80 with the virial.
  template <class Real, unsigned WANT>
  constexpr int FORCE_BLOCKS = std::is_same<Real, double>::value ? 2
      : WANT &VIRIAL                                             ? 3
                                                                 : 4;
  // Largest table of coefficients in shared memory: no GPU has less, with the sums of add_up().
  constexpr std::size_t MAX_DERIVATIVE_BYTES = 44 << 10;

  // ---- cells of distances

  __device__ inline void add_nonzero(SumOfCells *to, SumOfCells sum)
  {
    if (sum != 0) atomicAdd(to, sum);
  }

  // Calls f(k) for k < n. The blocks start at different k, so that their atomic additions do not
  // wait for each other.
  template <class F> __device__ void for_each_sum(int n, const F &f)
  {
    const int first =
        static_cast<int>(static_cast<std::int64_t>(n / 32) * blockIdx.x / gridDim.x) * 32;
    for (int k = threadIdx.x; k < n; k += SUM_THREADS) f(first + k < n ? first + k : first + k - n);
  }

  // Adds distances in units of cells, each of them 'times' times, 1 or 2. IN_SHARED: to words in
  // shared memory, then by flush() to the sums.
  template <class Real, bool IN_SHARED> class CellAdder;

  // A word has the number of distances in its upper bits, and the sum of their positions in the
  // cell, in units of 1/FRACTIONS of its size, in the lower ones. Threads that find FULL distances
  // in a word move it to the sums before they add to it again, so a word never holds more than
  // MAX_COUNT distances.
  template <bool IN_SHARED> class CellAdder<float, IN_SHARED> {
    static constexpr int FRACTION_BITS = 10, COUNT_BITS = 11, LOW_BITS = 32 - COUNT_BITS;
    static constexpr unsigned FRACTIONS = 1u << FRACTION_BITS, FULL = 512,
                              MAX_COUNT = FULL + 1 + 2 * SUM_THREADS, LOW = (1u << LOW_BITS) - 1;
    static_assert(MAX_COUNT < 1u << COUNT_BITS);
    static_assert(MAX_COUNT * (FRACTIONS - 1) <= LOW);
    static_assert((MAX_DISTANCE_BINS + GAUSSIAN_REACH + 1) * FINE_CELLS_PER_SIGMA * FRACTIONS <
                  0x1p32);

   public:
    __device__ CellAdder(unsigned *words_in, const DistanceArguments<float> &arg) :
        words(words_in), sums(arg.sums), ncells(arg.cells.ncells),
        fractions_per_distance(static_cast<float>(FRACTIONS / arg.cells.size))
    {
    }
    __device__ void add(float r, unsigned times) const
    {
      // No overflow: there are at most MAX_DISTANCE_BINS + GAUSSIAN_REACH sigma.
      const auto position = static_cast<unsigned>(r * fractions_per_distance);
      const unsigned cell = position / FRACTIONS,
                     one = times << LOW_BITS | times * (position % FRACTIONS);
      if constexpr (IN_SHARED) {
        const unsigned before = atomicAdd(words + cell, one);
        if (before >> LOW_BITS >= FULL) move(cell, atomicExch(words + cell, 0u));
      } else
        move(cell, one);
    }
    // Adjacent threads add to adjacent sums.
    __device__ void flush() const
    {
      for_each_sum(2 * ncells, [&](int k) {
        const unsigned word = words[k < ncells ? k : k - ncells];
        add_nonzero(sums + k, k < ncells ? word >> LOW_BITS : word & LOW);
      });
    }
    // Moments of a cell. A truncated position counts as the middle of its interval.
    static __device__ void get(const DistanceArguments<float> &arg, int cell, double *moments)
    {
      const auto n = static_cast<double>(arg.sums[cell]),
                 fractions = static_cast<double>(arg.sums[arg.cells.ncells + cell]);
      moments[0] = n;
      moments[1] = (fractions + 0.5 * n) / FRACTIONS - 0.5 * n;
      moments[2] = n / 12.0;
    }

   private:
    __device__ void move(unsigned cell, unsigned word) const
    {
      add_nonzero(sums + cell, word >> LOW_BITS);
      add_nonzero(sums + ncells + cell, word & LOW);
    }

    unsigned *const words;
    SumOfCells *const sums;
    const int ncells;
    const float fractions_per_distance;
  };

  // Shared memory has no fast atomics of 64 bits: a sum is two words. A thread whose addition
  // wraps the lower one carries 1 to the upper one. [2][NMOMENTS][ncells] words.
  template <bool IN_SHARED> class CellAdder<double, IN_SHARED> {
   public:
    __device__ CellAdder(unsigned *words_in, const DistanceArguments<double> &arg) :
        words(words_in), sums(arg.sums), ncells(arg.cells.ncells), scale(arg.scale),
        cells_per_distance_unit(1.0 / arg.cells.size)
    {
    }
    __device__ void add(double r, unsigned times) const
    {
      const double u = r * cells_per_distance_unit;
      const int cell = static_cast<int>(u);
      const double twice_t = 2.0 * (u - cell) - 1.0;
      double power = scale;
#pragma unroll
      for (int n = 0; n < NMOMENTS; ++n, power *= twice_t)
        add_term(n * ncells + cell, times * static_cast<SumOfCells>(__double2ll_rn(power)));
    }
    __device__ void flush() const
    {
      for_each_sum(NMOMENTS * ncells, [&](int k) {
        add_nonzero(sums + k,
                    static_cast<SumOfCells>(words[NMOMENTS * ncells + k]) << 32 | words[k]);
      });
    }
    static __device__ void get(const DistanceArguments<double> &arg, int cell, double *moments)
    {
      double unit = 1.0 / arg.scale;
      for (int n = 0; n < NMOMENTS; ++n, unit *= 0.5)
        moments[n] = unit * static_cast<long long>(arg.sums[n * arg.cells.ncells + cell]);
    }

   private:
    __device__ void add_term(int k, SumOfCells term) const
    {
      if constexpr (IN_SHARED) {
        const auto low = static_cast<unsigned>(term);
        const unsigned before = atomicAdd(words + k, low);
        const unsigned high = static_cast<unsigned>(term >> 32) + (before + low < before ? 1 : 0);
        if (high != 0) atomicAdd(words + NMOMENTS * ncells + k, high);
      } else
        add_nonzero(sums + k, term);
    }

    unsigned *const words;
    SumOfCells *const sums;
    const int ncells;
    const double scale, cells_per_distance_unit;
  };

  // ---- passes over rows

  // Calls f(atom, four partners, their numbers, left) for the partners of a thread; left: as in
  // add_four(). Partners with needs(number) false are not loaded: the atom replaces them. Calls
  // flush() at least once every FOURS_BEFORE_FLUSH calls of f.
  template <class Real, class Needs, class F, class Flush>
  __device__ void for_each_four(const PointRows &arg, const RowPosition &at, const Needs &needs,
                                const F &f, const Flush &flush)
  {
    using Point = typename PointOf<Real>::Type;
    const Point *const __restrict__ points = static_cast<const Point *>(arg.points);
    const int step = FOUR * arg.rows.lanes;
    int left = (at.valid ? arg.rows.count[at.row] : 0) - at.lane;
    if (left <= 0) return;
    const Point atom = points[at.point];
    const int4 *partner = arg.rows.partner + at.element;
    int4 next = load_once(partner);
    while (left > 0) {
      const int stop = max(0, left - FOURS_BEFORE_FLUSH * step);
      for (; left > stop; left -= step) {
        const int index[FOUR] = {next.x, next.y, next.z, next.w};
        Point other[FOUR];
#pragma unroll
        for (int u = 0; u < FOUR; ++u) other[u] = needs(index[u]) ? points[index[u]] : atom;
        partner += 32;
        if (left > step) next = load_once(partner);
        f(atom, other, index, left);
      }
      flush();
    }
  }

  // Length of a unit of points.
  template <class Real> __device__ Real unit_of(const PointRows &arg)
  {
    return std::is_same<Real, float>::value ? static_cast<Real>(arg.unit) : Real(1);
  }

  // COUNTS: writes the numbers of partners, which takes all pairs from both sides. Otherwise a pair
  // of owned atoms is added twice from one side.
  template <class Real, bool IN_SHARED, bool COUNTS>
  __global__ void __launch_bounds__(SUM_THREADS)
      sum_distances(const __grid_constant__ DistanceArguments<Real> arg)
  {
    using Point = typename PointOf<Real>::Type;
    extern __shared__ unsigned words[];
    const CellAdder<Real, IN_SHARED> cells(words, arg);
    if constexpr (IN_SHARED) {
      for (int k = threadIdx.x; k < DistanceCells<Real>::WORDS * arg.cells.ncells; k += SUM_THREADS)
        words[k] = 0;
      __syncthreads();
    }
    const Real unit = unit_of<Real>(arg), unit_sq = unit * unit;
    const int lanes = arg.rows.lanes;
    int npartners;
    wait_for_previous_kernel();
    launch_dependents();
    for_each_row<SUM_THREADS / 32>(
        arg.rows,
        [&](const RowPosition &at) {
          npartners = 0;
          const auto is_added = [&](int index) {
            return COUNTS || index >= arg.nowned || index > at.point;
          };
          for_each_four<Real>(
              arg, at, is_added,
              [&](const Point &atom, const Point(&other)[FOUR], const int(&index)[FOUR], int left) {
#pragma unroll
                for (int u = 0; u < FOUR; ++u) {
                  Real dx, dy, dz;
                  difference(atom, other[u], dx, dy, dz);
                  const Real r_sq = length_sq(dx * dx + dy * dy + dz * dz, unit_sq);
                  if (!(u * lanes < left && r_sq <= arg.reach_sq && is_added(index[u]))) continue;
                  npartners += r_sq <= arg.cutoff_sq ? 1 : 0;
                  cells.add(sqrt(r_sq), !COUNTS && index[u] < arg.nowned ? 2 : 1);
                }
              },
              [] {
              });
        },
        [&](const RowPosition &at, int) {
          npartners = add_row_lanes(npartners, lanes);
          if (!at.valid || at.lane != 0) return;
          if constexpr (COUNTS) arg.value[atom_of(arg.rows, at)] = npartners;
          if (npartners > 0) *arg.any_partners = 1;
        });
    if constexpr (IN_SHARED) {
      __syncthreads();
      cells.flush();
    }
  }

  template <class Real, unsigned WANT, bool IN_SHARED>
  __global__ void __launch_bounds__(THREADS, FORCE_BLOCKS<Real, WANT>)
      sum_distance_forces(const __grid_constant__ DistanceForceArguments<Real> arg)
  {
    using Point = typename PointOf<Real>::Type;
    using Row = DerivativeRow<Real>;
    extern __shared__ int4 table[];
    constexpr int LOADS = sizeof(Row) / sizeof(int4), N = DistanceCells<Real>::COEFFICIENTS;
    const Row *derivatives = arg.derivatives;
    wait_for_previous_kernel();
    if constexpr (IN_SHARED) {
      for (int k = threadIdx.x; k < LOADS * arg.cells.ncells; k += THREADS)
        table[k] = reinterpret_cast<const int4 *>(arg.derivatives)[k];
      derivatives = reinterpret_cast<const Row *>(table);
      __syncthreads();
    }
    const Real unit = unit_of<Real>(arg), unit_sq = unit * unit,
               cells_per_unit = static_cast<Real>(unit / arg.cells.size),
               scale = static_cast<Real>(arg.factor) / unit;
    const int lanes = arg.rows.lanes;
    WarpSums mine = {};
    AtomSums<Real, double, WANT> sums;
    for_each_row<THREADS / 32>(
        arg.rows,
        [&](const RowPosition &at) {
          sums = {};
          const auto all = [](int) {
            return true;
          };
          for_each_four<Real>(
              arg, at, all,
              [&](const Point &atom, const Point(&other)[FOUR], const int(&)[FOUR], int left) {
#pragma unroll
                for (int u = 0; u < FOUR; ++u) {
                  Real dx, dy, dz;
                  difference(atom, other[u], dx, dy, dz);
                  const Real r_sq = dx * dx + dy * dy + dz * dz;    // in units of points
                  if (!(u * lanes < left && length_sq(r_sq, unit_sq) <= arg.reach_sq)) continue;
                  const Real per_r = r_sq > 0 ? inverse_sqrt(r_sq) : Real(0);
                  const Real position = r_sq * per_r * cells_per_unit;
                  const int cell = static_cast<int>(position);
                  const Real t = position - static_cast<Real>(cell) - Real(0.5);
                  const Row row = derivatives[cell];
                  Real derivative = row.v[N - 1];
#pragma unroll
                  for (int n = N - 2; n >= 0; --n) derivative = derivative * t + row.v[n];
                  sums.add_gradient(derivative * per_r, dx, dy, dz);
                }
              },
              [&] {
                sums.flush();
              });
        },
        [&](const RowPosition &at, int) {
          sums.finish(scale, unit);
          sums.add_lanes(lanes);
          if (at.valid && at.lane == 0) store_row<WANT>(arg.out, at.row, sums, mine);
        });
    add_up<WANT, THREADS / 32>(arg.out, mine);
  }

  // ---- between the passes

  // Returns the sum over the block in its first thread. warp_sums: [warps] in shared memory.
  __device__ double add_block(double value, double *warp_sums)
  {
    value = add_warp(value);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.0;
    if (threadIdx.x == 0)
      for (int w = 0; w < blockDim.x / 32; ++w) sum += warp_sums[w];
    return sum;
  }

  // One block for each node.
  template <class Real>
  __global__ void __launch_bounds__(NODE_THREADS)
      sum_gaussians(const __grid_constant__ DistanceArguments<Real> arg, double natoms_a,
                    double natoms_b, double *gaussians)
  {
    constexpr int N = DistanceCells<Real>::MOMENTS;
    __shared__ double warp_sums[NODE_THREADS / 32];
    const DistanceGrid &grid = arg.cells;
    const int k = blockIdx.x, last = grid.last_cell(k);
    wait_for_previous_kernel();
    launch_dependents();
    double sum = 0.0;
    for (int c = grid.first_cell(k) + threadIdx.x; c <= last; c += NODE_THREADS) {
      double moments[N];
      CellAdder<Real, false>::get(arg, c, moments);
      if (moments[0] == 0.0) continue;
      const double u = grid.offset(k, c);
      sum += grid.gaussian(u) * gaussian_series<N>(u, grid.ratio, moments);
    }
    sum = add_block(sum, warp_sums);
    if (threadIdx.x != 0) return;
    gaussians[k] = sum;
    if (k > 0) return;
    gaussians[grid.bins] = natoms_a;
    gaussians[grid.bins + 1] = natoms_b;
  }

  // One block.
  __global__ void evaluate_nodes(const __grid_constant__ DistanceGrid grid, const double *gaussians,
                                 double volume, double *value, EntropySums *entropy_sums, double *g,
                                 double *dSdsum)
  {
    __shared__ double warp_sums[2][THREADS / 32];
    wait_for_previous_kernel();
    launch_dependents();
    const Density density = {gaussians[grid.bins], gaussians[grid.bins + 1], volume};
    double s = 0.0, by_log_volume = 0.0;
    for (int k = threadIdx.x; k < grid.bins; k += THREADS) {
      const NodeTerm term = node_term(grid, k, gaussians[k], density);
      s += term.value;
      by_log_volume += term.by_log_volume;
      g[k] = term.g;
      dSdsum[k] = term.dSdsum;
    }
    s = add_block(s, warp_sums[0]);
    by_log_volume = add_block(by_log_volume, warp_sums[1]);
    if (threadIdx.x != 0) return;
    *value = s;
    *entropy_sums = {by_log_volume, density};
  }

  // One warp for each cell.
  template <class Real>
  __global__ void set_derivatives(const __grid_constant__ DistanceGrid grid, const double *dSdsum,
                                  const EntropySums *entropy_sums, double natoms_a,
                                  DerivativeRow<Real> *derivatives, WarpSums *total)
  {
    constexpr int N = DistanceCells<Real>::COEFFICIENTS;
    const int c = (blockIdx.x * THREADS + threadIdx.x) / 32, thread = threadIdx.x % 32;
    wait_for_previous_kernel();
    launch_dependents();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      WarpSums density_sums = {};
      const double all = entropy_sums->density.natoms_a;
      for (int k = 0; k < 3 && all > 0.0; ++k)
        density_sums.virial[k] = -entropy_sums->by_log_volume * natoms_a / all;
      *total = density_sums;
    }
    if (c >= grid.ncells) return;
    double sums[N] = {};
    for (int k = grid.first_node(c) + thread; k <= grid.last_node(c); k += 32) {
      if (c < grid.first_cell(k) || c > grid.last_cell(k)) continue;
      const double u = grid.offset(k, c);
      add_derivative<N + 1>(u, grid.ratio, dSdsum[k] * grid.gaussian(u) / grid.size, sums);
    }
    DerivativeRow<Real> row = {};
#pragma unroll
    for (int n = 0; n < N; ++n) row.v[n] = static_cast<Real>(add_warp(sums[n]));
    if (thread == 0) derivatives[c] = row;
  }

  // ---- launches

  unsigned blocks_of_rows(const DeviceRows &rows, int threads)
  {
    const int rows_per_block = threads / rows.lanes;
    return (rows.n + rows_per_block - 1) / rows_per_block;
  }

  // Calls f(std::bool_constant<COUNTS>) for the kernel that an evaluation needs.
  template <class F> void with_counts(bool counts, const F &f)
  {
    if (counts)
      f(std::true_type());
    else
      f(std::false_type());
  }

  // Allows launches with this much dynamic shared memory. The limit belongs to the kernel, which
  // all pair entropies of a process share, so it must not become smaller.
  template <class Kernel> void allow_shared_memory(Kernel *kernel, std::size_t bytes)
  {
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    cudaFuncAttributes present;
    check(cudaFuncGetAttributes(&present, kernel), "querying the shared memory of sum_distances");
    if (static_cast<std::size_t>(present.maxDynamicSharedSizeBytes) >= bytes) return;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "reserving shared memory for sum_distances");
  }

  template <class Real> DistanceLaunch prepare(const DistanceGrid &cells)
  {
    const std::size_t bytes = sizeof(unsigned) * DistanceCells<Real>::WORDS * cells.ncells,
                      room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    DistanceLaunch launch = {bytes <= room ? bytes : 0, 0};
    int maximum = 0;
    const auto count = [&](auto *kernel) {
      int blocks = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, SUM_THREADS,
                                                          launch.shared_bytes),
            "querying the occupancy of sum_distances");
      maximum = std::max(maximum, blocks);
    };
    for (const bool counts : {false, true})
      with_counts(counts, [&](auto is_counting) {
        if (launch.shared_bytes == 0) return count(sum_distances<Real, false, is_counting()>);
        allow_shared_memory(sum_distances<Real, true, is_counting()>, bytes);
        count(sum_distances<Real, true, is_counting()>);
      });
    launch.max_blocks = std::max(1, maximum) * device_attribute(cudaDevAttrMultiProcessorCount);
    return launch;
  }

  template <class Real>
  void launch_distances(const DistanceArguments<Real> &arg, const DistanceLaunch &launch,
                        cudaStream_t stream)
  {
    const LaunchShape shape = {std::min(blocks_of_rows(arg.rows, SUM_THREADS), launch.max_blocks),
                               SUM_THREADS, launch.shared_bytes};
    const char *const what = "launching sum_distances";
    with_counts(arg.value, [&](auto counts) {
      if (launch.shared_bytes > 0)
        launch_kernel(what, sum_distances<Real, true, counts()>, true, shape, stream, arg);
      else
        launch_kernel(what, sum_distances<Real, false, counts()>, true, shape, stream, arg);
    });
  }

  template <class Real>
  void launch_gaussians(const DistanceArguments<Real> &arg, double natoms_a, double natoms_b,
                        double *gaussians, cudaStream_t stream)
  {
    const auto bins = static_cast<unsigned>(arg.cells.bins);
    launch_kernel("launching sum_gaussians", sum_gaussians<Real>, true, {bins, NODE_THREADS},
                  stream, arg, natoms_a, natoms_b, gaussians);
  }

  template <class Real>
  void launch_derivatives(const DistanceGrid &grid, const double *dSdsum,
                          const EntropySums *entropy_sums, double natoms_a,
                          DerivativeRow<Real> *derivatives, WarpSums *total, cudaStream_t stream)
  {
    const auto blocks = static_cast<unsigned>((grid.ncells + THREADS / 32 - 1) / (THREADS / 32));
    launch_kernel("launching set_derivatives", set_derivatives<Real>, true, {blocks, THREADS},
                  stream, grid, dSdsum, entropy_sums, natoms_a, derivatives, total);
  }

  template <class Real>
  void launch_forces(const DistanceForceArguments<Real> &arg, unsigned want, cudaStream_t stream)
  {
    const std::size_t bytes = sizeof(DerivativeRow<Real>) * arg.cells.ncells;
    const auto blocks =
        std::min(blocks_of_rows(arg.rows, THREADS), unsigned(tuning::MAX_KERNEL_BLOCKS));
    const auto launch = [&](auto wanted) {
      const char *const what = "launching sum_distance_forces";
      if (bytes <= MAX_DERIVATIVE_BYTES)
        launch_kernel(what, sum_distance_forces<Real, wanted(), true>, true,
                      {blocks, THREADS, bytes}, stream, arg);
      else
        launch_kernel(what, sum_distance_forces<Real, wanted(), false>, true, {blocks, THREADS},
                      stream, arg);
    };
    if (want & ATOM_VIRIAL)
      launch(std::integral_constant<unsigned, DERIVATIVES | VIRIAL | ATOM_VIRIAL>());
    else if (want & VIRIAL)
      launch(std::integral_constant<unsigned, DERIVATIVES | VIRIAL>());
    else
      launch(std::integral_constant<unsigned, DERIVATIVES>());
  }

}    // namespace

template <class Real> PairEntropyLaunchers<Real> pair_entropy_launchers()
{
  return {prepare<Real>, launch_distances<Real>, launch_gaussians<Real>, launch_derivatives<Real>,
          launch_forces<Real>};
}
template PairEntropyLaunchers<float> pair_entropy_launchers();
template PairEntropyLaunchers<double> pair_entropy_launchers();

void evaluate_entropy(const DistanceGrid &grid, const double *gaussians, double volume,
                      double *value, EntropySums *entropy_sums, double *g, double *dSdsum,
                      cudaStream_t stream)
{
  launch_kernel("launching evaluate_nodes", evaluate_nodes, true, {1, THREADS}, stream, grid,
                gaussians, volume, value, entropy_sums, g, dSdsum);
}

}    // namespace gpucoord
