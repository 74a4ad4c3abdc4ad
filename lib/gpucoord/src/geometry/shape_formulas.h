// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD as functions of sums over members, for
// host and GPU.
//
// Sums are those of v, the position of a member relative to the reference of the point, and of y,
// its own reference position. The best rotation is the eigenvector of the largest eigenvalue of a
// symmetric matrix of four rows, a quaternion (Horn, J. Opt. Soc. Am. A 4, 629, 1987), which
// excludes reflections. S^2 does not change to first order with R, so that R counts as constant in
// all derivatives.

#ifndef GPUCOORD_SHAPE_FORMULAS_H
#define GPUCOORD_SHAPE_FORMULAS_H

#include "../core/config.h"

#include "gpucoord/shape.h"

#include <math.h>

namespace gpucoord {

// Indices of the sums of w, w v, w v v (xx yy zz xy xz yz), w y, w y y and w y_a v_b.
constexpr int SUM_W = 0, SUM_V = 1, SUM_VV = 4, SUM_Y = 10, SUM_YY = 13, SUM_YV = 19;
constexpr int NSUMS_OF_GYRATION = SUM_Y, NSUMS_OF_RMSD = SUM_YV + 9;
// Axes a and b of component k of a virial and of the sums of w v v.
GPUCOORD_HD int axis_a(int k)
{
  return k < 3 ? k : k == 5 ? 1 : 0;
}
GPUCOORD_HD int axis_b(int k)
{
  return k < 3 ? k : k == 3 ? 1 : 2;
}

// Below this S^2, relative to the numbers of which it is the difference, it is CANCELED. Above, its
// relative error is some 1e-12.
constexpr double CANCELED_SQUARE = 1e-4;
// The rounding of S^2, relative to the same.
constexpr double SINGULAR_SQUARE = 1e-26;
// Two eigenvalues that differ by less than this are the same, relative to the same.
constexpr double EQUAL_ROTATIONS = 1e-10;
// The square of width over length below which positions are in line.
constexpr double IN_LINE_SQUARE = 1e-13;

GPUCOORD_HD void add_to_moments(double w, const double *v, double *sums)
{
  for (int a = 0; a < 3; ++a) sums[a] += w * v[a];
  for (int k = 0; k < 6; ++k) sums[3 + k] += w * v[axis_a(k)] * v[axis_b(k)];
}

// Returns GeometryFlags::first_singular.
GPUCOORD_HD int index_of_singular(unsigned flags)
{
  return flags & ShapeTerm::SINGULAR ? 0 : flags & ShapeTerm::NOT_UNIQUE ? 1 : -1;
}

// y: null for GYRATION
GPUCOORD_HD void add_to_sums(double w, const double *v, const double *y, double *sums)
{
  sums[SUM_W] += w;
  add_to_moments(w, v, sums + SUM_V);
  if (!y) return;
  add_to_moments(w, y, sums + SUM_Y);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) sums[SUM_YV + 3 * a + b] += w * y[a] * v[b];
}

// Finds the eigenvalues of a symmetric matrix, which become its diagonal, and its eigenvectors, the
// columns of u, by rotations of Jacobi. Six sweeps are usual.
GPUCOORD_HD void find_eigenvectors(double m[4][4], double u[4][4])
{
  constexpr int MAX_SWEEPS = 50;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) u[i][j] = i == j;
  for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
    double rotated = 0.0;
    for (int p = 0; p < 3; ++p)
      for (int q = p + 1; q < 4; ++q) {
        const double off = m[p][q], gap = m[q][q] - m[p][p];
        if (fabs(off) <= 1e-18 * (fabs(m[p][p]) + fabs(m[q][q]))) continue;
        rotated += fabs(off);
        // tan of the smaller angle that makes the element 0
        const double t = (gap < 0.0 ? -2.0 : 2.0) * off / (fabs(gap) + hypot(gap, 2.0 * off));
        const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
        m[p][p] -= t * off;
        m[q][q] += t * off;
        m[p][q] = m[q][p] = 0.0;
        for (int k = 0; k < 4; ++k) {
          const double up = u[k][p], uq = u[k][q];
          u[k][p] = c * up - s * uq;
          u[k][q] = s * up + c * uq;
          if (k == p || k == q) continue;
          const double mp = m[k][p], mq = m[k][q];
          m[k][p] = m[p][k] = c * mp - s * mq;
          m[k][q] = m[q][k] = s * mp + c * mq;
        }
      }
    if (rotated == 0.0) return;
  }
}

// Sets the rotation that makes the sum of w |x - R y|^2 smallest. m: sum of w y_a x_b. Returns the
// sum of w x.R y. gap: set to its distance from that of another rotation of y. A rotation of
// is_straight, positions in line, about their line is no other one.
GPUCOORD_HD double best_rotation(const double m[3][3], bool is_straight, double rotation[3][3],
                                 double &gap)
{
  double n[4][4], u[4][4];
  n[0][0] = m[0][0] + m[1][1] + m[2][2];
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    n[0][a + 1] = n[a + 1][0] = m[b][c] - m[c][b];
    n[a + 1][a + 1] = m[a][a] - m[b][b] - m[c][c];
    n[a + 1][b + 1] = n[b + 1][a + 1] = m[a][b] + m[b][a];
  }
  find_eigenvectors(n, u);
  int order[4] = {0, 1, 2, 3};    // of descending eigenvalues
  for (int i = 1; i < 4; ++i)
    for (int k = i; k > 0 && n[order[k]][order[k]] > n[order[k - 1]][order[k - 1]]; --k) {
      const int other = order[k];
      order[k] = order[k - 1];
      order[k - 1] = other;
    }
  const int first = order[0], next = order[is_straight ? 2 : 1];
  gap = n[first][first] - n[next][next];
  const double w = u[0][first], x = u[1][first], y = u[2][first], z = u[3][first];
  const double norm = 2.0 / (w * w + x * x + y * y + z * z);
  rotation[0][0] = 1.0 - norm * (y * y + z * z);
  rotation[1][1] = 1.0 - norm * (x * x + z * z);
  rotation[2][2] = 1.0 - norm * (x * x + y * y);
  rotation[0][1] = norm * (x * y - w * z);
  rotation[1][0] = norm * (x * y + w * z);
  rotation[0][2] = norm * (x * z + w * y);
  rotation[2][0] = norm * (x * z - w * y);
  rotation[1][2] = norm * (y * z - w * x);
  rotation[2][1] = norm * (y * z + w * x);
  return n[first][first];
}

// Sets value, slope and virial of a term. square: S^2. moments: [6] sums of w r_a x_b, where r is
// x - R y
GPUCOORD_HD void set_square(ShapeTerm &t, bool squared, double square, const double *moments)
{
  if (square < 0.0) square = 0.0;
  t.value = squared ? square : sqrt(square);
  t.slope = 2.0;
  if (!squared) {
    const bool is_regular = square > SINGULAR_SQUARE * t.size_sq;
    t.slope = is_regular ? 1.0 / t.value : 0.0;
    if (!is_regular) t.flags |= ShapeTerm::SINGULAR;
  }
  for (int k = 0; k < 6; ++k) t.virial[k] = -t.slope * moments[k] / t.weight;
}

// Sets the center of positions from their sums, and their second moments about it. Returns the mean
// square of the uncentered positions.
GPUCOORD_HD double set_moments(double w, const double *sums, double *center, double *moments)
{
  for (int a = 0; a < 3; ++a) center[a] = sums[a] / w;
  for (int k = 0; k < 6; ++k) moments[k] = sums[3 + k] - w * center[axis_a(k)] * center[axis_b(k)];
  return (sums[3] + sums[4] + sums[5]) / w;
}

// Returns whether positions with these second moments are in line: two of three eigenvalues are 0.
GPUCOORD_HD bool are_in_line(const double *m)
{
  const double trace = m[0] + m[1] + m[2];
  const double pairs =
      m[0] * m[1] + m[0] * m[2] + m[1] * m[2] - m[3] * m[3] - m[4] * m[4] - m[5] * m[5];
  return pairs <= IN_LINE_SQUARE * trace * trace;
}

// Returns the term at sums with a weight > 0.
GPUCOORD_HD ShapeTerm evaluate_shape(ShapeOptions::Kind kind, bool squared, const double *sums)
{
  ShapeTerm t;
  const double w = t.weight = sums[SUM_W];
  double moments[6];
  t.size_sq = set_moments(w, sums + SUM_V, t.center, moments);
  double square = (moments[0] + moments[1] + moments[2]) / w;
  if (kind == ShapeOptions::Kind::RMSD) {
    double of_y[6], m[3][3], gap;
    t.size_sq += set_moments(w, sums + SUM_Y, t.y_center, of_y);
    square += (of_y[0] + of_y[1] + of_y[2]) / w;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        m[a][b] = sums[SUM_YV + 3 * a + b] - w * t.y_center[a] * t.center[b];
    const double best = best_rotation(m, are_in_line(of_y), t.rotation, gap);
    if (gap <= EQUAL_ROTATIONS * w * square) t.flags |= ShapeTerm::NOT_UNIQUE;
    square -= 2.0 * best / w;
    for (int k = 0; k < 6; ++k)
      for (int c = 0; c < 3; ++c) moments[k] -= t.rotation[axis_a(k)][c] * m[c][axis_b(k)];
  }
  if (square < CANCELED_SQUARE * t.size_sq)
    t.flags |= ShapeTerm::CANCELED;    // residuals set the rest
  else
    set_square(t, squared, square, moments);
  return t;
}

// Sets x, the position of a member relative to the center, and r = x - R y. dS/dx of the member is
// slope w/W r. v: its position relative to the reference of the point. y: null for GYRATION
GPUCOORD_HD void residual_of_member(const ShapeTerm &t, const double *v, const double *y, double *x,
                                    double *r)
{
  for (int a = 0; a < 3; ++a) {
    x[a] = r[a] = v[a] - t.center[a];
    for (int b = 0; b < 3 && y; ++b) r[a] -= t.rotation[a][b] * (y[b] - t.y_center[b]);
  }
}

// The sums of w r^2 and w r_a x_b, which an evaluation needs if its first sums have canceled.
constexpr int NRESIDUALS = 7;
GPUCOORD_HD bool needs_residuals(const ShapeTerm &t)
{
  return t.flags & ShapeTerm::CANCELED;
}
GPUCOORD_HD void add_to_residuals(double w, const double *x, const double *r, double *sums)
{
  for (int k = 0; k < 6; ++k) sums[1 + k] += w * r[axis_a(k)] * x[axis_b(k)];
  for (int a = 0; a < 3; ++a) sums[0] += w * r[a] * r[a];
}
GPUCOORD_HD void set_residuals(ShapeTerm &t, bool squared, const double *sums)
{
  t.flags &= ~ShapeTerm::CANCELED;
  set_square(t, squared, sums[0] / t.weight, sums + 1);
}

}    // namespace gpucoord

#endif
