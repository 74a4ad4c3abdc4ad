// Part of GPUCOORD, GPL-2.0. Evaluation of a shape on one or several ranks.

#ifndef GPUCOORD_TEST_SHAPE_SYSTEMS_H
#define GPUCOORD_TEST_SHAPE_SYSTEMS_H

#include "geometry_systems.h"

#include "gpucoord/shape.h"

using gpucoord::Shape;
using gpucoord::ShapeOptions;
using gpucoord::ShapeTerm;
using ShapeKind = ShapeOptions::Kind;

struct ShapeResult {
  double value = 0.0, virial[6] = {};
  std::vector<double> gradients, atom_virials;    // [natoms][3], [natoms][6]
  unsigned flags = 0;
  bool had_residuals = false;
};

// The members of the system are those of the only point. Each of them has the reference position of
// its atom.
inline ShapeResult evaluate(const ShapeOptions &options, GeometrySystem system, int nranks = 1,
                            int bits = 10)
{
  const std::size_t natoms = system.x.size() / 3;
  const auto all_x = system.unwrapped(system.box.edges);
  const double *const origin = &all_x[3 * system.members[0].row];
  for (GeometryMember &member : system.members) {
    member.point = 0;
    member.reference = member.row;
  }
  const std::vector<GeometryRank> ranks = ranks_of(system, nranks, bits);
  const auto sum_over_ranks = [&](int n, const auto &sum) {
    std::vector<double> sums(n, 0.0), part(n);
    for (const GeometryRank &rank : ranks) {
      sum(rank.atoms, part.data());
      for (int k = 0; k < n; ++k) sums[k] += part[k];
    }
    return sums;
  };

  Shape shape(options);
  const auto sums = sum_over_ranks(shape.nsums(), [&](const auto &atoms, double *part) {
    shape.sum(system.box, atoms, origin, part);
  });
  ShapeResult result;
  shape.evaluate(system.box, sums.data(), origin);
  result.had_residuals = shape.nsums_again() > 0;
  if (result.had_residuals) {
    const auto again = sum_over_ranks(shape.nsums_again(), [&](const auto &atoms, double *part) {
      shape.sum_again(atoms, part);
    });
    shape.evaluate_again(again.data());
  }
  result.flags = shape.flags();
  result.value = shape.value();
  shape.add_virial({}, result.virial);
  result.gradients.resize(3 * natoms);
  result.atom_virials.resize(6 * natoms);
  for (const GeometryRank &rank : ranks) {
    std::vector<double> g(4 * rank.atom.size()), w(6 * rank.atom.size());
    shape.add_gradients({}, rank.atoms, g.data(), 4);
    shape.add_atom_virial({}, rank.atoms, w.data(), 6);
    copy_rows(rank, g, 4, 3, result.gradients.data());
    copy_rows(rank, w, 6, 6, result.atom_virials.data());
  }
  return result;
}

#endif
