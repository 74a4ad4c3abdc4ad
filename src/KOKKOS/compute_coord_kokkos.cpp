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

#include "compute_coord_kokkos.h"

#include "compute_coord_gpu.h"
#include "compute_coord_order.h"
#include "coord_arguments.h"
#include "gpucoord_backend.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "kokkos.h"
#include "neighbor.h"

#include <cmath>
#include <numeric>

using namespace LAMMPS_NS;
using gpucoord::DERIVATIVES;

/* ---------------------------------------------------------------------- */

template <class Base>
ComputeCoordKokkos<Base>::ComputeCoordKokkos(LAMMPS *lmp, int narg, char **arg,
                                             const KokkosSpace &space) :
    Base(lmp, narg, arg),
    warned_moved(false), uses_neighbors(false), skin(0.0), function_is_resident(false),
    function_version(0)
{
  this->kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  this->execution_space = space.space;
  this->datamask_read = EMPTY_MASK;
  this->datamask_modify = EMPTY_MASK;
  uses_gpu = space.is_cuda && device_choice().is_cuda();
  if (uses_gpu) device = KokkosDevice::get(lmp);
  function_is_resident = uses_gpu && function && gpucoord::can_be_resident(*args->function);
}

template <class Base> void ComputeCoordKokkos<Base>::init()
{
  if (uses_gpu) device->begin_run();
  skin = this->neighbor->skin;
  Base::init();
  warned_moved = false;
  if (!uses_gpu || !table->has_end()) return;
  std::string failed;
  try {
    make_on_device();
    on_device()->discard_errors(device->stream());    // errors may belong to an earlier run
    if (function_is_resident)
      function_on_device = gpucoord::make_resident_function(*args->function, args->precision);
    function_version = 0;
    ghosts.forget_device_owners();
  } catch (const gpucoord::DeviceError &e) {
    failed = gpu_failure(e.what());
  }
  const int mine = failed.empty() ? 0 : 1;
  int any;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, this->world);
  if (any) device_choice().stop(failed);
}

template <class Base> std::string ComputeCoordKokkos<Base>::data_path(Path path) const
{
  if (is_resident(path)) {
    std::string text = "atoms and derivatives resident on the GPU";
    if (uses_neighbors) text += ", pairs of LAMMPS' neighbor list";
    const bool packs_on_host = comm->style != Comm::BRICK ||
        this->lmp->kokkos->forward_compute_comm_legacy;
    if (sends_numbers() && comm->nprocs > 1 && packs_on_host)
      text += fmt::format(", {} of ghost atoms through the host", args->words().ghost_numbers);
    return text + device->ghosts_path();
  }
  return Base::data_path(path) + coord_host_path();
}

// On one rank, the host may not wait for any evaluation of a run.
template <class Base> bool ComputeCoordKokkos<Base>::seeks_partners_in_setup() const
{
  return is_resident(this->paths.last()) ? comm->nprocs == 1 : Base::seeks_partners_in_setup();
}

/* ---------------------------------------------------------------------- */

// With another version of the atoms, the next evaluation rebuilds its pairs.
template <class Base> void ComputeCoordKokkos<Base>::end_setup()
{
  Base::end_setup();
  if (device) device->begin_run();
}

template <class Base> void ComputeCoordKokkos<Base>::announce(unsigned want)
{
  Base::announce(want);
  if (device) device->positions_change();
}

// Keyword check compares gradients on the host.
template <class Base> bool ComputeCoordKokkos<Base>::is_resident() const
{
  return uses_gpu && !checks_gradients() && is_resident(this->paths.in_current_box());
}

template <class Base> bool ComputeCoordKokkos<Base>::checks_gradients() const
{
  return args->check_every != 0;
}

/* ----------------------------------------------------------------------
   The host must wait if it needs S or W: for the sum over ranks, and for the pressure.
------------------------------------------------------------------------- */

template <class Base> bool ComputeCoordKokkos<Base>::can_enqueue() const
{
  return comm->nprocs == 1 && this->wanted == DERIVATIVES && is_resident();
}

template <class Base> gpucoord::DeviceValue ComputeCoordKokkos<Base>::enqueue()
{
  if (state != State::ENQUEUED) {
    this->begin_evaluation(true);
    try {
      enqueue_evaluation({DERIVATIVES, true, device->positions()});
    } catch (const gpucoord::DeviceError &e) {
      device_choice().stop(gpu_failure(e.what()));
    } catch (const std::bad_alloc &) {
      device_choice().stop(gpu_failure("out of memory"));
    }
    this->set_scale(static_cast<double>(on_device()->natoms_a()));
    state = State::ENQUEUED;
  }
  gpucoord::DeviceValue enqueued = on_device()->device_value();
  if (is_sum_of_function()) enqueued.sum = function_on_device->sum();
  enqueued.scale = scale;
  return enqueued;
}

template <class Base> gpucoord::DeviceStream ComputeCoordKokkos<Base>::stream() const
{
  return device->stream();
}

// If a change of the box has moved the variable to the host, the evaluation on the host raises the
// error.
template <class Base>
void ComputeCoordKokkos<Base>::raise_device_errors(bool has_moved, bool is_not_finite)
{
  if (!is_resident()) return;
  if (has_moved) warn_of_moved_atoms();
  if (is_not_finite) this->evaluate(gpucoord::VALUE, true);    // raises an error with the atom or S
}

template <class Base>
void ComputeCoordKokkos<Base>::add_forces(const gpucoord::ItemFactors &factors)
{
  gpucoord::Factor factor = factors.factor();
  if (factor.host == 0.0) return;
  if (state == State::HOST) {
    atomKK->sync(Host, F_MASK);
    Base::add_forces(factors);
    atomKK->modified(Host, F_MASK);
    return;
  }
  factor.host *= scale;
  try {
    on_device()->add_forces(device->begin_forces(), factor, device->stream());
  } catch (const gpucoord::DeviceError &e) {
    this->error->one(FLERR, Error::NOLASTLINE, "{}", gpu_failure(e.what()));
  }
  device->end_forces();
}

template <class Base> double ComputeCoordKokkos<Base>::bytes_copied() const
{
  // Uses the path of the last evaluation, not of the current box, which may be unsupported after
  // the last timestep.
  const bool was_resident = is_resident(this->paths.last()) && !checks_gradients();
  if (!was_resident) return -1.0;
  return static_cast<double>(on_device()->bytes_copied() +
                             (function ? function_on_device->bytes_copied() : 0));
}

template <class Base> std::string ComputeCoordKokkos<Base>::gpu_failure(const char *what) const
{
  return fmt::format("{}: rank {} failed with {} owned and {} ghost atoms: {} - "
                     "use device host, more GPUs "
                     "or fewer ranks per GPU",
                     name, comm->me, atom->nlocal, atom->nghost, what);
}

// Rebuilds the pairs, unless they belong to the current neighbor lists. Returns the atoms.
template <class Base> gpucoord::DeviceAtoms ComputeCoordKokkos<Base>::rebuild()
{
  const bool is_dynamic = !this->dynamic_group().empty();
  const bool needs_mask = this->igroup != 0 || selected.second_bit();
  const auto atoms = device->atoms(needs_mask, reads_types());
  gpucoord::DeviceSelection selection;
  selection.bit_a = this->groupbit;
  selection.bit_b = selected.second_bit();
  selection.skin = skin;
  selection.tests_ghosts = false;    // LAMMPS rebuilds its lists in time if the box changes
  selection.neighbors = neighbors();
  const std::int64_t version = is_dynamic ? 0 : device->version();
  on_device()->rebuild(atoms, selection, version, device->stream());
  if (function && (version == 0 || version != function_version)) begin_function(atoms, version);
  return atoms;
}

/* ----------------------------------------------------------------------
   LAMMPS has waited for the GPU to build its lists, so that the GPU is idle. Search for pairs at
   this point, because later the search would wait for the kernels of the timestep. If this timestep
   has no evaluation, rebuild the pairs only if this needs no search.
------------------------------------------------------------------------- */

template <class Base> void ComputeCoordKokkos<Base>::reneighbored(bool due)
{
  if (!is_resident() || !this->dynamic_group().empty() || (!due && !uses_neighbors)) return;
  // After an error, the evaluation calls rebuild() again and reports the error on all ranks.
  try {
    rebuild();
  } catch (const gpucoord::DeviceError &) {
  } catch (const std::bad_alloc &) {
  }
}

/* ---------------------------------------------------------------------- */

template <class Base> void ComputeCoordKokkos<Base>::start_local(LocalEvaluation &local)
{
  if (!is_resident(local.path)) return;
  state = State::UNKNOWN;     // overwrites enqueued results, and the gradients on the GPU
  if (args->check_every) {    // the reference reads atoms
    atoms_to_host();
    selected.select();
  }
  gpucoord::Request request;
  request.want = local.want;
  request.for_forces_only = keeps_gradients(local) && !local.peratom;
  // 0: positions outside of force evaluations have no version number.
  request.positions = local.is_for_forces ? device->positions() : 0;
  evaluate_on_device(local, request);
}

template <class Base> void ComputeCoordKokkos<Base>::finish_local(LocalEvaluation &local)
{
  if (!is_resident(local.path)) {
    Base::finish_local(local);
    return;
  }
  attempt(local, [&] {
    const auto result = on_device()->result(device->stream());
    local.mine.value = local.value = result.value;
    std::copy_n(result.virial, 6, local.mine.virial);
    if (result.bad_atom >= 0) local.bad_atom = id_of_bad_atom();
    if (result.moved) warn_of_moved_atoms();
    if (local.peratom && !local.bad_atom) on_device()->peratom(local.peratom, device->stream());
    if (function && !local.bad_atom) fetch_function(local);
  });
  selected.set_counts(on_device()->natoms_a(), on_device()->natoms_b());
}

/* ----------------------------------------------------------------------
   The function of per-atom values. A ghost atom has the weight of its owner. On one rank,
   kernels read the weight of the owner. On several ranks, weights are communicated in each
   evaluation.
------------------------------------------------------------------------- */

template <class Base>
void ComputeCoordKokkos<Base>::begin_function(const gpucoord::DeviceAtoms &atoms,
                                              std::int64_t version)
{
  function_version = 0;    // stays 0 if an exception is thrown
  gpucoord::DeviceAtoms all = atoms;
  all.nall = atom->nmax;    // see GhostNumbers::reserve()
  function_on_device->select(all, this->groupbit, device->stream());
  if (comm->nprocs == 1 && sends_numbers())
    ghosts.owners(*function_on_device, device->version(), device->stream());
  function_version = version;
}

template <class Base>
int ComputeCoordKokkos<Base>::pack_forward_comm_kokkos(int n, DAT::tdual_int_1d k_list,
                                                       DAT::tdual_double_1d &k_buf,
                                                       int /*pbc_flag*/, int * /*pbc*/)
{
  return ghosts.pack_on_device(n, k_list.view_device().data(), k_buf.view_device().data());
}

template <class Base>
void ComputeCoordKokkos<Base>::unpack_forward_comm_kokkos(int n, int first,
                                                          DAT::tdual_double_1d &k_buf)
{
  ghosts.unpack_on_device(n, first, k_buf.view_device().data());
}

template <class Base>
std::string ComputeCoordKokkos<Base>::dSds_too_large(int row, double s, double dSds) const
{
  return fmt::format(
      "{}: the derivative of function {} is {:.3g} at {} = {:.10g}{}, "
      "above {:.3g}, the limit of precision mixed and single with KOKKOS on a GPU - use precision "
      "double or device host",
      name, function->description(), dSds, args->words().symbol, s, this->atom_text(row),
      gpucoord::max_dSds(args->precision));
}

// Waits for S and, if requested, for the per-atom numbers and their f.
template <class Base> void ComputeCoordKokkos<Base>::fetch_function(LocalEvaluation &local)
{
  const auto result = function_on_device->result();
  if (is_sum_of_function()) local.value = result.value;
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined) {
    atomKK->sync(Host, TAG_MASK);
    const double dSds = std::fabs(result.dSds_of_bad);
    local.failed = std::isfinite(dSds) && dSds > gpucoord::max_dSds(args->precision)
        ? dSds_too_large(result.bad, result.s_of_bad, result.dSds_of_bad)
        : this->not_finite(result.bad, result.s_of_bad);
  }
  if (!local.peratom) return;
  const std::size_t nlocal = atom->nlocal, columns = gpucoord::peratom_columns(local.want);
  FunctionNumbers &numbers = this->function_numbers;
  numbers.s.resize(nlocal);
  numbers.f.resize(nlocal);
  numbers.rows.resize(nlocal);
  std::iota(numbers.rows.begin(), numbers.rows.end(), 0);
  function_on_device->copy_numbers(numbers.s.data(), numbers.f.data(), device->stream());
  for (std::size_t i = 0; i < nlocal; ++i) local.peratom[columns * i] += numbers.s[i];
}

template <class Base> void ComputeCoordKokkos<Base>::atoms_to_host()
{
  atomKK->sync(Host, X_MASK | TAG_MASK | TYPE_MASK | MASK_MASK);
}

template <class Base> bigint ComputeCoordKokkos<Base>::id_of_bad_atom()
{
  atoms_to_host();
  return selected.select();
}

template <class Base> void ComputeCoordKokkos<Base>::warn_of_moved_atoms()
{
  if (!warned_moved) device->warn_of_moved_atoms(name, args->range_word());
  warned_moved = true;
}

template <class Base> double ComputeCoordKokkos<Base>::memory_usage()
{
  return Base::memory_usage() + (on_device() ? static_cast<double>(on_device()->bytes()) : 0.0) +
      (function_on_device ? static_cast<double>(function_on_device->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class ComputeCoordKokkos<ComputeCoordGPU>;
template class ComputeCoordKokkos<ComputeCoordOrder>;
}    // namespace LAMMPS_NS
