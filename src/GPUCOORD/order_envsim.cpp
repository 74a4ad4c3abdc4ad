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

#include "envsim_file.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "comm.h"
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
#include <stdexcept>
#include <string>
#include <vector>

using namespace LAMMPS_NS;
using gpucoord::CrystalStructure;
using Parse::choose;

namespace {

class EnvsimArguments : public CoordArguments {
 public:
  EnvsimArguments(LAMMPS *lmp, int narg, char **arg) :
      CoordArguments(lmp, "coord/envsim",
                     {"structure", "file", "sigma", "lambda", "cutoff", "group2", "function",
                      "norm", "precision", "device", "check"})
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
  int read_type(const std::string &word, std::string &why) const;
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
    return number(position, arg[position],
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
  std::string text, failure;
  if (comm->me == 0) try {
      text = EnvsimFile::read(name);
    } catch (const std::exception &e) {
      failure = e.what();
    }
  broadcast_text(failure, 0, world);
  broadcast_text(text, 0, world);
  const bool is_pdb = EnvsimFile::is_pdb(name);
  if (failure.empty()) try {
      if (is_pdb && std::string(update->unit_style) == "lj")
        throw std::runtime_error(
            "PDB files are in Angstrom, which has no length in units lj - use a "
            "text file of vectors");
      const auto found = is_pdb
          ? EnvsimFile::parse_pdb(text, force->angstrom)
          : EnvsimFile::parse_vectors(text, [this](const std::string &word, std::string &why) {
              return read_type(word, why);
            });
      options.environments.insert(options.environments.end(), found.begin(), found.end());
    } catch (const std::runtime_error &e) {
      failure = e.what();
    }
  if (!failure.empty())
    error->all(FLERR, iarg + 1, "Compute coord/envsim file {} cannot be used: {}", name, failure);
  iarg += 2;
}

// Returns the atom type that a file gives by number or label.
int EnvsimArguments::read_type(const std::string &word, std::string &why) const
{
  if (atom->ntypes == 0)
    why = "atom types need a simulation box - define the compute after the box";
  else if (utils::is_integer(word)) {
    const long type = std::strtol(word.c_str(), nullptr, 10);    // overflow saturates
    if (type >= 1 && type <= atom->ntypes) return static_cast<int>(type);
    why = fmt::format("atom type {} is not one of the types 1 to {}", word, atom->ntypes);
  } else {
    const int type = atom->labelmapflag ? LammpsCompat::atom_type_of_label(atom->lmap, word) : -1;
    if (type > 0) return type;
    why = fmt::format("atom type {} is not a label - use labelmap, or a number from 1 to {}",
                      gpucoord::printable(word), atom->ntypes);
  }
  return 0;
}

}    // namespace

const CoordStyle LAMMPS_NS::environment_similarity_style = order_style<Envsim, EnvsimArguments>();
