/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ORDER_EVALUATOR_KOKKOS_H
#define LMP_ORDER_EVALUATOR_KOKKOS_H

#include "coord_evaluator_kokkos.h"
#include "order_evaluator.h"

#include "gpucoord/resident_order_parameter.h"

#include <cstddef>
#include <memory>

namespace LAMMPS_NS {

// A function of per-atom numbers that are an order parameter of the library, or one number of all
// atoms.

class ResidentOrderEvaluator : public ResidentEvaluator {
 public:
  // The evaluator without KOKKOS remains valid.
  ResidentOrderEvaluator(LAMMPS *, CoordPairData &, OrderEvaluator &);
  gpucoord::ResidentPairVariable *variable() const override { return resident.get(); }
  void enqueue(const gpucoord::Request &) override;
  void start(LocalEvaluation &, const gpucoord::Request &) override;
  void finish(LocalEvaluation &) override;
  void set_vector(double *to) const override;
  bool is_sum_of_function() const override;

 private:
  void make_variable() override;
  bool reads_types() const override;

  // needs_numbers: v_i of atoms. Required if S is a function of them.
  void enqueue_first(const gpucoord::Request &, bool needs_numbers);
  void enqueue_second(const gpucoord::Request &);
  gpucoord::DeviceExchange exchange();
  void make_missing_exchanges(const LocalEvaluation &);

  OrderEvaluator &host;
  std::unique_ptr<gpucoord::ResidentOrderParameter> resident;
  std::size_t nexchanges = 0;    // number of exchanges made in this evaluation
};

}    // namespace LAMMPS_NS

#endif
