// Part of GPUCOORD, GPL-2.0. The definition of S in plain loops, to check backends against.

#include "gpucoord/coordination.h"

#include "../common/minimum_image.h"
#include "../common/switch_dispatch.h"
#include "custom_function.h"

namespace gpucoord {

namespace {

  class Reference {
   public:
    Reference(const Switch &function_in, unsigned want_in, double *peratom_in) :
        function(function_in), c(make_constants<double>(function_in)),
        custom(function_in.make_custom()), want(want_in),
        peratom(want_in & DERIVATIVES ? peratom_in : nullptr)
    {
    }

    // One pair, d = x_j - x_i, seen from i only or from both ends; rows < 0 are
    // not this rank's. counted: the pair's share in the value.
    void add(const double *d, double counted, int row_i, int row_j)
    {
      const double r_sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (!(r_sq <= c.dmax_sq)) return;
      double s = 1.0, dfunc = 0.0;
      if (custom) {
        const double r = std::sqrt(r_sq);
        if (r > c.d0) {
          double slope;
          custom->evaluate((r - c.d0) * c.inv_r0, s, slope);
          s = s * c.stretch + c.shift;
          dfunc = slope * c.stretch * c.inv_r0 / r;
        }
      } else {
        visit_formula(function, [&](auto formula) { formula.eval(c, r_sq, s, dfunc); });
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
    const Switch &function;
    const SwitchConstants<double> c;
    const std::unique_ptr<CustomFunction> custom;
    const unsigned want;
    double *const peratom;
  };

  void subtract(const double *xj, const double *xi, double *d)
  {
    for (int k = 0; k < 3; ++k) d[k] = xj[k] - xi[k];
  }

}    // namespace

Contribution reference_cells(const Switch &function, const CellsInput &in, unsigned want,
                             double *peratom)
{
  Reference reference(function, want, peratom);
  const bool two = in.b.index != nullptr;
  const AtomList &b = two ? in.b : in.a;
  double d[3];
  const auto x = [&in](int row) { return in.x + 3 * static_cast<std::size_t>(row); };
  for (int i = 0; i < in.a.nowned; ++i)
    for (int j = 0; j < b.n; ++j) {
      if (in.a.index[i] == b.index[j]) continue;
      subtract(x(b.index[j]), x(in.a.index[i]), d);
      reference.add(d, two ? 1.0 : 0.5, in.a.index[i], -1);
    }
  if (two && want & DERIVATIVES)
    for (int i = 0; i < b.nowned; ++i)
      for (int j = 0; j < in.a.n; ++j) {
        if (in.a.index[j] == b.index[i]) continue;
        subtract(x(in.a.index[j]), x(b.index[i]), d);
        reference.add(d, 0.0, b.index[i], -1);
      }
  return reference.result;
}

Contribution reference_allpairs(const Switch &function, const AllPairsInput &in, unsigned want,
                                double *peratom)
{
  Reference reference(function, want, peratom);
  const bool two = in.b.x != nullptr;
  const AllPairsInput::Group &b = two ? in.b : in.a;
  double d[3];
  const auto pass = [&](const AllPairsInput::Group &gi, const AllPairsInput::Group &gj, double counted) {
    for (std::int64_t t = 0; t < gi.nowned; ++t)
      for (std::int64_t j = 0; j < gj.n; ++j) {
        const std::int64_t i = gi.first_owned + t;
        if (gi.id[i] == gj.id[j]) continue;
        subtract(gj.x + 3 * j, gi.x + 3 * i, d);
        minimum_image(in.box, d[0], d[1], d[2]);
        reference.add(d, counted, gi.row[t], -1);
      }
  };
  pass(in.a, b, two ? 1.0 : 0.5);
  if (two && want & DERIVATIVES) pass(in.b, in.a, 0.0);
  return reference.result;
}

Contribution reference_pairs(const Switch &function, const PairsInput &in, unsigned want,
                             double *peratom)
{
  Reference reference(function, want, peratom);
  double d[3];
  for (std::int64_t k = 0; k < in.n; ++k) {
    subtract(in.xb + 3 * k, in.xa + 3 * k, d);
    minimum_image(in.box, d[0], d[1], d[2]);
    reference.add(d, in.row_a[k] >= 0 ? 1.0 : 0.0, in.row_a[k], in.row_b[k]);
  }
  return reference.result;
}

}    // namespace gpucoord
