/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef PAIR_CLASS
// clang-format off
PairStyle(coord/kk,PairCoordKokkos<LMPDeviceType>);
PairStyle(coord/kk/device,PairCoordKokkos<LMPDeviceType>);
PairStyle(coord/kk/host,PairCoordKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_PAIR_COORD_KOKKOS_H
#define LMP_PAIR_COORD_KOKKOS_H

#include "pair_coord.h"

#include "gpucoord_device_kokkos.h"

namespace LAMMPS_NS {

template <class DeviceType> class PairCoordKokkos : public PairCoord {
 public:
  PairCoordKokkos(class LAMMPS *);
  void compute(int, int) override;
  void init_style() override;
  double memory_usage() override;

 private:
  std::string data_path() const override;
  bool is_on_gpu() const;
  void compute_on_gpu();

  bool warned_moved;
  int table_number;    // number of the table that the pass was made for
  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::PairPass> on_device;
};

}    // namespace LAMMPS_NS

#endif
#endif
