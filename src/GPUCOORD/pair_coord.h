/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef PAIR_CLASS
// clang-format off
PairStyle(coord,PairCoord);
// clang-format on
#else

#ifndef LMP_PAIR_COORD_H
#define LMP_PAIR_COORD_H

#include "pair.h"

#include "gpucoord/coordination.h"
#include "gpucoord_parse.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class Backend;

class PairCoord : public Pair {
 public:
  PairCoord(class LAMMPS *);
  ~PairCoord() override;
  void compute(int, int) override;
  void compute_inner() override;
  void compute_middle() override;
  void compute_outer(int, int) override;
  void settings(int, char **) override;
  void coeff(int, char **) override;
  void init_style() override;
  double init_one(int, int) override;
  void write_restart(FILE *) override;
  void read_restart(FILE *) override;
  void write_restart_settings(FILE *) override;
  void read_restart_settings(FILE *) override;
  void write_data(FILE *) override;
  void write_data_all(FILE *) override;
  double single(int, int, int, int, double, double, double, double &) override;
  void *extract(const char *, int &) override;
  double memory_usage() override;

 protected:
  enum class Engine { AUTO, CELLS, NEIGH };
  static const std::vector<Parse::Choice<Engine>> ENGINES;

  // Coefficients of a pair of types, and the results derived from them.
  struct Coefficients {
    std::optional<gpucoord::SwitchOptions> options;    // given or mixed; empty: none
    std::string words;                                 // function as text
    // Set by init_one(); null: none, or another style computes this pair of types.
    std::unique_ptr<gpucoord::SwitchEvaluator> function;
  };
  Coefficients &coefficients_at(int i, int j)
  {
    return coefficients[static_cast<std::size_t>(i) * (ntypes + 1) + j];
  }

  // One level of rRESPA, or all pairs: its backend and its neighbors.
  struct Level {
    std::unique_ptr<Backend> backend;
    bool is_used = false;
    std::int64_t list_version = 0;
    // Short list of an inner level, and LAMMPS' number of list builds when it was made.
    bigint list_built = 0;
    std::vector<int> neighbors, numneigh;
    std::vector<const int *> firstneigh;
  };
  enum { WHOLE, INNER, MIDDLE };

  void allocate();
  void make_backends(Parse::Device, const std::string &style, int argument);
  void mix(int, int);
  std::string why_cells_differ() const;
  std::string coefficients_in_words(int i, int j);
  void make_table();
  std::string setup_text() const;
  virtual std::string data_path() const;
  void shorten_list(Level &, double range) const;
  void check_positions() const;
  void select_atoms();
  gpucoord::Contribution evaluate(Level &, unsigned want, const gpucoord::Window *);
  void add_forces(unsigned want);
  void tally(unsigned want, const gpucoord::Contribution &);
  void compute_level(int level, const gpucoord::Window &, double range);

  int ntypes = 0;
  double **epsilon = nullptr;
  std::vector<Coefficients> coefficients;    // [ntypes + 1][ntypes + 1], i <= j

  Engine wanted_engine = Engine::AUTO;
  Parse::Device device = Parse::Device::AUTO;
  gpucoord::Precision precision = gpucoord::Precision::DOUBLE;
  bool by_cells = false;

  bool changed = true;    // the table must be rebuilt
  int ntables = 0;        // number of tables made
  std::string table_words, printed;
  std::unique_ptr<gpucoord::SwitchTable> table;
  std::vector<double> weight;     // epsilon in the library's layout
  std::vector<char> interacts;    // [ntypes + 1]
  Level levels[3];
  const double *cut_respa = nullptr;

  std::vector<int> index, last_index;    // atoms that interact, owned first
  int nowned = 0;
  std::vector<double> sums;    // [nlocal][columns] of the last evaluation
};

}    // namespace LAMMPS_NS

#endif
#endif
