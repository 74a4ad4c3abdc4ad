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

#include "compute_coord_volume.h"

#include "atom.h"
#include "domain.h"
#include "error.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ----------------------------------------------------------------------
   compute ID all coord/volume
------------------------------------------------------------------------- */

ComputeCoordVolume::ComputeCoordVolume(LAMMPS *lmp, int narg, char **arg) :
    CoordVariable(lmp, narg, arg)
{
  if (igroup != 0)
    error->all(FLERR, 1, "Compute coord/volume group must be all, not {} - use group all", arg[1]);
  if (narg > 3)
    error->all(FLERR, 3, "Compute coord/volume: unknown keyword {} - there are none", arg[3]);
  set_outputs(6, 3);
  kokkosable = lmp->kokkos ? 1 : 0;
  datamask_read = datamask_modify = 0;    // it uses no atom data
}

void ComputeCoordVolume::init()
{
  if (domain->nonperiodic)
    error->all(
        FLERR, Error::NOLASTLINE,
        "{}: the box must be periodic in all directions, because at other boundaries a change "
        "of the volume is no strain - use boundary p p p",
        name);
  CoordVariable::init();
}

void ComputeCoordVolume::finish(const double * /*sums*/)
{
  known_value = domain->xprd * domain->yprd * (domain->dimension == 3 ? domain->zprd : 1.0);
  state = State::HOST;
}

// dV/d(strain) is V in the directions of the box.
void ComputeCoordVolume::add_virial(const gpucoord::ItemFactors &factors, double *virial) const
{
  for (int k = 0; k < domain->dimension; ++k) virial[k] -= factors.host_factor() * known_value;
}

// All atoms have the same part.
void ComputeCoordVolume::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  gpucoord::ItemFactors part = factors;
  part.host /= static_cast<double>(atom->natoms);
  for (int i = 0; i < atom->nlocal; ++i) add_virial(part, vatom[i]);
}
