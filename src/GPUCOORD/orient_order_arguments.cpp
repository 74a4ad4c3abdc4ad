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

#include "orient_order_arguments.h"

#include "coord_switch.h"
#include "gpucoord_lammps_compat.h"

#include "error.h"
#include "input.h"

#include <cmath>

using namespace LAMMPS_NS;
using gpucoord::OrderKind;
using Parse::choose;

static const std::vector<std::string> KEYWORDS = {"l",         "order",    "group2", "switch",
                                                  "coeff",     "function", "norm",   "wl/hat",
                                                  "precision", "device",   "check"};

static const std::vector<Parse::Choice<OrderKind>> ORDERS = {
    {"local", OrderKind::LOCAL},
    {"average", OrderKind::AVERAGE},
    {"dot", OrderKind::DOT},
    {"connections", OrderKind::CONNECTIONS},
    {"global", OrderKind::GLOBAL}};

/* ---------------------------------------------------------------------- */

OrientOrderArguments::OrientOrderArguments(LAMMPS *lmp, int narg, char **arg) :
    CoordArguments(lmp, "coord/orientorder", KEYWORDS, "switch cubic d0 1.2 dmax 1.5")
{
  read(narg, arg);
  check_order(arg);
  check_range(arg);
  image = Image::ALL;

  if (!function) function.emplace();    // default: sum
  options.function = *function;
  try {
    gpucoord::check_options(options);
  } catch (const gpucoord::OrientOrderError &e) {
    int position = LammpsCompat::WHOLE_COMMAND;
    if (e.field == "l") position = l_position;
    if (e.field == "order") position = order_position;
    error->all(FLERR, position, "Compute coord/orientorder: {}", e.what());
  }
}

void OrientOrderArguments::read_own(int &iarg, int narg, char **arg)
{
  if (std::string(arg[iarg]) == "order") {
    read_order(iarg, narg, arg);
    return;
  }
  if (std::string(arg[iarg]) == "wl/hat") {
    need_first(w_hat_position, "wl/hat", iarg);
    w_hat_position = iarg;
    has_w_hat = choose<bool>("compute coord/orientorder wl/hat", iarg, narg, arg,
                             {{"yes", true}, {"no", false}}, input, error);
    iarg += 2;
    return;
  }
  need_first(l_position, "l", iarg);
  if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute coord/orientorder l", error);
  if (!utils::is_integer(arg[iarg + 1]))
    error->all(FLERR, iarg + 1, "Compute coord/orientorder l must be an integer, not '{}'",
               arg[iarg + 1]);
  options.l = utils::inumeric(FLERR, arg[iarg + 1], false, lmp);
  l_position = iarg + 1;
  iarg += 2;
}

// Reads the kind of order parameter; for connections, also the function that counts them.
void OrientOrderArguments::read_order(int &iarg, int narg, char **arg)
{
  need_first(order_position, "order", iarg);
  options.order =
      choose<OrderKind>("compute coord/orientorder order", iarg, narg, arg, ORDERS, input, error);
  order_position = iarg + 1;
  if (options.order != OrderKind::CONNECTIONS) {
    iarg += 2;
    return;
  }
  ++iarg;
  options.connection = CoordSwitch(lmp, "Compute coord/orientorder order connections",
                                   "Unknown compute coord/orientorder order keyword")
                           .parse(iarg, narg, arg, keywords, CoordSwitch::Range::ENDLESS);
}

/* ----------------------------------------------------------------------
   Raises errors if options contradict each other, or if a switching function has infinite dmax or
   negative values.
------------------------------------------------------------------------- */

void OrientOrderArguments::check_order(char **arg) const
{
  const bool is_global = options.order == OrderKind::GLOBAL;
  if (is_global && position("function"))
    error->all(FLERR, position("function"),
               "Compute coord/orientorder order global is one number of all atoms and takes no "
               "function {} - leave function out, or use another order",
               arg[position("function")]);
  if (is_global && position("norm"))
    error->all(FLERR, position("norm"),
               "Compute coord/orientorder order global is one number of all atoms and takes no "
               "norm - leave norm out, or use another order");
  if (is_global && options.l % 2 && groups != Groups::TWO)
    error->all(FLERR, l_position,
               "Compute coord/orientorder order global is 0 for l = {} and all odd l, because both "
               "atoms of a pair cancel - use an even l, group2, or another order",
               options.l);
  if (groups == Groups::TWO && !is_global && options.order != OrderKind::LOCAL)
    error->all(FLERR, position("group2"),
               "Compute coord/orientorder order {} compares atoms with partners of the same group "
               "and takes no group2 - leave group2 out, or use order local or global",
               arg[order_position]);
}

void OrientOrderArguments::check_range(char **arg) const
{
  for (const Function &f : functions) {
    if (f.is_none()) continue;
    std::string why;
    if (std::isnan(f.options.dmax))
      why = "dmax is missing - give a dmax near the first minimum of the radial distribution "
            "function";
    else if (std::isinf(f.options.dmax))
      why = "dmax is infinite, but partners need a finite range - give a finite dmax";
    else
      why = CoordSwitch::why_negative(*f.function, "it weights partners and");
    if (!why.empty())
      error->all(FLERR, f.position, "Compute coord/orientorder {} {}: {}", f.words, arg[f.position],
                 why);
  }
}
