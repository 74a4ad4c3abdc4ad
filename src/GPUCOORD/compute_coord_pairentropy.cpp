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

#include "compute_coord_pairentropy.h"

#include "pair_entropy_arguments.h"

#include "comm.h"
#include "domain.h"
#include "error.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordPairEntropy::ComputeCoordPairEntropy(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordOrder(lmp, narg, arg,
                      [&] {
                        return std::make_unique<PairEntropyArguments>(lmp, narg, arg);
                      }),
    options(static_cast<const PairEntropyArguments &>(*args).options)
{
  set_global();
  delete[] vector;
  size_vector = 6 + options.bins;
  vector = new double[size_vector];
}

void ComputeCoordPairEntropy::init()
{
  need_density();
  ComputeCoordOrder::init();
}

/* ---------------------------------------------------------------------- */

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordPairEntropy::make_host() const
{
  return gpucoord::make_host_pair_entropy(options, args->precision, comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordPairEntropy::make_cuda(int device) const
{
  return gpucoord::make_cuda_pair_entropy(options, args->precision, device, comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordPairEntropy::make_reference() const
{
  return gpucoord::make_reference_pair_entropy(options);
}

/* ---------------------------------------------------------------------- */

std::string ComputeCoordPairEntropy::range_of_partners() const
{
  return fmt::format("cutoff {:.10g}", options.cutoff);
}

std::string ComputeCoordPairEntropy::without_partners() const
{
  return "S is that of g = 0";
}

// Raises an error if the box has no volume.
void ComputeCoordPairEntropy::need_density() const
{
  if (domain->dimension != 3)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the pair entropy needs the density of a three-dimensional system, but the "
               "dimension is 2 - use dimension 3",
               name);
  if (domain->xperiodic && domain->yperiodic && domain->zperiodic) return;
  char boundary[9];
  domain->boundary_string(boundary);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: the pair entropy needs the density, and so a box that is periodic in all "
             "directions, but the boundary is {} - use boundary p p p",
             name, boundary);
}

// Checks the box again: change_box may change the boundary after init().
void ComputeCoordPairEntropy::begin_numbers(const LocalEvaluation &local)
{
  need_density();
  ComputeCoordOrder::begin_numbers(local);
}

const double *ComputeCoordPairEntropy::distribution() const
{
  return static_cast<const gpucoord::PairEntropy &>(order_parameter()).distribution().data();
}

double ComputeCoordPairEntropy::finish_evaluation(const double *sums)
{
  const bool has_vector = running.want & gpucoord::VIRIAL;
  const double value = ComputeCoordOrder::finish_evaluation(sums);
  if (!has_vector) return value;
  std::copy_n(distribution(), options.bins, vector + 6);
  return value;
}
