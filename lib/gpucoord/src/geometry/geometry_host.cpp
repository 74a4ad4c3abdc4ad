// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers on the host: plain loops.

#include "gpucoord/geometry.h"

#include "geometry_formulas.h"

#include "../core/checks.h"

#include "gpucoord/bytes_of.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gpucoord {

namespace {

  constexpr double PI = 3.14159265358979323846;

  void check_item(const GeometryOptions &options, std::size_t k)
  {
    const GeometryItem &item = options.items[k];
    const std::string name = "item " + std::to_string(k + 1);
    const int *const end = item.point + points_of(item.kind);
    for (const int *p = item.point; p < end; ++p) {
      if (*p < 0 || *p >= options.npoints)
        throw OptionError("items",
                          name + " has point " + std::to_string(*p) + " of " +
                              std::to_string(options.npoints) + " points, counted from 0");
      if (std::count(item.point, end, *p) > 1)
        throw OptionError("items", name + " has a point twice: use different points");
    }
    if (item.axis < 0 || item.axis > 2)
      throw OptionError(
          "items", name + " has axis " + std::to_string(item.axis) + " but must have 0, 1 or 2");
  }

}    // namespace

Geometry::Geometry(const GeometryOptions &options_in) : given(options_in)
{
  if (given.items.empty()) throw OptionError("items", "there are no items: give at least one");
  check_positive<OptionError>("scale", "scale", given.scale);
  double unused[2];
  for (std::size_t k = 0; k < given.items.size(); ++k) {
    check_item(given, k);
    const int n = values_of(given.items[k].kind, given.sincos, given.scale, 0.0, unused, unused);
    item_of_value.insert(item_of_value.end(), n, static_cast<int>(k));
  }
  values.resize(item_of_value.size());
  slopes.resize(item_of_value.size());
  points.resize(3 * static_cast<std::size_t>(given.npoints));
  weights.resize(given.npoints);
  terms.resize(given.items.size());
}

Period Geometry::period(int k) const
{
  const bool is_dihedral = given.items[item_of_value[k]].kind == GeometryItem::Kind::DIHEDRAL;
  return is_dihedral && !given.sincos ? Period{-PI, 2.0 * PI} : Period{};
}

void Geometry::sum(const GeometryBox &box, const GeometryAtoms &atoms, const double *reference,
                   double *sums) const
{
  std::fill_n(sums, 4 * static_cast<std::size_t>(given.npoints), 0.0);
  for (std::size_t m = 0; m < atoms.n; ++m) {
    const GeometryMember &member = atoms.member[m];
    const std::size_t p = member.point;
    double d[3];
    relative_position(box, given.unwrap, atoms.x + 3 * static_cast<std::size_t>(member.row),
                      atoms.image, member.row, reference ? reference + 3 * p : nullptr, d);
    for (int c = 0; c < 3; ++c) sums[4 * p + c] += member.weight * d[c];
    sums[4 * p + 3] += member.weight;
  }
}

GeometryFlags Geometry::evaluate(const GeometryBox &box, const double *sums,
                                 const double *reference)
{
  for (std::size_t p = 0; p < weights.size(); ++p) {
    weights[p] = sums[4 * p + 3];
    if (!(weights[p] > 0.0))
      throw std::invalid_argument("point " + std::to_string(p) + ", counted from 0, has weight " +
                                  short_text(weights[p]) + " but must have > 0: give it atoms");
    for (std::size_t c = 0; c < 3; ++c)
      points[3 * p + c] = sums[4 * p + c] / weights[p] + (reference ? reference[3 * p + c] : 0.0);
  }
  GeometryFlags flags;
  int next = 0;    // value
  for (int k = 0; k < static_cast<int>(terms.size()); ++k) {
    const GeometryItem &item = given.items[k];
    terms[k] = evaluate_item(item, box, given.nearest, points.data());
    next += values_of(item.kind, given.sincos, given.scale, terms[k].value, &values[next],
                      &slopes[next]);
    if (terms[k].flags & GeometryTerm::SINGULAR && flags.nsingular++ == 0) flags.first_singular = k;
    if (terms[k].flags & GeometryTerm::FAR && flags.first_far < 0) flags.first_far = k;
  }
  return flags;
}

template <class Visit>
void Geometry::for_each_item(const ItemFactors &factors, const Visit &visit) const
{
  std::vector<double> of_items(terms.size(), 0.0);
  for (int k = 0; k < factors.n; ++k) {
    const int value = factors.item ? factors.item[k] : k;
    const double factor = factors.host_factor(k);
    if (value != ItemFactors::NO_ITEM && factor != 0.0)
      of_items[item_of_value[value]] += factor * slopes[value];
  }
  for (std::size_t k = 0; k < terms.size(); ++k)
    if (of_items[k] != 0.0) visit(given.items[k], terms[k], of_items[k]);
}

// add(kind, term, point of the item, factor, sum): adds to the sum of the point, [columns]
template <class Add>
void Geometry::add_to_members(const ItemFactors &factors, const GeometryAtoms &atoms, int columns,
                              double *array, int stride, const Add &add) const
{
  std::vector<double> of_points(columns * weights.size(), 0.0);
  const auto of_point = [&](int p) {
    return of_points.data() + static_cast<std::ptrdiff_t>(columns) * p;
  };
  for_each_item(factors, [&](const GeometryItem &item, const GeometryTerm &term, double factor) {
    for (int p = 0; p < points_of(item.kind); ++p)
      add(item.kind, term, p, factor, of_point(item.point[p]));
  });
  for (std::size_t m = 0; m < atoms.n; ++m) {
    const GeometryMember &member = atoms.member[m];
    const double share = member.weight / weights[member.point];
    double *const of_atom = array + static_cast<std::ptrdiff_t>(stride) * member.row;
    for (int c = 0; c < columns; ++c) of_atom[c] += share * of_point(member.point)[c];
  }
}

void Geometry::add_gradients(const ItemFactors &factors, const GeometryAtoms &atoms, double *array,
                             int stride) const
{
  add_to_members(factors, atoms, 3, array, stride, add_gradient);
}

void Geometry::add_virial(const ItemFactors &factors, double virial[6]) const
{
  for_each_item(factors, [&](const GeometryItem &item, const GeometryTerm &term, double factor) {
    add_virial_of_item(item.kind, term, factor, virial);
  });
}

void Geometry::add_atom_virial(const ItemFactors &factors, const GeometryAtoms &atoms,
                               double *array, int stride) const
{
  add_to_members(factors, atoms, 6, array, stride, add_virial_of_point);
}

std::size_t Geometry::bytes() const
{
  return bytes_of(given.items, item_of_value, values, slopes, points, weights, terms);
}

}    // namespace gpucoord
