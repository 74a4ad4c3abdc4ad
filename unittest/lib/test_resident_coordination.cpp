// Part of GPUCOORD, GPL-2.0. Coordination numbers and pair forces of atoms that are resident on the
// GPU, compared with the host backend in double.

#include "gpu_tests.h"
#include "resident_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace gpucoord;

// From no atoms to sizes that fill the GPU, sparse and dense: 1 to 32 threads share an atom.
TEST(ResidentCoordination, one_group)
{
  const Switch function(options(SwitchKind::RATIONAL, 1.0));
  for (const double density : {0.01, 5.0, 60.0})
    for (const int n : {0, 1, 2, 31, 33, 1000, 5000, 40000}) {
      if (density * n > 1e6) continue;
      const System s(n, n / 3, density, 7 * n + 1);
      const Result expected = on_host(function, s, false, WANTS[4]);
      const Loaded loaded(s, false);
      for (const Precision precision : PRECISIONS) {
        const auto device = make(function, precision);
        device->rebuild(loaded.atoms, selection(false, 0.2), 0, nullptr);
        EXPECT_EQ(device->natoms_a(), n);
        for (const unsigned want : WANTS) {
          Result e = on_host(function, s, false, want);
          expect_near(on_gpu(*device, s, loaded.atoms, want), e, want, tolerance_of(precision),
                      jump_of(function, precision),
                      label("one group", n, static_cast<int>(precision), want));
        }
      }
    }
}

TEST(ResidentCoordination, every_function)
{
  const System s(3000, 1000, 20.0, 5, 0.7, 0.6);
  const Loaded loaded(s, false);
  for (const auto kind : {SwitchKind::RATIONAL, SwitchKind::EXP, SwitchKind::GAUSSIAN,
                          SwitchKind::SMAP, SwitchKind::CUBIC, SwitchKind::TANH,
                          SwitchKind::COSINUS, SwitchKind::CUSTOM, SwitchKind::Q})
    for (const bool two : {false, true}) {
      SwitchOptions o = options(kind, 1.0);
      if (kind == SwitchKind::SMAP) o.a = 8, o.b = 4;
      if (kind == SwitchKind::CUSTOM) o.expression = "1/(1+x^6)";
      if (kind == SwitchKind::COSINUS || kind == SwitchKind::Q) o.r0 = SwitchOptions::NOT_GIVEN;
      if (kind == SwitchKind::COSINUS) o.r0 = 0.9;
      if (kind == SwitchKind::Q) o.ref = 0.4, o.beta = 10.0;
      const Switch function(o);
      for (const Precision precision : PRECISIONS) {
        const auto device = make(function, precision);
        device->rebuild(loaded.atoms, selection(two, 0.3), 0, nullptr);
        for (const unsigned want : WANTS)
          expect_near(on_gpu(*device, s, loaded.atoms, want), on_host(function, s, two, want), want,
                      tolerance_of(precision), jump_of(function, precision),
                      function.description());
      }
    }
}

// Overlapping groups. One may be empty, small, or without owned atoms near the other.
TEST(ResidentCoordination, two_groups)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  const double fractions[][2] = {{1, 1}, {0.5, 0.5}, {0.002, 0.9}, {0.9, 0.002},
                                 {0, 1}, {1, 0},     {0, 0}};
  for (const auto &f : fractions)
    for (const int n : {3, 500, 20000}) {
      const System s(n, n / 2, 8.0, n + 3, f[0], f[1]);
      const Loaded loaded(s, false);
      for (const Precision precision : PRECISIONS) {
        const auto device = make(function, precision);
        device->rebuild(loaded.atoms, selection(true, 0.2), 0, nullptr);
        for (const unsigned want : WANTS)
          expect_near(on_gpu(*device, s, loaded.atoms, want), on_host(function, s, true, want),
                      want, tolerance_of(precision), 0.0,
                      label("two groups", n, static_cast<int>(precision), want));
      }
    }
}

// A few ions in much solvent. Solvent atoms have at most a few ions in range, so that rows differ
// much in length.
TEST(ResidentCoordination, few_among_many)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const int n : {40000, 400000}) {    // numbers of pairs on both sides of the limit
    System s(n, n / 3, 10.0, 61, 0.0, 1.0);
    for (int i = 0; i < s.nall; i += n / 100) s.mask[i] = 1 | 2;
    const Loaded loaded(s, false);
    for (const Precision precision : PRECISIONS) {
      const auto device = make(function, precision);
      for (int round = 0; round < 2; ++round) {
        device->rebuild(loaded.atoms, selection(true, 0.2), 0, nullptr);
        expect_near(on_gpu(*device, s, loaded.atoms, WANTS[4]),
                    on_host(function, s, true, WANTS[4]), WANTS[4], tolerance_of(precision), 0.0,
                    label("ions", n, static_cast<int>(precision), WANTS[4]));
      }
    }
  }
}

// The pairs come from a neighbor list of the caller, in both memory layouts, also after moves.
TEST(ResidentCoordination, neighbor_list)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const double density : {0.5, 20.0})
    for (const int n : {0, 1, 33, 1000, 6000}) {
      System s(n, n / 3, density, n + 5);
      std::vector<std::vector<int>> lists(n);
      int maximum = 0;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < s.nall; ++j) {
          double r_sq = 0.0;
          for (int c = 0; c < 3; ++c)
            r_sq += (s.x[3 * i + c] - s.x[3 * j + c]) * (s.x[3 * i + c] - s.x[3 * j + c]);
          if (j != i && r_sq < 1.25 * 1.25)
            lists[i].push_back(j);    // slightly farther than necessary
        }
        maximum = std::max(maximum, static_cast<int>(lists[i].size()));
      }
      const int capacity = maximum + 7;    // entries beyond the neighbors must not be read
      for (const bool by_atom : {true, false}) {
        std::vector<int> neighbor(static_cast<std::size_t>(std::max(1, n)) * capacity, -1000000000),
            count(n);
        for (int i = 0; i < n; ++i) {
          count[i] = static_cast<int>(lists[i].size());
          for (int k = 0; k < count[i]; ++k)
            neighbor[by_atom ? i * capacity + k : k * n + i] = lists[i][k];
        }
        const OnGpu<int> neighbor_on_gpu(neighbor), count_on_gpu(count);
        for (const Precision precision : PRECISIONS) {
          System moved = s;
          const Loaded loaded(s, false);
          const auto device = make(function, precision);
          DeviceSelection chosen = selection(false, 0.2);
          chosen.neighbors = {neighbor_on_gpu.data(), count_on_gpu.data(), by_atom ? capacity : 1,
                              by_atom ? 1 : n, capacity};
          for (int round = 0; round < 2; ++round) {
            device->rebuild(loaded.atoms, chosen, 0, nullptr);
            EXPECT_EQ(device->natoms_a(), n);
            for (const unsigned want : WANTS)
              expect_near(on_gpu(*device, s, loaded.atoms, want), on_host(function, s, false, want),
                          want, tolerance_of(precision), 0.0,
                          label("list", n, static_cast<int>(precision), want));
          }
          moved.move(0.09, n);
          loaded.x.set(moved.x);
          expect_near(on_gpu(*device, moved, loaded.atoms, WANTS[4]),
                      on_host(function, moved, false, WANTS[4]), WANTS[4], tolerance_of(precision),
                      0.0, label("list, moved", n, static_cast<int>(precision), WANTS[4]));
          EXPECT_FALSE(device->result(nullptr).moved);
          const Result expected = on_host(function, moved, false, DERIVATIVES);
          const double limit =
              tolerance_of(precision) * std::max(1.0, largest(expected.peratom, 4, 1, 4));
          device->evaluate(loaded.atoms, {DERIVATIVES, true}, nullptr);
          for (const bool packed :
               {true, false}) {    // forces of an atom, or of an axis, are contiguous
            const std::vector<double> before(3 * s.nall, 0.5);
            OnGpu<double> f(before);
            OnGpu<float> f_float(std::vector<float>(before.begin(), before.end()));
            const std::int64_t atom_stride = packed ? 3 : 1, axis_stride = packed ? 1 : s.nall;
            const OnGpu<double> dVdS(std::vector<double>{0.25});
            device->add_forces({f.data(), false, atom_stride, axis_stride}, {2.0, dVdS.data()},
                               nullptr);
            device->add_forces({f_float.data(), true, atom_stride, axis_stride}, {0.5}, nullptr);
            const auto after = f.get();
            const auto after_float = f_float.get();
            for (int i = 0; i < s.nall; ++i)
              for (int c = 0; c < 3; ++c) {
                const double force = 0.5 - 0.5 * (i < n ? expected.peratom[4 * i + 1 + c] : 0.0);
                ASSERT_NEAR(after[atom_stride * i + axis_stride * c], force, limit);
                ASSERT_NEAR(after_float[atom_stride * i + axis_stride * c], force,
                            limit + 1e-6 * std::fabs(force) + 1e-7);
              }
          }
          device->rebuild(loaded.atoms, selection(false, 0.2), 0,
                          nullptr);    // a search after a list
          expect_near(on_gpu(*device, moved, loaded.atoms, WANTS[1]),
                      on_host(function, moved, false, WANTS[1]), WANTS[1], tolerance_of(precision),
                      0.0, label("search", n, static_cast<int>(precision), WANTS[1]));
        }
      }
    }
}

// With so many rows, the partners' points are kept in shared memory if the order of atoms follows
// space. Otherwise, or with too many atoms at one position, lists are used as in the tests above.
TEST(ResidentCoordination, blocks_of_rows)
{
  const Switch functions[] = {Switch(options(SwitchKind::RATIONAL, 1.0)),
                              Switch(options(SwitchKind::EXP, 1.0))};
  enum Kind { LIQUID, VAPOUR, UNSORTED, CROWD };
  struct Case {
    Kind kind;
    int n;
    double density;
  };
  for (const Case &a : {Case{LIQUID, 150001, 6.0},
                        {VAPOUR, 140000, 6.0},
                        {UNSORTED, 150001, 6.0},
                        {CROWD, 150001, 6.0},
                        {LIQUID, 1100000, 3.3}}) {
    const bool is_large = a.n > 1000000, in_blocks = a.kind == LIQUID || a.kind == VAPOUR,
               by_atom = a.kind == VAPOUR;
    System s(a.n, a.n / 10, a.density, 5, 1.0, 0.0, -15.0);
    if (a.kind ==
        VAPOUR)    // density decreases along x down to no partners, over more than 256 ranges
      for (int i = 0; i < s.nall; ++i)
        if (double &x = s.x[3 * i]; x > 0.0) x *= 1.0 + 0.007 * x * x * x;
    if (a.kind != UNSORTED) sort_in_cells(s, 0.6);
    if (a.kind == CROWD) {    // atoms in a cube that are not contiguous in memory
      System crowd(5000, 0, 5000 / (6.0 * 6.0 * 6.0), 8, 1.0, 0.0, -3.0);
      for (int k = 0; k < crowd.nall; ++k)
        std::copy_n(crowd.x.data() + 3 * k, 3, s.x.data() + 3 * (5 * k));
    }
    for (double &x : s.x) x = static_cast<float>(x);
    const int capacity = a.kind == CROWD ? 320 : 80;
    const std::int64_t atom_stride = by_atom ? capacity : 1, neighbor_stride = by_atom ? 1 : a.n;
    const HostList list(s, 1.2, atom_stride, neighbor_stride, capacity);
    if (a.kind == VAPOUR) {
      EXPECT_EQ(*std::min_element(list.count.begin(), list.count.end()), 0);
      for (const int few : {1, 2, 7, 8, 9, 16, 17})
        EXPECT_NE(std::count(list.count.begin(), list.count.end(), few), 0);
    }
    const OnGpu<int> neighbor(list.neighbor), count(list.count);
    DeviceSelection chosen = selection(false, 0.2);
    chosen.neighbors = {neighbor.data(), count.data(), atom_stride, neighbor_stride, capacity};
    for (const Switch &function : functions)
      for (const Precision precision : PRECISIONS) {
        if (is_large && (precision != Precision::MIXED || &function != functions)) continue;
        const std::string what = "blocks, kind " + std::to_string(a.kind);
        const bool in_float = precision == Precision::SINGLE;
        const Loaded loaded(s, in_float);
        const auto pairs = make_resident_pairs(function, precision, nullptr);
        const auto device = make_resident_coordination(function, precision, pairs);
        device->rebuild(loaded.atoms, chosen, 0, nullptr);
        // Lists take 2 bytes per partner in this layout, and 4 in others.
        const std::size_t list_bytes = static_cast<std::size_t>(a.n) * capacity,
                          point_bytes = 64 * static_cast<std::size_t>(s.nall);
        if (in_blocks && precision != Precision::DOUBLE)
          EXPECT_LT(device->bytes(), 3 * list_bytes + point_bytes) << what;
        else
          EXPECT_GT(device->bytes(), 4 * list_bytes) << what;
        Result found[2];
        for (Result &result : found) {
          for (const unsigned want : WANTS)
            if (!is_large || want == WANTS[3]) {
              result = on_gpu(*device, s, loaded.atoms, want);
              expect_near(result, on_host(function, s, false, want), want, tolerance_of(precision),
                          jump_of(function, precision),
                          label(what.c_str(), a.n, static_cast<int>(precision), want));
            }
          device->rebuild(loaded.atoms, selection(false, 0.2), 0,
                          nullptr);    // a search between two lists
          device->rebuild(loaded.atoms, chosen, 0, nullptr);
        }
        EXPECT_EQ(found[0].sums.value, found[1].sums.value);
        EXPECT_EQ(found[0].peratom, found[1].peratom);

        System moved = s;
        moved.move(0.09, 3);
        for (double &x : moved.x) x = static_cast<float>(x);
        loaded.x.set(in_float ? std::vector<double>() : moved.x);
        loaded.xf.set(in_float ? std::vector<float>(moved.x.begin(), moved.x.end())
                               : std::vector<float>());
        const Result expected = on_host(function, moved, false, DERIVATIVES);
        const double limit =
            tolerance_of(precision) * std::max(1.0, largest(expected.peratom, 4, 1, 4)) +
            10 * jump_of(function, precision);
        const OnGpu<double> f(std::vector<double>(3 * s.nall, 0.5));
        const auto pass = make_resident_pair_pass(function, precision, pairs);
        device->evaluate(loaded.atoms, {DERIVATIVES, true, 7}, nullptr);
        pass->add_forces_and_tally(loaded.atoms, DERIVATIVES, {f.data(), false, 3, 1}, nullptr);
        device->add_forces({f.data(), false, 3, 1}, {0.25}, nullptr);
        for (const Totals &each : {device->result(nullptr), pass->result(nullptr)})
          EXPECT_NEAR(each.value, expected.sums.value,
                      tolerance_of(precision) * std::fabs(expected.sums.value))
              << what;
        const auto after = f.get();
        for (int i = 0; i < s.nall; ++i)
          for (int c = 0; c < 3; ++c)
            ASSERT_NEAR(after[3 * i + c],
                        0.5 - (i < a.n ? 1.25 * expected.peratom[4 * i + 1 + c] : 0.0),
                        1.25 * limit)
                << what;
      }
  }
}

// One atom has far more partners than the others. The memory depends on the total number of
// partners, not on the longest row times the number of rows.
TEST(ResidentCoordination, crowded_atom)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  System s(30000, 5000, 60000.0, 3, 0.0, 1.0);
  s.mask[7] = 1 | 2;
  for (const bool two : {true, false}) {
    if (!two) {    // the partners of one atom in a crowd, and of a gas around it
      for (int i = 0; i < s.nall; ++i) s.mask[i] = 1 | 2;
      for (int i = 3000; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c) s.x[3 * i + c] *= 40.0;
    }
    const Loaded loaded(s, false);
    for (const Precision precision : PRECISIONS) {
      const auto device = make(function, precision);
      for (int round = 0; round < 2; ++round) {
        device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
        EXPECT_LT(device->bytes(), 400u << 20);
        for (const unsigned want : {WANTS[1], WANTS[4]})
          expect_near(on_gpu(*device, s, loaded.atoms, want), on_host(function, s, two, want), want,
                      tolerance_of(precision), 0.0, "crowded atom");
      }
    }
  }
}

// Lists that are used in the form that the search writes, with one thread per atom and many
// partners, rebuilt for other atoms.
TEST(ResidentCoordination, many_partners)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  SwitchTable of_types(3);
  for (int i = 1; i <= 3; ++i)
    for (int j = i; j <= 3; ++j)
      of_types.set(i, j, of_types.add(Switch(options(SwitchKind::CUBIC, 0.97 + 0.01 * j))));
  for (const SwitchTable &table : {SwitchTable(function), of_types})
    for (const bool two : {false, true})
      for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
        const auto device = make(table, precision);
        for (const unsigned seed : {3u, 4u}) {
          const System s(150000, 5000, 10.0, seed, two ? 0.6 : 1.0, 0.6);
          const Loaded loaded(s, false);
          device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
          for (const unsigned want : {WANTS[1], WANTS[3], WANTS[4]})
            expect_near(on_gpu(*device, s, loaded.atoms, want), on_host(table, s, two, want), want,
                        tolerance_of(precision), 0.0, "many partners");
        }
      }
}

// More rows than all blocks process at once. Lists that are rebuilt give equal bits.
TEST(ResidentCoordination, many_rows)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  const System s(700000, 1000, 0.5, 9);
  const Loaded loaded(s, false);
  for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
    const auto device = make(function, precision);
    Result found[2];
    for (Result &result : found) {
      device->rebuild(loaded.atoms, selection(false, 0.1), 0, nullptr);
      result = on_gpu(*device, s, loaded.atoms, DERIVATIVES);
    }
    expect_near(found[0], on_host(function, s, false, DERIVATIVES), DERIVATIVES,
                tolerance_of(precision), 0.0, "many rows");
    EXPECT_EQ(found[0].sums.value, found[1].sums.value);
    EXPECT_EQ(found[0].peratom, found[1].peratom);
  }
}

// Lists are valid until atoms have moved by half the skin. Then the result reports it.
TEST(ResidentCoordination, moved_atoms)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const auto &[n, density] :
       {std::pair(FEW_ATOMS, 10.0), {MANY_ATOMS, 10.0}, {MANY_ATOMS, CROWD}})
    for (const Precision precision : PRECISIONS) {
      System s(n, n / 3, density, 11, 0.8, 0.5);
      Loaded loaded(s, false);
      const auto device = make(function, precision);
      for (const bool two : {false, true}) {
        device->rebuild(loaded.atoms, selection(two, 0.3), 0, nullptr);
        if (density == CROWD)
          EXPECT_LT(device->bytes(), 64u << 20);    // lists would take ten times this
        System moved = s;
        moved.move(0.149, 3);
        loaded.x.set(moved.x);
        expect_near(on_gpu(*device, moved, loaded.atoms, WANTS[4]),
                    on_host(function, moved, two, WANTS[4]), WANTS[4], tolerance_of(precision), 0.0,
                    "moved");
        EXPECT_FALSE(device->result(nullptr).moved);
        int row = 0;
        while (!(moved.mask[row] & 2)) ++row;
        moved.x[3 * row] = s.x[3 * row] + 0.16;
        loaded.x.set(moved.x);
        device->evaluate(loaded.atoms, {VALUE}, nullptr);
        EXPECT_TRUE(device->result(nullptr).moved);
        EXPECT_FALSE(device->result(nullptr).moved);    // reported once
        loaded.x.set(s.x);
      }
    }
}

// Ghost atoms are only tested if the selection requests it.
TEST(ResidentCoordination, moved_ghosts)
{
  const System s(4000, 1000, 10.0, 23);
  for (const Precision precision : PRECISIONS)
    for (const bool tests_ghosts : {true, false}) {
      Loaded loaded(s, false);
      const auto device = make(Switch(options(SwitchKind::CUBIC, 1.0)), precision);
      DeviceSelection chosen = selection(false, 0.3);
      chosen.tests_ghosts = tests_ghosts;
      device->rebuild(loaded.atoms, chosen, 0, nullptr);
      const auto moves = [&](int first, int end) {
        System moved = s;
        for (int row = first; row < end; ++row) moved.x[3 * row] += 0.16;
        loaded.x.set(moved.x);
        device->evaluate(loaded.atoms, {VALUE}, nullptr);
        return device->result(nullptr).moved;
      };
      EXPECT_EQ(moves(s.nlocal, s.nall), tests_ghosts);
      EXPECT_TRUE(moves(0, s.nlocal));
    }
}

// Pairs of a version are searched once, and positions with a number are read once.
TEST(ResidentCoordination, shared_pairs)
{
  const Switch one(options(SwitchKind::CUBIC, 1.0)), other(options(SwitchKind::GAUSSIAN, 1.0));
  const System s(4000, 1000, 10.0, 17);
  System later = s;
  later.move(0.1, 5);
  Loaded loaded(s, false);
  const auto pairs = make_resident_pairs(one, Precision::DOUBLE, nullptr);
  const auto a = make_resident_coordination(one, Precision::DOUBLE, pairs),
             b = make_resident_coordination(other, Precision::DOUBLE, pairs);
  const auto chosen = selection(false, 0.3);
  a->rebuild(loaded.atoms, chosen, 1, nullptr);
  b->rebuild(loaded.atoms, chosen, 1, nullptr);
  a->evaluate(loaded.atoms, {VALUE, false, 1}, nullptr);
  loaded.x.set(later.x);
  b->evaluate(loaded.atoms, {VALUE, false, 1}, nullptr);    // uses the positions that a has read
  EXPECT_NEAR(b->result(nullptr).value, on_host(other, s, false, VALUE).sums.value, 1e-7);
  b->evaluate(loaded.atoms, {VALUE, false, 2}, nullptr);
  EXPECT_NEAR(b->result(nullptr).value, on_host(other, later, false, VALUE).sums.value, 1e-7);
}

// Atoms far from the origin, sparse atoms in a large space, and positions in float.
TEST(ResidentCoordination, locations_of_atoms)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const double offset : {0.0, -1e5, 3e6})
    for (const auto &[n, density] :
         {std::pair(FEW_ATOMS, 10.0), {FEW_ATOMS, 1e-4}, {MANY_ATOMS, 10.0}, {MANY_ATOMS, 1e-4}}) {
      const System s(n, n / 3, density, 23, 1.0, 0.0, offset);
      for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
        const Loaded loaded(s, false);
        const auto device = make(function, precision);
        device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
        expect_near(on_gpu(*device, s, loaded.atoms, WANTS[4]),
                    on_host(function, s, false, WANTS[4]), WANTS[4],
                    tolerance_of(precision) * (offset == 0.0 ? 1.0 : 10.0), 0.0,
                    "offset " + std::to_string(offset));
      }
    }
  for (const int n : {FEW_ATOMS, MANY_ATOMS}) {
    System s(n, n / 3, 10.0, 29);
    for (double &coordinate : s.x) coordinate = static_cast<float>(coordinate);
    const Loaded loaded(s, true);
    const auto device = make(function, Precision::DOUBLE);
    device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
    expect_near(on_gpu(*device, s, loaded.atoms, WANTS[4]), on_host(function, s, false, WANTS[4]),
                WANTS[4], 1e-11, 0.0, "float");
  }
}

TEST(ResidentCoordination, bad_positions)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const auto &[n, density] : {std::pair(300, 5.0), {MANY_ATOMS, 5.0}, {MANY_ATOMS, CROWD}})
    for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)})
      for (const unsigned want : {static_cast<unsigned>(DERIVATIVES), WANTS[4]}) {
        System s(n, 0, density, 31);
        Loaded loaded(s, false);
        const auto device = make(function, Precision::MIXED);
        device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
        s.x[3 * 123 + 1] = bad;
        loaded.x.set(s.x);
        device->evaluate(loaded.atoms, {want}, nullptr);
        EXPECT_EQ(device->result(nullptr).bad_atom, 123);
        device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
        device->evaluate(loaded.atoms, {want}, nullptr);
        EXPECT_EQ(device->result(nullptr).bad_atom, 123);
      }
}

// An atom of both groups gets the forces of both, always in the same order.
TEST(ResidentCoordination, added_forces)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const auto &[density, two] :
       {std::pair(12.0, false), {12.0, true}, {CROWD, false}, {CROWD, true}}) {
    const System s(9000, 3000, density, 41, 0.8, 0.7);
    const Loaded loaded(s, false);
    const Result expected = on_host(function, s, two, DERIVATIVES);
    for (const Precision precision : PRECISIONS) {    // derivatives stay on the GPU
      const auto device = make(function, precision);
      device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
      OnGpu<double> f(std::vector<double>(3 * s.nall, 0.5));
      device->evaluate(loaded.atoms, {DERIVATIVES, true}, nullptr);
      EXPECT_NEAR(device->result(nullptr).value, expected.sums.value,
                  tolerance_of(precision) * expected.sums.value);
      device->add_forces({f.data(), false, 3, 1}, {0.5}, nullptr);
      const auto after = f.get();
      const double limit =
          tolerance_of(precision) * std::max(1.0, largest(expected.peratom, 4, 1, 4));
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(after[3 * i + c],
                      0.5 - 0.5 * (i < s.nlocal ? expected.peratom[4 * i + 1 + c] : 0.0), limit);
    }
    const auto device = make(function, Precision::DOUBLE);
    device->rebuild(loaded.atoms, selection(two, 0.2), 0, nullptr);
    const OnGpu<double> dVdS(std::vector<double>{0.25});
    std::vector<float> first;
    for (int round = 0; round < 3; ++round) {
      OnGpu<float> f(std::vector<float>(3 * s.nall, 0.5f));
      OnGpu<double> g(std::vector<double>(3 * s.nall, 0.5));
      device->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
      device->result(nullptr);    // waits: otherwise the factor may not come from the bias
      device->add_forces({f.data(), true, 3, 1}, {2.0, dVdS.data()}, nullptr);
      device->add_forces({g.data(), false, 3, 1}, {0.5}, nullptr);
      const auto in_float = f.get();
      const auto in_double = g.get();
      if (round == 0) first = in_float;
      EXPECT_EQ(in_float, first);
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c) {
          const double force = 0.5 - 0.5 * (i < s.nlocal ? expected.peratom[4 * i + 1 + c] : 0.0);
          ASSERT_NEAR(in_float[3 * i + c], force, 1e-5 * std::max(1.0, std::fabs(force)));
          ASSERT_NEAR(in_double[3 * i + c], force, 1e-11 * std::max(1.0, std::fabs(force)));
        }
    }
  }
}
