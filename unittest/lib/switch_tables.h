// Part of GPUCOORD, GPL-2.0. Tables of functions of pairs of atom types, and their sums by brute
// force.

#ifndef GPUCOORD_TEST_SWITCH_TABLES_H
#define GPUCOORD_TEST_SWITCH_TABLES_H

#include "brute_force.h"
#include "engines.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using gpucoord::SwitchTable;
using gpucoord::Window;

constexpr double NO = SwitchOptions::NOT_GIVEN;

inline SwitchCase shifted(SwitchCase c)
{
  c.name += " shifted";
  for (auto *o : {&c.options, &c.formula}) {
    o->stretch = false;
    o->shifted = true;
  }
  return c;
}

// All kinds, with different ranges.
inline std::vector<SwitchCase> all_kinds()
{
  return {built_in(rational(6, 12, 0.5, 0.0, 1.6)),
          built_in(plain(SwitchKind::EXP, 0.4, 0.1, 1.1)),
          shifted(built_in(plain(SwitchKind::GAUSSIAN, 0.5, 0.0, 1.2))),
          built_in(smap(8, 4, 0.6, 0.0, 1.5)),
          built_in(plain(SwitchKind::CUBIC, NO, 0.3, 1.4)),
          shifted(built_in(plain(SwitchKind::TANH, 0.4, 0.2, 0.9))),
          built_in(plain(SwitchKind::COSINUS, 1.1, 0.2, 1.3)),
          built_in(native(5.0, 1.5, 0.5, 1.5)),
          custom("1/(1+x^6)", rational(6, 12, 0.5, 0.1, 1.0)),
          shifted(built_in(rational(5, 11, 0.5, 0.0, 1.4)))};
}

// A table with weights, and the same table for brute force. The two are filled separately, because
// brute force must not use the library's table.
struct Table {
  Table(int ntypes_in, const std::vector<SwitchCase> &functions_in) :
      ntypes(ntypes_in), functions(functions_in), library(ntypes),
      flat_weight((ntypes + 1) * (ntypes + 1), 1.0),
      number(ntypes + 1, std::vector<int>(ntypes + 1, brute::TypePairs::NONE)),
      weight(ntypes + 1, std::vector<double>(ntypes + 1, 1.0))
  {
    for (const auto &c : functions) library.add(Switch(c.options));
  }
  void set(int i, int j, int k, double w = 1.0)
  {
    if (k != brute::TypePairs::NONE) library.set(i, j, k);
    number[i][j] = number[j][i] = k;
    set_weight(i, j, w);
  }
  void set_weight(int i, int j, double w)
  {
    flat_weight[i * (ntypes + 1) + j] = flat_weight[j * (ntypes + 1) + i] = weight[i][j] =
        weight[j][i] = w;
  }
  brute::TypePairs exact(double extent, bool weighted, const Window *window = nullptr) const
  {
    brute::TypePairs pairs;
    for (const auto &c : functions)
      pairs.terms.emplace_back(formula_of(c, Switch(c.options)), extent, library.dmax(), window);
    pairs.number = number;
    pairs.weight = weight;
    if (!weighted)
      for (auto &row : pairs.weight) std::fill(row.begin(), row.end(), 1.0);
    return pairs;
  }
  int ntypes;
  std::vector<SwitchCase> functions;
  SwitchTable library;
  std::vector<double> flat_weight;
  std::vector<std::vector<int>> number;
  std::vector<std::vector<double>> weight;
};

// Types i and i + nkinds are equal. A fifth of the pairs are NONE, a fifth have zero weight.
inline Table random_table(int ntypes, int nkinds, unsigned seed)
{
  Table table(ntypes, all_kinds());
  std::mt19937_64 random(seed);
  const int nfunctions = static_cast<int>(table.functions.size());
  for (int a = 1; a <= nkinds; ++a)
    for (int b = a; b <= nkinds; ++b) {
      const int k = random() % 5 ? static_cast<int>(random() % nfunctions) : brute::TypePairs::NONE;
      const double weights[] = {1.0, 0.0, -0.7, 2.5, 0.01}, w = weights[random() % 5];
      for (int i = a; i <= ntypes; i += nkinds)
        for (int j = b; j <= ntypes; j += nkinds) table.set(i, j, k, w);
    }
  return table;
}

inline std::vector<int> random_types(int n, int ntypes, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::vector<int> type;
  for (int k = 0; k < n; ++k) type.push_back(1 + static_cast<int>(random() % ntypes));
  return type;
}

inline System dense_system(int n, Groups groups, int nghosts, unsigned seed)
{
  const double side = std::cbrt(n / 6.0 + 0.1);
  return make_system(random_points(n, side, side, side, -1.0, seed), groups, nghosts, seed);
}

const double SPECIAL[4] = {1.0, 0.0, -0.5, 0.25};
inline double special_weight(int i, int j)
{
  return SPECIAL[Neighbors::special_of(i, j)];
}

// further_weight(i, j): factor of a pair in the sums of atom i
template <class Weight>
brute::Sums brute_sums(const System &s, const brute::TypePairs &pairs, const std::vector<int> &type,
                       Weight further_weight)
{
  return brute::all_atoms(
      s.x, s.nlocal, s.member, s.two,
      [&](int i, int j, const brute::Vector &d, brute::Real counted, brute::Sums &sums) {
        pairs.add(type[i], type[j], d, counted, i, sums, 1, further_weight(i, j));
      });
}
inline brute::Sums brute_sums(const System &s, const brute::TypePairs &pairs,
                              const std::vector<int> &type)
{
  return brute_sums(s, pairs, type, [](int, int) {
    return 1.0;
  });
}

const unsigned ALL_WANTS[] = {VALUE, DERIVATIVES, VIRIAL, DERIVATIVES | VIRIAL, EVERYTHING};

#endif
