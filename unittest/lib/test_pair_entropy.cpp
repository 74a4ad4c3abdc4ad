// Part of GPUCOORD, GPL-2.0. The pair entropy: sums in long double, the ideal gas, differences of
// S, and several ranks, for the host backend and the reference loops.

#include "order_systems.h"

#include "gpucoord/pair_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using gpucoord::OptionError;
using gpucoord::PairEntropyOptions;

namespace {

using Real = long double;

const int FIRST[6] = {0, 1, 2, 0, 0, 1}, SECOND[6] = {0, 1, 2, 1, 2, 2};

// ---- the definition in long double

struct Exact {
  Real value = 0, by_log_volume = 0;
  std::vector<Real> g, gradient;    // [bins], [nlocal][3]
  Real virial[6] = {};
  Real force = 0;               // largest |dS/dr| of a pair
  std::vector<int> partners;    // [nlocal] within the cutoff
};

struct ExactPair {
  int i, owner;
  Real d[3], r;
};

Exact exact_of(const OrderSystem &s, double volume, const PairEntropyOptions &o)
{
  const Real pi = acosl(-1.0L), delta = static_cast<Real>(o.cutoff) / o.bins, sigma = o.sigma;
  Exact e;
  e.g.assign(o.bins, 0);
  e.gradient.assign(3 * s.nlocal, 0);
  e.partners.assign(s.nlocal, 0);
  int na = 0, nb = 0;
  std::vector<ExactPair> pairs;
  for (int i = 0; i < s.nlocal; ++i) {
    na += s.member[i] & 1 ? 1 : 0;
    nb += s.member[i] & (s.two ? 2 : 1) ? 1 : 0;
    for (int j = 0; j < s.nall(); ++j) {
      if (i == j || !(s.member[i] & 1) || !(s.member[j] & (s.two ? 2 : 1))) continue;
      ExactPair p{i, s.owner[j], {}, 0};
      for (int c = 0; c < 3; ++c) p.d[c] = static_cast<Real>(s.x[3 * j + c]) - s.x[3 * i + c];
      p.r = sqrtl(p.d[0] * p.d[0] + p.d[1] * p.d[1] + p.d[2] * p.d[2]);
      if (p.r <= o.cutoff) ++e.partners[i];
      if (p.r < o.cutoff + 12 * o.sigma) pairs.push_back(p);
    }
  }
  if (na == 0 || nb == 0) return e;
  const Real rho = nb / static_cast<Real>(volume);
  const auto kernel = [&](Real x) {
    return expl(-x * x / (2 * sigma * sigma)) / (sqrtl(2 * pi) * sigma);
  };
  std::vector<Real> log_g(o.bins, 0);
  for (int k = 0; k < o.bins; ++k) {
    const Real r = (k + 1) * delta, weight = k + 1 == o.bins ? delta / 2 : delta;
    for (const ExactPair &p : pairs) e.g[k] += kernel(r - p.r) / (4 * pi * na * rho * r * r);
    if (e.g[k] > 0) log_g[k] = logl(e.g[k]);
    e.value -= 2 * pi * rho * weight * r * r * (e.g[k] * log_g[k] - e.g[k] + 1);
    e.by_log_volume += 2 * pi * rho * weight * r * r * (1 - e.g[k]);
  }
  for (int c = 0; c < 3; ++c) e.virial[c] = -e.by_log_volume;
  for (const ExactPair &p : pairs) {
    Real by_r = 0;    // dS/dr
    for (int k = 0; k < o.bins; ++k) {
      const Real x = (k + 1) * delta - p.r, weight = k + 1 == o.bins ? delta / 2 : delta;
      by_r -= weight / (2 * na) * log_g[k] * kernel(x) * x / (sigma * sigma);
    }
    e.force = std::max(e.force, fabsl(by_r));
    if (p.r == 0) continue;
    for (int c = 0; c < 3; ++c) {
      e.gradient[3 * p.i + c] -= by_r * p.d[c] / p.r;
      e.gradient[3 * p.owner + c] += by_r * p.d[c] / p.r;
    }
    for (int c = 0; c < 6; ++c) e.virial[c] -= by_r * p.d[FIRST[c]] * p.d[SECOND[c]] / p.r;
  }
  return e;
}

// ---- runs

struct Backend {
  std::string name;
  std::function<std::unique_ptr<OrderParameter>(const PairEntropyOptions &)> make;
};

Backend host(Precision precision, int nthreads = 1)
{
  return {std::string("host ") + name_of(precision), [=](const PairEntropyOptions &o) {
            return gpucoord::make_host_order(o, precision, nthreads);
          }};
}

std::vector<Backend> double_backends()
{
  return {{"reference",
           [](const PairEntropyOptions &options) {
             return gpucoord::make_reference_order(options);
           }},
          host(Precision::DOUBLE)};
}

struct Results : OrderResults {
  Numbers g;
};

Results run(OrderParameter &entropy, const OrderSystem &s, double volume, unsigned want,
            const OrderExchange &exchange)
{
  const auto rows = rows_of(s);
  Results r;
  r.peratom.assign(static_cast<std::size_t>(peratom_columns(want)) * s.nlocal, 0.0);
  r.order.assign(s.nlocal, UNCHANGED);
  r.f.assign(s.nlocal, UNCHANGED);
  OrderNumbers numbers;
  numbers.order = r.order.data();
  numbers.f = r.f.data();
  OrderInput in = order_input(s, *rows, exchange);
  in.volume = volume;
  r.sum = entropy.evaluate(in, want, want & DERIVATIVES ? r.peratom.data() : nullptr, numbers);
  r.g = entropy.global_vector();
  return r;
}

Results run(OrderParameter &entropy, const OrderSystem &s, double volume,
            unsigned want = EVERYTHING)
{
  return run(entropy, s, volume, want, exchange_alone(s));
}

// Returns the largest error relative to the largest number of the same kind. Forces that cancel are
// compared with those of pairs.
double worst_error(const Results &r, const Exact &e, unsigned want = EVERYTHING)
{
  double worst = 0.0;
  const auto raise = [&worst](double got, Real expected, Real size) {
    const auto error = static_cast<double>(fabsl(got - expected) / size);
    if (!(error <= worst)) worst = error;
  };
  Real largest = std::max(e.force, 1e-2L), largest_w = fabsl(e.by_log_volume) + 1e-12L,
       largest_g = 1;
  for (const Real v : e.gradient) largest = std::max(largest, fabsl(v));
  for (const Real v : e.virial) largest_w = std::max(largest_w, fabsl(v));
  for (const Real v : e.g) largest_g = std::max(largest_g, v);
  raise(r.sum.value, e.value, std::max(fabsl(e.value), 1e-3L));
  for (std::size_t k = 0; k < r.g.size(); ++k) raise(r.g[k], e.g[k], largest_g);
  const std::size_t columns = peratom_columns(want);
  if (want & DERIVATIVES)
    for (std::size_t k = 0; k < e.gradient.size(); ++k)
      raise(r.peratom[columns * (k / 3) + 1 + k % 3], e.gradient[k], largest);
  for (int c = 0; c < 6; ++c) {
    if (!(want & VIRIAL)) continue;
    raise(r.sum.virial[c], e.virial[c], largest_w);
    double sum = 0.0;
    for (std::size_t k = 0; k < r.peratom.size(); k += columns)
      if (want & ATOM_VIRIAL) sum += r.peratom[k + 4 + c];
    if (want & ATOM_VIRIAL) raise(sum, 2 * e.virial[c], largest_w);
  }
  return worst;
}

double volume_of(const OrderSystem &s)    // s: a random_order_system()
{
  return s.nlocal / 6.0 + 0.1;
}

const PairEntropyOptions SMALL{0.9, 0.1, 20};

OrderSystem random_system(int n, Groups groups, unsigned seed)
{
  return random_order_system(n, groups, 1, true, reach(SMALL) + 0.01, seed);
}

// ---- values

TEST(PairEntropy, an_atom_without_partners_has_the_entropy_of_an_empty_g)
{
  // -2 pi rho times the trapezoid sum of r^2, whose closed form is that of the sum of squares.
  const double rho = 0.7;
  const int n = 37;
  const PairEntropyOptions o{3.0, 0.1, n};
  const double delta = 3.0 / n;
  const double sum = delta * delta * delta * ((n - 1.0) * n * (2.0 * n - 1.0) / 6 + 0.5 * n * n);
  for (const OrderSystem &s : {open_system({0, 0, 0}), open_system({0, 0, 0, 9, 0, 0})})
    for (const Backend &backend : double_backends()) {
      const Results r = run(*backend.make(o), s, s.nlocal / rho);
      const double expected = -2 * std::acos(-1.0) * rho * sum;
      EXPECT_NEAR(r.sum.value, expected, 1e-12) << backend.name;
      for (int k = 0; k < 6; ++k)
        EXPECT_NEAR(r.sum.virial[k], k < 3 ? expected : 0.0, 1e-12) << backend.name;
      for (const double g : r.g) EXPECT_EQ(g, 0.0) << backend.name;
      EXPECT_EQ(r.order[0], 0.0);
      EXPECT_EQ(r.sum.natoms_with_partners, 0);
      for (int k = 0; k < s.nlocal; ++k)
        for (int c = 0; c < 4; ++c) EXPECT_EQ(r.peratom[10 * k + c], 0.0) << backend.name;
    }
}

// Distances at the centers and the edges of cells, near 0, at the nodes, and around the cutoff.
TEST(PairEntropy, two_atoms)
{
  const PairEntropyOptions o{2.0, 0.1, 50};
  for (const Backend &backend : double_backends())
    for (const double r : {0.0, 1e-9, 0.03, 0.4, 0.805, 0.81, 1.0049999, 1.005, 1.0050001, 1.01,
                           1.37, 1.95, 1.999, 2.001, 2.2, 2.5, 2.79}) {
      const OrderSystem s =
          open_system({0.3, -0.2, 0.1, 0.3 + r * 0.36, -0.2 - r * 0.48, 0.1 + r * 0.8});
      const Exact e = exact_of(s, 11.0, o);
      const Results got = run(*backend.make(o), s, 11.0);
      EXPECT_LE(worst_error(got, e), 1e-10) << backend.name << " r " << r;
      EXPECT_EQ(got.order[0], r <= 2.0 ? 1 : 0);
    }
}

TEST(PairEntropy, sums_in_long_double)
{
  double worst[3] = {};
  unsigned seed = 0;
  for (const Groups groups :
       {Groups::ONE, Groups::DISJOINT, Groups::OVERLAPPING, Groups::IDENTICAL})
    for (const int n : {1, 2, 7, 40, 90}) {
      const OrderSystem s = random_system(n, groups, ++seed);
      const Exact e = exact_of(s, volume_of(s), SMALL);
      const std::string what = "n " + std::to_string(n) + " seed " + std::to_string(seed);
      for (const Backend &backend : double_backends())
        for (const unsigned want : {unsigned(VALUE), unsigned(VIRIAL), unsigned(DERIVATIVES),
                                    DERIVATIVES | VIRIAL, EVERYTHING}) {
          const Results r = run(*backend.make(SMALL), s, volume_of(s), want);
          const double error = worst_error(r, e, want);
          EXPECT_LE(error, 1e-10) << backend.name << " " << what << " want " << want;
          worst[0] = std::max(worst[0], error);
          for (int k = 0; k < s.nlocal; ++k) {
            const double expected = s.member[k] & 1 ? e.partners[k] : UNCHANGED;
            EXPECT_EQ(r.order[k], expected) << what;
            EXPECT_EQ(r.f[k], expected) << what;
            if (want & DERIVATIVES) {
              EXPECT_EQ(r.peratom[peratom_columns(want) * k], s.member[k] & 1 ? e.partners[k] : 0);
            }
          }
        }
      const double error =
          worst_error(run(*host(Precision::MIXED).make(SMALL), s, volume_of(s)), e);
      EXPECT_LE(error, 3e-5) << "mixed " << what;
      worst[1] = std::max(worst[1], error);
    }
  std::cout << "worst error in double " << worst[0] << ", in float " << worst[1] << "\n";
}

// Many nodes for each sigma, and the widest bins.
TEST(PairEntropy, sums_in_long_double_at_other_bins)
{
  const OrderSystem s = random_order_system(12, Groups::ONE, 1, true, 2.6, 5);
  for (const PairEntropyOptions &o :
       {PairEntropyOptions{1.0, 0.2, 300}, PairEntropyOptions{1.0, 0.05, 20},
        PairEntropyOptions{1.0, 0.2, 5}, PairEntropyOptions{0.5, 0.25, 2}})
    for (const Backend &backend : double_backends())
      EXPECT_LE(worst_error(run(*backend.make(o), s, volume_of(s)), exact_of(s, volume_of(s), o)),
                1e-10)
          << backend.name << " " << description(o);
}

// g of independent atoms: the smoothed r^2 over r^2, times (N - 1)/N, with the noise of counting
// pairs. Its square also lowers S, by r_max/(4 sqrt(pi) N sigma).
TEST(PairEntropy, ideal_gas)
{
  const int n = 3000, nseeds = 200;
  const PairEntropyOptions o{2.0, 0.1, 60};
  const double side = 10.0, volume = side * side * side, rho = n / volume, pi = std::acos(-1.0);
  const auto entropy = host(Precision::DOUBLE).make(o);
  std::vector<double> mean(o.bins, 0.0);
  double mean_s = 0.0, mean_of_square = 0.0;
  for (int seed = 1; seed <= nseeds; ++seed) {
    OrderSystem s = open_system(random_points(n, side, side, side, 0.0, seed));
    visit_shifts(box_of(side, side, side), 1, [&](const double *shift) {
      for (int k = 0; k < n; ++k) {
        double p[3];
        bool is_near = true;
        for (int c = 0; c < 3; ++c) {
          p[c] = s.x[3 * k + c] + shift[c];
          is_near = is_near && p[c] > -reach(o) && p[c] < side + reach(o);
        }
        if (!is_near) continue;
        s.x.insert(s.x.end(), p, p + 3);
        s.member.push_back(1);
        s.type.push_back(1);
        s.owner.push_back(k);
      }
    });
    const Results r = run(*entropy, s, volume, VALUE);
    for (int k = 0; k < o.bins; ++k) mean[k] += r.g[k] / nseeds;
    mean_s += r.sum.value / nseeds;
    mean_of_square += r.sum.value * r.sum.value / nseeds;
  }
  const double noise_of_g = o.cutoff / (4 * std::sqrt(pi) * n * o.sigma);
  double expected = -noise_of_g;
  for (int k = 0; k < o.bins; ++k) {
    const double r = o.cutoff * (k + 1) / o.bins, u = r / o.sigma;
    const double g = ((1 + 1 / (u * u)) * 0.5 * std::erfc(-u / std::sqrt(2.0)) +
                      std::exp(-0.5 * u * u) / (std::sqrt(2 * pi) * u)) *
        (n - 1.0) / n;
    const double variance = 1 / (4 * pi * r * r * n * rho * std::sqrt(pi) * o.sigma);
    EXPECT_NEAR(mean[k], g, 5 * std::sqrt(variance * std::max(g, 1.0) / nseeds)) << "r " << r;
    expected -= 2 * pi * rho * (k + 1 == o.bins ? 0.5 : 1.0) * o.cutoff / o.bins * r * r *
        (g * std::log(g) - g + 1);
  }
  const double error = std::sqrt((mean_of_square - mean_s * mean_s) / nseeds);
  EXPECT_LT(error, 0.25 * noise_of_g);
  EXPECT_NEAR(mean_s, expected, 4 * error);
}

// ---- derivatives

double difference(const std::function<double(double)> &value)
{
  constexpr double H = 2e-4;
  return (8 * (value(H) - value(-H)) - (value(2 * H) - value(-2 * H))) / (12 * H);
}

// A triclinic box in which atoms have their own images as partners: derivatives, and each strain
// separately, which changes the density.
TEST(PairEntropy, differences_of_S)
{
  const brute::Cell cell = cell_of({{1.9, 0, 0}, {0.4, 2.0, 0}, {-0.3, 0.5, 1.7}});
  const double volume = 1.9 * 2.0 * 1.7;
  const PairEntropyOptions o{1.6, 0.15, 40};
  for (const bool two : {false, true}) {
    OrderSystem s = open_system(spread_points(9, cell, 0.45, 3));
    s.two = two;
    if (two)
      for (int k = 0; k < s.nlocal; ++k) s.member[k] = static_cast<unsigned char>(k % 3 + 1);
    add_images(s, cell, reach(o) + 0.01, 3);
    for (const Backend &backend : double_backends()) {
      const auto entropy = backend.make(o);
      const Results r = run(*entropy, s, volume);
      const std::string what = backend.name + (two ? " two groups" : " one group");
      const double largest = largest_of_kind(r, 10, 1);
      EXPECT_GT(largest, 1e-2) << what;
      double force[3] = {};
      for (int i = 0; i < s.nlocal; ++i)
        for (int c = 0; c < 3; ++c) {
          force[c] += r.peratom[10 * i + 1 + c];
          EXPECT_NEAR(r.peratom[10 * i + 1 + c], difference([&](double h) {
                        OrderSystem moved = s;
                        for (int k = 0; k < s.nall(); ++k)
                          if (s.owner[k] == i) moved.x[3 * k + c] += h;
                        return run(*entropy, moved, volume, VALUE).sum.value;
                      }),
                      1e-8 * largest)
              << what << ": atom " << i << " axis " << c;
        }
      for (const double f : force) EXPECT_NEAR(f, 0.0, 1e-13 * largest * s.nlocal) << what;
      double sum[6] = {};
      for (int k = 0; k < s.nlocal; ++k)
        for (int c = 0; c < 6; ++c) sum[c] += r.peratom[10 * k + 4 + c];
      for (int c = 0; c < 6; ++c) {
        const double w = -difference([&](double h) {
          OrderSystem strained = s;
          for (int k = 0; k < s.nall(); ++k) {
            strained.x[3 * k + FIRST[c]] += 0.5 * h * s.x[3 * k + SECOND[c]];
            strained.x[3 * k + SECOND[c]] += 0.5 * h * s.x[3 * k + FIRST[c]];
          }
          const double ratio = c < 3 ? 1 + h : 1 - h * h / 4;
          return run(*entropy, strained, volume * ratio, VALUE).sum.value;
        });
        EXPECT_GT(std::fabs(w), 1e-4) << what << ": W " << c;
        EXPECT_NEAR(r.sum.virial[c], w, 1e-8 * largest * s.nlocal) << what << ": W " << c;
        EXPECT_NEAR(sum[c], 2 * w, 2e-8 * largest * s.nlocal) << what << ": W " << c;
      }
    }
  }
}

// At edges of cells, too, S is the integral of its derivative up to rounding.
TEST(PairEntropy, S_is_continuous_at_edges_of_cells)
{
  const PairEntropyOptions o{2.0, 0.1, 50};
  const auto entropy = host(Precision::DOUBLE).make(o);
  const auto at = [&](double r) {
    return run(*entropy, open_system({0, 0, 0, r, 0, 0}), 11.0);
  };
  for (int edge = 50; edge < 300; edge += 7) {
    const double r = edge * 0.01, h = 1e-10;
    const Results before = at(r - h), after = at(r + h);
    const double dSdx = 0.5 * (before.peratom[11] + after.peratom[11]);
    EXPECT_NEAR(after.sum.value - before.sum.value, 2 * h * dSdx, 2e-12) << r;
    EXPECT_NEAR(before.peratom[11], after.peratom[11], 1e-8) << r;
  }
}

// ---- inputs at the limits

TEST(PairEntropy, groups_without_atoms_have_no_entropy)
{
  OrderSystem s = open_system({0, 0, 0, 1, 0, 0});
  s.two = true;
  for (const Backend &backend : double_backends())
    for (const unsigned char member : {0, 1, 2}) {
      s.member.assign(2, member);
      const Results r = run(*backend.make(SMALL), s, 3.0);
      EXPECT_EQ(r.sum.value, 0.0);
      for (const double w : r.sum.virial) EXPECT_EQ(w, 0.0);
      for (const double g : r.g) EXPECT_EQ(g, 0.0);
      for (std::size_t k = 0; k < r.peratom.size(); ++k) EXPECT_EQ(r.peratom[k], 0.0);
    }
  for (const Backend &backend : double_backends())
    EXPECT_EQ(run(*backend.make(SMALL), open_system({}), 3.0).sum.value, 0.0);
}

TEST(PairEntropy, the_density_needs_a_volume)
{
  for (const Backend &backend : double_backends()) try {
      run(*backend.make(SMALL), open_system({0, 0, 0}), 0.0);
      ADD_FAILURE() << backend.name;
    } catch (const std::invalid_argument &e) {
      EXPECT_NE(std::string(e.what()).find("periodic in all directions"), std::string::npos);
    }
}

TEST(PairEntropy, options)
{
  const double nan = std::nan(""), inf = HUGE_VAL;
  const struct {
    PairEntropyOptions options;
    std::string field, message;
  } cases[] = {
      {{0.0, 0.1, 20}, "cutoff", "cutoff is 0 but must be > 0 and finite"},
      {{nan, 0.1, 20}, "cutoff", "cutoff is nan but must be"},
      {{inf, 0.1, 20}, "cutoff", "cutoff is inf but must be"},
      {{2.0, -0.1, 20}, "sigma", "sigma is -0.1 but must be > 0 and finite"},
      {{2.0, 0.1, 0}, "bins", "bins is 0 but must be 1 to 10000"},
      {{2.0, 0.1, 10001}, "bins", "bins is 10001 but must be 1 to 10000"},
      {{2.0, 0.1, 19},
       "bins",
       "bins of 0.1052631579 are wider than sigma 0.1, so the integral would miss Gaussians "
       "between them - use at least 20 bins, better twice as many, or a larger sigma"},
      {{2.0, 0.0001, 100},
       "bins",
       "with at most 10000 bins, use a sigma of at least 0.0002 or a smaller cutoff"},
  };
  for (const auto &c : cases)
    for (const Backend &backend : double_backends()) try {
        backend.make(c.options);
        ADD_FAILURE() << c.message;
      } catch (const OptionError &e) {
        EXPECT_EQ(e.field, c.field);
        EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << e.what();
      }
  // 2/20 is not above 0.1, whatever the rounding.
  for (const int bins : {20, 10000})
    EXPECT_NO_THROW(check_options(PairEntropyOptions{2.0, 0.1, bins}));
  EXPECT_NO_THROW(check_options(PairEntropyOptions{0.3, 0.1, 3}));
  EXPECT_EQ(description(SMALL), "pair entropy cutoff 0.9 sigma 0.1 bins 20");
}

// ---- threads and ranks

TEST(PairEntropy, bits_do_not_depend_on_the_number_of_threads)
{
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING}) {
    const OrderSystem s = random_system(1200, groups, 4);
    for (const Precision precision : {Precision::DOUBLE, Precision::MIXED}) {
      const Results one = run(*host(precision).make(SMALL), s, volume_of(s));
      for (const int nthreads : {2, 3, 7}) {
        const auto entropy = host(precision, nthreads).make(SMALL);
        for (int repeat = 0; repeat < 2; ++repeat) {
          const Results r = run(*entropy, s, volume_of(s));
          EXPECT_TRUE(r.g == one.g && r.sum.value == one.sum.value && r.peratom == one.peratom &&
                      std::equal(r.sum.virial, r.sum.virial + 6, one.sum.virial))
              << nthreads;
        }
        EXPECT_EQ(run(*entropy, s, volume_of(s), VALUE).sum.value, one.sum.value);
      }
    }
  }
}

// The ranks are evaluated one after another, twice: first to get their contributions to the sum
// over ranks, then with the sums. Ghosts of a rank are all rows of the others.
TEST(PairEntropy, results_do_not_depend_on_the_number_of_ranks)
{
  for (const Groups groups : {Groups::ONE, Groups::OVERLAPPING})
    for (const int nranks : {2, 4}) {
      const OrderSystem whole = random_system(50, groups, 9);
      const double volume = volume_of(whole);
      for (const Backend &backend : double_backends()) {
        const auto entropy = backend.make(SMALL);
        const Results alone = run(*entropy, whole, volume);
        std::vector<OrderSystem> parts(nranks);
        std::vector<std::vector<int>> atoms(nranks);
        for (int r = 0; r < nranks; ++r) {
          const auto append = [&](int k) {
            OrderSystem &s = parts[r];
            s.x.insert(s.x.end(), &whole.x[3 * k], &whole.x[3 * k] + 3);
            s.member.push_back(whole.member[k]);
            s.type.push_back(1);
            s.owner.push_back(-1);
          };
          // The last of four ranks has no atoms.
          const auto is_mine = [&](int k) {
            return k < whole.nlocal && k % std::min(nranks, 3) == r;
          };
          parts[r].two = whole.two;
          for (int k = 0; k < whole.nlocal; ++k)
            if (is_mine(k)) {
              append(k);
              atoms[r].push_back(k);
            }
          parts[r].nlocal = parts[r].nall();
          for (int k = 0; k < whole.nall(); ++k)
            if (!is_mine(k)) append(k);
        }
        Numbers total;
        int ncalls = 0;
        OrderExchange exchange;
        exchange.reduce = [&](double *numbers, int n, AtomFunction::Reduction) {
          ++ncalls;
          total.resize(n);
          for (int k = 0; k < n; ++k) total[k] += numbers[k];
        };
        for (int r = 0; r < nranks; ++r)
          // A rank that fails takes part with zeros.
          if (atoms[r].empty()) {
            const auto rows = rows_of(parts[r]);
            entropy->complete_exchanges(order_input(parts[r], *rows, exchange), EVERYTHING);
          } else
            run(*entropy, parts[r], volume, EVERYTHING, exchange);
        EXPECT_EQ(ncalls, nranks * number_of_exchanges(SMALL, EVERYTHING));
        exchange.reduce = [&](double *numbers, int n, AtomFunction::Reduction) {
          ASSERT_EQ(n, static_cast<int>(total.size()));
          std::copy(total.begin(), total.end(), numbers);
        };
        double virial[6] = {};
        const double largest = largest_of_kind(alone, 10, 1),
                     largest_w = largest_of_kind(alone, 10, 2);
        for (int r = 0; r < nranks; ++r) {
          const Results part = run(*entropy, parts[r], volume, EVERYTHING, exchange);
          EXPECT_NEAR(part.sum.value, alone.sum.value, 1e-12 * std::fabs(alone.sum.value));
          for (int c = 0; c < 6; ++c) virial[c] += part.sum.virial[c];
          for (std::size_t k = 0; k < atoms[r].size(); ++k)
            for (int c = 0; c < 10; ++c)
              EXPECT_NEAR(part.peratom[10 * k + c], alone.peratom[10 * atoms[r][k] + c],
                          1e-12 * (c < 4 ? largest : largest_w));
        }
        for (int c = 0; c < 6; ++c)
          EXPECT_NEAR(virial[c], alone.sum.virial[c], 1e-12 * largest_w * whole.nlocal);
      }
    }
}

}    // namespace
