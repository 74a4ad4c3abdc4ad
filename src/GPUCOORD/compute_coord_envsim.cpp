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

#include "compute_coord_envsim.h"

#include "envsim_arguments.h"

#include "comm.h"

#include <cmath>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

ComputeCoordEnvsim::ComputeCoordEnvsim(LAMMPS *lmp, int narg, char **arg) :
    ComputeCoordOrder(lmp, narg, arg,
                      [&] {
                        return std::make_unique<EnvsimArguments>(lmp, narg, arg);
                      }),
    options(static_cast<const EnvsimArguments &>(*args).options)
{
  words = {"similarity", "the similarity", "similarities", "weights"};
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordEnvsim::make_host() const
{
  return gpucoord::make_host_environment_similarity(options, args->precision, comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordEnvsim::make_cuda(int device) const
{
  return gpucoord::make_cuda_environment_similarity(options, args->precision, device,
                                                    comm->nthreads);
}

std::unique_ptr<gpucoord::OrderParameter> ComputeCoordEnvsim::make_reference() const
{
  return gpucoord::make_reference_environment_similarity(options);
}

// The similarity of an atom without partners is ln(n)/lambda, n environments.
std::string ComputeCoordEnvsim::without_partners() const
{
  const std::size_t n = options.environments.size();
  if (n == 1) return "all similarities are 0";
  return fmt::format("all similarities are ln({})/lambda = {:.6g}", n,
                     std::log(n) / options.lambda);
}
