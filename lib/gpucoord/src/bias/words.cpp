// Part of GPUCOORD, GPL-2.0. Parses the words of a user after the kind of a bias.

#include "words.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace gpucoord {

static std::string capitalized(std::string text)
{
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

static bool begins_with(const std::string &text, const char *begin)
{
  return text.rfind(begin, 0) == 0;
}

// A number, or -pi or pi, the ends of the period of an angle.
static bool is_finite_decimal(const std::string &text, double &value)
{
  if (text == "pi" || text == "-pi") return to_bound(text, value);
  return text.find_first_not_of("0123456789+-.eE") == std::string::npos && to_number(text, value);
}

std::string variable_of(const std::string &value)
{
  return begins_with(value, "v_") ? value.substr(2) : "";
}

Words::Words(std::vector<std::string> words_in, const BiasContext &context_in) :
    words(std::move(words_in)), surroundings(context_in)
{
}

void Words::parse(std::vector<Keyword> known)
{
  known.emplace_back("stride");
  const int end = static_cast<int>(words.size());
  for (int at = 1; at < end;) {
    const std::string &name = words[at];
    const auto keyword = std::find_if(known.begin(), known.end(), [&name](const Keyword &entry) {
      return entry.name == name;
    });
    if (keyword == known.end()) {
      std::vector<std::string> names;
      for (const auto &entry : known) names.push_back(entry.name);
      throw ParseError(at,
                       "Unknown " + surroundings.command + " " + kind() + " keyword: " + name +
                           " - known are " + joined(names, 0, ", "));
    }
    if (has(name)) fail_at(at, "keyword " + name + " is given twice");
    auto &entry = given[name];
    entry.position = at++;
    const bool any_word = keyword->nwords >= 0;
    const auto is_value = [](const std::string &word) {
      char *rest;
      std::strtod(word.c_str(), &rest);    // nan is a wrong number, not an unknown keyword
      return word.empty() || !std::isalpha(static_cast<unsigned char>(word[0])) || *rest == '\0' ||
          begins_with(word, "v_") || word == "pi";
    };
    const bool is_special = any_word && at < end && words[at] == keyword->special;
    // Otherwise the values after a wrong first one would be reported as unknown keywords.
    if (!keyword->special.empty() && at < end && !is_special && words[at] != keyword->usual)
      fail_at(at,
              name + " must be " + keyword->usual + " or " + keyword->special + ", not '" +
                  printable(words[at]) + "' - use " + name + " " + keyword->usual + ", or " + name +
                  " " + keyword->special + keyword->values_of_special);
    const int nwords = is_special ? keyword->nwords_of_special : keyword->nwords;
    const int last = any_word ? std::min(end, at + nwords) : end;
    const auto is_known = [&known](const std::string &word) {
      return std::any_of(known.begin(), known.end(), [&word](const Keyword &one) {
        return one.name == word;
      });
    };
    while (at < last && (any_word || is_value(words[at]))) {
      // The last one of several is a number. If it is left out, a keyword may be at its place.
      if (is_special && at + 1 == last && is_known(words[at])) break;
      entry.values.push_back(words[at++]);
    }
  }
  if (!has("stride")) return;
  values("stride", 1, "");
  every = integer("stride", 0, 1, "a number of steps");
}

/* ---------------------------------------------------------------------- */

const Words::Given &Words::need(const std::string &keyword) const
{
  const auto entry = given.find(keyword);
  if (entry == given.end()) fail("needs keyword " + keyword);
  return entry->second;
}

bool Words::has_first(const std::string &keyword, const std::string &word) const
{
  const auto entry = given.find(keyword);
  return entry != given.end() && !entry->second.values.empty() && entry->second.values[0] == word;
}

std::string Words::for_each_variable(const std::string &what) const
{
  return ", " + what + (nvariables() == 1 ? " for the variable " : " for each of the variables ") +
      joined(surroundings.labels, 0);
}

const std::vector<std::string> &Words::values(const std::string &keyword, std::size_t count,
                                              const std::string &which) const
{
  const auto &found = need(keyword).values;
  if (found.size() != count)
    fail(keyword,
         "keyword " + keyword + " takes " + std::to_string(count) + " value" +
             (count == 1 ? "" : "s") + which + ", but has " + std::to_string(found.size()) +
             (found.empty() ? "" : ": ") + joined(found, 0));
  return found;
}

double Words::real(const std::string &keyword, int value) const
{
  const auto &text = need(keyword).values[value];
  double result;
  if (!is_finite_decimal(text, result))
    fail(keyword, value,
         keyword + " must be a number, not '" + text + "'" +
             (begins_with(text, "v_") ? " - only k and s0 of kind moving may be a variable, v_name"
                                      : ""));
  return result;
}

double Words::real(const std::string &keyword) const
{
  values(keyword, 1, "");
  return real(keyword, 0);
}

double Words::above_0(const std::string &keyword, int value) const
{
  const double result = real(keyword, value);
  if (!(result > 0.0))
    fail(keyword, value, keyword + " is " + shortest_text(result) + " but must be > 0");
  return result;
}

double Words::above_0(const std::string &keyword) const
{
  values(keyword, 1, "");
  return above_0(keyword, 0);
}

std::vector<double> Words::reals(const std::string &keyword) const
{
  values(keyword, nvariables(), for_each_variable("one"));
  std::vector<double> result;
  for (int v = 0; v < nvariables(); ++v) result.push_back(real(keyword, v));
  return result;
}

std::vector<Interval> Words::intervals(const std::string &keyword) const
{
  values(keyword, 2 * static_cast<std::size_t>(nvariables()), for_each_variable("low and high"));
  std::vector<Interval> result;
  for (int v = 0; v < nvariables(); ++v) {
    result.push_back({real(keyword, 2 * v), real(keyword, 2 * v + 1)});
    if (!(result[v].lo < result[v].hi))
      fail(keyword, 2 * v,
           keyword + " of " + surroundings.labels[v] + " begins at " + shortest_text(result[v].lo) +
               ", which must be below its end " + shortest_text(result[v].hi));
  }
  return result;
}

int Words::integer(const std::string &keyword, int value, int minimum,
                   const std::string &unit) const
{
  constexpr int MAX_INTEGER = std::numeric_limits<int>::max();
  const auto &found = need(keyword).values;
  const std::string text = static_cast<std::size_t>(value) < found.size() ? found[value] : "";
  const std::size_t sign = text[0] == '+' || text[0] == '-';
  const bool is_integer =
      text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
  const long long result = is_integer ? std::strtoll(text.c_str(), nullptr, 10) : minimum - 1LL;
  if (result < minimum || result > MAX_INTEGER)
    fail(keyword, text.empty() ? -1 : value,
         keyword + " must be " + unit + " from " + std::to_string(minimum) + " to " +
             std::to_string(MAX_INTEGER) + ", not '" + text + "'");
  return static_cast<int>(result);
}

std::string Words::choice(const std::string &keyword, const std::vector<std::string> &known) const
{
  const std::string list = joined(known, 0, " or ");
  const std::string text = values(keyword, 1, ", " + list)[0];
  if (std::find(known.begin(), known.end(), text) == known.end())
    fail(keyword, 0, keyword + " must be " + list + ", not '" + text + "'");
  return text;
}

bool Words::yes_no(const std::string &keyword, bool otherwise) const
{
  return has(keyword) ? choice(keyword, {"yes", "no"}) == "yes" : otherwise;
}

/* ---------------------------------------------------------------------- */

void Words::fail_at(int position, const std::string &text) const
{
  throw ParseError(position,
                   capitalized(surroundings.command) + " " + kind() + (text[0] == ':' ? "" : " ") +
                       text);
}

void Words::fail(const std::string &keyword, int value, const std::string &text) const
{
  fail_at(need(keyword).position + 1 + value, text);
}

void Words::fail(const std::string &keyword, const std::string &text) const
{
  fail_at(need(keyword).position, text);
}

void Words::fail(const std::string &text) const
{
  fail_at(0, text);
}

}    // namespace gpucoord
