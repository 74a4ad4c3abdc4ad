// Part of GPUCOORD, GPL-2.0. Arguments of the kernels of rigid molecules. Lengths are in the
// caller's units.

#ifndef GPUCOORD_MULTISITE_ARGUMENTS_CUDA_H
#define GPUCOORD_MULTISITE_ARGUMENTS_CUDA_H

#include "../gpu/buffers.h"
#include "../pairs/launch_cuda.h"
#include "../pairs/pair_arguments_cuda.h"

#include "gpucoord/multisite.h"

#include <algorithm>
#include <cstddef>

namespace gpucoord {

template <class Real> struct alignas(16) Four {
  Real x, y, z, w;
};

// The sites of a component in its own frame, in the order centers, charges, dipoles, quadrupoles.
template <class Real> struct SitesView {
  const Four<Real> *site;    // [sites] position; w: charge, or moment of a dipole or quadrupole
  const Four<Real> *axis;    // [dipoles and quadrupoles] unit vectors
  int ncenters, ncharges, ndipoles, nquadrupoles;
};

// The sites of molecules i and their partners j. All pointers are to host memory, or all are to
// device memory.
template <class Real> struct TablesView {
  SitesView<Real> i, j;
  const Four<Real> *centers;    // [centers of j][centers of i] 4 epsilon, sigma^2, shift
};

// Sums of the molecules of one warp. Each molecule of a pair counts half of the pair.
struct MoleculeSums {
  double energy[3];    // Lennard-Jones, electrostatic, reaction field
  double virial[6];
};

// Sums n > 0 elements, always in the same order. Only enqueues work.
void reduce(const MoleculeSums *sums, int n, MoleculeSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t);

// Columns of the per-molecule output: force and torque; with MultisiteWant::ALL also energy and
// virial.
constexpr int COLUMNS_OF_FORCES = 6, COLUMNS_OF_ALL = 13;
inline int columns_of(MultisiteWant want)
{
  return want == MultisiteWant::ALL ? COLUMNS_OF_ALL : COLUMNS_OF_FORCES;
}

// Arguments for owned molecules of one component with all molecules of the same or another
// component.
template <class Real> struct MoleculesArguments : CellsSearch {
  // [n] quaternions x y z w of the sorted molecules
  const Four<Real> *orientation_i, *orientation_j;
  Real coulomb, field;                 // factor of all strengths; factor of the reaction field
  Real cutoff_sq, cutoff_charge_sq;    // distance^2, between centers of mass or between sites
  Real range_of_centers_sq;            // distance^2; molecules farther apart do not interact
  double *sums;                        // [splits][i.nowned][columns], rows in the caller's order
  MoleculeSums *warp;                  // [splits * warps of molecules], used with ALL
  int splits;                          // number of warps that share the partners of a molecule
  int passes;                          // number of passes in which a warp processes its share
};

// The kernels for pairs of molecules that both have these numbers of sites. -1: any number.
template <class Real> struct MoleculeLauncher {
  int ncenters, ncharges, ndipoles, nquadrupoles;
  // Enqueues one kernel. arg.i.nowned must be greater than 0. site_cutoff requires that the numbers
  // of sites are -1. Throws DeviceError.
  void (*run)(const MoleculesArguments<Real> &arg, const TablesView<Real> &host,
              const TablesView<Real> &device, MultisiteWant, bool site_cutoff, const CellsShape &,
              cudaStream_t);
};

// Adds a row of the per-molecule output to the results of a molecule.
inline void add_row(const double *columns, int row, MultisiteWant want, const MultisiteResults &out)
{
  const auto to = static_cast<std::size_t>(row);
  for (int c = 0; c < 3; ++c) {
    if (out.force) out.force[3 * to + c] += columns[c];
    if (out.torque) out.torque[3 * to + c] += columns[3 + c];
  }
  if (want == MultisiteWant::FORCES) return;
  if (out.energy) out.energy[to] += columns[6];
  for (int c = 0; out.virial && c < 6; ++c) out.virial[6 * to + c] += columns[7 + c];
}

inline MultisiteSums sums_of(const MoleculeSums &found)
{
  MultisiteSums sums;
  sums.lennard_jones = found.energy[0];
  sums.electrostatic = found.energy[1];
  sums.reaction_field = found.energy[2];
  std::copy_n(found.virial, 6, sums.virial);
  return sums;
}

template <class Sites> void get_molecule_launcher(MoleculeLauncher<float> &);
template <class Sites> void get_molecule_launcher(MoleculeLauncher<double> &);

// Converts quaternions, w x y z, to the order of the sorted molecules. n must be greater than 0.
// Only enqueues work.
template <class Real>
void sort_orientations(const double *quaternion, const SortedAtoms &sorted, Four<Real> *orientation,
                       cudaStream_t);

}    // namespace gpucoord

#endif
