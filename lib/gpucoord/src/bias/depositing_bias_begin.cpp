// Part of GPUCOORD, GPL-2.0. The beginning of a bias with deposits: its file, an earlier run, and
// walkers.

#include "depositing_bias.h"

#include "../core/text_files.h"

#include <filesystem>
#include <stdexcept>

namespace gpucoord {

void DepositingBias::begin(const BiasStart &start)
{
  if (rounds)
    begin_with_walkers(start);
  else
    begin_file(start);
  is_since_restart = start.is_restarted;
  is_ready = true;
  if (files && !start.is_rerun) begin_sharing(start.is_restarted);
}

// Reads the files of the others. After a rerun, the first deposit does so.
void DepositingBias::begin_sharing(bool is_restarted)
{
  is_sharing = true;
  // A run that continues from a restart file reads in the same timesteps as if it had gone on.
  if (is_restarted) return;
  auto deposits = read_others({});
  if (deposits.empty()) return;
  write(deposits);
  add_deposits(deposits);
}

// Opens the file of this walker.
void DepositingBias::begin_own_file()
{
  has_own_file = true;
  try {
    if (has_earlier) {
      files->resume();
      return;
    }
    const std::string earlier = files->create();
    if (earlier.empty() || ndeposits() == 0) return;
    context.warn(
        std::to_string(ndeposits()) + " " + plural +
        " of other walkers act from the start, but those of this walker do not: they are in " +
        earlier + " - use another folder for a new set of jobs, or append yes to continue");
  } catch (const std::exception &e) {
    failure_of_files = e.what();
    throw;
  }
}

// Returns the deposits of the earlier run, if there is one.
std::vector<Deposit> DepositingBias::begin_file(const BiasStart &start)
{
  // An earlier call may have failed.
  file.reset();
  order.clear();
  failure_of_files.clear();
  is_sharing = has_own_file = false;
  DepositFormat columns = format();
  if (files) {
    files->open(path, columns, context.program, context.units, context.print, context.warn);
    if (sum_file.every) files->check_name(sum_file.kind, sum_file.path);
    columns.walkers = files->names();
    columns.walkers.resize(1);
  }
  if (rounds || files) columns.walker_column = walker_column();
  auto opened = std::make_unique<DepositFile>(path, columns, context.program, context.units);
  std::vector<Deposit> deposits;
  has_earlier = continues(start);
  if (has_earlier)
    deposits = resume(start.is_restarted, *opened);
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
  if (warn_of_other_settings()) checked = {};
  return deposits;
}

// Continues with the deposits of an earlier run: all deposits of the file, or those in the bias of
// the restart file. Checks everything before changing anything.
std::vector<Deposit> DepositingBias::resume(bool is_restarted, DepositFile &opened)
{
  const std::int64_t expected = ndeposits();
  const std::string name = plural + " file " + path;
  const std::string way_out = " - give the " + plural + " file of ";
  if (!std::filesystem::exists(path))
    throw std::runtime_error(name + " does not exist" +
                             (is_restarted ? way_out + "the run that wrote the restart file"
                                           : " - use append no for a new file"));
  auto found = opened.read(is_restarted ? expected : DepositFile::ALL);
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
  if (files) files->check(found, name);
  if (rounds || files)
    for (const auto &deposit : found.deposits) order.push_back(deposit.walker);
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
  warn_of_other_deposits(found.deposits, path);
  warn_of_other_constants(found.constants);
  context.print("continues with " + count + " " + plural + " of " + path + restored);
  if (!found.deposits.empty()) set_last(found.deposits.back());
  // Needed for a restart file that is written before the first timestep.
  now.own[COUNT] = static_cast<double>(found.deposits.size());
  return std::move(found.deposits);
}

/* ---------------------------------------------------------------------- */

void DepositingBias::begin_with_walkers(const BiasStart &start)
{
  std::vector<std::string> lines = {"kind " + kind(), "units " + context.units};
  for (const auto &setting : all_settings()) lines.push_back(setting.text);
  const std::string warning =
      rounds->start(lines, start.is_restarted, start.timestep, saved_checksum.value_or(0));
  if (!warning.empty() && rounds->is_first()) context.warn(warning);
  try {
    share_deposits([&] {
      return begin_file(start);
    });
  } catch (const std::exception &e) {
    rounds->fail(e.what(), true);
    throw;
  }
  has_earlier = continues(start);
}

// Replaces the deposits of all walkers, and the state that belongs to them, by those of walker 0.
void DepositingBias::share_deposits(const std::function<std::vector<Deposit>()> &of_first)
{
  const auto make = [&] {
    const auto deposits = of_first();
    ArchiveParts parts;
    save(parts);
    Archive archive, saved;
    parts.write(saved);
    archive.write(saved.bytes());
    archive.write(static_cast<std::int64_t>(deposits.size()));
    for (const auto &deposit : deposits) {
      archive.write(static_cast<std::int64_t>(deposit.walker));
      archive.write(deposit.time);
      archive.write(deposit.row);
    }
    return archive.bytes();
  };
  const auto take = [&](const std::string &bytes) {
    auto archive = Archive::of_bytes(bytes.data(), bytes.size());
    Archive saved(archive.read_text());
    std::vector<Deposit> deposits;
    for (std::int64_t left = archive.read_integer(); left > 0; --left) {
      Deposit deposit;
      deposit.walker = static_cast<int>(archive.read_integer());
      deposit.time = archive.read_number();
      deposit.row = archive.read_numbers();
      if (deposit.row.size() != 2 * static_cast<std::size_t>(nvariables()) + 2)
        throw std::runtime_error(
            "the " + plural +
            " that walker 0 has sent are damaged - continue from the last restart files");
      deposits.push_back(deposit);
    }
    const DepositGuard own_guard = guard;
    const Checked own_checked = checked;
    const BiasState mine = now;
    ArchiveParts parts(saved);
    load_shared(parts);
    guard = own_guard;
    checked = own_checked;
    std::vector<double> own = now.own;
    now = mine;
    now.own = own;
    restore(deposits);
    if (saved_checksum != checksum())
      throw std::runtime_error(
          "the " + plural +
          " that walker 0 has sent are damaged - continue from the last restart files");
  };
  rounds->share(make, take);
}

}    // namespace gpucoord
