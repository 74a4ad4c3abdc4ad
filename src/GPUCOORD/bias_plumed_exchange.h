/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_EXCHANGE_H
#define LMP_BIAS_PLUMED_EXCHANGE_H

#include "bias_plumed_kernel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Data that an evaluation passes to a PLUMED object and back. PLUMED stores pointers to them. Only
// the rank of PLUMED calls functions; all ranks may store results in atoms().

class PlumedExchange {
 public:
  using Matrix = std::array<std::array<double, 3>, 3>;
  // Data that PLUMED requests for an evaluation. In the first evaluation, it requests all atoms and
  // keeps their masses and charges. Later, it requests only the atoms that it needs.
  struct Needs {
    std::vector<int> variables;    // [variables] whether PLUMED needs the value
    std::vector<int> atoms;        // IDs minus 1, in PLUMED's order
  };
  // PLUMED's results in addition to the state of a bias.
  struct Atoms {
    std::vector<int> id;             // IDs minus 1
    std::vector<double> x, force;    // [3 n]
    Matrix box = {};                 // rows are the box edges
    Matrix virial = {};              // minus the sum of x_a F_b, PLUMED's convention
    int stops = 0;                   // nonzero: PLUMED ends the run
  };

  // names: NAME of EXTRACV, one per variable
  explicit PlumedExchange(const std::vector<std::string> &names);

  // Call before begin() for each value of PLUMED that is a part of the work.
  void add_work(const std::string &name) { names_of_work.push_back(name); }
  // Takes a PLUMED object that is initialized.
  void begin(std::unique_ptr<Plumed>);

  // An evaluation calls these functions in this order.

  void begin_step(std::int64_t timestep, const Matrix &box, bool is_checkpoint);
  bool needs_energy();
  const Needs &request();
  // Passes the data of the requested atoms, in the order of Needs::atoms. x: [3 n]
  void set_atoms(const std::vector<double> &x, const std::vector<double> &mass,
                 const std::vector<double> &charge);
  // Returns the energy in the caller's unit. updates: PLUMED updates its state
  double evaluate(const double *s, bool updates);

  // Results in the unit of PLUMED's input, times a unit.
  double force_on(int variable, double unit) const { return force[variable] * unit; }
  double work(double unit) const;

  Atoms &atoms() { return atom_data; }
  const Atoms &atoms() const { return atom_data; }
  std::size_t bytes() const;    // without the memory of PLUMED itself

 private:
  const std::vector<std::string> names;
  std::unique_ptr<Plumed> plumed;
  int stop = 0;
  std::vector<double> value, force;          // [variables]
  std::vector<std::string> names_of_work;    // names of PLUMED values whose sum is the work
  std::vector<double> works;
  std::vector<int> atoms_of_plumed;    // atoms announced to PLUMED, IDs minus 1
  std::vector<double> masses, charges;
  Atoms atom_data;
  Needs needed;
};

}    // namespace LAMMPS_NS

#endif
