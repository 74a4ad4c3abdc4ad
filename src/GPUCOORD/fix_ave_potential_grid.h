/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(ave/potential/grid,FixAvePotentialGrid);
// clang-format on
#else

#ifndef LMP_FIX_AVE_POTENTIAL_GRID_H
#define LMP_FIX_AVE_POTENTIAL_GRID_H

#include "fix.h"

#include "compute_potential_grid.h"
#include "potential_grid_values.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// Running mean of the maps of a compute potential/grid. The sum stays where the compute computes
// the maps.

class FixAvePotentialGrid : public Fix, private ComputePotentialGrid::Listener {
 public:
  FixAvePotentialGrid(class LAMMPS *, int, char **);
  ~FixAvePotentialGrid() override;
  int setmask() override;
  void init() override;
  void end_of_step() override;
  int get_grid_by_name(const std::string &, int &) override;
  void *get_grid_by_index(int) override;
  int get_griddata_by_name(int, const std::string &, int &) override;
  void *get_griddata_by_index(int) override;
  void pack_remap_grid(int, void *, int, int *) override;
  void unpack_remap_grid(int, void *, int, int *) override;
  double compute_scalar() override;
  double memory_usage() override;

 private:
  ComputePotentialGrid *find_compute(int argument) const;
  void need_compute() const;
  void compute_deleted() override { compute = nullptr; }
  void before_new_grid() override;
  void after_new_grid(class Grid3d *old_grid, class Grid3d *new_grid) override;
  void make_mean();

  const std::string compute_id;
  ComputePotentialGrid *compute;    // null if the compute was deleted
  bigint nmaps;                     // number of maps in the sum
  GridValues mean;

  // Used while sums are moved between ranks.
  struct PointsOfGrid {
    PointsOfGrid() = default;
    explicit PointsOfGrid(class Grid3d *);
    int among_owned(int point) const;    // point: LAMMPS' index of the point
    int lo[3], hi[3], with_ghosts_lo[3], with_ghosts_hi[3];
  };
  PointsOfGrid old_points, new_points;
  std::vector<double> moving, arrived;
};

}    // namespace LAMMPS_NS

#endif
#endif
