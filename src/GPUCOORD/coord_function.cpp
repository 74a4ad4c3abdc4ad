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

#include "coord_function.h"

#include "coord_switch.h"
#include "gpucoord_parse.h"

#include "error.h"

#include <map>

using namespace LAMMPS_NS;
using gpucoord::AtomFunctionInfo;
using gpucoord::AtomFunctionKind;
using gpucoord::AtomFunctionOptions;
using gpucoord::AtomFunctionParameter;
using Parse::Choice;

/* ---------------------------------------------------------------------- */

// Reads the argument at arg[iarg]. kind: name of the function
void CoordFunction::read(const AtomFunctionParameter &parameter, int narg, char **arg, int iarg,
                         const std::string &kind, AtomFunctionOptions &o) const
{
  if (iarg >= narg) utils::missing_cmd_args(FLERR, command() + " " + kind, error);
  if (parameter.text) {
    o.*parameter.text = arg[iarg];
    return;
  }
  const bool is_valid = parameter.integer ? utils::is_integer(arg[iarg])
                                          : utils::is_double(arg[iarg]);
  if (!is_valid)
    error->all(FLERR, iarg, "{} function {} {} must be {}, not '{}'", style, kind, parameter.name,
               parameter.integer ? "an integer" : "a number", arg[iarg]);
  if (parameter.integer)
    o.*parameter.integer = utils::inumeric(FLERR, arg[iarg], false, lmp);
  else
    o.*parameter.value = utils::numeric(FLERR, arg[iarg], false, lmp);
}

// Returns 'compute coord/gpu function'.
std::string CoordFunction::command() const
{
  return "c" + style.substr(1) + " function";
}

AtomFunctionOptions CoordFunction::parse(int &iarg, int narg, char **arg,
                                         const std::vector<std::string> &next)
{
  AtomFunctionOptions o;
  std::vector<Choice<AtomFunctionKind>> kinds;
  for (const AtomFunctionInfo &one : AtomFunctionInfo::all()) kinds.push_back({one.name, one.kind});
  o.kind = Parse::choose(command(), iarg, narg, arg, kinds, input, error);
  const AtomFunctionInfo &info = AtomFunctionInfo::get(o.kind);
  const std::string kind = info.name;
  const int first = iarg + 2;
  std::map<std::string, int> position;    // argument index by field of AtomFunctionOptions
  iarg = first;
  if (info.has_sigma) {
    iarg = first - 1;
    o.sigma = CoordSwitch(lmp, style + " function " + kind, "Unknown " + command() + " keyword")
                  .parse(iarg, narg, arg, next, CoordSwitch::Range::ENDLESS);
  }
  for (const AtomFunctionParameter &parameter : info.parameters) {
    if (parameter.is_keyword) {
      if (iarg >= narg || std::string(arg[iarg]) != parameter.name) continue;
      ++iarg;
    }
    position[parameter.field] = iarg;
    read(parameter, narg, arg, iarg++, kind, o);
  }
  try {
    gpucoord::AtomFunction checked(o);
  } catch (const gpucoord::AtomFunctionError &e) {
    const auto found = position.find(e.field);
    error->all(FLERR, found == position.end() ? first - 1 : found->second, "{} function {}: {}",
               style, kind, e.what());
  }
  return o;
}
