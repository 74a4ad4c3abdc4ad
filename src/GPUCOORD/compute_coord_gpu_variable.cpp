/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "compute_coord_gpu.h"

#include "coord_arguments.h"

#include "atom.h"
#include "error.h"
#include "group.h"

#include <cmath>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   the collective variable, for fixes that bias it
------------------------------------------------------------------------- */

std::string ComputeCoordGPU::dynamic_group() const
{
  if (group->dynamic[igroup]) return group->names[igroup];
  const int igroup2 = args->group2.empty() ? -1 : group->find(args->group2);
  return igroup2 >= 0 && group->dynamic[igroup2] ? group->names[igroup2] : "";
}

void ComputeCoordGPU::announce(unsigned want)
{
  wanted = want;
  where = Where::UNKNOWN;
}

void ComputeCoordGPU::start(bool is_for_forces)
{
  start_evaluation(wanted & ~ON_HOST, is_for_forces);
}

void ComputeCoordGPU::share(double *numbers)
{
  share_evaluation(numbers);
}

void ComputeCoordGPU::finish(const double *sums)
{
  known_value = finish_evaluation(sums);
  where = keeps_gradients(running) ? Where::DEVICE : Where::HOST;
}

void ComputeCoordGPU::add_forces(gpucoord::Factor factor)
{
  if (factor.host == 0.0) return;
  double **const f = atom->f;
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) f[i][k] -= factor.host * array_atom[i][1 + k];
}

void ComputeCoordGPU::add_gradients(double factor, double **array, int first_column) const
{
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 3; ++k) array[i][first_column + k] += factor * array_atom[i][1 + k];
}

void ComputeCoordGPU::add_virial(double factor, double *virial_of_fix) const
{
  for (int k = 0; k < 6; ++k) virial_of_fix[k] += factor * vector[k];
}

// A pair gives half of its virial to each of its atoms.
void ComputeCoordGPU::add_atom_virial(double factor, double **vatom) const
{
  const int nlocal = atom->nlocal;
  for (int i = 0; i < nlocal; ++i)
    for (int k = 0; k < 6; ++k)
      vatom[i][k] += 0.5 * factor * ten_columns[10 * static_cast<std::size_t>(i) + 4 + k];
}

/* ----------------------------------------------------------------------
   keyword check: plain loops in double on the host; same verdict on all ranks
------------------------------------------------------------------------- */

void ComputeCoordGPU::compare_with_reference(const Share &share)
{
  const unsigned want = share.want;
  const double *const peratom = share.peratom;
  const int ncolumns = gpucoord::peratom_columns(want);
  std::vector<double> expected(ncolumns * static_cast<std::size_t>(atom->nlocal), 0.0);
  const auto reference = evaluate_path(share.path, want, peratom ? expected.data() : nullptr, true);

  double local[7], total[7], difference_sums[7];
  local[0] = reference.value;
  for (int k = 0; k < 6; ++k) local[1 + k] = reference.virial[k];
  MPI_Allreduce(local, total, 7, MPI_DOUBLE, MPI_SUM, world);
  local[0] -= share.mine.value;
  for (int k = 0; k < 6; ++k) local[1 + k] -= share.mine.virial[k];
  MPI_Allreduce(local, difference_sums, 7, MPI_DOUBLE, MPI_SUM, world);

  // largest magnitude and difference of s_i, of derivatives and of virials over all atoms
  double peak[6] = {}, peaks[6];
  if (peratom)
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const int column = static_cast<int>(k % ncolumns);
      const int kind = column == 0 ? 0 : column < 4 ? 2 : 4;
      peak[kind] = MAX(peak[kind], fabs(expected[k]));
      const double difference = fabs(expected[k] - peratom[k]);
      // a result that is not a number differs from everything
      peak[kind + 1] = MAX(peak[kind + 1], difference == difference ? difference : HUGE_VAL);
    }
  MPI_Allreduce(peak, peaks, 6, MPI_DOUBLE, MPI_MAX, world);

  const auto compare = [this](const char *what, double magnitude, double difference) {
    const double limit = args->check_tolerance * MAX(1.0, magnitude);
    if (!(difference <= limit))
      error->all(
          FLERR, Error::NOLASTLINE,
          "Compute coord/gpu {}: check: {} differs by {:.3g} from the reference of magnitude "
          "{:.6g}, more than {:.3g} - use a higher precision, or report a bug",
          id, what, difference, magnitude, limit);
  };
  compare("S (before norm)", fabs(total[0]), fabs(difference_sums[0]));
  if (peratom) {
    compare("s_i", peaks[0], peaks[1]);
    compare("dS/dx", peaks[2], peaks[3]);
    compare("the virial of an atom", peaks[4], peaks[5]);
  }
  if (want & gpucoord::VIRIAL) {
    double magnitude = 0.0;
    for (int k = 1; k < 7; ++k) magnitude = MAX(magnitude, fabs(total[k]));
    for (int k = 1; k < 7; ++k) compare("the virial", magnitude, fabs(difference_sums[k]));
  }
}
