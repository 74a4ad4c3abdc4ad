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

#include "bias_plumed_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

using namespace LAMMPS_NS;

static constexpr int MAX_DEPTH = 30;    // depth of files that include files

PlumedInput::PlumedInput(const std::string &file)
{
  read(file, 0);
}

bool PlumedInput::Action::has(const std::string &keyword) const
{
  return std::any_of(values.begin(), values.end(), [&keyword](const auto &one) {
    return one.first == keyword;
  });
}

std::string PlumedInput::Action::value(const std::string &keyword) const
{
  for (const auto &one : values)
    if (one.first == keyword) return one.second;
  return "";
}

std::vector<PlumedInput::Action> PlumedInput::actions(const std::string &name) const
{
  std::vector<Action> found;
  for (const Action &action : list)
    if (action.name == name) found.push_back(action);
  return found;
}

std::string PlumedInput::units() const
{
  for (const Action &action : list) {
    if (action.name != "UNITS") continue;
    std::string text = action.name;
    for (const auto &one : action.values)
      text += " " + one.first + (one.second.empty() ? "" : "=" + one.second);
    return text;
  }
  return "";
}

/* ----------------------------------------------------------------------
   PLUMED's syntax: words with spaces are in braces; # begins a comment; a line that ends with ...
   continues up to a line that begins with ...
------------------------------------------------------------------------- */

static std::vector<std::string> words_of(const std::string &line)
{
  std::vector<std::string> words;
  std::string word;
  int braces = 0;
  for (const char c : line) {
    if (c == '#' && braces == 0) break;
    if (c == '{') ++braces;
    if (c == '}') --braces;
    const bool is_space = c == ' ' || c == '\t' || c == '\r';
    if (is_space && braces == 0) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else
      word += c;
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

void PlumedInput::read(const std::string &file, int depth)
{
  if (depth > MAX_DEPTH)
    throw std::runtime_error("PLUMED file " + file + " is included by itself - remove the INCLUDE");
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw std::runtime_error("PLUMED file " + file + " cannot be read: Is a directory - give the " +
                             "path of a file after plumedfile, or after FILE= of INCLUDE");
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    throw std::runtime_error("PLUMED file " + file + " cannot be read: it is not a regular file");
  std::ifstream stream(file);
  if (!stream)
    throw std::runtime_error("PLUMED file " + file + " cannot be read: " + strerror(errno) +
                             " - give its path after plumedfile, or after FILE= of INCLUDE");
  std::string line;
  std::vector<std::string> action;
  int line_number = 0, first = 0;
  bool continues = false;
  while (!has_ended && std::getline(stream, line)) {
    ++line_number;
    for (const char c : line + "\n") sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (continues) {
      if (words[0] == "...") {
        continues = false;
        words.clear();    // a label may follow
      }
    } else {
      first = line_number;
      if (words.back() == "...") {
        continues = true;
        words.pop_back();
      }
    }
    action.insert(action.end(), words.begin(), words.end());
    if (continues) continue;
    add(action, file + ", line " + std::to_string(first), depth);
    action.clear();
  }
}

static std::string without_braces(const std::string &word)
{
  const bool has_braces = word.size() > 1 && word.front() == '{' && word.back() == '}';
  return has_braces ? word.substr(1, word.size() - 2) : word;
}

void PlumedInput::add(const std::vector<std::string> &words, const std::string &location, int depth)
{
  Action action;
  action.location = location;
  std::size_t next = 0;
  if (next < words.size() && words[next].back() == ':') {
    action.label = words[next].substr(0, words[next].size() - 1);
    ++next;
  }
  if (next == words.size()) return;
  action.name = words[next++];
  if (action.name == "ENDPLUMED") {
    has_ended = true;
    return;
  }
  for (; next < words.size(); ++next) {
    const auto equals = words[next].find('=');
    if (equals == std::string::npos)
      action.values.emplace_back(words[next], "");
    else
      action.values.emplace_back(words[next].substr(0, equals),
                                 without_braces(words[next].substr(equals + 1)));
  }
  if (action.label.empty()) action.label = action.value("LABEL");
  if (action.name == "INCLUDE" && !action.has("FILE"))
    throw std::runtime_error(location + ": INCLUDE has no file - give it by FILE=");
  if (action.name == "INCLUDE")
    read(action.value("FILE"), depth + 1);
  else
    list.push_back(action);
}
