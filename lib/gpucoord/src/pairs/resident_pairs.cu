// Part of GPUCOORD, GPL-2.0. Lists pairs of atoms in reach, from one of the sources of pairs.

#include "resident_pairs.h"

#include "../gpu/tuning.h"
#include "found_rows.cuh"
#include "passes.h"

#include <stdexcept>

namespace gpucoord {

ResidentPairs::ResidentPairs(const SwitchTable &table, Precision precision, const double *weight,
                             Listing listing_in) :
    precise(precision == Precision::DOUBLE),
    listing(listing_in), parts(table, weight, listing == Listing::ALWAYS), all_points(table.dmax()),
    tiles(memory), search(listing, parts, all_points, memory), caller_neighbors(tiles, memory)
{
}

void ResidentPairs::rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection,
                            std::int64_t version, cudaStream_t stream)
{
  if (version != 0 && version == known_version) return;
  clear_errors();
  known_version = known_positions = 0;
  ++rebuilds;
  all_rows.clear();
  const bool all_atoms = selection.neighbors.neighbor;
  if (all_atoms)
    use_neighbors(atoms, selection, stream);
  else
    use_search(atoms, selection, stream);
  all_points.build(atoms, all_atoms ? nullptr : search.atoms().atom_of(), counts().n,
                   parts.class_of_type(), precise || in_bins(), selection, stream);
  known_version = version;
}

int ResidentPairs::min_threads(int part_i, int part_j) const
{
  if (listing == Listing::ALWAYS) return tuning::TARGET_ORDER_THREADS;    // order parameters
  const bool has_one_function = classes_of(part_i).size() == 1 && classes_of(part_j).size() == 1;
  return has_one_function ? tuning::TARGET_THREADS : tuning::TARGET_CLASS_THREADS;
}

/* ----------------------------------------------------------------------
   the neighbor list of the caller
------------------------------------------------------------------------- */

void ResidentPairs::use_neighbors(const DeviceAtoms &atoms, const DeviceSelection &selection,
                                  cudaStream_t stream)
{
  if (selection.bit_b != 0 || classes().size() > 1)
    throw std::invalid_argument(
        "gpucoord: the neighbor list of the caller serves one group and one class of types");
  search.take_all(atoms, selection);
  if (atoms.nlocal == 0) return;
  const CallerNeighbors::Settings settings = {parts.longest_range() + selection.skin,
                                              min_threads(0, 0), !precise};
  all_rows.push_back(
      {0, 0, caller_neighbors.rows(atoms, selection.neighbors, settings, row_buffers, stream)});
}

/* ----------------------------------------------------------------------
   the search
------------------------------------------------------------------------- */

void ResidentPairs::use_search(const DeviceAtoms &atoms, const DeviceSelection &selection,
                               cudaStream_t stream)
{
  caller_neighbors.release();
  const bool parts_changed = search.select(atoms, selection, stream);
  // Free memory first. These buffers belong to the previous parts, or partner lists, which may be
  // large, are not needed.
  if (parts_changed || in_bins()) row_buffers.clear();
  if (in_bins()) search.release_partners();
  search.sort(atoms, stream);
  if (in_bins()) {
    list_rows_in_bins();
    return;
  }
  for (int i = 0; i < parts.size() && counts().n > 0; ++i)
    for (int j = 0; j < parts.size(); ++j)
      if (parts.range_between(i, j) >= 0.0 && search.has_candidates(i, j)) find_rows(i, j, stream);
}

// Lists the rows of owned atoms of each class with atoms of another class. If there are two groups,
// also lists the rows of the second group with the first one.
void ResidentPairs::list_rows_in_bins()
{
  const AtomLists &lists = search.atoms();
  const bool two = has_two_groups();
  for (int ci = 0; ci < classes().size(); ++ci)
    for (int cj = 0; cj < classes().size(); ++cj) {
      if (!classes()(ci, cj).exists()) continue;
      const int a = lists.index(0, ci), b = lists.index(two ? 1 : 0, cj);
      for (const bool second : {false, true}) {
        const int i = second ? b : a, j = second ? a : b;
        if ((second && !two) || lists[i].nowned == 0 || lists[j].n == 0) continue;
        DeviceRows view = {};
        view.n = lists[i].nowned;
        view.nvalue = second ? 0 : view.n;
        view.atom = lists[i].selected.data();
        all_rows.push_back({ci, cj, view, i, j});    // here, parts are classes
      }
    }
}

void ResidentPairs::find_rows(int i, int j, cudaStream_t stream)
{
  const std::size_t index = static_cast<std::size_t>(i) * parts.size() + j;
  while (row_buffers.size() <= index) row_buffers.emplace_back();
  RowBuffers &buffers = row_buffers[index];
  // The old rows are no longer needed.
  if (search.partners().bytes() < buffers.partner.bytes()) search.partners().swap(buffers.partner);
  const FoundRows rows = search.find(i, j, stream);
  if (rows.n > 0)
    all_rows.push_back(
        {i, j, tiles.pack(rows, search.partners(), min_threads(i, j), buffers, stream)});
}

/* ---------------------------------------------------------------------- */

void ResidentPairs::update(const DeviceAtoms &atoms, std::int64_t positions, cudaStream_t stream)
{
  if (positions != 0 && positions == known_positions) return;
  all_points.update(atoms, stream);
  known_positions = positions;
}

std::size_t ResidentPairs::bytes() const
{
  std::size_t total = all_points.bytes() + memory.bytes() + parts.bytes() + search.bytes() +
      caller_neighbors.bytes() + tiles.bytes();
  for (const RowBuffers &buffers : row_buffers) total += buffers.bytes();
  return total;
}

std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &table, Precision precision,
                                                   const double *weight, const CudaTuning &tuning)
{
  check_kernels();
  need_end(table, "cells");
  return std::make_shared<ResidentPairs>(table, precision, weight,
                                         tuning.keeps_lists ? Listing::AUTO : Listing::NEVER);
}

std::shared_ptr<ResidentPairs> make_resident_pairs(const SwitchTable &table, Precision precision,
                                                   const double *weight)
{
  return make_resident_pairs(table, precision, weight, CudaTuning());
}

}    // namespace gpucoord
