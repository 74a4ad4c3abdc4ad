/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/custom,ComputeCoordCustom);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_CUSTOM_H
#define LMP_COMPUTE_COORD_CUSTOM_H

#include "coord_variable.h"

#include <memory>
#include <string>
#include <vector>

namespace gpucoord {
class Expression;
class ResidentExpression;
}    // namespace gpucoord

namespace LAMMPS_NS {
class BiasBoard;

// An expression of other variables, its children. Its gradients and virial follow from those of the
// children by the chain rule. It therefore has no atom data and needs no communication of its own.

class ComputeCoordCustom : public CoordVariable {
 public:
  ComputeCoordCustom(class LAMMPS *, int, char **);
  ~ComputeCoordCustom() override;
  void init() override;
  void setup() override;
  double memory_usage() override;

  std::string dynamic_group() const override;
  int groups() const override;
  gpucoord::Period period(int /*item*/) const override { return own_period; }
  const std::vector<VariableRef> &children() const override;
  void reneighbored(bool due) override;
  bool is_resident() const override;
  bool can_enqueue() const override;
  gpucoord::DeviceValue enqueue() override;
  gpucoord::DeviceStream stream() const override { return variables[0].compute->stream(); }
  void raise_device_errors(bool has_moved, bool is_not_finite) override;
  void start(bool /*is_for_forces*/) override {}
  // The values of the children are sums over all ranks already.
  int nsums(unsigned /*want*/) const override { return 0; }
  void get_local_sums(double * /*local_sums*/) override {}
  void finish(const double *sums) override;
  double rounding() const override;
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;
  double bytes_copied() const override { return 0.0; }    // the children count their own bytes

 private:
  struct Child {
    std::string name;
    VariableWord word;
    int serial;    // distinguishes the compute from a later one with the same ID
  };

  struct Below {
    CollectiveVariable *variable;
    ComputeCoordCustom *custom;           // the same variable if it is an expression, or null
    std::size_t begin;                    // index of its first value among all values below
    std::vector<std::size_t> children;    // indices of its children among all values below
  };

  int parse_period(int narg, char **arg);
  void parse_children(int narg, char **arg);
  void check_periods() const;
  bool has_child(const std::string &compute_id) const;
  bool depends_on(const std::string &compute_id) const;
  VariableRef variable_of(const Child &) const;
  void make_resident();
  void print_setup();
  void print_value();
  void check_finite(bool has_derivatives) const;
  const std::vector<Below> &variables_below() const;
  void check_variables_below() const;
  template <class Visit> void for_each_below(double factor, const Visit &) const;
  std::vector<double> factors_below(double factor) const;
  void set_rounding();
  void raise_not_finite();

  std::string text;
  gpucoord::Period own_period;       // S is mapped into it
  std::vector<std::string> names;    // [children]
  std::unique_ptr<gpucoord::Expression> expression;
  std::unique_ptr<gpucoord::ResidentExpression> resident;    // null: evaluated on the host
  std::string gpu_limit;    // reason why the GPU cannot evaluate it, or ""
  std::vector<Child> list;
  std::vector<VariableRef> variables;    // the children, set by init()
  double npaths;           // number of paths through expressions to variables that are none
  double max_gpu_paths;    // largest number for the GPU
  // All variables below this one; empty: not listed since init().
  mutable std::vector<Below> below;
  mutable std::vector<std::size_t> places_of_children;    // [children] index among all values below
  std::shared_ptr<BiasBoard> board;

  // Data of this force evaluation.
  double known_rounding;              // rounding() of S
  std::vector<double> values;         // [children] S
  std::vector<double> derivatives;    // [children] dS/dS_k
};

}    // namespace LAMMPS_NS

#endif
#endif
