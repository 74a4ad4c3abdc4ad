// Part of GPUCOORD, GPL-2.0. The definition of S as plain loops, to check backends against.

#include "gpucoord/coordination.h"

#include "../core/minimum_image.h"
#include "../switching/custom_function_host.h"
#include "../switching/switch_dispatch.h"

#include <vector>

namespace gpucoord {

namespace {

  class Reference {
   public:
    Reference(const SwitchTable &table_in, const double *weight_in, unsigned want_in,
              double *peratom_in) :
        table(table_in),
        weight(weight_in), want(want_in), peratom(want_in & DERIVATIVES ? peratom_in : nullptr)
    {
      for (const Switch &function : table.functions())
        functions.push_back({function, make_constants<double>(function), function.make_custom()});
    }

    // Adds one pair of atoms of these types, d = x_j - x_i (distance). counted: the pair's share of
    // the value and virial. row_i, row_j: rows of the per-atom output; negative: not owned, or seen
    // from one end only.
    void add(const double *d, int type_i, int type_j, double counted, int row_i, int row_j)
    {
      const int number = table.number(type_i, type_j);
      if (number == SwitchTable::NONE) return;
      const Function &f = functions[number];
      const SwitchConstants<double> &c = f.constants;
      const double r_sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (!(r_sq <= c.dmax_sq)) return;
      double s = c.top, dfunc = 0.0;
      if (f.custom) {
        const double r = std::sqrt(r_sq);
        if (r > c.d0) {
          double derivative;
          f.custom->evaluate((r - c.d0) * c.inv_r0, s, derivative);
          s = s * c.stretch + c.shift;
          dfunc = derivative * c.stretch * c.inv_r0 / r;
        }
      } else {
        visit_formula(f.function, [&](auto formula) {
          formula.eval(c, r_sq, s, dfunc);
        });
      }
      if (weight) {
        s *= weight[table.place(type_i, type_j)];
        dfunc *= weight[table.place(type_i, type_j)];
      }
      result.value += counted * s;
      const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
      if (want & VIRIAL)
        for (int k = 0; k < 6; ++k)
          result.virial[k] -= counted * dfunc * d[first[k]] * d[second[k]];
      if (!peratom) return;
      for (int end = 0; end < 2; ++end) {
        const int row = end ? row_j : row_i;
        if (row < 0) continue;
        const double sign = end ? 1.0 : -1.0;
        double *const out = peratom + peratom_columns(want) * static_cast<std::size_t>(row);
        out[0] += s;
        for (int k = 0; k < 3; ++k) out[1 + k] += sign * dfunc * d[k];
        if (want & ATOM_VIRIAL)
          for (int k = 0; k < 6; ++k) out[4 + k] -= dfunc * d[first[k]] * d[second[k]];
      }
    }

    Contribution result;

   private:
    struct Function {
      const Switch &function;
      SwitchConstants<double> constants;
      std::unique_ptr<CustomFunction> custom;
    };
    const SwitchTable &table;
    const double *const weight;
    std::vector<Function> functions;
    const unsigned want;
    double *const peratom;
  };

  // Returns the type of atom k; 0 if no types are given.
  int type_of(const int *type, std::int64_t k)
  {
    return type ? type[k] : 0;
  }

  void subtract(const double *xj, const double *xi, double *d)
  {
    for (int k = 0; k < 3; ++k) d[k] = xj[k] - xi[k];
  }

}    // namespace

Contribution reference_cells(const SwitchTable &table, const CellsInput &in, unsigned want,
                             double *peratom)
{
  Reference reference(table, in.types.weight, want, peratom);
  const bool two = in.b.index != nullptr;
  const AtomList &b = two ? in.b : in.a;
  double d[3];
  const auto add = [&](int i, int j, double counted) {
    if (i == j) return;
    subtract(in.x + 3 * static_cast<std::size_t>(j), in.x + 3 * static_cast<std::size_t>(i), d);
    reference.add(d, type_of(in.types.type, i), type_of(in.types.type, j), counted, i, -1);
  };
  for (int i = 0; i < in.a.nowned; ++i)
    for (int j = 0; j < b.n; ++j) add(in.a.index[i], b.index[j], two ? 1.0 : 0.5);
  if (two && want & DERIVATIVES)
    for (int i = 0; i < b.nowned; ++i)
      for (int j = 0; j < in.a.n; ++j) add(b.index[i], in.a.index[j], 0.0);
  return reference.result;
}

Contribution reference_allpairs(const SwitchTable &table, const AllPairsInput &in, unsigned want,
                                double *peratom)
{
  Reference reference(table, nullptr, want, peratom);
  const bool two = in.b.x != nullptr;
  const AllPairsInput::Group &b = two ? in.b : in.a;
  double d[3];
  const auto pass = [&](const AllPairsInput::Group &gi, const AllPairsInput::Group &gj,
                        double counted) {
    for (std::int64_t t = 0; t < gi.nowned; ++t)
      for (std::int64_t j = 0; j < gj.n; ++j) {
        const std::int64_t i = gi.first_owned + t;
        if (gi.id[i] == gj.id[j]) continue;
        subtract(gj.x + 3 * j, gi.x + 3 * i, d);
        minimum_image(in.box, d[0], d[1], d[2]);
        reference.add(d, type_of(gi.type, i), type_of(gj.type, j), counted, gi.row[t], -1);
      }
  };
  pass(in.a, b, two ? 1.0 : 0.5);
  if (two && want & DERIVATIVES) pass(in.b, in.a, 0.0);
  return reference.result;
}

Contribution reference_pairs(const SwitchTable &table, const PairsInput &in, unsigned want,
                             double *peratom)
{
  Reference reference(table, nullptr, want, peratom);
  double d[3];
  for (std::int64_t k = 0; k < in.n; ++k) {
    subtract(in.xb + 3 * k, in.xa + 3 * k, d);
    minimum_image(in.box, d[0], d[1], d[2]);
    reference.add(d, type_of(in.type_a, k), type_of(in.type_b, k), in.row_a[k] >= 0 ? 1.0 : 0.0,
                  in.row_a[k], in.row_b[k]);
  }
  return reference.result;
}

}    // namespace gpucoord
