/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(coord/gpu,ComputeCoordGPU);
// clang-format on
#else

#ifndef LMP_COMPUTE_COORD_GPU_H
#define LMP_COMPUTE_COORD_GPU_H

#include "compute.h"

#include "gpucoord/coordination.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class CoordArguments;
class Backend;
class CoordGather;

class ComputeCoordGPU : public Compute {
 public:
  ComputeCoordGPU(class LAMMPS *, int, char **);
  ~ComputeCoordGPU() override;
  void init() override;
  void init_list(int, class NeighList *) override;
  double compute_scalar() override;
  void compute_vector() override;
  void compute_peratom() override;
  double memory_usage() override;

  // For fix coord/bias, in the course of a force evaluation, where ghost atoms are those of the moment.
  // Each fix says before it what it will ask for, at positions that are new: no timestep tells, because line
  // searches and rRESPA evaluate forces many times in one. However many fixes then ask, the variable is
  // evaluated once.
  virtual void will_be_asked(unsigned want)
  {
    known = 0;
    wanted |= want;
  }
  virtual double
  evaluate_once(unsigned want);    // S; derivatives are in array_atom, the virial in vector
  const double *
  atom_virial(int i) const    // of the pairs of owned atom i: the whole pair, not half
  {
    return &ten_columns[10 * static_cast<std::size_t>(i) + 4];
  }
  int instance() const { return instance_me; }    // tells a compute from a later one of the same ID
  std::string dynamic_group() const;              // name of a group that is dynamic, or ""

 protected:
  enum class Path { CELLS, LIST, ALLPAIRS, PAIRS };

  // what this rank contributes, and what went wrong on it
  struct Share {
    gpucoord::Contribution mine;
    bigint bad_atom = 0;    // ID of an atom whose position is not finite, -1 without IDs; 0: none
    std::string failed;
  };

  // KOKKOS: atom data must come to the host before they are read there; a share may be computed where they are
  virtual void atoms_to_host() {}
  virtual Share compute_share(Path, unsigned want, double *peratom);
  virtual bool keeps_derivatives(Path) const { return false; }    // elsewhere than in array_atom
  virtual std::string data_path(Path) const;

  double evaluate(unsigned want, bool ghosts_are_current = false);
  double evaluate_or_throw(unsigned want, bool ghosts_are_current);
  Path begin_evaluation(bool ghosts_are_current);
  void set_scale(double npairs_or_atoms);
  // set in 'known' beside gpucoord::Want, because VALUE is 0
  static constexpr unsigned KNOWN = 128;
  Path choose_path(const gpucoord::Box &) const;
  gpucoord::Box current_box() const;
  void check_ghost_shell(double cutghost) const;
  void check_list_is_complete();
  bigint select_atoms();
  void warn_if_empty(bigint natoms_a, bigint natoms_b);
  gpucoord::Contribution evaluate_path(Path, unsigned want, double *peratom, bool reference);
  gpucoord::CellsInput cells_input() const;
  std::string failure(Path, const char *what, const char *way_out) const;
  void compare_with_reference(Path, unsigned want, const gpucoord::Contribution &,
                              const double *peratom);
  void print_setup(Path);
  std::string functions_in_words() const;

  std::unique_ptr<CoordArguments> args;
  std::unique_ptr<gpucoord::SwitchTable> table;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<CoordGather> gather;
  class NeighList *list;
  std::int64_t list_version;
  bigint list_ncalls;
  static constexpr int NWANTS = 8;
  bigint nevaluations[NWANTS];    // by want
  double scale;                   // S over the sum over pairs, of the last evaluation
  bool warned_empty;
  std::string printed;
  int groupbit2;
  int nmax;

  // of this force evaluation: what fixes will ask for, what evaluate_once() knows, or-ed with KNOWN, and S
  unsigned wanted, known;
  double known_value;
  std::vector<double>
      ten_columns;    // array_atom and the atoms' virials, [nlocal][10], where wanted

  // of this evaluation
  gpucoord::Box box;
  gpucoord::PairsInput pairs;    // of pair mode

  // owned, then ghost atoms of the two groups, and the group bits of all atoms
  std::vector<int> index_a, index_b;
  int nowned_a, nowned_b;
  std::vector<unsigned char> member;
};

}    // namespace LAMMPS_NS

#endif
#endif
