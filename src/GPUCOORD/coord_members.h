/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_MEMBERS_H
#define LMP_COORD_MEMBERS_H

#include "coord_variable.h"

#include "gpucoord/member_variable.h"
#include "gpucoord/variable.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace LAMMPS_NS {

// Base class of variables without pairs, ghost atoms and neighbor lists: the values are functions
// of sums over the members of points. Each rank sums over the members that it owns. All ranks
// evaluate the functions at the sums over ranks.

class CoordMembers : public CoordVariable {
 public:
  // An atom, or all atoms of a group.
  struct Point {
    tagint id = 0;        // of the atom; 0: a group
    std::string group;    // name, without an ID
    // Weights of the members: their masses, or 1.
    bool by_mass = false;
    bool has_own_references = false;    // each member has a reference position by its ID
  };

  void init() override;
  void setup() override;
  void end_run() override;
  double memory_usage() override;

  std::string dynamic_group() const override;
  int groups() const override;
  int size() const override { return function().nvalues(); }
  gpucoord::Period period(int item) const override { return function().period(item); }
  int nsums(unsigned /*want*/) const override { return NHEADER + function().nsums(); }
  void end_setup() override;
  void start(bool is_for_forces) override;
  void get_local_sums(double *local_sums) override;
  void finish(const double *sums) override;
  double value(int item = 0) const override { return is_defined ? function().value(item) : NAN; }
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;

 protected:
  CoordMembers(class LAMMPS *, int, char **);
  // Called by the constructor of a style. Takes the points and how their members are joined, and
  // sets the outputs. function() must then exist.
  void set_points(std::vector<Point>, gpucoord::Unwrap);

  // A style has these functions, which must not be private: the /kk style calls them.

  virtual gpucoord::MemberVariable &function() const = 0;
  // Returns what the values are, for the setup line.
  virtual std::string description() const = 0;
  // Returns the text of a warning about the item of the function, and the way out.
  virtual std::string text_of_singular(int item) const = 0;
  virtual std::string way_out_of_singular(int item) const = 0;
  // With the way out.
  virtual std::string text_of_far(int /*item*/) const { return ""; }
  // Collective. Sets the index of the reference position of each member. Returns the problem with
  // the members, with the way out, the same on all ranks, or "".
  virtual std::string set_own_references() { return ""; }
  // Returns the variable of the library for KOKKOS on a GPU; null: there is none. May throw
  // DeviceError.
  virtual std::unique_ptr<gpucoord::ResidentMembers> make_resident() const { return nullptr; }

  // KOKKOS changes these functions.

  virtual std::string data_path() const { return "owned atoms"; }
  // Copies atom data to the host before the host reads them. find: also those that find members
  virtual void atoms_to_host(bool /*find*/) {}
  // Returns whether this evaluation needs the members and references of the current neighbor lists.
  // It has them in any case if it is the first one of a run, or no force evaluation.
  virtual bool needs_members() const { return true; }
  // Sets the sums of this rank. Returns why it failed, or "".
  virtual std::string sum_members(double *sums);
  // Sets the sums of this rank that function() needs after its evaluation at these sums.
  virtual void sum_members_again(const double *sums, double *again);

  // Returns the row of an atom; NOT_HERE for an atom of another rank, and for a group.
  int row_of(const Point &) const;
  void set_weights();    // of the members
  // Warns once a run.
  void warn_of(const gpucoord::GeometryFlags &);

  std::vector<Point> points;
  gpucoord::Unwrap unwrap;
  std::vector<int> groupbits;                       // [points] 0: an atom
  gpucoord::GeometryBox box;                        // of this evaluation
  std::vector<gpucoord::GeometryMember> members;    // owned, in the order of sums
  std::vector<double> references;                   // [points][3] distance
  std::int64_t members_version;                     // of the members and references
  std::string problem;                              // of the members, the same on all ranks, or ""
  std::vector<double> sums_again;    // over ranks; empty if the evaluation did not need them
  std::string failed;                // why this rank has no sums, or ""
  gpucoord::GeometryFlags seen;      // number since the last end_run(), and items of the warnings
  bool counts;                       // the host counts the singular items of this evaluation

 private:
  void find_members();
  void list_members();
  gpucoord::GeometryFlags evaluate(const double *sums);
  void check_extent();
  std::string text_of_bad_atom() const;
  gpucoord::GeometryAtoms member_atoms() const;

  bool is_defined;                         // the values; false only in setup
  std::pair<bigint, bigint> last_build;    // of the members: Neighbor's ncalls and lastcall
  bool warned_extent;
};

}    // namespace LAMMPS_NS

#endif
