// Part of GPUCOORD, GPL-2.0. The definition of environment similarity as plain loops, a reference
// for testing the backends.
//
// S depends on the vectors d_ij = x_j - x_i of ordered pairs of an atom i of a and a partner j. The
// gradient g_ij = dS/dd_ij acts on atom j, and -g_ij on atom i. W is the sum of -g_ij (x) d_ij. It
// is not symmetric, because S changes when the atoms are rotated.

#include "gpucoord/environment_similarity.h"

#include "../order_values.h"
#include "environment_similarity_options.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace gpucoord {

namespace {

  class ReferenceEnvironmentSimilarity : public OrderParameter {
   public:
    explicit ReferenceEnvironmentSimilarity(const EnvironmentOptions &options) :
        opt(options), n(static_cast<int>(options.environments.size())), function(options.function)
    {
    }

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      check_input(opt, in);
      nexchanged = 0;
      weight.assign(static_cast<std::size_t>(n) * in.nall + 1, 0.0);
      OrderResult result;
      find_similarity(in, numbers, result);
      if (want & DERIVATIVES)
        for (int k = 0; k < in.cells.a.nowned; ++k)
          peratom[peratom_columns(want) * static_cast<std::size_t>(in.cells.a.index[k])] +=
              order[k];
      if (want & (DERIVATIVES | VIRIAL)) {
        in.exchange.forward(weight.data(), n);
        ++nexchanged;
        add_derivatives(in, want, peratom, result);
      }
      nexchanged = 0;
      return result;
    }

    void complete_exchanges(const OrderInput &in, unsigned want) override
    {
      make_missing_exchanges(nexchanged, opt, function, in, want);
      nexchanged = 0;
    }

    int exchange_columns() const override { return n; }
    std::size_t bytes() const override { return sizeof(double) * weight.capacity(); }

   private:
    static const AtomList &partners_of(const OrderInput &in)
    {
      return in.cells.b.index ? in.cells.b : in.cells.a;
    }

    // Sets d_ij. Returns false if the atoms are not partners.
    bool set_vector(const OrderInput &in, int i, int j, double *d) const
    {
      if (i == j) return false;
      double r_sq = 0.0;
      for (int c = 0; c < 3; ++c) {
        d[c] = in.cells.x[3 * static_cast<std::size_t>(j) + c] -
            in.cells.x[3 * static_cast<std::size_t>(i) + c];
        r_sq += d[c] * d[c];
      }
      return std::sqrt(r_sq) <= reach(opt);
    }

    // Returns the term of the pair in k_e(i), and sets its gradient with respect to d.
    double term(const OrderInput &in, int e, int j, const double *d, double *gradient) const
    {
      const Environment &environment = opt.environments[e];
      const double nvectors = static_cast<double>(environment.size());
      double sum = 0.0;
      for (int c = 0; c < 3; ++c) gradient[c] = 0.0;
      for (const EnvironmentVector &v : environment) {
        if (v.type != 0 && in.cells.types.type[j] != v.type) continue;
        double distance_sq = 0.0;
        for (int c = 0; c < 3; ++c) distance_sq += (d[c] - v.r[c]) * (d[c] - v.r[c]);
        const double gaussian = std::exp(-distance_sq / (4.0 * opt.sigma * opt.sigma)) / nvectors;
        sum += gaussian;
        for (int c = 0; c < 3; ++c)
          gradient[c] -= gaussian * (d[c] - v.r[c]) / (2.0 * opt.sigma * opt.sigma);
      }
      return sum;
    }

    void find_similarity(const OrderInput &in, const OrderNumbers &numbers, OrderResult &result)
    {
      const AtomList &a = in.cells.a, &partners = partners_of(in);
      order.assign(a.nowned + 1, 0.0);
      std::vector<double> f(a.nowned + 1), dSdv(a.nowned + 1), all(a.nowned * n + 1, 0.0);
      double d[3], gradient[3];
      for (int k = 0; k < a.nowned; ++k) {
        double *const atom_similarity = &all[k * n];
        bool any = false;
        for (int p = 0; p < partners.n; ++p) {
          const int j = partners.index[p];
          if (!set_vector(in, a.index[k], j, d)) continue;
          any = true;
          for (int e = 0; e < n; ++e) atom_similarity[e] += term(in, e, j, d, gradient);
        }
        if (any) ++result.natoms_with_partners;
        order[k] = joined_similarity(opt.lambda, n, atom_similarity);
      }
      const auto reduce = [&](double *sums, int m, AtomFunction::Reduction by) {
        in.exchange.reduce(sums, m, by);
        ++nexchanged;
      };
      result.value =
          function.evaluate(a.nowned, order.data(), f.data(), dSdv.data(), reduce, 1).value;
      for (int k = 0; k < a.nowned; ++k) {
        const std::size_t i = a.index[k];
        if (numbers.order) numbers.order[i] = order[k];
        if (numbers.f) numbers.f[i] = f[k];
        for (int e = 0; e < n; ++e)
          weight[n * i + e] = dSdv[k] * environment_weight(opt.lambda, all[k * n + e], order[k]);
      }
      set_bad(a, order.data(), f.data(), dSdv.data(), result);
    }

    // Sets g_ij.
    bool set_gradient(const OrderInput &in, int i, int j, double *d, double *g) const
    {
      if (!set_vector(in, i, j, d)) return false;
      double gradient[3];
      for (int c = 0; c < 3; ++c) g[c] = 0.0;
      for (int e = 0; e < n; ++e) {
        term(in, e, j, d, gradient);
        for (int c = 0; c < 3; ++c)
          g[c] += weight[n * static_cast<std::size_t>(i) + e] * gradient[c];
      }
      return true;
    }

    void add_derivatives(const OrderInput &in, unsigned want, double *peratom, OrderResult &result)
    {
      const AtomList &a = in.cells.a, &partners = partners_of(in);
      // sign: sign of d_ij in the position of the atom in row. virial: virial of the rank; null:
      // not added
      const auto add_pair = [&](int row, double sign, const double *g, const double *d,
                                double *virial) {
        const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
        double *const out = want & DERIVATIVES
            ? peratom + peratom_columns(want) * static_cast<std::size_t>(row)
            : nullptr;
        if (out)
          for (int c = 0; c < 3; ++c) out[1 + c] += sign * g[c];
        for (int c = 0; c < 6; ++c) {
          const double w = -g[first[c]] * d[second[c]];
          if (virial) virial[c] += w;
          if (out && want & ATOM_VIRIAL) out[4 + c] += w;
        }
      };
      double d[3], g[3];
      for (int k = 0; k < a.nowned; ++k)
        for (int p = 0; p < partners.n; ++p)
          if (set_gradient(in, a.index[k], partners.index[p], d, g))
            add_pair(a.index[k], -1.0, g, d, want & VIRIAL ? result.virial : nullptr);
      if (!(want & DERIVATIVES)) return;
      for (int k = 0; k < a.n; ++k)
        for (int p = 0; p < partners.nowned; ++p)
          if (set_gradient(in, a.index[k], partners.index[p], d, g))
            add_pair(partners.index[p], 1.0, g, d, nullptr);
    }

    const EnvironmentOptions opt;
    const int n;    // number of environments
    AtomFunction function;
    std::vector<double> order;     // [a.nowned] v
    std::vector<double> weight;    // [nall][n] dS/dk_e
    int nexchanged = 0;            // exchanges so far in this evaluation
  };

}    // namespace

std::unique_ptr<OrderParameter>
make_reference_environment_similarity(const EnvironmentOptions &options)
{
  check_options(options);
  return std::make_unique<ReferenceEnvironmentSimilarity>(options);
}

}    // namespace gpucoord
