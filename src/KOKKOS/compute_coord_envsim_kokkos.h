/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/envsim/kk,ComputeCoordEnvsimKokkos<LMPDeviceType>);
ComputeStyle(coord/envsim/kk/device,ComputeCoordEnvsimKokkos<LMPDeviceType>);
ComputeStyle(coord/envsim/kk/host,ComputeCoordEnvsimKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ENVSIM_KOKKOS_H
#define LMP_COMPUTE_COORD_ENVSIM_KOKKOS_H

#include "compute_coord_envsim.h"
#include "compute_coord_order_kokkos.h"

#include <memory>

namespace LAMMPS_NS {

template <class DeviceType>
class ComputeCoordEnvsimKokkos : public ComputeCoordOrderKokkos<DeviceType, ComputeCoordEnvsim> {
 public:
  using ComputeCoordOrderKokkos<DeviceType, ComputeCoordEnvsim>::ComputeCoordOrderKokkos;

 private:
  using Shared = ComputeCoordOrderKokkos<DeviceType, ComputeCoordEnvsim>;
  using Shared::args;
  using Shared::options;

  gpucoord::ResidentOrderParameter *on_device() const override { return order.get(); }
  void make_on_device() override;
  bool reads_types() const override;

  std::unique_ptr<gpucoord::ResidentOrderParameter> order;
};

}    // namespace LAMMPS_NS

#endif
#endif
