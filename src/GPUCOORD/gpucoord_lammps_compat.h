/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

// All differences between the supported LAMMPS releases that affect GPUCOORD. Each function detects
// from LAMMPS' declarations what a release has. It does not compare versions, so that development
// versions and releases between the tested ones work, too.

#ifndef LMP_GPUCOORD_LAMMPS_COMPAT_H
#define LMP_GPUCOORD_LAMMPS_COMPAT_H

#include "atom.h"
#include "error.h"
#include "lammps.h"
#include "library.h"
#include "update.h"

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace LAMMPS_NS {
namespace LammpsCompat {

  // Has<Expression, T>: whether Expression<T> compiles.
  template <template <class> class Expression, class T, class = void>
  struct Detect : std::false_type {
  };
  template <template <class> class Expression, class T>
  struct Detect<Expression, T, std::void_t<Expression<T>>> : std::true_type {
  };
  template <template <class> class Expression, class T>
  inline constexpr bool Has = Detect<Expression, T>::value;

  // Position for Error::all() of an error in a command as a whole. Older releases can only point at
  // an argument, and a command may have no arguments. They print the command and point at nothing.
  template <class T> using CommandPosition = decltype(T::COMMAND);
  template <class T> constexpr int position_of_command()
  {
    if constexpr (Has<CommandPosition, T>)
      return T::COMMAND;
    else
      return T::NOPOINTER;
  }
  inline constexpr int WHOLE_COMMAND = position_of_command<Error>();

  // Replaces d by its shortest periodic image. Newer releases have arguments for the caller's file
  // and line, for an error message.
  template <class T>
  using ImageWithFileAndLine =
      decltype(std::declval<const T &>().minimum_image(FLERR, std::declval<double *>()));
  template <class T> void apply_minimum_image(const T *domain, double *d)
  {
    if constexpr (Has<ImageWithFileAndLine, T>)
      domain->minimum_image(FLERR, d);
    else
      domain->minimum_image(d);
  }

  // Returns whether the box was defined as a general triclinic box, which older releases lack.
  template <class T> using TriclinicGeneral = decltype(T::triclinic_general);
  template <class T> bool is_general_triclinic(const T *domain)
  {
    if constexpr (Has<TriclinicGeneral, T>)
      return domain->triclinic_general;
    else
      return false;
  }

  // Returns the atom type of a label, or -1. The function is called find() in older releases.
  template <class T> using FindType = decltype(std::declval<const T &>().find_type("", 0));
  template <class T> int atom_type_of_label(const T *labels, const std::string &label)
  {
    if constexpr (Has<FindType, T>)
      return labels->find_type(label, Atom::ATOM);
    else
      return labels->find(label, Atom::ATOM);
  }

  // Releases before 30 Mar 2026 have no superellipsoids. The quaternions and moments of inertia of
  // superellipsoids are in another array than those of ellipsoids.
  template <class T> using SuperellipsoidFlag = decltype(T::superellipsoid_flag);
  template <class T> bool has_superellipsoids(const T *atom)
  {
    if constexpr (Has<SuperellipsoidFlag, T>)
      return atom->superellipsoid_flag;
    else
      return false;
  }

  template <class T> using SuperellipsoidBonus = decltype(T::bonus_super);
  // Returns the quaternion of superellipsoid k. Requires has_superellipsoids().
  template <class T> double *quaternion_of_superellipsoid(const T *avec, int k)
  {
    if constexpr (Has<SuperellipsoidBonus, T>)
      return avec->bonus_super[k].quat;
    else
      return nullptr;
  }
  // Returns the moments of inertia of superellipsoid k. Requires has_superellipsoids().
  template <class T> const double *inertia_of_superellipsoid(const T *avec, int k)
  {
    if constexpr (Has<SuperellipsoidBonus, T>)
      return avec->bonus_super[k].inertia;
    else
      return nullptr;
  }

  // How run_style respa splits pair forces.
  struct RespaSplit {
    bool has_inner = false, has_middle = false;
    const double *cutoff = nullptr;    // Respa::cutoff
  };
  // In the Python wheel, Respa has no data members (python/lammps_headers).
  template <class T> using RespaCutoff = decltype(T::cutoff);
  template <class T> inline constexpr bool knows_respa_split = Has<RespaCutoff, T>;
  template <class T> RespaSplit respa_split(const T *respa)
  {
    if constexpr (knows_respa_split<T>)
      return {respa->level_inner >= 0, respa->level_middle >= 0, respa->cutoff};
    else
      return {};
  }

  // Returns how often run_style respa evaluates the forces of a level in a timestep. Level 0 is
  // the innermost. In the Python wheel, Respa has no data members. There, the number is the ratio
  // of the timesteps of two levels. This ratio is computed with a timestep of 1, because the user's
  // timestep may be 0.
  template <class T> using RespaLoop = decltype(T::loop);
  template <class T> int respa_evaluations(LAMMPS *lmp, T *respa, int level, int outermost)
  {
    if constexpr (Has<RespaLoop, T>) {
      int n = 1;
      for (int k = level; k < outermost; ++k) n *= respa->loop[k];
      return n;
    } else {
      const double dt = lmp->update->dt;
      lmp->update->dt = 1.0;
      respa->reset_dt();
      const auto *const steps = static_cast<double *>(lammps_extract_global(lmp, "respa_dt"));
      const auto n = static_cast<int>(std::lround(steps[outermost] / steps[level]));
      lmp->update->dt = dt;
      respa->reset_dt();
      return n;
    }
  }

  // Makes a Fourier transform, LAMMPS' FFT3d, without collective communication. Newer releases have
  // one more argument, for GPU-aware MPI, which is also off. The class is a template parameter,
  // because LAMMPS may lack the KSPACE package.
  template <class Transform, class... Arguments>
  std::unique_ptr<Transform> make_transform(Arguments... arguments)
  {
    if constexpr (std::is_constructible_v<Transform, Arguments..., int, int>)
      return std::make_unique<Transform>(arguments..., 0, 0);
    else
      return std::make_unique<Transform>(arguments..., 0);
  }

  // Lets KOKKOS pack the numbers of a compute on the device. Releases whose KOKKOS styles the
  // package does not support lack the flag.
  template <class T> using ForwardCommDevice = decltype(T::forward_comm_device);
  template <class T> void communicate_on_device(T *compute, bool on_device)
  {
    if constexpr (Has<ForwardCommDevice, T>) compute->forward_comm_device = on_device ? 1 : 0;
  }

}    // namespace LammpsCompat
}    // namespace LAMMPS_NS

#endif
