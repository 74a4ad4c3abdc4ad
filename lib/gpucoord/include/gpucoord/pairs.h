// Part of GPUCOORD, GPL-2.0. Passes over pairs: which pairs, of which atoms, and what is summed over them.

#ifndef GPUCOORD_PAIRS_H
#define GPUCOORD_PAIRS_H

#include "gpucoord/box.h"
#include "gpucoord/export.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <cstdint>
#include <memory>

namespace gpucoord {

// What is computed beside the value S, or-ed together. ATOM_VIRIAL only with DERIVATIVES and VIRIAL. WINDOWED,
// by engine list only, goes with DERIVATIVES alone: the derivative of each pair times a window, and no value.
enum Want : unsigned { VALUE = 0, DERIVATIVES = 1, VIRIAL = 2, ATOM_VIRIAL = 4, WINDOWED = 8 };

// columns of the per-atom output
constexpr int peratom_columns(unsigned want)
{
  return want & ATOM_VIRIAL ? 10 : want & DERIVATIVES ? 4 : 0;
}

// Types of atoms, where the table of functions has types, and weights.
struct PairTypes {
  const int *type = nullptr;    // 1 to ntypes, by row of the position array
  // [ntypes + 1][ntypes + 1] of a pair in all sums, symmetric, of one number where the table has no types; null: 1
  const double *weight = nullptr;
};

// Engine 'cells': own cutoff bins over owned and ghost atoms, any box.
struct CellsInput {
  const double *x = nullptr;    // [nall][3] positions, owned first, then ghosts
  AtomList a, b;                // b.index null: within group a
  PairTypes types;
};

// Engine 'list': full neighbor lists made by the caller, owned and ghost j,
// complete up to dmax for every owned atom of both groups.
struct ListInput {
  const double *x = nullptr;                 // [nall][3]
  AtomList a, b;                             // b.index null: within group a; ghosts are not read
  const unsigned char *member = nullptr;     // [nall] bit 1: in a, bit 2: in b; null: all are in a
  const int *numneigh = nullptr;             // [nowned] number of neighbors, by row of x
  const int *const *firstneigh = nullptr;    // [nowned] their rows of x
  int neighmask = ~0;                        // and-ed to each neighbor first
  std::int64_t version = 0;    // lists of the same version are the same, 0: unknown; a
                               // device keeps its copy of them
  PairTypes types;
  const double *special =
      nullptr;      // [4] a further weight, by the two highest bits of a neighbor; null: 1
  Window window;    // for WINDOWED
};

// Engine 'allpairs': owned atoms against atoms gathered from all ranks, nearest
// images. The same atom has the same id in both.
struct AllPairsInput {
  Box box;
  struct Group {
    const double *x =
        nullptr;    // [n][3] positions of the atoms of all ranks, the same on every rank
    std::int64_t n = 0;
    std::int64_t first_owned = 0;    // this rank's atoms are consecutive
    std::int64_t nowned = 0;
    const std::int64_t *id = nullptr;    // [n] what makes an atom the same in both groups
    const int *row = nullptr;            // [nowned] row of the per-atom output
    const int *type = nullptr;           // [n] where the table of functions has types
  } a, b;                                // b.x null: within group a
};

// Pair mode: the k-th atom of one group with the k-th of the other, nearest image.
struct PairsInput {
  Box box;
  std::int64_t n = 0;
  const double *xa = nullptr, *xb = nullptr;       // [n][3]
  const int *row_a = nullptr, *row_b = nullptr;    // [n] row of the per-atom output; -1: not owned
  const int *type_a = nullptr, *type_b = nullptr;    // [n] where the table of functions has types
};

// Where atoms have about so many partners, none are listed: atoms are kept in bins.
constexpr double MANY_PARTNERS = 500.0;

// A neighbor list of the caller in device memory: of each owned atom i all atoms within dmax and the skin, and perhaps
// others within 10 dmax. The k-th is neighbor[i * atom_stride + k * neighbor_stride].
struct DeviceNeighbors {
  const int *neighbor = nullptr;    // null: there is none
  const int *count = nullptr;       // [nlocal]
  std::int64_t atom_stride = 0, neighbor_stride = 0;
  int capacity = 0;    // count is nowhere more
};

// Which atoms, and how far they may move.
struct DeviceSelection {
  int bit_a = ~0, bit_b = 0;    // group bits; bit_b 0: within group a
  double skin = 0.0;            // distance by which a pair may come closer before the next rebuild
  // in place of a search, where all atoms are one group and types do not differ
  DeviceNeighbors neighbors;
};

// Pairs within reach, found on the GPU: one for all variables of the same groups, range and precision, and of types
// that differ alike.
class ResidentPairs;
GPUCOORD_API std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &, Precision,
                                                                const double *weight);

}    // namespace gpucoord

#endif
