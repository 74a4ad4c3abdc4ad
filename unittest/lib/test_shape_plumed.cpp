// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD compared with a real PLUMED: values,
// derivatives and virials.

#include "plumed_library.h"
#include "shape_systems.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int NATOMS = 10;
const int MEMBERS[] = {0, 2, 3, 5, 6, 9};

// Writes the reference of the members, in angstroms; PLUMED's unit is nm. A number has three
// decimals.
void write_pdb(const std::string &path, const std::vector<double> &reference,
               const std::vector<double> &weight)
{
  std::ofstream file(path);
  for (const int i : MEMBERS) {
    const double *const y = &reference[3 * i];
    char line[100];
    std::snprintf(line, sizeof(line),
                  "ATOM  %5d  X   RES     1    %8.3f%8.3f%8.3f%6.2f%6.2f           X  \n", i + 1,
                  10.0 * y[0], 10.0 * y[1], 10.0 * y[2], weight[i], weight[i]);
    file << line;
  }
  file << "END\n";
}

using ShapePlumed = WithPlumed;
TEST_F(ShapePlumed, equal)
{
  const std::vector<double> mass = {1, 2, 12, 16, 1, 14, 32, 1, 2, 4};
  const std::vector<double> ones(NATOMS, 1.0);
  const std::string path = testing::TempDir() + "/test_shape_plumed.pdb";
  struct Case {
    bool is_rmsd, by_mass, squared;
    std::string plumed;
  };
  const std::string atoms = "ATOMS=1,3,4,6,7,10";
  const std::vector<Case> cases = {
      {false, false, false, "s: GYRATION TYPE=RADIUS " + atoms},
      {false, true, false, "s: GYRATION TYPE=RADIUS MASS_WEIGHTED " + atoms},
      {true, false, false, "s: RMSD TYPE=OPTIMAL REFERENCE=" + path},
      {true, true, false, "s: RMSD TYPE=OPTIMAL REFERENCE=" + path},
      {true, true, true, "s: RMSD TYPE=OPTIMAL SQUARED REFERENCE=" + path}};
  const std::vector<BoxShape> shapes = box_shapes();
  double worst = 0.0;
  for (const BoxShape &shape : {shapes[0], shapes[1], shapes[3]})
    for (const std::uint64_t seed : {1, 2, 3}) {
      GeometrySystem system(shape, NATOMS, seed);
      std::vector<double> reference = system.unwrapped(shape.edges);
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> around(-0.6, 0.6);
      for (double &one : reference) one = std::round(1e4 * (one + around(random))) * 1e-4;
      for (const Case &one : cases) {
        SCOPED_TRACE(shape.name + ", " + one.plumed);
        const std::vector<double> &weight = one.by_mass ? mass : ones;
        write_pdb(path, reference, weight);
        ShapeOptions options;
        options.squared = one.squared;
        if (one.is_rmsd) options.kind = ShapeKind::RMSD;
        if (one.is_rmsd) options.reference = reference;
        system.members.clear();
        for (const int i : MEMBERS) system.members.push_back({i, 0, weight[i]});
        const ShapeResult result = evaluate(options, system);
        const PlumedResult expected = by_plumed(*plumed, {one.plumed}, system, mass);
        const auto check = [&](double got, double wanted, double limit) {
          EXPECT_NEAR(got, wanted, limit);
          worst = std::max(worst, std::fabs(got - wanted));
        };
        check(result.value, expected.value, 1e-10);
        double largest = 0.0;
        for (int k = 0; k < 3 * NATOMS; ++k) {
          check(result.gradients[k], expected.gradients[k], 1e-10);
          largest = std::max(largest, std::fabs(expected.gradients[k]));
        }
        EXPECT_GT(largest, 0.01);
        const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        for (int c = 0; c < 6; ++c)
          check(result.virial[c], -expected.virial[axes[c][1]][axes[c][0]], 1e-10);
      }
    }
  std::remove(path.c_str());
  std::cout << "largest difference from PLUMED: " << worst << "\n";
}

}    // namespace
