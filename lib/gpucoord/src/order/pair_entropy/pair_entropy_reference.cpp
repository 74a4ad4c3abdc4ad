// Part of GPUCOORD, GPL-2.0. The definition of the pair entropy as plain loops, to check backends
// against.

#include "gpucoord/pair_entropy.h"

#include "../host_order.h"
#include "../order_values.h"
#include "../reference_pairs.h"
#include "pair_entropy_integral.h"

#include "gpucoord/bytes_of.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace gpucoord {

namespace {

  const double PI = std::acos(-1.0);

  class ReferencePairEntropy : public HostOrder {
   public:
    explicit ReferencePairEntropy(const PairEntropyOptions &options_in) :
        opt(options_in), spacing(opt.cutoff / opt.bins), g(opt.bins)
    {
    }

    int exchange_columns() const override { return 1; }
    std::vector<double> global_vector() const override { return g; }
    std::size_t bytes() const override { return bytes_of(g, values); }

   private:
    void check_input(const OrderInput &in) const override { check_volume(in.volume); }

    OrderResult compute(const OrderInput &in, unsigned want, double *peratom,
                        const OrderNumbers &numbers) override
    {
      const AtomList &a = in.cells.a, &b = partners_of(in);
      OrderResult result;
      std::vector<double> sums(opt.bins + 2, 0.0);
      values.value.assign(in.nall, 0.0);
      for (int n = 0; n < a.nowned; ++n) {
        const int i = a.index[n];
        for (int m = 0; m < b.n; ++m) {
          double d[3];
          const double r = set_vector(in, i, b.index[m], d);
          if (i == b.index[m] || r > reach(opt)) continue;
          for (int k = 0; k < opt.bins; ++k) sums[k] += gaussian(node(k) - r);
          if (r <= opt.cutoff) values.value[i] += 1.0;
        }
        if (values.value[i] > 0.0) ++result.natoms_with_partners;
      }
      values.write(a, numbers, want, peratom, 1);
      sums[opt.bins] = a.nowned;
      sums[opt.bins + 1] = b.nowned;
      in.exchange.reduce(sums.data(), opt.bins + 2, AtomFunction::Reduction::SUM);
      na = sums[opt.bins];
      nb = sums[opt.bins + 1];
      set_value(sums, in.volume, result);
      if (want & (DERIVATIVES | VIRIAL) && na > 0.0 && nb > 0.0)
        add_derivatives(in, want, peratom, result);
      return result;
    }

    double node(int k) const { return (k + 1) * spacing; }
    double weight(int k) const { return (k + 1 == opt.bins ? 0.5 : 1.0) * spacing; }

    double gaussian(double x) const
    {
      const double u = x / opt.sigma;
      return std::fabs(u) > GAUSSIAN_REACH
          ? 0.0
          : std::exp(-0.5 * u * u) / (std::sqrt(2.0 * PI) * opt.sigma);
    }

    // Sets g, S and dS/dln V.
    void set_value(const std::vector<double> &sums, double volume, OrderResult &result)
    {
      g.assign(opt.bins, 0.0);
      by_log_volume = 0.0;
      if (na == 0.0 || nb == 0.0) return;
      const double density = nb / volume;
      for (int k = 0; k < opt.bins; ++k) {
        const double r_sq = node(k) * node(k);
        g[k] = sums[k] / (4.0 * PI * na * density * r_sq);
        const double entropy = g[k] > 0.0 ? g[k] * std::log(g[k]) : 0.0;
        result.value -= 2.0 * PI * density * weight(k) * r_sq * (entropy - g[k] + 1.0);
        by_log_volume += 2.0 * PI * density * weight(k) * r_sq * (1.0 - g[k]);
      }
    }

    // dS/dr of an ordered pair.
    double dSdr(double r) const
    {
      double sum = 0.0;
      for (int k = 0; k < opt.bins; ++k) {
        const double x = node(k) - r;
        if (g[k] > 0.0)
          sum -=
              weight(k) / (2.0 * na) * std::log(g[k]) * gaussian(x) * x / (opt.sigma * opt.sigma);
      }
      return sum;
    }

    void add_derivatives(const OrderInput &in, unsigned want, double *peratom,
                         OrderResult &result) const
    {
      const AtomList &a = in.cells.a, &b = partners_of(in);
      add_gradients(in, want, true, peratom, result, [&](int i, int j, double *d, double *g) {
        const double r = set_vector(in, i, j, d);
        if (i == j || r == 0.0 || r > reach(opt)) return false;
        const double slope = dSdr(r) / r;
        for (int k = 0; k < 3; ++k) g[k] = slope * d[k];
        return true;
      });
      // The term of the density, of which each owned atom of a list has a share.
      const auto add_share = [&](const AtomList &atoms, double share, bool in_total) {
        for (int n = 0; n < atoms.nowned; ++n)
          for (int k = 0; k < 3; ++k) {
            if (in_total && want & VIRIAL) result.virial[k] -= share;
            if (peratom && want & ATOM_VIRIAL)
              peratom[peratom_columns(want) * static_cast<std::size_t>(atoms.index[n]) + 4 + k] -=
                  share;
          }
      };
      add_share(a, by_log_volume / na, true);
      add_share(b, by_log_volume / nb, false);
    }

    const PairEntropyOptions opt;
    const double spacing;    // distance between nodes
    std::vector<double> g;
    double na = 0.0, nb = 0.0, by_log_volume = 0.0;
    OrderValues values;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_reference_order(const PairEntropyOptions &options)
{
  check_options(options);
  return std::make_unique<ReferencePairEntropy>(options);
}

}    // namespace gpucoord
