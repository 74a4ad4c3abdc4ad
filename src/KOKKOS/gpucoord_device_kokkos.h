/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_DEVICE_KOKKOS_H
#define LMP_GPUCOORD_DEVICE_KOKKOS_H

#include "kokkos_type.h"

#include "gpucoord/resident_coordination.h"
#include "gpucoord/resident_multisite.h"
#include "pointers.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace LAMMPS_NS {

// Whether styles of this device type can leave atoms on a GPU that lib/gpucoord computes on.
template <class DeviceType> constexpr bool coord_is_cuda()
{
#if defined(KOKKOS_ENABLE_CUDA)
  return std::is_same_v<DeviceType, Kokkos::Cuda>;
#else
  return false;
#endif
}

// What the styles of one LAMMPS share on its GPU: views of the atoms, and pairs of atoms.

class KokkosDevice : protected Pointers {
 public:
  // the one of this LAMMPS
  static std::shared_ptr<KokkosDevice> of(LAMMPS *);
  explicit KokkosDevice(LAMMPS *lmp) : Pointers(lmp) {}
  ~KokkosDevice();
  KokkosDevice(const KokkosDevice &) = delete;
  KokkosDevice &operator=(const KokkosDevice &) = delete;

  gpucoord::DeviceStream stream() const;
  gpucoord::DeviceAtoms atoms(bool with_mask, bool with_type) const;    // brings them to the GPU
  gpucoord::DeviceForces begin_forces() const;                          // brings them to the GPU
  void end_forces() const;    // they have been changed there

  // how LAMMPS renews ghost atoms, to be added to what a style says of its data; empty on one rank
  std::string ghosts_path() const;

  // The same of atom_style ellipsoid, but not of its kind superellipsoid, of which KOKKOS has none.
  bool has_bodies() const;
  gpucoord::DeviceBodies bodies() const;
  gpucoord::DeviceForces begin_torques() const;
  void end_torques() const;
  gpucoord::DeviceForces begin_angular_momenta() const;
  void end_angular_momenta() const;

  // pairs of two groups within dmax, shared with all that ask for the same
  std::shared_ptr<gpucoord::ResidentPairs> pairs(const gpucoord::SwitchTable &, gpucoord::Precision,
                                                 int bit_a, int bit_b);

  // a number of the present state of atoms' order and neighborhoods: another one where LAMMPS has made its neighbor
  // lists anew, or a run has begun
  std::int64_t version();
  void begin_run() { ++nruns; }

  void warn_of_moved_atoms(const std::string &owner) const;

  // a number of the positions of this force evaluation
  std::int64_t positions() const { return npositions; }
  void positions_change() { ++npositions; }

 private:
  std::map<std::tuple<int, int, double, bool>, std::weak_ptr<gpucoord::ResidentPairs>> known_pairs;
  std::tuple<std::int64_t, bigint, bigint, int, int> last;
  std::int64_t nruns = 0, nversions = 0, npositions = 1;
};

}    // namespace LAMMPS_NS

#endif
