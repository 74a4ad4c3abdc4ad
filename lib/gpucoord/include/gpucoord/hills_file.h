// Part of GPUCOORD, GPL-2.0. The file of hills, in the format of PLUMED's HILLS.
//
// Columns: time, centers, sigmas, height, biasf. Numbers have 17 digits, so a bias that is read is
// the bias that was written, to the last bit. A hill is one write: a program that is killed leaves
// at most one line without its end, which resume() removes. All errors are std::runtime_error.

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

  // Begins a new file. One of that name becomes bck.0.name, bck.1.name, ...; returns that name, or
  // "".
  std::string create();

  // The first count hills of an existing file. Nothing is changed.
  struct Existing {
    std::vector<Hill> hills;
    std::int64_t nlater = 0;          // hills after these
    std::string damaged;              // error in the last line, or ""
    bool names_units = false;         // the file says that it is in the caller's units
    double other_biasfactor = 0.0;    // another one that hills have; 0: none
  };
  static constexpr std::int64_t ALL = -1;
  Existing read(std::int64_t count);

  // Continues after read(): moves later hills to a backup file, returns its name or "", removes a
  // damaged last line.
  std::string resume();

  // Checks that the file on disk is still the one that was written. If not, its hills are saved
  // under another name, which the error gives, and the file is closed; later calls repeat this
  // error. known: all hills of the file, to save them where their text is lost; null: they are not
  // kept.
  void append(double time, const Hill &, const std::vector<Hill> *known = nullptr);

 private:
  void open();
  void check_on_disk(const std::vector<Hill> *known);
  std::string save(const std::vector<Hill> *known) const;
  Checksum read_back(std::int64_t begin, std::int64_t end, NewFile *copy) const;
  void write(const std::string &text, const char *way_out);
  std::string header() const;
  std::string line_of(double time, const Hill &) const;

  const std::string path;
  std::string place;                       // absolute path: a run may change its directory
  const std::vector<std::string> names;    // variables
  const double biasfactor;
  const std::vector<Interval> interval;
  const std::string program, units;
  std::FILE *file = nullptr;              // locked: one writer at a time
  std::int64_t size = 0;                  // bytes that the file must have
  std::unique_ptr<Checksum> checksum;     // the bytes up to size
  std::int64_t end_of_later_hills = 0;    // from size on, between read() and resume()
  bool is_cut = false;                    // resume() has to shorten the file to size
  std::string failure;                    // the error after which the file is closed
};

}    // namespace gpucoord

#endif
