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

#include "coord_arguments.h"
#include "order_evaluator.h"

#include "domain.h"
#include "fmt/format.h"

#include "gpucoord/pair_entropy.h"

#include <string>

using namespace LAMMPS_NS;

namespace {

class PairEntropyArguments : public CoordArguments {
 public:
  PairEntropyArguments(LAMMPS *lmp, int narg, char **arg) :
      CoordArguments(lmp, "coord/pairentropy",
                     {"cutoff", "sigma", "bins", "group2", "precision", "device", "check"})
  {
    read(narg, arg);
    for (const char *const keyword : {"cutoff", "sigma", "bins"})
      need(keyword, "cutoff 2.5 sigma 0.05 bins 100");
    check_order([this] {
      gpucoord::check_options(options);
    });
    cutoff = gpucoord::reach(options);
  }
  MessageTerms terms() const override { return ORDER_PARAMETERS; }
  const char *range_word() const override
  {
    static_assert(gpucoord::GAUSSIAN_REACH == 8.0, "see the words");
    return "cutoff + 8 sigma";
  }

  gpucoord::PairEntropyOptions options;

 private:
  void read_own(int &iarg, int narg, char **arg) override
  {
    const std::string keyword = arg[iarg];
    if (keyword == "bins")
      options.bins = read_integer(iarg, narg, arg);
    else
      (keyword == "cutoff" ? options.cutoff : options.sigma) = read_number(iarg, narg, arg);
  }
};

class PairEntropy : public OrderOf<gpucoord::PairEntropyOptions> {
 public:
  using OrderOf::OrderOf;
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
  std::string range_of_partners() const override
  {
    return fmt::format("cutoff {:.10g}", options.cutoff);
  }
  std::string without_partners() const override { return "S is that of g = 0"; }
  std::string with_empty_group2() const override { return "S is 0"; }

  // g(r_k)
  int nvector() const override { return options.bins; }
};

}    // namespace

const CoordStyle LAMMPS_NS::pair_entropy_style = order_style<PairEntropy, PairEntropyArguments>();
