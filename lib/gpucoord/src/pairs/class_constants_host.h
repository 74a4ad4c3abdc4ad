// Part of GPUCOORD, GPL-2.0. Functions between many classes of types, for kernels that take the
// constants of each partner from a table.
//
// A search for partners and a kernel for each pair of classes would leave vectors almost empty: of
// 65 partners of 16 types, 4 are of one type.

#ifndef GPUCOORD_CLASS_CONSTANTS_HOST_H
#define GPUCOORD_CLASS_CONSTANTS_HOST_H

#include "../switching/type_classes.h"
#include "pair_kernels_host.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpucoord {

// A function of the table.
template <class Real> struct HostFunction {
  double dmax;
  SwitchConstants<Real> constants;
  PairKernels<Real> kernels;
};

// What acts between two groups of classes: one function, or those of each class of the first group
// with the classes of the second one.
template <class Real> struct GroupInteraction {
  double dmax = 0.0;    // the largest; 0: nothing acts
  const TypeClasses::Interaction *only = nullptr;
  std::vector<std::vector<ClassConstants<Real>>> of_class;    // [classes][formulas]
};

template <class Real> class ClassFunctions {
 public:
  explicit ClassFunctions(const std::vector<HostFunction<Real>> &functions_in) :
      functions(functions_in)
  {
    for (std::size_t k = 0; k < functions.size(); ++k) {
      std::size_t f = 0;
      while (f < formulas.size() && !same_formula(formulas[f].functions.front(), k)) ++f;
      if (f == formulas.size()) formulas.emplace_back();
      formulas[f].functions.push_back(static_cast<int>(k));
    }
    for (Formula &formula : formulas) {
      const auto &numbers = formula.functions;
      for (int c = 0; c < NCONSTANTS; ++c) {
        const auto constant = CONSTANTS_OF_A_FUNCTION<Real>[c];
        const Real first = functions[numbers.front()].constants.*constant;
        const bool is_equal = std::all_of(numbers.begin(), numbers.end(), [&](int k) {
          return functions[k].constants.*constant == first;
        });
        if (!is_equal) formula.varying.push_back(c);
        formula.equal.insert(formula.equal.end(), PARTNER_CHUNK + 16, first);
      }
    }
  }

  // Refers to the classes and to the functions.
  GroupInteraction<Real> between(const TypeClasses &classes, const ClassGroups &groups, int gi,
                                 int gj) const
  {
    GroupInteraction<Real> result;
    if (!groups.interact(classes, gi, gj)) return result;
    const auto &some = groups.classes_of(gi), &others = groups.classes_of(gj);
    for (const int ci : some)
      for (const int cj : others)
        result.dmax = std::max(result.dmax, functions[classes(ci, cj).function].dmax);
    if (some.size() == 1 && others.size() == 1) {
      result.only = &classes(some.front(), others.front());
      return result;
    }
    result.of_class.resize(classes.size());
    for (const int ci : some)
      for (const Formula &formula : formulas) {
        auto constants = constants_of(formula, classes, ci, others);
        if (constants.any >= 0) result.of_class[ci].push_back(std::move(constants));
      }
    return result;
  }

 private:
  // Functions of one formula with the same integer exponents.
  struct Formula {
    std::vector<int> functions;    // numbers in the table
    std::vector<int> varying;      // see ClassConstants
    std::vector<Real> equal;       // [NCONSTANTS][PARTNER_CHUNK + 16]
  };

  bool same_formula(std::size_t a, std::size_t b) const
  {
    const auto &f = functions[a], &g = functions[b];
    return f.kernels.gather_classes == g.kernels.gather_classes &&
        f.constants.in == g.constants.in && f.constants.im == g.constants.im;
  }

  // The functions of a formula between class ci and other classes.
  ClassConstants<Real> constants_of(const Formula &formula, const TypeClasses &classes, int ci,
                                    const std::vector<int> &others) const
  {
    ClassConstants<Real> result;
    const std::size_t n = classes.size();
    result.weight.assign(n, 0);
    result.each.assign(n, nullptr);
    result.function.assign(n, SwitchTable::NONE);
    result.dmax_sq = 0;
    const auto &numbers = formula.functions;
    for (const int cj : others) {
      const auto &[number, weight] = classes(ci, cj);
      if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) continue;
      const auto &constants = functions[number].constants;
      result.any = cj;
      result.common = constants;
      result.dmax_sq = std::max(result.dmax_sq, constants.dmax_sq);
      result.weight[cj] = static_cast<Real>(weight);
      result.each[cj] = &constants;
      result.function[cj] = number;
    }
    result.varying = formula.varying;
    for (const int c : formula.varying)
      for (std::size_t cj = 0; cj < n; ++cj)
        result.values.push_back((result.each[cj] ? *result.each[cj] : result.common).*
                                CONSTANTS_OF_A_FUNCTION<Real>[c]);
    for (int c = 0; c < NCONSTANTS; ++c)
      result.equal[c] = formula.equal.data() + c * (PARTNER_CHUNK + 16);
    return result;
  }

  const std::vector<HostFunction<Real>> &functions;
  std::vector<Formula> formulas;
};

}    // namespace gpucoord

#endif
