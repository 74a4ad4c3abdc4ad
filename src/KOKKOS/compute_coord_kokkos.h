/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COMPUTE_COORD_KOKKOS_H
#define LMP_COMPUTE_COORD_KOKKOS_H

#include "coord_pair_variable.h"
#include "gpucoord_device_kokkos.h"

#include "gpucoord/resident_function.h"

#include "kokkos_base.h"

#include <cstdint>
#include <memory>
#include <string>

namespace LAMMPS_NS {

// Device of KOKKOS on which a style runs.
struct KokkosSpace {
  ExecutionSpace space;
  bool is_cuda;    // atoms can be resident on a GPU that lib/gpucoord uses
};

// Common part of KOKKOS styles that does not depend on their per-atom numbers. Base:
// ComputeCoordGPU or ComputeCoordOrder.
//
// If the GPU computes and all partners are owned or ghost atoms, atoms and gradients are resident
// on the GPU. Only S and W are copied to the host; on one rank, they are copied only on request.
// LAMMPS may pack numbers of ghost atoms on the host.

template <class Base> class ComputeCoordKokkos : public Base, public KokkosBase {
 public:
  ComputeCoordKokkos(class LAMMPS *, int, char **, const KokkosSpace &);
  void init() override;
  int pack_forward_comm_kokkos(int, DAT::tdual_int_1d, DAT::tdual_double_1d &, int, int *) override;
  void unpack_forward_comm_kokkos(int, int, DAT::tdual_double_1d &) override;
  double memory_usage() override;

  void end_setup() override;
  void announce(unsigned want) override;
  void reneighbored(bool due) override;
  bool is_resident() const override;
  bool can_enqueue() const override;
  gpucoord::DeviceValue enqueue() override;
  gpucoord::DeviceStream stream() const override;
  void raise_device_errors(bool has_moved, bool is_not_finite) override;
  void add_forces(const gpucoord::ItemFactors &) override;
  double bytes_copied() const override;

 protected:
  using LocalEvaluation = typename Base::LocalEvaluation;
  using Path = typename Base::Path;
  using State = typename Base::State;
  using Base::args;
  using Base::atom;
  using Base::atomKK;
  using Base::comm;
  using Base::device_choice;
  using Base::function;
  using Base::ghosts;
  using Base::name;
  using Base::scale;
  using Base::selected;
  using Base::state;
  using Base::table;

  // Returns the variable on the GPU, or null before init().
  virtual gpucoord::Variable *on_device() const = 0;
  // Makes the variable in init(). May throw DeviceError.
  virtual void make_on_device() = 0;
  // Enqueues an evaluation on one rank. May throw DeviceError.
  virtual void enqueue_evaluation(const gpucoord::Request &) = 0;
  // Collective. Enqueues an evaluation and the copies of its results. Does not throw DeviceError,
  // but sets local.failed.
  virtual void evaluate_on_device(LocalEvaluation &, const gpucoord::Request &) = 0;
  // Returns whether S is the sum of the function over atoms.
  virtual bool is_sum_of_function() const { return function != nullptr; }
  // Returns whether ghost atoms get numbers from their owners in an evaluation.
  virtual bool sends_numbers() const { return function != nullptr; }
  virtual gpucoord::DeviceNeighbors neighbors() const { return {}; }
  virtual bool reads_types() const { return table->ntypes() > 0; }

  void atoms_to_host() override;
  void start_local(LocalEvaluation &) override;
  void finish_local(LocalEvaluation &) override;
  bool keeps_gradients(const LocalEvaluation &local) const override
  {
    return local.is_for_forces && !(this->wanted & Base::ON_HOST) && is_resident(local.path) &&
        !checks_gradients();
  }
  std::string data_path(Path) const override;
  bool seeks_partners_in_setup() const override;
  bool is_resident(Path path) const
  {
    return uses_gpu && path == Path::CELLS && (!function || function_is_resident);
  }
  bool checks_gradients() const;
  gpucoord::DeviceAtoms rebuild();
  // Runs work unless this rank has failed.
  template <class Work> void attempt(LocalEvaluation &local, const Work &work) const
  {
    if (!local.failed.empty()) return;
    try {
      work();
    } catch (const gpucoord::DeviceError &e) {
      local.failed = gpu_failure(e.what());
    }
  }
  void begin_function(const gpucoord::DeviceAtoms &, std::int64_t version);
  const int *owners() const { return comm->nprocs == 1 ? function_on_device->owners() : nullptr; }
  void fetch_function(LocalEvaluation &);
  std::string dSds_too_large(int row, double s, double dSds) const;
  void warn_of_moved_atoms();
  bigint id_of_bad_atom();
  std::string gpu_failure(const char *what) const;

  bool uses_gpu;    // if the engine allows
  bool warned_moved;
  bool uses_neighbors;    // use LAMMPS' list, which is a copy of the pair style's
  double skin;            // neighbor skin of the run
  std::shared_ptr<KokkosDevice> device;

  // The function; null: there is no function, or the host evaluates it.
  std::unique_ptr<gpucoord::ResidentFunction> function_on_device;
  bool function_is_resident;        // if atoms are resident
  std::int64_t function_version;    // version of the selected atoms; 0: no atoms are selected
};

// A style on one device of KOKKOS.

template <class DeviceType, class Style> class ComputeCoordOn : public Style {
 public:
  ComputeCoordOn(LAMMPS *lmp, int narg, char **arg) :
      Style(lmp, narg, arg,
            KokkosSpace{ExecutionSpaceFromDevice<DeviceType>::space, coord_is_cuda<DeviceType>()})
  {
  }
};

}    // namespace LAMMPS_NS

#endif
