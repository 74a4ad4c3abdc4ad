// Part of GPUCOORD, GPL-2.0. Distances, angles, dihedrals and centers on the GPU, compared with
// those on the host, which test_geometry.cpp compares with closed forms and differences.

#include "geometry_systems.h"
#include "gpu_tests.h"
#include "on_gpu.h"

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

using Numbers = std::vector<double>;
constexpr int NOT_HERE = PointSelection::NOT_HERE;
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

enum class Weights { ONE, BY_TYPE, BY_ROW };

// Atoms, of which some are points, and groups of them.
struct System {
  BoxShape shape;
  GeometryBox box;
  int natoms = 0;
  Numbers x;                // [natoms][3]
  std::vector<int> flag;    // [natoms][3]
  std::vector<int> mask, type;
  Numbers mass, mass_of_type;
  Weights weights = Weights::ONE;
  std::vector<int> atom, bit;    // [points] index or -1, bit or 0

  int npoints() const { return static_cast<int>(bit.size()); }
  void add_atom(int i)
  {
    atom.push_back(i);
    bit.push_back(0);
  }
  void add_group(int bit_of_group)
  {
    atom.push_back(-1);
    bit.push_back(bit_of_group);
  }
  // Puts n atoms that are chosen at random into a group, which becomes a point.
  void add_group(int bit_of_group, int n, std::mt19937 &random)
  {
    std::vector<int> all(natoms);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    for (int k = 0; k < n; ++k) mask[all[k]] |= bit_of_group;
    add_group(bit_of_group);
  }
  double weight(int i) const
  {
    return weights == Weights::ONE    ? 1.0
        : weights == Weights::BY_TYPE ? mass_of_type[type[i]]
                                      : mass[i];
  }
  Numbers unwrapped(int i) const
  {
    Numbers at(&x[3 * i], &x[3 * i] + 3);
    for (int axis = 0; axis < 3; ++axis)
      for (int c = 0; c < 3; ++c) at[c] += flag[3 * i + axis] * shape.edges[axis][c];
    return at;
  }
  int first_member(int p) const
  {
    if (bit[p] == 0) return atom[p];
    int i = 0;
    while (!(mask[i] & bit[p])) ++i;
    return i;
  }
  Numbers references() const
  {
    Numbers all;
    for (int p = 0; p < npoints(); ++p) {
      const Numbers at = unwrapped(first_member(p));
      all.insert(all.end(), at.begin(), at.end());
    }
    return all;
  }
};

// Atoms are within 0.15 edges around a corner of the box, in images up to 3 boxes away. Positions
// and masses have at most 24 bits, so that floats have them exactly.
System make_system(const BoxShape &shape, int natoms, unsigned seed)
{
  System s;
  s.shape = shape;
  s.box = box_of(shape);
  for (int c = 0; c < 3; ++c) s.box.fixed[c] = 1.5 + c;
  s.natoms = natoms;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> around(-0.15, 0.15), mass(1.0, 200.0);
  std::uniform_int_distribution<int> image(-3, 3), type(1, 4);
  for (int t = 0; t <= 4; ++t) s.mass_of_type.push_back(static_cast<float>(mass(random)));
  for (int i = 0; i < natoms; ++i) {
    double at[3] = {};
    for (int axis = 0; axis < 3; ++axis) {
      const double along = around(random);
      for (int c = 0; c < 3; ++c) at[c] += along * shape.edges[axis][c];
      s.flag.push_back(shape.periodic[axis] ? image(random) : 0);
    }
    for (const double coordinate : at) s.x.push_back(static_cast<float>(coordinate));
    s.type.push_back(type(random));
    s.mass.push_back(static_cast<float>(mass(random)));
  }
  s.mask.assign(natoms, 1);
  return s;
}

// Points of an item are different: a dihedral of three points has no definite value.
GeometryOptions options_of(const System &s, int nitems, unsigned seed)
{
  GeometryOptions options;
  options.npoints = s.npoints();
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(0, s.npoints() - 1);
  std::vector<int> first;
  for (int p = 0; p < s.npoints(); ++p) first.push_back(s.first_member(p));
  for (int k = 0; k < nitems; ++k) {
    GeometryItem item;
    item.kind = static_cast<Kind>(k % 5);
    item.axis = k % 3;
    for (int p = 0; p < 4;) {
      item.point[p] = any(random);
      const auto is_same = [&](int q) {
        return first[q] == first[item.point[p]];
      };
      if (std::none_of(item.point, item.point + p, is_same)) ++p;
    }
    options.items.push_back(item);
  }
  return options;
}

// The atoms of one rank, on the host and on the GPU. Real: of positions, masses and forces. Flag:
// of image flags
template <class Real, class Flag> struct Rank {
  Rank(const System &s_in, const std::vector<int> &atoms_in) :
      s(s_in), atoms(atoms_in), x(positions()), flags(packed()), mask(of_atoms(s.mask)),
      type(of_atoms(s.type)), mass(to_real(of_atoms(s.mass))), mass_of_type(to_real(s.mass_of_type))
  {
  }
  template <class T> std::vector<T> of_atoms(const std::vector<T> &all) const
  {
    std::vector<T> some;
    for (const int i : atoms) some.push_back(all[i]);
    return some;
  }
  static std::vector<Real> to_real(const Numbers &from) { return {from.begin(), from.end()}; }
  std::vector<Real> positions() const
  {
    std::vector<Real> all;
    for (const int i : atoms)
      for (int c = 0; c < 3; ++c) all.push_back(static_cast<Real>(s.x[3 * i + c]));
    return all;
  }
  static constexpr int BITS = sizeof(Flag) == 4 ? 10 : 21;
  std::vector<Flag> packed() const
  {
    std::vector<Flag> all;
    for (const int i : atoms) all.push_back(static_cast<Flag>(packed_flags(&s.flag[3 * i], BITS)));
    return all;
  }

  DeviceMembers members() const
  {
    DeviceMembers m;
    m.atoms.x = x.data();
    m.atoms.x_is_float = std::is_same<Real, float>::value;
    m.atoms.mask = mask.data();
    m.atoms.type = type.data();
    m.atoms.nlocal = m.atoms.nall = static_cast<int>(atoms.size());
    m.image = {flags.data(), BITS};
    m.mass_is_float = m.atoms.x_is_float;
    m.mass_is_by_type = s.weights == Weights::BY_TYPE;
    if (s.weights == Weights::BY_TYPE) m.mass = mass_of_type.data();
    if (s.weights == Weights::BY_ROW) m.mass = mass.data();
    return m;
  }
  int row_of(int i) const
  {
    const auto found = std::find(atoms.begin(), atoms.end(), i);
    return found == atoms.end() ? NOT_HERE : static_cast<int>(found - atoms.begin());
  }
  PointSelection selection(bool with_reference) const
  {
    PointSelection chosen;
    chosen.bit = s.bit;
    for (const int i : s.atom) chosen.row.push_back(row_of(i));
    for (int p = 0; p < s.npoints() && with_reference; ++p)
      chosen.reference.push_back(row_of(s.first_member(p)));
    return chosen;
  }

  // The same atoms for the host, which keeps pointers to them.
  GeometryAtoms on_host()
  {
    host_x.assign(3 * atoms.size(), 0.0);
    for (std::size_t k = 0; k < host_x.size(); ++k) host_x[k] = s.x[3 * atoms[k / 3] + k % 3];
    host_flags = packed();
    host_members.clear();
    for (int p = 0; p < s.npoints(); ++p)
      for (int row = 0; row < static_cast<int>(atoms.size()); ++row) {
        if (s.bit[p] == 0 && s.atom[p] == atoms[row]) host_members.push_back({row, p, 1.0});
        if (s.mask[atoms[row]] & s.bit[p]) host_members.push_back({row, p, s.weight(atoms[row])});
      }
    return {host_x.data(), {host_flags.data(), BITS}, host_members.data(), host_members.size()};
  }

  const System &s;
  std::vector<int> atoms;
  OnGpu<Real> x;
  OnGpu<Flag> flags;
  OnGpu<int> mask, type;
  OnGpu<Real> mass, mass_of_type;
  Numbers host_x;
  std::vector<Flag> host_flags;
  std::vector<GeometryMember> host_members;
};

std::vector<int> all_of(const System &s)
{
  std::vector<int> all(s.natoms);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <class T> std::vector<T> read(const T *from, std::size_t n)
{
  std::vector<T> to(n);
  cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost);
  return to;
}

Numbers values_of(const ResidentMembers &resident)
{
  const DeviceValue value = resident.device_value();
  EXPECT_EQ(value.stride, 1);
  EXPECT_EQ(value.scale, 1.0);
  return read(value.sum, value.n);
}

// Forces on the GPU with the layouts of LAMMPS, [n][3] and [3][n], and one with gaps, [n][4].
template <class Real> class Forces {
 public:
  Forces(int n_in, int layout) :
      n(n_in), atom_stride(layout == 0       ? 3
                               : layout == 1 ? 1
                                             : 4),
      axis_stride(layout == 1 ? n : 1), before(4 * static_cast<std::size_t>(n), 0.5), f(before)
  {
  }
  DeviceForces view() const
  {
    return {f.data(), std::is_same<Real, float>::value, atom_stride, axis_stride};
  }
  // Returns what was subtracted, [n][3], and checks that the rest is unchanged.
  Numbers subtracted() const
  {
    std::vector<Real> now = f.get();
    Numbers found;
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < 3; ++c) {
        Real &one = now[atom_stride * i + axis_stride * c];
        found.push_back(0.5 - one);
        one = static_cast<Real>(0.5);
      }
    EXPECT_EQ(now, before);
    return found;
  }

 private:
  const int n;
  const std::int64_t atom_stride, axis_stride;
  const std::vector<Real> before;
  OnGpu<Real> f;
};

double largest(const Numbers &numbers)
{
  double found = 0.0;
  for (const double x : numbers) found = std::max(found, std::abs(x));
  return found;
}

void expect_near(const Numbers &found, const Numbers &expected, double bound,
                 const std::string &what)
{
  ASSERT_EQ(found.size(), expected.size()) << what;
  const double allowed = bound * std::max(1.0, largest(expected));
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k], expected[k], allowed) << what << ", number " << k;
}

// Sums of 100,000 terms differ by their order.
constexpr double IN_DOUBLE = 1e-9, IN_FLOAT = 1e-6;

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
  host.sum_centers(s.box, atoms, reference.data(), sums.data());
  const GeometryFlags flags = host.evaluate_items(s.box, sums.data(), reference.data());
  Numbers expected;
  for (int k = 0; k < host.nvalues(); ++k) expected.push_back(host.value(k));

  const auto resident = make_resident_geometry(options);
  resident->select(rank.selection(options.unwrap == Unwrap::NEAREST), nullptr);
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
    host.sum_centers(s.box, atoms, nullptr, sums.data());
    host.evaluate_items(s.box, sums.data(), nullptr);
    const auto resident = make_resident_geometry(options);
    resident->select(rank.selection(false), nullptr);
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
    const double *const given = unwrap == Unwrap::NEAREST ? reference.data() : nullptr;

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
      resident.select(ranks.back()->selection(false), nullptr);
      const std::int64_t before = resident.bytes_copied();
      resident.sum(s.box, ranks.back()->members(), given, nullptr);
      resident.enqueue_result(nullptr);
      const double *const mine = resident.result();
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += mine[k];
      EXPECT_EQ(resident.bytes_copied() - before,
                static_cast<std::int64_t>((given ? 7 : 4) * options.npoints * sizeof(double)));
    }
    Rank<double, std::int32_t> whole(s, all_of(s));
    const GeometryAtoms atoms = whole.on_host();
    Geometry host(options);
    host.sum_centers(s.box, atoms, given, expected_sums.data());
    expect_near(sums, expected_sums, 1e-12, "sums");

    host.evaluate_items(s.box, sums.data(), given);
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
    resident->select(rank.selection(false), nullptr);
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
  PointSelection chosen = rank.selection(false);
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
  resident->select(rank.selection(false), nullptr);
  for (const int repeats : {1, 3}) {
    for (int k = 0; k < repeats; ++k) resident->evaluate(s.box, rank.members(), nullptr);
    const GeometryFlags found = resident->take_flags(nullptr);
    EXPECT_EQ(found.nsingular, 3 * repeats);
    EXPECT_EQ(found.first_singular, 1);
    EXPECT_EQ(found.first_far, 3);
  }
  EXPECT_EQ(values_of(*resident)[1], 0.0);
  const GeometryFlags none = resident->take_flags(nullptr);
  EXPECT_EQ(none.nsingular, 0);
  EXPECT_EQ(none.first_singular, -1);
  EXPECT_EQ(none.first_far, -1);
}

// Only a new selection is copied.
TEST(ResidentGeometry, copies_nothing_in_an_evaluation)
{
  System s = mixed_system(box_shapes()[0], 3000, 3);
  Rank<double, std::int32_t> rank(s, all_of(s));
  const auto resident = make_resident_geometry(options_of(s, 20, 1));
  const PointSelection chosen = rank.selection(false);
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
