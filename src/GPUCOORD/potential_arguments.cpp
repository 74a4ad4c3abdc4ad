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

#include "potential_arguments.h"

#include "gpucoord_lammps_compat.h"

#include "domain.h"
#include "force.h"
#include "update.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

using namespace LAMMPS_NS;
using gpucoord::MapKernel;
using gpucoord::MapOverlap;
using Parse::Choice;
using Parse::position;
using Units = PotentialArguments::Units;

namespace {

const std::vector<Choice<MapKernel>> KERNELS = {{"cut", MapKernel::CUT},
                                                {"smooth", MapKernel::SMOOTH},
                                                {"taylor", MapKernel::TAYLOR},
                                                {"ewald", MapKernel::EWALD},
                                                {"direct", MapKernel::DIRECT}};
const std::vector<Choice<MapOverlap>> OVERLAPS = {
    {"skip", MapOverlap::SKIP}, {"zero", MapOverlap::ZERO}, {"soft", MapOverlap::SOFT}};
const std::vector<Choice<bool>> ALIGNMENTS = {{"center", false}, {"corner", true}};
const std::vector<Choice<bool>> FAR_FIELDS = {{"none", false}, {"fft", true}};
const std::vector<Choice<Units>> UNITS = {
    {"native", Units::NATIVE}, {"volt", Units::VOLT}, {"kT", Units::KT}};
const std::vector<Choice<bool>> BINS = {{"sorted", false}, {"fixed", true}};
const std::vector<Choice<bool>> TAKERS = {{"device", false}, {"host", true}};
const std::vector<Choice<bool>> SWITCHES = {{"yes", true}, {"no", false}};

// Volts per energy unit over charge unit. The value for 'real' matches LAMMPS' own conversion of
// energies.
const std::map<std::string, double> VOLT_OF_UNITS = {{"real", 1.0 / 23.060549},
                                                     {"metal", 1.0},
                                                     {"si", 1.0},
                                                     {"cgs", 299.792458},
                                                     {"electron", 27.211386245988},
                                                     {"micro", 1e-3},
                                                     {"nano", 1e-21 / 1.602176634e-19}};

}    // namespace

/* ---------------------------------------------------------------------- */

PotentialArguments::PotentialArguments(LAMMPS *lmp, int narg, char **arg) : Pointers(lmp)
{
  read_grid(narg, arg);
  bool have_cutoff = false;
  int kernel_position = 0, units_position = 0, temp_position = 0, bins_position = 0,
      overflow_position = 0;
  int iarg = 6;
  while (iarg < narg) {
    const std::string keyword = arg[iarg], command = "compute potential/grid " + keyword;
    const auto choose = [&](const auto &choices) {
      return Parse::choose(command, iarg, narg, arg, choices, input, error);
    };
    const auto number = [&](auto read) {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command, error);
      return (this->*read)(iarg + 1, arg[iarg + 1], keyword);
    };
    if (keyword == "cutoff") {
      map.cutoff = number(&PotentialArguments::positive);
      have_cutoff = true;
      cutoff_position = iarg;
    } else if (keyword == "kernel") {
      map.kernel = choose(KERNELS);
      kernel_position = iarg + 1;
    } else if (keyword == "far") {
      far_position = iarg;
      read_far(iarg, narg, arg);
      continue;
    } else if (keyword == "reference") {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command, error);
      reference = arg[iarg + 1];
      if (!domain->get_region_by_id(reference))
        error->all(FLERR, iarg + 1, "Compute potential/grid reference: there is no region {}",
                   reference);
    } else if (keyword == "overlap") {
      overlap_position = iarg;
      read_overlap(iarg, narg, arg);
      continue;
    } else if (keyword == "align")
      at_corners = choose(ALIGNMENTS);
    else if (keyword == "units") {
      units = choose(UNITS);
      units_position = iarg + 1;
    } else if (keyword == "temp") {
      temperature = number(&PotentialArguments::divisor);
      temp_position = iarg;
    } else if (keyword == "dielectric")
      dielectric = number(&PotentialArguments::divisor);
    else if (keyword == "field")
      field = choose(SWITCHES);
    else if (keyword == "precision")
      precision = choose(Parse::PRECISIONS);
    else if (keyword == "device") {
      device = choose(Parse::DEVICES);
      device_position = iarg + 1;
    } else if (keyword == "bins") {
      bins_position = iarg;
      read_bins(iarg, narg, arg);
      continue;
    } else if (keyword == "overflow") {
      bins.on_host = choose(TAKERS);
      overflow_position = iarg;
    } else
      error->all(FLERR, iarg,
                 "Unknown compute potential/grid keyword: {} - known are cutoff, kernel, far, "
                 "overlap, align, units, temp, dielectric, "
                 "reference, field, bins, overflow, precision, device",
                 keyword);
    iarg += 2;
  }

  if (precision == gpucoord::Precision::SINGLE && device == Parse::Device::CUDA)
    error->all(
        FLERR, device_position,
        "Compute potential/grid precision single is the same as mixed on a GPU - use precision "
        "mixed, or device host");
  if (has_far() && kernel_position == 0) map.kernel = MapKernel::EWALD;
  if (has_far() && map.kernel != MapKernel::EWALD)
    error->all(FLERR, kernel_position,
               "Compute potential/grid far fft selects kernel ewald by itself and cannot be used "
               "with kernel {} - leave out the kernel, or far fft",
               kernel_name());
  if (!has_far() && map.kernel == MapKernel::EWALD)
    error->all(FLERR, kernel_position,
               "Compute potential/grid kernel ewald is the real-space part of a potential and "
               "needs the reciprocal-space part, for example: far fft 1e-5");
  if (has_far() && map.overlap == MapOverlap::ZERO)
    error->all(FLERR, overlap_position + 1,
               "Compute potential/grid overlap zero sets points to 0, but the reciprocal-space "
               "part does not - use overlap skip or soft with far fft");
  if (!reference.empty() && map.overlap == MapOverlap::ZERO)
    error->all(FLERR, overlap_position + 1,
               "Compute potential/grid overlap zero sets points to 0, which a reference would "
               "shift - use overlap skip or soft with "
               "reference");

  if (has_far() && !have_cutoff)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Compute potential/grid far fft needs a cutoff, for example: cutoff 10.0");
  if (!is_direct() && !have_cutoff)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "Compute potential/grid kernel {} needs a cutoff, for example: cutoff 12.0 - or use "
               "kernel direct in a box that is "
               "not periodic",
               kernel_name());
  if (is_direct() && have_cutoff)
    error->all(FLERR, cutoff_position,
               "Compute potential/grid kernel direct sums over all atoms and takes no cutoff - "
               "leave it out");
  if (!is_direct() && map.overlap != MapOverlap::SKIP && map.radius > map.cutoff)
    error->all(FLERR, overlap_position + 2,
               "Compute potential/grid overlap {} radius is {:.10g} but must not exceed the "
               "cutoff, {:.10g}",
               Parse::name_of(map.overlap, OVERLAPS), map.radius, map.cutoff);
  if (bins.are_fixed && is_direct())
    error->all(FLERR, bins_position,
               "Compute potential/grid kernel direct sums over all atoms and has no bins - leave "
               "bins out");
  if (bins.are_fixed && map.overlap == MapOverlap::ZERO)
    error->all(
        FLERR, bins_position,
        "Compute potential/grid bins fixed cannot be used with overlap zero, because overflowing "
        "charges are summed separately - use bins sorted, or overlap skip or soft");
  if (overflow_position != 0 && !bins.are_fixed)
    error->all(FLERR, overflow_position,
               "Compute potential/grid overflow is for bins of fixed depth - leave it out, or use "
               "for example: bins fixed 4.0 8");
  if (units == Units::KT && temp_position == 0)
    error->all(FLERR, units_position,
               "Compute potential/grid units kT needs a temperature, for example: temp 300.0");
  if (units != Units::KT && temp_position != 0)
    error->all(FLERR, temp_position,
               "Compute potential/grid temp is for units kT only - leave it out, or use units kT");
  const std::string why = why_not_in(units);
  if (!why.empty()) error->all(FLERR, units_position, "Compute potential/grid {}", why);
}

/* ---------------------------------------------------------------------- */

void PotentialArguments::read_grid(int narg, char **arg)
{
  if (narg < 6) utils::missing_cmd_args(FLERR, "compute potential/grid", error);
  double product = 1.0;
  for (int k = 0; k < 3; ++k) {
    const char *const text = arg[3 + k];
    errno = 0;
    const long value = utils::is_integer(text) ? std::strtol(text, nullptr, 10) : 0;
    if (errno == ERANGE || value < 1 || value > MAXSMALLINT)
      error->all(
          FLERR, 3 + k,
          "Compute potential/grid N{} is {} but must be a number of grid points from 1 to {}",
          "xyz"[k], text, MAXSMALLINT);
    n[k] = static_cast<int>(value);
    product *= n[k];
  }
  // Dump grid and fix ave/grid index points by an int.
  if (product > MAXSMALLINT)
    error->all(FLERR, 3,
               "Compute potential/grid: a grid of {} x {} x {} has {:.0f} points, but LAMMPS "
               "supports at most {} - use fewer",
               n[0], n[1], n[2], product, MAXSMALLINT);
}

double PotentialArguments::positive(int iarg, const char *text, const std::string &what) const
{
  if (!utils::is_double(text))
    error->all(FLERR, iarg, "Compute potential/grid {} must be a number, not '{}'", what, text);
  const double value = utils::numeric(FLERR, text, false, lmp);
  if (!(value > 0.0) || !std::isfinite(value))
    error->all(FLERR, iarg, "Compute potential/grid {} is {} but must be > 0 and finite", what,
               text);
  return value;
}

/* ----------------------------------------------------------------------
   Reads a positive number by which potentials are divided.
------------------------------------------------------------------------- */

double PotentialArguments::divisor(int iarg, const char *text, const std::string &what) const
{
  constexpr double MIN_VALUE = 1e-30, MAX_VALUE = 1e30;
  const double value = positive(iarg, text, what);
  if (value < MIN_VALUE || value > MAX_VALUE)
    error->all(FLERR, iarg,
               "Compute potential/grid {} is {} but must be from {:g} to {:g}, so that potentials "
               "fit into single precision",
               what, text, MIN_VALUE, MAX_VALUE);
  return value;
}

void PotentialArguments::read_far(int &iarg, int narg, char **arg)
{
  far_tolerance = 0.0;
  const bool wanted =
      Parse::choose("compute potential/grid far", iarg, narg, arg, FAR_FIELDS, input, error);
  iarg += 2;
  if (!wanted) return;
  if (iarg >= narg)
    error->all(FLERR, iarg - 1,
               "Compute potential/grid far fft needs a tolerance, for example: far fft 1e-4");
  far_tolerance = positive(iarg, arg[iarg], "far fft tolerance");
  if (far_tolerance >= 1.0)
    error->all(FLERR, iarg,
               "Compute potential/grid far fft tolerance is {} but must be less than 1, the "
               "potential of a unit charge at unit distance - "
               "use for example: far fft 1e-4",
               arg[iarg]);
  ++iarg;
}

void PotentialArguments::read_overlap(int &iarg, int narg, char **arg)
{
  map.overlap =
      Parse::choose("compute potential/grid overlap", iarg, narg, arg, OVERLAPS, input, error);
  iarg += 2;
  if (map.overlap == MapOverlap::SKIP) return;
  const std::string what = fmt::format("overlap {} radius", arg[iarg - 1]);
  if (iarg >= narg)
    utils::missing_cmd_args(FLERR, fmt::format("compute potential/grid overlap {}", arg[iarg - 1]),
                            error);
  map.radius = positive(iarg, arg[iarg], what);
  ++iarg;
}

void PotentialArguments::read_bins(int &iarg, int narg, char **arg)
{
  bins.are_fixed =
      Parse::choose("compute potential/grid bins", iarg, narg, arg, BINS, input, error);
  iarg += 2;
  if (!bins.are_fixed) return;
  if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, "compute potential/grid bins fixed", error);
  bins.size = positive(iarg, arg[iarg], "bins fixed size");
  constexpr int MAX_DEPTH = 1 << 20;
  const double depth = utils::is_integer(arg[iarg + 1]) ? std::strtod(arg[iarg + 1], nullptr) : 0.0;
  if (depth < 1 || depth > MAX_DEPTH)
    error->all(FLERR, iarg + 1,
               "Compute potential/grid bins fixed depth is {} but must be a number of charges from "
               "1 to {}",
               arg[iarg + 1], MAX_DEPTH);
  bins.depth = static_cast<int>(depth);
  iarg += 2;
}

/* ---------------------------------------------------------------------- */

std::string PotentialArguments::why_not_in(Units wanted) const
{
  const std::string style = update->unit_style;
  if (wanted == Units::VOLT && VOLT_OF_UNITS.count(style) == 0)
    return fmt::format("units volt: there is no Volt in units {} - use units native or units kT",
                       style);
  return "";
}

// Like LAMMPS' kspace styles, errors are relative to the force between two elementary charges at a
// distance of 1 Angstrom.
double PotentialArguments::far_error() const
{
  return far_tolerance * force->qelectron / force->angstrom;
}

double PotentialArguments::scale() const
{
  const double native = force->qqrd2e / dielectric;
  if (units == Units::VOLT) return native * VOLT_OF_UNITS.at(update->unit_style);
  if (units == Units::KT) return native * force->qelectron / (force->boltz * temperature);
  return native;
}

/* ---------------------------------------------------------------------- */

const char *PotentialArguments::kernel_name() const
{
  return Parse::name_of(map.kernel, KERNELS);
}

std::string PotentialArguments::overlap_in_words() const
{
  const std::string name = Parse::name_of(map.overlap, OVERLAPS);
  return map.overlap == MapOverlap::SKIP ? name : fmt::format("{} {:.10g}", name, map.radius);
}

std::string PotentialArguments::bins_in_words() const
{
  if (!bins.are_fixed) return "";
  return fmt::format(", bins of size {:.10g} and depth {}, whose overflow the {} takes", bins.size,
                     bins.depth, bins.on_host ? "host" : "device");
}

std::string PotentialArguments::units_in_words() const
{
  std::string words = Parse::name_of(units, UNITS);
  if (units == Units::KT) words += fmt::format(" at temperature {:.10g}", temperature);
  if (dielectric != 1.0) words += fmt::format(", dielectric {:.10g}", dielectric);
  return words;
}
