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

#include "pair_entropy_arguments.h"

#include "gpucoord_lammps_compat.h"

#include "error.h"

using namespace LAMMPS_NS;

static const std::vector<std::string> KEYWORDS = {"cutoff",    "sigma",  "bins", "group2",
                                                  "precision", "device", "check"};
static_assert(gpucoord::GAUSSIAN_REACH == 8.0, "PairEntropyArguments::range_word() says so");

/* ---------------------------------------------------------------------- */

PairEntropyArguments::PairEntropyArguments(LAMMPS *lmp, int narg, char **arg) :
    CoordArguments(lmp, "coord/pairentropy", KEYWORDS)
{
  read(narg, arg);
  for (const auto &[keyword, position] : {std::make_pair("cutoff", cutoff_position),
                                          {"sigma", sigma_position},
                                          {"bins", bins_position}})
    if (!position)
      error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
                 "Compute coord/pairentropy needs {}, for example: cutoff 2.5 sigma 0.05 bins 100",
                 keyword);
  try {
    gpucoord::check_options(options);
  } catch (const gpucoord::PairEntropyError &e) {
    const int position = e.field == "cutoff" ? cutoff_position
        : e.field == "sigma"                 ? sigma_position
                                             : bins_position;
    error->all(FLERR, position, "Compute coord/pairentropy: {}", e.what());
  }
  image = Image::ALL;
  cutoff = gpucoord::reach(options);
  function.emplace();    // default: the number of partners itself
}

void PairEntropyArguments::read_own(int &iarg, int narg, char **arg)
{
  const std::string keyword = arg[iarg];
  int &position = keyword == "cutoff" ? cutoff_position
      : keyword == "sigma"            ? sigma_position
                                      : bins_position;
  need_first(position, keyword.c_str(), iarg);
  if (iarg + 2 > narg)
    utils::missing_cmd_args(FLERR, "compute coord/pairentropy " + keyword, error);
  position = iarg + 1;
  if (keyword == "bins") {
    if (!utils::is_integer(arg[position]))
      error->all(FLERR, position, "Compute coord/pairentropy bins must be an integer, not '{}'",
                 arg[position]);
    options.bins = utils::inumeric(FLERR, arg[position], false, lmp);
  } else
    (keyword == "cutoff" ? options.cutoff : options.sigma) =
        read_number(position, arg[position], keyword);
  iarg += 2;
}
