/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_SURROUNDINGS_H
#define LMP_BIAS_SURROUNDINGS_H

#include "pointers.h"

#include "gpucoord/bias.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {
class Fix;
class FixCoordBias;

// Checks of a fix that biases collective variables against the other fixes: their order, the
// temperature of thermostats, and the files that several fixes write.

class BiasSurroundings : protected Pointers {
 public:
  // owner: beginning of messages
  BiasSurroundings(LAMMPS *, const FixCoordBias *, std::string owner, const gpucoord::Bias &);

  // Collective. Raises an error for a barostat that is defined before the fix. warns: also warns
  // about other fixes before it
  void check_order_of_fixes(bool warns) const;
  // Raises an error if the bias cannot scale the forces of the force field.
  void check_scaled_forces() const;
  // Called at the beginning of each run, and after each timestep.
  void begin_run();
  void check_thermostats();
  // Returns whether a fix moves atoms by their forces.
  bool has_dynamics() const;
  // Returns the walls that other fixes have for each variable.
  std::vector<gpucoord::Bias::Walls> walls_of_others() const;
  // Collective. Raises an error if another fix writes one of the files that this fix is about to
  // open. Only rank 0 knows the files of metadynamics and PLUMED.
  void add_written_files(const std::vector<gpucoord::Bias::File> &);

 private:
  int groups_of_atoms() const;
  bool acts_on(const Fix *, int groups) const;
  bool has_thermostat() const;

  const FixCoordBias *const mine;
  const std::string owner;
  const gpucoord::Bias &bias;
  const double temperature;    // that of the bias, or 0
  bool has_warned_without_thermostat;
  int steps_to_thermostats;                        // timesteps until thermostats are checked, or 0
  std::string warned_of;                           // IDs of the thermostats in the last warning
  std::vector<gpucoord::Bias::File> open_files;    // with absolute paths
};

}    // namespace LAMMPS_NS

#endif
