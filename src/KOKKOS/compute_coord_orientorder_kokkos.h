/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/orientorder/kk,ComputeCoordOrientOrderKokkos<LMPDeviceType>);
ComputeStyle(coord/orientorder/kk/device,ComputeCoordOrientOrderKokkos<LMPDeviceType>);
ComputeStyle(coord/orientorder/kk/host,ComputeCoordOrientOrderKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ORIENTORDER_KOKKOS_H
#define LMP_COMPUTE_COORD_ORIENTORDER_KOKKOS_H

#include "compute_coord_kokkos.h"
#include "compute_coord_orientorder.h"

#include "gpucoord/resident_orient_order.h"

#include <memory>

namespace LAMMPS_NS {

template <class DeviceType>
class ComputeCoordOrientOrderKokkos :
    public ComputeCoordKokkos<DeviceType, ComputeCoordOrientOrder> {
 public:
  ComputeCoordOrientOrderKokkos(class LAMMPS *, int, char **);
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
  int pack_forward_comm_kokkos(int, DAT::tdual_int_1d, DAT::tdual_double_1d &, int, int *) override;
  void unpack_forward_comm_kokkos(int, int, DAT::tdual_double_1d &) override;

 private:
  using Shared = ComputeCoordKokkos<DeviceType, ComputeCoordOrientOrder>;
  using Shared::args;
  using Shared::atom;
  using Shared::comm;
  using Shared::device;
  using Shared::exchanged;
  using Shared::failed_to_send;
  using Shared::function_on_device;
  using Shared::is_global;
  using Shared::options;
  using Shared::table;
  using typename Shared::Share;

  gpucoord::Variable *on_device() const override { return order.get(); }
  void make_on_device() override;
  void enqueue_evaluation(const gpucoord::Request &) override;
  void evaluate_on_device(Share &, const gpucoord::Request &) override;
  bool is_sum_of_function() const override { return !is_global; }
  bool sends_numbers() const override { return !is_global; }
  void compute_share(Share &) override;

  void enqueue_first(const gpucoord::Request &);
  void enqueue_second(const gpucoord::Request &);
  gpucoord::DeviceExchange exchange();
  void send_numbers();
  void numbers_to_host();
  void make_missing_exchanges(const Share &);
  void find_w_hat();

  std::unique_ptr<gpucoord::ResidentOrientOrder> order;
  int nexchanges;    // number of exchanges made in this evaluation
  // Location of the numbers for pack and unpack, if order parameters are being sent from the GPU:
  // there, or copied from there to 'exchanged'.
  enum class Numbers { NOT_SENT, DEVICE, COPIED } numbers;
};

}    // namespace LAMMPS_NS

#endif
#endif
