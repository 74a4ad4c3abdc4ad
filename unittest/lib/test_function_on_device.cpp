// Part of GPUCOORD, GPL-2.0. Functions of coordination numbers that the CUDA backend evaluates for
// atoms of host arrays, compared with the host backend in double.

#include "cuda_and_host.h"
#include "engines.h"
#include "gpu_tests.h"
#include "switch_cases.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/coordination.h"
#include "gpucoord/resident_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using gpucoord::AtomFunction;
using gpucoord::AtomFunctionKind;
using gpucoord::AtomFunctionOptions;
using gpucoord::DeviceFunction;
using gpucoord::SecondPass;
using gpucoord::SwitchTable;

namespace {

// A periodic cube on one rank: owned atoms, then all images in reach.
class FunctionOnDevice : public testing::Test {
 protected:
  static constexpr int NTYPES = 2;
  static constexpr double EDGE = 8.0, RANGE = 1.3, SKIN = 0.2,
                          MARGIN = 1.5;    // beyond range, so that atoms may move

  FunctionOnDevice()
  {
    fill(4000);
    table.set(1, 1, table.add(Switch(rational(6, 12, 0.6, 0.0, RANGE))));
    table.set(1, 2, table.add(Switch(rational(6, 12, 0.5, 0.0, 1.2))));
  }

  void fill(int n)
  {
    positions.clear();
    shifts.clear();
    owner.clear();
    type.clear();
    std::uniform_real_distribution<double> u(0.0, EDGE);
    for (int k = 0; k < 3 * n; ++k) positions.push_back(u(random));
    nlocal = n;
    for (int k = 0; k < n; ++k) {
      owner.push_back(k);
      shifts.push_back({0.0, 0.0, 0.0});
    }
    const auto reaches = [](double x) {
      return x > -RANGE - MARGIN && x < EDGE + RANGE + MARGIN;
    };
    for (int k = 0; k < n; ++k)
      for (int image = 0; image < 27; ++image) {
        const std::array<double, 3> shift = {EDGE * (image % 3 - 1), EDGE * (image / 3 % 3 - 1),
                                             EDGE * (image / 9 - 1)};
        if (image == 13 || !reaches(positions[3 * k] + shift[0]) ||
            !reaches(positions[3 * k + 1] + shift[1]) || !reaches(positions[3 * k + 2] + shift[2]))
          continue;
        owner.push_back(k);
        shifts.push_back(shift);
      }
    for (const int k : owner) type.push_back(1 + k % NTYPES);
  }
  void move(double distance)
  {
    std::uniform_real_distribution<double> step(-distance / std::sqrt(3.0),
                                                distance / std::sqrt(3.0));
    for (double &v : positions) v += step(random);
  }

  // in_a, in_b: return whether an owned atom is in a group
  template <class InA, class InB>
  CellsInput input(bool two, bool typed, const InA &in_a, const InB &in_b)
  {
    x.clear();
    a.clear();
    b.clear();
    for (std::size_t k = 0; k < owner.size(); ++k) {
      for (int c = 0; c < 3; ++c) x.push_back(positions[3 * owner[k] + c] + shifts[k][c]);
      if (in_a(owner[k])) a.push_back(static_cast<int>(k));
      if (two && in_b(owner[k])) b.push_back(static_cast<int>(k));
    }
    const auto list = [this](std::vector<int> &index) {
      const int n = static_cast<int>(index.size());
      const auto is_owned = [this](int k) {
        return k < nlocal;
      };
      const int nowned = static_cast<int>(std::count_if(index.begin(), index.end(), is_owned));
      index.push_back(0);    // never null
      return gpucoord::AtomList{index.data(), n, nowned};
    };
    CellsInput in;
    in.x = x.data();
    in.a = list(a);
    if (two) in.b = list(b);
    if (typed) in.types.type = type.data();
    return in;
  }

  struct Found {
    Result sums;
    std::vector<double> s, f;
    int ncalls = 0;    // number of calls of weights()
  };
  Found evaluate(Coordination &backend, CellsInput in, unsigned want,
                 const AtomFunctionOptions &options, DeviceFunction *on_device)
  {
    Found found;
    found.s.assign(nlocal + 1, 0.0);
    found.f.assign(in.a.nowned + 1, 0.0);
    AtomFunction function(options);
    std::vector<double> s_of_a(in.a.nowned + 1), dSds(in.a.nowned + 1), weights(owner.size() + 1);
    std::vector<double> w;    // of atoms
    for (int k = 0; k < in.a.nowned && is_weighted; ++k) w.push_back(0.1 * (k % 11));
    w.push_back(0.0);    // never null
    double value = 0.0;
    SecondPass second;
    second.s = found.s.data();
    second.nweights = static_cast<std::int64_t>(owner.size());
    second.weights = [&]() -> const double * {
      ++found.ncalls;
      for (int k = 0; k < in.a.nowned; ++k) s_of_a[k] = found.s[a[k]];
      const auto no_other_ranks = [](double *, int, AtomFunction::Reduction) {
      };
      value = function
                  .evaluate(in.a.nowned, s_of_a.data(), found.f.data(), dSds.data(), no_other_ranks,
                            1, {is_weighted ? w.data() : nullptr})
                  .value;
      if (!(want & (DERIVATIVES | VIRIAL))) return nullptr;
      for (int k = 0; k < in.a.nowned; ++k) weights[a[k]] = dSds[k];
      for (std::size_t k = nlocal; k < owner.size(); ++k) weights[k] = weights[owner[k]];
      return weights.data();
    };
    if (on_device) {
      on_device->owner = owner.data();
      on_device->f = found.f.data();
      on_device->w = is_weighted ? w.data() : nullptr;
      second.on_device = on_device;
    }
    in.second = &second;
    found.sums = run_input(backend, in, nlocal, want);
    if (found.ncalls > 0) found.sums.sum.value = value;
    return found;
  }

  void expect_host(bool two, bool typed, std::int64_t version, Precision precision, unsigned want,
                   const AtomFunctionOptions &options, const std::string &what, int members = 0)
  {
    CellsInput in = input(
        two, typed,
        [members](int k) {
          return (k + members) % 5 > 0;
        },
        [members](int k) {
          return (k + members) % 3 > 0;
        });
    const SwitchTable &functions = typed ? table : plain;
    Evaluator &cuda = evaluators[{two, typed, precision, options.kind}];
    if (!cuda.backend) {
      cuda.backend = gpucoord::make_cuda_coordination(functions, precision, 0, 2);
      cuda.function.options = options;
    }
    const auto host = gpucoord::make_host_coordination(functions, Precision::DOUBLE, 2);
    const Found expected = evaluate(*host, in, want, options, nullptr);
    in.version = version;
    in.skin = version ? SKIN : 0.0;
    const Found found = evaluate(*cuda.backend, in, want, options, &cuda.function);
    EXPECT_TRUE(cuda.function.is_evaluated) << what;
    EXPECT_EQ(found.ncalls, 0) << what;
    expect_near(found, expected, want, precision == Precision::DOUBLE ? 1e-12 : 1e-5, what);
  }

  static void expect_near(const Found &found, const Found &expected, unsigned want, double rounding,
                          const std::string &what)
  {
    const auto near = [&](const double *found_values, const double *expected_values, std::size_t n,
                          std::size_t stride, const std::string &numbers) {
      double largest = 1e-3, worst = 0.0;
      for (std::size_t k = 0; k < n; k += stride) {
        const double difference = std::fabs(found_values[k] - expected_values[k]);
        largest = std::max(largest, std::fabs(expected_values[k]));
        if (!(difference <= worst)) worst = difference;    // also true for NaN
      }
      EXPECT_LE(worst, rounding * largest) << what << ": " << numbers;
    };
    near(&found.sums.sum.value, &expected.sums.sum.value, 1, 1, "S");
    near(found.sums.sum.virial, expected.sums.sum.virial, 6, 1, "W");
    near(found.f.data(), expected.f.data(), expected.f.size(), 1, "f");
    const std::size_t n = expected.sums.peratom.size(), columns = peratom_columns(want);
    ASSERT_EQ(found.sums.peratom.size(), n);
    for (std::size_t c = 0; c < columns && n > 0; ++c)
      near(&found.sums.peratom[c], &expected.sums.peratom[c], n - c, columns,
           "column " + std::to_string(c + 1));
  }

  static AtomFunctionOptions custom(const std::string &expression)
  {
    AtomFunctionOptions options;
    options.kind = AtomFunctionKind::CUSTOM;
    options.expression = expression;
    return options;
  }
  static AtomFunctionOptions more_than(double r0)
  {
    AtomFunctionOptions options;
    options.kind = AtomFunctionKind::MORE_THAN;
    options.sigma.r0 = r0;
    return options;
  }

  struct Evaluator {
    std::unique_ptr<Coordination> backend;
    DeviceFunction function;
  };
  std::mt19937_64 random{71};
  int nlocal = 0;
  bool is_weighted = false;    // atoms have factors in S
  std::vector<double> positions, x;
  std::vector<std::array<double, 3>> shifts;    // from the owner to its image
  std::vector<int> owner, type, a, b;
  SwitchTable table{NTYPES};    // types 2 and 2 do not interact
  const SwitchTable plain = SwitchTable(Switch(rational(6, 12, 0.6, 0.0, RANGE)));
  std::map<std::tuple<bool, bool, Precision, AtomFunctionKind>, Evaluator> evaluators;
};

constexpr unsigned ALL_WANTS[] = {VALUE, DERIVATIVES, VIRIAL, DERIVATIVES | VIRIAL, EVERYTHING};

}    // namespace

TEST_F(FunctionOnDevice, equals_the_host_for_groups_types_and_outputs)
{
  for (const Precision precision : {Precision::DOUBLE, Precision::MIXED})
    for (const bool two : {false, true})
      for (const bool typed : {false, true})
        for (const std::int64_t version : {0, 1})
          for (const unsigned want : ALL_WANTS)
            expect_host(two, typed, version, precision, want, more_than(3.0),
                        std::string(two ? "two groups" : "one group") + (typed ? ", types" : "") +
                            (version ? ", kept, " : ", ") + name_of(precision) + ", want " +
                            std::to_string(want));
}

TEST_F(FunctionOnDevice, equals_the_host_while_atoms_move_within_the_skin_and_beyond)
{
  for (const double distance : {0.0, 0.04, 0.5, 0.04}) {
    move(distance);
    for (const bool two : {false, true})
      expect_host(two, false, 1, Precision::DOUBLE, EVERYTHING, custom("s^2*exp(-s/3)"),
                  "moved by up to " + std::to_string(distance));
  }
}

TEST_F(FunctionOnDevice, takes_weights_of_atoms)
{
  for (const bool weighted : {true, false, true})
    for (const bool two : {false, true}) {
      is_weighted = weighted;
      expect_host(two, false, 1, Precision::DOUBLE, EVERYTHING, more_than(3.0),
                  weighted ? "weights" : "no weights");
    }
}

TEST_F(FunctionOnDevice, equals_the_host_for_other_atoms)
{
  std::int64_t version = 1;
  const auto check = [&](int members, const std::string &what) {
    for (const bool two : {false, true})
      expect_host(two, true, version, Precision::MIXED, EVERYTHING, more_than(2.0), what, members);
    ++version;
  };
  for (const int n : {4000, 700, 1, 0, 6000}) {
    fill(n);
    check(0, std::to_string(n) + " atoms");
  }
  check(1, "as many other atoms in the groups");    // 6000 is a multiple of 15
  fill(6000);
  check(1, "as many atoms elsewhere");
}

TEST_F(FunctionOnDevice, equals_the_host_after_a_bad_value)
{
  const auto all = [](int) {
    return true;
  };
  const auto options = custom("log(s)");
  const auto cuda = gpucoord::make_cuda_coordination(plain, Precision::DOUBLE, 0, 2);
  const auto host = gpucoord::make_host_coordination(plain, Precision::DOUBLE, 2);
  DeviceFunction on_device;
  on_device.options = options;
  for (const int n : {1, 4000, 1}) {    // s of one atom is 0
    fill(n);
    CellsInput in = input(false, false, all, all);
    const Found expected = evaluate(*host, in, EVERYTHING, options, nullptr);
    const Found found = evaluate(*cuda, in, EVERYTHING, options, &on_device);
    EXPECT_EQ(on_device.is_evaluated, n > 1);
    EXPECT_EQ(found.ncalls, n > 1 ? 0 : 1);
    if (n > 1) expect_near(found, expected, EVERYTHING, 1e-12, "after a bad value");
  }
}

// An atom whose owner is not in the group has no weight.
TEST_F(FunctionOnDevice, leaves_atoms_without_owners_to_the_caller)
{
  const auto options = more_than(3.0);
  const auto cuda = gpucoord::make_cuda_coordination(plain, Precision::DOUBLE, 0, 2);
  const auto host = gpucoord::make_host_coordination(plain, Precision::DOUBLE, 2);
  DeviceFunction on_device;
  on_device.options = options;
  for (const int missing : {0, nlocal - 1}) {
    CellsInput in = input(
        false, false,
        [](int) {
          return true;
        },
        [](int) {
          return false;
        });
    a.erase(a.begin() + missing);    // not its images
    in.a = {a.data(), in.a.n - 1, in.a.nowned - 1};
    const Found expected = evaluate(*host, in, DERIVATIVES, options, nullptr);
    const Found found = evaluate(*cuda, in, DERIVATIVES, options, &on_device);
    EXPECT_FALSE(on_device.is_evaluated);
    EXPECT_EQ(found.ncalls, 1);
    expect_near(found, expected, DERIVATIVES, 1e-12, "an atom without owner");
  }
}

// The host then finds the atom for its error, and divides large weights by a unit.
TEST_F(FunctionOnDevice, leaves_bad_and_steep_functions_to_the_caller)
{
  const auto all = [](int) {
    return true;
  };
  for (const auto &[expression, precision, is_evaluated] :
       {std::tuple("1/(s-s)", Precision::DOUBLE, false),
        {"1e35*s", Precision::MIXED, false},
        {"1e35*s", Precision::DOUBLE, true}}) {
    const CellsInput in = input(false, false, all, all);
    const auto options = custom(expression);
    const auto cuda = gpucoord::make_cuda_coordination(plain, precision, 0, 2);
    DeviceFunction on_device;
    on_device.options = options;
    const Found found = evaluate(*cuda, in, EVERYTHING, options, &on_device);
    EXPECT_EQ(on_device.is_evaluated, is_evaluated) << expression;
    EXPECT_EQ(found.ncalls, is_evaluated ? 0 : 1) << expression;
    if (std::string(expression) == "1/(s-s)") continue;
    const auto host = gpucoord::make_host_coordination(plain, Precision::DOUBLE, 2);
    expect_near(found, evaluate(*host, in, EVERYTHING, options, nullptr), EVERYTHING,
                precision == Precision::DOUBLE ? 1e-12 : 1e-5, expression);
  }
}
