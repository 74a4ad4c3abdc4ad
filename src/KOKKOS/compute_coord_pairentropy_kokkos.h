/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/pairentropy/kk,ComputeCoordPairEntropyKokkos<LMPDeviceType>);
ComputeStyle(coord/pairentropy/kk/device,ComputeCoordPairEntropyKokkos<LMPDeviceType>);
ComputeStyle(coord/pairentropy/kk/host,ComputeCoordPairEntropyKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_PAIRENTROPY_KOKKOS_H
#define LMP_COMPUTE_COORD_PAIRENTROPY_KOKKOS_H

#include "compute_coord_order_kokkos.h"
#include "compute_coord_pairentropy.h"

#include "gpucoord/resident_pair_entropy.h"

#include <memory>

namespace LAMMPS_NS {

template <class DeviceType>
class ComputeCoordPairEntropyKokkos :
    public ComputeCoordOrderKokkos<DeviceType, ComputeCoordPairEntropy> {
 public:
  using ComputeCoordOrderKokkos<DeviceType, ComputeCoordPairEntropy>::ComputeCoordOrderKokkos;

 private:
  using Shared = ComputeCoordOrderKokkos<DeviceType, ComputeCoordPairEntropy>;
  using Shared::args;
  using Shared::options;

  gpucoord::ResidentPairEntropy *on_device() const override { return entropy.get(); }
  void make_on_device() override;
  const double *distribution() const override;

  std::unique_ptr<gpucoord::ResidentPairEntropy> entropy;
};

}    // namespace LAMMPS_NS

#endif
#endif
