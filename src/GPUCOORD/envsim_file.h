/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_ENVSIM_FILE_H
#define LMP_ENVSIM_FILE_H

#include "gpucoord/environment_similarity.h"

#include <functional>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Files of environments. Functions throw std::runtime_error with the reason why a file cannot be
// used, and the line.

namespace EnvsimFile {

  // Returns the number of an atom type, or sets 'why' to the reason why there is no such type.
  using ReadType = std::function<int(const std::string &word, std::string &why)>;

  // Returns the text of a file. Called by one rank.
  std::string read(const std::string &name);

  bool is_pdb(const std::string &name);    // the name ends with .pdb

  // Reads lines 'x y z [type]', distance. # starts a comment. Blank lines separate environments.
  std::vector<gpucoord::Environment> parse_vectors(const std::string &text, const ReadType &);

  // Reads ATOM and HETATM records of a PDB file. END and ENDMDL end an environment. angstrom:
  // length of one Angstrom, distance
  std::vector<gpucoord::Environment> parse_pdb(const std::string &text, double angstrom);

}    // namespace EnvsimFile
}    // namespace LAMMPS_NS

#endif
