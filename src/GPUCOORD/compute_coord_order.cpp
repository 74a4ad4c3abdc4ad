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
#include "order_definition.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordOrder::ComputeCoordOrder(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordOrder(lmp, narg, arg, OrderStyle::find(arg[2]))
{
}

ComputeCoordOrder::ComputeCoordOrder(LAMMPS *lmp, int narg, char **arg,
                                     const OrderStyle &order_style) :
    CoordPairVariable(lmp, narg, arg,
                      [&] {
                        return order_style.read(lmp, narg, arg);
                      }),
    order(order_style.make(*args, *table)), natoms_with_partners(0), has_columns(false)
{
  backend_of_order = std::make_unique<OrderBackend>(lmp, args->device, "Compute " + args->style,
                                                    args->device_position);
  set_outputs(size_vector + order->nvector(), size_peratom_cols + order->ncolumns());
}

ComputeCoordOrder::~ComputeCoordOrder() = default;

/* ---------------------------------------------------------------------- */

void ComputeCoordOrder::init()
{
  check_box();
  CoordPairVariable::init();
}

void ComputeCoordOrder::init_backend()
{
  backend_of_order->init(
      [this](int device) {
        return backend_of_order->is_cuda() ? order->make_cuda(device, comm->nthreads)
                                           : order->make_host(comm->nthreads);
      },
      name);
  const int columns = (*backend_of_order)->exchange_columns();
  if (args->check_every && !reference) reference = order->make_reference();
  ghosts.set_columns(reference ? MAX(columns, reference->exchange_columns()) : columns);
}

void ComputeCoordOrder::check_box() const
{
  const std::string why = order->why_not_in(domain);
  if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", name, why);
}

DeviceChoice &ComputeCoordOrder::device_choice() const
{
  return *backend_of_order;
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

std::string ComputeCoordOrder::description() const
{
  const std::string text = order->description();
  return order->is_global() ? text : text + ", function " + function->description();
}

// Every evaluation seeks partners, at no cost.
PartnerWarnings::Texts ComputeCoordOrder::partner_texts() const
{
  const std::string range = order->range_of_partners();
  return {range.empty() ? fmt::format("{}{} {:.10g}", args->range_word(), args->longest_coeff(),
                                      table->dmax())
                        : range,
          order->without_partners(), order->with_empty_group2(), order->takes_group2(), true};
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
  in.exchange.reduce = FunctionNumbers::reduction(world);
  if (backend_of_order->is_cuda() && comm->nprocs == 1)
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
  const bool is_sum = !order->is_global() && function->is_sum();
  return is_sum || comm->me == 0 ? value : 0.0;    // S itself is the same on all ranks
}

void ComputeCoordOrder::begin_local(LocalEvaluation &local)
{
  function_numbers.begin(selected, atom->nlocal);
  f_of_atoms.assign(atom->nlocal, 0.0);
  begin_numbers(local);
  ghosts.reserve();
}

// Checks the box again: change_box may change the boundary after init(). Biases only read
// gradients.
void ComputeCoordOrder::begin_numbers(const LocalEvaluation &local)
{
  check_box();
  natoms_with_partners = 0;
  wanted_numbers = {};
  has_columns = local.peratom && !local.is_for_forces;
  if (has_columns) order->request_columns(atom->nlocal, wanted_numbers);
}

void ComputeCoordOrder::evaluate_local(LocalEvaluation &local)
{
  wanted_numbers.order = function_numbers.s_of_atoms.data();
  wanted_numbers.f = f_of_atoms.data();
  const auto result =
      (*backend_of_order)->evaluate(input(), local.want, local.peratom, wanted_numbers);
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
  if (!function_numbers.is_reduced) (*backend_of_order)->complete_exchanges(input(), local.want);
}

gpucoord::Contribution ComputeCoordOrder::evaluate_reference(const LocalEvaluation &local,
                                                             double *peratom)
{
  gpucoord::Contribution result = reference->evaluate(input(), local.want, peratom, {});
  result.value = local_value(result.value);
  return result;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordOrder::copy_outputs()
{
  if (running.want & gpucoord::VIRIAL) set_vector();
  if (has_columns) order->set_columns(atom->nlocal, array_atom, 5);
}

void ComputeCoordOrder::set_vector()
{
  order->set_vector(*backend_of_order->operator->(), vector + 6);
}

/* ---------------------------------------------------------------------- */

double ComputeCoordOrder::memory_usage()
{
  return CoordPairVariable::memory_usage() + backend_of_order->bytes() +
      (reference ? reference->bytes() : 0) + order->memory_usage() +
      static_cast<double>(gpucoord::bytes_of(f_of_atoms));
}
