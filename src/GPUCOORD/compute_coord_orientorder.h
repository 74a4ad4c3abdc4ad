/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/orientorder,ComputeCoordOrientOrder);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_ORIENTORDER_H
#define LMP_COMPUTE_COORD_ORIENTORDER_H

#include "compute_coord_gpu.h"

#include "gpucoord/orient_order.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class OrientOrderBackend;

// Bond-orientational order parameters of atoms. The library evaluates them and their function, and
// calls for the communication with other ranks.

class ComputeCoordOrientOrder : public ComputeCoordGPU {
 public:
  ComputeCoordOrientOrder(class LAMMPS *, int, char **);
  ~ComputeCoordOrientOrder() override;
  void init() override;
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
  double memory_usage() override;

  void share(double *numbers) override;

 protected:
  DeviceChoice &device_choice() const override;
  // Prepare the numbers of atoms of an evaluation, and memory for communication on the host.
  void begin_numbers(const Share &);
  void reserve_exchange();
  double share_in_s(double value) const;
  bool wants_w_hat(const Share &) const;

  const gpucoord::OrientOrderOptions options;
  const bool is_global;                 // S is one number of all atoms, not a sum over atoms
  std::int64_t natoms_with_partners;    // on this rank; with a GPU: 1 if there are any
  std::vector<double> w_of_atoms;       // [nlocal]; empty: not wanted
  // Numbers that are sent to ghost atoms, [nmax][ncolumns] with at most comm_forward columns.
  std::vector<double> exchanged;
  int ncolumns;

 private:
  void begin_share(const Share &) override;
  void evaluate_share(Share &) override;
  void take_part(Share &) override;
  gpucoord::Contribution evaluate_reference(const Share &, double *peratom) override;
  double finish_evaluation(const double *sums) override;
  void init_backend() override;
  std::string description() const override;

  gpucoord::OrderInput input();
  void forward(double *numbers, int columns);
  void find_owners();

  std::unique_ptr<OrientOrderBackend> order_backend;
  std::unique_ptr<gpucoord::OrderParameter> reference;    // keyword check; null: none
  bool warned_alone;
  const bool has_w_hat;              // column 6
  std::vector<double> f_of_atoms;    // [nlocal]
};

}    // namespace LAMMPS_NS

#endif
#endif
