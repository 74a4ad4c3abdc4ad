/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_VARIABLE_H
#define LMP_GPUCOORD_VARIABLE_H

#include "gpucoord/pairs.h"
#include "gpucoord/period.h"
#include "gpucoord/variable.h"

#include "lmptype.h"

#include <algorithm>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Warns once if per-atom vectors for output are in another frame than the box of the user.
class TriclinicWarning {
 public:
  // name: of the compute. vectors: 'derivatives' or 'forces'
  void warn(class LAMMPS *, const std::string &name, const char *vectors = "derivatives");

 private:
  bool warned = false;
};

// The first numbers of a variable that are summed over ranks. They are followed by its values, and
// by its virials if they are requested.
struct VariableHeader {
  double natoms_a = 0.0, natoms_b = 0.0;    // atoms of the two groups
  double has_bad_atom = 0.0;                // a position is not finite
  double not_finite = 0.0;                  // NaN if a gradient is not finite, or 0
  double has_failed = 0.0;
  double has_partners = 0.0;    // an atom has a partner in range
};

class CollectiveVariable;

// Returns the list of styles for messages: 'coord/gpu, ... or coord/custom'.
std::string styles_of_variables();

// The part of a variable whose gradients are the forces of the force field. Its bias scales them.

class ScaledForces {
 public:
  // Called in each force evaluation. next: timestep of the next one in which a fix evaluates the
  // variable
  virtual void announce_next(bigint next) = 0;
  // Called once in each force evaluation, when the forces of the force field are known and before a
  // bias adds others.
  virtual void take_forces() = 0;

 protected:
  ~ScaledForces() = default;    // not deleted through this interface
};

// A value of a variable, as fixes and parents store it.
struct VariableRef {
  CollectiveVariable *compute = nullptr;
  int serial = 0;    // CollectiveVariable::serial() of the compute
  int item = 0;      // index of the value, from 0

  double value() const;
  // Returns whether the compute still exists.
  bool is_alive() const;
};

// Returns whether an earlier one of these values belongs to the same compute.
inline bool is_of_earlier(const std::vector<VariableRef> &values, std::size_t v)
{
  return std::any_of(values.begin(), values.begin() + v, [&](const VariableRef &earlier) {
    return earlier.compute == values[v].compute;
  });
}

// Returns those of the variables that scale forces, and of the variables below them.
std::vector<ScaledForces *> scaled_forces(const std::vector<VariableRef> &);

// A word of a user for a value of a variable: c_ID, or c_ID[k] if the variable has several values.
struct VariableWord {
  explicit VariableWord(const std::string &word);

  const std::string word;
  const std::string compute_id;
  int item() const;            // index of the value, from 0
  std::string name() const;    // in files: ID, or ID_k
  // Returns why the variable has no such value, with the way out, or "".
  std::string problem(const CollectiveVariable &) const;
  VariableRef ref(CollectiveVariable *) const;

 private:
  const std::string brackets;    // after the ID: "[k]", or ""
};

// A collective variable: a compute with one or several values S, gradients dS/dx on its atoms, and
// virials W = -dS/d(strain). Biases know only this interface of the compute. The compute decides
// where its data are.
//
// A force evaluation has this order: announce(), then either enqueue(), or start(),
// get_local_sums(), one sum over ranks, and finish(), then the add functions. BiasBoard calls
// them.

class CollectiveVariable {
 public:
  // Added to gpucoord::Want: a style without KOKKOS reads and changes atom data on the host.
  static constexpr unsigned ON_HOST = 1u << 16;

  CollectiveVariable(const CollectiveVariable &) = delete;
  CollectiveVariable &operator=(const CollectiveVariable &) = delete;

  // Returns a number that distinguishes a variable from a later one at the same address.
  int serial() const { return my_serial; }
  // Returns whether the variable with this address and serial number exists.
  static bool is_alive(const CollectiveVariable *, int serial);
  // Returns the name of a dynamic group of the variable, or "".
  virtual std::string dynamic_group() const = 0;
  // Returns the bits of groups that contain all atoms of the variable. Valid after init().
  virtual int groups() const = 0;

  // Returns the values that this variable is a function of. Their computes are evaluated before it,
  // with the same outputs.
  virtual const std::vector<VariableRef> &children() const;

  // Called before and after an evaluation in Compute::setup(), which only prints S. Only failures
  // of a GPU and of memory raise errors in it, because nothing may use S; otherwise S is NaN.
  // begin_setup() returns false if this cannot be granted, and then the variable must not be
  // evaluated. After end_setup(), later results are those of a run without this evaluation.
  virtual bool begin_setup() = 0;
  virtual void end_setup() = 0;

  // Number of values. It and the periods do not change after construction.
  virtual int size() const { return 1; }
  // Returns the period of a value.
  virtual gpucoord::Period period(int /*item*/) const { return {}; }
  // Returns how many numbers are summed over ranks for these outputs. It is the same on all ranks.
  virtual int nsums(unsigned want) const
  {
    return NHEADER + size() * (want & gpucoord::VIRIAL ? 7 : 1);
  }

  // Called on all ranks before each force evaluation. Invalidates the value of the previous
  // evaluation. want: outputs that any fix needs; 0: nothing is needed. Evaluations are not
  // identified by timestep, because line searches and rRESPA evaluate forces many times in one
  // timestep.
  virtual void announce(unsigned want) = 0;
  // Called after LAMMPS has rebuilt its neighbor lists. due: the next force evaluation needs the
  // variable
  virtual void reneighbored(bool /*due*/) {}

  // Returns whether value and gradients are on a GPU in the current box, unless a fix needs them on
  // the host.
  virtual bool is_resident() const { return false; }
  // Returns whether enqueue() can evaluate the announced outputs without a wait of the host.
  virtual bool can_enqueue() const { return false; }
  // Enqueues the evaluation on own_stream(), unless it is already enqueued.
  virtual gpucoord::DeviceValue enqueue() { return {}; }
  virtual gpucoord::DeviceStream stream() const { return nullptr; }    // of LAMMPS
  // Returns the stream of the evaluation of this timestep: stream(), or one beside it.
  virtual gpucoord::DeviceStream own_stream() const { return stream(); }
  // What stream() gets from now on waits for all work of own_stream() so far.
  virtual void join_stream() {}
  // Called after a wait. Raises an error or warns about problems that the GPU found in enqueued
  // evaluations.
  virtual void raise_device_errors(bool /*has_moved*/, bool /*is_not_finite*/) {}

  // Returns whether value() and the add functions can be used.
  virtual bool is_known() const = 0;
  // Starts the evaluation of this rank. Does not throw if one rank fails; get_local_sums()
  // reports this. is_for_forces: part of a force evaluation, in which ghost atoms are current
  virtual void start(bool is_for_forces) = 0;
  // Returns whether the evaluation has been started and not yet finished. Output between these
  // calls discards a started evaluation.
  virtual bool is_started() const { return false; }
  // Waits, and sets this rank's numbers, [nsums()].
  virtual void get_local_sums(double *local_sums) = 0;
  // Takes the sums over ranks. Raises an error on all ranks if one has failed. All ranks call it in
  // the same order after the sum, so it may communicate. An exception ends all ranks.
  virtual void finish(const double *sums) = 0;
  virtual double value(int item = 0) const = 0;    // S
  // Returns the possible difference between values at the same positions due to different summation
  // orders, relative to the larger of 1 and |value()|. The default applies to sums of double terms.
  virtual double rounding() const { return 1e-10; }

  // Returns why the variable cannot be biased, or "".
  virtual std::string why_no_bias() const { return ""; }

  // Returns whether the variable reads atoms and changes forces on the host without notifying
  // KOKKOS.
  virtual bool is_without_kokkos() const = 0;
  // The add functions sum over values. A value whose factor is 0 is left out, even if its gradients
  // are not finite. Factors are on the host if the evaluation was not enqueued.

  // Adds -factor dS/dx to the forces of the owned atoms, on the host or on the device, wherever
  // they are current.
  virtual void add_forces(const gpucoord::ItemFactors &) = 0;
  // Adds factor W, summed over all ranks, in the order xx yy zz xy xz yz.
  virtual void add_virial(const gpucoord::ItemFactors &, double *virial) const = 0;
  // Adds factor times the contributions of the owned atoms to W, [nlocal][6].
  virtual void add_atom_virial(const gpucoord::ItemFactors &, double **vatom) const = 0;
  // Adds factor dS/dx of the owned atoms to three columns of an array. Requires an evaluation
  // ON_HOST.
  virtual void add_gradients(const gpucoord::ItemFactors &, double **array,
                             int first_column) const = 0;

  // Returns the bytes copied between host and GPU since the start, without those of children; -1:
  // not all data are resident on the GPU.
  virtual double bytes_copied() const { return -1.0; }

 protected:
  CollectiveVariable();
  ~CollectiveVariable();    // not deleted through this interface

  static constexpr int NHEADER = 6;
  static void set_header(const VariableHeader &header, double *local_sums)
  {
    const double all[NHEADER] = {header.natoms_a,   header.natoms_b,   header.has_bad_atom,
                                 header.not_finite, header.has_failed, header.has_partners};
    std::copy_n(all, NHEADER, local_sums);
  }
  static VariableHeader header_of(const double *sums)
  {
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
  }

  TriclinicWarning triclinic_warning;

 private:
  const int my_serial;
};

inline double VariableRef::value() const
{
  return compute->value(item);
}

inline bool VariableRef::is_alive() const
{
  return CollectiveVariable::is_alive(compute, serial);
}

// Calls visit(CollectiveVariable *, ItemFactors) once for each compute of these values. The factors
// of its values are those of factors, [values], without those that are 0. A compute without a
// factor is left out.
template <class Visit>
void for_each_compute(const std::vector<VariableRef> &values, const std::vector<double> &factors,
                      const Visit &visit)
{
  std::vector<int> items;
  std::vector<double> its_factors;
  for (std::size_t v = 0; v < values.size(); ++v) {
    CollectiveVariable *const compute = values[v].compute;
    if (is_of_earlier(values, v)) continue;
    items.clear();
    its_factors.clear();
    for (std::size_t w = v; w < values.size(); ++w)
      if (values[w].compute == compute && factors[w] != 0.0) {
        items.push_back(values[w].item);
        its_factors.push_back(factors[w]);
      }
    if (items.empty()) continue;
    gpucoord::ItemFactors all;
    all.on_host = its_factors.data();
    all.item = items.data();
    all.n = static_cast<int>(items.size());
    visit(compute, all);
  }
}

// The same for factors in device memory, [values]. host: common factor
template <class Visit>
void for_each_compute_on_device(const std::vector<VariableRef> &values, double host,
                                const double *factors, const Visit &visit)
{
  std::vector<int> items;
  for (std::size_t v = 0; v < values.size(); ++v) {
    CollectiveVariable *const compute = values[v].compute;
    if (is_of_earlier(values, v)) continue;
    items.clear();
    gpucoord::ItemFactors all;
    for (std::size_t w = v; w < values.size(); ++w) {
      const bool is_its_own = values[w].compute == compute;
      items.push_back(is_its_own ? values[w].item : gpucoord::ItemFactors::NO_ITEM);
      if (is_its_own) all.n = static_cast<int>(w - v) + 1;
    }
    all.host = host;
    all.on_device = factors + v;
    all.item = items.data();
    visit(compute, all);
  }
}

}    // namespace LAMMPS_NS

#endif
