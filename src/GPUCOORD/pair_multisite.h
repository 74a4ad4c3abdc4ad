/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef PAIR_CLASS
// clang-format off
PairStyle(multisite,PairMultisite);
// clang-format on
#else

#ifndef LMP_PAIR_MULTISITE_H
#define LMP_PAIR_MULTISITE_H

#include "pair.h"

#include "gpucoord/multisite.h"
#include "multisite_arguments.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class MultisiteBackend;

class PairMultisite : public Pair {
 public:
  PairMultisite(class LAMMPS *);
  ~PairMultisite() override;
  void compute(int, int) override;
  void settings(int, char **) override;
  void coeff(int, char **) override;
  void modify_params(int, char **) override;
  void init_style() override;
  double init_one(int, int) override;
  void write_restart(FILE *) override;
  void read_restart(FILE *) override;
  void write_restart_settings(FILE *) override;
  void read_restart_settings(FILE *) override;
  double memory_usage() override;

  // Returns the components of types, [ntypes + 1]; null: the type has no component. They belong to
  // pair_style multisite, or to the first sub-style of pair_style hybrid that has components. Empty
  // before any pair_coeff.
  static std::vector<const gpucoord::Component *> components_of_types(LAMMPS *);

 protected:
  void begin_evaluation();
  virtual std::string data_path() const;
  gpucoord::Molecules gather();
  [[noreturn]] void refuse_molecule(int bad) const;
  bool is_check_due() { return given.check_every && nevaluations++ % given.check_every == 0; }
  // sums: required even if the checked evaluation has computed no sums
  void check(const gpucoord::Molecules &, const gpucoord::MultisiteSums &sums,
             const gpucoord::MultisiteResults &) const;
  void tally(const gpucoord::MultisiteSums &);
  bool has_self_energy() const;    // then tally() reads types
  int row(int molecule) const { return all_types ? molecule : index[molecule]; }

  MultisiteArguments given;
  std::unique_ptr<gpucoord::MultisiteModel> the_model;
  std::vector<int> component_of;    // [ntypes + 1]; -1: no component
  std::unique_ptr<MultisiteBackend> backend;

 private:
  void allocate();
  void set_components(int narg, char **arg);
  void parse_mixing(int narg, char **arg);
  void set_switched();
  std::string make_model(std::vector<gpucoord::Component>);
  void check_precision() const;
  void check_tail() const;
  void count_types();
  void begin_run();
  std::string setup_text() const;

  void select_molecules();
  gpucoord::MultisiteSums evaluate(const gpucoord::Molecules &, gpucoord::MultisiteWant,
                                   const gpucoord::MultisiteResults &);
  void add_copies(int n, const gpucoord::MultisiteResults &);

  int ntypes = 0;
  int modified_shift = 0, modified_tail = 0;    // values of pair_modify
  std::vector<gpucoord::Mixing> mixing;         // [components][components]
  std::vector<double> self_energy;              // [components] of this run
  std::vector<double> ntype;                    // [ntypes + 1] number of atoms of each type
  std::vector<char> has_pair;    // [ntypes + 1][ntypes + 1] init_one() was called for the pair
  bool all_types = false;        // every type has a component

  std::unique_ptr<gpucoord::Multisite> host_double;    // for 'check', if the backend is another one
  enum class Stage { CHANGED, SET_UP, READY };
  // Required before the next evaluation. CHANGED: init_style(). SET_UP: begin_run(). READY:
  // nothing.
  Stage stage = Stage::CHANGED;
  std::string printed;                // setup_text() of the last run
  std::vector<std::string> warned;    // warnings of the last run
  bigint nevaluations = 0;            // in this run and in runs that continue it

  std::vector<double> quaternion;    // [molecules][4]
  std::vector<int> component;        // [molecules]
  // Used if some atoms belong to other styles: local indices of molecules, owned first, and copies
  // of their data. If results are checked, they are also written to copies.
  std::vector<int> index;
  int nowned = 0;
  std::vector<double> x_copy, results_copy;
};

}    // namespace LAMMPS_NS

#endif
#endif
