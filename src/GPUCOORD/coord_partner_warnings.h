/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_PARTNER_WARNINGS_H
#define LMP_COORD_PARTNER_WARNINGS_H

#include "pointers.h"

#include "gpucoord/atom_function.h"
#include "gpucoord/coordination.h"
#include "gpucoord/switch_table.h"

#include <functional>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class CoordArguments;
class CoordAtoms;

// Warnings about empty groups and about atoms without partners, in which case a bias cannot act.

class PartnerWarnings : protected Pointers {
 public:
  // Largest s of an atom that has almost no partner: a range in another unit leaves the tail of s.
  static constexpr double ALMOST_NONE = 1e-3;

  // Texts and properties of a style.
  struct Texts {
    std::string range;                                  // of partners
    std::string without_partners, with_empty_group2;    // results
    bool takes_group2;                                  // the compute can have a second group
    // Every evaluation warns if no atom has a partner, until one has warned; if not, only the
    // first evaluation of a run does.
    bool seeks_in_run;
  };

  // owner: beginning of warnings, 'Compute coord/gpu ID'. The other objects remain valid.
  PartnerWarnings(LAMMPS *, std::string owner_in, int igroup_in, const CoordArguments &,
                  const gpucoord::SwitchTable &, CoordAtoms &);

  // Collective. Called by init().
  void begin_run(const Texts &, bool is_dynamic);
  // Returns whether a warning is due if no atom has a partner.
  bool is_due() const { return seeks_partners; }
  // Begins an evaluation, which seeks partners if a warning is due and it can.
  void begin_evaluation(bool can_seek) { is_seeking = seeks_partners && can_seek; }
  // Returns whether the running evaluation seeks partners.
  bool seeks() const { return is_seeking; }
  // Ends the search in this run unless later evaluations also seek.
  void found(bool seeks_again) { seeks_partners = seeks_again; }

  void warn_if_empty(const Texts &, bigint natoms_a, bigint natoms_b);
  // Collective. Warns that a bias cannot act, because no pair is in range. The usual cause is a
  // range in another unit. The atoms on the host are current. sum: of s over all pairs, if there is
  // no function. scale: S divided by the sum. pairs: of pair mode, or null
  void warn_without_partners(const Texts &, bigint natoms_a, double sum, double scale,
                             const gpucoord::Box &, const gpucoord::PairsInput *pairs);
  // Collective. Warns if beta of a function min, alt_min or max does not select the smallest or
  // largest of the numbers s: S then is mostly the logarithm of the number of atoms. The first call
  // in a run counts.
  void warn_of_beta(const gpucoord::AtomFunction &, const std::vector<double> &s, double value);

 private:
  // The pair that is nearest to its range.
  struct NearestPair {
    double r = 0.0, dmax = 0.0;
    double s = 0.0, slope = 0.0;    // |r ds/dr|; both if r < dmax
    int index = 0;                  // of its function, on the rank of the pair
    bool exists = false;
    bool is_of_all = true;    // false: of the pairs of a part of the atoms
  };
  NearestPair nearest_pair(const gpucoord::Box &, const gpucoord::PairsInput *pairs);
  bool
  compare_samples(const std::function<void(const double *, const double *, int, int)> &consider);

  const std::string owner;
  const int igroup;
  const CoordArguments &args;
  const gpucoord::SwitchTable &table;
  CoordAtoms &selected;
  bool warned_empty = false;
  bool seeks_partners = false, is_seeking = false;
  bool checks_beta = false;    // warn_of_beta() has not been called in this run
  bool is_rerun = false;       // command rerun has called init()
};

}    // namespace LAMMPS_NS

#endif
