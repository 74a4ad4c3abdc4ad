/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "bias_plumed_units.h"

using namespace LAMMPS_NS;

std::unique_ptr<Plumed> PlumedUnits::make_plumed() const
{
  auto made = std::make_unique<Plumed>(kernel);
  int precision = 8;
  made->command("setRealPrecision", &precision);
  if (caller.are_natural)
    made->command("setNaturalUnits");
  else {
    made->command("setMDEnergyUnits", &caller.energy);
    made->command("setMDLengthUnits", &caller.length);
    made->command("setMDTimeUnits", &caller.time);
  }
  made->command("setMDEngine", "LAMMPS");
  return made;
}

void PlumedUnits::begin(double timestep)
{
  unit_of_force = bias_of_value("CONSTANT VALUE=1", timestep, 0);
}

double PlumedUnits::time_of(std::int64_t step, double timestep) const
{
  return bias_of_value("TIME", timestep, step) / unit_of_force;
}

// Returns the energy of a bias that is the value of an action. The value is in the units of
// PLUMED's input. PLUMED converts the bias to the caller's units, but does not convert the force on
// an EXTRACV. The result for a value of 1 is therefore the unit of that force.
double PlumedUnits::bias_of_value(const std::string &action, double timestep,
                                  std::int64_t number) const
{
  const auto other = make_plumed();
  other->command("setTimestep", &timestep);
  other->command("setLogFile", "/dev/null");
  other->command("init");
  if (!units_command.empty()) other->command("readInputLine", units_command.c_str());
  other->command("readInputLine", ("value: " + action).c_str());
  other->command("readInputLine", "BIASVALUE ARG=value");
  long long step = number;
  int is_stopped = 0;
  double energy = 0.0;
  other->command("setStepLongLong", &step);
  other->command("setStopFlag", &is_stopped);
  other->command("prepareCalc");
  other->command("performCalcNoUpdate");
  other->command("getBias", &energy);
  return energy;
}
