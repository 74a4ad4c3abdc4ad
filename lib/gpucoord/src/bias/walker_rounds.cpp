// Part of GPUCOORD, GPL-2.0. Meetings of walkers that share a bias.

#include "walker_rounds.h"

#include "../core/checksum.h"
#include "../core/text_files.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gpucoord {

Walkers::~Walkers() = default;

void WalkerRecord::set_text(const std::string &from)
{
  const std::size_t size = std::min<std::size_t>(from.size(), MAX_TEXT - 1);
  std::memcpy(text, from.data(), size);
  text[size] = '\0';
}

static std::string name_of(std::size_t walker)
{
  return "walker " + std::to_string(walker);
}

// Returns the lines of two texts that differ first, or empty texts.
static std::pair<std::string, std::string> first_difference(const std::string &a,
                                                            const std::string &b)
{
  for (std::size_t begin = 0; begin < std::max(a.size(), b.size());) {
    const auto line = [begin](const std::string &text) {
      return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin) : "";
    };
    if (line(a) != line(b)) return {line(a), line(b)};
    begin += line(a).size() + 1;
  }
  return {};
}

/* ---------------------------------------------------------------------- */

WalkerRecord WalkerRounds::record(Record::Meeting meeting, Record::Status status) const
{
  Record result;
  result.meeting = meeting;
  result.status = status;
  result.settings = settings;
  result.rounds = rounds;
  return result;
}

// on_first: called on walker 0 if nothing is wrong. Its failure is that of walker 0.
std::vector<WalkerRecord>
WalkerRounds::meet(const Record &mine,
                   const std::function<void(const std::vector<Record> &)> &on_first)
{
  if (has_stopped)
    throw std::runtime_error("the walkers have stopped after an error - define the fix again");
  has_stopped = true;    // until all is well
  auto found = walkers->gather(mine);
  std::string bytes;
  if (is_first()) {
    if (problem(found).empty()) {
      try {
        on_first(found);
      } catch (const std::exception &e) {
        found[0].status = Record::FAILED;
        found[0].set_text(e.what());
      }
    }
    bytes.assign(reinterpret_cast<const char *>(found.data()), found.size() * sizeof(Record));
  }
  walkers->send_to_all(bytes);
  found.resize(count());
  if (bytes.size() != found.size() * sizeof(Record))
    throw std::runtime_error("walker 0 uses another version of GPUCOORD - use the same for all");
  std::memcpy(static_cast<void *>(found.data()), bytes.data(), bytes.size());
  const std::string why = problem(found);
  if (!why.empty()) throw std::runtime_error(why);
  has_stopped = false;
  return found;
}

// Returns why these records end all walkers, or "".
std::string WalkerRounds::problem(const std::vector<Record> &found) const
{
  for (std::size_t w = 0; w < found.size(); ++w)
    if (found[w].text[Record::MAX_TEXT - 1] != '\0' ||
        (found[w].status == Record::DEPOSIT && found[w].ncolumns != ncolumns))
      return name_of(w) + " has sent a damaged record - continue from the last restart files";
  for (std::size_t w = 0; w < found.size(); ++w)
    if (found[w].status == Record::FAILED) return name_of(w) + ": " + found[w].text;
  // A walker with several such biases leaves them in another order than others meet for them.
  for (const Record &one : found)
    if (one.status == Record::LEFT) return "";
  const Record &first = found[0];
  for (std::size_t w = 1; w < found.size(); ++w) {
    const Record &other = found[w];
    const bool both_start = first.meeting == Record::START && other.meeting == Record::START;
    const std::string text = both_start ? problem_at_start(first, other) : "";
    if (!text.empty()) return name_of(w) + text;
    if (first.meeting != other.meeting || first.settings != other.settings ||
        (!both_start && first.rounds != other.rounds))
      return name_of(w) +
          " is in another part of its input than walker 0, or came again after its patience had "
          "ended - use the same fixes and runs in all partitions, and a larger patience";
  }
  return "";
}

std::string WalkerRounds::problem_at_start(const Record &first, const Record &other) const
{
  if (first.settings != other.settings) {
    const auto [ours, theirs] = first_difference(first.text, other.text);
    if (ours.empty() && theirs.empty())
      return " has other settings - use the same fix in all partitions";
    return " has " + (theirs.empty() ? "other settings" : printable(theirs)) +
        ", but walker 0 has " + (ours.empty() ? "none of these" : printable(ours)) +
        " - use the same fix in all partitions";
  }
  if (!other.is_restarted) return "";    // a new walker
  const std::string way_out = ", or use another fix ID and append yes";
  if (!first.is_restarted)
    return " continues from a restart file, but walker 0 does not - read restart files in all "
           "partitions" +
        way_out;
  if (first.rounds != other.rounds)
    return " continues after round " + std::to_string(other.rounds) +
        " of the walkers, but walker 0 after round " + std::to_string(first.rounds) +
        " - read restart files of one timestep" + way_out;
  if (first.bias != other.bias)
    return " has other " + noun +
        "s in its restart file than walker 0 - read restart files of one "
        "run" +
        way_out;
  return "";
}

/* ---------------------------------------------------------------------- */

std::string WalkerRounds::start(const std::vector<std::string> &lines, bool is_restarted,
                                double size_of_timestep, std::uint64_t bias)
{
  const std::string text = walkers->name() + "\n" + joined(lines, 0, "\n");
  Checksum sum;
  sum.add(text.data(), text.size());
  settings = sum.value();
  Record mine = record(Record::START, Record::SKIP);
  mine.bias = bias;
  mine.is_restarted = is_restarted;
  mine.size_of_timestep = size_of_timestep;
  mine.set_text(text);
  const auto found = meet(mine, [](const std::vector<Record> &) {
  });
  rounds = found[0].rounds;
  for (std::size_t w = 1; w < found.size(); ++w)
    if (found[w].size_of_timestep != found[0].size_of_timestep)
      return name_of(w) + " has timestep " + shortest_text(found[w].size_of_timestep) +
          ", but walker 0 has " + shortest_text(found[0].size_of_timestep) +
          " - the time of each " + noun + " is that of its walker";
  return "";
}

void WalkerRounds::share(const std::function<std::string()> &make,
                         const std::function<void(const std::string &)> &take)
{
  std::string bytes, failure;
  if (is_first()) {
    try {
      bytes = "+" + make();
    } catch (const std::exception &e) {
      bytes = std::string("-") + e.what();
    }
  }
  has_stopped = true;
  walkers->send_to_all(bytes);
  if (bytes.empty()) throw std::runtime_error("walker 0 has sent nothing");
  if (bytes[0] == '-') throw std::runtime_error("walker 0: " + bytes.substr(1));
  has_stopped = false;
  if (!is_first()) take(bytes.substr(1));
}

void WalkerRounds::begin_run(std::int64_t step, std::int64_t last_step, int pace)
{
  Record mine = record(Record::RUN, Record::SKIP);
  mine.timestep = step;
  mine.remaining = std::max<std::int64_t>(last_step / pace - step / pace, 0);
  who_left = -1;
  is_running = false;
  const auto found = meet(mine, [](const std::vector<Record> &) {
  });
  bool differ = false;
  std::string list;
  for (std::size_t w = 0; w < found.size(); ++w) {
    differ = differ || found[w].remaining != found[0].remaining ||
        found[w].timestep % pace != found[0].timestep % pace;
    list += (w ? ", " : "") + name_of(w) + " has " + std::to_string(found[w].remaining) + " " +
        noun + "s to add from step " + std::to_string(found[w].timestep);
  }
  has_stopped = differ;
  if (differ)
    throw std::runtime_error(
        "runs of walkers must add equal numbers of " + noun +
        "s from equal steps, up to multiples of pace " + std::to_string(pace) + ", but " + list +
        " - use the same run command in all partitions, or reset_timestep before it");
  is_running = true;
}

WalkerRounds::Round
WalkerRounds::exchange(const std::vector<Deposit> &mine, std::int64_t step, std::uint64_t bias,
                       const std::function<void(const std::vector<Deposit> &)> &write)
{
  Record sent = record(Record::ROUND, mine.empty() ? Record::SKIP : Record::DEPOSIT);
  sent.timestep = step;
  sent.bias = bias;
  if (!mine.empty()) {
    const auto &row = mine[0].row;
    if (row.size() > Record::MAX_COLUMNS) throw std::logic_error("a deposit has too many columns");
    sent.time = mine[0].time;
    sent.ncolumns = static_cast<std::int64_t>(row.size());
    std::copy(row.begin(), row.end(), sent.row);
  }
  const auto deposits_of = [](const std::vector<Record> &found) {
    std::vector<Deposit> result;
    for (std::size_t w = 0; w < found.size(); ++w)
      if (found[w].status == Record::LEFT)
        return std::vector<Deposit>();
      else if (found[w].status == Record::DEPOSIT)
        result.push_back(
            {found[w].time, {found[w].row, found[w].row + found[w].ncolumns}, static_cast<int>(w)});
    return result;
  };
  const auto found = meet(sent, [&](const std::vector<Record> &all) {
    write(deposits_of(all));
  });
  Round round = {deposits_of(found)};
  find_who_left(found);
  if (who_left >= 0) {
    is_running = false;
    return round;
  }
  ++rounds;
  for (const Record &one : found) round.is_same = round.is_same && one.bias == bias;
  return round;
}

std::string WalkerRounds::fail(const std::string &why, bool before_runs)
{
  if (has_stopped || (!is_running && !before_runs)) return "";
  Record mine = record(Record::ROUND, Record::FAILED);
  mine.set_text(why);
  try {
    meet(mine, [](const std::vector<Record> &) {
    });
  } catch (const std::exception &e) {
    const std::string text = e.what();
    return text.find(mine.text) == std::string::npos ? why + " (and " + text + ")" : text;
  }
  return "";
}

bool WalkerRounds::end_run(bool is_early)
{
  if (!is_running || has_stopped) return false;
  is_running = false;
  const auto found = meet(record(Record::END, is_early ? Record::LEFT : Record::SKIP),
                          [](const std::vector<Record> &) {
                          });
  if (is_early) return false;
  find_who_left(found);
  return who_left >= 0;
}

void WalkerRounds::find_who_left(const std::vector<Record> &found)
{
  for (std::size_t w = 0; w < found.size(); ++w)
    if (found[w].status == Record::LEFT) who_left = static_cast<int>(w);
}

}    // namespace gpucoord
