/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "compute_coord_orientorder.h"

#include "gpucoord_backend.h"
#include "orient_order_arguments.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <numeric>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordOrientOrder::ComputeCoordOrientOrder(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordGPU(lmp, narg, arg,
                    [&] {
                      return std::make_unique<OrientOrderArguments>(lmp, narg, arg);
                    }),
    options(static_cast<const OrientOrderArguments &>(*args).options),
    is_global(options.order == gpucoord::OrderKind::GLOBAL), natoms_with_partners(0), ncolumns(0),
    warned_alone(false), has_w_hat(static_cast<const OrientOrderArguments &>(*args).has_w_hat)
{
  if (has_w_hat) size_peratom_cols = 6;
  order_backend = std::make_unique<OrientOrderBackend>(
      lmp, args->device, "Compute coord/orientorder", args->device_position);
  words = {"order parameter", "the order parameter", "order parameters", "numbers"};
  if (is_global) extscalar = extvector = 0;
}

ComputeCoordOrientOrder::~ComputeCoordOrientOrder() = default;

/* ---------------------------------------------------------------------- */

void ComputeCoordOrientOrder::init()
{
  ComputeCoordGPU::init();
  warned_alone = false;
}

// Comm allocates its buffers after init() of computes.
void ComputeCoordOrientOrder::init_backend()
{
  order_backend->init(*table, options, args->precision, name);
  comm_forward = (*order_backend)->exchange_columns();
  if (!args->check_every) return;
  if (!reference) reference = gpucoord::make_reference_orient_order(*table, options);
  comm_forward = MAX(comm_forward, reference->exchange_columns());
}

DeviceChoice &ComputeCoordOrientOrder::device_choice() const
{
  return *order_backend;
}

std::string ComputeCoordOrientOrder::description() const
{
  const std::string text = gpucoord::description(options);
  return is_global ? text : text + ", function " + function->description();
}

/* ----------------------------------------------------------------------
   The evaluation of one rank.
------------------------------------------------------------------------- */

gpucoord::OrderInput ComputeCoordOrientOrder::input()
{
  gpucoord::OrderInput in;
  in.cells = cells_input();
  in.nall = atom->nlocal + atom->nghost;
  in.exchange.forward = [this](double *numbers, int columns) {
    forward(numbers, columns);
  };
  in.exchange.reduce = reduction();
  if (order_backend->is_cuda() && comm->nprocs == 1) {
    if (version_of_owners != cells_version) find_owners();
    in.exchange.owner = owner_of_atom.data();
  }
  return in;
}

// Finds the owned atom whose image each atom is.
void ComputeCoordOrientOrder::find_owners()
{
  std::vector<double> index(atom->nlocal + atom->nghost);
  std::iota(index.begin(), index.end(), 0.0);
  forward(index.data(), 1);
  owner_of_atom.assign(index.begin(), index.end());
  version_of_owners = cells_version;
}

// Returns the share of this rank in S.
double ComputeCoordOrientOrder::share_in_s(double value) const
{
  const bool is_sum = !is_global && function->is_sum();
  return is_sum || comm->me == 0 ? value : 0.0;    // S itself is known to all ranks
}

// Biases read gradients alone.
bool ComputeCoordOrientOrder::wants_w_hat(const Share &share) const
{
  return has_w_hat && share.peratom && !share.is_for_forces;
}

void ComputeCoordOrientOrder::begin_share(const Share &share)
{
  list_rows();
  f_of_atoms.assign(atom->nlocal, 0.0);
  begin_numbers(share);
  reserve_exchange();
}

void ComputeCoordOrientOrder::begin_numbers(const Share &share)
{
  natoms_with_partners = 0;
  if (wants_w_hat(share)) w_of_atoms.assign(atom->nlocal, 0.0);
}

// Communication may be that of more atoms than there are now: after delete_atoms, before a run.
void ComputeCoordOrientOrder::reserve_exchange()
{
  const std::size_t size = comm_forward * static_cast<std::size_t>(atom->nmax);
  if (exchanged.size() < size) exchanged.resize(size);
}

void ComputeCoordOrientOrder::evaluate_share(Share &share)
{
  gpucoord::OrderNumbers numbers;
  numbers.order = of.s_of_atoms.data();
  numbers.f = f_of_atoms.data();
  if (wants_w_hat(share)) numbers.w_hat = w_of_atoms.data();
  const auto result = (*order_backend)->evaluate(input(), share.want, share.peratom, numbers);
  natoms_with_partners = result.natoms_with_partners;
  of.is_reduced = true;
  share.mine = result;
  share.value = share_in_s(result.value);
  for (std::size_t k = 0; k < of.rows.size(); ++k) {
    of.s[k] = of.s_of_atoms[of.rows[k]];
    of.f[k] = f_of_atoms[of.rows[k]];
  }
  if (result.bad >= 0) share.failed = not_finite(static_cast<int>(result.bad), result.order_of_bad);
}

void ComputeCoordOrientOrder::take_part(Share &share)
{
  if (!of.is_reduced) (*order_backend)->take_part(input(), share.want);
}

gpucoord::Contribution ComputeCoordOrientOrder::evaluate_reference(const Share &share,
                                                                   double *peratom)
{
  gpucoord::Contribution result = reference->evaluate(input(), share.want, peratom, {});
  result.value = share_in_s(result.value);
  return result;
}

/* ----------------------------------------------------------------------
   Sends numbers of owned atoms to their ghosts.
------------------------------------------------------------------------- */

void ComputeCoordOrientOrder::forward(double *numbers, int columns)
{
  ncolumns = columns;
  const std::size_t nlocal = atom->nlocal, nall = nlocal + atom->nghost;
  std::copy_n(numbers, columns * nlocal, exchanged.data());
  comm->forward_comm(this);
  std::copy(exchanged.data() + columns * nlocal, exchanged.data() + columns * nall,
            numbers + columns * nlocal);
}

int ComputeCoordOrientOrder::pack_forward_comm(int n, int *atoms, double *buf, int /*pbc_flag*/,
                                               int * /*pbc*/)
{
  const std::size_t columns = ncolumns;
  for (int k = 0; k < n; ++k)
    std::copy_n(exchanged.data() + columns * atoms[k], columns, buf + columns * k);
  return n * ncolumns;
}

void ComputeCoordOrientOrder::unpack_forward_comm(int n, int first, double *buf)
{
  const std::size_t columns = ncolumns;
  std::copy_n(buf, columns * n, exchanged.data() + columns * first);
}

/* ----------------------------------------------------------------------
   A warning, once in a run, if no atom has a partner.
------------------------------------------------------------------------- */

void ComputeCoordOrientOrder::share(double *numbers)
{
  ComputeCoordGPU::share(numbers);
  numbers[12] = static_cast<double>(natoms_with_partners);
}

double ComputeCoordOrientOrder::finish_evaluation(const double *sum)
{
  const bool has_w_of_atoms = wants_w_hat(running);
  const double value = ComputeCoordGPU::finish_evaluation(sum);
  if (has_w_of_atoms)
    for (int i = 0; i < atom->nlocal; ++i) array_atom[i][5] = w_of_atoms[i];
  const bool has_atoms = sum[7] > 0.0 && sum[8] > 0.0;
  if (warned_alone || !has_atoms || sum[12] > 0.0) return value;
  warned_alone = true;
  if (comm->me == 0)
    error->warning(FLERR,
                   "{}: no atom of group {} has a partner within dmax{} {:.10g}, all order "
                   "parameters are 0",
                   name, group->names[igroup], args->of_longest(), table->dmax());
  return value;
}

/* ---------------------------------------------------------------------- */

double ComputeCoordOrientOrder::memory_usage()
{
  const double of_library = order_backend->exists() ? (*order_backend)->bytes() : 0.0;
  return ComputeCoordGPU::memory_usage() + of_library +
      static_cast<double>(f_of_atoms.capacity() + w_of_atoms.capacity() + exchanged.capacity()) *
      sizeof(double);
}
