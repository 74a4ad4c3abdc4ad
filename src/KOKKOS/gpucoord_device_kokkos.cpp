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

#include "gpucoord_device_kokkos.h"

#include "gpucoord_lammps_compat.h"
#include "gpucoord_one_per_lammps.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "atom_vec_ellipsoid_kokkos.h"
#include "comm.h"
#include "compute.h"
#include "domain.h"
#include "error.h"
#include "fix.h"
#include "force.h"
#include "kokkos.h"
#include "modify.h"
#include "neighbor.h"
#include "update.h"

#include "gpucoord/counters.h"

#include <cstddef>
#include <cstring>

using namespace LAMMPS_NS;

std::shared_ptr<KokkosDevice> KokkosDevice::get(LAMMPS *lmp)
{
  return OnePerLammps<KokkosDevice>::get(lmp);
}

KokkosDevice::~KokkosDevice()
{
  OnePerLammps<KokkosDevice>::remove(lmp);
}

gpucoord::DeviceStream KokkosDevice::stream() const
{
  GPUCOORD_COUNT_TIMESTEP(update->ntimestep);
#if defined(KOKKOS_ENABLE_CUDA)
  return Kokkos::Cuda().cuda_stream();
#else
  return nullptr;
#endif
}

gpucoord::DeviceAtoms KokkosDevice::atoms(bool with_mask, bool with_type) const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(
      Device, X_MASK | (with_mask ? MASK_MASK : EMPTY_MASK) | (with_type ? TYPE_MASK : EMPTY_MASK));
  gpucoord::DeviceAtoms atoms;
  atoms.x = atomKK->k_x.view<LMPDeviceType>().data();
  atoms.x_is_float = std::is_same_v<KK_FLOAT, float>;
  if (with_mask) atoms.mask = atomKK->k_mask.view<LMPDeviceType>().data();
  if (with_type) atoms.type = atomKK->k_type.view<LMPDeviceType>().data();
  atoms.nlocal = atom->nlocal;
  atoms.nall = atom->nlocal + atom->nghost;
  return atoms;
}

gpucoord::DeviceMembers KokkosDevice::members(bool with_groups, bool with_masses,
                                              bool with_ids) const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  gpucoord::DeviceMembers members;
  members.mass_is_float = std::is_same_v<KK_FLOAT, float>;
  members.mass_is_by_type = !atom->rmass;
  members.atoms = atoms(with_groups, with_masses && members.mass_is_by_type);
  const bool by_row = with_masses && !members.mass_is_by_type;
  atomKK->sync(
      Device, IMAGE_MASK | (by_row ? RMASS_MASK : EMPTY_MASK) | (with_ids ? TAG_MASK : EMPTY_MASK));
  members.image = {atomKK->k_image.view<LMPDeviceType>().data(), IMGBITS};
  if (with_ids) members.id = atomKK->k_tag.view<LMPDeviceType>().data();
  members.id_is_64_bit = sizeof(tagint) == 8;
  if (by_row)
    members.mass = atomKK->k_rmass.view<LMPDeviceType>().data();
  else if (with_masses)
    members.mass = atomKK->k_mass.view<LMPDeviceType>().data();
  return members;
}

// LAMMPS does not mark them as modified.
void KokkosDevice::sync_masses_by_type() const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  if (!atom->mass) return;
  atomKK->k_mass.modify_host();
  atomKK->k_mass.sync<LMPDeviceType>();
}

// Returns per-atom vectors, such as forces.
template <class View> static gpucoord::DeviceForces vectors_of(const View &view)
{
  gpucoord::DeviceForces vectors;
  vectors.f = view.data();
  vectors.is_float = std::is_same_v<typename View::value_type, float>;
  vectors.atom_stride = static_cast<std::int64_t>(view.stride(0));
  vectors.axis_stride = static_cast<std::int64_t>(view.stride(1));
  return vectors;
}

gpucoord::DeviceForces KokkosDevice::begin_forces() const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, F_MASK);
  return vectors_of(atomKK->k_f.view<LMPDeviceType>());
}

void KokkosDevice::end_forces() const
{
  dynamic_cast<AtomKokkos *>(atom)->modified(Device, F_MASK);
}

/* ---------------------------------------------------------------------- */

std::string KokkosDevice::ghosts_path() const
{
  const auto *const kokkos = lmp->kokkos;
  const bool through_host = !kokkos->gpu_aware_flag || kokkos->forward_comm_legacy ||
      kokkos->forward_comm_on_host;
  if (comm->nprocs == 1) return "";
  return through_host ? ", ghost atoms by LAMMPS through the host"
                      : ", ghost atoms by GPU-aware MPI";
}

/* ---------------------------------------------------------------------- */

static AtomVecEllipsoidKokkos *ellipsoids_of(Atom *atom)
{
  return dynamic_cast<AtomVecEllipsoidKokkos *>(atom->style_match("ellipsoid"));
}

bool KokkosDevice::has_bodies() const
{
  return ellipsoids_of(atom) && !LammpsCompat::has_superellipsoids(atom);
}

gpucoord::DeviceBodies KokkosDevice::bodies() const
{
  using Bonus = AtomVecEllipsoid::Bonus;
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, ELLIPSOID_MASK | BONUS_MASK);
  const auto *const first = ellipsoids_of(atom)->k_bonus.view_device().data();
  gpucoord::DeviceBodies bodies;
  bodies.body_of_atom = atomKK->k_ellipsoid.view<LMPDeviceType>().data();
  bodies.quaternion = reinterpret_cast<const char *>(first) + offsetof(Bonus, quat);
  bodies.stride = sizeof(Bonus);
  return bodies;
}

gpucoord::DeviceForces KokkosDevice::begin_torques() const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, TORQUE_MASK);
  return vectors_of(atomKK->k_torque.view<LMPDeviceType>());
}

void KokkosDevice::end_torques() const
{
  dynamic_cast<AtomKokkos *>(atom)->modified(Device, TORQUE_MASK);
}

gpucoord::DeviceForces KokkosDevice::begin_angular_momenta() const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, ANGMOM_MASK);
  return vectors_of(atomKK->k_angmom.view<LMPDeviceType>());
}

void KokkosDevice::end_angular_momenta() const
{
  dynamic_cast<AtomKokkos *>(atom)->modified(Device, ANGMOM_MASK);
}

std::shared_ptr<gpucoord::ResidentPairs> KokkosDevice::pairs(const gpucoord::SwitchTable &table,
                                                             gpucoord::Precision precision,
                                                             int bit_a, int bit_b)
{
  auto &known = known_pairs[{bit_a, bit_b, table.dmax(), precision == gpucoord::Precision::DOUBLE}];
  auto pairs = known.lock();
  if (!pairs) known = pairs = gpucoord::make_resident_pairs(table, precision, nullptr);
  return pairs;
}

// Other fixes may move atoms between post_integrate() and post_force(). In a triclinic box, kspace
// styles write fractional coordinates in place of the positions for a while, and so does compute
// temp/deform.
void KokkosDevice::begin_run()
{
  ++nruns;
  known_step = begun_step = -1;
  may_be_beside = comm->nprocs == 1 && strcmp(update->integrate_style, "verlet/kk") == 0;
  for (int i = 0; i < modify->nfix; ++i)
    if (modify->fmask[i] & (FixConst::POST_INTEGRATE | FixConst::PRE_FORCE) &&
        !utils::strmatch(modify->fix[i]->style, "^coord/"))
      may_be_beside = false;
  if (domain->triclinic && force->kspace) may_be_beside = false;
  for (const Compute *const compute : modify->get_compute_list())
    if (utils::strmatch(compute->style, "^temp/deform")) may_be_beside = false;
}

void KokkosDevice::positions_are_known()
{
  if (!may_be_beside || known_step == update->ntimestep) return;
  if (!side) side = gpucoord::make_side_stream();
  side->mark(stream());
  known_step = update->ntimestep;
}

bool KokkosDevice::can_be_beside() const
{
  return known_step == update->ntimestep && neighbor->ago > 0 && !update->setupflag;
}

gpucoord::DeviceStream KokkosDevice::begin_beside()
{
  if (begun_step != known_step) beside = side->begin();
  begun_step = known_step;
  is_joined = false;
  return beside;
}

void KokkosDevice::join_beside()
{
  if (!is_joined) side->join(stream());
  is_joined = true;
}

std::int64_t KokkosDevice::version()
{
  const auto now =
      std::make_tuple(nruns, neighbor->ncalls, neighbor->lastcall, atom->nlocal, atom->nghost);
  if (now != last) ++nversions;
  last = now;
  return nversions;
}

void KokkosDevice::warn_of_moved_atoms(const std::string &owner, const char *range) const
{
  error->warning(FLERR,
                 "{}: an atom moved by more than half the skin of {:.6g} between two builds of "
                 "neighbor lists, so pairs "
                 "near {} may be missing - use neigh_modify check yes with every 1 and delay 0, "
                 "or a larger skin",
                 owner, neighbor->skin, range);
}
