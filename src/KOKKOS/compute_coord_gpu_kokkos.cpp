/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "compute_coord_gpu_kokkos.h"

#include "coord_arguments.h"
#include "coord_gather.h"
#include "gpucoord_backend.h"
#include "gpucoord_lammps_internals.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "kokkos.h"
#include "math_const.h"
#include "neigh_list_kokkos.h"
#include "neighbor.h"
#include "pair.h"

#include <cmath>
#include <numeric>

using namespace LAMMPS_NS;
using gpucoord::DERIVATIVES;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
ComputeCoordGPUKokkos<DeviceType>::ComputeCoordGPUKokkos(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordGPU(lmp, narg, arg), warned_moved(false), takes_neighbors(false),
    list_is_made(false), full_list(nullptr), skin(0.0), function_is_resident(false),
    function_version(0), owners_version(0), weights(Weights::HOST)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = EMPTY_MASK;
  datamask_modify = EMPTY_MASK;
  uses_gpu = coord_is_cuda<DeviceType>() && backend->is_cuda();
  if (uses_gpu) device = KokkosDevice::of(lmp);
  function_is_resident = uses_gpu && function && gpucoord::can_be_resident(*args->function);
}

/* ----------------------------------------------------------------------
   Whether LAMMPS' own neighbor list has the pairs: the variable is of all atoms and their types do
   not matter, there are not so many pairs that none are listed, nothing is excluded from the list,
   and its cutoffs reach as far as dmax and not much farther. The pair style must ask for such a
   list anyway, as it does with half lists off: then this compute gets a copy at no cost. Before
   init().
------------------------------------------------------------------------- */

template <class DeviceType> bool ComputeCoordGPUKokkos<DeviceType>::may_take_neighbors() const
{
  constexpr double MAX_REACH = 1.1;    // of what is needed: a third more neighbors
  const bool may_be_cells = args->engine == CoordArguments::Engine::AUTO ||
      args->engine == CoordArguments::Engine::CELLS;
  if (!uses_gpu || !may_be_cells || !table->has_end() || table->ntypes() > 0) return false;
  if (igroup != 0 || args->groups != CoordArguments::Groups::SELF) return false;
  const auto *const pair = force->pair;
  if (!pair || utils::strmatch(force->pair_style, "^hybrid")) return false;
  if (!LammpsInternals::is_full_on_device(neighbor->find_request(force->pair))) return false;
  if (atom->molecular != Atom::ATOMIC || neighbor->includegroup || neighbor->nex_type ||
      neighbor->nex_group || neighbor->nex_mol)
    return false;
  const double dmax = table->dmax(), reach = dmax + neighbor->skin;
  const double density =
      static_cast<double>(atom->natoms) / (domain->xprd * domain->yprd * domain->zprd);
  if (4.0 / 3.0 * MathConst::MY_PI * reach * reach * reach * density >= gpucoord::MANY_PARTNERS)
    return false;
  for (int i = 1; i <= atom->ntypes; ++i)
    for (int j = 1; j <= atom->ntypes; ++j) {
      const double cutoff = sqrt(pair->cutsq[i][j]);
      if (cutoff < dmax || cutoff + neighbor->skin > MAX_REACH * (dmax + neighbor->skin))
        return false;
    }
  return true;
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::init_list(int id, NeighList *ptr)
{
  if (takes_neighbors)
    full_list = ptr;
  else
    ComputeCoordGPU::init_list(id, ptr);
}

// LAMMPS has made its lists for the run
template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::setup()
{
  list_is_made = true;
}

// Returns LAMMPS' list, or an empty one if it is not of the current positions and atoms: a variable
// may be evaluated for the first time some steps after a build, and commands between runs
// (write_data, create_atoms) make new ghost atoms or atoms. A fix may add exclusions after init().

template <class DeviceType>
gpucoord::DeviceNeighbors ComputeCoordGPUKokkos<DeviceType>::neighbors() const
{
  gpucoord::DeviceNeighbors neighbors;
  if (!takes_neighbors || !list_is_made || neighbor->ago != 0 || full_list->inum != atom->nlocal ||
      neighbor->exclude)
    return neighbors;
  const auto *const list = static_cast<NeighListKokkos<DeviceType> *>(full_list);
  neighbors.neighbor = list->d_neighbors.data();
  neighbors.count = list->d_numneigh.data();
  neighbors.atom_stride = static_cast<std::int64_t>(list->d_neighbors.stride(0));
  neighbors.neighbor_stride = static_cast<std::int64_t>(list->d_neighbors.stride(1));
  neighbors.capacity = static_cast<int>(list->d_neighbors.extent(1));
  return neighbors;
}

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::init()
{
  if (uses_gpu) device->begin_run();
  takes_neighbors =
      may_take_neighbors();    // if as before, Neighbor may not hand out the list again: keep it
  list_is_made = false;
  skin = neighbor->skin;
  ComputeCoordGPU::init();
  if (takes_neighbors) {
    auto *const request = neighbor->add_request(this, NeighConst::REQ_FULL);
    request->set_kokkos_host(0);
    request->set_kokkos_device(1);
  }
  warned_moved = false;
  if (!uses_gpu || !table->has_end()) return;
  std::string failed;
  try {
    // types that differ make lists of their own
    const auto pairs = table->ntypes() == 0
        ? device->pairs(*table, args->precision, groupbit, groupbit2)
        : gpucoord::make_resident_pairs(*table, args->precision, nullptr);
    on_device = gpucoord::make_resident_coordination(*table, args->precision, pairs);
    on_device->forget_errors(device->stream());    // pairs may be those of an earlier run
    if (function_is_resident)
      function_on_device = gpucoord::make_resident_function(*args->function, args->precision);
    function_version = owners_version = 0;
  } catch (const gpucoord::DeviceError &e) {
    failed = gpu_failure(e.what());
  }
  const int mine = failed.empty() ? 0 : 1;
  int any;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world);
  if (any) backend->stop(failed);
}

template <class DeviceType>
std::string ComputeCoordGPUKokkos<DeviceType>::data_path(Path path) const
{
  if (is_resident(path)) {
    std::string text = "atoms and derivatives stay on the GPU";
    if (takes_neighbors) text += ", pairs of LAMMPS' neighbor list";
    const bool packs_on_host = comm->style != Comm::BRICK ||
        lmp->kokkos->forward_compute_comm_legacy;
    if (function && comm->nprocs > 1 && packs_on_host)
      text += ", weights of ghost atoms through the host";
    return text + device->ghosts_path();
  }
  return ComputeCoordGPU::data_path(path) +
      (coord_is_cuda<LMPDeviceType>() ? ", by way of the host" : "");
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::announce(unsigned want)
{
  ComputeCoordGPU::announce(want);
  if (device) device->positions_change();
}

// Keyword check compares gradients on the host.
template <class DeviceType> bool ComputeCoordGPUKokkos<DeviceType>::is_resident() const
{
  return uses_gpu && !checks_gradients() && is_resident(choose_path(current_box()));
}

template <class DeviceType> bool ComputeCoordGPUKokkos<DeviceType>::checks_gradients() const
{
  return args->check_every != 0;
}

/* ----------------------------------------------------------------------
   The host must wait where it needs S or W: for the sum over ranks, and for the pressure.
------------------------------------------------------------------------- */

template <class DeviceType> bool ComputeCoordGPUKokkos<DeviceType>::can_enqueue() const
{
  return comm->nprocs == 1 && wanted == DERIVATIVES && is_resident();
}

template <class DeviceType> gpucoord::DeviceValue ComputeCoordGPUKokkos<DeviceType>::enqueue()
{
  if (where != Where::ENQUEUED) {
    begin_evaluation(true);
    try {
      const gpucoord::Request request = {DERIVATIVES, true, device->positions()};
      enqueue(request);
      if (function) enqueue_second(request);
    } catch (const gpucoord::DeviceError &e) {
      backend->stop(gpu_failure(e.what()));
    } catch (const std::bad_alloc &) {
      backend->stop(gpu_failure("out of memory"));
    }
    set_scale(static_cast<double>(on_device->natoms_a()));
    where = Where::ENQUEUED;
  }
  gpucoord::DeviceValue enqueued = on_device->device_value();
  if (function) enqueued.sum = function_on_device->sum();
  enqueued.scale = scale;
  return enqueued;
}

template <class DeviceType> gpucoord::DeviceStream ComputeCoordGPUKokkos<DeviceType>::stream() const
{
  return device->stream();
}

// If the box has moved the variable to the host, the host evaluation raises the error.
template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::raise_device_errors(bool has_moved, bool is_not_finite)
{
  if (!is_resident()) return;
  if (has_moved) warn_of_moved_atoms();
  if (is_not_finite) evaluate(gpucoord::VALUE, true);    // ends in an error with the atom or S
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::add_forces(gpucoord::Factor factor)
{
  if (factor.host == 0.0) return;
  if (where == Where::HOST) {
    atomKK->sync(Host, F_MASK);
    ComputeCoordGPU::add_forces(factor);
    atomKK->modified(Host, F_MASK);
    return;
  }
  factor.host *= scale;
  try {
    on_device->add_forces(device->begin_forces(), factor, device->stream());
  } catch (const gpucoord::DeviceError &e) {
    error->one(FLERR, Error::NOLASTLINE, "{}", gpu_failure(e.what()));
  }
  device->end_forces();
}

template <class DeviceType> double ComputeCoordGPUKokkos<DeviceType>::bytes_copied() const
{
  // not in the present box, which may be refused after the last timestep
  const bool was_resident = is_resident(last_path) && !checks_gradients();
  if (!was_resident) return -1.0;
  return static_cast<double>(on_device->bytes_copied() +
                             (function ? function_on_device->bytes_copied() : 0));
}

template <class DeviceType>
std::string ComputeCoordGPUKokkos<DeviceType>::gpu_failure(const char *what) const
{
  return fmt::format("{}: rank {} failed with {} owned and {} ghost atoms: {} - "
                     "use device host, more GPUs "
                     "or fewer ranks per GPU",
                     name, comm->me, atom->nlocal, atom->nghost, what);
}

// the pairs, unless they are those of the present neighbor lists; returns the atoms
template <class DeviceType> gpucoord::DeviceAtoms ComputeCoordGPUKokkos<DeviceType>::rebuild()
{
  const bool is_dynamic = !dynamic_group().empty();
  const bool needs_mask = igroup != 0 || groupbit2;
  const auto atoms = device->atoms(needs_mask, table->ntypes() > 0);
  gpucoord::DeviceSelection selection;
  selection.bit_a = groupbit;
  selection.bit_b = groupbit2;
  selection.skin = skin;
  selection.neighbors = neighbors();
  const std::int64_t version = is_dynamic ? 0 : device->version();
  on_device->rebuild(atoms, selection, version, device->stream());
  if (function && (version == 0 || version != function_version)) begin_function(atoms, version);
  return atoms;
}

/* ----------------------------------------------------------------------
   LAMMPS has waited for the GPU to build its lists: a search for pairs now waits for nothing else,
   while after the pair style it would wait for its kernels. Where no evaluation is due in this
   timestep, only if that costs no search, now or later.
------------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::reneighbored(bool due)
{
  if (!is_resident() || !dynamic_group().empty() || (!due && !takes_neighbors)) return;
  // after an error the evaluation comes here again, and tells all ranks
  try {
    rebuild();
  } catch (const gpucoord::DeviceError &) {
  } catch (const std::bad_alloc &) {
  }
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::enqueue(const gpucoord::Request &request)
{
  const auto atoms = rebuild();
  if (function) {
    on_device->evaluate_first(atoms, request.positions, function_on_device->s(), device->stream());
    function_on_device->evaluate(device->stream());
  } else
    on_device->evaluate(atoms, request, device->stream());
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::start_share(Share &share)
{
  if (!is_resident(share.path)) return;
  where = Where::UNKNOWN;     // it overwrites what was enqueued, and the gradients on the GPU
  if (args->check_every) {    // the reference reads them
    atoms_to_host();
    select_atoms();
  }
  gpucoord::Request request;
  request.want = share.want;
  request.for_forces_only = keeps_gradients(share) && !share.peratom;
  // positions outside of force evaluations have no number
  request.positions = share.is_for_forces ? device->positions() : 0;
  const auto attempt = [&](const auto &work) {
    if (!share.failed.empty()) return;
    try {
      work();
    } catch (const gpucoord::DeviceError &e) {
      share.failed = gpu_failure(e.what());
    }
  };
  attempt([&] {
    enqueue(request);
  });
  const bool has_second = function && share.want != gpucoord::VALUE;
  if (has_second && comm->nprocs > 1) {
    if (share.failed.empty())
      attempt([&] {
        send_weights();
      });
    else {    // other ranks wait for this one
      of.weights.assign(atom->nmax, 0.0);
      comm->forward_comm(this);
    }
  }
  attempt([&] {
    if (has_second) enqueue_second(request);
    on_device->enqueue_result(device->stream());
  });
}

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::compute_share(Share &share)
{
  if (!is_resident(share.path)) {
    ComputeCoordGPU::compute_share(share);
    return;
  }
  if (share.failed.empty()) {
    try {
      const auto result = on_device->result(device->stream());
      share.mine.value = share.value = result.value;
      std::copy_n(result.virial, 6, share.mine.virial);
      if (result.bad_atom >= 0) share.bad_atom = id_of_bad_atom();
      if (result.moved) warn_of_moved_atoms();
      if (share.peratom && !share.bad_atom) on_device->peratom(share.peratom, device->stream());
      if (function && !share.bad_atom) take_function(share);
    } catch (const gpucoord::DeviceError &e) {
      share.failed = gpu_failure(e.what());
    }
  }
  nlocal_selected = NOT_SELECTED;    // these counts are not those of the lists on the host
  nowned_a = static_cast<int>(on_device->natoms_a());
  nowned_b = static_cast<int>(on_device->natoms_b());
}

/* ----------------------------------------------------------------------
   Functions of coordination numbers. Weights of ghost atoms are those of their owners: on one rank,
   kernels look them up, on several ranks they are communicated in each evaluation.
------------------------------------------------------------------------- */

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::begin_function(const gpucoord::DeviceAtoms &atoms,
                                                       std::int64_t version)
{
  function_version = 0;    // stays 0 if an exception is thrown
  gpucoord::DeviceAtoms all = atoms;
  all.nall = atom->nmax;    // see ComputeCoordGPU::begin_function()
  function_on_device->select(all, groupbit, device->stream());
  if (comm->nprocs == 1 && device->version() != owners_version) {
    owners_version = 0;
    function_on_device->find_owners(
        [this] {
          send_weights();
        },
        device->stream());
    owners_version = device->version();
  }
  function_version = version;
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::enqueue_second(const gpucoord::Request &request)
{
  const int *const owners = comm->nprocs == 1 ? function_on_device->owners() : nullptr;
  on_device->evaluate_second(request, {function_on_device->dSds(), owners}, device->stream());
}

// Collective. Sends weights to ghost atoms; throws DeviceError after the communication. LAMMPS
// decides whether it calls for packing on the GPU or on the host.
template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::send_weights()
{
  failed_to_send.clear();
  weights = Weights::DEVICE;
  forward_comm_device = 1;
  comm->forward_comm(this);
  forward_comm_device = 0;
  if (weights == Weights::COPIED)
    function_on_device->set_weights(of.weights.data(), device->stream());
  weights = Weights::HOST;
  if (!failed_to_send.empty()) throw gpucoord::DeviceError(failed_to_send);
}

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::weights_to_host()
{
  if (weights != Weights::DEVICE) return;
  of.weights.assign(atom->nmax, 0.0);
  weights = Weights::COPIED;
  try {
    function_on_device->get_weights(of.weights.data(), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
}

template <class DeviceType>
int ComputeCoordGPUKokkos<DeviceType>::pack_forward_comm(int n, int *atoms, double *buf,
                                                         int pbc_flag, int *pbc)
{
  weights_to_host();
  return ComputeCoordGPU::pack_forward_comm(n, atoms, buf, pbc_flag, pbc);
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::unpack_forward_comm(int n, int first, double *buf)
{
  weights_to_host();
  ComputeCoordGPU::unpack_forward_comm(n, first, buf);
}

template <class DeviceType>
int ComputeCoordGPUKokkos<DeviceType>::pack_forward_comm_kokkos(int n, DAT::tdual_int_1d k_list,
                                                                DAT::tdual_double_1d &k_buf,
                                                                int /*pbc_flag*/, int * /*pbc*/)
{
  try {
    function_on_device->pack(k_list.view_device().data(), n, k_buf.view_device().data(),
                             device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
  return n;
}

template <class DeviceType>
void ComputeCoordGPUKokkos<DeviceType>::unpack_forward_comm_kokkos(int n, int first,
                                                                   DAT::tdual_double_1d &k_buf)
{
  try {
    function_on_device->unpack(k_buf.view_device().data(), n, first, device->stream());
  } catch (const gpucoord::DeviceError &e) {
    failed_to_send = e.what();
  }
}

template <class DeviceType>
std::string ComputeCoordGPUKokkos<DeviceType>::too_steep(int row, double s, double slope) const
{
  return fmt::format(
      "{}: the derivative of function {} is {:.3g} at s = {:.10g}{}, "
      "above {:.3g}, the limit of precision mixed and single with KOKKOS on a GPU - use precision "
      "double or device host",
      name, function->description(), slope, s, of_atom(row),
      gpucoord::largest_slope(args->precision));
}

// Waits for S, and for s and f of atoms where they are wanted.
template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::take_function(Share &share)
{
  const auto result = function_on_device->result();
  share.value = result.value;
  if (result.bad >= 0) {
    atomKK->sync(Host, TAG_MASK);
    const double slope = std::fabs(result.slope_of_bad);
    share.failed = std::isfinite(slope) && slope > gpucoord::largest_slope(args->precision)
        ? too_steep(result.bad, result.s_of_bad, result.slope_of_bad)
        : not_finite(result.bad, result.s_of_bad);
  }
  if (!share.peratom) return;
  const std::size_t nlocal = atom->nlocal, columns = gpucoord::peratom_columns(share.want);
  of.s.resize(nlocal);
  of.f.resize(nlocal);
  of.rows.resize(nlocal);
  std::iota(of.rows.begin(), of.rows.end(), 0);
  function_on_device->copy_numbers(of.s.data(), of.f.data(), device->stream());
  for (std::size_t i = 0; i < nlocal; ++i) share.peratom[columns * i] += of.s[i];
}

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::atoms_to_host()
{
  // engine list looks at bonds, too
  const bool is_list = args->engine == CoordArguments::Engine::LIST;
  atomKK->sync(Host, is_list ? ALL_MASK : X_MASK | TAG_MASK | TYPE_MASK | MASK_MASK);
}

template <class DeviceType> bigint ComputeCoordGPUKokkos<DeviceType>::id_of_bad_atom()
{
  atoms_to_host();
  return select_atoms();
}

template <class DeviceType> void ComputeCoordGPUKokkos<DeviceType>::warn_of_moved_atoms()
{
  if (!warned_moved) device->warn_of_moved_atoms(name);
  warned_moved = true;
}

template <class DeviceType> double ComputeCoordGPUKokkos<DeviceType>::memory_usage()
{
  return ComputeCoordGPU::memory_usage() +
      (on_device ? static_cast<double>(on_device->bytes()) : 0.0) +
      (function_on_device ? static_cast<double>(function_on_device->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class ComputeCoordGPUKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordGPUKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
