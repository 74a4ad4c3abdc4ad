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
#include "gpucoord_words.h"

#include <string>

namespace LAMMPS_NS {

// What a user writes after compute ID group potential/grid, checked.

class PotentialGridSettings : protected Pointers {
 public:
  PotentialGridSettings(LAMMPS *, int narg, char **arg);

  enum class Units { NATIVE, VOLT, KT };

  double far_error() const;    // charge/distance in the units of now
  // Of the units of now: what a sum of charge/distance is multiplied by.
  double scale() const;
  // why maps cannot be had in these units, or ""
  std::string why_not_in(Units) const;

  bool is_direct() const { return map.kernel == gpucoord::MapKernel::DIRECT; }
  bool has_far() const { return far_tolerance > 0.0; }
  const char *kernel_name() const;
  std::string overlap_in_words() const;
  std::string bins_in_words() const;
  std::string units_in_words() const;

  int n[3];                      // points along the edges of the box
  gpucoord::MapOptions map;      // but for 'tiny' and alpha
  double far_tolerance = 0.0;    // 0: no far field
  int far_position = 0, cutoff_position = 0, overlap_position = 0;    // of keywords in the command
  std::string reference;      // ID of the region of which the mean is 0; empty: none
  bool at_corners = false;    // of cells, not at their centers
  Units units = Units::NATIVE;
  double temperature = 0.0;    // of KT
  double dielectric = 1.0;
  bool field = false;
  gpucoord::MapBins bins;
  gpucoord::Precision precision = gpucoord::Precision::MIXED;
  Words::Device device = Words::Device::AUTO;
  int device_position = 0;    // of the word in the command

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
