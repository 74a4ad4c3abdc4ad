// Part of GPUCOORD, GPL-2.0. Atoms across the faces of a box, groups of them, and evaluation of
// their items on one or several ranks.

#ifndef GPUCOORD_TEST_GEOMETRY_SYSTEMS_H
#define GPUCOORD_TEST_GEOMETRY_SYSTEMS_H

#include "gpucoord/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

using gpucoord::Geometry;
using gpucoord::GeometryBox;
using gpucoord::GeometryFlags;
using gpucoord::GeometryItem;
using gpucoord::GeometryMember;
using gpucoord::GeometryOptions;
using gpucoord::GeometryTerm;
using gpucoord::ItemFactors;
using Kind = GeometryItem::Kind;
using gpucoord::Unwrap;

constexpr double PI = 3.14159265358979323846;

struct BoxShape {
  std::string name;
  double edges[3][3];
  bool periodic[3];
};

inline std::vector<BoxShape> box_shapes()
{
  return {{"orthogonal", {{9, 0, 0}, {0, 10, 0}, {0, 0, 11}}, {true, true, true}},
          {"triclinic", {{9, 0, 0}, {4.5, 10, 0}, {-4.5, 5, 11}}, {true, true, true}},
          {"slab", {{9, 0, 0}, {4.5, 10, 0}, {0, 0, 40}}, {true, true, false}},
          {"free", {{9, 0, 0}, {0, 10, 0}, {0, 0, 11}}, {false, false, false}}};
}

inline GeometryBox box_of(const BoxShape &shape)
{
  GeometryBox box;
  box.box = gpucoord::make_box(shape.edges, shape.periodic);
  for (int k = 0; k < 3; ++k) std::copy_n(shape.edges[k], 3, box.edges[k]);
  return box;
}

inline std::int64_t packed_flags(const int *flag, int bits)
{
  std::int64_t all = 0;
  for (int axis = 2; axis >= 0; --axis)
    all = (all << bits) + flag[axis] + (std::int64_t(1) << (bits - 1));
  return all;
}

// Point p < natoms is atom p; the others are groups.
struct GeometrySystem {
  GeometrySystem(const BoxShape &, int natoms, std::uint64_t seed);

  void add_group(const std::vector<int> &atoms, const std::vector<double> &weight)
  {
    for (std::size_t k = 0; k < atoms.size(); ++k)
      members.push_back({atoms[k], npoints, weight[k]});
    first_member.push_back(atoms[0]);
    ++npoints;
  }

  // Returns the positions with the image flags, distance.
  std::vector<double> unwrapped(const double (*edges)[3]) const
  {
    std::vector<double> all = x;
    for (std::size_t k = 0; k < all.size(); ++k)
      for (int axis = 0; axis < 3; ++axis) all[k] += flags[k - k % 3 + axis] * edges[axis][k % 3];
    return all;
  }

  BoxShape shape;
  GeometryBox box;
  std::vector<double> x;     // [natoms][3] positions, inside the box along periodic edges
  std::vector<int> flags;    // [natoms][3]
  std::vector<GeometryMember> members;
  std::vector<int> first_member;    // [npoints]
  int npoints = 0;
};

// Atoms are within 0.3 box lengths around a corner of the box.
inline GeometrySystem::GeometrySystem(const BoxShape &shape_in, int natoms, std::uint64_t seed) :
    shape(shape_in), box(box_of(shape_in))
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> around(-0.15, 0.15);
  for (int i = 0; i < natoms; ++i) {
    double s[3], at[3] = {};
    for (int k = 0; k < 3; ++k) {
      s[k] = around(random) * (shape.periodic[k] ? 1.0 : 2.0);
      const int flag = shape.periodic[k] ? static_cast<int>(std::floor(s[k])) : 0;
      flags.push_back(flag);
      for (int c = 0; c < 3; ++c) at[c] += (s[k] - flag) * shape.edges[k][c];
    }
    x.insert(x.end(), at, at + 3);
    members.push_back({i, i, 1.0});
    first_member.push_back(i);
  }
  npoints = natoms;
  for (int c = 0; c < 3; ++c) {
    box.fixed[c] = 1.5 + c;
    box.fixed_in_shear[c] = 0.25 - c;
  }
}

// Differences of fourth order.
template <class Shifted> std::vector<double> differences(const Shifted &shifted)
{
  const double h = 1e-3;
  std::vector<double> all;
  const auto m2 = shifted(-2.0 * h), m1 = shifted(-h), p1 = shifted(h), p2 = shifted(2.0 * h);
  for (std::size_t k = 0; k < m1.size(); ++k)
    all.push_back((m2[k] - p2[k] + 8.0 * (p1[k] - m1[k])) / (12.0 * h));
  return all;
}

// Moves the atoms and the box by x_a' = x_a + e x_b, relative to what stays in place.
inline GeometrySystem strained(const GeometrySystem &from, int a, int b, double e)
{
  GeometrySystem to = from;
  for (int k = 0; k < 3; ++k) to.shape.edges[k][a] += e * from.shape.edges[k][b];
  to.box = box_of(to.shape);
  std::copy_n(from.box.fixed, 3, to.box.fixed);
  std::copy_n(from.box.fixed_in_shear, 3, to.box.fixed_in_shear);
  const double origin = a == b ? from.box.fixed[b] : from.box.fixed_in_shear[b];
  for (std::size_t i = 0; i < to.x.size(); i += 3) to.x[i + a] += e * (from.x[i + b] - origin);
  return to;
}

struct GeometryResult {
  std::vector<double> values, gradients, virials, atom_virials;    // [n], [n][natoms][3], ...
  GeometryFlags flags;
};

// The atoms of one rank.
struct GeometryRank {
  std::vector<double> x;
  std::vector<std::int32_t> flags32;
  std::vector<std::int64_t> flags64;
  std::vector<GeometryMember> members;
  std::vector<int> atom;    // of each row
  gpucoord::GeometryAtoms atoms;
};

// Atom i is on rank i % nranks. bits: of the image flags
inline std::vector<GeometryRank> ranks_of(const GeometrySystem &system, int nranks, int bits)
{
  std::vector<GeometryRank> ranks(nranks);
  for (std::size_t i = 0; i < system.x.size() / 3; ++i) {
    GeometryRank &rank = ranks[i % nranks];
    for (GeometryMember member : system.members) {
      if (member.row != static_cast<int>(i)) continue;
      member.row = static_cast<int>(rank.atom.size());
      rank.members.push_back(member);
    }
    rank.x.insert(rank.x.end(), &system.x[3 * i], &system.x[3 * i] + 3);
    rank.flags64.push_back(packed_flags(&system.flags[3 * i], bits));
    rank.flags32.push_back(static_cast<std::int32_t>(rank.flags64.back()));
    rank.atom.push_back(static_cast<int>(i));
  }
  for (GeometryRank &rank : ranks) {
    const void *packed = rank.flags64.data();
    if (bits == 10) packed = rank.flags32.data();
    rank.atoms = {rank.x.data(), {packed, bits}, rank.members.data(), rank.members.size()};
  }
  return ranks;
}

// Copies columns of the rows of a rank, [rows][stride], to their atoms, [atoms][columns].
inline void copy_rows(const GeometryRank &rank, const std::vector<double> &rows, int stride,
                      int columns, double *of_atoms)
{
  for (std::size_t row = 0; row < rank.atom.size(); ++row)
    std::copy_n(&rows[stride * row], columns, of_atoms + columns * rank.atom[row]);
}

inline GeometryResult evaluate(const GeometryOptions &options, const GeometrySystem &system,
                               int nranks = 1, int bits = 10)
{
  const std::size_t natoms = system.x.size() / 3;
  const auto all_x = system.unwrapped(system.box.edges);
  std::vector<double> reference;
  for (const int i : system.first_member)
    reference.insert(reference.end(), &all_x[3 * i], &all_x[3 * i] + 3);
  const std::vector<GeometryRank> ranks = ranks_of(system, nranks, bits);

  Geometry geometry(options);
  std::vector<double> sums(4 * options.npoints, 0.0), part(sums.size());
  for (const GeometryRank &rank : ranks) {
    geometry.sum(system.box, rank.atoms, reference.data(), part.data());
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
  }
  GeometryResult result;
  result.flags = geometry.evaluate(system.box, sums.data(), reference.data());
  const int n = geometry.nvalues();
  result.virials.resize(6 * n);
  for (int k = 0; k < n; ++k) {
    result.values.push_back(geometry.value(k));
    ItemFactors one;
    one.item = &k;
    geometry.add_virial(one, &result.virials[6 * k]);
    std::vector<double> gradients(3 * natoms), atom_virials(6 * natoms);
    for (const GeometryRank &rank : ranks) {
      std::vector<double> g(4 * rank.atom.size()), w(6 * rank.atom.size());
      geometry.add_gradients(one, rank.atoms, g.data(), 4);
      geometry.add_atom_virial(one, rank.atoms, w.data(), 6);
      copy_rows(rank, g, 4, 3, gradients.data());
      copy_rows(rank, w, 6, 6, atom_virials.data());
    }
    result.gradients.insert(result.gradients.end(), gradients.begin(), gradients.end());
    result.atom_virials.insert(result.atom_virials.end(), atom_virials.begin(), atom_virials.end());
  }
  return result;
}

#endif
