// Part of GPUCOORD, GPL-2.0. Metadynamics as a kind of bias: its keywords, hills file and restart.

#include "gpucoord/bias.h"
#include "gpucoord/device_terms.h"
#include "gpucoord/hills_file.h"
#include "gpucoord/metadynamics.h"

#include "../core/text_files.h"
#include "words.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>

namespace gpucoord {

namespace {

  constexpr double MAX_POINTS = 1e8;      // grid points
  constexpr double SAME_LENGTH = 1e-9;    // relative rounding error of a period

  std::string with_digits(const char *format, double value)
  {
    char text[32];
    std::snprintf(text, sizeof(text), format, value);
    return text;
  }

  std::string text_of_biasfactor(double biasfactor)
  {
    return biasfactor > 1.0 ? "biasfactor " + shortest_text(biasfactor) : "no biasfactor";
  }

  class MetadynamicsBias : public Bias {
   public:
    explicit MetadynamicsBias(const Words &);

    std::string formula(std::int64_t first_step) const override;
    std::string warning_of_rerun() const override;
    bool on_rank_0() const override { return true; }
    double temperature() const override { return temp; }
    std::vector<File> written_files() const override;
    void begin(const BiasStart &) override;
    void begin_run(std::int64_t step) override { last_hill_step = step; }
    bool needs_host(const Step &step) const override
    {
      return options.grid.empty() || !metad || is_hill_due(step);
    }
    void on_device(const Step &, DeviceTerms &) const override;
    void save(ArchiveParts &) const override;
    void load(ArchiveParts &) override;
    std::size_t bytes() const override { return metad ? metad->bytes() : 0; }

   protected:
    double potential(const Step &, const double *s, double *dVdS) override;
    std::string too_large() const override { return "height"; }
    std::vector<Setting> settings() const override;

   private:
    void parse_hills(const Words &);
    void parse_grid(const Words &);
    void parse_files(const Words &);

    void warn_of_names() const;
    void open(HillsFile &);
    void resume(bool is_restarted, Metadynamics &, HillsFile &);
    bool is_hill_due(const Step &) const;
    void deposit(const Step &, const double *s, const double *dVdS, double v);
    void set_last_hill(const Hill &);

    // Indices in BiasState::own, which all ranks know. HEIGHT and CENTER belong to the last
    // hill; CENTER is the first of one element per variable.
    enum { NHILLS, HEIGHT, CENTER };
    std::int64_t nhills() const { return static_cast<std::int64_t>(now.own[NHILLS]); }

    MetadynamicsOptions options;
    int pace = 0;
    double temp = 0.0;    // 0: not given
    std::string file;
    bool append = false;
    bool continues = false;    // with the hills of an earlier run
    std::string backup;        // new name of the hills file of an earlier run, or ""
    int write_grid_every = 0;
    std::string write_grid, read_grid;

    std::unique_ptr<Metadynamics> metad;    // only on rank 0, set by begin()
    std::unique_ptr<HillsFile> hills;
    // Checksum of the hills in the bias, on rank 0. Empty before begin() and load().
    std::optional<std::uint64_t> hills_checksum;
    // Timestep of the last hill, or of the start of the run.
    std::int64_t last_hill_step = 0;
  };

  MetadynamicsBias::MetadynamicsBias(const Words &words) : Bias(words)
  {
    if (nvariables() > MAX_SAMPLED_VARIABLES)
      words.fail("takes 1 to " + std::to_string(MAX_SAMPLED_VARIABLES) + " variables, not " +
                 std::to_string(nvariables()) + " - use several fixes");
    options.names = names();
    options.period = context.periods;
    parse_hills(words);
    parse_grid(words);
    parse_files(words);

    now.own.assign(CENTER + nvariables(), 0.0);
    for (int v = 0; v < nvariables(); ++v)
      add_outputs_of_variable(
          v, "center of the last hill",
          [this, v] {
            return now.own[CENTER + v];
          },
          "height of the last hill",
          [this] {
            return now.own[HEIGHT];
          });
    add_output_of_work();
    add_output("number of hills", [this] {
      return now.own[NHILLS];
    });
    if (options.grid.empty()) return;
    add_output(
        "maximum of V",
        [this] {
          return metad ? metad->maximum() : 0.0;
        },
        true);
    if (options.kt > 0.0)
      add_output(
          "c(t)",
          [this] {
            return metad ? metad->reweighting_offset() : 0.0;
          },
          true);
  }

  void MetadynamicsBias::parse_hills(const Words &words)
  {
    options.sigma = words.reals("sigma");
    for (int v = 0; v < nvariables(); ++v)
      if (!(options.sigma[v] > 0.0))
        words.fail("sigma", v, "sigma is " + shortest_text(options.sigma[v]) + " but must be > 0");
      else if (period(v).exists() && options.sigma[v] > largest_sigma(period(v)))
        words.fail("sigma", v,
                   "sigma is " + shortest_text(options.sigma[v]) +
                       " but must be <= " + short_text(largest_sigma(period(v)), 6) + " for " +
                       labels()[v] + ", or a hill overlaps its own image in the next period");
    options.height = words.real("height");
    if (!(options.height > 0.0))
      words.fail("height", 0, "height is " + shortest_text(options.height) + " but must be > 0");
    words.values("pace", 1, "");
    pace = words.integer("pace", 0, 1, "a number of steps");
    if (pace % stride())
      words.fail("pace", 0,
                 "pace " + std::to_string(pace) + " is not a multiple of stride " +
                     std::to_string(stride()) + ": hills are added where the bias is evaluated");

    if (words.has("temp")) {
      temp = words.real("temp");
      options.kt = context.boltzmann * temp;
      if (!(options.kt > 0.0))    // also if it is too small for a double
        words.fail("temp", 0, "temp is " + shortest_text(temp) + " but must be > 0");
    }
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
      if (points > MAX_POINTS)
        words.fail("bins",
                   "grid has " + with_digits("%.4g", points) +
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
                         with_digits("%.6g", axis.spacing()) +
                         " apart, which is more than its sigma " + with_digits("%.6g", sigma) +
                         " - use " +
                         std::to_string(static_cast<std::int64_t>(
                             std::ceil(2.0 * (axis.hi - axis.lo) / sigma))) +
                         " bins or more, so that they are at most half a sigma apart");
      }
    } else
      for (const char *keyword : {"bins", "write_grid", "read_grid"})
        if (words.has(keyword))
          words.fail(keyword, std::string("keyword ") + keyword + " needs keyword grid");

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

  void MetadynamicsBias::parse_files(const Words &words)
  {
    file = words.values("file", 1, ", the name of the hills file")[0];
    if (words.has("append")) {
      const auto &text = words.values("append", 1, ", yes or no")[0];
      if (text != "yes" && text != "no")
        words.fail("append", 0, "append must be yes or no, not '" + text + "'");
      append = text == "yes";
    }
    if (words.has("write_grid")) {
      write_grid = words.values("write_grid", 2, ", a number of steps and a file")[1];
      write_grid_every = words.integer("write_grid", 0, 1, "a number of steps");
      if (write_grid_every % pace)
        words.fail("write_grid", 0,
                   "write_grid every " + std::to_string(write_grid_every) +
                       " steps is not a multiple of pace " + std::to_string(pace) +
                       ": it is written when a hill is added");
      if (write_grid == file)
        words.fail("write_grid", 1,
                   "write_grid cannot write to the hills file " + file + " - use another name");
    }
    if (words.has("read_grid")) read_grid = words.values("read_grid", 1, ", a file")[0];
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
    return text + periods_in_words() + "\n  hills file " + file + ": units " + context.units +
        ", heights" +
        (options.biasfactor > 1.0 ? " times biasfactor/(biasfactor - 1)" : " of the bias");
  }

  std::string MetadynamicsBias::warning_of_rerun() const
  {
    std::string text =
        "rerun adds no hills, V is that of the " + std::to_string(nhills()) + " hills in " + file;
    if (continues || nhills() > 0) return text;
    text += " - ";
    if (!backup.empty()) text += "rename " + backup + " to " + file + ", and ";
    return text + "give append yes to have those of an earlier run";
  }

  /* ---------------------------------------------------------------------- */

  void MetadynamicsBias::begin(const BiasStart &start)
  {
    warn_of_names();
    try {
      auto bias = std::make_unique<Metadynamics>(options);
      auto hills_file = std::make_unique<HillsFile>(file, options, context.program, context.units);
      continues = start.is_restarted || append;
      if (continues)
        resume(start.is_restarted, *bias, *hills_file);
      else
        open(*hills_file);
      metad = std::move(bias);
      hills = std::move(hills_file);
    } catch (const std::bad_alloc &) {
      throw std::runtime_error(options.grid.empty() ? "out of memory"
                                                    : "out of memory - use a smaller grid");
    }
    std::error_code none;
    if (!write_grid.empty() && std::filesystem::equivalent(write_grid, file, none))
      throw std::runtime_error("write_grid " + write_grid +
                               " is the hills file - give another name");
    // Needed for a restart file that is written before the first timestep.
    now.own[NHILLS] = static_cast<double>(metad->nhills());
    hills_checksum = metad->hills_checksum();
    warn_of_other_settings();
  }

  void MetadynamicsBias::warn_of_names() const
  {
    for (const auto &name : names())
      for (const char *part : {"time", "sigma_", "min_", "max_"})
        if (name.find(part) != std::string::npos)
          context.warn("plumed sum_hills cannot read hills of a variable whose name contains " +
                       std::string(part) + ": " + name);
  }

  // Starts a new hills file.
  void MetadynamicsBias::open(HillsFile &hills_file)
  {
    if (!read_grid.empty())
      throw std::runtime_error(
          "keyword read_grid " + read_grid +
          " continues an earlier run and also needs its hills - use append yes");
    backup = hills_file.create();
    if (!backup.empty())
      context.print("hills file " + file + " of an earlier run is now " + backup);
  }

  // Continues with the hills of an earlier run: all hills of the file, or those in the bias of the
  // restart file. Checks everything before changing anything.
  void MetadynamicsBias::resume(bool is_restarted, Metadynamics &bias, HillsFile &hills_file)
  {
    const std::int64_t expected = nhills();
    if (!std::filesystem::exists(file))
      throw std::runtime_error("hills file " + file + " does not exist - " +
                               (is_restarted
                                    ? "give the hills file of the run that wrote the restart file"
                                    : "use append no for a new file"));
    const auto found = hills_file.read(is_restarted ? expected : HillsFile::ALL);
    if (is_restarted && expected > 0)
      for (int v = 0; v < nvariables(); ++v) {
        const double center = found.hills.back().center[v], saved = now.own[CENTER + v];
        if (center != saved)
          throw std::runtime_error("hill " + std::to_string(expected) + " of hills file " + file +
                                   " is at " + labels()[v] + " = " + shortest_text(center) +
                                   ", but in the run that wrote the restart file it was at " +
                                   shortest_text(saved) + " - give the hills file of that run");
      }
    std::int64_t ngrid_hills = 0;
    if (!read_grid.empty()) {
      try {
        bias.read_grid(read_grid, found.hills);
      } catch (const std::runtime_error &e) {
        throw std::runtime_error(
            std::string(e.what()) +
            " - leave out keyword read_grid to take all hills from the hills file");
      }
      ngrid_hills = bias.nhills();
    }
    for (std::size_t h = ngrid_hills; h < found.hills.size(); ++h) bias.add(found.hills[h]);
    if (is_restarted && hills_checksum && *hills_checksum != bias.hills_checksum())
      throw std::runtime_error(
          "the first " + std::to_string(expected) + " hills of hills file " + file +
          " are not those of the run that wrote the restart file: their checksum differs - give "
          "the hills file of that run, or use another fix ID and append yes for a new run with "
          "these hills");

    const std::string later = hills_file.resume();
    if (!found.damaged.empty())
      context.warn("removed the last line of hills file " + file +
                   ", which was damaged: " + found.damaged);
    if (found.nlater)
      context.print(std::to_string(found.nlater) + " hills of " + file +
                    " that are later than the restart file are now in " + later);
    if (!found.hills.empty() && !found.names_units)
      context.warn("hills file " + file +
                   " does not give the units of its heights - they are assumed to be in units " +
                   context.units);
    if (found.other_biasfactor != 0.0)
      context.warn("hills file " + file + " has hills with " +
                   text_of_biasfactor(found.other_biasfactor) + ", but the fix has " +
                   text_of_biasfactor(options.biasfactor) +
                   " - heights are converted with the biasfactor of the file");
    context.print("continues with " + std::to_string(found.hills.size()) + " hills of " + file +
                  (ngrid_hills
                       ? ", " + std::to_string(ngrid_hills) + " of them from grid file " + read_grid
                       : ""));
    if (!found.hills.empty()) set_last_hill(found.hills.back());
  }

  /* ---------------------------------------------------------------------- */

  bool MetadynamicsBias::is_hill_due(const Step &step) const
  {
    return step.phase == Step::Phase::LAST_OF_STEP && step.timestep % pace == 0 &&
        step.timestep > last_hill_step;
  }

  // Adds a hill before computing the bias of its timestep. A restart at that timestep then
  // continues with the same forces.
  double MetadynamicsBias::potential(const Step &step, const double *s, double *dVdS)
  {
    const bool deposits = is_hill_due(step);
    double v = metad->evaluate(s, dVdS);
    check_finite(v, s, dVdS);
    if (deposits) {
      deposit(step, s, dVdS, v);
      const double before = v;
      v = metad->evaluate(s, dVdS);
      check_finite(v, s, dVdS);
      now.work += v - before;
      if (write_grid_every && step.timestep % write_grid_every == 0) metad->write_grid(write_grid);
      now.own[NHILLS] = static_cast<double>(metad->nhills());
      hills_checksum = metad->hills_checksum();
      last_hill_step = step.timestep;
    }
    return v;
  }

  // dVdS, v: at s, before the hill is added
  void MetadynamicsBias::deposit(const Step &step, const double *s, const double *dVdS, double v)
  {
    const auto hill = metad->next_hill(s, v);
    check_finite(v + hill.file_height, s, dVdS);    // a later run could not read an infinite height
    // Write to the file first, so that no hill that acts is lost.
    hills->append(step.time, hill, metad->hills());
    metad->add(hill);
    set_last_hill(hill);
  }

  void MetadynamicsBias::set_last_hill(const Hill &hill)
  {
    now.own[HEIGHT] = hill.height;
    for (int v = 0; v < nvariables(); ++v) now.own[CENTER + v] = hill.center[v];
  }

  void MetadynamicsBias::on_device(const Step &, DeviceTerms &result) const
  {
    // Assigned one by one, so that no memory is allocated in each step
    result.grid.axes = options.grid;
    result.grid.interval = options.interval;
    result.grid.values = &metad->grid_values();
    result.grid.version = metad->nhills();
  }

  std::vector<Bias::File> MetadynamicsBias::written_files() const
  {
    std::vector<File> files = {{"hills file", file}};
    if (!write_grid.empty()) files.push_back({"grid file", write_grid});
    return files;
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
    return {{"sigma", sigma},
            {"height", "height " + shortest_text(options.height)},
            {"pace", "pace " + std::to_string(pace)},
            {"biasfactor", text_of_biasfactor(options.biasfactor)},
            {"temp", temp > 0.0 ? "temp " + shortest_text(temp) : "no temp"},
            {"grid", grid},
            {"interval", interval},
            {"stride", "stride " + std::to_string(stride())}};
  }

  void MetadynamicsBias::save(ArchiveParts &parts) const
  {
    Bias::save(parts);
    Archive archive;
    archive.write(static_cast<std::int64_t>(hills_checksum.has_value()));
    archive.write(static_cast<std::int64_t>(hills_checksum.value_or(0)));
    parts.add("metadynamics", 1, archive);
  }

  void MetadynamicsBias::load(ArchiveParts &parts)
  {
    Bias::load(parts);
    parts.take("metadynamics", 1, [this](Archive &archive) {
      const bool has_checksum = archive.read_integer() != 0;
      if (!(now.own[NHILLS] >= 0.0 && now.own[NHILLS] < 1e15) || (nhills() > 0 && !has_checksum))
        throw ArchiveParts::damaged();
      const auto checksum = static_cast<std::uint64_t>(archive.read_integer());
      if (has_checksum) hills_checksum = checksum;
    });
  }

}    // namespace

std::unique_ptr<Bias> make_metadynamics_bias(Words &words)
{
  words.parse({"sigma",
               "height",
               "pace",
               "biasfactor",
               "temp",
               "grid",
               "bins",
               "interval",
               {"file", 1},
               {"append", 1},
               {"write_grid", 2},
               {"read_grid", 1}});
  return std::make_unique<MetadynamicsBias>(words);
}

}    // namespace gpucoord
