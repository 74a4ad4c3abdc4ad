// Part of GPUCOORD, GPL-2.0. Tables of the functions of one formula between classes of types, for
// kernels over partner lists.
//
// Each partner has its own constants, and loads limit the kernels. Therefore a table has one
// element per pair of classes, with the constants that most formulas read. Short elements omit
// those that are the same for all functions.

#ifndef GPUCOORD_CLASS_TABLES_H
#define GPUCOORD_CLASS_TABLES_H

#include "../switching/formula.h"
#include "../switching/type_classes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpucoord {

// IN_MEMORY: a table in global memory, because it is too large for shared memory. SHARED: in shared
// memory. SAME_SCALE: in shared memory, without stretch and shift. These are the same if all
// functions have the same ratio (dmax - d0)/r0, which is the default of rational, or are not
// stretched, and if their weights and other parameters are the same. SAME_RANGE: in shared memory,
// without dmax and stretch + shift. All pairs of classes have a function, with the same dmax and
// the same sum, which is the weight if s' begins at 1.
//
// Each table has its own kernels. With a pointer that may refer to either memory, the compiler does
// not load the next partners before the functions of the current ones.
enum class ClassTable { IN_MEMORY, SHARED, SAME_SCALE, SAME_RANGE };

template <class Real, ClassTable TABLE> struct alignas(16) FunctionOfClasses {
  Real inv_r0;            // 1/distance
  Real dmax_sq;           // distance^2, negative: no function
  Real stretch, shift;    // multiplied by the weight of the pair
};
template <class Real>
struct alignas(2 * sizeof(Real)) FunctionOfClasses<Real, ClassTable::SAME_SCALE> {
  Real inv_r0, dmax_sq;
};
template <class Real>
struct alignas(2 * sizeof(Real)) FunctionOfClasses<Real, ClassTable::SAME_RANGE> {
  Real inv_r0, shift;
};

template <class Real> struct ClassTables {
  using Element = FunctionOfClasses<Real, ClassTable::SHARED>;

  int nclasses;
  SwitchConstants<Real> constants = {};    // constants that are the same for all functions
  Real stretch_plus_shift = 0;             // SAME_RANGE
  unsigned varying = 0;                    // bit k: constant k differs between functions
  // The table with the fewest bytes of shared memory, or IN_MEMORY.
  ClassTable smallest;
  std::vector<Element> elements;       // [classes][classes] IN_MEMORY and SHARED
  std::vector<Real> short_elements;    // [classes][classes][2] the smallest table, if it is another
  // [NCONSTANTS][classes][classes] all constants, for formulas that read more than an element
  std::vector<Real> all;

  // Makes the constants of functions that have the same formula and the same integer exponents.
  // functions: by index of the function; null: the function has another formula
  ClassTables(const TypeClasses &classes,
              const std::vector<const SwitchConstants<Real> *> &functions) :
      nclasses(classes.size())
  {
    const int n = nclasses;
    for (const auto *const c : functions)
      if (c) constants = *c;
    all.resize(static_cast<std::size_t>(NCONSTANTS) * n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto &between = classes(i, j);
        const auto *const own = between.exists() ? functions[between.function] : nullptr;
        SwitchConstants<Real> c = own ? *own : constants;
        if (!own) c.dmax_sq = -1;
        for (Real *const factor : {&c.stretch, &c.shift, &c.top})
          *factor *= own ? static_cast<Real>(between.weight) : Real(0);
        elements.push_back({c.inv_r0, c.dmax_sq, c.stretch, c.shift});
        for (int k = 0; k < NCONSTANTS; ++k) {
          const auto constant = CONSTANTS_PER_FUNCTION<Real>[k];
          if (c.*constant != constants.*constant) varying |= 1u << k;
          all[(static_cast<std::size_t>(k) * n + i) * n + j] = c.*constant;
        }
      }
    choose_smallest();
  }

  // Number of copies of a table in shared memory, a power of 2; 0: the table is too large.
  template <ClassTable TABLE> int copies() const
  {
    constexpr std::size_t BYTES = sizeof(FunctionOfClasses<Real, TABLE>),
                          MAX_SHARED_BYTES = 1 << 15;
    // The banks of shared memory deliver 128 bytes at a time. More copies would be in the same
    // banks.
    int n = 128 / BYTES;
    while (n * BYTES * nclasses * nclasses > MAX_SHARED_BYTES) n /= 2;
    return n;
  }
  bool fits_shared_memory() const { return copies<ClassTable::SHARED>() > 0; }

 private:
  // Sets the smallest table. Constants that differ only by rounding errors become the same in
  // 'elements', too, so that all kernels have the same functions.
  void choose_smallest()
  {
    smallest = fits_shared_memory() ? ClassTable::SHARED : ClassTable::IN_MEMORY;
    if (copies<ClassTable::SAME_SCALE>() == 0) return;
    std::vector<Element *> existing;
    for (Element &e : elements)
      if (e.dmax_sq >= 0) existing.push_back(&e);
    if (existing.empty()) return;
    const auto all_have = [&](auto property) {
      return std::all_of(existing.begin(), existing.end(), [&](const Element *e) {
        return property(*e);
      });
    };
    // The element with the smallest rounding errors.
    const Element first = **std::min_element(existing.begin(), existing.end(),
                                             [](const Element *a, const Element *b) {
                                               return std::fabs(a->stretch) < std::fabs(b->stretch);
                                             });
    const Real sum = first.stretch + first.shift;
    constexpr Real EPSILON = std::numeric_limits<Real>::epsilon();
    const auto has_stretch = [](const Element &e, Real stretch) {
      return std::fabs(e.stretch - stretch) <= 2 * EPSILON * std::fabs(stretch);
    };
    // Errors of formulas are larger than 16 units in the last place. The shift of a function that
    // ends at 0 is only a rounding error.
    const Real shift_error = 16 * EPSILON * (std::fabs(first.shift) + EPSILON * std::fabs(sum));
    if (all_have([&](const Element &e) {
          return has_stretch(e, first.stretch) && std::fabs(e.shift - first.shift) <= shift_error;
        }))
      smallest = ClassTable::SAME_SCALE;
    else if (existing.size() == elements.size() && all_have([&](const Element &e) {
               return e.dmax_sq == first.dmax_sq && has_stretch(e, sum - e.shift);
             }))
      smallest = ClassTable::SAME_RANGE;
    else
      return;
    const bool has_one_scale = smallest == ClassTable::SAME_SCALE;
    if (has_one_scale) {
      constants.stretch = first.stretch;
      constants.shift = first.shift;
    } else {
      constants.dmax_sq = first.dmax_sq;
      stretch_plus_shift = sum;
    }
    for (Element *const e : existing) {
      if (has_one_scale) e->shift = first.shift;
      e->stretch = has_one_scale ? first.stretch : sum - e->shift;
    }
    for (const Element &e : elements)
      short_elements.insert(short_elements.end(), {e.inv_r0, has_one_scale ? e.dmax_sq : e.shift});
  }
};

}    // namespace gpucoord

#endif
