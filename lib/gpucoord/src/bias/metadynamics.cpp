// Part of GPUCOORD, GPL-2.0. Metadynamics: the sum of hills, with or without a grid.

#include "gpucoord/metadynamics.h"
#include "gpucoord/counters.h"

#include "../core/checksum.h"
#include "../core/text_files.h"
#include "bias_grid.h"
#include "gaussian.h"
#include "hermite_grid.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpucoord {

double largest_sigma(const Period &period)
{
  return 0.5 * period.length / std::sqrt(2.0 * HILL_END);
}

DepositFormat hills_format(const MetadynamicsOptions &options)
{
  DepositFormat format;
  format.noun = "hill";
  format.names = options.names;
  format.period = options.period;
  format.last_column = "biasf";
  format.constants = {{"multivariate", "false"}, {"kerneltype", "stretched-gaussian"}};
  if (options.interval.size() == 1)    // PLUMED supports an interval for one variable only
    format.further_lines = "#! SET lower_int " + number_text(options.interval[0].lo) +
        "\n#! SET upper_int " + number_text(options.interval[0].hi) + "\n";
  format.about_units = "time and heights in these; heights are times biasfactor/(biasfactor - 1) "
                       "where biasfactor > 1, so that the sum of hills is minus the free energy";
  format.largest_sigma = largest_sigma;
  format.keeps_none = "a bias on a grid";
  return format;
}

Hill hill_of(const Deposit &deposit)
{
  Hill hill;
  const std::size_t n = deposit.row.size() / 2 - 1;
  std::copy_n(deposit.row.begin(), n, hill.center);
  std::copy_n(deposit.row.begin() + n, n, hill.sigma);
  hill.file_height = deposit.height();
  hill.height = height_of_bias(hill.file_height, deposit.row.back());
  return hill;
}

Deposit deposit_of(const Hill &hill, const MetadynamicsOptions &options, double time)
{
  const std::size_t n = options.names.size();
  Deposit deposit = {time, {hill.center, hill.center + n}};
  deposit.row.insert(deposit.row.end(), hill.sigma, hill.sigma + n);
  // A hill from a file may have a different biasfactor, which is unknown. A biasfactor of -1 keeps
  // its height in the bias.
  const bool is_own = hill.height == height_of_bias(hill.file_height, options.biasfactor);
  deposit.row.push_back(is_own ? hill.file_height : hill.height);
  deposit.row.push_back(is_own ? options.biasfactor : -1.0);
  return deposit;
}

static double sum_of_hills(const Hill *hills, std::size_t count, int n, const Period *period,
                           const double *s, double *dVdS)
{
  double v = 0.0;
  std::fill(dVdS, dVdS + n, 0.0);
  for (std::size_t h = 0; h < count; ++h) {
    double z[MAX_SAMPLED_VARIABLES];
    const double e = stretched_exponential(hills[h], n, period, s, z);
    if (e == 0.0) continue;
    v += e - hill_offset(hills[h]);
    for (int k = 0; k < n; ++k) dVdS[k] -= e * z[k];
  }
  return v;
}

static void add_to(Checksum &checksum, const Hill &hill, int n)
{
  for (int k = 0; k < n; ++k) {
    checksum.add(hill.center[k]);
    checksum.add(hill.sigma[k]);
  }
  checksum.add(hill.height);
}

struct Metadynamics::State {
  explicit State(const MetadynamicsOptions &o) : options(o), n(static_cast<int>(o.names.size()))
  {
    for (int k = 0; k < n; ++k) period[k] = o.period_of(k);
  }

  // Returns V at s, ignoring the interval.
  double sum(const double *s, double *dVdS) const
  {
    return grid ? grid->evaluate(s, dVdS)
                : sum_of_hills(hills.data(), hills.size(), n, period, s, dVdS);
  }

  // Sets 'inside' to s, clamped to the interval.
  void clamp(const double *s, double *inside) const
  {
    for (int k = 0; k < n; ++k)
      inside[k] = options.interval.empty()
          ? s[k]
          : std::min(std::max(s[k], options.interval[k].lo), options.interval[k].hi);
  }

  double value_at_point(std::size_t point) const
  {
    if (options.interval.empty()) return grid->value(point);
    double s[MAX_SAMPLED_VARIABLES], inside[MAX_SAMPLED_VARIABLES], dVdS[MAX_SAMPLED_VARIABLES];
    grid->position(point, s);
    clamp(s, inside);
    return sum(inside, dVdS);
  }

  double maximum_of_points(bool only_between_bounds) const
  {
    double v_max = 0.0;
    for (std::size_t point = 0; point < grid->npoints(); ++point)
      if (!only_between_bounds || grid->is_between_bounds(point))
        v_max = std::max(v_max, value_at_point(point));
    return v_max;
  }

  const MetadynamicsOptions options;
  const int n;
  Period period[MAX_SAMPLED_VARIABLES];
  std::unique_ptr<BiasGrid> grid;
  std::vector<Hill> hills;    // only without a grid
  std::int64_t nhills = 0;
  Checksum checksum;    // checksum of all hills in the bias

  // Cached results. The next hill invalidates them.
  double maximum = 0.0, reweighting_offset = 0.0;
  bool have_maximum = false, have_offset = false;
};

Metadynamics::Metadynamics(const MetadynamicsOptions &options) :
    state(std::make_unique<State>(options))
{
  if (!options.grid.empty())
    state->grid = std::make_unique<BiasGrid>(options.names, options.grid, options.grow);
}

Metadynamics::~Metadynamics() = default;

double Metadynamics::evaluate(const double *s, double *dVdS) const
{
  GPUCOORD_COUNT(METADYNAMICS);
  const auto &o = state->options;
  double image[MAX_SAMPLED_VARIABLES], inside[MAX_SAMPLED_VARIABLES];
  HermiteAxis axes[MAX_SAMPLED_VARIABLES];
  for (int k = 0; k < state->n; ++k) {
    if (state->grid) axes[k] = hermite_axis(grid_axes()[k]);
    image[k] = state->grid ? image_within(axes[k], s[k]) : s[k];
  }
  state->clamp(image, inside);
  for (int k = 0; k < state->n && state->grid; ++k) {
    if (inside[k] >= axes[k].lo && inside[k] <= axes[k].hi) continue;
    if (!o.grow)
      throw std::out_of_range("variable " + o.names[k] + " = " + short_text(inside[k]) +
                              " is outside the grid from " + short_text(axes[k].lo) + " to " +
                              short_text(axes[k].hi) +
                              " - leave out grow no, widen keyword grid, or give keyword interval, "
                              "beyond which the bias is constant");
    std::fill(dVdS, dVdS + state->n, 0.0);
    return 0.0;
  }
  const double v = state->sum(inside, dVdS);
  for (int k = 0; k < state->n; ++k)
    if (inside[k] != image[k]) dVdS[k] = 0.0;
  return v;
}

Hill Metadynamics::next_hill(const double *s, double v) const
{
  const auto &o = state->options;
  Hill hill;
  for (int k = 0; k < state->n; ++k) {
    hill.center[k] = s[k];
    hill.sigma[k] = o.sigma[k];
  }
  hill.file_height = o.height;
  if (o.biasfactor > 1.0)
    hill.file_height *=
        std::exp(-v / (o.kt * (o.biasfactor - 1.0))) * (o.biasfactor / (o.biasfactor - 1.0));
  // Round the height as in a restart, which computes it from the file.
  hill.height = height_of_bias(hill.file_height, o.biasfactor);
  check_room({hill});
  return hill;
}

void Metadynamics::check_room(const std::vector<Hill> &hills) const
{
  if (state->grid) state->grid->check_room(hills);
}

void Metadynamics::add(const Hill &hill)
{
  if (state->grid)
    state->grid->add(hill);
  else
    state->hills.push_back(hill);
  ++state->nhills;
  add_to(state->checksum, hill, state->n);
  state->have_maximum = state->have_offset = false;
}

void Metadynamics::add(const std::vector<Hill> &hills)
{
  if (state->grid) state->grid->make_room(hills);
  for (const auto &hill : hills) add(hill);
}

const std::vector<double> &Metadynamics::grid_values() const
{
  return state->grid->all();
}

const std::vector<GridAxis> &Metadynamics::grid_axes() const
{
  return state->grid->all_axes();
}

std::int64_t Metadynamics::nhills() const
{
  return state->nhills;
}

const std::vector<Hill> *Metadynamics::hills() const
{
  return state->grid ? nullptr : &state->hills;
}

std::uint64_t Metadynamics::hills_checksum() const
{
  return state->checksum.value();
}

double Metadynamics::maximum() const
{
  if (state->have_maximum) return state->maximum;
  state->maximum = state->maximum_of_points(false);
  state->have_maximum = true;
  return state->maximum;
}

double Metadynamics::reweighting_offset() const
{
  if (state->have_offset) return state->reweighting_offset;
  const auto &o = state->options;
  const double biased = o.biasfactor > 1.0 ? 1.0 / (o.biasfactor - 1.0) : 0.0;
  const double unbiased = biased + 1.0;    // biasfactor/(biasfactor - 1)
  // Factored out, so that the exponentials are at most 1
  const double v_max = state->maximum_of_points(true);
  double sum_unbiased = 0.0, sum_biased = 0.0;
  for (std::size_t point = 0; point < state->grid->npoints(); ++point) {
    if (state->grid->is_image(point) || !state->grid->is_between_bounds(point)) continue;
    const double v = state->value_at_point(point) - v_max;
    sum_unbiased += std::exp(unbiased * v / o.kt);
    sum_biased += std::exp(biased * v / o.kt);
  }
  state->reweighting_offset = o.kt * std::log(sum_unbiased / sum_biased) + v_max;
  state->have_offset = true;
  return state->reweighting_offset;
}

void Metadynamics::write_grid(const std::string &path) const
{
  state->grid->write(path, state->nhills, state->checksum.text());
}

void Metadynamics::read_grid(const std::string &path, const std::vector<Hill> &hills)
{
  auto grid =
      std::make_unique<BiasGrid>(state->options.names, state->options.grid, state->options.grow);
  const auto written = grid->read(path);
  if (written.nhills > static_cast<std::int64_t>(hills.size()))
    throw std::runtime_error("grid file " + path + " holds " + std::to_string(written.nhills) +
                             " hills, but there are " + std::to_string(hills.size()));
  const std::vector<Hill> first(hills.begin(), hills.begin() + written.nhills);
  Checksum checksum;
  for (const auto &hill : first) add_to(checksum, hill, state->n);

  if (written.checksum_of_hills != checksum.text())
    throw std::runtime_error("grid file " + path + " is not the sum of these hills: the first " +
                             std::to_string(written.nhills) +
                             " have another checksum than those in the grid");
  if (state->options.grow) grid->complete(first);
  state->grid = std::move(grid);
  state->nhills = written.nhills;
  state->checksum = checksum;
  state->have_maximum = state->have_offset = false;
}

std::size_t Metadynamics::bytes() const
{
  return (state->grid ? state->grid->bytes() : 0) + state->hills.capacity() * sizeof(Hill);
}

}    // namespace gpucoord
