// Part of GPUCOORD, GPL-2.0. Interface of collective variables whose atoms are resident on a GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_VARIABLE_H
#define GPUCOORD_VARIABLE_H

#include "gpucoord/box.h"
#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/member_variable.h"
#include "gpucoord/pairs.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

// Outputs of an evaluation, and the positions that it reads.
struct Request {
  unsigned want = VALUE;    // see Want in pairs.h
  // Only add_forces() uses the derivatives. They may then be stored in float if pair terms are
  // float.
  bool for_forces_only = false;
  // Identifies the positions. Variables that share pairs read positions with the same number only
  // once. 0: always read.
  std::int64_t positions = 0;
};

// The contribution of one rank to the values S_k. The whole system follows from sums over ranks.
class GPUCOORD_API ResidentVariable {
 public:
  virtual ~ResidentVariable() = default;

  // The values of the last enqueued evaluation.
  virtual DeviceValue device_value() const = 0;
  // Enqueues the copy of result() to the host. result() then does not wait for later work of the
  // stream. Throws DeviceError.
  virtual void enqueue_result(DeviceStream) = 0;
  // Enqueues f -= the sum of factor dS_k/dx for the owned atoms, after an evaluation with
  // DERIVATIVES. A value whose factor is 0 is left out.
  virtual void add_forces(const DeviceForces &, const ItemFactors &, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

// A variable of pairs, with one value. S and W of the whole system are sums over ranks.
class GPUCOORD_API ResidentPairVariable : public ResidentVariable {
 public:
  // Finds the pairs. Must be called before the first evaluation, and whenever atoms have been
  // renumbered or may have moved by half the skin. version: variables that share pairs find the
  // pairs of one version only once; 0: always. Waits. Throws DeviceError and std::bad_alloc; throws
  // std::invalid_argument if it does not support DeviceSelection::neighbors.
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version,
                       DeviceStream) = 0;
  // Return the number of owned atoms of group a and b at the last rebuild.
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Waits for the last evaluation. Errors are cleared after being reported. Throws DeviceError.
  virtual Totals result(DeviceStream) = 0;
  // Clears the errors of an earlier run.
  virtual void discard_errors(DeviceStream) = 0;
  // Waits, and adds the per-atom output of the last evaluation to peratom,
  // [nlocal][peratom_columns(want)] on the host. That evaluation must not be for_forces_only.
  virtual void peratom(double *peratom, DeviceStream) = 0;
};

// The points of a MemberVariable on one rank. A point is an atom, or a group, whose owned atoms are
// its members.
struct PointSelection {
  static constexpr int NOT_HERE = -1;

  std::vector<int> row;    // [points] of an atom, in the caller's arrays; NOT_HERE: of another rank
  std::vector<int> bit;    // [points] group bit; 0: an atom
  std::vector<char> by_mass;    // [points] whether the members of a group weigh their masses, or 1
  std::vector<double> reference;    // [points][3] see MemberVariable
};

// What a MemberVariable reads of the atoms of one rank, in device memory.
struct DeviceMembers {
  DeviceAtoms atoms;    // mask: for groups; type: for masses by type
  ImageFlags image;
  const void *mass = nullptr;    // [nlocal], or if masses are by type [types + 1]
  bool mass_is_float = false, mass_is_by_type = false;
  // [nlocal] atom IDs, for variables whose members have reference positions
  const void *id = nullptr;
  bool id_is_64_bit = false;
};

// A MemberVariable whose atoms are resident on a GPU. On one rank, evaluate() does all. On several
// ranks, sum() and result() give the sums of this rank, and evaluate_at() takes those of all ranks.
// All functions throw DeviceError.
class GPUCOORD_API ResidentMembers : public ResidentVariable {
 public:
  // Selects the points. Must be called before the first evaluation, and whenever atoms have been
  // renumbered or the selection has changed. Each evaluation finds the members of groups by their
  // bits. An equal selection copies nothing. Does not wait for the stream.
  virtual void select(const PointSelection &, DeviceStream) = 0;

  // Enqueues the values and dS_k/dx, if this rank has all atoms. A value is NaN if it or a
  // derivative is not finite, if an atom is not here, if a group has no weight, or if an image flag
  // that is used has reached its limit.
  virtual void evaluate(const GeometryBox &, const DeviceMembers &, DeviceStream) = 0;

  // Enqueues the sums of this rank. enqueue_result() enqueues their copy.
  virtual void sum(const GeometryBox &, const DeviceMembers &, DeviceStream) = 0;
  // Waits for the copy. Returns the sums, as MemberVariable has them.
  virtual const double *result() = 0;
  // Enqueues the values and dS_k/dx at the sums over all ranks, which are read before the function
  // returns. The atoms are those of the last sum().
  virtual void evaluate_at(const GeometryBox &, const double *sums, DeviceStream) = 0;
  // If MemberVariable::nsums_again() asks for more sums after evaluate_at(): waits and returns
  // those of this rank. evaluate_again() then takes those over all ranks, which are read before it
  // returns.
  virtual const double *sum_again(DeviceStream) { return nullptr; }
  virtual void evaluate_again(const double * /*sums*/, DeviceStream) {}

  // Returns whether a finished evaluation has had an item that is singular, or one whose nearest
  // image may jump. Does not wait.
  virtual bool was_singular() const = 0;
  virtual bool was_far() const = 0;
  // Waits. Returns what was unusual in the evaluations since the last call: nsingular is their sum.
  virtual GeometryFlags take_flags(DeviceStream) = 0;
};

}    // namespace gpucoord

#endif
