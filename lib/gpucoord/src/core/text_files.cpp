// Part of GPUCOORD, GPL-2.0. Text and file helpers of the hills and grid files.

#include "text_files.h"

#include "gpucoord/period.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace gpucoord {

std::string number_text(double value)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

static constexpr double PI = 3.14159265358979323846;

std::string text_of_bound(double value)
{
  return value == PI ? "pi" : value == -PI ? "-pi" : number_text(value);
}

bool to_bound(const std::string &word, double &value)
{
  if (word != "pi" && word != "-pi") return to_number(word, value);
  value = word == "pi" ? PI : -PI;
  return true;
}

std::string short_text(double value, int digits)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string shortest_text(double value)
{
  char text[64];
  if (!std::isfinite(value)) {
    std::snprintf(text, sizeof(text), "%g", value);
    return text;
  }
  int decimals = -1;
  do std::snprintf(text, sizeof(text), "%.*e", ++decimals, value);
  while (decimals < 16 && std::strtod(text, nullptr) != value);
  const int exponent = std::atoi(std::strchr(text, 'e') + 1);
  if (exponent >= -4 && exponent < 16)    // range in which %g has no exponent
    std::snprintf(text, sizeof(text), "%.*f", decimals > exponent ? decimals - exponent : 0, value);
  return text;
}

bool to_number(const std::string &word, double &value)
{
  char *end = nullptr;
  value = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' && end == word.c_str() + word.size() && std::isfinite(value);
}

std::vector<std::string> words_of(const std::string &line)
{
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string> &words, std::size_t first, const char *separator)
{
  std::string text;
  for (std::size_t k = first; k < words.size(); ++k)
    text += (k > first ? separator : "") + words[k];
  return text;
}

std::string printable(const std::string &text)
{
  constexpr std::size_t LONGEST = 80;    // characters
  std::string result;
  for (const char c : text) {
    if (result.size() >= LONGEST) return result + "...";
    char code[8];
    std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(c));
    result += c >= ' ' && c <= '~' ? std::string(1, c) : code;
  }
  return result;
}

void require_regular_file(const std::string &what, const std::string &path)
{
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    throw std::runtime_error("cannot read " + what + " " + path + ": it is not a regular file");
}

std::string format_line(const std::string &kind, int format)
{
  return "# GPUCOORD " + kind + " format " + std::to_string(format) + "\n";
}

StatedFormat stated_format(std::istream &in, const std::string &kind, int needed)
{
  StatedFormat found;
  std::string line;
  for (int line_number = 1; found.why_unknown.empty() && in.peek() == '#' && std::getline(in, line);
       ++line_number) {
    const auto words = words_of(line);
    if (words.size() != 5 || joined(words, 0).rfind("# GPUCOORD " + kind + " format ", 0) != 0)
      continue;
    found.is_stated = true;
    if (words[4] != std::to_string(needed))
      found.why_unknown = "line " + std::to_string(line_number) + ": it has format " +
          printable(words[4]) + ", but this version of GPUCOORD needs format " +
          std::to_string(needed);
  }
  in.clear();
  in.seekg(0);
  return found;
}

std::string last_error()
{
  return std::strerror(errno);
}

std::string free_backup_name(const std::string &path)
{
  const fs::path original(path);
  for (int k = 0;; ++k) {
    const fs::path name =
        original.parent_path() / ("bck." + std::to_string(k) + "." + original.filename().string());
    if (!fs::exists(fs::symlink_status(name))) return name.string();
  }
}

NewFile::NewFile(std::string path_in) : path(std::move(path_in)), unfinished(path + ".part")
{
  file = std::fopen(unfinished.c_str(), "wb");
  if (!file) fail();
}

NewFile::~NewFile()
{
  if (!file) return;
  std::fclose(file);
  std::remove(unfinished.c_str());
}

void NewFile::add(const std::string &text)
{
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) fail();
}

void NewFile::finish()
{
  // Close first, because Windows cannot rename an open file. Use fs::rename(), because
  // std::rename() does not replace files on Windows.
  std::error_code error;
  if (std::fclose(file) != 0) error.assign(errno, std::generic_category());
  file = nullptr;
  if (!error) fs::rename(unfinished, path, error);
  if (!error) return;
  std::remove(unfinished.c_str());
  throw std::runtime_error("cannot write " + path + ": " + error.message());
}

void NewFile::fail() const
{
  throw std::runtime_error("cannot write " + path + ": " + last_error());
}

}    // namespace gpucoord
