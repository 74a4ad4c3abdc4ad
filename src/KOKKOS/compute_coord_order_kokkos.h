/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COMPUTE_COORD_ORDER_KOKKOS_H
#define LMP_COMPUTE_COORD_ORDER_KOKKOS_H

#include "compute_coord_kokkos.h"

#include "gpucoord/resident_order_parameter.h"

#include <cstddef>

namespace LAMMPS_NS {

// Common part of the KOKKOS styles of all order parameters. Base: a style derived from
// ComputeCoordOrder.

template <class DeviceType, class Base>
class ComputeCoordOrderKokkos : public ComputeCoordKokkos<DeviceType, Base> {
 public:
  ComputeCoordOrderKokkos(class LAMMPS *, int, char **);

 protected:
  using Shared = ComputeCoordKokkos<DeviceType, Base>;
  using Shared::atom;
  using Shared::comm;
  using Shared::device;
  using Shared::function_on_device;
  using Shared::ghosts;
  using Shared::is_global;
  using typename Shared::LocalEvaluation;

  gpucoord::ResidentOrderParameter *on_device() const override = 0;
  // Called after the first evaluation. Computes the per-atom numbers of a style in addition to v_i.
  // May wait, and throw DeviceError.
  virtual void find_numbers(const LocalEvaluation &) {}

 private:
  void enqueue_evaluation(const gpucoord::Request &) override;
  void evaluate_on_device(LocalEvaluation &, const gpucoord::Request &) override;
  bool is_sum_of_function() const override { return !is_global; }
  bool sends_numbers() const override { return !is_global; }
  void finish_local(LocalEvaluation &) override;

  // needs_numbers: v_i of atoms. Required if S is a function of them.
  void enqueue_first(const gpucoord::Request &, bool needs_numbers);
  void enqueue_second(const gpucoord::Request &);
  gpucoord::DeviceExchange exchange();
  void make_missing_exchanges(const LocalEvaluation &);

  std::size_t nexchanges;    // number of exchanges made in this evaluation
};

}    // namespace LAMMPS_NS

#endif
