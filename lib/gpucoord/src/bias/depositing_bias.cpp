// Part of GPUCOORD, GPL-2.0. Deposits of a bias: their keywords, file, outputs and restart.

#include "depositing_bias.h"

#include "gpucoord/grid_axis.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// Returns the first multiple of n above a number, or the last one below it if that is too large for
// a keyword, for messages.
static std::string next_multiple(int n, int number)
{
  const int below = number / n * n;
  return std::to_string(below > std::numeric_limits<int>::max() - n ? below : below + n);
}

void DepositingBias::parse_pace(const Words &words)
{
  words.values("pace", 1, "");
  pace = words.integer("pace", 0, 1, "a number of steps");
  if (pace % stride())
    words.fail("pace", 0,
               "pace " + std::to_string(pace) + " is not a multiple of stride " +
                   std::to_string(stride()) + ": " + plural +
                   " are added where the bias is evaluated - use pace " +
                   next_multiple(stride(), pace));
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
  append = words.yes_no("append", false);
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
                   ": it is written when a " + noun + " is added - use " +
                   next_multiple(pace, sum_file.every));
  if (name == path)
    words.fail(keyword, 1,
               keyword + " cannot write to the " + plural + " file " + path +
                   " - use another name");
}

void DepositingBias::parse_walkers(const Words &words, bool can_read)
{
  if (words.has_first("walkers", "files")) {
    const auto &given = words.values(
        "walkers", 4, ", files, a folder, the name of this walker and a number of steps");
    if (!can_read)
      words.fail("walkers", 0,
                 "walkers files is not possible, because the sum depends on the order of " +
                     plural + " - use walkers partitions");
    if (!WalkerFiles::is_name(given[2]))
      words.fail("walkers", 2,
                 "name of a walker '" + printable(given[2]) +
                     "' must have 1 to 100 letters, digits, _ and - only");
    const int every = words.integer("walkers", 3, 1, "a number of steps");
    if (every % pace)
      words.fail("walkers", 3,
                 "walkers files every " + std::to_string(every) +
                     " steps is not a multiple of pace " + std::to_string(pace) + ": " + plural +
                     " of other walkers are read when a " + noun + " is added - use " +
                     next_multiple(pace, every));
    files = std::make_unique<WalkerFiles>(given[1], given[2], every, pace);
  } else if (words.has("walkers")) {
    words.values("walkers", 1, ", partitions, or 4 values, files DIR NAME N");
    if (!context.walkers)
      words.fail("walkers", 0, "walkers partitions is not possible in this program - leave it out");
    rounds = std::make_unique<WalkerRounds>(context.walkers, noun, 2 * nvariables() + 2);
  }
  if (!words.has("patience")) return;
  words.values("patience", 1, "");
  const int patience = words.integer("patience", 0, 1, "a number of seconds");
  if (!rounds) words.fail("patience", "keyword patience needs walkers partitions");
  context.walkers->patience = patience;
}

void DepositingBias::add_outputs_of_rounds()
{
  if (rounds)
    add_output("number of walkers", [this] {
      return static_cast<double>(rounds->count());
    });
  if (files)
    add_output(
        "number of walkers",
        [this] {
          return static_cast<double>(files->names().size());
        },
        true);
  if (!guard.is_on()) return;
  // On demand, because only rank 0 counts.
  add_output(
      "number of " + plural + " left out",
      [this] {
        return static_cast<double>(guard.nskipped());
      },
      true);
}

std::vector<std::string> DepositingBias::caller_variables() const
{
  if (guard.caller_variable().empty()) return {};
  return {guard.caller_variable()};
}

// The condition is the same on all ranks.
void DepositingBias::set(const Step &step,
                         const std::function<double(const std::string &)> &value_of)
{
  if (guard.caller_variable().empty() || step.phase != Step::Phase::LAST_OF_STEP ||
      step.timestep % pace)
    return;
  guard.set_variable(value_of(guard.caller_variable()));
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
  if (rounds && !rounds->is_first()) return {};
  std::vector<File> written = {{plural + " file", path}};
  if (files) written.push_back({plural + " file", files->path()});
  if (sum_file.every) written.push_back({sum_file.kind, sum_file.path});
  return written;
}

/* ---------------------------------------------------------------------- */

void DepositingBias::join_run(std::int64_t step, std::int64_t last)
{
  end_of_run = last;
  rounds->begin_run(step, last, pace);
}

bool DepositingBias::leave_run(std::int64_t step)
{
  if (!rounds->end_run(step < end_of_run)) return false;
  context.print("walker " + std::to_string(rounds->left()) +
                " has ended its run before its last step: later runs are left out");
  return true;
}

/* ---------------------------------------------------------------------- */

bool DepositingBias::is_deposit_due(const Step &step) const
{
  return step.phase == Step::Phase::LAST_OF_STEP && step.timestep % pace == 0 &&
      step.timestep > last_step;
}

double DepositingBias::potential(const Step &step, const double *s, double *dVdS)
{
  if (!failure_of_files.empty()) throw std::runtime_error(failure_of_files);
  if (!rounds) return evaluate_and_deposit(step, s, dVdS);
  std::string failure;
  try {
    return evaluate_and_deposit(step, s, dVdS);
  } catch (const std::bad_alloc &) {
    rounds->fail("out of memory" + memory_advice());
    throw;
  } catch (const std::exception &e) {
    failure = rounds->fail(e.what());
    if (failure.empty()) throw;
  }
  throw std::runtime_error(failure);
}

// Makes a deposit before computing the bias of its timestep. A restart at that timestep then
// continues with the same forces.
double DepositingBias::evaluate_and_deposit(const Step &step, const double *s, double *dVdS)
{
  if (files && !is_sharing && is_deposit_due(step)) begin_sharing(false);
  const double before = sum(s, dVdS);
  check_finite(before, s, dVdS);
  // The own file begins after V of the setup, so that a wrong command leaves the folder unchanged.
  if (must_open_file()) begin_own_file();
  if (!is_deposit_due(step)) return before;
  const std::string advice =
      "check " + too_large() + " and temp, which are in units " + context.units;
  if (guard.is_on() || rounds) check_weight(before, advice);
  std::vector<Deposit> mine;
  if (can_deposit() && !guard.skips(s)) {
    mine = {propose(step.time, s, before)};
    // A later run could not read an infinite height.
    check_finite(before + mine[0].height(), s, dVdS);
    if (guard.is_on() || rounds) check_weight(before + added_at_center(mine[0]), advice);
    guard.count_deposit();
  }
  const auto deposits = round_of(step, mine);
  for (const auto &deposit : deposits)
    if (deposit.walker == (rounds ? rounds->mine() : 0)) observe(step, s, deposit);
  last_step = step.timestep;
  const bool writes = sum_file.every && step.timestep % sum_file.every == 0 && file;
  if (deposits.empty()) {
    if (writes) write_sum_file();
    return before;
  }
  if (rounds && rounds->is_first() && deposits.size() > 1 && !has_compared_walkers)
    warn_of_equal_walkers(deposits);
  add_deposits(deposits);
  const double v = sum(s, dVdS);
  check_finite(v, s, dVdS);
  now.work += v - before;
  if (writes) write_sum_file();
  return v;
}

void DepositingBias::write_sum_file() const
{
  try {
    write_sum(sum_file.path);
  } catch (const std::runtime_error &e) {
    throw std::runtime_error(
        e.what() +
        (" - all " + plural + " are in " + path +
         "; make room, or allow writing, in its folder, and continue from the last restart file"));
  }
}

void DepositingBias::add_deposits(const std::vector<Deposit> &deposits)
{
  or_stop([&] {
    add_round(deposits);
  });
  set_last(deposits.back());
  now.own[COUNT] += static_cast<double>(deposits.size());
  saved_checksum = checksum();
}

// Returns the deposits of all walkers in this timestep, and writes them to the file first, so that
// no deposit that acts is lost.
std::vector<Deposit> DepositingBias::round_of(const Step &step, const std::vector<Deposit> &mine)
{
  std::vector<Deposit> deposits = mine;
  if (!rounds) {
    if (files && step.timestep % files->every() == 0) {
      deposits = read_others(mine);
      deposits.insert(deposits.end(), mine.begin(), mine.end());
    }
    write(deposits);
    return deposits;
  }
  const auto write_all = [this, &deposits](const std::vector<Deposit> &proposed) {
    deposits = proposed;
    try {
      write(deposits);
    } catch (const std::bad_alloc &) {
      throw std::runtime_error("out of memory" + memory_advice());
    }
  };
  const auto round = rounds->exchange(mine, step.timestep, checksum(), write_all);
  if (!rounds->is_first()) {
    deposits = round.deposits;
    if (!deposits.empty()) complete(deposits);
  }
  if (must_end())
    context.print("walker " + std::to_string(rounds->left()) +
                  " has ended its run before its last " + noun + ": this run ends, too");
  if (!round.is_same) {
    context.warn("walkers had different sums of " + plural +
                 " - they continue with that of walker 0");
    share_deposits([this] {
      const auto kept = kept_deposits();
      if (!kept)
        throw std::runtime_error("walkers have different sums of " + plural +
                                 " - continue from their last restart files");
      return *kept;
    });
  }
  return deposits;
}

// mine: deposit of this walker in the same timestep, for which there must be room
std::vector<Deposit> DepositingBias::read_others(const std::vector<Deposit> &mine)
{
  const auto nknown = static_cast<int>(files->names().size());
  const std::string move = "move the file to another folder";
  const auto with_memory = [this](const auto &work) {
    try {
      work();
    } catch (const std::bad_alloc &) {
      throw std::runtime_error("no memory for the " + plural + memory_advice());
    }
  };
  const auto check = [&](const Deposit &deposit) {
    // Any number of lower ones has a finite V and derivative.
    constexpr double LARGEST = 1e200;
    for (int v = 0; v < nvariables(); ++v) {
      const double sigma = deposit.row[nvariables() + v];
      if (std::fabs(deposit.height()) > LARGEST * std::min(sigma, 1.0))
        throw std::runtime_error("height " + shortest_text(deposit.height()) + " at sigma " +
                                 shortest_text(sigma) + " is too large - " + move);
    }
    with_memory([&] {
      check_room({deposit});
    });
  };
  const auto check_all = [&](const std::vector<Deposit> &others, std::size_t first) {
    // Half of the V that ends this walker, because V may be larger between the centers.
    constexpr double LARGEST_OF_OTHERS = 350.0;
    with_memory([&] {
      auto all = others;
      all.insert(all.end(), mine.begin(), mine.end());
      check_room(all);
      if (guard.is_on()) check_weight(largest_sum(others, first), move, LARGEST_OF_OTHERS);
    });
  };
  std::vector<Deposit> deposits;
  or_stop([&] {
    deposits = files->read(check, check_all);
  });
  std::map<int, std::vector<Deposit>> of_new;    // walkers
  for (const auto &deposit : deposits)
    if (deposit.walker >= nknown) of_new[deposit.walker].push_back(deposit);
  for (const auto &[walker, its] : of_new) warn_of_other_deposits(its, files->path(walker));
  return deposits;
}

void DepositingBias::write(std::vector<Deposit> &deposits)
{
  const auto known = [this] {
    return known_deposits();
  };
  or_stop([&] {
    if (!deposits.empty()) complete(deposits);
    if (files) file->name_walkers(files->names());
    for (const auto &deposit : deposits) {
      file->append(deposit, known);
      if (rounds || files) order.push_back(deposit.walker);
      if (files) files->add(deposit, known);
    }
  });
}

// Does a part of a deposit. With walkers files, no step follows if it fails: deposits of others may
// have been read and written that are not in V.
void DepositingBias::or_stop(const std::function<void()> &work)
{
  try {
    work();
  } catch (const std::bad_alloc &) {
    if (files) failure_of_files = "out of memory" + memory_advice();
    throw;
  } catch (const std::exception &e) {
    if (files) failure_of_files = e.what();
    throw;
  }
}

std::optional<std::vector<Deposit>> DepositingBias::known_deposits() const
{
  auto kept = kept_deposits();
  if (kept && (rounds || files))
    for (std::size_t k = 0; k < kept->size(); ++k) (*kept)[k].walker = order[k];
  return kept;
}

void DepositingBias::set_last(const Deposit &deposit)
{
  now.own[HEIGHT] = height_in_bias(deposit);
  for (int v = 0; v < nvariables(); ++v) now.own[CENTER + v] = deposit.row[v];
}

// exp(V/kT) is the weight of S in averages of the unbiased system.
// largest: magnitude of V in kT; exp(710) overflows
void DepositingBias::check_weight(double v, const std::string &way_out, double largest) const
{
  const double kt = context.boltzmann * temp;
  if (!(temp > 0.0) || !(std::fabs(v) > largest * kt)) return;
  throw std::runtime_error("V = " + shortest_text(v) + " is " + short_text(v / kt, 4) +
                           " kT at temp " + shortest_text(temp) +
                           (v > 0.0 ? ", more than " : ", below -") + short_text(largest) +
                           " kT - " + way_out);
}

/* ---------------------------------------------------------------------- */

void DepositingBias::begin_run(std::int64_t step)
{
  const bool is_reset = step < last_step;    // reset_timestep
  if (since < 0 || is_reset) {
    is_since_restart = is_since_restart && !is_reset;
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
  for (int v = 0; v < nvariables() && has_previous && !checked.jumps; ++v) {
    const std::string text = warning_of_jump(labels()[v], period(v).difference(s[v], now.s[v]),
                                             deposit.row[nvariables() + v], keyword_of_sigma());
    if (!text.empty()) context.warn(text);
    checked.jumps = !text.empty();
  }
  if (is_inside_wall(s)) ++ninside_walls;
  statistics.add(s, [this](const double *at) {
    return sum_at(at);
  });
  if (statistics.count() % ENOUGH == 0) check_statistics();
}

void DepositingBias::warn_of_equal_walkers(const std::vector<Deposit> &first_round)
{
  has_compared_walkers = true;
  std::vector<int> numbers;
  std::vector<std::vector<double>> s;
  for (const auto &deposit : first_round) {
    numbers.push_back(deposit.walker);
    s.emplace_back(deposit.row.begin(), deposit.row.begin() + nvariables());
  }
  const std::string text = warning_of_equal_walkers(numbers, s, labels());
  if (!text.empty()) context.warn(text);
}

// sigma and pace are compared with S once, before the bias is flat and S moves faster, and not
// again in a run that continues. If S hardly moves in a pace, its fluctuation is not yet known.
void DepositingBias::check_statistics()
{
  for (int v = 0; v < nvariables() && !checked.sampling; ++v) {
    const auto &variable = statistics.variable(v);
    std::string text = warning_of_pace(labels()[v], variable.autocorrelation(),
                                       variable.least_autocorrelation(), pace, plural);
    if (text.empty() && sigma_of_basin(v) > 0.0)
      text = warning_of_sigma(labels()[v], sigma_of_basin(v), variable.fluctuation(), plural);
    if (!text.empty()) context.warn(text);
  }
  checked.sampling = true;
  if (checked.walls) return;
  const std::string text = warning_of_walls(ninside_walls, statistics.count(), plural);
  if (!text.empty()) context.warn(text);
  checked.walls = !text.empty();
}

std::string DepositingBias::summary()
{
  const std::int64_t count = statistics.count();
  if (count < ENOUGH || count == nsummarized) return "";
  nsummarized = count;
  std::string text = std::to_string(count) + " " + plural;
  if (rounds) text += " of walker " + std::to_string(rounds->mine());
  if (files) text += " of walker " + files->name(0);
  text += std::string(" since ") + (is_since_restart ? "the restart at " : "") + "step " +
      std::to_string(since);
  if (ndeposits() != count) text += ", of " + std::to_string(ndeposits()) + " in " + path;
  for (int v = 0; v < nvariables(); ++v) {
    const auto &variable = statistics.variable(v);
    text += period(v).exists() ? ", distance of " + labels()[v] + " from its first value "
                               : ", " + labels()[v] + " ";
    text += short_text(variable.lowest(), 4) + " to " + short_text(variable.highest(), 4) +
        " with " + text_of_crossings(variable.ncrossings()) + ", " +
        short_text(std::floor(statistics.neffective(v))) + " independent values";
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
  Archive flags;
  flags.write(static_cast<std::int64_t>(checked.sampling + 2 * checked.jumps + 4 * checked.walls));
  parts.add("checked", 1, flags);
  if (guard.is_on()) {
    Archive counts;
    guard.save(counts);
    parts.add("guard", 1, counts);
  }
  if (rounds) {
    Archive number;
    number.write(rounds->nrounds());
    parts.add("walkers", 1, number);
  }
  if (files) {
    Archive names;
    files->save(names);
    parts.add("walker_files", 1, names);
  }
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
  if (parts.has("checked"))    // older files have no such part
    parts.take("checked", 1, [this](Archive &archive) {
      const std::int64_t flags = archive.read_integer();
      if (flags < 0 || flags > 7) throw ArchiveParts::damaged();
      checked = {(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
    });
  if (parts.has("guard"))
    parts.take("guard", 1, [this](Archive &archive) {
      guard.load(archive);
    });
  if (parts.has("walkers"))
    parts.take("walkers", 1, [this](Archive &archive) {
      const std::int64_t nrounds = archive.read_integer();
      if (nrounds < 0) throw ArchiveParts::damaged();
      if (rounds) rounds->set_nrounds(nrounds);
    });
  if (parts.has("walker_files"))
    parts.take("walker_files", 1, [this](Archive &archive) {
      if (!files)
        throw std::runtime_error(
            "the restart file is that of a run with walkers files - give these "
            "keywords, or use another fix ID");
      files->load(archive);
    });
}

}    // namespace gpucoord
