// Part of GPUCOORD, GPL-2.0. OPES in dynamics: reweighting gives the free energy of a double well
// that quadrature gives, and a frozen bias conserves the energy.

#include "opes_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace {

// A particle of mass 1 in U(s) + V(s), kT = 1.
class Particle {
 public:
  Particle(Bias &bias_in, double s_in) : s(s_in), bias(bias_in) {}

  static double energy(double s) { return 8.0 * (s * s - 1.0) * (s * s - 1.0) + 0.3 * s; }
  double force() const { return -32.0 * s * (s * s - 1.0) - 0.3 - bias.state().dVdS[0]; }
  double total() const { return energy(s) + bias.state().energy + 0.5 * v * v; }

  // A timestep of Langevin dynamics: Leimkuhler and Matthews, J. Chem. Phys. 138, 174102 (2013),
  // BAOAB. friction 0: velocity Verlet
  template <class Evaluate, class Noise>
  void step(double dt, double friction, const Evaluate &evaluate, const Noise &noise)
  {
    v += 0.5 * dt * force();
    s += 0.5 * dt * v;
    if (friction > 0.0) {
      const double kept = std::exp(-friction * dt);
      v = kept * v + std::sqrt(1.0 - kept * kept) * noise();
    }
    s += 0.5 * dt * v;
    evaluate(s);
    v += 0.5 * dt * force();
  }

  double s, v = 0.0;

 private:
  Bias &bias;
};

// F of the right well minus F of the left one.
double difference_of_wells()
{
  double left = 0.0, right = 0.0;
  for (int k = 0; k < 40000; ++k) {
    const double s = (k + 0.5) * 1e-4;
    left += std::exp(-Particle::energy(-s));
    right += std::exp(-Particle::energy(s));
  }
  return -std::log(right / left);
}

class OpesSampling : public OpesRuns {
 protected:
  // Returns the difference of the wells and its error, from blocks of the last 80 % of a run.
  std::pair<double, double> sampled(const std::string &given, double start, unsigned seed)
  {
    constexpr int STEPS = 2000000, BLOCKS = 16;
    auto bias = begin(given);
    Particle particle(*bias, start);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    evaluate(*bias, 0, {start}, Step::Phase::SETUP);
    std::vector<double> left(BLOCKS), right(BLOCKS);
    for (int step = 1; step <= STEPS; ++step) {
      particle.step(
          0.02, 1.0,
          [&](double s) {
            evaluate(*bias, step, {s});
          },
          [&] {
            return normal(random);
          });
      if (step <= STEPS / 5) continue;
      const auto block = static_cast<std::size_t>(static_cast<std::int64_t>(step - STEPS / 5 - 1) *
                                                  BLOCKS / (STEPS - STEPS / 5));
      (particle.s < 0.0 ? left : right)[block] += std::exp(bias->state().energy);
    }
    // Errors by leaving out one block at a time.
    const auto estimate = [&](int without) {
      double sums[2] = {};
      for (int k = 0; k < BLOCKS; ++k)
        if (k != without) {
          sums[0] += left[k];
          sums[1] += right[k];
        }
      return -std::log(sums[1] / sums[0]);
    };
    const double whole = estimate(-1);
    double variance = 0.0;
    for (int k = 0; k < BLOCKS; ++k)
      variance += (estimate(k) - whole) * (estimate(k) - whole) * (BLOCKS - 1) / BLOCKS;
    return {whole, std::sqrt(variance)};
  }
};

TEST_F(OpesSampling, reweighting_gives_the_free_energy)
{
  const double expected = difference_of_wells();
  for (const std::string given : {"opes sigma 0.1", "opes sigma/adaptive 1000",
                                  "opes kernel plumed sigma 0.1", "opes/explore sigma 0.1"})
    for (const double start : {-1.0, 1.0}) {
      const auto found =
          sampled(given + " barrier 10 pace 50 temp 1", start, start > 0.0 ? 11 : 12);
      std::printf("%s from %g: %.3f +- %.3f, quadrature %.3f\n", given.c_str(), start, found.first,
                  found.second, expected);
      EXPECT_NEAR(found.first, expected, 3.0 * found.second) << given << " from " << start;
      EXPECT_LT(found.second, 0.05) << given << " from " << start;
    }
}

TEST_F(OpesSampling, a_frozen_bias_conserves_the_energy)
{
  const auto no_noise = [] {
    return 0.0;
  };
  for (const std::string given : {"opes sigma 0.15", "opes/explore sigma 0.1"}) {
    auto bias = begin(given + " barrier 8 pace 10 temp 1");
    run(*bias, 0, 1000);
    const auto frozen = [&](double s) {
      evaluate(*bias, 1000, {s}, Step::Phase::STEP);
    };
    // The largest error of the total energy in a time.
    const auto error = [&](double start, double velocity, double dt, double time) {
      frozen(start);
      Particle particle(*bias, start);
      particle.v = velocity;
      const double total = particle.total();
      double worst = 0.0;
      for (int step = 0; step < time / dt; ++step) {
        particle.step(dt, 0.0, frozen, no_noise);
        worst = std::max(worst, std::fabs(particle.total() - total));
      }
      return worst;
    };
    // It falls as the square of the timestep.
    const double coarse = error(0.0, 2.0, 0.01, 20.0), fine = error(0.0, 2.0, 0.005, 20.0);
    std::printf("%s: %.2e, half the timestep %.2e\n", given.c_str(), coarse, fine);
    EXPECT_NEAR(coarse / fine, 4.0, 0.6);
    // Across the ends of all kernels at the border.
    double worst = 0.0;
    for (double start = -2.4; start < 2.4; start += 0.01)
      worst = std::max(worst, error(start, start > 0.0 ? -1.0 : 1.0, 0.001, 0.02));
    std::printf("%s: %.2e in 20 steps\n", given.c_str(), worst);
    EXPECT_LT(worst, 0.05);
    bias.reset();
  }
}

}    // namespace
