/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ORDER_DEFINITION_H
#define LMP_ORDER_DEFINITION_H

#include "gpucoord/order_parameter.h"
#include "gpucoord/resident_order_parameter.h"
#include "gpucoord/switch_table.h"
#include "gpucoord/types.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class Domain;

// An order parameter of compute coord/orientorder and similar styles, which all have an
// OrderEvaluator: how to make it, its outputs in addition to those of all variables, and texts.

class OrderDefinition {
 public:
  virtual ~OrderDefinition() = default;

  // Make the order parameter on the host, on the GPU 'device', by plain loops for keyword check,
  // and for atoms that are resident on the current GPU.
  virtual std::unique_ptr<gpucoord::OrderParameter> make_host(int nthreads) const = 0;
  virtual std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device, int nthreads) const = 0;
  virtual std::unique_ptr<gpucoord::OrderParameter> make_reference() const = 0;
  virtual std::unique_ptr<gpucoord::ResidentOrderParameter> make_resident() const = 0;
  // Returns whether the last one reads types of atoms. table_types: types in the table of functions
  virtual bool reads_types(int table_types) const { return table_types > 0; }

  // Returns whether S is one number of all atoms, not a sum over atoms.
  virtual bool is_global() const { return false; }
  virtual bool takes_group2() const { return true; }
  // Returns why the order parameter is not defined in this box, with the way out, or "".
  virtual std::string why_not_in(Domain *) const { return ""; }

  // Returns a one-line description of the order parameter, without its function.
  virtual std::string describe() const = 0;
  // Returns the range of partners, for warnings; "": that of the arguments.
  virtual std::string range_of_partners() const { return ""; }
  // Return the results if no atom has a partner, and if group2 is empty, for warnings.
  virtual std::string without_partners() const { return "all order parameters are 0"; }
  virtual std::string with_empty_group2() const { return without_partners(); }

  // Length of OrderParameter::global_vector(), which is in the vector after W, and set after an
  // evaluation with the virial.
  virtual int nvector() const { return 0; }

  // Columns of the array after f. An evaluation requests them, and then copies them from the
  // request to column 'first' on. compute_columns() follows the first pass of
  // ResidentOrderParameter; it may wait, and throw DeviceError.
  virtual int ncolumns() const { return 0; }
  virtual void request_columns(int /*nlocal*/, gpucoord::OrderNumbers &) {}
  virtual void compute_columns(gpucoord::ResidentOrderParameter &, int /*nlocal*/, int /*nthreads*/,
                               gpucoord::DeviceStream)
  {
  }
  virtual void set_columns(int /*nlocal*/, double ** /*array*/, int /*first*/) const {}
  virtual double memory_usage() const { return 0.0; }
};

// An order parameter with these options of the library.
template <class Options> class OrderOf : public OrderDefinition {
 public:
  template <class Arguments>
  OrderOf(const Arguments &args, const gpucoord::SwitchTable & /*table*/) :
      options(args.options), precision(args.precision)
  {
  }
  std::unique_ptr<gpucoord::OrderParameter> make_host(int nthreads) const override
  {
    return make_host_order(options, precision, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device, int nthreads) const override
  {
    return make_cuda_order(options, precision, device, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override
  {
    return make_reference_order(options);
  }
  std::unique_ptr<gpucoord::ResidentOrderParameter> make_resident() const override
  {
    return make_resident_order(options, precision);
  }
  std::string describe() const override { return description(options); }

 protected:
  Options options;
  const gpucoord::Precision precision;
};

}    // namespace LAMMPS_NS

#endif
