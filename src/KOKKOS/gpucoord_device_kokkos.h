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
#include "gpucoord/side_stream.h"
#include "pointers.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace LAMMPS_NS {

// Returns whether styles of this device type can keep atoms on a GPU that lib/gpucoord uses.
template <class DeviceType> constexpr bool coord_is_cuda()
{
#if defined(KOKKOS_ENABLE_CUDA)
  return std::is_same_v<DeviceType, Kokkos::Cuda>;
#else
  return false;
#endif
}

// Returns the end of the data path in the setup line of styles that compute on the host's atoms.
inline const char *coord_host_path()
{
  return coord_is_cuda<LMPDeviceType>() ? ", copied through the host" : "";
}

// Data that the styles of one LAMMPS instance share on its GPU: views of the atoms, and pairs of
// atoms.

class KokkosDevice : protected Pointers {
 public:
  // Returns the shared object of this LAMMPS instance.
  static std::shared_ptr<KokkosDevice> get(LAMMPS *);
  explicit KokkosDevice(LAMMPS *lmp) : Pointers(lmp) {}
  ~KokkosDevice();
  KokkosDevice(const KokkosDevice &) = delete;
  KokkosDevice &operator=(const KokkosDevice &) = delete;

  gpucoord::DeviceStream stream() const;
  gpucoord::DeviceAtoms atoms(bool with_mask, bool with_type) const;    // syncs atoms to the GPU
  // Syncs what variables of members read to the GPU. Masses by type change only between runs.
  gpucoord::DeviceMembers members(bool with_groups, bool with_masses, bool with_ids) const;
  void sync_masses_by_type() const;
  gpucoord::DeviceForces begin_forces() const;    // syncs forces to the GPU
  void end_forces() const;                        // marks forces as modified on the GPU

  // Returns a text about how LAMMPS updates ghost atoms, for a style's data path. Empty on one
  // rank.
  std::string ghosts_path() const;

  // The following functions are for atom_style ellipsoid, without superellipsoids, which KOKKOS
  // does not support.
  bool has_bodies() const;
  gpucoord::DeviceBodies bodies() const;
  gpucoord::DeviceForces begin_torques() const;
  void end_torques() const;
  gpucoord::DeviceForces begin_angular_momenta() const;
  void end_angular_momenta() const;

  // Returns the pairs of two groups within dmax. Styles with equal requests share one object.
  std::shared_ptr<gpucoord::ResidentPairs> pairs(const gpucoord::SwitchTable &, gpucoord::Precision,
                                                 int bit_a, int bit_b);

  // Returns the version of the atoms' order and neighbor lists. It changes when LAMMPS rebuilds its
  // neighbor lists or a run begins.
  std::int64_t version();
  void begin_run();

  // On one rank, variables of owned positions can be evaluated beside the other forces of a
  // timestep, if nothing changes the positions then. post_integrate() calls the first function. May
  // throw DeviceError, as the others do.
  void positions_are_known();
  bool can_be_beside() const;    // in this force evaluation
  gpucoord::DeviceStream begin_beside();
  void join_beside();

  // range: the owner's name for the range of its pairs, such as 'dmax'
  void warn_of_moved_atoms(const std::string &owner, const char *range) const;

  // Returns the version of the positions in this force evaluation.
  std::int64_t positions() const { return npositions; }
  void positions_change() { ++npositions; }

 private:
  std::map<std::tuple<int, int, double, bool>, std::weak_ptr<gpucoord::ResidentPairs>> known_pairs;
  std::tuple<std::int64_t, bigint, bigint, int, int> last;
  std::int64_t nruns = 0, nversions = 0, npositions = 1;
  std::unique_ptr<gpucoord::SideStream> side;
  gpucoord::DeviceStream beside = nullptr;    // stream of 'side'
  bool may_be_beside = false;                 // in this run
  bigint known_step = -1, begun_step = -1;    // of the last calls of these functions
  bool is_joined = true;                      // stream() waits for all work beside it
};

}    // namespace LAMMPS_NS

#endif
