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

#include "bias_plumed_exchange.h"

#include "gpucoord/bytes_of.h"

#include <algorithm>
#include <utility>

using namespace LAMMPS_NS;

PlumedExchange::PlumedExchange(const std::vector<std::string> &names_in) :
    names(names_in), value(names.size(), 0.0), force(names.size(), 0.0)
{
  needed.variables.assign(names.size(), 1);
}

void PlumedExchange::begin(std::unique_ptr<Plumed> initialized)
{
  plumed = std::move(initialized);
  works.assign(names_of_work.size(), 0.0);
  for (std::size_t k = 0; k < works.size(); ++k) {
    long rank = 0;    // PLUMED writes a long
    plumed->command("getDataRank " + names_of_work[k], &rank);
    plumed->command("setMemoryForData " + names_of_work[k], &works[k]);
  }
}

/* ---------------------------------------------------------------------- */

void PlumedExchange::begin_step(std::int64_t timestep, const Matrix &box, bool is_checkpoint)
{
  stop = 0;
  atom_data.box = box;
  atom_data.virial = {};
  long long step = timestep;
  plumed->command("setStepLongLong", &step);
  plumed->command("setStopFlag", &stop);
  for (std::size_t v = 0; v < names.size(); ++v) {
    force[v] = 0.0;
    plumed->command("setExtraCV " + names[v], &value[v]);
    plumed->command("setExtraCVForce " + names[v], &force[v]);
  }
  plumed->command("setBox", &atom_data.box);
  plumed->command("setVirial", &atom_data.virial);
  int checkpoint = is_checkpoint ? 1 : 0;
  plumed->command("doCheckPoint", &checkpoint);
  plumed->command("prepareDependencies");
  for (std::size_t v = 0; v < names.size(); ++v) {
    int is_needed = 0;
    plumed->command("isExtraCVNeeded " + names[v], &is_needed);
    needed.variables[v] = is_needed != 0;
  }
}

bool PlumedExchange::needs_energy()
{
  int is_needed = 0;
  plumed->command("isEnergyNeeded", &is_needed);
  return is_needed != 0;
}

const PlumedExchange::Needs &PlumedExchange::request()
{
  int n = 0;
  const int *list = nullptr;
  plumed->command("createFullList", &n);
  plumed->command("getFullList", &list);
  needed.atoms.assign(list, list + n);
  return needed;
}

// A list of atoms is announced to PLUMED only if it has changed. For each new list, PLUMED
// rearranges all atoms, which costs much more than passing their data.
void PlumedExchange::set_atoms(const std::vector<double> &x, const std::vector<double> &mass,
                               const std::vector<double> &charge)
{
  atom_data.id = needed.atoms;
  atom_data.x = x;
  atom_data.force.assign(x.size(), 0.0);
  if (!x.empty()) {    // otherwise keep those of all atoms
    masses = mass;
    charges = charge;
  }
  if (atoms_of_plumed != needed.atoms) {
    atoms_of_plumed = needed.atoms;
    int n = static_cast<int>(atoms_of_plumed.size());
    plumed->command("setAtomsNlocal", &n);
    plumed->command("setAtomsGatindex", atoms_of_plumed.data());
  }
  plumed->command("setMasses", masses.data());
  plumed->command("setCharges", charges.data());
  plumed->command("setPositions", atom_data.x.data());
  plumed->command("setForces", atom_data.force.data());
  plumed->command("shareData");
  plumed->command("clearFullList");
}

double PlumedExchange::evaluate(const double *s, bool updates)
{
  std::copy_n(s, value.size(), value.begin());
  stop = 0;    // PLUMED sets it in prepareDependencies if there is nothing to do
  plumed->command(updates ? "performCalc" : "performCalcNoUpdate");
  atom_data.stops = stop;
  double energy = 0.0;
  plumed->command("getBias", &energy);
  return energy;
}

double PlumedExchange::work(double unit) const
{
  double sum = 0.0;
  for (const double part : works) sum += part * unit;
  return sum;
}

std::size_t PlumedExchange::bytes() const
{
  return gpucoord::bytes_of(value, force, works, needed.variables, needed.atoms, atoms_of_plumed,
                            masses, charges, atom_data.id, atom_data.x, atom_data.force);
}
