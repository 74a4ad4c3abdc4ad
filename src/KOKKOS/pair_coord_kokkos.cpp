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

#include "pair_coord_kokkos.h"

#include "gpucoord_backend.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"
#include "neighbor.h"

using namespace LAMMPS_NS;
using gpucoord::ATOM_VIRIAL;
using gpucoord::DERIVATIVES;
using gpucoord::VIRIAL;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
PairCoordKokkos<DeviceType>::PairCoordKokkos(LAMMPS *lmp) :
    PairCoord(lmp), warned_moved(false), table_number(0)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  if (coord_is_cuda<DeviceType>()) device = KokkosDevice::get(lmp);
  execution_space = Host;
  datamask_read = ALL_MASK;
  datamask_modify = F_MASK;
}

template <class DeviceType> bool PairCoordKokkos<DeviceType>::is_on_gpu() const
{
  return coord_is_cuda<DeviceType>() && by_cells && levels[WHOLE].backend->is_cuda();
}

template <class DeviceType> std::string PairCoordKokkos<DeviceType>::data_path() const
{
  if (is_on_gpu()) return "atoms and forces resident on the GPU";
  return PairCoord::data_path() + coord_host_path();
}

template <class DeviceType> void PairCoordKokkos<DeviceType>::init_style()
{
  PairCoord::init_style();
  if (device) device->begin_run();
  on_device.reset();    // also discards the errors of an earlier run
  warned_moved = false;
  execution_space = is_on_gpu() ? Device : Host;
  datamask_read = is_on_gpu() ? X_MASK | F_MASK | TYPE_MASK : ALL_MASK;
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void PairCoordKokkos<DeviceType>::compute(int eflag, int vflag)
{
  if (!is_on_gpu()) {
    PairCoord::compute(eflag, vflag);
    return;
  }
  ev_init(eflag, vflag);
  if (changed) make_table();
  try {
    compute_on_gpu();
  } catch (const gpucoord::DeviceError &e) {
    on_device.reset();
    levels[WHOLE].backend->reset();    // the next run makes a new backend
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: rank {} failed with {} owned and {} ghost atoms: {} - use device host, "
               "more GPUs or fewer "
               "ranks per GPU",
               comm->me, atom->nlocal, atom->nghost, e.what());
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: out of memory on rank {} with {} owned and {} ghost atoms - use more "
               "ranks or a smaller dmax",
               comm->me, atom->nlocal, atom->nghost);
  }
}

template <class DeviceType> void PairCoordKokkos<DeviceType>::compute_on_gpu()
{
  if (!on_device || table_number != ntables) {
    on_device = gpucoord::make_resident_pair_pass(
        *table, precision, gpucoord::make_resident_pairs(*table, precision, weight.data()));
    table_number = ntables;
  }
  const auto stream = device->stream();
  const auto atoms = device->atoms(false, true);
  gpucoord::DeviceSelection selection;
  selection.skin = neighbor->skin;
  selection.tests_ghosts = false;    // LAMMPS rebuilds its lists in time if the box changes
  on_device->rebuild(atoms, selection, device->version(), stream);

  unsigned want = DERIVATIVES;
  if (vflag_either) want |= VIRIAL;
  if (vflag_atom || eflag_atom) want |= VIRIAL | ATOM_VIRIAL;
  on_device->add_forces_and_tally(atoms, want, device->begin_forces(), stream);
  device->end_forces();
  if (!evflag) return;

  const auto result = on_device->result(stream);
  if (result.bad_atom >= 0) {
    atomKK->sync(Host, X_MASK | TAG_MASK);
    check_positions();
  }
  if (result.moved && !warned_moved) {
    warned_moved = true;
    device->warn_of_moved_atoms("Pair coord", "dmax");
  }
  if (!std::isfinite(result.value))
    error->one(FLERR, Error::NOLASTLINE,
               "Pair coord: the energy on rank {} is not a finite number - use finite functions or "
               "a smaller epsilon",
               comm->me);
  if (want & ATOM_VIRIAL) {
    sums.assign(static_cast<std::size_t>(gpucoord::peratom_columns(want)) * atom->nlocal, 0.0);
    on_device->peratom(sums.data(), stream);
  }
  gpucoord::Contribution mine;
  mine.value = result.value;
  std::copy_n(result.virial, 6, mine.virial);
  tally(want, mine);
}

template <class DeviceType> double PairCoordKokkos<DeviceType>::memory_usage()
{
  return PairCoord::memory_usage() + (on_device ? static_cast<double>(on_device->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class PairCoordKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class PairCoordKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
