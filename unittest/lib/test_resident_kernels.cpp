// Part of GPUCOORD, GPL-2.0. The sum of kernels of OPES on the GPU, compared with the formula.

#include "gpu_tests.h"
#include "resident_values.h"

#include "gpucoord/resident_bias.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gpucoord;

namespace {

KernelSum sum_of(int n, KernelForm form)
{
  KernelSum sum;
  sum.nvariables = n;
  sum.form = form;
  sum.cutoff2 = 9.0;
  sum.end = std::exp(-4.5);
  sum.akt = 2.3;
  sum.epsilon = 1e-4;
  sum.inverse = 0.37;
  return sum;
}

std::vector<double> random_kernels(int n, int count, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> center(-1.0, 1.0), sigma(0.2, 0.5), height(0.1, 1.0);
  std::vector<double> rows;
  for (int k = 0; k < count; ++k) {
    rows.push_back(height(random));
    for (int v = 0; v < n; ++v) rows.push_back(center(random));
    for (int v = 0; v < n; ++v) rows.push_back(sigma(random));
  }
  return rows;
}

struct Reference {
  double v;
  std::vector<double> dVdS;
};

// The formulas of kernel_sum.h, written out.
Reference expected(const KernelSum &sum, const std::vector<double> &rows,
                   const std::vector<double> &s)
{
  const int n = sum.nvariables;
  double p = 0.0;
  std::vector<double> slope(n, 0.0);
  for (std::size_t at = 0; at < rows.size(); at += 1 + 2 * n) {
    double d = 0.0;
    std::vector<double> away(n);
    for (int v = 0; v < n; ++v) {
      away[v] = s[v] - rows[at + 1 + v];
      const double length = sum.period[v].length;
      while (length > 0.0 && away[v] > 0.5 * length) away[v] -= length;
      while (length > 0.0 && away[v] < -0.5 * length) away[v] += length;
      d += std::pow(away[v] / rows[at + 1 + n + v], 2);
    }
    if (d >= sum.cutoff2) continue;
    const double end = std::exp(-0.5 * sum.cutoff2), e = std::exp(-0.5 * d);
    p += rows[at] *
        (sum.form == KernelForm::SMOOTH ? e - end - end * 0.5 * (sum.cutoff2 - d) : e - end);
    for (int v = 0; v < n; ++v)
      slope[v] -= rows[at] * (sum.form == KernelForm::PLUMED ? e : e - end) * away[v] /
          std::pow(rows[at + 1 + n + v], 2);
  }
  const double density = sum.inverse * p + sum.epsilon;
  for (double &one : slope) one *= sum.akt * sum.inverse / density;
  return {sum.akt * std::log(density), slope};
}

DeviceTerms terms_of(const KernelSum &sum, const std::vector<double> &rows)
{
  DeviceTerms terms;
  terms.kernels = {sum, &rows, 1};
  return terms;
}

ResidentBias::State start()
{
  ResidentBias::State state = {};
  state.bad_atom = -1;
  return state;
}

}    // namespace

TEST(ResidentKernels, equal_the_formula_and_repeat_their_bits)
{
  const Values values;
  for (int n = 1; n <= 3; ++n)
    for (const KernelForm form : {KernelForm::SMOOTH, KernelForm::PLUMED, KernelForm::PLUMED_FORCE})
      for (const int count : {0, 1, 31, 256, 257, 5000}) {
        const KernelSum sum = sum_of(n, form);
        const auto rows = random_kernels(n, count, 17 * n + count);
        const auto bias = make_resident_bias();
        bias->set(start(), nullptr);
        const std::vector<double> s = {0.31, -0.27, 0.52};
        const std::vector<double> at(s.begin(), s.begin() + n);
        const Reference reference = expected(sum, rows, at);
        for (int again = 0; again < 10; ++again) {
          bias->evaluate(values.at(at), terms_of(sum, rows), 1.0, nullptr);
          const auto state = bias->wait(nullptr);
          static ResidentBias::State first;
          if (again == 0) first = state;
          EXPECT_EQ(state.energy, first.energy);
          EXPECT_NEAR(state.energy, reference.v, 1e-12 * (1.0 + std::fabs(reference.v)));
          for (int v = 0; v < n; ++v) {
            EXPECT_EQ(state.dVdS[v], first.dVdS[v]);
            EXPECT_NEAR(state.dVdS[v], reference.dVdS[v],
                        1e-11 * (1.0 + std::fabs(reference.dVdS[v])))
                << n << " variables, " << count << " kernels";
          }
          EXPECT_FALSE(state.not_finite);
        }
      }
}

TEST(ResidentKernels, periodic_variables)
{
  constexpr double PI = 3.14159265358979323846;
  const Values values;
  KernelSum sum = sum_of(2, KernelForm::SMOOTH);
  sum.period[0] = {-PI, 2.0 * PI};
  const std::vector<double> rows = {0.7, 3.1, 0.2, 0.4, 0.3, 0.5, -3.0, 0.1, 0.3, 0.6};
  const auto bias = make_resident_bias();
  bias->set(start(), nullptr);
  for (const double phi : {3.13, -3.13, 3.2, -3.2, 3.1 + 4.0 * PI, 0.1}) {
    bias->evaluate(values.at({phi, 0.15}), terms_of(sum, rows), 1.0, nullptr);
    const auto state = bias->wait(nullptr);
    const Reference reference = expected(sum, rows, {phi, 0.15});
    EXPECT_NEAR(state.energy, reference.v, 1e-11);
    for (int v = 0; v < 2; ++v) EXPECT_NEAR(state.dVdS[v], reference.dVdS[v], 1e-10);
  }
}

// Kernels are copied when their version changes, also while the GPU may still read the last ones.
TEST(ResidentKernels, follow_their_version)
{
  const Values values;
  const KernelSum sum = sum_of(1, KernelForm::SMOOTH);
  const auto bias = make_resident_bias();
  bias->set(start(), nullptr);
  std::vector<double> rows;
  for (int version = 0; version < 200; ++version) {
    const auto one = random_kernels(1, 7, version);
    rows.insert(rows.end(), one.begin(), one.end());
    auto terms = terms_of(sum, rows);
    terms.kernels.version = version;
    const auto copied = bias->bytes_copied();
    bias->evaluate(values.at({0.1}), terms, 1.0, nullptr);
    const auto with_kernels = bias->bytes_copied() - copied;
    bias->evaluate(values.at({0.2}), terms, 1.0, nullptr);
    EXPECT_EQ(2 * bias->bytes_copied() - 2 * copied,
              4 * with_kernels - 2 * static_cast<std::int64_t>(rows.size() * sizeof(double)));
    if (version % 50 != 49) continue;
    EXPECT_NEAR(bias->wait(nullptr).energy, expected(sum, rows, {0.2}).v, 1e-11);
  }
}

TEST(ResidentKernels, averages)
{
  const Values values;
  for (const bool is_periodic : {false, true}) {
    KernelSum sum = sum_of(2, KernelForm::SMOOTH);
    if (is_periodic) sum.period[1] = {-1.0, 2.0};
    const auto rows = random_kernels(2, 40, 3);
    auto terms = terms_of(sum, rows);
    terms.averages.first = 0;
    terms.averages.longest = 20.0;
    auto state = start();
    const double started[] = {3.0, 0.2, 0.9, 0.01, 0.02};
    std::copy_n(started, 5, state.averages);
    const auto bias = make_resident_bias();
    bias->set(state, nullptr);
    double t = 3.0, mean[2] = {0.2, 0.9}, m2[2] = {0.01, 0.02};
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0.0, 0.3);
    for (int step = 0; step < 60; ++step) {
      const double s[2] = {0.2 + noise(random), 0.9 + noise(random)};
      terms.averages.advance = step % 3 != 2;
      bias->evaluate(values.at({s[0], s[1]}), terms, 1.0, nullptr);
      if (!terms.averages.advance) continue;
      t += 1.0;
      for (int v = 0; v < 2; ++v) {
        const auto nearest = [&](double d) {
          return is_periodic && v == 1 ? d - 2.0 * std::floor(0.5 * d + 0.5) : d;
        };
        const double before = nearest(s[v] - mean[v]);
        mean[v] += before / (t < 20.0 ? t : 20.0);
        m2[v] += before * nearest(s[v] - mean[v]);
      }
    }
    state = bias->wait(nullptr);
    EXPECT_EQ(state.averages[0], t);
    EXPECT_NEAR(state.averages[1], mean[0], 1e-12);
    const double turns = (state.averages[2] - mean[1]) / 2.0;
    if (is_periodic) {
      EXPECT_NEAR(turns, std::round(turns), 1e-12);
      EXPECT_LE(std::fabs(state.averages[2]), 1.0);
    } else
      EXPECT_NEAR(turns, 0.0, 1e-12);
    EXPECT_NEAR(state.averages[3], m2[0], 1e-12);
    EXPECT_NEAR(state.averages[4], m2[1], 1e-12);
  }
}

TEST(ResidentKernels, bias_that_is_not_finite)
{
  const Values values;
  KernelSum sum = sum_of(1, KernelForm::SMOOTH);
  const auto rows = random_kernels(1, 40, 3);
  const auto bias = make_resident_bias();
  bias->set(start(), nullptr);
  bias->evaluate(values.at({0.1}), terms_of(sum, rows), 1.0, nullptr);
  EXPECT_FALSE(bias->wait(nullptr).not_finite);
  sum.akt = HUGE_VAL;
  bias->evaluate(values.at({0.1}), terms_of(sum, rows), 1.0, nullptr);
  EXPECT_TRUE(bias->wait(nullptr).not_finite);
  EXPECT_THROW(bias->evaluate(values.at({0.1, 0.1, 0.1, 0.1}), terms_of(sum, rows), 1.0, nullptr),
               std::invalid_argument);
}
