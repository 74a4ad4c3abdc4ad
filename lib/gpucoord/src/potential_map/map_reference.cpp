// Part of GPUCOORD, GPL-2.0. Potential maps in plain loops, a reference for testing the backends.

#include "map_formulas.h"

#include <cstddef>

namespace gpucoord {

namespace {

  class Reference {
   public:
    Reference(const MapOptions &options_in, const MapCharges &charges_in) :
        options(options_in), c(make_map_constants<double>(options_in)), charges(charges_in)
    {
      check_map_options(options);
    }

    // zeroes: MapOverlap::ZERO applies
    void point(const double *x, int self, bool zeroes, double *phi, double *field) const
    {
      const bool is_soft = options.overlap == MapOverlap::SOFT;
      double sums[4] = {};
      bool is_near = false;
      for (int j = 0; j < charges.n; ++j) {
        if (j == self) continue;
        double d[3], r_sq = 0.0;
        for (int k = 0; k < 3; ++k) {
          d[k] = x[k] - charges.x[3 * static_cast<std::size_t>(j) + k];
          r_sq += d[k] * d[k];
        }
        is_near |= r_sq < c.radius_sq;
        if (r_sq > c.cutoff_sq || (!is_soft && r_sq <= c.tiny_sq)) continue;
        double value, derivative;
        visit_map_kernel<double>(options, [&](auto kernel) {
          if (is_soft)
            kernel.template eval<true>(c, bare_potential<true>(c, r_sq), value, derivative);
          else
            kernel.template eval<false>(c, bare_potential<false>(c, r_sq), value, derivative);
        });
        sums[0] += charges.q[j] * value;
        for (int k = 0; k < 3; ++k) sums[1 + k] -= charges.q[j] * derivative * d[k];
      }
      const bool is_zero = zeroes && options.overlap == MapOverlap::ZERO && is_near;
      *phi = is_zero ? 0.0 : sums[0];
      for (int k = 0; field && k < 3; ++k) field[k] = is_zero ? 0.0 : sums[1 + k];
    }

   private:
    const MapOptions &options;
    const MapConstants<double> c;
    const MapCharges &charges;
  };

}    // namespace

void reference_map_on_grid(const MapOptions &options, const MapGrid &grid,
                           const MapCharges &charges, const MapResults &out)
{
  const Reference reference(options, charges);
  std::size_t p = 0;
  for (int k = 0; k < grid.n[2]; ++k)
    for (int j = 0; j < grid.n[1]; ++j)
      for (int i = 0; i < grid.n[0]; ++i, ++p) {
        double x[3];
        for (int d = 0; d < 3; ++d)
          x[d] = grid.origin[d] + i * grid.step[0][d] + j * grid.step[1][d] + k * grid.step[2][d];
        reference.point(x, -1, true, out.phi + p, out.field ? out.field + 3 * p : nullptr);
      }
}

void reference_map_at_points(const MapOptions &options, const MapPoints &points,
                             const MapCharges &charges, const MapResults &out)
{
  const Reference reference(options, charges);
  for (std::size_t p = 0; p < static_cast<std::size_t>(points.n); ++p)
    reference.point(points.x + 3 * p, points.self ? points.self[p] : -1, false, out.phi + p,
                    out.field ? out.field + 3 * p : nullptr);
}

}    // namespace gpucoord
