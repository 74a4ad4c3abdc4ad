/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ORDER_EVALUATOR_H
#define LMP_ORDER_EVALUATOR_H

#include "coord_evaluator.h"
#include "order_definition.h"

#include "gpucoord/order_parameter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class OrderBackend;

// A function of per-atom numbers that are an order parameter of the library, or one number of all
// atoms. The library evaluates the order parameters and their function, and calls back for the
// communication with other ranks. The arguments of such a style always include a function.

class OrderEvaluator : public CoordEvaluator {
 public:
  OrderEvaluator(LAMMPS *, CoordPairData &, std::unique_ptr<OrderDefinition>);
  ~OrderEvaluator() override;
  DeviceChoice &device_choice() const override;
  void check_box() const override;
  void init_backend() override;
  std::string description() const override;
  void begin(LocalEvaluation &) override;
  void evaluate(LocalEvaluation &) override;
  void complete_exchanges(LocalEvaluation &) override;
  gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) override;
  bool has_partners(const LocalEvaluation &) const override { return natoms_with_partners > 0; }
  PartnerWarnings::Texts partner_texts() const override;
  int nvector() const override { return order->nvector(); }
  int ncolumns() const override { return order->ncolumns(); }
  void set_vector(double *to) const override;
  void set_columns(double **array, int first) const override;
  double memory_usage() const override;

  // For atoms that are resident on a GPU.

  OrderDefinition &definition() const { return *order; }
  // Prepares the per-atom numbers of an evaluation.
  void begin_numbers(const LocalEvaluation &);
  // Returns whether the running evaluation has the columns of the definition.
  bool has_columns() const { return requests_columns; }
  double local_value(double value) const;
  double volume() const;
  // n: on this rank; with a GPU: 1 if there are any
  void set_atoms_with_partners(std::int64_t n) { natoms_with_partners = n; }

 private:
  gpucoord::OrderInput input();

  const std::unique_ptr<OrderDefinition> order;
  std::int64_t natoms_with_partners = 0;
  bool requests_columns = false;
  std::unique_ptr<OrderBackend> backend_of_order;
  std::unique_ptr<gpucoord::OrderParameter> reference;    // for keyword check; null: not needed
  gpucoord::OrderNumbers wanted_numbers;
  std::vector<double> f_of_atoms;    // [nlocal]
};

// For the file that defines a style.
template <class Definition, class Arguments> constexpr CoordStyle order_style()
{
  return {
      [](LAMMPS *lmp, int narg, char **arg) -> std::unique_ptr<CoordArguments> {
        return std::make_unique<Arguments>(lmp, narg, arg);
      },
      [](LAMMPS *lmp, CoordPairData &data) -> std::unique_ptr<CoordEvaluator> {
        return std::make_unique<OrderEvaluator>(
            lmp, data,
            std::make_unique<Definition>(static_cast<const Arguments &>(*data.args), *data.table));
      }};
}

}    // namespace LAMMPS_NS

#endif
