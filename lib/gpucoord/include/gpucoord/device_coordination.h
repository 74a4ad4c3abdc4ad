// Part of GPUCOORD, GPL-2.0. Coordination numbers of atoms whose data lie on a GPU.
//
// Nothing but scalars leaves the GPU: positions, types and groups are read where they are, derivatives stay there,
// and forces are added there. All work is enqueued on the caller's stream; only what says so waits for it.
//
// Partners within dmax and a skin are found once, and hold until an atom has moved by half the skin.

#ifndef GPUCOORD_DEVICE_COORDINATION_H
#define GPUCOORD_DEVICE_COORDINATION_H

#include "gpucoord/coordination.h"
#include "gpucoord/export.h"
#include "gpucoord/restraint.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct CUstream_st;

namespace gpucoord {

using DeviceStream = CUstream_st *;    // cudaStream_t

// Where atoms have about so many partners, none are listed: atoms are kept in bins.
constexpr double MANY_PARTNERS = 500.0;

// Atoms of one rank, owned first, then ghosts: pointers to device memory.
struct DeviceAtoms {
  const void *x = nullptr;        // [nall][3] positions
  bool x_is_float = false;        // else double
  const int *mask = nullptr;      // [nall] group bits; null: all atoms
  const int *type = nullptr;      // [nall] where the table of functions has types
  int nlocal = 0, nall = 0;
};

// Forces on owned atoms in device memory. Strides are in numbers, not bytes.
struct DeviceForces {
  void *f = nullptr;
  bool is_float = false;          // else double
  std::int64_t atom_stride = 3, axis_stride = 1;
};

// A neighbor list of the caller in device memory: of each owned atom i all atoms within dmax and the skin, and perhaps
// others within 10 dmax. The k-th is neighbour[i * atom_stride + k * neighbour_stride].
struct DeviceNeighbours {
  const int *neighbour = nullptr; // null: there is none
  const int *count = nullptr;     // [nlocal]
  std::int64_t atom_stride = 0, neighbour_stride = 0;
  int capacity = 0;               // count is nowhere more
};

// Which atoms, and how far they may move.
struct DeviceSelection {
  int bit_a = ~0, bit_b = 0;      // group bits; bit_b 0: within group a
  double skin = 0.0;              // distance by which a pair may come closer before the next rebuild
  // in place of a search, where all atoms are one group and types do not differ
  DeviceNeighbours neighbours;
};

// Pairs within reach, found on the GPU: one for all variables of the same groups, range and precision, and of types
// that differ alike.
class DevicePairs;
struct WarpSums;
struct DeviceStatus;
class Metadynamics;
GPUCOORD_API std::shared_ptr<DevicePairs> make_device_pairs(const SwitchTable &, Precision, const double *weight);

// What is known after a wait.
struct DeviceResult {
  double value = 0.0;             // S of this rank
  double virial[6] = {};
  int bad_atom = -1;              // row of an atom whose position is not finite; -1: none
  bool moved = false;             // an atom has moved by more than half the skin: pairs at dmax may be missing
};

class GPUCOORD_API DeviceCoordination {
 public:
  virtual ~DeviceCoordination() = default;

  // Finds the pairs; to be called before the first evaluation and whenever atoms were renumbered or may have moved
  // by half the skin. version: whoever shares pairs finds those of one version once; 0: always. Waits. Throws
  // DeviceError, std::bad_alloc.
  virtual void rebuild(const DeviceAtoms &, const DeviceSelection &, std::int64_t version, DeviceStream) = 0;
  // owned atoms of group a and b, of the last rebuild
  virtual std::int64_t natoms_a() const = 0;
  virtual std::int64_t natoms_b() const = 0;

  // Enqueues S and, as wanted, derivatives and virial at these positions. positions: a number that says which
  // they are, or 0: whoever shares pairs reads positions of one number once.
  virtual void evaluate(const DeviceAtoms &, unsigned want, std::int64_t positions, DeviceStream) = 0;
  // The same for add_forces() alone: where pair terms are float, derivatives may be kept in float, too.
  virtual void evaluate_for_forces(const DeviceAtoms &, unsigned want, std::int64_t positions, DeviceStream) = 0;
  // As evaluate(), and the forces -dS/dx of the owned atoms are added: S is an energy.
  virtual void evaluate_forces(const DeviceAtoms &, unsigned want, const DeviceForces &, DeviceStream) = 0;

  // Enqueues f -= factor * slope * dS/dx after evaluate() or evaluate_for_forces() with DERIVATIVES. slope: of a bias
  // that was enqueued after that, or null for 1.
  virtual void add_forces(const DeviceForces &, double factor, const double *slope, DeviceStream) = 0;

  // Waits for the last evaluation. What went wrong is said once.
  virtual DeviceResult result(DeviceStream) = 0;
  virtual void forget_errors(DeviceStream) = 0;    // of an earlier run
  // Waits, and adds the per-atom output of the last evaluate() to peratom, [nlocal][peratom_columns(want)] on the host.
  virtual void peratom(double *peratom, DeviceStream) = 0;

  virtual std::size_t bytes() const = 0;    // of device memory
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since it was made

  // for DeviceBias: S and W in device memory, null where there are no pairs, and what went wrong
  virtual const WarpSums *device_total() const = 0;
  virtual const DeviceStatus *device_status() const = 0;
};

GPUCOORD_API std::unique_ptr<DeviceCoordination> make_device_coordination(const SwitchTable &, Precision,
                                                             std::shared_ptr<DevicePairs>);

// A bias of variables on the GPU: V, dV/dS and the work of parameters that move, without a wait.
class GPUCOORD_API DeviceBias {
 public:
  static constexpr int MAX_VARIABLES = 8;

  struct Variable {
    const DeviceCoordination *coordination = nullptr;
    double scale = 1.0;            // S of the bias over that of the coordination
    Restraint term, last_term;     // now, and with the parameters of the evaluation before
  };
  struct State {
    double s[MAX_VARIABLES], slope[MAX_VARIABLES];    // S and dV/dS
    double energy, work;
    // of any evaluation since the state was set
    int bad_atom;                  // as in DeviceResult
    int moved;
    // Either stops the state, and the bias has no forces from then on.
    int not_finite;                // whether S, V or strength dV/dS was not a finite number
    int outside;                   // whether S has left the grid
  };

  virtual ~DeviceBias() = default;
  // The state before the next evaluation.
  virtual void set(const State &, DeviceStream) = 0;
  // Metadynamics on a grid, as it is now, in place of restraints.
  virtual void set_grid(const Metadynamics &, DeviceStream) = 0;
  // Enqueues the bias of the last evaluations of these variables, at most MAX_VARIABLES. moves: parameters have moved,
  // and do work. strength: forces are this many times those of V, and must be finite.
  virtual void evaluate(const std::vector<Variable> &, bool moves, double strength,
                        DeviceStream) = 0;
  virtual const double *slope(int variable) const = 0;    // in device memory
  virtual State wait(DeviceStream) = 0;
  virtual State glance() const = 0;    // without a wait: of some earlier evaluation
  virtual std::int64_t bytes_copied() const = 0;    // between host and device, since it was made
};

GPUCOORD_API std::unique_ptr<DeviceBias> make_device_bias();

}    // namespace gpucoord

#endif
