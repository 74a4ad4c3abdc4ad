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

#include "envsim_file.h"

#include "gpucoord_parse.h"

#include "gpucoord/printable.h"

#include "fmt/format.h"
#include "utils.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::Environment;
using gpucoord::EnvironmentVector;

namespace {

[[noreturn]] void fail(int line, const std::string &why)
{
  throw std::runtime_error(fmt::format("line {}: {}", line, why));
}

double number(int line, const std::string &word)
{
  const bool is_number = word.find('\0') == std::string::npos && utils::is_double(word);
  const double value = is_number ? std::strtod(word.c_str(), nullptr) : NAN;
  if (!std::isfinite(value))
    fail(line, fmt::format("'{}' is not a finite number", gpucoord::printable(word)));
  return value;
}

void append(int line, const EnvironmentVector &v, Environment &environment)
{
  if (v.r[0] * v.r[0] + v.r[1] * v.r[1] + v.r[2] * v.r[2] == 0.0)
    fail(line, "the vector has length 0 - leave out the atom in the center");
  environment.push_back(v);
}

// Calls visit(number, line) for all lines of a text.
template <class Visit> void for_each_line(const std::string &text, const Visit &visit)
{
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    visit(n, line);
  }
}

// Appends an environment to all, unless it is empty, and clears it.
void close_environment(Environment &environment, std::vector<Environment> &all)
{
  if (environment.empty()) return;
  all.push_back(std::move(environment));
  environment.clear();
}

// Raises an error if there is no environment. what: the parts of a file that would be an
// environment
std::vector<Environment> checked(std::vector<Environment> all, const char *what)
{
  if (all.empty()) throw std::runtime_error(fmt::format("it has no {}", what));
  return all;
}

// Returns whether a line begins like an atom record of a PDB file, in upper or lower case.
bool begins_as_atom(const std::string &line)
{
  const std::string word = utils::uppercase(utils::trim(line).substr(0, 6));
  return utils::strmatch(word, "^ATOM") || word == "HETATM";
}

}    // namespace

/* ---------------------------------------------------------------------- */

std::string EnvsimFile::read(const std::string &name)
{
  std::ifstream file(name, std::ios::binary);
  if (!file) throw std::runtime_error("it cannot be opened: " + utils::getsyserror());
  const std::string text = Parse::read_all(file);
  if (file.bad()) throw std::runtime_error("it cannot be read - give a file");
  return text;
}

bool EnvsimFile::is_pdb(const std::string &name)
{
  return utils::strmatch(utils::lowercase(name), "\\.pdb$");
}

std::vector<Environment> EnvsimFile::parse_vectors(const std::string &text,
                                                   const ReadType &read_type)
{
  std::vector<Environment> all;
  Environment environment;
  for_each_line(text, [&](int n, const std::string &line) {
    const auto words = Parse::in_line(line);
    if (words.empty()) {
      const bool is_comment = line.find('#') != std::string::npos;
      if (!is_comment) close_environment(environment, all);
      return;
    }
    if (begins_as_atom(line))
      fail(n, "it is a record of a PDB file - the name of a PDB file must end with .pdb");
    if (words.size() != 3 && words.size() != 4)
      fail(n,
           fmt::format("'{}' must be x y z, or x y z and an atom type",
                       gpucoord::printable(utils::trim(line))));
    EnvironmentVector v = {{number(n, words[0]), number(n, words[1]), number(n, words[2])}};
    if (words.size() == 4) {
      std::string why;
      v.type = read_type(words[3], why);
      if (!why.empty()) fail(n, why);
    }
    append(n, v, environment);
  });
  close_environment(environment, all);
  return checked(std::move(all), "vectors");
}

std::vector<Environment> EnvsimFile::parse_pdb(const std::string &text, double angstrom)
{
  std::vector<Environment> all;
  Environment environment;
  for_each_line(text, [&](int n, const std::string &line) {
    const std::string record = utils::trim(line.substr(0, 6));
    if (record == "END" || record == "ENDMDL") close_environment(environment, all);
    if (!begins_as_atom(line)) return;
    if ((record != "ATOM" && record != "HETATM") || line.size() < 54)
      fail(n,
           fmt::format("'{}' must be an ATOM or HETATM record with x, y and z in columns 31 to 54",
                       gpucoord::printable(utils::trim(line))));
    EnvironmentVector v;
    for (int c = 0; c < 3; ++c)
      v.r[c] = angstrom * number(n, utils::trim(line.substr(30 + 8 * c, 8)));
    append(n, v, environment);
  });
  close_environment(environment, all);
  return checked(std::move(all), "ATOM or HETATM records");
}
