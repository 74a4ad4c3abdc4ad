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

#include "compute_coord_order.h"

#include "coord_arguments.h"
#include "gpucoord_backend.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordOrder::ComputeCoordOrder(LAMMPS *lmp, int narg, char **arg, const ReadArguments &read) :
    ComputeCoordGPU(lmp, narg, arg, read), is_global(false), natoms_with_partners(0)
{
  order_backend = std::make_unique<OrderBackend>(lmp, args->device, "Compute " + args->style,
                                                 args->device_position);
  words = {"order parameter", "the order parameter", "order parameters", "numbers"};
}

ComputeCoordOrder::~ComputeCoordOrder() = default;

void ComputeCoordOrder::set_global()
{
  is_global = true;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordOrder::init_backend()
{
  order_backend->init(
      [this](int device) {
        return order_backend->is_cuda() ? make_cuda(device) : make_host();
      },
      name);
  const int columns = (*order_backend)->exchange_columns();
  if (args->check_every && !reference) reference = make_reference();
  ghosts.set_columns(reference ? MAX(columns, reference->exchange_columns()) : columns);
}

DeviceChoice &ComputeCoordOrder::device_choice() const
{
  return *order_backend;
}

const gpucoord::OrderParameter &ComputeCoordOrder::order_parameter() const
{
  return *order_backend->operator->();
}

std::string ComputeCoordOrder::description() const
{
  const std::string text = order_in_words();
  return is_global ? text : text + ", function " + function->description();
}

/* ----------------------------------------------------------------------
   evaluation of one rank
------------------------------------------------------------------------- */

gpucoord::OrderInput ComputeCoordOrder::input()
{
  gpucoord::OrderInput in;
  in.cells = selected.cells_input();
  in.nall = atom->nlocal + atom->nghost;
  in.volume = volume();
  in.exchange.forward = [this](double *numbers, int columns) {
    ghosts.forward(numbers, columns);
  };
  in.exchange.reduce = reduction();
  if (order_backend->is_cuda() && comm->nprocs == 1)
    in.exchange.owner = ghosts.owners(selected.version());
  return in;
}

// Returns the volume of the box, or 0 if it is not periodic in all directions.
double ComputeCoordOrder::volume() const
{
  const bool is_periodic = domain->xperiodic && domain->yperiodic && domain->zperiodic;
  return is_periodic ? domain->xprd * domain->yprd * domain->zprd : 0.0;
}

// Returns this rank's part of S.
double ComputeCoordOrder::local_value(double value) const
{
  const bool is_sum = !is_global && function->is_sum();
  return is_sum || comm->me == 0 ? value : 0.0;    // S itself is the same on all ranks
}

void ComputeCoordOrder::begin_local(const LocalEvaluation &local)
{
  list_rows();
  f_of_atoms.assign(atom->nlocal, 0.0);
  begin_numbers(local);
  ghosts.reserve();
}

void ComputeCoordOrder::begin_numbers(const LocalEvaluation & /*local*/)
{
  natoms_with_partners = 0;
  wanted_numbers = {};
}

void ComputeCoordOrder::evaluate_local(LocalEvaluation &local)
{
  wanted_numbers.order = function_numbers.s_of_atoms.data();
  wanted_numbers.f = f_of_atoms.data();
  const auto result =
      (*order_backend)->evaluate(input(), local.want, local.peratom, wanted_numbers);
  natoms_with_partners = result.natoms_with_partners;
  function_numbers.is_reduced = true;
  local.mine = result;
  local.value = local_value(result.value);
  for (std::size_t k = 0; k < function_numbers.rows.size(); ++k) {
    function_numbers.s[k] = function_numbers.s_of_atoms[function_numbers.rows[k]];
    function_numbers.f[k] = f_of_atoms[function_numbers.rows[k]];
  }
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined)
    local.failed = not_finite(static_cast<int>(result.bad), result.order_of_bad);
}

void ComputeCoordOrder::complete_exchanges(LocalEvaluation &local)
{
  if (!function_numbers.is_reduced) (*order_backend)->complete_exchanges(input(), local.want);
}

gpucoord::Contribution ComputeCoordOrder::evaluate_reference(const LocalEvaluation &local,
                                                             double *peratom)
{
  gpucoord::Contribution result = reference->evaluate(input(), local.want, peratom, {});
  result.value = local_value(result.value);
  return result;
}

/* ---------------------------------------------------------------------- */

double ComputeCoordOrder::memory_usage()
{
  const double library_bytes = order_backend->exists() ? (*order_backend)->bytes() : 0.0;
  return ComputeCoordGPU::memory_usage() + library_bytes +
      static_cast<double>(f_of_atoms.capacity()) * sizeof(double);
}
