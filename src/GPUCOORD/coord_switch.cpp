/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "coord_switch.h"

#include "gpucoord_words.h"

#include "comm.h"
#include "error.h"
#include "fmt/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

using namespace LAMMPS_NS;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;
using Words::Choice;

namespace {

const std::vector<Choice<SwitchKind>> SWITCHES = {
    {"rational", SwitchKind::RATIONAL}, {"exp", SwitchKind::EXP},
    {"gaussian", SwitchKind::GAUSSIAN}, {"smap", SwitchKind::SMAP},
    {"cubic", SwitchKind::CUBIC},       {"tanh", SwitchKind::TANH},
    {"cosinus", SwitchKind::COSINUS},   {"q", SwitchKind::Q},
    {"custom", SwitchKind::CUSTOM}};

// keywords that may follow the name, and r0 where the function takes one
struct SwitchKeyword {
  const char *keyword;
  const char *field;                // of SwitchOptions, as SwitchError names it
  double SwitchOptions::*value;     // null: no number
  std::vector<SwitchKind> kinds;    // functions that take it; empty: any
};
const std::vector<SwitchKeyword> SWITCH_KEYWORDS = {
    {"nn", "n", &SwitchOptions::n, {SwitchKind::RATIONAL}},
    {"mm", "m", &SwitchOptions::m, {SwitchKind::RATIONAL}},
    {"a", "a", &SwitchOptions::a, {SwitchKind::SMAP}},
    {"b", "b", &SwitchOptions::b, {SwitchKind::SMAP}},
    {"ref", "ref", &SwitchOptions::ref, {SwitchKind::Q}},
    {"beta", "beta", &SwitchOptions::beta, {SwitchKind::Q}},
    {"lambda", "lambda", &SwitchOptions::lambda, {SwitchKind::Q}},
    {"func", "expression", nullptr, {SwitchKind::CUSTOM}},
    {"d0", "d0", &SwitchOptions::d0, {}},
    {"dmax", "dmax", &SwitchOptions::dmax, {}},
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

bool takes_r0(SwitchKind kind)
{
  // cubic takes its width from d0 and dmax, q its scale from ref
  return kind != SwitchKind::CUBIC && kind != SwitchKind::Q;
}

std::string lowercase_first(std::string text)
{
  text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

}    // namespace

/* ---------------------------------------------------------------------- */

bool CoordSwitch::is_name(const std::string &word)
{
  return std::any_of(SWITCHES.begin(), SWITCHES.end(), [&word](const Choice<SwitchKind> &choice) {
    return word == choice.name;
  });
}

double CoordSwitch::number(const char *word, const std::string &keyword) const
{
  if (!utils::is_double(word))
    error->all(FLERR, Words::position(input, word), "{} {} must be a number{}, not '{}'", command,
               keyword, keyword == "dmax" ? " or INF" : "", word);
  return utils::numeric(FLERR, word, false, lmp);
}

/* ---------------------------------------------------------------------- */

SwitchOptions CoordSwitch::parse(int &iarg, int narg, char **arg,
                                 const std::vector<std::string> &next)
{
  const auto position = [this](const char *word) {
    return Words::position(input, word);
  };
  SwitchOptions o;
  o.kind = Words::choose(lowercase_first(command), iarg, narg, arg, SWITCHES, input, error);
  const char *const name = arg[iarg + 1];
  std::map<std::string, const char *> word_of;    // that set a field of SwitchOptions
  iarg += 2;

  if (takes_r0(o.kind)) {
    if (iarg >= narg)
      error->all(FLERR, position(name), "{0} {1} needs r0, for example: {1} 1.5", command, name);
    word_of["r0"] = arg[iarg];
    o.r0 = number(arg[iarg], "r0");
    ++iarg;
  } else if (iarg < narg && utils::is_double(arg[iarg]))
    error->all(FLERR, position(arg[iarg]), "{} {} takes no r0: {}", command, name,
               o.kind == SwitchKind::CUBIC ? "its width is dmax - d0" : "its distance is ref");

  while (iarg < narg) {
    const std::string keyword = arg[iarg];
    const auto entry = std::find_if(SWITCH_KEYWORDS.begin(), SWITCH_KEYWORDS.end(),
                                    [&keyword](const SwitchKeyword &e) {
                                      return keyword == e.keyword;
                                    });
    if (entry == SWITCH_KEYWORDS.end()) break;
    if (!takes(o.kind, *entry))
      error->all(FLERR, position(arg[iarg]), "{} {} takes no {} - it takes {}", command, name,
                 keyword, switch_keywords(o.kind));
    if (keyword == "nostretch") {
      o.stretch = false;
      ++iarg;
      continue;
    }
    if (iarg + 2 > narg)
      utils::missing_cmd_args(FLERR, lowercase_first(command) + " " + keyword, error);
    if (keyword == "func")
      o.expression = arg[iarg + 1];
    else if (keyword == "dmax" && utils::lowercase(arg[iarg + 1]) == "inf")
      o.dmax = std::numeric_limits<double>::infinity();
    else
      o.*(entry->value) = number(arg[iarg + 1], keyword);
    word_of[entry->field] = arg[iarg + 1];
    iarg += 2;
  }

  // a misspelt word must not be reported as something that is missing

  if (iarg < narg && std::find(next.begin(), next.end(), arg[iarg]) == next.end())
    error->all(FLERR, position(arg[iarg]), "{}: {} - {} {} takes {}{}", unknown, arg[iarg],
               command.substr(command.rfind(' ') + 1), name, switch_keywords(o.kind),
               next.empty() ? "" : ", and then may come " + utils::join(next, ", "));

  try {
    warn_of_stretch(gpucoord::Switch(o));
  } catch (const gpucoord::SwitchError &e) {
    const auto word = word_of.find(e.field);
    error->all(FLERR, position(word == word_of.end() ? name : word->second), "{} {}: {}", command,
               name, e.what());
  }
  return o;
}

/* ---------------------------------------------------------------------- */

void CoordSwitch::warn_of_stretch(const gpucoord::Switch &function) const
{
  const double at_zero = function.top_before_stretch();
  if (comm->me != 0 || fabs(at_zero - 1.0) <= 1e-6) return;
  if (function.options().kind == SwitchKind::Q && at_zero < 0.5)
    error->warning(FLERR,
                   "{} q: the function is {:.6g} at r = d0, and the stretch for dmax = {:.10g} "
                   "makes that 1 - use a d0 below "
                   "lambda ref = {:.10g}, where it is 1/2, or nostretch; d0 does not shift q",
                   command, at_zero, function.dmax(),
                   function.options().lambda * function.options().ref);
  if (function.options().kind != SwitchKind::CUSTOM) return;
  error->warning(FLERR,
                 "{} custom: the expression '{}' is {:.6g} at x = 0, and the stretch for dmax = "
                 "{:.10g} makes that 1: "
                 "s is {:.6g} times the expression {} {:.6g} - use nostretch to keep its values, "
                 "or an expression that "
                 "is 1 at x = 0",
                 command, function.options().expression, at_zero, function.dmax(),
                 function.stretch(), function.shift() < 0.0 ? "minus" : "plus",
                 fabs(function.shift()));
}

/* ---------------------------------------------------------------------- */

std::string CoordSwitch::words(const SwitchOptions &o)
{
  const auto same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  const SwitchOptions given_by_default;
  std::string text = Words::name_of(o.kind, SWITCHES);
  if (takes_r0(o.kind)) text += fmt::format(" {}", o.r0);
  for (const auto &entry : SWITCH_KEYWORDS)
    if (entry.value && takes(o.kind, entry) &&
        !same(o.*(entry.value), given_by_default.*(entry.value)))
      text += fmt::format(" {} {}", entry.keyword, o.*(entry.value));
  if (o.kind == SwitchKind::CUSTOM) {
    std::string expression =
        o.expression;    // without blanks, which mean nothing in it and end a word
    expression.erase(std::remove_if(expression.begin(), expression.end(),
                                    [](unsigned char c) {
                                      return std::isspace(c);
                                    }),
                     expression.end());
    text += " func " + expression;
  }
  if (!o.stretch) text += " nostretch";
  return text;
}

/* ---------------------------------------------------------------------- */

std::string CoordSwitch::why_no_potential(const gpucoord::Switch &function)
{
  if (!function.has_end())
    return "needs a range with an end, but this function has none - give a finite dmax";
  const double s = function.value_at_dmax(), slope = function.slope_at_dmax();
  if (std::isfinite(s) && std::isfinite(slope)) return "";
  return fmt::format(
      "is {} with slope {} at dmax {:.10g}, but both must be finite numbers - give a smaller dmax",
      s, slope, function.dmax());
}
