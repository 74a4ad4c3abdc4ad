// Part of GPUCOORD, GPL-2.0.

#include "gpucoord/metadynamics.h"

#include "bias_grid.h"
#include "gaussian.h"
#include "text_files.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gpucoord {

static double sum_of_hills(const Hill *hills, std::size_t count, int n, const double *s, double *slope)
{
  double v = 0.0;
  std::fill(slope, slope + n, 0.0);
  for (std::size_t h = 0; h < count; ++h) {
    double z[MAX_METAD_VARIABLES];
    const double e = stretched_exponential(hills[h], n, s, z);
    if (e == 0.0) continue;
    v += e - hill_offset(hills[h]);
    for (int k = 0; k < n; ++k) slope[k] -= e * z[k];
  }
  return v;
}

struct Metadynamics::State {
  explicit State(const MetadynamicsOptions &o) : options(o), n(static_cast<int>(o.names.size())) {}

  // V at any place where it is defined, without regard to the interval
  double sum(const double *s, double *slope) const
  {
    return grid ? grid->evaluate(s, slope) : sum_of_hills(hills.data(), hills.size(), n, s, slope);
  }

  // the place whose bias acts at s
  void clamp(const double *s, double *inside) const
  {
    for (int k = 0; k < n; ++k)
      inside[k] = options.interval.empty()
          ? s[k]
          : std::min(std::max(s[k], options.interval[k].lo), options.interval[k].hi);
  }

  double value_at(const double *s) const
  {
    double inside[MAX_METAD_VARIABLES], slope[MAX_METAD_VARIABLES];
    clamp(s, inside);
    return sum(inside, slope);
  }

  double value_at_point(std::size_t point) const
  {
    if (options.interval.empty()) return grid->value(point);
    double s[MAX_METAD_VARIABLES];
    grid->position(point, s);
    return value_at(s);
  }

  const MetadynamicsOptions options;
  const int n;
  std::unique_ptr<BiasGrid> grid;
  std::vector<Hill> hills;    // without a grid
  std::int64_t nhills = 0;

  // what was computed since the last hill
  double maximum = 0.0, reweighting_offset = 0.0;
  bool have_maximum = false, have_offset = false;
};

Metadynamics::Metadynamics(const MetadynamicsOptions &options) : state(std::make_unique<State>(options))
{
  if (!options.grid.empty()) state->grid = std::make_unique<BiasGrid>(options.names, options.grid);
}

Metadynamics::~Metadynamics() = default;

double Metadynamics::evaluate(const double *s, double *slope) const
{
  const auto &o = state->options;
  double inside[MAX_METAD_VARIABLES];
  state->clamp(s, inside);
  for (int k = 0; k < state->n && !o.grid.empty(); ++k)
    if (!(inside[k] >= o.grid[k].lo && inside[k] <= o.grid[k].hi))
      throw std::out_of_range("variable " + o.names[k] + " = " + short_text(inside[k]) + " is outside the grid from " +
                              short_text(o.grid[k].lo) + " to " + short_text(o.grid[k].hi) +
                              " - widen keyword grid, or give keyword interval, beyond which the bias is constant");
  const double v = state->sum(inside, slope);
  for (int k = 0; k < state->n; ++k)
    if (inside[k] != s[k]) slope[k] = 0.0;
  return v;
}

Hill Metadynamics::next_hill(const double *s, double v) const
{
  const auto &o = state->options;
  Hill hill;
  for (int k = 0; k < state->n; ++k) {
    hill.centre[k] = s[k];
    hill.sigma[k] = o.sigma[k];
  }
  hill.file_height = o.height;
  if (o.biasfactor > 1.0)
    hill.file_height *= std::exp(-v / (o.kt * (o.biasfactor - 1.0))) * (o.biasfactor / (o.biasfactor - 1.0));
  // what a restart would find in the file
  hill.height = height_of_bias(hill.file_height, o.biasfactor);
  return hill;
}

void Metadynamics::add(const Hill &hill)
{
  if (state->grid)
    state->grid->add(hill);
  else
    state->hills.push_back(hill);
  ++state->nhills;
  state->have_maximum = state->have_offset = false;
}

const MetadynamicsOptions &Metadynamics::options() const
{
  return state->options;
}

const std::vector<double> &Metadynamics::grid_values() const
{
  return state->grid->all();
}

std::int64_t Metadynamics::nhills() const
{
  return state->nhills;
}

double Metadynamics::maximum() const
{
  if (state->have_maximum) return state->maximum;
  double most = 0.0;
  for (std::size_t point = 0; point < state->grid->npoints(); ++point)
    most = std::max(most, state->value_at_point(point));
  state->maximum = most;
  state->have_maximum = true;
  return most;
}

double Metadynamics::reweighting_offset() const
{
  if (state->have_offset) return state->reweighting_offset;
  const auto &o = state->options;
  const double biased = o.biasfactor > 1.0 ? 1.0 / (o.biasfactor - 1.0) : 0.0;
  const double unbiased = biased + 1.0;    // biasfactor/(biasfactor - 1)
  const double most = maximum();           // taken out of the exponentials: they stay below 1
  double sum_unbiased = 0.0, sum_biased = 0.0;
  for (std::size_t point = 0; point < state->grid->npoints(); ++point) {
    const double v = state->value_at_point(point) - most;
    sum_unbiased += std::exp(unbiased * v / o.kt);
    sum_biased += std::exp(biased * v / o.kt);
  }
  state->reweighting_offset = o.kt * std::log(sum_unbiased / sum_biased) + most;
  state->have_offset = true;
  return state->reweighting_offset;
}

void Metadynamics::write_grid(const std::string &path) const
{
  state->grid->write(path, state->nhills);
}

void Metadynamics::read_grid(const std::string &path, const std::vector<Hill> &hills)
{
  const auto count = state->grid->read(path);
  if (count > static_cast<std::int64_t>(hills.size()))
    throw std::runtime_error("grid file " + path + " holds " + std::to_string(count) + " hills, but there are " +
                             std::to_string(hills.size()));
  state->nhills = count;
  state->have_maximum = state->have_offset = false;
  if (count == 0) return;

  // a grid of other hills would pass: look at the point next to the last one
  const std::size_t point = state->grid->nearest(hills[count - 1].centre);
  double s[MAX_METAD_VARIABLES], slope[MAX_METAD_VARIABLES], largest = 0.0;
  state->grid->position(point, s);
  const double v = sum_of_hills(hills.data(), count, state->n, s, slope);
  for (std::int64_t h = 0; h < count; ++h) largest = std::max(largest, std::fabs(hills[h].height));
  if (!(std::fabs(v - state->grid->value(point)) <= 1e-9 * (std::fabs(v) + largest)))
    throw std::runtime_error("grid file " + path + " is not the sum of these hills: it has V = " +
                             short_text(state->grid->value(point)) + " at " + state->options.names[0] + " = " +
                             short_text(s[0]) + ", where the first " + std::to_string(count) + " hills have " +
                             short_text(v));
}

std::size_t Metadynamics::bytes() const
{
  return (state->grid ? state->grid->bytes() : 0) + state->hills.capacity() * sizeof(Hill);
}

}    // namespace gpucoord
