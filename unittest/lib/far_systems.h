// Part of GPUCOORD, GPL-2.0. Charges in periodic boxes, and their far field on a mesh with a
// Fourier transform by its definition.

#ifndef GPUCOORD_TEST_FAR_SYSTEMS_H
#define GPUCOORD_TEST_FAR_SYSTEMS_H

#include "gpucoord/map_far.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

namespace gpucoord {

using Complex = std::complex<double>;

const double PI = std::acos(-1.0);

// Transforms along one axis after the other. sign: sign of the exponent.
inline std::vector<Complex> transformed(std::vector<Complex> values, const int n[3], double sign)
{
  int stride = 1;
  for (int a = 0; a < 3; ++a) {
    std::vector<Complex> phases(n[a]);
    for (int k = 0; k < n[a]; ++k) phases[k] = std::polar(1.0, sign * 2.0 * PI * k / n[a]);
    std::vector<Complex> after(values.size());
    for (std::size_t p = 0; p < values.size(); ++p) {
      const int k = static_cast<int>(p / stride) % n[a];
      const std::size_t first = p - static_cast<std::size_t>(k) * stride;
      for (int j = 0; j < n[a]; ++j)
        after[p] += values[first + static_cast<std::size_t>(j) * stride] * phases[j * k % n[a]];
    }
    values.swap(after);
    stride *= n[a];
  }
  return values;
}

inline FarBox box_of(const double (&lengths)[3], double xy = 0.0, double xz = 0.0, double yz = 0.0)
{
  FarBox box;
  box.edge[0][0] = lengths[0];
  box.edge[1][0] = xy;
  box.edge[1][1] = lengths[1];
  box.edge[2][0] = xz;
  box.edge[2][1] = yz;
  box.edge[2][2] = lengths[2];
  const double origin[3] = {-1.3, 0.4, 2.1};
  std::copy_n(origin, 3, box.origin);
  return box;
}

struct Charges {
  std::vector<double> x, q;

  // Adds images around the box, which charges near its faces need.
  Charges with_images(const FarBox &box) const
  {
    Charges all;
    for (std::size_t i = 0; i < q.size(); ++i)
      for (int image = 0; image < 27; ++image) {
        const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        for (int c = 0; c < 3; ++c)
          all.x.push_back(x[3 * i + c] + shift[0] * box.edge[0][c] + shift[1] * box.edge[1][c] +
                          shift[2] * box.edge[2][c]);
        all.q.push_back(q[i]);
      }
    return all;
  }
  MapCharges view() const { return {x.data(), q.data(), static_cast<int>(q.size())}; }
  double sum_sq() const
  {
    double sum = 0.0;
    for (const double one : q) sum += one * one;
    return sum;
  }
};

inline Charges random_charges(const FarBox &box, int n, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  Charges charges;
  for (int i = 0; i < n; ++i) {
    const double s[3] = {uniform(random), uniform(random), uniform(random)};
    for (int c = 0; c < 3; ++c)
      charges.x.push_back(box.origin[c] + s[0] * box.edge[0][c] + s[1] * box.edge[1][c] +
                          s[2] * box.edge[2][c]);
    charges.q.push_back(uniform(random) - 0.4);
  }
  return charges;
}

inline std::vector<FarBox> boxes()
{
  return {box_of({7.0, 6.0, 8.0}), box_of({7.0, 6.0, 8.0}, 2.0, -1.5, 1.8),
          box_of({5.0, 9.0, 7.0}, -2.4, 2.0, -4.0)};
}

// Potential and field at the points of a mesh, and the potential at the charges. Contributions at
// images are added to their charges.
struct OnMesh {
  std::vector<double> values[4], at_images, at_charges;

  OnMesh(const FarBox &box, const int n[3], const Charges &charges, double alpha)
  {
    MeshBrick brick;
    brick.box = box;
    for (int a = 0; a < 3; ++a) brick.mesh[a] = brick.n[a] = n[a];
    const std::size_t npoints = static_cast<std::size_t>(n[0]) * n[1] * n[2];
    std::vector<double> density(npoints);
    const Charges all = charges.with_images(box);
    spread_charges(brick, all.view(), 2, density.data());
    const auto spectrum =
        transformed(std::vector<Complex>(density.begin(), density.end()), n, -1.0);
    const FarFactors factors(box, n, alpha);
    std::vector<Complex> work[5];
    for (auto &w : work) w.resize(npoints);
    for (std::size_t p = 0; p < npoints; ++p) {
      const int index[3] = {static_cast<int>(p % n[0]), static_cast<int>(p / n[0] % n[1]),
                            static_cast<int>(p / n[0] / n[1])};
      double wave[3];
      const double factor = factors.at(index, wave);
      work[0][p] = factor * spectrum[p];
      for (int c = 0; c < 3; ++c) work[1 + c][p] = Complex(0.0, -wave[c]) * work[0][p];
      work[4][p] = factors.spline(index) * work[0][p];
    }
    for (int w = 0; w < 5; ++w) {
      work[w] = transformed(work[w], n, 1.0);
      if (w < 4)
        for (const Complex &v : work[w]) values[w].push_back(v.real());
    }
    std::vector<double> for_positions(npoints);
    at_images.resize(all.q.size());
    for (std::size_t p = 0; p < npoints; ++p) for_positions[p] = work[4][p].real();
    interpolate_mesh(brick, for_positions.data(), all.x.data(), static_cast<int>(all.q.size()), 2,
                     at_images.data());
    for (std::size_t i = 0; i < charges.q.size(); ++i) {
      at_charges.push_back(0.0);
      for (int image = 0; image < 27; ++image) at_charges[i] += at_images[27 * i + image];
    }
  }
};

}    // namespace gpucoord

#endif
