// Part of GPUCOORD, GPL-2.0. Groups functions that one kernel can evaluate with different
// constants.

#ifndef GPUCOORD_FORMULA_NUMBERS_H
#define GPUCOORD_FORMULA_NUMBERS_H

#include "switch_dispatch.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <vector>

namespace gpucoord {

// Returns a number for each function of the table. It is the same for functions with the same
// formula, the same integer exponents and the same expression.
inline std::vector<int> formula_numbers(const SwitchTable &table)
{
  using Formula = std::tuple<std::type_index, int, int, std::string>;
  std::vector<Formula> known;
  std::vector<int> numbers;
  for (const Switch &function : table.functions()) {
    const SwitchConstants<double> c = make_constants<double>(function);
    Formula formula(typeid(void), c.in, c.im, function.options().expression);
    if (function.options().kind != SwitchKind::CUSTOM)
      visit_formula(function, [&](auto form) {
        std::get<0>(formula) = typeid(form);
      });
    const auto at = std::find(known.begin(), known.end(), formula);
    numbers.push_back(static_cast<int>(at - known.begin()));
    if (at == known.end()) known.push_back(formula);
  }
  return numbers;
}

}    // namespace gpucoord

#endif
