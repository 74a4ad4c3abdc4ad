/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/force,ComputeCoordForce);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_FORCE_H
#define LMP_COMPUTE_COORD_FORCE_H

#include "compute.h"

#include "gpucoord_variable.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class BiasBoard;
class FixCoordBias;

// The forces of a bias on the atoms of the group, [nlocal][3] in force units, evaluated when they
// are requested.

class ComputeCoordForce : public Compute {
 public:
  ComputeCoordForce(class LAMMPS *, int, char **);
  ~ComputeCoordForce() override;
  void init() override;
  void compute_peratom() override;
  double memory_usage() override;

 private:
  FixCoordBias *find_fix(int position) const;

  const std::string fix_id;
  const std::shared_ptr<BiasBoard> board;
  TriclinicWarning triclinic_warning;
  int nmax;
};

}    // namespace LAMMPS_NS

#endif
#endif
