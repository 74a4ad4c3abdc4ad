// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs, which share deposits by files.

#include "walker_files.h"

#include "../core/checksum.h"
#include "../core/text_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace fs = std::filesystem;

namespace gpucoord {

static const char *const LETTERS =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
static const char *const EXTENSION = ".w";

// Another walker is silent after this number of reads and twice as many deposits of this walker,
// which may be faster.
static constexpr int MAX_FAILED_READS = 6;

// Backup files bck.N.NAME.w have a dot in the name, so that nobody reads them.
bool WalkerFiles::is_name(const std::string &text)
{
  return !text.empty() && text.size() <= 100 && text.find_first_not_of(LETTERS) == text.npos;
}

static std::uint64_t checksum_of(const Deposit &deposit)
{
  Checksum result;
  for (const double number : deposit.row) result.add(number);
  return result.value();
}

WalkerFiles::WalkerFiles(std::string folder_in, std::string name, int every_in, int pace) :
    folder(std::move(folder_in)), timesteps(every_in),
    max_failed(every_in > pace ? MAX_FAILED_READS : 2 * MAX_FAILED_READS)
{
  walkers.push_back({std::move(name)});
}

std::string WalkerFiles::in_words(const std::string &deposits) const
{
  return "those in other files " + path_of("*") + ", read every " + std::to_string(timesteps) +
      " steps; " + deposits + " of this one are in " + path();
}

std::vector<std::string> WalkerFiles::names() const
{
  std::vector<std::string> result;
  for (const auto &walker : walkers) result.push_back(walker.name);
  return result;
}

/* ---------------------------------------------------------------------- */

void WalkerFiles::open(const std::string &journal, const DepositFormat &format_in,
                       const std::string &program_in, const std::string &units_in,
                       const Print &print_in, const Print &warn_in)
{
  format = format_in;
  program = program_in;
  units = units_in;
  print = print_in;
  warn = warn_in;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw std::runtime_error("cannot make the folder of walkers " + folder + ": " +
                             error.message() +
                             " - make room, or give the name of a folder, or a new name");
  absolute_folder = fs::absolute(folder).string();
  // An earlier call may have failed.
  others.clear();
  missing.clear();
  if (!is_loaded) walkers = {{walkers[0].name}};
  check_name(format.noun + "s file", journal);
  file = std::make_unique<DepositFile>(path(), format, program, units);
  file->check_lock();
}

void WalkerFiles::check_name(const std::string &kind, const std::string &path) const
{
  std::error_code none;
  if (fs::path(path).extension() == EXTENSION &&
      fs::equivalent(fs::absolute(path).parent_path(), folder, none))
    throw std::runtime_error(kind + " " + path +
                             " would be that of a walker of this folder - give a name in another "
                             "folder, or one that does not end in " +
                             EXTENSION);
}

std::string WalkerFiles::create()
{
  const std::string backup = file->create();
  if (!backup.empty())
    print(format.noun + "s file " + path() + " of an earlier run is now " + backup);
  return backup;
}

void WalkerFiles::check(const DepositFile::Existing &journal, const std::string &name_of_journal)
{
  std::vector<Walker> known;
  for (const auto &name : journal.walkers) known.push_back({name});
  if (known.empty()) known.push_back({walkers[0].name});    // no deposits yet
  for (const auto &deposit : journal.deposits) ++known[deposit.walker].count;
  if (known[0].name != walkers[0].name)
    throw std::runtime_error(name_of_journal + " is that of walker " + printable(known[0].name) +
                             ", not of " + walkers[0].name +
                             " - give that name, or another file for a new walker");
  for (std::size_t w = 0; is_loaded && w < walkers.size(); ++w)
    if (w >= known.size() || known[w].name != walkers[w].name || known[w].count != walkers[w].count)
      throw std::runtime_error(
          name_of_journal + " has other numbers of " + format.noun +
          "s of the walkers than the run that wrote the restart file, which had " +
          std::to_string(walkers[w].count) + " of walker " + walkers[w].name + " - give the " +
          format.noun + "s file of that run");
  walkers = known;

  for (std::size_t w = 1; w < walkers.size(); ++w) {
    auto &other = others.emplace(walkers[w].name, begin()).first->second;
    other.number = static_cast<int>(w);
  }
  for (const auto &deposit : journal.deposits)
    if (deposit.walker == 0)
      missing.push_back(deposit);
    else
      others.at(walkers[deposit.walker].name).sums.push_back(checksum_of(deposit));

  exists = fs::exists(path());
  if (!exists) return;
  found = file->read(static_cast<std::int64_t>(missing.size()), false);
  for (std::size_t k = 0; k < found.deposits.size(); ++k)
    if (found.deposits[k].row != missing[k].row)
      throw std::runtime_error(format.noun + " " + std::to_string(k + 1) + " of " + path() +
                               " is not that of this walker in " + name_of_journal +
                               " - move the file to another folder, and it is written again");
  missing.erase(missing.begin(),
                missing.begin() + static_cast<std::ptrdiff_t>(found.deposits.size()));
}

void WalkerFiles::resume()
{
  if (exists) {
    const std::string later = file->resume();
    if (!found.damaged.empty())
      warn("removed the last line of " + format.noun + "s file " + path() +
           ", which was damaged: " + found.damaged);
    if (found.nlater)
      print(std::to_string(found.nlater) + " " + format.noun + "s of " + path() +
            " that are later than those of this run are now in " + later);
  } else
    create();
  for (const auto &deposit : missing)
    file->append(deposit, [] {
      return std::optional<std::vector<Deposit>>();
    });
  if (!missing.empty())
    warn("added " + std::to_string(missing.size()) + " " + format.noun +
         "s of this walker to its file " + path() + ", which did not have them");
  missing.clear();
}

/* ---------------------------------------------------------------------- */

// A folder or file that cannot be read now may appear later.
void WalkerFiles::find_others()
{
  std::error_code error;
  for (fs::directory_iterator at(absolute_folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code none;
    const fs::path path = at->path();
    const std::string name = path.stem().string();
    if (path.extension() == EXTENSION && is_name(name) && name != walkers[0].name &&
        fs::is_regular_file(path, none))
      others.emplace(name, begin());
  }
}

std::runtime_error WalkerFiles::bad(const std::string &name, const std::string &why) const
{
  return std::runtime_error(format.noun + "s file " + path_of(name) + " of walker " + name + why);
}

// Opens the file again, because a file system on a network may keep the contents of an open one.
WalkerFiles::News WalkerFiles::read(const std::string &name, const Other &other,
                                    const Check &check) const
{
  News news(other.place);
  Place &place = news.place;
  std::ifstream in(absolute_folder + "/" + name + EXTENSION, std::ios::binary);
  if (!in) {
    news.why_none = ": " + last_error();
    return news;
  }
  // A file that was shortened or replaced does not have the last line at its place. The device and
  // the inode would not tell a copy with the same lines from another file.
  std::string line(place.last.size(), '\0');
  in.seekg(place.bytes - static_cast<std::int64_t>(line.size()));
  in.read(&line[0], static_cast<std::streamsize>(line.size()));
  if (!in || line != place.last) {
    place = begin();
    in.clear();
    in.seekg(0);
  }
  news.is_compared = place.bytes == 0;
  const auto at_line = [&] {
    return ", line " + std::to_string(place.line_number) + ": ";
  };
  if (place.bytes == 0) {
    const std::string why_unknown = stated_format(in, format.noun + "s", 1).why_unknown;
    if (!why_unknown.empty())
      throw bad(name, ", " + why_unknown + " - use the same version of GPUCOORD for all walkers");
  }
  while (std::getline(in, line)) {
    // A file system on a network may show the size of a file before its contents.
    if (in.eof() || line.find('\0') != std::string::npos) {
      news.why_none = ", whose last line is incomplete";
      break;
    }
    ++place.line_number;
    const auto result = place.lines.read(line, true);
    if (!result.problem.empty())
      throw bad(
          name,
          at_line() + result.problem +
              (result.way_out.empty()
                   ? " - repair it, or move the file to another folder"
                   : " - use the same variables, periods and units for all walkers of a folder"));
    place.last = line + "\n";
    place.bytes += static_cast<std::int64_t>(place.last.size());
    if (result.deposit.row.empty()) continue;
    if (place.count >= other.sums.size()) {
      try {
        check(result.deposit);
      } catch (const std::runtime_error &e) {
        throw bad(name, at_line() + e.what());
      }
      news.deposits.push_back(result.deposit);
    } else if (checksum_of(result.deposit) != other.sums[place.count])
      news.changed.emplace_back(place.count, checksum_of(result.deposit));
    ++place.count;
  }
  if (place.count < other.sums.size())
    news.why_none = ", which has " + std::to_string(place.count) + " of the " +
        std::to_string(other.sums.size()) + " " + format.noun + "s that were read";
  return news;
}

void WalkerFiles::warn_of(const std::string &name, Other &other, const News &news) const
{
  const std::size_t nread = other.sums.size();
  const std::size_t nlost = news.changed.size() + nread - std::min(news.place.count, nread);
  if (news.is_compared && nlost > 0 && !other.is_short)
    warn(std::to_string(nlost) + " " + format.noun + "s of walker " + name +
         " that act in this bias are not in " + path_of(name) +
         ", as after its restart from an earlier step - they remain, and those that replace them "
         "there are left out");
  other.is_short = news.place.count < nread;
  if (!news.deposits.empty()) {
    other.nfailed = 0;
    other.is_alive = has_read;
    if (nread == 0 && !news.place.lines.names_units)
      warn(format.noun + "s file " + path_of(name) +
           " does not give the units of its heights - they are assumed to be in units " + units);
    return;
  }
  if (!other.is_alive || ++other.nfailed != max_failed || other.has_warned) return;
  other.has_warned = true;
  warn("no new " + format.noun + " of walker " + name + " in " + std::to_string(max_failed) +
       " reads of " + path_of(name) + news.why_none +
       " - see whether its job still runs, and whether this machine sees what it writes");
}

std::vector<Deposit> WalkerFiles::read(const Check &check, const CheckAll &check_all)
{
  find_others();
  std::vector<Deposit> result;
  for (auto &[name, other] : others) {
    std::optional<News> news;
    const std::size_t nbefore = result.size();
    try {
      news = read(name, other, check);
      result.insert(result.end(), news->deposits.begin(), news->deposits.end());
      try {
        if (result.size() > nbefore) check_all(result, nbefore);
      } catch (const std::runtime_error &e) {
        throw bad(name, std::string(": ") + e.what());
      }
    } catch (const std::runtime_error &e) {
      result.resize(nbefore);
      if (!other.is_bad)
        warn(e.what() + ("; new " + format.noun + "s in it are left out until it can be read"));
      other.is_bad = true;
      continue;
    }
    other.is_bad = false;
    warn_of(name, other, *news);
    for (const auto &[k, sum] : news->changed) other.sums[k] = sum;
    if (!news->deposits.empty() && other.number < 0) {
      other.number = static_cast<int>(walkers.size());
      walkers.push_back({name});
      const std::size_t n = news->deposits.size();
      print("adds " + std::to_string(n) + " " + format.noun + (n == 1 ? "" : "s") + " of walker " +
            name + " in " + path_of(name) + ", and its later ones");
    }
    for (std::size_t k = nbefore; k < result.size(); ++k) {
      result[k].walker = other.number;
      other.sums.push_back(checksum_of(result[k]));
    }
    other.place = std::move(news->place);
  }
  has_read = true;
  return result;
}

void WalkerFiles::add(const Deposit &deposit, const DepositFile::Known &known)
{
  if (deposit.walker == 0)
    file->append(deposit, [&] {
      auto own = known();
      if (own)
        own->erase(std::remove_if(own->begin(), own->end(),
                                  [](const Deposit &one) {
                                    return one.walker != 0;
                                  }),
                   own->end());
      return own;
    });
  ++walkers[deposit.walker].count;
}

/* ---------------------------------------------------------------------- */

void WalkerFiles::save(Archive &archive) const
{
  archive.write(static_cast<std::int64_t>(walkers.size()));
  for (const auto &walker : walkers) {
    archive.write(walker.name);
    archive.write(walker.count);
  }
}

void WalkerFiles::load(Archive &archive)
{
  std::vector<Walker> loaded;
  for (std::int64_t left = archive.read_integer(); left > 0; --left) {
    Walker walker;
    walker.name = archive.read_text();
    walker.count = archive.read_integer();
    if (!is_name(walker.name) || walker.count < 0) throw ArchiveParts::damaged();
    loaded.push_back(walker);
  }
  if (loaded.empty()) throw ArchiveParts::damaged();
  if (loaded[0].name != walkers[0].name)
    throw std::runtime_error("the restart file is that of walker " + loaded[0].name + ", not of " +
                             walkers[0].name +
                             " - give that name, or use another fix ID for a new walker");
  walkers = loaded;
  is_loaded = true;
}

std::size_t WalkerFiles::bytes() const
{
  std::size_t result = 0;
  for (const auto &[name, other] : others) result += other.sums.size() * sizeof(other.sums[0]);
  return result;
}

}    // namespace gpucoord
