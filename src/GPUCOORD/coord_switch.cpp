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

#include "coord_switch.h"

#include "gpucoord_parse.h"

#include "comm.h"
#include "error.h"
#include "fmt/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

using namespace LAMMPS_NS;
using gpucoord::SwitchInfo;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;
using gpucoord::SwitchParameter;
using Parse::Choice;

namespace {

// none: for the list of known names in an error; parse_or_none() reads it
std::vector<Choice<SwitchKind>> choices(const char *none)
{
  std::vector<Choice<SwitchKind>> list;
  for (const auto &function : SwitchInfo::all()) list.push_back({function.name, function.kind});
  if (none) list.push_back({none, SwitchKind::RATIONAL});
  return list;
}

// Returns null if the function does not have the keyword.
const SwitchParameter *find(const SwitchInfo &function, const std::string &keyword)
{
  for (const auto &parameter : function.parameters)
    if (keyword == parameter.keyword) return &parameter;
  return nullptr;
}

bool accepted_by_any(const std::string &keyword)
{
  const auto &all = SwitchInfo::all();
  return std::any_of(all.begin(), all.end(), [&keyword](const SwitchInfo &function) {
    return find(function, keyword);
  });
}

std::string switch_keywords(const SwitchInfo &function)
{
  std::vector<std::string> list;
  for (const auto &parameter : function.parameters) list.emplace_back(parameter.keyword);
  return utils::join_words(list, ", ");
}

std::string lowercase_first(std::string text)
{
  text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

// Returns whether a word is r0 in one of the spellings of PLUMED and of other commands.
bool is_r0(const std::string &word)
{
  const std::string lower = utils::lowercase(word);
  return lower == "r0" || lower == "r_0" || utils::strmatch(lower, "^r_?0=");
}

bool contains(const std::vector<std::string> &words, const std::string &word)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Removes blanks. They have no meaning in an expression, but end a word.
std::string without_blanks(std::string text)
{
  const auto is_blank = [](unsigned char c) {
    return std::isspace(c);
  };
  text.erase(std::remove_if(text.begin(), text.end(), is_blank), text.end());
  return text;
}

}    // namespace

/* ---------------------------------------------------------------------- */

bool CoordSwitch::is_name(const std::string &word)
{
  const auto &all = SwitchInfo::all();
  return std::any_of(all.begin(), all.end(), [&word](const SwitchInfo &function) {
    return word == function.name;
  });
}

double CoordSwitch::read_number(const char *word, const std::string &keyword) const
{
  if (!utils::is_double(word))
    error->all(FLERR, Parse::position(input, word), "{} {} must be a number{}, not '{}'", command,
               keyword, keyword == "dmax" ? " or INF" : "", word);
  return utils::numeric(FLERR, word, false, lmp);
}

/* ---------------------------------------------------------------------- */

// A keyword in place of a function must not be reported as an unknown function.
void CoordSwitch::need_function(int iarg, int narg, char **arg,
                                const std::vector<std::string> &next) const
{
  if (iarg + 1 < narg && contains(next, arg[iarg + 1]))
    error->all(
        FLERR, Parse::position(input, arg[iarg]),
        "{} needs a switching function, for example rational 0.5, but the keyword {} follows",
        command, arg[iarg + 1]);
}

// PLUMED's words, such as {RATIONAL R_0=1.5}, must not be reported as an unknown function.
void CoordSwitch::refuse_braces(const char *word) const
{
  if (word[0] != '{') return;
  const std::string name = utils::lowercase(word + 1);
  const auto &all = SwitchInfo::all();
  const auto found = std::find_if(all.begin(), all.end(), [&name](const SwitchInfo &function) {
    return name.substr(0, name.find_first_of(" }")) == function.name;
  });
  const SwitchInfo &function = found == all.end() ? all.front() : *found;
  const std::string keyword = command.substr(command.rfind(' ') + 1);
  error->all(FLERR, Parse::position(input, word),
             "{}: {} is in PLUMED's syntax - write {}{}{}, then keywords and values without = and "
             "braces, from {}",
             command, word, keyword == "switch" ? "switch " : "", function.name,
             function.why_no_r0 ? "" : " R0", switch_keywords(function));
}

// A misspelled word must not be reported as a missing one.
void CoordSwitch::unknown_word(const char *word, const std::string &after,
                               const std::string &accepted,
                               const std::vector<std::string> &next) const
{
  if (contains(next, word)) return;
  error->all(FLERR, Parse::position(input, word), "{}: {} - {} {} takes {}{}", unknown, word,
             command.substr(command.rfind(' ') + 1), after, accepted,
             next.empty() ? "" : ", then optionally " + utils::join_words(next, ", "));
}

// r0 follows the name of a function without a keyword. name: of a function that has r0. may_follow:
// r0 has not yet been given
void CoordSwitch::refuse_r0_keyword(const char *name, int iarg, int narg, char **arg,
                                    bool may_follow) const
{
  const std::string word = arg[iarg];
  if (!is_r0(word)) return;
  const auto equals = word.find('=');
  std::string value = equals == std::string::npos ? "1.5" : word.substr(equals + 1);
  if (equals == std::string::npos && iarg + 1 < narg && utils::is_double(arg[iarg + 1]))
    value = arg[iarg + 1];
  const std::string keyword = command.substr(command.rfind(' ') + 1);
  error->all(
      FLERR, Parse::position(input, arg[iarg]), "{} {}: r0 {} - write {}{} {}", command, name,
      may_follow ? "is given without a keyword" : "is the number after the name and has no keyword",
      keyword == "switch" ? "switch " : "", name, value);
}

CoordSwitch::OptionsOrNone CoordSwitch::parse_or_none(int &iarg, int narg, char **arg,
                                                      const std::vector<std::string> &next)
{
  if (iarg + 1 >= narg || std::string(arg[iarg + 1]) != NONE) {
    with_none = true;
    return parse(iarg, narg, arg, next);
  }
  iarg += 2;
  if (iarg < narg) unknown_word(arg[iarg], NONE, "no further words", next);
  return {};
}

SwitchOptions CoordSwitch::parse(int &iarg, int narg, char **arg,
                                 const std::vector<std::string> &next, Range range)
{
  const auto position = [this](const char *word) {
    return Parse::position(input, word);
  };
  SwitchOptions o;
  need_function(iarg, narg, arg, next);
  if (iarg + 1 < narg) refuse_braces(arg[iarg + 1]);
  o.kind = Parse::choose(lowercase_first(command), iarg, narg, arg,
                         choices(with_none ? NONE : nullptr), input, error);
  const SwitchInfo &function = SwitchInfo::get(o.kind);
  const char *const name = arg[iarg + 1];
  std::map<std::string, const char *> word_of;    // [field of SwitchOptions] word that set it
  iarg += 2;

  if (!function.why_no_r0) {
    if (iarg >= narg)
      error->all(FLERR, position(name), "{0} {1} needs r0, for example: {1} 1.5", command, name);
    refuse_r0_keyword(name, iarg, narg, arg, true);
    word_of["r0"] = arg[iarg];
    o.r0 = read_number(arg[iarg], "r0");
    ++iarg;
  } else if (iarg < narg && (utils::is_double(arg[iarg]) || is_r0(arg[iarg])))
    error->all(FLERR, position(arg[iarg]), "{} {} takes no r0: {}", command, name,
               function.why_no_r0);

  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    const SwitchParameter *const parameter = find(function, keyword);
    if (!parameter) {
      if (!function.why_no_r0) refuse_r0_keyword(name, iarg, narg, arg, false);
      if (!accepted_by_any(keyword)) break;
      error->all(FLERR, position(arg[iarg]), "{} {} takes no {} - it takes {}", command, name,
                 keyword, switch_keywords(function));
    }
    if (parameter->off) {
      o.*(parameter->off) = false;
      ++iarg;
      continue;
    }
    if (iarg + 2 > narg)
      utils::missing_cmd_args(FLERR, lowercase_first(command) + " " + keyword, error);
    if (parameter->text)
      o.*(parameter->text) = arg[iarg + 1];
    else if (parameter->value == &SwitchOptions::dmax && utils::lowercase(arg[iarg + 1]) == "inf")
      o.dmax = std::numeric_limits<double>::infinity();
    else
      o.*(parameter->value) = read_number(arg[iarg + 1], keyword);
    word_of[parameter->field] = arg[iarg + 1];
    iarg += 2;
  }

  if (iarg < narg) unknown_word(arg[iarg], name, switch_keywords(function), next);

  try {
    checked = range == Range::ENDLESS ? gpucoord::make_endless_switch(o) : gpucoord::Switch(o);
    const std::string warning = checked->stretch_warning();
    if (comm->me == 0 && !warning.empty())
      error->warning(FLERR, "{} {}: {}", command, name, warning);
  } catch (const gpucoord::SwitchError &e) {
    const auto word = word_of.find(e.field);
    error->all(FLERR, position(word == word_of.end() ? name : word->second), "{} {}: {}", command,
               name, e.what());
  }
  return o;
}

/* ---------------------------------------------------------------------- */

std::string CoordSwitch::words(const OptionsOrNone &options)
{
  if (!options) return NONE;
  const SwitchOptions &o = *options;
  const auto same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  const SwitchOptions given_by_default;
  const SwitchInfo &function = SwitchInfo::get(o.kind);
  std::string text = function.name;
  if (!function.why_no_r0) text += fmt::format(" {}", o.r0);
  for (const auto &p : function.parameters)
    if (p.value && !same(o.*(p.value), given_by_default.*(p.value)))
      text += fmt::format(" {} {}", p.keyword, o.*(p.value));
  for (const auto &p : function.parameters)
    if (p.text) text += fmt::format(" {} {}", p.keyword, without_blanks(o.*(p.text)));
  for (const auto &p : function.parameters)
    if (p.off && !(o.*(p.off))) text += fmt::format(" {}", p.keyword);
  return text;
}

/* ---------------------------------------------------------------------- */

namespace {

// Precedes the name of each function in restart files.
constexpr int MARK = -1;

// Returns the parameters that a restart file stores.
std::vector<SwitchParameter> stored(const SwitchInfo &function)
{
  std::vector<SwitchParameter> list = function.parameters;
  if (!function.why_no_r0) list.push_back({"r0", "r0", &SwitchOptions::r0});
  return list;
}

}    // namespace

void CoordSwitch::write_restart(RestartWriter &out, const OptionsOrNone &options)
{
  if (!options) {
    out.write(MARK);
    out.write(std::string(NONE));
    out.write(0);    // parameters
    return;
  }
  const SwitchOptions &o = *options;
  const SwitchInfo &function = SwitchInfo::get(o.kind);
  const std::vector<SwitchParameter> parameters = stored(function);
  out.write(MARK);
  out.write(std::string(function.name));
  out.write(static_cast<int>(parameters.size()));
  for (const auto &p : parameters) {
    out.write(std::string(p.keyword));
    if (p.value) out.write(o.*(p.value));
    if (p.text) out.write(o.*(p.text));
    if (p.off) out.write(static_cast<int>(o.*(p.off)));
  }
}

CoordSwitch::OptionsOrNone CoordSwitch::read_restart(RestartReader &in)
{
  SwitchOptions o;
  const auto refuse = [this](const std::string &words) {
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the restart file has the switching function '{}', which this version of "
               "GPUCOORD does not know - read it with the version that wrote it",
               command, words);
  };
  if (in.read<int>() != MARK) in.fail();
  const std::string name = in.word();
  if (name == NONE) {
    if (in.read<int>() != 0) refuse(name + " with parameters");
    return {};
  }
  if (!is_name(name)) refuse(name);
  for (const auto &function : SwitchInfo::all())
    if (name == function.name) o.kind = function.kind;
  const std::vector<SwitchParameter> parameters = stored(SwitchInfo::get(o.kind));
  for (int left = in.read<int>(); left > 0; --left) {
    const std::string keyword = in.word();
    const auto p = std::find_if(parameters.begin(), parameters.end(), [&](const auto &one) {
      return keyword == one.keyword;
    });
    if (p == parameters.end()) refuse(name + " " + keyword);
    if (p->value) o.*(p->value) = in.read<double>();
    if (p->text) o.*(p->text) = in.text();
    if (p->off) o.*(p->off) = in.read<int>();
  }
  return o;
}

/* ---------------------------------------------------------------------- */

// Only expressions can be negative. All functions are sampled nevertheless, because that needs no
// knowledge of their formulas. A value of the order of rounding errors counts as 0: of s of the
// order of 1, of smaller s, and of a strong stretch.
std::string CoordSwitch::why_negative(const gpucoord::Switch &function, const char *reason)
{
  constexpr int NSAMPLES = 5000, NBISECTIONS = 60;
  const double rounding = std::max(1e-10, 4.0 * function.rounding(gpucoord::Precision::DOUBLE));
  gpucoord::SwitchEvaluator s(function);
  const double step = function.dmax() / NSAMPLES;
  double smallest = 0.0, largest = 0.0;
  int at = 0;
  for (int k = 1; k <= NSAMPLES; ++k) {
    const double value = s(std::min(k * step, function.dmax()));
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    if (value < smallest) {
      smallest = value;
      at = k;
    }
  }
  if (smallest >= -rounding * std::min(largest, 1.0)) return "";
  // The smallest value between the neighbors of the smallest sample.
  double r = std::min(at * step, function.dmax());
  for (double width = step; width > step * std::pow(0.5, NBISECTIONS); width *= 0.5)
    for (const double other : {r - width, r + width})
      if (other > 0.0 && other <= function.dmax() && s(other) < smallest) {
        smallest = s(other);
        r = other;
      }
  return fmt::format("s is {:.6g} at distance {:.6g}, but {} must not be negative - use an "
                     "expression that is >= 0 up to dmax, or a smaller dmax",
                     smallest, r, reason);
}

std::string CoordSwitch::why_no_potential(const gpucoord::Switch &function)
{
  if (!function.has_end())
    return "needs a finite range, but this function has none - give a finite dmax";
  const double s = function.value_at_dmax(), derivative = function.derivative_at_dmax();
  if (std::isfinite(s) && std::isfinite(derivative)) return "";
  return fmt::format("is {} with derivative {} at dmax {:.10g}, but both must be finite numbers - "
                     "give a smaller dmax",
                     s, derivative, function.dmax());
}
