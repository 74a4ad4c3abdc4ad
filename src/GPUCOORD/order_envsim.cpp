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

// Similarity of atoms to crystal environments, compute coord/envsim.

#include "envsim_arguments.h"
#include "order_evaluator.h"

#include "fmt/format.h"

#include "gpucoord/environment_similarity.h"

#include <cmath>

using namespace LAMMPS_NS;

namespace {

class Envsim : public OrderDefinition {
 public:
  Envsim(const EnvsimArguments &args, const gpucoord::SwitchTable & /*table*/) :
      options(args.options), precision(args.precision)
  {
  }

  std::unique_ptr<gpucoord::OrderParameter> make_host(int nthreads) const override
  {
    return gpucoord::make_host_environment_similarity(options, precision, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_cuda(int device, int nthreads) const override
  {
    return gpucoord::make_cuda_environment_similarity(options, precision, device, nthreads);
  }
  std::unique_ptr<gpucoord::OrderParameter> make_reference() const override
  {
    return gpucoord::make_reference_environment_similarity(options);
  }
  std::unique_ptr<gpucoord::ResidentOrderParameter> make_resident() const override
  {
    return gpucoord::make_resident_environment_similarity(options, precision);
  }
  bool reads_types(int /*table_types*/) const override { return gpucoord::has_types(options); }
  std::string description() const override { return gpucoord::description(options); }
  // The similarity of an atom without partners is ln(n)/lambda, n environments.
  std::string without_partners() const override
  {
    const std::size_t n = options.environments.size();
    if (n == 1) return "all similarities are 0";
    return fmt::format("all similarities are ln({})/lambda = {:.6g}", n,
                       std::log(n) / options.lambda);
  }

 private:
  const gpucoord::EnvironmentOptions options;
  const gpucoord::Precision precision;
};

}    // namespace

const CoordStyle LAMMPS_NS::environment_similarity_style = order_style<Envsim, EnvsimArguments>();
