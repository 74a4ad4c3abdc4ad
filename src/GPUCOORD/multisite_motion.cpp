/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "multisite_motion.h"

#include "multisite_bodies.h"
#include "multisite_shape.h"

#include "comm.h"
#include "compute.h"
#include "fix.h"
#include "modify.h"
#include "update.h"
#include "utils.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;

// Data files have fewer digits than restart files, and an axis without length is given a thousandth of the longest.
static constexpr double MASS_TOLERANCE = 1e-5, INERTIA_TOLERANCE = 1e-4;

namespace {

// what compute_modify extra/dof says; Compute has no accessor
struct ExtraDof : public Compute {
  static double get(Compute *compute) { return compute->*(&ExtraDof::extra_dof); }
};

}    // namespace

MultisiteMotion::MultisiteMotion(LAMMPS *lmp, const std::vector<gpucoord::Component> &components_in,
                                 const std::vector<int> &component_of_in) :
    Pointers(lmp), components(components_in), component_of(component_of_in)
{
}

std::vector<std::string> MultisiteMotion::warnings() const
{
  std::vector<std::string> found;
  compare_bodies(found);
  check_temperatures(found);
  if (update->whichflag == 1) check_fixes(found);
  if (update->whichflag == 2 && count([this](int i) { return MultisiteShape::feels_torque(*of_atom(i)); }) > 0)
    found.emplace_back("Pair multisite: a minimization moves molecules without turning them");
  return found;
}

/* ---------------------------------------------------------------------- */

// null: it is no molecule
const gpucoord::Component *MultisiteMotion::of_atom(int i) const
{
  const int k = component_of[atom->type[i]];
  return k < 0 ? nullptr : &components[k];
}

// molecules of all ranks for which a function says yes
bigint MultisiteMotion::count(const std::function<bool(int)> &is_one) const
{
  bigint mine = 0, all;
  for (int i = 0; i < atom->nlocal; ++i)
    if (of_atom(i) && is_one(i)) ++mine;
  MPI_Allreduce(&mine, &all, 1, MPI_LMP_BIGINT, MPI_SUM, world);
  return all;
}

/* ---------------------------------------------------------------------- */

void MultisiteMotion::compare_bodies(std::vector<std::string> &found) const
{
  const MultisiteBodies bodies(atom);
  const bigint of_mass = count([&](int i) {
    return std::fabs(atom->rmass[i] - of_atom(i)->mass) > MASS_TOLERANCE * of_atom(i)->mass;
  });
  const bigint of_inertia = count([&](int i) {
    const auto &wanted = of_atom(i)->inertia;
    const double largest = *std::max_element(wanted.begin(), wanted.end());
    if (largest == 0.0 || !bodies.has(i)) return false;    // nothing turns, or there is nothing to compare with
    const auto moments = bodies.inertia(i);
    bool differs = false;
    for (int k = 0; k < 3; ++k) differs = differs || std::fabs(moments[k] - wanted[k]) > INERTIA_TOLERANCE * largest;
    return differs;
  });
  if (of_mass > 0)
    found.push_back(fmt::format("Pair multisite: {} molecules have other masses than their components say - set_multisite "
                                "gives them those", of_mass));
  if (of_inertia > 0)
    found.push_back(fmt::format("Pair multisite: {} molecules have shapes that give other moments of inertia than their "
                                "components say - set_multisite gives them those", of_inertia));
}

/* ----------------------------------------------------------------------
   Compute temp/asphere, also that of a fix, counts three rotations of each molecule; fix multisite/linear warns about
   those of linear ones.
------------------------------------------------------------------------- */

void MultisiteMotion::check_temperatures(std::vector<std::string> &found) const
{
  for (Compute *const compute : modify->get_compute_by_style("^temp/asphere")) {
    const bigint points = count([&](int i) {
      return (atom->mask[i] & compute->groupbit) && !MultisiteShape::feels_torque(*of_atom(i));
    });
    if (points > 0 && ExtraDof::get(compute) < 3.0 * points)
      found.push_back(fmt::format("Pair multisite: compute {} counts three rotations of each of {} molecules that nothing "
                                  "turns, and its temperature is too low - give compute_modify {} extra/dof 3 more for each",
                                  compute->id, points, compute->id));
  }
}

/* ---------------------------------------------------------------------- */

void MultisiteMotion::check_fixes(std::vector<std::string> &found) const
{
  bigint spinning = 0;
  for (const auto *const fix : modify->get_fix_list()) {
    if (!fix->time_integrate) continue;
    // fix move turns what it moves; nve/dotc/langevin turns ellipsoids as those for aspherical particles do
    const auto is = [fix](const char *pattern) { return utils::strmatch(fix->style, pattern); };
    const bool turns = is("asphere") || is("^rigid") || is("^nve/dotc") || is("^move");
    const auto is_in_group = [&](int i) { return (atom->mask[i] & fix->groupbit) != 0; };
    const bigint moved = count([&](int i) { return is_in_group(i) && MultisiteShape::feels_torque(*of_atom(i)); });
    if (!turns && moved > 0)
      found.push_back(fmt::format("Pair multisite: fix {} of style {} moves {} molecules without turning them - use "
                                  "nve/asphere, nvt/asphere or npt/asphere", fix->id, fix->style, moved));
    if ((is("^npt/asphere") || is("^nph/asphere")) && moved > 0) {
      // which LAMMPS deletes where fix_modify press gives another
      const std::string press = std::string(fix->id) + "_press";
      if (modify->get_compute_by_id(press))
        found.push_back(fmt::format("Pair multisite: fix {} of style {} counts rotation in its pressure, which is that of "
                                    "centres of mass - give fix_modify {} press thermo_press", fix->id, fix->style, fix->id));
    }
    if (is("asphere"))
      spinning += count([&](int i) { return is_in_group(i) && MultisiteShape::axis_of_linear(*of_atom(i)) >= 0; });
  }
  if (spinning > 0 && modify->get_fix_by_style("^multisite/linear").empty())
    found.push_back(fmt::format("Pair multisite: {} linear molecules have no inertia about their axes and take up heat there "
                                "- use fix multisite/linear, after all fixes that act on torques", spinning));
}
