// Part of GPUCOORD, GPL-2.0. What the files of hills and grids share.

#ifndef GPUCOORD_TEXT_FILES_H
#define GPUCOORD_TEXT_FILES_H

#include <string>
#include <vector>

namespace gpucoord {

std::string number_text(double);    // 17 digits: reads back as the same number
std::string short_text(double);     // for messages
bool to_number(const std::string &word, double &);    // false unless all of it is a finite number
std::vector<std::string> words_of(const std::string &line);
std::string joined(const std::vector<std::string> &words, std::size_t first);
std::string last_error();    // of the system, as text

// Moves a regular file to bck.N.name beside it with the first free N; returns the new name, "" if there is none.
std::string back_up(const std::string &path);
std::string free_backup_name(const std::string &path);

// Writes a file that is complete or not there: under another name first.
void replace_file(const std::string &path, const std::string &text);

}    // namespace gpucoord

#endif
