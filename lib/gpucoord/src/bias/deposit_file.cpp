// Part of GPUCOORD, GPL-2.0. The file of deposits.

#include "gpucoord/deposit_file.h"

#include "../core/checksum.h"
#include "../core/file_on_disk.h"
#include "../core/text_files.h"
#include "deposit_lines.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace fs = std::filesystem;

namespace gpucoord {

// Version of the file format. Files of PLUMED do not state it.
static constexpr int FORMAT = 1;

static const char *const START_AGAIN =
    "make room, or allow writing, in its folder, and start the run again";

std::vector<std::pair<std::string, std::string>> DepositFormat::ends_of_periods() const
{
  std::vector<std::pair<std::string, std::string>> result;
  for (std::size_t k = 0; k < period.size(); ++k)
    if (period[k].exists()) {
      result.emplace_back("min_" + names[k], text_of_bound(period[k].lo));
      result.emplace_back("max_" + names[k], text_of_bound(period[k].hi()));
    }
  return result;
}

std::string DepositFormat::period_problem(const std::map<std::string, std::string> &found) const
{
  for (std::size_t k = 0; k < names.size(); ++k)
    for (const bool is_low : {true, false}) {
      const auto line = found.find((is_low ? "min_" : "max_") + names[k]);
      if (line == found.end()) continue;
      const Period its = period.empty() ? Period() : period[k];
      const double needed = is_low ? its.lo : its.hi();
      double value;
      if (its.exists() && to_bound(line->second, value) &&
          std::fabs(value - needed) <= 1e-9 * its.length)
        continue;
      return line->first + " is " + printable(line->second) + ", but the variable " +
          (its.exists() ? "has " + text_of_bound(needed) : "is not periodic here");
    }
  return "";
}

/* ---------------------------------------------------------------------- */

DepositFile::DepositFile(std::string path_in, DepositFormat format_in, std::string program_in,
                         std::string units_in) :
    path(std::move(path_in)),
    format(std::move(format_in)), plural(format.noun + "s"), name(plural + " file " + path),
    program(std::move(program_in)), units(std::move(units_in)), walkers(format.walkers),
    nnamed(walkers.size()), checksum(std::make_unique<Checksum>())
{
}

DepositFile::~DepositFile()
{
  if (file) std::fclose(file);
}

static std::string line_of(const Deposit &deposit, const DepositFormat &format)
{
  char text[32];
  std::snprintf(text, sizeof(text), " %.12g", deposit.time);    // 0.014, not 0.014000000000000001
  std::string line = text;
  for (const double number : deposit.row) line += " " + number_text(number);
  if (!format.walker_column.empty()) line += " " + std::to_string(deposit.walker);
  return line + "\n";
}

std::string DepositFile::header() const
{
  std::string text = "#! FIELDS " + joined(deposit_columns(format), 0) + "\n";
  auto lines = format.constants;
  for (const auto &line : format.ends_of_periods()) lines.push_back(line);
  for (const auto &[keyword, value] : lines) text += "#! SET " + keyword + " " + value + "\n";
  for (std::size_t w = 0; w < walkers.size(); ++w) text += walker_line(w, walkers[w]);
  return text + format.further_lines + "# " + program + " units " + units + ": " +
      format.about_units + "\n" + format_line(plural, FORMAT);
}

/* ---------------------------------------------------------------------- */

void DepositFile::open()
{
  std::error_code ignored;
  const bool is_device = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  // With read access, the text of a file that another program deletes can still be saved.
  file = std::fopen(path.c_str(), is_device ? "ab" : "a+b");
  if (!file) throw std::runtime_error("cannot write " + name + ": " + last_error());
  if (!is_device && !lock_file(file))
    throw std::runtime_error(name +
                             " is being written by another fix or run - use one file for each");
  // Unbuffered: each fwrite() is one write().
  std::setvbuf(file, nullptr, _IONBF, 0);
  absolute_path = fs::absolute(path).string();
}

void DepositFile::write(const std::string &text, const std::string &way_out)
{
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size()) {
    size += static_cast<std::int64_t>(text.size());
    checksum->add(text.data(), text.size());
    return;
  }
  const std::string why = last_error();
  shorten(file, size);    // remove the incomplete line, if possible
  throw std::runtime_error("cannot write " + name + ": " + why + " - " + way_out);
}

void DepositFile::check_lock()
{
  if (!fs::is_regular_file(path)) return;
  open();
  std::fclose(file);
  file = nullptr;
}

namespace {

  // Locks the folder of a file, where the file system can.
  class FolderLock {
   public:
    explicit FolderLock(const fs::path &path) :
        handle(lock_folder(fs::absolute(path).parent_path().string()))
    {
    }
    ~FolderLock()
    {
      if (handle >= 0) unlock_folder(handle);
    }
    FolderLock(const FolderLock &) = delete;
    FolderLock &operator=(const FolderLock &) = delete;

   private:
    const int handle;
  };

}    // namespace

std::string DepositFile::create()
{
  // Of two runs that start at once, the second one then finds the new file of the first one locked.
  const FolderLock lock(path);
  std::string backup;
  try {
    if (fs::is_regular_file(path)) {
      check_lock();
      backup = free_backup_name(path);
      fs::rename(path, backup);
    }
  } catch (const fs::filesystem_error &e) {
    throw std::runtime_error("cannot rename " + name +
                             ", which already exists: " + e.code().message());
  }
  bool is_open = false;
  try {
    open();
    is_open = true;
    write(header(), START_AGAIN);
  } catch (const std::exception &) {
    if (file) std::fclose(file);
    file = nullptr;
    // The file of the earlier run gets its name back, unless another program has taken that.
    std::error_code none;
    const bool is_free = is_open ? fs::is_regular_file(path, none) : !fs::exists(path, none);
    if (is_free && !backup.empty())
      fs::rename(backup, path, none);
    else if (is_free)
      fs::remove(path, none);
    throw;
  }
  return backup;
}

void DepositFile::check_on_disk(const Known &known)
{
  if (failure.empty()) {
    const OnDisk found = look_up(absolute_path, file);
    std::string problem;
    if (found.error == ENOENT)
      problem = "was deleted";
    else if (found.error)
      throw std::runtime_error(
          "cannot check " + name + " before a " + format.noun +
          " is added: " + std::strerror(found.error) + " - make " + absolute_path +
          " accessible and continue from the last restart file, or with append yes");
    else if (!found.is_regular)
      return;
    else if (!found.is_same)
      problem = "was replaced by another file";
    else if (found.size != size)
      problem = "has " + std::to_string(found.size) + " bytes in place of the " +
          std::to_string(size) + " that were written";
    else
      return;
    problem = name + " was changed by another program during the run: it " + problem + " - ";
    try {
      failure = problem + save(known);
    } catch (const std::runtime_error &e) {
      // Keep the file open, because closing a deleted file loses its contents.
      throw std::runtime_error(problem + "its " + plural +
                               " cannot be saved under another name: " + e.what());
    }
    std::fclose(file);
    file = nullptr;
  }
  throw std::runtime_error(failure);
}

// Saves the deposits of a changed file. Returns a text with their new location and the way out.
std::string DepositFile::save(const Known &known) const
{
  const std::string saved = free_backup_name(absolute_path);
  const std::string rename = "; rename that file to " + absolute_path +
      " and continue from the last restart file, or with append yes";
  NewFile copy(saved);
  std::string result = "all its " + plural + " are in " + saved;
  if (read_back(0, size, nullptr).value() == checksum->value()) {
    read_back(0, size, &copy);
    result += rename;
  } else if (const auto deposits = known()) {
    copy.add(header());
    for (const Deposit &deposit : *deposits)
      copy.add(line_of({0.0, deposit.row, deposit.walker}, format));
    result += ", with time 0 because their text is lost" + rename;
  } else {
    read_back(0, std::numeric_limits<std::int64_t>::max(), &copy);
    result = "text of its " + plural + " is lost, and " + format.keeps_none + " keeps no " +
        plural + "; the remaining text is in " + saved + " - use a backup of the " + plural +
        " file, and continue from a restart file of the same time";
  }
  copy.finish();
  return result;
}

// Returns the checksum of the bytes from begin up to, not including, end, or up to the end of the
// file. Also writes them to copy unless it is null.
Checksum DepositFile::read_back(std::int64_t begin, std::int64_t end, NewFile *copy) const
{
  Checksum result;
  std::string block(1 << 16, '\0');
  std::fseek(file, static_cast<long>(begin), SEEK_SET);
  while (begin < end) {
    const auto wanted = std::min(end - begin, static_cast<std::int64_t>(block.size()));
    const std::size_t count = std::fread(&block[0], 1, static_cast<std::size_t>(wanted), file);
    if (count == 0) break;
    result.add(block.data(), count);
    if (copy) copy->add(block.substr(0, count));
    begin += static_cast<std::int64_t>(count);
  }
  std::fseek(file, 0, SEEK_END);    // C requires this between reading and writing
  return result;
}

void DepositFile::append(const Deposit &deposit, const Known &known)
{
  check_on_disk(known);
  std::string text;
  std::size_t n = nnamed;
  for (; n < walkers.size() && static_cast<int>(n) <= deposit.walker; ++n)
    text += walker_line(n, walkers[n]);
  write(text + line_of(deposit, format),
        "it has all " + plural +
            " before this one; make room, and continue from the last restart file");
  nnamed = n;
}

/* ---------------------------------------------------------------------- */

DepositFile::Existing DepositFile::read(std::int64_t count, bool needs_all)
{
  require_regular_file(plural + " file", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + name + ": " + last_error());
  const std::string why_unknown = stated_format(in, plural, FORMAT).why_unknown;
  if (!why_unknown.empty())
    throw std::runtime_error(name + ", " + why_unknown +
                             " - continue with the version that wrote it, or give another file");
  open();

  Existing result;
  DepositLines lines(format, program, units);
  std::string line;
  std::int64_t bytes = 0;    // bytes up to the end of this line
  Checksum sum;              // checksum of the bytes read so far
  std::int64_t line_number = 0;

  while (std::getline(in, line)) {
    ++line_number;
    // A run that is killed leaves a last line without an end. A malformed line only counts as such
    // damage if it is the last one.
    const auto found = lines.read(line, !in.eof());
    if (!found.problem.empty()) {
      const bool is_last = in.peek() == std::ifstream::traits_type::eof();
      if (!found.way_out.empty() || !is_last)
        throw std::runtime_error(name + ", line " + std::to_string(line_number) + ": " +
                                 found.problem + " - " +
                                 (found.way_out.empty() ? DepositLines::REPAIR : found.way_out));
      result.damaged = found.problem;
      break;
    }
    const Deposit &deposit = found.deposit;
    if (!deposit.row.empty()) {
      if (count == ALL || static_cast<std::int64_t>(result.deposits.size()) < count)
        result.deposits.push_back(deposit);
      else
        ++result.nlater;
    }
    bytes += static_cast<std::int64_t>(line.size()) + 1;
    sum.add(line.data(), line.size());
    sum.add("\n", 1);
    if (!result.nlater) {    // keep all lines before the first later deposit
      size = bytes;
      *checksum = sum;
      result.walkers = lines.walkers;
    }
  }
  result.names_units = lines.names_units;
  result.constants = lines.constants;
  if (!result.walkers.empty()) walkers = result.walkers;
  nnamed = walkers.size();

  const auto ndeposits = static_cast<std::int64_t>(result.deposits.size());
  if (needs_all && count != ALL && ndeposits < count)
    throw std::runtime_error(name + " ends after " + std::to_string(ndeposits) + " of the " +
                             std::to_string(count) + " " + plural +
                             " that were in the bias of the restart file - give the " + plural +
                             " file of that run");

  if (ndeposits == 0 && !result.nlater) {
    // The file has at most a header. Start a new file.
    in.clear();
    in.seekg(0);
    const std::string whole = header();
    std::string found(whole.size() + 1, '\0');
    in.read(&found[0], static_cast<std::streamsize>(found.size()));
    found.resize(static_cast<std::size_t>(in.gcount()));
    if (whole.compare(0, found.size(), found) == 0) {
      size = 0;
      *checksum = Checksum();
    } else if (!lines.has_header)
      throw std::runtime_error("file " + path + " is not a " + plural +
                               " file - give the name of one, or of a new file");
  }
  end_of_later_deposits = result.nlater ? bytes : size;
  is_cut = result.nlater || !result.damaged.empty() || size == 0;
  return result;
}

std::string DepositFile::resume()
{
  // Save the deposits before shortening the file: a run that is killed in between loses nothing.
  std::string backup;
  if (end_of_later_deposits > size) {
    backup = free_backup_name(path);
    try {
      NewFile saved(backup);
      saved.add(header());
      read_back(size, end_of_later_deposits, &saved);
      saved.finish();
    } catch (const std::runtime_error &e) {
      throw std::runtime_error(e.what() + (" - " + path + " is unchanged; " + START_AGAIN));
    }
  }
  if (is_cut && !shorten(file, size))
    throw std::runtime_error("cannot shorten " + name + ": " + last_error());
  if (size == 0) write(header(), START_AGAIN);
  return backup;
}

}    // namespace gpucoord
