/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(potential/grid/kk,ComputePotentialGridKokkos<LMPDeviceType>);
ComputeStyle(potential/grid/kk/device,ComputePotentialGridKokkos<LMPDeviceType>);
ComputeStyle(potential/grid/kk/host,ComputePotentialGridKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_POTENTIAL_GRID_KOKKOS_H
#define LMP_COMPUTE_POTENTIAL_GRID_KOKKOS_H

#include "compute_potential_grid.h"
#include "gpucoord_device_kokkos.h"

#include "gpucoord/resident_map.h"

namespace LAMMPS_NS {

// During runs, maps without a far field are computed from atoms on the GPU and stay there until
// they are requested.

template <class DeviceType> class ComputePotentialGridKokkos : public ComputePotentialGrid {
 public:
  ComputePotentialGridKokkos(class LAMMPS *, int, char **);
  void set_listener(Listener *) override;
  void set_sum(const std::vector<double> &) override;
  void add_to_sum() override;
  std::vector<double> get_sum() override;
  double memory_usage() override;

 private:
  void atoms_to_host() override;
  void atoms_changed_on_host() override;
  bool is_on_gpu() const override;
  Sums begin_on_gpu(bigint &bad) override;
  gpucoord::MapOverflow map_on_gpu() override;
  void fetch_from_gpu() override;
  std::string data_path() const override;
  void set_up() override;
  bool may_be_resident() const;

  bool uses_gpu;
  bool keeps_sum;    // the sum is on the GPU
  std::unique_ptr<gpucoord::ResidentPotentialMap> on_device;
  class AtomKokkos *atomKK;
  std::shared_ptr<KokkosDevice> device;
};

}    // namespace LAMMPS_NS

#endif
#endif
