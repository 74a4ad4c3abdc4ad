/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_RESPA_LEVEL_H
#define LMP_BIAS_RESPA_LEVEL_H

#include "pointers.h"

namespace LAMMPS_NS {

// The rRESPA level of a fix that evaluates a bias. A level is evaluated several times in a
// timestep; the last one is that of the whole timestep.

class BiasRespaLevel : protected Pointers {
 public:
  explicit BiasRespaLevel(LAMMPS *);

  // Finds the level, in init() of the fix.
  void find(const class Fix *);
  int index() const { return level; }
  // Returns the level of a fix, or 0 with another integrator.
  int index_of(const class Fix *) const;
  double timestep() const;    // between evaluations of the level

  // In setup() of the fix: copy the forces of the level to those of the atoms, and back. Do nothing
  // with another integrator.
  void begin_setup();
  void end_setup();

  // Counts an evaluation of the level, and returns whether it is the last one of this timestep.
  bool is_last_evaluation();

 private:
  int outermost() const;

  int level;
  int evaluations_per_step, evaluations_done;
  bigint last_step;
};

}    // namespace LAMMPS_NS

#endif
