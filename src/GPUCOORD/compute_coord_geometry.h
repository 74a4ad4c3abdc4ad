/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/geometry,ComputeCoordGeometry);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_GEOMETRY_H
#define LMP_COMPUTE_COORD_GEOMETRY_H

#include "coord_members.h"
#include "geometry_arguments.h"

#include "gpucoord/resident_geometry.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// Distances, components, positions, angles and dihedrals of atoms and centers of groups.

class ComputeCoordGeometry : public CoordMembers {
 public:
  ComputeCoordGeometry(class LAMMPS *, int, char **);

 protected:
  gpucoord::MemberVariable &function() const override { return *geometry; }
  std::string description() const override { return arguments.description(); }
  std::string text_of_singular(int item) const override;
  std::string way_out_of_singular(int /*item*/) const override
  {
    return "use points that never get there";
  }
  std::string text_of_far(int item) const override;
  std::unique_ptr<gpucoord::ResidentMembers> make_resident() const override
  {
    return gpucoord::make_resident_geometry(arguments.options);
  }

 private:
  const GeometryArguments arguments;
  const std::unique_ptr<gpucoord::Geometry> geometry;
};

}    // namespace LAMMPS_NS

#endif
#endif
