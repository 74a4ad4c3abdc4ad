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
class PotentialArguments;

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

  bool is_at_corners() const;      // position of points in their cells
  int number_of_points() const;    // on this rank

  // For a fix that averages maps. The sum of potentials stays where the maps are computed, on the
  // host or on the GPU. The listener is notified before and after load balancing changes the ranks'
  // parts of the box.
  struct Listener {
    virtual void compute_deleted() = 0;
    virtual void before_new_grid() = 0;
    virtual void after_new_grid(class Grid3d *old_grid, class Grid3d *new_grid) = 0;

   protected:
    ~Listener() = default;
  };
  // null: no sum is needed
  virtual void set_listener(Listener *);
  const Listener *get_listener() const { return listener; }
  virtual void set_sum(const std::vector<double> &);
  virtual void add_to_sum();    // adds the map of this timestep
  virtual std::vector<double> get_sum();

 protected:
  struct Sums {
    double charged = 0.0, bad = 0.0;    // number of charged atoms; number of non-finite ones
    // Sums of squared charges, charges and their magnitudes.
    double q_sq = 0.0, q = 0.0, size = 0.0;
  };
  virtual void atoms_to_host() {}
  virtual void atoms_changed_on_host() {}    // charges and groups of ghost atoms have changed
  // Returns true if this evaluation computes the map from atoms on the GPU and leaves the map
  // there.
  virtual bool is_on_gpu() const { return false; }
  // Returns the same results as select_charges().
  virtual Sums begin_on_gpu(bigint &bad)
  {
    bad = 0;
    return {};
  }
  virtual gpucoord::MapOverflow map_on_gpu() { return {}; }
  virtual void fetch_from_gpu() {}
  virtual std::string data_path() const;
  virtual void set_up();

  gpucoord::MapGrid brick() const;
  void forward_positions();
  // Collective. An exception on one rank stops all ranks.
  void run_backend(const std::function<void()> &);

  std::unique_ptr<PotentialArguments> settings;
  std::unique_ptr<MapBackend> backend;
  std::unique_ptr<PotentialFar> potential_far;    // null: no far field
  GridValues phi, field;
  bool is_fetched;        // phi and field hold the last map
  bigint evaluated_at;    // timestep of the last map; -1: no map

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
  Sums reduce_sums(const Sums &, bigint bad) const;
  void refresh_ghosts();
  bool is_without_ghosts() const;
  bool have_ghosts_jumped();
  void begin_far(const Sums &);
  Sums select_charges(bigint &bad);
  void gather_charges();
  void add_far(const gpucoord::MapCharges &);
  void subtract_charges_on_points(const gpucoord::MapCharges &);
  class Region *reference_region() const;
  void set_reference();
  void subtract_coincident_charges(std::vector<double> &at_atoms) const;
  void add_far_at_atoms(const gpucoord::MapCharges &, std::vector<double> &at_atoms);
  template <class Evaluate> void evaluate(const Evaluate &);
  void run_far(const std::function<void()> &);
  void check_overflow(const gpucoord::MapOverflow &);
  double used_fraction_of_tiles() const;

  bool is_set_up;    // set_up() was called in this run: alpha is known
  bool has_warned, has_warned_of_overflow;
  bool is_empty;          // there is no charged atom in this evaluation
  std::string printed;    // last setup text, without alpha

  std::unique_ptr<class Grid3d> grid;
  int lo[3], hi[3];    // bounds of this rank's points, hi included
  // Largest distance of a point of any rank from the rank's part of the box, as a fraction of the
  // box edges.
  double outside[3];
  Listener *listener;            // null: no listener
  std::vector<double> sum;       // sum of phi for the listener
  GridValues near, far;          // parts of phi if there is a far field
  double reference_value;        // mean that was subtracted from phi
  std::vector<double> at_all;    // [nlocal + nghost] far field at atoms from this rank's points
  // [nlocal] nonzero: another rank or a periodic image has a ghost copy of the atom
  std::vector<char> is_sent;
  int nreceived;    // number of ghost atoms that received charges
  int nmax;

  // Charges that act on this rank's points in this evaluation. Charges of owned atoms come first;
  // for kernel direct they begin at first_owned.
  std::vector<double> x, q;
  int first_owned;
  std::vector<int> owned;    // local indices of the owned charges' atoms
};

}    // namespace LAMMPS_NS

#endif
#endif
