/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_COORDINATION_H
#define LMP_COORD_COORDINATION_H

#include "coord_evaluator.h"

#include "gpucoord/resident_function.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class Backend;
class CoordGather;

// Coordination number, or a function of the coordination numbers of atoms.

class CoordinationEvaluator : public CoordEvaluator {
 public:
  CoordinationEvaluator(LAMMPS *, CoordPairData &);
  ~CoordinationEvaluator() override;
  DeviceChoice &device_choice() const override;
  void init_backend() override;
  std::string description() const override;
  void begin(LocalEvaluation &) override;
  void evaluate(LocalEvaluation &) override;
  void complete_exchanges(LocalEvaluation &) override;
  gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) override;
  bool has_partners(const LocalEvaluation &) const override;
  PartnerWarnings::Texts partner_texts() const override;
  const gpucoord::PairsInput *pairs_of_mode() const override;
  std::string other_atoms(Path) const override;
  bool seeks_partners_in_setup() const override;
  double memory_usage() const override;

 private:
  void gather_atoms(LocalEvaluation &);
  void begin_function();
  gpucoord::Contribution evaluate_path(Path, unsigned want, double *peratom, bool reference,
                                       const gpucoord::SecondPass *);
  gpucoord::Contribution evaluate_function(LocalEvaluation &, bool reference);
  const double *evaluate_weights(LocalEvaluation &);

  std::unique_ptr<Backend> backend;
  std::unique_ptr<CoordGather> gather;
  gpucoord::PairsInput pairs;    // used in pair mode
  // The function that a GPU evaluates without KOKKOS; null: the host evaluates it.
  std::unique_ptr<gpucoord::DeviceFunction> on_gpu;
};

}    // namespace LAMMPS_NS

#endif
