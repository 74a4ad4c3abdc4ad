// Part of GPUCOORD, GPL-2.0. Deposits of a bias: their keywords, file, outputs and restart.

#include "depositing_bias.h"

#include "gpucoord/grid_axis.h"

#include "../core/text_files.h"

#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace gpucoord {

namespace {
  // Number of deposits from which their statistics mean something.
  constexpr std::int64_t ENOUGH = 100;

  DepositStatistics statistics_of(const Bias &bias)
  {
    std::vector<Period> periods;
    for (int v = 0; v < bias.nvariables(); ++v) periods.push_back(bias.period(v));
    return DepositStatistics(periods);
  }
}    // namespace

DepositingBias::DepositingBias(const Words &words, std::string noun_in, std::string part_in) :
    Bias(words), noun(std::move(noun_in)), plural(noun + "s"), part(std::move(part_in)),
    statistics(statistics_of(*this))
{
  if (nvariables() > MAX_SAMPLED_VARIABLES)
    words.fail("takes 1 to " + std::to_string(MAX_SAMPLED_VARIABLES) + " variables, not " +
               std::to_string(nvariables()) + " - use several fixes");
  now.own.assign(CENTER + nvariables(), 0.0);
  const auto own = [this](int k) {
    return [this, k] {
      return now.own[k];
    };
  };
  for (int v = 0; v < nvariables(); ++v)
    add_outputs_of_variable(v, "center of the last " + noun, own(CENTER + v),
                            "height of the last " + noun, own(HEIGHT));
  add_output_of_work();
  add_output("number of " + plural, own(COUNT));
}

void DepositingBias::parse_pace(const Words &words)
{
  words.values("pace", 1, "");
  pace = words.integer("pace", 0, 1, "a number of steps");
  if (pace % stride())
    words.fail("pace", 0,
               "pace " + std::to_string(pace) + " is not a multiple of stride " +
                   std::to_string(stride()) + ": " + plural +
                   " are added where the bias is evaluated");
}

void DepositingBias::parse_temperature(const Words &words)
{
  if (!words.has("temp")) return;
  temp = words.real("temp");
  if (!(context.boltzmann * temp > 0.0))    // also if it is too small for a double
    words.fail("temp", 0, "temp is " + shortest_text(temp) + " but must be > 0");
}

void DepositingBias::parse_file(const Words &words)
{
  path = words.values("file", 1, ", the name of the " + plural + " file")[0];
  if (!words.has("append")) return;
  const auto &text = words.values("append", 1, ", yes or no")[0];
  if (text != "yes" && text != "no")
    words.fail("append", 0, "append must be yes or no, not '" + text + "'");
  append = text == "yes";
}

void DepositingBias::parse_sum_file(const Words &words, const std::string &keyword,
                                    const std::string &kind)
{
  if (!words.has(keyword)) return;
  const auto &name = words.values(keyword, 2, ", a number of steps and a file")[1];
  sum_file = {words.integer(keyword, 0, 1, "a number of steps"), keyword, kind, name};
  if (sum_file.every % pace)
    words.fail(keyword, 0,
               keyword + " every " + std::to_string(sum_file.every) +
                   " steps is not a multiple of pace " + std::to_string(pace) +
                   ": it is written when a " + noun + " is added");
  if (name == path)
    words.fail(keyword, 1,
               keyword + " cannot write to the " + plural + " file " + path +
                   " - use another name");
}

std::string DepositingBias::warning_of_rerun() const
{
  std::string text = "rerun adds no " + plural + ", V is that of the " +
      std::to_string(ndeposits()) + " " + plural + " in " + path;
  if (has_earlier || ndeposits() > 0) return text;
  text += " - ";
  if (!backup.empty()) text += "rename " + backup + " to " + path + ", and ";
  return text + "give append yes to have those of an earlier run";
}

std::vector<Bias::File> DepositingBias::written_files() const
{
  std::vector<File> files = {{plural + " file", path}};
  if (sum_file.every) files.push_back({sum_file.kind, sum_file.path});
  return files;
}

/* ---------------------------------------------------------------------- */

void DepositingBias::begin(const BiasStart &start)
{
  auto opened = std::make_unique<DepositFile>(path, format(), context.program, context.units);
  has_earlier = continues(start);
  if (has_earlier)
    resume(start.is_restarted, *opened);
  else {
    restore({});
    backup = opened->create();
    if (!backup.empty())
      context.print(plural + " file " + path + " of an earlier run is now " + backup);
  }
  file = std::move(opened);
  std::error_code none;
  if (sum_file.every && std::filesystem::equivalent(sum_file.path, path, none))
    throw std::runtime_error(sum_file.keyword + " " + sum_file.path + " is the " + plural +
                             " file - give another name");
  saved_checksum = checksum();
  warn_of_other_settings();
}

// Continues with the deposits of an earlier run: all deposits of the file, or those in the bias of
// the restart file. Checks everything before changing anything.
void DepositingBias::resume(bool is_restarted, DepositFile &opened)
{
  const std::int64_t expected = ndeposits();
  const std::string name = plural + " file " + path;
  const std::string way_out = " - give the " + plural + " file of ";
  if (!std::filesystem::exists(path))
    throw std::runtime_error(name + " does not exist" +
                             (is_restarted ? way_out + "the run that wrote the restart file"
                                           : " - use append no for a new file"));
  const auto found = opened.read(is_restarted ? expected : DepositFile::ALL);
  const std::string count = std::to_string(found.deposits.size());
  if (is_restarted && expected > 0)
    for (int v = 0; v < nvariables(); ++v) {
      const double center = found.deposits.back().row[v], saved = now.own[CENTER + v];
      if (center != saved)
        throw std::runtime_error(noun + " " + count + " of " + name + " is at " + labels()[v] +
                                 " = " + shortest_text(center) +
                                 ", but in the run that wrote the restart file it was at " +
                                 shortest_text(saved) + way_out + "that run");
    }
  const std::string restored = restore(found.deposits);
  if (is_restarted && saved_checksum && *saved_checksum != checksum())
    throw std::runtime_error(
        "the first " + count + " " + plural + " of " + name +
        " are not those of the run that wrote the restart file: their checksum differs" + way_out +
        "that run, or use another fix ID and append yes for a new run with these " + plural);

  const std::string later = opened.resume();
  if (!found.damaged.empty())
    context.warn("removed the last line of " + name + ", which was damaged: " + found.damaged);
  if (found.nlater)
    context.print(std::to_string(found.nlater) + " " + plural + " of " + path +
                  " that are later than the restart file are now in " + later);
  if (!found.deposits.empty() && !found.names_units)
    context.warn(name +
                 " does not give the units of its heights - they are assumed to be in units " +
                 context.units);
  warn_of_other_deposits(found.deposits);
  context.print("continues with " + count + " " + plural + " of " + path + restored);
  if (!found.deposits.empty()) set_last(found.deposits.back());
  // Needed for a restart file that is written before the first timestep.
  now.own[COUNT] = static_cast<double>(found.deposits.size());
}

/* ---------------------------------------------------------------------- */

bool DepositingBias::is_deposit_due(const Step &step) const
{
  return step.phase == Step::Phase::LAST_OF_STEP && step.timestep % pace == 0 &&
      step.timestep > last_step;
}

// Makes a deposit before computing the bias of its timestep. A restart at that timestep then
// continues with the same forces.
double DepositingBias::potential(const Step &step, const double *s, double *dVdS)
{
  const double before = sum(s, dVdS);
  check_finite(before, s, dVdS);
  if (!is_deposit_due(step)) return before;
  const Deposit deposit = propose(step.time, s, before);
  // A later run could not read an infinite height.
  check_finite(before + deposit.height(), s, dVdS);
  // Write to the file first, so that no deposit that acts is lost.
  file->append(deposit, [this] {
    return kept_deposits();
  });
  observe(step, s, deposit);
  add_round({deposit});
  set_last(deposit);
  const double v = sum(s, dVdS);
  check_finite(v, s, dVdS);
  now.work += v - before;
  if (sum_file.every && step.timestep % sum_file.every == 0) write_sum(sum_file.path);
  ++now.own[COUNT];
  saved_checksum = checksum();
  last_step = step.timestep;
  return v;
}

void DepositingBias::set_last(const Deposit &deposit)
{
  now.own[HEIGHT] = height_in_bias(deposit);
  for (int v = 0; v < nvariables(); ++v) now.own[CENTER + v] = deposit.row[v];
}

/* ---------------------------------------------------------------------- */

void DepositingBias::begin_run(std::int64_t step)
{
  if (statistics.count() == 0 || step < last_step) {    // the first run, or reset_timestep
    statistics = statistics_of(*this);
    since = step;
    ninside_walls = nsummarized = 0;
  }
  last_step = step;
}

double DepositingBias::sum_at(const double *s) const
{
  double dVdS[MAX_SAMPLED_VARIABLES];
  return sum(s, dVdS);
}

bool DepositingBias::is_inside_wall(const double *s) const
{
  for (int v = 0; v < nvariables(); ++v) {
    if (s[v] < walls(v).lower || s[v] > walls(v).upper) return true;
    if (walls_of_others.empty()) continue;
    if (s[v] < walls_of_others[v].lower || s[v] > walls_of_others[v].upper) return true;
  }
  return false;
}

// Takes S of a deposit that is about to be added. The host knows S in these timesteps even if a GPU
// evaluates the bias in all others, and the previous S, too: state() has it.
void DepositingBias::observe(const Step &step, const double *s, const Deposit &deposit)
{
  const bool has_previous = step.timestep - stride() >= last_step;
  for (int v = 0; v < nvariables() && has_previous && !has_warned_of_jump; ++v) {
    const std::string text = warning_of_jump(labels()[v], period(v).difference(s[v], now.s[v]),
                                             deposit.row[nvariables() + v]);
    if (!text.empty()) context.warn(text);
    has_warned_of_jump = !text.empty();
  }
  if (is_inside_wall(s)) ++ninside_walls;
  statistics.add(s, [this](const double *at) {
    return sum_at(at);
  });
  if (statistics.count() % ENOUGH == 0) check_statistics(deposit);
}

// sigma and pace are compared with S once, before the bias is flat and S moves faster. If S
// hardly moves in a pace, its fluctuation is not yet known.
void DepositingBias::check_statistics(const Deposit &deposit)
{
  for (int v = 0; v < nvariables() && statistics.count() == ENOUGH; ++v) {
    const auto &variable = statistics.variable(v);
    std::string text = warning_of_pace(labels()[v], variable.autocorrelation(), pace, plural);
    if (text.empty())
      text = warning_of_sigma(labels()[v], deposit.row[nvariables() + v], variable.fluctuation(),
                              plural);
    if (!text.empty()) context.warn(text);
  }
  if (has_warned_of_walls) return;
  const std::string text = warning_of_walls(ninside_walls, statistics.count(), plural);
  if (!text.empty()) context.warn(text);
  has_warned_of_walls = !text.empty();
}

std::string DepositingBias::summary()
{
  const std::int64_t count = statistics.count();
  if (count < ENOUGH || count == nsummarized) return "";
  nsummarized = count;
  std::string text = std::to_string(count) + " " + plural + " since step " + std::to_string(since);
  for (int v = 0; v < nvariables(); ++v) {
    const auto &variable = statistics.variable(v);
    text += ", " + labels()[v] + " " + short_text(variable.lowest(), 4) + " to " +
        short_text(variable.highest(), 4) + " with " + text_of_crossings(variable.ncrossings()) +
        ", neff " + short_text(std::floor(statistics.neffective(v)));
  }
  const double change = statistics.change_in_second_half([this](const double *at) {
    return sum_at(at);
  });
  text += "; the second half changed V by " + short_text(change, 3);
  if (temp > 0.0) text += " (" + short_text(change / (context.boltzmann * temp), 3) + " kT)";
  return text;
}

/* ---------------------------------------------------------------------- */

void DepositingBias::save(ArchiveParts &parts) const
{
  Bias::save(parts);
  Archive archive;
  archive.write(static_cast<std::int64_t>(saved_checksum.has_value()));
  archive.write(static_cast<std::int64_t>(saved_checksum.value_or(0)));
  parts.add(part, 1, archive);
}

void DepositingBias::load(ArchiveParts &parts)
{
  Bias::load(parts);
  parts.take(part, 1, [this](Archive &archive) {
    const bool has_checksum = archive.read_integer() != 0;
    if (!(now.own[COUNT] >= 0.0 && now.own[COUNT] < 1e15) || (ndeposits() > 0 && !has_checksum))
      throw ArchiveParts::damaged();
    const auto found = static_cast<std::uint64_t>(archive.read_integer());
    if (has_checksum) saved_checksum = found;
  });
}

}    // namespace gpucoord
