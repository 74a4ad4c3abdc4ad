// Part of GPUCOORD, GPL-2.0. The host backend of environment similarity: SIMD over partners.

#include "gpucoord/environment_similarity.h"

#include "../order_sums.h"
#include "environment_kernels_host.h"
#include "environment_similarity_options.h"

#include "../../core/instruction_set.h"
#include "../../core/make_in_precision.h"

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

  template <class Real> class HostEnvironmentSimilarity : public HostSums<Real> {
   public:
    HostEnvironmentSimilarity(const EnvironmentOptions &options_in, int nthreads) :
        HostSums<Real>(static_cast<int>(options_in.environments.size()), reach(options_in),
                       options_in.function, nthreads),
        options(options_in), environments(options), table(environments.table()),
        kernels(select_environment_kernels<Real>())
    {
    }

   private:
    void check_input(const OrderInput &in) const override { check_types(options, in); }
    void sum(const PartnerVectors<Real> &partners, const int *types, double *k) const override
    {
      kernels.sum(table, partners, types, k);
      for (int e = 0; e < table.n; ++e) k[e] /= environments.nvectors(e);
    }
    double value(const double *k) const override
    {
      return joined_similarity(options.lambda, table.n, k);
    }
    // dS/dk_e over n_e, because the kernel does not divide by n_e.
    double weight(int e, double k, double v, double dSdv) const override
    {
      return dSdv * environment_weight(options.lambda, k, v) / environments.nvectors(e);
    }
    void sum_forces(const PartnerVectors<Real> &partners, const int *types, int own_type,
                    const Real *own, const Real *others, double *forces) const override
    {
      kernels.sum_forces(table, partners, types, own_type, own, others, forces);
    }

    const EnvironmentOptions options;
    const Environments<Real> environments;
    const EnvironmentTable<Real> table;
    const EnvironmentKernels<Real> kernels;
  };

}    // namespace

std::unique_ptr<OrderParameter> make_host_order(const EnvironmentOptions &options,
                                                Precision precision, int nthreads)
{
  check_options(options);
  return make_in_precision<OrderParameter, HostEnvironmentSimilarity>(precision, options, nthreads);
}

}    // namespace gpucoord
