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

#include "compute_coord_gpu.h"

#include "coord_arguments.h"

#include "atom.h"
#include "group.h"

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   interface of collective variables
------------------------------------------------------------------------- */

std::string ComputeCoordGPU::dynamic_group() const
{
  if (group->dynamic[igroup]) return group->names[igroup];
  const int igroup2 = args->group2.empty() ? -1 : group->find(args->group2);
  return igroup2 >= 0 && group->dynamic[igroup2] ? group->names[igroup2] : "";
}

// The second atoms of pairs/file may be in any group.
int ComputeCoordGPU::groups() const
{
  return args->groups == CoordArguments::Groups::PAIRS_FILE ? group->bitmask[0]
                                                            : groupbit | groupbit2;
}

void ComputeCoordGPU::start(bool is_for_forces)
{
  start_evaluation(wanted & ~ON_HOST, is_for_forces);
  state = State::STARTED;
}

void ComputeCoordGPU::finish(const double *sums)
{
  known_value = finish_evaluation(sums);
  state = keeps_gradients(running) ? State::DEVICE : State::HOST;
}

double ComputeCoordGPU::rounding() const
{
  const bool sums_floats = args->precision != gpucoord::Precision::DOUBLE;
  return sums_floats ? 1e-6 : CollectiveVariable::rounding();
}

void ComputeCoordGPU::add_forces(const gpucoord::ItemFactors &factors)
{
  const double factor = factors.host_factor();
  if (factor == 0.0) return;
  double **const f = atom->f;
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) f[i][k] -= factor * array_atom[i][1 + k];
}

void ComputeCoordGPU::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                    int first_column) const
{
  const double factor = factors.host_factor();
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) array[i][first_column + k] += factor * array_atom[i][1 + k];
}

void ComputeCoordGPU::add_virial(const gpucoord::ItemFactors &factors, double *virial_of_fix) const
{
  const double factor = factors.host_factor();
  for (int k = 0; k < 6; ++k) virial_of_fix[k] += factor * vector[k];
}

// Each atom of a pair gets half of the pair's virial.
void ComputeCoordGPU::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  const double factor = factors.host_factor();
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 6; ++k)
      vatom[i][k] += 0.5 * factor * ten_columns[10 * static_cast<std::size_t>(i) + 4 + k];
}
