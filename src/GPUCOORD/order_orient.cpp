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

// Bond-orientational order parameters of atoms, compute coord/orientorder.

#include "coord_arguments.h"
#include "coord_switch.h"
#include "order_evaluator.h"

#include "error.h"
#include "fmt/format.h"
#include "input.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/orient_order.h"

#include <cmath>
#include <string>
#include <vector>

using namespace LAMMPS_NS;
using gpucoord::OrderKind;
using Parse::choose;

namespace {

class OrientOrderArguments : public CoordArguments {
 public:
  OrientOrderArguments(LAMMPS *lmp, int narg, char **arg) :
      CoordArguments(lmp, "coord/orientorder",
                     {"l", "order", "group2", "switch", "coeff", "function", "within", "norm",
                      "wl/hat", "precision", "device", "check"},
                     "switch cubic d0 1.2 dmax 1.5")
  {
    read(narg, arg);
    check_order_kind(arg);
    check_range(arg);
    check_order([this] {
      options.function = *function;
      gpucoord::check_options(options);
    });
  }
  MessageTerms terms() const override { return ORDER_PARAMETERS; }

  gpucoord::OrientOrderOptions options;    // without its table
  bool has_w_hat = false;                  // column 6 of the per-atom output exists

 private:
  void read_own(int &iarg, int narg, char **arg) override
  {
    if (std::string(arg[iarg]) == "order")
      read_order(iarg, narg, arg);
    else if (std::string(arg[iarg]) == "wl/hat") {
      need_first(position("wl/hat"), "wl/hat", iarg);
      positions["wl/hat"] = iarg;
      has_w_hat = choose<bool>("compute coord/orientorder wl/hat", iarg, narg, arg,
                               {{"yes", true}, {"no", false}}, input, error);
      iarg += 2;
    } else
      options.l = read_integer(iarg, narg, arg);
  }
  void read_order(int &iarg, int narg, char **arg);
  void check_order_kind(char **arg) const;
  void check_range(char **arg) const;
};

class OrientOrder : public OrderOf<gpucoord::OrientOrderOptions> {
 public:
  OrientOrder(const OrientOrderArguments &args, const gpucoord::SwitchTable &table) :
      OrderOf(args, table), has_w_hat(args.has_w_hat)
  {
    options.table = table;
  }
  bool is_global() const override { return options.order == gpucoord::OrderKind::GLOBAL; }
  // The other orders compare atoms of one group.
  bool takes_group2() const override
  {
    return options.order == gpucoord::OrderKind::LOCAL || is_global();
  }
  // w_l/|q_l|^3 is column 6 of the per-atom output.
  int ncolumns() const override { return has_w_hat ? 1 : 0; }
  void request_columns(int nlocal, gpucoord::OrderNumbers &wanted) override
  {
    if (!has_w_hat) return;
    w_of_atoms.assign(nlocal, 0.0);
    wanted.w_hat = w_of_atoms.data();
  }
  void compute_columns(gpucoord::ResidentOrderParameter &order, int nlocal, int nthreads,
                       gpucoord::DeviceStream stream) override
  {
    if (!has_w_hat) return;
    std::vector<double> harmonics((2 * options.l + 1) * static_cast<std::size_t>(nlocal));
    static_cast<gpucoord::ResidentOrientOrder &>(order).copy_harmonics(harmonics.data(), stream);
    gpucoord::set_w_hat(options.l, harmonics.data(), nlocal, gpucoord::smallest_norm(precision),
                        w_of_atoms.data(), nthreads);
  }
  void set_columns(int nlocal, double **array, int first) const override
  {
    if (!has_w_hat) return;
    for (int i = 0; i < nlocal; ++i) array[i][first] = w_of_atoms[i];
  }
  double memory_usage() const override
  {
    return static_cast<double>(gpucoord::bytes_of(w_of_atoms));
  }

 private:
  const bool has_w_hat;
  std::vector<double> w_of_atoms;    // [nlocal]
};

// Reads the kind of order parameter; for connections, also the function that counts them.
void OrientOrderArguments::read_order(int &iarg, int narg, char **arg)
{
  need_first(position("order"), "order", iarg);
  options.order = choose<OrderKind>("compute coord/orientorder order", iarg, narg, arg,
                                    {{"local", OrderKind::LOCAL},
                                     {"average", OrderKind::AVERAGE},
                                     {"dot", OrderKind::DOT},
                                     {"connections", OrderKind::CONNECTIONS},
                                     {"global", OrderKind::GLOBAL}},
                                    input, error);
  positions["order"] = iarg + 1;
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

void OrientOrderArguments::check_order_kind(char **arg) const
{
  const bool is_global = options.order == OrderKind::GLOBAL;
  if (is_global && position("function"))
    error->all(FLERR, position("function"),
               "Compute coord/orientorder order global is one number of all atoms and takes no "
               "function {} - leave function out, or use another order",
               arg[position("function")]);
  for (const char *const keyword : {"norm", "within"})
    if (is_global && position(keyword))
      error->all(FLERR, position(keyword),
                 "Compute coord/orientorder order global is one number of all atoms and takes no "
                 "{0} - leave {0} out, or use another order",
                 keyword);
  if (is_global && options.l % 2 && groups != Groups::TWO)
    error->all(FLERR, position("l"),
               "Compute coord/orientorder order global is 0 for l = {} and all odd l, because both "
               "atoms of a pair cancel - use an even l, group2, or another order",
               options.l);
  if (groups == Groups::TWO && !is_global && options.order != OrderKind::LOCAL)
    error->all(FLERR, position("group2"),
               "Compute coord/orientorder order {} compares atoms with partners of the same group "
               "and takes no group2 - leave group2 out, or use order local or global",
               arg[position("order")]);
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

}    // namespace

const CoordStyle LAMMPS_NS::orient_order_style = order_style<OrientOrder, OrientOrderArguments>();
