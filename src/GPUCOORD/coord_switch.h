/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_SWITCH_H
#define LMP_COORD_SWITCH_H

#include "gpucoord_restart_io.h"

#include "pointers.h"

#include "gpucoord/switching.h"

#include <optional>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// The words of a switching function in compute coord/gpu and pair_style coord: NAME [r0] keyword
// value ...

class CoordSwitch : protected Pointers {
 public:
  // command: beginning of errors, 'Compute coord/gpu switch'. unknown: beginning of errors about
  // unknown words, 'Unknown compute coord/gpu keyword'
  CoordSwitch(LAMMPS *lmp, std::string command_in, std::string unknown_in) :
      Pointers(lmp), command(std::move(command_in)), unknown(std::move(unknown_in))
  {
  }

  // Range if dmax is not given: the default of the function, or infinite.
  enum class Range { DEFAULT, ENDLESS };

  // Reads a function from arg[iarg + 1] on, and sets iarg to the first argument after it. next:
  // keywords that may follow
  gpucoord::SwitchOptions parse(int &iarg, int narg, char **arg,
                                const std::vector<std::string> &next, Range range = Range::DEFAULT);

  // Atom types can have no function: the word none in place of a function.
  static constexpr const char *NONE = "none";
  using OptionsOrNone = std::optional<gpucoord::SwitchOptions>;
  // Reads a function or none in the same way.
  OptionsOrNone parse_or_none(int &iarg, int narg, char **arg,
                              const std::vector<std::string> &next);

  // Returns the function that was read, which has parsed its expression, or none.
  const std::optional<gpucoord::Switch> &function() const { return checked; }

  // Returns the words that parse() or parse_or_none() would read.
  static std::string words(const OptionsOrNone &);

  // Write and read a function in a restart file, by its name and keywords.
  static void write_restart(RestartWriter &, const OptionsOrNone &);
  OptionsOrNone read_restart(RestartReader &);

  // Returns whether this is the name of a function.
  static bool is_name(const std::string &);

  // Returns why the terms of an order parameter cannot have this function as their weight, or "".
  static std::string why_negative(const gpucoord::Switch &, const char *reason);

  // Returns why a function cannot be a pair potential: infinite dmax, or an infinite force at dmax.
  // Returns "" if it can.
  static std::string why_no_potential(const gpucoord::Switch &);

 private:
  void need_function(int iarg, int narg, char **arg, const std::vector<std::string> &next) const;
  void refuse_braces(const char *word) const;
  void unknown_word(const char *word, const std::string &after, const std::string &accepted,
                    const std::vector<std::string> &next) const;
  void refuse_r0_keyword(const char *name, int iarg, int narg, char **arg, bool may_follow) const;
  double read_number(const char *word, const std::string &keyword) const;

  const std::string command, unknown;
  bool with_none = false;    // errors name none among the known functions
  std::optional<gpucoord::Switch> checked;
};

}    // namespace LAMMPS_NS

#endif
