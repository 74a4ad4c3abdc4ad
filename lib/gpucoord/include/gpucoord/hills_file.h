// Part of GPUCOORD, GPL-2.0. The file of hills, in the format of PLUMED's HILLS.
//
// Columns: time, centres, sigmas, height, biasf. Numbers have 17 digits, so a bias that is read is the
// bias that was written, to the last bit. A hill is one write: a program that is killed leaves at most one
// line without its end, which go_on() removes. All errors are std::runtime_error.

#ifndef GPUCOORD_HILLS_FILE_H
#define GPUCOORD_HILLS_FILE_H

#include "gpucoord/export.h"
#include "gpucoord/metadynamics.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpucoord {

class GPUCOORD_API HillsFile {
 public:
  // units: the caller's, by name
  HillsFile(std::string path, const MetadynamicsOptions &, std::string units);
  ~HillsFile();
  HillsFile(const HillsFile &) = delete;
  HillsFile &operator=(const HillsFile &) = delete;

  // Begins a new file. One of that name becomes bck.0.name, bck.1.name, ...; returns that name, or "".
  std::string create();

  // The first count hills of an existing file. Nothing is changed.
  struct Existing {
    std::vector<Hill> hills;
    std::int64_t nlater = 0;       // hills after these
    std::string damaged;           // what is wrong with the last line
    bool names_units = false;      // the file says that it is in the caller's units
    double other_biasfactor = 0.0;    // of hills that have another one; 0: all have this one
  };
  static constexpr std::int64_t ALL = -1;
  Existing read(std::int64_t count);

  // Goes on after what was read: later hills move to a backup file, whose name it returns, or ""; a damaged last
  // line is removed.
  std::string go_on();

  // Checks that the file on disk is still the one that was written. If not, saves its hills under
  // another name, which the error gives.
  void append(double time, const Hill &);

  std::size_t bytes() const { return content.capacity() + later.capacity(); }

 private:
  void open();
  void check_on_disk() const;
  void write(const std::string &text, const char *way_out);
  std::string header() const;

  const std::string path;
  const std::vector<std::string> names;    // of the variables
  const double biasfactor;
  const std::vector<Interval> interval;
  const std::string units;
  std::FILE *file = nullptr;    // locked: one writer at a time
  std::string content;          // all that the file must have
  std::string later;            // lines of later hills, between read() and go_on()
  bool is_cut = false;          // go_on() has to remove what comes after content
};

}    // namespace gpucoord

#endif
