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

#include "pair_multisite_kokkos.h"

#include "gpucoord_backend.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "comm.h"
#include "error.h"

#include <new>
#include <vector>

using namespace LAMMPS_NS;
using gpucoord::MultisiteSums;
using gpucoord::MultisiteWant;

/* ---------------------------------------------------------------------- */

template <class DeviceType>
PairMultisiteKokkos<DeviceType>::PairMultisiteKokkos(LAMMPS *lmp) : PairMultisite(lmp)
{
  kokkosable = 1;
  atomKK = dynamic_cast<AtomKokkos *>(atom);
  if (coord_is_cuda<DeviceType>()) device = KokkosDevice::get(lmp);
  execution_space = Host;
  datamask_read = ALL_MASK;
  datamask_modify = F_MASK | TORQUE_MASK;
}

template <class DeviceType> bool PairMultisiteKokkos<DeviceType>::is_on_gpu() const
{
  return coord_is_cuda<DeviceType>() && backend && backend->is_cuda() && device->has_bodies();
}

template <class DeviceType> std::string PairMultisiteKokkos<DeviceType>::data_path() const
{
  if (is_on_gpu())
    return "molecules, forces and torques resident on the GPU" + device->ghosts_path();
  return PairMultisite::data_path() + coord_host_path();
}

template <class DeviceType> void PairMultisiteKokkos<DeviceType>::init_style()
{
  PairMultisite::init_style();
  if (device) device->begin_run();
  on_device.reset();
  version = -1;
  const bool on_gpu = is_on_gpu();
  execution_space = on_gpu ? Device : Host;
  datamask_read = on_gpu ? X_MASK | F_MASK | TORQUE_MASK | TYPE_MASK | ELLIPSOID_MASK | BONUS_MASK
                         : ALL_MASK;
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> void PairMultisiteKokkos<DeviceType>::compute(int eflag, int vflag)
{
  if (!is_on_gpu()) {
    PairMultisite::compute(eflag, vflag);
    return;
  }
  ev_init(eflag, vflag);
  begin_evaluation();
  try {
    compute_on_gpu();
  } catch (const gpucoord::DeviceError &e) {
    on_device.reset();
    backend->reset();    // the next run makes a new backend
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: rank {} failed with {} owned and {} ghost atoms: {} - use device "
               "host, more GPUs or fewer "
               "ranks per GPU",
               comm->me, atom->nlocal, atom->nghost, e.what());
  } catch (const std::bad_alloc &) {
    error->one(FLERR, Error::NOLASTLINE,
               "Pair multisite: out of memory on rank {} with {} owned and {} ghost atoms - use "
               "more ranks or a smaller cutoff",
               comm->me, atom->nlocal, atom->nghost);
  }
}

template <class DeviceType> void PairMultisiteKokkos<DeviceType>::compute_on_gpu()
{
  const auto stream = device->stream();
  if (!on_device) {
    on_device = gpucoord::make_resident_multisite(*the_model, component_of, given.precision);
    version = -1;
  }
  const auto atoms = device->atoms(false, true);
  const auto bodies = device->bodies();
  if (version != device->version()) {
    const auto errors = on_device->rebuild(atoms, stream);
    version = device->version();
    if (errors.types_changed) refuse_new_types();
    if (errors.bad_atom >= 0) refuse_earlier_molecule();    // atoms have been reordered
  }
  const MultisiteWant want = eflag_either || vflag_either ? MultisiteWant::ALL
                                                          : MultisiteWant::FORCES;
  on_device->evaluate(atoms, bodies, want, device->begin_forces(), device->begin_torques(), stream);
  device->end_forces();
  device->end_torques();
  if (is_check_due()) check_on_gpu(want, atoms, bodies);
  if (!evflag) return;

  const MultisiteSums sums = result();
  if (eflag_atom || vflag_atom)
    on_device->add_to(
        {nullptr, nullptr, eflag_atom ? eatom : nullptr, vflag_atom ? &vatom[0][0] : nullptr},
        stream);
  if (eflag_either && has_self_energy()) atomKK->sync(Host, TYPE_MASK);
  tally(sums);
}

template <class DeviceType> MultisiteSums PairMultisiteKokkos<DeviceType>::result()
{
  const auto found = on_device->result(device->stream());
  if (found.types_changed) refuse_new_types();
  if (found.bad_atom >= 0) {
    atomKK->sync(Host, X_MASK | TYPE_MASK | TAG_MASK | ELLIPSOID_MASK | BONUS_MASK);
    gather();    // raises an error if a molecule is still invalid
    refuse_earlier_molecule();
  }
  return found.sums;
}

template <class DeviceType> void PairMultisiteKokkos<DeviceType>::refuse_earlier_molecule() const
{
  error->one(FLERR, Error::NOLASTLINE,
             "Pair multisite: at a step since the last output or build of neighbor lists, a "
             "molecule of rank {} had no ellipsoid, a position that was not a finite number or a "
             "quaternion whose length was not 1 - the simulation is unstable",
             comm->me);
}

template <class DeviceType> void PairMultisiteKokkos<DeviceType>::refuse_new_types() const
{
  error->one(FLERR, Error::NOLASTLINE,
             "Pair multisite: on rank {} the type of a molecule has changed since LAMMPS made its "
             "neighbor lists, when it was read "
             "on the GPU - use device host",
             comm->me);
}

/* ----------------------------------------------------------------------
   Checks forces and torques of the last evaluation before they are added. If this evaluation
   computed no energy and virial, they come from another one.
------------------------------------------------------------------------- */

template <class DeviceType>
void PairMultisiteKokkos<DeviceType>::check_on_gpu(MultisiteWant want,
                                                   const gpucoord::DeviceAtoms &atoms,
                                                   const gpucoord::DeviceBodies &bodies)
{
  const auto stream = device->stream();
  atomKK->sync(Host, X_MASK | TYPE_MASK | TAG_MASK | ELLIPSOID_MASK | BONUS_MASK);
  const gpucoord::Molecules in = gather();
  std::vector<double> atom_sums(6 * static_cast<std::size_t>(atom->nlocal), 0.0),
      molecule_sums(6 * static_cast<std::size_t>(in.nlocal));
  on_device->add_to({atom_sums.data(),
                     atom_sums.data() + 3 * static_cast<std::size_t>(atom->nlocal), nullptr,
                     nullptr},
                    stream);
  double *const force = molecule_sums.data(),
                *const torque = force + 3 * static_cast<std::size_t>(in.nlocal);
  for (int k = 0; k < in.nlocal; ++k)
    for (int c = 0; c < 3; ++c) {
      force[3 * k + c] = atom_sums[3 * row(k) + c];
      torque[3 * k + c] = atom_sums[3 * (static_cast<std::size_t>(atom->nlocal) + row(k)) + c];
    }
  if (want == MultisiteWant::FORCES) on_device->evaluate(atoms, bodies, MultisiteWant::ALL, stream);
  check(in, result(), {force, torque, nullptr, nullptr});
}

/* ---------------------------------------------------------------------- */

template <class DeviceType> double PairMultisiteKokkos<DeviceType>::memory_usage()
{
  return PairMultisite::memory_usage() +
      (on_device ? static_cast<double>(on_device->bytes()) : 0.0);
}

namespace LAMMPS_NS {
template class PairMultisiteKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class PairMultisiteKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
