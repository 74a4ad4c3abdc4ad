/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_INPUT_H
#define LMP_BIAS_PLUMED_INPUT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// A file of PLUMED commands, parsed as far as the caller of PLUMED needs it. PLUMED has no call
// that returns its units, or the caller's variables that it reads.

class PlumedInput {
 public:
  // Reads the file and the files that it includes. Throws std::runtime_error.
  explicit PlumedInput(const std::string &file);

  struct Action {
    std::string name;                                           // "METAD"
    std::string label;                                          // "" if there is no label
    std::vector<std::pair<std::string, std::string>> values;    // "SIGMA", "0.1"
    std::string location;                                       // "plumed.dat, line 3"

    bool has(const std::string &keyword) const;
    // Returns the value of a keyword, or "".
    std::string value(const std::string &keyword) const;
  };

  // Returns all actions, in their order.
  const std::vector<Action> &actions() const { return list; }
  // Returns the actions with this name.
  std::vector<Action> actions(const std::string &name) const;
  // Returns the UNITS command with its values, or "".
  std::string units() const;
  // Returns a checksum of the text.
  std::int64_t checksum() const { return static_cast<std::int64_t>(sum); }

 private:
  void read(const std::string &file, int depth);
  void add(const std::vector<std::string> &words, const std::string &location, int depth);

  std::vector<Action> list;
  bool has_ended = false;                         // ENDPLUMED was read
  std::uint64_t sum = 14695981039346656037ull;    // FNV-1a (Fowler, Noll and Vo)
};

}    // namespace LAMMPS_NS

#endif
