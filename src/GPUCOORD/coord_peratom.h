/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_PERATOM_H
#define LMP_COORD_PERATOM_H

#include "gpucoord/pairs.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace LAMMPS_NS {

// Per-atom output of an evaluation, [nlocal][peratom_columns(want)]. It is stored in array_atom,
// or, if that array has other columns, in an array that is then copied to it.

class CoordPeratom {
 public:
  // Returns the array, which is 0. rows: of array_atom. is_copied: array_atom has other columns.
  // Throws bad_alloc.
  double *begin(unsigned want, bool is_copied, double **array_atom, int rows, int nlocal)
  {
    const std::size_t columns = gpucoord::peratom_columns(want);
    std::vector<double> &copied = want & gpucoord::ATOM_VIRIAL ? ten_columns : four_columns;
    if (is_copied) copied.resize(columns * rows);
    double *const peratom = is_copied ? copied.data() : &array_atom[0][0];
    std::fill_n(peratom, columns * nlocal, 0.0);
    return peratom;
  }

  // Multiplies the derivatives by scale, and copies the first four columns to array_atom.
  static void finish(double *peratom, unsigned want, double scale, bool is_copied,
                     double **array_atom, int nlocal)
  {
    const std::size_t columns = gpucoord::peratom_columns(want), n = nlocal;
    if (scale != 1.0)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 1; k < columns; ++k) peratom[columns * i + k] *= scale;
    if (is_copied)
      for (std::size_t i = 0; i < n; ++i) std::copy_n(peratom + columns * i, 4, array_atom[i]);
  }

  // Adds factor times the virials of an evaluation with ATOM_VIRIAL, [nlocal][6]. Each atom of a
  // pair gets half of the pair's virial.
  void add_virial(double factor, double **vatom, int nlocal) const
  {
    for (int i = 0; i < nlocal; ++i)
      for (int k = 0; k < 6; ++k)
        vatom[i][k] += 0.5 * factor * ten_columns[10 * static_cast<std::size_t>(i) + 4 + k];
  }

  double memory_usage() const
  {
    return static_cast<double>(ten_columns.capacity() + four_columns.capacity()) * sizeof(double);
  }

 private:
  // With ATOM_VIRIAL: the columns of array_atom and the virials of atoms, which are those of whole
  // pairs, not of half pairs.
  std::vector<double> ten_columns;
  std::vector<double> four_columns;    // the first columns of array_atom
};

}    // namespace LAMMPS_NS

#endif
