/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_GATHER_H
#define LMP_COORD_GATHER_H

#include "pointers.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/coordination.h"

#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// Gathered atoms of one group, as arrays for the library.

struct GatheredGroup {
  void clear();    // keeps the allocated memory
  gpucoord::AllPairsInput::Group view() const;
  std::size_t bytes() const { return gpucoord::bytes_of(x, id, row, type); }

  std::vector<double> x;
  std::vector<std::int64_t> id;    // index among all gathered atoms
  std::vector<int> row, type;
  std::int64_t first_owned = 0;
};

// Pairs of gathered atoms of which this rank owns one, as arrays for the library.

struct GatheredPairs {
  void clear();    // keeps the allocated memory
  gpucoord::PairsInput view(const gpucoord::Box &) const;
  std::size_t bytes() const
  {
    return gpucoord::bytes_of(xa, xb, first, row_a, row_b, type_a, type_b);
  }

  std::vector<double> xa, xb;
  std::vector<int> first;    // index among all gathered atoms
  std::vector<int> row_a, row_b, type_a, type_b;
};

// Gathers the atoms of one or two groups on every rank, for engine allpairs and pair mode. The
// order is by rank, and within a rank by local index.

class CoordGather : protected Pointers {
 public:
  // owner: beginning of errors, 'Compute coord/gpu ID'
  CoordGather(LAMMPS *lmp, std::string owner_in) : Pointers(lmp), owner(std::move(owner_in)) {}

  // Collective. Gathers positions of atoms with a group bit of either group (0: no group).
  void groups(int groupbit, int groupbit2);
  // Collective. Gathers positions of the atoms with these sorted unique IDs.
  void ids(const std::vector<tagint> &sorted_ids);

  // Returns the ID (-1 without IDs) of a gathered atom whose position is not finite, or 0. The
  // result is the same on all ranks.
  bigint bad_atom() const;

  std::size_t natoms() const { return atoms.size(); }
  double memory_usage() const;

  gpucoord::AllPairsInput allpairs(const gpucoord::Box &) const;

  // Collective. Gathers one number of each gathered atom from its owner. row_numbers: [nlocal].
  // Returns the numbers of the atoms of the first group, or of the first atom of each pair.
  const std::vector<double> &numbers_of_group(const double *row_numbers);
  const std::vector<double> &numbers_of_pairs(const double *row_numbers);

  // Return pairs of the gathered atoms: by the order of IDs in the two groups, or by pairs of IDs.
  // Raise errors on all ranks if the groups differ in size, an atom is paired with itself or an ID
  // does not exist.
  gpucoord::PairsInput pairs_of_groups(const gpucoord::Box &);
  gpucoord::PairsInput pairs_of_ids(const gpucoord::Box &,
                                    const std::vector<std::pair<tagint, tagint>> &id_pairs,
                                    int groupbit, const char *group_name);

 private:
  struct Atom {
    double x[3];
    tagint tag;    // 0 if atoms have no IDs
    int member;    // bit 1: in the first group, bit 2: in the second
    int row;       // local index on its rank
    int type;
  };
  void gather();
  void gather_numbers(const double *row_numbers);
  gpucoord::PairsInput make_pairs(const gpucoord::Box &,
                                  const std::vector<std::pair<int, int>> &index_pairs);

  const std::string owner;
  std::vector<Atom> mine;     // owned by this rank
  std::vector<Atom> atoms;    // atoms of all ranks, ordered by rank
  int first_owned = 0, nowned = 0;
  std::vector<int> counts, first;    // [nprocs], [nprocs + 1] atoms of each rank
  std::vector<double> numbers, numbers_out;

  GatheredGroup a, b;
  bool two = false;
  GatheredPairs pairs;
};

}    // namespace LAMMPS_NS

#endif
