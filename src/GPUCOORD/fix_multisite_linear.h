/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef FIX_CLASS
// clang-format off
FixStyle(multisite/linear,FixMultisiteLinear);
// clang-format on
#else

#ifndef LMP_FIX_MULTISITE_LINEAR_H
#define LMP_FIX_MULTISITE_LINEAR_H

#include "fix.h"

#include <vector>

namespace LAMMPS_NS {

class FixMultisiteLinear : public Fix {
 public:
  FixMultisiteLinear(class LAMMPS *, int, char **);
  int setmask() override;
  void init() override;
  void setup_pre_neighbor() override;
  void setup(int) override;
  void min_setup(int) override;
  void post_force(int) override;
  void post_force_respa(int, int, int) override;
  void min_post_force(int) override;
  void end_of_step() override;
  double memory_usage() override;

 protected:
  enum class Vectors { TORQUES, ANGULAR_MOMENTA };
  virtual void remove_axial_components(Vectors);    // removes the components along the axes
  virtual void atoms_to_host() {}    // called before a check reads vectors on the host

  std::vector<int> axis;     // [ntypes + 1] axis of linear molecules, 0, 1 or 2; -1: not linear
  double rounding = 1e-9;    // largest fraction of a torque that may remain along the axis

 private:
  template <typename Function> void for_each_molecule(Function) const;
  void check_group();
  void check_order();

  bool order_is_checked = true;
};

}    // namespace LAMMPS_NS

#endif
#endif
