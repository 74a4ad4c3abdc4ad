// Part of GPUCOORD, GPL-2.0. Pairs of atoms in reach, found and kept on the GPU.
//
// Points are atoms in the caller's order. A row is an owned atom and its partners, which are
// points. Few rows are empty. Rows come from one of these sources:
//
// - the search (pair_search.h). Points are the atoms of the groups. If the search lists no
//   partners, the points are sorted into bins for the cell processor. A row is then only an owned
//   atom, and its view has only n, nvalue and atom.
// - the neighbor list of the caller (caller_neighbors.h). All atoms become points.
//
// Rows of any source are packed into tiles (row_tiles.h) or blocks (row_blocks.h).
//
// Types with different functions are sorted into classes. Classes that share a list form a part
// (class_parts.h). One kernel per formula evaluates all pairs of a part with per-pair constants.

#ifndef GPUCOORD_RESIDENT_PAIRS_H
#define GPUCOORD_RESIDENT_PAIRS_H

#include "../gpu/cuda_tuning.h"
#include "caller_neighbors.h"
#include "class_parts.h"
#include "device_rows.h"
#include "pair_search.h"
#include "points.h"
#include "rebuild_memory.h"
#include "row_tiles.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace gpucoord {

class ResidentPairs {
 public:
  ResidentPairs(const SwitchTable &, Precision, const double *weight, Listing);

  void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version, cudaStream_t);
  // Reads the positions of the points. Returns at once if 'positions' is nonzero and has the same
  // value as in the previous call.
  void update(const DeviceAtoms &, std::int64_t positions, cudaStream_t);
  Points &points() { return all_points; }

  struct Rows {
    int part_i, part_j;
    DeviceRows view;
    int i = 0, j = 0;    // indices of lists of sorted atoms, if partners are found in bins
  };
  const std::deque<Rows> &rows() const { return all_rows; }
  // Number of elements of partners in the first rows (device_rows.h).
  std::size_t nelements() const { return row_buffers.front().nelements; }
  bool in_bins() const { return search.in_bins(); }
  const BinGrid &bins_grid() const { return search.atoms().grid(); }
  // Sorted atoms of a list. Its points have the same order.
  const SortedAtoms &sorted_atoms(int list) const { return search.atoms()[list].sorted; }
  int first_point_of(int list) const { return search.atoms()[list].first_point; }
  // Number of points of group a. They are the first points.
  int npoints_of_a() const { return counts().na; }
  // Distance by which two atoms may approach each other before the next rebuild.
  double allowed_approach() const { return search.allowed_approach(); }
  const TypeClasses &classes() const { return parts.classes(); }
  const std::vector<int> &classes_of(int part) const { return parts.classes_of(part); }
  bool groups_overlap() const { return counts().overlap; }
  bool has_two_groups() const { return counts().two; }
  std::int64_t natoms(int group) const { return counts().nowned[group]; }
  std::int64_t nrebuilds() const { return rebuilds; }
  std::size_t bytes() const;
  std::int64_t bytes_copied() const { return memory.copied; }    // between host and device

 private:
  const PointCounts &counts() const { return search.atoms().counts(); }
  int min_threads(int part_i, int part_j) const;
  void use_neighbors(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  void use_search(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  void list_rows_in_bins();
  void find_rows(int part_i, int part_j, cudaStream_t);

  const bool precise;
  const Listing listing;
  ClassParts parts;
  Points all_points;
  RebuildMemory memory;
  RowTiles tiles;
  // The sources of pairs.
  PairSearch search;
  CallerNeighbors caller_neighbors;
  std::deque<RowBuffers> row_buffers;    // [part_i][part_j]
  std::deque<Rows> all_rows;

  std::int64_t rebuilds = 0, known_version = 0, known_positions = 0;
};

// Selects lists or the cell processor as the tuning allows.
std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &, Precision,
                                                   const double *weight, const CudaTuning &);

}    // namespace gpucoord

#endif
