/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_COORD_EVALUATOR_H
#define LMP_COORD_EVALUATOR_H

#include "coord_pair_data.h"
#include "coord_partner_warnings.h"

#include "gpucoord/coordination.h"

#include <memory>
#include <string>

namespace LAMMPS_NS {
class DeviceChoice;

// The evaluation of one rank.
struct LocalEvaluation {
  CoordPaths::Path path = CoordPaths::Path::CELLS;
  unsigned want = 0;
  bool is_for_forces = false;     // part of a force evaluation, for fixes
  bool seeks_partners = false;    // CoordEvaluator::has_partners() may be called at the end
  double *peratom = nullptr;      // [nlocal][peratom_columns(want)]; null: not on the host
  gpucoord::Contribution mine;
  double value = 0.0;     // this rank's part of S, before norm
  bigint bad_atom = 0;    // ID of an atom whose position is not finite; -1: it has no ID; 0: none
  std::string failed;     // why this rank has no contribution; "": it has one
  bool is_undefined = false;    // 'failed' names a value at which the function is not defined
};

// Evaluates the contribution of one rank to a variable of pairs: coordination numbers, or an order
// parameter.

class CoordEvaluator : protected Pointers {
 public:
  using Path = CoordPaths::Path;

  CoordEvaluator(LAMMPS *lmp, CoordPairData &data_in) : Pointers(lmp), data(data_in) {}
  virtual ~CoordEvaluator() = default;

  virtual DeviceChoice &device_choice() const = 0;
  // Collective. Raises an error if the variable is not defined in the current box.
  virtual void check_box() const {}
  // Collective. Called by init() of the compute.
  virtual void init_backend() = 0;
  // Returns a description of the function, for the setup line and errors; "": S is a sum over
  // pairs.
  virtual std::string description() const = 0;

  // Prepares an evaluation, after the selection of atoms. May set local.bad_atom.
  virtual void begin(LocalEvaluation &local) = 0;
  // Collective. Sets the value and the contribution of this rank. May throw DeviceError and
  // bad_alloc.
  virtual void evaluate(LocalEvaluation &) = 0;
  // Collective. After a failure of this rank: performs the remaining communication of evaluate(),
  // because other ranks wait for it.
  virtual void complete_exchanges(LocalEvaluation &) = 0;
  // Collective. Computes the contribution of this rank by plain loops.
  virtual gpucoord::Contribution evaluate_reference(const LocalEvaluation &, double *peratom) = 0;

  // Returns whether an atom of this rank had a partner in range in the last evaluation, which seeks
  // partners.
  virtual bool has_partners(const LocalEvaluation &) const = 0;
  virtual PartnerWarnings::Texts partner_texts() const = 0;
  // Returns the pairs of pair mode; null: all pairs of the groups.
  virtual const gpucoord::PairsInput *pairs_of_mode() const { return nullptr; }
  // Returns the number of atoms of other ranks that this rank has, with their kind, for errors.
  virtual std::string other_atoms(Path) const
  {
    return fmt::format("{} ghost atoms", data.selected.nghosts());
  }
  // Returns whether setup() looks for partners, because evaluations in a run do not.
  virtual bool seeks_partners_in_setup() const { return false; }

  // Elements of the vector and columns of the array after those of all variables of pairs. They are
  // set after an evaluation, the elements after one with the virial.
  virtual int nvector() const { return 0; }
  virtual int ncolumns() const { return 0; }
  virtual void set_vector(double * /*to*/) const {}
  virtual void set_columns(double ** /*array*/, int /*first*/) const {}

  virtual double memory_usage() const = 0;

 protected:
  CoordPairData &data;
};

// A style of ComputeCoordPair.
struct CoordStyle {
  std::unique_ptr<CoordArguments> (*read)(LAMMPS *, int narg, char **arg);
  // The data have the arguments of read(), and remain valid.
  std::unique_ptr<CoordEvaluator> (*make)(LAMMPS *, CoordPairData &);

  // Returns the style with this name, which may have the suffix of its variant for KOKKOS.
  static const CoordStyle &find(const std::string &name);
};

extern const CoordStyle coordination_style;
#define ORDER_PARAMETER(style, definition, text) extern const CoordStyle definition;
#include "coord_styles.h"

}    // namespace LAMMPS_NS

#endif
