// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD on the host: plain loops.

#include "gpucoord/shape.h"

#include "geometry_formulas.h"
#include "shape_formulas.h"

#include "../core/text_files.h"

#include "gpucoord/bytes_of.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gpucoord {

Shape::Shape(const ShapeOptions &options) : given(options)
{
  std::vector<double> &y = given.reference;
  if (given.kind == ShapeOptions::Kind::GYRATION) {
    if (!y.empty())
      throw OptionError("reference",
                        "the radius of gyration has no reference positions: leave "
                        "them out");
    return;
  }
  if (y.size() % 3 != 0 || y.size() < 6)
    throw OptionError("reference",
                      "there are " + std::to_string(y.size()) +
                          " numbers of reference positions: give three for each of "
                          "at least two atoms");
  for (const double one : y)
    if (!std::isfinite(one))
      throw OptionError("reference",
                        "a reference position has " + short_text(one) +
                            " but must have finite numbers");
  double center[3] = {}, extent = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    center[k % 3] += y[k];
    extent = std::max(extent, std::fabs(y[k] - y[k % 3]));
  }
  if (extent == 0.0)
    throw OptionError("reference",
                      "all reference positions are at the same place: give those of "
                      "atoms at two places or more");
  // Sums of small numbers are more exact.
  for (std::size_t k = 0; k < y.size(); ++k) y[k] -= 3.0 * center[k % 3] / y.size();
}

int Shape::nsums() const
{
  return given.kind == ShapeOptions::Kind::RMSD ? NSUMS_OF_RMSD : NSUMS_OF_GYRATION;
}

// Returns null without reference positions.
const double *Shape::own_reference(const GeometryMember &member) const
{
  const std::size_t k = member.reference;
  return given.reference.empty() ? nullptr : &given.reference[3 * k];
}

void Shape::sum(const GeometryBox &box, const GeometryAtoms &atoms, const double *reference,
                double *sums) const
{
  std::fill_n(sums, nsums(), 0.0);
  for (std::size_t m = 0; m < atoms.n; ++m) {
    const GeometryMember &member = atoms.member[m];
    double v[3];
    relative_position(box, given.unwrap, atoms.x + 3 * static_cast<std::size_t>(member.row),
                      atoms.image, member.row, reference, v);
    add_to_sums(member.weight, v, own_reference(member), sums);
  }
}

GeometryFlags Shape::evaluate(const GeometryBox &box, const double *sums, const double *reference)
{
  if (!(sums[SUM_W] > 0.0))
    throw std::invalid_argument("the members have weight " + short_text(sums[SUM_W]) +
                                " but must have > 0: give the group atoms");
  last_box = box;
  for (int c = 0; c < 3; ++c) last_reference[c] = reference ? reference[c] : 0.0;
  term = evaluate_shape(given.kind, given.squared, sums);
  return geometry_flags();
}

GeometryFlags Shape::geometry_flags() const
{
  GeometryFlags flags;
  flags.first_singular = index_of_singular(term.flags);
  flags.nsingular = flags.first_singular >= 0 ? 1 : 0;
  return flags;
}

// Calls visit(member, x, r) for each atom; see residual_of_member().
template <class Visit>
void Shape::for_each_member(const GeometryAtoms &atoms, const Visit &visit) const
{
  for (std::size_t m = 0; m < atoms.n; ++m) {
    const GeometryMember &member = atoms.member[m];
    double v[3], x[3], r[3];
    relative_position(last_box, given.unwrap, atoms.x + 3 * static_cast<std::size_t>(member.row),
                      atoms.image, member.row, last_reference, v);
    residual_of_member(term, v, own_reference(member), x, r);
    visit(member, x, r);
  }
}

int Shape::nsums_again() const
{
  return needs_residuals(term) ? NRESIDUALS : 0;
}

void Shape::sum_again(const GeometryAtoms &atoms, double *sums) const
{
  std::fill_n(sums, NRESIDUALS, 0.0);
  for_each_member(atoms, [&](const GeometryMember &member, const double *x, const double *r) {
    add_to_residuals(member.weight, x, r, sums);
  });
}

GeometryFlags Shape::evaluate_again(const double *sums)
{
  set_residuals(term, given.squared, sums);
  return geometry_flags();
}

namespace {

  double total_factor(const ItemFactors &factors)
  {
    double total = 0.0;
    for (int k = 0; k < factors.n; ++k)
      if (!factors.item || factors.item[k] != ItemFactors::NO_ITEM) total += factors.host_factor(k);
    return total;
  }

}    // namespace

void Shape::add_gradients(const ItemFactors &factors, const GeometryAtoms &atoms, double *array,
                          int stride) const
{
  const double factor = total_factor(factors) * term.slope / term.weight;
  if (factor == 0.0) return;
  for_each_member(atoms, [&](const GeometryMember &member, const double * /*x*/, const double *r) {
    double *const of_atom = array + static_cast<std::ptrdiff_t>(stride) * member.row;
    for (int c = 0; c < 3; ++c) of_atom[c] += factor * member.weight * r[c];
  });
}

void Shape::add_virial(const ItemFactors &factors, double virial[6]) const
{
  const double factor = total_factor(factors);
  for (int k = 0; k < 6 && factor != 0.0; ++k) virial[k] += factor * term.virial[k];
}

void Shape::add_atom_virial(const ItemFactors &factors, const GeometryAtoms &atoms, double *array,
                            int stride) const
{
  const double factor = total_factor(factors) * term.slope / term.weight;
  if (factor == 0.0) return;
  for_each_member(atoms, [&](const GeometryMember &member, const double *x, const double *r) {
    double *const of_atom = array + static_cast<std::ptrdiff_t>(stride) * member.row;
    for (int k = 0; k < 6; ++k) of_atom[k] -= factor * member.weight * r[axis_a(k)] * x[axis_b(k)];
  });
}

std::size_t Shape::bytes() const
{
  return bytes_of(given.reference);
}

}    // namespace gpucoord
