/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_ATOMS_H
#define LMP_BIAS_PLUMED_ATOMS_H

#include "pointers.h"

#include "gpucoord/resident_atoms.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class BiasBoard;

// The atoms that PLUMED asks for, by their IDs minus 1, as PLUMED counts them. Each rank has those
// that it owns; rank 0 gets them all.

class PlumedAtoms : protected Pointers {
 public:
  // owner: begins messages, "Fix coord/plumed ID".
  PlumedAtoms(LAMMPS *, std::string owner);
  virtual ~PlumedAtoms() = default;
  PlumedAtoms(const PlumedAtoms &) = delete;
  PlumedAtoms &operator=(const PlumedAtoms &) = delete;

  // PLUMED's atoms are those of the IDs from 1 to this one. Collective.
  static int largest_id(LAMMPS *);

  virtual void begin_run() {}
  // Collective, before start(). The same list on all ranks. is_all: it has all IDs in their order,
  // also of atoms that do not exist.
  void request(const std::vector<int> &ids, bool is_all);
  // Starts to collect the positions.
  virtual void start() {}
  // Collective. Takes the positions to rank 0.
  void collect();

  // On rank 0, one an atom.
  const std::vector<double> &x() const { return positions; }    // [3 n]
  const std::vector<double> &mass() const { return masses; }
  const std::vector<double> &charge() const { return charges; }
  bool exists(std::size_t k) const { return is_there[k]; }

  // Whether the atoms of this rank are at x, [3 n], up to rounding.
  bool are_at(const std::vector<int> &ids, const std::vector<double> &x);
  // Adds forces, [3 n], to those of the atoms of this rank.
  virtual void add_forces(const std::vector<int> &ids, const std::vector<double> &force);

  virtual double bytes_copied() const { return -1.0; }    // as in CollectiveVariable
  virtual double memory_usage() const;

 protected:
  static constexpr int COLUMNS = 4;    // columns of own_positions(): x, y, z, and 1
  // Whether PLUMED asks for atoms in this evaluation.
  bool is_asked() const { return asked; }
  // Index of each requested atom of this rank, or NOT_HERE.
  static constexpr int NOT_HERE = gpucoord::ResidentAtoms::NOT_HERE;
  std::vector<int> find() const;
  // Sets the rows of the requested atoms of this rank, [n][COLUMNS]; the others are 0.
  virtual void own_positions(double *rows);

  const std::string owner;
  const std::shared_ptr<BiasBoard> board;
  std::vector<int> requested;    // the last list that was not empty
  bool has_all;                  // it has all IDs in their order

 private:
  int index_of(int id) const;
  void share_masses();
  void take_masses();
  void check_map() const;

  bool asked;
  std::vector<double> positions, masses, charges;
  bool knows_masses;    // whether masses_of_all and charges_of_all are set
  std::vector<double> masses_of_all, charges_of_all;    // on rank 0, one an ID
  std::vector<char> is_there;
};

}    // namespace LAMMPS_NS

#endif
