// Part of GPUCOORD, GPL-2.0. Functions of a per-atom value (atom_function.h) that is resident on a
// GPU.
//
// All work is enqueued on the caller's stream. Only functions documented as waiting wait for it.

#ifndef GPUCOORD_RESIDENT_FUNCTION_H
#define GPUCOORD_RESIDENT_FUNCTION_H

#include "gpucoord/atom_function.h"
#include "gpucoord/device_value.h"
#include "gpucoord/export.h"
#include "gpucoord/resident_numbers.h"
#include "gpucoord/smooth_region.h"
#include "gpucoord/types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

namespace gpucoord {

// Returns whether the GPU can evaluate the function. S must be a sum over atoms, so that weights
// need no sum over ranks, and expressions must fit the stack of the GPU. Throws AtomFunctionError.
GPUCOORD_API bool can_be_resident(const AtomFunctionOptions &);

// The function and the per-atom numbers of one rank in device memory, owned atoms first, then
// ghosts. Communication copies dS/ds.
class GPUCOORD_API ResidentFunction : public ResidentNumbers {
 public:
  // Allocates the numbers of these atoms and discards earlier ones, and weights. Enqueues a copy of
  // the masks. S is a sum over the owned atoms whose mask has a bit of 'bits'. Throws DeviceError.
  virtual void select(const DeviceAtoms &, int bits, DeviceStream) = 0;
  // Sets factors of the owned atoms, [nlocal], in device memory, which later evaluations read.
  virtual void set_weights(const AtomWeights &) = 0;
  // The same with the weights of the owned atoms in a slab or ball, at these positions, whose
  // evaluation it enqueues. The positions must remain valid until region_sums(). Throws
  // DeviceError.
  virtual void set_region(const SmoothRegion &, const DeviceAtoms &, DeviceStream) = 0;
  virtual double *s() = 0;       // [nlocal] the caller sets it
  virtual double *dSds() = 0;    // [nall] evaluate() sets owned atoms; communication sets ghosts

  // Enqueues f and dS/ds of the selected atoms, and S. f and dS/ds of other owned atoms are 0.
  // Throws DeviceError.
  virtual void evaluate(DeviceStream) = 0;

  // Enqueues f -= factor (f(s_i) - mean) grad w_i for the selected atoms, after an evaluation with
  // weights. mean_on_device: the mean if it is not null. Throws DeviceError.
  virtual void add_forces(const DeviceForces &, Factor, double mean, const double *mean_on_device,
                          DeviceStream) = 0;
  // The sum of these forces, without the minus of f, for a region with center_on_device: the
  // factors of the coordinates of the center, which moves against the atoms. [3] in device memory
  virtual const double *center_factors() const = 0;

  // Waits, after an evaluation with the weights of a region. Returns sums over the selected atoms.
  // Throws DeviceError.
  virtual RegionSums region_sums(DeviceStream) = 0;

  // S of the last evaluation, in device memory; NaN if an f or dS/ds is bad.
  virtual const double *sum() const = 0;
  // The same over the sum of the weights, and 1 over that sum, or 0 if that is not > 0. [2] in
  // device memory, after an evaluation with weights
  virtual const double *mean() const = 0;
  struct Result {
    double value = 0.0;    // S of this rank
    // Smallest index of an atom whose f or dS/ds is bad: not finite, or |dS/ds| above
    // max_dSds(). -1: there is no such atom.
    int bad = -1;
    double s_of_bad = 0.0, dSds_of_bad = 0.0;    // s and dS/ds of that atom
  };
  // Waits for the last evaluation. Throws DeviceError.
  virtual Result result() = 0;
  // Enqueues copies of s and f of the first n owned atoms to the host; null: not copied. Throws
  // DeviceError.
  virtual void enqueue_numbers(double *s, double *f, int n, DeviceStream) = 0;
  // Waits, and copies s and f to the host, [nlocal]. Throws DeviceError.
  virtual void copy_numbers(double *s, double *f, DeviceStream) = 0;

  // Overwrites dS/ds by the indices of the atoms, calls send(), which enqueues the communication of
  // dS/ds, and stores the result as owners. All ghosts must be images of owned atoms.
  virtual void find_owners(const std::function<void()> &send, DeviceStream) = 0;
  virtual const int *owners() const = 0;    // [nall] from the last find_owners(); device memory

  virtual std::size_t bytes() const = 0;            // device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since construction
};

// A function that the CUDA backend evaluates for atoms of host arrays, on a single rank (SecondPass
// in pairs.h).
struct DeviceFunction {
  // Input from the caller.
  AtomFunctionOptions options;    // must be can_be_resident()
  // [nall] the owned atom whose image each atom is, equal for inputs of the same version; not read
  // if only the value is requested
  const int *owner = nullptr;
  // [a.nowned] set to f of the atoms, in the order of group a; null: not requested
  double *f = nullptr;
  // [a.nowned] factors of the atoms (AtomWeights), in the order of group a; null: 1
  const double *w = nullptr;

  // Set by the backend. False: an f or dS/ds is bad (ResidentFunction::Result), or the owner of an
  // atom is not in its group; weights() has then been called.
  bool is_evaluated = false;
  std::shared_ptr<ResidentFunction> resident;
};

// Returns the largest |dS/ds| that kernels of this precision accept, because they do not scale it.
constexpr double max_dSds(Precision precision)
{
  return precision == Precision::DOUBLE ? std::numeric_limits<double>::max() : 1e30;
}

// Makes a function on the current GPU, for kernels over pairs in this precision. Throws
// AtomFunctionError and DeviceError; throws std::invalid_argument unless can_be_resident().
GPUCOORD_API std::unique_ptr<ResidentFunction> make_resident_function(const AtomFunctionOptions &,
                                                                      Precision);

}    // namespace gpucoord

#endif
