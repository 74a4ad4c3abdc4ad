/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef PAIR_CLASS
// clang-format off
PairStyle(multisite/kk,PairMultisiteKokkos<LMPDeviceType>);
PairStyle(multisite/kk/device,PairMultisiteKokkos<LMPDeviceType>);
PairStyle(multisite/kk/host,PairMultisiteKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_PAIR_MULTISITE_KOKKOS_H
#define LMP_PAIR_MULTISITE_KOKKOS_H

#include "pair_multisite.h"

#include "gpucoord_device_kokkos.h"

namespace LAMMPS_NS {

template <class DeviceType> class PairMultisiteKokkos : public PairMultisite {
 public:
  PairMultisiteKokkos(class LAMMPS *);
  void compute(int, int) override;
  void init_style() override;
  double memory_usage() override;

 private:
  std::string data_path() const override;
  bool is_on_gpu() const;
  void compute_on_gpu();
  void check_on_gpu(gpucoord::MultisiteWant, const gpucoord::DeviceAtoms &,
                    const gpucoord::DeviceBodies &);
  gpucoord::MultisiteSums result();
  [[noreturn]] void refuse_earlier_molecule() const;
  [[noreturn]] void refuse_new_types() const;

  std::int64_t version = -1;    // version of the atoms' order at the last rebuild
  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentMultisite> on_device;
};

}    // namespace LAMMPS_NS

#endif
#endif
