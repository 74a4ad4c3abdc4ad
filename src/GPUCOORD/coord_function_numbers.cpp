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

#include "coord_function_numbers.h"

#include "coord_atoms.h"

#include <algorithm>
#include <iterator>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

void FunctionNumbers::begin(const CoordAtoms &atoms, int nlocal)
{
  rows.assign(atoms.first().begin(), atoms.first().begin() + atoms.nfirst());
  reserve(nlocal);
}

void FunctionNumbers::begin(const gpucoord::PairsInput &pairs, int nlocal)
{
  rows.clear();
  std::copy_if(pairs.row_a, pairs.row_a + pairs.n, std::back_inserter(rows), [](int row) {
    return row >= 0;
  });
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  reserve(nlocal);
}

void FunctionNumbers::reserve(int nlocal)
{
  for (auto *const column : {&s, &f, &dSds}) column->resize(rows.size());
  s_of_atoms.assign(nlocal, 0.0);
  is_reduced = false;
}

void FunctionNumbers::get_histogram(const gpucoord::AtomFunction &function, int nthreads,
                                    double *bins, MPI_Comm world) const
{
  std::vector<double> mine(function.nbins(), 0.0);
  function.add_histogram(static_cast<std::int64_t>(rows.size()), s.data(), mine.data(), nthreads);
  MPI_Allreduce(mine.data(), bins, function.nbins(), MPI_DOUBLE, MPI_SUM, world);
}

void FunctionNumbers::copy_f(double **array, int column, int nlocal) const
{
  for (int i = 0; i < nlocal; ++i) array[i][column] = 0.0;
  for (std::size_t k = 0; k < rows.size(); ++k) array[rows[k]][column] = f[k];
}

gpucoord::AtomFunction::Reduce FunctionNumbers::reduction(MPI_Comm world)
{
  return [world](double *values, int count, gpucoord::AtomFunction::Reduction by) {
    const bool is_sum = by == gpucoord::AtomFunction::Reduction::SUM;
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, is_sum ? MPI_SUM : MPI_MAX, world);
  };
}
