/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(multisite/linear/kk,FixMultisiteLinearKokkos<LMPDeviceType>);
FixStyle(multisite/linear/kk/device,FixMultisiteLinearKokkos<LMPDeviceType>);
FixStyle(multisite/linear/kk/host,FixMultisiteLinearKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_FIX_MULTISITE_LINEAR_KOKKOS_H
#define LMP_FIX_MULTISITE_LINEAR_KOKKOS_H

#include "fix_multisite_linear.h"

#include "gpucoord_device_kokkos.h"

namespace LAMMPS_NS {

template <class DeviceType> class FixMultisiteLinearKokkos : public FixMultisiteLinear {
 public:
  FixMultisiteLinearKokkos(class LAMMPS *, int, char **);
  void init() override;
  void setup_pre_neighbor() override;
  void setup(int) override;
  void min_setup(int) override;
  double memory_usage() override;

 private:
  void remove_axial_components(Vectors) override;
  void atoms_to_host() override;
  bool is_on_gpu() const;

  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentAxes> on_device;
};

}    // namespace LAMMPS_NS

#endif
#endif
