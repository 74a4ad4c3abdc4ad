// Part of GPUCOORD, GPL-2.0. Interactions of two sites of rigid molecules: Lennard-Jones centers,
// point charges, dipoles and quadrupoles.
//
// d = x_i - x_j, r = |d|, u = d/r; e: unit axis of a dipole or quadrupole; c_i = e_i.u, c_j =
// e_j.u, g = e_i.e_j. Every energy is a function of r, c_i, c_j and g. pair_of_axes() computes
// forces and torques from its partial derivatives. Formulas, with 4 pi eps0 = 1: C. G. Gray, K. E.
// Gubbins, Theory of Molecular Fluids (Oxford 1984), chapter 2.
//
// The potential of an axial quadrupole Q is Q (3 c^2 - 1) / (2 r^3).

#ifndef GPUCOORD_SITE_INTERACTIONS_H
#define GPUCOORD_SITE_INTERACTIONS_H

#include "../core/config.h"
#include "../core/reciprocal.h"

namespace gpucoord {

template <class Real> struct Vector {
  Real x, y, z;
};
template <class Real>
GPUCOORD_HD Vector<Real> operator+(const Vector<Real> &a, const Vector<Real> &b)
{
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class Real>
GPUCOORD_HD Vector<Real> operator-(const Vector<Real> &a, const Vector<Real> &b)
{
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class Real> GPUCOORD_HD Vector<Real> operator*(Real s, const Vector<Real> &a)
{
  return {s * a.x, s * a.y, s * a.z};
}
template <class Real> GPUCOORD_HD Real dot(const Vector<Real> &a, const Vector<Real> &b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Real> GPUCOORD_HD Vector<Real> cross(const Vector<Real> &a, const Vector<Real> &b)
{
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Rotates v from the frame of a molecule to the laboratory frame. q: unit quaternion w x y z.
template <class Real> GPUCOORD_HD Vector<Real> rotated(const Real *q, const Vector<Real> &v)
{
  const Vector<Real> axis = {q[1], q[2], q[3]}, t = Real(2) * cross(axis, v);
  return v + q[0] * t + cross(axis, t);
}

// Interaction of a pair of sites. The force on j is -force.
template <class Real> struct SitePair {
  Real energy;
  Vector<Real> force;                 // force on i
  Vector<Real> torque_i, torque_j;    // about the sites themselves
};

// An energy and its partial derivatives.
template <class Real> struct AngleTerms {
  Real u, by_r, by_ci, by_cj, by_g;
};

// Returns 4 eps ((sigma/r)^12 - (sigma/r)^6) + shift. derivative_over_r: (dU/dr)/r.
template <class Real>
GPUCOORD_HD Real lennard_jones(Real r_sq, Real four_epsilon, Real sigma_sq, Real shift,
                               Real &derivative_over_r)
{
  const Real inverse_sq = reciprocal(r_sq), s2 = sigma_sq * inverse_sq, s6 = s2 * s2 * s2;
  derivative_over_r = four_epsilon * ((Real(6) - Real(12) * s6) * (s6 * inverse_sq));
  return four_epsilon * (s6 * s6 - s6) + shift;
}

// Returns q_i q_j / r. derivative_over_r: (dU/dr)/r.
template <class Real> GPUCOORD_HD Real charges(Real inverse_r, Real qq, Real &derivative_over_r)
{
  const Real u = qq * inverse_r;
  derivative_over_r = -u * inverse_r * inverse_r;
  return u;
}

// In the following functions, i is the site that is named first. strength is the product of q, mu
// or Q.

// q mu c_j / r^2
template <class Real>
GPUCOORD_HD AngleTerms<Real> charge_dipole(Real inverse_r, Real strength, Real cj)
{
  const Real f = strength * inverse_r * inverse_r;
  return {f * cj, Real(-2) * f * cj * inverse_r, Real(0), f, Real(0)};
}

// mu_i mu_j (g - 3 c_i c_j) / r^3
template <class Real>
GPUCOORD_HD AngleTerms<Real> dipoles(Real inverse_r, Real strength, Real ci, Real cj, Real g)
{
  const Real f = strength * inverse_r * inverse_r * inverse_r, u = f * (g - Real(3) * ci * cj);
  return {u, Real(-3) * u * inverse_r, Real(-3) * f * cj, Real(-3) * f * ci, f};
}

// q Q (3 c_j^2 - 1) / (2 r^3)
template <class Real>
GPUCOORD_HD AngleTerms<Real> charge_quadrupole(Real inverse_r, Real strength, Real cj)
{
  const Real f = Real(0.5) * strength * inverse_r * inverse_r * inverse_r,
             u = f * (Real(3) * cj * cj - Real(1));
  return {u, Real(-3) * u * inverse_r, Real(0), Real(6) * f * cj, Real(0)};
}

// 3/2 mu Q (2 g c_j - c_i (5 c_j^2 - 1)) / r^4
template <class Real>
GPUCOORD_HD AngleTerms<Real> dipole_quadrupole(Real inverse_r, Real strength, Real ci, Real cj,
                                               Real g)
{
  const Real inverse_sq = inverse_r * inverse_r, f = Real(1.5) * strength * inverse_sq * inverse_sq;
  const Real p_j = Real(5) * cj * cj - Real(1), u = f * (Real(2) * g * cj - ci * p_j);
  return {u, Real(-4) * u * inverse_r, -f * p_j, f * (Real(2) * g - Real(10) * ci * cj),
          Real(2) * f * cj};
}

// 3/4 Q_i Q_j (1 - 5 (c_i^2 + c_j^2) - 15 c_i^2 c_j^2 + 2 (g - 5 c_i c_j)^2) / r^5
template <class Real>
GPUCOORD_HD AngleTerms<Real> quadrupoles(Real inverse_r, Real strength, Real ci, Real cj, Real g)
{
  const Real inverse_sq = inverse_r * inverse_r,
             f = Real(0.75) * strength * inverse_sq * inverse_sq * inverse_r;
  const Real h = g - Real(5) * ci * cj;
  const Real u = f *
      (Real(1) - Real(5) * (ci * ci + cj * cj) - Real(15) * ci * ci * cj * cj + Real(2) * h * h);
  return {u, Real(-5) * u * inverse_r,
          f * (Real(-10) * ci - Real(30) * ci * cj * cj - Real(20) * h * cj),
          f * (Real(-10) * cj - Real(30) * ci * ci * cj - Real(20) * h * ci), Real(4) * f * h};
}

// Computes force and torques from an energy: -dU/dx_i, and -e x dU/de at both sites. A site without
// an axis has e = 0. Written by components and with references, so that loops vectorize.
template <class Real>
GPUCOORD_HD void pair_of_axes(const AngleTerms<Real> &angles, Real inverse_r, const Vector<Real> &u,
                              const Vector<Real> &ei, const Vector<Real> &ej, Real ci, Real cj,
                              SitePair<Real> &pair)
{
  pair.energy = angles.u;
  const Real along = inverse_r * (angles.by_ci * ci + angles.by_cj * cj) - angles.by_r,
             fi = inverse_r * angles.by_ci, fj = inverse_r * angles.by_cj;
  pair.force.x = along * u.x - fi * ei.x - fj * ej.x;
  pair.force.y = along * u.y - fi * ei.y - fj * ej.y;
  pair.force.z = along * u.z - fi * ei.z - fj * ej.z;
  const Real ax = angles.by_g * (ei.y * ej.z - ei.z * ej.y),
             ay = angles.by_g * (ei.z * ej.x - ei.x * ej.z),
             az = angles.by_g * (ei.x * ej.y - ei.y * ej.x);
  pair.torque_i.x = -angles.by_ci * (ei.y * u.z - ei.z * u.y) - ax;
  pair.torque_i.y = -angles.by_ci * (ei.z * u.x - ei.x * u.z) - ay;
  pair.torque_i.z = -angles.by_ci * (ei.x * u.y - ei.y * u.x) - az;
  pair.torque_j.x = ax - angles.by_cj * (ej.y * u.z - ej.z * u.y);
  pair.torque_j.y = ay - angles.by_cj * (ej.z * u.x - ej.x * u.z);
  pair.torque_j.z = az - angles.by_cj * (ej.x * u.y - ej.y * u.x);
}

}    // namespace gpucoord

#endif
