// Part of GPUCOORD, GPL-2.0. Systems of atoms, and functions that run the engines on them.

#ifndef GPUCOORD_TEST_ENGINES_H
#define GPUCOORD_TEST_ENGINES_H

#include "brute_force.h"
#include "switch_cases.h"

#include "gpucoord/coordination.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using gpucoord::AllPairsInput;
using gpucoord::ATOM_VIRIAL;
using gpucoord::AtomList;
using gpucoord::CellsInput;
using gpucoord::Contribution;
using gpucoord::Coordination;
using gpucoord::DERIVATIVES;
using gpucoord::ListInput;
using gpucoord::PairsInput;
using gpucoord::peratom_columns;
using gpucoord::Precision;
using gpucoord::Switch;
using gpucoord::SwitchKind;
using gpucoord::SwitchOptions;
using gpucoord::VALUE;
using gpucoord::VIRIAL;

// All outputs, and both forms of the per-atom output with the virial.
constexpr unsigned EVERYTHING = DERIVATIVES | VIRIAL | ATOM_VIRIAL;
const unsigned BOTH_FORMS[] = {DERIVATIVES | VIRIAL, EVERYTHING};

// Kind of a column of the per-atom output. 0: s_i, 1: dS/dx, 2: virial of the atom.
inline int kind_of(int column)
{
  return column == 0 ? 0 : column < 4 ? 1 : 2;
}

constexpr double EPS_DOUBLE = std::numeric_limits<double>::epsilon();
constexpr double EPS_FLOAT = std::numeric_limits<float>::epsilon();

const Precision PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED, Precision::SINGLE};
// Order parameters evaluate SINGLE as MIXED.
const Precision ORDER_PRECISIONS[] = {Precision::DOUBLE, Precision::MIXED};

inline const char *name_of(Precision p)
{
  return p == Precision::DOUBLE ? "double" : p == Precision::MIXED ? "mixed" : "single";
}

inline double eps_of(Precision p)
{
  return p == Precision::DOUBLE ? EPS_DOUBLE : EPS_FLOAT;
}

// ---- systems: owned atoms first, then ghosts

struct System {
  std::vector<double> x;
  int nlocal = 0;
  std::vector<unsigned char> member;    // bit 1: in a, bit 2: in b
  bool two = false;
  int nall() const { return static_cast<int>(x.size() / 3); }
};

// TINY: both groups have few atoms.
enum class Groups { ONE, DISJOINT, OVERLAPPING, IDENTICAL, TINY };
const Groups ALL_GROUPS[] = {Groups::ONE, Groups::DISJOINT, Groups::OVERLAPPING, Groups::IDENTICAL};

inline unsigned char membership(Groups groups, std::uint64_t random)
{
  switch (groups) {
    case Groups::ONE:
      return random % 5 ? 1 : 0;    // some atoms are in no group
    case Groups::DISJOINT:
      return random % 4 == 0 ? 0 : random % 4 == 1 ? 1 : 2;
    case Groups::OVERLAPPING:
      return random % 4;
    case Groups::TINY:
      return random % 300 ? 2 : 3;
    default:
      return random % 5 ? 3 : 0;
  }
}

inline std::vector<double> random_points(int n, double lx, double ly, double lz, double at,
                                         unsigned seed)
{
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0.0, 1.0);
  std::vector<double> x;
  for (int k = 0; k < n; ++k)
    for (const double length : {lx, ly, lz}) x.push_back(at + length * u(random));
  return x;
}

// The last points are ghosts.
inline System make_system(const std::vector<double> &x, Groups groups, int nghosts = 0,
                          unsigned seed = 1)
{
  System s;
  s.x = x;
  s.nlocal = s.nall() - nghosts;
  s.two = groups != Groups::ONE;
  std::mt19937_64 random(seed);
  for (int k = 0; k < s.nall(); ++k) s.member.push_back(membership(groups, random() >> 20));
  return s;
}

inline std::vector<double> joined(std::vector<double> a, const std::vector<double> &b)
{
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline SwitchOptions formula_of(const SwitchCase &c, const Switch &function)
{
  SwitchOptions o = c.formula;
  o.dmax = function.dmax();
  return o;
}

inline SwitchCase built_in(const SwitchOptions &o)
{
  return {"", o, o};
}

// ---- inputs of the engines

struct Rows {
  std::vector<int> a, b;
  AtomList list_a, list_b;
};

// Lists the atoms of a group in random order, owned ones first.
inline void fill_list(const System &s, unsigned char bit, unsigned seed, std::vector<int> &rows,
                      AtomList &list)
{
  std::vector<int> ghosts;
  rows.clear();
  for (int k = 0; k < s.nall(); ++k)
    if (s.member[k] & bit) (k < s.nlocal ? rows : ghosts).push_back(k);
  std::mt19937_64 random(seed);
  std::shuffle(rows.begin(), rows.end(), random);
  std::shuffle(ghosts.begin(), ghosts.end(), random);
  list.nowned = static_cast<int>(rows.size());
  rows.insert(rows.end(), ghosts.begin(), ghosts.end());
  list.n = static_cast<int>(rows.size());
  rows.push_back(-1);    // an empty group still has a list, because b.index null means 'within a'
  list.index = rows.data();
}

inline std::unique_ptr<Rows> rows_of(const System &s)
{
  auto rows = std::make_unique<Rows>();
  fill_list(s, 1, 21, rows->a, rows->list_a);
  if (s.two) fill_list(s, 2, 22, rows->b, rows->list_b);
  return rows;
}

struct Result {
  Contribution sum;
  std::vector<double> peratom;    // [nlocal][peratom_columns(want)]
};

// Valid as long as s and rows exist.
inline CellsInput cells_input(const System &s, const Rows &rows)
{
  CellsInput in;
  in.x = s.x.data();
  in.a = rows.list_a;
  if (s.two) in.b = rows.list_b;
  return in;
}

// Run the engine that accepts this input.
inline Contribution evaluate(Coordination &c, const CellsInput &in, unsigned want, double *out)
{
  return c.cells(in, want, out);
}
inline Contribution evaluate(Coordination &c, const ListInput &in, unsigned want, double *out)
{
  return c.list(in, want, out);
}
inline Contribution evaluate(Coordination &c, const AllPairsInput &in, unsigned want, double *out)
{
  return c.allpairs(in, want, out);
}
inline Contribution evaluate(Coordination &c, const PairsInput &in, unsigned want, double *out)
{
  return c.pairs(in, want, out);
}

// evaluate(peratom) returns the sum.
template <class Evaluate> Result result_of(int nlocal, unsigned want, Evaluate evaluate)
{
  Result r;
  r.peratom.assign(static_cast<std::size_t>(peratom_columns(want)) * nlocal, 0.0);
  r.sum = evaluate(want & DERIVATIVES ? r.peratom.data() : nullptr);
  return r;
}

template <class Input> Result run_input(Coordination &c, const Input &in, int nlocal, unsigned want)
{
  return result_of(nlocal, want, [&](double *out) {
    return evaluate(c, in, want, out);
  });
}

inline Result run_cells(Coordination &c, const System &s, unsigned want)
{
  const auto rows = rows_of(s);
  return run_input(c, cells_input(s, *rows), s.nlocal, want);
}

// Full lists out to 1.3 dmax, with the two highest bits set as in LAMMPS for special neighbors.
struct Neighbors {
  static unsigned special_of(int i, int j) { return static_cast<unsigned>(i + j) % 4; }
  Neighbors(const System &s, double dmax)
  {
    constexpr double skin = 1.3;
    for (int i = 0; i < s.nlocal; ++i) {
      std::vector<int> list;
      for (int j = 0; j < s.nall(); ++j) {
        const double d[3] = {s.x[3 * j] - s.x[3 * i], s.x[3 * j + 1] - s.x[3 * i + 1],
                             s.x[3 * j + 2] - s.x[3 * i + 2]};
        if (j != i && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= dmax * dmax * skin * skin)
          list.push_back(static_cast<int>(static_cast<unsigned>(j) | special_of(i, j) << 30));
      }
      lists.push_back(list);
    }
    for (const auto &list : lists) {
      count.push_back(static_cast<int>(list.size()));
      first.push_back(list.data());
    }
  }
  std::vector<std::vector<int>> lists;
  std::vector<int> count;
  std::vector<const int *> first;
};

// Valid as long as s, rows and neighbors exist.
inline ListInput list_input(const System &s, const Rows &rows, const Neighbors &neighbors)
{
  ListInput in;
  in.x = s.x.data();
  in.nall = static_cast<int>(s.x.size() / 3);
  in.a = rows.list_a;
  if (s.two) in.b = rows.list_b;
  in.member = s.member.data();
  in.numneigh = neighbors.count.data();
  in.firstneigh = neighbors.first.data();
  in.neighmask = 0x1FFFFFFF;
  return in;
}

inline Result run_list(Coordination &c, const System &s, double dmax, unsigned want)
{
  const auto rows = rows_of(s);
  const Neighbors neighbors(s, dmax);
  return run_input(c, list_input(s, *rows, neighbors), s.nlocal, want);
}

// Atoms of rank 'rank' among 'nranks', as gathered from all ranks.
struct Gathered {
  Gathered(const System &s, const brute::Cell &cell, int rank = 0, int nranks = 1)
  {
    in.box = gpucoord::make_box(cell.edges, cell.periodic);
    fill(s, 1, rank, nranks, xa, ida, rowa, in.a);
    if (s.two) fill(s, 2, rank, nranks, xb, idb, rowb, in.b);
  }
  static void fill(const System &s, unsigned char bit, int rank, int nranks, std::vector<double> &x,
                   std::vector<std::int64_t> &id, std::vector<int> &row,
                   AllPairsInput::Group &group)
  {
    std::vector<int> all;
    for (int k = 0; k < s.nall(); ++k)
      if (s.member[k] & bit) all.push_back(k);
    group.n = static_cast<std::int64_t>(all.size());
    group.first_owned = group.n * rank / nranks;
    group.nowned = group.n * (rank + 1) / nranks - group.first_owned;
    for (const int k : all) {
      for (int c = 0; c < 3; ++c) x.push_back(s.x[3 * k + c]);
      id.push_back(std::int64_t(5000000000) + 7 * k);    // beyond 32 bits
    }
    for (std::int64_t k = 0; k < group.nowned; ++k) row.push_back(all[group.first_owned + k]);
    x.push_back(0.0);    // never empty
    group.x = x.data();
    group.id = id.data();
    group.row = row.data();
  }
  std::vector<double> xa, xb;
  std::vector<std::int64_t> ida, idb;
  std::vector<int> rowa, rowb;
  AllPairsInput in;
};

inline Result run_allpairs(Coordination &c, const System &s, const brute::Cell &cell, unsigned want)
{
  return run_input(c, Gathered(s, cell).in, s.nall(), want);
}

inline bool same_bits(const Result &a, const Result &b)
{
  return std::memcmp(&a.sum.value, &b.sum.value, sizeof(double)) == 0 &&
      std::memcmp(a.sum.virial, b.sum.virial, sizeof(a.sum.virial)) == 0 &&
      a.peratom.size() == b.peratom.size() &&
      (a.peratom.empty() ||
       std::memcmp(a.peratom.data(), b.peratom.data(), a.peratom.size() * sizeof(double)) == 0);
}

#endif
