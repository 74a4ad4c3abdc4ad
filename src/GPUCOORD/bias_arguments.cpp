/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "bias_arguments.h"

#include "gpucoord_variable.h"

#include "compute.h"
#include "error.h"
#include "force.h"
#include "modify.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace LAMMPS_NS;

namespace {

struct KindEntry {
  const char *name;
  BiasArguments::Kind kind;
  std::vector<std::string> keywords;
};
using Kind = BiasArguments::Kind;
const std::vector<KindEntry> KINDS = {
    {"harmonic", Kind::HARMONIC, {"k", "s0", "stride"}},
    {"moving", Kind::MOVING, {"k", "s0", "k/stop", "s0/stop", "steps", "stride"}},
    {"wall/upper", Kind::UPPER_WALL, {"k", "s0", "exponent", "offset", "stride"}},
    {"wall/lower", Kind::LOWER_WALL, {"k", "s0", "exponent", "offset", "stride"}},
    {"linear", Kind::LINEAR, {"k", "s0", "stride"}},
    {"metad",
     Kind::METAD,
     {"sigma", "height", "pace", "biasfactor", "temp", "grid", "bins", "interval", "file", "append",
      "write_grid", "read_grid", "stride"}}};

// Largest exponent of a wall: 2^1000 is close to the largest double.
constexpr double MAX_EXPONENT = 1000.0;

// of keywords whose values are words
const std::map<std::string, int> NUMBER_OF_WORDS = {
    {"file", 1}, {"append", 1}, {"read_grid", 1}, {"write_grid", 2}};

const KindEntry *entry_of(const std::string &name)
{
  for (const auto &entry : KINDS)
    if (name == entry.name) return &entry;
  return nullptr;
}

std::string kind_names()
{
  std::vector<std::string> names;
  for (const auto &entry : KINDS) names.emplace_back(entry.name);
  return utils::join(names, ", ");
}

bool contains(const std::vector<std::string> &list, const std::string &word)
{
  return std::find(list.begin(), list.end(), word) != list.end();
}

}    // namespace

/* ---------------------------------------------------------------------- */

BiasArguments::BiasArguments(LAMMPS *lmp, int narg, char **arg) : Pointers(lmp)
{
  int iarg = 3;
  parse_variables(iarg, narg, arg);
  parse_keywords(iarg, narg, arg);
  if (find("stride")) check_count("stride", need("stride"), 1, "");
  if (find("stride"))
    stride = static_cast<int>(integer("stride", need("stride"), 0, 1, "a number of steps"));
  if (kind == Kind::METAD)
    take_metad();
  else
    take_restraint();
}

/* ----------------------------------------------------------------------
   c_A [c_B ...] KIND
------------------------------------------------------------------------- */

void BiasArguments::parse_variables(int &iarg, int narg, char **arg)
{
  for (; iarg < narg && utils::strmatch(arg[iarg], "^c_"); ++iarg) {
    const std::string name = arg[iarg] + 2;
    if (name.find('[') != std::string::npos)
      error->all(FLERR, iarg, "Fix coord/bias takes a whole coordination number, c_{}, not {}",
                 name.substr(0, name.find('[')), arg[iarg]);
    const auto *compute = modify->get_compute_by_id(name);
    if (!compute)
      error->all(FLERR, iarg,
                 "Fix coord/bias: compute {} does not exist - define it before the fix", name);
    if (!dynamic_cast<const CollectiveVariable *>(compute))
      error->all(FLERR, iarg,
                 "Fix coord/bias biases collective variables (computes of style coord/gpu or "
                 "coord/custom), but compute {} is of style {}",
                 name, compute->style);
    if (contains(variables, name))
      error->all(FLERR, iarg, "Fix coord/bias: compute {} is given twice - give each variable once",
                 name);
    variables.push_back(name);
  }
  if (iarg >= narg && variables.empty()) utils::missing_cmd_args(FLERR, "fix coord/bias", error);
  if (iarg >= narg)
    error->all(FLERR, iarg - 1, "Fix coord/bias needs a kind of bias after its variables: {}",
               kind_names());
  if (variables.empty())
    error->all(FLERR, iarg,
               "Fix coord/bias needs a compute coord/gpu, as c_ID, before the kind of bias, not {}",
               arg[iarg]);

  const auto *entry = entry_of(arg[iarg]);
  if (!entry)
    error->all(FLERR, iarg, "Unknown fix coord/bias kind: {} - known are {}", arg[iarg],
               kind_names());
  kind = entry->kind;
  kind_name = entry->name;
  ++iarg;
}

/* ----------------------------------------------------------------------
   every keyword with all words up to the next one
------------------------------------------------------------------------- */

void BiasArguments::parse_keywords(int iarg, int narg, char **arg)
{
  const auto &keywords = entry_of(kind_name)->keywords;
  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    if (!contains(keywords, keyword))
      error->all(FLERR, iarg, "Unknown fix coord/bias {} keyword: {} - known are {}", kind_name,
                 keyword, utils::join(keywords, ", "));
    if (given.count(keyword))
      error->all(FLERR, iarg, "Fix coord/bias {} keyword {} is given twice", kind_name, keyword);
    auto &entry = given[keyword];
    entry.position = iarg++;
    // names of files may be any word; other values are numbers or variables, so that a misspelt keyword is
    // not taken for one
    const auto words = NUMBER_OF_WORDS.find(keyword);
    const auto is_value = [&](const std::string &word) {
      char *end;
      std::strtod(word.c_str(), &end);    // nan is a bad number, not an unknown keyword
      return !isalpha(static_cast<unsigned char>(word[0])) || *end == '\0' ||
          utils::strmatch(word, "^v_");
    };
    const int end = words == NUMBER_OF_WORDS.end() ? narg : MIN(narg, iarg + words->second);
    while (iarg < end && (words != NUMBER_OF_WORDS.end() || is_value(arg[iarg])))
      entry.values.emplace_back(arg[iarg++]);
  }
}

/* ---------------------------------------------------------------------- */

const BiasArguments::Keyword *BiasArguments::find(const std::string &keyword) const
{
  const auto entry = given.find(keyword);
  return entry == given.end() ? nullptr : &entry->second;
}

const BiasArguments::Keyword &BiasArguments::need(const std::string &keyword) const
{
  if (!find(keyword))
    error->all(FLERR, Error::COMMAND, "Fix coord/bias {} needs keyword {}", kind_name, keyword);
  return *find(keyword);
}

// for errors: what the values of a keyword belong to
std::string BiasArguments::per_variable() const
{
  std::string names;
  for (const auto &name : variables) names += (names.empty() ? "c_" : " c_") + name;
  return variables.size() == 1 ? "the variable " + names : "each of the variables " + names;
}

void BiasArguments::check_count(const std::string &keyword, const Keyword &entry, std::size_t count,
                                const std::string &which) const
{
  if (entry.values.size() == count) return;
  error->all(FLERR, entry.position,
             "Fix coord/bias {} keyword {} takes {} value{}{}, but has {}{}{}", kind_name, keyword,
             count, count == 1 ? "" : "s", which, entry.values.size(),
             entry.values.empty() ? "" : ": ", utils::join(entry.values, " "));
}

double BiasArguments::number(const std::string &keyword, const Keyword &entry, int which) const
{
  const auto &text = entry.values[which];
  double value = NAN;
  if (utils::is_double(text)) value = utils::numeric(FLERR, text, false, lmp);
  if (!std::isfinite(value))
    error->all(FLERR, entry.position + 1 + which,
               "Fix coord/bias {} {} must be a number, not '{}'{}", kind_name, keyword, text,
               utils::strmatch(text, "^v_")
                   ? " - only k and s0 of kind moving may be a variable, v_name"
                   : "");
  return value;
}

std::vector<double> BiasArguments::numbers(const std::string &keyword) const
{
  const auto &entry = need(keyword);
  check_count(keyword, entry, variables.size(), ", one for " + per_variable());
  std::vector<double> result;
  for (std::size_t v = 0; v < variables.size(); ++v)
    result.push_back(number(keyword, entry, static_cast<int>(v)));
  return result;
}

std::vector<BiasArguments::Parameter> BiasArguments::parameters(const std::string &keyword) const
{
  const auto &entry = need(keyword);
  check_count(keyword, entry, variables.size(), ", one for " + per_variable());
  std::vector<Parameter> result(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto &text = entry.values[v];
    result[v].position = entry.position + 1 + static_cast<int>(v);
    if (kind == Kind::MOVING && utils::strmatch(text, "^v_."))
      result[v].variable = text.substr(2);
    else
      result[v].start = result[v].stop = number(keyword, entry, static_cast<int>(v));
  }
  return result;
}

bigint BiasArguments::integer(const std::string &keyword, const Keyword &entry, int which,
                              bigint least, const char *unit) const
{
  const auto &text = entry.values.size() > static_cast<std::size_t>(which) ? entry.values[which]
                                                                           : "";
  const bigint value = utils::is_integer(text) ? utils::bnumeric(FLERR, text, false, lmp)
                                               : least - 1;
  if (value < least || value > MAXSMALLINT)
    error->all(FLERR, entry.position + (text.empty() ? 0 : 1 + which),
               "Fix coord/bias {} {} must be {} from {} to {}, not '{}'", kind_name, keyword, unit,
               least, MAXSMALLINT, text);
  return value;
}

/* ---------------------------------------------------------------------- */

void BiasArguments::take_restraint()
{
  const std::size_t n = variables.size();
  k = parameters("k");
  if (kind == Kind::LINEAR && !find("s0"))
    s0.resize(n);
  else
    s0 = parameters("s0");
  exponent.assign(n, 2.0);
  offset.assign(n, 0.0);
  if (find("exponent")) {
    exponent = numbers("exponent");
    for (std::size_t v = 0; v < n; ++v)
      if (!(exponent[v] > 1.0))
        error->all(
            FLERR, find("exponent")->position + 1 + static_cast<int>(v),
            "Fix coord/bias {} exponent is {} but must be > 1, or the force jumps at the wall",
            kind_name, exponent[v]);
    for (std::size_t v = 0; v < n; ++v)
      if (exponent[v] > MAX_EXPONENT)
        error->all(
            FLERR, find("exponent")->position + 1 + static_cast<int>(v),
            "Fix coord/bias {} exponent is {} but must be <= {}, or V is close to the largest "
            "double where S is 2 units behind the wall - use a larger k for a harder wall",
            kind_name, exponent[v], MAX_EXPONENT);
  }
  if (find("offset")) offset = numbers("offset");

  if (kind != Kind::LINEAR)
    for (const auto &value : k)
      if (value.variable.empty() && !(value.start >= 0.0))
        error->all(FLERR, value.position, "Fix coord/bias {} k is {} but must be >= 0", kind_name,
                   value.start);

  if (kind != Kind::MOVING) return;
  bool moves = false;
  for (auto *const list : {&k, &s0}) {
    const std::string name = list == &k ? "k" : "s0";
    for (const auto &value : *list) moves = moves || !value.variable.empty();
    if (!find(name + "/stop")) continue;
    const auto stop = numbers(name + "/stop");
    for (std::size_t v = 0; v < n; ++v) {
      const int position = find(name + "/stop")->position + 1 + static_cast<int>(v);
      if (!(*list)[v].variable.empty())
        error->all(FLERR, position,
                   "Fix coord/bias moving: {} is the variable v_{}, so {}/stop cannot move it",
                   name, (*list)[v].variable, name);
      if (name == "k" && !(stop[v] >= 0.0))
        error->all(FLERR, position, "Fix coord/bias moving k/stop is {} but must be >= 0", stop[v]);
      (*list)[v].stop = stop[v];
    }
    steps = 1;
    moves = true;
  }
  if (!moves)
    error->all(FLERR, Error::COMMAND,
               "Fix coord/bias moving needs something that moves: k/stop, s0/stop, or a variable "
               "v_name for k or s0 - "
               "or use kind harmonic");
  if (steps && !find("steps"))
    error->all(
        FLERR, find(find("k/stop") ? "k/stop" : "s0/stop")->position,
        "Fix coord/bias moving keyword {} needs keyword steps, the number of steps to the stop",
        find("k/stop") ? "k/stop" : "s0/stop");
  if (steps) check_count("steps", need("steps"), 1, "");
  if (steps)
    steps = integer("steps", need("steps"), 0, 1, "a number of steps");
  else if (find("steps"))
    error->all(
        FLERR, find("steps")->position,
        "Fix coord/bias moving steps is for k/stop and s0/stop - variables move by themselves");
}

/* ---------------------------------------------------------------------- */

void BiasArguments::take_metad()
{
  const std::size_t n = variables.size();
  if (n > gpucoord::MAX_METAD_VARIABLES)
    error->all(FLERR, Error::COMMAND,
               "Fix coord/bias metad takes 1 to {} variables, not {} - use several fixes",
               gpucoord::MAX_METAD_VARIABLES, n);
  metad.names = variables;
  metad.sigma = numbers("sigma");
  for (std::size_t v = 0; v < n; ++v)
    if (!(metad.sigma[v] > 0.0))
      error->all(FLERR, find("sigma")->position + 1 + static_cast<int>(v),
                 "Fix coord/bias metad sigma is {} but must be > 0", metad.sigma[v]);

  const auto single = [this](const std::string &keyword) {
    const auto &entry = need(keyword);
    check_count(keyword, entry, 1, "");
    return number(keyword, entry, 0);
  };
  metad.height = single("height");
  if (!(metad.height > 0.0))
    error->all(FLERR, find("height")->position + 1,
               "Fix coord/bias metad height is {} but must be > 0", metad.height);
  check_count("pace", need("pace"), 1, "");
  pace = static_cast<int>(integer("pace", need("pace"), 0, 1, "a number of steps"));
  if (pace % stride)
    error->all(FLERR, find("pace")->position + 1,
               "Fix coord/bias metad pace {} is not a multiple of stride {}: hills are added where "
               "the bias is evaluated",
               pace, stride);

  if (find("temp")) {
    temperature = single("temp");
    if (!(temperature > 0.0))
      error->all(FLERR, find("temp")->position + 1,
                 "Fix coord/bias metad temp is {} but must be > 0", temperature);
    metad.kt = force->boltz * temperature;
  }
  if (find("biasfactor")) {
    metad.biasfactor = single("biasfactor");
    if (!(metad.biasfactor > 1.0))
      error->all(FLERR, find("biasfactor")->position + 1,
                 "Fix coord/bias metad biasfactor is {} but must be > 1 - leave it out for hills "
                 "of constant height",
                 metad.biasfactor);
    if (!find("temp"))
      error->all(
          FLERR, find("biasfactor")->position,
          "Fix coord/bias metad biasfactor needs keyword temp, the temperature of the thermostat");
  }

  // pairs of limits, and bins

  const auto limits = [this, n](const std::string &keyword) {
    const auto &entry = need(keyword);
    check_count(keyword, entry, 2 * n, ", low and high for " + per_variable());
    std::vector<std::pair<double, double>> result;
    for (std::size_t v = 0; v < n; ++v) {
      const int position = static_cast<int>(2 * v);
      result.emplace_back(number(keyword, entry, position), number(keyword, entry, position + 1));
      if (!(result[v].first < result[v].second))
        error->all(FLERR, entry.position + 1 + position,
                   "Fix coord/bias metad {} of c_{} begins at {}, which must be below its end {}",
                   keyword, variables[v], result[v].first, result[v].second);
    }
    return result;
  };
  if (find("grid")) {
    if (!find("bins"))
      error->all(FLERR, find("grid")->position,
                 "Fix coord/bias metad keyword grid needs keyword bins, the number of bins");
    const auto &bins = need("bins");
    check_count("bins", bins, n, ", one for " + per_variable());
    double points = 1.0;
    for (std::size_t v = 0; v < n; ++v) {
      const auto range = limits("grid")[v];
      metad.grid.push_back(
          {range.first, range.second,
           static_cast<int>(integer("bins", bins, static_cast<int>(v), 1, "a number of bins"))});
      points *= metad.grid[v].bins + 1.0;
    }
    if (points > 1e8)
      error->all(FLERR, bins.position,
                 "Fix coord/bias metad grid has {:.4g} points, more than 1e8 - use fewer bins",
                 points);
    for (std::size_t v = 0; v < n; ++v)
      if (metad.grid[v].spacing() > metad.sigma[v])
        error->all(FLERR, bins.position + 1 + static_cast<int>(v),
                   "Fix coord/bias metad: points of the grid of c_{} are {:.6g} apart, which is "
                   "more than its sigma "
                   "{:.6g} - use {} bins or more, so that they are at most half a sigma apart",
                   variables[v], metad.grid[v].spacing(), metad.sigma[v],
                   static_cast<bigint>(
                       std::ceil(2.0 * (metad.grid[v].hi - metad.grid[v].lo) / metad.sigma[v])));
  } else
    for (const char *keyword : {"bins", "write_grid", "read_grid"})
      if (find(keyword))
        error->all(FLERR, find(keyword)->position,
                   "Fix coord/bias metad keyword {} needs keyword grid", keyword);
  if (find("interval"))
    for (const auto &range : limits("interval"))
      metad.interval.push_back({range.first, range.second});
  for (std::size_t v = 0; v < metad.interval.size() && !metad.grid.empty(); ++v)
    if (metad.interval[v].lo < metad.grid[v].lo || metad.interval[v].hi > metad.grid[v].hi)
      error->all(FLERR, find("interval")->position + 1 + static_cast<int>(2 * v),
                 "Fix coord/bias metad interval of c_{} from {} to {} reaches beyond the grid from "
                 "{} to {} - "
                 "widen keyword grid",
                 variables[v], metad.interval[v].lo, metad.interval[v].hi, metad.grid[v].lo,
                 metad.grid[v].hi);

  // files

  check_count("file", need("file"), 1, ", the name of the hills file");
  file = find("file")->values[0];
  if (find("append")) {
    check_count("append", need("append"), 1, ", yes or no");
    const auto &text = find("append")->values[0];
    if (text != "yes" && text != "no")
      error->all(FLERR, find("append")->position + 1,
                 "Fix coord/bias metad append must be yes or no, not '{}'", text);
    append = text == "yes";
  }
  if (find("write_grid")) {
    check_count("write_grid", need("write_grid"), 2, ", a number of steps and a file");
    write_grid_every = integer("write_grid", need("write_grid"), 0, 1, "a number of steps");
    write_grid = find("write_grid")->values[1];
    if (write_grid_every % pace)
      error->all(FLERR, find("write_grid")->position + 1,
                 "Fix coord/bias metad write_grid every {} steps is not a multiple of pace {}: it "
                 "is written when "
                 "a hill is added",
                 write_grid_every, pace);
    if (write_grid == file)
      error->all(
          FLERR, find("write_grid")->position + 2,
          "Fix coord/bias metad write_grid cannot write to the hills file {} - use another name",
          file);
  }
  if (find("read_grid")) {
    check_count("read_grid", need("read_grid"), 1, ", a file");
    read_grid = find("read_grid")->values[0];
  }
}

/* ---------------------------------------------------------------------- */

std::string BiasArguments::name_of(Kind kind)
{
  for (const auto &entry : KINDS)
    if (entry.kind == kind) return entry.name;
  return "unknown";
}

/* ---------------------------------------------------------------------- */

std::string BiasArguments::formula(bigint first_step) const
{
  const std::size_t n = variables.size();
  std::string text;
  if (kind == Kind::METAD) {
    text = "V = sum over hills of h (exp(-u) - exp(-6.25))/(1 - exp(-6.25)) for u < 6.25, u =";
    for (std::size_t v = 0; v < n; ++v)
      text += fmt::format("{} (c_{} - s_{})^2/(2 {:.10g}^2)", v ? " +" : "", variables[v], v + 1,
                          metad.sigma[v]);
    if (metad.biasfactor > 1.0)
      text += fmt::format(
          "\n  h = {:.10g} exp(-V/({:.10g} kT)), biasfactor {:.10g}, kT = {:.10g} at temp {:.10g}",
          metad.height, metad.biasfactor - 1.0, metad.biasfactor, metad.kt, temperature);
    else if (metad.kt > 0.0)
      text += fmt::format("\n  h = {:.10g}, kT = {:.10g} at temp {:.10g}", metad.height, metad.kt,
                          temperature);
    else
      text += fmt::format("\n  h = {:.10g}", metad.height);
    text += fmt::format(", a hill every {} steps", pace);
    for (std::size_t v = 0; v < metad.grid.size(); ++v)
      text += fmt::format("{} c_{} from {:.10g} to {:.10g} in {} bins",
                          v ? "," : "\n  grid:", variables[v], metad.grid[v].lo, metad.grid[v].hi,
                          metad.grid[v].bins);
    for (std::size_t v = 0; v < metad.interval.size(); ++v)
      text += fmt::format("{} c_{} from {:.10g} to {:.10g}",
                          v ? "," : "\n  constant beyond the interval:", variables[v],
                          metad.interval[v].lo, metad.interval[v].hi);
    return text;
  }
  text = "V =";
  for (std::size_t v = 0; v < n; ++v) {
    const auto show = [this, first_step](const Parameter &p) {
      if (!p.variable.empty()) return "v_" + p.variable;
      if (p.start == p.stop) return fmt::format("{:.10g}", p.start);
      return fmt::format("({:.10g} -> {:.10g} from step {} to {})", p.start, p.stop, first_step,
                         first_step + steps);
    };
    const std::string kv = show(k[v]), sv = show(s0[v]);
    text += v ? " + " : " ";
    switch (kind) {
      case Kind::HARMONIC:
      case Kind::MOVING:
        text += fmt::format("{}/2 (c_{} - {})^2", kv, variables[v], sv);
        break;
      case Kind::LINEAR:
        text += fmt::format("{} (c_{} - {})", kv, variables[v], sv);
        break;
      case Kind::UPPER_WALL:
        text += fmt::format("{0} (c_{1} - {2})^{3:.10g} where c_{1} > {2}", kv, variables[v],
                            fmt::format("{:.10g}", s0[v].start - offset[v]), exponent[v]);
        break;
      default:
        text += fmt::format("{0} ({2} - c_{1})^{3:.10g} where c_{1} < {2}", kv, variables[v],
                            fmt::format("{:.10g}", s0[v].start + offset[v]), exponent[v]);
    }
  }
  return text;
}
