/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_GHOST_RANGE_H
#define LMP_GPUCOORD_GHOST_RANGE_H

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "fmt/format.h"
#include "force.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace LAMMPS_NS {
namespace GhostRange {

  // LAMMPS counts the atoms of a rank, including ghosts, and the exchanges of ghost atoms in
  // variables of type int, without an overflow check. After an overflow, ghost atoms are missing or
  // MPI aborts. Returns why a range (distance) needs counts larger than int in the current box, or
  // "". The result is the same on all ranks. Pair::init_one() and init() of other styles call this
  // function, because LAMMPS sets up its communication after them.
  inline std::string why_too_long(double range, const Atom *atom, const Comm *comm,
                                  const Domain *domain)
  {
    const double *const h = domain->h_inv;
    // Reciprocal heights of the box, as in CommBrick::setup().
    const double per_length[3] = {std::sqrt(h[0] * h[0] + h[5] * h[5] + h[4] * h[4]),
                                  std::sqrt(h[1] * h[1] + h[3] * h[3]), h[2]};
    // Mean number of atoms per rank. LAMMPS also counts exchanges across an open boundary, before
    // it drops them.
    double natoms = static_cast<double>(atom->natoms), nexchanges = 0.0;
    for (int k = 0; k < domain->dimension; ++k) {
      const double part = 1.0 / comm->procgrid[k], reach = range * per_length[k];
      natoms *= domain->periodicity[k] ? part + 2.0 * reach : std::min(1.0, part + reach);
      nexchanges += 2.0 * (reach / part + 1.0);
    }
    constexpr int LIMIT = std::numeric_limits<int>::max();
    const bool many_atoms = natoms > LIMIT;
    if (!many_atoms && nexchanges <= LIMIT) return "";
    return fmt::format(
        "is so long that LAMMPS would need about {:.2g} {}, which it counts by int, up to {}",
        many_atoms ? natoms : nexchanges,
        many_atoms ? "atoms per rank, ghosts included" : "exchanges of ghost atoms", LIMIT);
  }

  // Same check for the ghost atom range of a compute that needs ghost atoms up to 'need'
  // (distance). The text names the command that sets the range, and the way out. also: the rest of
  // the way out if the need alone is too long
  inline std::string why_ghosts_too_many(double range, double need, const std::string &also,
                                         const Atom *atom, const Comm *comm, const Domain *domain,
                                         const Force *force)
  {
    const std::string why = why_too_long(range, atom, comm, domain);
    if (why.empty()) return "";
    const std::string source = range > comm->cutghostuser
        ? fmt::format("cutoff of pair_style {}", force->pair_style)
        : "comm_modify cutoff";
    const bool is_needed = !why_too_long(need, atom, comm, domain).empty();
    return fmt::format("the ghost atom range {:.10g} of the {} {} - use a smaller {}{}", range,
                       source, why, source, is_needed ? also : "");
  }

  // Same check for comm_modify cutoff, which also applies to styles that need a shorter range.
  inline std::string why_comm_cutoff_too_long(const Atom *atom, const Comm *comm,
                                              const Domain *domain, const Force *force)
  {
    return why_ghosts_too_many(comm->cutghostuser, 0.0, "", atom, comm, domain, force);
  }

}    // namespace GhostRange
}    // namespace LAMMPS_NS

#endif
