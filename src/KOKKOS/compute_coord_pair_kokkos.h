/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
#define KOKKOS_STYLES(style, Class) \
  ComputeStyle(style/kk,CoordOnDevice<Class>); \
  ComputeStyle(style/kk/device,CoordOnDevice<Class>); \
  ComputeStyle(style/kk/host,CoordOnHost<Class>);
ComputeStyle(coord/gpu/kk,CoordOnDevice<ComputeCoordPairKokkos>);
ComputeStyle(coord/gpu/kk/device,CoordOnDevice<ComputeCoordPairKokkos>);
ComputeStyle(coord/gpu/kk/host,CoordOnHost<ComputeCoordPairKokkos>);
#define ORDER_PARAMETER(style, definition, text) \
  KOKKOS_STYLES(style,ComputeCoordPairKokkos)
// clang-format on
#include "coord_styles.h"
#undef KOKKOS_STYLES
#else

#ifndef LMP_COMPUTE_COORD_PAIR_KOKKOS_H
#define LMP_COMPUTE_COORD_PAIR_KOKKOS_H

#include "compute_coord_pair.h"
#include "coord_evaluator_kokkos.h"
#include "coord_variable_kokkos.h"

#include "kokkos_base.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// If the GPU computes and all partners are owned or ghost atoms, atoms and gradients are resident
// on the GPU. Only S and W are copied to the host; on one rank, they are copied only on request.
// LAMMPS may pack numbers of ghost atoms on the host.

class ComputeCoordPairKokkos : public CoordVariableKokkos<ComputeCoordPair>, public KokkosBase {
 public:
  ComputeCoordPairKokkos(class LAMMPS *, int, char **, const KokkosSpace &);
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;
  int pack_forward_comm_kokkos(int, DAT::tdual_int_1d, DAT::tdual_double_1d &, int, int *) override;
  void unpack_forward_comm_kokkos(int, int, DAT::tdual_double_1d &) override;
  double memory_usage() override;

  void reneighbored(bool due) override;
  bool is_resident() const override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void raise_device_errors(bool has_moved, bool is_not_finite) override;
  double bytes_copied() const override;

 private:
  gpucoord::ResidentVariable *resident_form() const override { return resident->variable(); }
  void enqueue_evaluation() override;
  gpucoord::DeviceValue device_value() const override;
  DeviceChoice &device_choice() const override { return evaluator->device_choice(); }
  std::string failure(const char *what) const override { return resident->failure(what); }
  void add_more_forces(const gpucoord::DeviceForces &, const gpucoord::ItemFactors &) override;
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

}    // namespace LAMMPS_NS

#endif
#endif
