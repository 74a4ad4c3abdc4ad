// Part of GPUCOORD, GPL-2.0. Tables of functions between classes of types for GPU kernels.

#include "type_functions.h"

#include "../../lib/gpucoord/src/pairs/class_tables.h"
#include "../../lib/gpucoord/src/switching/forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

// Tables of functions that all have the same formula.
template <class Real> ClassTables<Real> tables_of(const SwitchTable &table, const double *weight)
{
  std::vector<SwitchConstants<Real>> constants;
  for (const Switch &function : table.functions())
    constants.push_back(make_constants<Real>(function));
  std::vector<const SwitchConstants<Real> *> pointers;
  for (const auto &c : constants) pointers.push_back(&c);
  return {TypeClasses(table, weight), pointers};
}

// Cubic functions between all pairs of types.
SwitchTable cubic_between(int ntypes)
{
  SwitchTable table(ntypes);
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j)
      table.set(i, j, table.add(Switch(options(SwitchKind::CUBIC, 1.0 + 0.01 * (i + ntypes * j)))));
  return table;
}

// Short and long elements must give the same functions, and must be those of the table.
template <class Real>
void expect_elements(const ClassTables<Real> &tables, const SwitchTable &table,
                     const std::vector<double> &weight)
{
  const int n = tables.nclasses;
  ASSERT_EQ(n, table.ntypes());
  const bool is_short = tables.smallest == ClassTable::SAME_SCALE ||
      tables.smallest == ClassTable::SAME_RANGE;
  ASSERT_EQ(tables.short_elements.size(), is_short ? 2u * n * n : 0u);
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
      const std::size_t k = static_cast<std::size_t>(i - 1) * n + j - 1;
      const auto &e = tables.elements[k];
      const Switch &function = table.functions()[table.function_of(i, j)];
      const double w = weight[table.index(i, j)], dmax = function.dmax();
      const double limit = 4 * std::numeric_limits<Real>::epsilon();
      EXPECT_NEAR(e.inv_r0, 1.0 / function.options().r0, limit / function.options().r0);
      EXPECT_NEAR(e.dmax_sq, dmax * dmax, limit * dmax * dmax);
      EXPECT_NEAR(e.stretch, w * function.stretch(), limit * std::fabs(w * function.stretch()));
      EXPECT_NEAR(e.shift, w * function.shift(),
                  16 * limit * std::fabs(w * function.shift()) + limit * limit);
      if (!is_short) continue;
      EXPECT_EQ(tables.short_elements[2 * k], e.inv_r0);
      const Real other = tables.short_elements[2 * k + 1];
      if (tables.smallest == ClassTable::SAME_SCALE) {
        EXPECT_EQ(other, e.dmax_sq);
        EXPECT_EQ(tables.constants.stretch, e.stretch);
        EXPECT_EQ(tables.constants.shift, e.shift);
      } else {
        EXPECT_EQ(other, e.shift);
        EXPECT_EQ(tables.constants.dmax_sq, e.dmax_sq);
        EXPECT_EQ(tables.stretch_plus_shift - other, e.stretch);
      }
    }
}

template <class Real> void expect_tables()
{
  for (const Differing differing : DIFFERING)
    for (int formula = 0; formula < NFORMULAS; ++formula) {
      const SwitchTable table = table_of(formula, differing);
      const SwitchOptions &o = table.functions()[0].options();
      SCOPED_TRACE(table.functions()[0].description());
      const std::vector<double> weight = weights_of(differing);
      const auto tables = tables_of<Real>(table, weight.data());
      expect_elements(tables, table, weight);
      // Cubic ends at 0, with and without a stretch. Cosinus ends at r0 + d0, if dmax is larger.
      // Unstretched custom and q functions do not begin at 1.
      ClassTable expected = ClassTable::SHARED;
      if (differing == Differing::RANGES ||
          (differing == Differing::RADII && o.kind == SwitchKind::CUBIC))
        expected = ClassTable::SAME_SCALE;
      else if (differing == Differing::RADII && o.kind != SwitchKind::COSINUS &&
               o.kind != SwitchKind::CUSTOM && o.kind != SwitchKind::Q)
        expected = ClassTable::SAME_RANGE;
      EXPECT_EQ(tables.smallest, expected);
    }
}

template <class Real> void expect_copies(int ntypes, int copies, int short_copies)
{
  SCOPED_TRACE(std::to_string(ntypes) + " types, " + std::to_string(sizeof(Real)) + " bytes");
  const SwitchTable table = cubic_between(ntypes);
  const auto tables = tables_of<Real>(table, nullptr);
  EXPECT_EQ(tables.nclasses, ntypes);
  EXPECT_EQ(tables.template copies<ClassTable::SHARED>(), copies);
  EXPECT_EQ(tables.template copies<ClassTable::SAME_SCALE>(), short_copies);
  EXPECT_EQ(tables.template copies<ClassTable::SAME_RANGE>(), short_copies);
  EXPECT_EQ(tables.smallest, short_copies > 0 ? ClassTable::SAME_SCALE : ClassTable::IN_MEMORY);
}

}    // namespace

TEST(ClassTables, the_smallest_has_all_constants_that_differ)
{
  expect_tables<float>();
  expect_tables<double>();
}

// Copies take up to 32 KiB, and 128 bytes per element.
TEST(ClassTables, copies)
{
  expect_copies<float>(2, 8, 16);
  expect_copies<float>(16, 8, 16);
  expect_copies<float>(17, 4, 8);
  expect_copies<float>(32, 2, 4);
  expect_copies<float>(45, 1, 2);
  expect_copies<float>(46, 0, 1);
  expect_copies<float>(65, 0, 0);
  expect_copies<double>(16, 4, 8);
  expect_copies<double>(32, 1, 2);
  expect_copies<double>(33, 0, 1);
  expect_copies<double>(46, 0, 0);
}

// Constants of functions by the default dmax are the same except for rounding errors.
TEST(ClassTables, default_ranges_have_the_same_scale)
{
  SwitchTable table(3);
  for (int i = 1; i <= 3; ++i)
    for (int j = i; j <= 3; ++j) {
      SwitchOptions o;
      o.kind = SwitchKind::RATIONAL;
      o.r0 = 0.7 + 0.0317 * (i + 3 * j);
      table.set(i, j, table.add(Switch(o)));
    }
  EXPECT_EQ(tables_of<float>(table, nullptr).smallest, ClassTable::SAME_SCALE);
  EXPECT_EQ(tables_of<double>(table, nullptr).smallest, ClassTable::SAME_SCALE);
}

// A pair of types without a function has the scale of the others, but not their range.
TEST(ClassTables, pairs_without_a_function)
{
  for (const bool have_one_range : {false, true}) {
    SwitchTable table(2);
    for (int j = 1; j <= 2; ++j) {
      SwitchOptions o = options(SwitchKind::RATIONAL, 0.8 + 0.1 * j);
      if (have_one_range) o.dmax = 1.5;
      table.set(1, j, table.add(Switch(o)));
    }
    const auto tables = tables_of<float>(table, nullptr);
    EXPECT_EQ(tables.smallest, have_one_range ? ClassTable::SHARED : ClassTable::SAME_SCALE);
    EXPECT_LT(tables.elements[3].dmax_sq, 0.0f);
    if (!have_one_range) { EXPECT_LT(tables.short_elements[7], 0.0f); }
  }
}
