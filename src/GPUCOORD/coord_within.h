/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_WITHIN_H
#define LMP_COORD_WITHIN_H

#include "pointers.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/contribution.h"
#include "gpucoord/smooth_region.h"

#include <string>
#include <vector>

namespace LAMMPS_NS {

// The words of keyword within of variables of pairs.

struct WithinArguments {
  gpucoord::RegionOptions region;
  std::string center;    // name of the group whose center of mass is the center; "": there is none

  // Reads the words from arg[iarg + 1] on, and sets iarg to the first argument after them. style:
  // beginning of errors, 'Compute coord/gpu'
  static WithinArguments read(LAMMPS *, const std::string &style, int &iarg, int narg, char **arg);
};

// Weights of the atoms of the first group in S = sum of w_i f(s_i), and their part of dS/dx and W.
// The owner of an atom evaluates its weight.

class CoordWithin : protected Pointers {
 public:
  // owner: beginning of messages, 'Compute coord/gpu ID'. is_mean: S is divided by the sum of w.
  CoordWithin(LAMMPS *, const std::string &owner, WithinArguments, bool is_mean);

  // Collective. Called by init() of the compute. Raises an error if the center does not exist or
  // the region does not fit into the box.
  void init();
  std::string description() const;
  const std::string &center() const { return args.center; }
  int center_bit() const { return bit; }    // 0: there is no center

  // Collective. Evaluates the weights of these owned atoms in the current box.
  void begin(const std::vector<int> &rows);
  gpucoord::AtomWeights weights() const { return {w.data(), gradient.data()}; }

  // For atoms that are resident on a GPU, which has no centers of groups.
  bool can_be_resident() const { return args.center.empty(); }
  gpucoord::SmoothRegion region() const;    // in the current box
  // Collective. Sets the mean and the sum of the weights from this rank's sums of w f and w.
  void set_sums(double value, double sum_of_w);
  double mean() const { return mean_of_f; }    // S with norm mean, otherwise 0

  // Collective. Adds the gradients of the weights to the per-atom output and to W, and sets the sum
  // of the weights. f: of the rows of begin(). value: this rank's sum of w f. peratom: null if this
  // rank has none
  void add(const std::vector<int> &rows, const std::vector<double> &f, double value, unsigned want,
           double *peratom, gpucoord::Contribution &);
  double sum() const { return sum_of_weights; }    // over all ranks, if is_mean

  double memory_usage() const;

 private:
  void find_center();
  void add_center(const double *force, unsigned want, double *peratom) const;

  const std::string &owner;
  const WithinArguments args;
  const bool is_mean;
  int bit = 0;
  double mass = 0.0;    // of the group of the center
  double center_of_mass[3] = {};
  std::vector<double> w, gradient, strain;    // RegionWeights of the rows
  double sum_of_weights = 0.0, mean_of_f = 0.0;
};

}    // namespace LAMMPS_NS

#endif
