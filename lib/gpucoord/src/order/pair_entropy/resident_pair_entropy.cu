// Part of GPUCOORD, GPL-2.0. Pair entropy of atoms that are resident on the GPU.
//
// The passes are those of pair_entropy_host.cpp. On one rank nothing goes to the host between them.

#include "gpucoord/pair_entropy.h"

#include "../resident_order.cuh"
#include "pair_entropy_arguments_cuda.h"
#include "pair_entropy_integral.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gpucoord {

namespace {

  // Distance up to which pairs contribute.
  template <class Real> double range_of(const PairEntropyOptions &options)
  {
    return options.cutoff + DistanceCells<Real>::REACH * options.sigma;
  }

  // Returns the scale of integers (pair_entropy_arguments_cuda.h). It is not above 2^52, the
  // precision of their terms.
  double scale_of(double npairs)
  {
    const int pair_bits = std::ilogb(std::max(1.0, npairs)) + 1;
    return std::ldexp(1.0, std::min(52, 61 - pair_bits));
  }

  template <class Real>
  class CudaResidentPairEntropy : public CudaResidentOrder<Real, ResidentOrderParameter> {
   public:
    CudaResidentPairEntropy(const PairEntropyOptions &options, Precision precision) :
        Shared(pairs_within(range_of<Real>(options)), precision, 0), bins(options.bins),
        launch(pair_entropy_launchers<Real>())
    {
      const double range = range_of<Real>(options);
      first.cells =
          make_distance_grid(options, DistanceCells<Real>::PER_SIGMA, DistanceCells<Real>::REACH);
      first.reach_sq = second.reach_sq = static_cast<Real>(range * range);
      first.cutoff_sq = static_cast<Real>(options.cutoff * options.cutoff);
      first.any_partners = any.data();
      second.cells = make_distance_grid(options, CELLS_PER_SIGMA, DistanceCells<Real>::REACH);
      how_first = launch.prepare(first.cells);
      sums_of_cells.reserve(number_of_sums());
      gaussians.reserve(bins + 2);
      g.reserve(bins);
      g_of_host.reserve(bins);
      dSdsum.reserve(bins);
      derivatives_of_cells.reserve(second.cells.ncells);
      sums_of_all.reserve(1);
      first.sums = sums_of_cells.data();
      second.derivatives = derivatives_of_cells.data();
    }

    void evaluate_first(const DeviceAtoms &atoms, std::int64_t positions,
                        const DeviceExchange &exchange, double *v, DeviceStream stream) override
    {
      check_volume(atoms.volume);
      // Before positions are read: after that it would prevent the early launch of sum_distances.
      this->clear(sums_of_cells.data(), number_of_sums(), stream);
      this->begin(atoms, positions, v, first, stream);
      first.scale = has_rows ? scale_of(static_cast<double>(FOUR) * pairs->nelements()) : 1.0;
      first.value = v;
      first.nowned = pairs->has_two_groups() || v ? 0 : static_cast<int>(pairs->natoms(0));
      first.rows.n = has_rows ? first.rows.nvalue : 0;    // the rows of b have the same pairs
      if (first.rows.n > 0) launch.sum_distances(first, how_first, stream);
      const auto na = static_cast<double>(pairs->natoms(0)),
                 nb = static_cast<double>(pairs->natoms(pairs->has_two_groups() ? 1 : 0));
      launch.sum_gaussians(first, na, nb, gaussians.data(), stream);
      this->add_ranks(gaussians.data(), bins + 2, exchange, stream);
      evaluate_entropy(first.cells, gaussians.data(), atoms.volume, value_of_all.data(),
                       sums_of_all.data(), g.data(), dSdsum.data(), stream);
    }

    void evaluate_second(const Request &request, const double *, double, const DeviceExchange &,
                         DeviceStream stream) override
    {
      this->begin_second(request);
      launch.set_derivatives(second.cells, dSdsum.data(), sums_of_all.data(),
                             static_cast<double>(pairs->natoms(0)), derivatives_of_cells.data(),
                             total.data(), stream);
      if (!has_rows) return;
      static_cast<PointRows &>(second) = first;
      second.rows = this->rows();
      second.factor = pairs->has_two_groups() ? 1.0 : 2.0;
      second.out = this->outputs(request, 1.0);
      second.out.is_first = false;    // after the virial of the density
      launch.sum_forces(second, this->want_of_forces(), stream);
    }

    void enqueue_result(DeviceStream stream) override
    {
      this->copy(g_of_host.data(), g.data(), bins, stream);
      Shared::enqueue_result(stream);
    }
    std::vector<double> global_vector() const override
    {
      return {g_of_host.data(), g_of_host.data() + bins};
    }

    // Includes the virial of the density, also for atoms without rows.
    void add_peratom(double *peratom, const int *row_of_atom, int nthreads,
                     DeviceStream stream) override
    {
      Shared::add_peratom(peratom, row_of_atom, nthreads, stream);
      if (!(wanted & ATOM_VIRIAL)) return;
      EntropySums sums;
      this->copy(&sums, sums_of_all.data(), 1, stream);
      this->wait(stream);
      const bool two = pairs->has_two_groups();
      const auto add_volume_term = [&](int first_point, std::int64_t n, double term) {
        const int *const row_of = pairs->points().row_of();
        std::vector<int> atom_of(row_of ? n : 0);
        if (row_of) {
          this->copy(atom_of.data(), row_of + first_point, n, stream);
          this->wait(stream);
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const auto atom = row_of ? atom_of[k] : first_point + k;
          const std::size_t row = row_of_atom ? row_of_atom[atom] : atom;
          for (int c = 4; c < 7; ++c) peratom[peratom_columns(wanted) * row + c] -= term;
        }
      };
      add_volume_term(0, pairs->natoms(0),
                      (two ? 1.0 : 2.0) * sums.by_log_volume / sums.density.natoms_a);
      if (two)
        add_volume_term(pairs->npoints_of_a(), pairs->natoms(1),
                        sums.by_log_volume / sums.density.natoms_b);
    }

    std::vector<DeviceExchange::Call> exchanges(unsigned) const override
    {
      return {{DeviceExchange::Kind::REDUCE, bins + 2}};
    }
    std::size_t bytes() const override
    {
      return Shared::bytes() +
          bytes_of(sums_of_cells, gaussians, g, dSdsum, g_of_host, derivatives_of_cells,
                   sums_of_all);
    }

   private:
    using Shared = CudaResidentOrder<Real, ResidentOrderParameter>;
    using Shared::any;
    using Shared::has_rows;
    using Shared::pairs;
    using Shared::total;
    using Shared::value_of_all;
    using Shared::wanted;

    std::size_t number_of_sums() const
    {
      return static_cast<std::size_t>(DistanceCells<Real>::NUMBERS) * first.cells.ncells;
    }

    const int bins;
    const PairEntropyLaunchers<Real> launch;
    DistanceLaunch how_first;
    DistanceArguments<Real> first = {};
    DistanceForceArguments<Real> second = {};
    DeviceBuffer<SumOfCells> sums_of_cells;    // [NUMBERS][cells]
    DeviceBuffer<double> gaussians;            // [bins + 2] sums at nodes, and numbers of atoms
    DeviceBuffer<double> g, dSdsum;            // [bins] g and dS/dsum
    PinnedBuffer<double> g_of_host;            // [bins]
    DeviceBuffer<DerivativeRow<Real>> derivatives_of_cells;
    DeviceBuffer<EntropySums> sums_of_all;
  };

}    // namespace

std::unique_ptr<ResidentOrderParameter> make_resident_order(const PairEntropyOptions &options,
                                                            Precision precision)
{
  check_options(options);
  check_kernels();
  return make_in_precision<ResidentOrderParameter, CudaResidentPairEntropy>(precision, options,
                                                                            precision);
}

}    // namespace gpucoord
