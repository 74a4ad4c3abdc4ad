/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_ARGUMENTS_H
#define LMP_BIAS_ARGUMENTS_H

#include "pointers.h"

#include "gpucoord/metadynamics.h"

#include <map>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// What a user wrote after "fix ID group coord/bias", checked as far as it can be
// without the system.

class BiasArguments : protected Pointers {
 public:
  enum class Kind { HARMONIC, MOVING, UPPER_WALL, LOWER_WALL, LINEAR, METAD };

  BiasArguments(LAMMPS *, int narg, char **arg);

  // V and its numbers, for the line at setup; first_step: where parameters begin to move
  std::string formula(bigint first_step) const;

  static std::string name_of(Kind);

  // A number that may move: from start to stop, or as an equal-style variable says.
  struct Parameter {
    double start = 0.0, stop = 0.0;
    std::string variable;
    int position = 0;    // argument to point at in an error
  };

  std::vector<std::string> variables;    // IDs of the computes
  Kind kind = Kind::HARMONIC;
  std::string kind_name;
  int stride = 1;

  // one a variable, of all kinds but METAD
  std::vector<Parameter> k, s0;
  std::vector<double> exponent, offset;
  bigint steps = 0;    // of MOVING; 0: nothing has a stop

  // of METAD
  gpucoord::MetadynamicsOptions metad;
  int pace = 0;
  double temperature = 0.0;    // 0: not given
  std::string file;
  bool append = false;
  bigint write_grid_every = 0;
  std::string write_grid, read_grid;

 private:
  struct Keyword {
    int position = 0;                   // of the keyword
    std::vector<std::string> values;    // what follows it up to the next keyword
  };

  void parse_variables(int &iarg, int narg, char **arg);
  void parse_keywords(int iarg, int narg, char **arg);
  void take_restraint();
  void take_metad();

  const Keyword *find(const std::string &) const;
  const Keyword &need(const std::string &) const;
  std::string per_variable() const;
  void check_count(const std::string &, const Keyword &, std::size_t count,
                   const std::string &which) const;
  double number(const std::string &, const Keyword &, int which) const;
  std::vector<double> numbers(const std::string &) const;    // one a variable
  std::vector<Parameter> parameters(const std::string &) const;
  bigint integer(const std::string &, const Keyword &, int which, bigint least,
                 const char *unit) const;

  std::map<std::string, Keyword> given;
};

}    // namespace LAMMPS_NS

#endif
