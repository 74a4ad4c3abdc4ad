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
#include "comm.h"
#include "error.h"
#include "group.h"
#include "update.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;
using Groups = CoordArguments::Groups;

/* ---------------------------------------------------------------------- */

// Largest s of an atom that has almost no partner: a range in another unit leaves the tail of s.
static constexpr double ALMOST_NONE = 1e-3;
static constexpr double ALMOST_FLAT = 1e-2;    // |r ds/dr|: the tail of a power or exponential

// Without a function, S is a sum of values of s.
bool ComputeCoordGPU::has_partners()
{
  if (!function) return std::fabs(running.value) > ALMOST_NONE * selected.nfirst();
  const auto &s = function_numbers.s;
  return std::any_of(s.begin(), s.end(), [](double number) {
    return std::fabs(number) > ALMOST_NONE;
  });
}

std::string ComputeCoordGPU::range_of_partners() const
{
  return fmt::format("{}{} {:.10g}", args->range_word(), args->longest_coeff(), table->dmax());
}

static std::string unit_of_length(const std::string &units)
{
  if (units == "lj") return "sigma";
  if (units == "si") return "meters";
  if (units == "cgs") return "centimeters";
  if (units == "electron") return "Bohr";
  if (units == "micro") return "micrometers";
  if (units == "nano") return "nanometers";
  return "Angstrom";    // real, metal
}

/* ----------------------------------------------------------------------
   Collective. Warns that a bias cannot act, because no pair is in range. The usual cause is a range
   in another unit. sum: of s over all pairs, if there is no function
------------------------------------------------------------------------- */

void ComputeCoordGPU::warn_without_partners(bigint natoms_a, double sum)
{
  const std::string result = without_partners() + " and a bias has no force";
  if (args->groups == Groups::SELF && natoms_a == 1) {
    if (comm->me == 0)
      error->warning(FLERR,
                     "{}: group {} has one atom and no second group, {} - {}use a larger group",
                     name, group->names[igroup], result,
                     takes_group2() ? "name the group of its partners by group2, or " : "");
    return;
  }

  const NearestPair nearest = nearest_pair();
  const bool is_in_range = nearest.exists && nearest.r < nearest.dmax;
  // Order parameters count partners, whatever their s.
  const bool has_small_s = is_in_range && !seeks_partners_in_run();
  if (has_small_s) {
    // Values of s cancel, or s crosses 0.
    if (std::fabs(nearest.s) > ALMOST_NONE || nearest.slope > ALMOST_FLAT) return;
    // The sample may lack pairs with larger s.
    if (!function && !nearest.is_of_all && std::fabs(sum) > ALMOST_NONE) return;
  }
  if (comm->me != 0) return;
  if (!nearest.exists && nearest.is_of_all) {
    const std::string coeff = args->accepts("coeff") ? "coeff" : "";
    error->warning(FLERR, "{}: there is no pair of atoms of these groups and types, {} - check {}",
                   name, result,
                   takes_group2() ? "group2" + (coeff.empty() ? "" : " and " + coeff) : coeff);
    return;
  }
  if (has_small_s && nearest.s != 0.0) {
    error->warning(
        FLERR,
        "{}: s is almost 0 for all pairs of group {}, {} and a bias has almost no force: the "
        "nearest pair{} is {:.6g} apart with s = {:.3g} - are its lengths in {}, as units {} "
        "requires?",
        name, group->names[igroup],
        function ? fmt::format("all {} are almost 0", args->words().numbers)
                 : fmt::format("S is {:.3g}", scale * sum),
        nearest.is_of_all ? "" : " of a sample", nearest.r, nearest.s,
        unit_of_length(update->unit_style), update->unit_style);
    return;
  }
  std::string distance;
  if (nearest.exists && (has_small_s || !is_in_range)) {
    distance = fmt::format(": the nearest pair{} is {:.6g} apart",
                           nearest.is_of_all ? "" : " of a sample", nearest.r);
    if (!is_in_range && nearest.dmax != table->dmax())
      distance +=
          fmt::format(", beyond the {} {:.10g} of its types", args->range_word(), nearest.dmax);
  }
  const std::string none = has_small_s
      ? fmt::format("s is 0 for all pairs of group {}", group->names[igroup])
      : fmt::format("no atom of group {} has a partner within {}", group->names[igroup],
                    range_of_partners());
  error->warning(FLERR, "{}: {}, {}{} - are its lengths in {}, as units {} requires?", name, none,
                 result, distance, unit_of_length(update->unit_style), update->unit_style);
}

/* ----------------------------------------------------------------------
   Collective. Warns if beta of a function min, alt_min or max does not select the smallest or
   largest number: S then is mostly the logarithm of the number of atoms.
------------------------------------------------------------------------- */

void ComputeCoordGPU::warn_of_beta(double value)
{
  using Kind = gpucoord::AtomFunctionKind;
  constexpr double FAR = 0.2;    // of the number, or of 1 if it is less
  const Kind kind = function->options().kind;
  const bool is_max = kind == Kind::MAX;
  if (!is_max && kind != Kind::MIN && kind != Kind::ALT_MIN) return;
  const double sign = is_max ? 1.0 : -1.0;
  double mine = -HUGE_VAL, all;
  for (const double s : function_numbers.s) mine = MAX(mine, sign * s);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, world);
  const double number = sign * all;
  if (!std::isfinite(number)) return;
  if (std::fabs(value - number) > FAR * MAX(1.0, std::fabs(number)) && comm->me == 0)
    error->warning(
        FLERR, "{}: function {} gives {:.6g}, but the {} of the {} is {:.6g} - give a {} beta",
        name, function->description(), value, is_max ? "largest" : "smallest", words.numbers,
        number, is_max ? "smaller" : "larger");
}

/* ----------------------------------------------------------------------
   Collective. Returns the pair whose distance exceeds dmax of its types by the smallest amount, the
   same on all ranks.
------------------------------------------------------------------------- */

namespace {

// An atom that all ranks compare with their atoms.
struct Sample {
  double x[3];
  int type, rank, index;
};

// Returns samples of all ranks.
std::vector<Sample> gather_samples(std::vector<Sample> &mine, int nprocs, MPI_Comm world)
{
  int nbytes = static_cast<int>(mine.size() * sizeof(Sample));
  std::vector<int> counts(nprocs), first(nprocs, 0);
  MPI_Allgather(&nbytes, 1, MPI_INT, counts.data(), 1, MPI_INT, world);
  for (int r = 1; r < nprocs; ++r) first[r] = first[r - 1] + counts[r - 1];
  std::vector<Sample> all((first.back() + counts.back()) / sizeof(Sample));
  MPI_Allgatherv(mine.data(), nbytes, MPI_BYTE, all.data(), counts.data(), first.data(), MPI_BYTE,
                 world);
  return all;
}

}    // namespace

ComputeCoordGPU::NearestPair ComputeCoordGPU::nearest_pair()
{
  NearestPair nearest;
  const bool is_list = args->groups == Groups::PAIRS || args->groups == Groups::PAIRS_FILE;
  const auto consider = [&](const double *xi, const double *xj, int itype, int jtype) {
    const int number = table->number(itype, jtype);
    if (number == gpucoord::SwitchTable::NONE) return;
    const double d[3] = {xi[0] - xj[0], xi[1] - xj[1], xi[2] - xj[2]};
    const double r = gpucoord::nearest_image_distance(box, d);
    const double dmax = table->functions()[number].dmax();
    // With an infinite dmax, distances decide.
    const double excess = table->has_end() ? r - dmax : r;
    const double before = table->has_end() ? nearest.r - nearest.dmax : nearest.r;
    if (nearest.exists && excess >= before) return;
    nearest.r = r;
    nearest.dmax = dmax;
    nearest.number = number;
    nearest.exists = true;
  };

  if (is_list)
    for (std::int64_t k = 0; k < pairs.n; ++k)
      consider(pairs.xa + 3 * k, pairs.xb + 3 * k, pairs.type_a[k], pairs.type_b[k]);
  else
    nearest.is_of_all = compare_samples(consider);

  struct {
    double excess;
    int rank;
  } mine = {HUGE_VAL, comm->me}, least;
  if (nearest.exists) mine.excess = table->has_end() ? nearest.r - nearest.dmax : nearest.r;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, world);
  if (nearest.exists && nearest.r < nearest.dmax && !table->functions().empty()) {
    gpucoord::SwitchEvaluator s(table->functions()[nearest.number]);
    nearest.s = s(nearest.r, &nearest.slope);
    nearest.slope = std::fabs(nearest.r * nearest.slope);
  }
  double numbers[4] = {nearest.r, nearest.dmax, nearest.s, nearest.slope};
  MPI_Bcast(numbers, 4, MPI_DOUBLE, least.rank, world);
  nearest.exists = least.excess < HUGE_VAL;
  nearest.r = numbers[0];
  nearest.dmax = numbers[1];
  nearest.s = numbers[2];
  nearest.slope = numbers[3];
  return nearest;
}

/* ----------------------------------------------------------------------
   Collective. Calls 'consider' for pairs of atoms of group-ID with the owned partners of this rank.
   Returns whether these are all pairs: in large systems only some atoms are compared, so that the
   warning takes less than a second.
------------------------------------------------------------------------- */

bool ComputeCoordGPU::compare_samples(
    const std::function<void(const double *, const double *, int, int)> &consider)
{
  constexpr double MAX_PAIRS = 1e7, MAX_SAMPLES = 1e6;    // pairs on each rank, samples of all
  atoms_to_host();
  selected.select();
  const auto &partners = selected.partners();
  int npartners = selected.npartners();
  int most;
  MPI_Allreduce(&npartners, &most, 1, MPI_INT, MPI_MAX, world);
  const double all = MIN(MAX_SAMPLES, MAX_PAIRS / MAX(1, most));
  const int limit = static_cast<int>(MAX(1.0, all / comm->nprocs));
  std::vector<Sample> mine;
  for (int t = 0; t < MIN(selected.nfirst(), limit); ++t) {
    const int i = selected.first()[t];
    const double *const x = atom->x[i];
    mine.push_back({{x[0], x[1], x[2]}, atom->type[i], comm->me, i});
  }
  int is_complete = selected.nfirst() <= limit ? 1 : 0;
  int are_complete;
  MPI_Allreduce(&is_complete, &are_complete, 1, MPI_INT, MPI_MIN, world);

  for (const Sample &one : gather_samples(mine, comm->nprocs, world))
    for (int t = 0; t < npartners; ++t) {
      const int j = partners[t];
      if (one.rank == comm->me && one.index == j) continue;
      consider(one.x, atom->x[j], one.type, atom->type[j]);
    }
  return are_complete;
}
