/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_FIX_KOKKOS_H
#define LMP_GPUCOORD_FIX_KOKKOS_H

#include "bias_board.h"
#include "gpucoord_device_kokkos.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "fix.h"

#include <memory>

namespace LAMMPS_NS {

class HostAtomsKokkos : public HostAtoms {
 public:
  explicit HostAtomsKokkos(AtomKokkos *atomKK_in) : atomKK(atomKK_in) {}
  void update() override { atomKK->sync(Host, ALL_MASK); }
  void forces_changed() override { atomKK->modified(Host, F_MASK); }

 private:
  AtomKokkos *const atomKK;
};

// A fix that acts on collective variables, with KOKKOS. Variables and biases determine themselves
// where their data are. This class only adapts how KOKKOS calls the fix.

template <class DeviceType, class Base> class FixVariablesKokkos : public Base {
 public:
  FixVariablesKokkos(LAMMPS *lmp, int narg, char **arg) : Base(lmp, narg, arg)
  {
    this->kokkosable = 1;
    this->atomKK = dynamic_cast<AtomKokkos *>(this->atom);
    this->execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
    // The variables copy the data that they need.
    this->datamask_read = this->datamask_modify = EMPTY_MASK;
    BiasBoard::get(lmp)->use(std::make_unique<HostAtomsKokkos>(this->atomKK));
    if (coord_is_cuda<DeviceType>()) device = KokkosDevice::get(lmp);
  }

  // Only on a GPU and on one rank.
  void post_integrate() override
  {
    try {
      device->positions_are_known();
    } catch (const gpucoord::DeviceError &e) {
      this->error->one(FLERR, Error::NOLASTLINE, "Fix {} {}: {} - use suffix off for its computes",
                       this->style, this->id, e.what());
    }
  }

  // post_neighbor() is called when the host waits for the GPU anyway. With several ranks, the host
  // sums S over ranks in each evaluation. pre_force() enqueues the variables before the other
  // forces, which the GPU then computes during that sum. A fix with pre_force() makes LAMMPS clear
  // forces in a separate kernel, in timesteps without evaluation, too.
  int setmask() override
  {
    int mask = Base::setmask();
    if (!coord_is_cuda<DeviceType>()) return mask;
    mask |= FixConst::POST_NEIGHBOR | FixConst::MIN_POST_NEIGHBOR;
    return mask | (this->comm->nprocs == 1 ? FixConst::POST_INTEGRATE : FixConst::PRE_FORCE);
  }

 private:
  std::shared_ptr<KokkosDevice> device;    // null: not on a GPU
};

}    // namespace LAMMPS_NS

#endif
