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

#include "multisite_arguments.h"

#include "gpucoord/multisite.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace LAMMPS_NS;
using Parse::position;

namespace {

using Switched = MultisiteArguments::Switched;
const std::vector<Parse::Choice<Switched>> SHIFTS = {
    {"yes", Switched::YES}, {"no", Switched::NO}, {"pair", Switched::PAIR}};
const std::vector<Parse::Choice<Switched>> TAILS = {{"yes", Switched::YES}, {"no", Switched::NO}};
const std::vector<Parse::Choice<bool>> CUTOFFS = {
    {"center", false}, {"centre", false}, {"site", true}};

}    // namespace

/* ---------------------------------------------------------------------- */

double MultisiteArguments::number(LAMMPS *lmp, const std::string &what, char *word)
{
  if (!utils::is_double(word))
    lmp->error->all(FLERR, position(lmp->input, word), "{} must be a number, not '{}'", what, word);
  errno = 0;
  const double value = std::strtod(word, nullptr);
  if (errno == ERANGE)
    lmp->error->all(FLERR, position(lmp->input, word),
                    "{} is {} but must be 0 or {:.2g} to {:.2g} in magnitude", what, word,
                    std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
  return value;
}

static int times(LAMMPS *lmp, const std::string &what, char *word)
{
  constexpr int MAX_INTEGER = std::numeric_limits<int>::max();
  errno = 0;
  const long long value = utils::is_integer(word) ? std::strtoll(word, nullptr, 10) : 0;
  if (errno == ERANGE || value < 1 || value > MAX_INTEGER)
    lmp->error->all(FLERR, position(lmp->input, word),
                    "{} is every {} evaluations but must be every 1 to {}", what, word,
                    MAX_INTEGER);
  return static_cast<int>(value);
}

/* ---------------------------------------------------------------------- */

MultisiteArguments::MultisiteArguments(LAMMPS *lmp, int narg, char **arg, int &device_position)
{
  Error *const error = lmp->error;
  const Input *const input = lmp->input;
  if (narg < 1) utils::missing_cmd_args(FLERR, "pair_style multisite", error);
  int iarg = 0;
  const auto read_cutoff = [&](const char *what) {
    const double one = number(lmp, fmt::format("Pair_style multisite {}", what), arg[iarg]);
    if (!(one > 0.0))
      error->all(FLERR, position(input, arg[iarg]), "Pair_style multisite {} is {} but must be > 0",
                 what, arg[iarg]);
    if (one < gpucoord::MIN_LENGTH || one > gpucoord::MAX_LENGTH)
      error->all(FLERR, position(input, arg[iarg]),
                 "Pair_style multisite {} is {} but must be {:g} to {:g}, so that "
                 "(sigma/cutoff)^12 is a finite number",
                 what, arg[iarg], gpucoord::MIN_LENGTH, gpucoord::MAX_LENGTH);
    ++iarg;
    return one;
  };
  cutoff = cutoff_charge = read_cutoff("cutoff");
  if (iarg < narg && utils::is_double(arg[iarg])) cutoff_charge = read_cutoff("cutoff of charges");

  while (iarg < narg) {
    const std::string keyword = arg[iarg], command = "pair_style multisite " + keyword;
    const auto choose = [&](const auto &choices) {
      return Parse::choose(command, iarg, narg, arg, choices, input, error);
    };
    int nvalues = 1;
    if (keyword == "cutoff")
      site_cutoff = choose(CUTOFFS);
    else if (keyword == "shift")
      shift = choose(SHIFTS);
    else if (keyword == "tail")
      tail = choose(TAILS);
    else if (keyword == "precision") {
      Parse::reject_removed("Pair_style multisite", "single", Parse::MIXED_IN_PLACE_OF_SINGLE, iarg,
                            narg, arg, input, error);
      precision = choose(Parse::MIXED_OR_DOUBLE);
    } else if (keyword == "device") {
      device = choose(Parse::DEVICES);
      device_position = position(input, arg[iarg + 1]);
    } else if (keyword == "rf") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command, error);
      const std::string word = utils::lowercase(arg[iarg + 1]);
      const bool is_infinite = word == "inf" || word == "infinity";
      reaction_field = is_infinite ? std::numeric_limits<double>::infinity()
                                   : number(lmp, "Pair_style multisite rf", arg[iarg + 1]);
      if (!(reaction_field >= 1.0))
        error->all(FLERR, position(input, arg[iarg + 1]),
                   "Pair_style multisite rf is {} but must be a dielectric constant >= 1, or inf",
                   arg[iarg + 1]);
    } else if (keyword == "check") {
      nvalues = 2;
      if (iarg + 3 > narg) utils::missing_cmd_args(FLERR, command, error);
      check_every = times(lmp, "Pair_style multisite check", arg[iarg + 1]);
      check_tolerance = number(lmp, "Pair_style multisite check tolerance", arg[iarg + 2]);
      if (!(check_tolerance > 0.0))
        error->all(FLERR, position(input, arg[iarg + 2]),
                   "Pair_style multisite check tolerance is {} but must be > 0", arg[iarg + 2]);
    } else if (utils::is_double(arg[iarg]) && iarg == 2)
      error->all(FLERR, position(input, arg[iarg]),
                 "Pair_style multisite has at most two cutoffs, but {} is a third", arg[iarg]);
    else
      error->all(FLERR, position(input, arg[iarg]),
                 "Unknown pair_style multisite keyword: {} - known are cutoff, shift, rf, tail, "
                 "precision, device, check",
                 keyword);
    if (shift == Switched::YES && tail == Switched::YES)
      error->all(FLERR, position(input, arg[iarg]),
                 "Pair_style multisite shift yes cannot be used with tail yes, a correction for "
                 "energies that are not shifted - use only one of them");
    iarg += 1 + nvalues;
  }
}

/* ---------------------------------------------------------------------- */

void MultisiteArguments::write(RestartWriter &out) const
{
  for (const double one : {cutoff, cutoff_charge, reaction_field, check_tolerance}) out.write(one);
  for (const int one :
       {static_cast<int>(site_cutoff), static_cast<int>(shift), static_cast<int>(tail),
        static_cast<int>(precision), static_cast<int>(device), check_every})
    out.write(one);
}

MultisiteArguments::MultisiteArguments(RestartReader &in)
{
  for (double *one : {&cutoff, &cutoff_charge, &reaction_field, &check_tolerance})
    *one = in.read<double>();
  site_cutoff = in.read<int>() != 0;
  shift = in.enumerator(Switched::PAIR);
  tail = in.enumerator(Switched::PAIR);
  precision = in.enumerator(gpucoord::Precision::SINGLE);
  if (precision == gpucoord::Precision::SINGLE)
    precision = gpucoord::Precision::MIXED;    // a file of an earlier version; both are the same
  device = in.enumerator(Parse::Device::HOST);
  check_every = in.read<int>();
}
