/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(coord/bias/kk,FixCoordBiasKokkos<LMPDeviceType>);
FixStyle(coord/bias/kk/device,FixCoordBiasKokkos<LMPDeviceType>);
FixStyle(coord/bias/kk/host,FixCoordBiasKokkos<LMPHostType>);
// clang-format on
#else

#ifndef LMP_FIX_COORD_BIAS_KOKKOS_H
#define LMP_FIX_COORD_BIAS_KOKKOS_H

#include "fix_coord_bias.h"

#include "gpucoord_device_kokkos.h"

#include "gpucoord/resident_bias.h"

namespace LAMMPS_NS {
class ResidentVariable;

// Where all variables are on one GPU, the bias is evaluated there as well, and no step waits for S: what the host
// knows of it is then that of an earlier step, until someone asks.

template <class DeviceType> class FixCoordBiasKokkos : public FixCoordBias {
 public:
  FixCoordBiasKokkos(class LAMMPS *, int, char **);
  int setmask() override;
  void init() override;
  void post_neighbor() override;
  void min_post_neighbor() override { post_neighbor(); }
  void setup(int) override;
  void min_setup(int) override;
  void post_force(int) override;
  void min_post_force(int) override;
  void post_run() override;
  double compute_scalar() override;
  double compute_vector(int) override;
  void write_restart(FILE *) override;

 private:
  void atoms_to_host() override;
  double value_of(std::size_t variable, unsigned want) override;
  void evaluate_bias(unsigned want, const gpucoord::Step &) override;
  void add_forces_of(std::size_t variable, double strength) override;

  bool can_go_ahead(unsigned want, const gpucoord::Step &) const;
  void go_ahead();
  void wait_for_gpu();
  void announce(int vflag);
  double bytes_copied() const;
  void take(const gpucoord::ResidentBias::State &);
  void heed(const gpucoord::ResidentBias::State &);

  std::vector<ResidentVariable *> on_gpu;    // variables of this evaluation, null: it is not there
  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentBias> resident;
  bool host_is_behind, gpu_is_behind;    // who does not know the state of the bias
  bool is_ahead;                         // the present forces are those of a bias on the GPU
  bigint nevaluations;                   // of this run, where all variables are on the GPU
  double copied_before;                  // this run, bytes
};

}    // namespace LAMMPS_NS

#endif
#endif
