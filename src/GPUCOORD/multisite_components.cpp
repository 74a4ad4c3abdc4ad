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

#include "multisite_components.h"

#include "gpucoord_broadcast_text.h"
#include "gpucoord_parse.h"

#include "comm.h"
#include "error.h"
#include "update.h"
#include "utils.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

using namespace LAMMPS_NS;

namespace {

// Version of the format of component files.
constexpr int FORMAT = 1;

// Returns the distinct words after a tag such as UNITS: in comments. LAMMPS itself reads only the
// first line of a potential file.
std::vector<std::string> words_after(const std::string &tag, const std::string &text)
{
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t hash = line.find('#');
    std::istringstream comment(hash == std::string::npos ? "" : line.substr(hash + 1));
    for (std::string word; comment >> word;) {
      const std::size_t begin = word.find(tag);
      if (begin == std::string::npos) continue;
      std::string value = word.substr(begin + tag.size());    // a blank after the colon is optional
      if (value.empty()) comment >> value;
      value = utils::lowercase(value);
      bool is_new = true;
      for (const auto &other : all) is_new = is_new && other != value;
      if (is_new) all.push_back(value);
    }
  }
  return all;
}

}    // namespace

/* ---------------------------------------------------------------------- */

std::vector<gpucoord::Component> MultisiteComponents::read(LAMMPS *lmp, const std::string &style,
                                                           const std::string &file, int argument)
{
  Error *const error = lmp->error;
  std::string text, failure;
  if (lmp->comm->me == 0) {
    const std::string path = utils::get_potential_file_path(file);
    std::error_code ignored;
    const auto type = std::filesystem::status(path, ignored).type();
    const bool has_end =
        type != std::filesystem::file_type::character && type != std::filesystem::file_type::fifo;
    std::ifstream in;
    if (has_end) in.open(path);
    if (!has_end)
      failure = "it is not a regular file";
    else if (path.empty() || !in)
      failure = "it cannot be opened, here or in a folder of LAMMPS_POTENTIALS";
    else {
      try {
        text = Parse::read_all(in);
        if (in.bad()) failure = "it cannot be read - give a file";    // such as a folder
      } catch (const std::runtime_error &e) {
        failure = e.what();
      }
    }
  }
  broadcast_text(failure, 0, lmp->world);
  if (!failure.empty())
    error->all(FLERR, argument, "{}: file of components {}: {}", style, file, failure);
  broadcast_text(text, 0, lmp->world);

  for (const std::string &format : words_after("FORMAT:", text))
    if (format != std::to_string(FORMAT))
      error->all(FLERR, argument,
                 "{}: file of components {} says FORMAT: {}, but this version of GPUCOORD needs "
                 "format {} - use the version that it was written for, or rewrite it by "
                 "tools/multisite/convert.py of this version",
                 style, file, format, FORMAT);

  const std::string wanted = lmp->update->unit_style;
  double energy_factor = 1.0;
  const std::vector<std::string> units = words_after("UNITS:", text);
  if (units.size() > 1)
    error->all(FLERR, argument,
               "{}: file of components {} says UNITS: {} and UNITS: {} - use one file for each",
               style, file, units[0], units[1]);
  if (!units.empty() && units[0] != wanted) {
    const bool to_real = units[0] == "metal" && wanted == "real",
               to_metal = units[0] == "real" && wanted == "metal";
    if (!to_real && !to_metal)
      error->all(
          FLERR, argument,
          "{}: file of components {} is in units {}, but units {} are in use - convert one of them",
          style, file, units[0], wanted);
    energy_factor = utils::get_conversion_factor(utils::ENERGY,
                                                 to_real ? utils::METAL2REAL : utils::REAL2METAL);
    if (lmp->comm->me == 0)
      error->warning(FLERR, "{}: converting file of components {} from units {} to {}", style, file,
                     units[0], wanted);
  }

  std::vector<gpucoord::Component> components;
  try {
    std::istringstream in(text);
    components = gpucoord::read_components(in, file);
  } catch (const std::invalid_argument &e) {
    error->all(FLERR, argument, "{}: {}", style, e.what());
  }
  for (auto &component : components)    // real and metal differ only in energies
    for (auto &site : component.centers) site.epsilon *= energy_factor;
  return components;
}

/* ---------------------------------------------------------------------- */

namespace {

template <typename Sites> void write_rows(RestartWriter &out, const Sites &sites)
{
  out.write(static_cast<int>(sites.size()));
  out.write(sites.data(), sites.size());
}

template <typename Sites> void read_rows(RestartReader &in, Sites &sites)
{
  sites.resize(in.size(sizeof(sites[0])));
  in.read(sites.data(), sites.size());
}

}    // namespace

void MultisiteComponents::write(RestartWriter &out, const gpucoord::Component &one)
{
  out.write(one.name);
  out.write(one.mass);
  out.write(one.inertia);
  write_rows(out, one.centers);
  write_rows(out, one.charges);
  write_rows(out, one.dipoles);
  write_rows(out, one.quadrupoles);
}

gpucoord::Component MultisiteComponents::read(RestartReader &in)
{
  gpucoord::Component one;
  one.name = in.text();
  one.mass = in.read<double>();
  in.read(&one.inertia, 1);
  read_rows(in, one.centers);
  read_rows(in, one.charges);
  read_rows(in, one.dipoles);
  read_rows(in, one.quadrupoles);
  return one;
}

/* ---------------------------------------------------------------------- */

int MultisiteComponents::find(const std::vector<gpucoord::Component> &components,
                              const std::string &name)
{
  for (std::size_t k = 0; k < components.size(); ++k)
    if (components[k].name == name) return static_cast<int>(k);
  return -1;
}

std::string MultisiteComponents::names(const std::vector<gpucoord::Component> &components)
{
  std::string text;
  for (const auto &component : components) text += (text.empty() ? "" : ", ") + component.name;
  return text.empty() ? "none" : text;
}

/* ---------------------------------------------------------------------- */

std::vector<std::string> MultisiteComponents::warnings(const gpucoord::MultisiteModel &model)
{
  constexpr double ROUNDING = 1e-6;    // charges in a file have seven digits
  const auto &components = model.components();
  const auto &settings = model.options();
  std::vector<std::string> found;
  bool has_dipoles = false;
  for (const auto &one : components) {
    has_dipoles = has_dipoles || !one.dipoles.empty();
    double sum = 0.0, magnitudes = 0.0;
    for (const auto &site : one.charges) {
      sum += site.charge;
      magnitudes += std::fabs(site.charge);
    }
    if (std::fabs(sum) > ROUNDING * magnitudes)
      found.push_back(fmt::format(
          "component {} has the net charge {:.8g}: the Coulomb energy of two of its molecules "
          "jumps from {:.4g} to 0 at the cutoff {:.8g}, because there is no Ewald sum and rf acts "
          "only on dipoles - correct its charges unless it is an ion",
          one.name, sum, settings.coulomb * sum * sum / settings.cutoff_charge,
          settings.cutoff_charge));
  }
  const int n = static_cast<int>(components.size());
  for (int a = 0; a < n && !settings.site_cutoff; ++a)
    for (int b = a; b < n; ++b)
      if (model.reach(a) + model.reach(b) > model.range(a, b) && model.range(a, b) > 0.0)
        found.push_back(fmt::format(
            "sites of {} and {} reach {:.6g} together, and molecules interact within {:.6g} "
            "between "
            "centers of mass: farther apart they can overlap - use a longer cutoff, or cutoff site",
            components[a].name, components[b].name, model.reach(a) + model.reach(b),
            model.range(a, b)));
  if (settings.reaction_field != 1.0 && !has_dipoles)
    found.emplace_back("rf acts between point dipoles, but no component has one: it only adds a "
                       "constant to the energy of molecules whose charges have a dipole moment");
  return found;
}
