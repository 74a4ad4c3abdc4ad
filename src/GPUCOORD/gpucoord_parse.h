/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_PARSE_H
#define LMP_GPUCOORD_PARSE_H

#include "error.h"
#include "fmt/format.h"
#include "input.h"
#include "utils.h"

#include "gpucoord/switching.h"

#include <cmath>
#include <cstdlib>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Words that a user can choose from, and their positions in the input line.

namespace Parse {

  enum class Device { AUTO, CUDA, HOST };

  template <typename Value> struct Choice {
    const char *name;
    Value value;
  };

  inline const std::vector<Choice<gpucoord::Precision>> PRECISIONS = {
      {"mixed", gpucoord::Precision::MIXED},
      {"double", gpucoord::Precision::DOUBLE},
      {"single", gpucoord::Precision::SINGLE}};
  // Choices of a style that adds in double in all precisions, so that single would be mixed.
  inline const std::vector<Choice<gpucoord::Precision>> MIXED_OR_DOUBLE = {
      {"mixed", gpucoord::Precision::MIXED}, {"double", gpucoord::Precision::DOUBLE}};
  constexpr const char *MIXED_IN_PLACE_OF_SINGLE = "precision mixed, which has the same results";
  inline const std::vector<Choice<Device>> DEVICES = {
      {"auto", Device::AUTO}, {"cuda", Device::CUDA}, {"host", Device::HOST}};

  template <typename Value> std::string names(const std::vector<Choice<Value>> &choices)
  {
    std::string text;
    for (const auto &choice : choices)
      text += (text.empty() ? "" : ", ") + std::string(choice.name);
    return text;
  }

  template <typename Value>
  const char *name_of(Value value, const std::vector<Choice<Value>> &choices)
  {
    for (const auto &choice : choices)
      if (choice.value == value) return choice.name;
    return "";
  }

  // The words of a line of a file, without a comment.
  inline std::vector<std::string> in_line(const std::string &line)
  {
    const std::string text = utils::trim_comment(line);
    std::istringstream stream(utils::has_utf8(text) ? utils::utf8_subst(text) : text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }

  // Returns the number of a word in a file, or NaN. The number may be infinite.
  inline double number_of(const std::string &word)
  {
    const bool is_number = word.find('\0') == std::string::npos && utils::is_double(word);
    return is_number ? std::strtod(word.c_str(), nullptr) : NAN;
  }

  // Reads a whole file. Throws std::runtime_error if it is longer than the limit, such as
  // /dev/zero, which has no end.
  inline std::string read_all(std::istream &file)
  {
    constexpr std::size_t LIMIT = std::size_t(1) << 26, CHUNK = 1 << 16;
    std::string text;
    std::vector<char> chunk(CHUNK);
    do {
      file.read(chunk.data(), CHUNK);
      text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
      if (text.size() > LIMIT)
        throw std::runtime_error(
            fmt::format("it is longer than {} MB, the limit - check the name", LIMIT >> 20));
    } while (file);
    return text;
  }

  // Reads a line like std::getline(). Throws std::runtime_error if it is longer than the limit.
  inline bool read_line(std::istream &file, std::string &line)
  {
    constexpr std::size_t LIMIT = 10000;
    using Bytes = std::char_traits<char>;
    line.clear();
    int c = file.rdbuf()->sbumpc();
    if (c == Bytes::eof()) return false;
    for (; c != Bytes::eof() && c != '\n'; c = file.rdbuf()->sbumpc()) {
      if (line.size() == LIMIT)
        throw std::runtime_error(
            fmt::format("a line is longer than {} characters, the limit - check the name", LIMIT));
      line += static_cast<char>(c);
    }
    return true;
  }

  // Reads a range of atom types such as 2 or 1*3, like utils::bounds(), which throws no LAMMPS
  // error for an empty word and for numbers beyond 64 bits.
  inline void type_range(const std::string &word, int ntypes, int &lo, int &hi, Error *error,
                         int position)
  {
    long first = 0, last = 0;
    try {
      utils::bounds(FLERR, word, 1, ntypes, first, last, error, position);
    } catch (const std::invalid_argument &) {
      error->all(FLERR, position, "Invalid range string: {}", word.empty() ? "''" : word);
    } catch (const std::out_of_range &) {
      error->all(FLERR, position, "Numeric index {} is out of bounds (1-{})", word, ntypes);
    }
    lo = static_cast<int>(first);
    hi = static_cast<int>(last);
  }

  // Returns the position of a word in the command that LAMMPS reads, to point at it in an error.
  // Words from other sources, such as a data file, have no position.
  inline int position(const Input *input, const char *word)
  {
    for (int k = 0; k < input->narg; ++k)
      if (input->arg[k] == word) return k;
    return Error::NOLASTLINE;
  }

  // Returns the choice given by the word after arg[iarg]. command: for example 'compute coord/gpu
  // engine'
  template <typename Value>
  Value choose(const std::string &command, int iarg, int narg, char **arg,
               const std::vector<Choice<Value>> &choices, const Input *input, Error *error)
  {
    if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command, error);
    const std::string word = arg[iarg + 1];
    for (const auto &choice : choices)
      if (word == choice.name) return choice.value;
    for (const auto &choice : choices)
      if (utils::lowercase(word) == utils::lowercase(choice.name))
        error->all(FLERR, position(input, arg[iarg + 1]),
                   "Unknown {} option: {} - did you mean {}?", command, word, choice.name);
    error->all(FLERR, position(input, arg[iarg + 1]), "Unknown {} option: {} - known are {}",
               command, word, names(choices));
  }

  // Raises an error if arg[iarg + 1] is a word that earlier versions accepted after arg[iarg].
  // instead: for example 'engine cells, which has the same results'
  inline void reject_removed(const std::string &owner, const char *word, const char *instead,
                             int iarg, int narg, char **arg, const Input *input, Error *error)
  {
    if (iarg + 2 <= narg && arg[iarg + 1] == std::string(word))
      error->all(FLERR, position(input, arg[iarg + 1]), "{} has no {} {} - use {}", owner,
                 arg[iarg], word, instead);
  }

}    // namespace Parse
}    // namespace LAMMPS_NS

#endif
