// Part of GPUCOORD, GPL-2.0. Radius of gyration of a group of atoms, and its root mean square
// deviation (RMSD) from reference positions after optimal alignment, with derivatives and virials,
// on the host.
//
// Both are small differences of large sums, if they are small. A second sum over members then
// gives all digits.

#ifndef GPUCOORD_SHAPE_H
#define GPUCOORD_SHAPE_H

#include "gpucoord/export.h"
#include "gpucoord/member_variable.h"
#include "gpucoord/option_error.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

// S of members with positions x relative to their center, weights w, W = sum w:
//   GYRATION  S^2 = sum w x^2 / W
//   RMSD      S^2 = the smallest sum w |x - R y|^2 / W of all rotations R without reflection, where
//             y are the reference positions relative to their center
struct ShapeOptions {
  enum class Kind { GYRATION, RMSD };
  Kind kind = Kind::GYRATION;
  Unwrap unwrap = Unwrap::IMAGE;
  bool squared = false;             // the value is S^2
  std::vector<double> reference;    // of RMSD: [n][3] positions, distance
};

// A shape as a function of sums over members.
struct ShapeTerm {
  // SINGULAR: S is 0 except for rounding. Its derivative does not exist, and is set to 0.
  // NOT_UNIQUE: two rotations give the smallest RMSD, to 1e-10 of the size squared. S is right, and
  // its derivative is that of one of them.
  // CANCELED: S is small, and is not known yet.
  static constexpr unsigned SINGULAR = 1, NOT_UNIQUE = 2, CANCELED = 4;

  double value = 0.0;
  double slope = 0.0;                              // of the value with respect to S^2/2
  double weight = 0.0;                             // W
  double center[3] = {};                           // of the members, relative to the reference
  double rotation[3][3] = {}, y_center[3] = {};    // R; 0 for GYRATION
  double size_sq = 0.0;                            // of which S^2 is a difference
  double virial[6] = {};
  unsigned flags = 0;
};

// One value of one point. Its members have weights > 0.
class GPUCOORD_API Shape : public MemberVariable {
 public:
  // Throws OptionError with the field reference: no multiple of three numbers, less than two
  // positions, all at the same place, a number that is not finite, or GYRATION with a reference.
  explicit Shape(const ShapeOptions &);

  int nvalues() const override { return 1; }
  const std::vector<double> &reference() const { return given.reference; }    // centered
  unsigned flags() const { return term.flags; }    // of ShapeTerm, of the last evaluation

  int nsums() const override;
  void sum(const GeometryBox &, const GeometryAtoms &, const double *reference,
           double *sums) const override;
  // first_singular is 0 for SINGULAR, and 1 for NOT_UNIQUE alone.
  GeometryFlags evaluate(const GeometryBox &, const double *sums, const double *reference) override;
  int nsums_again() const override;
  void sum_again(const GeometryAtoms &, double *sums) const override;
  GeometryFlags evaluate_again(const double *sums) override;
  double value(int /*k*/ = 0) const override { return term.value; }

  void add_gradients(const ItemFactors &, const GeometryAtoms &, double *array,
                     int stride) const override;
  void add_virial(const ItemFactors &, double virial[6]) const override;
  // The part of a member is -dS/dx_a (x_b - X_b), where X is the center.
  void add_atom_virial(const ItemFactors &, const GeometryAtoms &, double *array,
                       int stride) const override;

  std::size_t bytes() const override;

 private:
  const double *own_reference(const GeometryMember &) const;
  GeometryFlags geometry_flags() const;
  template <class Visit> void for_each_member(const GeometryAtoms &, const Visit &visit) const;

  ShapeOptions given;
  ShapeTerm term;
  GeometryBox last_box;
  double last_reference[3] = {};    // of the point
};

}    // namespace gpucoord

#endif
