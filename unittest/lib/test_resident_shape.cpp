// Part of GPUCOORD, GPL-2.0. Radius of gyration and RMSD on the GPU, compared with those on the
// host, which test_shape.cpp compares with closed forms and differences.

#include "gpu_tests.h"
#include "resident_geometry_systems.h"

#include "gpucoord/resident_shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

using ShapeKind = ShapeOptions::Kind;

// Atom i has the ID 3 i + 7. Every other reference position belongs to no atom.
template <class Id> Id id_of(int i)
{
  return static_cast<Id>(3 * i + 7);
}

struct Case {
  Case(const BoxShape &shape, int natoms, int nmembers, unsigned seed) :
      s(make_system(shape, natoms, seed))
  {
    std::mt19937 random(seed);
    s.add_group(4, nmembers, random);
    std::uniform_real_distribution<double> around(-3.0, 3.0);
    for (int i = 0; i < natoms; ++i)
      for (const int more : {0, 1}) {
        ids.push_back(id_of<std::int64_t>(i) + more);
        for (int c = 0; c < 3; ++c) options.reference.push_back(around(random));
      }
    options.kind = ShapeKind::RMSD;
  }
  void use_gyration()
  {
    options.kind = ShapeKind::GYRATION;
    options.reference.clear();
    ids.clear();
  }
  // Makes the reference of each atom its position, turned and stretched.
  void use_copy(double stretch)
  {
    for (int i = 0; i < s.natoms; ++i) {
      const Numbers at = s.unwrapped(i);
      double *const y = &options.reference[6 * i];
      y[0] = -stretch * at[1];
      y[1] = stretch * at[0];
      y[2] = stretch * at[2] + 3.0;
    }
  }

  System s;
  ShapeOptions options;
  std::vector<std::int64_t> ids;
};

// Atoms of one rank, with IDs.
template <class Real, class Id> struct ShapeRank : Rank<Real, std::int32_t> {
  ShapeRank(const System &system, const std::vector<int> &atoms_in) :
      Rank<Real, std::int32_t>(system, atoms_in), id(all_ids(atoms_in))
  {
  }
  static std::vector<Id> all_ids(const std::vector<int> &atoms_in)
  {
    std::vector<Id> all;
    for (const int i : atoms_in) all.push_back(id_of<Id>(i));
    return all;
  }
  DeviceMembers members() const
  {
    DeviceMembers m = Rank<Real, std::int32_t>::members();
    m.id = id.data();
    m.id_is_64_bit = sizeof(Id) == 8;
    return m;
  }
  GeometryAtoms on_host()
  {
    const GeometryAtoms atoms = Rank<Real, std::int32_t>::on_host();
    for (GeometryMember &member : this->host_members)
      member.reference = 2 * this->atoms[member.row];
    return atoms;
  }
  OnGpu<Id> id;
};

std::vector<int> every(int step, int first, int n)
{
  std::vector<int> some;
  for (int i = first; i < n; i += step) some.push_back(i);
  return some;
}

struct OnHost {
  double value;
  Numbers gradients;
  bool had_residuals;
  GeometryFlags flags;
};

OnHost evaluate_on_host(const Case &one)
{
  ShapeRank<double, std::int32_t> rank(one.s, every(1, 0, one.s.natoms));
  const GeometryAtoms atoms = rank.on_host();
  const Numbers reference = one.s.references();
  Shape host(one.options);
  Numbers sums(host.nsums());
  host.sum(one.s.box, atoms, reference.data(), sums.data());
  OnHost result;
  result.flags = host.evaluate(one.s.box, sums.data(), reference.data());
  result.had_residuals = host.nsums_again() > 0;
  if (result.had_residuals) {
    Numbers again(host.nsums_again());
    host.sum_again(atoms, again.data());
    result.flags = host.evaluate_again(again.data());
  }
  result.value = host.value();
  result.gradients.resize(3 * one.s.natoms);
  host.add_gradients({}, atoms, result.gradients.data(), 3);
  return result;
}

void expect_flags(ResidentMembers &resident, const GeometryFlags &expected, const std::string &what)
{
  EXPECT_EQ(resident.was_singular(), expected.nsingular > 0) << what;
  const GeometryFlags found = resident.take_flags(nullptr);
  EXPECT_EQ(found.nsingular, expected.nsingular) << what;
  EXPECT_EQ(found.first_singular, expected.first_singular) << what;
  EXPECT_EQ(found.first_far, -1) << what;
}

template <class Real, class Id>
void expect_same(const Case &one, int layout, const std::string &what, double bound = IN_DOUBLE)
{
  const OnHost expected = evaluate_on_host(one);
  const bool is_float = sizeof(Real) == 4;
  const ShapeRank<Real, Id> rank(one.s, every(1, 0, one.s.natoms));
  const auto resident = make_resident_shape(one.options, one.ids);
  resident->select(rank.selection(), nullptr);
  for (const int times : {1, 2}) {
    resident->evaluate(one.s.box, rank.members(), nullptr);
    expect_near(values_of(*resident), {expected.value}, bound, what + ", value");
    expect_flags(*resident, expected.flags, what + ", evaluation " + std::to_string(times));
  }
  const OnGpu<double> common({-0.5}), own({4.0, 3.0});
  const int item[2] = {ItemFactors::NO_ITEM, 0};
  ItemFactors factors;
  factors.host = 2.0;
  factors.device = common.data();
  factors.on_device = own.data();
  factors.item = item;
  factors.n = 2;
  Numbers gradients = expected.gradients;
  for (double &g : gradients) g *= -3.0;
  const Forces<Real> forces(one.s.natoms, layout);
  resident->add_forces(forces.view(), factors, nullptr);
  expect_near(forces.subtracted(), gradients, is_float ? IN_FLOAT : bound, what + ", force");
  EXPECT_GT(resident->bytes(), 0u);
}

}    // namespace

TEST(ResidentShape, equals_the_host)
{
  int number = 0;
  for (const BoxShape &shape : box_shapes())
    for (const int nmembers : {2, 31, 33, 257, 3000, 200000}) {
      const int natoms = nmembers == 200000 ? 250000 : 4000;
      Case one(shape, natoms, nmembers, 100 + number);
      one.s.weights = static_cast<Weights>(number % 3);
      one.options.unwrap = number % 2 ? Unwrap::NEAREST : Unwrap::IMAGE;
      one.options.squared = number % 5 == 0;
      for (const bool is_gyration : {false, true}) {
        if (is_gyration) one.use_gyration();
        const std::string what = shape.name + ", " + std::to_string(nmembers) +
            (is_gyration ? " members, gyration" : " members, rmsd");
        expect_same<double, std::int32_t>(one, number % 3, what);
        expect_same<double, std::int64_t>(one, number % 3, what + ", large IDs");
        expect_same<float, std::int32_t>(one, number % 3, what + ", float");
      }
      ++number;
    }
}

// Small RMSDs, which take the second sum. Its digits end at the rounding of positions.
TEST(ResidentShape, small_values)
{
  for (const int nmembers : {10, 3000})
    for (const double stretch : {1.05, 1.001, 1.0 + 1e-6, 1.0 + 1e-9}) {
      Case one(box_shapes()[1], 4000, nmembers, nmembers);
      one.use_copy(stretch);
      const OnHost expected = evaluate_on_host(one);
      EXPECT_EQ(expected.had_residuals, stretch < 1.04);
      EXPECT_EQ(expected.flags.nsingular, 0);
      const std::string what = "stretched by " + std::to_string(stretch - 1.0);
      expect_same<double, std::int32_t>(one, 0, what, 1e-15 / (stretch - 1.0) + 1e-12);
    }
}

TEST(ResidentShape, singular_values)
{
  Case copy(box_shapes()[1], 4000, 3000, 5);
  copy.use_copy(1.0);
  EXPECT_EQ(evaluate_on_host(copy).flags.first_singular, 0);
  expect_same<double, std::int32_t>(copy, 0, "a copy");
  // Two atoms at the same place have no direction.
  Case two(box_shapes()[3], 100, 2, 6);
  std::vector<int> members;
  for (int i = 0; i < 100; ++i)
    if (two.s.mask[i] & 4) members.push_back(i);
  for (int c = 0; c < 3; ++c) two.s.x[3 * members[1] + c] = two.s.x[3 * members[0] + c];
  const OnHost expected = evaluate_on_host(two);
  EXPECT_EQ(expected.flags.first_singular, 1);
  const ShapeRank<double, std::int32_t> rank(two.s, every(1, 0, 100));
  const auto resident = make_resident_shape(two.options, two.ids);
  resident->select(rank.selection(), nullptr);
  resident->evaluate(two.s.box, rank.members(), nullptr);
  expect_near(values_of(*resident), {expected.value}, IN_DOUBLE, "two atoms");
  expect_flags(*resident, expected.flags, "two atoms");
}

// Ranks sum their atoms, and evaluate at the sums of all.
TEST(ResidentShape, several_ranks)
{
  for (const double stretch : {0.0, 1.5, 1.0001})
    for (const Unwrap unwrap : {Unwrap::IMAGE, Unwrap::NEAREST}) {
      Case one(box_shapes()[1], 5000, 3000, 11);
      one.s.weights = Weights::BY_ROW;
      one.options.unwrap = unwrap;
      if (stretch > 0.0) one.use_copy(stretch);
      const OnHost expected = evaluate_on_host(one);
      // As nearest images, the members do not have the shape of the copy, which has image flags.
      EXPECT_EQ(expected.had_residuals, stretch == 1.0001 && unwrap == Unwrap::IMAGE);

      std::vector<std::vector<int>> parts;
      for (int r = 0; r < 3; ++r) parts.push_back(every(3, r, one.s.natoms));
      parts.emplace_back();    // the last rank has no atoms
      std::vector<std::unique_ptr<ShapeRank<double, std::int32_t>>> ranks;
      std::vector<std::unique_ptr<ResidentMembers>> residents;
      Shape host(one.options);
      Numbers sums(host.nsums()), again;
      for (const auto &part : parts) {
        ranks.push_back(std::make_unique<ShapeRank<double, std::int32_t>>(one.s, part));
        residents.push_back(make_resident_shape(one.options, one.ids));
        ResidentMembers &resident = *residents.back();
        PointSelection chosen = ranks.back()->selection();
        resident.select(chosen, nullptr);
        resident.sum(one.s.box, ranks.back()->members(), nullptr);
        resident.enqueue_result(nullptr);
        const double *const mine = resident.result();
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += mine[k];
      }
      host.evaluate(one.s.box, sums.data(), one.s.references().data());
      again.assign(host.nsums_again(), 0.0);
      for (const auto &resident : residents) {
        resident->evaluate_at(one.s.box, sums.data(), nullptr);
        if (again.empty()) continue;
        const double *const mine = resident->sum_again(nullptr);
        for (std::size_t k = 0; k < again.size(); ++k) again[k] += mine[k];
      }
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (!again.empty()) residents[r]->evaluate_again(again.data(), nullptr);
        const double bound = again.empty() ? IN_DOUBLE : 1e-10;
        expect_near(values_of(*residents[r]), {expected.value}, bound, "value");
        const Forces<double> forces(static_cast<int>(parts[r].size()), 0);
        residents[r]->add_forces(forces.view(), {}, nullptr);
        Numbers mine;
        for (const int i : parts[r])
          mine.insert(mine.end(), &expected.gradients[3 * i], &expected.gradients[3 * i] + 3);
        expect_near(forces.subtracted(), mine, bound, "forces of rank " + std::to_string(r));
      }
    }
}

TEST(ResidentShape, is_no_number)
{
  const auto value_of = [](const Case &one) {
    const ShapeRank<double, std::int32_t> rank(one.s, every(1, 0, one.s.natoms));
    const auto resident = make_resident_shape(one.options, one.ids);
    resident->select(rank.selection(), nullptr);
    resident->evaluate(one.s.box, rank.members(), nullptr);
    return values_of(*resident)[0];
  };
  const Case good(box_shapes()[0], 100, 50, 3);
  EXPECT_TRUE(std::isfinite(value_of(good)));
  Case bad = good;    // without a reference position
  bad.ids[2 * bad.s.first_member(0)] += 1;
  bad.ids.erase(bad.ids.begin() + 2 * bad.s.first_member(0) + 1);
  bad.options.reference.erase(bad.options.reference.end() - 3, bad.options.reference.end());
  EXPECT_TRUE(std::isnan(value_of(bad)));
  bad = good;
  bad.s.x[3 * bad.s.first_member(0) + 1] = NAN;
  EXPECT_TRUE(std::isnan(value_of(bad)));
  bad = good;    // an image flag at its limit
  bad.s.flag[3 * bad.s.first_member(0)] = 511;
  EXPECT_TRUE(std::isnan(value_of(bad)));
  bad = good;    // no members
  for (int &mask : bad.s.mask) mask = 1;
  EXPECT_TRUE(std::isnan(value_of(bad)));
  // A factor of 0 leaves out forces that are not finite.
  const ShapeRank<double, std::int32_t> rank(bad.s, every(1, 0, 100));
  const auto resident = make_resident_shape(bad.options, bad.ids);
  resident->select(rank.selection(), nullptr);
  resident->evaluate(bad.s.box, rank.members(), nullptr);
  const Forces<double> forces(100, 0);
  ItemFactors zero;
  zero.host = 0.0;
  resident->add_forces(forces.view(), zero, nullptr);
  EXPECT_EQ(forces.subtracted(), Numbers(300, 0.0));
}
