/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_MEMBERS_KOKKOS_H
#define LMP_COORD_MEMBERS_KOKKOS_H

#include "coord_variable_kokkos.h"

#include "gpucoord_backend.h"

#include "gpucoord/variable.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace LAMMPS_NS {

// A variable of members with KOKKOS. The GPU finds and sums the members. On one rank, it also
// evaluates the functions of the sums; on several ranks, the sums pass through the host, which adds
// those of all ranks. The gradients stay on the GPU. The host finds the members once in a run, to
// check them and for the references; for unwrap nearest, at each build of neighbor lists. Without a
// resident form, the host evaluates. Style: derived from CoordMembers

template <class Style> class CoordMembersKokkos : public CoordVariableKokkos<Style> {
  using Base = CoordVariableKokkos<Style>;

 public:
  CoordMembersKokkos(LAMMPS *lmp, int narg, char **arg, const KokkosSpace &space) :
      Base(lmp, narg, arg, space),
      choice(lmp, space.is_cuda ? Parse::Device::AUTO : Parse::Device::HOST, arg[2],
             Error::NOLASTLINE)
  {
    if (choice.is_cuda()) this->device = KokkosDevice::get(lmp);
  }

  void init() override
  {
    selected = {-1, -1};
    last_step = -1;
    if (this->device) {
      this->device->begin_run();
      this->device->sync_masses_by_type();
      take_last_flags();    // of the previous frame of a rerun
      this->make_resident_form([this] {
        resident = this->make_resident();
      });
    }
    Style::init();
  }
  double memory_usage() override
  {
    return Style::memory_usage() + (resident ? static_cast<double>(resident->bytes()) : 0.0);
  }

  bool is_resident() const override { return resident != nullptr; }
  // Beside the other forces, where KokkosDevice knows that nothing changes the positions.
  gpucoord::DeviceStream own_stream() const override
  {
    return is_beside ? this->device->begin_beside() : this->stream();
  }
  void join_stream() override
  {
    if (is_beside) this->device->join_beside();
  }
  double bytes_copied() const override
  {
    return resident ? static_cast<double>(resident->bytes_copied()) : -1.0;
  }
  // The evaluation on the host raises the error. Only the first warnings of a run wait for the GPU.
  void raise_device_errors(bool /*has_moved*/, bool is_not_finite) override
  {
    if (is_not_finite) this->evaluate_now(gpucoord::VALUE);
    const bool is_new = (resident->was_singular() && this->seen.first_singular < 0) ||
        (resident->was_far() && this->seen.first_far < 0);
    if (is_new) take_flags();
  }
  void end_run() override
  {
    take_last_flags();
    Style::end_run();
  }

  void start(bool is_for_forces) override
  {
    keeps_gradients = resident && is_for_forces && !(this->wanted & Base::ON_HOST);
    Style::start(is_for_forces);
    if (!keeps_gradients) return;
    this->counts = false;                          // the GPU does
    if (this->wanted & gpucoord::ATOM_VIRIAL) {    // the host computes it
      this->atomKK->sync(Host, X_MASK | IMAGE_MASK | TYPE_MASK | RMASS_MASK);
      this->set_weights();
    }
    attempt([this] {
      select(this->stream());
      resident->sum(this->box, members_on_device(), this->stream());
      resident->enqueue_result(this->stream());
    });
  }
  void finish(const double *sums) override
  {
    if (this->header_of(sums).has_failed > 0.0) choice.stop(this->failed);
    Style::finish(sums);
    if (!keeps_gradients) return;
    resident->evaluate_at(this->box, sums + Base::NHEADER, this->stream());
    if (!this->sums_again.empty())
      resident->evaluate_again(this->sums_again.data(), this->stream());
    this->state = Style::State::DEVICE;
  }

 protected:
  gpucoord::ResidentVariable *resident_form() const override { return resident.get(); }
  DeviceChoice &device_choice() const override { return choice; }
  std::string failure(const char *what) const override
  {
    return fmt::format("{}: rank {} failed: {} - use suffix off for this compute", this->name,
                       this->comm->me, what);
  }
  std::string data_path() const override
  {
    return resident ? "atoms and derivatives resident on the GPU"
                    : Style::data_path() + coord_host_path();
  }

  void enqueue_evaluation() override
  {
    keeps_gradients = true;
    Style::start(true);
    if (!this->problem.empty()) this->evaluate_now(gpucoord::VALUE);    // raises the error
    // Another evaluation in this timestep must come after what still reads the first one.
    is_beside = this->device->can_be_beside() && last_step != this->update->ntimestep;
    last_step = this->update->ntimestep;
    const auto on = own_stream();
    select(on);
    resident->evaluate(this->box, members_on_device(), on);
  }

  bool needs_members() const override
  {
    return !keeps_gradients || this->unwrap == gpucoord::Unwrap::NEAREST ||
        (this->wanted & gpucoord::ATOM_VIRIAL);
  }
  void atoms_to_host(bool find) override
  {
    const unsigned finds = TAG_MASK | MASK_MASK | IMAGE_MASK | X_MASK;
    if (find || !keeps_gradients) this->atomKK->sync(Host, finds | TYPE_MASK | RMASS_MASK);
  }
  std::string sum_members(double *sums) override
  {
    if (!keeps_gradients) return Style::sum_members(sums);
    attempt([&] {
      std::copy_n(resident->result(), this->function().nsums(), sums);
    });
    return this->failed;
  }
  void sum_members_again(const double *sums, double *again) override
  {
    if (!keeps_gradients) return Style::sum_members_again(sums, again);
    try {
      resident->evaluate_at(this->box, sums, this->stream());
      std::copy_n(resident->sum_again(this->stream()), this->sums_again.size(), again);
    } catch (const gpucoord::DeviceError &e) {
      this->error->one(FLERR, Error::NOLASTLINE, "{}", failure(e.what()));
    }
  }

 private:
  gpucoord::DeviceMembers members_on_device() const
  {
    const auto is_group = [](int bit) {
      return bit != 0;
    };
    const auto is_by_mass = [](const auto &point) {
      return point.by_mass;
    };
    const auto has_own_references = [](const auto &point) {
      return point.has_own_references;
    };
    const auto &bits = this->groupbits;
    const auto &points = this->points;
    return this->device->members(std::any_of(bits.begin(), bits.end(), is_group),
                                 std::any_of(points.begin(), points.end(), is_by_mass),
                                 std::any_of(points.begin(), points.end(), has_own_references));
  }
  void select(gpucoord::DeviceStream on)
  {
    const auto now = std::make_pair(this->device->version(), this->members_version);
    if (now == selected) return;
    selected = {-1, -1};    // remains if an exception is thrown
    gpucoord::PointSelection chosen;
    for (const auto &point : this->points) {
      chosen.row.push_back(this->row_of(point));
      chosen.by_mass.push_back(point.by_mass);
    }
    chosen.bit = this->groupbits;
    chosen.reference = this->references;
    resident->select(chosen, on);
    selected = now;
  }
  void take_flags()
  {
    try {
      const auto flags = resident->take_flags(this->stream());
      this->seen.nsingular += flags.nsingular;
      this->warn_of(flags);
    } catch (const gpucoord::DeviceError &e) {
      this->error->one(FLERR, Error::NOLASTLINE, "{}", failure(e.what()));
    }
  }
  void take_last_flags()
  {
    if (!resident) return;
    Kokkos::fence();
    if (resident->was_singular()) take_flags();
  }
  // Runs work unless this rank has failed.
  template <class Work> void attempt(const Work &work)
  {
    if (!this->failed.empty()) return;
    try {
      work();
    } catch (const gpucoord::DeviceError &e) {
      this->failed = this->failure(e.what());
    } catch (const std::bad_alloc &) {
      this->failed = this->failure("out of memory");
    }
  }

  mutable DeviceChoice choice;
  std::unique_ptr<gpucoord::ResidentMembers> resident;
  std::pair<std::int64_t, std::int64_t> selected;    // versions of the rows and references
  bool keeps_gradients = false;    // the gradients of this evaluation are on the GPU alone
  bool is_beside = false;          // the enqueued evaluation is beside the other forces
  bigint last_step = -1;           // of the last enqueued evaluation
};

}    // namespace LAMMPS_NS

#endif
