/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_ATOMS_KOKKOS_H
#define LMP_BIAS_PLUMED_ATOMS_KOKKOS_H

#include "bias_plumed_atoms.h"

#include "gpucoord/resident_atoms.h"

#include <cstdint>
#include <memory>

namespace LAMMPS_NS {
class KokkosDevice;

// The atoms that PLUMED requests, with KOKKOS on a GPU. Only their positions are copied to the
// host, and only the forces on them to the GPU.

class PlumedAtomsKokkos : public PlumedAtoms {
 public:
  PlumedAtomsKokkos(LAMMPS *, const std::string &owner);
  void begin_run() override;
  void start() override;
  void add_forces(const std::vector<int> &ids, const std::vector<double> &force) override;
  double bytes_copied() const override;
  double memory_usage() const override;

 private:
  void own_positions(double *rows) override;
  [[noreturn]] void fail(const char *what) const;

  std::shared_ptr<KokkosDevice> device;
  std::unique_ptr<gpucoord::ResidentAtoms> resident;
  std::vector<int> selected;    // IDs minus 1
  std::vector<int> index;       // [selected]
  std::int64_t version;         // version of the atoms' order at their selection; 0: none
};

}    // namespace LAMMPS_NS

#endif
