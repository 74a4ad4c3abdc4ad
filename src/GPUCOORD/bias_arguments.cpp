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

#include "bias_arguments.h"

#include "bias_partitions.h"
#include "gpucoord_lammps_compat.h"
#include "gpucoord_variable.h"

#include "gpucoord/bias.h"

#include "comm.h"
#include "compute.h"
#include "error.h"
#include "force.h"
#include "modify.h"
#include "update.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace LAMMPS_NS;

void LAMMPS_NS::parse_variable(LAMMPS *lmp, int iarg, char **arg, const std::string &command,
                               const std::string &verb, gpucoord::BiasContext &context)
{
  auto *const error = lmp->error;
  const VariableWord word(arg[iarg]);
  const std::string id = word.compute_id;
  const auto *const compute = lmp->modify->get_compute_by_id(id);
  const auto *const variable = dynamic_cast<const CollectiveVariable *>(compute);
  const bool has_values = variable && variable->size() > 1;
  if (word.word.find(',') != std::string::npos) {
    std::string blanks = arg[iarg];
    std::replace(blanks.begin(), blanks.end(), ',', ' ');
    error->all(FLERR, iarg, "{}: variables are separated by blanks, not by commas: {}, not {}",
               command, blanks, arg[iarg]);
  }
  if (word.word.find('[') != std::string::npos && !has_values)
    error->all(FLERR, iarg, "{} takes a whole variable, c_{}, not {}", command, id, arg[iarg]);
  if (!compute)
    error->all(FLERR, iarg, "{}: compute {} does not exist - define it before the fix", command,
               id);
  if (!variable)
    error->all(FLERR, iarg,
               "{} {} collective variables (computes of style {}), but compute {} is of style {}",
               command, verb, styles_of_variables(), id, compute->style);
  if (!variable->why_no_bias().empty())
    error->all(FLERR, iarg, "{} cannot take compute {}: {}", command, id, variable->why_no_bias());
  const std::string problem = word.problem(*variable);
  if (!problem.empty()) error->all(FLERR, iarg, "{}: {}", command, problem);
  const auto &earlier = context.names;
  const auto same = std::find(earlier.begin(), earlier.end(), word.name());
  if (same != earlier.end()) {
    const std::string label = context.labels[same - earlier.begin()];
    if (label == word.word && has_values)
      error->all(FLERR, iarg, "{}: {} is given twice - give each value once", command, label);
    if (label != word.word)
      error->all(FLERR, iarg,
                 "{}: {} and {} would both have the name {} in files - use another compute ID",
                 command, label, word.word, word.name());
    error->all(FLERR, iarg, "{}: compute {} is given twice - give each variable once", command, id);
  }
  context.names.push_back(word.name());
  context.labels.push_back(word.word);
  context.periods.push_back(variable->period(word.item()));
}

// Adds all variables. Sets iarg to the first argument after them.
static void parse_variables(LAMMPS *lmp, int &iarg, int narg, char **arg,
                            gpucoord::BiasContext &context)
{
  auto *const error = lmp->error;
  const std::string kinds = utils::join_words(gpucoord::bias_kinds(), ", ");
  for (; iarg < narg && utils::strmatch(arg[iarg], "^c_"); ++iarg)
    parse_variable(lmp, iarg, arg, "Fix coord/bias", "biases", context);
  if (iarg >= narg && context.names.empty())
    utils::missing_cmd_args(FLERR, "fix coord/bias", error);
  if (iarg >= narg)
    error->all(FLERR, iarg - 1, "Fix coord/bias needs a kind of bias after its variables: {}",
               kinds);
  if (context.names.empty())
    error->all(
        FLERR, iarg,
        "Fix coord/bias needs a collective variable, as c_ID, before the kind of bias, not {}",
        arg[iarg]);
}

std::unique_ptr<gpucoord::Bias> LAMMPS_NS::parse_bias(LAMMPS *lmp, int narg, char **arg)
{
  int iarg = 3;
  gpucoord::BiasContext context;
  context.command = "fix coord/bias";
  parse_variables(lmp, iarg, narg, arg, context);
  context.boltzmann = lmp->force->boltz;
  context.program = "LAMMPS";
  context.units = lmp->update->unit_style;
  const std::string id = arg[0];
  context.walkers = std::make_shared<PartitionWalkers>(lmp, "fix " + id);
  context.print = [lmp, id](const std::string &text) {
    if (lmp->comm->me == 0) utils::logmesg(lmp, "Fix coord/bias {}: {}\n", id, text);
  };
  context.warn = [lmp, id](const std::string &text) {
    if (lmp->comm->me == 0) lmp->error->warning(FLERR, "Fix coord/bias {}: {}", id, text);
  };

  try {
    return gpucoord::make_bias({arg + iarg, arg + narg}, context);
  } catch (const gpucoord::ParseError &e) {
    lmp->error->all(FLERR,
                    e.word == gpucoord::ParseError::WHOLE_COMMAND ? LammpsCompat::WHOLE_COMMAND
                                                                  : iarg + e.word,
                    "{}", e.what());
  }
}
