/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "coord_device_kokkos.h"

#include "atom_kokkos.h"
#include "atom_masks.h"
#include "error.h"
#include "neighbor.h"

using namespace LAMMPS_NS;

// one a LAMMPS, for as long as a style uses it
static std::map<LAMMPS *, std::weak_ptr<CoordDevice>> &all_devices()
{
  static std::map<LAMMPS *, std::weak_ptr<CoordDevice>> devices;
  return devices;
}

std::shared_ptr<CoordDevice> CoordDevice::of(LAMMPS *lmp)
{
  auto &known = all_devices()[lmp];
  auto device = known.lock();
  if (!device) known = device = std::make_shared<CoordDevice>(lmp);
  return device;
}

CoordDevice::~CoordDevice()
{
  all_devices().erase(lmp);
}

gpucoord::DeviceStream CoordDevice::stream() const
{
#if defined(KOKKOS_ENABLE_CUDA)
  return Kokkos::Cuda().cuda_stream();
#else
  return nullptr;
#endif
}

gpucoord::DeviceAtoms CoordDevice::atoms(bool with_mask, bool with_type) const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, X_MASK | (with_mask ? MASK_MASK : EMPTY_MASK) | (with_type ? TYPE_MASK : EMPTY_MASK));
  gpucoord::DeviceAtoms atoms;
  atoms.x = atomKK->k_x.view<LMPDeviceType>().data();
  atoms.x_is_float = std::is_same_v<KK_FLOAT, float>;
  if (with_mask) atoms.mask = atomKK->k_mask.view<LMPDeviceType>().data();
  if (with_type) atoms.type = atomKK->k_type.view<LMPDeviceType>().data();
  atoms.nlocal = atom->nlocal;
  atoms.nall = atom->nlocal + atom->nghost;
  return atoms;
}

gpucoord::DeviceForces CoordDevice::begin_forces() const
{
  auto *const atomKK = dynamic_cast<AtomKokkos *>(atom);
  atomKK->sync(Device, F_MASK);
  const auto f = atomKK->k_f.view<LMPDeviceType>();
  gpucoord::DeviceForces forces;
  forces.f = f.data();
  forces.is_float = std::is_same_v<KK_ACC_FLOAT, float>;
  forces.atom_stride = static_cast<std::int64_t>(f.stride(0));
  forces.axis_stride = static_cast<std::int64_t>(f.stride(1));
  return forces;
}

void CoordDevice::end_forces() const
{
  dynamic_cast<AtomKokkos *>(atom)->modified(Device, F_MASK);
}

std::shared_ptr<gpucoord::DevicePairs> CoordDevice::pairs(const gpucoord::SwitchTable &table,
                                                          gpucoord::Precision precision, int bit_a, int bit_b)
{
  auto &known = known_pairs[{bit_a, bit_b, table.dmax(), precision == gpucoord::Precision::DOUBLE}];
  auto pairs = known.lock();
  if (!pairs) known = pairs = gpucoord::make_device_pairs(table, precision, nullptr);
  return pairs;
}

std::int64_t CoordDevice::version()
{
  const auto now = std::make_tuple(nruns, neighbor->ncalls, neighbor->lastcall, atom->nlocal, atom->nghost);
  if (now != last) ++nversions;
  last = now;
  return nversions;
}

void CoordDevice::warn_of_moved_atoms(const std::string &owner) const
{
  error->warning(FLERR,
                 "{}: an atom moved by more than half the skin of {:.6g} between two builds of neighbor lists, so pairs "
                 "near dmax may be missing - use neigh_modify check yes with every 1 and delay 0, or a larger skin",
                 owner, neighbor->skin);
}
