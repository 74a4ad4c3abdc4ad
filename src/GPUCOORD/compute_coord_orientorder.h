/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/orientorder,ComputeCoordOrientOrder);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ORIENTORDER_H
#define LMP_COMPUTE_COORD_ORIENTORDER_H

#include "compute_coord_order.h"

#include "gpucoord/orient_order.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Bond-orientational order parameters of atoms.

class ComputeCoordOrientOrder : public ComputeCoordOrder {
 public:
  ComputeCoordOrientOrder(class LAMMPS *, int, char **);
  double memory_usage() override;

 protected:
  void begin_numbers(const LocalEvaluation &) override;
  bool wants_w_hat(const LocalEvaluation &) const;

  const gpucoord::OrientOrderOptions options;
  std::vector<double> w_of_atoms;    // [nlocal]; empty: not requested

 private:
  std::unique_ptr<gpucoord::OrderParameter> make_host() const override;
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device) const override;
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override;
  bool takes_group2() const override;
  std::string order_in_words() const override { return gpucoord::description(options); }
  double finish_evaluation(const double *sums) override;

  const bool has_w_hat;    // column 6 exists
};

}    // namespace LAMMPS_NS

#endif
#endif
