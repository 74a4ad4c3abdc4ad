/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
#define ORDER_PARAMETER(style, definition, text) \
  ComputeStyle(style/kk,ComputeCoordOrderKokkos<LMPDeviceType>); \
  ComputeStyle(style/kk/device,ComputeCoordOrderKokkos<LMPDeviceType>); \
  ComputeStyle(style/kk/host,ComputeCoordOrderKokkos<LMPHostType>);
// clang-format on
#include "coord_styles.h"
#else

#ifndef LMP_COMPUTE_COORD_ORDER_KOKKOS_H
#define LMP_COMPUTE_COORD_ORDER_KOKKOS_H

#include "compute_coord_kokkos.h"
#include "compute_coord_order.h"

#include "gpucoord/resident_order_parameter.h"

#include <cstddef>
#include <memory>

namespace LAMMPS_NS {

class ResidentCoordOrder : public ComputeCoordKokkos<ComputeCoordOrder> {
 public:
  ResidentCoordOrder(class LAMMPS *, int, char **, const KokkosSpace &);

 private:
  gpucoord::Variable *on_device() const override { return resident.get(); }
  void make_on_device() override;
  bool reads_types() const override;
  void enqueue_evaluation(const gpucoord::Request &) override;
  void evaluate_on_device(LocalEvaluation &, const gpucoord::Request &) override;
  bool is_sum_of_function() const override;
  bool sends_numbers() const override;
  void finish_local(LocalEvaluation &) override;
  void set_vector() override;

  // needs_numbers: v_i of atoms. Required if S is a function of them.
  void enqueue_first(const gpucoord::Request &, bool needs_numbers);
  void enqueue_second(const gpucoord::Request &);
  gpucoord::DeviceExchange exchange();
  void make_missing_exchanges(const LocalEvaluation &);

  std::unique_ptr<gpucoord::ResidentOrderParameter> resident;
  std::size_t nexchanges;    // number of exchanges made in this evaluation
};

template <class DeviceType>
using ComputeCoordOrderKokkos = ComputeCoordOn<DeviceType, ResidentCoordOrder>;

}    // namespace LAMMPS_NS

#endif
#endif
