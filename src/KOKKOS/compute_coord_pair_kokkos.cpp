/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "compute_coord_pair_kokkos.h"

#include "coord_arguments.h"
#include "coord_coordination.h"
#include "coord_coordination_kokkos.h"
#include "gpucoord_backend.h"
#include "order_evaluator_kokkos.h"

#include "atom_kokkos.h"
#include "comm.h"
#include "error.h"
#include "kokkos.h"

#include <new>

using namespace LAMMPS_NS;
using gpucoord::DERIVATIVES;

/* ---------------------------------------------------------------------- */

// Returns the resident form of an evaluator, or null if it has none.
static std::unique_ptr<ResidentEvaluator> resident_form_of(LAMMPS *lmp, CoordPairData &data,
                                                           CoordEvaluator *evaluator)
{
  if (auto *const order = dynamic_cast<OrderEvaluator *>(evaluator))
    return std::make_unique<ResidentOrderEvaluator>(lmp, data, *order);
  if (dynamic_cast<CoordinationEvaluator *>(evaluator))
    return std::make_unique<ResidentCoordinationEvaluator>(lmp, data);
  return nullptr;
}

ComputeCoordPairKokkos::ComputeCoordPairKokkos(LAMMPS *lmp, int narg, char **arg,
                                               const KokkosSpace &space) :
    CoordVariableKokkos(lmp, narg, arg, space)
{
  const bool uses_gpu = space.is_cuda && evaluator->device_choice().is_cuda();
  if (uses_gpu) resident = resident_form_of(lmp, data, evaluator.get());
  if (resident) device = resident->device;
}

void ComputeCoordPairKokkos::init()
{
  if (resident) resident->begin_run();
  ComputeCoordPair::init();
  if (!resident || !data.table->has_end()) return;
  make_resident_form([this] {
    resident->make();
  });
  resident->request_neighbors(this);
}

void ComputeCoordPairKokkos::init_list(int /*id*/, NeighList *ptr)
{
  resident->init_list(ptr);
}

void ComputeCoordPairKokkos::setup()
{
  if (resident) resident->setup();
  ComputeCoordPair::setup();
}

std::string ComputeCoordPairKokkos::data_path(Path path) const
{
  if (is_resident(path)) {
    std::string text = "atoms and derivatives resident on the GPU";
    if (resident->uses_neighbors()) text += ", pairs of LAMMPS' neighbor list";
    const bool packs_on_host = comm->style != Comm::BRICK ||
        lmp->kokkos->forward_compute_comm_legacy;
    if (resident->is_sum_of_function() && comm->nprocs > 1 && packs_on_host)
      text += fmt::format(", {} of ghost atoms through the host", data.args->terms().ghost_numbers);
    return text + device->ghosts_path();
  }
  return ComputeCoordPair::data_path(path) + coord_host_path();
}

// On one rank, the host may not wait for any evaluation of a run.
bool ComputeCoordPairKokkos::seeks_partners_in_setup() const
{
  return is_resident(data.paths.last()) ? comm->nprocs == 1
                                        : ComputeCoordPair::seeks_partners_in_setup();
}

/* ---------------------------------------------------------------------- */

// Keyword check compares gradients on the host.
bool ComputeCoordPairKokkos::is_resident() const
{
  // in_current_box() may stop the run: only the GPU needs it here.
  return resident && !checks_gradients() && is_resident(data.paths.in_current_box());
}

bool ComputeCoordPairKokkos::is_resident(Path path) const
{
  return resident && resident->can_evaluate(path);
}

bool ComputeCoordPairKokkos::checks_gradients() const
{
  return data.args->check_every != 0;
}

// Biases and expressions have no common factor on the GPU.
void ComputeCoordPairKokkos::add_forces(const gpucoord::ItemFactors &factors)
{
  const bool is_enqueued = state == State::ENQUEUED;
  gpucoord::ItemFactors all = factors;
  if (is_enqueued && resident->one_over_weights()) all.device = resident->one_over_weights();
  CoordVariableKokkos::add_forces(all);
  if (state != State::HOST && data.center() && !factors.are_zero())
    resident->add_center_forces(factors.host_factor() * scale, is_enqueued);
}

void ComputeCoordPairKokkos::add_more_forces(const gpucoord::DeviceForces &forces,
                                             const gpucoord::ItemFactors &factors)
{
  if (data.within) resident->add_weight_forces(forces, factors.factor(), state == State::ENQUEUED);
}

void ComputeCoordPairKokkos::enqueue_evaluation()
{
  begin_evaluation(true);
  if (data.within) data.within->enqueue_center();
  resident->enqueue({DERIVATIVES, true, device->positions()});
  set_scale(resident->one_over_weights() ? 1.0
                                         : static_cast<double>(resident->variable()->natoms_a()));
}

gpucoord::DeviceValue ComputeCoordPairKokkos::device_value() const
{
  gpucoord::DeviceValue value = resident->device_value();
  value.scale = scale;
  return value;
}

// If a change of the box has moved the variable to the host, the evaluation on the host raises the
// error.
void ComputeCoordPairKokkos::raise_device_errors(bool has_moved, bool is_not_finite)
{
  if (!is_resident()) return;
  if (has_moved) resident->warn_of_moved_atoms();
  if (is_not_finite) evaluate(gpucoord::VALUE, true);    // raises an error with the atom or S
}

double ComputeCoordPairKokkos::bytes_copied() const
{
  // Uses the path of the last evaluation, not of the current box, which may be unsupported after
  // the last timestep.
  const bool was_resident = is_resident(data.paths.last()) && !checks_gradients();
  if (!was_resident) return -1.0;
  return resident->bytes_copied();
}

/* ----------------------------------------------------------------------
   LAMMPS has waited for the GPU to build its lists, so that the GPU is idle. Search for pairs at
   this point, because later the search would wait for the kernels of the timestep. If this timestep
   has no evaluation, rebuild the pairs only if this needs no search.
------------------------------------------------------------------------- */

void ComputeCoordPairKokkos::reneighbored(bool due)
{
  if (!is_resident() || !dynamic_group().empty() || (!due && !resident->uses_neighbors())) return;
  // After an error, the evaluation calls rebuild() again and reports the error on all ranks.
  try {
    resident->rebuild();
  } catch (const gpucoord::DeviceError &) {
  } catch (const std::bad_alloc &) {
  }
}

/* ---------------------------------------------------------------------- */

void ComputeCoordPairKokkos::start_local(LocalEvaluation &local)
{
  if (!is_resident(local.path)) return;
  resident->find_center(local);
  state = State::UNKNOWN;          // overwrites enqueued results, and the gradients on the GPU
  if (data.args->check_every) {    // the reference reads atoms
    atoms_to_host();
    data.selected.select();
  }
  gpucoord::Request request;
  request.want = local.want;
  request.for_forces_only = keeps_gradients(local) && !local.peratom;
  // 0: positions outside of force evaluations have no version number.
  request.positions = local.is_for_forces ? device->positions() : 0;
  resident->start(local, request);
}

void ComputeCoordPairKokkos::finish_local(LocalEvaluation &local)
{
  if (!is_resident(local.path)) {
    ComputeCoordPair::finish_local(local);
    return;
  }
  resident->finish(local);
}

int ComputeCoordPairKokkos::pack_forward_comm_kokkos(int n, DAT::tdual_int_1d k_list,
                                                     DAT::tdual_double_1d &k_buf, int /*pbc_flag*/,
                                                     int * /*pbc*/)
{
  return ghosts.pack_on_device(n, k_list.view_device().data(), k_buf.view_device().data());
}

void ComputeCoordPairKokkos::unpack_forward_comm_kokkos(int n, int first,
                                                        DAT::tdual_double_1d &k_buf)
{
  ghosts.unpack_on_device(n, first, k_buf.view_device().data());
}

void ComputeCoordPairKokkos::atoms_to_host()
{
  ResidentEvaluator::atoms_to_host(atomKK);
}

bool ComputeCoordPairKokkos::keeps_gradients(const LocalEvaluation &local) const
{
  return local.is_for_forces && !(wanted & ON_HOST) && is_resident(local.path) &&
      !checks_gradients();
}

void ComputeCoordPairKokkos::set_vector(double *to) const
{
  if (is_resident(running.path))
    resident->set_vector(to);
  else
    ComputeCoordPair::set_vector(to);
}

double ComputeCoordPairKokkos::memory_usage()
{
  return ComputeCoordPair::memory_usage() + (resident ? resident->memory_usage() : 0.0);
}
