// Part of GPUCOORD, GPL-2.0. Bins of fixed depth: grid of the bins, overflow statistics, and maps
// on the host.

#include "fixed_bins.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace gpucoord {

void find_bounds(const MapGrid &grid, double (&lo)[3], double (&hi)[3])
{
  for (int c = 0; c < 3; ++c) {
    lo[c] = hi[c] = grid.origin[c];
    for (int a = 0; a < 3; ++a) {
      const double edge = std::max(0, grid.n[a] - 1) * grid.step[a][c];
      lo[c] += std::min(edge, 0.0);
      hi[c] += std::max(edge, 0.0);
    }
  }
}

FixedBins make_fixed_bins(const MapGrid &grid, double cutoff, const MapBins &bins)
{
  FixedBins made;
  double hi[3], slots = bins.depth;
  find_bounds(grid, made.lo, hi);
  for (int c = 0; c < 3; ++c) {
    made.lo[c] -= cutoff;
    const double n = std::floor((hi[c] + cutoff - made.lo[c]) / bins.size) + 1.0;
    slots *= n;
    made.n[c] = static_cast<std::int64_t>(std::min(n, 1e9));
  }
  if (slots > std::numeric_limits<int>::max()) {
    std::ostringstream text;
    text << "bins of size " << bins.size << " and depth " << bins.depth << " have room for "
         << slots
         << " charges on a rank, but at most 2147483647 are supported - use larger or less deep "
            "bins, or sorted bins";
    throw std::invalid_argument(text.str());
  }
  return made;
}

MapOverflow find_overflow(const std::vector<std::int64_t> &bins_of_size, int depth)
{
  constexpr double MAX_OVERFLOW = 0.01;
  MapOverflow found;
  for (std::size_t size = 0; size < bins_of_size.size(); ++size) {
    found.charges += static_cast<double>(bins_of_size[size]) * static_cast<double>(size);
    if (bins_of_size[size] > 0) found.deepest = static_cast<int>(size);
  }
  // Start with the fullest bins. Bins with room for one charge less have the same overflow plus one
  // charge for each deeper bin.
  found.better_depth = std::max(depth, found.deepest);
  double deeper_bins = 0.0, beyond = 0.0;
  for (int room = found.deepest - 1; room >= depth; --room) {
    deeper_bins += static_cast<double>(bins_of_size[room + 1]);
    beyond += deeper_bins;
    if (beyond <= MAX_OVERFLOW * found.charges) found.better_depth = room;
    if (room == depth) found.overflowing = beyond;
  }
  return found;
}

namespace {

  class FixedBinsMap : public PotentialMap {
   public:
    FixedBinsMap(std::unique_ptr<PotentialMap> map_in, double cutoff_in,
                 const MapBins &options_in) :
        map(std::move(map_in)),
        cutoff(cutoff_in), options(options_in)
    {
    }

    void on_grid(const MapGrid &grid, const MapCharges &charges, const MapResults &out) override
    {
      const FixedBins bins = make_fixed_bins(grid, cutoff, options);
      std::vector<int> size(bins.count(), 0);
      ChargeList binned, others;
      for (int k = 0; k < charges.n; ++k) {
        const double *const x = charges.x + 3 * static_cast<std::size_t>(k);
        std::int64_t bin = 0;
        for (int c = 2; c >= 0; --c) {
          const auto at = static_cast<std::int64_t>((x[c] - bins.lo[c]) * (1.0 / options.size));
          bin = bin * bins.n[c] + std::clamp<std::int64_t>(at, 0, bins.n[c] - 1);
        }
        (size[bin]++ < options.depth ? binned : others).add(x, charges.q[k]);
      }
      std::vector<std::int64_t> bins_of_size(
          1 + (size.empty() ? 0 : *std::max_element(size.begin(), size.end())), 0);
      for (const int n : size) ++bins_of_size[n];
      found = find_overflow(bins_of_size, options.depth);

      map->on_grid(grid, binned.charges(), out);
      distances = map->tested();
      if (others.q.empty()) return;
      const std::size_t n = static_cast<std::size_t>(grid.n[0]) * grid.n[1] * grid.n[2];
      std::vector<double> phi(n), field(out.field ? 3 * n : 0);
      map->on_grid(grid, others.charges(), {phi.data(), out.field ? field.data() : nullptr});
      distances += map->tested();
      for (std::size_t p = 0; p < phi.size(); ++p) out.phi[p] += phi[p];
      for (std::size_t p = 0; p < field.size(); ++p) out.field[p] += field[p];
    }

    void at_points(const MapPoints &points, const MapCharges &charges,
                   const MapResults &out) override
    {
      map->at_points(points, charges, out);
      distances = map->tested();
    }

    double tested() const override { return distances; }
    MapOverflow overflow() const override { return found; }
    std::size_t bytes() const override { return map->bytes(); }

   private:
    struct ChargeList {
      std::vector<double> x, q;
      void add(const double *at, double charge)
      {
        x.insert(x.end(), at, at + 3);
        q.push_back(charge);
      }
      MapCharges charges() const { return {x.data(), q.data(), static_cast<int>(q.size())}; }
    };

    const std::unique_ptr<PotentialMap> map;
    const double cutoff;
    const MapBins options;
    MapOverflow found;
    double distances = 0.0;
  };

}    // namespace

std::unique_ptr<PotentialMap> make_fixed_bins_map(std::unique_ptr<PotentialMap> map, double cutoff,
                                                  const MapBins &bins)
{
  return std::make_unique<FixedBinsMap>(std::move(map), cutoff, bins);
}

}    // namespace gpucoord
