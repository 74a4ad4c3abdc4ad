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

#include "compute_coord_force.h"

#include "bias_board.h"
#include "fix_coord_bias.h"

#include "atom.h"
#include "error.h"
#include "memory.h"
#include "modify.h"
#include "update.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   compute ID group coord/force fix-ID
------------------------------------------------------------------------- */

static constexpr int FIX = 3;    // index of its argument

static const char *fix_of(LAMMPS *lmp, int narg, char **arg)
{
  if (narg <= FIX) utils::missing_cmd_args(FLERR, "compute coord/force", lmp->error);
  if (narg > FIX + 1)
    lmp->error->all(FLERR, FIX + 1,
                    "Compute coord/force takes the ID of one fix, but {} follows {} - define a "
                    "compute for each fix",
                    arg[FIX + 1], arg[FIX]);
  return arg[FIX];
}

ComputeCoordForce::ComputeCoordForce(LAMMPS *lmp, int narg, char **arg) :
    Compute(lmp, narg, arg), fix_id(fix_of(lmp, narg, arg)), board(BiasBoard::get(lmp)), nmax(0)
{
  find_fix(FIX);
  peratom_flag = 1;
  size_peratom_cols = 3;
}

ComputeCoordForce::~ComputeCoordForce()
{
  memory->destroy(array_atom);
}

void ComputeCoordForce::init()
{
  find_fix(Error::NOLASTLINE);
}

// Collective. position: of the argument that an error points at, or Error::NOLASTLINE. The fix may
// have been deleted or defined again since the last call.
FixCoordBias *ComputeCoordForce::find_fix(int position) const
{
  Fix *const fix = modify->get_fix_by_id(fix_id);
  if (!fix)
    error->all(FLERR, position,
               "Compute coord/force {}: fix {} does not exist - define it before this compute, and "
               "keep it while the compute is used",
               id, fix_id);
  auto *const bias = dynamic_cast<FixCoordBias *>(fix);
  if (!bias)
    error->all(FLERR, position,
               "Compute coord/force {}: fix {} is of style {}, which has no bias on collective "
               "variables - give the ID of a fix coord/bias or coord/plumed",
               id, fix_id, fix->style);
  return bias;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordForce::compute_peratom()
{
  FixCoordBias *const fix = find_fix(Error::NOLASTLINE);
  if (!fix->has_forces_of_this_step())
    error->all(FLERR, Error::NOLASTLINE,
               "Compute coord/force {}: fix {} has no forces of timestep {} yet - use run 0 first, "
               "and define fixes that read them after fix {}",
               id, fix_id, update->ntimestep, fix_id);
  invoked_peratom = update->ntimestep;
  triclinic_warning.warn(lmp, fmt::format("Compute coord/force {}", id), "forces");
  if (atom->nmax > nmax) {
    memory->destroy(array_atom);
    nmax = atom->nmax;
    memory->create(array_atom, nmax, size_peratom_cols, "coord/force:array_atom");
  }
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i) std::fill_n(array_atom[i], size_peratom_cols, 0.0);
  fix->add_forces_to(array_atom);
  if (igroup == 0) return;
  board->atoms_to_host();
  for (int i = 0; i < nlocal; ++i)
    if (!(atom->mask[i] & groupbit)) std::fill_n(array_atom[i], size_peratom_cols, 0.0);
}

double ComputeCoordForce::memory_usage()
{
  // The array with pointers to its rows
  return static_cast<double>(nmax) * (size_peratom_cols * sizeof(double) + sizeof(double *));
}
