// Part of GPUCOORD, GPL-2.0. Statistics of S at the deposits of a bias.

#include "deposit_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpucoord {

namespace {
  constexpr double REGION = 0.2;    // of the range: the two regions of a crossing
  constexpr std::size_t MAX_PATH = 2000;

  // Returns the turning points of a path between which it moves by delta or more, and its last
  // point. It crosses two regions that are delta or more apart as often as the path does.
  std::vector<double> turning_points(const std::vector<double> &path, double delta)
  {
    std::vector<double> turns;
    double low = path[0], high = path[0];
    int direction = 0;    // of the path; 0: not yet known
    for (const double x : path) {
      if (direction >= 0) high = std::max(high, x);
      if (direction <= 0) low = std::min(low, x);
      if (direction >= 0 && high - x >= delta) {
        turns.push_back(high);
        direction = -1;
        low = x;
      } else if (direction <= 0 && x - low >= delta) {
        turns.push_back(low);
        direction = 1;
        high = x;
      }
    }
    if (direction <= 0) turns.push_back(low);
    if (direction >= 0) turns.push_back(high);
    turns.push_back(path.back());
    return turns;
  }

  std::int64_t crossings(const std::vector<double> &path, double lo, double hi)
  {
    std::int64_t count = 0;
    int region = 0;    // the last one: -1 lowest, 1 highest, 0 none
    for (const double x : path) {
      const int here = x <= lo ? -1 : x >= hi ? 1 : 0;
      if (here == 0) continue;
      if (region == -here) ++count;
      region = here;
    }
    return count;
  }
}    // namespace

SampledVariable::SampledVariable(Period period_in) : period(period_in) {}

void SampledVariable::add(double s)
{
  const std::int64_t n = positions[0].n;
  if (n == 0) first = last = s;
  continuous += period.difference(s, last);
  last = s;
  const double d = period.difference(s, first);
  const double x = period.exists() ? std::fabs(d) : s;
  const auto before = place;
  place[0] = d;
  if (period.exists()) {
    const double radius = period.length / (2.0 * std::acos(-1.0));
    place = {radius * std::sin(d / radius), radius * (std::cos(d / radius) - 1.0)};
  }
  lo = n ? std::min(lo, x) : x;
  hi = n ? std::max(hi, x) : x;
  path.push_back(x);
  if (path.size() == MAX_PATH) shorten_path();
  window[n % LONG] = continuous;
  for (int k = 0; k < 2; ++k) {
    sum_of_products += before[k] * place[k];
    places[k][n % LONG] = place[k];
    positions[k].add(place[k]);
  }
  if (positions[0].n % LONG == 0) end_window();
}

void SampledVariable::end_window()
{
  const auto mean_of = [](const double *begin, int length) {
    double sum = 0.0;
    for (int k = 0; k < length; ++k) sum += begin[k];
    return sum / length;
  };
  const auto products = [](const double *a, const double *b, int length, double m) {
    double sum = 0.0;
    for (int k = 0; k < length; ++k) sum += (a[k] - m) * (b[k] - m);
    return sum;
  };
  for (const double *part = window; part < window + LONG; part += SHORT) {
    const double sum = products(part, part, SHORT, mean_of(part, SHORT));
    sum_of_deviations += std::sqrt(sum / (SHORT - 1));
  }
  ++nwindows;
  double square = 0.0, correlated = 0.0;
  for (const auto &part : places) {
    const double m = mean_of(part, LONG);
    square += products(part, part, LONG, m);
    correlated += products(part, part + 1, LONG - 1, m);
  }
  if (!(square > 0.0)) return;
  sum_of_correlations += correlated / square;
  ++ncorrelations;
}

double SampledVariable::fluctuation() const
{
  // Mean of the standard deviation of 5 normal numbers, divided by the true one
  constexpr double C4 = 0.939985602987;
  return nwindows ? sum_of_deviations / (C4 * SHORT * static_cast<double>(nwindows)) : 0.0;
}

double SampledVariable::autocorrelation() const
{
  if (ncorrelations == 0) return 0.0;
  const double found = sum_of_correlations / static_cast<double>(ncorrelations);
  // The mean is that of the window, so that r is found as r - (1 + 4 r)/LONG (Marriott and Pope,
  // Biometrika 41, 390 (1954)).
  return std::min((LONG * found + 1.0) / (LONG - 4.0), 1.0);
}

// The correlation about the mean of all n samples, found as r - (1 + 4 r)/n as above, has the
// variance (1 - r^2)/n.
double SampledVariable::least_autocorrelation() const
{
  const auto n = static_cast<double>(positions[0].n);
  const double m2 = positions[0].m2 + positions[1].m2;
  if (n < LONG || !(m2 > 0.0)) return 0.0;
  // The first place is 0.
  double products = sum_of_products;
  for (int k = 0; k < 2; ++k)
    products += positions[k].mean * (place[k] - (n + 1.0) * positions[k].mean);
  const double r = std::min((n * products / m2 + 1.0) / (n - 4.0), 1.0);
  const double z2 = 1.645 * 1.645 / n;
  return (r - std::sqrt(z2 * (1.0 - r * r + z2))) / (1.0 + z2);
}

std::int64_t SampledVariable::ncrossings() const
{
  const double end = REGION * (hi - lo);
  return nforgotten + (end > 0.0 ? crossings(path, lo + end, hi - end) : 0);
}

// The range only grows, so that a move that is too short for a crossing remains so.
void SampledVariable::shorten_path()
{
  path = turning_points(path, (1.0 - 2.0 * REGION) * (hi - lo));
  if (path.size() < MAX_PATH / 2) return;
  nforgotten = ncrossings();
  path = {path.back()};
}

/* ---------------------------------------------------------------------- */

DepositStatistics::DepositStatistics(const std::vector<Period> &periods)
{
  for (const Period &period : periods) variables.emplace_back(period);
}

void DepositStatistics::add(const double *s, const Sum &v)
{
  const std::size_t nvariables = variables.size();
  if (nin_block == 0) {
    current.s.assign(s, s + nvariables);
    current.mean.assign(2 * nvariables, 0.0);
  }
  ++n;
  ++nin_block;
  for (std::size_t k = 0; k < nvariables; ++k) variables[k].add(s[k]);
  for (std::size_t k = 0; k < 2 * nvariables; ++k)
    current.mean[k] +=
        (variables[k / 2].position(k % 2) - current.mean[k]) / static_cast<double>(nin_block);
  if (nin_block == block_length) end_block(v);
}

void DepositStatistics::end_block(const Sum &v)
{
  nin_block = 0;
  blocks.push_back(current);
  auto &mine = blocks.back().v;
  for (const Block &block : blocks) mine.push_back(v(block.s.data()));
  if (blocks.size() < MAX_BLOCKS) return;
  // Blocks of twice the length
  for (int b = 0; b < MAX_BLOCKS / 2; ++b) {
    Block &merged = blocks[b];
    const Block left = blocks[2 * b], &right = blocks[2 * b + 1];
    for (std::size_t k = 0; k < merged.mean.size(); ++k)
      merged.mean[k] = 0.5 * (left.mean[k] + right.mean[k]);
    merged.s = left.s;
    std::vector<double> kept;
    for (int earlier = 0; earlier <= b; ++earlier) kept.push_back(right.v[2 * earlier]);
    merged.v = kept;
  }
  blocks.resize(MAX_BLOCKS / 2);
  block_length *= 2;
}

double DepositStatistics::neffective(int v) const
{
  const double variance = variables[v].variance();
  double result = static_cast<double>(n);
  if (!(variance > 0.0)) return 1.0;
  for (std::size_t width = 1; blocks.size() / width >= MIN_BLOCKS; width *= 2) {
    Moments means[2];
    const std::size_t nblocks = blocks.size() / width;
    for (std::size_t b = 0; b < nblocks; ++b) {
      double mean[2] = {};
      for (std::size_t k = 0; k < 2 * width; ++k)
        mean[k % 2] += blocks[b * width + k / 2].mean[2 * v + k % 2];
      for (int k = 0; k < 2; ++k) means[k].add(mean[k] / static_cast<double>(width));
    }
    const double of_means = means[0].variance() + means[1].variance();
    if (of_means > 0.0)
      result = std::min(result, static_cast<double>(nblocks) * variance / of_means);
  }
  return std::max(result, 1.0);
}

double DepositStatistics::change_in_second_half(const Sum &v) const
{
  const std::size_t half = blocks.size() / 2;
  if (half == 0) return std::numeric_limits<double>::quiet_NaN();
  Moments changes;
  for (std::size_t b = 0; b < half; ++b) changes.add(v(blocks[b].s.data()) - blocks[half - 1].v[b]);
  return std::sqrt(changes.m2 / static_cast<double>(half));
}

std::size_t DepositStatistics::bytes() const
{
  std::size_t sum = 0;
  for (const auto &variable : variables) sum += sizeof(variable) + variable.bytes();
  for (const auto &block : blocks)
    sum += sizeof(block) +
        (block.s.capacity() + block.mean.capacity() + block.v.capacity()) * sizeof(double);
  return sum;
}

}    // namespace gpucoord
