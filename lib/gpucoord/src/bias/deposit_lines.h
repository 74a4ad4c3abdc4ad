// Part of GPUCOORD, GPL-2.0. The lines of a file of deposits, which are read one after the other.

#ifndef GPUCOORD_DEPOSIT_LINES_H
#define GPUCOORD_DEPOSIT_LINES_H

#include "gpucoord/deposit_file.h"

#include <map>
#include <string>
#include <vector>

namespace gpucoord {

std::vector<std::string> deposit_columns(const DepositFormat &);
// Returns the line that names a walker.
std::string walker_line(std::size_t number, const std::string &name);

class DepositLines {
 public:
  static constexpr const char *REPAIR = "repair it, or use a backup of it";

  // The format must stay valid.
  DepositLines(const DepositFormat &format_in, std::string program_in, std::string units_in);

  struct Line {
    Deposit deposit;        // its row is empty in other lines
    std::string problem;    // what is wrong, or ""
    std::string way_out;    // not "": the file is not one of this format, or lacks lines
  };
  // Reads the next line of the file. has_end: it is complete
  Line read(const std::string &line, bool has_end);

  bool has_header = false;
  bool names_units = false;
  std::map<std::string, std::string> constants;
  std::vector<std::string> walkers;

 private:
  void read_comment(const std::vector<std::string> &words, Line &);
  void read_deposit(const std::vector<std::string> &words, Line &) const;

  const DepositFormat *format;
  std::string program, units;
  std::vector<std::string> expected;                        // columns
  std::vector<std::pair<std::string, std::string>> ends;    // of periods, as lines '#! SET'
};

}    // namespace gpucoord

#endif
