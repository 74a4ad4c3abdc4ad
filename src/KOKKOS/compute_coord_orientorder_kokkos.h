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

#include "compute_coord_order_kokkos.h"
#include "compute_coord_orientorder.h"

#include "gpucoord/resident_orient_order.h"

#include <memory>

namespace LAMMPS_NS {

template <class DeviceType>
class ComputeCoordOrientOrderKokkos :
    public ComputeCoordOrderKokkos<DeviceType, ComputeCoordOrientOrder> {
 public:
  using ComputeCoordOrderKokkos<DeviceType, ComputeCoordOrientOrder>::ComputeCoordOrderKokkos;

 private:
  using Shared = ComputeCoordOrderKokkos<DeviceType, ComputeCoordOrientOrder>;
  using Shared::args;
  using Shared::atom;
  using Shared::comm;
  using Shared::device;
  using Shared::options;
  using Shared::table;
  using Shared::w_of_atoms;
  using typename Shared::LocalEvaluation;

  gpucoord::ResidentOrientOrder *on_device() const override { return order.get(); }
  void make_on_device() override;
  void find_numbers(const LocalEvaluation &) override;

  std::unique_ptr<gpucoord::ResidentOrientOrder> order;
};

}    // namespace LAMMPS_NS

#endif
#endif
