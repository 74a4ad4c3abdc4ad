/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_POINTS_H
#define LMP_COORD_POINTS_H

#include "coord_variable.h"

#include "gpucoord/variable.h"

#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Base class of variables without pairs: the values are functions of the positions of a few atoms,
// the points. Each rank knows the positions of its atoms. All ranks evaluate the functions at the
// sums over ranks, which are the positions of all points.

class CoordPoints : public CoordVariable {
 public:
  void init() override;
  void setup() override;
  double memory_usage() override;

  std::string dynamic_group() const override { return ""; }
  int groups() const override;
  int size() const override { return static_cast<int>(values.size()); }
  int nsums(unsigned /*want*/) const override;
  void start(bool /*is_for_forces*/) override { state = State::STARTED; }
  void get_local_sums(double *local_sums) override;
  void finish(const double *sums) override;
  double value(int item = 0) const override { return values[item]; }
  void add_forces(const gpucoord::ItemFactors &) override;
  void add_virial(const gpucoord::ItemFactors &, double *virial) const override;
  void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const override;
  void add_gradients(const gpucoord::ItemFactors &, double **array,
                     int first_column) const override;

 protected:
  CoordPoints(class LAMMPS *lmp, int narg, char **arg) : CoordVariable(lmp, narg, arg) {}
  // Called by the constructor of a style. ids: of the points
  void set_points(const std::vector<tagint> &ids_in, int nvalues);

  // A style has these functions, which must not be private: the /kk style calls them.

  // Returns what the values are, for the setup line.
  virtual std::string description() const = 0;
  // Sets values, gradients and virials. x: [points][3]
  virtual void evaluate(const gpucoord::Box &, const double *x) = 0;
  // Returns the variable of the library for KOKKOS on a GPU. May throw DeviceError.
  virtual std::unique_ptr<gpucoord::ResidentPoints> make_resident() const = 0;

  std::vector<double> values;       // [size()] S
  std::vector<double> gradients;    // [size()][points][3] dS/dx
  std::vector<double> virials;      // [size()][points][6] their sum over points is W

  // KOKKOS changes these functions.

  virtual std::string data_path() const { return "owned atoms"; }
  // Sets the positions of this rank's points; x is 0. Returns their number.
  virtual int read_positions(double *x);

  // Returns the row of each point, or NOT_HERE if another rank owns it.
  std::vector<int> rows_of_points() const;

 private:
  template <class Visit> void for_each_point(const gpucoord::ItemFactors &, const Visit &) const;
  [[noreturn]] void raise_missing() const;

  std::vector<tagint> ids;    // [points]
};

}    // namespace LAMMPS_NS

#endif
