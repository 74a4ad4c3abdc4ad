/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_WORDS_H
#define LMP_GPUCOORD_WORDS_H

#include "error.h"
#include "input.h"
#include "utils.h"

#include "gpucoord/switching.h"

#include <sstream>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Words that a user can choose from, and their positions in the input line.

namespace Words {

  enum class Device { AUTO, CUDA, HOST };

  template <typename Value> struct Choice {
    const char *name;
    Value value;
  };

  inline const std::vector<Choice<gpucoord::Precision>> PRECISIONS = {
      {"mixed", gpucoord::Precision::MIXED},
      {"double", gpucoord::Precision::DOUBLE},
      {"single", gpucoord::Precision::SINGLE}};
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
    error->all(FLERR, position(input, arg[iarg + 1]), "Unknown {} option: {} - known are {}",
               command, word, names(choices));
  }

}    // namespace Words
}    // namespace LAMMPS_NS

#endif
