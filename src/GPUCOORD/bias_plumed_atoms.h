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

// The atoms that PLUMED requests, by ID minus 1, which is PLUMED's index. Each rank has the data of
// its own atoms. Rank 0 gathers the data of all.

class PlumedAtoms : protected Pointers {
 public:
  // owner: beginning of messages, "Fix coord/plumed ID"
  PlumedAtoms(LAMMPS *, std::string owner);
  virtual ~PlumedAtoms() = default;
  PlumedAtoms(const PlumedAtoms &) = delete;
  PlumedAtoms &operator=(const PlumedAtoms &) = delete;

  // Collective. Returns the largest atom ID. PLUMED's atoms have the IDs from 1 to this one.
  static int largest_id(LAMMPS *);

  virtual void begin_run() {}
  // Collective. Must be called before start(), with the same list on all ranks. is_all: the list
  // has all IDs in ascending order, including IDs of atoms that do not exist
  void request(const std::vector<int> &ids, bool is_all);
  // Starts to gather the positions.
  virtual void start() {}
  // Collective. Gathers the positions on rank 0.
  void collect();

  // Data of the requested atoms, only on rank 0.
  const std::vector<double> &x() const { return positions; }    // [3 n]
  const std::vector<double> &mass() const { return masses; }
  const std::vector<double> &charge() const { return charges; }
  bool exists(std::size_t k) const { return found[k]; }

  // Returns whether the atoms of this rank are at x, [3 n], up to rounding.
  bool are_at(const std::vector<int> &ids, const std::vector<double> &x);
  // Adds forces, [3 n], to the atoms of this rank.
  virtual void add_forces(const std::vector<int> &ids, const std::vector<double> &force);
  // Adds them to an array of the owned atoms on the host, [nlocal][3].
  void add_forces_to(double **f, const std::vector<int> &ids, const std::vector<double> &force);

  virtual double bytes_copied() const { return -1.0; }    // see CollectiveVariable
  virtual double memory_usage() const;

 protected:
  static constexpr int COLUMNS = 4;    // columns of own_positions(): x, y, z, and 1
  // Returns whether PLUMED requests atoms in this evaluation.
  bool has_request() const { return any_requested; }
  // find() returns the index of each requested atom of this rank, or NOT_HERE.
  static constexpr int NOT_HERE = gpucoord::ResidentAtoms::NOT_HERE;
  std::vector<int> find() const;
  // Sets rows, [n][COLUMNS], of the requested atoms of this rank. The rows of other atoms remain 0.
  virtual void own_positions(double *rows);

  const std::string owner;
  const std::shared_ptr<BiasBoard> board;
  std::vector<int> requested;    // last list that was not empty
  bool has_all;                  // this list has all IDs in ascending order

 private:
  int index_of(int id) const;
  void sum_masses();
  void select_masses();
  void check_map() const;

  bool any_requested;
  std::vector<double> positions, masses, charges;
  bool has_masses;                                      // masses_of_all and charges_of_all are set
  std::vector<double> masses_of_all, charges_of_all;    // on rank 0, [IDs]
  std::vector<char> found;
};

}    // namespace LAMMPS_NS

#endif
