/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "multisite_check.h"

#include "comm.h"
#include "error.h"

#include <cmath>

using namespace LAMMPS_NS;
using gpucoord::MultisiteResults;
using gpucoord::MultisiteSums;
using gpucoord::MultisiteWant;

static constexpr const char *ADVICE = "use a higher precision, or report a bug";

MultisiteCheck::MultisiteCheck(LAMMPS *lmp, const gpucoord::MultisiteModel &model_in, gpucoord::Multisite *host_in,
                               double tolerance_in) :
    Pointers(lmp), model(model_in), host(host_in), tolerance(tolerance_in)
{
}

void MultisiteCheck::compare(const gpucoord::Molecules &in, MultisiteWant want, const MultisiteSums &sums,
                             const MultisiteResults &out, const std::vector<tagint> &ids) const
{
  const std::size_t n = in.nlocal;
  std::vector<double> force(3 * n, 0.0), torque(3 * n, 0.0), energy(n, 0.0), virial(6 * n, 0.0);
  const MultisiteResults expected = {force.data(), torque.data(), energy.data(), virial.data()};
  const MultisiteSums exact = host ? host->evaluate(in, MultisiteWant::ALL, expected)
                                   : gpucoord::reference_multisite(model, in, expected);
  compare_vectors("force", out.force, force.data(), ids);
  compare_vectors("torque", out.torque, torque.data(), ids);
  if (want != MultisiteWant::ALL) return;

  // sums may be small by cancellation: beside the magnitudes that are added
  double size_energy = 0.0, size_virial = 0.0;
  for (const double e : energy) size_energy += std::fabs(e);
  for (const double w : virial) size_virial += std::fabs(w);
  const auto total = [](const MultisiteSums &s) { return s.lennard_jones + s.electrostatic + s.reaction_field; };
  compare_sum("energy", total(sums), total(exact), size_energy);
  static const char *const names[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
  for (int k = 0; k < 6; ++k) compare_sum(fmt::format("virial {}", names[k]), sums.virial[k], exact.virial[k], size_virial);
}

/* ----------------------------------------------------------------------
   vectors of molecules, by the largest one of all
------------------------------------------------------------------------- */

void MultisiteCheck::compare_vectors(const std::string &what, const double *found, const double *expected,
                                     const std::vector<tagint> &ids) const
{
  struct {
    double value = 0.0;
    int rank;
  } mine, worst;
  mine.rank = comm->me;
  double largest_sq = 0.0, largest;
  std::size_t where = 0;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    double square = 0.0, difference_sq = 0.0;
    for (std::size_t c = 3 * k; c < 3 * k + 3; ++c) {
      square += expected[c] * expected[c];
      difference_sq += (found[c] - expected[c]) * (found[c] - expected[c]);
    }
    largest_sq = MAX(largest_sq, square);
    // a result that is not a number differs from everything
    const double difference = std::isfinite(difference_sq) ? std::sqrt(difference_sq) : HUGE_VAL;
    if (difference > mine.value) {
      mine.value = difference;
      where = k;
    }
  }
  largest_sq = std::sqrt(largest_sq);
  MPI_Allreduce(&largest_sq, &largest, 1, MPI_DOUBLE, MPI_MAX, world);
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world);
  if (worst.value <= tolerance * largest) return;
  double both[6] = {};
  tagint id = 0;
  if (comm->me == worst.rank) {
    for (int c = 0; c < 3; ++c) {
      both[c] = found[3 * where + c];
      both[3 + c] = expected[3 * where + c];
    }
    id = ids[where];
  }
  MPI_Bcast(both, 6, MPI_DOUBLE, worst.rank, world);
  MPI_Bcast(&id, 1, MPI_LMP_TAGINT, worst.rank, world);
  error->all(FLERR, Error::NOLASTLINE,
             "Pair multisite: check: the {} on molecule ID {} is {:.10g} {:.10g} {:.10g}, but {:.10g} {:.10g} {:.10g} by the "
             "{}: a difference of {:.3g} of the largest {}, more than {:.3g} - {}",
             what, id, both[0], both[1], both[2], both[3], both[4], both[5], host ? "host in double precision" : "reference",
             worst.value / largest, what, tolerance, ADVICE);
}

void MultisiteCheck::compare_sum(const std::string &what, double found, double expected, double size) const
{
  const double mine[3] = {found, expected, size};
  double all[3];
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, world);
  const double difference = std::fabs(all[0] - all[1]);
  if (difference <= tolerance * all[2]) return;
  error->all(FLERR, Error::NOLASTLINE,
             "Pair multisite: check: the {} is {:.10g}, but {:.10g} by the {}: a difference of {:.3g} of the sum of magnitudes "
             "of all molecules, more than {:.3g} - {}",
             what, all[0], all[1], host ? "host in double precision" : "reference", difference / all[2], tolerance, ADVICE);
}
