/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/gpu/kk,ComputeCoordGPUKokkos<LMPDeviceType>);
ComputeStyle(coord/gpu/kk/device,ComputeCoordGPUKokkos<LMPDeviceType>);
ComputeStyle(coord/gpu/kk/host,ComputeCoordGPUKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_GPU_KOKKOS_H
#define LMP_COMPUTE_COORD_GPU_KOKKOS_H

#include "compute_coord_gpu.h"
#include "compute_coord_kokkos.h"

#include "gpucoord/resident_coordination.h"

#include <memory>

namespace LAMMPS_NS {

class ResidentCoordGPU : public ComputeCoordKokkos<ComputeCoordGPU> {
 public:
  ResidentCoordGPU(class LAMMPS *, int, char **, const KokkosSpace &);
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;

 private:
  gpucoord::Variable *on_device() const override { return coordination.get(); }
  void make_on_device() override;
  void enqueue_evaluation(const gpucoord::Request &) override;
  void evaluate_on_device(LocalEvaluation &, const gpucoord::Request &) override;
  bool has_partners() override;
  gpucoord::DeviceNeighbors neighbors() const override;

  bool may_use_neighbors() const;
  void enqueue_first(const gpucoord::Request &);
  void enqueue_second(const gpucoord::Request &);

  bool list_is_made;    // LAMMPS has built the list in this run
  class NeighList *full_list;
  std::unique_ptr<gpucoord::ResidentCoordination> coordination;
};

template <class DeviceType>
using ComputeCoordGPUKokkos = ComputeCoordOn<DeviceType, ResidentCoordGPU>;

}    // namespace LAMMPS_NS

#endif
#endif
