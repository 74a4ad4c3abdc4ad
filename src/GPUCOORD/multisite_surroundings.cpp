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

#include "multisite_surroundings.h"

#include "gpucoord_ghost_atoms.h"
#include "multisite_lammps_internals.h"

#include "atom.h"
#include "atom_vec.h"
#include "comm.h"
#include "error.h"
#include "force.h"
#include "group.h"
#include "input.h"
#include "molecule.h"
#include "neighbor.h"
#include "pair_hybrid.h"
#include "utils.h"

#include <cstring>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

MultisiteSurroundings::MultisiteSurroundings(LAMMPS *lmp, const std::vector<int> &component_of_in) :
    Pointers(lmp), component_of(component_of_in)
{
}

std::vector<Pair *> MultisiteSurroundings::sub_styles(Pair *pair)
{
  if (!pair) return {};
  auto *const hybrid = dynamic_cast<PairHybrid *>(pair);
  return hybrid ? LammpsInternals::sub_styles(hybrid) : std::vector<Pair *>{pair};
}

/* ---------------------------------------------------------------------- */

void MultisiteSurroundings::check() const
{
  // rerun reads no quaternions from a dump, so that molecules would keep their orientations.
  if (input->command && strcmp(input->command, "rerun") == 0)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite cannot be used in a rerun, which reads positions but no quaternions "
               "- use read_restart or "
               "read_data and run 0 for each configuration");
  if (comm->mode != Comm::SINGLE)
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite cannot use the ghost atoms of comm_modify mode multi, whose range "
               "may be shorter than its cutoff - use mode single");
  if (GhostAtoms::are_of_a_group(comm))
    error->all(FLERR, Error::NOLASTLINE,
               "Pair multisite cannot use the ghost atoms of comm_modify group, which lack "
               "molecules - remove it by "
               "comm_modify group all");
  check_exclusions();
  check_bonds();
}

void MultisiteSurroundings::refuse(const std::string &what) const
{
  error->all(FLERR, Error::NOLASTLINE, "Pair multisite computes all pairs of its molecules, but {}",
             what);
}

/* ----------------------------------------------------------------------
   The cutoff bins hold all molecules. There is no neighbor list that could exclude pairs.
------------------------------------------------------------------------- */

void MultisiteSurroundings::check_exclusions() const
{
  for (int k = 0; k < neighbor->nex_type; ++k)
    if (is_ours(neighbor->ex1_type[k]) && is_ours(neighbor->ex2_type[k]))
      refuse(fmt::format(
          "neigh_modify exclude type {} {} excludes some - use neigh_modify exclude none",
          neighbor->ex1_type[k], neighbor->ex2_type[k]));
  int mine = 0, groups;    // union of the molecules' group masks
  for (int i = 0; i < atom->nlocal; ++i)
    if (is_ours(atom->type[i])) mine |= atom->mask[i];
  MPI_Allreduce(&mine, &groups, 1, MPI_INT, MPI_BOR, world);
  for (int k = 0; k < neighbor->nex_group; ++k)
    if ((groups & group->bitmask[neighbor->ex1_group[k]]) &&
        (groups & group->bitmask[neighbor->ex2_group[k]]))
      refuse("neigh_modify exclude group excludes some - use neigh_modify exclude none");
  for (int k = 0; k < neighbor->nex_mol; ++k)
    if (groups & group->bitmask[neighbor->ex_mol_group[k]])
      refuse(
          fmt::format("neigh_modify exclude molecule of group {} excludes some - use neigh_modify "
                      "exclude none, and give exclude molecule a group without them",
                      group->names[neighbor->ex_mol_group[k]]));
  if (neighbor->includegroup)
    refuse("neigh_modify include excludes some - use neigh_modify include all");
  if (utils::strmatch(force->pair_style, "^hybrid/molecular"))
    refuse("pair_style hybrid/molecular selects those within or between the molecules of atoms - "
           "use hybrid or hybrid/overlay");
}

/* ----------------------------------------------------------------------
   Atoms of other styles may be bonded with any special weights.
------------------------------------------------------------------------- */

void MultisiteSurroundings::check_bonds() const
{
  const double *const lj = force->special_lj, *const coul = force->special_coul;
  bool is_weighted = false;
  for (int k = 1; k <= 3; ++k) is_weighted = is_weighted || lj[k] != 1.0 || coul[k] != 1.0;
  if (atom->molecular == Atom::ATOMIC || !is_weighted) return;

  const auto count = [this](int i) {    // returns the number of atoms within three bonds
    if (atom->molecular == Atom::MOLECULAR) return atom->nspecial[i][2];
    const int molecule = atom->molindex[i];    // atom_style template
    if (molecule < 0) return 0;
    int **const nspecial = atom->avec->onemols[molecule]->nspecial;
    return nspecial ? nspecial[atom->molatom[i]][2] : 0;
  };
  int mine = 0, any;
  for (int i = 0; i < atom->nlocal; ++i)
    if (is_ours(atom->type[i]) && count(i) > 0) mine = 1;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
  if (any)
    refuse(fmt::format("some are bonded, for which special_bonds has the weights {} {} {} (lj) and "
                       "{} {} {} (coul) - use special_bonds lj/coul 1 1 1",
                       lj[1], lj[2], lj[3], coul[1], coul[2], coul[3]));
}
