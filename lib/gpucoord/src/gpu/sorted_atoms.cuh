// Part of GPUCOORD, GPL-2.0. Lookup of sorted atoms in kernels.

#ifndef GPUCOORD_SORTED_ATOMS_CUH
#define GPUCOORD_SORTED_ATOMS_CUH

#include "bins.h"

#include <type_traits>

namespace gpucoord {

// Returns the first of n ascending keys that is not less than key.
template <class Key> __device__ int lower_bound(const Key *keys, int n, Key key)
{
  int first = 0;
  while (n > 0) {
    const int half = n / 2;
    if (keys[first + half] < key) {
      first += half + 1;
      n -= half + 1;
    } else
      n = half;
  }
  return first;
}

// Returns the begin and end of the atoms in the cells from first_cell up to, not including,
// end_cell.
__device__ inline int2 atoms_of_cells(const SortedAtoms &atoms, std::uint64_t first_cell,
                                      std::uint64_t end_cell)
{
  if (atoms.start) return make_int2(atoms.start[first_cell], atoms.start[end_cell]);
  const auto find = [&](auto key) {
    using Key = std::remove_const_t<std::remove_pointer_t<decltype(key)>>;
    const int begin = lower_bound(key, atoms.n, static_cast<Key>(first_cell));
    return make_int2(begin,
                     begin + lower_bound(key + begin, atoms.n - begin, static_cast<Key>(end_cell)));
  };
  return atoms.short_key ? find(atoms.short_key) : find(atoms.key);
}

}    // namespace gpucoord

#endif
