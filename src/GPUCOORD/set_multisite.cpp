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

#include "set_multisite.h"

#include "gpucoord_lammps_compat.h"
#include "multisite_shape.h"
#include "pair_multisite.h"

#include "atom.h"
#include "atom_vec_ellipsoid.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   set_multisite GROUP: sets masses and shapes of molecules from their components.
------------------------------------------------------------------------- */

void SetMultisite::command(int narg, char **arg)
{
  if (!domain->box_exist)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Set_multisite needs the simulation box - give it after create_box or read_data");
  if (narg != 1)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Set_multisite needs one group, for example: set_multisite all");
  const int igroup = group->find(arg[0]);
  if (igroup < 0)
    error->all(FLERR, Error::ARGZERO, "Set_multisite: group {} does not exist", arg[0]);
  const int groupbit = group->bitmask[igroup];

  auto *const avec = dynamic_cast<AtomVecEllipsoid *>(atom->style_match("ellipsoid"));
  if (!avec)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Set_multisite needs atom_style ellipsoid, not {}", atom->get_style());
  if (LammpsCompat::has_superellipsoids(atom))
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Set_multisite needs atom_style ellipsoid without superellipsoid");
  const auto component_of_type = PairMultisite::components_of_types(lmp);
  if (component_of_type.empty())
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Set_multisite needs pair_style multisite and its pair_coeff, which define "
               "molecules - give them first");

  std::vector<const gpucoord::Component *> components;    // without duplicates
  std::vector<int> index(component_of_type.size(), -1);
  for (std::size_t type = 1; type < component_of_type.size(); ++type) {
    if (!component_of_type[type]) continue;
    const auto known = std::find(components.begin(), components.end(), component_of_type[type]);
    index[type] = static_cast<int>(known - components.begin());
    if (known == components.end()) components.push_back(component_of_type[type]);
  }
  std::vector<bigint> mine(components.size(), 0), count(components.size(), 0);
  for (int i = 0; i < atom->nlocal; ++i) {
    const int c = index[atom->type[i]];
    if ((atom->mask[i] & groupbit) && c >= 0) ++mine[c];
  }
  MPI_Allreduce(mine.data(), count.data(), static_cast<int>(components.size()), MPI_LMP_BIGINT,
                MPI_SUM, world);

  // Check all components before any atom changes.
  bigint all = 0;
  for (std::size_t c = 0; c < components.size(); ++c) {
    all += count[c];
    if (count[c] > 0 && MultisiteShape::half_axes(*components[c])[0] == 0.0 &&
        MultisiteShape::feels_torque(*components[c]))
      error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
                 "Set_multisite: component {} has no moments of inertia, but torques act on its "
                 "sites - give it a line 'inertia Ix Iy Iz' in its file",
                 components[c]->name);
    const std::string why = MultisiteShape::torque_about_axis(*components[c]);
    if (count[c] > 0 && !why.empty() && comm->me == 0)
      error->warning(FLERR, "Set_multisite: {}", why);
  }
  if (all == 0)
    error->all(
        FLERR, Error::ARGZERO,
        "Set_multisite: no atom of group {} is of a type to which pair_coeff gives a component",
        arg[0]);

  for (int i = 0; i < atom->nlocal; ++i) {
    const int c = index[atom->type[i]];
    if (!(atom->mask[i] & groupbit) || c < 0) continue;
    atom->rmass[i] = components[c]->mass;
    auto half = MultisiteShape::half_axes(*components[c]);
    // A body with one site becomes a sphere of diameter 1, because LAMMPS has no ellipsoid of size
    // 0. No torque acts on it.
    if (half[0] == 0.0) half = {0.5, 0.5, 0.5};
    avec->set_shape(i, half[0], half[1], half[2]);
  }
  bigint ellipsoids = avec->nlocal_bonus;
  MPI_Allreduce(&ellipsoids, &atom->nellipsoids, 1, MPI_LMP_BIGINT, MPI_SUM, world);

  for (std::size_t c = 0; c < components.size(); ++c)
    if (count[c] > 0 && comm->me == 0)
      utils::logmesg(lmp,
                     "Set_multisite: {} molecules of {}, mass {:.8g}, moments of inertia {:.8g} "
                     "{:.8g} {:.8g}\n",
                     count[c], components[c]->name, components[c]->mass, components[c]->inertia[0],
                     components[c]->inertia[1], components[c]->inertia[2]);
}
