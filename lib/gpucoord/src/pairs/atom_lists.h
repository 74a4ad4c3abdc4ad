// Part of GPUCOORD, GPL-2.0. Lists of the atoms of each part of both groups on the GPU.
//
// The atoms of the groups become points, in the caller's order: list after list, group a first.

#ifndef GPUCOORD_ATOM_LISTS_H
#define GPUCOORD_ATOM_LISTS_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "class_parts.h"
#include "rebuild_memory.h"

#include "gpucoord/pairs.h"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace gpucoord {

// Numbers of the atoms of the groups.
struct PointCounts {
  int n = 0;                          // number of points
  int na = 0;                         // number of points of group a, which come first
  bool two = false;                   // there are two groups
  bool overlap = false;               // an owned atom is in both groups
  std::int64_t nowned[2] = {0, 0};    // number of owned atoms of each group
};

class AtomLists {
 public:
  struct List {
    int n = 0, nowned = 0, first_point = 0;
    SortedAtoms sorted = {};    // its points have the same order, if partners are found in bins
    DeviceBuffer<int> selected;
    DeviceBuffer<DeviceAtom> gathered;
    Bins bins;
    DeviceBuffer<int4> search_points;    // in sorted order
  };

  // The parts and the memory must stay valid.
  AtomLists(const ClassParts &parts_in, RebuildMemory &memory_in) :
      parts(parts_in), memory(memory_in)
  {
  }

  // Makes all atoms points of group a, without lists.
  void take_all(const DeviceAtoms &);
  // Selects the atoms of each list and waits for their numbers. Returns the bounds of the atoms.
  Bounds select(const DeviceAtoms &, const DeviceSelection &, cudaStream_t);
  // Copies the positions of the selected atoms.
  void gather(const DeviceAtoms &, cudaStream_t);
  // Sorts each list. Points of the search have this unit (distance).
  void sort_for_search(const BinGrid &, double unit, cudaStream_t);
  // Sorts each list for the cell processor. points: receives the points of all lists
  void sort_into_bins(const BinGrid &, DeviceAtom *points, cudaStream_t);

  // Returns the list of a part of a group.
  int index(int group, int part) const { return group * parts.size() + part; }
  const List &operator[](int list) const { return lists[list]; }
  int longest() const;    // returns the largest number of atoms of a list
  const PointCounts &counts() const { return totals; }
  const int *atom_of() const { return rows.data(); }    // [points] row of the caller's arrays
  const BinGrid &grid() const { return sorted_grid; }
  std::size_t bytes() const;

 private:
  const ClassParts &parts;
  RebuildMemory &memory;
  int nlists = 0;
  std::deque<List> lists;    // the first nlists are in use
  PointCounts totals;
  DeviceBuffer<int> rows;
  BinGrid sorted_grid = {};
};

}    // namespace gpucoord

#endif
