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

#include "coord_arguments.h"

#include "coord_function.h"
#include "coord_switch.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"

#include "gpucoord/option_error.h"
#include "gpucoord/printable.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>

using namespace LAMMPS_NS;
using Parse::choose;

static const std::vector<std::string> KEYWORDS = {
    "group2", "pairs", "pairs/file", "switch",    "coeff",  "function", "within",
    "norm",   "image", "engine",     "precision", "device", "check"};

/* ---------------------------------------------------------------------- */

CoordArguments::CoordArguments(LAMMPS *lmp, int narg, char **arg) :
    CoordArguments(lmp, "coord/gpu", KEYWORDS, "switch rational 1.5")
{
  read(narg, arg);
  check_engine(arg);
}

CoordArguments::CoordArguments(LAMMPS *lmp, std::string style_in,
                               std::vector<std::string> keywords_in, std::string example_in) :
    Pointers(lmp),
    style(std::move(style_in)), keywords(std::move(keywords_in)), example(std::move(example_in))
{
}

bool CoordArguments::accepts(const std::string &keyword) const
{
  return std::find(keywords.begin(), keywords.end(), keyword) != keywords.end();
}

/* ---------------------------------------------------------------------- */

void CoordArguments::read(int narg, char **arg)
{
  const bool has_switch = accepts("switch");
  if (has_switch) functions.push_back({"switch", 1, atom->ntypes, 1, atom->ntypes});
  const std::string command = "compute " + style, owner = "Compute " + style;
  int iarg = 3;
  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    if (!accepts(keyword)) unknown_keyword(iarg, arg[iarg]);
    if (keyword == "group2" || keyword == "pairs" || keyword == "pairs/file") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command + " " + keyword, error);
      if (groups != Groups::SELF && accepts("pairs"))
        error->all(FLERR, iarg, "{} takes one of group2, pairs and pairs/file, not {} as well",
                   owner, keyword);
      need_first(position("group2"), "group2", iarg);
      positions["group2"] = iarg;
      if (keyword == "pairs/file") {
        groups = Groups::PAIRS_FILE;
        read_pairs_file(iarg + 1, arg[iarg + 1]);
      } else {
        groups = keyword == "pairs" ? Groups::PAIRS : Groups::TWO;
        group2 = arg[iarg + 1];
        if (group->find(group2) < 0)
          error->all(FLERR, iarg + 1,
                     "{} {}: group {} does not exist - define it before the compute", owner,
                     keyword, group2);
      }
      iarg += 2;
    } else if (keyword == "switch") {
      need_first(functions[0].position, "switch", iarg);
      read_function(functions[0], iarg, narg, arg);
    } else if (keyword == "coeff") {
      read_coeff(iarg, narg, arg);
    } else if (keyword == "function") {
      need_first(position("function"), "function", iarg);
      positions["function"] = iarg + 1;
      function = CoordFunction(lmp, owner).parse(iarg, narg, arg, keywords);
    } else if (keyword == "within") {
      need_first(position("within"), "within", iarg);
      positions["within"] = iarg;
      within = WithinArguments::read(lmp, owner, iarg, narg, arg);
    } else if (keyword == "norm") {
      positions["norm"] = iarg;
      norm = choose<Norm>(command + " norm", iarg, narg, arg,
                          {{"sum", Norm::SUM}, {"mean", Norm::MEAN}}, input, error);
      iarg += 2;
    } else if (keyword == "image") {
      image = choose<Image>(command + " image", iarg, narg, arg,
                            {{"all", Image::ALL}, {"minimum", Image::MINIMUM}}, input, error);
      positions["image"] = iarg;
      iarg += 2;
    } else if (keyword == "engine") {
      Parse::reject_removed(owner, "list", "engine cells, which has the same results", iarg, narg,
                            arg, input, error);
      engine = choose<Engine>(
          command + " engine", iarg, narg, arg,
          {{"auto", Engine::AUTO}, {"cells", Engine::CELLS}, {"allpairs", Engine::ALLPAIRS}}, input,
          error);
      positions["engine"] = iarg;
      iarg += 2;
    } else if (keyword == "precision") {
      if (!has_single())
        Parse::reject_removed(owner, "single", Parse::MIXED_IN_PLACE_OF_SINGLE, iarg, narg, arg,
                              input, error);
      precision = choose(command + " precision", iarg, narg, arg,
                         has_single() ? Parse::PRECISIONS : Parse::MIXED_OR_DOUBLE, input, error);
      iarg += 2;
    } else if (keyword == "device") {
      device = choose(command + " device", iarg, narg, arg, Parse::DEVICES, input, error);
      device_position = iarg + 1;
      iarg += 2;
    } else if (keyword == "check") {
      if (iarg + 3 > narg) utils::missing_cmd_args(FLERR, command + " check", error);
      if (!utils::is_integer(arg[iarg + 1]) ||
          (check_every = utils::inumeric(FLERR, arg[iarg + 1], false, lmp)) <= 0)
        error->all(FLERR, iarg + 1,
                   "{} check interval is {} but must be a number of evaluations > 0", owner,
                   arg[iarg + 1]);
      check_tolerance = read_number(iarg + 2, arg[iarg + 2], "check tolerance");
      if (!(check_tolerance > 0.0))
        error->all(FLERR, iarg + 2, "{} check tolerance is {} but must be > 0", owner,
                   check_tolerance);
      iarg += 3;
    } else
      read_own(iarg, narg, arg);
  }

  if (has_switch && !functions[0].position)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND, "{} needs a switching function, for example: {}",
               owner, example);

  check_pairs_of_types();
  for (const Function &f : functions) {
    if (f.is_none()) continue;
    const std::string why = f.function->why_imprecise(precision);
    if (!why.empty())
      error->all(FLERR, f.position, "{} {} {}: {}", owner, f.words, arg[f.position], why);
  }

  // Contradicting options are errors.

  if (function && !gpucoord::AtomFunction(*function).is_sum())
    for (const char *const keyword : {"norm", "within"})
      if (position(keyword))
        error->all(FLERR, position(keyword),
                   "{} function {} is not a sum over atoms and takes no {} - leave {} out", owner,
                   arg[position("function")], keyword, keyword);
  if (within && function && function->nbins > 0)
    error->all(FLERR, position("within"),
               "{} function histogram counts atoms without weights and takes no within - use "
               "function between",
               owner);
  if (within && !function) function.emplace();
}

// Raises an error if options of compute coord/gpu contradict each other.
void CoordArguments::check_engine(char **arg) const
{
  const bool has_end = table().has_end();
  const bool pair_mode = groups == Groups::PAIRS || groups == Groups::PAIRS_FILE;

  if (pair_mode) {
    if (!atom->tag_enable)
      error->all(
          FLERR, LammpsCompat::WHOLE_COMMAND,
          "Compute coord/gpu pairs and pairs/file match atoms by ID, but atom IDs are off - remove "
          "'atom_modify id no' or use group2");
    if (engine != Engine::AUTO)
      error->all(
          FLERR, position("engine") + 1,
          "Compute coord/gpu pairs evaluates its pairs directly and takes no engine {} - leave "
          "engine out",
          arg[position("engine") + 1]);
    if (image == Image::ALL)
      error->all(
          FLERR, position("image") + 1,
          "Compute coord/gpu pairs takes the nearest image of each pair, not image all - use "
          "image minimum");
    return;
  }
  if (image == Image::ALL && engine == Engine::ALLPAIRS)
    error->all(
        FLERR, position("image") + 1,
        "Compute coord/gpu engine allpairs takes the nearest image of each pair, not image all "
        "- use image minimum, or engine cells");
  if (!has_end) {
    if (engine == Engine::CELLS)
      error->all(FLERR, position("engine") + 1,
                 "Compute coord/gpu engine cells needs a finite dmax, but the switching function{} "
                 "has none - give dmax, or use engine allpairs",
                 longest_coeff());
    if (image == Image::ALL)
      error->all(FLERR, position("image") + 1,
                 "Compute coord/gpu image all needs a finite dmax, but the switching function{} "
                 "has none - give dmax, or use image minimum",
                 longest_coeff());
  }
}

/* ---------------------------------------------------------------------- */

// Reads the switching function, or none, after the keyword switch or after types.
void CoordArguments::read_function(Function &f, int &iarg, int narg, char **arg)
{
  const std::string keyword = f.words.substr(0, f.words.find(' '));
  f.position = iarg + 1;
  CoordSwitch words(lmp, "Compute " + style + " " + keyword,
                    "Unknown compute " + style + " keyword");
  const auto options = words.parse_or_none(iarg, narg, arg, keywords);
  if (options) f.options = *options;
  f.function = words.function();
}

// Raises an error if no pair of types has a function.
void CoordArguments::check_pairs_of_types() const
{
  if (functions.empty()) return;
  const auto is_none = [](const Function &f) {
    return f.is_none();
  };
  if (std::all_of(functions.begin(), functions.end(), is_none))
    error->all(FLERR, functions[0].position,
               "Compute {0} {1} none counts no pair of atoms - add coeff with the types and the "
               "function of the pairs to count, for example: {2}",
               style, functions[0].words, "switch none coeff 1 2 " + example.substr(7));
  if (functions.size() == 1) return;
  const gpucoord::SwitchTable all = table();
  for (int i = 1; i <= all.ntypes(); ++i)
    for (int j = i; j <= all.ntypes(); ++j)
      if (all.function_of(i, j) != gpucoord::SwitchTable::NONE) return;
  error->all(FLERR, std::find_if(functions.rbegin(), functions.rend(), is_none)->position,
             "Compute {}: {} none leaves no pair of types with a function - give none for fewer "
             "types, or a function after it",
             style, std::find_if(functions.rbegin(), functions.rend(), is_none)->words);
}

// Reads two ranges of atom types, as in pair_coeff, and a switching function.
void CoordArguments::read_coeff(int &iarg, int narg, char **arg)
{
  if (iarg + 4 > narg) utils::missing_cmd_args(FLERR, "compute " + style + " coeff", error);
  if (!domain->box_exist)
    error->all(FLERR, iarg,
               "Compute {} coeff needs atom types, which do not exist before the simulation box is "
               "defined - define the compute after the box",
               style);
  const auto range = [this, arg](int k, int &lo, int &hi) {
    // Like utils::bounds_typelabel(), but its error points at the argument.
    const std::unique_ptr<char[]> expanded(utils::expand_type(FLERR, arg[k], Atom::ATOM, lmp));
    Parse::type_range(expanded ? expanded.get() : arg[k], atom->ntypes, lo, hi, error, k);
  };
  Function coeff = {};
  range(iarg + 1, coeff.ilo, coeff.ihi);
  range(iarg + 2, coeff.jlo, coeff.jhi);
  coeff.words = fmt::format("coeff {} {}", arg[iarg + 1], arg[iarg + 2]);
  iarg += 2;
  read_function(coeff, iarg, narg, arg);
  functions.push_back(coeff);
}

gpucoord::SwitchTable CoordArguments::table() const
{
  if (functions.empty()) {
    gpucoord::SwitchOptions range;
    range.kind = gpucoord::SwitchKind::CUBIC;
    range.dmax = cutoff;
    return gpucoord::Switch(range);
  }
  if (functions.size() == 1) return *functions[0].function;
  gpucoord::SwitchTable table(atom->ntypes);
  for (const Function &f : functions) {
    const int index = f.is_none() ? gpucoord::SwitchTable::NONE : table.add(*f.function);
    for (int i = f.ilo; i <= f.ihi; ++i)
      for (int j = f.jlo; j <= f.jhi; ++j) table.set(i, j, index);
  }
  return table;
}

const CoordArguments::Function &CoordArguments::longest() const
{
  const auto range = [](const Function &f) {
    return f.is_none() ? 0.0 : f.function->dmax();
  };
  const auto shorter = [&range](const Function &f, const Function &g) {
    return range(f) < range(g);
  };
  return *std::max_element(functions.begin(), functions.end(), shorter);
}

std::string CoordArguments::longest_coeff() const
{
  return functions.size() < 2 ? "" : " of " + longest().words;
}

CoordArguments::MessageTerms CoordArguments::terms() const
{
  return {"s", "s_i", "coordination numbers", "weights"};
}

int CoordArguments::position(const std::string &keyword) const
{
  const auto found = positions.find(keyword);
  return found == positions.end() ? 0 : found->second;
}

const char *CoordArguments::range_word() const
{
  return functions.empty() ? "cutoff" : "dmax";
}

/* ---------------------------------------------------------------------- */

void CoordArguments::need_first(int position, const char *keyword, int iarg) const
{
  if (position)
    error->all(FLERR, iarg, "Compute {} takes one {}, but a second one is given", style, keyword);
}

// Returns the index of the value, and sets iarg to the first argument after it.
int CoordArguments::first_value(int &iarg, int narg, char **arg)
{
  const std::string keyword = arg[iarg];
  need_first(position(keyword), keyword.c_str(), iarg);
  if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute " + style + " " + keyword, error);
  iarg += 2;
  return positions[keyword] = iarg - 1;
}

double CoordArguments::read_number(int &iarg, int narg, char **arg)
{
  const std::string keyword = arg[iarg];
  const int k = first_value(iarg, narg, arg);
  return read_number(k, arg[k], keyword);
}

int CoordArguments::read_integer(int &iarg, int narg, char **arg)
{
  const std::string keyword = arg[iarg];
  const int k = first_value(iarg, narg, arg);
  if (!utils::is_integer(arg[k]))
    error->all(FLERR, k, "Compute {} {} must be an integer, not '{}'", style, keyword, arg[k]);
  return utils::inumeric(FLERR, arg[k], false, lmp);
}

void CoordArguments::need(const std::string &keyword, const std::string &for_example) const
{
  if (!position(keyword))
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND, "Compute {} needs {}, for example: {}", style,
               keyword, for_example);
}

void CoordArguments::check_order(const std::function<void()> &check)
{
  image = Image::ALL;
  if (!function) function.emplace();    // default: sum
  try {
    check();
  } catch (const gpucoord::OptionError &e) {
    const int at = position(e.field);
    error->all(FLERR, at ? at : LammpsCompat::WHOLE_COMMAND, "Compute {}: {}", style, e.what());
  }
}

void CoordArguments::unknown_keyword(int iarg, const char *text) const
{
  const bool has_switch = accepts("switch");
  if (has_switch && CoordSwitch::is_name(text))
    error->all(FLERR, iarg, "Unknown compute {1} keyword: {0} - did you mean switch {0}?", text,
               style);
  error->all(FLERR, iarg, "Unknown compute {} keyword: {} - known are {}{}", style, text,
             utils::join_words(keywords, ", "),
             has_switch ? "; those of a switching function follow it" : "");
}

double CoordArguments::read_number(int iarg, const char *text, const std::string &what) const
{
  if (!utils::is_double(text))
    error->all(FLERR, iarg, "Compute {} {} must be a number, not '{}'", style, what, text);
  return utils::numeric(FLERR, text, false, lmp);
}

/* ----------------------------------------------------------------------
   Reads two atom IDs per line; # starts a comment.
------------------------------------------------------------------------- */

void CoordArguments::read_pairs_file(int iarg, const char *name)
{
  // Rank 0 reads the file and shares its error message before any rank stops.

  std::string failure;
  std::vector<tagint> ids;
  if (comm->me == 0) {
    try {
      std::ifstream file = open_file(name);
      for (std::string line; Parse::read_line(file, line);) {
        const auto words = Parse::in_line(line);
        if (words.empty()) continue;
        const auto bad = [&line](const std::string &why) {
          return std::runtime_error(why + " in line '" +
                                    gpucoord::printable(utils::trim(utils::trim_comment(line))) +
                                    "'");
        };
        if (words.size() != 2) throw bad("two atom IDs are expected");
        for (const auto &word : words) {
          if (!utils::is_integer(word))
            throw bad("'" + gpucoord::printable(word) + "' is not an atom ID");
          errno = 0;
          const long long id = std::strtoll(word.c_str(), nullptr, 10);
          if (errno == ERANGE || id > MAXTAGINT)
            throw bad("atom ID " + gpucoord::printable(word) + " is too large");
          if (id <= 0) throw bad("atom ID " + word + " must be > 0");
          ids.push_back(static_cast<tagint>(id));
        }
        if (ids[ids.size() - 1] == ids[ids.size() - 2])
          throw bad("an atom cannot pair with itself");
      }
      if (ids.empty()) failure = "it has no pairs";
    } catch (const std::exception &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, world);
  if (!failure.empty())
    error->all(FLERR, iarg, "Compute coord/gpu pairs/file {} cannot be used: {}", name, failure);

  bigint n = static_cast<bigint>(ids.size());
  MPI_Bcast(&n, 1, MPI_LMP_BIGINT, 0, world);
  if (n > std::numeric_limits<int>::max())
    error->all(FLERR, iarg, "Compute coord/gpu pairs/file {} has more than {} pairs", name,
               std::numeric_limits<int>::max() / 2);
  ids.resize(n);
  MPI_Bcast(ids.data(), static_cast<int>(n), MPI_LMP_TAGINT, 0, world);
  for (bigint k = 0; k < n; k += 2) id_pairs.emplace_back(ids[k], ids[k + 1]);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  pair_ids = std::move(ids);
}
