// Part of GPUCOORD, GPL-2.0. Variables of atoms and of centers of groups that are resident on a GPU.

#ifndef GPUCOORD_RESIDENT_MEMBERS_H
#define GPUCOORD_RESIDENT_MEMBERS_H

#include "gpucoord/export.h"
#include "gpucoord/geometry.h"
#include "gpucoord/types.h"
#include "gpucoord/variable.h"

#include <vector>

namespace gpucoord {

// The points of a variable. A point is an atom, or a group, whose owned atoms are its members. Rows
// are those of the caller's arrays.
struct PointSelection {
  static constexpr int NOT_HERE = -1;

  // [points] row of an atom; NOT_HERE for an atom of another rank. Not used for a group.
  std::vector<int> row;
  std::vector<int> bit;    // [points] group bit; 0: an atom
  // [points] row of the reference, to which members of a group are the nearest images; only for
  // Unwrap::NEAREST on one rank, otherwise empty
  std::vector<int> reference;
};

// What points need of the atoms of one rank, in device memory.
struct DeviceMembers {
  DeviceAtoms atoms;    // mask: for groups; type: for masses by type
  ImageFlags image;
  // Weights of members of groups, [nlocal] or, if they are by type, [types + 1]; null: 1
  const void *mass = nullptr;
  bool mass_is_float = false, mass_is_by_type = false;
};

// A variable of points. Sums over their members give its values. On one rank, evaluate() does all.
// On several ranks, the caller adds the sums. All functions throw DeviceError.
class GPUCOORD_API ResidentMembers : public ResidentVariable {
 public:
  // Selects the points. Must be called before the first evaluation, and whenever atoms have been
  // renumbered or groups have changed. Groups are found by their bits in each evaluation. An equal
  // selection copies nothing. Does not wait for the stream.
  virtual void select(const PointSelection &, DeviceStream) = 0;

  // Enqueues the values and dS_k/dx, if this rank has all atoms. A value is NaN if it or a
  // derivative is not finite, if an atom is not here, or if a group has no weight.
  virtual void evaluate(const GeometryBox &, const DeviceMembers &, DeviceStream) = 0;

  // Enqueues the sums of this rank. reference: [points][3] on the host, the same on all ranks, which
  // is read before the function returns; null: see Geometry, or those of the selection
  virtual void sum(const GeometryBox &, const DeviceMembers &, const double *reference,
                   DeviceStream) = 0;
  // Waits for the copy of enqueue_result(). Returns the sums.
  virtual const double *result() = 0;
  // Enqueues the values and dS_k/dx at the sums over all ranks, which are read before the function
  // returns. The atoms and the reference are those of the last sum().
  virtual void evaluate_at(const GeometryBox &, const double *sums, DeviceStream) = 0;

  // Waits. Returns what was unusual in the evaluations since the last call: nsingular is their sum.
  virtual GeometryFlags take_flags(DeviceStream) = 0;
};

}    // namespace gpucoord

#endif
