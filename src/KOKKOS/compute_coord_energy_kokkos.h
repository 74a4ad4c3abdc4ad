/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/energy/kk,ComputeCoordEnergyKokkos<LMPDeviceType>);
ComputeStyle(coord/energy/kk/device,ComputeCoordEnergyKokkos<LMPDeviceType>);
ComputeStyle(coord/energy/kk/host,ComputeCoordEnergyKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ENERGY_KOKKOS_H
#define LMP_COMPUTE_COORD_ENERGY_KOKKOS_H

#include "compute_coord_energy.h"

#include "gpucoord/resident_forces.h"

#include "kokkos_type.h"

#include <functional>
#include <memory>

namespace LAMMPS_NS {
class KokkosDevice;

// On a GPU, the forces of the force field stay there, unless a fix needs them on the host. LAMMPS
// copies the energy and the virial to the host.

template <class DeviceType> class ComputeCoordEnergyKokkos : public ComputeCoordEnergy {
 public:
  ComputeCoordEnergyKokkos(class LAMMPS *, int, char **);
  double memory_usage() override;

  void take_forces() override;
  void finish(const double *sums) override;
  double rounding() const override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  double bytes_copied() const override;

 private:
  void forces_to_host() override;
  void taken_to_host() override;
  void call(const std::function<void()> &) const;

  std::shared_ptr<KokkosDevice> device;    // null: the forces are taken on the host
  std::unique_ptr<gpucoord::ResidentForces> resident;
  bool is_on_gpu;    // the forces were taken on the GPU
};

}    // namespace LAMMPS_NS

#endif
#endif
