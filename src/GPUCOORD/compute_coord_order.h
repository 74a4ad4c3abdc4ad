/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COMPUTE_COORD_ORDER_H
#define LMP_COMPUTE_COORD_ORDER_H

#include "compute_coord_gpu.h"

#include "gpucoord/order_parameter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class OrderBackend;

// Base class of styles whose per-atom numbers are an order parameter of the library. The library
// evaluates the order parameters and their function, and calls back for the communication with
// other ranks. The arguments of such a style always include a function.

class ComputeCoordOrder : public ComputeCoordGPU {
 public:
  ~ComputeCoordOrder() override;
  double memory_usage() override;

 protected:
  ComputeCoordOrder(class LAMMPS *, int, char **, const ReadArguments &);
  // Call this in the constructor of a style whose S is one number of all atoms, not a sum over
  // atoms.
  void set_global();

  // Make the order parameter on the host, on the GPU 'device', and by plain loops for keyword
  // check.
  virtual std::unique_ptr<gpucoord::OrderParameter> make_host() const = 0;
  virtual std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device) const = 0;
  virtual std::unique_ptr<gpucoord::OrderParameter> make_reference() const = 0;
  // Returns a one-line description of the order parameter, without its function.
  virtual std::string order_in_words() const = 0;
  // The default of these two functions fits styles whose S is a function of order parameters.
  std::string without_partners() const override { return "all order parameters are 0"; }
  bool has_partners() override { return natoms_with_partners > 0; }
  bool seeks_partners_in_run() const override { return true; }    // at no cost
  // Prepares the per-atom numbers of an evaluation. A style sets pointers in 'wanted_numbers' to
  // request numbers in addition to v_i and f.
  virtual void begin_numbers(const LocalEvaluation &);

  DeviceChoice &device_choice() const override;
  double local_value(double value) const;
  double volume() const;
  const gpucoord::OrderParameter &
  order_parameter() const;    // has the state of the last evaluation

  bool is_global;
  std::int64_t natoms_with_partners;    // on this rank; with a GPU: 1 if there are any
  gpucoord::OrderNumbers wanted_numbers;

 private:
  void begin_local(const LocalEvaluation &) override;
  void evaluate_local(LocalEvaluation &) override;
  void complete_exchanges(LocalEvaluation &) override;
  gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) override;
  void init_backend() override;
  std::string description() const override;

  gpucoord::OrderInput input();

  std::unique_ptr<OrderBackend> order_backend;
  std::unique_ptr<gpucoord::OrderParameter> reference;    // for keyword check; null: not needed
  std::vector<double> f_of_atoms;                         // [nlocal]
};

}    // namespace LAMMPS_NS

#endif
