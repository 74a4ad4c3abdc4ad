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

#include "compute_coord_pair.h"

#include "coord_arguments.h"

#include "atom.h"
#include "error.h"

#include <cmath>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   keyword check: compares with plain loops in double on the host. The result is the same on all
   ranks.
------------------------------------------------------------------------- */

void ComputeCoordPair::compare_with_reference(const LocalEvaluation &local)
{
  const unsigned want = local.want;
  const double *const peratom = local.peratom;
  const int ncolumns = gpucoord::peratom_columns(want);
  std::vector<double> expected(ncolumns * static_cast<std::size_t>(atom->nlocal), 0.0);
  double *const to = peratom ? expected.data() : nullptr;
  auto reference = evaluator->evaluate_reference(local, to);
  if (data.within)
    data.within->add(data.numbers.rows, data.numbers.f, reference.value, want, to, reference);

  double sums[7], total[7], difference_sums[7];
  sums[0] = reference.value;
  for (int k = 0; k < 6; ++k) sums[1 + k] = reference.virial[k];
  MPI_Allreduce(sums, total, 7, MPI_DOUBLE, MPI_SUM, world);
  sums[0] -= local.value;
  for (int k = 0; k < 6; ++k) sums[1 + k] -= local.mine.virial[k];
  MPI_Allreduce(sums, difference_sums, 7, MPI_DOUBLE, MPI_SUM, world);

  // Largest magnitude and difference of s_i, of gradients and of virials over all atoms.
  double peak[6] = {}, peaks[6];
  if (peratom)
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const int column = static_cast<int>(k % ncolumns);
      const int kind = column == 0 ? 0 : column < 4 ? 2 : 4;
      peak[kind] = MAX(peak[kind], fabs(expected[k]));
      const double difference = fabs(expected[k] - peratom[k]);
      // NaN differs from everything.
      peak[kind + 1] = MAX(peak[kind + 1], difference == difference ? difference : HUGE_VAL);
    }
  MPI_Allreduce(peak, peaks, 6, MPI_DOUBLE, MPI_MAX, world);

  const auto compare = [this](const char *what, double magnitude, double difference) {
    const double limit = data.args->check_tolerance * MAX(1.0, magnitude);
    if (!(difference <= limit))
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: check: {} differs by {:.3g} from the reference of magnitude "
                 "{:.6g}, more than {:.3g} - use a higher precision, or report a bug",
                 name, what, difference, magnitude, limit);
  };
  compare("S (before norm)", fabs(total[0]), fabs(difference_sums[0]));
  if (peratom) {
    compare(data.args->terms().singular, peaks[0], peaks[1]);
    compare("dS/dx", peaks[2], peaks[3]);
    compare("the virial of an atom", peaks[4], peaks[5]);
  }
  if (want & gpucoord::VIRIAL) {
    double magnitude = 0.0;
    for (int k = 1; k < 7; ++k) magnitude = MAX(magnitude, fabs(total[k]));
    for (int k = 1; k < 7; ++k) compare("the virial", magnitude, fabs(difference_sums[k]));
  }
}
