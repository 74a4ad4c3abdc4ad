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

#include "coord_paths.h"

#include "coord_arguments.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_ghost_atoms.h"
#include "gpucoord_ghost_range.h"

#include "comm.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "neighbor.h"
#include "pair.h"

#include <cmath>
#include <utility>

using namespace LAMMPS_NS;
using Groups = CoordArguments::Groups;
using Image = CoordArguments::Image;
using Engine = CoordArguments::Engine;

/* ---------------------------------------------------------------------- */

CoordPaths::CoordPaths(LAMMPS *lmp, std::string owner_in, const CoordArguments &args_in,
                       const gpucoord::SwitchTable &table_in) :
    Pointers(lmp),
    owner(std::move(owner_in)), args(args_in), table(table_in)
{
}

void CoordPaths::init()
{
  last_path = in_current_box();
  if (!uses_ghosts(last_path)) return;
  // Neighbor and Comm set their cutoffs after init() of computes.
  double cutghost = comm->cutghostuser;
  if (force->pair) cutghost = MAX(cutghost, force->pair->cutforce + neighbor->skin);
  check_ghost_shell(cutghost);
  const std::string also =
      fmt::format(" and {}{}", args.range_word(),
                  args.accepts("engine") ? ", or engine allpairs with image minimum" : "");
  const std::string why = GhostRange::why_ghosts_too_many(cutghost, table.dmax() + neighbor->skin,
                                                          also, atom, comm, domain, force);
  if (!why.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, why);
}

void CoordPaths::begin_evaluation(bool ghosts_are_current)
{
  last_box = current_box(lmp, owner);
  last_path = choose(last_box);
  if (!uses_ghosts(last_path)) return;
  check_ghost_shell(MAX(comm->cutghostuser, neighbor->cutneighmax));
  // Fix deform and fix press/berendsen change the box and the owned atoms at the end of a
  // timestep. The ghost atoms then still belong to the old box.
  if (domain->box_change && !ghosts_are_current) comm->forward_comm();
}

CoordPaths::Path CoordPaths::in_current_box() const
{
  return choose(current_box(lmp, owner));
}

/* ----------------------------------------------------------------------
   Chooses the engine. Raises an error if dmax is ambiguous.
------------------------------------------------------------------------- */

CoordPaths::Path CoordPaths::choose(const gpucoord::Box &current) const
{
  // Pair mode knows only the nearest image.
  if (args.groups == Groups::PAIRS || args.groups == Groups::PAIRS_FILE) return Path::PAIRS;

  const double limit = gpucoord::first_ambiguous_range(current);
  const double dmax = table.dmax();
  const bool ambiguous = current.nperiodic > 0 && dmax >= limit;    // r = dmax is in range

  if (ambiguous && args.image == Image::UNNAMED) {
    if (!table.has_end())
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: the range{} is infinite, so all images of an atom are in range - use image "
                 "minimum, or give dmax below {:.10g}, half the shortest period of the box",
                 owner, args.longest_coeff(), limit);
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: dmax {:.10g}{}{} is not below {:.10g}, half the shortest period of the box, so "
        "several images of one atom are in range - give a smaller dmax, or use image minimum{}",
        owner, dmax, args.longest_coeff(),
        std::isnan(args.longest().options.dmax) ? " (the default)" : "", limit,
        args.engine == Engine::ALLPAIRS ? "" : " or image all");
  }

  const bool ghosts_differ = ambiguous && args.image == Image::MINIMUM;
  switch (args.engine) {
    case Engine::AUTO:
      return ghosts_differ || !table.has_end() ? Path::ALLPAIRS : Path::CELLS;
    case Engine::ALLPAIRS:
      return Path::ALLPAIRS;
    default:
      if (ghosts_differ)
        error->all(FLERR, Error::NOLASTLINE,
                   "{}: image minimum with dmax {:.10g}{}, not below {:.10g}, half the "
                   "shortest period of the box, needs engine allpairs or auto",
                   owner, dmax, args.longest_coeff(), limit);
      return Path::CELLS;
  }
}

/* ----------------------------------------------------------------------
   Checks that every partner within dmax is an owned or ghost atom of this rank, until atoms have
   moved by the skin.
------------------------------------------------------------------------- */

void CoordPaths::check_ghost_shell(double cutghost) const
{
  const auto or_allpairs = [this](const char *verb) {
    return args.accepts("engine") ? fmt::format(", or {}engine allpairs with image minimum", verb)
                                  : "";
  };
  if (comm->mode != Comm::SINGLE)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: cannot use the ghost atoms of comm_modify mode multi - use mode single{}",
               owner, or_allpairs(""));
  if (GhostAtoms::are_of_a_group(comm))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: cannot use the ghost atoms of comm_modify group - remove it{}", owner,
               or_allpairs("use "));
  const double need = table.dmax() + neighbor->skin;
  if (need > cutghost * (1.0 + 1e-9))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: {}{} plus skin {:.10g} exceeds the ghost atom range {:.10g} - use "
               "comm_modify cutoff {} or more",
               owner, args.range_word(), args.longest_coeff(), need, cutghost,
               GhostAtoms::in_four_digits(need));
}
