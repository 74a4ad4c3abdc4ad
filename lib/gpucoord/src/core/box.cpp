// Part of GPUCOORD, GPL-2.0. The periodic lattice: Minkowski reduction, dual vectors, candidate
// images.

#include "gpucoord/box.h"

#include "minimum_image.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gpucoord {

namespace {

  double dot(const double *u, const double *v)
  {
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  }

  // Minkowski reduction. In up to three dimensions, a basis is reduced if adding 0 or +-1 times
  // each of the other vectors cannot shorten any vector. Integer multiples are subtracted first, so
  // that strongly tilted boxes need few iterations.
  void reduce(double (*basis)[3], int n)
  {
    bool changed = true;
    while (changed) {
      changed = false;
      for (int k = 0; k < n; ++k) {
        for (int l = 0; l < n; ++l) {
          const double length_sq = dot(basis[l], basis[l]);
          if (l == k || length_sq == 0.0) continue;
          const double multiple = std::rint(dot(basis[k], basis[l]) / length_sq);
          double trial[3];
          for (int c = 0; c < 3; ++c) trial[c] = basis[k][c] - multiple * basis[l][c];
          if (dot(trial, trial) < dot(basis[k], basis[k]) * (1.0 - 1e-12)) {
            for (int c = 0; c < 3; ++c) basis[k][c] = trial[c];
            changed = true;
          }
        }
        const double length_sq = dot(basis[k], basis[k]);
        double best = length_sq * (1.0 - 1e-12);
        double shorter[3] = {};
        bool found = false;
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        for (int i = (l < n ? -1 : 0); i <= (l < n ? 1 : 0); ++i)
          for (int j = (m < n ? -1 : 0); j <= (m < n ? 1 : 0); ++j) {
            double trial[3];
            for (int c = 0; c < 3; ++c)
              trial[c] = basis[k][c] + (i ? i * basis[l][c] : 0.0) + (j ? j * basis[m][c] : 0.0);
            const double trial_sq = dot(trial, trial);
            if (trial_sq < best) {
              best = trial_sq;
              for (int c = 0; c < 3; ++c) shorter[c] = trial[c];
              found = true;
            }
          }
        if (found) {
          for (int c = 0; c < 3; ++c) basis[k][c] = shorter[c];
          changed = true;
        }
      }
    }
  }

  // Computes the dual vectors in the span of the basis by Gaussian elimination of the Gram matrix.
  void make_dual(const double (*basis)[3], int n, double (*dual)[3])
  {
    double gram[3][6] = {};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) gram[i][j] = dot(basis[i], basis[j]);
      gram[i][3 + i] = 1.0;
    }
    for (int i = 0; i < n; ++i) {
      int pivot = i;
      for (int r = i + 1; r < n; ++r)
        if (std::fabs(gram[r][i]) > std::fabs(gram[pivot][i])) pivot = r;
      for (int c = 0; c < 6; ++c) std::swap(gram[i][c], gram[pivot][c]);
      const double inverse = 1.0 / gram[i][i];
      for (int c = 0; c < 6; ++c) gram[i][c] *= inverse;
      for (int r = 0; r < n; ++r) {
        if (r == i) continue;
        const double factor = gram[r][i];
        for (int c = 0; c < 6; ++c) gram[r][c] -= factor * gram[i][c];
      }
    }
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < 3; ++c) {
        dual[i][c] = 0.0;
        for (int j = 0; j < n; ++j) dual[i][c] += gram[i][3 + j] * basis[j][c];
      }
  }

}    // namespace

Box make_box(const double edges[3][3], const bool periodic[3])
{
  Box box;
  for (int k = 0; k < 3; ++k)
    if (periodic[k]) {
      for (int c = 0; c < 3; ++c) {
        if (!std::isfinite(edges[k][c])) throw std::invalid_argument("a box edge is not finite");
        box.lattice[box.nperiodic][c] = edges[k][c];
      }
      ++box.nperiodic;
    }
  const int n = box.nperiodic;
  if (n == 0) return box;

  double longest_sq = 0.0, shortest_sq = std::numeric_limits<double>::infinity();
  for (int k = 0; k < n; ++k)
    longest_sq = std::fmax(longest_sq, dot(box.lattice[k], box.lattice[k]));
  reduce(box.lattice, n);
  for (int k = 0; k < n; ++k)
    shortest_sq = std::fmin(shortest_sq, dot(box.lattice[k], box.lattice[k]));
  // The reduction turns linearly dependent vectors into a vector that is 0 up to rounding.
  if (!(shortest_sq > 1e-24 * longest_sq))
    throw std::invalid_argument("the periodic box edges are linearly dependent");
  box.shortest = std::sqrt(shortest_sq);
  make_dual(box.lattice, n, box.dual);

  // After rounding, d = sum f_k a_k + (part orthogonal to the lattice), |f_k| <= 1/2. A lattice
  // vector v is nearer than the origin to some such d only if max d.v = sum |a_k.v|/2 exceeds
  // |v|^2/2. In orthogonal cells, the two sides are at most equal, and there are no candidates.
  const int range[3] = {2, n > 1 ? 2 : 0, n > 2 ? 2 : 0};
  for (int i = -range[0]; i <= range[0]; ++i)
    for (int j = -range[1]; j <= range[1]; ++j)
      for (int k = -range[2]; k <= range[2]; ++k) {
        if (i == 0 && j == 0 && k == 0) continue;
        const int coefficient[3] = {i, j, k};
        double v[3] = {};
        for (int l = 0; l < n; ++l)
          for (int c = 0; c < 3; ++c) v[c] += coefficient[l] * box.lattice[l][c];
        double reach = 0.0;
        for (int l = 0; l < n; ++l) reach += std::fabs(dot(box.lattice[l], v));
        if (reach > dot(v, v) * (1.0 + 1e-12)) {
          for (int c = 0; c < 3; ++c) box.candidate[box.ncandidates][c] = v[c];
          ++box.ncandidates;
        }
      }
  return box;
}

double first_ambiguous_range(const Box &box)
{
  return box.nperiodic ? 0.5 * box.shortest : std::numeric_limits<double>::infinity();
}

double nearest_image_distance(const Box &box, const double d[3])
{
  double x = d[0], y = d[1], z = d[2];
  minimum_image(box, x, y, z);
  return std::sqrt(x * x + y * y + z * z);
}

}    // namespace gpucoord
