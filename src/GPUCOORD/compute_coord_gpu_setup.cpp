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

using namespace LAMMPS_NS;

namespace {

std::string at_dmax(const gpucoord::Switch &function)
{
  if (function.value_at_dmax() == 0.0 && function.derivative_at_dmax() == 0.0)
    return fmt::format("at dmax = {:.10g}: s and ds/dr go to 0", function.dmax());
  return fmt::format("at dmax = {:.10g}: s = {:.6g}, ds/dr jumps from {:.6g} to 0", function.dmax(),
                     function.value_at_dmax(), function.derivative_at_dmax());
}

}    // namespace

/* ---------------------------------------------------------------------- */

// Prints once, and again after a change. rerun calls init() for each frame.
void ComputeCoordGPU::print_setup(Path path)
{
  static const char *const engines[] = {"cells", "list", "allpairs", "pairs"};
  static const char *const precisions[] = {"double", "mixed", "single"};
  std::string mesg = fmt::format(
      "{}: {}, precision {}, engine {}, {}\n", name, device_choice().description(),
      precisions[static_cast<int>(args->precision)], engines[static_cast<int>(path)],
      data_path(path) +
          (comm->nprocs > 1 ? fmt::format(", S summed over {} ranks by MPI", comm->nprocs) : ""));
  for (std::size_t k = 0; k < args->functions.size(); ++k) {
    const gpucoord::Switch &function = table->functions()[k];
    mesg += fmt::format("  {} {}", args->functions[k].words, function.description());
    if (function.has_end()) mesg += (k == 0 ? "\n  " : "; ") + at_dmax(function);
    mesg += "\n";
  }
  if (args->functions.empty())
    mesg += fmt::format("  {} {:.10g}\n", args->range_word(), table->dmax());
  const std::string text = description();
  if (!text.empty()) mesg += fmt::format("  {}\n", text);
  if (mesg != printed) utils::logmesg(lmp, mesg);
  printed = mesg;
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
  if (args->functions.empty()) return words.number;
  if (args->functions.size() == 1)
    return "the switching function " + table->functions()[0].description();
  std::string text;
  for (std::size_t k = 0; k < args->functions.size(); ++k)
    text += fmt::format("{}{} {}", k == 0 ? "one of the switching functions " : ", ",
                        args->functions[k].words, table->functions()[k].description());
  return text;
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

std::string ComputeCoordGPU::with_empty_group2() const
{
  return function ? fmt::format("all {} are 0", words.numbers) : "S is 0";
}
