// Part of GPUCOORD, GPL-2.0. Pairs of atoms in reach, found and kept on the GPU.
//
// Atoms of the groups become points, in the caller's order. Bins serve only to find pairs; they are
// not built if there are so few atoms that all pairs can be tested. A row is an owned atom and its
// partners, which are points. Few rows are empty. If the caller has a neighbor list, all atoms
// become points.
//
// Partners are not listed if atoms have very many of them, if the pairs are evaluated only once, or
// if integers cannot resolve the positions (can_resolve()). The points, in double, are then sorted
// into bins for the cell processor. It extends its search by the possible moves since the rebuild.
// A row is then only an owned atom, and its view has only n, nvalue and atom.
//
// Types with different functions are sorted into classes. Classes that share a list form a part.
// Classes that mostly have functions with each other are one part, and one kernel per formula
// evaluates all their pairs with per-pair constants. In bins, and if there are many formulas, each
// class is a part.

#ifndef GPUCOORD_RESIDENT_PAIRS_H
#define GPUCOORD_RESIDENT_PAIRS_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "../gpu/cuda_tuning.h"
#include "points.h"
#include "row_blocks.h"
#include "rows_cuda.h"

#include "../switching/type_classes.h"

#include "gpucoord/pairs.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace gpucoord {

struct Candidates;
struct MasksOfGroups;
struct Reach;
struct Search;

// Selects whether partners are listed. ALWAYS also makes one part of all classes, so that an atom
// has one row per group.
enum class Listing { AUTO, NEVER, ALWAYS };

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
  // Number of elements of partners in the first rows (rows_cuda.h).
  std::size_t nelements() const { return row_buffers.front().nelements; }
  bool in_bins() const { return uses_bins; }
  const BinGrid &bins_grid() const { return grid; }
  // Sorted atoms of a list. Its points have the same order.
  const SortedAtoms &sorted_atoms(int list) const { return sorted[list]; }
  int first_point_of(int list) const { return first_point[list]; }
  // Number of points of group a. They are the first points.
  int npoints_of_a() const { return two ? first_point[part_index(1, 0)] : n_points; }
  // Distance by which two atoms may approach each other before the next rebuild.
  double allowed_approach() const { return skin; }
  const TypeClasses &classes() const { return type_classes; }
  const std::vector<int> &classes_of(int part) const { return parts->classes_of(part); }
  bool groups_overlap() const { return overlap; }
  bool has_two_groups() const { return two; }
  std::int64_t natoms(int group) const { return nowned[group]; }
  std::int64_t nrebuilds() const { return rebuilds; }
  std::size_t bytes() const;
  std::int64_t bytes_copied() const { return copied; }    // between host and device

 private:
  // Buffers of the rows of a pair of parts.
  struct RowBuffers {
    static constexpr int FIRST_CAPACITY = 32;
    // Number of partners of an atom that fit, a multiple of 4.
    int capacity = FIRST_CAPACITY;
    std::int64_t npartners = 0;    // number of partners of all atoms in the last rebuild
    std::size_t nelements = 0;     // number of elements of partner
    DeviceBuffer<int> point, atom, count;
    DeviceBuffer<int4> partner;
    DeviceBuffer<std::int64_t> tile;
  };

  int part_index(int group, int part) const { return group * parts->size() + part; }
  double longest_range() const;
  BinGrid grid_of_lists(const Bounds &) const;
  double range_between(int part_i, int part_j) const;
  bool ranges_differ(int part_i, int part_j) const;
  void choose_parts(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  Bounds select(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  void gather(const DeviceAtoms &, const Bounds &, cudaStream_t);
  bool can_search(const Bounds &) const;
  bool can_resolve(const Bounds &) const;
  double mean_partners(const Bounds &) const;
  void sort(const Bounds &, cudaStream_t);
  void list_rows_in_bins();
  Search search_for(int a, int b, const Candidates &, const Reach &) const;
  MasksOfGroups test_pairs(int a, int b, const Reach &, cudaStream_t);
  void find_rows(int part_i, int part_j, cudaStream_t);
  struct FoundRows;
  FoundRows search_partners(int a, int b, const Candidates &, const Reach &, RowBuffers &,
                            cudaStream_t);
  int min_threads(int part_i, int part_j) const;
  void choose_tiles(FoundRows &, int min_threads) const;
  DeviceRows compact_rows(const FoundRows &, RowBuffers &, cudaStream_t);
  void fill_tiles(const FoundRows &, RowBuffers &, DeviceRows &, cudaStream_t);
  void use_neighbors(const DeviceAtoms &, const DeviceNeighbors &, cudaStream_t);
  void wait_for_numbers(int n, cudaStream_t);
  double search_unit() const;

  const bool precise;
  const Listing listing;
  const TypeClasses type_classes;
  const ClassGroups groups_of_classes, single_classes;
  const bool groups_are_worthwhile;
  const ClassGroups *parts = &groups_of_classes;
  Points all_points;
  std::vector<double> ranges;    // dmax by index of the function, distance
  double skin = 0.0;
  bool two = false, overlap = false, all_atoms = false;
  bool few = false;          // few atoms: all pairs are tested, without bins
  bool uses_bins = false;    // points are sorted into bins, and no partners are listed
  std::int64_t nowned[2] = {0, 0};
  std::int64_t copied = 0, rebuilds = 0;
  std::int64_t known_version = 0, known_positions = 0;

  DeviceBuffer<int> class_of_type, group_of_type;
  DeviceBuffer<float> range_of_classes;    // see Reach::range
  BinGrid grid = {};
  // Indexed by group and part; see part_index().
  std::deque<DeviceBuffer<int>> selected;
  std::deque<DeviceBuffer<DeviceAtom>> gathered;
  std::deque<Bins> bins;
  std::deque<DeviceBuffer<int4>> search_points;    // in sorted order
  std::vector<int> n_of, nowned_of, first_point;
  std::vector<SortedAtoms> sorted;
  int n_points = 0;

  DeviceBuffer<int> atom_of;

  // Memory of a rebuild.
  DeviceBuffer<std::int64_t> numbers;
  PinnedBuffer<std::int64_t> numbers_host;
  DeviceBuffer<char> workspace;
  DeviceBuffer<std::uint32_t> mask_words;
  DeviceBuffer<int> candidate_count, active;
  DeviceBuffer<int4> found;
  DeviceBuffer<std::int64_t> offset;
  std::deque<RowBuffers> row_buffers;
  std::unique_ptr<RowBlockBuilder> row_blocks;    // null: rows are in tiles
  int rebuilds_in_tiles = 0;                      // number of further rebuilds without blocks
  std::deque<Rows> all_rows;
};

// Selects lists or the cell processor as the tuning allows.
std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &, Precision,
                                                   const double *weight, const CudaTuning &);

}    // namespace gpucoord

#endif
