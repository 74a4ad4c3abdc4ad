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

#include "multisite_check.h"

#include "comm.h"
#include "error.h"
#include "math_extra.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace LAMMPS_NS;
using gpucoord::MultisiteResults;
using gpucoord::MultisiteSums;

static constexpr const char *ADVICE =
    "use a larger tolerance or a higher precision, or report a bug";

// Relative to the cutoff. Rounding errors of positions in single precision are less than a tenth of
// this.
static constexpr double AT_CUTOFF = 1e-5;

MultisiteCheck::MultisiteCheck(LAMMPS *lmp, const gpucoord::MultisiteModel &model_in,
                               gpucoord::Multisite *host_in, gpucoord::Precision precision,
                               double tolerance_in) :
    Pointers(lmp),
    model(model_in), host(host_in), is_rounded(precision != gpucoord::Precision::DOUBLE),
    tolerance(tolerance_in)
{
}

void MultisiteCheck::compare(const gpucoord::Molecules &in, const MultisiteSums &sums,
                             const MultisiteResults &out, const std::vector<tagint> &ids) const
{
  const std::size_t n = in.nlocal;
  std::vector<double> force(3 * n, 0.0), torque(3 * n, 0.0), energy(n, 0.0), virial(6 * n, 0.0);
  const MultisiteResults expected = {force.data(), torque.data(), energy.data(), virial.data()};
  const MultisiteSums exact = host ? host->evaluate(in, gpucoord::MultisiteWant::ALL, expected)
                                   : gpucoord::reference_multisite(model, in, expected);
  const bool is_alike[2] = {compare_vectors("force", in, out.force, force.data(), ids),
                            compare_vectors("torque", in, out.torque, torque.data(), ids)};
  if (!is_alike[0] || !is_alike[1]) return;    // sums differ if their pairs differ

  // Sums may be small because of cancellation. The differences are compared with the sums of
  // magnitudes.
  double size_energy = 0.0, size_virial = 0.0;
  for (const double e : energy) size_energy += std::fabs(e);
  for (const double w : virial) size_virial += std::fabs(w);
  const auto total = [](const MultisiteSums &s) {
    return s.lennard_jones + s.electrostatic + s.reaction_field;
  };
  compare_sum("energy", total(sums), total(exact), size_energy);
  static const char *const names[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
  for (int k = 0; k < 6; ++k)
    compare_sum(fmt::format("virial {}", names[k]), sums.virial[k], exact.virial[k], size_virial);
}

/* ----------------------------------------------------------------------
   Checks whether a molecule has a pair so close to a cutoff that rounding decides whether the pair
   counts. The decision may differ between the two molecules of the pair.
------------------------------------------------------------------------- */

namespace {

struct SitePosition {
  std::array<double, 3> x;
  bool has_center, has_pole;    // selects the cutoffs
};

// Returns the positions of the sites, or the center of mass of the molecule in place of all of
// them.
std::vector<SitePosition> site_positions(const gpucoord::MultisiteModel &model,
                                         const gpucoord::Molecules &in, int k)
{
  const gpucoord::Component &component = model.components()[in.component[k]];
  const double *const x = in.x + 3 * static_cast<std::size_t>(k),
                      *const q = in.quaternion + 4 * static_cast<std::size_t>(k);
  std::vector<SitePosition> positions;
  if (!model.options().site_cutoff) {
    positions.push_back({{x[0], x[1], x[2]},
                         !component.centers.empty(),
                         !component.charges.empty() || !component.dipoles.empty() ||
                             !component.quadrupoles.empty()});
    return positions;
  }
  double turn[3][3];
  MathExtra::quat_to_mat(q, turn);
  const auto add = [&](const auto &sites, bool is_center) {
    for (const auto &site : sites) {
      SitePosition position = {{x[0], x[1], x[2]}, is_center, !is_center};
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) position.x[r] += turn[r][c] * site.position[c];
      positions.push_back(position);
    }
  };
  add(component.centers, true);
  add(component.charges, false);
  add(component.dipoles, false);
  add(component.quadrupoles, false);
  return positions;
}

bool is_at(double cutoff, double r_sq)
{
  return std::fabs(std::sqrt(r_sq) - cutoff) <= AT_CUTOFF * cutoff;
}

bool is_at_cutoff(const gpucoord::MultisiteModel &model, const gpucoord::Molecules &in, int k)
{
  const auto mine = site_positions(model, in, k);
  for (int other = 0; other < in.nall; ++other) {
    if (other == k) continue;
    for (const SitePosition &b : site_positions(model, in, other))
      for (const SitePosition &a : mine) {
        double r_sq = 0.0;
        for (int c = 0; c < 3; ++c) r_sq += (a.x[c] - b.x[c]) * (a.x[c] - b.x[c]);
        if ((a.has_center && b.has_center && is_at(model.options().cutoff, r_sq)) ||
            (a.has_pole && b.has_pole && is_at(model.options().cutoff_charge, r_sq)))
          return true;
      }
  }
  return false;
}

}    // namespace

/* ----------------------------------------------------------------------
   Compares vectors of molecules, relative to the largest vector of all ranks. Returns false if some
   differ only because of pairs at the cutoff.
------------------------------------------------------------------------- */

bool MultisiteCheck::compare_vectors(const std::string &what, const gpucoord::Molecules &in,
                                     const double *found, const double *expected,
                                     const std::vector<tagint> &ids) const
{
  std::vector<double> difference(ids.size());
  double largest_sq = 0.0, largest;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    double square = 0.0, difference_sq = 0.0;
    for (std::size_t c = 3 * k; c < 3 * k + 3; ++c) {
      square += expected[c] * expected[c];
      difference_sq += (found[c] - expected[c]) * (found[c] - expected[c]);
    }
    largest_sq = MAX(largest_sq, square);
    // NaN differs from everything.
    difference[k] = std::isfinite(difference_sq) ? std::sqrt(difference_sq) : HUGE_VAL;
  }
  largest_sq = std::sqrt(largest_sq);
  MPI_Allreduce(&largest_sq, &largest, 1, MPI_DOUBLE, MPI_MAX, world);

  std::vector<std::size_t> failing;
  for (std::size_t k = 0; k < ids.size(); ++k)
    if (difference[k] > tolerance * largest) failing.push_back(k);
  std::sort(failing.begin(), failing.end(), [&](std::size_t a, std::size_t b) {
    return difference[a] > difference[b];
  });
  struct {
    double value = 0.0;
    int rank;
  } mine, worst;
  mine.rank = comm->me;
  std::size_t index = 0;
  for (const std::size_t k : failing) {
    if (is_rounded && std::isfinite(difference[k]) && is_at_cutoff(model, in, static_cast<int>(k)))
      continue;
    mine.value = difference[k];
    index = k;
    break;
  }
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, world);
  if (worst.value == 0.0) {
    int some = failing.empty() ? 0 : 1, any;
    MPI_Allreduce(&some, &any, 1, MPI_INT, MPI_MAX, world);
    return any == 0;
  }
  double both[6] = {};
  tagint id = 0;
  if (comm->me == worst.rank) {
    for (int c = 0; c < 3; ++c) {
      both[c] = found[3 * index + c];
      both[3 + c] = expected[3 * index + c];
    }
    id = ids[index];
  }
  MPI_Bcast(both, 6, MPI_DOUBLE, worst.rank, world);
  MPI_Bcast(&id, 1, MPI_LMP_TAGINT, worst.rank, world);
  error->all(FLERR, Error::NOLASTLINE,
             "Pair multisite: check: the {} on molecule ID {} is {:.10g} {:.10g} {:.10g}, but "
             "{:.10g} {:.10g} {:.10g} by the "
             "{}: a difference of {:.3g} of the largest {}, more than {:.3g} - {}",
             what, id, both[0], both[1], both[2], both[3], both[4], both[5],
             host ? "host in double precision" : "reference", worst.value / largest, what,
             tolerance, ADVICE);
}

void MultisiteCheck::compare_sum(const std::string &what, double found, double expected,
                                 double size) const
{
  double mine[3] = {found, expected, size}, all[3];
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, world);
  const double difference = std::fabs(all[0] - all[1]);
  if (difference <= tolerance * all[2]) return;
  error->all(FLERR, Error::NOLASTLINE,
             "Pair multisite: check: the {} is {:.10g}, but {:.10g} by the {}: a difference of "
             "{:.3g} of the sum of magnitudes "
             "of all molecules, more than {:.3g} - {}",
             what, all[0], all[1], host ? "host in double precision" : "reference",
             difference / all[2], tolerance, ADVICE);
}
