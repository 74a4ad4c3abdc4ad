/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/pairentropy,ComputeCoordPairEntropy);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_PAIRENTROPY_H
#define LMP_COMPUTE_COORD_PAIRENTROPY_H

#include "compute_coord_order.h"

#include "gpucoord/pair_entropy.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// Pair entropy of all atoms. The vector has g(r_k) after the virial.

class ComputeCoordPairEntropy : public ComputeCoordOrder {
 public:
  ComputeCoordPairEntropy(class LAMMPS *, int, char **);
  void init() override;

 protected:
  void begin_numbers(const LocalEvaluation &) override;
  // Returns g(r_k), [bins]. Valid after an evaluation with the virial.
  virtual const double *distribution() const;

  const gpucoord::PairEntropyOptions options;

 private:
  std::unique_ptr<gpucoord::OrderParameter> make_host() const override;
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device) const override;
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override;
  std::string order_in_words() const override { return gpucoord::description(options); }
  std::string range_of_partners() const override;
  std::string without_partners() const override;
  std::string with_empty_group2() const override { return "S is 0"; }
  double finish_evaluation(const double *sums) override;
  void need_density() const;
};

}    // namespace LAMMPS_NS

#endif
#endif
