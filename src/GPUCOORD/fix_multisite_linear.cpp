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

// A linear molecule has no moment of inertia about its axis. LAMMPS' ellipsoids have a tiny one
// there. The smallest torque about the axis, from rounding errors or from a thermostat, would make
// the molecule spin. This fix removes torque and angular momentum about the axis.

#include "fix_multisite_linear.h"

#include "gpucoord/bytes_of.h"
#include "multisite_bodies.h"
#include "multisite_lammps_internals.h"
#include "multisite_shape.h"
#include "pair_multisite.h"

#include "atom.h"
#include "comm.h"
#include "compute.h"
#include "error.h"
#include "group.h"
#include "math_extra.h"
#include "modify.h"
#include "respa.h"
#include "update.h"

#include <cmath>

using namespace LAMMPS_NS;
using namespace FixConst;

/* ---------------------------------------------------------------------- */

FixMultisiteLinear::FixMultisiteLinear(LAMMPS *lmp, int narg, char **arg) : Fix(lmp, narg, arg)
{
  if (narg > 3)
    error->all(FLERR, 3, "Fix multisite/linear takes no arguments, but there is '{}'", arg[3]);
  nevery = 1;
  respa_level_support = 0;
  dynamic_group_allow = 1;
}

int FixMultisiteLinear::setmask()
{
  return PRE_NEIGHBOR | POST_FORCE | POST_FORCE_RESPA | MIN_POST_FORCE | END_OF_STEP;
}

/* ---------------------------------------------------------------------- */

void FixMultisiteLinear::init()
{
  if (!MultisiteBodies(atom))
    error->all(FLERR, Error::NOLASTLINE, "Fix multisite/linear needs atom_style ellipsoid, not {}",
               atom->get_style());
  const auto component_of_type = PairMultisite::components_of_types(lmp);
  if (component_of_type.empty())
    error->all(FLERR, Error::NOLASTLINE,
               "Fix multisite/linear needs pair_style multisite, which defines molecules");

  axis.assign(atom->ntypes + 1, -1);
  bool has_linear = false;
  for (int type = 1; type <= atom->ntypes; ++type) {
    if (!component_of_type[type]) continue;
    const auto &component = *component_of_type[type];
    axis[type] = MultisiteShape::axis_of_linear(component);
    if (axis[type] >= 0) has_linear = true;
    if (MultisiteShape::half_axes(component)[0] == 0.0 && MultisiteShape::feels_torque(component) &&
        comm->me == 0)
      error->warning(FLERR,
                     "Fix multisite/linear {} ignores component {} of type {}: without moments of "
                     "inertia, it is unknown whether it is linear",
                     id, component.name, type);
  }
  if (!has_linear && comm->me == 0)
    error->warning(FLERR,
                   "Fix multisite/linear {} does nothing: no component has exactly one moment of "
                   "inertia that is 0",
                   id);
}

/* ----------------------------------------------------------------------
   Calls function(i, axis) for each linear molecule of the group, with the axis in the space frame.
------------------------------------------------------------------------- */

template <typename Function> void FixMultisiteLinear::for_each_molecule(Function function) const
{
  const MultisiteBodies bodies(atom);
  for (int i = 0; i < atom->nlocal; ++i) {
    const int k = axis[atom->type[i]];
    if (k < 0 || !(atom->mask[i] & groupbit) || !bodies.has(i)) continue;
    double axes[3][3];
    MathExtra::q_to_exyz(bodies.quaternion(i), axes[0], axes[1], axes[2]);
    function(i, axes[k]);
  }
}

void FixMultisiteLinear::remove_axial_components(Vectors which)
{
  double **const vectors = which == Vectors::TORQUES ? atom->torque : atom->angmom;
  for_each_molecule([vectors](int i, const double *along) {
    const double part = MathExtra::dot3(vectors[i], along);
    for (int k = 0; k < 3; ++k) vectors[i][k] -= part * along[k];
  });
}

/* ---------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Runs before setup() of any fix. Otherwise a thermostat would compute the friction of a body that
   spins about its axis with almost no moment of inertia.
------------------------------------------------------------------------- */

void FixMultisiteLinear::setup_pre_neighbor()
{
  remove_axial_components(Vectors::ANGULAR_MOMENTA);
}

void FixMultisiteLinear::setup(int vflag)
{
  check_group();
  order_is_checked = false;
  auto *const respa = dynamic_cast<Respa *>(update->integrate);
  if (!respa) {
    post_force(vflag);
    return;
  }
  for (int level = 0; level < respa->nlevels; ++level) {    // each level has its own torques
    respa->copy_flevel_f(level);
    remove_axial_components(Vectors::TORQUES);
    respa->copy_f_flevel(level);
  }
  LammpsInternals::sum_levels(respa);
}

void FixMultisiteLinear::min_setup(int vflag)
{
  post_force(vflag);
}

void FixMultisiteLinear::post_force(int)
{
  remove_axial_components(Vectors::TORQUES);
}

void FixMultisiteLinear::post_force_respa(int vflag, int /*ilevel*/, int /*iloop*/)
{
  post_force(vflag);
}

void FixMultisiteLinear::min_post_force(int vflag)
{
  post_force(vflag);
}

// Rounding errors add angular momentum about the axis during integration.
void FixMultisiteLinear::end_of_step()
{
  if (!order_is_checked) check_order();
  remove_axial_components(Vectors::ANGULAR_MOMENTA);
}

/* ----------------------------------------------------------------------
   Fixes that are defined later may add torques after this fix has removed them.
------------------------------------------------------------------------- */

void FixMultisiteLinear::check_order()
{
  order_is_checked = true;
  atoms_to_host();
  int mine = 0, any = 0;
  for_each_molecule([&](int i, const double *along) {
    const double *const torque = atom->torque[i];
    if (std::fabs(MathExtra::dot3(torque, along)) > rounding * MathExtra::len3(torque)) mine = 1;
  });
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
  if (any)
    error->all(FLERR, Error::NOLASTLINE,
               "Fix multisite/linear {}: there are torques about the axes of linear molecules "
               "after it has removed them - define it after all fixes that add torques, such as "
               "langevin with angmom",
               id);
}

/* ----------------------------------------------------------------------
   Warns about linear molecules that are not in the group.
------------------------------------------------------------------------- */

void FixMultisiteLinear::check_group()
{
  atoms_to_host();
  bigint mine = 0, all = 0;
  for (int i = 0; i < atom->nlocal; ++i)
    if (axis[atom->type[i]] >= 0 && !(atom->mask[i] & groupbit)) ++mine;
  MPI_Allreduce(&mine, &all, 1, MPI_LMP_BIGINT, MPI_SUM, world);
  if (all > 0 && comm->me == 0)
    error->warning(FLERR,
                   "Fix multisite/linear {}: {} linear molecules are not in group {} and may heat "
                   "up by spinning about their axes",
                   id, all, group->names[igroup]);
}

/* ---------------------------------------------------------------------- */

double FixMultisiteLinear::memory_usage()
{
  return static_cast<double>(gpucoord::bytes_of(axis));
}
