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

#include "bias_respa_level.h"

#include "gpucoord_lammps_compat.h"

#include "fix.h"
#include "library.h"
#include "respa.h"
#include "update.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

BiasRespaLevel::BiasRespaLevel(LAMMPS *lmp) :
    Pointers(lmp), level(0), evaluations_per_step(1), evaluations_done(0), last_step(-1)
{
}

// Returns null for any other integrator.
static Respa *respa_of(const Update *update)
{
  const bool is_respa = utils::strmatch(update->integrate_style, "^respa");
  return is_respa ? static_cast<Respa *>(update->integrate) : nullptr;
}

int BiasRespaLevel::outermost() const
{
  return *static_cast<int *>(lammps_extract_global(lmp, "respa_levels")) - 1;
}

int BiasRespaLevel::index_of(const Fix *fix) const
{
  if (!respa_of(update)) return 0;
  const bool is_asked = fix->respa_level_support && fix->respa_level >= 0;
  return is_asked ? MIN(fix->respa_level, outermost()) : outermost();
}

void BiasRespaLevel::find(const Fix *fix)
{
  evaluations_per_step = 1;
  Respa *const respa = respa_of(update);
  if (!respa) return;
  level = index_of(fix);
  evaluations_per_step = LammpsCompat::respa_evaluations(lmp, respa, level, outermost());
}

double BiasRespaLevel::timestep() const
{
  return update->dt / evaluations_per_step;
}

// With run pre no, run_style may follow init().
void BiasRespaLevel::begin_setup()
{
  evaluations_done = 0;
  Respa *const respa = respa_of(update);
  if (respa) respa->copy_flevel_f(level);
}

void BiasRespaLevel::end_setup()
{
  Respa *const respa = respa_of(update);
  if (respa) respa->copy_f_flevel(level);
}

bool BiasRespaLevel::is_last_evaluation()
{
  if (update->ntimestep != last_step) evaluations_done = 0;
  last_step = update->ntimestep;
  ++evaluations_done;
  return evaluations_done == evaluations_per_step;
}
