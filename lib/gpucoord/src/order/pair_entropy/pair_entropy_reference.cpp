// Part of GPUCOORD, GPL-2.0. The definition of the pair entropy as plain loops, to check backends
// against.

#include "gpucoord/pair_entropy.h"

#include "pair_entropy_integral.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace gpucoord {

namespace {

  const double PI = std::acos(-1.0);

  class ReferencePairEntropy : public PairEntropy {
   public:
    explicit ReferencePairEntropy(const PairEntropyOptions &options_in) :
        opt(options_in), spacing(opt.cutoff / opt.bins), g(opt.bins)
    {
    }

    int exchange_columns() const override { return 1; }
    const std::vector<double> &distribution() const override { return g; }
    std::size_t bytes() const override { return sizeof(double) * g.capacity(); }

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      was_summed = false;
      check_volume(in.volume);
      const AtomList &a = in.cells.a, &b = in.cells.b.index ? in.cells.b : in.cells.a;
      const std::size_t columns = peratom_columns(want);
      OrderResult result;
      std::vector<double> sums(opt.bins + 2, 0.0);
      for (int n = 0; n < a.nowned; ++n) {
        const int i = a.index[n];
        int npartners = 0;
        visit_partners(in, i, b, [&](int, const double *, double r) {
          for (int k = 0; k < opt.bins; ++k) sums[k] += gaussian(node(k) - r);
          if (r <= opt.cutoff) ++npartners;
        });
        if (npartners > 0) ++result.natoms_with_partners;
        if (numbers.order) numbers.order[i] = npartners;
        if (numbers.f) numbers.f[i] = npartners;
        if (want & DERIVATIVES) peratom[columns * i] += npartners;
      }
      sums[opt.bins] = a.nowned;
      sums[opt.bins + 1] = b.nowned;
      in.exchange.reduce(sums.data(), opt.bins + 2, AtomFunction::Reduction::SUM);
      was_summed = true;
      na = sums[opt.bins];
      nb = sums[opt.bins + 1];
      set_value(sums, in.volume, result);
      if (want & (DERIVATIVES | VIRIAL) && na > 0.0 && nb > 0.0)
        add_derivatives(in, want, peratom, result);
      was_summed = false;
      return result;
    }

    void complete_exchanges(const OrderInput &in, unsigned) override
    {
      std::vector<double> zeros(opt.bins + 2);
      if (!was_summed) in.exchange.reduce(zeros.data(), opt.bins + 2, AtomFunction::Reduction::SUM);
      was_summed = false;
    }

   private:
    double node(int k) const { return (k + 1) * spacing; }
    double weight(int k) const { return (k + 1 == opt.bins ? 0.5 : 1.0) * spacing; }

    double gaussian(double x) const
    {
      const double u = x / opt.sigma;
      return std::fabs(u) > GAUSSIAN_REACH
          ? 0.0
          : std::exp(-0.5 * u * u) / (std::sqrt(2.0 * PI) * opt.sigma);
    }

    // Calls visit(row, d, r) for all atoms of the list within reach of row i.
    template <class Visit>
    void visit_partners(const OrderInput &in, int i, const AtomList &list, const Visit &visit) const
    {
      for (int n = 0; n < list.n; ++n) {
        const int j = list.index[n];
        if (i == j) continue;
        double d[3], r_sq = 0.0;
        for (int c = 0; c < 3; ++c) {
          d[c] = in.cells.x[3 * static_cast<std::size_t>(j) + c] -
              in.cells.x[3 * static_cast<std::size_t>(i) + c];
          r_sq += d[c] * d[c];
        }
        const double r = std::sqrt(r_sq);
        if (r <= reach(opt)) visit(j, d, r);
      }
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
      const AtomList &a = in.cells.a, &b = in.cells.b.index ? in.cells.b : in.cells.a;
      const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
      const std::size_t columns = peratom_columns(want);
      // Adds the terms of all pairs of the owned atoms of one list with those of another. virial:
      // sum of the rank; null: not added. by_log_volume_of_atom: share of each owned atom.
      const auto add = [&](const AtomList &atoms, const AtomList &partners, double *virial,
                           double by_log_volume_of_atom) {
        for (int n = 0; n < atoms.nowned; ++n) {
          double *const out = want & DERIVATIVES ? peratom + columns * atoms.index[n] : nullptr;
          const auto add_virial = [&](int k, double w) {
            if (virial) virial[k] += w;
            if (want & ATOM_VIRIAL) out[4 + k] += w;
          };
          visit_partners(in, atoms.index[n], partners, [&](int, const double *d, double r) {
            if (r == 0.0) return;
            const double force = dSdr(r) / r;
            if (out)
              for (int k = 0; k < 3; ++k) out[1 + k] -= force * d[k];
            for (int k = 0; k < 6; ++k) add_virial(k, -force * d[first[k]] * d[second[k]]);
          });
          for (int k = 0; k < 3; ++k) add_virial(k, -by_log_volume_of_atom);
        }
      };
      double *const virial = want & VIRIAL ? result.virial : nullptr;
      add(a, b, virial, by_log_volume / na);
      if (want & DERIVATIVES) add(b, a, nullptr, by_log_volume / nb);
    }

    const PairEntropyOptions opt;
    const double spacing;    // distance between nodes
    std::vector<double> g;
    double na = 0.0, nb = 0.0, by_log_volume = 0.0;
    bool was_summed = false;    // over ranks, in this evaluation
  };

}    // namespace

std::unique_ptr<PairEntropy> make_reference_pair_entropy(const PairEntropyOptions &options)
{
  check_options(options);
  return std::make_unique<ReferencePairEntropy>(options);
}

}    // namespace gpucoord
