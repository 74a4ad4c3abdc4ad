// Part of GPUCOORD, GPL-2.0. Atoms and groups on the host and on the GPU, for tests of geometry.

#ifndef GPUCOORD_TEST_RESIDENT_GEOMETRY_SYSTEMS_H
#define GPUCOORD_TEST_RESIDENT_GEOMETRY_SYSTEMS_H

#include "geometry_systems.h"
#include "on_gpu.h"

#include "gpucoord/variable.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using gpucoord::DeviceMembers;
using gpucoord::GeometryAtoms;
using gpucoord::PointSelection;
using Numbers = std::vector<double>;
constexpr int NOT_HERE = PointSelection::NOT_HERE;

enum class Weights { ONE, BY_TYPE, BY_ROW };

// Atoms, of which some are points, and groups of them.
struct System {
  BoxShape shape;
  GeometryBox box;
  int natoms = 0;
  Numbers x;                // [natoms][3]
  std::vector<int> flag;    // [natoms][3]
  std::vector<int> mask, type;
  Numbers mass, mass_of_type;
  Weights weights = Weights::ONE;
  std::vector<int> atom, bit;    // [points] index or -1, bit or 0

  int npoints() const { return static_cast<int>(bit.size()); }
  void add_atom(int i)
  {
    atom.push_back(i);
    bit.push_back(0);
  }
  void add_group(int bit_of_group)
  {
    atom.push_back(-1);
    bit.push_back(bit_of_group);
  }
  // Puts n atoms that are chosen at random into a group, which becomes a point.
  void add_group(int bit_of_group, int n, std::mt19937 &random)
  {
    std::vector<int> all(natoms);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    for (int k = 0; k < n; ++k) mask[all[k]] |= bit_of_group;
    add_group(bit_of_group);
  }
  double weight(int i) const
  {
    return weights == Weights::ONE    ? 1.0
        : weights == Weights::BY_TYPE ? mass_of_type[type[i]]
                                      : mass[i];
  }
  Numbers unwrapped(int i) const
  {
    Numbers at(&x[3 * i], &x[3 * i] + 3);
    for (int axis = 0; axis < 3; ++axis)
      for (int c = 0; c < 3; ++c) at[c] += flag[3 * i + axis] * shape.edges[axis][c];
    return at;
  }
  int first_member(int p) const
  {
    int i = bit[p] ? 0 : atom[p];
    while (bit[p] && i + 1 < natoms && !(mask[i] & bit[p])) ++i;
    return i;
  }
  Numbers references() const
  {
    Numbers all;
    for (int p = 0; p < npoints(); ++p) {
      const Numbers at = unwrapped(first_member(p));
      all.insert(all.end(), at.begin(), at.end());
    }
    return all;
  }
};

// Atoms are within 0.15 edges around a corner of the box, in images up to 3 boxes away. Positions
// and masses have at most 24 bits, so that floats have them exactly.
inline System make_system(const BoxShape &shape, int natoms, unsigned seed)
{
  System s;
  s.shape = shape;
  s.box = box_of(shape);
  for (int c = 0; c < 3; ++c) {
    s.box.fixed[c] = 1.5 + c;
    s.box.fixed_in_shear[c] = 0.25 - c;
  }
  s.natoms = natoms;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> around(-0.15, 0.15), mass(1.0, 200.0);
  std::uniform_int_distribution<int> image(-3, 3), type(1, 4);
  for (int t = 0; t <= 4; ++t) s.mass_of_type.push_back(static_cast<float>(mass(random)));
  for (int i = 0; i < natoms; ++i) {
    double at[3] = {};
    for (int axis = 0; axis < 3; ++axis) {
      const double along = around(random);
      for (int c = 0; c < 3; ++c) at[c] += along * shape.edges[axis][c];
      s.flag.push_back(shape.periodic[axis] ? image(random) : 0);
    }
    for (const double coordinate : at) s.x.push_back(static_cast<float>(coordinate));
    s.type.push_back(type(random));
    s.mass.push_back(static_cast<float>(mass(random)));
  }
  s.mask.assign(natoms, 1);
  return s;
}

// Points of an item are different: a dihedral of three points has no definite value.
inline GeometryOptions options_of(const System &s, int nitems, unsigned seed)
{
  GeometryOptions options;
  options.npoints = s.npoints();
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(0, s.npoints() - 1);
  std::vector<int> first;
  for (int p = 0; p < s.npoints(); ++p) first.push_back(s.first_member(p));
  for (int k = 0; k < nitems; ++k) {
    GeometryItem item;
    item.kind = static_cast<Kind>(k % 5);
    item.axis = k % 3;
    for (int p = 0; p < 4;) {
      item.point[p] = any(random);
      const auto is_same = [&](int q) {
        return first[q] == first[item.point[p]];
      };
      if (std::none_of(item.point, item.point + p, is_same)) ++p;
    }
    options.items.push_back(item);
  }
  return options;
}

// The atoms of one rank, on the host and on the GPU. Real: of positions, masses and forces. Flag:
// of image flags
template <class Real, class Flag> struct Rank {
  Rank(const System &s_in, const std::vector<int> &atoms_in) :
      s(s_in), atoms(atoms_in), x(positions()), flags(packed()), mask(of_atoms(s.mask)),
      type(of_atoms(s.type)), mass(to_real(of_atoms(s.mass))), mass_of_type(to_real(s.mass_of_type))
  {
  }
  template <class T> std::vector<T> of_atoms(const std::vector<T> &all) const
  {
    std::vector<T> some;
    for (const int i : atoms) some.push_back(all[i]);
    return some;
  }
  static std::vector<Real> to_real(const Numbers &from) { return {from.begin(), from.end()}; }
  std::vector<Real> positions() const
  {
    std::vector<Real> all;
    for (const int i : atoms)
      for (int c = 0; c < 3; ++c) all.push_back(static_cast<Real>(s.x[3 * i + c]));
    return all;
  }
  static constexpr int BITS = sizeof(Flag) == 4 ? 10 : 21;
  std::vector<Flag> packed() const
  {
    std::vector<Flag> all;
    for (const int i : atoms) all.push_back(static_cast<Flag>(packed_flags(&s.flag[3 * i], BITS)));
    return all;
  }

  DeviceMembers members() const
  {
    DeviceMembers m;
    m.atoms.x = x.data();
    m.atoms.x_is_float = std::is_same<Real, float>::value;
    m.atoms.mask = mask.data();
    m.atoms.type = type.data();
    m.atoms.nlocal = m.atoms.nall = static_cast<int>(atoms.size());
    m.image = {flags.data(), BITS};
    m.mass_is_float = m.atoms.x_is_float;
    m.mass_is_by_type = s.weights == Weights::BY_TYPE;
    if (s.weights == Weights::BY_TYPE) m.mass = mass_of_type.data();
    if (s.weights == Weights::BY_ROW) m.mass = mass.data();
    return m;
  }
  int row_of(int i) const
  {
    const auto found = std::find(atoms.begin(), atoms.end(), i);
    return found == atoms.end() ? NOT_HERE : static_cast<int>(found - atoms.begin());
  }
  PointSelection selection() const
  {
    PointSelection chosen;
    chosen.bit = s.bit;
    for (const int i : s.atom) chosen.row.push_back(row_of(i));
    chosen.by_mass.assign(s.npoints(), s.weights != Weights::ONE);
    chosen.reference = s.references();
    return chosen;
  }

  // The same atoms for the host, which keeps pointers to them.
  GeometryAtoms on_host()
  {
    host_x.assign(3 * atoms.size(), 0.0);
    for (std::size_t k = 0; k < host_x.size(); ++k) host_x[k] = s.x[3 * atoms[k / 3] + k % 3];
    host_flags = packed();
    host_members.clear();
    for (int p = 0; p < s.npoints(); ++p)
      for (int row = 0; row < static_cast<int>(atoms.size()); ++row) {
        if (s.bit[p] == 0 && s.atom[p] == atoms[row]) host_members.push_back({row, p, 1.0});
        if (s.mask[atoms[row]] & s.bit[p]) host_members.push_back({row, p, s.weight(atoms[row])});
      }
    return {host_x.data(), {host_flags.data(), BITS}, host_members.data(), host_members.size()};
  }

  const System &s;
  std::vector<int> atoms;
  OnGpu<Real> x;
  OnGpu<Flag> flags;
  OnGpu<int> mask, type;
  OnGpu<Real> mass, mass_of_type;
  Numbers host_x;
  std::vector<Flag> host_flags;
  std::vector<GeometryMember> host_members;
};

template <class T> std::vector<T> read(const T *from, std::size_t n)
{
  std::vector<T> to(n);
  cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
  return to;
}

inline Numbers values_of(const gpucoord::ResidentMembers &resident)
{
  const gpucoord::DeviceValue value = resident.device_value();
  EXPECT_EQ(value.stride, 1);
  EXPECT_EQ(value.scale, 1.0);
  return read(value.sum, value.n);
}

// Forces on the GPU with the layouts of LAMMPS, [n][3] and [3][n], and one with gaps, [n][4].
template <class Real> class Forces {
 public:
  Forces(int n_in, int layout) :
      n(n_in), atom_stride(layout == 0       ? 3
                               : layout == 1 ? 1
                                             : 4),
      axis_stride(layout == 1 ? n : 1), before(4 * static_cast<std::size_t>(n), 0.5), f(before)
  {
  }
  gpucoord::DeviceForces view() const
  {
    return {f.data(), std::is_same<Real, float>::value, atom_stride, axis_stride};
  }
  // Returns what was subtracted, [n][3], and checks that the rest is unchanged.
  Numbers subtracted() const
  {
    std::vector<Real> now = f.get();
    Numbers found;
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < 3; ++c) {
        Real &one = now[atom_stride * i + axis_stride * c];
        found.push_back(0.5 - one);
        one = static_cast<Real>(0.5);
      }
    EXPECT_EQ(now, before);
    return found;
  }

 private:
  const int n;
  const std::int64_t atom_stride, axis_stride;
  const std::vector<Real> before;
  OnGpu<Real> f;
};

inline double largest(const Numbers &numbers)
{
  double found = 0.0;
  for (const double x : numbers) found = std::max(found, std::abs(x));
  return found;
}

inline void expect_near(const Numbers &found, const Numbers &expected, double bound,
                        const std::string &what)
{
  ASSERT_EQ(found.size(), expected.size()) << what;
  const double allowed = bound * std::max(1.0, largest(expected));
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k], expected[k], allowed) << what << ", number " << k;
}

// Sums of 100,000 terms differ by their order.
constexpr double IN_DOUBLE = 1e-9, IN_FLOAT = 1e-6;

#endif
