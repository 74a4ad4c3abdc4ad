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

std::string LAMMPS_NS::parse_variable(LAMMPS *lmp, int iarg, char **arg, const std::string &command,
                                      const std::string &verb,
                                      const std::vector<std::string> &earlier)
{
  auto *const error = lmp->error;
  const std::string name = arg[iarg] + 2;
  if (name.find(',') != std::string::npos) {
    std::string blanks = arg[iarg];
    std::replace(blanks.begin(), blanks.end(), ',', ' ');
    error->all(FLERR, iarg, "{}: variables are separated by blanks, not by commas: {}, not {}",
               command, blanks, arg[iarg]);
  }
  if (name.find('[') != std::string::npos)
    error->all(FLERR, iarg, "{} takes a whole variable, c_{}, not {}", command,
               name.substr(0, name.find('[')), arg[iarg]);
  const auto *compute = lmp->modify->get_compute_by_id(name);
  if (!compute)
    error->all(FLERR, iarg, "{}: compute {} does not exist - define it before the fix", command,
               name);
  const auto *const variable = dynamic_cast<const CollectiveVariable *>(compute);
  if (!variable)
    error->all(FLERR, iarg,
               "{} {} collective variables (computes of style coord/gpu, coord/orientorder, "
               "coord/envsim, coord/pairentropy or coord/custom), but compute {} is of style {}",
               command, verb, name, compute->style);
  if (!variable->why_no_bias().empty())
    error->all(FLERR, iarg, "{} cannot take compute {}: {}", command, name,
               variable->why_no_bias());
  if (std::find(earlier.begin(), earlier.end(), name) != earlier.end())
    error->all(FLERR, iarg, "{}: compute {} is given twice - give each variable once", command,
               name);
  return name;
}

// Returns the IDs of the computes. Sets iarg to the first argument after them.
static std::vector<std::string> parse_variables(LAMMPS *lmp, int &iarg, int narg, char **arg)
{
  auto *const error = lmp->error;
  const std::string kinds = utils::join_words(gpucoord::bias_kinds(), ", ");
  std::vector<std::string> variables;
  for (; iarg < narg && utils::strmatch(arg[iarg], "^c_"); ++iarg)
    variables.push_back(parse_variable(lmp, iarg, arg, "Fix coord/bias", "biases", variables));
  if (iarg >= narg && variables.empty()) utils::missing_cmd_args(FLERR, "fix coord/bias", error);
  if (iarg >= narg)
    error->all(FLERR, iarg - 1, "Fix coord/bias needs a kind of bias after its variables: {}",
               kinds);
  if (variables.empty())
    error->all(
        FLERR, iarg,
        "Fix coord/bias needs a collective variable, as c_ID, before the kind of bias, not {}",
        arg[iarg]);
  return variables;
}

std::unique_ptr<gpucoord::Bias> LAMMPS_NS::parse_bias(LAMMPS *lmp, int narg, char **arg)
{
  int iarg = 3;
  gpucoord::BiasContext context;
  context.command = "fix coord/bias";
  context.names = parse_variables(lmp, iarg, narg, arg);
  for (const auto &name : context.names) context.labels.push_back("c_" + name);
  context.boltzmann = lmp->force->boltz;
  context.program = "LAMMPS";
  context.units = lmp->update->unit_style;
  const std::string id = arg[0];
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
