// Part of GPUCOORD, GPL-2.0. Distances, components, positions, angles and dihedrals of atoms and of
// centers of groups, with derivatives and virials, on the host.
//
// An evaluation has three steps. Each rank sums its atoms (sum_centers). The caller adds the sums
// of all ranks. Then all ranks evaluate all items (evaluate_items), and each rank adds the
// derivatives to its atoms. Items of atoms alone take the same steps: an atom is a center with one
// member.

#ifndef GPUCOORD_GEOMETRY_H
#define GPUCOORD_GEOMETRY_H

#include "gpucoord/box.h"
#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/option_error.h"
#include "gpucoord/period.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

// A number that depends on one to four points X1, X2, ...:
//   DISTANCE   |X2 - X1|
//   COMPONENT  of X2 - X1 along x, y or z
//   POSITION   x, y or z of X1
//   ANGLE      between X1 - X2 and X3 - X2, radians, 0 to pi
//   DIHEDRAL   of X1 to X4, radians, -pi to pi. It has the sign of IUPAC: seen along X2 to X3, it
//              is positive if X4 is clockwise of X1 (IUPAC-IUB, Biochemistry 9, 3471, 1970).
struct GeometryItem {
  enum class Kind { DISTANCE, COMPONENT, POSITION, ANGLE, DIHEDRAL };
  Kind kind = Kind::DISTANCE;
  int point[4] = {};    // indices of its points
  int axis = 0;         // of a component or position: 0, 1, 2
};

struct GeometryOptions {
  std::vector<GeometryItem> items;
  int npoints = 0;
  bool nearest = true;    // vectors between points are nearest images
  // How members of a center are joined: by their image flags, or as the nearest images to the
  // reference of the point.
  enum class Unwrap { IMAGE, NEAREST } unwrap = Unwrap::IMAGE;
  bool sincos = false;    // an angle or dihedral gives two values: its sine and its cosine
  double scale = 1.0;     // of distances, components and positions
};

// The box of an evaluation, the same on all ranks.
struct GeometryBox {
  Box box;
  double edges[3][3];    // edge vectors as rows, distance
  // The point that a strain of the box leaves in place, distance. Only virials of positions depend
  // on it.
  double fixed[3] = {};
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
};

// Atoms of one rank.
struct GeometryAtoms {
  const double *x = nullptr;    // [nlocal][3] positions, distance
  ImageFlags image;
  const GeometryMember *member = nullptr;    // [n] in the order of sums
  std::size_t n = 0;
};

// An item as a function of the bond vectors d between its points.
struct GeometryTerm {
  static constexpr unsigned SINGULAR = 1, FAR = 2;

  double value = 0.0;    // distance or radians
  double d[3][3];        // [nbonds] distance
  double slope[3][3];    // [nbonds] derivative with respect to d
  // SINGULAR: the derivative does not exist, and is set to 0: points of a distance coincide, those
  // of an angle are in line to 1e-12 rad, or three points of a dihedral to 1e-8 rad.
  // FAR: a component of a nearest image is above 0.45 lattice vectors. At 0.5 the image jumps.
  unsigned flags = 0;
};

// Items of an evaluation whose derivatives are unusual.
struct GeometryFlags {
  int nsingular = 0;          // number of items with SINGULAR
  int first_singular = -1;    // index of the first one; -1: none
  int first_far = -1;         // index of the first item with FAR; -1: none
};

// Many items. Value k belongs to item k, unless angles have two values each. All sums have a fixed
// order. Results do not depend on the number of ranks, except for the rounding of the sums of
// centers. Not thread-safe.
class GPUCOORD_API Geometry {
 public:
  // Throws OptionError with the fields items, scale: without items, with a point that does not
  // exist or is used twice in an item, with an axis outside 0 to 2, or with a scale that is not > 0
  // and finite.
  explicit Geometry(const GeometryOptions &);

  int nvalues() const { return static_cast<int>(item_of_value.size()); }
  // Returns the period of value k: that of a dihedral, or none.
  Period period(int k) const;
  int item_of(int k) const { return item_of_value[k]; }    // index of the item of value k

  // Step 1. Sets the sums of this rank, [npoints][4]: those of weight times the position relative
  // to the reference, and of weights. They add up over ranks. reference: [npoints][3] a position
  // near each point, such as that of one member with its image flags, the same on all ranks,
  // distance. Null, only with Unwrap::IMAGE: 0.
  void sum_centers(const GeometryBox &, const GeometryAtoms &, const double *reference,
                   double *sums) const;
  // Returns the largest distance from the reference to the nearest image of a member of this rank,
  // 0 without members. At half of the shortest lattice vector, Unwrap::NEAREST is ambiguous.
  // member: set to its index in the list; -1: there are none
  double farthest_member(const Box &, const GeometryAtoms &, const double *reference,
                         std::ptrdiff_t &member) const;

  // Step 2. Evaluates all items at the sums over ranks. Throws std::invalid_argument if a point has
  // no weight, which depends only on the sums.
  GeometryFlags evaluate_items(const GeometryBox &, const double *sums, const double *reference);
  double value(int k) const { return values[k]; }    // of the last evaluation

  // Step 3. Functions of the last evaluation and of the atoms that it had. The factors are those on
  // the host. A value whose factor is 0 is left out.

  // Adds the sum of factor dS_k/dx to the owned atoms. array: [nlocal][stride], of which the first
  // three columns change. For forces, pass the negative factors.
  void add_gradients(const ItemFactors &, const GeometryAtoms &, double *array, int stride) const;
  // Adds the sum of factor W_k: xx yy zz xy xz yz. W is minus the derivative of S with respect to
  // the strain e in x_a' = x_a + e_ab x_b.
  void add_virial(const ItemFactors &, double virial[6]) const;
  // Adds the parts of the atoms, [nlocal][stride]. Each end of a bond has half of its virial, and a
  // member of a center has its share of the weight. They add up to W over the atoms of all ranks.
  void add_atom_virial(const ItemFactors &, const GeometryAtoms &, double *array, int stride) const;

  std::size_t bytes() const;

 private:
  // Calls visit(item, term, factor) for each item whose factor is not 0.
  template <class Visit> void for_each_item(const ItemFactors &, const Visit &visit) const;
  template <class Add>
  void add_to_members(const ItemFactors &, const GeometryAtoms &, int columns, double *array,
                      int stride, const Add &add) const;

  GeometryOptions given;
  std::vector<int> item_of_value;
  std::vector<double> values, slopes;
  std::vector<double> points, weights;    // [npoints][3] positions, [npoints]
  std::vector<GeometryTerm> terms;        // [items]
};

}    // namespace gpucoord

#endif
