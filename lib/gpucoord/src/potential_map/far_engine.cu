// Part of GPUCOORD, GPL-2.0. Ewald's far field of charges in device memory: splines, factors, and
// transforms by cuFFT.
//
// Launch of the kernels over atoms: 64 atoms per block of 256 threads. First, each thread computes
// the splines of an atom along one axis. Shared memory keeps them (72 bytes each, 13.5 KiB per
// block), because 512 mesh points need them. Then each warp takes one atom after the other. Eight
// lanes take the mesh points of a row, which are contiguous in memory, so that a warp takes four
// rows at a time.
//
// Launch of all other kernels: one thread per mesh point, wave vector or map point, 256 threads per
// block, no shared memory.
//
// Charges are summed as 64-bit integers, so that the bits of the sum do not depend on the order.
// The unit is the smallest power of two for which the sum of all charges on one mesh point fits.
// The share of a charge is rounded by at most 1.4e-20 of the sum of all magnitudes. With two
// million unit charges, 50 of them near a mesh point, the root mean square error is 1e-12 at a
// density of 0.1. It grows with the number of charges.

#include "far_engine.h"

#include "../gpu/staging.h"
#include "../gpu/warp_reduction.cuh"
#include "far_formulas.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256, WARPS = THREADS / 32, ATOMS = 64;    // per block
  constexpr int ROWS = FAR_ORDER * FAR_ORDER, ROWS_PER_WARP = 32 / FAR_ORDER;
  static_assert(3 * ATOMS <= THREADS, "each axis of an atom has its own thread");
  static_assert(32 % FAR_ORDER == 0, "a warp processes whole rows");
  // The largest value of a spline of order 8 is 151/315. Its cube is less than 1/8 times 0.89. 2^66
  // over the sum of magnitudes therefore leaves room for the rounding errors of all charges.
  constexpr int BITS = 66;

  constexpr unsigned blocks_of(std::size_t n, int size)
  {
    return static_cast<unsigned>((n + size - 1) / size);
  }

  void check_fft(cufftResult status, const char *what)
  {
    if (status == CUFFT_SUCCESS) return;
    cudaGetLastError();
    throw DeviceError(std::string("the GPU failed in ") + what + ": " +
                      (status == CUFFT_ALLOC_FAILED
                           ? "no memory"
                           : "error " + std::to_string(status) + " of cuFFT"));
  }

  struct MeshArguments {
    double origin[3];           // position of mesh point 0,0,0, distance
    double reciprocal[3][3];    // [axis] 1/distance
    int n[3];                   // mesh points
    const DeviceAtom *atom;     // [natoms] charges, or positions for interpolation
    int natoms;
  };

  __device__ void find_splines(const MeshArguments &arg, Splines (&atom_splines)[ATOMS][3])
  {
    const int a = threadIdx.x / 3, axis = threadIdx.x % 3, k = blockIdx.x * ATOMS + a;
    if (a < ATOMS && k < arg.natoms) {
      const double x[3] = {arg.atom[k].x, arg.atom[k].y, arg.atom[k].z};
      const double coordinate = mesh_coordinate(arg.origin, arg.reciprocal[axis], arg.n[axis], x);
      if (is_near_points(coordinate, 0, arg.n[axis]))
        atom_splines[a][axis] = splines_of(coordinate);
      else
        atom_splines[a][axis].first = arg.n[axis];    // no mesh point
    }
    __syncthreads();
  }

  // Calls use(mesh point, weight) for the mesh points of an atom that belong to this lane.
  template <class Use>
  __device__ void for_points_of_lane(const int (&n)[3], const Splines (&atom_splines)[3],
                                     const Use &use)
  {
    const int lane = threadIdx.x % 32, t = lane % FAR_ORDER, i = atom_splines[0].first + t;
    if (i < 0 || i >= n[0]) return;
    const double weight = atom_splines[0].at[t];
    for (int row = lane / FAR_ORDER; row < ROWS; row += ROWS_PER_WARP) {
      const int u = row % FAR_ORDER, v = row / FAR_ORDER, j = atom_splines[1].first + u,
                k = atom_splines[2].first + v;
      if (j < 0 || j >= n[1] || k < 0 || k >= n[2]) continue;
      use((static_cast<std::size_t>(k) * n[1] + j) * n[0] + i,
          weight * atom_splines[1].at[u] * atom_splines[2].at[v]);
    }
  }

  // scale: units per charge
  __global__ void __launch_bounds__(THREADS)
      spread(const __grid_constant__ MeshArguments arg, const double *q, double scale,
             unsigned long long *fixed)
  {
    __shared__ Splines atom_splines[ATOMS][3];
    find_splines(arg, atom_splines);
    const int natoms = min(ATOMS, arg.natoms - static_cast<int>(blockIdx.x) * ATOMS);
    for (int a = threadIdx.x / 32; a < natoms; a += WARPS) {
      const double charge = scale * q[arg.atom[blockIdx.x * ATOMS + a].id];
      for_points_of_lane(arg.n, atom_splines[a], [&](std::size_t point, double weight) {
        atomicAdd(fixed + point, static_cast<unsigned long long>(__double2ll_rn(charge * weight)));
      });
    }
  }

  __global__ void __launch_bounds__(THREADS)
      interpolate(const __grid_constant__ MeshArguments arg, const double *potential, double *at)
  {
    __shared__ Splines atom_splines[ATOMS][3];
    find_splines(arg, atom_splines);
    const int natoms = min(ATOMS, arg.natoms - static_cast<int>(blockIdx.x) * ATOMS);
    for (int a = threadIdx.x / 32; a < natoms; a += WARPS) {
      double sum = 0.0;
      for_points_of_lane(arg.n, atom_splines[a], [&](std::size_t point, double weight) {
        sum += weight * potential[point];
      });
      sum = add_warp(sum);
      if (threadIdx.x % 32 == 0) at[blockIdx.x * ATOMS + a] = sum;
    }
  }

  // unit: charge per unit
  __global__ void to_double(const unsigned long long *fixed, unsigned n, double unit,
                            double *density)
  {
    const unsigned p = blockIdx.x * THREADS + threadIdx.x;
    if (p < n) density[p] = unit * static_cast<double>(static_cast<long long>(fixed[p]));
  }

  struct WaveArguments {
    double reciprocal[3][3];     // [axis] 1/distance
    int n[3];                    // mesh points
    double alpha, volume;        // 1/distance, distance^3
    const double *splines[3];    // [n] factors of the splines
    int component;               // component of the field; -1: potential
    bool for_positions;          // interpolate: apply the factors of the splines once more
    const double2 *spectrum;     // [nz][ny][nx/2 + 1] transform of the density
    double2 *changed;            // [nz][ny][nx/2 + 1] transform of the result
  };

  __global__ void __launch_bounds__(THREADS) multiply(WaveArguments arg)
  {
    const unsigned row = arg.n[0] / 2 + 1, p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= row * arg.n[1] * arg.n[2]) return;
    const int index[3] = {static_cast<int>(p % row), static_cast<int>(p / row % arg.n[1]),
                          static_cast<int>(p / row / arg.n[1])};
    double wave[3];
    const double splines =
        arg.splines[0][index[0]] * arg.splines[1][index[1]] * arg.splines[2][index[2]];
    double factor =
        influence_at(arg.reciprocal, arg.n, arg.alpha, index, wave) / arg.volume * splines;
    if (arg.for_positions) factor *= splines;
    const double2 s = arg.spectrum[p];
    if (arg.component < 0) {
      arg.changed[p] = {factor * s.x, factor * s.y};
    } else {    // - d phi/dx: multiply by -i k
      const double k = factor *
          (arg.component == 0       ? wave[0]
               : arg.component == 1 ? wave[1]
                                    : wave[2]);
      arg.changed[p] = {k * s.y, -k * s.x};
    }
  }

  struct SampleArguments {
    int n[3];                 // mesh points
    int fold[3], first[3];    // take every fold-th point, starting at first
    int size[3];              // number of points of the map
    const double *values;     // [nz][ny][nx]
    double *to;               // destination; elements are 'stride' apart
    int stride;
  };

  __global__ void __launch_bounds__(THREADS) sample(SampleArguments arg)
  {
    const unsigned p = blockIdx.x * THREADS + threadIdx.x, nx = arg.size[0], ny = arg.size[1];
    if (p >= nx * ny * arg.size[2]) return;
    const std::size_t i = p % nx * arg.fold[0] + arg.first[0],
                      j = p / nx % ny * arg.fold[1] + arg.first[1],
                      k = p / nx / ny * arg.fold[2] + arg.first[2];
    arg.to[static_cast<std::size_t>(p) * arg.stride] =
        arg.values[(k * arg.n[1] + j) * arg.n[0] + i];
  }

  std::size_t product(const int n[3])
  {
    return static_cast<std::size_t>(n[0]) * n[1] * n[2];
  }
  std::size_t waves_of(const int n[3])
  {
    return static_cast<std::size_t>(n[0] / 2 + 1) * n[1] * n[2];
  }

  MeshArguments arguments_of(const EwaldMesh &mesh, const DeviceAtom *atom, int natoms)
  {
    MeshArguments arg;
    std::copy_n(mesh.box.origin, 3, arg.origin);
    mesh.box.reciprocal(arg.reciprocal);
    std::copy_n(mesh.n, 3, arg.n);
    arg.atom = atom;
    arg.natoms = natoms;
    return arg;
  }

}    // namespace

/* ---------------------------------------------------------------------- */

FarEngine::Plan::Plan()
{
  check_fft(cufftCreate(&handle), "making a plan of transforms");
}

FarEngine::Plan::~Plan()
{
  cufftDestroy(handle);
}

void FarEngine::prepare(const int n[3], cudaStream_t stream)
{
  if (plans && std::equal(n, n + 3, planned)) return;
  // Kernels of the stream may still read the buffers that are replaced here.
  check(cudaStreamSynchronize(stream), "computing a far field");
  plans.reset();    // free the memory for the new plans
  plans = std::make_unique<Plans>();
  std::fill_n(planned, 3, 0);
  std::size_t largest = 1;    // cuFFT rejects a null pointer, even from plans without workspace
  const auto make = [&](const Plan &plan, cufftType type) {
    std::size_t size = 0;
    check_fft(cufftSetAutoAllocation(plan.handle, 0), "making a plan of transforms");
    check_fft(cufftMakePlan3d(plan.handle, n[2], n[1], n[0], type, &size),
              "making a plan of transforms");
    largest = std::max(largest, size);
  };
  make(plans->forward, CUFFT_D2Z);
  make(plans->backward, CUFFT_Z2D);
  workspace.reserve(largest);
  for (const Plan *plan : {&plans->forward, &plans->backward})
    check_fft(cufftSetWorkArea(plan->handle, workspace.data()), "making a plan of transforms");
  fixed.reserve(product(n));
  values.reserve(product(n));
  spectrum.reserve(waves_of(n));
  changed.reserve(waves_of(n));
  const FarFactors factors(mesh.box, n, mesh.alpha);
  for (int a = 0; a < 3; ++a) send_table(factors.splines_of_axis(a), splines[a]);
  std::copy_n(n, 3, planned);
}

void FarEngine::begin(const EwaldMesh &mesh_in, const ChargesOnDevice &charges, double sum_of_sizes,
                      cudaStream_t stream)
{
  mesh = mesh_in;
  prepare(mesh.n, stream);
  const std::size_t n = product(mesh.n);
  int exponent;
  // 2^exponent is greater than the sum, and at most twice the sum.
  std::frexp(sum_of_sizes, &exponent);
  check(cudaMemsetAsync(fixed.data(), 0, n * sizeof(unsigned long long), stream),
        "clearing a mesh");
  if (charges.n > 0) {
    spread<<<blocks_of(charges.n, ATOMS), THREADS, 0, stream>>>(
        arguments_of(mesh, charges.atom, charges.n), charges.q, std::ldexp(1.0, BITS - exponent),
        fixed.data());
    check(cudaGetLastError(), "launching spread");
  }
  to_double<<<blocks_of(n, THREADS), THREADS, 0, stream>>>(
      fixed.data(), static_cast<unsigned>(n), std::ldexp(1.0, exponent - BITS), values.data());
  check(cudaGetLastError(), "launching to_double");
  check_fft(cufftSetStream(plans->forward.handle, stream), "choosing a stream");
  check_fft(cufftExecD2Z(plans->forward.handle, values.data(), spectrum.data()),
            "launching a transform");
}

void FarEngine::transform_back(int component, bool for_positions, cudaStream_t stream)
{
  WaveArguments arg;
  mesh.box.reciprocal(arg.reciprocal);
  std::copy_n(mesh.n, 3, arg.n);
  arg.alpha = mesh.alpha;
  arg.volume = mesh.box.volume();
  for (int a = 0; a < 3; ++a) arg.splines[a] = splines[a].data();
  arg.component = component;
  arg.for_positions = for_positions;
  arg.spectrum = spectrum.data();
  arg.changed = changed.data();
  multiply<<<blocks_of(waves_of(mesh.n), THREADS), THREADS, 0, stream>>>(arg);
  check(cudaGetLastError(), "launching multiply");
  check_fft(cufftSetStream(plans->backward.handle, stream), "choosing a stream");
  check_fft(cufftExecZ2D(plans->backward.handle, changed.data(), values.data()),
            "launching a transform");
}

void FarEngine::on_grid(const int fold[3], const int first[3], double *phi, double *field,
                        cudaStream_t stream)
{
  SampleArguments arg;
  for (int a = 0; a < 3; ++a) {
    arg.n[a] = mesh.n[a];
    arg.fold[a] = fold[a];
    arg.first[a] = first[a];
    arg.size[a] = mesh.n[a] / fold[a];
  }
  arg.values = values.data();
  const auto sample_component = [&](int component, double *to, int stride) {
    transform_back(component, false, stream);
    arg.to = to;
    arg.stride = stride;
    sample<<<blocks_of(product(arg.size), THREADS), THREADS, 0, stream>>>(arg);
    check(cudaGetLastError(), "launching take");
  };
  sample_component(-1, phi, 1);
  for (int c = 0; c < 3 && field; ++c) sample_component(c, field + c, 3);
}

void FarEngine::at_positions(const DeviceAtom *positions, int n, double *at, cudaStream_t stream)
{
  if (n == 0) return;
  transform_back(-1, true, stream);
  interpolate<<<blocks_of(n, ATOMS), THREADS, 0, stream>>>(arguments_of(mesh, positions, n),
                                                           values.data(), at);
  check(cudaGetLastError(), "launching interpolate");
}

std::size_t FarEngine::bytes() const
{
  return workspace.bytes() + splines[0].bytes() + splines[1].bytes() + splines[2].bytes() +
      fixed.bytes() + values.bytes() + spectrum.bytes() + changed.bytes();
}

}    // namespace gpucoord
