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

// Similarity of atoms to crystal environments, compute coord/envsim.

#include "coord_arguments.h"
#include "order_evaluator.h"

#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "error.h"
#include "fmt/format.h"
#include "force.h"
#include "input.h"
#include "label_map.h"
#include "update.h"

#include "gpucoord/environment_similarity.h"
#include "gpucoord/printable.h"

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace LAMMPS_NS;
using gpucoord::CrystalStructure;
using gpucoord::Environment;
using gpucoord::EnvironmentVector;
using Parse::choose;

namespace {

// ---- files of environments. Functions throw std::runtime_error with the reason why a file cannot
// be used, and the line.

[[noreturn]] void fail(int line, const std::string &why)
{
  throw std::runtime_error(fmt::format("line {}: {}", line, why));
}

double number_in(int line, const std::string &word)
{
  const double value = Parse::number_of(word);
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

// Reads lines 'x y z [type]', distance. # starts a comment. Blank lines separate environments.
// read_type(word, line): returns the number of a type
template <class ReadType>
std::vector<Environment> parse_vectors(const std::string &text, const ReadType &read_type)
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
    EnvironmentVector v = {
        {number_in(n, words[0]), number_in(n, words[1]), number_in(n, words[2])}};
    if (words.size() == 4) v.type = read_type(words[3], n);
    append(n, v, environment);
  });
  close_environment(environment, all);
  return checked(std::move(all), "vectors");
}

// Reads ATOM and HETATM records of a PDB file. END and ENDMDL end an environment. angstrom: length
// of one Angstrom, distance
std::vector<Environment> parse_pdb(const std::string &text, double angstrom)
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
      v.r[c] = angstrom * number_in(n, utils::trim(line.substr(30 + 8 * c, 8)));
    append(n, v, environment);
  });
  close_environment(environment, all);
  return checked(std::move(all), "ATOM or HETATM records");
}

// ---- arguments

class EnvsimArguments : public CoordArguments {
 public:
  EnvsimArguments(LAMMPS *lmp, int narg, char **arg) :
      CoordArguments(lmp, "coord/envsim",
                     {"structure", "file", "sigma", "lambda", "cutoff", "group2", "function",
                      "within", "norm", "precision", "device", "check"})
  {
    read(narg, arg);
    if (options.environments.empty())
      error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
                 "Compute coord/envsim needs an environment, for example: structure fcc 4.05");
    need("sigma", "sigma 0.4");
    if (!position("cutoff")) positions["cutoff"] = position("sigma");    // limits of their product
    check_order([this] {
      options.function = *function;
      gpucoord::check_options(options);
    });
    cutoff = gpucoord::reach(options);
  }
  MessageTerms terms() const override
  {
    return {"similarity", "the similarity", "similarities", "weights"};
  }
  const char *range_word() const override { return "reach (longest vector + cutoff*sigma)"; }

  gpucoord::EnvironmentOptions options;

 private:
  void read_own(int &iarg, int narg, char **arg) override
  {
    const std::string keyword = arg[iarg];
    if (keyword == "structure")
      read_structure(iarg, narg, arg);
    else if (keyword == "file")
      read_file(iarg, narg, arg);
    else
      (keyword == "sigma"        ? options.sigma
           : keyword == "lambda" ? options.lambda
                                 : options.cutoff) = read_number(iarg, narg, arg);
  }
  void read_structure(int &iarg, int narg, char **arg);
  void read_file(int &iarg, int narg, char **arg);
  int read_type(const std::string &word, int line) const;
};

class Envsim : public OrderOf<gpucoord::EnvironmentOptions> {
 public:
  using OrderOf::OrderOf;
  bool reads_types(int /*table_types*/) const override { return gpucoord::has_types(options); }
  // The similarity of an atom without partners is ln(n)/lambda, n environments.
  std::string without_partners() const override
  {
    const std::size_t n = options.environments.size();
    if (n == 1) return "all similarities are 0";
    return fmt::format("all similarities are ln({})/lambda = {:.6g}", n,
                       std::log(n) / options.lambda);
  }
};

// Reads a structure with its lattice constants, and appends its environments.
void EnvsimArguments::read_structure(int &iarg, int narg, char **arg)
{
  const std::string command = "compute coord/envsim structure";
  const auto structure = choose<CrystalStructure>(command, iarg, narg, arg,
                                                  {{"fcc", CrystalStructure::FCC},
                                                   {"bcc", CrystalStructure::BCC},
                                                   {"sc", CrystalStructure::SC},
                                                   {"diamond", CrystalStructure::DIAMOND},
                                                   {"hcp", CrystalStructure::HCP}},
                                                  input, error);
  const std::string name = arg[iarg + 1];
  const bool has_c = structure == CrystalStructure::HCP;
  const int first = iarg + 2, end = first + (has_c ? 2 : 1);
  if (end > narg) utils::missing_cmd_args(FLERR, command + " " + name, error);
  const auto constant = [&](int position, const char *symbol) {
    return read_number(position, arg[position],
                       fmt::format("structure {} lattice constant {}", name, symbol));
  };
  const double a = constant(first, "a"), c = has_c ? constant(first + 1, "c") : 0.0;
  try {
    for (auto &environment : gpucoord::make_environments(structure, a, c))
      options.environments.push_back(std::move(environment));
  } catch (const gpucoord::OptionError &e) {
    error->all(FLERR, e.field == "c" ? first + 1 : first, "Compute coord/envsim structure {}: {}",
               name, e.what());
  }
  iarg = end;
}

// Appends the environments of a file. Rank 0 reads it. All ranks parse the same text and therefore
// find the same errors.
void EnvsimArguments::read_file(int &iarg, int narg, char **arg)
{
  if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute coord/envsim file", error);
  const std::string name = arg[iarg + 1];
  std::string failure;
  const std::string text = read_and_broadcast(name, failure, world);
  const bool is_pdb = utils::strmatch(utils::lowercase(name), "\\.pdb$");
  if (failure.empty()) try {
      if (is_pdb && std::string(update->unit_style) == "lj")
        throw std::runtime_error(
            "PDB files are in Angstrom, which has no length in units lj - use a "
            "text file of vectors");
      const auto found = is_pdb ? parse_pdb(text, force->angstrom)
                                : parse_vectors(text, [this](const std::string &word, int line) {
                                    return read_type(word, line);
                                  });
      options.environments.insert(options.environments.end(), found.begin(), found.end());
    } catch (const std::runtime_error &e) {
      failure = e.what();
    }
  if (!failure.empty())
    error->all(FLERR, iarg + 1, "Compute coord/envsim file {} cannot be used: {}", name, failure);
  iarg += 2;
}

// Returns the atom type that a line of a file gives by number or label.
int EnvsimArguments::read_type(const std::string &word, int line) const
{
  if (atom->ntypes == 0)
    fail(line, "atom types need a simulation box - define the compute after the box");
  if (utils::is_integer(word)) {
    const long type = std::strtol(word.c_str(), nullptr, 10);    // overflow saturates
    if (type >= 1 && type <= atom->ntypes) return static_cast<int>(type);
    fail(line, fmt::format("atom type {} is not one of the types 1 to {}", word, atom->ntypes));
  }
  const int type = atom->labelmapflag ? LammpsCompat::atom_type_of_label(atom->lmap, word) : -1;
  if (type <= 0)
    fail(line,
         fmt::format("atom type {} is not a label - use labelmap, or a number from 1 to {}",
                     gpucoord::printable(word), atom->ntypes));
  return type;
}

}    // namespace

const CoordStyle LAMMPS_NS::environment_similarity_style = order_style<Envsim, EnvsimArguments>();
