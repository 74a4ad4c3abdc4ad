// Part of GPUCOORD, GPL-2.0. Functions of coordination numbers of atoms that are resident on the
// GPU: both passes over pairs, with any weights, compared with the host backend in double, and f
// compared with the host.

#include "gpu_tests.h"
#include "resident_results.h"

#include "gpucoord/resident_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace gpucoord;

namespace {

// Weights of all atoms. Each ghost has the weight of an owned atom, its owner.
struct RandomWeights {
  RandomWeights(const System &s, double size, unsigned seed) : owner(s.nall)
  {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    std::iota(owner.begin(), owner.end(), 0);
    for (int k = s.nlocal; k < s.nall; ++k)
      owner[k] = s.nlocal > 0 ? static_cast<int>(random() % s.nlocal) : 0;
    for (int k = 0; k < std::max(1, s.nlocal); ++k)
      owned_weights.push_back(random() % 6 ? size * u(random) : 0.0);
    for (int k = 0; k < s.nall; ++k) all_weights.push_back(owned_weights[owner[k]]);
    all_weights.push_back(0.0);
  }
  std::vector<int> owner;
  std::vector<double> owned_weights, all_weights;
};

struct Both {
  std::vector<double> s;
  Result second;
};

Both function_on_host(const SwitchTable &table, const System &s, bool two, unsigned want,
                      const std::vector<double> &weights, const double *weight_of_types)
{
  Both both;
  both.s.assign(s.nlocal + 1, 0.0);
  both.second.peratom.assign(static_cast<std::size_t>(s.nlocal) * peratom_columns(want), 0.0);
  int na, nb;
  const auto a = s.atoms(2, na), b = s.atoms(4, nb);
  const int nothing = 0;
  SecondPass second;
  second.s = both.s.data();
  second.nweights = s.nall;
  second.weights = [&] {
    return weights.data();
  };
  CellsInput in;
  in.x = s.x.data();
  in.a = {a.empty() ? &nothing : a.data(), static_cast<int>(a.size()), na};
  if (two) in.b = {b.empty() ? &nothing : b.data(), static_cast<int>(b.size()), nb};
  in.types = {s.type.data(), weight_of_types};
  in.second = &second;
  const auto backend = make_host_coordination(table, Precision::DOUBLE, 4);
  both.second.sums = backend->cells(in, want, both.second.peratom.data());
  if (!(want & VIRIAL)) return both;
  // The share of a rank in W is half of the virials of its atoms, or, with two groups, the virials
  // of the atoms of a.
  std::vector<double> all(static_cast<std::size_t>(s.nlocal) * 10, 0.0), unused(s.nlocal + 1, 0.0);
  second.s = unused.data();
  in.b.nowned = 0;
  backend->cells(in, WANTS[4], all.data());
  std::fill_n(both.second.sums.virial, 6, 0.0);
  for (std::size_t k = 0; k < all.size(); ++k)
    if (k % 10 >= 4) both.second.sums.virial[k % 10 - 4] += (two ? 1.0 : 0.5) * all[k];
  return both;
}

// Both passes on the GPU, and forces of the second one.
void check_passes(const SwitchTable &table, const System &s, bool two,
                  const DeviceSelection &selected, double size, const std::string &what,
                  const double *weight_of_types = nullptr, double jump = 0.0)
{
  const RandomWeights weights(s, size, 11);
  const Loaded loaded(s, false);
  const OnGpu<double> owned_weights(weights.owned_weights), all_weights(weights.all_weights);
  const OnGpu<int> owner(weights.owner);
  const OnGpu<double> s_on_gpu(std::vector<double>(s.nlocal + 1, 7.0));
  const double unit = std::exp2(std::ceil(std::log2(size)));
  for (const Precision precision : PRECISIONS) {
    const auto device = make(table, precision, weight_of_types);
    device->rebuild(loaded.atoms, selected, 0, nullptr);
    for (const auto &[want, with_owners] : {std::pair(unsigned(DERIVATIVES), false),
                                            {unsigned(DERIVATIVES), true},
                                            {unsigned(VIRIAL), false},
                                            {DERIVATIVES | VIRIAL, true},
                                            {WANTS[4], false},
                                            {WANTS[4], true}}) {
      const std::string label_here =
          label(what.c_str(), s.nlocal, static_cast<int>(precision), want);
      Both expected = function_on_host(table, s, two, want, weights.all_weights, weight_of_types);
      device->evaluate_first(loaded.atoms, 0, s_on_gpu.data(), nullptr);
      const auto found_s = s_on_gpu.get();
      const double value = device->result(nullptr).value;
      EXPECT_NEAR(value, expected.second.sums.value,
                  tolerance_of(precision) * std::max(1.0, std::fabs(value)))
          << label_here;
      const double maximum = std::max(1.0, largest(expected.s, 1, 0, 1));
      for (int i = 0; i < s.nlocal; ++i)
        ASSERT_NEAR(found_s[i], expected.s[i], tolerance_of(precision) * maximum) << label_here;
      EXPECT_EQ(found_s[s.nlocal], 7.0);

      const DeviceWeights given = with_owners
          ? DeviceWeights{owned_weights.data(), owner.data(), unit}
          : DeviceWeights{all_weights.data(), nullptr, unit};
      device->evaluate_second({want}, given, nullptr);
      Result found;
      found.peratom.assign(expected.second.peratom.size(), 0.0);
      const Totals sums = device->result(nullptr);
      EXPECT_EQ(sums.value, 0.0);
      std::copy_n(sums.virial, 6, found.sums.virial);
      if (!found.peratom.empty()) device->peratom(found.peratom.data(), nullptr);
      // Scales results, because expect_near() has an absolute tolerance below 1.
      const auto scale = [&, want = want](Result &result) {
        result.sums.value = 0.0;
        for (double &w : result.sums.virial) w /= size;
        const int columns = peratom_columns(want);
        for (std::size_t k = 0; k < result.peratom.size(); ++k)
          result.peratom[k] = k % columns == 0 ? 0.0 : result.peratom[k] / size;
      };
      scale(found);
      scale(expected.second);
      expect_near(found, expected.second, want, 2.0 * tolerance_of(precision), jump, label_here);
      if (want != DERIVATIVES) continue;

      // Evaluate as for the forces of a bias, whose derivatives may be in float.
      device->evaluate_second({DERIVATIVES, true}, given, nullptr);
      OnGpu<double> f(std::vector<double>(3 * s.nall + 3, 0.5));
      device->add_forces({f.data()}, {2.0 / size}, nullptr);
      const auto after = f.get();
      const double limit =
          4.0 * tolerance_of(precision) * std::max(1.0, largest(expected.second.peratom, 4, 1, 4)) +
          20.0 * jump;
      for (int i = 0; i < s.nall; ++i)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(after[3 * i + c],
                      0.5 - 2.0 * (i < s.nlocal ? expected.second.peratom[4 * i + 1 + c] : 0.0),
                      limit)
              << label_here;
    }
  }
}

}    // namespace

TEST(ResidentFunction, passes_of_one_group)
{
  const Switch functions[] = {Switch(options(SwitchKind::RATIONAL, 1.0)),
                              Switch(options(SwitchKind::CUBIC, 1.0))};
  for (const Switch &function : functions)
    for (const auto &[n, density] : {std::tuple(0, 5.0),
                                     {1, 5.0},
                                     {33, 5.0},
                                     {1000, 0.01},
                                     {5000, 60.0},
                                     {MANY_ATOMS, 12.0},
                                     {MANY_ATOMS, CROWD}})
      check_passes(function, System(n, n / 3, density, 7 * n + 1, 0.9), false,
                   selection(false, 0.2), 1.0, "one group", nullptr,
                   jump_of(function, Precision::MIXED));
}

TEST(ResidentFunction, passes_of_two_groups)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  const double fractions[][2] = {{1, 1}, {0.5, 0.6}, {0.01, 0.9}, {0.9, 0.01}, {0, 1}, {1, 0}};
  for (const auto &f : fractions)
    for (const auto &[n, density] :
         {std::tuple(3, 8.0), {500, 8.0}, {MANY_ATOMS, 8.0}, {MANY_ATOMS, CROWD}})
      check_passes(function, System(n, n / 2, density, n + 3, f[0], f[1]), true,
                   selection(true, 0.2), 1.0, "two groups");
}

// One kernel for several types; in bins, one for each of them.
TEST(ResidentFunction, passes_of_types)
{
  SwitchTable table(3);
  const int wide = table.add(Switch(options(SwitchKind::CUBIC, 1.0))),
            narrow = table.add(Switch(options(SwitchKind::CUBIC, 0.8))),
            other = table.add(Switch(options(SwitchKind::TANH, 0.9)));
  table.set(1, 1, wide);
  table.set(1, 2, narrow);
  table.set(2, 3, other);
  table.set(3, 3, wide);
  std::vector<double> weight(16, 1.0);
  weight[table.index(1, 2)] = weight[table.index(2, 1)] = -0.7;
  const double jump = jump_of(table.functions()[other], Precision::MIXED);
  for (const bool two : {false, true})
    for (const auto &[n, density] :
         {std::tuple(FEW_ATOMS, 12.0), {MANY_ATOMS, 12.0}, {MANY_ATOMS, CROWD}})
      check_passes(table, System(n, n / 3, density, 37, 0.8, 0.7), two, selection(two, 0.2), 1.0,
                   "types", weight.data(), jump);
}

// Lists of the caller, and rows in blocks.
TEST(ResidentFunction, passes_of_neighbor_lists)
{
  const Switch functions[] = {Switch(options(SwitchKind::CUBIC, 1.0)),
                              Switch(options(SwitchKind::EXP, 1.0))};
  for (const Switch &function : functions)
    for (const int n : {1000, 150001}) {
      System s(n, n / 10, 6.0, 5, 1.0, 0.0, -15.0);
      sort_in_cells(s, 0.6);
      constexpr int CAPACITY = 80;
      const HostList list(s, 1.2, 1, n, CAPACITY);
      const OnGpu<int> neighbor(list.neighbor), count(list.count);
      DeviceSelection chosen = selection(false, 0.2);
      chosen.neighbors = {neighbor.data(), count.data(), 1, n, CAPACITY};
      check_passes(function, s, false, chosen, 1.0, "neighbor list", nullptr,
                   jump_of(function, Precision::MIXED));
    }
}

// The largest float is 3.4e38.
TEST(ResidentFunction, weights_may_be_of_any_size)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  for (const double size : {1e-200, 1e-30, 1e30, 1e200})
    for (const double density : {12.0, CROWD})
      check_passes(function, System(MANY_ATOMS, 2000, density, 3), false, selection(false, 0.2),
                   size, "weights of " + std::to_string(std::log10(size)));
}

// Two variables that share pairs and positions. The weights of one are stored next to the
// positions, in place of the class, until the other one stores its own.
TEST(ResidentFunction, variables_share_pairs)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  const System s(MANY_ATOMS, 5000, 12.0, 21);
  const Loaded loaded(s, false);
  const OnGpu<double> s_on_gpu(std::vector<double>(s.nlocal, 0.0));
  const RandomWeights weights[2] = {RandomWeights(s, 1.0, 1), RandomWeights(s, 3.0, 2)};
  const OnGpu<double> given[2] = {OnGpu<double>(weights[0].all_weights),
                                  OnGpu<double>(weights[1].all_weights)};
  for (const Precision precision : PRECISIONS) {
    const auto pairs = make_resident_pairs(function, precision, nullptr);
    std::unique_ptr<ResidentCoordination> shared[2], alone[2];
    for (int k = 0; k < 2; ++k) {
      shared[k] = make_resident_coordination(function, precision, pairs);
      alone[k] = make(function, precision);
      shared[k]->rebuild(loaded.atoms, selection(false, 0.2), 1, nullptr);
      alone[k]->rebuild(loaded.atoms, selection(false, 0.2), 1, nullptr);
    }
    const auto peratom = [&](ResidentCoordination &device) {
      std::vector<double> columns(4 * static_cast<std::size_t>(s.nlocal), 0.0);
      device.peratom(columns.data(), nullptr);
      return columns;
    };
    const auto weighted = [&](ResidentCoordination &device, int k) {
      device.evaluate_first(loaded.atoms, 1, s_on_gpu.data(), nullptr);
      device.evaluate_second({DERIVATIVES}, {given[k].data(), nullptr, 1.0}, nullptr);
      return peratom(device);
    };
    const auto plain = [&](ResidentCoordination &device) {
      device.evaluate(loaded.atoms, {DERIVATIVES, false, 1}, nullptr);
      return peratom(device);
    };
    for (const int k : {0, 1, 0}) {
      EXPECT_EQ(weighted(*shared[k], k), weighted(*alone[k], k));
      EXPECT_EQ(plain(*shared[1 - k]), plain(*alone[1 - k]));
    }
    EXPECT_NE(weighted(*shared[0], 0), weighted(*shared[1], 1));
  }
}

namespace {

// mask: in device memory
void set_numbers(ResidentFunction &function, const std::vector<double> &s, int nall,
                 const int *mask = nullptr)
{
  DeviceAtoms atoms;
  atoms.nlocal = static_cast<int>(s.size());
  atoms.nall = nall;
  atoms.mask = mask;
  function.select(atoms, 2, nullptr);
  cudaMemcpy(function.s(), s.data(), s.size() * sizeof(double), cudaMemcpyHostToDevice);
}

std::vector<double> dSds_of(ResidentFunction &function, int n)
{
  std::vector<double> dSds(n);
  cudaMemcpy(dSds.data(), function.dSds(), n * sizeof(double), cudaMemcpyDeviceToHost);
  return dSds;
}

std::vector<AtomFunctionOptions> functions_of_atoms()
{
  std::vector<AtomFunctionOptions> all(1);
  for (const auto kind : {AtomFunctionKind::MORE_THAN, AtomFunctionKind::LESS_THAN})
    for (const auto sigma : {SwitchKind::RATIONAL, SwitchKind::EXP, SwitchKind::GAUSSIAN,
                             SwitchKind::SMAP, SwitchKind::CUBIC, SwitchKind::TANH,
                             SwitchKind::COSINUS, SwitchKind::CUSTOM, SwitchKind::Q}) {
      AtomFunctionOptions o;
      o.kind = kind;
      o.sigma = options(sigma, SwitchOptions::NOT_GIVEN);
      o.sigma.d0 = 2.0;
      o.sigma.r0 = 5.0;
      if (sigma == SwitchKind::SMAP) o.sigma.a = 8, o.sigma.b = 4;
      if (sigma == SwitchKind::CUBIC) o.sigma.dmax = 9.0, o.sigma.r0 = SwitchOptions::NOT_GIVEN;
      if (sigma == SwitchKind::CUSTOM) o.sigma.expression = "1/(1+x^6)";
      if (sigma == SwitchKind::Q) {
        o.sigma.r0 = SwitchOptions::NOT_GIVEN;
        o.sigma.ref = 4.0;
        o.sigma.beta = 2.0;
      }
      all.push_back(o);
    }
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::BETWEEN;
  o.a = 3.0;
  o.b = 6.0;
  all.push_back(o);
  o = AtomFunctionOptions();
  o.kind = AtomFunctionKind::CUSTOM;
  o.expression = "s^2*exp(-s/3)";
  all.push_back(o);
  return all;
}

}    // namespace

TEST(ResidentFunction, functions_equal_those_of_the_host)
{
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(0.0, 12.0);
  for (const AtomFunctionOptions &o : functions_of_atoms()) {
    AtomFunction host(o);
    const auto device = make_resident_function(o, Precision::DOUBLE);
    for (const int n : {0, 1, 255, 257, 3000, 400000})
      for (const bool selects : {false, true}) {
        std::vector<double> s, s_of_selected;
        std::vector<int> mask, selected;
        for (int k = 0; k < n; ++k) {
          s.push_back(random() % 5 ? u(random) : static_cast<int>(random() % 3));
          mask.push_back(selects ? 1 + 2 * (random() % 2) : 3);
          if (!(mask[k] & 2)) continue;
          selected.push_back(k);
          s_of_selected.push_back(s[k]);
        }
        std::vector<double> f(selected.size()), dSds(selected.size());
        const double expected = host.evaluate(
                                        static_cast<std::int64_t>(selected.size()),
                                        s_of_selected.data(), f.data(), dSds.data(),
                                        [](double *, int, AtomFunction::Reduction) {
                                        },
                                        2)
                                    .value;
        mask.push_back(0);    // an array must not be empty
        const OnGpu<int> mask_on_gpu(mask);
        set_numbers(*device, s, n, selects ? mask_on_gpu.data() : nullptr);
        mask_on_gpu.set(std::vector<int>(mask.size(), 0));    // select() has copied the masks
        device->evaluate(nullptr);
        const auto result = device->result();
        EXPECT_EQ(result.bad, -1);
        EXPECT_NEAR(result.value, expected, 1e-12 * std::max(1.0, std::fabs(expected)))
            << host.description();
        std::vector<double> found_s(n + 1), found_f(n + 1), all_f(n + 1, 0.0), all_dSds(n + 1, 0.0);
        device->copy_numbers(found_s.data(), found_f.data(), nullptr);
        const auto found_dSds = dSds_of(*device, n);
        for (std::size_t k = 0; k < selected.size(); ++k) {
          all_f[selected[k]] = f[k];
          all_dSds[selected[k]] = dSds[k];
        }
        for (int k = 0; k < n; ++k) {
          ASSERT_EQ(found_s[k], s[k]);
          ASSERT_NEAR(found_f[k], all_f[k], 1e-13 * std::max(1.0, std::fabs(all_f[k])))
              << host.description() << " at " << s[k];
          ASSERT_NEAR(found_dSds[k], all_dSds[k], 1e-13 * std::max(1.0, std::fabs(all_dSds[k])))
              << host.description() << " at " << s[k];
        }
      }
  }
}

TEST(ResidentFunction, weights_and_their_gradients_equal_those_of_the_host)
{
  constexpr int N = 3001;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(0.0, 12.0);
  std::vector<double> s, w, gradient;
  for (int k = 0; k < N; ++k) {
    s.push_back(u(random));
    w.push_back(k % 7 ? u(random) : 0.0);
    for (int c = 0; c < 3; ++c) gradient.push_back(u(random) - 6.0);
  }
  const OnGpu<double> w_on_gpu(w), gradient_on_gpu(gradient);
  for (const AtomFunctionOptions &o : functions_of_atoms()) {
    AtomFunction host(o);
    std::vector<double> f(N), dSds(N);
    const double expected = host.evaluate(N, s.data(), f.data(), dSds.data(),
                                          [](double *, int, AtomFunction::Reduction) {
                                          },
                                          2, {w.data(), gradient.data()})
                                .value;
    const auto device = make_resident_function(o, Precision::DOUBLE);
    set_numbers(*device, s, N);
    device->set_weights({w_on_gpu.data(), gradient_on_gpu.data()});
    device->evaluate(nullptr);
    EXPECT_NEAR(device->result().value, expected, 1e-12 * std::max(1.0, std::fabs(expected)))
        << host.description();
    const auto found = dSds_of(*device, N);
    std::vector<double> peratom(4 * N, 0.0);
    gpucoord::add_weight_gradients(N, nullptr, f.data(), {w.data(), gradient.data()}, 4,
                                   peratom.data());
    for (const bool is_float : {false, true}) {
      OnGpu<double> forces(std::vector<double>(3 * N, 1.0));
      OnGpu<float> floats(std::vector<float>(3 * N, 1.0f));
      const OnGpu<double> two(std::vector<double>(1, 2.0));
      gpucoord::DeviceForces to;
      to.f = is_float ? static_cast<void *>(floats.data()) : forces.data();
      to.is_float = is_float;
      device->add_forces(to, {0.5, two.data()}, 0.0, nullptr, nullptr);
      std::vector<double> sums(3 * N);
      std::vector<float> float_sums(3 * N);
      cudaMemcpy(sums.data(), forces.data(), sums.size() * sizeof(double), cudaMemcpyDeviceToHost);
      cudaMemcpy(float_sums.data(), floats.data(), sums.size() * sizeof(float),
                 cudaMemcpyDeviceToHost);
      for (int k = 0; k < N; ++k) {
        ASSERT_NEAR(found[k], dSds[k], 1e-13 * std::max(1.0, std::fabs(dSds[k])));
        for (int c = 0; c < 3; ++c) {
          const double sum = is_float ? float_sums[3 * k + c] : sums[3 * k + c];
          const double force = 1.0 - peratom[4 * k + 1 + c];
          ASSERT_NEAR(sum, force, (is_float ? 1e-6 : 1e-13) * std::max(1.0, std::fabs(force)));
        }
      }
    }
  }
}

// Atoms of which two of three are selected, more than threads, in slabs of a tilted box and in a
// ball: weights, sums, and forces of a mean, also with the mean and the center on the GPU.
TEST(ResidentFunction, weights_in_a_region_equal_those_of_the_host)
{
  constexpr int N = 270001;
  std::mt19937 random(6);
  std::uniform_real_distribution<double> u(0.0, 6.0);
  std::vector<double> s, x;
  std::vector<int> mask, rows;
  for (int k = 0; k < N; ++k) {
    s.push_back(u(random));
    for (int c = 0; c < 3; ++c) x.push_back(static_cast<float>(u(random)));
    mask.push_back(k % 3 ? 2 : 4);
    if (k % 3) rows.push_back(k);
  }
  const std::vector<float> x_float(x.begin(), x.end());
  const OnGpu<double> x_on_gpu(x);
  const OnGpu<float> x_float_on_gpu(x_float);
  const OnGpu<int> mask_on_gpu(mask);
  const RegionBox box = {
      {0.5, -1.0, 0.0}, {{6.0, 0.0, 0.0}, {2.0, 6.5, 0.0}, {-1.0, 1.5, 7.0}}, {true, true, false}};
  const double center[3] = {1.0, 5.0, 3.0}, mean = 1.7;
  const OnGpu<double> center_on_gpu(std::vector<double>(center, center + 3)),
      mean_on_gpu(std::vector<double>(1, mean));
  using Kind = RegionOptions::Kind;
  const auto n = static_cast<std::int64_t>(rows.size());
  for (const RegionOptions &options :
       {RegionOptions{Kind::X, -1.0, 2.0, 0.4}, RegionOptions{Kind::Y, 1.0, 1.5, 0.3},
        RegionOptions{Kind::Z, 2.0, 9.0, 0.2}, RegionOptions{Kind::R, 0.0, 2.0, 0.1}})
    for (const bool is_float : {false, true}) {
      const SmoothRegion region = make_region(options, box, center);
      std::vector<double> w(n), gradient(3 * n), strain(6 * n);
      evaluate_region(region, n, rows.data(), x.data(), {w.data(), gradient.data(), strain.data()},
                      2);
      DeviceAtoms atoms;
      atoms.x = is_float ? static_cast<const void *>(x_float_on_gpu.data()) : x_on_gpu.data();
      atoms.x_is_float = is_float;
      atoms.mask = mask_on_gpu.data();
      atoms.nlocal = atoms.nall = N;
      const auto device = make_resident_function({}, Precision::DOUBLE);
      device->select(atoms, 2, nullptr);
      cudaMemcpy(device->s(), s.data(), N * sizeof(double), cudaMemcpyHostToDevice);
      SmoothRegion on_device = region;
      if (is_float && options.kind == Kind::R) {
        std::fill_n(on_device.center, 3, NAN);
        on_device.center_on_device = center_on_gpu.data();
      }
      device->set_region(on_device, atoms, nullptr);
      device->evaluate(nullptr);
      const auto found_w = dSds_of(*device, N);    // f = s
      const auto sums = device->region_sums(nullptr);
      long double expected[14] = {}, gradients[3] = {}, f_gradients[3] = {};
      std::vector<double> forces(3 * N, 1.0);
      for (int k = 0; k < n; ++k) {
        const int row = rows[k];
        ASSERT_NEAR(found_w[row], w[k], 1e-13) << row;
        expected[0] += w[k];
        expected[13] += w[k] * s[row];
        for (int c = 0; c < 6; ++c) {
          expected[1 + c] += strain[6 * k + c];
          expected[7 + c] += s[row] * strain[6 * k + c];
        }
        for (int c = 0; c < 3; ++c) {
          gradients[c] += gradient[3 * k + c];
          f_gradients[c] += s[row] * gradient[3 * k + c];
          forces[3 * row + c] -= 0.5 * (s[row] - mean) * gradient[3 * k + c];
        }
      }
      const double limit = 1e-12 * N;
      EXPECT_GT(expected[0], 1.0);
      EXPECT_NEAR(sums.w, expected[0], limit);
      EXPECT_NEAR(device->result().value, expected[13], limit);
      for (int c = 0; c < 6; ++c) {
        EXPECT_NEAR(sums.strain[c], expected[1 + c], 10.0 * limit);
        EXPECT_NEAR(sums.f_strain[c], expected[7 + c], 10.0 * limit);
      }
      double means[2];
      cudaMemcpy(means, device->mean(), sizeof(means), cudaMemcpyDeviceToHost);
      EXPECT_NEAR(means[0], expected[13] / expected[0], 1e-12);
      EXPECT_NEAR(means[1] * expected[0], 1.0, 1e-12);
      for (int row = 0; row < N; row += 3) ASSERT_EQ(found_w[row], 0.0);
      OnGpu<double> found(std::vector<double>(3 * N, 1.0));
      device->add_forces({found.data()}, {0.5}, is_float ? NAN : mean,
                         is_float ? mean_on_gpu.data() : nullptr, nullptr);
      const auto found_forces = found.get();
      for (int k = 0; k < 3 * N; ++k) ASSERT_NEAR(found_forces[k], forces[k], 1e-12);
      double of_center[3];
      cudaMemcpy(of_center, device->center_factors(), sizeof(of_center), cudaMemcpyDeviceToHost);
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(sums.gradient[c], gradients[c], limit);
        EXPECT_NEAR(sums.f_gradient[c], f_gradients[c], 10.0 * limit);
        if (on_device.center_on_device)
          EXPECT_NEAR(of_center[c], 0.5 * (mean * gradients[c] - f_gradients[c]), 10.0 * limit);
      }
    }
}

TEST(ResidentFunction, equal_sums_have_equal_bits)
{
  std::vector<double> s;
  for (int k = 0; k < 500000; ++k) s.push_back(std::sin(k) + 1.0);
  const auto device = make_resident_function({}, Precision::DOUBLE);
  set_numbers(*device, s, static_cast<int>(s.size()));
  double first = 0.0;
  for (int turn = 0; turn < 5; ++turn) {
    device->evaluate(nullptr);
    const double value = device->result().value;
    if (turn == 0) first = value;
    EXPECT_EQ(value, first);
  }
}

TEST(ResidentFunction, names_the_first_atom_without_a_finite_value)
{
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::CUSTOM;
  o.expression = "1/(s-2)";
  const auto device = make_resident_function(o, Precision::DOUBLE);
  std::vector<double> s(10000, 1.0);
  std::vector<int> mask(s.size(), 2);
  mask[100] = 1;
  const OnGpu<int> mask_on_gpu(mask);
  const auto evaluate = [&] {
    set_numbers(*device, s, static_cast<int>(s.size()), mask_on_gpu.data());
    device->evaluate(nullptr);
    return device->result();
  };
  s[100] = s[777] = s[778] = s[9000] = 2.0;
  const auto bad = evaluate();
  EXPECT_EQ(bad.bad, 777);
  EXPECT_EQ(bad.s_of_bad, 2.0);
  EXPECT_TRUE(std::isnan(bad.value));
  s[777] = s[778] = s[9000] = 1.0;
  const auto result = evaluate();
  EXPECT_EQ(result.bad, -1);
  EXPECT_DOUBLE_EQ(result.value, -9999.0);
}

// Ghosts as in LAMMPS' communication: packed by lists, and unpacked one after the other.
TEST(ResidentFunction, sends_weights_to_ghosts)
{
  const auto device = make_resident_function({}, Precision::DOUBLE);
  std::vector<double> s(1000);
  std::iota(s.begin(), s.end(), 0.5);
  set_numbers(*device, s, 1500);
  const std::vector<int> first = {5, 999, 0}, second = {1001, 7};    // owned atoms and a ghost
  const OnGpu<int> first_on_gpu(first), second_on_gpu(second);
  const OnGpu<double> buffer(std::vector<double>(3, 0.0));
  const auto send = [&] {
    device->pack(first_on_gpu.data(), 3, buffer.data(), nullptr);
    device->unpack(buffer.data(), 3, 1000, nullptr);
    device->pack(second_on_gpu.data(), 2, buffer.data(), nullptr);
    device->unpack(buffer.data(), 2, 1003, nullptr);
  };
  device->find_owners(send, nullptr);
  std::vector<int> owners(1005);
  cudaMemcpy(owners.data(), device->owners(), owners.size() * sizeof(int), cudaMemcpyDeviceToHost);
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(owners[k], k);
  const std::vector<int> expected = {5, 999, 0, 999, 7};
  std::vector<double> given(1500, 0.25), found(1500);
  device->set_numbers(given.data(), nullptr);
  device->get_numbers(found.data(), nullptr);
  EXPECT_EQ(found, given);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(owners[1000 + k], expected[k]);
}

// ResidentFunction does not scale weights.
TEST(ResidentFunction, derivatives_must_fit_the_precision)
{
  AtomFunctionOptions o;
  o.kind = AtomFunctionKind::CUSTOM;
  o.expression = "1e31*s";
  for (const Precision precision : PRECISIONS) {
    const auto device = make_resident_function(o, precision);
    set_numbers(*device, {1.0, 2.0}, 2);
    device->evaluate(nullptr);
    const auto result = device->result();
    EXPECT_EQ(result.bad, precision == Precision::DOUBLE ? -1 : 0);
    EXPECT_EQ(result.dSds_of_bad, precision == Precision::DOUBLE ? 0.0 : 1e31);
  }
}

TEST(ResidentFunction, refuses_functions_that_only_the_host_can_evaluate)
{
  AtomFunctionOptions highest, deep, deep_sigma;
  highest.kind = AtomFunctionKind::MAX;
  highest.beta = 0.1;
  deep.kind = AtomFunctionKind::CUSTOM;
  deep.expression = "s";
  deep_sigma.kind = AtomFunctionKind::MORE_THAN;
  deep_sigma.sigma.kind = SwitchKind::CUSTOM;
  deep_sigma.sigma.r0 = 5.0;
  deep_sigma.sigma.expression = "x";
  for (int k = 0; k < 40; ++k) {    // more numbers than the stack of the GPU has
    deep.expression = "sin(s)+s*(" + deep.expression + ")";
    deep_sigma.sigma.expression = "exp(-x)+x*(" + deep_sigma.sigma.expression + ")";
  }
  for (const AtomFunctionOptions &o : {highest, deep, deep_sigma}) {
    EXPECT_FALSE(can_be_resident(o));
    try {
      make_resident_function(o, Precision::DOUBLE);
      FAIL() << "no error";
    } catch (const std::invalid_argument &e) {
      EXPECT_EQ(e.what(),
                "function " + AtomFunction(o).description() + " is only supported on the host");
    }
  }
  for (const AtomFunctionOptions &o : functions_of_atoms()) EXPECT_TRUE(can_be_resident(o));
}
