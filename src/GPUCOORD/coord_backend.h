/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_BACKEND_H
#define LMP_COORD_BACKEND_H

#include "pointers.h"

#include "coord_words.h"
#include "gpucoord/coordination.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {

// Who computes, the host or a GPU: the choice, which is the same on all ranks, the
// backend of this rank, and errors of one rank that must stop all.

class CoordBackend : protected Pointers {
 public:
  // Collective. An error where device cuda is asked for and a rank has no GPU, which begins with the name of the
  // style and points at this argument of the command.
  CoordBackend(LAMMPS *, CoordWords::Device, const std::string &style, int argument);

  // Collective. Makes the backend, where it was not made for as many threads as now.
  void init(const gpucoord::SwitchTable &, gpucoord::Precision, const std::string &owner);
  // Collective. The next init() makes the backend anew: for other functions.
  void reset() { nthreads = 0; }

  gpucoord::Coordination *operator->() const { return coordination.get(); }

  // Collective. Ends in an error on all ranks, with the message of the lowest rank that has
  // one. The next init() makes the backend anew.
  [[noreturn]] void stop(std::string failure);

  bool is_cuda() const { return cuda; }
  // backend and device of this rank, and for device auto why there is no GPU
  std::string description() const;

 private:
  int share_first(std::string &text) const;
  void choose_device(int count);

  bool cuda = false;
  std::string why_host;
  int device = 0, sharing = 1;    // number of the GPU, and of ranks that use it
  std::string device_name;
  int nthreads = 0;    // of the backend; 0: it must be made
  std::unique_ptr<gpucoord::Coordination> coordination;
};

}    // namespace LAMMPS_NS

#endif
