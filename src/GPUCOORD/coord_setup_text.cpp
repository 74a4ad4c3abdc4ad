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

#include "coord_setup_text.h"

#include "coord_arguments.h"
#include "gpucoord_backend.h"

#include "comm.h"
#include "group.h"

#include <cmath>
#include <utility>

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

CoordSetupText::CoordSetupText(LAMMPS *lmp, std::string owner_in, int igroup_in,
                               const CoordArguments &args_in,
                               const gpucoord::SwitchTable &table_in) :
    Pointers(lmp),
    owner(std::move(owner_in)), igroup(igroup_in), args(args_in), table(table_in)
{
}

std::string CoordSetupText::lines(const DeviceChoice &device, CoordPaths::Path path,
                                  const std::string &data_path,
                                  const std::string &function_text) const
{
  static const char *const engines[] = {"cells", "allpairs", "pairs"};
  static const char *const precisions[] = {"double", "mixed", "single"};
  std::string mesg = fmt::format(
      "{}: {}, precision {}, engine {}, {}\n", owner, device.description(),
      precisions[static_cast<int>(args.precision)], engines[static_cast<int>(path)],
      data_path +
          (comm->nprocs > 1 ? fmt::format(", S summed over {} ranks by MPI", comm->nprocs) : ""));
  std::size_t number = 0;
  for (const CoordArguments::Function &f : args.functions) {
    if (f.is_none()) {
      mesg += fmt::format("  {} none\n", f.words);
      continue;
    }
    const gpucoord::Switch &function = table.functions()[number++];
    mesg += fmt::format("  {} {}", f.words, function.description());
    if (function.has_end()) mesg += (f.words == "switch" ? "\n  " : "; ") + at_dmax(function);
    mesg += "\n";
  }
  if (args.functions.empty())
    mesg += fmt::format("  {} {:.10g}\n", args.range_word(), table.dmax());
  if (!function_text.empty()) mesg += fmt::format("  {}\n", function_text);
  return mesg;
}

// A function counts the first atoms of pairs.
std::string CoordSetupText::value_line(double natoms_a, double natoms_b, double s) const
{
  const bigint n = args.groups == Groups::PAIRS_FILE ? group->count(igroup)
                                                     : static_cast<bigint>(natoms_a);
  return fmt::format("{}: {}, S {:.6g}{}\n", owner, groups(n, static_cast<bigint>(natoms_b)), s,
                     meaning_of_mean());
}

std::string CoordSetupText::groups() const
{
  return groups(group->count(igroup),
                args.group2.empty() ? 0 : group->count(group->find(args.group2)));
}

static std::string with_size(const std::string &name, bigint natoms)
{
  return fmt::format("{} ({} atom{})", name, natoms, natoms == 1 ? "" : "s");
}

std::string CoordSetupText::groups(bigint natoms_a, bigint natoms_b) const
{
  const std::string first = with_size(group->names[igroup], natoms_a);
  switch (args.groups) {
    case Groups::TWO:
      return fmt::format("{} with {}", first, with_size(args.group2, natoms_b));
    case Groups::PAIRS:
      return fmt::format("{} paired with {}", first, with_size(args.group2, natoms_b));
    case Groups::PAIRS_FILE:
      return fmt::format("{}, {} pairs of pairs/file", first, args.id_pairs.size());
    default:
      return first;
  }
}

// Returns an explanation if norm mean does not give the mean of the coordination numbers.
std::string CoordSetupText::meaning_of_mean() const
{
  const bool is_half = args.norm == CoordArguments::Norm::MEAN && args.counts_pairs_once();
  return is_half ? ", half of the mean coordination number: norm mean counts each pair once" : "";
}

std::string CoordSetupText::functions() const
{
  if (args.functions.empty()) return args.terms().singular;
  if (args.functions.size() == 1)
    return "the switching function " + table.functions()[0].description();
  std::string text;
  std::size_t number = 0;
  for (const CoordArguments::Function &f : args.functions) {
    if (f.is_none()) continue;
    text += fmt::format("{}{} {}", number == 0 ? "one of the switching functions " : ", ", f.words,
                        table.functions()[number].description());
    ++number;
  }
  return text;
}
