// Part of GPUCOORD, GPL-2.0. Functions between many classes of types, for kernels that look up the
// constants of each partner in a table.
//
// A search for partners and a kernel for each pair of classes would leave vectors almost empty:
// with 16 types, only 4 of 65 partners have the same type.

#ifndef GPUCOORD_CLASS_CONSTANTS_HOST_H
#define GPUCOORD_CLASS_CONSTANTS_HOST_H

#include "../switching/type_classes.h"
#include "pair_kernels_host.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpucoord {

// A switching function on the host.
template <class Real> struct HostFunction {
  double dmax;
  SwitchConstants<Real> constants;
  PairKernels<Real> kernels;
};

// The constants of one formula between one class and others, and the kernels of the formula.
template <class Real> struct ClassTable {
  ClassTable() = default;
  ClassTable(ClassTable &&) = default;    // moving keeps the addresses of the arrays

  ClassConstants<Real> constants;
  const PairKernels<Real> *kernels = nullptr;    // null: no function with this formula
  // Arrays that 'constants' points to.
  std::vector<Real> range_sq, values;
  std::vector<const SwitchConstants<Real> *> each;
  std::vector<int> function;
};

// The functions between two groups of classes: one function, or tables.
template <class Real> struct GroupInteraction {
  double dmax = 0.0;    // largest dmax; 0: no function
  bool is_one = false;
  TypeClasses::Interaction one = {SwitchTable::NONE, 0.0};
  std::vector<std::vector<ClassTable<Real>>> tables;    // [classes][formulas]
};

// Holds a reference to the functions.
template <class Real> class ClassFunctions {
 public:
  explicit ClassFunctions(const std::vector<HostFunction<Real>> &functions_in) :
      functions(functions_in), formula_of(functions.size())
  {
    for (std::size_t k = 0; k < functions.size(); ++k) {
      std::size_t f = 0;
      while (f < formulas.size() && !same_formula(formulas[f].functions.front(), k)) ++f;
      if (f == formulas.size()) formulas.emplace_back();
      formulas[f].functions.push_back(static_cast<int>(k));
      formula_of[k] = f;
    }
    for (Formula &formula : formulas) {
      const auto &indices = formula.functions;
      for (int c = 0; c < NCONSTANTS; ++c) {
        const auto constant = CONSTANTS_PER_FUNCTION<Real>[c];
        const Real first = functions[indices.front()].constants.*constant;
        const bool is_equal = std::all_of(indices.begin(), indices.end(), [&](int k) {
          return functions[k].constants.*constant == first;
        });
        if (!is_equal) formula.varying.push_back(c);
        formula.equal.insert(formula.equal.end(), PARTNER_CHUNK + 16, first);
      }
    }
  }
  ClassFunctions(const ClassFunctions &) = delete;
  ClassFunctions &operator=(const ClassFunctions &) = delete;

  // as_tables: use tables even where there is only one function
  GroupInteraction<Real> between(const TypeClasses &classes, const ClassGroups &groups, int gi,
                                 int gj, bool as_tables = false) const
  {
    GroupInteraction<Real> result;
    const auto &some = groups.classes_of(gi), &others = groups.classes_of(gj);
    for (const int ci : some)
      for (const int cj : others)
        if (classes(ci, cj).exists())
          result.dmax = std::max(result.dmax, functions[classes(ci, cj).function].dmax);
    if (result.dmax == 0.0) return result;
    if (some.size() == 1 && others.size() == 1 && !as_tables) {
      result.is_one = true;
      result.one = classes(some.front(), others.front());
      return result;
    }
    result.tables.resize(classes.size());
    for (const int ci : some)
      for (std::size_t f = 0; f < formulas.size(); ++f) {
        ClassTable<Real> table = table_of(f, classes, ci, others);
        if (table.kernels) result.tables[ci].push_back(std::move(table));
      }
    return result;
  }

 private:
  // Functions of one formula with the same integer exponents.
  struct Formula {
    std::vector<int> functions;    // indices in the table
    std::vector<int> varying;      // see ClassConstants
    std::vector<Real> equal;       // [NCONSTANTS][PARTNER_CHUNK + 16]
  };

  bool same_formula(std::size_t a, std::size_t b) const
  {
    const auto &f = functions[a], &g = functions[b];
    return f.kernels.gather_classes == g.kernels.gather_classes &&
        f.constants.in == g.constants.in && f.constants.im == g.constants.im;
  }

  // Returns the functions of a formula between class ci and other classes.
  ClassTable<Real> table_of(std::size_t formula_index, const TypeClasses &classes, int ci,
                            const std::vector<int> &others) const
  {
    ClassTable<Real> table;
    const Formula &formula = formulas[formula_index];
    const std::size_t n = classes.size();
    constexpr std::size_t W = CLASS_TABLE_WIDTH;
    const std::size_t width = (n + W - 1) / W * W;
    for (const int cj : others) {
      const auto &between = classes(ci, cj);
      if (!between.exists() || formula_of[between.function] != formula_index) continue;
      if (!table.kernels) {
        table.kernels = &functions[between.function].kernels;
        table.constants.common = functions[between.function].constants;
        table.range_sq.assign(width, -1);
        table.values.assign((1 + formula.varying.size()) * width, 0);
        table.each.assign(n, &table.constants.common);
        table.function.assign(n, between.function);
      }
      const auto &constants = functions[between.function].constants;
      table.range_sq[cj] = constants.dmax_sq;
      table.values[cj] = static_cast<Real>(between.weight);
      table.each[cj] = &constants;
      table.function[cj] = between.function;
    }
    if (!table.kernels) return table;
    for (std::size_t v = 0; v < formula.varying.size(); ++v)
      for (std::size_t cj = 0; cj < n; ++cj)
        table.values[(1 + v) * width + cj] =
            table.each[cj]->*CONSTANTS_PER_FUNCTION<Real>[formula.varying[v]];
    ClassConstants<Real> &view = table.constants;
    view.width = static_cast<int>(width);
    view.range_sq = table.range_sq.data();
    const auto range =
        std::minmax_element(table.range_sq.begin(), table.range_sq.begin() + static_cast<long>(n));
    view.equal_range_sq = *range.first == *range.second ? *range.first : -1;
    view.nvarying = static_cast<int>(formula.varying.size());
    view.varying = formula.varying.data();
    view.values = table.values.data();
    for (int c = 0; c < NCONSTANTS; ++c)
      view.equal[c] = formula.equal.data() + c * (PARTNER_CHUNK + 16);
    view.each = table.each.data();
    view.function = table.function.data();
    return table;
  }

  const std::vector<HostFunction<Real>> &functions;
  std::vector<std::size_t> formula_of;    // [functions]
  std::vector<Formula> formulas;
};

}    // namespace gpucoord

#endif
