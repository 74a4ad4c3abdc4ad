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

#include "compute_coord_geometry.h"

using namespace LAMMPS_NS;
using Kind = gpucoord::GeometryItem::Kind;

/* ---------------------------------------------------------------------- */

ComputeCoordGeometry::ComputeCoordGeometry(LAMMPS *lmp, int narg, char **arg) :
    CoordMembers(lmp, narg, arg), arguments(lmp, narg, arg),
    geometry(std::make_unique<gpucoord::Geometry>(arguments.options))
{
  set_points(arguments.points, arguments.options.unwrap);
}

std::string ComputeCoordGeometry::text_of_singular(int item) const
{
  const char *where = "points coincide";
  switch (arguments.options.items[item].kind) {
    case Kind::ANGLE:
      where = "points are in line";
      break;
    case Kind::DIHEDRAL:
      where = "points are in line, three of them";
      break;
    default:
      break;
  }
  return fmt::format("{} has no derivative while its {}, so it exerts no force there",
                     arguments.items[item], where);
}

std::string ComputeCoordGeometry::text_of_far(int item) const
{
  return fmt::format(
      "two points of {} are more than 0.45 box lengths apart, and at 0.5 the nearest "
      "image jumps, and with it the force - use a larger box, or image none if "
      "image flags join the points",
      arguments.items[item]);
}
