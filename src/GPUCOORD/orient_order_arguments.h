/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ORIENT_ORDER_ARGUMENTS_H
#define LMP_ORIENT_ORDER_ARGUMENTS_H

#include "coord_arguments.h"

#include "gpucoord/orient_order.h"

namespace LAMMPS_NS {

// Arguments of "compute ID group coord/orientorder".

class OrientOrderArguments : public CoordArguments {
 public:
  OrientOrderArguments(LAMMPS *, int narg, char **arg);
  MessageTerms terms() const override { return ORDER_PARAMETERS; }

  gpucoord::OrientOrderOptions options;
  bool has_w_hat = false;    // column 6 of the per-atom output exists

 private:
  void read_own(int &iarg, int narg, char **arg) override;
  void read_order(int &iarg, int narg, char **arg);
  void check_order(char **arg) const;
  void check_range(char **arg) const;

  // Indices of arguments for errors; 0: not given.
  int l_position = 0, order_position = 0, w_hat_position = 0;
};

}    // namespace LAMMPS_NS

#endif
