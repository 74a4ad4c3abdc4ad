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

#include "bias_plumed_arguments.h"

#include "bias_arguments.h"
#include "bias_plumed.h"
#include "bias_plumed_input.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "force.h"
#include "universe.h"
#include "update.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mpi.h>
#include <stdexcept>
#include <system_error>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   fix ID all coord/plumed [c_ID [as NAME] ...] plumedfile FILE [outfile FILE] [kernel FILE]
   [temp T]
------------------------------------------------------------------------- */

static constexpr int FIRST_VARIABLE = 3;    // index of the first variable's argument

// Sets PLUMED's units of MD programs, in kJ/mol, nm and ps, as fix plumed does.
static void set_units(LAMMPS *lmp, PlumedBias::Settings &settings)
{
  const std::string style = lmp->update->unit_style;
  settings.units.are_natural = style == "lj";
  if (settings.units.are_natural) return;
  const std::pair<const char *, double> energies[] = {{"real", 4.184},
                                                      {"metal", 96.48530749925792},
                                                      {"si", 6.02214076e20},
                                                      {"cgs", 6.0221418e13},
                                                      {"electron", 2625.5257}};
  for (const auto &energy : energies)
    if (style == energy.first) {
      settings.units.energy = energy.second;
      settings.units.length = 0.1 / lmp->force->angstrom;
      settings.units.time = 0.001 / lmp->force->femtosecond;
      return;
    }
  lmp->error->all(
      FLERR, Error::NOLASTLINE,
      "Fix coord/plumed does not support units {} - use units lj, real, metal, si, cgs or electron",
      style);
}

static void parse_variables(LAMMPS *lmp, int &iarg, int narg, char **arg,
                            gpucoord::BiasContext &context, std::vector<std::string> &names)
{
  auto *const error = lmp->error;
  for (; iarg < narg && utils::strmatch(arg[iarg], "^c_"); ++iarg) {
    parse_variable(lmp, iarg, arg, "Fix coord/plumed", "takes", context);
    std::string name = context.names.back();
    if (iarg + 1 < narg && strcmp(arg[iarg + 1], "as") == 0) {
      if (iarg + 2 >= narg) utils::missing_cmd_args(FLERR, "fix coord/plumed as", error);
      iarg += 2;
      name = arg[iarg];
    }
    if (std::find(names.begin(), names.end(), name) != names.end())
      error->all(FLERR, iarg,
                 "Fix coord/plumed: the name {} is given twice - give each variable another name, "
                 "as c_ID as NAME",
                 name);
    names.push_back(name);
  }
}

// PLUMED uses the standard output if it cannot write its log. A file that does not exist yet must
// not exist afterwards, because PLUMED would keep it as a backup.
static void check_log(const std::string &file)
{
  if (file.empty()) return;
  std::error_code ignored;
  const bool existed = std::filesystem::exists(file, ignored);
  FILE *const opened = fopen(file.c_str(), "a");
  if (!opened)
    throw std::runtime_error("PLUMED's log " + file + " cannot be written: " + strerror(errno) +
                             " - give a file in another folder after outfile");
  fclose(opened);
  if (!existed) platform::unlink(file);
}

// Returns whether PLUMED may request atoms: an action takes no values of other actions.
static bool may_use_atoms(const PlumedInput &input)
{
  const auto &actions = input.actions();
  return std::any_of(actions.begin(), actions.end(), [](const PlumedInput::Action &action) {
    const std::string &name = action.name;
    return !action.has("ARG") && name != "EXTRACV" && name != "UNITS" && name != "RESTART" &&
        name != "FLUSH" && name != "TIME" && name != "CONSTANT";
  });
}

// PLUMED finds atoms by their IDs.
static void check_no_atoms(const PlumedInput &input)
{
  for (const auto &action : input.actions())
    for (const auto &one : action.values)
      for (const char *const keyword : {"ATOM", "GROUP", "SPECIES"})
        if (one.first.rfind(keyword, 0) == 0)
          throw std::runtime_error(action.location + ": " + action.name + " uses atoms by " +
                                   one.first +
                                   "=, but the atoms have no IDs - leave out command "
                                   "atom_modify id no, or use only variables of the fix");
}

// An error on rank 0 ends all ranks.
std::unique_ptr<gpucoord::Bias> LAMMPS_NS::make_plumed_bias(LAMMPS *lmp, int narg, char **arg)
{
  auto *const error = lmp->error;
  gpucoord::BiasContext context;
  PlumedBias::Settings settings;
  int iarg = FIRST_VARIABLE;
  parse_variables(lmp, iarg, narg, arg, context, settings.names);

  context.boltzmann = lmp->force->boltz;
  const std::string id = arg[0];
  context.print = [lmp, id](const std::string &text) {
    if (lmp->comm->me == 0) utils::logmesg(lmp, "Fix coord/plumed {}: {}\n", id, text);
  };
  context.warn = [lmp, id](const std::string &text) {
    if (lmp->comm->me == 0) lmp->error->warning(FLERR, "Fix coord/plumed {}: {}", id, text);
  };

  std::string kernel_file;
  int position_of_file = LammpsCompat::WHOLE_COMMAND,
      position_of_kernel = LammpsCompat::WHOLE_COMMAND;
  int position_of_log = LammpsCompat::WHOLE_COMMAND;
  for (; iarg < narg; iarg += 2) {
    const std::string keyword = arg[iarg];
    if (keyword != "plumedfile" && keyword != "outfile" && keyword != "kernel" && keyword != "temp")
      error->all(FLERR, iarg,
                 "Unknown fix coord/plumed keyword: {} - known are plumedfile, outfile, kernel, "
                 "temp, after variables, as c_ID or c_ID as NAME",
                 keyword);
    if (iarg + 1 >= narg) utils::missing_cmd_args(FLERR, "fix coord/plumed " + keyword, error);
    const std::string value = arg[iarg + 1];
    if (keyword == "plumedfile") {
      settings.file = value;
      position_of_file = iarg + 1;
    } else if (keyword == "outfile") {
      settings.log_file = value;
      // Same name as in fix plumed.
      if (lmp->universe->existflag) settings.log_file += fmt::format(".{}", lmp->universe->iworld);
      position_of_log = iarg + 1;
    } else if (keyword == "kernel") {
      kernel_file = value;
      position_of_kernel = iarg + 1;
    } else {
      const auto *const end = value.data() + value.size();
      char *rest = nullptr;
      const double temperature = std::strtod(value.c_str(), &rest);
      if (value.empty() || rest != end || !std::isfinite(temperature) ||
          value.find_first_not_of("0123456789+-.eE") != std::string::npos)
        error->all(FLERR, iarg + 1, "Fix coord/plumed temp must be a number, not '{}'", value);
      settings.kbt = lmp->force->boltz * temperature;
      if (!(settings.kbt > 0.0))    // also if it is too small for a double
        error->all(FLERR, iarg + 1, "Fix coord/plumed temp is {} but must be > 0", temperature);
    }
  }
  if (settings.file.empty())
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Fix coord/plumed needs PLUMED's input - give it by plumedfile FILE");
  set_units(lmp, settings);

  std::shared_ptr<const PlumedKernel> kernel;
  std::unique_ptr<gpucoord::Bias> bias;
  std::string failure;
  int position = position_of_kernel;
  if (lmp->comm->me == 0) {
    try {
      kernel = std::make_shared<const PlumedKernel>(kernel_file,
                                                    reinterpret_cast<const void *>(&MPI_Init));
      position = position_of_log;
      check_log(settings.log_file);
      position = position_of_file;
      const PlumedInput input(settings.file);
      settings.checksum = input.checksum();
      settings.may_use_atoms = may_use_atoms(input);
      if (!lmp->atom->tag_enable) check_no_atoms(input);
      bias = std::make_unique<PlumedBias>(context, settings, kernel, &input);
    } catch (const std::exception &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, lmp->world);
  MPI_Bcast(&position, 1, MPI_INT, 0, lmp->world);
  if (!failure.empty()) error->all(FLERR, position, "Fix coord/plumed: {}", failure);
  bigint found[] = {settings.checksum, settings.may_use_atoms};
  MPI_Bcast(found, 2, MPI_LMP_BIGINT, 0, lmp->world);
  settings.checksum = found[0];
  settings.may_use_atoms = found[1] != 0;
  if (!bias) bias = std::make_unique<PlumedBias>(context, settings, nullptr, nullptr);
  return bias;
}
