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
#include "gpucoord_words.h"

#include "error.h"

#include <map>

using namespace LAMMPS_NS;
using gpucoord::AtomFunctionKind;
using gpucoord::AtomFunctionOptions;
using Words::Choice;

static const std::vector<Choice<AtomFunctionKind>> KINDS = {
    {"sum", AtomFunctionKind::SUM},
    {"more_than", AtomFunctionKind::MORE_THAN},
    {"less_than", AtomFunctionKind::LESS_THAN},
    {"between", AtomFunctionKind::BETWEEN},
    {"moment", AtomFunctionKind::MOMENT},
    {"min", AtomFunctionKind::MIN},
    {"max", AtomFunctionKind::MAX},
    {"alt_min", AtomFunctionKind::ALT_MIN},
    {"custom", AtomFunctionKind::CUSTOM},
    {"histogram", AtomFunctionKind::HISTOGRAM}};

/* ---------------------------------------------------------------------- */

// Returns the number that must be at arg[iarg]. kind: kind of the function; what: name of the
// number
double CoordFunction::number(int narg, char **arg, int iarg, const std::string &kind,
                             const std::string &what) const
{
  if (iarg >= narg) utils::missing_cmd_args(FLERR, command() + " " + kind, error);
  if (!utils::is_double(arg[iarg]))
    error->all(FLERR, iarg, "{} function {} {} must be a number, not '{}'", style, kind, what,
               arg[iarg]);
  return utils::numeric(FLERR, arg[iarg], false, lmp);
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
  o.kind = Words::choose(command(), iarg, narg, arg, KINDS, input, error);
  const std::string kind = arg[iarg + 1];
  const int first = iarg + 2;
  std::map<std::string, int> position;    // argument index by field of AtomFunctionOptions
  const auto read = [&](const char *field, int k, const std::string &what) {
    position[field] = k;
    return number(narg, arg, k, kind, what);
  };
  const auto read_integer = [&](const char *field, int k) {
    position[field] = k;
    if (k >= narg) utils::missing_cmd_args(FLERR, command() + " " + kind, error);
    if (!utils::is_integer(arg[k]))
      error->all(FLERR, k, "{} function {} {} must be an integer, not '{}'", style, kind, field,
                 arg[k]);
    return utils::inumeric(FLERR, arg[k], false, lmp);
  };
  iarg = first;
  switch (o.kind) {
    case AtomFunctionKind::SUM:
      break;
    case AtomFunctionKind::MORE_THAN:
    case AtomFunctionKind::LESS_THAN:
      iarg = first - 1;
      o.sigma = CoordSwitch(lmp, style + " function " + kind, "Unknown " + command() + " keyword")
                    .parse(iarg, narg, arg, next, CoordSwitch::Range::ENDLESS);
      break;
    case AtomFunctionKind::BETWEEN:
    case AtomFunctionKind::HISTOGRAM:
      o.a = read("a", first, "lower bound");
      o.b = read("b", first + 1, "upper bound");
      iarg = first + 2;
      if (o.kind == AtomFunctionKind::HISTOGRAM) o.nbins = read_integer("nbins", iarg++);
      if (iarg < narg && std::string(arg[iarg]) == "smear") {
        o.smear = read("smear", iarg + 1, "smear");
        iarg += 2;
      }
      break;
    case AtomFunctionKind::MOMENT:
      o.order = read_integer("order", first);
      iarg = first + 1;
      break;
    case AtomFunctionKind::MIN:
    case AtomFunctionKind::MAX:
    case AtomFunctionKind::ALT_MIN:
      o.beta = read("beta", first, "beta");
      iarg = first + 1;
      break;
    case AtomFunctionKind::CUSTOM:
      position["expression"] = first;
      if (first >= narg) utils::missing_cmd_args(FLERR, command() + " custom", error);
      o.expression = arg[first];
      iarg = first + 1;
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
