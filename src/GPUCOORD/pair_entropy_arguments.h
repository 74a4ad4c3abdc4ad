/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_PAIR_ENTROPY_ARGUMENTS_H
#define LMP_PAIR_ENTROPY_ARGUMENTS_H

#include "coord_arguments.h"

#include "gpucoord/pair_entropy.h"

namespace LAMMPS_NS {

// Arguments of "compute ID group coord/pairentropy".

class PairEntropyArguments : public CoordArguments {
 public:
  PairEntropyArguments(LAMMPS *, int narg, char **arg);
  MessageTerms terms() const override { return ORDER_PARAMETERS; }
  const char *range_word() const override { return "cutoff + 8 sigma"; }

  gpucoord::PairEntropyOptions options;

 private:
  void read_own(int &iarg, int narg, char **arg) override;

  // Indices of arguments for errors; 0: not given.
  int cutoff_position = 0, sigma_position = 0, bins_position = 0;
};

}    // namespace LAMMPS_NS

#endif
