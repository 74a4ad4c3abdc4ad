// Part of GPUCOORD, GPL-2.0. Walkers in independent jobs, which share deposits by files.
//
// Each walker appends its deposits to a file of its own in a folder, FOLDER/NAME.w, and reads the
// new lines of all other files there. Its own file of deposits, the journal, has the deposits of
// all walkers in the order in which they were added, each with the number of its walker: 0 for its
// own, 1 for the first other one. Deposit k of another walker in the journal is line k of its file.
// All functions throw std::runtime_error.

#ifndef GPUCOORD_WALKER_FILES_H
#define GPUCOORD_WALKER_FILES_H

#include "gpucoord/archive.h"
#include "gpucoord/deposit_file.h"
#include "gpucoord/export.h"

#include "deposit_lines.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {

class GPUCOORD_TEST_API WalkerFiles {
 public:
  // every: timesteps between two reads. pace: those between two deposits
  WalkerFiles(std::string folder, std::string name, int every, int pace);
  static bool is_name(const std::string &);

  int every() const { return timesteps; }
  std::string path(int walker = 0) const { return path_of(walkers[walker].name); }
  std::string in_words(const std::string &deposits) const;
  std::vector<std::string> names() const;    // of the walkers in the journal
  const std::string &name(int walker) const { return walkers[walker].name; }

  // Prepares files of this format, and changes none. print, warn: see BiasContext
  using Print = std::function<void(const std::string &)>;
  // journal: file of keyword file, which must not be one that the others read
  void open(const std::string &journal, const DepositFormat &, const std::string &program,
            const std::string &units, const Print &print, const Print &warn);
  // Throws if the others would read this file. kind: "hills file"
  void check_name(const std::string &kind, const std::string &path) const;
  // Starts a new file of this walker. Returns the new name of an existing one, or "".
  std::string create();
  // Takes the walkers of the journal of an earlier run. Checks that the file of this walker begins
  // with its deposits in the journal, and changes nothing.
  void check(const DepositFile::Existing &journal, const std::string &name_of_journal);
  // Makes the file of this walker the same as its deposits in the journal.
  void resume();

  // Returns the deposits that the others have added since the last read: by their names, and those
  // of one walker in the order of its file. check, check_all: throw std::runtime_error if a deposit
  // cannot be added, or those of a file, from a number on, cannot be added to others. A file with
  // such deposits or another error is left out, with a warning, until it can be read.
  using Check = std::function<void(const Deposit &)>;
  using CheckAll = std::function<void(const std::vector<Deposit> &, std::size_t first)>;
  std::vector<Deposit> read(const Check &check, const CheckAll &check_all);
  // Takes a deposit that was written to the journal. One of this walker is appended to its file.
  void add(const Deposit &, const DepositFile::Known &known);

  void save(Archive &) const;
  void load(Archive &);
  std::size_t bytes() const;

 private:
  struct Walker {
    std::string name;
    std::int64_t count = 0;    // of its deposits in the journal
  };
  // A position in a file: after its last line that was read
  struct Place {
    Place(const DepositFormat &format, const std::string &program, const std::string &units) :
        lines(format, program, units)
    {
    }
    DepositLines lines;
    std::int64_t bytes = 0, line_number = 0;
    std::size_t count = 0;    // of deposits before it
    std::string last;         // the last line with its end
  };
  struct Other {
    explicit Other(Place place_in) : place(std::move(place_in)) {}
    int number = -1;                    // no deposit yet
    std::vector<std::uint64_t> sums;    // checksums of its deposits in the journal
    Place place;
    int nfailed = 0;          // reads in a row without a new deposit
    bool is_alive = false;    // had a new deposit after the first read
    bool has_warned = false;
    bool is_bad = false;      // the user knows that its file cannot be read
    bool is_short = false;    // the file lacks deposits that act, of which the user knows
  };
  // What a read has found.
  struct News {
    explicit News(Place place_in) : place(std::move(place_in)) {}
    Place place;
    bool is_compared = false;                                      // read from the beginning
    std::vector<std::pair<std::size_t, std::uint64_t>> changed;    // deposits that are in the bias
    std::vector<Deposit> deposits;
    std::string why_none;
  };
  std::string path_of(const std::string &name) const { return folder + "/" + name + ".w"; }
  std::runtime_error bad(const std::string &name, const std::string &why) const;
  Place begin() const { return {format, program, units}; }
  void find_others();
  News read(const std::string &name, const Other &, const Check &) const;
  void warn_of(const std::string &name, Other &, const News &) const;

  const std::string folder;
  std::string absolute_folder;    // because a run may change its directory
  const int timesteps, max_failed;
  bool has_read = false;
  DepositFormat format;
  std::string program, units;
  Print print, warn;

  std::vector<Walker> walkers;    // by their numbers; the first one is this walker
  bool is_loaded = false;         // from a restart file
  std::map<std::string, Other> others;

  std::unique_ptr<DepositFile> file;    // of this walker
  bool exists = false;
  DepositFile::Existing found;     // between check() and resume()
  std::vector<Deposit> missing;    // in the file of this walker
};

}    // namespace gpucoord

#endif
