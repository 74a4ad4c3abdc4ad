/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_bias_kokkos.h"

#include "compute_coord_gpu_kokkos.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "modify.h"
#include "update.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;
using gpucoord::ResidentBias;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
FixCoordBiasKokkos<DeviceType>::FixCoordBiasKokkos(LAMMPS *lmp, int narg, char **arg) :
    FixCoordBias(lmp, narg, arg), host_is_behind(false), gpu_is_behind(true), is_ahead(false),
    nevaluations(0), copied_before(0.0)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = EMPTY_MASK;
  datamask_modify = EMPTY_MASK;
  if (coord_is_cuda<DeviceType>()) device = KokkosDevice::of(lmp);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::init()
{
  // rerun comes here for each frame; after an error in the last run the GPU may have failed
  try {
    if (host_is_behind) take(resident->wait(device->stream()));
  } catch (const gpucoord::DeviceError &) {
    resident.reset();
  }
  host_is_behind = false;
  gpu_is_behind = true;
  nevaluations = 0;
  FixCoordBias::init();
}

/* ----------------------------------------------------------------------
   No PRE_FORCE: with a fix that has it, KOKKOS clears forces in a kernel of its own. Instead the first of these
   fixes says for all what will be asked of the variables.
------------------------------------------------------------------------- */

template <class DeviceType> int FixCoordBiasKokkos<DeviceType>::setmask()
{
  const int mask = FixCoordBias::setmask() & ~(FixConst::PRE_FORCE | FixConst::MIN_PRE_FORCE);
  return coord_is_cuda<DeviceType>() ? mask | FixConst::POST_NEIGHBOR | FixConst::MIN_POST_NEIGHBOR
                                     : mask;
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::post_neighbor()
{
  check_variables();
  for (const auto &variable : variables)
    if (auto *const compute = dynamic_cast<ResidentVariable *>(variable.compute))
      compute->make_pairs(is_due());
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::announce(int vflag)
{
  bool is_first = true;
  for (auto *const fix : modify->get_fix_list()) {
    auto *const other = dynamic_cast<FixCoordBiasKokkos *>(fix);
    if (!other) continue;
    if (is_first && other != this) return;
    is_first = false;
    other->pre_force(vflag);
  }
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::setup(int vflag)
{
  announce(vflag);
  FixCoordBias::setup(vflag);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::min_setup(int vflag)
{
  announce(vflag);
  FixCoordBias::min_setup(vflag);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::post_force(int vflag)
{
  announce(vflag);
  FixCoordBias::post_force(vflag);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::min_post_force(int vflag)
{
  announce(vflag);
  FixCoordBias::min_post_force(vflag);
}

/* ----------------------------------------------------------------------
   The host must wait where it needs S: for the sum over ranks, for the virial, for a hill and its file, and for
   metadynamics without a grid.
------------------------------------------------------------------------- */

template <class DeviceType>
bool FixCoordBiasKokkos<DeviceType>::can_go_ahead(unsigned want, const gpucoord::Step &step) const
{
  if (comm->nprocs > 1 || want != gpucoord::DERIVATIVES ||
      variables.size() > ResidentBias::MAX_VARIABLES)
    return false;
  if (bias->needs_host(step) || bias->on_device().empty()) return false;
  return std::find(on_gpu.begin(), on_gpu.end(), nullptr) == on_gpu.end();
}

template <class DeviceType>
void FixCoordBiasKokkos<DeviceType>::evaluate_bias(unsigned want, const gpucoord::Step &step)
{
  on_gpu.assign(variables.size(), nullptr);
  for (std::size_t v = 0; v < variables.size() && coord_is_cuda<DeviceType>(); ++v) {
    auto *const compute = dynamic_cast<ResidentVariable *>(variables[v].compute);
    if (compute && compute->is_on_gpu()) on_gpu[v] = compute;
  }
  if (std::find(on_gpu.begin(), on_gpu.end(), nullptr) != on_gpu.end())
    nevaluations = -1;    // other data are copied as well
  else if (nevaluations >= 0 && nevaluations++ == 0)
    copied_before = bytes_copied();
  is_ahead = can_go_ahead(want, step);
  if (is_ahead) {
    go_ahead();
  } else {
    wait_for_gpu();
    for (const auto &variable : variables)
      if (!variable.compute->kokkosable) atoms_to_host();
    FixCoordBias::evaluate_bias(want, step);
    gpu_is_behind = true;
  }
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::atoms_to_host()
{
  atomKK->sync(Host, ALL_MASK);
}

template <class DeviceType>
double FixCoordBiasKokkos<DeviceType>::value_of(std::size_t v, unsigned want)
{
  return on_gpu[v] ? on_gpu[v]->evaluate_once_on_gpu(want) : FixCoordBias::value_of(v, want);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::go_ahead()
{
  const auto stream = device->stream();
  try {
    if (!resident) resident = gpucoord::make_resident_bias();
    if (host_is_behind) {
      auto state = resident->glance();
      // the GPU may be writing: only after a wait are all numbers of one evaluation
      if (state.not_finite || state.outside) state = resident->wait(stream);
      heed(state);
    }
    if (gpu_is_behind) {
      ResidentBias::State state = {};
      const auto &known = bias->state();
      std::copy(known.s.begin(), known.s.end(), state.s);
      std::copy(known.dVdS.begin(), known.dVdS.end(), state.slope);
      state.energy = known.energy;
      state.work = known.work;
      state.bad_atom = -1;
      resident->set(state, stream);
      gpu_is_behind = false;
    }
    std::vector<ResidentBias::Variable> terms(variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) {
      ResidentVariable *const compute = on_gpu[v];
      compute->enqueue_once();
      terms[v] = {&compute->coordination(), compute->scale_of_sum()};
    }
    resident->evaluate(terms, bias->on_device(), bias->stride(), stream);
  } catch (const gpucoord::DeviceError &e) {
    error->all(FLERR, Error::NOLASTLINE, "Fix coord/bias {}: {} - use device host for its computes",
               id, e.what());
  }
  host_is_behind = true;
}

/* ----------------------------------------------------------------------
   what the GPU found wrong
------------------------------------------------------------------------- */

template <class DeviceType>
void FixCoordBiasKokkos<DeviceType>::heed(const ResidentBias::State &state)
{
  if (!update->whichflag) return;    // after an error that ended the run: the variables may be gone
  // a variable that the box has now put elsewhere finds by itself what is wrong
  for (std::size_t v = 0; v < on_gpu.size(); ++v) {
    ResidentVariable *const compute = on_gpu[v];
    if (compute && state.moved) compute->warn_of_moved_atoms();
    if (compute && (state.bad_atom >= 0 || !std::isfinite(state.s[v])))
      compute->stop_for_what_is_not_finite();
  }
  if (state.not_finite) {
    host_is_behind = false;
    take(state);
    stop_if_not_finite();
  }
  if (state.outside) {
    host_is_behind = false;
    // the host finds this as well, and raises the error
    evaluate_at(step_of(Moment::STEP), {state.s, state.s + variables.size()});
  }
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::wait_for_gpu()
{
  if (!host_is_behind) return;
  ResidentBias::State state;
  try {
    state = resident->wait(device->stream());
  } catch (const gpucoord::DeviceError &e) {
    error->all(FLERR, Error::NOLASTLINE, "Fix coord/bias {}: {} - use device host for its computes",
               id, e.what());
  }
  host_is_behind = false;
  take(state);
  heed(state);
}

template <class DeviceType>
void FixCoordBiasKokkos<DeviceType>::take(const ResidentBias::State &state)
{
  gpucoord::BiasState known = bias->state();
  std::copy_n(state.s, variables.size(), known.s.begin());
  std::copy_n(state.slope, variables.size(), known.dVdS.begin());
  known.energy = state.energy;
  known.work = state.work;
  bias->take(known);
}

/* ---------------------------------------------------------------------- */

template <class DeviceType>
void FixCoordBiasKokkos<DeviceType>::add_forces_of(std::size_t v, double strength)
{
  ResidentVariable *const compute = on_gpu[v];
  if (!compute) {
    atomKK->sync(Host, F_MASK);
    FixCoordBias::add_forces_of(v, strength);
    atomKK->modified(Host, F_MASK);
    return;
  }
  const double factor = strength * compute->scale_of_sum();
  try {
    const auto forces = device->begin_forces();
    if (is_ahead)
      compute->coordination().add_forces(forces, factor, resident->slope(static_cast<int>(v)),
                                         device->stream());
    else if (bias->state().dVdS[v] != 0.0)
      compute->coordination().add_forces(forces, factor * bias->state().dVdS[v], nullptr,
                                         device->stream());
  } catch (const gpucoord::DeviceError &e) {
    error->one(FLERR, Error::NOLASTLINE, "Fix coord/bias {}: {} - use device host for its computes",
               id, e.what());
  }
  device->end_forces();
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::post_run()
{
  wait_for_gpu();
  FixCoordBias::post_run();
  if (nevaluations > 0 && comm->me == 0)
    utils::logmesg(lmp, "Fix coord/bias {}: copied to and from the GPU: {:.0f} bytes a step\n", id,
                   (bytes_copied() - copied_before) / static_cast<double>(nevaluations));
}

template <class DeviceType> double FixCoordBiasKokkos<DeviceType>::bytes_copied() const
{
  double bytes = resident ? static_cast<double>(resident->bytes_copied()) : 0.0;
  for (ResidentVariable *const compute : on_gpu)
    bytes += static_cast<double>(compute->coordination().bytes_copied());
  return bytes;
}

template <class DeviceType> double FixCoordBiasKokkos<DeviceType>::compute_scalar()
{
  wait_for_gpu();
  return FixCoordBias::compute_scalar();
}

template <class DeviceType> double FixCoordBiasKokkos<DeviceType>::compute_vector(int n)
{
  wait_for_gpu();
  return FixCoordBias::compute_vector(n);
}

template <class DeviceType> void FixCoordBiasKokkos<DeviceType>::write_restart(FILE *fp)
{
  wait_for_gpu();
  FixCoordBias::write_restart(fp);
}

namespace LAMMPS_NS {
template class FixCoordBiasKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class FixCoordBiasKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
