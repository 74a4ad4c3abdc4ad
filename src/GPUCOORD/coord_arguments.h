/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_ARGUMENTS_H
#define LMP_COORD_ARGUMENTS_H

#include "pointers.h"

#include "coord_within.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/switch_table.h"
#include "gpucoord_parse.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// Arguments of "compute ID group coord/gpu", and the arguments that other styles share with it.
// They are checked as far as possible before atoms exist.

class CoordArguments : protected Pointers {
 public:
  enum class Groups { SELF, TWO, PAIRS, PAIRS_FILE };
  enum class Norm { SUM, MEAN };
  enum class Image { UNNAMED, ALL, MINIMUM };
  enum class Engine { AUTO, CELLS, ALLPAIRS };

  // Reads the arguments of compute coord/gpu.
  CoordArguments(LAMMPS *, int narg, char **arg);
  virtual ~CoordArguments() = default;

  const std::string style;    // 'coord/gpu'
  bool accepts(const std::string &keyword) const;

  Groups groups = Groups::SELF;
  std::string group2;                                 // for TWO and PAIRS: name of the second group
  std::vector<std::pair<tagint, tagint>> id_pairs;    // for PAIRS_FILE
  std::vector<tagint> pair_ids;                       // sorted unique atom IDs of id_pairs
  // With within, and in order parameters, the default is a sum.
  std::optional<gpucoord::AtomFunctionOptions> function;
  std::optional<WithinArguments> within;
  // Returns whether S counts each pair of atoms once, not for both of its atoms.
  bool counts_pairs_once() const
  {
    return has_single() && groups == Groups::SELF && !position("function");
  }
  Norm norm = Norm::SUM;
  Image image = Image::UNNAMED;
  Engine engine = Engine::AUTO;
  Parse::Device device = Parse::Device::AUTO;
  int device_position = 0;    // index of the argument for errors
  gpucoord::Precision precision = gpucoord::Precision::MIXED;
  int check_every = 0;    // number of evaluations between checks; 0: never
  double check_tolerance = 0.0;

  // Function of 'switch', for all types, then the function of each 'coeff'.
  struct Function {
    std::string words;                                // 'switch' or 'coeff I J'
    int ilo, ihi, jlo, jhi;                           // ranges of atom types
    gpucoord::SwitchOptions options = {};             // as given
    std::optional<gpucoord::Switch> function = {};    // of the options; empty: none
    int position = 0;    // index of the argument with the function's name, for errors

    bool is_none() const { return !function; }    // pairs of these types are not counted
  };
  std::vector<Function> functions;    // empty in a style without keyword switch
  double cutoff = 0.0;                // range of such a style, > 0, distance
  // Returns the same functions in the same order, without those that are none. Without functions,
  // returns a table with one function that only provides dmax, the cutoff.
  gpucoord::SwitchTable table() const;
  const Function &longest() const;           // returns the function with the largest dmax
  std::string longest_coeff() const;         // ' of coeff I J' for errors; "" without keyword coeff
  virtual const char *range_word() const;    // returns 'dmax' or 'cutoff'
  // Returns words for the per-atom numbers in messages.
  struct MessageTerms {
    const char *symbol, *singular, *plural, *ghost_numbers;    // the last: sent to ghost atoms
  };
  virtual MessageTerms terms() const;
  static constexpr MessageTerms ORDER_PARAMETERS = {"order parameter", "the order parameter",
                                                    "order parameters", "numbers"};

 protected:
  // For a style that accepts these keywords. example: a switching function, if the style accepts
  // one
  CoordArguments(LAMMPS *, std::string style_in, std::vector<std::string> keywords_in,
                 std::string example_in = "");
  void read(int narg, char **arg);
  // Reads a keyword that compute coord/gpu lacks, and sets iarg to the first argument after it.
  virtual void read_own(int & /*iarg*/, int /*narg*/, char ** /*arg*/) {}
  // Raises an error at iarg if the keyword has already been given. position: index of its argument;
  // 0: not given
  void need_first(int position, const char *keyword, int iarg) const;
  double read_number(int iarg, const char *text, const std::string &what) const;
  // Read the value of a keyword that compute coord/gpu lacks, and set iarg to the first argument
  // after it. Raise an error if the keyword has already been given.
  double read_number(int &iarg, int narg, char **arg);
  int read_integer(int &iarg, int narg, char **arg);
  // Raises an error if the keyword was not given.
  void need(const std::string &keyword, const std::string &for_example) const;
  // Sets what all order parameters have, then calls check() of the options. Its OptionError is
  // raised at the keyword with the name of the field, if there is one.
  void check_order(const std::function<void()> &check);

  const std::vector<std::string> keywords;
  std::map<std::string, int> positions;    // index of the argument of a keyword for errors
  // Returns this index; 0: not given.
  int position(const std::string &keyword) const;

 private:
  int first_value(int &iarg, int narg, char **arg);
  bool has_single() const { return style == "coord/gpu"; }    // order parameters: as mixed
  void check_engine(char **arg) const;
  void read_function(Function &, int &iarg, int narg, char **arg);
  void read_coeff(int &iarg, int narg, char **arg);
  void check_pairs_of_types() const;
  [[noreturn]] void unknown_keyword(int iarg, const char *text) const;
  void read_pairs_file(int iarg, const char *name);

  const std::string example;
};

}    // namespace LAMMPS_NS

#endif
