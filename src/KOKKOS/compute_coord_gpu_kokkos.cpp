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

#include "compute_coord_gpu_kokkos.h"

#include "coord_arguments.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "force.h"
#include "math_const.h"
#include "neigh_list_kokkos.h"
#include "neigh_request.h"
#include "neighbor.h"
#include "pair.h"

#include <cmath>

using namespace LAMMPS_NS;

// Returns whether a request is for a full neighbor list on the device of KOKKOS whose cutoff does
// not depend on radii. request: null: there is no request. Reads protected members like
// gpucoord_lammps_internals.h.
// Missing accessors: int NeighRequest::get_full() const and
// int NeighRequest::get_kokkos_device() const
static bool is_full_on_device(const NeighRequest *request)
{
  struct Access : public NeighRequest {
    using NeighRequest::full;
    using NeighRequest::kokkos_device;
  };
  return request && request->*(&Access::full) && request->*(&Access::kokkos_device) &&
      !request->get_size();
}

/* ---------------------------------------------------------------------- */

ResidentCoordGPU::ResidentCoordGPU(LAMMPS *lmp, int narg, char **arg, const KokkosSpace &space) :
    ComputeCoordKokkos(lmp, narg, arg, space), list_is_made(false), full_list(nullptr)
{
}

/* ----------------------------------------------------------------------
   Returns whether LAMMPS' own neighbor list has the pairs. The variable must include all atoms and
   ignore types, there must not be so many pairs that they are not listed, nothing may be excluded
   from the list, and its cutoffs must be dmax or slightly larger. The pair style must request such
   a list anyway, as it does with half lists off: this compute then gets a copy at no cost. Called
   before init().
------------------------------------------------------------------------- */

bool ResidentCoordGPU::may_use_neighbors() const
{
  constexpr double MAX_REACH =
      1.1;    // in units of the necessary reach; allows a third more neighbors
  const bool may_be_cells = args->engine == CoordArguments::Engine::AUTO ||
      args->engine == CoordArguments::Engine::CELLS;
  if (!uses_gpu || !may_be_cells || !table->has_end() || table->ntypes() > 0) return false;
  if (igroup != 0 || args->groups != CoordArguments::Groups::SELF) return false;
  const auto *const pair = force->pair;
  if (!pair || utils::strmatch(force->pair_style, "^hybrid")) return false;
  if (!is_full_on_device(neighbor->find_request(force->pair))) return false;
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

void ResidentCoordGPU::init_list(int /*id*/, NeighList *ptr)
{
  full_list = ptr;
}

// LAMMPS has built its lists for the run.
void ResidentCoordGPU::setup()
{
  list_is_made = true;
  ComputeCoordKokkos::setup();
}

// Returns LAMMPS' list, or an empty one if it does not belong to the current positions and atoms. A
// variable may be evaluated for the first time some timesteps after a build. Commands between runs
// may change ghost atoms (write_data) or create atoms (create_atoms). A fix may add exclusions
// after init().

gpucoord::DeviceNeighbors ResidentCoordGPU::neighbors() const
{
  gpucoord::DeviceNeighbors neighbors;
  if (!uses_neighbors || !list_is_made || neighbor->ago != 0 || full_list->inum != atom->nlocal ||
      neighbor->exclude)
    return neighbors;
  const auto *const list = static_cast<NeighListKokkos<LMPDeviceType> *>(full_list);
  neighbors.neighbor = list->d_neighbors.data();
  neighbors.count = list->d_numneigh.data();
  neighbors.atom_stride = static_cast<std::int64_t>(list->d_neighbors.stride(0));
  neighbors.neighbor_stride = static_cast<std::int64_t>(list->d_neighbors.stride(1));
  neighbors.capacity = static_cast<int>(list->d_neighbors.extent(1));
  return neighbors;
}

void ResidentCoordGPU::init()
{
  uses_neighbors = may_use_neighbors();    // if unchanged, Neighbor may not assign the list again
  list_is_made = false;
  ComputeCoordKokkos::init();
  if (!uses_neighbors) return;
  auto *const request = neighbor->add_request(this, NeighConst::REQ_FULL);
  request->set_kokkos_host(0);
  request->set_kokkos_device(1);
}

void ResidentCoordGPU::make_on_device()
{
  // Functions that depend on types need their own lists.
  const auto pairs = table->ntypes() == 0
      ? device->pairs(*table, args->precision, groupbit, selected.second_bit())
      : gpucoord::make_resident_pairs(*table, args->precision, nullptr);
  coordination = gpucoord::make_resident_coordination(*table, args->precision, pairs);
}

/* ---------------------------------------------------------------------- */

void ResidentCoordGPU::enqueue_evaluation(const gpucoord::Request &request)
{
  enqueue_first(request);
  if (function) enqueue_second(request);
}

// Without a function, this is the whole evaluation.
void ResidentCoordGPU::enqueue_first(const gpucoord::Request &request)
{
  const auto atoms = rebuild();
  if (function) {
    coordination->evaluate_first(atoms, request.positions, function_on_device->s(),
                                 device->stream());
    function_on_device->evaluate(device->stream());
  } else
    coordination->evaluate(atoms, request, device->stream());
}

void ResidentCoordGPU::enqueue_second(const gpucoord::Request &request)
{
  coordination->evaluate_second(request, {function_on_device->dSds(), owners()}, device->stream());
}

void ResidentCoordGPU::evaluate_on_device(LocalEvaluation &local, const gpucoord::Request &request)
{
  attempt(local, [&] {
    enqueue_first(request);
  });
  const bool has_second = function && local.want != gpucoord::VALUE;
  if (has_second && comm->nprocs > 1) {
    if (local.failed.empty())
      attempt(local, [&] {
        ghosts.forward(*function_on_device, device->stream());
      });
    else
      ghosts.forward_zeros(1);    // other ranks wait for this one
  }
  attempt(local, [&] {
    if (has_second) enqueue_second(request);
    coordination->enqueue_result(device->stream());
  });
}

// Waits if S is a function of coordination numbers. Their copy on the host is for output only.
bool ResidentCoordGPU::has_partners()
{
  LocalEvaluation &local = running;
  if (function && is_resident(local.path))
    attempt(local, [&] {
      function_numbers.s.resize(atom->nlocal);
      function_numbers.f.resize(atom->nlocal);
      function_on_device->copy_numbers(function_numbers.s.data(), function_numbers.f.data(),
                                       device->stream());
    });
  return local.failed.empty() && ComputeCoordKokkos::has_partners();
}
