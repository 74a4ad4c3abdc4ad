// Part of GPUCOORD, GPL-2.0. Ewald's far field on a mesh: choice of the mesh, splines and factors.

#include "gpucoord/map_far.h"

#include "far_formulas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr double PI = 3.14159265358979323846;
  // Number of aliases on either side. For further ones, (k/(k + 4))^(2 FAR_ORDER) is below any
  // tolerance.
  constexpr int ALIASES = 3;

  double sinc(double x)
  {
    return x == 0.0 ? 1.0 : std::sin(PI * x) / (PI * x);
  }

  // Transform of the spline along an axis with n points. value: transform at wave number m.
  // aliases: share of the aliases of m in the sum of squares over m and its aliases
  struct SplineTransform {
    double value, aliases;

    SplineTransform(int m, int n)
    {
      const double x = static_cast<double>(m) / n;
      value = std::pow(sinc(x), FAR_ORDER);
      double others = 0.0;
      for (int k = 1; k <= ALIASES; ++k)
        others += std::pow(sinc(x + k), 2 * FAR_ORDER) + std::pow(sinc(x - k), 2 * FAR_ORDER);
      aliases = others / (value * value + others);
    }
  };

  double square(double x)
  {
    return x * x;
  }

  double length_of(const double (&edge)[3])
  {
    return std::sqrt(square(edge[0]) + square(edge[1]) + square(edge[2]));
  }

  // Calls use(index in the brick, weight) for the points of the brick near x with begin <= z < end.
  template <class Use>
  void for_near_points(const MeshBrick &brick, const double (&reciprocal)[3][3], const double *x,
                       int begin, int end, const Use &use)
  {
    double coordinate[3];
    for (int a = 2; a >= 0; --a) {
      coordinate[a] =
          mesh_coordinate(brick.box.origin, reciprocal[a], brick.mesh[a], x) - brick.lo[a];
      if (!is_near_points(coordinate[a], a == 2 ? begin : 0, a == 2 ? end : brick.n[a])) return;
    }
    const Splines sx = splines_of(coordinate[0]), sy = splines_of(coordinate[1]),
                  sz = splines_of(coordinate[2]);
    const int x_begin = std::max(0, sx.first), x_end = std::min(brick.n[0], sx.first + FAR_ORDER);
    const int y_begin = std::max(0, sy.first), y_end = std::min(brick.n[1], sy.first + FAR_ORDER);
    const int z_begin = std::max(begin, sz.first), z_end = std::min(end, sz.first + FAR_ORDER);
    for (int k = z_begin; k < z_end; ++k)
      for (int j = y_begin; j < y_end; ++j) {
        const double row_weight = sz.at[k - sz.first] * sy.at[j - sy.first];
        const std::size_t row = (static_cast<std::size_t>(k) * brick.n[1] + j) * brick.n[0];
        for (int i = x_begin; i < x_end; ++i) use(row + i, row_weight * sx.at[i - sx.first]);
      }
  }

}    // namespace

/* ---------------------------------------------------------------------- */

void FarBox::reciprocal(double (&vectors)[3][3]) const
{
  const double ax = edge[0][0], bx = edge[1][0], by = edge[1][1], cx = edge[2][0], cy = edge[2][1],
               cz = edge[2][2];
  const double all[3][3] = {{1.0 / ax, -bx / (ax * by), (bx * cy - by * cx) / (ax * by * cz)},
                            {0.0, 1.0 / by, -cy / (by * cz)},
                            {0.0, 0.0, 1.0 / cz}};
  for (int a = 0; a < 3; ++a) std::copy_n(all[a], 3, vectors[a]);
}

double FarBox::height(int axis) const
{
  double vectors[3][3];
  reciprocal(vectors);
  return 1.0 / length_of(vectors[axis]);
}

double near_alpha(double cutoff, double sum_q_sq, double volume, double error)
{
  const auto error_of = [&](double alpha) {
    const double x = alpha * cutoff;
    return std::sqrt(sum_q_sq / volume) * std::exp(-x * x) /
        (alpha * alpha * cutoff * std::sqrt(cutoff));
  };
  // Limits of alpha times cutoff. Above MAX_ALPHA, the rounding errors of double exceed the gain.
  constexpr double MIN_ALPHA = 0.5, MAX_ALPHA = 5.0;
  double low = MIN_ALPHA / cutoff, high = MAX_ALPHA / cutoff;
  if (error_of(high) > error)
    throw std::invalid_argument(
        "it is less than what double precision can give within such a cutoff");
  if (error_of(low) <= error) return low;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (error_of(middle) > error ? low : high) = middle;
  }
  return high;
}

double far_error(const FarBox &box, const int n[3], double alpha, double sum_q_sq)
{
  // Largest number of sampled wave numbers per axis. They are evenly spaced, because the summand is
  // smooth.
  constexpr int MAX_COUNT = 64;
  double reciprocal[3][3];
  box.reciprocal(reciprocal);
  std::vector<int> m[3];
  std::vector<double> aliases[3];
  double each = 1.0;    // number of wave vectors per sample
  // Length of the smallest wave vector that is not on the mesh, 1/distance.
  double smallest = std::numeric_limits<double>::infinity();
  for (int a = 0; a < 3; ++a) {
    const int count = std::min(n[a], MAX_COUNT);
    for (int k = 0; k < count; ++k) {
      m[a].push_back(wave_number(static_cast<int>(static_cast<long long>(n[a]) * k / count), n[a]));
      aliases[a].push_back(SplineTransform(m[a].back(), n[a]).aliases);
    }
    each *= static_cast<double>(n[a]) / count;
    smallest = std::min(smallest, PI * n[a] / length_of(box.edge[a]));
  }
  // Sums by plane, which are added in order. Results are therefore bitwise independent of the
  // number of threads.
  std::vector<double> plane_sums(m[2].size(), 0.0);
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < plane_sums.size(); ++k)
    for (std::size_t j = 0; j < m[1].size(); ++j)
      for (std::size_t i = 0; i < m[0].size(); ++i) {
        if (i == 0 && j == 0 && k == 0) continue;
        const int indices[3] = {m[0][i], m[1][j], m[2][k]};
        double wave[3];
        wave_vector(reciprocal, indices, wave);
        const double e[3] = {aliases[0][i], aliases[1][j], aliases[2][k]};
        const double part = e[0] + (1.0 - e[0]) * (e[1] + (1.0 - e[1]) * e[2]);
        plane_sums[k] += square(influence(square_of(wave), alpha)) * part;
      }
  double sum = 0.0;
  for (const double plane_sum : plane_sums) sum += each * plane_sum;
  const double beyond = 8.0 * alpha * alpha / (smallest * square(smallest)) *
      std::exp(-square(smallest / alpha) / 2.0);
  return std::sqrt(sum_q_sq * (sum / square(box.volume()) + beyond / box.volume()));
}

double near_background(double cutoff, double alpha)
{
  const double x = alpha * cutoff;
  const double integral = 0.5 * square(cutoff) * std::erfc(x) +
      std::erf(x) / (4.0 * square(alpha)) -
      cutoff * std::exp(-square(x)) / (2.0 * alpha * std::sqrt(PI));
  return -4.0 * PI * integral;
}

FarMesh choose_far_mesh(const FarBox &box, const int multiples_of[3], double alpha, double sum_q_sq,
                        double error, double widest, int max_points)
{
  // Largest mesh spacing times alpha. Coarser meshes are never accurate enough, so that their error
  // is not computed.
  constexpr double COARSEST = 1.5;
  double n[3];
  for (int a = 0; a < 3; ++a) {
    const double minimum =
        std::max(length_of(box.edge[a]) * alpha / COARSEST, box.height(a) / widest);
    n[a] = multiples_of[a] * std::max(1.0, std::ceil(minimum / multiples_of[a]));
  }
  for (;;) {
    if (n[0] * n[1] * n[2] > max_points) {
      std::ostringstream text;
      text << std::setprecision(10) << "it needs a mesh of " << n[0] << " x " << n[1] << " x "
           << n[2] << " points or more, and the most is " << max_points << " points";
      throw std::invalid_argument(text.str());
    }
    FarMesh mesh;
    for (int a = 0; a < 3; ++a) mesh.n[a] = static_cast<int>(n[a]);
    mesh.error = far_error(box, mesh.n, alpha, sum_q_sq);
    if (mesh.error <= error) return mesh;
    const auto spacing = [&](int a) {
      return length_of(box.edge[a]) / n[a];
    };
    int axis = 0;
    for (int a = 1; a < 3; ++a)
      if (spacing(a) > spacing(axis)) axis = a;
    // Steps of about 3 %, so that a mesh is hardly finer than necessary.
    constexpr int PARTS = 32;
    n[axis] +=
        multiples_of[axis] * std::max(1.0, std::floor(n[axis] / (PARTS * multiples_of[axis])));
  }
}

/* ---------------------------------------------------------------------- */

void spread_charges(const MeshBrick &brick, const MapCharges &charges, int nthreads,
                    double *density)
{
  double reciprocal[3][3];
  brick.box.reciprocal(reciprocal);
  const std::size_t plane = static_cast<std::size_t>(brick.n[0]) * brick.n[1];
  std::fill(density, density + plane * brick.n[2], 0.0);
  // Each thread has separate planes, so that only one thread writes to a point.
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int thread = 0; thread < nthreads; ++thread) {
    const int begin = static_cast<int>(static_cast<long long>(brick.n[2]) * thread / nthreads);
    const int end = static_cast<int>(static_cast<long long>(brick.n[2]) * (thread + 1) / nthreads);
    for (int k = 0; k < charges.n && begin < end; ++k)
      for_near_points(brick, reciprocal, charges.x + 3 * static_cast<std::size_t>(k), begin, end,
                      [&](std::size_t point, double weight) {
                        density[point] += charges.q[k] * weight;
                      });
  }
}

void interpolate_mesh(const MeshBrick &brick, const double *potential, const double *x, int n,
                      int nthreads, double *at)
{
  double reciprocal[3][3];
  brick.box.reciprocal(reciprocal);
#pragma omp parallel for schedule(static) num_threads(nthreads)
  for (int k = 0; k < n; ++k) {
    double sum = 0.0;
    for_near_points(brick, reciprocal, x + 3 * static_cast<std::size_t>(k), 0, brick.n[2],
                    [&](std::size_t point, double weight) {
                      sum += potential[point] * weight;
                    });
    at[k] = sum;
  }
}

/* ---------------------------------------------------------------------- */

FarFactors::FarFactors(const FarBox &box, const int mesh[3], double alpha_in) :
    alpha(alpha_in), volume(box.volume())
{
  box.reciprocal(edges);
  for (int a = 0; a < 3; ++a) {
    n[a] = mesh[a];
    // This factor minimizes the error of the potential for charges at random positions.
    for (int index = 0; index < n[a]; ++index) {
      const SplineTransform spline(wave_number(index, n[a]), n[a]);
      correction[a].push_back((1.0 - spline.aliases) / spline.value);
    }
  }
}

double FarFactors::spline(const int index[3]) const
{
  return correction[0][index[0]] * correction[1][index[1]] * correction[2][index[2]];
}

double FarFactors::at(const int (&index)[3], double (&wave)[3]) const
{
  return influence_at(edges, n, alpha, index, wave) / volume * spline(index);
}

}    // namespace gpucoord
