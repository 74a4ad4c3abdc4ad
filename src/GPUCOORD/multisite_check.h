/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_CHECK_H
#define LMP_MULTISITE_CHECK_H

#include "pointers.h"

#include "gpucoord/multisite.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// Keyword check of pair_style multisite. Computes the results again in double with the host
// backend, or with the library's reference loops if the host backend computed the results.

class MultisiteCheck : protected Pointers {
 public:
  // host: null: use the reference loops
  MultisiteCheck(LAMMPS *, const gpucoord::MultisiteModel &, gpucoord::Multisite *host,
                 gpucoord::Precision, double tolerance);

  // Collective. Raises the same error on all ranks if a result differs. The results must be those
  // of this evaluation alone. ids: IDs of the owned molecules. In mixed and single precision, a
  // molecule may differ if rounding decides whether a pair is within a cutoff; sums are not
  // compared then.
  void compare(const gpucoord::Molecules &, const gpucoord::MultisiteSums &,
               const gpucoord::MultisiteResults &, const std::vector<tagint> &ids) const;

 private:
  bool compare_vectors(const std::string &what, const gpucoord::Molecules &, const double *found,
                       const double *expected, const std::vector<tagint> &ids) const;
  void compare_sum(const std::string &what, double found, double expected, double size) const;

  const gpucoord::MultisiteModel &model;
  gpucoord::Multisite *const host;
  const bool is_rounded;
  const double tolerance;
};

}    // namespace LAMMPS_NS

#endif
