/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_VARIABLE_KOKKOS_H
#define LMP_COORD_VARIABLE_KOKKOS_H

#include "gpucoord_backend.h"
#include "gpucoord_device_kokkos.h"

#include "gpucoord/variable.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"

#include <memory>
#include <new>
#include <string>

namespace LAMMPS_NS {

// Device of KOKKOS on which a style runs.
struct KokkosSpace {
  ExecutionSpace space;
  bool is_cuda;    // atoms can be resident on a GPU that lib/gpucoord uses
};

// What all collective variables with KOKKOS have in common. A variable that is resident on the GPU
// has a resident form, an object of the library. Otherwise the style evaluates on the host. Style:
// derived from CoordVariable

template <class Style> class CoordVariableKokkos : public Style {
 public:
  CoordVariableKokkos(LAMMPS *lmp, int narg, char **arg, const KokkosSpace &space) :
      Style{lmp, narg, arg}
  {
    this->kokkosable = 1;
    this->atomKK = dynamic_cast<AtomKokkos *>(this->atom);
    this->execution_space = space.space;
    this->datamask_read = this->datamask_modify = EMPTY_MASK;
  }

  // With another version of the atoms, the next evaluation selects its atoms again.
  void end_setup() override
  {
    Style::end_setup();
    if (device) device->begin_run();
  }
  void announce(unsigned want) override
  {
    Style::announce(want);
    if (device) device->positions_change();
  }

  // The host must wait if it needs S or W: for the sum over ranks, and for the pressure.
  bool can_enqueue() const override
  {
    return this->comm->nprocs == 1 && this->wanted == gpucoord::DERIVATIVES && this->is_resident();
  }
  gpucoord::DeviceValue enqueue() override
  {
    if (this->state != Style::State::ENQUEUED) {
      try {
        enqueue_evaluation();
      } catch (const gpucoord::DeviceError &e) {
        device_choice().stop(failure(e.what()));
      } catch (const std::bad_alloc &) {
        device_choice().stop(failure("out of memory"));
      }
      this->state = Style::State::ENQUEUED;
    }
    return device_value();
  }
  gpucoord::DeviceStream stream() const override { return device->stream(); }

  void add_forces(const gpucoord::ItemFactors &factors) override
  {
    if (factors.are_zero()) return;
    if (this->state == Style::State::HOST) {
      this->atomKK->sync(Host, F_MASK);
      Style::add_forces(factors);
      this->atomKK->modified(Host, F_MASK);
      return;
    }
    gpucoord::ItemFactors scaled = factors;
    scaled.host *= device_value().scale;
    try {
      const auto forces = device->begin_forces();
      resident_form()->add_forces(forces, scaled, device->stream());
      add_more_forces(forces, scaled);
    } catch (const gpucoord::DeviceError &e) {
      this->error->one(FLERR, Error::NOLASTLINE, "{}", failure(e.what()));
    }
    device->end_forces();
  }

 protected:
  // Returns the resident form, or null before init().
  virtual gpucoord::ResidentVariable *resident_form() const = 0;
  // Enqueues an evaluation on one rank. May throw DeviceError and bad_alloc.
  virtual void enqueue_evaluation() = 0;
  // Returns the values of the last evaluation on the GPU.
  virtual gpucoord::DeviceValue device_value() const { return resident_form()->device_value(); }
  // Adds forces that the resident form lacks. May throw DeviceError.
  virtual void add_more_forces(const gpucoord::DeviceForces &, const gpucoord::ItemFactors &) {}
  virtual DeviceChoice &device_choice() const = 0;
  // Returns the error message of a rank whose GPU failed.
  virtual std::string failure(const char *what) const = 0;

  // Collective. Makes the resident form on all ranks. A failure of one rank is an error on all.
  template <class Make> void make_resident_form(const Make &make)
  {
    std::string failed;
    try {
      make();
    } catch (const gpucoord::DeviceError &e) {
      failed = failure(e.what());
    } catch (const std::bad_alloc &) {
      failed = failure("out of memory");
    }
    const int mine = failed.empty() ? 0 : 1;
    int any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, this->world);
    if (any) device_choice().stop(failed);
  }

  std::shared_ptr<KokkosDevice> device;    // null: the variable is never resident
};

// The style on one device of KOKKOS. Style: CoordVariableKokkos or a class derived from it

template <class Style, class DeviceType> class CoordOn : public Style {
 public:
  CoordOn(LAMMPS *lmp, int narg, char **arg) :
      Style(lmp, narg, arg,
            KokkosSpace{ExecutionSpaceFromDevice<DeviceType>::space, coord_is_cuda<DeviceType>()})
  {
  }
};
template <class Style> using CoordOnDevice = CoordOn<Style, LMPDeviceType>;
template <class Style> using CoordOnHost = CoordOn<Style, LMPHostType>;

}    // namespace LAMMPS_NS

#endif
