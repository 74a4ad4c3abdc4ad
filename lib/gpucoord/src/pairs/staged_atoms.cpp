// Part of GPUCOORD, GPL-2.0. Copies atoms of host arrays to the GPU.

#include "staged_atoms.h"

#include <algorithm>

namespace gpucoord {

StagedAtoms::Selection StagedAtoms::selection_of(const CellsInput &in)
{
  const std::int64_t version = in.skin > 0.0 ? in.version : 0;
  return {version, in.a.n, in.a.nowned, in.b.n, in.b.nowned, in.b.index != nullptr};
}

// Lists the rows of x to copy, owned atoms first, and the groups of these atoms.
void StagedAtoms::select(const CellsInput &in)
{
  copied = DeviceAtoms();
  owners_are = Owners::UNKNOWN;
  ++selections;
  if (!in.b.index) {
    row_of.assign(in.a.index, in.a.index + in.a.n);
    copied.nlocal = in.a.nowned;
  } else {
    int nall = 0;
    for (const AtomList *list : {&in.a, &in.b})
      for (int k = 0; k < list->n; ++k) nall = std::max(nall, list->index[k] + 1);
    std::vector<unsigned char> mask(nall, 0);
    for (int k = 0; k < in.a.n; ++k) mask[in.a.index[k]] |= BIT_A;
    for (int k = 0; k < in.b.n; ++k) mask[in.b.index[k]] |= BIT_B;
    row_of.clear();
    const auto add = [&](const AtomList &list, int begin, int end, bool without_a) {
      for (int k = begin; k < end; ++k)
        if (!without_a || !(mask[list.index[k]] & BIT_A)) row_of.push_back(list.index[k]);
    };
    add(in.a, 0, in.a.nowned, false);
    add(in.b, 0, in.b.nowned, true);
    copied.nlocal = static_cast<int>(row_of.size());
    add(in.a, in.a.nowned, in.a.n, false);
    add(in.b, in.b.nowned, in.b.n, true);
    masks.reserve(row_of.size());
    for (std::size_t k = 0; k < row_of.size(); ++k) masks.pinned[k] = mask[row_of[k]];
  }
  copied.nall = static_cast<int>(row_of.size());
  positions.reserve(row_of.size());
  if (has_types) types.reserve(row_of.size());
}

bool StagedAtoms::update(const CellsInput &in, cudaStream_t stream)
{
  const Selection now = selection_of(in);
  const bool is_known = now.version != 0 && now == known;
  known.version = 0;    // unknown until keep()
  if (!is_known) select(in);
  const bool compares = is_known && has_types;
  int differ = 0;
  send(positions, row_of.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(|                                                                         \
              : differ)
    for (std::size_t k = begin; k < end; ++k) {
      const double *const x = in.x + 3 * static_cast<std::size_t>(row_of[k]);
      positions.pinned[k] = {x[0], x[1], x[2]};
      if (compares) differ |= types.pinned[k] != in.types.type[row_of[k]];
    }
  });
  copied.x = &positions.device.data()->x;
  return is_known && differ == 0;
}

DeviceSelection StagedAtoms::prepare(const CellsInput &in, cudaStream_t stream)
{
  if (in.b.index) {
    send(masks, row_of.size(), stream, [](std::size_t, std::size_t) {
    });    // select() has filled the masks
    copied.mask = masks.device.data();
  }
  if (has_types) {
    send(types, row_of.size(), stream, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) types.pinned[k] = in.types.type[row_of[k]];
    });
    copied.type = types.device.data();
  }
  DeviceSelection selection;
  selection.bit_a = BIT_A;
  selection.bit_b = in.b.index ? BIT_B : 0;
  selection.is_evaluated_once = is_evaluated_once(in);
  selection.skin = selection.is_evaluated_once ? 0.0 : in.skin;
  return selection;
}

const int *StagedAtoms::owners(const int *owner, cudaStream_t stream)
{
  if (owners_are == Owners::COPIED) return owner_of.device.data();
  if (owners_are == Owners::MISSING) return nullptr;
  const int n = copied.nlocal;
  int nrows = 0, is_missing = 0;
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096) reduction(max : nrows)
  for (int k = 0; k < n; ++k) nrows = std::max(nrows, row_of[k] + 1);
  index_of_row.assign(nrows, -1);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096)
  for (int k = 0; k < n; ++k) index_of_row[row_of[k]] = k;
  send(owner_of, row_of.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(|                                                                         \
              : is_missing)
    for (std::size_t k = begin; k < end; ++k) {
      const int row = owner[row_of[k]];
      owner_of.pinned[k] = row < nrows ? index_of_row[row] : -1;
      is_missing |= owner_of.pinned[k] < 0;
    }
  });
  owners_are = is_missing ? Owners::MISSING : Owners::COPIED;
  return is_missing ? nullptr : owner_of.device.data();
}

}    // namespace gpucoord
