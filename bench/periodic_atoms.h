// Part of GPUCOORD, GPL-2.0. Atoms in a cubic box with their periodic images, as LAMMPS has ghosts.

#ifndef GPUCOORD_BENCH_PERIODIC_ATOMS_H
#define GPUCOORD_BENCH_PERIODIC_ATOMS_H

#include <cstddef>
#include <numeric>
#include <vector>

struct PeriodicAtoms {
  std::vector<double> x;     // [][3] owned atoms, then images
  std::vector<int> owner;    // [] the owned atom
  int nowned = 0;

  int n() const { return static_cast<int>(owner.size()); }

  // Adds the images within reach of the box, which begins at 0.
  void add_images(double period, double reach)
  {
    nowned = static_cast<int>(x.size() / 3);
    owner.resize(nowned);
    std::iota(owner.begin(), owner.end(), 0);
    for (int c = 0; c < 3; ++c) {
      const std::size_t n = owner.size();
      for (std::size_t i = 0; i < n; ++i)
        for (const int side : {-1, 1}) {
          const double image = x[3 * i + c] + side * period;
          if (image < -reach || image > period + reach) continue;
          for (int k = 0; k < 3; ++k) x.push_back(k == c ? image : x[3 * i + k]);
          owner.push_back(owner[i]);
        }
    }
  }
};

#endif
