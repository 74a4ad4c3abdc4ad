// Part of GPUCOORD, GPL-2.0. Groups atom types with equal functions and weights into classes.
//
// S over pairs of types is a sum of coordination numbers between classes. Each pair of classes has
// one function and one weight. Groups of classes are evaluated together, except from host arrays on
// a GPU.

#ifndef GPUCOORD_TYPE_CLASSES_H
#define GPUCOORD_TYPE_CLASSES_H

#include "gpucoord/bytes_of.h"
#include "gpucoord/switch_table.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpucoord {

class TypeClasses {
 public:
  // Two types are in the same class if their functions and weights with every type are the same.
  TypeClasses(const SwitchTable &table, const double *weight) : index_of_type(table.ntypes() + 1, 0)
  {
    std::vector<int> first;    // first type of each class
    const auto weight_of = [&](int i, int j) {
      return weight ? weight[table.index(i, j)] : 1.0;
    };
    const auto same = [&](int i, int j) {
      for (int k = 1; k <= table.ntypes(); ++k)
        if (table.function_of(i, k) != table.function_of(j, k) ||
            weight_of(i, k) != weight_of(j, k))
          return false;
      return true;
    };
    if (table.ntypes() == 0) first.push_back(0);
    for (int i = 1; i <= table.ntypes(); ++i) {
      index_of_type[i] = static_cast<int>(first.size());
      for (std::size_t c = 0; c < first.size(); ++c)
        if (same(i, first[c])) index_of_type[i] = static_cast<int>(c);
      if (index_of_type[i] == static_cast<int>(first.size())) first.push_back(i);
    }
    n = static_cast<int>(first.size());
    for (const int i : first)
      for (const int j : first) between.push_back({table.function_of(i, j), weight_of(i, j)});
  }

  struct Interaction {
    int function;    // index in the table, or SwitchTable::NONE
    double weight;
    bool exists() const { return function != SwitchTable::NONE && weight != 0.0; }
  };
  const Interaction &operator()(int a, int b) const
  {
    return between[static_cast<std::size_t>(a) * n + b];
  }
  int index(int type) const { return index_of_type[type]; }
  const std::vector<int> &indices() const { return index_of_type; }
  int size() const { return n; }

 private:
  int n = 0;
  std::vector<int> index_of_type;      // [ntypes + 1]
  std::vector<Interaction> between;    // [n][n]
};

// Classes that share one search for partners. If most pairs of classes have a function, one group
// has all classes that have any function. Otherwise, the classes of a group have functions with the
// same classes.
class ClassGroups {
 public:
  // Makes one group per class.
  static ClassGroups one_each(const TypeClasses &classes)
  {
    ClassGroups groups;
    for (int c = 0; c < classes.size(); ++c) groups.members.push_back({c});
    groups.index_of_type = classes.indices();
    return groups;
  }

  // Makes one group of all classes.
  static ClassGroups all_together(const TypeClasses &classes)
  {
    ClassGroups groups;
    groups.members.emplace_back();
    for (int c = 0; c < classes.size(); ++c) groups.members.front().push_back(c);
    groups.index_of_type.assign(classes.indices().size(), 0);
    return groups;
  }

  explicit ClassGroups(const TypeClasses &classes)
  {
    std::vector<int> group_of(classes.size());
    const int n = classes.size();
    std::vector<char> has_any(n, 0);
    int npairs = 0;
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b)
        if (classes(a, b).exists()) {
          has_any[a] = 1;
          ++npairs;
        }
    const auto nactive = static_cast<int>(std::count(has_any.begin(), has_any.end(), 1));
    const bool is_dense = 2 * npairs > nactive * nactive;
    const auto same = [&](int a, int b) {
      if (is_dense) return has_any[a] == has_any[b];
      for (int c = 0; c < n; ++c)
        if (classes(a, c).exists() != classes(b, c).exists()) return false;
      return true;
    };
    for (int c = 0; c < n; ++c) {
      std::size_t g = 0;
      while (g < members.size() && !same(c, members[g].front())) ++g;
      if (g == members.size()) members.emplace_back();
      members[g].push_back(c);
      group_of[c] = static_cast<int>(g);
    }
    for (const int c : classes.indices()) index_of_type.push_back(group_of[c]);
  }

  const std::vector<int> &classes_of(int group) const { return members[group]; }
  int index(int type) const { return index_of_type[type]; }
  const std::vector<int> &indices() const { return index_of_type; }
  int size() const { return static_cast<int>(members.size()); }

 private:
  ClassGroups() = default;

  std::vector<std::vector<int>> members;    // classes of each group
  std::vector<int> index_of_type;           // [ntypes + 1]
};

// The atoms of a list by class, in the order of the list. Class c has the atoms [begin[c], begin[c
// + 1]). The first nowned[c] of them are owned. Classes: TypeClasses or ClassGroups
class AtomsByClass {
 public:
  template <class Classes> void sort(const AtomList &atoms, const int *type, const Classes &classes)
  {
    begin.assign(classes.size() + 1, 0);
    nowned.assign(classes.size(), 0);
    if (classes.size() == 1) {
      rows = atoms.index;
      begin[1] = atoms.n;
      nowned[0] = atoms.nowned;
      return;
    }
    for (int k = 0; k < atoms.n; ++k) ++begin[classes.index(type[atoms.index[k]]) + 1];
    for (int c = 0; c < classes.size(); ++c) begin[c + 1] += begin[c];
    sorted.resize(atoms.n);
    std::vector<int> next(begin.begin(), begin.end() - 1);
    for (int k = 0; k < atoms.n; ++k) {
      const int c = classes.index(type[atoms.index[k]]);
      sorted[next[c]++] = atoms.index[k];
      if (k < atoms.nowned) ++nowned[c];
    }
    rows = sorted.data();
  }

  AtomList operator[](int c) const { return {rows + begin[c], begin[c + 1] - begin[c], nowned[c]}; }
  AtomList all() const { return {rows, begin.back(), 0}; }
  std::size_t bytes() const { return bytes_of(begin, nowned, sorted); }

 private:
  const int *rows = nullptr;
  std::vector<int> begin, nowned, sorted;
};

}    // namespace gpucoord

#endif
