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

// Checks of the ghost atoms that maps use: whether they reach far enough around the rank's part of
// the box, and whether they agree with the current owned atoms.

#include "compute_potential_grid.h"

#include "gpucoord_ghost_atoms.h"
#include "gpucoord_ghost_range.h"
#include "potential_arguments.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "neighbor.h"
#include "update.h"

#include <cstddef>
#include <string>
#include <vector>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   Every charge within the cutoff of a point must be an owned or ghost atom of this rank, until
   atoms have moved by the skin. The shell of ghost atoms surrounds the rank's part of the box, and
   points are anywhere in this part.
------------------------------------------------------------------------- */

void ComputePotentialGrid::check_ghost_shell(double cutghost) const
{
  if (comm->mode != Comm::SINGLE)
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: cannot use the ghost atoms of comm_modify mode multi - "
               "use mode single",
               id);
  if (GhostAtoms::are_of_a_group(comm))
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: cannot use the ghost atoms of comm_modify group - use "
               "comm_modify group all",
               id);
  const double extra = protrusion(), need = settings->map.cutoff + neighbor->skin + extra;
  const std::string why = GhostRange::why_too_long(need, atom, comm, domain);
  if (!why.empty())
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: cutoff plus skin {:.10g} {} - use a smaller cutoff; far "
               "fft adds all periodic images",
               id, need, why);
  if (need > cutghost * (1.0 + 1e-9))
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: cutoff plus skin {}{:.10g} exceeds the ghost atom range "
               "{:.10g} - use comm_modify "
               "cutoff {} or more",
               id,
               extra > 0.0 ? fmt::format("plus {:.10g}, by which points at corners are outside of "
                                         "a rank's part of the box, ",
                                         extra)
                           : "",
               need, cutghost, GhostAtoms::in_four_digits(need));
}

/* ----------------------------------------------------------------------
   Ghost atoms have the charges and groups of the last reneighboring. Commands may have changed
   those of the owned atoms since. After atoms were created, deleted or moved to other ranks, LAMMPS
   has no valid ghost atoms until the next run.
------------------------------------------------------------------------- */

void ComputePotentialGrid::refresh_ghosts()
{
  const auto stop_if = [this](int is_bad) {
    int any_bad;
    MPI_Allreduce(&is_bad, &any_bad, 1, MPI_INT, MPI_MAX, world);
    if (any_bad)
      error->all(FLERR, Error::NOLASTLINE,
                 "Compute potential/grid {}: atoms have been moved, created or deleted since the "
                 "last run - use run 0 first",
                 id);
  };
  bigint mine = atom->nghost, all;
  MPI_Allreduce(&mine, &all, 1, MPI_LMP_BIGINT, MPI_SUM, world);
  is_sent.assign(atom->nlocal, 0);
  nreceived = 0;
  if (all > 0) {    // the communication lists may not exist otherwise
    comm->forward_comm(this);
    atoms_changed_on_host();
  }
  // During a run, LAMMPS decides how far atoms may move before it rebuilds the ghost atoms.
  const bool is_in_run = update->whichflag != 0;
  stop_if(nreceived != atom->nghost || ((all == 0 || !is_in_run) && is_without_ghosts()));
  if (all == 0) return;
  if (!is_in_run)
    stop_if(have_ghosts_jumped());
  else if (domain->box_change)
    // Fix deform and fix press/berendsen change the box and the owned atoms at the end of a
    // timestep. The ghost atoms then still belong to the old box.
    forward_positions();
}

void ComputePotentialGrid::forward_positions()
{
  comm->forward_comm();
  atoms_to_host();    // with KOKKOS, the positions may be on the GPU
}

/* ----------------------------------------------------------------------
   Copies the current positions to ghost atoms. Returns whether one of them has moved farther than
   the skin allows.
------------------------------------------------------------------------- */

bool ComputePotentialGrid::have_ghosts_jumped()
{
  const double *const first = atom->nghost > 0 ? atom->x[atom->nlocal] : nullptr;
  const std::vector<double> before(first, first + 3 * static_cast<std::size_t>(atom->nghost));
  forward_positions();
  double maximum = 0.0;
  for (std::size_t k = 0; k < before.size(); k += 3) {
    const double d[3] = {first[k] - before[k], first[k + 1] - before[k + 1],
                         first[k + 2] - before[k + 2]};
    maximum = MAX(maximum, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  return maximum > 0.25 * neighbor->skin * neighbor->skin;
}

int ComputePotentialGrid::pack_forward_comm(int n, int *list, double *buf, int, int *)
{
  for (int k = 0; k < n; ++k) {
    const int i = list[k];
    if (i < atom->nlocal) is_sent[i] = 1;
    buf[2 * k] = atom->q[i];
    buf[2 * k + 1] = ubuf(atom->mask[i]).d;
  }
  return 2 * n;
}

void ComputePotentialGrid::unpack_forward_comm(int n, int first, double *buf)
{
  if (first < atom->nlocal || first + n > atom->nlocal + atom->nghost) return;
  nreceived += n;
  for (int k = 0; k < n; ++k) {
    atom->q[first + k] = buf[2 * k];
    atom->mask[first + k] = static_cast<int>(ubuf(buf[2 * k + 1]).i);
  }
}

/* ----------------------------------------------------------------------
   Returns whether an atom of the group is within the cutoff of a face of this rank's part of the
   box but has no ghost copy.
------------------------------------------------------------------------- */

bool ComputePotentialGrid::is_without_ghosts() const
{
  double from[3], to[3], range[3];
  for (int c = 0; c < 3; ++c) {
    part_of_box(c, from[c], to[c]);
    range[c] = settings->map.cutoff / height_of_box(c);
  }
  for (int i = 0; i < atom->nlocal; ++i) {
    if (is_sent[i] || !(atom->mask[i] & groupbit)) continue;
    double fraction[3];
    domain->x2lamda(atom->x[i], fraction);
    for (int c = 0; c < 3; ++c) {
      const bool is_periodic = domain->periodicity[c] != 0;
      if ((is_periodic || from[c] > 0.0) && fraction[c] - from[c] < range[c]) return true;
      if ((is_periodic || to[c] < 1.0) && to[c] - fraction[c] < range[c]) return true;
    }
  }
  return false;
}
