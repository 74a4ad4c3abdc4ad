// Part of GPUCOORD, GPL-2.0. Passes over pairs: selection of pairs and atoms, and outputs.

#ifndef GPUCOORD_PAIRS_H
#define GPUCOORD_PAIRS_H

#include "gpucoord/box.h"
#include "gpucoord/export.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace gpucoord {

// Outputs in addition to the value S, combined with |. ATOM_VIRIAL requires DERIVATIVES and VIRIAL.
// WINDOWED multiplies the derivative of each pair by a window, and computes no value. It is only
// supported by the pass over lists and only with DERIVATIVES.
enum Want : unsigned { VALUE = 0, DERIVATIVES = 1, VIRIAL = 2, ATOM_VIRIAL = 4, WINDOWED = 8 };

// Returns the number of columns of the per-atom output.
constexpr int peratom_columns(unsigned want)
{
  return want & ATOM_VIRIAL ? 10 : want & DERIVATIVES ? 4 : 0;
}

// Types of the atoms, used if the table of functions has types, and weights.
struct PairTypes {
  const int *type = nullptr;    // [nall] types from 1 to ntypes
  // [ntypes + 1][ntypes + 1] symmetric factors of all sums of a pair; [1] if the table has no
  // types; null: 1
  const double *weight = nullptr;
};

struct DeviceFunction;    // resident_function.h

// A function of coordination numbers, S = sum of f(s_i) over the atoms i of a, takes two passes
// over pairs. The first pass computes s_i, the sum of s(r_ij) over all partners of i. The second
// pass computes the derivatives of the sum of w_i s_i. The caller provides the weights w_i =
// f'(s_i), times the factors of the atoms (AtomWeights in atom_function.h), if there are any.
struct SecondPass {
  // [nlocal] the first pass adds s_i, by row of the per-atom output, unless on_device evaluates f.
  double *s = nullptr;
  // Called once, between the passes, on the caller's thread, unless on_device evaluates f. Returns
  // the weights, [nweights], whose shape depends on the engine (see the inputs below); null: there
  // is no second pass, and S has no derivatives.
  std::function<const double *()> weights;
  std::int64_t nweights = 0;
  // Requires a single rank. Engine 'cells' of the CUDA backend evaluates f itself if it can, and
  // the value is then S. null: not used.
  DeviceFunction *on_device = nullptr;
};

// Engine 'cells': builds its own cutoff bins over owned and ghost atoms. Supports any box.
struct CellsInput {
  const double *x = nullptr;    // [nall][3] positions, owned first, then ghosts, distance
  AtomList a, b;                // b.index null: within group a
  PairTypes types;
  // Inputs of the same version must have equal lists a and b, and no atom may have moved by more
  // than 16 dmax since the first of these inputs. 0: unknown. A GPU keeps the pairs that it found
  // until an atom has moved by half the skin, or types or weights have changed.
  std::int64_t version = 0;
  double skin = 0.0;                     // distance; 0: the GPU does not keep pairs
  const SecondPass *second = nullptr;    // weights: [nall]
};

// Pass over lists: full neighbor lists from the caller, with owned and ghost atoms j. They must be
// complete up to dmax for every owned atom of both groups.
struct ListInput {
  const double *x = nullptr;                 // [nall][3] distance
  int nall = 0;                              // rows of x; 0: unknown
  AtomList a, b;                             // b.index null: within group a; ghosts are not read
  const unsigned char *member = nullptr;     // [nall] bit 1: in a; bit 2: in b; null: all in a
  const int *numneigh = nullptr;             // [nowned] number of neighbors, by row of x
  const int *const *firstneigh = nullptr;    // [nowned][numneigh] rows of x
  int neighmask = ~0;                        // applied with & to each neighbor
  // Lists of the same version must be equal. 0: unknown. A GPU keeps its copy of the lists.
  std::int64_t version = 0;
  PairTypes types;
  // [4] additional weight, selected by the two highest bits of a neighbor; null: 1
  const double *special = nullptr;
  Window window;                         // used with WINDOWED
  const SecondPass *second = nullptr;    // weights: [nall]
};

// Engine 'allpairs': owned atoms with the nearest images of atoms gathered from all ranks. An atom
// has the same id in both groups.
struct AllPairsInput {
  Box box;
  struct Group {
    // [n][3] positions of the atoms of all ranks, the same on every rank, distance.
    const double *x = nullptr;
    std::int64_t n = 0;
    std::int64_t first_owned = 0;    // the atoms of this rank are consecutive
    std::int64_t nowned = 0;
    const std::int64_t *id = nullptr;    // [n] id, the same for an atom in both groups
    const int *row = nullptr;            // [nowned] row of the per-atom output
    const int *type = nullptr;           // [n] if the table of functions has types
  } a, b;                                // b.x null: within group a
  const SecondPass *second = nullptr;    // weights: [a.n]
};

// Pair mode: atom k of one group with the nearest image of atom k of the other group.
struct PairsInput {
  Box box;
  std::int64_t n = 0;
  const double *xa = nullptr, *xb = nullptr;       // [n][3] distance
  const int *row_a = nullptr, *row_b = nullptr;    // [n] row of the per-atom output; -1: not owned
  const int *type_a = nullptr, *type_b = nullptr;    // [n] if the table of functions has types
  const SecondPass *second = nullptr;                // weights: [n] of the first atom of each pair
};

// From this mean number of partners on, atoms are kept in bins instead of partner lists.
constexpr double MANY_PARTNERS = 500.0;

// A neighbor list of the caller in device memory. For each owned atom i, it has all atoms within
// dmax plus the skin. It may also have atoms at larger distances, up to
// 10 dmax. Neighbor k of atom i is neighbor[i
// * atom_stride + k * neighbor_stride].
struct DeviceNeighbors {
  const int *neighbor = nullptr;    // null: no list
  const int *count = nullptr;       // [nlocal] number of neighbors
  std::int64_t atom_stride = 0, neighbor_stride = 0;
  int capacity = 0;    // upper limit of count
};

// Selected atoms, and the distance by which they may move.
struct DeviceSelection {
  int bit_a = ~0, bit_b = 0;    // group bits; bit_b 0: within group a
  double skin = 0.0;            // two atoms may approach by this distance before the next rebuild
  // If true, Totals::moved also reports ghost atoms that have moved by half the skin. If the box
  // changes, ghost atoms move with it. The caller may already have taken this into account.
  bool tests_ghosts = true;
  // The pairs are evaluated once. If types do not differ, partner lists are not built, because
  // building them would take longer than one evaluation without them.
  bool is_evaluated_once = false;
  // Replaces the search. Only supported for one group and types that do not differ; otherwise
  // rebuild() throws std::invalid_argument.
  DeviceNeighbors neighbors;
};

// Results of this rank, available after a wait.
struct Totals {
  double value = 0.0;       // S
  double virial[6] = {};    // W: xx yy zz xy xz yz
  int bad_atom = -1;        // row of an atom whose position is not finite; -1: all are finite
  // An atom has moved by more than half the skin. Pairs near dmax may be missing.
  bool moved = false;
  double tested = 0.0;    // number of computed distances, for benchmarks; 0: not counted
};

// Weights for a second pass over pairs in device memory.
struct DeviceWeights {
  // [nall], read for atoms of group a; [nlocal] if owner is given.
  const double *weight = nullptr;
  const int *owner = nullptr;    // [nall] the owned atom whose image each atom is; null: unknown
  // Kernels divide weights by this power of two, near the largest weight, and multiply sums by it.
  double unit = 1.0;
};

// Pairs in reach, found on the GPU. Variables can share them if they have the same groups, range
// and precision, and if their types differ in the same way.
class ResidentPairs;
// Makes an empty set of pairs on the current GPU. weight: see PairTypes. Throws DeviceError; throws
// std::invalid_argument if dmax is infinite.
GPUCOORD_API std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &, Precision,
                                                                const double *weight);

}    // namespace gpucoord

#endif
