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

#include "coord_coordination_kokkos.h"

#include "coord_arguments.h"
#include "coord_ghost_numbers.h"

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

/* ----------------------------------------------------------------------
   Returns whether LAMMPS' own neighbor list has the pairs. The variable must include all atoms and
   ignore types, there must not be so many pairs that they are not listed, nothing may be excluded
   from the list, and its cutoffs must be dmax or slightly larger. The pair style must request such
   a list anyway, as it does with half lists off: this compute then gets a copy at no cost. Called
   before init().
------------------------------------------------------------------------- */

bool ResidentCoordinationEvaluator::may_use_neighbors() const
{
  constexpr double MAX_REACH =
      1.1;    // in units of the necessary reach; allows a third more neighbors
  const bool may_be_cells = data.args->engine == CoordArguments::Engine::AUTO ||
      data.args->engine == CoordArguments::Engine::CELLS;
  if (!may_be_cells || !data.table->has_end() || data.table->ntypes() > 0) return false;
  if (data.igroup != 0 || data.args->groups != CoordArguments::Groups::SELF) return false;
  const auto *const pair = force->pair;
  if (!pair || utils::strmatch(force->pair_style, "^hybrid")) return false;
  if (!is_full_on_device(neighbor->find_request(force->pair))) return false;
  if (atom->molecular != Atom::ATOMIC || neighbor->includegroup || neighbor->nex_type ||
      neighbor->nex_group || neighbor->nex_mol)
    return false;
  const double dmax = data.table->dmax(), reach = dmax + neighbor->skin;
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

void ResidentCoordinationEvaluator::init_list(NeighList *ptr)
{
  full_list = ptr;
}

// LAMMPS has built its lists for the run.
void ResidentCoordinationEvaluator::setup()
{
  list_is_made = true;
}

// Returns LAMMPS' list, or an empty one if it does not belong to the current positions and atoms. A
// variable may be evaluated for the first time some timesteps after a build. Commands between runs
// may change ghost atoms (write_data) or create atoms (create_atoms). A fix may add exclusions
// after init().

gpucoord::DeviceNeighbors ResidentCoordinationEvaluator::neighbors() const
{
  gpucoord::DeviceNeighbors neighbors;
  if (!has_list || !list_is_made || neighbor->ago != 0 || full_list->inum != atom->nlocal ||
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

void ResidentCoordinationEvaluator::begin_run()
{
  ResidentEvaluator::begin_run();
  has_list = may_use_neighbors();    // if unchanged, Neighbor may not assign the list again
  list_is_made = false;
}

void ResidentCoordinationEvaluator::request_neighbors(Compute *compute)
{
  if (!has_list) return;
  auto *const request = neighbor->add_request(compute, NeighConst::REQ_FULL);
  request->set_kokkos_host(0);
  request->set_kokkos_device(1);
}

void ResidentCoordinationEvaluator::make_variable()
{
  // Functions that depend on types need their own lists.
  const auto pairs = data.table->ntypes() == 0
      ? device->pairs(*data.table, data.args->precision, data.groupbit, data.selected.second_bit())
      : gpucoord::make_resident_pairs(*data.table, data.args->precision, nullptr);
  coordination = gpucoord::make_resident_coordination(*data.table, data.args->precision, pairs);
}

/* ---------------------------------------------------------------------- */

void ResidentCoordinationEvaluator::enqueue(const gpucoord::Request &request)
{
  enqueue_first(request);
  if (data.function) enqueue_second(request);
}

// Without a function, this is the whole evaluation.
void ResidentCoordinationEvaluator::enqueue_first(const gpucoord::Request &request)
{
  const auto atoms = rebuild();
  if (data.function) {
    coordination->evaluate_first(atoms, request.positions, function_on_device->s(),
                                 device->stream());
    evaluate_function();
  } else
    coordination->evaluate(atoms, request, device->stream());
}

void ResidentCoordinationEvaluator::enqueue_second(const gpucoord::Request &request)
{
  coordination->evaluate_second(request, {function_on_device->dSds(), owners()}, device->stream());
}

void ResidentCoordinationEvaluator::start(LocalEvaluation &local, const gpucoord::Request &request)
{
  attempt(local, [&] {
    enqueue_first(request);
  });
  const bool has_second = data.function && local.want != gpucoord::VALUE;
  if (has_second && comm->nprocs > 1) {
    if (local.failed.empty())
      attempt(local, [&] {
        data.ghosts.forward(*function_on_device, device->stream());
      });
    else
      data.ghosts.forward_zeros(1);    // other ranks wait for this one
  }
  attempt(local, [&] {
    if (has_second) enqueue_second(request);
    coordination->enqueue_result(device->stream());
  });
}

// Copies coordination numbers to the host if S is a function of them and the evaluation seeks
// partners. Other evaluations copy them for output only.
void ResidentCoordinationEvaluator::finish(LocalEvaluation &local)
{
  ResidentEvaluator::finish(local);
  if (!data.function || !local.seeks_partners || local.bad_atom) return;
  attempt(local, [&] {
    data.numbers.s.resize(atom->nlocal);
    data.numbers.f.resize(atom->nlocal);
    function_on_device->copy_numbers(data.numbers.s.data(), data.numbers.f.data(),
                                     device->stream());
  });
}
