// Part of GPUCOORD, GPL-2.0. Items of atoms and centers compared with a real PLUMED: values,
// derivatives and virials.

#include "plumed_library.h"

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int NATOMS = 10;

using GeometryPlumed = WithPlumed;
TEST_F(GeometryPlumed, equal)
{
  // Atoms are counted from 1 in PLUMED. a is a center with weights, and b one of mass.
  const std::vector<double> mass = {1, 2, 12, 16, 1, 14, 32, 1, 2, 4};
  const std::vector<std::string> centers = {"a: CENTER ATOMS=1,5,9,3 WEIGHTS=1,12,16,3.5",
                                            "b: COM ATOMS=2,3,6,10"};
  const int a = NATOMS, b = NATOMS + 1;
  struct Case {
    GeometryItem item;
    std::string plumed;
  };
  std::vector<Case> cases = {{{Kind::DISTANCE, {0, 1}}, "s: DISTANCE ATOMS=1,2"},
                             {{Kind::DISTANCE, {a, b}}, "s: DISTANCE ATOMS=a,b"},
                             {{Kind::ANGLE, {3, 0, 7}}, "s: ANGLE ATOMS=4,1,8"},
                             {{Kind::ANGLE, {a, 2, b}}, "s: ANGLE ATOMS=a,3,b"},
                             {{Kind::DIHEDRAL, {6, 3, 7, 9}}, "s: TORSION ATOMS=7,4,8,10"},
                             {{Kind::DIHEDRAL, {4, a, b, 8}}, "s: TORSION ATOMS=5,a,b,9"}};
  for (int axis = 0; axis < 3; ++axis)
    cases.push_back({{Kind::COMPONENT, {4, b}, axis},
                     std::string("d: DISTANCE ATOMS=5,b COMPONENTS;s: CUSTOM ARG=d.") +
                         "xyz"[axis] + " FUNC=x PERIODIC=NO"});

  const std::vector<BoxShape> shapes = box_shapes();
  double worst = 0.0;
  for (const BoxShape &shape : {shapes[0], shapes[1], shapes[3]})
    for (const std::uint64_t seed : {1, 2, 3}) {
      GeometrySystem system(shape, NATOMS, seed);
      system.add_group({0, 4, 8, 2}, {1, 12, 16, 3.5});
      system.add_group({1, 2, 5, 9}, {mass[1], mass[2], mass[5], mass[9]});
      for (const Case &one : cases) {
        SCOPED_TRACE(shape.name + ", " + one.plumed);
        GeometryOptions options;
        options.npoints = system.npoints;
        options.items = {one.item};
        const GeometryResult result = evaluate(options, system);
        std::vector<std::string> lines = centers;
        const std::size_t end = one.plumed.find(';');
        lines.push_back(one.plumed.substr(0, end));
        if (end != std::string::npos) lines.push_back(one.plumed.substr(end + 1));
        const PlumedResult expected = by_plumed(*plumed, lines, system, mass);
        const auto check = [&](double got, double wanted, double limit) {
          EXPECT_NEAR(got, wanted, limit);
          worst = std::max(worst, std::fabs(got - wanted));
        };
        check(result.values[0], expected.value, 1e-10);
        double largest = 0.0;
        for (int k = 0; k < 3 * NATOMS; ++k) {
          check(result.gradients[k], expected.gradients[k], 1e-10);
          largest = std::max(largest, std::fabs(expected.gradients[k]));
        }
        EXPECT_GT(largest, 0.01);
        const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        for (int c = 0; c < 6; ++c)
          check(result.virials[c], -expected.virial[axes[c][1]][axes[c][0]], 1e-10);
      }
    }
  std::cout << "largest difference from PLUMED: " << worst << "\n";
}

}    // namespace
