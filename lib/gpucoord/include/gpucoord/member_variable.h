// Part of GPUCOORD, GPL-2.0. Interface of variables without pairs on the host: functions of sums
// over the members of points, which are atoms and groups of atoms.
//
// An evaluation has three steps. Each rank sums its members. The caller adds the sums of all ranks.
// Then all ranks evaluate all values, and each rank adds the derivatives to its members.

#ifndef GPUCOORD_MEMBER_VARIABLE_H
#define GPUCOORD_MEMBER_VARIABLE_H

#include "gpucoord/box.h"
#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/period.h"

#include <cstddef>
#include <cstdint>

namespace gpucoord {

// How members of a point are joined: by their image flags, or as the nearest images to the
// reference of the point.
enum class Unwrap { IMAGE, NEAREST };

// The box of an evaluation, the same on all ranks.
struct GeometryBox {
  Box box;
  double edges[3][3];    // edge vectors as rows, distance
  // Plane that a strain e in x_a' = x_a + e_ab x_b leaves in place, distance: fixed[a] if a = b,
  // fixed_in_shear[b] otherwise. Only virials of positions depend on it.
  double fixed[3] = {}, fixed_in_shear[3] = {};
};

// Image flags of atoms. An atom takes one integer with the flags of x, y and z in 'bits' bits each,
// x in the lowest ones. The number in the bits is the flag plus 2^(bits - 1).
struct ImageFlags {
  const void *packed = nullptr;    // [nlocal] of 32 bits if bits is 10, else of 64; null: flags 0
  int bits = 10;                   // 10 or 21
};

// An owned atom of a point.
struct GeometryMember {
  int row = 0;      // of the positions
  int point = 0;    // index
  double weight = 1.0;
  int reference = 0;    // index of its own reference position, if the variable has those
};

// Atoms of one rank.
struct GeometryAtoms {
  const double *x = nullptr;    // [nlocal][3] positions, distance
  ImageFlags image;
  const GeometryMember *member = nullptr;    // [n] in the order of sums
  std::size_t n = 0;
};

// Items of an evaluation whose derivatives are unusual.
struct GeometryFlags {
  std::int64_t nsingular = 0;    // number of items whose derivatives do not exist, and are set to 0
  int first_singular = -1;       // index of the first one; -1: none
  int first_far = -1;            // index of the first item whose nearest image may jump; -1: none
};

// All sums have a fixed order. Not thread-safe.
class GPUCOORD_API MemberVariable {
 public:
  virtual ~MemberVariable() = default;

  virtual int nvalues() const = 0;
  // Returns the period of value k.
  virtual Period period(int /*k*/) const { return {}; }

  // Step 1. Sets the sums of this rank, [nsums()]. They add up over ranks. reference: [npoints][3]
  // a position near each point, such as that of one member with its image flags, the same on all
  // ranks, distance. Null, only with Unwrap::IMAGE: 0.
  virtual int nsums() const = 0;
  virtual void sum(const GeometryBox &, const GeometryAtoms &, const double *reference,
                   double *sums) const = 0;

  // Step 2. Evaluates all values at the sums over ranks. Throws std::invalid_argument if a point
  // has no weight, which depends only on the sums.
  virtual GeometryFlags evaluate(const GeometryBox &, const double *sums,
                                 const double *reference) = 0;
  virtual double value(int k) const = 0;    // of the last evaluation

  // Returns how many more sums over members the last evaluation needs, which depends only on the
  // sums of all ranks. If > 0, add up the next sums, and evaluate again.
  virtual int nsums_again() const { return 0; }
  virtual void sum_again(const GeometryAtoms &, double * /*sums*/) const {}
  virtual GeometryFlags evaluate_again(const double * /*sums*/) { return {}; }

  // Step 3. Functions of the last evaluation and of the atoms that it had. The factors are those on
  // the host. A value whose factor is 0 is left out.

  // Adds the sum of factor dS_k/dx to the owned atoms. array: [nlocal][stride], of which the first
  // three columns change. For forces, pass the negative factors.
  virtual void add_gradients(const ItemFactors &, const GeometryAtoms &, double *array,
                             int stride) const = 0;
  // Adds the sum of factor W_k: xx yy zz xy xz yz. W is minus the derivative of S with respect to
  // the strain e in x_a' = x_a + e_ab x_b.
  virtual void add_virial(const ItemFactors &, double virial[6]) const = 0;
  // Adds the parts of the atoms, [nlocal][stride]. They add up to W over the atoms of all ranks.
  virtual void add_atom_virial(const ItemFactors &, const GeometryAtoms &, double *array,
                               int stride) const = 0;

  virtual std::size_t bytes() const = 0;
};

}    // namespace gpucoord

#endif
