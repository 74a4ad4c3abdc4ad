// Part of GPUCOORD, GPL-2.0. Functions between types, for each formula.

#ifndef GPUCOORD_TEST_TYPE_FUNCTIONS_H
#define GPUCOORD_TEST_TYPE_FUNCTIONS_H

#include "gpucoord/switch_table.h"
#include "gpucoord/switching.h"

#include <vector>

namespace gpucoord {

inline SwitchOptions options(SwitchKind kind, double dmax)
{
  SwitchOptions o;
  o.kind = kind;
  o.dmax = dmax;
  if (kind != SwitchKind::CUBIC) o.r0 = 0.6 * dmax;
  return o;
}

// Every formula. v, near 1, changes all of its constants.
constexpr int NFORMULAS = 14;
inline SwitchOptions function_of(int number, double v)
{
  const SwitchKind kinds[] = {SwitchKind::CUBIC, SwitchKind::EXP, SwitchKind::GAUSSIAN,
                              SwitchKind::TANH};
  const double rationals[][2] = {{6, 12}, {8, 16}, {6, 10}, {5, 9}, {6, 12}, {5.5 * v, 11.3}};
  if (number < 4) {
    SwitchOptions o = options(kinds[number], 1.05 * v);
    o.d0 = 0.2 * v;
    return o;
  }
  if (number < 10) {
    SwitchOptions o = options(SwitchKind::RATIONAL, 1.05 * v);
    o.n = rationals[number - 4][0];
    o.m = rationals[number - 4][1];
    if (number == 7 || number == 8) o.d0 = 0.2 * v;
    return o;
  }
  const SwitchKind others[] = {SwitchKind::SMAP, SwitchKind::COSINUS, SwitchKind::CUSTOM,
                               SwitchKind::Q};
  SwitchOptions o = options(others[number - 10], 1.05 * v);
  if (o.kind == SwitchKind::SMAP) {
    o.a = 8 * v;
    o.b = 4 * v * v;
  } else if (o.kind == SwitchKind::COSINUS) {
    o.r0 = 0.9 * v;
    o.d0 = 0.05 * v;
  } else if (o.kind == SwitchKind::CUSTOM) {
    o.d0 = 0.2 * v;
    o.expression = "2/(1+x^6)";
  } else {
    // s' is not 1 at d0.
    o.r0 = SwitchOptions::NOT_GIVEN;
    o.ref = 0.4 * v;
    o.beta = 10.0 / v;
    o.d0 = 0.6 * v;
  }
  return o;
}

// Constants that differ between the functions of one formula. ALL: all constants, and the weights.
// RANGES: all constants except stretch and shift, because the functions are not stretched. RADII:
// all constants except dmax.
enum class Differing { ALL, RANGES, RADII };
constexpr Differing DIFFERING[] = {Differing::ALL, Differing::RANGES, Differing::RADII};

// One formula between all pairs of three types.
inline SwitchTable table_of(int formula, Differing differing)
{
  SwitchTable table(3);
  for (int i = 1; i <= 3; ++i)
    for (int j = i; j <= 3; ++j) {
      const double v = 0.85 + 0.04 * (i + 2 * j);
      SwitchOptions o = function_of(formula, v);
      if (differing == Differing::ALL) o.dmax *= 0.6 + 0.4 * v;
      if (differing == Differing::RANGES) o.stretch = false;
      if (differing == Differing::RADII) o.dmax = 1.0;
      table.set(i, j, table.add(Switch(o)));
    }
  return table;
}

// Weights of these pairs of types.
inline std::vector<double> weights_of(Differing differing)
{
  std::vector<double> weight(16);
  for (int i = 1; i <= 3; ++i)
    for (int j = 1; j <= 3; ++j)
      weight[4 * i + j] = differing == Differing::ALL ? 1.1 - 0.1 * (i + j) : 0.7;
  return weight;
}

}    // namespace gpucoord

#endif
