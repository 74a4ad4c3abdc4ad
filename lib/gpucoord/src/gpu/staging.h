// Part of GPUCOORD, GPL-2.0. Copies host arrays to the device and results to the host, in chunks.
// The host fills or adds one chunk while another one is being copied.

#ifndef GPUCOORD_STAGING_H
#define GPUCOORD_STAGING_H

#include "bins.h"
#include "buffers.h"
#include "tuning.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace gpucoord {

// A host array and its device copy.
template <class T> struct Staged {
  PinnedBuffer<T> pinned;
  DeviceBuffer<T> device;
  std::size_t bytes() const { return pinned.bytes() + device.bytes(); }
  void reserve(std::size_t n)
  {
    pinned.reserve(n);
    device.reserve(n);
  }
};

// Calls fill(begin, end) for chunks of the n elements of to.pinned. Enqueues the copy of each
// filled chunk to the device.
template <class T, class Fill>
void send(Staged<T> &to, std::size_t n, cudaStream_t stream, Fill fill)
{
  to.reserve(n);
  for (std::size_t first = 0; first < n; first += tuning::COPY_CHUNK) {
    const std::size_t size = std::min<std::size_t>(tuning::COPY_CHUNK, n - first);
    fill(first, first + size);
    check(cudaMemcpyAsync(to.device.data() + first, to.pinned.data() + first, size * sizeof(T),
                          cudaMemcpyHostToDevice, stream),
          "copying data to the GPU");
  }
}

// Copies an array.
template <class T>
void stage(const T *from, std::size_t n, int nthreads, cudaStream_t stream, Staged<T> &to)
{
  send(to, n, stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
    for (std::size_t k = begin; k < end; ++k) to.pinned[k] = from[k];
  });
}

// Copies a table to the device and waits, so that kernels of any stream may read it.
template <class T> void send_table(const std::vector<T> &from, DeviceBuffer<T> &to)
{
  to.reserve(from.size());
  check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copying data to the GPU");
  // A copy from pageable memory may return before it is complete.
  check(cudaStreamSynchronize(cudaStreamLegacy), "copying data to the GPU");
}

inline Bounds no_bounds()
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
}

// Copies n positions x[row_of(k)] as atoms with id_of(k), k < n. Extends the bounds to include
// them.
template <class RowOf, class IdOf>
void stage_positions(const double *x, std::size_t n, const RowOf &row_of, const IdOf &id_of,
                     int nthreads, cudaStream_t stream, Staged<DeviceAtom> &to, Bounds &bounds)
{
  double lo[3], hi[3];
  std::copy_n(bounds.lo, 3, lo);
  std::copy_n(bounds.hi, 3, hi);
  send(to, n, stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(min                                                                       \
              : lo[:3]) reduction(max                                                   \
                                  : hi[:3])
    for (std::size_t k = begin; k < end; ++k) {
      const double *const p = x + 3 * static_cast<std::size_t>(row_of(k));
      to.pinned[k] = {p[0], p[1], p[2], id_of(k)};
      for (int c = 0; c < 3; ++c) {
        lo[c] = std::min(lo[c], p[c]);
        hi[c] = std::max(hi[c], p[c]);
      }
    }
  });
  std::copy_n(lo, 3, bounds.lo);
  std::copy_n(hi, 3, bounds.hi);
}

// Copies the positions of the atoms of a list. Their ids are their rows.
inline void stage_atoms(const double *x, const AtomList &list, int nthreads, cudaStream_t stream,
                        Staged<DeviceAtom> &to, Bounds &bounds)
{
  const auto row = [&list](std::size_t k) {
    return list.index[k];
  };
  stage_positions(x, list.n, row, row, nthreads, stream, to, bounds);
}

// Copies all n positions. Their ids are their indices. Returns their bounds.
inline Bounds stage_all(const double *x, std::size_t n, int nthreads, cudaStream_t stream,
                        Staged<DeviceAtom> &to)
{
  Bounds bounds = no_bounds();
  const auto identity = [](std::size_t k) {
    return static_cast<std::int64_t>(k);
  };
  stage_positions(x, n, identity, identity, nthreads, stream, to, bounds);
  return bounds;
}

// Copies rows of sums to the host, chunk by chunk.
class Arrivals {
 public:
  // Enqueues the copies of n rows.
  void fetch(const double *device, std::size_t n, int columns, double *host, cudaStream_t stream)
  {
    nrows = n;
    while (arrived.size() < nchunks()) arrived.emplace_back();
    for (std::size_t chunk = 0; chunk < nchunks(); ++chunk) {
      const std::size_t first = chunk * tuning::COPY_CHUNK;
      check(cudaMemcpyAsync(host + columns * first, device + columns * first,
                            columns * (end(chunk) - first) * sizeof(double), cudaMemcpyDeviceToHost,
                            stream),
            "copying data to the host");
      arrived[chunk].record(stream);
    }
  }
  // Waits for each chunk of rows, then calls use(first, end). task: name of the preceding work in
  // errors
  template <class Use> void for_each(const char *task, Use use)
  {
    for (std::size_t chunk = 0; chunk < nchunks(); ++chunk) {
      check(cudaEventSynchronize(arrived[chunk]), task);
      use(chunk * tuning::COPY_CHUNK, end(chunk));
    }
  }

 private:
  std::size_t nchunks() const { return (nrows + tuning::COPY_CHUNK - 1) / tuning::COPY_CHUNK; }
  std::size_t end(std::size_t chunk) const
  {
    return std::min(nrows, (chunk + 1) * tuning::COPY_CHUNK);
  }

  std::size_t nrows = 0;
  std::deque<Event> arrived;
};

}    // namespace gpucoord

#endif
