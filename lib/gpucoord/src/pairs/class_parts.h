// Part of GPUCOORD, GPL-2.0. Parts: classes of atom types whose pairs share a search on the GPU.
//
// Classes that mostly have functions with each other are one part. In bins, and if there are many
// formulas, each class is a part.

#ifndef GPUCOORD_CLASS_PARTS_H
#define GPUCOORD_CLASS_PARTS_H

#include "../gpu/buffers.h"
#include "../switching/type_classes.h"

#include <cstddef>
#include <vector>

namespace gpucoord {

class ClassParts {
 public:
  // all_in_one: make one part of all classes
  ClassParts(const SwitchTable &, const double *weight, bool all_in_one);

  // Makes parts of classes, if this is worthwhile, or one part of each class.
  void join() { parts = joined_is_worthwhile ? &joined_parts : &single_parts; }
  void separate() { parts = &single_parts; }
  bool are_joined() const { return parts == &joined_parts; }

  int size() const { return parts->size(); }
  const TypeClasses &classes() const { return type_classes; }
  const std::vector<int> &classes_of(int part) const { return parts->classes_of(part); }

  bool have_functions() const { return !ranges.empty(); }
  // Returns the longest range of all functions (distance); 0: there are no functions.
  double longest_range() const;
  // Returns the longest range between classes of two parts (distance); negative: no function.
  double range_between(int part_i, int part_j) const;
  // Returns whether the functions between two parts differ in range, or some are missing.
  bool ranges_differ(int part_i, int part_j) const;

  // Arrays of the GPU. [types]; null: there is only one class or part
  const int *class_of_type() const { return class_of_types.data(); }
  const int *part_of_type() const;
  // See Reach::range.
  const float *range_of_classes() const { return range_of.data(); }
  std::size_t bytes() const
  {
    return range_of.bytes() + class_of_types.bytes() + part_of_types.bytes();
  }

 private:
  const TypeClasses type_classes;
  const ClassGroups joined_parts, single_parts;
  const bool joined_is_worthwhile;
  const ClassGroups *parts = &joined_parts;
  std::vector<double> ranges;    // dmax by index of the function, distance
  DeviceBuffer<int> class_of_types, part_of_types;
  DeviceBuffer<float> range_of;
};

}    // namespace gpucoord

#endif
