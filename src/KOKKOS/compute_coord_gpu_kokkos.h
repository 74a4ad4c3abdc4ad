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
#include "gpucoord_device_kokkos.h"

namespace LAMMPS_NS {

// What fix coord/bias/kk asks of a variable whose derivatives stay on the GPU.
class ResidentVariable {
 public:
  virtual bool is_on_gpu() = 0;    // in the present box
  // When LAMMPS has just made its neighbor lists, and has waited for the GPU anyway: after the pair style, its kernels
  // would be waited for. Where no evaluation is due at this step, only if that costs no search, now or later.
  virtual void make_pairs(bool is_due) = 0;
  // As evaluate_once() of the compute, but derivatives stay on the GPU.
  virtual double evaluate_once_on_gpu(unsigned want) = 0;
  // On one rank: enqueues S and dS/dx, without a wait.
  virtual void enqueue_once() = 0;
  virtual gpucoord::ResidentCoordination &coordination() = 0;
  virtual double scale_of_sum() const = 0;    // S over that of coordination()
  // ends in an error where S or the position of an atom is not finite
  virtual void stop_for_what_is_not_finite() = 0;
  virtual void warn_of_moved_atoms() = 0;

 protected:
  ~ResidentVariable() = default;    // nobody owns a variable by this
};

template <class DeviceType>
class ComputeCoordGPUKokkos : public ComputeCoordGPU, public ResidentVariable {
 public:
  ComputeCoordGPUKokkos(class LAMMPS *, int, char **);
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;
  void will_be_asked(unsigned want) override;
  double evaluate_once(unsigned want) override;
  double memory_usage() override;

  bool is_on_gpu() override;
  void make_pairs(bool is_due) override;
  double evaluate_once_on_gpu(unsigned want) override;
  void enqueue_once() override;
  gpucoord::ResidentCoordination &coordination() override { return *on_device; }
  double scale_of_sum() const override { return scale; }
  void stop_for_what_is_not_finite() override;
  void warn_of_moved_atoms() override;

 private:
  void atoms_to_host() override;
  Share compute_share(Path, unsigned want, double *peratom) override;
  bool keeps_derivatives(Path path) const override { return for_fix && stays(path); }
  std::string data_path(Path) const override;
  bool stays(Path path) const { return uses_gpu && path == Path::CELLS; }
  bool may_take_neighbors() const;
  gpucoord::DeviceNeighbors neighbors() const;
  gpucoord::DeviceAtoms rebuild();
  void enqueue(unsigned want, std::int64_t positions, bool for_forces);
  bigint id_of_bad_atom();
  std::string gpu_failure(const char *what) const;

  bool uses_gpu;    // where the engine allows
  bool for_fix;     // in this evaluation derivatives are to stay on the GPU
  bool kept;        // those that are known did
  bool warned_moved;
  bool enqueued;           // in this force evaluation
  bool takes_neighbors;    // those of LAMMPS' list, which is a copy of the pair style's
  bool list_is_made;       // in this run
  class NeighList *full_list;
  double skin;    // of the run's lists
  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentCoordination> on_device;
};

}    // namespace LAMMPS_NS

#endif
#endif
