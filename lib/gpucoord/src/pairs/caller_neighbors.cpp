// Part of GPUCOORD, GPL-2.0. Takes the pairs of the caller's neighbor list.

#include "caller_neighbors.h"

#include "../gpu/tuning.h"

namespace gpucoord {

DeviceRows CallerNeighbors::rows(const DeviceAtoms &atoms, const DeviceNeighbors &neighbors,
                                 const Settings &settings, std::deque<RowBuffers> &buffers,
                                 cudaStream_t stream)
{
  const int n = atoms.nlocal;
  // Half of the capacity is about the number of neighbors of an atom in a liquid.
  if (rebuilds_in_tiles > 0)
    --rebuilds_in_tiles;
  else if (settings.points_are_integers &&
           RowBlockBuilder::are_for(n, atoms.nall, neighbors.capacity, neighbors.capacity / 2)) {
    if (!blocks) blocks = std::make_unique<RowBlockBuilder>();
    DeviceRows view = {};    // point and atom stay null: equal to the row's index
    view.n = view.nvalue = n;
    view.blocks = blocks->build(atoms, neighbors, settings.reach, stream);
    memory.copied += sizeof(int);
    if (view.blocks.partner) {
      buffers.clear();    // unused tiles
      return view;
    }
    rebuilds_in_tiles = tuning::LISTS_BEFORE_BLOCKS_AGAIN;
  }
  blocks.reset();
  if (buffers.empty()) buffers.emplace_back();
  return tiles.copy(neighbors, n, settings.min_threads, buffers.front(), stream);
}

}    // namespace gpucoord
