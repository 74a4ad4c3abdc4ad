// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers on the GPU, compared with
// those on the host, which test_geometry.cpp compares with closed forms and differences.

#include "gpu_tests.h"
#include "resident_geometry_systems.h"

#include "gpucoord/resident_geometry.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace gpucoord;

namespace {

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

std::vector<int> all_of(const System &s)
{
  std::vector<int> all(s.natoms);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Factors of all values in device memory, and what the host takes for the same.
struct Factors {
  explicit Factors(int n) : numbers(n), on_gpu(Numbers(n)), common({-0.5})
  {
    std::mt19937 random(n);
    std::uniform_real_distribution<double> between(-2.0, 2.0);
    for (double &x : numbers) x = between(random);
    on_gpu.set(numbers);
  }
  ItemFactors device() const
  {
    ItemFactors factors;
    factors.host = 3.0;
    factors.device = common.data();
    factors.on_device = on_gpu.data();
    factors.n = static_cast<int>(numbers.size());
    return factors;
  }
  ItemFactors host() const
  {
    ItemFactors factors;
    factors.host = -1.5;
    factors.on_host = numbers.data();
    factors.n = static_cast<int>(numbers.size());
    return factors;
  }
  Numbers numbers;
  OnGpu<double> on_gpu, common;
};

template <class Real, class Flag>
void expect_same(const System &s, const GeometryOptions &options, int layout,
                 const std::string &what)
{
  const bool is_float = std::is_same<Real, float>::value;
  Rank<Real, Flag> rank(s, all_of(s));
  const GeometryAtoms atoms = rank.on_host();
  const Numbers reference = s.references();
  Geometry host(options);
  Numbers sums(4 * options.npoints);
  host.sum(s.box, atoms, reference.data(), sums.data());
  const GeometryFlags flags = host.evaluate(s.box, sums.data(), reference.data());
  Numbers expected;
  for (int k = 0; k < host.nvalues(); ++k) expected.push_back(host.value(k));

  const auto resident = make_resident_geometry(options);
  resident->select(rank.selection(), nullptr);
  resident->evaluate(s.box, rank.members(), nullptr);
  const Numbers values = values_of(*resident);
  expect_near(values, expected, IN_DOUBLE, what + ", value");
  const GeometryFlags found = resident->take_flags(nullptr);
  EXPECT_EQ(found.nsingular, flags.nsingular) << what;
  EXPECT_EQ(found.first_singular, flags.first_singular) << what;
  EXPECT_EQ(found.first_far, flags.first_far) << what;

  const Factors factors(host.nvalues());
  Numbers gradients(3 * s.natoms);
  host.add_gradients(factors.host(), atoms, gradients.data(), 3);
  const Forces<Real> forces(s.natoms, layout);
  resident->add_forces(forces.view(), factors.device(), nullptr);
  expect_near(forces.subtracted(), gradients, is_float ? IN_FLOAT : IN_DOUBLE, what + ", force");

  resident->evaluate(s.box, rank.members(), nullptr);
  EXPECT_EQ(values_of(*resident), values) << what << ", again";
}

// All kinds of points and weights.
System mixed_system(const BoxShape &shape, int natoms, unsigned seed)
{
  System s = make_system(shape, natoms, seed);
  std::mt19937 random(seed);
  for (const int i : {7, 3, natoms - 1, 0, 400, 250}) s.add_atom(i);
  s.add_group(2, 1, random);
  s.add_group(4, 31, random);
  s.add_group(8, 33, random);
  s.add_group(16, 1000, random);
  s.add_group(1 << 30, natoms - 5, random);
  s.add_group(4);    // a group that is two points
  s.add_atom(3);     // an atom that is two points
  s.mask[250] |= 16;
  return s;
}

}    // namespace

TEST(ResidentGeometry, equals_the_host)
{
  int number = 0;
  for (const BoxShape &shape : box_shapes())
    for (const int nitems : {1, 2, 3, 31, 32, 33, 65, 1000}) {
      const int natoms = nitems == 33 ? 100000 : 3000;
      System s = mixed_system(shape, natoms, 100 + number);
      s.weights = static_cast<Weights>(number % 3);
      GeometryOptions options = options_of(s, nitems, number);
      options.unwrap = number % 2 ? Unwrap::NEAREST : Unwrap::IMAGE;
      options.sincos = number % 5 == 0;
      options.nearest = number % 7 != 3;
      options.scale = number % 3 ? 1.0 : 0.1;
      const std::string what = shape.name + ", " + std::to_string(nitems) + " items";
      const int layout = number++ % 3;
      expect_same<double, std::int32_t>(s, options, layout, what);
      expect_same<double, std::int64_t>(s, options, layout, what + ", large flags");
      expect_same<float, std::int32_t>(s, options, layout, what + ", float");
    }
}

TEST(ResidentGeometry, equals_the_host_for_atoms_alone)
{
  int number = 0;
  for (const BoxShape &shape : box_shapes())
    for (const int nitems : {1, 2, 64, 65, 1000}) {
      System s = make_system(shape, 500, 200 + number);
      for (int i = 499; i >= 0; i -= 2) s.add_atom(i);
      s.add_atom(1);    // an atom that is two points
      GeometryOptions options = options_of(s, nitems, number);
      options.unwrap = number % 2 ? Unwrap::NEAREST : Unwrap::IMAGE;
      options.sincos = number % 3 == 0;
      const std::string what = shape.name + ", " + std::to_string(nitems) + " items of atoms";
      const int layout = number++ % 3;
      expect_same<double, std::int32_t>(s, options, layout, what);
      expect_same<float, std::int64_t>(s, options, layout, what + ", float");
    }
}

TEST(ResidentGeometry, takes_every_number_of_groups)
{
  for (const int n : {4, 5, 31}) {
    System s = make_system(box_shapes()[1], 5000, n);
    std::mt19937 random(n);
    s.weights = Weights::BY_ROW;
    for (int k = 0; k < n; ++k) s.add_group(static_cast<int>(1u << k), 17 * k + 1, random);
    expect_same<double, std::int32_t>(s, options_of(s, 40, n), 0, std::to_string(n) + " groups");
  }
}

// NO_ITEM and factors of 0, on the host and on the GPU, leave out values whose gradients are NaN.
TEST(ResidentGeometry, takes_factors_of_some_values)
{
  for (const bool with_groups : {false, true}) {
    System s = make_system(box_shapes()[1], 300, 5);
    for (int i = 0; i < 100; ++i) s.add_atom(i);
    std::mt19937 random(3);
    for (const int bit : {2, 4, 8, 16})
      if (with_groups) s.add_group(bit, 50, random);
    s.x[3 * 299] = NOT_A_NUMBER;
    for (const int bit : {2, 4, 8, 16}) s.mask[299] &= ~bit;
    s.add_atom(299);
    const int bad_point = s.npoints() - 1;
    GeometryOptions options = options_of(s, 100, 1);
    for (int k = 0; k < 100; ++k)
      for (int &p : options.items[k].point)
        if (p == bad_point) p = 99;
    for (GeometryItem &item : options.items)    // no point twice
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < p; ++q)
          if (item.point[p] == item.point[q]) item = {Kind::DISTANCE, {1, 2}};
    const std::vector<int> bad = {3, 40, 77};
    for (const int k : bad) options.items[k] = {Kind::DISTANCE, {0, bad_point}};

    Rank<double, std::int32_t> rank(s, all_of(s));
    const GeometryAtoms atoms = rank.on_host();
    Geometry host(options);
    Numbers sums(4 * options.npoints);
    const Numbers reference = s.references();
    host.sum(s.box, atoms, reference.data(), sums.data());
    host.evaluate(s.box, sums.data(), reference.data());
    const auto resident = make_resident_geometry(options);
    resident->select(rank.selection(), nullptr);
    resident->evaluate(s.box, rank.members(), nullptr);
    const Numbers values = values_of(*resident);
    for (int k = 0; k < 100; ++k)
      EXPECT_EQ(std::isnan(values[k]), std::count(bad.begin(), bad.end(), k) > 0) << k;

    const auto expect_forces = [&](const ItemFactors &given, const ItemFactors &of_host,
                                   const std::string &what) {
      Numbers gradients(3 * s.natoms);
      host.add_gradients(of_host, atoms, gradients.data(), 3);
      const Forces<double> forces(s.natoms, 0);
      resident->add_forces(forces.view(), given, nullptr);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      expect_near(forces.subtracted(), gradients, IN_DOUBLE,
                  what + (with_groups ? ", groups" : ", atoms"));
    };
    Numbers numbers(100);
    for (int k = 0; k < 100; ++k) numbers[k] = 0.25 * k - 3.0;
    for (const int k : bad) numbers[k] = 0.0;
    const OnGpu<double> on_gpu(numbers), zero({0.0});
    ItemFactors all;
    all.n = 100;
    all.on_host = numbers.data();
    expect_forces(all, all, "factors on the host");
    ItemFactors on_device = all;
    on_device.on_host = nullptr;
    on_device.on_device = on_gpu.data();
    expect_forces(on_device, all, "factors on the GPU");
    ItemFactors none = all;
    none.host = 0.0;
    on_device.device = zero.data();
    expect_forces(on_device, none, "a common factor of 0");

    // In another order, one twice and some left out; n is 7, or more than a launch takes.
    std::vector<int> item = {5, ItemFactors::NO_ITEM, 99, 0, 5, ItemFactors::NO_ITEM, 12};
    for (const int repeats : {1, 11}) {
      std::vector<int> many;
      for (int k = 0; k < repeats; ++k) many.insert(many.end(), item.begin(), item.end());
      Numbers own;
      for (std::size_t k = 0; k < many.size(); ++k) own.push_back(1.0 + 0.5 * k);
      const OnGpu<double> own_on_gpu(own);
      ItemFactors some;
      some.n = static_cast<int>(many.size());
      some.item = many.data();
      some.on_host = own.data();
      expect_forces(some, some, "some values, on the host");
      ItemFactors both = some, product = some;
      both.on_device = own_on_gpu.data();
      Numbers squares;
      for (const double x : own) squares.push_back(x * x);
      product.on_host = squares.data();
      expect_forces(both, product, "some values, on the host and the GPU");
    }
  }
}

// Ranks sum their atoms, and evaluate at the sums of all.
TEST(ResidentGeometry, evaluates_at_the_sums_of_several_ranks)
{
  for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
    System s = mixed_system(box_shapes()[1], 4000, 11);
    s.weights = Weights::BY_ROW;
    GeometryOptions options = options_of(s, 50, 4);
    options.unwrap = unwrap;
    const Numbers reference = s.references();

    // The last rank has no atoms.
    std::vector<std::vector<int>> parts(4);
    for (int i = 0; i < s.natoms; ++i) parts[i % 3].push_back(i);
    std::vector<std::unique_ptr<Rank<double, std::int32_t>>> ranks;
    std::vector<std::unique_ptr<ResidentMembers>> residents;
    Numbers sums(4 * options.npoints), expected_sums(sums.size());
    for (const auto &part : parts) {
      ranks.push_back(std::make_unique<Rank<double, std::int32_t>>(s, part));
      residents.push_back(make_resident_geometry(options));
      ResidentMembers &resident = *residents.back();
      resident.select(ranks.back()->selection(), nullptr);
      const std::int64_t before = resident.bytes_copied();
      resident.sum(s.box, ranks.back()->members(), nullptr);
      resident.enqueue_result(nullptr);
      const double *const mine = resident.result();
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += mine[k];
      EXPECT_EQ(resident.bytes_copied() - before,
                static_cast<std::int64_t>(4 * options.npoints * sizeof(double)));
    }
    Rank<double, std::int32_t> whole(s, all_of(s));
    const GeometryAtoms atoms = whole.on_host();
    Geometry host(options);
    host.sum(s.box, atoms, reference.data(), expected_sums.data());
    expect_near(sums, expected_sums, 1e-12, "sums");

    host.evaluate(s.box, sums.data(), reference.data());
    Numbers expected, gradients(3 * s.natoms);
    for (int k = 0; k < host.nvalues(); ++k) expected.push_back(host.value(k));
    const Factors factors(host.nvalues());
    host.add_gradients(factors.host(), atoms, gradients.data(), 3);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      residents[r]->evaluate_at(s.box, sums.data(), nullptr);
      expect_near(values_of(*residents[r]), expected, IN_DOUBLE, "values");
      const Forces<double> forces(static_cast<int>(parts[r].size()), 0);
      residents[r]->add_forces(forces.view(), factors.device(), nullptr);
      Numbers mine;
      for (const int i : parts[r])
        mine.insert(mine.end(), &gradients[3 * i], &gradients[3 * i] + 3);
      expect_near(forces.subtracted(), mine, IN_DOUBLE, "forces of rank " + std::to_string(r));
    }
  }
}

TEST(ResidentGeometry, a_thousand_items_have_the_bits_of_single_ones)
{
  System s = make_system(box_shapes()[1], 5000, 21);
  std::mt19937 random(6);
  s.weights = Weights::BY_TYPE;
  for (int i = 0; i < 300; ++i) s.add_atom(i);
  for (const int bit : {2, 4, 8}) s.add_group(bit, 700, random);
  const GeometryOptions options = options_of(s, 1000, 2);
  Rank<double, std::int32_t> rank(s, all_of(s));
  const auto evaluate_on_gpu = [&](const GeometryOptions &some, int item, Numbers &forces_of_item) {
    const auto resident = make_resident_geometry(some);
    resident->select(rank.selection(), nullptr);
    resident->evaluate(s.box, rank.members(), nullptr);
    const Forces<double> forces(s.natoms, 0);
    ItemFactors one;
    one.item = &item;
    resident->add_forces(forces.view(), one, nullptr);
    forces_of_item = forces.subtracted();
    return values_of(*resident);
  };
  for (int k = 0; k < 1000; ++k) {
    if (k % 100 > 5) continue;    // all kinds of items, with and without groups
    GeometryOptions one = options;
    one.items = {options.items[k]};
    Numbers in_many, alone;
    const Numbers values = evaluate_on_gpu(options, k, in_many);
    EXPECT_EQ(evaluate_on_gpu(one, 0, alone)[0], values[k]) << "item " << k;
    EXPECT_EQ(in_many, alone) << "item " << k;
  }
}

TEST(ResidentGeometry, is_no_number_without_an_atom_or_a_weight)
{
  System s = make_system(box_shapes()[0], 100, 8);
  for (int i = 0; i < 4; ++i) s.add_atom(i);
  std::mt19937 random(1);
  s.add_group(2, 20, random);
  s.add_group(4);    // without atoms
  GeometryOptions options;
  options.npoints = s.npoints();
  options.items = {{Kind::DISTANCE, {0, 1}}, {Kind::DISTANCE, {2, 1}},
                   {Kind::ANGLE, {0, 4, 3}}, {Kind::COMPONENT, {0, 5}, 1},
                   {Kind::POSITION, {5}, 2}, {Kind::POSITION, {4}, 0}};
  Rank<double, std::int32_t> rank(s, all_of(s));
  const auto resident = make_resident_geometry(options);
  PointSelection chosen = rank.selection();
  const auto missing = [&] {
    resident->select(chosen, nullptr);
    resident->evaluate(s.box, rank.members(), nullptr);
    std::string found;
    for (const double value : values_of(*resident)) found += std::isnan(value) ? '-' : '+';
    return found;
  };
  EXPECT_EQ(missing(), "+++--+");
  chosen.row[2] = NOT_HERE;
  EXPECT_EQ(missing(), "+-+--+");
  chosen.row[2] = 2;
  chosen.row[0] = NOT_HERE;
  EXPECT_EQ(missing(), "-+---+");
}

TEST(ResidentGeometry, counts_singular_and_far_items)
{
  System s = make_system(box_shapes()[0], 6, 8);
  const double at[6][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 0, 0}, {0, 4.99, 0}, {3, 1, 1}};
  std::fill(s.flag.begin(), s.flag.end(), 0);
  for (int i = 0; i < 6; ++i) {
    std::copy_n(at[i], 3, &s.x[3 * i]);
    s.add_atom(i);
  }
  GeometryOptions options;
  options.npoints = 6;
  options.items = {{Kind::DISTANCE, {0, 1}},
                   {Kind::DISTANCE, {1, 3}},
                   {Kind::ANGLE, {0, 1, 2}},
                   {Kind::DISTANCE, {0, 4}},
                   {Kind::DIHEDRAL, {0, 1, 2, 5}}};
  Rank<double, std::int32_t> rank(s, all_of(s));
  const auto resident = make_resident_geometry(options);
  resident->select(rank.selection(), nullptr);
  EXPECT_FALSE(resident->was_singular() || resident->was_far());
  for (const int repeats : {1, 3}) {
    for (int k = 0; k < repeats; ++k) resident->evaluate(s.box, rank.members(), nullptr);
    const GeometryFlags found = resident->take_flags(nullptr);
    EXPECT_EQ(found.nsingular, 3 * repeats);
    EXPECT_EQ(found.first_singular, 1);
    EXPECT_EQ(found.first_far, 3);
    EXPECT_TRUE(resident->was_singular() && resident->was_far());
  }
  EXPECT_EQ(values_of(*resident)[1], 0.0);
  const GeometryFlags none = resident->take_flags(nullptr);
  EXPECT_EQ(none.nsingular, 0);
  EXPECT_EQ(none.first_singular, -1);
  EXPECT_EQ(none.first_far, -1);
}

// At the limit, the next step may wrap a flag. Nearest images do not use it.
TEST(ResidentGeometry, is_no_number_if_an_image_flag_reaches_its_limit)
{
  for (const int flag : {510, 511, -511, -512})
    for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
      System s = make_system(box_shapes()[0], 50, 8);
      s.add_atom(3);
      s.add_atom(4);
      std::mt19937 random(2);
      s.add_group(2, 20, random);
      s.mask[7] |= 2;
      s.flag[3 * 7 + 2] = flag;
      GeometryOptions options;
      options.npoints = 3;
      options.unwrap = unwrap;
      options.items = {{Kind::DISTANCE, {0, 1}}, {Kind::DISTANCE, {0, 2}}};
      Rank<double, std::int32_t> rank(s, all_of(s));
      const auto resident = make_resident_geometry(options);
      resident->select(rank.selection(), nullptr);
      resident->evaluate(s.box, rank.members(), nullptr);
      const Numbers values = values_of(*resident);
      const bool is_at_limit = flag == 511 || flag == -512;
      EXPECT_FALSE(std::isnan(values[0]));
      EXPECT_EQ(std::isnan(values[1]), is_at_limit && unwrap == Unwrap::IMAGE) << flag;
    }
}

// Only a new selection is copied.
TEST(ResidentGeometry, copies_nothing_in_an_evaluation)
{
  System s = mixed_system(box_shapes()[0], 3000, 3);
  Rank<double, std::int32_t> rank(s, all_of(s));
  const auto resident = make_resident_geometry(options_of(s, 20, 1));
  const PointSelection chosen = rank.selection();
  resident->select(chosen, nullptr);
  const std::int64_t before = resident->bytes_copied();
  EXPECT_GT(before, 0);
  const Factors factors(20);
  for (int step = 0; step < 3; ++step) {
    resident->select(chosen, nullptr);
    resident->evaluate(s.box, rank.members(), nullptr);
    const Forces<double> forces(s.natoms, 0);
    resident->add_forces(forces.view(), factors.device(), nullptr);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(resident->bytes_copied(), before);
}
