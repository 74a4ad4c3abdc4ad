/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "coord_arguments.h"

#include "broadcast_text.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "group.h"
#include "text_file_reader.h"
#include "tokenizer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::Precision;
using gpucoord::SwitchKind;

static const std::vector<std::string> KEYWORDS = {"group2", "pairs", "pairs/file", "switch", "norm",
                                                  "image", "engine", "precision", "device", "check"};

namespace {

template <typename Value> struct Choice {
  const char *name;
  Value value;
};

const std::vector<Choice<SwitchKind>> SWITCHES = {{"rational", SwitchKind::RATIONAL},
                                                  {"exp", SwitchKind::EXP},
                                                  {"gaussian", SwitchKind::GAUSSIAN},
                                                  {"smap", SwitchKind::SMAP},
                                                  {"cubic", SwitchKind::CUBIC},
                                                  {"tanh", SwitchKind::TANH},
                                                  {"cosinus", SwitchKind::COSINUS},
                                                  {"q", SwitchKind::Q},
                                                  {"custom", SwitchKind::CUSTOM}};

// keywords that may follow the name, and r0 where the function takes one
struct SwitchKeyword {
  const char *keyword;
  const char *field;    // of SwitchOptions, as SwitchError names it
  double gpucoord::SwitchOptions::*value;    // null: no number
  std::vector<SwitchKind> kinds;             // functions that take it; empty: any
};
const std::vector<SwitchKeyword> SWITCH_KEYWORDS = {
    {"nn", "n", &gpucoord::SwitchOptions::n, {SwitchKind::RATIONAL}},
    {"mm", "m", &gpucoord::SwitchOptions::m, {SwitchKind::RATIONAL}},
    {"a", "a", &gpucoord::SwitchOptions::a, {SwitchKind::SMAP}},
    {"b", "b", &gpucoord::SwitchOptions::b, {SwitchKind::SMAP}},
    {"ref", "ref", &gpucoord::SwitchOptions::ref, {SwitchKind::Q}},
    {"beta", "beta", &gpucoord::SwitchOptions::beta, {SwitchKind::Q}},
    {"lambda", "lambda", &gpucoord::SwitchOptions::lambda, {SwitchKind::Q}},
    {"func", "expression", nullptr, {SwitchKind::CUSTOM}},
    {"d0", "d0", &gpucoord::SwitchOptions::d0,
     {SwitchKind::RATIONAL, SwitchKind::EXP, SwitchKind::GAUSSIAN, SwitchKind::SMAP, SwitchKind::CUBIC,
      SwitchKind::TANH, SwitchKind::COSINUS, SwitchKind::CUSTOM}},
    {"dmax", "dmax", &gpucoord::SwitchOptions::dmax, {}},
    {"nostretch", "stretch", nullptr, {}}};

bool takes(SwitchKind kind, const SwitchKeyword &entry)
{
  return entry.kinds.empty() ||
      std::find(entry.kinds.begin(), entry.kinds.end(), kind) != entry.kinds.end();
}

std::string switch_keywords(SwitchKind kind)
{
  std::vector<std::string> list;
  for (const auto &entry : SWITCH_KEYWORDS)
    if (takes(kind, entry)) list.emplace_back(entry.keyword);
  return utils::join(list, ", ");
}

template <typename Value> std::string names(const std::vector<Choice<Value>> &choices)
{
  std::string text;
  for (const auto &choice : choices) text += (text.empty() ? "" : ", ") + std::string(choice.name);
  return text;
}

template <typename Value>
Value choose(const char *keyword, int iarg, int narg, char **arg,
             const std::vector<Choice<Value>> &choices, Error *error)
{
  if (iarg + 2 > narg)
    utils::missing_cmd_args(FLERR, std::string("compute coord/gpu ") + keyword, error);
  for (const auto &choice : choices)
    if (strcmp(arg[iarg + 1], choice.name) == 0) return choice.value;
  error->all(FLERR, iarg + 1, "Unknown compute coord/gpu {} option: {} - known are {}", keyword,
             arg[iarg + 1], names(choices));
}

}    // namespace

/* ---------------------------------------------------------------------- */

CoordArguments::CoordArguments(LAMMPS *lmp, int narg, char **arg) : Pointers(lmp)
{
  bool have_switch = false;
  int engine_position = 0, image_position = 0;
  int iarg = 3;
  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    if (keyword == "group2" || keyword == "pairs" || keyword == "pairs/file") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute coord/gpu " + keyword, error);
      if (groups != Groups::SELF)
        error->all(FLERR, iarg,
                   "Compute coord/gpu takes one of group2, pairs and pairs/file, not {} as well",
                   keyword);
      if (keyword == "pairs/file") {
        groups = Groups::PAIRS_FILE;
        read_pairs_file(iarg + 1, arg[iarg + 1]);
      } else {
        groups = keyword == "pairs" ? Groups::PAIRS : Groups::TWO;
        group2 = arg[iarg + 1];
        if (group->find(group2) < 0)
          error->all(FLERR, iarg + 1,
                     "Compute coord/gpu {}: group {} does not exist - define it before the compute",
                     keyword, group2);
      }
      iarg += 2;
    } else if (keyword == "switch") {
      if (have_switch)
        error->all(FLERR, iarg, "Compute coord/gpu takes one switch, but a second one is given");
      have_switch = true;
      parse_switch(iarg, narg, arg);
    } else if (keyword == "norm") {
      norm = choose<Norm>("norm", iarg, narg, arg, {{"sum", Norm::SUM}, {"mean", Norm::MEAN}}, error);
      iarg += 2;
    } else if (keyword == "image") {
      image = choose<Image>("image", iarg, narg, arg,
                            {{"all", Image::ALL}, {"minimum", Image::MINIMUM}}, error);
      image_position = iarg;
      iarg += 2;
    } else if (keyword == "engine") {
      engine = choose<Engine>("engine", iarg, narg, arg,
                              {{"auto", Engine::AUTO},
                               {"cells", Engine::CELLS},
                               {"list", Engine::LIST},
                               {"allpairs", Engine::ALLPAIRS}},
                              error);
      engine_position = iarg;
      iarg += 2;
    } else if (keyword == "precision") {
      precision = choose<Precision>("precision", iarg, narg, arg,
                                    {{"mixed", Precision::MIXED},
                                     {"double", Precision::DOUBLE},
                                     {"single", Precision::SINGLE}},
                                    error);
      iarg += 2;
    } else if (keyword == "device") {
      device = choose<Device>(
          "device", iarg, narg, arg,
          {{"auto", Device::AUTO}, {"cuda", Device::CUDA}, {"host", Device::HOST}}, error);
      device_position = iarg + 1;
      iarg += 2;
    } else if (keyword == "check") {
      if (iarg + 3 > narg) utils::missing_cmd_args(FLERR, "compute coord/gpu check", error);
      if (!utils::is_integer(arg[iarg + 1]) ||
          (check_every = utils::inumeric(FLERR, arg[iarg + 1], false, lmp)) <= 0)
        error->all(FLERR, iarg + 1,
                   "Compute coord/gpu check interval is {} but must be a number of evaluations > 0",
                   arg[iarg + 1]);
      check_tolerance = number(iarg + 2, arg[iarg + 2], "check tolerance");
      if (!(check_tolerance > 0.0))
        error->all(FLERR, iarg + 2, "Compute coord/gpu check tolerance is {} but must be > 0",
                   check_tolerance);
      iarg += 3;
    } else
      unknown_keyword(iarg, arg[iarg], "");
  }

  if (!have_switch)
    error->all(FLERR, Error::COMMAND,
               "Compute coord/gpu needs a switching function, for example: switch rational 1.5");

  // choices that contradict each other

  const bool has_end = gpucoord::Switch(switch_options).has_end();
  const bool pair_mode = groups == Groups::PAIRS || groups == Groups::PAIRS_FILE;

  if (pair_mode) {
    if (!atom->tag_enable)
      error->all(FLERR, Error::COMMAND,
                 "Compute coord/gpu pairs and pairs/file match atoms by ID, but atom IDs are off - remove "
                 "'atom_modify id no' or use group2");
    if (engine != Engine::AUTO)
      error->all(FLERR, engine_position + 1,
                 "Compute coord/gpu pairs evaluates its pairs directly and takes no engine {} - leave "
                 "engine out",
                 arg[engine_position + 1]);
    if (image == Image::ALL)
      error->all(FLERR, image_position + 1,
                 "Compute coord/gpu pairs takes the nearest image of each pair, not image all - use "
                 "image minimum");
    return;
  }
  if (image == Image::ALL && engine == Engine::ALLPAIRS)
    error->all(FLERR, image_position + 1,
               "Compute coord/gpu engine allpairs takes the nearest image of each pair, not image all "
               "- use image minimum, or engine cells");
  if (!has_end) {
    if (engine == Engine::CELLS || engine == Engine::LIST)
      error->all(FLERR, engine_position + 1,
                 "Compute coord/gpu engine {} needs a range with an end, but the switching function "
                 "has none - give dmax, or use engine allpairs",
                 arg[engine_position + 1]);
    if (image == Image::ALL)
      error->all(FLERR, image_position + 1,
                 "Compute coord/gpu image all needs a range with an end, but the switching function "
                 "has none - give dmax, or use image minimum");
  }
}

/* ---------------------------------------------------------------------- */

void CoordArguments::unknown_keyword(int iarg, const char *text, const std::string &after_switch) const
{
  if (!after_switch.empty())
    error->all(FLERR, iarg,
               "Unknown compute coord/gpu keyword: {} - switch {} takes {}, and then may come {}", text,
               after_switch, switch_keywords(switch_options.kind), utils::join(KEYWORDS, ", "));
  for (const auto &choice : SWITCHES)
    if (strcmp(choice.name, text) == 0)
      error->all(FLERR, iarg, "Unknown compute coord/gpu keyword: {0} - did you mean switch {0}?", text);
  error->all(FLERR, iarg,
             "Unknown compute coord/gpu keyword: {} - known are {}; those of a switching function follow it",
             text, utils::join(KEYWORDS, ", "));
}

double CoordArguments::number(int iarg, const char *text, const std::string &what) const
{
  if (!utils::is_double(text))
    error->all(FLERR, iarg, "Compute coord/gpu {} must be a number{}, not '{}'", what,
               what == "switch dmax" ? " or INF" : "", text);
  return utils::numeric(FLERR, text, false, lmp);
}

/* ----------------------------------------------------------------------
   switch NAME [r0] keyword value ...; ends at the first word that is no
   keyword of a switching function
------------------------------------------------------------------------- */

void CoordArguments::parse_switch(int &iarg, int narg, char **arg)
{
  if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute coord/gpu switch", error);
  auto &o = switch_options;
  o.kind = choose<SwitchKind>("switch", iarg, narg, arg, SWITCHES, error);
  const std::string name = arg[iarg + 1];
  const int name_position = iarg + 1;
  iarg += 2;

  // cubic takes its width from d0 and dmax, q its scale from ref

  if (o.kind != SwitchKind::CUBIC && o.kind != SwitchKind::Q) {
    if (iarg >= narg)
      error->all(FLERR, name_position, "Compute coord/gpu switch {0} needs r0, for example: switch {0} 1.5",
                 name);
    switch_position["r0"] = iarg;
    o.r0 = number(iarg, arg[iarg], "switch r0");
    ++iarg;
  } else if (iarg < narg && utils::is_double(arg[iarg]))
    error->all(FLERR, iarg, "Compute coord/gpu switch {} takes no r0: {}", name,
               o.kind == SwitchKind::CUBIC ? "its width is dmax - d0" : "its distance is ref");

  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    const auto entry = std::find_if(SWITCH_KEYWORDS.begin(), SWITCH_KEYWORDS.end(),
                                    [&keyword](const SwitchKeyword &e) { return keyword == e.keyword; });
    if (entry == SWITCH_KEYWORDS.end()) break;
    if (!takes(o.kind, *entry))
      error->all(FLERR, iarg, "Compute coord/gpu switch {} takes no {} - it takes {}", name, keyword,
                 switch_keywords(o.kind));
    if (keyword == "nostretch") {
      o.stretch = false;
      ++iarg;
      continue;
    }
    if (iarg + 2 > narg)
      utils::missing_cmd_args(FLERR, "compute coord/gpu switch " + keyword, error);
    if (keyword == "func")
      o.expression = arg[iarg + 1];
    else if (keyword == "dmax" && utils::lowercase(arg[iarg + 1]) == "inf")
      o.dmax = std::numeric_limits<double>::infinity();
    else
      o.*(entry->value) = number(iarg + 1, arg[iarg + 1], "switch " + keyword);
    switch_position[entry->field] = iarg + 1;
    iarg += 2;
  }

  // a misspelt word must not be reported as something that is missing

  if (iarg < narg && std::find(KEYWORDS.begin(), KEYWORDS.end(), arg[iarg]) == KEYWORDS.end())
    unknown_keyword(iarg, arg[iarg], name);

  try {
    gpucoord::Switch checked(o);
  } catch (const gpucoord::SwitchError &e) {
    const auto position = switch_position.find(e.field);
    error->all(FLERR, position == switch_position.end() ? name_position : position->second,
               "Compute coord/gpu switch {}: {}", name, e.what());
  }
}

/* ----------------------------------------------------------------------
   two atom IDs a line, # starts a comment
------------------------------------------------------------------------- */

void CoordArguments::read_pairs_file(int iarg, const char *name)
{
  // read on one rank; its verdict, a message or none, is shared before any rank stops

  std::string failure;
  std::vector<tagint> ids;
  if (comm->me == 0) {
    try {
      TextFileReader reader(name, "atom ID pairs");
      while (const char *line = reader.next_line(1)) {
        const auto words = Tokenizer(line).as_vector();
        const auto bad = [line](const std::string &why) {
          return std::runtime_error(why + " in line '" + utils::trim(line) + "'");
        };
        if (words.size() != 2) throw bad("two atom IDs are expected");
        for (const auto &word : words) {
          if (!utils::is_integer(word)) throw bad("'" + word + "' is not an atom ID");
          try {
            ids.push_back(ValueTokenizer(word).next_tagint());
          } catch (const TokenizerException &) {
            throw bad("atom ID " + word + " is too large");
          }
          if (ids.back() <= 0) throw bad("atom ID " + word + " must be > 0");
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
