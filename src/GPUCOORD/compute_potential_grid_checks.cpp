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

// Checks of compute potential/grid: whether the box, the memory and the distances are supported.

#include "compute_potential_grid.h"

#include "gpucoord_box_edges.h"
#include "gpucoord_physical_memory.h"
#include "potential_arguments.h"
#include "potential_far.h"

#include "comm.h"
#include "domain.h"
#include "error.h"

#include <algorithm>
#include <cmath>
#include <string>

using namespace LAMMPS_NS;

// A charge closer to a point than this is treated as coincident with it. The unit is the larger of
// the cutoff and a grid cell, or the longest edge of the box for kernel direct. The value is far
// larger than rounding errors of distances in float, and far smaller than distances that occur by
// chance.
static constexpr double ON_A_POINT = 1e-5;

/* ---------------------------------------------------------------------- */

double ComputePotentialGrid::coincidence_tolerance() const
{
  if (settings->is_direct())
    return ON_A_POINT * std::max({domain->xprd, domain->yprd, domain->zprd});
  double step = 0.0;
  for (int c = 0; c < 3; ++c) step = MAX(step, domain->prd[c] / settings->n[c]);
  return ON_A_POINT *
      MAX(settings->map.cutoff,
          step);    // rounding errors in float grow with the size of a tile of points
}

/* ----------------------------------------------------------------------
   argument: index of the command's argument that the error points at.
------------------------------------------------------------------------- */

void ComputePotentialGrid::check_box(int argument) const
{
  const std::string self = argument == Error::NOLASTLINE ? fmt::format(" {}:", id) : "";
  if (settings->has_far() && !(domain->xperiodic && domain->yperiodic && domain->zperiodic))
    error->all(FLERR, argument,
               "Compute potential/grid{} far fft needs a box that is periodic in all directions, "
               "also with kspace_modify slab - use boundary p p p with a slab of vacuum, or kernel "
               "direct in a box that is not periodic",
               self);
  if (!settings->is_direct() || !(domain->xperiodic || domain->yperiodic || domain->zperiodic))
    return;
  error->all(FLERR, argument,
             "Compute potential/grid{} kernel direct sums 1/r over all atoms, which diverges in a "
             "periodic box - use kernel cut, smooth or taylor with a cutoff, or boundary f f f",
             self);
}

/* ----------------------------------------------------------------------
   Distances below 'tiny' are treated as zero, so that cutoff and radius must not be shorter. With a
   far field, such a cutoff would need a mesh that is too large.
------------------------------------------------------------------------- */

void ComputePotentialGrid::check_distances(bool in_command) const
{
  const std::string self = in_command ? "" : fmt::format(" {}:", id);
  const auto argument = [&](int position) {
    return in_command ? position : Error::NOLASTLINE;
  };
  const gpucoord::MapOptions &map = settings->map;
  if (!settings->is_direct() && !settings->has_far() && map.cutoff <= map.tiny)
    error->all(FLERR, argument(settings->cutoff_position + 1),
               "Compute potential/grid{} cutoff is {:.10g} but must be more than {:.4g}, {:g} of "
               "the longest edge of a grid cell: nearer charges are treated as coincident with a "
               "point and skipped - use a larger cutoff or a finer grid",
               self, map.cutoff, map.tiny, ON_A_POINT);
  if (map.overlap == gpucoord::MapOverlap::SOFT && map.radius < map.tiny)
    error->all(FLERR, argument(settings->overlap_position + 2),
               "Compute potential/grid{} overlap soft radius is {:.10g} but must be {:.4g} or "
               "more: nearer charges are treated as coincident with a point - use a larger radius "
               "or overlap skip",
               self, map.radius, map.tiny);
}

/* ----------------------------------------------------------------------
   Grid3d counts the cells that overlap this rank's part of the box, including those cut by its
   faces. Grid3d itself raises this error on one rank only and leaves the grid incomplete.
------------------------------------------------------------------------- */

void ComputePotentialGrid::check_size() const
{
  const int *const n = settings->n;
  double mine = 1.0, maximum;
  for (int c = 0; c < 3; ++c) {
    double from, to;
    part_of_box(c, from, to);
    mine *= std::floor(to * n[c]) - std::floor(from * n[c]) + 1.0;
  }
  MPI_Allreduce(&mine, &maximum, 1, MPI_DOUBLE, MPI_MAX, world);
  if (maximum > MAXSMALLINT)
    error->all(
        FLERR, Error::NOLASTLINE,
        "Compute potential/grid {}: a grid of {} x {} x {} points has {:.0f} of them on a rank and "
        "at its faces, but LAMMPS supports at most {} - use fewer points or more ranks",
        id, n[0], n[1], n[2], maximum, MAXSMALLINT);
}

/* ----------------------------------------------------------------------
   Operating systems allocate more memory than there is, and kill a process that uses it.
------------------------------------------------------------------------- */

void ComputePotentialGrid::check_memory() const
{
  constexpr double GIB = 1024.0 * 1024.0 * 1024.0;
  double npoints = 1.0;
  for (int c = 0; c < 3; ++c) npoints *= MAX(0, hi[c] - lo[c] + 1);
  // with field: phi, three columns of field, and LAMMPS' row pointers
  double bytes = npoints * sizeof(double) * (settings->field ? 5 : 1);
  std::string mesh, way_out;
  if (potential_far) {
    bytes += npoints * sizeof(double) * (settings->field ? 5 : 2) +
        potential_far->bytes(settings->field);
    if (potential_far->mesh().n[0] > 0) {
      mesh = " and " + mesh_in_words() + " for far fft";
      way_out = "a larger cutoff or tolerance, ";
    }
  }
  double mine[2] = {bytes, -physical_memory()};
#if !defined(MPI_STUBS)
  MPI_Comm machine;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, comm->me, MPI_INFO_NULL, &machine);
  MPI_Allreduce(&bytes, mine, 1, MPI_DOUBLE, MPI_SUM, machine);
  MPI_Comm_free(&machine);
#endif
  double worst[2];    // largest need of one machine; smallest memory, negated
  MPI_Allreduce(mine, worst, 2, MPI_DOUBLE, MPI_MAX, world);
  if (worst[0] > -worst[1])
    error->all(FLERR, Error::NOLASTLINE,
               "Compute potential/grid {}: a grid of {} x {} x {} points{}{} needs {:.1f} GiB on a "
               "machine, which has {:.1f} GiB - use "
               "{}a coarser grid or more machines",
               id, settings->n[0], settings->n[1], settings->n[2],
               settings->field ? " with field" : "", mesh, worst[0] / GIB, -worst[1] / GIB,
               way_out);
}
