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
#include "gpucoord_backend.h"

#include "comm.h"
#include "error.h"
#include "group.h"
#include "input.h"

#include <cmath>
#include <cstring>

using namespace LAMMPS_NS;
using Groups = CoordArguments::Groups;

namespace {

std::string at_dmax(const gpucoord::Switch &function)
{
  constexpr double ROUNDING = 1e-12;
  if (std::fabs(function.value_at_dmax()) < ROUNDING &&
      std::fabs(function.derivative_at_dmax()) * function.dmax() < ROUNDING)
    return fmt::format("at dmax = {:.10g}: s and ds/dr go to 0", function.dmax());
  return fmt::format("at dmax = {:.10g}: s = {:.6g}, ds/dr jumps from {:.6g} to 0", function.dmax(),
                     function.value_at_dmax(), function.derivative_at_dmax());
}

}    // namespace

/* ---------------------------------------------------------------------- */

// Collective. The numbers of atoms and S follow in the first evaluation.
void ComputeCoordGPU::print_setup(Path path)
{
  static const char *const engines[] = {"cells", "list", "allpairs", "pairs"};
  static const char *const precisions[] = {"double", "mixed", "single"};
  std::string mesg = fmt::format(
      "{}: {}, precision {}, engine {}, {}\n", name, device_choice().description(),
      precisions[static_cast<int>(args->precision)], engines[static_cast<int>(path)],
      data_path(path) +
          (comm->nprocs > 1 ? fmt::format(", S summed over {} ranks by MPI", comm->nprocs) : ""));
  std::size_t number = 0;
  for (const CoordArguments::Function &f : args->functions) {
    if (f.is_none()) {
      mesg += fmt::format("  {} none\n", f.words);
      continue;
    }
    const gpucoord::Switch &function = table->functions()[number++];
    mesg += fmt::format("  {} {}", f.words, function.description());
    if (function.has_end()) mesg += (f.words == "switch" ? "\n  " : "; ") + at_dmax(function);
    mesg += "\n";
  }
  if (args->functions.empty())
    mesg += fmt::format("  {} {:.10g}\n", args->range_word(), table->dmax());
  const std::string text = description();
  if (!text.empty()) mesg += fmt::format("  {}\n", text);
  // Dynamic groups change in runs, and are empty before them.
  print_once(mesg,
             dynamic_group().empty()
                 ? groups_in_words(group->count(igroup),
                                   groupbit2 ? group->count(group->find(args->group2)) : 0)
                 : "");
}

/* ----------------------------------------------------------------------
   LAMMPS calls this with current ghost atoms before the setup of fixes. Evaluates S if it must be
   printed, because output of a later evaluation can be in the middle of thermodynamic output. If
   this cannot be done, the first evaluation prints S.
------------------------------------------------------------------------- */

void ComputeCoordGPU::setup()
{
  const bool must_seek = seeks_partners && seeks_partners_in_setup();
  if ((!must_print_value && !must_seek) || !begin_setup()) return;
  evaluate_now(gpucoord::VALUE);
  end_setup();
}

// The GPU keeps the numbers of its function, which another evaluation would round differently.
bool ComputeCoordGPU::seeks_partners_in_setup() const
{
  return on_gpu && last_path == Path::CELLS;
}

// In KOKKOS runs, atoms on the host may be stale, and only KOKKOS styles can update them. Pairs of
// IDs and neighbor lists can be wrong, and raise errors before finish_evaluation().
bool ComputeCoordGPU::begin_setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  is_in_setup = has_atoms && last_path != Path::PAIRS && last_path != Path::LIST;
  return is_in_setup;
}

// The next evaluation rebuilds its pairs, so that all later results have the bits of a run without
// the evaluation in setup.
void ComputeCoordGPU::end_setup()
{
  CoordVariable::end_setup();
  selected.begin_run();
  nevaluations[gpucoord::VALUE] = 0;
}

// Collective. Prints the groups and S after the setup line.
void ComputeCoordGPU::print_value(double natoms_a, double natoms_b, double s)
{
  must_print_value = false;
  // A function counts the first atoms of pairs.
  const bigint n = args->groups == Groups::PAIRS_FILE ? group->count(igroup)
                                                      : static_cast<bigint>(natoms_a);
  if (comm->me == 0)
    utils::logmesg(lmp, "{}: {}, S {:.6g}{}\n", name,
                   groups_in_words(n, static_cast<bigint>(natoms_b)), s, meaning_of_mean());
}

static std::string with_size(const std::string &name, bigint natoms)
{
  return fmt::format("{} ({} atom{})", name, natoms, natoms == 1 ? "" : "s");
}

std::string ComputeCoordGPU::groups_in_words(bigint natoms_a, bigint natoms_b) const
{
  const std::string first = with_size(group->names[igroup], natoms_a);
  switch (args->groups) {
    case Groups::TWO:
      return fmt::format("{} with {}", first, with_size(args->group2, natoms_b));
    case Groups::PAIRS:
      return fmt::format("{} paired with {}", first, with_size(args->group2, natoms_b));
    case Groups::PAIRS_FILE:
      return fmt::format("{}, {} pairs of pairs/file", first, args->id_pairs.size());
    default:
      return first;
  }
}

// Returns an explanation if norm mean does not give the mean of the coordination numbers.
std::string ComputeCoordGPU::meaning_of_mean() const
{
  const bool is_half =
      args->norm == CoordArguments::Norm::MEAN && args->groups == Groups::SELF && !function;
  return is_half ? ", half of the mean coordination number: norm mean counts each pair once" : "";
}

std::string ComputeCoordGPU::description() const
{
  return function ? "function " + function->description() : "";
}

std::string ComputeCoordGPU::data_path(Path path) const
{
  const bool ghosts = path == Path::CELLS || path == Path::LIST;
  std::string data = ghosts ? "owned and ghost atoms" : "atoms gathered over ranks";
  if (device_choice().is_cuda())
    data += fmt::format("{} copied to the GPU at every evaluation", ghosts ? "" : " and");
  return data;
}

std::string ComputeCoordGPU::functions_in_words() const
{
  if (args->functions.empty()) return args->words().number;
  if (args->functions.size() == 1)
    return "the switching function " + table->functions()[0].description();
  std::string text;
  std::size_t number = 0;
  for (const CoordArguments::Function &f : args->functions) {
    if (f.is_none()) continue;
    text += fmt::format("{}{} {}", number == 0 ? "one of the switching functions " : ", ", f.words,
                        table->functions()[number].description());
    ++number;
  }
  return text;
}

/* ----------------------------------------------------------------------
   Collective. Called by init(). Warnings are repeated in each run, but not in each frame of rerun,
   which calls init() for each frame.
------------------------------------------------------------------------- */

void ComputeCoordGPU::begin_warnings()
{
  const bool was_rerun = is_rerun;
  is_rerun = input->command && strcmp(input->command, "rerun") == 0;
  if (!is_rerun || !was_rerun) {
    warned_empty = false;
    seeks_partners = true;
  }
  // Dynamic groups are empty before a run. finish_evaluation() checks them.
  if (args->groups == Groups::PAIRS_FILE || !dynamic_group().empty()) return;
  const int igroup2 = groupbit2 ? group->find(args->group2) : igroup;
  warn_if_empty(group->count(igroup), group->count(igroup2));
}

void ComputeCoordGPU::warn_if_empty(bigint natoms_a, bigint natoms_b)
{
  if (warned_empty || (natoms_a > 0 && natoms_b > 0)) return;
  warned_empty = true;
  if (comm->me == 0)
    error->warning(FLERR, "{}: group {} is empty, {}", name,
                   natoms_a > 0 ? args->group2 : std::string(group->names[igroup]),
                   natoms_a > 0 ? with_empty_group2() : "S is 0");
}

std::string ComputeCoordGPU::without_partners() const
{
  return function ? fmt::format("all {} are 0", args->words().numbers) : "S is 0";
}
