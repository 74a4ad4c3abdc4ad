// Part of GPUCOORD, GPL-2.0. The file of the deposits of a bias, such as hills, in PLUMED's format.
//
// Columns: time, centers, sigmas, height, and a last one whose meaning depends on the kind of bias.
// Numbers have 17 digits, so that a bias is read back bitwise equal. Each deposit is one write. If
// the program is killed, at most the last line is incomplete, and resume() removes it. All errors
// are std::runtime_error.

#ifndef GPUCOORD_DEPOSIT_FILE_H
#define GPUCOORD_DEPOSIT_FILE_H

#include "gpucoord/export.h"
#include "gpucoord/period.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {

class Checksum;
class NewFile;

struct Deposit {
  double time = 0.0;
  std::vector<double> row;    // columns after the time, without that of the walker
  int walker = 0;             // that made it
  double height() const { return row[row.size() - 2]; }
};

// Properties of a file that depend on the kind of bias.
struct DepositFormat {
  std::string noun;                  // a deposit in messages: "hill"
  std::vector<std::string> names;    // variables
  std::vector<Period> period;        // [names], or empty: no variable is periodic
  std::string last_column;           // its name
  std::string walker_column;         // name of a column after it; "": no walkers
  // Names of the first walkers by their numbers. If there are any, a line names each walker before
  // its first deposit.
  std::vector<std::string> walkers;
  // Keywords and values of lines '#! SET'. A file that is read must not have other values.
  std::vector<std::pair<std::string, std::string>> constants;
  std::string further_lines;    // written after these, not read
  std::string about_units;      // end of the line that names the units
  // Returns the largest sigma of a deposit that does not overlap its own image.
  std::function<double(const Period &)> largest_sigma;
  std::string keeps_none;    // a bias that does not keep its deposits, for messages

  // Returns keywords and values of the lines '#! SET' with the ends of periods, which a file must
  // have: min_NAME and max_NAME.
  std::vector<std::pair<std::string, std::string>> ends_of_periods() const;
  // Returns what is wrong with those of a file, or "". found: all its lines '#! SET'
  std::string period_problem(const std::map<std::string, std::string> &found) const;
};

class GPUCOORD_API DepositFile {
 public:
  // program, units: names of the caller and of its units, for a comment in the file
  DepositFile(std::string path, DepositFormat, std::string program, std::string units);
  ~DepositFile();
  DepositFile(const DepositFile &) = delete;
  DepositFile &operator=(const DepositFile &) = delete;

  // Throws if another writer has the file open.
  void check_lock();

  // Starts a new file. An existing file of that name is renamed to bck.0.NAME, bck.1.NAME, ...
  // Returns its new name, or "".
  std::string create();

  // The first 'count' deposits of an existing file. read() does not change the file.
  struct Existing {
    std::vector<Deposit> deposits;
    std::int64_t nlater = 0;     // number of deposits after these
    std::string damaged;         // error in the last line, or ""
    bool names_units = false;    // the file states that it is in the caller's units
    std::map<std::string, std::string> constants;    // the last ones
    std::vector<std::string> walkers;                // names by number, if the format has them
  };
  static constexpr std::int64_t ALL = -1;
  // needs_all: fewer deposits are an error
  Existing read(std::int64_t count, bool needs_all = true);

  // Prepares to continue the file after read(). Moves later deposits to a backup file and returns
  // its name, or "". Removes a damaged last line.
  std::string resume();

  // Appends a deposit. Checks that the file on disk is still the one that was written. If not,
  // saves its deposits under another name, which the error gives, and closes the file; later calls
  // repeat this error. known: returns all deposits of the file, which are saved if their text is
  // lost, or nothing if they are not available
  using Known = std::function<std::optional<std::vector<Deposit>>()>;
  void append(const Deposit &, const Known &known);

  // Sets the names of all walkers, those of the file first.
  void name_walkers(std::vector<std::string> names) { walkers = std::move(names); }

 private:
  void open();
  void check_on_disk(const Known &known);
  std::string save(const Known &known) const;
  Checksum read_back(std::int64_t begin, std::int64_t end, NewFile *copy) const;
  void write(const std::string &text, const std::string &way_out);
  std::string header() const;

  const std::string path;
  std::string absolute_path;    // because a run may change its directory
  const DepositFormat format;
  const std::string plural;    // deposits in messages: "hills"
  const std::string name;      // of the file in messages: "hills file PATH"
  const std::string program, units;
  std::vector<std::string> walkers;          // names
  std::size_t nnamed = 0;                    // number of those that the file has
  std::FILE *file = nullptr;                 // locked, so that there is one writer at a time
  std::int64_t size = 0;                     // expected size of the file, bytes
  std::unique_ptr<Checksum> checksum;        // checksum of the bytes up to size
  std::int64_t end_of_later_deposits = 0;    // these begin at size; between read() and resume()
  bool is_cut = false;                       // resume() must shorten the file to size
  std::string failure;                       // error that closed the file
};

}    // namespace gpucoord

#endif
