/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_ARGUMENTS_H
#define LMP_POTENTIAL_ARGUMENTS_H

#include "pointers.h"

#include "gpucoord/potential_map.h"
#include "gpucoord_parse.h"

#include <string>

namespace LAMMPS_NS {

// Checked arguments of "compute ID group potential/grid".

class PotentialArguments : protected Pointers {
 public:
  PotentialArguments(LAMMPS *, int narg, char **arg);

  enum class Units { NATIVE, VOLT, KT };

  double far_error() const;    // charge/distance in the current units
  // Returns the factor that converts a sum of charge/distance, in the current units.
  double scale() const;
  // Returns why maps in these units are unsupported, or "".
  std::string why_not_in(Units) const;

  bool is_direct() const { return map.kernel == gpucoord::MapKernel::DIRECT; }
  bool has_far() const { return far_tolerance > 0.0; }
  const char *kernel_name() const;
  std::string overlap_in_words() const;
  std::string bins_in_words() const;
  std::string units_in_words() const;

  int n[3];                      // points along the edges of the box
  gpucoord::MapOptions map;      // 'tiny' and alpha are set later
  double far_tolerance = 0.0;    // 0: no far field
  // Indices of keywords in the command.
  int far_position = 0, cutoff_position = 0, overlap_position = 0;
  std::string reference;      // ID of the region with zero mean; empty: no region
  bool at_corners = false;    // points are at the corners of cells, not at their centers
  Units units = Units::NATIVE;
  double temperature = 0.0;    // used with KT
  double dielectric = 1.0;
  bool field = false;
  gpucoord::MapBins bins;
  gpucoord::Precision precision = gpucoord::Precision::MIXED;
  Parse::Device device = Parse::Device::AUTO;
  int device_position = 0;    // index of the argument

 private:
  void read_grid(int narg, char **arg);
  double positive(int iarg, const char *text, const std::string &what) const;
  double divisor(int iarg, const char *text, const std::string &what) const;
  void read_far(int &iarg, int narg, char **arg);
  void read_overlap(int &iarg, int narg, char **arg);
  void read_bins(int &iarg, int narg, char **arg);
};

}    // namespace LAMMPS_NS

#endif
