// Part of GPUCOORD, GPL-2.0. What the kernels of rigid molecules are given. Lengths are in the caller's units.

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

// The sites of a component in its own frame: centers, then charges, dipoles and quadrupoles.
template <class Real> struct SitesView {
  const Four<Real> *place;    // [sites] w: charge, or moment of a dipole or quadrupole
  const Four<Real> *axis;     // [dipoles and quadrupoles] of length 1
  int ncenters, ncharges, ndipoles, nquadrupoles;
};

// The sites of molecules i and their partners j, all on the host or all on the device.
template <class Real> struct TablesView {
  SitesView<Real> i, j;
  const Four<Real> *centers;    // [centers of j][centers of i] 4 epsilon, sigma^2, shift
};

// What the molecules of one warp add to the sums; each pair counts half at either end.
struct MoleculeSums {
  double energy[3];    // Lennard-Jones, electrostatic, reaction field
  double virial[6];
};

// The sum of n > 0 elements, always in the same order. Enqueues work only.
void reduce(const MoleculeSums *sums, int n, MoleculeSums *total, DeviceBuffer<char> &workspace,
            cudaStream_t);

// columns of the per-molecule output: force, torque and, with MultisiteWant::ALL, energy and virial
constexpr int COLUMNS_OF_FORCES = 6, COLUMNS_OF_ALL = 13;
inline int columns_of(MultisiteWant want)
{
  return want == MultisiteWant::ALL ? COLUMNS_OF_ALL : COLUMNS_OF_FORCES;
}

// Owned molecules of one component with all molecules of one, or of another.
template <class Real> struct MoleculesArguments : CellsSearch {
  const Four<Real> *orientation_i,
      *orientation_j;                  // of the sorted molecules: x y z w of a quaternion
  Real coulomb, field;                 // factors of strengths, of all and of the reaction field
  Real cutoff_sq, cutoff_charge_sq;    // between centers of mass, or sites
  Real range_of_centers_sq;            // beyond, molecules do not interact
  double *sums;                        // [splits][i.nowned][columns], rows are the caller's places
  MoleculeSums *warp;                  // [splits * warps of molecules], with ALL
  int splits;                          // teams to which the partners of a molecule are shared out
  int passes;                          // in which a team takes its share
};

// The kernels of pairs of molecules that both have these numbers of sites, or, where those are -1, any.
template <class Real> struct MoleculeLauncher {
  int ncenters, ncharges, ndipoles, nquadrupoles;
  // Enqueues one kernel; arg.i.nowned > 0. site_cutoff only where numbers are -1. Throws DeviceError.
  void (*run)(const MoleculesArguments<Real> &arg, const TablesView<Real> &host,
              const TablesView<Real> &device, MultisiteWant, bool site_cutoff, const CellsShape &,
              cudaStream_t);
};

// Adds a row of that output to the results of a molecule.
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

// Quaternions of molecules, w x y z, in the order in which these were sorted. Enqueues only; n > 0.
template <class Real>
void sort_orientations(const double *quaternion, const SortedAtoms &sorted, Four<Real> *orientation,
                       cudaStream_t);

}    // namespace gpucoord

#endif
