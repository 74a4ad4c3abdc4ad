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

#include "multisite_motion.h"

#include "multisite_bodies.h"
#include "multisite_lammps_internals.h"
#include "multisite_shape.h"

#include "comm.h"
#include "compute.h"
#include "compute_pressure.h"
#include "domain.h"
#include "fix.h"
#include "modify.h"
#include "update.h"
#include "utils.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;

// Data files have fewer digits than restart files. The shortest axis of an ellipsoid is a
// thousandth of the longest, instead of zero.
static constexpr double MASS_TOLERANCE = 1e-5, INERTIA_TOLERANCE = 1e-4;

namespace {

// Returns the temperature whose kinetic energy a compute pressure includes, or null.
const Compute *temperature_of(Compute *compute, const Modify *modify)
{
  const auto *const pressure = dynamic_cast<ComputePressure *>(compute);
  const char *const id = pressure ? LammpsInternals::id_of_temperature(pressure) : nullptr;
  return id ? modify->get_compute_by_id(id) : nullptr;
}

}    // namespace

MultisiteMotion::MultisiteMotion(LAMMPS *lmp, const std::vector<gpucoord::Component> &components_in,
                                 const std::vector<int> &component_of_in) :
    Pointers(lmp),
    components(components_in), component_of(component_of_in)
{
}

std::vector<std::string> MultisiteMotion::warnings() const
{
  std::vector<std::string> found;
  check_axes(found);
  compare_bodies(found);
  check_temperatures(found);
  check_pressures(found);
  if (update->whichflag == 1) check_fixes(found);
  if (update->whichflag == 2 && count([this](int i) {
                                  return MultisiteShape::feels_torque(*component_of_atom(i));
                                }) > 0)
    found.emplace_back("Pair multisite: a minimization moves molecules without rotating them");
  return found;
}

/* ---------------------------------------------------------------------- */

// Returns null if the atom is not a molecule.
const gpucoord::Component *MultisiteMotion::component_of_atom(int i) const
{
  const int k = component_of[atom->type[i]];
  return k < 0 ? nullptr : &components[k];
}

// Returns the number of molecules on all ranks for which the function returns true.
bigint MultisiteMotion::count(const std::function<bool(int)> &is_one) const
{
  bigint mine = 0, all;
  for (int i = 0; i < atom->nlocal; ++i)
    if (component_of_atom(i) && is_one(i)) ++mine;
  MPI_Allreduce(&mine, &all, 1, MPI_LMP_BIGINT, MPI_SUM, world);
  return all;
}

/* ---------------------------------------------------------------------- */

void MultisiteMotion::check_axes(std::vector<std::string> &found) const
{
  for (const auto &component : components) {
    const std::string why = MultisiteShape::torque_about_axis(component);
    if (!why.empty()) found.push_back("Pair multisite: " + why);
  }
}

void MultisiteMotion::compare_bodies(std::vector<std::string> &found) const
{
  const MultisiteBodies bodies(atom);
  const bigint without = count([&](int i) {
    return !bodies.has(i);
  });
  if (without > 0)
    found.push_back(fmt::format(
        "Pair multisite: {} molecules have no ellipsoid - use set_multisite to create it",
        without));
  const bigint nwrong_mass = count([&](int i) {
    return std::fabs(atom->rmass[i] - component_of_atom(i)->mass) >
        MASS_TOLERANCE * component_of_atom(i)->mass;
  });
  const bigint nwrong_inertia = count([&](int i) {
    const auto &wanted = component_of_atom(i)->inertia;
    const double largest = *std::max_element(wanted.begin(), wanted.end());
    if (largest == 0.0 || !bodies.has(i))
      return false;    // there is no rotation, or no ellipsoid to compare
    const auto moments = bodies.inertia(i);
    bool differs = false;
    for (int k = 0; k < 3; ++k)
      differs = differs || std::fabs(moments[k] - wanted[k]) > INERTIA_TOLERANCE * largest;
    return differs;
  });
  if (nwrong_mass > 0)
    found.push_back(fmt::format("Pair multisite: {} molecules have masses that differ from those "
                                "of their components - use set_multisite to set them",
                                nwrong_mass));
  if (nwrong_inertia > 0)
    found.push_back(
        fmt::format("Pair multisite: {} molecules have shapes whose moments of inertia differ from "
                    "those of their components - use set_multisite to set them",
                    nwrong_inertia));
}

/* ----------------------------------------------------------------------
   Compute temp/asphere, also as part of a fix, counts three rotations of each molecule. Whether it
   counts translation, and whether momentum is conserved, is unknown here. The check therefore
   accepts both numbers.
------------------------------------------------------------------------- */

void MultisiteMotion::check_temperatures(std::vector<std::string> &found) const
{
  if (domain->dimension == 2) return;    // temp/asphere counts one rotation in 2d
  for (Compute *const compute : modify->get_compute_by_style("^temp/asphere")) {
    const auto is_in_group = [&](int i) {
      return (atom->mask[i] & compute->groupbit) != 0;
    };
    const bigint linear = count([&](int i) {
      return is_in_group(i) && MultisiteShape::axis_of_linear(*component_of_atom(i)) >= 0;
    });
    const bigint points = count([&](int i) {
      return is_in_group(i) && !MultisiteShape::feels_torque(*component_of_atom(i));
    });
    const double missing = linear + 3.0 * points, extra = LammpsInternals::extra_dof(compute);
    const bool is_low = extra < missing;
    if (is_low || extra > missing + 3.0)
      found.push_back(
          fmt::format("Pair multisite: compute {} counts three rotations of each molecule, but {} "
                      "linear ones have two and {} others none: with extra/dof {:.10g} its "
                      "temperature is too {} - give compute_modify {} extra/dof {:.10g}, or "
                      "{:.10g} if it counts translation and momentum is conserved",
                      compute->id, linear, points, extra, is_low ? "low" : "high", compute->id,
                      missing, missing + 3.0));
  }
}

/* ----------------------------------------------------------------------
   The virial is computed from forces on centers of mass. The kinetic energy of rotation does not
   contribute to the pressure.
------------------------------------------------------------------------- */

void MultisiteMotion::check_pressures(std::vector<std::string> &found) const
{
  for (Compute *const compute : modify->get_compute_by_style("^pressure$")) {
    const Compute *const temperature = temperature_of(compute, modify);
    if (!temperature || !utils::strmatch(temperature->style, "asphere")) continue;
    const std::string id = compute->id, ending = "_press";
    const bool ends = id.size() > ending.size() && id.substr(id.size() - ending.size()) == ending;
    const auto *const owner = ends ? modify->get_fix_by_id(id.substr(0, id.size() - ending.size()))
                                   : nullptr;
    const std::string way_out = owner ? fmt::format("fix_modify {} press thermo_press", owner->id)
        : id == "thermo_press"        ? "thermo_modify temp a compute of style temp"
                                      : fmt::format("compute {} a temperature of style temp", id);
    found.push_back(
        fmt::format("Pair multisite: compute {} includes the rotation of temperature {} in its "
                    "pressure, but the pressure is that of centers of mass - use {}",
                    id, temperature->id, way_out));
  }
}

/* ---------------------------------------------------------------------- */

void MultisiteMotion::check_fixes(std::vector<std::string> &found) const
{
  bigint spinning = 0;
  for (const auto *const fix : modify->get_fix_list()) {
    if (!fix->time_integrate) continue;
    // Fix move rotates the atoms that it moves. Fix nve/dotc/langevin rotates ellipsoids like the
    // fixes for aspherical particles.
    const auto is = [fix](const char *pattern) {
      return utils::strmatch(fix->style, pattern);
    };
    const bool turns = is("asphere") || is("^rigid") || is("^nve/dotc") || is("^move");
    const auto is_in_group = [&](int i) {
      return (atom->mask[i] & fix->groupbit) != 0;
    };
    const bigint moved = count([&](int i) {
      return is_in_group(i) && MultisiteShape::feels_torque(*component_of_atom(i));
    });
    if (!turns && moved > 0)
      found.push_back(fmt::format("Pair multisite: fix {} of style {} moves {} molecules without "
                                  "rotating them - use nve/asphere, nvt/asphere or npt/asphere",
                                  fix->id, fix->style, moved));
    if (is("asphere"))
      spinning += count([&](int i) {
        return is_in_group(i) && MultisiteShape::axis_of_linear(*component_of_atom(i)) >= 0;
      });
  }
  if (spinning > 0 && modify->get_fix_by_style("^multisite/linear").empty())
    found.push_back(fmt::format(
        "Pair multisite: {} linear molecules have no moment of inertia about their axes and heat "
        "up by spinning about them - use fix multisite/linear, after all fixes that act on torques",
        spinning));
}
