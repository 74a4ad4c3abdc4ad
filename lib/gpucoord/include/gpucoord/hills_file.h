// Part of GPUCOORD, GPL-2.0. The file of hills, in the format of PLUMED's HILLS.
//
// Columns: time, centers, sigmas, height, biasf. Numbers have 17 digits, so that a bias is read
// back bitwise equal. Each hill is one write. If the program is killed, at most the last line is
// incomplete, and resume() removes it. All errors are std::runtime_error.

#ifndef GPUCOORD_HILLS_FILE_H
#define GPUCOORD_HILLS_FILE_H

#include "gpucoord/export.h"
#include "gpucoord/metadynamics.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

class Checksum;
class NewFile;

class GPUCOORD_API HillsFile {
 public:
  // program, units: names of the caller and of its units, for a comment in the file
  HillsFile(std::string path, const MetadynamicsOptions &, std::string program, std::string units);
  ~HillsFile();
  HillsFile(const HillsFile &) = delete;
  HillsFile &operator=(const HillsFile &) = delete;

  // Starts a new file. An existing file of that name is renamed to bck.0.NAME, bck.1.NAME, ...
  // Returns its new name, or "".
  std::string create();

  // The first 'count' hills of an existing file. read() does not change the file.
  struct Existing {
    std::vector<Hill> hills;
    std::int64_t nlater = 0;          // number of hills after these
    std::string damaged;              // error in the last line, or ""
    bool names_units = false;         // the file states that it is in the caller's units
    double other_biasfactor = 0.0;    // a different biasfactor of some hills; 0: no such hill
  };
  static constexpr std::int64_t ALL = -1;
  Existing read(std::int64_t count);

  // Prepares to continue the file after read(). Moves later hills to a backup file and returns its
  // name, or "". Removes a damaged last line.
  std::string resume();

  // Appends a hill. Checks that the file on disk is still the one that was written. If not, saves
  // its hills under another name, which the error gives, and closes the file; later calls repeat
  // this error. known: all hills of the file, which are saved if their text is lost; null: they are
  // not available
  void append(double time, const Hill &, const std::vector<Hill> *known = nullptr);

 private:
  void open();
  void check_on_disk(const std::vector<Hill> *known);
  std::string save(const std::vector<Hill> *known) const;
  Checksum read_back(std::int64_t begin, std::int64_t end, NewFile *copy) const;
  void write(const std::string &text, const char *way_out);
  std::string header() const;
  std::string period_problem(const std::string &keyword, const std::string &value) const;
  std::string line_of(double time, const Hill &) const;

  const std::string path;
  std::string absolute_path;               // because a run may change its directory
  const std::vector<std::string> names;    // variables
  const double biasfactor;
  const std::vector<Interval> interval;
  const std::vector<Period> period;    // [names], or empty
  const std::string program, units;
  std::FILE *file = nullptr;              // locked, so that there is one writer at a time
  std::int64_t size = 0;                  // expected size of the file, bytes
  std::unique_ptr<Checksum> checksum;     // checksum of the bytes up to size
  std::int64_t end_of_later_hills = 0;    // these begin at size; between read() and resume()
  bool is_cut = false;                    // resume() must shorten the file to size
  std::string failure;                    // error that closed the file
};

}    // namespace gpucoord

#endif
