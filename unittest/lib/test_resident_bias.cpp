// Part of GPUCOORD, GPL-2.0. Biases of variables on the GPU, compared with the host's biases.

#include "gpu_tests.h"
#include "resident_values.h"

#include "gpucoord/metadynamics.h"
#include "gpucoord/resident_bias.h"
#include "gpucoord/resident_expression.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

TEST(ResidentBias, restraints)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0));
  System s(2000, 0, 10.0, 43);
  Loaded loaded(s, false);
  const auto device = make(function, Precision::DOUBLE);
  device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
  const auto bias = make_resident_bias();
  ResidentBias::State state = {};
  state.bad_atom = -1;
  state.work = 0.5;
  const double scale = 1.0 / 2000;
  double s_before = state.s[0] = 3.0, work = state.work;
  bias->set(state, nullptr);
  for (int step = 0; step < 5; ++step) {
    s.move(0.02, step);
    loaded.x.set(s.x);
    device->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
    const double value = scale * on_host(function, s, false, VALUE).sums.value;
    DeviceTerms terms;
    terms.now.resize(4);
    terms.moves = true;
    const Restraint::Kind kinds[] = {Restraint::Kind::HARMONIC, Restraint::Kind::LINEAR,
                                     Restraint::Kind::UPPER_WALL, Restraint::Kind::LOWER_WALL};
    std::vector<DeviceValue> variables(4);
    double energy = 0.0, dVdS_of_all[4], dVdS;
    for (int v = 0; v < 4; ++v) {
      Restraint &term = terms.now[v];
      term.kind = kinds[v];
      term.k = 2.0 + step;
      term.s0 = value + (v == 2 ? -0.3 : 0.4) + 0.01 * step;
      term.exponent = 3.0;
      term.offset = 0.05;
      Restraint last = term;
      last.k -= 1.0;
      last.s0 -= 0.01;
      terms.last.push_back(last);
      variables[v] = device->device_value();
      variables[v].scale = scale;
      energy += term.evaluate(value, dVdS_of_all[v]);
      for (const double at : {step == 0 && v > 0 ? 0.0 : s_before, value})
        work += 0.5 * (term.evaluate(at, dVdS) - last.evaluate(at, dVdS));
    }
    const OnGpu<double> f(std::vector<double>(3 * s.nall, 0.0));
    bias->evaluate(variables, terms, 1.0, nullptr);
    device->add_forces({f.data(), false, 3, 1}, {2.0, bias->dVdS(0)}, nullptr);
    const auto forces = f.get();
    const Result derivatives = on_host(function, s, false, DERIVATIVES);
    const double maximum = 2.0 * std::fabs(dVdS_of_all[0]) * largest(derivatives.peratom, 4, 1, 4);
    for (int i = 0; i < s.nall; ++i)
      for (int c = 0; c < 3; ++c)
        ASSERT_NEAR(forces[3 * i + c], -2.0 * dVdS_of_all[0] * derivatives.peratom[4 * i + 1 + c],
                    1e-9 * maximum);
    state = bias->wait(nullptr);
    EXPECT_NEAR(state.s[0], value, 1e-12 * value);
    EXPECT_NEAR(state.energy, energy, 1e-9);
    EXPECT_NEAR(state.work, work, 1e-9);
    std::vector<double> on_device(4);
    cudaMemcpy(on_device.data(), bias->dVdS(0), 4 * sizeof(double), cudaMemcpyDeviceToHost);
    for (int v = 0; v < 4; ++v) {
      EXPECT_NEAR(state.dVdS[v], dVdS_of_all[v], 1e-9);
      EXPECT_EQ(on_device[v], state.dVdS[v]);
    }
    EXPECT_EQ(state.bad_atom, -1);
    s_before = value;
  }
}

// An expression of an expression and its own variables, all enqueued without a wait between them.
TEST(ResidentBias, expressions)
{
  const Switch function(options(SwitchKind::CUBIC, 1.0)), other(options(SwitchKind::RATIONAL, 0.8));
  const double scale_a = 1.0 / 2000, scale_b = 0.01;
  for (const int n : {40, 2000, 30000}) {
    const System s(n, 0, std::cbrt(n / 2.0), 43);
    const Loaded loaded(s, false);
    const auto a = make(function, Precision::DOUBLE), b = make(other, Precision::DOUBLE);
    const auto inner = make_resident_expression("a*b", {"a", "b"}),
               outer = make_resident_expression("u^2/10 - 3*b", {"u", "b"});
    const auto bias = make_resident_bias();
    ResidentBias::State state = {};
    state.bad_atom = -1;
    bias->set(state, nullptr);
    DeviceTerms terms;
    terms.now.resize(1);
    terms.now[0].k = 1e-3;
    terms.now[0].s0 = -2.0;
    terms.last = terms.now;
    const Result result_a = on_host(function, s, false, DERIVATIVES),
                 result_b = on_host(other, s, false, DERIVATIVES);
    const double va = scale_a * result_a.sums.value, vb = scale_b * result_b.sums.value,
                 u = va * vb;
    const double dVdS = terms.now[0].k * (u * u / 10 - 3 * vb - terms.now[0].s0);
    const double by_a = dVdS * u / 5 * vb * scale_a, by_b = dVdS * (u / 5 * va - 3) * scale_b;
    const OnGpu<double> f(std::vector<double>(3 * s.nall, 0.0));
    const DeviceForces forces = {f.data(), false, 3, 1};
    for (auto *const variable : {a.get(), b.get()})
      variable->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
    for (int fix = 0; fix < 2; ++fix) {    // the second one finds the values enqueued
      if (fix == 0) {
        a->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
        b->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
      }
      DeviceValue value_a = a->device_value(), value_b = b->device_value();
      value_a.scale = scale_a;
      value_b.scale = scale_b;
      if (fix == 0) {
        inner->evaluate({value_a, value_b}, nullptr);
        outer->evaluate({inner->device_value(), value_b}, nullptr);
      }
      bias->evaluate({outer->device_value()}, terms, 1.0, nullptr);
      outer->multiply({1.0, bias->dVdS(0)}, nullptr);
      inner->multiply({1.0, outer->product(0)}, nullptr);
      a->add_forces(forces, {scale_a, inner->product(0)}, nullptr);
      b->add_forces(forces, {scale_b, inner->product(1)}, nullptr);
      b->add_forces(forces, {scale_b, outer->product(1)}, nullptr);
    }
    const auto found = f.get();
    const double maximum = 2 *
        (std::fabs(by_a) * largest(result_a.peratom, 4, 1, 4) +
         std::fabs(by_b) * largest(result_b.peratom, 4, 1, 4));
    ASSERT_GT(maximum, 0.0);
    for (int i = 0; i < s.nall; ++i)
      for (int c = 0; c < 3; ++c)
        ASSERT_NEAR(
            found[3 * i + c],
            -2 * (by_a * result_a.peratom[4 * i + 1 + c] + by_b * result_b.peratom[4 * i + 1 + c]),
            1e-9 * maximum)
            << n << " atoms, " << i;
    state = bias->wait(nullptr);
    EXPECT_NEAR(state.dVdS[0], dVdS, 1e-10 * std::fabs(dVdS));
  }
}

namespace {

// A linear bias of one variable.
struct LinearBias {
  const Switch function{options(SwitchKind::CUBIC, 1.0)};
  const System s{500, 0, 10.0, 47};
  const Loaded loaded{s, false};
  const std::unique_ptr<ResidentCoordination> device = make(function, Precision::DOUBLE);
  const std::unique_ptr<ResidentBias> bias = make_resident_bias();
  ResidentBias::State state = {};
  std::vector<DeviceValue> variables{1};
  DeviceTerms terms;

  explicit LinearBias(double k)
  {
    device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
    state.bad_atom = -1;
    bias->set(state, nullptr);
    variables[0] = device->device_value();
    terms.now.resize(1);
    terms.now[0].kind = Restraint::Kind::LINEAR;
    terms.now[0].k = k;
    terms.last = terms.now;
  }

  void evaluate(double strength)
  {
    device->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
    bias->evaluate(variables, terms, strength, nullptr);
    state = bias->wait(nullptr);
  }

  double dVdS_on_device() const
  {
    double dVdS = -1.0;
    cudaMemcpy(&dVdS, bias->dVdS(0), sizeof(double), cudaMemcpyDeviceToHost);
    return dVdS;
  }
};

}    // namespace

// The host gets the non-finite bias for its message, and the atoms get no force.
TEST(ResidentBias, bias_that_is_not_finite)
{
  LinearBias linear(10.0);
  for (const double s0 : {0.0, -1e308, 0.0}) {
    linear.terms.now[0].s0 = s0;
    const bool finite = !linear.state.not_finite && s0 == 0.0;
    linear.evaluate(1.0);
    EXPECT_EQ(linear.state.not_finite, finite ? 0 : 1);
    EXPECT_EQ(std::isfinite(linear.state.energy), finite);
    EXPECT_EQ(linear.state.dVdS[0], 10.0);
    EXPECT_EQ(linear.dVdS_on_device(), finite ? 10.0 : 0.0);
  }
}

// V and dV/dS are finite, but a stride multiplies the forces of the bias by 'strength'.
TEST(ResidentBias, force_that_is_not_finite)
{
  LinearBias linear(1e305);
  linear.variables[0].scale = 1e-6;
  for (const double strength : {1e2, 1e4}) {
    const bool finite = strength == 1e2;
    linear.evaluate(strength);
    EXPECT_EQ(linear.state.not_finite, finite ? 0 : 1);
    EXPECT_TRUE(std::isfinite(linear.state.energy));
    EXPECT_EQ(linear.state.dVdS[0], 1e305);
    EXPECT_EQ(linear.dVdS_on_device(), finite ? 1e305 : 0.0);
  }
}

// S beyond the ends of its period, and across them from s0 and from hills.
TEST(ResidentBias, periodic_variables)
{
  constexpr double PI = 3.14159265358979323846;
  const Values values;
  MetadynamicsOptions o;
  o.names = {"phi", "d"};
  o.sigma = {0.6, 0.5};
  o.height = 1.0;
  o.period = {{-PI, 2.0 * PI}, {}};
  o.grid = {{-PI, PI, 60, true}, {-20.0, 20.0, 200}};
  Metadynamics metad(o);
  for (const double center : {3.1, -3.0, 2.7}) {
    const double at[2] = {center, 3.0};
    metad.add(metad.next_hill(at, 0.0));
  }
  const auto bias = make_resident_bias();
  for (const double phi : {3.13, -3.13, 3.2, -3.2, 3.1 + 4.0 * PI, 0.1}) {
    const auto variables = values.at({phi, 3.1});
    const double at[2] = {phi, 3.1};
    double dVdS[2];
    ResidentBias::State state = {};
    state.bad_atom = -1;
    bias->set(state, nullptr);
    DeviceTerms terms;
    terms.grid = {o.grid, {}, &metad.grid_values(), metad.nhills()};
    bias->evaluate(variables, terms, 1.0, nullptr);
    state = bias->wait(nullptr);
    EXPECT_NEAR(state.energy, metad.evaluate(at, dVdS), 1e-12);
    for (int v = 0; v < 2; ++v) EXPECT_NEAR(state.dVdS[v], dVdS[v], 1e-10);
    EXPECT_EQ(state.outside, 0);

    DeviceTerms restraints;
    restraints.now.resize(2);
    for (Restraint &term : restraints.now) term.k = 2.0;
    restraints.now[0].s0 = 3.1;
    restraints.now[0].period = 2.0 * PI;
    restraints.last = restraints.now;
    bias->evaluate(variables, restraints, 1.0, nullptr);
    state = bias->wait(nullptr);
    EXPECT_NEAR(state.energy,
                restraints.now[0].evaluate(phi, dVdS[0]) + restraints.now[1].evaluate(3.1, dVdS[1]),
                1e-12);
    for (int v = 0; v < 2; ++v) EXPECT_NEAR(state.dVdS[v], dVdS[v], 1e-12);
  }
}

TEST(ResidentBias, metadynamics_on_a_grid)
{
  const Values values;
  for (int n = 1; n <= 3; ++n)
    for (const bool with_interval : {false, true}) {
      MetadynamicsOptions o;
      double at[3], dVdS[3];
      for (int v = 0; v < n; ++v) {
        at[v] = 0.3 + 0.1 * v;
        o.names.push_back("v" + std::to_string(v));
        o.sigma.push_back(0.1);
        o.grid.push_back({-1.0, 1.0, 60});
        if (with_interval) o.interval.push_back({-0.5, v == 0 ? 0.25 : 0.9});
      }
      auto variables = values.at({at, at + n});
      o.height = 1.0;
      Metadynamics metad(o);
      std::mt19937 random(n);
      std::uniform_real_distribution<double> coordinate(0.1, 0.6);
      for (int h = 0; h < 20; ++h) {
        double center[3];
        for (double &c : center) c = coordinate(random);
        metad.add(metad.next_hill(center, 0.0));
      }
      const auto bias = make_resident_bias();
      ResidentBias::State state = {};
      state.bad_atom = -1;
      bias->set(state, nullptr);
      DeviceTerms terms;
      terms.grid = {o.grid, o.interval, &metad.grid_values(), metad.nhills()};
      const auto compare = [&] {
        bias->evaluate(variables, terms, 1.0, nullptr);
        state = bias->wait(nullptr);
        EXPECT_NEAR(state.energy, metad.evaluate(at, dVdS), 1e-12);
        for (int v = 0; v < n; ++v) EXPECT_NEAR(state.dVdS[v], dVdS[v], 1e-10);
        EXPECT_EQ(state.outside, 0);
      };
      compare();
      const double before = state.energy;
      metad.add(metad.next_hill(at, 0.0));
      terms.grid.version = metad.nhills();    // the grid is copied again
      compare();
      EXPECT_GT(state.energy, before + 0.1);
      variables[0] = values.at({5.0})[0];
      bias->evaluate(variables, terms, 1.0, nullptr);
      EXPECT_EQ(bias->wait(nullptr).outside, with_interval ? 0 : 1);
    }
}

// S leaves a grid, which then grows: V is 0 outside, and the larger grid is copied.
TEST(ResidentBias, metadynamics_on_a_grid_that_grows)
{
  const Values values;
  for (int n = 1; n <= 3; ++n) {
    MetadynamicsOptions o;
    o.names.assign(n, "v");
    o.sigma.assign(n, 0.1);
    o.height = 1.0;
    o.grid.assign(n, {-0.2, 0.2, 12});
    o.grow = true;
    Metadynamics metad(o);
    const auto bias = make_resident_bias();
    ResidentBias::State state = {};
    state.bad_atom = -1;
    bias->set(state, nullptr);
    // Evaluates at s of each variable. Returns V.
    const auto compare = [&](double at_all) {
      const std::vector<double> at(n, at_all);
      double dVdS[3];
      DeviceTerms terms;
      terms.grid = {metad.grid_axes(), {}, &metad.grid_values(), metad.nhills(), true};
      bias->evaluate(values.at(at), terms, 1.0, nullptr);
      state = bias->wait(nullptr);
      EXPECT_NEAR(state.energy, metad.evaluate(at.data(), dVdS), 1e-12);
      for (int v = 0; v < n; ++v) EXPECT_NEAR(state.dVdS[v], dVdS[v], 1e-10);
      EXPECT_EQ(state.outside, 0);
      return state.energy;
    };
    EXPECT_EQ(compare(0.1), 0.0);
    for (const double center : {0.0, 0.7, -0.5, 1.6}) {
      EXPECT_EQ(compare(center + (center > 0.0 ? 0.7 : -0.7)), 0.0);    // outside
      EXPECT_EQ(state.dVdS[0], 0.0);
      const double at[3] = {center, center, center};
      const std::size_t before = metad.grid_values().size();
      metad.add(metad.next_hill(at, 0.0));
      EXPECT_GT(metad.grid_values().size(), before);
      EXPECT_GT(compare(center + 0.03), 0.5);
      EXPECT_GT(compare(center - 0.13), 0.05);
    }
    EXPECT_EQ(compare(1e9), 0.0);
  }
}
