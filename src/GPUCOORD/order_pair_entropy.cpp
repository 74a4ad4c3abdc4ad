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

// Pair entropy of all atoms, compute coord/pairentropy.

#include "order_evaluator.h"
#include "pair_entropy_arguments.h"

#include "domain.h"
#include "fmt/format.h"

#include "gpucoord/pair_entropy.h"

#include <algorithm>

using namespace LAMMPS_NS;

namespace {

class PairEntropy : public OrderDefinition {
 public:
  PairEntropy(const PairEntropyArguments &args, const gpucoord::SwitchTable & /*table*/) :
      options(args.options), precision(args.precision)
  {
  }

  std::unique_ptr<gpucoord::OrderParameter> make_host(int nthreads) const override
  {
    return gpucoord::make_host_pair_entropy(options, precision, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device, int nthreads) const override
  {
    return gpucoord::make_cuda_pair_entropy(options, precision, device, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override
  {
    return gpucoord::make_reference_pair_entropy(options);
  }
  std::unique_ptr<gpucoord::ResidentOrderParameter> make_resident() const override
  {
    return gpucoord::make_resident_pair_entropy(options, precision);
  }
  bool is_global() const override { return true; }
  std::string why_not_in(Domain *domain) const override
  {
    if (domain->dimension != 3)
      return "the pair entropy needs the density of a three-dimensional system, but the dimension "
             "is 2 - use dimension 3";
    if (domain->xperiodic && domain->yperiodic && domain->zperiodic) return "";
    char boundary[9];
    domain->boundary_string(boundary);
    return fmt::format("the pair entropy needs the density, and so a box that is periodic in all "
                       "directions, but the boundary is {} - use boundary p p p",
                       boundary);
  }
  std::string description() const override { return gpucoord::description(options); }
  std::string range_of_partners() const override
  {
    return fmt::format("cutoff {:.10g}", options.cutoff);
  }
  std::string without_partners() const override { return "S is that of g = 0"; }
  std::string with_empty_group2() const override { return "S is 0"; }

  // g(r_k)
  int nvector() const override { return options.bins; }
  void set_vector(const gpucoord::OrderParameter &order, double *to) const override
  {
    std::copy_n(static_cast<const gpucoord::PairEntropy &>(order).distribution().data(),
                options.bins, to);
  }
  void set_vector(const gpucoord::ResidentOrderParameter &order, double *to) const override
  {
    std::copy_n(static_cast<const gpucoord::ResidentPairEntropy &>(order).distribution(),
                options.bins, to);
  }

 private:
  const gpucoord::PairEntropyOptions options;
  const gpucoord::Precision precision;
};

}    // namespace

const CoordStyle LAMMPS_NS::pair_entropy_style = order_style<PairEntropy, PairEntropyArguments>();
