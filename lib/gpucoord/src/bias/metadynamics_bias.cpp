// Part of GPUCOORD, GPL-2.0. Metadynamics as a kind of bias: its keywords, hills and grid.

#include "gpucoord/device_terms.h"
#include "gpucoord/metadynamics.h"

#include "../core/text_files.h"
#include "depositing_bias.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr double SAME_LENGTH = 1e-9;    // relative rounding error of a period

  std::string text_of_biasfactor(double biasfactor)
  {
    return biasfactor > 1.0 ? "biasfactor " + shortest_text(biasfactor) : "no biasfactor";
  }

  std::vector<Hill> hills_of(const std::vector<Deposit> &deposits)
  {
    std::vector<Hill> hills;
    for (const auto &deposit : deposits) hills.push_back(hill_of(deposit));
    return hills;
  }

  class MetadynamicsBias : public DepositingBias {
   public:
    explicit MetadynamicsBias(const Words &);

    std::string formula(std::int64_t first_step) const override;
    void begin(const BiasStart &) override;
    std::string summary() override;
    bool needs_host(const Step &step) const override
    {
      return options.grid.empty() || !has_begun() || must_open_file() || is_deposit_due(step);
    }
    void on_device(const Step &, DeviceTerms &) const override;
    // That of the first hill, at its center: later hills together are flatter.
    Stiffness stiffness(int v, double /*s*/) const override
    {
      const double curvature =
          options.height / (options.sigma[v] * options.sigma[v] * (1.0 - std::exp(-6.25)));
      return {curvature, "height", options.height};
    }
    Walls walls(int v) const override
    {
      if (options.interval.empty()) return {};
      return {options.interval[v].lo, options.interval[v].hi};
    }
    std::size_t bytes() const override
    {
      return DepositingBias::bytes() + (metad ? metad->bytes() : 0);
    }
    std::string memory_advice() const override
    {
      return options.grid.empty() ? " - use keyword grid" : " - use a smaller grid";
    }

   protected:
    DepositFormat format() const override { return hills_format(options); }
    // PLUMED reads a column of this name, which must have integers.
    std::string walker_column() const override { return "clock"; }
    Deposit propose(double time, const double *s, double v) const override
    {
      return deposit_of(metad->next_hill(s, v), options, time);
    }
    // The hills of walkers may need more room together than each of them.
    void complete(std::vector<Deposit> &deposits) override { check_room(deposits); }
    void check_room(const std::vector<Deposit> &deposits) const override
    {
      metad->check_room(hills_of(deposits));
    }
    double largest_sum(const std::vector<Deposit> &, std::size_t first) const override;
    void add_round(const std::vector<Deposit> &deposits) override
    {
      metad->add(hills_of(deposits));
    }
    double sum(const double *s, double *dVdS) const override { return metad->evaluate(s, dVdS); }
    std::uint64_t checksum() const override { return metad->hills_checksum(); }
    std::string restore(const std::vector<Deposit> &) override;
    void warn_of_other_deposits(const std::vector<Deposit> &,
                                const std::string &of_file) const override;
    std::optional<std::vector<Deposit>> kept_deposits() const override;
    double height_in_bias(const Deposit &deposit) const override { return hill_of(deposit).height; }
    double added_at_center(const Deposit &deposit) const override
    {
      return height_in_bias(deposit);
    }
    void write_sum(const std::string &path) const override { metad->write_grid(path); }
    std::string too_large() const override { return "height"; }
    double sigma_of_basin(int v) const override { return options.sigma[v]; }
    std::vector<Setting> settings() const override;

   private:
    void parse_hills(const Words &);
    void parse_grid(const Words &);

    MetadynamicsOptions options;
    std::string read_grid;
    std::unique_ptr<Metadynamics> metad;    // only on rank 0, set by begin()
    std::vector<GridAxis> told_axes;        // of the grid, in the last line about its growth
  };

  MetadynamicsBias::MetadynamicsBias(const Words &words) :
      DepositingBias(words, "hill", "metadynamics")
  {
    options.names = names();
    options.period = context.periods;
    parse_hills(words);
    parse_grid(words);
    parse_file(words);
    parse_sum_file(words, "write_grid", "grid file");
    if (words.has("read_grid")) read_grid = words.values("read_grid", 1, ", a file")[0];
    parse_guard(words);
    parse_walkers(words, true);
    if (has_walkers() && !read_grid.empty())
      words.fail("read_grid",
                 "keyword read_grid cannot be used with walkers - leave it out: walker 0 reads all "
                 "hills from its hills file");
    if (!options.grid.empty())
      add_output(
          "maximum of V",
          [this] {
            return has_begun() ? metad->maximum() : 0.0;
          },
          true);
    if (!options.grid.empty() && options.kt > 0.0)
      add_output(
          "c(t)",
          [this] {
            return has_begun() ? metad->reweighting_offset() : 0.0;
          },
          true);
    add_outputs_of_rounds();
  }

  void MetadynamicsBias::parse_hills(const Words &words)
  {
    options.sigma = words.reals("sigma");
    for (int v = 0; v < nvariables(); ++v) {
      words.above_0("sigma", v);
      if (period(v).exists() && options.sigma[v] > largest_sigma(period(v)))
        words.fail("sigma", v,
                   "sigma is " + shortest_text(options.sigma[v]) +
                       " but must be <= " + short_text(largest_sigma(period(v)), 6) + " for " +
                       labels()[v] + ", or a hill overlaps its own image in the next period");
    }
    options.height = words.above_0("height");
    parse_pace(words);
    parse_temperature(words);
    options.kt = context.boltzmann * temp;
    if (words.has("biasfactor")) {
      options.biasfactor = words.real("biasfactor");
      if (!(options.biasfactor > 1.0))
        words.fail("biasfactor", 0,
                   "biasfactor is " + shortest_text(options.biasfactor) +
                       " but must be > 1 - leave it out for hills of constant height");
      if (!words.has("temp"))
        words.fail("biasfactor",
                   "biasfactor needs keyword temp, the temperature of the thermostat");
    }
  }

  void MetadynamicsBias::parse_grid(const Words &words)
  {
    if (words.has("grid")) {
      if (!words.has("bins"))
        words.fail("grid", "keyword grid needs keyword bins, the number of bins");
      words.values("bins", nvariables(), words.for_each_variable("one"));
      const auto ranges = words.intervals("grid");
      double points = 1.0;
      for (int v = 0; v < nvariables(); ++v) {
        options.grid.push_back(
            {ranges[v].lo, ranges[v].hi, words.integer("bins", v, 1, "a number of bins")});
        points *= options.grid[v].bins + 1.0;
      }
      if (points > MAX_GRID_POINTS)
        words.fail("bins",
                   "grid has " + short_text(points, 15) +
                       " points, more than 1e8 - use fewer bins");
      for (int v = 0; v < nvariables(); ++v) {
        if (!period(v).exists()) continue;
        auto &axis = options.grid[v];
        const double length = axis.hi - axis.lo;
        if (!(std::fabs(length - period(v).length) <= SAME_LENGTH * period(v).length))
          words.fail("grid", 2 * v,
                     "grid of " + labels()[v] + " from " + shortest_text(axis.lo) + " to " +
                         shortest_text(axis.hi) + " must have the length of its period, " +
                         shortest_text(period(v).length) + " - use " + text_of_bound(period(v).lo) +
                         " " + text_of_bound(period(v).hi()));
        axis.is_periodic = true;
      }
      for (int v = 0; v < nvariables(); ++v) {
        const auto &axis = options.grid[v];
        const double sigma = options.sigma[v];
        if (axis.spacing() > sigma)
          words.fail("bins", v,
                     ": points of the grid of " + labels()[v] + " are " +
                         short_text(axis.spacing(), 6) + " apart, which is more than its sigma " +
                         short_text(sigma, 6) + " - use " +
                         std::to_string(static_cast<std::int64_t>(
                             std::ceil(2.0 * (axis.hi - axis.lo) / sigma))) +
                         " bins or more, so that they are at most half a sigma apart");
      }
    } else
      for (const char *keyword : {"bins", "grow", "write_grid", "read_grid"})
        if (words.has(keyword))
          words.fail(keyword, std::string("keyword ") + keyword + " needs keyword grid");

    // V beyond an interval needs no points there.
    options.grow = words.yes_no("grow", true) && !words.has("interval");
    if (words.has("grow") && words.yes_no("grow", true) && !options.grow)
      words.fail(
          "grow", 0,
          "grow yes is not possible with interval, beyond which V is constant - leave out one of "
          "them");

    if (!words.has("interval")) return;
    for (int v = 0; v < nvariables(); ++v)
      if (period(v).exists())
        words.fail("interval",
                   "interval cannot end the bias of " + labels()[v] +
                       ", which is periodic - leave out keyword interval");
    options.interval = words.intervals("interval");
    for (int v = 0; v < nvariables() && !options.grid.empty(); ++v) {
      const auto &interval = options.interval[v];
      const auto &axis = options.grid[v];
      if (interval.lo < axis.lo || interval.hi > axis.hi)
        words.fail("interval", 2 * v,
                   "interval of " + labels()[v] + " from " + shortest_text(interval.lo) + " to " +
                       shortest_text(interval.hi) + " reaches beyond the grid from " +
                       shortest_text(axis.lo) + " to " + shortest_text(axis.hi) +
                       " - widen keyword grid");
    }
  }

  std::string MetadynamicsBias::formula(std::int64_t /*first_step*/) const
  {
    std::string text =
        "V = sum over hills of h (exp(-u) - exp(-6.25))/(1 - exp(-6.25)) for u < 6.25, u =";
    for (int v = 0; v < nvariables(); ++v)
      text += std::string(v ? " +" : "") + " (" + labels()[v] + " - s_" + std::to_string(v + 1) +
          ")^2/(2 " + short_text(options.sigma[v]) + "^2)";
    text += "\n  h = " + short_text(options.height);
    if (options.biasfactor > 1.0)
      text += " exp(-V/(" + short_text(options.biasfactor - 1.0) + " kT)), biasfactor " +
          short_text(options.biasfactor);
    if (options.kt > 0.0)
      text += ", kT = " + short_text(options.kt) + " at temp " + short_text(temp);
    text += ", a hill every " + std::to_string(pace) + " steps";
    for (std::size_t v = 0; v < options.grid.size(); ++v)
      text += std::string(v ? "," : "\n  grid:") + " " + labels()[v] + " from " +
          short_text(options.grid[v].lo) + " to " + short_text(options.grid[v].hi) + " in " +
          std::to_string(options.grid[v].bins) + " bins";
    for (std::size_t v = 0; v < options.interval.size(); ++v)
      text += std::string(v ? "," : "\n  constant beyond the interval:") + " " + labels()[v] +
          " from " + short_text(options.interval[v].lo) + " to " +
          short_text(options.interval[v].hi);
    return text + periods_in_words() + sharing_in_words() + "\n  hills file " + path + ": units " +
        context.units + ", heights" +
        (options.biasfactor > 1.0 ? " times biasfactor/(biasfactor - 1)" : " of the bias");
  }

  /* ---------------------------------------------------------------------- */

  void MetadynamicsBias::begin(const BiasStart &start)
  {
    for (const auto &name : names())
      for (const char *part : {"time", "sigma_", "min_", "max_"})
        if (name.find(part) != std::string::npos)
          context.warn("plumed sum_hills cannot read hills of a variable whose name contains " +
                       std::string(part) + ": " + name);
    if (!read_grid.empty() && !continues(start))
      throw std::runtime_error(
          "keyword read_grid " + read_grid +
          " continues an earlier run and also needs its hills - use append yes");
    DepositingBias::begin(start);
    if (!options.grid.empty()) told_axes = metad->grid_axes();
  }

  // A line about a grid that has grown in the run comes first.
  std::string MetadynamicsBias::summary()
  {
    std::string text;
    for (std::size_t v = 0; v < told_axes.size(); ++v) {
      const GridAxis &axis = metad->grid_axes()[v];
      const auto range = [](const GridAxis &of) {
        return short_text(of.point(of.first()), 6) + " to " + short_text(of.point(of.last()), 6);
      };
      if (axis.size() != told_axes[v].size())
        text += (text.empty() ? "the grid has grown: " : ", ") + labels()[v] + " from " +
            range(told_axes[v]) + " is now from " + range(axis) + " in " +
            std::to_string(axis.size() - 1) + " bins";
    }
    if (!told_axes.empty()) told_axes = metad->grid_axes();
    if (!text.empty()) context.print(text);
    return DepositingBias::summary();
  }

  std::string MetadynamicsBias::restore(const std::vector<Deposit> &deposits)
  {
    const auto hills = hills_of(deposits);
    metad = std::make_unique<Metadynamics>(options);
    if (!read_grid.empty()) {
      try {
        metad->read_grid(read_grid, hills);
      } catch (const std::runtime_error &e) {
        throw std::runtime_error(
            std::string(e.what()) +
            " - leave out keyword read_grid to take all hills from the hills file");
      }
    }
    const std::int64_t ngrid_hills = metad->nhills();
    for (std::size_t h = ngrid_hills; h < hills.size(); ++h) metad->add(hills[h]);
    return ngrid_hills ? ", " + std::to_string(ngrid_hills) + " of them from grid file " + read_grid
                       : "";
  }

  // Hills of one sigma whose centers are within a quarter of it act as one at their mean center.
  // Otherwise, the time would grow with the square of their number.
  double MetadynamicsBias::largest_sum(const std::vector<Deposit> &deposits,
                                       std::size_t first) const
  {
    struct Group {
      Hill hill;
      double count = 0.0;
      bool is_checked = false;
    };
    // By the index of a quarter of a sigma, and the sigma, of each variable
    std::map<std::array<double, 2 * MAX_SAMPLED_VARIABLES>, Group> groups;
    for (std::size_t d = 0; d < deposits.size(); ++d) {
      const Hill hill = hill_of(deposits[d]);
      std::array<double, 2 *MAX_SAMPLED_VARIABLES> key = {};
      for (int v = 0; v < nvariables(); ++v) {
        key[2 * v] = std::floor(4.0 * hill.center[v] / hill.sigma[v]);
        key[2 * v + 1] = hill.sigma[v];
      }
      Group &group = groups[key];
      if (group.count++ == 0.0)
        group.hill = hill;
      else {
        for (int v = 0; v < nvariables(); ++v)
          group.hill.center[v] += (hill.center[v] - group.hill.center[v]) / group.count;
        group.hill.height += hill.height;
      }
      group.is_checked = group.is_checked || d >= first;
    }
    MetadynamicsOptions of_sum = options;
    of_sum.grid.clear();
    Metadynamics added(of_sum);
    for (const auto &[key, group] : groups) added.add(group.hill);
    double result = 0.0;
    for (const auto &[key, group] : groups) {
      if (!group.is_checked) continue;
      double s[MAX_SAMPLED_VARIABLES], dVdS[MAX_SAMPLED_VARIABLES];
      for (int v = 0; v < nvariables(); ++v) {
        s[v] = group.hill.center[v];
        if (options.grid.empty() || options.grow || period(v).exists()) continue;
        s[v] = std::min(std::max(s[v], options.grid[v].lo), options.grid[v].hi);
      }
      const double v = metad->evaluate(s, dVdS) + added.evaluate(s, dVdS);
      if (std::fabs(v) > std::fabs(result)) result = v;
    }
    return result;
  }

  void MetadynamicsBias::warn_of_other_deposits(const std::vector<Deposit> &deposits,
                                                const std::string &of_file) const
  {
    double other = 0.0;
    for (const auto &deposit : deposits)
      if (deposit.row.back() != options.biasfactor) other = deposit.row.back();
    if (other != 0.0)
      context.warn("hills file " + of_file + " has hills with " + text_of_biasfactor(other) +
                   ", but the fix has " + text_of_biasfactor(options.biasfactor) +
                   " - heights are converted with the biasfactor of the file");
  }

  std::optional<std::vector<Deposit>> MetadynamicsBias::kept_deposits() const
  {
    if (!metad->hills()) return {};
    std::vector<Deposit> deposits;
    for (const auto &hill : *metad->hills()) deposits.push_back(deposit_of(hill, options));
    return deposits;
  }

  void MetadynamicsBias::on_device(const Step &, DeviceTerms &result) const
  {
    // Assigned one by one, so that no memory is allocated in each step
    result.grid.axes = metad->grid_axes();
    result.grid.interval = options.interval;
    result.grid.values = &metad->grid_values();
    result.grid.version = metad->nhills();
    result.grid.zero_outside = options.grow;
  }

  std::vector<Bias::Setting> MetadynamicsBias::settings() const
  {
    std::string sigma = "sigma", grid = options.grid.empty() ? "no grid" : "grid", bins = " bins";
    std::string interval = options.interval.empty() ? "no interval" : "interval";
    const auto range = [](double lo, double hi) {
      return " " + shortest_text(lo) + " " + shortest_text(hi);
    };
    for (const double width : options.sigma) sigma += " " + shortest_text(width);
    for (const auto &axis : options.grid) {
      grid += range(axis.lo, axis.hi);
      bins += " " + std::to_string(axis.bins);
    }
    if (!options.grid.empty()) grid += bins;
    for (const auto &limits : options.interval) interval += range(limits.lo, limits.hi);
    std::vector<Setting> list = {{"sigma", sigma},
                                 {"height", "height " + shortest_text(options.height)},
                                 {"pace", "pace " + std::to_string(pace)},
                                 {"biasfactor", text_of_biasfactor(options.biasfactor)},
                                 {"temp", temp > 0.0 ? "temp " + shortest_text(temp) : "no temp"},
                                 {"grid", grid},
                                 {"interval", interval},
                                 {"stride", "stride " + std::to_string(stride())}};
    if (!options.grid.empty() && options.interval.empty())
      list.push_back({"grow", options.grow ? "grow yes" : "grow no"});
    return list;
  }

}    // namespace

std::unique_ptr<Bias> make_metadynamics_bias(Words &words)
{
  std::vector<Words::Keyword> known = {
      "sigma",         "height",    "pace",     "biasfactor", "temp",        "grid",
      "bins",          {"grow", 1}, "interval", {"file", 1},  {"append", 1}, {"write_grid", 2},
      {"read_grid", 1}};
  for (const auto &keyword : DepositingBias::keywords()) known.push_back(keyword);
  words.parse(known);
  return std::make_unique<MetadynamicsBias>(words);
}

}    // namespace gpucoord
