/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/shape,ComputeCoordShape);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_SHAPE_H
#define LMP_COMPUTE_COORD_SHAPE_H

#include "coord_members.h"

#include "gpucoord/resident_shape.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Radius of gyration of a group, or its RMSD from reference positions.

class ComputeCoordShape : public CoordMembers {
 public:
  ComputeCoordShape(class LAMMPS *, int, char **);
  double memory_usage() override;

 protected:
  gpucoord::MemberVariable &function() const override { return *shape; }
  std::string description() const override;
  std::string text_of_singular(int item) const override;
  std::string way_out_of_singular(int item) const override;
  std::string set_own_references() override;
  std::unique_ptr<gpucoord::ResidentMembers> make_resident() const override;

 private:
  void read_reference(int iarg);

  gpucoord::ShapeOptions options;
  std::string group_name, reference_name;
  std::vector<tagint> reference_ids;    // ascending, of the atoms with a reference position
  bool by_mass;
  std::unique_ptr<gpucoord::Shape> shape;
};

}    // namespace LAMMPS_NS

#endif
#endif
