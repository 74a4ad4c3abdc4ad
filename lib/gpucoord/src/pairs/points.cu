// Part of GPUCOORD, GPL-2.0. Positions of atoms, as kernels over pairs read them.
//
// Launch: one thread per two points, write_weights one thread per point, 256 threads per block. No
// shared memory.

#include "points.h"

#include "../gpu/early_launch.cuh"
#include "../gpu/positions.cuh"
#include "bin_search.cuh"
#include "class_functions_cuda.h"
#include "device_rows.h"

#include <cmath>
#include <type_traits>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256,
                POINTS = 2;    // points per thread, for several loads in flight

  // Returns whether a point has moved by more than half the skin since the rebuild. limit_sq:
  // squared half skin, in squared units of the points
  __device__ bool has_moved(const int4 &p, const int4 &built, float limit_sq)
  {
    const float dx = static_cast<float>(p.x - built.x), dy = static_cast<float>(p.y - built.y),
                dz = static_cast<float>(p.z - built.z);
    return dx * dx + dy * dy + dz * dz > limit_sq;
  }
  __device__ bool has_moved(const DeviceAtom &p, const DeviceAtom &built, float limit_sq)
  {
    const double dx = p.x - built.x, dy = p.y - built.y, dz = p.z - built.z;
    return dx * dx + dy * dy + dz * dz > limit_sq;
  }

  __device__ void make_point(const double3 &p, double inverse_unit, int, int c, int4 &point)
  {
    point = integer_point(p, inverse_unit, c);
  }
  __device__ void make_point(const double3 &p, double, int row, int c, DeviceAtom &point)
  {
    point = {p.x, p.y, p.z, id_with_class(row, c)};
  }

  // row_of: [n] row of each point; null: the index of the point. are_built: sets 'built' instead of
  // testing moves. Rows from ntested on are not tested. type, class_of_type: used if are_built is
  // true; null: class 0
  template <class X, class Point>
  __global__ void convert_points(const X *x, const int *row_of, int n, double inverse_unit,
                                 float limit_sq, int ntested, bool are_built, const int *type,
                                 const int *class_of_type, Point *point, Point *built,
                                 DeviceStatus *status)
  {
    wait_for_previous_kernel();
    launch_dependents();
    const int first = blockIdx.x * (POINTS * THREADS) + threadIdx.x;
    int row[POINTS];
    double3 p[POINTS];
    Point before[POINTS];
#pragma unroll
    for (int m = 0; m < POINTS; ++m) {
      const int k = first + m * THREADS;
      if (k >= n) break;
      row[m] = row_of ? row_of[k] : k;
      p[m] = position_of(x, row[m]);
      if (!are_built) before[m] = built[k];
    }
#pragma unroll
    for (int m = 0; m < POINTS; ++m) {
      const int k = first + m * THREADS;
      if (k >= n) break;
      if (!isfinite(p[m].x) || !isfinite(p[m].y) || !isfinite(p[m].z))
        atomicMin(&status->bad_atom, row[m]);
      const int c = !are_built ? class_of(before[m])
          : class_of_type      ? class_of_type[type[row[m]]]
                               : 0;
      Point made;
      make_point(p[m], inverse_unit, row[m], c, made);
      point[k] = made;
      if (are_built)
        built[k] = made;
      else if (row[m] < ntested && has_moved(made, before[m], limit_sq))
        status->moved = 1;
    }
  }

  __device__ void set_weight(int4 &point, double weight)
  {
    point.w = __float_as_int(static_cast<float>(weight));
  }
  template <class Real> __device__ void set_weight(Real &to, double weight)
  {
    to = static_cast<Real>(weight);
  }

  // to: [n] weights of the points. row_of: see convert_points()
  template <class To>
  __global__ void write_weights(const __grid_constant__ PointWeights weights, const int *row_of,
                                int n, double inverse_unit, To *to)
  {
    wait_for_previous_kernel();
    launch_dependents();
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    double weight = 0.0;
    if (k < weights.npoints) {
      const int row = row_of ? row_of[k] : k;
      const int *const owner = weights.atoms.owner;
      weight = inverse_unit * weights.atoms.weight[owner ? owner[row] : row];
    }
    set_weight(to[k], weight);
  }

  template <class To>
  void launch_weights(const PointWeights &weights, const int *row_of, int n, To *to,
                      cudaStream_t stream)
  {
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>((n + THREADS - 1) / THREADS);
    launch_kernel("launching write_weights", write_weights<To>, true, {blocks, THREADS}, stream,
                  weights, row_of, n, 1.0 / weights.atoms.unit, to);
  }

  __global__ void clear(DeviceStatus *status)
  {
    *status = {DeviceStatus::NONE, 0};
  }

}    // namespace

Points::Points(double range) : length_unit(std::ldexp(range, -27))
{
  device_status.reserve(1);
  clear_status(nullptr);
}

void Points::clear_status(cudaStream_t stream)
{
  clear<<<1, 1, 0, stream>>>(device_status.data());
  check(cudaGetLastError(), "launching clear");
}

void Points::report(const DeviceStatus &found, Totals &totals, cudaStream_t stream)
{
  if (found.bad_atom != DeviceStatus::NONE) totals.bad_atom = found.bad_atom;
  totals.moved = found.moved;
  if (totals.bad_atom >= 0 || totals.moved) clear_status(stream);
}

DeviceAtom *Points::reserve_doubles(int n)
{
  doubles.reserve(n);
  return doubles.data();
}

void Points::build(const DeviceAtoms &atoms, const int *row, int n_in, const int *class_of_type,
                   bool in_doubles, const DeviceSelection &selection, cudaStream_t stream)
{
  n = n_in;
  rows = row;
  are_doubles = in_doubles;
  skin = selection.skin;
  tests_ghosts = selection.tests_ghosts;
  if (are_doubles) {
    doubles.reserve(n);
    doubles_built.reserve(n);
  } else {
    integers.reserve((n + LINE - 1) / LINE * LINE);    // the last line is read as a whole
    integers_built.reserve(n);
  }
  convert(atoms, true, class_of_type, stream);
}

void Points::update(const DeviceAtoms &atoms, cudaStream_t stream)
{
  convert(atoms, false, nullptr, stream);
}

void Points::set_weights(const PointWeights &weights, cudaStream_t stream)
{
  launch_weights(weights, rows, n, integers.data(), stream);
}

template <class Real>
void Points::get_weights(const PointWeights &weights, Real *to, cudaStream_t stream) const
{
  launch_weights(weights, rows, n, to, stream);
}
template void Points::get_weights(const PointWeights &, float *, cudaStream_t) const;
template void Points::get_weights(const PointWeights &, double *, cudaStream_t) const;

void Points::convert(const DeviceAtoms &atoms, bool are_built, const int *class_of_type,
                     cudaStream_t stream) const
{
  if (n == 0) return;
  const double limit = 0.5 * skin * (1.0 + 1e-6) / (are_doubles ? 1.0 : length_unit);
  const auto limit_sq = static_cast<float>(limit * limit);
  const int ntested = tests_ghosts ? atoms.nall : atoms.nlocal;
  constexpr unsigned POINTS_PER_BLOCK = POINTS * THREADS;
  const unsigned blocks = (n + POINTS_PER_BLOCK - 1u) / POINTS_PER_BLOCK;
  with_positions(atoms, [&](const auto *x) {
    const auto launch = [&](auto *point, auto *built, double inverse_unit) {
      using X = std::remove_const_t<std::remove_pointer_t<decltype(x)>>;
      using Point = std::remove_pointer_t<decltype(point)>;
      launch_kernel("launching convert_points", convert_points<X, Point>, true, {blocks, THREADS},
                    stream, x, rows, n, inverse_unit, limit_sq, ntested, are_built, atoms.type,
                    class_of_type, point, built, device_status.data());
    };
    if (are_doubles)
      launch(doubles.data(), doubles_built.data(), 1.0);
    else
      launch(integers.data(), integers_built.data(), 1.0 / length_unit);
  });
}

}    // namespace gpucoord
