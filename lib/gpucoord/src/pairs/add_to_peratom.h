// Part of GPUCOORD, GPL-2.0. Adds sums that came from a GPU to the per-atom output.

#ifndef GPUCOORD_ADD_TO_PERATOM_H
#define GPUCOORD_ADD_TO_PERATOM_H

#include <cstddef>

namespace gpucoord {

// Adds the rows of sums, [][columns], from first up to, not including, last to peratom, with
// nthreads OpenMP threads. Row r belongs to atom[r], or to atom r if 'atom' is null. It is added to
// row row_of_atom[atom] of peratom, or to row 'atom' if row_of_atom is null. The destination rows
// must be distinct. columns: see peratom_columns(); not 0
void add_to_peratom(const double *sums, int columns, std::size_t first, std::size_t last,
                    const int *atom, const int *row_of_atom, int nthreads, double *peratom);

}    // namespace gpucoord

#endif
