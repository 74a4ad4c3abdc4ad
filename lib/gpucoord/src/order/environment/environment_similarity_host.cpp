// Part of GPUCOORD, GPL-2.0. The host backend of environment similarity: OpenMP over blocks of
// atoms, SIMD over partners.
//
// Pass 1 computes k_e of each atom. Pass 2 computes forces from dS/dk_e of the atom and of its
// partners; dS/dk_e of ghost atoms is exchanged before it. Every owned atom sums over all its
// partners in a fixed order, and blocks of atoms are added in order.

#include "gpucoord/environment_similarity.h"

#include "../order_host.h"
#include "../order_values.h"
#include "environment_kernels_host.h"
#include "environment_similarity_options.h"

#include "../../core/clock.h"
#include "../../core/instruction_set.h"
#include "../../pairs/weights_host.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace gpucoord {

GPUCOORD_SELECT_KERNELS(EnvironmentKernels, get_environment_kernels, select_environment_kernels)

namespace {

  // Storage of an EnvironmentTable.
  template <class Real> class Environments {
   public:
    explicit Environments(const EnvironmentOptions &options) :
        scale(0.5 / options.sigma), typed(has_types(options))
    {
      for (const Environment &environment : options.environments) {
        first.push_back(static_cast<int>(x.size()));
        is_symmetric.push_back(!typed && equals_its_inverse(environment));
        for (const EnvironmentVector &v : environment) {
          x.push_back(static_cast<Real>(v.r[0] * scale));
          y.push_back(static_cast<Real>(v.r[1] * scale));
          z.push_back(static_cast<Real>(v.r[2] * scale));
          type.push_back(v.type);
        }
      }
      first.push_back(static_cast<int>(x.size()));
    }

    EnvironmentTable<Real> table() const
    {
      return {size(),
              first.data(),
              x.data(),
              y.data(),
              z.data(),
              typed ? type.data() : nullptr,
              is_symmetric.data(),
              static_cast<Real>(scale)};
    }
    int size() const { return static_cast<int>(is_symmetric.size()); }
    int nvectors(int e) const { return first[e + 1] - first[e]; }

   private:
    const double scale;    // 1/(2 sigma)
    const bool typed;
    std::vector<int> first, type;
    std::vector<Real> x, y, z;
    std::vector<char> is_symmetric;
  };

  template <class Real> class HostEnvironmentSimilarity : public OrderParameter {
   public:
    HostEnvironmentSimilarity(const EnvironmentOptions &options_in, int nthreads_in) :
        options(options_in), nthreads(std::max(1, nthreads_in)), environments(options),
        table(environments.table()), function(options.function),
        kernels(select_environment_kernels<Real>()), pairs(reach(options), reach(options), nthreads)
    {
    }

    int exchange_columns() const override { return table.n; }
    std::size_t bytes() const override
    {
      return bytes_of(similarity, weight, rounded, values, pairs);
    }

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      check_input(options, in);
      if (!(want & DERIVATIVES)) peratom = nullptr;
      OrderResult result;
      const double start = seconds();
      pairs.find(in.cells);
      const double found = seconds();
      sum_environments(in);
      for (std::size_t b = 0; b < pairs.partners_a.nblocks(); ++b) {
        const Block &block = pairs.partners_a.block(b);
        for (std::size_t k = 0; k < block.atom.size(); ++k)
          if (block.first[k + 1] > block.first[k]) ++result.natoms_with_partners;
      }
      const auto reduce = [&](double *sums, int n, AtomFunction::Reduction by) {
        in.exchange.reduce(sums, n, by);
        ++nexchanged;
      };
      values.evaluate(function, in.cells.a, reduce, nthreads, result);
      values.write(in.cells.a, numbers, want, peratom, nthreads);
      if (want & (DERIVATIVES | VIRIAL)) {
        set_weights(in);
        add_forces(in, want, peratom, result);
      }
      result.timings.bins = found - start;
      result.timings.pairs = seconds() - found;
      nexchanged = 0;
      return result;
    }

    void complete_exchanges(const OrderInput &in, unsigned want) override
    {
      make_missing_exchanges(nexchanged, options, function, in, want);
      nexchanged = 0;
    }

   private:
    using Block = PartnerBlock<Real>;

    void sum_environments(const OrderInput &in)
    {
      similarity.clear(in.nall, table.n);
      values.value.assign(in.nall, 0.0);
      for_each_block(pairs.partners_a, nthreads, [&](const Block &block, std::size_t) {
        for (std::size_t i = 0; i < block.atom.size(); ++i) {
          double *const k = similarity[block.atom[i]];
          kernels.sum(table, block.vectors_of(i), in.cells.types.type, k);
          for (int e = 0; e < table.n; ++e) k[e] /= environments.nvectors(e);
          values.value[block.atom[i]] = joined_similarity(options.lambda, table.n, k);
        }
      });
    }

    // Sets the weights dS/dk_e over n_e.
    void set_weights(const OrderInput &in)
    {
      const AtomList &a = in.cells.a;
      weight.clear(in.nall, table.n);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (a.nowned > 1024)
      for (int i = 0; i < a.nowned; ++i) {
        const int row = a.index[i];
        for (int e = 0; e < table.n; ++e) {
          const double factor =
              environment_weight(options.lambda, similarity[row][e], values.value[row]);
          weight[row][e] = values.dSdv[row] * factor / environments.nvectors(e);
        }
      }
      in.exchange.forward(weight.all.data(), table.n);
      ++nexchanged;
    }

    void add_forces(const OrderInput &in, unsigned want, double *peratom, OrderResult &result)
    {
      const double unit =
          unit_of(weight.all.data(), static_cast<std::int64_t>(weight.all.size()), nthreads);
      if (unit == 0.0) return;
      // Weights far below rounding would give denormal numbers, which are many times slower.
      const double minimum = std::sqrt(static_cast<double>(std::numeric_limits<Real>::min()));
      rounded.resize(weight.all.size());
#pragma omp parallel for schedule(static) num_threads(nthreads)
      for (std::size_t k = 0; k < rounded.size(); ++k) {
        const double w = weight.all[k] / unit;
        rounded[k] = std::fabs(w) < minimum ? Real(0) : static_cast<Real>(w);
      }
      const bool two = in.cells.b.index != nullptr;
      const std::vector<Real> nothing(table.n, Real(0));
      const int *const types = in.cells.types.type;
      const auto pass = [&](const PartnersInRangeHost<Real> &partner_blocks, bool with_own,
                            bool with_others, double virial_scale) {
        add_forces_of_blocks(
            partner_blocks, nthreads, unit, virial_scale, want, peratom, result,
            [&](const Block &block, std::size_t k, double *sums) {
              const int row = block.atom[k];
              const Real *const own = rounded.data() + static_cast<std::size_t>(row) * table.n;
              kernels.sum_forces(table, block.vectors_of(k), types, types ? types[row] : 0,
                                 with_own ? own : nothing.data(),
                                 with_others ? rounded.data() : nullptr, sums);
            });
      };
      pass(pairs.partners_a, true, !two, two ? 1.0 : 0.5);
      if (two && peratom) pass(pairs.partners_b, false, true, 0.0);
    }

    const EnvironmentOptions options;
    const int nthreads;
    const Environments<Real> environments;
    const EnvironmentTable<Real> table;
    AtomFunction function;
    const EnvironmentKernels<Real> kernels;
    OrderPartners<Real> pairs;

    int nexchanged = 0;               // exchanges and reductions so far in this evaluation
    RowNumbers similarity, weight;    // k_e; dS/dk_e over n_e
    std::vector<Real> rounded;        // weight over a unit, rounded
    OrderValues values;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_host_environment_similarity(const EnvironmentOptions &options,
                                                                 Precision precision, int nthreads)
{
  check_options(options);
  if (precision == Precision::DOUBLE)
    return std::make_unique<HostEnvironmentSimilarity<double>>(options, nthreads);
  return std::make_unique<HostEnvironmentSimilarity<float>>(options, nthreads);
}

}    // namespace gpucoord
