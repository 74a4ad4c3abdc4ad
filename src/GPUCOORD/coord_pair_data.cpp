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

#include "coord_pair_data.h"

#include "coord_arguments.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <utility>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

CoordPairData::CoordPairData(LAMMPS *lmp, const std::string &owner, int igroup_in,
                             std::unique_ptr<CoordArguments> args_in, GhostNumbers &ghosts_in) :
    Pointers(lmp),
    name(owner), igroup(igroup_in), groupbit(group->bitmask[igroup]), args(std::move(args_in)),
    table(std::make_unique<gpucoord::SwitchTable>(args->table())),
    function(args->function ? std::make_unique<gpucoord::AtomFunction>(*args->function) : nullptr),
    within(args->within ? std::make_unique<CoordWithin>(lmp, name, *args->within,
                                                        args->norm == CoordArguments::Norm::MEAN)
                        : nullptr),
    ghosts(ghosts_in), selected(lmp), paths(lmp, name, *args, *table)
{
}

CoordPairData::~CoordPairData() = default;

/* ---------------------------------------------------------------------- */

std::string CoordPairData::dynamic_group() const
{
  if (group->dynamic[igroup]) return group->names[igroup];
  for (const std::string &other : {args->group2, within ? within->center_group() : ""}) {
    const int igroup_of_other = other.empty() ? -1 : group->find(other);
    if (igroup_of_other >= 0 && group->dynamic[igroup_of_other]) return other;
  }
  return "";
}

std::string CoordPairData::not_finite(int row, double s) const
{
  const auto terms = args->terms();
  return fmt::format("{}: function {} or its derivative is not a finite number at {} = {:.10g}{} - "
                     "use a function that is finite and smooth at all {}",
                     name, function->description(), terms.symbol, s, atom_text(row), terms.plural);
}

std::string CoordPairData::atom_text(int row) const
{
  return atom->tag_enable ? fmt::format(" of atom ID {}", atom->tag[row]) : "";
}

void CoordPairData::out_of_memory() const
{
  error->one(FLERR, Error::NOLASTLINE,
             "{}: out of memory on rank {} with {} atoms of the groups - use more "
             "ranks or a smaller {}",
             name, comm->me, selected.nall(), args->range_word());
}

double CoordPairData::memory_usage() const
{
  return selected.memory_usage() + numbers.memory_usage() + (within ? within->memory_usage() : 0.0);
}
