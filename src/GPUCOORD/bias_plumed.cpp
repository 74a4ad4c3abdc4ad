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

#include "bias_plumed.h"

#include "bias_plumed_input.h"

#include "utils.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::Step;

// Names that PLUMED itself defines.
static const char *const NAMES_OF_PLUMED[] = {"posx",    "posy", "posz",   "Masses",
                                              "Charges", "Box",  "Energy", "timestep",
                                              "kBT",     "step", "LAMMPS"};

PlumedBias::PlumedBias(const gpucoord::BiasContext &surroundings, const Settings &settings_in,
                       std::shared_ptr<const PlumedKernel> kernel_in, const PlumedInput *input) :
    Bias(surroundings, "PLUMED"),
    settings(settings_in), kernel(std::move(kernel_in)), units(settings.units, kernel),
    exchange(settings.names)
{
  now.own = {NONE, NONE};    // timestep of the last update, timestep of the known forces
  for (int v = 0; v < nvariables(); ++v) {
    add_output(labels()[v], [this, v] {
      return state().s[v];
    });
    add_output("force on " + labels()[v], [this, v] {
      return -state().dVdS[v];
    });
  }
  add_output_of_work();
  if (input) check_input(*input);
}

// Finds errors that PLUMED does not report, or reports only by a crash.
void PlumedBias::check_input(const PlumedInput &input)
{
  units.set_input(input.units());
  for (const auto &action : input.actions()) {
    // OPES_EXPANDED takes the temperature from its expansions.
    const bool is_expansion = action.name.compare(0, 4, "ECV_") == 0;
    const bool is_opes = action.name.compare(0, 5, "OPES_") == 0 && action.name != "OPES_EXPANDED";
    if ((is_opes || is_expansion) && settings.kbt == 0.0 && action.value("TEMP").empty())
      throw std::runtime_error(action.location + ": " + action.name +
                               " needs the temperature - give it by keyword temp, or by TEMP=");
    if (!action.label.empty() && (action.name == "MOVINGRESTRAINT" || action.has("CALC_WORK")))
      exchange.add_work(action.label + ".work");
    files.add(action);
  }
  files.add_log(settings.log_file);
  const auto &names = settings.names;
  const auto is_known = [&names](const std::string &name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::string known = utils::join_words(names, ", ");
  const auto actions = input.actions("EXTRACV");
  for (const auto &action : actions) {
    const std::string name = action.value("NAME");
    if (!name.empty() && !is_known(name))
      throw std::runtime_error(
          action.location + ": EXTRACV NAME=" + name + " is not a variable of the " + "fix" +
          (known.empty() ? "" : ", which has " + known) +
          " - give the compute after the fix's style, as c_ID, or as c_ID as " + name);
  }
  for (int v = 0; v < nvariables(); ++v) {
    const std::string &name = names[v];
    for (const char *const reserved : NAMES_OF_PLUMED)
      if (name == reserved)
        throw std::runtime_error("PLUMED uses the name " + name +
                                 " itself - give the variable another one, as " + labels()[v] +
                                 " as NAME");
    if (std::none_of(actions.begin(), actions.end(), [&name](const PlumedInput::Action &action) {
          return action.value("NAME") == name;
        }))
      throw std::runtime_error("PLUMED file " + settings.file + " does not read the variable " +
                               labels()[v] + " - add a line such as 's: EXTRACV NAME=" + name +
                               "', or leave out the variable");
  }
  check_periods(input);
}

// PLUMED takes differences of values of an EXTRACV without its period. A function of it can be
// periodic: looks for such functions, and warns of actions that use the EXTRACV itself.
void PlumedBias::check_periods(const PlumedInput &input)
{
  for (int v = 0; v < nvariables(); ++v) {
    if (!period(v).exists()) continue;
    for (const auto &source : input.actions("EXTRACV")) {
      if (source.value("NAME") != settings.names[v] || source.label.empty()) continue;
      const std::string line = fmt::format("p: CUSTOM ARG={} FUNC=x PERIODIC={},{}", source.label,
                                           gpucoord::text_of_bound(period(v).lo),
                                           gpucoord::text_of_bound(period(v).hi()));
      bool is_known = false;
      for (const auto &action : input.actions()) {
        const std::string list = "," + action.value("ARG") + ",";
        if (list.find("," + source.label + ",") == std::string::npos) continue;
        const std::string its_period = action.value("PERIODIC");
        if (!its_period.empty() && its_period != "NO") {
          is_known = true;
          continue;
        }
        const bool is_function = action.name == "CUSTOM" || action.name == "MATHEVAL";
        const bool is_output = action.name == "PRINT" || action.name.compare(0, 4, "DUMP") == 0;
        if (is_output || (is_function && action.value("FUNC") != "x")) continue;
        context.warn(fmt::format("{}: {} uses {}, and PLUMED does not know that {} is periodic - "
                                 "add the line '{}' and use p",
                                 action.location, action.name, source.label, labels()[v], line));
      }
      if (!is_known)
        lines_of_periods += fmt::format("\n  {} is periodic, which PLUMED learns from the line {}",
                                        labels()[v], line);
    }
  }
}

std::string PlumedBias::formula(std::int64_t) const
{
  return "input " + settings.file + ", library " + (kernel ? kernel->file() : "") +
      lines_of_periods;
}

// Bytes of PLUMED and of the fix on rank 0 for each ID, in PLUMED's first timestep.
static constexpr double BYTES_PER_ID = 250.0;
static constexpr int MANY_IDS = 1000000;

std::string PlumedBias::memory_advice() const
{
  if (number_of_atoms < MANY_IDS) return "";
  return fmt::format(", but the memory and time of PLUMED follow the largest atom ID, {}: about "
                     "{:.2g} GB on one rank - use command reset_atoms id",
                     number_of_atoms, 1e-9 * BYTES_PER_ID * number_of_atoms);
}

/* ---------------------------------------------------------------------- */

void PlumedBias::begin(const gpucoord::BiasStart &start)
{
  units.begin(start.timestep);
  const auto folders = files.check_locks();    // until files.begin() has locked the files
  prepare_files(start.is_restarted);
  saved_timestep = start.timestep;
  auto plumed = units.make_plumed();
  plumed->command("setNatoms", &number_of_atoms);
  plumed->command("setTimestep", &start.timestep);
  if (settings.kbt > 0.0) plumed->command("setKbT", &settings.kbt);
  int restarts = start.is_restarted ? 1 : 0;
  plumed->command("setRestart", &restarts);
  if (!settings.log_file.empty()) plumed->command("setLogFile", settings.log_file.c_str());
  plumed->command("setPlumedDat", settings.file.c_str());
  plumed->command("init");
  files.begin();
  exchange.begin(std::move(plumed));
}

void PlumedBias::prepare_files(bool is_restarted)
{
  files.set_restarted(is_restarted);
  if (!files.any_continues()) return;
  double end = HUGE_VAL;
  if (is_restarted) {
    const auto time_of = [&](std::int64_t step) {
      return units.time_of(step, saved_timestep);
    };
    const double last = time_of(static_cast<std::int64_t>(now.own[0])),
                 half_step = 0.5 * time_of(1);
    files.check(last, half_step, context.print);
    end = last + half_step;
  }
  files.trim(is_restarted, end, context.print);
}

// PLUMED flushes its files in the evaluation of a checkpoint. It writes them with the C library.
void PlumedBias::read_files()
{
  if (!has_unread_files) return;
  std::fflush(nullptr);
  files.read();
  has_unread_files = false;
}

/* ---------------------------------------------------------------------- */

const PlumedBias::Needs &PlumedBias::prepare(std::int64_t timestep, const Matrix &box,
                                             bool is_checkpoint)
{
  is_flushed = is_checkpoint;
  exchange.begin_step(timestep, box, is_checkpoint);
  if (exchange.needs_energy())
    throw std::runtime_error("PLUMED's ENERGY is not available, which PLUMED file " +
                             settings.file +
                             " uses - use compute coord/energy, and read it by EXTRACV");
  return exchange.request();
}

double PlumedBias::potential(const Step &step, const double *s, double *dVdS)
{
  const bool updates = step.phase == Step::Phase::LAST_OF_STEP ||
      (step.phase == Step::Phase::SETUP && updates_at_setup);
  const double energy = exchange.evaluate(s, updates);
  if (updates) {
    now.own[0] = static_cast<double>(step.timestep);
    has_unread_files = !is_flushed;
    if (is_flushed) files.read();
  }
  now.work = exchange.work(units.of_force());
  for (int v = 0; v < nvariables(); ++v) dVdS[v] = -exchange.force_on(v, units.of_force());
  return energy;
}

/* ---------------------------------------------------------------------- */

// Does not save the atoms of an evaluation with all atoms. The next setup then evaluates again.
void PlumedBias::save(gpucoord::ArchiveParts &parts) const
{
  Bias::save(parts);
  gpucoord::Archive archive;
  archive.write(saved_timestep);
  archive.write(settings.checksum);
  const Atoms &saved = known_step() == NONE ? Atoms() : exchange.atoms();
  archive.write(std::vector<double>(saved.id.begin(), saved.id.end()));
  archive.write(saved.x);
  archive.write(saved.force);
  for (const auto *matrix : {&saved.box, &saved.virial})
    for (const auto &row : *matrix) archive.write(std::vector<double>(row.begin(), row.end()));
  parts.add("plumed", 1, archive);
  gpucoord::Archive contents;
  files.save(contents);
  parts.add("plumed_files", 1, contents);
}

void PlumedBias::load(gpucoord::ArchiveParts &parts)
{
  Bias::load(parts);
  bool has_same_text = false;
  Atoms &known = exchange.atoms();
  parts.take("plumed", 1, [&](gpucoord::Archive &archive) {
    saved_timestep = archive.read_number();
    has_same_text = archive.read_integer() == settings.checksum;
    const auto ids = archive.read_numbers();
    known.id.assign(ids.begin(), ids.end());
    known.x = archive.read_numbers();
    known.force = archive.read_numbers();
    for (auto *matrix : {&known.box, &known.virial})
      for (auto &row : *matrix) {
        const auto numbers = archive.read_numbers();
        if (numbers.size() != row.size()) throw gpucoord::ArchiveParts::damaged();
        std::copy(numbers.begin(), numbers.end(), row.begin());
      }
    if (known.x.size() != 3 * ids.size() || known.force.size() != known.x.size())
      throw gpucoord::ArchiveParts::damaged();
  });
  if (!has_same_text) set_known_step(NONE);
  parts.take("plumed_files", 1, [this](gpucoord::Archive &archive) {
    files.load(archive);
  });
  if (!has_same_text)
    context.warn("PLUMED file " + settings.file +
                 ", or a file that it includes, has changed since the run that wrote the restart "
                 "file - check the files");
}
