/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/gpu/kk,ComputeCoordOn<LMPDeviceType>);
ComputeStyle(coord/gpu/kk/device,ComputeCoordOn<LMPDeviceType>);
ComputeStyle(coord/gpu/kk/host,ComputeCoordOn<LMPHostType>);
#define ORDER_PARAMETER(style, definition, text) \
  ComputeStyle(style/kk,ComputeCoordOn<LMPDeviceType>); \
  ComputeStyle(style/kk/device,ComputeCoordOn<LMPDeviceType>); \
  ComputeStyle(style/kk/host,ComputeCoordOn<LMPHostType>);
// clang-format on
#include "coord_styles.h"
#else

#ifndef LMP_COMPUTE_COORD_PAIR_KOKKOS_H
#define LMP_COMPUTE_COORD_PAIR_KOKKOS_H

#include "compute_coord_pair.h"
#include "coord_evaluator_kokkos.h"

#include "kokkos_base.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// Device of KOKKOS on which a style runs.
struct KokkosSpace {
  ExecutionSpace space;
  bool is_cuda;    // atoms can be resident on a GPU that lib/gpucoord uses
};

// If the GPU computes and all partners are owned or ghost atoms, atoms and gradients are resident
// on the GPU. Only S and W are copied to the host; on one rank, they are copied only on request.
// LAMMPS may pack numbers of ghost atoms on the host.

class ComputeCoordPairKokkos : public ComputeCoordPair, public KokkosBase {
 public:
  ComputeCoordPairKokkos(class LAMMPS *, int, char **, const KokkosSpace &);
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;
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

 private:
  void atoms_to_host() override;
  void start_local(LocalEvaluation &) override;
  void finish_local(LocalEvaluation &) override;
  bool keeps_gradients(const LocalEvaluation &) const override;
  std::string data_path(Path) const override;
  bool seeks_partners_in_setup() const override;
  void set_vector(double *to) const override;

  bool is_resident(Path) const;
  bool checks_gradients() const;

  std::unique_ptr<ResidentEvaluator> resident;    // null: the engine of the host evaluates
};

// The style on one device of KOKKOS.

template <class DeviceType> class ComputeCoordOn : public ComputeCoordPairKokkos {
 public:
  ComputeCoordOn(LAMMPS *lmp, int narg, char **arg) :
      ComputeCoordPairKokkos(
          lmp, narg, arg,
          KokkosSpace{ExecutionSpaceFromDevice<DeviceType>::space, coord_is_cuda<DeviceType>()})
  {
  }
};

}    // namespace LAMMPS_NS

#endif
#endif
