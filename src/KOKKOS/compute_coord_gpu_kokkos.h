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

#include "gpucoord/resident_function.h"

#include "kokkos_base.h"

namespace LAMMPS_NS {

// Where the GPU computes and all partners are owned or ghost atoms, atoms and gradients are
// resident on the GPU: only S and W come to the host, and on one rank not even these before someone
// asks. LAMMPS may pack the weights of ghost atoms, for functions of coordination numbers, on the
// host.

template <class DeviceType>
class ComputeCoordGPUKokkos : public ComputeCoordGPU, public KokkosBase {
 public:
  ComputeCoordGPUKokkos(class LAMMPS *, int, char **);
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
  int pack_forward_comm_kokkos(int, DAT::tdual_int_1d, DAT::tdual_double_1d &, int, int *) override;
  void unpack_forward_comm_kokkos(int, int, DAT::tdual_double_1d &) override;
  double memory_usage() override;

  void announce(unsigned want) override;
  void reneighbored(bool due) override;
  bool is_resident() const override;
  bool can_enqueue() const override;
  gpucoord::DeviceValue enqueue() override;
  gpucoord::DeviceStream stream() const override;
  void raise_device_errors(bool has_moved, bool is_not_finite) override;
  void add_forces(gpucoord::Factor) override;
  double bytes_copied() const override;

 private:
  void atoms_to_host() override;
  void start_share(Share &) override;
  void compute_share(Share &) override;
  bool keeps_gradients(const Share &share) const override
  {
    return share.is_for_forces && !(wanted & ON_HOST) && is_resident(share.path) &&
        !checks_gradients();
  }
  std::string data_path(Path) const override;
  bool is_resident(Path path) const
  {
    return uses_gpu && path == Path::CELLS && (!function || function_is_resident);
  }
  bool checks_gradients() const;
  bool may_take_neighbors() const;
  gpucoord::DeviceNeighbors neighbors() const;
  gpucoord::DeviceAtoms rebuild();
  void enqueue(const gpucoord::Request &);
  void enqueue_second(const gpucoord::Request &);
  void begin_function(const gpucoord::DeviceAtoms &, std::int64_t version);
  void send_weights();
  void weights_to_host();
  void take_function(Share &);
  std::string too_steep(int row, double s, double slope) const;
  void warn_of_moved_atoms();
  bigint id_of_bad_atom();
  std::string gpu_failure(const char *what) const;

  bool uses_gpu;    // where the engine allows
  bool warned_moved;
  bool takes_neighbors;    // those of LAMMPS' list, which is a copy of the pair style's
  bool list_is_made;       // in this run
  class NeighList *full_list;
  double skin;    // of the run's lists
  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentCoordination> on_device;

  // Function of coordination numbers; null: there is none, or the host evaluates it.
  std::unique_ptr<gpucoord::ResidentFunction> function_on_device;
  bool function_is_resident;        // where atoms are
  std::int64_t function_version;    // version of the selected atoms; 0: none are selected
  std::int64_t owners_version;      // version of the owners of ghost atoms; 0: not found
  // Location of the weights for pack and unpack: in 'of', on the GPU, or copied from there to 'of'.
  enum class Weights { HOST, DEVICE, COPIED } weights;
  std::string failed_to_send;    // why this rank has sent wrong weights; "": all were right
};

}    // namespace LAMMPS_NS

#endif
#endif
