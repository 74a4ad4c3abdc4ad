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

#include "bias_plumed_atoms.h"

#include "bias_board.h"
#include "gpucoord_atom_mass.h"
#include "gpucoord_lammps_compat.h"

#include "gpucoord/bytes_of.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"

#include <algorithm>
#include <cmath>
#include <mpi.h>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

PlumedAtoms::PlumedAtoms(LAMMPS *lmp, std::string owner_in) :
    Pointers(lmp), owner(std::move(owner_in)), board(BiasBoard::get(lmp)), has_all(false),
    any_requested(false), has_masses(false)
{
}

int PlumedAtoms::largest_id(LAMMPS *lmp)
{
  const auto *const atom = lmp->atom;
  bigint mine = 0, largest;
  for (int i = 0; i < atom->nlocal && atom->tag_enable; ++i)
    mine = MAX(mine, static_cast<bigint>(atom->tag[i]));
  MPI_Allreduce(&mine, &largest, 1, MPI_LMP_BIGINT, MPI_MAX, lmp->world);
  if (largest > MAXSMALLINT)
    lmp->error->all(FLERR, Error::NOLASTLINE,
                    "Fix coord/plumed: the largest ID of an atom is {}, but PLUMED supports at "
                    "most {} - use command reset_atoms id",
                    largest, MAXSMALLINT);
  return static_cast<int>(largest);
}

/* ---------------------------------------------------------------------- */

// Ranks exchange up to 8 numbers per atom in one message.
static constexpr int MAX_REQUESTED = MAXSMALLINT / 8;

void PlumedAtoms::check_map() const
{
  if (!atom->tag_enable)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: PLUMED requests atoms, but the atoms have no IDs - leave out command "
               "atom_modify id no, or leave atoms out of the PLUMED file",
               owner);
  if (atom->map_style == Atom::MAP_NONE)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: PLUMED requests atoms, which are found by their IDs - use atom_modify map "
               "array or hash, or leave atoms out of the PLUMED file",
               owner);
}

// Atoms may have been deleted since they were announced to PLUMED.
int PlumedAtoms::index_of(int id) const
{
  if (id + 1 > atom->map_tag_max) return NOT_HERE;
  const int i = atom->map(id + 1);
  return i >= 0 && i < atom->nlocal ? i : NOT_HERE;
}

std::vector<int> PlumedAtoms::find() const
{
  std::vector<int> index(requested.size(), NOT_HERE);
  if (has_all) {
    for (int i = 0; i < atom->nlocal && atom->tag_enable; ++i)
      if (atom->tag[i] <= static_cast<tagint>(requested.size())) index[atom->tag[i] - 1] = i;
  } else
    for (std::size_t k = 0; k < requested.size(); ++k) index[k] = index_of(requested[k]);
  return index;
}

void PlumedAtoms::request(const std::vector<int> &ids, bool is_all)
{
  any_requested = !ids.empty();
  if (!any_requested || (ids == requested && is_all == has_all)) return;
  if (ids.size() > static_cast<std::size_t>(MAX_REQUESTED))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: PLUMED requests {} atoms, but MPI supports at most {} - use command "
               "reset_atoms id, or fewer atoms",
               owner, ids.size(), MAX_REQUESTED);
  if (!is_all) check_map();
  requested = ids;
  has_all = is_all;
  if (has_masses && !is_all)
    select_masses();
  else
    sum_masses();
  if (!is_all) return;
  has_masses = true;
  masses_of_all = masses;
  charges_of_all = charges;
}

// PLUMED keeps the masses and charges of its first timestep, in which it requests all atoms.
void PlumedAtoms::select_masses()
{
  if (comm->me != 0) return;
  masses.clear();
  charges.clear();
  for (const int id : requested) {
    masses.push_back(masses_of_all[id]);
    charges.push_back(charges_of_all[id]);
  }
}

void PlumedAtoms::sum_masses()
{
  board->atoms_to_host();
  const std::vector<int> index = find();
  const std::size_t n = requested.size();
  std::vector<double> mine(2 * n, 0.0), all(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    const int i = index[k];
    if (i == NOT_HERE) continue;
    mine[k] = mass_of(atom, i);
    mine[n + k] = atom->q_flag ? atom->q[i] : 0.0;
  }
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(2 * n), MPI_DOUBLE, MPI_SUM, 0, world);
  masses.assign(all.begin(), all.begin() + n);
  charges.assign(all.begin() + n, all.end());
}

/* ---------------------------------------------------------------------- */

void PlumedAtoms::own_positions(double *rows)
{
  board->atoms_to_host();
  const std::vector<int> index = find();
  for (std::size_t k = 0; k < index.size(); ++k) {
    if (index[k] == NOT_HERE) continue;
    std::copy_n(atom->x[index[k]], 3, rows + COLUMNS * k);
    rows[COLUMNS * k + 3] = 1.0;
  }
}

void PlumedAtoms::collect()
{
  const std::size_t n = any_requested ? requested.size() : 0;
  positions.resize(3 * n);
  found.resize(n);
  if (!n) return;
  std::vector<double> mine(COLUMNS * n, 0.0), all(COLUMNS * n);
  own_positions(mine.data());
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(COLUMNS * n), MPI_DOUBLE, MPI_SUM, 0, world);
  for (std::size_t k = 0; k < n; ++k) {
    std::copy_n(&all[COLUMNS * k], 3, &positions[3 * k]);
    found[k] = all[COLUMNS * k + 3] == 1.0;
  }
}

bool PlumedAtoms::are_at(const std::vector<int> &ids, const std::vector<double> &x)
{
  constexpr double ROUNDING = 1e-12;
  if (ids.empty()) return true;
  board->atoms_to_host();
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const int i = index_of(ids[k]);
    if (i == NOT_HERE) continue;
    double d[3];
    for (int a = 0; a < 3; ++a) d[a] = atom->x[i][a] - x[3 * k + a];
    LammpsCompat::apply_minimum_image(domain, d);
    for (const double component : d)
      if (!(std::fabs(component) <= ROUNDING * domain->xprd)) return false;
  }
  return true;
}

void PlumedAtoms::add_forces(const std::vector<int> &ids, const std::vector<double> &force)
{
  add_forces_to(atom->f, ids, force);
  board->forces_changed_on_host();
}

void PlumedAtoms::add_forces_to(double **f, const std::vector<int> &ids,
                                const std::vector<double> &force)
{
  check_map();
  board->atoms_to_host();
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const int i = index_of(ids[k]);
    if (i == NOT_HERE) continue;
    for (int a = 0; a < 3; ++a) f[i][a] += force[3 * k + a];
  }
}

double PlumedAtoms::memory_usage() const
{
  return static_cast<double>(gpucoord::bytes_of(requested, positions, masses, charges,
                                                masses_of_all, charges_of_all, found));
}
