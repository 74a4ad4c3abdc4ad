// Part of GPUCOORD, GPL-2.0. Items of points: values, derivatives and virials, and the positions of
// members of centers, for host and GPU.
//
// An item is a function of one to three bond vectors between its points. Its derivatives with
// respect to these vectors give those of points, and the virial without an origin:
// W_ab = -sum over bonds of d_b dS/dd_a.

#ifndef GPUCOORD_GEOMETRY_FORMULAS_H
#define GPUCOORD_GEOMETRY_FORMULAS_H

#include "../core/config.h"
#include "../core/minimum_image.h"

#include "gpucoord/geometry.h"

#include <math.h>
#include <stdint.h>

namespace gpucoord {

// The sine of an angle below which its points are in line.
constexpr double ANGLE_IN_LINE = 1e-12, DIHEDRAL_IN_LINE = 1e-8;
// A component of a nearest image above which it is FAR, in lattice vectors.
constexpr double FAR_COMPONENT = 0.45;

GPUCOORD_HD int points_of(GeometryItem::Kind kind)
{
  return kind == GeometryItem::Kind::POSITION ? 1
      : kind == GeometryItem::Kind::ANGLE     ? 3
      : kind == GeometryItem::Kind::DIHEDRAL  ? 4
                                              : 2;
}

GPUCOORD_HD int bonds_of(GeometryItem::Kind kind)
{
  return kind == GeometryItem::Kind::ANGLE ? 2 : kind == GeometryItem::Kind::DIHEDRAL ? 3 : 1;
}

// Bond b leads from one point of the item to another one, and that of a position from the fixed
// point of the box: -1.
struct GeometryBond {
  int from, to;
};
GPUCOORD_HD GeometryBond bond_of(GeometryItem::Kind kind, int b)
{
  if (kind == GeometryItem::Kind::POSITION) return {-1, 0};
  if (kind == GeometryItem::Kind::ANGLE) return {1, 2 * b};
  return {b, b + 1};
}

GPUCOORD_HD double dot_product(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
GPUCOORD_HD void cross_product(const double *a, const double *b, double *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

// The functions below set the value and the slopes of a term from its d. They return false at a
// singular point, where slopes remain 0. Comparisons are false for NaN.

GPUCOORD_HD bool set_distance(GeometryTerm &t)
{
  t.value = sqrt(dot_product(t.d[0], t.d[0]));
  if (!(t.value > 0.0)) return false;
  for (int c = 0; c < 3; ++c) t.slope[0][c] = t.d[0][c] / t.value;
  return true;
}

// acos would lose half of the digits near 0 and pi.
GPUCOORD_HD bool set_angle(GeometryTerm &t)
{
  const double *const a = t.d[0], *const b = t.d[1];
  double n[3], an[3], bn[3];
  cross_product(a, b, n);
  const double aa = dot_product(a, a), bb = dot_product(b, b), length = sqrt(dot_product(n, n));
  t.value = atan2(length, dot_product(a, b));
  if (!(length > ANGLE_IN_LINE * sqrt(aa) * sqrt(bb))) return false;
  cross_product(a, n, an);
  cross_product(b, n, bn);
  for (int c = 0; c < 3; ++c) {
    t.slope[0][c] = an[c] / (aa * length);
    t.slope[1][c] = -bn[c] / (bb * length);
  }
  return true;
}

// Blondel and Karplus, J. Comput. Chem. 17, 1132 (1996), eq. 27. The derivative grows with the
// inverse distance of a point from the line of two others. It is not limited, because the limited
// force would not conserve energy.
GPUCOORD_HD bool set_dihedral(GeometryTerm &t)
{
  const double *const b1 = t.d[0], *const b2 = t.d[1], *const b3 = t.d[2];
  double m[3], n[3];
  cross_product(b1, b2, m);
  cross_product(b2, b3, n);
  const double l = sqrt(dot_product(b2, b2)), mm = dot_product(m, m), nn = dot_product(n, n);
  t.value = atan2(l * dot_product(b1, n), dot_product(m, n));
  const double of_m = DIHEDRAL_IN_LINE * sqrt(dot_product(b1, b1)) * l;
  const double of_n = DIHEDRAL_IN_LINE * sqrt(dot_product(b3, b3)) * l;
  if (!(sqrt(mm) > of_m && sqrt(nn) > of_n)) return false;
  const double along_m = dot_product(b1, b2) / (mm * l), along_n = dot_product(b3, b2) / (nn * l);
  for (int c = 0; c < 3; ++c) {
    t.slope[0][c] = l / mm * m[c];
    t.slope[1][c] = -along_m * m[c] - along_n * n[c];
    t.slope[2][c] = l / nn * n[c];
  }
  return true;
}

// Returns the term of an item. x: [npoints][3] positions of all points
GPUCOORD_HD GeometryTerm evaluate_item(const GeometryItem &item, const GeometryBox &of,
                                       bool nearest, const double *x)
{
  using Kind = GeometryItem::Kind;
  GeometryTerm t;
  for (int b = 0; b < 3; ++b)
    for (int c = 0; c < 3; ++c) t.d[b][c] = t.slope[b][c] = 0.0;
  GPUCOORD_UNROLL
  for (int b = 0; b < bonds_of(item.kind); ++b) {
    const GeometryBond bond = bond_of(item.kind, b);
    const double *const to = x + 3 * item.point[bond.to];
    double *const d = t.d[b];
    if (bond.from < 0) {
      for (int c = 0; c < 3; ++c)
        d[c] = to[c] - (c == item.axis ? of.fixed[c] : of.fixed_in_shear[c]);
      continue;
    }
    for (int c = 0; c < 3; ++c) d[c] = to[c] - x[3 * item.point[bond.from] + c];
    if (!nearest) continue;
    minimum_image(of.box, d[0], d[1], d[2]);
    for (int k = 0; k < of.box.nperiodic; ++k) {
      // Other images may have the same component.
      const bool matters = item.kind != Kind::COMPONENT || of.box.lattice[k][item.axis] != 0.0;
      if (matters && fabs(dot_product(d, of.box.dual[k])) > FAR_COMPONENT)
        t.flags |= GeometryTerm::FAR;
    }
  }
  bool is_regular = true;
  switch (item.kind) {
    case Kind::DISTANCE:
      is_regular = set_distance(t);
      break;
    case Kind::ANGLE:
      is_regular = set_angle(t);
      break;
    case Kind::DIHEDRAL:
      is_regular = set_dihedral(t);
      break;
    case Kind::COMPONENT:
    case Kind::POSITION:
      t.value = item.kind == Kind::POSITION ? x[3 * item.point[0] + item.axis] : t.d[0][item.axis];
      t.slope[0][item.axis] = 1.0;
  }
  if (!is_regular) t.flags |= GeometryTerm::SINGULAR;
  return t;
}

// Sets the values of an item, and their derivatives with respect to its term. Returns their number,
// 1 or 2. scale: of lengths
GPUCOORD_HD int values_of(GeometryItem::Kind kind, bool sincos, double scale, double term,
                          double *value, double *slope)
{
  const bool is_angle = kind == GeometryItem::Kind::ANGLE || kind == GeometryItem::Kind::DIHEDRAL;
  if (is_angle && sincos) {
    value[0] = slope[1] = sin(term);
    value[1] = slope[0] = cos(term);
    slope[1] = -slope[1];
    return 2;
  }
  slope[0] = is_angle ? 1.0 : scale;
  value[0] = slope[0] * term;
  return 1;
}

// Adds factor times the derivative with respect to a point of the item, 0 <= p < points_of(kind).
GPUCOORD_HD void add_gradient(GeometryItem::Kind kind, const GeometryTerm &t, int p, double factor,
                              double *gradient)
{
  for (int b = 0; b < bonds_of(kind); ++b) {
    const GeometryBond bond = bond_of(kind, b);
    const double sign = bond.to == p ? factor : bond.from == p ? -factor : 0.0;
    for (int c = 0; c < 3; ++c) gradient[c] += sign * t.slope[b][c];
  }
}

// Adds factor times the virial of a bond: xx yy zz xy xz yz.
GPUCOORD_HD void add_virial_of_bond(const GeometryTerm &t, int b, double factor, double *virial)
{
  const double *const d = t.d[b], *const g = t.slope[b];
  virial[0] -= factor * d[0] * g[0];
  virial[1] -= factor * d[1] * g[1];
  virial[2] -= factor * d[2] * g[2];
  virial[3] -= factor * d[1] * g[0];
  virial[4] -= factor * d[2] * g[0];
  virial[5] -= factor * d[2] * g[1];
}

GPUCOORD_HD void add_virial_of_item(GeometryItem::Kind kind, const GeometryTerm &t, double factor,
                                    double *virial)
{
  for (int b = 0; b < bonds_of(kind); ++b) add_virial_of_bond(t, b, factor, virial);
}

// Adds factor times the part of a point: half of the virial of its bonds, and all of a position.
GPUCOORD_HD void add_virial_of_point(GeometryItem::Kind kind, const GeometryTerm &t, int p,
                                     double factor, double *virial)
{
  for (int b = 0; b < bonds_of(kind); ++b) {
    const GeometryBond bond = bond_of(kind, b);
    if (bond.from == p || bond.to == p)
      add_virial_of_bond(t, b, bond.from < 0 ? factor : 0.5 * factor, virial);
  }
}

GPUCOORD_HD int image_flag(const ImageFlags &image, int row, int axis)
{
  if (!image.packed) return 0;
  const int64_t all = image.bits == 10 ? static_cast<const int32_t *>(image.packed)[row]
                                       : static_cast<const int64_t *>(image.packed)[row];
  const int64_t middle = int64_t(1) << (image.bits - 1);
  return static_cast<int>(((all >> (axis * image.bits)) & (2 * middle - 1)) - middle);
}

// Sets the position of a member relative to the reference of its point. x: [3] position of the
// atom; null reference: 0
GPUCOORD_HD void relative_position(const GeometryBox &box, Unwrap unwrap, const double *x,
                                   const ImageFlags &image, int row, const double *reference,
                                   double *d)
{
  for (int c = 0; c < 3; ++c) d[c] = reference ? x[c] - reference[c] : x[c];
  if (unwrap == Unwrap::NEAREST) {
    minimum_image(box.box, d[0], d[1], d[2]);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    const int flag = image_flag(image, row, axis);
    for (int c = 0; c < 3; ++c) d[c] += flag * box.edges[axis][c];
  }
}

}    // namespace gpucoord

#endif
