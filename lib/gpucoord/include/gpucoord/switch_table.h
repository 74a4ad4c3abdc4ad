// Part of GPUCOORD, GPL-2.0. The switching functions of pairs of atom types.

#ifndef GPUCOORD_SWITCH_TABLE_H
#define GPUCOORD_SWITCH_TABLE_H

#include "gpucoord/switching.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

class SwitchTable {
 public:
  static constexpr int NONE = -1;

  // One function for all pairs; types are ignored.
  SwitchTable(const Switch &function) : list(1, function) {}

  // A table of types 1 to ntypes, without functions.
  explicit SwitchTable(int ntypes_in) :
      number_of_types(ntypes_in),
      function_of_types(static_cast<std::size_t>(ntypes_in + 1) * (ntypes_in + 1), NONE)
  {
  }

  // Adds a function and returns its number.
  int add(const Switch &function)
  {
    list.push_back(function);
    return static_cast<int>(list.size()) - 1;
  }
  // Assigns function 'number' to the pair of types i, j.
  void set(int i, int j, int function)
  {
    function_of_types[index(i, j)] = function_of_types[index(j, i)] = function;
  }

  int ntypes() const { return number_of_types; }    // 0: types are ignored
  // Returns the number of the function of types i, j, or NONE if there is no function.
  int function_of(int i, int j) const
  {
    return number_of_types ? function_of_types[index(i, j)] : 0;
  }
  const std::vector<Switch> &functions() const { return list; }

  // Returns the largest dmax of all functions.
  double dmax() const
  {
    double largest = 0.0;
    for (const Switch &function : list)
      largest = function.dmax() > largest ? function.dmax() : largest;
    return largest;
  }
  bool has_end() const { return dmax() < std::numeric_limits<double>::infinity(); }

  std::size_t index(int i, int j) const    // index in [ntypes + 1][ntypes + 1]
  {
    return static_cast<std::size_t>(i) * (number_of_types + 1) + j;
  }

 private:
  int number_of_types = 0;
  std::vector<Switch> list;
  std::vector<int> function_of_types;    // [ntypes + 1][ntypes + 1]
};

}    // namespace gpucoord

#endif
