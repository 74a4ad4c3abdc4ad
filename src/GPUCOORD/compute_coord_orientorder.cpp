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

#include "compute_coord_orientorder.h"

#include "orient_order_arguments.h"

#include "atom.h"
#include "comm.h"

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordOrientOrder::ComputeCoordOrientOrder(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordOrder(lmp, narg, arg,
                      [&] {
                        return std::make_unique<OrientOrderArguments>(lmp, narg, arg);
                      }),
    options(static_cast<const OrientOrderArguments &>(*args).options),
    has_w_hat(static_cast<const OrientOrderArguments &>(*args).has_w_hat)
{
  if (has_w_hat) size_peratom_cols = 6;
  if (options.order == gpucoord::OrderKind::GLOBAL) set_global();
}

// The other orders compare atoms of one group.
bool ComputeCoordOrientOrder::takes_group2() const
{
  return options.order == gpucoord::OrderKind::LOCAL ||
      options.order == gpucoord::OrderKind::GLOBAL;
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordOrientOrder::make_host() const
{
  return gpucoord::make_host_orient_order(*table, options, args->precision, comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordOrientOrder::make_cuda(int device) const
{
  return gpucoord::make_cuda_orient_order(*table, options, args->precision, device, comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordOrientOrder::make_reference() const
{
  return gpucoord::make_reference_orient_order(*table, options);
}

/* ----------------------------------------------------------------------
   w_l/|q_l|^3 is column 6 of the per-atom output.
------------------------------------------------------------------------- */

// Biases only read gradients.
bool ComputeCoordOrientOrder::wants_w_hat(const LocalEvaluation &local) const
{
  return has_w_hat && local.peratom && !local.is_for_forces;
}

void ComputeCoordOrientOrder::begin_numbers(const LocalEvaluation &local)
{
  ComputeCoordOrder::begin_numbers(local);
  if (!wants_w_hat(local)) return;
  w_of_atoms.assign(atom->nlocal, 0.0);
  wanted_numbers.w_hat = w_of_atoms.data();
}

double ComputeCoordOrientOrder::finish_evaluation(const double *sums)
{
  const bool has_w_of_atoms = wants_w_hat(running);
  const double value = ComputeCoordOrder::finish_evaluation(sums);
  if (has_w_of_atoms)
    for (int i = 0; i < atom->nlocal; ++i) array_atom[i][5] = w_of_atoms[i];
  return value;
}

double ComputeCoordOrientOrder::memory_usage()
{
  return ComputeCoordOrder::memory_usage() +
      static_cast<double>(w_of_atoms.capacity()) * sizeof(double);
}
