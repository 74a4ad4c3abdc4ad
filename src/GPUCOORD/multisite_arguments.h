/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_MULTISITE_ARGUMENTS_H
#define LMP_MULTISITE_ARGUMENTS_H

#include "gpucoord_parse.h"
#include "gpucoord_restart_io.h"

#include <string>

namespace LAMMPS_NS {

// Arguments of pair_style multisite.

struct MultisiteArguments {
  // Source of shift and tail: the keyword (NO, YES) or pair_modify (PAIR).
  enum class Switched { NO, YES, PAIR };

  MultisiteArguments() = default;
  // Errors point at the word. Sets device_position to the index of the value of keyword device, if
  // given.
  MultisiteArguments(LAMMPS *, int narg, char **arg, int &device_position);
  explicit MultisiteArguments(RestartReader &);
  void write(RestartWriter &) const;

  // Reads a number of a command. 'what' is the beginning of the error if the word is not a number.
  static double number(LAMMPS *, const std::string &what, char *word);

  double cutoff = 0.0, cutoff_charge = 0.0;
  bool site_cutoff = false;
  Switched shift = Switched::PAIR, tail = Switched::PAIR;
  double reaction_field = 1.0;
  gpucoord::Precision precision = gpucoord::Precision::DOUBLE;
  Parse::Device device = Parse::Device::AUTO;
  int check_every = 0;    // number of evaluations between checks; 0: never
  double check_tolerance = 0.0;
};

}    // namespace LAMMPS_NS

#endif
