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
struct BiasContext;
}    // namespace gpucoord

namespace LAMMPS_NS {
class LAMMPS;

// Adds the variable of an argument, c_ID or c_ID[k], to those of a bias. It must be a value of a
// collective variable and differ from the earlier ones. command, verb: used at the beginning of
// messages, such as "Fix coord/bias" and "biases"
void parse_variable(LAMMPS *, int iarg, char **arg, const std::string &command,
                    const std::string &verb, gpucoord::BiasContext &);

// Makes the bias that a user defines by "fix ID group coord/bias c_A [c_B ...] KIND keyword values
// ...". Checks everything that can be checked before the system exists. The labels of the bias are
// the user's words.
std::unique_ptr<gpucoord::Bias> parse_bias(LAMMPS *, int narg, char **arg);

}    // namespace LAMMPS_NS

#endif
