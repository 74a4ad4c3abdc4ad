// Part of GPUCOORD, GPL-2.0. The definition of S as plain loops, a reference for testing the
// backends.

#include "gpucoord/coordination.h"

#include "../core/minimum_image.h"
#include "../expression/custom_function_host.h"
#include "../switching/forms.h"
#include "../switching/switch_dispatch.h"

#include <vector>

namespace gpucoord {

namespace {

  // Columns of the per-atom output to add.
  enum class Columns { ALL, ONLY_S, ALL_BUT_S };

  class Reference {
   public:
    // s: [nlocal] additional destination of column 0; null: no destination
    Reference(const SwitchTable &table_in, const double *weight_in, unsigned want_in,
              double *peratom_in, Columns columns_in = Columns::ALL, double *s_in = nullptr) :
        table(table_in),
        weight(weight_in), want(want_in), peratom(want_in & DERIVATIVES ? peratom_in : nullptr),
        columns(columns_in), s_of_atoms(s_in)
    {
      for (const Switch &function : table.functions())
        functions.push_back({function, make_constants<double>(function), function.make_custom()});
    }

    // Adds one pair of atoms of these types. d: x_j - x_i, distance. counted: factor of the pair in
    // the value and virial. row_i, row_j: rows of the per-atom output; negative: the atom is not
    // owned, or the pair counts only for the other atom. weight_of_pair: factor of the derivatives
    // and the virial
    void add(const double *d, int type_i, int type_j, double counted, int row_i, int row_j,
             double weight_of_pair = 1.0)
    {
      const int index = table.function_of(type_i, type_j);
      if (index == SwitchTable::NONE) return;
      const Function &f = functions[index];
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
        s *= weight[table.index(type_i, type_j)];
        dfunc *= weight[table.index(type_i, type_j)];
      }
      dfunc *= weight_of_pair;
      result.value += counted * s;
      const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
      if (want & VIRIAL)
        for (int k = 0; k < 6; ++k)
          result.virial[k] -= counted * dfunc * d[first[k]] * d[second[k]];
      if (s_of_atoms && row_i >= 0) s_of_atoms[row_i] += s;
      if (!peratom) return;
      for (int end = 0; end < 2; ++end) {
        const int row = end ? row_j : row_i;
        if (row < 0) continue;
        const double sign = end ? 1.0 : -1.0;
        double *const out = peratom + peratom_columns(want) * static_cast<std::size_t>(row);
        if (columns != Columns::ALL_BUT_S) out[0] += s;
        if (columns == Columns::ONLY_S) continue;
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
    const Columns columns;
    double *const s_of_atoms;
  };

  // pass(reference, adds_to_b, counted, weights) adds each pair of an atom of a with an atom of b
  // to the atom of a, or to the atom of b if adds_to_b is true. counted: factor of the pair in the
  // value and the virial. weights: weights of the atoms of a; null: 1. function: null if S is the
  // sum of s(r_ij) over pairs, where each pair counts with the factor 'counted'
  template <class AddPairs>
  Contribution evaluate_passes(const SecondPass *function, double counted, bool two,
                               const SwitchTable &table, const double *weight, unsigned want,
                               double *peratom, const AddPairs &pass)
  {
    if (!function) {
      Reference reference(table, weight, want, peratom);
      pass(reference, false, counted, nullptr);
      if (two && want & DERIVATIVES) pass(reference, true, 0.0, nullptr);
      return reference.result;
    }
    Contribution result;
    Reference s_pass(table, weight, want, peratom, Columns::ONLY_S, function->s);
    pass(s_pass, false, 1.0, nullptr);
    if (const double *const weights = function->weights()) {
      Reference derivative_pass(table, weight, want, peratom, Columns::ALL_BUT_S);
      pass(derivative_pass, false, 0.0, weights);
      pass(derivative_pass, true, 1.0, weights);
      result = derivative_pass.result;
    }
    result.value = s_pass.result.value;
    return result;
  }

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
  const bool two = in.b.index != nullptr;
  const AtomList &b = two ? in.b : in.a;
  const int *const type = in.types.type;
  double d[3];
  const auto pass = [&](Reference &reference, bool is_second, double counted,
                        const double *weights) {
    const AtomList &list_i = is_second ? b : in.a, &list_j = is_second ? in.a : b;
    for (int k = 0; k < list_i.nowned; ++k)
      for (int l = 0; l < list_j.n; ++l) {
        const int i = list_i.index[k], j = list_j.index[l];
        if (i == j) continue;
        subtract(in.x + 3 * static_cast<std::size_t>(j), in.x + 3 * static_cast<std::size_t>(i), d);
        reference.add(d, type_of(type, i), type_of(type, j), counted, i, -1,
                      weights ? weights[is_second ? j : i] : 1.0);
      }
  };
  return evaluate_passes(in.second, two ? 1.0 : 0.5, two, table, in.types.weight, want, peratom,
                         pass);
}

Contribution reference_allpairs(const SwitchTable &table, const AllPairsInput &in, unsigned want,
                                double *peratom)
{
  const bool two = in.b.x != nullptr;
  const AllPairsInput::Group &b = two ? in.b : in.a;
  double d[3];
  const auto pass = [&](Reference &reference, bool is_second, double counted,
                        const double *weights) {
    const AllPairsInput::Group &gi = is_second ? b : in.a, &gj = is_second ? in.a : b;
    for (std::int64_t t = 0; t < gi.nowned; ++t)
      for (std::int64_t j = 0; j < gj.n; ++j) {
        const std::int64_t i = gi.first_owned + t;
        if (gi.id[i] == gj.id[j]) continue;
        subtract(gj.x + 3 * j, gi.x + 3 * i, d);
        minimum_image(in.box, d[0], d[1], d[2]);
        reference.add(d, type_of(gi.type, i), type_of(gj.type, j), counted, gi.row[t], -1,
                      weights ? weights[is_second ? j : i] : 1.0);
      }
  };
  return evaluate_passes(in.second, two ? 1.0 : 0.5, two, table, nullptr, want, peratom, pass);
}

Contribution reference_pairs(const SwitchTable &table, const PairsInput &in, unsigned want,
                             double *peratom)
{
  double d[3];
  // A pair is added to both of its atoms at once, with the weight of its first atom. For a function
  // of coordination numbers, s_i is the sum over pairs whose first atom is i.
  const auto pass = [&](Reference &reference, bool is_second, double /*counted*/,
                        const double *weights) {
    if (is_second) return;
    const bool both_ends = weights || !in.second;
    for (std::int64_t k = 0; k < in.n; ++k) {
      subtract(in.xb + 3 * k, in.xa + 3 * k, d);
      minimum_image(in.box, d[0], d[1], d[2]);
      reference.add(d, type_of(in.type_a, k), type_of(in.type_b, k), in.row_a[k] >= 0 ? 1.0 : 0.0,
                    in.row_a[k], both_ends ? in.row_b[k] : -1, weights ? weights[k] : 1.0);
    }
  };
  return evaluate_passes(in.second, 1.0, false, table, nullptr, want, peratom, pass);
}

}    // namespace gpucoord
