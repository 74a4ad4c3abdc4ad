/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "coord_atoms.h"

#include "atom.h"
#include "comm.h"
#include "neighbor.h"

#include <cmath>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

void CoordAtoms::set_groups(int first, int second)
{
  bit_a = first;
  bit_b = second;
}

void CoordAtoms::set_counts(std::int64_t natoms_a, std::int64_t natoms_b)
{
  nowned_a = static_cast<int>(natoms_a);
  nowned_b = static_cast<int>(natoms_b);
  nlocal_listed = NOT_LISTED;
}

bigint CoordAtoms::select()
{
  constexpr int MANY = 4096;    // smallest loop worth parallelizing
  const int nlocal = atom->nlocal;
  const int nall = nlocal + atom->nghost;
  const int *const mask = atom->mask;
  double **const x = atom->x;
  int differ = static_cast<int>(member.size()) == nall && nlocal == nlocal_listed ? 0 : 1;
  int bad = -1;
  member.resize(nall);
#pragma omp parallel for schedule(static) num_threads(comm->nthreads) if (nall > MANY) \
    reduction(max                                                                      \
              : bad) reduction(|                                                       \
                               : differ)
  for (int i = 0; i < nall; ++i) {
    const auto bits =
        static_cast<unsigned char>((mask[i] & bit_a ? 1 : 0) | (mask[i] & bit_b ? 2 : 0));
    differ |= bits != member[i];
    member[i] = bits;
    if (bits && (!std::isfinite(x[i][0]) || !std::isfinite(x[i][1]) || !std::isfinite(x[i][2])))
      bad = MAX(bad, i);
  }
  const auto build = std::make_pair(neighbor->ncalls, neighbor->lastcall);
  if (differ || build != last_build) ++lists_version;
  last_build = build;
  if (differ) list();
  if (bad < 0) return 0;
  return atom->tag_enable ? atom->tag[bad] : -1;
}

void CoordAtoms::list()
{
  nlocal_listed = NOT_LISTED;    // remains if an exception is thrown
  const int nlocal = atom->nlocal;
  const auto list_group = [this, nlocal](unsigned char bit, std::vector<int> &index) {
    int nowned = 0;
    index.clear();
    for (int i = 0; i < static_cast<int>(member.size()); ++i) {
      if (!(member[i] & bit)) continue;
      if (i < nlocal) ++nowned;
      index.push_back(i);
    }
    return nowned;
  };
  nowned_a = list_group(1, index_a);
  nowned_b = list_group(2, index_b);
  nlocal_listed = nlocal;
}

/* ---------------------------------------------------------------------- */

gpucoord::CellsInput CoordAtoms::cells_input() const
{
  static const int nothing = 0;
  gpucoord::CellsInput in;
  in.x = atom->nmax ? &atom->x[0][0] : nullptr;
  in.a = {index_a.data(), static_cast<int>(index_a.size()), nowned_a};
  in.types.type = atom->type;
  in.version = lists_version;
  in.skin = neighbor->skin;
  // An empty second group differs from no second group.
  if (bit_b)
    in.b = {index_b.empty() ? &nothing : index_b.data(), static_cast<int>(index_b.size()),
            nowned_b};
  return in;
}

double CoordAtoms::memory_usage() const
{
  return static_cast<double>(index_a.capacity() + index_b.capacity()) * sizeof(int) +
      static_cast<double>(member.capacity());
}
