// Part of GPUCOORD, GPL-2.0. OPES.

#include "opes.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpucoord {

static constexpr double SMALLEST_SIGMA = 1e-6;    // of the first adaptive one
// The weight exp(V/kT) must not be 0, and its square must be a finite number.
static constexpr double SMALLEST_EXPONENT = -700.0, LARGEST_EXPONENT = 350.0;

double OpesOptions::a() const
{
  return explore ? biasfactor - 1.0 : 1.0 - 1.0 / biasfactor;
}

std::vector<std::pair<std::string, std::string>> OpesOptions::constants() const
{
  return {{"biasfactor", std::isinf(biasfactor) ? "inf" : number_text(biasfactor)},
          {"epsilon", number_text(epsilon)},
          {"kernel_cutoff", number_text(cutoff)},
          {"compression_threshold", number_text(threshold)}};
}

std::string OpesOptions::action(const char *what) const
{
  return std::string(explore ? "OPES_METAD_EXPLORE_" : "OPES_METAD_") + what;
}

DepositFormat OpesOptions::format() const
{
  DepositFormat format;
  format.noun = "kernel";
  format.names = names;
  format.period = period;
  format.last_column = "logweight";
  format.constants = {{"action", action("kernels")}};
  for (const auto &[keyword, value] : constants())
    format.further_lines += "#! SET " + keyword + " " + value + "\n";
  format.about_units = "time in these; heights have no unit, logweight is V/kT before the kernel";
  // A wide kernel acts with the shortest difference, too.
  format.largest_sigma = [](const Period &) {
    return HUGE_VAL;
  };
  format.keeps_none = "a bias that merges kernels";
  return format;
}

/* ---------------------------------------------------------------------- */

static KernelSum shape_of(const OpesOptions &options)
{
  KernelSum shape;
  shape.nvariables = static_cast<int>(options.names.size());
  for (std::size_t k = 0; k < options.period.size(); ++k) shape.period[k] = options.period[k];
  shape.form = options.form;
  shape.cutoff2 = options.cutoff * options.cutoff;
  shape.end = std::exp(-0.5 * shape.cutoff2);
  shape.akt = options.a() * options.kt;
  shape.epsilon = options.epsilon;
  return shape;
}

Opes::Opes(const OpesOptions &options_in) :
    options(options_in), n(static_cast<int>(options.names.size())), shape(shape_of(options)),
    kernels(shape), mean(n, 0.0), squares(n, 0.0)
{
  if (options.normalize) {
    weights = std::pow(options.epsilon, options.a());
    weights2 = weights * weights;
  }
  for (const double sigma : options.sigma)
    sigma0.push_back(options.explore ? sigma * std::sqrt(options.biasfactor) : sigma);
  if (options.is_adaptive()) sigma0.assign(n, 0.0);
}

KernelSum Opes::sum_parameters() const
{
  KernelSum result = shape;
  result.inverse = 1.0 / (norm() * zed());
  return result;
}

double Opes::evaluate(const double *s, double *dVdS) const
{
  const double p = kernels.sum(s, dVdS);
  return sum_parameters().potential(p, dVdS);
}

double Opes::zed() const
{
  if (!options.normalize || kernels.size() == 0) return 1.0;
  return kernels.overlap() / norm() / static_cast<double>(kernels.size());
}

double Opes::rct() const
{
  return options.kt * std::log(weights / counter);
}

static double effective_size(double weights, double weights2)
{
  return (1.0 + weights) * (1.0 + weights) / (1.0 + weights2);
}

double Opes::neff() const
{
  return effective_size(weights, weights2);
}

/* ---------------------------------------------------------------------- */

void Opes::average(const double *s)
{
  ++nsamples;
  const auto samples = static_cast<double>(std::min(nsamples, options.stride));
  for (int k = 0; k < n; ++k) {
    const Period period = options.period_of(k);
    const double before = period.difference(s[k], mean[k]);
    mean[k] = period.wrapped(mean[k] + before / samples);
    // Rounding must not make it negative.
    squares[k] = std::max(squares[k] + before * period.difference(s[k], mean[k]), 0.0);
  }
}

void Opes::set_averages(const double *from)
{
  if (!options.is_adaptive()) return;
  nsamples = static_cast<std::int64_t>(from[0]);
  mean.assign(from + 1, from + 1 + n);
  squares.assign(from + 1 + n, from + 1 + 2 * n);
}

void Opes::get_averages(double *to) const
{
  if (!options.is_adaptive()) return;
  *to++ = static_cast<double>(nsamples);
  to = std::copy(mean.begin(), mean.end(), to);
  std::copy(squares.begin(), squares.end(), to);
}

bool Opes::is_ready() const
{
  return !options.is_adaptive() || nsamples >= options.stride || (counter > 1.0 && nsamples > 0);
}

// Returns sigma before it shrinks with the number of samples.
double Opes::raw_sigma(int k) const
{
  double sigma = sigma0[k];
  if (options.is_adaptive()) {
    const double f = options.explore ? 1.0 : options.biasfactor;
    sigma = std::sqrt(squares[k] * scale_of_squares() / (static_cast<double>(nsamples) * f));
    if (counter == 1.0 && options.sigma_min.empty() && !(sigma >= SMALLEST_SIGMA))
      throw std::runtime_error("sigma of the first kernel is " + short_text(sigma, 6) + " for " +
                               options.labels[k] + ", below 1e-6: S hardly changed in " +
                               std::to_string(nsamples) +
                               " steps - use keyword sigma, sigma/min, or a larger sigma/adaptive");
  }
  return options.sigma_min.empty() ? sigma : std::max(sigma, options.sigma_min[k]);
}

// The samples before the first kernel are not biased. Without a bias, the variance is smaller.
double Opes::scale_of_squares() const
{
  return counter == 1.0 ? options.biasfactor : 1.0;
}

void Opes::check_weight(double exponent, const std::string &name)
{
  if (exponent >= SMALLEST_EXPONENT && exponent <= LARGEST_EXPONENT) return;
  throw std::runtime_error(name + " is " + short_text(exponent, 6) + ", but must be from " +
                           short_text(SMALLEST_EXPONENT) + " to " + short_text(LARGEST_EXPONENT) +
                           " for the weight exp(V/kT) of a kernel - check temp and the units of "
                           "barrier");
}

Deposit Opes::propose(double time, const double *s, double v) const
{
  const double exponent = v / options.kt;
  check_weight(exponent, "V/kT");
  Deposit deposit = {time, {s, s + n}};
  for (int k = 0; k < n; ++k) deposit.row.push_back(raw_sigma(k));
  deposit.row.push_back(options.explore ? 1.0 : std::exp(exponent));
  deposit.row.push_back(exponent);
  return deposit;
}

void Opes::check_count(std::size_t nkernels) const
{
  if (nkernels > MAX_KERNELS)
    throw std::runtime_error(std::to_string(nkernels) + " kernels are above the limit of " +
                             std::to_string(MAX_KERNELS) +
                             " - use fewer variables, or a larger threshold, sigma or pace");
}

void Opes::complete(std::vector<Deposit> &round)
{
  check_count(kernels.size() + round.size());    // before they are written
  if (options.is_adaptive() && counter == 1.0) {
    std::copy_n(round[0].row.begin() + n, n, sigma0.begin());
    for (double &sum : squares) sum *= scale_of_squares();
  }
  double count = counter, sum = weights, sum2 = weights2;
  for (const auto &deposit : round) {
    const double weight = std::exp(deposit.row.back());
    count += 1.0;
    sum += weight;
    sum2 += weight * weight;
  }
  // Silverman's rule
  const double size = options.explore ? count : effective_size(sum, sum2);
  const double factor = options.fixed_sigma ? 1.0
                                            : std::pow(0.25 * size * (n + 2.0), -1.0 / (4.0 + n));
  for (auto &deposit : round) {
    double &height = deposit.row[2 * static_cast<std::size_t>(n)];
    for (int k = 0; k < n; ++k) {
      double &sigma = deposit.row[static_cast<std::size_t>(n + k)];
      sigma *= factor;
      if (!options.sigma_min.empty()) sigma = std::max(sigma, options.sigma_min[k]);
      height *= sigma0[k] / sigma;
    }
  }
}

void Opes::add(const Deposit &deposit)
{
  const double weight = std::exp(deposit.row.back());
  last_time = deposit.time;
  counter += 1.0;
  weights += weight;
  weights2 += weight * weight;
  std::vector<double> kernel = {deposit.height()};
  kernel.insert(kernel.end(), deposit.row.begin(), deposit.row.begin() + 2 * n);
  check_count(kernels.size() + 1);
  kernels.add(std::move(kernel), options.threshold, options.recursive);
}

/* ---------------------------------------------------------------------- */

void Opes::save(Archive &archive) const
{
  for (const double number : {counter, weights, weights2, kernels.overlap()}) archive.write(number);
  archive.write(kernels.rows());
  archive.write(nsamples);
  for (const auto *values : {&sigma0, &mean, &squares}) archive.write(*values);
}

void Opes::load(Archive &archive)
{
  counter = archive.read_number();
  weights = archive.read_number();
  weights2 = archive.read_number();
  const double overlap = archive.read_number();
  auto rows = archive.read_numbers();
  const std::size_t width = 1 + 2 * static_cast<std::size_t>(n);
  bool is_good = counter >= 1.0 && counter <= static_cast<double>(MAX_SAMPLES) && weights > 0.0 &&
      weights2 >= 0.0 && overlap >= 0.0 && std::isfinite(weights + weights2 + overlap) &&
      rows.size() % width == 0;
  check_count(rows.size() / width);
  for (std::size_t k = 0; k < rows.size(); ++k)
    is_good = is_good && std::isfinite(rows[k]) &&
        (rows[k] > 0.0 || (k % width > 0 && k % width <= width / 2));
  nsamples = archive.read_integer();
  auto sigma = archive.read_numbers();
  mean = archive.read_numbers();
  squares = archive.read_numbers();
  for (const auto *values : {&sigma, &mean, &squares}) {
    is_good = is_good && values->size() == static_cast<std::size_t>(n);
    for (const double value : *values)
      is_good = is_good && std::isfinite(value) && (value >= 0.0 || values == &mean);
  }
  if (!is_good || nsamples < 0 || nsamples > MAX_SAMPLES) throw ArchiveParts::damaged();
  if (options.is_adaptive()) sigma0 = sigma;
  kernels.set(std::move(rows), overlap);
}

}    // namespace gpucoord
