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

#include "bias_plumed_atoms_kokkos.h"

#include "gpucoord_device_kokkos.h"

#include "comm.h"
#include "error.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

PlumedAtomsKokkos::PlumedAtomsKokkos(LAMMPS *lmp, const std::string &owner) :
    PlumedAtoms(lmp, owner), device(KokkosDevice::get(lmp)), version(0)
{
}

void PlumedAtomsKokkos::fail(const char *what) const
{
  error->one(FLERR, Error::NOLASTLINE, "{}: rank {} failed: {} - use suffix off for this fix",
             owner, comm->me, what);
}

void PlumedAtomsKokkos::begin_run()
{
  device->begin_run();
  version = 0;
}

// The list of all atoms, which PLUMED requests once, is gathered by the host.
void PlumedAtomsKokkos::start()
{
  if (!has_request() || has_all) return;
  try {
    if (!resident) resident = gpucoord::make_resident_atoms();
    const std::int64_t now = device->version();
    if (now != version || selected != requested) {
      selected = requested;
      index = find();
      resident->select(index, device->stream());
      version = now;
    }
    resident->enqueue_positions(device->atoms(false, false), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    fail(e.what());
  }
}

void PlumedAtomsKokkos::own_positions(double *rows)
{
  if (has_all) {
    PlumedAtoms::own_positions(rows);
    return;
  }
  try {
    const double *const x = resident->positions();
    for (std::size_t k = 0; k < index.size(); ++k) {
      std::copy_n(x + 3 * k, 3, rows + COLUMNS * k);
      rows[COLUMNS * k + 3] = index[k] == NOT_HERE ? 0.0 : 1.0;
    }
  } catch (const gpucoord::DeviceError &e) {
    fail(e.what());
  }
}

void PlumedAtomsKokkos::add_forces(const std::vector<int> &ids, const std::vector<double> &force)
{
  if (version == 0 || version != device->version() || ids != selected) {
    PlumedAtoms::add_forces(ids, force);
    return;
  }
  try {
    resident->add_forces(device->begin_forces(), force.data(), device->stream());
  } catch (const gpucoord::DeviceError &e) {
    fail(e.what());
  }
  device->end_forces();
}

double PlumedAtomsKokkos::memory_usage() const
{
  return PlumedAtoms::memory_usage() +
      static_cast<double>((selected.size() + index.size()) * sizeof(int)) +
      (resident ? static_cast<double>(resident->bytes()) : 0.0);
}

double PlumedAtomsKokkos::bytes_copied() const
{
  return resident ? static_cast<double>(resident->bytes_copied()) : 0.0;
}
