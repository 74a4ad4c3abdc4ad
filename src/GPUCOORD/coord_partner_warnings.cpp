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

#include "coord_partner_warnings.h"

#include "coord_arguments.h"
#include "coord_atoms.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"
#include "input.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

using namespace LAMMPS_NS;
using Groups = CoordArguments::Groups;

/* ---------------------------------------------------------------------- */

PartnerWarnings::PartnerWarnings(LAMMPS *lmp, std::string owner_in, int igroup_in,
                                 const CoordArguments &args_in,
                                 const gpucoord::SwitchTable &table_in, CoordAtoms &selected_in) :
    Pointers(lmp),
    owner(std::move(owner_in)), igroup(igroup_in), args(args_in), table(table_in),
    selected(selected_in)
{
}

// Warnings are repeated in each run, but not in each frame of rerun, which calls init() for each
// frame.
void PartnerWarnings::begin_run(const Texts &texts, bool is_dynamic)
{
  const bool was_rerun = is_rerun;
  is_rerun = input->command && strcmp(input->command, "rerun") == 0;
  if (!is_rerun || !was_rerun) {
    warned_empty = false;
    seeks_partners = checks_beta = true;
  }
  // Dynamic groups are empty before a run. Evaluations check them.
  if (args.groups == Groups::PAIRS_FILE || is_dynamic) return;
  const int igroup2 = args.group2.empty() ? igroup : group->find(args.group2);
  warn_if_empty(texts, group->count(igroup), group->count(igroup2));
}

void PartnerWarnings::warn_if_empty(const Texts &texts, bigint natoms_a, bigint natoms_b)
{
  if (warned_empty || (natoms_a > 0 && natoms_b > 0)) return;
  warned_empty = true;
  if (comm->me == 0)
    error->warning(FLERR, "{}: group {} is empty, {}", owner,
                   natoms_a > 0 ? args.group2 : std::string(group->names[igroup]),
                   natoms_a > 0 ? texts.with_empty_group2 : "S is 0");
}

/* ---------------------------------------------------------------------- */

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

static constexpr double ALMOST_FLAT = 1e-2;    // |r ds/dr|: the tail of a power or exponential

/* ----------------------------------------------------------------------
   Collective. Warns that a bias cannot act, because no pair is in range. The usual cause is a range
   in another unit. sum: of s over all pairs, if there is no function
------------------------------------------------------------------------- */

void PartnerWarnings::warn_without_partners(const Texts &texts, bigint natoms_a, double sum,
                                            double scale, const gpucoord::Box &box,
                                            const gpucoord::PairsInput *pairs)
{
  const std::string result = texts.without_partners + " and a bias has no force";
  if (args.groups == Groups::SELF && natoms_a == 1) {
    if (comm->me == 0)
      error->warning(FLERR,
                     "{}: group {} has one atom and no second group, {} - {}use a larger group",
                     owner, group->names[igroup], result,
                     texts.takes_group2 ? "name the group of its partners by group2, or " : "");
    return;
  }

  const NearestPair nearest = nearest_pair(box, pairs);
  const bool is_in_range = nearest.exists && nearest.r < nearest.dmax;
  // Order parameters count partners, whatever their s.
  const bool has_small_s = is_in_range && !texts.seeks_in_run;
  if (has_small_s) {
    // Values of s cancel, or s crosses 0.
    if (std::fabs(nearest.s) > ALMOST_NONE || nearest.slope > ALMOST_FLAT) return;
  }
  // S is not that of the nearest pair: the sample lacks pairs, or s is larger at other distances.
  const double s_of_nearest = has_small_s ? std::fabs(nearest.s) : 0.0;
  if (!args.function && std::fabs(sum) > ALMOST_NONE &&
      (!nearest.is_of_all ||
       s_of_nearest * static_cast<double>(natoms_a) < ALMOST_NONE * std::fabs(sum)))
    return;
  if (comm->me != 0) return;
  if (!nearest.exists && nearest.is_of_all) {
    const std::string coeff = args.accepts("coeff") ? "coeff" : "";
    error->warning(FLERR, "{}: there is no pair of atoms of these groups and types, {} - check {}",
                   owner, result,
                   texts.takes_group2 ? "group2" + (coeff.empty() ? "" : " and " + coeff) : coeff);
    return;
  }
  if (has_small_s && nearest.s != 0.0) {
    error->warning(
        FLERR,
        "{}: s is almost 0 for all pairs of group {}, {} and a bias has almost no force: the "
        "nearest pair{} is {:.6g} apart with s = {:.3g} - are its lengths in {}, as units {} "
        "requires?",
        owner, group->names[igroup],
        args.function ? fmt::format("all {} are almost 0", args.terms().plural)
                      : fmt::format("S is {:.3g}", scale * sum),
        nearest.is_of_all ? "" : " of a sample", nearest.r, nearest.s,
        unit_of_length(update->unit_style), update->unit_style);
    return;
  }
  std::string distance;
  if (nearest.exists && (has_small_s || !is_in_range)) {
    distance = fmt::format(": the nearest pair{} is {:.6g} apart",
                           nearest.is_of_all ? "" : " of a sample", nearest.r);
    if (!is_in_range && nearest.dmax != table.dmax())
      distance +=
          fmt::format(", beyond the {} {:.10g} of its types", args.range_word(), nearest.dmax);
  }
  const std::string none = has_small_s
      ? fmt::format("s is 0 for all pairs of group {}", group->names[igroup])
      : fmt::format("no atom of group {} has a partner within {}", group->names[igroup],
                    texts.range);
  error->warning(FLERR, "{}: {}, {}{} - are its lengths in {}, as units {} requires?", owner, none,
                 result, distance, unit_of_length(update->unit_style), update->unit_style);
}

void PartnerWarnings::warn_of_beta(const gpucoord::AtomFunction &function,
                                   const std::vector<double> &s, double value)
{
  constexpr double FAR = 0.2;    // of the number, or of 1 if it is less
  const int sign = function.info().extreme;
  if (!checks_beta || sign == 0) return;
  const bool is_max = sign > 0;
  checks_beta = false;
  double mine = -HUGE_VAL, all;
  for (const double one : s) mine = MAX(mine, sign * one);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, world);
  const double extreme = sign * all;
  if (!std::isfinite(extreme)) return;
  if (std::fabs(value - extreme) > FAR * MAX(1.0, std::fabs(extreme)) && comm->me == 0)
    error->warning(FLERR,
                   "{}: function {} gives {:.6g}, but the {} of the {} is {:.6g} - give a {} beta",
                   owner, function.description(), value, is_max ? "largest" : "smallest",
                   args.terms().plural, extreme, is_max ? "smaller" : "larger");
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

PartnerWarnings::NearestPair PartnerWarnings::nearest_pair(const gpucoord::Box &box,
                                                           const gpucoord::PairsInput *pairs)
{
  NearestPair nearest;
  const auto consider = [&](const double *xi, const double *xj, int itype, int jtype) {
    const int index = table.function_of(itype, jtype);
    if (index == gpucoord::SwitchTable::NONE) return;
    const double d[3] = {xi[0] - xj[0], xi[1] - xj[1], xi[2] - xj[2]};
    const double r = gpucoord::nearest_image_distance(box, d);
    const double dmax = table.functions()[index].dmax();
    // With an infinite dmax, distances decide.
    const double excess = table.has_end() ? r - dmax : r;
    const double before = table.has_end() ? nearest.r - nearest.dmax : nearest.r;
    if (nearest.exists && excess >= before) return;
    nearest.r = r;
    nearest.dmax = dmax;
    nearest.index = index;
    nearest.exists = true;
  };

  if (pairs)
    for (std::int64_t k = 0; k < pairs->n; ++k)
      consider(pairs->xa + 3 * k, pairs->xb + 3 * k, pairs->type_a[k], pairs->type_b[k]);
  else
    nearest.is_of_all = compare_samples(consider);

  struct {
    double excess;
    int rank;
  } mine = {HUGE_VAL, comm->me}, least;
  if (nearest.exists) mine.excess = table.has_end() ? nearest.r - nearest.dmax : nearest.r;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, world);
  if (nearest.exists && nearest.r < nearest.dmax && !table.functions().empty()) {
    gpucoord::SwitchEvaluator s(table.functions()[nearest.index]);
    nearest.s = s(nearest.r, &nearest.slope);
    nearest.slope = std::fabs(nearest.r * nearest.slope);
  }
  double values[4] = {nearest.r, nearest.dmax, nearest.s, nearest.slope};
  MPI_Bcast(values, 4, MPI_DOUBLE, least.rank, world);
  nearest.exists = least.excess < HUGE_VAL;
  nearest.r = values[0];
  nearest.dmax = values[1];
  nearest.s = values[2];
  nearest.slope = values[3];
  return nearest;
}

/* ----------------------------------------------------------------------
   Collective. Calls 'consider' for pairs of atoms of group-ID with the owned partners of this rank.
   Returns whether these are all pairs: in large systems only some atoms are compared, so that the
   warning takes less than a second.
------------------------------------------------------------------------- */

bool PartnerWarnings::compare_samples(
    const std::function<void(const double *, const double *, int, int)> &consider)
{
  constexpr double MAX_PAIRS = 1e7, MAX_SAMPLES = 1e6;    // pairs on each rank, samples of all
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
