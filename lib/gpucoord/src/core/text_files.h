// Part of GPUCOORD, GPL-2.0. Text and file helpers shared by the hills and grid files.

#ifndef GPUCOORD_TEXT_FILES_H
#define GPUCOORD_TEXT_FILES_H

#include "gpucoord/printable.h"

#include <cstdio>
#include <istream>
#include <string>
#include <vector>

namespace gpucoord {

std::string number_text(double);                    // 17 digits, reads back as the same number
std::string short_text(double, int digits = 10);    // for messages
std::string shortest_text(double);    // fewest digits that read back as the same number
// Reads a number. Returns false unless the whole word is a finite number.
bool to_number(const std::string &word, double &);
std::vector<std::string> words_of(const std::string &line);
std::string joined(const std::vector<std::string> &words, std::size_t first,
                   const char *separator = " ");
// Returns the comment that states the format version of a text file. Files of PLUMED have no such
// comment.
std::string format_line(const std::string &kind, int format);
struct StatedFormat {
  bool is_stated = false;
  std::string why_unknown;    // why the file cannot be read; "": it states no other format
};
// Searches the comments at the beginning of a file for that line, and rewinds the file.
StatedFormat stated_format(std::istream &, const std::string &kind, int needed);
// Throws std::runtime_error if the file exists and is not a regular file: a device or pipe may have
// no end. what: "grid file"
void require_regular_file(const std::string &what, const std::string &path);
// Returns the text of errno.
std::string last_error();

std::string
// Returns bck.N.NAME in the same folder, with the first free N.
free_backup_name(const std::string &path);

// A new file that replaces an existing one only when it is complete. It is written as PATH.part,
// and finish() renames it. The destructor removes an unfinished file. Throws std::runtime_error if
// the file cannot be written.
class NewFile {
 public:
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  void add(const std::string &text);
  void finish();

 private:
  [[noreturn]] void fail() const;
  const std::string path, unfinished;
  std::FILE *file = nullptr;
};

}    // namespace gpucoord

#endif
