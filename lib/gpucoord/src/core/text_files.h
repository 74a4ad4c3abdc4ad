// Part of GPUCOORD, GPL-2.0. What the files of hills and grids share.

#ifndef GPUCOORD_TEXT_FILES_H
#define GPUCOORD_TEXT_FILES_H

#include <cstdio>
#include <string>
#include <vector>

namespace gpucoord {

std::string number_text(double);      // 17 digits: reads back as the same number
std::string short_text(double);       // for messages, 10 digits
std::string shortest_text(double);    // the fewest digits that read back as the number
bool to_number(const std::string &word, double &);    // false unless all of it is a finite number
std::vector<std::string> words_of(const std::string &line);
std::string joined(const std::vector<std::string> &words, std::size_t first,
                   const char *separator = " ");
std::string last_error();    // of the system, as text

std::string
free_backup_name(const std::string &path);    // bck.N.name beside it, with the first free N

// A file that is there when it is complete, in place of an earlier one: it has another name before.
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
