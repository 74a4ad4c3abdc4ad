// Part of GPUCOORD, GPL-2.0. Outputs of kernels over rows: forces on atoms, and column 0 of sums.
//
// Launch: 256 threads per block, no shared memory. One thread per row, or one per four components
// if forces and derivatives are packed.

#ifndef GPUCOORD_ROW_OUTPUTS_CUH
#define GPUCOORD_ROW_OUTPUTS_CUH

#include "pair_arguments_cuda.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/forces.cuh"

#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpucoord {

namespace row_outputs {

  constexpr int THREADS = 256;
  constexpr int COMPONENTS = 4;    // number of components per thread of subtract_packed()

  inline unsigned blocks_of(int n)
  {
    return (n + THREADS - 1) / THREADS;
  }

  __device__ inline double product(const Factor &factor)
  {
    double result = factor.host;
    if (factor.device) result *= *factor.device;
    if (factor.second) result *= *factor.second;
    return result;
  }

  // dS/dx of the rows, with the strides of the arrays that kernels write.
  template <class T> struct Gradients {
    const T *x;
    std::int64_t row_stride, axis_stride;
  };

  // atom: [n] row of the forces; null: the index of the row
  template <class T>
  __global__ void subtract_gradient(const __grid_constant__ Gradients<T> gradients, const int *atom,
                                    int n, const __grid_constant__ DeviceForces forces,
                                    const __grid_constant__ Factor factor)
  {
    const int r = blockIdx.x * THREADS + threadIdx.x;
    if (r >= n) return;
    const T *const derivative = gradients.x + gradients.row_stride * r;
    const double x = derivative[0], y = derivative[gradients.axis_stride],
                 z = derivative[2 * gradients.axis_stride];
    const int row = atom ? atom[r] : r;
    wait_for_previous_kernel();
    const double strength = product(factor);
    subtract(forces, row, strength * x, strength * y, strength * z);
  }

  // Like subtract_gradient(), for packed forces and derivatives whose rows are atoms. Each thread
  // takes several components, one block width apart. Adjacent threads then access adjacent memory,
  // and several loads are in flight.
  template <class F>
  __global__ void subtract_packed(const float *gradients, int n, F *f,
                                  const __grid_constant__ Factor factor)
  {
    // No overflow: GPU memory cannot hold 2^32 components.
    const unsigned first = blockIdx.x * (COMPONENTS * THREADS) + threadIdx.x, end = 3u * n;
    float derivative[COMPONENTS];
    F force[COMPONENTS];
    for (int k = 0; k < COMPONENTS; ++k) {
      const unsigned t = first + k * THREADS;
      if (t < end) derivative[k] = gradients[t % 3 * static_cast<std::size_t>(n) + t / 3];
    }
    wait_for_previous_kernel();
    for (int k = 0; k < COMPONENTS; ++k)
      if (first + k * THREADS < end) force[k] = f[first + k * THREADS];
    const double strength = product(factor);
    for (int k = 0; k < COMPONENTS; ++k)
      if (first + k * THREADS < end)
        f[first + k * THREADS] = force[k] - static_cast<F>(strength * derivative[k]);
  }

  // Writes column 0. sums: [n][columns]
  static __global__ void write_first_column(const double *s, const int *atom, int n, int columns,
                                            double *sums)
  {
    const int r = blockIdx.x * THREADS + threadIdx.x;
    if (r < n) sums[static_cast<std::size_t>(columns) * r] = s[atom ? atom[r] : r];
  }

}    // namespace row_outputs

// dS/dx of the rows of a view: gradients, [3][n], or columns 1 to 3 of sums, [n][columns].
struct RowGradients {
  DeviceRows rows;
  const float *gradients;    // null: use sums
  const double *sums;
  int columns;
};

// Enqueues forces -= factor dS/dx for the atoms of the rows from begin to end.
inline void subtract_rows(const RowGradients &gradients, int begin, int end,
                          const DeviceForces &forces, const Factor &factor, cudaStream_t stream)
{
  using namespace row_outputs;
  if (begin == end) return;
  const int n = end - begin;
  const int *const atom = gradients.rows.atom ? gradients.rows.atom + begin : nullptr;
  // The preceding kernel writes factor.device (a bias), or is another subtraction. The kernel that
  // computed the derivatives has finished, so they can be read before the wait.
  const bool launch_early = factor.device;
  if (gradients.gradients && !atom && n == gradients.rows.n && forces.atom_stride == 3 &&
      forces.axis_stride == 1) {
    constexpr unsigned COMPONENTS_PER_BLOCK = COMPONENTS * THREADS;
    const unsigned packed = (3u * n + COMPONENTS_PER_BLOCK - 1) / COMPONENTS_PER_BLOCK;
    const auto launch = [&](auto *f) {
      launch_kernel("launching subtract_packed",
                    subtract_packed<std::remove_pointer_t<decltype(f)>>, launch_early,
                    {packed, THREADS}, stream, gradients.gradients, n, f, factor);
    };
    if (forces.is_float)
      launch(static_cast<float *>(forces.f));
    else
      launch(static_cast<double *>(forces.f));
  } else if (gradients.gradients)
    launch_kernel("launching subtract_gradient", subtract_gradient<float>, launch_early,
                  {blocks_of(n), THREADS}, stream,
                  Gradients<float>{gradients.gradients + begin, 1, gradients.rows.n}, atom, n,
                  forces, factor);
  else
    launch_kernel(
        "launching subtract_gradient", subtract_gradient<double>, launch_early,
        {blocks_of(n), THREADS}, stream,
        Gradients<double>{gradients.sums + static_cast<std::size_t>(begin) * gradients.columns + 1,
                          gradients.columns, 1},
        atom, n, forces, factor);
}

// Like subtract_rows() above, for all rows. overlap: an atom in both groups has two rows, which are
// subtracted one after the other
inline void subtract_rows(const RowGradients &gradients, bool overlap, const DeviceForces &forces,
                          const Factor &factor, cudaStream_t stream)
{
  const int between = overlap ? gradients.rows.nvalue : gradients.rows.n;
  subtract_rows(gradients, 0, between, forces, factor, stream);
  subtract_rows(gradients, between, gradients.rows.n, forces, factor, stream);
}

// Enqueues a kernel that copies the value of each atom to column 0 of its row in group a.
inline void write_first_column(const double *values, const DeviceRows &rows, int columns,
                               double *sums, cudaStream_t stream)
{
  using namespace row_outputs;
  if (rows.nvalue == 0) return;
  row_outputs::write_first_column<<<blocks_of(rows.nvalue), THREADS, 0, stream>>>(
      values, rows.atom, rows.nvalue, columns, sums);
  check(cudaGetLastError(), "launching write_first_column");
}

}    // namespace gpucoord

#endif
