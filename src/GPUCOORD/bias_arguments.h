/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_ARGUMENTS_H
#define LMP_BIAS_ARGUMENTS_H

#include <memory>
#include <string>
#include <vector>

namespace gpucoord {
class Bias;
}

namespace LAMMPS_NS {
class LAMMPS;

// Returns the ID of the compute in an argument c_ID. It must be a collective variable and differ
// from the earlier ones. command, verb: used at the beginning of messages, such as "Fix coord/bias"
// and "biases"
std::string parse_variable(LAMMPS *, int iarg, char **arg, const std::string &command,
                           const std::string &verb, const std::vector<std::string> &earlier);

// Makes the bias that a user defines by "fix ID group coord/bias c_A [c_B ...] KIND keyword values
// ...". Checks everything that can be checked before the system exists. The names of the bias are
// the IDs of the computes.
std::unique_ptr<gpucoord::Bias> parse_bias(LAMMPS *, int narg, char **arg);

}    // namespace LAMMPS_NS

#endif
