/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_UNITS_H
#define LMP_BIAS_PLUMED_UNITS_H

#include "bias_plumed_kernel.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace LAMMPS_NS {

// The caller's units, and those of PLUMED's input.

class PlumedUnits {
 public:
  // The caller's units, in kJ/mol, nm, ps.
  struct Caller {
    bool are_natural = false;    // Lennard-Jones units; otherwise:
    double energy = 1.0, length = 1.0, time = 1.0;
  };
  // kernel: null on ranks without PLUMED, which call nothing else
  PlumedUnits(const Caller &caller_in, std::shared_ptr<const PlumedKernel> kernel_in) :
      caller(caller_in), kernel(std::move(kernel_in))
  {
  }

  // command: the UNITS command of the input, or ""
  void set_input(const std::string &command) { units_command = command; }
  // Returns a PLUMED object that knows the caller's units.
  std::unique_ptr<Plumed> make_plumed() const;
  // Finds the unit of forces. timestep: its size in the caller's unit
  void begin(double timestep);

  // Returns the energy unit of PLUMED's input, in the caller's units. It is that of forces on an
  // EXTRACV, which PLUMED does not convert.
  double of_force() const { return unit_of_force; }
  // Returns the time of a timestep, in PLUMED's unit. timestep: its size in the caller's unit
  double time_of(std::int64_t step, double timestep) const;

 private:
  double bias_of_value(const std::string &action, double timestep, std::int64_t step) const;

  const Caller caller;
  const std::shared_ptr<const PlumedKernel> kernel;
  std::string units_command;
  double unit_of_force = 1.0;
};

}    // namespace LAMMPS_NS

#endif
