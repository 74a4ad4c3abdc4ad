/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifdef COMPUTE_CLASS
// clang-format off
ComputeStyle(potential/grid,ComputePotentialGrid);
// clang-format on
#else

#ifndef LMP_COMPUTE_POTENTIAL_GRID_H
#define LMP_COMPUTE_POTENTIAL_GRID_H

#include "compute.h"

#include "gpucoord/potential_map.h"
#include "potential_grid_values.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class MapBackend;
class PotentialFar;
class PotentialGridSettings;

class ComputePotentialGrid : public Compute {
 public:
  ComputePotentialGrid(class LAMMPS *, int, char **);
  ~ComputePotentialGrid() override;
  void init() override;
  void compute_pergrid() override;
  void compute_peratom() override;
  void reset_grid() override;
  int get_grid_by_name(const std::string &, int &) override;
  void *get_grid_by_index(int) override;
  int get_griddata_by_name(int, const std::string &, int &) override;
  void *get_griddata_by_index(int) override;
  int pack_forward_comm(int, int *, double *, int, int *) override;
  void unpack_forward_comm(int, int, double *) override;
  int pack_reverse_comm(int, int, double *) override;
  void unpack_reverse_comm(int, int *, double *) override;
  double memory_usage() override;

  bool is_at_corners() const;      // where points are in their cells
  int number_of_points() const;    // of this rank

  // For a fix that adds up maps: the sum of potentials, which stays where maps are made. Where parts of the box change the
  // listener is told, before and after.
  struct Listener {
    virtual void compute_is_gone() = 0;
    virtual void before_new_grid() = 0;
    virtual void after_new_grid(class Grid3d *old_grid, class Grid3d *new_grid) = 0;

   protected:
    ~Listener() = default;
  };
  // null: nobody wants a sum any longer
  virtual void set_listener(Listener *);
  const Listener *get_listener() const { return listener; }
  virtual void set_sum(const std::vector<double> &);
  virtual void add_to_sum();    // the map of this step
  virtual std::vector<double> get_sum();

 protected:
  struct Sums {
    double charged = 0.0, bad = 0.0;           // atoms with a charge, and those that are nowhere
    double q_sq = 0.0, q = 0.0, size = 0.0;    // of charges, and of their magnitudes
  };
  virtual void atoms_to_host() {}
  virtual void atoms_changed_on_host() {}    // charges and groups of ghost atoms
  // whether the map of this evaluation is made from atoms on a GPU, and stays there
  virtual bool stays_on_gpu() const { return false; }
  virtual Sums begin_on_gpu(bigint &bad)
  {
    bad = 0;
    return {};
  }    // as select_charges()
  virtual gpucoord::MapOverflow map_on_gpu() { return {}; }
  virtual void fetch_from_gpu() {}
  virtual std::string data_path() const;
  virtual void set_up();

  gpucoord::MapGrid brick() const;
  void forward_positions();
  // Collective. An exception of one rank stops all.
  void run_backend(const std::function<void()> &);

  std::unique_ptr<PotentialGridSettings> settings;
  std::unique_ptr<MapBackend> backend;
  std::unique_ptr<PotentialFar> potential_far;    // null: none
  GridValues phi, field;
  bool is_fetched;        // phi and field are those of the last map
  bigint evaluated_at;    // step of the last map; -1: none

 private:
  void part_of_box(int axis, double &from, double &to) const;
  void allocate_grid();
  void check_size() const;
  void check_memory() const;
  void check_box(int argument) const;
  void check_distances(bool in_command) const;
  void check_ghost_shell(double cutghost) const;
  double height_of_box(int axis) const;
  double protrusion() const;
  double coincidence_tolerance() const;
  void print_setup();
  std::string mesh_in_words() const;

  void begin_evaluation(bool on_gpu);
  Sums share_sums(const Sums &, bigint bad) const;
  void refresh_ghosts();
  bool is_without_ghosts() const;
  bool have_ghosts_jumped();
  void begin_far(const Sums &);
  Sums select_charges(bigint &bad);
  void gather_charges();
  void add_far(const gpucoord::MapCharges &);
  void take_charges_from_their_points(const gpucoord::MapCharges &);
  class Region *reference_region() const;
  void set_reference();
  void take_charges_in_one_place(std::vector<double> &at_atoms) const;
  void add_far_at_atoms(const gpucoord::MapCharges &, std::vector<double> &at_atoms);
  template <class Evaluate> void evaluate(const Evaluate &);
  void run_far(const std::function<void()> &);
  void check_overflow(const gpucoord::MapOverflow &);
  double share_of_tiles() const;

  bool is_set_up;    // in this run: alpha of a far field is known
  bool has_warned, has_warned_of_overflow;
  bool is_empty;          // no charge at all in this evaluation
  std::string printed;    // at set-up, but for alpha

  std::unique_ptr<class Grid3d> grid;
  int lo[3], hi[3];    // points of this rank, hi included
  double outside
      [3];    // how far points of any rank are from its part of the box, as a fraction of its edges
  Listener *listener;            // or null
  std::vector<double> sum;       // of phi, for it
  GridValues near, far;          // of which phi is the sum, where there is a far field
  double reference_value;        // that was taken from phi
  std::vector<double> at_all;    // [nlocal + nghost] far field that this rank's points add at atoms
  std::vector<char>
      is_sent;      // [nlocal] atoms that other ranks or periodic images have ghost atoms of
  int nreceived;    // ghost atoms that got charges
  int nmax;

  // of this evaluation: charges that this rank's points see, those of owned atoms first or, for kernel direct, from first_owned
  // on
  std::vector<double> x, q;
  int first_owned;
  std::vector<int> owned;    // rows of the atoms that these are
};

}    // namespace LAMMPS_NS

#endif
#endif
