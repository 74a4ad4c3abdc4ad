/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

// Bond-orientational order parameters of atoms, compute coord/orientorder.

#include "order_evaluator.h"
#include "orient_order_arguments.h"

#include "gpucoord/orient_order.h"

#include <vector>

using namespace LAMMPS_NS;

namespace {

class OrientOrder : public OrderDefinition {
 public:
  OrientOrder(const OrientOrderArguments &args, const gpucoord::SwitchTable &table_in) :
      table(table_in), options(args.options), precision(args.precision), has_w_hat(args.has_w_hat)
  {
  }

  std::unique_ptr<gpucoord::OrderParameter> make_host(int nthreads) const override
  {
    return gpucoord::make_host_orient_order(table, options, precision, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device, int nthreads) const override
  {
    return gpucoord::make_cuda_orient_order(table, options, precision, device, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override
  {
    return gpucoord::make_reference_orient_order(table, options);
  }
  std::unique_ptr<gpucoord::ResidentOrderParameter> make_resident() const override
  {
    return gpucoord::make_resident_orient_order(table, options, precision);
  }
  bool is_global() const override { return options.order == gpucoord::OrderKind::GLOBAL; }
  // The other orders compare atoms of one group.
  bool takes_group2() const override
  {
    return options.order == gpucoord::OrderKind::LOCAL || is_global();
  }
  std::string description() const override { return gpucoord::description(options); }

  // w_l/|q_l|^3 is column 6 of the per-atom output.
  int ncolumns() const override { return has_w_hat ? 1 : 0; }
  void request_columns(int nlocal, gpucoord::OrderNumbers &wanted) override
  {
    if (!has_w_hat) return;
    w_of_atoms.assign(nlocal, 0.0);
    wanted.w_hat = w_of_atoms.data();
  }
  void compute_columns(gpucoord::ResidentOrderParameter &order, int nlocal, int nthreads,
                       gpucoord::DeviceStream stream) override
  {
    if (!has_w_hat) return;
    std::vector<double> harmonics((2 * options.l + 1) * static_cast<std::size_t>(nlocal));
    static_cast<gpucoord::ResidentOrientOrder &>(order).copy_harmonics(harmonics.data(), stream);
    gpucoord::set_w_hat(options.l, harmonics.data(), nlocal, gpucoord::smallest_norm(precision),
                        w_of_atoms.data(), nthreads);
  }
  void set_columns(int nlocal, double **array, int first) const override
  {
    if (!has_w_hat) return;
    for (int i = 0; i < nlocal; ++i) array[i][first] = w_of_atoms[i];
  }
  double memory_usage() const override
  {
    return static_cast<double>(w_of_atoms.capacity()) * sizeof(double);
  }

 private:
  const gpucoord::SwitchTable &table;
  const gpucoord::OrientOrderOptions options;
  const gpucoord::Precision precision;
  const bool has_w_hat;
  std::vector<double> w_of_atoms;    // [nlocal]
};

}    // namespace

const CoordStyle LAMMPS_NS::orient_order_style = order_style<OrientOrder, OrientOrderArguments>();
