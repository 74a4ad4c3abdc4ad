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
#include "gpucoord/device_value.h"
#include "gpucoord/smooth_region.h"

#include <memory>
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
  ~CoordWithin();

  // Collective. Called by init() of the compute with this ID and style. Raises an error if the
  // center does not exist or the region does not fit into the box.
  void init(char *id, char *style);
  std::string description() const;
  const std::string &center_group() const { return args.center; }
  // Returns the variable whose values are the coordinates of the center; null: there is none, or
  // before init().
  class CoordVariable *center() const { return center_of_mass.get(); }

  // Collective. Evaluates the center; on a GPU, only its values are then on the host.
  void find_center(unsigned want, bool is_for_forces);
  void enqueue_center();
  // Collective. Evaluates the center and the weights of these owned atoms in the current box.
  void begin(const std::vector<int> &rows, bool is_for_forces);
  gpucoord::AtomWeights weights() const { return {w.data(), gradient.data()}; }

  // Returns the region in the current box, around the center that was found or enqueued.
  gpucoord::SmoothRegion region() const;
  // Collective. Adds the gradients of the weights to W. Sets the mean, the sum of the weights and
  // the factors of the center. value, sums: of this rank, value is the sum of w f
  void add_sums(double value, const gpucoord::RegionSums &sums, gpucoord::Contribution &);
  double mean() const { return mean_of_f; }    // S with norm mean, otherwise 0
  // Returns the factors of the center in S, times this one. They remain valid until add_sums().
  gpucoord::ItemFactors center_factors(double factor) const;

  // Collective. The same for the rows of begin(), with gradients in the per-atom output. f: of the
  // rows. peratom: null if this rank has none
  void add(const std::vector<int> &rows, const std::vector<double> &f, double value, unsigned want,
           double *peratom, gpucoord::Contribution &);
  double sum() const { return sum_of_weights; }    // over all ranks, if is_mean

  double memory_usage() const;

 private:
  void make_center(char *id, char *style);

  const std::string &owner;
  const WithinArguments args;
  const bool is_mean;
  std::unique_ptr<CoordVariable> center_of_mass;
  const double *center_on_device = nullptr;    // null: the values are on the host
  double of_center[3] = {};                    // dS/d(center), before norm
  std::vector<double> w, gradient, strain;     // RegionWeights of the rows
  double sum_of_weights = 0.0, mean_of_f = 0.0;
};

}    // namespace LAMMPS_NS

#endif
