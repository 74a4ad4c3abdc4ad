/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/gpu,ComputeCoordGPU);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_GPU_H
#define LMP_COMPUTE_COORD_GPU_H

#include "coord_atoms.h"
#include "coord_variable.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/coordination.h"
#include "gpucoord/resident_function.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class CoordArguments;
class Backend;
class CoordGather;
class DeviceChoice;

// Compute coord/gpu, and the base class of styles that evaluate other per-atom numbers with engine
// cells.

class ComputeCoordGPU : public CoordVariable {
 public:
  ComputeCoordGPU(class LAMMPS *, int, char **);
  ~ComputeCoordGPU() override;
  void init() override;
  void init_list(int, class NeighList *) override;
  void setup() override;
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
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
  // A derived style reads its own arguments, which include a function, and has its own backend.
  using ReadArguments = std::function<std::unique_ptr<CoordArguments>()>;
  ComputeCoordGPU(class LAMMPS *, int, char **, const ReadArguments &);

  enum class Path { CELLS, LIST, ALLPAIRS, PAIRS };

  // The evaluation of one rank.
  struct LocalEvaluation {
    Path path = Path::CELLS;
    unsigned want = 0;
    bool is_for_forces = false;     // part of a force evaluation, for fixes
    bool seeks_partners = false;    // has_partners() is called after it
    double *peratom = nullptr;      // [nlocal][peratom_columns(want)]; null: not on the host
    gpucoord::Contribution mine;
    double value = 0.0;     // this rank's part of S, before norm
    bigint bad_atom = 0;    // ID of an atom whose position is not finite; -1: it has no ID; 0: none
    std::string failed;     // why this rank has no contribution; "": it has one
    bool is_undefined = false;    // 'failed' names a value at which the function is not defined
  };

  // KOKKOS: copies atom data to the host before the host reads them.
  virtual void atoms_to_host() {}
  // KOKKOS: enqueues the evaluation on the GPU if the atoms are resident.
  virtual void start_local(LocalEvaluation &) {}
  // Finishes the evaluation of this rank, or performs all of it if start_local() did nothing.
  virtual void finish_local(LocalEvaluation &);
  // Prepares the per-atom numbers of a function.
  virtual void begin_local(const LocalEvaluation &);
  // Collective. Sets the value and the contribution of this rank. May throw DeviceError and
  // bad_alloc.
  virtual void evaluate_local(LocalEvaluation &);
  // Collective. After a failure of this rank: performs the remaining communication of
  // evaluate_local(), because other ranks wait for it.
  virtual void complete_exchanges(LocalEvaluation &);
  // Collective. Computes the contribution of this rank by plain loops.
  virtual gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom);
  virtual double finish_evaluation(const double *sums);
  virtual void init_backend();
  virtual DeviceChoice &device_choice() const;
  // Returns a description of the function, for the setup line and errors; "": S is a sum over
  // pairs.
  virtual std::string description() const;
  // KOKKOS: returns whether gradients are not stored in array_atom.
  virtual bool keeps_gradients(const LocalEvaluation &) const { return false; }
  virtual std::string data_path(Path) const;
  // Returns whether an atom of this rank had a partner in range in the last evaluation, which has
  // seeks_partners. May set its 'failed', and throw bad_alloc.
  virtual bool has_partners();
  // Returns whether every evaluation warns if no atom has a partner, until one has warned; if not,
  // only the first evaluation of a run does.
  virtual bool seeks_partners_in_run() const { return false; }
  // Returns whether setup() looks for partners, because evaluations in a run do not.
  virtual bool seeks_partners_in_setup() const;
  // Return the range of partners, and the results if no atom has a partner and if group2 is empty,
  // for warnings.
  virtual std::string range_of_partners() const;
  virtual std::string without_partners() const;
  virtual std::string with_empty_group2() const { return without_partners(); }
  // Returns whether the compute can have a second group.
  virtual bool takes_group2() const { return true; }

  double evaluate_now(unsigned want) override { return evaluate(want, false); }
  double evaluate(unsigned want, bool is_for_forces);
  void start_evaluation(unsigned want, bool is_for_forces);
  template <class Work> void with_memory(const Work &) const;
  [[noreturn]] void out_of_memory() const;
  Path begin_evaluation(bool ghosts_are_current);
  void set_scale(double npairs_or_atoms);
  Path choose_path(const gpucoord::Box &) const;
  gpucoord::Box current_box() const;
  void check_ghost_shell(double cutghost) const;
  void check_list_is_complete();
  void begin_warnings();
  void warn_if_empty(bigint natoms_a, bigint natoms_b);
  gpucoord::Contribution evaluate_path(Path, unsigned want, double *peratom, bool reference,
                                       const gpucoord::SecondPass *);
  gpucoord::Contribution evaluate_function(LocalEvaluation &, bool reference);
  void begin_function(Path);
  void list_rows();
  void find_owners();
  const double *evaluate_weights(LocalEvaluation &);
  gpucoord::AtomFunction::Reduce reduction() const;
  std::string not_finite(int row, double s) const;
  std::string atom_text(int row) const;
  void set_histogram();
  std::string failure(Path, const char *what, const std::string &way_out) const;
  void compare_with_reference(const LocalEvaluation &);
  void print_setup(Path);
  void print_value(double natoms_a, double natoms_b, double s);
  std::string groups_in_words(bigint natoms_a, bigint natoms_b) const;
  std::string meaning_of_mean() const;
  std::string functions_in_words() const;

  // The pair that is nearest to its range.
  struct NearestPair {
    double r = 0.0, dmax = 0.0;
    double s = 0.0, slope = 0.0;    // |r ds/dr|; both if r < dmax
    int number = 0;    // of its function, on the rank of the pair
    bool exists = false;
    bool is_of_all = true;    // false: of the pairs of a part of the atoms
  };
  NearestPair nearest_pair();
  bool
  compare_samples(const std::function<void(const double *, const double *, int, int)> &consider);
  void warn_without_partners(bigint natoms_a, double sum);
  void warn_of_beta(double value);

  const std::unique_ptr<CoordArguments> args;
  std::unique_ptr<gpucoord::AtomFunction> function;    // null: S is the sum of s(r_ij) over pairs
  std::unique_ptr<gpucoord::SwitchTable> table;
  std::unique_ptr<Backend> backend;    // null: the style has its own backend
  // Words for the per-atom numbers in messages.
  struct NumberWords {
    const char *symbol = "s", *number = "s_i", *numbers = "coordination numbers",
               *ghost_numbers = "weights";    // numbers sent to ghost atoms
  } words;
  std::unique_ptr<CoordGather> gather;
  class NeighList *list;
  std::int64_t list_version;
  bigint list_ncalls;
  static constexpr int NWANTS = 8;
  bigint nevaluations[NWANTS];    // [want]
  double scale;                   // S divided by the sum over pairs, in the last evaluation
  bool warned_empty;
  bool seeks_partners;    // warn in the next evaluation if no atom has a partner
  bool is_rerun;          // command rerun has called init()
  int groupbit2;

  Path last_path;             // path of the last evaluation, or of setup
  LocalEvaluation running;    // valid between start_evaluation() and finish_evaluation()
  // With ATOM_VIRIAL: array_atom and the virials of atoms, [nlocal][10]. The virials are those of
  // whole pairs, not of half pairs.
  std::vector<double> ten_columns;
  // [nlocal][4] the first columns of array_atom, if it has more columns.
  std::vector<double> four_columns;

  // Data of the function in this evaluation.
  struct FunctionNumbers {
    std::vector<int> rows;             // owned atoms that s and f refer to
    std::vector<double> s, f, dSds;    // [rows]
    std::vector<double> s_of_atoms;    // [nlocal]
    std::vector<double> weights;       // [nlocal + nghost]
    bool is_reduced = false;           // this rank has taken part in the sums over ranks
  } function_numbers;

  // The function that a GPU evaluates without KOKKOS; null: the host evaluates it.
  std::unique_ptr<gpucoord::DeviceFunction> on_gpu;
  std::vector<int> owner_of_atom;    // DeviceFunction::owner
  std::int64_t version_of_owners;    // version of the atoms of owner_of_atom

  // Data of this evaluation.
  gpucoord::Box box;
  gpucoord::PairsInput pairs;    // used in pair mode

  CoordAtoms selected;
};

}    // namespace LAMMPS_NS

#endif
#endif
