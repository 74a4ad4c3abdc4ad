/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
#define ORDER_PARAMETER(style, definition, text) ComputeStyle(style, ComputeCoordOrder);
#include "coord_styles.h"
#else

#ifndef LMP_COMPUTE_COORD_ORDER_H
#define LMP_COMPUTE_COORD_ORDER_H

#include "coord_pair_variable.h"

#include "gpucoord/order_parameter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class OrderBackend;
class OrderDefinition;
struct OrderStyle;

// A function of per-atom numbers that are an order parameter of the library, or one number of all
// atoms. The name of the style selects the order parameter. The library evaluates the order
// parameters and their function, and calls back for the communication with other ranks. The
// arguments of such a style always include a function.

class ComputeCoordOrder : public CoordPairVariable {
 public:
  ComputeCoordOrder(class LAMMPS *, int, char **);
  ~ComputeCoordOrder() override;
  void init() override;
  double memory_usage() override;

 protected:
  bool has_partners() override { return natoms_with_partners > 0; }
  DeviceChoice &device_choice() const override;
  // Prepares the per-atom numbers of an evaluation.
  void begin_numbers(const LocalEvaluation &);
  double local_value(double value) const;
  double volume() const;
  // Copies the elements of the vector after W.
  virtual void set_vector();

  std::unique_ptr<OrderDefinition> order;
  std::int64_t natoms_with_partners;    // on this rank; with a GPU: 1 if there are any
  bool has_columns;                     // the running evaluation has the columns of 'order'

 private:
  ComputeCoordOrder(class LAMMPS *, int, char **, const OrderStyle &);
  void begin_local(LocalEvaluation &) override;
  void evaluate_local(LocalEvaluation &) override;
  void complete_exchanges(LocalEvaluation &) override;
  gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) override;
  void copy_outputs() override;
  void init_backend() override;
  std::string description() const override;
  PartnerWarnings::Texts partner_texts() const override;

  gpucoord::OrderInput input();
  void check_box() const;

  std::unique_ptr<OrderBackend> backend_of_order;
  std::unique_ptr<gpucoord::OrderParameter> reference;    // for keyword check; null: not needed
  gpucoord::OrderNumbers wanted_numbers;
  std::vector<double> f_of_atoms;    // [nlocal]
};

}    // namespace LAMMPS_NS

#endif
#endif
