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

#include "compute_coord_energy.h"

#include "bias_board.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include "atom.h"
#include "domain.h"
#include "error.h"
#include "force.h"
#include "group.h"
#include "modify.h"
#include "update.h"

#include <algorithm>
#include <cmath>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   compute ID all coord/energy
------------------------------------------------------------------------- */

ComputeCoordEnergy::ComputeCoordEnergy(LAMMPS *lmp, int narg, char **arg) :
    CoordVariable(lmp, narg, arg), step_of_forces(-1), virial{}
{
  if (igroup != 0)
    error->all(FLERR, 1, "Compute coord/energy group must be all, not {} - use group all", arg[1]);
  if (narg > 3)
    error->all(FLERR, 3, "Compute coord/energy: unknown keyword {} - there are none", arg[3]);
  set_outputs(6, 3);
  // LAMMPS sums the energy in timesteps that are added to this compute.
  timeflag = peflag = 1;
  const std::string parts = "pair bond angle dihedral improper kspace";
  energy = part("pe", parts);
  pressure = part("pressure", "NULL " + parts);
  stress = part("stress/atom", "NULL " + parts);
}

// Returns a compute that is not in LAMMPS' list, so that it does not make LAMMPS sum virials.
std::unique_ptr<Compute> ComputeCoordEnergy::part(const std::string &its_style,
                                                  const std::string &arguments) const
{
  const auto known = modify->compute_map->find(its_style);
  if (known == modify->compute_map->end())
    error->all(FLERR, 2, "Compute coord/energy needs compute {}, which this LAMMPS does not have",
               its_style);
  std::vector<std::string> words =
      utils::split_words(fmt::format("{} all {} {}", id, its_style, arguments));
  std::vector<char *> pointers;
  for (std::string &word : words) pointers.push_back(word.data());
  return std::unique_ptr<Compute>(
      known->second(lmp, static_cast<int>(pointers.size()), pointers.data()));
}

void ComputeCoordEnergy::init()
{
  CoordVariable::init();
  for (Compute *const its : {energy.get(), pressure.get(), stress.get()}) its->init();
  step_of_forces = -1;
}

int ComputeCoordEnergy::groups() const
{
  return group->bitmask[0];
}

/* ---------------------------------------------------------------------- */

void ComputeCoordEnergy::forces_to_host()
{
  BiasBoard::get(lmp)->atoms_to_host();
}

void ComputeCoordEnergy::take_forces()
{
  forces_to_host();
  forces.resize(3 * static_cast<std::size_t>(atom->nlocal));
  for (int i = 0; i < atom->nlocal; ++i) std::copy_n(atom->f[i], 3, &forces[3 * i]);
  step_of_forces = update->ntimestep;
}

// Collective.
void ComputeCoordEnergy::need_forces()
{
  const bool has_forces = step_of_forces == update->ntimestep &&
      forces.size() == 3 * static_cast<std::size_t>(atom->nlocal);
  int mine = has_forces ? 1 : 0;
  int all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world);
  if (!all)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the derivatives at step {} are unknown, because no fix with this variable was "
               "evaluated then - use them in a run, in timesteps of such a fix",
               name, update->ntimestep);
  taken_to_host();
}

// Collective. LAMMPS raises an error if it has not summed the energy or the virial.
void ComputeCoordEnergy::finish(const double * /*sums*/)
{
  known_value = energy->compute_scalar();
  if (is_in_setup && !std::isfinite(known_value)) return;
  const bool needs_atoms = wanted & gpucoord::ATOM_VIRIAL;
  if ((wanted & gpucoord::VIRIAL) && (!needs_atoms || update->vflag_global == update->ntimestep)) {
    pressure->compute_vector();
    const double volume =
        domain->xprd * domain->yprd * (domain->dimension == 3 ? domain->zprd : 1.0);
    for (int k = 0; k < 6; ++k) virial[k] = pressure->vector[k] * volume / force->nktv2p;
  }
  if (wanted & gpucoord::DERIVATIVES) need_forces();
  const double sum = known_value + virial[0] + virial[1] + virial[2];
  if (!std::isfinite(sum))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: the energy or the virial of the force field is not a finite number - the "
               "simulation is unstable, or atoms overlap",
               name);
  state = State::HOST;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordEnergy::add_forces(const gpucoord::ItemFactors &factors)
{
  gpucoord::ItemFactors minus = factors;
  minus.host = -factors.host;
  add_gradients(minus, atom->f, 0);
}

void ComputeCoordEnergy::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                       int first_column) const
{
  const double factor = factors.host_factor();
  for (int i = 0; i < atom->nlocal; ++i)
    for (int k = 0; k < 3; ++k) array[i][first_column + k] -= factor * forces[3 * i + k];
}

void ComputeCoordEnergy::add_virial(const gpucoord::ItemFactors &factors, double *its_virial) const
{
  for (int k = 0; k < 6; ++k) its_virial[k] += factors.host_factor() * virial[k];
}

// Collective.
void ComputeCoordEnergy::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  for (const Compute *other : modify->get_compute_list())
    if (other->pressatomflag & 2)
      error->all(
          FLERR, Error::NOLASTLINE,
          "{}: compute {} of style {} needs the centroid stress of a bias on the energy, which "
          "is unknown - use compute stress/atom",
          name, other->id, other->style);
  stress->compute_peratom();
  const double factor = factors.host_factor() / force->nktv2p;
  for (int i = 0; i < atom->nlocal; ++i)
    for (int k = 0; k < 6; ++k) vatom[i][k] -= factor * stress->array_atom[i][k];
}

double ComputeCoordEnergy::memory_usage()
{
  return CoordVariable::memory_usage() + stress->memory_usage() +
      static_cast<double>(gpucoord::bytes_of(forces));
}
