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

// Returns the ID of the compute in an argument c_ID, which must be a collective variable and not
// one of the earlier ones. command, verb: begin messages, such as "Fix coord/bias" and "biases".
std::string parse_variable(LAMMPS *, int iarg, char **arg, const std::string &command,
                           const std::string &verb, const std::vector<std::string> &earlier);

// The bias that a user defines by "fix ID group coord/bias c_A [c_B ...] KIND keyword values ...",
// checked as far as it can be without the system. Its names are the IDs of the computes.
std::unique_ptr<gpucoord::Bias> parse_bias(LAMMPS *, int narg, char **arg);

}    // namespace LAMMPS_NS

#endif
