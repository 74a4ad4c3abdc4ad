/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_GHOST_NUMBERS_H
#define LMP_COORD_GHOST_NUMBERS_H

#include "pointers.h"

#include "gpucoord/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpucoord {
class ResidentFunction;
class ResidentNumbers;
}    // namespace gpucoord

namespace LAMMPS_NS {

// Copies per-atom numbers of a compute from owned atoms to their ghosts, on the host and on a GPU.
// LAMMPS calls the pack and unpack functions of the compute, which call those of this class. With
// KOKKOS, LAMMPS decides whether it packs numbers in device memory there or on the host.

class GhostNumbers : protected Pointers {
 public:
  GhostNumbers(LAMMPS *, class Compute *);

  // Sets the largest number of columns, at least one. Call it before Comm allocates its buffers,
  // which it does after init() of computes.
  void set_columns(int);
  // Makes room for the numbers of the current atoms.
  void reserve();
  // Returns numbers that are 0, one column, for the caller to set.
  double *zeros();

  // Collective. Copies one column, the numbers that zeros() has returned.
  void forward() { forward_columns(1); }
  // Collective. Copies numbers of any array, [nlocal + nghost][columns].
  void forward(double *numbers, int columns);
  // Collective. For a rank that has no numbers: the others wait for it.
  void forward_zeros(int columns);
  // Collective. Copies numbers in device memory. Throws DeviceError after the communication.
  void forward(gpucoord::ResidentNumbers &, gpucoord::DeviceStream);

  // Collective if 'version' of the atoms differs from that of the last call. Return the owned atom
  // whose image each atom is, [nlocal + nghost], on the host or in device memory. Overwrite the
  // numbers, and in the second case the derivatives of the function.
  const int *owners(std::int64_t version);
  const int *owners(gpucoord::ResidentFunction &, std::int64_t version, gpucoord::DeviceStream);
  // The owners in device memory are lost.
  void forget_device_owners() { device_owners_version = 0; }

  int pack(int n, const int *atoms, double *buf);
  void unpack(int n, int first, const double *buf);
  // list and buf: in device memory
  int pack_on_device(int n, const int *list, double *buf);
  void unpack_on_device(int n, int first, const double *buf);

  double memory_usage() const;

 private:
  void forward_columns(int columns);
  void copy_to_host();

  class Compute *const compute;
  std::vector<double> numbers;    // [nmax][columns], at most compute->comm_forward columns
  int columns = 0;
  std::vector<int> owner_of_atom;
  std::int64_t owners_version = 0, device_owners_version = 0;    // 0: unknown

  // Location of the numbers for pack and unpack: in 'numbers', in device memory, or copied from
  // there to 'numbers'.
  enum class Location { HOST, DEVICE, COPIED } location = Location::HOST;
  gpucoord::ResidentNumbers *resident = nullptr;
  gpucoord::DeviceStream stream = nullptr;
  std::string failed;    // why this rank has sent wrong numbers; "": all are right
};

}    // namespace LAMMPS_NS

#endif
