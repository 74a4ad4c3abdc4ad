// Part of GPUCOORD, GPL-2.0. Cutoff bins, compared with their definition.

#include "../../lib/gpucoord/src/pairs/cell_bins_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using gpucoord::AtomList;
using gpucoord::CellBins;
using gpucoord::CellGrid;

namespace {

struct Cloud {
  std::string name;
  double range;
  std::vector<double> x;
};

void PrintTo(const Cloud &cloud, std::ostream *out)
{
  *out << cloud.name;
}

std::vector<Cloud> clouds()
{
  std::vector<Cloud> list;
  std::mt19937_64 random(3);
  const auto box = [&random](int n, double lx, double ly, double lz, double at) {
    std::vector<double> x;
    std::uniform_real_distribution<double> u(0.0, 1.0);
    for (int k = 0; k < n; ++k)
      for (const double length : {lx, ly, lz}) x.push_back(at + length * u(random));
    return x;
  };
  const auto join = [](std::vector<double> a, const std::vector<double> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  for (const int n : {1, 2, 31, 32, 33, 257, 2000, 20000})
    list.push_back({"random" + std::to_string(n), 1.0, box(n, 6, 7, 8, -3)});
  list.push_back({"dense", 1.0, box(2000, 2, 2, 2, 0)});
  list.push_back({"all_in_one_cell", 1.0, box(500, 0.1, 0.1, 0.1, 5)});
  list.push_back({"coincident", 1.0, std::vector<double>(300, 4.25)});
  list.push_back({"slab", 1.0, box(800, 20, 20, 0, 2.5)});
  list.push_back({"needle", 1.0, box(800, 0, 0, 500, 2.5)});
  list.push_back({"range_beyond_system", 1e3, box(200, 6, 7, 8, 0)});
  list.push_back({"two_droplets", 1.0, join(box(200, 3, 3, 3, 0), box(200, 3, 3, 3, 1e6))});
  list.push_back({"one_atom_far_away", 1.0, join(box(400, 3, 3, 3, 0), {1e12, 1e12, -1e12})});
  list.push_back({"far_origin", 1.0, box(600, 6, 6, 6, 1e7)});
  list.push_back({"far_negative_origin", 1.0, box(600, 6, 6, 6, -1e7)});
  std::vector<double> lattice;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j)
      for (int k = 0; k < 9; ++k)
        for (const int c : {i, j, k}) lattice.push_back(c);
  list.push_back({"lattice_of_the_range", 1.0, lattice});
  for (double &x : lattice) x *= 0.1;
  list.push_back({"lattice_of_tenths", 0.3, lattice});
  for (auto &cloud : list)    // atoms in random order
    for (std::size_t k = cloud.x.size() / 3; k > 1; --k) {
      const std::size_t other = random() % k;
      for (int c = 0; c < 3; ++c) std::swap(cloud.x[3 * (k - 1) + c], cloud.x[3 * other + c]);
    }
  return list;
}

class Bins : public testing::TestWithParam<Cloud> {
 protected:
  Bins()
  {
    const int n = static_cast<int>(GetParam().x.size() / 3);
    index.resize(n);
    std::iota(index.begin(), index.end(), 0);
    std::mt19937_64 random(4);
    std::shuffle(index.begin(), index.end(), random);
    list.index = index.data();
    list.n = n;
    list.nowned = n - n / 3;
    x = GetParam().x.data();
    grid = gpucoord::make_cell_grid(x, list, AtomList(), GetParam().range, 2);
    bins.build(grid, x, list, 2);
  }
  std::uint64_t key_of(const double *p) const
  {
    return grid.key(grid.coordinate(0, p[0]), grid.coordinate(1, p[1]), grid.coordinate(2, p[2]));
  }
  std::vector<int> index;
  AtomList list;
  const double *x = nullptr;
  CellGrid grid;
  CellBins bins;
};

TEST_P(Bins, every_atom_is_there_once_with_the_key_of_its_cell)
{
  ASSERT_EQ(bins.row.size(), index.size());
  ASSERT_EQ(bins.keys.size(), index.size());
  std::set<int> seen;
  for (std::size_t p = 0; p < bins.row.size(); ++p) {
    const int row = bins.row[p];
    EXPECT_TRUE(seen.insert(row).second);
    EXPECT_EQ(bins.x[p], x[3 * row]);
    EXPECT_EQ(bins.y[p], x[3 * row + 1]);
    EXPECT_EQ(bins.z[p], x[3 * row + 2]);
    EXPECT_EQ(bins.keys[p], key_of(x + 3 * row));
  }
}

TEST_P(Bins, keys_rise_and_atoms_of_a_cell_keep_list_order_and_ownership)
{
  std::vector<int> position(index.size());
  for (std::size_t k = 0; k < index.size(); ++k) position[index[k]] = static_cast<int>(k);
  for (std::size_t p = 0; p < bins.row.size(); ++p) {
    const bool first = p == 0 || bins.keys[p - 1] < bins.keys[p];
    EXPECT_TRUE(
        first ||
        (bins.keys[p - 1] == bins.keys[p] && position[bins.row[p - 1]] < position[bins.row[p]]));
    EXPECT_EQ(static_cast<bool>(bins.owned[p]), position[bins.row[p]] < list.nowned);
  }
}

TEST_P(Bins, keys_are_coordinates_with_x_running_fastest)
{
  for (std::size_t at = 0; at < bins.keys.size(); ++at) {
    const double p[3] = {bins.x[at], bins.y[at], bins.z[at]};
    std::uint64_t rest = bins.keys[at];
    for (int c = 0; c < 3; ++c) {
      const auto coordinate = grid.coordinate(c, p[c]);
      EXPECT_GE(coordinate, 0);
      EXPECT_LT(coordinate, grid.n[c]);
      EXPECT_EQ(rest % grid.n[c], static_cast<std::uint64_t>(coordinate));
      rest /= grid.n[c];
    }
    EXPECT_EQ(rest, 0u);
  }
}

TEST_P(Bins, atoms_within_range_are_within_reach)
{
  const int n = std::min(list.n, 700);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double *const a = x + 3 * index[i], *const b = x + 3 * index[j];
      const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > GetParam().range * GetParam().range) continue;
      for (int c = 1; c < 3; ++c)
        ASSERT_LE(std::abs(grid.coordinate(c, a[c]) - grid.coordinate(c, b[c])), grid.reach);
    }
}

TEST_P(Bins, atoms_of_neighboring_cells_are_those_with_their_keys)
{
  const auto &keys = bins.keys;
  std::mt19937_64 random(5);
  const auto width = static_cast<std::uint64_t>(grid.n[0]),
             last_key = width * grid.n[1] * grid.n[2] - 1;
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<std::uint64_t> firsts = {0, last_key};
    for (int k = 0; k < 100; ++k) {
      const std::uint64_t near_atom = keys[random() % keys.size()] + random() % 3;
      firsts.push_back(k % 2
                           ? random() % (last_key + 1)
                           : std::min(near_atom - std::min<std::uint64_t>(near_atom, 1), last_key));
    }
    std::sort(firsts.begin(), firsts.end());
    std::size_t cursor = 0;
    for (const std::uint64_t first : firsts) {
      const std::uint64_t end_of_row = (first / width + 1) * width;
      const std::uint64_t last =
          first + random() % std::min<std::uint64_t>(end_of_row - first, 1 + random() % 6);
      const auto begin = std::lower_bound(keys.begin(), keys.end(), first) - keys.begin();
      const auto end = std::upper_bound(keys.begin(), keys.end(), last) - keys.begin();
      int found;
      ASSERT_EQ(bins.atoms(first, last, cursor, found), end - begin) << first << " to " << last;
      if (end > begin) ASSERT_EQ(found, begin) << first << " to " << last;
    }
  }
}

TEST_P(Bins, do_not_depend_on_the_threads_or_on_what_was_built_before)
{
  CellBins other;
  const std::vector<double> dense(3000, 1.0);
  std::vector<int> rows(1000);
  std::iota(rows.begin(), rows.end(), 0);
  AtomList before;
  before.index = rows.data();
  before.n = before.nowned = 1000;
  other.build(gpucoord::make_cell_grid(dense.data(), before, AtomList(), 1.0, 1), dense.data(),
              before, 1);
  const CellGrid same = gpucoord::make_cell_grid(x, list, AtomList(), GetParam().range, 1);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(same.lo[c], grid.lo[c]);
    EXPECT_EQ(same.n[c], grid.n[c]);
  }
  other.build(grid, x, list, 3);
  EXPECT_EQ(other.row, bins.row);
  EXPECT_EQ(other.x, bins.x);
  EXPECT_EQ(other.y, bins.y);
  EXPECT_EQ(other.z, bins.z);
  EXPECT_EQ(other.owned, bins.owned);
  EXPECT_EQ(other.keys, bins.keys);
}

INSTANTIATE_TEST_SUITE_P(clouds, Bins, testing::ValuesIn(clouds()), [](const auto &info) {
  return info.param.name;
});

TEST(Grid, spans_the_atoms_of_both_lists)
{
  const double x[] = {0, 0, 0, 9, 1, 2, -4, 3, 12};
  const int first[] = {0, 1}, second[] = {2};
  AtomList a, b;
  a.index = first;
  a.n = 2;
  b.index = second;
  b.n = 1;
  const CellGrid grid = gpucoord::make_cell_grid(x, a, b, 1.0, 1);
  EXPECT_EQ(grid.lo[0], -4.0);
  EXPECT_EQ(grid.lo[1], 0.0);
  EXPECT_EQ(grid.lo[2], 0.0);
  EXPECT_EQ(grid.coordinate(0, 9.0), grid.n[0] - 1);
  EXPECT_EQ(grid.coordinate(1, 3.0), grid.n[1] - 1);
  EXPECT_EQ(grid.coordinate(2, 12.0), grid.n[2] - 1);
}

TEST(Grid, pairs_in_range_are_within_reach_from_just_below_a_cell_boundary)
{
  // The worst case: the first atom is at the end of its cell, the second a full range farther.
  for (const double range : {1.0, 0.3, 1.6, 1e-3, 1e3})
    for (const double at : {0.0, -7.7, 1e4})
      for (const int natoms :
           {2, 200000}) {    // few atoms: cells are as large as the range; many: half as large
        std::vector<double> x = {at, at, at, at + 40 * range, at + 30 * range, at + 20 * range};
        std::vector<int> index(natoms, 0);
        index[1] = 1;
        AtomList a;
        a.index = index.data();
        a.n = natoms;
        const CellGrid grid = gpucoord::make_cell_grid(x.data(), a, AtomList(), range, 1);
        EXPECT_EQ(grid.reach, natoms == 2 ? 1 : 2);
        for (int c = 1; c < 3; ++c)
          for (std::int64_t k = 1; k + 2 * grid.reach < grid.n[c]; ++k) {
            double first = grid.lo[c] + static_cast<double>(k) / grid.inverse_size[c];
            while (grid.coordinate(c, first) >= k) first = std::nextafter(first, -1e300);
            ASSERT_EQ(grid.coordinate(c, first), k - 1);
            ASSERT_LE(grid.coordinate(c, first + range) - grid.coordinate(c, first), grid.reach);
          }
      }
}

TEST(Grid, no_atoms_make_no_cells)
{
  const CellGrid grid = gpucoord::make_cell_grid(nullptr, AtomList(), AtomList(), 1.0, 1);
  CellBins bins;
  bins.build(grid, nullptr, AtomList(), 2);
  EXPECT_TRUE(bins.keys.empty());
  EXPECT_TRUE(bins.row.empty());
  std::size_t cursor = 0;
  int begin;
  EXPECT_EQ(bins.atoms(0, 0, cursor, begin), 0);
}

}    // namespace
