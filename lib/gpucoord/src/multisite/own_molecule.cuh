// Part of GPUCOORD, GPL-2.0. The molecule of a thread: positions of its sites, and forces on them.

#ifndef GPUCOORD_OWN_MOLECULE_CUH
#define GPUCOORD_OWN_MOLECULE_CUH

#include "molecule_tables.cuh"
#include "site_interactions.h"

namespace gpucoord {

// A rotation from the molecule's frame to the laboratory frame.
template <class Real> struct Rotation {
  Vector<Real> row[3];

  Rotation() = default;
  __device__ explicit Rotation(const Four<Real> &q)
  {
    const Real x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    const Real xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2,
               yz = q.y * z2;
    const Real wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    row[0] = {Real(1) - yy - zz, xy - wz, xz + wy};
    row[1] = {xy + wz, Real(1) - xx - zz, yz - wx};
    row[2] = {xz - wy, yz + wx, Real(1) - xx - yy};
  }
  __device__ Vector<Real> operator()(const Four<Real> &v) const
  {
    const Vector<Real> u = {v.x, v.y, v.z};
    return {dot(row[0], u), dot(row[1], u), dot(row[2], u)};
  }
};

// Sites in registers, with one force per site. The torques follow from the summed forces.
template <class Real, class Sites> class OwnMolecule {
  static constexpr int N =
      Sites::NCENTERS + Sites::NCHARGES + Sites::NDIPOLES + Sites::NQUADRUPOLES;
  static constexpr int NAXES = Sites::NDIPOLES + Sites::NQUADRUPOLES;
  using Tables = MoleculeTables<Real, Sites>;

 public:
  __device__ explicit OwnMolecule(const Four<Real> &orientation) : q(orientation) {}

  __device__ void set_position(const Tables &tables, const Vector<Real> &at)
  {
    center = at;
    const Rotation<Real> turned(q);
#pragma unroll
    for (int k = 0; k < N; ++k) points[k] = at + turned(tables.site_i(k));
#pragma unroll
    for (int k = 0; k < NAXES; ++k) axes[k] = turned(tables.axis_i(k));
  }
  __device__ Vector<Real> point(const Tables &, int k) const
  {
    return points[k];
  }
  __device__ Vector<Real> axis(const Tables &, int k) const
  {
    return axes[k];
  }
  __device__ void push(int k, const Vector<Real> &, const Vector<Real> &f)
  {
    force[k] = force[k] + f;
  }
  __device__ void twist(const Vector<Real> &t)
  {
    torque = torque + t;
  }

  // Adds force and torque to sum, then sets them to 0.
  __device__ void flush(double (&sum)[6])
  {
    Vector<Real> f = {};
#pragma unroll
    for (int k = 0; k < N; ++k) {
      f = f + force[k];
      torque = torque + cross(points[k] - center, force[k]);
      force[k] = {};
    }
    const Real all[6] = {f.x, f.y, f.z, torque.x, torque.y, torque.z};
#pragma unroll
    for (int k = 0; k < 6; ++k) sum[k] += all[k];
    torque = {};
  }

 private:
  Four<Real> q;
  Vector<Real> center = {}, points[N], axes[NAXES > 0 ? NAXES : 1], force[N] = {}, torque = {};
};

// Any number of sites. Each site is rotated again for each pair.
template <class Real> class OwnMolecule<Real, sites::Any> {
  using Tables = MoleculeTables<Real, sites::Any>;

 public:
  __device__ explicit OwnMolecule(const Four<Real> &orientation) : turned(orientation) {}

  __device__ void set_position(const Tables &, const Vector<Real> &at) { center = at; }
  __device__ Vector<Real> point(const Tables &tables, int k) const
  {
    return center + turned(tables.site_i(k));
  }
  __device__ Vector<Real> axis(const Tables &tables, int k) const
  {
    return turned(tables.axis_i(k));
  }
  __device__ void push(int, const Vector<Real> &point, const Vector<Real> &f)
  {
    force = force + f;
    torque = torque + cross(point - center, f);
  }
  __device__ void twist(const Vector<Real> &t) { torque = torque + t; }

  __device__ void flush(double (&sum)[6])
  {
    const Real all[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
#pragma unroll
    for (int k = 0; k < 6; ++k) sum[k] += all[k];
    force = torque = {};
  }

 private:
  const Rotation<Real> turned;
  Vector<Real> center = {}, force = {}, torque = {};
};

}    // namespace gpucoord

#endif
