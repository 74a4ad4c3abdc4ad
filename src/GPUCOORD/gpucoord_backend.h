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

#include "gpucoord/bytes_of.h"
#include "gpucoord/coordination.h"
#include "gpucoord/counters.h"
#include "gpucoord/multisite.h"
#include "gpucoord/order_parameter.h"
#include "gpucoord/potential_map.h"
#include "gpucoord_parse.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace LAMMPS_NS {

// Selects the backend, host or GPU, with the same result on all ranks. Raises errors of one rank on
// all ranks.

class DeviceChoice : protected Pointers {
 public:
  // Collective. Raises an error if device cuda is requested and a rank has no GPU. The error begins
  // with the name of the style and points at this argument of the command.
  DeviceChoice(LAMMPS *, Parse::Device, const std::string &style, int argument);
  // Collective. Returns the device of a style that is read from a restart file. A file with device
  // cuda can be read on machines without a GPU: rank 0 then prints that the style runs on the host.
  static Parse::Device restarted(LAMMPS *, Parse::Device stored, const std::string &style);

  virtual ~DeviceChoice() = default;

  bool is_cuda() const { return cuda; }
  // Returns the GPU of this rank, in the library's numbering.
  int device_number() const { return device; }
  // Returns backend and device of this rank; for device auto on the host, also why no GPU is used.
  std::string description() const;
  // Collective. Raises an error on all ranks, with the message of the lowest rank that has one.
  [[noreturn]] virtual void stop(std::string failure) { stop_all(std::move(failure)); }

 protected:
  // Collective. Calls 'make' for this rank's device, unless the backend exists for the current
  // number of threads. Returns false if 'make' throws a DeviceError on any rank, and sets failure
  // on those ranks to the message.
  bool make_on_all(const std::string &owner, const std::function<void(int device)> &make,
                   std::string &failure);
  // Collective. Raises an error on all ranks, with the message of the lowest rank that has one.
  [[noreturn]] void stop_all(std::string failure);

  int nthreads = 0;    // threads of the backend; 0: there is no backend

 private:
  int broadcast_first(std::string &text) const;
  void choose_device(int count);

  bool cuda = false;
  std::string why_host;
  int device = 0, ranks_per_device = 1;    // GPU number; number of ranks that share it
  std::string device_name;
};

// The backend of this rank.

template <class Computer> class BackendOf : public DeviceChoice {
 public:
  using DeviceChoice::DeviceChoice;

  bool exists() const { return computer != nullptr; }
  // Collective. The next init() makes a new backend, for example for other functions.
  void reset() { nthreads = 0; }

  Computer *operator->() const
  {
    GPUCOORD_COUNT_TIMESTEP(update->ntimestep);
    return computer.get();
  }

  // Memory of the backend on the host and on the GPU.
  double bytes() const { return computer ? static_cast<double>(computer->bytes()) : 0.0; }

  // The next init() makes a new backend.
  [[noreturn]] void stop(std::string failure) override
  {
    reset();
    computer.reset();    // also frees its memory
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

  // Collective. Makes the backend, unless it exists for the current number of threads.
  void init(const gpucoord::SwitchTable &, gpucoord::Precision, const std::string &owner);
};

class MultisiteBackend : public BackendOf<gpucoord::Multisite> {
 public:
  using BackendOf::BackendOf;

  // Collective. Makes the backend, unless it exists for the current number of threads.
  void init(const gpucoord::MultisiteModel &, gpucoord::Precision, const std::string &owner);
};

class OrderBackend : public BackendOf<gpucoord::OrderParameter> {
 public:
  using BackendOf::BackendOf;
  // Makes an order parameter on this GPU if is_cuda(), otherwise on the host.
  using Make = std::function<std::unique_ptr<gpucoord::OrderParameter>(int device)>;

  // Collective. Makes the backend, unless it exists for the current number of threads.
  void init(const Make &, const std::string &owner);
};

class MapBackend : public BackendOf<gpucoord::PotentialMap> {
 public:
  using BackendOf::BackendOf;

  // Collective. Makes the backend, unless it exists for the current number of threads.
  void init(const gpucoord::MapOptions &, gpucoord::Precision, const gpucoord::MapBins &,
            const std::string &owner);
};

}    // namespace LAMMPS_NS

#endif
