/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_BACKEND_H
#define LMP_GPUCOORD_BACKEND_H

#include "pointers.h"
#include "update.h"

#include "gpucoord/coordination.h"
#include "gpucoord/counters.h"
#include "gpucoord/multisite.h"
#include "gpucoord/potential_map.h"
#include "gpucoord_words.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace LAMMPS_NS {

// Who computes, the host or a GPU: the choice, which is the same on all ranks, and errors
// of one rank that must stop all.

class DeviceChoice : protected Pointers {
 public:
  // Collective. An error where device cuda is asked for and a rank has no GPU, which begins with the name of the
  // style and points at this argument of the command.
  DeviceChoice(LAMMPS *, Words::Device, const std::string &style, int argument);
  // Collective. The device for a style whose device is in a restart file. A file with device cuda can be read on machines
  // without a GPU: rank 0 then prints that the style runs on the host.
  static Words::Device restarted(LAMMPS *, Words::Device stored, const std::string &style);

  bool is_cuda() const { return cuda; }
  // of this rank, as the library numbers them
  int device_number() const { return device; }
  // backend and device of this rank, and for device auto why there is no GPU
  std::string description() const;

 protected:
  // Collective. Calls 'make' for this rank's device unless it was called for as many threads as now. False where that
  // throws a DeviceError on any rank; failure then says why on those.
  bool make_on_all(const std::string &owner, const std::function<void(int device)> &make,
                   std::string &failure);
  // Collective. An error on all ranks, with the message of the lowest rank that has one.
  [[noreturn]] void stop_all(std::string failure);

  int nthreads = 0;    // of the backend; 0: it must be made

 private:
  int share_first(std::string &text) const;
  void choose_device(int count);

  bool cuda = false;
  std::string why_host;
  int device = 0, sharing = 1;    // number of the GPU, and of ranks that use it
  std::string device_name;
};

// The backend of this rank.

template <class Computer> class BackendOf : public DeviceChoice {
 public:
  using DeviceChoice::DeviceChoice;

  // Collective. The next init() makes the backend anew: for other functions.
  void reset() { nthreads = 0; }

  Computer *operator->() const
  {
    GPUCOORD_COUNT_TIMESTEP(update->ntimestep);
    return computer.get();
  }

  // Collective. Ends in an error on all ranks, with the message of the lowest rank that has
  // one. The next init() makes the backend anew.
  [[noreturn]] void stop(std::string failure)
  {
    reset();
    computer.reset();    // and its memory
    stop_all(std::move(failure));
  }

 protected:
  template <class Make> void init_by(const std::string &owner, const Make &make)
  {
    std::string failure;
    if (!make_on_all(
            owner,
            [&](int device) {
              computer = make(device);
            },
            failure))
      stop(std::move(failure));
  }

 private:
  std::unique_ptr<Computer> computer;
};

class Backend : public BackendOf<gpucoord::Coordination> {
 public:
  using BackendOf::BackendOf;

  // Collective. Makes the backend, where it was not made for as many threads as now.
  void init(const gpucoord::SwitchTable &, gpucoord::Precision, const std::string &owner);
};

class MultisiteBackend : public BackendOf<gpucoord::Multisite> {
 public:
  using BackendOf::BackendOf;

  // The same.
  void init(const gpucoord::MultisiteModel &, gpucoord::Precision, const std::string &owner);
};

class MapBackend : public BackendOf<gpucoord::PotentialMap> {
 public:
  using BackendOf::BackendOf;

  // The same.
  void init(const gpucoord::MapOptions &, gpucoord::Precision, const gpucoord::MapBins &,
            const std::string &owner);
};

}    // namespace LAMMPS_NS

#endif
