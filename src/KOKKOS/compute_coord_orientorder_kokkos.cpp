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

#include "compute_coord_orientorder_kokkos.h"

#include "coord_arguments.h"

#include "atom.h"
#include "comm.h"

#include <vector>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

template <class DeviceType> void ComputeCoordOrientOrderKokkos<DeviceType>::make_on_device()
{
  order = gpucoord::make_resident_orient_order(*table, options, args->precision);
}

// Waits if w_l is requested.
template <class DeviceType>
void ComputeCoordOrientOrderKokkos<DeviceType>::find_numbers(const LocalEvaluation &local)
{
  if (!this->wants_w_hat(local)) return;
  const std::size_t nlocal = atom->nlocal;
  std::vector<double> harmonics((2 * options.l + 1) * nlocal);
  order->copy_harmonics(harmonics.data(), device->stream());
  gpucoord::set_w_hat(options.l, harmonics.data(), atom->nlocal,
                      gpucoord::smallest_norm(args->precision), w_of_atoms.data(), comm->nthreads);
}

namespace LAMMPS_NS {
template class ComputeCoordOrientOrderKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class ComputeCoordOrientOrderKokkos<LMPHostType>;
#endif
}    // namespace LAMMPS_NS
