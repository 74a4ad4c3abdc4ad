/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/gpu,ComputeCoordPair);
// clang-format on
#define ORDER_PARAMETER(style, definition, text) ComputeStyle(style, ComputeCoordPair);
#include "coord_styles.h"
#else

#ifndef LMP_COMPUTE_COORD_PAIR_H
#define LMP_COMPUTE_COORD_PAIR_H

#include "coord_evaluator.h"
#include "coord_pair_data.h"
#include "coord_partner_warnings.h"
#include "coord_peratom.h"
#include "coord_variable.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class CoordSetupText;

// A variable that depends on the pairs of two groups: a sum over pairs, or a function of per-atom
// numbers, which are sums over the partners of an atom. This class has the cycle of an evaluation
// and its communication. The name of the style selects its evaluator, which computes the
// contribution of one rank.

class ComputeCoordPair : public CoordVariable {
 public:
  ComputeCoordPair(class LAMMPS *, int, char **);
  ~ComputeCoordPair() override;
  void init() override;
  void setup() override;
  void compute_vector() override;
  void compute_peratom() override;
  double memory_usage() override;

  std::string dynamic_group() const override { return data.dynamic_group(); }
  int groups() const override;
  bool begin_setup() override;
  void end_setup() override;
  void start(bool is_for_forces) override;
  void get_local_sums(double *local_sums) override;
  void finish(const double *sums) override;
  double rounding() const override;
  std::string why_no_bias() const override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;

 protected:
  using Path = CoordPaths::Path;

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
  virtual bool seeks_partners_in_setup() const { return evaluator->seeks_partners_in_setup(); }
  // Copies the elements of the vector after W.
  virtual void set_vector(double *to) const { evaluator->set_vector(to); }

  double evaluate(unsigned want, bool is_for_forces);
  Path begin_evaluation(bool ghosts_are_current);
  void set_scale(double npairs_or_atoms);

  CoordPairData data;
  const std::unique_ptr<CoordEvaluator> evaluator;
  double scale;               // S divided by the sum over pairs, in the last evaluation
  LocalEvaluation running;    // valid between start_evaluation() and finish_evaluation()

 private:
  ComputeCoordPair(class LAMMPS *, int, char **, const CoordStyle &);
  double evaluate_now(unsigned want) override { return evaluate(want, false); }
  void start_evaluation(unsigned want, bool is_for_forces);
  double finish_evaluation(const double *sums);
  std::string function_text() const;
  [[noreturn]] void raise_errors(const VariableHeader &);
  template <class Work> void with_memory(const Work &) const;
  void warn_without_partners(const VariableHeader &, double sum);
  std::string failure(Path, const char *what, const std::string &way_out) const;
  void compare_with_reference(const LocalEvaluation &);
  CoordSetupText texts() const;

  static constexpr int NWANTS = 8;
  bigint nevaluations[NWANTS];    // [want]
  CoordPeratom peratom_output;
  PartnerWarnings warnings;
};

}    // namespace LAMMPS_NS

#endif
#endif
