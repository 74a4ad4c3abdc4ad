// Part of GPUCOORD, GPL-2.0. Parts of classes of atom types on the GPU.

#include "class_parts.h"

#include "../gpu/staging.h"
#include "../switching/forms.h"

#include <algorithm>

namespace gpucoord {

namespace {

  int number_of_formulas(const SwitchTable &table)
  {
    const std::vector<int> indices = form_indices(table);
    return indices.empty() ? 0 : 1 + *std::max_element(indices.begin(), indices.end());
  }

}    // namespace

// The kernels of a formula evaluate all partners in a part of several classes. Separate rows of n
// classes would take n^2 kernels. For 1,000,000 atoms of 16 types and one formula, joined parts
// take 1/8 of the time.
ClassParts::ClassParts(const SwitchTable &table, const double *weight, bool all_in_one) :
    type_classes(table, weight),
    joined_parts(all_in_one ? ClassGroups::all_together(type_classes) : ClassGroups(type_classes)),
    single_parts(ClassGroups::one_each(type_classes)),
    joined_is_worthwhile(all_in_one ||
                         number_of_formulas(table) <=
                             std::max(2, static_cast<int>(type_classes.size()) / 2))
{
  for (const Switch &function : table.functions()) ranges.push_back(function.dmax());
  const int n = type_classes.size();
  if (n == 1) return;
  send_table(type_classes.indices(), class_of_types);
  if (joined_parts.size() > 1) send_table(joined_parts.indices(), part_of_types);
  std::vector<float> range;
  for (int i = 0; i < n; ++i) {
    float longest = -1;
    for (int j = 0; j < n; ++j) {
      const auto &between = type_classes(i, j);
      range.push_back(between.exists() ? static_cast<float>(ranges[between.function]) : -1.0f);
      longest = std::max(longest, range.back());
    }
    range.push_back(longest);
  }
  send_table(range, range_of);
}

const int *ClassParts::part_of_type() const
{
  if (size() == 1) return nullptr;
  return are_joined() ? part_of_types.data() : class_of_types.data();
}

double ClassParts::longest_range() const
{
  return have_functions() ? *std::max_element(ranges.begin(), ranges.end()) : 0.0;
}

double ClassParts::range_between(int part_i, int part_j) const
{
  double longest = -1.0;
  for (const int ci : classes_of(part_i))
    for (const int cj : classes_of(part_j))
      if (type_classes(ci, cj).exists())
        longest = std::max(longest, ranges[type_classes(ci, cj).function]);
  return longest;
}

bool ClassParts::ranges_differ(int part_i, int part_j) const
{
  const double longest = range_between(part_i, part_j);
  for (const int ci : classes_of(part_i))
    for (const int cj : classes_of(part_j)) {
      const auto &between = type_classes(ci, cj);
      if (!between.exists() || ranges[between.function] != longest) return true;
    }
  return false;
}

}    // namespace gpucoord
