// Part of GPUCOORD, GPL-2.0. A source of pairs: the search on the GPU.
//
// Bins serve only to find pairs; they are not built if there are so few atoms that all pairs can be
// tested.
//
// Partners are not listed if atoms have very many of them, if the pairs are evaluated only once, or
// if integers cannot resolve the positions (can_resolve()). The points, in double, are then sorted
// into bins for the cell processor. It extends its search by the possible moves since the rebuild.

#ifndef GPUCOORD_PAIR_SEARCH_H
#define GPUCOORD_PAIR_SEARCH_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "atom_lists.h"
#include "class_parts.h"
#include "points.h"
#include "rebuild_memory.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

struct Candidates;
struct FoundRows;
struct MasksOfGroups;
struct Reach;
struct Search;

// Selects whether partners are listed. ALWAYS also makes one part of all classes, so that an atom
// has one row per group.
enum class Listing { AUTO, NEVER, ALWAYS };

class PairSearch {
 public:
  // The other objects must stay valid.
  PairSearch(Listing, ClassParts &, Points &, RebuildMemory &);

  // Takes all atoms without a search, because their pairs have another source.
  void take_all(const DeviceAtoms &, const DeviceSelection &);
  // Selects the atoms, and chooses the parts. Returns whether parts have changed. Waits. Throws
  // DeviceError.
  bool select(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  // Copies the positions of the selected atoms, and sorts them unless they are few.
  void sort(const DeviceAtoms &, cudaStream_t);
  // Returns whether points are sorted into bins, and no partners are listed.
  bool in_bins() const { return uses_bins; }
  const AtomLists &atoms() const { return lists; }
  // Distance by which two atoms may approach each other before the next rebuild.
  double allowed_approach() const { return skin; }
  // Returns whether owned atoms of these parts may have partners.
  bool has_candidates(int part_i, int part_j) const;
  // Finds the partners in part j of the owned atoms in part i. With two groups, also finds the
  // partners in part i of the owned atoms in part j. Waits for their number.
  FoundRows find(int part_i, int part_j, cudaStream_t);
  // The partners that find() has found, and memory for the next ones. A caller may swap the buffer.
  DeviceBuffer<int4> &partners() { return found; }
  // Frees the partners: lists may be large.
  void release_partners() { DeviceBuffer<int4>().swap(found); }
  std::size_t bytes() const
  {
    return lists.bytes() + bytes_of(last) + mask_words.bytes() + candidate_count.bytes() +
        found.bytes() + offset.bytes();
  }

 private:
  // Partners of a pair of parts in the last rebuild.
  struct Last {
    static constexpr int FIRST_CAPACITY = 32;
    int capacity = FIRST_CAPACITY;    // number of partners of an atom that fit, a multiple of 4
    std::int64_t npartners = 0;       // number of partners of all atoms
  };

  Bounds select_lists(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  BinGrid grid_of_lists(const Bounds &) const;
  bool can_search(const Bounds &) const;
  bool can_resolve(const Bounds &) const;
  double mean_partners(const Bounds &) const;
  double search_unit() const;
  int list_of_a(int part) const { return lists.index(0, part); }
  int list_of_b(int part) const { return lists.index(lists.counts().two ? 1 : 0, part); }
  Candidates candidates_of(int a, int b) const;
  Search search_for(int a, int b, const Candidates &, const Reach &) const;
  MasksOfGroups test_pairs(int a, int b, const Reach &, cudaStream_t);

  const Listing listing;
  ClassParts &parts;
  Points &points;
  RebuildMemory &memory;
  AtomLists lists;
  Bounds bounds = {};    // of the selected atoms
  double skin = 0.0;
  bool few = false;    // few atoms: all pairs are tested, without bins
  bool uses_bins = false;
  std::vector<Last> last;    // [part_i][part_j]
  DeviceBuffer<std::uint32_t> mask_words;
  DeviceBuffer<int> candidate_count;
  DeviceBuffer<int4> found;
  DeviceBuffer<std::int64_t> offset;
};

}    // namespace gpucoord

#endif
