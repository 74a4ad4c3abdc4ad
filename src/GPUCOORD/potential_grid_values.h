/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_POTENTIAL_GRID_VALUES_H
#define LMP_POTENTIAL_GRID_VALUES_H

#include <cstddef>
#include <vector>

namespace LAMMPS_NS {

// Values on the grid points of one rank, which may have no points. LAMMPS' per-grid commands use
// them as pointers that are indexed by the point's position in the whole grid.

class GridValues {
 public:
  // Creates zero values for points from lo to hi, including hi. ncolumns: 0: one number per point.
  // Throws std::bad_alloc.
  void create(const int *lo, const int *hi, int ncolumns)
  {
    clear();
    std::size_t n[3];
    for (int c = 0; c < 3; ++c)
      n[c] = hi[c] >= lo[c] ? static_cast<std::size_t>(hi[c] - lo[c]) + 1 : 0;
    const std::size_t npoints = n[0] * n[1] * n[2], width = ncolumns > 0 ? ncolumns : 1;
    values.resize(npoints * width);
    if (npoints == 0) return;
    if (ncolumns > 0) {
      points.resize(npoints);
      for (std::size_t p = 0; p < npoints; ++p) points[p] = values.data() + p * width;
      index(points, lo, n, array_rows, array_planes);
      array = array_planes.data() - lo[2];
    } else {
      index(values, lo, n, vector_rows, vector_planes);
      vector = vector_planes.data() - lo[2];
    }
  }
  void clear() { *this = GridValues(); }

  double *data() { return values.data(); }    // [nz][ny][nx][columns]
  std::size_t size() const { return values.size(); }
  // Returns double *** without columns, double **** with columns, or null if this rank has no
  // points.
  void *for_lammps() const
  {
    return vector ? static_cast<void *>(vector) : static_cast<void *>(array);
  }
  double bytes() const
  {
    return static_cast<double>(values.capacity()) * sizeof(double) +
        static_cast<double>(points.capacity() + vector_rows.capacity() + vector_planes.capacity() +
                            array_rows.capacity() + array_planes.capacity()) *
        sizeof(double *);
  }

 private:
  template <class Item>
  static void index(std::vector<Item> &items, const int *lo, const std::size_t *n,
                    std::vector<Item *> &rows, std::vector<Item **> &planes)
  {
    rows.resize(n[1] * n[2]);
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = items.data() + r * n[0] - lo[0];
    planes.resize(n[2]);
    for (std::size_t p = 0; p < planes.size(); ++p) planes[p] = rows.data() + p * n[1] - lo[1];
  }

  std::vector<double> values;
  std::vector<double *> points;    // only with columns
  std::vector<double *> vector_rows;
  std::vector<double **> vector_planes, array_rows;
  std::vector<double ***> array_planes;
  double ***vector = nullptr;
  double ****array = nullptr;
};

}    // namespace LAMMPS_NS

#endif
