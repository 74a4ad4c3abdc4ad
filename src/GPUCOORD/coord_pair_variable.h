/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_PAIR_VARIABLE_H
#define LMP_COORD_PAIR_VARIABLE_H

#include "coord_atoms.h"
#include "coord_function_numbers.h"
#include "coord_partner_warnings.h"
#include "coord_paths.h"
#include "coord_peratom.h"
#include "coord_variable.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/coordination.h"

#include <functional>
#include <memory>
#include <string>

namespace LAMMPS_NS {
class CoordArguments;
class CoordSetupText;
class DeviceChoice;

// A variable that depends on the pairs of two groups: a sum over pairs, or a function of per-atom
// numbers, which are sums over the partners of an atom. This class has the cycle of an evaluation
// and its communication; a style evaluates the contribution of one rank.

class CoordPairVariable : public CoordVariable {
 public:
  ~CoordPairVariable() override;
  void init() override;
  void setup() override;
  double memory_usage() override;

  std::string dynamic_group() const override;
  int groups() const override;
  bool begin_setup() override;
  void end_setup() override;
  void start(bool is_for_forces) override;
  void get_local_numbers(double *numbers) override;
  void finish(const double *sums) override;
  double rounding() const override;
  std::string why_no_bias() const override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;

 protected:
  // The arguments of a style may include a function.
  using ReadArguments = std::function<std::unique_ptr<CoordArguments>()>;
  CoordPairVariable(class LAMMPS *, int, char **, const ReadArguments &);

  using Path = CoordPaths::Path;

  // The evaluation of one rank.
  struct LocalEvaluation {
    Path path = Path::CELLS;
    unsigned want = 0;
    bool is_for_forces = false;    // part of a force evaluation, for fixes
    double *peratom = nullptr;     // [nlocal][peratom_columns(want)]; null: not on the host
    gpucoord::Contribution mine;
    double value = 0.0;     // this rank's part of S, before norm
    bigint bad_atom = 0;    // ID of an atom whose position is not finite; -1: it has no ID; 0: none
    std::string failed;     // why this rank has no contribution; "": it has one
    bool is_undefined = false;    // 'failed' names a value at which the function is not defined
  };

  // What a style provides.

  virtual DeviceChoice &device_choice() const = 0;
  virtual void init_backend() = 0;
  // Returns a description of the function, for the setup line and errors; "": S is a sum over
  // pairs.
  virtual std::string description() const = 0;
  // Prepares an evaluation, after the selection of atoms. May set local.bad_atom.
  virtual void begin_local(LocalEvaluation &local) = 0;
  // Collective. Sets the value and the contribution of this rank. May throw DeviceError and
  // bad_alloc.
  virtual void evaluate_local(LocalEvaluation &) = 0;
  // Collective. After a failure of this rank: performs the remaining communication of
  // evaluate_local(), because other ranks wait for it.
  virtual void complete_exchanges(LocalEvaluation &) = 0;
  // Collective. Computes the contribution of this rank by plain loops.
  virtual gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) = 0;
  // Returns whether an atom of this rank had a partner in range in the last evaluation, which seeks
  // partners. May set its 'failed', and throw bad_alloc.
  virtual bool has_partners() = 0;
  virtual PartnerWarnings::Texts partner_texts() const = 0;
  // Returns the pairs of pair mode; null: all pairs of the groups.
  virtual const gpucoord::PairsInput *pairs_of_mode() const { return nullptr; }
  // Returns the number of atoms of other ranks that this rank has, with their kind, for errors.
  virtual std::string other_atoms(Path) const;
  // Copies outputs to the vector and the array, in addition to those of all variables.
  virtual void copy_outputs() {}
  // Returns whether setup() looks for partners, because evaluations in a run do not.
  virtual bool seeks_partners_in_setup() const { return false; }

  // What KOKKOS changes.

  // Copies atom data to the host before the host reads them.
  virtual void atoms_to_host() {}
  // Enqueues the evaluation on the GPU if the atoms are resident.
  virtual void start_local(LocalEvaluation &) {}
  // Finishes the evaluation of this rank, or performs all of it if start_local() did nothing.
  virtual void finish_local(LocalEvaluation &);
  // Returns whether gradients are not stored in array_atom.
  virtual bool keeps_gradients(const LocalEvaluation &) const { return false; }
  virtual std::string data_path(Path) const;

  double evaluate_now(unsigned want) override { return evaluate(want, false); }
  double evaluate(unsigned want, bool is_for_forces);
  void start_evaluation(unsigned want, bool is_for_forces);
  double finish_evaluation(const double *sums);
  [[noreturn]] void raise_errors(const VariableHeader &);
  template <class Work> void with_memory(const Work &) const;
  [[noreturn]] void out_of_memory() const;
  Path begin_evaluation(bool ghosts_are_current);
  void set_scale(double npairs_or_atoms);
  void warn_without_partners(const VariableHeader &, double sum);
  std::string not_finite(int row, double s) const;
  std::string atom_text(int row) const;
  std::string failure(Path, const char *what, const std::string &way_out) const;
  void compare_with_reference(const LocalEvaluation &);
  CoordSetupText texts() const;

  const std::unique_ptr<CoordArguments> args;
  std::unique_ptr<gpucoord::AtomFunction> function;    // null: S is the sum of s(r_ij) over pairs
  std::unique_ptr<gpucoord::SwitchTable> table;
  static constexpr int NWANTS = 8;
  bigint nevaluations[NWANTS];    // [want]
  double scale;                   // S divided by the sum over pairs, in the last evaluation
  LocalEvaluation running;        // valid between start_evaluation() and finish_evaluation()
  CoordPeratom peratom_output;
  FunctionNumbers function_numbers;    // data of the function in this evaluation
  CoordAtoms selected;
  CoordPaths paths;
  PartnerWarnings warnings;
};

}    // namespace LAMMPS_NS

#endif
