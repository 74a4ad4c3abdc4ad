/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/envsim,ComputeCoordEnvsim);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ENVSIM_H
#define LMP_COMPUTE_COORD_ENVSIM_H

#include "compute_coord_order.h"

#include "gpucoord/environment_similarity.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// Similarity of atoms to crystal environments.

class ComputeCoordEnvsim : public ComputeCoordOrder {
 public:
  ComputeCoordEnvsim(class LAMMPS *, int, char **);

 protected:
  const gpucoord::EnvironmentOptions options;

 private:
  std::unique_ptr<gpucoord::OrderParameter> make_host() const override;
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device) const override;
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override;
  std::string order_in_words() const override { return gpucoord::description(options); }
  std::string without_partners() const override;
  std::string with_empty_group2() const override { return without_partners(); }
};

}    // namespace LAMMPS_NS

#endif
#endif
