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

#include "fix_ave_potential_grid.h"

#include "gpucoord/bytes_of.h"

#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "grid3d.h"
#include "modify.h"
#include "update.h"

using namespace LAMMPS_NS;
using namespace FixConst;

/* ---------------------------------------------------------------------- */

FixAvePotentialGrid::FixAvePotentialGrid(LAMMPS *lmp, int narg, char **arg) :
    Fix(lmp, narg, arg), compute_id(narg > 4 ? arg[4] : ""), compute(nullptr), nmaps(0)
{
  if (narg < 5) utils::missing_cmd_args(FLERR, "fix ave/potential/grid", error);
  if (narg > 5)
    error->all(FLERR, 5,
               "Unknown fix ave/potential/grid keyword: {} - it takes a number of steps and the ID "
               "of a compute",
               arg[5]);
  nevery = utils::inumeric(FLERR, arg[3], false, lmp);
  if (nevery < 1)
    error->all(FLERR, 3, "Fix ave/potential/grid Nevery is {} but must be > 0", arg[3]);
  compute = find_compute(4);
  if (compute->get_listener())
    error->all(FLERR, 4,
               "Fix ave/potential/grid: another fix averages the maps of compute {} already - use "
               "that, or another compute",
               compute_id);
  compute->set_listener(this);
  if (compute->kokkosable) {    // the compute itself syncs atoms with the GPU
    kokkosable = 1;
    datamask_read = datamask_modify = EMPTY_MASK;
  }
  compute->set_sum(std::vector<double>(compute->number_of_points(), 0.0));
  pergrid_flag = 1;
  pergrid_freq = 1;
  scalar_flag = 1;
  global_freq = 1;
  extscalar = 0;
  dynamic_group_allow = 1;    // the fix does not use its group
}

FixAvePotentialGrid::~FixAvePotentialGrid()
{
  if (compute) compute->set_listener(nullptr);
}

ComputePotentialGrid *FixAvePotentialGrid::find_compute(int argument) const
{
  auto *const any = modify->get_compute_by_id(compute_id);
  if (!any) {
    const std::string hint = utils::strmatch(compute_id, "^c_") ? " - give its ID alone, without c_"
                                                                : "";
    error->all(FLERR, argument, "Fix ave/potential/grid: there is no compute {}{}", compute_id,
               hint);
  }
  auto *const found = dynamic_cast<ComputePotentialGrid *>(any);
  if (!found)
    error->all(
        FLERR, argument,
        "Fix ave/potential/grid: compute {} is of style {} but must be of style potential/grid",
        compute_id, any->style);
  return found;
}

int FixAvePotentialGrid::setmask()
{
  return END_OF_STEP;
}

void FixAvePotentialGrid::init()
{
  need_compute();
}

void FixAvePotentialGrid::need_compute() const
{
  if (!compute)
    error->all(FLERR, Error::NOLASTLINE,
               "Fix ave/potential/grid {}: compute {} has been deleted - define it, unfix the fix "
               "and define it again",
               id, compute_id);
}

/* ---------------------------------------------------------------------- */

void FixAvePotentialGrid::end_of_step()
{
  need_compute();    // LAMMPS does not call init() with run pre no
  compute->add_to_sum();
  ++nmaps;
}

double FixAvePotentialGrid::compute_scalar()
{
  return static_cast<double>(nmaps);
}

/* ---------------------------------------------------------------------- */

int FixAvePotentialGrid::get_grid_by_name(const std::string &name, int &dim)
{
  dim = 3;
  return name == "grid" ? 0 : -1;
}

void *FixAvePotentialGrid::get_grid_by_index(int index)
{
  need_compute();
  return compute->get_grid_by_index(index);
}

int FixAvePotentialGrid::get_griddata_by_name(int igrid, const std::string &name, int &ncol)
{
  if (igrid != 0 || name != "data") return -1;
  ncol = 0;
  return 0;
}

void *FixAvePotentialGrid::get_griddata_by_index(int index)
{
  if (index != 0) return nullptr;
  need_compute();
  make_mean();
  return mean.for_lammps();
}

void FixAvePotentialGrid::make_mean()
{
  int lo[3], hi[3];
  static_cast<Grid3d *>(compute->get_grid_by_index(0))
      ->get_bounds_owned(lo[0], hi[0], lo[1], hi[1], lo[2], hi[2]);
  mean.create(lo, hi, 0);
  const std::vector<double> sum = compute->get_sum();
  for (std::size_t k = 0; k < sum.size(); ++k)
    mean.data()[k] = nmaps > 0 ? sum[k] / static_cast<double>(nmaps) : 0.0;
}

/* ----------------------------------------------------------------------
   Load balancing: moves the sums to the new owners of their points.
------------------------------------------------------------------------- */

void FixAvePotentialGrid::before_new_grid()
{
  moving = compute->get_sum();
}

void FixAvePotentialGrid::after_new_grid(Grid3d *old_grid, Grid3d *new_grid)
{
  arrived.assign(compute->number_of_points(), 0.0);
  old_points = PointsOfGrid(old_grid);
  new_points = PointsOfGrid(new_grid);
  int nsend, nreceive;
  new_grid->setup_remap(old_grid, nsend, nreceive);
  std::vector<double> to_send(nsend), received(nreceive);
  new_grid->remap(Grid3d::FIX, static_cast<Fix *>(this), 0, 1, sizeof(double), to_send.data(),
                  received.data(), MPI_DOUBLE);
  compute->set_sum(arrived);
  moving.clear();
  arrived.clear();
}

// LAMMPS' index of an owned point counts the owned and ghost points of a rank.

FixAvePotentialGrid::PointsOfGrid::PointsOfGrid(Grid3d *grid)
{
  grid->get_bounds_owned(lo[0], hi[0], lo[1], hi[1], lo[2], hi[2]);
  grid->get_bounds_ghost(with_ghosts_lo[0], with_ghosts_hi[0], with_ghosts_lo[1], with_ghosts_hi[1],
                         with_ghosts_lo[2], with_ghosts_hi[2]);
}

int FixAvePotentialGrid::PointsOfGrid::among_owned(int point) const
{
  int index = 0, at[3];
  for (int c = 0; c < 3; ++c) {
    const int n = with_ghosts_hi[c] - with_ghosts_lo[c] + 1;
    at[c] = with_ghosts_lo[c] + point % n - lo[c];
    point /= n;
  }
  for (int c = 2; c >= 0; --c) index = index * (hi[c] - lo[c] + 1) + at[c];
  return index;
}

void FixAvePotentialGrid::pack_remap_grid(int, void *buffer, int n, int *list)
{
  for (int k = 0; k < n; ++k)
    static_cast<double *>(buffer)[k] = moving[old_points.among_owned(list[k])];
}

void FixAvePotentialGrid::unpack_remap_grid(int, void *buffer, int n, int *list)
{
  for (int k = 0; k < n; ++k)
    arrived[new_points.among_owned(list[k])] = static_cast<double *>(buffer)[k];
}

/* ---------------------------------------------------------------------- */

double FixAvePotentialGrid::memory_usage()
{
  // The compute has and counts the sum.
  return mean.bytes() + static_cast<double>(gpucoord::bytes_of(moving, arrived));
}
