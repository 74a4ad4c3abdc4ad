// Part of GPUCOORD, GPL-2.0. Adds sums that came from a GPU to the per-atom output. nvcc does not
// compile this file, because its host code has no OpenMP.

#include "add_to_peratom.h"

#include "gpucoord/pairs.h"

namespace gpucoord {

namespace {

  template <int COLUMNS>
  void add(const double *sums, std::size_t first, std::size_t last, const int *atom,
           const int *row_of_atom, int nthreads, double *peratom)
  {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (last - first > 4096)
    for (std::size_t r = first; r < last; ++r) {
      const int index = atom ? atom[r] : static_cast<int>(r);
      const int row = row_of_atom ? row_of_atom[index] : index;
      double *const to = peratom + COLUMNS * static_cast<std::size_t>(row);
      for (int c = 0; c < COLUMNS; ++c) to[c] += sums[COLUMNS * r + c];
    }
  }

}    // namespace

void add_to_peratom(const double *sums, int columns, std::size_t first, std::size_t last,
                    const int *atom, const int *row_of_atom, int nthreads, double *peratom)
{
  if (columns == 1)
    add<1>(sums, first, last, atom, row_of_atom, nthreads, peratom);
  else if (columns == peratom_columns(DERIVATIVES))
    add<peratom_columns(DERIVATIVES)>(sums, first, last, atom, row_of_atom, nthreads, peratom);
  else
    add<peratom_columns(ATOM_VIRIAL)>(sums, first, last, atom, row_of_atom, nthreads, peratom);
}

}    // namespace gpucoord
