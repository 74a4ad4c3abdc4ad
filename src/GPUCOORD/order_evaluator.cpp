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

#include "order_evaluator.h"

#include "coord_arguments.h"
#include "coord_ghost_numbers.h"
#include "gpucoord_backend.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"

#include <algorithm>
#include <utility>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

OrderEvaluator::OrderEvaluator(LAMMPS *lmp, CoordPairData &data_in,
                               std::unique_ptr<OrderDefinition> definition) :
    CoordEvaluator(lmp, data_in),
    order(std::move(definition))
{
  backend_of_order = std::make_unique<OrderBackend>(
      lmp, data.args->device, "Compute " + data.args->style, data.args->device_position);
}

OrderEvaluator::~OrderEvaluator() = default;

/* ---------------------------------------------------------------------- */

void OrderEvaluator::init_backend()
{
  backend_of_order->init(
      [this](int device) {
        return backend_of_order->is_cuda() ? order->make_cuda(device, comm->nthreads)
                                           : order->make_host(comm->nthreads);
      },
      data.name);
  const int columns = (*backend_of_order)->exchange_columns();
  if (data.args->check_every && !reference) reference = order->make_reference();
  data.ghosts.set_columns(reference ? MAX(columns, reference->exchange_columns()) : columns);
}

void OrderEvaluator::check_box() const
{
  const std::string why = order->why_not_in(domain);
  if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", data.name, why);
}

DeviceChoice &OrderEvaluator::device_choice() const
{
  return *backend_of_order;
}

/* ----------------------------------------------------------------------
   texts
------------------------------------------------------------------------- */

std::string OrderEvaluator::description() const
{
  const std::string text = order->describe();
  return order->is_global() ? text : text + ", function " + data.function->description();
}

// Every evaluation seeks partners, at no cost.
PartnerWarnings::Texts OrderEvaluator::partner_texts() const
{
  const std::string range = order->range_of_partners();
  return {range.empty() ? fmt::format("{}{} {:.10g}", data.args->range_word(),
                                      data.args->longest_coeff(), data.table->dmax())
                        : range,
          order->without_partners(), order->with_empty_group2(), order->takes_group2(), true};
}

/* ----------------------------------------------------------------------
   evaluation of one rank
------------------------------------------------------------------------- */

gpucoord::OrderInput OrderEvaluator::input()
{
  gpucoord::OrderInput in;
  in.cells = data.selected.cells_input();
  in.nall = atom->nlocal + atom->nghost;
  in.volume = volume();
  in.exchange.forward = [this](double *numbers, int columns) {
    data.ghosts.forward(numbers, columns);
  };
  in.exchange.reduce = FunctionNumbers::reduction(world);
  in.weights = data.weights();
  if (backend_of_order->is_cuda() && comm->nprocs == 1)
    in.exchange.owner = data.ghosts.owners(data.selected.version());
  return in;
}

// Returns the volume of the box, or 0 if it is not periodic in all directions.
double OrderEvaluator::volume() const
{
  const bool is_periodic = domain->xperiodic && domain->yperiodic && domain->zperiodic;
  return is_periodic ? domain->xprd * domain->yprd * domain->zprd : 0.0;
}

// Returns this rank's part of S.
double OrderEvaluator::local_value(double value) const
{
  const bool is_sum = !order->is_global() && data.function->is_sum();
  return is_sum || comm->me == 0 ? value : 0.0;    // S itself is the same on all ranks
}

void OrderEvaluator::begin(LocalEvaluation &local)
{
  data.numbers.begin(data.selected, atom->nlocal);
  f_of_atoms.assign(atom->nlocal, 0.0);
  begin_numbers(local);
  data.ghosts.reserve();
}

// Checks the box again: change_box may change the boundary after init(). Biases only read
// gradients.
void OrderEvaluator::begin_numbers(const LocalEvaluation &local)
{
  check_box();
  natoms_with_partners = 0;
  wanted_numbers = {};
  requests_columns = local.peratom && !local.is_for_forces;
  if (requests_columns) order->request_columns(atom->nlocal, wanted_numbers);
}

void OrderEvaluator::evaluate(LocalEvaluation &local)
{
  wanted_numbers.order = data.numbers.s_of_atoms.data();
  wanted_numbers.f = f_of_atoms.data();
  const auto result =
      (*backend_of_order)->evaluate(input(), local.want, local.peratom, wanted_numbers);
  natoms_with_partners = result.natoms_with_partners;
  data.numbers.is_reduced = true;
  local.mine = result;
  local.value = local_value(result.value);
  for (std::size_t k = 0; k < data.numbers.rows.size(); ++k) {
    data.numbers.s[k] = data.numbers.s_of_atoms[data.numbers.rows[k]];
    data.numbers.f[k] = f_of_atoms[data.numbers.rows[k]];
  }
  local.is_undefined = result.bad >= 0;
  if (local.is_undefined)
    local.failed = data.not_finite(static_cast<int>(result.bad), result.order_of_bad);
}

void OrderEvaluator::complete_exchanges(LocalEvaluation &local)
{
  if (!data.numbers.is_reduced) (*backend_of_order)->complete_exchanges(input(), local.want);
}

gpucoord::Contribution OrderEvaluator::evaluate_reference(const LocalEvaluation &local,
                                                          double *peratom)
{
  gpucoord::Contribution result = reference->evaluate(input(), local.want, peratom, {});
  result.value = local_value(result.value);
  return result;
}

/* ---------------------------------------------------------------------- */

void OrderEvaluator::set_vector(double *to) const
{
  const std::vector<double> numbers = (*backend_of_order)->global_vector();
  std::copy(numbers.begin(), numbers.end(), to);
}

void OrderEvaluator::set_columns(double **array, int first) const
{
  if (requests_columns) order->set_columns(atom->nlocal, array, first);
}

double OrderEvaluator::memory_usage() const
{
  return backend_of_order->bytes() + (reference ? reference->bytes() : 0) + order->memory_usage() +
      static_cast<double>(gpucoord::bytes_of(f_of_atoms));
}
