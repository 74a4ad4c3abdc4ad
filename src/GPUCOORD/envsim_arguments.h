/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ENVSIM_ARGUMENTS_H
#define LMP_ENVSIM_ARGUMENTS_H

#include "coord_arguments.h"

#include "gpucoord/environment_similarity.h"

#include <string>

namespace LAMMPS_NS {

// Arguments of "compute ID group coord/envsim".

class EnvsimArguments : public CoordArguments {
 public:
  EnvsimArguments(LAMMPS *, int narg, char **arg);

  gpucoord::EnvironmentOptions options;
  const char *range_word() const override { return "reach (longest vector + cutoff*sigma)"; }
  MessageTerms terms() const override
  {
    return {"similarity", "the similarity", "similarities", "weights"};
  }

 private:
  void read_own(int &iarg, int narg, char **arg) override;
  void read_structure(int &iarg, int narg, char **arg);
  void read_file(int iarg, const std::string &name);
  int read_type(const std::string &word, std::string &why) const;

  // Indices of arguments for errors; 0: not given.
  int sigma_position = 0, lambda_position = 0, cutoff_position = 0;
};

}    // namespace LAMMPS_NS

#endif
