/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_COORDINATION_KOKKOS_H
#define LMP_COORD_COORDINATION_KOKKOS_H

#include "coord_evaluator_kokkos.h"

#include "gpucoord/resident_coordination.h"

#include <memory>

namespace LAMMPS_NS {

// Coordination number, or a function of the coordination numbers of atoms.

class ResidentCoordinationEvaluator : public ResidentEvaluator {
 public:
  using ResidentEvaluator::ResidentEvaluator;
  gpucoord::ResidentPairVariable *variable() const override { return coordination.get(); }
  void enqueue(const gpucoord::Request &) override;
  void start(LocalEvaluation &, const gpucoord::Request &) override;
  void finish(LocalEvaluation &) override;
  void begin_run() override;
  void setup() override;
  void init_list(class NeighList *) override;
  void request_neighbors(class Compute *) override;
  bool uses_neighbors() const override { return has_list; }

 private:
  void make_variable() override;
  gpucoord::DeviceNeighbors neighbors() const override;

  bool may_use_neighbors() const;
  void enqueue_first(const gpucoord::Request &);
  void enqueue_second(const gpucoord::Request &);

  bool has_list = false;        // use LAMMPS' list in this run
  bool list_is_made = false;    // LAMMPS has built the list in this run
  class NeighList *full_list = nullptr;
  std::unique_ptr<gpucoord::ResidentCoordination> coordination;
};

}    // namespace LAMMPS_NS

#endif
