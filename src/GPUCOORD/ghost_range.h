/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GHOST_RANGE_H
#define LMP_GHOST_RANGE_H

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "fmt/format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace LAMMPS_NS {
namespace GhostRange {

  // LAMMPS counts the atoms of a rank, ghosts included, and the exchanges that bring the ghosts in
  // variables of type int, and checks neither. Where one overflows, ghost atoms are missing or MPI
  // aborts. Returns why a range, distance, needs more than an int holds in the current box; empty
  // if it does not. The verdict is the same on all ranks. For Pair::init_one() and init() of other
  // styles, since LAMMPS sets up its communication after them.
  inline std::string why_too_long(double range, const Atom *atom, const Comm *comm, const Domain *domain)
  {
    const double *const h = domain->h_inv;
    const bool tilted = domain->triclinic != 0;
    // reciprocal heights of the box, as in CommBrick::setup()
    const double per_length[3] = {
        tilted ? std::sqrt(h[0] * h[0] + h[5] * h[5] + h[4] * h[4]) : 1.0 / domain->prd[0],
        tilted ? std::sqrt(h[1] * h[1] + h[3] * h[3]) : 1.0 / domain->prd[1],
        tilted ? h[2] : 1.0 / domain->prd[2]};
    // mean over ranks; each exchange brings the atoms of one neighbor
    double natoms = static_cast<double>(atom->natoms), nexchanges = 0.0;
    for (int k = 0; k < domain->dimension; ++k) {
      const double part = 1.0 / comm->procgrid[k], reach = range * per_length[k];
      natoms *= domain->periodicity[k] ? part + 2.0 * reach : std::min(1.0, part + reach);
      nexchanges += 2.0 * (domain->periodicity[k] ? reach / part + 1.0 : comm->procgrid[k] - 1.0);
    }
    constexpr int LIMIT = std::numeric_limits<int>::max();
    if (natoms <= LIMIT && nexchanges <= LIMIT) return "";
    return fmt::format("takes in so many periodic images that LAMMPS would need about {:.2g} atoms per rank, "
                       "ghosts included, and {:.2g} exchanges, but it counts either by int, up to {}",
                       natoms, nexchanges, LIMIT);
  }

}    // namespace GhostRange
}    // namespace LAMMPS_NS

#endif
