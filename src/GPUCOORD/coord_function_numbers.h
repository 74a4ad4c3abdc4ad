/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_FUNCTION_NUMBERS_H
#define LMP_COORD_FUNCTION_NUMBERS_H

#include "pointers.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/bytes_of.h"
#include "gpucoord/coordination.h"

#include <vector>

namespace LAMMPS_NS {
class CoordAtoms;

// The per-atom numbers s_i that a function depends on, and its results f and dS/ds, in one
// evaluation.

class FunctionNumbers {
 public:
  // Lists the owned atoms whose numbers count, and reserves memory: those of the first group, or
  // the first atoms of pairs, each once. Numbers are 0.
  void begin(const CoordAtoms &, int nlocal);
  void begin(const gpucoord::PairsInput &, int nlocal);

  // Collective. Sets the elements of a histogram, [nbins], summed over ranks.
  void get_histogram(const gpucoord::AtomFunction &, int nthreads, double *bins,
                     MPI_Comm world) const;
  // Copies f to a column of the array, which is 0 for other atoms.
  void copy_f(double **array, int column, int nlocal) const;

  // Returns a function that computes sums or largest values over ranks.
  static gpucoord::AtomFunction::Reduce reduction(MPI_Comm world);

  double memory_usage() const
  {
    return static_cast<double>(gpucoord::bytes_of(rows, s, f, dSds, s_of_atoms));
  }

  std::vector<int> rows;             // owned atoms that s and f refer to
  std::vector<double> s, f, dSds;    // [rows]
  std::vector<double> s_of_atoms;    // [nlocal]
  bool is_reduced = false;           // this rank has taken part in the sums over ranks

 private:
  void reserve(int nlocal);
};

}    // namespace LAMMPS_NS

#endif
