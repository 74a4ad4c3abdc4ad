// Part of GPUCOORD, GPL-2.0. S, its derivatives and its virial by brute force, for the tests only.
//
// Sums are in long double and include every given atom and its images. Each result has a scale: the
// largest change caused by one relative rounding of the displacements and of the pair terms.
// Tolerances are therefore a few roundings for every system.

#ifndef GPUCOORD_TEST_BRUTE_FORCE_H
#define GPUCOORD_TEST_BRUTE_FORCE_H

#include "closed_forms.h"

#include "gpucoord/coordination.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace brute {

using Real = long double;
using Vector = std::array<Real, 3>;

// Columns of peratom: s_i, dS/dx, and the virial of the atom as in Sums.
constexpr int COLUMNS = 10;

struct Sums {
  explicit Sums(int nlocal) :
      peratom(COLUMNS * nlocal), peratom_scale(COLUMNS * nlocal), partners(nlocal)
  {
  }
  Real value = 0, value_scale = 0,
       value_size = 0;    // value_size: sum of the magnitudes of the terms
  std::array<Real, 6> virial = {}, virial_scale = {};
  std::vector<Real> peratom, peratom_scale;
  long npairs = 0;               // terms in the value
  std::vector<long> partners;    // terms in each row
};

class PairTerms {
 public:
  // extent: largest magnitude at which a coordinate is rounded, limited to 3 ranges. window:
  // applies to the derivatives, which are then the only output
  PairTerms(const gpucoord::SwitchOptions &formula, double extent_in,
            const gpucoord::Window *window_in = nullptr) :
      PairTerms(formula, extent_in, formula.dmax, window_in)
  {
  }
  // range: the largest of all functions that are used together.
  PairTerms(const gpucoord::SwitchOptions &formula, double extent_in, double range,
            const gpucoord::Window *window_in) :
      function(formula),
      dmax(formula.dmax), d0(formula.d0), amplification(function.amplification()),
      extent(std::min(extent_in, 3 * range)), windowed(window_in != nullptr),
      window(window_in ? *window_in : gpucoord::Window())
  {
  }
  // Adds one pair to atom i. d: x_j - x_i. counted: its contribution to S. sign: -1 adds the pair
  // to atom j. weight: factor of all its terms
  void add(const Vector &d, Real counted, int row, Sums &sums, Real sign = 1, Real weight = 1) const
  {
    const Real r = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(r <= dmax) || weight == 0) return;
    const Real weight_size = fabsl(weight);
    closed::Pair<Real> p = function(r);
    Real curvature = 0, direction = 0;
    if (p.ds != 0) {
      const Real h = 1e-5L * (r - d0);
      curvature = weight_size * fabsl(derivative(r + h) - derivative(r - h)) / (2 * h);
      p.ds = weight * (windowed ? p.ds * closed::window(window, r) : p.ds);
      direction = fabsl(p.ds) / r;
    }
    p.s = windowed ? 0 : weight * p.s;
    const Real size = windowed ? 0 : weight_size * amplification + extent * fabsl(p.ds);
    const Real derivative_size = amplification * fabsl(p.ds) + extent * (curvature + direction);
    std::array<Real, 6> virial = {};
    if (r > 0) {
      const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
      for (int k = 0; k < 6; ++k) virial[k] = -p.ds / r * d[first[k]] * d[second[k]];
    }
    const Real virial_size = r > 0 ? r * derivative_size + extent * fabsl(p.ds) : 0;
    if (counted != 0) {
      ++sums.npairs;
      sums.value += counted * p.s;
      sums.value_scale += counted * size;
      sums.value_size += counted * fabsl(p.s);
      for (int k = 0; k < 6; ++k) {
        sums.virial[k] += counted * virial[k];
        sums.virial_scale[k] += counted * virial_size;
      }
    }
    if (row < 0) return;
    ++sums.partners[row];
    Real *const out = &sums.peratom[COLUMNS * row],
                *const scale = &sums.peratom_scale[COLUMNS * row];
    out[0] += p.s;
    scale[0] += size;
    for (int k = 0; k < 3; ++k) {
      if (r > 0) out[1 + k] -= sign * p.ds / r * d[k];
      scale[1 + k] += derivative_size;
    }
    for (int k = 0; k < 6; ++k) {
      out[4 + k] += virial[k];
      scale[4 + k] += virial_size;
    }
  }

 private:
  Real derivative(Real r) const
  {
    return function.smooth(r).ds * (windowed ? closed::window(window, r) : 1);
  }
  const closed::Function<Real> function;
  const Real dmax, d0, amplification, extent;
  const bool windowed;
  const gpucoord::Window window;
};

// Terms and weight of each pair of types.
struct TypePairs {
  static constexpr int NONE = -1;
  std::vector<PairTerms> terms;
  std::vector<std::vector<int>> number;       // [ntypes + 1][ntypes + 1] index in terms, or NONE
  std::vector<std::vector<double>> weight;    // [ntypes + 1][ntypes + 1]
  void add(int type_i, int type_j, const Vector &d, Real counted, int row, Sums &sums,
           Real sign = 1, Real further_weight = 1) const
  {
    const int k = number[type_i][type_j];
    if (k != NONE)
      terms[k].add(d, counted, row, sums, sign, weight[type_i][type_j] * further_weight);
  }
};

// The definition of S for owned atoms 0..nlocal-1 among nall. Bit 1 of member: in a; bit 2: in b.
// add(i, j, x_j - x_i, counted, sums) adds a pair to atom i.
template <class Add>
Sums all_atoms(const std::vector<double> &x, int nlocal, const std::vector<unsigned char> &member,
               bool two, Add add)
{
  Sums sums(nlocal);
  const int nall = static_cast<int>(x.size() / 3);
  for (int i = 0; i < nlocal; ++i)
    for (int j = 0; j < nall; ++j) {
      if (i == j) continue;
      const bool ab = member[i] & 1 && member[j] & (two ? 2 : 1);
      const bool ba = two && member[i] & 2 && member[j] & 1;
      if (!ab && !ba) continue;
      const Vector d = {(Real) x[3 * j] - x[3 * i], (Real) x[3 * j + 1] - x[3 * i + 1],
                        (Real) x[3 * j + 2] - x[3 * i + 2]};
      if (ab) add(i, j, d, two ? 1 : 0.5L, sums);
      if (ba) add(i, j, d, 0, sums);
    }
  return sums;
}

inline Sums all_atoms(const PairTerms &terms, const std::vector<double> &x, int nlocal,
                      const std::vector<unsigned char> &member, bool two)
{
  return all_atoms(x, nlocal, member, two,
                   [&](int i, int, const Vector &d, Real counted, Sums &sums) {
                     terms.add(d, counted, i, sums);
                   });
}

struct Cell {
  double edges[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  bool periodic[3] = {false, false, false};
};

// Visits every image of d with coefficients up to reach.
template <class Visit> void for_images(const Cell &cell, const Vector &d, int reach, Visit visit)
{
  int range[3];
  for (int k = 0; k < 3; ++k) range[k] = cell.periodic[k] ? reach : 0;
  for (int i = -range[0]; i <= range[0]; ++i)
    for (int j = -range[1]; j <= range[1]; ++j)
      for (int k = -range[2]; k <= range[2]; ++k) {
        Vector image;
        for (int c = 0; c < 3; ++c)
          image[c] = d[c] + (Real) i * cell.edges[0][c] + (Real) j * cell.edges[1][c] +
              (Real) k * cell.edges[2][c];
        visit(image, i == 0 && j == 0 && k == 0);
      }
}

inline Vector nearest(const Cell &cell, const Vector &d, int reach = 3)
{
  Vector best = d;
  Real shortest = std::numeric_limits<Real>::infinity();
  for_images(cell, d, reach, [&](const Vector &image, bool) {
    const Real r_sq = image[0] * image[0] + image[1] * image[1] + image[2] * image[2];
    if (r_sq < shortest) {
      shortest = r_sq;
      best = image;
    }
  });
  return best;
}

}    // namespace brute

#endif
