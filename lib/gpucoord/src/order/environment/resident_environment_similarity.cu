// Part of GPUCOORD, GPL-2.0. Environment similarity of atoms that are resident on the GPU.
//
// The passes are those of environment_similarity_host.cpp. Kernels of this file: 256 threads per
// block, one thread per atom, no shared memory.

#include "gpucoord/environment_similarity.h"

#include "../resident_order.cuh"
#include "environment_arguments_cuda.h"
#include "environment_similarity_options.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace gpucoord {

namespace {

  using resident_order::THREADS;

  // Converts k_e to dS/dk_e over n_e.
  template <class Real> struct WeightScale {
    int n;
    const int *first;
    double lambda;
    const double *value, *dSdv;    // v and dS/dv

    __device__ Four<Real> operator()(std::int64_t atom, int part, Four<Real> four) const
    {
      for (int k = 0; k < 4; ++k) {
        const int e = 4 * part + k;
        if (e >= n) continue;
        const double factor = n == 1 ? 1.0 : environment_weight(lambda, four.v[k], value[atom]);
        four.v[k] = static_cast<Real>(dSdv[atom] * factor / (first[e + 1] - first[e]));
      }
      return four;
    }
  };

  // Sets v of the owned atoms among n points. row_of: [n] row of each point; null: the first n
  // rows.
  __global__ void set_value(const int *row_of, int n, int nlocal, double value, double *v)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const int row = row_of ? row_of[k] : k;
    if (row < nlocal) v[row] = value;
  }

  // table: [ntypes + 1]; no vector has a type above ntypes.
  __global__ void name_types(const int *type, int n, const int *table, int ntypes, int *named)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k < n) named[k] = type[k] <= ntypes ? table[type[k]] : 1;
  }

  // Maps atom types to types of the pairs. Types in no vector become 1, and each type in a vector
  // gets a type of its own.
  class NamedTypes {
   public:
    explicit NamedTypes(const EnvironmentOptions &options)
    {
      std::vector<int> types;
      for (const Environment &environment : options.environments)
        for (const EnvironmentVector &v : environment)
          if (v.type != 0) types.push_back(v.type);
      std::sort(types.begin(), types.end());
      types.erase(std::unique(types.begin(), types.end()), types.end());
      if (types.empty()) return;
      n = static_cast<int>(types.size()) + 1;
      number_of_type.assign(types.back() + 1, 1);
      for (std::size_t k = 0; k < types.size(); ++k)
        number_of_type[types[k]] = static_cast<int>(k) + 2;
    }

    int n = 0;    // 0: vectors have no types
    std::vector<int> number_of_type;
  };

  // Limit of half the lattice constant h, in scaled lengths. The common factor of the Gaussians is
  // at most 2^(h^2). Below this limit it does not overflow in float with the largest weights, 1e30.
  // In float, rounding changes the sum of a partner by up to 3e-6.
  constexpr int MAX_HALF_FCC = 5;

  // Returns half the lattice constant if the vectors are the 12 of fcc, without types; otherwise 0.
  double half_fcc_of(const Environment &environment)
  {
    if (environment.size() != FCC_VECTORS) return 0.0;
    double h = 0.0;
    for (double x : environment[0].r) h = std::max(h, std::fabs(x));
    int count[3][2][2] = {};    // [axis of the 0][signs along the other two]
    for (const EnvironmentVector &v : environment) {
      const auto axis = std::find(std::begin(v.r), std::end(v.r), 0.0) - std::begin(v.r);
      if (v.type != 0 || axis == 3) return 0.0;
      const double y = v.r[(axis + 1) % 3], z = v.r[(axis + 2) % 3];
      if (std::fabs(y) != h || std::fabs(z) != h) return 0.0;
      if (++count[axis][y < 0.0][z < 0.0] > 1) return 0.0;
    }
    return h;
  }

  template <class Real>
  class CudaResidentEnvironmentSimilarity : public CudaResidentOrder<Real, ResidentOrderParameter> {
   public:
    CudaResidentEnvironmentSimilarity(const EnvironmentOptions &options, Precision precision) :
        CudaResidentEnvironmentSimilarity(options, NamedTypes(options), precision)
    {
    }

    void rebuild(const DeviceAtoms &atoms, const DeviceSelection &selection, std::int64_t version,
                 DeviceStream stream) override
    {
      if (!arg.has_types || this->is_known(version))
        return Shared::rebuild(atoms, selection, version, stream);
      DeviceAtoms named = atoms;
      if (atoms.nall > 0) {
        if (!atoms.type)
          throw std::invalid_argument("the environments have atom types, but the atoms have none");
        named_types.reserve(atoms.nall);
        name_types<<<this->blocks_of(atoms.nall), THREADS, 0, stream>>>(
            atoms.type, atoms.nall, type_table.data(), ntypes, named_types.data());
        check(cudaGetLastError(), "launching name_types");
        named.type = named_types.data();
      }
      Shared::rebuild(named, selection, version, stream);
    }

    void evaluate_first(const DeviceAtoms &atoms, std::int64_t positions, const DeviceExchange &,
                        double *v, DeviceStream stream) override
    {
      this->begin(atoms, positions, v, arg, stream);
      arg.value = v;
      if (!has_rows) return;
      arg.numbers = numbers.data();
      arg.scale = static_cast<Real>(std::is_same<Real, float>::value ? arg.unit * scale : scale);
      if (!is_fcc()) list_partners_within(arg, stream);
      sum_environments(arg, stream);
    }

    void evaluate_second(const Request &request, const double *w, double unit,
                         const DeviceExchange &exchange, DeviceStream stream) override
    {
      this->begin_second(request);
      EnvironmentForceArguments<Real> forces = {};
      // The derivative of 2^-r^2 is -2 ln 2 r 2^-r^2. Forces and virial are minus the sums.
      forces.virial_scale = 2.0 * std::log(2.0);
      if (is_fcc() && exchange.owner && pairs->points().are_integers()) {
        pairs->points().set_weights({{w, exchange.owner}, pairs->npoints_of_a()}, stream);
        forces.virial_scale /= FCC_VECTORS;    // the weights of fcc are not divided by n_e
      } else {
        const WeightScale<Real> weight_scale = {arg.n, arg.first, arg.lambda, arg.value, w};
        this->send_scaled(numbers, weight_scale, exchange, point_numbers, stream);
        forces.weights = point_numbers.data();
      }
      if (!has_rows) return this->no_forces(stream);
      forces.environments = arg;
      this->set_outputs(request, unit, forces);
      forces.gradient_scale = forces.virial_scale * scale;
      sum_environment_forces(forces, this->want_of_forces(), stream);
    }

    std::size_t bytes() const override
    {
      return Shared::bytes() + bytes_of(vectors, first, symmetric, type_table, named_types);
    }

   private:
    using Shared = CudaResidentOrder<Real, ResidentOrderParameter>;
    using Shared::any;
    using Shared::has_rows;
    using Shared::nlocal;
    using Shared::numbers;
    using Shared::pairs;
    using Shared::point_numbers;
    using Shared::stride;

    CudaResidentEnvironmentSimilarity(const EnvironmentOptions &options, const NamedTypes &types,
                                      Precision precision) :
        Shared(pairs_within(reach(options), types.n), precision,
               static_cast<int>(options.environments.size())),
        scale(0.5 * std::sqrt(std::log2(std::exp(1.0))) / options.sigma)
    {
      std::vector<int> ends = {0};
      std::vector<int> is_symmetric;
      std::vector<Four<Real>> all;
      const auto scaled = [&](double length) {
        return static_cast<Real>(scale * length);
      };
      for (const Environment &environment : options.environments) {
        for (const EnvironmentVector &v : environment) {
          const int c = v.type == 0 ? -1 : pairs->classes().index(types.number_of_type[v.type]);
          all.push_back({{scaled(v.r[0]), scaled(v.r[1]), scaled(v.r[2]), static_cast<Real>(c)}});
        }
        ends.push_back(static_cast<int>(all.size()));
        is_symmetric.push_back(types.n == 0 && equals_its_inverse(environment));
      }
      send_table(all, vectors);
      send_table(ends, first);
      send_table(is_symmetric, symmetric);
      if (types.n > 0) send_table(types.number_of_type, type_table);
      ntypes = static_cast<int>(types.number_of_type.size()) - 1;
      const double range = reach(options);
      arg.range_sq = static_cast<Real>(range * range);
      arg.n = static_cast<int>(options.environments.size());
      arg.stride = stride;
      arg.vectors = vectors.data();
      arg.first = first.data();
      arg.is_symmetric = symmetric.data();
      if (arg.n == 1) arg.half_fcc = scaled(half_fcc_of(options.environments[0]));
      if (arg.half_fcc > MAX_HALF_FCC) arg.half_fcc = 0;
      arg.has_types = types.n > 0;
      arg.lambda = options.lambda;
      arg.any_partners = any.data();
    }

    bool is_fcc() const { return arg.half_fcc > 0; }

    // Sets v of atoms without partners, whose k_e are 0.
    void set_others(double *v, cudaStream_t stream) override
    {
      Shared::set_others(v, stream);
      const int n = pairs->npoints_of_a();
      if (arg.n == 1 || n == 0) return;
      set_value<<<this->blocks_of(n), THREADS, 0, stream>>>(pairs->points().row_of(), n, nlocal,
                                                            std::log(arg.n) / arg.lambda, v);
      check(cudaGetLastError(), "launching set_value");
    }

    const double scale;    // scaled length (environment_arguments_cuda.h) per distance
    EnvironmentArguments<Real> arg = {};
    DeviceBuffer<Four<Real>> vectors;
    DeviceBuffer<int> first, symmetric;
    // type_table: NamedTypes::number_of_type. named_types: [nall] mapped types of the atoms.
    DeviceBuffer<int> type_table, named_types;
    int ntypes = 0;
  };

}    // namespace

std::unique_ptr<ResidentOrderParameter> make_resident_order(const EnvironmentOptions &options,
                                                            Precision precision)
{
  check_options(options);
  check_kernels();
  return make_in_precision<ResidentOrderParameter, CudaResidentEnvironmentSimilarity>(
      precision, options, precision);
}

}    // namespace gpucoord
