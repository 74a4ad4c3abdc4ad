// Part of GPUCOORD, GPL-2.0. Cutoff bins on the device.
//
// Bins are columns along x, cut into short cells. Atoms are sorted by column, then by cell. 32
// consecutive atoms therefore fill a block about as wide as the column, and the atoms of a column
// between two values of x are contiguous in memory. If there are many more cells than atoms, the
// starts of the cells are not stored but found by bisection.

#ifndef GPUCOORD_BINS_H
#define GPUCOORD_BINS_H

#include "buffers.h"
#include "tuning.h"

#include "gpucoord/export.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace gpucoord {

struct alignas(16) DeviceAtom {
  double x, y, z;     // distance
  std::int64_t id;    // identifies an atom that is in both lists
};

struct BinGrid {
  double lo[3];              // lower corner, distance
  double size[3];            // size of a cell along x, of a column along y and z, distance
  double inverse_size[3];    // 1/distance
  std::int64_t n[3];         // number of cells along x, of columns along y and z

  __host__ __device__ std::int64_t coordinate(int axis, double x) const
  {
    const auto cell = static_cast<std::int64_t>((x - lo[axis]) * inverse_size[axis]);
    return cell < 0 ? 0 : cell < n[axis] ? cell : n[axis] - 1;
  }
  __host__ __device__ std::int64_t column(std::int64_t cy, std::int64_t cz) const
  {
    return cz * n[1] + cy;
  }
};

// Offsets of the columns that can hold partners of the atoms of a column, nearest first.
struct Neighborhood {
  static constexpr int MAX_REACH = 5;
  static constexpr int MAX_COLUMNS = (2 * MAX_REACH + 1) * (2 * MAX_REACH + 1);
  int n = 0;
  signed char dy[MAX_COLUMNS], dz[MAX_COLUMNS];
};

struct Bounds {
  double lo[3], hi[3];
};

// Makes a grid over the atoms within the bounds, for pairs within range (distance). density: atoms
// per volume.
GPUCOORD_TEST_API BinGrid make_bin_grid(const Bounds &, double density, double range);
// Makes a grid with columns of this width (distance). The columns are wider if there would be too
// many of them.
GPUCOORD_TEST_API BinGrid make_bin_grid(const Bounds &, double width);
GPUCOORD_TEST_API Neighborhood make_neighborhood(const BinGrid &, double range);

// A sorted list of atoms, as kernels see it. All pointers are to device memory.
struct SortedAtoms {
  const DeviceAtom *atom;      // [n]; null after sort_indices()
  const std::uint64_t *key;    // [n] keys of cells, ascending; null if short_key is set
  const std::uint32_t *short_key;
  const int *start;           // [cells + 1] first atom of each cell; null if most cells are empty
  const int *caller_index;    // [n] indices in the caller's list
  const int *owned;           // [nowned] sorted indices of owned atoms, ascending; null: all
  int n, nowned;

  __device__ std::uint64_t cell(int k) const { return short_key ? short_key[k] : key[k]; }
};

// Throws DeviceError if this build has no code for the current GPU.
void check_kernels();

class Bins {
 public:
  // Sorts n atoms in device memory. The first nowned atoms belong to this rank. The atoms must stay
  // valid until the next call. Only enqueues work. Throws DeviceError.
  SortedAtoms sort(const BinGrid &, const DeviceAtom *, int n, int nowned, cudaStream_t);
  // Like sort(), but sets only 'caller_index' and does not copy the atoms.
  SortedAtoms sort_indices(const BinGrid &, const DeviceAtom *, int n, cudaStream_t);
  std::size_t bytes() const
  {
    return keys.bytes() + keys_sorted.bytes() + short_keys.bytes() + short_keys_sorted.bytes() +
        order.bytes() + caller_index.bytes() + owned.bytes() + start.bytes() + sorted.bytes() +
        workspace.bytes();
  }

 private:
  template <class Key>
  SortedAtoms sort_by(DeviceBuffer<Key> &keys, DeviceBuffer<Key> &sorted_keys, const BinGrid &,
                      const DeviceAtom *, int n, cudaStream_t);

  DeviceBuffer<std::uint64_t> keys, keys_sorted;
  DeviceBuffer<std::uint32_t> short_keys, short_keys_sorted;
  DeviceBuffer<int> order, caller_index, owned, nselected, start;
  DeviceBuffer<DeviceAtom> sorted;
  DeviceBuffer<char> workspace;
};

}    // namespace gpucoord

#endif
