// Part of GPUCOORD, GPL-2.0. Distances, components, positions, angles and dihedrals of atoms and of
// centers of groups, with derivatives and virials, on the host.
// Items of atoms alone take the steps of those of centers: an atom is a center with one member.

#ifndef GPUCOORD_GEOMETRY_H
#define GPUCOORD_GEOMETRY_H

#include "gpucoord/export.h"
#include "gpucoord/member_variable.h"
#include "gpucoord/option_error.h"

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
  Unwrap unwrap = Unwrap::IMAGE;
  bool sincos = false;    // an angle or dihedral gives two values: its sine and its cosine
  double scale = 1.0;     // of distances, components and positions
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

// Many items. Value k belongs to item k, unless angles have two values each. Results do not depend
// on the number of ranks, except for the rounding of the sums of centers.
class GPUCOORD_API Geometry : public MemberVariable {
 public:
  // Throws OptionError with the fields items, scale: without items, with a point that does not
  // exist or is used twice in an item, with an axis outside 0 to 2, or with a scale that is not > 0
  // and finite.
  explicit Geometry(const GeometryOptions &);

  int nvalues() const override { return static_cast<int>(item_of_value.size()); }
  // That of a dihedral, or none.
  Period period(int k) const override;
  int item_of(int k) const { return item_of_value[k]; }    // index of the item of value k

  // The sums are [npoints][4]: those of weight times the position relative to the reference, and of
  // weights.
  int nsums() const override { return 4 * given.npoints; }
  void sum(const GeometryBox &, const GeometryAtoms &, const double *reference,
           double *sums) const override;
  GeometryFlags evaluate(const GeometryBox &, const double *sums, const double *reference) override;
  double value(int k) const override { return values[k]; }

  void add_gradients(const ItemFactors &, const GeometryAtoms &, double *array,
                     int stride) const override;
  void add_virial(const ItemFactors &, double virial[6]) const override;
  // Each end of a bond has half of its virial, and a member of a center has its share of the
  // weight.
  void add_atom_virial(const ItemFactors &, const GeometryAtoms &, double *array,
                       int stride) const override;

  std::size_t bytes() const override;

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
